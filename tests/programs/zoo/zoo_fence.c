/* SPDX-License-Identifier: GPL-2.0-or-later
 * A fence behind each store; mended: none. */
#include "zoo.h"

enum { N = 30000 };
static volatile u64 box[8];
static KEEP u64 slow(void)
{
	for (int i = 0; i < N; i++) {
		box[i & 7] = (u64)i;
		__asm__ volatile("mfence" ::: "memory");	/* HERE */
	}
	return box[0];
}
static KEEP u64 mended(void)
{
	for (int i = 0; i < N; i++)
		box[i & 7] = (u64)i;
	return box[0];
}
PAIR(slow, mended)
