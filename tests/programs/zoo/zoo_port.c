/* SPDX-License-Identifier: GPL-2.0-or-later
 * Independent work that only one port does; mended: by operations that several ports do. */
#include "zoo.h"

enum { N = 40000 };
static KEEP u64 slow(void)
{
	u64 x = 3;
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 3\n imul $5, %0, %%rcx\n imul $5, %0, %%rdx\n"	/* HERE */
				 "imul $5, %0, %%rsi\n imul $5, %0, %%rdi\n .endr" : "+r"(x)
				 :: "rcx", "rdx", "rsi", "rdi", "cc");
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 3;
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 3\n lea (%0,%0,4), %%rcx\n lea (%0,%0,4), %%rdx\n lea (%0,%0,4), %%rsi\n"
				 "lea (%0,%0,4), %%rdi\n .endr" : "+r"(x) :: "rcx", "rdx", "rsi", "rdi", "cc");
	return x;
}
PAIR(slow, mended)
