/* SPDX-License-Identifier: GPL-2.0-or-later
 * A jump into every one of 400 pages of code; mended: the same jumps within four pages. */
#include "zoo.h"

#define JUMPS(apart) ".rept 400\n add $3, %0\n jmp 1f\n .skip " apart ", 0xcc\n 1:\n .endr\n"
static KEEP u64 slow(void)
{
	u64 x = 1;
	for (int r = 0; r < 500; r++)
		__asm__ volatile(JUMPS("4096 + 64 - 9") : "+r"(x) :: "cc");	/* HERE */
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 1;
	for (int r = 0; r < 500; r++)
		__asm__ volatile(JUMPS("23") : "+r"(x) :: "cc");
	return x;
}
PAIR(slow, mended)
