/* SPDX-License-Identifier: GPL-2.0-or-later
 * One word in each of 600 pages, which the second-level TLB holds; mended: the words lie together. */
#include "zoo.h"

enum { PAGES = 600, ROUNDS = 200 };
static _Alignas(4096) char memory[PAGES * 4160ul + 4096];
static KEEP u64 walk(u64 apart)
{
	u64 at = 0, sum = 0;
	for (int i = 0; i < PAGES * ROUNDS; i++) {
		sum += *(volatile u64 *)(memory + at * apart + (sum & 1));	/* HERE */
		at = at + 253 + (sum & 1);
		at = at >= PAGES ? at - PAGES : at;
	}
	return sum;
}
static u64 slow(void) { return walk(4160); }
static u64 mended(void) { return walk(64); }
PAIR(slow, mended)
