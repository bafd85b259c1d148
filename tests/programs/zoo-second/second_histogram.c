/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counts of bytes that mostly are the same one, so each count waits for the one before, which is still in the store
 * buffer; mended: four tables, added up at the end. */
#include "../zoo/zoo.h"

enum { N = 1 << 16, ROUNDS = 6 };
static unsigned char text[N];
static u64 count[4][256];
static void fill(void)
{
	u64 s = 7;
	for (int i = 0; i < N; i++)
		text[i] = (unsigned char)(next_random(&s) >> 32 & 15 ? ' ' : 'a' + i % 26);
}

static KEEP u64 slow(void)
{
	fill();
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++)
			count[0][text[i]]++;	/* HERE */
	return count[0][' '];
}
static KEEP u64 mended(void)
{
	fill();
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i += 4) {
			count[0][text[i]]++;
			count[1][text[i + 1]]++;
			count[2][text[i + 2]]++;
			count[3][text[i + 3]]++;
		}
	return count[0][' '] + count[1][' '] + count[2][' '] + count[3][' '];
}
PAIR(slow, mended)
