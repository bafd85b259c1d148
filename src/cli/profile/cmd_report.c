/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu report: the profile in a perf.data file, as a table like perf report's or as JSON.
 *
 * Left out of perf's options: filters (--comms, --dsos), hierarchy mode, the full-screen interface. */
#include "cli/cli.h"
#include "output/exact_report.h"
#include "output/profile.h"
#include <linux/perf_event.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: softpmu report [options]\n\n"
"Prints the profile in a perf.data file, written by softpmu record or by perf record.\n\n"
"  -i, --input FILE        the file; default perf.data\n"
"      --stdio             print a table (the only form there is; accepted as perf's)\n"
"      --json              print JSON: events, entries, call trees\n"
"  -s, --sort KEYS         what makes an entry, joined by commas: comm, dso, symbol, srcline, pid, tid, cpu;\n"
"                          default comm,dso,symbol.  Of branch stacks, every branch counting 1: dso_from, symbol_from, dso_to,\n"
"                          symbol_to, mispredict, cycles.  Columns, largest first: pushout, the cycles by which the samples' slots\n"
"                          (of precise events with -W: instructions) were late, times their periods; pushout_median; pushout_share\n"
"  -b, --branch-stack      as -s comm,dso_from,symbol_from,symbol_to,cycles\n"
"  -F, --fields LIST       the columns: overhead (or overhead_children), sample, and sort keys\n"
"  -n, --show-nr-samples   a column with the number of samples\n"
"  -g, --call-graph [graph,MIN,ORDER | none]\n"
"                          call trees, where the file has call chains: branches of at least MIN percent (default\n"
"                          0.5); ORDER caller (outermost first, default with children) or callee;\n"
"                          none: no trees\n"
"      --children, --no-children\n"
"                          with call chains: percentages include what a function called (default), or not\n"
"      --percent-limit P   leave out entries below P percent\n"
"      --no-inline         accepted: call trees show functions as they were called, never inlined ones\n"
"      --cycles exact      the exact profile, which record has to be asked for: every cycle at what retirement waited for, with the causes;\n"
"                          -s symbol (default) or -s instruction.  A file that holds nothing else is printed so without asking\n"
"      --sampling-error    how far the sampled events' profiles are from the exact one: share of samples at the wrong instruction\n"
"  -v, --verbose           also say which files' symbols could not be read\n";

struct options {
	const char *input;
	struct profile_options profile;
	struct report_options report;
	const char *sort;
	bool json, children, no_chains, order_set, verbose, exact, errors, branches;
};

static const struct { const char *name; enum profile_key key; } keys[] = {
	{ "comm", PROFILE_COMM }, { "dso", PROFILE_DSO }, { "symbol", PROFILE_SYMBOL }, { "sym", PROFILE_SYMBOL },
	{ "srcline", PROFILE_SRCLINE }, { "pid", PROFILE_PID }, { "tid", PROFILE_TID }, { "cpu", PROFILE_CPU },
	{ "pushout", PROFILE_PUSHOUT }, { "pushout_median", PROFILE_PUSHOUT_MEDIAN }, { "pushout_share", PROFILE_PUSHOUT_SHARE },
	{ "dso_from", PROFILE_DSO_FROM }, { "symbol_from", PROFILE_SYMBOL_FROM }, { "dso_to", PROFILE_DSO_TO }, { "symbol_to", PROFILE_SYMBOL_TO },
	{ "mispredict", PROFILE_MISPREDICT }, { "cycles", PROFILE_CYCLES },
};

/* fields: overhead and sample may be among them. */
static int parse_keys(struct options *o, const char *list, bool fields)
{
	struct profile_options *p = &o->profile;
	p->keys = 0;
	p->branches = false;
	/* -F without overhead_children: one column, as in perf, and still trees of what each function called */
	o->report.only_self = p->by_self = fields && !strstr(list, "overhead_children");
	o->report.sort_starts_with_symbol = !fields && !strncmp(list + (strncmp(list, "overhead,", 9) ? 0 : 9), "sym", 3);
	for (const char *word = list; ; word++) {
		size_t n = strcspn(word, ","), k = 0;
		while (k < sizeof keys / sizeof *keys && (strlen(keys[k].name) != n || strncmp(keys[k].name, word, n)))
			k++;
		bool repeated = false;
		for (size_t i = 0; k < sizeof keys / sizeof *keys && i < p->keys; i++)
			repeated |= p->key[i] == keys[k].key;
		if (k < sizeof keys / sizeof *keys) {
			if (!repeated)
				p->key[p->keys++] = keys[k].key;
			p->branches |= keys[k].key >= PROFILE_DSO_FROM;
		} else if ((n == 8 && !strncmp(word, "overhead", 8)) || (n == 17 && !strncmp(word, "overhead_children", 17))) {
			/* always there */
		} else if (n == 6 && !strncmp(word, "sample", 6)) {
			o->report.counts = true;
		} else {
			cli_error("unknown %s key '%.*s'; there are comm, dso, symbol, srcline, pid, tid, cpu; pushout, pushout_median, pushout_share; "
				  "dso_from, symbol_from, dso_to, symbol_to, mispredict, cycles; overhead, sample",
				  fields ? "field" : "sort", (int)n, word);
			return -1;
		}
		word += n;
		if (!*word)
			break;
	}
	bool entries = false;
	for (size_t i = 0; i < p->keys; i++)
		entries |= !profile_is_pushout(p->key[i]);
	if (p->keys && !entries)	/* columns: of symbols */
		p->key[p->keys++] = PROFILE_SYMBOL;
	if (!p->keys) {
		cli_error("no sort key in '%s'", list);
		return -1;
	}
	return 0;
}

