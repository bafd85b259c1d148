/* SPDX-License-Identifier: GPL-2.0-or-later
 * One core's part of the memory system: creation from a core's fields, reset, destruction (memsys.h). */
#include "core/memory/memsys_state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void rates_init(struct memsys *m, const struct core_config *c)
{
	rate_init(&m->l1i_rate, c->l1i_line_cycles);
	rate_init(&m->l2_rate, c->l2_bandwidth_cycles);
	rate_init(&m->l3_rate, c->l3_line_ns * c->frequency_ghz);
	rate_init(&m->read_rate, c->dram_line_ns * c->frequency_ghz);
	rate_init(&m->write_rate, c->dram_write_ns * c->frequency_ghz);
}

static int memsys_init(struct memsys *m, const struct core_config *c, struct err *err)
{
	unsigned line_log2 = LINE_LOG2 - c->cache_line;
	int rc = l1_init(&m->l1d, "l1d", c->l1d_size, c->l1d_ways, c->l1d_replacement, line_log2, err);
	if (!rc)
		rc = l1_init(&m->l1i, "l1i", c->l1i_size, c->l1i_ways, c->l1i_replacement, line_log2, err);
	if (!rc)
		rc = cache_init(&m->l2, "l2", c->l2_size, c->l2_ways, c->l2_replacement, line_log2, c->l2_sectors, err);
	const bool giant = c->memory_page == PAGES_1G, large = c->memory_page == PAGES_2M;
	if (!rc && giant && c->walk_levels == 1)
		rc = err_set(err, ERR_INPUT, "memory.page=1G: page tables of two levels have no such pages");
	if (!rc && giant)
		rc = tlb_init(&m->dtlb, "dtlb.giant", c->dtlb_giant_entries, c->dtlb_giant_ways, err);
	else if (!rc && large)
		rc = tlb_init(&m->dtlb, "dtlb.large", c->dtlb_large_entries, c->dtlb_large_ways, err);
	else if (!rc)
		rc = tlb_init(&m->dtlb, "dtlb", c->dtlb_entries, c->dtlb_ways, err);
	if (!rc && (large || giant))	/* GUESS: no TLB of 1 GB code pages is published */
		rc = tlb_init(&m->itlb, "itlb.large", c->itlb_large_entries, c->itlb_large_ways, err);
	else if (!rc)
		rc = tlb_init(&m->itlb, "itlb", c->itlb_entries, c->itlb_ways, err);
	if (!rc)
		rc = tlb_init(&m->dtlb_huge, "dtlb.large", c->dtlb_large_entries, c->dtlb_large_ways, err);
	if (!rc)
		rc = tlb_init(&m->itlb_huge, "itlb.large", c->itlb_large_entries, c->itlb_large_ways, err);
	m->stlb_huge = giant ? c->stlb_giant_entries > 0 : c->stlb_large;
	m->has_dtlb_store = c->dtlb_store_entries > 0;
	m->zeroed = c->memory_zeroed && !large && !giant && !m->told;
	if (!rc && m->has_dtlb_store)
		rc = tlb_init(&m->dtlb_store, "dtlb_store", c->dtlb_store_entries, c->dtlb_store_ways, err);
	m->has_stlb = c->stlb_entries > 0;
	if (giant)
		m->has_stlb &= m->stlb_huge;
	if (!rc && m->has_stlb && giant)
		rc = tlb_init(&m->stlb, "stlb.giant", c->stlb_giant_entries, c->stlb_giant_ways, err);
	else if (!rc && m->has_stlb)
		rc = tlb_init(&m->stlb, "stlb", c->stlb_entries, c->stlb_ways, err);
	if (!rc)
		rc = ip_stride_init(&m->ip_stride, c->prefetch_l1d_ip_entries, c->prefetch_l1d_ip_max_stride,
			c->prefetch_l1d_ip_distance, err);
	if (!rc && c->l2_latency <= c->l1d_latency)
		rc = err_set(err, ERR_INPUT, "l2.latency = %u cycles must be more than l1d.latency", c->l2_latency);
	if (!rc && c->l2_code_latency < c->l2_latency)
		rc = err_set(err, ERR_INPUT, "l2.code_latency = %u cycles must not be less than l2.latency",
			c->l2_code_latency);
	if (rc)
		return rc;
	m->ip_stride.pages = c->prefetch_l1d_ip_pages;
	m->l1d_plru = c->l1d_replacement == REPL_PLRU;
	m->quick_bytes = m->l1d_plru ? LINE_BYTES : 0;
	m->page_shift = giant ? GIANT_SHIFT : large ? HUGE_SHIFT : 12;
	m->smc_bytes = c->clear_smc_bytes > LINE_BYTES ? c->clear_smc_bytes : LINE_BYTES;
	m->line_log2 = line_log2;
	m->line_tag = line_log2 == LINE_LOG2 ? 0 : UINT64_C(1) << 62;
	m->write_through = c->l1d_write == 1;
	m->store_fast = m->l1d_plru && !m->write_through;
	m->load_latency[0] = c->l1d_latency;
	m->load_latency[1] = c->l1d_latency + c->l1d_vector_extra;
	m->stlb_latency = c->stlb_latency;
	m->split_penalty = c->l1d_split_penalty;
	m->page_split_penalty = c->l1d_page_split_penalty;
	m->l1i_next_line = c->l1i_next_line;
	m->use_next_line = c->prefetch_l1d_next_line;
	m->use_ip_stride = c->prefetch_l1d_ip;
	m->use_adjacent = c->prefetch_l2_adjacent;
	m->use_streamer = c->prefetch_l2_streamer;
	m->prefetch_reserve = c->prefetch_l2_reserve;
	m->wc_count = c->l1d_wc_buffers < INFLIGHT_MAX ? c->l1d_wc_buffers : INFLIGHT_MAX;
	m->l2_latency = c->l2_latency;
	m->l2_writeback_lines = c->l2_writeback_lines;
	m->l2_code_latency = c->l2_code_latency;
	m->l2_lookup = c->l2_latency - c->l1d_latency;
	m->free_l1 = c->free_l1_miss;
	m->free_store = c->free_store_miss;
	m->free_l2 = c->free_l2_miss;
	m->free_dtlb = c->free_dtlb_miss;
	m->free_icache = c->free_icache_miss;
	m->free_snoop = c->free_snoop;
	m->free_walk = c->free_walk;
	m->walk.count = c->walk_walkers < WALKERS_MAX ? c->walk_walkers : WALKERS_MAX;
	m->walk.overhead = c->walk_overhead;
	m->walk.two_levels = c->walk_levels == 1;
	m->walk.past_l1 = c->walk_reads == 1;
	rates_init(m, c);
	return 0;
}

