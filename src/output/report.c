/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints a profile, with the columns and numbers of `perf report --stdio`, or as JSON.
 *
 * JSON: {"file", "lost", "events": [{"event", "samples", "period", "entries": [{"overhead", "period", "samples", then
 * the sort keys; with call chains "children" (period with callees) and "calls": [{"symbol", "period", "calls"}]}]}]}.
 */
#include "output/profile.h"
#include "output/report_tree.h"
#include "util/elide.h"
#include "util/json.h"
#include <stdlib.h>
#include <string.h>

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* ---- columns ---- */

static const char *const title[PROFILE_KEYS] = {
	"Command",
	"Shared Object",
	"Symbol",
	"Source:Line",
	"    Pid:Command",
	"    Tid:Command",
	"CPU",
	"Pushout Cycles",
	"Median Pushout",
	"Share",
	"Source Shared Object",
	"Source Symbol",
	"Target Shared Object",
	"Target Symbol",
	"Branch Mispredicted",
	"Basic Block Cycles",
};
static const char *const json_name[PROFILE_KEYS] = { "comm", "dso", "symbol", "srcline", "pid", "tid", "cpu", "pushout",
	"pushout_median", "pushout_share", "dso_from", "symbol_from", "dso_to", "symbol_to", "mispredict", "cycles" };

enum { UNRESOLVED_WIDTH = 16, TEXT = ELIDE_BYTES };

static void symbol_cell(const struct symbol *symbol, char level, uint64_t address, bool mangled, char text[TEXT])
{
	if (symbol)
		snprintf(text, TEXT, "[%c] %s%s", level, report_name(symbol, mangled),
			symbol->inlined ? " (inlined)" : "");
	else
		snprintf(text, TEXT, "[%c] %#.16llx", level, (unsigned long long)address);
}

static const char *prediction(const struct profile_entry *e)
{
	return e->prediction == PROFILE_PREDICTED ? "N" : e->prediction == PROFILE_MISPREDICTED ? "Y" : "N/A";
}

static void cell(const struct profile_event *event, const struct profile_entry *e, enum profile_key key,
	bool mangled, char text[TEXT])
{
	switch (key) {
	case PROFILE_COMM: snprintf(text, TEXT, "%s", e->comm); break;
	case PROFILE_DSO: snprintf(text, TEXT, "%s", e->dso); break;
	case PROFILE_SYMBOL: symbol_cell(e->symbol, e->level, e->address, mangled, text); break;
	case PROFILE_SRCLINE: snprintf(text, TEXT, "%s", e->srcline); break;
	case PROFILE_PID: snprintf(text, TEXT, "%7d:%s", (int)e->pid, e->comm); break;
	case PROFILE_TID: snprintf(text, TEXT, "%7d:%s", (int)e->tid, e->comm); break;
	case PROFILE_CPU: snprintf(text, TEXT, "%03u", e->cpu); break;
	case PROFILE_PUSHOUT:
		e->pushouts ? snprintf(text, TEXT, "%14llu", (unsigned long long)e->pushed)
			    : snprintf(text, TEXT, "%14s", "-");
		break;
	case PROFILE_PUSHOUT_MEDIAN:
		e->pushouts ? snprintf(text, TEXT, "%14u", spread_quantile(e->pushouts, 0.5))
			    : snprintf(text, TEXT, "%14s", "-");
		break;
	case PROFILE_PUSHOUT_SHARE:
		e->pushouts ? snprintf(text, TEXT, "%6.2f%%", percent(e->pushed, event->pushed))
			    : snprintf(text, TEXT, "%7s", "-");
		break;
	case PROFILE_DSO_FROM: snprintf(text, TEXT, "%s", e->from.dso); break;
	case PROFILE_DSO_TO: snprintf(text, TEXT, "%s", e->to.dso); break;
	case PROFILE_SYMBOL_FROM: symbol_cell(e->from.symbol, e->from.level, e->from.address, mangled, text); break;
	case PROFILE_SYMBOL_TO: symbol_cell(e->to.symbol, e->to.level, e->to.address, mangled, text); break;
	case PROFILE_MISPREDICT: snprintf(text, TEXT, "%s", prediction(e)); break;
	case PROFILE_CYCLES: e->cycles ? snprintf(text, TEXT, "%u", e->cycles) : snprintf(text, TEXT, "-"); break;
	case PROFILE_KEYS: *text = 0; break;
	}
	report_plain(text);
}

