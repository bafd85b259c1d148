/* SPDX-License-Identifier: GPL-2.0-or-later
 * The short way of a slot through the pipeline (block_plan.h says which slots may take it).
 */
#ifndef CORE_STEP_H
#define CORE_STEP_H
#include "core/backend/bypass.h"
#include "core/backend/clears.h"
#include "core/backend/eliminate.h"
#include "core/backend/lsq.h"
#include "core/script/block_plan.h"
#include "core/backend/rename.h"
#include "core/script/script.h"
#include <string.h>

static inline __attribute__((always_inline)) void write_record(struct core *c, uint64_t ip, uint64_t is, unsigned port, uint32_t size, uint64_t did, uint64_t addr,
                                uint64_t fetch, uint64_t alloc, uint64_t ready, uint64_t dispatch, uint64_t complete, uint64_t retire)
{
	if (!((is & c->e.wanted_is) | (did & c->e.wanted_did)))
		return;
	struct spmu_record *r = emit_uop(&c->e);
	const uint32_t base = (uint32_t)c->e.base;
	const uint32_t head = SPMU_REC_UOP | 3u << 16 | port << 24;
	memcpy(r, &head, sizeof head);		/* kind, hw_thread, cpl, port */
	r->size = size;
	r->ip = ip;
	r->is = is;
	r->did = did;
	r->addr = addr;
	r->fetch = (uint32_t)fetch - base;
	r->alloc = (uint32_t)alloc - base;
	r->ready = (uint32_t)ready - base;
	r->dispatch = (uint32_t)dispatch - base;
	r->complete = (uint32_t)complete - base;
	r->retire = (uint32_t)retire - base;
}

/* In order, so many a cycle: the cycle in which a slot retires that is done at `done`. */
static inline uint64_t retire_at(struct core *c, uint64_t done)
{
	uint64_t next = max64((done + c->retire_latency) << RETIRE_SHIFT, c->retire_next);
	if (UNLIKELY((next & ((1 << RETIRE_SHIFT) - 1)) == c->retire_width)) {
		__asm__("");	/* a branch, which is foreseen, and not both ways and a choice */
		next = (next | ((1 << RETIRE_SHIFT) - 1)) + 1;
	}
	uint64_t retire = next >> RETIRE_SHIFT;
	c->retire_next = next + 1;
	c->e.now = retire;
	*slot_free(&c->rn, c->rn.pos) = retire + 1;
	return retire;
}

/* A scheduler entry and a port; *alloc moves if there is none free. */
static inline __attribute__((always_inline)) unsigned
step_port(struct core *c, const struct step *s, unsigned i, bool load, bool one, uint64_t *alloc, uint64_t *did)
{
	struct scheduler *sc = &c->sc;
	const struct port_choice *choice = &sc->choice[s->ports[i] & sc->port_mask];
	if (UNLIKELY(scheduler_full(sc, choice)))
		*alloc = core_wait_entry(c, choice, *alloc, did);
	unsigned port = load ? scheduler_load_port(sc, choice) :
	                one && choice->count == 1 ? choice->port[0] : scheduler_port(sc, choice, c->rn.slot);
	scheduler_enter(sc, choice, port);
	return port;
}

static inline uint64_t step_sources(const struct core *c, const struct step *s, unsigned i)
{
	return max64(max64(c->reg[s->src[i][0]], c->reg[s->src[i][1]]), c->reg[s->src[i][2]]);
}

static inline void step_result(struct core *c, const struct step *s, unsigned i, uint64_t cycle)
{
	c->reg[s->dst[i][0]] = c->reg[s->dst[i][1]] = c->reg[s->dst[i][2]] = cycle;
}

/* A branch uop was executed: steers the front end.  at: address of the branch, so that most times *br is not touched; word: script.h's.  Returns the
 * record's bits. */
static inline uint64_t step_branched(struct core *c, const struct insn *br, uint64_t at, uint64_t word, uint64_t went, uint64_t complete)
{
	uint64_t did = 0;
	if (UNLIKELY(word & SCRIPT_UNUSUAL))
		return core_branch_unusual(c, br, word, went, complete);
	if (script_says(word, SCRIPT_TAKEN)) {
		did = SPMU_DID(TAKEN);
		frontend_taken(c, at, went);
	}
	return did;
}

