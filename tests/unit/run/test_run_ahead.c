/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks that were read ahead (run/ahead.h). */
#include "run/ahead.h"
#include "util/err.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct iblock blocks[CONVERGE_BLOCKS];

static struct ahead *begin(void)
{
	struct ahead *a = calloc(1, sizeof *a);
	assert_non_null(a);
	assert_true(ahead_is_empty(a));
	return a;
}

static void put(struct ahead *a, unsigned i, const uint64_t *slots, unsigned n)
{
	ahead_put(a, &(struct pending){ .block = &blocks[i], .slots = slots, .slot_count = n, .exit = (uint16_t)i });
}

static void test_blocks_come_out_in_their_order(void **state)
{
	struct ahead *a = begin();
	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < CONVERGE_BLOCKS; i++) {
			assert_false(ahead_is_full(a));
			put(a, i, NULL, 0);
		}
		assert_true(ahead_is_full(a));
		for (unsigned i = 0; i < CONVERGE_BLOCKS; i++) {
			const struct pending *p = ahead_take(a);
			assert_ptr_equal(p->block, &blocks[i]);
			assert_int_equal(p->exit, i);
		}
		assert_true(ahead_is_empty(a));
	}
	ahead_destroy(a);
}

static void test_slots_outlive_their_span(void **state)
{
	struct ahead *a = begin();
	struct err err = { 0 };
	uint64_t span[CONVERGE_BLOCKS * 2];
	(void)state;
	for (unsigned i = 0; i < CONVERGE_BLOCKS; i++) {
		const unsigned n = i % 3;
		for (unsigned k = 0; k < n; k++)
			span[2 * i + k] = 100 * i + k;
		put(a, i, span + 2 * i, n);
		if (i % 5 == 4) {	/* the span ends */
			assert_int_equal(ahead_keep(a, &err), 0);
			memset(span, 0xff, sizeof span);
		}
	}
	assert_int_equal(ahead_keep(a, &err), 0);
	memset(span, 0xff, sizeof span);
	for (unsigned i = 0; i < CONVERGE_BLOCKS; i++) {
		const struct converge_block *c = &a->converge.block[a->converge.first & (CONVERGE_BLOCKS - 1)];
		const struct pending *p = ahead_take(a);
		assert_int_equal(p->slot_count, i % 3);
		assert_int_equal(c->nslots, i % 3);
		assert_true(!c->nslots || p->slots == c->slots);	/* the look-ahead sees the same slots */
		for (unsigned k = 0; k < i % 3; k++)
			assert_int_equal(p->slots[k], 100 * i + k);
	}
	ahead_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_come_out_in_their_order),
		cmocka_unit_test(test_slots_outlive_their_span),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
