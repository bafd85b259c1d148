/* SPDX-License-Identifier: GPL-2.0-or-later
 * TLB arrays, frames by first touch, paging-structure caches; see tlb.h.  The walks themselves are in translate.c. */
#include "core/memory/tlb.h"
#include <stdlib.h>
#include <string.h>

int tlb_init(struct tlb *t, const char *what, uint32_t entries, uint32_t ways, struct err *err)
{
	memset(t, 0, sizeof(*t));
	uint32_t sets = ways ? entries / ways : 0;
	if (!sets || ways > WAYS_MAX || sets * ways != entries || sets & (sets - 1) || sets * WAYS_MAX > UINT16_MAX)
		return err_set(err, ERR_INPUT, "%s.entries: %u entries in %u ways do not make a power of two of sets",
			what, entries, ways);
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

/* A permutation of 0 to end - 1: permutes the numbers below the next power of two, and again until the result is
 * below end.
 * Every step is invertible. */
static uint32_t scattered(uint32_t n, uint32_t end)
{
	unsigned bits = end > 2 ? 32 - (unsigned)__builtin_clz(end - 1) : 2;
	const uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1);
	do {
		n ^= n >> (bits / 2);
		n = n * UINT32_C(0x9e3779b1) & mask;
		n ^= n >> (bits / 2);
		n = n * UINT32_C(0x85ebca6b) & mask;
		n ^= n >> (bits / 2);
	} while (n >= end);
	return n;
}

int frames_init(struct frames *f, uint32_t data_end, uint32_t table_first, uint32_t scattered, struct err *err)
{
	memset(f, 0, sizeof(*f));
	f->scattered = scattered;
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
	free(f->huge);
	free(f->note);
	f->note = NULL;
	f->key = NULL;
	f->frame = NULL;
	f->huge = NULL;
	f->huges = f->huge_room = 0;
}

void frames_clear(struct frames *f)
{
	f->huges = f->notes = f->followed = 0;
	memset(f->key, 0xff, (f->mask + 1) * sizeof(*f->key));
	f->used = 0;
	f->next_scattered = 0;
	f->next_data = f->scattered && f->scattered < 100 ? f->data_end / 4 : 0;
	f->next_huge = f->data_end / 2;
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

/* An entry was made or changed.  Without memory the next frames_follow copies the whole map. */
static void note(struct frames *f, uint64_t key, uint32_t frame)
{
	if (__builtin_expect(!f->note, 1))
		return;
	if (f->notes == f->note_room) {
		struct frame_note *bigger = realloc(f->note, 2 * f->note_room * sizeof *bigger);
		if (!bigger) {
			f->notes_lost = true;
			return;
		}
		f->note = bigger;
		f->note_room *= 2;
	}
	f->note[f->notes++] = (struct frame_note){ key, frame };
}

static uint64_t key_of(unsigned level, uint64_t page)
{
	return (uint64_t)level << 58 | (page & ((UINT64_C(1) << 58) - 1));
}

uint32_t frames_get(struct frames *f, unsigned level, uint64_t page)
{
	uint64_t key = key_of(level, page);
	size_t at = mix(key) & f->mask;
	while (f->key[at] != UINT64_MAX) {
		if (f->key[at] == key)
			return f->frame[at];
		at = (at + 1) & f->mask;
	}
	uint32_t hash = (uint32_t)(mix(key) >> 16);
	const bool all_over = !level && f->scattered && mix(~key) % 100 < f->scattered;
	uint32_t *next = level ? &f->next_table : all_over ? &f->next_scattered : &f->next_data;
	/* the last frames hold LINE_NONE */
	uint32_t end = level ? 2 * f->table_first - 2 : !f->scattered ? f->data_end :
		       all_over && f->scattered < 100 ? f->data_end / 4 : f->data_end / 2;
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
	f->frame[at] = all_over ? scattered(*next, end) : *next;
	++*next;
	f->used++;
	note(f, key, f->frame[at]);
	return f->frame[at];
}

/* --- huge pages --- */

enum { LEVEL_HUGE = 8 };		/* level of a 2 MB piece, whose value is its first frame or one of these: */
#define PIECE_SMALL (NO_FRAME - 1)	/* its pages are small */
#define PIECE_OPEN (NO_FRAME - 2)	/* not decided yet, because it was unmapped */

static uint32_t *piece_of(const struct frames *f, uint64_t key)
{
	for (size_t at = mix(key) & f->mask; f->key[at] != UINT64_MAX; at = (at + 1) & f->mask)
		if (f->key[at] == key)
			return &f->frame[at];
	return NULL;
}

bool frames_has(const struct frames *f, uint64_t page)
{
	return piece_of(f, key_of(0, page));
}

/* Decides at the first touch of a piece: returns its first frame, or PIECE_SMALL. */
static uint32_t piece_decide(struct frames *f, uint64_t piece)
{
	uint32_t *next = f->scattered ? &f->next_huge : &f->next_data,
		 first = (*next + HUGE_PAGES - 1) / HUGE_PAGES * HUGE_PAGES;
	for (unsigned i = 0; i < HUGE_PAGES; i++)
		if (piece_of(f, key_of(0, piece * HUGE_PAGES + i)))
			return PIECE_SMALL;
	if (first > f->data_end || f->data_end - first < HUGE_PAGES)
		return PIECE_SMALL;
	*next = first + HUGE_PAGES;
	return first;
}

uint32_t frames_huge(struct frames *f, uint64_t addr)
{
	uint64_t piece = addr >> HUGE_SHIFT, key = key_of(LEVEL_HUGE, piece);
	size_t low = 0, high = f->huges;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (f->huge[middle].end <= piece)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == f->huges || piece < f->huge[low].first)
		return NO_FRAME;
	uint32_t *known = piece_of(f, key);
	if (!known) {
		if (f->used * 3 > f->mask * 2 && !frames_grow(f))
			return NO_FRAME;
		size_t at = mix(key) & f->mask;
		while (f->key[at] != UINT64_MAX)
			at = (at + 1) & f->mask;
		f->key[at] = key;
		f->used++;
		known = &f->frame[at];
		*known = PIECE_OPEN;
	}
	if (*known == PIECE_OPEN) {
		*known = piece_decide(f, piece);
		note(f, key, *known);
	}
	return *known == PIECE_SMALL ? NO_FRAME : *known;
}

