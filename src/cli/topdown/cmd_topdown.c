/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu topdown: says where the issue slots of a program went, by the published formulas over a core's events,
 * all counted in one run; beside them exactly, slot by slot, from the records of the same run (analysis/slots.h).
 * Names the bottleneck and the command that samples it. */
#include "cli/topdown/topdown_rows.h"
#include "cli/topdown/topdown_run.h"
#include "cli/topdown/topdown_sample.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_command cmd_topdown;

/* So many instructions are timed before the run is sampled: fewer than `stat` times, because counting the events
 * of all formulas takes several times as long as timing the uops. */
enum { DETAILED = 15000000 };

/* ---- options ---------------------------------------------------------------------------------------------- */

static int set_form(void *target, const struct option *option, const char *value, struct err *err)
{
	struct topdown *t = target;
	(void)err;
	t->style.form = option->brief == 'j' ? TOPDOWN_JSON : TOPDOWN_CSV;
	return value && !cli_separator(value, &t->style.separator) ? ERR_INPUT : 0;
}

static int set_rotate(void *target, const struct option *option, const char *value, struct err *err)
{
	struct topdown *t = target;
	(void)option, (void)err;
	t->one_pmu = true;
	return cli_milliseconds("--rotate", value, &t->rotate_ms) ? 0 : ERR_INPUT;
}

static int set_sample(void *target, const struct option *option, const char *value, struct err *err)
{
	struct cli_sample *s = &((struct topdown *)target)->sample;
	const int rc = cli_sample_parse(s, value, err);
	(void)option;
	if (!rc)
		cli_sample_parts(s);
	return rc;
}

static int set_detail(void *target, const struct option *option, const char *value, struct err *err)
{
	(void)option;
	return cli_sample_parse_detail(&((struct topdown *)target)->sample, value, err);
}

static const struct option options[] = {
	OPT_GROUP("What the tree covers"),
	OPT_WHOLE('l', "level", "N", struct topdown, style.level, 1, 4, "Go down to this level of the tree, 1 to 4. "
		"Default: 4."),
	OPT_CHOICE(0, "per", "function|line|loop|thread", struct topdown, per, TOPDOWN_FUNCTION, "Print a tree for "
		"each thread; or level 1 and the bottleneck of each function, line or loop: the exact shares of the "
		"slots at its instructions. With -x and -j, print the whole tree of each."),
	OPT_FLAG(0, "per-thread", struct topdown, per_thread, "The same as --per thread."),
	OPT_WHOLE(0, "rows", "N", struct topdown, rows, 0, 1000000, "Print at most N functions, lines or loops; 0: "
		"all. Default: 20."),
	OPT_MILLISECONDS('I', "interval", "MS", struct topdown, interval_ms, "Print a tree for every MS modelled "
		"milliseconds."),
	OPT_CALL(0, "sample", "auto|N,U,W", set_sample, "Run faster: time only short windows of the run, and estimate "
		"the tree of the whole run from them. " CLI_SAMPLE_HOW, .optional = true),
	OPT_CALL(0, "detail", "N", set_detail, "Time the whole run and estimate nothing. Without --detail and "
		"--sample, the first 15 million instructions of each process are timed and the rest is sampled; a "
		"process that has several threads by then is timed to its end, and so is a run with -I, --per, "
		"--one-pmu, --perf-metrics or --hottest. --detail=N: the same with N instead of 15 million.",
		.optional = true),
	OPT_GROUP("What stands beside the formulas"),
	OPT_FLAG(0, "no-exact", struct topdown, no_exact, "Print the formulas alone. The model runs faster."),
	OPT_FLAG(0, "no-metrics", struct topdown, no_metrics, "Do not print the metrics beside the tree."),
	OPT_FLAG(0, "one-pmu", struct topdown, one_pmu, "Add a column: the formulas as they come out if the core has "
		"one PMU, as the machine has, on which the events take turns."),
	OPT_CALL(0, "rotate", "MS", set_rotate, "With --one-pmu (which this implies), let a turn last MS modelled "
		"milliseconds. Default: 4, as in the kernel."),
	OPT_FLAG(0, "perf-metrics", struct topdown, perf_metrics, "With -x, also print the column of "
		"MSR_PERF_METRICS. The tree has it anyway on cores with that register."),
	OPT_GROUP("From the bottleneck to instructions"),
	OPT_FLAG(0, "hottest", struct topdown, hottest, "Sample the event that belongs to the bottleneck, by PEBS if "
		"the PMU can, in the stream of the same run. Write the samples to perf.data and print the hottest "
		"instructions."),
	OPT_GROUP("What is printed"),
	OPT_CALL('x', "field-separator", "SEPARATOR", set_form, "Print a line of fields for each node: [thread or "
		"time,]level, name, value, exact, difference, flagged. \\t is a tab."),
	OPT_CALL('j', "json", NULL, set_form, "Print a JSON object for each node, one a line."),
	OPT_TEXT(0, "svg", "FILE", struct topdown, svg, "Draw the tree into FILE."),
	OPT_TEXT('o', "output", "FILE", struct topdown, output.path, "Print to FILE instead of standard error."),
	OPT_COLOR(struct topdown, colour),
	OPT_REFUSED(0, "cut", "only counts of events are taken in pieces", "softpmu stat --cut -M TopdownL1,TopdownL2 "
		"computes the tree from events"),
	OPT_END
};

