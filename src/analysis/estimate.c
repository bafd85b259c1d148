/* SPDX-License-Identifier: GPL-2.0-or-later
 * Totals from windows (estimate.h).
 */
#include "analysis/estimate.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double bias = 0.005;	/* the allowance for it (estimate.h) */

struct estimate {
	size_t counts, windows, room;
	double *size;		/* [windows][ESTIMATE_SIZES] */
	double *weight;		/* instructions that the window stands for, per instruction of its own */
	double *count;		/* [windows][counts] */
	/* by estimate_fit: */
	unsigned used;		/* sizes of the regression */
	unsigned which[ESTIMATE_SIZES];
	double inverse[ESTIMATE_SIZES][ESTIMATE_SIZES];	/* of the weighted products of the sizes */
	double total[ESTIMATE_SIZES];
	double *factor;		/* of each window: its weight, corrected so that the sizes' totals are met */
};

int estimate_create(struct estimate **out, size_t counts, struct err *err)
{
	struct estimate *e = calloc(1, sizeof *e);
	if (!e)
		return err_set(err, ERR_NOMEM, "out of memory for estimates");
	e->counts = counts;
	*out = e;
	return 0;
}

void estimate_destroy(struct estimate *e)
{
	if (!e)
		return;
	free(e->size);
	free(e->weight);
	free(e->count);
	free(e->factor);
	free(e);
}

static bool grow(double **array, size_t elements)
{
	double *bigger = realloc(*array, elements * sizeof *bigger);
	if (bigger)
		*array = bigger;
	return bigger;
}

int estimate_add(struct estimate *e, const double size[ESTIMATE_SIZES], double stands_for, const double *count,
	struct err *err)
{
	if (e->windows == e->room) {
		const size_t room = e->room ? 2 * e->room : 256;
		if (!grow(&e->size, room * ESTIMATE_SIZES) || !grow(&e->weight, room) || !grow(&e->factor, room) ||
			!grow(&e->count, room * (e->counts + 1)))
			return err_set(err, ERR_NOMEM, "out of memory for estimates");
		e->room = room;
	}
	memcpy(e->size + e->windows * ESTIMATE_SIZES, size, ESTIMATE_SIZES * sizeof *size);
	memcpy(e->count + e->windows * e->counts, count, e->counts * sizeof *count);
	e->weight[e->windows++] = stands_for / size[0];
	return 0;
}

int estimate_join(struct estimate *to, const struct estimate *from, struct err *err)
{
	int rc = 0;
	for (size_t n = 0; n < from->windows && !rc; n++) {
		const double *size = from->size + n * ESTIMATE_SIZES;
		rc = estimate_add(to, size, from->weight[n] * size[0], from->count + n * from->counts, err);
	}
	return rc;
}

size_t estimate_windows(const struct estimate *e)
{
	return e->windows;
}

/* Inverts the products of the sizes by Gauss and Jordan; leaves out sizes that depend on others. */
static void invert(struct estimate *e, double product[ESTIMATE_SIZES][ESTIMATE_SIZES], unsigned sizes)
{
	double diagonal[ESTIMATE_SIZES], m[ESTIMATE_SIZES][ESTIMATE_SIZES];
	bool in[ESTIMATE_SIZES] = { false };
	memcpy(m, product, sizeof m);
	for (unsigned i = 0; i < sizes; i++)
		diagonal[i] = m[i][i];
	memset(e->inverse, 0, sizeof e->inverse);
	e->used = 0;
	/* the sweep operator: after all sweeps, m holds the negative inverse of the rows that were swept */
	for (unsigned k = 0; k < sizes; k++) {
		const double pivot = m[k][k];
		if (!(diagonal[k] > 0) || !(pivot > 1e-9 * diagonal[k]))
			continue;
		in[k] = true;
		for (unsigned i = 0; i < sizes; i++)
			for (unsigned j = 0; j < sizes; j++)
				if (i != k && j != k)
					m[i][j] -= m[i][k] * m[k][j] / pivot;
		for (unsigned i = 0; i < sizes; i++)
			if (i != k)
				m[i][k] = m[k][i] = m[i][k] / pivot;
		m[k][k] = -1 / pivot;
	}
	for (unsigned i = 0; i < sizes; i++)
		if (in[i])
			e->which[e->used++] = i;
	for (unsigned a = 0; a < e->used; a++)
		for (unsigned b = 0; b < e->used; b++)
			e->inverse[a][b] = -m[e->which[a]][e->which[b]];
}

