/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints what --per function, line and loop found: a row for each place, with level 1 of the tree and the
 * bottleneck. */
#ifndef CLI_TOPDOWN_ROWS_H
#define CLI_TOPDOWN_ROWS_H
#include "cli/topdown/topdown_run.h"

/* Prints t->rows places (0: all), with the most slots first.  Changes the metrics' values, t->exact and t->slots. */
void topdown_rows(struct topdown *t);
#endif
