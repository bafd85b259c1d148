/* SPDX-License-Identifier: GPL-2.0-or-later
 * Replacement policies: which way is evicted, in exact order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/memory/cache.h"
#include <string.h>

static void fill(struct cache *c, uint32_t line, uint32_t expect_victim)
{
	struct cache_victim v;
	cache_fill(c, line, 0, &v);
	assert_int_equal(v.line, expect_victim);
}

static void touch(struct cache *c, uint32_t line)
{
	int32_t slot = cache_find(c, line);
	assert_true(slot >= 0);
	cache_touch(c, slot);
}

static void start(struct cache *c, uint32_t sets, uint32_t ways, unsigned policy)
{
	assert_int_equal(cache_init(c, "test", sets * ways * 64, ways, policy, LINE_LOG2, 0, NULL), 0);
	for (uint32_t i = 0; i < ways; i++)	/* set 0 */
		fill(c, 100 * sets + i * sets, LINE_NONE);
}

static void test_lru_evicts_the_least_recently_used(void **state)
{
	(void)state;
	struct cache c;
	start(&c, 1, 4, REPL_LRU);		/* 100 101 102 103 */
	touch(&c, 100);
	touch(&c, 102);
	fill(&c, 200, 101);
	fill(&c, 201, 103);
	fill(&c, 202, 100);
	fill(&c, 203, 102);
	fill(&c, 204, 200);
	cache_release(&c);
}

static void test_lru_keeps_the_order_of_sixteen_ways(void **state)
{
	(void)state;
	struct cache c;
	start(&c, 1, 16, REPL_LRU);
	for (uint32_t i = 16; i-- > 0; )
		touch(&c, 100 + i);
	for (uint32_t i = 16; i-- > 0; )
		fill(&c, 200 + i, 100 + i);
	cache_release(&c);
}

static void test_plru_follows_the_tree(void **state)
{
	(void)state;
	struct cache c;
	start(&c, 1, 4, REPL_PLRU);
	/* filled 0 1 2 3: the root points left, the left node to way 0 */
	touch(&c, 100);			/* root right, left node to 1 */
	fill(&c, 200, 102);		/* right node pointed to way 2 */
	fill(&c, 201, 101);		/* root left again */
	fill(&c, 202, 103);
	fill(&c, 203, 100);
	cache_release(&c);
}

static void test_plru_of_twelve_ways_uses_every_way(void **state)
{
	(void)state;
	struct cache c;
	start(&c, 1, 12, REPL_PLRU);
	bool gone[12] = { false };
	for (uint32_t i = 0; i < 12; i++) {
		struct cache_victim v;
		cache_fill(&c, 200 + i, 0, &v);
		assert_in_range(v.line, 100, 111);
		assert_false(gone[v.line - 100]);
		gone[v.line - 100] = true;
	}
	cache_release(&c);
}

static void test_srrip_evicts_what_was_never_used_again(void **state)
{
	(void)state;
	struct cache c;
	start(&c, 1, 4, REPL_SRRIP);		/* all of age 2 */
	touch(&c, 101);				/* age 0 */
	fill(&c, 200, 100);			/* aged to 3 3 3, 101 to 1 */
	fill(&c, 201, 102);
	fill(&c, 202, 103);
	touch(&c, 200);				/* ages: 200 0, 101 1, 201 and 202 2 */
	fill(&c, 203, 201);
	cache_release(&c);
}

static void test_quad_age_keeps_new_lines_longer_than_srrip(void **state)
{
	(void)state;
	struct cache c;
	start(&c, 1, 4, REPL_QUAD);		/* all of age 1 */
	touch(&c, 100);				/* age 0 */
	fill(&c, 200, 101);			/* aged by 2: 100 2, 102 and 103 3; 200 enters at 1 */
	fill(&c, 201, 102);
	fill(&c, 202, 103);
	fill(&c, 203, 100);			/* the line that was used once is now the oldest */
	cache_release(&c);
}

static void test_an_empty_way_is_filled_first(void **state)
{
	(void)state;
	struct cache c;
	start(&c, 1, 4, REPL_LRU);
	cache_drop(&c, cache_find(&c, 102));
	fill(&c, 200, LINE_NONE);
	fill(&c, 201, 100);
	cache_release(&c);
}

static void test_sets_need_not_be_a_power_of_two(void **state)
{
	(void)state;
	struct cache c;
	enum { SETS_ = 5 * 1024, WAYS_ = 15 };
	assert_int_equal(cache_init(&c, "test", SETS_ * WAYS_ * 64, WAYS_, REPL_LRU, LINE_LOG2, 0, NULL), 0);
	uint32_t evicted = 0;
	for (uint32_t line = 0; line < SETS_ * WAYS_ * 9 / 10; line++) {
		struct cache_victim v;
		cache_fill(&c, line, 0, &v);
		evicted += v.line != LINE_NONE;
	}
	/* a contiguous range of 90 % of the size spreads evenly: almost nothing is evicted */
	assert_true(evicted < SETS_ * WAYS_ / 50);
	for (uint32_t line = SETS_ * WAYS_; line < SETS_ * WAYS_ + 1000; line++)
		assert_int_equal(cache_find(&c, line), -1);
	cache_release(&c);
}

static void test_l1_sets_must_be_a_power_of_two(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct l1 c;
	assert_int_equal(l1_init(&c, "l1d", 3 * 64 * 8, 8, REPL_PLRU, LINE_LOG2, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "l1d.size"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lru_evicts_the_least_recently_used),
		cmocka_unit_test(test_lru_keeps_the_order_of_sixteen_ways),
		cmocka_unit_test(test_plru_follows_the_tree),
		cmocka_unit_test(test_plru_of_twelve_ways_uses_every_way),
		cmocka_unit_test(test_srrip_evicts_what_was_never_used_again),
		cmocka_unit_test(test_quad_age_keeps_new_lines_longer_than_srrip),
		cmocka_unit_test(test_an_empty_way_is_filled_first),
		cmocka_unit_test(test_sets_need_not_be_a_power_of_two),
		cmocka_unit_test(test_l1_sets_must_be_a_power_of_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
