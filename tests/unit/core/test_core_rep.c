/* SPDX-License-Identifier: GPL-2.0-or-later
 * REP string instructions: one instruction made of the stream's iterations. */
#include "core_fixture.h"

static struct code k, after;

/* Makes a block of REP MOVS of `size`-byte elements: two uops to start, then load, store address, store data and
 * pointers. The block has n copies of it, as an unrolled translation does. The exit before each copy's accesses is
 * taken when the count ends. */
static void rep_movs(unsigned size, unsigned n, unsigned chunk, bool store)
{
	code_start(&k, 0x1000);
	for (unsigned i = 0; i < n; i++) {
		k.at = 0x1000;
		struct insn *in = code_insn(&k, 2, INSN_REP | INSN_MS | INSN_COMPLEX);
		code_exit(&k, ST_JUMP_BORING, 0x1002);
		code_uop(&k, UOP_COMPUTE, ALU, 1, true)->flags |= UOP_MS;
		code_uop(&k, UOP_COMPUTE, ALU, 1, true)->flags |= UOP_MS;
		in->rep_first = 2;
		in->rep_chunk = (uint16_t)chunk;
		struct uop *u = code_uop(&k, UOP_LOAD, 0x0c, 0, true);
		u->flags |= UOP_MS;
		u->size = (uint16_t)size;
		u->is |= SPMU_IS(LOAD);
		u->slot = (uint16_t)code_slot(&k, ST_SLOT_LOAD, size);
		if (store) {
			u = code_uop(&k, UOP_STORE_ADDR, 0x80, 1, true);
			u->flags |= UOP_MS;
			u->size = (uint16_t)size;
			u->is |= SPMU_IS(STORE_ADDR);
			u->slot = (uint16_t)code_slot(&k, ST_SLOT_STORE, size);
			u = code_uop(&k, UOP_STORE_DATA, 0x10, 1, false);
			u->flags |= UOP_MS;
			u->size = (uint16_t)size;
			u->slot = (uint16_t)(k.b.slots - 1);
		}
		code_uop(&k, UOP_COMPUTE, ALU, 1, true)->flags |= UOP_MS;
	}
	code_exit(&k, ST_JUMP_REPEAT, 0x1000);
}

/* Runs `count` elements, `step` bytes apart, through blocks of n copies, then the end of the count. */
static void run_movs(struct bench *b, unsigned n, unsigned count, int64_t step, bool store)
{
	uint64_t slots[MOCK_SLOTS], from = 0x8000, to = 0x20000;
	unsigned per = store ? 2 : 1;
	while (count >= n) {
		for (unsigned i = 0; i < n; i++, from += (uint64_t)step, to += (uint64_t)step) {
			slots[per * i] = from;
			if (store)
				slots[per * i + 1] = to;
		}
		core_run_block(b->c, &k.b, n, n, slots, 0x1000);
		count -= n;
	}
	for (unsigned i = 0; i < count; i++, from += (uint64_t)step, to += (uint64_t)step) {
		slots[per * i] = from;
		if (store)
			slots[per * i + 1] = to;
	}
	core_run_block(b->c, &k.b, count, count + 1, slots, 0x1002);
}

static void test_rep_movs_retires_once_and_moves_in_chunks(void **state)
{
	(void)state;
	for (unsigned copies = 1; copies <= 4; copies++) {	/* however far the translation is unrolled */
		struct bench b;
		fixture_start(&b, NULL, "rep.chunk_bytes=32");
		rep_movs(1, copies, 32, true);
		run_movs(&b, copies, 100, 1, true);
		core_flush(b.c, true);
		assert_int_equal(out.instructions, 1);
		assert_int_equal(core_instructions(b.c), 1);
		assert_int_equal(out_count_is(SPMU_IS(LOAD)), 4);	/* 32 + 32 + 32 + 4 */
		assert_int_equal(out_count_is(SPMU_IS(STORE_ADDR)), 4);
		assert_int_equal(out_count_is(SPMU_IS(INST_BEGIN)), 1);
		assert_int_equal(out_count_is(SPMU_IS(INST_END)), 1);
		assert_true(out.uop[out.uops - 1].is & SPMU_IS(INST_END));
		assert_int_equal(out.uops, 2 + 4 * 4);
		assert_int_equal(out.uop[2].size, 32);
		assert_int_equal(out.uop[2].addr, 0x8000);
		assert_int_equal(out.uop[3].addr, 0x20000);
		assert_int_equal(out.uop[2 + 4 * 3].size, 4);
		assert_int_equal(out.uop[2 + 4 * 3].addr, 0x8060);
		assert_int_equal(mock.loads, 4);
		assert_int_equal(mock.stores, 4);
		assert_int_equal(mock.last_store_size, 4);
		bench_end(&b);
	}
}

static void test_rounds_are_never_larger_than_the_machine_moves(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, "rep.chunk_bytes=16");
	rep_movs(8, 1, 32, true);
	run_movs(&b, 1, 8, 8, true);
	core_flush(b.c, true);
	assert_int_equal(out_count_is(SPMU_IS(LOAD)), 4);
	assert_int_equal(out.uop[2].size, 16);
	bench_end(&b);
}

