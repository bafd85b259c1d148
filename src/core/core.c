/* SPDX-License-Identifier: GPL-2.0-or-later
 * The core: takes blocks, sends each slot through the pipeline once, retires, writes records.
 *
 * Models: the way of a slot through front end, allocation, scheduler, memory and in-order retirement; branches;
 * serialising instructions and fences; machine clears and assists (clears.h); the wrong path (wrongpath.h, walker.h), if there is a walker; several hardware threads (smt.h).  Leaves out: interrupts, the
 * x87 stack's rotation from one block to the next (its registers are named relative to each block's entry).
 */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize ("no-tree-slp-vectorize", "no-tree-pre")	/* the first packs a record's fields in vector registers: 10 % slower */
#endif
#define CORE_SMT 1	/* the general way is the same for all */
#include "core/backend/bypass.h"
#include "core/backend/clears.h"
#include "core/record/detail_insn.h"
#include "core/backend/eliminate.h"
#include "core/older/inorder.h"
#include "core/older/netburst_core.h"
#include "core/older/p6.h"
#include "core/backend/partial_regs.h"
#include "core/smt.h"
#include "core/step.h"
#include "core/wrongpath/walker.h"
#include "core/wrongpath/wrongpath.h"
#include <stdlib.h>
#include <string.h>

void core_redirect(struct core *c, uint64_t resolve)
{
	struct frontend *fe = &c->fe;
	frontend_forget(c);
	fe->cycle = fe->predicted = max64(fe->cycle, resolve + c->config.recovery_redirect);
	c->rn.bubble_floor = max64(c->rn.bubble_floor, resolve + c->config.recovery_stall);
	emit_signal(&c->e, SPMU_SIG_RECOVERY, resolve, resolve + c->config.recovery_stall, 1);
}

uint64_t core_branch_unusual(struct core *c, const struct insn *br, uint64_t word, uint64_t went, uint64_t complete)
{
	struct frontend *fe = &c->fe;
	const uint64_t taken = script_says(word, SCRIPT_TAKEN) ? SPMU_DID(TAKEN) : 0;
	if (script_says(word, SCRIPT_FAR))	/* not predicted; it serialises */
		return SPMU_DID(TAKEN);
	if (script_says(word, SCRIPT_WRONG)) {
		c->wrong.resolve = complete;
		if (script_says(word, SCRIPT_PREDICTED))
			frontend_taken(c, br->addr, went);
		return taken | SPMU_DID(MISPREDICTED) | (script_says(word, SCRIPT_WRONG_TARGET) ? SPMU_DID(MISP_TARGET) : 0);
	}
	if (taken)
		frontend_taken(c, br->addr, went);
	uint64_t did = taken;
	if (script_says(word, SCRIPT_MISPREDICTED) && c->wrong.on) {	/* known, and fetch goes on as predicted (walker.h) */
		did = SPMU_DID(MISPREDICTED) | (script_says(word, SCRIPT_WRONG_TARGET) ? SPMU_DID(TAKEN) | SPMU_DID(MISP_TARGET) : taken ^ SPMU_DID(TAKEN));
	} else if (script_says(word, SCRIPT_MISPREDICTED)) {
		emit_signal(&c->e, SPMU_SIG_WRONG_PATH, c->rn.cycle + 1, max64(c->rn.cycle + 1, complete), 1);
		core_redirect(c, complete);
		return taken | SPMU_DID(MISPREDICTED) | (script_says(word, SCRIPT_WRONG_TARGET) ? SPMU_DID(MISP_TARGET) : 0);
	}
	if (c->config.predict_ahead && word >> SCRIPT_BUBBLE) {
		fe->predicted += word >> SCRIPT_BUBBLE;
		fe->pairs = false;
	} else {
		fe->cycle += word >> SCRIPT_BUBBLE;
	}
	if (!script_says(word, SCRIPT_RESTEER))
		return did;
	emit_signal(&c->e, SPMU_SIG_BACLEAR, fe->cycle, fe->cycle, 1);
	fe->cycle += c->config.frontend_resteer;
	return did | SPMU_DID(BTB_MISS);
}

struct slot {			/* one that is on its way */
	uint64_t done;		/* its uops are complete */
	uint32_t loads, results;	/* number of its first */
	bool memory;		/* it holds loads or stores */
};

/* All uops of the slot are done. */
static inline uint64_t retire_slot(struct core *c, const struct slot *slot)
{
	struct rename *rn = &c->rn;
	uint64_t retire = retire_at(c, slot->done);
	if (slot->memory) {
		struct lsq *q = &c->q;
		for (uint32_t i = slot->loads; i != rn->loads; i++)
			rn->lb[i & (LOAD_RING - 1)] = retire + 1;
		for (uint32_t n = q->slot_tail; n != q->tail; n++)
			q->store[n & q->mask].retire = retire;
	}
	if (UNLIKELY(rn->prf_size))
		rename_results_done(rn, slot->results, retire);
	return retire;
}

