/* SPDX-License-Identifier: GPL-2.0-or-later
 * The thread of the leaders' predictors: it learns every block once, in order, for the right core. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#define core_learn learned
#include "run/learner.c"

enum { BLOCKS = LEARNER_PATHS * LEARNER_BATCHES * 3 + 17 };
static size_t count[2];		/* of each core: blocks that it has learned */
static unsigned wrong;		/* blocks that came out of order, or calls with a wrong address behind the last */
static char core[2], path[BLOCKS + 1];

static const struct warm_path *number(size_t i)
{
	return (const struct warm_path *)&path[i];
}

void learned(struct core *c, const struct warm_path *const *p, size_t n, uint64_t next_ip)
{
	const size_t k = (size_t)((char *)c - core);
	for (size_t i = 0; i < n; i++)
		wrong += p[i] != number(count[k]++);
	wrong += next_ip != count[k];
}

static void test_every_block_is_learned_once_and_in_order(void **state)
{
	struct learner l;
	struct err err;
	(void)state;
	assert_int_equal(learner_start(&l, &err), 0);
	size_t sent[2] = { 0 };
	for (size_t i = 0; i < BLOCKS; i++) {
		const size_t k = i / 1000 % 5 == 4;	/* the cores take turns */
		struct learner_batch *b = learner_room(&l, (struct core *)&core[k]);
		b->path[b->n++] = number(sent[k]);
		b->next_ip = sent[k] + 1;
		sent[k]++;
		if (i % 7001 == 0) {
			learner_settle(&l);
			assert_int_equal(count[0], sent[0]);
			assert_int_equal(count[1], sent[1]);
		}
	}
	learner_stop(&l);
	assert_int_equal(count[0], sent[0]);
	assert_int_equal(count[1], sent[1]);
	assert_int_equal(wrong, 0);
}

static void test_a_learner_that_never_started_is_settled_and_stops(void **state)
{
	struct learner l = { 0 };
	(void)state;
	learner_settle(&l);
	learner_stop(&l);
	assert_false(l.running);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_block_is_learned_once_and_in_order),
		cmocka_unit_test(test_a_learner_that_never_started_is_settled_and_stops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
