/* SPDX-License-Identifier: GPL-2.0-or-later
 * Formulas and the tables of metrics: values, units, errors that point, refusals by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analysis/metrics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_name[] = { "CYCLES", "SLOTS.ANY", "INST", "MISS", "1_PORT" };
static const char *const event_unit[] = { "cycle", "slot", "instruction", "event", "1" };
static const double event_value[] = { 100, 400, 250, 0, 7 };

static bool resolve(void *context, const char *name, size_t chars, unsigned *index, struct formula_unit *unit)
{
	(void)context;
	for (unsigned i = 0; i < 5; i++)
		if (strlen(event_name[i]) == chars && !strncmp(event_name[i], name, chars)) {
			*index = i;
			return !formula_unit_parse(unit, event_unit[i], NULL);
		}
	return false;
}

static double value(void *context, unsigned index)
{
	(void)context;
	return event_value[index];
}

static double of(const char *text)
{
	struct formula *f;
	struct err err = { 0 };
	if (formula_compile(&f, text, resolve, NULL, &err))
		fail_msg("%s: %s", text, err.text);
	double v = formula_value(f, value, NULL);
	formula_free(f);
	return v;
}

static const char *wrong(const char *text)
{
	static struct err err;
	struct formula *f = NULL;
	assert_int_equal(formula_compile(&f, text, resolve, NULL, &err), ERR_INPUT);
	assert_null(f);
	return err.text;
}

static void test_values_are_those_of_arithmetic(void **state)
{
	(void)state;
	assert_true(of("1 + 2*3 - 4/8") == 6.5);
	assert_true(of("(1 + 2)*-3") == -9);
	assert_true(of("10 - 4 - 3") == 3);
	assert_true(of("100/10/5") == 2);
	assert_true(of("INST/CYCLES") == 2.5);
	assert_true(of("min(3, 2) + max(3, 2)*10 + if(2 > 1, 100, 200)") == 132);
	assert_true(of("(1 <= 1) + (2 >= 3) + (1 < 2) + (1 > 2)") == 2);
	assert_true(of("if(CYCLES - CYCLES, 1, 2)") == 2);
	assert_true(of("0.125*8") == 1);
}

static void test_a_division_by_zero_has_no_value_and_a_ratio_of_nothing_is_0(void **state)
{
	(void)state;
	assert_true(isnan(of("CYCLES/MISS")));
	assert_true(isnan(of("MISS/MISS")));
	assert_true(isnan(of("max(1, CYCLES*1/CYCLES/0)")));
	assert_true(isnan(of("1/0 < 2")));
	assert_true(of("ratio(MISS, MISS)") == 0);
	assert_true(isnan(of("ratio(CYCLES, MISS)")));
	assert_true(of("if(MISS > 0, 1/MISS*MISS, 5)") == 5);
}

static void test_units_are_checked_and_the_error_names_the_column(void **state)
{
	(void)state;
	assert_string_equal(wrong("CYCLES + SLOTS.ANY"), "column 8: units differ: cycle and slot, at '+ SLOTS.ANY'");
	assert_string_equal(wrong("max(CYCLES, INST)"), "column 13: units differ: cycle and instruction, at 'INST)'");
	assert_string_equal(wrong("if(CYCLES > INST, 1, 2)"),
		"column 11: units differ: cycle and instruction, at '> INST, 1, 2)'");
	assert_string_equal(wrong("1 + CYCLES"), "column 3: units differ: 1 and cycle, at '+ CYCLES'");
	assert_true(of("max(CYCLES - 0, 0)") == 100);	/* 0 fits any unit */
	struct formula *f;
	char text[128];
	assert_int_equal(formula_compile(&f, "SLOTS.ANY/CYCLES*INST/CYCLES", resolve, NULL, NULL), 0);
	assert_string_equal(formula_unit_text(formula_unit_of(f), text), "slot*instruction/cycle/cycle");
	formula_free(f);
}

static void test_errors_point_into_the_formula(void **state)
{
	(void)state;
	assert_string_equal(wrong("CYCLES +"), "column 9: a number, a name or ( was expected, at the end");
	assert_string_equal(wrong("CYCLS/2"), "column 1: unknown name, at 'CYCLS/2'");
	assert_string_equal(wrong("2*(3 + 4"), "column 9: ')' was expected, at the end");
	assert_string_equal(wrong("2 3"), "column 3: an operator or the end was expected, at '3'");
	assert_string_equal(wrong("mim(1, 2)"),
		"column 1: unknown function (min, max, if and ratio are known), at 'mim(1, 2)'");
	assert_string_equal(wrong("min(1)"), "column 6: ',' was expected, at ')'");
	assert_string_equal(wrong("12ab"), "column 1: this is no number, at '12ab'");
	assert_string_equal(wrong(""), "column 1: a number, a name or ( was expected, at the end");
}

