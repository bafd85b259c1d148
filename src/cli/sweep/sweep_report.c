/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu sweep report: what a sweep has found (sweep_report.h). */
#include "cli/sweep/sweep_report.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct sweep sweep;
	const char *objective, *output, *html;
	bool csv, json;
};

static const struct option options[] = { OPT_TEXT(0, "objective", "WHAT", struct options, objective,
						 "What should be small: time, cycles, energy, edp (energy "
						 "times time) or an event of the plan. Default: the plan's.",
						 .filled = true),
	OPT_FLAG(0, "csv", struct options, csv,
		"Print all counts as comma-separated values, a line for each program, "
		"machine and event."),
	OPT_FLAG('j', "json", struct options, json, "Print everything as one JSON value."),
	OPT_TEXT(0, "html", "FILE", struct options, html,
		"Also write a page with tables and plots into FILE, which needs "
		"no other file.",
		.filled = true),
	OPT_TEXT('o', "output", "FILE", struct options, output, "Print to FILE instead of standard output.",
		.filled = true),
	OPT_TEXT(0, "dir", "DIR", struct options, sweep.dir_name, "The results are in DIR. Default: PLAN.sweep.",
		.filled = true),
	OPT_END };

double sweep_report_percent(double log)
{
	return 100 * expm1(log);
}

/* ---- making it ---- */

static void best_of(struct report *r)
{
	for (size_t p = 0; p < r->t->programs; p++) {
		double least = INFINITY;
		r->best[p] = r->t->count;
		for (size_t m = 0; m < r->t->count; m++) {
			const double value = sweep_table_objective(r->t, r->objective, p, m);
			if (value < least) {
				least = value;
				r->best[p] = m;
			}
		}
	}
}

/* The effects of one factor: of each level but the first; of a drawn one, from its low to its high end. */
static void effects_of(struct report *r, int factor, struct err *err)
{
	const struct plan *p = &r->s->plan;
	const struct plan_factor *f = factor < 0 ? NULL : p->factor + factor;
	const size_t levels = f ? f->levels : p->cores;
	const char *const *level = f ? f->level : p->core;
	const bool drawn = f && f->drawn;
	for (size_t i = 1; i < (drawn ? 2 : levels); i++) {
		struct report_effect *e = r->effect + r->effects++;
		*e = (struct report_effect){ .field = f ? f->field : "core", .level = i, .levels = drawn ? 2 : levels,
			.drawn = drawn };
		if (levels) {
			e->from = level[0];
			e->to = level[drawn ? levels - 1 : i];
		} else {
			snprintf(e->ends[0], sizeof e->ends[0], "%.10g", f->from);
			snprintf(e->ends[1], sizeof e->ends[1], "%.10g", f->to);
			e->from = e->ends[0];
			e->to = e->ends[1];
		}
		e->log = sweep_effect(r->t, r->objective, factor, i, r->confidence, err);
	}
}

int sweep_report_make(struct report *r, const struct sweep *s, const char *objective, struct err *err)
{
	const struct sweep_table *t = &s->table;
	size_t effects = s->plan.cores;
	*r = (struct report){ .s = s, .t = t, .objective = objective, .confidence = 0.95 };
	for (size_t i = 0; i < s->plan.factors; i++)
		effects += s->plan.factor[i].levels + 2;
	r->mean = calloc(t->count + 1, sizeof *r->mean);
	r->time = calloc(t->count + 1, sizeof *r->time);
	r->x = calloc(t->count + 1, sizeof *r->x);
	r->y = calloc(t->count + 1, sizeof *r->y);
	r->front = calloc(t->count + 1, 1);
	r->effect = calloc(effects + 1, sizeof *r->effect);
	r->best = calloc(t->programs + 1, sizeof *r->best);
	if (!r->mean || !r->time || !r->x || !r->y || !r->front || !r->effect || !r->best)
		return err_set(err, ERR_NOMEM, "out of memory for the report");
	if (isnan(sweep_table_objective(t, objective, 0, 0)) && strcmp(objective, "time") && strcmp(objective, "edp") &&
		sweep_table_event(t, objective) < 0)
		return err_set(err, ERR_INPUT, "objective '%.100s': the plan does not count it", objective);
	if ((!strcmp(objective, "edp") || !strcmp(objective, "energy")) && sweep_table_event(t, "energy") < 0)
		return err_set(err, ERR_INPUT, "objective '%s': the plan has no line 'energy'", objective);
	for (size_t i = 0; i < t->programs * t->count; i++) {
		r->done += t->state[i] == SWEEP_DONE;
		r->failed += t->state[i] == SWEEP_FAILED;
		r->missing += t->state[i] == SWEEP_MISSING && !t->gone[i % t->count];
	}
	for (size_t m = 0; m < t->count; m++) {
		r->mean[m] = sweep_table_compare(t, objective, m, 0, r->confidence, err);
		r->time[m] = sweep_table_compare(t, "time", m, 0, r->confidence, err);
		/* a machine that was eliminated by points has no whole runs */
		if (!r->mean[m].n && s->plan.by_points && t->gone[m] && !strcmp(objective, s->plan.objective))
			r->mean[m] = sweep_trial_compare(t, m, 0, (unsigned)t->looks[t->gone[m] - 1],
				(1 - r->confidence) / 2);
	}
	for (int f = -1; f < (int)s->plan.factors; f++)
		effects_of(r, f, err);
	best_of(r);
	r->has_front = sweep_table_event(t, "energy") >= 0;
	if (r->has_front && sweep_front(t, "time", "energy", r->x, r->y, r->front, err))
		return err->code;
	return err->code;
}

