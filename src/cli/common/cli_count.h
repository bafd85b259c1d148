/* SPDX-License-Identifier: GPL-2.0-or-later
 * Shared by the commands that count: numbers and fields of their options, where they print, and the connection
 * from a run to their session. */
#ifndef CLI_COUNT_H
#define CLI_COUNT_H
#include "cli/cli.h"
#include "session/session.h"
#include <stdio.h>

/* These print one line and return false if the text is not valid. */
bool cli_whole(const char *option, const char *text, unsigned min, unsigned max, const char *what, unsigned *out);
bool cli_milliseconds(const char *option, const char *text, double *out);	/* modelled; "10" or "10ms" */
bool cli_separator(const char *text, const char **out);	/* for -x */
/* Modelled milliseconds in cycles of the core; at least 1. */
uint64_t cli_cycles(const struct core_config *core, double milliseconds);

/* stderr, a file, or a descriptor of the caller's (fd; -1: none). */
struct cli_output { const char *path; bool append; int fd; FILE *out; };
bool cli_output_open(struct cli_output *o);
bool cli_output_close(struct cli_output *o);	/* true, too, if it was never opened */

/* Prints "ls -l", or for a stream `replay` and its file. */
void cli_print_program(FILE *out, const struct cli_run *r, const char *replay);
/* Copies a program's name, which may contain anything, as one line and as one field of -x (separator; NULL: no
 * fields). */
void cli_plain_name(char *out, size_t bytes, const char *name, const char *separator);

/* --region NAME: the program marked no region of this name, so nothing was `done` (counted, sampled).  Says which
 * regions it marked. */
void cli_no_region(const struct session *session, const char *region, const char *done);
/* Prints one line for each counter that was set up by registers for something that cannot be counted. */
void cli_warn_unmodelled(const struct session *session, const struct spmu_model *m);
/* A sink that only passes the run on to *session. */
struct run_sink cli_session_sink(struct session **session);
/* The run is of a whole machine (core_config.both_rings): passes its side records on as well. */
void cli_session_machine(struct run_sink *sink);
#endif
