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
		.is = is | SPMU_IS(SLOT) | SPMU_IS(EXEC) | SPMU_IS(INST_BEGIN), .did = did | SPMU_DID(RETIRED),
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
	const struct slots_core core = { .width = WIDTH, .frontend_latency = 3, .l1_latency = 5, .l2_latency = 14,
		.l3_latency = 40, .stlb_latency = 7, .store_buffer = 2, .sites = true };
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
	assert_int_equal(charged[SLOTS_RET_OTHER], 1);
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
	assert_int_equal(charged[SLOTS_BAD_CLEAR_ORDER], 5 * WIDTH);
	assert_int_equal(charged[SLOTS_BAD_MISPREDICT], 0);
}

static uint64_t held(uint64_t is, uint64_t did, uint32_t ready, uint32_t dispatch, enum slots_cause cause)
{
	uop(0, ready, dispatch, 100, 100, is, did);
	sig(SPMU_SIG_CYCLES, 0, 100, 1);
	account(100);
	return charged[cause];
}

static void test_the_back_end_is_charged_to_what_the_oldest_uop_waits_for(void **state)
{
	(void)state;
	const uint64_t all = 100 * WIDTH - 1, load = SPMU_IS(LOAD), miss = SPMU_DID(L1D_MISS),
		       far = SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS);
	assert_int_equal(held(load, SPMU_DID(L1D_HIT), 0, 0, SLOTS_BE_L1), all);
	assert_int_equal(held(load, SPMU_DID(L1D_HIT) | SPMU_DID(SPLIT_LINE), 0, 0, SLOTS_BE_L1_SPLIT), all);
	assert_int_equal(held(load, SPMU_DID(L1D_HIT) | SPMU_DID(ALIAS_4K), 0, 0, SLOTS_BE_L1_ALIAS), all);
	assert_int_equal(held(load, SPMU_DID(L1D_HIT) | SPMU_DID(FORWARD_BLOCKED), 0, 0, SLOTS_BE_L1_FORWARD), all);
	assert_int_equal(held(load | SPMU_IS(LOCK), SPMU_DID(L1D_HIT), 0, 50, SLOTS_BE_L1_LOCK), all);
	assert_int_equal(held(load, miss | SPMU_DID(L2_HIT), 0, 0, SLOTS_BE_L2), all);
	assert_int_equal(held(load, far | SPMU_DID(L3_HIT), 0, 0, SLOTS_BE_L3), all);
	assert_int_equal(held(load, far | SPMU_DID(L3_HIT) | SPMU_DID(SNOOP_HIT), 0, 0, SLOTS_BE_L3_SHARED), all);
	assert_int_equal(held(load, far | SPMU_DID(L3_HIT) | SPMU_DID(SNOOP_HITM), 0, 0, SLOTS_BE_L3_CONTESTED), all);
	assert_int_equal(held(load | SPMU_IS(LOCK), far | SPMU_DID(L3_HIT) | SPMU_DID(SNOOP_HITM), 0, 0,
		SLOTS_BE_L3_CONTESTED), all);
	assert_int_equal(held(load, far | SPMU_DID(L3_MISS), 0, 0, SLOTS_BE_DRAM), all);
	assert_int_equal(held(SPMU_IS(DIVIDE), 0, 0, 0, SLOTS_BE_DIVIDER), all);
	assert_int_equal(held(SPMU_IS(SERIALIZING) | SPMU_IS(LOAD_FENCE), 0, 0, 0, SLOTS_BE_FENCE), all);
}

static void test_before_its_dispatch_the_oldest_uop_waits_for_a_port(void **state)
{
	(void)state;
	assert_int_equal(held(0, 0, 2, 90, SLOTS_BE_PORT_0), 90 * WIDTH - 1);
	assert_int_equal(charged[SLOTS_BE_CHAIN_1], WIDTH);	/* it is dispatched in cycle 90 */
	assert_int_equal(charged[SLOTS_BE_CHAIN_0], 9 * WIDTH);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_HIT) | SPMU_DID(WAIT_STORE_ADDR), 2, 90, SLOTS_BE_L1_FORWARD),
		90 * WIDTH - 1);
}

