/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat -M and --topdown (stat_metrics.h).  Each metric has its own lines for its events, so that everything that
 * it is made of stands together. */
#include "cli/stat/stat_metrics.h"
#include "util/near.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct adding {
	const struct core_config *core;
	const struct spmu_model *model;
	struct session_events *events;
	const struct stat_table *table;
	bool (*add_line)(void *context, size_t event);
	void *context;
};

static int one(struct stat_metrics *m, const struct adding *a, size_t metric)
{
	const struct metric *k = m->c.m.metric + metric;
	if (m->uses == STAT_METRICS_MOST) {
		cli_error("-M: more than %d metrics", STAT_METRICS_MOST);
		return -1;
	}
	struct stat_metric_use *u = m->use + m->uses;
	size_t before = a->events->count, line = a->table->lines;
	for (size_t i = 0; i < m->c.m.events; i++)
		m->c.event[i] = SIZE_MAX;
	if (!cli_metrics_want(&m->c, metric, a->events, a->core, a->model, true))
		return -1;
	for (size_t e = before; e < a->events->count; e++)
		if (!a->add_line(a->context, e))
			return -1;
	*u = (struct stat_metric_use){ .metric = metric, .first = line,
		.line = malloc((m->c.m.events + 1) * sizeof *u->line),
		.unit = malloc(strlen(k->name) + 4) };
	m->uses++;
	if (!u->line || !u->unit) {
		cli_error("out of memory");
		return -1;
	}
	sprintf(u->unit, "%s%s", strcmp(k->unit_text, "%") ? "" : "%  ", k->name);
	for (size_t i = 0; i < m->c.m.events; i++)
		u->line[i] = m->c.event[i] == SIZE_MAX ? SIZE_MAX : line + (m->c.event[i] - before);
	return 0;
}

static void unknown(const struct stat_metrics *m, const char *name)
{
	struct near near;
	char text[256];
	near_start(&near, name);
	for (size_t k = 0; k < m->c.m.metrics; k++)
		near_offer(&near, m->c.m.metric[k].name, strlen(m->c.m.metric[k].name));
	if (!near_text(&near, "; nearest: ", text, sizeof text))
		snprintf(text, sizeof text, "; 'softpmu list metrics' lists those it has");
	cli_error("-M: this core has no metric '%.80s'%s", name, text);
}

int stat_metrics_add(struct stat_metrics *m, const char *list, const struct core_config *core,
	const struct spmu_model *model, struct session_events *events, const struct stat_table *table,
	bool (*add_line)(void *context, size_t event), void *context)
{
	const struct adding a = { core, model, events, table, add_line, context };
	if (!m->loaded && cli_metrics_load(&m->c, core, model))
		return -1;
	m->loaded = true;
	while (*list) {
		char name[100];
		size_t n = strcspn(list, ","), k;
		snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), list);
		list += n + (list[n] == ',');
		const char *plain = strncasecmp(name, "tma_", 4) ? name : name + 4;
		unsigned level = !strncasecmp(name, "TopdownL", 8) && name[8] >= '1' && name[8] <= '4' && !name[9]
			? (unsigned)(name[8] - '0')
			: 0;
		bool any = false;
		for (k = 0; k < m->c.m.metrics; k++) {
			const struct metric *f = m->c.m.metric + k;
			if (level ? f->level != level : !f->group || strcasecmp(f->group, name))
				continue;
			any = true;
			if (!f->refused && one(m, &a, k))	/* of a group, only those that can be counted */
				return -1;
		}
		if (any)
			continue;
		if ((k = metrics_find(&m->c.m, plain)) == SIZE_MAX) {
			unknown(m, plain);
			return -1;
		}
		if (one(m, &a, k))
			return -1;
	}
	return 0;
}

bool stat_metrics_has_level(const struct stat_metrics *m, unsigned level)
{
	for (size_t k = 0; k < m->c.m.metrics; k++)
		if (m->c.m.metric[k].level == level && !m->c.m.metric[k].refused)
			return true;
	return false;
}

static double value_of(struct stat_metrics *m, const struct stat_metric_use *u, const struct stat_table *t)
{
	for (size_t i = 0; i < m->c.m.events; i++)
		m->c.count[i] = !strcmp(m->c.m.event[i].name, "duration_time") ? 1e-9 * t->elapsed_ns.mean :
			u->line[i] == SIZE_MAX ? 0 : t->line[u->line[i]].value.mean;
	metrics_values(&m->c.m, m->c.count, m->c.value);
	return m->c.value[u->metric];
}

void stat_metrics_fill(struct stat_metrics *m, struct stat_table *t)
{
	for (unsigned k = 0; k < m->uses; k++) {
		const struct stat_metric_use *u = m->use + k;
		bool percent = u->unit[0] == '%';
		t->line[u->first].metric = u->unit;
		t->line[u->first].metric_format = percent ? "%8.1f" : "%8.2f";
		t->line[u->first].metric_value = value_of(m, u, t) * (percent ? 100 : 1);
	}
}

void stat_metrics_row(struct stat_metrics *m, const struct stat_style *s, const struct stat_table *t, bool names)
{
	const bool csv = s->form == STAT_CSV;
	if (names && s->interval_end >= 0)
		fprintf(s->out, csv ? "time%s" : "#           time%.0s", s->separator);
	else if (s->interval_end >= 0)
		fprintf(s->out, "%16.9f%s", s->interval_end, csv ? s->separator : "");
	if (s->thread)
		fprintf(s->out, csv ? "%s%s" : "%20s%.0s", names ? "" : s->thread, s->separator);
	for (unsigned k = 0; k < m->uses; k++) {
		char text[64];
		double v = names ? 0 : 100 * value_of(m, m->use + k, t);
		if (names) {	/* as perf: "frontend bound" */
			snprintf(text, sizeof text, "%s", m->c.m.metric[m->use[k].metric].name);
			for (char *c = text; *c; c++)
				*c = *c == '_' ? ' ' : (char)(*c | 32);
		} else {
			snprintf(text, sizeof text, isnan(v) ? "" : csv ? "%.1f" : "%.1f%%", v);
		}
		fprintf(s->out, csv ? "%s%s" : "%21s%.0s", text, csv && k + 1 < m->uses ? s->separator : "");
	}
	fputc('\n', s->out);
}

void stat_metrics_free(struct stat_metrics *m)
{
	for (unsigned k = 0; k < m->uses; k++) {
		free(m->use[k].line);
		free(m->use[k].unit);
	}
	cli_metrics_free(&m->c);
}