/* Does it ask for more than the one tree of the run, which is all that is estimated? */
static bool misfit(const struct topdown *t)
{
	return t->interval_ms > 0 || t->per_thread || t->per || t->one_pmu || t->perf_metrics || t->hottest;
}

/* Options that do not go together.  0, or -1 after one printed line. */
static int check(const struct topdown *t)
{
	const bool intervals = t->interval_ms > 0;
	const char *text = NULL, *with = "";
	if (t->per_thread && intervals) {
		text = "--per-thread and --interval exclude each other";
	} else if (t->per && (t->no_exact || intervals || t->one_pmu || t->perf_metrics || t->svg)) {
		text = "--per function, line and loop are known from the records alone: not with ";
		with = t->no_exact        ? "--no-exact"
			: intervals       ? "--interval"
			: t->one_pmu      ? "--one-pmu"
			: t->perf_metrics ? "--perf-metrics"
					  : "--svg";
	} else if (t->one_pmu && (t->per_thread || intervals)) {
		text = "--one-pmu is compared over the whole run: not with ";
		with = t->per_thread ? "--per-thread" : "--interval";
	} else if (t->hottest && (intervals || t->per_thread || t->per || t->style.form != TOPDOWN_TREE)) {
		text = "--hottest follows the one tree of the run: not with --interval, --per, -x or -j";
	} else if (t->sample.on && misfit(t)) {
		text = "--sample and --detail=N estimate the one tree of the run: not with ";
		with = intervals                     ? "--interval"
			: t->per_thread || t->per    ? "--per"
			: t->one_pmu                 ? "--one-pmu"
			: t->perf_metrics            ? "--perf-metrics"
						     : "--hottest (softpmu record --sample takes samples)";
	} else if (t->run.run.smt && !t->no_exact) {
		text = "--smt: the records do not say which of the threads on a core an issue slot belongs to: only "
		       "with --no-exact";
	} else if (t->svg && intervals) {
		text = "--svg draws one tree: not with --interval";
	}
	if (text)
		cli_error("%s%s", text, with);
	return text ? -1 : 0;
}

/* Keeps the options of the run for --hottest, except --replay and --save-stream, which --hottest sets itself. */
static void keep_words(void *context, const struct option_set *set, char **words, int count)
{
	struct topdown *t = context;
	for (int i = 0; i < count && set->option == cli_run_options && strncmp(words[0], "--replay", 8) &&
		strncmp(words[0], "--save-stream", 13);
		i++)
		t->words[t->count_words++] = words[i];
}

/* 1: goes on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct topdown *t, int argc, char **argv, int *next)
{
	const struct option_set set[] = { { options, t }, { cli_run_options, &t->run }, { NULL, NULL } };
	struct option_parser p = { .set = set, .taken = keep_words, .context = t };
	t->style.level = 4;
	t->style.program = t->run.program;
	const int go = cli_parse(&cmd_topdown, &p, argc, argv, next);
	if ((int)t->per == TOPDOWN_LOOP + 1) {	/* the last word of --per: a thread is no place in the code */
		t->per_thread = true;
		t->per = TOPDOWN_WHOLE;
	}
	return go > 0 && check(t) ? -1 : go;
}

