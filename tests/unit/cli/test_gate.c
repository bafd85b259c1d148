/* SPDX-License-Identifier: GPL-2.0-or-later
 * The gate for CI: its baseline's bytes, baselines that are none, lists of benchmarks, limits and verdicts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "cli/gate/gate_check.c"	/* the commands are not in the library */
#include "cli/gate/gate_figures.c"
#include "cli/gate/gate_list.c"
#include "cli/gate/gate_print.c"

static const char good[] =
	"{\n"
	"  \"softpmu gate\": 1,\n"
	"  \"model\": \"m\",\n"
	"  \"machine\": \"golden-cove\",\n"
	"  \"processor\": \"avx2\",\n"
	"  \"benchmarks\": {\n"
	"    \"a\": {\n"
	"      \"objects\": {\n"
	"        \"libc.so.6\": \"build-id:01\",\n"
	"        \"walk\": \"build-id:02\"\n"
	"      },\n"
	"      \"counts\": {\n"
	"        \"cycles\": 1000,\n"
	"        \"instructions\": 2000\n"
	"      },\n"
	"      \"cycles by function\": {\n"
	"        \"main [walk]\": 1000\n"
	"      },\n"
	"      \"instructions by function\": {\n"
	"        \"main [walk]\": 2000\n"
	"      }\n"
	"    },\n"
	"    \"b\": {\n"
	"      \"objects\": {},\n"
	"      \"counts\": {},\n"
	"      \"cycles by function\": {},\n"
	"      \"instructions by function\": {}\n"
	"    }\n"
	"  }\n"
	"}\n";

static void read_good(struct gate_file *f)
{
	struct err err = { 0 };
	assert_int_equal(gate_file_parse(f, good, sizeof good - 1, "base", &err), 0);
}

static char *written(const struct gate_file *f)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	gate_file_write(to, f);
	fclose(to);
	return text;
}

static void test_a_baseline_is_written_as_it_was_read(void **state)
{
	struct gate_file f;
	(void)state;
	read_good(&f);
	char *text = written(&f);
	assert_string_equal(text, good);
	free(text);
	gate_file_free(&f);
}

static void test_names_are_sorted_and_escaped(void **state)
{
	struct gate_file f = { .model = strdup("\"\n"), .machine = strdup(""), .processor = strdup("") }, again;
	struct err err = { 0 };
	(void)state;
	struct gate_benchmark *b = gate_benchmark_add(&f, "b");
	assert_int_equal(gate_figures_add(b->table, "z", 1), 0);
	assert_int_equal(gate_figures_add(b->table, "a\"\\\n", 2), 0);
	assert_int_equal(gate_figures_add(b->table, "z", INT64_MAX - 1), 0);
	assert_int_equal(gate_figures_add(b->table, "z", 1), ERR_INPUT);
	assert_int_equal(gate_objects_add(&b->objects, "o", "1"), 0);
	assert_int_equal(gate_objects_add(&b->objects, "o", "2"), 0);
	assert_int_equal(gate_objects_add(&b->objects, "o", "1"), 0);
	assert_string_equal(gate_objects_find(&b->objects, "o"), "1+2");
	assert_non_null(gate_benchmark_add(&f, "a"));
	char *text = written(&f);
	assert_int_equal(gate_file_parse(&again, text, strlen(text), "base", &err), 0);
	char *second = written(&again);
	assert_string_equal(text, second);
	assert_string_equal(again.benchmark[0].name, "a");
	assert_int_equal(gate_figures_find(again.benchmark[1].table, "z")->value, INT64_MAX);
	free(text);
	free(second);
	gate_file_free(&f);
	gate_file_free(&again);
}

