/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a program would gain on a machine without a whole kind of limit: latencies of computations, ports, the front
 * end.  No event stands for these, so there are no cycles an event, only cycles of the run.
 *
 * Such a machine is not to be had, and seldom can a program be changed so far; the gain is an upper bound.  It tells
 * which limit is worth looking at.
 */
#ifndef ANALYSIS_COST_WHATIF_H
#define ANALYSIS_COST_WHATIF_H
#include "analysis/cost/cost.h"

struct cost_whatif {
	const char *name, *help;
	const char *fields;	/* of the core that it is replayed on; fields that it has so already change nothing */
	uint32_t groups;	/* set of 1 << enum cost_group: what is charged there may be due to it */
	/* so may cycles in which fewer slots retire than could: a port that takes one uop a cycle lets one retire */
	bool slow_base;
};
extern const struct cost_whatif cost_whatifs[];
enum { COST_WHATIFS = 4 };
const struct cost_whatif *cost_whatif_find(const char *name);	/* NULL: there is none */
#endif
