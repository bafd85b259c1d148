/* SPDX-License-Identifier: GPL-2.0-or-later
 * The L1D side of the memory system: loads, stores, software prefetches; fill buffers; write combining.
 *
 * Tags change in the order of the calls; time is carried along.  A line enters L1D when it is requested, marked
 * pending; its fill buffer knows when it arrives.  A load that finds it pending waits until then (LFB_HIT).
 * When all fill buffers are busy, a miss takes the one that is free soonest and starts then (L1D_FB_FULL).
 * Left out: L1D bank conflicts; the order in which waiting misses get their buffers; uncacheable memory; and that an
 * access which is later in program order but earlier in time could have taken a buffer first.
 *
 * The fast path of L1D hits does three things: it proves the DTLB hit, proves the L1D hit by the tag of the slot
 * where the line was last seen, and touches both replacement words (the DTLB's only when the page changes, since
 * touching the youngest entry again changes nothing).  It leaves exactly the state that the general path would leave.
 */
#include "core/record/detail.h"
#include "core/memory/memsys_state.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define SLOW static __attribute__((noinline))

enum { LINES_MAX = 1024 };	/* most lines of one access: 64 KB, more than any instruction touches at once */

static void l1d_evicted(struct memsys *m, const struct cache_victim *v, uint64_t cycle, bool timed)
{
	SIGNAL_AT(m, L1D_REPLACEMENT, cycle, cycle, 1);
	if (v->line == LINE_NONE || !(v->state & LINE_DIRTY))
		return;
	SIGNAL_AT(m, L1D_EVICT_MODIFIED, cycle, cycle, 1);
	if (__builtin_expect(m->follows, 0) && timed)
		m->emitter->line_left(m->emitter->owner, v->line, true);
	l2_write_back(m, v->line, cycle, timed);
	for (uint32_t i = timed ? 0 : m->l2_writeback_lines; i < m->l2_writeback_lines; i++)
		rate_book(&m->l2_rate, cycle);
	m->found |= SPMU_DID(WROTE_BACK_L1D);
}

/* Records the fill of a line for the dependence graph. */
static __attribute__((noinline)) void detail_fill(struct memsys *m, uint64_t vline, uint32_t line, uint64_t from,
	uint64_t ready, enum access_kind kind, enum inflight_source source, uint64_t memory)
{
	struct core_fill *f = detail_new(m->emitter, DETAIL_FILL);
	f->level = 1;
	f->line = vline;
	f->physical = line;
	f->from = from;
	f->ready = ready;
	f->memory = (uint32_t)memory;
	f->source = (uint8_t)source;
	f->prefetch = kind == ACCESS_PREFETCH;
}

uint32_t memsys_fills(const struct memsys *m)
{
	return m->l1d_fills;
}

void l1d_empty(struct memsys *m, uint64_t cycle)
{
	for (uint32_t at = 0; at < m->l1d.sets << m->l1d.log2; at++) {
		if (m->l1d.vline[at] == VLINE_NONE)
			continue;
		if (m->l1d.state[at] & LINE_DIRTY) {
			emit_signal(m->emitter, SPMU_SIG_L1D_EVICT_MODIFIED, cycle, cycle, 1);
			l2_write_back(m, m->l1d.line[at], cycle, true);
		}
		l1_drop(&m->l1d, (int32_t)at);
	}
}

/* L1D compares some of a line's address bits first (l1d.alias_bits).  A line that is equal in these must leave before
 * the one that missed can enter. */
SLOW void l1d_alias(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed)
{
	const uint32_t at = ((uint32_t)vline & m->l1d.mask) << m->l1d.log2;
	for (uint32_t i = at; i < at + m->l1d.ways; i++) {
		if (m->l1d.vline[i] == VLINE_NONE || (m->l1d.vline[i] ^ vline) & m->l1d_alias)
			continue;
		struct cache_victim v = { m->l1d.line[i], m->l1d.state[i] };
		l1_drop(&m->l1d, (int32_t)i);
		SIGNAL_AT(m, ALIAS_L1D, cycle, cycle, 1);
		l1d_evicted(m, &v, cycle, timed);
	}
}

/* Brings a missing line into L1D.  wait: if no fill buffer is free, wait for one.
 * Returns the cycle of use, or 0 if no buffer was free and it must not wait.  *asked: the cycle of the
 * request to L2. */