/* Room for `more` ranges. */
static bool ranges_room(struct frames *f, size_t more)
{
	if (f->huges + more <= f->huge_room)
		return true;
	size_t room = f->huge_room * 2 + 16;
	struct huge_range *r = realloc(f->huge, room * sizeof *r);
	if (!r)
		return false;
	f->huge = r;
	f->huge_room = room;
	return true;
}

bool frames_mark(struct frames *f, uint64_t addr, uint64_t bytes, bool huge)
{
	uint64_t last = bytes && addr + (bytes - 1) < addr ? UINT64_MAX : addr + bytes - 1;
	if (!bytes || (huge && f->small_only) || (!huge && !f->huges))
		return false;
	/* A piece loses its mark if any byte of it does, and gets one only if all of it lies in a marked range. */
	uint64_t first = addr >> HUGE_SHIFT, end = (last >> HUGE_SHIFT) + 1;
	if (huge) {
		first += (addr & ((1 << HUGE_SHIFT) - 1)) != 0;
		end -= (last & ((1 << HUGE_SHIFT) - 1)) != (1 << HUGE_SHIFT) - 1;
		if (first >= end)
			return false;
	}
	if (!ranges_room(f, 2))
		return false;
	size_t at = 0, n = 0;
	while (at < f->huges && f->huge[at].end <= first)
		at++;
	while (at + n < f->huges && f->huge[at + n].first < end)
		n++;
	if (!huge && !n)
		return false;
	struct huge_range new[3];
	size_t news = 0;
	bool before = n && f->huge[at].first < first, after = n && f->huge[at + n - 1].end > end;
	uint64_t from = before ? f->huge[at].first : first, to = after ? f->huge[at + n - 1].end : end;
	if (huge) {
		new[news++] = (struct huge_range){ from, to };
	} else {
		if (before)
			new[news++] = (struct huge_range){ from, first };
		if (after)
			new[news++] = (struct huge_range){ end, to };
	}
	memmove(&f->huge[at + news], &f->huge[at + n], (f->huges - at - n) * sizeof *f->huge);
	memcpy(&f->huge[at], new, news * sizeof *new);
	f->huges += news - n;
	if (huge)
		return false;	/* pages touched before stay small */
	for (size_t i = 0; i <= f->mask; i++)
		if (f->key[i] != UINT64_MAX && f->key[i] >> 58 == LEVEL_HUGE &&
			f->key[i] - key_of(LEVEL_HUGE, first) < end - first) {
			f->frame[i] = PIECE_OPEN;
			note(f, f->key[i], PIECE_OPEN);
		}
	return true;
}

