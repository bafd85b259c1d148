/* SPDX-License-Identifier: GPL-2.0-or-later
 * Judges counts (gate_check.h). */
#include "cli/gate/gate_check.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double gate_percent(uint64_t before, uint64_t now)
{
	if (before == now)
		return 0;
	return before ? 100 * ((double)now - (double)before) / (double)before : INFINITY;
}

/* ---- limits ---------------------------------------------------------------------------------------------- */

int gate_limit_parse(struct gate_limit *l, const char *text, struct err *err)
{
	const char *equals = strrchr(text, '=');
	char *end;
	if (!equals || equals == text || (size_t)(equals - text) >= sizeof l->name)
		return err_set(err, ERR_INPUT, "limit '%.200s': it is written [BENCHMARK:]EVENT=LIMIT", text);
	*l = (struct gate_limit){ 0 };
	memcpy(l->name, text, (size_t)(equals - text));
	const char *value = equals + 1;
	if (*value < '0' || *value > '9')
		end = (char *)(uintptr_t)value;
	else if (strchr(value, '%')) {
		l->soft = true;
		l->percent = strtod(value, &end);
		end += *end == '%';
	} else {
		errno = 0;
		l->most = strtoull(value, &end, 10);
		if (errno)
			end = (char *)(uintptr_t)value;
	}
	if (end == value || *end || !isfinite(l->percent))
		return err_set(err, ERR_INPUT, "limit '%.200s': '%.50s' is neither a percentage, as 0.5%%, nor a whole "
			"number", text, value);
	return 0;
}

bool gate_limit_is_of(const struct gate_limit *l, const char *event)
{
	const size_t n = strlen(l->name), m = strlen(event);
	return n == m ? !strcmp(l->name, event)
		      : n > m + 1 && l->name[n - m - 1] == ':' && !strcmp(l->name + n - m, event);
}

bool gate_limit_applies(const struct gate_limit *l, const char *benchmark, const char *event)
{
	const size_t n = strlen(benchmark);
	return !strcmp(l->name, event) ||
	       (!strncmp(l->name, benchmark, n) && l->name[n] == ':' && !strcmp(l->name + n + 1, event));
}

/* Events count in user mode: "cycles:u" is "cycles". */
static bool is_event(const char *spelled, const char *name)
{
	const size_t n = strlen(name);
	return !strncmp(spelled, name, n) && (!spelled[n] || !strcmp(spelled + n, ":u"));
}

static void judge_row(struct gate_row *row, const char *benchmark, const struct gate_limit *limit, size_t limits)
{
	if (is_event(row->event, "instructions") || is_event(row->event, "cycles")) {
		row->has_soft = true;
		row->soft = *row->event == 'i' ? GATE_INSTRUCTIONS_LIMIT : GATE_CYCLES_LIMIT;
	}
	for (size_t i = 0; i < limits; i++) {
		if (!gate_limit_applies(limit + i, benchmark, row->event))
			continue;
		if (limit[i].soft) {
			row->has_soft = true;
			row->soft = limit[i].percent;
		} else {
			row->has_hard = true;
			row->hard = limit[i].most;
		}
	}
	row->over_soft = row->known && row->has_soft && row->now > row->before &&
			 gate_percent(row->before, row->now) > row->soft;
	row->over_hard = row->has_hard && row->now > row->hard;
}

/* ---- what differs ---------------------------------------------------------------------------------------- */

static bool judge_objects(struct gate_judged *j, const struct gate_benchmark *b, const struct gate_benchmark *old,
	const char *program)
{
	j->change = calloc(b->objects.count + old->objects.count + 1, sizeof *j->change);
	if (!j->change)
		return false;
	for (size_t i = 0; i < b->objects.count; i++) {
		const struct gate_object *o = b->objects.object + i;
		const char *before = gate_objects_find(&old->objects, o->name);
		if (before && !strcmp(before, o->id))
			continue;
		j->change[j->changes++] = (struct gate_change){ o->name, before, o->id };
		j->program_changed |= program && !strcmp(program, o->name);
	}
	for (size_t i = 0; i < old->objects.count; i++)
		if (!gate_objects_find(&b->objects, old->objects.object[i].name))
			j->change[j->changes++] = (struct gate_change){ old->objects.object[i].name,
				old->objects.object[i].id, NULL };
	return true;
}

static double size_of(const struct gate_function *f)
{
	double most = 0;
	for (unsigned t = GATE_CYCLES; t < GATE_TABLES; t++) {
		const double d = fabs((double)f->now[t] - (double)f->before[t]);
		most = d > most ? d : most;
	}
	return most;
}

static int by_size(const void *a, const void *b)
{
	const struct gate_function *p = a, *q = b;
	const double x = size_of(p), y = size_of(q);
	return x > y ? -1 : x < y ? 1 : strcmp(p->name, q->name);
}

