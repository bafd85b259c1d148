/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu stat: runs a program on the modelled core and prints its counts as perf stat does.
 *
 * What depends on the wall clock (MIPS) is printed with -v only, so that two runs print the same text. */
#include "cli/common/cli_switched_off.h"
#include "cli/stat/stat_counting.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct cli_command cmd_stat;

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

/* The events of -e, those that cannot be counted among them. */
static bool listed_events(struct counting *s)
{
	const struct session_parse_options how = { .model = s->model, .core = &s->o.run.core, .uncore = s->uncore,
		.all_user = s->o.all_user, .purpose = SESSION_FOR_COUNTING_UNCORE, .leave_out = stat_leave_out,
		.context = &s->unsupported };
	struct stat_unsupported *u = &s->unsupported;
	struct err err = { 0 };
	u->core = &s->o.run.core;
	u->events = &s->events;
	for (unsigned i = 0; i < s->o.lists; i++) {
		size_t e = s->events.count, out = u->count;
		if (session_parse(&s->events, &how, s->o.list[i], &err)) {
			cli_error("%s", err.text);
			return false;
		}
		if (u->nomem) {
			cli_error("out of memory");
			return false;
		}
		while (e < s->events.count || out < u->count) {
			const bool left = out < u->count && u->event[out].before <= e;
			if (!(left ? add_line(s, u->event[out++].name, NOT_THERE) : add_line(s, NULL, e++)))
				return false;
		}
	}
	return true;
}

/* --topdown: the levels that --td-level asks for. */
static bool add_levels(struct counting *s)
{
	const unsigned levels = s->o.topdown_level;
	char name[16];
	for (unsigned level = 1; level <= (levels ? levels : 4); level++) {
		snprintf(name, sizeof name, "TopdownL%u", level);
		if (!levels && level > 1 && !stat_metrics_has_level(&s->metrics, level))
			break;
		if (stat_metrics_add(&s->metrics, name, &s->o.run.core, s->model, &s->events, &s->table, metric_line,
			    s))
			return false;
	}
	return true;
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
		.all_user = s->o.all_user, .purpose = SESSION_FOR_COUNTING_UNCORE };
	struct err err = { 0 };
	if (!listed_events(s))
		return false;
	if (s->o.topdown && !add_levels(s))
		return false;
	for (unsigned i = 0; i < s->o.metric_lists; i++)
		if (stat_metrics_add(&s->metrics, s->o.metrics[i], &s->o.run.core, s->model, &s->events, &s->table,
			    metric_line, s))
			return false;
	/* -d goes with -e as well; without either there is the first set */
	const int last = s->o.detailed < 3 ? (int)s->o.detailed : 3;
	for (int level = s->o.lists || s->metrics.uses || s->o.null ? 1 : 0; level <= last; level++) {
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
				snprintf(missing[absent], sizeof *missing, "%s%s", one,
					s->o.run.core.both_rings && !s->o.all_user ? "" : ":u");
				if (!add_line(s, missing[absent++], NOT_THERE))
					return false;
			}
		}
	}
	s->energy_line = s->o.energy ? s->table.lines : NOT_THERE;
	if (s->o.energy) {
		if (!add_line(s, "energy", NOT_THERE))
			return false;
		s->table.line[s->energy_line].supported = true;
		s->table.line[s->energy_line].unit = "nJ";
		s->table.line[s->energy_line].scale = 1;
	}
	for (size_t i = 0; i < s->table.lines; i++) {
		struct stat_line *l = s->table.line + i;
		if (s->event_of_line[i] == NOT_THERE)
			continue;
		const struct session_event *e = s->events.event + s->event_of_line[i];
		l->name = e->name;
		l->unscaled = s->o.unscaled;
		l->rings = 2u * e->exclude_user + e->exclude_kernel;
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
			: plain && e->event ? stat_role(e->spelled, e->event->perf_alias)
				: ROLE_OTHER;
	}
	return true;
}

/* ---- counts into lines ---------------------------------------------------------------------------------- */

/* Adds a count, scaled from the `running` ns in which it counted to the `enabled` ns.  Source: Linux,
 * tools/perf/util/counts.c, perf_counts_values__scale. */
void stat_add_reading(struct stat_line *l, uint64_t count, uint64_t enabled, uint64_t running)
{
	double scaled = running == enabled || l->unscaled ? (double)count
		: running                  ? (double)count * (double)enabled / (double)running
					   : 0;
	stats_add(&l->value, scaled);
	stats_add(&l->running_ns, (double)running);
	stats_add(&l->enabled_ns, (double)enabled);
}

