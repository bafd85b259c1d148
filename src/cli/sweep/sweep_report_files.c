/* SPDX-License-Identifier: GPL-2.0-or-later
 * A sweep's results as CSV and JSON (sweep_report.h; docs/json.md). */
#include "cli/sweep/sweep_report.h"
#include "util/json.h"
#include <math.h>
#include <string.h>

/* ---- CSV.  Source: RFC 4180 ---- */

static void csv_text(FILE *to, const char *text)
{
	const bool quote = strpbrk(text, ",\"\r\n");
	if (quote)
		putc('"', to);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', to);
		putc(*text, to);
	}
	if (quote)
		putc('"', to);
}

static const char *setting_of(const struct sweep_machine *m, const struct plan_factor *f)
{
	for (size_t i = 0; i < m->settings; i++)
		if (m->setting[i].feature == f->feature && !strcmp(m->setting[i].field, f->field))
			return m->setting[i].level;
	return "";
}

void sweep_report_csv(FILE *to, const struct report *r)
{
	const struct sweep_table *t = r->t;
	const struct plan *p = &r->s->plan;
	fputs("program,machine,core", to);
	for (size_t f = 0; f < p->factors; f++) {
		putc(',', to);
		csv_text(to, p->factor[f].field);
	}
	fputs(",event,value,half\n", to);
	for (size_t i = 0; i < t->programs * t->count; i++) {
		const struct sweep_machine *m = r->s->machines.machine + i % t->count;
		for (size_t e = 0; e < t->events && t->state[i] == SWEEP_DONE; e++) {
			csv_text(to, p->program[i / t->count].name);
			putc(',', to);
			csv_text(to, m->name);
			putc(',', to);
			csv_text(to, m->core);
			for (size_t f = 0; f < p->factors; f++) {
				putc(',', to);
				csv_text(to, setting_of(m, p->factor + f));
			}
			putc(',', to);
			csv_text(to, t->event[e]);
			const double value = t->value[i * t->events + e], half = t->half[i * t->events + e];
			if (isnan(value))
				fputs(",,", to);
			else if (isnan(half))
				fprintf(to, ",%.17g,", value);
			else
				fprintf(to, ",%.17g,%.17g", value, half);
			putc('\n', to);
		}
	}
}

/* ---- JSON ---- */

static void number(FILE *to, const char *name, double value)
{
	if (isnan(value) || isinf(value))
		fprintf(to, "\"%s\": null", name);
	else
		fprintf(to, "\"%s\": %.10g", name, value);
}

static void paired(FILE *to, const struct paired *p)
{
	number(to, "percent", p->n ? sweep_report_percent(p->mean) : NAN);
	fputs(", ", to);
	number(to, "low", sweep_report_percent(p->mean - p->half));
	fputs(", ", to);
	number(to, "high", sweep_report_percent(p->mean + p->half));
	fprintf(to, ", \"programs\": %zu", p->n);
}

static void machine(FILE *to, const struct report *r, size_t m)
{
	const struct sweep_table *t = r->t;
	const struct sweep_machine *of = r->s->machines.machine + m;
	fputs("{\"name\": ", to);
	json_string(to, of->name);
	fputs(", \"core\": ", to);
	json_string(to, of->core);
	fputs(", \"settings\": {", to);
	for (size_t i = 0; i < of->settings; i++) {
		fputs(i ? ", " : "", to);
		json_string(to, of->setting[i].field);
		fputs(": ", to);
		json_string(to, of->setting[i].level);
	}
	fprintf(to, "}, \"key\": \"%s\", \"against_first\": {", of->key);
	paired(to, r->mean + m);
	fputs("}, ", to);
	number(to, "time", r->has_front ? r->x[m] : exp(r->time[m].mean));
	fputs(", ", to);
	number(to, "energy", r->has_front ? r->y[m] : NAN);
	fprintf(to, ", \"front\": %s, \"eliminated\": ", r->has_front && r->front[m] ? "true" : "false");
	if (t->gone[m]) {
		fprintf(to, "{\"after\": %zu, \"against\": ", t->looks[t->gone[m] - 1]);
		json_string(to, r->s->machines.machine[t->against[m]].name);
		fputs(", ", to);
		paired(to, t->why + m);
		fputs("}", to);
	} else {
		fputs("null", to);
	}
	fputs("}", to);
}

static void point(FILE *to, const struct report *r, size_t i)
{
	static const char *const state[] = { "missing", "done", "failed" };
	const struct sweep_table *t = r->t;
	fputs("{\"program\": ", to);
	json_string(to, r->s->plan.program[i / t->count].name);
	fputs(", \"machine\": ", to);
	json_string(to, r->s->machines.machine[i % t->count].name);
	fprintf(to, ", \"state\": \"%s\", \"why\": ", state[t->state[i]]);
	if (t->state[i] == SWEEP_FAILED)
		json_string(to, t->failed[i]);
	else
		fputs("null", to);
	fputs(", \"values\": {", to);
	for (size_t e = 0; e < t->events && t->state[i] == SWEEP_DONE; e++) {
		fputs(e ? ", " : "", to);
		json_string(to, t->event[e]);
		fputs(": {", to);
		number(to, "value", t->value[i * t->events + e]);
		fputs(", ", to);
		number(to, "half", t->half[i * t->events + e]);
		fputs("}", to);
	}
	fputs("}}", to);
}

void sweep_report_json(FILE *to, const struct report *r)
{
	const struct sweep_table *t = r->t;
	fputs("{\"objective\": ", to);
	json_string(to, r->objective);
	fprintf(to, ", \"done\": %zu, \"missing\": %zu, \"failed\": %zu,\n \"machines\": [", r->done, r->missing,
		r->failed);
	for (size_t m = 0; m < t->count; m++) {
		fputs(m ? ",\n  " : "\n  ", to);
		machine(to, r, m);
	}
	fputs("],\n \"effects\": [", to);
	for (size_t i = 0; i < r->effects; i++) {
		fputs(i ? ",\n  {\"field\": " : "\n  {\"field\": ", to);
		json_string(to, r->effect[i].field);
		fputs(", \"from\": ", to);
		json_string(to, r->effect[i].from);
		fputs(", \"to\": ", to);
		json_string(to, r->effect[i].to);
		fprintf(to, ", \"drawn\": %s, ", r->effect[i].drawn ? "true" : "false");
		paired(to, &r->effect[i].log);
		fputs("}", to);
	}
	fputs("],\n \"best\": [", to);
	for (size_t p = 0; p < t->programs; p++) {
		fputs(p ? ",\n  {\"program\": " : "\n  {\"program\": ", to);
		json_string(to, r->s->plan.program[p].name);
		fputs(", \"machine\": ", to);
		if (r->best[p] < t->count)
			json_string(to, r->s->machines.machine[r->best[p]].name);
		else
			fputs("null", to);
		fputs("}", to);
	}
	fputs("],\n \"points\": [", to);
	for (size_t i = 0; i < t->programs * t->count; i++) {
		fputs(i ? ",\n  " : "\n  ", to);
		point(to, r, i);
	}
	fputs("]}\n", to);
}
