/* SPDX-License-Identifier: GPL-2.0-or-later
 * Unions of intervals (busy_cycles.h). */
#include "analysis/cost/busy_cycles.h"
#include <stdlib.h>
#include <string.h>

bool busy_add(struct busy *b, uint64_t begin, uint64_t end)
{
	if (begin < b->covered)
		begin = b->covered;
	if (begin >= end)
		return true;
	/* continues the last interval */
	if (b->count && b->open[b->count - 1].begin <= begin && b->open[b->count - 1].end >= begin) {
		if (b->open[b->count - 1].end < end)
			b->open[b->count - 1].end = end;
		return true;
	}
	if (b->count == b->room) {
		size_t room = b->room ? 2 * b->room : 64;
		struct busy_interval *more = realloc(b->open, room * sizeof *more);
		if (!more)
			return false;
		b->open = more;
		b->room = room;
	}
	b->open[b->count++] = (struct busy_interval){ begin, end };
	return true;
}

static int by_begin(const void *a, const void *b)
{
	const struct busy_interval *p = a, *q = b;
	return p->begin < q->begin ? -1 : p->begin > q->begin;
}

void busy_close(struct busy *b, uint64_t watermark)
{
	size_t n = 0;
	if (b->count > 1)
		qsort(b->open, b->count, sizeof *b->open, by_begin);
	for (; n < b->count && b->open[n].begin < watermark; n++) {
		uint64_t from = b->open[n].begin > b->covered ? b->open[n].begin : b->covered;
		if (b->open[n].end > from) {
			b->cycles += b->open[n].end - from;
			b->covered = b->open[n].end;
		}
	}
	if (n)
		memmove(b->open, b->open + n, (b->count - n) * sizeof *b->open);
	b->count -= n;
}

void busy_release(struct busy *b)
{
	free(b->open);
	*b = (struct busy){ 0 };
}
