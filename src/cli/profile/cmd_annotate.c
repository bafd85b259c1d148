/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu annotate: the samples of a perf.data file at the instructions and source lines of its functions.
 *
 * Left out of perf's options: the full-screen interface, --objdump and other disassemblers, branch counters. */
#include "cli/cli.h"
#include "output/annotate.h"
#include "output/exact_report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: softpmu annotate [options] [SYMBOL]\n\n"
"Prints source and disassembly of SYMBOL, with the share of its samples at each instruction; without SYMBOL of every\n"
"function that was hit, hottest first.\n\n"
"  -i, --input FILE        default perf.data\n"
"  -s, --symbol SYMBOL     the function, as report names it or as the file does (_ZN...)\n"
"      --stdio             print text (the only form there is; accepted as perf's)\n"
"  -l, --print-line        file and line before every source line\n"
"      --no-source         disassembly only;  --source: with source (default)\n"
"      --cycles exact      the exact profile, which record has to be asked for, with cycles and their causes at each instruction\n"
"  -M, --disassembler-style STYLE\n"
"                          att (default) or intel\n";

static bool matches(const struct symbol *s, const char *name)
{
	return !strcmp(s->name, name) || (s->linkage && !strcmp(s->linkage, name));
}

struct options {
	const char *input, *symbol;
	struct annotate_options print;
	bool exact;
};

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *v;
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			fputs(help, stdout);
			return 0;
		}
		if (!strcmp(word, "--stdio") || !strcmp(word, "--source"))
			continue;
		if (!strcmp(word, "-l") || !strcmp(word, "--print-line")) {
			o->print.line_numbers = true;
		} else if (!strcmp(word, "--no-source")) {
			o->print.no_source = true;
		} else if ((v = cli_value(argc, argv, &i, 'i', "input"))) {
			o->input = v;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 's', "symbol"))) {
			o->symbol = v;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'M', "disassembler-style"))) {
			if (strcmp(v, "intel") && strcmp(v, "att")) {
				cli_error("-M '%s': there are att and intel", v);
				return -1;
			}
			o->print.intel = *v == 'i';
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "cycles"))) {
			if (strcmp(v, "exact")) {
				cli_error("--cycles '%s': there is exact", v);
				return -1;
			}
			o->exact = true;
		} else if (i < 0) {
			return -1;
		} else if (*word != '-' && !o->symbol) {
			o->symbol = word;
		} else {
			if (*word == '-')
				cli_unknown_option("annotate", help, word);
			else
				cli_error("'%s' is one symbol too many", word);
			return -1;
		}
	}
	return 1;
}

/* The functions asked for; their number. */
static unsigned print_all(const struct options *o, const struct annotate *a, struct err *last)
{
	unsigned printed = 0;
	for (size_t i = 0; i < a->events; i++)
		for (size_t k = 0; k < a->event[i].symbols && exact_record_event(a->event[i].info->name) == EXACT_EVENTS; k++) {
			const struct annotate_symbol *s = &a->event[i].symbol[k];
			if ((!o->symbol || matches(s->symbol, o->symbol)) && annotate_print(stdout, &a->event[i], s, &o->print, last) == 0)
				printed++;
		}
	return printed;
}

static int run_exact(const struct options *o, struct perfdata_file *file)
{
	struct exact_report *r;
	struct err err = { 0 };
	unsigned printed = 0;
	if (!exact_report_load(&r, file, false, &err)) {
		printed = exact_report_annotate(stdout, r, o->symbol, &o->print, &err);
		exact_report_free(r);
	}
	if (!printed && err.code)
		cli_error("%s: %s", o->input, err.text);
	else if (!printed && o->symbol)
		cli_error("%s: no cycle was spent in a function %s (softpmu report --cycles exact lists them)", o->input, o->symbol);
	else if (!printed)
		cli_error("%s: no cycle was spent in a function that has a symbol", o->input);
	return printed ? 0 : 1;
}

static int run(int argc, char **argv)
{
	struct options o = { .input = "perf.data" };
	struct err err = { 0 };
	struct perfdata_file *file;
	struct annotate *a;
	int parsed = parse(&o, argc, argv);
	if (parsed <= 0)
		return parsed ? 2 : 0;
	if (cli_open_data(&file, o.input))
		return 1;
	if (o.exact) {
		int status = run_exact(&o, file);
		perfdata_close(file);
		return status;
	}
	if (annotate_load(&a, file, &err)) {
		cli_error("%s", err.text);
		perfdata_close(file);
		return 1;
	}
	unsigned printed = print_all(&o, a, &err);
	if (!printed && err.code)
		cli_error("%s", err.text);
	else if (!printed && o.symbol)
		cli_error("%s: no sample hit a function %s (softpmu report lists those that were hit)", o.input, o.symbol);
	else if (!printed)
		cli_error("%s: no sample hit a function that has a symbol", o.input);
	annotate_free(a);
	perfdata_close(file);
	return printed ? 0 : 1;
}

const struct cli_command cmd_annotate = {
	.name = "annotate", .summary = "print samples at instructions and source lines", .help = help, .run = run,
};
