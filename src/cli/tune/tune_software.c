/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu tune --software: what to change in the program, and where; and what can be changed without its author: how it is built. */
#include "cli/cli.h"
#include "cli/tune/tune_commands.h"
#include "cli/tune/tune_advice.h"
#include "cli/tune/tune_rebuild.h"
#include "native/trial.h"
#include "native/signed_rank.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: softpmu tune --software [options] [--] PROGRAM [arguments]\n"
"       softpmu tune --software [options] --replay FILE\n\n"
"Runs PROGRAM on the modelled core and says which changes of its code would help: where, on what evidence, and what the\n"
"whole program would win.  The estimate is a replay of the same trace on a machine without the trouble.\n"
"With --build, builds it in several ways instead, chooses by modelled cycles, and times what the model finds faster on this machine.\n\n"
"      --least P           no advice on less than P percent of the cycles; default 1\n"
"      --rows N            the N largest; default 20, 0: all\n"
"  -j, --json              print one JSON object a line\n"
"  -o, --output FILE       print to FILE; default standard error\n"
"      --build COMMAND     shell command that builds PROGRAM, with {flags} and {out} in it: 'gcc {flags} -o {out} prog.c'\n"
"      --flags FLAGS       a set of flags to try (again for more); what the others are compared with comes first;\n"
"                          default -O2, -O3, -O2 -funroll-loops, -O3 -march=x86-64-v3, -Os\n"
"      --autofdo           the best of them again with the profile of its branch stacks (clang, create_llvm_prof)\n"
"      --bolt              the best of them rewritten by BOLT with its branch stacks (perf2bolt, llvm-bolt)\n"
"      --dir DIR           where the builds go; default softpmu-builds\n"
"      --time 'ARGUMENTS'  arguments of the runs on this machine, where the model's are too short\n"
"      --blocks N          so many blocks of four runs each on this machine, 10 to 64; default 20\n"
"      --no-native         no runs on this machine\n\n"
CLI_RUN_HELP;

struct software {
	struct cli_run run;
	const char *output;
	double least;		/* percent */
	size_t rows;
	bool json;
	struct rebuild_options rebuild;
};

static int set_least(struct software *s, const char *text)
{
	char *end;
	errno = 0;
	s->least = strtod(text, &end);
	if (!errno && end != text && !*end && s->least >= 0 && s->least <= 100)
		return 1;
	cli_error("--least '%s': a percentage from 0 to 100 was expected", text);
	return -1;
}

static int set_rows(struct software *s, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	s->rows = n ? n : SIZE_MAX;
	if (*text >= '0' && *text <= '9' && !*end && n <= 1000000000)
		return 1;
	cli_error("--rows '%s': a number was expected", text);
	return -1;
}

static int set_blocks(struct software *s, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	s->rebuild.blocks = (unsigned)n;
	if (*text >= '0' && *text <= '9' && !*end && n >= TRIAL_LEAST_BLOCKS && n <= SIGNED_RANK_MOST)
		return 1;
	cli_error("--blocks '%s': a number from %d to %d was expected", text, TRIAL_LEAST_BLOCKS, SIGNED_RANK_MOST);
	return -1;
}

static int set_build(struct software *s, const char *text)
{
	s->rebuild.build = text;
	if (strstr(text, "{flags}") && strstr(text, "{out}"))
		return 1;
	cli_error("--build '%s': the command needs {flags} and {out}", text);
	return -1;
}

static int add_flags(struct software *s, const char *text)
{
	if (s->rebuild.sets < REBUILD_FLAGS) {
		s->rebuild.flags[s->rebuild.sets++] = text;
		return 1;
	}
	cli_error("more than %d --flags options", REBUILD_FLAGS);
	return -1;
}

/* Of --build. */
static int valued_rebuild(struct software *s, int argc, char **argv, int *i)
{
	const char *v;
	if ((v = cli_value(argc, argv, i, 0, "build")))
		return set_build(s, v);
	if (*i > 0 && (v = cli_value(argc, argv, i, 0, "flags")))
		return add_flags(s, v);
	if (*i > 0 && (v = cli_value(argc, argv, i, 0, "dir"))) {
		s->rebuild.dir = v;
		return 1;
	}
	if (*i > 0 && (v = cli_value(argc, argv, i, 0, "time"))) {
		s->rebuild.time = v;
		return 1;
	}
	if (*i > 0 && (v = cli_value(argc, argv, i, 0, "blocks")))
		return set_blocks(s, v);
	return *i < 0 ? -1 : 0;
}

/* One of ours with a value: 1; not ours: 0; bad: -1. */
static int valued(struct software *s, int argc, char **argv, int *i)
{
	const char *v;
	int of_rebuild = valued_rebuild(s, argc, argv, i);
	if (of_rebuild)
		return of_rebuild;
	if ((v = cli_value(argc, argv, i, 0, "least")))
		return set_least(s, v);
	if (*i > 0 && (v = cli_value(argc, argv, i, 0, "rows")))
		return set_rows(s, v);
	if (*i > 0 && (v = cli_value(argc, argv, i, 'o', "output"))) {
		s->output = v;
		return 1;
	}
	return *i < 0 ? -1 : 0;
}

/* 1: goes on; 0: done; -1: bad, one line was printed. */
static int parse(struct software *s, int argc, char **argv, int *next)
{
	int i;
	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		const char *word = argv[i];
		int ours = cli_run_option(&s->run, argc, argv, &i);
		ours = ours ? ours : valued(s, argc, argv, &i);
		if (ours < 0)
			return -1;
		if (ours)
			continue;
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			fputs(help, stdout);
			return 0;
		}
		if (!strcmp(word, "-j") || !strcmp(word, "--json")) {
			s->json = s->rebuild.json = true;
		} else if (!strcmp(word, "--bolt")) {
			s->rebuild.bolt = true;
		} else if (!strcmp(word, "--autofdo")) {
			s->rebuild.autofdo = true;
		} else if (!strcmp(word, "--no-native")) {
			s->rebuild.no_native = true;
		} else {
			cli_unknown_option("tune --software", help, word);
			return -1;
		}
	}
	*next = i;
	const struct rebuild_options *r = &s->rebuild;
	if (!r->build && (r->sets || r->bolt || r->autofdo || r->time || r->no_native)) {
		cli_error("tune --software: --flags, --autofdo, --bolt, --time and --no-native belong to --build");
		return -1;
	}
	if (r->build && (s->run.run.replay || s->run.run.save)) {
		cli_error("tune --software: --build runs programs of its own, and neither saves nor replays a stream");
		return -1;
	}
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
	else if (!(rc = tune_advice_run(advice, &s->run, s->least / 100, &status)))
		tune_advice_print(advice, to, s->rows, s->json);
	tune_advice_destroy(advice);
	cli_forget_stream(&s->run, file);
	return status ? status : rc != 0;
}

int cmd_tune_software(int argc, char **argv)
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
	if (go > 0 && !cli_run_finish(&s->run, argc, argv, next)) {
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
