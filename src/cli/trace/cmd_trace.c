/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu trace records a program's stream without modelling it, an excerpt of its pipeline or what it did over time;
 * softpmu replay counts on a recorded stream. */
#include "cli/cli.h"
#include "cli/common/cli_sample.h"
#include "cli/trace/trace_pipeline.h"
#include "cli/trace/trace_timeline.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const struct cli_command cmd_trace, cmd_stat;

struct tracing {
	struct cli_run run;
	const char *output, *pipeline, *timeline, *points;
	struct cli_sample sample;	/* of --live-points */
	const char *modelled;	/* the first option that is about the model; NULL: none */
	enum trace_format format;
	bool no_regs, quiet;
};

static int take_sample(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o;
	return cli_sample_parse(&((struct tracing *)target)->sample, value, err);
}

static const struct option trace_options[] = {
	OPT_TEXT('o', "output", "FILE", struct tracing, output, "Write the trace to FILE. Default: softpmu.trace.",
		.filled = true),
	OPT_FLAG(0, "no-regs", struct tracing, no_regs, "Leave out what is written to registers. The trace is much "
		"smaller; its replays run without the wrong path, and precise samples lack registers."),
	OPT_FLAG(0, "assists", struct tracing, run.run.assists, "Also record which floating-point operations meet "
		"denormal numbers, for the events of microcode assists."),
	CLI_OPTIONS_FOLLOW(struct tracing, run., "Record"),
	OPT_FLAG('q', "quiet", struct tracing, quiet, "Do not say how much was recorded."),
	OPT_GROUP("Live points"),
	OPT_TEXT(0, "live-points", "FILE", struct tracing, points, "Instead of the whole trace, write to FILE the "
		"windows of a sampled run, and what the instructions between them leave in caches, TLBs and branch "
		"predictors of any machine. Commands with --sample replay such a file in seconds.", .filled = true),
	OPT_CALL(0, "sample", "auto|N,U,W", take_sample, "Of --live-points: in each stretch of N instructions, keep "
		"W instructions that fill the pipeline and U that are measured. auto, the default: 40K,4000,4000, and "
		"longer stretches the longer the program runs.", .optional = true),
	OPT_GROUP("The pipeline"),
	OPT_TEXT(0, "pipeline", "FILE", struct tracing, pipeline, "Run the model, and write to FILE when each uop was "
		"fetched, allocated, issued, complete and retired, with the uops of wrong paths, for a viewer of "
		"pipelines; - is standard output. --start and --stop choose the part; without --stop it has 100000 "
		"instructions. A trace is recorded, too, if -o is given.", .filled = true),
	OPT_CHOICE(0, "format", TRACE_FORMATS, struct tracing, format, TRACE_KANATA, "Of --pipeline: kanata, for "
		"Konata; o3pipeview, for gem5's o3-pipeview.py; json, for softpmu report --html --add. By default the "
		"end of FILE's name chooses: .o3, .o3pipeview and .out are o3pipeview, .json is json, and all others "
		"are kanata."),
	OPT_GROUP("Over time"),
	OPT_TEXT(0, "timeline", "FILE", struct tracing, timeline, "Run the model, and write to FILE when each thread "
		"ran, its regions (SOFTPMU_REGION_BEGIN) and phases, and its instructions a cycle, misses, mispredicts "
		"and issue slots over modelled time, as JSON for https://ui.perfetto.dev or about:tracing; - is "
		"standard output.", .filled = true),
	OPT_END
};

/* Notes the first option of a run: a trace holds what the program does on any machine. */
static void note_option(void *context, const struct option_set *set, char **words, int count)
{
	struct tracing *t = context;
	(void)count;
	if (set->option == cli_run_options && !t->modelled)
		t->modelled = words[0];
}

/* 1: go on; else the exit status, as a negative number less 1. */
static int trace_parse(struct tracing *t, int argc, char **argv)
{
	int next;
	const struct option_set set[] = { { trace_options, t }, { cli_run_options, &t->run }, { NULL, NULL } };
	struct option_parser parser = { .set = set, .taken = note_option, .context = t };
	const int go = cli_parse(&cmd_trace, &parser, argc, argv, &next);
	if (go <= 0)
		return go ? -3 : -1;
	const bool runs = t->pipeline || t->timeline;
	if (t->points && (runs || t->output))
		cli_error("--live-points makes a file of its own: not with -o, --pipeline or --timeline");
	else if (t->sample.on && !t->points)
		cli_error("--sample goes with --live-points");
	else if (t->points && t->modelled && strcmp(t->modelled, "--replay"))
		cli_error("%s is about the model, and live points are for any", t->modelled);
	else if (!runs && !t->points && t->modelled)
		cli_error("%s is about the model, which trace runs for --pipeline and --timeline only", t->modelled);
	else if (t->pipeline && t->timeline)
		cli_error("--pipeline and --timeline take a run each: give one of them");
	else if (!t->pipeline && t->format != TRACE_BY_NAME)
		cli_error("--format goes with --pipeline");
	else if (runs && t->run.run.save && t->output)
		cli_error("-o and --save-stream are the same: give one of them");
	else if (runs && t->output && t->run.run.replay)
		cli_error("-o and --replay exclude each other: %s is a trace already", t->run.run.replay);
	else
		return cli_run_finish(&t->run, argc, argv, next) ? -3 : 1;
	return -3;
}

