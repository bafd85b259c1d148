/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `softpmu stat` prints, to the character. The expected texts of the table follow what perf 6.1 prints for
 * the same numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cli/stat/stat_print.c"	/* the commands are not in the library */
#include <stdlib.h>

static struct stat_line line[16];
static struct stat_table table;
static struct stat_style style;
static char *text;
static size_t bytes;

static int setup(void **state)
{
	(void)state;
	memset(line, 0, sizeof line);
	table = (struct stat_table){ .line = line, .runs = 1 };
	style = (struct stat_style){ .separator = ",", .group_digits = true, .interval_end = -1 };
	style.out = open_memstream(&text, &bytes);
	return style.out ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static void event(const char *name, double value, double running)
{
	struct stat_line *l = line + table.lines++;
	*l = (struct stat_line){ .name = name, .role = stat_role(name, ""), .supported = true };
	stats_add(&l->value, value);
	stats_add(&l->running_ns, running);
}

static void printed(const char *want)
{
	fclose(style.out);
	assert_string_equal(text, want);
}

static void default_set(void)
{
	event("task-clock:u", 1234567, 1234567);
	event("cycles:u", 3950614, 1234567);
	event("instructions:u", 9876543, 1234567);
	event("branches:u", 1000000, 1234567);
	event("branch-misses:u", 12345, 1234567);
	stats_add(&table.elapsed_ns, 1250000);
	stats_add(&table.user_ns, 1234567);
}

static void test_the_table_looks_as_perfs(void **state)
{
	(void)state;
	default_set();
	stat_print_header(&style, &table, "'ls -l'");
	stat_print_lines(&style, &table);
	stat_print_footer(&style, &table);
	printed("\n Performance counter stats for 'ls -l':\n\n"
		"              1.23 msec task-clock:u                     #    0.988 CPUs utilized\n"
		"         3,950,614      cycles:u                         #    3.200 GHz\n"
		"         9,876,543      instructions:u                   #    2.50  insn per cycle\n"
		"         1,000,000      branches:u                       #  810.001 M/sec\n"
		"            12,345      branch-misses:u                  #    1.23% of all branches\n"
		"\n"
		"       0.001250000 seconds time elapsed (modelled)\n"
		"\n"
		"       0.001234567 seconds user (modelled; ring 0 is not)\n\n");
}

static void test_fields_are_those_of_perf_x(void **state)
{
	(void)state;
	default_set();
	style.form = STAT_CSV;
	stat_print_header(&style, &table, "'ls'");
	stat_print_lines(&style, &table);
	stat_print_footer(&style, &table);
	printed("1.23,msec,task-clock:u,1234567,100.00,0.988,CPUs utilized\n"
		"3950614,,cycles:u,1234567,100.00,3.200,GHz\n"
		"9876543,,instructions:u,1234567,100.00,2.50,insn per cycle\n"
		"1000000,,branches:u,1234567,100.00,810.001,M/sec\n"
		"12345,,branch-misses:u,1234567,100.00,1.23,of all branches\n");
}

static void test_json_lines_are_perfs(void **state)
{
	(void)state;
	event("task-clock:u", 1234567, 1234567);
	event("a\"b\\c", 7, 1234567);
	stats_add(&table.elapsed_ns, 1234567);
	style.form = STAT_JSON;
	stat_print_lines(&style, &table);
	printed("{\"counter-value\" : \"1.234567\", \"unit\" : \"msec\", \"event\" : \"task-clock:u\", "
		"\"event-runtime\" : 1234567, "
		"\"pcnt-running\" : 100.00, \"metric-value\" : 1.000000, \"metric-unit\" : \"CPUs utilized\"}\n"
		"{\"counter-value\" : \"7.000000\", \"unit\" : \"\", \"event\" : \"a\\\"b\\\\c\", \"event-runtime\" : "
			"1234567, "
		"\"pcnt-running\" : 100.00, \"metric-value\" : 5.670004, \"metric-unit\" : \"K/sec\"}\n");
}

static void test_repeated_runs_show_mean_and_deviation(void **state)
{
	(void)state;
	event("cycles:u", 100, 50);
	stats_add(&line[0].value, 110);
	stats_add(&line[0].value, 120);
	table.runs = 3;
	stats_add(&table.elapsed_ns, 1000000);
	stats_add(&table.elapsed_ns, 1100000);
	stats_add(&table.elapsed_ns, 1200000);
	stat_print_header(&style, &table, "'true'");
	stat_print_lines(&style, &table);
	stat_print_footer(&style, &table);
	/* sd of 100, 110, 120 is 10; of the mean 10/sqrt(3) = 5.77, of 110 5.25% */
	printed("\n Performance counter stats for 'true' (3 runs):\n\n"
		"               110      cycles:u                                                             ( +- "
			" 5.25% )\n"
		"\n         0.0011000 +- 0.0000577 seconds time elapsed (modelled)  ( +-  5.25% )\n\n");
}

static void test_equal_runs_show_no_deviation(void **state)
{
	(void)state;
	event("cycles:u", 100, 50);
	stats_add(&line[0].value, 100);
	table.runs = 2;
	stats_add(&table.elapsed_ns, 1000);
	stats_add(&table.elapsed_ns, 1000);
	stat_print_lines(&style, &table);
	stat_print_footer(&style, &table);
	printed("               100      cycles:u\n"
		"\n       0.000001000 +- 0.000000000 seconds time elapsed (modelled)\n\n");
}

static void test_the_variance_is_a_field_with_repeats_only(void **state)
{
	(void)state;
	event("cycles:u", 100, 50);
	stats_add(&line[0].value, 110);
	stats_add(&line[0].value, 120);
	table.runs = 3;
	style.form = STAT_CSV;
	style.separator = ";";
	stat_print_lines(&style, &table);
	printed("110;;cycles:u;5.25%;50;100.00;;\n");
}

static void test_intervals_stand_ahead_of_each_line(void **state)
{
	(void)state;
	event("instructions:u", 4000000, 1);
	style.interval_end = 0.001;
	stat_print_header(&style, &table, "'x'");
	stat_print_lines(&style, &table);
	style.form = STAT_CSV;
	stat_print_lines(&style, &table);
	style.form = STAT_JSON;
	stat_print_lines(&style, &table);
	printed("#           time             counts unit events\n"
		"     0.001000000          4,000,000      instructions:u\n"
		"     0.001000000,4000000,,instructions:u,1,100.00,,\n"
		"{\"interval\" : 0.001000000, \"counter-value\" : \"4000000.000000\", \"unit\" : \"\", \"event\" : "
			"\"instructions:u\", "
		"\"event-runtime\" : 1, \"pcnt-running\" : 100.00, \"metric-value\" : 0.000000, \"metric-unit\" : "
			"\"\"}\n");
}

static void test_threads_stand_ahead_of_each_line(void **state)
{
	(void)state;
	event("cycles:u", 4000, 1);
	style.thread = "my-prog-1234";
	stat_print_lines(&style, &table);
	style.form = STAT_CSV;
	stat_print_lines(&style, &table);
	printed("         my-prog-1234                  4,000      cycles:u\n"
		"my-prog-1234,4000,,cycles:u,1,100.00,,\n");
}

static void test_a_region_stands_ahead_with_its_entries(void **state)
{
	(void)state;
	event("cycles:u", 4000, 1);
	style.region = "sort, \"by name\"";
	style.entries = 12;
	stat_print_lines(&style, &table);
	style.form = STAT_JSON;
	stat_print_lines(&style, &table);
	style.region = "sort";
	style.form = STAT_CSV;
	stat_print_lines(&style, &table);
	printed(" sort, \"by name\"       12              4,000      cycles:u\n"
		"{\"region\" : \"sort, \\\"by name\\\"\", \"entries\" : 12, \"counter-value\" : \"4000.000000\", "
			"\"unit\" : \"\", "
		"\"event\" : \"cycles:u\", \"event-runtime\" : 1, \"pcnt-running\" : 100.00, \"metric-value\" : "
			"0.000000, \"metric-unit\" : \"\"}\n"
		"sort,12,4000,,cycles:u,1,100.00,,\n");
}

static void test_an_event_the_core_lacks_is_not_supported(void **state)
{
	(void)state;
	event("LLC-loads:u", 0, 0);
	line[0].supported = false;
	stat_print_lines(&style, &table);
	style.form = STAT_CSV;
	stat_print_lines(&style, &table);
	printed("   <not supported>      LLC-loads:u\n<not supported>,,LLC-loads:u,0,100.00,,\n");
}

static void test_digits_may_stay_together(void **state)
{
	(void)state;
	event("cycles:u", 1234567890, 1);
	event("task-clock:u", 1234567e6, 1);
	style.group_digits = false;
	stat_print_lines(&style, &table);
	style.group_digits = true;
	stat_print_lines(&style, &table);
	printed("        1234567890      cycles:u                         #    0.001 GHz\n"
		"        1234567.00 msec task-clock:u\n"
		"     1,234,567,890      cycles:u                         #    0.001 GHz\n"
		"      1,234,567.00 msec task-clock:u\n");
}

static void test_shares_name_what_they_are_shares_of(void **state)
{
	(void)state;
	static const struct { const char *all, *part, *text; } pair[] = {
		{ "L1-dcache-loads", "L1-dcache-load-misses", "of all L1-dcache accesses" },
		{ "L1-icache-loads", "L1-icache-load-misses", "of all L1-icache accesses" },
		{ "LLC-loads", "LLC-load-misses", "of all LL-cache accesses" },
		{ "dTLB-loads", "dTLB-load-misses", "of all dTLB cache accesses" },
		{ "iTLB-loads", "iTLB-load-misses", "of all iTLB cache accesses" },
		{ "cache-references", "cache-misses", "of all cache refs" },
		{ "cycles", "stalled-cycles-frontend", "frontend cycles idle" },
	};
	struct remark r;
	for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
		table.lines = 0;
		event(pair[i].all, 200, 1);
		event(pair[i].part, 5, 1);
		assert_true(remark(&r, &table, line + 1));
		assert_string_equal(r.unit, pair[i].text);
		assert_true(r.value == 2.5);
		line[0].supported = false;	/* without the whole there is no share */
		assert_false(remark(&r, &table, line + 1));
	}
	printed("");
}

static void test_a_role_comes_from_the_spelling_before_the_row(void **state)
{
	(void)state;
	assert_int_equal(stat_role("LLC-loads:u", "cache-references,LLC-loads"), ROLE_LLC_LOADS);
	assert_int_equal(stat_role("INST_RETIRED.ANY", "instructions"), ROLE_INSTRUCTIONS);
	assert_int_equal(stat_role("LONGEST_LAT_CACHE.REFERENCE", "foo,cache-references"), ROLE_CACHE_REFS);
	assert_int_equal(stat_role("cyclesX", ""), ROLE_OTHER);
	printed("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_table_looks_as_perfs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fields_are_those_of_perf_x, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json_lines_are_perfs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_repeated_runs_show_mean_and_deviation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_equal_runs_show_no_deviation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_variance_is_a_field_with_repeats_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_intervals_stand_ahead_of_each_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_stand_ahead_of_each_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_region_stands_ahead_with_its_entries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_event_the_core_lacks_is_not_supported, setup, teardown),
		cmocka_unit_test_setup_teardown(test_digits_may_stay_together, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shares_name_what_they_are_shares_of, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_role_comes_from_the_spelling_before_the_row, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
