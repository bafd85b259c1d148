/* SPDX-License-Identifier: GPL-2.0-or-later
 * Requests and answers of tune --launch come through as they were; anything else is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "cli/tune/tune_messages.c"	/* the commands are not in the library */

const char *cli_version(void)
{
	return "1";
}

static void test_a_request_comes_through(void **state)
{
	(void)state;
	char *option[] = { "--set", "l2.latency=13", "--start", "a\nb" }, *settings[] = { "", "l1d.size=1/2" };
	const struct tune_request r = { .model = "this one", .machine = "abc", .folder = "/a b", .option = option,
		.options = 4, .stream = "/s=t", .sample = { .interval = 40000, .lead = 4000, .measured = 3000 },
		.seen = "1 2 3", .settings = settings, .count = 2 };
	struct tune_request got;
	struct err err;
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	assert_int_equal(tune_request_write(&r, f, &err), 0);
	fclose(f);
	f = fmemopen(text, bytes, "r");
	assert_int_equal(tune_request_read(&got, f, &err), 0);
	fclose(f);
	assert_string_equal(got.model, r.model);
	assert_string_equal(got.machine, r.machine);
	assert_string_equal(got.folder, r.folder);
	assert_string_equal(got.stream, r.stream);
	assert_string_equal(got.seen, r.seen);
	assert_int_equal(got.options, 4);
	assert_string_equal(got.option[3], option[3]);
	assert_int_equal(got.count, 2);
	assert_string_equal(got.settings[0], "");
	assert_string_equal(got.settings[1], settings[1]);
	assert_memory_equal(&got.sample, &r.sample, sizeof r.sample);
	tune_request_free(&got);
	for (size_t n = 1; n < bytes; n++) {	/* cut short anywhere; the last byte is the NUL behind "end" */
		f = fmemopen(text, n, "r");
		assert_int_equal(tune_request_read(&got, f, &err), n == bytes - 1 ? 0 : ERR_INPUT);
		tune_request_free(&got);
		fclose(f);
	}
	free(text);
}

static void test_an_answer_comes_through(void **state)
{
	(void)state;
	static struct tune_machine m[3];
	static struct tune_answer a[3];
	struct err err;
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	m[0].half = 0.1 / 3;
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++)
		m[0].activity.n[i] = UINT64_MAX - i;
	m[1].half = strtod("nan", NULL);
	err_set(&m[2].err, ERR_UNSUPPORTED, "not on this one");
	tune_answer_write(m, 3, f);
	fclose(f);
	assert_int_equal(tune_answer_read(a, 3, text, bytes, &err), 0);
	assert_memory_equal(&a[0].activity, &m[0].activity, sizeof a[0].activity);
	assert_memory_equal(&a[0].half, &m[0].half, sizeof a[0].half);
	assert_true(a[1].half != a[1].half);
	assert_int_equal(a[2].err.code, ERR_UNSUPPORTED);
	assert_string_equal(a[2].err.text, "not on this one");
	for (size_t n = 0; n < bytes; n++) {	/* cut short anywhere, in memory of its own */
		char *part = malloc(n + 1);
		memcpy(part, text, n);
		memset(a, 0, sizeof a);
		assert_int_equal(tune_answer_read(a, 3, part, n, &err), ERR_INPUT);
		free(part);
	}
	memset(a, 0, sizeof a);
	assert_int_equal(tune_answer_read(a, 2, text, bytes, &err), ERR_INPUT);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_comes_through),
		cmocka_unit_test(test_an_answer_comes_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
