/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fits of curves (calibrate_fit.h). */
#include "analysis/calibrate/calibrate_fit.h"
#include <math.h>
#include <stdlib.h>

#define WIDEST 2.5	/* a knee may take at most this factor of x */

void cal_envelope(double *env, const double *y, size_t n)
{
	for (size_t i = n; i-- > 0;)
		env[i] = i + 1 < n && env[i + 1] < y[i] ? env[i + 1] : y[i];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The median; sorts v. */
static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return n & 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Values up to lower() belong to the lower level, values from upper() on to the upper one. */
static double lower(double low, double high)
{
	return low + 0.25 * (high - low);
}

static double upper(double low, double high)
{
	return low + 0.6 * (high - low);
}

/* Whether the repeats of the point are on both levels (up to `lowest`, and from `highest` on), so that its
 * level is unknown. */
static int spans(const struct cal_curve *c, size_t i, double lowest, double highest, struct err *err)
{
	if (c->least[i] > lowest || c->most[i] < highest)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"too noisy: at %.0f repeats take from %.2f to %.2f cycles; the levels end at %.2f and begin at %.2f",
		c->x[i], c->least[i], c->most[i], lowest, highest);
}

/* Whether a knee between points `fits` and `fails` is more than a disturbance. */
static int stands_out(const struct cal_curve *c, size_t fits, size_t fails, double low, double high, struct err *err)
{
	const double *x = c->x, *y = c->y;
	double undisturbed[CAL_CURVE];
	size_t bad = 0, good = 0;
	/* The upper level may be disturbed, too.  Its fastest repeats count, so that points that reach the level
	 * are not taken to be below it. */
	for (size_t i = fails; i < c->n; i++)
		undisturbed[i - fails] = c->least[i];
	const double lowest = lower(low, high), highest = upper(low, fmin(high, median(undisturbed, c->n - fails)));
	for (size_t i = 0; i <= fits; i++) {
		bad += y[i] >= highest;
		good += y[i] <= lowest;
	}
	if (3 * bad > fits + 1)
		return err_set(err, ERR_UNSUPPORTED,
			"too noisy: %zu of %zu points below the knee are as high as those above", bad, fits + 1);
	for (size_t i = fits ? fits - 1 : 0; i <= fails; i++) {
		int code = spans(c, i, lowest, highest, err);
		if (code)
			return code;
	}
	/* disturbances only add time: one fast repeat shows that the others were disturbed */
	for (size_t i = fails; i < c->n; i++)
		if (c->least[i] <= lowest)
			return err_set(err, ERR_UNSUPPORTED,
				"too noisy: beyond %.0f, at %.0f, %.2f cycles are back at the lower level", x[fails],
				x[i], c->least[i]);
	for (size_t i = fits; i-- > 0 && x[fits] <= WIDEST * x[i];)
		if (y[i] >= highest)
			return err_set(err, ERR_UNSUPPORTED, "too noisy: %.2f cycles at %.0f, but %.2f at %.0f", y[i],
				x[i], y[fits], x[fits]);
	if (good < 2 || c->n - fails < 2)
		return err_set(err, ERR_UNSUPPORTED, "one point alone, %.0f, is on the %s level",
			good < 2 ? x[fits] : x[fails], good < 2 ? "lower" : "upper");
	return 0;
}

int cal_fit_knee(struct cal_knee *out, const struct cal_curve *c, double high, struct err *err)
{
	double env[CAL_CURVE];
	const double *x = c->x;
	const size_t n = c->n;
	if (n < 4 || n > CAL_CURVE)
		return err_set(err, ERR_UNSUPPORTED, "%zu points are %s", n, n < 4 ? "too few" : "too many");
	cal_envelope(env, c->y, n);
	double low = env[0], top = high > 0 ? high : env[n - 1];
	if (!(low > 0) || !(top >= 1.25 * low))
		return err_set(err, ERR_UNSUPPORTED, "it does not rise: from %.2f to %.2f cycles", low, top);
	size_t fits = 0, fails = n;
	for (size_t i = 0; i < n; i++) {
		if (env[i] <= lower(low, top))
			fits = i;
		if (fails == n && env[i] >= upper(low, top))
			fails = i;
	}
	if (fails == n)
		return err_set(err, ERR_UNSUPPORTED, "it does not reach %.1f cycles, but %.1f", upper(low, top),
			env[n - 1]);
	if (fails <= fits || x[fails] > WIDEST * x[fits])
		return err_set(err, ERR_UNSUPPORTED, "no knee: it rises all the way from %.0f to %.0f", x[fits],
			x[fails]);
	int code = stands_out(c, fits, fails, low, top, err);
	if (!code)
		*out = (struct cal_knee){ .fits = x[fits], .fails = x[fails], .low = low, .high = top };
	return code;
}

