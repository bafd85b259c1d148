/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a core learns about loads and the stores that they take their data from (lsq.h: memory renaming,
 * forward.renamed): for an instruction, how many stores back that store was the last times, and how often in a
 * row it was there.
 * The table has a header of its own because each dependence graph of a run has one, too
 * (analysis/graph/graph.h).
 */
#ifndef CORE_MEMORY_PAIRS_H
#define CORE_MEMORY_PAIRS_H
#include <stdbool.h>
#include <stdint.h>

enum { PAIRS = 1024 };
struct pair { uint32_t ip, back; uint16_t count; };	/* zeroed: none */

/* The load at `ip` took its data from the store `back` stores back; whole: it reads exactly what was stored.
 * Returns whether it becomes the stored register: this was so `limit` times in a row. */
static inline bool pairs_meet(struct pair pair[PAIRS], uint64_t ip, uint32_t back, bool whole, uint32_t limit)
{
	struct pair *p = &pair[(ip ^ ip >> 10) % PAIRS];
	if (!whole || p->ip != (uint32_t)ip || p->back != back) {
		*p = (struct pair){ (uint32_t)ip, back, 0 };
		return false;
	}
	if (p->count >= limit)
		return true;
	p->count++;
	return false;
}
#endif
