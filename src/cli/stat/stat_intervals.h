/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat -I of a sampled run: what was counted in each piece of modelled time.
 *
 * A window stands for its stretch: for so many times its own counts, and its own cycles.  Stretches follow each other
 * in modelled time, each thread's from where it begins to be sampled, and the counts of a stretch are spread evenly
 * over its time.  All are scaled so that they add up to the totals of the run.  So the pieces are known when the run
 * has ended.  What was timed in full is in the piece in which it happened.
 * The 95 % interval of a count in a piece comes from those windows whose stretch has its middle there; with fewer than
 * ESTIMATE_LEAST of them it is unknown.
 * Left out: when threads wait for each other, as in all sampled runs. */
#ifndef CLI_STAT_INTERVALS_H
#define CLI_STAT_INTERVALS_H
#include "cli/common/cli_sample.h"

struct stat_intervals {
	size_t counts;			/* events of the session, and behind them the time that threads ran, in ns */
	double ns;			/* length of a piece */
	struct stat_intervals_window { size_t thread, piece; double weight; } *window;
	double *count;			/* [windows][counts] */
	size_t windows, room;
	double *starts;			/* by thread: ns at which its first stretch begins */
	size_t threads;
	double *timed;			/* [pieces] [counts]: counted until its end in what was timed in full */
	size_t first, timed_pieces;	/* number of the first piece that is kept; how many `timed` has */
	double *sum;			/* [pieces][counts]: of the stretches, until the end of the piece */
	size_t pieces;
	double end;			/* of the run, in ns */
	struct err err;
};

/* Before a run; pieces of so many ns. */
void stat_intervals_begin(struct stat_intervals *v, double ns, size_t events);
/* The sink's, before cli_sample_sampled and after cli_sample_window. */
void stat_intervals_sampled(struct stat_intervals *v, const struct cli_sample *s, const struct run_thread *t);
void stat_intervals_window(struct stat_intervals *v, const struct cli_sample *s, const struct run_thread *t,
	const struct run_window *w);
/* The session's clock passes the end of piece `number`.  Told of each piece from some piece on. */
void stat_intervals_passes(struct stat_intervals *v, const struct cli_sample *s, size_t number);
/* After cli_sample_finish.  first: the number of the first piece to be kept; total: of each count, over the sampled
 * part of the run; elapsed: ns at which the last of several threads ended; 0: there is one, whose stretches say so. */
int  stat_intervals_finish(struct stat_intervals *v, size_t first, const double *total, double elapsed,
	struct err *err);
/* So much was counted in the run until the end of piece k, which is one of v->first to v->pieces - 1. */
double stat_intervals_until(const struct stat_intervals *v, const struct cli_sample *s, size_t k, size_t count);
double stat_intervals_ends(const struct stat_intervals *v, size_t k);	/* in ns */
/* half[]: of each count in piece k, half of its 95 % interval; 0: all of it was timed, NaN: unknown.  ERR_NOMEM. */
int  stat_intervals_halves(const struct stat_intervals *v, size_t k, double *half, struct err *err);
void stat_intervals_free(struct stat_intervals *v);
#endif
