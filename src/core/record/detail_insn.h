/* SPDX-License-Identifier: GPL-2.0-or-later
 * The details (detail.h) of an instruction's uops, as the general way (general.c) gathers them.
 */
#ifndef CORE_DETAIL_INSN_H
#define CORE_DETAIL_INSN_H
#include "core/record/detail.h"
#include "core/pipeline.h"
#include <string.h>

/* What is remembered for the details of an instruction's uops. */
struct detail_of {
	uint64_t fetch, barrier, waited, waited_memory, waited_l3, waited_tlb, memory, tlb, walk;
	uint32_t room, width;
	bool slot, renames;
};

/* Before the instruction is fetched. */
static inline void detail_insn(const struct core *c, struct detail_of *d)
{
	*d = (struct detail_of){
		.waited = c->fe.waited,
		.waited_memory = c->fe.waited_memory,
		.waited_l3 = c->fe.waited_l3,
		.waited_tlb = c->fe.waited_tlb,
	};
}

/* Before a uop is allocated. */
static inline void detail_before(struct core *c, struct detail_of *d)
{
	d->memory = c->e.spent_memory;
	d->tlb = c->e.spent_tlb;
	d->walk = c->e.spent_walk;
	c->q.forwarded = 0;
}

/* Before a slot is delivered. */
static __attribute__((noinline)) void detail_slot(const struct core *c, struct detail_of *d)
{
	d->fetch = c->fe.cycle;
	d->room = c->fe.room;
	d->width = c->fe.width;
	d->barrier = c->rn.barrier;
	d->slot = true;
}

static __attribute__((noinline)) void detail_uop(struct core *c, const struct uop *u, unsigned kind, unsigned port,
	unsigned busy, uint64_t result, bool last, struct detail_of *d)
{
	const struct frontend *fe = &c->fe;
	struct core_detail *to = detail_new(&c->e, DETAIL_UOP);
	memcpy(to->src, u->src, sizeof to->src);
	memcpy(to->dst, u->dst, sizeof to->dst);
	to->flags = (d->slot ? DETAIL_SLOT : 0) | (kind == UOP_ELIMINATED ? DETAIL_COPY : 0) |
		(kind == UOP_LOAD && d->renames ? DETAIL_RENAMES : 0) | (kind == UOP_STORE_DATA ? DETAIL_STORED : 0) |
		(last ? DETAIL_LAST : 0);
	to->store = kind == UOP_LOAD ? c->q.forwarded ? c->q.forwarded - 1 : 0 :
		kind == UOP_STORE_ADDR || kind == UOP_STORE_DATA ? c->q.tail - 1 : 0;
	to->unit = busy > 1 ? (uint8_t)unit_of(u, port) : 0;
	to->busy = (uint8_t)busy;
	to->ports = u->ports & (uint16_t)c->sc.port_mask;
	for (unsigned i = 1; i < c->sc.pools; i++)
		if (to->ports & (0u - to->ports) & c->sc.pool_ports[i])
			to->pool = (uint8_t)i;
	to->result = result;
	to->tlb = detail_cycles(c->e.spent_tlb - d->tlb);
	to->walk = detail_cycles(c->e.spent_walk - d->walk);
	to->memory = detail_cycles(c->e.spent_memory - d->memory);
	if (d->slot) {
		to->fetch = d->fetch;
		to->barrier = d->barrier;
		to->room = (uint8_t)min64(d->room, UINT8_MAX);
		to->width = (uint8_t)min64(d->width, UINT8_MAX);
		to->code = detail_cycles(fe->waited - d->waited);
		to->code_memory = detail_cycles(fe->waited_memory - d->waited_memory);
		to->code_l3 = detail_cycles(fe->waited_l3 - d->waited_l3);
		to->code_tlb = detail_cycles(fe->waited_tlb - d->waited_tlb);
		d->waited = fe->waited;
		d->waited_memory = fe->waited_memory;
		d->waited_l3 = fe->waited_l3;
		d->waited_tlb = fe->waited_tlb;
	}
	d->slot = false;
}
#endif
