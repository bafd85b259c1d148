/* SPDX-License-Identifier: GPL-2.0-or-later
 * Multiplications with denormal inputs and results; mended: denormals are zero (MXCSR). */
#include "zoo.h"
#include <xmmintrin.h>

enum { N = 20000 };
static volatile float small = 1e-39f;
static KEEP u64 scale(void)
{
	float sum = 0;
	for (int i = 0; i < N; i++) {
		sum += small * 0.5f;	/* HERE */
		__asm__ volatile("" : "+x"(sum));
	}
	return sum > 0;
}
static u64 mended(void)
{
	_mm_setcsr(_mm_getcsr() | 0x8040);
	return scale();
}
PAIR(scale, mended)
