/* SPDX-License-Identifier: GPL-2.0-or-later
 * The results of sweeps in one SQLite file (docs/reference/sweep.md describes its tables).  One process writes it.
 *
 * What was measured has the key of the program's stream, of the machine and of the model with the way it was timed, so
 * it is found by any plan that asks for the same.
 */
#ifndef SWEEP_STORE_H
#define SWEEP_STORE_H
#include "sweep/sweep_task.h"

struct sweep_store;
/* create: makes the file if there is none. */
int  sweep_store_open(struct sweep_store **out, const char *path, bool create, struct err *err);
void sweep_store_close(struct sweep_store *s);	/* NULL: nothing */

/* What is written between the two is there as a whole or not at all.  rollback: undoes it. */
int  sweep_store_begin(struct sweep_store *s, struct err *err);
int  sweep_store_commit(struct sweep_store *s, struct err *err);
void sweep_store_rollback(struct sweep_store *s);

int  sweep_store_put(struct sweep_store *s, const struct sweep_result *r, struct err *err);
/* The name of a program or machine, for people. */
int  sweep_store_name(struct sweep_store *s, bool machine, const char *key, const char *name, struct err *err);
/* Removes the failures, so that what failed is tried again. */
int  sweep_store_forget_failures(struct sweep_store *s, struct err *err);

/* The digest that a file had when it had this size and time.  1: known; 0: not. */
int  sweep_store_file(struct sweep_store *s, const char *path, int64_t bytes, int64_t ns, char digest[FNV_CHARS],
	struct err *err);
int  sweep_store_file_put(struct sweep_store *s, const char *path, int64_t bytes, int64_t ns, const char *digest,
	struct err *err);
/* The stream that was recorded of a command (a trace's key).  1: file and digest are filled in; 0: none. */
int  sweep_store_capture(struct sweep_store *s, const char *command, char *file, size_t bytes, char digest[FNV_CHARS],
	struct err *err);

/* The model that was first used last, of this mode.  1: model is filled in; 0: there is none. */
int  sweep_store_last_model(struct sweep_store *s, const char *mode, char *model, size_t bytes, struct err *err);

struct sweep_row {
	const char *program, *machine;	/* keys */
	const char *event;		/* NULL: a failure, or what it cost */
	double value, half;
	const char *failed;		/* NULL: none */
	double seconds;
	uint64_t kilobytes;
};
/* Every value of this model and mode; then every failure; then every cost.  A nonzero return of `each` ends it. */
int  sweep_store_read(struct sweep_store *s, const char *model, const char *mode,
	int (*each)(void *context, const struct sweep_row *row), void *context, struct err *err);
#endif
