/* SPDX-License-Identifier: GPL-2.0-or-later
 * The private L2: neither inclusive nor exclusive of the L1s, write-back, with its super queue and prefetchers.
 *
 * A line enters L2 when it is requested, marked pending; the super queue knows when it arrives.  A request to a
 * pending line waits until then and counts as an L2 miss, served by the source of the first request.
 * With sectors (l2.sectors; NetBurst: "a read miss fetches a sector of two lines", facts, section 7) a miss brings
 * the other line of the sector, too.
 * Left out: bank conflicts, the write-back queue, demand requests that overtake prefetches.
 */
#include "core/record/detail.h"
#include "core/memory/memsys_state.h"

/* A request takes an entry of the super queue.  If it was the last free one, the queue is full until one is free. */
static void queue_take(struct memsys *m, unsigned entry, uint32_t line, uint64_t from, uint64_t ready,
	enum inflight_source source, bool demand)
{
	struct inflight *queue = &m->l2_fill;
	inflight_set(queue, entry, line, ready, source, demand);
	if (__builtin_expect(emit_wanted(m->emitter, SPMU_SIG_SQ_FULL), 0)) {
		const uint64_t free_at = queue->ready[inflight_soonest(queue)];
		if (free_at > from)
			emit_signal(m->emitter, SPMU_SIG_SQ_FULL, from, free_at, 1);
	}
}

static void l2_evicted(struct memsys *m, const struct cache_victim *v, uint64_t cycle, bool timed)
{
	if (v->line == LINE_NONE)
		return;
	const bool dirty = v->state & LINE_DIRTY;
	if (timed)
		emit_attributes(m->emitter, dirty ? SPMU_SIG_L2_LINES_OUT_DIRTY : SPMU_SIG_L2_LINES_OUT_SILENT, cycle,
			cycle, 1, v->state & LINE_PREFETCHED ? SPMU_ATTR(PREFETCH_UNUSED) : 0);
	if (dirty)
		m->found |= SPMU_DID(WROTE_BACK_L2);
	uncore_victim(m, v->line, v->state, cycle, timed);
}

void l2_empty(struct memsys *m, uint64_t cycle)
{
	for (uint32_t at = 0; at < m->l2.sets * m->l2.stride; at++) {
		struct cache_victim v = { m->l2.tag[at], m->l2.state[at] };
		if (v.line == LINE_NONE)
			continue;
		cache_drop(&m->l2, (int32_t)at);
		l2_evicted(m, &v, cycle, true);
	}
}

static void l2_insert(struct memsys *m, uint32_t line, uint8_t state, uint64_t cycle, bool timed)
{
	struct cache_victim v;
	if (m->l2.sector_log2 && cache_room(&m->l2, line, &v))
		l2_evicted(m, &v, cycle, timed);
	cache_fill(&m->l2, line, state, &v);
	SIGNAL_AT(m, L2_LINES_IN, cycle, cycle, 1);
	l2_evicted(m, &v, cycle, timed);
}

void l2_write_back(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	SIGNAL_AT(m, L2_WB, cycle, cycle, 1);
	int32_t slot = cache_find(&m->l2, line);
	if (slot >= 0)
		m->l2.state[slot] |= LINE_DIRTY;
	else
		l2_insert(m, line, LINE_DIRTY, cycle, timed);
}

/* The write takes the time of the bus.  If L2 does not have the line, memory's write raises no signal. */
uint64_t l2_write_around(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	int32_t slot = cache_find(&m->l2, line);
	coherence_own(m, line, cycle, timed);
	if (slot >= 0) {
		cache_touch(&m->l2, (uint32_t)slot);
		m->l2.state[slot] = (uint8_t)((m->l2.state[slot] | LINE_DIRTY) & ~(LINE_SHARED | LINE_PREFETCHED));
	}
	if (!timed)
		return cycle;
	m->around_free = (cycle > m->around_free ? cycle : m->around_free) + m->write_around;
	return m->around_free;
}

