/* SPDX-License-Identifier: GPL-2.0-or-later
 * Address translation: the levels and their exact latencies, the number of walks, a limited number of page
 * walkers; pages of 4 KB, with huge pages among them. */
#include "mem_fixture.h"

enum { PAGE = 4096 };
#define WALK(accesses) ((accesses) * MEMORY)

/* Returns the address of line 8 of a page, where no page tables lie. */
static uint64_t page(unsigned n)
{
	return BASE + (uint64_t)n * PAGE + (n % 3) * 64;
}

static void start(struct machine_fixture *f)
{
	f->config.memory_page = 0;
	f->config.l1d_size = 32768;
	f->config.l1d_ways = 8;
	f->config.l2_size = 262144;
	mf_start(f);
}

static void test_a_first_touch_walks_four_levels(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	assert_load(f, page(0), 1000, STLB + WALK(4) + MEMORY, BITS_MEMORY | DID(DTLB_MISS) | DID(STLB_MISS));
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALK), 1);
	assert_int_equal(f->begin[SPMU_SIG_DTLB_LOAD_WALK], 1000 + STLB);
	assert_int_equal(f->end[SPMU_SIG_DTLB_LOAD_WALK], 1000 + STLB + WALK(4));
	assert_int_equal(f->count[SPMU_SIG_L2_DEMAND_RD_MISS], 1);	/* a walk's reads are not demand reads */
}

static void test_a_neighbour_page_needs_one_access_that_hits(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	mf_load(f, page(0), 1000);
	/* the page directory's entry is cached, the table's line is in L1D */
	assert_load(f, page(1), 5000, STLB + L1 + MEMORY, BITS_MEMORY | DID(DTLB_MISS) | DID(STLB_MISS));
	/* eight entries a line: page 8 needs the next line of the table */
	assert_load(f, page(8), 9000, STLB + MEMORY + MEMORY, BITS_MEMORY | DID(DTLB_MISS) | DID(STLB_MISS));
}

static void test_walk_caches_shorten_the_walk(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	mf_load(f, BASE, 1000);
	/* another 2 MB: page directory entry and table entry; another 1 GB: three levels */
	assert_load(f, BASE - (UINT64_C(16) << 21), 5000, STLB + WALK(2) + MEMORY, BITS_MEMORY | DID(DTLB_MISS) |
		DID(STLB_MISS));
	assert_load(f, BASE - (UINT64_C(16) << 30), 9000, STLB + WALK(3) + MEMORY, BITS_MEMORY | DID(DTLB_MISS) |
		DID(STLB_MISS));
}

static void test_without_walk_caches_every_walk_reads_four_entries(void **state)
{
	struct machine_fixture *f = *state;
	f->config.walk_pde_entries = f->config.walk_pdpte_entries = f->config.walk_pml4e_entries = 0;
	start(f);
	mf_load(f, page(0), 1000);
	assert_load(f, page(1), 5000, STLB + 4 * L1 + MEMORY, BITS_MEMORY | DID(DTLB_MISS) | DID(STLB_MISS));
}

static void test_what_the_dtlb_lost_the_stlb_has(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	for (unsigned i = 0; i < 6; i++)	/* DTLB: 2 sets of 2 */
		mf_load(f, page(i), 1000 * (i + 1));
	assert_load(f, page(5), 20000, L1, BITS_L1);
	assert_load(f, page(0), 21000, STLB + L1, BITS_L1 | DID(DTLB_MISS) | DID(STLB_HIT));
	assert_load(f, page(0), 22000, L1, BITS_L1);
	mf_forget(f);
	for (unsigned i = 6; i < 6 + 24; i++)
		mf_load(f, page(i), 23000 + 1000 * i);
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALK), 24);
	struct mem_result r = mf_load(f, page(0), 60000);
	assert_true(r.did & DID(STLB_MISS));
}

static void test_one_walker_makes_the_second_walk_wait(void **state)
{
	struct machine_fixture *f = *state;
	for (unsigned walkers = 1; walkers <= 2; walkers++) {
		f->config.walk_walkers = walkers;
		start(f);
		mf_load(f, page(0), 1000);
		mf_load(f, page(8), 10000);		/* each walk needs a line of the table from memory */
		uint64_t ready = mf_load(f, page(16), 10000).ready;
		assert_int_equal(ready, 10000 + STLB + (walkers == 1 ? 2 : 1) * MEMORY + MEMORY);
		if (walkers == 1)
			mf_end(f);
	}
}

