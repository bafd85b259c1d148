/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cycles of short rounds of code on a host whose frequency changes and whose cores others share. A chain of ADDs before
 * and after each round measures the frequency; a round whose two chains differ by more than 1.2 % does not count. (The
 * least time of all rounds and the least chain of all may be of two frequencies: on a shared Zen 3 host that made
 * figures 1.25 times as large.) The first 100,000 rounds count. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

enum { BESIDE_CHAIN = 4000, BESIDE_ROUNDS = 100000 };
struct beside { size_t rounds; double took[BESIDE_ROUNDS]; };

static double beside_chain(void)
{
	const uint64_t begin = __rdtsc();
	for (int i = 0; i < BESIDE_CHAIN / 200; i++)
		__asm__ volatile(".rept 200\n\tadd %%rax, %%rax\n\t.endr" : : : "rax", "cc");
	return (double)(__rdtsc() - begin);
}

/* A round of so many operations took so many ticks of the time-stamp counter, the chains `before` and `after`. */
static void beside_add(struct beside *b, double ticks, double operations, double before, double after)
{
	if (b->rounds < BESIDE_ROUNDS && before < 1.012 * after && after < 1.012 * before)
		b->took[b->rounds++] = ticks / (before + after) * 2 * BESIDE_CHAIN / operations;
}

static int beside_by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Prints the cycles of an operation: the 1st, 5th, 20th and 50th percentile of the rounds. Returns the exit status. */
static int beside_print(struct beside *b)
{
	if (!b->rounds) {
		fputs("no round counts: none was run, or the frequency changed in each\n", stderr);
		return 1;
	}
	qsort(b->took, b->rounds, sizeof *b->took, beside_by_value);
	printf("%.2f %.2f %.2f %.2f\n", b->took[b->rounds / 100], b->took[b->rounds / 20], b->took[b->rounds / 5],
		b->took[b->rounds / 2]);
	return 0;
}
