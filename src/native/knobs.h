/* SPDX-License-Identifier: GPL-2.0-or-later
 * Finds what can be set on this machine for a program.  It assumes nothing about the kernel, the processor or the
 * C library: a setting of a process is tried in a child, a register is read from its device on every processor,
 * and a tunable is looked for in the program's loader (or in the program, if it has none).  What is missing is
 * listed with the reason.
 *
 * Left out: programs whose malloc is not the C library's (tunables have no effect on them, which measuring shows);
 * real-time scheduling, with which a program can stop a machine; settings of the kernel as a whole (sysctl), of
 * frequency and of idle states.
 */
#ifndef NATIVE_KNOBS_H
#define NATIVE_KNOBS_H
#include "native/setting.h"
#include "native/trial.h"

struct native_choice {			/* a setting to compare with none */
	struct native_set set;
	char what[96];
};
struct native_absent { char knob[2 * NATIVE_WORD], why[200]; };
enum { NATIVE_ABSENT = 48 };
struct native_knobs {
	char processor[96];		/* "AuthenticAMD family 25 model 17" */
	struct native_choice choice[TRIAL_ARMS];
	unsigned choices;
	struct native_absent absent[NATIVE_ABSENT];
	unsigned absents;
};

/* root: as in native_machine.h.  program: path of the file that is executed. */
int native_knobs(struct native_knobs *k, const char *root, const char *program, struct err *err);
#endif
