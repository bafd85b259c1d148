/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tasks of a sweep, and their results, as files.
 *
 * A file of tasks has a line each: fields with tabs between them; in a field, % and two hexadecimal digits stand for a
 * byte that is a control character, a %, or not ASCII.  The first field says what the task is:
 *
 *   point KEY PROGRAM MACHINE MODEL MODE ENERGY EVENTS STREAM CORE [s FIELD LEVEL | f NAME LEVEL]...
 *   trace|points KEY FILE VARIABLES [NAME=VALUE]... WORD...
 *
 * A result is a file of its own, called KEY, with lines of fields that blanks separate, written as above (a blank, too,
 * is %20).  The last line is `end`; a file without it is not taken.
 */
#ifndef SWEEP_TASK_H
#define SWEEP_TASK_H
#include "sweep/plan.h"
#include "util/fnv.h"
#include <stdio.h>

enum { TASK_TEXT = 512, TASK_LINE = 1 << 20, TASK_VALUES = 1024 };

/* How often a worker ended without a result, and how often that was not counted because it was not the task's doing. */
struct sweep_tries { unsigned char used, spared; };
struct sweep_task {
	bool trace;
	char key[FNV_CHARS];
	/* a point: */
	const char *program, *machine, *model, *mode, *events, *stream, *core;
	bool energy;
	const struct plan_setting *setting;
	size_t settings;
	/* for a scheduler, not in files: what points of the program took at most (0: unknown), and which try this is */
	double seconds;
	uint64_t kilobytes;
	unsigned tries;
	struct sweep_tries *tried;
	/* a trace: */
	const char *file;
	bool points;		/* as live points */
	char *const *env, *const *argv;
};
/* The key of a task: of what decides its result, not of where its stream lies. */
void sweep_task_key(struct sweep_task *t);
void sweep_task_write(FILE *to, const struct sweep_task *t);
/* Reads a line, which is changed and must live as long as the task.  keep: owns what else is needed. */
int  sweep_task_read(struct sweep_task *t, char *line, struct plan *keep, struct err *err);

struct sweep_value { char event[128]; double value, half; };	/* NaN: not supported; not known.  half 0: exact */
struct sweep_result {
	bool trace;
	char key[FNV_CHARS], program[FNV_CHARS], machine[FNV_CHARS];
	char model[TASK_TEXT], mode[TASK_TEXT], host[TASK_TEXT];
	char failed[TASK_TEXT];		/* why there are no values; "": there are */
	double seconds;
	uint64_t kilobytes;
	struct sweep_value *value;	/* TASK_VALUES of them */
	size_t values;
	char file[4096], digest[FNV_CHARS];	/* of a trace */
};
/* Writes it as DIR/KEY, whole or not at all: under another name first. */
int  sweep_result_write(const struct sweep_result *r, const char *dir, struct err *err);
/* ERR_INPUT: not a result, or not whole.  On success the caller frees r->value. */
int  sweep_result_read(struct sweep_result *r, const char *path, struct err *err);
#endif
