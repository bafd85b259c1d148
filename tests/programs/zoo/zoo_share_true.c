/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two threads add to one atomic counter; mended: each adds to its own and they are summed at the end. */
#include "zoo.h"

enum { N = 40000 };
static _Alignas(64) u64 counter[16];
static void *shared(void *unused)
{
	(void)unused;
	for (int i = 0; i < N; i++)
		__atomic_fetch_add(&counter[0], 1, __ATOMIC_SEQ_CST);	/* HERE */
	return NULL;
}
static void *own(void *at)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++) {
		sum++;
		__asm__ volatile("" : "+r"(sum));
	}
	*(u64 *)at = sum;
	return NULL;
}
static u64 slow(void) { two_threads(shared, NULL, NULL); return counter[0]; }
static u64 mended(void) { two_threads(own, &counter[0], &counter[8]); return counter[0] + counter[8]; }
PAIR(slow, mended)
