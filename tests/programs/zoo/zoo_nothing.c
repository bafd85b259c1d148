/* SPDX-License-Identifier: GPL-2.0-or-later
 * Independent additions at the width of the core: nothing to gain; mended: the same. */
#include "zoo.h"

static KEEP u64 work(void)
{
	for (int i = 0; i < 40000; i++)
		__asm__ volatile(".rept 8\n lea 1(%%r8), %%r9\n lea 1(%%r8), %%rcx\n lea 1(%%r8), %%rdx\n\n"
				 "mov $5, %%esi\n"
				 ".endr" ::: "rcx", "rdx", "rsi", "r8", "r9");
	return 0;
}
PAIR(work, work)
