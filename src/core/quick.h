/* SPDX-License-Identifier: GPL-2.0-or-later
 * A short way through the pipeline for the five shapes that most instructions have: a computation, a load, a branch, a
 * load with a computation on what it brought, a store.  core.c's run_insn does the same for every shape; what this one
 * saves is its questions, some two fifths of the host's instructions.
 *
 * The shape is looked up once a block (quick_classify) and kept in iblock.core_private, four bits an instruction.  It
 * follows from the block alone, so that cores of any machine may share it.
 */
#ifndef CORE_QUICK_H
#define CORE_QUICK_H
#include "core/lsq.h"
#include "core/rename.h"
#include <string.h>

enum quick { QUICK_NO, QUICK_COMPUTE, QUICK_LOAD, QUICK_BRANCH, QUICK_LOAD_COMPUTE, QUICK_STORE };
enum { QUICK_INSNS = 48 };	/* of a block; core_private[3]: looked up ([4] is core_predict's) */

void quick_classify(struct iblock *b);

static inline enum quick quick_kind(const struct iblock *b, unsigned i)
{
	return i < QUICK_INSNS ? (enum quick)(b->core_private[i >> 4] >> (i & 15) * 4 & 15) : QUICK_NO;
}

static inline void write_record(struct core *c, const struct insn *in, const struct uop *u, unsigned port, uint32_t size,
                                uint64_t did, uint64_t addr, uint64_t fetch, uint64_t alloc, uint64_t ready,
                                uint64_t dispatch, uint64_t complete, uint64_t retire)
{
	struct spmu_record *r = emit_uop(&c->e);
	const uint32_t base = (uint32_t)c->e.base;
	const uint32_t head = SPMU_REC_UOP | 3u << 16 | port << 24;
	memcpy(r, &head, sizeof head);		/* kind, hw_thread, cpl, port */
	r->size = size;
	r->ip = in->addr;
	r->is = u->is;
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
	struct rename *rn = &c->rn;
	uint64_t last = c->last_retire, retire = max64(done + c->retire_latency, last);
	uint32_t retired = retire == last ? c->retired + 1 : 1;
	bool full = retired > c->retire_width;
	retire += full;
	c->retired = full ? 1 : retired;
	c->last_retire = c->e.now = retire;

	uint32_t pos = rn->rob_pos;
	rn->rob[pos] = retire + 1;
	pos++;
	rn->rob_pos = pos == rn->rob_size ? 0 : pos;
	return retire;
}

static inline void write_result(struct core *c, const struct uop *u, uint64_t cycle)
{
	c->reg[u->dst[0]] = c->reg[u->dst[1]] = c->reg[u->dst[2]] = cycle;
	c->reg[REG_NONE] = 0;
}

static inline bool is_vector_load(const struct uop *u, uint32_t size)
{
	return (uint8_t)(u->dst[0] - REG_VEC) < REG_FLAGS - REG_VEC || size > 8;
}

/* A scheduler entry and a port; *alloc moves if there is none free.  one: most machines have but one port for it. */
static inline __attribute__((always_inline)) unsigned
quick_port(struct core *c, const struct uop *u, bool load, bool one, uint64_t *alloc, uint64_t *did)
{
	struct scheduler *sc = &c->sc;
	const struct port_choice *choice = &sc->choice[u->ports & sc->port_mask];
	if (UNLIKELY(sc->free[choice->pool] <= 0))
		*alloc = core_wait_entry(c, choice->pool, *alloc, did);
	unsigned port = load ? scheduler_load_port(sc, choice) :
	                one && choice->count == 1 ? choice->port[0] : scheduler_port(sc, choice, c->rn.slot);
	scheduler_enter(sc, choice, port);
	return port;
}

