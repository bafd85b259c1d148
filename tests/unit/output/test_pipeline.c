/* SPDX-License-Identifier: GPL-2.0-or-later
 * Rows and stages of an excerpt of the pipeline, and the two formats, to the letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "output/pipeline/pipeline_rows.h"

#define UOP(address, what, happened, p, f, a, y, d, c, r) \
	{ .kind = SPMU_REC_UOP, .cpl = 3, .ip = address, .is = what, .did = happened, .port = p, .fetch = f, \
	.alloc = a, .ready = y, .dispatch = d, .complete = c, .retire = r }
#define ONE (SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT))
#define RIGHT SPMU_DID(RETIRED)

/* A store of two uops, a mispredicted branch, and a uop of the wrong path that was only allocated. */
static const struct spmu_record records[] = {
	UOP(0x401000, SPMU_IS(INST_BEGIN), RIGHT | SPMU_DID(FROM_DSB), 7, 0, 5, 6, 8, 9, 12),
	UOP(0x401000, SPMU_IS(INST_END), RIGHT | SPMU_DID(FROM_DSB), 4, 0, 5, 6, 6, 9, 12),
	{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_CYCLES, .end = 20 },
	UOP(0x401004, ONE | SPMU_IS(BRANCH), RIGHT | SPMU_DID(FROM_MITE) | SPMU_DID(MISPREDICTED), 6, 1, 6, 6, 7, 10,
		13),
	UOP(0x402000, ONE, SPMU_DID(FROM_MITE), 255, 2, 8, UINT32_MAX, UINT32_MAX, UINT32_MAX, 10),
};

static struct pipeline *excerpt(void)
{
	struct pipeline *p;
	unsigned thread;
	assert_int_equal(pipeline_create(&p, NULL, 100, NULL), 0);
	assert_int_equal(pipeline_thread(p, 1, 1, "one", &thread, NULL), 0);
	const struct spmu_batch b = { .base_cycle = 100, .count = sizeof records / sizeof *records,
		.records = records };
	pipeline_batch(p, thread, &b);
	assert_int_equal(pipeline_finish(p, NULL), 0);
	return p;
}

static void test_rows_are_the_uops_in_order(void **state)
{
	(void)state;
	struct pipeline *p = excerpt();
	size_t n;
	const struct pipeline_row *r = pipeline_rows(p, &n);
	assert_int_equal(n, 4);
	assert_int_equal(r[0].nth, 0);
	assert_int_equal(r[1].nth, 1);
	assert_int_equal(r[1].insn, 0);
	assert_int_equal(r[2].insn, 1);
	assert_int_equal(r[2].nth, 0);
	assert_int_equal(r[0].fetch, 100);
	assert_false(r[2].wrong);
	assert_int_equal(r[2].cause, EXACT_MISPREDICT);
	assert_true(r[3].wrong);
	assert_true(r[3].dispatch == PIPELINE_NEVER);
	pipeline_destroy(p);
}

static void test_stages_leave_out_what_takes_no_time(void **state)
{
	(void)state;
	struct pipeline *p = excerpt();
	size_t n;
	const struct pipeline_row *r = pipeline_rows(p, &n);
	struct pipeline_stage s[PIPELINE_STAGES];
	assert_int_equal(pipeline_stages(&r[0], s), 6);
	const enum pipeline_stage_kind all[] = { PIPELINE_DSB, PIPELINE_ALLOC, PIPELINE_ISSUE, PIPELINE_EXECUTE,
		PIPELINE_COMPLETE, PIPELINE_RETIRE };
	const uint64_t begin[] = { 100, 105, 106, 108, 109, 112 };
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(s[i].kind, all[i]);
		assert_int_equal(s[i].begin, begin[i]);
		assert_int_equal(s[i].end, i < 5 ? begin[i + 1] : 113);
	}
	assert_int_equal(pipeline_stages(&r[1], s), 5);	/* dispatched when it is ready */
	assert_int_equal(s[2].kind, PIPELINE_EXECUTE);
	assert_int_equal(pipeline_stages(&r[3], s), 2);	/* squashed in the scheduler */
	assert_int_equal(s[1].kind, PIPELINE_ALLOC);
	assert_int_equal(s[1].end, 110);
	pipeline_destroy(p);
}

static char *written(enum pipeline_format format)
{
	char *text = NULL;
	size_t bytes;
	struct pipeline *p = excerpt();
	FILE *to = open_memstream(&text, &bytes);
	assert_int_equal(pipeline_write(to, p, format, NULL), 0);
	fclose(to);
	pipeline_destroy(p);
	return text;
}

