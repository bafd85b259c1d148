/* SPDX-License-Identifier: GPL-2.0-or-later
 * Stores to lines in random order; mended: in order. */
#include "zoo.h"

enum { LINES = 30000, ROUNDS = 4 };
static _Alignas(64) char memory[LINES * 64ul];
static KEEP u64 write_all(uint32_t step)
{
	uint32_t at = 0;
	for (int i = 0; i < LINES * ROUNDS; i++) {
		*(volatile u64 *)(memory + at * 64ul) = (u64)i;	/* HERE */
		at += step;
		at = at >= LINES ? at - LINES : at;
	}
	return at;
}
static KEEP u64 dense(void)
{
	for (int i = 0; i < LINES * ROUNDS; i++)
		*(volatile u64 *)(memory + (u64)i * 8 % sizeof memory) = (u64)i;
	return 0;
}
static u64 slow(void) { return write_all(12373); }
PAIR(slow, dense)
