/* SPDX-License-Identifier: GPL-2.0-or-later
 * Core's hybrid predictor, the return stack's ends, and prediction on a wrong path. */
#include "bpred_fixture.h"

static const char *const presets[] = { "pentium", "pentium3", "willamette", "prescott", "core2", "ivy-bridge",
	"skylake", "golden-cove" };
enum { PRESETS = sizeof presets / sizeof *presets };

/* --- Core --- */
static unsigned exits_missed(struct bpred *p, unsigned trip)
{
	uint64_t seed = 88172645463325252u;
	unsigned n = 0;
	for (unsigned i = 0; i < 300; i++)
		for (unsigned k = 1; k <= trip; k++) {
			missed(p, 0x401004, random_bit(&seed));	/* disturbs the path history */
			n += missed(p, 0x403008, k < trip) && k == trip && i >= 200;
		}
	return n;
}

static void test_core_s_loop_detector_knows_exits_up_to_64_iterations(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("core2"), *p6 = predictor_of("pentium3");
	assert_in_range(exits_missed(p, 30), 0, 25);
	bpred_reset(p);
	assert_in_range(exits_missed(p, 60), 0, 40);
	bpred_reset(p);
	assert_true(exits_missed(p, 100) > 90);
	assert_true(exits_missed(p6, 30) == 100);
	bpred_destroy(p);
	bpred_destroy(p6);
}

static void test_core_hears_what_other_branches_tell_and_learns_patterns(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("core2");
	uint64_t seed = 88172645463325252u;
	unsigned n = 0;
	for (unsigned i = 0; i < 20000; i++) {
		bool bit = random_bit(&seed);
		missed(p, 0x401000, bit);
		n += missed(p, 0x403050, bit) && i >= 19000;
	}
	assert_true(n < 100);
	bpred_reset(p);
	n = 0;
	/* only taken branches change the path history, so the loop's own branch marks the iterations */
	for (unsigned i = 0; i < 6000; i++) {
		n += missed(p, 0x401000, "110100"[i % 6] == '1') && i >= 5000;
		missed(p, 0x402040, true);
	}
	assert_int_equal(n, 0);
	bpred_destroy(p);
}

static void test_core_has_no_static_rule(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("core2");
	struct bpred_outcome o;
	bpred_branch(p, 0x401000, COND | BPRED_HINT_TAKEN, 0x401002, true, 0x400f00, &o);
	assert_true(o.mispredicted);
	bpred_destroy(p);
}

/* --- every class --- */
static void test_nobody_learns_a_coin(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PRESETS; i++) {
		struct bpred *p = predictor_of(presets[i]);
		uint64_t seed = 88172645463325252u;
		unsigned n = 0;
		for (unsigned k = 0; k < 20000; k++)
			n += missed(p, 0x401000, random_bit(&seed));
		assert_in_range(n, 9600, 10400);
		bpred_destroy(p);
	}
}

static void test_a_reset_forgets_all(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PRESETS; i++) {
		struct bpred *p = predictor_of(presets[i]);
		unsigned n[2] = { 0, 0 };
		for (unsigned round = 0; round < 2; round++) {
			uint64_t seed = 362436069u;
			for (unsigned k = 0; k < 3000; k++)
				n[round] += missed(p, 0x401000 + 16 * (k % 7), random_bit(&seed)) + to(p, 0x402000,
					INDIRECT, 0x500000 + k % 3 * 64).mispredicted;
			bpred_reset(p);
		}
		assert_int_equal(n[0], n[1]);
		bpred_destroy(p);
	}
}

/* --- return stack --- */
/* A recursion of depth `depth` that calls itself from one place. The inner returns all go there, the last one goes
 * elsewhere; all are the same RET. Returns the mispredictions of the last round. */
static unsigned recursion_missed(struct bpred *p, unsigned depth)
{
	unsigned n = 0;
	for (unsigned round = 0; round < 4; round++) {
		n = 0;
		to(p, 0x400800, CALL, 0x401000);
		for (unsigned i = 0; i < depth; i++)
			to(p, 0x401010, CALL, 0x401000);
		for (unsigned i = 0; i < depth; i++)
			n += to(p, 0x401020, RET, 0x401015).mispredicted;
		n += to(p, 0x401020, RET, 0x400805).mispredicted;
	}
	return n;
}

