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
struct program { double size[ESTIMATE_SIZES], count[4]; };

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
	p->count[3] = misses;							/* one of the sizes */
}

struct outcome { double value[4], half[4], total[4]; };

static void run(uint64_t seed, struct outcome *o)
{
	struct estimate *e;
	double total[ESTIMATE_SIZES] = { 0 };
	uint64_t s = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	*o = (struct outcome){ 0 };
	assert_int_equal(estimate_create(&e, 4, NULL), 0);
	for (unsigned i = 0; i < STRETCHES; i++) {
		const unsigned window = (unsigned)(uniform(&s) * PIECES);
		for (unsigned k = 0; k < PIECES; k++) {
			struct program p;
			piece(&s, i, &p);
			for (unsigned j = 0; j < ESTIMATE_SIZES; j++)
				total[j] += p.size[j];
			for (unsigned j = 0; j < 4; j++)
				o->total[j] += p.count[j];
			if (k == window)
				assert_int_equal(estimate_add(e, p.size, PIECES * INSTRUCTIONS, p.count, NULL), 0);
		}
	}
	assert_int_equal(estimate_windows(e), STRETCHES);
	estimate_fit(e, total);
	for (unsigned j = 0; j < 4; j++)
		o->value[j] = estimate_total(e, j, &o->half[j]);
	estimate_destroy(e);
}

static void test_the_interval_holds_as_often_as_it_says(void **state)
{
	unsigned held = 0;
	double bias = 0;
	(void)state;
	for (unsigned n = 0; n < 400; n++) {
		struct outcome o;
		run(n, &o);
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
	run(7, &o);
	assert_true(fabs(o.value[1] - o.total[1]) < 1e-6 * o.total[1]);
	assert_true(fabs(o.half[1] - 0.005 * o.value[1]) < 1e-6 * o.total[1]);	/* the allowance for bias */
}

static void test_a_count_that_is_a_size_has_no_error(void **state)
{
	struct outcome o;
	(void)state;
	run(7, &o);
	assert_true(fabs(o.value[3] - o.total[3]) < 1e-6 * o.total[3]);
	assert_true(o.half[3] == 0);
}

static void test_what_few_windows_saw_has_no_interval(void **state)
{
	struct outcome o;
	(void)state;
	run(7, &o);
	assert_true(isnan(o.half[2]));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_interval_holds_as_often_as_it_says),
		cmocka_unit_test(test_what_the_sizes_explain_is_exact),
		cmocka_unit_test(test_a_count_that_is_a_size_has_no_error),
		cmocka_unit_test(test_what_few_windows_saw_has_no_interval),
		cmocka_unit_test(test_few_windows_give_a_ratio_and_no_interval),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
