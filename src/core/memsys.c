/* SPDX-License-Identifier: GPL-2.0-or-later
 * The L1 side of the memory system: loads, stores, software prefetches, fetches; fill buffers; write combining.
 *
 * Tags change in call order, time is carried along: a line is put in when it is asked for and marked
 * pending, and its fill buffer knows until when.  A load that finds it pending waits for the rest (LFB_HIT).
 * When all fill buffers are busy, a miss takes the one that is free soonest and starts then (L1D_FB_FULL).
 * Left out: L1D bank conflicts, the order in which waiting misses get their buffers, uncacheable memory,
 * and that accesses made later in program order but earlier in time could have had a buffer before.
 *
 * The L1D-hit path does three things: proves the DTLB hit, proves the L1D hit by the tag of the slot where the line was
 * last seen, and touches both replacement words (the DTLB's only when the page changes, as touching the youngest
 * entry twice changes nothing).  Its state is exactly that of the general path.
 */
#include "core/detail.h"
#include "core/memsys_state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define SLOW static __attribute__((noinline))

enum { LINES_MAX = 1024 };	/* lines of one access that are looked at: 64 KB, more than any instruction touches at once */

static void rates_init(struct memsys *m, const struct core_config *c)
{
	rate_init(&m->l2_rate, c->l2_bandwidth_cycles);
	rate_init(&m->l3_rate, c->l3_line_ns * c->frequency_ghz);
	rate_init(&m->read_rate, c->dram_line_ns * c->frequency_ghz);
	rate_init(&m->write_rate, c->dram_write_ns * c->frequency_ghz);
}

static int memsys_init(struct memsys *m, const struct core_config *c, struct err *err)
{
	unsigned line_log2 = LINE_LOG2 - c->cache_line;
	int rc = l1_init_lines(&m->l1d, "l1d", c->l1d_size, c->l1d_ways, c->l1d_replacement, line_log2, err);
	if (!rc)
		rc = l1_init_lines(&m->l1i, "l1i", c->l1i_size, c->l1i_ways, c->l1i_replacement, line_log2, err);
	if (!rc)
		rc = cache_init_sectors(&m->l2, "l2", c->l2_size, c->l2_ways, c->l2_replacement, line_log2, c->l2_sectors, err);
	bool large = c->memory_page == 1;
	if (!rc && large)
		rc = tlb_init(&m->dtlb, "dtlb.large", c->dtlb_large_entries, c->dtlb_large_ways, err);
	else if (!rc)
		rc = tlb_init(&m->dtlb, "dtlb", c->dtlb_entries, c->dtlb_ways, err);
	if (!rc && large)
		rc = tlb_init(&m->itlb, "itlb.large", c->itlb_large_entries, c->itlb_large_ways, err);
	else if (!rc)
		rc = tlb_init(&m->itlb, "itlb", c->itlb_entries, c->itlb_ways, err);
	if (!rc)
		rc = tlb_init(&m->dtlb_huge, "dtlb.large", c->dtlb_large_entries, c->dtlb_large_ways, err);
	if (!rc)
		rc = tlb_init(&m->itlb_huge, "itlb.large", c->itlb_large_entries, c->itlb_large_ways, err);
	m->stlb_huge = c->stlb_large;
	m->has_dtlb_store = c->dtlb_store_entries > 0;
	m->zeroed = c->memory_zeroed && !large;
	if (!rc && m->has_dtlb_store)
		rc = tlb_init(&m->dtlb_store, "dtlb_store", c->dtlb_store_entries, c->dtlb_store_ways, err);
	m->has_stlb = c->stlb_entries > 0;
	if (!rc && m->has_stlb)
		rc = tlb_init(&m->stlb, "stlb", c->stlb_entries, c->stlb_ways, err);
	if (!rc)
		rc = ip_stride_init(&m->ip_stride, c->prefetch_l1d_ip_entries, c->prefetch_l1d_ip_max_stride, c->prefetch_l1d_ip_distance, err);
	if (!rc && c->l2_latency <= c->l1d_latency)
		rc = err_set(err, ERR_INPUT, "l2.latency: %u cycles are not more than l1d.latency", c->l2_latency);
	if (!rc && c->l2_code_latency < c->l2_latency)
		rc = err_set(err, ERR_INPUT, "l2.code_latency: %u cycles are fewer than l2.latency", c->l2_code_latency);
	if (rc)
		return rc;
	m->ip_stride.pages = c->prefetch_l1d_ip_pages;
	m->l1d_plru = c->l1d_replacement == REPL_PLRU;
	m->quick_bytes = m->l1d_plru ? LINE_BYTES : 0;
	m->page_shift = large ? 21 : 12;
	m->smc_bytes = c->clear_smc_bytes > LINE_BYTES ? c->clear_smc_bytes : LINE_BYTES;
	m->line_log2 = line_log2;
	m->line_tag = line_log2 == LINE_LOG2 ? 0 : UINT64_C(1) << 62;
	m->write_through = c->l1d_write == 1;
	m->store_fast = m->l1d_plru && !m->write_through;
	m->load_latency[0] = c->l1d_latency;
	m->load_latency[1] = c->l1d_latency + c->l1d_vector_extra;
	m->stlb_latency = c->stlb_latency;
	m->split_penalty = c->l1d_split_penalty;
	m->page_split_penalty = c->l1d_page_split_penalty;
	m->l1i_next_line = c->l1i_next_line;
	m->use_next_line = c->prefetch_l1d_next_line;
	m->use_ip_stride = c->prefetch_l1d_ip;
	m->use_adjacent = c->prefetch_l2_adjacent;
	m->use_streamer = c->prefetch_l2_streamer;
	m->prefetch_reserve = c->prefetch_l2_reserve;
	m->wc_count = c->l1d_wc_buffers < INFLIGHT_MAX ? c->l1d_wc_buffers : INFLIGHT_MAX;
	m->l2_latency = c->l2_latency;
	m->l2_code_latency = c->l2_code_latency;
	m->l2_lookup = c->l2_latency - c->l1d_latency;
	m->free_l1 = c->free_l1_miss;
	m->free_l2 = c->free_l2_miss;
	m->free_dtlb = c->free_dtlb_miss;
	m->free_icache = c->free_icache_miss;
	m->walk.count = c->walk_walkers < WALKERS_MAX ? c->walk_walkers : WALKERS_MAX;
	m->walk.overhead = c->walk_overhead;
	m->walk.two_levels = c->walk_levels == 1;
	m->walk.past_l1 = c->walk_reads == 1;
	rates_init(m, c);
	return 0;
}

