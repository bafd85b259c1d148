/* SPDX-License-Identifier: GPL-2.0-or-later
 * The exact profile: whom each cycle is charged to, and why (analysis/exact.h). */
#include "analysis/exact.h"
#include "session_fixture.h"

enum { A = 0x1000, B = 0x1004, C = 0x1008 };
static struct fixture_batch f;
static struct exact_entry got[8];
static unsigned gots;
static struct exact *x;

static int on_entry(void *context, const struct exact_entry *e)
{
	(void)context;
	assert_true(gots < 8);
	got[gots++] = *e;
	return 0;
}

static void begin(uint64_t sample)
{
	x = exact_create(sample);
	assert_non_null(x);
	fixture_begin(&f, 0);
}

static void finish(uint32_t cycles)
{
	fixture_end(&f, 0, cycles, true);
	exact_batch(x, &f.b);
	assert_int_equal(exact_cycles(x), cycles);
	gots = 0;
	assert_int_equal(exact_take(x, on_entry, NULL), 0);
	uint64_t sum = 0;
	for (unsigned i = 0; i < gots; i++)
		for (unsigned c = 0; c < EXACT_CAUSES; c++)
			sum += got[i].part[c];
	assert_int_equal(sum, (uint64_t)cycles * EXACT_CYCLE);
	assert_false(exact_failed(x));
	exact_destroy(x);
}

/* Adds an instruction of one uop that goes through the stages in these cycles. */
static struct spmu_record *insn(uint64_t ip, uint64_t is, uint64_t did, uint32_t alloc, uint32_t ready,
	uint32_t dispatch, uint32_t complete,
	uint32_t retire)
{
	struct spmu_record *r = fixture_uop(&f, ip, is | SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END), did, 0, 0);
	r->fetch = 0;
	r->alloc = alloc;
	r->ready = ready;
	r->dispatch = dispatch;
	r->complete = complete;
	r->retire = retire;
	return r;
}

static uint64_t part(uint64_t ip, enum exact_cause cause)
{
	for (unsigned i = 0; i < gots; i++)
		if (got[i].ip == ip)
			return got[i].part[cause];
	return 0;
}

#define whole(ip, cause) ((double)part(ip, cause) / EXACT_CYCLE)

static void test_those_that_retire_together_share_the_cycle(void **state)
{
	(void)state;
	begin(0);
	insn(A, 0, 0, 0, 0, 0, 0, 1);
	insn(B, 0, 0, 0, 0, 0, 0, 1);
	insn(B, 0, 0, 0, 0, 0, 0, 1);
	insn(C, 0, 0, 0, 0, 0, 1, 2);
	finish(2);
	assert_int_equal(part(A, EXACT_RETIRING), EXACT_CYCLE / 3);
	assert_int_equal(part(B, EXACT_RETIRING), EXACT_CYCLE / 3 * 2);
	assert_int_equal(part(C, EXACT_RETIRING), EXACT_CYCLE);
	assert_int_equal(got[1].instructions, 2);
}

static void test_a_stall_is_the_oldest_ones(void **state)
{
	(void)state;
	begin(0);
	insn(A, 0, 0, 0, 1, 1, 2, 10);		/* the pipeline fills: 9 cycles */
	/* the stages after `complete` take 8 cycles for all */
	insn(B, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L3_MISS), 0, 1, 2, 202, 210);
	insn(C, 0, 0, 0, 1, 1, 2, 210);
	finish(210);
	assert_float_equal(whole(B, EXACT_MEMORY), 199, 0);
	assert_float_equal(whole(B, EXACT_RETIRING), 0.5, 0);
	assert_float_equal(whole(C, EXACT_RETIRING), 0.5, 0);
	assert_float_equal(whole(A, EXACT_RETIRING), 1, 0);
}

static void test_phases_of_the_oldest_are_told_apart(void **state)
{
	(void)state;
	begin(0);
	insn(A, 0, 0, 0, 0, 0, 1, 1);
	insn(B, SPMU_IS(DIVIDE), 0, 1, 6, 10, 30, 30);	/* allocated at 1, ready at 6, a port at 10 */
	finish(30);
	assert_float_equal(whole(B, EXACT_PIPELINE), 5, 0);
	assert_float_equal(whole(B, EXACT_PORT), 4, 0);
	assert_float_equal(whole(B, EXACT_DIVIDER), 19, 0);
	assert_float_equal(whole(B, EXACT_RETIRING), 1, 0);
}

