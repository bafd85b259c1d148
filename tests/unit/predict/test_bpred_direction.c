/* SPDX-License-Identifier: GPL-2.0-or-later
 * The direction predictor learns what it should, and does not learn what cannot be learnt. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/predict/bpred.h"
#include <stdlib.h>

#define CONDITIONAL (INSN_BRANCH | INSN_COND)

static void config_small(struct core_config *c)
{
	*c = (struct core_config){
		.tage_base_log2 = 12, .tage_tables = 8, .tage_entries_log2 = 10, .tage_tag_bits = 8,
		.tage_history_min = 4, .tage_history_max = 200, .tage_loop_entries = 16,
		.btb_l1_entries = 64, .btb_l1_ways = 4, .btb_l2_ways = 1, .ras_depth = 8,
		.indirect_tables = 4, .indirect_entries_log2 = 6, .indirect_history_min = 2, .indirect_history_max = 32,
	};
}

static struct bpred *start(const struct core_config *c)
{
	struct bpred *p;
	struct err err = { 0 };
	if (bpred_create(&p, c, &err))
		fail_msg("%s", err.text);
	return p;
}

static bool wrong(struct bpred *p, uint64_t ip, bool taken)
{
	struct bpred_outcome o;
	bpred_branch(p, ip, CONDITIONAL, ip + 2, taken, ip + 100, &o);
	assert_int_equal(o.mispredicted, o.predicted_taken != taken);
	assert_false(o.wrong_target);
	return o.mispredicted;
}

static uint64_t random_state;
static bool coin(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 40 & 1;
}

static void test_a_branch_always_taken_is_learned_at_once(void **state)
{
	struct bpred *p = *state;
	unsigned n = 0;
	for (unsigned i = 0; i < 1000; i++)
		n += wrong(p, 0x401000, true);
	/* unknown branches are predicted not taken, but weakly, so one taken branch changes it */
	assert_int_equal(n, 1);
	n = 0;
	for (unsigned i = 0; i < 1000; i++)
		n += wrong(p, 0x402000, false);
	assert_int_equal(n, 0);
}

static void test_an_alternating_branch_is_learned(void **state)
{
	struct bpred *p = *state;
	unsigned n = 0;
	for (unsigned i = 0; i < 2000; i++)
		n += wrong(p, 0x401000, i & 1) && i >= 1000;
	assert_int_equal(n, 0);
}

static void test_a_pattern_of_period_60_is_learned(void **state)
{
	struct bpred *p = *state;
	bool pattern[60];
	unsigned n = 0;
	for (unsigned i = 0; i < 60; i++)
		pattern[i] = coin();
	for (unsigned i = 0; i < 60000; i++)
		n += wrong(p, 0x401000, pattern[i % 60]) && i >= 30000;
	assert_true(n < 300);		/* below 1 % */
}

static void test_a_branch_that_repeats_one_40_branches_before_is_learned(void **state)
{
	struct bpred *p = *state;
	unsigned n = 0;
	for (unsigned i = 0; i < 60000; i++) {
		bool first = coin();
		wrong(p, 0x401000, first);
		for (unsigned k = 0; k < 39; k++)
			wrong(p, 0x402000 + 16 * k, k % 3 == 0);
		n += wrong(p, 0x403000, first) && i >= 50000;
	}
	assert_true(n < 100);		/* 1 % of 10,000 */
}

static void test_a_random_branch_is_wrong_half_the_time(void **state)
{
	struct bpred *p = *state;
	unsigned n = 0;
	for (unsigned i = 0; i < 100000; i++)
		n += wrong(p, 0x401000, coin());
	assert_in_range(n, 48500, 51500);
}

static unsigned exits_missed(struct bpred *p, unsigned trip)
{
	unsigned n = 0;
	for (unsigned i = 0; i < 200; i++)
		for (unsigned k = 1; k <= trip; k++) {
			/* a random branch in the body spoils the global history */
			wrong(p, 0x404000, coin());
			n += wrong(p, 0x405000, k < trip) && i >= 100;
		}
	return n;
}

