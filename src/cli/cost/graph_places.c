/* SPDX-License-Identifier: GPL-2.0-or-later
 * The graph by places (graph_places.h): the sites of all threads, added up by name. */
#include "cli/cost/graph_places.h"
#include "util/json.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_SHOWN = 4 };
struct row { char *name; uint32_t pid; struct path_site of; };

/* ---- slack ---- */

static void print_histogram(const struct cost_style *s, const struct spread *p, const char *name)
{
	uint64_t most = 0;
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint64_t low = 0; low <= p->max; low = low ? 2 * low : 1) {	/* 0, 1, 2 to 3, 4 to 7, ... */
			const uint64_t high = low ? 2 * low : 1,
				       n = spread_at_least(p, (uint32_t)low) -
				(high <= p->max ? spread_at_least(p, (uint32_t)high) : 0);
			most = n > most ? n : most;
			if (!pass)
				continue;
			if (s->form == COST_TABLE)
				fprintf(s->out, "   %8" PRIu64 "..%-8" PRIu64 " %12" PRIu64 " %.*s\n", low, high - 1, n,
					(int)(most ? 48 * n / most : 0),
					"################################################");
			else if (s->form == COST_CSV)
				fprintf(s->out, "slack-histogram%s%s%s%" PRIu64 "%s%" PRIu64 "%s%" PRIu64 "\n",
					s->separator, name, s->separator, low, s->separator, high - 1, s->separator, n);
			else
				fprintf(s->out,
					"{\"slack-histogram\": \"%s\", \"from\": %" PRIu64 ", \"to\": %" PRIu64
					", \"instructions\": %" PRIu64 "}\n",
					name, low, high - 1, n);
		}
}

static double mean_of(const struct slack_counts *c) { return c->count ? (double)c->sum / (double)c->count : 0; }
static double share_of(uint64_t n, const struct slack_counts *c)
{
	return c->count ? 100 * (double)n / (double)c->count : 0;
}

static void add_counts(struct slack_counts *to, const struct slack_counts *c)
{
	to->count += c->count;
	to->none += c->none;
	to->below_5 += c->below_5;
	to->below_50 += c->below_50;
	to->sum += c->sum;
}

void graph_slack_print(const struct cost_style *s, const struct graph_thread *t, size_t threads)
{
	FILE *out = s->out;
	const char *sep = s->separator;
	struct spread global = { 0 };
	for (unsigned which = 0; which < SLACK_BOTH; which++) {
		struct slack_counts all = { 0 };
		struct spread spread;
		spread_init(&spread, 4);
		for (size_t i = 0; i < threads; i++) {
			const struct slack *one = graph_slack(t[i].graph);
			add_counts(&all, slack_counts(one, which));
			spread_merge(&spread, slack_spread(one, which));
		}
		const uint32_t median = spread_quantile(&spread, 0.5);
		if (s->form == COST_TABLE && !which)
			fputs("\n Slack: how many cycles later an instruction could be done, without a longer run "
			      "(global), with no other instruction later (local)\n"
			      "         instructions     none   1 to 4  5 to 49     more |     mean  median\n", out);
		if (s->form == COST_TABLE)
			fprintf(out, " %-8s %11" PRIu64 " %7.2f%% %7.2f%% %7.2f%% %7.2f%% | %8.1f %7" PRIu32 "\n",
				slack_name[which], all.count, share_of(all.none, &all),
				share_of(all.below_5 - all.none, &all), share_of(all.below_50 - all.below_5, &all),
				share_of(all.count - all.below_50, &all), mean_of(&all), median);
		else if (s->form == COST_CSV)
			fprintf(out,
				"slack%s%s%s%" PRIu64 "%s%" PRIu64 "%s%" PRIu64 "%s%" PRIu64 "%s%.2f%s%" PRIu32 "\n",
				sep, slack_name[which], sep, all.count, sep, all.none, sep, all.below_5, sep,
				all.below_50, sep, mean_of(&all), sep, median);
		else
			fprintf(out,
				"{\"slack\": \"%s\", \"instructions\": %" PRIu64 ", \"none\": %" PRIu64
				", \"below_5\": %" PRIu64 ", \"below_50\": %" PRIu64 ", \"mean\": %.2f, \"median\": %"
				PRIu32 "}\n",
				slack_name[which], all.count, all.none, all.below_5, all.below_50, mean_of(&all),
				median);
		if (s->form != COST_TABLE)
			print_histogram(s, &spread, slack_name[which]);
		else if (which == SLACK_GLOBAL)
			global = spread;
		else
			print_histogram(s, &global, slack_name[SLACK_GLOBAL]);
		if (s->form == COST_TABLE && which == SLACK_GLOBAL)
			continue;
		spread_release(&spread);
	}
	spread_release(&global);
}

