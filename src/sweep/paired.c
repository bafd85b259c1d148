/* SPDX-License-Identifier: GPL-2.0-or-later
 * Intervals of means (paired.h). */
#include "sweep/paired.h"
#include <math.h>

/* The continued fraction of the incomplete beta function, from its end to its begin, which needs no guard against a
 * denominator of 0 here.  Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.5.8. */
static double beta_fraction(double x, double a, double b)
{
	double f = 1;
	for (int m = 200; m > 0; m--) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1));
		f = 1 + odd / (1 + even / f);
	}
	return 1 / f;
}

/* I_x(a, b).  It converges fast for x < (a + 1) / (a + b + 2); else by symmetry (26.5.2). */
static double beta(double x, double a, double b)
{
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
		: 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* Source: the same, 26.7.1 and 26.5.27: the chance beyond t is I_x(degrees / 2, 1 / 2) / 2. */
static double tail_of(double t, double degrees)
{
	return beta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
}

double student_quantile(double tail, double degrees)
{
	double low = 0, high = 1;
	if (!(tail > 0 && tail <= 0.5 && degrees >= 1))
		return NAN;
	while (tail_of(high, degrees) > tail && high < 1e15)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		const double middle = (low + high) / 2;
		if (tail_of(middle, degrees) > tail)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct paired paired_mean(const double *difference, size_t n, double confidence)
{
	struct paired r = { 0, NAN, 0 };
	double squares = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(difference[i])) {
			r.n++;
			const double from = difference[i] - r.mean;
			r.mean += from / (double)r.n;
			squares += from * (difference[i] - r.mean);
		}
	if (!r.n)
		r.mean = NAN;
	if (r.n > 1)
		r.half = student_quantile((1 - confidence) / 2, (double)r.n - 1) *
			sqrt(squares / (double)(r.n - 1) / (double)r.n);
	return r;
}
