/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu gate: counts benchmarks and compares their counts with a committed baseline.
 *
 * Nothing that it prints depends on the time, on process numbers or on the host's speed. */
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "cli/gate/gate_check.h"
#include "cli/gate/gate_list.h"
#include "cli/gate/gate_print.h"
#include "cli/gate/gate_run.h"
#include "cli/gate/gate_surroundings.h"
#include "store/program_key.h"
#include "util/texts.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses; 1 and 2 as in the other commands. */
enum { OVER_LIMIT = 3, NOT_COMPARABLE = 4 };

struct gate {
	struct cli_run run;
	const char *file, *name, *baseline, *markdown, *junit;
	const char *events[64], *limits[256], *env[256];
	unsigned event_lists, limit_count, env_count;
	bool update, explain, regions;
	struct gate_list list;
	struct gate_work only;		/* the program of the command line */
	struct gate_limit *limit;
	size_t all_limits;
	struct spmu_model *model;
	struct session_events counted;
	char **environment;
	const char **program;		/* of each benchmark in `now`; borrowed */
	struct gate_file before, now;
};

extern const struct cli_command cmd_gate;

static const struct option options[] = {
	OPT_GROUP("What is run"),
	OPT_TEXT('f', "file", "FILE", struct gate, file, "Run the benchmarks that FILE lists instead of PROGRAM. Its "
		"lines: bench NAME PROGRAM [arguments]; regions NAME PROGRAM [arguments]; events EVENT,...; limit "
		"[BENCHMARK:]EVENT=LIMIT; env NAME[=VALUE]; comments behind #.", .filled = true),
	OPT_FLAG(0, "regions", struct gate, regions, "Each region that PROGRAM marks (softpmu/client.h) is a "
		"benchmark of its own, instead of the whole program."),
	OPT_TEXT(0, "name", "NAME", struct gate, name, "The benchmark's name in the baseline. Default: the program's "
		"file name.", .filled = true),
	OPT_LIST(0, "env", "NAME[=VALUE]", struct gate, env, env_count, "Give the benchmarks this variable; without a "
		"value, the caller's. Otherwise they see only the caller's PATH, and HOME=/, LC_ALL=C, TZ=UTC, "
		"PYTHONHASHSEED=0 and PERL_HASH_SEED=0. May be repeated.",
		.more = "put them into the file of -f"),
	OPT_GROUP("What is counted and compared"),
	OPT_LIST('e', "event", "EVENT,...", struct gate, events, event_lists, "Count these events. May be repeated. "
		"Default: cycles, instructions, branch-misses, L1-dcache-load-misses.",
		.more = "one -e takes a whole list"),
	OPT_TEXT(0, "baseline", "FILE", struct gate, baseline, "Compare with FILE. Default: softpmu-gate.json.",
		.filled = true),
	OPT_FLAG(0, "update", struct gate, update, "Write what was counted to the baseline instead of comparing."),
	OPT_LIST(0, "limit", "[BENCHMARK:]EVENT=LIMIT", struct gate, limits, limit_count, "Fail if the event exceeds "
		"the limit: a percentage (0.5%) by which it may exceed the baseline, or a number that it may not "
		"exceed. May be repeated. Default: instructions=0.1% and cycles=1%; other events are compared and "
		"shown, but have no limit.", .more = "put them into the file of -f"),
	OPT_GROUP("What is printed"),
	OPT_FLAG(0, "explain", struct gate, explain, "Print every function whose cycles or instructions differ, with "
		"both counts, and not only the five that differ most."),
	OPT_TEXT(0, "markdown", "FILE", struct gate, markdown, "Also write the result as Markdown, for a comment on a "
		"pull request.", .filled = true),
	OPT_TEXT(0, "junit", "FILE", struct gate, junit, "Also write the result as JUnit XML, for CI systems.",
		.filled = true),
	OPT_END
};

/* ---- what to run ----------------------------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static const struct gate_work *work(const struct gate *g, size_t i)
{
	return g->file ? g->list.work + i : &g->only;
}

static size_t works(const struct gate *g)
{
	return g->file ? g->list.works : 1;
}

/* Options that do not go together.  0, or -1 after one printed line. */
static int check(const struct gate *g, bool program)
{
	const char *text = NULL;
	if (g->file && program)
		text = "-f FILE lists the programs: none goes behind the options";
	else if (g->file && (g->name || g->regions))
		text = "-f FILE goes neither with --name nor with --regions: its lines say both";
	else if (g->run.run.replay || g->run.run.save)
		text = "gate runs programs: --replay and --save-stream do not go with it";
	else if (g->update && (g->markdown || g->junit || g->explain))
		text = "--update compares nothing: --explain, --markdown and --junit do not go with it";
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}