static void test_a_fused_operation_waited_for_its_load(void **state)
{
	(void)state;
	begin(0);
	insn(A, 0, 0, 0, 0, 0, 1, 1);
	struct spmu_record *r = fixture_uop(&f, B, SPMU_IS(LOAD) | SPMU_IS(INST_BEGIN),
		SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT), 0, 0);
	r->ready = r->dispatch = 1;
	r->complete = 15;
	r->retire = 16;
	r = fixture_uop(&f, B, SPMU_IS(INST_END), 0, 0, 0);
	r->is &= ~SPMU_IS(SLOT);
	r->ready = r->dispatch = 15;
	r->complete = r->retire = 16;
	finish(16);
	assert_float_equal(whole(B, EXACT_L2), 14, 0);
	assert_float_equal(whole(B, EXACT_RETIRING), 1, 0);
}

static void test_a_flush_is_the_mispredicted_branchs(void **state)
{
	(void)state;
	begin(0);
	insn(A, SPMU_IS(BRANCH), SPMU_DID(MISPREDICTED), 0, 0, 0, 1, 5);
	struct spmu_record *r = insn(C, 0, 0, 2, 3, 3, 4, 5);	/* the wrong path leaves no trace */
	r->did &= ~SPMU_DID(RETIRED);
	insn(B, 0, 0, 25, 28, 28, 29, 31);
	finish(31);
	assert_float_equal(whole(A, EXACT_MISPREDICT), 20, 0);
	assert_float_equal(whole(B, EXACT_PIPELINE), 5, 0);
	assert_float_equal(whole(B, EXACT_RETIRING), 1, 0);
	assert_int_equal(part(C, EXACT_RETIRING), 0);
}

static void test_an_empty_buffer_is_the_next_ones(void **state)
{
	(void)state;
	begin(0);
	insn(A, 0, 0, 0, 0, 0, 1, 1);
	insn(B, 0, SPMU_DID(ICACHE_MISS), 41, 41, 41, 42, 42);
	insn(C, SPMU_IS(STORE_ADDR), SPMU_DID(STALL_SB), 60, 60, 60, 61, 61);
	finish(61);
	assert_float_equal(whole(B, EXACT_ICACHE), 40, 0);
	assert_float_equal(whole(C, EXACT_STORES), 18, 0);
}

static void test_a_machine_clear_is_charged_to_whom_it_names(void **state)
{
	(void)state;
	begin(0);
	insn(A, SPMU_IS(LOAD), SPMU_DID(L1D_HIT), 0, 0, 0, 1, 1);
	insn(B, 0, 0, 0, 0, 0, 1, 1);
	f.r[f.b.count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3,
		.signal = SPMU_SIG_CLEAR_MEMORY_ORDER, .did = 1, .ip = A };
	insn(C, 0, 0, 31, 31, 31, 32, 32);
	finish(32);
	assert_float_equal(whole(A, EXACT_CLEAR), 30, 0);
}

static void test_halted_cycles_are_nobodys(void **state)
{
	(void)state;
	begin(0);
	insn(A, 0, 0, 0, 0, 0, 1, 2);
	fixture_end(&f, 0, 2, false);
	exact_batch(x, &f.b);
	fixture_begin(&f, 1000);
	insn(B, 0, 0, 3, 3, 3, 4, 4);
	fixture_end(&f, 0, 10, true);	/* six more cycles after the last: its stores */
	exact_batch(x, &f.b);
	assert_int_equal(exact_cycles(x), 12);
	gots = 0;
	exact_take(x, on_entry, NULL);
	assert_float_equal(whole(A, EXACT_RETIRING), 1, 0);
	assert_float_equal(whole(A, EXACT_PIPELINE) + whole(A, EXACT_EXECUTION), 1, 0);
	assert_float_equal(whole(B, EXACT_FRONT_END), 3, 0);
	assert_float_equal(whole(B, EXACT_SERIALIZE), 6, 0);
	exact_destroy(x);
}

