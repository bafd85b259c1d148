/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which counter counts what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "session/events/counter_plan.h"
#include <string.h>

static unsigned plan(struct plan_item *item, size_t n)
{
	unsigned pmus = 99;
	size_t which = 0;
	struct err err = { 0 };
	assert_int_equal(plan_make(item, n, 8, 4, &pmus, &which, &err), 0);
	return pmus;
}

static void test_a_fixed_counter_is_taken_first(void **state)
{
	(void)state;
	struct plan_item item[] = { { .pmc_mask = 0xff, .fixed = 0 }, { .pmc_mask = 0xff, .fixed = -1 } };
	assert_int_equal(plan(item, 2), 1);
	assert_int_equal(item[0].gp, -1);
	assert_true(item[1].gp >= 0);
}

static void test_a_second_asker_takes_a_general_counter_or_another_copy(void **state)
{
	(void)state;
	struct plan_item item[] = { { .pmc_mask = 0xff, .fixed = 0 }, { .pmc_mask = 0xff, .fixed = 0 } };
	assert_int_equal(plan(item, 2), 1);
	assert_int_equal(item[0].gp, -1);
	assert_true(item[1].gp >= 0);
	struct plan_item only[] = { { .fixed = 0 }, { .fixed = 0 } };
	assert_int_equal(plan(only, 2), 2);
	assert_int_equal(only[0].pmu, 0);
	assert_int_equal(only[1].pmu, 1);
}

static void test_metrics_share_their_fixed_counter_with_metrics_only(void **state)
{
	(void)state;
	struct plan_item item[] = { { .fixed = 3 }, { .fixed = 3, .metric = true }, { .fixed = 3, .metric = true },
		{ .fixed = 3 }, { .pmc_mask = 0xff, .fixed = 0 } };
	assert_int_equal(plan(item, 5), 3);
	assert_int_equal(item[0].pmu, 0);
	assert_int_equal(item[1].pmu, 1);
	assert_int_equal(item[2].pmu, 1);
	assert_int_equal(item[3].pmu, 2);
	assert_int_equal(item[4].pmu, 0);
}

static void test_the_choosy_get_their_counter(void **state)
{
	(void)state;
	/* assigned in the given order, the other items could take the only counter that the last one may use */
	struct plan_item item[8];
	for (int i = 0; i < 7; i++)
		item[i] = (struct plan_item){ .pmc_mask = 0xff, .fixed = -1 };
	item[7] = (struct plan_item){ .pmc_mask = 0x08, .fixed = -1 };
	assert_int_equal(plan(item, 8), 1);
	assert_int_equal(item[7].gp, 3);
}

static void test_what_no_counter_can_count_is_refused(void **state)
{
	(void)state;
	struct plan_item item[] = { { .pmc_mask = 1, .fixed = -1 }, { .pmc_mask = 0x300, .fixed = -1 } };
	unsigned pmus = 7;
	size_t which = 0;
	struct err err = { 0 };
	assert_int_equal(plan_make(item, 2, 8, 4, &pmus, &which, &err), ERR_UNSUPPORTED);
	assert_int_equal(which, 1);
	assert_int_equal(pmus, 7);
}

/* With random demands, every item gets a counter that it may use, no counter is used twice and no copy is empty. */
static void test_no_counter_is_given_twice(void **state)
{
	(void)state;
	uint64_t x = 88172645463325252u;
	for (int round = 0; round < 2000; round++) {
		struct plan_item item[40];
		size_t n = 1 + round % 40;
		for (size_t i = 0; i < n; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			item[i] = (struct plan_item){ .pmc_mask = (uint32_t)(x & 0xff),
				.fixed = (int)(x >> 8 & 7) - 4 };
			if (item[i].fixed < 0) {
				item[i].fixed = -1;
				item[i].pmc_mask |= UINT32_C(1) << (x >> 16 & 7);
			}
		}
		unsigned pmus = plan(item, n), gp[40] = { 0 }, fixed[40] = { 0 };
		assert_true(pmus <= n);
		for (size_t i = 0; i < n; i++) {
			assert_true(item[i].pmu < pmus);
			unsigned *use = item[i].gp < 0 ? fixed + item[i].pmu : gp + item[i].pmu;
			unsigned bit = 1u << (item[i].gp < 0 ? item[i].fixed : item[i].gp);
			assert_true(item[i].gp < 0 ? item[i].fixed >= 0 : (item[i].pmc_mask & bit) != 0);
			assert_false(*use & bit);
			*use |= bit;
		}
		for (unsigned k = 0; k < pmus; k++)
			assert_true(gp[k] | fixed[k]);
	}
}

static void test_two_values_use_two_registers_and_a_third_another_copy(void **state)
{
	(void)state;
	enum { RSP_0 = 0x1a6, RSP_1 = 0x1a7 };
	struct plan_item item[] = {
		{ .pmc_mask = 0xff, .fixed = -1, .extra_msr = RSP_0, .extra = 1, .other_msr = RSP_1 },
		{ .pmc_mask = 0xff, .fixed = -1, .extra_msr = RSP_0, .extra = 2, .other_msr = RSP_1 },
		{ .pmc_mask = 0xff, .fixed = -1, .extra_msr = RSP_1, .extra = 1, .other_msr = RSP_0 },
		{ .pmc_mask = 0xff, .fixed = -1, .extra_msr = RSP_0, .extra = 3, .other_msr = RSP_1 } };
	assert_int_equal(plan(item, 4), 2);
	static const struct { unsigned pmu; bool other; } want[] = { { 0, false }, { 0, true }, { 0, true },
		{ 1, false } };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(item[i].pmu, want[i].pmu);
		assert_int_equal(item[i].other, want[i].other);
	}
	/* a PMU with one register */
	struct plan_item one[] = { { .pmc_mask = 0xff, .fixed = -1, .extra_msr = RSP_0, .extra = 1 },
		{ .pmc_mask = 0xff, .fixed = -1, .extra_msr = RSP_0, .extra = 2 } };
	assert_int_equal(plan(one, 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fixed_counter_is_taken_first),
		cmocka_unit_test(test_a_second_asker_takes_a_general_counter_or_another_copy),
		cmocka_unit_test(test_metrics_share_their_fixed_counter_with_metrics_only),
		cmocka_unit_test(test_the_choosy_get_their_counter),
		cmocka_unit_test(test_what_no_counter_can_count_is_refused),
		cmocka_unit_test(test_no_counter_is_given_twice),
		cmocka_unit_test(test_two_values_use_two_registers_and_a_third_another_copy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
