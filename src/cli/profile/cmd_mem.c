/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu mem record, softpmu mem report: samples of loads and stores with their data addresses, and what they add up to.
 *
 * `mem record` is `record` with the events that this machine has for it.  Left out of perf's options: physical addresses (-p, --phys-data: frames are
 * the model's own), --cpu, kernel samples (-K: the tracer sees user mode only), -D. */
#include "cli/cli.h"
#include "output/memprofile.h"
#include "session/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: softpmu mem record [options] [--] PROGRAM [arguments]\n"
"       softpmu mem report [options]\n\n"
"record: samples loads and stores with their data addresses by PEBS, as record -d -W --heap with the events of the machine.\n"
"Takes every option of record but -e, and\n\n"
"  -t, --type LIST         what to sample: load, store; default both, as far as the machine can\n"
"      --ldlat N           loads of more than N cycles; default 30\n"
"  -U, --all-user          accepted: the program's own accesses are all there are\n\n"
"report: prints a perf.data file by load instruction, data object, page, and set of the first-level data cache.\n\n"
"  -i, --input FILE        the file; default perf.data\n"
"  -t, --type LIST         only these samples: load, store; default both\n"
"  -s, --sort KEYS         the tables, joined by commas: insn, object, page, set; default all\n"
"      --map, --no-map     the map of addresses against sets, or not; default with all tables\n"
"  -U, --hide-unresolved   leave out samples whose instruction or data has no name\n"
"      --l1d LINE,SETS,WAYS  the cache, if the file does not say\n"
"      --percent-limit P   leave out entries below P percent; default 0.5, with --csv and --json 0\n"
"      --rows N            at most N entries a table; default 20, 0: all\n"
"      --stdio             accepted, as perf's\n"
"      --csv               one table as comma-separated values\n"
"      --json              all tables as JSON\n";

extern const struct cli_command cmd_record;

/* ---- report ---- */

struct report {
	const char *input;
	struct memprofile_options load;
	struct memreport_options print;
	bool json, csv, map_set, limit_set;
};

static int choose_tables(struct report *o, const char *list)
{
	static const struct { const char *name; enum memprofile_key key; } keys[] = {
		{ "insn", MEM_BY_INSTRUCTION }, { "symbol", MEM_BY_INSTRUCTION }, { "object", MEM_BY_OBJECT }, { "symbol_daddr", MEM_BY_OBJECT },
		{ "page", MEM_BY_PAGE }, { "set", MEM_BY_SET },
	};
	o->print.keys = 0;
	for (const char *word = list; ; word++) {
		size_t n = strcspn(word, ","), k = 0;
		while (k < sizeof keys / sizeof *keys && (strlen(keys[k].name) != n || strncmp(keys[k].name, word, n)))
			k++;
		if (k == sizeof keys / sizeof *keys) {
			cli_error("unknown sort key '%.*s'; there are insn, object, page, set", (int)n, word);
			return -1;
		}
		o->print.keys |= 1u << keys[k].key;
		word += n;
		if (!*word)
			return 0;
	}
}

static int choose_types(bool *loads, bool *stores, const char *list)
{
	*loads = *stores = false;
	for (const char *word = list; ; word++) {
		size_t n = strcspn(word, ",");
		if (n == 4 && !strncmp(word, "load", 4)) {
			*loads = true;
		} else if (n == 5 && !strncmp(word, "store", 5)) {
			*stores = true;
		} else {
			cli_error("-t '%.*s': there are load and store", (int)n, word);
			return -1;
		}
		word += n;
		if (!*word)
			return 0;
	}
}

static int cache_option(struct memprofile_cache *c, const char *text)
{
	char end;
	if (sscanf(text, "%u,%u,%u%c", &c->line, &c->sets, &c->ways, &end) == 3 && c->line && c->sets && c->ways)
		return 0;
	cli_error("--l1d '%s': LINE,SETS,WAYS was expected, as 64,64,8", text);
	return -1;
}

static int percent_option(double *out, const char *text)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (!errno && end != text && !*end && v >= 0 && v <= 100) {
		*out = v;
		return 0;
	}
	cli_error("'%s': a percentage from 0 to 100 was expected", text);
	return -1;
}

static int rows_option(size_t *out, const char *text)
{
	char *end;
	errno = 0;
	unsigned long v = *text == '-' ? 0 : strtoul(text, &end, 10);
	if (*text != '-' && !errno && end != text && !*end) {
		*out = v;
		return 0;
	}
	cli_error("--rows '%s': a number was expected", text);
	return -1;
}

/* 1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse_report(struct report *o, int argc, char **argv)
{
	bool named = false;
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *v;
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			fputs(help, stdout);
			return 0;
		}
		if (!strcmp(word, "--stdio"))
			continue;
		if (!strcmp(word, "--json")) {
			o->json = true;
		} else if (!strcmp(word, "--csv")) {
			o->csv = true;
		} else if (!strcmp(word, "-U") || !strcmp(word, "--hide-unresolved")) {
			o->load.hide_unresolved = true;
		} else if (!strcmp(word, "--map") || !strcmp(word, "--no-map")) {
			o->print.map = word[2] == 'm';
			o->map_set = true;
		} else if ((v = cli_value(argc, argv, &i, 'i', "input"))) {
			o->input = v;
			named = true;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 't', "type"))) {
			if (choose_types(&o->load.loads, &o->load.stores, v))
				return -1;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 's', "sort"))) {
			if (choose_tables(o, v))
				return -1;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "l1d"))) {
			if (cache_option(&o->load.l1d, v))
				return -1;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "percent-limit"))) {
			if (percent_option(&o->print.percent_limit, v))
				return -1;
			o->limit_set = true;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "rows"))) {
			if (rows_option(&o->print.rows, v))
				return -1;
		} else if (i < 0) {
			return -1;
		} else if (*word != '-' && !named) {
			o->input = word;
			named = true;
		} else {
			if (*word == '-')
				cli_unknown_option("mem report", help, word);
			else
				cli_error("'%s' is one word too many (softpmu mem report --help)", word);
			return -1;
		}
	}
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
	if (!o->limit_set)
		o->print.percent_limit = o->json || o->csv ? 0 : 0.5;
	return 1;
}

static int report(int argc, char **argv)
{
	struct report o = { .input = "perf.data", .print = { .rows = 20 } };
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
		cli_warn("%s holds no data addresses: record them with `softpmu mem record', or `record -d' and a precise event", o.input);
	memprofile_free(profile);
	perfdata_close(file);
	return samples || o.json || o.csv ? 0 : 1;
}

/* ---- record ---- */

