/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune: which of the machine's features a program wants changed.  Here are its help and the choice of the part; tune_commands.h has the parts. */
#include "cli/cli.h"
#include "cli/tune/tune_commands.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
"usage: softpmu tune [options] [--] PROGRAM [arguments]\n"
"       softpmu tune [options] --replay FILE\n"
"       softpmu tune --software [options] [--] PROGRAM [arguments]\n"
"       softpmu tune --native [options] [--] PROGRAM [arguments]\n"
"       softpmu tune --phases [options] [--] PROGRAM [arguments]\n"
"       softpmu tune list|show|apply|forget [options]\n\n"
"Looks for the settings of the machine's features (softpmu cores NAME --features) that a program runs best with: runs it once, and\n"
"replays its stream on machines changed in one feature, then in several.  A feature that can save next to nothing, by what its events\n"
"cost, is never run.  A search that was interrupted goes on where it was when the same one is started again.\n\n"
"      --objective WHAT    cycles (default), energy, edp (energy times time), or energy-within:P%: the least energy of what takes at\n"
"                          most P percent more time than the fastest\n"
"      --features LIST     these alone: names or patterns, with commas between them: 'prefetch.*,l1d.size'; default all\n"
"      --threshold P       a change is to save P percent of the objective, or it is not made; default 0.5\n"
"      --no-prune          run every feature, whatever its events cost\n"
"      --exhaustive N      every combination instead, if there are at most N\n"
"      --jobs N            replays at a time; default as many as there are processors\n"
"      --state FILE        what was measured; default a file of its own for each program and core beside the store of profiles\n"
"      --fresh             forget what was measured before\n"
"      --all               print every configuration that was tried\n"
"      --profile=NAME      keep the choice under this name; --no-profile: do not keep it.  Of a machine changed by --set nothing is kept\n"
"  -j, --json              print one JSON object a line, every configuration among them\n"
"  -o, --output FILE       print to FILE; default standard error\n\n"
"Other searches, and what was kept:\n"
"  --software              the program instead of the machine; first of the options, it has its own\n"
"  --native                the machine that this runs on instead of the model; first of the options, it has its own\n"
"  --phases                settings for each phase of the program, switched where it begins; first of the options, it has its own\n"
"  list, show, apply, forget  settings that were chosen and kept\n\n"
CLI_RUN_HELP;

static const struct part { const char *word; int (*run)(int argc, char **argv); } part[] = {
	{ "list", cmd_tune_store }, { "show", cmd_tune_store }, { "apply", cmd_tune_store }, { "forget", cmd_tune_store },
	{ "--software", cmd_tune_software }, { "--native", cmd_tune_native }, { "--phases", cmd_tune_phases },
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
	return cmd_tune_search(argc, argv, help);
}

const struct cli_command cmd_tune = {
	.name = "tune", .summary = "which settings of the machine's features a program runs best with", .help = help, .run = run,
};