static void test_depth_and_length_are_bounded(void **state)
{
	(void)state;
	char deep[4001];
	memset(deep, '(', 4000);
	deep[4000] = 0;
	assert_non_null(strstr(wrong(deep), "too deeply nested"));
	memset(deep, '-', 4000);
	assert_non_null(strstr(wrong(deep), "too deeply nested"));
	for (unsigned i = 0; i < 4000; i++)
		deep[i] = i & 1 ? '+' : '1';
	assert_non_null(strstr(wrong(deep), "too long"));
}

static struct spmu_model *model(const char *name)
{
	char path[200], text[200];
	struct spmu_model *m = NULL;
	snprintf(path, sizeof path, "data/events/%s.tsv", name);
	if (spmu_model_load(&m, path, text, sizeof text))
		fail_msg("%s", text);
	return m;
}

static const char *bad_table(const char *text)
{
	static struct err err;
	struct metrics m;
	struct spmu_model *s = model("skylake");
	assert_int_equal(metrics_parse(&m, "t", text, strlen(text), s, &err), ERR_INPUT);
	spmu_model_free(s);
	return err.text;
}

static void test_an_error_of_a_table_says_line_metric_and_column(void **state)
{
	(void)state;
	assert_string_equal(bad_table("@event INST_RETIRED.ANY "
		"instruction\nA\t-\t%\tINST_RETIRED.ALL/2\t-\t-\t-\t-\t-\n"),
		"t:2: A: column 1: unknown name, at 'INST_RETIRED.ALL/2'");
	assert_string_equal(bad_table("@event INST_RETIRED.ANY "
		"instruction\nA\t-\tcycle\t2*INST_RETIRED.ANY\t-\t-\t-\t-\t-\n"),
		"t:2: A: the formula's unit is instruction, the row says cycle");
	assert_string_equal(bad_table("A\tB\t%\t1\t-\t-\t-\t-\t-\n"), "t:1: no node of the tree above this line: 'B'");
	assert_string_equal(bad_table("A\t-\t%\t1\t-\t-\t-\t-\n"), "t:1: nine columns were expected, at 'A'");
	assert_string_equal(bad_table("@event X 3\n"),
		"t:1: unit '3': column 1: cycle, slot, uop, instruction, event, byte, second or 1 was expected");
	assert_string_equal(bad_table("A\t-\t%\tA\t-\t-\t-\t-\t-\n"), "t:1: A: column 1: unknown name, at 'A'");
}

static void test_a_metric_without_its_event_is_refused_by_name_and_so_is_what_uses_it(void **state)
{
	(void)state;
	const char text[] = "@event AMX_OPS_RETIRED.NONE slot\n@event INST_RETIRED.ANY instruction\n"
		"@event AMX_OPS_RETIRED.INT8 slot\n"
		"A\t-\tslot\tAMX_OPS_RETIRED.NONE\t-\t-\t-\t-\t-\nB\tA\tslot\t2*A\t-\t-\t-\t-\t-\n"
		"C\t-\tinstruction\tINST_RETIRED.ANY\t-\t-\t-\t-\t-\n";
	struct spmu_model *s = model("golden-cove");
	struct metrics m;
	double count[3] = { 1, 2, 3 }, v[3];
	assert_int_equal(metrics_parse(&m, "t", text, strlen(text), s, NULL), 0);
	assert_string_equal(m.metric[0].refused, "AMX_OPS_RETIRED.NONE is not an event of this PMU");
	assert_string_equal(m.metric[1].refused, "AMX_OPS_RETIRED.NONE is not an event of this PMU");
	assert_null(m.metric[2].refused);
	assert_non_null(strstr(m.event[2].refused, "AMX_OPS_RETIRED.INT8 is not modelled: "));
	metrics_values(&m, count, v);
	assert_true(isnan(v[0]) && isnan(v[1]) && v[2] == 2);
	metrics_free(&m);
	spmu_model_free(s);
}

