/* SPDX-License-Identifier: GPL-2.0-or-later
 * Targets: BTB of one and two levels, return stack, indirect predictor. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/predict/bpred.h"
#include <stdlib.h>

enum { JUMP = INSN_BRANCH, CALL = INSN_BRANCH | INSN_CALL, RET = INSN_BRANCH | INSN_RET,
	INDIRECT = INSN_BRANCH | INSN_INDIRECT };

static struct core_config small(void)
{
	return (struct core_config){
		.tage_base_log2 = 10, .tage_tables = 4, .tage_entries_log2 = 8, .tage_tag_bits = 8,
		.tage_history_min = 4, .tage_history_max = 64,
		.btb_l1_entries = 64, .btb_l1_ways = 4, .btb_l2_ways = 1, .ras_depth = 8,
		.indirect_tables = 4, .indirect_entries_log2 = 7, .indirect_history_min = 2, .indirect_history_max = 32,
	};
}

static struct bpred *start(struct core_config c)
{
	struct bpred *p;
	struct err err = { 0 };
	if (bpred_create(&p, &c, &err))
		fail_msg("%s", err.text);
	return p;
}

static struct bpred_outcome branch(struct bpred *p, uint64_t ip, uint32_t flags, uint64_t target)
{
	struct bpred_outcome o;
	bpred_branch(p, ip, flags, ip + 5, true, target, &o);
	return o;
}

static void test_a_new_jump_is_found_at_decode_a_known_one_at_fetch(void **state)
{
	(void)state;
	struct bpred *p = start(small());
	struct bpred_outcome o = branch(p, 0x401000, JUMP, 0x402000);
	assert_true(o.resteer);
	assert_false(o.mispredicted);
	o = branch(p, 0x401000, JUMP, 0x402000);
	assert_false(o.resteer);
	assert_false(o.mispredicted);
	assert_int_equal(o.bubble, 0);
	bpred_destroy(p);
}

static void test_a_conditional_predicted_taken_but_unknown_to_the_btb_resteers(void **state)
{
	(void)state;
	struct bpred *p = start(small());
	struct bpred_outcome o;
	uint64_t ip = 0x401000;
	for (unsigned i = 0; i < 10; i++)
		bpred_branch(p, ip, INSN_BRANCH | INSN_COND, ip + 2, true, ip + 50, &o);
	assert_false(o.resteer);
	for (unsigned i = 1; i <= 64 * 8; i++)	/* evicts it from the BTB; the direction tables keep it */
		branch(p, ip + 64 * i, JUMP, 0x500000);
	bpred_branch(p, ip, INSN_BRANCH | INSN_COND, ip + 2, true, ip + 50, &o);
	assert_true(o.resteer);
	assert_true(o.predicted_taken);
	assert_false(o.mispredicted);
	/* not taken: nothing to re-steer */
	bpred_branch(p, ip + 2000000, INSN_BRANCH | INSN_COND, ip + 2, false, ip + 50, &o);
	assert_false(o.resteer);
	bpred_destroy(p);
}

static unsigned resteers(struct bpred *p, unsigned jumps, unsigned *bubbles)
{
	unsigned n = 0;
	*bubbles = 0;
	for (unsigned round = 0; round < 4; round++)
		for (unsigned i = 0; i < jumps; i++) {
			struct bpred_outcome o = branch(p, 0x401000 + i, JUMP, 0x402000);
			if (round == 3) {
				n += o.resteer;
				*bubbles += o.bubble;
			}
		}
	return n;
}

static void test_the_btb_holds_as_many_jumps_as_it_has_entries(void **state)
{
	(void)state;
	unsigned bubbles;
	struct bpred *p = start(small());
	assert_int_equal(resteers(p, 64, &bubbles), 0);
	bpred_reset(p);
	assert_true(resteers(p, 128, &bubbles) > 100);
	bpred_destroy(p);
}

static void test_a_second_level_holds_more_at_the_price_of_a_bubble(void **state)
{
	(void)state;
	unsigned bubbles;
	struct core_config c = small();
	c.btb_l2_entries = 256;
	c.btb_l2_ways = 8;
	c.btb_l2_bubble = 3;
	struct bpred *p = start(c);
	assert_int_equal(resteers(p, 64, &bubbles), 0);
	assert_int_equal(bubbles, 0);
	bpred_reset(p);
	assert_int_equal(resteers(p, 160, &bubbles), 0);
	assert_true(bubbles > 3 * 100);
	bpred_destroy(p);
}

static uint64_t return_from(unsigned depth)
{
	return 0x401000 + 16 * depth + 5;
}

static unsigned returns_missed(struct bpred *p, unsigned depth)
{
	unsigned n = 0;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < depth; i++)
			branch(p, 0x401000 + 16 * i, CALL, 0x401000 + 16 * (i + 1));
		n = 0;
		for (unsigned i = depth; i-- > 0; ) {
			struct bpred_outcome o = branch(p, 0x409000, RET, return_from(i));
			assert_int_equal(o.mispredicted, o.wrong_target);
			n += o.mispredicted;
		}
	}
	return n;
}

