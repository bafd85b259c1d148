/* SPDX-License-Identifier: GPL-2.0-or-later
 * Streams that are timed in pieces (cut.h).
 */
#include "run/cut.h"
#include "core/wrongpath/walker.h"

int cut_check(const struct run_options *o, struct err *err)
{
	const struct run_sample *s = &o->sample;
	if (!o->replay)
		return err_set(err, ERR_UNSUPPORTED, "--cut needs --replay: only a saved stream can be read "
			"by several runs");
	if (s->cut_step < 2 || s->cut_first >= s->cut_step || !s->measured || s->lead > s->measured ||
			s->measured > UINT64_MAX >> 32)
		return err_set(err, ERR_INPUT, "a stream cannot be cut into pieces of this length");
	if (o->core->l3_others.points)
		return err_set(err, ERR_UNSUPPORTED, "a stream is not cut for a core with l3.others: lines of its L3 "
			"have ages by a clock, which stands still before a piece");
	return 0;
}

int cut_thread(struct runner *r, struct err *err)
{
	if (r->has_thread)
		return err_set(err, ERR_UNSUPPORTED, "the stream holds several threads, processes or programs: only a "
			"stream of one thread can be cut into pieces (trace -i leaves children out)");
	r->has_thread = true;
	return 0;
}

/* s->windows: number of the next piece, or of the one that is timed. */
void cut_place(const struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	const uint64_t from = s->windows * r->o->sample.measured;
	s->part = SAMPLE_GAP;
	s->until = from - (from ? r->o->sample.lead : 0);
}

/* The thread gets a new machine, which has what the leader has and nothing else.  The engine is drained. */
static int renew(struct runner *r, struct rthread *t, struct err *err)
{
	struct process *p = t->process;
	struct machine *machine = NULL;
	struct core *core = NULL;
	int rc = machine_create(&machine, r->o->core, err);
	if (!rc)
		rc = core_create(&core, machine, runner_batch, t, err);
	t->sample.mute = true;	/* a core that begins or ends passes on what is of no piece */
	if (!rc) {
		core_reset(core, t->sample.done);
		core_copy(core, t->leader);
		core_seasoned(core);
		rc = machine_copy(machine, p->leader, err);
	}
	if (rc) {
		core_destroy(core);
		machine_destroy(machine);
		return rc;
	}
	t->instructions += core_instructions(t->core);
	core_destroy(t->core);
	machine_destroy(p->machine);
	t->core = t->on = core;
	p->machine = machine;
	if (t->walker) {
		walker_renew(t->walker);
		core_set_walker(core, t->walker);
		engine_follow(t);
	}
	rthread_want(t, r->o->wanted ? r->o->wanted : &runner_everything);
	return 0;
}

static void begin(struct runner *r, struct rthread *t)
{
	struct err err = { 0 };
	engine_drain(&r->engine, t->process);
	const int rc = t->sample.windows ? renew(r, t, &err) : 0;
	t->sample.mute = false;
	if (rc < 0 && !r->failed) {
		r->failed = rc;
		r->failure = err;
	}
}

static void part_begins(struct runner *r, struct rthread *t, enum sample_part part, uint64_t represents)
{
	const struct core_misses misses = core_warm_misses(t->leader);
	engine_window(&r->engine, t, part, represents, &misses);
}

void cut_turn(struct runner *r, struct rthread *t)
{
	struct sample_place *s = &t->sample;
	const struct run_sample *o = &r->o->sample;
	switch (s->part) {
	case SAMPLE_GAP:
		if (s->windows % o->cut_step != o->cut_first) {
			s->windows++;
			cut_place(r, t);
			break;
		}
		begin(r, t);
		part_begins(r, t, SAMPLE_LEAD, o->measured);
		s->part = SAMPLE_LEAD;
		s->until = s->windows * o->measured;
		if (s->done < s->until)
			break;
		__attribute__((fallthrough));	/* the first piece has no lead */
	case SAMPLE_LEAD:
		part_begins(r, t, SAMPLE_MEASURED, o->measured);
		s->part = SAMPLE_MEASURED;
		s->until = ++s->windows * o->measured;
		break;
	case SAMPLE_MEASURED:
		part_begins(r, t, SAMPLE_GAP, o->measured);
		cut_place(r, t);
		break;
	}
}
