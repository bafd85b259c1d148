/* SPDX-License-Identifier: GPL-2.0-or-later
 * The sum of doubles in one variable: each addition waits for the one before; mended: eight sums. */
#include "../zoo/zoo.h"

enum { N = 2048, ROUNDS = 100 };
static double x[N];
static void fill(void) { for (int i = 0; i < N; i++) x[i] = i * 0.5; }

static KEEP u64 slow(void)
{
	double sum = 0;
	fill();
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++)
			sum += x[i];	/* HERE */
	return (u64)sum;
}
static KEEP u64 mended(void)
{
	double sum[8] = { 0 }, all = 0;
	fill();
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i += 8)
			for (int k = 0; k < 8; k++)
				sum[k] += x[i + k];
	for (int k = 0; k < 8; k++)
		all += sum[k];
	return (u64)all;
}
PAIR(slow, mended)
