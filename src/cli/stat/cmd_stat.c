/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu stat: runs a program on the modelled core and prints its counts as perf stat does.
 *
 * What depends on the wall clock (MIPS) is printed with -v only, so that two runs print the same text. */
#include "cli/cli.h"
#include "cli/common/cli_count.h"
#include "cli/common/cli_sample.h"
#include "cli/common/cli_switched_off.h"
#include "cli/stat/stat_metrics.h"
#include "cli/stat/stat_print.h"
#include "session/session.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	struct cli_run run;
	const char *list[64];
	const char *metrics[16];
	unsigned lists, metric_lists, detailed, repeat;
	struct cli_output output;
	enum stat_form form;
	const char *separator, *region;
	double interval_ms, rotate_ms;
	bool per_thread, per_region, big, verbose, one_pmu, topdown;
	struct cli_sample sample;
};

struct counting {			/* one invocation */
	struct options o;
	struct spmu_model *model;
	struct spmu_uncore_model *uncore;	/* NULL: the core has none */
	struct session_events events;
	struct stat_table table;
	size_t *event_of_line;	/* NOT_THERE: not supported */
	struct stat_style style;
	struct session *session;
	struct stat_metrics metrics;
	/* -I: counts at the end of the last interval */
	uint64_t *last, *last_running, *last_enabled, last_cycle;
};
#define NOT_THERE ((size_t)-1)

extern const struct cli_command cmd_stat;

/* ---- options -------------------------------------------------------------------------------------------- */

static int set_separator(void *target, const struct option *o, const char *value, struct err *err)
{
	struct options *s = target;
	(void)o, (void)err;
	s->form = STAT_CSV;
	return cli_separator(value, &s->separator) ? 0 : ERR_INPUT;
}

static int set_json(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o, (void)value, (void)err;
	((struct options *)target)->form = STAT_JSON;
	return 0;
}

static int set_sample(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o;
	return cli_sample_parse(&((struct options *)target)->sample, value, err);
}

static int set_detail(void *target, const struct option *o, const char *value, struct err *err)
{
	(void)o;
	return cli_sample_parse_detail(&((struct options *)target)->sample, value, err);
}

static int set_rotate(void *target, const struct option *o, const char *value, struct err *err)
{
	struct options *s = target;
	(void)o, (void)err;
	s->one_pmu = true;
	return cli_milliseconds("--rotate", value, &s->rotate_ms) ? 0 : ERR_INPUT;
}

