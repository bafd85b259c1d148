/* SPDX-License-Identifier: GPL-2.0-or-later
 * Columns of a matrix whose rows are 4 KB apart; mended: rows padded by a line. */
#include "zoo.h"

enum { ROWS = 64, COLUMNS = 16, ROUNDS = 120 };
static _Alignas(4096) char memory[ROWS * (4096 + 64) + 4096];
static KEEP u64 walk(u64 apart)
{
	u64 sum = 0;
	for (int r = 0; r < ROUNDS; r++)
		for (int c = 0; c < COLUMNS; c++)
			for (int i = 0; i < ROWS; i++)
				sum = *(volatile u64 *)(memory +	/* HERE */
					i * apart + (c & 7) * 8 + (sum & 1)) + sum * 2;
	return sum;
}
static u64 slow(void) { return walk(4096); }
static u64 mended(void) { return walk(4096 + 64); }
PAIR(slow, mended)
