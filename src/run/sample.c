/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampled runs (sample.h).
 */
#include "run/sample.h"
#include "run/cut.h"
#include "run/lanes.h"
#include "run/leader_share.h"
#include "run/points/points.h"
#include "core/wrongpath/walker.h"
#include "run/watch/calls.h"
#include "run/watch/history.h"

const char *run_sample_misfit(const struct run_options *o)
{
	if (o->start || o->stop)
		return "--start and --stop go with neither --sample nor --cut";
	if (o->smt || o->cpus)
		return "--smt and --cpus go with neither --sample nor --cut, where threads do not wait for each other";
	if (o->writes)
		return "--wrmsr REGISTER=VALUE@FUNCTION goes with neither --sample nor --cut";
	if (o->core && o->core->both_rings)
		return "a whole machine's stream is timed in full: it goes with neither --sample nor --cut";
	return NULL;
}

int sample_check(const struct run_options *o, struct err *err)
{
	const struct run_sample *s = &o->sample;
	if (!s->measured)
		return 0;
	const int rc = cut_is(o) ? cut_check(o, err) : 0;
	if (rc < 0)
		return rc;
	if (!cut_is(o) && (s->lead > UINT64_MAX / 16 || s->measured > UINT64_MAX / 16 || s->interval < sample_least(s)))
		return err_set(err, ERR_INPUT, "a stretch of a sampled run (N) must be at least %d times as long as "
			"its window (U + W)", RUN_SAMPLE_LEAST);
	if ((o->leads || o->follows || o->teaches || o->taught) && (s->after || cut_is(o)))
		return err_set(err, ERR_UNSUPPORTED, "runs that are timed in full at first, or cut, share no leader");
	const char *misfit = run_sample_misfit(o);
	return misfit ? err_set(err, ERR_UNSUPPORTED, "%s", misfit) : 0;
}

/* Sets the window of the stretch that begins at s->base.  A stream of live points says where its next window is. */
static void place(const struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	const uint64_t room = s->interval - r->o->sample.lead - r->o->sample.measured;
	s->part = SAMPLE_GAP;
	s->until = r->points ? UINT64_MAX : s->base + sample_offset(s->windows, t->index, room);
}

unsigned sample_jobs(const struct run_options *o)
{
	const unsigned jobs = o->sample.jobs ? o->sample.jobs : 1;
	/* the sink sees the threads' registers as they are, not as they were when a record was kept */
	return !o->sample.measured || o->history || o->heap ? 1 : jobs < RUN_LANES ? jobs : RUN_LANES;
}

/* So far the thread has done `instructions` in `cycles`. */
static int start(struct runner *r, struct rthread *t, uint64_t cycles, uint64_t instructions, struct err *err)
{
	t->sample = (struct sample_place){ .interval = r->o->sample.interval, .then = r->o->sample.interval };
	if (cut_is(r->o)) {
		cut_place(r, t);
		return 0;
	}
	place(r, t);
	/* details of uops hold cycles of the core's own clock */
	if (process_needs_order(t->process) || r->followed || (r->o->wanted && r->o->wanted->detail))
		return 0;
	return lanes_create(t, cycles, instructions, err);
}

int sample_start(struct runner *r, struct rthread *t, struct err *err)
{
	return start(r, t, 0, 0, err);
}

void sample_several(struct runner *r, struct process *p)
{
	for (size_t i = 0; i < p->threads; i++) {
		struct rthread *t = p->thread[i];
		if (!t->alive || !t->lanes || t->lanes->left)
			continue;
		lanes_leave(t);
		t->sample.cycles = t->lanes->cycles;
		t->sample.instructions = t->lanes->instructions;
		if (t->walker)
			engine_follow(t);
		if (t->sample.part != SAMPLE_GAP)	/* the window counts for nothing */
			place(r, t);
	}
}

static void copy_machine(struct runner *r, const struct process *p, struct machine *to)
{
	struct err err = { 0 };
	if (machine_copy(to, p->leader, &err) < 0 && !r->failed) {
		r->failed = ERR_NOMEM;
		r->failure = err;
	}
}

/* The thread whose leader, and whose process' leaders, the timed cores of t take over: t itself, or its like in the run
 * that it follows, at cycle *now.  Without that the run ends, and what it has is worth nothing (together.c). */
static const struct rthread *leading(struct runner *r, const struct rthread *t, uint64_t *now)
{
	const struct rthread *from = t;
	if (r->o->follows)
		from = leader_share_take(r->o->follows, r->o->follower, t, now);
	r->stopped |= !from;
	return from;
}

