/* SPDX-License-Identifier: GPL-2.0-or-later
 * Parts of a file of live points (trace_file.h, struct st_part).  Private to src/run.
 *
 * A part begins with machines, cores and a walker that are new, and brings what all of the run before has left.  So
 * what its windows count depends on the part alone, whichever parts a run has timed before.  (Of the program's code it
 * depends on what was defined before, which a run has from parts or from their digests.)
 */
#ifndef RUN_PARTS_H
#define RUN_PARTS_H
#include "run/runner.h"

/* Told, by the thread that reads the stream, when all that was before has been passed on: a section begins whose number
 * without digests is `turn`, or a part ends; of a digest: its part is left out.  now: the sink's clock. */
struct parts_watch {
	void (*section)(void *context, enum st_part_what what, uint64_t turn, uint64_t now);
	void *context;
};

/* ERR_INPUT: it is out of place, or impossible; ERR_NOMEM. */
int parts_record(struct runner *r, struct process *p, const struct st_part *s, struct err *err);
/* The thread ends; within a part, if the file is cut short: what the part has so far is added to the result. */
void parts_cut(struct runner *r, struct rthread *t);
/* The run has ended: its mispredicted branches, from what it saw of them. */
void parts_total(struct run_result *result);
#endif
