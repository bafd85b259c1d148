/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu mem record samples loads and stores with their data addresses; softpmu mem report prints what they add up
 * to.
 *
 * `mem record` is `record` with the events that this machine has for it.  Left out of perf's options: physical
 * addresses (-p, --phys-data: frames are the model's own), --cpu, kernel samples (-K: the tracer sees user mode
 * only), -D. */
#include "cli/cli.h"
#include "output/memprofile.h"
#include "session/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_record;
static const struct cli_command mem_record, mem_report;

/* ---- report ---- */

struct report {
	const char *input;
	struct memprofile_options load;
	struct memreport_options print;
	bool json, csv, map_set;
	double limit;			/* percent; negative: not given */
};

static int choose_tables(void *target, const struct option *option, const char *list, struct err *err)
{
	struct report *o = target;
	static const struct {
		const char *name;
		enum memprofile_key key;
	} keys[] = {
		{ "insn", MEM_BY_INSTRUCTION },
		{ "symbol", MEM_BY_INSTRUCTION },
		{ "object", MEM_BY_OBJECT },
		{ "symbol_daddr", MEM_BY_OBJECT },
		{ "page", MEM_BY_PAGE },
		{ "set", MEM_BY_SET },
	};
	(void)option;
	o->print.keys = 0;
	for (const char *word = list; ; word++) {
		size_t n = strcspn(word, ","), k = 0;
		while (k < sizeof keys / sizeof *keys && (strlen(keys[k].name) != n || strncmp(keys[k].name, word, n)))
			k++;
		if (k == sizeof keys / sizeof *keys)
			return err_set(err, ERR_INPUT, "option -s: '%.*s' is not one of insn, object, page, set",
				(int)n, word);
		o->print.keys |= 1u << keys[k].key;
		word += n;
		if (!*word)
			return 0;
	}
}

static int choose_types(bool *loads, bool *stores, const char *list, struct err *err)
{
	*loads = *stores = false;
	for (const char *word = list; ; word++) {
		size_t n = strcspn(word, ",");
		if (n == 4 && !strncmp(word, "load", 4)) {
			*loads = true;
		} else if (n == 5 && !strncmp(word, "store", 5)) {
			*stores = true;
		} else {
			return err_set(err, ERR_INPUT, "option -t: '%.*s' is not load or store", (int)n, word);
		}
		word += n;
		if (!*word)
			return 0;
	}
}

static int set_types(void *target, const struct option *option, const char *list, struct err *err)
{
	struct report *o = target;
	(void)option;
	return choose_types(&o->load.loads, &o->load.stores, list, err);
}

static int set_cache(void *target, const struct option *option, const char *text, struct err *err)
{
	struct memprofile_cache *c = &((struct report *)target)->load.l1d;
	char end;
	(void)option;
	if (sscanf(text, "%u,%u,%u%c", &c->line, &c->sets, &c->ways, &end) == 3 && c->line && c->sets && c->ways)
		return 0;
	return err_set(err, ERR_INPUT, "option --l1d: '%s' is not LINE,SETS,WAYS, such as 64,64,8", text);
}

static int set_map(void *target, const struct option *option, const char *value, struct err *err)
{
	struct report *o = target;
	(void)value, (void)err;
	o->print.map = option->name[0] == 'm';
	o->map_set = true;
	return 0;
}

