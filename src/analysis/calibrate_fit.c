/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fits of curves (calibrate_fit.h). */
#include "analysis/calibrate_fit.h"
#include <math.h>
#include <stdlib.h>

void cal_envelope(double *env, const double *y, size_t n)
{
	for (size_t i = n; i-- > 0;)
		env[i] = i + 1 < n && env[i + 1] < y[i] ? env[i + 1] : y[i];
}

int cal_fit_knee(struct cal_knee *out, const double *x, const double *y, size_t n, double high, struct err *err)
{
	double env[CAL_CURVE];
	if (n < 4 || n > CAL_CURVE)
		return err_set(err, ERR_UNSUPPORTED, "%zu points are %s", n, n < 4 ? "too few" : "too many");
	cal_envelope(env, y, n);
	double low = env[0], top = high > 0 ? high : env[n - 1];
	if (!(low > 0) || !(top >= 1.25 * low))
		return err_set(err, ERR_UNSUPPORTED, "it does not rise: from %.2f to %.2f cycles", low, top);
	size_t fits = 0, fails = n, bad = 0;
	for (size_t i = 0; i < n; i++) {
		if (env[i] <= low + 0.25 * (top - low))
			fits = i;
		if (fails == n && env[i] >= low + 0.6 * (top - low))
			fails = i;
	}
	if (fails == n)
		return err_set(err, ERR_UNSUPPORTED, "it does not reach %.1f cycles, but %.1f", low + 0.6 * (top - low), env[n - 1]);
	for (size_t i = 0; i <= fits; i++)
		bad += y[i] > low + 0.6 * (top - low);
	if (3 * bad > fits + 1)
		return err_set(err, ERR_UNSUPPORTED, "too noisy: %zu of %zu points below the knee are as high as those above", bad, fits + 1);
	if (fails <= fits || x[fails] > 2.5 * x[fits])
		return err_set(err, ERR_UNSUPPORTED, "no knee: it rises all the way from %.0f to %.0f", x[fits], x[fails]);
	*out = (struct cal_knee){ .fits = x[fits], .fails = x[fails], .low = low, .high = top };
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
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
	qsort(in, k, sizeof *in, by_value);
	if (in[k - 1] > in[0] * (1 + most))
		return err_set(err, ERR_UNSUPPORTED, "no level between %.0f and %.0f: %.1f to %.1f cycles", from, to, in[0], in[k - 1]);
	*out = k & 1 ? in[k / 2] : (in[k / 2 - 1] + in[k / 2]) / 2;
	return 0;
}

int cal_fit_others(double *out, const double *x, const double *y, size_t n, double low, double high, struct err *err)
{
	double in[CAL_CURVE];
	size_t k = 0;
	if (n > CAL_CURVE)
		return err_set(err, ERR_UNSUPPORTED, "%zu points are too many", n);
	for (size_t i = 0; i < n; i++) {
		double p = (high - y[i]) / (high - low);
		if (p > 0.1 && p < 0.9)
			in[k++] = x[i] / 64 * y[i] / -log(p);
	}
	if (k < 3)
		return err_set(err, ERR_UNSUPPORTED, "%zu points between %.0f and %.0f cycles are too few", k, low, high);
	qsort(in, k, sizeof *in, by_value);
	if (in[k - 1] > 8 * in[0])
		return err_set(err, ERR_UNSUPPORTED, "they speak for anything from %.0f to %.0f million cycles", in[0] / 1e6, in[k - 1] / 1e6);
	*out = k & 1 ? in[k / 2] : (in[k / 2 - 1] + in[k / 2]) / 2;
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