ALWAYS_INLINE uint64_t l1d_bring(struct memsys *m, uint64_t vline, uint32_t line, uint64_t cycle, enum access_kind kind,
                                 uint8_t flags, bool wait, bool timed, enum inflight_source *source, uint64_t *asked)
{
	unsigned entry = 0;
	uint64_t start = cycle;
	const uint64_t spent = m->emitter->spent_memory;
	if (timed) {
		if (m->around_free > cycle)	/* a read miss waits for writes in flight */
			cycle = start = m->around_free;
		entry = inflight_soonest(&m->l1d_fill);
		uint64_t free_at = m->l1d_fill.ready[entry];
		if (free_at > cycle) {
			if (!wait)
				return 0;
			start = free_at;
			if (kind != ACCESS_WALK)
				SIGNAL_AT(m, L1D_FB_FULL, cycle, start, 1);
		}
	}
	uint8_t state;
	if (__builtin_expect(m->l1d_alias != 0, 0))
		l1d_alias(m, vline, start, timed);
	*asked = start;
	uint64_t ready = l2_access(m, line, start, kind, timed, source, &state);
	if (timed && __builtin_expect(m->free_l1, 0) && kind != ACCESS_WALK && *source == FROM_L2) {
		ready = kind == ACCESS_LOAD ? cycle + m->load_latency[0] : cycle;
	} else if (timed) {
		inflight_set(&m->l1d_fill, entry, line, ready, *source, kind == ACCESS_LOAD);
		m->l1d_fills++;
		const uint64_t prefetched = flags & LINE_PREFETCHED ? SPMU_DID(LFB_HW_PF) : SPMU_DID(LFB_SW_PF);
		m->l1d_fill.origin[entry] = kind == ACCESS_PREFETCH ? prefetched : 0;
		state |= LINE_PENDING;
		if (kind == ACCESS_LOAD)
			SIGNAL_AT(m, L1D_PENDING, start, ready, 1);
	}
	struct cache_victim victim;
	l1_fill(&m->l1d, vline, line, state | flags, &victim);
	l1d_evicted(m, &victim, ready, timed);
	if (__builtin_expect(m->emitter->detail, 0) && timed)
		detail_fill(m, vline, line, cycle, ready, kind, *source, m->emitter->spent_memory - spent);
	return ready;
}

/* A request of the DCU prefetchers or of PREFETCHh, within a page whose frame is known. */
static void l1d_prefetch(struct memsys *m, uint64_t vline, uint32_t line, uint64_t cycle, uint8_t flags, bool wait,
	bool timed)
{
	enum inflight_source source;
	uint64_t asked;
	if (l1_find(&m->l1d, vline) >= 0 || (__builtin_expect(m->told != NULL, 0) &&
		told_alias(m, &m->l1d, vline, line, cycle, timed) >= 0))
		return;
	m->asker = flags & LINE_PREFETCHED ? SPMU_ATTR(REQUEST_PF_L1D)
		: SPMU_ATTR(REQUEST_PF_SOFTWARE) | SPMU_ATTR(SOFTWARE);
	l1d_bring(m, vline, line, cycle, ACCESS_PREFETCH, flags, wait, timed, &source, &asked);
}

/* Translates the address of a prefetch. */
static uint32_t prefetch_frame(struct memsys *m, uint64_t addr, uint64_t *cycle, bool timed)
{
	struct emitter *e = m->emitter;
	const uint64_t memory = e->spent_memory, tlb = e->spent_tlb, walks = e->spent_walk;
	uint64_t did = 0;
	const uint32_t frame = translate(m, TRANSLATE_LOAD, addr, cycle, &did, timed);
	e->spent_memory = memory;	/* no instruction waits for this */
	e->spent_tlb = tlb;
	e->spent_walk = walks;
	return frame;
}

/* Like l1d_prefetch, for an address on another page than the access's. */
static void l1d_prefetch_page(struct memsys *m, uint64_t addr, uint64_t cycle, bool timed)
{
	const uint64_t vline = linear_line(m, addr);
	if (l1_find(&m->l1d, vline) >= 0 || !translate_touched(m, addr))
		return;
	const uint32_t frame = prefetch_frame(m, addr, &cycle, timed);
	l1d_prefetch(m, vline, physical_line(m, frame, vline), cycle, LINE_PREFETCHED, false, timed);
}

