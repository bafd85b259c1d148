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

enum {
	FETCH_AHEAD = 128,	/* words, as in run.c */
	HURRIES = 50000,	/* so many instructions before a window the learner is to catch up */
};

/* Can the thread's blocks be taken here? */
static bool is_plain(const struct runner *r, const struct rthread *t)
{
	return t && t->pending.block && !t->pending.block_flags && !t->process->ordered && !t->heap &&
		!t->pub.registers && !r->stopped;
}

/* What the learner is sent while blocks are taken: the batch that is being filled, and how many paths it has. */
struct sending { struct learner_batch *batch; size_t n; };

static inline struct sending sending_begin(struct learner *l, struct core *c)
{
	struct learner_batch *b = l ? learner_room(l, c) : NULL;
	return (struct sending){ b, b ? b->n : 0 };
}

/* next_ip: where the thread goes on behind the last block. */
static inline void sending_end(struct sending *s, uint64_t next_ip)
{
	if (!s->batch || s->n == s->batch->n)
		return;
	s->batch->n = s->n;
	s->batch->next_ip = next_ip;
}

/* Warms the core; its predictors learn in a thread of their own, if there is one. */
static inline __attribute__((always_inline)) uint64_t warm(struct learner *l, struct sending *s, struct core *c,
	struct iblock *b, unsigned exit, const uint64_t *slots, uint64_t next_ip)
{
	if (!l)
		return core_warm_whole(c, b, exit, slots, next_ip);
	const struct core_warmed rest = core_warm_rest(c, b, exit, slots);
	if (__builtin_expect(!rest.path, 0)) {
		sending_end(s, b->addr);
		learner_settle(l);
		const uint64_t whole = core_warm_whole(c, b, exit, slots, next_ip);
		*s = sending_begin(l, c);
		return whole;
	}
	s->batch->path[s->n++] = rest.path;
	if (__builtin_expect(s->n == LEARNER_PATHS, 0)) {
		sending_end(s, next_ip);
		*s = sending_begin(l, c);
	}
	return rest.completed;
}

static struct learner *learner_of(struct runner *r, const struct rthread *t)
{
	if (!t->leader || r->learns_alone || r->o->follows || r->o->taught)
		return NULL;
	if (!r->learner.running)
		r->learns_alone = learner_start(&r->learner, NULL) < 0;
	return r->learns_alone ? NULL : &r->learner;
}

/* Warms the core but for its predictors. */
static inline __attribute__((always_inline)) uint64_t warm_taught(struct core *c, struct iblock *b, unsigned exit,
	const uint64_t *slots)
{
	const struct core_warmed rest = core_warm_rest(c, b, exit, slots);
	if (__builtin_expect(rest.path != NULL, 1))
		return rest.completed;
	const unsigned insns = b->exit[exit].insns;
	core_warm_taught(c, b, exit, insns, slots);
	return run_completed(b, exit, insns);
}

struct gap {
	struct rthread *t;
	const struct process *p;
	struct core *core;		/* NULL: the leader is another run's (run_options.follows) */
	struct learner *learner;	/* NULL: none */
	bool taught;			/* the core's predictors learn nothing (run_options.taught) */
	uint64_t follow;		/* the walker follows blocks from so many instructions on */
	uint64_t done;			/* instructions so far; of a sampled thread: steps */
	uint64_t element, rounds;	/* steps of an element of REP; of `done`, those that are no instructions */
	struct iblock *block;		/* the pending block: */
	const uint64_t *slots;
	unsigned exit;
};

enum how { EVERYTHING, PLAIN, TAUGHT, COUNT_ONLY };

/* Takes blocks until `most` instructions are done.  PLAIN: there is a learner, and nobody follows the thread until
 * then; TAUGHT: nobody does, and gap.taught; COUNT_ONLY: nobody does, and nothing is warmed.  Returns the words
 * taken. */
static inline __attribute__((always_inline)) size_t take(struct gap *g, const uint64_t *w, size_t count, uint64_t most,
	const enum how how)
{
	const bool plain = how != EVERYTHING;
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
	if (how == PLAIN && !learner)
		__builtin_unreachable();
	struct sending sending = sending_begin(learner, core);
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
		const uint64_t insns = how == COUNT_ONLY || (!plain && !core)
			? run_completed(block, exit, block->exit[exit].insns)
			: how == TAUGHT || (!plain && g->taught) ? warm_taught(core, block, exit, slots)
			: warm(learner, &sending, core, block, exit, slots, next->addr);
		done += insns;
		if (__builtin_expect(!insns, 0)) {	/* an element of REP */
			done += g->element;
			g->rounds += g->element;
		}
		block = next;
		exit = next_exit;
		slots = w + at + 1;
		at += 1 + next_slots;
	}
	sending_end(&sending, block->addr);
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
	const uint64_t most = t->leader ? t->sample.until - t->sample.done
			      : t->pub.warms ? UINT64_MAX : window_gap(&r->window);
	struct gap g = { .t = t, .p = p, .core = r->o->follows ? NULL : t->leader ? t->leader : t->on,
		.learner = learner_of(r, t), .taught = r->o->taught,
		.follow = t->walker ? sample_follows_from(t) : UINT64_MAX,
		.element = t->leader && !r->o->sample.cut_step };
	if (g.learner)
		g.learner->hurries = most < HURRIES;
	if (t->walker && g.follow)
		walker_lose(t->walker);
	struct pending *now = &t->pending;
	if (now->insns != now->block->exit[now->exit].insns)
		return 0;	/* it was cut */
	g.block = now->block;
	g.slots = now->slots;
	g.exit = now->exit;
	size_t at = 0;
	const uint64_t alone = most < g.follow ? most : g.follow;	/* nobody follows the thread until then */
	if (!t->calls && !g.core)
		at = take(&g, w, count, alone, COUNT_ONLY);
	else if (!t->calls && g.learner)
		at = take(&g, w, count, alone, PLAIN);
	else if (!t->calls && g.taught)
		at = take(&g, w, count, alone, TAUGHT);
	at += take(&g, w + at, count - at, most, EVERYTHING);
	const struct st_exit_def *const x = &g.block->exit[g.exit];
	*now = (struct pending){ .block = g.block, .exit = (uint16_t)g.exit, .insns = x->insns, .slot_count = x->slots,
		.slots = g.slots };
	if (t->leader) {
		t->sample.done += g.done;
		t->sample.rounds += g.rounds;
	} else if (!t->pub.warms) {
		r->window.warmed += g.done;
	}
	r->result->warmed += g.done - g.rounds;
	return at;
}