/* The width that -w gives column `number`, of which the percentages are number 0; 0: none. */
static size_t chosen_width(const char *widths, size_t number)
{
	while (widths && number--)
		widths = strchr(widths, ',') ? strchr(widths, ',') + 1 : NULL;
	const unsigned long width = widths ? strtoul(widths, NULL, 10) : 0;
	return width < TEXT ? width : TEXT - 1;
}

/* Where the columns are, and what a terminal that is too narrow shows of them. */
struct columns {
	size_t width[PROFILE_KEYS];
	bool hidden[PROFILE_KEYS];	/* told in the headings */
	char **cut[PROFILE_KEYS];	/* by entry: what is shown of a text; NULL: all of it, or of all of them */
	unsigned bar;			/* columns of a bar behind the percentages; 0: none */
};

static void measure(const struct profile_event *event, const struct profile *p, const struct report_options *o,
	size_t width[PROFILE_KEYS])
{
	char text[TEXT];
	for (size_t k = 0; k < p->options.keys; k++) {
		width[k] = chosen_width(o->widths, k + 1);
		if (width[k])
			continue;
		width[k] = strlen(title[p->options.key[k]]);
		for (size_t i = 0; i < event->entries; i++) {
			cell(event, &event->entry[i], p->options.key[k], o->mangled, text);
			size_t n = strlen(text);
			if (p->options.key[k] == PROFILE_DSO && !event->entry[i].symbol && n < UNRESOLVED_WIDTH)
				n = UNRESOLVED_WIDTH;
			if (n > width[k])
				width[k] = n;
		}
	}
}

/* ---- what fits a terminal ---- */

/* Columns of a row without its keys. */
static size_t numbers_width(const struct profile_event *event, const struct report_options *o)
{
	enum { PERCENT = 10, NUMBER = 14 };
	return (event->children && !o->only_self ? 2 : 1) * PERCENT + (size_t)(o->counts + o->totals) * NUMBER;
}

static bool can_be_cut(enum profile_key k)
{
	return k <= PROFILE_SRCLINE || (k >= PROFILE_DSO_FROM && k <= PROFILE_SYMBOL_TO);
}

/* "[.] " stays in front of a symbol. */
static size_t kept_front(enum profile_key k)
{
	return k == PROFILE_SYMBOL || k == PROFILE_SYMBOL_FROM || k == PROFILE_SYMBOL_TO ? 4 : 0;
}

/* A symbol may have twice the width of other columns before it is cut. */
static size_t weight(const struct columns *c, const struct profile *p, size_t k)
{
	return c->width[k] / (kept_front(p->options.key[k]) ? 2 : 1);
}

static void cut_column(struct columns *c, size_t k, const struct profile_event *event, const struct profile *p,
	const struct report_options *o)
{
	const enum profile_key key = p->options.key[k];
	const size_t front = kept_front(key);
	char text[TEXT], **whole = calloc(event->entries + 1, sizeof *whole);
	c->cut[k] = calloc(event->entries + 1, sizeof *c->cut[k]);
	for (size_t i = 0; whole && i < event->entries; i++) {
		cell(event, &event->entry[i], key, o->mangled, text);
		whole[i] = strlen(text) > front ? strdup(text + front) : NULL;
	}
	if (whole && c->cut[k] && !elide_names(c->cut[k], (const char *const *)whole, event->entries,
			c->width[k] - front, terminal_mark(o->terminal))) {
		free(c->cut[k]);
		c->cut[k] = NULL;
	}
	for (size_t i = 0; whole && i < event->entries; i++)
		free(whole[i]);
	free(whole);
}

