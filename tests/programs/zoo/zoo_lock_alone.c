/* SPDX-License-Identifier: GPL-2.0-or-later
 * Atomic additions to what only one thread uses; mended: plain additions. */
#include "zoo.h"

enum { N = 120000 };
static u64 counter[4];
static KEEP u64 slow(void)
{
	for (int i = 0; i < N; i++)
		__atomic_fetch_add(&counter[i & 3], 1, __ATOMIC_SEQ_CST);	/* HERE */
	return counter[1];
}
static KEEP u64 mended(void)
{
	for (int i = 0; i < N; i++) {
		counter[i & 3]++;
		__asm__ volatile("" ::: "memory");
	}
	return counter[1];
}
PAIR(slow, mended)
