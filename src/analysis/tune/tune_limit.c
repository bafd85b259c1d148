/* SPDX-License-Identifier: GPL-2.0-or-later
 * Limits of what features can save (tune_limit.h). */
#include "analysis/tune/tune_limit.h"
#include "core/machine/features.h"
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define MISSES "l1_miss l2_miss l3_miss dtlb_miss page_walk store_buffer"

/* Which events of cost.h, and which groups of its decomposition, a feature can cause.  Features that are not
 * listed cause none. */
static const struct brings { const char *features, *events; } brings[] = {
	{ "prefetch.*", MISSES },
	{ "l1i.next_line", "icache_miss " MISSES },
	{ "l1i.replacement", "icache_miss" },
	{ "l1d.replacement", MISSES },
	{ "l2.replacement", "icache_miss " MISSES },
	{ "l3.replacement", "icache_miss " MISSES },
	{ "wrong_path.*", MISSES },
	{ "disambiguation", "clear no_forward forwarding" },
	{ "forward.renamed*", "no_forward forwarding" },
	{ "lsd*", "front-end" },
	{ "fusion.*", "front-end" },
	{ "eliminate.*", "latency" },
	{ "local.history", "mispredict" },
	{ "loop.size", "mispredict" },
	{ "smt.*", "*" },
};
enum { BRINGS = sizeof brings / sizeof *brings };

unsigned tune_limit_measures(struct cost_measure *out, const struct core_config *c, struct err *err)
{
	unsigned n = 0;
	for (unsigned i = 0; i < cost_events_count; i++) {
		const struct cost_event *e = &cost_events[i];
		const char *why, *tag = cost_event_tag(e, c, &why);
		struct cost_measure m = { .busy = { e->busy[0], e->busy[1] },
			.counted = { e->counted[0], e->counted[1] },
			.less = c->l3_size || strcmp(e->name, "l2_miss") ? e->less : 0 };
		if (tag && *tag && tag_parse(&m.tag, tag, err))
			return 0;
		if (tag)
			out[n++] = m;
	}
	return n;
}

static bool named(const char *words, const char *name)
{
	const size_t n = strlen(name);
	for (const char *w = words; *w; w += strcspn(w, " "), w += *w == ' ')
		if (strcspn(w, " ") == n && !strncmp(w, name, n))
			return true;
	return false;
}

/* The largest share of the cycles that these events and groups can cost. */
static double share_of(const struct tune_limits *l, const char *events)
{
	const double all = (double)cost_run_cycles(l->run);
	uint64_t group[COST_GROUPS_COUNT];
	double sum = 0;
	unsigned measure = 0;
	for (unsigned i = 0; i < cost_events_count; i++) {
		const char *why;
		if (!cost_event_tag(&cost_events[i], l->preset, &why))
			continue;
		const struct cost_result *r = cost_run_result(l->run, measure++);
		if (named(events, cost_events[i].name))
			sum += (double)(r->busy > r->pushout.sum ? r->busy : r->pushout.sum);
	}
	cost_run_groups(l->run, group);
	for (unsigned g = 0; g < COST_GROUPS_COUNT; g++)
		if (named(events, cost_group_name[g]) && !cost_event_find(cost_group_name[g]))
			sum += (double)group[g] / EXACT_CYCLE;
	return !(all > 0) ? 0 : sum < all ? sum / all : 1;
}

/* Energy of what data prefetchers move: requests to L2, and lines from beyond it. */
static double moved(const struct tune_limits *l, const struct energy_bill *b)
{
	const uint64_t *n = l->activity->n;
	const double l2 = (double)(n[ENERGY_COUNT_l2_requests] + n[ENERGY_COUNT_l2_fills] + n[ENERGY_COUNT_l1d_evicts]);
	const double beyond = (double)n[ENERGY_COUNT_l3_requests],
		     own = (double)(n[ENERGY_COUNT_l2_prefetches] + n[ENERGY_COUNT_l2_prefetch_misses]);
	const double missed = (double)n[ENERGY_COUNT_l2_prefetch_misses];
	double sum = l2 > 0 ? (own < l2 ? own / l2 : 1) * (b->part[ENERGY_l2] - b->part_fixed[ENERGY_l2]) : 0;
	if (beyond > 0)
		sum += (missed < beyond ? missed / beyond : 1) *
			(b->part[ENERGY_l3] - b->part_fixed[ENERGY_l3] + b->part[ENERGY_dram] -
				b->part_fixed[ENERGY_dram]);
	return sum;
}

int tune_limit(double *limit, const struct tune_limits *l, const struct tune_feature *f, const struct tune_goal *goal,
	const char **why, struct err *err)
{
	const char *events = "";
	for (unsigned i = 0; i < BRINGS; i++)
		if (!fnmatch(brings[i].features, f->name, 0))
			events = brings[i].events;
	if (!strcmp(events, "*"))
		events = l->smt ? events : "";	/* a thread that is alone on its core has all of it anyway */
	if (!l->warmed && ((!strcmp(f->name, "l2.replacement") && !l->activity->n[ENERGY_COUNT_l2_evicts]) ||
	                   (!strcmp(f->name, "l3.replacement") && !l->activity->n[ENERGY_COUNT_l3_evicts])))
		events = "";
	const bool unknown = *events == '*';
	const double time = unknown ? 1 : *events ? share_of(l, events) : 0;
	struct energy_bill now, then;
	double saved = 0;
	*why = events;
	energy_bill(&now, l->model, l->preset, l->activity);
	for (unsigned i = 1; i < f->levels; i++) {
		struct core_config c = *l->preset;
		char text[160];
		snprintf(text, sizeof text, "%s=%s", f->name, f->level[i]);
		const int rc = core_features_apply(&c, text, err);
		if (rc)
			return rc;
		energy_bill(&then, l->model, &c, l->activity);
		if (now.total - then.total > saved)
			saved = now.total - then.total;
	}
	if (!fnmatch("prefetch.*", f->name, 0))
		saved += moved(l, &now);
	double energy = now.total > 0 ? (saved + time * now.fixed) / now.total : 0;
	energy = unknown || energy > 1 ? 1 : energy;
	*limit = goal->what == TUNE_CYCLES ? time : goal->what == TUNE_EDP ? 1 - (1 - time) * (1 - energy) : energy;
	return 0;
}
