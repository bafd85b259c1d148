/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu export: the profile in a perf.data file, in another tool's format. */
#include "cli/cli.h"
#include "output/export/export.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: softpmu export -f FORMAT [options]\n\n"
"Writes the profile in a perf.data file, softpmu record's or perf record's, in another tool's format.\n\n"
"  -f, --format FORMAT     callgrind   for callgrind_annotate and KCachegrind; default file callgrind.out\n"
"                          folded      for flamegraph.pl and inferno; default standard output\n"
"                          pprof       for go tool pprof; default file profile.pb.gz\n"
"                          speedscope  for https://www.speedscope.app; default file profile.speedscope.json\n"
"  -i, --input FILE        the file; default perf.data\n"
"  -o, --output FILE       write there; `-' is standard output\n"
"  -e, --event NAME        folded: stacks of this event; default the first\n";

static int run(int argc, char **argv)
{
	static const struct { const char *name, *file; } format[] = {
		{ "callgrind", "callgrind.out" }, { "folded", "-" }, { "pprof", "profile.pb.gz" }, { "speedscope", "profile.speedscope.json" },
	};
	enum { CALLGRIND, FOLDED, PPROF, SPEEDSCOPE, FORMATS };
	const char *input = "perf.data", *output = NULL, *event = NULL, *v;
	unsigned f = FORMATS;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(help, stdout);
			return 0;
		}
		const char *word = argv[i];
		if ((v = cli_value(argc, argv, &i, 'f', "format"))) {
			for (f = 0; f < FORMATS && strcmp(v, format[f].name);)
				f++;
			if (f == FORMATS) {
				cli_error("--format '%s': there are callgrind, folded, pprof, speedscope", v);
				return 2;
			}
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'i', "input"))) {
			input = v;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'o', "output"))) {
			output = v;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'e', "event"))) {
			event = v;
		} else {
			if (i > 0)
				cli_unknown_option("export", help, word);
			return 2;
		}
	}
	if (f == FORMATS) {
		cli_error("export: which format? -f callgrind, folded, pprof or speedscope");
		return 2;
	}
	output = output ? output : format[f].file;

	struct err err = { 0 };
	struct perfdata_file *file = NULL;
	struct export *x = NULL;
	size_t which = 0;
	if (cli_open_data(&file, input))
		return 1;
	int code = export_load(&x, file, &err);
	if (!code && !x->samples)
		code = err_set(&err, ERR_INPUT, "%s has no samples", input);
	while (!code && event && which < x->events && strcmp(x->event_name[which], event))
		which++;
	if (!code && which == x->events)
		code = err_set(&err, ERR_INPUT, "-e '%s': %s has no such event; the first is %s", event, input, x->event_name[0]);
	FILE *to = NULL;
	if (!code && !(to = strcmp(output, "-") ? fopen(output, "we") : stdout))
		code = err_system(&err, "cannot create %s", output);
	if (!code && f == CALLGRIND)
		code = export_callgrind(to, x, input, &err);
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
	.name = "export", .summary = "write a perf.data file's profile for callgrind_annotate, flamegraph, pprof or speedscope", .help = help, .run = run,
};
