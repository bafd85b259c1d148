/* SPDX-License-Identifier: GPL-2.0-or-later
 * From linear to physical addresses: first-level TLB, STLB, page walk.  tlb.h says what is left out.
 *
 * A walk starts below the lowest paging-structure cache that holds its part of the address, and reads one entry a
 * level.
 * Each read goes through L1D, L2 and L3 like a load (as PAGE_WALKER_LOADS.DTLB_L1 of Haswell shows: SDM vol. 3B,
 * "Performance-Monitoring Events").  Several walks may run in parallel (walk.walkers).  A later access to a page
 * whose walk is in progress waits for its end, and does not count as a miss of its own.
 *
 * The first touch of a page faults, and the kernel clears the page and writes its table entry (memory.zeroed).  When
 * the program continues, both are in L2, modified, and have evicted other lines.  A first touch by a store is taken
 * as anonymous memory, or as a page that the kernel copied; one by a load as a page of a file, which nobody has
 * written.
 * Left out: the time of the fault, which is the kernel's; its other effects on caches, predictors and TLBs; the zero
 * page that a load finds in memory never written; and that some of the lines are in L1D.
 */
#include "core/memory/memsys_state.h"

/* Returns the first 4 KB frame of the huge page at the address, or NO_FRAME. */
static inline uint32_t huge_at(struct memsys *m, uint64_t addr)
{
	if (__builtin_expect(m->told != NULL, 0))
		return told_huge(m->told, addr);
	return __builtin_expect(m->shared->frames.huges != 0, 0) && m->page_shift == 12
		? frames_huge(&m->shared->frames, addr)
		: NO_FRAME;
}

/* The same for translate: asks the TLBs first, which is faster than to look for a page that was told. */
static __attribute__((noinline)) uint32_t told_huge_at(struct memsys *m, enum translate_kind kind, uint64_t addr)
{
	const bool code = kind == TRANSLATE_CODE, store = kind == TRANSLATE_STORE && m->has_dtlb_store;
	struct tlb *small = store ? &m->dtlb_store : code ? &m->itlb : &m->dtlb;
	struct tlb *huge = store ? &m->dtlb_store : code ? &m->itlb_huge : &m->dtlb_huge;
	if (tlb_find(small, addr >> 12) >= 0)
		return NO_FRAME;
	const int32_t slot = tlb_find(huge, HUGE_KEY(addr));
	return slot >= 0 ? huge->frame[slot] : told_huge(m->told, addr);
}

/* The frame of a small page. */
static inline uint32_t small_frame(struct memsys *m, uint64_t page)
{
	if (__builtin_expect(m->told != NULL, 0))
		return told_frame(m->told, page, m->shared->frames.table_first);
	return frames_get(&m->shared->frames, 0, page);
}

uint32_t translate_known(struct memsys *m, uint64_t addr)
{
	uint64_t page = addr >> m->page_shift;
	int32_t slot = tlb_find(&m->dtlb, page);
	if (__builtin_expect(has_code(m, page), 0))
		tlb_unguess(&m->dtlb, page);
	if (slot >= 0)
		return m->dtlb.frame[slot];
	uint32_t huge = huge_at(m, addr);
	return huge != NO_FRAME ? huge + (uint32_t)(page % HUGE_PAGES) : small_frame(m, page);
}

bool translate_touched(struct memsys *m, uint64_t addr)
{
	if (__builtin_expect(m->told != NULL, 0))
		return told_find(m->told, addr);
	return huge_at(m, addr) != NO_FRAME || frames_has(&m->shared->frames, addr >> m->page_shift);
}

bool memsys_translated(struct memsys *m, uint64_t addr)
{
	const bool huge = huge_at(m, addr) != NO_FRAME;
	const uint64_t page = huge ? HUGE_KEY(addr) : addr >> m->page_shift;
	return tlb_find(huge ? &m->dtlb_huge : &m->dtlb, page) >= 0 ||
	       (m->has_stlb && ((!huge && m->page_shift == 12) || m->stlb_huge) && tlb_find(&m->stlb, page) >= 0);
}

void memsys_keep_tlb(struct memsys *m, bool keep)
{
	m->keeps_tlb = keep;
}