static void test_samples_fall_on_every_nth_cycle(void **state)
{
	(void)state;
	begin(10);
	insn(A, 0, 0, 0, 0, 0, 1, 1);
	insn(B, SPMU_IS(LOAD), SPMU_DID(L1D_HIT), 0, 0, 0, 99, 99);
	insn(A, 0, 0, 0, 0, 0, 100, 100);
	insn(B, 0, 0, 0, 0, 0, 100, 100);
	finish(100);
	assert_int_equal(got[1].sampled, 9 * EXACT_CYCLE + EXACT_CYCLE / 2);
	assert_int_equal(got[0].sampled, EXACT_CYCLE / 2);
}

static void test_it_knows_where_it_has_instructions(void **state)
{
	(void)state;
	begin(0);
	insn(A, 0, 0, 0, 0, 0, 1, 1);
	fixture_end(&f, 0, 1, true);
	exact_batch(x, &f.b);
	assert_true(exact_holds(x, A, 1));
	assert_true(exact_holds(x, A - 16, 32));
	assert_false(exact_holds(x, A + 1, 100));
	gots = 0;
	exact_take(x, on_entry, NULL);
	assert_int_equal(gots, 1);
	assert_false(exact_holds(x, A, 1));
	exact_destroy(x);
}

static void test_many_instructions_come_in_order_of_address(void **state)
{
	(void)state;
	begin(0);
	for (uint64_t n = 0; n < 20000; n++) {
		fixture_begin(&f, n);
		insn((n * 7919 % 20000) * 3, 0, 0, 0, 0, 0, 1, 1);
		fixture_end(&f, 0, 1, false);
		exact_batch(x, &f.b);
	}
	assert_int_equal(exact_cycles(x), 20000);
	assert_false(exact_failed(x));
	assert_true(exact_holds(x, 3 * 19999, 1));
	exact_destroy(x);
}

static int add_entry(void *context, const struct exact_entry *e)
{
	for (unsigned c = 0; c < EXACT_CAUSES; c++)
		*(uint64_t *)context += e->part[c];
	return 0;
}

static void test_the_table_of_instructions_grows_while_cycles_are_charged(void **state)
{
	uint64_t sum = 0;
	uint32_t cycle = 0;
	(void)state;
	x = exact_create(0);
	for (unsigned batch = 0; batch < 20; batch++) {
		fixture_begin(&f, 0);
		const uint32_t from = cycle;
		/* every instruction is waited for, so it is first looked up when it is charged */
		for (unsigned i = 0; i < 500; i++, cycle += 7)
			insn(0x10000 + 4 * (500 * batch + i), 0, 0, cycle, cycle, cycle, cycle + 5, cycle + 7);
		fixture_end(&f, from, cycle, false);
		exact_batch(x, &f.b);
	}
	assert_int_equal(exact_cycles(x), cycle);
	assert_int_equal(exact_take(x, add_entry, &sum), 0);
	assert_int_equal(sum, (uint64_t)cycle * EXACT_CYCLE);
	exact_destroy(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_those_that_retire_together_share_the_cycle),
		cmocka_unit_test(test_a_stall_is_the_oldest_ones),
		cmocka_unit_test(test_phases_of_the_oldest_are_told_apart),
		cmocka_unit_test(test_a_fused_operation_waited_for_its_load),
		cmocka_unit_test(test_a_flush_is_the_mispredicted_branchs),
		cmocka_unit_test(test_an_empty_buffer_is_the_next_ones),
		cmocka_unit_test(test_a_machine_clear_is_charged_to_whom_it_names),
		cmocka_unit_test(test_halted_cycles_are_nobodys),
		cmocka_unit_test(test_samples_fall_on_every_nth_cycle),
		cmocka_unit_test(test_it_knows_where_it_has_instructions),
		cmocka_unit_test(test_many_instructions_come_in_order_of_address),
		cmocka_unit_test(test_the_table_of_instructions_grows_while_cycles_are_charged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
