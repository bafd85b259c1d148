/* SPDX-License-Identifier: GPL-2.0-or-later
 * The list of benchmarks that `softpmu gate -f FILE` reads.  A line has a keyword and words, as in a shell: '' and ""
 * quote, a backslash takes the next character as it is, # begins a comment.  Nothing else has a meaning: no shell runs.
 *
 *   bench NAME PROGRAM [ARGUMENTS]	the whole program is a benchmark
 *   regions NAME PROGRAM [ARGUMENTS]	each region that it marks is one, NAME/REGION
 *   events EVENT,...			count these
 *   limit [BENCHMARK:]EVENT=LIMIT	see gate_check.h
 *   env NAME[=VALUE]			in the environment of all benchmarks
 */
#ifndef GATE_LIST_H
#define GATE_LIST_H
#include "cli/gate/gate_run.h"
#include "util/err.h"

enum { GATE_LIST_WORDS = 256, GATE_LIST_LINE = 65536 };

struct gate_list {
	struct gate_work *work;
	size_t works, work_room;
	const char **events, **limits, **env;	/* the words */
	size_t event_lists, event_room, limit_count, limit_room, env_count, env_room;
	/* private */
	char ***line;		/* the words of each line */
	size_t lines, line_room;
};

/* ERR_INPUT: the text names the line.  On failure the list is to be freed as well. */
int  gate_list_read(struct gate_list *l, const char *path, struct err *err);
/* Adds what one line says; text is changed. */
int  gate_list_line(struct gate_list *l, char *text, struct err *err);
void gate_list_free(struct gate_list *l);
#endif