uint64_t l2_upgrade(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	int32_t slot = cache_find(&m->l2, line);
	if (slot >= 0)
		m->l2.state[slot] &= (uint8_t)~LINE_SHARED;
	struct snoop others = coherence_own(m, line, cycle, timed);
	SIGNAL_AT(m, L3_REFERENCE, cycle, cycle, 1);
	uint64_t owned = cycle + m->shared->l3_latency;
	if (owned < others.until)
		owned = others.until;
	owned += others.held ? m->shared->snoop : 0;
	if (__builtin_expect(m->free_snoop, 0) && others.held)
		owned = cycle;
	OFFCORE_AT(m, SPMU_ATTR(REQUEST_RFO) | SPMU_ATTR(SUPPLIED_L3), others, uncore_l3_find(m->shared, line), cycle);
	SIGNAL_AT(m, OFFCORE_RFO, cycle, owned, 1);
	return owned;
}

uint64_t l2_store(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	enum inflight_source source;
	uint8_t state;
	uint64_t ready = l2_access(m, line, cycle, ACCESS_RFO, timed, &source, &state);
	int32_t slot = cache_find(&m->l2, line);
	if (slot >= 0)
		m->l2.state[slot] |= LINE_DIRTY;
	return ready;
}

/* Brings the other line of the sector: the bus request for the first line delivers it right after. */
static void l2_other_sector(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	if (cache_find(&m->l2, line ^ 1) >= 0)
		return;
	enum inflight_source source;
	uint8_t state;
	m->asker = SPMU_ATTR(REQUEST_PF_L2);
	uint64_t ready = uncore_read(m, line ^ 1, cycle, ACCESS_PREFETCH, timed, &source, &state);
	if (timed) {
		queue_take(m, inflight_soonest(&m->l2_fill), line ^ 1, cycle, ready, source, false);
		state |= LINE_PENDING;
	}
	l2_insert(m, line ^ 1, state, ready, timed);
}

bool l2_prefetch(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	if (cache_find(&m->l2, line) >= 0) {
		SIGNAL_AT(m, L2_PF_HIT, cycle, cycle, 1);
		return true;
	}
	unsigned entry = 0;
	if (timed) {
		if (m->l2_fill.count - inflight_busy(&m->l2_fill, cycle) <= m->prefetch_reserve)
			return false;
		entry = inflight_soonest(&m->l2_fill);
	}
	enum inflight_source source;
	uint8_t state;
	SIGNAL_AT(m, L2_PF_MISS, cycle, cycle, 1);
	m->asker = SPMU_ATTR(REQUEST_PF_L2);
	uint64_t ready = uncore_read(m, line, cycle, ACCESS_PREFETCH, timed, &source, &state);
	if (timed && __builtin_expect(m->free_l2, 0) && source == FROM_L3) {
		ready = cycle;
	} else if (timed) {
		queue_take(m, entry, line, cycle, ready, source, false);
		SIGNAL_AT(m, OFFCORE_ALL_RD, cycle, ready, 1);
		state |= LINE_PENDING;
	}
	l2_insert(m, line, state | LINE_PREFETCHED, ready, timed);
	if (__builtin_expect(m->emitter->detail, 0) && timed) {
		struct core_fill *f = detail_new(m->emitter, DETAIL_FILL);
		f->level = 2;
		f->line = line;
		f->from = cycle;
		f->ready = ready;
		f->source = (uint8_t)source;
		f->prefetch = true;
	}
	if (m->l2.sector_log2)
		l2_other_sector(m, line, cycle, timed);
	return true;
}