/* What is no baseline is refused with a line, and leaves nothing. */
static void test_bad_baselines_are_refused(void **state)
{
	static const char *const bad[] = {
		"", " ", "null", "[]", "1", "\"softpmu gate\"", "{}", "{\"softpmu gate\": 2}", "{\"softpmu gate\": -1}",
		"{\"softpmu gate\": 1}", "{\"softpmu gate\": 1.0}", "{\"softpmu gate\": 1e0}",
		"{\"softpmu gate\":1,\"model\":1,\"machine\":\"\",\"processor\":\"\",\"benchmarks\":{}}",
		"{\"softpmu gate\":1,\"model\":\"\",\"machine\":\"\",\"processor\":\"\",\"benchmarks\":[]}",
		"{\"softpmu gate\":1,\"model\":\"\",\"machine\":\"\",\"processor\":\"\",\"benchmarks\":{},\"x\":1}",
		"{\"softpmu gate\":1,\"model\":\"\",\"machine\":\"\",\"processor\":\"\",\"benchmarks\":{}} x",
		"{\"softpmu gate\":1,\"model\":\"\",\"machine\":\"\",\"processor\":\"\",\"benchmarks\":{\"a\":1}}",
	};
	static const char *const tables[] = {
		"\"counts\": 1", "\"counts\": {\"c\": \"1\"}", "\"counts\": {\"c\": -1}", "\"counts\": {\"c\": 1.5}",
		"\"counts\": {\"c\": 99999999999999999999}", "\"counts\": {\"c\": 9223372036854775808}",
		"\"counts\": {\"c\": {}}", "\"counts\": {\"c\": null}", "\"objects\": {\"c\": 1}", "\"else\": {}",
		"\"counts\": {\"c\": {\"d\": {\"e\": {\"f\": {\"g\": {\"h\": 1}}}}}}", "\"counts\": {\"c\": NaN}",
		"\"counts\": {\"\xff\": 1}", "counts: {}", "\"counts\": {,}", "/**/\"counts\": {}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad + sizeof tables / sizeof *tables; i++) {
		struct gate_file f;
		struct err err = { 0 };
		char text[512];
		if (i < sizeof bad / sizeof *bad)
			snprintf(text, sizeof text, "%s", bad[i]);
		else
			snprintf(text, sizeof text, "{\"softpmu gate\":1,\"model\":\"\",\"machine\":\"\","
				"\"processor\":\"\",\"benchmarks\":{\"a\":{%s}}}",
				tables[i - sizeof bad / sizeof *bad]);
		if (gate_file_parse(&f, text, strlen(text), "base", &err) != ERR_INPUT)
			fail_msg("accepted: %s", text);
		assert_non_null(strstr(err.text, "base"));
		assert_null(f.benchmark);
		assert_null(f.model);
	}
}

/* Any cut, and any changed byte, is refused or read: never more than that. */
static void test_damaged_baselines_do_no_harm(void **state)
{
	struct gate_file f;
	(void)state;
	for (size_t n = 0; n < sizeof good - 2; n++) {
		struct err err = { 0 };
		assert_int_equal(gate_file_parse(&f, good, n, "base", &err), ERR_INPUT);
	}
	for (size_t n = 0; n < sizeof good - 1; n++)
		for (unsigned to = 0; to < 256; to += 1 + (to > 127) * 7) {
			struct err err = { 0 };
			char text[sizeof good];
			memcpy(text, good, sizeof good);
			text[n] = (char)to;
			if (!gate_file_parse(&f, text, sizeof good - 1, "base", &err))
				gate_file_free(&f);
		}
}

static void test_words_are_split_as_a_shell_does(void **state)
{
	static const struct { const char *text; int words; const char *last; } line[] = {
		{ "", 0, NULL }, { "  \t ", 0, NULL }, { "# a b", 0, NULL }, { "a", 1, "a" }, { " a  b\r", 2, "b" },
		{ "a 'b c' # d", 2, "b c" }, { "a \"b 'c\"", 2, "b 'c" }, { "a b\\ c", 2, "b c" }, { "a ''", 2, "" },
		{ "a '\\'", 2, "\\" }, { "a \"\\\"\"", 2, "\"" }, { "x'y'z", 1, "xyz" }, { "a b#c", 2, "b#c" },
		{ "a 'b", -1, NULL }, { "a \"b\\\"", -1, NULL }, { "a \\", 2, "\\" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
		char text[64], *word[GATE_LIST_WORDS];
		snprintf(text, sizeof text, "%s", line[i].text);
		const int words = words_split(text, word, GATE_LIST_WORDS);
		if (words != line[i].words)
			fail_msg("%s: %d words", line[i].text, words);
		if (words > 0)
			assert_string_equal(word[words - 1], line[i].last);
	}
}

static void test_lines_of_a_list(void **state)
{
	static const char *const bad[] = { "bench", "bench a", "bench a b", "regions x", "what a b", "limit",
		"limit a b", "events ''", "env" };
	struct gate_list l = { 0 };
	struct err err = { 0 };
	char text[64];
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(text, sizeof text, "%s", bad[i]);
		/* the third is good once */
		assert_int_equal(gate_list_line(&l, text, &err), i == 2 ? 0 : ERR_INPUT);
	}
	snprintf(text, sizeof text, "bench a c");
	assert_int_equal(gate_list_line(&l, text, &err), ERR_INPUT);
	snprintf(text, sizeof text, "regions r ./p 'x y'");
	assert_int_equal(gate_list_line(&l, text, &err), 0);
	assert_int_equal(l.works, 2);
	assert_true(l.work[1].regions);
	assert_string_equal(l.work[1].argv[1], "x y");
	assert_null(l.work[1].argv[2]);
	gate_list_free(&l);
}

