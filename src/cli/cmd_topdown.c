/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu topdown: where the issue slots of a program went, by the published formulas over a core's events, all of them
 * counted in one run, and beside them exactly, slot by slot, from the records of the same run (analysis/slots.h).  Names the bottleneck and the command that samples it. */
#include "analysis/slots.h"
#include "cli/cli.h"
#include "cli/cli_metrics.h"
#include "cli/topdown_print.h"
#include "session/session.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"usage: softpmu topdown [options] [--] PROGRAM [arguments]\n"
"       softpmu topdown [options] --replay FILE\n\n"
"Says where the issue slots of the modelled core went while PROGRAM ran: retiring, bad speculation, front-end and back-end\n"
"bound, and what is below them, by the formulas in data/metrics/ over the core's events.  All events are counted in the one\n"
"run.  A node is marked when it and those above it lie above their thresholds; the largest that is marked is the bottleneck.\n"
"Beside each formula stands what the records say slot by slot (exact), and how far the formula is from it.\n"
"The tree goes to stderr, the program's own output stays its own.\n\n"
"  -l, --level N           down to this level of the tree, 1 to 4; default 4\n"
"      --per WHAT          thread: a tree for each (--per-thread is the same)\n"
"  -I, --interval MS       a tree for every MS modelled milliseconds\n"
"  -x, --field-separator S print fields separated by S: [thread or time,]level,name,value,exact,difference,flagged\n"
"  -j, --json              print one JSON object a line\n"
"      --svg FILE          draw the tree into FILE\n"
"  -o, --output FILE       print to FILE\n"
"      --no-metrics        do not print the metrics beside the tree\n"
"      --no-exact          the formulas alone: the model runs faster\n\n"
CLI_RUN_HELP;

struct topdown {
	struct cli_run run;
	struct topdown_style style;
	const char *output, *svg;
	double interval_ms;
	bool per_thread, no_metrics, no_exact;
	struct spmu_model *model;
	struct session_events events;
	struct session *session;
	struct cli_metrics metrics;
	/* --interval: counts at the end of the one before */
	double *last;
	uint64_t last_cycle;
	size_t thread;		/* whose counts are read */
	/* of each thread in the order of their start */
	struct thread_slots { struct run_thread *thread; /* NULL: ended */ struct slots *slots; } *threads;
	size_t threads_count;
	uint64_t slots[SLOTS_CAUSE_COUNT], last_slots[SLOTS_CAUSE_COUNT];	/* to be printed; at the end of the interval before */
	double *exact;		/* by metric; NULL: --no-exact */
};

/* ---- options ---------------------------------------------------------------------------------------------- */

static bool number(const char *text, double min, double max, double *out)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (errno || end == text || *end || !(v >= min && v <= max))
		return false;
	*out = v;
	return true;
}

/* 1: goes on; 0: help was printed; -1: bad, one line was printed. */
static int parse(struct topdown *t, int argc, char **argv, int *next)
{
	int i;
	double n;
	t->style.level = 4;
	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char *word = argv[i], *v;
		if (!strcmp(word, "--"))
			break;
		int ours = cli_run_option(&t->run, argc, argv, &i);
		if (ours < 0)
			return -1;
		if (ours)
			continue;
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			fputs(help, stdout);
			return 0;
		}
		if (!strcmp(word, "-j") || !strcmp(word, "--json")) {
			t->style.form = TOPDOWN_JSON;
		} else if (!strcmp(word, "--per-thread")) {
			t->per_thread = true;
		} else if (!strcmp(word, "--no-exact")) {
			t->no_exact = true;
		} else if (!strcmp(word, "--no-metrics")) {
			t->no_metrics = true;
		} else if ((v = cli_value(argc, argv, &i, 'l', "level"))) {
			if (!number(v, 1, 4, &n) || n != floor(n)) {
				cli_error("-l '%s': a level from 1 to 4 was expected", v);
				return -1;
			}
			t->style.level = (unsigned)n;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "per"))) {
			if (strcmp(v, "thread")) {
				cli_error("--per '%s': thread was expected", v);
				return -1;
			}
			t->per_thread = true;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'I', "interval"))) {
			char text[32];
			size_t chars = strlen(v);
			snprintf(text, sizeof text, "%.*s", (int)(chars > 2 && !strcmp(v + chars - 2, "ms") ? chars - 2 : chars), v);
			if (!number(text, 1e-4, 1e9, &t->interval_ms)) {
				cli_error("--interval '%s': modelled milliseconds, at least 0.0001, were expected", v);
				return -1;
			}
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'x', "field-separator"))) {
			if (!*v) {
				cli_error("-x: the separator is empty");
				return -1;
			}
			t->style.form = TOPDOWN_CSV;
			t->style.separator = !strcmp(v, "\\t") ? "\t" : v;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 0, "svg"))) {
			t->svg = v;
		} else if (i > 0 && (v = cli_value(argc, argv, &i, 'o', "output"))) {
			t->output = v;
		} else if (i > 0) {
			cli_unknown_option("topdown", help, word);
			return -1;
		}
		if (i < 0)
			return -1;
	}
	*next = i;
	if (t->per_thread && t->interval_ms > 0) {
		cli_error("--per-thread and --interval exclude each other");
		return -1;
	}
	if (t->run.run.smt && !t->no_exact) {
		cli_error("--smt: whose issue slots are whose is not told apart for threads that share a core: only with --no-exact");
		return -1;
	}
	if (t->svg && t->interval_ms > 0) {
		cli_error("--svg draws one tree: not with --interval");
		return -1;
	}
	return 1;
}

