/* SPDX-License-Identifier: GPL-2.0-or-later
 * One word every 4160 bytes, once; mended: prefetched 16 steps ahead. */
#include "zoo.h"

enum { STEPS = 8000 };
static char *memory;
static KEEP u64 walk(unsigned ahead)
{
	u64 sum = 0;
	memory = aligned_alloc(4096, (STEPS + 64) * 4160ul / 4096 * 4096 + 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		const char *at = memory + i * 4160ul;
		if (ahead)
			__builtin_prefetch(at + ahead * 4160ul);
		for (int k = 0; k < 40; k++)
			sum = sum * 5 + 1;
		sum += *(const volatile u64 *)(at + (sum & 0));	/* HERE */
		__asm__ volatile("" : "+r"(sum));
		for (int k = 0; k < 40; k++)
			__asm__ volatile("imul $5, %0, %0" : "+r"(sum));
	}
	return sum;
}
static u64 slow(void) { return walk(0); }
static u64 mended(void) { return walk(16); }
PAIR(slow, mended)
