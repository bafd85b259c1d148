/* SPDX-License-Identifier: GPL-2.0-or-later
 * What softpmu says of its commands: --help, the lists of options in the man page, and completion in the shell. */
#ifndef CLI_HELP_H
#define CLI_HELP_H
#include "cli/cli.h"

/* What `softpmu COMMAND --help` prints. */
void cli_help_command(FILE *out, const struct cli_command *c);
/* What `softpmu help run-options` prints. */
void cli_help_run_options(FILE *out);
/* softpmu help WORD..., where WORD... is COMMAND [PART] or run-options; or, for those who build softpmu, --mdoc
 * COMMAND [PART], --mdoc run-options, --mdoc (lists the names, and checks the tables) or --completion bash.
 * commands ends with a NULL. Returns the exit status. */
int  cli_help(const struct cli_command *const *commands, int argc, char **argv);
/* Prints one line for a command that there is none of, with the nearest names.  Returns the exit status, 2. */
int  cli_unknown_command(const struct cli_command *const *commands, const char *name);
/* A script for bash that completes softpmu's command line (completions/softpmu). */
void cli_completion_bash(FILE *out, const struct cli_command *const *commands);
#endif
