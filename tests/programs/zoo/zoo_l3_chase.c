/* SPDX-License-Identifier: GPL-2.0-or-later
 * A list of 80000 nodes in random order, a line each; mended: eight nodes in a line. */
#include "zoo.h"

enum { NODES = 80000, STEPS = 200000 };
static _Alignas(64) uint32_t memory[NODES * 16];
static uint32_t order[NODES];
static void link_all(uint32_t apart)
{
	u64 s = 88172645463325252u;
	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) {
		const uint32_t k = (uint32_t)(next_random(&s) >> 32) % i, was = order[i];
		order[i] = order[k];
		order[k] = was;
	}
	for (uint32_t i = 0; i < NODES; i++)
		memory[order[i] * apart] = order[(i + 1) % NODES] * apart;
}
static KEEP u64 walk(void)
{
	uint32_t at = memory[0];
	for (int i = 0; i < STEPS; i++)
		at = ((volatile uint32_t *)memory)[at];	/* HERE */
	return at;
}
static u64 slow(void) { link_all(16); return walk(); }
static u64 mended(void) { link_all(2); return walk(); }
PAIR(slow, mended)