int cal_fit_level(double *out, const double *x, const double *y, size_t n, double from, double to, double most,
	struct err *err)
{
	double env[CAL_CURVE], in[CAL_CURVE];
	size_t k = 0;
	if (n > CAL_CURVE)
		return err_set(err, ERR_UNSUPPORTED, "%zu points are too many", n);
	cal_envelope(env, y, n);
	for (size_t i = 0; i < n; i++)
		if (x[i] >= from && x[i] <= to)
			in[k++] = env[i];
	if (!k)
		return err_set(err, ERR_UNSUPPORTED, "no point between %.0f and %.0f", from, to);
	const double middle = median(in, k);	/* sorts `in` */
	if (in[k - 1] > in[0] * (1 + most))
		return err_set(err, ERR_UNSUPPORTED, "no level between %.0f and %.0f: %.1f to %.1f cycles", from, to,
			in[0], in[k - 1]);
	*out = middle;
	return 0;
}

struct point { double age, share, weight; };

static int by_age(const void *a, const void *b)
{
	return by_value(&((const struct point *)a)->age, &((const struct point *)b)->age);
}

int cal_fit_fall(struct core_fall *out, const double *age, const double *share, size_t n, double end, struct err *err)
{
	struct point in[CORE_FALL], block[CORE_FALL];
	size_t k = 0, blocks = 0;
	double off = 0;
	for (size_t i = 0; i < n; i++) {
		if (age[i] <= 0)
			continue;
		if (k == CORE_FALL - 1)
			return err_set(err, ERR_UNSUPPORTED, "more than %d points", CORE_FALL - 1);
		in[k++] = (struct point){ age[i], fmin(fmax(share[i], 0), 1), 1 };
	}
	if (k < 3)
		return err_set(err, ERR_UNSUPPORTED, "%zu points are too few", k);
	qsort(in, k, sizeof *in, by_age);
	/* neighbours that rise get their mean: pool adjacent violators */
	for (size_t i = 0; i < k; i++) {
		block[blocks++] = in[i];
		for (; blocks > 1 && block[blocks - 2].share < block[blocks - 1].share; blocks--) {
			struct point *a = block + blocks - 2, *b = a + 1;
			a->share = (a->share * a->weight + b->share * b->weight) / (a->weight + b->weight);
			a->weight += b->weight;
		}
	}
	struct core_fall fall = { .points = 0 };
	for (size_t i = 0, b = 0, left = (size_t)block[0].weight; i < k; i++) {
		if (!left--)
			left = (size_t)block[++b].weight - 1;
		off += fabs(block[b].share - in[i].share) / (double)k;
		double at = fmax(round(in[i].age * 1e4) / 1e4, 1e-4), per_cent = round(block[b].share * 1000) / 10;
		if (fall.points && per_cent == 100)	/* start at the last point at which nothing is gone yet */
			fall.points = 0;
		if (fall.points && at <= fall.at[fall.points - 1])
			at = fall.at[fall.points - 1] + 1e-4;
		fall.at[fall.points] = at;
		fall.per_cent[fall.points++] = per_cent;
		if (per_cent == 0)
			break;
	}
	if (off > 0.2)
		return err_set(err, ERR_UNSUPPORTED, "what is left does not fall with its age: off by %.0f %% of all",
			100 * off);
	const double last = fall.at[fall.points - 1];
	if (fall.per_cent[fall.points - 1] > 0) {
		fall.at[fall.points] = end > last ? round(end * 1e4) / 1e4 + 1e-4 : 1.5 * last;
		fall.per_cent[fall.points++] = 0;
	}
	*out = fall;
	return 0;
}

int cal_fit_others(struct core_fall *out, const struct cal_curve *c, double low, double high, double end,
	struct err *err)
{
	double share[CAL_CURVE];
	struct err why = { 0, "" };
	size_t noisy = 0, between = 0;
	if (c->n > CAL_CURVE)
		return err_set(err, ERR_UNSUPPORTED, "%zu points are too many", c->n);
	for (size_t i = 0; i < c->n; i++) {
		share[i] = (high - c->y[i]) / (high - low);
		if (share[i] > 0.05 && share[i] < 0.9) {
			between++;
			noisy += spans(c, i, lower(low, high), upper(low, high), &why) != 0;
		}
	}
	if (3 * noisy > 2 * between)
		return err_set(err, ERR_UNSUPPORTED, "%.200s", why.text);
	return cal_fit_fall(out, c->age, share, c->n, end, err);
}

uint64_t cal_round_between(uint64_t least, uint64_t most, uint64_t base)
{
	if (most < least)
		most = least;
	if (base >= least && base <= most)
		return base;
	for (unsigned bit = 63; bit > 0; bit--) {
		uint64_t one = 1ull << bit, up = (least + one - 1) / one * one;
		if (up >= least && up <= most)
			return up;
	}
	return least;
}

unsigned cal_width(double cycles)
{
	if (!(cycles > 0.03 && cycles < 1.08))
		return 0;
	double rate = 1 / cycles, whole = round(rate);
	return fabs(rate - whole) <= 0.08 * whole ? (unsigned)whole : 0;
}