static const struct option options[] = {
	OPT_GROUP("What is counted"),
	OPT_LIST('e', "event", "EVENT,...", struct options, list, lists, "Count these events, written as perf writes "
		"them: names (softpmu list), rUUEE, cpu/event=0x..,umask=0x../, {a,b} groups, libpfm4's "
		"pmu::EVENT:UMASK. Events count in user mode. May be repeated. Default: task-clock, cycles, "
		"instructions, branches, branch-misses.", .more = "one -e takes a whole list"),
	OPT_COUNT('d', "detailed", struct options, detailed, "Count more events: those of L1D and the last-level "
		"cache; given twice, also L1I and the TLBs; three times, also prefetches."),
	OPT_LIST('M', "metrics", "METRIC,...", struct options, metrics, metric_lists, "Count the events that these "
		"metrics are computed from, and print the values of the metrics: IPC, L1_MPKI, Frontend_Bound, "
		"TopdownL1 and others in data/metrics. May be repeated.", .more = "one -M takes a whole list"),
	OPT_FLAG(0, "topdown", struct options, topdown, "Print level 1 of the top-down tree alone; softpmu topdown "
		"prints all of it."),
	OPT_TEXT(0, "region", "NAME", struct options, region, "Count only inside the regions of this name, which the "
		"program marks (softpmu/client.h).", .filled = true),
	OPT_GROUP("How it is counted"),
	OPT_WHOLE('r', "repeat", "N", struct options, repeat, 1, 100000, "Run the program N times; print each mean "
		"with its standard deviation."),
	OPT_FLAG(0, "one-pmu", struct options, one_pmu, "Give each core one PMU, as the machine has, instead of as "
		"many as the events need. Events that do not fit on it take turns, and their counts are scaled, as "
		"the kernel does it."),
	OPT_CALL(0, "rotate", "MS", set_rotate, "With --one-pmu (which this implies), let a turn last MS modelled "
		"milliseconds. Default: 4, as in the kernel."),
	OPT_CALL(0, "sample", "auto|N,U,W", set_sample, "Run faster: time only short windows of the run, and estimate "
		"the counts of the whole run from them, each with its 95 % interval. " CLI_SAMPLE_HOW,
		.optional = true),
	OPT_CALL(0, "detail", "N", set_detail, "Time the whole run and estimate nothing. Without --detail and "
		"--sample, the first 200 million instructions of each process are timed and the rest is sampled. A "
		"process that has several threads by then is timed to its end. --detail=N: the same with N instead "
		"of 200 million.", .optional = true),
	OPT_WHOLE(0, "jobs", "N", struct options, sample.jobs, 1, 1024, "In a sampled run, time up to N windows at "
		"once, each on a processor of the host. The counts are the same for every N. An N above 2 counts as "
		"2, because more windows would only wait for the warming. Default: the host's processors less one."),
	OPT_GROUP("What is printed"),
	OPT_MILLISECONDS('I', "interval-print", "MS", struct options, interval_ms, "Print the counts of every MS "
		"modelled milliseconds; fractions are allowed."),
	OPT_FLAG(0, "per-thread", struct options, per_thread, "Print the counts of each thread."),
	OPT_FLAG(0, "per-region", struct options, per_region, "Print the counts of each region that the program "
		"marks."),
	OPT_CALL('x', "field-separator", "SEPARATOR", set_separator, "Print a line of fields for each event: value, "
		"unit, event, with -r the standard deviation of the mean in percent, run time in ns, percentage of "
		"that time in which it was counted, metric, unit of the metric. \\t is a tab."),
	OPT_CALL('j', "json", NULL, set_json, "Print a JSON object for each event, one a line."),
	OPT_CALL(0, "json-output", NULL, set_json, "As --json.", .hidden = true),
	OPT_FLAG('B', "big-num", struct options, big, "Group digits in threes. This is the default."),
	OPT_CLEAR(0, "no-big-num", struct options, big, "Do not group digits."),
	OPT_TEXT('o', "output", "FILE", struct options, output.path, "Print to FILE instead of standard error."),
	OPT_FLAG(0, "append", struct options, output.append, "With -o, append to FILE."),
	OPT_WHOLE(0, "log-fd", "N", struct options, output.fd, 0, 1 << 20, "Print to the open file descriptor N."),
	OPT_FLAG('v', "verbose", struct options, verbose, "Also print how fast the model ran."),
	OPT_REFUSED('a', "all-cpus", "only the given program is traced", NULL),
	OPT_REFUSED('C', "cpu", "the program's threads have modelled cores of their own", "--per-thread shows them"),
	OPT_REFUSED('t', "tid", "the tracer cannot attach to a thread that runs already", "start the program under "
		"softpmu"),
	OPT_REFUSED('A', "no-aggr", "nothing is aggregated over CPUs", "--per-thread shows the threads"),
	OPT_REFUSED(0, "per-core", "the program's threads have modelled cores of their own", "--per-thread shows them"),
	OPT_REFUSED(0, "per-socket", "one socket is modelled", NULL),
	OPT_REFUSED('i', "no-inherit", "the program's threads are always counted, and the processes that it starts "
		"only with --follow", NULL),
	OPT_REFUSED('D', "delay", "there is no clock to wait for", "--start FUNCTION or --start COUNT begins the "
		"timing later"),
	OPT_REFUSED('G', "cgroup", "only the given program is traced", NULL),
	OPT_REFUSED(0, "timeout", "a run ends with its program", "--stop COUNT ends the timing"),
	OPT_END
};

