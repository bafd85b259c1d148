/* SPDX-License-Identifier: GPL-2.0-or-later
 * Main effects and the Pareto front (sweep_table.h). */
#include "sweep/sweep_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double level_of(const struct sweep_table *t, size_t machine, int factor)
{
	const struct sweep_machine *m = t->machines->machine + machine;
	return factor < 0 ? (double)m->core_level : m->level[factor];
}

/* Are two machines equal in all factors but this one?  drawn: may they differ in drawn ones? */
static bool twins(const struct sweep_table *t, size_t a, size_t b, int factor, bool drawn)
{
	for (int f = -1; f < (int)t->plan->factors; f++) {
		const double x = level_of(t, a, f), y = level_of(t, b, f);
		if (x < 0 || y < 0 || (f != factor && x != y && !(drawn && f >= 0 && t->plan->factor[f].drawn)))
			return false;
	}
	return true;
}

/* ---- factors of the grid: pairs ---- */

/* pair[m]: the machine of the first level with which m, of this level, is compared; else t->count. */
static void find_pairs(const struct sweep_table *t, int factor, size_t level, size_t *pair)
{
	for (size_t m = 0; m < t->count; m++) {
		pair[m] = t->count;
		for (size_t k = 0; k < t->count && level_of(t, m, factor) == (double)level; k++)
			if (level_of(t, k, factor) == 0 && twins(t, m, k, factor, false))
				pair[m] = k;
	}
}

static double paired_effect(const struct sweep_table *t, const char *what, size_t program, const size_t *pair)
{
	double sum = 0;
	size_t n = 0;
	for (size_t m = 0; m < t->count; m++)
		if (pair[m] < t->count) {
			const double a = sweep_table_objective(t, what, program, m);
			const double b = sweep_table_objective(t, what, program, pair[m]);
			if (a > 0 && b > 0) {
				sum += log(a / b);
				n++;
			}
		}
	return n ? sum / (double)n : NAN;
}

/* ---- drawn factors: a plane ---- */

/* Where a machine lies between the low and the high end of a drawn factor. */
static double position(const struct sweep_table *t, size_t machine, int factor)
{
	const struct plan_factor *f = t->plan->factor + factor;
	const double level = level_of(t, machine, factor);
	return f->levels > 1 ? level / (double)(f->levels - 1) : level;
}

/* Solves the n equations of the symmetric matrix a (n rows of n + 1), by Gauss with pivots.  False: it is singular. */
static bool solve(double *a, size_t n, double *x)
{
	const size_t w = n + 1;
	for (size_t c = 0; c < n; c++) {
		size_t best = c;
		for (size_t r = c + 1; r < n; r++)
			if (fabs(a[r * w + c]) > fabs(a[best * w + c]))
				best = r;
		if (fabs(a[best * w + c]) < 1e-9)
			return false;
		for (size_t k = 0; k < w && best != c; k++) {
			const double kept = a[c * w + k];
			a[c * w + k] = a[best * w + k];
			a[best * w + k] = kept;
		}
		for (size_t r = c + 1; r < n; r++)
			for (size_t k = w; k-- > c;)
				a[r * w + k] -= a[r * w + c] / a[c * w + c] * a[c * w + k];
	}
	for (size_t r = n; r-- > 0;) {
		x[r] = a[r * w + n];
		for (size_t k = r + 1; k < n; k++)
			x[r] -= a[r * w + k] * x[k];
		x[r] /= a[r * w + r];
	}
	return true;
}

/* The plane through the logarithms of the machines that are like machine `first` but for what was drawn; NaN: there are
 * too few.  used: marks them. */
