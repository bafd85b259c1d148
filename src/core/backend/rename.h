/* SPDX-License-Identifier: GPL-2.0-or-later
 * Rename and allocation: width, reorder buffer, load buffer, stalls and bubbles.
 *
 * Models: alloc.width slots a cycle, in order.  A slot takes a reorder-buffer entry, a load a load-buffer entry
 * (both are rings of the cycles in which entries become free), a uop a scheduler entry (scheduler.h; with
 * rs.group there must be one for each slot of a cycle before the first of them is allocated: A. Abel, J.
 * Reineke, "uiCA", ICS 2022), a store a store-buffer entry (lsq.h).  Some slots begin a new cycle (UOP_GROUP).
 * IDQ_BUBBLE counts the slots that stay empty while the front end has nothing and nothing else stops
 * allocation.  Each RESOURCE_STALL_* covers the cycles in which a delivered slot waits for that resource.  No
 * slot is accounted for between a mispredicted branch and its recovery: on the machine the wrong path is
 * allocated there.
 * A uop with a result in a general register takes an integer register (prf.integer).  When it retires, the
 * register of the result before it becomes free, so a ring of results tells when there is one.  What rename
 * does itself takes none.  A stall for want of a register counts as a stall of the reorder buffer.
 * What rename does itself: eliminate.h, partial_regs.h.
 * Leaves out: physical registers of vectors and flags; registers that results on a wrong path take; that
 * hardware threads share the register file.
 */
#ifndef CORE_RENAME_H
#define CORE_RENAME_H
#include "core/frontend/frontend.h"
#include "core/backend/lsq.h"
#include "core/backend/scheduler.h"

uint64_t rename_wait(struct core *c, uint64_t delivered, uint64_t rob, uint64_t *did);
uint64_t rename_group(struct core *c, uint64_t cycle, uint64_t *did);
uint64_t rename_stall(struct core *c, enum spmu_signal signal, uint64_t from, uint64_t until);
/* The scheduler has no entry for a uop of the slot that is allocated at `alloc`: waits for one.  Returns the
 * slot's new cycle. */
uint64_t rename_wait_entry(struct core *c, const struct port_choice *choice, uint64_t alloc, uint64_t *did);

/* Nothing is allocated before cycle `until`: an instruction serialises. */
static inline void rename_serialize(struct rename *rn, uint64_t until)
{
	rn->barrier = max64(rn->barrier, until);
	rn->serial = max64(rn->serial, until);
}

/* Allocates a slot that was delivered at `fetch`.  Returns the cycle; adds to *did what it waited for. */
static inline __attribute__((always_inline)) uint64_t rename_slot(struct core *c, uint64_t fetch, uint64_t *did)
{
	struct rename *rn = &c->rn;
	uint64_t cycle = rn->cycle, delivered = fetch + rn->frontend_latency, rob;
	uint32_t pos = rn->pos += SLOT_STEP;
	rob = *slot_free(rn, pos - rn->rob_back);
	if (max64(max64(delivered, rob), rn->barrier) > cycle) {
		uint64_t bits = *did;	/* so that *did need not be in memory */
		cycle = rename_wait(c, delivered, rob, &bits);
		*did = bits;
	}
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
	if (UNLIKELY((uint16_t)c->sc.free < c->sc.group_room)) {
		uint64_t bits = *did;
		cycle = rename_group(c, cycle, &bits);
		*did = bits;
	}
	rn->slot = rn->used;
	uint32_t used = rn->used + 1;
	bool full = used >= rn->width;
	rn->used = full ? 0 : used;
	rn->cycle = cycle + full;
	*slot_alloc(rn, pos) = cycle;
	return cycle;
}

/* Looks whether the slots behind the one that was just allocated wait for nothing but their delivery: those for which
 * there is room in its cycle, if the last of them finds its entries of the uop queue and the reorder buffer free; those
 * before it then do, too.  Whatever moves allocation sets rename.quick to 0. */
static inline __attribute__((always_inline)) void rename_look(struct core *c)
{
	struct rename *rn = &c->rn;
	const uint32_t n = rn->width - rn->used, pos = rn->pos + n * SLOT_STEP;
	const bool free = *slot_alloc(rn, pos - c->fe.idq_back) <= c->fe.cycle &&
		max64(*slot_free(rn, pos - rn->rob_back), rn->barrier) <= rn->cycle;
	rn->quick_until = rn->cycle - rn->frontend_latency;
	rn->quick = rn->used && free && c->sc.walk == rn->cycle && !rn->never_quick ? n : 0;
}

/* Delivers and allocates the next slot, if it is one of these and is delivered in time.  Returns false if it is not. */
static inline __attribute__((always_inline)) bool rename_quick(struct core *c, uint64_t *alloc)
{
	struct rename *rn = &c->rn;
	struct frontend *fe = &c->fe;
	const uint32_t room = fe->room, used = rn->used + 1;
	const uint64_t cycle = rn->cycle, fetch = fe->cycle + !room;
	if (!rn->quick || fetch > rn->quick_until)
		return false;
	const bool full = used >= rn->width;
	fe->cycle = fetch;
	fe->room = (room ? room : fe->width) - 1;
	rn->quick--;
	rn->pos += SLOT_STEP;
	rn->slot = rn->used;
	rn->used = full ? 0 : used;
	rn->cycle = cycle + full;
	*slot_alloc(rn, rn->pos) = *alloc = cycle;
	return true;
}

/* The next slot will be the first of its cycle. */
static inline void rename_new_group(struct core *c)
{
	c->rn.cycle += c->rn.used != 0;
	c->rn.used = 0;
}

/* Takes the load-buffer entry of the next load.  The result holds the cycle from which it is free. */
static inline uint64_t *rename_load(struct core *c)
{
	struct rename *rn = &c->rn;
	uint32_t load = rn->loads++;
	uint64_t *lb = &rn->lb[load & (LOAD_RING - 1)];
	*lb = rn->lb[(load - rn->lb_size) & (LOAD_RING - 1)];
	return lb;
}

/* Takes an integer register for the uop that is allocated at `alloc`.  Returns the new cycle of allocation: the
 * uop may have to wait for a register. */
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

/* The slot retires whose results are those from number `first` on. */
static inline void rename_results_done(struct rename *rn, uint32_t first, uint64_t retire)
{
	for (; first != rn->results; first++)
		rn->prf[first & (RESULT_RING - 1)] = retire + 1;
}
#endif
