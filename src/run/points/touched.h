/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the memory accesses of a gap leave behind, in a form that does not depend on the machine: the lines that were
 * touched.  Private to src/run.
 *
 * A small L1 stands before the list: a line enters the list when it enters L1, so a hit costs little, and the order of
 * the list is that in which any machine's L2 sees the lines.  What L1 holds at the end comes once more, the most recent
 * last.  Warming a machine with the list's accesses, in their order, gives its caches and TLBs about the content that
 * the gap itself would have given them: lines of which nothing is left there are followed by enough others.
 * A line that was in the list earlier in the same gap is there only once, at its last place.
 *
 * Pages get their frames in the order in which they are first touched; so beside the list there is a line of each page
 * that no gap had touched before, in this order.
 *
 * The list of a gap is what a machine needs that had all lists and windows before.  One that had none of them needs the
 * list of all of the run, which is made in the same way (a line is there once, at its last place).
 *
 * Behind that L1 there are an L2, an L3 and a TLB, with LRU throughout.  What they miss are the control variates of
 * estimates (st_place).
 */
#ifndef RUN_TOUCHED_H
#define RUN_TOUCHED_H
#include "core/core.h"
#include "util/err.h"
#include <stdbool.h>
#include <stdint.h>

/* The reference machine: 32 KB L1 each, 1 MB L2, 16 MB L3, 1,024 pages. */
enum {
	TOUCHED_LINE_LOG2 = 6, TOUCHED_PAGE_LOG2 = 12 - TOUCHED_LINE_LOG2,
	TOUCHED_SETS = 64, TOUCHED_WAYS = 8,
	TOUCHED_NO_LOG = UINT32_MAX,
};

struct touched_way {
	uint64_t line;		/* TOUCHED_STALE: it was not touched in this gap */
	uint32_t log;		/* its place in the list */
	bool written;
};
#define TOUCHED_STALE (UINT64_C(1) << 63)

struct touched_ref {		/* a level of the reference machine: tags, the most recent of each set first */
	uint32_t *tag;
	uint32_t mask, ways;
};

struct touched {
	struct touched_way l1[2][TOUCHED_SETS * TOUCHED_WAYS];	/* of data, of code */
	struct touched_ref l2, l3, tlb;
	struct core_misses misses;	/* of the reference machine, so far; without branches */
	uint64_t last_page[2];
	uint64_t *log;		/* words of ST_TOUCH, oldest first */
	size_t logged, room;
	uint64_t *fresh;	/* the same, of pages touched for the first time */
	size_t freshes, fresh_room;
	uint64_t *all;		/* the same, of all of the run before this list */
	size_t alls, all_room;
	size_t compacted;	/* alls when lines that are there twice were last taken out */
	uint64_t *pages_all;	/* the first line touched of each page, in the order of these touches */
	size_t pages_alls, pages_room;
	uint64_t *page;		/* all pages so far: an open hash table; ~0: empty */
	size_t pages, page_mask;
	bool failed;		/* no memory: the list is not complete */
};

/* ERR_NOMEM; call touched_destroy in any case. */
int  touched_create(struct touched *t, struct err *err);
void touched_destroy(struct touched *t);
void touched_forget(struct touched *t);	/* another program runs: no page was touched yet */
/* A new gap begins: its list is empty. */
void touched_begin(struct touched *t);
struct touched_words { uint64_t *word; size_t count; };
/* The list of the gap so far, and a line of each page that it touched first.  The caller may reorder the lines; both
 * are valid until the next call.  ERR_NOMEM. */
int  touched_list(struct touched *t, struct touched_words *lines, struct touched_words *pages, struct err *err);
/* After touched_list: the same of all of the run so far, that gap included. */
int  touched_all(struct touched *t, struct touched_words *lines, struct touched_words *pages, struct err *err);
/* The general case of touched_line. */
void touched_slow(struct touched *t, uint64_t line, bool code, bool written, bool load);

static inline __attribute__((always_inline)) void touched_line(struct touched *t, uint64_t line, bool code,
	bool written, bool load)
{
	struct touched_way *w = &t->l1[code][line % TOUCHED_SETS * TOUCHED_WAYS];
	if (__builtin_expect(w->line != line || (written && !w->written), 0))
		touched_slow(t, line, code, written, load);
}
#endif
