/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu annotate: prints the samples of a perf.data file at the instructions and source lines of its functions.
 *
 * What perf's own annotate can do with the same file, and this cannot, is handed over to perf: the full-screen
 * interface, other disassemblers, and others. */
#include "cli/cli.h"
#include "output/annotate.h"
#include "output/exact_report.h"
#include "util/texts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_annotate;

static bool matches(const struct symbol *s, const char *name)
{
	return !strcmp(s->name, name) || (s->linkage && !strcmp(s->linkage, name));
}

struct options {
	const char *input, *symbol, *dsos, *kallsyms;
	const char *hand_over;		/* the option that asks for perf; NULL: none */
	double percent_limit;
	struct annotate_options print;
	bool exact, intel, lines, no_source, samples, periods, mangled;
};

#define OPT_PERF(letter, long_name, value, text, ...) OPT_NOTED(letter, long_name, value, struct options, hand_over, \
	"Hands over to perf annotate, where perf is installed" text, __VA_ARGS__)

static const struct option options[] = {
	OPT_TEXT('i', "input", "FILE", struct options, input, "Read FILE; - is standard input. Default: "
		"perf.data."),
	OPT_TEXT('d', "dsos", "DSO,...", struct options, dsos, "Print only functions in these objects."),
	OPT_PERCENT(0, "percent-limit", "PERCENT", struct options, percent_limit, "Leave out functions with less than "
		"PERCENT of the event."),
	OPT_TEXT('s', "symbol", "SYMBOL", struct options, symbol, "Print this function, named as report names it or "
		"as the file does (_ZN...)."),
	OPT_TEXT(0, "kallsyms", "FILE", struct options, kallsyms, "Name the kernel's functions by FILE, a copy of its "
		"/proc/kallsyms. Default: the file that perf.data names, if it is there."),
	OPT_CHOICE(0, "cycles", "exact", struct options, exact, true, "Print the exact profile (softpmu record "
		"--exact): cycles and their causes at each instruction."),
	OPT_FLAG('n', "show-nr-samples", struct options, samples, "Print the number of samples at each instruction, "
		"not its share."),
	OPT_FLAG(0, "show-total-period", struct options, periods, "Print the sum of the samples' periods instead."),
	OPT_FLAG(0, "no-demangle", struct options, mangled, "Print the function's name as it is in the file: _ZN..."),
	OPT_CLEAR(0, "demangle", struct options, mangled, "Print it as in the source. This is the default."),
	OPT_FLAG('l', "print-line", struct options, lines, "Print file and line before every source line."),
	OPT_CLEAR(0, "source", struct options, no_source, "Print source and disassembly. This is the default."),
	OPT_FLAG(0, "no-source", struct options, no_source, "Print the disassembly only."),
	OPT_CHOICE('M', "disassembler-style", "att|intel", struct options, intel, false, "Write instructions in this "
		"syntax. Default: att."),
	OPT_IGNORED(0, "stdio", "Accepted without effect: text is the only form."),
	OPT_IGNORED(0, "stdio2", "Accepted without effect: text is the only form."),
	OPT_CALL(0, "stdio-color", "MODE", option_ignore, "Accepted without effect: the text has no colours."),
	OPT_IGNORED('f', "force", "Accepted without effect: files of other users are read, too."),
	OPT_IGNORED('q', "quiet", "Accepted without effect: there are no messages but those of damaged files."),
	OPT_IGNORED('v', "verbose", "Accepted without effect: there are no messages but those of damaged files."),
	OPT_IGNORED('P', "full-paths", "Accepted without effect: paths are never shortened."),
	OPT_IGNORED(0, "skip-missing", "Accepted without effect: functions without code are left out."),
	OPT_IGNORED(0, "ignore-vmlinux", "Accepted without effect: no kernel's symbols are read."),
	OPT_IGNORED(0, "demangle-kernel", "Accepted without effect: no kernel's symbols are read."),
	OPT_GROUP("What perf's own annotate does with the same file"),
	OPT_PERF(0, "tui", NULL, ": the full-screen interface."),
	OPT_PERF(0, "asm-raw", NULL, ": the bytes of instructions."),
	OPT_PERF(0, "objdump", "PATH", ": another disassembler."),
	OPT_PERF(0, "percent-type", "TYPE", ": shares of the whole event, or of samples."),
	OPT_PERF(0, "group", NULL, ": the events of a group beside each other."),
	OPT_PERF('C', "cpu", "CPU,...", ": samples of some processors."),
	OPT_PERF('D', "dump-raw-trace", NULL, ": every record of the file."),
	OPT_PERF('k', "vmlinux", "FILE", ": a kernel's code."),
	OPT_PERF('m', "modules", NULL, ": a kernel's modules."),
	OPT_PERF(0, "itrace", "OPTIONS", ": Intel PT.", .optional = true),
	OPT_PERF(0, "prefix", "PATH", ": source files in another place."),
	OPT_PERF(0, "prefix-strip", "N", ": likewise."),
	OPT_PERF(0, "symfs", "DIR", ": files below DIR."),
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

static bool asked_for(const struct options *o, const struct annotate_event *e, const struct annotate_symbol *s)
{
	return (!o->symbol || matches(s->symbol, o->symbol)) && (!o->dsos || texts_on_list(o->dsos, s->dso)) &&
		100 * (double)s->period >= o->percent_limit * (double)e->period;
}

/* Prints the functions that were asked for; returns how many. */
static unsigned print_all(const struct options *o, const struct annotate *a, struct err *last)
{
	unsigned printed = 0;
	for (size_t i = 0; i < a->events; i++)
		for (size_t k = 0;
			k < a->event[i].symbols && exact_record_event(a->event[i].info->name) == EXACT_EVENTS; k++) {
			const struct annotate_symbol *s = &a->event[i].symbol[k];
			if (asked_for(o, &a->event[i], s) &&
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
	if (o.hand_over) {
		char option[40];
		snprintf(option, sizeof option, "--%s", o.hand_over);
		return cli_hand_over("annotate", option, argc, argv);
	}
	o.print.column = o.samples ? ANNOTATE_SAMPLES : o.periods ? ANNOTATE_PERIOD : ANNOTATE_PERCENT;
	o.print.mangled = o.mangled;
	o.print.line_numbers = o.lines;
	o.print.no_source = o.no_source;
	o.print.intel = o.intel;
	if (cli_open_data(&file, o.input))
		return 1;
	perfdata_use_kallsyms(file, o.kallsyms);
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
	else if (!printed && (o.dsos || o.percent_limit > 0))
		cli_error("%s: no function passes -d and --percent-limit", o.input);
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
