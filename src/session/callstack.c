/* SPDX-License-Identifier: GPL-2.0-or-later
 * Shadow call stack (callstack.h). */
#include "session/callstack.h"
#include <string.h>

void callstack_init(struct callstack *c)
{
	c->depth = 0;
	c->is = c->store = c->load = 0;
}

static void drop_to(struct callstack *c, uint64_t slot)
{
	while (c->depth && c->frame[c->depth - 1].slot <= slot)
		c->depth--;
}

static void finish(struct callstack *c, uint64_t ip)
{
	if (c->is & SPMU_IS(CALL)) {
		if (c->store)
			drop_to(c, c->store);
		if (c->depth == CALLSTACK_DEPTH) {
			/* Drops half of it at once, so that deep recursion does not move the array at every call. */
			c->depth /= 2;
			memmove(c->frame, c->frame + CALLSTACK_DEPTH - c->depth, c->depth * sizeof *c->frame);
		}
		/* the records have no access for it: place it just below the frame around it */
		c->frame[c->depth].slot = c->store ? c->store : c->depth ? c->frame[c->depth - 1].slot - 1 : UINT64_MAX;
		c->frame[c->depth++].call_ip = ip;
	} else if (c->load) {
		drop_to(c, c->load);
	} else if (c->depth) {
		c->depth--;	/* the records have no access for this return: drop one frame */
	}
}

void callstack_walk(struct callstack *c, const struct spmu_batch *b, size_t from, size_t to)
{
	const struct spmu_record *r = b->records + from, *end = b->records + (to < b->count ? to : b->count);
	for (; r < end; r++) {
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		uint64_t is = r->is;
		if (is & SPMU_IS(INST_BEGIN))
			c->is = c->store = c->load = 0;
		c->is |= is;
		if (is & SPMU_IS(STORE_ADDR))
			c->store = r->addr;
		else if (is & SPMU_IS(LOAD))
			c->load = r->addr;
		if ((is & SPMU_IS(INST_END)) && (c->is & (SPMU_IS(CALL) | SPMU_IS(RET))))
			finish(c, r->ip);
	}
}

size_t callstack_chain(const struct callstack *c, uint64_t ip, uint64_t *chain)
{
	size_t n = 0;
	chain[n++] = ip;
	for (size_t i = c->depth; i-- > 0;)
		chain[n++] = c->frame[i].call_ip + 1;
	return n;
}