/* ---- places ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static uint64_t gain(const struct path_site *p)
{
	uint64_t most = 0;
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++)
		most = (uint64_t)llabs(p->saved[k]) > most ? (uint64_t)llabs(p->saved[k]) : most;
	return most;
}

static int by_cycles(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->of.cycles != y->of.cycles)
		return x->of.cycles > y->of.cycles ? -1 : 1;
	if (gain(&x->of) != gain(&y->of))
		return gain(&x->of) > gain(&y->of) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_site(struct path_site *to, const struct path_site *p)
{
	to->cycles += p->cycles;
	for (unsigned k = 0; k < PATH_KINDS_COUNT; k++)
		to->kind[k] += p->kind[k];
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++)
		to->saved[k] += p->saved[k];
	for (unsigned k = 0; k < SLACK_BOTH; k++)
		add_counts(&to->slack[k], &p->slack[k]);
}

/* Makes rows of all sites, one a name. *out is malloc'd. */
static int gather(const struct graph_thread *t, size_t threads, struct cost_places *names, bool instructions,
	struct row **out, size_t *count, struct err *err)
{
	struct row *row = NULL;
	size_t n = 0, kept = 0;
	for (size_t i = 0; i < threads; i++) {
		size_t sites;
		graph_slack(t[i].graph);	/* ends the analysis: its counts go into the sites */
		const struct path_site *site = path_sites(graph_path(t[i].graph), &sites);
		struct row *more = realloc(row, (n + sites + 1) * sizeof *more);
		*out = row = more ? more : row;
		for (size_t k = 0; more && k < sites; k++) {
			char *name = cost_places_name(names, t[i].pid, site[k].ip, instructions);
			if (!name) {
				more = NULL;
				break;
			}
			row[n].name = name;
			row[n].pid = t[i].pid;
			row[n++].of = site[k];
			*count = n;
		}
		if (!more)
			return err_set(err, ERR_NOMEM, "out of memory");
	}
	qsort(row, n, sizeof *row, by_name);
	for (size_t k = 0; k < n; k++) {
		if (kept && !strcmp(row[kept - 1].name, row[k].name)) {
			add_site(&row[kept - 1].of, &row[k].of);
			free(row[k].name);
		} else {
			row[kept++] = row[k];
		}
	}
	*count = kept;
	qsort(row, kept, sizeof *row, by_cycles);
	return 0;
}

/* Sorts the classes by what they save at the place, most first. */
static void order_classes(const struct path_site *p, unsigned order[GRAPH_CLASSES_COUNT])
{
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++) {
		unsigned at = k;
		for (; at && llabs(p->saved[order[at - 1]]) < llabs(p->saved[k]); at--)
			order[at] = order[at - 1];
		order[at] = k;
	}
}

static void print_text(
	const struct cost_style *s, const struct row *r, const char *text, const char *most, double cycles)
{
	const struct path_site *p = &r->of;
	const struct slack_counts *c = &p->slack[SLACK_GLOBAL];
	unsigned order[GRAPH_CLASSES_COUNT];
	fprintf(s->out, " %12" PRIu64 " %6.2f%% %-12s", p->cycles, 100 * (double)p->cycles / cycles, most);
	if (c->count)
		fprintf(s->out, " |%5.0f%% %4.0f%% %4.0f%% %7.1f", share_of(c->none, c), share_of(c->below_5, c),
			share_of(c->below_50, c), mean_of(c));
	fprintf(s->out, " | %s%s%s\n", r->name, *text ? "   " : "", text);
	order_classes(p, order);
	for (unsigned k = 0; k < CLASSES_SHOWN && 1000 * fabs((double)p->saved[order[k]]) >= cycles; k++)
		fprintf(s->out, "%s%s %" PRId64 " (%.2f%%)", k ? ", " : "                without ",
			graph_class_name[order[k]], p->saved[order[k]], 100 * (double)p->saved[order[k]] / cycles);
	if (1000 * fabs((double)p->saved[order[0]]) >= cycles)
		fputc('\n', s->out);
}