static void test_a_load_waits_for_its_translation_then_for_buffers_then_for_its_level(void **state)
{
	(void)state;
	sig(SPMU_SIG_DTLB_LOAD_WALK, 8, 30, 1);
	sig(SPMU_SIG_L1D_FB_FULL, 30, 45, 1);
	sig(SPMU_SIG_L2_STALL, 45, 60, 1);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_MISS) | SPMU_DID(L1D_MISS) |
		SPMU_DID(L2_MISS) | SPMU_DID(L3_HIT), 1, 1, SLOTS_BE_L1_DTLB), 29 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_L1_FB_FULL], 15 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_L3_SQ_FULL], 15 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_L3], 40 * WIDTH);
	/* the second-level TLB takes its latency */
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_HIT) | SPMU_DID(L1D_HIT), 1, 1,
		SLOTS_BE_L1_DTLB), 7 * WIDTH);
	assert_int_equal(held(SPMU_IS(STORE_ADDR), SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_HIT), 1, 1,
		SLOTS_BE_STORE_DTLB), 7 * WIDTH);
}

static void test_the_parts_of_an_access_are_scaled_to_the_time_in_which_it_is_the_oldest(void **state)
{
	(void)state;
	uop(0, 0, 0, 50, 50, 0, 0);	/* the oldest until cycle 50 */
	sig(SPMU_SIG_DTLB_LOAD_WALK, 0, 75, 1);
	uop(0, 0, 0, 100, 100, SPMU_IS(LOAD), SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_MISS) | SPMU_DID(L1D_MISS) |
		SPMU_DID(L2_HIT));
	sig(SPMU_SIG_CYCLES, 0, 100, 1);
	account(100);
	assert_int_equal(charged[SLOTS_BE_L1_DTLB], 37 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_L2], 13 * WIDTH);
}

static void test_a_wait_for_another_threads_turn_is_of_the_access(void **state)
{
	(void)state;
	uop(0, 1, 1, 2, 3, 0, 0);
	uop(40, 41, 41, 90, 91, SPMU_IS(LOAD) | SPMU_IS(LOCK), SPMU_DID(SNOOP_HITM));
	sig(SPMU_SIG_CYCLES, 0, 90, 1);
	account(91);
	assert_int_equal(charged[SLOTS_BE_L3_CONTESTED], (90 - 3) * WIDTH - 1);
}

static void test_signals_of_an_older_access_are_not_the_loads(void **state)
{
	(void)state;
	sig(SPMU_SIG_L1D_FB_FULL, 1, 45, 1);
	uop(0, 1, 1, 2, 3, 0, 0);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT), 1, 1, SLOTS_BE_L1_FB_FULL), 0);
}

static void test_four_reads_under_way_make_a_wait_for_memory_bandwidth(void **state)
{
	(void)state;
	sig(SPMU_SIG_OFFCORE_ALL_RD, 0, 40, 3);
	sig(SPMU_SIG_OFFCORE_ALL_RD, 0, 20, 1);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_MISS), 0, 0,
		SLOTS_BE_DRAM_BANDWIDTH), 20 * WIDTH - 1);
	assert_int_equal(charged[SLOTS_BE_DRAM], 80 * WIDTH);
}

static void test_uops_dispatched_in_a_cycle_divide_the_ports(void **state)
{
	(void)state;
	uop(0, 1, 1, 60, 61, 0, 0);	/* the oldest; the others are dispatched meanwhile */
	for (unsigned i = 0; i < 6; i++)
		uop(1 + i / 3, 10, 10 + i / 3, 12, 62, 0, 0);
	uop(3, 20, 20, 21, 62, 0, 0);
	uop(3, 20, 20, 21, 62, 0, 0);
	sig(SPMU_SIG_CYCLES, 0, 61, 1);
	account(61);
	assert_int_equal(charged[SLOTS_BE_CHAIN_3], 2 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_CHAIN_2], WIDTH);
}

static void test_a_serialising_stall_is_of_what_serialises_unless_a_miss_is_under_way(void **state)
{
	(void)state;
	uop(0, 1, 1, 2, 3, SPMU_IS(PAUSE), 0);
	sig(SPMU_SIG_SERIALIZED, 1, 50, 1);
	uop(50, 51, 51, 52, 53, 0, 0);
	sig(SPMU_SIG_CYCLES, 0, 50, 1);
	account(60);
	assert_int_equal(charged[SLOTS_BE_PAUSE], 50 * WIDTH - 1);
	uop(0, 1, 1, 2, 3, 0, 0);
	sig(SPMU_SIG_SERIALIZED, 1, 50, 1);
	uop(50, 51, 51, 52, 53, 0, SPMU_DID(ASSIST_FP_INPUT));
	sig(SPMU_SIG_CYCLES, 0, 50, 1);
	account(60);
	assert_int_equal(charged[SLOTS_BE_ASSIST], 49 * WIDTH);
	uop(0, 0, 0, 50, 51, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT));
	uop(0, 1, 1, 51, 52, SPMU_IS(LOAD_FENCE) | SPMU_IS(SERIALIZING), 0);
	sig(SPMU_SIG_SERIALIZED, 1, 60, 1);
	uop(60, 61, 61, 62, 63, 0, 0);
	sig(SPMU_SIG_CYCLES, 0, 60, 1);
	account(70);
	assert_int_equal(charged[SLOTS_BE_L2], 2 * WIDTH - 2 + 49 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_FENCE], 9 * WIDTH);
}

