/* SPDX-License-Identifier: GPL-2.0-or-later
 * Phases of made-up runs: blocks of ten instructions, the last a branch, a cycle each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analysis/tune/phase_finder.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 10 };
static struct phases *p;
static struct err err;
static uint64_t cycle, slow;

static void create(uint64_t interval, bool signatures)
{
	phases_destroy(p);
	p = NULL;
	cycle = 0;
	slow = 1;
	assert_int_equal(phases_create(&p, interval, signatures, &err), 0);
}

static int end(void **state)
{
	(void)state;
	phases_destroy(p);
	p = NULL;
	return 0;
}

static void run_block(uint64_t ip)
{
	struct spmu_record r[BLOCK + 1];
	struct spmu_batch b = { .base_cycle = cycle, .records = r, .count = BLOCK + 1, .instructions = BLOCK };
	memset(r, 0, sizeof r);
	for (unsigned i = 0; i < BLOCK; i++)
		r[i] = (struct spmu_record){ .kind = SPMU_REC_UOP, .cpl = 3, .ip = ip + 4 * i, .did = SPMU_DID(RETIRED),
			.retire = (uint32_t)(slow * (i + 1)),
			.is = SPMU_IS(INST_END) | (i == BLOCK - 1 ? SPMU_IS(BRANCH) : 0) };
	/* of a wrong path */
	r[BLOCK] = (struct spmu_record){ .kind = SPMU_REC_UOP, .cpl = 3, .ip = 0xbad, .is = SPMU_IS(INST_END) |
		SPMU_IS(BRANCH) };
	phases_batch(p, &b);
	cycle += slow * BLOCK;
}

/* Runs a phase: its beginning once, then its loop of two blocks, which calls what all phases call. */
static void run_phase(uint64_t at, unsigned rounds)
{
	run_block(at);
	for (unsigned i = 0; i < rounds; i++) {
		run_block(at + 0x100);
		run_block(at + 0x200);
		if (i % 8 == 0)
			run_block(0x9000);
	}
}

static void find(void)
{
	assert_int_equal(phases_finish(p, &err), 0);
	assert_int_equal(phases_find(p, NULL, NULL, &err), 0);
}

static void test_a_run_of_one_loop_is_one_phase(void **state)
{
	(void)state;
	create(1000, true);
	run_phase(0x1000, 5000);
	find();
	assert_int_equal(phases_count(p), 1);
	assert_int_equal(phases_get(p, 0)->marker, 0);
	assert_int_equal(phases_get(p, 0)->stretches, 1);
}

static void test_phases_that_come_back_are_the_same_ones(void **state)
{
	(void)state;
	create(1000, true);
	for (int i = 0; i < 3; i++) {
		run_phase(0x1000, 1007 + (unsigned)i * 111);
		run_phase(0x2000, 813);
	}
	run_phase(0x3000, 700);
	find();
	assert_int_equal(phases_count(p), 3);
	assert_int_equal(phases_get(p, 0)->stretches, 3);
	assert_int_equal(phases_get(p, 1)->stretches, 3);
	assert_int_equal(phases_get(p, 2)->stretches, 1);
	assert_int_equal(phases_of(p, 0), 0);
	assert_int_equal(phases_of(p, phases_intervals(p) - 1), 2);
}

static void test_a_phase_is_marked_by_what_it_begins_with(void **state)
{
	(void)state;
	create(1000, true);
	for (int i = 0; i < 3; i++) {
		run_phase(0x1000, 1007);
		run_phase(0x2000, 813);
	}
	find();
	assert_int_equal(phases_get(p, 0)->marker, 0x1000);
	assert_int_equal(phases_get(p, 1)->marker, 0x2000);
}

static bool not_the_beginning(void *context, uint64_t ip)
{
	(void)context;
	return ip != 0x2000;
}

static void test_a_marker_is_one_that_can_be_used(void **state)
{
	(void)state;
	create(1000, true);
	run_phase(0x1000, 1007);
	run_phase(0x2000, 813);
	assert_int_equal(phases_finish(p, &err), 0);
	assert_int_equal(phases_find(p, not_the_beginning, NULL, &err), 0);
	assert_int_equal(phases_count(p), 2);
	assert_int_equal(phases_get(p, 1)->marker, 0x2100);
}

