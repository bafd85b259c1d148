/* SPDX-License-Identifier: GPL-2.0-or-later
 * A slot's short way through the pipeline (block_plan.h says which slots may take it), from delivery to its
 * records.
 *
 * slot_begin and slot_finish list the stages in order.  There is one body for the right path and the wrong path;
 * steps.c instantiates it with constants: struct way (stages.h), and struct shape, which says what the slot consists
 * of.
 *
 * The wrong path (wrongpath.h) differs in this: it may end at every wait, loads do not become the stored
 * register, results take no integer registers (prf.integer), and nothing retires; its entries are free when the
 * branch resolves.
 * Slots of the wrong path that are allocated so late that they cannot be dispatched before the branch resolves have
 * code of their own (wrong_late.c).
 */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H
#include "core/backend/clears.h"
#include "core/backend/eliminate.h"
#include "core/backend/retire.h"
#include "core/record/uop_record.h"
#include "core/stages.h"

struct shape {			/* of a slot: it has one uop or two */
	bool load;		/* the first uop is a load */
	bool store;		/* a store: its address and its data */
	bool branch;		/* the only uop, or that behind a load, is a branch */
	bool computes;		/* the uop behind a load is a computation */
	bool domain;		/* a computation alone, with a domain (bypass.h) or slow (scheduler.h) */
	bool renames;		/* rename does it if it can, else it is a computation (eliminate.h) */
	bool eliminated;	/* rename does it */
};

/* kind: one of those that SHORT_STEPS (script.h) names as standing for others. */
STAGE struct shape shape_of(const enum step_kind kind)
{
	return (struct shape){
		.load = kind >= STEP_LOAD_MORE,
		.store = kind == STEP_STORE,
		.branch = kind == STEP_BRANCH || kind == STEP_LOAD_BRANCH_MORE,
		.computes = kind == STEP_LOAD_COMPUTE_MORE,
		.domain = kind == STEP_COMPUTE_MORE,
		.renames = kind == STEP_RENAME,
		.eliminated = kind == STEP_ELIMINATED,
	};
}

STAGE bool shape_two(const struct shape is)
{
	return is.store || is.computes || (is.load && is.branch);
}

struct slot_begun {		/* a slot that was delivered and allocated */
	struct allocated first;
	uint64_t did2;		/* as first.did, of its second uop */
};

struct executed {		/* a uop */
	const struct port_choice *choice;	/* its ports */
	unsigned port;		/* PORT_NONE: rename did it */
	uint64_t ready, dispatch, complete;
};

/* Delivers and allocates a slot.  One place does this for slots of all kinds: with code of their own for it the
 * loops had 20 KB and more, and the host's L1I has 32.  kind: enum step_kind. */
STAGE bool slot_begin(struct core *c, const struct way way, struct wrong_lead *l, const struct step *s, unsigned kind,
	struct slot_begun *x)
{
	uint64_t did = 0;
	if (LIKELY(s->flags & STEP_FIRST)) {
		if (way.lead)
			wrong_fetch(c, l, s);
		else
			frontend_insn(c, s->in, s->ip, s->flags & STEP_WIDE);
		if (!way.quiet)
			emit_room(&c->e);
	}
	/* in this order: the host predicts the first test */
	if (way.quiet && UNLIKELY(c->e.count >= EMIT_LIMIT) && script_is_branch(kind))
		emit_room(&c->e);
	x->did2 = way.wrong ? 0 : SPMU_DID(RETIRED);
	if (!way.quiet) {
		x->did2 |= c->fe.did_path;
		did = c->fe.did;
		c->fe.did = 0;
	}
	did |= x->did2;
	bool allocates = true;
	if (way.lead) {
		allocates = wrong_allocate(c, l, wrong_deliver(c, l), &x->first.alloc, &x->first.slot, &did);
	} else if (CORE_SMT || !rename_quick(c, &x->first.alloc)) {
		x->first.alloc = rename_slot(c, frontend_slot(c), &did);
		if (!CORE_SMT)
			rename_look(c);
	}
	x->first.did = did;
	return allocates;
}

/* Rename eliminates the slot's uop if it can.  Returns true if it did. */
STAGE bool slot_eliminate(struct core *c, const struct way way, const struct wrong_lead *l, const struct step *s,
	const struct allocated *x)
{
	if (way.lead) {		/* eliminate looks at the slots allocated before this one */
		c->rn.pos = l->pos;
		c->rn.slot = x->slot;
	}
	return eliminate(c, s->src[0][0], s->dst[0][0], s->constant, !(s->flags & STEP_ADDS), x->alloc);
}

