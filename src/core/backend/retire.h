/* SPDX-License-Identifier: GPL-2.0-or-later
 * Retirement: the last stage of a slot on the right path.
 *
 * Models: slots retire in program order, retire.width a cycle, retire.latency cycles after their last uop has
 * completed.  A slot that retires frees its entries of the reorder buffer and the load buffer, and its integer
 * registers (prf.integer), from the next cycle on; its stores may then be written to L1D (lsq.h).
 * Leaves out: that hardware threads take turns to retire (smt.h).  Slots of a wrong path never come here.
 */
#ifndef CORE_RETIRE_H
#define CORE_RETIRE_H
#include "core/backend/rename.h"

/* The next slot in program order completes at `done`.  Returns the cycle in which it retires, which becomes the
 * core's `now`. */
static inline uint64_t retire_at(struct core *c, uint64_t done)
{
	uint64_t next = max64((done + c->retire_latency) << RETIRE_SHIFT, c->retire_next);
	if (UNLIKELY((next & ((1 << RETIRE_SHIFT) - 1)) == c->retire_width)) {
		/* keeps this a branch, which the host predicts; else GCC computes both values and selects one */
		__asm__("");
		next = (next | ((1 << RETIRE_SHIFT) - 1)) + 1;
	}
	uint64_t retire = next >> RETIRE_SHIFT;
	c->retire_next = next + 1;
	c->e.now = retire;
	*slot_free(&c->rn, c->rn.pos) = retire + 1;
	return retire;
}

/* The slot that began with load number `first` retires: its load-buffer entries are free. */
static inline void retire_loads(struct rename *rn, uint32_t first, uint64_t retire)
{
	for (uint32_t i = first; i != rn->loads; i++)
		rn->lb[i & (LOAD_RING - 1)] = retire + 1;
}

/* The stores of the slot in the store queue, from lsq.slot_tail on, retire. */
static inline void retire_stores(struct lsq *q, uint64_t retire)
{
	for (uint32_t n = q->slot_tail; n != q->tail; n++)
		q->store[n & q->mask].retire = retire;
}
#endif
