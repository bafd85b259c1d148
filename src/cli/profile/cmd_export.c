/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu export: writes the profile in a perf.data file in another tool's format. */
#include "cli/cli.h"
#include "output/export/export.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum format { CALLGRIND, FIREFOX, FOLDED, PPROF, SPEEDSCOPE, FORMATS };
extern const struct cli_command cmd_export;

struct options {
	const char *input, *output, *event;
	enum format format;
	bool inlines;
};

static const struct option options[] = {
	OPT_CHOICE('f', "format", "callgrind|firefox|folded|pprof|speedscope", struct options, format, CALLGRIND,
		"Write this format; it must be given. callgrind: for callgrind_annotate and KCachegrind, by default "
		"into callgrind.out. firefox: for https://profiler.firefox.com, by default into "
		"profile.firefox.json. folded: for flamegraph.pl and inferno, by default to standard output. pprof: "
		"for go tool pprof, by default into profile.pb.gz. speedscope: for https://www.speedscope.app, by "
		"default into profile.speedscope.json."),
	OPT_TEXT('i', "input", "FILE", struct options, input, "Read FILE. Default: perf.data."),
	OPT_TEXT('o', "output", "FILE", struct options, output, "Write to FILE; - is standard output."),
	OPT_TEXT('e', "event", "EVENT", struct options, event, "With folded, write the stacks of this event. Default: "
		"the first."),
	OPT_FLAG(0, "inline", struct options, inlines, "Give inlined functions frames of their own. This is the "
		"default."),
	OPT_CLEAR(0, "no-inline", struct options, inlines, "Count inlined functions as the function that they were "
		"inlined into."),
	OPT_END
};

static int no_word(void *target, const char *word, struct err *err)
{
	(void)target;
	return err_set(err, ERR_INPUT, "'%s' is one word too many (softpmu export --help)", word);
}

static int run(int argc, char **argv)
{
	static const char *const file_of[] = { "callgrind.out", "profile.firefox.json", "-", "profile.pb.gz",
		"profile.speedscope.json" };
	struct options o = { .input = "perf.data", .format = FORMATS, .inlines = true };
	const int go = cli_options_and_words(&cmd_export, &o, argc, argv, no_word);
	if (go <= 0)
		return go ? 2 : 0;
	if (o.format == FORMATS) {
		cli_error("export: no format was given: -f callgrind, firefox, folded, pprof or speedscope");
		return 2;
	}
	const enum format f = o.format;
	const char *input = o.input, *event = o.event, *output = o.output ? o.output : file_of[f];

	struct err err = { 0 };
	struct perfdata_file *file = NULL;
	struct export *x = NULL;
	size_t which = 0;
	if (cli_open_data(&file, input))
		return 1;
	int code = export_load(&x, file, o.inlines, &err);
	if (!code && !x->samples)
		code = err_set(&err, ERR_INPUT, "%s has no samples", input);
	while (!code && event && which < x->events && strcmp(x->event_name[which], event))
		which++;
	if (!code && which == x->events)
		code = err_set(&err, ERR_INPUT, "-e '%s': %s has no such event; the first is %s", event, input,
			x->event_name[0]);
	FILE *to = NULL;
	if (!code && !(to = strcmp(output, "-") ? fopen(output, "we") : stdout))
		code = err_system(&err, "cannot create %s", output);
	if (!code && f == CALLGRIND)
		code = export_callgrind(to, x, input, &err);
	else if (!code && f == FIREFOX)
		code = export_firefox(to, x, input, &err);
	else if (!code && f == FOLDED)
		export_folded(to, x, which);
	else if (!code && f == PPROF)
		code = export_pprof(to, x, &err);
	else if (!code)
		export_speedscope(to, x, input);
	if (to) {
		bool failed = fflush(to) || ferror(to);
		if ((to != stdout && fclose(to)) || failed)
			code = code ? code : err_system(&err, "cannot write %s", output);
	}
	if (code)
		cli_error("%s", err.text);
	export_free(x);
	perfdata_close(file);
	return code ? 1 : 0;
}

const struct cli_command cmd_export = {
	.name = "export", .options = options, .run = run, .usage = "-f FORMAT [options]",
	.summary = "write a perf.data file's profile for callgrind_annotate, flamegraph, pprof and others",
	.about = "Writes the profile in a perf.data file, made by softpmu record or by perf record, in another tool's "
		"format.",
};
