/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several runs of one recorded stream at a time, which unpack it once (stream_hub.h).  Each has a machine, a sink and a
 * host thread of its own, and gives the same whichever others it runs with.
 *
 * Machines that differ in timing only (core/machine/leads.h) have one leader (leader_share.h), if they are sampled.
 * Of machines with different leaders, those whose predictors are the same have these learn once.
 * What wrong paths bring is given to the leader by one machine, always the same: the one whose fields for timing are
 * those of the unchanged machine.  If that is none of the runs, it is timed, too.
 */
#ifndef RUN_TOGETHER_H
#define RUN_TOGETHER_H
#include "run/run.h"

struct run_one {
	struct run_options options;	/* replay: the same file in all */
	struct run_sink sink;		/* called in this run's threads; `tick` of the first run in others, too */
	/* when all have ended: */
	struct run_result result;
	int rc;				/* as run_program returns it */
	struct err err;
};

/* Returns when all have ended.  unchanged: see above; NULL: each run has a leader of its own.  An error: nothing has
 * run; the runs' own are in `rc`. */
int run_together(struct run_one *run, unsigned runs, const struct core_config *unchanged, struct err *err);
#endif