static void test_descending_rep_movs_goes_element_by_element(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	rep_movs(4, 1, 32, true);
	run_movs(&b, 1, 10, -4, true);
	core_flush(b.c, true);
	assert_int_equal(out_count_is(SPMU_IS(LOAD)), 10);
	assert_int_equal(out.instructions, 1);
	bench_end(&b);
}

/* Moves `count` elements of 4 bytes. Returns when the first round's load completes; *rounds: how many rounds. */
static uint64_t first_load(const char *settings, unsigned count, unsigned *rounds)
{
	struct bench b;
	uint64_t complete = 0;
	fixture_start(&b, NULL, settings);
	rep_movs(4, 1, 32, true);
	run_movs(&b, 1, count, 4, true);
	core_flush(b.c, true);
	*rounds = out_count_is(SPMU_IS(LOAD));
	assert_int_equal(out.instructions, 1);
	for (unsigned i = out.uops; i-- > 0;)
		if (out.uop[i].is & SPMU_IS(LOAD))
			complete = out.uop[i].complete;
	assert_int_equal(out.uop[out.uops - 2].addr, 0x20000 + 4 * count - out.uop[out.uops - 2].size);
	bench_end(&b);
	return complete;
}

static void test_few_elements_go_alone_and_many_start_later(void **state)
{
	(void)state;
	const char *few = "rep.start=5 rep.few_moves=12 rep.many_moves=20 rep.few_stores=100";
	unsigned rounds;
	const uint64_t start = first_load("rep.start=5", 11, &rounds);
	assert_int_equal(rounds, 2);
	assert_int_equal(first_load("rep.start=0", 11, &rounds) + 5, start);
	assert_int_equal(first_load(few, 11, &rounds), start);
	assert_int_equal(rounds, 11);
	assert_int_equal(first_load(few, 12, &rounds), start + 20);
	assert_int_equal(rounds, 2);
	first_load(few, 100, &rounds);
	assert_int_equal(rounds, 13);
}

static void test_rep_lods_goes_element_by_element(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	rep_movs(4, 1, 0, false);
	run_movs(&b, 1, 10, 4, false);
	core_flush(b.c, true);
	assert_int_equal(out_count_is(SPMU_IS(LOAD)), 10);
	assert_int_equal(out.instructions, 1);
	bench_end(&b);
}

static void test_rep_of_zero_elements_still_retires(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	rep_movs(4, 1, 32, true);
	run_movs(&b, 1, 0, 4, true);
	core_flush(b.c, true);
	assert_int_equal(out.uops, 2);
	assert_int_equal(out.instructions, 1);
	assert_true(out.uop[1].is & SPMU_IS(INST_END));
	assert_int_equal(mock.loads + mock.stores, 0);
	bench_end(&b);
}

static void test_two_reps_in_a_row_are_two_instructions(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	rep_movs(8, 1, 32, true);
	run_movs(&b, 1, 4, 8, true);
	run_movs(&b, 1, 4, 8, true);
	core_flush(b.c, true);
	assert_int_equal(out.instructions, 2);
	assert_int_equal(out_count_is(SPMU_IS(INST_BEGIN)), 2);
	bench_end(&b);
}

static void test_interrupted_rep_does_not_retire_until_it_ends(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	rep_movs(8, 1, 32, true);
	const uint64_t slots[] = { 0x8000, 0x9000 };
	core_run_block(b.c, &k.b, 1, 1, slots, 0);	/* a signal interrupts it: the next address is unknown */
	code_start(&after, 0x7000);
	code_op(&after, ALU, 1, REG_GPR, 0);
	bench_run(&b, &after, NULL, 0);
	run_movs(&b, 1, 3, 8, true);			/* the REP goes on */
	core_flush(b.c, true);
	assert_int_equal(out.instructions, 2);		/* the handler's instruction and the REP */
	assert_int_equal(mock.loads, 2);
	bench_end(&b);
}

static void test_microcode_is_entered_once_for_all_rounds(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	rep_movs(8, 2, 32, true);
	run_movs(&b, 2, 64, 8, true);
	core_flush(b.c, true);
	assert_int_equal(heard_count(SPMU_SIG_MS_SWITCH), 1);
	bench_end(&b);
}

static void test_end_of_the_thread_inside_a_rep_loses_no_access(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	rep_movs(8, 1, 32, true);
	core_run_block(b.c, &k.b, 1, 1, (const uint64_t[]){ 0x8000, 0x9000 }, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(mock.loads, 1);
	assert_int_equal(out.instructions, 0);
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rep_movs_retires_once_and_moves_in_chunks),
		cmocka_unit_test(test_rounds_are_never_larger_than_the_machine_moves),
		cmocka_unit_test(test_descending_rep_movs_goes_element_by_element),
		cmocka_unit_test(test_few_elements_go_alone_and_many_start_later),
		cmocka_unit_test(test_rep_lods_goes_element_by_element),
		cmocka_unit_test(test_rep_of_zero_elements_still_retires),
		cmocka_unit_test(test_two_reps_in_a_row_are_two_instructions),
		cmocka_unit_test(test_interrupted_rep_does_not_retire_until_it_ends),
		cmocka_unit_test(test_microcode_is_entered_once_for_all_rounds),
		cmocka_unit_test(test_end_of_the_thread_inside_a_rep_loses_no_access),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
