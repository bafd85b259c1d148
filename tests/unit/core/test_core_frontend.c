/* SPDX-License-Identifier: GPL-2.0-or-later
 * Exact cycles of the front end: uop cache, legacy decode, microcode, loop buffer, uop queue. */
#include "core_fixture.h"

static struct code k;
static const uint64_t none[MOCK_SLOTS];

static void nops(unsigned n, unsigned len)
{
	for (unsigned i = 0; i < n; i++) {
		code_insn(&k, len, 0);
		code_uop(&k, UOP_NOP, 0, 0, true);
	}
}

static void loop(struct bench *b, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		bench_run(b, &k, none, k.b.addr);
	core_flush(b->c, true);
}

/* Returns the cycles that the last n iterations took, from first slot to first slot. */
static uint64_t cycles(unsigned n)
{
	return out.uop[out.uops - k.b.uops].fetch - out.uop[out.uops - (n + 1) * k.b.uops].fetch;
}

static void test_uop_cache_reads_as_many_lines_a_cycle_as_it_can(void **state)
{
	(void)state;
	static const struct { const char *settings; unsigned cycles; } want[] = {
		{ "alloc.width=8 retire.width=8 dsb.lines=1", 4 },	/* 6, 2, 6, 2 */
		{ "alloc.width=8 retire.width=8 dsb.lines=2", 3 },	/* 6, 2 and 4, 2 and 2 */
	};
	for (unsigned i = 0; i < 2; i++) {
		struct bench b;
		fixture_start(&b, &k, want[i].settings);
		nops(15, 4);	/* with the branch, two 32-byte windows of 8 uops: lines of 6 and 2 each */
		code_branch(&k, 4, 0, 0x1000, 0);
		loop(&b, 40);
		assert_int_equal(cycles(10), want[i].cycles * 10);
		assert_int_equal(out_count_did(SPMU_DID(FROM_MITE)), 16);	/* the first time only */
		bench_end(&b);
	}
}

static void test_a_line_is_read_from_where_a_taken_branch_leads_to(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct bench b;
		struct code before;	/* runs into the loop; fills four of the six places of its first line */
		fixture_start(&b, &before, on
			? "dsb.window_bytes=64 dsb.window_lines=6 dsb.lines=1 dsb.width=12 alloc.width=6 "
				"retire.width=6 "
			"predict.ahead=24 dsb.straddle=1"
		                         : "dsb.window_bytes=64 dsb.window_lines=6 dsb.lines=1 dsb.width=12 "
		                         	"alloc.width=6 retire.width=6 predict.ahead=24");
		for (unsigned i = 0; i < 4; i++) {
			code_insn(&before, 4, 0);
			code_uop(&before, UOP_NOP, 0, 0, true);
		}
		code_start(&k, 0x1010);
		nops(11, 4);
		code_branch(&k, 4, 0, 0x1010, 0);
		bench_run(&b, &before, none, k.b.addr);
		loop(&b, 40);
		/* on: lines of 6 and 6 uops, one a cycle; off: of 2, 6 and 4 */
		assert_int_equal(cycles(10), on ? 20 : 30);
		assert_int_equal(out_count_did(SPMU_DID(FROM_MITE)), 4 + 12);	/* the first time only */
		bench_end(&b);
	}
}

static void test_constant_of_two_places_ends_a_cycle(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct bench b;
		fixture_start(&b, &k, on ? "alloc.width=8 retire.width=8" : "alloc.width=8 retire.width=8 dsb.wide=0");
		nops(1, 10);
		k.insn[0].flags |= INSN_WIDE;
		nops(4, 4);
		code_branch(&k, 4, 0, 0x1000, 0);
		loop(&b, 40);
		/* six uops take a cycle; or the first is alone, and the others are in a second line */
		assert_int_equal(cycles(10), (1 + on) * 10);
		bench_end(&b);
	}
}

