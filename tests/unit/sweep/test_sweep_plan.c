/* SPDX-License-Identifier: GPL-2.0-or-later
 * Plans of sweeps: what they say, every way in which a line can be wrong, and the machines that they make. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "sweep/machines.h"
#include "data_dir.h"

static struct plan plan;
static struct err err;

static int parse(const char *text)
{
	plan_free(&plan);
	err = (struct err){ 0 };
	return plan_parse(&plan, text, strlen(text), "p", &err);
}

static void test_a_plan_is_read(void **state)
{
	(void)state;
	assert_int_equal(parse("# comment\n\nprogram a prog -x 'two words' # behind\nstream b b.trace\ncore skylake "
			       "core2\n"
			       "set l2.size 256K..1M*2 3M\nset rob.size 64..192+64\nfeature tage.size full "
			       "1/2\nmachine m core2 set l2.size 1M "
			       "feature tage.size off\nevents branch-misses\nenv A=b\nobjective edp\nsample "
			       "1M,10k,20k\neliminate 99% 5\n"
			       "memory 2G\ntime 100\n"),
		0);
	assert_int_equal(plan.programs, 2);
	assert_string_equal(plan.program[0].argv[2], "two words");
	assert_null(plan.program[0].argv[3]);
	assert_string_equal(plan.program[1].stream, "b.trace");
	assert_int_equal(plan.cores, 2);
	assert_int_equal(plan.factors, 3);
	assert_int_equal(plan.factor[0].levels, 4);
	assert_string_equal(plan.factor[0].level[0], "256K");
	assert_string_equal(plan.factor[0].level[2], "1M");
	assert_string_equal(plan.factor[0].level[3], "3M");
	assert_string_equal(plan.factor[1].level[2], "192");
	assert_true(plan.factor[2].feature);
	assert_int_equal(plan.machines, 1);
	assert_int_equal(plan.machine[0].settings, 2);
	assert_true(plan.machine[0].setting[1].feature);
	assert_true(plan.energy);	/* edp needs it */
	assert_string_equal(plan.sample, "1M,10k,20k");
	assert_true(plan.confidence == 0.99 && plan.first == 5);
	assert_true(plan.memory == UINT64_C(2) << 30 && plan.seconds == 100);
}

static void test_elimination_by_points(void **state)
{
	(void)state;
	assert_int_equal(parse("stream b b.trace\ncore skylake\nlive-points\neliminate points 99\n"), 0);
	assert_true(plan.by_points && plan.live_points && plan.confidence == 0.99);
	assert_int_equal(parse("stream b b.trace\ncore skylake\neliminate points\n"), 0);
	assert_true(plan.by_points && !plan.live_points && plan.confidence == 0.95);
}

