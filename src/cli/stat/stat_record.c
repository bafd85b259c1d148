/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu stat record and stat report: counts in a perf.data file.
 *
 * The file is the one of perf stat record: perf stat report reads ours, and this reads perf's.  An event has the
 * number of its line as id.  Counts are those since the start of the run, with -I too.
 * Source: perf.data-file-format.txt, "PERF_RECORD_STAT" and those around it; the bodies of the records: Linux,
 * tools/lib/perf/include/perf/event.h.
 * Left out: threads and regions apart; the intervals of estimates, for which the format has no place. */
#include "cli/profile/record_event.h"
#include "cli/stat/stat_counting.h"
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UPDATE_UNIT = 0, UPDATE_SCALE = 1, CONFIG_AGGREGATION = 0, CONFIG_INTERVAL = 1, CONFIG_SCALE = 2,
	ROUND_INTERVAL = 0, ROUND_FINAL = 1, GLOBAL = 1, UNIT_BYTES = 24 };

struct update { uint64_t type, id; union { double scale; char unit[UNIT_BYTES]; } to; };
struct stat_body { uint64_t id; uint32_t cpu, thread; uint64_t value, enabled, running; };

/* ---- writing ---- */

static void describe_line(const struct counting *s, size_t i, struct perfdata_event *out)
{
	const struct stat_line *l = s->table.line + i;
	const size_t e = s->event_of_line[i];
	/* a clock, or an event that cannot be counted: perf's event that counts nothing */
	*out = (struct perfdata_event){ .name = l->name, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = true };
	if (e != NOT_THERE && l->role != ROLE_DURATION)
		record_describe(&s->events.event[e], out);
	out->name = l->name;
	out->period = out->frequency = 0;
}

static void put_update(struct perfdata_writer *w, size_t line, const char *unit, double scale)
{
	struct update u = { .type = UPDATE_UNIT, .id = line + 1 };
	snprintf(u.to.unit, sizeof u.to.unit, "%s", unit);
	perfdata_tool_record(w, PERFDATA_TOOL_EVENT_UPDATE, &u, sizeof u);
	memset(&u.to, 0, sizeof u.to);
	u.type = UPDATE_SCALE;
	u.to.scale = scale;
	perfdata_tool_record(w, PERFDATA_TOOL_EVENT_UPDATE, &u, sizeof u);
}

int stat_record_begin(struct counting *s, const char *path, int argc, char *const *argv, struct err *err)
{
	const uint64_t config[] = { 3, CONFIG_AGGREGATION, GLOBAL, CONFIG_INTERVAL,
		(uint64_t)ceil(s->o.interval_ms > 0 ? s->o.interval_ms : 0), CONFIG_SCALE, !s->o.unscaled };
	const struct { uint64_t count, pid; char comm[16]; } threads = { 1, 0, "" };
	const struct { uint16_t type, count, cpu, pad; } cpus = { 0, 1, UINT16_MAX, 0 };	/* any */
	struct perfdata_event *event = calloc(s->table.lines + 1, sizeof *event);
	char **words = calloc((size_t)argc + 2, sizeof *words);
	int code = event && words ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	if (!code) {
		words[0] = "softpmu";
		words[1] = "stat";
		memcpy(words + 2, argv, (size_t)argc * sizeof *words);
		for (size_t i = 0; i < s->table.lines; i++)
			describe_line(s, i, event + i);
		const struct perfdata_options file = { .path = path, .events = event, .event_count = s->table.lines,
			.counts = true, .argc = argc + 2, .argv = words, .version = "softpmu",
			.cpu_title = s->o.run.core.title };
		code = s->table.lines ? perfdata_create(&s->kept, &file, err)
			: err_set(err, ERR_INPUT, "stat record: no event to keep");
	}
	free(event);
	free(words);
	if (code)
		return code;
	for (size_t i = 0; i < s->table.lines; i++) {
		const struct stat_line *l = s->table.line + i;
		if (l->role == ROLE_TASK_CLOCK)
			put_update(s->kept, i, "msec", 1e-6);
		else if (l->role == ROLE_DURATION)
			put_update(s->kept, i, "ns", 1);
		else if (l->unit && l->unit[0])
			put_update(s->kept, i, l->unit, l->scale);
	}
	perfdata_tool_record(s->kept, PERFDATA_TOOL_THREAD_MAP, &threads, sizeof threads);
	perfdata_tool_record(s->kept, PERFDATA_TOOL_CPU_MAP, &cpus, sizeof cpus);
	perfdata_tool_record(s->kept, PERFDATA_TOOL_STAT_CONFIG, config, sizeof config);
	return 0;
}

