/* SPDX-License-Identifier: GPL-2.0-or-later
 * Call chains from the records of calls and returns. */
#include "session/callstack.h"
#include "session_fixture.h"

static struct callstack stack;
static struct fixture_batch f;

static int setup(void **state)
{
	(void)state;
	callstack_init(&stack);
	fixture_begin(&f, 0);
	return 0;
}

/* Adds a call, split into uops as a core does: store address, store data, branch. */
static void call(uint64_t ip, uint64_t slot)
{
	fixture_uop(&f, ip, SPMU_IS(CALL) | SPMU_IS(STORE_ADDR) | SPMU_IS(INST_BEGIN), 0, slot, 0);
	fixture_uop(&f, ip, SPMU_IS(CALL) | SPMU_IS(STORE_DATA), 0, 0, 0);
	fixture_uop(&f, ip, SPMU_IS(CALL) | SPMU_IS(BRANCH) | SPMU_IS(INST_END), SPMU_DID(TAKEN), 0x9999, 0);
}

static void ret(uint64_t ip, uint64_t slot)
{
	fixture_uop(&f, ip, SPMU_IS(RET) | SPMU_IS(LOAD) | SPMU_IS(INST_BEGIN), 0, slot, 0);
	fixture_uop(&f, ip, SPMU_IS(RET) | SPMU_IS(BRANCH) | SPMU_IS(INST_END), SPMU_DID(TAKEN), 0x8888, 0);
}

static void walk(void)
{
	callstack_walk(&stack, &f.b, 0, f.b.count);
	f.b.count = 0;
}

