/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu COMMAND: the table of commands, --help, --version. */
#include "cli/cli.h"
#include <stdio.h>
#include <string.h>

#define SOFTPMU_VERSION "0.1.0"

extern const struct cli_command cmd_stat, cmd_record, cmd_report, cmd_annotate, cmd_list, cmd_cores, cmd_cpuid;

static const struct cli_command *const command[] = {
	&cmd_stat, &cmd_record, &cmd_report, &cmd_annotate, &cmd_list, &cmd_cores, &cmd_cpuid,
};
enum { COMMANDS = sizeof command / sizeof *command };

static int help(FILE *to)
{
	fputs("softpmu: a performance monitoring unit in software.  Runs a Linux program on a modelled core and counts,\n"
	      "samples and annotates it, the same figures at every run, without a hardware PMU.\n\n"
	      "usage: softpmu COMMAND [options] [--] [PROGRAM [arguments]]\n\n", to);
	for (int i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-10s %s\n", command[i]->name, command[i]->summary);
	fputs("\n  softpmu COMMAND --help    its options\n"
	      "  softpmu --version\n\n"
	      "first steps:\n"
	      "  softpmu stat -- ls -l\n"
	      "  softpmu record -g -- gzip -k FILE && softpmu report --stdio\n", to);
	return 0;
}

static int edit_distance(const char *a, const char *b)
{
	int row[32], n = (int)strlen(b);
	if (n > 31 || strlen(a) > 31)
		return 99;
	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int diagonal = row[0];
		row[0] = i;
		for (int j = 1; j <= n; j++) {
			int up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
			best = up + 1 < best ? up + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			diagonal = up;
			row[j] = best;
		}
	}
	return row[n];
}

static const struct cli_command *find(const char *name)
{
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(name, command[i]->name) == 0)
			return command[i];
	return NULL;
}

static int unknown(const char *name)
{
	const char *near = NULL;
	int best = 4;	/* further away is no likeness */
	for (int i = 0; i < COMMANDS; i++) {
		int d = edit_distance(name, command[i]->name);
		if (d < best) {
			best = d;
			near = command[i]->name;
		}
	}
	if (near)
		cli_error("unknown command '%s'; did you mean '%s'? (softpmu --help)", name, near);
	else
		cli_error("unknown command '%s' (softpmu --help)", name);
	return 2;
}

static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		cli_error("standard output: write error");
		return status ? status : 1;
	}
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return 2;
	}
	const char *word = argv[1];
	bool asks = strcmp(word, "help") == 0;
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (asks && argc == 2))
		return finish(help(stdout));
	if (strcmp(word, "--version") == 0 || strcmp(word, "-v") == 0) {
		puts("softpmu " SOFTPMU_VERSION);
		return finish(0);
	}
	if (word[0] == '-') {
		cli_error("options of a run stand behind the command: softpmu stat %s ... (softpmu --help)", word);
		return 2;
	}
	const struct cli_command *c = find(asks ? argv[2] : word);
	if (!c)
		return unknown(asks ? argv[2] : word);
	if (asks || (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))) {
		fputs(c->help, stdout);
		return finish(0);
	}
	return finish(c->run(argc - 1, argv + 1));
}
