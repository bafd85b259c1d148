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
#include <stddef.h>
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

/* The same for a table of few loads, the ones used last (forward.renamed_few); limit: as above. */
enum { PAIRS_FEW = 16 };
struct pairs_few { struct pair pair[PAIRS_FEW]; uint32_t used[PAIRS_FEW], clock, entries; };

static inline struct pair *pairs_few_find(struct pairs_few *f, uint64_t ip)
{
	for (uint32_t i = 0; i < f->entries; i++)
		if (f->used[i] && f->pair[i].ip == (uint32_t)ip)
			return &f->pair[i];
	return NULL;
}

static inline bool pairs_few_meet(struct pairs_few *f, uint64_t ip, uint32_t back, bool whole, uint32_t limit)
{
	struct pair *p = pairs_few_find(f, ip);
	uint32_t oldest = 0;
	if (!p) {
		for (uint32_t i = 1; i < f->entries; i++)
			oldest = f->used[i] < f->used[oldest] ? i : oldest;
		p = &f->pair[oldest];
		*p = (struct pair){ (uint32_t)ip, back, 0 };
	} else if (!whole || p->back != back) {
		*p = (struct pair){ (uint32_t)ip, back, 0 };
	}
	f->used[p - f->pair] = ++f->clock;
	if (p->count >= limit)
		return true;
	p->count += whole;
	return false;
}
#endif