void stat_record_round(struct counting *s, uint64_t ns, bool interval)
{
	const uint64_t round[2] = { interval ? ROUND_INTERVAL : ROUND_FINAL, ns };
	const bool estimated = cli_sample_estimates(&s->o.sample) || s->o.cut.on;
	if (!s->kept)
		return;
	for (size_t i = 0; i < s->table.lines; i++) {
		const struct stat_line *l = s->table.line + i;
		const size_t e = s->event_of_line[i];
		struct stat_body b = { .id = i + 1, .cpu = UINT32_MAX };
		if (e == NOT_THERE)
			continue;
		if (interval) {
			b.value = s->last[i];
			b.enabled = s->last_enabled[i];
			b.running = s->last_running[i];
		} else if (estimated || l->role == ROLE_DURATION) {
			b.value = (uint64_t)llround(fmax(0, l->value.mean));
			b.enabled = b.running = (uint64_t)llround(l->running_ns.mean);
		} else {	/* before it is scaled */
			b.value = session_count(s->session, e);
			b.enabled = session_enabled_ns(s->session, e);
			b.running = session_running_ns(s->session, e);
		}
		perfdata_tool_record(s->kept, PERFDATA_TOOL_STAT, &b, sizeof b);
	}
	perfdata_tool_record(s->kept, PERFDATA_TOOL_STAT_ROUND, round, sizeof round);
}

int stat_record_end(struct counting *s, bool started, struct err *err)
{
	struct perfdata_writer *w = s->kept;
	s->kept = NULL;
	if (w && !started)
		perfdata_discard(w);
	return w && started ? perfdata_finish(w, NULL, NULL, err) : 0;
}

/* ---- reading ---- */

struct reading {
	struct stat_options *o;
	struct perfdata_file *file;
	struct stat_table table;
	struct stat_style style;
	struct stat_body *now, *last;	/* of each event: added up over processors and threads */
	char (*unit)[UNIT_BYTES];
	bool unscaled, headed;
	uint64_t interval;
	char *what;
};

static void on_update(struct reading *r, const void *body, size_t bytes)
{
	struct update u;
	if (bytes < sizeof u.type + sizeof u.id + sizeof u.to.scale)
		return;
	memset(&u, 0, sizeof u);
	memcpy(&u, body, bytes < sizeof u ? bytes : sizeof u);
	const size_t e = perfdata_event_of_id(r->file, u.id);
	if (e == SIZE_MAX)
		return;
	struct stat_line *l = r->table.line + e;
	if (u.type == UPDATE_SCALE) {
		l->scale = u.to.scale;
	} else if (u.type == UPDATE_UNIT && l->role != ROLE_TASK_CLOCK && l->role != ROLE_DURATION) {
		snprintf(r->unit[e], UNIT_BYTES, "%.*s", UNIT_BYTES - 1, u.to.unit);
		cli_plain_name(r->unit[e], UNIT_BYTES, r->unit[e], NULL);
		l->unit = r->unit[e];
		l->scale = l->scale != 0 ? l->scale : 1;
	}
}

static void on_config(struct reading *r, const void *body, size_t bytes)
{
	const uint8_t *p = body;
	uint64_t n = 0, tag[2];
	if (bytes < sizeof n)
		return;
	memcpy(&n, p, sizeof n);
	for (uint64_t i = 0; i < n && i < (bytes - sizeof n) / sizeof tag; i++) {
		memcpy(tag, p + sizeof n + i * sizeof tag, sizeof tag);
		if (tag[0] == CONFIG_INTERVAL)
			r->interval = tag[1];
		else if (tag[0] == CONFIG_SCALE)
			r->unscaled = !tag[1];
	}
}

static void on_stat(struct reading *r, const void *body, size_t bytes)
{
	struct stat_body b;
	if (bytes < sizeof b)
		return;
	memcpy(&b, body, sizeof b);
	const size_t e = perfdata_event_of_id(r->file, b.id);
	if (e == SIZE_MAX)
		return;
	r->now[e].value += b.value;
	r->now[e].enabled += b.enabled;
	r->now[e].running += b.running;
}

static void print_round(struct reading *r, uint64_t ns)
{
	const bool rows = r->o->metric_only;
	r->style.interval_end = r->interval ? 1e-9 * (double)ns : -1;
	if (!r->headed && (!rows || r->style.interval_end < 0))
		stat_print_header(&r->style, &r->table, r->what);
	if (!r->headed && rows)
		stat_print_metrics(&r->style, &r->table, true);
	r->headed = true;
	if (rows)
		stat_print_metrics(&r->style, &r->table, false);
	else
		stat_print_lines(&r->style, &r->table);
	if (!r->interval)
		stat_print_footer(&r->style, &r->table);
}

