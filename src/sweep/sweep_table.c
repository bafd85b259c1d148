/* SPDX-License-Identifier: GPL-2.0-or-later
 * The table of a sweep, and successive elimination (sweep_table.h).
 *
 * Elimination.  Programs are run in an order that their keys and the plan's seed choose, so the first ones are a sample
 * of all.  After some of them, and again when there are half as many more, each machine is compared with every other by
 * the paired differences of the objective's logarithm.  A machine is eliminated if another one is better with the
 * plan's confidence, one-sided, divided by the number of pairs and of looks (Bonferroni): so with this confidence no
 * machine is eliminated wrongly at any look.  This takes the differences to be about normal, and the plan's programs to
 * stand for more of their kind. */
#include "sweep/sweep_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int nomem(struct err *err)
{
	return err_set(err, ERR_NOMEM, "out of memory for the table of the sweep");
}

/* ---- indexes by key: open hashes; an entry is a number plus one ---- */

static size_t place_of(const char *key, size_t places)
{
	struct fnv f;
	fnv_init(&f);
	fnv_text(&f, key);
	return (size_t)(f.hash >> 32) % places;
}

static void index_add(uint32_t *index, size_t places, const char *key, size_t number)
{
	size_t at = place_of(key, places);
	while (index[at])
		at = (at + 1) % places;
	index[at] = (uint32_t)number + 1;
}

/* ---- the order of programs ---- */

struct turn { char key[FNV_CHARS]; size_t program; };

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	const int order = strcmp(x->key, y->key);
	return order ? order : x->program < y->program ? -1 : 1;
}

/* Without elimination: the plan's own order. */
static int make_order(struct sweep_table *t, struct err *err)
{
	struct turn *turn = calloc(t->programs + 1, sizeof *turn);
	if (!turn)
		return nomem(err);
	for (size_t i = 0; i < t->programs; i++) {
		struct fnv f;
		fnv_init(&f);
		fnv_bytes(&f, &t->plan->seed, sizeof t->plan->seed);
		fnv_text(&f, t->plan->program[i].name);
		fnv_hex(&f, turn[i].key);
		turn[i].program = i;
	}
	if (t->plan->confidence > 0 && !t->plan->by_points)
		qsort(turn, t->programs, sizeof *turn, by_turn);
	for (size_t i = 0; i < t->programs; i++)
		t->order[i] = turn[i].program;
	free(turn);
	/* looks: at the first number of programs, then whenever there are half as many more; not at the end, when
	 * there is nothing left to save */
	for (size_t n = t->plan->first; t->plan->confidence > 0 && !t->plan->by_points &&
		n < t->programs && t->look_count < 64;
		n += (n + 1) / 2)
		t->looks[t->look_count++] = n;
	return 0;
}

/* ---- making it ---- */

int sweep_table_make(struct sweep_table *t, const struct plan *p, const struct sweep_machines *m, char *const *event,
	size_t events, struct err *err)
{
	const size_t points = p->programs * m->machines;
	*t = (struct sweep_table){ .plan = p, .machines = m, .programs = p->programs, .count = m->machines,
		.events = events };
	t->program_places = 2 * t->programs + 1;
	t->machine_places = 2 * t->count + 1;
	t->program = calloc(t->programs + 1, sizeof *t->program);
	t->event = calloc(events + 1, sizeof *t->event);
	t->value = malloc((points * events + 1) * sizeof *t->value);
	t->half = malloc((points * events + 1) * sizeof *t->half);
	t->seen = calloc(points * events + 1, 1);
	t->state = calloc(points + 1, sizeof *t->state);
	t->failed = calloc(points + 1, sizeof *t->failed);
	t->seconds = calloc(t->programs + 1, sizeof *t->seconds);
	t->kilobytes = calloc(t->programs + 1, sizeof *t->kilobytes);
	t->order = calloc(t->programs + 1, sizeof *t->order);
	t->looks = calloc(64, sizeof *t->looks);
	t->gone = calloc(t->count + 1, sizeof *t->gone);
	t->against = calloc(t->count + 1, sizeof *t->against);
	t->why = calloc(t->count + 1, sizeof *t->why);
	t->by_program = calloc(t->program_places, sizeof *t->by_program);
	t->by_machine = calloc(t->machine_places, sizeof *t->by_machine);
	if (!t->program || !t->event || !t->value || !t->half || !t->seen || !t->state || !t->failed || !t->seconds ||
		!t->kilobytes || !t->order || !t->looks || !t->gone || !t->against || !t->why || !t->by_program ||
		!t->by_machine)
		return nomem(err);
	for (size_t i = 0; i < events; i++)
		if (!(t->event[i] = strdup(event[i])))
			return nomem(err);
	for (size_t i = 0; i < t->count; i++)
		index_add(t->by_machine, t->machine_places, m->machine[i].key, i);
	const int rc = make_order(t, err);
	return rc || !p->by_points ? rc : sweep_trial_make(t, err);
}

