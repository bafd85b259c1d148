/* SPDX-License-Identifier: GPL-2.0-or-later
 * Totals of a run of which only windows were timed, each with an interval.
 *
 * A window has counts (of events), and sizes: its instructions, and what warming counted in it (misses, mispredicts).
 * The totals of the sizes over the whole run are known.  A count is taken to be a linear function of the sizes, whose
 * coefficients the windows give; its total is that function of the sizes' totals (regression estimator: Särndal,
 * Swensson and Wretman, "Model Assisted Survey Sampling", 1992, chapter 6).  With few windows the only size is the
 * number of instructions: a ratio.
 * The interval comes from the residuals of neighbouring windows (successive differences: Wolter, "Introduction to
 * Variance Estimation", 2007, chapter 8, estimator v2), because the windows are spread evenly over the run.
 * To this chance comes an allowance for bias: half a per cent, for what windows do not see as the whole run does.  Half
 * a per cent is what the cycles of most programs keep to in docs/measured/sampled-runs.md; more is possible.
 */
#ifndef ANALYSIS_ESTIMATE_H
#define ANALYSIS_ESTIMATE_H
#include "util/err.h"
#include <stddef.h>
#include <stdint.h>

enum {
	ESTIMATE_SIZES = 7,
	ESTIMATE_LEAST = 30,		/* with fewer windows there is no interval */
	ESTIMATE_REGRESSION = 120,	/* with fewer windows a ratio is used */
	ESTIMATE_SAW = 10,		/* nor has a count that is not 0 in fewer windows than this */
};

struct estimate;
/* ERR_NOMEM.  counts: number of events. */
int  estimate_create(struct estimate **out, size_t counts, struct err *err);
void estimate_destroy(struct estimate *e);	/* NULL: nothing */
/* Adds a window.  size[0]: its instructions, not 0.  stands_for: instructions of the stretch that it is taken from. */
int  estimate_add(struct estimate *e, const double size[ESTIMATE_SIZES], double stands_for, const double *count,
	struct err *err);
/* Adds the windows of another one, behind its own.  Both have the same number of counts. */
int  estimate_join(struct estimate *to, const struct estimate *from, struct err *err);
size_t estimate_windows(const struct estimate *e);
/* Call it before estimate_total, and again after more windows.  total: of each size, over the whole run; NULL: the run
 * goes on, and the windows' own sizes stand for it. */
void estimate_fit(struct estimate *e, const double *total);
/* The estimate of a count's total; *half: half of the width of its 95 % interval, NaN: unknown; 0: the count equals a
 * size, whose total is known. */
double estimate_total(const struct estimate *e, size_t count, double *half);
#endif
