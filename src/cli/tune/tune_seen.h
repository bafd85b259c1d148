/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a replay of tune --sample saw in its windows, and replays of many machines that read the stream together.
 */
#ifndef CLI_TUNE_SEEN_H
#define CLI_TUNE_SEEN_H
#include "analysis/cost/energy.h"
#include "analysis/windows.h"
#include "run/run.h"

struct tune_seen { struct windows *windows; };
struct tune_seen_thread {
	struct windows_thread *windows;
	struct energy_activity all;
	bool counting;
};
int  tune_seen_create(struct tune_seen *s, struct err *err);
void tune_seen_release(struct tune_seen *s);
int  tune_seen_start(struct tune_seen *s, struct tune_seen_thread *t, const struct run_thread *run, struct err *err);
void tune_seen_batch(struct tune_seen_thread *t, const struct spmu_batch *b);
void tune_seen_window(struct tune_seen_thread *t, const struct run_window *part);
/* When the run has ended: the counts of all of it.  ERR_INPUT: there was no window. */
int  tune_seen_total(struct tune_seen *s, const struct run_result *r, struct energy_activity *out, struct err *err);

/* A machine of which a replay is made. */
struct tune_machine {
	struct core_config core;
	struct core_features features;
	struct energy_activity activity;	/* the result */
	double half;				/* of its share of the preset's cycles (tune_model.h) */
	struct err err;				/* code 0: it is there */
	/* while it runs: */
	struct tune_seen seen;
	int (*tick)(void *context);
	void *context;
};
/* Makes it: the preset with "feature=level,..."; "": as it is. */
int  tune_machine_set(struct tune_machine *m, const struct core_config *preset, const char *settings, struct err *err);
/* Replays the stream of `o` on it, timed throughout: the result is there, or `err`.  tick: as below, or NULL. */
void tune_machine_replay(struct tune_machine *m, const struct run_options *o, int (*tick)(void *context),
	void *context);
/* Replays the stream of `o`, whose core is the unchanged machine, on all machines at once.  preset: what the run on the
 * unchanged machine saw.  tick: called now and then by each machine's thread; nonzero: it stops.  0, or an error: then
 * nothing has run. */
int tune_seen_replay(const struct run_options *o, const struct tune_seen *preset, struct tune_machine *machine,
	unsigned machines, int (*tick)(void *context), void *context, struct err *err);
#endif
