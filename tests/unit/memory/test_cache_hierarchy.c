/* SPDX-License-Identifier: GPL-2.0-or-later
 * L1D, L2, L3: which level serves a load, which lines move where, which signals are counted. */
#include "mem_fixture.h"

static void test_each_level_has_its_latency_and_bits(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 0), 1000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(0, 0), 2000, L1, BITS_L1);
	assert_load(f, LINE_AT(0, 4), 3000, MEMORY, BITS_MEMORY);	/* same set of L2 */
	assert_load(f, LINE_AT(0, 8), 4000, MEMORY, BITS_MEMORY);	/* L1D has two ways: it evicts the first line */
	assert_load(f, LINE_AT(0, 0), 5000, L2, BITS_L2);
	assert_load(f, LINE_AT(0, 12), 6000, MEMORY, BITS_MEMORY);
	/* the fifth line for four ways of L2: it evicts line 4 */
	assert_load(f, LINE_AT(0, 20), 7000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(0, 4), 8000, L3, BITS_L3);
}

/* Loads six lines of one set of L2, so the second has left its four ways for L3. Returns whether L3 still serves that
 * line after so many cycles. */
static bool served_by_l3_after(struct machine_fixture *f, uint64_t cycles)
{
	struct mem_result r;
	for (unsigned i = 0; i < 6; i++)
		mf_load(f, LINE_AT(0, 4 * i), 1000 + 1000 * i);
	memsys_load(f->m, 1, LINE_AT(0, 4), 8, 10000 + cycles, false, &r);
	return r.ready - 10000 - cycles == L3;
}

static void test_others_push_lines_out_of_l3_with_time(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_others = (struct core_fall){ 2, { 1, 100 }, { 37, 0 } };
	mf_start(f);
	mf_map(f);
	assert_false(served_by_l3_after(f, (uint64_t)(101 * f->config.frequency_ghz * 1e6)));
}

static void test_others_leave_lines_in_l3_for_a_while(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_others = (struct core_fall){ 1, { 1 }, { 0 } };
	mf_start(f);
	mf_map(f);
	assert_true(served_by_l3_after(f, 1000));
}

/* All lines stay for 0.9 ms and are gone after 1.1 ms. Returns whether L3 still has a line after `share` ms. */
static bool steep_after(struct machine_fixture *f, double share)
{
	f->config.l3_others = (struct core_fall){ 2, { 0.9, 1.1 }, { 100, 0 } };
	mf_start(f);
	mf_map(f);
	return served_by_l3_after(f, (uint64_t)(share * f->config.frequency_ghz * 1e6));
}

static void test_of_a_steep_fall_lines_go_near_one_time(void **state)
{
	assert_true(steep_after(*state, 0.89));
}

static void test_of_a_steep_fall_none_stays_longer(void **state)
{
	assert_false(steep_after(*state, 1.11));
}

static void test_alone_a_line_stays_in_l3(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	assert_true(served_by_l3_after(f, UINT64_C(1) << 40));
}

static void test_a_vector_load_takes_longer(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r;
	mf_start(f);
	mf_map(f);
	mf_load(f, LINE_AT(0, 0), 1000);
	memsys_load(f->m, 1, LINE_AT(0, 0), 16, 2000, true, &r);
	assert_int_equal(r.ready, 2000 + L1 + 2);
}

static void test_a_second_load_to_a_line_in_flight_waits_for_the_rest(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 0), 1000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(0, 0) + 8, 1100, 44, BITS_LFB);
	assert_load(f, LINE_AT(0, 0) + 8, 1000 + MEMORY - 1, L1, BITS_LFB);	/* the last cycle of the miss */
	assert_load(f, LINE_AT(0, 0) + 8, 1000 + MEMORY, L1, BITS_L1);
	/* one fill buffer is one interval, no matter how many loads wait for it */
	assert_int_equal(mf_count(f, SPMU_SIG_L1D_PENDING), 1);
	assert_int_equal(f->length[SPMU_SIG_L1D_PENDING], MEMORY);
	assert_int_equal(f->count[SPMU_SIG_L2_DEMAND_RD_MISS], 1);
}