/* Makes the columns fit the terminal: one command for all entries goes into the headings, then the widest columns are
 * cut.  What is left of the width is for a bar. */
static void fit(struct columns *c, const struct profile_event *event, const struct profile *p,
	const struct report_options *o)
{
	enum { SMALL = 100, LEAST = 10, LEAST_SYMBOL = 24 };
	const size_t all = terminal_width(o->terminal, 0), keys = p->options.keys;
	if (!all || o->widths || o->separator || o->hierarchy)
		return;
	for (size_t k = 0; k < keys && keys > 1 && !o->quiet && all < SMALL && event->entries; k++) {
		c->hidden[k] = p->options.key[k] == PROFILE_COMM;
		for (size_t i = 1; i < event->entries && c->hidden[k]; i++)
			c->hidden[k] = !strcmp(event->entry[i].comm, event->entry[0].comm);
	}
	size_t natural[PROFILE_KEYS];
	memcpy(natural, c->width, sizeof natural);
	for (c->bar = all < 80 ? 0 : all < 200 ? (unsigned)all / 10 : 20; ; c->bar = 0) {
		size_t used = numbers_width(event, o) + (c->bar ? c->bar + 2 : 0), widest = 0;
		memcpy(c->width, natural, sizeof natural);
		for (size_t k = 0; k < keys; k++)
			used += c->hidden[k] ? 0 : 2 + c->width[k];
		for (; used > all && widest < keys; used--) {
			widest = keys;
			for (size_t k = 0; k < keys; k++)
				if (!c->hidden[k] && can_be_cut(p->options.key[k]) && c->width[k] > LEAST &&
					(widest == keys || weight(c, p, k) >= weight(c, p, widest)))
					widest = k;
			c->width[widest < keys ? widest : 0] -= widest < keys;
		}
		size_t least = LEAST_SYMBOL;
		for (size_t k = 0; k < keys; k++)
			if (kept_front(p->options.key[k]) && c->width[k] < natural[k] && c->width[k] < least)
				least = c->width[k];
		if (!c->bar || (used <= all && least == LEAST_SYMBOL))
			break;
	}
	for (size_t k = 0; k < keys; k++)
		if (c->width[k] < natural[k])
			cut_column(c, k, event, p, o);
}

static void release(struct columns *c, size_t entries)
{
	for (size_t k = 0; k < PROFILE_KEYS; k++) {
		for (size_t i = 0; c->cut[k] && i < entries; i++)
			free(c->cut[k][i]);
		free(c->cut[k]);
	}
}

static void percentage(FILE *to, const struct report_options *o, double value)
{
	const enum terminal_colour colour = report_colour(value);
	terminal_on(to, o->terminal, colour);
	fprintf(to, "  %7.2f%%", value);
	if (colour)
		terminal_off(to, o->terminal);
}

/* A bar of what the row is sorted by; without colours of its own where that is little. */
static void row_bar(FILE *to, const struct profile_event *event, const struct profile_entry *e,
	const struct report_options *o, unsigned width)
{
	const double share = percent(event->children ? e->total : e->self, event->period);
	fputs("  ", to);
	terminal_bar(to, o->terminal, share / 100 * width, width, report_colour(share), true);
}

/* ---- the report ---- */

static void dots(FILE *to, size_t n)
{
	while (n--)
		fputc('.', to);
}

static void event_lines(FILE *to, const struct profile_event *e)
{
	uint64_t n = e->samples;
	char unit = ' ';
	for (const char *u = "KMG"; *u && n > 1000; u++) {
		n /= 1000;
		unit = *u;
	}
	fprintf(to, "# Samples: %llu%c of event '%s'\n", (unsigned long long)n, unit, e->info->name);
	fprintf(to, "# Event count (approx.): %llu\n#\n", (unsigned long long)e->period);
}

