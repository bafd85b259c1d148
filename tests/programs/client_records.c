/* SPDX-License-Identifier: GPL-2.0-or-later
 * PEBS records in a program's own memory: every register of each must be what the loop had there.
 * tests/system/registers/client-records.sh runs it, in both word sizes.
 *
 *   client_records arch EVTSEL RECORD_BYTES     counter 0 of an architectural PMU; 0 bytes: adaptive records
 *   client_records netburst                     front_end_event on counter 16
 *   client_records pushout                      the pushout registers
 */
#include "softpmu/client.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The request's instructions for an asm statement without operands. */
#if defined(__x86_64__)
#define SPMU_CLIENT_SEQUENCE_TEXT \
	"rol $3, %rdi\n\trol $13, %rdi\n\trol $61, %rdi\n\trol $51, %rdi\n\txchg %rbx, %rbx\n\t"
#else
#define SPMU_CLIENT_SEQUENCE_TEXT \
	"roll $3, %edi\n\troll $13, %edi\n\troll $29, %edi\n\troll $19, %edi\n\txchgl %ebx, %ebx\n\t"
#endif

enum { ROUNDS = 4000, PERIOD = 100, RECORDS = 200 };
uint32_t table[ROUNDS + 2];
uintptr_t stack_pointer;
extern const char loop_begin[], loop_lea[], loop_dec[], loop_jnz[], loop_end[];
void loop(const struct spmu_client_request *on, const struct spmu_client_request *off);

/* ECX counts down from ROUNDS; EAX is 1000 + 3 for each round; EDX is what the load brought: 7 ECX. */
#if defined(__x86_64__)
__asm__(".text\n.globl loop\n.type loop, @function\nloop:\n\t"
	"push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\tpush %rsi\n\t"
	"mov %rdi, %rax\n\txor %edx, %edx\n\t" SPMU_CLIENT_SEQUENCE_TEXT
	"lea table(%rip), %r8\n\tmov %rsp, stack_pointer(%rip)\n\t"
	"mov $0xb0b, %ebx\n\tmov $0x515, %esi\n\tmov $0xd1d, %edi\n\tmov $0xbbb, %ebp\n\t"
	"mov $0x909, %r9d\n\tmov $0xa0a, %r10d\n\tmov $0xbeb, %r11d\n\tmov $0xc0c, %r12d\n\tmov $0xd0d, %r13d\n\t"
	"mov $0xe0e, %r14d\n\tmov $0xf0f, %r15d\n\t"
	"mov $4000, %ecx\n\tmov $1000, %eax\n\tmov $28007, %edx\n"
	"loop_begin:\tmov (%r8,%rcx,4), %edx\nloop_lea:\tlea 3(%rax), %eax\nloop_dec:\tdec %ecx\n"
	"loop_jnz:\tjnz loop_begin\nloop_end:\t"
	"mov (%rsp), %rax\n\txor %edx, %edx\n\t" SPMU_CLIENT_SEQUENCE_TEXT
	"pop %rsi\n\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\tret\n");
#else
__asm__(".text\n.globl loop\n.type loop, @function\nloop:\n\t"
	"push %ebx\n\tpush %ebp\n\tpush %esi\n\tpush %edi\n\t"
	"mov 20(%esp), %eax\n\txor %edx, %edx\n\t" SPMU_CLIENT_SEQUENCE_TEXT
	"mov %esp, stack_pointer\n\t"
	"mov $0xb0b, %ebx\n\tmov $0x515, %esi\n\tmov $0xd1d, %edi\n\tmov $0xbbb, %ebp\n\t"
	"mov $4000, %ecx\n\tmov $1000, %eax\n\tmov $28007, %edx\n"
	"loop_begin:\tmov table(,%ecx,4), %edx\nloop_lea:\tlea 3(%eax), %eax\nloop_dec:\tdec %ecx\n"
	"loop_jnz:\tjnz loop_begin\nloop_end:\t"
	"mov 24(%esp), %eax\n\txor %edx, %edx\n\t" SPMU_CLIENT_SEQUENCE_TEXT
	"pop %edi\n\tpop %esi\n\tpop %ebp\n\tpop %ebx\n\tret\n");
#endif

