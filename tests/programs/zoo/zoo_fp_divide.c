/* SPDX-License-Identifier: GPL-2.0-or-later
 * Independent floating-point divisions by one value; mended: multiplications by its reciprocal. */
#include "zoo.h"

enum { N = 2048, ROUNDS = 60 };
static double a[N];
static volatile double by = 3.7;
static KEEP u64 slow(void)
{
	const double d = by;
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++) {
			a[i] = (a[i] + 1) / d;	/* HERE */
			__asm__ volatile("" ::: "memory");
		}
	return (u64)a[7];
}
static KEEP u64 mended(void)
{
	const double d = 1 / by;
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++) {
			a[i] = (a[i] + 1) * d;
			__asm__ volatile("" ::: "memory");
		}
	return (u64)a[7];
}
PAIR(slow, mended)
