/* SPDX-License-Identifier: GPL-2.0-or-later
 * The search for settings (analysis/tune/tune_model.h), on machines that are formulas. It finds what an exhaustive
 * search finds, in a fraction of the runs, and independent of the order of the measurements. It never runs a setting
 * that cannot gain, and never chooses one that is too slow. */
#include "analysis/tune/tune_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { FEATURES = 7 };
static const struct tune_feature feature[FEATURES] = {
	{ "a", { "on", "off" }, 2, false, 1, 1 }, { "b", { "on", "off" }, 2, false, 1, 1 }, { "c", { "on", "off" }, 2,
	false, 1, 1 },
	{ "size", { "full", "1/2", "1/4", "1/8" }, 4, true, 0, 1 }, { "table", { "full", "1/2", "1/4" }, 3, true, 0,
	1 },
	{ "policy", { "x", "y", "z" }, 3, false, 0, 1 }, { "hopeless", { "on", "off" }, 2, false, 0, 0.001 },
};

/* What each level changes in cycles and energy, and the pairs of features that together do more or less. */
struct machine {
	double cycles[FEATURES][4], energy[FEATURES][4];
	struct { unsigned a, b; double cycles; } both[3];
	bool backwards;		/* measures the last one first */
	size_t runs;
	bool hopeless_ran;
};

static int measure(void *context, struct tune_try *tries, size_t n, struct err *err)
{
	struct machine *m = context;
	(void)err;
	for (size_t k = 0; k < n; k++) {
		struct tune_try *r = &tries[m->backwards ? n - 1 - k : k];
		r->cycles = 1e6;
		r->energy = 1e6;
		for (unsigned i = 0; i < FEATURES; i++) {
			r->cycles *= 1 + m->cycles[i][r->set.level[i]];
			r->energy *= 1 + m->energy[i][r->set.level[i]];
		}
		for (unsigned i = 0; i < 3; i++)
			if (m->both[i].a != m->both[i].b && r->set.level[m->both[i].a] && r->set.level[m->both[i].b])
				r->cycles *= 1 + m->both[i].cycles;
		m->runs++;
		m->hopeless_ran |= r->set.level[FEATURES - 1];
	}
	return 0;
}

static struct tune *searched(struct machine *m, const struct tune_goal *goal, bool exhaustive)
{
	struct tune *t;
	const struct tune_try preset = { .cycles = 1e6, .energy = 1e6 };
	struct err err = { 0 };
	assert_int_equal(tune_create(&t, feature, FEATURES, goal, &preset, measure, m, &err), 0);
	assert_int_equal(exhaustive ? tune_exhaustive(t, 1e6, &err) : tune_search(t, &err), 0);
	return t;
}

static const struct machine hurts = {	/* a prefetcher hurts, the others help */
	.cycles = { [0] = { 0, -0.12 }, [1] = { 0, 0.03 }, [2] = { 0, 0.001 }, [3] = { 0, 0.01, 0.05, 0.2 },
	[4] = { 0, 0, 0.002 }, [5] = { 0, 0.01, -0.002 } },
	.energy = { [0] = { 0, -0.05 }, [1] = { 0, 0.01 }, [2] = { 0, -0.001 }, [3] = { 0, -0.03, -0.02, 0.1 },
	[4] = { 0, -0.012, -0.018 }, [5] = { 0, 0, 0 } },
};
static const struct machine overlap = {	/* two features gain the same; a third undoes the gain of one */
	.cycles = { [0] = { 0, -0.10 }, [1] = { 0, -0.09 }, [3] = { 0, 0.1, 0.2, 0.3 }, [5] = { 0, -0.06, -0.07 } },
	.both = { { 0, 1, 0.11 }, { 0, 5, 0.2 } },
};
/* each prefetcher does what the others do, so there is a gain only without all of them */
static const struct machine hidden = {
	.cycles = { [0] = { 0, 0.001 }, [1] = { 0, 0 }, [2] = { 0, -0.001 }, [3] = { 0, 0.02, 0.03, 0.2 } },
	.both = { { 0, 1, -0.15 } },
};
static const struct machine small = {	/* sizes that save energy and cost some time */
	.cycles = { [3] = { 0, 0.001, 0.004, 0.03 }, [4] = { 0, 0.0005, 0.02 }, [0] = { 0, 0.02 }, [1] = { 0, 0.05 },
	[2] = { 0, 0.002 } },
	.energy = { [3] = { 0, -0.04, -0.06, -0.07 }, [4] = { 0, -0.02, -0.03 }, [0] = { 0, 0.01 }, [1] = { 0, 0.02 },
	[2] = { 0, -0.001 } },
};
/* one feature is faster but takes more energy; those that only take less energy are too slow by themselves */
static const struct machine quick = {
	.cycles = { [0] = { 0, -0.04 }, [1] = { 0, 0.05 }, [2] = { 0, 0.01 }, [3] = { 0, 0.001, 0.004, 0.03 },
	[4] = { 0, 0.0005, 0.02 } },
	.energy = { [0] = { 0, 0.01 }, [3] = { 0, -0.04, -0.06, -0.07 }, [4] = { 0, -0.02, -0.03 }, [1] = { 0, 0.02 },
	[2] = { 0, 0.001 } },
};
static const struct { const char *name; const struct machine *m; struct tune_goal goal; const char *choice; } task[] = {
	{ "hurts", &hurts, { TUNE_CYCLES, 0, 0.005 }, "a=off" },
	{ "hurts", &hurts, { TUNE_ENERGY, 0, 0.005 }, "a=off,size=1/2,table=1/4" },
	{ "overlap", &overlap, { TUNE_CYCLES, 0, 0.005 }, "b=off,policy=z" },
	{ "hidden", &hidden, { TUNE_CYCLES, 0, 0.005 }, "a=off,b=off" },
	{ "small", &small, { TUNE_CYCLES, 0, 0.005 }, "" },
	{ "small", &small, { TUNE_ENERGY, 0, 0.005 }, "size=1/8,table=1/4" },
	{ "small", &small, { TUNE_ENERGY_WITHIN, 0.01, 0.005 }, "size=1/4,table=1/2" },
	{ "small", &small, { TUNE_EDP, 0, 0.005 }, "size=1/4,table=1/2" },
	{ "quick", &quick, { TUNE_ENERGY_WITHIN, 0.01, 0.005 }, "a=off,size=1/4,table=1/2" },
	{ "quick", &quick, { TUNE_ENERGY, 0, 0.005 }, "size=1/8,table=1/4" },
};

