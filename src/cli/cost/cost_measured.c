/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `softpmu cost` measures (cost_state.h): the run on the unchanged machine, and replays on changed ones. */
#include "cli/common/cli_symbols.h"
#include "cli/cost/cost_state.h"
#include "core/machine/leads.h"
#include "run/together.h"
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 12 };		/* replays that read the stream together; each has a machine of some 40 MB */

/* Sets the fields FIELD=VALUE,... of a core; text: the same text, to be printed. */
static int set_fields(struct core_config *core, const char *fields, char text[CHANGE_BYTES], struct err *err)
{
	char *save = NULL;
	snprintf(text, CHANGE_BYTES, "%s", fields);
	for (char *field = strtok_r(text, ",", &save); field; field = strtok_r(NULL, ",", &save))
		if (core_config_set(core, field, err))
			return err->code;
	snprintf(text, CHANGE_BYTES, "%s", fields);
	return 0;
}

enum cost_change cost_apply(const struct look *l, enum cost_try how, struct core_config *core, char text[CHANGE_BYTES],
	const char **why, struct err *err)
{
	enum cost_change what = COST_NO_CHANGE;
	*text = 0;
	if (how == COST_ONLY) {
		char fields[CHANGE_BYTES];
		*why = "no field of the core makes only this event free";
		what = l->event && cost_event_only(l->event, core, fields, sizeof fields) &&
			!set_fields(core, fields, text, err) ? COST_FREES : COST_NO_CHANGE;
	} else if (l->event) {
		what = l->event->change(core, how, text, CHANGE_BYTES, why);
	} else if (!l->fields || how) {
		*why = how ? "--change gives one machine only" : "no --change was given for a replay";
	} else {
		if (set_fields(core, l->fields, text, err))
			return COST_NO_CHANGE;
		what = COST_REMOVES;
	}
	if (what && core_config_check(core, l->event ? NULL : err)) {
		*why = "this machine cannot be changed so";
		return COST_NO_CHANGE;
	}
	return what;
}

/* Makes the changed machine of one event. */
static int prepare_change(struct cost *c, struct look *l, enum cost_try how)
{
	struct replayed *p = &l->replay[how];
	struct err err = { 0 };
	if (l->fields && strlen(l->fields) >= CHANGE_BYTES) {
		cli_error("--change of %s: more than %d characters", l->tag, CHANGE_BYTES - 1);
		return -1;
	}
	p->core = c->run.core;
	p->what = cost_apply(l, how, &p->core, p->text, &p->why, &err);
	if (err.code)
		cli_error("--change %s: %s", l->fields, err.text);
	return err.code ? -1 : 0;
}

/* The machines without a kind of limit; those that are the machine itself are left out. */
static int prepare_whatifs(struct cost *c, struct err *err)
{
	for (unsigned i = 0; i < COST_WHATIFS; i++) {
		struct replayed *p = &c->whatif[i];
		p->core = c->run.core;
		if (set_fields(&p->core, cost_whatifs[i].fields, p->text, err))
			return err->code;
		p->what = core_config_same(&p->core, &c->run.core) || core_config_check(&p->core, NULL) ? COST_NO_CHANGE
													: COST_FREES;
	}
	return 0;
}

int cost_prepare(struct cost *c)
{
	struct err err = { 0 };
	if (prepare_whatifs(c, &err)) {
		cli_error("%s", err.text);
		return -1;
	}
	for (unsigned i = 0; i < c->all; i++) {
		struct look *l = &c->look[i];
		if (l->event && !(l->tag = cost_event_tag(l->event, &c->run.core, &l->why)))
			continue;
		struct cost_measure *m = &c->measure[l->measure = c->measures];
		if (l->event && l->event->counted[0])
			memcpy(m->counted, l->event->counted, sizeof m->counted);
		else if (tag_parse(&m->tag, l->tag, &err)) {
			cli_error("%s", err.text);
			return -1;
		}
		m->from = c->from;
		m->point = c->point;
		if (l->event) {
			m->waits = l->event->waits;
			m->busy[0] = l->event->busy[0];
			m->busy[1] = l->event->busy[1];
			m->less = c->run.core.l3_size || strcmp(l->name, "l2_miss")
				? l->event->less
				: 0; /* without an L3, every miss of L2 goes to memory */
		}
		c->measures++;
		for (unsigned how = 0; how < COST_TRIES && i < c->looks; how++)
			if (prepare_change(c, l, (enum cost_try)how))
				return -1;
	}
	return 0;
}

/* What a sink fills. */
struct measuring { struct cost *c; struct cost_run *run; };
struct measured { struct cost_thread *cost; struct graph *graph; /* NULL: without */ };

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	const struct measuring *at = context;
	struct cost *c = at->c;
	struct measured *m = calloc(1, sizeof *m);
	int rc = m ? cost_thread_start(at->run, &m->cost, cli_symbols_pid(t), err)
		: err_set(err, ERR_NOMEM, "out of memory");
	if (!rc && c->sample.on)
		rc = cost_thread_sample(m->cost, t, err);
	if (!rc && c->graph && at->run == c->base)
		rc = cost_graph_thread(c->graph, &m->graph, t->pid, err);
	if (rc)
		free(m);
	t->sink_private = rc ? NULL : m;
	return rc;
}