/* trace --live-points */
static int trace_points(struct tracing *t)
{
	struct run_result result = { 0 };
	struct err err = { 0 };
	struct stat st;
	if (!t->sample.on)
		cli_sample_parse(&t->sample, NULL, NULL);
	t->run.run.live_points = t->points;
	t->run.run.sample = t->sample.plan;
	t->run.run.live_grows = t->sample.automatic;
	t->run.run.regs = !t->no_regs;
	const int rc = cli_run_program(&t->run, &(struct run_sink){ 0 }, &result, &err);
	if (result.note[0])
		cli_error("%s", result.note);
	if (rc)
		cli_error("%s", err.text);
	if (!t->quiet && !rc && !stat(t->points, &st))
		fprintf(stderr, "[ softpmu trace: %llu live points of %.1f million instructions: %.3f MB in %s ]\n",
			(unsigned long long)result.points, 1e-6 * (double)result.warmed, 1e-6 * (double)st.st_size,
			t->points);
	return rc ? 1 : cli_exit_status(result.wait_status);
}

static int trace(int argc, char **argv)
{
	struct tracing t = { .format = TRACE_BY_NAME };
	struct run_result result = { 0 };
	struct err err = { 0 };
	struct stat st;
	cli_run_init(&t.run);
	const int go = trace_parse(&t, argc, argv);
	if (go < 0)
		return -1 - go;
	if ((t.pipeline || t.timeline) && t.output)
		t.run.run.save = t.output;
	if (t.points)
		return trace_points(&t);
	if (t.pipeline)
		return trace_pipeline(&t.run, t.pipeline, t.format, t.quiet);
	if (t.timeline)
		return trace_timeline(&t.run, t.timeline, t.quiet);
	t.output = t.output ? t.output : "softpmu.trace";
	t.run.run.save = t.output;
	t.run.run.regs = !t.no_regs;
	t.run.run.record_only = true;
	int rc = cli_run_program(&t.run, &(struct run_sink){ 0 }, &result, &err);
	if (result.note[0])
		cli_error("%s", result.note);
	if (rc)
		cli_error("%s", err.text);
	if (rc && !result.instructions)
		return 1;
	if (!t.quiet && !stat(t.output, &st) && S_ISREG(st.st_mode))
		fprintf(stderr,
			"[ softpmu trace: %.1f million instructions, %s registers: %.3f MB in %s, %.3f bytes an "
			"instruction ]\n",
			1e-6 * (double)result.instructions, t.no_regs ? "without" : "with", 1e-6 * (double)st.st_size,
			t.output, result.instructions ? (double)st.st_size / (double)result.instructions : 0.0);
	return rc ? 1 : cli_exit_status(result.wait_status);
}

static int replay(int argc, char **argv)
{
	if (argc < 2 || argv[1][0] == '-') {
		cli_error("no trace given: softpmu replay FILE [options of softpmu stat]  (softpmu replay --help)");
		return 2;
	}
	char **words = calloc((size_t)argc + 2, sizeof *words);
	if (!words) {
		cli_error("out of memory");
		return 1;
	}
	words[0] = argv[0];
	memcpy(words + 1, argv + 2, (size_t)(argc - 2) * sizeof *words);
	words[argc - 1] = "--replay";
	words[argc] = argv[1];
	int status = cmd_stat.run(argc + 1, words);
	free(words);
	return status;
}

const struct cli_command cmd_trace = {
	.name = "trace", .summary = "record what a program executes, to be replayed on any core", .options =
		trace_options, .run = trace,
	.runs = true,
	.usage = "[options] [--] PROGRAM [arguments]\n--pipeline FILE | --timeline FILE [options] [--] "
		"PROGRAM [arguments]\n--pipeline FILE | --timeline FILE [options] --replay TRACE\n--live-points FILE "
		"[--sample=N,U,W] [--] PROGRAM [arguments]\n--live-points FILE [--sample=N,U,W] --replay TRACE",
	.about = "Records what PROGRAM executes, with its memory accesses and register writes, into a trace file. No "
		"model runs, so this is several times as fast as softpmu stat. Every command that runs a program can "
		"replay the file instead (--replay FILE), on any core and any number of times; the counts are those "
		"of the live run. softpmu replay FILE counts on it as softpmu stat does.",
};
const struct cli_command cmd_replay = {
	.name = "replay", .summary = "count events on a recorded stream", .run = replay,
	.usage = "FILE [options of softpmu stat]",
	.about = "Counts events on a recorded stream (softpmu trace, --save-stream), as softpmu stat --replay FILE "
		"does. softpmu record --replay FILE samples one.",
};
