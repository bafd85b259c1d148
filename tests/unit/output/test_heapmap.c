/* SPDX-License-Identifier: GPL-2.0-or-later
 * Heap blocks by address and time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "output/heapmap.h"

static struct heapmap *h;
static int begin(void **state) { (void)state; return (h = heapmap_create()) ? 0 : -1; }
static int end(void **state) { (void)state; heapmap_destroy(h); return 0; }

static uint64_t site(uint64_t addr, uint64_t cycle)
{
	const struct heapmap_block *b = heapmap_find(h, addr, cycle);
	return b ? b->site : 0;
}

static void test_a_block_is_found_by_any_of_its_bytes(void **state)
{
	(void)state;
	heapmap_add(h, 0x10ff0, 0x20, 1, 0, 100);	/* crosses a page boundary */
	heapmap_add(h, 0x20000, 0x100000, 2, 0, 100);
	assert_int_equal(site(0x10fef, 200), 0);
	assert_int_equal(site(0x10ff0, 200), 1);
	assert_int_equal(site(0x1100f, 200), 1);
	assert_int_equal(site(0x11010, 200), 0);
	assert_int_equal(site(0x1ffff, 200), 0);
	assert_int_equal(site(0x20000, 200), 2);
	assert_int_equal(site(0x11ffff, 200), 2);
	assert_int_equal(site(0x120000, 200), 0);
}

static void test_the_youngest_at_that_time_is_the_answer(void **state)
{
	(void)state;
	heapmap_add(h, 0x1000, 64, 1, 0, 100);
	heapmap_add(h, 0x1000, 32, 2, 0, 500);
	heapmap_add(h, 0x1020, 32, 3, 0, 600);
	assert_int_equal(site(0x1000, 400), 1);
	assert_int_equal(site(0x1000, 500), 2);
	assert_int_equal(site(0x1030, 550), 1);
	assert_int_equal(site(0x1030, 700), 3);
	assert_int_equal(site(0x1000, 10), 1);	/* reported before its time: the thread runs ahead */
}

static void test_large_ones_replace_small_ones_and_the_other_way_round(void **state)
{
	(void)state;
	heapmap_add(h, 0x5000, 64, 1, 0, 100);
	heapmap_add(h, 0x4000, 0x10000, 2, 0, 100000);
	assert_int_equal(site(0x5010, 100001), 2);
	heapmap_add(h, 0x5000, 64, 3, 0, 200000);
	assert_int_equal(site(0x5010, 200001), 3);
}

static void test_what_is_removed_is_gone(void **state)
{
	(void)state;
	heapmap_add(h, 0x4000, 0x10000, 2, 0, 100);
	heapmap_add(h, 0x20000, 64, 3, 0, 100);
	heapmap_remove(h, 0x4000);
	heapmap_remove(h, 0x20000);
	assert_int_equal(site(0x4000, 200), 0);
	assert_int_equal(site(0x20000, 200), 0);
}

/* Compares many blocks in the whole address space with a plain array. */
static void test_many_blocks_are_told_apart(void **state)
{
	(void)state;
	enum { BLOCKS = 20000 };
	uint64_t seed = 1;
	static uint64_t at[BLOCKS], size[BLOCKS];
	for (uint64_t i = 0; i < BLOCKS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		at[i] = (uint64_t)i << 16 | (seed >> 48);
		size[i] = 1 + (seed >> 20) % (i % 7 ? 300 : 9000);
		assert_int_equal(heapmap_add(h, at[i], size[i], i + 1, 0, i), 0);
	}
	for (uint64_t i = 0; i + 1 < BLOCKS; i++) {
		uint64_t last = at[i] + size[i] - 1;
		assert_int_equal(site(at[i], BLOCKS), i + 1);
		assert_int_equal(site(last, BLOCKS), last >= at[i + 1] && last < at[i + 1] + size[i + 1] ? i + 2
			: i + 1);
	}
	assert_int_equal(heapmap_add(h, UINT64_MAX - 10, 100, 5, 0, 0), 0);	/* beyond the end: none */
	assert_int_equal(site(UINT64_MAX - 5, BLOCKS), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_block_is_found_by_any_of_its_bytes), T(test_the_youngest_at_that_time_is_the_answer),
		T(test_large_ones_replace_small_ones_and_the_other_way_round), T(test_what_is_removed_is_gone),
		T(test_many_blocks_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