/* Trains the linear stream prefetcher: a line missed L1D, or a prefetched line is used for the first time. */
SLOW void linear_follow(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed)
{
	uint64_t next;
	int64_t step;
	for (unsigned n = linear_train(&m->linear, vline, &next, &step); n; n--, next += (uint64_t)step) {
		const uint64_t addr = (next & ~m->line_tag) << m->line_log2;
		uint64_t known = cycle;
		if (!translate_touched(m, addr) ||
			!l2_prefetch(m, physical_line(m, prefetch_frame(m, addr, &known, timed), next),
				known + m->l2_lookup, timed)) {
			linear_refused(&m->linear, n);
			return;
		}
	}
}

ALWAYS_INLINE void linear_used(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed)
{
	if (m->linear.count)
		linear_follow(m, vline, cycle, timed);
}

static void l1d_train(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t line, uint64_t cycle, bool timed)
{
	uint64_t vline = linear_line(m, addr), target;
	int64_t step;
	if (!m->use_ip_stride)
		return;
	for (unsigned n = ip_stride_train(&m->ip_stride, ip, addr, &target, &step); n; n--, target += (uint64_t)step) {
		if (__builtin_expect((target ^ addr) >> 12, 0))
			l1d_prefetch_page(m, target, cycle, timed);
		else
			l1d_prefetch(m, linear_line(m, target), line + (uint32_t)(linear_line(m, target) - vline),
				cycle, LINE_PREFETCHED, false, timed);
	}
}

static void wc_send(struct memsys *m, struct wc_line *w, uint64_t cycle, uint64_t attributes, bool timed);

/* An access needs a line with stores that are still in a write-combining buffer: those go out first. */
SLOW uint64_t wc_give(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed)
{
	uint64_t gone = cycle;
	for (unsigned i = 0; i < m->wc_count; i++)
		if (m->wc[i].vline == vline) {
			wc_send(m, &m->wc[i], cycle, 0, timed);
			gone = m->wc[i].free > gone ? m->wc[i].free : gone;
		}
	return gone;
}

uint64_t wc_flush(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed)
{
	return m->wc_open ? wc_give(m, vline, cycle, timed) : cycle;
}

/* One line of a load. */
ALWAYS_INLINE uint64_t load_line(struct memsys *m, uint64_t ip, uint64_t addr, uint64_t cycle, uint32_t latency,
	uint64_t *did, bool timed)
{
	uint64_t vline = linear_line(m, addr);
	uint32_t frame = translate(m, TRANSLATE_LOAD, addr, &cycle, did, timed);
	uint32_t line = physical_line(m, frame, vline);
	int32_t slot = l1_find(&m->l1d, vline);
	if (slot < 0 && __builtin_expect(m->told != NULL, 0))
		slot = told_alias(m, &m->l1d, vline, line, cycle, timed);
	uint32_t extra = latency - m->load_latency[0];
	if (slot >= 0) {
		uint8_t *state = &m->l1d.state[slot];
		uint64_t ready = cycle + latency;
		uint8_t was = *state;
		l1_touch(&m->l1d, vline, (uint32_t)slot);
		*did |= SPMU_DID(L1D_HIT);
		if (timed && was & LINE_PENDING) {
			int entry = inflight_find(&m->l1d_fill, line);
			if (entry >= 0 && m->l1d_fill.ready[entry] > cycle) {
				*did ^= SPMU_DID(L1D_HIT) | SPMU_DID(LFB_HIT) | m->l1d_fill.origin[entry];
				uint64_t filled = m->l1d_fill.ready[entry];
				if (filled + extra > ready)
					ready = filled + extra;
				if (!m->l1d_fill.demand[entry]) {
					m->l1d_fill.demand[entry] = 1;
					SIGNAL_AT(m, L1D_PENDING, cycle, filled, 1);
				}
				if (m->use_next_line && next_line_train(&m->next_line, addr, m->line_log2))
					l1d_prefetch(m, vline + 1, line + 1, cycle, LINE_PREFETCHED, false, timed);
			} else {
				*state &= (uint8_t)~LINE_PENDING;
			}
		}
		if (was & LINE_PREFETCHED) {
			*did |= SPMU_DID(PF_L1_USED);
			*state &= (uint8_t)~LINE_PREFETCHED;
			l1d_train(m, ip, addr, line, cycle, timed);
			linear_used(m, vline, cycle, timed);
		}
		return ready;
	}
	enum inflight_source source;
	uint64_t asked;
	if (m->wc_open)
		wc_give(m, vline, cycle, timed);
	uint64_t ready = l1d_bring(m, vline, line, cycle, ACCESS_LOAD, 0, true, timed, &source, &asked);
	*did |= SPMU_DID(L1D_MISS);
	*did |= m->found;
	if (source == FROM_L2)
		*did |= SPMU_DID(L2_HIT);
	else
		*did |= SPMU_DID(L2_MISS) | (source == FROM_L3 ? SPMU_DID(L3_HIT) : SPMU_DID(L3_MISS));
	if (m->use_next_line)
		next_line_train(&m->next_line, addr, m->line_log2);
	l1d_train(m, ip, addr, line, cycle, timed);
	linear_used(m, vline, asked, timed);
	return ready + extra;
}

