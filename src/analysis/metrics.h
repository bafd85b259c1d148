/* SPDX-License-Identifier: GPL-2.0-or-later
 * Metrics: formulas over a PMU's events, read from data/metrics/NAME.tsv, one file a microarchitecture.
 *
 * A file has comments (lines with #), directives
 *   @const NAME VALUE UNIT    @event NAME UNIT [SPELLING]    @joins NODE OTHER    @perf_metrics NODE FIELD[-FIELD]
 * and rows of tab-separated columns
 *   name parent unit formula threshold exact sample description next
 * - parent: "-" for a root of the top-down tree, the name of a node further up in the file, or ":group" for a
 *   metric beside the tree.  A metric must come after those that it uses.
 * - unit: as in formula.h; it must be the formula's own unit.
 * - formula: "-" if the PMU has no events for it; then the metric is refused, and only its exact share is known.
 * - threshold: the node is flagged if it is above it and its parent is flagged, too; "-": never; with "!" ahead:
 *   whatever the nodes above it are.
 * - exact: the causes of slots.h that it covers, or "-".
 * - sample: the precise event to sample next, or "-".
 *
 * A metric with an event that the PMU model lacks or does not model is refused; `refused` says which event and
 * why.
 *
 * @event with a spelling: formulas call the event NAME, and `stat -e` spells it so, as in
 * cpu/L1D_PEND_MISS.FB_FULL,cmask=1/: an event with a threshold, an edge or another mask.
 * @joins: two nodes further up have one cause.  In the search for the largest node, NODE's share counts with
 * OTHER's.  For example, refilling the front end after a mispredicted branch stands below the front end in the
 * tree, but counts with the mispredicts: Yasin's "Mispredictions" among the bottlenecks that Top-Down's later
 * versions (from 4.2 on) list beside the tree.
 * @perf_metrics: the node stands in MSR_PERF_METRICS, as that field (0: bits 7:0), or as the first field less
 * the second.
 */
#ifndef ANALYSIS_METRICS_H
#define ANALYSIS_METRICS_H
#include "analysis/formula.h"
#include "softpmu/pmu.h"
#include "util/err.h"

struct metric {
	char *name, *group;	/* group: NULL for a node of the tree */
	char *unit_text, *text;	/* text: the formula; NULL: "-" */
	char *exact, *sample, *description, *next;	/* NULL: none */
	int parent;		/* index; -1: a root, or not a node */
	unsigned level;		/* of a node, from 1; 0: not a node */
	double threshold;	/* NaN: none */
	bool alone;		/* flagged whatever the nodes above it are */
	char *refused;		/* NULL: it can be counted */
	struct formula *formula;
	unsigned line;		/* in the file */
};

/* spelling: as stat -e spells it.  refused: NULL: can be counted.  assists: it counts assists for denormal numbers,
 * which only a run finds that looks for them (run_options.assists) */
struct metric_event { char *name, *spelling; struct formula_unit unit; char *refused; bool assists; };
struct metric_const { char *name; struct formula_unit unit; double value; };

struct metric_join { size_t node, with; };	/* indices of metrics */

struct metric_field { size_t node; int plus, minus; /* -1: none */ };

enum { METRICS_MOST_JOINS = 8, METRICS_MOST_FIELDS = 16 };
struct metrics {
	struct metric *metric;
	struct metric_join join[METRICS_MOST_JOINS];
	size_t joins;
	struct metric_field field[METRICS_MOST_FIELDS];
	size_t fields;
	struct metric_event *event;
	struct metric_const *constant;
	size_t metrics, events, constants;
};

/* Errors begin with the path and line; errors of a formula also have the column. */
int  metrics_load(struct metrics *out, const char *path, const struct spmu_model *model, struct err *err);
/* The same for text in memory; path: for messages. */
int metrics_parse(struct metrics *out, const char *path, const char *text, size_t bytes, const struct spmu_model *model,
	struct err *err);
void metrics_free(struct metrics *m);
/* Index by name, upper or lower case; SIZE_MAX: no such metric. */
size_t metrics_find(const struct metrics *m, const char *name);
/* Marks in needed[m->events] the events that the metric's value is made of, also through metrics that it uses. */
void metrics_needs(const struct metrics *m, size_t metric, bool *needed);
/* Whether one of these events counts assists. */
bool metrics_needs_assists(const struct metrics *m, size_t metric);
/* count[m->events]: count of each event, in its unit. value[m->metrics]: all metrics; NaN if refused or without
 * a value. */
void metrics_values(const struct metrics *m, const double *count, double *value);
/* Whether node k is needed to name the bottleneck at any level: it joins another, or is a sibling or parent of
 * one that does. */
bool metrics_joins(const struct metrics *m, size_t k);
/* view[m->metrics]: the values with every join applied.  Below level 2, a node's share of the slots is its part
 * of the sum of its siblings, because formulas of siblings may overlap there.  A join without a value is
 * skipped. */
void metrics_joined(const struct metrics *m, const double *value, double *view);
/* Whether node k and all nodes above it that have a threshold are above it; up to a node that is flagged alone. */
bool metrics_flagged(const struct metrics *m, const double *value, size_t k);
#endif