/* The slot's earlier records learn when it retired. */
static void retire_earlier(struct emitter *e, uint64_t retire)
{
	for (uint32_t i = e->hold - 1; i < e->count; i++)
		if (e->record[i].kind == SPMU_REC_UOP)
			e->record[i].retire = (uint32_t)(retire - e->base);
	e->hold = 0;
}

struct where {			/* of an instruction in its block */
	const uint64_t *slots;	/* the block's slot values */
	unsigned nslots;
	const uint64_t *at;	/* or an address for each uop */
	const struct insn *branch;	/* the branch it is or is fused with */
	uint64_t way, went;	/* of that: script.h's word, where it went */
	bool stays;		/* more rounds of this REP instruction follow */
};

static inline __attribute__((always_inline)) uint64_t
dispatch_at(struct core *c, unsigned ports, unsigned port, uint64_t ready, bool wrong)
{
	if (wrong)
		return wrong_take_any(c, &c->sc.choice[ports], port, ready);
	return LIKELY(port < SCHED_PORTS) ? scheduler_take(&c->sc, port, ready) : ready;
}

/* The slot needs more than the usual before it can be allocated. */
static void slot_special(struct core *c, const struct uop *u)
{
	if (u->flags & UOP_MS && c->fe.path != FE_MS && !c->config.frontend_simple)
		frontend_ms_enter(c);
	if (u->flags & UOP_GROUP)
		rename_new_group(c);
	if (u->kind == UOP_SERIALIZE)
		c->rn.barrier = max64(c->rn.barrier, max64(c->e.now + 1, lsq_drain(c)));
}

/* The scheduler has no entry: allocation waits for one. */
uint64_t core_wait_entry(struct core *c, const struct port_choice *choice, uint64_t alloc, uint64_t *did)
{
	scheduler_wait(&c->sc, choice);
	if (c->sc.walk <= alloc)
		return alloc;
	*did |= SPMU_DID(STALL_RS);
	return rename_stall(c, SPMU_SIG_RESOURCE_STALL_RS, alloc, c->sc.walk);
}

static uint64_t run_fence(struct core *c, const struct uop *u, uint64_t complete)
{
	if (u->kind == UOP_FENCE_LOAD || u->kind == UOP_FENCE_FULL) {
		complete = max64(complete, c->e.now + 1);
		if (u->kind == UOP_FENCE_FULL)
			complete = max64(complete, lsq_drain(c) + 1);
		c->rn.barrier = max64(c->rn.barrier, complete);
	}
	return complete;
}

static uint64_t run_unit(struct core *c, const struct uop *u, unsigned busy, unsigned ports, unsigned port, uint64_t ready, bool wrong)
{
	const unsigned unit = unit_of(u, port);
	uint64_t dispatch = wrong ? wrong_take_unit(c, &c->sc.choice[ports], port, ready, unit, busy) :
	                    scheduler_take_unit(&c->sc, port, ready, unit, busy);
	if (u->unit != UNIT_OTHER && dispatch != WRONG_NEVER)
		emit_signal(&c->e, SPMU_SIG_DIVIDER_ACTIVE, dispatch, dispatch + busy, 1);
	return dispatch;
}

/* An integer divider that works until it has the quotient's bits.  did: format.h's ST_SLOT_DIVIDED.  busy: the least, of this width. */
static __attribute__((noinline)) void divide_time(const struct core_config *f, uint64_t did, unsigned *latency, unsigned *busy)
{
	const uint64_t upper = did & ~ST_DIVIDED_WIDE;	/* the quotient but for its lowest bit */
	*latency = f->divide_latency + (upper ? 64 - (unsigned)__builtin_clzll(upper) : 0) / f->divide_bits + (did & ST_DIVIDED_WIDE ? f->divide_wide : 0);
	if (*latency > *busy + f->divide_overlap)
		*busy = *latency - f->divide_overlap;
}

/* Older cores: when the uop goes, and where.  Returns 1 if its result is there half a cycle before the cycle that it completes with. */
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

static __attribute__((noinline)) void
older_done(struct core *c, const struct uop *u, unsigned *port, uint8_t early, uint64_t dispatch, uint64_t complete, uint64_t *did)
{
	struct older *o = &c->old;
	if (o->inorder) {
		inorder_done(c, u, dispatch, complete);
		*port = o->pipe;
	}
	uint64_t hoped = 0;
	if (o->replay) {
		bool vector = (uint8_t)(u->dst[0] - REG_VEC) < REG_FLAGS - REG_VEC;
		hoped = netburst_hoped(c, u, dispatch, dispatch + c->config.l1d_latency + (vector ? c->config.l1d_vector_extra : 0) + u->latency, complete, did);
	}
	for (unsigned k = 0; k < 3; k++) {
		o->early[u->dst[k]] = early;
		o->hoped[u->dst[k]] = hoped;
		o->why[u->dst[k]] = *did & REPLAY_CAUSES;
	}
	o->early[REG_NONE] = 0;
	o->hoped[REG_NONE] = 0;
}