static void headers(FILE *to, const struct profile *p, const struct profile_event *e, const struct report_options *o,
	const struct columns *c)
{
	const bool two = e->children && !o->only_self;
	const char *x = o->separator, *sign = x ? x : "";
	for (size_t k = 0; k < p->options.keys; k++)
		if (c->hidden[k])
			fprintf(to, "# %s: %s\n", title[p->options.key[k]], e->entry[0].comm);
	event_lines(to, e);
	if (x)
		fprintf(to, two ? "# Children%sSelf" : "# Overhead%.0s", x);
	else
		fputs(two ? "# Children      Self" : "# Overhead", to);
	if (c->bar)
		fprintf(to, "  %*s", (int)c->bar, "");
	if (o->counts)
		fprintf(to, x ? "%sSamples" : "%.0s       Samples", sign);
	if (o->totals)
		fprintf(to, x ? "%sPeriod" : "%.0s        Period", sign);
	for (size_t k = 0; k < p->options.keys; k++)
		x ? fprintf(to, "%s%s", x, title[p->options.key[k]] + strspn(title[p->options.key[k]], " "))
		  : c->hidden[k]
		  ? 0
		  : fprintf(to, "  %-*.*s", (int)c->width[k], (int)c->width[k], title[p->options.key[k]]);
	fputc('\n', to);
	if (x)
		return;
	fputs(two ? "# ........  ........" : "# ........", to);
	if (c->bar) {
		fputs("  ", to);
		dots(to, c->bar);
	}
	for (int i = 0; i < o->counts + o->totals; i++)
		fputs("  ............", to);
	for (size_t k = 0; k < p->options.keys; k++) {
		fputs(c->hidden[k] ? "" : "  ", to);
		dots(to, c->hidden[k] ? 0 : c->width[k]);
	}
	fputs("\n#\n", to);
}

/* The row of an entry as words between separators. */
static void separated(FILE *to, const struct profile *p, const struct profile_event *event,
	const struct profile_entry *e, const struct report_options *o)
{
	char text[TEXT];
	if (event->children && !o->only_self)
		fprintf(to, "%.2f%%%s", percent(e->total, event->period), o->separator);
	fprintf(to, "%.2f%%", percent(e->self, event->period));
	if (o->counts)
		fprintf(to, "%s%llu", o->separator, (unsigned long long)e->samples);
	if (o->totals)
		fprintf(to, "%s%llu", o->separator, (unsigned long long)e->self);
	for (size_t k = 0; k < p->options.keys; k++) {
		cell(event, e, p->options.key[k], o->mangled, text);
		/* as in perf: the separator itself becomes a point */
		for (char *c = text; *o->separator && !o->separator[1] && *c; c++)
			if (*c == *o->separator)
				*c = '.';
		fprintf(to, "%s%s", o->separator, text + strspn(text, " "));
	}
	fputc('\n', to);
}

static void row(FILE *to, const struct profile *p, const struct profile_event *event, const struct profile_entry *e,
	const struct report_options *o, const struct columns *c)
{
	char text[TEXT];
	if (event->children && !o->only_self)
		percentage(to, o, percent(e->total, event->period));
	percentage(to, o, percent(e->self, event->period));
	if (c->bar)
		row_bar(to, event, e, o, c->bar);
	if (o->counts)
		fprintf(to, "  %12llu", (unsigned long long)e->samples);
	if (o->totals)
		fprintf(to, "  %12llu", (unsigned long long)e->self);
	for (size_t k = 0; k < p->options.keys; k++) {
		const enum profile_key key = p->options.key[k];
		const char *cut = c->cut[k] ? c->cut[k][e - event->entry] : NULL;
		if (c->hidden[k])
			continue;
		cell(event, e, key, o->mangled, text);
		if (cut)
			snprintf(text + kept_front(key), TEXT - kept_front(key), "%s", cut);
		/* a character can have several bytes */
		const int width = (int)(c->width[k] + (cut ? strlen(text) - elide_width(text) : 0));
		/* has a variable length in perf: not padded at the end of a line */
		if (chosen_width(o->widths, k + 1))
			fprintf(to, "  %-*.*s", width, width, text);
		else if (k + 1 < p->options.keys || (key != PROFILE_SYMBOL && key != PROFILE_SRCLINE))
			fprintf(to, "  %-*s", width, text);
		else
			fprintf(to, "  %s", text);
	}
	fputc('\n', to);
}

