/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program started on this machine with settings of its process, and the time that it took.
 *
 * Who measures gives both sides environments of one size: where the stack begins depends on it, and a program's time on that (Mytkowicz, Diwan,
 * Hauswirth and Sweeney, "Producing Wrong Data Without Doing Anything Obviously Wrong!", ASPLOS 2009).  `layout` chooses the size, so that a set
 * is measured over many.
 *
 * Left out: time of descendants that nobody waited for; programs that leave a daemon behind.
 */
#ifndef NATIVE_START_H
#define NATIVE_START_H
#include "native/setting.h"
#include "native/trial.h"
#include <signal.h>
#include <sys/types.h>

struct native_start {
	char *const *argv;		/* argv[0] is looked for in PATH */
	const struct native_set *set;	/* NULL: none; settings of the machine are not carried out here */
	const char *tasks;		/* file that the process writes its id into, or NULL (native_machine.h) */
	const char *input;		/* standard input of a measured run; NULL: /dev/null */
	uint64_t layout;		/* of a measured run */
	const volatile sig_atomic_t *stop;	/* a signal to pass on to the program, as it comes; may be NULL */
};

/* The calling process becomes the program; returns only with an error. */
int native_exec(const struct native_start *s, struct err *err);
/* Starts it with our standard files; *pid. */
int native_spawn(pid_t *pid, const struct native_start *s, struct err *err);
/* Waits for it; *status as of waitpid. */
int native_wait(pid_t pid, const struct native_start *s, int *status, struct trial_times *t, struct err *err);
/* Starts it, its output thrown away, and waits.  A setting that the system refuses: ERR_UNSUPPORTED, and err names it. */
int native_run(const struct native_start *s, int *status, struct trial_times *t, struct err *err);
/* Whether this process could set it for a child: 0, or why not. */
int native_try(const struct native_setting *s, struct err *err);
#endif
