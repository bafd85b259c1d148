/* SPDX-License-Identifier: GPL-2.0-or-later
 * Legacy SSE code while the upper halves of the registers are in use; mended: VZEROUPPER before it. */
#include "zoo.h"

enum { N = 12000 };
#define SSE ".rept 12\n addpd %%xmm1, %%xmm0\n addpd %%xmm3, %%xmm2\n addpd %%xmm1, %%xmm4\n .endr"
#define USED "xmm0", "xmm1", "xmm2", "xmm3", "xmm4"
static KEEP u64 slow(void)
{
	for (int i = 0; i < N; i++)
		__asm__ volatile("vaddpd %%ymm1, %%ymm1, %%ymm2\n" SSE ::: USED);	/* HERE */
	return 0;
}
static KEEP u64 mended(void)
{
	for (int i = 0; i < N; i++)
		__asm__ volatile("vaddpd %%ymm1, %%ymm1, %%ymm2\n vzeroupper\n" SSE ::: USED);
	return 0;
}
PAIR(slow, mended)
