/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune: finds the settings of the machine's features that a program runs best with.  This file chooses the part
 * (tune_commands.h). */
#include "cli/tune/tune_commands.h"
#include <string.h>

static const struct cli_command *const parts[] = { &tune_software, &tune_native, &tune_phases, &tune_list, &tune_show,
	&tune_apply, &tune_forget, NULL };

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && parts[i]; i++)
		if (!strcmp(argv[1], parts[i]->name + strlen("tune ")))
			return parts[i]->run(argc - 1, argv + 1);
	return cmd_tune_search(argc, argv);
}

const struct cli_command cmd_tune = {
	.name = "tune", .summary = "which settings of the machine's features a program runs best with", .options =
		tune_search_options,
	.runs = true, .parts = parts, .run = run, .usage = "[options] [--] PROGRAM [arguments]\n[options] --replay "
		"FILE",
	.about = "Looks for the settings of the machine's features (softpmu cores CORE --features) that a program "
		"runs best with. Runs it once, and replays its stream on machines changed in one feature, then in "
		"several. Features that can save next to nothing, judged by what their events cost, are not replayed. "
		"A search that was interrupted goes on where it was when the same one is started again. The choice is "
		"kept as the program's profile: stat, record and run apply it; --no-profile keeps nothing, and "
		"--profile=NAME keeps it under NAME. Of a machine changed by --set nothing is kept.",
};
