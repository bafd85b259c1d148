/* SPDX-License-Identifier: GPL-2.0-or-later
 * Calls through a table in random order; mended: the same calls, sorted by target. */
#include "zoo.h"

enum { N = 1 << 16, KINDS = 8 };
#define CASE(n) static KEEP u64 case##n(u64 x) { return x * (2 * n + 3) + n; }
CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
static u64 (*const cases[KINDS])(u64) = { case0, case1, case2, case3, case4, case5, case6, case7 };
static unsigned char kind[N];

static KEEP u64 run(void)
{
	u64 sum = 1;
	for (int i = 0; i < N; i++)
		sum = cases[kind[i]](sum);	/* HERE */
	return sum;
}
static u64 slow(void)
{
	u64 s = 88172645463325252u;
	for (int i = 0; i < N; i++)
		kind[i] = next_random(&s) >> 40 & (KINDS - 1);
	return run();
}
static u64 mended(void)
{
	u64 s = 88172645463325252u;
	for (int i = 0; i < N; i++)
		kind[i] = (unsigned char)(next_random(&s), i * KINDS / N);
	return run();
}
PAIR(slow, mended)
