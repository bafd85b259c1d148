/* SPDX-License-Identifier: GPL-2.0-or-later
 * Dependent loads that cross a line; mended: aligned. */
#include "zoo.h"

enum { N = 120000 };
static _Alignas(64) char memory[4096];
static KEEP u64 walk(const char *at)
{
	u64 next = 0;
	for (int i = 0; i < N; i++)
		next = *(const volatile u64 *)(at + next);	/* HERE */
	return next;
}
static u64 slow(void) { return walk(memory + 60); }
static u64 mended(void) { return walk(memory + 64); }
PAIR(slow, mended)
