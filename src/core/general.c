/* SPDX-License-Identifier: GPL-2.0-or-later
 * The general way of an instruction through the pipeline: any uops, any core, on the right path and on the
 * wrong path.
 *
 * It does the same as the short way (slot.h) for every kind of uop, one uop at a time.  In addition it has what few
 * slots need: microcode, serialising instructions, fences, locks, software prefetches, non-pipelined units, REP
 * strings, fused pairs of which only the first half was executed, mechanisms of older cores (older.h), pieces of
 * registers (partial_regs.h), and details for the dependence graph (detail.h).
 *
 * run_insn takes an instruction's slots one after the other, run_slot a slot's uops, run_uop lists the stages
 * of a uop.
 */
#if defined __GNUC__ && !defined __clang__
/* slp-vectorize packs a record's fields in vector registers: 10 % slower */
#pragma GCC optimize ("no-tree-slp-vectorize", "no-tree-pre")
#endif
#define CORE_SMT 1	/* one general way serves all cores */
#include "core/backend/clears.h"
#include "core/backend/eliminate.h"
#include "core/backend/elision.h"
#include "core/backend/partial_regs.h"
#include "core/backend/retire.h"
#include "core/older/inorder.h"
#include "core/older/netburst_core.h"
#include "core/older/p6.h"
#include "core/record/detail_insn.h"
#include "core/record/uop_record.h"
#include "core/smt.h"
#include "core/stages.h"
#include <string.h>

struct where {			/* an instruction in its block */
	const uint64_t *slots;	/* the block's slot values */
	unsigned nslots;
	const uint64_t *at;	/* if not NULL, an address for each uop instead */
	const struct insn *branch;	/* the branch that it is or is fused with; NULL: none */
	uint64_t way, went;	/* of that: its word in the script (script.h), where it went */
	bool stays;		/* more rounds of this REP instruction follow */
};

struct going {			/* an instruction on its way */
	const struct insn *in;
	const struct uop *first, *end;	/* its uops */
	const struct where *w;
	struct detail_of *of;	/* NULL: no details are wanted */
};

struct slot {			/* one of its slots, as its uops share it */
	struct allocated a;
	uint64_t fetch, done;	/* delivered; its uops so far are complete */
	uint32_t loads, results;	/* number of its first */
	bool memory;		/* it holds loads or stores */
};

struct pass {			/* a uop on its way */
	unsigned kind;		/* enum uop_kind; UOP_COMPUTE for what rename could have done and did not */
	unsigned ports, port;	/* those that it may go to, 0: none; the one it goes to, PORT_NONE: none */
	unsigned latency, busy;
	uint8_t early; /* its result is there half a cycle before the cycle that it completes with (older_ready) */
	bool access;		/* it makes an access: */
	uint32_t size;
	uint64_t addr;
	uint64_t is, ready, dispatch, complete;
	uint64_t renamed;	/* a load: when the register is ready that it becomes; 0: none */
};

/* The slot needs more than the usual before it can be allocated. */
static void slot_special(struct core *c, const struct uop *u)
{
	if (u->flags & UOP_MS && c->fe.path != FE_MS && !c->config.frontend_simple)
		frontend_ms_enter(c);
	if (u->flags & UOP_GROUP)
		rename_new_group(c);
	if (u->kind == UOP_SERIALIZE)
		rename_serialize(&c->rn, max64(c->e.now + 1, lsq_drain(c)));
}

/* --- a uop: allocation --- */

/* The access that the uop makes, if it makes one. */
STAGE void uop_access(const struct going *g, const struct uop *u, struct pass *p)
{
	const struct where *w = g->w;
	if (u->kind == UOP_COMPUTE || !u->size)
		return;
	const uint64_t addr = w->at ? w->at[u - g->first] : u->slot < w->nslots ? w->slots[u->slot] : ST_NOT_DONE;
	p->access = addr != ST_NOT_DONE;
	if (LIKELY(p->access)) {
		p->addr = addr;
		p->size = u->size;
	}
}