static void forget(struct sweep_table *t)
{
	const size_t points = t->programs * t->count;
	for (size_t i = 0; i < points && t->failed; i++) {
		free(t->failed[i]);
		t->failed[i] = NULL;
	}
}

void sweep_table_free(struct sweep_table *t)
{
	forget(t);
	for (size_t i = 0; i < t->events && t->event; i++)
		free(t->event[i]);
	free(t->program);
	free(t->event);
	free(t->value);
	free(t->half);
	free(t->seen);
	free(t->state);
	free(t->failed);
	free(t->seconds);
	free(t->kilobytes);
	free(t->order);
	free(t->looks);
	free(t->gone);
	free(t->against);
	free(t->why);
	free(t->by_program);
	free(t->by_machine);
	sweep_trial_free(t);
	*t = (struct sweep_table){ 0 };
}

/* ---- reading it ---- */

int sweep_table_event(const struct sweep_table *t, const char *event)
{
	for (size_t i = 0; i < t->events; i++)
		if (!strcmp(t->event[i], event))
			return (int)i;
	return -1;
}

static size_t machine_of(const struct sweep_table *t, const char *key)
{
	for (size_t at = place_of(key, t->machine_places); t->by_machine[at]; at = (at + 1) % t->machine_places)
		if (!strcmp(t->machines->machine[t->by_machine[at] - 1].key, key))
			return t->by_machine[at] - 1;
	return t->count;
}

int sweep_table_points(struct sweep_table *t, const struct sweep_row *row,
	int (*take)(struct sweep_table *t, const struct sweep_row *row, size_t program, size_t machine, void *context),
	void *context)
{
	const size_t m = machine_of(t, row->machine);
	int rc = 0;
	for (size_t at = place_of(row->program, t->program_places); t->by_program[at] && !rc;
		at = (at + 1) % t->program_places)	/* a plan may name one program twice */
		if (!strcmp(t->program[t->by_program[at] - 1], row->program))
			rc = take(t, row, t->by_program[at] - 1, m, context);
	return rc;
}

static int take_point(struct sweep_table *t, const struct sweep_row *row, size_t p, size_t m, void *context)
{
	const int event = row->event ? sweep_table_event(t, row->event) : -1;
	const size_t point = p * t->count + m;
	(void)context;
	if (m < t->count && event >= 0) {
		t->value[point * t->events + (size_t)event] = row->value;
		t->half[point * t->events + (size_t)event] = row->half;
		t->seen[point * t->events + (size_t)event] = 1;
	} else if (m < t->count && row->failed && !t->failed[point]) {
		if (!(t->failed[point] = strdup(row->failed)))
			return ERR_NOMEM;
	} else if (!row->event && !row->failed) {	/* any machine tells what the program needs */
		t->seconds[p] = t->seconds[p] >= row->seconds ? t->seconds[p] : row->seconds;
		t->kilobytes[p] = t->kilobytes[p] >= row->kilobytes ? t->kilobytes[p] : row->kilobytes;
	}
	return 0;
}

static int take(void *context, const struct sweep_row *row)
{
	return sweep_table_points(context, row, take_point, NULL);
}

double sweep_table_objective(const struct sweep_table *t, const char *what, size_t program, size_t machine)
{
	const bool time = !strcmp(what, "time"), edp = !strcmp(what, "edp");
	const int event = sweep_table_event(t, time || edp ? "duration_time" : what);
	const int energy = edp ? sweep_table_event(t, "energy") : -1;
	const double *value = t->value + (program * t->count + machine) * t->events;
	if (event < 0 || (edp && energy < 0) || t->state[program * t->count + machine] != SWEEP_DONE)
		return NAN;
	return edp ? value[event] * value[energy] : value[event];
}

