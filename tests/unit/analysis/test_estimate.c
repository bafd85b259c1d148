/* SPDX-License-Identifier: GPL-2.0-or-later
 * Totals from windows: on made-up programs whose totals are known, the interval holds as often as it says, and a count
 * that the sizes explain is exact.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "analysis/estimate.h"
#include <math.h>
#include <stdbool.h>

enum { STRETCHES = 400, PIECES = 25, INSTRUCTIONS = 4000 };

static double uniform(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return (double)(*s >> 11) / 9007199254740992.0;
}

/* A program of stretches, each of PIECES pieces of 4,000 instructions; one piece of each is a window.  Misses come in
 * phases; time follows the misses, and chance. */
enum { COUNTS = 9 };
struct program { double size[ESTIMATE_SIZES], count[COUNTS]; };

static void piece(uint64_t *s, unsigned stretch, struct program *p)
{
	const double many = stretch / 100 % 2 ? 40 : 5, misses = floor(many * (0.5 + uniform(s)));
	p->size[0] = INSTRUCTIONS;
	p->size[1] = floor(10 * uniform(s));
	p->size[2] = misses;
	p->size[3] = p->size[4] = p->size[5] = 0;
	p->count[0] = 1000 + 30 * misses + 20 * p->size[1] + 400 * uniform(s);	/* cycles */
	p->count[1] = 3 * misses + p->size[1];					/* what the sizes say exactly */
	p->count[2] = uniform(s) < 0.004;					/* seen by few windows */
	p->count[3] = p->size[1];						/* the mispredicted branches */
	p->count[4] = misses;							/* another size */
	p->count[5] = uniform(s) < 0.0001;					/* seen by no window, most often */
	p->count[6] = floor(10 / pow(uniform(s), 0.45));			/* a few windows have much of it */
	p->count[7] = floor(p->count[0] / 3);					/* time: ns at 3 GHz, whole ones */
	p->count[8] = 6 * p->count[0];						/* slots */
}

/* told: which count is the time. */
struct outcome { double value[COUNTS], half[COUNTS], total[COUNTS]; };

/* elsewhere: counts of a million instructions; NULL: none. */
static void run_told(uint64_t seed, const double *elsewhere, bool told, struct outcome *o)
{
	struct estimate *e;
	double total[ESTIMATE_SIZES] = { 0 };
	uint64_t s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	*o = (struct outcome){ 0 };
	assert_int_equal(estimate_create(&e, COUNTS, NULL), 0);
	for (unsigned i = 0; i < STRETCHES; i++) {
		const unsigned window = (unsigned)(uniform(&s) * PIECES);
		for (unsigned k = 0; k < PIECES; k++) {
			struct program p;
			piece(&s, i, &p);
			for (unsigned j = 0; j < ESTIMATE_SIZES; j++)
				total[j] += p.size[j];
			for (unsigned j = 0; j < COUNTS; j++)
				o->total[j] += p.count[j];
			if (k == window)
				assert_int_equal(estimate_add(e, p.size, PIECES * INSTRUCTIONS, p.count, NULL), 0);
		}
	}
	assert_int_equal(estimate_windows(e), STRETCHES);
	estimate_fit(e, total);
	if (told)
		estimate_clock(e, 7, 8);
	if (elsewhere)
		assert_int_equal(estimate_elsewhere(e, 1e6, elsewhere, NULL), 0);
	for (unsigned j = 0; j < COUNTS; j++)
		o->value[j] = estimate_total(e, j, &o->half[j]);
	estimate_destroy(e);
}

static void run(uint64_t seed, const double *elsewhere, struct outcome *o)
{
	run_told(seed, elsewhere, false, o);
}

/* 371 of the 400 hold; without the longer side of such a count it is 355. */
static void test_the_interval_of_a_lopsided_count_holds_more_often(void **state)
{
	unsigned held = 0;
	(void)state;
	for (unsigned n = 0; n < 400; n++) {
		struct outcome o;
		run(n, NULL, &o);
		held += fabs(o.value[6] - o.total[6]) <= o.half[6];
	}
	assert_in_range(held, 365, 400);
}

static void test_only_time_has_the_small_allowance_for_bias(void **state)
{
	struct outcome before, o;
	(void)state;
	run_told(7, NULL, false, &before);
	run_told(7, NULL, true, &o);
	for (unsigned j = 0; j < COUNTS; j++) {
		const bool time = j == 0 || j == 7 || j == 8;
		const double chance = before.half[j] * before.half[j] - 0.005 * 0.005 * o.value[j] * o.value[j],
			     allowance = time ? 0.005 : 0.025, half = hypot(sqrt(chance > 0 ? chance : 0),
				     allowance * o.value[j]);
		assert_true(j == 3   ? o.half[j] == 0
			    : j == 5 ? isnan(o.half[j])
				     : fabs(o.half[j] - half) <= 1e-6 * half);
	}
}

