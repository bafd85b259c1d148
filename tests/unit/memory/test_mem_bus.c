/* SPDX-License-Identifier: GPL-2.0-or-later
 * The front-side bus at exact cycles: a read's latency, the order of the data, the queue, writes, chunks, locks, other
 * cores; and L1D's lines that are equal in their low address bits. */
#include "mem_fixture.h"

enum { CLOCK = 10, CHIPSET = 20, DRAM = 70, READ = L3 + 2 * CLOCK + CHIPSET + DRAM + CLOCK };

static void start(struct machine_fixture *f)
{
	f->config.fsb_clock = CLOCK;
	f->config.fsb_queue = 2;
	f->config.fsb_chipset_ns = CHIPSET;
	f->config.dram_latency_ns = DRAM;
	mf_start(f);
	mf_map(f);
}

static void test_a_read_takes_request_chipset_memory_and_a_bus_clock(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	assert_int_equal(mf_load(f, LINE_AT(0, 0), 1000).ready, 1000 + READ);
	assert_int_equal(mf_count(f, SPMU_SIG_BUS_QUEUE), 1);
	assert_int_equal(f->begin[SPMU_SIG_BUS_QUEUE], 1000 + L3);
	assert_int_equal(f->end[SPMU_SIG_BUS_QUEUE], 1000 + READ + CLOCK);
	assert_int_equal(f->end[SPMU_SIG_BUS_UNIT], 1000 + READ + CLOCK);
	/* two clocks in each of its two bus clocks, and two for the hold */
	assert_int_equal(f->length[SPMU_SIG_BUS_SAMPLE], 4);
	assert_int_equal(f->length[SPMU_SIG_BUS_HOLD_SAMPLE], 2);
	assert_int_equal(f->length[SPMU_SIG_BUS_DRIVE] + f->length[SPMU_SIG_BUS_OTHER_DATA], 0);
}

static void test_data_follow_each_other_and_a_full_queue_waits(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	assert_int_equal(mf_load(f, LINE_AT(0, 0), 1000).ready, 1000 + READ);
	assert_int_equal(mf_load(f, LINE_AT(1, 0), 1000).ready, 1000 + READ + 2 * CLOCK);
	/* the third has an entry when the first one's data are through */
	assert_int_equal(mf_load(f, LINE_AT(2, 0), 1000).ready, 1000 + READ + CLOCK + READ - L3);
}

static void test_without_a_bus_nothing_is_raised(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	assert_int_equal(mf_load(f, LINE_AT(0, 0), 1000).ready, 1000 + MEMORY);
	assert_int_equal(mf_count(f, SPMU_SIG_BUS_QUEUE) + f->count[SPMU_SIG_BUS_UNIT] + f->count[SPMU_SIG_BUS_SAMPLE],
		0);
	assert_int_equal(memsys_bus_lock(f->m, BASE + 60, 8, 1000), 1000);
}

static void combine(struct machine_fixture *f, uint64_t addr, uint32_t bytes, uint64_t cycle)
{
	struct mem_result r;
	memsys_store_commit(f->m, 0x400000, addr, bytes, cycle, true, &r);
}

static void test_a_buffer_filled_in_part_leaves_in_chunks(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	combine(f, LINE_AT(0, 0), 8, 1000);
	combine(f, LINE_AT(0, 0) + 16, 4, 1000);
	combine(f, LINE_AT(1, 0), 8, 1000);
	mf_forget(f);
	combine(f, LINE_AT(2, 0), 8, 2000);	/* needs the first buffer */
	assert_int_equal(mf_count(f, SPMU_SIG_WC_EVICT), 1);
	assert_int_equal(f->count[SPMU_SIG_BUS_QUEUE], 2);
	assert_int_equal(f->count[SPMU_SIG_BUS_UNIT], 1);
	assert_int_equal(f->length[SPMU_SIG_BUS_DRIVE], 4);
	assert_int_equal(f->length[SPMU_SIG_BUS_HOLD_DRIVE], 0);
	mf_forget(f);
	for (unsigned i = 0; i < 64; i += 8)
		combine(f, LINE_AT(3, 0) + i, 8, 3000);
	assert_int_equal(mf_count(f, SPMU_SIG_BUS_HOLD_DRIVE), 1);
}

static void test_a_lock_across_lines_locks_the_bus(void **state)
{
	struct machine_fixture *f = *state;
	start(f);
	assert_int_equal(memsys_bus_lock(f->m, BASE + 56, 8, 1000), 1000);
	/* two chunks are read, then both are written */
	assert_int_equal(memsys_bus_lock(f->m, BASE + 60, 8, 1000), 1000 + 2 * (2 * CLOCK + 2 * CLOCK));
	assert_int_equal(mf_count(f, SPMU_SIG_BUS_QUEUE), 4);
	assert_int_equal(f->count[SPMU_SIG_BUS_UNIT], 2);
}

static void test_other_cores_see_the_transaction_as_anothers(void **state)
{
	struct machine_fixture *f = *state;
	struct machine_fixture *other = calloc(1, sizeof *other);
	assert_non_null(other);
	start(f);
	other->config = f->config;
	mf_start(other);	/* its emitter, for a second core of the first machine */
	struct memsys *second;
	assert_int_equal(memsys_create(&second, f->shared, &f->config, other->e, NULL), 0);
	mf_load(f, LINE_AT(0, 0), 1000);
	assert_int_equal(mf_count(other, SPMU_SIG_BUS_QUEUE), 1);
	assert_int_equal(other->count[SPMU_SIG_BUS_UNIT], 0);
	assert_int_equal(other->length[SPMU_SIG_BUS_OTHER_DATA], 4);
	assert_int_equal(other->length[SPMU_SIG_BUS_SAMPLE], 0);
	emit_flush(other->e, true);	/* its thread ends */
	mf_load(f, LINE_AT(1, 0), 2000);
	assert_int_equal(mf_count(other, SPMU_SIG_BUS_QUEUE), 1);	/* as before */
	memsys_destroy(second);
	mf_end(other);
	free(other);
}

static void test_lines_with_equal_low_bits_evict_each_other(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l1d_alias_bits = 9;	/* 512 bytes: two lines of the same set are LINE_AT(set, 2) apart */
	mf_start(f);
	mf_map(f);
	for (unsigned k = 0; k < 3; k++) {
		mf_load(f, LINE_AT(0, 0), 1000 + 4000 * k);
		mf_load(f, LINE_AT(0, 2), 3000 + 4000 * k);
	}
	assert_int_equal(mf_count(f, SPMU_SIG_ALIAS_L1D), 5);
	mf_load(f, LINE_AT(0, 1), 20000);	/* 256 bytes away: both stay */
	assert_int_equal(mf_load(f, LINE_AT(0, 2), 22000).did & SPMU_DID(L1D_HIT), SPMU_DID(L1D_HIT));
	assert_int_equal(mf_count(f, SPMU_SIG_ALIAS_L1D), 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, mf_setup, mf_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_read_takes_request_chipset_memory_and_a_bus_clock),
		TEST(test_data_follow_each_other_and_a_full_queue_waits),
		TEST(test_without_a_bus_nothing_is_raised),
		TEST(test_a_buffer_filled_in_part_leaves_in_chunks),
		TEST(test_a_lock_across_lines_locks_the_bus),
		TEST(test_other_cores_see_the_transaction_as_anothers),
		TEST(test_lines_with_equal_low_bits_evict_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
