/* SPDX-License-Identifier: GPL-2.0-or-later
 * A function compiled with -O0; mended: with -O2. */
#include "zoo.h"

enum { N = 400, ROUNDS = 100 };
static int a[N];
#define SUM { \
	int sum = 0; \
	for (int r = 0; r < ROUNDS; r++) \
		for (int i = 0; i < N; i++) { \
			int v = a[i] + r; \
			if (v > sum / 2) \
				v = v ^ i; \
			sum += v * 3; \
		} \
	return (u64)sum; \
}
__attribute__((noinline, optimize("O0"))) static u64 slow(void) SUM	/* HERE */
static KEEP u64 mended(void) SUM
PAIR(slow, mended)
