/* SPDX-License-Identifier: GPL-2.0-or-later
 * A hash table whose size is a prime that the compiler does not know, so each place costs a division; mended: a power
 * of two, and a mask. */
#include "../zoo/zoo.h"

enum { KEYS = 60000 };
static u64 table[1024];
static volatile u64 prime = 1021, mask = 1023;

static KEEP u64 slow(void)
{
	const u64 size = prime;
	u64 key = 1;
	for (int i = 0; i < KEYS; i++) {
		key = key * 6364136223846793005u + 1;
		key ^= ++table[key % size];	/* HERE */
	}
	return table[7];
}
static KEEP u64 mended(void)
{
	const u64 m = mask;
	u64 key = 1;
	for (int i = 0; i < KEYS; i++) {
		key = key * 6364136223846793005u + 1;
		key ^= ++table[key >> 32 & m];
	}
	return table[7];
}
PAIR(slow, mended)