static void taken(const struct runner *r, const struct rthread *from)
{
	if (r->o->follows && from)
		leader_share_taken(r->o->follows);
}

/* A window begins: the leaders of a pupil take over what the predictors of its teacher have learned. */
static void be_taught(struct runner *r, const struct rthread *t)
{
	uint64_t unused;
	if (!r->o->taught)
		return;
	const struct rthread *from = leader_share_take(r->o->taught, r->o->pupil, t, &unused);
	const struct process *p = t->process;
	for (size_t i = 0; from && i < p->threads; i++)
		if (p->thread[i]->alive)
			core_copy_predictors(p->thread[i]->leader, from->process->thread[i]->leader);
	if (from)
		leader_share_taken(r->o->taught);
	r->stopped |= !from;
}

/* The runs that need this leader, or its predictors, get them. */
static void give(const struct runner *r, const struct rthread *t, uint64_t now)
{
	if (r->o->teaches)
		leader_share_give(r->o->teaches, t, now);
	if (r->o->leads)
		leader_share_give(r->o->leads, t, now);
}

/* A window begins on the thread's next lane. */
static void begin_on_lane(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	struct lane *l = lanes_next(r, t);
	uint64_t now = 0;
	be_taught(r, t);
	const struct rthread *from = leading(r, t, &now);
	if (l->ran && t->walker && from == t)
		core_feed_back(t->leader, l->core);
	l->ran = true;
	if (from) {
		core_copy(l->core, from->leader);
		copy_machine(r, from->process, l->machine);
	}
	taken(r, from);
	s->next_interval = l->next_interval;
	l->next_interval = 0;
	now = lanes_run(r, t, l, now ? &now : NULL);
	give(r, t, now);
}

/* Gives the thread a leader, which takes over what it has. */
static int lead(struct runner *r, struct rthread *t, struct err *err)
{
	core_flush(t->on, false);
	const uint64_t cycles = rthread_now(t), instructions = rthread_instructions(t);
	int rc = core_create(&t->leader, t->process->leader, NULL, NULL, err);
	if (rc < 0)
		return rc;
	core_copy(t->leader, t->core);
	machine_pass(t->process->leader, cycles);	/* lines of L3 have ages by this clock */
	rc = start(r, t, cycles, instructions, err);
	if (rc < 0)
		return rc;
	t->sample.cycles = cycles;
	t->sample.instructions = instructions;
	if (t->lanes)
		lanes_want(t->lanes, t->wants_everything || !r->o->wanted ? &runner_everything : r->o->wanted);
	if (t->walker)
		engine_follow(t);
	if (r->sink->sampled)
		r->sink->sampled(r->sink->context, &t->pub);
	return 0;
}

void sample_after(struct runner *r, struct rthread *by)
{
	struct process *p = by->process;
	const bool several = process_needs_order(p);
	struct err err = { 0 };
	p->detail_left = INT64_MAX;
	if (r->failed || !r->o->sample.after || p->sampled || p->changed)	/* changed: the leader would differ */
		return;
	if (several && r->o->sample.one_thread) {
		r->result->threads_detailed = true;
		return;
	}
	engine_drain(&r->engine, p);
	if (p->ordered) {	/* their clocks go their own ways now */
		engine_disorder(p);
		process_disorder(p);
	}
	r->result->threads_at_once |= several;
	r->warms = p->sampled = true;
	int rc = machine_create(&p->leader, r->o->core, &err);
	if (!rc) {
		machine_leads(p->leader);
		rc = machine_copy(p->leader, p->machine, &err);
	}
	for (size_t i = 0; i < p->threads && !rc; i++)
		if (p->thread[i]->alive)
			rc = lead(r, p->thread[i], &err);
	if (rc < 0) {
		r->failed = rc;
		r->failure = err;
	}
}

/* A window begins: the timed cores take over what the leaders have. */
static void begin_alone(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	struct process *p = t->process;
	engine_drain(&r->engine, p);
	be_taught(r, t);
	for (size_t i = 0; i < p->threads && !r->o->follows; i++) {
		struct rthread *const of = p->thread[i];
		if (of->alive && of->sample.ran && of->walker)
			core_feed_back(of->leader, of->core);
		of->sample.ran = false;
	}
	const uint64_t gap = s->done - s->left;
	uint64_t now = rthread_now(t) +
		(s->instructions ? (uint64_t)((double)gap * (double)s->cycles / (double)s->instructions) : gap);
	const struct rthread *from = leading(r, t, &now);
	for (size_t i = 0; from && i < p->threads; i++)
		if (p->thread[i]->alive)
			core_copy(p->thread[i]->core, from->process->thread[i]->leader);
	if (from)
		copy_machine(r, from->process, p->machine);
	taken(r, from);
	give(r, t, now);
	core_passes(t->core);
	core_halt_until(t->core, now);
	core_disturb(t->core, s->windows);
	machine_pass(p->leader, now);
}