/* An instruction without a slot, a NOP: it goes with the slot before it. */
static __attribute__((noinline)) void run_beside(struct core *c, const struct insn *in, const struct uop *u, bool wrong)
{
	const uint64_t at = c->rn.cycle, did = c->fe.did_path;
	if (UNLIKELY(c->e.detail) && !wrong)
		((struct core_detail *)detail_new(&c->e, DETAIL_UOP))->flags = DETAIL_BESIDE;
	emit_room(&c->e);
	if (wrong) {
		wrong_record(c, in->addr, u->is, 255, 0, did, 0, at, at, at, at, at);
		return;
	}
	write_record(c, in->addr, u->is, 255, 0, did | SPMU_DID(RETIRED), 0, at, at, at, at, at, max64(c->e.now, at));
	c->e.instructions++;
}

/* wrong: on the wrong path (wrongpath.h); false: it ends here. */
static inline __attribute__((always_inline)) bool
run_insn(struct core *c, const struct insn *in, const struct uop *first, unsigned uops, const struct where w, const bool wrong)
{
	struct scheduler *sc = &c->sc;
	struct rename *rn = &c->rn;
	struct lsq *q = &c->q;
	const struct uop *next = first, *end = first + uops;
	const bool detail = !wrong && UNLIKELY(c->e.detail);
	struct detail_of of;

	if (UNLIKELY(detail))
		of = (struct detail_of){ .waited = c->fe.waited, .waited_memory = c->fe.waited_memory, .waited_l3 = c->fe.waited_l3, .waited_tlb = c->fe.waited_tlb };
	if (LIKELY(c->fe.path != FE_MS))	/* else a REP instruction that goes on */
		frontend_insn(c, in, in->addr, in->flags & INSN_WIDE);
	if (UNLIKELY(!(first->flags & UOP_SLOT))) {
		run_beside(c, in, first, wrong);
		return true;
	}
	if (UNLIKELY(c->pa.on && !wrong))
		partial_insn(c, in, first, uops);
	emit_room(&c->e);
	do {				/* a slot */
		const struct uop *u = next, *slot_begin = next;
		if (UNLIKELY(uops > EMIT_UOPS))
			emit_room(&c->e);
		if (UNLIKELY(u->flags & (UOP_MS | UOP_GROUP) || u->kind == UOP_SERIALIZE))
			slot_special(c, u);
		if (UNLIKELY(detail))
			detail_slot(c, &of);
		uint64_t fetch = frontend_slot(c);
		uint64_t did = c->fe.did_path | c->fe.did | (wrong ? 0 : SPMU_DID(RETIRED));
		c->fe.did = 0;
		uint64_t alloc = wrong ? wrong_slot(c, fetch, &did) : rename_slot(c, fetch, &did);
		if (wrong && alloc == WRONG_NEVER)
			return false;
		if (UNLIKELY(c->old.reads)) {
			alloc = p6_register_reads(c, u, end, alloc);
			if (wrong && alloc >= c->wrong.resolve)
				return false;
		}
		if (UNLIKELY(c->old.inorder) && u == first)
			inorder_issue(c, in, first, uops, alloc + rn->dispatch_delay);
		struct slot slot = { .done = alloc, .loads = rn->loads, .results = rn->results };
		q->slot_tail = q->tail;
		for (;;) {		/* a uop */
			unsigned port = 255, ports = UNLIKELY(c->old.inorder) ? 0 : u->ports & sc->port_mask;
			unsigned bypass = 0, latency = u->latency, busy = u->busy;
			uint8_t early = 0, kind = u->kind;
			uint64_t addr = 0, ready, dispatch, complete, is = u->is, renamed = 0;
			uint32_t size = 0;
			bool access = false;

			if (u->kind != UOP_COMPUTE && u->size) {
				size = u->size;
				if (w.at)
					addr = w.at[u - first];
				else
					addr = u->slot < w.nslots ? w.slots[u->slot] : ST_NOT_DONE;
				access = addr != ST_NOT_DONE;
				if (UNLIKELY(!access))
					addr = size = 0;
			}
			if (UNLIKELY(detail)) {
				of.memory = c->e.spent_memory;
				of.tlb = c->e.spent_tlb;
				of.walk = c->e.spent_walk;
				q->forwarded = 0;
			}
			if (u->kind == UOP_LOAD) {
				if (wrong && UNLIKELY(!wrong_load_room(c)))
					return false;
				uint64_t free = *rename_load(c);
				slot.memory = true;
				if (UNLIKELY(free > alloc)) {
					if (wrong && !wrong_may_wait(c, RUN_LB, SPMU_SIG_RESOURCE_STALL_LB, alloc, free))
						return false;
					alloc = rename_stall(c, SPMU_SIG_RESOURCE_STALL_LB, alloc, free);
					did |= SPMU_DID(STALL_LB);
				}
			} else if (u->kind == UOP_STORE_ADDR) {
				uint64_t free = wrong ? wrong_store_room(c) : lsq_room(c);
				slot.memory = true;
				if (UNLIKELY(free > alloc)) {
					if (wrong && !wrong_may_wait(c, RUN_SB, SPMU_SIG_RESOURCE_STALL_SB, alloc, free))
						return false;
					alloc = rename_stall(c, SPMU_SIG_RESOURCE_STALL_SB, alloc, free);
					did |= SPMU_DID(STALL_SB);
				}
			}
			if (UNLIKELY(kind == UOP_ELIMINATED && ports)) {
				if (eliminate(c, u->src[0], u->dst[0], u->constant, !(u->flags & UOP_ADDS), alloc)) {
					ports = 0;
				} else {
					kind = UOP_COMPUTE;
					is = (is & ~SPMU_IS(ELIMINATED)) | SPMU_IS(EXEC);
				}
			}
			if (UNLIKELY(rn->prf_size) && ports && !wrong && reg_any_general(u->dst))
				alloc = rename_result(c, alloc, &did);
			if (LIKELY(ports)) {
				const struct port_choice *choice = &sc->choice[ports];
				if (UNLIKELY(scheduler_full(sc, choice))) {
					alloc = wrong ? wrong_wait_entry(c, choice, alloc, &did) : core_wait_entry(c, choice, alloc, &did);
					if (wrong && alloc == WRONG_NEVER)
						return false;
				}
				port = u->kind == UOP_LOAD ? scheduler_load_port(sc, choice) : scheduler_port(sc, choice, rn->slot);
			}
			ready = max64(max64(max64(c->reg[u->src[0]], c->reg[u->src[1]]), max64(c->reg[u->src[2]], c->reg[u->src[3]])),
			              alloc + rn->dispatch_delay);
			if (UNLIKELY(c->old.any) && !(wrong && ready >= c->wrong.resolve))
				early = older_ready(c, u, alloc + rn->dispatch_delay, &port, &ready, &did);
			if (UNLIKELY(kind == UOP_COMPUTE && u->domain))
				bypass = bypass_delay(c, u->src, u->domain, port, &ready);
			if (LIKELY(ports))
				scheduler_enter(sc, &sc->choice[ports], port);

			switch (kind) {
			case UOP_COMPUTE:
			case UOP_BRANCH:
				if (UNLIKELY(busy > 1 && u->unit && ports)) {
					if (c->config.divide_latency && u->slot < w.nslots)
						divide_time(&c->config, w.slots[u->slot], &latency, &busy);
					dispatch = run_unit(c, u, busy, ports, port, ready, wrong);
				} else {
					dispatch = dispatch_at(c, ports, port, ready, wrong);
				}
				complete = dispatch + latency + !latency + bypass;
				if (kind == UOP_BRANCH && LIKELY(w.branch != NULL)) {
					addr = w.went;
					did |= step_branched(c, w.branch, w.branch->addr, w.way, addr, complete);
				}
				break;
			case UOP_LOAD:
				ready = max64(ready, q->load_floor);
				if (UNLIKELY(u->is & SPMU_IS(LOCK)) && !wrong)
					ready = max64(ready, lsq_drain(c));
				if (UNLIKELY(detail))
					of.renames = lsq_may_rename(c, addr, size, u->load);
				if (LIKELY(access && !(u->is & SPMU_IS(PREFETCH_SW)))) {
					bool vector = (uint8_t)(u->dst[0] - REG_VEC) < REG_FLAGS - REG_VEC || size > 8;
					complete = (wrong ? wrong_load(c, &sc->choice[ports], in->addr, addr, size, port, ready, vector, &did, &dispatch) :
					            lsq_load_more(c, in->addr, addr, size, port, ready, vector, u->load, &did, &dispatch, &renamed)) + u->latency;
					if (UNLIKELY(c->cl.watching) && !wrong)
						clears_watch(c, rn->loads - 1, in->addr, addr, complete);
					if (UNLIKELY(u->is & SPMU_IS(LOCK)))
						q->lock_begin = dispatch;
					break;
				}
				dispatch = dispatch_at(c, ports, port, ready, wrong);
				complete = dispatch + (u->is & SPMU_IS(PREFETCH_SW) ? 1 : q->l1d_latency);
				if (access && !(wrong && dispatch == WRONG_NEVER)) {
					memsys_prefetch(c->mem, addr, dispatch);
					emit_signal(&c->e, SPMU_SIG_SW_PREFETCH, dispatch, dispatch, 1);
				}
				break;
			case UOP_STORE_ADDR:
				dispatch = dispatch_at(c, ports, port, ready, wrong);
				complete = dispatch + 1;
				if (LIKELY(access) && !(wrong && dispatch == WRONG_NEVER)) {
					struct mem_result r = { 0, 0 };
					memsys_store_translate(c->mem, addr, size, dispatch, &r);
					complete = max64(complete, r.ready);
					did |= r.did;
				}
				if (wrong)
					wrong_log_store(c, addr, size);
				struct store *st = lsq_store(c, in->addr, addr, size, access, u->is & SPMU_IS(NON_TEMPORAL), complete - 1);
				if (UNLIKELY(q->rename_stores))
					lsq_store_address(c, st, u->load);
				if (wrong)
					q->store[(q->tail - 1) & q->mask].retire = WRONG_NEVER;
				q->lock_slot |= (u->is & SPMU_IS(LOCK)) != 0;
				break;
			case UOP_STORE_DATA:
				dispatch = dispatch_at(c, ports, port, ready, wrong);
				complete = dispatch + u->latency + !u->latency;
				if (LIKELY(q->wants_data)) {
					struct store *s = &q->store[(q->tail - 1) & q->mask];
					q->given[s - q->store] = ready;
					s->data_ready = max64(s->data_ready, complete);
					s->retire = max64(s->retire, complete);
					q->wants_data = false;
					if (q->slot_tail == q->tail)	/* the address went in a slot of its own */
						q->slot_tail--;
					slot.memory = true;
				}
				break;
			case UOP_ELIMINATED:	/* the destination is the source's physical register */
			case UOP_NOP:
				complete = dispatch = ready = UNLIKELY(c->old.inorder) ? ready : alloc;
				break;
			default:
				dispatch = dispatch_at(c, ports, port, ready, wrong);
				complete = run_fence(c, u, dispatch + u->latency + !u->latency);
				break;
			}
			if (UNLIKELY(c->old.any))
				older_done(c, u, &port, early, dispatch, complete, &did);
			uint64_t result = kind == UOP_ELIMINATED ? c->reg[u->src[0]] : UNLIKELY(renamed) ? renamed : complete;
			if (UNLIKELY(kind == UOP_COMPUTE && u->domain)) {
				bypass_result(c, u->dst, u->domain, port, complete);
				if (u->domain & DOMAIN_SLOW && ports && dispatch != WRONG_NEVER)
					scheduler_slow(sc, port, dispatch);
			}
			c->reg[u->dst[0]] = c->reg[u->dst[1]] = c->reg[u->dst[2]] = result;
			c->reg[REG_NONE] = 0;
			slot.done = max64(slot.done, complete);

			bool last = ++next == end || next->flags & UOP_SLOT;
			if (wrong) {
				if (wrong_wanted(c, is, did))
					wrong_record(c, in->addr, is, port, size, did, addr, fetch, alloc, ready, dispatch, complete);
				if (last) {
					wrong_slot_done(c, slot.loads);
					break;
				}
				did &= SPMU_DID(FROM_DSB) | SPMU_DID(FROM_MITE) | SPMU_DID(FROM_MS) | SPMU_DID(FROM_LSD);
				u = next;
				continue;
			}
			uint64_t retire = last ? retire_slot(c, &slot) : complete;
			if (UNLIKELY(detail))
				detail_uop(c, u, kind, port, busy, result, last, &of);
			uint32_t count = c->e.count;
			write_record(c, in->addr, is, port, size, did, addr, fetch, alloc, ready, dispatch, complete, retire);
			if (last) {
				if (UNLIKELY(c->old.reads))
					p6_retired(c, slot_begin, next, retire);
				if (c->e.hold)
					retire_earlier(&c->e, retire);
				break;
			}
			if (!c->e.hold && c->e.count != count)
				c->e.hold = c->e.count;		/* 1 + index of this record */
			did &= SPMU_DID(FROM_DSB) | SPMU_DID(FROM_MITE) | SPMU_DID(FROM_MS) | SPMU_DID(FROM_LSD) | SPMU_DID(RETIRED);
			u = next;
		}
		if (UNLIKELY(q->lock_slot && !q->wants_data))
			lsq_lock_done(c);
		if (UNLIKELY(u->kind == UOP_SERIALIZE))
			rn->barrier = max64(rn->barrier, c->e.now + 1);
	} while (next < end);
	if (UNLIKELY(c->pa.done && !wrong))
		partial_done(c);
	if (LIKELY(!w.stays) && !wrong)
		c->e.instructions += 1 + (uint32_t)(next[-1].is >> SPMU_IS_INST_END2 & 1);
	if (UNLIKELY(first->is & SPMU_IS(PAUSE)))
		rn->barrier = max64(rn->barrier, rn->cycle + c->config.pause_cycles);
	if (UNLIKELY(c->fe.path == FE_MS && !w.stays))
		frontend_ms_leave(c);
	return true;
}