static void test_what_a_metric_needs_includes_what_its_parts_need(void **state)
{
	(void)state;
	const char text[] = "@event INST_RETIRED.ANY instruction\n@event CPU_CLK_UNHALTED.THREAD cycle\n@event "
		"BACLEARS.ANY event\n"
		"C\t:info\tcycle\tCPU_CLK_UNHALTED.THREAD\t-\t-\t-\t-\t-\n"
		"B\t:info\tevent\tBACLEARS.ANY\t-\t-\t-\t-\t-\n"
		"I\t:trade\tinstruction/cycle\tINST_RETIRED.ANY/C\t-\t-\t-\t-\t-\n";
	struct spmu_model *s = model("skylake");
	struct metrics m;
	bool needed[3] = { false };
	assert_int_equal(metrics_parse(&m, "t", text, strlen(text), s, NULL), 0);
	metrics_needs(&m, metrics_find(&m, "i"), needed);
	assert_true(needed[0] && needed[1] && !needed[2]);
	metrics_free(&m);
	spmu_model_free(s);
}

static void test_a_node_is_flagged_only_below_flagged_ones(void **state)
{
	(void)state;
	const char text[] =
		"A\t-\t%\t0.2\t0.3\t-\t-\t-\t-\nB\tA\t%\t0.2\t0.1\t-\t-\t-\t-\nC\t-\t%\t0.5\t0.3\t-\t-\t-\t-\n"
		"D\tC\t%\t0.2\t0.1\t-\t-\t-\t-\n";
	struct spmu_model *s = model("skylake");
	struct metrics m;
	double v[4];
	assert_int_equal(metrics_parse(&m, "t", text, strlen(text), s, NULL), 0);
	metrics_values(&m, NULL, v);
	assert_false(metrics_flagged(&m, v, 0));
	assert_false(metrics_flagged(&m, v, 1));
	assert_true(metrics_flagged(&m, v, 2));
	assert_true(metrics_flagged(&m, v, 3));
	metrics_free(&m);
	spmu_model_free(s);
}

static void test_what_joins_another_node_counts_with_it_and_no_longer_where_it_is(void **state)
{
	(void)state;
	/* below level 2 formulas overlap: R and S say 0.6 of the cycles, F has 0.3 of the slots */
	const char text[] =
		"FE\t-\t%\t0.4\t0.3\t-\t-\t-\t-\nBAD\t-\t%\t0.35\t0.1\t-\t-\t-\t-\nF\tFE\t%\t0.3\t0.1\t-\t-\t-\t-\n"
		"M\tBAD\t%\t0.35\t0.1\t-\t-\t-\t-\n"
		"R\tF\t%\t0.4\t0.1\t-\t-\t-\t-\nS\tF\t%\t0.2\t0.1\t-\t-\t-\t-\n@joins R M\n";
	struct spmu_model *s = model("skylake");
	struct metrics m;
	double v[6], view[6];
	static const double want[] = { 0.2, 0.55, 0.1, 0.55, 0, 0.2 };
	assert_int_equal(metrics_parse(&m, "t", text, strlen(text), s, NULL), 0);
	metrics_values(&m, NULL, v);
	metrics_joined(&m, v, view);
	for (unsigned k = 0; k < 6; k++)
		assert_true(fabs(view[k] - want[k]) < 1e-12);
	/* this needs the counts of R's siblings and of its parents' siblings */
	assert_true(metrics_joins(&m, 4) && metrics_joins(&m, 5) && metrics_joins(&m, 2) && metrics_joins(&m, 0));
	assert_false(metrics_joins(&m, 3));
	v[4] = (double)NAN;
	metrics_joined(&m, v, view);
	for (unsigned k = 0; k < 4; k++)
		assert_true(view[k] == v[k]);
	metrics_free(&m);
	spmu_model_free(s);
	assert_string_equal(bad_table("A\t-\t%\t1\t-\t-\t-\t-\t-\n@joins A B\n"),
		"t:2: no node of the tree above this line: 'B'");
	assert_string_equal(bad_table("A\t-\t%\t1\t-\t-\t-\t-\t-\nB\tA\t%\t1\t-\t-\t-\t-\t-\n@joins B A\n"),
		"t:3: a node cannot join one that it is part of: 'B'");
}

