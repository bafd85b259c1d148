/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slot accounting: every slot of every unhalted cycle is charged once, to the cause that the records tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analysis/slots.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 4 };
static struct spmu_record record[64];
static uint32_t records;

static void uop(uint32_t alloc, uint32_t ready, uint32_t dispatch, uint32_t complete, uint32_t retire, uint64_t is,
	uint64_t did)
{
	record[records++] = (struct spmu_record){ .kind = SPMU_REC_UOP, .ip = 0x1000 + records,
		.is = is | SPMU_IS(SLOT) | SPMU_IS(EXEC), .did = did | SPMU_DID(RETIRED),
		.alloc = alloc, .ready = ready, .dispatch = dispatch, .complete = complete, .retire = retire };
}

static void sig(enum spmu_signal s, uint32_t begin, uint32_t end, uint64_t count)
{
	record[records++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .signal = s, .did = count, .begin = begin,
		.end = end };
}

static uint64_t charged[SLOTS_CAUSE_COUNT], cycles;

static void account(uint64_t watermark)
{
	const struct slots_core core = { .width = WIDTH, .frontend_latency = 3, .l2_latency = 14, .l3_latency = 40,
		.sites = true };
	const struct spmu_batch b = { .watermark = watermark, .count = records, .records = record };
	struct slots *s;
	uint64_t sum = 0, of_sites = 0;
	size_t sites;
	assert_int_equal(slots_create(&s, &core, NULL), 0);
	slots_batch(s, &b);
	slots_end(s);
	assert_int_equal(slots_read(s, charged, &cycles, NULL), 0);
	const struct slots_site *site = slots_sites(s, &sites);
	for (size_t i = 0; i < sites; i++)
		for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
			of_sites += site[i].slots[c];
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
		sum += charged[c];
	assert_int_equal(sum, WIDTH * cycles);
	assert_int_equal(of_sites, sum);
	slots_destroy(s);
	records = 0;
}

static void test_a_slot_with_a_retired_uop_is_retiring_and_what_is_unhalted_counts(void **state)
{
	(void)state;
	uop(0, 1, 1, 2, 3, 0, SPMU_DID(FROM_DSB));
	uop(0, 1, 1, 2, 3, 0, SPMU_DID(FROM_MS));
	sig(SPMU_SIG_CYCLES, 0, 10, 1);
	account(10);
	assert_int_equal(cycles, 10);
	assert_int_equal(charged[SLOTS_RET_BASE], 1);
	assert_int_equal(charged[SLOTS_RET_MS], 1);
}

static void test_bubbles_are_the_front_ends_and_fetch_stalls_say_whose(void **state)
{
	(void)state;
	uop(0, 1, 1, 2, 3, 0, SPMU_DID(FROM_MITE));
	sig(SPMU_SIG_IDQ_BUBBLE, 1, 11, 4);
	sig(SPMU_SIG_ICACHE_STALL, 0, 3, 1);	/* at allocation 3 cycles later: 3, 4, 5 */
	uop(11, 12, 12, 13, 14, 0, SPMU_DID(FROM_MITE));
	sig(SPMU_SIG_CYCLES, 0, 14, 1);
	account(14);
	assert_int_equal(charged[SLOTS_FE_ICACHE], 3 * WIDTH);
	assert_int_equal(charged[SLOTS_FE_MITE], 7 * WIDTH);
}

static void test_behind_a_mispredict_come_wrong_path_recovery_and_resteer(void **state)
{
	(void)state;
	uop(0, 1, 1, 5, 6, SPMU_IS(BRANCH), SPMU_DID(FROM_DSB) | SPMU_DID(MISPREDICTED));
	sig(SPMU_SIG_WRONG_PATH, 1, 5, 1);
	sig(SPMU_SIG_RECOVERY, 5, 8, 1);
	sig(SPMU_SIG_IDQ_BUBBLE, 8, 12, 4);
	uop(12, 13, 13, 14, 15, 0, SPMU_DID(FROM_DSB));
	sig(SPMU_SIG_CYCLES, 0, 15, 1);
	account(15);
	assert_int_equal(charged[SLOTS_BAD_MISPREDICT], (4 + 3) * WIDTH);
	assert_int_equal(charged[SLOTS_FE_RESTEER_MISPREDICT], 4 * WIDTH);
}

static void test_bubbles_on_the_wrong_path_are_no_resteer(void **state)
{
	(void)state;
	uop(0, 1, 1, 5, 6, SPMU_IS(BRANCH), SPMU_DID(FROM_DSB) | SPMU_DID(MISPREDICTED));
	sig(SPMU_SIG_IDQ_BUBBLE, 1, 4, 4);
	uop(4, 5, 5, 6, 7, 0, SPMU_DID(FROM_DSB));
	record[records - 1].did &= ~SPMU_DID(RETIRED);
	sig(SPMU_SIG_IDQ_BUBBLE, 5, 7, 4);
	uop(7, 8, 8, 9, 10, 0, SPMU_DID(FROM_DSB));
	sig(SPMU_SIG_CYCLES, 0, 10, 1);
	account(10);
	assert_int_equal(charged[SLOTS_FE_DSB], 3 * WIDTH);
	assert_int_equal(charged[SLOTS_FE_RESTEER_MISPREDICT], 2 * WIDTH);
}

