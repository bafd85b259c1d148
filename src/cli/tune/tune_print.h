/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints what a search found: a table, or JSON lines. */
#ifndef CLI_TUNE_PRINT_H
#define CLI_TUNE_PRINT_H
#include "analysis/tune/tune_model.h"
#include "cli/tune/tune_pool.h"
#include <stdio.h>

struct tune_view {
	FILE *out;
	const struct cli_run *run;
	const char *program;		/* command line, or the stream's name */
	const struct tune *search;
	const struct tune_pool *pool;
	const struct tune_goal *goal;
	const char *objective;		/* as the user gave it */
	const char *const *why;		/* by feature: the events of its limit */
	bool all;			/* print every configuration, too */
	bool exhaustive;
};
void tune_print(const struct tune_view *v);
void tune_print_json(const struct tune_view *v);
#endif
