/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu report: prints the profile in a perf.data file, as a table like perf report's or as JSON.
 *
 * What perf's own report can do with the same file, and this cannot, is handed over to perf: the full-screen interface,
 * dumps of records, and others. */
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "util/terminal_output.h"
#include "cli/profile/report_html.h"
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
	const char *sort, *html, *compare, *add, *kallsyms;
	bool json, children, no_chains, order_set, counts, verbose, exact, errors, branches, header, header_only;
	enum terminal_when colour;
	const char *hand_over;		/* the option that asks for perf; NULL: none */
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

#define OPT_PERF(letter, long_name, value, text, ...) OPT_NOTED(letter, long_name, value, struct options, hand_over, \
	"Hands over to perf report, where perf is installed" text, __VA_ARGS__)

static int set_percentage(void *target, const struct option *option, const char *value, struct err *err)
{
	struct options *o = target;
	(void)option;
	o->profile.filter.relative = !strcmp(value, "relative");
	return o->profile.filter.relative || !strcmp(value, "absolute") ? 0
		: err_set(err, ERR_INPUT, "option --percentage: '%s' is not relative or absolute", value);
}

/* START,STOP in seconds, each of which may be missing. */
static int set_time(void *target, const struct option *option, const char *value, struct err *err)
{
	struct profile_filter *f = &((struct options *)target)->profile.filter;
	const char *comma = strchr(value, ',');
	char *end = NULL;
	(void)option;
	const double from = comma == value ? 0 : strtod(value, &end);
	if (comma && (comma == value || end == comma) && from >= 0 && from < 1e9) {
		const double until = comma[1] ? strtod(comma + 1, &end) : 0;
		if ((!comma[1] || !*end) && until >= 0 && until < 1e9 && (!comma[1] || until >= from)) {
			f->from = (uint64_t)(from * 1e9);
			f->until = comma[1] ? (uint64_t)(until * 1e9) + 1 : 0;
			return 0;
		}
	}
	return err_set(err, ERR_INPUT, "option --time: '%s' is not START,STOP in seconds, such as 0.1,0.25", value);
}

static int set_report_separator(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option, (void)err;
	return cli_separator(value, &((struct options *)target)->report.separator) ? 0 : ERR_INPUT;
}