/* --- one map that follows another --- */

void frames_keep_notes(struct frames *f)
{
	f->note_room = FRAMES_FIRST;
	f->note = malloc(f->note_room * sizeof *f->note);
	f->notes_lost = !f->note;
	f->followed = SIZE_MAX;
}

/* Takes an entry out, and moves those behind it that were pushed on by it. */
static void take_out(struct frames *f, uint64_t key)
{
	size_t at = mix(key) & f->mask;
	while (f->key[at] != key) {
		if (f->key[at] == UINT64_MAX)
			return;
		at = (at + 1) & f->mask;
	}
	f->used--;
	for (size_t next = (at + 1) & f->mask; f->key[next] != UINT64_MAX; next = (next + 1) & f->mask) {
		const size_t home = mix(f->key[next]) & f->mask;
		if (((next - home) & f->mask) < ((next - at) & f->mask))
			continue;
		f->key[at] = f->key[next];
		f->frame[at] = f->frame[next];
		at = next;
	}
	f->key[at] = UINT64_MAX;
}

static bool put_in(struct frames *f, uint64_t key, uint32_t frame)
{
	if (f->used * 3 > f->mask * 2 && !frames_grow(f))
		return false;
	size_t at = mix(key) & f->mask;
	while (f->key[at] != UINT64_MAX && f->key[at] != key)
		at = (at + 1) & f->mask;
	f->used += f->key[at] != key;
	f->key[at] = key;
	f->frame[at] = frame;
	return true;
}

/* Both as they are without notes. */
static bool copy_all(struct frames *to, const struct frames *from)
{
	bool all = true;
	memset(to->key, 0xff, (to->mask + 1) * sizeof *to->key);
	to->used = 0;
	for (size_t i = 0; i <= from->mask; i++)
		if (from->key[i] != UINT64_MAX)
			all &= put_in(to, from->key[i], from->frame[i]);
	return all;
}

int frames_follow(struct frames *to, const struct frames *from, struct err *err)
{
	bool all = true;
	if (to->notes_lost || from->notes_lost || !from->note || to->followed > from->notes) {
		all = copy_all(to, from);
	} else {
		for (size_t i = 0; i < to->notes; i++)
			take_out(to, to->note[i].key);
		/* what `to` had changed of older entries is put back, too */
		for (size_t i = 0; i < to->notes; i++) {
			const uint32_t *known = piece_of(from, to->note[i].key);
			all &= !known || put_in(to, to->note[i].key, *known);
		}
		for (size_t i = to->followed; i < from->notes; i++)
			all &= put_in(to, from->note[i].key, from->note[i].frame);
	}
	to->notes = 0;
	to->followed = from->notes;
	to->huges = 0;
	all &= ranges_room(to, from->huges);
	if (all && from->huges)
		memcpy(to->huge, from->huge, from->huges * sizeof *to->huge);
	to->huges = all ? from->huges : 0;
	to->next_data = from->next_data;
	to->next_scattered = from->next_scattered;
	to->next_table = from->next_table;
	to->next_huge = from->next_huge;
	return all ? 0 : err_set(err, ERR_NOMEM, "out of memory for the page map");
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

bool frames_map_like(struct frames *f, const struct frames *like)
{
	if (!ranges_room(f, like->huges))
		return false;
	if (like->huges)
		memcpy(f->huge, like->huge, like->huges * sizeof *f->huge);
	f->huges = like->huges;
	return true;
}