struct sampling {
	struct cli_run run;		/* only to learn which core */
	bool loads, stores, chosen, latency_set;
	unsigned latency;
	char **word;			/* of the command that does it */
	int words;
};

/* Takes the words up to the program's: ours are read, record's kept.  1: go on; 0: help was printed; -1: bad, one line was printed. */
static int parse_record(struct sampling *o, int argc, char **argv)
{
	int i;
	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		static const struct { char brief; const char *name; } valued[] = { { 'c', "count" }, { 'F', "freq" }, { 'o', "output" },
			{ 0, "region" }, { 0, "call-graph" } };
		const char *v;
		int first = i, ours;
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(help, stdout);
			return 0;
		}
		if (!strcmp(argv[i], "-U") || !strcmp(argv[i], "--all-user"))
			continue;
		if (!strcmp(argv[i], "-K") || !strcmp(argv[i], "--all-kernel") || !strcmp(argv[i], "-p") || !strcmp(argv[i], "--phys-data")) {
			cli_error("%s: %s", argv[i], argv[i][1] == 'K' || argv[i][2] == 'a' ? "the tracer sees user mode only" :
				"physical addresses of samples are not supported");
			return -1;
		}
		if ((v = cli_value(argc, argv, &i, 't', "type"))) {
			if (choose_types(&o->loads, &o->stores, v))
				return -1;
			o->chosen = true;
			continue;
		}
		if (i > 0 && (v = cli_value(argc, argv, &i, 0, "ldlat"))) {
			char *end;
			unsigned long n = strtoul(v, &end, 10);
			if (*v < '0' || *v > '9' || *end || n > 0xffff) {
				cli_error("--ldlat '%s': a number of cycles was expected, at most 65535", v);
				return -1;
			}
			o->latency = (unsigned)n;
			o->latency_set = true;
			continue;
		}
		if (i > 0 && (v = cli_value(argc, argv, &i, 'e', "event"))) {
			cli_error("-e: mem record chooses the events (-t load,store); for others: softpmu record -d -W -e %s", v);
			return -1;
		}
		if (i < 0 || (ours = cli_run_option(&o->run, argc, argv, &i)) < 0)
			return -1;
		for (size_t k = 0; !ours && i > 0 && k < sizeof valued / sizeof *valued; k++)
			ours = cli_value(argc, argv, &i, valued[k].brief, valued[k].name) != NULL;
		if (i < 0)
			return -1;
		while (first <= i)
			o->word[o->words++] = argv[first++];
	}
	while (i < argc)
		o->word[o->words++] = argv[i++];
	return 1;
}

/* Why this machine has no data addresses to sample; NULL: it has. */
static const char *why_not(const struct spmu_model *m)
{
	if (spmu_model_family(m) == SPMU_FAMILY_NETBURST)
		return NULL;
	if (spmu_model_family(m) != SPMU_FAMILY_ARCH)
		return "its PMU has no PEBS";
	return spmu_model_capabilities(m) >> 8 & 15 ? NULL : "its PEBS records hold no data address (those of Nehalem and later do)";
}

/* One event, to be appended to the list; 0 if the machine can do it. */
static int offer(const struct sampling *o, const struct spmu_model *m, const char *event, char *list, size_t room, struct err *err)
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
		cli_warn("loads only: %s", err.text);
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
	int verb = 1;
	while (verb < argc && argv[verb][0] == '-' && (!strncmp(argv[verb], "-t", 2) || !strncmp(argv[verb], "--type", 6) || !strcmp(argv[verb], "-U")))
		verb += !strcmp(argv[verb], "-t") || !strcmp(argv[verb], "--type") ? 2 : 1;	/* perf has them ahead of the verb, too */
	if (verb < argc && (!strcmp(argv[verb], "record") || !strcmp(argv[verb], "report") || !strcmp(argv[verb], "rec") || !strcmp(argv[verb], "rep"))) {
		bool records = argv[verb][2] == 'c';
		char *name = argv[verb];
		memmove(argv + 2, argv + 1, (size_t)(verb - 1) * sizeof *argv);
		argv[1] = name;
		return records ? do_record(argc - 1, argv + 1) : report(argc - 1, argv + 1);
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(help, stdout);
		return 0;
	}
	cli_error(verb < argc ? "mem: there are record and report, not '%s'" : "mem: record or report was expected%s", verb < argc ? argv[verb] : "");
	return 2;
}

const struct cli_command cmd_mem = {
	.name = "mem", .summary = "loads and stores by instruction, data object, page and cache set", .help = help, .run = run,
};