/* Do these options ask for what estimates are not made of? */
static bool misfit(const struct options *o)
{
	return o->repeat > 1 || o->interval_ms > 0 || o->per_thread || o->per_region || o->region || o->one_pmu;
}

/* Options that do not go together.  0, or -1 after one printed line. */
static int check(const struct options *o)
{
	const bool repeats = o->repeat > 1, intervals = o->interval_ms > 0;
	const char *text = NULL;
	if (repeats && intervals)
		text = "-I and -r exclude each other: the intervals of different runs do not add up";
	else if (o->per_thread && (repeats || intervals))
		text = "--per-thread goes neither with -r nor with -I";
	else if (o->per_region && (repeats || intervals))
		text = "--per-region goes neither with -r nor with -I";
	else if (o->one_pmu && o->per_region)
		text = "--one-pmu and --per-region exclude each other: a region may end before its event has a turn";
	else if (o->per_thread && o->per_region)
		text = "--per-thread and --per-region exclude each other";
	else if (o->output.path && o->output.fd >= 0)
		text = "-o and --log-fd exclude each other";
	else if (o->topdown && (o->lists || o->metric_lists || o->detailed || o->per_region || o->form == STAT_JSON))
		text = "--topdown prints its four shares alone: not with -e, -M, -d, -j or --per-region";
	else if (o->sample.on && misfit(o))
		text = "--sample goes with none of -r, -I, --per-thread, --per-region, --region, --one-pmu; nor does "
		       "--detail=N";
	else if (o->output.append && !o->output.path)
		text = "--append needs -o FILE";
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}

/* ---- events --------------------------------------------------------------------------------------------- */

static bool add_line(struct counting *s, const char *name, size_t event)
{
	size_t n = s->table.lines;
	struct stat_line *line = realloc(s->table.line, (n + 1) * sizeof *line);
	if (line)
		s->table.line = line;
	size_t *map = realloc(s->event_of_line, (n + 1) * sizeof *map);
	if (map)
		s->event_of_line = map;
	if (!line || !map) {
		cli_error("out of memory");
		return false;
	}
	line[n] = (struct stat_line){ .name = name, .supported = event != NOT_THERE };
	map[n] = event;
	s->table.lines = n + 1;
	return true;
}

static bool metric_line(void *context, size_t event)
{
	return add_line(context, NULL, event);
}

