/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu report: prints the profile in a perf.data file, as a table like perf report's or as JSON.
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

extern const struct cli_command cmd_report;

struct options {
	const char *input;
	struct profile_options profile;
	struct report_options report;
	const char *sort;
	bool json, children, no_chains, order_set, counts, verbose, exact, errors, branches;
};

static const struct {
	const char *name;
	enum profile_key key;
} keys[] = {
	{ "comm", PROFILE_COMM },
	{ "dso", PROFILE_DSO },
	{ "symbol", PROFILE_SYMBOL },
	{ "sym", PROFILE_SYMBOL },
	{ "srcline", PROFILE_SRCLINE },
	{ "pid", PROFILE_PID },
	{ "tid", PROFILE_TID },
	{ "cpu", PROFILE_CPU },
	{ "pushout", PROFILE_PUSHOUT },
	{ "pushout_median", PROFILE_PUSHOUT_MEDIAN },
	{ "pushout_share", PROFILE_PUSHOUT_SHARE },
	{ "dso_from", PROFILE_DSO_FROM },
	{ "symbol_from", PROFILE_SYMBOL_FROM },
	{ "dso_to", PROFILE_DSO_TO },
	{ "symbol_to", PROFILE_SYMBOL_TO },
	{ "mispredict", PROFILE_MISPREDICT },
	{ "cycles", PROFILE_CYCLES },
};

/* Reads the list of -F (fields) or -s.  Both may name overhead and sample.  0, or -1 after one printed line. */
static int parse_keys(struct options *o, const char *list, bool fields)
{
	struct profile_options *p = &o->profile;
	p->keys = 0;
	p->branches = false;
	/* -F without overhead_children: one column, as in perf, and still trees of what each function called */
	o->report.only_self = p->by_self = fields && !strstr(list, "overhead_children");
	o->report.sort_starts_with_symbol =
		!fields && !strncmp(list + (strncmp(list, "overhead,", 9) ? 0 : 9), "sym", 3);
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
		} else if ((n == 8 && !strncmp(word, "overhead", 8)) ||
			(n == 17 && !strncmp(word, "overhead_children", 17))) {
			/* this column is always there */
		} else if (n == 6 && !strncmp(word, "sample", 6)) {
			o->report.counts = true;
		} else {
			cli_error("unknown %s key '%.*s'; there are comm, dso, symbol, srcline, pid, tid, cpu; "
				  "pushout, pushout_median, pushout_share; "
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
	if (p->keys && !entries)	/* only columns were named: entries are symbols */
		p->key[p->keys++] = PROFILE_SYMBOL;
	if (!p->keys) {
		cli_error("no sort key in '%s'", list);
		return -1;
	}
	return 0;
}

static int parse_percent(const char *option, const char *text, double *out)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (*end == '%')
		end++;
	if (errno || end == text || *end || !(v >= 0 && v <= 100)) {
		cli_error("option %s: '%s' is not a percentage from 0 to 100", option, text);
		return -1;
	}
	*out = v;
	return 0;
}

/* Reads graph,0.5,caller, in any order, as perf does. */
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
			   parse_percent("-g", word, &o->profile.chain_percent)) {
			return -1;
		}
		list += n + (list[n] == ',');
	}
	return 0;
}

static bool is_graph(const char *word)
{
	return word &&
		(strchr("0123456789", *word) || !strncmp(word, "graph", 5) || !strncmp(word, "none", 4) ||
			!strncmp(word, "calle", 5) || !strncmp(word, "flat", 4) || !strncmp(word, "fractal", 7) ||
			!strncmp(word, "folded", 6));
}

static int set_sort(void *target, const struct option *option, const char *value, struct err *err)
{
	struct options *o = target;
	(void)option, (void)err;
	o->sort = value;
	return strcmp(value, "instruction") && parse_keys(o, value, false) ? ERR_INPUT : 0;
}

static int set_fields(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)err;
	return parse_keys(target, value, true) ? ERR_INPUT : 0;
}

static int set_graph(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)err;
	return value && parse_graph(target, value) ? ERR_INPUT : 0;
}

static int invert(void *target, const struct option *option, const char *value, struct err *err)
{
	struct options *o = target;
	(void)option, (void)value, (void)err;
	o->profile.caller_first = o->order_set = true;
	return 0;
}

static int set_limit(void *target, const struct option *option, const char *value, struct err *err)
{
	struct options *o = target;
	(void)option, (void)err;
	if (parse_percent("--percent-limit", value, &o->report.percent_limit))
		return ERR_INPUT;
	o->profile.chain_percent = o->report.percent_limit;
	return 0;
}

