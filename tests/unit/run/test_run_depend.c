/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which thread waits for which: a load waits for another thread's store, and a woken thread for the futex call.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/threads/depend.h"
#include <stdlib.h>

enum { A, B, C, THREADS };
static struct depend *d;
static struct depend_thread thread[THREADS];
static struct depend_need needs[DEPEND_NEEDS];

static int setup(void **state)
{
	(void)state;
	d = calloc(1, sizeof *d);
	return !d;
}

static int teardown(void **state)
{
	(void)state;
	free(d);
	for (int i = 0; i < THREADS; i++) {
		free(thread[i].seen);
		thread[i] = (struct depend_thread){ 0 };
	}
	return 0;
}

/* Runs a block with one access; returns how many blocks of other threads it needs. */
static unsigned access(unsigned who, enum st_slot_kind kind, uint64_t addr, uint8_t size)
{
	const struct st_slot slot = { .kind = kind, .size = size };
	const struct iblock b = { .slots = 1, .slot = &slot };
	unsigned n = depend_block(d, &thread[who], who, &b, 1, &addr, needs);
	thread[who].issued++;
	return n;
}

static void test_a_load_needs_the_block_that_wrote_its_bytes_last(void **state)
{
	(void)state;
	access(A, ST_SLOT_STORE, 0x1000, 8);
	access(A, ST_SLOT_STORE, 0x2000, 8);
	access(A, ST_SLOT_STORE, 0x1000, 4);
	assert_int_equal(access(B, ST_SLOT_LOAD, 0x1000, 4), 1);
	assert_int_equal(needs[0].thread, A);
	assert_int_equal(needs[0].number, 3);
}

static void test_loads_and_bytes_that_nobody_else_wrote_need_nothing(void **state)
{
	(void)state;
	access(A, ST_SLOT_STORE, 0x1000, 4);
	assert_int_equal(access(A, ST_SLOT_LOAD, 0x1000, 4), 0);	/* its own store */
	assert_int_equal(access(B, ST_SLOT_LOAD, 0x1004, 4), 0);	/* false sharing orders nothing */
	assert_int_equal(access(B, ST_SLOT_LOAD, 0x3000, 8), 0);
	assert_int_equal(access(B, ST_SLOT_STORE, 0x1000, 8), 0);	/* a store waits for no other thread */
}

static void test_a_need_that_was_met_is_not_asked_for_again(void **state)
{
	(void)state;
	access(A, ST_SLOT_STORE, 0x1000, 8);
	access(A, ST_SLOT_STORE, 0x1008, 8);
	assert_int_equal(access(B, ST_SLOT_LOAD, 0x1008, 8), 1);
	assert_int_equal(access(B, ST_SLOT_LOAD, 0x1000, 8), 0); /* from a block before the one that it waited for */
	assert_int_equal(access(C, ST_SLOT_LOAD, 0x1000, 8), 1);	/* another thread's wait does not count */
}

static void test_a_locked_access_both_needs_and_is_needed(void **state)
{
	(void)state;
	assert_int_equal(access(A, ST_SLOT_LOADSTORE, 0x1000, 4), 0);
	assert_int_equal(access(B, ST_SLOT_LOADSTORE, 0x1000, 4), 1);
	assert_int_equal(needs[0].thread, A);
	assert_int_equal(access(A, ST_SLOT_LOADSTORE, 0x1000, 4), 1);
	assert_int_equal(needs[0].thread, B);
}

static void test_bytes_of_a_word_belong_to_two_threads(void **state)
{
	(void)state;
	access(A, ST_SLOT_STORE, 0x1000, 4);
	access(B, ST_SLOT_STORE, 0x1004, 4);
	assert_int_equal(access(C, ST_SLOT_LOAD, 0x1000, 8), 2);
	access(B, ST_SLOT_STORE, 0x1000, 8);			/* the last writer of all of it */
	assert_int_equal(access(A, ST_SLOT_LOAD, 0x1000, 4), 1);
	assert_int_equal(needs[0].thread, B);
	assert_int_equal(needs[0].number, 2);
}

static void test_an_access_over_two_words_needs_both_writers(void **state)
{
	(void)state;
	access(A, ST_SLOT_STORE, 0x1000, 8);
	access(B, ST_SLOT_STORE, 0x1008, 8);
	assert_int_equal(access(C, ST_SLOT_LOAD, 0x1006, 4), 2);
}

