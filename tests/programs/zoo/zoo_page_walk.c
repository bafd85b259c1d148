/* SPDX-License-Identifier: GPL-2.0-or-later
 * One word in each of 6000 pages, again and again, each on another line; mended: the words lie together. */
#include "zoo.h"

enum { PAGES = 6000, ROUNDS = 20 };
static char *memory;
static KEEP u64 walk(u64 apart)
{
	u64 at = 0, sum = 0;
	for (int i = 0; i < PAGES * ROUNDS; i++) {
		at = (at + 2477) % PAGES;
		sum += *(volatile u64 *)(memory + at * apart + (sum & 1));	/* HERE */
	}
	return sum;
}
static u64 slow(void) { memory = aligned_alloc(4096, PAGES * 4160ul + 4096); return walk(4160); }
static u64 mended(void) { memory = aligned_alloc(4096, PAGES * 4160ul + 4096); return walk(64); }
PAIR(slow, mended)