static void test_a_load_to_a_page_whose_walk_runs_waits_for_it(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	mf_load(f, page(0), 1000);
	mf_load(f, page(8), 10000);
	mf_load(f, page(8) + 64, 20000);
	mf_load(f, page(16), 30000);	/* ends its walk at 30000 + STLB + MEMORY */
	assert_load(f, page(16) + 64, 30010, STLB + MEMORY - 10 + MEMORY, BITS_MEMORY);
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALK), 3);
}

static void test_stores_are_translated_when_their_address_is_known(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	struct mem_result r;
	memsys_store_translate(f->m, page(0), 8, 1000, &r);
	assert_int_equal(r.ready, 1000 + STLB + WALK(4));
	assert_int_equal(r.did, DID(DTLB_MISS) | DID(STLB_MISS));
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_STORE_WALK), 1);
	memsys_store_translate(f->m, page(0), 8, 9000, &r);
	assert_int_equal(r.ready, 9000);
	assert_int_equal(r.did, 0);
	r = mf_store(f, page(0), 10000);	/* the commit does not translate again */
	assert_int_equal(r.ready, 10000 + MEMORY + 1);
	assert_int_equal(r.did, DID(STORE_L1D_MISS));
}

static void test_a_store_tlb_of_its_own_does_not_help_loads(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dtlb_store_entries = 4;
	f->config.dtlb_store_ways = 4;
	start(f);
	struct mem_result r;
	memsys_store_translate(f->m, page(0), 8, 1000, &r);
	assert_load(f, page(0), 9000, STLB + MEMORY, BITS_MEMORY | DID(DTLB_MISS) | DID(STLB_HIT));
}

static void test_large_pages_walk_three_levels_and_cover_2_mb(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	assert_load(f, BASE + 64 * 64, 1000, STLB + WALK(3) + MEMORY, BITS_MEMORY | DID(DTLB_MISS) | DID(STLB_MISS) |
		DID(LARGE_PAGE));
	assert_load(f, BASE + (2 << 20) - 128, 5000, MEMORY, BITS_MEMORY);
}

#define MISSED (BITS_MEMORY | DID(DTLB_MISS) | DID(STLB_MISS))
#define MB2 (UINT64_C(2) << 20)
#define HUGE (BASE & ~(MB2 - 1))

static void test_where_the_program_asked_for_huge_pages_a_walk_ends_a_level_earlier(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	memsys_shared_map(f->shared, HUGE, 2 * MB2, true);
	assert_load(f, HUGE, 1000, STLB + WALK(3) + MEMORY, MISSED | DID(LARGE_PAGE));
	assert_load(f, HUGE + MB2 - 64, 5000, MEMORY, BITS_MEMORY);	/* one entry translates all of it */
	assert_load(f, HUGE + MB2 + 128, 9000, STLB + L1 + MEMORY, MISSED | DID(LARGE_PAGE));
	/* the pages after it are small: PDE from L1D, then the PTE */
	assert_load(f, HUGE + 2 * MB2 + 192, 13000, STLB + L1 + MEMORY + MEMORY, MISSED);
	assert_load(f, HUGE + 2 * MB2 + PAGE + 256, 17000, STLB + L1 + MEMORY, MISSED);
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALKED_LARGE), 2);
	assert_int_equal(f->count[SPMU_SIG_DTLB_LOAD_WALKED_4K], 2);
}

static void test_where_there_are_none_huge_pages_are_small(void **state)
{
	struct machine_fixture *f = *state;
	f->config.memory_huge = 0;
	start(f);
	memsys_shared_map(f->shared, HUGE, 2 * MB2, true);
	mf_load(f, HUGE, 1000);
	assert_load(f, HUGE + PAGE + 128, 5000, STLB + L1 + MEMORY, MISSED);
}

static void test_a_piece_that_is_not_whole_or_was_touched_before_has_small_pages(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	mf_load(f, HUGE + 5 * PAGE, 1000);
	memsys_shared_map(f->shared, HUGE, MB2, true);
	assert_load(f, HUGE + 6 * PAGE + 64, 5000, STLB + L1 + MEMORY, MISSED);		/* a small page of its own */
	memsys_shared_map(f->shared, HUGE + MB2, MB2 - PAGE, true);
	mf_load(f, HUGE + MB2, 9000);
	assert_load(f, HUGE + MB2 + PAGE + 128, 13000, STLB + L1 + MEMORY, MISSED);
}

