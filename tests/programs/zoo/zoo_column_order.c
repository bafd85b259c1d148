/* SPDX-License-Identifier: GPL-2.0-or-later
 * A matrix by columns; mended: by rows. */
#include "zoo.h"

enum { ROWS = 1200, COLUMNS = 128 };
static _Alignas(64) uint32_t matrix[ROWS][COLUMNS];
static KEEP u64 slow(void)
{
	u64 sum = 0;
	for (int c = 0; c < COLUMNS; c++)
		for (int r = 0; r < ROWS; r++)
			sum += ((volatile uint32_t *)matrix[r])[c];	/* HERE */
	return sum;
}
static KEEP u64 mended(void)
{
	u64 sum = 0;
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLUMNS; c++)
			sum += ((volatile uint32_t *)matrix[r])[c];
	return sum;
}
PAIR(slow, mended)
