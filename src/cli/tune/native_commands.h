/* SPDX-License-Identifier: GPL-2.0-or-later
 * Shared by softpmu tune --native and run --native. */
#ifndef CLI_NATIVE_COMMANDS_H
#define CLI_NATIVE_COMMANDS_H
#include "cli/cli.h"
#include "native/native_machine.h"
#include "native/start.h"
#include <signal.h>
#include <stdbool.h>

#define NATIVE_CORE "native"	/* the profile store's core name for the machine on which softpmu runs */

/* The directory under which /dev/cpu, /sys, /proc and /run are: "", or $SOFTPMU_NATIVE_ROOT. */
const char *native_root(void);
/* Restores what a softpmu that was killed has left changed, and reports it. 0, or -1 after one printed line. */
int native_tidy(void);
/* From now on SIGINT, SIGTERM and SIGHUP are only noted instead of ending softpmu. */
/* taken: the last signal; sent: the last one that somebody sent (those of the terminal reach the program, too) */
struct native_signals { volatile sig_atomic_t taken, sent; };
const struct native_signals *native_signals(void);

extern const struct cli_command cli_run_native;
/* softpmu run --native; argv[0] is "--native". Returns the exit status. */
int cmd_run_native(int argc, char **argv);
#endif
