/* SPDX-License-Identifier: GPL-2.0-or-later
 * Metrics: formulas over a PMU's events, read from data/metrics/NAME.tsv, one file a microarchitecture.
 *
 * A file has directives
 *   @const NAME VALUE UNIT    @event NAME UNIT    @joins NODE OTHER    @perf_metrics NODE FIELD[-FIELD]    (# comments)
 * and rows of tab-separated columns
 *   name parent unit formula threshold exact sample description next
 * parent: "-" a root of the top-down tree, the name of a node above it, or ":group" for a metric beside the tree; a metric comes
 * behind those that it uses.  unit: formula.h; it must be the formula's own.  threshold: the node is flagged above it (and if its parent is),
 * "-" never.  exact: the causes of slots.h it stands for, or "-".  sample: precise event to sample next, or "-".
 * formula "-": the PMU has no events to say it with; the metric is refused, only its exact share is known.
 * A metric with an event that the PMU model lacks or does not model is refused: `refused` says which and why.
 * @joins: two nodes above it have one cause; when the largest is sought, NODE's share counts with OTHER's.  So refilling the front end behind a
 * mispredicted branch, which the tree has below the front end, counts with the mispredicts: Yasin's "Mispredictions" among the bottlenecks that
 * Top-Down's later versions (from 4.2 on) list beside the tree.
 * @perf_metrics: the node stands in MSR_PERF_METRICS, as that field (0: bits 7:0) or as the first less the second.
 */
#ifndef ANALYSIS_METRICS_H
#define ANALYSIS_METRICS_H
#include "analysis/formula.h"
#include "softpmu/pmu.h"
#include "util/err.h"

struct metric {
	char *name, *group;	/* group: NULL for a node of the tree */
	char *unit_text, *text;	/* text: the formula, NULL: "-" */
	char *exact, *sample, *description, *next;	/* NULL: none */
	int parent;		/* index; -1: a root, or no node */
	unsigned level;		/* of a node, from 1; 0: no node */
	double threshold;	/* NaN: none */
	char *refused;		/* NULL: can be counted */
	struct formula *formula;
	unsigned line;		/* of the file */
};

struct metric_event { char *name; struct formula_unit unit; char *refused; /* NULL: can be counted */ };
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

/* Errors begin with the path and line, and with the column of the formula where it is one of a formula. */
int  metrics_load(struct metrics *out, const char *path, const struct spmu_model *model, struct err *err);
/* The same of text that is in memory; path: for messages. */
int  metrics_parse(struct metrics *out, const char *path, const char *text, size_t bytes, const struct spmu_model *model, struct err *err);
void metrics_free(struct metrics *m);
/* Index by name, upper or lower case; SIZE_MAX: none. */
size_t metrics_find(const struct metrics *m, const char *name);
/* Marks in needed[m->events] what the metric's value is made of, metrics it uses included. */
void metrics_needs(const struct metrics *m, size_t metric, bool *needed);
/* count[m->events]: of each event, in its unit.  value[m->metrics]: all metrics; NaN where refused or without a value. */
void metrics_values(const struct metrics *m, const double *count, double *value);
/* Node k is needed to name the bottleneck, at whatever level: it joins another, or is a sibling or parent of one that does. */
bool metrics_joins(const struct metrics *m, size_t k);
/* view[m->metrics]: value with every join done.  The share of a node below level 2 is what it has of the slots: formulas of siblings there may
 * overlap and are taken as parts of their sum.  A join without a value is left out. */
void metrics_joined(const struct metrics *m, const double *value, double *view);
/* Node k is above its threshold, and so are all above it that have one. */
bool metrics_flagged(const struct metrics *m, const double *value, size_t k);
#endif