#define LOAD_CLASS \
	(SPMU_DID(L1D_HIT) | SPMU_DID(LFB_HIT) | SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT) | SPMU_DID(L2_MISS) | \
		SPMU_DID(L3_HIT) | SPMU_DID(L3_MISS) | SPMU_DID(LFB_HW_PF) | SPMU_DID(LFB_SW_PF) | \
		SPMU_DID(SNOOP_HIT) | SPMU_DID(SNOOP_HITM) | SPMU_DID(SNOOP_MISS))

/* How far away a load found its data: 0 for L1D to 4 for memory. */
static int load_distance(uint64_t did)
{
	return did & SPMU_DID(L3_MISS)    ? 4
		: did & SPMU_DID(L3_HIT)  ? 3
		: did & SPMU_DID(L2_HIT)  ? 2
		: did & SPMU_DID(LFB_HIT) ? 1
					  : 0;
}

/* A load that crosses a line takes the split register that is free soonest, and waits for it. */
SLOW unsigned split_take(struct memsys *m, uint64_t *cycle)
{
	unsigned best = 0;
	for (unsigned i = 1; i < m->split_registers; i++)
		if (m->split_free[i] < m->split_free[best])
			best = i;
	if (m->split_free[best] > *cycle) {
		emit_signal(m->emitter, SPMU_SIG_SPLIT_BLOCKED, *cycle, *cycle, 1);
		*cycle = m->split_free[best];
	}
	return best;
}

ALWAYS_INLINE void load_general(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle,
	bool vector, bool timed, struct mem_result *r)
{
	uint32_t latency = m->load_latency[vector];
	uint64_t last = addr + (size ? size - 1 : 0);
	if (last < addr)
		last = UINT64_MAX;
	r->did = 0;
	const uint64_t lines = (last >> m->line_log2) - (addr >> m->line_log2);
	const bool splits = timed && lines && m->split_registers;
	const unsigned split = splits ? split_take(m, &cycle) : 0;
	r->ready = load_line(m, ip, addr, cycle, latency, &r->did, timed);
	if (!lines)
		return;
	r->did |= SPMU_DID(SPLIT_LINE);
	uint32_t penalty = m->split_penalty;
	if (addr >> 12 != last >> 12) {
		r->did |= SPMU_DID(SPLIT_PAGE);
		penalty = m->page_split_penalty;
	}
	for (uint64_t i = 1; i <= lines && i < LINES_MAX; i++) {
		uint64_t did = 0;
		uint64_t ready =
			load_line(m, ip, ((addr >> m->line_log2) + i) << m->line_log2, cycle, latency, &did, timed);
		if (ready > r->ready)
			r->ready = ready;
		/* a load has one class: that of the line farther away */
		if (load_distance(did) > load_distance(r->did))
			r->did = (r->did & ~LOAD_CLASS) | did;
		else
			r->did |= did & ~LOAD_CLASS;
	}
	if (splits)	/* until the last part has come to L1D */
		m->split_free[split] = r->ready - latency > cycle ? r->ready - latency : cycle + 1;
	r->ready += penalty;
}

SLOW void load_slow(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector,
	struct mem_result *r)
{
	load_general(m, ip, addr, size, cycle, vector, true, r);
}

/* Proves both hits of the fast path, and touches both replacement states if they hold.  Only for tree-PLRU, whose
 * touch is two table lookups; with another policy in L1D every access takes the general path. */