/* Buffer entries, what rename does itself, the scheduler's entry and port. */
STAGE bool uop_allocate(struct core *c, const struct way way, const struct uop *u, struct slot *slot, struct pass *p)
{
	struct scheduler *sc = &c->sc;
	uint64_t *lb;
	if (u->kind == UOP_LOAD) {
		slot->memory = true;
		if (!stage_load_buffer(c, way, NULL, &slot->a, &lb))
			return false;
	} else if (u->kind == UOP_STORE_ADDR || UNLIKELY(p->kind == UOP_FLUSH && p->access && !way.wrong)) {
		slot->memory = true;
		if (!stage_store_buffer(c, way, NULL, &slot->a))
			return false;
	}
	if (UNLIKELY(p->kind == UOP_ELIMINATED && p->ports)) {
		if (eliminate(c, u->src[0], u->dst[0], u->constant, !(u->flags & UOP_ADDS), slot->a.alloc)) {
			p->ports = 0;
		} else {
			p->kind = UOP_COMPUTE;
			p->is = (p->is & ~SPMU_IS(ELIMINATED)) | SPMU_IS(EXEC);
		}
	}
	if (UNLIKELY(c->rn.prf_size) && p->ports && !way.wrong && reg_any_general(u->dst)) {
		slot->a.alloc = rename_result(c, slot->a.alloc, &slot->a.did);
	}
	if (UNLIKELY(!p->ports))
		return true;
	if (!stage_scheduler(c, way, NULL, &sc->choice[p->ports], &slot->a))
		return false;
	p->port = stage_port(c, way, &sc->choice[p->ports], u->kind == UOP_LOAD, false, &slot->a);
	return true;
}

/* --- a uop: operands --- */

/* Older cores: when the uop goes, and where.  Returns 1 if its result is there half a cycle before the cycle
 * that it completes with. */
static __attribute__((noinline)) uint8_t
older_ready(struct core *c, const struct uop *u, uint64_t floor, unsigned *port, uint64_t *ready, uint64_t *did)
{
	const struct older *o = &c->old;
	if (o->inorder) {
		*ready = inorder_ready(c, u, *ready);
		return 0;
	}
	if (*port >= SCHED_PORTS)
		return 0;
	if (o->replay && u->kind != UOP_LOAD)
		*ready = netburst_replay(c, u, *port, floor, *ready, did);
	if (!o->double_speed || u->latency || !(u->kind == UOP_COMPUTE || u->kind == UOP_BRANCH) || u->unit)
		return 0;
	*port = netburst_half(c, u, floor, ready);
	return *port < 2;
}

/* When its operands are there; then it enters the scheduler.  Returns cycles that a bypass between domains adds
 * to its latency. */
STAGE unsigned uop_operands(
	struct core *c, const struct way way, const struct uop *u, struct slot *slot, struct pass *p)
{
	const uint64_t floor = slot->a.alloc + c->rn.dispatch_delay;
	uint64_t ready = max64(
		max64(max64(c->reg[u->src[0]], c->reg[u->src[1]]), max64(c->reg[u->src[2]], c->reg[u->src[3]])), floor);
	unsigned bypass = 0;
	if (UNLIKELY(c->old.any) && !(way.wrong && ready >= c->wrong.resolve)) {
		unsigned port = p->port;
		p->early = older_ready(c, u, floor, &port, &ready, &slot->a.did);
		p->port = port;
	}
	if (UNLIKELY(p->kind == UOP_COMPUTE && u->domain))
		bypass = bypass_delay(c, u->src, u->domain, p->port, &ready);
	if (LIKELY(p->ports))
		scheduler_enter(&c->sc, &c->sc.choice[p->ports], p->port);
	p->ready = ready;
	return bypass;
}

/* --- a uop: dispatch --- */

/* As stage_dispatch, also of a uop without a port. */
STAGE uint64_t uop_dispatch(struct core *c, const struct way way, const struct pass *p)
{
	if (LIKELY(p->port < SCHED_PORTS))
		return stage_dispatch(c, way, &c->sc.choice[p->ports], p->port, p->ready);
	return way.wrong && p->ready >= c->wrong.resolve ? WRONG_NEVER : p->ready;
}

/* An integer divider that works until it has the quotient's bits.  did: format.h's ST_SLOT_DIVIDED.  busy: the
 * least, of this width. */
