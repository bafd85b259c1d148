/* SPDX-License-Identifier: GPL-2.0-or-later
 * A branch whose direction is random; mended: arithmetic instead of the branch. */
#include "zoo.h"

enum { N = 4096, ROUNDS = 20 };
static u64 word[N];
static void fill(void) { u64 s = 88172645463325252u; for (int i = 0; i < N; i++) word[i] = next_random(&s) >> 32; }

static KEEP u64 slow(void)
{
	u64 sum = 0;
	fill();
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++)
			if ((word[i] * (u64)(2 * r + 1)) >> 7 & 1) {	/* HERE */
				sum += word[i];
				__asm__ volatile("" : "+r"(sum));
			}
	return sum;
}
static KEEP u64 mended(void)
{
	u64 sum = 0;
	fill();
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++)
			sum += word[i] & -((word[i] * (u64)(2 * r + 1)) >> 7 & 1);
	return sum;
}
PAIR(slow, mended)
