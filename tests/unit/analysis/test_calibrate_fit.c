/* SPDX-License-Identifier: GPL-2.0-or-later
 * What calibrate reads off measured curves, and what it refuses to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analysis/calibrate/calibrate_fit.h"
#include <math.h>
#include <string.h>

enum { N = 24 };
static double x[N], y[N];
static double least[N], most[N];	/* of the repeats */
static double age[N];

static struct cal_curve curve(size_t n)
{
	struct cal_curve c = { .n = n };
	for (size_t i = 0; i < n && i < N; i++) {
		c.x[i] = x[i];
		c.y[i] = y[i];
		c.least[i] = least[i];
		c.most[i] = most[i];
		c.age[i] = age[i];
	}
	return c;
}

static int knee_of_many(struct cal_knee *out, size_t n, double high, struct err *err)
{
	struct cal_curve c = curve(n);
	return cal_fit_knee(out, &c, high, err);
}

static int knee(struct cal_knee *out, double high, struct err *err)
{
	return knee_of_many(out, N, high, err);
}

enum { CHAINS = 15 };
static int others_of(struct core_fall *out, double low, double high, struct err *err)
{
	struct cal_curve c = curve(CHAINS);
	return cal_fit_others(out, &c, low, high, 2 * age[CHAINS - 1], err);
}

/* Makes all repeats give y. */
static void repeats_agree(void)
{
	memcpy(least, y, sizeof y);
	memcpy(most, y, sizeof y);
}

/* Makes a curve over sizes from 16 on, a factor of sqrt(2) apart, that steps from `low` to `high` after `last`. */
static void step(double last, double low, double high)
{
	for (int i = 0; i < N; i++) {
		x[i] = 16 * pow(2, i / 2.);
		y[i] = x[i] <= last ? low : high;
	}
	repeats_agree();
}

/* Sets what the repeats of the point of size `at` (or the next larger one) give: least, median and most. */
static void repeats(double at, double a, double b, double c)
{
	int i = 0;
	while (x[i] < at)
		i++;
	least[i] = a;
	y[i] = b;
	most[i] = c;
}

/* Adds disturbances of up to `up_to` times the value, in a fixed sequence. */
static void noise(double up_to, uint32_t seed)
{
	for (int i = 0; i < N; i++) {
		seed = seed * 1103515245 + 12345;
		y[i] *= 1 + up_to * (seed >> 16 & 1023) / 1023.;
	}
	repeats_agree();
}

static void test_a_step_is_found_between_its_neighbours(void **state)
{
	(void)state;
	struct cal_knee k;
	step(512, 4, 14);
	assert_int_equal(knee(&k, 0, NULL), 0);
	assert_true(k.fits <= 512 && k.fits > 500 && k.fails > 512 && k.fails < 730);
	assert_true(fabs(k.low - 4) < 1e-9 && fabs(k.high - 14) < 1e-9);
}

static void test_noise_that_only_adds_moves_no_knee(void **state)
{
	(void)state;
	struct cal_knee k;
	for (uint32_t seed = 1; seed <= 200; seed++) {
		step(512, 4, 14);
		noise(0.3, seed);
		assert_int_equal(knee(&k, 0, NULL), 0);
		assert_true(k.fits > 500 && k.fits <= 512 && k.fails > 512 && k.fails < 730);
	}
}

static void test_single_disturbed_points_move_no_knee(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	/* not the last point: no point after it could show that it is disturbed */
	for (int at = 1; at < N - 1; at++) {
		step(512, 4, 14);
		y[at] *= 20;
		most[at] = y[at];
		/* at the knee it would move it: the last size that fits looks too slow, or the curve falls there */
		if (x[at] > 512 / 2.5 && x[at] <= 512) {
			assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
			assert_non_null(strstr(err.text, "too noisy"));
			continue;
		}
		assert_int_equal(knee(&k, 0, NULL), 0);
		assert_true(k.fits > 500 && k.fits <= 512);
	}
}

