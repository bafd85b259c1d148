/* SPDX-License-Identifier: GPL-2.0-or-later
 * What told pages mean to TLBs, paging-structure caches and the L1s (told.h). */
#include "core/memory/memsys_state.h"

int memsys_told(struct memsys *m, struct err *err)
{
	if (m->page_shift != 12)
		return err_set(err, ERR_UNSUPPORTED, "memory.page: a whole machine has pages of its own");
	if (!m->told && !(m->told = told_create()))
		return err_set(err, ERR_NOMEM, "out of memory for the guest's pages");
	m->zeroed = false;	/* the guest's kernel clears its pages itself */
	return 0;
}

struct told_page *memsys_told_find(struct memsys *m, uint64_t addr)
{
	return (struct told_page *)told_find(m->told, addr);
}

/* A line's name from its physical address alone.  It is taken by the reads of walks, too, and told_alias finds it. */
static void unname(struct memsys *m, struct l1 *c, uint32_t slot)
{
	const uint64_t name = VLINE_TABLE(c->line[slot]);
	if (((uint32_t)name & c->mask) == slot >> c->log2) {
		c->vline[slot] = name;
		return;
	}
	if (c->state[slot] & LINE_DIRTY)
		l2_write_back(m, c->line[slot], m->shared->latest, false);
	l1_drop(c, (int32_t)slot);
}

static void unname_page(struct memsys *m, struct l1 *c, uint64_t addr, unsigned shift)
{
	const uint64_t first = linear_line(m, addr), lines = UINT64_C(1) << (shift - m->line_log2);
	for (uint32_t at = 0; at < c->sets << c->log2; at++)
		if (c->vline[at] != VLINE_NONE && c->vline[at] - first < lines)
			unname(m, c, at);
}

int32_t told_alias(struct memsys *m, struct l1 *c, uint64_t vline, uint32_t line, uint64_t cycle, bool timed)
{
	const int32_t slot = l1_find_physical(c, line);
	if (slot < 0)
		return -1;
	if ((uint32_t)slot >> c->log2 != ((uint32_t)vline & c->mask)) {
		if (c->state[slot] & LINE_DIRTY)
			l2_write_back(m, line, cycle, timed);
		l1_drop(c, slot);
		return -1;
	}
	c->vline[slot] = vline;
	c->guess[vline % L1_GUESSES] = (uint16_t)slot;
	return slot;
}

enum { TLBS = 6 };
static void all_tlbs(struct memsys *m, struct tlb *t[TLBS])
{
	struct tlb *const all[TLBS] = { &m->dtlb, &m->dtlb_huge, &m->itlb, &m->itlb_huge,
		m->has_dtlb_store ? &m->dtlb_store : NULL, m->has_stlb ? &m->stlb : NULL };
	for (unsigned i = 0; i < TLBS; i++)
		t[i] = all[i];
}

/* The linear address of an entry's page. */
static uint64_t page_address(uint64_t page)
{
	const bool huge = page >> 61 == 1;
	return huge ? (page & ~HUGE_KEY(0)) << HUGE_SHIFT : page << 12;
}

/* Should a drop take this entry? */
static bool dropped(const struct memsys *m, enum st_drop_what what, uint64_t addr, uint64_t page)
{
	const uint64_t at = page_address(page);
	const uint64_t low = (UINT64_C(1) << ST_SPACE_SHIFT) - 1;
	if (what == ST_DROP_ALL)
		return true;
	if (what == ST_DROP_SPACE && (at >> 63 || at >> ST_SPACE_SHIFT != addr))
		return false;
	const struct told_page *p = told_find(m->told, at);
	const bool global = p && p->global;
	if (what != ST_DROP_PAGE)
		return !global;
	/* INVLPG: a global page leaves for all spaces; one of 4 MB with both its halves, one of 1 GB with all pieces */
	const unsigned shift = !p || p->leaf == 1 ? 12 : p->leaf == 3 ? GIANT_SHIFT : p->bits == 10 ? 22 : HUGE_SHIFT;
	const uint64_t differs = (at ^ addr) >> shift << shift;
	return !(global && !(addr >> 63) ? differs & low : differs);
}

