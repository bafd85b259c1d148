/* SPDX-License-Identifier: GPL-2.0-or-later
 * The stack of calls, from blocks that were executed.  What calls and returns do to it: test_session_callstack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/watch/calls.h"

static struct calls calls;

static int setup(void **state)
{
	(void)state;
	calls.depth = 0;
	return 0;
}

/* One instruction with the given slots, at the end of a block behind one other. */
static void execute(uint64_t addr, uint16_t flags, uint8_t jump, const struct st_slot *slot, uint16_t slots,
	const uint64_t *values)
{
	const struct insn insn[2] = { { .slots = 1 },
		{ .addr = addr, .first_slot = 1, .slots = slots, .flags = flags } };
	struct st_slot all[4] = { { .kind = ST_SLOT_STORE } };
	uint64_t value[4] = { 0x1000 };
	for (unsigned i = 0; i < slots; i++) {
		all[1 + i] = slot[i];
		value[1 + i] = values[i];
	}
	const struct st_exit_def exit = { .insns = 2, .slots = (uint16_t)(1 + slots), .jump = jump };
	const struct iblock b = { .insns = 2, .slots = (uint16_t)(1 + slots), .exits = 1, .insn = insn, .slot = all,
		.exit = &exit };
	if (calls_ends(&b, 0))
		calls_block(&calls, &b, 0, value);
}

static void test_a_call_pushes_the_slot_that_it_writes_and_its_own_address(void **state)
{
	(void)state;
	execute(0x400, INSN_CALL, ST_JUMP_CALL, &(struct st_slot){ .kind = ST_SLOT_STORE }, 1, &(uint64_t){ 0x7000 });
	assert_int_equal(calls.depth, 1);
	assert_int_equal(calls.frame[0].slot, 0x7000);
	assert_int_equal(calls.frame[0].call_ip, 0x400);
}

static void test_a_call_through_memory_pushes_where_it_writes_and_not_where_it_reads(void **state)
{
	(void)state;
	execute(0x400, INSN_CALL | INSN_INDIRECT, ST_JUMP_CALL,
		(struct st_slot[]){ { .kind = ST_SLOT_LOAD }, { .kind = ST_SLOT_STORE } }, 2,
		(uint64_t[]){ 0x9000, 0x7000 });
	assert_int_equal(calls.depth, 1);
	assert_int_equal(calls.frame[0].slot, 0x7000);
}

static void test_a_return_drops_the_frames_up_to_the_slot_that_it_reads(void **state)
{
	(void)state;
	calls_enter(&calls, 0x7000, 1);
	calls_enter(&calls, 0x6000, 2);
	calls_enter(&calls, 0x5000, 3);
	execute(0x500, INSN_RET, ST_JUMP_RET, &(struct st_slot){ .kind = ST_SLOT_LOAD }, 1, &(uint64_t){ 0x6000 });
	assert_int_equal(calls.depth, 1);
	assert_int_equal(calls.frame[0].call_ip, 1);
}

static void test_other_ends_of_blocks_leave_it_as_it_is(void **state)
{
	(void)state;
	calls_enter(&calls, 0x7000, 1);
	execute(0x500, INSN_BRANCH, ST_JUMP_BORING, &(struct st_slot){ .kind = ST_SLOT_STORE }, 1,
		&(uint64_t){ 0x8000 });
	assert_int_equal(calls.depth, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_call_pushes_the_slot_that_it_writes_and_its_own_address, setup),
		cmocka_unit_test_setup(test_a_call_through_memory_pushes_where_it_writes_and_not_where_it_reads, setup),
		cmocka_unit_test_setup(test_a_return_drops_the_frames_up_to_the_slot_that_it_reads, setup),
		cmocka_unit_test_setup(test_other_ends_of_blocks_leave_it_as_it_is, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