static __attribute__((noinline)) void divide_time(
	const struct core_config *f, uint64_t did, unsigned *latency, unsigned *busy)
{
	const uint64_t upper = did & ~ST_DIVIDED_WIDE;	/* the quotient but for its lowest bit */
	const unsigned bits = upper ? 64 - (unsigned)__builtin_clzll(upper) : 0;
	*latency = f->divide_latency + bits / f->divide_bits + (did & ST_DIVIDED_WIDE ? f->divide_wide : 0);
	if (*latency > *busy + f->divide_overlap)
		*busy = *latency - f->divide_overlap;
}

/* In a unit that is not pipelined.  Returns the cycle of dispatch. */
static __attribute__((noinline)) uint64_t
run_unit(struct core *c, const struct uop *u, unsigned busy, unsigned ports, unsigned port, uint64_t ready, bool wrong)
{
	const unsigned unit = unit_of(u, port);
	uint64_t dispatch = wrong ? wrong_take_unit(c, &c->sc.choice[ports], port, ready, unit, busy) :
	                    scheduler_take_unit(&c->sc, port, ready, unit, busy);
	if (u->unit != UNIT_OTHER && dispatch != WRONG_NEVER) {
		const uint64_t end = dispatch + busy;
		emit_signal(&c->e, SPMU_SIG_DIVIDER_ACTIVE, dispatch, end, 1);
		emit_signal(&c->e,
			u->unit == UNIT_INTDIV ? SPMU_SIG_INT_DIVIDER_ACTIVE : SPMU_SIG_FP_DIVIDER_ACTIVE, dispatch,
			end, 1);
	}
	return dispatch;
}

STAGE void uop_compute(struct core *c, const struct way way, const struct going *g, const struct uop *u,
	unsigned bypass, struct slot *slot, struct pass *p)
{
	const struct where *w = g->w;
	if (UNLIKELY(p->busy > 1 && u->unit && p->ports)) {
		if (c->config.divide_latency && u->slot < w->nslots) {
			unsigned latency = p->latency, busy = p->busy;
			divide_time(&c->config, w->slots[u->slot], &latency, &busy);
			p->latency = latency;
			p->busy = busy;
		}
		p->dispatch = run_unit(c, u, p->busy, p->ports, p->port, p->ready, way.wrong);
	} else {
		p->dispatch = uop_dispatch(c, way, p);
	}
	p->complete = p->dispatch + p->latency + !p->latency + bypass;
	if (p->kind == UOP_BRANCH && LIKELY(w->branch != NULL)) {
		p->addr = w->went;
		slot->a.did |= stage_branch(c, way, NULL, w->branch, w->branch->addr, w->way, w->went, p->complete);
	}
}

/* Loads and software prefetches. */
STAGE void uop_load(struct core *c, const struct way way, const struct going *g, const struct uop *u, struct slot *slot,
	struct pass *p)
{
	struct lsq *q = &c->q;
	p->ready = max64(p->ready, q->load_floor);
	if (UNLIKELY(u->is & SPMU_IS(LOCK)) && !way.wrong && !c->config.free_lock)
		p->ready = max64(p->ready, lsq_drain(c));
	if (UNLIKELY(g->of != NULL))
		g->of->renames = lsq_may_rename(c, g->in->addr, p->addr, p->size, u->load);
	if (UNLIKELY(!p->access || u->is & SPMU_IS(PREFETCH_SW))) {
		p->dispatch = uop_dispatch(c, way, p);
		p->complete = p->dispatch + (u->is & SPMU_IS(PREFETCH_SW) ? 1 : q->l1d_latency);
		if (p->access && !(way.wrong && p->dispatch == WRONG_NEVER)) {
			memsys_prefetch(c->mem, p->addr, p->dispatch);
			if (UNLIKELY(q->fill_slots) && !way.wrong)
				lsq_fills(c, p->dispatch + q->l1d_latency);
			emit_signal(&c->e, SPMU_SIG_SW_PREFETCH, p->dispatch, p->dispatch, 1);
		}
		return;
	}
	const bool vector = (uint8_t)(u->dst[0] - REG_VEC) < REG_FLAGS - REG_VEC || p->size > 8;
	const uint64_t ip = g->in->addr;
	uint64_t *did = &slot->a.did, dispatch, renamed = 0;
	if (way.wrong)
		p->complete = wrong_load(
			c, &c->sc.choice[p->ports], ip, p->addr, p->size, p->port, p->ready, vector, did, &dispatch);
	else
		p->complete = lsq_load_more(
			c, ip, p->addr, p->size, p->port, p->ready, vector, u->load, did, &dispatch, &renamed);
	p->complete += u->latency;
	p->dispatch = dispatch;
	p->renamed = renamed;
	if (UNLIKELY(c->cl.watching) && !way.wrong)
		clears_watch(c, c->rn.loads - 1, ip, p->addr, p->complete);
	if (UNLIKELY(u->is & SPMU_IS(LOCK)))
		q->lock_begin = dispatch;
}