static void memsys_release(struct memsys *m)
{
	l1_release(&m->l1d);
	l1_release(&m->l1i);
	cache_release(&m->l2);
	tlb_release(&m->dtlb);
	tlb_release(&m->dtlb_store);
	tlb_release(&m->itlb);
	tlb_release(&m->stlb);
	tlb_release(&m->dtlb_huge);
	tlb_release(&m->itlb_huge);
	ip_stride_release(&m->ip_stride);
}

void memsys_reset(struct memsys *m)
{
	const struct core_config *c = &m->config;
	l1_clear(&m->l1d);
	l1_clear(&m->l1i);
	cache_clear(&m->l2);
	tlb_clear(&m->dtlb);
	tlb_clear(&m->itlb);
	tlb_clear(&m->dtlb_huge);
	tlb_clear(&m->itlb_huge);
	if (m->has_stlb)
		tlb_clear(&m->stlb);
	if (m->has_dtlb_store)
		tlb_clear(&m->dtlb_store);
	ip_stride_clear(&m->ip_stride);
	next_line_init(&m->next_line);
	linear_init(&m->linear, c->prefetch_linear_streams, c->prefetch_linear_start, c->prefetch_linear_distance, c->prefetch_linear_degree);
	streamer_init(&m->streamer, c->prefetch_l2_streams, c->prefetch_l2_degree, c->prefetch_l2_distance);
	m->streamer.window = c->prefetch_l2_window;
	inflight_init(&m->l1d_fill, c->l1d_fill_buffers);
	inflight_init(&m->l1i_fill, c->l1i_fill_buffers);
	inflight_init(&m->l2_fill, c->l2_queue);
	rates_init(m, c);
	m->write_around = c->l1d_write_around;
	m->around_free = 0;
	m->walk.latest = 0;
	for (unsigned i = 0; i < WALKERS_MAX; i++) {
		m->walk.page[i] = VLINE_NONE;
		m->walk.ready[i] = 0;
	}
	walk_cache_init(&m->walk.cache[1], c->walk_pde_entries);
	walk_cache_init(&m->walk.cache[2], c->walk_pdpte_entries);
	walk_cache_init(&m->walk.cache[3], c->walk_pml4e_entries);
	m->last_page = m->last_store_page = m->last_code_page = VLINE_NONE;
	memset(m->code_page, 0, sizeof m->code_page);
	m->wc_clock = 0;
	memset(m->wc, 0, sizeof(m->wc));
	for (unsigned i = 0; i < INFLIGHT_MAX; i++)
		m->wc[i].vline = VLINE_NONE;
}