/* Returns the line that holds the table entry of that level for the address. */
static uint32_t entry_line(struct memsys *m, unsigned level, uint64_t addr)
{
	/* address bits that one level resolves; bytes of an entry */
	const unsigned bits = m->walk.two_levels ? 10 : 9, entry = m->walk.two_levels ? 4 : 8;
	const uint32_t table = frames_get(&m->shared->frames, level, addr >> (12 + bits * level));
	const uint32_t index = addr >> (12 + bits * (level - 1)) & ((1u << bits) - 1);
	return table << (12 - m->line_log2) | index * entry >> m->line_log2;
}

/* The kernel has cleared a page: its lines and its table entry are in L2.  Counters of user mode see nothing of it. */
static __attribute__((noinline)) void page_cleared(struct memsys *m, uint64_t addr, uint32_t frame)
{
	const uint64_t found = m->found;
	m->clears = true;
	for (uint32_t i = 0; i < 4096u >> m->line_log2; i++)
		l2_store(m, frame << (12 - m->line_log2) | i, 0, false);
	l2_store(m, entry_line(m, 1, addr), 0, false);
	m->clears = false;
	m->found = found;
}

/* As walk_tables, for a page that was told: its own entries, of its own tables.  The 32 bytes of entries of the highest
 * level with PAE are in registers, and are not among them. */
static __attribute__((noinline)) uint64_t walk_told(struct memsys *m, uint64_t addr, uint64_t cycle, bool timed)
{
	const struct told_page *p = told_find(m->told, addr);
	if (!p || !p->levels)
		return cycle;
	const unsigned bits = p->bits, leaf = p->leaf, top = leaf + p->levels - 1u;
	unsigned level = leaf;
	while (level < top && level < WALK_LEVELS &&
		!walk_cache_has(&m->walk.cache[level], addr >> (12 + bits * level)))
		level++;
	for (unsigned l = leaf; l < top && l < WALK_LEVELS && l <= level; l++)
		walk_cache_use(&m->walk.cache[l], addr >> (12 + bits * l));
	for (; level >= leaf; level--)
		cycle = table_read(m, p->entry[level - leaf], cycle, timed);
	return cycle;
}

/* Reads the entries from the first level that is not cached down to `leaf`; returns the cycle at which the frame is
 * known. */
static uint64_t walk_tables(struct memsys *m, uint64_t addr, unsigned leaf, uint64_t cycle, bool timed)
{
	const unsigned bits = m->walk.two_levels ? 10 : 9, top = m->walk.two_levels ? 2 : WALK_LEVELS;
	unsigned level = leaf;
	if (__builtin_expect(m->told != NULL, 0))
		return walk_told(m, addr, cycle, timed);
	/* cache[l] holds entries of level l + 1, which point to tables of level l */
	while (level < top && !walk_cache_has(&m->walk.cache[level], addr >> (12 + bits * level)))
		level++;
	for (unsigned l = leaf; l < top && l <= level; l++)
		walk_cache_use(&m->walk.cache[l], addr >> (12 + bits * l));
	for (; level >= leaf; level--)
		cycle = table_read(m, entry_line(m, level, addr), cycle, timed);
	return cycle;
}

/* The level of the entry that says where a page lies. */
static unsigned leaf_of(const struct memsys *m, uint64_t addr, bool large, bool giant)
{
	const struct told_page *p = __builtin_expect(m->told != NULL, 0) ? told_find(m->told, addr) : NULL;
	return p ? p->leaf : giant ? 3 : large ? 2 : 1;
}