static const struct option report_options[] = {
	OPT_TEXT('i', "input", "FILE", struct report, input, "Read FILE. Default: perf.data."),
	OPT_CALL('t', "type", "load,store", set_types, "Use only these samples. Default: both."),
	OPT_FLAG('U', "hide-unresolved", struct report, load.hide_unresolved, "Leave out samples whose instruction or "
		"data has no name."),
	OPT_CALL(0, "l1d", "LINE,SETS,WAYS", set_cache, "Use this first-level data cache, if the file does not say "
		"which it was."),
	OPT_CALL('s', "sort", "TABLE,...", choose_tables, "Print these tables: insn, object, page, set. Default: all."),
	OPT_CALL(0, "map", NULL, set_map, "Print the map of addresses against sets. This is the default with all "
		"tables."),
	OPT_CALL(0, "no-map", NULL, set_map, "Do not print the map."),
	OPT_PERCENT(0, "percent-limit", "PERCENT", struct report, limit, "Leave out entries below PERCENT. Default: "
		"0.5; with --csv and --json 0."),
	OPT_WHOLE(0, "rows", "N", struct report, print.rows, 0, 1e9, "Print at most N entries a table; 0: all. "
		"Default: 20."),
	OPT_FLAG(0, "csv", struct report, csv, "Print one table as comma-separated values."),
	OPT_FLAG(0, "json", struct report, json, "Print all tables as JSON."),
	OPT_IGNORED(0, "stdio", "Accepted without effect: text is the only form for people."),
	OPT_IGNORED('f', "force", "Accepted without effect: files of other users are read, too."),
	OPT_REFUSED('x', "field-separator", "columns are padded", "--csv puts commas between them"),
	OPT_REFUSED('C', "cpu", "samples of all processors are added up", "perf mem -C CPU report"),
	OPT_REFUSED('D', "dump-raw-samples", "samples are added up", "perf mem -D report or perf script"),
	OPT_REFUSED('p', "phys-data", "physical addresses of samples are not supported", NULL),
	OPT_REFUSED(0, "data-page-size", "samples do not hold sizes of pages", NULL),
	OPT_END
};

static int take_file(void *target, const char *word, struct err *err)
{
	struct report *o = target;
	if (o->input)
		return err_set(err, ERR_INPUT, "'%s' is one word too many (softpmu mem report --help)", word);
	o->input = word;
	return 0;
}

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse_report(struct report *o, int argc, char **argv)
{
	const int go = cli_options_and_words(&mem_report, o, argc, argv, take_file);
	if (go <= 0)
		return go;
	if (!o->input)
		o->input = "perf.data";
	if (o->json && o->csv) {
		cli_error("--json and --csv exclude each other");
		return -1;
	}
	if (o->csv && !o->print.keys)
		o->print.keys = 1u << MEM_BY_INSTRUCTION;
	if (o->csv && (o->print.keys & (o->print.keys - 1))) {
		cli_error("--csv prints one table: one of insn, object, page, set with -s");
		return -1;
	}
	if (!o->map_set)
		o->print.map = !o->print.keys || o->print.keys == 1u << MEM_BY_SET;
	if (!o->print.keys)
		o->print.keys = (1u << MEM_KEYS) - 1;
	o->print.percent_limit = o->limit >= 0 ? o->limit : o->json || o->csv ? 0 : 0.5;
	return 1;
}

static int report(int argc, char **argv)
{
	struct report o = { .limit = -1, .print = { .rows = 20 } };
	struct err err = { 0 };
	struct perfdata_file *file;
	struct memprofile *profile;
	int parsed = parse_report(&o, argc, argv);
	if (parsed <= 0)
		return parsed ? 2 : 0;
	if (cli_open_data(&file, o.input))
		return 1;
	if (memprofile_load(&profile, file, &o.load, &err)) {
		cli_error("%s", err.text);
		perfdata_close(file);
		return 1;
	}
	o.print.file_name = o.input;
	uint64_t samples = profile->samples;
	bool wants_addresses = o.print.keys & ~(1u << MEM_BY_INSTRUCTION);
	if (!samples && !o.json && !o.csv)
		cli_error("%s has no such samples", o.input);
	else if (o.json)
		memreport_json(stdout, profile, &o.print);
	else if (o.csv)
		memreport_csv(stdout, profile, &o.print);
	else
		memreport_text(stdout, profile, &o.print);
	if (samples && !profile->with_address && wants_addresses)
		cli_warn("%s holds no data addresses: record them with `softpmu mem record', or `record -d' and a "
			 "precise event",
			o.input);
	memprofile_free(profile);
	perfdata_close(file);
	return samples || o.json || o.csv ? 0 : 1;
}

/* ---- record ---- */

struct sampling {
	struct cli_run run;		/* only to learn which core */
	bool loads, stores, chosen, latency_set;
	unsigned latency;
	char **word;			/* the command line of softpmu record */
	int words;
};