/* Trains the L2 prefetchers with a request, and issues their prefetches. */
static void l2_train(struct memsys *m, uint32_t line, uint64_t cycle, bool missed, bool timed)
{
	uint32_t want[STREAM_OUT_MAX];
	if (m->use_streamer) {
		unsigned n = streamer_train(&m->streamer, line, want), issued = 0, i = 0;
		for (; i < n && issued < m->streamer.degree; i++) {
			if (cache_find(&m->l2, want[i]) >= 0) {	/* present or in flight: try the next line */
				SIGNAL_AT(m, L2_PF_HIT, cycle, cycle, 1);
				continue;
			}
			if (!l2_prefetch(m, want[i], cycle, timed))
				break;
			issued++;
			if (m->use_adjacent && cache_find(&m->l2, want[i] ^ 1) < 0)
				l2_prefetch(m, want[i] ^ 1, cycle, timed);
		}
		if (i < n)
			streamer_refused(&m->streamer, want[i]);
	}
	if (missed && m->use_adjacent && cache_find(&m->l2, line ^ 1) < 0)
		l2_prefetch(m, line ^ 1, cycle, timed);
}

/* state: that of the line if it hit. */
static void l2_signal(struct memsys *m, enum access_kind kind, bool hit, uint8_t state, uint64_t cycle)
{
	static const uint8_t signal[][2] = {
		[ACCESS_LOAD] = { SPMU_SIG_L2_DEMAND_RD_MISS, SPMU_SIG_L2_DEMAND_RD_HIT },
		[ACCESS_RFO] = { SPMU_SIG_L2_RFO_MISS, SPMU_SIG_L2_RFO_HIT },
		[ACCESS_CODE] = { SPMU_SIG_L2_CODE_RD_MISS, SPMU_SIG_L2_CODE_RD_HIT },
		[ACCESS_PREFETCH] = { SPMU_SIG_L2_PF_MISS, SPMU_SIG_L2_PF_HIT },
	};
	if (kind != ACCESS_WALK)	/* no L2 event of these parts counts the reads of page walks */
		emit_attributes(m->emitter, signal[kind][hit], cycle, cycle, 1,
			(!hit ? 0 : state & LINE_DIRTY ? SPMU_ATTR(MODIFIED)
			: state & LINE_SHARED ? SPMU_ATTR(SHARED)
			: SPMU_ATTR(EXCLUSIVE)) | (kind == ACCESS_PREFETCH ? m->asker & SPMU_ATTR(SOFTWARE) : 0));
}

/* What sampled runs compare windows with (core.h, struct core_misses). */
static inline void count_warmed(struct memsys *m, enum access_kind kind, int32_t slot, bool timed)
{
	m->warmed.loads += !timed && kind == ACCESS_LOAD;
	m->warmed.l1 += !timed && kind != ACCESS_PREFETCH;
	m->warmed.l2 += !timed && kind != ACCESS_PREFETCH && slot < 0;
}

/* By fields free.*: free.snoop is about lines that another core has just given up, or the ownership of. */
static bool is_free(const struct memsys *m, enum access_kind kind, enum inflight_source source)
{
	const bool given = m->found & SPMU_DID(SNOOP_HITM) || (kind == ACCESS_RFO && m->found & SPMU_DID(SNOOP_HIT));
	return kind != ACCESS_WALK && source == FROM_L3 && (m->free_l2 || given);
}

