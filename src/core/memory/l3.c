/* SPDX-License-Identifier: GPL-2.0-or-later
 * L3 and the way to memory.
 *
 * Inclusive L3 (client parts up to Comet Lake): every line of a core is in L3; a line that L3 evicts leaves the
 * cores, too.
 * No L3 (l3.size = 0; Core 2 and older): L2 misses go to memory, and modified lines that L2 evicts are written there.
 * Victim L3 (servers from Skylake on): memory fills L2, and L3 takes the lines that L2 evicts.  A line moves back to
 * the core that requests it, unless another core holds it or it is code.
 * coherence.c handles copies in other cores.  A line has a slice only for the uncore PMU: all slices cost the same.
 * Other programs on the machine, which are not modelled, evict lines from L3 (l3.others): a line that was unused for
 * some time is gone with the probability that the field gives.  A hash of line and time draws it, so a run repeats
 * exactly.
 * Their lines do not take ways from the modelled program otherwise.
 * The snoop filter of a victim L3 (l3.filter) has an entry for each line of the cores.  If it needs an entry's place,
 * the line leaves the cores and goes to L3, as a line that L2 gives up (GUESS; counting L3 hits in a second sweep over
 * more lines of one of its sets than it has ways settles it).  A line that left L1 unnoticed keeps its entry.
 * A leader (memsys_shared_leads) with one core and a victim L3 queues what L2 asks of L3, and does it L3_LATER requests
 * later: meanwhile the host fetches the lines of the model's tables, which are larger than its own L2.  Nothing of L2
 * depends on L3 but whether a line that moves there is modified, which is added when the request is done.
 * Left out: distances on the mesh, a second socket.
 */
#include "core/memory/memsys_state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int l3_make(struct memsys_shared *s, const struct core_config *c, struct err *err)
{
	s->has_l3 = c->l3_size > 0;
	s->victim = c->l3_inclusion == 1 || !s->has_l3;
	l3_note_all(s);
	int rc = s->has_l3
		? cache_init(&s->l3, "l3", c->l3_size, c->l3_ways, c->l3_replacement, s->line_log2, 0, err)
		: 0;
	if (!rc && !s->victim) {
		s->valid = calloc((size_t)s->l3.sets * s->l3.stride, sizeof *s->valid);
		if (!s->valid)
			return err_set(err, ERR_NOMEM, "out of memory for the shared caches");
	}
	if (rc || !s->has_l3 || !c->l3_others.points)
		return rc;
	const double ms = 1e6 * c->frequency_ghz / (1 << LIFE_LOG2);
	s->used = calloc((size_t)s->l3.sets * s->l3.stride, sizeof *s->used);
	if (!s->used)
		return err_set(err, ERR_NOMEM, "out of memory for the shared caches");
	for (unsigned i = 0; i < 256; i++)
		s->life[i] = (uint32_t)fmin(core_fall_at(&c->l3_others, (i + 0.5) / 2.56) * ms, 1u << 31);
	return 0;
}

int memsys_shared_create(struct memsys_shared **out, const struct core_config *c, struct err *err)
{
	struct memsys_shared *s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory for the shared caches");
	double ghz = c->frequency_ghz;
	s->slices = c->l3_slices;
	s->line_log2 = LINE_LOG2 - c->cache_line;
	s->l3_latency = (uint32_t)lround(c->l3_latency + c->l3_latency_ns * ghz);
	s->snoop = (uint32_t)lround(c->l3_snoop_ns * ghz);
	const uint32_t unit = c->memory_page == PAGES_1G ? 1u << (GIANT_SHIFT - 12)
		: c->memory_page == PAGES_2M ? HUGE_PAGES : 1;
	/* 2^32 lines: the lower half of their frames is for data, the upper half for page tables */
	uint32_t half = 1u << (32 - 12 + s->line_log2 - 1);
	int rc = l3_make(s, c, err);
	s->has_filter = s->has_l3 && s->victim && c->l3_filter;
	if (!rc && s->has_filter)
		rc = cache_init(&s->filter, "l3.filter", c->l3_filter, c->l3_filter_ways, REPL_LRU, s->line_log2, 0,
			err);
	if (!rc)
		rc = dram_init(&s->dram, c, ghz, err);
	bus_init(&s->bus, c);
	if (!rc)
		rc = frames_init(&s->frames, half / unit, half, c->memory_scattered, err);
	s->frames.small_only = !c->memory_huge;
	if (!rc && s->l3_latency <= c->l2_latency)
		rc = err_set(err, ERR_INPUT,
			"l3.latency and l3.latency_ns: %u cycles together must be more than l2.latency", s->l3_latency);
	if (rc) {
		memsys_shared_destroy(s);
		return rc;
	}
	*out = s;
	return 0;
}