static void test_repeats_on_both_levels_at_the_knee_are_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	step(512, 4, 14);
	repeats(500, 4.1, 10.6, 12.1);	/* looks like the first size that does not fit */
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too noisy: at 512 "));
	step(512, 4, 14);
	repeats(500, 4, 4.2, 13);	/* looks like the last size that fits */
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too noisy: at 512 "));
	step(512, 4, 14);
	repeats(500, 5, 8, 11);		/* looks like neither */
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too noisy: at 512 "));
	step(512, 4, 14);
	repeats(360, 4, 4.1, 13);	/* the point below: the next one may be disturbed in all repeats */
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too noisy: at 362 "));
	step(512, 4, 14);
	repeats(500, 4, 4.2, 9);	/* noisy, but certainly on the lower level */
	repeats(700, 7, 14, 30);	/* and this one certainly is not */
	assert_int_equal(knee(&k, 0, NULL), 0);
	assert_true(k.fits > 500 && k.fits <= 512);
}

static void test_one_fast_repeat_beyond_the_knee_is_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	for (double at = 700; at < 20000; at *= 2) {
		step(512, 4, 14);
		repeats(at, 4, 14, 14.5);
		assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
		assert_non_null(strstr(err.text, "too noisy"));
	}
}

static void test_a_curve_that_falls_at_its_knee_is_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	step(1024, 4, 14);
	repeats(500, 13, 14, 15);
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too noisy: 14.00 cycles at 512, but 4.00 at 1024"));
}

static void test_a_level_of_one_point_is_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	step(17, 4, 14);
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "one point alone, 16, is on the lower level"));
	step(23, 4, 14);
	assert_int_equal(knee(&k, 0, NULL), 0);
	step(x[N - 2], 4, 14);
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "on the upper level"));
	step(x[N - 3], 4, 14);
	assert_int_equal(knee(&k, 0, NULL), 0);
}

/* Under any load a knee is right or refused. A load puts so many of a hundred repeats on the next level; a point has
 * five repeats. */
static void test_a_knee_is_right_or_refused(void **state)
{
	(void)state;
	unsigned found[3] = { 0 };
	static const unsigned loads[] = { 2, 30, 60 };
	uint32_t seed = 1;
	for (unsigned l = 0; l < 3; l++)
		for (unsigned lap = 0; lap < 2000; lap++) {
			struct cal_knee k;
			struct err err = { 0, "" };
			step(512, 4, 14);
			for (int i = 0; i < N; i++) {
				double v[5];
				for (int g = 0; g < 5; g++) {
					seed = seed * 1103515245 + 12345;
					v[g] = y[i] + ((seed >> 16) % 100 < loads[l] ? 10 : 0);
					for (int j = g; j > 0 && v[j] < v[j - 1]; j--) {
						double swap = v[j];
						v[j] = v[j - 1];
						v[j - 1] = swap;
					}
				}
				least[i] = v[0];
				y[i] = v[2];
				most[i] = v[4];
			}
			if (knee(&k, 0, &err)) {
				assert_int_equal(err.code, ERR_UNSUPPORTED);
				continue;
			}
			assert_true(k.fits > 500 && k.fits <= 512 && k.fails > 512 && k.fails < 730);
			found[l]++;
		}
	/* a share of 0.98^10: none of the ten repeats of the two points at the knee may be disturbed */
	assert_true(found[0] > 1500);
}

static void test_of_two_steps_the_first_is_found_if_its_upper_level_is_told(void **state)
{
	(void)state;
	struct cal_knee k;
	step(512, 14, 50);
	for (int i = 0; i < N; i++)
		if (x[i] > 9000)
			y[i] = 400;
	repeats_agree();
	assert_int_equal(knee(&k, 50, NULL), 0);
	assert_true(k.fits > 500 && k.fits <= 512);
	assert_int_equal(knee(&k, 0, NULL), 0);
	assert_true(k.fits > 8000 && k.fits < 9300);
}

static void test_a_curve_that_does_not_rise_is_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	step(1e9, 4, 14);
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "does not rise"));
	noise(0.2, 7);
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
}