void stat_show_lines(struct counting *s)
{
	stat_metrics_fill(&s->metrics, &s->table);
	if (s->o.topdown)
		stat_metrics_row(&s->metrics, &s->style, &s->table, false);
	else if (s->o.metric_only)
		stat_print_metrics(&s->style, &s->table, false);
	else
		stat_print_lines(&s->style, &s->table);
}

static void print_header(struct counting *s, const char *what)
{
	const bool row = s->o.topdown || s->o.metric_only;
	if (!row || s->style.interval_end < 0)
		stat_print_header(&s->style, &s->table, what);
	if (s->o.topdown)
		stat_metrics_row(&s->metrics, &s->style, &s->table, true);
	else if (s->o.metric_only) {
		stat_metrics_fill(&s->metrics, &s->table);
		stat_print_metrics(&s->style, &s->table, true);
	}
}

void stat_show_interval(struct counting *s)
{
	if (s->o.interval_count && s->intervals_shown++ >= s->o.interval_count)
		return;
	if (s->o.clear)
		fputs("\033[H\033[2J", s->style.out);	/* to the corner; clear.  Source: ECMA-48, CUP, ED */
	if (s->o.clear)
		print_header(s, "");
	stat_show_lines(s);
	stat_record_round(s, (uint64_t)llround(1e9 * s->style.interval_end), true);
}

/* Prints the counts since the last interval as a table of one run. */
static void on_interval(void *context, uint64_t end_cycle)
{
	struct counting *s = context;
	double elapsed = (double)session_ns(s->session, end_cycle) - (double)session_ns(s->session, s->last_cycle);
	if (cli_sample_estimates(&s->o.sample)) {
		stat_intervals_passes(&s->intervals, &s->o.sample,
			(size_t)(end_cycle / cli_cycles(&s->o.run.core, s->o.interval_ms)) - 1);
		return;
	}
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
		stat_add_reading(l, now - s->last[i], enabled - s->last_enabled[i], running - s->last_running[i]);
		s->last_enabled[i] = enabled;
		s->last[i] = now;
		s->last_running[i] = running;
	}
	s->table.elapsed_ns = (struct stats){ 0 };
	stats_add(&s->table.elapsed_ns, elapsed);
	s->last_cycle = end_cycle;
	s->style.interval_end = 1e-9 * (double)session_ns(s->session, end_cycle);
	stat_show_interval(s);
	fflush(s->style.out);
}

/* The counts of a run in full detail. */
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
			stat_add_reading(l, (uint64_t)elapsed, (uint64_t)elapsed, (uint64_t)elapsed);
		else
			stat_add_reading(l, session_count(s->session, e), session_enabled_ns(s->session, e),
				session_running_ns(s->session, e));
	}
	stats_add(&s->table.elapsed_ns, elapsed);
	if (!s->o.run.core.both_rings)
		stats_add(&s->table.user_ns, user);
}

/* The counts of a stream that was cut. */
static void collect_pieces(struct counting *s)
{
	const struct stat_cut *c = &s->o.cut;
	for (size_t i = 0; i < s->table.lines; i++) {
		struct stat_line *l = s->table.line + i;
		if (s->event_of_line[i] != NOT_THERE)
			stat_add_reading(l, l->role == ROLE_DURATION ? c->ns : c->count[s->event_of_line[i]], c->ns,
				c->ns);
	}
	stats_add(&s->table.elapsed_ns, (double)c->ns);
	stats_add(&s->table.user_ns, (double)c->ns);
}

