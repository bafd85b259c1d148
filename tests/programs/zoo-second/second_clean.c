/* SPDX-License-Identifier: GPL-2.0-or-later
 * Nothing is wrong: four sums of words that L1 holds, and both programs are the same. */
#include "../zoo/zoo.h"

enum { N = 2048, ROUNDS = 100 };
static u64 word[N];

static KEEP u64 both(void)
{
	u64 a = 0, b = 0, c = 0, d = 0;
	for (int i = 0; i < N; i++)
		word[i] = (u64)i;
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i += 4) {	/* HERE */
			a += word[i];
			b ^= word[i + 1];
			c += word[i + 2];
			d ^= word[i + 3];
		}
	return a + b + c + d;
}
PAIR(both, both)
