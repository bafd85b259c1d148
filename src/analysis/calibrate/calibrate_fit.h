/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a measured curve says: where it rises, and how far a level is from another.
 *
 * The curves rise with their parameter and what disturbs them only adds: so the least value at or beyond a parameter is nearer to the
 * truth than the value itself.  A curve that does not show what is asked is refused with a reason: nothing is fitted to it.
 *
 * Of each point the least and the most that repeats gave are known too.  A point of which they are on two levels is on neither for sure, and where
 * such a point decides, the curve is too noisy.  Left out: a share of repeats on either level (five groups are too few to tell it).
 */
#ifndef ANALYSIS_CALIBRATE_FIT_H
#define ANALYSIS_CALIBRATE_FIT_H
#include "core/machine/config.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CAL_CURVE = 64 };		/* most points of a curve */

struct cal_curve {
	double x[CAL_CURVE], y[CAL_CURVE];		/* x rises */
	double least[CAL_CURVE], most[CAL_CURVE];	/* of the repeats of which y is the median */
	double age[CAL_CURVE];				/* of a chain, ms: so long before, what it meets was used last; 0: not known */
	size_t n;
};

struct cal_knee {
	double fits, fails;		/* parameters: the last on the lower level, the first on the upper one */
	double low, high;		/* the levels */
};

/* env[i] = least of y[i..n-1]. */
void cal_envelope(double *env, const double *y, size_t n);
/* Where y leaves its lower level (that of the first points) for `high` (0: the last point's).  ERR_UNSUPPORTED: no knee, the reason in err:
 * fewer than 4 points, a rise of less than a quarter, one that takes more than a factor 2.5 of x, a level that only one point is on, or it is
 * too noisy: repeats of a point at the knee are on both levels; some beyond it are back on the lower one; points close before it, or more than a
 * third of all before it, are on the upper one. */
int  cal_fit_knee(struct cal_knee *out, const struct cal_curve *c, double high, struct err *err);
/* The level of y between two parameters: the median.  ERR_UNSUPPORTED: no point there, or they differ by more than `most` (0.2: 20 %). */
int  cal_fit_level(double *out, const double *x, const double *y, size_t n, double from, double to, double most, struct err *err);
/* The share of a cache's lines that others have left there by their age, from what was found of it: the nearest that never rises (least squares: M. Ayer,
 * H. D. Brunk, G. M. Ewing, W. T. Reid, E. Silverman, "An Empirical Distribution Function for Sampling with Incomplete Information", 1955), and nothing from
 * the age `end` on.  share: 0 to 1, what is beyond is taken for the nearer one.  ERR_UNSUPPORTED: fewer than 3 have an age, more than CORE_FALL - 1 points, or
 * on the mean they are more than 0.2 from any that falls. */
int  cal_fit_fall(struct core_fall *out, const double *age, const double *share, size_t n, double end, struct err *err);
/* The same from a curve of chains between the level where all lines are found and that where none is.  ERR_UNSUPPORTED, too: the repeats of most points between
 * them are on both levels. */
int  cal_fit_others(struct core_fall *out, const struct cal_curve *c, double low, double high, double end, struct err *err);
/* A capacity between `fits` and what `fails` by more than it: `base` if that lies there, else the multiple of the largest power of two. */
uint64_t cal_round_between(uint64_t least, uint64_t most, uint64_t base);
/* Operations a cycle if `cycles` an operation is one over a whole number to 8 %, else 0. */
unsigned cal_width(double cycles);
#endif