void estimate_fit(struct estimate *e, const double *total)
{
	double product[ESTIMATE_SIZES][ESTIMATE_SIZES] = { { 0 } }, expanded[ESTIMATE_SIZES] = { 0 };
	double missing[ESTIMATE_SIZES];
	const unsigned sizes = e->windows < ESTIMATE_REGRESSION ? 1 : ESTIMATE_SIZES;
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES;
		for (unsigned i = 0; i < sizes; i++) {
			expanded[i] += e->weight[n] * s[i];
			for (unsigned j = 0; j < sizes; j++)
				product[i][j] += e->weight[n] * s[i] * s[j] / s[0];
		}
	}
	memcpy(e->total, total ? total : expanded, sizeof e->total);
	invert(e, product, sizes);
	for (unsigned a = 0; a < e->used; a++) {
		missing[a] = 0;
		for (unsigned b = 0; b < e->used; b++)
			missing[a] += e->inverse[a][b] * (e->total[e->which[b]] - expanded[e->which[b]]);
	}
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES;
		double g = 1;
		for (unsigned a = 0; a < e->used; a++)
			g += missing[a] * s[e->which[a]] / s[0];
		e->factor[n] = e->weight[n] * g;
	}
}

/* The coefficients of a count. */
static void coefficients(const struct estimate *e, size_t count, double out[ESTIMATE_SIZES])
{
	double product[ESTIMATE_SIZES] = { 0 };
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES, y = e->count[n * e->counts + count];
		for (unsigned a = 0; a < e->used; a++)
			product[a] += e->weight[n] * s[e->which[a]] * y / s[0];
	}
	for (unsigned a = 0; a < e->used; a++) {
		out[a] = 0;
		for (unsigned b = 0; b < e->used; b++)
			out[a] += e->inverse[a][b] * product[b];
	}
}

/* Student's distribution, two-sided 95 %, closely: 1.96 + 2.4 / (degrees - 1.2). */
static double quantile(double degrees)
{
	return 1.96 + 2.4 / (degrees > 3 ? degrees - 1.2 : 1.8);
}

/* With these coefficients, does a count equal one of the sizes? */
static bool is_a_size(const struct estimate *e, const double b[ESTIMATE_SIZES])
{
	unsigned ones = 0, others = 0;
	for (unsigned a = 0; a < e->used; a++) {
		ones += fabs(b[a] - 1) < 1e-6;
		others += fabs(b[a]) > 1e-6;
	}
	return ones == 1 && others == 1;
}

double estimate_total(const struct estimate *e, size_t count, double *half)
{
	double sum = 0, b[ESTIMATE_SIZES], squares = 0, all = 0, before = 0, timed = 0;
	size_t saw = 0;
	*half = NAN;
	if (!e->windows)
		return 0;
	coefficients(e, count, b);
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES, y = e->count[n * e->counts + count];
		double rest = y;
		for (unsigned a = 0; a < e->used; a++)
			rest -= b[a] * s[e->which[a]];
		const double residual = e->factor[n] * rest;
		sum += e->factor[n] * y;
		all += e->factor[n] * y * e->factor[n] * y;
		timed += s[0];
		saw += y != 0;
		if (n)
			squares += (residual - before) * (residual - before);
		before = residual;
	}
	if (e->windows >= ESTIMATE_LEAST && saw && squares < 1e-12 * all && is_a_size(e, b))
		*half = 0;
	/* a count that few windows saw tells nothing of its spread */
	else if (e->windows >= ESTIMATE_LEAST && saw >= ESTIMATE_SAW) {
		const double n = (double)e->windows, degrees = n - e->used, left = 1 - timed / e->total[0];
		const double chance = quantile(degrees) *
			sqrt(squares / (2 * (n - 1)) * n * (n / degrees) * (left > 0 ? left : 0));
		*half = hypot(chance, bias * sum);
	}
	return sum;
}
