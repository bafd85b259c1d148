/* SPDX-License-Identifier: GPL-2.0-or-later
 * Registers at instructions of the past (run/watch/history.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "run/watch/history.h"

/* Block A at 0x1000 has three instructions of two bytes. The first writes RAX and CL, the second loads, the third
 * writes RDX. */
static struct insn insns_a[3];
static uint8_t code_a[3][15];
static struct st_slot slots_a[4];
static struct iblock a = { .addr = 0x1000, .insns = 3, .slots = 4 };
/* Block B at 0x2000: one REP instruction that writes RSI. */
static struct insn insns_b[1];
static uint8_t code_b[1][15];
static struct st_slot slots_b[1];
static struct iblock b = { .addr = 0x2000, .insns = 1, .slots = 1 };

static int setup(void **state)
{
	struct err err;
	struct history *h;
	for (unsigned i = 0; i < 3; i++)
		insns_a[i] = (struct insn){ .addr = 0x1000 + 2 * i, .len = 2, .first_slot = (uint16_t[]){ 0, 2, 3 }[i],
			.slots = (uint16_t[]){ 2, 1, 1 }[i] };
	slots_a[0] = (struct st_slot){ .kind = ST_SLOT_REG, .insn = 0, .size = 8, .reg = 0 };
	slots_a[1] = (struct st_slot){ .kind = ST_SLOT_REG, .insn = 0, .size = 1, .reg = 1, .offset = 1 };
	slots_a[2] = (struct st_slot){ .kind = ST_SLOT_LOAD, .insn = 1, .size = 8 };
	slots_a[3] = (struct st_slot){ .kind = ST_SLOT_REG, .insn = 2, .size = 8, .reg = 2 };
	insns_b[0] = (struct insn){ .addr = 0x2000, .len = 3, .first_slot = 0, .slots = 1 };
	slots_b[0] = (struct st_slot){ .kind = ST_SLOT_REG, .insn = 0, .size = 8, .reg = 6 };
	a.insn = insns_a;
	a.code = code_a;
	a.slot = slots_a;
	b.insn = insns_b;
	b.code = code_b;
	b.slot = slots_b;
	assert_int_equal(history_create(&h, 8, &err), 0);
	history_file(h, (const uint64_t[16]){ 0 }, 0);
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	history_destroy(*state);
	return 0;
}

static void run_a(struct history *h, uint64_t rax, uint64_t ch, uint64_t rdx)
{
	history_block(h, &a, 3, 3, (const uint64_t[]){ rax, ch, 0xdead, rdx }, 4, true);
}

static struct history_moment at(struct history *h, uint64_t number, uint64_t ip, unsigned behind)
{
	struct history_moment m;
	assert_true(history_at(h, number, ip, behind, &m));
	return m;
}

static void test_before_an_instruction_is_what_the_ones_before_it_wrote(void **state)
{
	struct history *h = *state;
	history_file(h, (const uint64_t[16]){ 1, 0x2222, 3 }, 0);
	run_a(h, 100, 0x55, 300);
	assert_int_equal(at(h, 0, 0x1000, 0).gpr[0], 1);
	assert_int_equal(at(h, 1, 0x1002, 0).gpr[0], 100);
	assert_int_equal(at(h, 2, 0x1004, 0).gpr[2], 3);
	assert_int_equal(at(h, 2, 0x1004, 1).gpr[2], 300);
}

static void test_a_part_of_a_register_leaves_the_rest(void **state)
{
	struct history *h = *state;
	history_file(h, (const uint64_t[16]){ 1, 0x777777222266, 3 }, 0);
	run_a(h, 100, 0x55, 300);
	assert_int_equal(at(h, 1, 0x1002, 0).gpr[1], 0x777777225566);
}

static void test_behind_an_instruction_is_before_the_next(void **state)
{
	struct history *h = *state;
	run_a(h, 100, 0, 300);
	run_a(h, 101, 0, 301);
	struct history_moment m = at(h, 0, 0x1000, 1);
	assert_int_equal(m.gpr[0], 100);
	assert_int_equal(m.rip, 0x1002);
	m = at(h, 2, 0x1004, 1);
	assert_int_equal(m.gpr[2], 300);
	assert_int_equal(m.rip, 0x1000);	/* the start of the next block */
	assert_int_equal(at(h, 5, 0x1004, 1).rip, 0x1006);	/* no block follows: the address after it */
}

static void test_a_rep_instruction_has_the_state_of_its_first_iteration(void **state)
{
	struct history *h = *state;
	history_file(h, (const uint64_t[16]){ [6] = 10 }, 0);
	run_a(h, 0, 0, 0);
	for (unsigned i = 1; i <= 4; i++)
		history_block(h, &b, 1, i == 4, (const uint64_t[]){ 10 + i }, 1, true);
	assert_int_equal(at(h, 3, 0x2000, 0).gpr[6], 10);
	assert_int_equal(at(h, 3, 0x2000, 1).gpr[6], 14);
}

static void test_a_rep_instruction_that_goes_on_is_known(void **state)
{
	struct history *h = *state;
	history_file(h, (const uint64_t[16]){ [6] = 10 }, 0);
	run_a(h, 0, 0, 0);
	for (unsigned i = 1; i <= 3; i++)
		history_block(h, &b, 1, 0, (const uint64_t[]){ 10 + i }, 1, true);
	assert_int_equal(at(h, 3, 0x2000, 0).gpr[6], 10);
	assert_int_equal(at(h, 3, 0x2000, 1).gpr[6], 13);
	assert_int_equal(at(h, 3, 0x2000, 1).rip, 0x2000);
}

