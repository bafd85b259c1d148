/* SPDX-License-Identifier: GPL-2.0-or-later
 * A product of matrices as in the textbook: the inner loop goes down a column; mended: the two inner loops change
 * places. */
#include "../zoo/zoo.h"

enum { N = 128 };
static double a[N][N], b[N][N], c[N][N];
static void fill(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = i + j, b[i][j] = i - j;
}

static KEEP u64 slow(void)
{
	fill();
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += a[i][k] * b[k][j];	/* HERE */
	return (u64)c[3][5];
}
static KEEP u64 mended(void)
{
	fill();
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
	return (u64)c[3][5];
}
PAIR(slow, mended)
