/* SPDX-License-Identifier: GPL-2.0-or-later
 * Takes over the state of another memory system (memsys.h): what caches, TLBs and paging-structure caches hold, what
 * the prefetchers have learned, and the frames of pages.  What is in flight (fill buffers, write-combining buffers,
 * DRAM's rows and queues) stays as it is.
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

/* Did the page map give this frame since it last followed another one? */
static bool gave(const struct frames *f, uint32_t frame)
{
	for (size_t i = 0; i < f->notes; i++)
		if (f->note[i].frame == frame)
			return true;
	return false;
}

void memsys_feed_back(struct memsys *leader, const struct memsys *timed)
{
	struct memsys_shared *shared = leader->shared;
	const uint64_t l1 = leader->warmed.l1, l2 = leader->warmed.l2, l3 = leader->warmed.l3;
	if (leader->page_shift != 12 || !leader->has_stlb || leader->keeps_tlb)
		return;
	for (uint32_t i = 0; i < timed->stlb.sets << timed->stlb.log2; i++) {
		const uint64_t page = timed->stlb.page[i];
		if (page >> 61 || tlb_find(&leader->stlb, page) >= 0)	/* empty, or huge */
			continue;
		tlb_fill(&leader->stlb, page, frames_get(&shared->frames, 0, page));
	}
	for (uint32_t i = 0; shared->has_l3 && i < timed->l2.sets * timed->l2.stride; i++) {
		const uint32_t line = timed->l2.tag[i];
		enum inflight_source source;
		uint8_t state;
		if (line != leader->l2.tag[i] && line != LINE_NONE && cache_find(&leader->l2, line) < 0 &&
			uncore_l3_find(shared, line) < 0 &&
			!gave(&timed->shared->frames, line >> (12 - leader->line_log2)))
			l2_access(leader, line, 0, ACCESS_WALK, false, &source, &state);
	}
	leader->warmed.l1 = l1;
	leader->warmed.l2 = l2;
	leader->warmed.l3 = l3;
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
	out->l1 = m->warmed.l1;
	out->l2 = m->warmed.l2;
	out->l3 = m->warmed.l3;
	out->walks = m->warmed.walks;
}
