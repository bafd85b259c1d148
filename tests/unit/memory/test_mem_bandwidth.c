/* SPDX-License-Identifier: GPL-2.0-or-later
 * Latency by footprint and the bandwidth of memory, on the small machine and on the presets' shapes. */
#include "mem_fixture.h"

/* Returns the average cycles of a load in a chain that visits `lines` lines `rounds` times, in a fixed scattered
 * order. */
static double chase(struct machine_fixture *f, unsigned lines, unsigned rounds, uint64_t *cycle)
{
	uint64_t start = 0;
	unsigned step = lines / 2 + 1;	/* odd, so prime to a power of two */
	for (unsigned r = 0; r <= rounds; r++) {
		if (r == 1)	/* the first round warms up */
			start = *cycle;
		for (unsigned i = 0, at = 0; i < lines; i++, at = (at + step) % lines)
			*cycle = mf_load(f, BASE + 64ull * at, *cycle).ready;
	}
	return (double)(*cycle - start) / lines / rounds;
}

static void test_a_pointer_chase_shows_each_level_s_latency(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	uint64_t cycle = 1000;
	/* with cyclic order and LRU, a footprint that does not fit always misses: sizes just above and far above each
	 * level */
	assert_true(chase(f, 4, 4, &cycle) == L1);
	assert_true(chase(f, 32, 4, &cycle) == L2);
	assert_true(chase(f, 128, 4, &cycle) == L3);
	assert_true(chase(f, 1024, 2, &cycle) == MEMORY);
}

static void test_rows_of_memory_cost_what_they_say(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_row = 1024;
	f->config.dram_row_empty_ns = 11;
	f->config.dram_row_conflict_ns = 23;
	f->config.dram_banks = 1;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 4096), 1000, MEMORY + 23, BITS_MEMORY);	/* the walk left another row open */
	assert_load(f, LINE_AT(1, 4096), 2000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(0, 4096 + 4), 3000, MEMORY + 23, BITS_MEMORY);
	assert_load(f, LINE_AT(2, 4096), 4000, MEMORY + 23, BITS_MEMORY);
}

static void test_a_first_access_opens_the_row(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_row = 1024;
	f->config.dram_banks = 16;
	f->config.dram_row_empty_ns = 11;
	f->config.dram_row_conflict_ns = 23;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 4), 1000, MEMORY + 11, BITS_MEMORY);
	assert_load(f, LINE_AT(1, 4), 2000, MEMORY, BITS_MEMORY);
}

static void test_a_row_that_nobody_reads_is_closed_after_its_time(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_row = 1024;
	f->config.dram_banks = 16;
	f->config.dram_row_empty_ns = 11;
	f->config.dram_row_conflict_ns = 23;
	f->config.dram_row_close_ns = 2000;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 4), 1000, MEMORY + 11, BITS_MEMORY);
	assert_load(f, LINE_AT(1, 4), 2900, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(2, 4), 4800, MEMORY, BITS_MEMORY);	/* less than 2,000 cycles behind the last */
	assert_load(f, LINE_AT(3, 4), 7000, MEMORY + 11, BITS_MEMORY);
}

/* Reads many lines from memory at once. Checks that the last comes when `each` cycles a line predict, plus or minus a
 * span of four lines, which is the granularity of the bandwidth model. */
static void assert_cycles_a_line(struct machine_fixture *f, unsigned each)
{
	f->config.l1d_fill_buffers = 64;
	f->config.l2_queue = 64;
	mf_start(f);
	mf_load(f, BASE + 63 * 64, 0);
	enum { N = 400 };
	uint64_t last = 0;
	for (unsigned i = 0; i < N; i++) {
		struct mem_result r = mf_load(f, BASE + 64 * (100 + i), 10000);
		last = r.ready > last ? r.ready : last;
	}
	uint64_t least = 10000 + MEMORY + each * (N - 1);	/* N - 1 transfers follow the first */
	assert_in_range(last, least - 4 * 20, least + 4 * 20);
}

