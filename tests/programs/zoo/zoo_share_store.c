/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two threads, each with its own counter in one line, by plain stores; mended: padded. */
#include "zoo.h"

enum { N = 60000 };
static _Alignas(64) volatile u64 counter[16];
static void *count(void *at)
{
	volatile u64 *own = at;
	for (int i = 0; i < N; i++)
		++*own;	/* HERE */
	return NULL;
}
static u64 slow(void) { two_threads(count, (void *)&counter[0], (void *)&counter[1]); return counter[0]; }
static u64 mended(void) { two_threads(count, (void *)&counter[0], (void *)&counter[8]); return counter[0]; }
PAIR(slow, mended)
