/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a recorded stream takes on changed machines (tune_replays.h). */
#include "cli/tune/tune_replays.h"
#include "analysis/cost/cost.h"
#include "run/together.h"
#include "session/events/pushout_events.h"
#include <math.h>
#include <stdlib.h>

/* So many read the stream together.  Each has a machine of some 40 MB, and unpacking is then a small part. */
enum { TOGETHER = 12 };

struct one {
	struct cli_run *of;
	struct cost_run *counts;	/* of a sampled replay: its cycles in windows; else NULL */
};

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	struct one *o = context;
	struct cost_thread *counts = NULL;
	int rc = o->counts ? cost_thread_start(o->counts, &counts, t->pid, err) : 0;
	t->sink_private = counts;
	return rc || !counts ? rc : cost_thread_sample(counts, t, err);
}

static void on_end(void *context, struct run_thread *t)
{
	(void)context;
	if (t->sink_private)
		cost_thread_end(t->sink_private);
	t->sink_private = NULL;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)context;
	if (t->sink_private)
		cost_thread_batch(t->sink_private, b);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *part)
{
	(void)context;
	if (t->sink_private)
		cost_thread_window(t->sink_private, part);
	return 0;
}

static int on_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	(void)context, (void)instructions, (void)cycles;
	return cli_interrupted();
}

/* The first of the replays shows how far they are. */
static int on_first_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	(void)instructions, (void)cycles;
	cli_progress_share(((const struct one *)context)->of);
	return cli_interrupted();
}

/* A machine's cycles are all that is counted. */
static int begin(struct one *o, struct cli_run *r, const struct core_config *core, const struct run_sample *plan,
	struct run_one *run, struct err *err)
{
	const struct pushout_widths widths = session_pushout_widths(core);
	int rc = plan ? cost_run_create(&o->counts, &widths, NULL, 0, false, err) : 0;
	if (!rc && plan)
		rc = cost_run_sample(o->counts, err);
	if (rc)
		return rc;
	o->of = r;
	run->options = r->run;
	run->options.core = core;
	run->options.share = NULL;
	if (plan)
		run->options.sample = *plan;
	run->sink = (struct run_sink){ .context = o, .tick = on_tick };
	if (plan) {
		run->sink.thread_start = on_start;
		run->sink.thread_end = on_end;
		run->sink.batch = on_batch;
		run->sink.window = on_window;
	}
	return 0;
}

static int finish(struct one *o, const struct run_one *run, struct err *err)
{
	*err = run->err;
	int rc = run->rc;
	if (!rc && o->counts)
		rc = cost_run_finish(o->counts, err);
	if (!rc && o->counts && !cli_interrupted())
		rc = cost_run_estimate(o->counts, &run->result, err);
	return rc;
}

static void gained(struct tune_replay *replay, const struct one *o, const struct run_one *run, double cycles,
	const struct cost_run *unchanged)
{
	const double changed = o->counts ? (double)cost_run_cycles(o->counts) : (double)run->result.cycles;
	replay->half = 0;
	if (unchanged) {
		const struct windows *base = cost_run_windows(unchanged);
		const struct windows_term top[] = { { base, 0, 1 }, { cost_run_windows(o->counts), 0, -1 } },
			bottom = { base, 0, 1 };
		cycles = (double)cost_run_cycles(unchanged);
		replay->half = windows_ratio(top, 2, &bottom, 1);
	}
	replay->done = true;
	replay->gain = cycles > 0 ? 1 - changed / cycles : 0;
}

/* base: what the unchanged machine counts in the windows; it has no counts if all is timed in full.  first: makes it,
 * as run 0. */
static int some(struct cli_run *r, double cycles, const struct run_sample *plan, struct tune_replay *replay, unsigned n,
	struct one *base, bool first, struct err *err)
{
	const unsigned runs = n + first;
	struct core_wanted wanted[TOGETHER];
	struct run_one *run = calloc(runs, sizeof *run);
	struct one *one = calloc(runs, sizeof *one);
	int rc = run && one ? 0 : err_set(err, ERR_NOMEM, "out of memory for replays");
	for (unsigned i = 0; i < runs && !rc; i++)
		if (!(rc = begin(&one[i], r, first && !i ? &r->core : &replay[i - first].core, plan, &run[i], err))) {
			wanted[i] = plan ? cost_run_wanted(one[i].counts) : (struct core_wanted){ 0 };
			run[i].options.wanted = &wanted[i];
		}
	if (!rc) {
		run->options.share = &r->share;
		run->sink.tick = on_first_tick;
		rc = run_together(run, runs, &r->core, err);
	}
	for (unsigned i = 0; i < runs && !rc; i++)
		rc = finish(&one[i], &run[i], err);
	const bool whole = !rc && !cli_interrupted();
	if (whole && first) {
		*base = one[0];
		one[0].counts = NULL;
	}
	for (unsigned i = 0; i < n && whole; i++)
		gained(&replay[i], &one[i + first], &run[i + first], cycles, base->counts);
	for (unsigned i = 0; one && i < runs; i++)
		cost_run_destroy(one[i].counts);
	free(one);
	free(run);
	return rc;
}

int tune_replays(struct cli_run *r, double cycles, const struct run_sample *plan, struct tune_replay *replay,
	unsigned n)
{
	struct one base = { 0 };
	struct err err = { 0 };
	char doing[48];
	int rc = 0;
	r->doing = doing;
	cli_catch(true);
	cli_progress_begin(r);
	for (unsigned i = 0, next; i < n && !rc && !cli_interrupted(); i = next) {
		const bool first = plan && !i;
		next = i + TOGETHER - first < n ? i + TOGETHER - first : n;
		snprintf(doing, sizeof doing, "replays %u to %u of %u", i + 1, next, n);
		rc = some(r, cycles, plan, replay + i, next - i, &base, first, &err);
	}
	cli_progress_clear(r);
	cli_catch(false);
	r->doing = NULL;
	cost_run_destroy(base.counts);
	if (rc)
		cli_error("%s", err.text);
	return rc;
}
