/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slack in a run's dependence graph (graph.h): by how many cycles an instruction could be done later.
 *
 * Of an edge, by how many cycles it arrives at its node before the one that arrives last.  Of a uop, from the completion on: *local*, by how much later it
 * could complete with no other instruction later; *global*, with the run as long as it is.  Of an instruction, the least of its uops'.  Instructions on the
 * critical path have none.
 *
 * Worked out backwards, from the last retirement of a window of uops; what lies in the window's older half is counted, so that each uop looks ahead by at
 * least half a window, several times what the buffers hold.
 *
 * After B. Fields, R. Bodik, M. Hill, "Slack: Maximizing Performance Under Technological Constraints", ISCA 2002 (global and local slack; not the
 * apportioned one).  As there contention is a latency as it was found: what a uop waited for its port lies on all edges to its dispatch.
 * Leaves out: instructions that are not executed (NOPs, eliminated moves), which have no completion of their own; who else waits longer when an entry of
 * a scheduler is held longer, unless allocation did wait for that one; of the older stores that a load waits for, all but the one known last; fill
 * buffers; who brought a line to L2.
 */
#ifndef ANALYSIS_GRAPH_SLACK_H
#define ANALYSIS_GRAPH_SLACK_H
#include "analysis/graph/graph_path.h"
#include "analysis/cost/spread.h"

enum slack_which { SLACK_GLOBAL, SLACK_LOCAL, SLACK_BOTH };
extern const char *const slack_name[SLACK_BOTH];

struct slack;			/* of one thread */
/* Instructions are counted in the sites of `path`, too.  NULL: out of memory. */
struct slack *slack_create(struct path *path);
void slack_destroy(struct slack *s);
void slack_uop(struct slack *s, const struct path_uop *u);	/* in program order */
/* What is left is counted. */
void slack_end(struct slack *s);
/* Of all instructions that were executed. */
const struct slack_counts *slack_counts(const struct slack *s, enum slack_which which);
const struct spread *slack_spread(const struct slack *s, enum slack_which which);
void slack_add(struct slack_counts *c, uint32_t cycles);
#endif
