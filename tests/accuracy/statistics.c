/* SPDX-License-Identifier: GPL-2.0-or-later
 * Errors of a set of rows. Kendall's tau-b compares the numbers of concordant and discordant pairs, corrected for
 * ties. No C library has it; the plain O(n^2) form here suffices, as 2,000 rows are 2 million pairs.
 */
#include "accuracy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row *rows_add(struct rows *r)
{
	if (r->n == r->room) {
		size_t room = r->room * 2 + 256;
		struct row *more = realloc(r->row, room * sizeof *more);
		if (!more)
			return NULL;
		r->row = more;
		r->room = room;
	}
	r->row[r->n] = (struct row){ .unit = 1, .other = -1 };
	return &r->row[r->n++];
}

void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->row[i].name);
		free(r->row[i].text);
	}
	free(r->row);
	*r = (struct rows){ 0 };
}

double row_model(const struct row *r) { return r->failed ? -1 : r->model; }
double row_other(const struct row *r) { return r->other; }
double row_error(const struct row *r) { return r->model / r->measured - 1; }

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double kendall(const double *x, const double *y, size_t n)
{
	double agree = 0, ties_x = 0, ties_y = 0, pairs = (double)n * (double)(n - 1) / 2;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			int a = (x[i] > x[k]) - (x[i] < x[k]), b = (y[i] > y[k]) - (y[i] < y[k]);
			agree += a * b;
			ties_x += a == 0;
			ties_y += b == 0;
		}
	double scale = sqrt((pairs - ties_x) * (pairs - ties_y));
	return scale > 0 ? agree / scale : 0;
}

int summarize(const struct rows *r, row_value *value, row_chosen *chosen, row_good *good, struct summary *out)
{
	double *x = malloc((r->n + 1) * sizeof *x), *y = malloc((r->n + 1) * sizeof *y),
		*e = malloc((r->n + 1) * sizeof *e);
	size_t n = 0, fine = 0;
	*out = (struct summary){ 0 };
	if (!x || !y || !e) {
		free(x);
		free(y);
		free(e);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct row *w = &r->row[i];
		if (chosen && !chosen(w))
			continue;
		if (value(w) < 0) {
			out->failed++;
			continue;
		}
		x[n] = w->measured;
		y[n] = value(w);
		e[n] = 100 * fabs(y[n] / x[n] - 1);
		out->mape += e[n];
		out->bias += 100 * (y[n] / x[n] - 1);
		fine += good && good(w);
		n++;
	}
	out->rows = n;
	if (n) {
		out->mape /= (double)n;
		out->bias /= (double)n;
		out->within = 100 * (double)fine / (double)n;
		out->tau = kendall(x, y, n);
		qsort(e, n, sizeof *e, by_value);
		out->median = n % 2 ? e[n / 2] : (e[n / 2 - 1] + e[n / 2]) / 2;
		size_t at = (size_t)ceil(0.9 * (double)n);
		out->p90 = e[at ? at - 1 : 0];
	}
	free(x);
	free(y);
	free(e);
	return 0;
}

size_t worst_rows(const struct rows *r, row_chosen *chosen, size_t *index, size_t most)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (r->row[i].failed || (chosen && !chosen(&r->row[i])))
			continue;
		double e = fabs(row_error(&r->row[i]));
		size_t k = n < most ? n++ : most;
		while (k > 0 && fabs(row_error(&r->row[index[k - 1]])) < e) {
			if (k < most)
				index[k] = index[k - 1];
			k--;
		}
		if (k < most)
			index[k] = i;
	}
	return n;
}
