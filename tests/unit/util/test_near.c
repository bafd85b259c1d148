/* SPDX-License-Identifier: GPL-2.0-or-later
 * Nearest names: what is suggested for a mistyped name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "util/near.h"
#include <stdio.h>
#include <string.h>

static const char *const fields[] = { "uops", "rob.size", "rs.size", "itlb.entries", "dtlb.entries", "dsb.ways",
	"l1d.size", "l1d.ways" };
static const char *const events[] = { "CYCLE_ACTIVITY.STALLS", "CYCLE_ACTIVITY.L3", "CYCLE_ACTIVITY.L2", "cycles",
	"cpu-cycles",
	"MEM_INST_RETIRED.ALL_LOADS", "MEM_INST_RETIRED.ALL_STORES", "instructions", "branch-instructions",
	"INST_RETIRED.ANY" };
#define NEAR(wanted, names) nearest(wanted, names, sizeof (names) / sizeof *(names))

static const char *nearest(const char *wanted, const char *const *name, size_t names)
{
	static char text[512];
	struct near n;
	near_start(&n, wanted);
	for (size_t i = 0; i < names; i++)
		near_offer(&n, name[i], strlen(name[i]));
	bool found = near_text(&n, "", text, sizeof text);
	assert_int_equal(found, text[0] != 0);
	return text;
}

static void test_letters_changed_lost_added_and_exchanged(void **state)
{
	(void)state;
	assert_string_equal(NEAR("rob.sise", fields), "rob.size");
	assert_string_equal(NEAR("instructins", events), "instructions, branch-instructions");
	assert_string_equal(NEAR("instructiosn", events), "instructions, branch-instructions");
	assert_string_equal(NEAR("uopss", fields), "uops");
}

static void test_parts_are_names_too(void **state)
{
	(void)state;
	assert_string_equal(NEAR("robb", fields), "rob.size");
	assert_string_equal(NEAR("entries", fields), "itlb.entries, dtlb.entries");
	assert_string_equal(NEAR("all_stores", events), "MEM_INST_RETIRED.ALL_STORES");
}

static void test_capitals_and_the_kind_of_separator_are_no_difference(void **state)
{
	(void)state;
	assert_string_equal(NEAR("mem-inst-retired:all:loads", events), "MEM_INST_RETIRED.ALL_LOADS");
	assert_string_equal(NEAR("L1D_size", fields), "l1d.size");
}

static void test_a_separator_too_many_or_too_few_is_a_letter(void **state)
{
	(void)state;
	assert_string_equal(NEAR("l1dsize", fields), "l1d.size");
	assert_string_equal(NEAR("in-structions", events), "instructions, branch-instructions");
}

static void test_the_short_name_comes_before_the_long_one_that_begins_alike(void **state)
{
	(void)state;
	/* equals stay in order */
	assert_string_equal(NEAR("cycle", events), "cycles, CYCLE_ACTIVITY.L3, CYCLE_ACTIVITY.L2");
	assert_string_equal(NEAR("instrs", events), "instructions, branch-instructions, INST_RETIRED.ANY");
}

static void test_the_first_part_weighs_more_than_the_rest(void **state)
{
	(void)state;
	assert_string_equal(NEAR("rob.entries", fields), "rob.size");
}

static void test_what_is_like_nothing_gets_nothing(void **state)
{
	(void)state;
	char longest[300];
	memset(longest, 'r', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	assert_string_equal(NEAR("xyzzy", events), "");
	assert_string_equal(NEAR("", events), "");
	assert_string_equal(NEAR("--", events), "");
	assert_string_equal(NEAR("x", events), "");
	assert_string_equal(NEAR(longest, events), "");
	assert_string_equal(nearest("rrrr", (const char *const[]){ longest, "" }, 2), "");
}

static void test_a_name_is_told_once_and_cut_between_names(void **state)
{
	(void)state;
	struct near n;
	char text[10];
	assert_string_equal(nearest("cycls", (const char *const[]){ "cycles", "CYCLES", "cycles" }, 3), "cycles");
	near_start(&n, "entries");
	for (size_t i = 0; i < 8; i++)
		near_offer(&n, fields[i], strlen(fields[i]));
	assert_false(near_text(&n, "", text, sizeof text));
	assert_string_equal(text, "");
	char room[16];
	assert_true(near_text(&n, ": ", room, sizeof room));
	assert_string_equal(room, ": itlb.entries");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_letters_changed_lost_added_and_exchanged),
		cmocka_unit_test(test_parts_are_names_too),
		cmocka_unit_test(test_capitals_and_the_kind_of_separator_are_no_difference),
		cmocka_unit_test(test_a_separator_too_many_or_too_few_is_a_letter),
		cmocka_unit_test(test_the_short_name_comes_before_the_long_one_that_begins_alike),
		cmocka_unit_test(test_the_first_part_weighs_more_than_the_rest),
		cmocka_unit_test(test_what_is_like_nothing_gets_nothing),
		cmocka_unit_test(test_a_name_is_told_once_and_cut_between_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
