/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a measured curve says: where it rises, and how far a level is from another.
 *
 * The curves rise with their parameter and what disturbs them only adds: so the least value at or beyond a parameter is nearer to the
 * truth than the value itself.  A curve that does not show what is asked is refused with a reason: nothing is fitted to it.
 */
#ifndef ANALYSIS_CALIBRATE_FIT_H
#define ANALYSIS_CALIBRATE_FIT_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cal_knee {
	double fits, fails;		/* parameters: the last on the lower level, the first on the upper one */
	double low, high;		/* the levels */
};

enum { CAL_CURVE = 64 };		/* most points of a curve */

/* env[i] = least of y[i..n-1]. */
void cal_envelope(double *env, const double *y, size_t n);
/* Where y leaves its lower level (that of the first points) for `high` (0: the last point's).  ERR_UNSUPPORTED: no knee, the reason in err:
 * fewer than 4 points, a rise of less than a quarter, one that takes more than a factor 2.5 of x, more noise than rise. */
int  cal_fit_knee(struct cal_knee *out, const double *x, const double *y, size_t n, double high, struct err *err);
/* The level of y between two parameters: the median.  ERR_UNSUPPORTED: no point there, or they differ by more than `most` (0.2: 20 %). */
int  cal_fit_level(double *out, const double *x, const double *y, size_t n, double from, double to, double most, struct err *err);
/* Cycles in which others push a line out of a cache with probability 1 - 1/e: of a chase through x bytes, whose lap takes x / 64 × y cycles, the
 * share exp(-lap / that) is found again.  The median over the points between the levels.  ERR_UNSUPPORTED: fewer than 3 are there, or
 * they differ by more than a factor 8. */
int  cal_fit_others(double *out, const double *x, const double *y, size_t n, double low, double high, struct err *err);
/* A capacity between `fits` and what `fails` by more than it: `base` if that lies there, else the multiple of the largest power of two. */
uint64_t cal_round_between(uint64_t least, uint64_t most, uint64_t base);
/* Operations a cycle if `cycles` an operation is one over a whole number to 8 %, else 0. */
unsigned cal_width(double cycles);
#endif
