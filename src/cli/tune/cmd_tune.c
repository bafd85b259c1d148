/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune: finds the settings of the machine's features that a program runs best with.  This file chooses the part
 * (tune_commands.h). */
#include "cli/tune/tune_commands.h"
#include <string.h>

static const struct cli_command *const parts[] = { &tune_software, &tune_native, &tune_phases, &tune_list, &tune_show,
	&tune_apply, &tune_forget, &tune_work, NULL };

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && parts[i]; i++)
		if (!strcmp(argv[1], parts[i]->name + strlen("tune ")))
			return parts[i]->run(argc - 1, argv + 1);
	return cmd_tune_search(argc, argv);
}

const struct cli_command cmd_tune = {
	.name = "tune", .summary = "find the settings of the core's features (caches, prefetchers, predictors) with "
		"which a program runs best", .options =
		tune_search_options,
	.runs = true, .parts = parts, .run = run, .usage = "[options] [--] PROGRAM [arguments]\n[options] --replay "
		"FILE",
	.about = "Looks for the settings of the core's features (softpmu cores CORE --features) with which a program "
		"runs best. Runs it once, and replays its stream on cores changed in one feature, then in several. A "
		"feature whose events cost so little that changing it can save next to nothing is not replayed. An "
		"interrupted search goes on where it stopped when the same command is given again. The choice is "
		"kept as the program's profile: stat, record and run apply it; --no-profile keeps nothing, and "
		"--profile=NAME keeps it under NAME. With --set, nothing is kept.",
};