static void test_a_load_behind_a_locked_operation_waits_for_it(void **state)
{
	(void)state;
	sig(SPMU_SIG_LOCK_DURATION, 0, 80, 1);
	assert_int_equal(held(SPMU_IS(LOAD), SPMU_DID(L1D_HIT), 1, 90, SLOTS_BE_L1_LOCK), 80 * WIDTH - 1);
	assert_int_equal(charged[SLOTS_BE_PORT_0], 10 * WIDTH);
}

static void retired(enum slots_cause cause, uint64_t is, uint64_t did)
{
	uop(0, 1, 1, 2, 3, is, did);
	sig(SPMU_SIG_CYCLES, 0, 3, 1);
	account(3);
	assert_int_equal(charged[cause], 1);
}

static void test_a_retired_slot_counts_by_what_its_uops_are(void **state)
{
	(void)state;
	retired(SLOTS_RET_NOP, SPMU_IS(INST_NOP), 0);
	retired(SLOTS_RET_FUSED, SPMU_IS(BRANCH) | SPMU_IS(MACRO_FUSED), 0);
	retired(SLOTS_RET_BRANCH, SPMU_IS(BRANCH), 0);
	retired(SLOTS_RET_X87, SPMU_IS(X87) | SPMU_IS(LOAD), 0);
	retired(SLOTS_RET_FP_SCALAR, SPMU_IS(FP_SCALAR_DOUBLE), 0);
	retired(SLOTS_RET_FP_VECTOR, SPMU_IS(FP_256_SINGLE), 0);
	retired(SLOTS_RET_INT_128, SPMU_IS(INT_VECTOR) | SPMU_IS(VECTOR_ADD), 0);
	retired(SLOTS_RET_INT_256, SPMU_IS(INT_VECTOR) | SPMU_IS(VECTOR_ADD) | SPMU_IS(VECTOR_256), 0);
	retired(SLOTS_RET_SHUFFLE, SPMU_IS(INT_VECTOR) | SPMU_IS(VECTOR_CROSS) | SPMU_IS(VECTOR_256), 0);
	retired(SLOTS_RET_MEMORY, SPMU_IS(STORE_ADDR), 0);
	retired(SLOTS_RET_OTHER, 0, 0);
	retired(SLOTS_RET_MS, SPMU_IS(LOAD), SPMU_DID(FROM_MS));
}

static void test_a_slot_counts_by_all_its_uops_and_further_slots_are_heavy(void **state)
{
	(void)state;
	uop(0, 1, 1, 2, 3, SPMU_IS(LOAD), 0);
	uop(0, 2, 2, 3, 3, SPMU_IS(FP_SCALAR_DOUBLE), 0);	/* fused with the load */
	record[records - 1].is &= ~(SPMU_IS(SLOT) | SPMU_IS(INST_BEGIN));
	uop(0, 3, 3, 4, 4, SPMU_IS(FP_SCALAR_DOUBLE), 0);	/* a slot of the same instruction */
	record[records - 1].is &= ~SPMU_IS(INST_BEGIN);
	sig(SPMU_SIG_CYCLES, 0, 4, 1);
	account(4);
	assert_int_equal(charged[SLOTS_RET_FP_SCALAR], 1);
	assert_int_equal(charged[SLOTS_RET_FEW], 1);
	assert_int_equal(charged[SLOTS_RET_MEMORY], 0);
}

static void test_a_clear_for_rewritten_code_is_another_nuke(void **state)
{
	(void)state;
	uop(0, 1, 1, 2, 3, 0, 0);
	sig(SPMU_SIG_CLEAR_SMC, 4, 4, 1);
	sig(SPMU_SIG_RECOVERY, 4, 9, 1);
	sig(SPMU_SIG_CYCLES, 0, 9, 1);
	account(9);
	assert_int_equal(charged[SLOTS_BAD_CLEAR_OTHER], 5 * WIDTH);
	assert_int_equal(charged[SLOTS_BAD_CLEAR_ORDER], 0);
}

