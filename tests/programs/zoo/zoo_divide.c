/* SPDX-License-Identifier: GPL-2.0-or-later
 * Dependent divisions by a loop invariant; mended: multiplications by its reciprocal. */
#include "zoo.h"

enum { N = 100000 };
static volatile u64 by = 1000003;
static KEEP u64 slow(void)
{
	const u64 d = by;
	u64 x = ~(u64)0, sum = 0;
	for (int i = 0; i < N; i++) {
		sum += x / d;	/* HERE */
		x = x * 3 + sum;
	}
	return sum;
}
static KEEP u64 mended(void)
{
	const u64 d = by, inverse = ~(u64)0 / d;
	u64 x = ~(u64)0, sum = 0;
	for (int i = 0; i < N; i++) {
		u64 q = (u64)((unsigned __int128)x * inverse >> 64);
		q += x - q * d >= d;
		sum += q;
		x = x * 3 + sum;
	}
	return sum;
}
PAIR(slow, mended)
