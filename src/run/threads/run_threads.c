/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads of a run begin and end: their cores, their order, what is recorded of them, and the sink's calls.
 */
#include "run/runner.h"
#include "run/ahead.h"
#include "run/cut.h"
#include "run/lanes.h"
#include "run/points/parts.h"
#include "run/points/points.h"
#include "run/sample.h"
#include "run/threads/machine_events.h"
#include "run/watch/calls.h"
#include "run/watch/history.h"
#include "core/core.h"
#include "core/wrongpath/walker.h"
#include <stdlib.h>
#include <string.h>

/* What a run records if the sink does not say what it needs, or has not said so yet. */
const struct core_wanted runner_everything = {
	.signal = { ~UINT64_C(0), ~UINT64_C(0) }, .is = ~UINT64_C(0), .did = ~UINT64_C(0), .outcomes = true,
};

bool runner_wants_assists(const struct run_options *o)
{
	return o->wanted && o->wanted->assists;
}

struct spmu_record *runner_batch(void *context, const struct spmu_batch *batch)
{
	struct rthread *t = context;
	const struct run_sink *sink = t->process->runner->sink;
	if (t->lanes)
		return lane_batch(&t->lanes->lane[0], batch);
	/* a reset sends an empty batch before the sink knows the thread */
	if (!t->alive || !sink->batch || t->sample.mute)
		return NULL;
	if (__builtin_expect(t->pub.is_machine, 0)) {
		struct spmu_batch mine = *batch;
		whole_batch(t, &mine);
		sink->batch(sink->context, &t->pub, &mine);
		return NULL;
	}
	sink->batch(sink->context, &t->pub, batch);
	return NULL;
}

static void thread_account(struct runner *r, struct rthread *t)
{
	uint64_t now = rthread_now(t);
	if (now > r->max_cycle)
		r->max_cycle = now;
}

int runner_start_thread(struct runner *r, struct process *p, const struct st_thread *s, struct err *err)
{
	struct rthread *parent = process_find_thread(p, s->parent_tid), *t = NULL;
	int rc = 0;
	runner_drain(p);
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i]->leaving)
			runner_end_thread(r, p->thread[i]);
	if (cut_is(r->o) && (rc = cut_thread(r, err)) < 0)
		return rc;
	if (p->leader)
		sample_several(r, p);
	uint64_t cycle = parent ? rthread_now(parent) : p->start_cycle;
	rc = process_thread_start(&t, &r->procs, p, s->tid, s->os_tid, cycle, runner_batch, err);
	if (rc < 0)
		return rc;
	if (p->is_machine && (rc = whole_start(t, err)) < 0)
		return rc;
	if (p->leader) {
		rc = core_create(&t->leader, p->leader, NULL, NULL, err);
		if (rc < 0)
			return rc;
		if (!cut_is(r->o))
			core_seasoned(t->core);
		rc = sample_start(r, t, err);
		if (rc < 0)
			return rc;
		r->result->threads_at_once |= process_needs_order(p);
	} else if (!p->ordered && process_needs_order(p)) {
		rc = process_order(p, err);
		if (rc < 0)
			return rc;
		engine_order(&r->engine, p);
	}
	if (r->o->calls && !(t->calls = calloc(1, sizeof *t->calls)))
		return err_set(err, ERR_NOMEM, "out of memory for a thread's calls");
	if (p->space) {
		rc = walker_create(&t->walker, p->space, r->o->core, err);
		if (rc < 0)
			return rc;
		core_set_walker(t->core, t->walker);
		if (t->lanes)
			lanes_walk(t);
		if (r->o->core->wrong_path_converge) {
			if (!(t->ahead = calloc(1, sizeof *t->ahead)))
				return err_set(err, ERR_NOMEM, "out of memory for blocks ahead");
			walker_ahead(t->walker, &t->ahead->converge);
		}
		engine_follow(t);
	}
	rthread_want(t, r->o->wanted ? r->o->wanted : &runner_everything);
	if (r->o->history && p->has_regs) {
		rc = history_create(&t->pub.registers, p->word_bytes, err);
		if (rc < 0)
			return rc;
	}
	if (r->o->heap && p->has_regs && !(t->heap = calloc(1, sizeof *t->heap)))
		return err_set(err, ERR_NOMEM, "out of memory for a thread's registers");
	if (parent)
		memcpy(t->pub.comm, parent->pub.comm, sizeof t->pub.comm);
	else
		memcpy(t->pub.comm, p->comm, sizeof t->pub.comm);
	if (r->sink->thread_start)
		rc = r->sink->thread_start(r->sink->context, &t->pub, err);
	r->warms |= t->pub.warms;
	if (!rc && t->leader && r->sink->sampled)
		r->sink->sampled(r->sink->context, &t->pub);
	return rc;
}

void runner_end_thread(struct runner *r, struct rthread *t)
{
	if (!t->alive)
		return;
	runner_run_all(r, t, 0);
	runner_drain(t->process);
	if (t->on)
		core_flush(t->on, true);
	else	/* all of it was passed on when the thread left its processor */
		runner_batch(t, &(struct spmu_batch){ .base_cycle = rthread_now(t), .watermark = rthread_now(t),
						  .is_last = 1, .user_only = 1 });
	if (t->pub.interrupt_cycles)	/* from the last batch: no block follows before which it could be taken */
		engine_interrupt(t);
	if (t->leader) {
		if (r->parts) {		/* each part has added its own */
			parts_cut(r, t);
		} else {
			const struct core_misses misses = r->points ? points_total(t, false)
				: core_warm_misses(t->leader);
			if (!r->o->follows)
				core_misses_add(&r->result->misses, &misses);
			r->result->sampled += t->sample.done - t->sample.rounds;
			r->result->rounds += t->sample.rounds;
		}
	}
	thread_account(r, t);
	if (rthread_now(t) > t->process->end_cycle)
		t->process->end_cycle = rthread_now(t);
	r->instructions_done += rthread_instructions(t);
	if (r->sink->thread_end)
		r->sink->thread_end(r->sink->context, &t->pub);
	t->process->ran_before = t;
	t->leaving = false;
	process_thread_end(t);
	if (t->process->ordered && !process_needs_order(t->process)) {
		engine_disorder(t->process);
		process_disorder(t->process);
	}
}

void runner_end_threads(struct runner *r, struct process *p)
{
	for (size_t i = 0; i < p->threads; i++)
		runner_end_thread(r, p->thread[i]);
}