static const struct option options[] = {
	OPT_TEXT('i', "input", "FILE", struct options, input, "Read FILE; - is standard input. Default: "
		"perf.data."),
	OPT_GROUP("Which samples count"),
	OPT_TEXT('c', "comms", "COMM,...", struct options, profile.filter.comms, "Only samples of these commands."),
	OPT_TEXT('d', "dsos", "DSO,...", struct options, profile.filter.dsos, "Only entries in these objects."),
	OPT_TEXT('S', "symbols", "SYMBOL,...", struct options, profile.filter.symbols, "Only entries of these "
		"functions."),
	OPT_TEXT(0, "symbol-filter", "TEXT", struct options, profile.filter.part, "Only entries of functions whose "
		"name holds TEXT."),
	OPT_TEXT(0, "pid", "PID,...", struct options, profile.filter.pids, "Only samples of these processes."),
	OPT_TEXT(0, "tid", "TID,...", struct options, profile.filter.tids, "Only samples of these threads."),
	OPT_TEXT('C', "cpu", "CPU,...", struct options, profile.filter.cpus, "Only samples of these processors, as in "
		"0,2-4."),
	OPT_CALL(0, "time", "START,STOP", set_time, "Only samples between these times, in seconds; one may be "
		"missing."),
	OPT_FLAG('U', "hide-unresolved", struct options, profile.filter.resolved, "Only entries with a symbol."),
	OPT_CALL(0, "percentage", "relative|absolute", set_percentage, "With these filters, let percentages be of what "
		"passes them, or of the whole file. Default: absolute."),
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
	OPT_TEXT(0, "kallsyms", "FILE", struct options, kallsyms, "Name the kernel's functions by FILE, a copy "
		"of its /proc/kallsyms. Default: the file that perf.data names, if it is there."),
	OPT_FLAG(0, "full-source-path", struct options, profile.full_paths, "Print the whole path of source files."),
	OPT_FLAG(0, "show-total-period", struct options, report.totals, "Add a column with the sum of the periods."),
	OPT_FLAG(0, "hierarchy", struct options, report.hierarchy, "Print a tree of entries: one level for each sort "
		"key. Without call trees."),
	OPT_TEXT('w', "column-widths", "WIDTH,...", struct options, report.widths, "Make the columns so wide, and cut "
		"longer text; the percentages are the first, and keep their width."),
	OPT_CALL('t', "field-separator", "SEPARATOR", set_report_separator, "Print SEPARATOR between columns, without "
		"padding and without call trees; it becomes a point in names."),
	OPT_FLAG(0, "header", struct options, header, "Also print where, how and by what the file was made."),
	OPT_FLAG(0, "header-only", struct options, header_only, "Print only that."),
	OPT_FLAG('q', "quiet", struct options, report.quiet, "Print no headings."),
	OPT_FLAG('T', "threads", struct options, report.threads, "Behind the tables, print what each thread counted "
		"(record -s)."),
	OPT_FLAG(0, "skip-empty", struct options, report.skip_empty, "Print no table for an event without samples."),
	OPT_FLAG(0, "no-demangle", struct options, report.mangled, "Print names as they are in the file: _ZN..."),
	OPT_CLEAR(0, "demangle", struct options, report.mangled, "Print names as in the source. This is the default."),
	OPT_WHOLE(0, "max-stack", "N", struct options, profile.max_stack, 1, 127, "Read only N frames of call chains: "
		"with --children or -G the outermost, else the innermost."),
	OPT_FLAG('n', "show-nr-samples", struct options, counts, "Add a column with the number of samples."),
	OPT_CALL('g', "call-graph", "graph,MIN,ORDER|none", set_graph, "Print call trees, if the file has call "
		"chains, with branches of at least MIN percent (default: 0.5). ORDER is caller (outermost first; the "
		"default with --children) or callee. none: no trees.", .optional = true, .takes = is_graph),
	OPT_CALL('G', "inverted", NULL, invert, "Print call trees with the outermost caller first."),
	OPT_FLAG(0, "children", struct options, children, "If the file has call chains, count for each function also "
		"the samples in the functions that it called. This is the default."),
	OPT_CLEAR(0, "no-children", struct options, children, "Count for each function its own samples only."),
	OPT_CALL(0, "percent-limit", "PERCENT", set_limit, "Leave out entries below PERCENT."),
	OPT_COLOR(struct options, colour),
	OPT_FLAG(0, "json", struct options, json, "Print JSON: events, entries, call trees."),
	OPT_TEXT(0, "html", "FILE", struct options, html, "Write a page to FILE that shows what the perf.data file "
		"holds. It is one file, which opens in any browser, offline. - is standard output."),
	OPT_TEXT(0, "compare", "OTHER", struct options, compare, "With --html: also show the differences from the "
		"perf.data file OTHER."),
	OPT_TEXT(0, "add", "FILE,...", struct options, add, "With --html: also show what topdown --json -o FILE "
		"or cost --json --histogram -o FILE wrote about the same program, or trace --pipeline FILE.json."),
	OPT_IGNORED(0, "stdio", "Accepted without effect: a table is the only form for people."),
	OPT_CHOICE(0, "stdio-color", "auto|always|never", struct options, colour, TERMINAL_AUTO, "The same as "
		"--color."),
	OPT_IGNORED('f', "force", "Accepted without effect: files of other users are read, too."),
	OPT_IGNORED(0, "ignore-vmlinux", "Accepted without effect: no kernel's symbols are read."),
	OPT_IGNORED(0, "demangle-kernel", "Accepted without effect: no kernel's symbols are read."),
	OPT_NOTED(0, "pretty", "KEY", struct options, hand_over, "Hands over to perf report, where perf is installed: "
		"the form of -T."),
	OPT_GROUP("What perf's own report does with the same file"),
	OPT_PERF(0, "tui", NULL, ": the full-screen interface."),
	OPT_PERF('D', "dump-raw-trace", NULL, ": every record of the file."),
	OPT_PERF('I', "show-info", NULL, ": caches and others in the header."),
	OPT_PERF(0, "tasks", NULL, ": the processes and threads."),
	OPT_PERF(0, "mmaps", NULL, ": the mappings of processes."),
	OPT_PERF(0, "stats", NULL, ": how many records of each kind there are."),
	OPT_PERF(0, "branch-history", NULL, ": branch stacks as call chains."),
	OPT_PERF(0, "total-cycles", NULL, ": blocks by cycles from branch stacks."),
	OPT_PERF(0, "mem-mode", NULL, "; softpmu mem report prints data addresses, too."),
	OPT_PERF('p', "parent", "REGEX", ": a column of callers that match."),
	OPT_PERF('x', "exclude-other", NULL, ": only entries with such a caller."),
	OPT_PERF(0, "ignore-callees", "REGEX", ": call trees without the callees of these functions."),
	OPT_PERF(0, "show-ref-call-graph", NULL, ": call chains of another event."),
	OPT_PERF(0, "group", NULL, ": the events of a group in one table."),
	OPT_PERF(0, "group-sort-idx", "N", ": such a table by event N."),
	OPT_PERF(0, "symfs", "DIR", ": symbols of files below DIR."),
	OPT_PERF('k', "vmlinux", "FILE", ": a kernel's symbols."),
	OPT_PERF('m', "modules", NULL, ": a kernel's modules."),
	OPT_PERF(0, "show-cpu-utilization", NULL, ": columns of user and kernel mode."),
	OPT_PERF(0, "socket-filter", "N", ": samples of one socket."),
	OPT_PERF(0, "switch-on", "EVENT", ": samples behind an event."),
	OPT_PERF(0, "switch-off", "EVENT", ": samples before an event."),
	OPT_PERF(0, "show-on-off-events", NULL, ": these two events."),
	OPT_PERF(0, "stitch-lbr", NULL, ": call chains from several branch stacks."),
	OPT_PERF(0, "itrace", "OPTIONS", ": Intel PT.", .optional = true),
	OPT_PERF(0, "raw-trace", NULL, ": a tracepoint's fields."),
	OPT_PERF(0, "disable-order", NULL, ": records in the order of the file."),
	OPT_PERF(0, "ns", NULL, ": times in ns."),
	OPT_PERF(0, "time-quantum", "TIME", ": the steps of the sort key time."),
	OPT_PERF(0, "samples", "N", ": samples to look at one by one in its interface."),
	OPT_PERF(0, "percent-type", "TYPE", ": percentages in its interface's annotated code."),
	OPT_PERF('M', "disassembler-style", "STYLE", ": annotated code in its interface."),
	OPT_PERF(0, "source", NULL, ": source lines in its interface's annotated code."),
	OPT_PERF(0, "asm-raw", NULL, ": bytes in its interface's annotated code."),
	OPT_PERF(0, "objdump", "PATH", ": the disassembler of its interface."),
	OPT_PERF(0, "prefix", "PATH", ": where its interface finds source files."),
	OPT_PERF(0, "prefix-strip", "N", ": likewise."),
	OPT_FLAG(0, "inline", struct options, profile.inlines, "Show inlined functions in call trees, and give them "
		"entries of their own. This is the default."),
	OPT_CLEAR(0, "no-inline", struct options, profile.inlines, "Show inlined functions as the function that they "
		"were inlined into."),
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

/* As perf, which leaves out the column of a list with one word. */
static char *only_one(struct options *o)
{
	const struct { const char *list, *name; enum profile_key key; } filter[] = {
		{ o->profile.filter.dsos, "dso", PROFILE_DSO }, { o->profile.filter.comms, "comm", PROFILE_COMM },
		{ o->profile.filter.symbols, "symbol", PROFILE_SYMBOL } };
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	for (size_t i = 0; to && i < sizeof filter / sizeof *filter; i++) {
		struct profile_options *p = &o->profile;
		if (!filter[i].list || strchr(filter[i].list, ',') || p->branches)
			continue;
		fprintf(to, "# %s: %s\n", filter[i].name, filter[i].list);
		for (size_t k = 0; p->keys > 1 && k < p->keys; k++)
			if (p->key[k] == filter[i].key) {
				memmove(p->key + k, p->key + k + 1, (p->keys - k - 1) * sizeof *p->key);
				p->keys--;
				break;
			}
	}
	return to && !fclose(to) ? text : NULL;
}

/* --header: what the file says about its recording. */
static void print_header(const struct perfdata_file *file)
{
	static const struct { enum perfdata_feature feature; const char *name; } text[] = {
		{ PERFDATA_HOSTNAME, "hostname" }, { PERFDATA_OSRELEASE, "os release" },
		{ PERFDATA_VERSION, "perf version" }, { PERFDATA_ARCH, "arch" }, { PERFDATA_CPUDESC, "cpudesc" },
		{ PERFDATA_CPUID, "cpuid" } };
	char plain[4096];
	const char *word;
	puts("# ========");
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		if ((word = perfdata_feature_text(file, text[i].feature))) {
			cli_plain_name(plain, sizeof plain, word, NULL);
			printf("# %s : %s\n", text[i].name, plain);
		}
	if (perfdata_word(file, 0))
		fputs("# cmdline : ", stdout);
	for (size_t i = 0; (word = perfdata_word(file, i)); i++) {
		cli_plain_name(plain, sizeof plain, word, NULL);
		printf("%s ", plain);
	}
	if (perfdata_word(file, 0))
		putchar('\n');
	for (size_t i = 0; i < perfdata_event_count(file); i++) {
		const struct perfdata_event_info *e = perfdata_event_info(file, i);
		cli_plain_name(plain, sizeof plain, e->name, NULL);
		printf("# event : name = %s, %s = %llu, sample_type = 0x%llx\n", plain,
			e->frequency ? "frequency" : "period",
			(unsigned long long)(e->frequency ? e->frequency : e->period),
			(unsigned long long)e->sample_type);
	}
	puts("# ========\n#");
}

/* Fields and JSON are for programs: they are printed as into a file. */
static void open_terminal(struct terminal_output *terminal, const struct options *o)
{
	*terminal = (struct terminal_output){ .out = stdout };
	if (!o->json && !o->report.separator)
		terminal_output_open(terminal, stdout, o->colour);
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
	struct terminal_output terminal;
	open_terminal(&terminal, o);
	struct exact_report_options print = { .file_name = o->input, .by_function = !by_instruction, .json = o->json,
		.percent_limit = o->report.percent_limit, .terminal = terminal.terminal };
	if (!rc && o->errors && !exact_report_has_methods(in))
		rc = err_set(&err, ERR_INPUT,
			"nothing was sampled beside the exact profile: softpmu record --exact -e EVENT[,EVENT...]");
	if (rc)
		cli_error("%s: %s", o->input, err.text);
	else if (o->errors)
		exact_report_errors(terminal.out, in, fn, o->json);
	else
		exact_report_print(terminal.out, by_instruction ? in : fn, &print);
	terminal_output_close(&terminal);
	exact_report_free(in);
	exact_report_free(fn);
	return rc ? 1 : 0;
}

static void print_tables(const struct profile *profile, struct options *o)
{
	struct terminal_output terminal;
	open_terminal(&terminal, o);
	o->report.terminal = terminal.terminal;
	report_stdio(terminal.out, profile, &o->report);
	terminal_output_close(&terminal);
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

/* Refuses sort keys that the file has nothing for.  0, or the exit status after one printed line. */
static int refuse_keys(const struct options *o, const struct perfdata_file *file)
{
	bool stacks = false, weights = false, pushouts = false;
	for (size_t i = 0; i < perfdata_event_count(file); i++) {
		stacks |= perfdata_event_info(file, i)->has_branches;
		weights |= perfdata_event_info(file, i)->sample_type & PERF_SAMPLE_WEIGHT_STRUCT;
	}
	for (size_t i = 0; i < o->profile.keys; i++)
		pushouts |= profile_is_pushout(o->profile.key[i]);
	if (pushouts && (!weights || o->profile.branches)) {
		cli_error(weights ? "pushouts are those of samples, not of branch stacks"
				  : "%s does not say by how much instructions were late: record -e pushout, or a "
				    "precise event with -W",
			o->input);
		return weights ? 2 : 1;
	}
	if (o->profile.branches && !stacks) {
		cli_error("%s has no branch stacks: record -b keeps them", o->input);
		return 1;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	struct options o = {
		.input = "perf.data",
		.profile = { .key = { PROFILE_COMM, PROFILE_DSO, PROFILE_SYMBOL }, .keys = 3, .chain_percent = 0.5,
			.inlines = true },
		.children = true,
	};
	int parsed = parse(&o, argc, argv);
	if (parsed <= 0)
		return parsed ? 2 : 0;
	o.report.file_name = o.input;
	if (o.hand_over) {
		char option[40];
		snprintf(option, sizeof option, "--%s", o.hand_over);
		return cli_hand_over("report", option, argc, argv);
	}
	if (o.report.hierarchy) {	/* own samples, in each level */
		o.children = o.profile.children = o.profile.trees = o.report.print_chains = false;
		o.profile.by_self = true;
	}

	if (o.compare && !o.html) {
		cli_error("--compare goes with --html; softpmu compare prints the differences of two files");
		return 2;
	}
	if (o.add && !o.html) {
		cli_error("--add goes with --html");
		return 2;
	}
	if (o.html && o.kallsyms) {
		cli_error("--kallsyms does not go with --html: record --kallsyms names the file for all readers");
		return 2;
	}
	if (o.html)
		return report_html(o.html, o.input, o.compare, o.add);
	struct err err = { 0 };
	struct perfdata_file *file;
	struct profile *profile;
	if (cli_open_data(&file, o.input))
		return 1;
	if (o.header || o.header_only)
		print_header(file);
	perfdata_use_kallsyms(file, o.kallsyms);
	if (o.header_only) {
		perfdata_close(file);
		return 0;
	}
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
	if ((parsed = refuse_keys(&o, file))) {
		perfdata_close(file);
		return parsed;
	}
	char *const filtered = only_one(&o);
	o.report.filtered = filtered;
	if (profile_load(&profile, file, &o.profile, &err)) {
		cli_error("%s", err.text);
		free(filtered);
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
	if (!samples && !o.json && !o.report.threads)
		cli_error("%s has no samples", o.input);
	else if (o.json)
		report_json(stdout, profile, &o.report);
	else
		print_tables(profile, &o);
	profile_free(profile);
	free(filtered);
	perfdata_close(file);
	return samples || o.report.threads || o.json ? 0 : 1;
}

const struct cli_command cmd_report = {
	.name = "report", .summary = "print the profile in a perf.data file", .options = options, .run = run,
	.usage = "[options] [FILE]",
	.about = "Prints the profile in a perf.data file, made by softpmu record or by perf record.",
};