/* ---- counting --------------------------------------------------------------------------------------------- */

static bool choose_events(struct topdown *t)
{
	const struct metrics *m = &t->metrics.m;
	bool any = !t->no_exact;
	for (size_t k = 0; k < m->metrics; k++) {
		const struct metric *n = m->metric + k;
		if (n->refused || (n->level ? n->level > t->style.level && !metrics_joins(m, k) : t->no_metrics || !strcmp(n->group, "info")))
			continue;
		if (!cli_metrics_want(&t->metrics, k, &t->events, &t->run.core, t->model, true))
			return false;
		any |= n->level > 0;
	}
	if (!any)
		cli_error("the PMU '%s' can count no node of the tree", t->run.core.pmu);
	return any;
}

static double whole_count(void *context, size_t event)
{
	return (double)session_count(((struct topdown *)context)->session, event);
}

static double thread_count(void *context, size_t event)
{
	const struct topdown *t = context;
	return (double)session_thread_count(t->session, t->thread, event);
}

/* Since the interval before. */
static double interval_count(void *context, size_t event)
{
	struct topdown *t = context;
	double now = (double)session_count(t->session, event), since = now - t->last[event];
	t->last[event] = now;
	return since;
}

/* ---- slots ------------------------------------------------------------------------------------------------ */

/* Adds what thread k's slots were charged to; 0, or -1 after one line. */
static int add_slots(struct topdown *t, size_t k)
{
	uint64_t slots[SLOTS_CAUSE_COUNT], cycles;
	struct err err = { 0 };
	if (!t->threads[k].slots)
		return 0;
	if (slots_read(t->threads[k].slots, slots, &cycles, &err)) {
		cli_error("%s", err.text);
		return -1;
	}
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
		t->slots[c] += slots[c];
	return 0;
}

static void all_slots(struct topdown *t)
{
	memset(t->slots, 0, sizeof t->slots);
	for (size_t k = 0; k < t->threads_count; k++)
		if (add_slots(t, k))
			return;
}

/* Shares of the causes that each node names, of all slots in t->slots. */
static void exact_values(struct topdown *t)
{
	uint64_t all = 0, part;
	if (!t->exact)
		return;
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
		all += t->slots[c];
	for (size_t k = 0; k < t->metrics.m.metrics; k++) {
		const char *path = t->metrics.m.metric[k].exact;
		t->exact[k] = path && all && slots_sum(t->slots, path, &part) ? (double)part / (double)all : (double)NAN;
	}
}

static void print_all(struct topdown *t)
{
	exact_values(t);
	topdown_print(&t->style, &t->metrics.m, t->metrics.value, t->exact);
	if (!t->no_metrics)
		topdown_print_others(&t->style, &t->metrics.m, t->metrics.value);
}

