/* SPDX-License-Identifier: GPL-2.0-or-later
 * Loads that pass a store whose address comes late, now and then to the same place; mended: kept apart. */
#include "zoo.h"

enum { N = 30000 };
static u64 box[64];
static KEEP u64 work(u64 mask)
{
	u64 x = 1, s = 88172645463325252u;
	for (int i = 0; i < N; i++) {
		u64 at = (next_random(&s) & mask) + 1;
		__asm__ volatile(".rept 8\n imul $1, %0, %0\n .endr" : "+r"(at));
		((volatile u64 *)box)[at] = x;
		x += ((volatile u64 *)box)[1];	/* HERE */
		x += s;
	}
	return x;
}
static u64 slow(void) { return work(15); }
static u64 mended(void)
{
	u64 x = 0, s = 88172645463325252u;
	for (int i = 0; i < N; i++) {
		u64 at = (next_random(&s) & 15) + 2;
		__asm__ volatile(".rept 8\n imul $1, %0, %0\n .endr" : "+r"(at));
		((volatile u64 *)box)[at] = x;
		x += ((volatile u64 *)box)[1];
		x += s;
	}
	return x;
}
PAIR(slow, mended)