static void test_kanata(void **state)
{
	(void)state;
	char *text = written(PIPELINE_KANATA);
	assert_string_equal(text, "Kanata\t0004\nC=\t100\n"
		"I\t0\t0\t0\nL\t0\t0\t401000 \nL\t0\t1\t\\nport 7\\ntime goes to: port\n"
		"I\t1\t0\t0\nL\t1\t0\t401000.1 \nL\t1\t1\t\\nport 4\\ntime goes to: execution\n"
		"S\t0\t0\tDSB\nS\t1\t0\tDSB\nC\t1\n"
		"I\t2\t1\t0\nL\t2\t0\t401004 \n"
		"L\t2\t1\t\\nport 6\\ntime goes to: mispredict\\nbranch was mispredicted\n"
		"S\t2\t0\tMITE\nC\t1\n"
		"I\t3\t2\t0\nL\t3\t0\t402000 \nL\t3\t1\t\\nwrong path\\ntime goes to: pipeline\n"
		"S\t3\t0\tMITE\nC\t3\nS\t0\t0\tAl\nS\t1\t0\tAl\n"
		"C\t1\nS\t0\t0\tIs\nS\t1\t0\tX\nS\t2\t0\tIs\n"
		"C\t1\nS\t2\t0\tX\nC\t1\nS\t0\t0\tX\nS\t3\t0\tAl\n"
		"C\t1\nS\t0\t0\tCm\nS\t1\t0\tCm\n"
		"C\t1\nS\t2\t0\tCm\nR\t3\t0\t1\n"
		"C\t2\nS\t0\t0\tRt\nS\t1\t0\tRt\n"
		"C\t1\nR\t0\t0\t0\nR\t1\t1\t0\nS\t2\t0\tRt\nC\t1\nR\t2\t2\t0\n");
	free(text);
}

static void test_o3pipeview(void **state)
{
	(void)state;
	char *text = written(PIPELINE_O3);
	static const char second[] = "O3PipeView:fetch:101000:0x00401000:1:2:\nO3PipeView:decode:101000\n"
		"O3PipeView:rename:106000\nO3PipeView:dispatch:106000\nO3PipeView:issue:107000\n"
		"O3PipeView:complete:110000\nO3PipeView:retire:113000:store:0\n";
	static const char last[] = "O3PipeView:fetch:103000:0x00402000:0:4:\nO3PipeView:decode:103000\n"
		"O3PipeView:rename:109000\nO3PipeView:dispatch:109000\nO3PipeView:issue:0\nO3PipeView:complete:0\n"
		"O3PipeView:retire:0:store:0\n";
	assert_non_null(strstr(text, second));
	assert_string_equal(text + strlen(text) - strlen(last), last);
	free(text);
}

static void test_the_file_name_says_the_format(void **state)
{
	(void)state;
	assert_int_equal(pipeline_format_of("a.kanata"), PIPELINE_KANATA);
	assert_int_equal(pipeline_format_of("a.log"), PIPELINE_KANATA);
	assert_int_equal(pipeline_format_of("-"), PIPELINE_KANATA);
	assert_int_equal(pipeline_format_of(".out"), PIPELINE_KANATA);
	assert_int_equal(pipeline_format_of("trace.out"), PIPELINE_O3);
	assert_int_equal(pipeline_format_of("a.o3"), PIPELINE_O3);
	assert_int_equal(pipeline_format_of("a.o3pipeview"), PIPELINE_O3);
}

static void test_there_is_room_for_so_many_rows(void **state)
{
	(void)state;
	struct pipeline *p;
	unsigned thread;
	size_t n;
	assert_int_equal(pipeline_create(&p, NULL, 3, NULL), 0);
	assert_int_equal(pipeline_thread(p, 1, 1, "one", &thread, NULL), 0);
	const struct spmu_batch b = { .count = 4, .records = records };
	pipeline_batch(p, thread, &b);	/* three uops and a signal */
	assert_false(pipeline_full(p));
	pipeline_batch(p, thread, &b);
	assert_true(pipeline_full(p));
	pipeline_rows(p, &n);
	assert_int_equal(n, 3);
	pipeline_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_the_uops_in_order),
		cmocka_unit_test(test_stages_leave_out_what_takes_no_time),
		cmocka_unit_test(test_kanata), cmocka_unit_test(test_o3pipeview),
		cmocka_unit_test(test_the_file_name_says_the_format),
		cmocka_unit_test(test_there_is_room_for_so_many_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