void memsys_shared_destroy(struct memsys_shared *s)
{
	if (!s)
		return;
	cache_release(&s->l3);
	cache_release(&s->filter);
	free(s->used);
	free(s->valid);
	free(s->log.set);
	frames_release(&s->frames);
	free(s);
}

/* The slice of a line.  2, 4 and 8 slices use the hash of client parts: each bit of the slice number is the parity of
 * some address bits (Maurice, Le Scouarnec, Neumann, Heen and Francillon, "Reverse Engineering Intel Last-Level Cache
 * Complex Addressing Using Performance Counters", RAID 2015; the single bits are unverified).  Other numbers of
 * slices: GUESS, an even spread; the counters of each box on such a machine, over a walk through one huge page, would
 * settle it. */
uint32_t uncore_slice(const struct memsys_shared *s, uint32_t line)
{
	static const uint64_t hash[3] = { UINT64_C(0x1b5f575440), UINT64_C(0x2eb5faa880), UINT64_C(0x3cccc93100) };
	uint64_t address = (uint64_t)line << s->line_log2;
	uint32_t slice = 0;
	if (s->slices & (s->slices - 1) || s->slices > 8) {
		uint32_t mixed = (line ^ line >> 15) * UINT32_C(0x9e3779b1);
		return (uint32_t)((uint64_t)(mixed ^ mixed >> 16) * s->slices >> 32);
	}
	for (unsigned i = 0; 2u << i <= s->slices; i++)
		slice |= (uint32_t)__builtin_parityll(address & hash[i]) << i;
	return slice;
}

int32_t uncore_l3_find(struct memsys_shared *s, uint32_t line)
{
	l3_settle(s);
	if (!s->has_l3)
		return -1;
	l3_note(s, cache_set(&s->l3, line));
	return cache_find(&s->l3, line);
}

enum spmu_found uncore_found_in(const struct cache *c, int32_t slot)
{
	return slot < 0 ? SPMU_FOUND_NOTHING : c->state[slot] & LINE_DIRTY ? SPMU_FOUND_MODIFIED : SPMU_FOUND_CLEAN;
}

static void warm_row(struct memsys *m, uint32_t line, bool write)
{
	if (!m->clears)
		dram_warm(&m->shared->dram, line, write, m->emitter->now);
}

/* bytes: set of the line's bytes that are written past the caches; 0: a write-back. */
static uint64_t memory_write_bytes(struct memsys *m, uint32_t line, uint64_t bytes, uint64_t cycle, bool timed)
{
	const bool whole = bytes == ~UINT64_C(0) >> (64 - (1u << m->line_log2));
	if (!timed) {
		if (bytes && !whole && m->shared->dram.ecc)
			warm_row(m, line, false);
		warm_row(m, line, true);
		return cycle;
	}
	if (m->shared->bus.clock) {
		unsigned chunks = 0;
		for (unsigned i = 0; i < 64; i += 8)
			chunks += (bytes >> i & 0xff) != 0;
		cycle = bus_write(m, cycle, !bytes ? SPMU_ATTR(BUS_WRITE_BACK) : SPMU_ATTR(BUS_WRITE) |
			SPMU_ATTR(BUS_COMBINED) | (whole ? 0 : SPMU_ATTR(BUS_CHUNK)), !bytes || whole ? 1 : chunks);
	}
	if (bytes && !whole && m->shared->dram.ecc) {	/* nobody waits for it */
		dram_read(&m->shared->dram, line, cycle);
		CHANNEL_AT(m, DRAM_READ, line, m->shared->dram.found, cycle, cycle,
			dram_half(&m->shared->dram, line) | SPMU_ATTR(UNDERFILL));
	}
	uint64_t taken = dram_write(&m->shared->dram, line, rate_book(&m->write_rate, cycle));
	CHANNEL_AT(m, DRAM_WRITE, line, m->shared->dram.found, cycle, cycle, dram_half(&m->shared->dram, line));
	SLICE_AT(m, UNC_WRITTEN, line, SPMU_FOUND_NOTHING, cycle, 1);
	return taken;
}

