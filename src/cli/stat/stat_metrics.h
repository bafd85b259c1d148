/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat -M and --topdown: metrics of data/metrics as remarks after the counts from which they are made, as perf
 * stat prints them. */
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

/* Adds the metrics of a list: names (with or without perf's tma_ in front), TopdownL1 to TopdownL4, or a group
 * of the file. add_line: makes a line for an event of the session. 0, or -1 after one printed line. */
int stat_metrics_add(struct stat_metrics *m, const char *list, const struct core_config *core,
	const struct spmu_model *model, struct session_events *events, const struct stat_table *table,
	bool (*add_line)(void *context, size_t event), void *context);
/* After stat_metrics_add: has the core a metric of this level of the top-down tree? */
bool stat_metrics_has_level(const struct stat_metrics *m, unsigned level);
/* Fills the remarks with the values that follow from the lines' counts. */
void stat_metrics_fill(struct stat_metrics *m, struct stat_table *t);
/* --topdown: prints a line of names or of values, as perf does, without the counts. */
void stat_metrics_row(struct stat_metrics *m, const struct stat_style *s, const struct stat_table *t, bool names);
void stat_metrics_free(struct stat_metrics *m);
#endif
