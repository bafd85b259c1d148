/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a measured curve says: where it rises, and how far one level is from another.
 *
 * The curves rise with their parameter, and disturbances only add time.  So the least value at or beyond a
 * parameter is nearer to the truth than the value at it.  A curve that does not show the wanted figure is refused
 * with a reason; nothing is fitted to it.
 *
 * For each point, the least and the most that its repeats gave are known, too.  If the repeats of a point lie on
 * two levels, the point is certainly on neither; if such a point decides, the curve is too noisy.  Leaves out:
 * the share of repeats on either level (five groups are too few to tell).
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
	double least[CAL_CURVE], most[CAL_CURVE];	/* of the repeats whose median is y */
	/* of a chain, ms: time since what it meets was last used; 0: not known */
	double age[CAL_CURVE];
	size_t n;
};

struct cal_knee {
	/* parameters: the last one on the lower level, the first one on the upper level */
	double fits, fails;
	double low, high;		/* the levels */
};

/* env[i] = least of y[i..n-1]. */
void cal_envelope(double *env, const double *y, size_t n);
/* Finds where y leaves its lower level (that of the first points) for `high` (0: the last point's).
 * ERR_UNSUPPORTED: no knee, with the reason in err: fewer than 4 points; a rise of less than a quarter; a rise
 * over more than a factor of 2.5 of x; a level with only one point; or noise: repeats of a point at the knee
 * are on both levels, some beyond it are back on the lower one, or points close before it, or more than a third
 * of all before it, are on the upper one. */
int  cal_fit_knee(struct cal_knee *out, const struct cal_curve *c, double high, struct err *err);
/* The level of y between two parameters: the median.  ERR_UNSUPPORTED: no point there, or the points differ by
 * more than `most` (0.2: 20 %). */
int cal_fit_level(double *out, const double *x, const double *y, size_t n, double from, double to, double most,
	struct err *err);
/* Fits a fall: the share of a cache's lines that other programs have left, by the lines' age.  The result is the
 * nearest function to the measured shares that never rises (least squares: M. Ayer, H. D. Brunk, G. M. Ewing,
 * W. T. Reid, E. Silverman, "An Empirical Distribution Function for Sampling with Incomplete Information",
 * 1955), and it is 0 from the age `end` on.  share: 0 to 1; values beyond are clamped.  ERR_UNSUPPORTED: fewer
 * than 3 points have an age, more than CORE_FALL - 1 do, or they are on average more than 0.2 away from any
 * function that falls. */
int  cal_fit_fall(struct core_fall *out, const double *age, const double *share, size_t n, double end, struct err *err);
/* The same from a curve of chains between the level at which all lines are found (low) and that at which none
 * is (high).  Also ERR_UNSUPPORTED if the repeats of most points between them are on both levels. */
int cal_fit_others(struct core_fall *out, const struct cal_curve *c, double low, double high, double end,
	struct err *err);
/* A capacity from `least` to `most`: `base` if it lies there, else the multiple of the largest power of two. */
uint64_t cal_round_between(uint64_t least, uint64_t most, uint64_t base);
/* Operations a cycle, if `cycles` an operation is the reciprocal of a whole number to within 8 %; else 0. */
unsigned cal_width(double cycles);
#endif
