/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `record` says when it took few samples.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "cli/profile/record_few.c"	/* the commands are not in the library */

static void test_the_period_is_a_prime_that_takes_about_a_thousand(void **state)
{
	(void)state;
	for (uint64_t count = 2000; count < UINT64_C(1) << 50; count = count * 3 + 1) {
		const uint64_t period = record_enough_period(count);
		for (uint64_t d = 2; d * d <= period && d < 10000; d++)
			assert_true(period % d);
		assert_in_range(count / period, RECORD_ENOUGH / 2, RECORD_ENOUGH + 1);
	}
	assert_int_equal(record_enough_period(0), 1);
	assert_int_equal(record_enough_period(1999), 1);
	assert_int_equal(record_enough_period(UINT64_C(1) << 50) % 2, 1);
}

static void test_nothing_is_said_of_enough_samples_or_of_all(void **state)
{
	char text[256];
	(void)state;
	record_few_text("cycles:u", 100, 1000000, 0, text, sizeof text);
	assert_string_equal(text, "");
	record_few_text("cycles:u", 7, 7, 0, text, sizeof text);
	assert_string_equal(text, "");
	record_few_text("cycles:u", 0, 0, 0, text, sizeof text);
	assert_string_equal(text, "");
}

static void test_few_samples_get_advice(void **state)
{
	char text[256], small[20];
	(void)state;
	record_few_text("cycles:u", 99, 1000000, 0, text, sizeof text);
	assert_string_equal(text, "only 99 samples of cycles:u; -c 1009 would take about 1000");
	record_few_text("cycles:u", 1, 1500, 0, text, sizeof text);
	assert_string_equal(text, "only 1 sample of cycles:u; -c 1 would take all 1500");
	record_few_text("cycles:u", 50, 5000000, 4000, text, sizeof text);
	assert_string_equal(text, "only 50 samples of cycles:u; -F 80000 would take about 1000");
	record_few_text("cycles:u", 0, 5000000, 4000, text, sizeof text);
	assert_string_equal(text, "no sample of cycles:u; -c 5003 would take about 1000");
	record_few_text("cycles:u", 0, 5000000, 4000, small, sizeof small);
	assert_int_equal(small[0], 'n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_period_is_a_prime_that_takes_about_a_thousand),
		cmocka_unit_test(test_nothing_is_said_of_enough_samples_or_of_all),
		cmocka_unit_test(test_few_samples_get_advice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