static void test_each_error_is_one_line_with_its_number(void **state)
{
	static const struct { const char *line, *says;
	} wrong[] = {
		{ "prgram a b", "nearest: program" },
		{ "xyzzy", "no keyword" },
		{ "program a", "needs a name and a program" },
		{ "stream a b c", "needs a name and a file" },
		{ "program 'a b' c", "has a blank" },
		{ "program a,b c", "a comma" },
		{ "program '' c", "1 to 64" },
		{ "program ok x", "already" },
		{ "program n ''", "empty program" },
		{ "program \"n x", "quotation" },
		{ "core", "names of cores" },
		{ "core a a", "twice" },
		{ "core ''", "names of cores" },
		{ "set l2.size", "needs a name and levels" },
		{ "set l2.size=1M", "needs a name" },
		{ "set l2.size=1M 2M", "without =" },
		{ "set f 1 1", "twice" },
		{ "set f ''", "empty level" },
		{ "set f 1..2", "needs a step" },
		{ "set f 2..1+1", "does not end" },
		{ "set f 1..2+0", "does not end" },
		{ "set f 1..2*1", "does not end" },
		{ "set f 0..2*2", "does not end" },
		{ "set f a..b*2", "not a range" },
		{ "set f 1..*2", "not a range" },
		{ "set f ..", "not a range" },
		{ "set f 1..1000+1", "more than 256" },
		{ "set f 1e3..2e3*2", "not a range" },
		{ "set f 1..2+1e-9", "not a range" },
		{ "set g 1", "line 3 already" },
		{ "draw", "needs 'set'" },
		{ "draw 1 1", "from 2" },
		{ "draw 10", "a seed" },
		{ "draw 10 x", "a seed" },
		{ "draw set f", "a name and levels" },
		{ "draw set f 1..1", "one number" },
		{ "draw set f 1..2 3", "alone" },
		{ "draw set f 3 1..2", "alone" },
		{ "machine m", "a name and a core" },
		{ "machine m c set x", "behind the core" },
		{ "machine m c put x y", "behind the core" },
		{ "machine m c set '' y", "behind the core" },
		{ "events", "one word" },
		{ "events a b", "one word" },
		{ "energy 1", "no more words" },
		{ "objective", "one word" },
		{ "detail 3", "no more words" },
		{ "sample x", "auto or N,U,W" },
		{ "sample 1 2", "one word" },
		{ "eliminate x", "a confidence" },
		{ "eliminate 100", "a confidence" },
		{ "eliminate 95 2", "from 3 on" },
		{ "eliminate 95 3 1", "a confidence" },
		{ "eliminate points 95 4", "a confidence" },
		{ "eliminate points x", "a confidence" },
		{ "live-points 3", "no more words" },
		{ "memory x", "a size" },
		{ "memory 1K", "a size" },
		{ "time 0", "seconds" },
		{ "time -1", "seconds" },
		{ "env", "one word" },
		{ "time 1.5", "seconds" },
		{ "time 99999999999999999999", "seconds" },
	};
	char text[256];
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(text, sizeof text, "program ok x\ncore skylake\nset g 1 2\n%s\n", wrong[i].line);
		if (parse(text) != ERR_INPUT || strncmp(err.text, "p, line 4: ", 11) ||
			!strstr(err.text, wrong[i].says) || strchr(err.text, '\n'))
			fail_msg("'%s' gives: %s", wrong[i].line, err.text);
	}
}