/* A part of a window begins, or the gap behind it. */
static void part_begins(struct runner *r, struct rthread *t, enum sample_part part)
{
	struct core_misses misses = { 0 };
	if (r->o->follows)
		r->stopped |= !leader_share_misses(r->o->follows, r->o->follower, &misses);
	else
		misses = core_warm_misses(t->leader);
	struct core_misses teacher = misses;
	if (r->o->taught)
		r->stopped |= !leader_share_misses(r->o->taught, r->o->pupil, &teacher);
	misses.branches = teacher.branches;
	if (r->o->teaches)
		leader_share_tell(r->o->teaches, &misses);
	if (r->o->leads)
		leader_share_tell(r->o->leads, &misses);
	if (r->points)
		misses = points_misses(t, part, &misses);
	engine_window(&r->engine, t, part, t->sample.interval, &misses);
}

static void begin(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	if (t->lanes && !t->lanes->left)
		begin_on_lane(r, t);
	else
		begin_alone(r, t);
	if (s->next_interval >= sample_least(&r->o->sample))
		s->then = s->next_interval;
	part_begins(r, t, SAMPLE_LEAD);
	s->part = SAMPLE_LEAD;
	s->until = s->done + r->o->sample.lead;
}

static void turn(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	switch (s->part) {
	case SAMPLE_GAP:
		begin(r, t);
		if (s->done < s->until)
			break;
		__attribute__((fallthrough));	/* there is no lead */
	case SAMPLE_LEAD:
		part_begins(r, t, SAMPLE_MEASURED);
		s->part = SAMPLE_MEASURED;
		s->until = s->done + r->o->sample.measured;
		break;
	case SAMPLE_MEASURED:
		part_begins(r, t, SAMPLE_GAP);
		s->ran = true;
		s->left = s->done;
		s->windows++;
		s->base += s->interval;
		s->interval = s->then;
		if (s->base < s->done)	/* blocks are longer than the stretch */
			s->base = s->done;
		place(r, t);
		break;
	}
}

bool sample_settle(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	learner_settle(&r->learner);
	if (s->part == SAMPLE_MEASURED && s->done >= s->until)
		turn(r, t);
	return s->part == SAMPLE_GAP;
}

void sample_tell(const struct runner *r, struct iblock *b)
{
	for (unsigned x = 0; b && r->sink->executed && x < b->exits; x++) {
		uint64_t times;
		const unsigned insns = core_take_times(b, x, &times);
		if (times)
			r->sink->executed(r->sink->context, b, insns, times, b->exit[x].jump == ST_JUMP_REPEAT);
	}
}

void sample_block(struct runner *r, struct rthread *t, const struct pending *p)
{
	struct sample_place *s = &t->sample;
	learner_settle(&r->learner);
	if (__builtin_expect(s->done >= s->until, 0))
		(cut_is(r->o) ? cut_turn : turn)(r, t);
	const bool unfollowed = sample_follows_from(t);
	const unsigned done = run_completed(p->block, p->exit, p->insns);
	if (__builtin_expect(r->o->taught != NULL, 0))
		core_warm_taught(t->leader, p->block, p->exit, p->insns, p->slots);
	else if (__builtin_expect(!r->o->follows, 1))
		core_warm_block(t->leader, p->block, p->exit, p->insns, p->slots, p->next_ip);
	s->done += done;
	if (__builtin_expect(!done, 0))
		sample_round(t);
	if (t->calls && done == p->block->exit[p->exit].insns && calls_ends(p->block, p->exit))
		calls_block(t->calls, p->block, p->exit, p->slots);
	if (__builtin_expect(!core_counts_times(p->block, p->exit, p->insns), 0) && r->sink->executed && !r->o->follows)
		r->sink->executed(r->sink->context, p->block, done, 1, done < p->insns);
	if (s->part != SAMPLE_GAP) {
		engine_run(&r->engine, t, p);
		return;
	}
	r->result->warmed += done;
	if (__builtin_expect(t->pub.registers != NULL, 0)) {
		engine_settle(&r->engine, t->process);
		history_block(t->pub.registers, p->block, p->insns, done, p->slots, p->slot_count, false);
	}
	if (t->walker && unfollowed)
		walker_lose(t->walker);
	else if (t->walker)
		walker_track(t->walker, p->block, p->slots, p->slot_count);
}
