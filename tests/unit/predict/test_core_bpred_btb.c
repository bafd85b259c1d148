/* SPDX-License-Identifier: GPL-2.0-or-later
 * Predictors in the branch target buffer: what those of P5, P6 and NetBurst learn and what they do not learn. */
#include "bpred_fixture.h"

/* --- P5 --- */
static void test_p5_knows_a_branch_that_was_taken_once(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium");
	assert_true(missed(p, 0x401000, true));
	for (unsigned i = 0; i < 10; i++)
		assert_false(missed(p, 0x401000, true));
	bpred_destroy(p);
}

static void test_p5_misses_the_exit_of_each_loop_and_nothing_else(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium");
	unsigned n = 0;
	for (unsigned i = 0; i < 100; i++)
		for (unsigned k = 1; k <= 7; k++)
			n += missed(p, 0x401000, k < 7) && i;
	assert_int_equal(n, 99);
	bpred_destroy(p);
}

static void test_p5_does_not_learn_to_alternate(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium");
	assert_true(pattern_missed(p, "10", 500, 400) > 45);
	bpred_destroy(p);
}

static void test_p5_predicts_not_taken_what_it_does_not_know_backward_too(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium");
	struct bpred_outcome o;
	bpred_branch(p, 0x401000, COND, 0x401002, true, 0x400f00, &o);
	assert_true(o.mispredicted);
	assert_int_equal(o.predicted, 0x401002);
	bpred_branch(p, 0x402000, COND | BPRED_HINT_TAKEN, 0x402003, true, 0x402100, &o);	/* it ignores hints */
	assert_true(o.mispredicted);
	bpred_destroy(p);
}

static void test_p5_returns_go_where_they_went_last(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium");
	unsigned n = 0;
	for (unsigned i = 0; i < 20; i++) {
		uint64_t from = i & 1 ? 0x401000 : 0x402000;
		to(p, from, CALL, 0x403000);
		n += to(p, 0x403010, RET, from + 5).mispredicted;
	}
	assert_int_equal(n, 20);
	for (unsigned i = 0; i < 20; i++) {
		to(p, 0x401000, CALL, 0x403000);
		assert_false(to(p, 0x403010, RET, 0x401005).mispredicted);
	}
	bpred_destroy(p);
}

static void test_p5_holds_256_branches(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium");
	unsigned within = 0, beyond = 0;
	for (unsigned i = 0; i < 3 * 256; i++)
		within += missed(p, 0x401000 + i % 256, true) && i >= 512;
	bpred_reset(p);
	for (unsigned i = 0; i < 3 * 1024; i++)
		beyond += missed(p, 0x401000 + i % 1024, true) && i >= 2048;
	assert_int_equal(within, 0);
	assert_int_equal(beyond, 1024);
	bpred_destroy(p);
}

/* --- P6 --- */
static void test_p6_learns_patterns_whose_last_four_say_what_follows(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium3");
	const char *known[] = { "10", "110", "1100", "11110", "10110", "1000" };
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
		bpred_reset(p);
		assert_true(pattern_missed(p, known[i], 500, 400) == 0);
	}
	bpred_destroy(p);
}

static void test_p6_does_not_learn_what_takes_longer_histories(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium3");
	/* the exit of a loop of 7 cannot be learnt: four iterations look alike */
	assert_true(pattern_missed(p, "1111110", 500, 400) > 13);
	bpred_destroy(p);
}

static void test_p6_s_history_is_each_branch_s_own(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium3");
	uint64_t seed = 88172645463325252u;
	unsigned alternating = 0, correlated = 0;
	for (unsigned i = 0; i < 4000; i++) {
		bool bit = random_bit(&seed);
		missed(p, 0x401000, bit);
		alternating += missed(p, 0x402000, i & 1) && i >= 2000;	/* a random branch in between does no harm */
		correlated += missed(p, 0x403000, bit) && i >= 2000;	/* and its outcome is not used */
	}
	assert_int_equal(alternating, 0);
	assert_in_range(correlated, 850, 1150);
	bpred_destroy(p);
}

