/* SPDX-License-Identifier: GPL-2.0-or-later
 * The Pentium 4's data-address experiment as a program that measures itself: gcc -m32, softpmu stat --core willamette.
 * See docs/howto/own-handler.md.
 *
 * One load misses the first-level cache, among 100 that hit: eight locations 8 KB apart share a set of 4 ways.  The
 * program samples the misses twice: by PEBS, whose records hold the registers, and by a handler of its own of the
 * counter's interrupt. */
#include "softpmu/client.h"
#include <stdio.h>
#include <stdlib.h>

enum { LOCATIONS = 8, APART = 8192, EVERY = 100, HIT_LOADS = 100, ROUNDS = 500 };
static uint8_t location[LOCATIONS * APART] __attribute__((aligned(APART)));
uint32_t near __attribute__((aligned(2048)));	/* bits 6 to 10 of an address give its set */
extern const char the_load[], hit_loads[], walk_end[];
void walk(void *first, unsigned locations);
__asm__(".text\nwalk:\tpush %ebx\n\tmov 8(%esp), %ebx\n\tmov 12(%esp), %ecx\n"
	"1:\tmov %ebx, %eax\n"
	"the_load:\tmov (%eax), %eax\n"
	"hit_loads:\t.rept 100\n\tmov near, %edx\n\t.endr\n\t"
	"add $8192, %ebx\n\tdec %ecx\n\tjnz 1b\n"
	"walk_end:\tpop %ebx\n\tret\n");

/* MSRs: softpmu msr --pmu netburst -e replay_event.L1_LD_MISS:p -c 100 */
enum {
	DS_AREA = 0x600, PEBS_ENABLE = 0x3f1, MATRIX_VERT = 0x3f2, CRU_ESCR2 = 0x3cc, IQ_CCCR4 = 0x370,
	IQ_COUNTER4 = 0x310, LVT_PC = 0x340
};
static const uint64_t start = -(uint64_t)EVERY & UINT64_C(0xffffffffff);
static const uint32_t counts = 0x3b000, stands = 0x3a000, overflow_pmi = 1u << 26;

static void wrmsr(uint32_t msr, uint64_t value)
{
	int status = spmu_client_wrmsr(msr, value);
	if (status) {
		printf("wrmsr %x: status %d\n", (unsigned)msr, status);
		exit(1);
	}
}

static void rounds(void)
{
	/* keeps the stack out of the locations' set, whatever the environment that lies above it */
	uint8_t top[2048] __attribute__((aligned(2048)));
	__asm__ volatile("" : : "r"(top));
	for (int i = 0; i < ROUNDS; i++)
		walk(location + 1024, LOCATIONS);
}

/* ---- 1. by PEBS ---- */

struct pebs { uint32_t eflags, eip, eax, ebx, ecx, edx, esi, edi, ebp, esp; };
static struct pebs records[2 * ROUNDS * LOCATIONS / EVERY];
static struct { uint32_t bts[4], base, index, maximum, threshold; uint64_t reset; uint32_t reserved[2]; } area;

static void by_pebs(void)
{
	area.base = area.index = (uintptr_t)records;
	area.maximum = area.threshold = (uintptr_t)records + sizeof records;
	area.reset = start;
	wrmsr(DS_AREA, (uintptr_t)&area);
	wrmsr(MATRIX_VERT, 1);
	wrmsr(PEBS_ENABLE, 0x3000001);
	wrmsr(CRU_ESCR2, 0x12000204);
	wrmsr(IQ_COUNTER4, start);
	wrmsr(IQ_CCCR4, counts);
	rounds();
	wrmsr(IQ_CCCR4, stands);

	const unsigned n = (area.index - area.base) / sizeof records[0];
	unsigned at_the_load = 0, at[LOCATIONS] = { 0 };
	for (unsigned i = 0; i < n; i++) {
		at_the_load += records[i].eip == (uintptr_t)the_load;
		/* the record has the state before the load, so EAX is its address */
		uint32_t from = records[i].eax - (uint32_t)(uintptr_t)(location + 1024);
		if (from % APART == 0 && from / APART < LOCATIONS)
			at[from / APART]++;
	}
	printf("By PEBS: %u samples, %u of them at the load that misses\n  EAX        samples\n", n, at_the_load);
	for (unsigned i = 0; i < LOCATIONS; i++)
		printf("  +%5x  %10u\n", i * APART, at[i]);
}

/* ---- 2. by interrupt ---- */

struct frame { uint32_t eip, cs, eflags, esp, ss; };
static unsigned behind[HIT_LOADS + 8], elsewhere, interrupts;
static uint8_t handler_stack[8192] __attribute__((aligned(16)));
void entry(void);
__asm__("entry:\tpush %eax\n\tpush %ecx\n\tpush %edx\n\tcld\n\tlea 12(%esp), %eax\n\tpush %eax\n\tcall handler\n\t"
	"add $4, %esp\n\tpop %edx\n\tpop %ecx\n\tpop %eax\n\tiret\n");

void handler(const struct frame *f);
void handler(const struct frame *f)
{
	interrupts++;
	if (f->eip > (uintptr_t)the_load && f->eip < (uintptr_t)walk_end) {
		/* the load has 2 bytes, each of the 100 behind it 6 */
		unsigned n = f->eip < (uintptr_t)hit_loads ? 0 : 1 + (f->eip - (uintptr_t)hit_loads) / 6;
		behind[n < HIT_LOADS + 7 ? n : HIT_LOADS + 7]++;
	} else {
		elsewhere++;
	}
	wrmsr(IQ_CCCR4, counts | overflow_pmi);		/* clears the overflow */
	wrmsr(IQ_COUNTER4, start);
	(void)spmu_client_apic_write(LVT_PC, 0xf0);	/* the interrupt has masked it */
}

static void by_interrupt(void)
{
	wrmsr(PEBS_ENABLE, 0x1000001);			/* tags the loads that miss, without PEBS */
	(void)spmu_client_handler(entry, handler_stack + sizeof handler_stack);
	(void)spmu_client_apic_write(LVT_PC, 0xf0);
	wrmsr(IQ_COUNTER4, start);
	wrmsr(IQ_CCCR4, counts | overflow_pmi);
	rounds();
	wrmsr(IQ_CCCR4, stands);
	(void)spmu_client_handler(0, 0);
	printf("By interrupt: %u samples, %u of them at the load that misses\n  loads behind it  samples\n", interrupts,
		behind[0]);
	for (unsigned i = 0; i < HIT_LOADS + 8; i++)
		if (behind[i])
			printf("  %15u  %7u\n", i, behind[i]);
	printf("  %15s  %7u\n", "elsewhere", elsewhere);
}

int main(void)
{
	if (!spmu_client_present())
		return puts("needs softpmu"), 1;
	by_pebs();
	by_interrupt();
	return 0;
}
