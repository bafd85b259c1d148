/* SPDX-License-Identifier: GPL-2.0-or-later
 * A thread that polls for each result of another; mended: it waits once, for all of them. */
#include "zoo.h"

enum { ROUNDS = 300 };
static _Alignas(64) volatile u64 flag[16];
static u64 every = 1;
static void *work(void *waits)
{
	for (u64 round = 1; round <= ROUNDS; round++) {
		if (waits) {
			while (round % every == 0 && flag[0] < round)	/* HERE */
				;
			flag[8] = round;
		} else {
			u64 x = round;
			for (int k = 0; k < 300; k++)
				__asm__ volatile("imul $5, %0, %0" : "+r"(x));
			flag[0] = round;
			while (round % every == 0 && flag[8] < round)
				;
		}
	}
	return NULL;
}
static u64 slow(void) { two_threads(work, NULL, (void *)1); return flag[0]; }
static u64 mended(void) { every = ROUNDS; return slow(); }
PAIR(slow, mended)
