/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads of a register of which the second byte was just written; mended: shifts and masks. */
#include "zoo.h"

enum { N = 40000 };
static KEEP u64 slow(void)
{
	u64 x = 3;
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 8\n mov %b0, %%ah\n add %%rax, %0\n .endr" : "+b"(x)	/* HERE */
				 :: "rax", "cc");
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 3;
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 8\n movzbl %b0, %%eax\n add %%rax, %0\n .endr" : "+b"(x) :: "rax", "cc");
	return x;
}
PAIR(slow, mended)
