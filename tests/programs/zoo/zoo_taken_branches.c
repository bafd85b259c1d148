/* SPDX-License-Identifier: GPL-2.0-or-later
 * A taken jump behind every other instruction; mended: the same instructions in a line. */
#include "zoo.h"

enum { N = 20000 };
static KEEP u64 slow(void)
{
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 8\n lea 1(%%rcx), %%rdx\n lea 2(%%rcx), %%rsi\n"	/* HERE */
				 "jmp 1f\n .balign 64, 0xcc\n 1:\n .endr" ::: "rcx", "rdx", "rsi");
	return 0;
}
static KEEP u64 mended(void)
{
	for (int i = 0; i < N; i++)
		__asm__ volatile(".rept 8\n lea 1(%%rcx), %%rdx\n lea 2(%%rcx), %%rsi\n .endr" ::: "rcx", "rdx", "rsi");
	return 0;
}
PAIR(slow, mended)