static void test_accesses_that_were_not_made_or_wrap_are_none(void **state)
{
	(void)state;
	access(A, ST_SLOT_STORE, ST_NOT_DONE, 8);
	access(A, ST_SLOT_STORE, UINT64_MAX - 3, 8);
	assert_int_equal(access(B, ST_SLOT_LOAD, ST_NOT_DONE, 8), 0);
	assert_int_equal(access(B, ST_SLOT_LOAD, UINT64_MAX - 3, 8), 0);
}

/* futex(address, command) */
static struct st_syscall futex(uint64_t number, uint64_t address, uint64_t command)
{
	return (struct st_syscall){ .number = number, .arg = { address, command } };
}

static void test_who_wakes_a_futex_is_known_by_its_block(void **state)
{
	(void)state;
	struct depend_need by;
	struct st_syscall wake = futex(202, 0x5000, 1 | 128), wait = futex(202, 0x5000, 0 | 128), other = futex(202,
		0x5008, 0);
	thread[B].issued = 7;
	assert_false(depend_woken(d, A, true, &wait, &by));
	depend_syscall(d, &thread[B], B, true, &wake);
	assert_true(depend_woken(d, A, true, &wait, &by));
	assert_int_equal(by.thread, B);
	assert_int_equal(by.number, 7);
	assert_false(depend_woken(d, B, true, &wait, &by));	/* no thread wakes itself */
	assert_false(depend_woken(d, A, true, &other, &by));
	wait.is_error = 1;					/* it timed out, or the value had changed */
	assert_false(depend_woken(d, A, true, &wait, &by));
}

static void test_a_requeue_wakes_both_addresses_and_32_bit_calls_have_their_numbers(void **state)
{
	(void)state;
	struct depend_need by;
	struct st_syscall requeue = futex(240, 0x5000, 4), first = futex(240, 0x5000, 9), second = futex(422, 0x6000,
		0);
	requeue.arg[4] = 0x6000;
	thread[C].issued = 3;
	depend_syscall(d, &thread[C], C, true, &requeue);	/* 240 is no futex in 64-bit code */
	first.number = 202;
	assert_false(depend_woken(d, A, true, &first, &by));
	first.number = 240;
	depend_syscall(d, &thread[C], C, false, &requeue);
	assert_true(depend_woken(d, A, false, &first, &by));
	assert_true(depend_woken(d, A, false, &second, &by));
	assert_int_equal(by.thread, C);
	assert_int_equal(by.number, 3);
}

static void test_only_calls_that_can_wait_for_another_block(void **state)
{
	(void)state;
	struct st_syscall wake = futex(202, 0x5000, 1 | 128), wait = futex(202, 0x5000, 0 | 128), join = futex(202,
		0x5000, 9 | 256);
	struct st_syscall advise = { .number = 28 }, read = { .number = 0 }, mmap32 = { .number = 192 };
	assert_false(depend_blocks(true, &wake));
	assert_false(depend_blocks(true, &advise));
	assert_false(depend_blocks(false, &mmap32));
	assert_true(depend_blocks(true, &mmap32));	/* another call there */
	assert_true(depend_blocks(true, &read));
	assert_true(depend_blocks(true, &wait));
	assert_true(depend_blocks(true, &join));
	wait.is_error = 1;
	wait.result = (uint64_t)-11;			/* EAGAIN: it did not wait */
	assert_false(depend_blocks(true, &wait));
	wait.result = (uint64_t)-110;			/* ETIMEDOUT */
	assert_true(depend_blocks(true, &wait));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_load_needs_the_block_that_wrote_its_bytes_last),
		TEST(test_loads_and_bytes_that_nobody_else_wrote_need_nothing),
		TEST(test_a_need_that_was_met_is_not_asked_for_again),
		TEST(test_a_locked_access_both_needs_and_is_needed),
		TEST(test_bytes_of_a_word_belong_to_two_threads),
		TEST(test_an_access_over_two_words_needs_both_writers),
		TEST(test_accesses_that_were_not_made_or_wrap_are_none),
		TEST(test_who_wakes_a_futex_is_known_by_its_block),
		TEST(test_a_requeue_wakes_both_addresses_and_32_bit_calls_have_their_numbers),
		TEST(test_only_calls_that_can_wait_for_another_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
