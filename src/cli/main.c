/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu COMMAND: the table of commands, --help, --version. */
#include "cli/cli.h"
#include "cli/common/cli_help.h"
#include "util/near.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOFTPMU_VERSION "0.1.0"

extern const struct cli_command cmd_stat, cmd_record, cmd_run, cmd_report, cmd_annotate, cmd_export, cmd_mem,
	cmd_topdown, cmd_cost, cmd_tune, cmd_trace, cmd_replay, cmd_list, cmd_block, cmd_cores, cmd_cpuid, cmd_msr,
	cmd_calibrate, cmd_gate, cmd_callgrind, cmd_compare, cmd_sweep, cmd_machine;

static const struct cli_command *const command[] = { &cmd_stat, &cmd_record, &cmd_run, &cmd_report, &cmd_annotate,
	&cmd_export, &cmd_mem, &cmd_topdown, &cmd_cost, &cmd_tune, &cmd_trace, &cmd_replay, &cmd_list, &cmd_block,
	&cmd_cores, &cmd_cpuid, &cmd_msr, &cmd_calibrate, &cmd_gate, &cmd_sweep, &cmd_callgrind,
	&cmd_compare, &cmd_machine, NULL };

static int help(FILE *to)
{
	fputs("softpmu is a performance monitoring unit in software.  It runs a Linux program on a\n"
	      "modelled core and counts, samples and annotates it.  It needs no hardware PMU, and\n"
	      "the same run gives the same figures each time.\n\n"
	      "usage: softpmu COMMAND [options] [--] [PROGRAM [arguments]]\n\n", to);
	for (int i = 0; command[i]; i++)
		options_wrap(to, command[i]->summary, 13, (unsigned)fprintf(to, "  %-10s ", command[i]->name));
	fputs("\n  softpmu COMMAND --help    the command's options\n"
	      "  softpmu help run-options  options of every command that runs a program\n"
	      "  softpmu --version\n\n"
	      "perf's commands script, diff, c2c report, evlist and buildid-list read the same files:\n"
	      "softpmu script runs perf script, where perf is installed.\n\n"
	      "first steps:\n"
	      "  softpmu stat -- ls -l\n"
	      "  softpmu record -g -- gzip -k FILE && softpmu report --stdio\n", to);
	return 0;
}

static const struct cli_command *find(const char *name)
{
	for (int i = 0; command[i]; i++)
		if (strcmp(name, command[i]->name) == 0)
			return command[i];
	return NULL;
}

const char *cli_version(void)
{
	return SOFTPMU_VERSION;
}

/* A command that softpmu does not have.  Those of perf that read perf.data are handed over to perf. */
static int perfs_command(int argc, char **argv)
{
	static const char *const reads[] = { "script", "diff", "evlist", "buildid-list", "c2c" };
	const char *const word = argv[0];
	const bool c2c = !strcmp(word, "c2c");
	if (c2c && argc > 1 && !strncmp(argv[1], "rec", 3)) {
		cli_error("c2c record: softpmu mem record samples loads and stores; softpmu c2c report prints them");
		return 2;
	}
	if (!strcmp(word, "top")) {
		cli_error("top is about programs that run already; softpmu record and softpmu report are about one "
			"that softpmu starts");
		return 2;
	}
	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
		if (!strcmp(word, reads[i]))
			return cli_hand_over(word, word, argc, argv);
	return cli_unknown_command(command, word);
}

static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		cli_error("standard output: write error");
		return status ? status : 1;
	}
	return status;
}

/* If softpmu was started without one of the standard files, the first file that it opens must not take that file's
 * number.  A file that can be neither read nor written takes it instead: printing to it is still an error, and the
 * program that softpmu runs finds it closed. */
static void fill_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) != fd)
			_exit(126);	/* there is no standard error to print to */
}

int main(int argc, char **argv)
{
	fill_standard_files();
	if (argc < 2) {
		help(stderr);
		return 2;
	}
	const char *word = argv[1];
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (strcmp(word, "help") == 0 && argc == 2))
		return finish(help(stdout));
	if (strcmp(word, "help") == 0)
		return finish(cli_help(command, argc - 2, argv + 2));
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
		cli_error("unknown option %s; a command's options go behind its name: softpmu stat %s ...", word, word);
		return 2;
	}
	const struct cli_command *c = find(word);
	if (!c)
		return perfs_command(argc - 1, argv + 1);
	if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
		cli_help_command(stdout, c);
		return finish(0);
	}
	return finish(c->run(argc - 1, argv + 1));
}
