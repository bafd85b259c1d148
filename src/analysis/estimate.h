/* SPDX-License-Identifier: GPL-2.0-or-later
 * Totals of a run of which only windows were timed, each with an interval.
 *
 * A window has counts (of events), and sizes: its steps (run_window; its instructions, if it has no REP), and what
 * warming counted in it (misses, mispredicts).
 * The totals of the sizes over the whole run are known.  A count is taken to be a linear function of the sizes, whose
 * coefficients the windows give; its total is that function of the sizes' totals (regression estimator: Särndal,
 * Swensson and Wretman, "Model Assisted Survey Sampling", 1992, chapter 6).  With few windows the only size is the
 * number of steps: a ratio.
 * The interval comes from the residuals of neighbouring windows (successive differences: Wolter, "Introduction to
 * Variance Estimation", 2007, chapter 8, estimator v2), because the windows are spread evenly over the run.  A window
 * with most of a size draws the fit to itself, so that its residual is near 0 whatever it counted.  So each window's
 * residual is that from the fit of all others (residual / (1 - leverage): J. G. MacKinnon and H. White, "Some
 * Heteroskedasticity-Consistent Covariance Matrix Estimators with Improved Finite Sample Properties", Journal of
 * Econometrics 29, 1985).
 * A count that few windows saw tells little of its spread.  Then its interval reaches to the number of such windows
 * that chance may have hidden (the upper 95 % limit of a Poisson count: F. Garwood, "Fiducial limits for the Poisson
 * distribution", Biometrika 28, 1936), each with as much as those that saw it, or as much as the part of the run that
 * was timed in full has in as many instructions, whichever is more.
 * Where a few windows have most of a count, the interval is longer on one side (N. J. Johnson, "Modified t Tests and
 * Confidence Intervals for Asymmetrical Populations", JASA 73, 1978; P. Hall, "On the Removal of Skewness by
 * Transformation", JRSS B 54, 1992: t + skewness (1 + 2 t^2) / (6 sqrt(n)) standard errors).  Both sides get it.
 * To this chance comes an allowance for bias, for what windows do not see as the whole run does: half a per cent of
 * time, 2.5 per cent of other counts.  With these, 95 % of the intervals hold for the fourteen programs of
 * docs/measured/sampled-runs.md, from which they were taken; of twelve others it says how many hold.
 */
#ifndef ANALYSIS_ESTIMATE_H
#define ANALYSIS_ESTIMATE_H
#include "util/err.h"
#include <stddef.h>
#include <stdint.h>

enum {
	ESTIMATE_SIZES = 8,
	ESTIMATE_INSTRUCTIONS = 7,	/* the index of a size that explains no count but itself */
	ESTIMATE_LEAST = 30,		/* with fewer windows there is no interval */
	ESTIMATE_REGRESSION = 120,	/* with fewer windows a ratio is used */
	/* a size of which fewer windows than this have most (their effective number: the square of the sum of squares,
	 * divided by the sum of fourth powers) has to show that it explains the time, or the count itself */
	ESTIMATE_MAKE = 20,
	ESTIMATE_SAW = 10,		/* a count that is not 0 in fewer windows than this is rare */
};

/* A size that the time's fit leaves out stays in that of a count if the squares that spread() sums fall below this
 * share.  0.9, 0.5, 0.25 and 0.1 were tried: docs/measured/sampled-runs.md. */
#define ESTIMATE_CLEAR 0.5
#define ESTIMATE_BIAS 0.005		/* the allowance for it: of time */
#define ESTIMATE_BIAS_OTHER 0.025	/* of a count that does not go with time */

struct estimate;
/* ERR_NOMEM.  counts: number of events. */
int  estimate_create(struct estimate **out, size_t counts, struct err *err);
void estimate_destroy(struct estimate *e);	/* NULL: nothing */
/* Adds a window.  size[0]: its steps, not 0.  size[1]: its mispredicted branches.  size[ESTIMATE_INSTRUCTIONS]: its
 * instructions.  stands_for: steps of the stretch that it is taken from. */
int  estimate_add(struct estimate *e, const double size[ESTIMATE_SIZES], double stands_for, const double *count,
	struct err *err);
/* Adds the windows of another one, behind its own.  Both have the same number of counts. */
int  estimate_join(struct estimate *to, const struct estimate *from, struct err *err);
size_t estimate_windows(const struct estimate *e);
/* Call it before estimate_total, and again after more windows.  total: of each size, over the whole run; NULL: the run
 * goes on, and the windows' own sizes stand for it. */
void estimate_fit(struct estimate *e, const double *total);
/* So many instructions of the program were timed apart from the windows, with these counts: they tell how many of a
 * rare event come together.  ERR_NOMEM. */
int  estimate_elsewhere(struct estimate *e, double instructions, const double *count, struct err *err);
/* The count that is the time, in whole units.  Counts that are a multiple of it in every window get the allowance for
 * bias of time, the others the larger one.  Counts from `parts` on are parts of the time, which add up.  Without this
 * call all counts get the allowance of time, and no size is left out of the fit (ESTIMATE_MAKE). */
void estimate_clock(struct estimate *e, size_t count, size_t parts);
/* The estimate of a count's total; *half: half of the width of its 95 % interval, NaN: unknown; 0: the count equals
 * the instructions or size[1], whose totals are known.  (The others may differ from the timed count in what no window
 * saw.) */
double estimate_total(const struct estimate *e, size_t count, double *half);
/* By how much each window's count, as it enters the total, differs from what its sizes give. */
void estimate_residuals(const struct estimate *e, size_t count, double *residual);
#endif
