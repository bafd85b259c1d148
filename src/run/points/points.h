/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs of a file of live points (docs/reference/live-points.md; capture.h makes it): a sampled run whose stream leaves
 * out most of what lies between windows, and says instead what that has left in caches, TLBs and predictors.  The rest
 * is sample.h's: leaders, windows, several machines that share a leader.  Private to src/run.
 */
#ifndef RUN_POINTS_H
#define RUN_POINTS_H
#include "run/runner.h"

/* The first word of the first ST_PATH behind an ST_SKIP, if these records have all branches of what was skipped. */
#define POINTS_WHOLE_WAY UINT64_C(0)
/* A record from ST_POINTS on, as long as its struct at least.  ERR_INPUT: it is malformed, or out of place;
 * ERR_UNSUPPORTED: the run is not sampled as the file wants it. */
int points_record(struct runner *r, struct process *p, const uint64_t *w, size_t length, struct err *err);
/* A part of the file ends (parts.h): what its leader has seen of branches is added to the run's result. */
void points_see_part(struct runner *r, struct rthread *t);
/* The control variates of estimates (run_window.misses) where this part of a window begins, and of all of the thread.
 * Of the memory they are the reference machine's, whose total the file has.  Of branches they are the machine's own
 * mispredicts in what the leader sees of branches: the kept blocks and the ways before them.  If that is not all, the
 * total is what it saw, times the run's share of it; what chance adds to that is not in the estimates' intervals.
 * own: what the leader has missed so far.  Of a file with parts the total is that of the part; cut: the part did not
 * end, and it is up to the last window. */
struct core_misses points_misses(const struct rthread *t, enum sample_part part, const struct core_misses *own);
struct core_misses points_total(const struct rthread *t, bool cut);
#endif
