/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune --native and run --native: what they share. */
#ifndef CLI_NATIVE_COMMANDS_H
#define CLI_NATIVE_COMMANDS_H
#include "cli/cli.h"
#include "native/native_machine.h"
#include "native/start.h"
#include <signal.h>
#include <stdbool.h>

#define NATIVE_CORE "native"	/* the profile store's word for the machine that softpmu runs on */

/* Where /dev/cpu, /sys, /proc and /run are: "", or $SOFTPMU_NATIVE_ROOT. */
const char *native_root(void);
/* Puts back what a softpmu that was killed has left, and says so.  0, or -1 after one printed line. */
int native_tidy(void);
/* Takes note of SIGINT, SIGTERM and SIGHUP from now on instead of dying of them. */
struct native_signals { volatile sig_atomic_t taken, sent; };	/* the last one; the last that somebody sent: those of the terminal reach the program too */
const struct native_signals *native_signals(void);

extern const struct cli_command cli_run_native;
/* softpmu run --native, argv[0] "--native".  Returns the exit status. */
int cmd_run_native(int argc, char **argv);
#endif