static void test_a_curve_that_rises_all_the_way_is_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	for (int i = 0; i < N; i++) {
		x[i] = 16 * pow(2, i / 2.);
		y[i] = 10 * (i + 1);
	}
	repeats_agree();
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "rises all the way"));
}

static void test_more_noise_than_rise_is_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	struct err err = { 0, "" };
	step(512, 4, 14);
	for (int i = 1; i < N; i += 2)
		y[i] = 14;
	y[9] = 4;
	repeats_agree();
	assert_int_equal(knee(&k, 0, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too noisy"));
}

static void test_few_points_and_no_points_are_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	double level;
	struct err err = { 0, "" };
	step(512, 4, 14);
	for (size_t n = 0; n < 4; n++)
		assert_int_equal(knee_of_many(&k, n, 0, &err), ERR_UNSUPPORTED);
	assert_int_equal(knee_of_many(&k, CAL_CURVE + 1, 0, &err), ERR_UNSUPPORTED);
	assert_int_equal(cal_fit_level(&level, x, y, 0, 0, 1e9, 0.2, &err), ERR_UNSUPPORTED);
	assert_int_equal(cal_fit_level(&level, x, y, N, 17, 18, 0.2, &err), ERR_UNSUPPORTED);
}

static void test_an_upper_level_that_is_never_reached_is_refused(void **state)
{
	(void)state;
	struct cal_knee k;
	step(512, 4, 14);
	assert_int_equal(knee(&k, 100, NULL), ERR_UNSUPPORTED);
}

static void test_a_level_is_the_median_of_its_points(void **state)
{
	(void)state;
	double level;
	step(512, 4, 14);
	assert_int_equal(cal_fit_level(&level, x, y, N, 0, 512, 0.2, NULL), 0);
	assert_true(fabs(level - 4) < 1e-9);
	y[3] = 40;	/* disturbed: the later points are nearer to the truth */
	assert_int_equal(cal_fit_level(&level, x, y, N, 0, 512, 0.2, NULL), 0);
	assert_true(fabs(level - 4) < 1e-9);
	assert_int_equal(cal_fit_level(&level, x, y, N, 0, 2048, 0.2, NULL), ERR_UNSUPPORTED);
}

/* Makes chases in a cache of 50 cycles, from which other programs push lines out within 2 ms; memory takes 450. The
 * lines are as old as the linking of the chain takes. */
static void chases(double shape)
{
	for (int i = 0; i < N; i++) {
		x[i] = 1048576 * pow(2, i / 4.);
		age[i] = x[i] / 64 * 15 / 4e6 + 0.2;
		y[i] = 450 - 400 * exp(-pow(age[i] / 2, shape));
	}
	repeats_agree();
}

static double left(double ms, double shape)
{
	return 100 * exp(-pow(ms / 2, shape));
}

static void test_what_others_push_out_is_told_from_the_lines_ages(void **state)
{
	(void)state;
	static const double shapes[] = { 1, 2, 5 };
	struct core_fall others;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		chases(shapes[i]);
		assert_int_equal(others_of(&others, 50, 450, NULL), 0);
		for (int k = 0; k < CHAINS; k++)
			assert_true(fabs(core_fall_per_cent(&others, age[k]) - left(age[k], shapes[i])) < 0.2);
		assert_true(core_fall_per_cent(&others, 2 * age[CHAINS - 1] + 0.001) == 0);
		noise(0.1, 3);
		assert_int_equal(others_of(&others, 50, 450, NULL), 0);
		for (uint32_t k = 1; k < others.points; k++)
			assert_true(others.at[k] > others.at[k - 1] && others.per_cent[k] <= others.per_cent[k - 1]);
		for (int k = 0; k < CHAINS; k++)
			assert_true(fabs(core_fall_per_cent(&others, age[k]) - left(age[k], shapes[i])) < 12);
	}
}

