/* SPDX-License-Identifier: GPL-2.0-or-later
 * Energy: the table is complete and checked strictly, parts take energy for what they do and leak by their size, and
 * activity is counted as it happens. */
#include "analysis/cost/energy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "data_dir.h"

static void load(struct energy_model *m, struct core_config *c)
{
	struct err err = { 0 };
	assert_int_equal(energy_load(m, data_dir(), "45nm", &err), 0);
	assert_int_equal(core_config_load(c, data_dir(), "golden-cove", &err), 0);
}

static void test_every_part_has_a_line_with_a_source(void **state)
{
	(void)state;
	struct energy_model m;
	struct core_config c;
	load(&m, &c);
	for (unsigned p = 0; p < ENERGY_PARTS_COUNT; p++)
		assert_true(m.row[p].at > 0 && m.row[p].pj > 0);
}

static int load_text(const char *text, struct err *err)
{
	char path[] = "/tmp/softpmu-energy-XXXXXX";
	struct energy_model m;
	const int fd = mkstemp(path);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	const int rc = energy_load(&m, data_dir(), path, err);
	remove(path);
	return rc;
}

static void test_what_is_no_table_is_refused(void **state)
{
	(void)state;
	static const struct { const char *text, *says; } bad[] = {
		{ "core\t1\t2\t0\t3\tx\n", "columns" },
		{ "part\tat\tpJ\tpower\tmW\tsource\ncore\t1\t2\t0\t3\tx\n", "no line for rob" },
		{ "part\tat\tpJ\tpower\tmW\tsource\nflux\t1\t2\t0\t3\tx\n", "not a part" },
		{ "part\tat\tpJ\tpower\tmW\tsource\ncore\t0\t2\t0\t3\tx\n", "numbers" },
		{ "part\tat\tpJ\tpower\tmW\tsource\ncore\t1\tnan\t0\t3\tx\n", "numbers" },
		{ "part\tat\tpJ\tpower\tmW\tsource\ncore\t1\t2\t0\t3\tx\ncore\t1\t2\t0\t3\tx\n", "twice" },
		{ "part\tat\tpJ\tpower\tmW\tsource\ncore\t1\t2\n", "3 columns" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = { 0 };
		assert_int_equal(load_text(bad[i].text, &err), ERR_INPUT);
		assert_non_null(strstr(err.text, bad[i].says));
	}
}

/* Half the cache leaks half as much, and an access takes less energy by a factor of sqrt(2); no cache leaks nothing. */
static void test_a_part_takes_by_its_size(void **state)
{
	(void)state;
	struct energy_model m;
	struct core_config c;
	struct energy_activity a = { 0 };
	struct energy_bill whole, half, none;
	load(&m, &c);
	a.n[ENERGY_COUNT_cycles] = 1000000;
	energy_bill(&whole, &m, &c, &a);
	assert_true(whole.total > 0 && whole.total - whole.fixed < 1e-6 * whole.total);
	c.l1d_size /= 2;
	energy_bill(&half, &m, &c, &a);
	assert_true(half.part[ENERGY_l1d] / whole.part[ENERGY_l1d] > 0.4999 &&
		half.part[ENERGY_l1d] / whole.part[ENERGY_l1d] < 0.5001);
	c.lsd_size = 0;
	energy_bill(&none, &m, &c, &a);
	assert_true(none.part[ENERGY_loop_buffer] < 1e-12 && half.part[ENERGY_loop_buffer] > 0);

	a = (struct energy_activity){ .n[ENERGY_COUNT_loads] = 1000000 };
	energy_bill(&half, &m, &c, &a);
	c.l1d_size *= 2;
	energy_bill(&whole, &m, &c, &a);
	const double ratio = half.part[ENERGY_l1d] / whole.part[ENERGY_l1d];
	assert_true(whole.fixed < 1e-12 && ratio > 0.7070 && ratio < 0.7072);
}

static void test_activity_is_what_the_records_say(void **state)
{
	(void)state;
	const struct spmu_record r[] = {
		{ .is = SPMU_IS(SLOT) | SPMU_IS(EXEC) | SPMU_IS(LOAD), .did = SPMU_DID(RETIRED) | SPMU_DID(FROM_DSB) |
		SPMU_DID(DTLB_MISS) },
		{ .is = SPMU_IS(SLOT) | SPMU_IS(EXEC) | SPMU_IS(BRANCH) | SPMU_IS(INDIRECT), .did = SPMU_DID(RETIRED) |
		SPMU_DID(MISPREDICTED) | SPMU_DID(FROM_MITE) },
		/* of a wrong path */
		{ .is = SPMU_IS(SLOT) | SPMU_IS(EXEC) | SPMU_IS(LOAD), .did = SPMU_DID(FROM_DSB) },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_CYCLES, .begin = 5, .end = 25 },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_L2_PF_MISS, .did = 3 },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_L2_PF_HIT, .did = 2 },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_DTLB_LOAD_WALK, .begin = 5, .end = 25, .did = 1 },
	};
	const struct spmu_batch b = { .count = sizeof r / sizeof *r, .instructions = 2, .records = r };
	struct energy_activity a = { 0 };
	energy_batch(&a, &b);
	const struct { enum energy_count what; uint64_t n; } want[] = {
		{ ENERGY_COUNT_cycles, 20 }, { ENERGY_COUNT_instructions, 2 }, { ENERGY_COUNT_slots, 3 },
		{ ENERGY_COUNT_uops, 3 }, { ENERGY_COUNT_loads, 2 },
		{ ENERGY_COUNT_integer, 1 }, { ENERGY_COUNT_branches, 1 }, { ENERGY_COUNT_indirect, 1 },
		{ ENERGY_COUNT_mispredicts, 1 }, { ENERGY_COUNT_dsb, 2 },
		{ ENERGY_COUNT_mite, 1 }, { ENERGY_COUNT_dtlb_misses, 1 }, { ENERGY_COUNT_walks, 1 },
		{ ENERGY_COUNT_l2_requests, 5 },
		{ ENERGY_COUNT_l2_prefetches, 5 }, { ENERGY_COUNT_l2_prefetch_misses, 3 }, { ENERGY_COUNT_stores, 0 },
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		assert_int_equal(a.n[want[i].what], want[i].n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_part_has_a_line_with_a_source),
			cmocka_unit_test(test_what_is_no_table_is_refused),
		cmocka_unit_test(test_a_part_takes_by_its_size),
		cmocka_unit_test(test_activity_is_what_the_records_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
