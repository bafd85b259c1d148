/* SPDX-License-Identifier: GPL-2.0-or-later
 * The stack of calls (calls.h). */
#include "run/watch/calls.h"
#include <string.h>

static void drop_to(struct calls *c, uint64_t slot)
{
	while (c->depth && c->frame[c->depth - 1].slot <= slot)
		c->depth--;
}

void calls_enter(struct calls *c, uint64_t slot, uint64_t call_ip)
{
	if (slot)
		drop_to(c, slot);
	if (c->depth == CALLS_DEPTH) {
		/* Drops half of it at once, so that deep recursion does not move the array at every call. */
		c->depth /= 2;
		memmove(c->frame, c->frame + CALLS_DEPTH - c->depth, c->depth * sizeof *c->frame);
	}
	/* a slot that is not known is placed just below the frame around it */
	c->frame[c->depth].slot = slot ? slot : c->depth ? c->frame[c->depth - 1].slot - 1 : UINT64_MAX;
	c->frame[c->depth++].call_ip = call_ip;
}

void calls_leave(struct calls *c, uint64_t slot)
{
	if (slot)
		drop_to(c, slot);
	else if (c->depth)
		c->depth--;
}

void calls_block(struct calls *c, const struct iblock *b, unsigned exit, const uint64_t *slots)
{
	const struct st_exit_def *x = &b->exit[exit];
	const struct insn *last = x->insns ? &b->insn[x->insns - 1] : NULL;
	uint64_t loaded = 0, stored = 0;
	if (!last)
		return;
	for (unsigned i = last->first_slot; i < last->first_slot + last->slots && i < x->slots; i++) {
		if (slots[i] == ST_NOT_DONE)
			continue;
		if (b->slot[i].kind == ST_SLOT_STORE)
			stored = slots[i];
		else if (b->slot[i].kind == ST_SLOT_LOAD)
			loaded = slots[i];
	}
	if (last->flags & INSN_CALL)
		calls_enter(c, stored, last->addr);
	else if (last->flags & INSN_RET)
		calls_leave(c, loaded);
}