/* ---- what it says ----------------------------------------------------------------------------------------- */

static void print_all(struct topdown *t)
{
	topdown_exact_values(t);
	topdown_print(&t->style, &t->metrics.m, t->metrics.value, t->exact);
	if (!t->no_metrics)
		topdown_print_others(&t->style, &t->metrics.m, t->metrics.value);
}

static void on_interval(void *context, uint64_t end_cycle)
{
	struct topdown *t = context;
	char what[48];
	double from = 1e-9 * (double)session_ns(t->session, t->last_cycle),
	       to = 1e-9 * (double)session_ns(t->session, end_cycle);
	cli_metrics_values(&t->metrics, topdown_interval_count, t, to - from);
	t->last_cycle = end_cycle;
	topdown_all_slots(t);
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++) {
		uint64_t now = t->slots[c];
		t->slots[c] -= t->last_slots[c];
		t->last_slots[c] = now;
	}
	snprintf(what, sizeof what, "%.9f", to);
	t->style.what = what;
	print_all(t);
	t->style.what = NULL;
	fflush(t->style.out);
}

/* Prints which nodes elsewhere in the tree count with node k when the bottleneck is named. */
static void print_joins(FILE *out, const struct metrics *m, size_t k, double joined)
{
	bool any = false;
	for (size_t j = 0; j < m->joins; j++)
		for (int i = (int)m->join[j].with; i >= 0; i = m->metric[i].parent)
			if ((size_t)i == k) {
				fprintf(out, "%s%s", any ? ", " : " It also causes: ",
					m->metric[m->join[j].node].name);
				any = true;
			}
	fprintf(out, ", %.1f%% of the slots\n", 100 * joined);
}

/* --hottest: samples the event that the bottleneck names. */
static bool sample(const struct topdown *t)
{
	const struct metrics *m = &t->metrics.m;
	size_t k = topdown_bottleneck(m, t->exact ? t->exact : t->metrics.value, t->style.level, NULL);
	if (k == SIZE_MAX || !m->metric[k].sample) {
		cli_error("--hottest: %s%s names no event to sample",
			k == SIZE_MAX ? "no node is above its threshold, so that the tree" : m->metric[k].name,
			k != SIZE_MAX && t->style.level < 4 ? " (-l 4 goes further down)" : "");
		return false;
	}
	return topdown_sample(t->style.out,
		       &(struct topdown_sample){ .event = m->metric[k].sample,
			       .count = t->sampled[k] == SIZE_MAX ? 0 : session_count(t->session, t->sampled[k]),
			       .words = t->words,
			       .count_words = t->count_words,
			       .stream = t->run.run.replay ? t->run.run.replay : t->run.run.save,
			       .file = "perf.data" }) == 0;
}

static void print_advice(const struct topdown *t)
{
	const struct metrics *m = &t->metrics.m;
	FILE *out = t->style.out;
	const double *value = t->exact ? t->exact : t->metrics.value;
	double joined;
	size_t by_formula = topdown_bottleneck(m, t->metrics.value, t->style.level, NULL),
	       k = topdown_bottleneck(m, value, t->style.level, &joined);
	fputc('\n', out);
	if (t->exact && by_formula != k && by_formula != SIZE_MAX &&
		(k == SIZE_MAX || m->metric[by_formula].parent != (int)k))
		fprintf(out, " By the formulas alone: %s, %.1f%%\n", m->metric[by_formula].name,
			100 * t->metrics.value[by_formula]);
	if (k == SIZE_MAX) {
		fputs(" Bottleneck: none, no node is above its threshold\n", out);
		return;
	}
	const struct metric *n = m->metric + k;
	fprintf(out, " Bottleneck: %s, %.1f%% (threshold %.0f%%)%s%s\n", n->name, 100 * value[k], 100 * n->threshold,
		n->description ? ": " : "", n->description ? n->description : "");
	if (joined > 0)
		print_joins(out, m, k, joined);
	if (n->next)
		fprintf(out, " To do: %s\n", n->next);
	if (n->sample) {
		fprintf(out, " Next: softpmu record --core %s -e %s %s", t->run.core_name, n->sample,
			t->run.run.replay ? "" : "-- ");
		cli_print_program(out, &t->run, "--replay ");
		fputs(" && softpmu annotate\n", out);
	} else if (n->level < 3 && t->style.level < 4) {
		fprintf(out, " Next: the same with -l %u\n", t->style.level + 1);
	}
}