static void test_the_interval_holds_as_often_as_it_says(void **state)
{
	unsigned held = 0;
	double bias = 0;
	(void)state;
	for (unsigned n = 0; n < 400; n++) {
		struct outcome o;
		run(n, NULL, &o);
		held += fabs(o.value[0] - o.total[0]) <= o.half[0];
		bias += (o.value[0] - o.total[0]) / o.total[0];
	}
	assert_in_range(held, 368, 396);	/* 95 % of 400, within three standard deviations */
	assert_true(fabs(bias / 400) < 0.001);
}

static void test_what_the_sizes_explain_is_exact(void **state)
{
	struct outcome o;
	(void)state;
	run(7, NULL, &o);
	assert_true(fabs(o.value[1] - o.total[1]) < 1e-6 * o.total[1]);
	assert_true(fabs(o.half[1] - 0.005 * o.value[1]) < 1e-6 * o.total[1]);	/* the allowance for bias */
}

static void test_mispredicts_have_no_error_and_misses_have(void **state)
{
	struct outcome o;
	(void)state;
	run(7, NULL, &o);
	for (unsigned j = 3; j <= 4; j++)
		assert_true(fabs(o.value[j] - o.total[j]) < 1e-6 * o.total[j]);
	assert_true(o.half[3] == 0);
	assert_true(fabs(o.half[4] - 0.005 * o.value[4]) < 1e-6 * o.total[4]);
}

/* It may be wider than 95 % asks for, never narrower. */
static void test_the_interval_of_what_few_windows_saw_holds(void **state)
{
	unsigned held = 0, known = 0;
	(void)state;
	for (unsigned n = 0; n < 400; n++) {
		struct outcome o;
		run(n, NULL, &o);
		assert_true(o.value[2] < ESTIMATE_SAW * PIECES);
		assert_int_equal(isnan(o.half[2]), o.value[2] == 0);	/* nothing tells how many come together */
		known += !isnan(o.half[2]);
		held += fabs(o.value[2] - o.total[2]) <= o.half[2];
	}
	assert_true(known > 200 && held >= known - known / 20);
}

static void test_what_no_window_saw_has_the_size_that_it_has_elsewhere(void **state)
{
	const double elsewhere[COUNTS] = { 0, 0, 0, 0, 0, 250 };	/* one in 4,000 instructions */
	unsigned none = 0;
	(void)state;
	for (unsigned n = 0; n < 40; n++) {
		struct outcome without, o;
		run(n, NULL, &without);
		run(n, elsewhere, &o);
		assert_true(o.value[5] == without.value[5]);
		if (o.value[5] == 0) {
			none++;
			assert_true(isnan(without.half[5]));
			assert_true(fabs(o.half[5] - 3.689 * PIECES) < 1);
		}
	}
	assert_true(none > 20);
}

static void test_few_windows_give_a_ratio_and_no_interval(void **state)
{
	struct estimate *e;
	double half;
	const double total[ESTIMATE_SIZES] = { 1e6 }, count = 500;
	(void)state;
	assert_int_equal(estimate_create(&e, 1, NULL), 0);
	estimate_fit(e, total);
	assert_true(estimate_total(e, 0, &half) == 0 && isnan(half));
	for (unsigned i = 0; i < ESTIMATE_LEAST - 1; i++)
		assert_int_equal(estimate_add(e, (double[ESTIMATE_SIZES]){ 1000, i }, 10000, &count, NULL), 0);
	estimate_fit(e, total);
	assert_true(fabs(estimate_total(e, 0, &half) - 5e5) < 1 && isnan(half));
	estimate_destroy(e);
}

/* The fit explains that window by its misses, which are nearly all that there are, so its residual is near 0. */
static void test_a_window_that_alone_makes_the_fit_does_not_explain_itself(void **state)
{
	struct estimate *e;
	double half, total[ESTIMATE_SIZES] = { 200 * 4e5, 0, 200 * 100 + 1e5, 0, 0, 0, 0, 200 * 4e5 };
	uint64_t s = 1;
	(void)state;
	assert_int_equal(estimate_create(&e, 1, NULL), 0);
	for (unsigned i = 0; i < 200; i++) {
		const double misses = i == 77 ? 1000 : floor(3 * uniform(&s)),
			     count = i == 77 ? 600 : floor(2 * uniform(&s));
		assert_int_equal(estimate_add(e, (double[ESTIMATE_SIZES]){ 4000, 0, misses, 0, 0, 0, 0, 4000 }, 4e5,
			&count, NULL), 0);
	}
	estimate_fit(e, total);
	const double value = estimate_total(e, 0, &half);
	assert_true(value > 5e4 && half > value);
	estimate_destroy(e);
}

/* 400 windows that stand for 100 times themselves each.  `bursts` of them have 1,000 misses, which cost `cost` cycles
 * each; in the whole run there are `times` as many misses as the windows show.  Returns the estimated cycles. */