static void test_of_what_rises_with_the_age_the_mean_counts(void **state)
{
	(void)state;
	struct core_fall f;
	struct err err = { 0, "" };
	static const double at[] = { 4, 1, 2, 3, 0 }, share[] = { 0.1, 1.2, 0.5, 0.7, 0.3 }, up[] = { 1, 0, 0, 1, 0 };
	char text[CORE_FALL_TEXT];
	assert_int_equal(cal_fit_fall(&f, at, share, 5, 6, NULL), 0);	/* the last has no age */
	core_fall_print(&f, text);
	assert_string_equal(text, "1:100 2:60 3:60 4:10 6.0001:0");
	assert_int_equal(cal_fit_fall(&f, at, up, 5, 6, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "does not fall"));
	assert_int_equal(cal_fit_fall(&f, at, share, 2, 6, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too few"));
}

static void test_what_others_push_out_is_refused_without_points_that_agree(void **state)
{
	(void)state;
	struct core_fall others;
	struct err err = { 0, "" };
	chases(2);
	for (int i = 0; i < N; i++)	/* one repeat found all lines, one found none */
		if (y[i] > 70 && y[i] < 440) {
			least[i] = 60;
			most[i] = 450;
		}
	assert_int_equal(others_of(&others, 50, 450, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too noisy"));
	chases(2);
	memset(age, 0, sizeof age);	/* not known */
	assert_int_equal(others_of(&others, 50, 450, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "too few"));
}

static void test_a_capacity_is_the_base_or_the_roundest_number(void **state)
{
	(void)state;
	assert_int_equal(cal_round_between(500, 700, 640), 640);
	assert_int_equal(cal_round_between(500, 700, 1000), 512);
	assert_int_equal(cal_round_between(33, 35, 0), 34);
	assert_int_equal(cal_round_between(49, 49, 0), 49);
	assert_int_equal(cal_round_between(80, 70, 0), 80);
	assert_int_equal(cal_round_between(0, 0, 5), 0);
}

static void test_a_width_is_whole_or_not_seen(void **state)
{
	(void)state;
	assert_int_equal(cal_width(1), 1);
	assert_int_equal(cal_width(0.167), 6);
	assert_int_equal(cal_width(0.26), 4);
	assert_int_equal(cal_width(0.40), 0);	/* 2.5 a cycle */
	assert_int_equal(cal_width(0.71), 0);
	assert_int_equal(cal_width(1.3), 0);
	assert_int_equal(cal_width(0), 0);
	assert_int_equal(cal_width(-1), 0);
	assert_int_equal(cal_width(NAN), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_step_is_found_between_its_neighbours),
		cmocka_unit_test(test_noise_that_only_adds_moves_no_knee),
		cmocka_unit_test(test_single_disturbed_points_move_no_knee),
		cmocka_unit_test(test_repeats_on_both_levels_at_the_knee_are_refused),
		cmocka_unit_test(test_one_fast_repeat_beyond_the_knee_is_refused),
		cmocka_unit_test(test_a_curve_that_falls_at_its_knee_is_refused),
		cmocka_unit_test(test_a_level_of_one_point_is_refused),
		cmocka_unit_test(test_a_knee_is_right_or_refused),
		cmocka_unit_test(test_of_two_steps_the_first_is_found_if_its_upper_level_is_told),
		cmocka_unit_test(test_a_curve_that_does_not_rise_is_refused),
		cmocka_unit_test(test_a_curve_that_rises_all_the_way_is_refused),
		cmocka_unit_test(test_more_noise_than_rise_is_refused),
		cmocka_unit_test(test_few_points_and_no_points_are_refused),
		cmocka_unit_test(test_an_upper_level_that_is_never_reached_is_refused),
		cmocka_unit_test(test_a_level_is_the_median_of_its_points),
		cmocka_unit_test(test_what_others_push_out_is_told_from_the_lines_ages),
		cmocka_unit_test(test_of_what_rises_with_the_age_the_mean_counts),
		cmocka_unit_test(test_what_others_push_out_is_refused_without_points_that_agree),
		cmocka_unit_test(test_a_capacity_is_the_base_or_the_roundest_number),
		cmocka_unit_test(test_a_width_is_whole_or_not_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
