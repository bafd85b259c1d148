/* SPDX-License-Identifier: GPL-2.0-or-later
 * Mechanisms of the older cores at exact cycles: the Pentium's pipes, P6's decoders and register reads,
 * NetBurst's half cycles, replay and trace cache; and every preset's file can be read. */
#include "core_fixture.h"
#include "core/older/older.h"
#include "data_dir.h"

enum { A = REG_GPR, B, C, D, E };
static struct code k;
static const uint64_t none[MOCK_SLOTS];

#define P5 "inorder.on=1 dsb.sets=0 mite.decoders=8 mite.predecode=16 mite.width=16 mite.queue=64 " \
	"mite.fetch_bytes=64 alloc.width=16 idq.size=64"

/* Adds an instruction of one uop. */
static struct uop *op(unsigned ports, unsigned dst, unsigned src)
{
	return code_op(&k, ports, 1, dst, src);
}

static void run(struct bench *b)
{
	code_exit(&k, ST_JUMP_BORING, k.at);
	bench_run(b, &k, none, k.b.addr);
	core_flush(b->c, true);
	assert_int_equal(out.uops, k.b.uops);
}

/* Returns the cycle in which uop i was dispatched, relative to the first uop. */
static unsigned at(unsigned i)
{
	return (unsigned)(out.uop[i].dispatch - out.uop[0].dispatch);
}

static void test_pentium_issues_two_independent_instructions_a_cycle(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, P5);
	op(3, A, 0), op(3, B, 0), op(3, C, 0), op(3, D, 0);
	run(&b);
	assert_int_equal(at(1), 0);
	assert_int_equal(at(2), 1);
	assert_int_equal(at(3), 1);
	assert_int_equal(out.uop[0].port, 0);
	assert_int_equal(out.uop[1].port, 1);
	bench_end(&b);
}

static void test_pentium_does_not_pair_what_reads_or_writes_its_elders_result(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, P5);
	op(3, A, 0), op(3, B, A), op(3, B, 0), op(3, C, 0);
	run(&b);
	assert_int_equal(at(1), 1);	/* reads A */
	assert_int_equal(at(2), 2);	/* writes B again */
	assert_int_equal(at(3), 2);
	bench_end(&b);
}

static void test_pentium_pairs_by_the_class_of_both(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, P5);
	op(3, A, 0), op(1, B, 0);	/* UV, PU: the second goes only to U */
	op(3, C, 0);			/* PU and UV pair */
	struct uop *np = op(1, D, 0);
	np->busy = 3, np->unit = 3;	/* not pairable, three cycles */
	op(3, E, 0);
	run(&b);
	assert_int_equal(at(1), 1);
	assert_int_equal(at(2), 1);
	assert_int_equal(at(3), 2);
	assert_int_equal(at(4), 5);
	bench_end(&b);
}

static void test_pentium_exchanges_registers_behind_floating_point_only(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, P5);
	op(4, REG_X87, 0), op(6, REG_X87 + 1, REG_X87 + 2), op(4, REG_X87 + 3, 0), op(3, A, 0);
	run(&b);
	assert_int_equal(at(1), 0);	/* FXCH */
	assert_int_equal(at(2), 1);
	assert_int_equal(at(3), 2);	/* an integer instruction does not pair with it */
	bench_end(&b);
}

static void test_pentium_address_needs_its_register_a_cycle_early(void **state)
{
	(void)state;
	struct bench b;
	uint64_t slots[MOCK_SLOTS] = { 0x100 };
	fixture_start(&b, &k, P5);
	op(3, A, 0);
	code_load(&k, B, A, 4);
	code_exit(&k, ST_JUMP_BORING, k.at);
	bench_run(&b, &k, slots, k.b.addr);
	core_flush(b.c, true);
	assert_int_equal(at(1), 2);
	bench_end(&b);
}

static void test_prefix_costs_the_pentium_a_cycle_and_the_pair(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, P5);
	op(3, A, 0), op(3, B, 0), op(3, C, 0);
	k.insn[1].prefixes = 1;
	run(&b);
	assert_int_equal(at(1), 2);
	assert_int_equal(at(2), 3);
	bench_end(&b);
}

static void test_p6_decodes_four_one_one(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.sets=0 mite.decoders=3 mite.width=6 mite.predecode=16 mite.fetch_bytes=64 "
		"alloc.width=8 retire.width=8");
	for (unsigned i = 0; i < 6; i++) { /* 2 1 1 | 2 1 | 2: the third of two uops cannot go to a simple decoder */
		code_insn(&k, 2, 0);
		code_uop(&k, UOP_COMPUTE, 0x63, 1, true);
		if (i == 0 || i == 3 || i == 5)
			code_uop(&k, UOP_COMPUTE, 0x63, 1, true);
	}
	run(&b);
	unsigned cycle[6], n = 0;
	for (unsigned i = 0; i < out.uops; i++)
		if (!i || out.uop[i].ip != out.uop[i - 1].ip)
			cycle[n++] = (unsigned)(out.uop[i].fetch - out.uop[0].fetch);
	const unsigned want[6] = { 0, 0, 0, 1, 1, 2 };
	assert_memory_equal(cycle, want, sizeof want);
	bench_end(&b);
}

