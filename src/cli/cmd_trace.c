/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu trace: records a program's stream without modelling it; softpmu replay: counts on a recorded one. */
#include "cli/cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char trace_help[] =
"usage: softpmu trace [options] [--] PROGRAM [arguments]\n\n"
"Records what PROGRAM executes, with its memory accesses and register writes, into a trace file, without a model: several times as\n"
"fast as softpmu stat.  Everything that runs a program takes the file instead (--replay FILE), on any core, as often as wanted, with\n"
"the counts of the live run; softpmu replay FILE counts on it as softpmu stat does.\n\n"
"  -o, --output FILE       the trace; default softpmu.trace\n"
"      --no-regs           without register writes: much smaller; replays run without the wrong path, and precise samples lack registers\n"
"      --follow            record forked and executed processes too\n"
"  -q, --quiet             do not say how much was recorded\n";

static const char replay_help[] =
"usage: softpmu replay FILE [options of softpmu stat]\n\n"
"The same as softpmu stat --replay FILE: counts events on a recorded stream (softpmu trace, --save-stream).\n"
"softpmu record --replay FILE samples one.\n";

static int trace(int argc, char **argv)
{
	struct cli_run r;
	struct run_result result = { 0 };
	struct err err = { 0 };
	struct stat st;
	bool quiet = false, no_regs = false;
	const char *output = "softpmu.trace", *v;
	int i;
	cli_run_init(&r);
	for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
		if ((v = cli_value(argc, argv, &i, 'o', "output"))) {
			output = v;
		} else if (i < 0) {
			return 2;
		} else if (!strcmp(argv[i], "--no-regs")) {
			no_regs = true;
		} else if (!strcmp(argv[i], "--follow")) {
			r.run.follow = true;
		} else if (!strcmp(argv[i], "-q") || !strcmp(argv[i], "--quiet")) {
			quiet = true;
		} else {
			cli_unknown_option(argv[0], trace_help, argv[i]);
			return 2;
		}
	}
	if (!*output) {
		cli_error("option -o: the value is empty");
		return 2;
	}
	if (cli_run_finish(&r, argc, argv, i))
		return 2;
	r.run.save = output;
	r.run.regs = !no_regs;
	r.run.record_only = true;
	int rc = cli_run_program(&r, &(struct run_sink){ 0 }, &result, &err);
	if (result.note[0])
		cli_error("%s", result.note);
	if (rc)
		cli_error("%s", err.text);
	if (rc && !result.instructions)
		return 1;
	if (!quiet && !stat(output, &st) && S_ISREG(st.st_mode))
		fprintf(stderr, "[ softpmu trace: %.1f million instructions, %s registers: %.3f MB in %s, %.3f bytes an instruction ]\n",
			1e-6 * (double)result.instructions, no_regs ? "without" : "with", 1e-6 * (double)st.st_size, output,
			result.instructions ? (double)st.st_size / (double)result.instructions : 0.0);
	return rc ? 1 : cli_exit_status(result.wait_status);
}

extern const struct cli_command cmd_stat;

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

const struct cli_command cmd_trace = { "trace", "record what a program executes, to be replayed on any core", trace_help, trace };
const struct cli_command cmd_replay = { "replay", "count events on a recorded stream", replay_help, replay };