STAGE void uop_store_address(struct core *c, const struct way way, const struct going *g, const struct uop *u,
	struct slot *slot, struct pass *p)
{
	p->dispatch = uop_dispatch(c, way, p);
	uint64_t complete = p->dispatch + 1;
	const struct store *st = stage_store(c, way, g->in->addr, p->addr, p->size, p->access,
		u->is & SPMU_IS(NON_TEMPORAL), u->load, p->dispatch, &complete, &slot->a.did);
	p->complete = complete;
	if (!way.wrong && lsq_wants_source(c))
		slot->a.did |= lsq_store_source(c, st);
	c->q.lock_slot |= (u->is & SPMU_IS(LOCK)) != 0 && !c->config.free_lock;
}

STAGE void uop_store_data(struct core *c, const struct way way, const struct uop *u, struct slot *slot, struct pass *p)
{
	struct lsq *q = &c->q;
	p->dispatch = uop_dispatch(c, way, p);
	p->complete = p->dispatch + u->latency + !u->latency;
	if (UNLIKELY(!q->wants_data))
		return;
	struct store *st = &q->store[(q->tail - 1) & q->mask];
	stage_store_data(c, st, p->ready, p->complete);
	st->retire = max64(st->retire, p->complete);
	q->wants_data = false;
	if (q->slot_tail == q->tail)	/* the address went in a slot of its own */
		q->slot_tail--;
	slot->memory = true;
}

/* A line is flushed.  On the wrong path nothing is, because a flush waits for its retirement. */
STAGE void uop_flush(struct core *c, const struct way way, const struct going *g, const struct uop *u,
	struct slot *slot, struct pass *p)
{
	p->dispatch = UNLIKELY(p->busy > 1 && u->unit && p->ports)
		? run_unit(c, u, p->busy, p->ports, p->port, p->ready, way.wrong) : uop_dispatch(c, way, p);
	p->complete = p->dispatch + p->latency + !p->latency;
	if (!p->access || way.wrong)
		return;
	struct mem_result r = { 0, 0 };
	memsys_flush_translate(c->mem, p->addr, p->dispatch, &r);
	slot->a.did |= r.did;
	p->complete = max64(p->complete, r.ready);
	lsq_flush(c, g->in->addr, p->addr, u->flush, r.ready);
}

/* Fences, and whatever else serialises. */
STAGE void uop_fence(struct core *c, const struct way way, const struct uop *u, struct pass *p)
{
	p->dispatch = uop_dispatch(c, way, p);
	p->complete = p->dispatch + u->latency + !u->latency;
	if (u->kind == UOP_FENCE_STORE && !way.wrong)
		lsq_store_fence(c);
	if (u->kind == UOP_FENCE_LOAD || u->kind == UOP_FENCE_FULL) {
		p->complete = max64(p->complete, c->e.now + 1);
		if (u->kind == UOP_FENCE_FULL)
			p->complete = max64(p->complete, lsq_drain(c) + 1);
		rename_serialize(&c->rn, p->complete);
	}
}

STAGE void uop_execute(struct core *c, const struct way way, const struct going *g, const struct uop *u,
	unsigned bypass, struct slot *slot, struct pass *p)
{
	switch (p->kind) {
	case UOP_COMPUTE:
	case UOP_BRANCH:
		uop_compute(c, way, g, u, bypass, slot, p);
		break;
	case UOP_LOAD:
		uop_load(c, way, g, u, slot, p);
		break;
	case UOP_STORE_ADDR:
		uop_store_address(c, way, g, u, slot, p);
		break;
	case UOP_STORE_DATA:
		uop_store_data(c, way, u, slot, p);
		break;
	case UOP_FLUSH:
		uop_flush(c, way, g, u, slot, p);
		break;
	case UOP_ELIMINATED:	/* the destination is the source's physical register */
	case UOP_NOP:
		p->ready = UNLIKELY(c->old.inorder) ? p->ready : slot->a.alloc;
		p->dispatch = p->complete = p->ready;
		break;
	default:
		uop_fence(c, way, u, p);
		break;
	}
}

