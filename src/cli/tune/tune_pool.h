/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs configurations of a machine on one recorded stream, several at a time, each in a process of its own: of this
 * machine, or of any that a launcher starts (tune_launch.h).
 */
#ifndef CLI_TUNE_POOL_H
#define CLI_TUNE_POOL_H
#include "analysis/tune/tune_model.h"
#include "cli/cli.h"
#include "cli/tune/tune_seen.h"
#include "cli/tune/tune_state.h"

enum { TUNE_POOL_JOBS = 256 };	/* most replays at a time */
struct tune_launch;
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
	struct tune_launch *launch;		/* starts replays elsewhere; NULL: they run here */
	/* so far */
	size_t ran, known;
	double seconds;				/* of runs, added up */
};
/* A tune_measure; context: the pool. */
int tune_pool_measure(void *context, struct tune_try *tries, size_t n, struct err *err);
unsigned tune_pool_jobs(const struct tune_pool *p);	/* processes at a time: `jobs`, or one for each processor */
/* Fills in what is known of the settings already. */
bool tune_pool_known(struct tune_pool *p, struct tune_try *t, const char *settings);
/* Fills in what was measured, and keeps it in the state. */
int  tune_pool_keep(struct tune_pool *p, struct tune_try *t, const char *settings, const struct energy_activity *a,
	struct err *err);
/* Shows that so many of the n tries, of which this is the first, are done, and how many run. */
void tune_pool_show(struct tune_pool *p, const struct tune_try *first, size_t done, size_t n, unsigned running);
double tune_pool_now(void);	/* seconds, for what is shown */
/* Number of processors that this process may use. */
unsigned tune_pool_processors(void);
#endif