/* Bits that only branches' records have. */
#define STEP_BRANCH_IS (SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(CALL) | SPMU_IS(RET) | SPMU_IS(INDIRECT) | SPMU_IS(FAR))
#define STEP_BRANCH_DID (SPMU_DID(TAKEN) | SPMU_DID(MISPREDICTED) | SPMU_DID(MISP_TARGET) | SPMU_DID(BTB_MISS))

struct step_begun {		/* a slot that was delivered and allocated */
	uint64_t alloc, did, did2;	/* did2: of its second uop; the cycle of delivery is the front end's */
};

/* What all kinds begin with, in one place for all of them: each with its own, the loops had 20 KB and more of code, and the host's L1I has 32.  quiet: as for step_run. */
static inline __attribute__((always_inline)) void step_begin(struct core *c, const struct step *s, const bool quiet, unsigned kind, struct step_begun *x)
{
	if (LIKELY(s->flags & STEP_FIRST)) {
		frontend_insn(c, s->in, s->ip, s->flags & STEP_WIDE);
		if (!quiet)
			emit_room(&c->e);
	}
	if (quiet && UNLIKELY(c->e.count >= EMIT_LIMIT) && script_is_branch(kind))	/* in this order: the first the host foresees */
		emit_room(&c->e);
	const uint64_t fetch = frontend_slot(c);
	x->did = x->did2 = SPMU_DID(RETIRED);
	if (!quiet) {
		x->did2 |= c->fe.did_path;
		x->did = x->did2 | c->fe.did;
		c->fe.did = 0;
	}
	x->alloc = rename_slot(c, fetch, &x->did);
}

/* What comes behind step_begin.  w: the step in its script.  kind: of SHORT_STEPS, those that stand for others.  quiet: no record is wanted but of
 * branches.  watch: loads are remembered (clears.h). */
