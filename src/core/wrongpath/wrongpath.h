/* SPDX-License-Identifier: GPL-2.0-or-later
 * The wrong path, second half: the core executes what was walked (walker.h) until the branch resolves, then
 * forgets it.
 *
 * Models: its slots go through the same stages as others (slot.h, general.c, with way.wrong): front end,
 * allocation, ports, caches, TLB, prefetchers, with their stalls.  It ends with the slot that would be
 * allocated when the branch resolves, or later.  A uop that would be dispatched then or later takes no port and
 * makes no access; it keeps its scheduler entry until then.  Stores enter the store queue and give loads their
 * data, and are never written.  When the branch resolves all entries are free, registers are ready as they were
 * behind the branch, and fetch is redirected.  Caches, TLB, prefetchers, uop cache, trace cache, and ports up
 * to that cycle keep what happened.
 * Records show squashed uops: no RETIRED, `retire` is the cycle in which the branch resolves, stages that were
 * not reached are UINT32_MAX.
 * Leaves out: what is fetched and not allocated by then leaves no trace, and nothing waits for it; for wrong
 * paths also memory-order clears and the training of the disambiguation, L1D banks, loads that become the
 * stored register, and pieces of registers (partial_regs.h).
 */
#ifndef CORE_WRONGPATH_H
#define CORE_WRONGPATH_H
#include "core/backend/lsq.h"
#include "core/backend/rename.h"

#define WRONG_NEVER (UINT64_C(1) << 62)	/* a cycle beyond all others; cycles may be added to it */

/* As wrong_slot, for a slot that has to wait. */
uint64_t wrong_slot_waits(struct core *c, uint64_t fetch, uint64_t *did);
/* A uop of a slot allocated at `from` has to wait until `until`; returns false if the branch resolves first. */
bool wrong_may_wait(struct core *c, unsigned run, enum spmu_signal signal, uint64_t from, uint64_t until);
uint64_t wrong_store_room(struct core *c);
uint64_t wrong_wait_entry(struct core *c, const struct port_choice *choice, uint64_t alloc, uint64_t *did);
/* Notes what the store will change in the store queue; called before lsq_store. */
void wrong_log_store(struct core *c, uint64_t addr, uint32_t size);
/* As lsq_load; *dispatch WRONG_NEVER: the load is not dispatched. */
uint64_t wrong_load(struct core *c, const struct port_choice *choice, uint64_t ip, uint64_t addr, uint32_t size,
	unsigned port, uint64_t ready, bool vector, uint64_t *did, uint64_t *dispatch);
/* The same for a load that was dispatched at `at`. */
uint64_t wrong_load_taken(
	struct core *c, uint64_t ip, uint64_t addr, uint32_t size, uint64_t at, bool vector, uint64_t *did);
uint64_t wrong_take_unit(
	struct core *c, const struct port_choice *choice, unsigned port, uint64_t ready, unsigned unit, unsigned busy);
/* The rest of a wrong path, if only records of branches are wanted, from the step at w on: none of it is
 * allocated early enough to be dispatched.  Returns the word at which it ended. */
const uint64_t *wrong_late(struct core *c, const uint64_t *w);
/* Writes a record; called if wrong_wanted is true. */
void wrong_record(struct core *c, uint64_t ip, uint64_t is, unsigned port, uint32_t size, uint64_t did, uint64_t addr,
	uint64_t fetch, uint64_t alloc, uint64_t ready, uint64_t dispatch, uint64_t complete);

static inline bool wrong_wanted(const struct core *c, uint64_t is, uint64_t did)
{
	return (is & c->e.wanted_is) | (did & c->e.wanted_did);
}

/* Allocates a slot that was delivered at `fetch`.  Returns the cycle, WRONG_NEVER if the branch resolves first. */
static inline __attribute__((always_inline)) uint64_t wrong_slot(struct core *c, uint64_t fetch, uint64_t *did)
{
	struct rename *rn = &c->rn;
	const uint64_t cycle = rn->cycle;
	const uint32_t pos = rn->pos + SLOT_STEP;
	const uint64_t rob = *slot_free(rn, pos - rn->rob_back);
	if (UNLIKELY(max64(max64(fetch + rn->frontend_latency, rob), rn->barrier) > cycle ||
		    cycle >= c->wrong.resolve || (uint16_t)c->sc.free < c->sc.group_room ||
		    pos - c->wrong.rn.pos > c->wrong.most_quick))
		return wrong_slot_waits(c, fetch, did);
	if (cycle != c->sc.walk) {
		scheduler_advance(&c->sc, cycle);
		lsq_advance(c, cycle);
		if (UNLIKELY((uint16_t)c->sc.free < c->sc.group_room))
			return wrong_slot_waits(c, fetch, did);
	}
	const uint32_t used = rn->used + 1;
	const bool full = used >= rn->width;
	rn->pos = pos;
	rn->slot = rn->used;
	rn->used = full ? 0 : used;
	rn->cycle = cycle + full;
	*slot_alloc(rn, pos) = cycle;
	return cycle;
}