ALWAYS_INLINE bool hits(struct memsys *m, uint64_t addr, uint32_t size, uint8_t bad_states, uint32_t *slot)
{
	uint64_t vline = addr >> LINE_LOG2, page = addr >> m->page_shift;
	if ((addr & (LINE_BYTES - 1)) + size - 1 >= m->quick_bytes || !l1_guess(&m->l1d, vline, slot) ||
		m->l1d.state[*slot] & bad_states)
		return false;
	if (page != m->last_page) {
		uint32_t at = m->dtlb.guess[page % TLB_GUESSES];
		if (m->dtlb.page[at] != page)
			return false;
		repl_touch_plru(&m->dtlb.repl, &m->dtlb.word[page & m->dtlb.mask], at & ((1u << m->dtlb.log2) - 1));
		m->last_page = page;
	}
	repl_touch_plru(&m->l1d.repl, &m->l1d.word[vline & m->l1d.mask], *slot & m->l1d.ways_mask);
	return true;
}

/* A load from another page than that of the last load or store. */
SLOW void load_elsewhere(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector,
	struct mem_result *r)
{
	uint32_t slot;
	if (__builtin_expect(hits(m, addr, size, LINE_PENDING | LINE_PREFETCHED, &slot), 1)) {
		r->ready = cycle + m->load_latency[vector];
		r->did = SPMU_DID(L1D_HIT);
		return;
	}
	load_slow(m, ip, addr, size, cycle, vector, r);
}

void memsys_load(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector,
	struct mem_result *r)
{
	const uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect(cycle < m->walk.latest || (addr & (LINE_BYTES - 1)) + size - 1 >= m->quick_bytes ||
			    !l1_guess(&m->l1d, vline, &slot) || m->l1d.state[slot] & (LINE_PENDING | LINE_PREFETCHED),
		    0)) {
		load_slow(m, ip, addr, size, cycle, vector, r);
		return;
	}
	if (addr >> m->page_shift != m->last_page) {
		load_elsewhere(m, ip, addr, size, cycle, vector, r);
		return;
	}
	repl_touch_plru(&m->l1d.repl, &m->l1d.word[vline & m->l1d.mask], slot & m->l1d.ways_mask);
	r->ready = cycle + m->load_latency[vector];
	r->did = SPMU_DID(L1D_HIT);
}

uint64_t table_read(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	enum inflight_source source;
	uint64_t asked;
	uint8_t shared;
	if (m->walk.past_l1)
		return l2_access(m, line, cycle, ACCESS_WALK, timed, &source, &shared);
	uint64_t vline = VLINE_TABLE(line);
	int32_t slot = l1_find(&m->l1d, vline);
	if (slot < 0 && __builtin_expect(m->told != NULL, 0))
		slot = told_alias(m, &m->l1d, vline, line, cycle, timed);
	if (slot >= 0) {
		l1_touch(&m->l1d, vline, (uint32_t)slot);
		uint64_t ready = cycle + m->load_latency[0];
		if (timed && m->l1d.state[slot] & LINE_PENDING) {
			int entry = inflight_find(&m->l1d_fill, line);
			if (entry >= 0 && m->l1d_fill.ready[entry] > ready)
				ready = m->l1d_fill.ready[entry];
			else
				m->l1d.state[slot] &= (uint8_t)~LINE_PENDING;
		}
		return ready;
	}
	return l1d_bring(m, vline, line, cycle, ACCESS_WALK, 0, true, timed, &source, &asked);
}

/* A store to a page with code: drops the L1I lines in the block of clear.smc_bytes around it, and tells the pipeline
 * (clears.h). */
static __attribute__((noinline)) void code_written(struct memsys *m, uint64_t addr, uint64_t last, uint64_t *did,
	bool timed)
{
	uint64_t first = addr & ~(uint64_t)(m->smc_bytes - 1), end = last | (m->smc_bytes - 1);
	bool found = false;
	for (uint64_t vline = linear_line(m, first), i = 0; vline <= linear_line(m, end) && i < LINES_MAX;
		vline++, i++) {
		int32_t slot = l1_find(&m->l1i, vline);
		if (slot >= 0) {
			l1_drop(&m->l1i, slot);
			found = true;
		}
	}
	if (!found)
		return;
	if (m->config.clear_smc)
		*did |= SPMU_DID(CLEAR_SMC);
	if (m->emitter->code_written)
		m->emitter->code_written(m->emitter->owner, addr, (uint32_t)(last - addr) + 1, timed);
}

