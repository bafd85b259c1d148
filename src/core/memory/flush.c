/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lines that leave all caches: CLFLUSH, CLFLUSHOPT, CLWB, CLDEMOTE, and what non-temporal stores do to the caches.
 *
 * A flush asks every core and L3 for the line.  Modified data go to memory.  It takes an L3 access, and a snoop if
 * another core has the line modified (GUESS; settle with a chain of CLFLUSH and MFENCE on lines in each state).
 * The events of evictions (L2_LINES_OUT, L1D.M_EVICT) do not count it: they count what a fill replaces.
 * CLWB leaves the line in every cache that has it (SDM vol. 2, CLWB: the processor may keep it), as clean.
 * CLDEMOTE does nothing without L3, and nothing to a line that the core does not have.
 * Left out: TLBs, which no flush changes; uop caches, which keep the code of a flushed line.
 */
#include "core/memory/memsys_state.h"
#include "isa/isa.h"

/* Takes a line from this core and L3, or, clean, only cleans it there.  Returns whether it was modified. */
static bool leave_own(struct memsys *m, uint32_t line, bool clean)
{
	struct memsys_shared *s = m->shared;
	const int32_t l3 = uncore_l3_find(s, line), l2 = cache_find(&m->l2, line);
	const int32_t l1d = l1_find_physical(&m->l1d, line);
	bool modified = false;
	if (l3 >= 0) {
		modified = s->l3.state[l3] & LINE_DIRTY;
		s->l3.state[l3] &= (uint8_t)~LINE_DIRTY;
		if (!clean)
			cache_drop(&s->l3, l3);
	}
	if (!clean) {
		modified |= coherence_drop(m, line).modified;
		coherence_forget(m, line);
		filter_leave(m, line);
		return modified;
	}
	if (l2 >= 0) {
		modified |= m->l2.state[l2] & LINE_DIRTY;
		m->l2.state[l2] &= (uint8_t)~LINE_DIRTY;
	}
	if (l1d >= 0) {
		modified |= m->l1d.state[l1d] & LINE_DIRTY;
		m->l1d.state[l1d] &= (uint8_t)~LINE_DIRTY;
	}
	return modified;
}

static struct snoop leave(struct memsys *m, uint32_t line, bool clean, uint64_t cycle, bool timed)
{
	struct snoop others = { 0 };
	if (m->shared->cores > 1)
		others = coherence_snoop(m, line, !clean, cycle, timed);
	coherence_signal(m, clean ? SPMU_SIG_UNC_SNOOP : SPMU_SIG_UNC_INVALIDATE, line, &others, cycle, timed);
	return others;
}

struct snoop flush_line(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	struct snoop had = leave(m, line, false, cycle, timed);
	had.modified |= leave_own(m, line, false);
	return had;
}

/* From this core's caches to L3. */
static uint64_t demote(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	if (!m->shared->has_l3)
		return cycle;
	struct snoop had = coherence_drop(m, line);
	if (!had.held)
		return cycle;
	coherence_forget(m, line);
	uncore_victim(m, line, had.modified ? LINE_DIRTY : 0, cycle, timed);
	return cycle + m->shared->l3_latency;
}

static uint64_t flush(struct memsys *m, uint64_t addr, uint32_t line, unsigned kind, uint64_t cycle, bool timed)
{
	if (kind == FLUSH_DEMOTE)
		return demote(m, line, cycle, timed);
	cycle = wc_flush(m, linear_line(m, addr), cycle, timed);
	const bool clean = kind == FLUSH_CLEAN;
	const struct snoop others = leave(m, line, clean, cycle, timed);
	SLICE_AT(m, UNC_FLUSH, line, uncore_found(m->shared, uncore_l3_find(m->shared, line), others.held ||
		coherence_holds(m, line)), cycle, 1);
	OFFCORE_AT(m, SPMU_ATTR(REQUEST_FLUSH), others, -1, cycle);
	uint64_t done = cycle + (m->shared->has_l3 ? m->shared->l3_latency : m->l2_latency);
	if (others.modified)
		done += m->shared->snoop;
	if (leave_own(m, line, clean) || others.modified) {
		const uint64_t taken = uncore_write_back(m, line, done, timed);
		done = taken > done ? taken : done;
	}
	return done;
}

static uint64_t flush_all(struct memsys *m, uint64_t addr, unsigned kind, uint64_t cycle, bool timed)
{
	uint64_t done = cycle;
	for (uint64_t at = addr; at - addr < FLUSH_BYTES; at += UINT64_C(1) << m->line_log2) {
		const uint32_t line = physical_line(m, translate_known(m, at), linear_line(m, at));
		const uint64_t this = flush(m, at, line, kind, cycle, timed);
		done = this > done ? this : done;
	}
	return done;
}

void memsys_flush_translate(struct memsys *m, uint64_t addr, uint64_t cycle, struct mem_result *r)
{
	r->did = 0;
	r->ready = cycle;
	translate(m, TRANSLATE_LOAD, addr, &r->ready, &r->did, true);
}

uint64_t memsys_flush(struct memsys *m, uint64_t addr, unsigned kind, uint64_t cycle)
{
	return flush_all(m, addr, kind, cycle, true);
}

void memsys_warm_flush(struct memsys *m, uint64_t addr, unsigned kind)
{
	uint64_t cycle = 0, did = 0;
	translate(m, TRANSLATE_LOAD, addr, &cycle, &did, false);
	flush_all(m, addr & ~(uint64_t)(FLUSH_BYTES - 1), kind, 0, false);
}