static void test_a_recursion_beyond_the_stack_loses_what_was_overwritten(void **state)
{
	(void)state;
	struct bpred *p = predictor_of("pentium3");
	assert_int_equal(recursion_missed(p, 15), 0);
	/* 20 calls more than the ring's 16 entries: all of them hold the inner address, so only the last return is
	 * mispredicted */
	assert_int_equal(recursion_missed(p, 36), 1);
	bpred_destroy(p);
}

static unsigned beyond_missed(const char *name)
{
	struct core_config c = preset(name);
	struct bpred *p = predictor(&c);
	const unsigned depth = c.ras_depth + 8;
	unsigned n = 0;
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < depth; i++)
			to(p, 0x401000 + 64 * i, CALL, 0x401000 + 64 * (i + 1));
		for (unsigned i = depth; i-- > 0; )
			n += to(p, 0x408000 + 64 * i, RET, 0x401005 + 64 * i).mispredicted && round >= 100;
	}
	bpred_destroy(p);
	return n;
}

static void test_an_underflow_is_left_to_the_indirect_predictor_from_skylake_on(void **state)
{
	(void)state;
	assert_int_equal(beyond_missed("core2"), 800);		/* eight a round: the ring's entries are stale */
	assert_int_equal(beyond_missed("ivy-bridge"), 800);
	assert_int_equal(beyond_missed("skylake"), 0);
	assert_int_equal(beyond_missed("golden-cove"), 0);
}

/* --- the wrong path --- */
/* Two predictors are trained alike. Then one mispredicts a branch; for the other the branch goes as the first had
 * predicted. The first one's predictions on that wrong path are the second one's on its right path. */
static void test_a_wrong_path_is_predicted_as_if_the_branch_had_gone_that_way(void **state)
{
	(void)state;
	static struct bpred_path path;
	for (unsigned i = 0; i < PRESETS; i++) {
		struct core_config c = preset(presets[i]);
		c.tage_loop_entries = 0;	/* a wrong path does not use its counts */
		unsigned same = 0, all = 0;
		for (unsigned trial = 0; trial < 300; trial++) {
			struct bpred *p[2] = { predictor(&c), predictor(&c) };
			uint64_t seed = 88172645463325252u + trial * 7919;
			bool bits[4] = { false, false, false, false };
			for (unsigned k = 0; k < 200; k++) {
				for (unsigned b = 0; b < 4; b++)
					bits[b] = b < 2 ? random_bit(&seed) : bits[b - 2] ^ (b & 1);
				for (unsigned b = 0; b < 4; b++)
					for (unsigned w = 0; w < 2; w++)
						missed(p[w], 0x401000 + 64 * b, bits[b]);
			}
			struct bpred_outcome o;
			uint64_t ip = 0x401000 + 64 * (trial & 1);
			bool way = random_bit(&seed);
			bpred_branch(p[0], ip, COND, ip + 2, way, ip + 100, &o);
			if (o.mispredicted) {
				assert_int_equal(o.predicted, way ? ip + 2 : ip + 100);
				bpred_path_begin(p[0], &path);
				missed(p[1], ip, !way);
				/* the branch goes as the first predicts, so both stay on one path */
				for (unsigned b = 2; b < 4; b++) {
					struct bpred_outcome real;
					uint64_t at = 0x401000 + 64 * b;
					uint64_t next = bpred_path_branch(p[0], &path, at, COND, at + 2, at + 100);
					bpred_branch(p[1], at, COND, at + 2, next != at + 2, at + 100, &real);
					same += !real.mispredicted;
					all++;
				}
			}
			bpred_destroy(p[0]);
			bpred_destroy(p[1]);
		}
		assert_true(all > 100);
		/* some entries differ, as each learnt another outcome of the branch itself */
		if (same < all - all / 50)
			fail_msg("%s: %u of %u", presets[i], same, all);
	}
}

