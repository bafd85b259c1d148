/* SPDX-License-Identifier: GPL-2.0-or-later
 * Shadow call stack (callstack.h). */
#include "session/callstack.h"
#include <string.h>

void callstack_init(struct callstack *c)
{
	c->calls.depth = 0;
	c->is = c->store = c->load = 0;
}

void callstack_set(struct callstack *c, const struct calls_frame *frame, size_t frames)
{
	callstack_init(c);
	memcpy(c->calls.frame, frame, frames * sizeof *frame);
	c->calls.depth = frames;
}

static void finish(struct callstack *c, uint64_t ip)
{
	if (c->is & SPMU_IS(CALL))
		calls_enter(&c->calls, c->store, ip);
	else
		calls_leave(&c->calls, c->load);
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
	for (size_t i = c->calls.depth; i-- > 0;)
		chain[n++] = c->calls.frame[i].call_ip + 1;
	return n;
}
