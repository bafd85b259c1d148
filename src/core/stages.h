/* SPDX-License-Identifier: GPL-2.0-or-later
 * The stages of a slot that all ways through the pipeline share: the short way (slot.h) and the general way
 * (general.c), on the right path and on the wrong path.
 *
 * Each function is one stage, or one piece of it.  What differs between the ways is in struct way, whose
 * members are constants wherever these functions are inlined, so that each way gets code of its own without a
 * test at run time.
 * A stage that returns false ends the wrong path: the slot cannot go on before the mispredicted branch
 * resolves.  On the right path every stage returns true.
 */
#ifndef CORE_STAGES_H
#define CORE_STAGES_H
#include "core/backend/bypass.h"
#include "core/backend/lsq.h"
#include "core/backend/rename.h"
#include "core/script/script.h"
#include "core/wrongpath/wrong_lead.h"
#include "core/wrongpath/wrongpath.h"

#define STAGE static inline __attribute__((always_inline))

enum { PORT_NONE = 255 };

struct way {
	bool wrong; /* the slot is on the wrong path (wrongpath.h): it may have to end, and does not retire */
	bool lead;  /* wrong path, short way: struct wrong_lead holds the positions of delivery and allocation */
	bool quiet;		/* consumers want records of branches only */
	bool watch;		/* loads are remembered until they retire (clears.h) */
	bool results;		/* right path: the core may have prf.integer */
};

struct allocated {		/* a slot that has been allocated, as the uop at hand sees it */
	uint64_t alloc;		/* the cycle */
	uint64_t did;		/* the uop's record's bits so far */
	uint32_t slot;		/* with way.lead: as rename.slot */
};

/* --- allocation --- */

/* The slot waits for a buffer entry that is free in cycle `until`. */
STAGE bool stage_stall(struct core *c, const struct way way, struct wrong_lead *l, unsigned run,
	enum spmu_signal signal, uint64_t until, struct allocated *x)
{
	if (way.wrong && !wrong_may_wait(c, run, signal, x->alloc, until))
		return false;
	if (way.lead)
		wrong_leave(c, l);
	x->alloc = rename_stall(c, signal, x->alloc, until);
	if (way.lead) {
		wrong_enter(c, l);
		x->slot = 0;
	}
	return true;
}

/* Takes a load-buffer entry: *lb, which gets the cycle from which it is free again. */
STAGE bool stage_load_buffer(
	struct core *c, const struct way way, struct wrong_lead *l, struct allocated *x, uint64_t **lb)
{
	if (way.wrong && UNLIKELY(!wrong_load_room(c)))
		return false;
	const uint64_t free = *(*lb = rename_load(c));
	if (UNLIKELY(free > x->alloc)) {
		if (!stage_stall(c, way, l, RUN_LB, SPMU_SIG_RESOURCE_STALL_LB, free, x))
			return false;
		x->did |= SPMU_DID(STALL_LB);
	}
	return true;
}

/* Waits until a store-buffer entry is free; stage_store takes it. */
STAGE bool stage_store_buffer(struct core *c, const struct way way, struct wrong_lead *l, struct allocated *x)
{
	const uint64_t free = way.wrong ? wrong_store_room(c) : lsq_room(c);
	if (UNLIKELY(free > x->alloc)) {
		if (!stage_stall(c, way, l, RUN_SB, SPMU_SIG_RESOURCE_STALL_SB, free, x))
			return false;
		x->did |= SPMU_DID(STALL_SB);
	}
	return true;
}

/* Waits until the scheduler of these ports has an entry for the uop; scheduler_enter takes it. */
STAGE bool stage_scheduler(struct core *c, const struct way way, struct wrong_lead *l, const struct port_choice *choice,
                           struct allocated *x)
{
	if (LIKELY(!scheduler_full(&c->sc, choice)))
		return true;
	uint64_t did = x->did;
	if (way.lead)
		wrong_leave(c, l);
	x->alloc =
		way.wrong ? wrong_wait_entry(c, choice, x->alloc, &did) : rename_wait_entry(c, choice, x->alloc, &did);
	if (way.lead) {
		x->slot = c->rn.slot;
		wrong_enter(c, l);
	}
	x->did = did;
	return !way.wrong || x->alloc != WRONG_NEVER;
}