/* 0, or -1 after one printed line. */
static int parse_limits(struct gate *g)
{
	struct err err = { 0 };
	g->limit = calloc(g->list.limit_count + g->limit_count + 1, sizeof *g->limit);
	if (!g->limit) {
		cli_error("out of memory");
		return -1;
	}
	for (size_t i = 0; i < g->list.limit_count + g->limit_count; i++) {
		const char *text = i < g->list.limit_count ? g->list.limits[i] : g->limits[i - g->list.limit_count];
		size_t e = 0;
		if (gate_limit_parse(g->limit + i, text, &err)) {
			cli_error("%s", err.text);
			return -1;
		}
		while (e < g->counted.count && !gate_limit_is_of(g->limit + i, g->counted.event[e].spelled))
			e++;
		if (e == g->counted.count) {
			cli_error("limit '%s': no such event is counted (-e)", text);
			return -1;
		}
		g->all_limits++;
	}
	return 0;
}

static int parse_events(struct gate *g)
{
	static const char *const usual[] = { "cycles", "instructions", "branch-misses", "L1-dcache-load-misses" };
	const struct session_parse_options how = { .model = g->model, .core = &g->run.core,
		.purpose = SESSION_FOR_COUNTING };
	struct err err = { 0 };
	int rc = 0;
	for (size_t i = 0; i < g->list.event_lists && !rc; i++)
		rc = session_parse(&g->counted, &how, g->list.events[i], &err);
	for (unsigned i = 0; i < g->event_lists && !rc; i++)
		rc = session_parse(&g->counted, &how, g->events[i], &err);
	for (size_t i = 0; i < sizeof usual / sizeof *usual && !rc && !g->event_lists && !g->list.event_lists; i++)
		if (session_parse(&g->counted, &how, usual[i], &err) == ERR_NOMEM)	/* not every core has all */
			rc = ERR_NOMEM;
	if (rc)
		cli_error("%s", err.text);
	return rc ? -1 : 0;
}

/* What stands in the baseline for who counted, and on what.  0, or -1 after one printed line. */
static int describe(struct gate *g)
{
	char key[PROGRAM_KEY_CHARS], tracer[PROGRAM_KEY_CHARS], table[2][PROGRAM_KEY_CHARS], path[4096], has[128];
	const struct core_config *c = &g->run.core;
	struct err err = { 0 };
	char *fields = core_config_print(c, false);
	int rc = fields ? program_key("/proc/self/exe", key, &err) : err_set(&err, ERR_NOMEM, "out of memory");
	snprintf(path, sizeof path, "%s/softpmu-tracer-amd64-linux", cli_tracer_dir());
	rc = rc ? rc : program_key(path, tracer, &err);
	snprintf(path, sizeof path, "%s/uops/%s.tsv", cli_data_dir(), c->uops);
	rc = rc ? rc : program_key(path, table[0], &err);
	snprintf(path, sizeof path, "%s/events/%s.tsv", cli_data_dir(), c->pmu);
	rc = rc ? rc : program_key(path, table[1], &err);
	if (!rc && (asprintf(&g->now.model, "softpmu %s, %s, tracer %s", cli_version(), key, tracer) < 0 ||
		asprintf(&g->now.machine, "%s%s, fields %08x, uops %.14s, events %.14s", c->name, cli_changed(&g->run),
			texts_hash(fields, strlen(fields)), table[0], table[1]) < 0 ||
		!(g->now.processor = strdup(gate_processor(has)))))
		rc = err_set(&err, ERR_NOMEM, "out of memory");
	free(fields);
	if (rc)
		cli_error("%s", err.text);
	return rc ? -1 : 0;
}

/* ---- the runs -------------------------------------------------------------------------------------------- */

