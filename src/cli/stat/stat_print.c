/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints as perf stat does (stat_print.h).  Leaves out: metrics of perf's JSON tables, colours, aggregation by
 * core or socket. */
#include "cli/stat/stat_print.h"
#include "util/json.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void stats_add(struct stats *s, double value)
{
	double delta = value - s->mean;
	s->n++;
	s->mean += delta / s->n;
	s->m2 += delta * (value - s->mean);
}

/* Standard deviation of the mean; 0 with fewer than two values. */
static double stats_sd(const struct stats *s)
{
	return s->n < 2 ? 0 : sqrt(s->m2 / (s->n - 1) / s->n);
}

static double percent_sd(const struct stats *s)
{
	return s->mean != 0 ? 100 * stats_sd(s) / s->mean : 0;
}

enum stat_role stat_role(const char *spelled, const char *aliases)
{
	static const struct { const char *name; enum stat_role role; } known[] = {
		{ "task-clock", ROLE_TASK_CLOCK },
		{ "cpu-clock", ROLE_TASK_CLOCK },
		{ "duration_time", ROLE_DURATION },
		{ "cycles", ROLE_CYCLES },
		{ "cpu-cycles", ROLE_CYCLES },
		{ "instructions", ROLE_INSTRUCTIONS },
		{ "branches", ROLE_BRANCHES },
		{ "branch-instructions", ROLE_BRANCHES },
		{ "branch-misses", ROLE_BRANCH_MISSES },
		{ "cache-references", ROLE_CACHE_REFS },
		{ "cache-misses", ROLE_CACHE_MISSES },
		{ "L1-dcache-loads", ROLE_L1D_LOADS },
		{ "L1-dcache-load-misses", ROLE_L1D_MISSES },
		{ "L1-icache-loads", ROLE_L1I_LOADS },
		{ "L1-icache-load-misses", ROLE_L1I_MISSES },
		{ "LLC-loads", ROLE_LLC_LOADS },
		{ "LLC-load-misses", ROLE_LLC_MISSES },
		{ "dTLB-loads", ROLE_DTLB_LOADS },
		{ "dTLB-load-misses", ROLE_DTLB_MISSES },
		{ "iTLB-loads", ROLE_ITLB_LOADS },
		{ "iTLB-load-misses", ROLE_ITLB_MISSES },
		{ "stalled-cycles-frontend", ROLE_STALLED_FRONT },
		{ "stalled-cycles-backend", ROLE_STALLED_BACK },
	};
	enum { KNOWN = sizeof known / sizeof *known };
	size_t n = strcspn(spelled, ":");
	for (int i = 0; i < KNOWN; i++)
		if (strlen(known[i].name) == n && strncasecmp(known[i].name, spelled, n) == 0)
			return known[i].role;
	while (aliases && *aliases) {
		n = strcspn(aliases, ",");
		for (int i = 0; i < KNOWN; i++)
			if (strlen(known[i].name) == n && strncasecmp(known[i].name, aliases, n) == 0)
				return known[i].role;
		aliases += n + (aliases[n] == ',');
	}
	return ROLE_OTHER;
}

/* ---- the remark after a count ---- */

struct remark { const char *format, *unit; double value; char buffer[16]; };

/* Of the same rings as line l; the clock is everybody's. */
static double of_role(const struct stat_table *t, const struct stat_line *l, enum stat_role role)
{
	for (size_t i = 0; i < t->lines; i++)
		if (t->line[i].role == role && t->line[i].supported &&
			(role == ROLE_TASK_CLOCK || t->line[i].rings == l->rings))
			return t->line[i].value.mean;
	return 0;
}

static bool share(struct remark *r, const struct stat_table *t, const struct stat_line *l, enum stat_role base,
	const char *unit)
{
	double value = l->value.mean, whole = of_role(t, l, base);
	if (whole == 0)
		return false;
	r->format = "%7.2f%%";
	r->unit = unit;
	r->value = 100 * value / whole;
	return true;
}

