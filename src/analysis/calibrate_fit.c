/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fits of curves (calibrate_fit.h). */
#include "analysis/calibrate_fit.h"
#include <math.h>
#include <stdlib.h>

#define WIDEST 2.5	/* a knee's factor of x */

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

/* Sorts v. */
static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return n & 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* What belongs to the lower level ends, and what belongs to the upper one begins. */
static double lower(double low, double high)
{
	return low + 0.25 * (high - low);
}

static double upper(double low, double high)
{
	return low + 0.6 * (high - low);
}

/* Repeats of the point are on both levels, up to `lowest` and from `highest` on: which one it is on is not seen. */
static int spans(const struct cal_curve *c, size_t i, double lowest, double highest, struct err *err)
{
	if (c->least[i] > lowest || c->most[i] < highest)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, "too noisy: at %.0f repeats take from %.2f to %.2f cycles; the levels end at %.2f and begin at %.2f", c->x[i],
		c->least[i], c->most[i], lowest, highest);
}

/* Of a knee between points `fits` and `fails`: is it more than a disturbance? */
static int stands_out(const struct cal_curve *c, size_t fits, size_t fails, double low, double high, struct err *err)
{
	const double *x = c->x, *y = c->y;
	double undisturbed[CAL_CURVE];
	size_t bad = 0, good = 0;
	/* the upper level may be disturbed too: of its points the fastest repeats count, so that what reaches the level is not taken for less */
	for (size_t i = fails; i < c->n; i++)
		undisturbed[i - fails] = c->least[i];
	const double lowest = lower(low, high), highest = upper(low, fmin(high, median(undisturbed, c->n - fails)));
	for (size_t i = 0; i <= fits; i++) {
		bad += y[i] >= highest;
		good += y[i] <= lowest;
	}
	if (3 * bad > fits + 1)
		return err_set(err, ERR_UNSUPPORTED, "too noisy: %zu of %zu points below the knee are as high as those above", bad, fits + 1);
	for (size_t i = fits ? fits - 1 : 0; i <= fails; i++) {
		int code = spans(c, i, lowest, highest, err);
		if (code)
			return code;
	}
	/* what disturbs only adds: one repeat that is fast says that the others were disturbed */
	for (size_t i = fails; i < c->n; i++)
		if (c->least[i] <= lowest)
			return err_set(err, ERR_UNSUPPORTED, "too noisy: beyond %.0f, at %.0f, %.2f cycles are back at the lower level", x[fails], x[i], c->least[i]);
	for (size_t i = fits; i-- > 0 && x[fits] <= WIDEST * x[i];)
		if (y[i] >= highest)
			return err_set(err, ERR_UNSUPPORTED, "too noisy: %.2f cycles at %.0f, but %.2f at %.0f", y[i], x[i], y[fits], x[fits]);
	if (good < 2 || c->n - fails < 2)
		return err_set(err, ERR_UNSUPPORTED, "one point alone, %.0f, is on the %s level", good < 2 ? x[fits] : x[fails], good < 2 ? "lower" : "upper");
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
		return err_set(err, ERR_UNSUPPORTED, "it does not reach %.1f cycles, but %.1f", upper(low, top), env[n - 1]);
	if (fails <= fits || x[fails] > WIDEST * x[fits])
		return err_set(err, ERR_UNSUPPORTED, "no knee: it rises all the way from %.0f to %.0f", x[fits], x[fails]);
	int code = stands_out(c, fits, fails, low, top, err);
	if (!code)
		*out = (struct cal_knee){ .fits = x[fits], .fails = x[fails], .low = low, .high = top };
	return code;
}

int cal_fit_level(double *out, const double *x, const double *y, size_t n, double from, double to, double most, struct err *err)
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
	const double middle = median(in, k);	/* sorts them */
	if (in[k - 1] > in[0] * (1 + most))
		return err_set(err, ERR_UNSUPPORTED, "no level between %.0f and %.0f: %.1f to %.1f cycles", from, to, in[0], in[k - 1]);
	*out = middle;
	return 0;
}

int cal_fit_others(struct cal_others *out, const struct cal_curve *c, double low, double high, struct err *err)
{
	double in[CAL_CURVE], age[CAL_CURVE], gone[CAL_CURVE], ages = 0, gones = 0, square = 0, across = 0;
	size_t k = 0;
	if (c->n > CAL_CURVE)
		return err_set(err, ERR_UNSUPPORTED, "%zu points are too many", c->n);
	struct err why = { 0, "" };
	size_t noisy = 0;
	for (size_t i = 0; i < c->n; i++) {
		const double share = (high - c->y[i]) / (high - low);
		if (!(share > 0.05 && share < 0.9 && c->age[i] > 0))
			continue;
		noisy += spans(c, i, lower(low, high), upper(low, high), &why) != 0;
		age[k] = log(c->age[i]);
		gone[k] = log(-log(share));
		ages += age[k];
		gones += gone[k++];
	}
	if (k < 3)
		return err_set(err, ERR_UNSUPPORTED, "%zu points between %.0f and %.0f cycles are too few", k, low, high);
	if (3 * noisy > 2 * k)
		return err_set(err, ERR_UNSUPPORTED, "%.200s", why.text);
	double least = age[0], most = age[0];
	for (size_t i = 0; i < k; i++) {
		const double off = age[i] - ages / (double)k;
		square += off * off;
		across += pow(gone[i] - gones / (double)k, 2);
		least = fmin(least, age[i]);
		most = fmax(most, age[i]);
	}
	out->shape = most - least < log(1.5) ? 1 : fmin(fmax(sqrt(across / square), 1), 8);
	for (size_t i = 0; i < k; i++)
		in[i] = exp(age[i] - gone[i] / out->shape);
	out->ms = median(in, k);	/* sorts them */
	out->points = k;
	if (in[k - 1] > 8 * in[0])
		return err_set(err, ERR_UNSUPPORTED, "they speak for anything from %.2f to %.2f ms", in[0], in[k - 1]);
	return 0;
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