static uint64_t figure(const struct gate_figures *f, const char *name)
{
	const struct gate_figure *found = gate_figures_find(f, name);
	return found ? found->value : 0;
}

static void add_function(struct gate_judged *j, const struct gate_benchmark *b, const struct gate_benchmark *old,
	const char *name)
{
	struct gate_function f = { .name = name };
	for (unsigned t = GATE_CYCLES; t < GATE_TABLES; t++) {
		f.before[t] = figure(old->table + t, name);
		f.now[t] = figure(b->table + t, name);
	}
	if (size_of(&f) > 0)
		j->function[j->functions++] = f;
}

static bool judge_functions(struct gate_judged *j, const struct gate_benchmark *b, const struct gate_benchmark *old)
{
	/* both tables of a benchmark name the same functions, unless somebody edited the file */
	const struct gate_figures *now = b->table + GATE_CYCLES, *was = old->table + GATE_CYCLES;
	j->function = calloc(now->count + was->count + 1, sizeof *j->function);
	if (!j->function)
		return false;
	for (size_t i = 0; i < now->count; i++)
		add_function(j, b, old, now->figure[i].name);
	for (size_t i = 0; i < was->count; i++)
		if (!gate_figures_find(now, was->figure[i].name))
			add_function(j, b, old, was->figure[i].name);
	qsort(j->function, j->functions, sizeof *j->function, by_size);
	return true;
}

/* Whether "FUNCTION [FILE]" is of this file. */
static bool is_of(const char *function, const char *file)
{
	const size_t n = strlen(function), m = strlen(file);
	return n > m + 2 && function[n - 1] == ']' && function[n - m - 2] == '[' &&
	       !strncmp(function + n - m - 1, file, m);
}

static bool works_otherwise(const struct gate_judged *j, const char *program)
{
	for (size_t i = 0; i < j->functions; i++)
		if (j->function[i].before[GATE_INSTRUCTIONS] != j->function[i].now[GATE_INSTRUCTIONS] &&
			is_of(j->function[i].name, program))
			return true;
	return false;
}

static bool judge(struct gate_report *r, struct gate_judged *j, const struct gate_benchmark *b, const char *program,
	const struct gate_limit *limit, size_t limits)
{
	const struct gate_benchmark *old = gate_benchmark_find(r->before, b->name);
	const struct gate_figures *counts = b->table + GATE_COUNTS;
	bool over = false, equal = true, known = old;
	j->name = b->name;
	j->in_baseline = old;
	j->row = calloc(counts->count + 1, sizeof *j->row);
	if (!j->row || (old && (!judge_objects(j, b, old, program) || !judge_functions(j, b, old))))
		return false;
	for (size_t i = 0; i < counts->count; i++) {
		struct gate_row *row = j->row + j->rows++;
		const struct gate_figure *was =
			old ? gate_figures_find(old->table + GATE_COUNTS, counts->figure[i].name) : NULL;
		*row = (struct gate_row){ .event = counts->figure[i].name, .now = counts->figure[i].value,
			.known = was, .before = was ? was->value : 0 };
		judge_row(row, b->name, limit, limits);
		over |= row->over_soft || row->over_hard;
		known &= row->known;
		equal &= row->now == row->before;
	}
	const bool around = r->model || r->machine || r->processor || j->changes > j->program_changed;
	j->program_works = j->program_changed && works_otherwise(j, program);
	j->verdict = over && old && (r->machine || (around && !j->program_works)) ? GATE_SURROUNDINGS
		     : over                                                       ? GATE_FAILED
		     : !known                                                     ? GATE_NEW
		     : equal                                                      ? GATE_EQUAL
										  : GATE_WITHIN;
	return true;
}

int gate_check(struct gate_report *r, const struct gate_file *before, const struct gate_file *now,
	const char *const *program, const struct gate_limit *limit, size_t limits)
{
	*r = (struct gate_report){ .before = before, .now = now,
		.model = strcmp(before->model, now->model) ? before->model : NULL,
		.machine = strcmp(before->machine, now->machine) ? before->machine : NULL,
		.processor = strcmp(before->processor, now->processor) ? before->processor : NULL };
	r->judged = calloc(now->benchmarks + 1, sizeof *r->judged);
	if (!r->judged)
		return ERR_NOMEM;
	for (size_t i = 0; i < now->benchmarks; i++) {
		r->count++;
		if (!judge(r, r->judged + i, now->benchmark + i, program[i], limit, limits))
			return ERR_NOMEM;
		r->verdicts[r->judged[i].verdict]++;
	}
	return 0;
}

void gate_report_free(struct gate_report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->judged[i].row);
		free(r->judged[i].change);
		free(r->judged[i].function);
	}
	free(r->judged);
	*r = (struct gate_report){ 0 };
}
