/* SPDX-License-Identifier: GPL-2.0-or-later
 * Coherence between the cores of a machine: which cores hold a line, and in which state of MESI.
 *
 *   modified   LINE_DIRTY in L1D or L2 of one core
 *   exclusive  neither bit: one core has it, and may store without asking
 *   shared     LINE_SHARED: others may have it; a store must first take it from them (l2_upgrade)
 *   invalid    not there
 *
 * Every request that misses L2 searches the other cores.  That costs nothing unless one of them holds the line
 * modified or must give it up (l3.snoop_ns).  A read leaves every copy shared and clean, and modified data go to L3;
 * a request for ownership drops all copies.  A line in flight to one core reaches the next requester after that,
 * however early the request: two cores that write one line own it in turn.  Lines have no bytes here, so true and
 * false sharing are the same.
 *
 * Left out: the states that pass data on (forward, owned); an arbitration order among several cores that wait for one
 * line (they are served in the order of the model's calls, which follow modelled time: run/threads/order.h).
 *
 * An inclusive L3 keeps a bit for each core with each line, which says that the core may have the line.  A core that
 * drops a clean line does not say so, and its bit stays; the next reader then makes L3 snoop it in vain if no other
 * core is named (one named core may have modified the line; several have it clean).  Source: Molka, Hackenberg, Schoene
 * and Mueller, "Memory Performance and Cache Coherency Effects on an Intel Nehalem Multiprocessor System", PACT 2009.
 * Such a snoop takes no time here, like that of a core that has the line clean.  A victim L3 hears of every line that
 * leaves L2, so it snoops nobody in vain.
 */
#include "core/memory/memsys_state.h"

/* Returns the cycle at which a line in flight reaches the core, or 0. */
static uint64_t under_way(const struct inflight *fill, uint8_t state, uint32_t line)
{
	int entry = state & LINE_PENDING ? inflight_find(fill, line) : -1;
	return entry >= 0 ? fill->ready[entry] : 0;
}

static void forget(struct inflight *fill, uint32_t line)
{
	for (uint32_t i = 0; i < fill->count; i++)
		if (fill->line[i] == line)
			fill->line[i] = LINE_NONE;
}

void coherence_forget(struct memsys *m, uint32_t line)
{
	forget(&m->l2_fill, line);
	forget(&m->l1d_fill, line);
	forget(&m->l1i_fill, line);
}

/* Records a core's answer to a snoop: none of SHARED, EXCLUSIVE and MODIFIED if it did not have the line. */
static void answer(struct memsys *core, uint64_t attributes, uint64_t cycle, bool timed)
{
	if (timed && !core->emitter->closed)
		emit_attributes(core->emitter, SPMU_SIG_SNOOP_RESPONSE, cycle, cycle, 1, attributes);
}

static uint64_t answer_of(uint8_t states)
{
	return states & LINE_DIRTY ? SPMU_ATTR(MODIFIED) | SPMU_ATTR(ANSWER_SENT)
		: states & LINE_SHARED ? SPMU_ATTR(SHARED) : SPMU_ATTR(EXCLUSIVE);
}

struct snoop coherence_snoop(struct memsys *m, uint32_t line, bool invalidate, uint64_t cycle, bool timed)
{
	struct snoop found = { 0 };
	const int32_t l3 = m->shared->valid ? uncore_l3_find(m->shared, line) : -1;
	uint64_t *valid = l3 >= 0 ? &m->shared->valid[l3] : NULL;
	const uint64_t named = valid ? *valid & ~core_bit(m) : 0;
	const bool ask_named = invalidate || !(named & (named - 1));
	for (uint32_t i = 0; i < m->shared->cores; i++) {
		struct memsys *other = m->shared->core[i];
		if (other == m)
			continue;
		if (__builtin_expect(other->follows, 0) && timed)
			other->emitter->line_taken(other->emitter->owner, m->emitter->owner, line, invalidate);
		int32_t slot[3] = { cache_find(&other->l2, line), l1_find_physical(&other->l1d, line),
		                    l1_find_physical(&other->l1i, line) };
		uint8_t *state[3] = { other->l2.state, other->l1d.state, other->l1i.state };
		struct inflight *fill[3] = { &other->l2_fill, &other->l1d_fill, &other->l1i_fill };
		bool asked = false, has = false;
		const bool first = !found.held;
		uint8_t states = 0;
		for (int k = 0; k < 3; k++) {
			if (slot[k] < 0)
				continue;
			found.held = has = true;
			states |= state[k][slot[k]];
			uint64_t until = timed ? under_way(fill[k], state[k][slot[k]], line) : 0;
			found.until = until > found.until ? until : found.until;
			found.modified |= state[k][slot[k]] & LINE_DIRTY;
			asked |= invalidate || !(state[k][slot[k]] & LINE_SHARED);
			state[k][slot[k]] = (uint8_t)((state[k][slot[k]] & ~LINE_DIRTY) | LINE_SHARED);
		}
		found.asked += asked;
		if (!has && ask_named && named & core_bit(other)) {
			found.vain++;
			*valid &= ~core_bit(other);
			answer(other, 0, cycle, timed);
		}
		/* without L3's copy, the first that has the line sends it, even if it shares the line */
		if (has && timed && __builtin_expect(emit_wanted(other->emitter, SPMU_SIG_SNOOP_RESPONSE), 0)) {
			const bool sends = first && uncore_l3_find(m->shared, line) < 0;
			if (asked || sends)
				answer(other, answer_of(states) | (sends ? SPMU_ATTR(ANSWER_SENT) : 0) |
					(invalidate ? SPMU_ATTR(ANSWER_GAVE_UP) : 0), cycle, timed);
		}
		if (!invalidate)
			continue;
		for (int k = 0; k < 3; k++)
			if (slot[k] >= 0)
				forget(fill[k], line);
		if (slot[0] >= 0)
			cache_drop(&other->l2, slot[0]);
		if (slot[1] >= 0) {
			if (timed && other->emitter->snooped)
				other->emitter->snooped(other->emitter->owner, other->l1d.vline[slot[1]], cycle);
			l1_drop(&other->l1d, slot[1]);
		}
		if (slot[2] >= 0)
			l1_drop(&other->l1i, slot[2]);
	}
	if (valid && invalidate)
		*valid = core_bit(m);
	return found;
}

