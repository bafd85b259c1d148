/* SPDX-License-Identifier: GPL-2.0-or-later
 * guest_queue: every operation is applied once and in order; a meeting tells what was known at the one before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "machine/guest_queue.h"

struct side { uint64_t sum, ops, order, marks; };

/* All up to the next meeting, or one. */
static const uint64_t *apply(void *context, const uint64_t *op, const uint64_t *end)
{
	struct side *s = context;
	do {
		const uint32_t words = (uint32_t)op[0];
		s->order += op[1] != s->ops++;
		for (uint32_t i = 2; i < words; i++)
			s->sum += op[i] * i;
		op += words;
	} while (s->sum & 1 && op < end && op[0] >> 32 == 1 << 8);
	return op;
}

static void tell(void *context, uint64_t mark, uint64_t told[QUEUE_TELLS])
{
	struct side *s = context;
	s->marks += mark != s->ops;
	told[0] = s->ops;
	told[1] = s->sum;
}

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525 + 1013904223; }

static void test_operations_and_meetings(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 4; seed++) {
		struct side s = { 0 };
		struct guest_queue *q;
		struct err err;
		uint32_t random = seed;
		uint64_t sum = 0, ops = 0, at_last = 0, sum_last = 0, told[QUEUE_TELLS];
		bool fresh = true;
		assert_int_equal(guest_queue_create(&q, &(struct guest_queue_side){ &s, apply, tell }, &err), 0);
		for (unsigned i = 0; i < 60000; i++) {
			const uint32_t words = 2 + (next(&random) >> 8) % (QUEUE_OP_WORDS - 1);
			uint64_t *op = guest_queue_room(q, words);
			for (uint32_t k = 2; k < words; k++) {
				op[k] = k ^ i;
				sum += op[k] * k;
			}
			op[1] = ops++;
			op[0] = words | UINT64_C(1) << 40;
			guest_queue_push(q, words);
			if (next(&random) >> 24 < 4) {
				guest_queue_meet(q, ops, told);
				assert_true(told[0] == (fresh ? 0 : at_last) && told[1] == (fresh ? 0 : sum_last));
				at_last = ops;
				sum_last = sum;
				fresh = false;
			}
			if (next(&random) >> 22 == 0) {
				guest_queue_drain(q);
				assert_true(s.ops == ops && s.sum == sum);
				fresh = true;
			}
		}
		guest_queue_destroy(q);
		assert_true(s.ops == ops && s.sum == sum && !s.order && !s.marks);
	}
	guest_queue_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_operations_and_meetings) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