static void test_lines_that_are_wrong_together(void **state)
{
	(void)state;
	assert_int_equal(parse(""), ERR_INPUT);
	assert_non_null(strstr(err.text, "names no program"));
	assert_int_equal(parse("program a b\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, "names no core"));
	assert_int_equal(parse("program a b\nset x 1\nmachine m c\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, "line 2"));
	assert_int_equal(parse("program a b\ncore c\ndraw set x 1..2\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, "no line 'draw COUNT SEED'"));
	assert_int_equal(parse("program a b\ncore c\ndraw 5 1\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, "draws no field"));
	assert_int_equal(parse("program a b\ncore c\ndetail\nsample\n"), ERR_INPUT);
	assert_int_equal(parse("program a b\ncore c\nobjective x\nobjective y\n"), ERR_INPUT);
	assert_int_equal(parse("program a b\ncore c\ndraw 5 1\ndraw 6 1\ndraw set x 1 2\n"), ERR_INPUT);
	assert_int_equal(parse("program a b\ncore c\nmachine m c\nmachine m c\n"), ERR_INPUT);
}

static void test_bytes_that_no_line_has(void **state)
{
	(void)state;
	static char text[PLAN_LINE + 100];
	plan_free(&plan);
	assert_int_equal(plan_parse(&plan, "core a\0b\n", 9, "p", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "line 1: the line is too long, or holds a NUL"));
	memset(text, 'x', sizeof text);
	plan_free(&plan);
	assert_int_equal(plan_parse(&plan, text, sizeof text, "p", &err), ERR_INPUT);
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 2 ? ' ' : 'x';
	plan_free(&plan);
	assert_int_equal(plan_parse(&plan, text, PLAN_LINE - 1, "p", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "more than"));
}

static int machines(struct sweep_machines *m, const char *text)
{
	assert_int_equal(parse(text), 0);
	return sweep_machines_make(m, &plan, data_dir(), &err);
}

static void test_machines_are_all_combinations(void **state)
{
	struct sweep_machines m;
	(void)state;
	assert_int_equal(
		machines(&m, "program a b\ncore skylake core2\nset l1d.size 32K 64K\nfeature tage.size full\n"),
		ERR_UNSUPPORTED); /* Core 2 has no TAGE */
	assert_non_null(strstr(err.text, "machine 'core2 l1d.size=32K tage.size=full'"));
	sweep_machines_free(&m);
	assert_int_equal(machines(&m, "program a b\ncore skylake core2\nset l1d.size 32K 64K\nmachine big skylake set "
		"l2.size 4M\nmachine same skylake set l1d.size 64K\n"), 0);
	assert_int_equal(m.machines, 5);	/* `same` is there already */
	assert_string_equal(m.machine[0].name, "skylake l1d.size=32K");
	assert_string_equal(m.machine[3].name, "core2 l1d.size=64K");
	assert_string_equal(m.machine[4].name, "big");
	assert_int_equal(m.machine[4].core_level, -1);
	assert_true(m.machine[1].level[0] == 1 && m.machine[4].level[0] == -1);
	sweep_machines_free(&m);
	assert_int_equal(machines(&m, "program a b\ncore skylake\nset l2.size 1\n"), ERR_INPUT);
	sweep_machines_free(&m);
	assert_int_equal(machines(&m, "program a b\nmachine x nosuch\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, "line 2"));
	sweep_machines_free(&m);
}

/* A range in 12 parts, and a list of 3: each part once, each level 4 times; another seed gives others. */
static void test_a_hypercube_has_every_part_once(void **state)
{
	struct sweep_machines m, other;
	unsigned part[12] = { 0 }, level[3] = { 0 }, same = 0;
	(void)state;
	assert_int_equal(machines(&m,
				 "program a b\ncore skylake\ndraw 12 7\ndraw set rob.size 100..220\ndraw set l1d.size "
				 "16K 32K 64K\n"),
		0);
	assert_int_equal(m.machines, 12);
	for (size_t i = 0; i < 12; i++) {
		part[(size_t)(m.machine[i].level[0] * 12)]++;
		level[(size_t)m.machine[i].level[1]]++;
	}
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(part[i], 1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(level[i], 4);
	assert_int_equal(machines(&other, "program a b\ncore skylake\ndraw 12 8\ndraw set rob.size 100..220\ndraw set "
		"l1d.size 16K 32K 64K\n"), 0);
	for (size_t i = 0; i < 12; i++)
		same += !strcmp(m.machine[i].name, other.machine[i].name);
	assert_true(same < 12);
	sweep_machines_free(&other);
	assert_int_equal(machines(&other, "program a b\ncore skylake\ndraw 12 7\ndraw set rob.size 100..220\ndraw set "
		"l1d.size 16K 32K 64K\n"), 0);
	for (size_t i = 0; i < 12; i++)
		assert_string_equal(m.machine[i].name, other.machine[i].name);
	sweep_machines_free(&m);
	sweep_machines_free(&other);
}

static int release(void **state)
{
	(void)state;
	plan_free(&plan);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_plan_is_read),
		cmocka_unit_test(test_elimination_by_points),
		cmocka_unit_test(test_each_error_is_one_line_with_its_number),
		cmocka_unit_test(test_lines_that_are_wrong_together),
		cmocka_unit_test(test_bytes_that_no_line_has),
		cmocka_unit_test(test_machines_are_all_combinations),
		cmocka_unit_test(test_a_hypercube_has_every_part_once),
	};
	return cmocka_run_group_tests(tests, NULL, release);
}
