/* SPDX-License-Identifier: GPL-2.0-or-later
 * Straight code of 96 KB, which no L1I holds; mended: the same operations in a loop of 240 bytes. */
#include "zoo.h"

#define BODY ".rept %c1\n lea 77777(%%rdi), %%rcx\n lea 77777(%%rdi), %%rdx\n mov $99999, %%esi\n.endr\n"
#define USED "rcx", "rdx", "rsi", "rdi"
static KEEP u64 slow(void)
{
	u64 x = 1;
	for (int r = 0; r < 50; r++)
		__asm__ volatile(BODY : "+r"(x) : "i"(5120) : USED);	/* HERE */
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 1;
	for (int r = 0; r < 50 * 5120 / 10; r++)
		__asm__ volatile(BODY : "+r"(x) : "i"(10) : USED);
	return x;
}
PAIR(slow, mended)