static double slope(const struct sweep_table *t, const char *what, size_t program, int factor, size_t first,
	unsigned char *used)
{
	double a[(PLAN_FACTORS + 1) * (PLAN_FACTORS + 2)] = { 0 }, x[PLAN_FACTORS + 1], row[PLAN_FACTORS + 2];
	size_t n = 0, machines = 0, at = 0;
	for (int f = 0; f < (int)t->plan->factors; f++) {
		at = f == factor ? n : at;
		n += t->plan->factor[f].drawn;
	}
	n++;
	for (size_t m = first; m < t->count; m++) {
		if (used[m] || !twins(t, first, m, factor, true))
			continue;
		used[m] = 1;
		const double y = sweep_table_objective(t, what, program, m);
		size_t k = 0;
		for (int f = 0; f < (int)t->plan->factors; f++)
			if (t->plan->factor[f].drawn)
				row[k++] = position(t, m, f);
		row[k++] = 1;
		row[k] = log(y);
		if (!(y > 0))
			continue;
		machines++;
		for (size_t r = 0; r < n; r++)
			for (size_t c = 0; c <= n; c++)
				a[r * (n + 1) + c] += row[r] * row[c];
	}
	return machines > n && solve(a, n, x) ? x[at] : NAN;
}

static double drawn_effect(const struct sweep_table *t, const char *what, size_t program, int factor,
	unsigned char *used)
{
	double sum = 0;
	size_t n = 0;
	memset(used, 0, t->count);
	for (size_t m = 0; m < t->count; m++) {
		if (used[m] || level_of(t, m, factor) < 0)
			continue;
		const double s = slope(t, what, program, factor, m, used);
		if (!isnan(s)) {
			sum += s;
			n++;
		}
	}
	return n ? sum / (double)n : NAN;
}

struct paired sweep_effect(const struct sweep_table *t, const char *what, int factor, size_t level, double confidence,
	struct err *err)
{
	struct paired r = { NAN, NAN, 0 };
	const bool drawn = factor >= 0 && t->plan->factor[factor].drawn;
	double *effect = calloc(t->programs + 1, sizeof *effect);
	size_t *pair = calloc(t->count + 1, sizeof *pair);
	unsigned char *used = calloc(t->count + 1, 1);
	if (effect && pair && used) {
		if (!drawn)
			find_pairs(t, factor, level, pair);
		for (size_t p = 0; p < t->programs; p++)
			effect[p] = drawn ? drawn_effect(t, what, p, factor, used) : paired_effect(t, what, p, pair);
		r = paired_mean(effect, t->programs, confidence);
	} else {
		err_set(err, ERR_NOMEM, "out of memory for the effects of fields");
	}
	free(effect);
	free(pair);
	free(used);
	return r;
}

/* ---- the front ---- */

static double mean_ratio(const struct sweep_table *t, const char *what, size_t machine, const unsigned char *common)
{
	double sum = 0;
	size_t n = 0;
	for (size_t p = 0; p < t->programs; p++)
		if (common[p]) {
			sum += log(sweep_table_objective(t, what, p, machine) / sweep_table_objective(t, what, p, 0));
			n++;
		}
	return n ? exp(sum / (double)n) : NAN;
}

int sweep_front(const struct sweep_table *t, const char *first, const char *second, double *x, double *y,
	unsigned char *front, struct err *err)
{
	unsigned char *common = calloc(t->programs + 1, 1), *in = calloc(t->count + 1, 1);
	if (!common || !in) {
		free(common);
		free(in);
		return err_set(err, ERR_NOMEM, "out of memory for the Pareto front");
	}
	for (size_t m = 0; m < t->count;
		m++) { /* machines that were neither eliminated nor failed, and the first one */
		in[m] = !m || !t->gone[m];
		for (size_t p = 0; p < t->programs && m; p++)
			in[m] &= t->state[p * t->count + m] != SWEEP_FAILED;
	}
	for (size_t p = 0; p < t->programs; p++) {
		common[p] = 1;
		for (size_t m = 0; m < t->count; m++)
			common[p] &= !in[m] || (sweep_table_objective(t, first, p, m) > 0 &&
				sweep_table_objective(t, second, p, m) > 0);
	}
	for (size_t m = 0; m < t->count; m++) {
		x[m] = in[m] ? mean_ratio(t, first, m, common) : NAN;
		y[m] = in[m] ? mean_ratio(t, second, m, common) : NAN;
	}
	for (size_t m = 0; m < t->count; m++) {
		front[m] = !isnan(x[m]) && !isnan(y[m]);
		for (size_t k = 0; k < t->count; k++)
			front[m] &= !(x[k] <= x[m] && y[k] <= y[m] && (x[k] < x[m] || y[k] < y[m]));
	}
	free(common);
	free(in);
	return 0;
}
