/* SPDX-License-Identifier: GPL-2.0-or-later
 * Draws how each uop of a block's first iterations goes through the core: a row a uop, a column a cycle.  Cycle
 * 0 is the first dispatch of the first iteration shown.  In a steady state the reorder buffer is often full, so
 * that hundreds of cycles lie between allocation and retirement.  Then one column covers several cycles, and the
 * numbers beside the rows give the exact ones.
 */
#include "analysis/block/block.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 3, ROWS = 120 };

struct picture { char *row; unsigned columns; int64_t from, scale; };

static void put(const struct picture *p, int64_t cycle, char c)
{
	if (cycle >= p->from && (cycle - p->from) / p->scale < p->columns)
		p->row[(cycle - p->from) / p->scale] = c;
}

static void fill(const struct picture *p, int64_t from, int64_t to, char c)
{
	int64_t end = p->from + p->columns * p->scale;
	from = from < p->from ? p->from : from;
	to = to > end ? end : to;
	for (; from < to; from++)
		put(p, from, c);
}

static void head(FILE *f, struct picture *p)
{
	fputs("F fetched  A allocated  . waits for operands  = ready, waits for a port  D dispatched  e executes  "
	      "C complete  - waits to retire  R retired\n", f);
	if (p->scale > 1)
		fprintf(f, "one column: %lld cycles\n", (long long)p->scale);
	fprintf(f, "\n%-9s %4s %6s %6s %6s %6s %6s %6s  ", "[it,insn]", "port", "fetch", "alloc", "ready", "disp.",
		"compl.", "retire");
	memset(p->row, ' ', p->columns);
	for (unsigned at = 0; at + 8 < p->columns; at += 10) {
		char number[24];
		int n = snprintf(number, sizeof number, "%lld", (long long)(p->from + at * p->scale));
		memcpy(p->row + at, number, (size_t)(n < 8 ? n : 8));
	}
	fprintf(f, "%.*s\n", (int)p->columns, p->row);
}

static void draw(FILE *f, const struct picture *p, const struct block_result *r, const struct block_uop *u)
{
	char name[32] = "", port[8] = "-";
	if (u->first)
		snprintf(name, sizeof name, "[%u,%u]", u->iteration, u->insn);
	if (u->port != 255)
		snprintf(port, sizeof port, "p%u", u->port);
	for (unsigned c = 0; c < p->columns; c++)
		p->row[c] = c % 10 ? ' ' : ':';
	fill(p, u->alloc, u->ready, '.');
	fill(p, u->ready, u->dispatch, '=');
	fill(p, u->dispatch, u->complete, 'e');
	fill(p, u->complete, u->retire, '-');
	put(p, u->fetch, 'F');
	put(p, u->alloc, 'A');
	put(p, u->retire, 'R');
	put(p, u->complete, 'C');
	if (u->port != 255)
		put(p, u->dispatch, 'D');
	fprintf(f, "%-9s %4s %6lld %6lld %6lld %6lld %6lld %6lld  %.*s  %s\n", name, port, (long long)u->fetch,
		(long long)u->alloc, (long long)u->ready, (long long)u->dispatch, (long long)u->complete,
		(long long)u->retire, (int)p->columns, p->row,
		u->first && u->insn < r->insns ? r->insn[u->insn].text : "");
}

char *block_timeline(const struct block_result *r, unsigned columns)
{
	char *text = NULL;
	size_t bytes = 0;
	columns = columns < 40 ? 40 : columns > 400 ? 400 : columns;
	struct picture p = { .row = malloc(columns), .columns = columns, .scale = 1 };
	FILE *f = open_memstream(&text, &bytes);
	if (!f || !p.row) {
		if (f)
			fclose(f);
		free(text);
		free(p.row);
		return NULL;
	}
	unsigned end = 0;
	int64_t last = 0;
	for (; end < r->timeline_uops && r->uop[end].iteration < ITERATIONS && (end < ROWS || !r->uop[end].iteration);
		end++) {
		int64_t first = r->uop[end].alloc < r->uop[end].dispatch ? r->uop[end].alloc : r->uop[end].dispatch;
		p.from = first < p.from ? first : p.from;
		last = r->uop[end].retire > last ? r->uop[end].retire : last;
	}
	/* with a full reorder buffer, allocation may lie far back: only its number shows it */
	p.from = p.from < -20 ? -20 : p.from;
	while ((last - p.from) / p.scale >= (int64_t)columns)
		p.scale++;
	head(f, &p);
	for (unsigned i = 0; i < end; i++)
		draw(f, &p, r, &r->uop[i]);
	free(p.row);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