/* Integer registers for the slot's results (right path). */
STAGE void slot_results(struct core *c, const struct shape is, const struct step *s, struct allocated *x)
{
	uint64_t did = x->did;
	if (reg_any_general(s->dst[0]))
		x->alloc = rename_result(c, x->alloc, &did);
	if (is.computes && reg_any_general(s->dst[1]))
		x->alloc = rename_result(c, x->alloc, &did);
	x->did = did;
}

/* A scheduler entry and a port for uop i. */
STAGE bool slot_bind(struct core *c, const struct way way, struct wrong_lead *l, const struct step *s, const unsigned i,
	bool load, bool one, struct allocated *x, struct executed *u)
{
	struct scheduler *sc = &c->sc;
	u->choice = &sc->choice[s->ports[i] & sc->port_mask];
	if (!stage_scheduler(c, way, l, u->choice, x))
		return false;
	u->port = stage_port(c, way, u->choice, load, one, x);
	scheduler_enter(sc, u->choice, u->port);
	return true;
}

/* The cycle from which uop i, allocated at `alloc`, has its operands. */
STAGE uint64_t slot_ready(const struct core *c, const struct step *s, const unsigned i, uint64_t alloc)
{
	const uint8_t *src = s->src[i];
	return max64(max64(max64(c->reg[src[0]], c->reg[src[1]]), c->reg[src[2]]), alloc + c->rn.dispatch_delay);
}

/* The slot's load.  *renamed: when the register is ready that it becomes (lsq.h), or 0. */
STAGE void slot_load(struct core *c, const struct way way, const struct step *s, uint64_t addr, struct allocated *x,
	struct executed *u, uint64_t *renamed)
{
	const bool vector = s->flags & STEP_VECTOR;
	uint64_t did = x->did, dispatch, instead = 0;
	u->ready = max64(u->ready, c->q.load_floor);
	if (way.wrong)
		u->complete = wrong_load_quick(
			c, u->choice, s->ip, addr, s->size, u->port, u->ready, vector, &did, &dispatch);
	else
		u->complete = lsq_load_more(
			c, s->ip, addr, s->size, u->port, u->ready, vector, s->load, &did, &dispatch, &instead);
	u->complete += s->latency[0];
	u->dispatch = dispatch;
	x->did = did;
	*renamed = instead;
	if (way.watch && !way.wrong)
		clears_watch(c, c->rn.loads - 1, s->ip, addr, u->complete);
}

/* Uop i, which makes no access, is dispatched.  domain: it has one (bypass.h). */
STAGE void slot_compute(struct core *c, const struct way way, const struct step *s, const unsigned i, bool domain,
	unsigned latency, struct executed *u)
{
	uint64_t ready = u->ready;
	const unsigned later = domain ? bypass_delay(c, s->src[i], s->domain, u->port, &ready) : 0;
	u->ready = ready;
	u->dispatch = stage_dispatch(c, way, u->choice, u->port, ready);
	u->complete = u->dispatch + latency + later;
	if (domain)
		stage_bypass(c, s->dst[i], s->domain, u->port, u->dispatch, u->complete);
}

/* Dispatch and result of the first uop.  Returns the store that it begins. */
STAGE struct store *slot_first(struct core *c, const struct way way, const struct shape is, const struct step *s,
	uint64_t addr, bool eliminated, struct allocated *x, struct executed *u)
{
	uint64_t renamed = 0;
	if (eliminated) {
		u->ready = u->dispatch = u->complete = x->alloc;
		stage_result(c, s->dst[0], s->flags & STEP_COPY ? c->reg[s->src[0][0]] : x->alloc);
		return NULL;
	}
	u->ready = slot_ready(c, s, 0, x->alloc);
	if (is.load)
		slot_load(c, way, s, addr, x, u, &renamed);
	else
		slot_compute(c, way, s, 0, is.domain, is.store ? 1 : s->latency[0], u);
	if (!is.store) {
		stage_result(c, s->dst[0], is.load && renamed ? renamed : u->complete);
		return NULL;
	}
	uint64_t did = x->did, complete = u->complete;
	struct store *st = stage_store(
		c, way, s->ip, addr, s->size, true, s->flags & STEP_WEAK, s->load, u->dispatch, &complete, &did);
	c->q.wants_data = false;
	u->complete = complete;
	x->did = did;
	return st;
}

/* Dispatch and result of the second uop.  st: the store that it completes. */
STAGE void slot_second(struct core *c, const struct way way, const struct shape is, const struct step *s,
	const struct allocated *x, struct store *st, struct executed *u)
{
	u->ready = slot_ready(c, s, 1, x->alloc);
	slot_compute(c, way, s, 1, is.computes && s->domain, s->latency[1], u);
	if (is.store)
		stage_store_data(c, st, u->ready, u->complete);
	else
		stage_result(c, s->dst[1], u->complete);
}

