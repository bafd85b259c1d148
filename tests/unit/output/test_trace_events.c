/* SPDX-License-Identifier: GPL-2.0-or-later
 * Trace events: regions become slices that nest, states and counters follow the records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "output/export/trace_events.h"

static struct core_config core;
static struct trace_events *e;
static struct run_thread t;

static int begin(void **state)
{
	(void)state;
	core.alloc_width = 4;
	core.frequency_ghz = 1;		/* 1000 cycles in a microsecond */
	t = (struct run_thread){ .pid = 7, .tid = 7, .comm = "one" };
	return trace_events_create(&e, &core, NULL) || trace_events_thread(e, &t, NULL);
}
static int end(void **state) { (void)state; trace_events_destroy(e); return 0; }

/* Runs for some cycles, from `from` on, and retires n instructions at their end. */
static void run(uint64_t from, uint32_t cycles, unsigned n)
{
	struct spmu_record r[16] = { { .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_CYCLES, .end = cycles } };
	for (unsigned i = 1; i <= n; i++)
		r[i] = (struct spmu_record){ .kind = SPMU_REC_UOP, .cpl = 3, .port = 1, .ip = 0x1000,
			.is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT), .did = SPMU_DID(RETIRED),
			.retire = cycles };
	const struct spmu_batch b = { .base_cycle = from, .watermark = from + cycles, .count = n + 1, .records = r };
	assert_int_equal(trace_events_batch(e, &t, &b, NULL), 0);
}

static char *written(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	trace_events_end(e, &t);
	assert_int_equal(trace_events_write(to, e, "program", NULL), 0);
	fclose(to);
	return text;
}

/* The slices of a category, as "+name -name". */
static void slices(const char *text, const char *cat, char *out)
{
	char want[32];
	snprintf(want, sizeof want, "\"cat\": \"%s\"", cat);
	*out = 0;
	for (const char *line = strtok((char *)text, "\n"); line; line = strtok(NULL, "\n")) {
		const char *name = strstr(line, "\"name\": \"");
		if (!name || !strstr(line, want))
			continue;
		name += 9;
		sprintf(out + strlen(out), "%s%c%.*s", *out ? " " : "", strstr(line, "\"B\"") ? '+' : '-',
			(int)strcspn(name, "\""), name);
	}
}

static void test_regions_that_nest_stay_as_they_are(void **state)
{
	(void)state;
	char out[256];
	run(0, 100, 2);
	trace_events_region(e, &t, "a", true, NULL);
	trace_events_region(e, &t, "b", true, NULL);
	run(100, 100, 2);
	trace_events_region(e, &t, "b", false, NULL);
	trace_events_region(e, &t, "a", false, NULL);
	char *text = written();
	slices(text, "region", out);
	assert_string_equal(out, "+a +b -b -a");
	free(text);
}

static void test_a_region_that_ends_first_splits_those_in_it(void **state)
{
	(void)state;
	char out[256];
	trace_events_region(e, &t, "a", true, NULL);
	trace_events_region(e, &t, "b", true, NULL);
	run(0, 100, 2);
	trace_events_region(e, &t, "a", false, NULL);
	run(100, 100, 2);
	trace_events_region(e, &t, "never begun", false, NULL);
	trace_events_region(e, &t, "b", false, NULL);
	trace_events_region(e, &t, "c", true, NULL);	/* never ended */
	run(200, 100, 2);
	char *text = written();
	slices(text, "region", out);
	assert_string_equal(out, "+a +b -b -a +b -b +c -c");
	free(text);
}

static void test_a_thread_runs_while_its_core_is_not_halted(void **state)
{
	(void)state;
	run(1000, 500, 4);
	run(1500, 500, 4);
	run(5000, 1000, 5);
	char *text = written();
	assert_non_null(strstr(text, "\"runs\", \"cat\": \"state\", \"ts\": 1.000000}"));
	assert_non_null(strstr(text, "\"runs\", \"cat\": \"state\", \"ts\": 2.000000}"));
	assert_non_null(strstr(text, "\"runs\", \"cat\": \"state\", \"ts\": 5.000000}"));
	assert_non_null(strstr(text, "\"runs\", \"cat\": \"state\", \"ts\": 6.000000}"));
	assert_null(strstr(text, "\"ts\": 1.500000}"));
	free(text);
}

static void test_counters_are_averages_of_intervals(void **state)
{
	(void)state;
	run(0, 1000, 10);		/* the first interval has 1024 cycles */
	run(1000, 1000, 4);
	char *text = written();
	assert_non_null(strstr(text, "\"name\": \"IPC 7\", \"ts\": 0.000000, \"args\": {\"IPC\": 0.0098}}"));
	assert_non_null(strstr(text, "\"name\": \"IPC 7\", \"ts\": 1.024000, \"args\": {\"IPC\": 0.0041}}"));
	free(text);
}

static void test_a_long_run_has_longer_intervals(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4096; i++)
		run(1000 * (uint64_t)i, 1000, 10);
	char *text = written();
	unsigned n = 0;
	for (const char *at = text; (at = strstr(at, "\"name\": \"IPC 7\"")); at++)
		n++;
	assert_in_range(n, TRACE_INTERVALS / 2, TRACE_INTERVALS);
	/* 10 instructions in 1000 cycles, whose last cycle may lie in the next interval */
	for (const char *at = text; (at = strstr(at, "{\"IPC\": ")); at++) {
		const double ipc = atof(at + 8);
		assert_true(ipc > 0.007 && ipc < 0.0130);
	}
	free(text);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_regions_that_nest_stay_as_they_are), T(test_a_region_that_ends_first_splits_those_in_it),
		T(test_a_thread_runs_while_its_core_is_not_halted), T(test_counters_are_averages_of_intervals),
		T(test_a_long_run_has_longer_intervals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
