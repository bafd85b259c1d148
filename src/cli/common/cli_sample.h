/* SPDX-License-Identifier: GPL-2.0-or-later
 * --sample: windows of a run are timed, and their counts stand for the whole run (run_options.sample). */
#ifndef CLI_SAMPLE_H
#define CLI_SAMPLE_H
#include "analysis/estimate.h"
#include "cli/cli.h"
#include "session/session.h"

struct cli_sample {
	bool on, automatic;
	bool in_full;			/* --detail */
	bool points;			/* the run replays a file of live points */
	uint64_t after;			/* so many instructions are timed first */
	/* auto: the start of the program is timed; set by a command that calls cli_sample_sampled */
	bool times_start;
	struct run_sample plan;
	size_t least;		/* auto: so many windows of a long run at least; 0: as many as its cycles need */
	unsigned jobs;		/* --jobs; 0: as many as help */
	/* of the current run: */
	struct session *session;
	struct estimate *estimate;	/* of all windows, when the run has ended */
	size_t windows;
	size_t events;
	/* Counts of the caller's own that are estimated, too, as events behind the time: set the number before the run,
	 * and before cli_sample_sampled and cli_sample_window what the thread has so far. */
	size_t extras;
	double *extra;
	size_t counts;		/* all of them */
	struct cli_sample_thread {	/* by number of the session's thread */
		struct run_window began;
		double *before;	/* of each event: its count there */
		bool sampled;
	} *thread;
	size_t threads;
	double *count;		/* of each event, in a window */
	double *detail;		/* of each event, where all was timed */
	bool sampled;		/* some thread is */
	struct cli_sample_exact { bool is; uint64_t count; } *exact;	/* of each event: it is counted exactly */
	/* By number of the process: its windows.  Those of several processes come in an order that the host makes, so
	 * what one process does depends on its own alone. */
	struct cli_sample_process {
		struct estimate *estimate;
		uint64_t interval;	/* auto: length of a stretch now */
		size_t look_at;		/* auto: number of windows at which it is chosen next */
		double stretches, squares;	/* sum of its windows' stretches, and of their squares */
		double measured;	/* steps in its windows */
		double detail;		/* time of its threads, in ns, where all was timed */
		bool sampled;		/* some thread of it was timed at first, and is sampled now */
	} *process;
	size_t processes;
	size_t step;		/* auto: after so many windows, and twice as many, the stretch grows */
	double measured;	/* instructions in all windows */
	struct err err;		/* err.code 0: none */
};

/* The value of --sample: NULL or "auto"; or "N,U,W" for N instructions a stretch, U measured, W of lead (suffixes K, M,
 * G). */
int  cli_sample_parse(struct cli_sample *s, const char *value, struct err *err);
/* After it: the command says how the run is divided, into functions or nodes.  The parts differ more from window to
 * window than their sum, so auto takes more windows, and times the start of the program.  The command calls
 * cli_sample_sampled. */
void cli_sample_parts(struct cli_sample *s);
/* The value of --detail: NULL, or a number of instructions, after which the run is sampled. */
int  cli_sample_parse_detail(struct cli_sample *s, const char *value, struct err *err);
/* Without --sample, and if nothing asks for full detail: a run is sampled from 200 million instructions on, or from
 * s->after on if the command has set that. */
void cli_sample_default(struct cli_sample *s);
/* The help of the option, whose argument is "auto|N,U,W". */
#define CLI_SAMPLE_HOW "Between windows the program is executed without timing; this keeps caches and predictors " \
	"warm. auto, the default, chooses the windows. N,U,W: each stretch of N instructions has one window: first " \
	"W instructions that fill the pipeline and are not counted, then U that are measured. N is at least four " \
	"times U + W."
/* What is said if run_result.threads_at_once. */
#define CLI_SAMPLE_THREADS "threads ran at the same time; the estimates of a sampled run leave out how they delay " \
	"each other"
/* Options that do not go with --sample.  If the run replays a file of live points, its windows are the plan.  0, or -1
 * after one printed line. */
int  cli_sample_check(struct cli_sample *s, const struct cli_run *run);
/* For commands that replay one stream on several machines: counts the stream's instructions, or executes the program
 * without a model and saves its stream, which then is run->run.replay.  auto: stretches such that there are so many
 * windows.  *wait_status: the program's.  0, or -1 after one printed line. */
int  cli_sample_plan(const struct cli_sample *s, struct cli_run *run, uint64_t windows, struct run_sample *plan,
	int *wait_status);
/* Without --sample and --detail such commands sample a program of more instructions than this: they replay it about ten
 * times, so that a shorter one takes as long as `stat` takes for 200 million. */
enum { CLI_SAMPLE_LONG = 20000000 };
/* The help of their --detail. */
#define CLI_SAMPLE_LONG_HOW "Time all of each run and estimate nothing. Without --detail and --sample, programs of " \
	"more than 20 million instructions are sampled as by --sample, unless their threads run at the same time."
/* What they say if such a program's threads do. */
#define CLI_SAMPLE_NOT_THREADS "threads ran at the same time: all of the program is timed (--sample estimates, and " \
	"is faster)"
/* cli_sample_plan, if the run is to be sampled: by --sample, or because it is long; then s->on is set.  Else
 * plan->measured is 0. */
int  cli_sample_plan_long(struct cli_sample *s, struct cli_run *run, uint64_t windows, struct run_sample *plan,
	int *wait_status);
/* Before a run: it will be sampled, and these events of the session are estimated. */
int  cli_sample_begin(struct cli_sample *s, struct cli_run *run, struct session *session, size_t events,
	struct err *err);
/* Is anything estimated in this run? */
static inline bool cli_sample_estimates(const struct cli_sample *s)
{
	return s->on && s->sampled;
}
/* The sink's (run_sink.sampled).  Says once that the run goes on sampled if no option asked for it. */
void cli_sample_sampled(struct cli_sample *s, const struct run_thread *t);
/* Before cli_sample_finish: has a thread, by its number in the session, windows?  Of one that has none, and was timed
 * in full, add the extra counts to `detail`. */
static inline bool cli_sample_has_windows(const struct cli_sample *s, size_t thread)
{
	return thread < s->threads && s->thread[thread].sampled;
}
/* The sink's (run_sink.window). */
uint64_t cli_sample_window(struct cli_sample *s, const struct run_thread *t, const struct run_window *w);
/* Instructions that the window stands for, for each of its own. */
double cli_sample_weight(const struct cli_sample *s, const struct run_thread *t, const struct run_window *w);
/* The sink's (run_sink.executed). */
void cli_sample_executed(struct cli_sample *s, const struct iblock *b, unsigned insns, uint64_t times, bool repeats);
/* Before cli_sample_finish: what was counted so far where all was timed. */
double cli_sample_timed(const struct cli_sample *s, size_t event);
/* After the run: then cli_sample_total may be called. */
int  cli_sample_finish(struct cli_sample *s, const struct run_result *r, struct err *err);
/* Of a run of which something was estimated: lines that say how much was timed and measured. */
void cli_sample_print(const struct cli_sample *s, const struct run_result *r, FILE *out);
/* *half: 0: the count is exact.  event: index in the session; one more than the last: the time that the threads ran,
 * in ns. */
double cli_sample_total(const struct cli_sample *s, size_t event, double *half);
void cli_sample_free(struct cli_sample *s);
#endif
