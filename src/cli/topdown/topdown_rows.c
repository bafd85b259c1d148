/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints places (topdown_rows.h).  On a terminal names are cut to its width, and a narrow one has two lines for each
 * place, of which the second one has the name. */
#include "cli/topdown/topdown_rows.h"
#include "util/elide.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 4096, FILE_NAME_BYTES = 512, BOTTLENECK = 30, LEAST_NAME = 24, BELOW = 9 };
/* Where the bottleneck and the name are: all on one line, the name below, or both below. */
enum form { ONE_LINE, NAME_BELOW, BOTH_BELOW };

/* cut: the name for a terminal, and object: what stands behind it; or both NULL. */
struct row { const struct topdown_place *place; char name[NAME_BYTES], bottleneck[64], *cut; const char *object; };

/* Columns of a share of level 1. */
static int share_width(const struct metric *n, enum form form)
{
	return form == ONE_LINE ? (int)strlen(n->name) : 8;
}

/* Columns of a row ahead of its name. */
static unsigned row_width(const struct metrics *m, enum form form)
{
	unsigned width = 8;
	for (size_t k = 0; k < m->metrics; k++)
		if (m->metric[k].level == 1)
			width += 2 + (unsigned)share_width(m->metric + k, form);
	return width + 2 + BOTTLENECK + (form == ONE_LINE);
}

static void heading(const struct topdown *t, enum form form)
{
	FILE *out = t->style.out;
	const struct metrics *m = &t->metrics.m;
	const char *what = t->per == TOPDOWN_FUNCTION ? "function" : t->per == TOPDOWN_LINE ? "line" : "loop";
	fprintf(out, " %7s", "slots");
	for (size_t k = 0; k < m->metrics; k++)
		if (m->metric[k].level == 1)
			fprintf(out, "  %.*s", share_width(m->metric + k, form), m->metric[k].name);
	if (form == ONE_LINE)
		fprintf(out, "  %-*s %s\n", BOTTLENECK, "bottleneck", what);
	else if (form == NAME_BELOW)
		fprintf(out, "  bottleneck\n%*s%s\n", BELOW, "", what);
	else
		fprintf(out, "\n%*sbottleneck: %s\n", BELOW, "", what);
}

/* Cuts the names to `width` columns, but not the object in brackets behind them. */
static void cut_names(struct row *row, size_t rows, const struct terminal *terminal, unsigned width)
{
	const char **name = calloc(rows + 1, sizeof *name);
	char **cut = calloc(rows + 1, sizeof *cut);
	size_t longest = 0;
	for (size_t i = 0; name && i < rows; i++) {
		char *object = strrchr(row[i].name, '[');
		name[i] = row[i].name;
		if (!object || object == row[i].name)
			continue;
		object[-1] = 0;
		row[i].object = object;
		longest = strlen(object) + 1 > longest ? strlen(object) + 1 : longest;
	}
	const size_t room = width > longest + LEAST_NAME / 2 ? width - longest : LEAST_NAME / 2;
	if (name && cut && elide_names(cut, name, rows, room, terminal_mark(terminal)))
		for (size_t i = 0; i < rows; i++)
			row[i].cut = cut[i];
	free(name);
	free(cut);
}

static void print_row(struct topdown *t, const struct row *r, uint64_t all, enum form form)
{
	const struct metrics *m = &t->metrics.m;
	FILE *out = t->style.out;
	fprintf(out, " %6.1f%%", 100 * (double)r->place->all / (double)all);
	memcpy(t->slots, r->place->slots, sizeof t->slots);
	topdown_exact_values(t);
	for (size_t i = 0; i < m->metrics; i++)
		if (m->metric[i].level == 1)
			fprintf(out, "  %*.1f%%", share_width(m->metric + i, form) - 1, 100 * t->exact[i]);
	if (form == ONE_LINE)
		fprintf(out, "  %-*s ", BOTTLENECK, r->bottleneck);
	else if (form == NAME_BELOW)
		fprintf(out, "  %s\n%*s", r->bottleneck, BELOW, "");
	else
		fprintf(out, "\n%*s%s: ", BELOW, "", r->bottleneck);
	fprintf(out, "%s%s%s\n", r->cut ? r->cut : r->name, r->object ? " " : "", r->object ? r->object : "");
}

static void name_bottleneck(struct topdown *t, struct row *r)
{
	const struct metrics *m = &t->metrics.m;
	double joined;
	memcpy(t->slots, r->place->slots, sizeof t->slots);
	topdown_exact_values(t);
	const size_t named = topdown_bottleneck(m, t->exact, t->style.level, &joined);
	if (named == SIZE_MAX)
		snprintf(r->bottleneck, sizeof r->bottleneck, "-");
	else
		snprintf(r->bottleneck, sizeof r->bottleneck, "%.40s %.1f%%", m->metric[named].name,
			100 * (t->exact[named] + joined));
}

/* In CSV and JSON a place has the whole tree. */
static void print_trees(struct topdown *t, const struct row *r, uint64_t all)
{
	memcpy(t->slots, r->place->slots, sizeof t->slots);
	topdown_exact_values(t);
	t->style.what = r->name;
	topdown_print_share(&t->style, (double)r->place->all / (double)all);
	topdown_print(&t->style, &t->metrics.m, t->metrics.value, t->exact);
	t->style.what = NULL;
}

void topdown_rows(struct topdown *t)
{
	const struct metrics *m = &t->metrics.m;
	const struct terminal *terminal = t->style.terminal;
	const struct topdown_place *p;
	const bool table = t->style.form == TOPDOWN_TREE;
	const unsigned width = terminal_width(terminal, 0);
	const enum form form = !width || width >= row_width(m, ONE_LINE) + LEAST_NAME ? ONE_LINE
		: width >= row_width(m, NAME_BELOW)                                   ? NAME_BELOW
										      : BOTH_BELOW;
	uint64_t all = 0, left = 0;
	size_t places = 0, rows;
	for (; (p = topdown_places_get(t->places, places)); places++) {
		all += p->all;
		left += t->rows && places >= t->rows ? p->all : 0;
	}
	rows = t->rows && places > t->rows ? t->rows : places;
	struct row *row = calloc(rows + 1, sizeof *row);
	if (!row) {
		cli_error("out of memory");
		return;
	}
	for (size_t k = 0; k < m->metrics; k++)
		t->metrics.value[k] = (double)NAN;	/* events are not counted by place */
	for (size_t k = 0; k < rows; k++) {
		row[k].place = topdown_places_get(t->places, k);
		cli_plain_name(row[k].name, width ? NAME_BYTES : FILE_NAME_BYTES, row[k].place->name,
			t->style.form == TOPDOWN_CSV ? t->style.separator : NULL);
		name_bottleneck(t, row + k);
	}
	if (table)
		heading(t, form);
	if (table && width)
		cut_names(row, rows, terminal, width - (form == ONE_LINE ? row_width(m, form)
			: form == NAME_BELOW                             ? BELOW
									 : BELOW + BOTTLENECK));
	for (size_t k = 0; k < rows; k++)
		if (table)
			print_row(t, row + k, all, form);
		else
			print_trees(t, row + k, all);
	if (left && table)
		fprintf(t->style.out, " %6.1f%%  in %zu more (--rows 0: all)\n", 100 * (double)left / (double)all,
			places - rows);
	for (size_t k = 0; k < rows; k++)
		free(row[k].cut);
	free(row);
}
