/* SPDX-License-Identifier: GPL-2.0-or-later
 * src/native/signed_rank.h and trial.h: exact chances, intervals, and how often noise is called a gain:
 * synthetic programs, seeds fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "native/trial.h"
#include <math.h>
#include <string.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static struct signed_rank rank_of(const double *d, unsigned n)
{
	struct signed_rank r;
	signed_rank(&r, d, n, 0.95);
	return r;
}

/* The book's table A.4 of upper tails: n = 8, P(T >= 33) = 0.0195; n = 10, P(T >= 45) = 0.0420. */
static void test_chances_are_those_of_the_published_table(void **state)
{
	(void)state;
	const double five[] = { 1, 2, 3, 4, 5 }, eight[] = { 1, 2, -3, 4, 5, 6, 7, 8 }, ten[] = { 1, 2, 3, -4, 5, -6, 7,
		8, 9, 10 };
	NEAR(rank_of(five, 5).p, 1 / 32.0);
	NEAR(rank_of(eight, 8).p, 5 / 256.0);
	assert_true(fabs(rank_of(ten, 10).p - 0.0420) < 5e-5);
}

static void test_ties_share_their_rank_and_zeros_have_none(void **state)
{
	(void)state;
	const double tied[] = { 1, 1, -1 }, zeros[] = { 0, 0, 1, 2 }, none[] = { 0, 0 };
	NEAR(rank_of(tied, 3).p, 0.5);
	NEAR(rank_of(zeros, 4).p, 0.25);
	assert_int_equal(rank_of(zeros, 4).n, 2);
	NEAR(rank_of(none, 2).p, 1);
	NEAR(rank_of(NULL, 0).p, 1);
}

static void test_the_estimate_is_the_median_of_pairwise_averages(void **state)
{
	(void)state;
	const double four[] = { 1, 2, 3, 4 }, wild[] = { 1, 2, 3, 4, 1000 };
	NEAR(rank_of(four, 4).estimate, 2.5);
	assert_true(rank_of(wild, 5).estimate < 4);
}

static double shifted(const double *d, unsigned n, double by, int sign)
{
	double s[SIGNED_RANK_MOST];
	for (unsigned i = 0; i < n; i++)
		s[i] = sign * (d[i] - by);
	return rank_of(s, n).p;
}

static void test_the_interval_holds_what_the_test_does_not_reject(void **state)
{
	(void)state;
	const double d[] = { 0.31, -0.12, 0.57, 0.88, 0.05, 0.43, -0.29, 0.77, 0.61, 0.14, 1.93, 0.36 };
	const double few[] = { 1, 2, 3, 4, 5 };
	struct signed_rank r = rank_of(d, 12);
	assert_true(r.low < r.estimate && r.estimate < r.high);
	assert_true(shifted(d, 12, r.low + 1e-6, 1) > 0.025 && shifted(d, 12, r.low - 1e-6, 1) <= 0.025);
	assert_true(shifted(d, 12, r.high - 1e-6, -1) > 0.025 && shifted(d, 12, r.high + 1e-6, -1) <= 0.025);
	assert_true(isinf(rank_of(few, 5).low) && isinf(rank_of(few, 5).high));	/* 2/32 is more than 0.05 */
}

static void test_holm_steps_down(void **state)
{
	(void)state;
	double p[] = { 0.03, 0.01, 0.04, 0.01 }, one[] = { 0.9, 0.8 };
	holm(p, 4);
	NEAR(p[1], 0.04);
	NEAR(p[3], 0.04);
	NEAR(p[0], 0.06);
	NEAR(p[2], 0.06);	/* not below the previous step, 2 * 0.03 */
	holm(one, 2);
	NEAR(one[0], 1);
	NEAR(one[1], 1);
}

/* A program on a shared host. It takes 0.1 s with log-normal noise; every tenth run meets a disturbance of up to twice
 * that time, and a load comes and goes, by which cpu and wall time differ. gain[]: the gain of each arm. */
struct host { uint64_t random; unsigned run; double noise; const double *gain, *wall; int refused, enough; };

static double uniform(struct host *h)
{
	h->random = h->random * 6364136223846793005u + 1442695040888963407u;
	return ((double)(h->random >> 11) + 0.5) / 9007199254740992.0;
}

