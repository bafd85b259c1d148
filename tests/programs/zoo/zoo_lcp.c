/* SPDX-License-Identifier: GPL-2.0-or-later
 * Code with 16-bit immediates that no uop cache holds; mended: 32-bit immediates. */
#include "zoo.h"

static KEEP u64 slow(void)
{
	u64 x = 1;
	for (int r = 0; r < 250; r++)
		__asm__ volatile(".rept 2600\n cmpw $0x1234, %%ax\n lea 1(%0), %%rcx\n .endr"	/* HERE */
				 : "+r"(x) :: "rcx", "cc");
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 1;
	for (int r = 0; r < 250; r++)
		__asm__ volatile(".rept 2600\n cmpl $0x1234, %%eax\n lea 1(%0), %%rcx\n .endr"
				 : "+r"(x) :: "rcx", "cc");
	return x;
}
PAIR(slow, mended)