static bool choose_events(struct counting *s)
{
	/* perf's sets: without -d, and what each -d adds.  Source: perf-stat(1), "-d".  A|B: B where the core cannot
	 * count A. */
	static const char *const set[] = {
		"task-clock,cycles,instructions,branches,branch-misses",
		"L1-dcache-loads,L1-dcache-load-misses,LLC-loads|cache-references,LLC-load-misses|cache-misses",
		"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
		"L1-dcache-prefetches,L1-dcache-prefetch-misses",
	};
	static char missing[24][64];	/* names of lines that have no event */
	size_t absent = 0;
	const struct session_parse_options how = { .model = s->model, .core = &s->o.run.core, .uncore = s->uncore,
		.purpose = SESSION_FOR_COUNTING_UNCORE };
	struct err err = { 0 };
	for (unsigned i = 0; i < s->o.lists; i++) {
		size_t before = s->events.count;
		if (session_parse(&s->events, &how, s->o.list[i], &err)) {
			cli_error("%s", err.text);
			return false;
		}
		for (size_t e = before; e < s->events.count; e++)
			if (!add_line(s, NULL, e))
				return false;
	}
	for (unsigned i = 0; i < s->o.metric_lists + s->o.topdown; i++)
		if (stat_metrics_add(&s->metrics, s->o.topdown ? "TopdownL1" : s->o.metrics[i], &s->o.run.core,
			    s->model, &s->events, &s->table, metric_line, s))
			return false;
	/* -d goes with -e as well; without either there is the first set */
	for (int level = s->o.lists || s->metrics.uses ? 1 : 0; level <= (s->o.detailed < 3 ? (int)s->o.detailed : 3);
		level++) {
		const char *at = set[level];
		while (*at) {
			char one[48], *other;
			size_t n = strcspn(at, ",");
			snprintf(one, sizeof one, "%.*s", (int)n, at);
			at += n + (at[n] == ',');
			if ((other = strchr(one, '|')))
				*other++ = 0;
			if (session_parse(&s->events, &how, one, &err) == 0 ||
			    (other && session_parse(&s->events, &how, other, &err) == 0)) {
				if (!add_line(s, NULL, s->events.count - 1))
					return false;
			} else if (err.code == ERR_NOMEM) {
				cli_error("%s", err.text);
				return false;
			} else {	/* nobody asked for this line by name, so it does not stop the rest */
				snprintf(missing[absent], sizeof *missing, "%s:u", one);
				if (!add_line(s, missing[absent++], NOT_THERE))
					return false;
			}
		}
	}
	for (size_t i = 0; i < s->table.lines; i++) {
		struct stat_line *l = s->table.line + i;
		if (s->event_of_line[i] == NOT_THERE)
			continue;
		const struct session_event *e = s->events.event + s->event_of_line[i];
		l->name = e->name;
		if (e->source == SESSION_UNCORE) {
			l->unit = e->uncore.scale_unit;
			l->scale = e->uncore.scale;
			if (s->o.per_thread || s->o.per_region) {
				cli_error("'%s': uncore counters belong to the whole machine: not with --per-%s",
					e->spelled, s->o.per_thread ? "thread" : "region");
				return false;
			}
			continue;
		}
		/* with cmask, inv or edge, an event is no longer what its generic name says */
		bool plain = !e->event || e->fixed >= 0 || (e->evtsel & 0xffff) == e->evtsel;
		l->role = e->source == SESSION_TASK_CLOCK                              ? ROLE_TASK_CLOCK
			: e->source == SESSION_DURATION                                ? ROLE_DURATION
			: e->source == SESSION_NOTHING || e->source == SESSION_PUSHOUT ? ROLE_OTHER
			: plain ? stat_role(e->spelled, e->event->perf_alias)
				: ROLE_OTHER;
	}
	return true;
}

/* ---- counts into lines ---------------------------------------------------------------------------------- */

/* Adds a count, scaled from the `running` ns in which it counted to the `enabled` ns.  Source: Linux,
 * tools/perf/util/counts.c, perf_counts_values__scale. */
static void add_reading(struct stat_line *l, uint64_t count, uint64_t enabled, uint64_t running)
{
	double scaled = running == enabled ? (double)count
		: running                  ? (double)count * (double)enabled / (double)running
					   : 0;
	stats_add(&l->value, scaled);
	stats_add(&l->running_ns, (double)running);
	stats_add(&l->enabled_ns, (double)enabled);
}

static void print_lines(struct counting *s)
{
	stat_metrics_fill(&s->metrics, &s->table);
	if (s->o.topdown)
		stat_metrics_row(&s->metrics, &s->style, &s->table, false);
	else
		stat_print_lines(&s->style, &s->table);
}

static void print_header(struct counting *s, const char *what)
{
	if (!s->o.topdown || s->style.interval_end < 0)
		stat_print_header(&s->style, &s->table, what);
	if (s->o.topdown)
		stat_metrics_row(&s->metrics, &s->style, &s->table, true);
}