/* --- a uop: its result, and its record --- */

static __attribute__((noinline)) void older_done(struct core *c, const struct uop *u, unsigned *port, uint8_t early,
	uint64_t dispatch, uint64_t complete, uint64_t *did)
{
	struct older *o = &c->old;
	if (o->inorder) {
		inorder_done(c, u, dispatch, complete);
		*port = o->pipe;
	}
	uint64_t hoped = 0;
	if (o->replay) {
		const bool vector = (uint8_t)(u->dst[0] - REG_VEC) < REG_FLAGS - REG_VEC;
		const unsigned hit = c->config.l1d_latency + (vector ? c->config.l1d_vector_extra : 0) + u->latency;
		hoped = netburst_hoped(c, u, dispatch, dispatch + hit, complete, did);
	}
	for (unsigned k = 0; k < 3; k++) {
		o->early[u->dst[k]] = early;
		o->hoped[u->dst[k]] = hoped;
		o->why[u->dst[k]] = *did & REPLAY_CAUSES;
	}
	o->early[REG_NONE] = 0;
	o->hoped[REG_NONE] = 0;
}

/* Returns the cycle in which its registers are ready. */
STAGE uint64_t uop_result(struct core *c, const struct uop *u, struct slot *slot, struct pass *p)
{
	if (UNLIKELY(c->old.any)) {
		unsigned port = p->port;
		older_done(c, u, &port, p->early, p->dispatch, p->complete, &slot->a.did);
		p->port = port;
	}
	const uint64_t made = UNLIKELY(p->renamed) ? p->renamed : p->complete;
	const uint64_t result = p->kind == UOP_ELIMINATED ? c->reg[u->src[0]] : made;
	if (UNLIKELY(p->kind == UOP_COMPUTE && u->domain))
		stage_bypass(c, u->dst, u->domain, p->port, p->dispatch, p->complete);
	stage_result(c, u->dst, result);
	c->reg[REG_NONE] = 0;
	slot->done = max64(slot->done, p->complete);
	return result;
}

/* All uops of the slot are done: it retires.  Returns the cycle. */
STAGE uint64_t slot_retire(struct core *c, const struct slot *slot)
{
	const uint64_t retire = retire_at(c, slot->done);
	if (slot->memory) {
		retire_loads(&c->rn, slot->loads, retire);
		retire_stores(&c->q, retire);
	}
	if (UNLIKELY(c->rn.prf_size))
		rename_results_done(&c->rn, slot->results, retire);
	return retire;
}

/* Writes the record of a uop of the right path; with the slot's last uop the slot retires. */
STAGE void uop_retire(struct core *c, const struct going *g, const struct uop *u, bool last, const struct slot *slot,
	const struct pass *p, uint64_t result)
{
	const uint64_t retire = last ? slot_retire(c, slot) : p->complete;
	if (UNLIKELY(g->of != NULL))
		detail_uop(c, u, p->kind, p->port, p->busy, result, last, g->of);
	const uint32_t count = c->e.count;
	write_record(c, g->in->addr, p->is, p->port, p->size, slot->a.did, p->addr, slot->fetch, slot->a.alloc,
		p->ready, p->dispatch, p->complete, retire);
	if (last && c->e.hold)
		record_retired(&c->e, retire);
	else if (!last && !c->e.hold && c->e.count != count)
		c->e.hold = c->e.count;		/* 1 + index of this record */
}

