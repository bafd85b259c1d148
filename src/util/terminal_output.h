/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a command's output may look like: on a terminal its lines fit its width, and bars and colours are drawn with
 * what it has; a file or a pipe gets plain text, with lines of any length (util/terminal.h).
 *
 * A terminal's width is COLUMNS, or else what the terminal says (TIOCGWINSZ), or else 80.  It has colours unless
 * NO_COLOR is set (https://no-color.org) or TERM is unset or "dumb", and characters other than ASCII in a UTF-8
 * locale.
 */
#ifndef UTIL_TERMINAL_OUTPUT_H
#define UTIL_TERMINAL_OUTPUT_H
#include "util/terminal.h"

enum terminal_when {
	TERMINAL_AUTO,	/* on a terminal that has colours */
	TERMINAL_ALWAYS,	/* also into a file or a pipe, which then gets what a terminal would; width: COLUMNS */
	TERMINAL_NEVER,
};
#define OPT_COLOR(type, member) \
	OPT_CHOICE(0, "color", "auto|always|never", type, member, TERMINAL_AUTO, "Use colours on a terminal " \
		"(auto, the default), always, or never. On a terminal lines and bars also fit its width. NO_COLOR " \
		"and TERM=dumb mean never, but for always.")

/* An output as a command prints to it. */
struct terminal_output {
	struct terminal t;
	const struct terminal *terminal;	/* &t, or NULL: a file or a pipe */
	FILE *out;
	/* private */
	bool folds;
};
/* Prepares output into `to`, which stays the caller's. */
void terminal_output_open(struct terminal_output *c, FILE *to, enum terminal_when colour);
/* Passes on what was printed to c->out.  True, too, if it was never opened. */
bool terminal_output_close(struct terminal_output *c);
#endif
