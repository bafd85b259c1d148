/* SPDX-License-Identifier: GPL-2.0-or-later
 * A kernel that looks at memory from inside, by the PMU of a Skylake: pages of two linear addresses, INVLPG, CR3, a
 * delivery's accesses, and lines that two processors share, if the machine has two.
 */
#include "kernel.h"

enum { APIC_ICR = 0x300, VECTOR_COUNTED = 0x43 };
enum { L1_MISSES = 0x08d1, WALKS = 0x0108, HITM = 0x04d2 };
#define SECOND UINT64_C(0x40000000)	/* the second GB, whose first 2 MB have the table at 14000H */

extern char other_start[], other_end[];
void other_main(void);

void interrupt(struct frame *f)
{
	if (f->vector == VECTOR_COUNTED)
		return;
	end_by(f);
}

static __attribute__((noinline)) uint64_t count_load(uint64_t event, uint64_t addr)
{
	count(event | OS);
	loop_load(1, (const void *)addr);
	return stop();
}

static void map(uint64_t page, uint64_t frame)
{
	((volatile uint64_t *)0x14000)[page] = frame | 3;
	__asm__ volatile("invlpg (%0)" : : "r"(SECOND + (page << 12)) : "memory");
}

static void test_pages(void)
{
	const uint64_t one = SECOND + 0x20080, two = SECOND + 0x21080, three = SECOND + 0x22080;
	map(0x20, 0x900000);
	map(0x21, 0x900000);
	map(0x22, 0x901000);
	count_load(L1_MISSES, (uint64_t)&bad);
	equal("a line that nobody has used misses L1D", count_load(L1_MISSES, one), 1);
	equal("under another linear address it hits", count_load(L1_MISSES, two), 0);
	equal("its page is in the TLB", count_load(WALKS, two), 0);
	map(0x21, 0x900000);
	equal("behind INVLPG it is not", count_load(WALKS, two), 1);
	map(0x20, 0x901000);
	equal("a page that lies elsewhere has other lines", count_load(L1_MISSES, one), 1);
	equal("which are those of the page that lay there", count_load(L1_MISSES, three), 0);
	__asm__ volatile("mov %%cr3, %%rax; mov %%rax, %%cr3" : : : "rax", "memory");
	const uint64_t walks = count_load(WALKS, one);
	within("a write of CR3 empties the TLB: of the stack, too", walks, 2, 3);
	equal("and only once", count_load(WALKS, one), 0);
}

/* The lines of an interrupt's entry are used by the microcode before the handler's first instruction. */
static void test_delivery(void)
{
	count(L1_MISSES | OS);
	__asm__ volatile("int %0" : : "i"(VECTOR_COUNTED) : "memory");
	const uint64_t cold = stop();
	count(L1_MISSES | OS);
	__asm__ volatile("int %0" : : "i"(VECTOR_COUNTED) : "memory");
	const uint64_t warm = stop();
	check(warm <= cold, "a second INT finds its gate in L1D", warm, cold);
}

/* ---- the second processor ---- */

enum { HANDED = 500 };
static volatile uint64_t turn __attribute__((aligned(64)));
static volatile struct { uint64_t ready, hitm, begin, end, done; } other __attribute__((aligned(64)));

void other_main(void)
{
	apic_write(APIC_SPURIOUS, 0x1ff);
	other.ready = 1;
	while (!turn)
		__asm__ volatile("pause");
	count(HITM | OS);
	for (uint64_t n = 0; n < HANDED; n++) {
		while (turn != 2 * n + 1)
			__asm__ volatile("pause");
		turn = 2 * n + 2;
	}
	other.hitm = stop();
	count(INSTRUCTIONS | OS);
	while (turn != 2 * HANDED + 1)
		__asm__ volatile("pause");
	other.begin = tsc();
	loop_multiply(20000);
	other.end = tsc();
	stop();
	other.done = 1;
	for (;;)
		__asm__ volatile("hlt");
}

static void test_processors(void)
{
	for (char *from = other_start, *to = (char *)0x8000; from < other_end;)
		*to++ = *from++;
	apic_write(APIC_ICR, 0xc4500);			/* INIT for all others, and the page where they begin */
	apic_write(APIC_ICR, 0xc4608);
	for (unsigned i = 0; i < 100000 && !other.ready; i++)
		__asm__ volatile("pause");
	if (!other.ready)
		return;
	text("two processors\n");
	count(HITM | OS);
	for (uint64_t n = 0; n < HANDED; n++) {
		turn = 2 * n + 1;
		while (turn != 2 * n + 2)
			__asm__ volatile("pause");
	}
	const uint64_t hitm = stop();
	count(INSTRUCTIONS | OS);
	turn = 2 * HANDED + 1;
	const uint64_t begin = tsc();
	loop_multiply(20000);
	const uint64_t end = tsc();
	stop();
	while (!other.done)
		__asm__ volatile("pause");
	within("a line goes to and fro: loads of what the other has modified", hitm, HANDED - 20, HANDED + 60);
	within("and the other way", other.hitm, HANDED - 20, HANDED + 60);
	within("both multiply at once: they begin", other.begin - begin + 1000, 1, 2000);
	within("and end", other.end - end + 1000, 1, 2000);
	within("20000 dependent multiplications: ticks", end - begin, 59900, 61000);
}

void kernel_main(void)
{
	load_idt();
	load_tss();
	map_apic();
	test_pages();
	test_delivery();
	test_processors();
	end();
}
