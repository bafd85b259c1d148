/* SPDX-License-Identifier: GPL-2.0-or-later
 * Completion for bash (cli_help.h). */
#include "cli/common/cli_help.h"

void cli_completion_bash(FILE *out, const struct cli_command *const *commands)
{
	(void)out, (void)commands;
}