void core_run_insn(struct core *c, const struct insn *in, const struct uop *u, unsigned uops, const uint64_t *at, bool stays)
{
	const struct where w = { .at = at, .stays = stays };
	if (uops)
		run_insn(c, in, u, uops, w, false);
}

const uint64_t *core_wrong_general(struct core *c, const uint64_t *word)
{
	const struct iblock *b = (const struct iblock *)word[1];
	const struct insn *in = &b->insn[(uint32_t)*word >> SCRIPT_INDEX];
	struct where w = { .at = word + 3, .way = *word, .went = word[2] };
	if (in->flags & (INSN_BRANCH | INSN_FUSES_NEXT))
		w.branch = in + !!(in->flags & INSN_FUSES_NEXT);
	return run_insn(c, in, b->uop + in->first_uop, in->uops, w, true) ? word + 3 + in->uops : NULL;
}

/* A macro-fused pair of which only the first half was executed: its uops without the branch. */
static void run_half(struct core *c, const struct iblock *b, const struct insn *in, const uint64_t *slots, unsigned nslots)
{
	struct uop uop[REP_UOPS];
	unsigned n = in->uops < REP_UOPS ? in->uops : REP_UOPS;
	memcpy(uop, b->uop + in->first_uop, n * sizeof *uop);
	for (unsigned i = 0; i < n; i++) {
		uop[i].is &= ~(SPMU_IS(INST_END2) | SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(MACRO_FUSED) | UINT64_C(15) << SPMU_IS_FUSED_SHIFT);
		if (uop[i].kind == UOP_BRANCH)
			uop[i].kind = UOP_COMPUTE;
	}
	const struct where w = { .slots = slots, .nslots = nslots };
	run_insn(c, in, uop, n, w, false);
}

