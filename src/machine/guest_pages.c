/* SPDX-License-Identifier: GPL-2.0-or-later
 * The guest's page tables (machine.h): which pages the core knows, and what it is to forget.
 *
 * The core keeps what it was told of a page; its stamp says when that was told or found to hold still.  A drop moves
 * the clock on, so that pages that it means are asked of the emulator again at their next use, and told again if they
 * have changed.
 *
 * Address spaces are told apart by their tables, not by PCIDs: a linear address below 2^47 has the number of its tables
 * in bits 47 and up.  A PCID belongs to the tables that were last loaded with it; loading others with it, or the same
 * with another, drops what is old, as the operating system must have asked for.
 * Pages of addresses from 2^47 on are taken to be the same in all spaces, so a drop of one space leaves them alone.
 * Without PCIDs a write of CR3 drops all that is not global, as the machine does.
 *
 * An emulator without `walk` has no page tables; then the core gives frames by first touch in each space.
 */
#include "machine/guest_internal.h"
#include "core/paging/told.h"
#include "core/paging/told_map.h"
#include <stdlib.h>
#include <string.h>

int guest_pages_create(struct guest *g, struct err *err)
{
	g->pages = calloc(1, sizeof *g->pages);
	if (!g->pages)
		return err_set(err, ERR_NOMEM, "out of memory for the guest's pages");
	g->pages->clock = 1;
	g->pages->dropped = -1;
	if (!g->emulator.walk)
		return 0;
	if (!(g->pages->told = told_create()))
		return err_set(err, ERR_NOMEM, "out of memory for the guest's pages");
	return core_told(g->core, err);
}

void guest_pages_destroy(struct guest *g)
{
	if (g->pages)
		told_destroy(g->pages->told);
	free(g->pages);
}

struct told_page *guest_pages_find(const struct guest *g, uint64_t addr)
{
	return g->pages->told ? (struct told_page *)told_find(g->pages->told, addr) : NULL;
}

/* Is what the core knows of the page still what the machine has? */
static bool current(const struct guest_pages *p, const struct told_page *t, uint64_t addr)
{
	if (t->stamp < p->all)
		return false;
	if (t->global)
		return true;
	return t->stamp >= p->not_global &&
		(addr >> 63 || t->stamp >= p->space[(addr >> ST_SPACE_SHIFT) % GUEST_SPACES]);
}

static bool same(const struct told_page *t, const struct st_page *p, unsigned line_log2)
{
	const unsigned leaf = p->shift == 12 ? 1 : p->shift == 30 ? 3 : 2;
	bool is = t->leaf == leaf && t->levels == p->levels && t->global == p->global && t->frame == p->frame >> 12;
	for (unsigned i = 0; is && i < t->levels; i++)
		is = t->entry[i] == (uint32_t)(p->entry[i] >> line_log2);
	return is;
}

void guest_pages_ask(struct guest *g, uint64_t addr)
{
	struct guest_pages *p = g->pages;
	if (!g->emulator.walk || g->failed)
		return;
	struct told_page *t = guest_pages_find(g, addr);
	if (!t || !current(p, t, addr)) {
		struct guest_page found;
		const uint64_t low = (UINT64_C(1) << ST_SPACE_SHIFT) - 1;
		const uint64_t linear = addr >> 63 ? addr : addr & low;
		/* no page: the access faults, or nobody makes it */
		if (!g->emulator.walk(g->emulator.context, linear, &found))
			return;
		struct st_page s = { .addr = addr >> found.shift << found.shift, .frame = found.frame,
			.shift = found.shift, .levels = found.levels, .entry_bytes = found.entry_bytes,
			.global = found.global && p->mode & GUEST_GLOBAL_PAGES };
		memcpy(s.entry, found.entry, sizeof s.entry);
		/* a 4 MB page is two of 2 MB in the core, of which `t` is one */
		const uint64_t half = t && found.shift == 22 ? addr & 1u << 21 : 0;
		struct st_page as = s;
		as.frame += half;
		if (!t || !same(t, &as, 6 - g->config.cache_line))
			guest_core_page(g, &s);
		if (g->failed)
			return;
		for (uint64_t at = s.addr; at - s.addr < UINT64_C(1) << s.shift; at += UINT64_C(1) << 21)
			if ((t = guest_pages_find(g, at)))
				t->stamp = p->clock;
	}
	p->recent[(addr >> 12) % GUEST_RECENT] = addr >> 12;
}

/* The instruction that changes translations belongs to the time before; what is complete is run with the pages that it
 * had. */
static void before_change(struct guest *g)
{
	if (g->watches) {
		guest_run_path(g, g->insn.ip);
		memset(g->pages->recent, 0, sizeof g->pages->recent);
	}
	g->pages->clock++;
}

/* What is dropped while nobody watches waits until somebody does. */
static void drop(struct guest *g, enum st_drop_what what, uint64_t addr)
{
	struct guest_pages *p = g->pages;
	if (!g->emulator.walk || g->failed)
		return;
	if (g->watches) {
		guest_core_drop(g, what, addr);
		return;
	}
	for (unsigned i = 0; i < p->waiting; i++)
		if (p->wait[i].what == (unsigned)what && p->wait[i].addr == addr)
			return;
	if (p->waiting == GUEST_WAITING || what == ST_DROP_ALL) {
		p->wait[0].what = ST_DROP_ALL;
		p->waiting = 1;
		return;
	}
	p->wait[p->waiting].what = (unsigned)what;
	p->wait[p->waiting++].addr = addr;
}

