/* SPDX-License-Identifier: GPL-2.0-or-later
 * Copies of 13 bytes by REP MOVSB; mended: by two overlapping moves. */
#include "zoo.h"

enum { N = 60000 };
static char from[64], to[64];
static KEEP u64 slow(void)
{
	for (int i = 0; i < N; i++) {
		const char *s = from + (i & 15);
		char *d = to + (i & 7);
		u64 n = 13;
		__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) :: "memory");	/* HERE */
	}
	return (u64)to[3];
}
static KEEP u64 mended(void)
{
	for (int i = 0; i < N; i++) {
		const char *s = from + (i & 15);
		char *d = to + (i & 7);
		u64 a, b;
		memcpy(&a, s, 8);
		memcpy(&b, s + 5, 8);
		memcpy(d, &a, 8);
		memcpy(d + 5, &b, 8);
		__asm__ volatile("" ::: "memory");
	}
	return (u64)to[3];
}
PAIR(slow, mended)
