/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the commands that count share: numbers and fields of their options, where they print, and what a run passes on to their session. */
#ifndef CLI_COUNT_H
#define CLI_COUNT_H
#include "cli/cli.h"
#include "session/session.h"
#include <stdio.h>

/* Each prints one line and returns false where the text is no good. */
bool cli_number(const char *text, double min, double max, double *out);	/* (this one prints nothing) */
bool cli_whole(const char *option, const char *text, unsigned min, unsigned max, const char *what, unsigned *out);
bool cli_milliseconds(const char *option, const char *text, double *out);	/* modelled; "10" or "10ms" */
bool cli_separator(const char *text, const char **out);	/* of -x */
/* Modelled milliseconds in cycles of the core, at least 1. */
uint64_t cli_cycles(const struct core_config *core, double milliseconds);

/* stderr, a file or a descriptor of the caller's. */
struct cli_output { const char *path; bool append; int fd; /* -1: none */ FILE *out; };
bool cli_output_open(struct cli_output *o);
bool cli_output_close(struct cli_output *o);	/* true, too, if it was never opened */

/* "ls -l", or "FILE" with `replay` before it for a stream. */
void cli_print_program(FILE *out, const struct cli_run *r, const char *replay);
/* A program's names may hold anything: one line, and one field of -x (separator; NULL: no fields), whatever it is. */
void cli_plain_name(char *out, size_t bytes, const char *name, const char *separator);

/* Passes a run on to *session and nothing else. */
struct run_sink cli_session_sink(struct session **session);
#endif
