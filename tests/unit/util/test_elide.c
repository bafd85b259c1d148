/* SPDX-License-Identifier: GPL-2.0-or-later
 * Long names are cut to a width, and stay different from each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "util/elide.h"
#include <stdlib.h>
#include <string.h>

static const char long_name[] = "shop::stock::cache<std::basic_string<char, std::char_traits<char> >, std::pair<int, "
				"double> >::insert(std::basic_string<char> const&, int)";

static const char *elided(const char *name, size_t width)
{
	static char text[ELIDE_BYTES];
	elide_name(text, name, width, "..", NULL);
	return text;
}

static void test_a_name_that_fits_is_left_alone(void **state)
{
	(void)state;
	assert_string_equal(elided("main", 4), "main");
	assert_string_equal(elided(long_name, strlen(long_name)), long_name);
}

static void test_arguments_go_before_namespaces_and_these_before_the_function(void **state)
{
	(void)state;
	assert_string_equal(elided(long_name, 103),
		"shop::stock::cache<std::basic_string<char, std::char_traits<..> >, std::pair<int, double> "
		">::insert(..)");
	assert_string_equal(elided(long_name, 60), "shop::stock::cache<..>::insert(..)");
	assert_string_equal(elided(long_name, 30), "..::cache<..>::insert(..)");
	assert_string_equal(elided(long_name, 16), "..::insert(..)");
	assert_string_equal(elided("a_name_without_any_part", 12), "a_nam.._part");
}

static void test_operators_are_not_brackets(void **state)
{
	(void)state;
	assert_string_equal(elided("std::operator< <char, std::char_traits<char> >", 24), "std::operator< <..>");
	assert_string_equal(elided("list<alpha, beta>::operator->", 22), "list<..>::operator->");
	assert_string_equal(elided("list<alpha, beta>::operator()(int, long)", 26), "list<..>::operator()(..)");
	assert_string_equal(elided("(anonymous namespace)::table<alpha, beta>::find", 40),
		"(anonymous namespace)::table<..>::find");
}

static void test_no_width_is_exceeded(void **state)
{
	static const char *const name[] = { long_name, "a(b<c", ">>>>>>>>)))))",
		"\xc3\xa4\xc3\xb6\xc3\xbc::\xc3\x9f<x>::y",
		"f<(lambda at a.cc:1:2)>::operator()<int>" };
	static const char *const mark[] = { "..", "\xe2\x80\xa6" };
	char text[ELIDE_BYTES];
	(void)state;
	for (size_t i = 0; i < sizeof name / sizeof *name; i++)
		for (size_t width = 4; width < 150; width++)
			for (size_t k = 0; k < 4; k++) {
				elide_name(text, name[i], width, mark[k & 1], k & 2 ? name[(i + 1) % 5] : NULL);
				assert_true(elide_width(text) <= width);
				assert_true(elide_width(name[i]) > width || !strcmp(text, name[i]));
			}
}

static void test_a_name_beyond_all_bounds(void **state)
{
	char *name = calloc(1, 100001), text[ELIDE_BYTES];
	(void)state;
	assert_non_null(name);
	for (size_t i = 0; i < 100000; i++)
		name[i] = "a<b(c>::"[i % 8];
	elide_name(text, name, 80, "\xe2\x80\xa6", name + 3);
	assert_in_range(elide_width(text), 1, 80);
	free(name);
}

static void test_names_that_differ_stay_different(void **state)
{
	static const char *const name[] = { "shop::stock::cache<std::string, std::pair<int, double> >::insert",
		"shop::stock::cache<long, std::pair<int, double> >::insert", "main", NULL,
		"shop::stock::cache<std::string, std::pair<int, double> >::insert",
		"shop::stock::cache<std::string, std::pair<char, double> >::insert" };
	enum { NAMES = sizeof name / sizeof *name };
	char *cut[NAMES];
	(void)state;
	assert_true(elide_names(cut, name, NAMES, 34, ".."));
	assert_null(cut[2]);
	assert_null(cut[3]);
	assert_string_equal(cut[0], cut[4]);
	assert_string_not_equal(cut[0], cut[1]);
	assert_string_not_equal(cut[0], cut[5]);
	assert_string_not_equal(cut[1], cut[5]);
	assert_non_null(strstr(cut[1], "long"));
	for (size_t i = 0; i < NAMES; i++) {
		assert_true(!cut[i] || elide_width(cut[i]) <= 34);
		free(cut[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_that_fits_is_left_alone),
		cmocka_unit_test(test_arguments_go_before_namespaces_and_these_before_the_function),
		cmocka_unit_test(test_operators_are_not_brackets),
		cmocka_unit_test(test_no_width_is_exceeded),
		cmocka_unit_test(test_a_name_beyond_all_bounds),
		cmocka_unit_test(test_names_that_differ_stay_different),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