/* A uop's stages, in order.  *last: it is its slot's last. */
STAGE bool run_uop(
	struct core *c, const struct way way, const struct going *g, const struct uop *u, struct slot *slot, bool *last)
{
	struct pass p = {
		.kind = u->kind, .ports = UNLIKELY(c->old.inorder) ? 0 : u->ports & c->sc.port_mask, .port = PORT_NONE,
		.latency = u->latency, .busy = u->busy, .is = u->is,
	};
	if (UNLIKELY(g->of != NULL))
		detail_before(c, g->of);
	if (UNLIKELY(p.kind == UOP_FLUSH && u->flush == FLUSH_DEMOTE && !c->config.l3_demote))
		p.kind = UOP_NOP;
	else
		uop_access(g, u, &p);
	if (!uop_allocate(c, way, u, slot, &p))
		return false;
	const unsigned bypass = uop_operands(c, way, u, slot, &p);
	uop_execute(c, way, g, u, bypass, slot, &p);
	const uint64_t result = uop_result(c, u, slot, &p);
	*last = u + 1 == g->end || u[1].flags & UOP_SLOT;
	if (!way.wrong)
		uop_retire(c, g, u, *last, slot, &p, result);
	else if (wrong_wanted(c, p.is, slot->a.did))
		wrong_record(c, g->in->addr, p.is, p.port, p.size, slot->a.did, p.addr, slot->fetch, slot->a.alloc,
			p.ready, p.dispatch, p.complete);
	return true;
}

/* --- slots and instructions --- */

/* Delivers and allocates a slot, whose first uop is u. */
STAGE bool allocate_slot(
	struct core *c, const struct way way, const struct going *g, const struct uop *u, struct slot *slot)
{
	if (UNLIKELY(u->flags & (UOP_MS | UOP_GROUP) || u->kind == UOP_SERIALIZE))
		slot_special(c, u);
	if (UNLIKELY(g->of != NULL))
		detail_slot(c, g->of);
	slot->fetch = frontend_slot(c);
	uint64_t did = c->fe.did_path | c->fe.did | (way.wrong ? 0 : SPMU_DID(RETIRED));
	c->fe.did = 0;
	slot->a.alloc = way.wrong ? wrong_slot(c, slot->fetch, &did) : rename_slot(c, slot->fetch, &did);
	slot->a.did = did;
	if (way.wrong && slot->a.alloc == WRONG_NEVER)
		return false;
	if (UNLIKELY(c->old.reads)) {
		slot->a.alloc = p6_register_reads(c, u, g->end, slot->a.alloc);
		if (way.wrong && slot->a.alloc >= c->wrong.resolve)
			return false;
	}
	if (UNLIKELY(c->old.inorder) && u == g->first)
		inorder_issue(c, g->in, u, (unsigned)(g->end - u), slot->a.alloc + c->rn.dispatch_delay);
	slot->done = slot->a.alloc;
	slot->loads = c->rn.loads;
	slot->results = c->rn.results;
	slot->memory = false;
	c->q.slot_tail = c->q.tail;
	return true;
}

/* A slot of the instruction, from uop `first` on.  Returns the uop behind it; NULL: the wrong path ends in it. */
STAGE const struct uop *run_slot(struct core *c, const struct way way, const struct going *g, const struct uop *first)
{
	const uint64_t from = SPMU_DID(FROM_DSB) | SPMU_DID(FROM_MITE) | SPMU_DID(FROM_MS) | SPMU_DID(FROM_LSD);
	const struct uop *u = first;
	struct slot slot;
	if (!allocate_slot(c, way, g, u, &slot))
		return NULL;
	for (bool last;; slot.a.did &= from | (way.wrong ? 0 : SPMU_DID(RETIRED))) {
		if (!run_uop(c, way, g, u, &slot, &last))
			return NULL;
		u++;
		if (last)
			break;
	}
	if (way.wrong)
		wrong_slot_done(c, slot.loads);
	else if (UNLIKELY(c->old.reads))
		p6_retired(c, first, u, c->e.now);
	if (UNLIKELY(c->q.lock_slot && !c->q.wants_data))
		lsq_lock_done(c);
	if (UNLIKELY(u[-1].kind == UOP_SERIALIZE))
		rename_serialize(&c->rn, c->e.now + 1);
	return u;
}