/* The counts of a sampled run. */
static int collect_estimates(struct counting *s, const struct run_result *res, struct err *err)
{
	double half = 0, clock = 0;
	/* of several threads, the clocks of the modelled cores say when the last one ended */
	const bool several = session_threads(s->session) > 1;
	const double elapsed = (double)session_ns(s->session, res->cycles);
	/* before a summary, the intervals were estimated */
	const int rc = s->o.summary ? 0 : cli_sample_finish(&s->o.sample, res, err);
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
			stat_add_reading(l, session_thread_count(s->session, k, e), t.running_ns,
				session_thread_running_ns(s->session, k, e));
		}
		s->style.thread = who;
		stat_show_lines(s);
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
		stat_show_lines(s);
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
	cli_print_program(f, &s->o.run, s->o.run.core.both_rings ? "the whole machine of " : "");
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
	const uint64_t executed = res->instructions + res->warmed;
	double all = executed ? (double)executed : 1;
	char note[128];
	fprintf(out, " Core: %s (%s) at %g GHz%s, %s\n%s", c->name, c->title, c->frequency_ghz,
		cli_changed(&s->o.run), cli_rings(&s->o.run),
		cli_pmu_note(&s->o.run, note));
	if (s->o.sample.sampled)
		cli_sample_print(&s->o.sample, res, out);
	else if (s->o.cut.on)
		fprintf(out, " Cut into %zu pieces of %.15g million instructions; this changed cycles by %s where it "
			"was measured\n", s->o.cut.pieces, 1e-6 * (double)s->o.cut.length, stat_cut_differs(c));
	else if (s->o.sample.on && !s->o.sample.after)
		fprintf(out, " The run is short: all of it was timed\n");
	else if (res->warmed)
		fprintf(out, " %llu instructions outside of --start and --stop only warmed caches and predictors\n",
			(unsigned long long)res->warmed);
	for (size_t i = 0; i < s->unsupported.count; i++)
		fprintf(out, " Not supported: %s\n", s->unsupported.event[i].why);
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
	if (s->o.interval_ms > 0)
		stat_intervals_sampled(&s->intervals, &s->o.sample, t);
	if (s->o.energy)
		stat_energy_tell(&s->energy, &s->o.sample, t);
	cli_sample_sampled(&s->o.sample, t);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct counting *s = (struct counting *)((char *)context - offsetof(struct counting, session));
	if (s->o.energy)
		stat_energy_tell(&s->energy, &s->o.sample, t);
	const uint64_t stretch = cli_sample_window(&s->o.sample, t, w);
	if (s->o.interval_ms > 0)
		stat_intervals_window(&s->intervals, &s->o.sample, t, w);
	return stretch;
}

static void on_executed(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	struct counting *s = (struct counting *)((char *)context - offsetof(struct counting, session));
	cli_sample_executed(&s->o.sample, b, insns, times, repeats);
}

static void on_batch_energy(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct counting *s = (struct counting *)((char *)context - offsetof(struct counting, session));
	session_batch(s->session, t, b);
	stat_energy_batch(&s->energy, s->session, t, b);
}

/* --summary: what follows are the counts of the whole run. */
static void begin_summary(struct counting *s)
{
	for (size_t i = 0; i < s->table.lines; i++) {
		struct stat_line *l = s->table.line + i;
		l->value = l->running_ns = l->enabled_ns = (struct stats){ 0 };
		l->estimated = false;
	}
	s->table.elapsed_ns = s->table.user_ns = (struct stats){ 0 };
	s->style.interval_end = -1;
	s->style.summary = s->style.form == STAT_CSV && !s->o.no_csv_summary;
}