static void wrmsr(uint32_t msr, uint64_t value)
{
	int status = spmu_client_wrmsr(msr, value);
	if (!status)
		return;
	printf("wrmsr %#x: status %d\n", (unsigned)msr, status);
	exit(1);
}

static uint64_t word(const unsigned char *at, unsigned bytes)
{
	uint64_t v = 0;
	memcpy(&v, at, bytes);
	return v;
}

struct state { uint64_t flags, ip, ax, bx, cx, dx, si, di, bp, sp, r[8]; };

static const char *wrong(const struct state *s)
{
	static const uint64_t upper[8] = { 0, 0x909, 0xa0a, 0xbeb, 0xc0c, 0xd0d, 0xe0e, 0xf0f };
	const int after_load = s->ip == (uintptr_t)loop_lea || s->ip == (uintptr_t)loop_dec;
	const int zero = s->cx == 0;
	unsigned i;
	if (s->ip < (uintptr_t)loop_begin || s->ip > (uintptr_t)loop_jnz)
		return "ip";
	if (s->cx > ROUNDS || s->dx != 7 * (s->cx + !after_load))
		return "cx or dx";
	if (s->ax != 1000 + 3 * (ROUNDS - s->cx) + 3 * (s->ip == (uintptr_t)loop_dec))
		return "ax";
	if (s->bx != 0xb0b || s->si != 0x515 || s->di != 0xd1d || s->bp != 0xbbb)
		return "bx, si, di or bp";
	if (s->sp != stack_pointer)
		return "sp";
	if ((s->flags >> 6 & 1) != (unsigned)zero && s->ip == (uintptr_t)loop_jnz)
		return "zero flag";
	if (!(s->flags & 2))
		return "flags";
	for (i = 1; i < 8 && sizeof(uintptr_t) == 8; i++)
		if (s->r[i] != upper[i])
			return "r9 to r15";
	return NULL;
}

/* Offsets: SDM vol. 3B, "Debug Store (DS) Mechanism" and "Adaptive PEBS". */
static void take(const unsigned char *at, unsigned bytes, int adaptive, struct state *s)
{
	const unsigned w = bytes == 40 ? 4 : 8;
	uint64_t v[18];
	unsigned i;
	if (adaptive)	/* basic group, then RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 ... */
		at += 32;
	for (i = 0; i < (w == 4 ? 10 : 18); i++)
		v[i] = word(at + w * i, w);
	memset(s, 0, sizeof *s);
	s->flags = v[0];
	s->ip = v[1];
	s->ax = v[2];
	s->bx = v[adaptive ? 5 : 3];
	s->cx = v[adaptive ? 3 : 4];
	s->dx = v[adaptive ? 4 : 5];
	s->si = v[adaptive ? 8 : 6];
	s->di = v[adaptive ? 9 : 7];
	s->bp = v[adaptive ? 7 : 8];
	s->sp = v[adaptive ? 6 : 9];
	if (w == 8)
		memcpy(s->r, v + 10, sizeof s->r);
}

static unsigned char buffer[RECORDS * 256];

static void report(uintptr_t base, uintptr_t index, unsigned bytes, int adaptive)
{
	const unsigned records = (unsigned)((index - base) / bytes);
	unsigned i, good = 0;
	uint64_t last = 0, step = 0;
	for (i = 0; i < records; i++) {
		struct state s;
		const char *why;
		take(buffer + i * bytes, bytes, adaptive, &s);
		why = wrong(&s);
		good += !why;
		if (why)
			printf("record %u: %s is wrong: ip %+d ax %" PRIu64 " cx %" PRIu64 " dx %" PRIu64
				" flags %#" PRIx64 "\n", i, why,
				(int)(s.ip - (uintptr_t)loop_begin), s.ax, s.cx, s.dx, s.flags);
		step = last - s.cx;
		last = s.cx;
	}
	printf("records %u right %u step %" PRIu64 "\n", records, good, step);
}