/* addr: of the access.  br, next: the branch that the uop is or is fused with, and what is executed behind it. */
static inline __attribute__((always_inline)) void
quick_run(struct core *c, const struct insn *in, const struct uop *u, const enum quick kind, uint64_t addr,
          const struct insn *br, uint64_t next)
{
	const bool load = kind == QUICK_LOAD || kind == QUICK_LOAD_COMPUTE, store = kind == QUICK_STORE;
	struct scheduler *sc = &c->sc;
	struct rename *rn = &c->rn;

	frontend_insn(c, in);
	emit_room(&c->e);
	uint64_t fetch = frontend_slot(c);
	uint64_t did = c->fe.did_path | c->fe.did | SPMU_DID(RETIRED), did2 = c->fe.did_path | SPMU_DID(RETIRED);
	c->fe.did = 0;
	uint64_t alloc = rename_slot(c, fetch, &did);
	uint32_t lb_pos = rn->lb_pos;
	if (load) {
		uint64_t free = rn->lb[lb_pos];
		if (UNLIKELY(free > alloc)) {
			alloc = rename_stall(c, SPMU_SIG_RESOURCE_STALL_LB, alloc, free);
			did |= SPMU_DID(STALL_LB);
		}
		rn->lb_pos = lb_pos + 1 == rn->lb_size ? 0 : lb_pos + 1;
	}
	if (store) {
		uint64_t free = lsq_room(c);
		if (UNLIKELY(free > alloc)) {
			alloc = rename_stall(c, SPMU_SIG_RESOURCE_STALL_SB, alloc, free);
			did |= SPMU_DID(STALL_SB);
		}
	}
	unsigned port = quick_port(c, u, load, kind == QUICK_BRANCH, &alloc, &did);
	uint64_t ready = max64(max64(c->reg[u->src[0]], c->reg[u->src[1]]), alloc + rn->dispatch_delay), dispatch, complete;
	struct store *s = NULL;
	if (load) {
		ready = max64(ready, c->q.load_floor);
		complete = lsq_load_quick(c, in->addr, addr, u->size, port, ready, is_vector_load(u, u->size), &did, &dispatch) +
		           u->latency;
	} else {
		dispatch = scheduler_take(sc, port, ready);
		complete = dispatch + (store ? 1 : u->latency);
	}
	if (store) {
		struct mem_result r = { 0, 0 };
		memsys_store_translate(c->mem, addr, u->size, dispatch, &r);
		complete = max64(complete, r.ready);
		did |= r.did;
		s = lsq_store(c, in->addr, addr, u->size, true, u->is & SPMU_IS(NON_TEMPORAL), complete - 1);
		c->q.wants_data = false;
	}
	if (!store)
		write_result(c, u, complete);

	uint64_t alloc2 = alloc, ready2 = 0, dispatch2 = 0, complete2 = 0;
	unsigned port2 = 0;
	if (kind == QUICK_LOAD_COMPUTE || store) {
		const struct uop *v = u + 1;
		port2 = quick_port(c, v, false, store, &alloc2, &did2);
		ready2 = max64(max64(max64(c->reg[v->src[0]], c->reg[v->src[1]]), c->reg[v->src[2]]), alloc2 + rn->dispatch_delay);
		dispatch2 = scheduler_take(sc, port2, ready2);
		complete2 = dispatch2 + v->latency;
		if (!store)
			write_result(c, v, complete2);
	}
	if (kind == QUICK_BRANCH)
		did |= core_branch(c, br, next, complete, &addr);

	uint64_t retire = retire_at(c, max64(complete, complete2));
	if (load)
		rn->lb[lb_pos] = retire + 1;
	if (store) {
		s->data_ready = max64(s->data_ready, complete2);
		s->retire = retire;
	}
	write_record(c, in, u, port, load || store ? u->size : 0, did, kind == QUICK_COMPUTE ? 0 : addr,
	             fetch, alloc, ready, dispatch, complete, retire);
	if (kind == QUICK_LOAD_COMPUTE || store)
		write_record(c, in, u + 1, port2, store ? u->size : 0, did2, store ? addr : 0,
		             fetch, alloc2, ready2, dispatch2, complete2, retire);
	c->e.instructions += 1 + (kind == QUICK_BRANCH && br != in);
}
#endif