static void test_jcc_erratum_keeps_a_window_out_of_the_uop_cache(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct bench b;
		fixture_start(&b, &k, on ? "dsb.jcc_erratum=1" : NULL);
		nops(7, 4);
		code_branch(&k, 4, 0, 0x1000, 0);	/* ends at byte 32 */
		loop(&b, 20);
		assert_int_equal(out_count_did(SPMU_DID(FROM_MITE)), on ? 8 * 20 : 8);
		bench_end(&b);
	}
}

static void test_jcc_erratum_spares_a_branch_within_its_window(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.jcc_erratum=1");
	nops(6, 4);
	code_branch(&k, 4, 0, 0x1000, 0);
	loop(&b, 20);
	assert_int_equal(out_count_did(SPMU_DID(FROM_MITE)), 7);
	bench_end(&b);
}

static void test_simple_front_end_delivers_the_issue_width(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct bench b;
		fixture_start(&b, &k, on ? "dsb.sets=0 frontend.simple=1" : "dsb.sets=0");
		nops(11, 8);
		code_branch(&k, 8, 0, 0x1000, 0);
		loop(&b, 40);
		/* twelve slots; or two instructions of eight bytes a cycle */
		assert_int_equal(cycles(10), (on ? 3 : 6) * 10);
		bench_end(&b);
	}
}

static void test_window_with_too_many_uops_is_always_decoded(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	nops(19, 1);		/* 3 lines of 6 hold 18 */
	code_insn(&k, 13, 0);
	code_uop(&k, UOP_NOP, 0, 0, true);
	code_branch(&k, 2, 0, 0x1000, 0);
	loop(&b, 20);
	unsigned decoded = 0;
	for (unsigned i = out.uops - k.b.uops; i < out.uops; i++)
		decoded += (out.uop[i].did & SPMU_DID(FROM_MITE)) != 0;
	assert_true(decoded >= 20);
	bench_end(&b);
}

static void test_window_with_enough_room_is_not(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	nops(17, 1);
	code_branch(&k, 2, 0, 0x1000, 0);
	loop(&b, 20);
	assert_int_equal(out_count_did(SPMU_DID(FROM_MITE)), 18);
	bench_end(&b);
}

static void test_uop_cache_capacity_is_that_of_its_sets(void **state)
{
	(void)state;
	for (unsigned windows = 64; windows <= 320; windows += 256) {
		struct bench b;
		fixture_start(&b, &k, NULL);
		/* windows of one line each: 32 sets of 8 hold 256 */
		for (unsigned i = 0; i < windows && k.b.insns < MOCK_INSNS - 1; i++) {
			code_insn(&k, 15, 0);
			code_uop(&k, UOP_NOP, 0, 0, true);
			k.at += 17;
		}
		struct code *c = &k;
		for (unsigned round = 0; round < 6; round++) {
			uint64_t shift = 0;
			/* the same block at two places */
			for (unsigned part = 0; part < (windows > 200 ? 2 : 1); part++) {
				for (unsigned i = 0; i < c->b.insns; i++)
					c->insn[i].addr = 0x1000 + shift + 32 * i;
				bench_run(&b, c, none, 0);
				shift += 0x100000 + 32 * (part ? 0 : 8);
			}
		}
		core_flush(b.c, true);
		bool decoded = out.uop[out.uops - 1].did & SPMU_DID(FROM_MITE);
		assert_int_equal(decoded, windows > 200);
		bench_end(&b);
	}
}

static void test_legacy_decode_takes_one_complex_a_cycle(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.sets=0");
	for (unsigned i = 0; i < 8; i++) {
		code_insn(&k, 2, INSN_COMPLEX);
		code_uop(&k, UOP_NOP, 0, 0, true);
		code_uop(&k, UOP_NOP, 0, 0, true);
	}
	code_branch(&k, 2, 0, 0x1000, 0);
	loop(&b, 60);
	assert_int_equal(cycles(10), 8 * 10);	/* the branch goes with the last of them */
	bench_end(&b);
}

static void test_legacy_decode_is_limited_by_decoders(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.sets=0 mite.decoders=3 mite.predecode=6");
	nops(11, 2);
	code_branch(&k, 2, 0, 0x1000, 0);
	loop(&b, 60);
	assert_int_equal(cycles(10), 4 * 10);	/* 12 instructions, 3 a cycle */
	bench_end(&b);
}