void guest_pages_resume(struct guest *g)
{
	struct guest_pages *p = g->pages;
	memset(p->recent, 0, sizeof p->recent);
	for (unsigned i = 0; i < p->waiting; i++)
		guest_core_drop(g, (enum st_drop_what)p->wait[i].what, p->wait[i].addr);
	p->waiting = 0;
	if (g->tag == p->told_tag)
		return;
	p->told_tag = g->tag;
	guest_core_space(g, g->spaces->tables[g->tag]);
}

static unsigned tag_of(struct guest_spaces *s, uint64_t tables)
{
	uint16_t *recent = &s->recent[(tables ^ tables >> 12) & 255];
	if (*recent && s->tables[*recent - 1] == tables)
		return *recent - 1u;
	for (unsigned i = s->count; i > 0; i--)
		if (s->tables[i - 1] == tables) {
			*recent = (uint16_t)i;
			return i - 1;
		}
	if (s->count == GUEST_SPACES)
		return GUEST_SPACES - 1;
	s->tables[s->count] = tables;
	*recent = (uint16_t)++s->count;
	return s->count - 1;
}

static void enter(struct guest *g)
{
	const unsigned mode = g->pages->mode;
	const uint64_t low = mode & GUEST_PCIDS || !(mode & GUEST_PAE) || mode & GUEST_LONG ? 0xfff : 0x1f;
	const bool paged = mode & GUEST_PAGED || !g->emulator.walk;
	const uint64_t tables = paged ? g->pages->cr3 & ~low & ~(UINT64_C(1) << 63) : UINT64_MAX;
	const unsigned tag = tag_of(g->spaces, tables);
	if (tag == g->tag)
		return;
	g->tag = tag;
	if (!g->watches)
		return;
	g->pages->told_tag = tag;
	guest_core_space(g, tables);
}

/* The entries of a space are no longer those of its tables, or of no PCID. */
static void leave_space(struct guest *g, unsigned tag)
{
	g->pages->space[tag] = g->pages->clock;
	drop(g, ST_DROP_SPACE, tag);
}

/* CR3 was written with PCIDs switched on. */
static void load_pcid(struct guest *g, uint64_t cr3)
{
	struct guest_pages *p = g->pages;
	const unsigned pcid = cr3 & 0xfff, tag = g->tag;
	const unsigned owner = p->owner[pcid];
	if (owner && owner - 1 != tag) {
		leave_space(g, owner - 1);
		p->pcid[owner - 1] = 0;
	}
	if (!(cr3 >> 63) || p->pcid[tag] != pcid + 1)
		leave_space(g, tag);
	p->owner[pcid] = (uint16_t)(tag + 1);
	p->pcid[tag] = (uint16_t)(pcid + 1);
}

void guest_space(struct guest *g, uint64_t cr3)
{
	before_change(g);
	g->pages->cr3 = cr3;
	enter(g);
	if (g->pages->mode & GUEST_PCIDS) {
		load_pcid(g, cr3);
		return;
	}
	g->pages->not_global = g->pages->clock;
	drop(g, ST_DROP_NOT_GLOBAL, 0);
}

void guest_paging(struct guest *g, unsigned mode)
{
	if (mode == g->pages->mode)
		return;
	before_change(g);
	g->pages->mode = mode;
	g->pages->all = g->pages->clock;
	drop(g, ST_DROP_ALL, 0);
	enter(g);
	if (mode & GUEST_PCIDS) {
		g->pages->owner[g->pages->cr3 & 0xfff] = (uint16_t)(g->tag + 1);
		g->pages->pcid[g->tag] = (uint16_t)((g->pages->cr3 & 0xfff) + 1);
	}
}

/* A page of the space `tag`, or of addresses that all have. */
static void drop_page(struct guest *g, unsigned tag, uint64_t linear)
{
	struct guest_pages *p = g->pages;
	const uint64_t addr = linear >> ST_SPACE_SHIFT ? linear : linear | (uint64_t)tag << ST_SPACE_SHIFT;
	struct told_page *t = guest_pages_find(g, addr);
	if (t && t->global && !(addr >> 63))
		p->all = p->clock;	/* other spaces have the page, too */
	else if (t)
		t->stamp = 0;
	if (t && t->bits == 10 && t->leaf == 2 && (t = guest_pages_find(g, addr ^ 1u << 21)))
		t->stamp = 0;
	drop(g, ST_DROP_PAGE, addr);
}

void guest_invlpg(struct guest *g, uint64_t linear)
{
	before_change(g);
	drop_page(g, g->tag, linear);
}

void guest_invpcid(struct guest *g, unsigned type, unsigned pcid, uint64_t linear)
{
	enum { ONE_ADDRESS, ONE_SPACE, ALL, ALL_NOT_GLOBAL };
	struct guest_pages *p = g->pages;
	const bool pcids = p->mode & GUEST_PCIDS;
	const unsigned owner = pcids ? p->owner[pcid % GUEST_PCID_COUNT] : g->tag + 1;
	before_change(g);
	if (!pcids && type == ONE_SPACE)
		type = ALL_NOT_GLOBAL;
	switch (type) {
	case ONE_ADDRESS:
		if (owner)
			drop_page(g, owner - 1, linear);
		break;
	case ONE_SPACE:
		if (owner)
			leave_space(g, owner - 1);
		break;
	case ALL:
		p->all = p->clock;
		drop(g, ST_DROP_ALL, 0);
		break;
	case ALL_NOT_GLOBAL:
		p->not_global = p->clock;
		drop(g, ST_DROP_NOT_GLOBAL, 0);
		break;
	default:
		break;
	}
}
