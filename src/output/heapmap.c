/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks by address (heapmap.h): blocks of up to a page in lists by the page on which they begin, larger ones in an
 * array sorted by address.
 *
 * A new block drops the blocks that it covers if they were allocated at least LINGER cycles ago.  Younger ones stay
 * beside it; a lookup returns the youngest block that was already allocated at the given time.  A block stays in
 * memory until its place is reused, so there are at most as many as at the program's own peak.
 */
#include "output/heapmap.h"
#include "util/err.h"
#include "util/grow.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE_SHIFT = 12, PAGE = 1 << PAGE_SHIFT, LINGER = 4000 };
#define NONE UINT32_MAX

struct node { struct heapmap_block block; uint32_t next; };
struct heapmap {
	struct node *node;
	uint32_t nodes, room, unused;	/* unused: list of free nodes */
	uint32_t *bucket;		/* heads of lists, by hash of the page */
	uint32_t buckets, filled;	/* filled: blocks in lists */
	struct heapmap_block *large;	/* in order of start */
	size_t larges, large_room;
};

struct heapmap *heapmap_create(void)
{
	struct heapmap *h = calloc(1, sizeof *h);
	if (h)
		h->unused = NONE;
	return h;
}

void heapmap_destroy(struct heapmap *h)
{
	if (!h)
		return;
	free(h->node);
	free(h->bucket);
	free(h->large);
	free(h);
}

static uint32_t *head(const struct heapmap *h, uint64_t page)
{
	return &h->bucket[(uint32_t)((page * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (h->buckets - 1)];
}

static int rehash(struct heapmap *h)
{
	uint32_t buckets = h->buckets ? h->buckets * 2 : 1024, *old = h->bucket, olds = h->buckets;
	uint32_t *bucket = malloc(buckets * sizeof *bucket);
	if (!bucket)
		return ERR_NOMEM;
	memset(bucket, 0xff, buckets * sizeof *bucket);
	h->bucket = bucket;
	h->buckets = buckets;
	for (uint32_t i = 0; i < olds; i++)
		for (uint32_t n = old[i], next; n != NONE; n = next) {
			uint32_t *at = head(h, h->node[n].block.start >> PAGE_SHIFT);
			next = h->node[n].next;
			h->node[n].next = *at;
			*at = n;
		}
	free(old);
	return 0;
}

static bool covers(const struct heapmap_block *b, uint64_t start, uint64_t end)
{
	return b->start < end && start < b->end;
}

/* The list of the blocks that begin on this page. */
static void drop_small(struct heapmap *h, uint64_t page, uint64_t start, uint64_t end, uint64_t before)
{
	for (uint32_t *at = head(h, page); *at != NONE;) {
		struct node *n = &h->node[*at];
		if (n->block.start >> PAGE_SHIFT == page && covers(&n->block, start, end) && n->block.from <= before) {
			uint32_t gone = *at;
			*at = n->next;
			n->next = h->unused;
			h->unused = gone;
			h->filled--;
		} else {
			at = &n->next;
		}
	}
}

/* Returns the first large block that begins at `start` or above. */
static size_t large_at(const struct heapmap *h, uint64_t start)
{
	size_t low = 0, high = h->larges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (h->large[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void drop_large(struct heapmap *h, uint64_t start, uint64_t end, uint64_t before)
{
	size_t kept = 0;
	for (size_t i = 0; i < h->larges; i++)
		if (!covers(&h->large[i], start, end) || h->large[i].from > before)
			h->large[kept++] = h->large[i];
	h->larges = kept;
}

static int add_large(struct heapmap *h, const struct heapmap_block *b)
{
	struct heapmap_block *grown = grow_array(h->large, h->larges, &h->large_room, 64, sizeof *grown);
	if (!grown)
		return ERR_NOMEM;
	h->large = grown;
	size_t at = large_at(h, b->start);
	memmove(&h->large[at + 1], &h->large[at], (h->larges++ - at) * sizeof *b);
	h->large[at] = *b;
	return 0;
}

static int add_small(struct heapmap *h, const struct heapmap_block *b)
{
	uint32_t n = h->unused;
	if (h->filled >= h->buckets && h->buckets < UINT32_C(1) << 30 && rehash(h))
		return ERR_NOMEM;
	if (n != NONE) {
		h->unused = h->node[n].next;
	} else {
		if (h->nodes == h->room) {
			uint32_t room = h->room ? h->room * 2 : 1024;
			struct node *grown = room > h->room ? realloc(h->node, room * sizeof *grown) : NULL;
			if (!grown)
				return ERR_NOMEM;
			h->node = grown;
			h->room = room;
		}
		n = h->nodes++;
	}
	uint32_t *at = head(h, b->start >> PAGE_SHIFT);
	h->node[n] = (struct node){ *b, *at };
	*at = n;
	h->filled++;
	return 0;
}

int heapmap_add(struct heapmap *h, uint64_t addr, uint64_t bytes, uint64_t site, uint32_t function, uint64_t cycle)
{
	struct heapmap_block b = { addr, addr + (bytes ? bytes : 1), site, cycle, function, 0 };
	uint64_t before = cycle > LINGER ? cycle - LINGER : 0;
	if (b.end <= b.start)
		return 0;
	if (h->larges)
		drop_large(h, b.start, b.end, before);
	/* Small blocks covered by a large one stay, except on its first pages: they are older, so a lookup never
	 * returns them. */
	uint64_t first = b.start >> PAGE_SHIFT, last = (b.end - 1) >> PAGE_SHIFT;
	if (last - first > 16)
		last = first + 16;
	for (uint64_t page = first ? first - 1 : 0; page <= last && h->buckets; page++)
		drop_small(h, page, b.start, b.end, before);
	return b.end - b.start > PAGE ? add_large(h, &b) : add_small(h, &b);
}

void heapmap_remove(struct heapmap *h, uint64_t addr)
{
	drop_large(h, addr, addr + 1, UINT64_MAX);
	uint64_t page = addr >> PAGE_SHIFT;
	for (uint64_t p = page ? page - 1 : 0; h->buckets && p <= page; p++)
		drop_small(h, p, addr, addr + 1, UINT64_MAX);
}

/* Returns the youngest block allocated by that time, or the oldest if all are younger. */
static bool better(const struct heapmap_block *b, const struct heapmap_block *best, uint64_t cycle)
{
	if (!best || (b->from <= cycle) != (best->from <= cycle))
		return !best || b->from <= cycle;
	return b->from <= cycle ? b->from >= best->from : b->from < best->from;
}

struct heapmap_block *heapmap_find(struct heapmap *h, uint64_t addr, uint64_t cycle)
{
	struct heapmap_block *best = NULL;
	uint64_t page = addr >> PAGE_SHIFT;
	for (size_t i = 0; i < h->larges && h->large[i].start <= addr; i++)
		if (addr < h->large[i].end && better(&h->large[i], best, cycle))
			best = &h->large[i];
	for (uint64_t p = page ? page - 1 : 0; h->buckets && p <= page; p++)
		for (uint32_t n = *head(h, p); n != NONE; n = h->node[n].next) {
			struct heapmap_block *b = &h->node[n].block;
			if (addr >= b->start && addr < b->end && better(b, best, cycle))
				best = b;
		}
	return best;
}
