/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program with a handler of its own PMIs (softpmu/client.h, spmu_client_handler).
 * tests/system/registers/client-handler.sh runs it, in both word sizes.
 *
 *   client_handler FAMILY EVENT PERIOD ROUNDS   a loop, interrupted every PERIOD; FAMILY: arch, p6, netburst
 *   client_handler FAMILY ... print             also prints each interrupt
 *   client_handler bad|gone|forks|threads|nested|plain
 */
#include "softpmu/client.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct frame { uintptr_t ip, cs, flags, sp, ss; };
#if defined(__x86_64__)
struct registers { uintptr_t r[8], di, si, bp, bx, dx, cx, ax; struct frame frame; };	/* r15 to r8 */
#define WORD "q"
__asm__(".text\n.globl handler\nhandler:\n\t"
	"push %rax\n\tpush %rcx\n\tpush %rdx\n\tpush %rbx\n\tpush %rbp\n\tpush %rsi\n\tpush %rdi\n\t"
	"push %r8\n\tpush %r9\n\tpush %r10\n\tpush %r11\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
	"cld\n\tmov %rsp, %rdi\n\tmov %rsp, %rbp\n\tand $-16, %rsp\n\tcall handle\n\tmov %rbp, %rsp\n\t"
	"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %r11\n\tpop %r10\n\tpop %r9\n\tpop %r8\n\t"
	"pop %rdi\n\tpop %rsi\n\tpop %rbp\n\tpop %rbx\n\tpop %rdx\n\tpop %rcx\n\tpop %rax\n\tiretq\n");
/* ECX counts down; RBX (by the carry flag) and R12 check that nothing is lost. */
__asm__(".globl loop\nloop:\n\tpush %rbx\n\tpush %r12\n\tmov %edi, %ecx\n\tmov $0, %ebx\n\tmov $0, %r12d\n"
	"loop_begin:\n\tstc\n\tlea 0(%rax), %rax\n\tadc $0, %rbx\n\t"
	"add word(%rip), %r12d\n\txor $5, %eax\n\tdec %ecx\n\tjnz loop_begin\nloop_end:\n\t"
	"lea (%rbx,%r12), %rax\n\tpop %r12\n\tpop %rbx\n\tret\n");
#else
struct registers { uintptr_t di, si, bp, bx, dx, cx, ax; struct frame frame; };
__asm__(".text\n.globl handler\nhandler:\n\t"
	"push %eax\n\tpush %ecx\n\tpush %edx\n\tpush %ebx\n\tpush %ebp\n\tpush %esi\n\tpush %edi\n\t"
	"cld\n\tmov %esp, %ebp\n\tmov %esp, %eax\n\tand $-16, %esp\n\tsub $16, %esp\n\tmov %eax, (%esp)\n\t"
	"call handle\n\t"
	"mov %ebp, %esp\n\tpop %edi\n\tpop %esi\n\tpop %ebp\n\tpop %ebx\n\tpop %edx\n\tpop %ecx\n\tpop %eax\n\tiret\n");
__asm__(".globl loop\nloop:\n\tpush %ebx\n\tpush %esi\n\tmov 12(%esp), %ecx\n\tmov $0, %ebx\n\tmov $0, %esi\n"
	"loop_begin:\n\tstc\n\tlea 0(%eax), %eax\n\tadc $0, %ebx\n\t"
	"add word, %esi\n\txor $5, %eax\n\tdec %ecx\n\tjnz loop_begin\nloop_end:\n\t"
	"lea (%ebx,%esi), %eax\n\tpop %esi\n\tpop %ebx\n\tret\n");
#endif
uint32_t word = 2;
extern const char loop_begin[], loop_end[];
void handler(void);
unsigned loop(uint32_t rounds);
void handle(const struct registers *r);

static void must(int status, const char *what)
{
	if (status == SPMU_CLIENT_OK)
		return;
	printf("%s: status %d\n", what, status);
	exit(1);
}

struct family {
	const char *name;
	uint32_t prepare, control, counter;
	uint64_t prepared, on, off, most;
};
static struct family families[] = {
	{ "arch", 0, 0x186, 0xc1, 0, 1 << 20 | 1 << 22 | 1 << 16, 0, 0xffffffff },
	{ "p6", 0, 0x186, 0xc1, 0, 1 << 20 | 1 << 22 | 1 << 16, 0, 0xffffffff },
	/* CRU_ESCR0: instr_retired, NBOGUSNTAG; IQ_CCCR0 with OVF_PMI_T0 */
	{ "netburst", 0x3b8, 0x36c, 0x30c, 2u << 25 | 1 << 9 | 5, 3 << 16 | 4 << 13 | 1 << 12 | 1 << 26, 3 << 16,
	  UINT64_C(0xffffffffff) },
};

struct taken { uintptr_t ip, model, cx; };
static __thread struct {
	const struct family *f;
	uint64_t period;
	unsigned entries, good, frames, nested, depth, show;
	uint32_t lvt;
	uint64_t sum;
	unsigned char *stack;
	struct taken taken[4];
} me;

enum { STACK = 16384 };
static int nest;

