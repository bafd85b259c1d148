/* SPDX-License-Identifier: GPL-2.0-or-later
 * The rarer half of allocation; what it models and leaves out: rename.h. */
#include "core/backend/rename.h"
#include <string.h>

/* Bytes of a ring for that many slots, less SLOT_STEP. */
static uint32_t ring_mask(uint32_t slots)
{
	uint32_t n = 64;	/* eliminate.c looks back a cycle or two */
	while (n < slots)
		n *= 2;
	return (n - 1) * SLOT_STEP;
}

/* A slot's entry is read, for the slot that comes a ring's size later, before it is written anew.  Slots of a
 * wrong path come on top: they are allocated and forgotten. */
void rename_rings(struct core *c, bool wrong)
{
	c->rn.alloc_mask = ring_mask(wrong ? SLOT_RING : c->config.idq_size);
	c->rn.free_mask = ring_mask(wrong ? SLOT_RING : c->config.rob_size);
}

void rename_reset(struct core *c, uint64_t cycle)
{
	const struct core_config *f = &c->config;
	c->rn = (struct rename){
		.cycle = cycle,
		.bubble_floor = cycle,
		.barrier = cycle,
		.width = f->alloc_width,
		.frontend_latency = f->frontend_latency,
		.dispatch_delay = f->rs_dispatch_delay,
		.rob_back = f->rob_size * SLOT_STEP,
		.lb_size = f->load_buffer_size,
		.prf_size = f->prf_integer,
		.never_quick = f->ports_binding == BIND_LEAST,
	};
	rename_rings(c, f->wrong_path || c->walker);
}

/* The slot cannot be allocated at rn->cycle: returns when it can, and notes why. */
uint64_t rename_wait(struct core *c, uint64_t delivered, uint64_t rob, uint64_t *did)
{
	struct rename *rn = &c->rn;
	uint64_t open = rn->cycle, back_end = max64(rob, rn->barrier);
	uint64_t cycle = max64(max64(open, delivered), back_end);

	uint64_t from = max64(max64(open, back_end), rn->bubble_floor);
	if (UNLIKELY(rn->resteered)) {
		rn->resteered = false;
		if (delivered > from && open < rn->bubble_floor)	/* the first slot behind the redirect */
			emit_signal(&c->e, SPMU_SIG_CLEAR_RESTEER, from, delivered, 1);
	}
	if (rn->serial > max64(open, delivered))
		emit_signal(&c->e, SPMU_SIG_SERIALIZED, max64(open, delivered), rn->serial, 1);
	if (delivered > from) {
		if (from == open && rn->used) {
			emit_grow(&c->e, RUN_BUBBLE, SPMU_SIG_IDQ_BUBBLE, from, from + 1, rn->width - rn->used);
			from++;
		}
		emit_grow(&c->e, RUN_BUBBLE, SPMU_SIG_IDQ_BUBBLE, from, delivered, rn->width);
	}
	from = max64(max64(open, delivered), rn->barrier);
	if (rob > from) {
		emit_grow(&c->e, RUN_ROB, SPMU_SIG_RESOURCE_STALL_ROB, from, rob, 1);
		*did |= SPMU_DID(STALL_ROB);
	}
	if (cycle != open) {
		rn->cycle = cycle;
		rn->used = 0;
	}
	return cycle;
}

/* A uop of the slot being allocated waits until `until`: the slot moves there. */
uint64_t rename_stall(struct core *c, enum spmu_signal signal, uint64_t from, uint64_t until)
{
	struct rename *rn = &c->rn;
	unsigned run = signal == SPMU_SIG_RESOURCE_STALL_RS ? RUN_RS : signal == SPMU_SIG_RESOURCE_STALL_SB ? RUN_SB :
	               signal == SPMU_SIG_RESOURCE_STALL_ROB ? RUN_ROB : RUN_LB;
	emit_grow(&c->e, run, signal, from, until, 1);
	rn->quick = 0;
	rn->cycle = until;
	rn->slot = 0;
	rn->used = 1;
	if (rn->used >= rn->width) {
		rn->used = 0;
		rn->cycle++;
	}
	scheduler_advance(&c->sc, until);
	lsq_advance(c, until);
	return until;
}

/* The scheduler has few entries: the first slot of a cycle waits until there is one for each slot.  Or each uop
 * takes the port that is least loaded now (ports.binding): the counts are taken anew. */
uint64_t rename_group(struct core *c, uint64_t cycle, uint64_t *did)
{
	struct scheduler *s = &c->sc;
	if (c->config.ports_binding == BIND_LEAST) {
		scheduler_count(s);
		return cycle;
	}
	if (c->rn.used)
		return cycle;
	scheduler_wait_room(s, s->group_room);
	emit_grow(&c->e, RUN_RS, SPMU_SIG_RESOURCE_STALL_RS, cycle, s->walk, 1);
	*did |= SPMU_DID(STALL_RS);
	c->rn.cycle = s->walk;
	lsq_advance(c, s->walk);
	return s->walk;
}

uint64_t rename_wait_entry(struct core *c, const struct port_choice *choice, uint64_t alloc, uint64_t *did)
{
	scheduler_wait(&c->sc, choice);
	if (c->sc.walk <= alloc)
		return alloc;
	*did |= SPMU_DID(STALL_RS);
	return rename_stall(c, SPMU_SIG_RESOURCE_STALL_RS, alloc, c->sc.walk);
}
