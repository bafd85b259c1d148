/* SPDX-License-Identifier: GPL-2.0-or-later
 * One chain of multiplications; mended: four chains. */
#include "zoo.h"

enum { N = 40000 };
static KEEP u64 slow(void)
{
	u64 a = 3;
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 8\n imul %1, %0\n .endr" : "+r"(a) : "r"(a));	/* HERE */
	return a;
}
static KEEP u64 mended(void)
{
	u64 a = 3, b = 5, c = 7, d = 9;
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 2\n imul %4, %0\n imul %4, %1\n imul %4, %2\n imul %4, %3\n .endr"
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"((u64)3));
	return a + b + c + d;
}
PAIR(slow, mended)
