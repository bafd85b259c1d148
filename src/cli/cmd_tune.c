/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune: which of the machine's features a program wants changed.  Here is the choice of the part; tune.h has the others. */
#include "cli/cli.h"
#include "cli/tune.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
"usage: softpmu tune [options] [--] PROGRAM [arguments]\n"
"       softpmu tune --software [options] [--] PROGRAM [arguments]\n"
"       softpmu tune --native [options] [--] PROGRAM [arguments]\n"
"       softpmu tune list|show|apply|forget [options]\n\n"
"Looks for the settings of the machine's features that a program runs best with.\n\n"
"  --software              the program instead of the machine; first of the options, it has its own\n"
"  --native                the machine that this runs on instead of the model; first of the options, it has its own\n"
"  list, show, apply, forget  settings that were chosen and kept\n";

static const struct part { const char *word; int (*run)(int argc, char **argv); } part[] = {
	{ "list", cmd_tune_store }, { "show", cmd_tune_store }, { "apply", cmd_tune_store }, { "forget", cmd_tune_store },
	{ "--software", cmd_tune_software }, { "--native", cmd_tune_native },
};

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof part / sizeof *part; i++)
		if (!strcmp(argv[1], part[i].word)) {
			if (part[i].run)
				return part[i].run(argc - 1, argv + 1);
			cli_error("tune %s: not in this build", argv[1]);
			return 2;
		}
	if (argc > 1 && argv[1][0] == '-' && strcmp(argv[1], "--")) {
		cli_unknown_option("tune", help, argv[1]);
		return 2;
	}
	cli_error("tune: the search on the model is not in this build");
	return 2;
}

const struct cli_command cmd_tune = {
	.name = "tune", .summary = "which settings of the machine's features a program runs best with", .help = help, .run = run,
};
