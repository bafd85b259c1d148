/* SPDX-License-Identifier: GPL-2.0-or-later
 * The memory system when features change while a program runs (memsys.h).
 *
 * A memory system of the new sizes is created.  Structures of equal size and policy move over from the old one; the
 * others are written back and dropped.
 * Left out: the time of writing back (the lines leave at once, though memory sees them and its banks are busy); and
 * that a cache that gets smaller could keep part of its lines.
 */
#include "core/memory/memsys_state.h"
#include <stdlib.h>
#include <string.h>

#define SAME(a, b, field) ((a)->field == (b)->field)
#define EXCHANGE(a, b) do { __typeof__(a) was_ = (a); (a) = (b); (b) = was_; } while (0)

static bool same_l1d(const struct core_config *a, const struct core_config *b)
{
	return SAME(a, b, l1d_size) && SAME(a, b, l1d_ways) && SAME(a, b, l1d_replacement);
}

static bool same_l2(const struct core_config *a, const struct core_config *b)
{
	return SAME(a, b, l2_size) && SAME(a, b, l2_ways) && SAME(a, b, l2_replacement);
}

/* n is the new core part.  Structures that are alike in n and m are exchanged, so that n keeps the contents. */
static void move_over(struct memsys *n, struct memsys *m)
{
	const struct core_config *a = &m->config, *b = &n->config;
	n->shared = m->shared;
	n->emitter = m->emitter;
	n->number = m->number;
	EXCHANGE(n->told, m->told);
	n->zeroed &= !n->told;
	if (same_l1d(a, b))
		EXCHANGE(n->l1d, m->l1d);
	if (SAME(a, b, l1i_size) && SAME(a, b, l1i_ways) && SAME(a, b, l1i_replacement))
		EXCHANGE(n->l1i, m->l1i);
	if (same_l2(a, b))
		EXCHANGE(n->l2, m->l2);
	const bool dtlb = SAME(a, b, dtlb_entries) && SAME(a, b, dtlb_ways),
		   dtlb_large = SAME(a, b, dtlb_large_entries) && SAME(a, b, dtlb_large_ways);
	const bool itlb = SAME(a, b, itlb_entries) && SAME(a, b, itlb_ways),
		   itlb_large = SAME(a, b, itlb_large_entries) && SAME(a, b, itlb_large_ways);
	const bool giant = a->memory_page == PAGES_1G, large = a->memory_page != PAGES_4K;
	if (giant || (large ? dtlb_large : dtlb))	/* no feature changes the TLBs of 1 GB pages */
		EXCHANGE(n->dtlb, m->dtlb);
	if (large ? itlb_large : itlb)
		EXCHANGE(n->itlb, m->itlb);
	if (dtlb_large)
		EXCHANGE(n->dtlb_huge, m->dtlb_huge);
	if (itlb_large)
		EXCHANGE(n->itlb_huge, m->itlb_huge);
	if (SAME(a, b, dtlb_store_entries) && SAME(a, b, dtlb_store_ways))
		EXCHANGE(n->dtlb_store, m->dtlb_store);
	if (giant ? n->has_stlb && m->has_stlb : SAME(a, b, stlb_entries) && SAME(a, b, stlb_ways))
		EXCHANGE(n->stlb, m->stlb);
	EXCHANGE(n->ip_stride, m->ip_stride);
	n->next_line = m->next_line;
	if (SAME(a, b, prefetch_linear_streams)) {
		memcpy(n->linear.stream, m->linear.stream, sizeof n->linear.stream);
		n->linear.clock = m->linear.clock;
	}
	if (SAME(a, b, prefetch_l2_degree) && SAME(a, b, prefetch_l2_distance))
		n->streamer = m->streamer;
	if (SAME(a, b, l1d_fill_buffers))
		n->l1d_fill = m->l1d_fill;
	if (SAME(a, b, l1i_fill_buffers))
		n->l1i_fill = m->l1i_fill;
	if (SAME(a, b, l2_queue))
		n->l2_fill = m->l2_fill;
	if (SAME(a, b, l1d_wc_buffers)) {
		memcpy(n->wc, m->wc, sizeof n->wc);
		n->wc_clock = m->wc_clock;
	}
	n->l1i_rate = m->l1i_rate;
	n->l2_rate = m->l2_rate;
	n->l3_rate = m->l3_rate;
	n->read_rate = m->read_rate;
	n->write_rate = m->write_rate;
	n->walk.latest = m->walk.latest;
	if (SAME(a, b, walk_walkers)) {
		memcpy(n->walk.page, m->walk.page, sizeof n->walk.page);
		memcpy(n->walk.ready, m->walk.ready, sizeof n->walk.ready);
	}
	if (SAME(a, b, walk_pde_entries))
		n->walk.cache[1] = m->walk.cache[1];
	if (SAME(a, b, walk_pdpte_entries))
		n->walk.cache[2] = m->walk.cache[2];
	if (SAME(a, b, walk_pml4e_entries))
		n->walk.cache[3] = m->walk.cache[3];
	memcpy(n->code_page, m->code_page, sizeof n->code_page);
	n->around_free = m->around_free;
	n->icache_hit_record = n->itlb_hit_record = UINT32_MAX;
}

int memsys_resize(struct memsys *m, const struct core_config *c, uint64_t cycle, struct err *err)
{
	struct memsys *n;
	int rc = memsys_make(&n, c, err);
	if (rc)
		return rc;
	if (!SAME(&m->config, c, l1d_wc_buffers))
		wc_empty(m, cycle);
	if (!same_l1d(&m->config, c))
		l1d_empty(m, cycle);
	if (!same_l2(&m->config, c))
		l2_empty(m, cycle);
	move_over(n, m);
	EXCHANGE(*n, *m);	/* others hold pointers to m */
	memsys_unmake(n);
	return 0;
}

int memsys_shared_resize(struct memsys_shared *s, struct memsys *by, const struct core_config *was,
	const struct core_config *c, uint64_t cycle, struct err *err)
{
	if (SAME(was, c, l3_size) && SAME(was, c, l3_ways) && SAME(was, c, l3_replacement))
		return 0;
	l3_empty(by, cycle);
	cache_release(&s->l3);
	free(s->used);
	free(s->valid);
	s->used = NULL;
	s->valid = NULL;
	return l3_make(s, c, err);
}