static void test_small_functions_share_a_line_unless_the_baseline_has_them(void **state)
{
	struct gate_file f = { 0 }, g = { 0 };
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct gate_benchmark *b = gate_benchmark_add(k ? &g : &f, "b");
		for (unsigned t = GATE_CYCLES; t < GATE_TABLES; t++) {
			gate_figures_add(b->table + t, "main [walk]", 100000);
			gate_figures_add(b->table + t, "few [walk]", k ? 9 : 11);
			gate_figures_add(b->table + t, "less [walk]", 8);
			gate_figures_add(b->table + t, "least [walk]", 1);
		}
	}
	struct gate_benchmark *b = f.benchmark, *now = g.benchmark;
	assert_int_equal(gate_fold(b, NULL), 0);
	assert_int_equal(gate_figures_find(b->table + GATE_CYCLES, "few [walk]")->value, 11);
	assert_int_equal(gate_figures_find(b->table + GATE_INSTRUCTIONS, "(others) [walk]")->value, 9);
	assert_null(gate_figures_find(b->table + GATE_CYCLES, "less [walk]"));
	assert_int_equal(gate_fold(now, b), 0);
	assert_int_equal(gate_figures_find(now->table + GATE_CYCLES, "few [walk]")->value, 9);
	assert_int_equal(gate_figures_find(now->table + GATE_CYCLES, "(others) [walk]")->value, 9);
	assert_int_equal(gate_figures_sum(now->table + GATE_CYCLES), 100018);
	gate_file_free(&f);
	gate_file_free(&g);
}

static void test_limits(void **state)
{
	static const char *const bad[] = { "", "=", "=1", "cycles", "cycles=", "cycles=x", "cycles=-1", "cycles=1%%",
		"cycles=1.5", "cycles=1 ", "cycles=99999999999999999999", "cycles=nan%", "cycles=1e999%" };
	struct gate_limit l;
	struct err err = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (gate_limit_parse(&l, bad[i], &err) != ERR_INPUT)
			fail_msg("accepted: %s", bad[i]);
	assert_int_equal(gate_limit_parse(&l, "a:cpu/event=0x3c/=5%", &err), 0);
	assert_true(l.soft && l.percent == 5);
	assert_true(gate_limit_is_of(&l, "cpu/event=0x3c/"));
	assert_true(gate_limit_applies(&l, "a", "cpu/event=0x3c/"));
	assert_false(gate_limit_applies(&l, "b", "cpu/event=0x3c/"));
	assert_int_equal(gate_limit_parse(&l, "cycles=1000", &err), 0);
	assert_true(!l.soft && l.most == 1000 && gate_limit_applies(&l, "b", "cycles"));
}

