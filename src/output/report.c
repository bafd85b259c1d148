/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints a profile, with the columns and numbers of `perf report --stdio`, or as JSON.
 *
 * JSON: {"file", "lost", "events": [{"event", "samples", "period", "entries": [{"overhead", "period", "samples", then
 * the sort keys; with call chains "children" (period with callees) and "calls": [{"symbol", "period", "calls"}]}]}]}.
 */
#include "output/profile.h"
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

enum { UNRESOLVED_WIDTH = 16, TEXT = 8192 };

/* Names come out of files: what would move a terminal's cursor is not passed on. */
static void plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

static const char *shown_name(const struct symbol *symbol, bool mangled)
{
	return mangled && symbol->linkage ? symbol->linkage : symbol->name;
}

static void symbol_cell(const struct symbol *symbol, char level, uint64_t address, bool mangled, char text[TEXT])
{
	if (symbol)
		snprintf(text, TEXT, "[%c] %s%s", level, shown_name(symbol, mangled),
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
	plain(text);
}

/* The width that -w gives column `number`, of which the percentages are number 0; 0: none. */
static size_t chosen_width(const char *widths, size_t number)
{
	while (widths && number--)
		widths = strchr(widths, ',') ? strchr(widths, ',') + 1 : NULL;
	const unsigned long width = widths ? strtoul(widths, NULL, 10) : 0;
	return width < TEXT ? width : TEXT - 1;
}

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

/* ---- call trees, drawn as in perf ---- */

struct drawing { FILE *to; uint64_t whole; int margin; bool anything, mangled; };

static void margin(const struct drawing *d)
{
	fprintf(d->to, "            %*s", d->margin, "");
}

static void node_name(const struct drawing *d, const struct profile_node *n)
{
	if (n->symbol) {
		char text[TEXT];
		snprintf(text, sizeof text, "%s", shown_name(n->symbol, d->mangled));
		plain(text);
		fprintf(d->to, "%s%s\n", text, n->symbol->inlined ? " (inlined)" : "");
	} else {
		fprintf(d->to, "%#llx\n", (unsigned long long)n->ip);
	}
}

/* A run of nodes without a branch or the end of a chain is one block.  Returns its last node. */
static const struct profile_node *block_end(const struct profile_node *n)
{
	while (!n->hit && n->children == 1 && n->child)
		n = n->child;
	return n;
}

static bool bar(uint32_t mask, int i) { return mask >> (i & 31) & 1; }

static void draw_children(struct drawing *d, const struct profile_node *parent, int depth, uint32_t mask)
{
	uint32_t below = mask;
	for (const struct profile_node *c = parent->child; c; c = c->next) {
		if (!c->next)
			below &= ~(UINT32_C(1) << ((depth - 1) & 31));
		margin(d);
		for (int i = 0; i < depth; i++)
			fprintf(d->to, "%s          ", bar(mask, i) ? "|" : " ");
		fputc('\n', d->to);
		const struct profile_node *end = block_end(c);
		for (const struct profile_node *n = c; ; n = n->child) {
			margin(d);
			for (int i = 0; i < depth; i++) {
				fputs(bar(below, i) ? "|" : " ", d->to);
				if (n == c && i == depth - 1)
					fprintf(d->to, "--%.2f%%--", percent(c->total, d->whole));
				else
					fputs("          ", d->to);
			}
			node_name(d, n);
			if (n == end)
				break;
		}
		d->anything = true;
		draw_children(d, end, depth + 1, below | UINT32_C(1) << (depth & 31));
	}
}

static void draw_tree(FILE *to, const struct profile_event *event, const struct profile_entry *e, bool skip_first,
	bool mangled)
{
	struct drawing d = { to, event->period, 0, false, mangled };
	const struct profile_node *root = e->tree;
	uint64_t own = event->children ? e->total : e->self;
	/* A single branch with everything below it needs no percentage. */
	if (root->child && !root->child->next && root->child->total == own) {
		const struct profile_node *n = root->child, *end = block_end(n);
		for (bool first = true; ; n = n->child) {
			if (!(first && skip_first)) {
				if (!d.anything) {
					margin(&d);
					fputs("|\n", to);
					margin(&d);
					fputs("---", to);
					d.margin += 3;
					d.anything = true;
				} else {
					margin(&d);
				}
				node_name(&d, n);
			}
			first = false;
			if (n == end)
				break;
		}
		root = end;
	}
	draw_children(&d, root, 1, 1);
	if (d.anything)
		fputc('\n', to);
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
		    const size_t width[PROFILE_KEYS])
{
	const bool two = e->children && !o->only_self;
	const char *x = o->separator, *sign = x ? x : "";
	event_lines(to, e);
	if (x)
		fprintf(to, two ? "# Children%sSelf" : "# Overhead%.0s", x);
	else
		fputs(two ? "# Children      Self" : "# Overhead", to);
	if (o->counts)
		fprintf(to, x ? "%sSamples" : "%.0s       Samples", sign);
	if (o->totals)
		fprintf(to, x ? "%sPeriod" : "%.0s        Period", sign);
	for (size_t k = 0; k < p->options.keys; k++)
		x ? fprintf(to, "%s%s", x, title[p->options.key[k]] + strspn(title[p->options.key[k]], " "))
		  : fprintf(to, "  %-*.*s", (int)width[k], (int)width[k], title[p->options.key[k]]);
	fputc('\n', to);
	if (x)
		return;
	fputs(two ? "# ........  ........" : "# ........", to);
	for (int i = 0; i < o->counts + o->totals; i++)
		fputs("  ............", to);
	for (size_t k = 0; k < p->options.keys; k++) {
		fputs("  ", to);
		dots(to, width[k]);
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
	const struct report_options *o, const size_t width[PROFILE_KEYS])
{
	char text[TEXT];
	if (event->children && !o->only_self)
		fprintf(to, "  %7.2f%%", percent(e->total, event->period));
	fprintf(to, "  %7.2f%%", percent(e->self, event->period));
	if (o->counts)
		fprintf(to, "  %12llu", (unsigned long long)e->samples);
	if (o->totals)
		fprintf(to, "  %12llu", (unsigned long long)e->self);
	for (size_t k = 0; k < p->options.keys; k++) {
		cell(event, e, p->options.key[k], o->mangled, text);
		/* has a variable length in perf: not padded at the end of a line */
		const enum profile_key key = p->options.key[k];
		if (chosen_width(o->widths, k + 1))
			fprintf(to, "  %-*.*s", (int)width[k], (int)width[k], text);
		else if (k + 1 < p->options.keys || (key != PROFILE_SYMBOL && key != PROFILE_SRCLINE))
			fprintf(to, "  %-*s", (int)width[k], text);
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
		size_t width[PROFILE_KEYS];
		if (o->skip_empty && !event->samples)
			continue;
		measure(event, p, o, width);
		if (o->hierarchy) {
			hierarchy(to, p, event, o, width);
			continue;
		}
		if (!o->quiet)
			headers(to, p, event, o, width);
		for (size_t n = 0; n < event->entries; n++) {
			const struct profile_entry *e = &event->entry[n];
			if (percent(event->children ? e->total : e->self, event->period) < o->percent_limit)
				continue;
			if (o->separator)
				separated(to, p, event, e, o);
			else
				row(to, p, event, e, o, width);
			if (o->print_chains && e->tree && !o->separator)
				draw_tree(to, event, e, o->sort_starts_with_symbol, o->mangled);
		}
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
