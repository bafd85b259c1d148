/* SPDX-License-Identifier: GPL-2.0-or-later
 * Register reads at allocation, the loop buffer in front of the decoders; p6.h says what is modelled. */
#include "core/older/p6.h"
#include "core/backend/lsq.h"
#include "core/backend/scheduler.h"

enum { STREAM_BLOCKS = 4, STREAM_BLOCK_LOG2 = 4 };

static bool is_counted(uint8_t reg)
{
	return reg && reg < REG_TEMP && reg != REG_FLAGS && reg != REG_CARRY;
}

/* Adds the retired registers that the slot reads to set[].  Returns how many that then holds. */
static unsigned reads_of(const struct older *o, const struct uop *u, const struct uop *end, uint64_t alloc,
	uint64_t set[2])
{
	for (const struct uop *v = u; v < end && (v == u || !(v->flags & UOP_SLOT)); v++)
		for (unsigned k = 0; k < 4; k++)
			if (is_counted(v->src[k]) && o->retired[v->src[k]] < alloc)
				set[v->src[k] >> 6] |= UINT64_C(1) << (v->src[k] & 63);
	return (unsigned)(__builtin_popcountll(set[0]) + __builtin_popcountll(set[1]));
}

/* Moves the slot to the next cycle. */
static uint64_t next_cycle(struct core *c, uint64_t alloc, uint32_t group_size)
{
	struct rename *rn = &c->rn;
	struct older *o = &c->old;
	alloc++;
	rn->cycle = alloc + (rn->width == 1);
	rn->used = rn->width == 1 ? 0 : 1;
	rn->slot = 0;
	scheduler_advance(&c->sc, alloc);
	lsq_advance(c, alloc);
	o->reads_cycle = alloc;
	o->read[0] = o->read[1] = 0;
	o->group = 0;
	o->group_size = group_size;
	return alloc;
}

uint64_t p6_register_reads(struct core *c, const struct uop *u, const struct uop *end, uint64_t alloc)
{
	struct older *o = &c->old;
	if (o->reads_cycle != alloc) {
		o->reads_cycle = alloc;
		o->read[0] = o->read[1] = 0;
		o->group = 0;
		o->group_size = c->rn.width;
	}
	if (o->group == o->group_size)
		alloc = next_cycle(c, alloc, c->rn.width);
	uint64_t set[2] = { o->read[0], o->read[1] };
	if (reads_of(o, u, end, alloc, set) > o->reads && o->group) {
		alloc = next_cycle(c, alloc, o->group_size - o->group);
		set[0] = set[1] = 0;
		reads_of(o, u, end, alloc, set);
	}
	o->read[0] = set[0];
	o->read[1] = set[1];
	o->group++;
	return alloc;
}

void p6_retired(struct core *c, const struct uop *u, const struct uop *end, uint64_t retire)
{
	for (; u < end; u++)
		for (unsigned k = 0; k < 3; k++)
			c->old.retired[u->dst[k]] = retire;
}

bool p6_streams(struct core *c, const struct insn *in)
{
	struct older *o = &c->old;
	o->stream_insns++;
	if (o->streaming && in->addr - o->stream_target > o->stream_branch - o->stream_target)	/* outside the loop */
		o->streaming = false;
	return o->streaming;
}

void p6_taken(struct core *c, uint64_t ip, uint64_t target)
{
	struct older *o = &c->old;
	bool fits = o->stream_insns <= o->loop_insns &&
		(ip >> STREAM_BLOCK_LOG2) - (target >> STREAM_BLOCK_LOG2) < STREAM_BLOCKS;
	bool same = ip == o->stream_branch && target == o->stream_target && o->stream_insns == o->stream_before;
	o->streaming = fits && same;	/* after two equal iterations: GUESS */
	o->stream_branch = ip;
	o->stream_target = target;
	o->stream_before = o->stream_insns;
	o->stream_insns = 0;
}
