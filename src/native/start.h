/* SPDX-License-Identifier: GPL-2.0-or-later
 * Starts a program on this machine with settings of its process, and measures the time that it takes.
 *
 * Both sides of a measurement have environments of the same size, because the stack's position depends on that
 * size, and a program's time on the position (Mytkowicz, Diwan, Hauswirth and Sweeney, "Producing Wrong Data
 * Without Doing Anything Obviously Wrong!", ASPLOS 2009).  `layout` chooses the size, so that a set of settings is
 * measured with many sizes.
 *
 * Left out: time of descendants that no process waited for; programs that leave a daemon behind.
 */
#ifndef NATIVE_START_H
#define NATIVE_START_H
#include "native/setting.h"
#include "native/trial.h"
#include <signal.h>
#include <sys/types.h>

struct native_start {
	char *const *argv;		/* argv[0] is looked up in PATH */
	const struct native_set *set;	/* NULL: none; settings of the machine are not applied here */
	const char *tasks;		/* file into which the process writes its id, or NULL (native_machine.h) */
	const char *input;		/* standard input of a measured run; NULL: /dev/null */
	uint64_t layout;		/* for a measured run: selects the environment's size */
	const volatile sig_atomic_t *stop;	/* a signal to pass on to the program when it is set; may be NULL */
};

/* Turns the calling process into the program; returns only with an error. */
int native_exec(const struct native_start *s, struct err *err);
/* Starts the program with our standard files; sets *pid. */
int native_spawn(pid_t *pid, const struct native_start *s, struct err *err);
/* Waits for the program; *status as from waitpid. */
int native_wait(pid_t pid, const struct native_start *s, int *status, struct trial_times *t, struct err *err);
/* Starts the program with its output discarded, and waits.  If the system refuses a setting: ERR_UNSUPPORTED, and
 * err names the setting. */
int native_run(const struct native_start *s, int *status, struct trial_times *t, struct err *err);
/* Tries whether this process could apply the setting to a child: 0, or why not. */
int native_try(const struct native_setting *s, struct err *err);
#endif
