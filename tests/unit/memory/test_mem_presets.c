/* SPDX-License-Identifier: GPL-2.0-or-later
 * The presets' own machines: a pointer chase in the middle of each level shows the latency that the file states. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/memory/memsys.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data_dir.h"

enum { BASE = 0x40000000 };

/* Returns the average load-to-use latency of a chain that visits every line of `bytes` in a scattered order, after two
 * rounds of warming. */
static double chase(const struct core_config *config, uint32_t bytes)
{
	struct memsys_shared *shared;
	struct memsys *m;
	struct err err = { 0 };
	struct emitter *e = calloc(1, sizeof(*e));	/* no signal is wanted */
	assert_non_null(e);
	if (memsys_shared_create(&shared, config, &err) || memsys_create(&m, shared, config, e, &err))
		fail_msg("%s", err.text);
	uint32_t lines = bytes / 64;
	uint64_t cycle = 0, start = 0;
	for (unsigned round = 0; round < 3; round++) {
		if (round == 2)
			start = cycle;
		for (uint32_t i = 0, at = 1; i < lines; i++) {
			struct mem_result r;
			memsys_load(m, 1, BASE + 64ull * at, 8, cycle, false, &r);
			cycle = r.ready;
			at = (at * 1664525u + 1013904223u) % lines;	/* full period over a power of two */
		}
	}
	memsys_destroy(m);
	memsys_shared_destroy(shared);
	free(e);
	return (double)(cycle - start) / lines;
}

static void near(double is, double should, double percent)
{
	if (fabs(is - should) > should * percent / 100)
		fail_msg("%.2f cycles instead of %.2f", is, should);
}

static void load_preset(struct core_config *c, const char *name)
{
	struct err err = { 0 };
	if (core_config_load(c, data_dir(), name, &err))
		fail_msg("%s", err.text);
	c->memory_page = 1;	/* 2 MB, so that translation costs almost nothing */
	c->prefetch_l1d_next_line = c->prefetch_l1d_ip = c->prefetch_l2_adjacent = c->prefetch_l2_streamer = 0;
}

static void each_level(const char *name, uint32_t in_l1, uint32_t in_l2, uint32_t in_l3, uint32_t in_memory)
{
	struct core_config c;
	load_preset(&c, name);
	double l3 = c.l3_latency + c.l3_latency_ns * c.frequency_ghz;
	near(chase(&c, in_l1), c.l1d_latency, 0);
	near(chase(&c, in_l2), c.l2_latency, 1);
	near(chase(&c, in_l3), l3, 1);
	double memory = chase(&c, in_memory);
	/* DRAM rows are neither always open nor always in conflict, and some lines are still in L3 */
	assert_true(memory > 0.8 * (l3 + c.dram_latency_ns * c.frequency_ghz));
	assert_true(memory < l3 + (c.dram_latency_ns + c.dram_row_conflict_ns) * c.frequency_ghz + 30);
}

static void test_skylake_has_the_latencies_it_states(void **state)
{
	(void)state;
	each_level("skylake", 16 << 10, 128 << 10, 4 << 20, 32 << 20);
}

static void test_golden_cove_has_the_latencies_it_states(void **state)
{
	(void)state;
	each_level("golden-cove", 32 << 10, 1 << 20, 16 << 20, 128 << 20);
}

static void test_small_pages_cost_what_the_stlb_adds(void **state)
{
	(void)state;
	struct core_config c;
	load_preset(&c, "skylake");
	c.memory_page = 0;
	/* 1024 pages: all in the STLB, few in the DTLB; all lines in L3 */
	near(chase(&c, 4 << 20), c.l3_latency + c.stlb_latency * (1 - 64.0 / 1024), 1);
}

static void test_prefetchers_hide_what_a_walk_in_order_would_wait_for(void **state)
{
	(void)state;
	struct core_config c, off;
	struct err err = { 0 };
	load_preset(&off, "skylake");
	c = off;
	c.prefetch_l1d_next_line = c.prefetch_l1d_ip = c.prefetch_l2_adjacent = c.prefetch_l2_streamer = 1;
	uint64_t took[2];
	for (unsigned k = 0; k < 2; k++) {
		struct memsys_shared *shared;
		struct memsys *m;
		struct emitter *e = calloc(1, sizeof(*e));
		assert_non_null(e);
		if (memsys_shared_create(&shared, k ? &c : &off, &err) || memsys_create(&m, shared, k ? &c : &off, e,
			&err))
			fail_msg("%s", err.text);
		uint64_t cycle = 0;
		for (uint32_t i = 0; i < 1 << 16; i++) {
			struct mem_result r;
			memsys_load(m, 1, BASE + 64ull * i, 8, cycle, false, &r);
			cycle = r.ready;
		}
		took[k] = cycle;
		memsys_destroy(m);
		memsys_shared_destroy(shared);
		free(e);
	}
	assert_true(took[1] < took[0] / 4);
}

/* Reads 4 MB in order, as fast as the buffers allow, with all prefetchers. No preset reads faster than its memory. */
static void test_no_preset_reads_faster_than_its_memory(void **state)
{
	(void)state;
	static const char *const preset[] = { "pentium", "pentium3", "willamette", "prescott", "core2", "ivy-bridge",
		"skylake", "golden-cove", "golden-cove-client" };
	for (unsigned k = 0; k < sizeof preset / sizeof *preset; k++) {
		struct core_config c;
		struct err err = { 0 };
		struct memsys_shared *shared;
		struct memsys *m;
		struct emitter *e = calloc(1, sizeof(*e));
		assert_non_null(e);
		if (core_config_load(&c, data_dir(), preset[k], &err) || memsys_shared_create(&shared, &c, &err) ||
			memsys_create(&m, shared, &c, e, &err))
			fail_msg("%s", err.text);
		uint64_t last = 0;
		const uint32_t line = 64 >> c.cache_line, lines = (4 << 20) / line;
		for (uint32_t i = 0; i < lines; i++) {
			struct mem_result r;
			memsys_load(m, 1, BASE + (uint64_t)line * i, 4, i, false, &r);
			last = r.ready > last ? r.ready : last;
		}
		double gb_s = (4 << 20) / (last / c.frequency_ghz);
		if (gb_s > c.dram_bandwidth || gb_s < c.dram_bandwidth / 100)
			fail_msg("%s: %.2f GB/s of %.2f", preset[k], gb_s, c.dram_bandwidth);
		memsys_destroy(m);
		memsys_shared_destroy(shared);
		free(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_skylake_has_the_latencies_it_states),
		cmocka_unit_test(test_golden_cove_has_the_latencies_it_states),
		cmocka_unit_test(test_small_pages_cost_what_the_stlb_adds),
		cmocka_unit_test(test_prefetchers_hide_what_a_walk_in_order_would_wait_for),
		cmocka_unit_test(test_no_preset_reads_faster_than_its_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
