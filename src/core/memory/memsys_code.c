/* SPDX-License-Identifier: GPL-2.0-or-later
 * The L1I side of the memory system: fetches, their fill buffers, and the prefetch of following lines.
 * Time is carried along as in memsys.c. */
#include "core/memory/memsys_state.h"

/* Hits are frequent and need no record each: they are added to the last such record of the batch.  last: its index. */
static inline void code_hit(struct memsys *m, enum spmu_signal hit, uint32_t *last, uint64_t cycle)
{
	struct emitter *e = m->emitter;
	if (!emit_wanted(e, hit))
		return;
	if (*last < e->count) {
		struct spmu_record *r = &e->record[*last];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == hit) {
			r->did++;
			return;
		}
	}
	emit_signal(e, hit, cycle, cycle, 1);
	*last = e->count - 1;
}

static void icache_hit(struct memsys *m, uint64_t cycle)
{
	code_hit(m, SPMU_SIG_ICACHE_HIT, &m->icache_hit_record, cycle);
}

static void itlb_hit(struct memsys *m, uint64_t cycle)
{
	code_hit(m, SPMU_SIG_ITLB_HIT, &m->itlb_hit_record, cycle);
}

/* Adds up, for the dependence graph, how much longer fetch waits for a line than for an L2 hit.
 * Left out: waits for lines that a prefetch had requested from memory. */
static __attribute__((noinline)) void code_waited(struct memsys *m, uint64_t cycles, enum inflight_source source)
{
	const uint64_t of_l3 = m->shared->l3_latency - m->l2_latency;
	if (source == FROM_L3)
		m->emitter->spent_code_l3 += cycles < of_l3 ? cycles : of_l3;
}

/* Brings a line into L1I.  Returns the cycle of use, or 0 if a prefetch found no fill buffer; *from: who served it.
 * needed: when the front end needs it. */
static inline __attribute__((always_inline)) uint64_t l1i_bring(struct memsys *m, uint64_t vline, uint32_t line,
	uint64_t cycle, uint64_t needed, bool prefetch, bool timed, enum inflight_source *from)
{
	unsigned entry = 0;
	uint64_t start = cycle;
	if (timed) {
		entry = inflight_soonest(&m->l1i_fill);
		if (m->l1i_fill.ready[entry] > cycle) {
			if (prefetch)
				return 0;
			start = m->l1i_fill.ready[entry];
		}
		start = rate_book(&m->l1i_rate, start);
	}
	enum inflight_source source;
	uint8_t state;
	m->asker = SPMU_ATTR(REQUEST_CODE_RD);
	uint64_t ready = l2_access(m, line, start, prefetch ? ACCESS_PREFETCH : ACCESS_CODE, timed, &source, &state);
	*from = source;
	if (timed && __builtin_expect(m->free_icache, 0) && source != FROM_MEMORY) {
		ready = cycle;
	} else if (timed) {
		const uint64_t hit = start + m->l2_code_latency;
		if (__builtin_expect(m->emitter->detail, 0) && !prefetch && ready > (hit > needed ? hit : needed))
			code_waited(m, ready - (hit > needed ? hit : needed), source);
		inflight_set(&m->l1i_fill, entry, line, ready, source, !prefetch);
		state |= LINE_PENDING;
	}
	struct cache_victim victim;
	l1_fill(&m->l1i, vline, line, state | (prefetch ? LINE_PREFETCHED : 0), &victim);
	uint64_t page = (vline & ~m->line_tag) >> (m->page_shift - m->line_log2);
	if (!has_code(m, page)) {
		m->code_page[page % CODE_PAGES / 64] |= UINT64_C(1) << (page & 63);
		m->last_page = m->last_store_page = VLINE_NONE;
		tlb_unguess(&m->dtlb, page);
	}
	return ready;
}

