/* SPDX-License-Identifier: GPL-2.0-or-later
 * The short way of a slot of the wrong path (wrongpath.h): what step.h does for the right path, up to the resolve cycle and without
 * retirement.
 *
 * How: where delivery and allocation are is kept in a struct of its own, which the compiler holds in registers from step to step, and is
 * put back before whatever else may read or write it (wrong_leave).  From the cycle on in which a uop is allocated so late that it cannot be
 * dispatched before the resolve cycle, slots take entries and nothing else (wrong_late): which port a uop would wait for shows in its record alone.  All slots but the reorder buffer's first are free at the resolve cycle,
 * and the wrong path has fewer than that, so that their entries of the ring are never asked for.
 */
#ifndef CORE_WRONGSTEP_H
#define CORE_WRONGSTEP_H
#include "core/step.h"
#include "core/wrongpath/wrongpath.h"

struct wrong_lead {		/* copies: of struct frontend, of struct rename */
	uint64_t delivery, cycle;
	uint32_t room, used, pos;
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

/* As rename_stall, if that is not too late. */
static inline __attribute__((always_inline)) bool
wrong_stall(struct core *c, struct wrong_lead *l, unsigned run, enum spmu_signal signal, uint64_t until, uint64_t *alloc)
{
	if (!wrong_may_wait(c, run, signal, *alloc, until))
		return false;
	wrong_leave(c, l);
	*alloc = rename_stall(c, signal, *alloc, until);
	wrong_enter(c, l);
	return true;
}

/* The step's instruction is the next to be fetched. */
static inline __attribute__((always_inline)) void wrong_fetch(struct core *c, struct wrong_lead *l, const struct step *s)
{
	const uint64_t offset = s->ip - c->fe.base;
	if (UNLIKELY(offset > 63 || !(c->fe.mask >> offset & 1))) {
		wrong_leave(c, l);
		frontend_enter(c, s->in, s->ip, s->flags & STEP_WIDE);
		wrong_enter(c, l);
	}
}

/* As frontend_slot. */
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

/* As wrong_slot; false: not before the branch resolves. */
static inline __attribute__((always_inline)) bool
wrong_allocate(struct core *c, struct wrong_lead *l, uint64_t fetch, uint64_t *alloc, uint32_t *slot, uint64_t *did)
{
	struct rename *rn = &c->rn;
	struct scheduler *sc = &c->sc;
	const uint32_t pos = l->pos + SLOT_STEP;
	*slot = l->used;
	*alloc = l->cycle;
	bool waits = max64(max64(fetch + rn->frontend_latency, *slot_free(rn, pos - rn->rob_back)), rn->barrier) > *alloc ||
	             pos - c->wrong.rn.pos > c->wrong.most_quick;
	if (LIKELY(!waits) && *alloc != sc->walk) {
		waits = *alloc >= c->wrong.resolve || (uint16_t)sc->free < sc->group_room;
		if (LIKELY(!waits)) {
			scheduler_advance(sc, *alloc);
			lsq_advance(c, *alloc);
		}
	}
	if (UNLIKELY(waits || (uint16_t)sc->free < sc->group_room)) {
		wrong_leave(c, l);
		*alloc = wrong_slot_waits(c, fetch, did);
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

/* The load-buffer entry of a load; NULL: not before the branch resolves. */
static inline __attribute__((always_inline)) uint64_t *
wrong_load_entry(struct core *c, struct wrong_lead *l, uint64_t *alloc, uint32_t *slot, uint64_t *did)
{
	if (UNLIKELY(!wrong_load_room(c)))
		return NULL;
	uint64_t *lb = rename_load(c);
	if (UNLIKELY(*lb > *alloc)) {
		if (!wrong_stall(c, l, RUN_LB, SPMU_SIG_RESOURCE_STALL_LB, *lb, alloc))
			return NULL;
		*did |= SPMU_DID(STALL_LB);
		*slot = 0;
	}
	return lb;
}

/* Likewise the store buffer's; false: not before. */
static inline __attribute__((always_inline)) bool
wrong_store_entry(struct core *c, struct wrong_lead *l, uint64_t *alloc, uint32_t *slot, uint64_t *did)
{
	const uint64_t free = wrong_store_room(c);
	if (UNLIKELY(free > *alloc)) {
		if (!wrong_stall(c, l, RUN_SB, SPMU_SIG_RESOURCE_STALL_SB, free, alloc))
			return false;
		*did |= SPMU_DID(STALL_SB);
		*slot = 0;
	}
	return true;
}

/* A slot that was allocated gets the load buffer's entry of a load, *lb, and the store buffer's of a store; false: not before the branch resolves. */
static inline __attribute__((always_inline)) bool
wrong_places(struct core *c, struct wrong_lead *l, const bool load, const bool store, uint64_t *alloc, uint32_t *slot, uint64_t **lb, uint64_t *did)
{
	return (!load || (*lb = wrong_load_entry(c, l, alloc, slot, did))) && (!store || wrong_store_entry(c, l, alloc, slot, did));
}

/* As eliminate, which asks for slots before this one. */
static inline __attribute__((always_inline)) bool
wrong_eliminate(struct core *c, const struct wrong_lead *l, const struct step *s, uint32_t slot, uint64_t alloc)
{
	c->rn.pos = l->pos;
	c->rn.slot = slot;
	return eliminate(c, s->src[0][0], s->dst[0][0], s->constant, !(s->flags & STEP_ADDS), alloc);
}

/* A scheduler has room for the uop; false: not before the branch resolves. */
static inline __attribute__((always_inline)) bool
wrong_entry(struct core *c, struct wrong_lead *l, const struct port_choice *choice, uint64_t *alloc, uint32_t *slot, uint64_t *did)
{
	if (UNLIKELY(scheduler_full(&c->sc, choice))) {
		wrong_leave(c, l);
		*alloc = wrong_wait_entry(c, choice, *alloc, did);
		*slot = c->rn.slot;
		wrong_enter(c, l);
		return *alloc != WRONG_NEVER;
	}
	return true;
}

/* A scheduler entry and a port; false: it is too late for one. */
static inline __attribute__((always_inline)) bool
wrong_port(struct core *c, struct wrong_lead *l, const struct port_choice *choice, uint32_t *slot, bool load, bool one,
           uint64_t *alloc, uint64_t *did, unsigned *port)
{
	struct scheduler *sc = &c->sc;
	if (!wrong_entry(c, l, choice, alloc, slot, did))
		return false;
	*port = load ? scheduler_load_port(sc, choice) : one && choice->count == 1 ? choice->port[0] : scheduler_port(sc, choice, *slot);
	scheduler_enter(sc, choice, *port);
	return true;
}

/* The branch that the step is, or ends with, was executed.  Returns its record's bits. */
static inline __attribute__((always_inline)) uint64_t
wrong_branched(struct core *c, struct wrong_lead *l, const struct step *s, uint64_t word, uint64_t went, uint64_t complete)
{
	const uint64_t at = s->ip + s->branch_at;
	uint64_t did = SPMU_DID(TAKEN);
	if (LIKELY(!(word & SCRIPT_UNUSUAL))) {
		if (!script_says(word, SCRIPT_TAKEN))
			return 0;
		frontend_elsewhere(c);
		if (LIKELY(!frontend_loop_way(c, at, went)))
			return did;
		wrong_leave(c, l);
		frontend_loop(c, at, went);
	} else {
		wrong_leave(c, l);
		did = step_branched(c, s->in + (s->branch - s->insn), at, word, went, complete);
	}
	l->delivery = c->fe.cycle;
	l->room = c->fe.room;
	return did;
}

struct wrong_begun {
	uint64_t alloc, did, did2;
	uint32_t slot;
};

/* What all kinds begin with (step_begin); false: not before the branch resolves. */
static inline __attribute__((always_inline)) bool
wrong_begin(struct core *c, struct wrong_lead *l, const struct step *s, const bool quiet, unsigned kind, struct wrong_begun *x)
{
	if (LIKELY(s->flags & STEP_FIRST)) {
		wrong_fetch(c, l, s);
		if (!quiet)
			emit_room(&c->e);
	}
	if (quiet && UNLIKELY(c->e.count >= EMIT_LIMIT) && script_is_branch(kind))
		emit_room(&c->e);
	const uint64_t fetch = wrong_deliver(c, l);
	x->did = x->did2 = 0;
	if (!quiet) {
		x->did2 = c->fe.did_path;
		x->did = x->did2 | c->fe.did;
		c->fe.did = 0;
	}
	return wrong_allocate(c, l, fetch, &x->alloc, &x->slot, &x->did);
}

/* What comes behind wrong_begin.  w: the step in its script.  kind: as for step_run; no load becomes a register here.  quiet: no record is wanted but of
 * branches.  False: the wrong path ends here. */
static inline __attribute__((always_inline)) bool
wrong_step(struct core *c, struct wrong_lead *l, const enum step_kind kind, const bool quiet, const uint64_t *w, const struct step *s, const struct wrong_begun *x)
{
	const bool store = kind == STEP_STORE, load = kind >= STEP_LOAD_MORE, load_branch = kind == STEP_LOAD_BRANCH_MORE;
	const bool branch = kind == STEP_BRANCH || load_branch, computes = kind == STEP_LOAD_COMPUTE_MORE, two = computes || load_branch || store;
	const uint64_t addr = load || store ? w[1] : 0, resolve = c->wrong.resolve;
	bool port_less = kind == STEP_ELIMINATED;
	const uint64_t fetch = l->delivery;
	uint64_t is = s->is[0], did = x->did, did2 = quiet ? 0 : x->did2, alloc = x->alloc, *lb = NULL;
	uint32_t slot = x->slot;
	struct rename *rn = &c->rn;
	struct scheduler *sc = &c->sc;

	if (!wrong_places(c, l, load, store, &alloc, &slot, &lb, &did))
		return false;
	if (kind == STEP_RENAME) {
		port_less = wrong_eliminate(c, l, s, slot, alloc);
		is = port_less ? is : (is & ~SPMU_IS(ELIMINATED)) | SPMU_IS(EXEC);
	}

	/* the first uop */
	const struct port_choice *choice = &sc->choice[s->ports[0] & sc->port_mask];
	unsigned port = 255, port2 = 0;
	if (!port_less && !wrong_port(c, l, choice, &slot, load, kind == STEP_BRANCH, &alloc, &did, &port))
		return false;
	uint64_t ready = alloc, dispatch = alloc, complete = alloc, alloc2 = alloc, ready2 = 0, dispatch2 = 0, complete2 = 0;
	struct store *st = NULL;
	if (!port_less)
		ready = max64(step_sources(c, s, 0), alloc + rn->dispatch_delay);
	if (load) {
		ready = max64(ready, c->q.load_floor);
		complete = wrong_load_quick(c, choice, s->ip, addr, s->size, port, ready, s->flags & STEP_VECTOR, &did, &dispatch) + s->latency[0];
	} else if (kind == STEP_COMPUTE_MORE) {
		const unsigned later = bypass_delay(c, s->src[0], s->domain, port, &ready);
		dispatch = wrong_take(c, choice, port, ready);
		complete = dispatch + s->latency[0] + later;
		bypass_result(c, s->dst[0], s->domain, port, complete);
		if (UNLIKELY(s->domain & DOMAIN_SLOW) && dispatch != WRONG_NEVER)
			scheduler_slow(sc, port, dispatch);
	} else if (!port_less) {
		dispatch = wrong_take(c, choice, port, ready);
		complete = dispatch + (store ? 1 : s->latency[0]);
	}
	if (store) {
		struct mem_result r = { 0, 0 };
		if (dispatch != WRONG_NEVER)
			memsys_store_translate(c->mem, addr, s->size, dispatch, &r);
		complete = max64(complete, r.ready);
		did |= r.did;
		wrong_log_store(c, addr, s->size);
		st = lsq_store(c, s->ip, addr, s->size, true, s->flags & STEP_WEAK, complete - 1);
		if (UNLIKELY(c->q.rename_stores))
			lsq_store_address(c, st, s->load);
		c->q.wants_data = false;
		st->retire = WRONG_NEVER;
	} else {
		step_result(c, s, 0, port_less && s->flags & STEP_COPY ? c->reg[s->src[0][0]] : complete);
	}

	/* the second */
	if (two) {
		const struct port_choice *second = &sc->choice[s->ports[1] & sc->port_mask];
		if (!wrong_port(c, l, second, &slot, false, store, &alloc2, &did2, &port2)) {	/* half a slot */
			if (store)
				st->data_ready = WRONG_NEVER;
			if (!quiet && wrong_wanted(c, is, did))
				wrong_record(c, s->ip, is, port, s->size, did, addr, fetch, alloc, ready, dispatch, complete);
			return false;
		}
		ready2 = max64(step_sources(c, s, 1), alloc2 + rn->dispatch_delay);
		const unsigned later = computes && s->domain ? bypass_delay(c, s->src[1], s->domain, port2, &ready2) : 0;
		dispatch2 = wrong_take(c, second, port2, ready2);
		complete2 = dispatch2 + s->latency[1] + later;
		if (computes && s->domain) {
			bypass_result(c, s->dst[1], s->domain, port2, complete2);
			if (UNLIKELY(s->domain & DOMAIN_SLOW) && dispatch2 != WRONG_NEVER)
				scheduler_slow(sc, port2, dispatch2);
		}
		if (store) {
			c->q.given[st - c->q.store] = ready2;
			st->data_ready = max64(st->data_ready, complete2);
		} else {
			step_result(c, s, 1, complete2);
		}
	}
	if (load)
		*lb = resolve;
	if (!branch && quiet)
		return true;

	const uint64_t went = kind == STEP_BRANCH ? w[1] : load_branch ? w[2] : 0;
	if (branch)
		*(two ? &did2 : &did) |= wrong_branched(c, l, s, *w, went, two ? complete2 : complete);
	if ((!quiet || kind == STEP_BRANCH) && wrong_wanted(c, is, did))
		wrong_record(c, s->ip, is, port, load || store ? s->size : 0, did, kind == STEP_BRANCH ? went : addr,
		             fetch, alloc, ready, dispatch, complete);
	if (two && (!quiet || load_branch) && wrong_wanted(c, s->is[1], did2))
		wrong_record(c, s->ip, s->is[1], port2, store ? s->size : 0, did2, store ? addr : went,
		             fetch, alloc2, ready2, dispatch2, complete2);
	return true;
}

/* From its first word on.  Returns the word where it ended. */
static inline __attribute__((always_inline)) const uint64_t *wrong_run(struct core *c, const uint64_t *w, const bool quiet)
{
	struct wrong_lead l;
	const uint64_t late = c->wrong.resolve - c->rn.dispatch_delay;
	wrong_enter(c, &l);
	for (;;) {
		if (quiet && l.cycle >= late) {
			wrong_leave(c, &l);
			return wrong_late(c, w);
		}
		const unsigned kind = *w & SCRIPT_KIND;
		if (UNLIKELY(!script_is_short(kind))) {
			if (kind == SCRIPT_END)
				goto end;
			wrong_leave(c, &l);
			const uint64_t *next = core_wrong_general(c, w);
			wrong_enter(c, &l);
			if (!next)
				goto end;
			w = next;
			continue;
		}
		const struct step *s = script_step(*w);
		struct wrong_begun x;
		if (!wrong_begin(c, &l, s, quiet, kind, &x))
			goto end;
#define STEP(CASES, KIND, words) CASES: if (!wrong_step(c, &l, KIND, quiet, w, s, &x)) goto end; w += words; break;
		switch (kind) {
		SHORT_STEPS(STEP)
		default: __builtin_unreachable();
		}
#undef STEP
	}
end:
	wrong_leave(c, &l);
	return w;
}
#endif