static void test_p6_reads_two_retired_registers_a_cycle(void **state)
{
	(void)state;
	static const struct { const char *settings; unsigned last; } want[] = {
		{ "alloc.width=3", 1 },				/* six slots, three a cycle */
		/* each of the three reads a register: a group takes two cycles and is not refilled */
		{ "alloc.width=3 rename.register_reads=2", 3 },
	};
	for (unsigned i = 0; i < 2; i++) {
		struct bench b;
		fixture_start(&b, &k, want[i].settings);
		for (unsigned n = 0; n < 6; n++)
			op(ALU, 0, A + n);
		run(&b);
		assert_int_equal(out.uop[5].alloc - out.uop[0].alloc, want[i].last);
		bench_end(&b);
	}
}

static void test_double_speed_chain_goes_two_a_cycle(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "alu.double_speed=1");
	for (unsigned i = 0; i < 8; i++)
		code_op(&k, 0x33, 0, A, A);
	code_op(&k, 0x02, 4, B, A);	/* an operation of normal speed waits for the end of the cycle */
	run(&b);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(at(i), i / 2);
		assert_true(out.uop[i].port & 4 ? i % 2 : i % 2 == 0);	/* ports 4 and 5 are the second half cycle */
	}
	assert_int_equal(at(8), 4);
	bench_end(&b);
}

static void test_dependent_of_a_missed_load_is_replayed(void **state)
{
	(void)state;
	struct bench b;
	uint64_t slots[MOCK_SLOTS] = { 0x9000 };
	fixture_start(&b, &k, "replay.cycles=7 l1d.latency=4");
	mock.miss_from = 0x9000, mock.miss_to = 0xa000, mock.miss_latency = 30;
	code_load(&k, A, 0, 8);
	op(0x01, B, A);
	code_exit(&k, ST_JUMP_BORING, k.at);
	bench_run(&b, &k, slots, k.b.addr);
	core_flush(b.c, true);
	assert_int_equal(at(1), 4 + 4 * 7);	/* tried at 4, 11, 18, 25; the data come at 30, so at 32 */
	bench_end(&b);
}

static void test_trace_cache_delivers_across_taken_branches(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "dsb.sets=0 dsb.width=3 trace.sets=4 trace.ways=2 trace.line_uops=6 mite.decoders=1 "
		"alloc.width=8 retire.width=8");
	for (unsigned i = 0; i < 5; i++) {
		code_insn(&k, 2, 0);
		code_uop(&k, UOP_NOP, 0, 0, true);
	}
	code_branch(&k, 2, 0, 0x1000, 0);
	code_exit(&k, ST_JUMP_BORING, 0x1000);
	for (unsigned i = 0; i < 20; i++)
		bench_run(&b, &k, none, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(out_count_did(SPMU_DID(FROM_MITE)), 6);	/* decoded once */
	assert_int_equal(out_count_did(SPMU_DID(FROM_DSB)), 19 * 6);
	assert_int_equal(out_count_did(SPMU_DID(LINE_HEAD)), 20);	/* a round is a line */
	assert_int_equal(out.uop[out.uops - 6].fetch - out.uop[out.uops - 66].fetch, 20); /* six uops in two cycles */
	bench_end(&b);
}

static void test_every_preset_can_be_read(void **state)
{
	(void)state;
	static const char *const name[] = { "golden-cove", "golden-cove-client", "skylake", "ivy-bridge", "core2",
		"pentium3", "willamette", "prescott", "pentium", "zen3", "zen4", "zen5" };
	for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
		struct core_config c;
		struct err err;
		if (core_config_load(&c, data_dir(), name[i], &err))
			fail_msg("%s", err.text);
		assert_string_equal(c.name, name[i]);
	}
}

static void test_netburst_writes_a_group_of_stores_in_its_cycles(void **state)
{
	(void)state;
	struct older o = { .commit_cycles = 7, .commit_group = 4 };
	unsigned sum = 0;
	for (unsigned i = 0; i < 4; i++) {
		unsigned gap = older_commit_gap(&o);
		assert_in_range(gap, 1, 2);
		sum += gap;
	}
	assert_int_equal(sum, 7);
	assert_int_equal(o.commit_part, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pentium_issues_two_independent_instructions_a_cycle),
		cmocka_unit_test(test_pentium_does_not_pair_what_reads_or_writes_its_elders_result),
		cmocka_unit_test(test_pentium_pairs_by_the_class_of_both),
		cmocka_unit_test(test_pentium_exchanges_registers_behind_floating_point_only),
		cmocka_unit_test(test_pentium_address_needs_its_register_a_cycle_early),
		cmocka_unit_test(test_prefix_costs_the_pentium_a_cycle_and_the_pair),
		cmocka_unit_test(test_p6_decodes_four_one_one),
		cmocka_unit_test(test_p6_reads_two_retired_registers_a_cycle),
		cmocka_unit_test(test_double_speed_chain_goes_two_a_cycle),
		cmocka_unit_test(test_dependent_of_a_missed_load_is_replayed),
		cmocka_unit_test(test_trace_cache_delivers_across_taken_branches),
		cmocka_unit_test(test_every_preset_can_be_read),
		cmocka_unit_test(test_netburst_writes_a_group_of_stores_in_its_cycles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
