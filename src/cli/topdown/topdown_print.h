/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints a top-down tree: bars for the terminal, CSV, JSON, SVG.  It only formats: it takes numbers. CSV
 * columns: time or thread (if any), level, name, value, exact, difference (these three are shares of 1),
 * flagged (0 or 1; 2: the bottleneck), further columns if any.  Values that a run does not have (division by
 * zero) and exact shares that are not known are empty; null in JSON. */
#ifndef CLI_TOPDOWN_PRINT_H
#define CLI_TOPDOWN_PRINT_H
#include "analysis/metrics.h"
#include "util/terminal.h"
#include <stdio.h>

/* Further values of the nodes, beside the formulas'. value: by metric; NaN: none. name: for JSON; brief: the title
 * where there is little room. */
struct topdown_column { const char *title, *name, *brief; const double *value; };
enum { TOPDOWN_MOST_COLUMNS = 2 };

enum topdown_form { TOPDOWN_TREE, TOPDOWN_CSV, TOPDOWN_JSON };
struct topdown_style {
	FILE *out;
	const struct terminal *terminal;	/* NULL: out is a file or a pipe */
	enum topdown_form form;
	const char *separator;
	const char *program;	/* what ran */
	unsigned level;		/* deepest level to print */
	struct topdown_column column[TOPDOWN_MOST_COLUMNS];
	unsigned columns;
	const char *what;	/* a thread, an interval, a function; NULL: the whole run */
};

/* value, exact: by metric; exact NULL or NaN: not known. Marks the bottleneck, by the exact values where they
 * are known. */
void topdown_print(const struct topdown_style *s, const struct metrics *m, const double *value, const double *exact);
/* Prints a place's share of all slots of the run, as a row of level 0. */
void topdown_print_share(const struct topdown_style *s, double share);
/* Prints the metrics beside the tree that have a value. */
void topdown_print_others(const struct topdown_style *s, const struct metrics *m, const double *value);
/* The bottleneck by these values: of the nodes down to level 3 that are flagged, and have no flagged node below them
 * there, the largest; and of its flagged parts on level 4, if it has any, the largest.  SIZE_MAX: none.  Joins are
 * applied (metrics.h).  *joined, if not NULL: the share that the joins added to it. */
size_t topdown_bottleneck(const struct metrics *m, const double *value, unsigned level, double *joined);
/* A bar chart of the whole tree. */
void topdown_svg(FILE *out, const struct metrics *m, const double *value, const double *exact, unsigned level,
	const char *title);
#endif