static uint64_t memory_write(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	return memory_write_bytes(m, line, 0, cycle, timed);
}

/* What a read asks for, by the four kinds of the lookups' signals. */
static uint64_t kind_of(enum access_kind kind)
{
	switch (kind) {
	case ACCESS_RFO: return SPMU_ATTR(REQUEST_RFO);
	case ACCESS_CODE: return SPMU_ATTR(REQUEST_CODE_RD);
	case ACCESS_PREFETCH: return SPMU_ATTR(REQUEST_PF_L2);
	default: return SPMU_ATTR(REQUEST_DATA_RD);
	}
}

static uint64_t memory_read(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed)
{
	if (!timed) {
		warm_row(m, line, false);
		return 0;
	}
	const uint64_t asked = rate_book(&m->read_rate, cycle);
	uint64_t there = __builtin_expect(m->shared->bus.clock != 0, 0) ? bus_read(m, line, asked, kind)
		: dram_read(&m->shared->dram, line, asked);
	CHANNEL_AT(m, DRAM_READ, line, m->shared->dram.found, cycle, cycle, dram_half(&m->shared->dram, line));
	CHANNEL_AT(m, UNC_PENDING, line, m->shared->dram.found, cycle, there, kind_of(kind));
	return there;
}

/* Raises the slice's signal for a request for a line or for its ownership. */
void uncore_lookup_signal(struct memsys *m, enum access_kind kind, uint32_t line, enum spmu_found found, uint64_t cycle)
{
	static const uint8_t signal[] = {
		[ACCESS_LOAD] = SPMU_SIG_UNC_READ, [ACCESS_WALK] = SPMU_SIG_UNC_READ,
		[ACCESS_RFO] = SPMU_SIG_UNC_RFO, [ACCESS_CODE] = SPMU_SIG_UNC_CODE,
		[ACCESS_PREFETCH] = SPMU_SIG_UNC_PREFETCH
	};
	if (m->shared->has_l3 && emit_wanted(m->emitter, signal[kind]))
		emit_uncore(m->emitter, signal[kind], cycle, cycle, 1, uncore_slice(m->shared, line), found, 0);
}

/* The request is done: raises the signal that spans it. */
static void entry_signal(struct memsys *m, enum access_kind kind, uint32_t line, enum spmu_found found, uint64_t begin,
	uint64_t end)
{
	if (m->shared->has_l3 && emit_wanted(m->emitter, SPMU_SIG_UNC_ENTRY))
		emit_uncore(m->emitter, SPMU_SIG_UNC_ENTRY, begin, end, 1, uncore_slice(m->shared, line), found,
			kind_of(kind));
}

/* named: the line's core-valid bits. */
static void l3_evicted(struct memsys *m, const struct cache_victim *v, uint64_t named, uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	struct snoop had = { 0 };
	if (!s->victim)
		had = coherence_take_back(m, v->line, named, cycle, timed);
	coherence_signal(m, SPMU_SIG_UNC_EVICT, v->line, &had, cycle, timed);
	const bool modified = v->state & LINE_DIRTY || had.modified;
	if (timed && s->has_l3 && emit_wanted(m->emitter, SPMU_SIG_UNC_VICTIM))
		emit_uncore(m->emitter, SPMU_SIG_UNC_VICTIM, cycle, cycle, 1, uncore_slice(s, v->line),
			modified ? SPMU_FOUND_MODIFIED : SPMU_FOUND_CLEAN,
			v->state & LINE_SHARED ? SPMU_ATTR(SHARED) : SPMU_ATTR(EXCLUSIVE));
	if (modified)
		memory_write(m, v->line, cycle, timed);
}

