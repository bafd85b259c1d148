/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lines that two cores access: states, what a snoop finds and costs, invalidation, a line that both wait for.
 */
#include "mem_fixture.h"
#include "core/memory/memsys_state.h"

enum { SNOOP = 30 };
static struct memsys *second;

static int setup(void **state)
{
	return mf_two_cores(state, SNOOP, 0, &second);
}

static int teardown(void **state)
{
	memsys_destroy(second);
	return mf_teardown(state);
}

static struct mem_result store(struct memsys *m, uint64_t addr, uint64_t cycle)
{
	struct mem_result r = { 0, 0 };
	memsys_store_translate(m, addr, 8, cycle, &r);
	memsys_store_commit(m, 0x400000, addr, 8, cycle, false, &r);
	return r;
}

#define assert_result(result, cycle, latency, bits) do { \
	struct mem_result r_ = result; \
	assert_int_equal(r_.ready, (cycle) + (latency)); \
	assert_int_equal(r_.did, bits); } while (0)

static const uint64_t X = LINE_AT(0, 0);

static void test_a_modified_line_of_another_core_is_read_from_there_and_shared(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 1000);
	mf_forget(f);
	assert_result(mf_load_on(second, X, 2000), 2000, L3 + SNOOP, BITS_L3 | DID(SNOOP_HITM));
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_SNOOP), 1);
	assert_result(mf_load_on(f->m, X, 3000), 3000, L1, BITS_L1);		/* it may still read its copy */
	assert_result(mf_load_on(second, X, 3000), 3000, L1, BITS_L1);
}

static void test_a_clean_line_that_another_core_has_alone_is_asked_for_but_costs_nothing(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(f->m, X, 1000);
	assert_result(mf_load_on(second, X, 2000), 2000, L3, BITS_L3 | DID(SNOOP_HIT));
}

static void test_a_store_to_a_shared_line_takes_it_from_the_others_first(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(f->m, X, 1000);
	mf_load_on(second, X, 2000);
	mf_forget(f);
	struct mem_result r = store(second, X, 3000);
	assert_true(r.ready >= 3000 + L3 + SNOOP);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_INVALIDATE), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_RFO_MISS), 1);
	assert_result(mf_load_on(f->m, X, 4000), 4000, L3 + SNOOP, BITS_L3 | DID(SNOOP_HITM));
}

/* The second core's L2 asks for X. */
static void prefetch_into_second(uint64_t cycle)
{
	mf_load_on(second, LINE_AT(1, 0), cycle - 1000);	/* the translation */
	l2_prefetch(second, physical_line(second, translate_known(second, X), linear_line(second, X)), cycle, true);
}

static void test_a_store_to_a_shared_line_under_way_misses_once_and_sends_one_request(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(f->m, X, 1000);
	prefetch_into_second(3000);
	mf_forget(f);
	store(second, X, 3001);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_RFO_MISS), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_RFO_HIT), 0);
	assert_int_equal(mf_count(f, SPMU_SIG_OFFCORE_REQUEST), 1);
	assert_true(f->attributes[SPMU_SIG_OFFCORE_REQUEST] & SPMU_ATTR(REQUEST_RFO));
}

static void test_a_store_to_a_line_under_way_for_a_prefetch_sends_no_request(void **state)
{
	struct machine_fixture *f = *state;
	prefetch_into_second(3000);
	mf_forget(f);
	store(second, X, 3001);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_RFO_MISS), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_OFFCORE_REQUEST), 0);
}

static void test_a_store_to_a_line_held_alone_asks_nobody(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(f->m, X, 1000);			/* exclusive */
	mf_forget(f);
	assert_int_equal(store(f->m, X, 2000).ready, 2001);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_RFO_MISS), 0);
	assert_int_equal(mf_count(f, SPMU_SIG_L3_REFERENCE), 0);
}

static void test_a_store_that_misses_takes_the_line_away(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 1000);
	mf_forget(f);
	struct mem_result r = store(second, X, 2000);
	assert_int_equal(r.ready, 2000 + L3 + SNOOP + 1);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_INVALIDATE), 1);
	assert_int_equal(mf_load_on(f->m, X, 3000).did, BITS_L3 | DID(SNOOP_HITM));
}

static void test_stores_of_two_cores_to_one_line_have_it_in_turn(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 1000);
	uint64_t at = 2000, last = 0;
	/* both ask at once, for addresses in one line eight bytes apart */
	for (int i = 0; i < 10; i++, at += 2) {
		uint64_t ready = store(i & 1 ? f->m : second, X + 8 * (i & 1), at).ready;
		assert_true(ready >= last + SNOOP);	/* the other core had the line until `last` */
		last = ready;
	}
	assert_true(last >= 2000 + L3 + 10 * SNOOP);
}

static void test_stores_of_two_cores_to_lines_of_their_own_are_free(void **state)
{
	struct machine_fixture *f = *state;
	store(f->m, X, 1000);
	store(second, X + 64, 1000);
	for (uint64_t at = 2000; at < 2020; at += 2)
		assert_int_equal(store(at & 2 ? f->m : second, X + 64 * !(at & 2), at).ready, at + 1);
}