static inline __attribute__((always_inline)) void
step_run(struct core *c, const enum step_kind kind, const bool quiet, const bool watch, const uint64_t *w, const struct step *s, const struct step_begun *x)
{
	const bool store = kind == STEP_STORE, load = kind >= STEP_LOAD_MORE, load_branch = kind == STEP_LOAD_BRANCH_MORE;
	const bool computes = kind == STEP_LOAD_COMPUTE_MORE, two = computes || load_branch || store;
	bool port_less = kind == STEP_ELIMINATED;
	uint64_t is = s->is[0], renamed = 0;
	struct rename *rn = &c->rn;
	const uint64_t addr = load || store ? w[1] : 0;

	const uint64_t fetch = c->fe.cycle;
	uint64_t did = x->did, did2 = quiet ? SPMU_DID(RETIRED) : x->did2, alloc = x->alloc, *lb = NULL;
	if (load) {
		lb = rename_load(c);
		if (UNLIKELY(*lb > alloc)) {
			alloc = rename_stall(c, SPMU_SIG_RESOURCE_STALL_LB, alloc, *lb);
			did |= SPMU_DID(STALL_LB);
		}
	}
	if (store) {
		uint64_t free = lsq_room(c);
		if (UNLIKELY(free > alloc)) {
			alloc = rename_stall(c, SPMU_SIG_RESOURCE_STALL_SB, alloc, free);
			did |= SPMU_DID(STALL_SB);
		}
	}
	if (kind == STEP_RENAME) {
		port_less = eliminate(c, s->src[0][0], s->dst[0][0], s->constant, !(s->flags & STEP_ADDS), alloc);
		is = port_less ? is : (is & ~SPMU_IS(ELIMINATED)) | SPMU_IS(EXEC);
	}
	const uint32_t results = rn->results;
	if (UNLIKELY(rn->prf_size) && !port_less) {
		if (reg_any_general(s->dst[0]))
			alloc = rename_result(c, alloc, &did);
		if (computes && reg_any_general(s->dst[1]))
			alloc = rename_result(c, alloc, &did);
	}
	unsigned port = port_less ? 255 : step_port(c, s, 0, load, kind == STEP_BRANCH, &alloc, &did), port2 = 0;
	uint64_t ready = alloc, dispatch = alloc, complete = alloc, alloc2 = alloc, ready2 = 0, dispatch2 = 0, complete2 = 0;
	struct store *st = NULL;
	if (!port_less)
		ready = max64(step_sources(c, s, 0), alloc + rn->dispatch_delay);
	if (load) {
		ready = max64(ready, c->q.load_floor);
		complete = lsq_load_more(c, s->ip, addr, s->size, port, ready, s->flags & STEP_VECTOR, s->load, &did, &dispatch, &renamed) + s->latency[0];
		if (watch)
			clears_watch(c, rn->loads - 1, s->ip, addr, complete);
	} else if (kind == STEP_COMPUTE_MORE) {
		unsigned later = bypass_delay(c, s->src[0], s->domain, port, &ready);
		dispatch = scheduler_take(&c->sc, port, ready);
		complete = dispatch + s->latency[0] + later;
		bypass_result(c, s->dst[0], s->domain, port, complete);
		if (UNLIKELY(s->domain & DOMAIN_SLOW))
			scheduler_slow(&c->sc, port, dispatch);
	} else if (!port_less) {
		dispatch = scheduler_take(&c->sc, port, ready);
		complete = dispatch + (store ? 1 : s->latency[0]);
	}
	if (store) {
		struct mem_result r = { 0, 0 };
		memsys_store_translate(c->mem, addr, s->size, dispatch, &r);
		complete = max64(complete, r.ready);
		did |= r.did;
		st = lsq_store(c, s->ip, addr, s->size, true, s->flags & STEP_WEAK, complete - 1);
		if (UNLIKELY(c->q.rename_stores))
			lsq_store_address(c, st, s->load);
		c->q.wants_data = false;
	} else if (!port_less) {
		step_result(c, s, 0, load && renamed ? renamed : complete);
	} else {
		step_result(c, s, 0, s->flags & STEP_COPY ? c->reg[s->src[0][0]] : complete);
	}
	if (two) {
		port2 = step_port(c, s, 1, false, store, &alloc2, &did2);
		ready2 = max64(step_sources(c, s, 1), alloc2 + rn->dispatch_delay);
		unsigned later = computes && s->domain ? bypass_delay(c, s->src[1], s->domain, port2, &ready2) : 0;
		dispatch2 = scheduler_take(&c->sc, port2, ready2);
		complete2 = dispatch2 + s->latency[1] + later;
		if (computes && s->domain) {
			bypass_result(c, s->dst[1], s->domain, port2, complete2);
			if (UNLIKELY(s->domain & DOMAIN_SLOW))
				scheduler_slow(&c->sc, port2, dispatch2);
		}
		if (store)
			c->q.given[st - c->q.store] = ready2;
		else
			step_result(c, s, 1, complete2);
	}
	const uint64_t went = kind == STEP_BRANCH ? w[1] : load_branch ? w[2] : 0;
	if (kind == STEP_BRANCH)
		did |= step_branched(c, s->in + (s->branch - s->insn), s->ip + s->branch_at, *w, went, complete);
	if (load_branch)
		did2 |= step_branched(c, s->in + (s->branch - s->insn), s->ip + s->branch_at, *w, went, complete2);

	uint64_t retire = retire_at(c, max64(complete, complete2));
	if (load)
		*lb = retire + 1;
	if (UNLIKELY(rn->prf_size))
		rename_results_done(rn, results, retire);
	if (store) {
		st->data_ready = max64(st->data_ready, complete2);
		st->retire = retire;
	}
	if (!quiet || kind == STEP_BRANCH)
		write_record(c, s->ip, is, port, load || store ? s->size : 0, did, kind == STEP_BRANCH ? went : addr,
	             fetch, alloc, ready, dispatch, complete, retire);
	if (two && (!quiet || load_branch))
		write_record(c, s->ip, s->is[1], port2, store ? s->size : 0, did2, store ? addr : went,
		             fetch, alloc2, ready2, dispatch2, complete2, retire);
	c->e.instructions += s->ends;
}
#endif
