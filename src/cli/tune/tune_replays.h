/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a recorded stream takes on changed machines.  Several replays read the stream together, which unpacks it once.
 * A sampled replay times only windows, and its gain is the difference to the same windows on the unchanged machine. */
#ifndef CLI_TUNE_REPLAYS_H
#define CLI_TUNE_REPLAYS_H
#include "cli/cli.h"

struct tune_replay {
	struct core_config core;
	bool done;	/* set: the replay was not interrupted */
	double gain;	/* the share of the unchanged machine's cycles that this one saves; negative: it takes more */
	double half;	/* half of the width of the gain's 95 % interval; 0: exact; NaN: unknown */
};
/* Replays r->run.replay on all n machines.  cycles: of the unchanged machine, timed in full.  plan: the windows of
 * sampled replays, which need no `cycles`; NULL: they are timed in full.  0, or an error after one printed line. */
int tune_replays(struct cli_run *r, double cycles, const struct run_sample *plan, struct tune_replay *replay,
	unsigned n);
#endif