/* Prints the counts since the last interval as a table of one run. */
static void on_interval(void *context, uint64_t end_cycle)
{
	struct counting *s = context;
	double elapsed = (double)session_ns(s->session, end_cycle) - (double)session_ns(s->session, s->last_cycle);
	for (size_t i = 0; i < s->table.lines; i++) {
		size_t e = s->event_of_line[i];
		struct stat_line *l = s->table.line + i;
		if (e == NOT_THERE)
			continue;
		uint64_t now = session_count(s->session, e), running = session_running_ns(s->session, e),
			 enabled = session_enabled_ns(s->session, e);
		l->value = l->running_ns = l->enabled_ns = (struct stats){ 0 };
		if (l->role == ROLE_DURATION)
			now = running = enabled = session_ns(s->session, end_cycle);
		add_reading(l, now - s->last[i], enabled - s->last_enabled[i], running - s->last_running[i]);
		s->last_enabled[i] = enabled;
		s->last[i] = now;
		s->last_running[i] = running;
	}
	s->table.elapsed_ns = (struct stats){ 0 };
	stats_add(&s->table.elapsed_ns, elapsed);
	s->last_cycle = end_cycle;
	s->style.interval_end = 1e-9 * (double)session_ns(s->session, end_cycle);
	print_lines(s);
	fflush(s->style.out);
}

static void collect(struct counting *s, const struct run_result *res)
{
	double elapsed = (double)session_ns(s->session, res->cycles), user = 0;
	for (size_t i = 0; i < session_threads(s->session); i++) {
		struct session_thread t;
		session_thread_info(s->session, i, &t);
		user += (double)t.running_ns;
	}
	for (size_t i = 0; i < s->table.lines; i++) {
		size_t e = s->event_of_line[i];
		struct stat_line *l = s->table.line + i;
		if (e == NOT_THERE)
			continue;
		bool duration = l->role == ROLE_DURATION;
		if (duration)
			add_reading(l, (uint64_t)elapsed, (uint64_t)elapsed, (uint64_t)elapsed);
		else
			add_reading(l, session_count(s->session, e), session_enabled_ns(s->session, e),
				session_running_ns(s->session, e));
	}
	stats_add(&s->table.elapsed_ns, elapsed);
	stats_add(&s->table.user_ns, user);
}

/* The counts of a sampled run. */
static int collect_estimates(struct counting *s, const struct run_result *res, struct err *err)
{
	double half = 0, clock = 0;
	/* of several threads, the clocks of the modelled cores say when the last one ended */
	const bool several = session_threads(s->session) > 1;
	const double elapsed = (double)session_ns(s->session, res->cycles);
	const int rc = cli_sample_finish(&s->o.sample, res, err);
	if (rc)
		return rc;
	s->table.estimates = true;
	for (size_t i = 0; i < s->table.lines; i++) {
		struct stat_line *l = s->table.line + i;
		if (s->event_of_line[i] == NOT_THERE)
			continue;
		l->estimated = l->role != ROLE_INSTRUCTIONS;
		double value = (double)(res->instructions + res->warmed);
		if (l->role == ROLE_DURATION && several) {
			value = elapsed;
			l->half = NAN;
		} else if (l->estimated) {
			value = cli_sample_total(&s->o.sample,
				l->role == ROLE_DURATION ? s->events.count : s->event_of_line[i], &l->half);
			l->estimated = l->half != 0;
		}
		stats_add(&l->value, value);
	}
	clock = cli_sample_total(&s->o.sample, s->events.count, &half);
	stats_add(&s->table.elapsed_ns, several ? elapsed : clock);
	stats_add(&s->table.user_ns, clock);
	for (size_t i = 0; i < s->table.lines; i++)
		stats_add(&s->table.line[i].running_ns, clock);
	return 0;
}

static void print_threads(struct counting *s)
{
	for (size_t k = 0; k < session_threads(s->session); k++) {
		struct session_thread t;
		char who[48];
		session_thread_info(s->session, k, &t);
		snprintf(who, sizeof who, "%s-%u", t.comm, t.tid);
		for (size_t i = 0; i < s->table.lines; i++) {
			size_t e = s->event_of_line[i];
			struct stat_line *l = s->table.line + i;
			if (e == NOT_THERE)
				continue;
			l->value = l->running_ns = l->enabled_ns = (struct stats){ 0 };
			add_reading(l, session_thread_count(s->session, k, e), t.running_ns,
				session_thread_running_ns(s->session, k, e));
		}
		s->style.thread = who;
		print_lines(s);
		s->style.thread = NULL;
	}
}

