/* SPDX-License-Identifier: GPL-2.0-or-later
 * The gaps of a run (gap.h).
 *
 * A block needs run.c if it has flags (its address or its instructions matter to somebody), and all blocks do if
 * somebody follows the thread's registers or calls, or if threads wait for each other.
 */
#include "run/gap.h"
#include "run/ahead.h"
#include "core/wrongpath/walker.h"
#include "run/watch/calls.h"

enum { FETCH_AHEAD = 128 };	/* words, as in run.c */

/* Can the thread's blocks be taken here? */
static bool is_plain(const struct runner *r, const struct rthread *t)
{
	return t && t->pending.block && !t->pending.block_flags && !t->process->ordered && !t->heap &&
		!t->pub.registers && !r->stopped;
}

/* Warms the core; its predictors learn in a thread of their own, if there is one. */
static inline uint64_t warm(struct learner *l, struct core *c, struct iblock *b, unsigned exit, const uint64_t *slots,
	uint64_t next_ip)
{
	if (!l)
		return core_warm_whole(c, b, exit, slots, next_ip);
	const struct warm_path *path;
	const uint64_t done = core_warm_rest(c, b, exit, slots, &path);
	if (__builtin_expect(!path, 0)) {
		learner_settle(l);
		return core_warm_whole(c, b, exit, slots, next_ip);
	}
	learner_block(l, c, path, next_ip);
	return done;
}

static struct learner *learner_of(struct runner *r, const struct rthread *t)
{
	if (!t->leader || r->learns_alone)
		return NULL;
	if (!r->learner.running)
		r->learns_alone = learner_start(&r->learner, NULL) < 0;
	return r->learns_alone ? NULL : &r->learner;
}

struct gap {
	struct rthread *t;
	const struct process *p;
	struct core *core;
	struct learner *learner;	/* NULL: none */
	uint64_t follow;		/* the walker follows blocks from so many instructions on */
	uint64_t done;			/* instructions so far */
	struct iblock *block;		/* the pending block: */
	const uint64_t *slots;
	unsigned exit;
};

/* Takes blocks until `most` instructions are done.  plain: there is a learner, and nobody follows the thread until
 * then.  Returns the words taken. */
static inline __attribute__((always_inline)) size_t take(struct gap *g, const uint64_t *w, size_t count, uint64_t most,
	const bool plain)
{
	struct rthread *const t = g->t;
	struct core *const core = g->core;
	struct learner *const learner = g->learner;
	const struct block_brief *const briefs = g->p->brief;
	const size_t blocks = g->p->blocks;
	struct iblock *block = g->block;
	const uint64_t *slots = g->slots;
	unsigned exit = g->exit;
	uint64_t done = g->done;
	size_t at = 0;
	if (plain && !learner)
		__builtin_unreachable();
	while (at < count && ST_HEADER_KIND(w[at]) == ST_BLOCK && done < most) {
		__builtin_prefetch(w + at + FETCH_AHEAD);
		const uint32_t id = ST_HEADER_LOW(w[at]);
		const unsigned next_exit = ST_HEADER_EXIT(w[at]);
		if (id >= blocks)
			break;
		const struct block_brief *const brief = &briefs[id];
		if (next_exit >= brief->exits || brief->flags)
			break;
		struct iblock *const next = brief->block;
		const unsigned next_slots =
			next_exit < BRIEF_EXITS ? brief->slots[next_exit] : next->exit[next_exit].slots;
		if (next_slots > count - at - 1)
			break;
		__builtin_prefetch(next);
		if (!plain && done >= g->follow)
			walker_track(t->walker, block, slots, block->exit[exit].slots);
		if (!plain && t->calls && calls_ends(block, exit))
			calls_block(t->calls, block, exit, slots);
		done += warm(learner, core, block, exit, slots, next->addr);
		block = next;
		exit = next_exit;
		slots = w + at + 1;
		at += 1 + next_slots;
	}
	g->block = block;
	g->slots = slots;
	g->exit = exit;
	g->done = done;
	return at;
}

size_t gap_take(struct runner *r, struct process *p, const uint64_t *w, size_t count)
{
	struct rthread *t = p->current;
	if (!is_plain(r, t))
		return 0;
	runner_run_ahead(r, t);
	if (!gap_here(r, p) || r->stopped)
		return 0;
	if (!t->leader) {
		engine_settle(&r->engine, p);
		if (t->on)
			core_passes(t->on);
	}
	const uint64_t most = t->leader ? t->sample.until - t->sample.done : window_gap(&r->window);
	struct gap g = { .t = t, .p = p, .core = t->leader ? t->leader : t->on, .learner = learner_of(r, t),
		.follow = t->walker ? sample_follows_from(t) : UINT64_MAX };
	if (t->walker && g.follow)
		walker_lose(t->walker);
	struct pending *now = &t->pending;
	if (now->insns != now->block->exit[now->exit].insns)
		return 0;	/* it was cut */
	g.block = now->block;
	g.slots = now->slots;
	g.exit = now->exit;
	size_t at = 0;
	if (g.learner && !t->calls)
		at = take(&g, w, count, most < g.follow ? most : g.follow, true);
	at += take(&g, w + at, count - at, most, false);
	const struct st_exit_def *const x = &g.block->exit[g.exit];
	*now = (struct pending){ .block = g.block, .exit = (uint16_t)g.exit, .insns = x->insns, .slot_count = x->slots,
		.slots = g.slots };
	if (t->leader)
		t->sample.done += g.done;
	else
		r->window.warmed += g.done;
	r->result->warmed += g.done;
	return at;
}
