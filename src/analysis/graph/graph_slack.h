/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slack in a run's dependence graph (graph.h): by how many cycles an instruction could be done later.
 *
 * The slack of an edge is by how many cycles it arrives at its node before the edge that arrives last.  The
 * slack of a uop counts from its completion.  *Local* slack: how much later it could complete without making any
 * other instruction later.  *Global* slack: how much later it could complete without making the run longer.  The
 * slack of an instruction is the least of its uops'.  Instructions on the critical path have none.
 *
 * Slack is computed backwards from the last retirement of a window of uops.  Only the window's older half is
 * counted, so that each uop looks ahead by at least half a window, which is several times what the buffers hold.
 *
 * After B. Fields, R. Bodik, M. Hill, "Slack: Maximizing Performance Under Technological Constraints", ISCA 2002
 * (global and local slack; not apportioned slack).  As in that paper, contention is a latency as measured: the
 * time that a uop waited for its port lies on all edges to its dispatch.
 * Leaves out: instructions that are not executed (NOPs, eliminated moves), which have no completion; uops that
 * would wait longer if a scheduler entry were held longer, unless allocation did wait for that entry; of the
 * older stores that a load waits for, all but the one whose address is known last; fill buffers; the request
 * that brought a line to L2.
 */
#ifndef ANALYSIS_GRAPH_SLACK_H
#define ANALYSIS_GRAPH_SLACK_H
#include "analysis/graph/graph_path.h"
#include "analysis/cost/spread.h"

enum slack_which { SLACK_GLOBAL, SLACK_LOCAL, SLACK_BOTH };
extern const char *const slack_name[SLACK_BOTH];

struct slack;			/* one for each thread */
/* Also counts into the sites of `path`, which must outlive it.  NULL: out of memory. */
struct slack *slack_create(struct path *path);
void slack_destroy(struct slack *s);
void slack_uop(struct slack *s, const struct path_uop *u);	/* in program order */
/* Counts what is left. */
void slack_end(struct slack *s);
/* Over all instructions that were executed. */
const struct slack_counts *slack_counts(const struct slack *s, enum slack_which which);
const struct spread *slack_spread(const struct slack *s, enum slack_which which);
#endif