static void test_p6_predicts_backward_taken_and_forward_not(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium3");
	struct bpred_outcome o;
	bpred_branch(p, 0x401000, COND, 0x401002, true, 0x400f00, &o);
	assert_false(o.mispredicted);
	assert_true(o.resteer);			/* the decoder said so */
	bpred_branch(p, 0x402000, COND, 0x402002, false, 0x401f00, &o);
	assert_true(o.mispredicted);
	assert_int_equal(o.predicted, 0x401f00);
	bpred_branch(p, 0x403000, COND, 0x403002, true, 0x403100, &o);
	assert_true(o.mispredicted);
	bpred_branch(p, 0x404000, COND, 0x404002, false, 0x404100, &o);
	assert_false(o.mispredicted);
	bpred_destroy(p);
}

/* --- NetBurst --- */
static void test_netburst_hears_what_other_branches_tell(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("willamette");
	uint64_t seed = 88172645463325252u;
	unsigned n = 0;
	for (unsigned i = 0; i < 20000; i++) {
		bool bit = random_bit(&seed);
		missed(p, 0x401000, bit);
		n += missed(p, 0x403000, bit) && i >= 19000;
	}
	assert_true(n < 150);
	bpred_destroy(p);
}

static void test_netburst_learns_loops_within_its_history_only(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("willamette");
	assert_true(pattern_missed(p, "111111111110", 500, 400) == 0);		/* 12 */
	bpred_reset(p);
	assert_true(pattern_missed(p, "111111111111111111111110", 500, 400) > 4);	/* 24 */
	bpred_destroy(p);
}

static void test_netburst_honours_hints_where_no_btb_knows_the_branch(void **state)
{
	(void)state;
	const char *name[] = { "willamette", "prescott" };
	for (unsigned i = 0; i < 2; i++) {
		struct bpred *p = predictor_of(name[i]);
		struct bpred_outcome o;
		bpred_branch(p, 0x401000, COND | BPRED_HINT_TAKEN, 0x401003, true, 0x401100, &o);
		assert_false(o.mispredicted);
		bpred_branch(p, 0x402000, COND | BPRED_HINT_NOT_TAKEN, 0x402003, false, 0x401f00, &o);
		assert_false(o.mispredicted);
		for (unsigned k = 0; k < 100; k++)	/* a learnt outcome overrides the hint */
			bpred_branch(p, 0x403000, COND | BPRED_HINT_TAKEN, 0x403003, k < 2, 0x403100, &o);
		assert_false(o.mispredicted);
		bpred_destroy(p);
	}
}

static void test_prescott_takes_far_backward_branches_for_no_loops(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("prescott"), *w = predictor_of("willamette");
	struct bpred_outcome o;
	bpred_branch(p, 0x409000, COND, 0x409006, true, 0x401000, &o);
	assert_true(o.mispredicted);
	bpred_branch(p, 0x40a000, COND, 0x40a002, true, 0x409fc0, &o);
	assert_false(o.mispredicted);
	bpred_branch(w, 0x409000, COND, 0x409006, true, 0x401000, &o);
	assert_false(o.mispredicted);
	bpred_destroy(p);
	bpred_destroy(w);
}

/* Branches that alternate are predicted as long as the trace cache's BTB holds them. The front end's BTB knows at most
 * a bias. */
static unsigned alternating_missed(struct bpred *p, unsigned branches)
{
	unsigned n = 0;
	for (unsigned i = 0; i < 200; i++)
		for (unsigned k = 0; k < branches; k++)
			n += missed(p, 0x401000 + 3 * k, i & 1) && i >= 150;
	return n * 100 / (50 * branches);
}

static void test_the_trace_cache_s_btb_has_the_history(void **state)
{
	(void)state;
	struct bpred *w = predictor_of("willamette"), *p = predictor_of("prescott");
	assert_in_range(alternating_missed(w, 128), 0, 5);
	assert_in_range(alternating_missed(w, 3000), 40, 100);
	assert_in_range(alternating_missed(p, 1024), 0, 15);
	bpred_destroy(w);
	bpred_destroy(p);
}

static unsigned indirect_missed(const char *name)
{
	static const uint64_t target[] = { 0x500000, 0x500100, 0x500200 };
	struct bpred *p = predictor_of(name);
	unsigned n = 0;
	for (unsigned i = 0; i < 3000; i++)
		n += to(p, 0x401000, INDIRECT, target[i % 3]).mispredicted && i >= 2000;
	bpred_destroy(p);
	return n;
}