static void test_a_miss_waits_when_all_fill_buffers_are_busy(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	for (unsigned i = 0; i < 4; i++)
		assert_load(f, LINE_AT(i % 3, i), 1000 + i, MEMORY, BITS_MEMORY);
	mf_forget(f);
	/* the first buffer is free at 1144, the second at 1145 */
	assert_load(f, LINE_AT(0, 9), 1010, 134 + MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(1, 9), 1144, 1 + MEMORY, BITS_MEMORY);
	assert_int_equal(mf_count(f, SPMU_SIG_L1D_FB_FULL), 2);
	assert_int_equal(f->length[SPMU_SIG_L1D_FB_FULL], 134 + 1);
}

static void test_an_l2_miss_waits_when_the_super_queue_is_full(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l2_queue = 2;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 0), 1000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(1, 0), 1000, MEMORY, BITS_MEMORY);
	/* enters the queue at 1144 instead of 1000 + L2 - L1 */
	assert_load(f, LINE_AT(2, 0), 1000, MEMORY + (1144 - 1010), BITS_MEMORY);
}

static void test_a_modified_line_is_written_back_level_by_level(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_size = 4096;	/* L3 is as large as L2, and evicts in direct order */
	f->config.l3_ways = 4;
	mf_start(f);
	mf_map(f);
	struct mem_result r = mf_store(f, LINE_AT(0, 0), 1000);
	assert_int_equal(r.ready, 1000 + MEMORY + 1);
	assert_int_equal(r.did, DID(STORE_L1D_MISS));
	assert_int_equal(mf_count(f, SPMU_SIG_L2_RFO_MISS), 1);
	r = mf_store(f, LINE_AT(0, 0) + 8, 2000);
	assert_int_equal(r.ready, 2001);
	assert_int_equal(r.did, 0);
	mf_forget(f);
	const uint64_t written = DID(WROTE_BACK_L1D) | DID(WROTE_BACK_L2);
	r = mf_load(f, LINE_AT(0, 1), 3000);	/* other sets of L2, same set of L1D */
	assert_int_equal(r.did & written, 0);
	assert_int_equal(mf_count(f, SPMU_SIG_L1D_EVICT_MODIFIED), 0);
	r = mf_load(f, LINE_AT(0, 2), 4000);
	assert_int_equal(r.did & written, DID(WROTE_BACK_L1D));
	assert_int_equal(mf_count(f, SPMU_SIG_L1D_EVICT_MODIFIED), 1);
	assert_int_equal(f->count[SPMU_SIG_L2_WB], 1);
	assert_int_equal(f->count[SPMU_SIG_DRAM_WRITE], 0);
	for (unsigned i = 1; i <= 4; i++) {	/* fill L2's and L3's set: L3 takes it out of L2 */
		r = mf_load(f, LINE_AT(0, 4 * i), 5000 + 1000 * i);
		assert_int_equal(r.did & written, 0);
	}
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
}

static void test_a_load_tells_what_was_written_back_for_it(void **state)
{
	struct machine_fixture *f = *state;
	const uint64_t written = DID(WROTE_BACK_L1D) | DID(WROTE_BACK_L2);
	mf_start(f);
	mf_map(f);
	mf_store(f, LINE_AT(0, 0), 1000);
	for (unsigned i = 1; i <= 4; i++)	/* two ways of L1D, four of L2 */
		assert_int_equal(mf_load(f, LINE_AT(0, 4 * i), 1000 + 1000 * i).did & written, i == 2
			? DID(WROTE_BACK_L1D) : i == 4 ? DID(WROTE_BACK_L2) : 0);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_LINES_OUT_DIRTY), 1);
	assert_int_equal(mf_load(f, LINE_AT(0, 16), 9000).did & written, 0);	/* a hit */
}

