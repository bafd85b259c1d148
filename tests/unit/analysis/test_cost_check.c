/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which total times can be true, and within which range (analysis/cost/cost_check.h). */
#include "analysis/cost/cost_check.h"
#include "session_fixture.h"
#include <math.h>

static struct cost_check checked(const struct cost_claim *c, const struct cost_beside *other, unsigned others)
{
	struct cost_check out;
	const char *why;
	cost_check(&out, c, cost_marginal(c->change, c->cycles, c->events, c->cycles_changed, c->events_changed, &why),
		other, others);
	return out;
}

static void test_a_replay_that_changed_nothing_else_has_no_range(void **state)
{
	const struct cost_claim c = { COST_FREES, false, 1000, 10, 800, 10, 30 };
	const struct cost_check k = checked(&c, &(struct cost_beside){ "other", 1000, 1005, 50 }, 1);
	(void)state;
	assert_null(k.withheld);
	assert_float_equal(k.low, 20, 1e-9);
	assert_float_equal(k.high, 20, 1e-9);
	assert_int_equal(k.besides, 0);
}

static void test_other_events_that_went_or_came_make_the_range(void **state)
{
	const struct cost_claim c = { COST_FREES, false, 1000, 10, 800, 10, (double)NAN };
	const struct cost_beside other[] = { { "went", 20, 10, 5 }, { "came", 1, 4, 10 },
		{ "unpriced", 1, 2, (double)NAN } };
	const struct cost_check k = checked(&c, other, 3);
	(void)state;
	assert_null(k.withheld);
	assert_float_equal(k.low, 15, 1e-9);	/* 50 of the 200 cycles may be those of the other event */
	assert_float_equal(k.high, 23, 1e-9);
	assert_int_equal(k.besides, 3);
	assert_string_equal(k.beside[0].name, "went");
	assert_string_equal(k.beside[1].name, "came");
}

static void test_only_the_other_events_that_cost_most_are_kept(void **state)
{
	struct cost_beside other[COST_BESIDE + 2];
	const struct cost_claim c = { COST_FREES, false, 1000, 10, 800, 10, (double)NAN };
	(void)state;
	for (unsigned i = 0; i < COST_BESIDE + 2; i++)
		other[i] = (struct cost_beside){ "", 10, 20, 1 + (i * 5) % 6 };
	const struct cost_check k = checked(&c, other, COST_BESIDE + 2);
	assert_int_equal(k.besides, COST_BESIDE);
	for (unsigned i = 0; i < COST_BESIDE; i++)
		assert_float_equal(k.beside[i].cycles, 6 - i, 0);
}

static void test_more_than_the_whole_run_is_withheld(void **state)
{
	/* one of a hundred events went, and the run is 20 cycles shorter: all would cost 2000 of 1000 */
	const struct cost_claim c = { COST_REMOVES, false, 1000, 100, 980, 99, (double)NAN };
	struct cost_check k;
	(void)state;
	cost_check(&k, &c, 20, NULL, 0);
	assert_non_null(strstr(k.withheld, "longer than the run"));
}

static void test_more_than_such_uops_wait_is_withheld(void **state)
{
	const struct cost_claim zstd = { COST_FREES, false, 1000000, 63, 881200, 63, 102 };
	struct cost_check k = checked(&zstd, NULL, 0);
	(void)state;
	assert_non_null(strstr(k.withheld, "wait from dispatch"));
	/* the other events that went may have been the reason: the range reaches down to what is possible */
	k = checked(&zstd, &(struct cost_beside){ "other", 1200, 0, 99 }, 1);
	assert_null(k.withheld);
}

static void test_a_slower_machine_with_more_events_saves_nothing(void **state)
{
	struct cost_claim c = { COST_REMOVES, false, 1000, 100, 1100, 110, (double)NAN };
	(void)state;
	assert_non_null(strstr(checked(&c, NULL, 0).withheld, "slower"));
	c.worse = true;		/* it was made so on purpose */
	assert_null(checked(&c, NULL, 0).withheld);
	c = (struct cost_claim){ COST_REMOVES, false, 1000, 100, 1100, 0, (double)NAN };
	assert_null(checked(&c, NULL, 0).withheld);	/* without a prefetcher: its cost is negative */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_replay_that_changed_nothing_else_has_no_range),
		cmocka_unit_test(test_other_events_that_went_or_came_make_the_range),
		cmocka_unit_test(test_only_the_other_events_that_cost_most_are_kept),
		cmocka_unit_test(test_more_than_the_whole_run_is_withheld),
		cmocka_unit_test(test_more_than_such_uops_wait_is_withheld),
		cmocka_unit_test(test_a_slower_machine_with_more_events_saves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