static void test_legacy_decode_is_limited_by_fetch(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.sets=0");
	nops(15, 8);
	code_branch(&k, 8, 0, 0x1000, 0);
	loop(&b, 60);
	assert_int_equal(cycles(10), 8 * 10);	/* 128 bytes, 16 a cycle */
	bench_end(&b);
}

static void test_length_changing_prefix_stalls_predecode(void **state)
{
	(void)state;
	struct bench b;
	uint64_t took[2];
	for (unsigned lcp = 0; lcp < 2; lcp++) {
		fixture_start(&b, &k, "dsb.sets=0");
		nops(8, 8);
		if (lcp)
			k.insn[3].flags |= INSN_LCP;
		code_branch(&k, 8, 0, 0x1000, 0);
		loop(&b, 60);
		took[lcp] = cycles(10);
		if (lcp)
			assert_int_equal(heard_sum(SPMU_SIG_LCP_STALL), 60 * 3);
		bench_end(&b);
	}
	assert_int_equal(took[1], took[0] + 10 * 3);
}

static void test_length_changing_prefix_costs_nothing_from_the_uop_cache(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	nops(3, 8);
	k.insn[1].flags |= INSN_LCP;
	code_branch(&k, 8, 0, 0x1000, 0);
	loop(&b, 20);
	assert_int_equal(heard_count(SPMU_SIG_LCP_STALL), 1);
	assert_int_equal(cycles(10), 10);
	bench_end(&b);
}

static void test_switch_from_uop_cache_to_decode_costs_its_penalty(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	nops(7, 4);
	code_branch(&k, 4, INSN_COND, 0x1000, 0);
	for (unsigned i = 0; i < 4; i++)
		bench_run(&b, &k, none, 0x1000);
	bench_run(&b, &k, none, 0x1020);
	code_start(&k, 0x1020);		/* the next window, never seen */
	nops(1, 4);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	struct seen *last = &out.uop[out.uops - 1];
	assert_true(last->did & SPMU_DID(FROM_MITE));
	assert_int_equal(heard_sum(SPMU_SIG_DSB_TO_MITE), 2);
	assert_int_equal(last->fetch, last[-1].fetch + 1 + 2);
	bench_end(&b);
}

static void test_microcode_switches_and_delivers_its_width(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	nops(1, 4);
	code_insn(&k, 4, INSN_MS | INSN_COMPLEX);
	for (unsigned i = 0; i < 8; i++)
		code_uop(&k, UOP_NOP, 0, 0, true)->flags |= UOP_MS;
	nops(1, 4);
	code_branch(&k, 4, 0, 0x1000, 0);
	loop(&b, 20);
	struct seen *u = &out.uop[out.uops - k.b.uops];
	assert_true(u[0].did & SPMU_DID(FROM_DSB));
	assert_true(u[1].did & SPMU_DID(FROM_MS));
	assert_false(u[1].did & SPMU_DID(FROM_DSB));
	assert_true(u[9].did & SPMU_DID(FROM_DSB));
	assert_int_equal(u[1].fetch, u[0].fetch + 1 + 2);	/* a new cycle and ms.enter */
	assert_int_equal(u[5].fetch, u[1].fetch + 1);		/* 4 a cycle */
	assert_int_equal(u[9].fetch, u[5].fetch + 1 + 1);	/* ms.leave 1 */
	assert_int_equal(heard_count(SPMU_SIG_MS_SWITCH), 20);
	bench_end(&b);
}

static void test_instruction_cache_miss_delays_fetch_and_marks_the_uop(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	mock.fetch_miss_line = 0x1000 >> 6;
	mock.fetch_miss = 50;
	code_start(&k, 0x1000);
	nops(2, 4);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_int_equal(out.uop[0].fetch, 3 + 50);
	assert_true(out.uop[0].did & SPMU_DID(ICACHE_MISS));
	assert_false(out.uop[1].did & SPMU_DID(ICACHE_MISS));
	bench_end(&b);
}