static void arch(uint64_t evtsel, unsigned bytes)
{
	static struct { uint64_t bts[4], pebs[4], reset[48]; } area;
	struct spmu_client_request on, off;
	area.pebs[0] = area.pebs[1] = (uintptr_t)buffer;
	area.pebs[2] = area.pebs[3] = (uintptr_t)buffer + sizeof buffer;
	/* Core 2 has 40 bits, later ones 48 */
	area.reset[0] = -(uint64_t)PERIOD & (bytes == 144 ? UINT64_C(0xffffffffff) : UINT64_C(0xffffffffffff));
	wrmsr(0x38f, 0);
	wrmsr(0x600, (uintptr_t)&area);
	wrmsr(0x186, evtsel | (uint64_t)!bytes << 34);	/* Adaptive_Record */
	wrmsr(0xc1, -(uint64_t)PERIOD & 0xffffffff);
	if (!bytes)
		wrmsr(0x3f2, 2);	/* MSR_PEBS_DATA_CFG: the GPR group */
	wrmsr(0x3f1, 1);
	spmu_client_prepare_wrmsr(&on, 0x38f, 1);
	spmu_client_prepare_wrmsr(&off, 0x38f, 0);
	loop(&on, &off);
	report((uintptr_t)area.pebs[0], (uintptr_t)area.pebs[1], bytes ? bytes : 176, !bytes);
}

static void netburst(void)
{
	static struct { uintptr_t bts[4], pebs[4]; uint64_t reset; uintptr_t reserved[4]; } area;
	struct spmu_client_request on, off;
	area.pebs[0] = area.pebs[1] = (uintptr_t)buffer;
	area.pebs[2] = area.pebs[3] = (uintptr_t)buffer + sizeof buffer;
	area.reset = -(uint64_t)PERIOD & UINT64_C(0xffffffffff);
	wrmsr(0x600, (uintptr_t)&area);
	wrmsr(0x3bc, 2u << 25 | 2u << 9 | 1u << 5 | 1u << 4 | 4);	/* MSR_RAT_ESCR0: uop_type.TAGLOADS, tag 1 */
	wrmsr(0x36c, 3u << 16 | 2u << 13 | 1u << 12);			/* MSR_IQ_CCCR0 counts it */
	wrmsr(0x3cc, 8u << 25 | 1u << 9 | 4);				/* MSR_CRU_ESCR2: front_end_event.NBOGUS */
	wrmsr(0x370, 3u << 16 | 5u << 13);
	wrmsr(0x310, -(uint64_t)PERIOD & UINT64_C(0xffffffffff));
	wrmsr(0x3f1, 1u << 25);
	spmu_client_prepare_wrmsr(&on, 0x370, 3u << 16 | 5u << 13 | 1u << 12);
	spmu_client_prepare_wrmsr(&off, 0x370, 3u << 16 | 5u << 13);
	loop(&on, &off);
	report(area.pebs[0], area.pebs[1], sizeof(uintptr_t) == 8 ? 144 : 40, 0);
}

/* Counts the slots that retire one cycle or more later than the slot before them allowed; then without a threshold. */
static void pushout(void)
{
	struct spmu_client_request on, off;
	uint64_t units = 0, count = 0, all = 0;
	int status = spmu_client_rdmsr(0x40000000, &units);
	if (status) {
		printf("capabilities: status %d\n", status);
		return;
	}
	wrmsr(0x40000011, 1);				/* LOAD: the threshold */
	spmu_client_prepare_wrmsr(&on, 0x40000010, 3u << 16 | 1u << 22);
	spmu_client_prepare_wrmsr(&off, 0x40000010, 0);
	loop(&on, &off);
	(void)spmu_client_rdmsr(0x40000012, &count);
	wrmsr(0x40000012, 0);
	wrmsr(0x40000011, 0);
	loop(&on, &off);
	(void)spmu_client_rdmsr(0x40000012, &all);
	printf("units %u late %s all %s\n", (unsigned)(units & 255),
		count && count < 4 * ROUNDS + 100 ? "some" : "wrong",
		all >= 3 * ROUNDS && all > count ? "slots" : "wrong");
}

int main(int argc, char **argv)
{
	uint32_t i;
	for (i = 0; i < ROUNDS + 2; i++)
		table[i] = 7 * i;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 4 && !strcmp(argv[1], "arch"))
		arch(strtoull(argv[2], NULL, 0), (unsigned)atoi(argv[3]));
	else if (argc > 1 && !strcmp(argv[1], "netburst"))
		netburst();
	else
		pushout();
	return 0;
}
