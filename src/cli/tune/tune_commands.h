/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune's parts: cmd_tune.c hands to each what begins with its word, all else to the search on the model.
 * A part that is not in this build is refused by name. */
#ifndef CLI_TUNE_COMMANDS_H
#define CLI_TUNE_COMMANDS_H

/* argv[0] is the word: list, show, apply, forget; --software; --native; --phases.  Each returns the exit status. */
int cmd_tune_store(int argc, char **argv) __attribute__((weak));	/* tune_store.c: the profile store */
int cmd_tune_software(int argc, char **argv) __attribute__((weak));	/* tune_software.c: the program itself */
int cmd_tune_native(int argc, char **argv) __attribute__((weak));	/* tune_native.c: the machine that this runs on */
int cmd_tune_phases(int argc, char **argv);				/* tune_phases.c: the model, phase by phase */
int cmd_tune_search(int argc, char **argv, const char *help);		/* tune_search.c: the model; argv[0]: "tune" */
#endif