int memsys_make(struct memsys **out, const struct core_config *c, struct err *err)
{
	struct memsys *m = aligned_alloc(64, (sizeof(*m) + 63) & ~(size_t)63);
	if (!m)
		return err_set(err, ERR_NOMEM, "out of memory for a core's caches");
	memset(m, 0, sizeof(*m));
	m->config = *c;
	int rc = memsys_init(m, c, err);
	if (rc) {
		memsys_unmake(m);
		return rc;
	}
	memsys_reset(m);
	*out = m;
	return 0;
}

void memsys_unmake(struct memsys *m)
{
	memsys_release(m);
	free(m);
}

int memsys_create(struct memsys **out, struct memsys_shared *s, const struct core_config *c, struct emitter *e, struct err *err)
{
	if (s->cores == CORES_MAX)
		return err_set(err, ERR_UNSUPPORTED, "more than %d cores on one machine", CORES_MAX);
	int rc = memsys_make(out, c, err);
	if (rc)
		return rc;
	(*out)->shared = s;
	(*out)->emitter = e;
	s->core[s->cores++] = *out;
	return 0;
}

void memsys_emitter(struct memsys *m, struct emitter *e)
{
	m->emitter = e;
	m->icache_hit_record = UINT32_MAX;
}

void memsys_destroy(struct memsys *m)
{
	if (!m)
		return;
	struct memsys_shared *s = m->shared;
	for (uint32_t i = 0; i < s->cores; i++)
		if (s->core[i] == m) {
			memmove(&s->core[i], &s->core[i + 1], (s->cores - i - 1) * sizeof(s->core[0]));
			s->cores--;
			break;
		}
	memsys_unmake(m);
}

/* --- data side --- */

static void l1d_evicted(struct memsys *m, const struct cache_victim *v, uint64_t cycle, bool timed)
{
	SIGNAL_AT(m, L1D_REPLACEMENT, cycle, cycle, 1);
	if (v->line == LINE_NONE || !(v->state & LINE_DIRTY))
		return;
	SIGNAL_AT(m, L1D_EVICT_MODIFIED, cycle, cycle, 1);
	l2_write_back(m, v->line, cycle, timed);
	m->found |= SPMU_DID(WROTE_BACK_L1D);
}

/* Details: a line was asked for. */
static __attribute__((noinline)) void detail_fill(struct memsys *m, uint64_t vline, uint32_t line, uint64_t from, uint64_t ready, enum access_kind kind,
                                                  enum inflight_source source, uint64_t memory)
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

/* Brings a line that is not there into L1D.  wait: take a fill buffer even if that means to wait.
 * Returns the cycle of use; 0 if a prefetch found no buffer.  *asked: when L2 was asked. */