static void test_the_loop_predictor_knows_the_exit_of_long_loops(void **state)
{
	struct bpred *p = *state;
	assert_true(exits_missed(p, 300) <= 5);
}

static void test_without_it_the_exit_of_a_long_loop_is_missed(void **state)
{
	(void)state;
	struct core_config c;
	config_small(&c);
	c.tage_loop_entries = 0;
	struct bpred *p = start(&c);
	assert_true(exits_missed(p, 300) >= 90);
	bpred_destroy(p);
}

static void test_a_longer_history_sees_further(void **state)
{
	(void)state;
	unsigned missed[2] = { 0, 0 };
	for (unsigned k = 0; k < 2; k++) {
		struct core_config c;
		config_small(&c);
		c.tage_loop_entries = 0;
		c.tage_history_max = k ? 200 : 20;
		struct bpred *p = start(&c);
		for (unsigned i = 0; i < 60000; i++)
			missed[k] += wrong(p, 0x401000, i % 50 == 0) && i >= 30000;
		bpred_destroy(p);
	}
	assert_true(missed[0] >= 500);
	assert_true(missed[1] <= 5);
}

static void test_many_branches_share_the_tables(void **state)
{
	struct bpred *p = *state;
	unsigned n = 0;
	for (unsigned i = 0; i < 300; i++)
		for (unsigned k = 0; k < 1000; k++)
			n += wrong(p, 0x401000 + 24 * k, k % 7 != 0) && i >= 200;
	assert_true(n < 1000);		/* 1 % of 100,000 */
}

static void test_the_same_sequence_gives_the_same_predictions(void **state)
{
	(void)state;
	uint64_t hash[2];
	for (unsigned k = 0; k < 2; k++) {
		struct core_config c;
		config_small(&c);
		struct bpred *p = start(&c);
		if (k) {	/* after a reset a used predictor is like a new one */
			for (unsigned i = 0; i < 5000; i++)
				wrong(p, 0x401000 + i % 77, coin());
			bpred_reset(p);
		}
		random_state = 99;
		hash[k] = 0;
		for (unsigned i = 0; i < 50000; i++) {
			bool taken = coin() && coin();
			uint64_t at = 0x401000 + i % 300 * 8 + (taken ? 4000 : 0);
			hash[k] = (hash[k] ^ wrong(p, at, taken)) * UINT64_C(0x100000001b3) + 1;
		}
		bpred_destroy(p);
	}
	assert_true(hash[0] == hash[1]);
}

static void test_shapes_that_cannot_be_are_refused_by_name(void **state)
{
	(void)state;
	struct core_config c;
	struct bpred *p;
	struct err err = { 0 };
	config_small(&c);
	c.tage_history_max = c.tage_history_min;
	assert_int_equal(bpred_create(&p, &c, &err), ERR_INPUT);
	config_small(&c);
	c.btb_l1_entries = 63;
	assert_int_equal(bpred_create(&p, &c, &err), ERR_INPUT);
	config_small(&c);
	c.ras_depth = 0;
	assert_int_equal(bpred_create(&p, &c, &err), ERR_INPUT);
}

static int setup(void **state)
{
	struct core_config c;
	config_small(&c);
	random_state = 88172645463325252u;
	*state = start(&c);
	return 0;
}

static int teardown(void **state)
{
	bpred_destroy(*state);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_branch_always_taken_is_learned_at_once),
		TEST(test_an_alternating_branch_is_learned),
		TEST(test_a_pattern_of_period_60_is_learned),
		TEST(test_a_branch_that_repeats_one_40_branches_before_is_learned),
		TEST(test_a_random_branch_is_wrong_half_the_time),
		TEST(test_the_loop_predictor_knows_the_exit_of_long_loops),
		TEST(test_without_it_the_exit_of_a_long_loop_is_missed),
		TEST(test_a_longer_history_sees_further),
		TEST(test_many_branches_share_the_tables),
		TEST(test_the_same_sequence_gives_the_same_predictions),
		TEST(test_shapes_that_cannot_be_are_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