static void test_a_wrong_path_leaves_the_predictor_as_it_was(void **state)
{
	(void)state;
	static struct bpred_path path;
	for (unsigned i = 0; i < PRESETS; i++) {
		struct bpred *p[2] = { predictor_of(presets[i]), predictor_of(presets[i]) };
		uint64_t seed = 88172645463325252u;
		for (unsigned k = 0; k < 5000; k++) {
			uint64_t ip = 0x401000 + 64 * (k % 5);
			bool way = random_bit(&seed) | (k % 3 == 0);
			struct bpred_outcome o[2];
			for (unsigned w = 0; w < 2; w++)
				bpred_branch(p[w], ip, COND, ip + 2, way, ip + 100, &o[w]);
			assert_int_equal(o[0].mispredicted, o[1].mispredicted);
			if (!o[0].mispredicted)
				continue;
			bpred_path_begin(p[0], &path);
			for (unsigned b = 0; b < 30; b++) {
				bpred_path_branch(p[0], &path, 0x401000 + 64 * (b % 5), COND, 0x401002, 0x401100);
				bpred_path_branch(p[0], &path, 0x402000, CALL, 0x402005, 0x403000);
				bpred_path_branch(p[0], &path, 0x402100, INDIRECT, 0x402102, 0);
				bpred_path_branch(p[0], &path, 0x402200, RET, 0x402201, 0);
			}
		}
		bpred_destroy(p[0]);
		bpred_destroy(p[1]);
	}
}

static void test_a_wrong_path_has_a_return_stack_of_its_own(void **state)
{
	(void)state;
	static struct bpred_path path;
	for (unsigned i = 1; i < PRESETS; i++) {	/* the Pentium has no return stack */
		struct bpred *p = predictor_of(presets[i]);
		struct bpred_outcome o;
		to(p, 0x401000, CALL, 0x402000);
		bpred_branch(p, 0x402000, COND, 0x402002, true, 0x402100, &o);
		assert_true(o.mispredicted);
		bpred_path_begin(p, &path);
		assert_int_equal(bpred_path_branch(p, &path, 0x402010, CALL, 0x402015, 0x403000), 0x403000);
		assert_int_equal(bpred_path_branch(p, &path, 0x403010, RET, 0x403011, 0), 0x402015);
		assert_int_equal(bpred_path_branch(p, &path, 0x402020, RET, 0x402021, 0), 0x401005);
		assert_false(to(p, 0x402110, RET, 0x401005).mispredicted);	/* still there */
		bpred_destroy(p);
	}
}

static void test_long_wrong_paths_end_well(void **state)
{
	(void)state;
	static struct bpred_path path;
	for (unsigned i = 0; i < PRESETS; i++) {
		struct bpred *p = predictor_of(presets[i]);
		struct bpred_outcome o;
		for (unsigned k = 0; k < 20000; k++)	/* far enough that the buffer of the history wraps */
			bpred_branch(p, 0x401000 + k % 3, COND, 0x401010, k & 1, 0x401100, &o);
		do
			bpred_branch(p, 0x405000, COND, 0x405002, !o.predicted_taken, 0x405100, &o);
		while (!o.mispredicted);
		bpred_path_begin(p, &path);
		for (unsigned k = 0; k < 5000; k++)
			bpred_path_branch(p, &path, 0x401000 + 16 * (k % 50), k & 1 ? COND : CALL, 0x401010, 0x401100);
		bpred_destroy(p);
	}
}

static void test_an_unknown_indirect_branch_falls_through_or_waits(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PRESETS; i++) {
		struct core_config c = preset(presets[i]);
		struct bpred *p = predictor(&c);
		struct bpred_outcome o = to(p, 0x401000, INDIRECT, 0x500000);
		assert_true(o.mispredicted && o.wrong_target);
		assert_int_equal(o.predicted, c.bpred_class == 0 ? 0 : 0x401005);
		bpred_destroy(p);
	}
}

static void test_a_perfect_predictor_is_never_wrong(void **state)
{
	static const char *const name[] = { "golden-cove", "core2", "prescott", "pentium" };
	static const uint32_t kind[] = { INSN_COND, INSN_INDIRECT, INSN_RET, INSN_CALL | INSN_INDIRECT, 0, INSN_FAR };
	(void)state;
	for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
		struct core_config c = preset(name[k]);
		struct bpred_outcome o;
		c.bpred_perfect = 1;
		struct bpred *p = predictor(&c);
		for (uint32_t x = 5, i = 0; i < 3000; i++) {
			x = x * 1103515245 + 12345;
			const uint32_t flags = INSN_BRANCH | kind[i % 6];
			const bool taken = !(flags & INSN_COND) || x >> 31;
			const uint64_t ip = 0x401000 + x % 4096;
			bpred_branch(p, ip, flags, ip + 5, taken, 0x500000 + (x >> 12), &o);
			assert_false(o.mispredicted || o.resteer || o.wrong_target || o.bubble);
			assert_int_equal(o.predicted_taken, taken);
		}
		bpred_destroy(p);
	}
}