static void test_a_clears_recovery_is_the_clears(void **state)
{
	(void)state;
	uop(0, 1, 1, 2, 3, 0, 0);
	sig(SPMU_SIG_CLEAR_MEMORY_ORDER, 4, 4, 1);
	sig(SPMU_SIG_RECOVERY, 4, 9, 1);
	sig(SPMU_SIG_CYCLES, 0, 9, 1);
	account(9);
	assert_int_equal(charged[SLOTS_BAD_CLEAR], 5 * WIDTH);
	assert_int_equal(charged[SLOTS_BAD_MISPREDICT], 0);
}

static uint64_t held(uint64_t is, uint64_t did, uint32_t ready, uint32_t dispatch, enum slots_cause cause)
{
	uop(0, ready, dispatch, 98, 100, is, did);
	sig(SPMU_SIG_CYCLES, 0, 100, 1);
	account(100);
	return charged[cause];
}

static void test_the_back_end_is_charged_to_what_the_oldest_uop_waits_for(void **state)
{
	(void)state;
	const uint64_t all = 100 * WIDTH - 1;
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_HIT), 2, 2, SLOTS_BE_L1), all);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT), 2, 2, SLOTS_BE_L2), all);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_HIT), 2, 2,
		SLOTS_BE_L3), all);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_MISS), 2, 2,
		SLOTS_BE_DRAM), all);
	assert_int_equal(held(SPMU_IS(DIVIDE), 0, 2, 2, SLOTS_BE_DIVIDER), all);
	assert_int_equal(held(0, 0, 2, 90, SLOTS_BE_PORTS), all);
	assert_int_equal(held(0, 0, 2, 2, SLOTS_BE_LATENCY), all);
}

static void test_a_full_store_buffer_comes_before_the_oldest_uop(void **state)
{
	(void)state;
	uop(0, 1, 1, 98, 100, 0, 0);
	sig(SPMU_SIG_RESOURCE_STALL_SB, 10, 60, 1);
	sig(SPMU_SIG_CYCLES, 0, 100, 1);
	account(100);
	assert_int_equal(charged[SLOTS_BE_STORE], 50 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_LATENCY], 50 * WIDTH - 1);
}

static void test_of_a_line_under_way_the_pending_misses_say_the_level(void **state)
{
	(void)state;
	uop(0, 1, 1, 98, 100, SPMU_IS(LOAD), SPMU_DID(LFB_HIT));
	sig(SPMU_SIG_L2_PENDING, 0, 50, 1);
	sig(SPMU_SIG_L3_PENDING, 0, 20, 1);
	sig(SPMU_SIG_CYCLES, 0, 50, 1);
	account(100);
	assert_int_equal(charged[SLOTS_BE_DRAM], 20 * WIDTH - 1);
	assert_int_equal(charged[SLOTS_BE_L3], 30 * WIDTH);
}

static void test_a_sum_takes_what_is_below_its_path(void **state)
{
	(void)state;
	uint64_t all[SLOTS_CAUSE_COUNT], sum;
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
		all[c] = 1;
	assert_true(slots_sum(all, "ret", &sum) && sum == 2);
	assert_true(slots_sum(all, "be.core.ports+be.core.latency", &sum) && sum == 2);
	assert_true(slots_sum(all, "fe.bandwidth.ms", &sum) && sum == 1);
	assert_true(slots_sum(all, "ret+bad+fe+be", &sum) && sum == SLOTS_CAUSE_COUNT);
	assert_false(slots_sum(all, "re", &sum));
	assert_false(slots_sum(all, "be.core.port", &sum));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_slot_with_a_retired_uop_is_retiring_and_what_is_unhalted_counts),
		cmocka_unit_test(test_bubbles_are_the_front_ends_and_fetch_stalls_say_whose),
		cmocka_unit_test(test_behind_a_mispredict_come_wrong_path_recovery_and_resteer),
		cmocka_unit_test(test_bubbles_on_the_wrong_path_are_no_resteer),
		cmocka_unit_test(test_a_clears_recovery_is_the_clears),
		cmocka_unit_test(test_the_back_end_is_charged_to_what_the_oldest_uop_waits_for),
		cmocka_unit_test(test_a_full_store_buffer_comes_before_the_oldest_uop),
		cmocka_unit_test(test_of_a_line_under_way_the_pending_misses_say_the_level),
		cmocka_unit_test(test_a_sum_takes_what_is_below_its_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
