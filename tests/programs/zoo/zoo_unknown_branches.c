/* SPDX-License-Identifier: GPL-2.0-or-later
 * More taken branches than the BTB holds; mended: a loop with one branch. */
#include "zoo.h"

#define JUMPS(n) ".rept " n "\n jmp 1f\n int3\n 1: add $3, %0\n .endr\n"
static KEEP u64 slow(void)
{
	u64 x = 1;
	for (int r = 0; r < 25; r++)
		__asm__ volatile(JUMPS("24000") : "+r"(x) :: "cc");	/* HERE */
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 1;
	for (int r = 0; r < 25 * 24000 / 100; r++)
		__asm__ volatile(JUMPS("100") : "+r"(x) :: "cc");
	return x;
}
PAIR(slow, mended)