static void test_a_predictor_put_right_learns_and_resteers_as_it_would(void **state)
{
	static const char *const name[] = { "golden-cove", "core2", "prescott" };
	(void)state;
	for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
		struct core_config c = preset(name[k]);
		struct bpred_outcome o, usual;
		struct bpred *as_it_is = predictor(&c);
		c.bpred_perfect = 2;
		struct bpred *p = predictor(&c);
		unsigned wrong = 0, resteers = 0;
		for (uint32_t x = 5, i = 0; i < 3000; i++) {
			x = x * 1103515245 + 12345;
			const uint32_t flags = i % 3 ? COND : JUMP;
			const bool taken = flags == JUMP || x >> 31;
			const uint64_t ip = (flags == JUMP ? 0x402000 : 0x401000) + (x >> 8) % 512;
			bpred_branch(p, ip, flags, ip + 5, taken, ip + 100, &o);
			bpred_branch(as_it_is, ip, flags, ip + 5, taken, ip + 100, &usual);
			assert_false(o.mispredicted || o.wrong_target);
			assert_int_equal(o.predicted_taken, taken);
			assert_int_equal(o.resteer, usual.resteer);
			wrong += usual.mispredicted;
			resteers += o.resteer;
		}
		assert_true(wrong > 500 && resteers > 50);
		bpred_destroy(p);
		bpred_destroy(as_it_is);
	}
}

/* A predictor that learns by bpred_learn is wrong at the same branches as one that learns by bpred_branch. */
static void learns(const char *name)
{
	static const uint32_t kinds[] = { COND, COND, COND, JUMP, CALL, RET, INDIRECT, INSN_BRANCH | INSN_FAR };
	struct bpred *p[2] = { predictor_of(name), predictor_of(name) };
	uint64_t s = 42, missed = 0;
	for (unsigned i = 0; i < 40000; i++) {
		s = s * UINT64_C(6364136223846793005) + 1442695040888963407u;
		const uint64_t at = s >> 33 & 255, ip = 0x401000 + 16 * at;
		const uint32_t flags = kinds[at % 8];
		const bool taken = flags != COND || (at & 64 ? s >> 60 & 1 : i >> (at & 3) & 1);
		const uint64_t target = flags & (INSN_RET | INSN_INDIRECT) ? ip + (s >> 41 & 1) * 64 : ip + 100;
		struct bpred_outcome o;
		bpred_branch(p[0], ip, flags, ip + 2, taken, target, &o);
		assert_int_equal(bpred_learn(p[1], ip, flags, ip + 2, taken, target), o.mispredicted);
		missed += o.mispredicted;
	}
	assert_in_range(missed, 1000, 30000);
	bpred_destroy(p[0]);
	bpred_destroy(p[1]);
}

static void test_what_only_learns_is_wrong_at_the_same_branches(void **state)
{
	(void)state;
	learns("golden-cove");
	learns("core2");
	learns("pentium");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_s_loop_detector_knows_exits_up_to_64_iterations),
		cmocka_unit_test(test_core_hears_what_other_branches_tell_and_learns_patterns),
		cmocka_unit_test(test_core_has_no_static_rule),
		cmocka_unit_test(test_nobody_learns_a_coin),
		cmocka_unit_test(test_a_reset_forgets_all),
		cmocka_unit_test(test_a_recursion_beyond_the_stack_loses_what_was_overwritten),
		cmocka_unit_test(test_an_underflow_is_left_to_the_indirect_predictor_from_skylake_on),
		cmocka_unit_test(test_a_wrong_path_is_predicted_as_if_the_branch_had_gone_that_way),
		cmocka_unit_test(test_a_wrong_path_leaves_the_predictor_as_it_was),
		cmocka_unit_test(test_a_wrong_path_has_a_return_stack_of_its_own),
		cmocka_unit_test(test_long_wrong_paths_end_well),
		cmocka_unit_test(test_an_unknown_indirect_branch_falls_through_or_waits),
		cmocka_unit_test(test_a_perfect_predictor_is_never_wrong),
		cmocka_unit_test(test_a_predictor_put_right_learns_and_resteers_as_it_would),
		cmocka_unit_test(test_what_only_learns_is_wrong_at_the_same_branches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
