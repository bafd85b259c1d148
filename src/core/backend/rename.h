/* SPDX-License-Identifier: GPL-2.0-or-later
 * Rename and allocation: issue width, reorder buffer, load buffer, stalls and bubbles.
 *
 * Models: so many slots a cycle, in order; a reorder-buffer entry a slot, a load-buffer entry a load (rings of the
 * cycles at which entries are given back), scheduler entries (scheduler.h; with rs.group one for each slot before a cycle's first
 * goes: A. Abel, J. Reineke, "uiCA", ICS 2022), slots that begin a cycle's group, store-buffer entries (lsq.h).
 * IDQ_BUBBLE counts the slots that stay empty while the front end has nothing and nothing else stops allocation;
 * each RESOURCE_STALL_* covers the cycles in which a slot that has been delivered waits for that resource.
 * Between a mispredicted branch and its recovery no slot is accounted for: on the machine the wrong path is there.
 * A uop with a result in a general register takes an integer register (prf.integer): the one that is free again when it retires is that of the result before it, so
 * that a ring of results tells when there is one; what rename does itself takes none.  A stall for want of one counts as one of the reorder buffer.
 * What rename does itself: eliminate.h, partial_regs.h.  Leaves out: physical registers of vectors and flags, what results on a wrong path take, and that hardware
 * threads share the file.
 */
#ifndef CORE_RENAME_H
#define CORE_RENAME_H
#include "core/frontend/frontend.h"
#include "core/backend/lsq.h"
#include "core/backend/scheduler.h"

uint64_t rename_wait(struct core *c, uint64_t delivered, uint64_t rob, uint64_t *did);
uint64_t rename_group(struct core *c, uint64_t cycle, uint64_t *did);
uint64_t rename_stall(struct core *c, enum spmu_signal signal, uint64_t from, uint64_t until);
/* The scheduler has no entry for a uop of the slot that is allocated at `alloc`: waits for one.  Returns the slot's new cycle. */
uint64_t rename_wait_entry(struct core *c, const struct port_choice *choice, uint64_t alloc, uint64_t *did);

/* Allocates a slot that was delivered at `fetch`. */
static inline __attribute__((always_inline)) uint64_t rename_slot(struct core *c, uint64_t fetch, uint64_t *did)
{
	struct rename *rn = &c->rn;
	uint64_t cycle = rn->cycle, delivered = fetch + rn->frontend_latency, rob;
	uint32_t pos = rn->pos += SLOT_STEP;
	rob = *slot_free(rn, pos - rn->rob_back);
	if (max64(max64(delivered, rob), rn->barrier) > cycle)
		cycle = rename_wait(c, delivered, rob, did);
#if CORE_SMT
	if (UNLIKELY(c->st != NULL)) {
		uint64_t own = smt_allocates(c, cycle);
		rn->used = own != cycle ? 0 : rn->used;
		cycle = rn->cycle = own;
	}
#endif
	if (cycle != c->sc.walk) {
		scheduler_advance(&c->sc, cycle);
		lsq_advance(c, cycle);
	}
	if (UNLIKELY((uint16_t)c->sc.free < c->sc.group_room))
		cycle = rename_group(c, cycle, did);
	rn->slot = rn->used;
	uint32_t used = rn->used + 1;
	bool full = used >= rn->width;
	rn->used = full ? 0 : used;
	rn->cycle = cycle + full;
	*slot_alloc(rn, pos) = cycle;
	return cycle;
}

/* The next slot is the first of its cycle. */
static inline void rename_new_group(struct core *c)
{
	c->rn.cycle += c->rn.used != 0;
	c->rn.used = 0;
}

/* The load-buffer entry of the next load: holds the cycle from which it is free. */
static inline uint64_t *rename_load(struct core *c)
{
	struct rename *rn = &c->rn;
	uint32_t load = rn->loads++;
	uint64_t *lb = &rn->lb[load & (LOAD_RING - 1)];
	*lb = rn->lb[(load - rn->lb_size) & (LOAD_RING - 1)];
	return lb;
}

/* Takes an integer register for the uop that is allocated at `alloc`; returns when it is, for there may be none before. */
static inline uint64_t rename_result(struct core *c, uint64_t alloc, uint64_t *did)
{
	struct rename *rn = &c->rn;
	uint32_t result = rn->results++;
	uint64_t free = rn->prf[(result - rn->prf_size) & (RESULT_RING - 1)];
	if (free <= alloc)
		return alloc;
	*did |= SPMU_DID(STALL_ROB);
	return rename_stall(c, SPMU_SIG_RESOURCE_STALL_ROB, alloc, free);
}

/* The slot whose results since number `first` these are retires. */
static inline void rename_results_done(struct rename *rn, uint32_t first, uint64_t retire)
{
	for (; first != rn->results; first++)
		rn->prf[first & (RESULT_RING - 1)] = retire + 1;
}
#endif