void l3_empty(struct memsys *m, uint64_t cycle)
{
	struct cache *l3 = &m->shared->l3;
	l3_settle(m->shared);
	l3_note_all(m->shared);
	for (uint32_t at = 0; m->shared->has_l3 && at < l3->sets * l3->stride; at++) {
		struct cache_victim v = { l3->tag[at], l3->state[at] };
		if (v.line == LINE_NONE)
			continue;
		cache_drop(l3, (int32_t)at);
		l3_evicted(m, &v, m->shared->valid ? m->shared->valid[at] : 0, cycle, true);
	}
}

static void l3_insert(struct memsys *m, uint32_t line, uint8_t state, uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	struct cache_victim v;
	if (!s->has_l3) {
		if (state & LINE_DIRTY)
			memory_write(m, line, cycle, timed);
		return;
	}
	l3_note(s, cache_set(&s->l3, line));
	int32_t slot = cache_fill(&s->l3, line, state, &v);
	if (s->used)
		s->used[slot] = (uint32_t)(s->latest >> LIFE_LOG2);
	const uint64_t named = s->valid ? s->valid[slot] : 0;	/* of the line that leaves */
	if (s->valid)
		s->valid[slot] = core_bit(m);
	if (v.line == LINE_NONE)
		return;
	l3_evicted(m, &v, named, cycle, timed);
}

/* This core gets the line: the snoop filter has an entry for it from now on. */
static void filter_track(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	const int32_t slot = cache_find(&s->filter, line);
	struct cache_victim v;
	if (slot >= 0) {
		cache_touch(&s->filter, slot);
		return;
	}
	cache_fill(&s->filter, line, 0, &v);
	if (v.line == LINE_NONE)
		return;
	uint32_t asked = 0;
	bool modified = false;
	for (uint32_t i = 0; i < s->cores; i++) {
		const struct snoop had = coherence_drop(s->core[i], v.line);
		if (had.held)
			coherence_forget(s->core[i], v.line);
		asked += had.held;
		modified |= had.modified;
	}
	if (!asked)
		return;
	SLICE_AT(m, UNC_EVICT, v.line, modified ? SPMU_FOUND_MODIFIED : SPMU_FOUND_CLEAN, cycle, asked);
	const int32_t l3 = uncore_l3_find(s, v.line);
	if (l3 >= 0)
		s->l3.state[l3] |= modified ? LINE_DIRTY : 0;
	else
		l3_insert(m, v.line, (modified ? LINE_DIRTY : 0) | (asked > 1 ? LINE_SHARED : 0), cycle, timed);
}

/* A line leaves this core.  If it is in no core any more, its entry is free. */
void filter_leave(struct memsys *m, uint32_t line)
{
	struct memsys_shared *s = m->shared;
	const int32_t slot = s->has_filter ? cache_find(&s->filter, line) : -1;
	for (uint32_t i = 0; slot >= 0 && i < s->cores; i++)
		if (coherence_holds(s->core[i], line))
			return;
	if (slot >= 0)
		cache_drop(&s->filter, slot);
}

/* Like uncore_l3_find, for an access that uses the line: others may have evicted it in the meantime (l3.others). */
static int32_t l3_use(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	int32_t slot = s->has_l3 ? cache_find(&s->l3, line) : -1;
	if (slot >= 0)
		l3_note(s, cache_set(&s->l3, line));
	if (!s->used)
		return slot;
	if (timed && cycle > s->latest)
		s->latest = cycle;
	if (slot < 0)
		return slot;
	uint32_t now = (uint32_t)(s->latest >> LIFE_LOG2), unused = now - s->used[slot];
	uint32_t draw = (line ^ s->used[slot] * UINT32_C(0x85ebca6b)) * UINT32_C(0x9e3779b1) >> 24;
	s->used[slot] = now;
	if (unused <= s->life[draw])
		return slot;
	bool modified = s->l3.state[slot] & LINE_DIRTY;
	cache_drop(&s->l3, slot);
	if (s->valid)	/* inclusive */
		modified |= coherence_take_back(m, line, s->valid[slot], cycle, timed).modified;
	if (modified)
		memory_write(m, line, cycle, timed);
	return -1;
}

