/* SPDX-License-Identifier: GPL-2.0-or-later
 * Delivery and allocation of wrong-path slots that go the short way (slot.h).
 *
 * These slots do the same as frontend_slot and wrong_slot, but keep the positions of delivery and allocation in
 * struct wrong_lead, which the compiler holds in registers from slot to slot.  wrong_leave writes the positions
 * back before anything else may read or change them; wrong_enter reads them again.
 */
#ifndef CORE_WRONG_LEAD_H
#define CORE_WRONG_LEAD_H
#include "core/script/block_plan.h"
#include "core/wrongpath/wrongpath.h"

struct wrong_lead {
	uint64_t delivery;		/* frontend.cycle */
	uint64_t cycle;			/* rename.cycle */
	uint32_t room;			/* frontend.room */
	uint32_t used, pos;		/* rename.used, rename.pos */
};

static inline __attribute__((always_inline)) void wrong_enter(const struct core *c, struct wrong_lead *l)
{
	l->delivery = c->fe.cycle;
	l->room = c->fe.room;
	l->cycle = c->rn.cycle;
	l->used = c->rn.used;
	l->pos = c->rn.pos;
}

static inline __attribute__((always_inline)) void wrong_leave(struct core *c, const struct wrong_lead *l)
{
	c->fe.cycle = l->delivery;
	c->fe.room = l->room;
	c->rn.cycle = l->cycle;
	c->rn.used = l->used;
	c->rn.pos = l->pos;
}

/* The front end comes to the instruction of step s, as in frontend_insn. */
static inline __attribute__((always_inline)) void wrong_fetch(
	struct core *c, struct wrong_lead *l, const struct step *s)
{
	const uint64_t offset = s->ip - c->fe.base;
	if (UNLIKELY(offset > 63 || !(c->fe.mask >> offset & 1))) {
		wrong_leave(c, l);
		frontend_enter(c, s->in, s->ip, s->flags & STEP_WIDE);
		wrong_enter(c, l);
	}
}

/* Returns the cycle in which the next slot enters the uop queue, as frontend_slot. */
static inline __attribute__((always_inline)) uint64_t wrong_deliver(struct core *c, struct wrong_lead *l)
{
	const uint64_t taken = *slot_alloc(&c->rn, l->pos + SLOT_STEP - c->fe.idq_back);
	l->delivery += l->room == 0;
	l->room = l->room ? l->room : c->fe.width;
	l->room = taken > l->delivery ? c->fe.width : l->room;
	l->delivery = max64(l->delivery, taken);
	l->room--;
	return l->delivery;
}

/* Allocates a slot that was delivered at `fetch`, as wrong_slot.  *slot: its number in its cycle of allocation
 * (rename.slot).  Returns false if the branch resolves first. */
static inline __attribute__((always_inline)) bool
wrong_allocate(struct core *c, struct wrong_lead *l, uint64_t fetch, uint64_t *alloc, uint32_t *slot, uint64_t *did)
{
	struct rename *rn = &c->rn;
	struct scheduler *sc = &c->sc;
	const uint32_t pos = l->pos + SLOT_STEP;
	*slot = l->used;
	*alloc = l->cycle;
	bool waits =
		max64(max64(fetch + rn->frontend_latency, *slot_free(rn, pos - rn->rob_back)), rn->barrier) > *alloc ||
		pos - c->wrong.rn.pos > c->wrong.most_quick;
	if (LIKELY(!waits) && *alloc != sc->walk) {
		waits = *alloc >= c->wrong.resolve || (uint16_t)sc->free < sc->group_room;
		if (LIKELY(!waits)) {
			scheduler_advance(sc, *alloc);
			lsq_advance(c, *alloc);
		}
	}
	if (UNLIKELY(waits || (uint16_t)sc->free < sc->group_room)) {
		uint64_t bits = *did;
		wrong_leave(c, l);
		*alloc = wrong_slot_waits(c, fetch, &bits);
		*did = bits;
		*slot = rn->slot;
		wrong_enter(c, l);
		return *alloc != WRONG_NEVER;
	}
	const bool full = l->used + 1 >= rn->width;
	l->pos = pos;
	l->used = full ? 0 : l->used + 1;
	l->cycle = *alloc + full;
	*slot_alloc(rn, pos) = *alloc;
	return true;
}
#endif