/* 0, or 1 after one printed line. */
static int run_all(struct gate *g)
{
	const struct gate_machine machine = { .run = &g->run, .model = g->model, .events = &g->counted,
		.env = g->environment };
	for (size_t i = 0; i < works(g); i++) {
		struct err err = { 0 };
		if (gate_run(&g->now, work(g, i), &machine, &err)) {
			cli_error("%s; nothing was compared", err.text);
			return 1;
		}
	}
	for (size_t b = 0; b < g->now.benchmarks; b++)
		if (gate_fold(g->now.benchmark + b,
			    g->update ? NULL : gate_benchmark_find(&g->before, g->now.benchmark[b].name))) {
			cli_error("out of memory");
			return 1;
		}
	g->program = calloc(g->now.benchmarks + 1, sizeof *g->program);
	if (!g->program) {
		cli_error("out of memory");
		return 1;
	}
	for (size_t b = 0; b < g->now.benchmarks; b++)	/* NAME or NAME/REGION: the longest name that fits */
		for (size_t i = 0, most = 0; i < works(g); i++) {
			const char *name = work(g, i)->name, *of = g->now.benchmark[b].name;
			const size_t n = strlen(name);
			if (n < most || strncmp(of, name, n) || (of[n] && !(of[n] == '/' && work(g, i)->regions)))
				continue;
			most = n;
			g->program[b] = file_name(work(g, i)->argv[0]);
		}
	return 0;
}

/* A limit of a benchmark that does not exist would never be exceeded.  0, or -1 after one printed line. */
static int check_limits(const struct gate *g)
{
	for (size_t i = 0; i < g->all_limits; i++) {
		bool applies = false;
		for (size_t b = 0; b < g->now.benchmarks; b++)
			for (size_t e = 0; e < g->counted.count; e++)
				applies |= gate_limit_applies(g->limit + i, g->now.benchmark[b].name,
					g->counted.event[e].spelled);
		if (!applies) {
			cli_error("limit '%s': no benchmark of this name was run", g->limit[i].name);
			return -1;
		}
	}
	return 0;
}

/* ---- the baseline ---------------------------------------------------------------------------------------- */

static bool same_makers(const struct gate_file *a, const struct gate_file *b)
{
	return !strcmp(a->model, b->model) && !strcmp(a->machine, b->machine) && !strcmp(a->processor, b->processor);
}

/* Without -f: the baseline keeps its other benchmarks.  0, or 1 after one printed line. */
static int keep_others(struct gate *g)
{
	for (size_t i = 0; i < g->before.benchmarks; i++) {
		struct gate_benchmark *old = g->before.benchmark + i;
		const size_t n = strlen(g->only.name);
		if (gate_benchmark_find(&g->now, old->name) ||
			(g->only.regions && !strncmp(old->name, g->only.name, n) && old->name[n] == '/'))
			continue;
		if (!same_makers(&g->before, &g->now)) {
			cli_error("%s holds other benchmarks, which another model, machine or processor counted; "
				"--update them together, with -f FILE", g->baseline);
			return 1;
		}
		struct gate_benchmark *kept = gate_benchmark_add(&g->now, old->name);
		if (!kept) {
			cli_error("out of memory");
			return 1;
		}
		char *name = kept->name;
		*kept = *old;
		kept->name = name;
		*old = (struct gate_benchmark){ .name = old->name };
	}
	return 0;
}

/* Writes a file as a whole or not at all.  0, or 1 after one printed line. */
static int update(struct gate *g)
{
	char *path = NULL;
	if (asprintf(&path, "%s.new", g->baseline) < 0) {
		cli_error("out of memory");
		return 1;
	}
	FILE *to = fopen(path, "we");
	if (to)
		gate_file_write(to, &g->now);
	bool bad = to ? ferror(to) : true;
	bad |= to && fclose(to);
	bad = bad || rename(path, g->baseline);
	if (bad) {
		cli_error("cannot write %s: %m", g->baseline);
		if (to)
			unlink(path);
	} else {
		printf("%s: %zu benchmark%s\n", g->baseline, g->now.benchmarks, g->now.benchmarks == 1 ? "" : "s");
	}
	free(path);
	return bad;
}

/* ---- the result ------------------------------------------------------------------------------------------ */

static int write_to(const char *path, const struct gate_report *r, const struct gate *g, bool junit)
{
	FILE *to = path ? fopen(path, "we") : NULL;
	if (!path)
		return 0;
	if (to && junit)
		gate_print_junit(to, r);
	else if (to)
		gate_print_markdown(to, r, g->explain);
	bool bad = to ? ferror(to) : true;
	bad |= to && fclose(to);
	if (bad)
		cli_error("cannot write %s: %m", path);
	return bad;
}

