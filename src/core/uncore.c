/* SPDX-License-Identifier: GPL-2.0-or-later
 * L3, snoops between the cores of a machine, and the way to memory.
 *
 * Inclusive L3 (client parts up to Comet Lake): every line of a core is in L3; what L3 evicts leaves the cores too.
 * Victim L3 (servers from Skylake on): memory fills L2; L3 takes what L2 evicts, and gives a line back to the one
 * core that asks for it, unless another core holds it or it is code.
 * Coherence: other cores are searched at every request that misses L2, and nothing is said to cost
 * unless one holds the line modified or must give it up (l3.snoop_ns).  States beyond modified, shared and exclusive,
 * slices, the mesh's distances, a second socket and a snoop filter's own evictions are left out.
 */
#include "core/memsys_state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int memsys_shared_create(struct memsys_shared **out, const struct core_config *c, struct err *err)
{
	struct memsys_shared *s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory for the shared caches");
	double ghz = c->frequency_ghz;
	s->victim = c->l3_inclusion == 1;
	s->l3_latency = (uint32_t)lround(c->l3_latency + c->l3_latency_ns * ghz);
	s->snoop = (uint32_t)lround(c->l3_snoop_ns * ghz);
	uint32_t unit = c->memory_page == 1 ? 512 : 1;	/* frames lie in the lower half of 2^26; see tlb.c */
	int rc = cache_init(&s->l3, "l3", c->l3_size, c->l3_ways, c->l3_replacement, err);
	if (!rc)
		rc = dram_init(&s->dram, c, ghz, err);
	if (!rc)
		rc = frames_init(&s->frames, (1u << 25) / unit, err);
	if (!rc && s->l3_latency <= c->l2_latency)
		rc = err_set(err, ERR_INPUT, "l3.latency: %u cycles in all are not more than l2.latency", s->l3_latency);
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
	frames_release(&s->frames);
	free(s);
}

struct snoop { bool held, modified; };

/* Searches the other cores.  invalidate: their copies go; else they become shared and clean. */
static struct snoop snoop_others(struct memsys *m, uint32_t line, bool invalidate)
{
	struct snoop found = { false, false };
	for (uint32_t i = 0; i < m->shared->cores; i++) {
		struct memsys *other = m->shared->core[i];
		if (other == m)
			continue;
		int32_t slot[3] = { cache_find(&other->l2, line), l1_find_physical(&other->l1d, line),
		                    l1_find_physical(&other->l1i, line) };
		uint8_t *state[3] = { other->l2.state, other->l1d.state, other->l1i.state };
		for (int k = 0; k < 3; k++) {
			if (slot[k] < 0)
				continue;
			found.held = true;
			found.modified |= state[k][slot[k]] & LINE_DIRTY;
			state[k][slot[k]] = (uint8_t)((state[k][slot[k]] & ~LINE_DIRTY) | LINE_SHARED);
		}
		if (!invalidate)
			continue;
		if (slot[0] >= 0)
			cache_drop(&other->l2, slot[0]);
		if (slot[1] >= 0)
			l1_drop(&other->l1d, slot[1]);
		if (slot[2] >= 0)
			l1_drop(&other->l1i, slot[2]);
	}
	return found;
}

bool uncore_invalidate_others(struct memsys *m, uint32_t line)
{
	return m->shared->cores > 1 && snoop_others(m, line, true).held;
}

/* Takes a line from one core; true if it was modified there. */
static bool drop_from(struct memsys *m, uint32_t line)
{
	bool modified = false;
	int32_t slot = cache_find(&m->l2, line);
	if (slot >= 0) {
		modified |= m->l2.state[slot] & LINE_DIRTY;
		cache_drop(&m->l2, slot);
	}
	slot = l1_find_physical(&m->l1d, line);
	if (slot >= 0) {
		modified |= m->l1d.state[slot] & LINE_DIRTY;
		l1_drop(&m->l1d, slot);
	}
	slot = l1_find_physical(&m->l1i, line);
	if (slot >= 0)
		l1_drop(&m->l1i, slot);
	return modified;
}

static uint64_t memory_write(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	if (!timed)
		return cycle;
	SIGNAL_AT(m, DRAM_WRITE, cycle, cycle, 1);
	return dram_write(&m->shared->dram, line, cycle);
}

static void l3_insert(struct memsys *m, uint32_t line, uint8_t state, uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	struct cache_victim v;
	cache_fill(&s->l3, line, state, &v);
	if (v.line == LINE_NONE)
		return;
	bool modified = v.state & LINE_DIRTY;
	if (!s->victim)
		for (uint32_t i = 0; i < s->cores; i++)
			modified |= drop_from(s->core[i], v.line);
	if (modified)
		memory_write(m, v.line, cycle, timed);
}

void uncore_victim(struct memsys *m, uint32_t line, uint8_t state, uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	uint8_t dirty = state & LINE_DIRTY;
	int32_t slot = cache_find(&s->l3, line);
	if (slot >= 0) {
		s->l3.state[slot] |= dirty;
		if (dirty || s->victim)
			cache_touch(&s->l3, slot);
	} else if (s->victim) {
		l3_insert(m, line, dirty, cycle, timed);
	} else if (dirty) {		/* L3 gave it up while a write-back from L1D brought it back to L2 */
		memory_write(m, line, cycle, timed);
	}
}

uint64_t uncore_write_around(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	struct memsys_shared *s = m->shared;
	for (uint32_t i = 0; i < s->cores; i++)
		drop_from(s->core[i], line);
	int32_t slot = cache_find(&s->l3, line);
	if (slot >= 0)
		cache_drop(&s->l3, slot);
	return memory_write(m, line, cycle, timed);
}

uint64_t uncore_read(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed,
                     enum inflight_source *source, uint8_t *state)
{
	struct memsys_shared *s = m->shared;
	struct snoop others = { false, false };
	bool own = kind == ACCESS_RFO;
	if (s->cores > 1)
		others = snoop_others(m, line, own);
	*state = others.held && !own ? LINE_SHARED : 0;

	uint64_t known = cycle;
	if (timed)	/* to the cycle at which an L3 hit can be used, or a miss is known */
		known = rate_book(&m->l3_rate, cycle) + s->l3_latency - m->l2_lookup;
	SIGNAL_AT(m, L3_REFERENCE, cycle, cycle, 1);
	int32_t slot = cache_find(&s->l3, line);
	*source = FROM_L3;
	if (slot >= 0) {
		if (others.modified)
			s->l3.state[slot] |= LINE_DIRTY;
		if (s->victim && !others.held && kind != ACCESS_CODE) {
			*state |= s->l3.state[slot] & LINE_DIRTY;
			cache_drop(&s->l3, slot);
		} else {
			cache_touch(&s->l3, slot);
		}
	} else if (others.held) {	/* victim L3: another core has it */
		if (others.modified) {
			if (own)
				*state |= LINE_DIRTY;
			else
				l3_insert(m, line, LINE_DIRTY, known, timed);
		}
	} else {
		*source = FROM_MEMORY;
		SIGNAL_AT(m, L3_MISS_ANY, known, known, 1);
		SIGNAL_AT(m, DRAM_READ, known, known, 1);
		if (!s->victim)
			l3_insert(m, line, 0, known, timed);
		return timed ? dram_read(&s->dram, line, known) : 0;
	}
	if (others.modified || (others.held && own))
		known += s->snoop;
	return known;
}