/* An instruction goes the general way. */
void core_step_general(struct core *c, const uint64_t *word, const uint64_t *end)
{
	const struct iblock *b = (const struct iblock *)end[0];
	const uint64_t next_ip = end[1], *slots = end + 3;
	const unsigned i = (uint32_t)*word >> SCRIPT_INDEX, nslots = (uint32_t)end[2], insns = (unsigned)(end[2] >> 32);
	const struct insn *in = &b->insn[i];
	if (UNLIKELY(*word >> SCRIPT_ASSIST & SCRIPT_ASSISTS))
		clears_assist(c, *word >> SCRIPT_ASSIST & SCRIPT_AVX_TO_SSE ? SPMU_DID_ASSIST_AVX_TO_SSE : SPMU_DID_ASSIST_SSE_TO_AVX, in->addr);
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
	run_insn(c, in, b->uop + in->first_uop, in->uops, w, false);
}

/* The script begins with the REP instruction that is in flight. */
bool core_rep_goes_on(const struct core *c, const uint64_t *script)
{
	const uint64_t first = script[1];
	switch (first & SCRIPT_KIND) {
	case SCRIPT_END:
		return false;
	case STEP_GENERAL:
		return c->rep.addr == ((const struct iblock *)script_end(script)[0])->insn[(uint32_t)first >> SCRIPT_INDEX].addr;
	default:
		return c->rep.addr == script_step(first)->ip;
	}
}