static void walk(struct memsys *m, enum translate_kind kind, uint64_t addr, uint64_t page, unsigned leaf,
	uint64_t *cycle, bool timed)
{
	if (!timed) {
		m->warmed.walks++;
		walk_tables(m, addr, leaf, 0, false);
		return;
	}
	struct walkers *w = &m->walk;
	unsigned at = 0;
	for (unsigned i = 1; i < w->count; i++)
		if (w->ready[i] < w->ready[at])
			at = i;
	uint64_t start = w->ready[at] > *cycle ? w->ready[at] : *cycle;
	uint64_t end = walk_tables(m, addr, leaf, start, true) + w->overhead;
	if (__builtin_expect(m->free_walk, 0) && kind != TRANSLATE_CODE)
		end = start;
	w->page[at] = page;
	w->ready[at] = end;
	if (end > w->latest)
		w->latest = end;
	enum spmu_signal signal = kind == TRANSLATE_CODE ? SPMU_SIG_ITLB_WALK :
	                          kind == TRANSLATE_STORE ? SPMU_SIG_DTLB_STORE_WALK : SPMU_SIG_DTLB_LOAD_WALK;
	static const uint8_t walked[][3] = {
		[TRANSLATE_CODE] = { SPMU_SIG_ITLB_WALKED_4K, SPMU_SIG_ITLB_WALKED_LARGE, SPMU_SIG_ITLB_WALKED_1G },
		[TRANSLATE_LOAD] = { SPMU_SIG_DTLB_LOAD_WALKED_4K, SPMU_SIG_DTLB_LOAD_WALKED_LARGE,
			SPMU_SIG_DTLB_LOAD_WALKED_1G },
		[TRANSLATE_STORE] = { SPMU_SIG_DTLB_STORE_WALKED_4K, SPMU_SIG_DTLB_STORE_WALKED_LARGE,
			SPMU_SIG_DTLB_STORE_WALKED_1G } };
	emit_signal(m->emitter, signal, start, end, 1);
	emit_signal(m->emitter, walked[kind][leaf - 1], end, end, 1);
	m->emitter->spent_walk += end - *cycle;
	*cycle = end;
}

/* Lets the next access to the page take the fast path, unless it is a data access to a page with code. */
static inline void seen(struct memsys *m, enum translate_kind kind, struct tlb *t, uint64_t page, uint64_t *youngest)
{
	*youngest = page | m->line_tag;
	if (kind != TRANSLATE_CODE && __builtin_expect(has_code(m, page), 0)) {
		*youngest = VLINE_NONE;
		tlb_unguess(t, page);
	}
}

/* Waits for a walk for the page that is in progress. */
static inline void await_walk(const struct memsys *m, uint64_t page, uint64_t *cycle)
{
	if (*cycle >= m->walk.latest)
		return;
	for (unsigned i = 0; i < m->walk.count; i++)
		if (m->walk.page[i] == page && m->walk.ready[i] > *cycle)
			*cycle = m->walk.ready[i];
}