uint64_t l2_access(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed,
                   enum inflight_source *source, uint8_t *state)
{
	uint64_t looked = cycle + m->l2_lookup;
	uint64_t use = cycle + (kind == ACCESS_CODE ? m->l2_code_latency : m->l2_latency);
	int32_t slot = cache_find(&m->l2, line);
	*source = FROM_L2;
	m->found = 0;
	count_warmed(m, kind, slot, timed);
	if (slot >= 0) {
		uint8_t *s = &m->l2.state[slot];
		bool hit = true;
		cache_touch(&m->l2, slot);
		if (timed && *s & LINE_PENDING) {
			int entry = inflight_find(&m->l2_fill, line);
			if (entry >= 0 && m->l2_fill.ready[entry] > use) {
				hit = false;
				use = m->l2_fill.ready[entry];
				*source = m->l2_fill.source[entry];
				if (kind == ACCESS_LOAD) {
					SIGNAL_AT(m, L2_PENDING, looked, use, 1);
					if (*source == FROM_MEMORY)
						SIGNAL_AT(m, L3_PENDING, looked, use, 1);
					SIGNAL_AT(m, OFFCORE_DATA_RD, looked, use, 1);
				}
			} else {
				*s &= (uint8_t)~LINE_PENDING;
			}
		}
		const uint64_t used = *s & LINE_PREFETCHED ? SPMU_DID(PF_L2_USED) : 0;
		*s &= (uint8_t)~LINE_PREFETCHED;
		if (timed) {
			if (hit)
				use += rate_book(&m->l2_rate, cycle) - cycle;
			l2_signal(m, kind, hit, *s, looked);
		}
		*state = *s & LINE_SHARED;
		if (kind == ACCESS_RFO && *state) {
			if (hit)	/* else it is a miss already, as the line is not there */
				SIGNAL_AT(m, L2_RFO_MISS, looked, looked, 1);
			uint64_t owned = l2_upgrade(m, line, looked, timed);
			if (owned > use)
				use = owned;
			*state = 0;
		}
		if (kind != ACCESS_WALK)
			l2_train(m, line, looked, false, timed);
		m->found = used;
		return use;
	}

	uint64_t start = looked;
	unsigned entry = 0;
	if (timed) {
		entry = inflight_soonest(&m->l2_fill);
		if (m->l2_fill.ready[entry] > start) {
			start = m->l2_fill.ready[entry];
			if (kind == ACCESS_LOAD || kind == ACCESS_RFO ||
				(kind == ACCESS_PREFETCH && m->asker & SPMU_ATTR(SOFTWARE)))
				SIGNAL_AT(m, L2_STALL, looked, start, 1);
		}
		l2_signal(m, kind, false, 0, looked);
	}
	use = uncore_read(m, line, start, kind, timed, source, state);
	bool pending = timed;
	if (timed && __builtin_expect(m->free_l2 | m->free_snoop, 0) && is_free(m, kind, *source)) {
		use = cycle + (kind == ACCESS_CODE ? m->l2_code_latency : m->l2_latency);
		pending = false;
	} else if (timed) {
		if (kind == ACCESS_CODE)
			use += m->l2_code_latency - m->l2_latency;
		queue_take(m, entry, line, start, use, *source, kind != ACCESS_PREFETCH);
		switch (kind == ACCESS_PREFETCH && m->asker & SPMU_ATTR(REQUEST_CODE_RD) ? ACCESS_CODE : kind) {
		case ACCESS_LOAD:
			SIGNAL_AT(m, L2_PENDING, looked, use, 1);
			if (*source == FROM_MEMORY)
				SIGNAL_AT(m, L3_PENDING, start + m->shared->l3_latency - m->l2_lookup, use, 1);
			SIGNAL_AT(m, OFFCORE_DATA_RD, start, use, 1);
			SIGNAL_AT(m, OFFCORE_ALL_RD, start, use, 1);
			break;
		case ACCESS_RFO:
			SIGNAL_AT(m, OFFCORE_RFO, start, use, 1);
			break;
		case ACCESS_CODE:
			SIGNAL_AT(m, OFFCORE_CODE_RD, start, use, 1);
			break;
		default:
			SIGNAL_AT(m, OFFCORE_ALL_RD, start, use, 1);
		}
	}
	l2_insert(m, line, *state | (pending ? LINE_PENDING : 0), use, timed);
	const uint64_t found = m->found;
	*state &= LINE_SHARED;
	if (m->l2.sector_log2)
		l2_other_sector(m, line, start, timed);
	if (kind != ACCESS_WALK)
		l2_train(m, line, looked, kind != ACCESS_PREFETCH, timed);
	m->found = found;	/* without the bits of the prefetches just issued */
	return use;
}