static void print_notes(const struct topdown *t, const struct run_result *res)
{
	const struct metrics *m = &t->metrics.m;
	const struct core_config *c = &t->run.core;
	FILE *out = t->style.out;
	char note[128];
	bool any = false, unsaid = false;
	fprintf(out, "\n Core: %s (%s) at %g GHz%s, %s; %llu instructions, %llu cycles, %u PMUs a core\n%s",
		c->name, c->title, c->frequency_ghz, cli_changed(&t->run), cli_rings(&t->run),
		(unsigned long long)(res->instructions + (cli_sample_estimates(&t->sample) ? res->warmed : 0)),
		(unsigned long long)res->cycles, session_pmus(t->session), cli_pmu_note(&t->run, note));
	if (cli_sample_estimates(&t->sample))
		cli_sample_print(&t->sample, res, out);
	for (size_t k = 0; k < m->metrics; k++)
		if (m->metric[k].level && m->metric[k].level <= t->style.level && !m->metric[k].text) {
			fprintf(out, "%s%s", unsaid ? ", " : " No formula, since this PMU has no events for it: ",
				m->metric[k].name);
			unsaid = true;
		}
	fputs(unsaid ? "\n" : "", out);
	for (size_t k = 0; k < m->metrics; k++)
		if (m->metric[k].refused && m->metric[k].text &&
			(m->metric[k].group == NULL || strcmp(m->metric[k].group, "info")) &&
			(!m->metric[k].level || m->metric[k].level <= t->style.level)) {
			fprintf(out, "%s %s: %s\n", any ? "" : " Refused:\n", m->metric[k].name, m->metric[k].refused);
			any = true;
		}
	fputc('\n', out);
}

static bool draw(struct topdown *t)
{
	char *title = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&title, &bytes);
	if (f) {
		fputs("Top-Down of ", f);
		cli_print_program(f, &t->run, "--replay ");
		fprintf(f, " on %s", t->run.core.name);
	}
	if (!f || fclose(f)) {
		cli_error("out of memory");
		return false;
	}
	FILE *out = fopen(t->svg, "we");
	if (out)
		topdown_svg(out, &t->metrics.m, t->metrics.value, t->exact, t->style.level, title);
	bool bad = !out || ferror(out);
	if ((out && fclose(out)) || bad) {
		cli_error("cannot write %s: %s", t->svg, strerror(errno));
		bad = true;
	}
	free(title);
	return !bad;
}