static void test_a_clean_line_leaves_in_silence(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	for (unsigned i = 0; i < 5; i++)
		mf_load(f, LINE_AT(0, 4 * i), 1000 * (i + 1));
	assert_int_equal(mf_count(f, SPMU_SIG_L2_LINES_OUT_SILENT), 1);
	assert_int_equal(f->count[SPMU_SIG_L2_LINES_OUT_DIRTY], 0);
	assert_int_equal(f->count[SPMU_SIG_L2_LINES_IN], 5);
	assert_int_equal(f->count[SPMU_SIG_L1D_REPLACEMENT], 5);
	assert_int_equal(f->count[SPMU_SIG_L3_REFERENCE], 5);
	assert_int_equal(f->count[SPMU_SIG_L3_MISS_ANY], 5);
	assert_int_equal(f->count[SPMU_SIG_DRAM_READ], 5);
}

static void test_what_an_inclusive_l3_evicts_leaves_the_core(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_size = 2048;	/* two ways of 16 sets */
	f->config.l3_ways = 2;
	mf_start(f);
	mf_map(f);
	mf_store(f, LINE_AT(0, 0), 1000);
	mf_load(f, LINE_AT(0, 4), 2000);
	mf_load(f, LINE_AT(0, 0), 3000);	/* recently used in L1D, which L3 does not see */
	mf_load(f, LINE_AT(0, 8), 4000);	/* L3 evicts the first; L2 had room */
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	assert_load(f, LINE_AT(0, 0), 5000, MEMORY, BITS_MEMORY);
}

static void test_a_victim_l3_holds_what_l2_evicted_and_gives_it_back(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_inclusion = 1;
	mf_start(f);
	mf_map(f);
	for (unsigned i = 0; i < 5; i++)	/* the fifth evicts the first from L2 into L3 */
		assert_load(f, LINE_AT(0, 4 * i), 1000 * (i + 1), MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(0, 0), 10000, L3, BITS_L3);	/* back in L2; line 4 went to L3 */
	for (unsigned i = 1; i < 5; i++)	/* each comes from L3 and pushes the next one out */
		assert_load(f, LINE_AT(0, 4 * i), 10000 + 1000 * i, L3, BITS_L3);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_READ), 5);
}

static void test_a_victim_l3_keeps_modified_lines_modified(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_inclusion = 1;
	f->config.l3_size = 2048;
	f->config.l3_ways = 2;
	mf_start(f);
	mf_map(f);
	mf_store(f, LINE_AT(0, 0), 1000);
	for (unsigned i = 1; i < 7; i++) {
		assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 0);
		mf_load(f, LINE_AT(0, 4 * i), 1000 * (i + 1));	/* four fill L2, two fill L3, then the line is gone */
	}
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
}

static void test_a_line_that_crosses_is_two_accesses_and_a_penalty(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	mf_load(f, LINE_AT(0, 0), 1000);
	mf_load(f, LINE_AT(1, 0), 2000);
	assert_load(f, LINE_AT(1, 0) - 4, 3000, L1 + SPLIT, BITS_L1 | DID(SPLIT_LINE));
	/* the farther level of the two halves decides class and time */
	assert_load(f, LINE_AT(2, 0) - 4, 4000, MEMORY + SPLIT, BITS_MEMORY | DID(SPLIT_LINE));
}

static void test_a_load_over_a_page_boundary_is_told_apart(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	mf_load(f, BASE + 4096 - 64, 1000);
	mf_load(f, BASE + 4096, 2000);
	assert_load(f, BASE + 4096 - 4, 3000, L1 + PAGE_SPLIT, BITS_L1 | DID(SPLIT_LINE) | DID(SPLIT_PAGE));
	struct mem_result r;
	memsys_store_translate(f->m, BASE + 4096 - 4, 8, 4000, &r);
	assert_int_equal(r.did, DID(SPLIT_LINE) | DID(SPLIT_PAGE));
	assert_int_equal(r.ready, 4000);
}

static void test_non_temporal_stores_fill_a_line_and_pass_the_caches(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	struct mem_result r;
	mf_load(f, LINE_AT(0, 0), 500);
	mf_forget(f);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 0);
		memsys_store_commit(f->m, 1, LINE_AT(0, 0) + 8 * i, 8, 1000 + i, true, &r);
		assert_int_equal(r.ready, 1001 + i);
		assert_int_equal(r.did, 0);
	}
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	assert_int_equal(f->count[SPMU_SIG_L2_RFO_MISS] + f->count[SPMU_SIG_L2_RFO_HIT], 0);
	assert_load(f, LINE_AT(0, 0), 2000, MEMORY, BITS_MEMORY);	/* the cached copy is gone */
}