static int parse_percent(const char *text, double *out)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (*end == '%')
		end++;
	if (errno || end == text || *end || !(v >= 0 && v <= 100)) {
		cli_error("'%s': a percentage from 0 to 100 was expected", text);
		return -1;
	}
	*out = v;
	return 0;
}

/* graph,0.5,caller in any order, as perf takes it. */
static int parse_graph(struct options *o, const char *list)
{
	while (*list) {
		char word[32];
		size_t n = strcspn(list, ",");
		snprintf(word, sizeof word, "%.*s", (int)n, list);
		if (!strcmp(word, "none"))
			o->no_chains = true;
		else if (!strcmp(word, "caller") || !strcmp(word, "callee")) {
			o->profile.caller_first = word[5] == 'r';
			o->order_set = true;
		} else if (!strcmp(word, "flat") || !strcmp(word, "fractal") || !strcmp(word, "folded")) {
			cli_error("-g %s: only the graph form is supported", word);
			return -1;
		} else if (strcmp(word, "graph") && strcmp(word, "function") && strcmp(word, "percent") &&
			   parse_percent(word, &o->profile.chain_percent)) {
			return -1;
		}
		list += n + (list[n] == ',');
	}
	return 0;
}

static bool is_graph(const char *word)
{
	return word && (strchr("0123456789", *word) || !strncmp(word, "graph", 5) || !strncmp(word, "none", 4) ||
			!strncmp(word, "calle", 5) || !strncmp(word, "flat", 4) || !strncmp(word, "fractal", 7) || !strncmp(word, "folded", 6));
}

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *v;
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			fputs(help, stdout);
			return 0;
		}
		if (!strcmp(word, "--stdio") || !strcmp(word, "--no-inline"))
			continue;
		if (!strcmp(word, "-b") || !strcmp(word, "--branch-stack")) {
			o->branches = true;
		} else if (!strcmp(word, "--json")) {
			o->json = true;
		} else if (!strcmp(word, "--children") || !strcmp(word, "--no-children")) {
			o->children = word[2] == 'c';
		} else if (!strcmp(word, "-n") || !strcmp(word, "--show-nr-samples")) {
			o->report.counts = true;
		} else if (!strcmp(word, "-v") || !strcmp(word, "--verbose")) {
			o->verbose = true;
		} else if (!strcmp(word, "-G") || !strcmp(word, "--inverted")) {
			o->profile.caller_first = o->order_set = true;
		} else if (!strcmp(word, "-g") || !strcmp(word, "--call-graph")) {
			if (i + 1 < argc && is_graph(argv[i + 1]) && parse_graph(o, argv[++i]))
				return -1;
		} else if (!strncmp(word, "-g", 2) || !strncmp(word, "--call-graph=", 13)) {
			if (parse_graph(o, word[1] == 'g' ? word + 2 : word + 13))
				return -1;
		} else if ((v = cli_value(argc, argv, &i, 'i', "input"))) {
			o->input = v;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 's', "sort"))) {
			o->sort = v;
			if (strcmp(v, "instruction") && parse_keys(o, v, false))
				return -1;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'F', "fields"))) {
			if (parse_keys(o, v, true))
				return -1;
		} else if (!strcmp(word, "--sampling-error")) {
			o->errors = true;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "cycles"))) {
			if (strcmp(v, "exact")) {
				cli_error("--cycles '%s': there is exact", v);
				return -1;
			}
			o->exact = true;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "percent-limit"))) {
			if (parse_percent(v, &o->report.percent_limit))
				return -1;
			o->profile.chain_percent = o->report.percent_limit;
		} else if (i < 0) {
			return -1;
		} else if (*word != '-' && !strcmp(o->input, "perf.data")) {
			o->input = word;
		} else {
			if (*word == '-')
				cli_unknown_option("report", help, word);
			else
				cli_error("'%s' is one word too many (softpmu report --help)", word);
			return -1;
		}
	}
	if (o->branches && !o->sort && !o->profile.branches && parse_keys(o, "comm,dso_from,symbol_from,symbol_to,cycles", false))
		return -1;
	o->profile.branches |= o->branches;
	if (!o->order_set)
		o->profile.caller_first = o->children;
	o->profile.children = o->children;
	o->profile.chains = true;
	o->profile.trees = o->report.print_chains = !o->no_chains;
	return 1;
}