static const struct option options[] = {
	OPT_TEXT('i', "input", "FILE", struct options, input, "Read FILE. Default: perf.data."),
	OPT_GROUP("What makes an entry"),
	OPT_CALL('s', "sort", "KEY,...", set_sort, "Add up samples that agree in these keys: comm, dso, symbol, "
		"srcline, pid, tid, cpu. Default: comm,dso,symbol. Keys that add up the branches in the samples' "
		"branch stacks, each counting 1: dso_from, symbol_from, dso_to, symbol_to, mispredict, cycles. Keys "
		"that add a column and sort by it, largest first: pushout (cycles by which the sampled slots retired "
		"late, times the samples' periods; for precise events with record -W, by which the sampled "
		"instructions did), pushout_median, pushout_share."),
	OPT_FLAG('b', "branch-stack", struct options, branches, "The same as -s "
		"comm,dso_from,symbol_from,symbol_to,cycles."),
	OPT_CHOICE(0, "cycles", "exact", struct options, exact, true, "Print the exact profile (softpmu record "
		"--exact): the cycles of each symbol (-s symbol, the default) or instruction (-s instruction) for "
		"which retirement waited, with their causes. If the file holds only an exact profile, this is the "
		"default."),
	OPT_FLAG(0, "sampling-error", struct options, errors, "Print how far the profiles of the sampled events are "
		"from the exact one: the share of samples at the wrong instruction."),
	OPT_GROUP("What is printed"),
	OPT_CALL('F', "fields", "FIELD,...", set_fields, "Print these columns: overhead (or overhead_children), "
		"sample, and sort keys."),
	OPT_FLAG('n', "show-nr-samples", struct options, counts, "Add a column with the number of samples."),
	OPT_CALL('g', "call-graph", "graph,MIN,ORDER|none", set_graph, "Print call trees, if the file has call "
		"chains, with branches of at least MIN percent (default: 0.5). ORDER is caller (outermost first; the "
		"default with --children) or callee. none: no trees.", .optional = true, .takes = is_graph),
	OPT_CALL('G', "inverted", NULL, invert, "Print call trees with the outermost caller first."),
	OPT_FLAG(0, "children", struct options, children, "If the file has call chains, count for each function also "
		"the samples in the functions that it called. This is the default."),
	OPT_CLEAR(0, "no-children", struct options, children, "Count for each function its own samples only."),
	OPT_CALL(0, "percent-limit", "PERCENT", set_limit, "Leave out entries below PERCENT."),
	OPT_FLAG(0, "json", struct options, json, "Print JSON: events, entries, call trees."),
	OPT_IGNORED(0, "stdio", "Accepted without effect: a table is the only form for people."),
	OPT_IGNORED(0, "no-inline", "Accepted without effect: call trees never show inlined functions."),
	OPT_FLAG('v', "verbose", struct options, verbose, "Also print which files' symbols could not be read."),
	OPT_END
};

static int take_file(void *target, const char *word, struct err *err)
{
	struct options *o = target;
	if (strcmp(o->input, "perf.data"))
		return err_set(err, ERR_INPUT, "'%s' is one word too many (softpmu report --help)", word);
	o->input = word;
	return 0;
}

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct options *o, int argc, char **argv)
{
	const int go = cli_options_and_words(&cmd_report, o, argc, argv, take_file);
	if (go <= 0)
		return go;
	if (o->branches && !o->sort && !o->profile.branches &&
		parse_keys(o, "comm,dso_from,symbol_from,symbol_to,cycles", false))
		return -1;
	o->report.counts |= o->counts;
	o->profile.branches |= o->branches;
	if (!o->order_set)
		o->profile.caller_first = o->children;
	o->profile.children = o->children;
	o->profile.chains = true;
	o->profile.trees = o->report.print_chains = !o->no_chains;
	return 1;
}

/* Prints the exact profile. */
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
		rc = err_set(&err, ERR_INPUT,
			"nothing was sampled beside the exact profile: softpmu record --exact -e EVENT[,EVENT...]");
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

/* Drops the exact profile's events, so that only those that were sampled remain. */
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
		cli_error(weights ? "pushouts are those of samples, not of branch stacks"
				  : "%s does not say by how much instructions were late: record -e pushout, or a "
				    "precise event with -W",
			o.input);
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
		/* A file that was rebuilt since is always reported. */
		if (why && (o.verbose || strstr(why, "build-id")))
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
	.name = "report", .summary = "print the profile in a perf.data file", .options = options, .run = run,
	.usage = "[options] [FILE]",
	.about = "Prints the profile in a perf.data file, made by softpmu record or by perf record.",
};