/* The record of uop i.  retire: of the right path. */
STAGE void slot_record(struct core *c, const struct way way, uint64_t ip, uint64_t is, uint32_t size, uint64_t addr,
	uint64_t fetch, const struct allocated *x, const struct executed *u, uint64_t retire)
{
	if (!way.wrong)
		write_record(c, ip, is, u->port, size, x->did, addr, fetch, x->alloc, u->ready, u->dispatch,
			u->complete, retire);
	else if (wrong_wanted(c, is, x->did))
		wrong_record(
			c, ip, is, u->port, size, x->did, addr, fetch, x->alloc, u->ready, u->dispatch, u->complete);
}

/* The slot retires.  Returns the cycle. */
STAGE uint64_t slot_retire(struct core *c, const struct way way, const struct shape is, uint64_t done, uint64_t *lb,
	struct store *st, uint32_t results)
{
	const uint64_t retire = retire_at(c, done);
	if (is.load)
		*lb = retire + 1;
	if (way.results && UNLIKELY(c->rn.prf_size))
		rename_results_done(&c->rn, results, retire);
	if (is.store)
		st->retire = retire;
	return retire;
}

/* What comes behind slot_begin.  w: the step in its script; begun: what slot_begin made. */
STAGE bool slot_finish(struct core *c, const struct way way, struct wrong_lead *l, const struct shape is,
	const uint64_t *w, const struct step *s, const struct slot_begun *begun)
{
	const bool two = shape_two(is), access = is.load || is.store;
	const uint64_t addr = access ? w[1] : 0,
		       went = !is.branch ? 0 : is.load ? w[2] : w[1], fetch = way.lead ? l->delivery : c->fe.cycle;
	struct allocated x = begun->first, x2;
	struct executed u = { .port = PORT_NONE }, u2 = { .port = PORT_NONE };
	uint64_t bits = s->is[0], *lb = NULL;
	bool eliminated = is.eliminated;

	/* allocation: entries of the load and store buffers, what rename does itself, integer registers, the
	 * scheduler's entry and port */
	if ((is.load && !stage_load_buffer(c, way, l, &x, &lb)) || (is.store && !stage_store_buffer(c, way, l, &x)))
		return false;
	if (is.renames) {
		eliminated = slot_eliminate(c, way, l, s, &x);
		bits = eliminated ? bits : (bits & ~SPMU_IS(ELIMINATED)) | SPMU_IS(EXEC);
	}
	const uint32_t results = c->rn.results;
	if (way.results && UNLIKELY(c->rn.prf_size) && !eliminated)
		slot_results(c, is, s, &x);
	if (!eliminated && !slot_bind(c, way, l, s, 0, is.load, is.branch && !is.load, &x, &u))
		return false;

	/* dispatch and results */
	struct store *st = slot_first(c, way, is, s, addr, eliminated, &x, &u);
	if (two) {
		x2 = (struct allocated){ x.alloc, way.quiet ? way.wrong ? 0 : SPMU_DID(RETIRED) : begun->did2, x.slot };
		if (!slot_bind(c, way, l, s, 1, false, is.store, &x2, &u2)) {	/* half a slot of the wrong path */
			if (is.store)
				st->data_ready = WRONG_NEVER;
			if (!way.quiet)
				slot_record(c, way, s->ip, bits, s->size, addr, fetch, &x, &u, 0);
			return false;
		}
		slot_second(c, way, is, s, &x2, st, &u2);
	}
	if (is.branch) {
		const struct insn *br = s->in + (s->branch - s->insn);
		const uint64_t complete = two ? u2.complete : u.complete;
		*(two ? &x2.did : &x.did) |= stage_branch(c, way, l, br, s->ip + s->branch_at, *w, went, complete);
	}

	/* retirement */
	uint64_t retire = 0;
	if (!way.wrong)
		retire = slot_retire(c, way, is, two ? max64(u.complete, u2.complete) : u.complete, lb, st, results);
	else if (is.load)
		*lb = c->wrong.resolve;

	/* records */
	if (is.store && !way.wrong && !way.quiet && lsq_wants_source(c))
		x.did |= lsq_store_source(c, st);
	if (!way.quiet || (is.branch && !is.load))
		slot_record(c, way, s->ip, bits, access ? s->size : 0, access ? addr : went, fetch, &x, &u, retire);
	if (two && (!way.quiet || is.branch))
		slot_record(c, way, s->ip, s->is[1], is.store ? s->size : 0, is.store ? addr : went, fetch, &x2, &u2,
			retire);
	if (!way.wrong)
		c->e.instructions += s->ends;
	return true;
}
#endif