/* ---- hierarchy ---- */

struct level { const struct profile_event *event; const struct profile *p; const struct report_options *o; };

static int same_until(const struct level *l, const struct profile_entry *a, const struct profile_entry *b, size_t keys)
{
	char x[TEXT], y[TEXT];
	for (size_t k = 0; k < keys; k++) {
		cell(l->event, a, l->p->options.key[k], l->o->mangled, x);
		cell(l->event, b, l->p->options.key[k], l->o->mangled, y);
		const int c = strcmp(x, y);
		if (c)
			return c;
		/* two static functions may have one name; as perf, they stay apart */
		if (l->p->options.key[k] == PROFILE_SYMBOL && a->symbol && b->symbol &&
		    a->symbol->start != b->symbol->start)
			return a->symbol->start < b->symbol->start ? -1 : 1;
	}
	return 0;
}

static int by_keys(const void *a, const void *b, void *context)
{
	const struct profile_entry *const *x = a, *const *y = b;
	const struct level *l = context;
	return same_until(l, *x, *y, l->p->options.keys);
}

struct group { size_t first, count; uint64_t period; };
static int largest_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	if (x->period != y->period)
		return x->period > y->period ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;	/* by text, as they were sorted */
}

/* Prints the entries, which agree in the first `depth` keys, by the key behind them. */
static void print_level(FILE *to, const struct level *l, const struct profile_entry *const *e, size_t entries,
	size_t depth, const size_t width[PROFILE_KEYS])
{
	enum { INDENT = 3 };	/* perf's HIERARCHY_INDENT */
	const size_t keys = l->p->options.keys;
	struct group *group = calloc(entries + 1, sizeof *group);
	size_t groups = 0;
	char text[TEXT];
	for (size_t i = 0; group && i < entries; i++) {
		if (!i || same_until(l, e[i - 1], e[i], depth + 1))
			group[groups++].first = i;
		group[groups - 1].count++;
		group[groups - 1].period += e[i]->self;
	}
	if (group)
		qsort(group, groups, sizeof *group, largest_first);
	for (size_t g = 0; g < groups; g++) {
		const double share = percent(group[g].period, l->event->period);
		if (share < l->o->percent_limit || !group[g].period)
			continue;
		cell(l->event, e[group[g].first], l->p->options.key[depth], l->o->mangled, text);
		fprintf(to, "%*s  %7.2f%%%*s  %-*s\n", (int)(INDENT * depth), "", share, (int)(INDENT * (keys - 1)), "",
			depth + 1 < keys && depth ? (int)width[depth] : 0, text);
		if (depth + 1 < keys)
			print_level(to, l, e + group[g].first, group[g].count, depth + 1, width);
	}
	free(group);
}

static void hierarchy(FILE *to, const struct profile *p, const struct profile_event *event,
	const struct report_options *o, const size_t width[PROFILE_KEYS])
{
	const struct level l = { event, p, o };
	const struct profile_entry **e = calloc(event->entries + 1, sizeof *e);
	size_t wide = 0, keys = p->options.keys;
	for (size_t i = 0; e && i < event->entries; i++)
		e[i] = &event->entry[i];
	if (e)
		qsort_r(e, event->entries, sizeof *e, by_keys, (void *)&l);
	for (size_t k = 0; k < keys; k++)
		wide = width[k] + 3 * k > wide ? width[k] + 3 * k : wide;
	if (!o->quiet) {
		event_lines(to, event);
		fprintf(to, "# %*s  ", (int)(8 + 3 * (keys - 1)), "Overhead");
		for (size_t k = 0; k < keys; k++)
			fprintf(to, "%s%s", k ? " / " : "", title[p->options.key[k]]);
		fputs("\n# ", to);
		dots(to, 8 + 3 * (keys - 1));
		fputs("  ", to);
		dots(to, wide);
		fputs("\n#\n", to);
	}
	if (e)
		print_level(to, &l, e, event->entries, 0, width);
	free(e);
	fputs("\n\n", to);
}

