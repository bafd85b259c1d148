/* SPDX-License-Identifier: GPL-2.0-or-later
 * Load and store queues: store buffer, forwarding, memory disambiguation, locked operations.
 *
 * Models: stores leave in order after retirement, `store.commit_width` a cycle, each asking for its line when it has
 * retired (so that misses of neighbouring stores overlap) and written only behind the store before it.  A load takes its
 * data from the youngest older store that overlaps it, if that holds all of it; otherwise it waits until that
 * store is written.  A store whose low 12 address bits overlap the load's delays it (4K aliasing).
 * Loads wait for older stores of unknown address until their instruction has shown often enough that it need not:
 * a saturating counter chosen by the low 8 bits of the instruction's address, 15 and no conflict lets it pass, a conflict clears
 * it (H. Ragab et al., "Rage Against the Machine Clear", USENIX Security 2021, memory disambiguation).  A load that passed a
 * store it depends on: machine clear.
 * Leaves out: the other hardware thread, snoops, split and uncacheable forwarding rules, forwarding from several stores.
 *
 * How: stores are numbered; a ring holds them; a table of the newest store to each 8 bytes (mod 4096) says in one look that
 * there is none.
 */
#ifndef CORE_LSQ_H
#define CORE_LSQ_H
#include "core/pipeline.h"
#include "core/scheduler.h"

void lsq_commit(struct core *c);		/* the oldest store */
uint64_t lsq_drain(struct core *c);		/* all; the cycle at which the last was written */
uint64_t lsq_load(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, bool vector,
                  uint64_t *did, uint64_t *dispatch);
void lsq_lock_done(struct core *c);
struct store *lsq_store(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, bool done, bool non_temporal, uint64_t addr_ready);

/* Stores that have retired by `cycle` go on to L1D. */
static inline void lsq_advance(struct core *c, uint64_t cycle)
{
	struct lsq *q = &c->q;
	q->advanced = cycle;
	while (q->head != q->tail && q->store[q->head & q->mask].retire + q->commit_delay <= cycle &&
	       !(q->wants_data && q->head + 1 == q->tail))
		lsq_commit(c);
}

/* Cycle at which a store-buffer entry is free for the next store. */
static inline uint64_t lsq_room(struct core *c)
{
	struct lsq *q = &c->q;
	while (UNLIKELY(q->tail - q->head >= q->sb_size))
		lsq_commit(c);
	return q->store[(q->tail - q->sb_size) & q->mask].commit;
}

/* Stores since the newest one to any of these bytes (mod 4096), or more than there are. */
static inline uint32_t lsq_age(const struct lsq *q, uint64_t addr, uint32_t size)
{
	uint64_t g = addr >> 3, last = (addr + (size - 1)) >> 3;
	uint32_t age = q->tail - q->bucket[g & (SQ_BUCKETS - 1)];
	while (UNLIKELY(g != last)) {
		g = (g + 1) & UINT64_MAX >> 3;
		uint32_t other = q->tail - q->bucket[g & (SQ_BUCKETS - 1)];
		age = other < age ? other : age;
	}
	return age;
}

/* No store in flight at `cycle` or later has to do with these bytes (mod 4096). */
static inline bool lsq_clear(const struct lsq *q, uint64_t addr, uint32_t size, uint64_t cycle)
{
	uint32_t age = lsq_age(q, addr, size), n = q->tail - 1 - age;
	return age >= q->sb_size || ((int32_t)(n - q->head) < 0 && q->store[n & q->mask].commit <= cycle);
}

/* lsq_load for the load that no store concerns: most of them.  One that passes stores of unknown address, its counter being
 * full, and meets none, teaches it nothing. */
static inline __attribute__((always_inline)) uint64_t
lsq_load_quick(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, bool vector,
               uint64_t *did, uint64_t *dispatch)
{
	struct lsq *q = &c->q;
	if (UNLIKELY((q->addr_known > ready && q->mdp[ip & (MDP_ENTRIES - 1)] < q->mdp_limit) || size > SQ_INDEXED ||
	             q->tail - q->big < q->sb_size || !lsq_clear(q, addr, size, ready)))
		return lsq_load(c, ip, addr, size, port, ready, vector, did, dispatch);
	struct mem_result r = { 0, 0 };
	uint64_t at = LIKELY(port < SCHED_PORTS) ? scheduler_take(&c->sc, port, ready) : ready;
	*dispatch = at;
	memsys_load(c->mem, ip, addr, size, at, vector, &r);
	*did |= r.did;
	return max64(r.ready, at + 1);
}
#endif