uint32_t translate(struct memsys *m, enum translate_kind kind, uint64_t addr, uint64_t *cycle, uint64_t *did,
	bool timed)
{
	const uint64_t small = addr >> m->page_shift;
	/* gives the frame; the rest models what the lookup costs */
	const uint32_t huge = __builtin_expect(m->told != NULL, 0) ? told_huge_at(m, kind, addr) : huge_at(m, addr);
	const uint64_t page = huge != NO_FRAME ? HUGE_KEY(addr) : small;
	const uint32_t within = huge != NO_FRAME ? (uint32_t)(small % HUGE_PAGES) : 0;
	const bool store_tlb = kind == TRANSLATE_STORE && m->has_dtlb_store;
	struct tlb *t = store_tlb        ? &m->dtlb_store
		: huge != NO_FRAME       ? kind == TRANSLATE_CODE ? &m->itlb_huge : &m->dtlb_huge
		: kind == TRANSLATE_CODE ? &m->itlb
					 : &m->dtlb;
	uint64_t *youngest = kind == TRANSLATE_CODE ? &m->last_code_page
		: store_tlb                         ? &m->last_store_page
						    : &m->last_page;
	int32_t slot = tlb_find(t, page);
	if (slot >= 0) {
		tlb_touch(t, page, (uint32_t)slot);
		seen(m, kind, t, small, youngest);
		if (timed)
			await_walk(m, page, cycle);
		return t->frame[slot] + within;
	}
	const uint64_t asked = *cycle;
	const bool large = huge != NO_FRAME || m->page_shift != 12;
	const bool giant = m->page_shift == GIANT_SHIFT;
	*did |= SPMU_DID(DTLB_MISS) | (large && !giant ? SPMU_DID(LARGE_PAGE) : 0);
	if (kind == TRANSLATE_CODE)
		SIGNAL_AT(m, ITLB_MISS, *cycle, *cycle, 1);
	const bool has_stlb = m->has_stlb && ((huge == NO_FRAME && m->page_shift == 12) || m->stlb_huge);
	*cycle += m->stlb_latency;	/* a miss takes the lookup, too */
	int32_t second = has_stlb ? tlb_find(&m->stlb, page) : -1;
	uint32_t frame;
	if (second >= 0) {
		*did |= SPMU_DID(STLB_HIT);
		if (kind == TRANSLATE_CODE) {
			SIGNAL_AT(m, ITLB_STLB_HIT, *cycle, *cycle, 1);
			if (timed && !giant)
				emit_signal(m->emitter,
					large ? SPMU_SIG_ITLB_STLB_HIT_LARGE : SPMU_SIG_ITLB_STLB_HIT_4K, *cycle,
					*cycle, 1);
		}
		tlb_touch(&m->stlb, page, (uint32_t)second);
		frame = m->stlb.frame[second];
		if (__builtin_expect(m->free_dtlb, 0) && kind != TRANSLATE_CODE)
			*cycle = asked;
		if (timed)
			await_walk(m, page, cycle);
	} else {
		*did |= SPMU_DID(STLB_MISS);
		const bool fresh =
			m->zeroed && kind == TRANSLATE_STORE && !large && !frames_has(&m->shared->frames, small);
		frame = huge != NO_FRAME ? huge : small_frame(m, small);
		if (__builtin_expect(fresh, 0))
			page_cleared(m, addr, frame);
		walk(m, kind, addr, page, leaf_of(m, addr, large, giant), cycle, timed);
		if (__builtin_expect(m->free_walk, 0) && kind != TRANSLATE_CODE)
			*cycle = asked;
		if (has_stlb && !m->keeps_tlb)
			tlb_fill(&m->stlb, page, frame);
	}
	if (!m->keeps_tlb) {
		tlb_fill(t, page, frame);
		seen(m, kind, t, small, youngest);
	}
	m->emitter->spent_tlb += timed ? *cycle - asked : 0;
	return frame + within;
}

static void forget(struct tlb *t, uint64_t first, uint64_t pieces)
{
	for (uint32_t i = 0; i < t->sets << t->log2; i++)
		if (t->page[i] != VLINE_NONE && t->page[i] - (UINT64_C(1) << 61 | first) < pieces)
			tlb_drop(t, i);
}

void memsys_shared_map(struct memsys_shared *s, uint64_t addr, uint64_t bytes, bool huge)
{
	if (!frames_mark(&s->frames, addr, bytes, huge))
		return;
	uint64_t last = addr + (bytes - 1) < addr ? UINT64_MAX : addr + bytes - 1;
	uint64_t first = addr >> HUGE_SHIFT, pieces = (last >> HUGE_SHIFT) - first + 1;
	for (uint32_t i = 0; i < s->cores; i++) {
		struct memsys *m = s->core[i];
		struct tlb *tlbs[] = { &m->itlb_huge, &m->dtlb_huge, &m->dtlb_store, &m->stlb };
		for (unsigned k = 0; k < sizeof tlbs / sizeof *tlbs; k++)
			forget(tlbs[k], first, pieces);
		m->last_page = m->last_store_page = m->last_code_page = VLINE_NONE;
		/* and the lines of the L1s, which are tagged by linear address */
		struct l1 *l1[] = { &m->l1d, &m->l1i };
		unsigned shift = HUGE_SHIFT - m->line_log2;
		for (unsigned k = 0; k < 2; k++)
			for (uint32_t at = 0; at < l1[k]->sets << l1[k]->log2; at++)
				if (l1[k]->vline[at] != VLINE_NONE && !(l1[k]->vline[at] >> 63) &&
				    ((l1[k]->vline[at] & ~m->line_tag) >> shift) - first < pieces)
					l1_drop(l1[k], (int32_t)at);
	}
}

int memsys_shared_map_like(struct memsys_shared *s, const struct memsys_shared *like, struct err *err)
{
	return frames_map_like(&s->frames, &like->frames) ? 0 : err_set(err, ERR_NOMEM, "out of memory for huge pages");
}
