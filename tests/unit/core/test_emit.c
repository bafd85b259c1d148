/* SPDX-License-Identifier: GPL-2.0-or-later
 * Batches: every record is passed on whole, wherever a batch ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/record/emit.h"
#include <stdlib.h>
#include <string.h>

static uint64_t stalled, batches;

static struct spmu_record *sum(void *context, const struct spmu_batch *b)
{
	(void)context;
	batches++;
	for (uint32_t i = 0; i < b->count; i++)
		if (b->records[i].signal == SPMU_SIG_RESOURCE_STALL_RS)
			stalled += b->records[i].end - b->records[i].begin;
	return NULL;
}

/* A stall grows from cycle 100 to 200. Another begins when the batch has `others` other records and the watermark is
 * far ahead. Returns the stalled cycles in all records. */
static uint64_t stalled_with(uint32_t others)
{
	struct emitter e = { .wanted = { ~UINT64_C(0), ~UINT64_C(0) }, .span = EMIT_SPAN, .emit = sum,
		.record = calloc(SPMU_BATCH_MAX, sizeof(struct spmu_record)) };
	assert_non_null(e.record);
	stalled = batches = 0;
	emit_grow(&e, 0, SPMU_SIG_RESOURCE_STALL_RS, 100, 150, 1);
	emit_grow(&e, 0, SPMU_SIG_RESOURCE_STALL_RS, 150, 200, 1);
	for (uint32_t i = 0; i < others; i++)
		emit_signal(&e, SPMU_SIG_ICACHE_STALL, 10, 20, 1);
	e.watermark = 300;
	emit_grow(&e, 0, SPMU_SIG_RESOURCE_STALL_RS, 310, 320, 1);
	emit_flush(&e, true);
	free(e.record);
	return stalled;
}

static void test_an_interval_that_grew_is_whole_wherever_the_batch_ends(void **state)
{
	(void)state;
	assert_int_equal(stalled_with(3), 110);
	assert_int_equal(batches, 1);
	assert_int_equal(stalled_with(EMIT_LIMIT), 110);
	assert_int_equal(batches, 2);
	for (uint32_t n = EMIT_LIMIT - 3; n <= EMIT_LIMIT; n++)
		assert_int_equal(stalled_with(n), 110);
}

static uint64_t length[SPMU_SIG_COUNT];

static struct spmu_record *lengths(void *context, const struct spmu_batch *batch)
{
	(void)context;
	for (uint32_t i = 0; i < batch->count; i++)
		length[batch->records[i].signal] += batch->records[i].end - batch->records[i].begin;
	return NULL;
}

/* Cycles of TC_BUILD, which begins at `open`, and of MS_BUSY; flush: a batch ends while both are under way. */
static void cut_at(bool flush, uint64_t open, uint64_t *built, uint64_t *busy)
{
	struct emitter e = { .wanted = { ~UINT64_C(0), ~UINT64_C(0) }, .span = EMIT_SPAN, .emit = lengths,
		.record = calloc(SPMU_BATCH_MAX, sizeof(struct spmu_record)) };
	assert_non_null(e.record);
	memset(length, 0, sizeof length);
	e.open = open;
	e.busy = true;
	e.busy_from = 50;
	emit_signal(&e, SPMU_SIG_ICACHE_STALL, 10, 20, 1);
	e.watermark = 300;
	if (flush)
		emit_flush(&e, false);
	e.busy = false;
	emit_signal(&e, SPMU_SIG_MS_BUSY, e.busy_from, 400, 1);
	emit_grow(&e, 0, SPMU_SIG_TC_BUILD, open, 310, 1);
	emit_flush(&e, true);
	free(e.record);
	*built = length[SPMU_SIG_TC_BUILD];
	*busy = length[SPMU_SIG_MS_BUSY];
}

static void test_an_interval_under_way_is_whole_wherever_the_batch_ends(void **state)
{
	(void)state;
	uint64_t built, busy;
	for (unsigned flush = 0; flush < 2; flush++)
		for (uint64_t open = 30; open <= 300; open += 90) {
			cut_at(flush, open, &built, &busy);
			assert_int_equal(built, 310 - open);
			assert_int_equal(busy, 350);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_interval_that_grew_is_whole_wherever_the_batch_ends),
		cmocka_unit_test(test_an_interval_under_way_is_whole_wherever_the_batch_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
