/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lanes of a sampled run (lanes.h).
 */
#include "run/lanes.h"
#include "core/wrongpath/walker.h"
#include "run/watch/calls.h"
#include <stdlib.h>
#include <string.h>

enum { KEPT_MOST = 1 << 17 };	/* records that a lane keeps (8 MB); with more it waits for its turn */

struct lane_item {
	enum { ITEM_BATCH, ITEM_SIDE, ITEM_WINDOW } kind;
	struct spmu_batch batch;
	struct run_window window;
	struct rthread *t;	/* of a side record, as pid and cycle; the cycle is the core's */
	uint32_t pid;
	uint64_t cycle;
	void *data;		/* the records of the batch, the side record, or the window's frames */
};

/* ---- what a lane has for the sink ---- */

static void pass_batch(const struct lane *l, const struct spmu_batch *batch)
{
	const struct run_sink *sink = l->t->process->runner->sink;
	struct spmu_batch b = *batch;
	b.base_cycle += l->shift;
	b.watermark += l->shift;
	if (l->t->alive && sink->batch)
		sink->batch(sink->context, &l->t->pub, &b);
}

static void pass_window(struct lane *l, const struct run_window *w)
{
	const struct run_sink *sink = l->t->process->runner->sink;
	const uint64_t interval = sink->window ? sink->window(sink->context, &l->t->pub, w) : 0;
	if (interval && !w->leads && !w->begins)
		l->next_interval = interval;
}

/* It is the window's turn. */
static void take_turn(struct engine *e, struct lane *l)
{
	const struct lanes *s = l->t->lanes;
	l->shift = s->end_now - l->begin_now +
		(s->instructions ? (uint64_t)((double)l->gap * (double)s->cycles / (double)s->instructions) : l->gap);
	l->turn = true;
	for (size_t i = 0; i < l->items; i++) {
		struct lane_item *item = &l->item[i];
		if (item->kind == ITEM_BATCH) {
			item->batch.records = item->data;
			pass_batch(l, &item->batch);
		} else if (item->kind == ITEM_WINDOW) {
			item->window.frame = item->data;
			pass_window(l, &item->window);
		} else {
			engine_pass_side(e, item->t, item->pid, item->data, item->cycle + (item->t ? l->shift : 0));
		}
		free(item->data);
	}
	l->items = 0;
	l->records = 0;
}

static bool has_turn(struct engine *e, struct lane *l)
{
	if (!l->turn && engine_turn(e) == l->window)
		take_turn(e, l);
	return l->turn;
}

void lane_settle(struct engine *e, struct lane *l)
{
	if (!has_turn(e, l)) {
		engine_await(e, l->window);
		take_turn(e, l);
	}
}

/* Keeps something for the sink.  Without memory it waits for its turn, and returns false. */
static bool keep(struct engine *e, struct lane *l, struct lane_item item, const void *data, size_t bytes)
{
	bool room = l->items < l->item_room && l->records < KEPT_MOST;
	if (!room && l->records < KEPT_MOST) {
		const size_t more = l->item_room ? 2 * l->item_room : 64;
		struct lane_item *bigger = realloc(l->item, more * sizeof *bigger);
		if (bigger) {
			l->item = bigger;
			l->item_room = more;
			room = true;
		}
	}
	item.data = room && bytes ? malloc(bytes) : NULL;
	if (!room || (bytes && !item.data)) {
		lane_settle(e, l);
		return false;
	}
	if (bytes)
		memcpy(item.data, data, bytes);
	l->item[l->items++] = item;
	l->records += bytes / sizeof(struct spmu_record);
	return true;
}

struct spmu_record *lane_batch(void *context, const struct spmu_batch *b)
{
	struct lane *l = context;
	struct engine *e = &l->t->process->runner->engine;
	if (l->mute)
		return NULL;
	if (l->t->lanes->left || has_turn(e, l) || !keep(e, l, (struct lane_item){ .kind = ITEM_BATCH, .batch = *b },
			b->records, b->count * sizeof *b->records))
		pass_batch(l, b);
	return NULL;
}

void lane_side(struct engine *e, struct lane *l, struct rthread *t, uint32_t pid, const uint64_t *record, size_t words,
	uint64_t cycle)
{
	const struct lane_item item = { .kind = ITEM_SIDE, .t = t, .pid = pid,
		.cycle = t ? core_now(l->core) : cycle };
	if (has_turn(e, l) || !keep(e, l, item, record, words * sizeof *record))
		engine_pass_side(e, t, pid, record, t ? lane_now(l) : cycle);
}

void lane_window(struct engine *e, struct lane *l, const struct run_window *w)
{
	core_flush(l->core, false);
	if (w->begins) {
		l->begin_cycle = core_now(l->core);
		l->begin_done = w->instructions + w->rounds;
	} else if (!w->leads) {
		l->cycles = core_now(l->core) - l->begin_cycle;
		l->instructions = w->instructions + w->rounds - l->begin_done;
	}
	if (has_turn(e, l) || !keep(e, l, (struct lane_item){ .kind = ITEM_WINDOW, .window = *w }, w->frame,
			w->frames * sizeof *w->frame))
		pass_window(l, w);
}

void lane_done(struct engine *e, struct lane *l)
{
	struct lanes *s = l->t->lanes;
	lane_settle(e, l);
	s->end_now = lane_now(l);
	if (l->instructions) {
		s->cycles = l->cycles;
		s->instructions = l->instructions;
	}
	l->turn = false;
	engine_progress(e, core_instructions(l->core) - l->told, s->end_now);
	l->told = core_instructions(l->core);
	engine_next_turn(e);
}

