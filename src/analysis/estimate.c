/* SPDX-License-Identifier: GPL-2.0-or-later
 * Totals from windows (estimate.h).
 */
#include "analysis/estimate.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct fit {
	unsigned used;		/* sizes of the regression */
	unsigned which[ESTIMATE_SIZES];
	double inverse[ESTIMATE_SIZES][ESTIMATE_SIZES];	/* of the weighted products of the sizes */
	double *factor;		/* of each window: its weight, corrected so that the sizes' totals are met */
};

struct estimate {
	size_t counts, windows, room;
	size_t clock;		/* the count that is the time; SIZE_MAX: not told */
	size_t parts;		/* counts from here on are parts of it */
	double *size;		/* [windows][ESTIMATE_SIZES] */
	double *weight;		/* instructions that the window stands for, per instruction of its own */
	double *count;		/* [windows][counts] */
	double *elsewhere;	/* of each count: how many an instruction apart from the windows has; NULL: not known */
	/* by estimate_fit: */
	double total[ESTIMATE_SIZES];
	struct fit time, all;	/* that of the time, and that from all sizes */
	bool differ;
};

int estimate_create(struct estimate **out, size_t counts, struct err *err)
{
	struct estimate *e = calloc(1, sizeof *e);
	if (!e)
		return err_set(err, ERR_NOMEM, "out of memory for estimates");
	e->counts = counts;
	e->clock = SIZE_MAX;
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
	free(e->elsewhere);
	free(e->time.factor);
	free(e->all.factor);
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
		if (!grow(&e->size, room * ESTIMATE_SIZES) || !grow(&e->weight, room) || !grow(&e->time.factor, room) ||
			!grow(&e->all.factor, room) || !grow(&e->count, room * (e->counts + 1)))
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

int estimate_elsewhere(struct estimate *e, double instructions, const double *count, struct err *err)
{
	if (!(instructions > 0))
		return 0;
	if (!e->elsewhere && !(e->elsewhere = calloc(e->counts + 1, sizeof *e->elsewhere)))
		return err_set(err, ERR_NOMEM, "out of memory for estimates");
	for (size_t i = 0; i < e->counts; i++)
		e->elsewhere[i] = count[i] / instructions;
	return 0;
}

void estimate_clock(struct estimate *e, size_t count, size_t parts)
{
	e->clock = count;
	e->parts = parts;
}

/* Is the count a multiple of the time in every window, but for the time's rounding at both of its ends? */
static bool is_time(const struct estimate *e, size_t count)
{
	double sum = 0, time = 0;
	if (e->clock == SIZE_MAX || e->clock == count)
		return true;
	for (size_t n = 0; n < e->windows; n++) {
		sum += e->count[n * e->counts + count];
		time += e->count[n * e->counts + e->clock];
	}
	for (size_t n = 0; n < e->windows; n++) {
		const double *c = e->count + n * e->counts;
		if (fabs(c[count] - sum / time * c[e->clock]) > 2 * sum / time)
			return false;
	}
	return sum > 0;
}

size_t estimate_windows(const struct estimate *e)
{
	return e->windows;
}

/* Inverts the products of the sizes by Gauss and Jordan; leaves out sizes that depend on others. */
static void invert(struct fit *f, double product[ESTIMATE_SIZES][ESTIMATE_SIZES], unsigned sizes)
{
	double diagonal[ESTIMATE_SIZES], m[ESTIMATE_SIZES][ESTIMATE_SIZES];
	bool in[ESTIMATE_SIZES] = { false };
	memcpy(m, product, sizeof m);
	for (unsigned i = 0; i < sizes; i++)
		diagonal[i] = m[i][i];
	memset(f->inverse, 0, sizeof f->inverse);
	f->used = 0;
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
			f->which[f->used++] = i;
	for (unsigned a = 0; a < f->used; a++)
		for (unsigned b = 0; b < f->used; b++)
			f->inverse[a][b] = -m[f->which[a]][f->which[b]];
}

/* Of the sizes over all windows: weighted products and sums, and which of them few windows have most of. */
struct products {
	double of[ESTIMATE_SIZES][ESTIMATE_SIZES], expanded[ESTIMATE_SIZES];
	unsigned sizes;
	bool few[ESTIMATE_SIZES];
};

static void products(const struct estimate *e, struct products *p)
{
	double fourth[ESTIMATE_SIZES] = { 0 };
	*p = (struct products){ .sizes = e->windows < ESTIMATE_REGRESSION ? 1 : ESTIMATE_INSTRUCTIONS };
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES;
		for (unsigned i = 0; i < p->sizes; i++) {
			const double square = e->weight[n] * s[i] * s[i] / s[0];
			p->expanded[i] += e->weight[n] * s[i];
			fourth[i] += square * square;
			for (unsigned j = 0; j < p->sizes; j++)
				p->of[i][j] += e->weight[n] * s[i] * s[j] / s[0];
		}
	}
	for (unsigned i = 2; i < p->sizes; i++)
		p->few[i] = p->of[i][i] > 0 && p->of[i][i] * p->of[i][i] < ESTIMATE_MAKE * fourth[i];
}