ALWAYS_INLINE void store_translate(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, bool timed,
	struct mem_result *r)
{
	const uint64_t page = addr >> m->page_shift;
	uint64_t last = addr + (size ? size - 1 : 0);
	if (last < addr)
		last = UINT64_MAX;
	r->did = 0;
	r->ready = cycle;
	translate(m, TRANSLATE_STORE, addr, &r->ready, &r->did, timed);
	if (__builtin_expect(has_code(m, page) || has_code(m, last >> m->page_shift), 0))
		code_written(m, addr, last, &r->did, timed);
	if (addr >> m->line_log2 == last >> m->line_log2)
		return;
	r->did |= SPMU_DID(SPLIT_LINE);
	if (addr >> 12 == last >> 12)
		return;
	r->did |= SPMU_DID(SPLIT_PAGE);
	if (addr >> m->page_shift != last >> m->page_shift) {
		uint64_t second = cycle;
		translate(m, TRANSLATE_STORE, last, &second, &r->did, timed);
		if (second > r->ready)
			r->ready = second;
	}
}

void memsys_store_translate(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, struct mem_result *r)
{
	const uint64_t page = addr >> m->page_shift;
	if (__builtin_expect((addr & (LINE_BYTES - 1)) + size <= LINE_BYTES && cycle >= m->walk.latest &&
	                     page == (m->has_dtlb_store ? m->last_store_page : m->last_page), 1)) {
		r->ready = cycle;
		r->did = 0;
		return;
	}
	store_translate(m, addr, size, cycle, true, r);
}

static uint64_t store_combine(struct memsys *m, uint64_t addr, uint32_t bytes, bool to_l2, uint64_t cycle, bool timed);

/* One line of a store into a write-through L1D: it is written to L1D if the line is there, and goes on to L2 in any
 * case.
 * Source: facts, section 7 (write-through); ITJ Q1 2001, Hinton et al., "Store-to-Load Forwarding" and the cache
 * table; Optimization Manual, "Write Combining" (a miss allocates no L1D line and waits in a write-combining
 * buffer). */
static __attribute__((noinline)) uint64_t store_through(struct memsys *m, uint64_t addr, uint32_t bytes, uint64_t cycle,
	uint64_t *did, bool timed)
{
	uint64_t vline = linear_line(m, addr);
	int32_t slot = l1_find(&m->l1d, vline);
	if (slot >= 0) {
		uint8_t *state = &m->l1d.state[slot];
		l1_touch(&m->l1d, vline, (uint32_t)slot);
		if (*state & LINE_PREFETCHED)
			*did |= SPMU_DID(PF_L1_USED);
		*state &= (uint8_t)~(LINE_PREFETCHED | LINE_SHARED);
	} else {
		*did |= SPMU_DID(STORE_L1D_MISS);
	}
	return store_combine(m, addr, bytes, true, cycle, timed);
}

/* One line of a store that leaves the store buffer.  L1D must own the line. */
ALWAYS_INLINE uint64_t store_line(struct memsys *m, uint64_t addr, uint32_t bytes, uint64_t cycle, uint64_t *did,
	bool timed)
{
	if (m->write_through)
		return store_through(m, addr, bytes, cycle, did, timed);
	uint64_t vline = linear_line(m, addr);
	int32_t slot = l1_find(&m->l1d, vline);
	if (slot < 0 && __builtin_expect(m->told != NULL, 0))
		slot = told_alias(m, &m->l1d, vline, physical_line(m, translate_known(m, addr), vline), cycle, timed);
	if (slot >= 0) {
		uint64_t ready = cycle + 1;
		l1_touch(&m->l1d, vline, (uint32_t)slot);
		uint8_t *state = &m->l1d.state[slot];
		if (timed && *state & LINE_PENDING) {
			int entry = inflight_find(&m->l1d_fill, m->l1d.line[slot]);
			if (entry >= 0 && m->l1d_fill.ready[entry] > cycle)
				ready = m->l1d_fill.ready[entry] + 1;
			else
				*state &= (uint8_t)~LINE_PENDING;
		}
		if (*state & LINE_SHARED) {
			*state &= (uint8_t)~LINE_SHARED;
			SIGNAL_AT(m, L2_RFO_MISS, cycle, cycle, 1);
			uint64_t owned = l2_upgrade(m, m->l1d.line[slot], cycle, timed);
			if (owned > ready)
				ready = owned;
		}
		if (*state & LINE_PREFETCHED) {
			*did |= SPMU_DID(PF_L1_USED);
			*state &= (uint8_t)~LINE_PREFETCHED;
			linear_used(m, vline, cycle, timed);
		}
		*state |= LINE_DIRTY;
		return ready;
	}
	*did |= SPMU_DID(STORE_L1D_MISS);
	if (m->wc_open)
		wc_give(m, vline, cycle, timed);
	uint32_t line = physical_line(m, translate_known(m, addr), vline);
	if (m->write_around)
		return l2_write_around(m, line, cycle, timed);
	enum inflight_source source;
	uint64_t asked;
	uint64_t ready = l1d_bring(m, vline, line, cycle, ACCESS_RFO, LINE_DIRTY, true, timed, &source, &asked) + 1;
	linear_used(m, vline, asked, timed);
	return ready;
}

