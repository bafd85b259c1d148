/* SPDX-License-Identifier: GPL-2.0-or-later
 * The front end: uop cache (DSB), legacy decode (MITE), microcode sequencer (MS), loop buffer (LSD), uop queue.
 *
 * Models: windows and lines of the uop cache, which the legacy path's decoders fill; lines that are read in a
 * cycle, and constants that take two places (A. Fog, "The microarchitecture of Intel, AMD and VIA CPUs", uop
 * cache; A. Abel, J. Reineke, "uiCA", ICS 2022: two lines a cycle); windows that are kept out by the microcode
 * update for the Jcc erratum, by length-changing prefixes, or (dsb.halves) by the other half of their 64 bytes;
 * one taken branch a cycle, or pairs of blocks (predict.pairs); branch prediction that runs ahead, so that lines
 * arrive in L1I before the decoders need them (predict.ahead); lines that go on in the next window, and
 * windows of more lines than are read at once (dsb.straddle, dsb.rereads); fetch blocks, predecode width,
 * length-changing prefixes, the lead of the instruction queue over the decoders, decode groups; switches
 * between the paths; microcode that begins when the uop queue has let go of the slots before it (ms.drain); the
 * capacity of the uop queue.
 * Leaves out: the limit of branches in a uop-cache line; the room of lines that begin where a taken branch
 * leads into other lines (dsb.straddle); that fetch runs ahead into L1I while the uop cache delivers.
 */
#ifndef CORE_FRONTEND_H
#define CORE_FRONTEND_H
#include "core/pipeline.h"
#if CORE_SMT
#include "core/smt.h"
#endif

#define FE_NOWHERE (~UINT64_C(0))

static inline uint64_t *slot_alloc(struct rename *rn, uint32_t pos)
{
	return (uint64_t *)((char *)rn->alloc + (pos & rn->alloc_mask));
}
static inline uint64_t *slot_free(struct rename *rn, uint32_t pos)
{
	return (uint64_t *)((char *)rn->free + (pos & rn->free_mask));
}

/* As frontend_insn, when the instruction is not one of frontend.mask. */
void frontend_enter(struct core *c, const struct insn *in, uint64_t addr, bool wide);
void frontend_ms_enter(struct core *c);
void frontend_ms_leave(struct core *c);
void frontend_loop(struct core *c, uint64_t ip, uint64_t target);
#define DSB_STAMPS (UINT32_MAX / 2)	/* from here on, frontend_warm makes the uop cache's stamps small again */
/* Warming: the uop cache, and if that does not hold them L1I, see the instructions [first, end) of a block, which lie
 * in one window. */
void frontend_warm(struct core *c, const struct iblock *b, unsigned first, unsigned end);
/* Takes over the uop cache of another core of the same description. */
void frontend_copy(struct core *to, const struct core *from);

/* When L1I is asked for a line that branch prediction came to in `predicted`, and that the decoders need in `needed`.
 * Not at any time before, because a batch of records has to wait for its earliest; memory answers in fewer cycles. */
enum { ASKS_AHEAD = 512 };
static inline uint64_t frontend_asks(uint64_t predicted, uint64_t needed)
{
	return min64(needed, max64(predicted, needed > ASKS_AHEAD ? needed - ASKS_AHEAD : 0));
}

/* No access or signal of the front end to come is earlier than this. */
static inline uint64_t frontend_earliest(const struct core *c)
{
	const uint64_t pd = max64(c->fe.cycle, c->fe.pd_lead) - c->fe.pd_lead;
	return c->config.predict_ahead ? frontend_asks(c->fe.predicted, pd) : pd;
}

/* Before the first slot of an instruction.  addr: its address; wide: INSN_WIDE of its flags.  These are passed
 * so that the usual way need not read *in. */
static inline void frontend_insn(struct core *c, const struct insn *in, uint64_t addr, bool wide)
{
	struct frontend *fe = &c->fe;
	uint64_t offset = addr - fe->base;
	if (UNLIKELY(offset > 63 || !(fe->mask >> offset & 1)))
		frontend_enter(c, in, addr, wide);
}

/* Returns the cycle in which the next slot enters the uop queue. */
static inline uint64_t frontend_slot(struct core *c)
{
	struct frontend *fe = &c->fe;
	uint64_t free = *slot_alloc(&c->rn, c->rn.pos + SLOT_STEP - fe->idq_back), cycle = fe->cycle;
	uint32_t room = fe->room, width = fe->width;
	cycle += room == 0;
	room = room ? room : width;
	room = free > cycle ? width : room;
	cycle = max64(cycle, free);
#if CORE_SMT
	if (UNLIKELY(c->st != NULL)) {
		uint64_t own = smt_delivers(c, cycle);
		room = own != cycle ? width : room;
		cycle = own;
	}
#endif
	fe->room = room - 1;
	fe->cycle = cycle;
	return cycle;
}

/* Delivery goes on elsewhere: the window of the next instruction must be looked up. */
static inline void frontend_elsewhere(struct core *c)
{
	c->fe.window = FE_NOWHERE;
	c->fe.mask = 0;
}

/* Notes a taken branch for the loop buffer.  Returns true if frontend_loop must look at this one. */
static inline bool frontend_loop_way(struct core *c, uint64_t ip, uint64_t target)
{
	if (!c->fe.loop_buffer)
		return false;
	c->fe.loop_hash_now = (c->fe.loop_hash_now ^ ip) * UINT64_C(0x9e3779b97f4a7c15);
	return target <= ip;
}

/* A taken branch: delivery goes on elsewhere, and the loop buffer notes it. */
static inline void frontend_taken(struct core *c, uint64_t ip, uint64_t target)
{
	frontend_elsewhere(c);
	if (frontend_loop_way(c, ip, target))
		frontend_loop(c, ip, target);
}
#endif