/* Chooses the uop's port.  one: likely only one port can take it, so that is worth a test of its own. */
STAGE unsigned stage_port(struct core *c, const struct way way, const struct port_choice *choice, bool load, bool one,
                          const struct allocated *x)
{
	return load ? scheduler_load_port(&c->sc, choice) : one && choice->count == 1 ? choice->port[0] :
		scheduler_port(&c->sc, choice, way.lead ? x->slot : c->rn.slot);
}

/* --- dispatch and results --- */

/* Returns the cycle in which the uop, which waits at `port` and is ready at `ready`, is dispatched;
 * WRONG_NEVER: not before the branch resolves. */
STAGE uint64_t stage_dispatch(
	struct core *c, const struct way way, const struct port_choice *choice, unsigned port, uint64_t ready)
{
	return way.wrong ? wrong_take(c, choice, port, ready) : scheduler_take(&c->sc, port, ready);
}

/* The result of a uop of this domain (bypass.h, scheduler.h), which went to `port`. */
STAGE void stage_bypass(
	struct core *c, const uint8_t *dst, unsigned domain, unsigned port, uint64_t dispatch, uint64_t complete)
{
	bypass_result(c, dst, domain, port, complete);
	if (UNLIKELY(domain & DOMAIN_SLOW) && port < SCHED_PORTS && dispatch != WRONG_NEVER)
		scheduler_slow(&c->sc, port, dispatch);
}

/* A store's address uop was dispatched and would complete at *complete: translates its address, and enters the
 * store into the store queue.  access: it was executed, to these bytes.  weak: it is non-temporal.  named: enum
 * uop_load.  Returns the store. */
STAGE struct store *stage_store(struct core *c, const struct way way, uint64_t ip, uint64_t addr, uint32_t size,
	bool access, bool weak, uint32_t named, uint64_t dispatch, uint64_t *complete, uint64_t *did)
{
	if (LIKELY(access) && !(way.wrong && dispatch == WRONG_NEVER)) {
		struct mem_result r = { 0, 0 };
		memsys_store_translate(c->mem, addr, size, dispatch, &r);
		*complete = max64(*complete, r.ready);
		*did |= r.did;
	}
	if (way.wrong)
		wrong_log_store(c, addr, size);
	struct store *st = lsq_store(c, ip, addr, size, access, weak, *complete - 1);
	if (UNLIKELY(c->q.rename_stores))
		lsq_store_address(c, st, named);
	if (way.wrong)
		st->retire = WRONG_NEVER;
	return st;
}

/* The store's data uop, whose operand was ready at `ready`, completes. */
STAGE void stage_store_data(struct core *c, struct store *st, uint64_t ready, uint64_t complete)
{
	c->q.given[st - c->q.store] = ready;
	st->data_ready = max64(st->data_ready, complete);
}

/* The uop's registers are ready at `cycle`. */
STAGE void stage_result(struct core *c, const uint8_t dst[3], uint64_t cycle)
{
	c->reg[dst[0]] = c->reg[dst[1]] = c->reg[dst[2]] = cycle;
}

/* A branch at address `at` was executed, and completes at `complete`: steers the front end.  br: the branch,
 * which is read only if something unusual happened; word: its word in the script (script.h); went: where it
 * went.  Returns its record's bits. */
STAGE uint64_t stage_branch(struct core *c, const struct way way, struct wrong_lead *l, const struct insn *br,
	uint64_t at, uint64_t word, uint64_t went, uint64_t complete)
{
	uint64_t did = 0;
	if (LIKELY(!(word & SCRIPT_UNUSUAL))) {
		if (!script_says(word, SCRIPT_TAKEN))
			return 0;
		did = SPMU_DID(TAKEN);
		frontend_elsewhere(c);
		if (!frontend_loop_way(c, at, went))
			return did;
		if (way.lead)
			wrong_leave(c, l);
		frontend_loop(c, at, went);
	} else {
		if (way.lead)
			wrong_leave(c, l);
		did = frontend_branch_unusual(c, br, word, went, complete);
	}
	if (way.lead) {
		l->delivery = c->fe.cycle;
		l->room = c->fe.room;
	}
	return did;
}
#endif
