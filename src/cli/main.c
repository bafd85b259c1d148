/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu COMMAND: the table of commands, --help, --version. */
#include "cli/cli.h"
#include "util/near.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOFTPMU_VERSION "0.1.0"

extern const struct cli_command cmd_stat, cmd_record, cmd_report, cmd_annotate, cmd_export, cmd_mem, cmd_topdown, cmd_cost, cmd_tune, cmd_trace, cmd_replay, cmd_list, cmd_block, cmd_cores,
	cmd_cpuid, cmd_msr, cmd_calibrate, cmd_run;

static const struct cli_command *const command[] = {
	&cmd_stat, &cmd_record, &cmd_run, &cmd_report, &cmd_annotate, &cmd_export, &cmd_mem, &cmd_topdown, &cmd_cost, &cmd_tune, &cmd_trace, &cmd_replay, &cmd_list, &cmd_block, &cmd_cores, &cmd_cpuid, &cmd_msr,
	&cmd_calibrate,
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

static const struct cli_command *find(const char *name)
{
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(name, command[i]->name) == 0)
			return command[i];
	return NULL;
}

static int unknown(const char *name)
{
	struct near near;
	char text[256];
	near_start(&near, name);
	for (int i = 0; i < COMMANDS; i++)
		near_offer(&near, command[i]->name, strlen(command[i]->name));
	near_offer(&near, "help", 4);
	near_text(&near, "; nearest: ", text, sizeof text);
	cli_error("unknown command '%s'%s (softpmu --help)", name, text);
	return 2;
}

const char *cli_version(void)
{
	return SOFTPMU_VERSION;
}

static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		cli_error("standard output: write error");
		return status ? status : 1;
	}
	return status;
}

/* A standard file that we were started without must not become the first file we open.  It stays a file that can be
 * neither read nor written, so that what is printed to it is still an error, and the program that is run finds it closed. */
static void fill_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) != fd)
			_exit(126);	/* without /dev and a standard error there is nobody to tell */
}

int main(int argc, char **argv)
{
	fill_standard_files();
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
		struct near near;
		char text[64];
		near_start(&near, word);
		near_offer(&near, "--help", 6);
		near_offer(&near, "--version", 9);
		if (near_text(&near, "", text, sizeof text)) {
			cli_error("unknown option %s; nearest: %s", word, text);
			return 2;
		}
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