void sweep_report_free(struct report *r)
{
	free(r->mean);
	free(r->time);
	free(r->x);
	free(r->y);
	free(r->front);
	free(r->effect);
	free(r->best);
}

/* ---- text ---- */

static void put_percent(FILE *to, const struct paired *p)
{
	if (!p->n)
		fprintf(to, "%10s", "unknown");
	else if (isnan(p->half))
		fprintf(to, "%+8.2f %%  (one program)", sweep_report_percent(p->mean));
	else
		fprintf(to, "%+8.2f %%  (%+.2f to %+.2f)", sweep_report_percent(p->mean),
			sweep_report_percent(p->mean - p->half), sweep_report_percent(p->mean + p->half));
}

static size_t widest_machine(const struct report *r)
{
	size_t most = 7;
	for (size_t m = 0; m < r->t->count; m++) {
		const size_t n = strlen(r->s->machines.machine[m].name);
		most = n > most ? n : most;
	}
	return most;
}

static void print_machines(FILE *to, const struct report *r)
{
	const int width = (int)widest_machine(r);
	fprintf(to, "\nMachines: %s against the first one, mean over the programs that both ran, 95 %% interval\n\n",
		r->objective);
	fprintf(to, "  %-*s  programs   %s\n", width, "machine", r->objective);
	for (size_t m = 0; m < r->t->count; m++) {
		fprintf(to, "  %-*s  %8zu  ", width, r->s->machines.machine[m].name, r->mean[m].n);
		if (m)
			put_percent(to, r->mean + m);
		else
			fputs("   first", to);
		fprintf(to, "%s%s\n", r->t->gone[m] ? "  eliminated" : "",
			r->has_front && r->front[m] ? "  on the front" : "");
	}
}

const char *sweep_report_looked(const struct report *r)
{
	_Static_assert(SWEEP_PARTS == 16, "the name of a part");
	return r->s->plan.by_points ? "sixteenths of each program" : "programs";
}

static void print_eliminated(FILE *to, const struct report *r)
{
	const struct sweep_table *t = r->t;
	bool any = false;
	for (size_t m = 0; m < t->count; m++)
		any |= t->gone[m] != 0;
	if (!any)
		return;
	fprintf(to, "\nEliminated: worse with %.4g %% confidence over all comparisons and looks\n\n",
		100 * r->s->plan.confidence);
	const char *const what = sweep_report_looked(r);
	for (size_t m = 0; m < t->count; m++)
		if (t->gone[m])
			fprintf(to, "  %s\n    after %zu %s: %s %+.2f %% (%+.2f to %+.2f) against %s\n",
				r->s->machines.machine[m].name, t->looks[t->gone[m] - 1], what, r->s->plan.objective,
				sweep_report_percent(t->why[m].mean),
				sweep_report_percent(t->why[m].mean - t->why[m].half),
				sweep_report_percent(t->why[m].mean + t->why[m].half),
				r->s->machines.machine[t->against[m]].name);
}

static void print_effects(FILE *to, const struct report *r)
{
	size_t width = 0;
	for (size_t i = 0; i < r->effects; i++) {
		const struct report_effect *e = r->effect + i;
		const size_t n = strlen(e->field) + strlen(e->from) + strlen(e->to) + 5;
		width = n > width ? n : width;
	}
	if (!r->effects)
		return;
	fprintf(to, "\nEffects of fields on %s: mean over all else, 95 %% interval over programs\n\n", r->objective);
	for (size_t i = 0; i < r->effects; i++) {
		const struct report_effect *e = r->effect + i;
		const int n = fprintf(to, "  %s %s -> %s", e->field, e->from, e->to) - 2;
		fprintf(to, "%*s", (int)width - n + 1, "");
		put_percent(to, &e->log);
		fputs(e->drawn ? "  from one end of what was drawn to the other\n" : "\n", to);
	}
}

static void print_front(FILE *to, const struct report *r)
{
	const int width = (int)widest_machine(r);
	if (!r->has_front)
		return;
	fputs("\nPareto front of time and energy: no other machine is better in both\n\n", to);
	fprintf(to, "  %-*s      time    energy\n", width, "machine");
	for (size_t m = 0; m < r->t->count; m++)
		if (r->front[m])
			fprintf(to, "  %-*s  %+7.2f %% %+7.2f %%\n", width, r->s->machines.machine[m].name,
				100 * (r->x[m] - 1), 100 * (r->y[m] - 1));
}