/* Runs 40 lines of code, each of which takes 4 cycles to decode; line 30 misses L1I if `misses`.  Returns when the last
 * uop is delivered. */
static uint64_t decode_lines(const char *settings, bool misses)
{
	struct bench b;
	fixture_start(&b, NULL, settings);
	if (misses) {
		mock.fetch_miss_line = (0x10000 >> 6) + 30;
		mock.fetch_miss = 20;
	}
	for (unsigned i = 0; i < 40; i++) {
		code_start(&k, 0x10000 + 64 * i);
		nops(16, 4);
		bench_run(&b, &k, none, 0);
	}
	core_flush(b.c, true);
	const uint64_t last = out.uop[out.uops - 1].fetch;
	bench_end(&b);
	return last;
}

static void test_branch_prediction_fetches_lines_ahead_of_the_decoders(void **state)
{
	(void)state;
	static const struct { const char *settings; unsigned lost; } want[] = {
		{ "predict.ahead=0", 20 },
		{ "predict.ahead=2", 12 },	/* two lines of four cycles */
		{ "predict.ahead=24", 0 },
	};
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(decode_lines(want[i].settings, true) - decode_lines(want[i].settings, false),
			want[i].lost);
}

static void test_uop_cache_hit_does_not_fetch(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	nops(3, 4);
	code_branch(&k, 4, 0, 0x1000, 0);
	loop(&b, 50);
	assert_int_equal(mock.fetches, 1);
	bench_end(&b);
}

static void test_discarded_code_is_decoded_again(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	nops(3, 4);
	code_branch(&k, 4, 0, 0x1000, 0);
	for (unsigned i = 0; i < 5; i++)
		bench_run(&b, &k, none, 0x1000);
	core_discard_code(b.c, 0x1008, 1);
	bench_run(&b, &k, none, 0x1000);
	core_discard_code(b.c, 0x2000, 4096);	/* elsewhere */
	bench_run(&b, &k, none, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(out_count_did(SPMU_DID(FROM_MITE)), 8);
	assert_true(out.uop[20].did & SPMU_DID(FROM_MITE));
	assert_true(out.uop[24].did & SPMU_DID(FROM_DSB));
	bench_end(&b);
}

static void test_fetch_for_the_decoders_runs_ahead_of_them_by_the_instruction_queue(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.sets=0 mite.decoders=1 mite.queue=4 mite.predecode=4");
	nops(30, 4);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	unsigned n = 0;
	for (unsigned i = 0; i < out.signals; i++)
		if (out.signal[i].signal == SPMU_SIG_INSN_FETCHED) {
			assert_true(out.signal[i].begin <= out.uop[n].fetch);
			if (n >= 8)	/* one a cycle is decoded, four wait behind it */
				assert_in_range(out.uop[n].fetch - out.signal[i].begin, 4, 5);
			n++;
		}
	assert_int_equal(n, 30);
	bench_end(&b);
}

static void test_uop_queue_holds_back_the_front_end(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "idq.size=8 rob.size=8");
	code_op(&k, 1, 100, REG_GPR, 0);
	nops(30, 4);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	/* slot 8 waits for the reorder buffer and 8 slots wait in the queue, so slot 16 enters the queue when slot 8
	 * leaves */
	assert_int_equal(out.uop[16].fetch, out.uop[8].alloc);
	assert_int_equal(out.uop[8].alloc, out.uop[0].retire + 1);
	assert_int_equal(heard_count(SPMU_SIG_IDQ_BUBBLE), 1);	/* at the start; later the back end stalls */
	bench_end(&b);
}

static void test_loop_buffer_takes_over_a_short_loop(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "lsd.size=64 lsd.width=4 lsd.iterations=8 alloc.width=4");
	nops(19, 4);
	code_branch(&k, 4, 0, 0x1000, 0);
	loop(&b, 50);
	assert_true(out.uop[out.uops - 1].did & SPMU_DID(FROM_LSD));
	assert_false(out.uop[20 * 7].did & SPMU_DID(FROM_LSD));
	assert_int_equal(cycles(10), 5 * 10);
	bench_end(&b);
}

