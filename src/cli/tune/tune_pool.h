/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs configurations of a machine on one recorded stream, several at a time, each in a process of its own.
 */
#ifndef CLI_TUNE_POOL_H
#define CLI_TUNE_POOL_H
#include "analysis/tune/tune_model.h"
#include "cli/cli.h"
#include "cli/tune/tune_seen.h"
#include "cli/tune/tune_state.h"

struct tune_pool {
	struct cli_run *run;			/* run.run.replay: the stream */
	const struct core_config *preset;
	const struct tune_feature *features;
	unsigned count;
	const struct energy_model *model;
	struct tune_state *state;		/* keeps what was measured; looked up first */
	unsigned jobs;				/* replays at a time; 0: as many as are good */
	/* Windows of each replay; measured 0: it is timed throughout.  Sampled replays are threads of this process, and
	 * read the stream together. */
	struct run_sample sample;
	const struct tune_seen *seen;		/* by the run on the preset, if it is sampled */
	/* so far */
	size_t ran, known;
	double seconds;				/* of runs, added up */
};
/* A tune_measure; context: the pool. */
int tune_pool_measure(void *context, struct tune_try *tries, size_t n, struct err *err);
/* Number of processors that this process may use. */
unsigned tune_pool_processors(void);
#endif
