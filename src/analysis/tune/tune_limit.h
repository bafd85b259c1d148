/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a change of a feature can save at most, from one run of the machine as it is: so that what cannot gain is not run (tune_model.h).
 *
 *   cycles  those of the events that the feature can bring about (a prefetcher: misses of what it pushed out), the larger of what they push out and of the
 *           cycles in which they were under way (cost.h); a smaller table or buffer brings about none that it would not have as it is,
 *           nor a replacement policy of a cache that gave nothing up
 *   energy  what the part takes less at the smallest level for the same accesses, what leaks in the cycles saved, and what prefetches move
 *
 * Leaves out: luck.  A smaller table that happens to alias well, a stall that orders the schedule well, are not looked for.
 */
#ifndef ANALYSIS_TUNE_LIMIT_H
#define ANALYSIS_TUNE_LIMIT_H
#include "analysis/cost/cost.h"
#include "analysis/cost/energy.h"
#include "analysis/tune/tune_model.h"

/* The events of a run that limits go by, as measures for cost_run_create; their number. */
unsigned tune_limit_measures(struct cost_measure *out, const struct core_config *c, struct err *err);

struct tune_limits {
	const struct core_config *preset;
	const struct cost_run *run;		/* of tune_limit_measures, with detail */
	const struct energy_model *model;
	const struct energy_activity *activity;
	bool smt;				/* threads share cores */
	bool warmed;				/* caches were, before the run was timed */
};
/* Of the objective, 0 to 1; why: the events that the limit is made of, "" for none. */
int  tune_limit(double *limit, const struct tune_limits *l, const struct tune_feature *f, const struct tune_goal *goal, const char **why, struct err *err);
#endif
