/* SPDX-License-Identifier: GPL-2.0-or-later
 * Parts of a file of live points (parts.h).
 */
#include "run/points/parts.h"
#include "run/lanes.h"
#include "run/points/points.h"
#include "run/sample.h"
#include "core/wrongpath/walker.h"

#define STEPS_MOST (UINT64_C(1) << 60)

static int malformed(const struct process *p, const char *what, struct err *err)
{
	return err_set(err, ERR_INPUT, "the live points of process %u are damaged: %s", p->pid, what);
}

static void tell(const struct runner *r, const struct st_part *s, uint64_t now)
{
	if (r->o->watch)
		r->o->watch->section(r->o->watch->context, (enum st_part_what)s->what, s->turn, now);
}

/* New machines, with a new core each.  The engine is drained, and there are no lanes. */
static int renew_machines(struct runner *r, struct rthread *t, uint64_t cycle, struct err *err)
{
	struct process *p = t->process;
	struct machine *machine = NULL, *leader = NULL;
	struct core *core = NULL, *leads = NULL;
	int rc = machine_create(&machine, r->o->core, err);
	if (!rc)
		rc = machine_create(&leader, r->o->core, err);
	if (!rc)
		rc = machine_replaces(leader, p->leader, err);
	if (!rc)
		rc = machine_replaces(machine, p->leader, err);
	if (!rc) {
		machine_leads(leader);
		rc = core_create(&leads, leader, NULL, NULL, err);
	}
	if (!rc)
		rc = core_create(&core, machine, runner_batch, t, err);
	if (rc) {
		core_destroy(core);
		core_destroy(leads);
		machine_destroy(leader);
		machine_destroy(machine);
		return rc;
	}
	core_reset(core, cycle);
	core_seasoned(core);
	machine_pass(leader, cycle);
	core_destroy(t->core);
	core_destroy(t->leader);
	machine_destroy(p->machine);
	machine_destroy(p->leader);
	p->machine = machine;
	p->leader = leader;
	t->core = t->on = core;
	t->leader = leads;
	return 0;
}

/* The thread's state of the model is as that of a new one, which has done so many steps. */
static int renew(struct runner *r, struct rthread *t, const struct st_part *s, struct err *err)
{
	learner_settle(&r->learner);
	const uint64_t now = lanes_finish(t);
	int rc = renew_machines(r, t, s->steps, err);
	if (rc)
		return rc;
	t->sample = (struct sample_place){ .until = UINT64_MAX, .interval = r->o->sample.interval,
		.then = r->o->sample.interval, .done = s->steps, .rounds = s->rounds, .left = s->steps,
		.windows = s->windows, .in_part = true, .seen_from = s->steps, .part_done = s->steps,
		.part_rounds = s->rounds };
	rc = lanes_create(t, 0, 0, err);
	if (rc)
		return rc;
	t->lanes->end_now = now;
	if (t->walker) {
		walker_renew(t->walker);
		walker_forget(t->walker);
		core_set_walker(t->core, t->walker);
		lanes_walk(t);
		engine_follow(t);
	}
	rthread_want(t, t->wants_everything || !r->o->wanted ? &runner_everything : r->o->wanted);
	tell(r, s, now);
	return 0;
}

static int begin(struct runner *r, struct rthread *t, const struct st_part *s, struct err *err)
{
	struct process *p = t->process;
	if (!t->lanes || t->lanes->left || t->pending.block || t->sample.part != SAMPLE_GAP)
		return malformed(p, "a part begins out of place", err);
	if (s->steps > STEPS_MOST || s->rounds > s->steps || s->windows > s->steps)
		return malformed(p, "impossible numbers of instructions", err);
	r->parts = true;
	return renew(r, t, s, err);
}

static void count(struct runner *r, struct rthread *t, bool cut)
{
	struct sample_place *s = &t->sample;
	struct core_misses misses = points_total(t, cut);
	misses.branches = 0;	/* parts_total */
	points_see_part(r, t);
	s->in_part = false;
	if (!r->o->follows)
		core_misses_add(&r->result->misses, &misses);
	r->result->sampled += s->done - s->part_done - (s->rounds - s->part_rounds);
	r->result->rounds += s->rounds - s->part_rounds;
	s->part_done = s->done;
	s->part_rounds = s->rounds;
}

void parts_cut(struct runner *r, struct rthread *t)
{
	if (t->sample.in_part)
		count(r, t, true);
}

static int end(struct runner *r, struct rthread *t, const struct st_part *s, struct err *err)
{
	runner_run_all(r, t, s->from);
	if (!r->parts)
		return malformed(t->process, "a part ends that did not begin", err);
	if (!sample_settle(r, t)) {	/* as the program did in this window, which counts for nothing */
		t->sample.part = SAMPLE_GAP;
		t->sample.until = UINT64_MAX;
	}
	engine_drain(&r->engine, t->process);
	if (r->o->parts.of && !t->sample.told_from)
		return err_set(err, ERR_UNSUPPORTED, "an older softpmu made this file of live points: all of its "
			"parts are needed");
	count(r, t, false);
	tell(r, s, rthread_now(t));
	return 0;
}

int parts_record(struct runner *r, struct process *p, const struct st_part *s, struct err *err)
{
	struct rthread *t = p->current;
	const bool runs = t && t->alive && t->leader;
	if (s->what > ST_PART_COMMON || (s->what < ST_PART_DIGEST && !runs))
		return malformed(p, "a part out of place", err);
	if (s->what == ST_PART_BEGIN)
		return begin(r, t, s, err);
	if (s->what == ST_PART_END)
		return end(r, t, s, err);
	if (runs)
		engine_drain(&r->engine, p);
	tell(r, s, runs ? rthread_now(t) : 0);
	return 0;
}

void parts_total(struct run_result *result)
{
	if (result->points_seen)
		result->misses.branches = (uint64_t)((double)result->points_mispredicted *
			(double)(result->sampled + result->rounds) / (double)result->points_seen);
}