static void print_fields(const struct cost_style *s, const struct row *r, const char *most, double cycles)
{
	const char *sep = s->separator;
	const struct path_site *p = &r->of;
	fprintf(s->out, "graph-place%s", sep);
	cost_csv_text(s->out, sep, r->name);
	fprintf(s->out, "%s%" PRIu64 "%s%.6f%s%s\n", sep, p->cycles, sep, (double)p->cycles / cycles, sep, most);
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++)
		if (p->saved[k]) {
			fprintf(s->out, "graph-place-class%s", sep);
			cost_csv_text(s->out, sep, r->name);
			fprintf(s->out, "%s%s%s%" PRId64 "%s%.6f\n", sep, graph_class_name[k], sep, p->saved[k], sep,
				(double)p->saved[k] / cycles);
		}
	for (unsigned k = 0; k < SLACK_BOTH; k++)
		if (p->slack[k].count) {
			const struct slack_counts *c = &p->slack[k];
			fprintf(s->out, "graph-place-slack%s", sep);
			cost_csv_text(s->out, sep, r->name);
			fprintf(s->out, "%s%s%s%" PRIu64 "%s%" PRIu64 "%s%" PRIu64 "%s%" PRIu64 "%s%.2f\n", sep,
				slack_name[k], sep, c->count, sep, c->none, sep, c->below_5, sep, c->below_50, sep,
				mean_of(c));
		}
}

static void print_json(
	const struct cost_style *s, const struct row *r, const char *text, const char *most, double cycles)
{
	const struct path_site *p = &r->of;
	const char *comma = "";
	fputs("{\"graph-place\": ", s->out);
	json_string(s->out, r->name);
	if (*text) {
		fputs(", \"instruction\": ", s->out);
		json_string(s->out, text);
	}
	fprintf(s->out, ", \"cycles\": %" PRIu64 ", \"share\": %.6f, \"most\": \"%s\", \"saved\": {", p->cycles,
		(double)p->cycles / cycles, most);
	for (unsigned k = 0; k < GRAPH_CLASSES_COUNT; k++)
		if (p->saved[k]) {
			fprintf(s->out, "%s\"%s\": %" PRId64, comma, graph_class_name[k], p->saved[k]);
			comma = ", ";
		}
	fputc('}', s->out);
	for (unsigned k = 0; k < SLACK_BOTH; k++)
		if (p->slack[k].count)
			fprintf(s->out,
				", \"slack_%s\": {\"instructions\": %" PRIu64 ", \"none\": %" PRIu64 ", \"below_5\": "
				"%" PRIu64 ", \"below_50\": %" PRIu64 ", \"mean\": %.2f}",
				slack_name[k], p->slack[k].count, p->slack[k].none, p->slack[k].below_5,
				p->slack[k].below_50, mean_of(&p->slack[k]));
	fputs("}\n", s->out);
}

int graph_places_print(const struct cost_style *s, const struct graph_thread *t, size_t threads,
	struct cost_places *names, bool instructions, size_t rows, double cycles, struct err *err)
{
	struct row *row = NULL;
	size_t count = 0;
	const bool slack = threads && graph_slack(t[0].graph);
	int rc = gather(t, threads, names, instructions, &row, &count, err);
	if (!rc && s->form == COST_TABLE)
		fprintf(s->out, "\n Dependence graph by %s%s:\n   on the path   share most of it  %s\n",
			instructions ? "instruction" : "function",
			slack ? "; slack: instructions with none, below 5, below 50 cycles, mean" : "",
			slack ? " | none   <5  <50    mean |" : " |");
	for (size_t k = 0; !rc && k < count && k < rows; k++) {
		unsigned most = 0;
		for (unsigned e = 1; e < PATH_KINDS_COUNT; e++)
			most = row[k].of.kind[e] > row[k].of.kind[most] ? e : most;
		char text[160] = "";
		if (instructions)
			cost_places_text(names, row[k].pid, row[k].of.ip, text, sizeof text);
		const char *kind = row[k].of.cycles ? path_kind_name[most] : "";
		if (s->form == COST_TABLE)
			print_text(s, &row[k], text, kind, cycles);
		else if (s->form == COST_CSV)
			print_fields(s, &row[k], kind, cycles);
		else
			print_json(s, &row[k], text, kind, cycles);
	}
	for (size_t k = 0; k < count; k++)
		free(row[k].name);
	free(row);
	return rc;
}
