/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu topdown while it runs and counts.  One run feeds the session, which has as many PMUs as the events
 * need; the session with one PMU (--one-pmu); the slot accounting and PERF_METRICS of each thread; and the
 * places (--per). */
#ifndef CLI_TOPDOWN_RUN_H
#define CLI_TOPDOWN_RUN_H
#include "analysis/slots.h"
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "cli/common/cli_metrics.h"
#include "cli/common/cli_sample.h"
#include "util/terminal_output.h"
#include "cli/topdown/topdown_field.h"
#include "cli/topdown/topdown_places.h"
#include "cli/topdown/topdown_print.h"
#include "session/session.h"

struct topdown {
	struct cli_run run;
	struct topdown_style style;
	struct cli_output output;
	enum terminal_when colour;
	const char *svg;
	double interval_ms, rotate_ms;
	unsigned rows;
	enum topdown_per per;
	bool per_thread, no_metrics, no_exact, hottest, one_pmu, perf_metrics;
	struct cli_sample sample;
	char **words;		/* options of the run, for --hottest */
	unsigned count_words;
	struct spmu_model *model;
	struct session_events events;
	struct session *session, *one;	/* one: --one-pmu */
	struct cli_metrics metrics, one_metrics;	/* (of the same table, each with its own events and values) */
	struct topdown_places *places;
	/* --interval: counts at the end of the previous one */
	double *last;
	uint64_t last_cycle;
	size_t thread;		/* whose counts are read */
	/* each thread, in the order of their start */
	struct thread_slots {
		struct run_thread *thread;	/* NULL: it has ended */
		struct slots *slots;
		struct spmu *fields;		/* NULL: the PMU has no PERF_METRICS */
		void *of_one;			/* run_thread.sink_private of `one` */
		uint32_t pid;
		bool added;			/* to the places */
	} *threads;
	size_t threads_count;
	/* to be printed; at the end of the previous interval */
	uint64_t slots[SLOTS_CAUSE_COUNT], last_slots[SLOTS_CAUSE_COUNT];
	double *exact;		/* by metric; NULL: --no-exact */
	double *fields;		/* by metric: PERF_METRICS; NULL: not shown */
	/* --hottest: for each metric, the event to sample next, among the counted ones; SIZE_MAX: none */
	size_t *sampled;
	int failed;		/* error of a callback that cannot return one */
	struct err why;
};

/* Chooses the events of the metrics that are to be printed, and those that --hottest needs. false after one
 * printed line. */
bool topdown_choose_events(struct topdown *t);
/* For cli_metrics_values: counts of the whole run; of --one-pmu; of thread t->thread; since the previous interval. */
double topdown_whole_count(void *context, size_t event);
double topdown_one_count(void *context, size_t event);
double topdown_thread_count(void *context, size_t event);
double topdown_interval_count(void *context, size_t event);
/* Adds thread k's slots by cause to t->slots. 0, or -1 after one printed line. */
int  topdown_add_slots(struct topdown *t, size_t k);
/* --sample, after the run: sets the metrics' values. 0, or -1 after one printed line. */
int  topdown_estimate(struct topdown *t, const struct run_result *result);
/* Sets t->slots to those of all threads; with --sample, to their estimates. */
void topdown_all_slots(struct topdown *t);
/* Sets t->exact: for each node, the share of its causes of all slots in t->slots. */
void topdown_exact_values(struct topdown *t);
/* Sets t->fields. */
void topdown_all_fields(struct topdown *t);
struct run_sink topdown_sink(struct topdown *t);
/* Call after the run: adds threads that have not ended to the places. */
void topdown_place_all(struct topdown *t);
#endif