/* --pre and --post.  0, or an error. */
static int run_command(const char *command, const char *option, struct err *err)
{
	const int status = command ? system(command) : 0;
	if (status < 0)
		return err_system(err, "%s '%s'", option, command);
	return status ? err_set(err, ERR_INPUT, "%s '%s' ended with status %d", option, command,
		cli_exit_status(status)) : 0;
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
	int late = 0, rc = 0;
	if (s->o.run.core.both_rings)
		cli_session_machine(&sink);
	if (s->o.cut.on) {
		rc = stat_cut_run(&s->o.cut, &s->o.run, &so, res, err);
		if ((*started = s->o.cut.pieces > 0))
			collect_pieces(s);
		return rc;
	}
	if (s->o.sample.on) {
		sink.sampled = on_sampled;
		sink.window = on_window;
		sink.executed = on_executed;
	}
	if (s->o.interval_ms > 0) {
		so.interval_cycles = cli_cycles(&s->o.run.core, s->o.interval_ms);
		stat_intervals_begin(&s->intervals, (double)so.interval_cycles / s->o.run.core.frequency_ghz,
			s->events.count);
	}
	memset(res, 0, sizeof *res);
	session_destroy(s->session);
	s->session = NULL;
	rc = session_create(&s->session, &so, err);
	if (rc)
		return rc;
	if (s->o.energy) {
		sink.batch = on_batch_energy;
		if ((rc = stat_energy_begin(&s->energy, &s->o.run.core, &s->o.sample, err)))
			return rc;
	}
	if ((rc = cli_sample_begin(&s->o.sample, &s->o.run, s->session, s->events.count, err)))
		return rc;
	struct core_wanted wanted = session_wanted(s->session);
	if (s->o.energy)
		wanted = core_wanted_both(wanted, energy_wanted());
	s->o.run.run.wanted = &wanted;
	rc = cli_run_program(&s->o.run, &sink, res, err);
	s->o.run.run.wanted = NULL;
	*started = session_threads(s->session) > 0;
	if (*started && s->o.interval_ms > 0 && cli_sample_estimates(&s->o.sample)) {
		late = stat_show_estimated(s, res, &why);
	} else if (*started && s->o.interval_ms > 0 && res->cycles > s->last_cycle) {
		const bool none = !s->last_cycle;
		on_interval(s, res->cycles);	/* the rest, shorter than an interval */
		if (none && s->style.form == STAT_TABLE)
			cli_note("-I %g: intervals are of modelled time, and the run ended within the first one "
				"(%.6f ms)", s->o.interval_ms, 1e-6 * (double)session_ns(s->session, res->cycles));
	}
	if (*started && s->o.summary)
		begin_summary(s);
	if (*started && (s->o.interval_ms <= 0 || s->o.summary)) {
		if (!late && cli_sample_estimates(&s->o.sample))
			late = collect_estimates(s, res, &why);
		else if (!late)
			collect(s, res);
		if (!late && s->o.energy)
			late = stat_energy_line(&s->energy, s->table.line + s->energy_line, &s->o.run.core,
				&s->o.sample, res, &why);
	}
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
	if (s->o.table)
		s->run_ns = calloc(s->o.repeat, sizeof *s->run_ns);
	if (!what || (s->table.lines && (!s->last || !s->last_running || !s->last_enabled)) ||
		(s->o.table && !s->run_ns)) {
		cli_error("out of memory");
		free(what);
		return 1;
	}
	if (s->o.interval_ms > 0)
		print_header(s, what);
	for (; !rc && done < s->o.repeat && !cli_interrupted(); done += started) {
		const double before = s->table.elapsed_ns.mean * s->table.elapsed_ns.n;
		if ((rc = run_command(s->o.pre, "--pre", &err)))
			break;
		rc = run_once(s, &res, &started, &err);
		if (!rc)
			rc = run_command(s->o.post, "--post", &err);
		if (s->run_ns)
			s->run_ns[done] = s->table.elapsed_ns.mean * s->table.elapsed_ns.n - before;
		status = cli_exit_status(res.wait_status);
		s->o.run.expected = res.instructions + res.warmed;	/* of the next run */
		if (res.note[0])
			cli_warn("%s", res.note);
	}
	if (started && (s->o.interval_ms <= 0 || s->o.summary)) {
		s->table.runs = done;
		s->table.run_ns = s->run_ns;
		if (s->o.interval_ms <= 0)
			stat_record_round(s, (uint64_t)llround(s->table.elapsed_ns.mean), false);
		if (s->o.summary && s->style.form == STAT_TABLE)
			fputc('\n', s->style.out);
		if (!s->o.summary || s->style.form == STAT_TABLE)
			print_header(s, what);
		if (s->o.per_thread)
			print_threads(s);
		else if (s->o.per_region)
			print_regions(s);
		else
			stat_show_lines(s);
		stat_print_footer(&s->style, &s->table);
		if (s->style.form == STAT_TABLE)
			print_notes(s, &res);
	}
	if (started && s->session)
		cli_warn_unmodelled(s->session, s->model);
	if (started && res.threads_at_once)
		cli_warn(CLI_SAMPLE_THREADS);
	if (started && res.threads_detailed)
		cli_note("all of the run was timed, because several threads ran at the same time (--sample estimates "
			"the counts, and is faster)");
	if (started && s->o.region && !session_has_region(s->session, s->o.region))
		cli_no_region(s->session, s->o.region, "counted");
	if (rc) {
		cli_error("%s%s", err.text, started ? STAT_UNTIL_THEN : "");
		status = status ? status : 1;
	}
	if (stat_record_end(s, started, &err)) {
		cli_error("%s", err.text);
		status = status ? status : 1;
	}
	free(what);
	return status;
}

/* Default of --jobs with a file of live points. */
static unsigned processors(void)
{
	const long host = sysconf(_SC_NPROCESSORS_ONLN);
	return host < 1 ? 1 : host > 64 ? 64 : (unsigned)host;
}

/* Default of --jobs: the host's processors less one, which warms. */
static unsigned default_jobs(void)
{
	const long host = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	return host < 1 ? 1 : host > RUN_LANES ? RUN_LANES : (unsigned)host;
}

/* With --cut: a piece has a thread that reads and one that times. */
static unsigned default_pieces(void)
{
	const long host = sysconf(_SC_NPROCESSORS_ONLN) / 2;
	return host < 1 ? 1 : host > 1024 ? 1024 : (unsigned)host;
}