static void on_interval(void *context, uint64_t end_cycle)
{
	struct topdown *t = context;
	char what[48];
	double from = 1e-9 * (double)session_ns(t->session, t->last_cycle), to = 1e-9 * (double)session_ns(t->session, end_cycle);
	cli_metrics_values(&t->metrics, interval_count, t, to - from);
	t->last_cycle = end_cycle;
	all_slots(t);
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

static struct thread_slots *slots_of(struct topdown *t, const struct run_thread *run)
{
	for (size_t k = t->threads_count; k-- > 0;)
		if (t->threads[k].thread == run)
			return t->threads + k;
	return NULL;
}

static int on_start(void *context, struct run_thread *run, struct err *err)
{
	struct topdown *t = context;
	const struct core_config *c = &t->run.core;
	const struct slots_core core = { .width = c->alloc_width, .frontend_latency = c->frontend_latency, .l2_latency = c->l2_latency,
		.l3_latency = c->l3_latency + (unsigned)(c->l3_latency_ns * c->frequency_ghz) };
	if (t->exact) {
		struct thread_slots *more = realloc(t->threads, (t->threads_count + 1) * sizeof *more);
		if (!more)
			return err_set(err, ERR_NOMEM, "out of memory");
		t->threads = more;
		more[t->threads_count] = (struct thread_slots){ .thread = run };
		int rc = slots_create(&more[t->threads_count].slots, &core, err);
		if (rc)
			return rc;
		t->threads_count++;
	}
	return session_thread_start(t->session, run, err);
}

static void on_end(void *context, struct run_thread *run)
{
	struct topdown *t = context;
	struct thread_slots *s = slots_of(t, run);
	if (s) {
		slots_end(s->slots);
		s->thread = NULL;
	}
	session_thread_end(t->session, run);
}

static void on_batch(void *context, struct run_thread *run, const struct spmu_batch *b)
{
	struct topdown *t = context;
	struct thread_slots *s = slots_of(t, run);
	if (s)
		slots_batch(s->slots, b);
	session_batch(t->session, run, b);
}

static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name, struct st_answer *answer)
{
	return session_client(((struct topdown *)context)->session, t, request, name, answer);
}

/* ---- what it says ----------------------------------------------------------------------------------------- */

static void print_program(FILE *out, const struct topdown *t)
{
	if (t->run.run.replay)
		fprintf(out, "--replay %s", t->run.run.replay);
	for (char *const *a = t->run.argv; a && *a; a++)
		fprintf(out, "%s%s", a == t->run.argv ? "" : " ", *a);
}

/* What counts with node k when the bottleneck is named, though the tree has it elsewhere. */
static void print_joins(FILE *out, const struct metrics *m, size_t k, double joined)
{
	bool any = false;
	for (size_t j = 0; j < m->joins; j++)
		for (int i = (int)m->join[j].with; i >= 0; i = m->metric[i].parent)
			if ((size_t)i == k) {
				fprintf(out, "%s%s", any ? ", " : " With it counts what it causes elsewhere: ", m->metric[m->join[j].node].name);
				any = true;
			}
	fprintf(out, ", %.1f%% of the slots\n", 100 * joined);
}

