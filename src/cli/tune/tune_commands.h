/* SPDX-License-Identifier: GPL-2.0-or-later
 * The parts of softpmu tune.  cmd_tune.c hands a command line to the part that its first word names, and every
 * other one to the search on the model.
 */
#ifndef CLI_TUNE_COMMANDS_H
#define CLI_TUNE_COMMANDS_H
#include "cli/cli.h"

/* argv[0] of each part's `run` is its word. */
extern const struct cli_command cmd_tune;
/* tune_store.c: the settings that are kept. */
extern const struct cli_command tune_list, tune_show, tune_apply, tune_forget;
/* tune_software.c, --software: changes of the program itself. */
extern const struct cli_command tune_software;
/* tune_native.c, --native: settings of the machine that softpmu runs on. */
extern const struct cli_command tune_native;
/* tune_phases.c, --phases: settings of the model for each phase. */
extern const struct cli_command tune_phases;
/* tune_work.c: replays for a search that runs elsewhere. */
extern const struct cli_command tune_work;
/* tune_search.c: settings of the model for the whole run; argv[0] is "tune". */
extern const struct option tune_search_options[];
int cmd_tune_search(int argc, char **argv);
#endif