static void memsys_release(struct memsys *m)
{
	l1_release(&m->l1d);
	l1_release(&m->l1i);
	cache_release(&m->l2);
	tlb_release(&m->dtlb);
	tlb_release(&m->dtlb_store);
	tlb_release(&m->itlb);
	tlb_release(&m->stlb);
	tlb_release(&m->dtlb_huge);
	tlb_release(&m->itlb_huge);
	ip_stride_release(&m->ip_stride);
	told_destroy(m->told);
}

void memsys_reset(struct memsys *m)
{
	const struct core_config *c = &m->config;
	l1_clear(&m->l1d);
	l1_clear(&m->l1i);
	cache_clear(&m->l2);
	tlb_clear(&m->dtlb);
	tlb_clear(&m->itlb);
	tlb_clear(&m->dtlb_huge);
	tlb_clear(&m->itlb_huge);
	if (m->has_stlb)
		tlb_clear(&m->stlb);
	if (m->has_dtlb_store)
		tlb_clear(&m->dtlb_store);
	ip_stride_clear(&m->ip_stride);
	next_line_init(&m->next_line);
	linear_init(&m->linear, c->prefetch_linear_streams, c->prefetch_linear_start, c->prefetch_linear_distance,
		c->prefetch_linear_degree);
	streamer_init(&m->streamer, c->prefetch_l2_streams, c->prefetch_l2_degree, c->prefetch_l2_distance);
	m->streamer.window = c->prefetch_l2_window;
	m->streamer.any_order = c->prefetch_l2_any_order;
	inflight_init(&m->l1d_fill, c->l1d_fill_buffers);
	inflight_init(&m->l1i_fill, c->l1i_fill_buffers);
	inflight_init(&m->l2_fill, c->l2_queue);
	rates_init(m, c);
	m->write_around = c->l1d_write_around;
	if (c->l1d_alias_bits) {
		const unsigned bits = c->l1d_alias_bits > m->line_log2 ? c->l1d_alias_bits - m->line_log2 : 0;
		/* the top bit tells lines of page tables from others */
		m->l1d_alias = UINT64_C(1) << 63 | ((UINT64_C(1) << bits) - 1);
	}
	m->split_registers = c->l1d_split_registers < SPLITS_MAX ? c->l1d_split_registers : SPLITS_MAX;
	memset(m->split_free, 0, sizeof m->split_free);
	m->around_free = 0;
	m->walk.latest = 0;
	for (unsigned i = 0; i < WALKERS_MAX; i++) {
		m->walk.page[i] = VLINE_NONE;
		m->walk.ready[i] = 0;
	}
	walk_cache_init(&m->walk.cache[1], c->walk_pde_entries);
	walk_cache_init(&m->walk.cache[2], c->walk_pdpte_entries);
	walk_cache_init(&m->walk.cache[3], c->walk_pml4e_entries);
	m->last_page = m->last_store_page = m->last_code_page = VLINE_NONE;
	memset(m->code_page, 0, sizeof m->code_page);
	m->wc_clock = 0;
	m->wc_open = 0;
	memset(m->wc, 0, sizeof(m->wc));
	for (unsigned i = 0; i < INFLIGHT_MAX; i++)
		m->wc[i].vline = VLINE_NONE;
}

