/* SPDX-License-Identifier: GPL-2.0-or-later
 * Shadow call stack (callstack.h). */
#include "session/callstack.h"
#include <stdlib.h>
#include <string.h>

enum { KERNEL_STACK = 16384 };	/* bytes, and how it is aligned: Linux, THREAD_SIZE of x86-64 */

void callstack_init(struct callstack *c)
{
	c->calls.depth = 0;
	c->is = c->store = c->load = 0;
	c->kernel = NULL;
	c->space = c->user_ip = 0;
	c->next_saved = 0;
	memset(c->saved, 0, sizeof c->saved);
}

void callstack_release(struct callstack *c)
{
	for (unsigned i = 0; c && i < CALLSTACK_SPACES; i++)
		free(c->saved[i].frame);
	if (c)
		free(c->kernel);
}

static struct callstack_saved *find_saved(struct callstack *c, uint64_t space)
{
	for (unsigned i = 0; i < CALLSTACK_SPACES; i++)
		if (c->saved[i].frame && c->saved[i].space == space)
			return &c->saved[i];
	return NULL;
}

static void save(struct callstack *c)
{
	struct callstack_saved *s = &c->saved[c->next_saved++ % CALLSTACK_SPACES];
	free(s->frame);
	*s = (struct callstack_saved){ .space = c->space, .user_ip = c->user_ip, .depth = c->calls.depth,
		.frame = malloc((c->calls.depth + 1) * sizeof *s->frame) };
	if (s->frame)
		memcpy(s->frame, c->calls.frame, s->depth * sizeof *s->frame);
}

void callstack_space(struct callstack *c, uint64_t space)
{
	if (!c->kernel)
		c->kernel = calloc(1, sizeof *c->kernel);
	if (space == c->space)
		return;
	save(c);
	struct callstack_saved *s = find_saved(c, space);
	c->space = space;
	c->calls.depth = s ? s->depth : 0;
	c->user_ip = s ? s->user_ip : 0;
	if (!s)
		return;
	memcpy(c->calls.frame, s->frame, s->depth * sizeof *s->frame);
	free(s->frame);
	s->frame = NULL;
}

void callstack_set(struct callstack *c, const struct calls_frame *frame, size_t frames)
{
	c->calls.depth = 0;
	c->is = c->store = c->load = 0;
	memcpy(c->calls.frame, frame, frames * sizeof *frame);
	c->calls.depth = frames;
}

static void finish(struct callstack *c, uint64_t ip)
{
	struct calls *calls = c->kernel && ip >> 63 ? c->kernel : &c->calls;
	if (c->is & SPMU_IS(CALL))
		calls_enter(calls, c->store, ip);
	else
		calls_leave(calls, c->load);
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
		if (c->kernel && !(r->ip >> 63))
			c->user_ip = r->ip;
		if ((is & SPMU_IS(INST_END)) && (c->is & (SPMU_IS(CALL) | SPMU_IS(RET))))
			finish(c, r->ip);
	}
}

/* The kernel's frames on the stack of the innermost one, and where the program entered it. */
static size_t kernel_chain(const struct callstack *c, uint64_t *chain)
{
	const struct calls *k = c->kernel;
	const uint64_t stack = k->depth ? k->frame[k->depth - 1].slot / KERNEL_STACK : 0;
	size_t n = 0;
	for (size_t i = k->depth; i-- > 0 && k->frame[i].slot / KERNEL_STACK == stack;)
		chain[n++] = k->frame[i].call_ip + 1;
	if (c->user_ip)
		chain[n++] = c->user_ip + 1;
	return n;
}

size_t callstack_chain(const struct callstack *c, uint64_t ip, uint64_t *chain)
{
	size_t n = 0;
	chain[n++] = ip;
	if (c->kernel && ip >> 63)
		n += kernel_chain(c, chain + n);
	for (size_t i = c->calls.depth; i-- > 0;)
		chain[n++] = c->calls.frame[i].call_ip + 1;
	return n;
}