/* Benchmarks that the baseline has and that no longer exist. */
static void name_missing(const struct gate *g)
{
	for (size_t i = 0; i < g->before.benchmarks; i++) {
		const char *name = g->before.benchmark[i].name;
		const size_t n = g->file ? 0 : strlen(g->only.name);
		if (!gate_benchmark_find(&g->now, name) &&
			(g->file || (!strncmp(name, g->only.name, n) && (!name[n] || name[n] == '/'))))
			printf("%s: in the baseline, but it was not run\n", name);
	}
}

static int compare(struct gate *g)
{
	struct gate_report report;
	int status = 1;
	if (gate_check(&report, &g->before, &g->now, g->program, g->limit, g->all_limits)) {
		cli_error("out of memory");
	} else {
		gate_print_text(stdout, &report, g->explain);
		name_missing(g);
		const int bad = write_to(g->markdown, &report, g, false) | write_to(g->junit, &report, g, true);
		status = bad                                                                     ? 1
			 : report.verdicts[GATE_FAILED]                                          ? OVER_LIMIT
			 : report.verdicts[GATE_SURROUNDINGS] || report.verdicts[GATE_NEW] ? NOT_COMPARABLE
										      : 0;
	}
	gate_report_free(&report);
	return status;
}

/* ---- the command ----------------------------------------------------------------------------------------- */

static int gate(struct gate *g)
{
	struct err err = { 0 };
	bool missing = false;
	const int rc = gate_file_read(&g->before, g->baseline, &missing, &err);
	if (rc && !missing) {
		cli_error("%s", err.text);
		return 1;
	}
	if (missing && !g->update) {
		cli_error("there is no baseline %s: --update makes it", g->baseline);
		return NOT_COMPARABLE;
	}
	const char **env = calloc(g->list.env_count + g->env_count + 1, sizeof *env);
	for (size_t i = 0; env && i < g->list.env_count + g->env_count; i++)
		env[i] = i < g->list.env_count ? g->list.env[i] : g->env[i - g->list.env_count];
	g->environment = env ? gate_environment(env, g->list.env_count + g->env_count) : NULL;
	free(env);
	if (!g->environment) {
		cli_error("out of memory");
		return 1;
	}
	if (describe(g) || run_all(g))
		return 1;
	if (check_limits(g))
		return 2;
	if (!g->update)
		return compare(g);
	return (!g->file && keep_others(g)) || update(g);
}

static int run(int argc, char **argv)
{
	struct gate g = { .baseline = "softpmu-gate.json" };
	struct err err = { 0 };
	int next = 0, status = 2;
	cli_run_init(&g.run);
	const int go = cli_options(&cmd_gate, &g, &g.run, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	const bool program = next < argc && (strcmp(argv[next], "--") || next + 1 < argc);
	if (check(&g, program))
		return 2;
	if (g.file && gate_list_read(&g.list, g.file, &err))
		cli_error("%s", err.text);
	/* with -f its first program stands for all of them, so that the options are checked in one place */
	else if (g.file ? !cli_run_finish(&g.run, 1, (char **)(uintptr_t)g.list.work[0].argv, 0)
			: !cli_run_finish(&g.run, argc, argv, next)) {
		g.only = (struct gate_work){ .argv = g.run.argv, .regions = g.regions };
		if (!g.file)
			g.only.name = g.name ? g.name : file_name(g.run.argv[0]);
		g.model = cli_model(&g.run.core);
		if (g.model && !parse_events(&g) && !parse_limits(&g))
			status = gate(&g);
	}
	session_events_free(&g.counted);
	spmu_model_free(g.model);
	gate_environment_free(g.environment);
	gate_file_free(&g.before);
	gate_file_free(&g.now);
	gate_list_free(&g.list);
	free(g.limit);
	free(g.program);
	return status;
}

const struct cli_command cmd_gate = {
	.name = "gate", .options = options, .runs = true, .run = run,
	.summary = "count benchmarks and compare with a committed baseline: for CI",
	.usage = "[options] [--] PROGRAM [arguments]\n[options] -f FILE",
	.about = "Counts benchmarks, each in full detail and in the same surroundings everywhere, and compares the "
		"counts with those in a baseline file. Prints what grew, by how much and in which functions, and "
		"whether the program, a library, the model or the host's processor changed since.\n\nThe exit status "
		"is 0 if all counts are within their limits, 3 if a limit is exceeded, and 4 if the counts cannot be "
		"compared or a limit is exceeded although the program is the same: there is no baseline, it lacks a "
		"benchmark, or a library, the model or the processor changed. It is 1 if something could not be run, "
		"read or written, and 2 if the options are wrong.",
};