static bool nothing(void *context, uint64_t ip)
{
	(void)context, (void)ip;
	return false;
}

static void test_what_nothing_marks_goes_on_as_before(void **state)
{
	(void)state;
	create(1000, true);
	run_phase(0x1000, 1007);
	run_phase(0x2000, 813);
	assert_int_equal(phases_finish(p, &err), 0);
	assert_int_equal(phases_find(p, nothing, NULL, &err), 0);
	assert_int_equal(phases_count(p), 1);
	assert_int_equal(phases_unmarked(p), 1);
}

/* A block that both phases execute all the time marks neither. */
static void test_a_marker_is_not_executed_within_another_phase(void **state)
{
	(void)state;
	create(1000, true);
	run_phase(0x1000, 1007);
	for (int i = 0; i < 900; i++) {
		run_block(0x9000);	/* first, but the other phase calls it too */
		run_block(0x2100);
		run_block(0x2200);
	}
	find();
	assert_int_equal(phases_count(p), 2);
	assert_int_equal(phases_get(p, 1)->marker, 0x2100);
}

static void test_a_short_stretch_is_none(void **state)
{
	(void)state;
	create(1000, true);
	run_phase(0x1000, 1000);
	run_phase(0x2000, 60);		/* 1,200 instructions: an interval and a bit */
	run_phase(0x1000, 1000);
	find();
	assert_int_equal(phases_count(p), 1);
}

static void test_cycles_are_those_of_the_intervals(void **state)
{
	uint64_t sum = 0, insns = 0;
	(void)state;
	create(1000, false);
	for (unsigned i = 0; i < 300; i++) {
		slow = i < 100 ? 1 : 3;
		run_block(0x1000);
	}
	assert_int_equal(phases_finish(p, &err), 0);
	assert_int_equal(phases_intervals(p), 3);
	for (size_t i = 0; i < 3; i++) {
		sum += phases_cycles(p, i);
		insns += phases_instructions(p, i);
	}
	assert_int_equal(phases_cycles(p, 0), 1000);
	assert_int_equal(phases_cycles(p, 2), 3000);
	assert_int_equal(sum, cycle);
	assert_int_equal(insns, 3000);
}

static void test_a_long_run_has_longer_intervals(void **state)
{
	uint64_t sum = 0;
	(void)state;
	create(10, true);
	for (int i = 0; i < 3; i++) {
		run_phase(0x1000, PHASES_INTERVALS);
		run_phase(0x2000, PHASES_INTERVALS);
	}
	find();
	assert_true(phases_intervals(p) < PHASES_INTERVALS);
	assert_true(phases_interval(p) > 10 && !(phases_interval(p) / 10 & (phases_interval(p) / 10 - 1)));
	for (size_t i = 0; i < phases_intervals(p); i++)
		sum += phases_cycles(p, i);
	assert_int_equal(sum, cycle);
	assert_int_equal(phases_count(p), 2);
	assert_int_equal(phases_get(p, 0)->stretches, 3);
	assert_int_equal(phases_get(p, 1)->marker, 0x2000);
}

static void test_nothing_at_all_has_no_phases(void **state)
{
	(void)state;
	create(1000, true);
	find();
	assert_int_equal(phases_count(p), 0);
	assert_int_equal(phases_intervals(p), 0);
}

#define T(f) cmocka_unit_test_teardown(f, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_run_of_one_loop_is_one_phase), T(test_phases_that_come_back_are_the_same_ones),
			T(test_a_phase_is_marked_by_what_it_begins_with),
		T(test_a_marker_is_one_that_can_be_used), T(test_what_nothing_marks_goes_on_as_before),
		T(test_a_marker_is_not_executed_within_another_phase),
		T(test_a_short_stretch_is_none), T(test_cycles_are_those_of_the_intervals),
		T(test_a_long_run_has_longer_intervals), T(test_nothing_at_all_has_no_phases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
