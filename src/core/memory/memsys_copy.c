/* SPDX-License-Identifier: GPL-2.0-or-later
 * Takes over the state of another memory system (memsys.h): what caches, TLBs and paging-structure caches hold, what
 * the prefetchers have learned, the frames of pages, and the rows that memory's banks have open.  What is in flight
 * (fill buffers, write-combining buffers, memory's queues) stays as it is.
 */
#include "core/core.h"
#include "core/memory/memsys_state.h"
#include <stdlib.h>
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
	l3_settle(from->shared);
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

enum { COPY_AHEAD = 12 };	/* the host's lines are prefetched for so many sets of L3 ahead */

/* Without memory for a log, everything is copied. */
static void keep_log(struct memsys_shared *s)
{
	if (!s->log.set)
		s->log.set = malloc(L3_LOG * sizeof *s->log.set);
}

static inline void copy_set(struct memsys_shared *to, const struct memsys_shared *from, uint32_t set)
{
	const struct cache *const f = &from->l3;
	struct cache *const t = &to->l3;
	const size_t at = (size_t)set * f->stride;
	for (uint32_t i = 0; i < f->stride; i += 4) {	/* a stride is a multiple of 4 */
		_mm_store_si128((__m128i *)(t->tag + at + i), _mm_load_si128((const __m128i *)(f->tag + at + i)));
		memcpy(t->state + at + i, f->state + at + i, 4);
	}
	t->word[set] = f->word[set];
	if (from->used)
		memcpy(to->used + at, from->used + at, f->stride * sizeof *to->used);
	if (from->valid)
		memcpy(to->valid + at, from->valid + at, f->stride * sizeof *to->valid);
}

/* Copies the sets in entries n to end of the log. */
static void copy_logged(struct memsys_shared *to, const struct memsys_shared *from, const struct l3_log *log,
	uint64_t n, uint64_t end)
{
	for (; n < end; n++) {
		const uint32_t next = log->set[(n + COPY_AHEAD < end ? n + COPY_AHEAD : n) % L3_LOG];
		const size_t at = (size_t)next * from->l3.stride;
		__builtin_prefetch(&from->l3.tag[at]);
		__builtin_prefetch(&from->l3.state[at]);
		__builtin_prefetch(&from->l3.word[next]);
		__builtin_prefetch(&to->l3.tag[at], 1);
		__builtin_prefetch(&to->l3.state[at], 1);
		__builtin_prefetch(&to->l3.word[next], 1);
		copy_set(to, from, log->set[n % L3_LOG]);
	}
}

/* Copies the sets that differ since the last copy from there.  Returns false if that is not known. */
static bool copy_changed(struct memsys_shared *to, const struct memsys_shared *from)
{
	const struct l3_log *const f = &from->log, *const t = &to->log;
	if (!f->set || !t->set || t->source != from || f->count - t->source_count > L3_LOG ||
		t->count - t->own_count > L3_LOG)
		return false;
	copy_logged(to, from, f, t->source_count, f->count);
	copy_logged(to, from, t, t->own_count, t->count);
	to->l3.repl = from->l3.repl;
	return true;
}

static void copy_l3(struct memsys_shared *to, const struct memsys_shared *from)
{
	const size_t slots = (size_t)from->l3.sets * from->l3.stride;
	if (!copy_changed(to, from)) {
		copy_cache(&to->l3, &from->l3);
		if (from->used)
			memcpy(to->used, from->used, slots * sizeof *to->used);
		if (from->valid)
			memcpy(to->valid, from->valid, slots * sizeof *to->valid);
	}
	keep_log(to);
	to->log.source = from;
	to->log.source_count = from->log.count;
	to->log.own_count = to->log.count;
}

void memsys_shared_leads(struct memsys_shared *s)
{
	s->leads = true;
	keep_log(s);
	frames_keep_notes(&s->frames);
}

int memsys_shared_copy(struct memsys_shared *to, struct memsys_shared *from, struct err *err)
{
	l3_settle(from);
	if (!to->frames.note)
		frames_keep_notes(&to->frames);
	memcpy(to->dram.row, from->dram.row, sizeof to->dram.row);
	memcpy(to->dram.written, from->dram.written, sizeof to->dram.written);
	if (from->has_l3)
		copy_l3(to, from);
	if (from->has_filter)
		copy_cache(&to->filter, &from->filter);
	return frames_follow(&to->frames, &from->frames, err);
}

void memsys_shared_pass(struct memsys_shared *s, uint64_t cycle)
{
	l3_settle(s);
	if (cycle > s->latest)
		s->latest = cycle;
}

void memsys_warm_misses(const struct memsys *m, struct core_misses *out)
{
	l3_settle(m->shared);
	out->loads = m->warmed.loads;
	out->l1 = m->warmed.l1;
	out->l2 = m->warmed.l2;
	out->l3 = m->warmed.l3;
	out->walks = m->warmed.walks;
}
