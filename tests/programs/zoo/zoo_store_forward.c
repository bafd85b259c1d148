/* SPDX-License-Identifier: GPL-2.0-or-later
 * A wide load of what two narrow stores wrote; mended: the value is put together in a register. */
#include "zoo.h"

enum { N = 80000 };
static volatile union { uint32_t half[2]; u64 whole; } box;
static KEEP u64 slow(void)
{
	u64 x = 1;
	for (int i = 0; i < N; i++) {
		box.half[0] = (uint32_t)x;
		box.half[1] = (uint32_t)(x >> 7);
		x += box.whole;	/* HERE */
	}
	return x;
}
static KEEP u64 mended(void)
{
	u64 x = 1;
	for (int i = 0; i < N; i++) {
		box.whole = (uint32_t)x | (x >> 7) << 32;
		x += (uint32_t)x | (x >> 7) << 32;
	}
	return x;
}
PAIR(slow, mended)