static void on_round(struct reading *r, const void *body, size_t bytes)
{
	uint64_t round[2];
	if (bytes < sizeof round)
		return;
	memcpy(round, body, sizeof round);
	for (size_t e = 0; e < r->table.lines; e++) {
		struct stat_line *l = r->table.line + e;
		const struct stat_body none = { 0 }, *last = r->interval ? &r->last[e] : &none;
		l->value = l->running_ns = l->enabled_ns = (struct stats){ 0 };
		l->unscaled = r->unscaled;
		stat_add_reading(l, r->now[e].value - last->value, r->now[e].enabled - last->enabled,
			r->now[e].running - last->running);
		r->last[e] = r->now[e];
		r->now[e] = none;
	}
	r->table.elapsed_ns = (struct stats){ 0 };
	/* as in perf: intervals have no time of their own, so task-clock has no remark */
	if (!r->interval)
		stats_add(&r->table.elapsed_ns, (double)round[1]);
	if (!r->interval || round[0] == ROUND_INTERVAL)
		print_round(r, round[1]);
}

/* The command line of the file in quotes, as perf prints it. */
static char *quoted_words(const struct perfdata_file *f)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	const char *word;
	char plain[4096];
	if (!to)
		return NULL;
	fputc('\'', to);
	for (size_t i = 0; (word = perfdata_word(f, i)); i++) {
		cli_plain_name(plain, sizeof plain, word, NULL);
		fprintf(to, "%s%s", i ? " " : "", plain);
	}
	fputc('\'', to);
	return fclose(to) ? NULL : text;
}

static int read_counts(struct reading *r)
{
	const void *body;
	size_t bytes;
	uint64_t at = 0;
	const size_t events = perfdata_event_count(r->file);
	const char *version = perfdata_feature_text(r->file, PERFDATA_VERSION);
	r->table = (struct stat_table){ .line = calloc(events, sizeof *r->table.line), .lines = events, .runs = 1,
		.measured = !version || strcmp(version, "softpmu") };
	r->now = calloc(events, sizeof *r->now);
	r->last = calloc(events, sizeof *r->last);
	r->unit = calloc(events, sizeof *r->unit);
	r->what = quoted_words(r->file);
	if (!r->table.line || !r->now || !r->last || !r->unit || !r->what) {
		cli_error("out of memory");
		return 1;
	}
	for (size_t e = 0; e < events; e++) {
		const char *name = perfdata_event_info(r->file, e)->name;
		r->table.line[e] = (struct stat_line){ .name = name, .role = stat_role(name, NULL),
			.supported = true };
	}
	for (uint32_t type; (type = perfdata_next_tool(r->file, &at, &body, &bytes)) != 0;)
		switch (type) {
		case PERFDATA_TOOL_EVENT_UPDATE: on_update(r, body, bytes); break;
		case PERFDATA_TOOL_STAT_CONFIG: on_config(r, body, bytes); break;
		case PERFDATA_TOOL_STAT: on_stat(r, body, bytes); break;
		case PERFDATA_TOOL_STAT_ROUND: on_round(r, body, bytes); break;
		}
	if (!r->headed)
		cli_error("%s has no counts: stat record writes them", r->o->input);
	return r->headed ? 0 : 1;
}

static int take_file(void *target, const char *word, struct err *err)
{
	(void)target;
	return err_set(err, ERR_INPUT, "'%s' is one word too many (softpmu stat report --help)", word);
}

int stat_report(struct stat_options *o, int argc, char **argv)
{
	o->input = "perf.data";
	const int go = cli_options_and_words(&stat_report_command, o, argc, argv, take_file);
	if (go <= 0)
		return go ? 2 : 0;
	if (o->output.path && o->output.fd >= 0) {
		cli_error("-o and --log-fd exclude each other");
		return 2;
	}
	struct reading r = { .o = o, .style = { .form = o->form, .separator = o->separator, .group_digits = o->big } };
	int status = 1;
	if (!cli_open_data(&r.file, o->input) && cli_output_open(&o->output)) {
		r.style.out = o->output.out;
		status = read_counts(&r);
		if (!cli_output_close(&o->output) && !status)
			status = 1;
	}
	perfdata_close(r.file);
	free(r.table.line);
	free(r.now);
	free(r.last);
	free(r.unit);
	free(r.what);
	return status;
}
