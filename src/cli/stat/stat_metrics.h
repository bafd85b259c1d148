/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat -M and --topdown: metrics of data/metrics as remarks behind the counts they are made of, as perf stat prints them. */
#ifndef CLI_STAT_METRICS_H
#define CLI_STAT_METRICS_H
#include "cli/common/cli_metrics.h"
#include "cli/stat/stat_print.h"

enum { STAT_METRICS_MOST = 64 };
struct stat_metrics {
	struct cli_metrics c;
	struct stat_metric_use {
		size_t metric, first;	/* its first line, which has the remark */
		size_t *line;		/* of each metric event: its line; SIZE_MAX: none */
		char *unit;
	} use[STAT_METRICS_MOST];
	unsigned uses;
	bool loaded;
};

/* Adds the metrics of a list: names (perf's tma_ ahead of them or not), TopdownL1 to TopdownL4, or a group of the file.  add_line: a line for an
 * event of the session.  0, or -1 after one line. */
int  stat_metrics_add(struct stat_metrics *m, const char *list, const struct core_config *core, const struct spmu_model *model,
	struct session_events *events, const struct stat_table *table, bool (*add_line)(void *context, size_t event), void *context);
/* Values from the lines' counts into the remarks. */
void stat_metrics_fill(struct stat_metrics *m, struct stat_table *t);
/* --topdown: a line of names and one of values, as perf prints it, without the counts. */
void stat_metrics_row(struct stat_metrics *m, const struct stat_style *s, const struct stat_table *t, bool names);
void stat_metrics_free(struct stat_metrics *m);
#endif
