/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampled replays of a search (tune_seen.h).
 */
#include "cli/tune/tune_seen.h"
#include "run/together.h"
#include <stdlib.h>

int tune_seen_create(struct tune_seen *s, struct err *err)
{
	return windows_create(&s->windows, ENERGY_COUNTS_COUNT, ENERGY_COUNTS_COUNT, err);
}

void tune_seen_release(struct tune_seen *s)
{
	windows_destroy(s->windows);
	s->windows = NULL;
}

int tune_seen_start(struct tune_seen *s, struct tune_seen_thread *t, const struct run_thread *run, struct err *err)
{
	*t = (struct tune_seen_thread){ 0 };
	return windows_thread(s->windows, &t->windows, run, err);
}

void tune_seen_batch(struct tune_seen_thread *t, const struct spmu_batch *b)
{
	if (t->counting)
		energy_batch(&t->all, b);
}

void tune_seen_window(struct tune_seen_thread *t, const struct run_window *part)
{
	double now[ENERGY_COUNTS_COUNT];
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++)
		now[i] = (double)t->all.n[i];
	t->counting = windows_part(t->windows, part, now);
}

int tune_seen_total(struct tune_seen *s, const struct run_result *r, struct energy_activity *out, struct err *err)
{
	const int rc = windows_total(s->windows, r, err);
	double unused;
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT && !rc; i++) {
		const double n = windows_count(s->windows, i, &unused);
		out->n[i] = n > 0 ? (uint64_t)(n + 0.5) : 0;
	}
	if (!rc)
		out->n[ENERGY_COUNT_instructions] = r->instructions + r->warmed;
	return rc;
}

/* ---- replays ---- */

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct tune_machine *m = context;
	struct tune_seen_thread *own = calloc(1, sizeof *own);
	const int rc = own ? tune_seen_start(&m->seen, own, t, err)
		: err_set(err, ERR_NOMEM, "out of memory for a replay");
	t->sink_private = rc ? NULL : own;
	if (rc)
		free(own);
	return rc;
}

static void on_end(void *context, struct run_thread *t)
{
	(void)context;
	free(t->sink_private);
	t->sink_private = NULL;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)context;
	if (t->sink_private)
		tune_seen_batch(t->sink_private, b);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *part)
{
	(void)context;
	if (t->sink_private)
		tune_seen_window(t->sink_private, part);
	return 0;
}

static int on_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	const struct tune_machine *m = context;
	(void)instructions, (void)cycles;
	return m->tick(m->context);
}

int tune_machine_set(struct tune_machine *m, const struct core_config *preset, const char *settings, struct err *err)
{
	core_features_init(&m->features, preset);
	const int rc = *settings ? core_features_set_all(&m->features, settings, err) : 0;
	core_features_config(&m->features, &m->core);
	return rc;
}

static void count_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct tune_machine *m = context;
	(void)t;
	energy_batch(&m->activity, b);
}

/* The options of the replay, of those of the search's run. */
static void options_of(struct run_options *o, const struct tune_machine *m, const struct core_wanted *wanted)
{
	o->core = &m->core;
	o->features = &m->features;
	o->wanted = wanted;
	o->argv = NULL;
	o->save = NULL;
	o->share = NULL;
}

void tune_machine_replay(struct tune_machine *m, const struct run_options *of, int (*tick)(void *context),
	void *context)
{
	const struct core_wanted wanted = energy_wanted();
	const struct run_sink sink = { .context = m, .batch = count_batch, .tick = tick ? on_tick : NULL };
	struct run_options o = *of;
	struct run_result result;
	m->tick = tick;
	m->context = context;
	options_of(&o, m, &wanted);
	m->err.code = run_program(&o, &sink, &result, &m->err);
}

/* What a replay has seen becomes its machine's result. */
static void finish(struct tune_machine *m, const struct tune_seen *preset, const struct run_one *run)
{
	if (run->rc) {
		m->err = run->err;
	} else if (!tune_seen_total(&m->seen, &run->result, &m->activity, &m->err)) {
		const struct windows_term all = { preset->windows, ENERGY_COUNT_cycles, 1 };
		const struct windows_term more[] = { { m->seen.windows, ENERGY_COUNT_cycles, 1 },
			{ preset->windows, ENERGY_COUNT_cycles, -1 } };
		m->half = windows_ratio(more, 2, &all, 1);
	}
}

int tune_seen_replay(const struct run_options *o, const struct tune_seen *preset, struct tune_machine *machine,
	unsigned machines, int (*tick)(void *context), void *context, struct err *err)
{
	const struct core_wanted wanted = energy_wanted();
	struct run_one *run = calloc(machines + 1, sizeof *run);
	int rc = run ? 0 : err_set(err, ERR_NOMEM, "out of memory for replays");
	for (unsigned i = 0; i < machines && !rc; i++) {
		struct tune_machine *m = machine + i;
		m->tick = tick;
		m->context = context;
		rc = tune_seen_create(&m->seen, err);
		run[i].options = *o;
		options_of(&run[i].options, m, &wanted);
		run[i].sink = (struct run_sink){ .context = m, .thread_start = on_start, .thread_end = on_end,
			.batch = on_batch, .window = on_window, .tick = on_tick };
	}
	if (!rc)
		rc = run_together(run, machines, o->core, err);
	for (unsigned i = 0; i < machines && run; i++) {
		struct tune_machine *m = machine + i;
		if (!rc)
			finish(m, preset, &run[i]);
		tune_seen_release(&m->seen);
	}
	free(run);
	return rc;
}