static int set_sampled(void *target, const struct option *option, const char *list, struct err *err)
{
	struct sampling *o = target;
	(void)option;
	o->chosen = true;
	return choose_types(&o->loads, &o->stores, list, err);
}

static int set_latency(void *target, const struct option *option, const char *value, struct err *err)
{
	struct sampling *o = target;
	const struct option row = {
		.kind = OPTION_WHOLE, .name = option->name, .argument = "N", .bytes = sizeof o->latency, .most = 0xffff
	};
	o->latency_set = true;
	return options_value(&row, &o->latency, value, err);
}

static const struct option record_options[] = {
	OPT_CALL('t', "type", "load,store", set_sampled, "Sample these accesses. Default: those of both that the "
		"machine's PMU can sample."),
	OPT_CALL(0, "ldlat", "N", set_latency, "Sample loads of more than N cycles. Default: 30."),
	OPT_IGNORED('U', "all-user", "Accepted without effect: only user mode is modelled."),
	OPT_REFUSED('e', "event", "mem record chooses the events (-t load,store)", "for others: softpmu record -d -W "
		"-e EVENT"),
	OPT_REFUSED('K', "all-kernel", "the tracer sees user mode only", NULL),
	OPT_REFUSED('p', "phys-data", "physical addresses of samples are not supported", NULL),
	OPT_END
};

/* Passes the options that are not mem's own on to record. */
static void keep_words(void *context, const struct option_set *set, char **words, int count)
{
	struct sampling *o = context;
	for (int i = 0; i < count && set->option != record_options; i++)
		o->word[o->words++] = words[i];
}

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse_record(struct sampling *o, int argc, char **argv)
{
	const struct option_set set[] = { { record_options, o }, { cmd_record.options, NULL },
		{ cli_run_options, &o->run }, { NULL, NULL } };
	struct option_parser p = { .set = set, .taken = keep_words, .context = o };
	int i;
	const int go = cli_parse(&mem_record, &p, argc, argv, &i);
	while (go > 0 && i < argc)
		o->word[o->words++] = argv[i++];
	return go;
}

/* Why this machine has no data addresses to sample; NULL if it has. */
static const char *why_not(const struct spmu_model *m)
{
	if (spmu_model_family(m) == SPMU_FAMILY_NETBURST)
		return NULL;
	if (spmu_model_family(m) != SPMU_FAMILY_ARCH)
		return "its PMU has no PEBS";
	return spmu_model_capabilities(m) >> 8 & 15 ? NULL
						    : "its PEBS records hold no data address (those of Nehalem and "
						      "later do)";
}

/* Appends the event to the list if the machine can sample it: 0; else an error. */
static int offer(const struct sampling *o, const struct spmu_model *m, const char *event, char *list, size_t room,
	struct err *err)
{
	struct session_events events = { 0 };
	const struct session_parse_options how = { .model = m, .core = &o->run.core, .purpose = SESSION_FOR_SAMPLING };
	int code = session_parse(&events, &how, event, err);
	session_events_free(&events);
	if (!code)
		snprintf(list + strlen(list), room - strlen(list), "%s%s", *list ? "," : "", event);
	return code;
}

static int choose_sampling(struct sampling *o, const struct spmu_model *m, char *list, size_t room)
{
	const char *why = why_not(m), *name = o->run.core.name;
	bool netburst = spmu_model_family(m) == SPMU_FAMILY_NETBURST;
	struct err err = { 0 };
	char loads[64];
	if (why) {
		cli_error("mem record: %s has no data addresses to sample: %s", name, why);
		return -1;
	}
	if (netburst && o->latency_set) {
		cli_error("--ldlat: PEBS of %s does not tell latencies", name);
		return -1;
	}
	snprintf(loads, sizeof loads, netburst ? "memory_loads:p" : "cpu/mem-loads,ldlat=%u/pp", o->latency);
	if (o->loads && offer(o, m, loads, list, room, &err)) {
		cli_error("%s", err.text);
		return -1;
	}
	if (o->stores && offer(o, m, netburst ? "memory_stores:p" : "mem-stores:pp", list, room, &err)) {
		if (o->chosen) {
			cli_error("%s", err.text);
			return -1;
		}
		cli_note("loads only: %s", err.text);
	}
	return 0;
}