static void test_indirect_targets_with_a_history_are_learned_from_prescott_and_core_on(void **state)
{
	(void)state;
	const char *without[] = { "pentium", "pentium3", "willamette" }, *with[] = { "prescott", "core2", "ivy-bridge",
		"skylake", "golden-cove" };
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(indirect_missed(without[i]), 1000);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(indirect_missed(with[i]), 0);
}

/* Returns the fetch cycles that 100 rounds of a pattern lose, once it is known. */
static unsigned lost(struct bpred *p, const char *pattern)
{
	unsigned n = 0;
	for (unsigned i = 0; i < 300; i++)
		for (const char *k = pattern; *k; k++) {
			struct bpred_outcome o;
			bpred_branch(p, 0x401000, COND, 0x401002, *k == '1', 0x401064, &o);
			n += i >= 200 ? o.bubble : 0;
		}
	return n;
}

static void test_overruling_the_quick_counters_takes_time(void **state)
{
	(void)state;
	static const struct { const char *pattern; unsigned rounds; } known[] = {
		{ "1", 0 }, { "0", 0 }, { "10", 1 }, { "1110", 1 }, { "11110", 1 }, { "1000", 1 },
	};
	struct core_config c = preset("skylake");
	for (unsigned cycles = 0; cycles < 4; cycles += 3)
		for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
			c.predict_override = cycles;
			struct bpred *p = predictor(&c);
			assert_int_equal(lost(p, known[i].pattern), 100 * cycles * known[i].rounds);
			bpred_destroy(p);
		}
}

/* Returns the fetch cycles that 300 indirect jumps lose which go to these targets in turn, once they are known. */
static unsigned lost_indirect(const struct core_config *c, unsigned targets)
{
	static const uint64_t target[] = { 0x402000, 0x402464, 0x402ab8 };
	struct bpred *p = predictor(c);
	unsigned n = 0;
	for (unsigned i = 0; i < 1200; i++) {
		const struct bpred_outcome o = to(p, 0x401000, INDIRECT, target[i % targets]);
		n += i >= 900 ? o.bubble : 0;
		assert_false(i >= 900 && o.mispredicted);
	}
	bpred_destroy(p);
	return n;
}

static void test_a_target_that_is_not_the_last_one_takes_time(void **state)
{
	(void)state;
	struct core_config c = preset("skylake");
	c.btb_indirect_bubble = 1;
	assert_int_equal(lost_indirect(&c, 3), 300);
	c.indirect_override = 3;
	assert_int_equal(lost_indirect(&c, 1), 300);
	assert_int_equal(lost_indirect(&c, 3), 300 * 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_target_that_is_not_the_last_one_takes_time),
		cmocka_unit_test(test_overruling_the_quick_counters_takes_time),
		cmocka_unit_test(test_p5_knows_a_branch_that_was_taken_once),
		cmocka_unit_test(test_p5_misses_the_exit_of_each_loop_and_nothing_else),
		cmocka_unit_test(test_p5_does_not_learn_to_alternate),
		cmocka_unit_test(test_p5_predicts_not_taken_what_it_does_not_know_backward_too),
		cmocka_unit_test(test_p5_returns_go_where_they_went_last),
		cmocka_unit_test(test_p5_holds_256_branches),
		cmocka_unit_test(test_p6_learns_patterns_whose_last_four_say_what_follows),
		cmocka_unit_test(test_p6_does_not_learn_what_takes_longer_histories),
		cmocka_unit_test(test_p6_s_history_is_each_branch_s_own),
		cmocka_unit_test(test_p6_predicts_backward_taken_and_forward_not),
		cmocka_unit_test(test_netburst_hears_what_other_branches_tell),
		cmocka_unit_test(test_netburst_learns_loops_within_its_history_only),
		cmocka_unit_test(test_netburst_honours_hints_where_no_btb_knows_the_branch),
		cmocka_unit_test(test_prescott_takes_far_backward_branches_for_no_loops),
		cmocka_unit_test(test_the_trace_cache_s_btb_has_the_history),
		cmocka_unit_test(test_indirect_targets_with_a_history_are_learned_from_prescott_and_core_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
