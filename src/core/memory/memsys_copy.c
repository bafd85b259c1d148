/* SPDX-License-Identifier: GPL-2.0-or-later
 * Takes over the state of another memory system (memsys.h): what caches, TLBs and paging-structure caches hold, what
 * the prefetchers have learned, the frames of pages, and the rows that memory's banks have open.  What is in flight
 * (fill buffers, write-combining buffers, memory's queues) stays as it is.
 */
#include "core/core.h"
#include "core/memory/memsys_state.h"
#include <string.h>

static void copy_l1(struct l1 *to, const struct l1 *from)
{
	const size_t slots = (size_t)from->sets << from->log2;
	memcpy(to->vline, from->vline, slots * sizeof *to->vline);
	memcpy(to->line, from->line, slots * sizeof *to->line);
	memcpy(to->state, from->state, slots * sizeof *to->state);
	memcpy(to->word, from->word, from->sets * sizeof *to->word);
	memcpy(to->guess, from->guess, L1_GUESSES * sizeof *to->guess);
	to->repl = from->repl;
}

static void copy_cache(struct cache *to, const struct cache *from)
{
	const size_t slots = (size_t)from->sets * from->stride;
	memcpy(to->tag, from->tag, slots * sizeof *to->tag);
	memcpy(to->state, from->state, slots * sizeof *to->state);
	memcpy(to->word, from->word, from->sets * sizeof *to->word);
	to->repl = from->repl;
}

static void copy_tlb(struct tlb *to, const struct tlb *from)
{
	const size_t slots = (size_t)from->sets << from->log2;
	if (!slots || !from->page)
		return;
	memcpy(to->page, from->page, slots * sizeof *to->page);
	memcpy(to->frame, from->frame, slots * sizeof *to->frame);
	memcpy(to->word, from->word, from->sets * sizeof *to->word);
	memcpy(to->guess, from->guess, sizeof to->guess);
	to->repl = from->repl;
}

void memsys_copy(struct memsys *to, const struct memsys *from)
{
	copy_l1(&to->l1d, &from->l1d);
	copy_l1(&to->l1i, &from->l1i);
	copy_cache(&to->l2, &from->l2);
	copy_tlb(&to->dtlb, &from->dtlb);
	copy_tlb(&to->dtlb_store, &from->dtlb_store);
	copy_tlb(&to->itlb, &from->itlb);
	copy_tlb(&to->stlb, &from->stlb);
	copy_tlb(&to->dtlb_huge, &from->dtlb_huge);
	copy_tlb(&to->itlb_huge, &from->itlb_huge);
	memcpy(to->walk.cache, from->walk.cache, sizeof to->walk.cache);
	to->last_page = from->last_page;
	to->last_store_page = from->last_store_page;
	to->last_code_page = from->last_code_page;
	memcpy(to->code_page, from->code_page, sizeof to->code_page);
	to->next_line = from->next_line;
	to->linear = from->linear;
	to->streamer = from->streamer;
	memcpy(to->ip_stride.entry, from->ip_stride.entry,
		((size_t)from->ip_stride.mask + 1) * sizeof *to->ip_stride.entry);
}

void memsys_shared_leads(struct memsys_shared *s)
{
	frames_keep_notes(&s->frames);
}

int memsys_shared_copy(struct memsys_shared *to, const struct memsys_shared *from, struct err *err)
{
	const size_t slots = from->has_l3 ? (size_t)from->l3.sets * from->l3.stride : 0;
	if (!to->frames.note)
		frames_keep_notes(&to->frames);
	memcpy(to->dram.row, from->dram.row, sizeof to->dram.row);
	memcpy(to->dram.written, from->dram.written, sizeof to->dram.written);
	if (from->has_l3)
		copy_cache(&to->l3, &from->l3);
	if (from->has_filter)
		copy_cache(&to->filter, &from->filter);
	if (from->used)
		memcpy(to->used, from->used, slots * sizeof *to->used);
	if (from->valid)
		memcpy(to->valid, from->valid, slots * sizeof *to->valid);
	return frames_follow(&to->frames, &from->frames, err);
}

void memsys_shared_pass(struct memsys_shared *s, uint64_t cycle)
{
	if (cycle > s->latest)
		s->latest = cycle;
}

void memsys_warm_misses(const struct memsys *m, struct core_misses *out)
{
	out->loads = m->warmed.loads;
	out->l1 = m->warmed.l1;
	out->l2 = m->warmed.l2;
	out->l3 = m->warmed.l3;
	out->walks = m->warmed.walks;
}