static inline __attribute__((always_inline)) void fetch_general(struct memsys *m, uint64_t addr, uint64_t cycle,
	uint64_t needed, bool timed, struct mem_result *r)
{
	uint64_t vline = linear_line(m, addr), did = 0;
	r->did = 0;
	r->ready = cycle;
	uint32_t frame = translate(m, TRANSLATE_CODE, addr, &r->ready, &did, timed);
	if (did & SPMU_DID(DTLB_MISS))
		r->did |= SPMU_DID(ITLB_MISS_F) | (did & SPMU_DID(STLB_MISS) ? SPMU_DID(FETCH_STLB_MISS) : 0);
	else if (timed)
		itlb_hit(m, needed);
	if (r->ready > needed)
		SIGNAL_AT(m, ITLB_STALL, needed, r->ready, 1);
	const uint64_t translated = r->ready, late = translated > needed ? translated : needed;
	uint32_t line = physical_line(m, frame, vline);
	int32_t slot = l1_find(&m->l1i, vline);
	if (slot < 0 && __builtin_expect(m->told != NULL, 0))
		slot = told_alias(m, &m->l1i, vline, line, cycle, timed);
	bool ahead = false;
	enum inflight_source source = FROM_L2, next;
	if (slot >= 0) {
		uint8_t *state = &m->l1i.state[slot];
		l1_touch(&m->l1i, vline, (uint32_t)slot);
		ahead = *state & LINE_PREFETCHED;
		*state &= (uint8_t)~LINE_PREFETCHED;
		if (timed && *state & LINE_PENDING) {
			int entry = inflight_find(&m->l1i_fill, line);
			if (entry >= 0 && m->l1i_fill.ready[entry] > r->ready) {
				if (__builtin_expect(m->emitter->detail, 0) && m->l1i_fill.ready[entry] > late)
					code_waited(m, m->l1i_fill.ready[entry] - late, m->l1i_fill.source[entry]);
				r->ready = m->l1i_fill.ready[entry];
				source = m->l1i_fill.source[entry];
			} else {
				*state &= (uint8_t)~LINE_PENDING;
			}
		}
	} else {
		r->ready = l1i_bring(m, vline, line, r->ready, late, false, timed, &source);
		ahead = true;
	}
	if (timed && (slot < 0 || r->ready > translated)) {
		r->did |= SPMU_DID(ICACHE_MISS) | (source != FROM_L2 ? SPMU_DID(FETCH_L2_MISS) : 0);
		SIGNAL_AT(m, ICACHE_MISS_LINE, late, late, 1);
		if (r->ready > late)
			SIGNAL_AT(m, ICACHE_STALL, late, r->ready, 1);
	} else if (timed) {
		icache_hit(m, needed);
	}
	/* After a miss, or the first use of a prefetched line, the following lines are prefetched; not across
	 * a page. */
	for (unsigned i = 1; ahead && i <= m->l1i_next_line && ((vline + i) ^ vline) >> (12 - m->line_log2) == 0; i++)
		if (l1_find(&m->l1i, vline + i) < 0 && !(__builtin_expect(m->told != NULL, 0) &&
			told_alias(m, &m->l1i, vline + i, line + i, cycle, timed) >= 0))
			l1i_bring(m, vline + i, line + i, translated, translated, true, timed, &next);
}

void memsys_fetch(struct memsys *m, uint64_t addr, uint64_t cycle, uint64_t needed, struct mem_result *r)
{
	uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect(addr >> m->page_shift == m->last_code_page && cycle >= m->walk.latest &&
			    l1_guess(&m->l1i, vline, &slot) && !(m->l1i.state[slot] & (LINE_PENDING | LINE_PREFETCHED)),
		    1)) {
		l1_touch(&m->l1i, vline, slot);
		icache_hit(m, needed);
		itlb_hit(m, needed);
		r->ready = cycle;
		r->did = 0;
		return;
	}
	fetch_general(m, addr, cycle, needed, true, r);
}

void memsys_warm_fetch(struct memsys *m, uint64_t addr)
{
	struct mem_result r;
	uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect(addr >> m->page_shift == m->last_code_page && l1_guess(&m->l1i, vline, &slot) &&
	                     !(m->l1i.state[slot] & LINE_PREFETCHED), 1))
		l1_touch(&m->l1i, vline, slot);
	else
		fetch_general(m, addr, 0, 0, false, &r);
}
