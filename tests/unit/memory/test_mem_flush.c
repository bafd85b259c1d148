/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lines that leave all caches: CLFLUSH and its siblings, and non-temporal stores, on one core and beside a second one.
 */
#include "mem_fixture.h"
#include "isa/isa.h"

enum { SNOOP = 30 };
static struct memsys *second;

static int inclusive(void **state) { return mf_two_cores(state, SNOOP, 0, &second); }
static int victim(void **state) { return mf_two_cores(state, SNOOP, 1, &second); }

static int teardown(void **state)
{
	memsys_destroy(second);
	return mf_teardown(state);
}

static uint64_t store(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal)
{
	struct mem_result r = { 0, 0 };
	memsys_store_translate(m, addr, size, cycle, &r);
	memsys_store_commit(m, 0x400000, addr, size, cycle, non_temporal, &r);
	return r.ready;
}

static const uint64_t X = LINE_AT(0, 0);

static void test_a_flushed_line_comes_from_memory_again(void **state)
{
	struct machine_fixture *f = *state;
	static const unsigned kinds[] = { FLUSH_OUT, FLUSH_OUT_WEAK };
	for (unsigned i = 0; i < 2; i++) {
		mf_load_on(f->m, X, 1000);
		assert_int_equal(mf_load_on(f->m, X, 2000).did, BITS_L1);
		mf_forget(f);
		assert_true(memsys_flush(f->m, X, kinds[i], 3000) >= 3000 + L3);
		assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 0);	/* it was clean */
		assert_int_equal(mf_load_on(f->m, X, 4000).did, BITS_MEMORY);
		memsys_flush(f->m, X, kinds[i], 5000);
	}
}

static void test_a_line_in_flight_is_flushed_too(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(f->m, X, 1000);
	memsys_flush(f->m, X, FLUSH_OUT, 1010);
	struct mem_result r = mf_load_on(f->m, X, 1020);
	assert_int_equal(r.did, BITS_MEMORY);
	assert_true(r.ready >= 1020 + MEMORY);
}

static void test_neighbours_of_a_flushed_line_stay(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(f->m, X, 1000);
	mf_load_on(f->m, X + 64, 1000);
	memsys_flush(f->m, X, FLUSH_OUT, 2000);
	assert_int_equal(mf_load_on(f->m, X + 64, 3000).did, BITS_L1);
}

static void test_modified_lines_are_written_once(void **state)
{
	struct machine_fixture *f = *state;
	static const unsigned kinds[] = { FLUSH_OUT, FLUSH_OUT_WEAK, FLUSH_CLEAN };
	for (unsigned i = 0; i < 3; i++) {
		store(f->m, X, 8, 1000, false);
		mf_forget(f);
		memsys_flush(f->m, X, kinds[i], 2000);
		memsys_flush(f->m, X, kinds[i], 3000);
		assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
		assert_int_equal(mf_count(f, SPMU_SIG_UNC_WRITTEN), 1);	/* each of them passes its slice */
		assert_int_equal(mf_count(f, SPMU_SIG_UNC_FLUSH), 2);
		assert_int_equal(mf_load_on(f->m, X, 4000).did, kinds[i] == FLUSH_CLEAN ? BITS_L1 : BITS_MEMORY);
		memsys_flush(f->m, X, FLUSH_OUT, 5000);
	}
}

static void test_a_line_leaves_the_other_core_too(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(second, X, 1000);
	mf_forget(f);
	memsys_flush(f->m, X, FLUSH_OUT, 2000);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_INVALIDATE), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 0);
	assert_int_equal(mf_load_on(second, X, 3000).did, BITS_MEMORY);
	store(second, X, 8, 4000, false);
	mf_forget(f);
	assert_true(memsys_flush(f->m, X, FLUSH_OUT, 5000) >= 5000 + L3 + SNOOP);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	assert_int_equal(mf_load_on(second, X, 6000).did, BITS_MEMORY);
}

static void test_a_line_that_another_core_modified_is_cleaned_where_it_is(void **state)
{
	struct machine_fixture *f = *state;
	store(second, X, 8, 1000, false);
	mf_forget(f);
	memsys_flush(f->m, X, FLUSH_CLEAN, 2000);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	assert_int_equal(mf_load_on(second, X, 3000).did, BITS_L1);
	mf_forget(f);
	memsys_flush(f->m, X, FLUSH_OUT, 4000);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 0);
}

static void test_a_line_in_l3_alone_is_flushed(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 8, 1000, false);
	memsys_flush(f->m, X, FLUSH_DEMOTE, 2000);
	assert_int_equal(mf_load_on(f->m, X, 3000).did, BITS_L3);	/* CLDEMOTE keeps it there */
	memsys_flush(f->m, X, FLUSH_DEMOTE, 4000);
	mf_forget(f);
	memsys_flush(f->m, X, FLUSH_OUT, 5000);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	assert_int_equal(mf_load_on(f->m, X, 6000).did, BITS_MEMORY);
}

static void test_a_non_temporal_store_takes_the_line_out_of_all_caches(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 8, 1000, false);
	mf_forget(f);
	store(f->m, X, 8, 2000, true);		/* the line is modified: it goes to memory first */
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	assert_int_equal(mf_load_on(f->m, X, 3000).did, BITS_MEMORY);	/* behind the store, which is written for it */
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 2);
	mf_load_on(second, X, 4000);
	mf_forget(f);
	for (unsigned i = 0; i < 8; i++)
		store(f->m, X + 8 * i, 8, 5000 + i, true);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);	/* a whole line, combined */
	assert_int_equal(mf_load_on(second, X, 6000).did, BITS_MEMORY);
	assert_int_equal(mf_load_on(f->m, X, 7000).did & (DID(L3_HIT) | DID(L3_MISS)), DID(L3_HIT));
}

static void test_a_store_comes_behind_a_non_temporal_one(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 8, 1000, true);
	store(f->m, X, 8, 2000, false);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	assert_int_equal(mf_load_on(f->m, X, 3000).did, BITS_L1);
}

static void test_warming_flushes_without_signals(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 8, 1000, false);
	mf_forget(f);
	memsys_warm_flush(f->m, X + 8, FLUSH_OUT);
	for (unsigned i = 0; i < SPMU_SIG_COUNT; i++)
		assert_int_equal(mf_count(f, i), 0);
	assert_int_equal(mf_load_on(f->m, X, 2000).did, BITS_MEMORY);
}

#define BOTH(name) \
	{ #name " (inclusive L3)", name, inclusive, teardown, NULL }, \
	{ #name " (victim L3)", name, victim, teardown, NULL }
int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_a_flushed_line_comes_from_memory_again),
		BOTH(test_a_line_in_flight_is_flushed_too),
		BOTH(test_neighbours_of_a_flushed_line_stay),
		BOTH(test_modified_lines_are_written_once),
		BOTH(test_a_line_leaves_the_other_core_too),
		BOTH(test_a_line_that_another_core_modified_is_cleaned_where_it_is),
		BOTH(test_a_line_in_l3_alone_is_flushed),
		BOTH(test_a_non_temporal_store_takes_the_line_out_of_all_caches),
		BOTH(test_a_store_comes_behind_a_non_temporal_one),
		BOTH(test_warming_flushes_without_signals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