int memsys_make(struct memsys **out, const struct core_config *c, struct err *err)
{
	struct memsys *m = aligned_alloc(64, (sizeof(*m) + 63) & ~(size_t)63);
	if (!m)
		return err_set(err, ERR_NOMEM, "out of memory for a core's caches");
	memset(m, 0, sizeof(*m));
	m->config = *c;
	int rc = memsys_init(m, c, err);
	if (rc) {
		memsys_unmake(m);
		return rc;
	}
	memsys_reset(m);
	*out = m;
	return 0;
}

void memsys_unmake(struct memsys *m)
{
	memsys_release(m);
	free(m);
}

int memsys_create(struct memsys **out, struct memsys_shared *s, const struct core_config *c, struct emitter *e,
	struct err *err)
{
	if (s->cores == CORES_MAX)
		return err_set(err, ERR_UNSUPPORTED, "a machine has at most %d cores", CORES_MAX);
	int rc = memsys_make(out, c, err);
	if (rc)
		return rc;
	l3_settle(s);
	(*out)->shared = s;
	(*out)->number = s->created++;
	(*out)->emitter = e;
	s->core[s->cores++] = *out;
	return 0;
}

void memsys_emitter(struct memsys *m, struct emitter *e)
{
	m->emitter = e;
	m->icache_hit_record = m->itlb_hit_record = UINT32_MAX;
}

void memsys_destroy(struct memsys *m)
{
	if (!m)
		return;
	struct memsys_shared *s = m->shared;
	l3_settle(s);
	for (uint32_t i = 0; i < s->cores; i++)
		if (s->core[i] == m) {
			memmove(&s->core[i], &s->core[i + 1], (s->cores - i - 1) * sizeof(s->core[0]));
			s->cores--;
			break;
		}
	memsys_unmake(m);
}
