/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branches that end at a boundary of 32 bytes, with the erratum's microcode; mended: moved away. */
#include "zoo.h"

enum { N = 20000 };
/* Each part has 32 bytes: five instructions and three long no-operations; `first` bytes of these come first. */
#define LOOP(first) __asm__ volatile(".balign 64\n 2:\n .rept 8\n .nops " first "\n lea 1(%%rcx), %%rdx\n" \
		"lea 2(%%rcx), %%rsi\n test %%rsp, %%rsp\n jz 1f\n .nops 19 - " first "\n .endr\n dec %0\n" \
		"jnz 2b\n 1:" \
		: "+r"(left) :: "rcx", "rdx", "rsi", "cc")
static KEEP u64 slow(void)
{
	u64 left = N;
	LOOP("19");	/* HERE */
	return left;
}
static KEEP u64 mended(void)
{
	u64 left = N;
	LOOP("9");
	return left;
}
PAIR(slow, mended)
