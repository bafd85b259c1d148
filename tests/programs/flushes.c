/* SPDX-License-Identifier: GPL-2.0-or-later
 * flush KIND ROUNDS [STORE]: in each round an instruction of that kind on one line, then a load of the line.  With
 * STORE the line is modified before.
 * KIND: none, clflush, clflushopt, clwb, cldemote; movnti, movntps, vmovntdq, maskmovdqu, which store to the line;
 * stores: ROUNDS stores each to a random line of 16 MB, which were all written before; handed: two threads store to one
 * line in turn;
 * other: a second thread loads the line in each round, after CLFLUSH; shared: the same without CLFLUSH; cpuid: prints
 * which of the instructions CPUID has.
 * ROUNDS has five digits, so that runs differ in the rounds alone.
 */
#include <cpuid.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(4096) volatile uint64_t page[512];
#define LINE ((void *)page)

static void none(void) { }
static void clflush(void) { __asm__ volatile ("clflush (%0)" : : "r" (LINE) : "memory"); }
static void clflushopt(void) { __asm__ volatile ("clflushopt (%0)\n\tsfence" : : "r" (LINE) : "memory"); }
static void clwb(void) { __asm__ volatile ("clwb (%0)\n\tsfence" : : "r" (LINE) : "memory"); }
static void cldemote(void) { __asm__ volatile ("cldemote (%0)\n\tmfence" : : "r" (LINE) : "memory"); }
static void movnti(void) { __asm__ volatile ("movnti %%rax, (%0)\n\tmfence" : : "r" (LINE) : "memory"); }
static void movntps(void) { __asm__ volatile ("movntps %%xmm0, (%0)\n\tmfence" : : "r" (LINE) : "memory"); }
static void vmovntdq(void)
{
	__asm__ volatile ("vmovntdq %%ymm0, (%0)\n\tvmovntdq %%ymm0, 32(%0)\n\tmfence" : : "r" (LINE) : "memory");
}
static void maskmovdqu(void)
{
	__asm__ volatile ("pcmpeqd %%xmm1, %%xmm1\n\tmaskmovdqu %%xmm1, %%xmm0\n\tmfence" : : "D" (LINE) : "xmm1",
		"memory");
}

static const struct { const char *name; void (*run)(void); } kinds[] = {
	{ "none", none }, { "clflush", clflush }, { "clflushopt", clflushopt }, { "clwb", clwb },
	{ "cldemote", cldemote }, { "movnti", movnti }, { "movntps", movntps }, { "vmovntdq", vmovntdq },
	{ "maskmovdqu", maskmovdqu },
};

static _Alignas(4096) volatile uint64_t large[16 << 20 >> 3];

static void store_at_random(long n)
{
	uint64_t x = 1;
	for (size_t i = 0; i < sizeof large / sizeof *large; i += 8)
		large[i] = 1;
	for (long i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		large[(x >> 40) % (sizeof large / 64) * 8] = x;
	}
}

static long rounds;
static int hands;
static volatile long turn __attribute__((aligned(64)));

static void *other(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		while (turn != 2 * i + 1)
			__builtin_ia32_pause();
		if (hands)
			page[0] = 2;
		else
			(void)page[0];
		turn++;
	}
	return unused;
}

static void beside(int flushes)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, other, NULL))
		exit(1);
	for (long i = 0; i < rounds; i++) {
		if (flushes)
			clflush();
		if (hands)
			page[0] = 1;
		__asm__ volatile ("mfence" : : : "memory");
		turn++;
		while (turn != 2 * i + 2)
			__builtin_ia32_pause();
	}
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	unsigned a = 0, b = 0, c = 0, d = 0;
	const int stores = argc > 3;
	rounds = argc > 2 ? atol(argv[2]) : 0;
	if (argc > 1 && !strcmp(argv[1], "cpuid")) {
		__get_cpuid(1, &a, &b, &c, &d);
		printf("clflush %u of %u bytes\n", d >> 19 & 1, (b >> 8 & 255) * 8);
		a = b = c = d = 0;
		__get_cpuid_count(7, 0, &a, &b, &c, &d);
		printf("clflushopt %u\nclwb %u\ncldemote %u\n", b >> 23 & 1, b >> 24 & 1, c >> 25 & 1);
		return 0;
	}
	page[0] = page[8] = 1;
	for (unsigned k = 0; argc > 1 && k < sizeof kinds / sizeof *kinds; k++)
		for (long i = 0; i < rounds && !strcmp(argv[1], kinds[k].name); i++) {
			if (stores)
				page[0] = (uint64_t)i;
			kinds[k].run();
			(void)page[0];
		}
	if (argc > 1 && !strcmp(argv[1], "stores"))
		store_at_random(rounds);
	hands = argc > 1 && !strcmp(argv[1], "handed");
	if (hands)
		beside(0);
	if (argc > 1 && !strcmp(argv[1], "other"))
		beside(1);
	if (argc > 1 && !strcmp(argv[1], "shared"))
		beside(0);
	return 0;
}