static void test_memory_delivers_lines_no_faster_than_its_bandwidth(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_bandwidth = 3.2;		/* 64 bytes in 20 ns */
	assert_cycles_a_line(f, 20);
}

static void test_two_channels_are_twice_as_fast(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_bandwidth = 6.4;
	f->config.dram_channels = 2;
	assert_cycles_a_line(f, 10);
}

static void test_one_core_reads_no_faster_than_its_own_way_to_memory(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_line_ns = 15;
	assert_cycles_a_line(f, 15);
}

static void test_what_it_writes_goes_a_way_of_its_own(void **state)
{
	struct machine_fixture *f = *state;
	enum { N = 400 };
	struct mem_result r = { 0, 0 };
	uint64_t cycle = 10000;
	f->config.dram_line_ns = 15;
	f->config.dram_write_ns = 30;
	mf_start(f);
	mf_load(f, BASE + 63 * 64, 0);
	for (unsigned i = 0; i < 8 * N; i++) {	/* non-temporal: the eight stores of a line in succession */
		memsys_store_commit(f->m, 0x400000, BASE + 64 * 100 + 8 * i, 8, cycle, true, &r);
		cycle = r.ready;
	}
	assert_in_range(cycle, 10000 + 30 * (N - 8), 10000 + 30 * (N + 8));
	assert_load(f, BASE + 64 * 99, cycle, MEMORY, BITS_MEMORY);	/* it waits for no write */
}

/* Measures the latency of single reads: the shortest, the longest and the mean. */
static void waits(struct machine_fixture *f, uint64_t *least, uint64_t *most, double *mean)
{
	enum { N = 2000 };
	uint64_t sum = 0;
	mf_start(f);
	mf_load(f, BASE + 63 * 64, 0);
	*least = UINT64_MAX;
	*most = 0;
	for (unsigned i = 0; i < N; i++) {
		const uint64_t cycle = 10007 * (i + 1);	/* spread over all phases of an interval */
		uint64_t took = mf_load(f, BASE + 64 * (100 + i), cycle).ready - cycle;
		*least = took < *least ? took : *least;
		*most = took > *most ? took : *most;
		sum += took;
	}
	*mean = (double)sum / N;
}

static void test_reads_wait_for_others_an_exponential_time_always_the_same(void **state)
{
	struct machine_fixture *f = *state;
	uint64_t least[2], most[2];
	double mean[2];
	f->config.dram_others_ns = 50;
	for (unsigned k = 0; k < 2; k++) {
		waits(f, &least[k], &most[k], &mean[k]);
		mf_end(f);
	}
	f->m = NULL;
	assert_in_range(least[0], MEMORY, MEMORY + 1);
	/* one read in 256 waits more than 5.5 times the mean; the median of those waits is 6.2 times the mean */
	assert_in_range(most[0], MEMORY + 4 * 50, MEMORY + 7 * 50);
	assert_in_range((uint64_t)mean[0], MEMORY + 45, MEMORY + 55);
	assert_true(least[0] == least[1] && most[0] == most[1] && mean[0] == mean[1]);
}

static void test_reads_of_a_bank_wait_for_the_end_of_its_refresh(void **state)
{
	struct machine_fixture *f = *state;
	uint64_t least, most;
	double mean;
	f->config.dram_refresh_ns = 400;
	f->config.dram_refresh_interval_ns = 2000;
	waits(f, &least, &most, &mean);
	assert_in_range(least, MEMORY, MEMORY + 1);
	assert_in_range(most, MEMORY + 390, MEMORY + 400);
	/* a fifth of the reads wait, for half the refresh */
	assert_in_range((uint64_t)mean, MEMORY + 36, MEMORY + 44);
	uint64_t end = 0;
	unsigned found = 0;
	/* lines of one row; each read comes an interval and a fiftieth of it after the one before */
	for (unsigned i = 0; i < 50; i++) {
		const uint64_t cycle = 30000000 + 2040 * i, ready = mf_load(f, BASE + 64 * (64 * 100 + i), cycle).ready;
		if (ready < cycle + MEMORY + 2)
			continue;
		assert_true(!found || end == ready % 2000);
		end = ready % 2000;
		found++;
	}
	assert_in_range(found, 8, 10);
}