static void chain_is(uint64_t ip, size_t n, const uint64_t *want)
{
	uint64_t chain[CALLSTACK_DEPTH + 1];
	walk();
	assert_int_equal(callstack_chain(&stack, ip, chain), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(chain[i], want[i]);
}
#define CHAIN(ip, ...) chain_is(ip, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, (uint64_t[]){ __VA_ARGS__ })

static void test_calls_push_and_returns_pop(void **state)
{
	(void)state;
	CHAIN(1, 1);
	call(0x100, 0x7000);
	CHAIN(2, 2, 0x101);
	call(0x200, 0x6f00);
	CHAIN(3, 3, 0x201, 0x101);
	ret(0x300, 0x6f00);
	CHAIN(4, 4, 0x101);
	ret(0x210, 0x7000);
	CHAIN(5, 5);
	ret(0x110, 0x7100);	/* returns to a frame from before the first record */
	CHAIN(6, 6);
}

static void test_a_call_through_memory_takes_the_stores_slot(void **state)
{
	(void)state;
	call(0x100, 0x7000);
	fixture_uop(&f, 0x200, SPMU_IS(CALL) | SPMU_IS(LOAD) | SPMU_IS(INST_BEGIN), 0, 0x9000, 0);
	fixture_uop(&f, 0x200, SPMU_IS(CALL) | SPMU_IS(STORE_ADDR), 0, 0x6ff8, 0);
	fixture_uop(&f, 0x200, SPMU_IS(CALL) | SPMU_IS(BRANCH) | SPMU_IS(INDIRECT) | SPMU_IS(INST_END), 0, 0x1234, 0);
	CHAIN(7, 7, 0x201, 0x101);
	ret(0x300, 0x6ff8);
	CHAIN(8, 8, 0x101);
}

static void test_only_one_uop_need_say_call(void **state)
{
	(void)state;
	fixture_uop(&f, 0x100, SPMU_IS(STORE_ADDR) | SPMU_IS(INST_BEGIN), 0, 0x7000, 0);
	fixture_uop(&f, 0x100, SPMU_IS(CALL) | SPMU_IS(BRANCH) | SPMU_IS(INST_END), 0, 0x1234, 0);
	fixture_uop(&f, 0x120, SPMU_IS(LOAD) | SPMU_IS(INST_BEGIN), 0, 0x7000, 0);
	CHAIN(9, 9, 0x101);
	fixture_uop(&f, 0x120, SPMU_IS(RET) | SPMU_IS(BRANCH) | SPMU_IS(INST_END), 0, 0x1234, 0);
	CHAIN(9, 9);
}

static void test_a_longjmp_is_put_right_by_the_next_return(void **state)
{
	(void)state;
	call(0x100, 0x7000);
	call(0x200, 0x6f00);
	call(0x300, 0x6e00);
	/* from 0x300's callee straight back into 0x100's callee, which returns */
	ret(0x180, 0x7000);
	CHAIN(1, 1);
}

static void test_a_longjmp_is_put_right_by_the_next_call(void **state)
{
	(void)state;
	call(0x100, 0x7000);
	call(0x200, 0x6f00);
	call(0x300, 0x6e00);
	call(0x180, 0x6f00);
	CHAIN(1, 1, 0x181, 0x101);
}

static void test_a_return_used_as_a_jump_pops_nothing(void **state)
{
	(void)state;
	call(0x100, 0x7000);
	ret(0x200, 0x6f80);	/* push target; ret */
	CHAIN(1, 1, 0x101);
}

static void test_an_instruction_may_be_split_between_batches(void **state)
{
	(void)state;
	fixture_uop(&f, 0x100, SPMU_IS(CALL) | SPMU_IS(STORE_ADDR) | SPMU_IS(INST_BEGIN), 0, 0x7000, 0);
	walk();
	CHAIN(1, 1);
	fixture_uop(&f, 0x100, SPMU_IS(CALL) | SPMU_IS(BRANCH) | SPMU_IS(INST_END), 0, 0x1234, 0);
	CHAIN(1, 1, 0x101);
}

static void test_the_wrong_path_calls_nobody(void **state)
{
	(void)state;
	call(0x100, 0x7000);
	for (uint32_t i = 0; i < f.b.count; i++)
		f.r[i].did &= ~SPMU_DID(RETIRED);
	CHAIN(1, 1);
}

static void test_deep_recursion_keeps_the_innermost_frames(void **state)
{
	(void)state;
	uint64_t chain[CALLSTACK_DEPTH + 1];
	for (uint64_t i = 0; i < 5000; i++) {
		call(0x100 + i, 0x7f0000 - 16 * i);
		walk();
	}
	size_t n = callstack_chain(&stack, 1, chain);
	assert_true(n > CALLSTACK_DEPTH / 2 && n <= CALLSTACK_DEPTH + 1);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(chain[i], 0x100 + 5000 - i + 1);
	for (uint64_t i = 5000; i-- > 0;) {
		ret(0x50, 0x7f0000 - 16 * i);
		walk();
	}
	assert_int_equal(callstack_chain(&stack, 1, chain), 1);
}

/* Through the session: a sample has the call chain at its place in the batch, not the one at the batch's end. */
static struct session_sample seen[8];
static uint64_t seen_chain[8][8];
static size_t seen_count;

static void note(void *context, struct run_thread *t, const struct session_sample *s)
{
	(void)context;
	(void)t;
	assert_true(seen_count < 8 && s->chain_length <= 8);
	seen[seen_count] = *s;
	memcpy(seen_chain[seen_count++], s->chain, s->chain_length * sizeof(uint64_t));
}

static void test_a_sample_has_the_chain_of_its_own_place(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = NULL;
	struct run_thread t = { .tid = 1 };
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model },
		"instructions,instructions", NULL), 0);
	e.event[0].period = 100;
	e.event[1].period = 350;
	struct session_options o = { .core = &core, .model = model, .events = &e, .sample = note, .call_chains = true };
	assert_int_equal(session_create(&s, &o, NULL), 0);
	assert_int_equal(session_thread_start(s, &t, NULL), 0);
	/* 200 instructions in main, then a call and 250 in its callee, then a return */
	for (uint32_t i = 0; i < 200; i++)
		fixture_insn(&f, 0x1000 + i, 0, 0, 0, i);
	fixture_insn(&f, 0x1fff, SPMU_IS(CALL) | SPMU_IS(STORE_ADDR) | SPMU_IS(BRANCH), 0, 0x7000, 200);
	for (uint32_t i = 0; i < 250; i++)
		fixture_insn(&f, 0x2000 + i, 0, 0, 0, 201 + i);
	fixture_insn(&f, 0x3000, SPMU_IS(RET) | SPMU_IS(LOAD) | SPMU_IS(BRANCH), 0, 0x7000, 451);
	fixture_end(&f, 0, 452, true);
	seen_count = 0;
	session_batch(s, &t, &f.b);
	session_thread_end(s, &t);
	assert_int_equal(seen_count, 5);	/* overflows at 100, 200, 300, 350 and 400, skid below 100 */
	assert_int_equal(seen[0].chain_length, 1);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(seen_chain[i][0], seen[i].ip);
		if (i) {
			assert_int_equal(seen[i].chain_length, 2);
			assert_int_equal(seen_chain[i][1], 0x2000);
		}
	}
	assert_int_equal(seen[3].event, 1);
	assert_int_equal(seen[4].chain_length, 1);	/* the interrupt came after the return */
	session_destroy(s);
	session_events_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_calls_push_and_returns_pop, setup),
		cmocka_unit_test_setup(test_a_call_through_memory_takes_the_stores_slot, setup),
		cmocka_unit_test_setup(test_only_one_uop_need_say_call, setup),
		cmocka_unit_test_setup(test_a_longjmp_is_put_right_by_the_next_return, setup),
		cmocka_unit_test_setup(test_a_longjmp_is_put_right_by_the_next_call, setup),
		cmocka_unit_test_setup(test_a_return_used_as_a_jump_pops_nothing, setup),
		cmocka_unit_test_setup(test_an_instruction_may_be_split_between_batches, setup),
		cmocka_unit_test_setup(test_the_wrong_path_calls_nobody, setup),
		cmocka_unit_test_setup(test_deep_recursion_keeps_the_innermost_frames, setup),
		cmocka_unit_test_setup(test_a_sample_has_the_chain_of_its_own_place, setup),
	};
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