static void print_regions(struct counting *s)
{
	char name[256];
	for (size_t k = 0; k < session_regions(s->session); k++) {
		struct session_region r;
		session_region_info(s->session, k, &r);
		for (size_t i = 0; i < s->table.lines; i++) {
			size_t e = s->event_of_line[i];
			struct stat_line *l = s->table.line + i;
			if (e == NOT_THERE)
				continue;
			l->value = l->running_ns = (struct stats){ 0 };
			stats_add(&l->value, (double)session_region_count(s->session, k, e));
			stats_add(&l->running_ns, (double)r.running_ns);
		}
		cli_plain_name(name, sizeof name, r.name, s->style.form == STAT_CSV ? s->style.separator : NULL);
		s->style.region = name;
		s->style.entries = r.entries;
		print_lines(s);
		s->style.region = NULL;
	}
	if (!session_regions(s->session))
		cli_warn("--per-region: the program marked no region (softpmu/client.h)");
}

/* ---- output --------------------------------------------------------------------------------------------- */

/* The command line in quotes, as perf prints it: 'ls -l'. */
static char *quoted_program(const struct counting *s)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	if (!f)
		return NULL;
	fputc('\'', f);
	cli_print_program(f, &s->o.run, "");
	fputc('\'', f);
	return fclose(f) ? NULL : text;
}

/* A few instructions among millions are said, too, but not as 0.00 %. */
static void print_share(FILE *out, uint64_t n, double all, const char *what)
{
	const double percent = 100 * (double)n / all;
	if (n && percent < 0.005)
		fprintf(out, " Less than 0.01%% of the instructions %s\n", what);
	else if (n)
		fprintf(out, " %.2f%% of the instructions %s\n", percent, what);
}

static void print_notes(const struct counting *s, const struct run_result *res)
{
	const struct core_config *c = &s->o.run.core;
	FILE *out = s->style.out;
	double all = res->instructions ? (double)res->instructions : 1;
	char note[128];
	fprintf(out, " Core: %s (%s) at %g GHz%s, user mode only\n%s", c->name, c->title, c->frequency_ghz,
		cli_changed(&s->o.run), cli_pmu_note(&s->o.run, note));
	if (s->o.sample.sampled) {
		const size_t windows = s->o.sample.windows;
		const double measured = (double)s->o.sample.plan.measured * (double)windows;
		const double timed = 1 - (double)res->sampled / (double)(res->instructions + res->warmed);
		if (s->o.sample.after)
			fprintf(out, " %.2f%% of the instructions were timed, then the run was sampled (--detail times "
				"all of it)\n", 100 * timed);
		fprintf(out, " Estimated from %zu windows; %.2f%% of the instructions%s were measured\n", windows,
			100 * measured / (double)res->sampled, timed > 0 ? " after the start" : "");
	} else if (s->o.sample.on && !s->o.sample.after)
		fprintf(out, " The run is short: all of it was timed\n");
	else if (res->warmed)
		fprintf(out, " %llu instructions outside of --start and --stop only warmed caches and predictors\n",
			(unsigned long long)res->warmed);
	print_share(out, res->substitute, all, "are newer than this core: their timing is a substitute");
	print_share(out, res->unknown, all, "have no row in the uop table: their timing is a default");
	for (size_t i = 0; i < s->events.count; i++)
		if (s->events.event[i].event && s->events.event[i].event->flags & SPMU_EVENT_LBR) {
			fprintf(out, " Last branch records are on, because %s counts them; perf stat leaves them off, "
				"and counts 0\n", s->events.event[i].event->name);
			break;
		}
	for (size_t i = 0; i < s->events.count; i++) {
		const struct session_event *e = &s->events.event[i];
		const char *why = e->source == SESSION_UNCORE ? cli_switched_off_uncore(c, e->name)
							      : cli_switched_off(c, s->model, e->event, e->extra);
		if (why)
			fprintf(out, " %s is 0: %s\n", e->name, why);
	}
	fputc('\n', out);
}

/* ---- the command ---------------------------------------------------------------------------------------- */