/* Sends a write-combining buffer to memory or L2.  The buffer is free again when the line has been taken.
 * attributes: FORCED if another line needs the buffer. */
static void wc_send(struct memsys *m, struct wc_line *w, uint64_t cycle, uint64_t attributes, bool timed)
{
	if (timed)
		emit_attributes(m->emitter, SPMU_SIG_WC_EVICT, cycle, cycle, 1, attributes);
	const uint64_t bytes = w->bytes;
	w->vline = VLINE_NONE;
	w->bytes = 0;
	m->wc_open--;
	if (w->to_l2) {
		w->free = l2_store(m, w->line, cycle, timed);
		return;
	}
	uint64_t taken = uncore_write_around(m, w->line, bytes, w->in_l3, cycle, timed);
	w->free = cycle + m->shared->l3_latency;
	if (taken > w->free)
		w->free = taken;
}

void wc_empty(struct memsys *m, uint64_t cycle)
{
	for (unsigned i = 0; i < m->wc_count; i++)
		if (m->wc[i].vline != VLINE_NONE)
			wc_send(m, &m->wc[i], cycle, 0, true);
}

/* A store to one line, non-temporal or through L1D, is combined in a buffer.  The buffer is sent when it is full, or
 * when another line needs it. */
static uint64_t store_combine(struct memsys *m, uint64_t addr, uint32_t bytes, bool to_l2, uint64_t cycle, bool timed)
{
	uint64_t vline = linear_line(m, addr), ready = cycle + 1;
	struct wc_line *w = NULL, *oldest = &m->wc[0];
	for (unsigned i = 0; i < m->wc_count; i++) {
		if (m->wc[i].vline == vline) {
			if (m->wc[i].to_l2 == to_l2) {
				w = &m->wc[i];
				break;
			}
			wc_send(m, &m->wc[i], cycle, 0, timed);	/* older stores of the other kind */
		}
		/* an empty buffer, the one that is free soonest; without one, the buffer opened first */
		bool empty = m->wc[i].vline == VLINE_NONE, best = oldest->vline == VLINE_NONE;
		if (empty != best ? empty : empty ? m->wc[i].free < oldest->free : m->wc[i].stamp < oldest->stamp)
			oldest = &m->wc[i];
	}
	if (!w) {
		w = oldest;
		if (w->vline != VLINE_NONE)
			wc_send(m, w, cycle, SPMU_ATTR(FORCED), timed);
		if (timed && w->free > cycle) {
			SIGNAL_AT(m, STORE_CANCEL, cycle, cycle, 1);
			SIGNAL_AT(m, L1D_FB_FULL, cycle, w->free, 1);
			ready = w->free + 1;
		}
		w->vline = vline;
		w->to_l2 = to_l2;
		w->line = physical_line(m, translate_known(m, addr), vline);
		w->stamp = ++m->wc_clock;
		w->bytes = 0;
		w->in_l3 = !to_l2 && uncore_l3_find(m->shared, w->line) >= 0;
		m->wc_open++;
		/* what the caches have of the line leaves them: SDM vol. 1, "Caching of Temporal vs. Non-Temporal
		 * Data" */
		if (!to_l2 && flush_line(m, w->line, cycle, timed).modified)
			uncore_write_back(m, w->line, cycle, timed);
	}
	uint32_t from = addr & ((1u << m->line_log2) - 1);
	uint64_t set = bytes >= 64 ? ~UINT64_C(0) : ((UINT64_C(1) << bytes) - 1) << from;
	w->bytes |= set;
	if (w->bytes == ~UINT64_C(0) >> (64 - (1u << m->line_log2)))
		wc_send(m, w, ready, 0, timed);
	return ready;
}