/* Records a request of this core beyond L2.  GUESS: a line that another core has modified is modified in L3, too. */
void offcore_signal(struct memsys *m, uint64_t request, const struct snoop *others, int32_t slot, uint64_t cycle)
{
	const uint64_t writes = SPMU_ATTR(REQUEST_WRITE_BACK) | SPMU_ATTR(REQUEST_VICTIM) |
		SPMU_ATTR(REQUEST_STREAMING) | SPMU_ATTR(REQUEST_LOCK) | SPMU_ATTR(REQUEST_FLUSH);
	const bool write = request & writes, streaming = request & SPMU_ATTR(REQUEST_STREAMING);
	const bool in_l3 = slot >= 0 || request & SPMU_ATTR(SUPPLIED_L3);
	uint64_t attributes = request & ~SPMU_ATTR(SOFTWARE);
	if (write && !streaming)
		attributes |= SPMU_ATTR(SUPPLIED_NOTHING);
	else if (!in_l3 && !others->held)
		attributes |= SPMU_ATTR(SUPPLIED_MEMORY);
	else
		attributes |= SPMU_ATTR(SUPPLIED_L3) |
			(others->modified || (slot >= 0 && m->shared->l3.state[slot] & LINE_DIRTY)
				? SPMU_ATTR(SUPPLIED_MODIFIED) : SPMU_ATTR(SUPPLIED_CLEAN));
	attributes |= others->modified ? SPMU_ATTR(SNOOPED_MODIFIED)
		: others->held && !in_l3 && !write ? SPMU_ATTR(SNOOPED_FORWARD)
		: others->asked ? SPMU_ATTR(SNOOPED_CLEAN)
		: others->vain ? SPMU_ATTR(SNOOPED_IN_VAIN)
		: write ? SPMU_ATTR(SNOOPED_AT_WRITE)
		: in_l3 ? SPMU_ATTR(SNOOPED_NOBODY)
		: SPMU_ATTR(SNOOPED_AT_MISS);
	emit_attributes(m->emitter, SPMU_SIG_OFFCORE_REQUEST, cycle, cycle, 1, attributes);
}

void memsys_offcore_lock(struct memsys *m, uint64_t cycle)
{
	const bool timed = true;
	OFFCORE_AT(m, SPMU_ATTR(REQUEST_LOCK), ((struct snoop){ 0 }), -1, cycle);
}

static uint64_t request_of(const struct memsys *m, enum access_kind kind)
{
	switch (kind) {
	case ACCESS_LOAD: return SPMU_ATTR(REQUEST_DATA_RD);
	case ACCESS_RFO: return SPMU_ATTR(REQUEST_RFO);
	case ACCESS_CODE: return SPMU_ATTR(REQUEST_CODE_RD);
	case ACCESS_PREFETCH: return m->asker;
	default: return SPMU_ATTR(REQUEST_WALK);
	}
}

/* How L3 has a line that is read. */
static uint64_t l3_state(const struct memsys_shared *s, int32_t slot, const struct snoop *others)
{
	return !s->has_l3 ? 0
		: slot < 0 ? SPMU_ATTR(L3_MISSED)
		: others->modified || s->l3.state[slot] & LINE_DIRTY ? SPMU_ATTR(MODIFIED)
		: others->held ? SPMU_ATTR(SHARED)
		: SPMU_ATTR(EXCLUSIVE);
}

