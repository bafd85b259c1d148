/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune --software: says what to change in a program, and where; with --build finds how to build it, which
 * needs no change of its source. */
#include "cli/cli.h"
#include "cli/common/cli_sample.h"
#include "cli/tune/tune_commands.h"
#include "cli/advice/tune_advice.h"
#include "cli/advice/tune_rebuild.h"
#include "native/trial.h"
#include "native/signed_rank.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct software {
	struct cli_run run;
	const char *output;
	double least;		/* percent */
	size_t rows;
	bool json, itself;
	struct cli_sample sample;
	struct rebuild_options rebuild;
};

static int set_build(void *target, const struct option *option, const char *value, struct err *err)
{
	((struct software *)target)->rebuild.build = value;
	if (strstr(value, "{flags}") && strstr(value, "{out}"))
		return 0;
	return err_set(err, ERR_INPUT, "option --%s: the command '%s' needs {flags} and {out}", option->name, value);
}

static int set_sample(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option;
	return cli_sample_parse(&((struct software *)target)->sample, value, err);
}

static int set_detail(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)value, (void)err;
	((struct software *)target)->sample.in_full = true;
	return 0;
}

static const struct option options[] = {
	OPT_FLAG(0, "software", struct software, itself, "Look at the program instead of the machine. It must be the "
		"first option."),
	OPT_GROUP("Advice"),
	OPT_NUMBER(0, "least", "PERCENT", struct software, least, 0, 100, "Give no advice on less than PERCENT of the "
		"cycles. Default: 1."),
	OPT_WHOLE(0, "rows", "N", struct software, rows, 0, 1e9, "Print the N largest; 0: all. Default: 20."),
	OPT_FLAG('j', "json", struct software, json, "Print a JSON object for each piece of advice, one a line."),
	OPT_TEXT('o', "output", "FILE", struct software, output, "Print to FILE instead of standard error."),
	OPT_GROUP("Speed"),
	OPT_CALL(0, "sample", "auto|N,U,W", set_sample, "Run faster: time only short windows of each run, and estimate "
		"the gains from them. Evidence comes from longer windows, which lie further apart. All machines have "
		"the same windows, so that only the change differs. The program is first executed without a model, "
		"to record it. " CLI_SAMPLE_HOW, .optional = true),
	OPT_CALL(0, "detail", NULL, set_detail, CLI_SAMPLE_LONG_HOW),
	OPT_GROUP("Builds"),
	OPT_CALL(0, "build", "COMMAND", set_build, "Build PROGRAM by this shell command, with {flags} and {out} in "
		"it, as in 'gcc {flags} -o {out} prog.c'."),
	OPT_LIST(0, "flags", "FLAGS", struct software, rebuild.flags, rebuild.sets, "Try this set of flags. May be "
		"repeated; the others are compared with the first. Default: -O2, -O3, -O2 -funroll-loops, -O3 "
		"-march=x86-64-v3, -Os."),
	OPT_FLAG(0, "autofdo", struct software, rebuild.autofdo, "Build the best of them again with the profile of "
		"its branch stacks (clang, create_llvm_prof)."),
	OPT_FLAG(0, "bolt", struct software, rebuild.bolt, "Let BOLT rewrite the best of them with the profile of "
		"its branch stacks (perf2bolt, llvm-bolt)."),
	OPT_TEXT(0, "dir", "DIR", struct software, rebuild.dir, "Put the builds into DIR. Default: softpmu-builds."),
	OPT_TEXT(0, "time", "ARGUMENTS", struct software, rebuild.time, "Use these arguments in runs on this "
		"machine, if the program with its own arguments ends too soon to be timed."),
	OPT_WHOLE(0, "blocks", "N", struct software, rebuild.blocks, TRIAL_LEAST_BLOCKS, SIGNED_RANK_MOST, "Make N "
		"blocks of four runs each on this machine, 10 to 64. Default: 20."),
	OPT_FLAG(0, "no-native", struct software, rebuild.no_native, "Run nothing on this machine."),
	OPT_END
};

/* 1: goes on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct software *s, int argc, char **argv, int *next)
{
	const struct rebuild_options *r = &s->rebuild;
	const int go = cli_options(&tune_software, s, &s->run, argc, argv, next);
	if (go <= 0)
		return go;
	if (!r->build && (r->sets || r->bolt || r->autofdo || r->time || r->no_native)) {
		cli_error("tune --software: --flags, --autofdo, --bolt, --time and --no-native belong to --build");
		return -1;
	}
	if (r->build && (s->run.run.replay || s->run.run.save)) {
		cli_error("tune --software: --build runs programs of its own, and neither saves nor replays a stream");
		return -1;
	}
	if (r->build && (s->sample.on || s->sample.in_full)) {
		cli_error("tune --software: --sample and --detail are about advice: not with --build");
		return -1;
	}
	s->rows = s->rows ? s->rows : SIZE_MAX;
	s->rebuild.json = s->json;
	return 1;
}

static int advise(struct software *s, FILE *to)
{
	struct tune_advice *advice = NULL;
	struct err err = { 0 };
	char *file = NULL;
	int status = 0, rc = -1;
	if (!s->run.run.replay && !s->run.run.save && !(file = cli_keep_stream(&s->run, "tune", "")))
		return 1;
	if (tune_advice_create(&advice, &err))
		cli_error("%s", err.text);
	else if (!(rc = tune_advice_run(advice, &s->run, &s->sample, s->least / 100, &status)))
		tune_advice_print(advice, to, s->rows, s->json);
	tune_advice_destroy(advice);
	cli_forget_stream(&s->run, file);
	return status ? status : rc != 0;
}

static int run(int argc, char **argv)
{
	struct software *s = calloc(1, sizeof *s);
	int next = 0, status = 2;
	FILE *to = stderr;
	if (!s) {
		cli_error("out of memory");
		return 1;
	}
	s->least = 1;
	s->rows = 20;
	s->rebuild.blocks = TRIAL_BLOCKS;
	s->rebuild.dir = "softpmu-builds";
	cli_run_init(&s->run);
	int go = parse(s, argc, argv, &next);
	if (go > 0 && !cli_run_finish(&s->run, argc, argv, next) && !cli_sample_check(&s->sample, &s->run)) {
		status = 1;
		if (s->output && !(to = fopen(s->output, "we")))
			cli_error("cannot write %s: %s", s->output, strerror(errno));
		else
			status = s->rebuild.build ? rebuild(&s->run, &s->rebuild, to) : advise(s, to);
		if (s->output && to) {
			bool bad = ferror(to);
			if (fclose(to) || bad) {
				cli_error("cannot write %s: %s", s->output, strerror(errno));
				status = status ? status : 1;
			}
		}
	}
	free(s);
	return go ? status : 0;
}

const struct cli_command tune_software = {
	.name = "tune --software", .summary = "find what to change in the program, and where", .options = options,
		.runs = true, .run = run,
	.usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE",
	.about = "Runs PROGRAM on the modelled core and says which changes of its code would help: where, on what "
		"evidence, and how many cycles of the whole program it would save. The estimate comes from a replay "
		"of the same trace on a machine without the problem (a perfect predictor, for example). With "
		"--build, builds the program in several ways instead, chooses by modelled cycles, and times on this "
		"machine what the model finds faster.",
};