/* Without --sample and --detail. */
static void sample_by_default(struct counting *s)
{
	if (s->o.sample.on || s->o.sample.in_full || s->o.cut.on || stat_misfit(&s->o) ||
		run_sample_misfit(&s->o.run.run))
		return;
	cli_sample_default(&s->o.sample);
}

/* stat record: creates its file.  0, or -1 after one printed line. */
static int keep_counts(struct counting *s, const char *path, int argc, char **argv)
{
	struct err err = { 0 };
	if (!stat_record_begin(s, path, argc, argv, &err))
		return 0;
	cli_error("%s", err.text);
	return -1;
}

static int run(int argc, char **argv)
{
	struct counting s = {
		.o = { .repeat = 1, .topdown_level = 1, .output = { .fd = -1 }, .separator = ",", .big = true,
			.rotate_ms = 4, .sample.times_start = true }
	};
	int next = 0, status = 1;
	cli_run_init(&s.o.run);
	s.o.run.profile = CLI_PROFILE_STORED;
	int go = cli_options(&cmd_stat, &s.o, &s.o.run, argc, argv, &next);
	const char *const part = go > 0 && next < argc && strcmp(argv[next - 1], "--") ? argv[next] : "";
	const bool keeps = !strcmp(part, "record");
	if (!strcmp(part, "report") && !s.o.run.run.replay)
		return stat_report(&s.o, argc - next, argv + next);
	if (keeps) {
		argc -= next;
		argv += next;
		go = cli_options(&stat_record_command, &s.o, &s.o.run, argc, argv, &next);
	}
	if (go <= 0)
		return go ? 2 : 0;
	if (keeps && (s.o.repeat > 1 || s.o.per_thread || s.o.per_region)) {
		cli_error("stat record keeps the counts of one run: not with -r, --per-thread or --per-region");
		return 2;
	}
	if (stat_check(&s.o) || cli_run_finish(&s.o.run, argc, argv, next) ||
		cli_sample_check(&s.o.sample, &s.o.run) || stat_cut_check(&s.o.cut, &s.o.run))
		return 2;
	const char *const kept = s.o.output.path ? s.o.output.path : "perf.data";
	if (keeps)
		s.o.output.path = NULL;
	s.model = cli_model(&s.o.run.core);
	if (s.model && !cli_uncore(&s.uncore, &s.o.run.core) && choose_events(&s) &&
		!(keeps && keep_counts(&s, kept, argc, argv)) && cli_output_open(&s.o.output)) {
		s.table.estimates = s.o.sample.on && s.o.interval_ms > 0;	/* from the first piece on */
		sample_by_default(&s);
		s.o.cut.jobs = s.o.sample.jobs ? s.o.sample.jobs : default_pieces();
		if (!s.o.sample.jobs)
			s.o.sample.jobs = s.o.sample.points ? processors() : default_jobs();
		s.style.out = s.o.quiet ? fopen("/dev/null", "we") : s.o.output.out;
		if (!s.style.out)
			s.style.out = s.o.output.out;
		status = count(&s);
		if (s.style.out != s.o.output.out)
			fclose(s.style.out);
		if (!cli_output_close(&s.o.output) && status == 0)
			status = 1;
	}
	session_destroy(s.session);
	session_events_free(&s.events);
	stat_unsupported_free(&s.unsupported);
	spmu_model_free(s.model);
	spmu_uncore_free(s.uncore);
	free(s.table.line);
	free(s.event_of_line);
	free(s.last);
	free(s.last_running);
	free(s.last_enabled);
	free(s.run_ns);
	stat_metrics_free(&s.metrics);
	cli_sample_free(&s.o.sample);
	stat_cut_free(&s.o.cut);
	stat_energy_free(&s.energy);
	stat_intervals_free(&s.intervals);
	return status;
}

static const struct cli_command *const parts[] = { &stat_record_command, &stat_report_command, NULL };

const struct cli_command cmd_stat = {
	.name = "stat", .summary = "run a program and print its counts, as perf stat does", .options =
		stat_option_table, .runs = true, .run = run, .parts = parts,
	.usage = "[options] [--] PROGRAM [arguments]\n[options] --replay FILE\n[options] record [-o FILE] [options] "
		"[--] PROGRAM [arguments]\nreport [-i FILE] [options]",
	.about = "Counts events while PROGRAM runs on a modelled core. The counts go to standard error; the program's "
		"own output is left alone. All times are modelled: cycles divided by the core's clock. The exit "
		"status is the program's, or 128+n if signal n ended it. stat record also keeps the counts in a "
		"perf.data file, and stat report prints those of such a file.",
};
