/* SPDX-License-Identifier: GPL-2.0-or-later
 * Text for a terminal: bars, colours, and lines that are no longer than it is wide.  It only writes: what the terminal
 * can do is decided elsewhere (util/terminal_output.h).  For a file or a pipe there is no struct terminal (NULL),
 * and the functions write plain ASCII.
 */
#ifndef UTIL_TERMINAL_H
#define UTIL_TERMINAL_H
#include <stdbool.h>
#include <stdio.h>

struct terminal {
	unsigned width;		/* columns; 0: lines may have any length */
	bool colour;		/* it understands SGR sequences */
	bool utf8;
};

enum terminal_colour { TERMINAL_PLAIN, TERMINAL_BOLD, TERMINAL_DIM, TERMINAL_RED, TERMINAL_GREEN, TERMINAL_YELLOW,
	TERMINAL_BLUE, TERMINAL_MAGENTA, TERMINAL_CYAN, TERMINAL_ALARM };

/* What stands for a part of a text that is left out: "..", or the character for it. */
const char *terminal_mark(const struct terminal *t);
/* t's width, or `otherwise` if lines may have any length. */
unsigned terminal_width(const struct terminal *t, unsigned otherwise);
/* Switch a colour on, and all colours off. */
void terminal_on(FILE *out, const struct terminal *t, enum terminal_colour colour);
void terminal_off(FILE *out, const struct terminal *t);
/* Draws a bar of `length` columns, at most `width`: in eighths of a column with UTF-8, else in whole ones, rounded.
 * track: what is missing to `width` is drawn, too. */
void terminal_bar(FILE *out, const struct terminal *t, double length, unsigned width, enum terminal_colour colour,
	bool track);
/* The same, with a mark in the column in which another length ends; NaN or below 1: none. */
void terminal_bar_marked(FILE *out, const struct terminal *t, double length, double mark, unsigned width,
	enum terminal_colour colour, bool track);
/* A stream into `to` that folds lines at t's width, between words where possible; what continues a line stands below
 * its last column, if the line has columns.  A line that shows a command (": softpmu ") is continued by a backslash, so
 * that it can be copied.  Whole lines are passed on at once, the rest when it is closed; `to` stays open.  NULL: no
 * memory. */
FILE *terminal_fold(FILE *to, const struct terminal *t);
#endif