static void print_threads(struct topdown *t)
{
	for (size_t k = 0; k < session_threads(t->session); k++) {
		struct session_thread who;
		char name[48];
		session_thread_info(t->session, k, &who);
		t->thread = k;
		memset(t->slots, 0, sizeof t->slots);
		if (k < t->threads_count && topdown_add_slots(t, k))
			return;
		cli_metrics_values(&t->metrics, topdown_thread_count, t, 1e-9 * (double)who.running_ns);
		snprintf(name, sizeof name, "%.16s-%u", who.comm, who.tid);
		t->style.what = name;
		print_all(t);
		t->style.what = NULL;
	}
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static int measure(struct topdown *t)
{
	struct session_options so = {
		.core = &t->run.core, .model = t->model, .events = &t->events, .context = t, .interval = on_interval,
		.siblings = t->run.run.smt ? t->run.core.smt_threads : 0,
	};
	struct session_options one = { .core = &t->run.core, .model = t->model, .events = &t->events, .one_pmu = true,
		.rotate_cycles = cli_cycles(&t->run.core, t->rotate_ms), .siblings = so.siblings };
	struct run_sink sink = topdown_sink(t);
	struct run_result res = { 0 };
	struct err err = { 0 };
	if (t->interval_ms > 0)
		so.interval_cycles = cli_cycles(&t->run.core, t->interval_ms);
	int rc = session_create(&t->session, &so, &err);
	if (!rc && t->one_pmu)
		rc = session_create(&t->one, &one, &err);
	t->sample.extras = t->exact ? SLOTS_CAUSE_COUNT : 0;
	if (!rc)
		rc = cli_sample_begin(&t->sample, &t->run, t->session, t->events.count, &err);
	if (rc) {
		cli_error("%s", err.text);
		return 1;
	}
	struct core_wanted wanted = session_wanted(t->session);
	if (t->exact) {
		slots_wanted(wanted.signal);
		wanted.is = wanted.did = ~UINT64_C(0);
	}
	if (t->fields)
		wanted = core_wanted_both(wanted, topdown_fields_wanted());
	t->run.run.wanted = &wanted;
	rc = cli_run_program(&t->run, &sink, &res, &err);
	t->run.run.wanted = NULL;
	topdown_place_all(t);
	bool started = session_threads(t->session) > 0, good = true;
	if (t->failed) {
		cli_error("%s", t->why.text);
		good = false;
	}
	int status = cli_exit_status(res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (res.threads_at_once)
		cli_warn(CLI_SAMPLE_THREADS);
	if (res.threads_detailed)
		cli_note("all of the run was timed, because several threads ran at the same time (--sample estimates "
			"the tree, and is faster)");
	if (started && t->interval_ms > 0) {
		if (res.cycles > t->last_cycle)
			on_interval(t, res.cycles);
	} else if (started) {
		bool tree = t->style.form == TOPDOWN_TREE;
		if (tree) {
			fputs("\n Top-Down of ", t->style.out);
			cli_print_program(t->style.out, &t->run, "--replay ");
			fputs("\n\n", t->style.out);
		}
		const double seconds = 1e-9 * (double)session_ns(t->session, res.cycles);
		if (t->per_thread)
			print_threads(t);
		else if (t->per && good)
			topdown_rows(t);
		if (cli_sample_estimates(&t->sample))
			good &= !topdown_estimate(t, &res);
		else
			cli_metrics_values(&t->metrics, topdown_whole_count, t, seconds);
		topdown_all_slots(t);
		topdown_exact_values(t);
		if (t->one) {
			cli_metrics_values(&t->one_metrics, topdown_one_count, t, seconds);
			t->style.column[t->style.columns++] =
				(struct topdown_column){ " one PMU", "one_pmu", NULL, t->one_metrics.value };
		}
		if (t->fields && !cli_sample_estimates(&t->sample)) {
			topdown_all_fields(t);
			t->style.column[t->style.columns++] =
				(struct topdown_column){ "PERF_METRICS", "perf_metrics", "METRICS", t->fields };
		}
		if (!t->per_thread && !t->per)
			print_all(t);
		if (tree && !t->per_thread && !t->per)
			print_advice(t);
		if (tree)
			print_notes(t, &res);
		if (t->svg)
			good &= draw(t);
		if (t->hottest && !rc && good)
			good = sample(t);
	}
	if (rc)
		cli_error("%s%s", err.text, started ? "; what was counted until then is printed" : "");
	return status ? status : rc || !good;
}

/* Allocates what depends on the number of metrics; false after one printed line. */
static bool prepare(struct topdown *t)
{
	const size_t metrics = t->metrics.m.metrics + 1;
	struct err err = { 0 };
	const bool fields = topdown_fields_are_there(t->model, &t->metrics.m);
	bool fields_missing = false;
	t->exact = t->no_exact ? NULL : calloc(metrics, sizeof *t->exact);
	t->sampled = malloc(metrics * sizeof *t->sampled);
	if (t->perf_metrics && !fields) {
		cli_error("--perf-metrics: the PMU '%s' has no MSR_PERF_METRICS", t->run.core.pmu);
		return false;
	}
	if (fields && (!t->sample.on || t->sample.after) && !t->run.run.smt && !t->per && !t->per_thread &&
		!(t->interval_ms > 0) && (t->style.form != TOPDOWN_CSV || t->perf_metrics)) {
		t->fields = calloc(metrics, sizeof *t->fields);
		fields_missing = !t->fields;
	}
	if (!t->sampled || fields_missing || (!t->exact && !t->no_exact)) {
		cli_error("out of memory");
		return false;
	}
	for (size_t k = 0; k < metrics; k++)
		t->sampled[k] = SIZE_MAX;
	if (t->per && topdown_places_create(&t->places, t->per, &err)) {
		cli_error("%s", err.text);
		return false;
	}
	return true;
}

/* --one-pmu: prepares the same metrics of the same events, read from another session. */
static bool prepare_one(struct topdown *t)
{
	t->last = calloc(t->events.count + 1, sizeof *t->last);
	if (!t->last) {
		cli_error("out of memory");
		return false;
	}
	if (!t->one_pmu)
		return true;
	if (cli_metrics_load(&t->one_metrics, &t->run.core, t->model))
		return false;
	memcpy(t->one_metrics.event, t->metrics.event, t->metrics.m.events * sizeof *t->metrics.event);
	return true;
}

static int run(int argc, char **argv)
{
	struct topdown t = { .style = { .separator = "," },
		.output = { .fd = -1 },
		.rotate_ms = 4,
		.rows = 20,
		.words = calloc((size_t)argc + 1, sizeof(char *)) };
	int next = 0, status = 1;
	char folder[300] = "", stream[320];
	if (!t.words) {
		cli_error("out of memory");
		return 1;
	}
	cli_run_init(&t.run);
	int go = parse(&t, argc, argv, &next);
	if (go <= 0 || cli_run_finish(&t.run, argc, argv, next) || cli_sample_check(&t.sample, &t.run)) {
		free(t.words);
		return go ? 2 : 0;
	}
	if (!t.sample.on && !t.sample.in_full && !misfit(&t) && !run_sample_misfit(&t.run.run)) {
		t.sample.after = DETAILED;
		cli_sample_default(&t.sample);
	}
	t.model = cli_model(&t.run.core);
	bool good = t.model && !cli_metrics_load(&t.metrics, &t.run.core, t.model) && prepare(&t) &&
		topdown_choose_events(&t) && prepare_one(&t);
	/* --hottest samples this very run: its stream is kept, with the registers that PEBS records hold. */
	if (good && t.hottest && !t.run.run.replay) {
		t.run.run.regs = true;
		if (!t.run.run.save) {
			good = topdown_sample_folder(folder, sizeof folder);
			snprintf(stream, sizeof stream, "%s/stream", folder);
			t.run.run.save = stream;
		}
	}
	if (good && cli_output_open(&t.output)) {
		struct terminal_output terminal = { .out = t.output.out };
		if (t.style.form == TOPDOWN_TREE)
			terminal_output_open(&terminal, t.output.out, t.colour);
		t.style.out = terminal.out;
		t.style.terminal = terminal.terminal;
		status = measure(&t);
		good = terminal_output_close(&terminal);
		if ((!cli_output_close(&t.output) || !good) && !status)
			status = 1;
	}
	topdown_sample_remove(folder, stream);
	cli_sample_free(&t.sample);
	session_destroy(t.session);
	session_destroy(t.one);
	session_events_free(&t.events);
	cli_metrics_free(&t.metrics);
	cli_metrics_free(&t.one_metrics);
	for (size_t k = 0; k < t.threads_count; k++) {
		slots_destroy(t.threads[k].slots);
		spmu_destroy(t.threads[k].fields);
	}
	topdown_places_destroy(t.places);
	spmu_model_free(t.model);
	free(t.threads);
	free(t.exact);
	free(t.fields);
	free(t.sampled);
	free(t.last);
	free(t.words);
	return status;
}

const struct cli_command cmd_topdown = {
	.name = "topdown", .summary = "print where a program's issue slots went, and what to look at next", .options =
		options, .runs = true, .run = run,
	.usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE",
	.about = "Says where the issue slots of the modelled core went while PROGRAM ran: retiring, bad speculation, "
		"front-end and back-end bound, and the nodes below these. The column formula has the shares computed "
		"from the core's events by the formulas in data/metrics; all events are counted in one run. The "
		"column exact has the shares that the model finds by charging every slot once, and diff is the "
		"difference. The bars draw the exact shares, with a mark at the formula's. "
		"A node is marked (*) when it and those above it lie above their thresholds. The bottleneck is the "
		"largest of the marked nodes that have no marked node below them, down to level 3, and on level 4 "
		"the largest marked part of it. "
		"The tree goes to standard error; the program's own output is left "
		"alone.",
};