/* Differences of two machines on the programs order[0..n), or on all of them. */
static void differences(const struct sweep_table *t, const char *what, size_t machine, size_t with, size_t n,
	double *difference)
{
	for (size_t i = 0; i < n; i++) {
		const double a = sweep_table_objective(t, what, t->order[i], machine);
		const double b = sweep_table_objective(t, what, t->order[i], with);
		difference[i] = a > 0 && b > 0 ? log(a / b) : NAN;
	}
}

struct paired sweep_table_compare(const struct sweep_table *t, const char *what, size_t machine, size_t with,
	double confidence, struct err *err)
{
	struct paired r = { NAN, NAN, 0 };
	double *difference = calloc(t->programs + 1, sizeof *difference);
	if (!difference) {
		nomem(err);
		return r;
	}
	differences(t, what, machine, with, t->programs, difference);
	r = paired_mean(difference, t->programs, confidence);
	free(difference);
	return r;
}

/* ---- elimination ---- */

/* Have all machines that are left run the first n programs? */
static bool all_there(const struct sweep_table *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t m = 0; m < t->count; m++)
			if (!t->gone[m] && t->state[t->order[i] * t->count + m] == SWEEP_MISSING)
				return false;
	return true;
}

static int look(struct sweep_table *t, struct err *err)
{
	const size_t n = t->looks[t->looked];
	const double pairs = (double)t->count * (double)(t->count - 1);
	/* student_quantile's tail is one-sided, paired_mean's confidence two-sided */
	const double tail = (1 - t->plan->confidence) / (pairs * (double)t->look_count);
	double *difference = calloc(n + 1, sizeof *difference);
	size_t *order = calloc(t->count + 1, sizeof *order), left = 0;
	if (!difference || !order) {
		free(difference);
		free(order);
		return nomem(err);
	}
	t->looked++;
	for (size_t m = 0; m < t->count; m++)
		if (!t->gone[m] || t->gone[m] == t->looked)
			order[left++] = m;
	for (size_t i = 0; i < left; i++)
		for (size_t k = 0; k < left; k++) {
			const size_t m = order[i], with = order[k];
			if (m == with)
				continue;
			differences(t, t->plan->objective, m, with, n, difference);
			const struct paired p = paired_mean(difference, n, 1 - 2 * tail);
			if (p.n < 3 || isnan(p.half) || !(p.mean - p.half > 0) ||
				(t->gone[m] && p.mean <= t->why[m].mean))
				continue;
			t->gone[m] = t->looked;
			t->against[m] = with;
			t->why[m] = p;
		}
	free(difference);
	free(order);
	return 0;
}

size_t sweep_table_reach(const struct sweep_table *t)
{
	return t->looked == t->look_count ? t->programs : t->plan->by_points ? 0 : t->looks[t->looked];
}

int sweep_table_read(struct sweep_table *t, struct sweep_store *s, const char *model, const char *mode,
	struct err *err)
{
	const size_t points = t->programs * t->count;
	forget(t);
	memset(t->state, 0, points);
	memset(t->seen, 0, points * t->events);
	memset(t->gone, 0, t->count * sizeof *t->gone);
	memset(t->by_program, 0, t->program_places * sizeof *t->by_program);
	t->looked = 0;
	for (size_t i = 0; i < points * t->events; i++)
		t->value[i] = t->half[i] = NAN;
	for (size_t i = 0; i < t->programs; i++) {
		t->seconds[i] = NAN;
		t->kilobytes[i] = 0;
		if (t->program[i])
			index_add(t->by_program, t->program_places, t->program[i], i);
	}
	int rc = sweep_store_read(s, model, mode, take, t, err);
	if (rc == ERR_NOMEM && !err->code)
		return nomem(err);
	for (size_t i = 0; i < points; i++) {
		size_t have = 0;
		for (size_t e = 0; e < t->events; e++)
			have += t->seen[i * t->events + e];
		t->state[i] = have == t->events ? SWEEP_DONE : t->failed[i] ? SWEEP_FAILED : SWEEP_MISSING;
	}
	if (!rc && t->plan->by_points)
		return sweep_trial_read(t, s, model, mode, err);
	while (!rc && t->looked < t->look_count && all_there(t, t->looks[t->looked]))
		rc = look(t, err);
	return rc;
}