/* One benchmark `a` whose cycles and instructions are these, and whose program and library have these ids. */
static enum gate_verdict verdict_of(uint64_t cycles, uint64_t instructions, const char *program, const char *library,
	const char *limit_text)
{
	const char *const name[] = { "walk" };
	const bool in_library = !strcmp(library, "build-id:ff");
	struct gate_file before, now = { .model = strdup("m"), .machine = strdup("golden-cove"),
		.processor = strdup("avx2") };
	struct gate_limit limit;
	struct gate_report r;
	struct err err = { 0 };
	read_good(&before);
	struct gate_benchmark *b = gate_benchmark_add(&now, "a");
	gate_figures_add(b->table, "cycles", cycles);
	gate_figures_add(b->table, "instructions", instructions);
	gate_figures_add(b->table + GATE_CYCLES, "main [walk]", cycles);
	/* what is more than before is the program's work, or the library's if that changed */
	gate_figures_add(b->table + GATE_INSTRUCTIONS, "main [walk]", in_library ? 2000 : instructions);
	if (in_library)
		gate_figures_add(b->table + GATE_INSTRUCTIONS, "f [libc.so.6]", instructions),
			gate_figures_add(b->table + GATE_CYCLES, "f [libc.so.6]", 0);
	gate_objects_add(&b->objects, "walk", program);
	gate_objects_add(&b->objects, "libc.so.6", library);
	if (limit_text)
		assert_int_equal(gate_limit_parse(&limit, limit_text, &err), 0);
	assert_int_equal(gate_check(&r, &before, &now, name, &limit, limit_text ? 1 : 0), 0);
	const enum gate_verdict v = r.judged[0].verdict;
	assert_int_equal(r.judged[0].functions, (cycles != 1000 || (instructions != 2000 && !in_library)) + in_library);
	gate_report_free(&r);
	gate_file_free(&before);
	gate_file_free(&now);
	return v;
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(1000, 2000, "build-id:02", "build-id:01", NULL), GATE_EQUAL);
	assert_int_equal(verdict_of(1000, 2000, "build-id:ff", "build-id:01", NULL), GATE_EQUAL);
	assert_int_equal(verdict_of(1010, 2002, "build-id:ff", "build-id:01", NULL), GATE_WITHIN);
	assert_int_equal(verdict_of(500, 1000, "build-id:ff", "build-id:01", NULL), GATE_WITHIN);
	assert_int_equal(verdict_of(1000, 2003, "build-id:ff", "build-id:01", NULL), GATE_FAILED);
	assert_int_equal(verdict_of(1011, 2000, "build-id:ff", "build-id:01", NULL), GATE_FAILED);
	/* with the same program, what else changed is to blame; without any other change, the input */
	assert_int_equal(verdict_of(1011, 2000, "build-id:02", "build-id:ff", NULL), GATE_SURROUNDINGS);
	assert_int_equal(verdict_of(1000, 2010, "build-id:ff", "build-id:ff", NULL), GATE_SURROUNDINGS);
	assert_int_equal(verdict_of(1000, 2010, "build-id:ff", "build-id:01", NULL), GATE_FAILED);
	assert_int_equal(verdict_of(1011, 2000, "build-id:02", "build-id:01", NULL), GATE_FAILED);
	/* limits of the user */
	assert_int_equal(verdict_of(1011, 2000, "build-id:ff", "build-id:01", "cycles=2%"), GATE_WITHIN);
	assert_int_equal(verdict_of(1001, 2000, "build-id:ff", "build-id:01", "a:cycles=0%"), GATE_FAILED);
	assert_int_equal(verdict_of(1000, 2000, "build-id:ff", "build-id:01", "cycles=999"), GATE_FAILED);
	assert_int_equal(verdict_of(1000, 2000, "build-id:ff", "build-id:01", "b:cycles=999"), GATE_EQUAL);
}

/* The report's three forms hold the same judgement, and hostile names cannot break out of them. */
static void test_names_cannot_break_markdown_or_xml(void **state)
{
	const char *const name[] = { "walk", "walk" };
	struct gate_file before, now = { .model = strdup("m"), .machine = strdup("golden-cove"),
		.processor = strdup("avx2") };
	struct gate_report r;
	char *text = NULL;
	size_t bytes = 0;
	(void)state;
	read_good(&before);
	gate_figures_add(gate_benchmark_add(&now, "</failure>|`\x01\xff&\"")->table, "cycles", 1);
	assert_int_equal(gate_check(&r, &before, &now, name, NULL, 0), 0);
	FILE *to = open_memstream(&text, &bytes);
	gate_print_junit(to, &r);
	fclose(to);
	assert_non_null(strstr(text, "name=\"&#60;/failure&#62;|`??&#38;&#34;\""));
	assert_null(strstr(strstr(text, "</failure></testcase>") + 1, "</failure>"));
	free(text);
	to = open_memstream(&text, &bytes);
	gate_print_markdown(to, &r, true);
	fclose(to);
	assert_non_null(strstr(text, "**\\</failure\\>\\|\\`"));
	free(text);
	gate_report_free(&r);
	gate_file_free(&before);
	gate_file_free(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_baseline_is_written_as_it_was_read),
		cmocka_unit_test(test_names_are_sorted_and_escaped),
		cmocka_unit_test(test_bad_baselines_are_refused),
		cmocka_unit_test(test_damaged_baselines_do_no_harm),
		cmocka_unit_test(test_words_are_split_as_a_shell_does),
		cmocka_unit_test(test_lines_of_a_list),
		cmocka_unit_test(test_small_functions_share_a_line_unless_the_baseline_has_them),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_names_cannot_break_markdown_or_xml),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