static const struct { enum stat_role base; const char *unit; } part[ROLES] = {
	[ROLE_BRANCH_MISSES] = { ROLE_BRANCHES, "of all branches" },
	[ROLE_CACHE_MISSES] = { ROLE_CACHE_REFS, "of all cache refs" },
	[ROLE_L1D_MISSES] = { ROLE_L1D_LOADS, "of all L1-dcache accesses" },
	[ROLE_L1I_MISSES] = { ROLE_L1I_LOADS, "of all L1-icache accesses" },
	[ROLE_LLC_MISSES] = { ROLE_LLC_LOADS, "of all LL-cache accesses" },
	[ROLE_DTLB_MISSES] = { ROLE_DTLB_LOADS, "of all dTLB cache accesses" },
	[ROLE_ITLB_MISSES] = { ROLE_ITLB_LOADS, "of all iTLB cache accesses" },
	[ROLE_STALLED_FRONT] = { ROLE_CYCLES, "frontend cycles idle" },
	[ROLE_STALLED_BACK] = { ROLE_CYCLES, "backend cycles idle" },
};

static bool remark(struct remark *r, const struct stat_table *t, const struct stat_line *l)
{
	double v = l->value.mean, clock = of_role(t, l, ROLE_TASK_CLOCK), cycles = of_role(t, l, ROLE_CYCLES);
	if (l->metric) {
		*r = (struct remark){ l->metric_format, l->metric, l->metric_value, "" };
		return !isnan(l->metric_value);
	}
	switch (l->role) {
	case ROLE_TASK_CLOCK:
		if (t->elapsed_ns.mean == 0)
			return false;
		*r = (struct remark){ "%8.3f", "CPUs utilized", v / t->elapsed_ns.mean, "" };
		return true;
	case ROLE_INSTRUCTIONS:
		if (cycles == 0)
			return false;
		*r = (struct remark){ "%7.2f ", "insn per cycle", v / cycles, "" };
		return true;
	case ROLE_CYCLES:
		if (clock == 0)
			return false;
		*r = (struct remark){ "%8.3f", "GHz", v / clock, "" };
		return true;
	case ROLE_DURATION:
		return false;	/* a rate of time per time says nothing */
	default:
		break;
	}
	if (part[l->role].unit)
		return share(r, t, l, part[l->role].base, part[l->role].unit);
	if (clock == 0)
		return false;
	double rate = (l->unit && l->unit[0] ? v * l->scale : v) / clock * 1e9;
	char unit = rate >= 1e9 ? 'G' : rate >= 1e6 ? 'M' : rate >= 1e3 ? 'K' : 0;
	double scale = unit == 'G' ? 1e9 : unit == 'M' ? 1e6 : unit == 'K' ? 1e3 : 1;
	*r = (struct remark){ "%8.3f", r->buffer, rate / scale, "" };
	if (unit)
		snprintf(r->buffer, sizeof r->buffer, "%c/sec", unit);
	else
		snprintf(r->buffer, sizeof r->buffer, "/sec");
	return true;
}

/* ---- lines ---- */

