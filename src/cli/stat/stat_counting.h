/* SPDX-License-Identifier: GPL-2.0-or-later
 * One invocation of softpmu stat: its options and the state of its runs, which its files share. */
#ifndef CLI_STAT_COUNTING_H
#define CLI_STAT_COUNTING_H
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "cli/common/cli_sample.h"
#include "cli/stat/stat_cut.h"
#include "cli/stat/stat_energy.h"
#include "cli/stat/stat_intervals.h"
#include "cli/stat/stat_metrics.h"
#include "cli/stat/stat_print.h"
#include "cli/stat/stat_unsupported.h"
#include "output/perfdata/perfdata.h"
#include "session/session.h"

struct stat_options {
	struct cli_run run;
	const char *list[64];
	const char *metrics[16];
	unsigned lists, metric_lists, detailed, repeat;
	struct cli_output output;
	enum stat_form form;
	const char *separator, *region;
	double interval_ms, rotate_ms;
	bool per_thread, per_region, big, verbose, one_pmu, topdown;
	bool metric_only, all_user, null, table, energy, unscaled, summary, no_csv_summary, clear, quiet, group;
	unsigned interval_count, topdown_level;
	const char *pre, *post, *input;
	struct cli_sample sample;
	struct stat_cut cut;
};

struct counting {			/* one invocation */
	struct stat_options o;
	struct spmu_model *model;
	struct spmu_uncore_model *uncore;	/* NULL: the core has none */
	struct session_events events;
	struct stat_unsupported unsupported;
	struct stat_table table;
	size_t *event_of_line;	/* NOT_THERE: not supported */
	struct stat_style style;
	struct session *session;
	struct stat_metrics metrics;
	struct stat_energy energy;
	size_t energy_line;	/* its number; NOT_THERE: none */
	/* -I: counts at the end of the last interval */
	uint64_t *last, *last_running, *last_enabled, last_cycle;
	unsigned intervals_shown;
	struct stat_intervals intervals;	/* of a sampled run */
	double *run_ns;		/* --table: elapsed time of each run */
	struct perfdata_writer *kept;	/* stat record: the file; NULL: none */
};
/* Behind the line that says why a run failed. */
#define STAT_UNTIL_THEN "; what was counted until then is printed"
#define NOT_THERE ((size_t)-1)	/* an index of event_of_line */

/* ---- stat_options.c ---- */

extern const struct option stat_option_table[];	/* target: struct stat_options */
/* Do these options ask for what estimates are not made of? */
bool stat_misfit(const struct stat_options *o);
/* Options that do not go together.  0, or -1 after one printed line. */
int  stat_check(const struct stat_options *o);

/* ---- cmd_stat.c ---- */

/* Adds a count, scaled from the `running` ns in which it counted to the `enabled` ns. */
void stat_add_reading(struct stat_line *l, uint64_t count, uint64_t enabled, uint64_t running);
/* Prints the table's lines, in the form that the options ask for. */
void stat_show_lines(struct counting *s);
/* The same for the table of an interval, unless --interval-count of them are printed. */
void stat_show_interval(struct counting *s);


/* ---- stat_record.c: a perf.data file with counts, as perf stat record writes it ---- */

/* Creates the file, after the events were chosen. */
int  stat_record_begin(struct counting *s, const char *path, int argc, char *const *argv, struct err *err);
/* Keeps the table's counts: of an interval that ended at so many ns, or of the whole run.  The end tells
 * of errors. */
void stat_record_round(struct counting *s, uint64_t ns, bool interval);
int  stat_record_end(struct counting *s, bool started, struct err *err);
/* softpmu stat report; o: the options before the word "report". */
int  stat_report(struct stat_options *o, int argc, char **argv);
extern const struct cli_command stat_record_command, stat_report_command;

/* ---- stat_estimated.c ---- */

/* -I: prints the pieces of a sampled run that are not printed yet. */
int  stat_show_estimated(struct counting *s, const struct run_result *res, struct err *err);
#endif