static int run(void *context, int arm, uint64_t block, struct trial_times *t, struct err *err)
{
	struct host *h = context;
	(void)block;
	if (arm >= 0 && arm == h->refused)
		return err_set(err, TRIAL_REFUSED, "exit status 3 instead of 0");
	if (h->enough && h->run >= (unsigned)h->enough)
		return TRIAL_ENOUGH;
	double normal = sqrt(-2 * log(uniform(h))) * cos(2 * M_PI * uniform(h));
	double s = 0.1 * exp(h->noise * normal) * (1 + 0.2 * (h->run / 40 % 3 == 0));
	if (uniform(h) < 0.1)
		s *= 1 + 2 * uniform(h);
	t->cpu = s * (arm >= 0 && h->gain ? 1 - h->gain[arm] : 1);
	t->wall = s * (1 + 0.3 * uniform(h)) * (arm >= 0 && h->wall ? 1 - h->wall[arm] : 1);
	h->run++;
	return 0;
}

static struct trial_options options(struct host *h, uint64_t seed)
{
	*h = (struct host){ .random = seed * 977 + 5, .noise = 0.02, .refused = -1 };
	return (struct trial_options){ .measure = TRIAL_CPU, .level = 0.05, .least = 0.01, .blocks = TRIAL_BLOCKS,
		.seed = seed, .run = run, .context = h };
}

enum { TRIALS = 1000, ARMS = 12 };

static unsigned trials_with_a_gain(double least, enum trial_measure measure)
{
	unsigned found = 0;
	for (unsigned seed = 1; seed <= TRIALS; seed++) {
		struct host h;
		struct trial_options o = options(&h, seed);
		struct trial_arm arm[ARMS];
		o.least = least;
		o.measure = measure;
		assert_int_equal(trial_run(arm, ARMS, &o, NULL), 0);
		bool any = false;
		for (unsigned i = 0; i < ARMS; i++)
			any |= arm[i].verdict == TRIAL_GAIN;
		found += any;
	}
	return found;
}

/* The level holds for all twelve settings together, and also without a least gain. */
static void test_noise_is_called_a_gain_in_no_more_trials_than_the_level(void **state)
{
	(void)state;
	assert_true(trials_with_a_gain(0.01, TRIAL_CPU) <= TRIALS * 5 / 100);
	assert_true(trials_with_a_gain(0, TRIAL_WALL) <= TRIALS * 5 / 100);
}

/* One of twelve settings gains five per cent; the noise is two per cent or more. */
static void test_a_gain_of_five_percent_is_found(void **state)
{
	(void)state;
	static const double gain[ARMS] = { [7] = 0.05 };
	unsigned found = 0;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct host h;
		struct trial_options o = options(&h, seed);
		struct trial_arm arm[ARMS];
		h.gain = gain;
		assert_int_equal(trial_run(arm, ARMS, &o, NULL), 0);
		found += arm[7].verdict == TRIAL_GAIN;
	}
	assert_true(found >= 190);
}

/* The 95 % interval of a confirmation contains the true gain in 95 of 100 trials. */
static void test_intervals_cover_the_true_gain(void **state)
{
	(void)state;
	static const double gain[1] = { 0.05 };
	unsigned covered = 0, confirmed = 0;
	for (unsigned seed = 1; seed <= 400; seed++) {
		struct host h;
		struct trial_options o = options(&h, seed);
		struct trial_arm arm;
		h.gain = gain;
		assert_int_equal(trial_confirm(&arm, &o, NULL), 0);
		assert_int_equal(arm.blocks, TRIAL_BLOCKS);
		covered += arm.effect[TRIAL_CPU].low <= 0.05 && arm.effect[TRIAL_CPU].high >= 0.05;
		confirmed += arm.verdict == TRIAL_GAIN;
	}
	assert_in_range(covered, 400 * 93 / 100, 400 * 98 / 100);
	assert_true(confirmed >= 390);
}