static void test_unmapping_takes_the_huge_pages_back(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	memsys_shared_map(f->shared, HUGE, 4 * MB2, true);
	mf_load(f, HUGE, 1000);
	mf_load(f, HUGE + 3 * MB2 + 64, 1000);
	memsys_shared_map(f->shared, HUGE, MB2, false);
	/* neither the entry nor the line is kept: PDE from L1D, then the PTE */
	assert_load(f, HUGE, 5000, STLB + L1 + MEMORY + MEMORY, MISSED);
	assert_load(f, HUGE + PAGE, 9000, STLB + L1 + MEMORY, MISSED);
	assert_load(f, HUGE + 3 * MB2 + 64, 13000, L1, BITS_L1);
	memsys_shared_map(f->shared, HUGE, MB2, true);	/* mapped again, but its small pages were touched */
	assert_load(f, HUGE + 2 * PAGE, 17000, STLB + L1 + MEMORY, MISSED);
}

static void test_stlb_large_decides_whether_the_second_level_holds_huge_pages(void **state)
{
	struct machine_fixture *f = *state;
	for (unsigned large = 0; large < 2; large++) {
		f->config.stlb_large = large;
		start(f);
		memsys_shared_map(f->shared, HUGE, 8 * MB2, true);
		for (unsigned i = 0; i < 6; i += 2)	/* of one set of two ways */
			mf_load(f, HUGE + i * MB2, 1000 + i * 1000);
		struct mem_result r = mf_load(f, HUGE, 9000);
		assert_int_equal(r.did, BITS_L1 | DID(DTLB_MISS) | DID(LARGE_PAGE) | (large ? DID(STLB_HIT)
			: DID(STLB_MISS)));
		mf_end(f);
	}
	f->m = NULL;
}

static void test_stores_and_fetches_use_huge_pages_too(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dtlb_store_entries = 4;
	f->config.dtlb_store_ways = 4;
	start(f);
	memsys_shared_map(f->shared, HUGE, MB2, true);
	struct mem_result r;
	memsys_store_translate(f->m, HUGE, 8, 1000, &r);
	assert_int_equal(r.did, DID(DTLB_MISS) | DID(STLB_MISS) | DID(LARGE_PAGE));
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_STORE_WALKED_LARGE), 1);
	memsys_store_translate(f->m, HUGE + 300 * PAGE, 8, 5000, &r);
	assert_int_equal(r.did, 0);
	assert_int_equal(r.ready, 5000);
	mf_store(f, HUGE + 300 * PAGE, 5000);
	assert_load(f, HUGE + 300 * PAGE, 9000, STLB + L1, BITS_L1 | DID(DTLB_MISS) | DID(STLB_HIT) | DID(LARGE_PAGE));
	memsys_fetch(f->m, HUGE + 7 * PAGE, 13000, 13000, &r);
	assert_int_equal(mf_count(f, SPMU_SIG_ITLB_STLB_HIT), 1);
	assert_int_equal(f->count[SPMU_SIG_ITLB_STLB_HIT_LARGE], 1);
	assert_int_equal(f->count[SPMU_SIG_ITLB_STLB_HIT_4K], 0);
	memsys_fetch(f->m, HUGE + 90 * PAGE, 17000, 17000, &r);
	assert_int_equal(mf_count(f, SPMU_SIG_ITLB_MISS), 1);
}

static void test_marks_of_any_order_and_size_are_taken(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	uint64_t x = 1;
	for (unsigned i = 0; i < 3000; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint64_t addr = x >> 60 ? BASE + (x >> 20) % (64 * MB2) : x, bytes = (x >> 32) % 7
			? (x >> 13) % (16 * MB2) : ~x;
		memsys_shared_map(f->shared, addr, bytes, x >> 40 & 1);
		mf_load(f, BASE + (x >> 7) % (64 * MB2), i * 1000);
		memsys_warm_data(f->m, 0, addr, 8, x >> 41 & 1);
	}
	memsys_shared_map(f->shared, 0, UINT64_MAX, false);
	mf_load(f, HUGE, 9000000);
	assert_int_equal(mf_load(f, HUGE + 8, 9100000).did, BITS_L1);
}

static void test_a_page_that_a_store_touches_first_is_in_l2_if_the_kernel_clears_it(void **state)
{
	struct machine_fixture *f = *state;
	for (unsigned zeroed = 0; zeroed < 2; zeroed++) {
		f->config.memory_zeroed = zeroed;
		start(f);
		mf_load(f, page(5), 1000);	/* walks four levels */
		struct mem_result r;
		mf_forget(f);
		memsys_store_translate(f->m, page(16), 8, 5000, &r);	/* its entry is in another line of the table */
		assert_int_equal(r.ready, 5000 + STLB + (zeroed ? L2 : MEMORY));
		/* the kernel's clearing is not counted */
		assert_int_equal(mf_count(f, SPMU_SIG_L2_LINES_IN), !zeroed);
		for (unsigned line = 20; line < 64; line += 43)
			assert_load(f, page(16) / PAGE * PAGE + line * 64, 9000 + line * 100, zeroed ? L2 : MEMORY,
				zeroed ? BITS_L2 : BITS_MEMORY);
		/* a load's page counts as a file's: not cleared */
		assert_load(f, page(33), 21000, STLB + 2 * MEMORY, MISSED);
		memsys_store_translate(f->m, page(5) + 640, 8, 25000, &r);	/* touched before: not cleared */
		assert_load(f, page(5) + 640, 29000, MEMORY, BITS_MEMORY);
		mf_end(f);
	}
	f->m = NULL;
}

