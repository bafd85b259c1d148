/* SPDX-License-Identifier: GPL-2.0-or-later
 * The lines that a gap touched (touched.h).
 */
#include "run/points/touched.h"
#include "stream/format.h"
#include <stdlib.h>
#include <string.h>

enum {
	/* Words of a list; then lines that are there twice are taken out.  If more than half are left, only the most
	 * recent half is kept: 256 MB of lines, more than any cache that is modelled. */
	LOG_MOST = 1 << 23,
	L2_SETS = 1024, L2_WAYS = 16, L3_SETS = 16384, L3_WAYS = 16, TLB_SETS = 128, TLB_WAYS = 8,
};

static bool create(struct touched_ref *r, uint32_t sets, uint32_t ways)
{
	*r = (struct touched_ref){ .mask = sets - 1, .ways = ways };
	r->tag = malloc((size_t)sets * ways * sizeof *r->tag);
	if (r->tag)
		memset(r->tag, 0xff, (size_t)sets * ways * sizeof *r->tag);
	return r->tag;
}

int touched_create(struct touched *t, struct err *err)
{
	memset(t, 0, sizeof *t);
	memset(t->l1, 0xff, sizeof t->l1);
	memset(t->last_page, 0xff, sizeof t->last_page);
	t->page_mask = (1 << 12) - 1;
	t->page = malloc((t->page_mask + 1) * sizeof *t->page);
	if (!create(&t->l2, L2_SETS, L2_WAYS) || !create(&t->l3, L3_SETS, L3_WAYS) ||
		!create(&t->tlb, TLB_SETS, TLB_WAYS) || !t->page)
		return err_set(err, ERR_NOMEM, "out of memory for what a gap touches");
	memset(t->page, 0xff, (t->page_mask + 1) * sizeof *t->page);
	return 0;
}

void touched_destroy(struct touched *t)
{
	free(t->l2.tag);
	free(t->l3.tag);
	free(t->tlb.tag);
	free(t->page);
	free(t->log);
	free(t->fresh);
	free(t->all);
	free(t->pages_all);
	memset(t, 0, sizeof *t);
}

void touched_forget(struct touched *t)
{
	memset(t->page, 0xff, (t->page_mask + 1) * sizeof *t->page);
	memset(t->tlb.tag, 0xff, (size_t)TLB_SETS * TLB_WAYS * sizeof *t->tlb.tag);
	memset(t->l1, 0xff, sizeof t->l1);
	memset(t->last_page, 0xff, sizeof t->last_page);
	t->pages = t->pages_alls = t->alls = t->compacted = t->logged = t->freshes = 0;
}

/* Looks for the key, and makes it the most recent of its set.  Returns whether it was there. */
static bool use(struct touched_ref *r, uint64_t key)
{
	uint32_t *way = &r->tag[(key & r->mask) * r->ways], i = 0;
	const uint32_t tag = (uint32_t)(key / (r->mask + 1));
	while (i < r->ways - 1 && way[i] != tag)
		i++;
	const bool found = way[i] == tag;
	memmove(way + 1, way, i * sizeof *way);
	way[0] = tag;
	return found;
}

/* --- growing lists --- */

static uint64_t mix(uint64_t n)
{
	n *= UINT64_C(0x9e3779b97f4a7c15);
	return n ^ n >> 29;
}

static void append(struct touched *t, uint64_t **list, size_t *count, size_t *room, uint64_t word)
{
	if (*count == *room) {
		const size_t more = *room ? *room * 2 : 4096;
		uint64_t *bigger = realloc(*list, more * sizeof *bigger);
		if (!bigger) {
			t->failed = true;
			return;
		}
		*list = bigger;
		*room = more;
	}
	(*list)[(*count)++] = word;
}

/* Puts the key into a table with room; returns whether it is new. */
static bool insert(uint64_t *table, size_t mask, uint64_t key, size_t *place)
{
	size_t at = mix(key) & mask;
	while (table[at] != UINT64_MAX && table[at] != key)
		at = (at + 1) & mask;
	const bool fresh = table[at] != key;
	table[at] = key;
	if (place)
		*place = at;
	return fresh;
}

static void grow_pages(struct touched *t)
{
	const size_t mask = t->page_mask * 2 + 1;
	uint64_t *bigger = malloc((mask + 1) * sizeof *bigger);
	if (!bigger) {
		t->failed = true;
		return;
	}
	memset(bigger, 0xff, (mask + 1) * sizeof *bigger);
	for (size_t i = 0; i <= t->page_mask; i++)
		if (t->page[i] != UINT64_MAX)
			insert(bigger, mask, t->page[i], NULL);
	free(t->page);
	t->page = bigger;
	t->page_mask = mask;
}

/* Keeps each line's last place only, with what all of its places say. */
static bool compact(uint64_t *log, size_t *logged)
{
	size_t mask = 1023, to = *logged;
	while (mask < *logged * 2)
		mask = mask * 2 + 1;
	uint64_t *key = malloc((mask + 1) * sizeof *key);
	uint32_t *where = malloc((mask + 1) * sizeof *where);
	if (!key || !where) {
		free(key);
		free(where);
		return false;
	}
	memset(key, 0xff, (mask + 1) * sizeof *key);
	for (size_t i = *logged; i-- > 0;) {
		size_t at;
		const uint64_t word = log[i], line = word & ~(uint64_t)ST_TOUCH_WRITTEN;
		if (insert(key, mask, line, &at)) {
			log[--to] = word;
			where[at] = (uint32_t)to;
		} else {
			log[where[at]] |= word & ST_TOUCH_WRITTEN;
		}
	}
	memmove(log, log + to, (*logged - to) * sizeof *log);
	*logged -= to;
	free(key);
	free(where);
	return true;
}