static void grouped(char *out, size_t bytes, const char *digits)
{
	size_t whole = strspn(digits, "0123456789"), used = 0;
	for (size_t i = 0; digits[i] && used + 2 < bytes; i++) {
		if (i && i < whole && (whole - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = 0;
}

static const char *unit_of(const struct stat_line *l)
{
	return l->unit ? l->unit : l->role == ROLE_TASK_CLOCK ? "msec" : l->role == ROLE_DURATION ? "ns" : "";
}

/* For what percentage of the time that it was enabled it was counting. */
static double percent_running(const struct stat_line *l)
{
	return l->enabled_ns.mean > 0 ? 100 * l->running_ns.mean / l->enabled_ns.mean : 100;
}

/* It never had its turn, or no thread ran; time passes all the same. */
static bool not_counted(const struct stat_line *l)
{
	return l->supported && l->running_ns.mean == 0 && l->role != ROLE_DURATION;
}

static bool counted(const struct stat_line *l) { return l->supported && !not_counted(l); }

static const char *no_number(const struct stat_line *l) { return l->supported ? "<not counted>" : "<not supported>"; }

static double scaled(const struct stat_line *l)
{
	return l->role == ROLE_TASK_CLOCK ? l->value.mean * 1e-6
		: l->unit && l->unit[0]   ? l->value.mean * l->scale
					  : l->value.mean;
}

static bool with_point(const struct stat_line *l)
{
	return l->role == ROLE_TASK_CLOCK || (l->unit && l->unit[0]);
}

/* The remark's number as -x prints it: only digits, point and sign. */
static void bare(char *out, size_t bytes, const struct remark *r)
{
	char text[48];
	size_t n = 0;
	snprintf(text, sizeof text, r->format, r->value);
	for (char *c = text; *c; c++)
		if ((isdigit((unsigned char)*c) || *c == '.' || *c == '-') && n + 1 < bytes)
			out[n++] = *c;
	out[n] = 0;
}

static double percent_half(const struct stat_line *l)
{
	return l->half > 0 && l->value.mean > 0 ? 100 * l->half / l->value.mean : 0;
}

static void print_json(const struct stat_style *s, const struct stat_table *t, const struct stat_line *l)
{
	struct remark r = { 0 };
	bool has = counted(l) && remark(&r, t, l);
	fputc('{', s->out);
	if (s->interval_end >= 0)
		fprintf(s->out, "\"interval\" : %.9f, ", s->interval_end);
	if (s->thread) {
		fputs("\"thread\" : ", s->out);
		json_string(s->out, s->thread);
		fputs(", ", s->out);
	}
	if (s->region) {
		fputs("\"region\" : ", s->out);
		json_string(s->out, s->region);
		fprintf(s->out, ", \"entries\" : %llu, ", (unsigned long long)s->entries);
	}
	if (counted(l))
		fprintf(s->out, "\"counter-value\" : \"%f\", ", scaled(l));
	else
		fprintf(s->out, "\"counter-value\" : \"%s\", ", no_number(l));
	fprintf(s->out, "\"unit\" : \"%s\", \"event\" : ", unit_of(l));
	json_string(s->out, l->name);
	if (t->runs > 1)
		fprintf(s->out, ", \"variance\" : %.2f", percent_sd(&l->value));
	if (l->estimated && !isnan(l->half))
		fprintf(s->out, ", \"confidence-95\" : %.2f", percent_half(l));
	fprintf(s->out,
		", \"event-runtime\" : %.0f, \"pcnt-running\" : %.2f, \"metric-value\" : %f, \"metric-unit\" : "
		"\"%s\"}\n",
		l->running_ns.mean, percent_running(l), has ? r.value : 0.0, has ? r.unit : "");
}

static void print_csv(const struct stat_style *s, const struct stat_table *t, const struct stat_line *l)
{
	struct remark r = { 0 };
	const char *x = s->separator;
	char number[48] = "";
	bool has = counted(l) && remark(&r, t, l);
	if (s->interval_end >= 0)
		fprintf(s->out, "%16.9f%s", s->interval_end, x);
	if (s->summary)
		fprintf(s->out, "%16s%s", "summary", x);
	if (s->thread)
		fprintf(s->out, "%s%s", s->thread, x);
	if (s->region)
		fprintf(s->out, "%s%s%llu%s", s->region, x, (unsigned long long)s->entries, x);
	if (counted(l))
		fprintf(s->out, with_point(l) ? "%.2f" : "%.0f", scaled(l));
	else
		fputs(no_number(l), s->out);
	fprintf(s->out, "%s%s%s%s", x, unit_of(l), x, l->name);
	if (t->runs > 1)
		fprintf(s->out, "%s%.2f%%", x, percent_sd(&l->value));
	else if (t->estimates && (!l->estimated || isnan(l->half)))
		fputs(x, s->out);
	else if (t->estimates)
		fprintf(s->out, "%s%.2f%%", x, percent_half(l));
	if (has)
		bare(number, sizeof number, &r);
	fprintf(s->out, "%s%.0f%s%.2f%s%s%s%s\n", x, l->running_ns.mean, x, percent_running(l), x, number, x,
		has ? r.unit : "");
}

static void print_table(const struct stat_style *s, const struct stat_table *t, const struct stat_line *l)
{
	char line[512], digits[48], shown[64];
	size_t n = 0;
	struct remark r = { 0 };
#define PUT(...) \
	(n += (size_t)snprintf(line + n, sizeof line - n, __VA_ARGS__), n = n < sizeof line ? n : sizeof line - 1)
	if (s->interval_end >= 0)
		PUT("%16.9f ", s->interval_end);
	if (s->thread) {
		/* perf's columns: the name is right-aligned to the dash, the number left-aligned after it */
		const char *dash = strrchr(s->thread, '-');
		size_t name = dash ? (size_t)(dash - s->thread) : strlen(s->thread);
		PUT("%16.*s-%-8s ", (int)name, s->thread, dash ? dash + 1 : "");
	}
	if (s->region)
		PUT("%16.64s %8llu ", s->region, (unsigned long long)s->entries);
	if (counted(l)) {
		snprintf(digits, sizeof digits, with_point(l) ? "%.2f" : "%.0f", scaled(l));
		grouped(shown, sizeof shown, digits);
		PUT("%18s ", s->group_digits ? shown : digits);
	} else {
		PUT("%18s ", no_number(l));
	}
	PUT("%-4s %-32s", unit_of(l), l->name);
	const bool turns = l->supported && percent_running(l) < 99.995;	/* as in perf: enabled and running differ */
	if (counted(l) && remark(&r, t, l)) {
		char number[48];
		snprintf(number, sizeof number, r.format, r.value);
		PUT(" # %s %-*s", number, 31 - (int)strlen(number) > 0 ? 31 - (int)strlen(number) : 0, r.unit);
	} else if (t->runs > 1 || turns || (t->estimates && l->estimated)) {
		PUT("%-35s", "");
	}
	if (t->runs > 1 && l->supported && percent_sd(&l->value) != 0)
		PUT("  ( +-%6.2f%% )", percent_sd(&l->value));
	if (l->estimated && l->supported && isnan(l->half))
		PUT("  ( +- unknown )");
	else if (l->estimated && l->supported)
		PUT("  ( +-%6.2f%% )", percent_half(l));
	if (turns)
		PUT("  (%.2f%%)", percent_running(l));
#undef PUT
	while (n && line[n - 1] == ' ')
		n--;
	fprintf(s->out, "%.*s\n", (int)n, line);
}

void stat_print_lines(const struct stat_style *s, const struct stat_table *t)
{
	for (size_t i = 0; i < t->lines; i++)
		switch (s->form) {
		case STAT_TABLE: print_table(s, t, t->line + i); break;
		case STAT_CSV: print_csv(s, t, t->line + i); break;
		case STAT_JSON: print_json(s, t, t->line + i); break;
		}
}

/* The name of a line's remark; "": it has none, or it is a rate.  Source: Linux, tools/perf/util/stat-display.c,
 * valid_only_metric and fixunit. */
static const char *remark_name(const struct stat_line *l, char *text, size_t bytes)
{
	if (l->metric)
		return l->metric;
	if (l->role == ROLE_INSTRUCTIONS)
		return "insn per cycle";
	if (l->role == ROLE_CYCLES)
		return "GHz";
	if (l->role == ROLE_STALLED_FRONT)
		return "frontend cycles idle";
	if (l->role == ROLE_STALLED_BACK)
		return "backend cycles idle";
	if (!part[l->role].unit)
		return "";
	snprintf(text, bytes, "%s %s", l->name, part[l->role].unit);
	return text;
}

void stat_print_metrics(const struct stat_style *s, const struct stat_table *t, bool names)
{
	enum { COLUMN = 20 };	/* perf's metric_only_len */
	const bool csv = s->form == STAT_CSV, json = s->form == STAT_JSON;
	bool first = true;
	if (json && names)
		return;
	if (names && s->interval_end >= 0)
		fprintf(s->out, csv ? "time%s" : "#           time %.0s", s->separator);
	else if (s->interval_end >= 0)
		fprintf(s->out, json ? "{\"interval\" : %.9f" : "%16.9f%s", s->interval_end, csv ? s->separator : " ");
	else if (json)
		fputc('{', s->out);
	first = !json || s->interval_end < 0;
	const char *who = s->thread ? s->thread : s->region;
	if (json && who) {
		fprintf(s->out, "%s\"%s\" : ", first ? "" : ", ", s->thread ? "thread" : "region");
		json_string(s->out, who);
		first = false;
	} else if (who) {
		fprintf(s->out, csv ? "%s%s" : "%20.20s%.0s ", names ? "" : who, s->separator);
	}
	for (size_t i = 0; i < t->lines; i++) {
		const struct stat_line *l = t->line + i;
		struct remark r = { 0 };
		char text[256], number[48] = "";
		const char *name = remark_name(l, text, sizeof text);
		if (!*name)
			continue;
		const bool has = !names && counted(l) && remark(&r, t, l);
		if (has && (csv || json))
			bare(number, sizeof number, &r);
		else if (has)
			snprintf(number, sizeof number, r.format, r.value);
		if (json) {
			if (!has)
				continue;
			fputs(first ? "" : ", ", s->out);
			json_string(s->out, name);
			fprintf(s->out, " : \"%s\"", number);
			first = false;
		} else if (csv) {
			fprintf(s->out, "%s%s", names ? name : number, s->separator);
		} else {
			fprintf(s->out, "%*s ", (int)(strlen(name) > COLUMN ? strlen(name) : COLUMN),
				names ? name : number);
		}
	}
	fputs(json ? "}\n" : "\n", s->out);
}

void stat_print_header(const struct stat_style *s, const struct stat_table *t, const char *what)
{
	if (s->form != STAT_TABLE)
		return;
	if (s->interval_end >= 0) {
		fprintf(s->out, "#           time             counts unit events\n");
		return;
	}
	fprintf(s->out, "\n Performance counter stats for %s", what);
	if (t->runs > 1)
		fprintf(s->out, " (%u runs)", t->runs);
	fputs(":\n\n", s->out);
}

/* The time of each run, with a bar that has a sign for each 5 % of difference from the mean, as in perf.  Source:
 * Linux, tools/perf/util/stat-display.c, print_table. */
static void print_runs(const struct stat_style *s, const struct stat_table *t, int digits)
{
	char mean[64];
	const double average = t->elapsed_ns.mean * 1e-9;
	snprintf(mean, sizeof mean, " %17.*f", digits, average);
	const int indent = (int)strspn(mean, " ");
	fprintf(s->out, "\n%*s# Table of individual measurements:\n", indent, "");
	for (unsigned i = 0; i < t->runs; i++) {
		const double run = t->run_ns[i] * 1e-9;
		fprintf(s->out, " %17.*f (%+.*f) ", digits, run, digits, run - average);
		for (int n = run > 0 ? 1 + abs((int)(100 * (run - average) / run) / 5) : 1; n > 0; n--)
			fputc('#', s->out);
		fputc('\n', s->out);
	}
	fprintf(s->out, "\n%*s# Final result:", indent, "");
}

void stat_print_footer(const struct stat_style *s, const struct stat_table *t)
{
	if (s->form != STAT_TABLE)
		return;
	double elapsed = t->elapsed_ns.mean * 1e-9;
	if (t->runs > 1) {
		/* two digits more than the deviation makes certain, at most ns */
		double sd = stats_sd(&t->elapsed_ns) * 1e-9;
		int digits = sd > 1 ? 2 : sd > 0 ? (int)ceil(-log10(sd)) + 2 : 9;
		digits = digits > 9 ? 9 : digits;
		if (t->run_ns)
			print_runs(s, t, digits);
		fprintf(s->out, "\n %17.*f +- %.*f seconds time elapsed (modelled)", digits, elapsed, digits, sd);
		if (percent_sd(&t->elapsed_ns) != 0)
			fprintf(s->out, "  ( +-%6.2f%% )", percent_sd(&t->elapsed_ns));
		fputs("\n\n", s->out);
		return;
	}
	fprintf(s->out, "%s %17.9f seconds time elapsed%s\n\n", t->lines ? "\n" : "", elapsed,
		t->measured ? "" : " (modelled)");
	if (t->user_ns.n > 0)
		fprintf(s->out, " %17.9f seconds user (modelled; ring 0 is not)\n\n", t->user_ns.mean * 1e-9);
}