static double cycles_with_bursts(unsigned bursts, double cost, double times)
{
	struct estimate *e;
	double half, total[ESTIMATE_SIZES] = { 400 * 4e5, 0, times * bursts * 1e5, 0, 0, 0, 0, 400 * 4e5 };
	uint64_t s = 1;
	assert_int_equal(estimate_create(&e, 1, NULL), 0);
	estimate_clock(e, 0, 1);
	for (unsigned i = 0; i < 400; i++) {
		const double misses = i % 60 == 7 && i / 60 < bursts ? 1000 : 0,
			     cycles = 2000 + floor(200 * uniform(&s)) + cost * misses;
		assert_int_equal(estimate_add(e, (double[ESTIMATE_SIZES]){ 4000, 0, misses, 0, 0, 0, 0, 4000 }, 4e5,
			&cycles, NULL), 0);
	}
	estimate_fit(e, total);
	const double value = estimate_total(e, 0, &half);
	estimate_destroy(e);
	return value;
}

static void test_misses_that_few_windows_have_must_explain_the_time(void **state)
{
	const double others = 400 * 100 * 2100;
	(void)state;
	/* one window with misses, which took longer by chance, says nothing of the twenty others that there must be */
	assert_true(fabs(cycles_with_bursts(1, 0.5, 20) / others - 1) < 0.02);
	/* six windows that agree do: half of the bursts were missed */
	const double bursts = 2 * 6 * 1e5 * 20;
	assert_true(fabs(cycles_with_bursts(6, 20, 2) / (others + bursts) - 1) < 0.02);
}

/* Six of 400 windows have misses, of which the run has twice as many as they show.  They take more time or less by
 * chance; one event goes with them exactly. */
static void test_misses_that_do_not_explain_the_time_may_explain_another_count(void **state)
{
	struct estimate *e;
	double half, total[ESTIMATE_SIZES] = { 400 * 4e5, 0, 2 * 6 * 1e5, 0, 0, 0, 0, 400 * 4e5 };
	(void)state;
	assert_int_equal(estimate_create(&e, 3, NULL), 0);
	estimate_clock(e, 1, 2);
	for (unsigned i = 0; i < 400; i++) {
		const double misses = i % 60 == 7 && i / 60 < 6 ? 1000 : 0,
			     time = 2000 + (misses > 0 ? i / 60 % 2 ? 900 : -900 : 0);
		assert_int_equal(estimate_add(e, (double[ESTIMATE_SIZES]){ 4000, 0, misses, 0, 0, 0, 0, 4000 }, 4e5,
			(double[]){ 3 * misses, time, 3 * misses }, NULL), 0);
	}
	estimate_fit(e, total);
	assert_true(fabs(estimate_total(e, 0, &half) / (3 * total[2]) - 1) < 0.001);
	assert_true(fabs(estimate_total(e, 1, &half) / (400 * 100 * 2000) - 1) < 0.001);
	/* behind the time, counts are parts of a whole, and keep its fit */
	assert_true(fabs(estimate_total(e, 2, &half) / (3 * total[2] / 2) - 1) < 0.001);
	estimate_destroy(e);
}

/* A window within a REP instruction completes none. */
static void test_instructions_are_exact_beside_steps(void **state)
{
	struct estimate *e;
	double half, total[ESTIMATE_SIZES] = { 200 * 4e4, 0, 0, 0, 0, 0, 0, 123456 };
	(void)state;
	assert_int_equal(estimate_create(&e, 1, NULL), 0);
	for (unsigned i = 0; i < 200; i++) {
		const double instructions = i % 3 ? 4000 : 0;
		assert_int_equal(estimate_add(e, (double[ESTIMATE_SIZES]){ 4000, 0, 0, 0, 0, 0, 0, instructions }, 4e4,
			&instructions, NULL), 0);
	}
	estimate_fit(e, total);
	assert_true(estimate_total(e, 0, &half) == 123456 && half == 0);
	estimate_destroy(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_interval_of_a_lopsided_count_holds_more_often),
		cmocka_unit_test(test_only_time_has_the_small_allowance_for_bias),
		cmocka_unit_test(test_the_interval_holds_as_often_as_it_says),
		cmocka_unit_test(test_what_the_sizes_explain_is_exact),
		cmocka_unit_test(test_mispredicts_have_no_error_and_misses_have),
		cmocka_unit_test(test_the_interval_of_what_few_windows_saw_holds),
		cmocka_unit_test(test_what_no_window_saw_has_the_size_that_it_has_elsewhere),
		cmocka_unit_test(test_a_window_that_alone_makes_the_fit_does_not_explain_itself),
		cmocka_unit_test(test_misses_that_few_windows_have_must_explain_the_time),
		cmocka_unit_test(test_misses_that_do_not_explain_the_time_may_explain_another_count),
		cmocka_unit_test(test_instructions_are_exact_beside_steps),
		cmocka_unit_test(test_few_windows_give_a_ratio_and_no_interval),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
