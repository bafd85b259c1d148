/* SPDX-License-Identifier: GPL-2.0-or-later
 * What features can save at most (analysis/tune/tune_limit.h): the share of the events that they can bring
 * about, and of their part's energy. */
#include "analysis/tune/tune_limit.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "data_dir.h"

static const struct tune_feature prefetch = { .name = "prefetch.l2_streamer", .level = { "on", "off" }, .levels = 2 };
static const struct tune_feature l3 = { .name = "l3.size", .level = { "full", "1/2" }, .levels = 2, .ordered = true };
static const struct tune_feature smt = { .name = "smt.rob", .level = { "split", "shared" }, .levels = 2 };
static const struct tune_goal cycles = { TUNE_CYCLES, 0, 0.005 }, energy = { TUNE_ENERGY, 0, 0.005 }, edp = { TUNE_EDP,
	0, 0.005 };

struct fixture {
	struct core_config core;
	struct energy_model model;
	struct energy_activity activity;
	struct cost_run *run;
	struct tune_limits limits;
};

/* Makes a run of 1,000 cycles; in `pending` of them a load that missed L1D is outstanding. */
static void run(struct fixture *f, uint32_t pending, uint64_t prefetches)
{
	struct cost_measure measure[COST_MEASURES];
	struct cost_thread *thread;
	struct err err = { 0 };
	const struct spmu_record r[] = {
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_CYCLES, .begin = 0, .end = 1000 },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_L1D_PENDING, .begin = 100, .end = 100 + pending,
		.did = 1 },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_L2_PF_MISS, .begin = 1, .end = 1, .did = prefetches },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_L3_REFERENCE, .begin = 1, .end = 1, .did = prefetches },
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_DRAM_READ, .begin = 1, .end = 1, .did = prefetches },
	};
	const struct spmu_batch b = { .watermark = 2000, .count = sizeof r / sizeof *r, .is_last = 1, .records = r };
	memset(f, 0, sizeof *f);
	assert_int_equal(core_config_load(&f->core, data_dir(), "skylake", &err), 0);
	assert_int_equal(energy_load(&f->model, data_dir(), f->core.energy, &err), 0);
	const unsigned n = tune_limit_measures(measure, &f->core, &err);
	assert_true(n > 5);
	assert_int_equal(cost_run_create(&f->run, &(struct pushout_widths){ { 4, 4, 6 } }, measure, n, true, &err), 0);
	assert_int_equal(cost_thread_start(f->run, &thread, 1, &err), 0);
	cost_thread_batch(thread, &b);
	energy_batch(&f->activity, &b);
	cost_thread_end(thread);
	assert_int_equal(cost_run_finish(f->run, &err), 0);
	f->limits = (struct tune_limits){ &f->core, f->run, &f->model, &f->activity, false, false };
}

static double limit(const struct fixture *f, const struct tune_feature *feature, const struct tune_goal *goal)
{
	const char *why;
	double v = -1;
	assert_int_equal(tune_limit(&v, &f->limits, feature, goal, &why, NULL), 0);
	return v;
}

static void test_a_prefetcher_can_save_what_misses_cost(void **state)
{
	(void)state;
	struct fixture f;
	run(&f, 300, 0);
	assert_true(limit(&f, &prefetch, &cycles) > 0.2999 && limit(&f, &prefetch, &cycles) < 0.3001);
	cost_run_destroy(f.run);
	run(&f, 0, 0);
	assert_true(limit(&f, &prefetch, &cycles) < 1e-9);
	cost_run_destroy(f.run);
}

static void test_a_smaller_cache_saves_energy_and_no_time(void **state)
{
	(void)state;
	struct fixture f;
	struct energy_bill whole, half;
	run(&f, 300, 0);
	assert_true(limit(&f, &l3, &cycles) < 1e-9);
	energy_bill(&whole, &f.model, &f.core, &f.activity);
	f.core.l3_size /= 2;
	energy_bill(&half, &f.model, &f.core, &f.activity);
	f.core.l3_size *= 2;
	const double want = 1 - half.total / whole.total, is = limit(&f, &l3, &energy);
	assert_true(want > 0 && is > want - 1e-6 && is < want + 1e-6);
	assert_true(limit(&f, &l3, &edp) > want - 1e-6);
	cost_run_destroy(f.run);
}

static void test_what_prefetches_move_is_theirs_to_save(void **state)
{
	(void)state;
	struct fixture f;
	run(&f, 0, 0);
	const double without = limit(&f, &prefetch, &energy);
	cost_run_destroy(f.run);
	run(&f, 0, 1000);
	assert_true(limit(&f, &prefetch, &energy) > 0.5 && without < 0.05);
	assert_true(limit(&f, &prefetch, &cycles) < 1e-9);
	cost_run_destroy(f.run);
}

static void test_hardware_threads_matter_where_they_share_a_core(void **state)
{
	(void)state;
	struct fixture f;
	run(&f, 300, 0);
	assert_true(limit(&f, &smt, &cycles) < 1e-9);
	f.limits.smt = true;
	assert_true(limit(&f, &smt, &cycles) > 0.999);
	cost_run_destroy(f.run);
}

static void test_a_policy_of_a_cache_that_gave_nothing_up_saves_nothing(void **state)
{
	(void)state;
	static const struct tune_feature policy = { .name = "l2.replacement", .level = { "quad", "lru" }, .levels = 2 };
	struct fixture f;
	run(&f, 300, 0);
	assert_true(limit(&f, &policy, &cycles) < 1e-9);
	f.activity.n[ENERGY_COUNT_l2_evicts] = 1;
	assert_true(limit(&f, &policy, &cycles) > 0.2999);
	f.activity.n[ENERGY_COUNT_l2_evicts] = 0;
	f.limits.warmed = true;		/* it may have evicted lines that miss now */
	assert_true(limit(&f, &policy, &cycles) > 0.2999);
	cost_run_destroy(f.run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_prefetcher_can_save_what_misses_cost),
			cmocka_unit_test(test_a_smaller_cache_saves_energy_and_no_time),
		cmocka_unit_test(test_what_prefetches_move_is_theirs_to_save),
		cmocka_unit_test(test_hardware_threads_matter_where_they_share_a_core),
		cmocka_unit_test(test_a_policy_of_a_cache_that_gave_nothing_up_saves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