ALWAYS_INLINE void store_general(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal,
	bool timed, struct mem_result *r)
{
	uint64_t last = addr + (size ? size - 1 : 0);
	if (last < addr)
		last = UINT64_MAX;
	r->did = 0;
	r->ready = cycle + 1;
	for (uint64_t i = 0, at = addr; i < LINES_MAX; i++) {
		uint64_t end = at | ((1u << m->line_log2) - 1);
		uint32_t bytes = (uint32_t)((end < last ? end : last) - at + 1);
		uint64_t ready = non_temporal ? store_combine(m, at, bytes, false, cycle, timed)
					      : store_line(m, at, bytes, cycle, &r->did, timed);
		if (ready > r->ready)
			r->ready = ready;
		if (end >= last)
			break;
		at = end + 1;
	}
}

SLOW void store_slow(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal,
	struct mem_result *r)
{
	store_general(m, addr, size, cycle, non_temporal, true, r);
	if (__builtin_expect(m->free_store, 0))
		r->ready = cycle + 1;
}

void memsys_store_commit(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal,
                         struct mem_result *r)
{
	(void)ip;	/* no prefetcher of these cores tracks stores by instruction */
	uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect((addr & (LINE_BYTES - 1)) + size <= LINE_BYTES && !non_temporal && m->store_fast &&
			    l1_guess(&m->l1d, vline, &slot) &&
			    !(m->l1d.state[slot] & (LINE_PENDING | LINE_PREFETCHED | LINE_SHARED)),
		    1)) {
		repl_touch_plru(&m->l1d.repl, &m->l1d.word[vline & m->l1d.mask], slot & m->l1d.ways_mask);
		m->l1d.state[slot] |= LINE_DIRTY;
		r->ready = cycle + 1;
		r->did = 0;
		return;
	}
	store_slow(m, addr, size, cycle, non_temporal, r);
}

uint32_t memsys_line(struct memsys *m, uint64_t addr)
{
	return physical_line(m, translate_known(m, addr), linear_line(m, addr));
}

void memsys_follow(struct memsys *m, bool more)
{
	m->follows += more ? 1 : UINT32_MAX;
}

ALWAYS_INLINE void prefetch(struct memsys *m, uint64_t addr, uint64_t cycle, bool timed)
{
	uint64_t did = 0;
	if (__builtin_expect(m->told != NULL, 0) && !translate_touched(m, addr))	/* it would fault */
		return;
	uint32_t frame = translate(m, TRANSLATE_LOAD, addr, &cycle, &did, timed);
	l1d_prefetch(m, linear_line(m, addr), physical_line(m, frame, linear_line(m, addr)), cycle, 0, true, timed);
}

void memsys_prefetch(struct memsys *m, uint64_t addr, uint64_t cycle)
{
	prefetch(m, addr, cycle, true);
}

/* --- functional warming --- */

void memsys_warm_stream(struct memsys *m, uint64_t addr, uint32_t size)
{
	struct mem_result r;
	store_translate(m, addr, size, 0, false, &r);
	store_general(m, addr, size, 0, true, false, &r);
}

void memsys_warm_prefetch(struct memsys *m, uint64_t addr)
{
	prefetch(m, addr, 0, false);
}

void memsys_prefetchers(struct memsys *m, bool on)
{
	if (!on)
		m->off = (struct memsys_prefetchers){ m->use_next_line, m->use_ip_stride, m->use_adjacent,
			m->use_streamer, m->l1i_next_line, m->linear.count };
	m->use_next_line = on && m->off.next_line;
	m->use_ip_stride = on && m->off.ip_stride;
	m->use_adjacent = on && m->off.adjacent;
	m->use_streamer = on && m->off.streamer;
	m->l1i_next_line = on ? m->off.l1i_next_line : 0;
	m->linear.count = on ? m->off.linear : 0;
}

void memsys_warm_data(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, bool store)
{
	struct mem_result r;
	if (!store) {
		load_general(m, ip, addr, size, 0, false, false, &r);
		return;
	}
	store_translate(m, addr, size, 0, false, &r);
	store_general(m, addr, size, 0, false, false, &r);
}