void handle(const struct registers *r)
{
	const struct frame *f = &r->frame;
	struct spmu_client_pmi p = { 0, 0, 0 };
	uint32_t lvt = 0;
	if (me.depth++)
		me.nested++;
	me.frames += (uintptr_t)(f + 1) == (uintptr_t)me.stack + STACK && (f->cs & 3) == 3 && (f->ss & 3) == 3 &&
		(f->flags & 0x202) == 0x202 && f->sp != (uintptr_t)(f + 1);
	must(spmu_client_apic_read(0x340, &lvt), "apic_read");
	me.lvt |= lvt;
	if (spmu_client_pmi_pending(&p) > 0)
		me.good += f->ip >= (uintptr_t)loop_begin && f->ip <= (uintptr_t)loop_end;
	if (me.entries < 4)
		me.taken[me.entries] = (struct taken){ f->ip, (uintptr_t)p.ip, r->cx };
	if (me.show)
		printf("ip +%d, model +%d, cx %u\n", (int)(f->ip - (uintptr_t)loop_begin),
			(int)(p.ip - (uintptr_t)loop_begin), (unsigned)r->cx);
	me.entries++;
	me.sum = me.sum * 31 + f->ip + 7 * r->cx + 13 * (uint64_t)f->flags;
	if (me.f->name[0] == 'a')
		must(spmu_client_wrmsr(0x390, 1), "clear");
	must(spmu_client_wrmsr(me.f->control, me.f->on), "control");	/* NetBurst: clears OVF */
	must(spmu_client_wrmsr(me.f->counter, -me.period & me.f->most), "counter");
	must(spmu_client_apic_write(0x340, 0xf0), "rearm");
	if (nest && me.entries < 3) {	/* overflows again in here; the PMI waits until this one returns */
		must(spmu_client_wrmsr(me.f->counter, -(uint64_t)50 & me.f->most), "counter");
		(void)loop(200);
	}
	me.depth--;
}

static void begin(const struct family *f, uint64_t period)
{
	memset(&me, 0, sizeof me);
	me.f = f;
	me.period = period;
	me.stack = calloc(1, STACK);
	must(spmu_client_handler(handler, me.stack + STACK), "handler");
	must(spmu_client_apic_write(0x340, 0xf0), "lvt");
	if (f->name[0] == 'a')
		must(spmu_client_wrmsr(0x38f, 1), "global");
	if (f->prepare)
		must(spmu_client_wrmsr(f->prepare, f->prepared), "prepare");
	must(spmu_client_wrmsr(f->counter, -period & f->most), "counter");
	must(spmu_client_wrmsr(f->control, f->on), "on");
}

static void end(const char *name, unsigned result, unsigned rounds)
{
	must(spmu_client_wrmsr(me.f->control, me.f->off), "off");
	must(spmu_client_handler(0, 0), "no handler");
	printf("%s: entries %u in the loop %u frames %u nested %u lvt %#x result %s sum %016" PRIx64 "\n", name,
		me.entries, me.good, me.frames, me.nested, (unsigned)me.lvt,
		result == 3 * rounds ? "right" : "wrong", me.sum);
	free(me.stack);
}

static void *thread(void *argument)
{
	const unsigned rounds = *(const unsigned *)argument;
	begin(families, rounds / 10);
	end(rounds == 20000 ? "thread 1" : "thread 2", loop(rounds), rounds);
	return NULL;
}

static void bad(void)
{
	static char stack[256];
	printf("no code %d no stack %d\n", spmu_client_handler((void (*)(void))(uintptr_t)16, stack + 256),
		spmu_client_handler(handler, (void *)(uintptr_t)64));
	begin(families, 1000);
	printf("alive %d\n", spmu_client_handler(0, 0));
}

/* The handler's stack goes away while counters run. */
static void gone(void)
{
	void *const stack = mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	begin(families, 1000);
	must(spmu_client_handler(handler, (char *)stack + STACK), "handler");
	munmap(stack, STACK);
	printf("result %s entries %u\n", loop(1000) == 3000 ? "right" : "wrong", me.entries);
}

/* A forked child has no handler. */
static void forks(void)
{
	begin(families, 1000);
	if (!fork()) {
		printf("child result %s entries %u\n", loop(1000) == 3000 ? "right" : "wrong", me.entries);
		_exit(0);
	}
	wait(0);
	end("parent", loop(1000), 1000);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	unsigned i;
	setvbuf(stdout, NULL, _IONBF, 0);
	families[0].on |= 0xc0;
	families[1].on |= 0xc0;
	if (!strcmp(mode, "bad")) {
		bad();
	} else if (!strcmp(mode, "gone")) {
		gone();
	} else if (!strcmp(mode, "forks")) {
		forks();
	} else if (!strcmp(mode, "threads")) {
		static const unsigned rounds[2] = { 20000, 30000 };
		pthread_t t[2];
		for (i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, thread, (void *)(uintptr_t)&rounds[i]);
		(void)loop(1000);
		for (i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
	} else if (!strcmp(mode, "nested")) {
		nest = 1;
		begin(families, 1000);
		end("nested", loop(1000), 1000);
	} else if (!strcmp(mode, "plain")) {
		printf("handler %d\n", spmu_client_handler(handler, &mode));
	} else {
		const unsigned rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 1000;
		for (i = 0; i < 2 && strcmp(families[i].name, mode); i++)
			;
		if (argc > 2 && strcmp(argv[2], "instructions"))
			families[i].on = (families[i].on & ~UINT64_C(0xffff)) | strtoull(argv[2], NULL, 0);
		begin(families + i, argc > 3 ? strtoull(argv[3], NULL, 0) : 1000);
		me.show = argc > 5;
		end(mode, loop(rounds), rounds);
	}
	return 0;
}
