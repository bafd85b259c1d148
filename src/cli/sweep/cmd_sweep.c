/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu sweep: many programs on many machines.  This file has the options. */
#include "cli/sweep/sweep_state.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct cli_command cmd_sweep;

static int set_list(void *target, const struct option *o, const char *value, struct err *err)
{
	struct sweep *s = target;
	(void)o;
	if (value && strcmp(value, "make") && strcmp(value, "lines"))
		return err_set(err, ERR_INPUT, "option --list: '%s' is neither lines nor make", value);
	s->list = value && *value == 'm' ? SWEEP_LIST_MAKE : SWEEP_LIST_LINES;
	return 0;
}

static const struct option options[] = {
	OPT_GROUP("Where it runs"),
	OPT_WHOLE('j', "jobs", "N", struct sweep, jobs, 1, 1024,
		"Run up to N points at once on this machine. A point "
		"uses two processors. Default: half of the machine's processors."),
	OPT_FLAG(0, "slurm", struct sweep, slurm,
		"Run the points as job arrays of Slurm: with sbatch, squeue, scontrol and, where the cluster keeps "
		"accounts, sacct. The sweep's folder and the streams must be on a file system that the nodes share."),
	OPT_LIST(0, "sbatch", "OPTION", struct sweep, sbatch, sbatches,
		"With --slurm, pass OPTION to sbatch, as in "
		"--sbatch=--partition=long. May be repeated.",
		.more = "put them into SBATCH_ variables"),
	OPT_CALL(0, "list", "lines|make", set_list,
		"Run nothing; print the command of each missing point, one a line, for GNU parallel or any other "
		"tool. --list=make: print a makefile, for make -f and -j. Give the command again afterwards: it "
		"gathers the results, and prints what is missing then.",
		.optional = true),
	OPT_FLAG('n', "dry-run", struct sweep, dry, "Run nothing; print how many points are missing."),
	OPT_GROUP("How it runs"),
	OPT_TEXT(0, "dir", "DIR", struct sweep, dir_name, "Keep the results in DIR. Default: PLAN.sweep.",
		.filled = true),
	OPT_WHOLE(0, "tries", "N", struct sweep, tries, 1, 100,
		"Give a point up that has ended N times without a result "
		"(killed, out of memory, out of time). Default: 3."),
	OPT_FLAG(0, "retry", struct sweep, retry, "Run points again that failed."),
	OPT_NUMBER(0, "poll", "SECONDS", struct sweep, poll, 0.1, 3600,
		"With --slurm, ask for the state of the jobs each "
		"SECONDS. Default: 5."),
	OPT_FLAG('q', "quiet", struct sweep, quiet, "Print nothing but errors and warnings."),
	OPT_END
};

static const struct cli_command *const parts[] = { &sweep_report_command, &sweep_work_command, NULL };

static int take_plan(void *target, const char *word, struct err *err)
{
	struct sweep *s = target;
	if (s->plan_path)
		return err_set(err, ERR_INPUT, "sweep takes one plan, not '%.100s', too", word);
	s->plan_path = word;
	return 0;
}

static int run(int argc, char **argv)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct sweep s = { .tries = 3, .poll = 5, .lock = -1 };
	int status = 1;
	for (size_t i = 0; argc > 1 && parts[i]; i++)
		if (!strcmp(argv[1], parts[i]->name + strlen("sweep ")))
			return parts[i]->run(argc - 1, argv + 1);
	const int go = cli_options_and_words(&cmd_sweep, &s, argc, argv, take_plan);
	if (go <= 0)
		return go ? 2 : 0;
	if (!s.plan_path) {
		cli_error("sweep needs a plan: softpmu help sweep");
		return 2;
	}
	if (s.slurm && s.list) {
		cli_error("--slurm runs the points, --list prints them: they exclude each other");
		return 2;
	}
	if (s.sbatches && !s.slurm) {
		cli_error("--sbatch goes with --slurm");
		return 2;
	}
	if (!s.jobs)
		s.jobs = processors < 4 ? 1 : (unsigned)processors / 2;
	if (!sweep_open(&s, true))
		status = sweep_run(&s);
	sweep_close(&s);
	return status;
}

const struct cli_command cmd_sweep = {
	.name = "sweep",
	.options = options,
	.parts = parts,
	.run = run,
	.summary = "count many programs on many machines, here or on a cluster",
	.usage = "[options] PLAN\nreport [options] PLAN",
	.about = "Runs the programs that the file PLAN lists on the machines that it lists, and keeps the counts in "
		 "one SQLite file. A program that is a command is recorded once; all machines replay its stream. What "
		 "is known already is not run again: a sweep that was interrupted goes on when the same command is "
		 "given, and a plan that grows runs what is new. A run that is killed, a node that dies or a full "
		 "disk loses nothing but the points that ran there.",
};
