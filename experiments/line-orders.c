/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which orders of lines the prefetchers follow.  Flushes 8 MB and accesses the lines of the first PAGES pages.
 *   cc -O2 -o line-orders experiments/line-orders.c
 *   line-orders ORDER WHAT PAGES	ORDER: 0 to 7, see order(); WHAT: loads, stores, late-loads or late-stores
 * The late ones compute for 70 to 78 cycles before each access. Only a line that no prefetch has fetched takes longer.
 * Cycles a line are the difference of two numbers of pages: build/native/timed natively, softpmu stat in the model. */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINES = 8 << 20 >> 6 };

static size_t order(int which, size_t i, size_t lines)
{
	switch (which) {
	case 1: return i ^ 1;					/* 1 0 3 2 */
	case 2: return (i & ~(size_t)3) | (3 - (i & 3));	/* 3 2 1 0 7 6 5 4 */
	case 3: return (i & ~(size_t)7) | (i * 3 & 7);		/* 0 3 6 1 4 7 2 5 */
	case 4: return (i & ~(size_t)15) | (i * 7 & 15);	/* 0 7 14 5 12 3 10 1 8 15 6 13 4 11 2 9 */
	case 5: return lines - 1 - i;				/* down */
	case 6: return i & 1 ? lines / 2 + i / 2 : i / 2;	/* two streams */
	case 7: return i * 2 % LINES;				/* every second line */
	default: return i;
	}
}

int main(int argc, char **argv)
{
	if (argc != 4 || atol(argv[3]) < 1 || atol(argv[3]) > LINES / 64) {
		fputs("usage: line-orders ORDER WHAT PAGES\n", stderr);
		return 2;
	}
	char *p = mmap(NULL, LINES * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	const int which = atoi(argv[1]);
	const int late = !strncmp(argv[2], "late-", 5), stores = !strcmp(argv[2] + 5 * late, "stores");
	const size_t lines = (size_t)atol(argv[3]) * 64;
	uint64_t x = 1, sum = 0;
	memset(p, 0, LINES * 64);
	for (size_t i = 0; i < LINES; i++)
		_mm_clflush(p + i * 64);
	_mm_mfence();
	for (size_t i = 0; i < lines; i++) {
		volatile uint64_t *at = (volatile uint64_t *)(p + order(which, i, lines) * 64);
		for (uint64_t k = 0; k < 36u * late; k++)
			x = x * 3 + k;
		if (stores)
			*at = x;
		else
			sum += *at;
	}
	return x + sum == 5;
}
