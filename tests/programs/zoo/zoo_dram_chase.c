/* SPDX-License-Identifier: GPL-2.0-or-later
 * Dependent loads of lines that no cache has; mended: eight such chains at once. */
#include "zoo.h"

enum { STEPS = 24000, MEGABYTES = 96 };
#define LINES ((u64)MEGABYTES << 14)
static volatile u64 *memory;
static KEEP u64 slow(void)
{
	u64 at = 1;
	memory = aligned_alloc(4096, LINES * 64);
	for (int i = 0; i < STEPS; i++)
		at = (at * 6364136223846793005u + 1442695040888963407u +	/* HERE */
			memory[(at >> 30) % LINES * 8]);
	return at;
}
static KEEP u64 mended(void)
{
	u64 at[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, sum = 0;
	memory = aligned_alloc(4096, LINES * 64);
	for (int i = 0; i < STEPS / 8; i++)
		for (int k = 0; k < 8; k++)
			at[k] = at[k] * 6364136223846793005u + 1442695040888963407u +
				memory[(at[k] >> 30) % LINES * 8];
	for (int k = 0; k < 8; k++)
		sum += at[k];
	return sum;
}
PAIR(slow, mended)
