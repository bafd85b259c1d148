/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two threads, each with its own atomic counter in one line; mended: padded. */
#include "zoo.h"

enum { N = 40000 };
static _Alignas(64) u64 counter[16];
static void *count(void *at)
{
	for (int i = 0; i < N; i++)
		__atomic_fetch_add((u64 *)at, 1, __ATOMIC_SEQ_CST);	/* HERE */
	return NULL;
}
static u64 slow(void) { two_threads(count, &counter[0], &counter[1]); return counter[0]; }
static u64 mended(void) { two_threads(count, &counter[0], &counter[8]); return counter[0]; }
PAIR(slow, mended)
