/* SPDX-License-Identifier: GPL-2.0-or-later
 * Windows of two runs: totals, and the interval of a difference, which is narrow if each window differs as much. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "analysis/windows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 100, LENGTH = 1000, STANDS = 10000 };

/* A run whose windows count 500 to 599, and `more` per cent of that, as things number 1, and `things` as number 0. */
static struct windows *take(unsigned number, double more, double things)
{
	struct windows *w;
	struct windows_thread *t;
	struct run_thread thread = { 0 };
	struct run_result r = { .sampled = NUMBER * STANDS };
	struct err err;
	double now[2] = { 0 };
	assert_int_equal(windows_create(&w, 2, 2, &err), 0);
	assert_int_equal(windows_thread(w, &t, &thread, &err), 0);
	for (unsigned i = 0; i < number; i++) {
		struct run_window part = { .begins = true, .instructions = i * STANDS, .represents = STANDS };
		assert_true(windows_part(t, &part, now));
		now[0] += things;
		now[1] += (500 + 37 * i % 100) * (1 + more / 100);
		part.begins = false;
		part.instructions += LENGTH;
		assert_false(windows_part(t, &part, now));
		now[1] += 1e6;	/* between windows */
	}
	assert_int_equal(windows_total(w, &r, &err), 0);
	return w;
}

static void test_a_run_has_totals(void **state)
{
	(void)state;
	struct windows *w = take(NUMBER, 0, 3);
	double half;
	assert_int_equal(windows_number(w), NUMBER);
	assert_int_equal(windows_measured(w), NUMBER * LENGTH);
	assert_int_equal(windows_count(w, 0, &half), 3 * NUMBER * STANDS / LENGTH);
	assert_int_equal(windows_seen(w, 0), 3 * NUMBER);
	assert_float_equal(windows_count(w, 1, &half), 549.5 * NUMBER * STANDS / LENGTH, 1);
	assert_true(half > 0.005 * 549.5 * NUMBER * STANDS / LENGTH);
	windows_destroy(w);
}

static void test_a_difference_in_the_same_windows_is_known_well(void **state)
{
	(void)state;
	struct windows *a = take(NUMBER, 0, 3), *b = take(NUMBER, 10, 3), *c = take(NUMBER - 1, 10, 3);
	const struct windows_term top[] = { { b, 1, 1 }, { a, 1, -1 } }, bottom = { a, 1, 1 };
	double half;
	windows_count(a, 1, &half);
	const double own = half / (549.5 * NUMBER * STANDS / LENGTH);
	assert_true(windows_ratio(top, 2, &bottom, 1) < 0.001);	/* of 0.1; there is no chance, 0.0005 is for bias */
	assert_true(own > 0.005);
	const struct windows_term other[] = { { c, 1, 1 }, { a, 1, -1 } };
	assert_true(isnan(windows_ratio(other, 2, &bottom, 1)));
	windows_destroy(a);
	windows_destroy(b);
	windows_destroy(c);
}

/* Another process gets the same interval, to the last bit. */
static void test_windows_come_through_a_text(void **state)
{
	(void)state;
	struct windows *a = take(NUMBER, 0, 3), *b = take(NUMBER, 7, 5), *read;
	struct err err;
	char *text = windows_text(a, 1);
	assert_non_null(text);
	assert_int_equal(windows_read(&read, text, &err), 0);
	assert_int_equal(windows_number(read), NUMBER);
	const struct windows_term top[] = { { b, 1, 1 }, { a, 1, -1 } }, bottom = { a, 1, 1 };
	const struct windows_term there[] = { { b, 1, 1 }, { read, 1, -1 } }, below = { read, 1, 1 };
	const double here = windows_ratio(top, 2, &bottom, 1), far = windows_ratio(there, 2, &below, 1);
	assert_true(here > 0 && !memcmp(&here, &far, sizeof here));
	windows_destroy(read);
	static const char *const bad[] = { "", "2", "2 1", "2 1 0x1p+0", "1 1 1 1", "-1 1", "99999999 1 1", "2 1 1 x",
		"2  1 1 1", "nan 1 1" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (windows_read(&read, bad[i], &err) != ERR_INPUT || read)
			fail_msg("'%s' was read", bad[i]);
	free(text);
	windows_destroy(a);
	windows_destroy(b);
}

static void test_without_a_window_there_is_no_total(void **state)
{
	(void)state;
	struct windows *w;
	struct err err;
	assert_int_equal(windows_create(&w, 2, 2, &err), 0);
	double half;
	const struct windows_term term = { w, 0, 1 };
	assert_true(isnan(windows_count(w, 1, &half)) && isnan(half));
	assert_int_equal(windows_number(w), 0);
	assert_true(isnan(windows_ratio(&term, 1, &term, 1)));
	assert_int_equal(windows_total(w, &(struct run_result){ 0 }, &err), ERR_INPUT);
	windows_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_run_has_totals),
		cmocka_unit_test(test_a_difference_in_the_same_windows_is_known_well),
		cmocka_unit_test(test_windows_come_through_a_text),
		cmocka_unit_test(test_without_a_window_there_is_no_total),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
