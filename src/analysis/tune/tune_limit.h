/* SPDX-License-Identifier: GPL-2.0-or-later
 * The most that a change of a feature can save, from one run of the unchanged machine.  Features that cannot
 * gain enough need not be run (tune_model.h).
 *
 *   cycles  those of the events that the feature can cause (for a prefetcher: misses of what it pushed out), the
 *           larger of their pushout and of the cycles in which they were under way (cost.h).  A smaller table or
 *           buffer causes no events that would be saved by changing it; nor does the replacement policy of a
 *           cache that evicted nothing.
 *   energy  what the part takes less at the smallest level for the same accesses, what leaks in the cycles
 *           saved, and what prefetches move
 *
 * Leaves out: luck, such as a smaller table that happens to alias well, or a stall that improves the schedule.
 */
#ifndef ANALYSIS_TUNE_LIMIT_H
#define ANALYSIS_TUNE_LIMIT_H
#include "analysis/cost/cost.h"
#include "analysis/cost/energy.h"
#include "analysis/tune/tune_model.h"

/* The events that the limits need, as measures for cost_run_create.  Returns their number; 0 with err set: an
 * error. */
unsigned tune_limit_measures(struct cost_measure *out, const struct core_config *c, struct err *err);

struct tune_limits {
	const struct core_config *preset;
	const struct cost_run *run;		/* made with tune_limit_measures, with detail */
	const struct energy_model *model;
	const struct energy_activity *activity;
	bool smt;				/* threads share cores */
	bool warmed;				/* caches were warmed before the run was timed */
};
/* limit: share of the objective, 0 to 1.  why: the events from which the limit comes; "": none. */
int tune_limit(double *limit, const struct tune_limits *l, const struct tune_feature *f, const struct tune_goal *goal,
	const char **why, struct err *err);
#endif
