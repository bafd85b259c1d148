/* SPDX-License-Identifier: GPL-2.0-or-later
 * TLB arrays, frames by first touch, paging-structure caches; see tlb.h.  The walks themselves are in translate.c. */
#include "core/tlb.h"
#include <stdlib.h>
#include <string.h>

int tlb_init(struct tlb *t, const char *what, uint32_t entries, uint32_t ways, struct err *err)
{
	memset(t, 0, sizeof(*t));
	uint32_t sets = ways ? entries / ways : 0;
	if (!sets || ways > WAYS_MAX || sets * ways != entries || sets & (sets - 1) || sets * WAYS_MAX > UINT16_MAX)
		return err_set(err, ERR_INPUT, "%s.entries: %u entries in %u ways are not a power of two of sets", what, entries, ways);
	t->sets = sets;
	t->ways = ways;
	t->mask = sets - 1;
	while (1u << t->log2 < ways)
		t->log2++;
	t->page = malloc(((size_t)sets << t->log2) * sizeof(*t->page));
	t->frame = malloc(((size_t)sets << t->log2) * sizeof(*t->frame));
	t->word = malloc(sets * sizeof(*t->word));
	if (!t->page || !t->frame || !t->word) {
		tlb_release(t);
		return err_set(err, ERR_NOMEM, "out of memory for %s", what);
	}
	repl_init(&t->repl, REPL_PLRU, ways);
	tlb_clear(t);
	return 0;
}

void tlb_release(struct tlb *t)
{
	free(t->page);
	free(t->frame);
	free(t->word);
	memset(t, 0, sizeof(*t));
}

void tlb_clear(struct tlb *t)
{
	memset(t->page, 0xff, ((size_t)t->sets << t->log2) * sizeof(*t->page));
	memset(t->frame, 0, ((size_t)t->sets << t->log2) * sizeof(*t->frame));
	memset(t->word, 0, t->sets * sizeof(*t->word));
	memset(t->guess, 0, sizeof(t->guess));
}

void tlb_fill(struct tlb *t, uint64_t page, uint32_t frame)
{
	uint32_t set = (uint32_t)page & t->mask, at = set << t->log2, way = 0;
	while (way < t->ways && t->page[at + way] != VLINE_NONE)
		way++;
	if (way == t->ways)
		way = repl_victim(&t->repl, &t->word[set]);
	t->page[at + way] = page;
	t->frame[at + way] = frame;
	t->guess[page % TLB_GUESSES] = (uint16_t)(at + way);
	repl_insert(&t->repl, &t->word[set], way);
}

enum { FRAMES_FIRST = 4096 };

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

int frames_init(struct frames *f, uint32_t data_end, uint32_t table_first, struct err *err)
{
	memset(f, 0, sizeof(*f));
	f->data_end = data_end;
	f->table_first = table_first;
	f->mask = FRAMES_FIRST - 1;
	f->key = malloc(FRAMES_FIRST * sizeof(*f->key));
	f->frame = malloc(FRAMES_FIRST * sizeof(*f->frame));
	if (!f->key || !f->frame) {
		frames_release(f);
		return err_set(err, ERR_NOMEM, "out of memory for the page map");
	}
	frames_clear(f);
	return 0;
}

void frames_release(struct frames *f)
{
	free(f->key);
	free(f->frame);
	f->key = NULL;
	f->frame = NULL;
}

void frames_clear(struct frames *f)
{
	memset(f->key, 0xff, (f->mask + 1) * sizeof(*f->key));
	f->used = 0;
	f->next_data = 0;
	f->next_table = f->table_first;
}

static bool frames_grow(struct frames *f)
{
	size_t mask = f->mask * 2 + 1;
	uint64_t *key = malloc((mask + 1) * sizeof(*key));
	uint32_t *frame = malloc((mask + 1) * sizeof(*frame));
	if (!key || !frame) {
		free(key);
		free(frame);
		return false;
	}
	memset(key, 0xff, (mask + 1) * sizeof(*key));
	for (size_t i = 0; i <= f->mask; i++) {
		if (f->key[i] == UINT64_MAX)
			continue;
		size_t at = mix(f->key[i]) & mask;
		while (key[at] != UINT64_MAX)
			at = (at + 1) & mask;
		key[at] = f->key[i];
		frame[at] = f->frame[i];
	}
	free(f->key);
	free(f->frame);
	f->key = key;
	f->frame = frame;
	f->mask = mask;
	return true;
}

uint32_t frames_get(struct frames *f, unsigned level, uint64_t page)
{
	uint64_t key = (uint64_t)level << 58 | (page & ((UINT64_C(1) << 58) - 1));
	size_t at = mix(key) & f->mask;
	while (f->key[at] != UINT64_MAX) {
		if (f->key[at] == key)
			return f->frame[at];
		at = (at + 1) & f->mask;
	}
	uint32_t hash = (uint32_t)(mix(key) >> 16);
	uint32_t *next = level ? &f->next_table : &f->next_data;
	uint32_t end = level ? 2 * f->table_first - 2 : f->data_end;	/* the last frames hold LINE_NONE */
	if (*next >= end)
		return level ? f->table_first | hash % (f->table_first - 2) : hash % f->data_end;
	if (f->used * 3 > f->mask * 2) {
		if (!frames_grow(f))
			return level ? f->table_first | hash % (f->table_first - 2) : hash % f->data_end;
		at = mix(key) & f->mask;
		while (f->key[at] != UINT64_MAX)
			at = (at + 1) & f->mask;
	}
	f->key[at] = key;
	f->frame[at] = (*next)++;
	f->used++;
	return f->frame[at];
}

void walk_cache_init(struct walk_cache *w, uint32_t count)
{
	memset(w, 0, sizeof(*w));
	w->count = count < WALK_CACHE_MAX ? count : WALK_CACHE_MAX;
	memset(w->key, 0xff, sizeof(w->key));
}

bool walk_cache_has(struct walk_cache *w, uint64_t key)
{
	if (w->key[w->last] == key)
		return true;
	for (uint32_t i = 0; i < w->count; i++)
		if (w->key[i] == key)
			return true;
	return false;
}

bool walk_cache_use(struct walk_cache *w, uint64_t key)
{
	if (!w->count)
		return false;
	uint32_t at = w->last, oldest = 0;
	bool hit = w->key[at] == key;
	for (uint32_t i = 0; !hit && i < w->count; i++) {
		if (w->key[i] == key) {
			hit = true;
			at = i;
		} else if (w->stamp[i] < w->stamp[oldest]) {
			oldest = i;
		}
	}
	if (!hit)
		at = oldest;
	w->key[at] = key;
	w->stamp[at] = ++w->clock;
	w->last = at;
	return hit;
}