/* An instruction without a slot, a NOP: it goes with the slot before it. */
static __attribute__((noinline)) void run_beside(struct core *c, const struct insn *in, const struct uop *u, bool wrong)
{
	const uint64_t at = c->rn.cycle, did = c->fe.did_path;
	if (UNLIKELY(c->e.detail) && !wrong)
		((struct core_detail *)detail_new(&c->e, DETAIL_UOP))->flags = DETAIL_BESIDE;
	emit_room(&c->e);
	if (wrong) {
		wrong_record(c, in->addr, u->is, PORT_NONE, 0, did, 0, at, at, at, at, at);
		return;
	}
	write_record(
		c, in->addr, u->is, PORT_NONE, 0, did | SPMU_DID(RETIRED), 0, at, at, at, at, at, max64(c->e.now, at));
	c->e.instructions++;
}

/* A PAUSE was allocated: it waits in its last uop, or behind its first (pause.cycles).  The cycle of its own
 * allocation lies between two of these signals. */
static __attribute__((noinline)) void pause_issue(struct core *c, bool first)
{
	if (first)
		rename_serialize(&c->rn, c->rn.cycle + c->config.pause_cycles);
	if (c->rn.serial > c->rn.cycle + 1)
		emit_signal(&c->e, SPMU_SIG_PAUSED, c->rn.cycle + 1, c->rn.serial, 1);
}

/* The instruction's slots, in order.  Returns false if the wrong path ends in it. */
STAGE bool run_insn(struct core *c, const struct way way, const struct insn *in, const struct uop *first, unsigned uops,
	const struct where *w)
{
	const struct uop *next = first, *end = first + uops;
	struct detail_of of;
	const struct going g = { in, first, end, w, !way.wrong && UNLIKELY(c->e.detail) ? &of : NULL };

	if (UNLIKELY(g.of != NULL))
		detail_insn(c, &of);
	if (LIKELY(c->fe.path != FE_MS))	/* else a REP instruction that goes on */
		frontend_insn(c, in, in->addr, in->flags & INSN_WIDE);
	if (UNLIKELY(!(first->flags & UOP_SLOT))) {
		run_beside(c, in, first, way.wrong);
		return true;
	}
	if (UNLIKELY(c->pa.on && !way.wrong))
		partial_insn(c, in, first, uops);
	emit_room(&c->e);
	do {
		if (UNLIKELY(uops > EMIT_UOPS))
			emit_room(&c->e);
		next = run_slot(c, way, &g, next);
		if (way.wrong && !next)
			return false;
	} while (next < end);
	if (UNLIKELY(c->pa.done && !way.wrong))
		partial_done(c);
	if (LIKELY(!w->stays) && !way.wrong)
		c->e.instructions += 1 + (uint32_t)(next[-1].is >> SPMU_IS_INST_END2 & 1);
	if (UNLIKELY((first->is | next[-1].is) & SPMU_IS(PAUSE)) && !c->config.free_serialize)
		pause_issue(c, first->is & SPMU_IS(PAUSE));
	if (UNLIKELY(c->fe.path == FE_MS && !w->stays))
		frontend_ms_leave(c);
	return true;
}

/* For those who come here rarely: core_step_general has a copy of its own, 4 % faster on cores whose code all
 * goes the general way. */
static __attribute__((noinline)) void
run_right(struct core *c, const struct insn *in, const struct uop *first, unsigned uops, const struct where *w)
{
	run_insn(c, (struct way){ .wrong = false }, in, first, uops, w);
}

void core_run_insn(
	struct core *c, const struct insn *in, const struct uop *u, unsigned uops, const uint64_t *at, bool stays)
{
	const struct where w = { .at = at, .stays = stays };
	if (uops)
		run_right(c, in, u, uops, &w);
}

const uint64_t *core_wrong_general(struct core *c, const uint64_t *word)
{
	const struct iblock *b = (const struct iblock *)word[1];
	const struct insn *in = &b->insn[(uint32_t)*word >> SCRIPT_INDEX];
	struct where w = { .at = word + 3, .way = *word, .went = word[2] };
	if (in->flags & (INSN_BRANCH | INSN_FUSES_NEXT))
		w.branch = in + !!(in->flags & INSN_FUSES_NEXT);
	const bool goes_on = run_insn(c, (struct way){ .wrong = true }, in, b->uop + in->first_uop, in->uops, &w);
	return goes_on ? word + 3 + in->uops : NULL;
}