static inline __attribute__((always_inline)) void victim_now(struct memsys *m, uint32_t line, uint8_t state,
	uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	uint8_t dirty = state & LINE_DIRTY;
	if (s->has_filter)
		filter_leave(m, line);
	int32_t slot = l3_use(m, line, cycle, timed);
	if (dirty || s->victim)
		SLICE_AT(m, UNC_WRITE, line, uncore_found_in(&s->l3, slot), cycle, 1);
	if (dirty || (s->victim && s->has_l3))
		OFFCORE_AT(m, dirty ? SPMU_ATTR(REQUEST_WRITE_BACK) : SPMU_ATTR(REQUEST_VICTIM), ((struct snoop){ 0 }),
			slot, cycle);
	if (slot >= 0) {
		s->l3.state[slot] |= dirty | (state & LINE_SHARED);
		if (dirty || s->victim)
			cache_touch(&s->l3, slot);
	} else if (s->victim) {
		l3_insert(m, line, dirty | (state & LINE_SHARED), cycle, timed);
	} else if (dirty) {	/* L3 evicted the line, then a write-back from L1D put it into L2 again */
		memory_write(m, line, cycle, timed);
	}
}

uint64_t uncore_write_back(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	l3_settle(m->shared);
	return memory_write(m, line, cycle, timed);
}

uint64_t uncore_write_around(struct memsys *m, uint32_t line, uint64_t bytes, bool in_l3, uint64_t cycle, bool timed)
{
	l3_settle(m->shared);
	SLICE_AT(m, UNC_WRITE, line, uncore_found_in(&m->shared->l3, uncore_l3_find(m->shared, line)), cycle, 1);
	OFFCORE_AT(m, SPMU_ATTR(REQUEST_STREAMING) | (in_l3 ? SPMU_ATTR(SUPPLIED_L3) : 0), ((struct snoop){ 0 }), -1,
		cycle);
	flush_line(m, line, cycle, timed);
	return memory_write_bytes(m, line, bytes, cycle, timed);
}

static inline __attribute__((always_inline)) uint64_t read_now(struct memsys *m, uint32_t line, uint64_t cycle,
	enum access_kind kind, bool timed, enum inflight_source *source, uint8_t *state)
{
	struct memsys_shared *s = m->shared;
	const int32_t slot = l3_use(m, line, cycle, timed);
	struct snoop others = { 0 };
	bool own = kind == ACCESS_RFO;
	if (s->cores > 1)
		others = coherence_snoop(m, line, own, cycle, timed);
	*state = others.held && !own ? LINE_SHARED : 0;
	if (slot >= 0 && s->valid)
		s->valid[slot] |= core_bit(m);
	m->found = others.modified ? SPMU_DID(SNOOP_HITM) : others.asked ? SPMU_DID(SNOOP_HIT)
		: others.vain ? SPMU_DID(SNOOP_MISS) : 0;

	uint64_t known = cycle;
	if (timed)	/* the cycle at which an L3 hit can be used, or a miss is known */
		known = rate_book(&m->l3_rate, cycle) + s->l3_latency - m->l2_lookup;
	SIGNAL_AT(m, L3_REFERENCE, cycle, cycle, 1);
	*source = FROM_L3;
	const enum spmu_found found = uncore_found(s, slot, others.held);
	if (timed)
		uncore_lookup_signal(m, kind, line, found, cycle);
	OFFCORE_AT(m, request_of(m, kind) | l3_state(s, slot, &others), others, slot, cycle);
	if (others.asked || others.vain)
		coherence_signal(m, own ? SPMU_SIG_UNC_INVALIDATE : SPMU_SIG_UNC_SNOOP, line, &others, cycle, timed);
	if (slot >= 0) {
		if (others.modified)
			s->l3.state[slot] |= LINE_DIRTY;
		if (s->victim && !others.held && kind != ACCESS_CODE) {
			*state |= s->l3.state[slot] & LINE_DIRTY;
			cache_drop(&s->l3, slot);
		} else {
			s->l3.state[slot] |= others.held && !own ? LINE_SHARED : 0;
			cache_touch(&s->l3, slot);
		}
	} else if (others.held) {	/* victim L3, and another core has the line */
		m->found = SPMU_DID(SNOOP_HITM);
		if (others.modified) {
			if (own)
				*state |= LINE_DIRTY;
			else
				l3_insert(m, line, LINE_DIRTY | LINE_SHARED, known, timed);
		}
	} else {
		*source = FROM_MEMORY;
		m->warmed.l3 += !timed && kind != ACCESS_PREFETCH;
		SIGNAL_AT(m, L3_MISS_ANY, known, known, 1);
		if (!s->victim)
			l3_insert(m, line, 0, known, timed);
		const uint64_t there = memory_read(m, line, known, kind, timed);
		m->emitter->spent_memory += kind != ACCESS_PREFETCH && timed ? there - known : 0;
		if (s->has_filter)
			filter_track(m, line, known, timed);
		if (timed)
			entry_signal(m, kind, line, found, cycle, there);
		return there;
	}
	if (others.until > known)	/* in flight to another core, which gets it first */
		known = others.until;
	if (others.modified || (others.held && own))
		known += s->snoop;
	if (s->has_filter)
		filter_track(m, line, known, timed);
	if (timed)
		entry_signal(m, kind, line, found, cycle, known);
	return known;
}