/* The same of a list that must not become too long: then only its most recent half is left. */
static void shorten(struct touched *t, uint64_t *log, size_t *logged)
{
	t->failed |= !compact(log, logged);
	if (*logged > LOG_MOST / 2) {
		memmove(log, log + *logged - LOG_MOST / 2, LOG_MOST / 2 * sizeof *log);
		*logged = LOG_MOST / 2;
	}
}

/* --- the gap --- */

static void make_stale(struct touched *t)
{
	for (unsigned code = 0; code < 2; code++)
		for (unsigned i = 0; i < TOUCHED_SETS * TOUCHED_WAYS; i++) {
			t->l1[code][i].line |= TOUCHED_STALE;
			t->l1[code][i].written = false;
		}
}

static uint64_t word_of(uint64_t line, bool code, bool written)
{
	return line << ST_TOUCH_BITS | (code ? ST_TOUCH_CODE : 0) | (written ? ST_TOUCH_WRITTEN : 0);
}

/* What L1 holds comes last, the most recent line last. */
static void append_l1(struct touched *t)
{
	for (unsigned i = TOUCHED_WAYS; i-- > 0;)
		for (unsigned set = 0; set < TOUCHED_SETS; set++)
			for (unsigned code = 0; code < 2; code++) {
				const struct touched_way *w = &t->l1[code][set * TOUCHED_WAYS + i];
				if (!(w->line & TOUCHED_STALE))
					append(t, &t->log, &t->logged, &t->room,
						word_of(w->line, code, w->written));
			}
}

/* The list, which is complete, enters that of all of the run. */
static void remember(struct touched *t)
{
	for (size_t i = 0; i < t->logged && !t->failed; i++)
		append(t, &t->all, &t->alls, &t->all_room, t->log[i]);
	if (t->alls < LOG_MOST && t->alls < 2 * t->compacted + 65536)
		return;
	shorten(t, t->all, &t->alls);
	t->compacted = t->alls;
}

void touched_begin(struct touched *t)
{
	append_l1(t);	/* of the window before, which makes these accesses itself */
	remember(t);
	make_stale(t);
	t->logged = t->freshes = 0;
}

/* The line missed L1. */
static void missed(struct touched *t, uint64_t line, bool code, bool written, bool load)
{
	const uint64_t page = line >> TOUCHED_PAGE_LOG2;
	t->misses.l1 += !code;
	t->misses.loads += load;
	if (!use(&t->l2, line)) {
		t->misses.l2++;
		t->misses.l3 += !use(&t->l3, line);
	}
	if (page == t->last_page[code])
		return;
	t->last_page[code] = page;
	if (use(&t->tlb, page))
		return;
	t->misses.walks++;
	if (!insert(t->page, t->page_mask, page, NULL))
		return;
	append(t, &t->fresh, &t->freshes, &t->fresh_room, word_of(line, code, written));
	append(t, &t->pages_all, &t->pages_alls, &t->pages_room, word_of(line, code, written));
	if (++t->pages * 2 > t->page_mask)
		grow_pages(t);
}

void touched_slow(struct touched *t, uint64_t line, bool code, bool written, bool load)
{
	struct touched_way *const set = &t->l1[code][line % TOUCHED_SETS * TOUCHED_WAYS];
	unsigned i = 0;
	while (i < TOUCHED_WAYS - 1 && (set[i].line & ~TOUCHED_STALE) != line)
		i++;
	struct touched_way w = set[i];
	const bool found = (w.line & ~TOUCHED_STALE) == line;
	if (!found)
		missed(t, line, code, written, load);
	if (w.line != line) {	/* it is new to this gap, or comes back */
		w = (struct touched_way){ line, (uint32_t)t->logged, false };
		append(t, &t->log, &t->logged, &t->room, word_of(line, code, false));
	}
	if (written && !w.written && w.log < t->logged) {
		w.written = true;
		t->log[w.log] |= ST_TOUCH_WRITTEN;
	}
	memmove(set + 1, set, i * sizeof *set);
	set[0] = w;
	if (t->logged >= LOG_MOST) {	/* what is in L1 enters the list again when it is touched */
		shorten(t, t->log, &t->logged);
		make_stale(t);
	}
}

int touched_list(struct touched *t, struct touched_words *lines, struct touched_words *pages, struct err *err)
{
	if (!compact(t->log, &t->logged))
		t->failed = true;
	append_l1(t);
	remember(t);
	*lines = (struct touched_words){ t->log, t->logged };
	*pages = (struct touched_words){ t->fresh, t->freshes };
	t->logged = t->freshes = 0;
	make_stale(t);
	return t->failed ? err_set(err, ERR_NOMEM, "out of memory for the lines that a gap touches") : 0;
}

int touched_all(struct touched *t, struct touched_words *lines, struct touched_words *pages, struct err *err)
{
	shorten(t, t->all, &t->alls);
	t->compacted = t->alls;
	for (size_t i = t->logged = 0; i < t->alls && !t->failed; i++)
		append(t, &t->log, &t->logged, &t->room, t->all[i]);
	*lines = (struct touched_words){ t->log, t->logged };
	*pages = (struct touched_words){ t->pages_all, t->pages_alls };
	t->logged = 0;
	return t->failed ? err_set(err, ERR_NOMEM, "out of memory for the lines that a program touches") : 0;
}