void core_run_script(struct core *c, const uint64_t *w)
{
	c->steps(c, w);
}

const uint64_t *core_run_scripts(struct core *c, const uint64_t *op, const uint64_t *end, const uint64_t *stop)
{
	c->follow.end = c->st ? op + 1 : end;	/* a hardware thread of several takes turns */
	c->follow.stop = stop;
	c->follow.steps = c->steps;
	c->steps(c, op + SCRIPT_OP_WORDS);
	c->follow.end = NULL;
	return c->follow.next;
}

void core_run_block(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip)
{
	uint64_t script[core_script_room(b) + (c->walker ? CORE_SCRIPT_WALK : 0)];
	core_script(c, b, exit, insns, slots, next_ip, script);
	core_run_script(c, script);
}

void core_set_walker(struct core *c, struct walker *w)
{
	c->walker = w;
	c->walked = w ? walker_ran(w) : NULL;
	rename_rings(c, w || c->config.wrong_path);
}

/* Before whatever may reach memory, but for scripts: those enter by themselves. */
static inline void enter(struct core *c)
{
	if (UNLIKELY(c->st != NULL))
		smt_enter(c);
}

void core_warm_memory(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots)
{
	unsigned nslots = core_executed(b, exit, &insns);
	uint64_t line = FE_NOWHERE;

	enter(c);
	if (c->rep.active)
		rep_end(c, false);
	for (unsigned i = 0; i < insns; i++) {
		const struct insn *in = &b->insn[i];
		if (in->addr >> c->fe.line_log2 != line) {
			line = in->addr >> c->fe.line_log2;
			memsys_warm_fetch(c->mem, in->addr);
		}
		for (unsigned s = in->first_slot, n = s + in->slots; s < n && s < nslots; s++) {
			unsigned kind = b->slot[s].kind;
			if (kind <= ST_SLOT_LOADSTORE && kind && slots[s] != ST_NOT_DONE)
				memsys_warm_data(c->mem, in->addr, slots[s], b->slot[s].size, kind & ST_SLOT_STORE);
		}
	}
	frontend_elsewhere(c);
}