static void on_end(void *context, struct run_thread *t)
{
	(void)context;
	if (t->sink_private)
		cost_thread_end(((struct measured *)t->sink_private)->cost);
	free(t->sink_private);
	t->sink_private = NULL;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)context;
	const struct measured *m = t->sink_private;
	if (m)
		cost_thread_batch(m->cost, b);
	if (m && m->graph)
		graph_batch(m->graph, b);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *part)
{
	(void)context;
	const struct measured *m = t->sink_private;
	if (m)
		cost_thread_window(m->cost, part);
	return 0;
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	const struct measuring *at = context;
	const struct measured *m = t ? t->sink_private : NULL;
	(void)cycle;
	if (m && ST_HEADER_KIND(record[0]) == ST_SPACE)
		cost_thread_pid(m->cost, cli_symbols_pid(t));
	if (at->run == at->c->base)
		cost_places_side(at->c->places, pid, record);
}

static int on_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	(void)context, (void)instructions, (void)cycles;
	return cli_interrupted();
}

/* The first of the replays that run together shows how far they are.  Who warms for it counts the instructions, so
 * there is no rate to show. */
static int on_first_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	(void)instructions, (void)cycles;
	cli_progress_share(&((const struct measuring *)context)->c->run);
	return cli_interrupted();
}

static int begin(struct cost *c, struct cost_run **out, const struct core_config *core, bool detail, struct err *err)
{
	const struct pushout_widths widths = session_pushout_widths(core);
	const int rc = cost_run_create(out, &widths, c->measure, c->measures, detail, err);
	return rc || !c->sample.on ? rc : cost_run_sample(*out, err);
}

/* The run has ended with this code.  Part of the base is worth a table; part of a replay is compared with nothing, and
 * windows without an estimate say nothing either: such runs are forgotten. */
static int finish(const struct cost *c, struct cost_run **out, const struct run_result *res, int rc, struct err *err)
{
	struct err other = { 0 };
	const bool base = *out == c->base, part = cli_interrupted();
	int also = cost_run_finish(*out, &other);
	if (!also && !rc && c->sample.on && (base || !part))
		also = cost_run_estimate(*out, res, &other);
	if (also && !rc) {
		rc = also;
		*err = other;
	}
	if (base ? rc && c->sample.on : rc || part) {
		cost_run_destroy(*out);
		*out = NULL;
	}
	return rc;
}

int cost_measure_one(struct cost *c, struct cost_run **out, const struct core_config *core, bool detail,
	struct run_result *res)
{
	struct err err = { 0 };
	int rc = begin(c, out, core, detail, &err);
	if (!rc) {
		struct measuring at = { c, *out };
		const struct run_sink sink = { .context = &at, .thread_start = on_start, .thread_end = on_end,
			.batch = on_batch, .side = on_side, .window = on_window };
		struct core_wanted wanted = cost_run_wanted(*out);
		wanted.detail = c->graph && *out == c->base;
		c->run.run.wanted = &wanted;
		c->run.run.core = core;
		rc = cli_run_program(&c->run, &sink, res, &err);
		c->run.run.wanted = NULL;
		c->run.run.core = &c->run.core;
		rc = finish(c, out, res, rc, &err);
	}
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

/* Makes replays that read the stream together.  An error is printed. */
static int measure_together(struct cost *c, const struct wish *w, unsigned n)
{
	struct core_wanted wanted[TOGETHER];
	struct measuring at[TOGETHER];
	struct err err = { 0 };
	struct run_one *run = calloc(n, sizeof *run);
	int rc = run ? 0 : err_set(&err, ERR_NOMEM, "out of memory for replays");
	for (unsigned i = 0; i < n && !rc; i++) {
		if ((rc = begin(c, w[i].out, w[i].core, c->by != BY_NOTHING, &err)))
			break;
		at[i] = (struct measuring){ c, *w[i].out };
		wanted[i] = cost_run_wanted(at[i].run);
		run[i].options = c->run.run;
		run[i].options.core = w[i].core;
		run[i].options.wanted = &wanted[i];
		run[i].options.share = i ? NULL : &c->run.share;
		run[i].sink = (struct run_sink){ .context = &at[i], .thread_start = on_start, .thread_end = on_end,
			.batch = on_batch, .tick = i ? on_tick : on_first_tick };
		if (c->sample.on)
			run[i].sink.window = on_window;
	}
	cli_catch(true);
	cli_progress_begin(&c->run);
	if (!rc)
		rc = run_together(run, n, &c->run.core, &err);
	cli_progress_clear(&c->run);
	for (unsigned i = 0; i < n; i++) {
		struct err own = rc ? err : run[i].err;
		const int code = *w[i].out ? finish(c, w[i].out, &run[i].result, rc ? rc : run[i].rc, &own) : 0;
		if (!rc && (rc = code))
			err = own;
	}
	if (!rc && cli_interrupted())
		rc = err_set(&err, ERR_SYSTEM, "interrupted");
	cli_catch(false);
	free(run);
	if (rc)
		cli_error("%s", err.text);
	return rc;
}

int cost_grant(struct cost *c, const struct wish *w, unsigned n)
{
	int rc = 0;
	char doing[48];
	c->run.doing = doing;
	for (unsigned i = 0; i < n && !rc && !cli_interrupted(); i += TOGETHER) {
		const unsigned together = n - i < TOGETHER ? n - i : TOGETHER;
		if (together > 1)
			snprintf(doing, sizeof doing, "replays %u to %u of %u", i + 1, i + together, n);
		else
			snprintf(doing, sizeof doing, "replay %u of %u", i + 1, n);
		rc = measure_together(c, w + i, together);
	}
	c->run.doing = NULL;
	return rc;
}