/* ---- the front ---- */

/* Frees a lane's core and machine, of which nothing is passed on any more. */
static void drop(struct lane *l)
{
	l->mute = true;
	core_destroy(l->core);
	machine_destroy(l->machine);
	l->core = NULL;
	l->machine = NULL;
}

void lanes_destroy(struct rthread *t)
{
	struct lanes *s = t->lanes;
	if (!s)
		return;
	engine_leave_lanes(&t->process->runner->engine);
	if (!s->left) {
		t->core = t->on = s->lane[0].core;
		for (unsigned i = 1; i < RUN_LANES; i++)
			drop(&s->lane[i]);
	}
	for (unsigned i = 0; i < RUN_LANES; i++)
		free(s->lane[i].item);
	free(s);
	t->lanes = NULL;
}

/* Makes the lane's machine and core. */
static int fill(struct lane *l, struct err *err)
{
	struct rthread *t = l->t;
	int rc = machine_create(&l->machine, t->process->runner->o->core, err);
	if (!rc)
		rc = core_create(&l->core, l->machine, lane_batch, l, err);
	if (!rc)
		core_copy_loads(l->core, t->core);
	return rc;
}

int lanes_create(struct rthread *t, uint64_t cycles, uint64_t instructions, struct err *err)
{
	struct lanes *s = calloc(1, sizeof *s);
	int rc = 0;
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory for windows");
	s->first = s->next = engine_turn(&t->process->runner->engine);
	s->clock = s->end_now = core_now(t->core);
	s->cycles = cycles;
	s->instructions = instructions;
	for (unsigned i = 0; i < RUN_LANES; i++)
		s->lane[i] = (struct lane){ .t = t, .window = s->first, .begin_now = s->clock, .cycles = cycles,
			.instructions = instructions };
	s->lane[0].machine = t->process->machine;
	s->lane[0].core = t->core;
	s->lane[0].told = core_instructions(t->core);
	t->lanes = s;
	for (unsigned i = 1; i < RUN_LANES && !rc; i++)
		rc = fill(&s->lane[i], err);
	if (rc)
		lanes_destroy(t);
	else if (t->walker)
		lanes_walk(t);
	return rc;
}

uint64_t lanes_finish(struct rthread *t)
{
	struct lanes *s = t->lanes;
	struct engine *e = &t->process->runner->engine;
	engine_drain(e, t->process);
	if (s->now)
		lane_done(e, s->now);
	const uint64_t now = s->end_now;
	t->instructions += lanes_instructions(s);
	t->sample.mute = true;
	lanes_destroy(t);
	return now;
}

void lanes_walk(struct rthread *t)
{
	for (unsigned i = 1; i < RUN_LANES; i++)
		core_set_walker(t->lanes->lane[i].core, t->walker);
}

void lanes_leave(struct rthread *t)
{
	struct lanes *s = t->lanes;
	struct engine *e = &t->process->runner->engine;
	if (!s || s->left)
		return;
	struct lane *l = s->now ? s->now : &s->lane[0];
	engine_drain(e, t->process);
	lane_done(e, l);
	engine_leave_lanes(e);
	for (unsigned i = 0; i < RUN_LANES; i++)
		if (&s->lane[i] != l) {
			t->instructions += core_instructions(s->lane[i].core);
			drop(&s->lane[i]);
		}
	t->process->machine = l->machine;
	l->mute = true;
	core_halt_until(l->core, s->end_now);
	l->mute = false;
	l->shift = 0;
	s->now = l;
	s->left = true;
}

struct lane *lanes_next(struct runner *r, struct rthread *t)
{
	struct lanes *s = t->lanes;
	if (s->now)
		engine_lane_done(&r->engine);
	else	/* side records from before the first window have the time of the core that this window moves on */
		engine_drain(&r->engine, t->process);
	if (s->next >= s->first + RUN_LANES)
		engine_await(&r->engine, s->next - RUN_LANES + 1);
	return &s->lane[(s->next - s->first) % RUN_LANES];
}

uint64_t lanes_run(struct runner *r, struct rthread *t, struct lane *l, const uint64_t *clock)
{
	struct lanes *s = t->lanes;
	const uint64_t done = t->sample.done, went = done - s->at;
	s->clock += l->instructions ? (uint64_t)((double)went * (double)l->cycles / (double)l->instructions) : went;
	s->at = done;
	if (clock)
		s->clock = *clock;
	if (s->clock <= core_now(l->core))
		s->clock = core_now(l->core) + 1;
	l->mute = true;
	core_passes(l->core);
	core_halt_until(l->core, s->clock);
	/* in a run of live points the turns depend on which parts it has */
	core_disturb(l->core, r->points ? t->sample.windows : s->next);
	l->mute = false;
	machine_pass(t->process->leader, s->clock);
	l->begin_now = core_now(l->core);
	l->gap = done - t->sample.left;
	l->window = s->next++;
	s->now = l;
	t->core = t->on = l->core;
	if (t->walker)
		walker_made(t->walker, 1);
	engine_lane(&r->engine, l, l->window);
	return s->clock;
}

void lanes_want(const struct lanes *s, const struct core_wanted *w)
{
	for (unsigned i = 0; i < RUN_LANES; i++)
		core_want(s->lane[i].core, w);
}

void lanes_discard_code(const struct lanes *s, uint64_t addr, uint64_t bytes)
{
	for (unsigned i = 0; i < RUN_LANES; i++)
		core_discard_code(s->lane[i].core, addr, bytes);
}

uint64_t lanes_instructions(const struct lanes *s)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < RUN_LANES; i++)
		n += core_instructions(s->lane[i].core);
	return n;
}