ALWAYS_INLINE uint64_t l1d_bring(struct memsys *m, uint64_t vline, uint32_t line, uint64_t cycle, enum access_kind kind,
                                 uint8_t flags, bool wait, bool timed, enum inflight_source *source, uint64_t *asked)
{
	unsigned entry = 0;
	uint64_t start = cycle;
	const uint64_t spent = m->emitter->spent_memory;
	if (timed) {
		if (m->around_free > cycle)	/* a read that misses is not made ahead of writes under way */
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
	*asked = start;
	uint64_t ready = l2_access(m, line, start, kind, timed, source, &state);
	if (timed && __builtin_expect(m->free_l1, 0) && kind != ACCESS_WALK && *source == FROM_L2) {
		ready = kind == ACCESS_LOAD ? cycle + m->load_latency[0] : cycle;
	} else if (timed) {
		inflight_set(&m->l1d_fill, entry, line, ready, *source, kind == ACCESS_LOAD);
		m->l1d_fill.origin[entry] = kind != ACCESS_PREFETCH ? 0 : flags & LINE_PREFETCHED ? SPMU_DID(LFB_HW_PF) : SPMU_DID(LFB_SW_PF);
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

/* A request of the DCU prefetchers or of PREFETCHh; within a page whose frame is known. */
static void l1d_prefetch(struct memsys *m, uint64_t vline, uint32_t line, uint64_t cycle, uint8_t flags, bool wait, bool timed)
{
	enum inflight_source source;
	uint64_t asked;
	if (l1_find(&m->l1d, vline) < 0)
		l1d_bring(m, vline, line, cycle, ACCESS_PREFETCH, flags, wait, timed, &source, &asked);
}

/* The frame of a page that a prefetch goes to. */
static uint32_t prefetch_frame(struct memsys *m, uint64_t addr, uint64_t *cycle, bool timed)
{
	struct emitter *e = m->emitter;
	const uint64_t memory = e->spent_memory, tlb = e->spent_tlb, walks = e->spent_walk;
	uint64_t did = 0;
	const uint32_t frame = translate(m, TRANSLATE_LOAD, addr, cycle, &did, timed);
	e->spent_memory = memory;	/* nobody waits for these */
	e->spent_tlb = tlb;
	e->spent_walk = walks;
	return frame;
}

/* The same on another page than the access's. */
static void l1d_prefetch_page(struct memsys *m, uint64_t addr, uint64_t cycle, bool timed)
{
	const uint64_t vline = linear_line(m, addr);
	if (l1_find(&m->l1d, vline) >= 0 || !translate_touched(m, addr))
		return;
	const uint32_t frame = prefetch_frame(m, addr, &cycle, timed);
	l1d_prefetch(m, vline, physical_line(m, frame, vline), cycle, LINE_PREFETCHED, false, timed);
}

/* Linear streams: a line was wanted that L1D did not have, or that was fetched ahead. */
SLOW void linear_follow(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed)
{
	uint64_t next;
	int64_t step;
	for (unsigned n = linear_train(&m->linear, vline, &next, &step); n; n--, next += (uint64_t)step) {
		const uint64_t addr = (next & ~m->line_tag) << m->line_log2;
		uint64_t known = cycle;
		if (!translate_touched(m, addr) ||
		    !l2_prefetch(m, physical_line(m, prefetch_frame(m, addr, &known, timed), next), known + m->l2_lookup, timed)) {
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
			l1d_prefetch(m, linear_line(m, target), line + (uint32_t)(linear_line(m, target) - vline), cycle,
			             LINE_PREFETCHED, false, timed);
	}
}

static void wc_send(struct memsys *m, struct wc_line *w, uint64_t cycle, bool timed);

/* A load wants a line of which stores are still on their way to L2: they go ahead of it. */
SLOW void wc_give(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed)
{
	for (unsigned i = 0; i < m->wc_count; i++)
		if (m->wc[i].vline == vline && m->wc[i].to_l2)
			wc_send(m, &m->wc[i], cycle, timed);
}

/* One line of a load. */
ALWAYS_INLINE uint64_t load_line(struct memsys *m, uint64_t ip, uint64_t addr, uint64_t cycle, uint32_t latency, uint64_t *did, bool timed)
{
	uint64_t vline = linear_line(m, addr);
	uint32_t frame = translate(m, TRANSLATE_LOAD, addr, &cycle, did, timed);
	uint32_t line = physical_line(m, frame, vline);
	int32_t slot = l1_find(&m->l1d, vline);
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
	if (m->write_through)
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

#define LOAD_CLASS (SPMU_DID(L1D_HIT) | SPMU_DID(LFB_HIT) | SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT) | SPMU_DID(L2_MISS) | \
                    SPMU_DID(L3_HIT) | SPMU_DID(L3_MISS) | SPMU_DID(LFB_HW_PF) | SPMU_DID(LFB_SW_PF) | SPMU_DID(SNOOP_HIT) | SPMU_DID(SNOOP_HITM))

/* How far away the data of a load were. */
static int load_distance(uint64_t did)
{
	return did & SPMU_DID(L3_MISS) ? 4 : did & SPMU_DID(L3_HIT) ? 3 : did & SPMU_DID(L2_HIT) ? 2 : did & SPMU_DID(LFB_HIT) ? 1 : 0;
}

ALWAYS_INLINE void load_general(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector,
                                bool timed, struct mem_result *r)
{
	uint32_t latency = m->load_latency[vector];
	uint64_t last = addr + (size ? size - 1 : 0);
	if (last < addr)
		last = UINT64_MAX;
	r->did = 0;
	r->ready = load_line(m, ip, addr, cycle, latency, &r->did, timed);
	uint64_t lines = (last >> m->line_log2) - (addr >> m->line_log2);
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
		uint64_t ready = load_line(m, ip, ((addr >> m->line_log2) + i) << m->line_log2, cycle, latency, &did, timed);
		if (ready > r->ready)
			r->ready = ready;
		/* one class a load: that of the farther line */
		if (load_distance(did) > load_distance(r->did))
			r->did = (r->did & ~LOAD_CLASS) | did;
		else
			r->did |= did & ~LOAD_CLASS;
	}
	r->ready += penalty;
}

SLOW void load_slow(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector, struct mem_result *r)
{
	load_general(m, ip, addr, size, cycle, vector, true, r);
}

/* Both proofs of the hit path; touches both replacement states if they hold.  For tree-PLRU only, whose touch is two
 * table look-ups; with another policy in L1D every access takes the general path. */
ALWAYS_INLINE bool hits(struct memsys *m, uint64_t addr, uint32_t size, uint8_t bad_states, uint32_t *slot)
{
	uint64_t vline = addr >> LINE_LOG2, page = addr >> m->page_shift;
	if ((addr & (LINE_BYTES - 1)) + size - 1 >= m->quick_bytes || !l1_guess(&m->l1d, vline, slot) || m->l1d.state[*slot] & bad_states)
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

/* Its page is not that of the load or store before. */
SLOW void load_elsewhere(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector, struct mem_result *r)
{
	uint32_t slot;
	if (__builtin_expect(hits(m, addr, size, LINE_PENDING | LINE_PREFETCHED, &slot), 1)) {
		r->ready = cycle + m->load_latency[vector];
		r->did = SPMU_DID(L1D_HIT);
		return;
	}
	load_slow(m, ip, addr, size, cycle, vector, r);
}

void memsys_load(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector, struct mem_result *r)
{
	const uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect(cycle < m->walk.latest || (addr & (LINE_BYTES - 1)) + size - 1 >= m->quick_bytes || !l1_guess(&m->l1d, vline, &slot) ||
	                     m->l1d.state[slot] & (LINE_PENDING | LINE_PREFETCHED), 0)) {
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

/* A store to a page with code: lines of L1I in the bytes around it go, and the pipeline is told (clears.h). */
static __attribute__((noinline)) void code_written(struct memsys *m, uint64_t addr, uint64_t last, uint64_t *did)
{
	uint64_t first = addr & ~(uint64_t)(m->smc_bytes - 1), end = last | (m->smc_bytes - 1);
	bool found = false;
	for (uint64_t vline = linear_line(m, first), i = 0; vline <= linear_line(m, end) && i < LINES_MAX; vline++, i++) {
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
		m->emitter->code_written(m->emitter->owner, addr, (uint32_t)(last - addr) + 1);
}

void memsys_store_translate(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, struct mem_result *r)
{
	uint64_t page = addr >> m->page_shift;
	if (__builtin_expect((addr & (LINE_BYTES - 1)) + size <= LINE_BYTES && cycle >= m->walk.latest &&
	                     page == (m->has_dtlb_store ? m->last_store_page : m->last_page), 1)) {
		r->ready = cycle;
		r->did = 0;
		return;
	}
	uint64_t last = addr + (size ? size - 1 : 0);
	if (last < addr)
		last = UINT64_MAX;
	r->did = 0;
	r->ready = cycle;
	translate(m, TRANSLATE_STORE, addr, &r->ready, &r->did, true);
	if (__builtin_expect(has_code(m, page) || has_code(m, last >> m->page_shift), 0))
		code_written(m, addr, last, &r->did);
	if (addr >> m->line_log2 == last >> m->line_log2)
		return;
	r->did |= SPMU_DID(SPLIT_LINE);
	if (addr >> 12 == last >> 12)
		return;
	r->did |= SPMU_DID(SPLIT_PAGE);
	if (addr >> m->page_shift != last >> m->page_shift) {
		uint64_t second = cycle;
		translate(m, TRANSLATE_STORE, last, &second, &r->did, true);
		if (second > r->ready)
			r->ready = second;
	}
}

static uint64_t store_combine(struct memsys *m, uint64_t addr, uint32_t bytes, bool to_l2, uint64_t cycle, bool timed);

/* One line of a store into a write-through L1D: written there if it is there, and on its way to L2 in any case.
 * Source: facts, section 7 (write-through); ITJ Q1 2001, Hinton et al., "Store-to-Load Forwarding" and the cache table; that a
 * miss brings no line into L1D and waits in a write-combining buffer: Optimization Manual, "Write Combining". */
static __attribute__((noinline)) uint64_t store_through(struct memsys *m, uint64_t addr, uint32_t bytes, uint64_t cycle, uint64_t *did, bool timed)
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

/* One line of a store that leaves the store buffer: L1D must own it. */
ALWAYS_INLINE uint64_t store_line(struct memsys *m, uint64_t addr, uint32_t bytes, uint64_t cycle, uint64_t *did, bool timed)
{
	if (m->write_through)
		return store_through(m, addr, bytes, cycle, did, timed);
	uint64_t vline = linear_line(m, addr);
	int32_t slot = l1_find(&m->l1d, vline);
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
	uint32_t line = physical_line(m, translate_known(m, addr), vline);
	if (m->write_around)
		return l2_write_around(m, line, cycle, timed);
	enum inflight_source source;
	uint64_t asked;
	uint64_t ready = l1d_bring(m, vline, line, cycle, ACCESS_RFO, LINE_DIRTY, true, timed, &source, &asked) + 1;
	linear_used(m, vline, asked, timed);
	return ready;
}

/* A write-combining buffer is sent to memory or L2; it is free again when that has taken the line. */
static void wc_send(struct memsys *m, struct wc_line *w, uint64_t cycle, bool timed)
{
	w->vline = VLINE_NONE;
	w->bytes = 0;
	if (w->to_l2) {
		w->free = l2_store(m, w->line, cycle, timed);
		return;
	}
	uint64_t taken = uncore_write_around(m, w->line, cycle, timed);
	w->free = cycle + m->shared->l3_latency;
	if (taken > w->free)
		w->free = taken;
}

void wc_empty(struct memsys *m, uint64_t cycle)
{
	for (unsigned i = 0; i < m->wc_count; i++)
		if (m->wc[i].vline != VLINE_NONE)
			wc_send(m, &m->wc[i], cycle, true);
}

/* Store to one line, non-temporal or through L1D: combined in a buffer, sent when it is full or its buffer is wanted. */
static uint64_t store_combine(struct memsys *m, uint64_t addr, uint32_t bytes, bool to_l2, uint64_t cycle, bool timed)
{
	uint64_t vline = linear_line(m, addr), ready = cycle + 1;
	struct wc_line *w = NULL, *oldest = &m->wc[0];
	for (unsigned i = 0; i < m->wc_count; i++) {
		if (m->wc[i].vline == vline && m->wc[i].to_l2 == to_l2) {
			w = &m->wc[i];
			break;
		}
		/* empty ones first, the soonest free of them; else the one opened first */
		bool empty = m->wc[i].vline == VLINE_NONE, best = oldest->vline == VLINE_NONE;
		if (empty != best ? empty : empty ? m->wc[i].free < oldest->free : m->wc[i].stamp < oldest->stamp)
			oldest = &m->wc[i];
	}
	if (!w) {
		w = oldest;
		if (w->vline != VLINE_NONE)
			wc_send(m, w, cycle, timed);
		if (timed && w->free > cycle) {
			SIGNAL_AT(m, L1D_FB_FULL, cycle, w->free, 1);
			ready = w->free + 1;
		}
		w->vline = vline;
		w->to_l2 = to_l2;
		w->line = physical_line(m, translate_known(m, addr), vline);
		w->stamp = ++m->wc_clock;
		w->bytes = 0;
	}
	uint32_t from = addr & ((1u << m->line_log2) - 1);
	uint64_t set = bytes >= 64 ? ~UINT64_C(0) : ((UINT64_C(1) << bytes) - 1) << from;
	w->bytes |= set;
	if (w->bytes == ~UINT64_C(0) >> (64 - (1u << m->line_log2)))
		wc_send(m, w, ready, timed);
	return ready;
}

ALWAYS_INLINE void store_general(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal, bool timed,
                                 struct mem_result *r)
{
	uint64_t last = addr + (size ? size - 1 : 0);
	if (last < addr)
		last = UINT64_MAX;
	r->did = 0;
	r->ready = cycle + 1;
	for (uint64_t i = 0, at = addr; i < LINES_MAX; i++) {
		uint64_t end = at | ((1u << m->line_log2) - 1);
		uint32_t bytes = (uint32_t)((end < last ? end : last) - at + 1);
		uint64_t ready = non_temporal ? store_combine(m, at, bytes, false, cycle, timed) : store_line(m, at, bytes, cycle, &r->did, timed);
		if (ready > r->ready)
			r->ready = ready;
		if (end >= last)
			break;
		at = end + 1;
	}
}

SLOW void store_slow(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal, struct mem_result *r)
{
	store_general(m, addr, size, cycle, non_temporal, true, r);
}

void memsys_store_commit(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal,
                         struct mem_result *r)
{
	(void)ip;	/* no prefetcher of these cores follows stores by instruction */
	uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect((addr & (LINE_BYTES - 1)) + size <= LINE_BYTES && !non_temporal && m->store_fast && l1_guess(&m->l1d, vline, &slot) &&
	                     !(m->l1d.state[slot] & (LINE_PENDING | LINE_PREFETCHED | LINE_SHARED)), 1)) {
		repl_touch_plru(&m->l1d.repl, &m->l1d.word[vline & m->l1d.mask], slot & m->l1d.ways_mask);
		m->l1d.state[slot] |= LINE_DIRTY;
		r->ready = cycle + 1;
		r->did = 0;
		return;
	}
	store_slow(m, addr, size, cycle, non_temporal, r);
}

void memsys_prefetch(struct memsys *m, uint64_t addr, uint64_t cycle)
{
	uint64_t did = 0;
	uint32_t frame = translate(m, TRANSLATE_LOAD, addr, &cycle, &did, true);
	l1d_prefetch(m, linear_line(m, addr), physical_line(m, frame, linear_line(m, addr)), cycle, 0, true, true);
}

/* --- instruction side --- */

/* Tag hits are frequent and say nothing alone: they are counted into the batch's last such record. */
static void icache_hit(struct memsys *m, uint64_t cycle)
{
	struct emitter *e = m->emitter;
	if (!emit_wanted(e, SPMU_SIG_ICACHE_HIT))
		return;
	if (m->icache_hit_record < e->count) {
		struct spmu_record *r = &e->record[m->icache_hit_record];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == SPMU_SIG_ICACHE_HIT) {
			r->did++;
			return;
		}
	}
	emit_signal(e, SPMU_SIG_ICACHE_HIT, cycle, cycle, 1);
	m->icache_hit_record = e->count - 1;
}

/* Details: fetch waits for a line so much longer than for one that L2 has.  Left out: for one that a prefetch had asked memory for. */
static __attribute__((noinline)) void code_waited(struct memsys *m, uint64_t cycles, enum inflight_source source)
{
	const uint64_t of_l3 = m->shared->l3_latency - m->l2_latency;
	if (source == FROM_L3)
		m->emitter->spent_code_l3 += cycles < of_l3 ? cycles : of_l3;
}

/* *from: who has the line. */
ALWAYS_INLINE uint64_t l1i_bring(struct memsys *m, uint64_t vline, uint32_t line, uint64_t cycle, bool prefetch, bool timed, enum inflight_source *from)
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
	}
	enum inflight_source source;
	uint8_t state;
	uint64_t ready = l2_access(m, line, start, prefetch ? ACCESS_PREFETCH : ACCESS_CODE, timed, &source, &state);
	*from = source;
	if (timed && __builtin_expect(m->free_icache, 0) && source != FROM_MEMORY) {
		ready = cycle;
	} else if (timed) {
		if (__builtin_expect(m->emitter->detail, 0) && !prefetch && ready > start + m->l2_code_latency)
			code_waited(m, ready - start - m->l2_code_latency, source);
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

ALWAYS_INLINE void fetch_general(struct memsys *m, uint64_t addr, uint64_t cycle, bool timed, struct mem_result *r)
{
	uint64_t vline = linear_line(m, addr), did = 0;
	r->did = 0;
	r->ready = cycle;
	uint32_t frame = translate(m, TRANSLATE_CODE, addr, &r->ready, &did, timed);
	if (did & SPMU_DID(DTLB_MISS))
		r->did |= SPMU_DID(ITLB_MISS_F) | (did & SPMU_DID(STLB_MISS) ? SPMU_DID(FETCH_STLB_MISS) : 0);
	if (r->ready > cycle)
		SIGNAL_AT(m, ITLB_STALL, cycle, r->ready, 1);
	uint64_t translated = r->ready;
	uint32_t line = physical_line(m, frame, vline);
	int32_t slot = l1_find(&m->l1i, vline);
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
				if (__builtin_expect(m->emitter->detail, 0))
					code_waited(m, m->l1i_fill.ready[entry] - r->ready, m->l1i_fill.source[entry]);
				r->ready = m->l1i_fill.ready[entry];
				source = m->l1i_fill.source[entry];
			} else {
				*state &= (uint8_t)~LINE_PENDING;
			}
		}
	} else {
		r->ready = l1i_bring(m, vline, line, r->ready, false, timed, &source);
		ahead = true;
	}
	if (timed && (slot < 0 || r->ready > translated)) {
		r->did |= SPMU_DID(ICACHE_MISS) | (source != FROM_L2 ? SPMU_DID(FETCH_L2_MISS) : 0);
		SIGNAL_AT(m, ICACHE_MISS_LINE, translated, translated, 1);
		SIGNAL_AT(m, ICACHE_STALL, translated, r->ready, 1);
	} else if (timed) {
		icache_hit(m, cycle);
	}
	/* after a miss, or when a line fetched ahead is used, the lines behind it are asked for; not over a page */
	for (unsigned i = 1; ahead && i <= m->l1i_next_line && ((vline + i) ^ vline) >> (12 - m->line_log2) == 0; i++)
		if (l1_find(&m->l1i, vline + i) < 0)
			l1i_bring(m, vline + i, line + i, translated, true, timed, &next);
}

void memsys_fetch(struct memsys *m, uint64_t addr, uint64_t cycle, struct mem_result *r)
{
	uint64_t vline = addr >> LINE_LOG2;
	uint32_t slot;
	if (__builtin_expect(addr >> m->page_shift == m->last_code_page && cycle >= m->walk.latest &&
	                     l1_guess(&m->l1i, vline, &slot) && !(m->l1i.state[slot] & (LINE_PENDING | LINE_PREFETCHED)), 1)) {
		l1_touch(&m->l1i, vline, slot);
		icache_hit(m, cycle);
		r->ready = cycle;
		r->did = 0;
		return;
	}
	fetch_general(m, addr, cycle, true, r);
}

/* --- functional only --- */

SLOW void warm_slow(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, bool store)
{
	struct mem_result r;
	if (!store) {
		load_general(m, ip, addr, size, 0, false, false, &r);
		return;
	}
	uint64_t cycle = 0, did = 0;
	translate(m, TRANSLATE_STORE, addr, &cycle, &did, false);
	store_general(m, addr, size, 0, false, false, &r);
}

void memsys_warm_data(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, bool store)
{
	uint32_t slot;
	if (__builtin_expect((!store || (m->store_fast && !m->has_dtlb_store)) &&
	                     hits(m, addr, size, LINE_PREFETCHED | (store ? LINE_SHARED : 0), &slot), 1)) {
		m->l1d.state[slot] |= store ? LINE_DIRTY : 0;
		return;
	}
	warm_slow(m, ip, addr, size, store);
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
		fetch_general(m, addr, 0, false, &r);
}
