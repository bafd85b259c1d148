/* SPDX-License-Identifier: GPL-2.0-or-later
 * Latency by footprint and the bandwidth of memory, on the small machine and on the presets' shapes. */
#include "mem_fixture.h"

/* Average cycles a load of a chain that visits `lines` lines, `rounds` times, in a fixed scattered order. */
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

static void a_pointer_chase_shows_each_level_s_latency(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	uint64_t cycle = 1000;
	/* cyclic order and LRU: what does not fit misses always; one size above and far above each level */
	assert_true(chase(f, 4, 4, &cycle) == L1);
	assert_true(chase(f, 32, 4, &cycle) == L2);
	assert_true(chase(f, 128, 4, &cycle) == L3);
	assert_true(chase(f, 1024, 2, &cycle) == MEMORY);
}

static void rows_of_memory_cost_what_they_say(void **state)
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

static void a_first_access_opens_the_row(void **state)
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

static void memory_delivers_lines_no_faster_than_its_bandwidth(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_bandwidth = 3.2;		/* 64 bytes in 20 ns */
	f->config.l1d_fill_buffers = f->config.l2_queue = 64;
	mf_start(f);
	mf_load(f, BASE + 63 * 64, 0);
	enum { N = 400 };
	uint64_t last = 0;
	for (unsigned i = 0; i < N; i++) {
		struct mem_result r = mf_load(f, BASE + 64 * (100 + i), 10000);
		last = r.ready > last ? r.ready : last;
	}
	/* N - 1 transfers start behind the first; a span of four lines is the grain of the booking */
	uint64_t least = 10000 + MEMORY + 20 * (N - 1);
	assert_in_range(last, least - 4 * 20, least + 4 * 20);
}

static void two_channels_are_twice_as_fast(void **state)
{
	struct machine_fixture *f = *state;
	f->config.dram_bandwidth = 6.4;
	f->config.dram_channels = 2;
	f->config.l1d_fill_buffers = f->config.l2_queue = 64;
	mf_start(f);
	mf_load(f, BASE + 63 * 64, 0);
	enum { N = 400 };
	uint64_t last = 0;
	for (unsigned i = 0; i < N; i++) {
		struct mem_result r = mf_load(f, BASE + 64 * (100 + i), 10000);
		last = r.ready > last ? r.ready : last;
	}
	uint64_t least = 10000 + MEMORY + 20 * (N / 2 - 1);
	assert_in_range(last, least - 4 * 20, least + 4 * 20);
}

static void fill_buffers_bound_the_bandwidth_of_one_core(void **state)
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

static void a_late_request_does_not_delay_an_early_one(void **state)
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
		MF_TEST(a_pointer_chase_shows_each_level_s_latency),
		MF_TEST(rows_of_memory_cost_what_they_say),
		MF_TEST(a_first_access_opens_the_row),
		MF_TEST(memory_delivers_lines_no_faster_than_its_bandwidth),
		MF_TEST(two_channels_are_twice_as_fast),
		MF_TEST(fill_buffers_bound_the_bandwidth_of_one_core),
		MF_TEST(a_late_request_does_not_delay_an_early_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