static void test_a_full_write_combining_buffer_makes_the_next_line_wait(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	struct mem_result r;
	for (unsigned i = 0; i < 2; i++)	/* both buffers are sent at once */
		memsys_store_commit(f->m, 1, LINE_AT(0, i), 64, 1000, true, &r);
	memsys_store_commit(f->m, 1, LINE_AT(0, 2), 8, 1002, true, &r);
	assert_int_equal(r.ready, 1001 + L3 + 1);
	assert_int_equal(mf_count(f, SPMU_SIG_L1D_FB_FULL), 1);
}

static void test_a_software_prefetch_brings_the_line(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	memsys_prefetch(f->m, LINE_AT(0, 0), 1000);
	assert_load(f, LINE_AT(0, 0), 1100, MEMORY - 100, BITS_LFB | DID(LFB_SW_PF));
	assert_load(f, LINE_AT(0, 0), 2000, L1, BITS_L1);
}

static void test_a_store_takes_the_line_from_the_other_core(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_snoop_ns = 30;
	mf_start(f);
	struct memsys *second;
	assert_int_equal(memsys_create(&second, f->shared, &f->config, f->e, NULL), 0);
	mf_map(f);
	struct mem_result r;
	memsys_load(second, 1, BASE + 63 * 64, 8, 0, false, &r);
	mf_store(f, LINE_AT(0, 0), 1000);
	memsys_load(second, 1, LINE_AT(0, 0), 8, 2000, false, &r);	/* modified in the first */
	assert_int_equal(r.ready, 2000 + L3 + 30);
	assert_int_equal(r.did, BITS_L3 | DID(SNOOP_HITM));
	assert_load(f, LINE_AT(0, 0), 3000, L1, BITS_L1);		/* shared now */
	r = mf_store(f, LINE_AT(0, 0), 4000);				/* must ask; the second loses the line */
	assert_int_equal(r.ready, 4000 + L3 + 30);
	r = mf_store(f, LINE_AT(0, 0), 5000);
	assert_int_equal(r.ready, 5001);
	memsys_load(second, 1, LINE_AT(0, 0), 8, 6000, false, &r);
	assert_int_equal(r.ready, 6000 + L3 + 30);
	memsys_destroy(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MF_TEST(test_each_level_has_its_latency_and_bits),
		MF_TEST(test_a_vector_load_takes_longer),
		MF_TEST(test_others_push_lines_out_of_l3_with_time),
		MF_TEST(test_others_leave_lines_in_l3_for_a_while),
		MF_TEST(test_of_a_steep_fall_lines_go_near_one_time),
		MF_TEST(test_of_a_steep_fall_none_stays_longer),
		MF_TEST(test_alone_a_line_stays_in_l3),
		MF_TEST(test_a_second_load_to_a_line_in_flight_waits_for_the_rest),
		MF_TEST(test_a_miss_waits_when_all_fill_buffers_are_busy),
		MF_TEST(test_an_l2_miss_waits_when_the_super_queue_is_full),
		MF_TEST(test_a_modified_line_is_written_back_level_by_level),
		MF_TEST(test_a_load_tells_what_was_written_back_for_it),
		MF_TEST(test_a_clean_line_leaves_in_silence),
		MF_TEST(test_what_an_inclusive_l3_evicts_leaves_the_core),
		MF_TEST(test_a_victim_l3_holds_what_l2_evicted_and_gives_it_back),
		MF_TEST(test_a_victim_l3_keeps_modified_lines_modified),
		MF_TEST(test_a_line_that_crosses_is_two_accesses_and_a_penalty),
		MF_TEST(test_a_load_over_a_page_boundary_is_told_apart),
		MF_TEST(test_non_temporal_stores_fill_a_line_and_pass_the_caches),
		MF_TEST(test_a_full_write_combining_buffer_makes_the_next_line_wait),
		MF_TEST(test_a_software_prefetch_brings_the_line),
		MF_TEST(test_a_store_takes_the_line_from_the_other_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