/* What each thread counted, as perf report -T prints it.  Source: Linux, tools/perf/util/values.c. */
static void thread_table(FILE *to, const struct profile *p)
{
	int pid = 3, tid = 3;
	for (size_t i = 0; i < p->reads; i++) {
		const int wide_pid = snprintf(NULL, 0, "%u", p->read[i].pid),
			  wide_tid = snprintf(NULL, 0, "%u", p->read[i].tid);
		pid = wide_pid > pid ? wide_pid : pid;
		tid = wide_tid > tid ? wide_tid : tid;
	}
	if (!p->reads) {
		fputs("# no counts of threads: record -s keeps them\n\n", to);
		return;
	}
	for (size_t i = 0; i < p->reads; i++) {
		bool first = true, head = !i;
		for (size_t k = 0; k < i; k++)
			first &= p->read[k].tid != p->read[i].tid || p->read[k].pid != p->read[i].pid;
		if (!first)
			continue;
		for (int line = head ? 0 : 1; line < 2; line++) {
			line ? fprintf(to, "  %*u  %*u", pid, p->read[i].pid, tid, p->read[i].tid)
			     : fprintf(to, "# %*s  %*s", pid, "PID", tid, "TID");
			for (size_t e = 0; e < p->events; e++) {
				int width = (int)strlen(p->event[e].info->name);
				uint64_t count = 0;
				for (size_t k = 0; k < p->reads; k++) {
					char digits[24];
					const size_t event = p->read[k].event;
					const int n = snprintf(digits, sizeof digits, "%llu",
						(unsigned long long)p->read[k].count);
					if (event >= perfdata_event_count(p->file) ||
						perfdata_event_info(p->file, event) != p->event[e].info)
						continue;
					width = n > width ? n : width;
					if (p->read[k].pid == p->read[i].pid && p->read[k].tid == p->read[i].tid)
						count += p->read[k].count;
				}
				line ? fprintf(to, "  %*llu", width, (unsigned long long)count)
				     : fprintf(to, "  %*s", width, p->event[e].info->name);
			}
			fputc('\n', to);
		}
	}
	fputc('\n', to);
}

void report_stdio(FILE *to, const struct profile *p, const struct report_options *o)
{
	if (!o->quiet) {
		fprintf(to, "# softpmu report of %s\n#\n", o->file_name);
		if (o->filtered && *o->filtered)
			fprintf(to, "%s#\n", o->filtered);
		fprintf(to, "# Total Lost Samples: %llu\n#\n", (unsigned long long)p->lost);
	}
	for (size_t i = 0; i < p->events; i++) {
		const struct profile_event *event = &p->event[i];
		struct columns c = { 0 };
		if (o->skip_empty && !event->samples)
			continue;
		measure(event, p, o, c.width);
		if (o->hierarchy) {
			hierarchy(to, p, event, o, c.width);
			continue;
		}
		fit(&c, event, p, o);
		if (!o->quiet)
			headers(to, p, event, o, &c);
		for (size_t n = 0; n < event->entries; n++) {
			const struct profile_entry *e = &event->entry[n];
			if (percent(event->children ? e->total : e->self, event->period) < o->percent_limit)
				continue;
			if (o->separator)
				separated(to, p, event, e, o);
			else
				row(to, p, event, e, o, &c);
			if (o->print_chains && e->tree && !o->separator)
				report_tree(to, event, e, o, o->sort_starts_with_symbol);
		}
		release(&c, event->entries);
		fputs("\n\n", to);
	}
	if (o->threads)
		thread_table(to, p);
}

/* ---- JSON ---- */

static void json_calls(FILE *to, const struct profile_node *n)
{
	fputs("\"calls\": [", to);
	for (const struct profile_node *c = n->child; c; c = c->next) {
		fputs("{\"symbol\": ", to);
		char text[24];
		snprintf(text, sizeof text, "0x%llx", (unsigned long long)c->ip);
		json_string(to, c->symbol ? c->symbol->name : text);
		if (c->symbol && c->symbol->inlined)
			fputs(", \"inlined\": true", to);
		fprintf(to, ", \"period\": %llu", (unsigned long long)c->total);
		if (c->child) {
			fputs(", ", to);
			json_calls(to, c);
		}
		fprintf(to, "}%s", c->next ? ", " : "");
	}
	fputs("]", to);
}

