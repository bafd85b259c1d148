/* SPDX-License-Identifier: GPL-2.0-or-later
 * Binary search for random keys in a table that L1 holds; mended: the halves are chosen without a branch. */
#include "../zoo/zoo.h"

enum { N = 1024, KEYS = 30000 };
static unsigned table[N];
static void fill(void) { for (int i = 0; i < N; i++) table[i] = (unsigned)i * 4194301u; }

static KEEP u64 slow(void)
{
	u64 s = 11, sum = 0;
	fill();
	for (int k = 0; k < KEYS; k++) {
		const unsigned key = (unsigned)(next_random(&s) >> 32);
		int low = 0, high = N;
		while (high - low > 1) {
			const int middle = (low + high) / 2;
			if (table[middle] <= key) {	/* HERE */
				low = middle;
				__asm__ volatile("" : "+r"(low));
			} else {
				high = middle;
				__asm__ volatile("" : "+r"(high));
			}
		}
		sum += (u64)low;
	}
	return sum;
}
static KEEP u64 mended(void)
{
	u64 s = 11, sum = 0;
	fill();
	for (int k = 0; k < KEYS; k++) {
		const unsigned key = (unsigned)(next_random(&s) >> 32);
		u64 low = 0;
		for (u64 half = N / 2; half; half /= 2)
			low += half & -(u64)(table[low + half] <= key);
		sum += low;
	}
	return sum;
}
PAIR(slow, mended)