/* A macro-fused pair of which only the first half was executed: its uops without the branch. */
static void run_half(
	struct core *c, const struct iblock *b, const struct insn *in, const uint64_t *slots, unsigned nslots)
{
	const uint64_t of_pair = SPMU_IS(INST_END2) | SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(MACRO_FUSED) |
	                         UINT64_C(15) << SPMU_IS_FUSED_SHIFT;
	struct uop uop[REP_UOPS];
	unsigned n = in->uops < REP_UOPS ? in->uops : REP_UOPS;
	memcpy(uop, b->uop + in->first_uop, n * sizeof *uop);
	for (unsigned i = 0; i < n; i++) {
		uop[i].is &= ~of_pair;
		if (uop[i].kind == UOP_BRANCH)
			uop[i].kind = UOP_COMPUTE;
	}
	run_right(c, in, uop, n, &(struct where){ .slots = slots, .nslots = nslots });
}

/* what: set of enum script_assist. */
static __attribute__((noinline)) void assists(struct core *c, unsigned what, uint64_t ip)
{
	if (what & SCRIPT_UPPERS)
		clears_assist(c,
			what & SCRIPT_AVX_TO_SSE ? SPMU_DID_ASSIST_AVX_TO_SSE : SPMU_DID_ASSIST_SSE_TO_AVX, ip);
	if (what >> SCRIPT_FP)
		clears_fp_assist(c, what >> SCRIPT_FP, ip);
}

/* What the words of few instructions ask for; beside: SCRIPT_BLEND, SCRIPT_HINT. */
static __attribute__((noinline)) void before(struct core *c, const struct iblock *b, unsigned i, unsigned beside,
	const uint64_t *end, struct blend *blend)
{
	if (beside & SCRIPT_BLEND)
		clears_blend_begin(c, b->uop + b->insn[i].first_uop, b->insn[i].uops, blend);
	if (beside & SCRIPT_HINT)
		elision_before(c, b, i, end);
}

static __attribute__((noinline)) void after(struct core *c, const struct iblock *b, unsigned i, unsigned beside,
	const uint64_t *word, const uint64_t *end, const struct blend *blend)
{
	if (beside & SCRIPT_BLEND)
		clears_blend_end(c, &b->insn[i], blend);
	if (beside & SCRIPT_HINT)
		elision_after(c, b, i, word, end);
}

void core_step_general(struct core *c, const uint64_t *word, const uint64_t *end)
{
	const struct iblock *b = (const struct iblock *)end[0];
	const uint64_t next_ip = end[1], *slots = end + 3;
	const unsigned i = (uint32_t)*word >> SCRIPT_INDEX, nslots = (uint32_t)end[2], insns = (unsigned)(end[2] >> 32);
	const struct insn *in = &b->insn[i];
	c->rn.quick = 0;
	if (UNLIKELY(*word >> SCRIPT_ASSIST & SCRIPT_ASSISTS))
		assists(c, (unsigned)(*word >> SCRIPT_ASSIST & SCRIPT_ASSISTS), in->addr);
	if (UNLIKELY(in->flags & INSN_REP)) {
		c->instructions--;
		rep_run(c, b, i, slots, nslots, i + 1 < insns ? b->insn[i + 1].addr : next_ip);
		return;
	}
	if (UNLIKELY(!in->uops))	/* fused into the one before */
		return;
	struct where w = { .slots = slots, .nslots = nslots };
	if (in->flags & (INSN_BRANCH | INSN_FUSES_NEXT)) {
		unsigned last = i + !!(in->flags & INSN_FUSES_NEXT);
		if (UNLIKELY(last >= insns)) {
			run_half(c, b, in, slots, nslots);
			return;
		}
		w.branch = &b->insn[last];
		w.way = *word;
		w.went = script_went(w.branch, last + 1 < insns ? w.branch[1].addr : next_ip);
	}
	struct blend blend;
	const unsigned beside = (unsigned)(*word >> SCRIPT_ASSIST & (SCRIPT_BLEND | SCRIPT_HINT));
	if (UNLIKELY(beside))
		before(c, b, i, beside, end, &blend);
	run_insn(c, (struct way){ .wrong = false }, in, b->uop + in->first_uop, in->uops, &w);
	if (UNLIKELY(beside))
		after(c, b, i, beside, word, end, &blend);
}
