/* SPDX-License-Identifier: GPL-2.0-or-later
 * A sum of doubles by one scalar chain; mended: four vectors of two. */
#include "zoo.h"
#include <emmintrin.h>

enum { N = 2048, ROUNDS = 100 };
static _Alignas(64) double a[N];
static KEEP u64 slow(void)
{
	double sum = 0;
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++)
			sum += a[i];	/* HERE */
	return (u64)sum;
}
static KEEP u64 mended(void)
{
	__m128d sum[4] = { 0 };
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i += 8)
			for (int k = 0; k < 4; k++)
				sum[k] += _mm_load_pd(a + i + 2 * k);
	sum[0] += sum[1] + sum[2] + sum[3];
	return (u64)(sum[0][0] + sum[0][1]);
}
PAIR(slow, mended)