static void on_sampled(void *context, struct run_thread *t)
{
	struct counting *s = (struct counting *)((char *)context - offsetof(struct counting, session));
	cli_sample_sampled(&s->o.sample, t);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct counting *s = (struct counting *)((char *)context - offsetof(struct counting, session));
	return cli_sample_window(&s->o.sample, t, w);
}

static void on_executed(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	struct counting *s = (struct counting *)((char *)context - offsetof(struct counting, session));
	cli_sample_executed(&s->o.sample, b, insns, times, repeats);
}

/* Makes one run and adds its counts to the table.  *started: threads were seen, so there is something to print. */
static int run_once(struct counting *s, struct run_result *res, bool *started, struct err *err)
{
	struct session_options so = { .core = &s->o.run.core, .model = s->model, .events = &s->events, .context = s,
		.interval = on_interval, .region = s->o.region, .one_pmu = s->o.one_pmu,
		.siblings = s->o.run.run.smt ? s->o.run.core.smt_threads : 0,
		.rotate_cycles = 1 + (uint64_t)(s->o.rotate_ms * 1e6 * s->o.run.core.frequency_ghz) };
	struct run_sink sink = cli_session_sink(&s->session);
	struct err why = { 0 };
	int late = 0;
	if (s->o.sample.on) {
		sink.sampled = on_sampled;
		sink.window = on_window;
		sink.executed = on_executed;
	}
	if (s->o.interval_ms > 0)
		so.interval_cycles = cli_cycles(&s->o.run.core, s->o.interval_ms);
	memset(res, 0, sizeof *res);
	session_destroy(s->session);
	s->session = NULL;
	int rc = session_create(&s->session, &so, err);
	if (rc)
		return rc;
	if ((rc = cli_sample_begin(&s->o.sample, &s->o.run, s->session, s->events.count, err)))
		return rc;
	const struct core_wanted wanted = session_wanted(s->session);
	s->o.run.run.wanted = &wanted;
	rc = cli_run_program(&s->o.run, &sink, res, err);
	s->o.run.run.wanted = NULL;
	*started = session_threads(s->session) > 0;
	if (*started && s->o.interval_ms > 0 && res->cycles > s->last_cycle)
		on_interval(s, res->cycles);	/* the rest, shorter than an interval */
	else if (*started && cli_sample_estimates(&s->o.sample))
		late = collect_estimates(s, res, &why);
	else if (*started && s->o.interval_ms <= 0)
		collect(s, res);
	if (s->o.verbose && *started)
		fprintf(stderr,
			"softpmu: %llu instructions timed, %llu warmed, %llu cycles, %u PMUs a core, %.2f s, %.2f "
			"MIPS\n",
			(unsigned long long)res->instructions, (unsigned long long)res->warmed,
			(unsigned long long)res->cycles, session_pmus(s->session), res->wall_seconds,
			res->wall_seconds > 0 ? 1e-6 * (double)(res->instructions + res->warmed) / res->wall_seconds
					      : 0);
	if (late && !rc) {
		*err = why;
		rc = late;
	}
	return rc;
}