/* The exact profile. */
static int run_exact(const struct options *o, struct perfdata_file *file)
{
	struct exact_report *in = NULL, *fn = NULL;
	struct err err = { 0 };
	bool by_instruction = o->sort && !strcmp(o->sort, "instruction");
	if (o->sort && !by_instruction && strcmp(o->sort, "symbol") && strcmp(o->sort, "sym")) {
		cli_error("-s '%s': the exact profile is by symbol or by instruction", o->sort);
		return 2;
	}
	int rc = 0;
	if (o->errors || !by_instruction)
		rc = exact_report_load(&fn, file, true, &err);
	if (!rc && (o->errors || by_instruction))
		rc = exact_report_load(&in, file, false, &err);
	struct exact_report_options print = { .file_name = o->input, .by_function = !by_instruction, .json = o->json,
		.percent_limit = o->report.percent_limit };
	if (!rc && o->errors && !exact_report_has_methods(in))
		rc = err_set(&err, ERR_INPUT, "nothing was sampled beside the exact profile: softpmu record --exact -e EVENT[,EVENT...]");
	if (rc)
		cli_error("%s: %s", o->input, err.text);
	else if (o->errors)
		exact_report_errors(stdout, in, fn, o->json);
	else
		exact_report_print(stdout, by_instruction ? in : fn, &print);
	exact_report_free(in);
	exact_report_free(fn);
	return rc ? 1 : 0;
}

/* The events that were sampled, without the exact profile's. */
static void only_sampled(struct profile *p)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->events; i++) {
		struct profile_event *e = &p->event[i];
		if (exact_record_event(e->info->name) == EXACT_EVENTS) {
			p->event[kept++] = *e;
		} else {
			profile_release_event(e);
		}
	}
	p->events = kept;
}

static int run(int argc, char **argv)
{
	struct options o = {
		.input = "perf.data",
		.profile = { .key = { PROFILE_COMM, PROFILE_DSO, PROFILE_SYMBOL }, .keys = 3, .chain_percent = 0.5 },
		.children = true,
	};
	int parsed = parse(&o, argc, argv);
	if (parsed <= 0)
		return parsed ? 2 : 0;
	o.report.file_name = o.input;

	struct err err = { 0 };
	struct perfdata_file *file;
	struct profile *profile;
	if (cli_open_data(&file, o.input))
		return 1;
	bool sampled = false;
	for (size_t i = 0; i < perfdata_event_count(file); i++)
		sampled |= exact_record_event(perfdata_event_info(file, i)->name) == EXACT_EVENTS;
	if (o.exact || o.errors || !sampled) {
		int status = run_exact(&o, file);
		perfdata_close(file);
		return status;
	}
	if (o.sort && !strcmp(o.sort, "instruction")) {
		cli_error("-s instruction is the exact profile's (--cycles exact)");
		perfdata_close(file);
		return 2;
	}
	bool stacks = false;
	for (size_t i = 0; i < perfdata_event_count(file); i++)
		stacks |= perfdata_event_info(file, i)->has_branches;
	bool weights = false, pushouts = false;
	for (size_t i = 0; i < perfdata_event_count(file); i++)
		weights |= perfdata_event_info(file, i)->sample_type & PERF_SAMPLE_WEIGHT_STRUCT;
	for (size_t i = 0; i < o.profile.keys; i++)
		pushouts |= profile_is_pushout(o.profile.key[i]);
	if (pushouts && (!weights || o.profile.branches)) {
		cli_error(weights ? "pushouts are those of samples, not of branch stacks" :
			"%s does not say by how much instructions were late: record -e pushout, or a precise event with -W", o.input);
		perfdata_close(file);
		return weights ? 2 : 1;
	}
	if (o.profile.branches && !stacks) {
		cli_error("%s has no branch stacks: record -b keeps them", o.input);
		perfdata_close(file);
		return 1;
	}
	if (profile_load(&profile, file, &o.profile, &err)) {
		cli_error("%s", err.text);
		perfdata_close(file);
		return 1;
	}
	only_sampled(profile);
	uint64_t samples = 0;
	for (size_t i = 0; i < profile->events; i++)
		samples += profile->event[i].samples;
	struct symbols_object *object;
	for (size_t i = 0; (object = symbols_object(profile->symbols, i)); i++) {
		const char *why = symbols_object_why(object);
		if (why && (o.verbose || strstr(why, "build-id")))	/* rebuilt since: nobody expects that */
			cli_warn("no symbols: %s", why);
	}
	if (!samples && !o.json)
		cli_error("%s has no samples", o.input);
	else if (o.json)
		report_json(stdout, profile, &o.report);
	else
		report_stdio(stdout, profile, &o.report);
	profile_free(profile);
	perfdata_close(file);
	return samples || o.json ? 0 : 1;
}

const struct cli_command cmd_report = {
	.name = "report", .summary = "print the profile in a perf.data file", .help = help, .run = run,
};