static void test_the_search_chooses_what_trying_everything_chooses_in_a_fifth_of_the_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof task / sizeof *task; i++) {
		struct machine once = *task[i].m, all = *task[i].m;
		struct tune *t = searched(&once, &task[i].goal, false), *e = searched(&all, &task[i].goal, true);
		char *found = tune_text(feature, FEATURES, &tune_choice(t)->set), *best = tune_text(feature, FEATURES,
			&tune_choice(e)->set);
		assert_string_equal(best, task[i].choice);
		assert_string_equal(found, task[i].choice);
		assert_int_equal(all.runs + 1, 2 * 2 * 2 * 4 * 3 * 3 * 2);
		assert_true((once.runs + 1) * 5 <= all.runs + 1);
		assert_false(once.hopeless_ran);
		free(found);
		free(best);
		tune_destroy(t);
		tune_destroy(e);
	}
}

static void test_the_order_of_measurements_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof task / sizeof *task; i++) {
		struct machine one = *task[i].m, other = *task[i].m;
		size_t n, m;
		other.backwards = true;
		struct tune *a = searched(&one, &task[i].goal, false), *b = searched(&other, &task[i].goal, false);
		const struct tune_try *x = tune_tries(a, &n), *y = tune_tries(b, &m);
		assert_int_equal(n, m);
		for (size_t k = 0; k < n; k++)
			assert_memory_equal(x[k].set.level, y[k].set.level, FEATURES);
		tune_destroy(a);
		tune_destroy(b);
	}
}

static void test_what_is_too_slow_is_never_chosen(void **state)
{
	(void)state;
	const struct tune_goal goal = { TUNE_ENERGY_WITHIN, 0.01, 0.005 };
	struct machine m = small;
	struct tune *t = searched(&m, &goal, true);
	assert_true(tune_choice(t)->cycles <= 1.01e6);
	tune_destroy(t);
}

/* An interaction is what two features gain beyond the product of their gains. */
static void test_interactions_are_those_of_the_machine(void **state)
{
	(void)state;
	const struct tune_goal goal = { TUNE_CYCLES, 0, 0.005 };
	struct machine m = overlap;
	struct tune *t = searched(&m, &goal, false);
	size_t n;
	const struct tune_pair *p = tune_pairs(t, &n);
	unsigned seen = 0;
	for (size_t i = 0; i < n; i++)
		if (p[i].a == 0 && p[i].b == 1) {
			const double want = 0.90 * 0.91 - 0.90 * 0.91 * 1.11;
			assert_true(p[i].interaction > want - 1e-9 && p[i].interaction < want + 1e-9);
			seen++;
		}
	assert_int_equal(seen, 1);
	tune_destroy(t);
}

static void test_a_space_that_is_too_large_is_refused_with_its_size(void **state)
{
	(void)state;
	struct machine m = hurts;
	struct tune *t;
	const struct tune_goal goal = { TUNE_CYCLES, 0, 0.005 };
	const struct tune_try preset = { .cycles = 1e6, .energy = 1e6 };
	struct err err = { 0 };
	assert_int_equal(tune_create(&t, feature, FEATURES, &goal, &preset, measure, &m, &err), 0);
	assert_int_equal(tune_exhaustive(t, 575, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "576"));
	assert_int_equal(m.runs, 0);
	tune_destroy(t);
}

static int fails(void *context, struct tune_try *tries, size_t n, struct err *err)
{
	(void)context, (void)tries, (void)n;
	return err_set(err, ERR_SYSTEM, "interrupted");
}

static void test_a_measurement_that_fails_ends_the_search(void **state)
{
	(void)state;
	struct tune *t;
	const struct tune_goal goal = { TUNE_CYCLES, 0, 0.005 };
	const struct tune_try preset = { .cycles = 1e6, .energy = 1e6 };
	struct err err = { 0 };
	assert_int_equal(tune_create(&t, feature, FEATURES, &goal, &preset, fails, NULL, &err), 0);
	assert_int_equal(tune_search(t, &err), ERR_SYSTEM);
	tune_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_search_chooses_what_trying_everything_chooses_in_a_fifth_of_the_runs),
		cmocka_unit_test(test_the_order_of_measurements_changes_nothing),
		cmocka_unit_test(test_what_is_too_slow_is_never_chosen),
		cmocka_unit_test(test_interactions_are_those_of_the_machine),
		cmocka_unit_test(test_a_space_that_is_too_large_is_refused_with_its_size),
		cmocka_unit_test(test_a_measurement_that_fails_ends_the_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
