/* SPDX-License-Identifier: GPL-2.0-or-later
 * Events that a list asks for and that this run cannot count: stat prints "<not supported>" in their place, as perf
 * does, and counts the others.  So one list of events serves all cores.  A name that exists on no core is an error.
 */
#ifndef CLI_STAT_UNSUPPORTED_H
#define CLI_STAT_UNSUPPORTED_H
#include "core/machine/config.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>

struct session_events;

struct stat_unsupported {
	const struct core_config *core;			/* of the run */
	const struct session_events *events;		/* those that can be counted */
	struct stat_left_out {
		size_t before;	/* so many of `events` stand before it */
		char *name;	/* to print, with the :u that was not asked for */
		char *why;	/* a sentence */
	} *event;
	size_t count;
	bool nomem;
};

/* session_parse_options.leave_out with a struct stat_unsupported as context: takes events that are not modelled, and
 * those that another core has. */
bool stat_leave_out(void *context, const char *event, size_t bytes, const struct err *why);
void stat_unsupported_free(struct stat_unsupported *u);
#endif
