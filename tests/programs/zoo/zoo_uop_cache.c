/* SPDX-License-Identifier: GPL-2.0-or-later
 * Straight code of 28 KB with long instructions, which the uop cache does not hold; mended: a loop. */
#include "zoo.h"

#define BODY ".rept %c1\n lea 77777(%%rdi), %%rcx\n lea 77777(%%rdi), %%rdx\n movl $99999, 128(%%rsp)\n.endr\n"
#define USED "rcx", "rdx", "rsi", "rdi", "memory"
static KEEP u64 slow(void)
{
	u64 x = 1;
	for (int r = 0; r < 250; r++)
		__asm__ volatile("sub $256, %%rsp\n" BODY "add $256, %%rsp" : "+r"(x)	/* HERE */
				 : "i"(1100) : USED);
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 1;
	for (int r = 0; r < 250 * 1100 / 11; r++)
		__asm__ volatile("sub $256, %%rsp\n" BODY "add $256, %%rsp" : "+r"(x) : "i"(11) : USED);
	return x;
}
PAIR(slow, mended)