static void json_symbol(FILE *to, const struct symbol *symbol, uint64_t address)
{
	char text[24];
	snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
	json_string(to, symbol ? symbol->name : text);
}

static void json_key(FILE *to, const struct profile_event *event, const struct profile_entry *e, enum profile_key key)
{
	if (profile_is_pushout(key) && !e->pushouts)
		return;		/* unknown */
	fprintf(to, ", \"%s\": ", json_name[key]);
	switch (key) {
	case PROFILE_COMM: json_string(to, e->comm); break;
	case PROFILE_DSO: json_string(to, e->dso); break;
	case PROFILE_SYMBOL:
		json_symbol(to, e->symbol, e->address);
		if (e->symbol && e->symbol->inlined)
			fputs(", \"inlined\": true", to);
		break;
	case PROFILE_SRCLINE: json_string(to, e->srcline); break;
	case PROFILE_PID: fprintf(to, "%u", e->pid); break;
	case PROFILE_TID: fprintf(to, "%u", e->tid); break;
	case PROFILE_CPU: fprintf(to, "%u", e->cpu); break;
	case PROFILE_PUSHOUT: fprintf(to, "%llu", (unsigned long long)e->pushed); break;
	case PROFILE_PUSHOUT_MEDIAN: fprintf(to, "%u", spread_quantile(e->pushouts, 0.5)); break;
	case PROFILE_PUSHOUT_SHARE: fprintf(to, "%.4f", percent(e->pushed, event->pushed)); break;
	case PROFILE_DSO_FROM: json_string(to, e->from.dso); break;
	case PROFILE_DSO_TO: json_string(to, e->to.dso); break;
	case PROFILE_SYMBOL_FROM: json_symbol(to, e->from.symbol, e->from.address); break;
	case PROFILE_SYMBOL_TO: json_symbol(to, e->to.symbol, e->to.address); break;
	case PROFILE_MISPREDICT: json_string(to, prediction(e)); break;
	case PROFILE_CYCLES: fprintf(to, "%u", e->cycles); break;
	case PROFILE_KEYS: break;
	}
}

void report_json(FILE *to, const struct profile *p, const struct report_options *o)
{
	fputs("{\"file\": ", to);
	json_string(to, o->file_name);
	fprintf(to, ", \"lost\": %llu, \"events\": [", (unsigned long long)p->lost);
	for (size_t i = 0; i < p->events; i++) {
		const struct profile_event *event = &p->event[i];
		bool first = true;
		fprintf(to, "%s\n{\"event\": ", i ? "," : "");
		json_string(to, event->info->name);
		fprintf(to, ", \"samples\": %llu, \"period\": %llu, \"entries\": [", (unsigned long long)event->samples,
			(unsigned long long)event->period);
		for (size_t n = 0; n < event->entries; n++) {
			const struct profile_entry *e = &event->entry[n];
			double share = percent(event->children ? e->total : e->self, event->period);
			if (share < o->percent_limit)
				continue;
			fprintf(to, "%s\n  {\"overhead\": %.4f, \"period\": %llu, \"samples\": %llu", first ? "" : ",",
				percent(e->self, event->period), (unsigned long long)e->self,
				(unsigned long long)e->samples);
			first = false;
			if (event->children)
				fprintf(to, ", \"children\": %llu", (unsigned long long)e->total);
			for (size_t k = 0; k < p->options.keys; k++)
				json_key(to, event, e, p->options.key[k]);
			if (o->print_chains && e->tree) {
				fputs(", ", to);
				json_calls(to, e->tree);
			}
			fputc('}', to);
		}
		fputs("\n]}", to);
	}
	fputs("\n]}\n", to);
}