void core_warm_block(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots, uint64_t next_ip)
{
	core_predict(c, b, exit, insns, next_ip);
	core_warm_memory(c, b, exit, insns, slots);
}

void core_flush(struct core *c, bool last)
{
	if (last) {
		enter(c);
		if (c->rep.active)
			rep_end(c, false);
		lsq_drain(c);
		c->e.watermark = max64(c->e.watermark, c->e.now);
	}
	emit_flush(&c->e, last);
}

void core_discard_code(struct core *c, uint64_t addr, uint64_t bytes)
{
	frontend_discard(c, addr, bytes);
}

uint64_t core_now(const struct core *c)
{
	return c->e.now;
}

uint64_t core_instructions(const struct core *c)
{
	return c->instructions;
}

/* No other records. */
static bool wants_branches(uint64_t is, uint64_t did)
{
	return !(is & ~STEP_BRANCH_IS) && !(did & ~STEP_BRANCH_DID);
}

void core_choose_steps(struct core *c)
{
	const enum steps_for what = wants_branches(c->e.wanted_is, c->e.wanted_did) ? STEPS_QUIET : STEPS_ALL;
	const bool sse4 = __builtin_cpu_supports("sse4.1");
	c->steps = c->cl.watching ? core_steps_watched(what) : sse4 ? core_steps_sse4(what) : NULL;
	const enum steps_for wrong = what == STEPS_QUIET ? STEPS_WRONG_QUIET : STEPS_WRONG;
	c->wrong_steps = sse4 ? core_steps_sse4(wrong) : NULL;
	if (!c->steps)
		c->steps = core_steps(what);
	if (!c->wrong_steps)
		c->wrong_steps = core_steps(wrong);
	if (c->st) {
		c->cl.watching = true;
		c->smt_steps = core_steps_smt(what);
		c->steps = smt_steps;
	}
}

void core_want(struct core *c, const struct core_wanted *w)
{
	if (wants_branches(c->e.wanted_is, c->e.wanted_did))
		c->fe.did = 0;	/* nobody took these bits along */
	c->e.wanted[0] = w->signal[0];
	c->e.wanted[1] = w->signal[1];
	c->e.wanted_is = w->is;
	c->e.wanted_did = w->did;
	c->e.detail = w->detail && !c->st && !c->old.any;
	c->pa.general |= c->e.detail;
	core_choose_steps(c);
	c->e.span = w->is == ~UINT64_C(0) ? EMIT_SPAN : EMIT_SPAN_SPARSE;
}

/* Everything in flight is done; the next instruction is fetched at `cycle`. */
static void restart(struct core *c, uint64_t cycle)
{
	frontend_forget(c);
	c->fe.cycle = max64(c->fe.cycle, cycle);
	c->fe.pd = c->fe.cycle;
	c->q.advanced = max64(c->q.advanced, cycle);
	c->rn.barrier = max64(c->rn.barrier, cycle);
	c->rn.bubble_floor = max64(c->rn.bubble_floor, cycle);
	c->e.now = max64(c->e.now, cycle);
	c->retire_next = c->e.now << RETIRE_SHIFT;
	c->e.watermark = c->e.cycles_from = cycle;
}

uint64_t core_clock(const struct core *c)
{
	return max64(c->rn.cycle, c->rn.barrier);
}

void core_hold(struct core *c, uint64_t cycle)
{
	c->rn.barrier = max64(c->rn.barrier, cycle);
}

void core_settle(struct core *c)
{
	enter(c);
	while (c->q.head != c->q.tail && !(c->q.wants_data && c->q.head + 1 == c->q.tail))
		lsq_commit(c);
}

void core_leave(struct core *c)
{
	enter(c);
	if (c->rep.active)
		rep_end(c, false);
	lsq_drain(c);
	c->e.watermark = max64(c->e.watermark, c->e.now);
	emit_flush(&c->e, false);
}

void core_switch_to(struct core *c, void *context, uint64_t cycle)
{
	core_leave(c);
	c->e.context = context;
	memset(c->reg, 0, sizeof c->reg);
	restart(c, max64(cycle, c->e.now));
	c->e.base = c->e.watermark;
}