/* True while the load ring has room without overwriting right-path entries; otherwise the wrong path ends. */
static inline bool wrong_load_room(const struct core *c)
{
	return c->rn.loads - c->wrong.rn.loads < c->wrong.most_loads;
}

/* The uop, which has a port, waits in the scheduler until it is squashed. */
static inline __attribute__((always_inline)) uint64_t wrong_waits(
	struct core *c, const struct port_choice *choice, unsigned port)
{
	c->wrong.waiting[port]++;
	c->wrong.entries += choice->entry;
	return WRONG_NEVER;
}

/* Dispatches a uop that has entered the scheduler at its port.  A uop that is ready only beyond the scheduler's
 * window waits. */
static inline __attribute__((always_inline)) uint64_t wrong_take(
	struct core *c, const struct port_choice *choice, unsigned port, uint64_t ready)
{
	struct scheduler *s = &c->sc;
	if (ready >= c->wrong.reach)
		return wrong_waits(c, choice, port);
	unsigned used = s->used[ready & (SCHED_WINDOW - 1)];
	if (used >> port & 1) {
		ready = scheduler_behind(s, port, ready);
		if (UNLIKELY(ready >= c->wrong.resolve))
			return wrong_waits(c, choice, port);
		used = s->used[ready & (SCHED_WINDOW - 1)];
	}
	s->used[ready & (SCHED_WINDOW - 1)] = (uint16_t)(used | 1u << port);
	return ready;
}

/* The same; the uop may have no port. */
static inline uint64_t wrong_take_any(struct core *c, const struct port_choice *choice, unsigned port, uint64_t ready)
{
	return LIKELY(port < SCHED_PORTS) ? wrong_take(c, choice, port, ready) :
		ready < c->wrong.resolve ? ready : WRONG_NEVER;
}

/* Returns false if the load needs a page walk, and page walks wait until the branch resolves
 * (wrong_path.walks). */
static inline bool wrong_translated(const struct core *c, uint64_t addr, uint32_t size)
{
	return LIKELY(c->wrong.walks) ||
		(memsys_translated(c->mem, addr) && memsys_translated(c->mem, addr + size - (size > 0)));
}

/* As lsq_load_quick. */
static inline __attribute__((always_inline)) uint64_t wrong_load_quick(struct core *c, const struct port_choice *choice,
	uint64_t ip, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, bool vector, uint64_t *did,
	uint64_t *dispatch)
{
	struct lsq *q = &c->q;
	if (UNLIKELY((q->addr_known > ready && q->mdp[ip & (MDP_ENTRIES - 1)] < q->mdp_limit) || size > SQ_INDEXED ||
		    q->tail - q->big < q->sb_size))
		return wrong_load(c, choice, ip, addr, size, port, ready, vector, did, dispatch);
	const uint64_t at = *dispatch = wrong_take(c, choice, port, ready);
	if (at == WRONG_NEVER)
		return at;
	if (UNLIKELY(!lsq_clear(q, addr, size, at)))
		return wrong_load_taken(c, ip, addr, size, at, vector, did);
	if (!wrong_translated(c, addr, size))
		return WRONG_NEVER;
	struct mem_result r = { 0, 0 };
	memsys_load(c->mem, ip, addr, size, at, vector, &r);
	*did |= r.did;
	return max64(r.ready, at + 1);
}

/* The slot's loads, from number `first` on, hold their entries until the branch resolves.  Its reorder-buffer
 * entry is never looked at (most_quick). */
static inline void wrong_slot_done(struct core *c, uint32_t first)
{
	struct rename *rn = &c->rn;
	for (uint32_t i = first; i != rn->loads; i++)
		rn->lb[i & (LOAD_RING - 1)] = c->wrong.resolve;
}
#endif