static void print_best(FILE *to, const struct report *r)
{
	const struct sweep_table *t = r->t;
	size_t width = 7;
	for (size_t p = 0; p < t->programs; p++) {
		const size_t n = strlen(r->s->plan.program[p].name);
		width = n > width ? n : width;
	}
	fprintf(to, "\nBest machine of each program by %s, and how much less it takes than the first one\n\n",
		r->objective);
	for (size_t p = 0; p < t->programs; p++) {
		const size_t m = r->best[p];
		fprintf(to, "  %-*s  ", (int)width, r->s->plan.program[p].name);
		if (m == t->count) {
			fputs("not known\n", to);
			continue;
		}
		const double first = sweep_table_objective(t, r->objective, p, 0);
		const double least = sweep_table_objective(t, r->objective, p, m);
		if (first > 0)
			fprintf(to, "%+8.2f %%  %s\n", 100 * (least / first - 1), r->s->machines.machine[m].name);
		else
			fprintf(to, "%10s  %s\n", "", r->s->machines.machine[m].name);
	}
}

void sweep_report_text(FILE *to, const struct report *r)
{
	const struct sweep_table *t = r->t;
	fprintf(to, "%s: %zu program%s on %zu machine%s, %zu points done", r->s->plan_path, t->programs,
		t->programs == 1 ? "" : "s", t->count, t->count == 1 ? "" : "s", r->done);
	if (r->missing)
		fprintf(to, ", %zu missing", r->missing);
	if (r->failed)
		fprintf(to, ", %zu failed", r->failed);
	fputc('\n', to);
	print_machines(to, r);
	print_eliminated(to, r);
	print_effects(to, r);
	print_front(to, r);
	print_best(to, r);
	for (size_t i = 0, said = 0; i < t->programs * t->count && r->failed; i++)
		if (t->state[i] == SWEEP_FAILED)
			fprintf(to, "%s  %s on %s: %s\n", said++ ? "" : "\nFailed\n\n",
				r->s->plan.program[i / t->count].name, r->s->machines.machine[i % t->count].name,
				t->failed[i]);
}

/* ---- the command ---- */

static int print_to(const char *path, const struct report *r, void (*print)(FILE *to, const struct report *r))
{
	FILE *to = path ? fopen(path, "we") : stdout;
	if (to)
		print(to, r);
	bool bad = !to || fflush(to) || ferror(to);
	if (to && path)
		bad |= fclose(to) != 0;
	if (bad)
		cli_error("cannot write %s: %s", path ? path : "standard output", strerror(errno));
	return bad ? 1 : 0;
}

/* Reads the results; those of another softpmu if this one has none: it may have been built again since. */
static int read_results(struct sweep *s, struct err *err)
{
	char model[TASK_TEXT];
	int rc = sweep_know(s, err);
	rc = rc ? rc : sweep_table_read(&s->table, s->store, s->model, s->mode, err);
	for (size_t i = 0; i < s->table.programs * s->table.count && !rc; i++)
		if (s->table.state[i] != SWEEP_MISSING)
			return 0;
	const int found = rc ? rc : sweep_store_last_model(s->store, s->mode, model, sizeof model, err);
	if (found <= 0 || !strcmp(model, s->model))
		return found < 0 ? found : 0;
	cli_note("this softpmu has counted none of it; what follows was counted by %s", model);
	return sweep_table_read(&s->table, s->store, model, s->mode, err);
}

static int take_plan(void *target, const char *word, struct err *err)
{
	struct options *o = target;
	if (o->sweep.plan_path)
		return err_set(err, ERR_INPUT, "sweep report takes one plan, not '%.100s', too", word);
	o->sweep.plan_path = word;
	return 0;
}

int sweep_report(int argc, char **argv)
{
	struct options o = { .sweep = { .tries = 1, .lock = -1 } };
	struct sweep *s = &o.sweep;
	struct report r = { 0 };
	struct err err = { 0 };
	int status = 1;
	const int go = cli_options_and_words(&sweep_report_command, &o, argc, argv, take_plan);
	if (go <= 0)
		return go ? 2 : 0;
	if (!s->plan_path || (o.csv && o.json)) {
		cli_error(s->plan_path ? "--csv and --json exclude each other" : "sweep report needs a plan");
		return 2;
	}
	if (!sweep_open(s, false) && (s->lock < 0 || !sweep_gather(s))) {
		int rc = read_results(s, &err);
		rc = rc ? rc : sweep_report_make(&r, s, o.objective ? o.objective : s->plan.objective, &err);
		if (rc)
			cli_error("%s", err.text);
		else
			status = print_to(o.output, &r,
					 o.csv		  ? sweep_report_csv
						 : o.json ? sweep_report_json
							  : sweep_report_text) |
				(o.html ? print_to(o.html, &r, sweep_report_html) : 0);
	}
	sweep_report_free(&r);
	sweep_close(s);
	return status;
}

const struct cli_command sweep_report_command = {
	.name = "sweep report",
	.summary = "print what a sweep has found",
	.options = options,
	.run = sweep_report,
	.usage = "[options] PLAN",
	.about = "Prints what the sweep of PLAN has found so far, also while it runs: how the machines compare with "
		 "the first one, which were eliminated and why, the effect of each field, the machines that are best "
		 "in time and energy together, and the best machine of each program. Differences are paired: between "
		 "machines on the same programs.",
};
