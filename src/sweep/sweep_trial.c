/* SPDX-License-Identifier: GPL-2.0-or-later
 * Elimination by points (sweep_table.h).
 *
 * All machines run the same few SWEEP_PARTS-ths of each file of live points.  Each takes every SWEEP_PARTS-th part.
 * What one machine takes of them against another one is a ratio of sums, whose interval comes from what each part
 * differs by (ratio estimator: Cochran, "Sampling Techniques", 1977, section 6.4).  The logarithms of the programs'
 * ratios are averaged; the degrees of freedom of the mean are Satterthwaite's (Biometrics Bulletin 2, 1946).  So the
 * question is which machine suits these programs, where the elimination by programs asks which suits programs of their
 * kind.  A machine is eliminated if another one is better with the plan's confidence, one-sided, divided by the number
 * of pairs and of looks (Bonferroni). */
#include "sweep/sweep_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t looks[] = { SWEEP_TRIALS / 2, SWEEP_TRIALS };
/* Which parts: none is next to another, since neighbours resemble each other. */
static const unsigned char which[SWEEP_TRIALS] = { 1, 9, 5, 13, 3, 11 };

void sweep_trial_mode(const char *mode, unsigned trial, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s parts %u/%d", mode, which[trial], SWEEP_PARTS);
}

int sweep_trial_make(struct sweep_table *t, struct err *err)
{
	t->has_points = calloc(t->programs + 1, sizeof *t->has_points);
	t->trial = calloc(t->programs * t->count + 1, sizeof *t->trial);
	t->trial_state = calloc(t->programs * t->count + 1, sizeof *t->trial_state);
	t->trial_seconds = calloc(t->programs + 1, sizeof *t->trial_seconds);
	t->trial_kilobytes = calloc(t->programs + 1, sizeof *t->trial_kilobytes);
	if (!t->has_points || !t->trial || !t->trial_state || !t->trial_seconds || !t->trial_kilobytes)
		return err_set(err, ERR_NOMEM, "out of memory for the table of the sweep");
	t->look_count = sizeof looks / sizeof *looks;
	memcpy(t->looks, looks, sizeof looks);
	return 0;
}

void sweep_trial_free(struct sweep_table *t)
{
	free(t->has_points);
	free(t->trial);
	free(t->trial_state);
	free(t->trial_seconds);
	free(t->trial_kilobytes);
}

unsigned sweep_trial_reach(const struct sweep_table *t)
{
	return t->plan->by_points && t->looked < t->look_count ? (unsigned)t->looks[t->looked] : 0;
}

/* ---- reading ---- */

/* The events whose product is the objective; *second -1: it is one event. */
static void factors(const struct sweep_table *t, int *first, int *second)
{
	const char *what = t->plan->objective;
	const bool edp = !strcmp(what, "edp");
	*first = sweep_table_event(t, edp || !strcmp(what, "time") ? "duration_time" : what);
	*second = edp ? sweep_table_event(t, "energy") : -1;
}

static int take_part(struct sweep_table *t, const struct sweep_row *row, size_t p, size_t m, void *context)
{
	const unsigned trial = *(const unsigned *)context;
	const size_t point = p * t->count + m;
	int first, second;
	if (!row->event && !row->failed) {	/* what it took */
		t->trial_seconds[p] = t->trial_seconds[p] >= row->seconds ? t->trial_seconds[p] : row->seconds;
		if (t->trial_kilobytes[p] < row->kilobytes)
			t->trial_kilobytes[p] = row->kilobytes;
	}
	if (m == t->count)
		return 0;
	factors(t, &first, &second);
	if (row->failed)
		t->trial_state[point][trial] = SWEEP_FAILED;
	else if (row->event && first >= 0 && !strcmp(row->event, t->event[first]))
		t->trial[point][trial][0] = row->value;
	else if (row->event && second >= 0 && !strcmp(row->event, t->event[second]))
		t->trial[point][trial][1] = row->value;
	return 0;
}

struct reading { struct sweep_table *t; unsigned trial; };

static int take(void *context, const struct sweep_row *row)
{
	struct reading *r = context;
	return sweep_table_points(r->t, row, take_part, &r->trial);
}

/* ---- looking ---- */

/* The logarithm of what a program takes on one machine divided by that on the other one, over the parts that both ran;
 * its variance, and how many parts that are. */