void coherence_signal(struct memsys *m, enum spmu_signal signal, uint32_t line, const struct snoop *others,
	uint64_t cycle, bool timed)
{
	if (!timed || !m->shared->has_l3 || !emit_wanted(m->emitter, signal))
		return;
	const uint32_t slice = uncore_slice(m->shared, line);
	const uint64_t both = others->asked && others->vain ? SPMU_ATTR(SHARED) : 0;
	if (others->asked)
		emit_uncore(m->emitter, signal, cycle, cycle, others->asked, slice,
			others->modified ? SPMU_FOUND_MODIFIED : SPMU_FOUND_CLEAN, both);
	if (others->vain)
		emit_uncore(m->emitter, signal, cycle, cycle, others->vain, slice, SPMU_FOUND_NOTHING, both);
}

uint64_t memsys_store_source(struct memsys *m, uint64_t addr)
{
	const uint64_t vline = linear_line(m, addr), miss = SPMU_DID(STORE_L1D_MISS);
	if (l1_find(&m->l1d, vline) >= 0)
		return 0;
	const uint32_t line = physical_line(m, translate_known(m, addr), vline);
	if (cache_find(&m->l2, line) >= 0)
		return miss | SPMU_DID(STORE_L2_HIT);
	bool held = uncore_l3_find(m->shared, line) >= 0, modified = false;
	for (uint32_t i = 0; i < m->shared->cores; i++) {
		struct memsys *other = m->shared->core[i];
		const int32_t l2 = cache_find(&other->l2, line), l1 = l1_find_physical(&other->l1d, line);
		held |= l2 >= 0 || l1 >= 0;
		modified |= (l2 >= 0 && other->l2.state[l2] & LINE_DIRTY) ||
			(l1 >= 0 && other->l1d.state[l1] & LINE_DIRTY);
	}
	return miss | (held ? SPMU_DID(STORE_L3_HIT) : 0) | (modified ? SPMU_DID(STORE_HITM) : 0);
}

struct snoop coherence_drop(struct memsys *m, uint32_t line)
{
	struct snoop had = { 0 };
	int32_t slot = cache_find(&m->l2, line);
	if (slot >= 0) {
		had.held = true;
		had.modified |= m->l2.state[slot] & LINE_DIRTY;
		had.shared |= m->l2.state[slot] & LINE_SHARED;
		cache_drop(&m->l2, slot);
	}
	slot = l1_find_physical(&m->l1d, line);
	if (slot >= 0) {
		had.held = true;
		had.modified |= m->l1d.state[slot] & LINE_DIRTY;
		had.shared |= m->l1d.state[slot] & LINE_SHARED;
		l1_drop(&m->l1d, slot);
	}
	slot = l1_find_physical(&m->l1i, line);
	if (slot >= 0) {
		had.held = true;
		had.shared |= m->l1i.state[slot] & LINE_SHARED;
		l1_drop(&m->l1i, slot);
	}
	return had;
}

struct snoop coherence_take_back(struct memsys *m, uint32_t line, uint64_t named, uint64_t cycle, bool timed)
{
	struct snoop others = { 0 };
	for (uint32_t i = 0; i < m->shared->cores; i++) {
		struct memsys *core = m->shared->core[i];
		const struct snoop had = coherence_drop(core, line);
		if (__builtin_expect(core->follows, 0) && timed)
			core->emitter->line_left(core->emitter->owner, line, false);
		others.asked += had.held;
		others.modified |= had.modified;
		if (had.held)
			answer(core, answer_of((had.modified ? LINE_DIRTY : 0) | (had.shared ? LINE_SHARED : 0)) |
				SPMU_ATTR(ANSWER_GAVE_UP), cycle, timed);
		else if (named & core_bit(core)) {
			others.vain++;
			answer(core, 0, cycle, timed);
		}
	}
	return others;
}

struct snoop coherence_own(struct memsys *m, uint32_t line, uint64_t cycle, bool timed)
{
	struct snoop others = { 0 };
	if (m->shared->cores > 1)
		others = coherence_snoop(m, line, true, cycle, timed);
	if (timed)
		uncore_lookup_signal(m, ACCESS_RFO, line, uncore_found(m->shared, uncore_l3_find(m->shared, line),
			true), cycle);
	coherence_signal(m, SPMU_SIG_UNC_INVALIDATE, line, &others, cycle, timed);
	return others;
}
