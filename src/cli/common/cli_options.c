/* SPDX-License-Identifier: GPL-2.0-or-later
 * The options of a run, and how commands read theirs (cli.h). */
#include "cli/cli.h"
#include "cli/common/cli_help.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_profile(void *target, const struct option *o, const char *value, struct err *err)
{
	struct cli_run *r = target;
	(void)o, (void)err;
	r->profile = CLI_PROFILE_ASKED;
	r->profile_name = value;
	return 0;
}

static int refuse_profile(void *target, const struct option *o, const char *value, struct err *err)
{
	struct cli_run *r = target;
	(void)o, (void)value, (void)err;
	r->profile = CLI_PROFILE_REFUSED;
	return 0;
}

/* --feature and --wrmsr keep their order. */
static int add_feature(void *target, const struct option *o, const char *value, struct err *err)
{
	struct cli_run *r = target;
	if (r->features == sizeof r->feature / sizeof *r->feature)
		return err_set(err, ERR_INPUT, "more than %u --feature and --wrmsr options", r->features);
	r->feature[r->features].wrmsr = !strcmp(o->name, "wrmsr");
	r->feature[r->features++].text = value;
	return 0;
}

const struct option cli_run_options[] = {
	OPT_GROUP("The machine"),
	CLI_OPTION_CORE(struct cli_run, ),
	CLI_OPTION_PMU(struct cli_run, ),
	CLI_OPTION_SET(struct cli_run, ),
	OPT_CALL(0, "feature", "FEATURE=LEVEL,...", add_feature, "Change features of the core by their registers, as "
		"in --feature l1d.size=1/2,prefetch.l2_streamer=off. softpmu cores CORE --features lists them. May be "
		"repeated."),
	OPT_CALL(0, "wrmsr", "REGISTER=VALUE[@FUNCTION]", add_feature, "Write a register of the core, as in --wrmsr "
		"MISC_FEATURE_CONTROL=0xf: before the program's first instruction or, with @FUNCTION, each time that "
		"the program enters FUNCTION. May be repeated."),
	OPT_CALL(0, "profile", "NAME", set_profile, "Apply the settings that softpmu tune kept for this program and "
		"core: the active ones, or those kept under NAME. stat, record and run apply the active ones without "
		"being asked, and say so.", .optional = true),
	OPT_CALL(0, "no-profile", NULL, refuse_profile, "Do not apply settings that softpmu tune kept."),
	OPT_FLAG(0, "no-wrong-path", struct cli_run, no_wrong_path, "Do not execute the wrong path behind "
		"mispredicted branches. The model runs faster, and a saved stream is smaller: it needs no values of "
		"registers."),
	OPT_FLAG(0, "assists", struct cli_run, run.assists, "Find floating-point operations on denormal numbers, and "
		"time the microcode assists that they need. The run is slower. An event that counts assists does the "
		"same without this option."),
	OPT_GROUP("Processes and threads"),
	CLI_OPTIONS_FOLLOW(struct cli_run, , "Count and sample"),
	OPT_TEXT(0, "cpus", "N", struct cli_run, cpus, "Give each process N processors, 1 to 512, which its threads "
		"share. Without this option every thread has a core of its own.", .filled = true),
	OPT_TEXT(0, "quantum", "CYCLES|TIME", struct cli_run, quantum, "With --cpus, take the processor from a "
		"thread after this long if another thread waits for it: a number of cycles, or a time such as 500us. "
		"Default: 3ms.", .filled = true),
	OPT_FLAG(0, "smt", struct cli_run, run.smt, "Put as many threads on each core as it has hardware threads (the "
		"field smt.threads)."),
	OPT_GROUP("The part of the program that is timed"),
	OPT_TEXT(0, "start", "FUNCTION|COUNT", struct cli_run, run.start, "Start timing where FUNCTION is first "
		"entered, or after COUNT instructions (suffixes K, M, G). Before that, instructions warm the caches "
		"and predictors, but nothing is counted.", .filled = true),
	OPT_TEXT(0, "stop", "FUNCTION|COUNT", struct cli_run, run.stop, "Stop timing where FUNCTION is entered, or "
		"after COUNT timed instructions.", .filled = true),
	OPT_GROUP("The stream of instructions"),
	OPT_TEXT(0, "save-stream", "FILE", struct cli_run, run.save, "Save the stream of this run to FILE, for "
		"--replay.", .filled = true),
	OPT_TEXT(0, "replay", "FILE", struct cli_run, run.replay, "Take the stream from FILE; no program is run.",
		.filled = true),
	OPT_TEXT(0, "kallsyms", "FILE", struct cli_run, run.kallsyms, "With --replay of a whole machine's stream, name "
		"the kernel's functions by FILE, a copy of its /proc/kallsyms. Default: the file that softpmu machine "
		"was given.", .filled = true),
	OPT_REFUSED('p', "pid", "the tracer cannot attach to a process that runs already", "start the program under "
		"softpmu"),
	OPT_END
};

int cli_hand_over(const char *command, const char *option, int argc, char **argv)
{
	const char **words = calloc((size_t)argc + 8, sizeof *words);
	size_t n = 0;
	if (!words) {
		cli_error("out of memory");
		return 1;
	}
	words[n++] = "perf";
	words[n++] = command;
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	fflush(stdout);
	execvp("perf", (char *const *)(void *)words);
	cli_error("%s is perf's: cannot run perf %s: %s", option, command, strerror(errno));
	free(words);
	return 1;
}

int cli_parse(const struct cli_command *c, struct option_parser *p, int argc, char **argv, int *next)
{
	struct err err = { 0 };
	p->command = c->name;
	const int rc = options_parse(p, argc, argv, next, &err);
	if (!rc)
		cli_help_command(stdout, c);
	if (rc >= 0)
		return rc;
	if (*err.text)
		cli_error("%s", err.text);
	return -1;
}

int cli_options(const struct cli_command *c, void *target, struct cli_run *r, int argc, char **argv, int *next)
{
	const struct option_set set[] = { { c->options, target }, { r ? cli_run_options : NULL, r }, { NULL, NULL } };
	return cli_parse(c, &(struct option_parser){ .set = set }, argc, argv, next);
}

int cli_options_and_words(const struct cli_command *c, void *target, int argc, char **argv,
	int (*word)(void *target, const char *word, struct err *err))
{
	const struct option_set set[] = { { c->options, target }, { NULL, NULL } };
	int next;
	return cli_parse(c, &(struct option_parser){ .set = set, .word = word, .context = target }, argc, argv, &next);
}