static void test_a_line_on_its_way_from_memory_comes_to_the_second_behind_the_first(void **state)
{
	struct machine_fixture *f = *state;
	uint64_t there = mf_load_on(f->m, X, 1000).ready;
	assert_int_equal(there, 1000 + MEMORY);
	assert_int_equal(mf_load_on(second, X, 1010).ready, there);
}

static void test_a_line_of_three_readers_is_taken_from_both_others(void **state)
{
	struct machine_fixture *f = *state;
	struct err err = { 0 };
	struct memsys *third;
	assert_int_equal(memsys_create(&third, f->shared, &f->config, f->e, &err), 0);
	mf_load_on(f->m, X, 1000);
	mf_load_on(second, X, 2000);
	mf_load_on(third, BASE + 63 * 64, 2500);
	/* already shared, so L3 answers without a snoop */
	assert_int_equal(mf_load_on(third, X, 3000).did, BITS_L3);
	mf_forget(f);
	store(third, X, 4000);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_INVALIDATE), 2);
	assert_int_equal(mf_load_on(f->m, X, 5000).did, BITS_L3 | DID(SNOOP_HITM));
	memsys_destroy(third);
}

static void test_a_core_that_is_gone_holds_nothing(void **state)
{
	struct machine_fixture *f = *state;
	struct err err = { 0 };
	struct memsys *third;
	assert_int_equal(memsys_create(&third, f->shared, &f->config, f->e, &err), 0);
	mf_load_on(third, BASE + 63 * 64, 500);
	mf_load_on(third, X, 1000);
	memsys_destroy(third);
	assert_result(mf_load_on(second, X, 2000), 2000, L3, BITS_L3);
}

static void test_a_stores_source_is_where_its_line_is_and_asking_changes_nothing(void **state)
{
	struct machine_fixture *f = *state;
	const uint64_t miss = DID(STORE_L1D_MISS);
	mf_load_on(f->m, X + 64 * 32, 500);		/* translated */
	mf_forget(f);
	for (unsigned i = 0; i < 2; i++)	/* a second time: the first has not fetched it */
		assert_int_equal(memsys_store_source(f->m, X), miss);
	store(second, X, 1000);
	assert_int_equal(memsys_store_source(f->m, X), miss | DID(STORE_L3_HIT) | DID(STORE_HITM));
	assert_int_equal(memsys_store_source(second, X), 0);
	mf_load_on(f->m, X, 2000);			/* now both have it, clean */
	assert_int_equal(memsys_store_source(f->m, X), 0);
	for (unsigned n = 1; n < 4; n++)	/* out of L1D, which has two ways */
		mf_load_on(f->m, LINE_AT(0, n), 3000 + 1000 * n);
	assert_int_equal(memsys_store_source(f->m, X), miss | DID(STORE_L2_HIT));
}

/* How L3 had the line of the last request beyond L2. */
static uint64_t found_in_l3(struct machine_fixture *f)
{
	emit_flush(f->e, false);
	return f->attributes[SPMU_SIG_OFFCORE_REQUEST] & (SPMU_ATTR(SHARED) | SPMU_ATTR(EXCLUSIVE) |
		SPMU_ATTR(MODIFIED) | SPMU_ATTR(L3_MISSED));
}

static void test_a_request_says_how_l3_has_the_line(void **state)
{
	struct machine_fixture *f = *state;
	mf_load_on(f->m, X, 1000);
	assert_int_equal(found_in_l3(f), SPMU_ATTR(L3_MISSED));
	mf_load_on(second, X, 2000);
	assert_int_equal(found_in_l3(f), SPMU_ATTR(SHARED));
	store(second, X, 3000);		/* asks for ownership alone */
	assert_int_equal(found_in_l3(f), 0);
	mf_load_on(f->m, X, 4000);
	assert_int_equal(found_in_l3(f), SPMU_ATTR(MODIFIED));
	for (unsigned i = 0; i < 5; i++)	/* the fifth evicts the first from L2 */
		mf_load_on(f->m, LINE_AT(2, 4 * i), 5000 + 1000 * i);
	mf_load_on(f->m, LINE_AT(2, 0), 20000);
	assert_int_equal(found_in_l3(f), SPMU_ATTR(EXCLUSIVE));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_modified_line_of_another_core_is_read_from_there_and_shared),
		TEST(test_a_clean_line_that_another_core_has_alone_is_asked_for_but_costs_nothing),
		TEST(test_a_store_to_a_shared_line_takes_it_from_the_others_first),
		TEST(test_a_store_to_a_shared_line_under_way_misses_once_and_sends_one_request),
		TEST(test_a_store_to_a_line_under_way_for_a_prefetch_sends_no_request),
		TEST(test_a_store_to_a_line_held_alone_asks_nobody),
		TEST(test_a_store_that_misses_takes_the_line_away),
		TEST(test_stores_of_two_cores_to_one_line_have_it_in_turn),
		TEST(test_stores_of_two_cores_to_lines_of_their_own_are_free),
		TEST(test_a_line_on_its_way_from_memory_comes_to_the_second_behind_the_first),
		TEST(test_a_line_of_three_readers_is_taken_from_both_others),
		TEST(test_a_core_that_is_gone_holds_nothing),
		TEST(test_a_request_says_how_l3_has_the_line),
		TEST(test_a_stores_source_is_where_its_line_is_and_asking_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