/* Its first iteration ends a block whose other instructions completed; the others are a block of their own. */
static void test_a_rep_instruction_that_begins_behind_others_is_known(void **state)
{
	struct history *h = *state;
	insns_b[0].addr = 0x1004;
	slots_b[0].reg = 2;
	history_block(h, &a, 3, 2, (const uint64_t[]){ 5, 0, 0, 21 }, 4, true);
	assert_int_equal(at(h, 2, 0x1004, 0).gpr[0], 5);
	assert_int_equal(at(h, 2, 0x1004, 0).gpr[2], 0);
	assert_int_equal(at(h, 2, 0x1004, 1).gpr[2], 21);
	for (unsigned i = 2; i <= 3; i++)
		history_block(h, &b, 1, i == 3, (const uint64_t[]){ 20 + i }, 1, true);
	assert_int_equal(at(h, 2, 0x1004, 0).gpr[0], 5);
	assert_int_equal(at(h, 2, 0x1004, 0).gpr[2], 0);
	assert_int_equal(at(h, 2, 0x1004, 1).gpr[2], 23);
}

static void test_what_is_not_numbered_still_writes(void **state)
{
	struct history *h = *state;
	history_block(h, &a, 3, 3, (const uint64_t[]){ 7, 0, 0, 8 }, 4, false);
	run_a(h, 100, 0, 300);
	assert_int_equal(at(h, 0, 0x1000, 0).gpr[0], 7);
	assert_int_equal(at(h, 0, 0x1000, 0).gpr[2], 8);
}

static void test_a_write_that_was_not_done_writes_nothing(void **state)
{
	struct history *h = *state;
	slots_a[0].flags = ST_SLOT_COND;
	history_file(h, (const uint64_t[16]){ 1 }, 0);
	run_a(h, ST_NOT_DONE, 0, 300);
	assert_int_equal(at(h, 1, 0x1002, 0).gpr[0], 1);
}

static void test_an_instruction_elsewhere_or_still_to_come_is_not_known(void **state)
{
	struct history *h = *state;
	struct history_moment m;
	run_a(h, 100, 0, 300);
	assert_false(history_at(h, 1, 0x1000, 0, &m));
	assert_false(history_at(h, 3, 0x1000, 0, &m));
	assert_false(history_at(h, UINT64_MAX, 0x1000, 0, &m));
}

static void test_the_oldest_are_forgotten_and_their_writes_kept(void **state)
{
	struct history *h = *state;
	struct history_moment m;
	enum { MANY = 100000 };
	history_file(h, (const uint64_t[16]){ [6] = 66 }, 0);
	for (uint64_t i = 0; i < MANY; i++)
		run_a(h, i, 0, 2 * i);
	assert_false(history_at(h, 0, 0x1000, 0, &m));
	m = at(h, 3 * (MANY - 1000), 0x1000, 0);
	assert_int_equal(m.gpr[0], MANY - 1001);
	assert_int_equal(m.gpr[6], 66);
}

static void test_discarded_blocks_are_not_looked_at_after_the_second_discard(void **state)
{
	struct history *h = *state;
	struct history_moment m;
	run_a(h, 100, 0, 300);
	history_discard(h);
	assert_int_equal(at(h, 1, 0x1002, 0).gpr[0], 100);
	history_discard(h);
	a.insn = NULL;		/* freed */
	a.slot = NULL;
	assert_false(history_at(h, 1, 0x1002, 0, &m));
	history_block(h, &b, 1, 1, (const uint64_t[]){ 5 }, 1, true);
	assert_int_equal(at(h, 3, 0x2000, 0).gpr[0], 100);
}

static void test_nothing_is_known_before_a_whole_register_file(void **state)
{
	struct history *h = NULL;
	struct history_moment m;
	(void)state;
	assert_int_equal(history_create(&h, 8, NULL), 0);
	run_a(h, 100, 0, 300);
	assert_false(history_at(h, 1, 0x1002, 0, &m));
	history_file(h, (const uint64_t[16]){ 1, 2, 3, 4 }, 0);
	run_a(h, 200, 0, 400);
	assert_int_equal(at(h, 4, 0x1002, 0).gpr[0], 200);
	assert_int_equal(at(h, 4, 0x1002, 0).gpr[3], 4);
	history_destroy(h);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_before_an_instruction_is_what_the_ones_before_it_wrote),
		TEST(test_a_part_of_a_register_leaves_the_rest),
		TEST(test_behind_an_instruction_is_before_the_next),
		TEST(test_a_rep_instruction_has_the_state_of_its_first_iteration),
		TEST(test_a_rep_instruction_that_goes_on_is_known),
		TEST(test_a_rep_instruction_that_begins_behind_others_is_known),
		TEST(test_what_is_not_numbered_still_writes),
		TEST(test_a_write_that_was_not_done_writes_nothing),
		TEST(test_an_instruction_elsewhere_or_still_to_come_is_not_known),
		TEST(test_the_oldest_are_forgotten_and_their_writes_kept),
		TEST(test_nothing_is_known_before_a_whole_register_file),
		TEST(test_discarded_blocks_are_not_looked_at_after_the_second_discard),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
