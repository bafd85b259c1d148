/* SPDX-License-Identifier: GPL-2.0-or-later
 * From linear to physical: first-level TLB, STLB, page walk.  See tlb.h for what is left out.
 *
 * A walk starts below the lowest paging-structure cache that knows its part of the address and reads one entry a level,
 * each through L1D, L2 and L3 like a load (as PAGE_WALKER_LOADS.DTLB_L1 of Haswell shows, in SDM vol. 3B,
 * "Performance-Monitoring Events").  Several may run at a time (walk.walkers).  A later access to a page whose walk is not
 * over waits for it, without being counted as a miss of its own.
 */
#include "core/memsys_state.h"

uint32_t translate_known(struct memsys *m, uint64_t addr)
{
	uint64_t page = addr >> m->page_shift;
	int32_t slot = tlb_find(&m->dtlb, page);
	if (__builtin_expect(has_code(m, page), 0))
		tlb_unguess(&m->dtlb, page);
	return slot >= 0 ? m->dtlb.frame[slot] : frames_get(&m->shared->frames, 0, page);
}

/* Reads the entries from the first unknown level down to the page's; returns the cycle at which the frame is known. */
static uint64_t walk_tables(struct memsys *m, uint64_t addr, uint64_t cycle, bool timed)
{
	/* bits of the address that one level resolves, and bytes of an entry */
	const unsigned bits = m->walk.two_levels ? 10 : 9, entry = m->walk.two_levels ? 4 : 8, top = m->walk.two_levels ? 2 : WALK_LEVELS;
	unsigned leaf = m->page_shift == 12 ? 1 : 2, level = leaf;
	/* cache[l] holds entries of level l + 1, which point to tables of level l */
	while (level < top && !walk_cache_has(&m->walk.cache[level], addr >> (12 + bits * level)))
		level++;
	for (unsigned l = leaf; l < top && l <= level; l++)
		walk_cache_use(&m->walk.cache[l], addr >> (12 + bits * l));
	for (; level >= leaf; level--) {
		uint32_t table = frames_get(&m->shared->frames, level, addr >> (12 + bits * level));
		uint32_t index = addr >> (12 + bits * (level - 1)) & ((1u << bits) - 1);
		cycle = table_read(m, table << (12 - m->line_log2) | index * entry >> m->line_log2, cycle, timed);
	}
	return cycle;
}

static void walk(struct memsys *m, enum translate_kind kind, uint64_t addr, uint64_t *cycle, bool timed)
{
	if (!timed) {
		walk_tables(m, addr, 0, false);
		return;
	}
	struct walkers *w = &m->walk;
	unsigned at = 0;
	for (unsigned i = 1; i < w->count; i++)
		if (w->ready[i] < w->ready[at])
			at = i;
	uint64_t start = w->ready[at] > *cycle ? w->ready[at] : *cycle;
	uint64_t end = walk_tables(m, addr, start, true) + w->overhead;
	w->page[at] = addr >> m->page_shift;
	w->ready[at] = end;
	if (end > w->latest)
		w->latest = end;
	enum spmu_signal signal = kind == TRANSLATE_CODE ? SPMU_SIG_ITLB_WALK :
	                          kind == TRANSLATE_STORE ? SPMU_SIG_DTLB_STORE_WALK : SPMU_SIG_DTLB_LOAD_WALK;
	emit_signal(m->emitter, signal, start, end, 1);
	*cycle = end;
}

/* The next access to the page may go the short way, unless it is one of data to a page with code. */
static inline void seen(struct memsys *m, enum translate_kind kind, struct tlb *t, uint64_t page, uint64_t *youngest)
{
	*youngest = page | m->line_tag;
	if (kind != TRANSLATE_CODE && __builtin_expect(has_code(m, page), 0)) {
		*youngest = VLINE_NONE;
		tlb_unguess(t, page);
	}
}

uint32_t translate(struct memsys *m, enum translate_kind kind, uint64_t addr, uint64_t *cycle, uint64_t *did, bool timed)
{
	struct tlb *t = kind == TRANSLATE_CODE ? &m->itlb :
	                kind == TRANSLATE_STORE && m->has_dtlb_store ? &m->dtlb_store : &m->dtlb;
	uint64_t page = addr >> m->page_shift;
	uint64_t *youngest = t == &m->dtlb ? &m->last_page : t == &m->itlb ? &m->last_code_page : &m->last_store_page;
	int32_t slot = tlb_find(t, page);
	if (slot >= 0) {
		tlb_touch(t, page, (uint32_t)slot);
		seen(m, kind, t, page, youngest);
		if (timed && *cycle < m->walk.latest)
			for (unsigned i = 0; i < m->walk.count; i++)
				if (m->walk.page[i] == page && m->walk.ready[i] > *cycle)
					*cycle = m->walk.ready[i];
		return t->frame[slot];
	}
	*did |= SPMU_DID(DTLB_MISS);
	if (kind == TRANSLATE_CODE)
		SIGNAL_AT(m, ITLB_MISS, *cycle, *cycle, 1);
	*cycle += m->stlb_latency;
	int32_t second = m->has_stlb ? tlb_find(&m->stlb, page) : -1;
	uint32_t frame;
	if (second >= 0) {
		*did |= SPMU_DID(STLB_HIT);
		if (kind == TRANSLATE_CODE)
			SIGNAL_AT(m, ITLB_STLB_HIT, *cycle, *cycle, 1);
		tlb_touch(&m->stlb, page, (uint32_t)second);
		frame = m->stlb.frame[second];
		if (timed && *cycle < m->walk.latest)
			for (unsigned i = 0; i < m->walk.count; i++)
				if (m->walk.page[i] == page && m->walk.ready[i] > *cycle)
					*cycle = m->walk.ready[i];
	} else {
		*did |= SPMU_DID(STLB_MISS);
		frame = frames_get(&m->shared->frames, 0, page);
		walk(m, kind, addr, cycle, timed);
		if (m->has_stlb)
			tlb_fill(&m->stlb, page, frame);
	}
	tlb_fill(t, page, frame);
	seen(m, kind, t, page, youngest);
	return frame;
}
