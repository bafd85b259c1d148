/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints a profile, with the columns and numbers of `perf report --stdio`, or as JSON.
 *
 * JSON: {"file", "lost", "events": [{"event", "samples", "period", "entries": [{"overhead", "period", "samples", then
 * the sort keys; with call chains "children" (period with callees) and "calls": [{"symbol", "period", "calls"}]}]}]}.
 */
#include "output/profile.h"
#include "util/json.h"
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

static void symbol_cell(const struct symbol *symbol, char level, uint64_t address, char text[TEXT])
{
	if (symbol)
		snprintf(text, TEXT, "[%c] %s", level, symbol->name);
	else
		snprintf(text, TEXT, "[%c] %#.16llx", level, (unsigned long long)address);
}

static const char *prediction(const struct profile_entry *e)
{
	return e->prediction == PROFILE_PREDICTED ? "N" : e->prediction == PROFILE_MISPREDICTED ? "Y" : "N/A";
}

static void cell(const struct profile_event *event, const struct profile_entry *e, enum profile_key key,
	char text[TEXT])
{
	switch (key) {
	case PROFILE_COMM: snprintf(text, TEXT, "%s", e->comm); break;
	case PROFILE_DSO: snprintf(text, TEXT, "%s", e->dso); break;
	case PROFILE_SYMBOL: symbol_cell(e->symbol, e->level, e->address, text); break;
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
	case PROFILE_SYMBOL_FROM: symbol_cell(e->from.symbol, e->from.level, e->from.address, text); break;
	case PROFILE_SYMBOL_TO: symbol_cell(e->to.symbol, e->to.level, e->to.address, text); break;
	case PROFILE_MISPREDICT: snprintf(text, TEXT, "%s", prediction(e)); break;
	case PROFILE_CYCLES: e->cycles ? snprintf(text, TEXT, "%u", e->cycles) : snprintf(text, TEXT, "-"); break;
	case PROFILE_KEYS: *text = 0; break;
	}
	plain(text);
}

static void measure(const struct profile_event *event, const struct profile *p, size_t width[PROFILE_KEYS])
{
	char text[TEXT];
	for (size_t k = 0; k < p->options.keys; k++) {
		width[k] = strlen(title[p->options.key[k]]);
		for (size_t i = 0; i < event->entries; i++) {
			cell(event, &event->entry[i], p->options.key[k], text);
			size_t n = strlen(text);
			if (p->options.key[k] == PROFILE_DSO && !event->entry[i].symbol && n < UNRESOLVED_WIDTH)
				n = UNRESOLVED_WIDTH;
			if (n > width[k])
				width[k] = n;
		}
	}
}

/* ---- call trees, drawn as in perf ---- */

struct drawing { FILE *to; uint64_t whole; int margin; bool anything; };

static void margin(const struct drawing *d)
{
	fprintf(d->to, "            %*s", d->margin, "");
}

static void node_name(const struct drawing *d, const struct profile_node *n)
{
	if (n->symbol) {
		char text[TEXT];
		snprintf(text, sizeof text, "%s", n->symbol->name);
		plain(text);
		fprintf(d->to, "%s\n", text);
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

static void draw_tree(FILE *to, const struct profile_event *event, const struct profile_entry *e, bool skip_first)
{
	struct drawing d = { to, event->period, 0, false };
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

static void headers(FILE *to, const struct profile *p, const struct profile_event *e, const struct report_options *o,
		    const size_t width[PROFILE_KEYS])
{
	uint64_t n = e->samples;
	char unit = ' ';
	for (const char *u = "KMG"; *u && n > 1000; u++) {
		n /= 1000;
		unit = *u;
	}
	fprintf(to, "# Samples: %llu%c of event '%s'\n", (unsigned long long)n, unit, e->info->name);
	fprintf(to, "# Event count (approx.): %llu\n#\n", (unsigned long long)e->period);
	bool two = e->children && !o->only_self;
	fputs(two ? "# Children      Self" : "# Overhead", to);
	if (o->counts)
		fputs("       Samples", to);
	for (size_t k = 0; k < p->options.keys; k++)
		fprintf(to, "  %-*s", (int)width[k], title[p->options.key[k]]);
	fputs(two ? "\n# ........  ........" : "\n# ........", to);
	if (o->counts)
		fputs("  ............", to);
	for (size_t k = 0; k < p->options.keys; k++) {
		fputs("  ", to);
		dots(to, width[k]);
	}
	fputs("\n#\n", to);
}

void report_stdio(FILE *to, const struct profile *p, const struct report_options *o)
{
	char text[TEXT];
	fprintf(to, "# softpmu report of %s\n#\n# Total Lost Samples: %llu\n#\n", o->file_name,
		(unsigned long long)p->lost);
	for (size_t i = 0; i < p->events; i++) {
		const struct profile_event *event = &p->event[i];
		size_t width[PROFILE_KEYS];
		measure(event, p, width);
		headers(to, p, event, o, width);
		for (size_t n = 0; n < event->entries; n++) {
			const struct profile_entry *e = &event->entry[n];
			if (percent(event->children ? e->total : e->self, event->period) < o->percent_limit)
				continue;
			if (event->children && !o->only_self)
				fprintf(to, "  %7.2f%%", percent(e->total, event->period));
			fprintf(to, "  %7.2f%%", percent(e->self, event->period));
			if (o->counts)
				fprintf(to, "  %12llu", (unsigned long long)e->samples);
			for (size_t k = 0; k < p->options.keys; k++) {
				cell(event, e, p->options.key[k], text);
				/* has a variable length in perf: not padded at the end of a line */
				enum profile_key key = p->options.key[k];
				if (k + 1 < p->options.keys || (key != PROFILE_SYMBOL && key != PROFILE_SRCLINE))
					fprintf(to, "  %-*s", (int)width[k], text);
				else
					fprintf(to, "  %s", text);
			}
			fputc('\n', to);
			if (o->print_chains && e->tree)
				draw_tree(to, event, e, o->sort_starts_with_symbol);
		}
		fputs("\n\n", to);
	}
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
	case PROFILE_SYMBOL: json_symbol(to, e->symbol, e->address); break;
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
