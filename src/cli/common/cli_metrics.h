/* SPDX-License-Identifier: GPL-2.0-or-later
 * Metrics of data/metrics/ for the commands that count: the events that they need from a session, and their
 * values from its counts.  All events of a formula are counted in the same run, on as many copies of the PMU as
 * they need. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H
#include "analysis/metrics.h"
#include "cli/cli.h"
#include "session/session.h"

struct cli_metrics {
	struct metrics m;
	size_t *event;		/* of each metric event: index in the session; SIZE_MAX: not counted */
	double *count, *value;	/* as of the last cli_metrics_values */
};

/* Loads "data_dir/metrics/<core.pmu>.tsv". 0, or -1 after one printed line. */
int  cli_metrics_load(struct cli_metrics *c, const struct core_config *core, const struct spmu_model *model);
/* Adds the events that the metric needs to *events. false: it is refused; prints one line if `loud`. */
bool cli_metrics_want(struct cli_metrics *c, size_t metric, struct session_events *events,
	const struct core_config *core, const struct spmu_model *model, bool loud);
/* Fills c->count and c->value. count: the count of a session's event (not called for events that are not
 * counted: metrics that need them have no value); seconds: duration_time. */
void cli_metrics_values(
	struct cli_metrics *c, double (*count)(void *context, size_t event), void *context, double seconds);
void cli_metrics_free(struct cli_metrics *c);
#endif
