/* SPDX-License-Identifier: GPL-2.0-or-later
 * The hash map of told pages (told_map.h): open addressing, of which nothing is ever removed.  A page of 4 MB has two
 * entries of 2 MB. */
#include "core/paging/told_map.h"
#include "core/memory/tlb.h"
#include <stdlib.h>
#include <string.h>

enum { TOLD_FIRST = 4096, SIZES = 3 };
static const uint8_t size_shift[SIZES] = { 12, HUGE_SHIFT, GIANT_SHIFT };

static uint64_t key_of(uint64_t addr, unsigned size)
{
	return addr >> size_shift[size] | (uint64_t)size << 60;
}

static size_t place(const struct told *t, uint64_t key)
{
	uint64_t h = (key ^ key >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (h ^ h >> 32) & t->mask;
}

struct told *told_create(void)
{
	struct told *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->page = malloc(TOLD_FIRST * sizeof *t->page);
	if (!t->page) {
		free(t);
		return NULL;
	}
	t->mask = TOLD_FIRST - 1;
	memset(t->page, 0xff, TOLD_FIRST * sizeof *t->page);
	return t;
}

void told_destroy(struct told *t)
{
	if (t)
		free(t->page);
	free(t);
}

/* The entry of the key, or the empty one where it belongs. */
static struct told_page *at_key(const struct told *t, uint64_t key)
{
	size_t at = place(t, key);
	while (t->page[at].key != key && t->page[at].key != UINT64_MAX)
		at = (at + 1) & t->mask;
	return &t->page[at];
}

const struct told_page *told_find(const struct told *t, uint64_t addr)
{
	for (unsigned size = 0; size < SIZES; size++) {
		if (!t->of_size[size])
			continue;
		const struct told_page *p = at_key(t, key_of(addr, size));
		if (p->key != UINT64_MAX && p->leaf)
			return p;
	}
	return NULL;
}

uint32_t told_huge(const struct told *t, uint64_t addr)
{
	const struct told_page *p = told_find(t, addr);
	if (!p || p->leaf == 1)
		return NO_FRAME;
	const uint64_t within = p->leaf == 3 ? addr & ((UINT64_C(1) << GIANT_SHIFT) - 1) : 0;
	return p->frame + (uint32_t)(within >> HUGE_SHIFT << (HUGE_SHIFT - 12));
}

uint32_t told_frame(const struct told *t, uint64_t page, uint32_t table_first)
{
	const struct told_page *p = told_find(t, page << 12);
	if (p)
		return p->frame + (uint32_t)(page & ((UINT64_C(1) << (size_shift[p->leaf - 1] - 12)) - 1));
	const uint64_t h = (page ^ page >> 29) * UINT64_C(0xd6e8feb86659fd93);
	return table_first + (uint32_t)(h >> 32) % (table_first - 2);
}

static bool grow(struct told *t)
{
	const size_t was = t->mask + 1;
	struct told_page *old = t->page, *bigger = malloc(2 * was * sizeof *bigger);
	if (!bigger)
		return false;
	memset(bigger, 0xff, 2 * was * sizeof *bigger);
	t->page = bigger;
	t->mask = 2 * was - 1;
	for (size_t i = 0; i < was; i++)
		if (old[i].key != UINT64_MAX)
			*at_key(t, old[i].key) = old[i];
	free(old);
	return true;
}

/* Pages of another size that cover the same addresses are no longer there. */
static void replace(struct told *t, uint64_t addr, unsigned size, struct told_page *was)
{
	for (unsigned other = 0; other < SIZES; other++) {
		if (other == size || !t->of_size[other])
			continue;
		const uint64_t pieces = other < size ? UINT64_C(1) << (size_shift[size] - size_shift[other]) : 1;
		for (uint64_t i = 0; i < pieces; i++) {
			struct told_page *p = at_key(t, key_of(addr + (i << size_shift[other]), other));
			if (p->key == UINT64_MAX || !p->leaf)
				continue;
			*was = *p;
			p->leaf = 0;
			t->of_size[other]--;
		}
	}
}

int told_enter(struct told *t, const struct st_page *p, unsigned line_log2, struct told_page *was, struct err *err)
{
	const unsigned size = p->shift == 12 ? 0 : p->shift == GIANT_SHIFT ? 2 : 1;
	was->leaf = 0;
	const uint64_t step = UINT64_C(1) << size_shift[size];
	for (uint64_t addr = p->addr; addr - p->addr < UINT64_C(1) << p->shift; addr += step) {
		if (t->used * 3 > t->mask * 2 && !grow(t))
			return err_set(err, ERR_NOMEM, "out of memory for the guest's pages");
		struct told_page *at = at_key(t, key_of(addr, size));
		t->used += at->key == UINT64_MAX;
		if (at->key != UINT64_MAX && at->leaf)
			*was = *at;
		else {
			t->of_size[size]++;
			if (t->used > t->of_size[size])
				replace(t, addr, size, was);
		}
		*at = (struct told_page){ .key = key_of(addr, size), .leaf = (uint8_t)(size + 1), .global = p->global,
			.frame = (uint32_t)((p->frame + (addr - p->addr)) >> 12), .bits = p->entry_bytes == 4 ? 10 : 9,
			.levels = p->levels < ST_PAGE_LEVELS ? p->levels : ST_PAGE_LEVELS };
		for (unsigned i = 0; i < at->levels; i++)
			at->entry[i] = (uint32_t)(p->entry[i] >> line_log2);
	}
	return 0;
}