void core_halt_until(struct core *c, uint64_t cycle)
{
	if (cycle <= c->e.now)
		return;
	enter(c);
	if (c->rep.active)
		rep_end(c, false);
	lsq_drain(c);
	c->e.watermark = cycle;
	emit_flush(&c->e, false);	/* the stretch that ends here; the next batch is based behind the gap */
	restart(c, cycle);
}

/* The same lines each time: a handler has its own.  They are where Linux has its text and its direct map. */
void core_interrupt(struct core *c, uint64_t cycles, unsigned lines)
{
	enter(c);
	if (c->rep.active)	/* its last cycles are the program's */
		rep_end(c, false);
	core_halt_until(c, c->e.now + cycles);
	frontend_elsewhere(c);
	for (unsigned i = 0; i < lines; i++) {
		memsys_warm_fetch(c->mem, UINT64_C(0xffffffff81000000) + 64 * i);
		memsys_warm_data(c->mem, 0, UINT64_C(0xffff888000000000) + 64 * i, 8, true);
	}
}

static void drain(struct core *c, uint64_t least)
{
	enter(c);
	if (c->rep.active)
		rep_end(c, false);
	c->e.now = max64(c->e.now + least, lsq_drain(c));
	c->e.watermark = c->e.now;
	emit_flush(&c->e, false);
	restart(c, c->e.now);
}

void core_serialize(struct core *c)
{
	drain(c, 1);
}

void core_drain(struct core *c)
{
	drain(c, 0);
}

static void reset(struct core *c, uint64_t cycle)
{
	memset(c->reg, 0, sizeof c->reg);
	frontend_reset(c, cycle);
	rename_reset(c, cycle);
	scheduler_reset(c, cycle);
	lsq_reset(c, cycle);
	older_reset(c);
	eliminate_reset(c);
	partial_reset(c);
	clears_reset(c);
	c->by = (struct bypass){ .delay = c->config.bypass_delay, .ports = c->config.bypass_ports, .fp_add = c->config.bypass_fp_add };
	c->retire_next = cycle << RETIRE_SHIFT;
	c->rep.active = c->rep.pending = false;
	c->e.count = c->e.hold = c->e.instructions = 0;
	memset(c->e.run, 0, sizeof c->e.run);
	c->e.base = c->e.watermark = c->e.now = c->e.cycles_from = cycle;
}

void core_reset(struct core *c, uint64_t cycle)
{
	core_flush(c, true);
	if (!c->st || c->st->smt->members == 1) {
		memsys_reset(c->mem);
		bpred_reset(c->bp);
	}
	reset(c, cycle);
}

unsigned core_hw_thread(const struct core *c)
{
	return c->e.hw_thread;
}

static int create(struct core **out, struct machine *m, struct core *of, core_emit *emit, void *context, struct err *err)
{
	struct core *c = aligned_alloc(CORE_APART, sizeof *c);
	if (!c)
		return err_set(err, ERR_NOMEM, "out of memory for a core");
	memset(c, 0, sizeof *c);
	c->config = m->config;
	c->machine = m;
	c->retire_width = m->config.retire_width;
	c->retire_latency = m->config.retire_latency;
	c->e.emit = emit;
	c->e.context = context;
	clears_init(c);
	c->e.record = malloc(SPMU_BATCH_MAX * sizeof *c->e.record);
	core_want(c, &(struct core_wanted){ .signal = { ~UINT64_C(0), ~UINT64_C(0) }, .is = ~UINT64_C(0), .did = ~UINT64_C(0) });
	int code = c->e.record ? older_init(c, err) : err_set(err, ERR_NOMEM, "out of memory for a core's records");
	if (!code)
		code = frontend_init(c, err);
	if (!code)
		code = scheduler_init(c, err);
	if (!code && of)
		code = smt_join(of, c, err);
	if (!code && of) {
		c->mem = of->mem;
		c->bp = of->bp;
	}
	if (!code && !of)
		code = memsys_create(&c->mem, m->shared, &m->config, &c->e, err);
	if (!code && !of)
		code = bpred_create(&c->bp, &m->config, err);
	if (code) {
		core_destroy(c);
		return code;
	}
	core_choose_steps(c);
	reset(c, 0);
	*out = c;
	return 0;
}

int core_create(struct core **out, struct machine *m, core_emit *emit, void *context, struct err *err)
{
	return create(out, m, NULL, emit, context, err);
}

int core_create_thread(struct core **out, struct core *of, core_emit *emit, void *context, struct err *err)
{
	return create(out, of->machine, of, emit, context, err);
}

void core_destroy(struct core *c)
{
	if (!c)
		return;
	bool last = !c->st || smt_leave(c);
	if (c->bp && last)
		bpred_destroy(c->bp);
	if (c->mem && last)
		memsys_destroy(c->mem);
	scheduler_release(c);
	frontend_release(c);
	older_release(c);
	free(c->e.record);
	free(c);
}
