/* SPDX-License-Identifier: GPL-2.0-or-later
 * The wrong path, second half: the core executes what was walked (walker.h) until the branch resolves, then forgets it.
 *
 * Models: its slots go the very way of others (step.h, core.c's run_insn, with `wrong`): front end, allocation, ports, caches, TLB, prefetchers,
 * with their stalls; it ends with the slot that would be allocated at the branch's resolve cycle or later.  A uop that would be
 * dispatched then or later takes no port and makes no access; it keeps its scheduler entry until then.  Stores enter the store queue
 * and forward, and are never written.  At the resolve cycle all entries are free, registers are ready as they were behind the branch,
 * and fetch is redirected.  Caches, TLB, prefetchers, uop cache, trace cache, and ports up to that cycle keep what happened.
 * Records say squashed: no RETIRED, `retire` the resolve cycle, stages that were not reached UINT32_MAX.
 * Leaves out: what is fetched and not allocated until then leaves no trace, nor is it waited for; memory-order clears and the training of
 * the disambiguation, L1D banks, loads that become the stored register, pieces of registers (partial_regs.h), of the wrong path.
 */
#ifndef CORE_WRONGPATH_H
#define CORE_WRONGPATH_H
#include "core/backend/lsq.h"
#include "core/backend/rename.h"

#define WRONG_NEVER (UINT64_C(1) << 62)	/* a cycle; added to, it stays one */

/* As wrong_slot, where something is to be waited for. */
uint64_t wrong_slot_waits(struct core *c, uint64_t fetch, uint64_t *did);
/* A uop of a slot allocated at `from` has to wait until `until`; false: that is too late. */
bool wrong_may_wait(struct core *c, unsigned run, enum spmu_signal signal, uint64_t from, uint64_t until);
uint64_t wrong_store_room(struct core *c);
uint64_t wrong_wait_entry(struct core *c, const struct port_choice *choice, uint64_t alloc, uint64_t *did);
/* Before lsq_store. */
void wrong_log_store(struct core *c, uint64_t addr, uint32_t size);
/* As lsq_load; *dispatch WRONG_NEVER: it does not go. */
uint64_t wrong_load(struct core *c, const struct port_choice *choice, uint64_t ip, uint64_t addr, uint32_t size, unsigned port,
                    uint64_t ready, bool vector, uint64_t *did, uint64_t *dispatch);
/* The same, dispatched at `at`. */
uint64_t wrong_load_taken(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, uint64_t at, bool vector, uint64_t *did);
uint64_t wrong_take_unit(struct core *c, const struct port_choice *choice, unsigned port, uint64_t ready, unsigned unit, unsigned busy);
/* The rest of a wrong path of which no records are wanted but of branches, from the step at w on: nothing of it is allocated early enough to be
 * dispatched.  Returns the word where it ended. */
const uint64_t *wrong_late(struct core *c, const uint64_t *w);
/* If wrong_wanted. */
void wrong_record(struct core *c, uint64_t ip, uint64_t is, unsigned port, uint32_t size, uint64_t did, uint64_t addr, uint64_t fetch,
                  uint64_t alloc, uint64_t ready, uint64_t dispatch, uint64_t complete);

static inline bool wrong_wanted(const struct core *c, uint64_t is, uint64_t did)
{
	return (is & c->e.wanted_is) | (did & c->e.wanted_did);
}

/* Allocates a slot that was delivered at `fetch`; WRONG_NEVER: not before the branch resolves. */
static inline __attribute__((always_inline)) uint64_t wrong_slot(struct core *c, uint64_t fetch, uint64_t *did)
{
	struct rename *rn = &c->rn;
	const uint64_t cycle = rn->cycle;
	const uint32_t pos = rn->pos + SLOT_STEP;
	const uint64_t rob = *slot_free(rn, pos - rn->rob_back);
	if (UNLIKELY(max64(max64(fetch + rn->frontend_latency, rob), rn->barrier) > cycle || cycle >= c->wrong.resolve ||
	             (uint16_t)c->sc.free < c->sc.group_room || pos - c->wrong.rn.pos > c->wrong.most_quick))
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

/* A load can be told apart from those of the right path; else it does not come any more. */
static inline bool wrong_load_room(const struct core *c)
{
	return c->rn.loads - c->wrong.rn.loads < c->wrong.most_loads;
}

/* The uop, which has a port, waits in the scheduler until it is thrown away. */
static inline __attribute__((always_inline)) uint64_t wrong_waits(struct core *c, const struct port_choice *choice, unsigned port)
{
	c->wrong.waiting[port]++;
	c->wrong.entries += choice->entry;
	return WRONG_NEVER;
}

/* Dispatch of a uop that was entered at its port.  One that is ready beyond the scheduler's window waits. */
static inline __attribute__((always_inline)) uint64_t wrong_take(struct core *c, const struct port_choice *choice, unsigned port, uint64_t ready)
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

/* The same; it may have none. */
static inline uint64_t wrong_take_any(struct core *c, const struct port_choice *choice, unsigned port, uint64_t ready)
{
	return LIKELY(port < SCHED_PORTS) ? wrong_take(c, choice, port, ready) : ready < c->wrong.resolve ? ready : WRONG_NEVER;
}

/* False: the load's page would have to be looked for in the page tables, and that waits until the branch resolves. */
static inline bool wrong_translated(const struct core *c, uint64_t addr, uint32_t size)
{
	return LIKELY(c->wrong.walks) || (memsys_translated(c->mem, addr) && memsys_translated(c->mem, addr + size - (size > 0)));
}

/* As lsq_load_quick. */
static inline __attribute__((always_inline)) uint64_t
wrong_load_quick(struct core *c, const struct port_choice *choice, uint64_t ip, uint64_t addr, uint32_t size, unsigned port,
                 uint64_t ready, bool vector, uint64_t *did, uint64_t *dispatch)
{
	struct lsq *q = &c->q;
	if (UNLIKELY((q->addr_known > ready && q->mdp[ip & (MDP_ENTRIES - 1)] < q->mdp_limit) || size > SQ_INDEXED || q->tail - q->big < q->sb_size))
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

/* The slot being allocated holds its entries until the branch resolves; that of the reorder buffer nobody looks at (most_quick).
 * first: number of its first load. */
static inline void wrong_slot_done(struct core *c, uint32_t first)
{
	struct rename *rn = &c->rn;
	for (uint32_t i = first; i != rn->loads; i++)
		rn->lb[i & (LOAD_RING - 1)] = c->wrong.resolve;
}
#endif