static void test_what_is_decided_is_measured_no_longer(void **state)
{
	(void)state;
	static const double gain[3] = { 0.4, 0, -0.4 };
	struct host h;
	struct trial_options o = options(&h, 1);
	struct trial_arm arm[3];
	h.gain = gain;
	h.noise = 0.001;
	assert_int_equal(trial_run(arm, 3, &o, NULL), 0);
	assert_int_equal(arm[0].verdict, TRIAL_GAIN);
	assert_int_equal(arm[0].blocks, TRIAL_BLOCKS / 2);
	assert_int_equal(arm[2].verdict, TRIAL_NONE);
	assert_int_equal(arm[2].blocks, TRIAL_BLOCKS * 3 / 10);
	assert_true(arm[0].effect[TRIAL_CPU].gain > 0.35 && arm[0].p <= 0.05);
}

static void test_a_gain_in_one_time_that_costs_the_other_is_none(void **state)
{
	(void)state;
	static const double gain[1] = { 0.2 }, wall[1] = { -0.6 };
	struct host h;
	struct trial_options o = options(&h, 3);
	struct trial_arm arm;
	h.gain = gain;
	h.wall = wall;
	assert_int_equal(trial_run(&arm, 1, &o, NULL), 0);
	assert_int_equal(arm.verdict, TRIAL_TRADE);
}

static void test_a_setting_that_the_program_fails_under_is_out(void **state)
{
	(void)state;
	struct host h;
	struct trial_options o = options(&h, 3);
	struct trial_arm arm[2];
	h.refused = 1;
	assert_int_equal(trial_run(arm, 2, &o, NULL), 0);
	assert_int_equal(arm[1].verdict, TRIAL_FAILED);
	assert_string_equal(arm[1].why, "exit status 3 instead of 0");
	assert_int_equal(arm[1].blocks, 0);
	assert_true(arm[0].blocks > 0);
}

static void test_out_of_time_nothing_is_a_gain(void **state)
{
	(void)state;
	static const double gain[2] = { 0.5, 0.5 };
	struct host h;
	struct trial_options o = options(&h, 3);
	struct trial_arm arm[2];
	h.gain = gain;
	h.enough = 30;
	assert_int_equal(trial_run(arm, 2, &o, NULL), 0);
	assert_int_equal(arm[0].verdict, TRIAL_UNDECIDED);
	assert_true(arm[0].effect[TRIAL_CPU].gain > 0.3);
}

static void test_the_same_seed_is_the_same_trial(void **state)
{
	(void)state;
	struct trial_arm a[4], b[4];
	struct host h;
	struct trial_options o = options(&h, 9);
	assert_int_equal(trial_run(a, 4, &o, NULL), 0);
	o = options(&h, 9);
	assert_int_equal(trial_run(b, 4, &o, NULL), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_true(a[i].p == b[i].p && a[i].effect[0].gain == b[i].effect[0].gain &&
			a[i].blocks == b[i].blocks);
}

static void test_options_out_of_range_are_refused(void **state)
{
	(void)state;
	struct host h;
	struct err err;
	struct trial_arm arm[1];
	struct trial_options o = options(&h, 1);
	o.blocks = 9;
	assert_int_equal(trial_run(arm, 1, &o, &err), ERR_INPUT);
	o = options(&h, 1);
	o.level = 0;
	assert_int_equal(trial_run(arm, 1, &o, &err), ERR_INPUT);
	o = options(&h, 1);
	assert_int_equal(trial_run(arm, TRIAL_ARMS + 1, &o, &err), ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chances_are_those_of_the_published_table),
			cmocka_unit_test(test_ties_share_their_rank_and_zeros_have_none),
		cmocka_unit_test(test_the_estimate_is_the_median_of_pairwise_averages),
		cmocka_unit_test(test_the_interval_holds_what_the_test_does_not_reject),
		cmocka_unit_test(test_holm_steps_down),
		cmocka_unit_test(test_noise_is_called_a_gain_in_no_more_trials_than_the_level),
		cmocka_unit_test(test_a_gain_of_five_percent_is_found),
		cmocka_unit_test(test_intervals_cover_the_true_gain),
		cmocka_unit_test(test_what_is_decided_is_measured_no_longer),
		cmocka_unit_test(test_a_gain_in_one_time_that_costs_the_other_is_none),
		cmocka_unit_test(test_a_setting_that_the_program_fails_under_is_out),
		cmocka_unit_test(test_out_of_time_nothing_is_a_gain),
		cmocka_unit_test(test_the_same_seed_is_the_same_trial),
		cmocka_unit_test(test_options_out_of_range_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