static void test_a_field_of_perf_metrics_belongs_to_a_node_above_it(void **state)
{
	(void)state;
	const char text[] = "A\t-\t%\t0.2\t0.3\t-\t-\t-\t-\nB\tA\t%\t0.2\t0.1\t-\t-\t-\t-\n@perf_metrics A "
		"2\n@perf_metrics B 2-6\n";
	struct spmu_model *s = model("golden-cove");
	struct metrics m;
	assert_int_equal(metrics_parse(&m, "t", text, strlen(text), s, NULL), 0);
	assert_int_equal(m.fields, 2);
	assert_true(m.field[0].node == 0 && m.field[0].plus == 2 && m.field[0].minus < 0);
	assert_true(m.field[1].node == 1 && m.field[1].plus == 2 && m.field[1].minus == 6);
	metrics_free(&m);
	spmu_model_free(s);
	assert_string_equal(bad_table("@perf_metrics A 2\n"), "t:1: no node of the tree above this line: 'A'");
	assert_string_equal(bad_table("A\t-\t%\t1\t-\t-\t-\t-\t-\n@perf_metrics A 8\n"),
		"t:2: a field from 0 to 7, or two as in 1-5, was expected, at '8'");
	assert_string_equal(bad_table("A\t-\t%\t1\t-\t-\t-\t-\t-\n@perf_metrics A 2-9\n"),
		"t:2: a field from 0 to 7, or two as in 1-5, was expected, at '2-9'");
}

/* Every file of data/metrics parses, and its level 1 is an identity: it sums to 1 for any counts. */
static void test_the_tables_parse_and_level_1_sums_to_1(void **state)
{
	(void)state;
	static const char *const name[] = { "skylake", "golden-cove", "ivy-bridge", "p6", "netburst",
		"netburst-prescott" };
	for (unsigned i = 0; i < 6; i++) {
		char path[200];
		struct metrics m;
		struct err err = { 0 };
		struct spmu_model *s = model(name[i]);
		snprintf(path, sizeof path, "data/metrics/%s.tsv", name[i]);
		if (metrics_load(&m, path, s, &err))
			fail_msg("%s", err.text);
		double *count = malloc(m.events * sizeof *count), *v = malloc(m.metrics * sizeof *v), sum = 0;
		for (size_t k = 0; k < m.events; k++)
			count[k] = 1 + (double)(k * 37 % 101);
		metrics_values(&m, count, v);
		unsigned roots = 0;
		for (size_t k = 0; k < m.metrics; k++)
			if (m.metric[k].level == 1) {
				sum += v[k];
				roots++;
			}
		assert_int_equal(roots, 4);
		if (i < 3)	/* the other tables' formulas do not cover everything */
			assert_true(fabs(sum - 1) < 1e-9);
		/* the event to sample exists on the PMU, and supports PEBS if it has :pp */
		for (size_t k = 0; k < m.metrics; k++) {
			if (!m.metric[k].sample)
				continue;
			char event[100];
			size_t n = strcspn(m.metric[k].sample, ":");
			snprintf(event, sizeof event, "%.*s", (int)n, m.metric[k].sample);
			const struct spmu_event *e = spmu_model_find(s, event);
			if (!e || e->flags & SPMU_EVENT_NOT_MODELLED || (m.metric[k].sample[n] &&
				!(e->flags & SPMU_EVENT_PRECISE)))
				fail_msg("%s: %s: cannot sample %s", path, m.metric[k].name, m.metric[k].sample);
		}
		free(count);
		free(v);
		metrics_free(&m);
		spmu_model_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_those_of_arithmetic),
		cmocka_unit_test(test_a_division_by_zero_has_no_value_and_a_ratio_of_nothing_is_0),
		cmocka_unit_test(test_units_are_checked_and_the_error_names_the_column),
		cmocka_unit_test(test_errors_point_into_the_formula),
		cmocka_unit_test(test_depth_and_length_are_bounded),
		cmocka_unit_test(test_an_error_of_a_table_says_line_metric_and_column),
		cmocka_unit_test(test_a_metric_without_its_event_is_refused_by_name_and_so_is_what_uses_it),
		cmocka_unit_test(test_what_a_metric_needs_includes_what_its_parts_need),
		cmocka_unit_test(test_a_node_is_flagged_only_below_flagged_ones),
		cmocka_unit_test(test_what_joins_another_node_counts_with_it_and_no_longer_where_it_is),
		cmocka_unit_test(test_a_field_of_perf_metrics_belongs_to_a_node_above_it),
		cmocka_unit_test(test_the_tables_parse_and_level_1_sums_to_1),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