/* Has the page one entry, of 4 KB or 2 MB, in one space?  Then nobody need look at all of them. */
static bool has_one_entry(const struct memsys *m, uint64_t addr)
{
	const struct told_page *p = told_find(m->told, addr);
	if (!p)
		return true;
	return (!p->global || addr >> 63) && (p->leaf == 1 || (p->leaf == 2 && p->bits == 9));
}

static void drop_one(struct tlb *t, uint64_t page)
{
	const int32_t slot = tlb_find(t, page);
	if (slot >= 0)
		tlb_drop(t, (uint32_t)slot);
}

static void drop_entries(struct memsys *m, enum st_drop_what what, uint64_t addr, bool one)
{
	struct tlb *t[TLBS];
	all_tlbs(m, t);
	for (unsigned k = 0; k < TLBS; k++) {
		if (t[k] && one) {
			drop_one(t[k], addr >> 12);
			drop_one(t[k], HUGE_KEY(addr));
			continue;
		}
		for (uint32_t i = 0; t[k] && i < t[k]->sets << t[k]->log2; i++)
			if (t[k]->page[i] != VLINE_NONE && dropped(m, what, addr, t[k]->page[i]))
				tlb_drop(t[k], i);
	}
	m->last_page = m->last_store_page = m->last_code_page = VLINE_NONE;
	/* INVLPG empties the paging-structure caches of its space, whatever the address (SDM vol. 3A, "Operations that
	 * Invalidate TLBs and Paging-Structure Caches"); those of other spaces are few here */
	for (unsigned l = 1; l < WALK_LEVELS; l++)
		walk_cache_init(&m->walk.cache[l], m->walk.cache[l].count);
}

void memsys_told_drop(struct memsys *m, enum st_drop_what what, uint64_t addr)
{
	drop_entries(m, what, addr, what == ST_DROP_PAGE && has_one_entry(m, addr));
}

int memsys_told_page(struct memsys *m, const struct st_page *p, bool *moved, struct err *err)
{
	/* The upper half of the frames is for pages that nobody told. */
	const uint64_t end = (uint64_t)m->shared->frames.table_first << 12;
	struct told_page was;
	*moved = false;
	if ((p->shift != 12 && p->shift != 21 && p->shift != 22 && p->shift != 30) ||
		p->addr & ((UINT64_C(1) << p->shift) - 1) || p->frame & ((UINT64_C(1) << p->shift) - 1))
		return err_set(err, ERR_INPUT, "a guest's page of 2^%u bytes at 0x%llx does not lie on its boundary",
			p->shift, (unsigned long long)p->addr);
	bool beyond = p->frame >= end;
	for (unsigned i = 0; i < p->levels && i < ST_PAGE_LEVELS; i++)
		beyond |= p->entry[i] >= end;
	if (beyond)
		return err_set(err, ERR_INPUT, "the guest's physical address 0x%llx is beyond the %llu GB that caches "
			"can tell apart", (unsigned long long)p->frame, (unsigned long long)(end >> 30));
	const int rc = told_enter(m->told, p, m->line_log2, &was, err);
	if (rc < 0)
		return rc;
	const struct told_page *is = told_find(m->told, p->addr);
	/* of several pages that it replaces, one is enough to say that something is elsewhere */
	*moved = was.leaf && (was.leaf != is->leaf || was.key != is->key || was.frame != is->frame);
	if (!*moved)
		return 0;
	unname_page(m, &m->l1d, p->addr, p->shift);
	unname_page(m, &m->l1i, p->addr, p->shift);
	drop_entries(m, ST_DROP_PAGE, p->addr, p->shift == 12);	/* those of the pages that it replaces, too */
	return 0;
}