static int count(struct counting *s)
{
	struct run_result res = { 0 };
	struct err err = { 0 };
	bool started = false;
	int rc = 0, status = 0;
	unsigned done = 0;
	char *what = quoted_program(s);

	s->style.form = s->o.form;
	s->style.separator = s->o.separator;
	s->style.group_digits = s->o.big;
	s->style.interval_end = s->o.interval_ms > 0 ? 0 : -1;
	s->table.runs = 1;
	s->last = calloc(s->table.lines, sizeof *s->last);
	s->last_running = calloc(s->table.lines, sizeof *s->last_running);
	s->last_enabled = calloc(s->table.lines, sizeof *s->last_enabled);
	if (!what || !s->last || !s->last_running || !s->last_enabled) {
		cli_error("out of memory");
		free(what);
		return 1;
	}
	if (s->o.interval_ms > 0)
		print_header(s, what);
	for (; !rc && done < s->o.repeat && !cli_interrupted(); done += started) {
		rc = run_once(s, &res, &started, &err);
		status = cli_exit_status(res.wait_status);
		s->o.run.expected = res.instructions + res.warmed;	/* of the next run */
		if (res.note[0])
			cli_warn("%s", res.note);
	}
	if (started && s->o.interval_ms <= 0) {
		s->table.runs = done;
		print_header(s, what);
		if (s->o.per_thread)
			print_threads(s);
		else if (s->o.per_region)
			print_regions(s);
		else
			print_lines(s);
		stat_print_footer(&s->style, &s->table);
		if (s->style.form == STAT_TABLE)
			print_notes(s, &res);
	}
	if (started)
		cli_warn_unmodelled(s->session, s->model);
	if (started && res.threads_at_once)
		cli_warn(CLI_SAMPLE_THREADS);
	if (started && res.threads_detailed)
		cli_warn("all of the run was timed, because several threads ran at the same time (--sample estimates "
			"the counts, and is faster)");
	if (started && s->o.region && !session_has_region(s->session, s->o.region))
		cli_warn("--region %s: the program never entered a region of this name: nothing was counted",
			s->o.region);
	if (rc) {
		cli_error("%s%s", err.text, started ? "; what was counted until then is printed" : "");
		status = status ? status : 1;
	}
	free(what);
	return status;
}

/* Default of --jobs: the host's processors less one, which warms. */
static unsigned default_jobs(void)
{
	const long host = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	return host < 1 ? 1 : host > RUN_LANES ? RUN_LANES : (unsigned)host;
}

/* Without --sample and --detail. */
static void sample_by_default(struct counting *s)
{
	if (s->o.sample.on || s->o.sample.in_full || misfit(&s->o) || cli_sample_misfit(&s->o.run))
		return;
	/* which of several processes caused what the machines' own counters count is not known */
	for (size_t i = 0; i < s->events.count; i++)
		if (s->o.run.run.follow && s->events.event[i].source == SESSION_UNCORE)
			return;
	cli_sample_default(&s->o.sample);
}

static int run(int argc, char **argv)
{
	struct counting s = {
		.o = { .repeat = 1, .output = { .fd = -1 }, .separator = ",", .big = true, .rotate_ms = 4,
			.sample.times_start = true }
	};
	int next = 0, status = 1;
	cli_run_init(&s.o.run);
	s.o.run.profile = CLI_PROFILE_STORED;
	const int go = cli_options(&cmd_stat, &s.o, &s.o.run, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	if (check(&s.o) || cli_run_finish(&s.o.run, argc, argv, next) || cli_sample_check(&s.o.sample, &s.o.run))
		return 2;
	s.model = cli_model(&s.o.run.core);
	if (s.model && !cli_uncore(&s.uncore, &s.o.run.core) && choose_events(&s) && cli_output_open(&s.o.output)) {
		sample_by_default(&s);
		if (!s.o.sample.jobs)
			s.o.sample.jobs = default_jobs();
		s.style.out = s.o.output.out;
		status = count(&s);
		if (!cli_output_close(&s.o.output) && status == 0)
			status = 1;
	}
	session_destroy(s.session);
	session_events_free(&s.events);
	spmu_model_free(s.model);
	spmu_uncore_free(s.uncore);
	free(s.table.line);
	free(s.event_of_line);
	free(s.last);
	free(s.last_running);
	free(s.last_enabled);
	stat_metrics_free(&s.metrics);
	cli_sample_free(&s.o.sample);
	return status;
}

const struct cli_command cmd_stat = {
	.name = "stat", .summary = "run a program and print its counts, as perf stat does", .options = options,
		.runs = true, .run = run,
	.usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE",
	.about = "Counts events while PROGRAM runs on a modelled core. The counts go to standard error; the program's "
		"own output is left alone. All times are modelled: cycles divided by the core's clock. The exit "
		"status is the program's, or 128+n if signal n ended it.",
};
