/* SPDX-License-Identifier: GPL-2.0-or-later
 * One thread writes a field, another reads its neighbour in the line; mended: padded. */
#include "zoo.h"

enum { N = 60000 };
static _Alignas(64) volatile u64 field[16];
static volatile u64 *read_from;
static void *work(void *writes)
{
	u64 sum = 0;
	for (int i = 0; i < N; i++)
		if (writes)
			field[0] = (u64)i;
		else
			sum += *read_from;	/* HERE */
	return (void *)sum;
}
static u64 slow(void) { read_from = &field[1]; two_threads(work, NULL, (void *)1); return field[0]; }
static u64 mended(void) { read_from = &field[8]; two_threads(work, NULL, (void *)1); return field[0]; }
PAIR(slow, mended)