static void test_a_full_store_buffer_comes_before_the_oldest_uop(void **state)
{
	(void)state;
	uop(0, 0, 0, 98, 100, 0, 0);
	sig(SPMU_SIG_RESOURCE_STALL_SB, 10, 60, 1);
	sig(SPMU_SIG_CYCLES, 0, 100, 1);
	account(100);
	assert_int_equal(charged[SLOTS_BE_STORE], 50 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_CHAIN_0] + charged[SLOTS_BE_CHAIN_1], 50 * WIDTH - 1);
}

static void test_a_full_store_buffer_waits_for_the_store_a_buffers_size_earlier(void **state)
{
	(void)state;
	const uint64_t store = SPMU_IS(STORE_ADDR);
	uop(0, 0, 0, 1, 2, store | SPMU_IS(NON_TEMPORAL), 0);
	uop(0, 0, 0, 1, 2, store, SPMU_DID(SPLIT_LINE));
	sig(SPMU_SIG_RESOURCE_STALL_SB, 1, 30, 1);
	uop(30, 30, 30, 31, 32, store, SPMU_DID(STALL_SB));
	sig(SPMU_SIG_RESOURCE_STALL_SB, 31, 50, 1);
	uop(50, 50, 50, 51, 52, store, SPMU_DID(STALL_SB));
	sig(SPMU_SIG_CYCLES, 0, 51, 1);
	account(60);
	assert_int_equal(charged[SLOTS_BE_STORE_STREAMING], 29 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_STORE_SPLIT], 19 * WIDTH);
}

static void test_a_store_that_needs_another_cores_line_is_shared(void **state)
{
	(void)state;
	uop(0, 0, 0, 98, 100, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		sig(SPMU_SIG_OFFCORE_REQUEST, 10 + 40 * i, 10 + 40 * i, 1);
		record[records - 1].is = SPMU_ATTR(REQUEST_RFO) | (i ? 0 : SPMU_ATTR(SNOOPED_MODIFIED));
		sig(SPMU_SIG_OFFCORE_RFO, 10 + 40 * i, 40 + 40 * i, 1);
	}
	sig(SPMU_SIG_RESOURCE_STALL_SB, 0, 100, 1);
	sig(SPMU_SIG_CYCLES, 0, 100, 1);
	account(100);
	assert_int_equal(charged[SLOTS_BE_STORE_SHARED], 30 * WIDTH);
	assert_int_equal(charged[SLOTS_BE_STORE], 70 * WIDTH - 1);
}

static void test_of_a_line_under_way_the_pending_misses_say_the_level(void **state)
{
	(void)state;
	uop(0, 0, 0, 98, 100, SPMU_IS(LOAD), SPMU_DID(LFB_HIT));
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
	assert_true(slots_sum(all, "ret.heavy", &sum) && sum == 2);
	assert_true(slots_sum(all, "be.core.ports.1+be.core.divider", &sum) && sum == 3);
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
		cmocka_unit_test(test_before_its_dispatch_the_oldest_uop_waits_for_a_port),
		cmocka_unit_test(test_a_load_waits_for_its_translation_then_for_buffers_then_for_its_level),
		cmocka_unit_test(test_the_parts_of_an_access_are_scaled_to_the_time_in_which_it_is_the_oldest),
		cmocka_unit_test(test_a_wait_for_another_threads_turn_is_of_the_access),
		cmocka_unit_test(test_signals_of_an_older_access_are_not_the_loads),
		cmocka_unit_test(test_four_reads_under_way_make_a_wait_for_memory_bandwidth),
		cmocka_unit_test(test_uops_dispatched_in_a_cycle_divide_the_ports),
		cmocka_unit_test(test_a_serialising_stall_is_of_what_serialises_unless_a_miss_is_under_way),
		cmocka_unit_test(test_a_load_behind_a_locked_operation_waits_for_it),
		cmocka_unit_test(test_a_retired_slot_counts_by_what_its_uops_are),
		cmocka_unit_test(test_a_slot_counts_by_all_its_uops_and_further_slots_are_heavy),
		cmocka_unit_test(test_a_clear_for_rewritten_code_is_another_nuke),
		cmocka_unit_test(test_a_full_store_buffer_comes_before_the_oldest_uop),
		cmocka_unit_test(test_a_full_store_buffer_waits_for_the_store_a_buffers_size_earlier),
		cmocka_unit_test(test_a_store_that_needs_another_cores_line_is_shared),
		cmocka_unit_test(test_of_a_line_under_way_the_pending_misses_say_the_level),
		cmocka_unit_test(test_a_sum_takes_what_is_below_its_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
