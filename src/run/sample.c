/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampled runs (sample.h).
 */
#include "run/sample.h"
#include "run/lanes.h"
#include "core/wrongpath/walker.h"
#include "run/watch/calls.h"
#include "run/watch/history.h"

int sample_check(const struct run_options *o, struct err *err)
{
	const struct run_sample *s = &o->sample;
	if (!s->measured)
		return 0;
	if (s->lead > UINT64_MAX / 16 || s->measured > UINT64_MAX / 16 || s->interval < sample_least(s))
		return err_set(err, ERR_INPUT, "a stretch of a sampled run (N) must be at least %d times as long as "
			"its window (U + W)", RUN_SAMPLE_LEAST);
	if (o->start || o->stop || o->writes || o->cpus || o->smt)
		return err_set(err, ERR_UNSUPPORTED, "a sampled run goes with none of --start, --stop, --wrmsr in "
			"mid-run, --cpus and --smt");
	return 0;
}

/* splitmix64, by Sebastiano Vigna (public domain): a permutation that looks random. */
static uint64_t hash(uint64_t n)
{
	n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

/* Sets the window of the stretch that begins at s->base. */
static void place(const struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	const uint64_t room = s->interval - r->o->sample.lead - r->o->sample.measured;
	s->part = SAMPLE_GAP;
	s->until = s->base + hash(s->windows << 32 | t->index) % room;
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

static void copy_machine(struct runner *r, struct process *p, struct machine *to)
{
	struct err err = { 0 };
	if (machine_copy(to, p->leader, &err) < 0 && !r->failed) {
		r->failed = ERR_NOMEM;
		r->failure = err;
	}
}

/* A window begins on the thread's next lane. */
static void begin_on_lane(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	struct lane *l = lanes_next(r, t);
	if (l->ran && t->walker)
		core_feed_back(t->leader, l->core);
	l->ran = true;
	core_copy(l->core, t->leader);
	copy_machine(r, t->process, l->machine);
	s->next_interval = l->next_interval;
	l->next_interval = 0;
	lanes_run(r, t, l);
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
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->alive)
			core_copy(p->thread[i]->core, p->thread[i]->leader);
	copy_machine(r, p, p->machine);
	const uint64_t gap = s->done - s->left;
	const uint64_t now = rthread_now(t) +
		(s->instructions ? (uint64_t)((double)gap * (double)s->cycles / (double)s->instructions) : gap);
	core_passes(t->core);
	core_halt_until(t->core, now);
	machine_pass(p->leader, now);
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
	engine_window(&r->engine, t, SAMPLE_LEAD, s->interval);
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
		engine_window(&r->engine, t, SAMPLE_MEASURED, s->interval);
		s->part = SAMPLE_MEASURED;
		s->until = s->done + r->o->sample.measured;
		break;
	case SAMPLE_MEASURED:
		engine_window(&r->engine, t, SAMPLE_GAP, s->interval);
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
		turn(r, t);
	const bool unfollowed = sample_follows_from(t);
	const unsigned done = run_completed(p->block, p->exit, p->insns);
	core_warm_block(t->leader, p->block, p->exit, p->insns, p->slots, p->next_ip);
	s->done += done;
	if (t->calls && done == p->block->exit[p->exit].insns && calls_ends(p->block, p->exit))
		calls_block(t->calls, p->block, p->exit, p->slots);
	if (__builtin_expect(!core_counts_times(p->block, p->exit, p->insns), 0) && r->sink->executed)
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