static void test_loop_buffer_leaves_longer_loops_alone(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "lsd.size=16 lsd.width=4 lsd.iterations=8");
	nops(19, 4);
	code_branch(&k, 4, 0, 0x1000, 0);
	loop(&b, 50);
	assert_int_equal(out_count_did(SPMU_DID(FROM_LSD)), 0);
	bench_end(&b);
}

static void test_loop_buffer_lets_go_behind_the_loop(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "lsd.size=64 lsd.iterations=4");
	nops(7, 4);
	code_branch(&k, 4, INSN_COND, 0x1000, 0);
	code_exit(&k, ST_JUMP_BORING, 0x1000);
	for (unsigned i = 0; i < 20; i++)
		bench_run(&b, &k, none, 0x1000);
	bench_run(&b, &k, none, 0x1020);	/* leaves the loop, as predicted */
	code_start(&k, 0x1020);
	nops(1, 4);
	bench_run(&b, &k, none, 0);
	core_flush(b.c, true);
	assert_true(out.uop[out.uops - 2].did & SPMU_DID(FROM_LSD));
	assert_false(out.uop[out.uops - 1].did & SPMU_DID(FROM_LSD));
	bench_end(&b);
}

static void test_bubbles_count_every_empty_slot(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.sets=0 mite.decoders=1");
	nops(7, 2);
	code_branch(&k, 2, 0, 0x1000, 0);
	loop(&b, 100);
	/* one slot a cycle into a width of four: three empty ones a cycle, from the first allocation on */
	uint64_t first = out.uop[0].alloc, last = out.uop[out.uops - 1].alloc;
	assert_int_equal(last - first, 799);
	assert_int_equal(heard_sum(SPMU_SIG_IDQ_BUBBLE), 4 * first + 3 * (last - first));
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uop_cache_reads_as_many_lines_a_cycle_as_it_can),
		cmocka_unit_test(test_a_line_is_read_from_where_a_taken_branch_leads_to),
		cmocka_unit_test(test_constant_of_two_places_ends_a_cycle),
		cmocka_unit_test(test_jcc_erratum_keeps_a_window_out_of_the_uop_cache),
		cmocka_unit_test(test_jcc_erratum_spares_a_branch_within_its_window),
		cmocka_unit_test(test_simple_front_end_delivers_the_issue_width),
		cmocka_unit_test(test_window_with_too_many_uops_is_always_decoded),
		cmocka_unit_test(test_window_with_enough_room_is_not),
		cmocka_unit_test(test_uop_cache_capacity_is_that_of_its_sets),
		cmocka_unit_test(test_legacy_decode_takes_one_complex_a_cycle),
		cmocka_unit_test(test_legacy_decode_is_limited_by_decoders),
		cmocka_unit_test(test_legacy_decode_is_limited_by_fetch),
		cmocka_unit_test(test_length_changing_prefix_stalls_predecode),
		cmocka_unit_test(test_length_changing_prefix_costs_nothing_from_the_uop_cache),
		cmocka_unit_test(test_switch_from_uop_cache_to_decode_costs_its_penalty),
		cmocka_unit_test(test_microcode_switches_and_delivers_its_width),
		cmocka_unit_test(test_instruction_cache_miss_delays_fetch_and_marks_the_uop),
		cmocka_unit_test(test_branch_prediction_fetches_lines_ahead_of_the_decoders),
		cmocka_unit_test(test_uop_cache_hit_does_not_fetch),
		cmocka_unit_test(test_discarded_code_is_decoded_again),
		cmocka_unit_test(test_fetch_for_the_decoders_runs_ahead_of_them_by_the_instruction_queue),
		cmocka_unit_test(test_uop_queue_holds_back_the_front_end),
		cmocka_unit_test(test_loop_buffer_takes_over_a_short_loop),
		cmocka_unit_test(test_loop_buffer_leaves_longer_loops_alone),
		cmocka_unit_test(test_loop_buffer_lets_go_behind_the_loop),
		cmocka_unit_test(test_bubbles_count_every_empty_slot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