/* Makes the fit from all sizes but these. */
static void fit_without(const struct estimate *e, struct fit *f, const struct products *p,
	const bool without[ESTIMATE_SIZES])
{
	double product[ESTIMATE_SIZES][ESTIMATE_SIZES], missing[ESTIMATE_SIZES];
	memcpy(product, p->of, sizeof product);
	for (unsigned i = 0; i < p->sizes; i++)
		for (unsigned j = 0; j < p->sizes && without[i]; j++)
			product[i][j] = product[j][i] = 0;
	invert(f, product, p->sizes);
	for (unsigned a = 0; a < f->used; a++) {
		missing[a] = 0;
		for (unsigned b = 0; b < f->used; b++)
			missing[a] += f->inverse[a][b] * (e->total[f->which[b]] - p->expanded[f->which[b]]);
	}
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES;
		double g = 1;
		for (unsigned a = 0; a < f->used; a++)
			g += missing[a] * s[f->which[a]] / s[0];
		f->factor[n] = e->weight[n] * g;
	}
}

/* The coefficients of a count. */
static void coefficients(const struct estimate *e, const struct fit *f, size_t count, double out[ESTIMATE_SIZES])
{
	double product[ESTIMATE_SIZES] = { 0 };
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES, y = e->count[n * e->counts + count];
		for (unsigned a = 0; a < f->used; a++)
			product[a] += e->weight[n] * s[f->which[a]] * y / s[0];
	}
	for (unsigned a = 0; a < f->used; a++) {
		out[a] = 0;
		for (unsigned b = 0; b < f->used; b++)
			out[a] += f->inverse[a][b] * product[b];
	}
}

/* How far the window draws the fit to itself, 0 to 1. */
static double leverage(const struct estimate *e, const struct fit *f, size_t window)
{
	const double *s = e->size + window * ESTIMATE_SIZES;
	double h = 0;
	for (unsigned a = 0; a < f->used; a++)
		for (unsigned b = 0; b < f->used; b++)
			h += s[f->which[a]] * f->inverse[a][b] * s[f->which[b]];
	return e->weight[window] * h / s[0];
}

/* How far the windows' residuals of a count, each from the fit of the others, are apart (estimate.h). */
struct spread {
	double squares;			/* sum of the squared differences of neighbours */
	double first, second, third;	/* sums of the residuals' powers */
	double unexplained;		/* sum of the squared residuals from the fit of all windows */
};

static struct spread spread(const struct estimate *e, const struct fit *f, size_t count,
	const double b[ESTIMATE_SIZES])
{
	struct spread d = { 0 };
	double before = 0;
	for (size_t n = 0; n < e->windows; n++) {
		const double *s = e->size + n * ESTIMATE_SIZES, y = e->count[n * e->counts + count];
		double rest = y;
		for (unsigned a = 0; a < f->used; a++)
			rest -= b[a] * s[f->which[a]];
		const double own = 1 - leverage(e, f, n), residual = f->factor[n] * (own > 1e-6 ? rest / own : y);
		d.unexplained += f->factor[n] * rest * f->factor[n] * rest;
		if (n)
			d.squares += (residual - before) * (residual - before);
		before = residual;
		d.first += residual;
		d.second += residual * residual;
		d.third += residual * residual * residual;
	}
	return d;
}

static double squares(const struct estimate *e, const struct fit *f, size_t count)
{
	double b[ESTIMATE_SIZES];
	coefficients(e, f, count, b);
	return spread(e, f, count, b).squares;
}

/* A size of which few windows have most explains the time, or it only multiplies what these windows happened to count:
 * it stays in the fit if that brings the windows' times nearer to what the others tell of them. */
void estimate_fit(struct estimate *e, const double *total)
{
	struct products p;
	bool without[ESTIMATE_SIZES] = { false };
	products(e, &p);
	memcpy(e->total, total ? total : p.expanded, sizeof e->total);
	fit_without(e, &e->all, &p, without);
	fit_without(e, &e->time, &p, without);
	e->differ = false;
	if (e->clock == SIZE_MAX)
		return;
	double best = squares(e, &e->time, e->clock);
	for (unsigned i = 2; i < p.sizes; i++) {
		if (!p.few[i])
			continue;
		without[i] = true;
		fit_without(e, &e->time, &p, without);
		const double rest = squares(e, &e->time, e->clock);
		without[i] = rest < best;
		if (without[i])
			best = rest;
		e->differ |= without[i];
	}
	fit_without(e, &e->time, &p, without);
}

/* The fit of a count: that of the time.  But a count may go with a size with which the time does not go, as misses do
 * with the misses that warming counted: then it has the fit from all sizes.  The parts of the time have the fit of the
 * time, so they add up. */
static const struct fit *fit_of(const struct estimate *e, size_t count)
{
	const bool may = e->differ && count < e->parts && count != e->clock;
	return may && squares(e, &e->all, count) < ESTIMATE_CLEAR * squares(e, &e->time, count) ? &e->all : &e->time;
}