static void test_a_fetch_misses_the_itlb_then_hits_the_stlb(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	struct mem_result r;
	memsys_fetch(f->m, page(0), 1000, 1000, &r);
	assert_int_equal(r.did, DID(ITLB_MISS_F) | DID(FETCH_STLB_MISS) | DID(ICACHE_MISS) | DID(FETCH_L2_MISS));
	assert_int_equal(r.ready, 1000 + STLB + WALK(4) + MEMORY + L2_CODE - L2);
	assert_int_equal(mf_count(f, SPMU_SIG_ITLB_WALK), 1);
	assert_int_equal(f->count[SPMU_SIG_ITLB_WALKED_4K], 1);
	assert_int_equal(f->count[SPMU_SIG_ITLB_MISS], 1);
	assert_int_equal(f->count[SPMU_SIG_ITLB_STLB_HIT], 0);
	assert_int_equal(f->length[SPMU_SIG_ITLB_STALL], STLB + WALK(4));
	for (unsigned i = 1; i < 6; i++)
		memsys_fetch(f->m, page(i), 1000 * (i + 2), 1000 * (i + 2), &r);
	mf_forget(f);
	memsys_fetch(f->m, page(0) + 8, 10000, 10000, &r);
	assert_int_equal(mf_count(f, SPMU_SIG_ITLB_STLB_HIT), 1);
	assert_true(r.did & DID(ITLB_MISS_F) && !(r.did & DID(FETCH_STLB_MISS)));
}

static void test_a_walk_for_a_page_of_1_gb_ends_a_level_earlier(void **state)
{
	struct machine_fixture *f = *state;
	const uint64_t first = UINT64_C(1) << 40, gb = UINT64_C(1) << 30;
	f->config.memory_page = 2;
	f->config.dtlb_giant_entries = f->config.dtlb_giant_ways = 1;
	f->config.stlb_giant_entries = f->config.stlb_giant_ways = 2;
	mf_start(f);
	mf_load(f, first, 1000);
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALKED_1G), 1);
	mf_load(f, first + gb - 64, 2000);		/* the same page */
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALKED_1G), 1);
	mf_load(f, first + gb, 3000);
	assert_true(mf_load(f, first + 64, 4000).did & SPMU_DID(STLB_HIT));	/* two pages: the second level */
	mf_load(f, first + 2 * gb, 5000);
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALKED_1G), 3);
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALKED_LARGE), 0);
	assert_int_equal(mf_count(f, SPMU_SIG_DTLB_LOAD_WALKED_4K), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MF_TEST(test_a_first_touch_walks_four_levels),
		MF_TEST(test_a_neighbour_page_needs_one_access_that_hits),
		MF_TEST(test_walk_caches_shorten_the_walk),
		MF_TEST(test_without_walk_caches_every_walk_reads_four_entries),
		MF_TEST(test_what_the_dtlb_lost_the_stlb_has),
		MF_TEST(test_one_walker_makes_the_second_walk_wait),
		MF_TEST(test_a_load_to_a_page_whose_walk_runs_waits_for_it),
		MF_TEST(test_stores_are_translated_when_their_address_is_known),
		MF_TEST(test_a_store_tlb_of_its_own_does_not_help_loads),
		MF_TEST(test_large_pages_walk_three_levels_and_cover_2_mb),
		MF_TEST(test_where_the_program_asked_for_huge_pages_a_walk_ends_a_level_earlier),
		MF_TEST(test_where_there_are_none_huge_pages_are_small),
		MF_TEST(test_a_piece_that_is_not_whole_or_was_touched_before_has_small_pages),
		MF_TEST(test_unmapping_takes_the_huge_pages_back),
		MF_TEST(test_stlb_large_decides_whether_the_second_level_holds_huge_pages),
		MF_TEST(test_stores_and_fetches_use_huge_pages_too),
		MF_TEST(test_marks_of_any_order_and_size_are_taken),
		MF_TEST(test_a_page_that_a_store_touches_first_is_in_l2_if_the_kernel_clears_it),
		MF_TEST(test_a_fetch_misses_the_itlb_then_hits_the_stlb),
		MF_TEST(test_a_walk_for_a_page_of_1_gb_ends_a_level_earlier),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