static void test_returns_within_the_stack_s_depth_are_predicted(void **state)
{
	(void)state;
	struct bpred *p = start(small());
	assert_int_equal(returns_missed(p, 8), 0);
	bpred_destroy(p);
}

static void test_calls_deeper_than_the_stack_lose_the_oldest_returns(void **state)
{
	(void)state;
	struct bpred *p = start(small());
	assert_int_equal(returns_missed(p, 11), 3);
	bpred_destroy(p);
}

static void test_an_indirect_jump_to_one_target_is_known_the_second_time(void **state)
{
	(void)state;
	struct bpred *p = start(small());
	struct bpred_outcome o = branch(p, 0x401000, INDIRECT, 0x402000);
	assert_true(o.mispredicted && o.wrong_target);
	o = branch(p, 0x401000, INDIRECT, 0x402000);
	assert_false(o.mispredicted);
	bpred_destroy(p);
}

static unsigned indirect_missed(struct core_config c)
{
	struct bpred *p = start(c);
	static const uint64_t target[] = { 0x500000, 0x500100, 0x500000, 0x500200, 0x500300, 0x500100 };
	unsigned n = 0;
	for (unsigned i = 0; i < 6000; i++) {
		struct bpred_outcome o = branch(p, 0x401000, INDIRECT, target[i % 6]);
		n += o.mispredicted && i >= 3000;
	}
	bpred_destroy(p);
	return n;
}

static void test_an_indirect_jump_is_predicted_from_the_path_to_it(void **state)
{
	(void)state;
	assert_true(indirect_missed(small()) <= 30);		/* 1 % */
}

static void test_without_the_path_its_last_target_is_repeated(void **state)
{
	(void)state;
	struct core_config c = small();
	c.indirect_tables = 0;
	assert_int_equal(indirect_missed(c), 3000);		/* a target never follows itself */
}

/* Four callers, each with its own callback, call at random. How many of 10,000 callbacks are mispredicted. */
static unsigned callbacks_missed(struct core_config c, uint64_t apart)
{
	struct bpred *p = start(c);
	unsigned n = 0;
	uint64_t s = 88172645463325252u;
	for (unsigned i = 0; i < 20000; i++) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		unsigned who = s >> 40 & 3;
		branch(p, 0x401000 + apart * who, CALL, 0x402000);
		struct bpred_outcome o = branch(p, 0x402010, INDIRECT | INSN_CALL, 0x500000 + 256 * who);
		n += o.mispredicted && i >= 10000;
		branch(p, 0x500000 + 256 * who + 8, RET, 0x402015);
		branch(p, 0x402020, RET, 0x401000 + apart * who + 5);
	}
	bpred_destroy(p);
	return n;
}

static void test_an_indirect_call_s_target_follows_the_caller(void **state)
{
	(void)state;
	assert_true(callbacks_missed(small(), 64) < 100);
}

static void test_callers_alike_in_their_own_bits_are_one(void **state)
{
	(void)state;
	struct core_config c = small();
	c.indirect_own_bits = 4;
	assert_true(callbacks_missed(c, 64) > 5000);
	assert_true(callbacks_missed(c, 65) < 100);
	assert_true(callbacks_missed(c, 72) < 5100);	/* two of the four are alike */
	assert_true(callbacks_missed(c, 72) > 2500);
}

static void test_a_random_target_cannot_be_known(void **state)
{
	(void)state;
	struct bpred *p = start(small());
	unsigned n = 0;
	uint64_t s = 88172645463325252u;
	for (unsigned i = 0; i < 10000; i++) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		n += branch(p, 0x401000, INDIRECT, 0x500000 + 256 * (s >> 40 & 3)).mispredicted;
	}
	assert_in_range(n, 7200, 7800);		/* one of four is right by chance */
	bpred_destroy(p);
}

static void test_far_transfers_are_not_predicted(void **state)
{
	(void)state;
	struct bpred *p = start(small());
	struct bpred_outcome o = branch(p, 0x401000, INSN_BRANCH | INSN_FAR, 0x402000);
	assert_false(o.mispredicted || o.resteer || o.wrong_target);
	bpred_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_jump_is_found_at_decode_a_known_one_at_fetch),
		cmocka_unit_test(test_a_conditional_predicted_taken_but_unknown_to_the_btb_resteers),
		cmocka_unit_test(test_the_btb_holds_as_many_jumps_as_it_has_entries),
		cmocka_unit_test(test_a_second_level_holds_more_at_the_price_of_a_bubble),
		cmocka_unit_test(test_returns_within_the_stack_s_depth_are_predicted),
		cmocka_unit_test(test_calls_deeper_than_the_stack_lose_the_oldest_returns),
		cmocka_unit_test(test_an_indirect_jump_to_one_target_is_known_the_second_time),
		cmocka_unit_test(test_an_indirect_jump_is_predicted_from_the_path_to_it),
		cmocka_unit_test(test_without_the_path_its_last_target_is_repeated),
		cmocka_unit_test(test_an_indirect_call_s_target_follows_the_caller),
		cmocka_unit_test(test_callers_alike_in_their_own_bits_are_one),
		cmocka_unit_test(test_a_random_target_cannot_be_known),
		cmocka_unit_test(test_far_transfers_are_not_predicted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