/* --- a leader's requests, done later --- */

/* The oldest request is done. */
static void do_oldest(struct memsys_shared *s)
{
	const struct l3_later l = s->later[s->later_first++ % L3_LATER];
	struct memsys *m = s->core[0];
	const bool clears = m->clears;
	enum inflight_source source;
	uint8_t state = 0;
	s->later_count--;
	m->clears = l.clears;
	if (l.kind == LATER_VICTIM)
		victim_now(m, l.line, l.state, 0, false);
	else
		read_now(m, l.line, 0, l.kind, false, &source, &state);
	m->clears = clears;
	if (!(state & LINE_DIRTY))
		return;
	/* the line came modified: it is in L2, or L2 has given it up since */
	for (uint32_t i = 0; i < s->later_count; i++) {
		struct l3_later *v = &s->later[(s->later_first + i) % L3_LATER];
		if (v->line == l.line && v->kind == LATER_VICTIM) {
			v->state |= LINE_DIRTY;
			return;
		}
	}
	const int32_t slot = cache_find(&m->l2, l.line);
	if (slot >= 0)
		m->l2.state[slot] |= LINE_DIRTY;
}

void l3_settle(struct memsys_shared *s)
{
	while (s->later_count)
		do_oldest(s);
}

/* Queues the request if it may be done later, else does all that wait before it. */
static inline bool do_later(struct memsys *m, uint32_t line, unsigned kind, uint8_t state, bool timed)
{
	struct memsys_shared *s = m->shared;
	if (timed || !s->leads || s->cores > 1 || !s->has_l3 || !s->victim || s->has_filter || s->used) {
		l3_settle(s);
		return false;
	}
	const uint32_t set = cache_set(&s->l3, line);
	__builtin_prefetch(&s->l3.tag[set * s->l3.stride], 1);
	__builtin_prefetch(&s->l3.word[set], 1);
	__builtin_prefetch(&s->l3.state[set * s->l3.stride], 1);
	s->later[(s->later_first + s->later_count++) % L3_LATER] =
		(struct l3_later){ .line = line, .kind = (uint8_t)kind, .state = state, .clears = m->clears };
	if (s->later_count == L3_LATER)	/* behind the above: a victim may be the line that the oldest one brought */
		do_oldest(s);
	return true;
}

void uncore_victim(struct memsys *m, uint32_t line, uint8_t state, uint64_t cycle, bool timed)
{
	if (!do_later(m, line, LATER_VICTIM, state, timed))
		victim_now(m, line, state, cycle, timed);
}

uint64_t uncore_read(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed,
                     enum inflight_source *source, uint8_t *state)
{
	if (!do_later(m, line, kind, 0, timed))
		return read_now(m, line, cycle, kind, timed, source, state);
	*source = FROM_L3;	/* warming does not ask */
	*state = 0;
	m->found = 0;
	return 0;
}