static void test_more_than_64_lines_may_be_in_flight(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l2_queue = 100;
	f->config.prefetch_linear_streams = 1;
	f->config.prefetch_linear_start = 2;
	f->config.l1d_fill_buffers = 16;
	f->config.prefetch_linear_degree = 16;
	f->config.prefetch_linear_distance = 200;
	mf_start(f);
	mf_load(f, BASE + 63 * 64, 0);
	/* from the third on, each asks 16 ahead; L1D has fill buffers for all, and none comes late */
	for (unsigned i = 0; i < 9; i++)
		mf_load(f, BASE + 64 * (100 + i), 10000);
	assert_in_range(mf_count(f, SPMU_SIG_DRAM_READ), 100, 104);
}

static void test_fill_buffers_bound_the_bandwidth_of_one_core(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	enum { N = 400 };
	uint64_t last = 0;
	for (unsigned i = 0; i < N; i++)
		last = mf_load(f, BASE + 64 * (100 + i), 1000).ready;
	assert_int_equal(last, 1000 + MEMORY * (N / 4));	/* four at a time */
}

static void test_a_line_written_back_takes_time_of_l2(void **state)
{
	struct machine_fixture *f = *state;
	enum { N = 32, EACH = 4 };
	for (unsigned lines = 0; lines <= 2; lines += 2) {
		f->config.l1d_fill_buffers = N;
		f->config.l2_bandwidth_cycles = EACH;
		f->config.l2_writeback_lines = lines;
		mf_start(f);
		mf_map(f);
		for (unsigned i = 0; i < 2 * N; i++)	/* twice: L2 holds them, and L1D's 8 lines are dirty */
			mf_store(f, BASE + 64 * (i % N), 10000 * (i + 1));
		uint64_t last = 0;
		for (unsigned i = 0; i < N; i++) {	/* each brings a line and drives one out */
			const uint64_t ready = mf_store(f, BASE + 64 * i, 1600000).ready;
			last = ready > last ? ready : last;
		}
		const uint64_t least = 1600000 + EACH * (1 + lines) * (N - 1);
		assert_in_range(last, least, least + L2 + 4 * EACH);
		mf_end(f);
		f->m = NULL;
	}
}

static void test_a_late_request_does_not_delay_an_early_one(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_bandwidth = 3.2;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 9), 5000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(1, 9), 4000, MEMORY, BITS_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MF_TEST(test_a_pointer_chase_shows_each_level_s_latency),
		MF_TEST(test_rows_of_memory_cost_what_they_say),
		MF_TEST(test_a_first_access_opens_the_row),
		MF_TEST(test_a_row_that_nobody_reads_is_closed_after_its_time),
		MF_TEST(test_memory_delivers_lines_no_faster_than_its_bandwidth),
		MF_TEST(test_two_channels_are_twice_as_fast),
		MF_TEST(test_one_core_reads_no_faster_than_its_own_way_to_memory),
		MF_TEST(test_what_it_writes_goes_a_way_of_its_own),
		MF_TEST(test_reads_wait_for_others_an_exponential_time_always_the_same),
		MF_TEST(test_reads_of_a_bank_wait_for_the_end_of_its_refresh),
		MF_TEST(test_more_than_64_lines_may_be_in_flight),
		MF_TEST(test_fill_buffers_bound_the_bandwidth_of_one_core),
		MF_TEST(test_a_line_written_back_takes_time_of_l2),
		MF_TEST(test_a_late_request_does_not_delay_an_early_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
