/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints counts as `perf stat` of Linux 6.1 does: the table for people, `-x` fields, `-j` lines.  It only
 * formats: it takes numbers and knows no session.  Widths and the choice of remarks after '#' follow perf's
 * output and perf-stat(1), "CSV FORMAT".  Digits are grouped in threes whatever the locale, so that two runs
 * print the same text anywhere.
 */
#ifndef CLI_STAT_PRINT_H
#define CLI_STAT_PRINT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct stats { double n, mean, m2; };		/* over repeated runs */
void   stats_add(struct stats *s, double value);

enum stat_role { /* what a count means for the remarks */
	ROLE_OTHER,
	ROLE_TASK_CLOCK,
	ROLE_DURATION,
	ROLE_CYCLES,
	ROLE_INSTRUCTIONS,
	ROLE_BRANCHES,
	ROLE_BRANCH_MISSES,
	ROLE_CACHE_REFS,
	ROLE_CACHE_MISSES,
	ROLE_L1D_LOADS,
	ROLE_L1D_MISSES,
	ROLE_L1I_LOADS,
	ROLE_L1I_MISSES,
	ROLE_LLC_LOADS,
	ROLE_LLC_MISSES,
	ROLE_DTLB_LOADS,
	ROLE_DTLB_MISSES,
	ROLE_ITLB_LOADS,
	ROLE_ITLB_MISSES,
	ROLE_STALLED_FRONT,
	ROLE_STALLED_BACK,
	ROLES
};
/* The role of a name as the user wrote it, with modifiers, or else of the first known generic name in the list
 * `aliases`. */
enum stat_role stat_role(const char *spelled, const char *aliases);

struct stat_line {
	const char *name;
	enum stat_role role;
	unsigned rings;		/* over a whole machine, which privilege levels it counts: alike or not */
	bool supported;		/* false: "<not supported>" */
	bool unscaled;		/* its readings are not scaled to the time that it was enabled */
	const char *unit;	/* of a count that is printed times `scale`, with two decimals; NULL or "": none */
	double scale;
	/* -M: what stands after '#' instead of the role's remark, with its value; NULL: none */
	const char *metric;
	const char *metric_format;
	double metric_value;	/* NaN: it has no value */
	struct stats value;	/* clocks: ns */
	/* an estimate: half of its 95 % interval, in the value's unit (NaN: unknown); its column is printed then */
	bool estimated;
	double half;
	struct stats running_ns, enabled_ns;	/* enabled_ns empty: enabled all the time */
};

struct stat_table {
	struct stat_line *line;
	size_t lines;
	unsigned runs;
	bool estimates;		/* some lines are estimated */
	bool measured;		/* of a real machine: times are not modelled */
	struct stats elapsed_ns, user_ns;	/* user_ns empty: unknown */
	const double *run_ns;	/* elapsed time of each run, printed above the footer; NULL: not */
};

enum stat_form { STAT_TABLE, STAT_CSV, STAT_JSON };
struct stat_style {
	FILE *out;
	enum stat_form form;
	const char *separator;	/* for STAT_CSV */
	bool group_digits;
	double interval_end;	/* seconds, printed in front of each line; negative: none */
	const char *thread;	/* "comm-tid" in front of each line, or NULL */
	const char *region;	/* the region's name and number of entries in front of each line, or NULL */
	uint64_t entries;
	bool summary;		/* for STAT_CSV: "summary" in front of each line */
};

void stat_print_header(const struct stat_style *s, const struct stat_table *t, const char *what);
void stat_print_lines(const struct stat_style *s, const struct stat_table *t);
/* --metric-only: prints a row of the remarks' names, or of their values, as perf does.  Rates are left out. */
void stat_print_metrics(const struct stat_style *s, const struct stat_table *t, bool names);
void stat_print_footer(const struct stat_style *s, const struct stat_table *t);
#endif
