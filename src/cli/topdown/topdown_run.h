/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu topdown while it runs and counts: one run feeds the session with as many PMUs as the events need, that with one PMU (--one-pmu), the slot
 * accounting and PERF_METRICS of each thread, and the places (--per). */
#ifndef CLI_TOPDOWN_RUN_H
#define CLI_TOPDOWN_RUN_H
#include "analysis/slots.h"
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "cli/common/cli_metrics.h"
#include "cli/topdown/topdown_field.h"
#include "cli/topdown/topdown_places.h"
#include "cli/topdown/topdown_print.h"
#include "session/session.h"

struct topdown {
	struct cli_run run;
	struct topdown_style style;
	struct cli_output output;
	const char *svg;
	double interval_ms, rotate_ms;
	unsigned rows;
	enum topdown_per per;
	bool per_thread, no_metrics, no_exact, sample, one_pmu, perf_metrics;
	char **words;		/* options of the run, for --sample */
	unsigned count_words;
	struct spmu_model *model;
	struct session_events events;
	struct session *session, *one;	/* one: --one-pmu */
	struct cli_metrics metrics, one_metrics;	/* (the same table: events and values are each one's own) */
	struct topdown_places *places;
	/* --interval: counts at the end of the one before */
	double *last;
	uint64_t last_cycle;
	size_t thread;		/* whose counts are read */
	/* of each thread in the order of their start */
	struct thread_slots {
		struct run_thread *thread;	/* NULL: ended */
		struct slots *slots;
		struct spmu *fields;		/* NULL: the PMU has no PERF_METRICS */
		void *of_one;			/* run_thread.sink_private of `one` */
		uint32_t pid;
		bool added;			/* to the places */
	} *threads;
	size_t threads_count;
	uint64_t slots[SLOTS_CAUSE_COUNT], last_slots[SLOTS_CAUSE_COUNT];	/* to be printed; at the end of the interval before */
	double *exact;		/* by metric; NULL: --no-exact */
	double *fields;		/* by metric: PERF_METRICS; NULL: not shown */
	size_t *sampled;	/* --sample: of each metric the event to sample next, among those that are counted; SIZE_MAX: none */
	int failed;		/* of a callback that cannot say so */
	struct err why;
};

/* Of the metrics that are to be printed, and what --sample needs; false after one line. */
bool topdown_choose_events(struct topdown *t);
/* For cli_metrics_values: of the whole run; of --one-pmu; of thread t->thread; since the interval before. */
double topdown_whole_count(void *context, size_t event);
double topdown_one_count(void *context, size_t event);
double topdown_thread_count(void *context, size_t event);
double topdown_interval_count(void *context, size_t event);
/* Adds what thread k's slots were charged to; 0, or -1 after one line. */
int  topdown_add_slots(struct topdown *t, size_t k);
/* t->slots: of all threads. */
void topdown_all_slots(struct topdown *t);
/* t->exact: shares of the causes that each node names, of all slots in t->slots. */
void topdown_exact_values(struct topdown *t);
/* t->fields. */
void topdown_all_fields(struct topdown *t);
struct run_sink topdown_sink(struct topdown *t);
/* Behind the run: threads that have not ended. */
void topdown_place_all(struct topdown *t);
#endif
