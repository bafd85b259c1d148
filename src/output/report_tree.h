/* SPDX-License-Identifier: GPL-2.0-or-later
 * Draws the call tree of a profile's entry, as perf report does. */
#ifndef OUTPUT_REPORT_TREE_H
#define OUTPUT_REPORT_TREE_H
#include "output/profile.h"

/* Names come out of files: what would move a terminal's cursor becomes '?'. */
void report_plain(char *text);
const char *report_name(const struct symbol *symbol, bool mangled);
/* Percentages as in perf: from 5 % red, from 0.5 % green. */
enum terminal_colour report_colour(double percent);
/* skip_first: not the entry's own name again. */
void report_tree(FILE *to, const struct profile_event *event, const struct profile_entry *e,
	const struct report_options *o, bool skip_first);
#endif
