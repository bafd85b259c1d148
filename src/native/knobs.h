/* SPDX-License-Identifier: GPL-2.0-or-later
 * What can be set on the machine at hand, for a program.  Nothing is assumed of a kernel, a processor or a C library: a setting of a process is
 * tried in a child, a register is read from its device on every processor, a tunable is looked for in the program's loader (or in the program,
 * if it has none).  What is not there is listed with the reason.
 *
 * Left out: programs whose malloc is not the C library's (their tunables do nothing, which measuring finds); real-time scheduling, with which a program can
 * stop a machine; settings of the kernel as a whole (sysctl), of frequency and idle states.
 */
#ifndef NATIVE_KNOBS_H
#define NATIVE_KNOBS_H
#include "native/setting.h"
#include "native/trial.h"

struct native_choice {			/* a level to try against none */
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

/* root: as in native_machine.h; program: path of the file that is executed. */
int native_knobs(struct native_knobs *k, const char *root, const char *program, struct err *err);
#endif
