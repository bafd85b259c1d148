/* SPDX-License-Identifier: GPL-2.0-or-later
 * PEBS data sources as perf's words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include "session/driver/data_source.h"

static union perf_mem_data_src of(uint64_t source, bool store)
{
	return (union perf_mem_data_src){ .val = data_source(source, store) };
}

static void test_loads_say_the_level_that_had_the_data(void **state)
{
	(void)state;
	static const struct { unsigned source, level, number; } rows[] = {
		{ 1, PERF_MEM_LVL_L1, PERF_MEM_LVLNUM_L1 }, { 2, PERF_MEM_LVL_LFB, PERF_MEM_LVLNUM_LFB },
		{ 3, PERF_MEM_LVL_L2, PERF_MEM_LVLNUM_L2 },
		{ 4, PERF_MEM_LVL_L3, PERF_MEM_LVLNUM_L3 }, { 12, PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVLNUM_RAM },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		union perf_mem_data_src d = of(rows[i].source, false);
		assert_int_equal(d.mem_op, PERF_MEM_OP_LOAD);
		assert_int_equal(d.mem_lvl, PERF_MEM_LVL_HIT | rows[i].level);
		assert_int_equal(d.mem_lvl_num, rows[i].number);
	}
}

static void test_a_line_that_another_core_had_changed_is_a_hitm(void **state)
{
	(void)state;
	assert_int_equal(of(7, false).mem_snoop, PERF_MEM_SNOOP_HITM);
	assert_int_equal(of(6, false).mem_snoop, PERF_MEM_SNOOP_HIT);
	assert_int_equal(of(4, false).mem_snoop, PERF_MEM_SNOOP_NONE);
}

static void test_an_encoding_that_the_manual_does_not_have_is_not_available(void **state)
{
	(void)state;
	assert_int_equal(of(0, false).mem_lvl, PERF_MEM_LVL_NA);
	assert_int_equal(of(0xf, false).mem_lvl, PERF_MEM_LVL_NA);
	assert_int_equal(of(0xf, false).mem_lvl_num, PERF_MEM_LVLNUM_NA);
}

static void test_stores_hit_or_miss_the_first_level(void **state)
{
	(void)state;
	assert_int_equal(of(1, true).mem_op, PERF_MEM_OP_STORE);
	assert_int_equal(of(1, true).mem_lvl, PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT);
	assert_int_equal(of(0, true).mem_lvl, PERF_MEM_LVL_L1 | PERF_MEM_LVL_MISS);
}

static void test_a_store_that_is_sampled_with_its_source_has_a_loads_values(void **state)
{
	(void)state;
	assert_int_equal(of(3, true).mem_op, PERF_MEM_OP_STORE);
	assert_int_equal(of(3, true).mem_lvl, PERF_MEM_LVL_L2 | PERF_MEM_LVL_HIT);
	assert_int_equal(of(7, true).mem_lvl, PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT);
	assert_int_equal(of(7, true).mem_snoop, PERF_MEM_SNOOP_HITM);
	assert_int_equal(of(10, true).mem_lvl, PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_HIT);
}

static void test_tlb_lock_and_block_bits_are_their_own(void **state)
{
	(void)state;
	assert_int_equal(of(1, false).mem_dtlb, PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2);
	assert_int_equal(of(1 | 1 << 4, false).mem_dtlb, PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2);
	assert_int_equal(of(1, false).mem_lock, PERF_MEM_LOCK_NA);
	assert_int_equal(of(1 | 1 << 5, false).mem_lock, PERF_MEM_LOCK_LOCKED);
	assert_int_equal(of(1 | 1 << 6, false).mem_blk, PERF_MEM_BLK_DATA);
	assert_int_equal(of(1 | 1 << 7, false).mem_blk, PERF_MEM_BLK_ADDR);
}

static void test_an_access_of_which_nothing_is_told_says_so(void **state)
{
	(void)state;
	union perf_mem_data_src d = { .val = data_source_unknown(true) };
	assert_int_equal(d.mem_op, PERF_MEM_OP_STORE);
	assert_int_equal(d.mem_lvl, PERF_MEM_LVL_NA);
	assert_int_equal(d.mem_dtlb, PERF_MEM_TLB_NA);
	assert_int_equal(d.mem_snoop, PERF_MEM_SNOOP_NA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_say_the_level_that_had_the_data),
		cmocka_unit_test(test_a_line_that_another_core_had_changed_is_a_hitm),
		cmocka_unit_test(test_an_encoding_that_the_manual_does_not_have_is_not_available),
		cmocka_unit_test(test_stores_hit_or_miss_the_first_level),
		cmocka_unit_test(test_a_store_that_is_sampled_with_its_source_has_a_loads_values),
		cmocka_unit_test(test_tlb_lock_and_block_bits_are_their_own),
		cmocka_unit_test(test_an_access_of_which_nothing_is_told_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
