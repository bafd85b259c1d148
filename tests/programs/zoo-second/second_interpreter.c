/* SPDX-License-Identifier: GPL-2.0-or-later
 * An interpreter whose program is random, so nothing tells the next operation; mended: the operations are sorted
 * first.  All of them add, so their order does not matter. */
#include "../zoo/zoo.h"

enum { N = 8192, ROUNDS = 16 };
static unsigned char code[N], sorted[N];
static void fill(void)
{
	u64 s = 5;
	int n[8] = { 0 }, at = 0;
	for (int i = 0; i < N; i++)
		n[code[i] = next_random(&s) >> 40 & 7]++;
	for (int op = 0; op < 8; op++)
		for (int i = 0; i < n[op]; i++)
			sorted[at++] = (unsigned char)op;
}
#define STEP(n) do { sum += x ^ (n); __asm__ volatile("" : "+r"(sum)); } while (0)
static KEEP u64 execute(const unsigned char *program, u64 salt)
{
	u64 sum = 0, x = 3;
	static const void *const label[] = { &&l0, &&l1, &&l2, &&l3, &&l4, &&l5, &&l6, &&l7 };
	for (int r = 0; r < ROUNDS; r++)
		for (u64 i = 0; i < N; i++) {
			/* another order of the random ones in each round, so that no predictor can learn it */
			goto *label[program[salt ? i * (2 * (u64)r + 1) & (N - 1) : i]];	/* HERE */
			l0: STEP(1); continue;
			l1: STEP(2); continue;
			l2: STEP(4); continue;
			l3: STEP(8); continue;
			l4: STEP(16); continue;
			l5: STEP(32); continue;
			l6: STEP(64); continue;
			l7: STEP(128); continue;
		}
	return sum;
}
static KEEP u64 slow(void) { fill(); return execute(code, 1); }
static KEEP u64 mended(void) { fill(); return execute(sorted, 0); }
PAIR(slow, mended)
