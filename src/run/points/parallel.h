/* SPDX-License-Identifier: GPL-2.0-or-later
 * Replays a file of live points by several runs at once, each of which times some of its parts (parts.h).  Private to
 * src/run.
 *
 * A run takes the next part that no other has taken, and reads the digests of the others.  What a part has for the sink
 * is kept until the parts before it have been passed on.  So the sink sees what it would see of one run that times them
 * all, and the results are the same, bit for bit, whatever the number of runs.
 */
#ifndef RUN_PARALLEL_H
#define RUN_PARALLEL_H
#include "run/run.h"

/* Can this be done with run_options.sample.jobs > 1?  The file must have two parts at least.  Not if the program's
 * requests (softpmu/client.h) are in the stream and the sink wants them: what it answers may change what follows. */
bool parallel_fits(const struct run_options *o, const struct run_sink *sink);
/* As run_program. */
int  parallel_run(const struct run_options *o, const struct run_sink *sink, struct run_result *result,
	struct err *err);
#endif
