/* SPDX-License-Identifier: GPL-2.0-or-later
 * A small machine for the tests of the memory system, at 1 GHz, so that ns are cycles: every figure below is chosen to be
 * told apart from every other.  Prefetchers off, 2 MB pages (one walk per test region), signals collected. */
#ifndef MEM_FIXTURE_H
#define MEM_FIXTURE_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/memsys.h"
#include <stdlib.h>
#include <string.h>

enum {
	L1 = 4, L2 = 14, L2_CODE = 16, L3 = 44, MEMORY = 144,	/* load-to-use */
	STLB = 7, SPLIT = 3, PAGE_SPLIT = 5, SETS = 4, L2_SETS = 16, L3_SETS = 64,
};
enum { POLICY_LRU, POLICY_PLRU, POLICY_SRRIP, POLICY_QUAD };

/* The page tables' lines of this region lie in the last set of every cache, so tests use the others. */
#define BASE UINT64_C(0xfc7e3f000000)
/* n-th line of the region that falls into L1D set `set` */
#define LINE_AT(set, n) (BASE + (uint64_t)(n) * SETS * 64 + (set) * 64)

struct machine_fixture {
	struct core_config config;
	struct memsys_shared *shared;
	struct memsys *m;
	struct emitter *e;
	uint64_t count[SPMU_SIG_COUNT];		/* sum of counts */
	uint64_t length[SPMU_SIG_COUNT];	/* sum of end - begin */
	uint64_t begin[SPMU_SIG_COUNT], end[SPMU_SIG_COUNT];	/* of the last one */
};

static struct spmu_record *mf_batch(void *context, const struct spmu_batch *b)
{
	struct machine_fixture *f = context;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_SIGNAL)
			continue;
		f->count[r->signal] += r->did;
		f->length[r->signal] += r->end - r->begin;
		f->begin[r->signal] = b->base_cycle + r->begin;
		f->end[r->signal] = b->base_cycle + r->end;
	}
	return NULL;
}

static inline void mf_config(struct core_config *c)
{
	*c = (struct core_config){
		.frequency_ghz = 1,
		.l1i_size = 512, .l1i_ways = 2, .l1i_replacement = POLICY_LRU, .l1i_fill_buffers = 4,
		.l1d_size = 512, .l1d_ways = 2, .l1d_replacement = POLICY_LRU, .l1d_latency = L1, .l1d_vector_extra = 2,
		.l1d_fill_buffers = 4, .l1d_wc_buffers = 2, .l1d_split_penalty = SPLIT, .l1d_page_split_penalty = PAGE_SPLIT,
		.l2_size = 4096, .l2_ways = 4, .l2_replacement = POLICY_LRU, .l2_latency = L2, .l2_code_latency = L2_CODE, .l2_queue = 8,
		.l3_size = 16384, .l3_ways = 4, .l3_replacement = POLICY_LRU, .l3_latency = L3,
		.dram_latency_ns = MEMORY - L3, .dram_bandwidth = 6400, .dram_channels = 1, .dram_banks = 1, .dram_row = 64,
		.itlb_entries = 4, .itlb_ways = 2, .itlb_large_entries = 4, .itlb_large_ways = 2,
		.dtlb_entries = 4, .dtlb_ways = 2, .dtlb_large_entries = 4, .dtlb_large_ways = 2, .dtlb_store_ways = 1,
		.stlb_entries = 16, .stlb_ways = 4, .stlb_latency = STLB, .stlb_large = 1,
		.walk_walkers = 1, .walk_pde_entries = 4, .walk_pdpte_entries = 2, .walk_pml4e_entries = 1,
		.memory_page = 1, .memory_huge = 1,
		.prefetch_l1d_ip_entries = 16, .prefetch_l1d_ip_max_stride = 2048, .prefetch_l1d_ip_distance = 1,
		.prefetch_l2_streams = 4, .prefetch_l2_degree = 2, .prefetch_l2_distance = 20,
	};
}

/* A machine of the fixture's config as it stands. */
static inline void mf_start(struct machine_fixture *f)
{
	struct err err = { 0 };
	f->e = calloc(1, sizeof(*f->e));
	assert_non_null(f->e);
	f->e->record = calloc(SPMU_BATCH_MAX, sizeof(*f->e->record));
	assert_non_null(f->e->record);
	f->e->emit = mf_batch;
	f->e->context = f;
	f->e->wanted[0] = f->e->wanted[1] = ~UINT64_C(0);
	if (memsys_shared_create(&f->shared, &f->config, &err) || memsys_create(&f->m, f->shared, &f->config, f->e, &err))
		fail_msg("%s", err.text);
}

/* Passes on what was emitted and forgets it. */
static inline void mf_forget(struct machine_fixture *f)
{
	emit_flush(f->e, false);
	memset(f->count, 0, sizeof(f->count));
	memset(f->length, 0, sizeof(f->length));
	memset(f->begin, 0, sizeof(f->begin));
	memset(f->end, 0, sizeof(f->end));
}

static inline uint64_t mf_count(struct machine_fixture *f, enum spmu_signal s)
{
	emit_flush(f->e, false);
	return f->count[s];
}

static inline void mf_end(struct machine_fixture *f)
{
	memsys_destroy(f->m);
	memsys_shared_destroy(f->shared);
	free(f->e->record);
	free(f->e);
}

static inline struct mem_result mf_load(struct machine_fixture *f, uint64_t addr, uint64_t cycle)
{
	struct mem_result r = { 0, 0 };
	memsys_load(f->m, 0x400000, addr, 8, cycle, false, &r);
	return r;
}

static inline struct mem_result mf_store(struct machine_fixture *f, uint64_t addr, uint64_t cycle)
{
	struct mem_result r = { 0, 0 };
	memsys_store_commit(f->m, 0x400000, addr, 8, cycle, false, &r);
	return r;
}

/* Walks the page tables for the region, in sets that tests do not use, and lets time pass. */
static inline void mf_map(struct machine_fixture *f)
{
	mf_load(f, BASE + 63 * 64, 0);
	mf_forget(f);
}

static int mf_setup(void **state)
{
	struct machine_fixture *f = calloc(1, sizeof(*f));
	if (!f)
		return -1;
	mf_config(&f->config);
	*state = f;
	return 0;
}

static int mf_teardown(void **state)
{
	struct machine_fixture *f = *state;
	if (f->m)
		mf_end(f);
	free(f);
	return 0;
}
#define MF_TEST(name) cmocka_unit_test_setup_teardown(name, mf_setup, mf_teardown)

#define DID(x) SPMU_DID(x)
#define BITS_L1 DID(L1D_HIT)
#define BITS_LFB DID(LFB_HIT)
#define BITS_L2 (DID(L1D_MISS) | DID(L2_HIT))
#define BITS_L3 (DID(L1D_MISS) | DID(L2_MISS) | DID(L3_HIT))
#define BITS_MEMORY (DID(L1D_MISS) | DID(L2_MISS) | DID(L3_MISS))
#define assert_load(f, addr, cycle, latency, bits) do { \
	struct mem_result r_ = mf_load(f, addr, cycle); \
	assert_int_equal(r_.ready, (cycle) + (latency)); \
	assert_int_equal(r_.did, bits); } while (0)
#endif
