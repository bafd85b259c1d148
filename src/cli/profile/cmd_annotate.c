/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu annotate: prints the samples of a perf.data file at the instructions and source lines of its functions.
 *
 * Left out of perf's options: the full-screen interface, --objdump and other disassemblers, branch counters. */
#include "cli/cli.h"
#include "output/annotate.h"
#include "output/exact_report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_annotate;

static bool matches(const struct symbol *s, const char *name)
{
	return !strcmp(s->name, name) || (s->linkage && !strcmp(s->linkage, name));
}

struct options {
	const char *input, *symbol;
	struct annotate_options print;
	bool exact, intel, lines, no_source;
};

static const struct option options[] = {
	OPT_TEXT('i', "input", "FILE", struct options, input, "Read FILE. Default: perf.data."),
	OPT_TEXT('s', "symbol", "SYMBOL", struct options, symbol, "Print this function, named as report names it or "
		"as the file does (_ZN...)."),
	OPT_CHOICE(0, "cycles", "exact", struct options, exact, true, "Print the exact profile (softpmu record "
		"--exact): cycles and their causes at each instruction."),
	OPT_FLAG('l', "print-line", struct options, lines, "Print file and line before every source line."),
	OPT_CLEAR(0, "source", struct options, no_source, "Print source and disassembly. This is the default."),
	OPT_FLAG(0, "no-source", struct options, no_source, "Print the disassembly only."),
	OPT_CHOICE('M', "disassembler-style", "att|intel", struct options, intel, false, "Write instructions in this "
		"syntax. Default: att."),
	OPT_IGNORED(0, "stdio", "Accepted without effect: text is the only form."),
	OPT_END
};

static int take_symbol(void *target, const char *word, struct err *err)
{
	struct options *o = target;
	if (o->symbol)
		return err_set(err, ERR_INPUT, "'%s' is one symbol too many", word);
	o->symbol = word;
	return 0;
}

/* Prints the functions that were asked for; returns how many. */
static unsigned print_all(const struct options *o, const struct annotate *a, struct err *last)
{
	unsigned printed = 0;
	for (size_t i = 0; i < a->events; i++)
		for (size_t k = 0;
			k < a->event[i].symbols && exact_record_event(a->event[i].info->name) == EXACT_EVENTS; k++) {
			const struct annotate_symbol *s = &a->event[i].symbol[k];
			if ((!o->symbol || matches(s->symbol, o->symbol)) &&
				annotate_print(stdout, &a->event[i], s, &o->print, last) == 0)
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
		cli_error("%s: no cycle was spent in a function %s (softpmu report --cycles exact lists them)",
			o->input, o->symbol);
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
	const int go = cli_options_and_words(&cmd_annotate, &o, argc, argv, take_symbol);
	if (go <= 0)
		return go ? 2 : 0;
	o.print.line_numbers = o.lines;
	o.print.no_source = o.no_source;
	o.print.intel = o.intel;
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
		cli_error("%s: no sample hit a function %s (softpmu report lists those that were hit)", o.input,
			o.symbol);
	else if (!printed)
		cli_error("%s: no sample hit a function that has a symbol", o.input);
	annotate_free(a);
	perfdata_close(file);
	return printed ? 0 : 1;
}

const struct cli_command cmd_annotate = {
	.name = "annotate", .summary = "print samples at instructions and source lines", .options = options, .run = run,
	.usage = "[options] [SYMBOL]",
	.about = "Prints the source and disassembly of SYMBOL, with the share of its samples at each instruction. "
		"Without SYMBOL, prints every function that was hit, hottest first.",
};