static size_t compare_program(const struct sweep_table *t, size_t program, size_t machine, size_t with, unsigned n,
	double *log_ratio, double *variance)
{
	const size_t a = program * t->count + machine, b = program * t->count + with;
	double sum[2][2] = { { 0, 0 }, { 0, 0 } }, squares = 0;
	size_t parts = 0;
	for (unsigned k = 0; k < n; k++)
		if (t->trial_state[a][k] == SWEEP_DONE && t->trial_state[b][k] == SWEEP_DONE) {
			for (int f = 0; f < 2; f++) {
				sum[f][0] += t->trial[a][k][f];
				sum[f][1] += t->trial[b][k][f];
			}
			parts++;
		}
	*log_ratio = log(sum[0][0] / sum[0][1]) + log(sum[1][0] / sum[1][1]);
	for (unsigned k = 0; k < n; k++)
		if (t->trial_state[a][k] == SWEEP_DONE && t->trial_state[b][k] == SWEEP_DONE) {
			double rest = 0;
			for (int f = 0; f < 2; f++)
				rest += t->trial[a][k][f] / sum[f][0] - t->trial[b][k][f] / sum[f][1];
			squares += rest * rest;
		}
	*variance = parts > 1 ? squares * (double)parts / (double)(parts - 1) : (double)NAN;
	return parts;
}

struct paired sweep_trial_compare(const struct sweep_table *t, size_t machine, size_t with, unsigned n, double tail)
{
	double mean = 0, variance = 0, squares = 0;
	size_t programs = 0;
	for (size_t p = 0; p < t->programs; p++) {
		double log_ratio, of;
		const size_t parts = t->has_points[p] ? compare_program(t, p, machine, with, n, &log_ratio, &of) : 0;
		if (parts < 2)
			continue;
		mean += log_ratio;
		variance += of;
		squares += of * of / (double)(parts - 1);
		programs++;
	}
	if (!programs)
		return (struct paired){ (double)NAN, (double)NAN, 0 };
	const double degrees = squares > 0 ? variance * variance / squares : 1;
	return (struct paired){ mean / (double)programs,
		variance > 0 ? student_quantile(tail, degrees) * sqrt(variance) / (double)programs : 0, programs };
}

/* Have all machines that are left run the first n parts? */
static bool all_there(const struct sweep_table *t, size_t n)
{
	for (size_t p = 0; p < t->programs; p++)
		for (size_t m = 0; m < t->count && t->has_points[p]; m++)
			for (size_t k = 0; k < n && !t->gone[m]; k++)
				if (t->trial_state[p * t->count + m][k] == SWEEP_MISSING)
					return false;
	return true;
}

static void look(struct sweep_table *t)
{
	const unsigned n = (unsigned)t->looks[t->looked++];
	const double pairs = (double)t->count * (double)(t->count - 1),
		     tail = (1 - t->plan->confidence) / (pairs * (double)t->look_count);
	size_t left = 0;
	for (size_t m = 0; m < t->count; m++)
		for (size_t with = 0; with < t->count; with++) {
			const bool both = m != with && (!t->gone[m] || t->gone[m] == t->looked) &&
				(!t->gone[with] || t->gone[with] == t->looked);
			const struct paired p = both ? sweep_trial_compare(t, m, with, n, tail)
				: (struct paired){ 0 };
			if (!both || !(p.mean - p.half > 0) || (t->gone[m] && p.mean <= t->why[m].mean))
				continue;
			t->gone[m] = t->looked;
			t->against[m] = with;
			t->why[m] = p;
		}
	for (size_t m = 0; m < t->count; m++)
		left += !t->gone[m];
	if (left < 2)
		t->look_count = t->looked;	/* nothing is left to choose */
}

int sweep_trial_read(struct sweep_table *t, struct sweep_store *s, const char *model, const char *mode,
	struct err *err)
{
	const size_t points = t->programs * t->count;
	int first, second, rc = 0;
	factors(t, &first, &second);
	memset(t->trial_state, SWEEP_MISSING, points * sizeof *t->trial_state);
	memset(t->trial_seconds, 0, t->programs * sizeof *t->trial_seconds);
	memset(t->trial_kilobytes, 0, t->programs * sizeof *t->trial_kilobytes);
	t->look_count = sizeof looks / sizeof *looks;
	for (size_t i = 0; i < points; i++)
		for (unsigned k = 0; k < SWEEP_TRIALS; k++) {
			t->trial[i][k][0] = (double)NAN;
			t->trial[i][k][1] = second < 0 ? 1 : (double)NAN;
		}
	for (unsigned k = 0; k < SWEEP_TRIALS && !rc; k++) {
		struct reading r = { t, k };
		char text[96];
		sweep_trial_mode(mode, k, text, sizeof text);
		rc = sweep_store_read(s, model, text, take, &r, err);
	}
	for (size_t i = 0; i < points; i++)
		for (unsigned k = 0; k < SWEEP_TRIALS; k++)
			if (t->trial[i][k][0] > 0 && t->trial[i][k][1] > 0)
				t->trial_state[i][k] = SWEEP_DONE;
	while (!rc && t->looked < t->look_count && all_there(t, t->looks[t->looked]))
		look(t);
	return rc;
}