/* Student's distribution, two-sided 95 %, closely: 1.96 + 2.4 / (degrees - 1.2). */
static double quantile(double degrees)
{
	return 1.96 + 2.4 / (degrees > 3 ? degrees - 1.2 : 1.8);
}

/* The factor by which the side of the interval is longer to which the tail of the windows' distribution reaches, from
 * the first three moments of n windows (estimate.h).  Both sides get it. */
static double lopsided(double n, double first, double second, double third)
{
	const double t = 1.96, variance = second - first * first;
	if (variance <= 0)
		return 1;
	const double skewness = (third - 3 * first * second + 2 * first * first * first) / (variance * sqrt(variance));
	return 1 + fabs(skewness) * (1 + 2 * t * t) / (6 * t * sqrt(n));
}

static bool is_instructions(const struct estimate *e, size_t count)
{
	bool seen = false;
	for (size_t n = 0; n < e->windows; n++) {
		const double y = e->count[n * e->counts + count];
		if (y != e->size[n * ESTIMATE_SIZES + ESTIMATE_INSTRUCTIONS])
			return false;
		seen |= y > 0;
	}
	return seen && e->total[ESTIMATE_INSTRUCTIONS] > 0;
}

/* With these coefficients, does a count equal the instructions or the mispredicted branches? */
static bool is_a_size(const struct fit *f, const double b[ESTIMATE_SIZES])
{
	unsigned ones = 0, others = 0;
	for (unsigned a = 0; a < f->used; a++) {
		ones += f->which[a] <= 1 && fabs(b[a] - 1) < 1e-6;
		others += fabs(b[a]) > 1e-6;
	}
	return ones == 1 && others == 1;
}

/* How far the total of a count may be from what `saw` windows, fewer than ESTIMATE_SAW, have of it; NaN: not known.
 * all: the sum of their squares. */
static double rare(const struct estimate *e, const struct fit *f, size_t count, size_t saw, double all)
{
	/* The upper limit of a Poisson count, two-sided 95 %, less the count itself: half of the quantile 0.975 of
	 * the chi-squared distribution of 2 saw + 2 degrees of freedom (estimate.h), less saw. */
	static const double hidden[ESTIMATE_SAW] = {
		3.689, 4.572, 5.225, 5.767, 6.242, 6.668, 7.059, 7.423, 7.763, 8.085
	};
	double expanded = 0;
	for (size_t n = 0; n < e->windows; n++)
		expanded += f->factor[n] * e->size[n * ESTIMATE_SIZES];
	const double usual = e->elsewhere ? e->elsewhere[count] * expanded / (double)e->windows : 0,
		     seen = saw ? sqrt(all / (double)saw) : 0;
	return saw || usual > 0 ? hidden[saw] * (seen > usual ? seen : usual) : NAN;
}

double estimate_total(const struct estimate *e, size_t count, double *half)
{
	double sum = 0, b[ESTIMATE_SIZES], all = 0, timed = 0;
	size_t saw = 0;
	*half = NAN;
	if (!e->windows)
		return 0;
	const struct fit *f = fit_of(e, count);
	coefficients(e, f, count, b);
	const struct spread d = spread(e, f, count, b);
	for (size_t n = 0; n < e->windows; n++) {
		const double y = e->count[n * e->counts + count];
		sum += f->factor[n] * y;
		all += f->factor[n] * y * f->factor[n] * y;
		timed += e->size[n * ESTIMATE_SIZES];
		saw += y != 0;
	}
	if (e->windows < ESTIMATE_LEAST)
		return sum;
	if (is_instructions(e, count)) {
		*half = 0;
		return e->total[ESTIMATE_INSTRUCTIONS];
	}
	if (saw && d.unexplained < 1e-12 * all && is_a_size(f, b)) {
		*half = 0;
		return sum;
	}
	const double n = (double)e->windows, degrees = n - f->used, left = 1 - timed / e->total[0];
	double chance = quantile(degrees) * sqrt(d.squares / (2 * (n - 1)) * n * (n / degrees) * (left > 0 ? left : 0));
	chance *= lopsided(n, d.first / n, d.second / n, d.third / n);
	if (saw < ESTIMATE_SAW)
		chance = rare(e, f, count, saw, all);
	*half = hypot(chance, (is_time(e, count) ? ESTIMATE_BIAS : ESTIMATE_BIAS_OTHER) * sum);
	return sum;
}

void estimate_residuals(const struct estimate *e, size_t count, double *residual)
{
	double b[ESTIMATE_SIZES];
	const struct fit *f = fit_of(e, count);
	coefficients(e, f, count, b);
	for (size_t n = 0; n < e->windows; n++) {
		residual[n] = e->count[n * e->counts + count];
		for (unsigned a = 0; a < f->used; a++)
			residual[n] -= b[a] * e->size[n * ESTIMATE_SIZES + f->which[a]];
		residual[n] *= f->factor[n];
	}
}
