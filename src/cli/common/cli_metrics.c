/* SPDX-License-Identifier: GPL-2.0-or-later
 * Metrics for the commands that count (cli_metrics.h). */
#include "cli/common/cli_metrics.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_metrics_load(struct cli_metrics *c, const struct core_config *core, const struct spmu_model *model)
{
	char path[4096];
	struct err err = { 0 };
	snprintf(path, sizeof path, "%s/metrics/%s.tsv", cli_data_dir(), core->pmu);
	if (access(path, R_OK)) {
		cli_error("there are no metrics for the PMU '%s': its events cannot express them",
			core->pmu);
		return -1;
	}
	if (metrics_load(&c->m, path, model, &err)) {
		cli_error("%s", err.text);
		return -1;
	}
	c->event = malloc((c->m.events + 1) * sizeof *c->event);
	c->count = calloc(c->m.events + 1, sizeof *c->count);
	c->value = calloc(c->m.metrics + 1, sizeof *c->value);
	if (!c->event || !c->count || !c->value) {
		cli_error("out of memory");
		return -1;
	}
	for (size_t i = 0; i < c->m.events; i++)
		c->event[i] = SIZE_MAX;
	return 0;
}

bool cli_metrics_want(struct cli_metrics *c, size_t metric, struct session_events *events,
	const struct core_config *core, const struct spmu_model *model, bool loud)
{
	const struct metric *k = c->m.metric + metric;
	struct err err = { 0 };
	if (k->refused) {
		if (loud)
			cli_error("metric %s: %s", k->name, k->refused);
		return false;
	}
	bool *needed = calloc(c->m.events + 1, sizeof *needed);
	if (!needed) {
		cli_error("out of memory");
		return false;
	}
	metrics_needs(&c->m, metric, needed);
	const struct session_parse_options how = { .model = model, .core = core };
	bool good = true;
	for (size_t i = 0; i < c->m.events && good; i++) {
		if (!needed[i] || c->event[i] != SIZE_MAX || !strcmp(c->m.event[i].name, "duration_time"))
			continue;
		good = !session_parse(events, &how, c->m.event[i].spelling, &err);
		if (good)
			c->event[i] = events->count - 1;
		else if (loud)
			cli_error("metric %s: %s", k->name, err.text);
	}
	free(needed);
	return good;
}

void cli_metrics_values(
	struct cli_metrics *c, double (*count)(void *context, size_t event), void *context, double seconds)
{
	for (size_t i = 0; i < c->m.events; i++)
		c->count[i] = !strcmp(c->m.event[i].name, "duration_time") ? seconds
			: c->event[i] == SIZE_MAX                          ? (double)NAN
									   : count(context, c->event[i]);
	metrics_values(&c->m, c->count, c->value);
}

void cli_metrics_free(struct cli_metrics *c)
{
	metrics_free(&c->m);
	free(c->event);
	free(c->count);
	free(c->value);
	*c = (struct cli_metrics){ 0 };
}