static int do_record(int argc, char **argv)
{
	struct sampling o = { .loads = true, .stores = true, .latency = 30 };
	char list[256] = "";
	o.word = calloc((size_t)argc + 8, sizeof *o.word);
	if (!o.word) {
		cli_error("out of memory");
		return 1;
	}
	cli_run_init(&o.run);
	o.word[0] = "record";
	o.word[1] = "-e";
	o.word[2] = list;
	o.word[3] = "-d";
	o.word[4] = "-W";
	o.word[5] = "--heap";
	o.words = 6;
	int status = 2, parsed = parse_record(&o, argc, argv);
	if (!parsed)
		status = 0;
	if (parsed > 0 && !cli_core(&o.run)) {
		struct spmu_model *model = cli_model(&o.run.core);
		if (!model)
			status = 1;
		else if (!choose_sampling(&o, model, list, sizeof list))
			status = cmd_record.run(o.words, o.word);
		spmu_model_free(model);
	}
	free(o.word);
	return status;
}

static int run(int argc, char **argv)
{
	/* perf accepts them ahead of the verb, too */
	static const struct { const char *brief, *name; bool value; } ahead[] = { { "-t", "--type", true },
		{ "-i", "--input", true }, { "-C", "--cpu", true }, { "-x", "--field-separator", true },
		{ "-U", "--hide-unresolved", false }, { "-f", "--force", false }, { "-p", "--phys-data", false },
		{ "-D", "--dump-raw-samples", false }, { "--data-page-size", "--data-page-size", false } };
	int verb = 1;
	for (bool known = true; known && verb < argc && argv[verb][0] == '-';) {
		known = false;
		for (size_t i = 0; i < sizeof ahead / sizeof *ahead && !known; i++) {
			const size_t n = strlen(ahead[i].name);
			const bool whole = !strcmp(argv[verb], ahead[i].brief) || !strcmp(argv[verb], ahead[i].name);
			known = whole || (ahead[i].value && (!strncmp(argv[verb], ahead[i].brief, 2) ||
				(!strncmp(argv[verb], ahead[i].name, n) && argv[verb][n] == '=')));
			if (known)
				verb += whole && ahead[i].value ? 2 : 1;
		}
	}
	if (verb < argc &&
		(!strcmp(argv[verb], "record") || !strcmp(argv[verb], "report") || !strcmp(argv[verb], "rec") ||
			!strcmp(argv[verb], "rep"))) {
		bool records = argv[verb][2] == 'c';
		char *name = argv[verb];
		memmove(argv + 2, argv + 1, (size_t)(verb - 1) * sizeof *argv);
		argv[1] = name;
		return records ? do_record(argc - 1, argv + 1) : report(argc - 1, argv + 1);
	}
	if (verb < argc)
		cli_error("mem: unknown command '%s': softpmu mem record or softpmu mem report", argv[verb]);
	else
		cli_error("mem: no command given: softpmu mem record or softpmu mem report");
	return 2;
}

static const struct cli_command mem_record = {
	.name = "mem record", .summary = "sample loads and stores with their data addresses", .options =
		record_options, .runs = true,
	.usage = "[options] [--] PROGRAM [arguments]",
	.about = "Samples loads and stores with their data addresses by PEBS: the same as softpmu record -d -W "
		"--heap with the events that the machine has for loads and stores. Takes every option of softpmu "
		"record but -e, and:",
};
static const struct cli_command mem_report = {
	.name = "mem report", .summary = "print such a file by instruction, data object, page and cache set",
		.options = report_options,
	.usage = "[options] [FILE]",
	.about = "Prints a perf.data file by load instruction, data object, page, and set of the first-level data "
		"cache.",
};
static const struct cli_command *const parts[] = { &mem_record, &mem_report, NULL };
const struct cli_command cmd_mem = {
	.name = "mem", .summary = "sample loads and stores, and print them by instruction, data object, page and "
		"cache set", .parts = parts,
		.run = run,
	.usage = "record [options] [--] PROGRAM [arguments]\nreport [options] [FILE]",
	.about = "Samples loads and stores with their data addresses, and prints what they add up to.",
};