static void print_advice(const struct topdown *t)
{
	const struct metrics *m = &t->metrics.m;
	FILE *out = t->style.out;
	const double *value = t->exact ? t->exact : t->metrics.value;
	double joined;
	size_t by_formula = topdown_bottleneck(m, t->metrics.value, t->style.level, NULL), k = topdown_bottleneck(m, value, t->style.level, &joined);
	fputc('\n', out);
	if (t->exact && by_formula != k && by_formula != SIZE_MAX && (k == SIZE_MAX || m->metric[by_formula].parent != (int)k))
		fprintf(out, " By the formulas alone: %s, %.1f%%\n", m->metric[by_formula].name, 100 * t->metrics.value[by_formula]);
	if (k == SIZE_MAX) {
		fputs(" Bottleneck: none, no node is above its threshold\n", out);
		return;
	}
	const struct metric *n = m->metric + k;
	fprintf(out, " Bottleneck: %s, %.1f%% (threshold %.0f%%)%s%s\n", n->name, 100 * value[k], 100 * n->threshold, n->description ? ": " : "",
		n->description ? n->description : "");
	if (joined > 0)
		print_joins(out, m, k, joined);
	if (n->next)
		fprintf(out, " To do: %s\n", n->next);
	if (n->sample) {
		fprintf(out, " Next: softpmu record --core %s -e %s -- ", t->run.core_name, n->sample);
		print_program(out, t);
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
	fprintf(out, "\n Core: %s (%s) at %g GHz%s, user mode only; %llu instructions, %llu cycles, %u PMUs a core\n%s", c->name, c->title, c->frequency_ghz,
		t->run.sets ? ", changed by --set" : "", (unsigned long long)res->instructions, (unsigned long long)res->cycles, session_pmus(t->session),
		cli_pmu_note(&t->run, note));
	for (size_t k = 0; k < m->metrics; k++)
		if (m->metric[k].level && m->metric[k].level <= t->style.level && !m->metric[k].text) {
			fprintf(out, "%s%s", unsaid ? ", " : " No formula, since this PMU has no events for it: ", m->metric[k].name);
			unsaid = true;
		}
	fputs(unsaid ? "\n" : "", out);
	for (size_t k = 0; k < m->metrics; k++)
		if (m->metric[k].refused && m->metric[k].text && (m->metric[k].group == NULL || strcmp(m->metric[k].group, "info")) &&
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
		print_program(f, t);
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
		if (k < t->threads_count && add_slots(t, k))
			return;
		cli_metrics_values(&t->metrics, thread_count, t, 1e-9 * (double)who.running_ns);
		snprintf(name, sizeof name, "%.16s-%u", who.comm, who.tid);
		t->style.what = name;
		print_all(t);
		t->style.what = NULL;
	}
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static int measure(struct topdown *t)
{
	struct session_options so = { .core = &t->run.core, .model = t->model, .events = &t->events, .context = t, .interval = on_interval };
	struct run_sink sink = { .context = t, .thread_start = on_start, .thread_end = on_end, .batch = on_batch, .client = on_client };
	struct run_result res = { 0 };
	struct err err = { 0 };
	struct core_wanted wanted;
	if (t->interval_ms > 0) {
		double cycles = t->interval_ms * 1e6 * t->run.core.frequency_ghz;
		so.interval_cycles = cycles < 1 ? 1 : (uint64_t)llround(cycles);
	}
	int rc = session_create(&t->session, &so, &err);
	if (rc) {
		cli_error("%s", err.text);
		return 1;
	}
	session_wanted(t->session, &wanted);
	if (t->exact) {
		slots_wanted(wanted.signal);
		wanted.is = wanted.did = ~UINT64_C(0);
	}
	t->run.run.wanted = &wanted;
	rc = cli_run_program(&t->run, &sink, &res, &err);
	t->run.run.wanted = NULL;
	bool started = session_threads(t->session) > 0, good = true;
	int status = cli_exit_status(res.wait_status);
	if (res.note[0])
		cli_warn("%s", res.note);
	if (started && t->interval_ms > 0) {
		if (res.cycles > t->last_cycle)
			on_interval(t, res.cycles);
	} else if (started) {
		bool tree = t->style.form == TOPDOWN_TREE;
		if (tree) {
			fputs("\n Top-Down of ", t->style.out);
			print_program(t->style.out, t);
			fputs("\n\n", t->style.out);
		}
		if (t->per_thread)
			print_threads(t);
		cli_metrics_values(&t->metrics, whole_count, t, 1e-9 * (double)session_ns(t->session, res.cycles));
		all_slots(t);
		exact_values(t);
		if (!t->per_thread)
			print_all(t);
		if (tree && !t->per_thread)
			print_advice(t);
		if (tree)
			print_notes(t, &res);
		if (t->svg)
			good = draw(t);
	}
	if (rc)
		cli_error("%s%s", err.text, started ? " (the counts are those up to there)" : "");
	return status ? status : rc || !good;
}

static int run(int argc, char **argv)
{
	struct topdown t = { .style = { .out = stderr, .separator = "," } };
	int next = 0, status = 1;
	cli_run_init(&t.run);
	int go = parse(&t, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	if (cli_run_finish(&t.run, argc, argv, next))
		return 2;
	t.model = cli_model(&t.run.core);
	if (t.model && !cli_metrics_load(&t.metrics, &t.run.core, t.model) && choose_events(&t)) {
		t.last = calloc(t.events.count + 1, sizeof *t.last);
		t.exact = t.no_exact ? NULL : calloc(t.metrics.m.metrics + 1, sizeof *t.exact);
		if (t.output)
			t.style.out = fopen(t.output, "we");
		if (!t.last || (!t.exact && !t.no_exact))
			cli_error("out of memory");
		else if (!t.style.out)
			cli_error("cannot write %s: %s", t.output, strerror(errno));
		else
			status = measure(&t);
		if (t.output && t.style.out) {
			bool bad = ferror(t.style.out);
			if (fclose(t.style.out) || bad) {
				cli_error("cannot write %s: %s", t.output, strerror(errno));
				status = status ? status : 1;
			}
		}
	}
	session_destroy(t.session);
	session_events_free(&t.events);
	cli_metrics_free(&t.metrics);
	spmu_model_free(t.model);
	for (size_t k = 0; k < t.threads_count; k++)
		slots_destroy(t.threads[k].slots);
	free(t.threads);
	free(t.exact);
	free(t.last);
	return status;
}

const struct cli_command cmd_topdown = {
	.name = "topdown", .summary = "where a program's issue slots went, and what to look at next", .help = help, .run = run,
};
