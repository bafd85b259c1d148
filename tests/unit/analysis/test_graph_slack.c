/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slack of instructions (analysis/graph/graph_slack.h): hand-made graphs whose slack is known, or is found by
 * making each instruction later. */
#include "analysis/graph/graph_slack.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 256, ROB = 12, WIDE = 1000, REDIRECT = 5 };
struct op { unsigned src[2], dst, takes; bool wrong /* a mispredicted branch */,
	goes_on /* belongs to the instruction of the uop before */; };
struct made { struct path_uop uop[MOST]; unsigned n; };

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Runs ops on a machine without ports that allocates and retires `width` uops a cycle and has a reorder buffer of
 * ROB. */
static uint64_t run(struct made *m, const struct op *op, unsigned n, unsigned width)
{
	uint64_t reg[16] = { 0 }, fetch = 0, alloc = 0, retire = 0, resolved = 0;
	bool redirected = false;
	m->n = n;
	for (unsigned i = 0; i < n; i++) {
		struct path_uop *u = &m->uop[i];
		*u = (struct path_uop){ .ip = 0x1000 + i, .is = op[i].goes_on ? 0 : SPMU_IS(INST_BEGIN),
			.did = op[i].wrong ? SPMU_DID(MISPREDICTED) : 0, .src = { (uint8_t)op[i].src[0],
			(uint8_t)op[i].src[1] },
			.dst = { (uint8_t)op[i].dst }, .first = true, .last = true, .store = -1, .blocked = -1,
			.line_of = PATH_NO_LINE, .slots = i, .idq_size = 200, .rob_size = ROB,
			.load_buffer_size = 64, .store_buffer_size = 64, .redirect = REDIRECT, .alloc_width = width,
			.retire_width = width, .redirected = redirected, .resolved = resolved, .fetch_before = fetch,
			.retire_before = retire };
		if (redirected)
			fetch = later(fetch, resolved + REDIRECT);
		u->fetch = u->fetch_due = fetch;
		u->rob = i >= ROB ? m->uop[i - ROB].retire + 1 : 0;
		u->alloc_last = alloc;
		u->alloc_group = i >= width ? m->uop[i - width].alloc + 1 : 0;
		u->retire_group = i >= width ? m->uop[i - width].retire + 1 : 0;
		alloc = later(later(alloc, u->alloc_group), later(fetch, u->rob));
		u->alloc = u->alloc_slot = alloc;
		u->reg[0] = reg[op[i].src[0]];
		u->reg[1] = reg[op[i].src[1]];
		u->ready = u->dispatch = later(alloc, later(u->reg[0], u->reg[1]));
		u->complete = u->dispatch + op[i].takes;
		reg[op[i].dst] = u->complete;
		reg[0] = 0;
		redirected = op[i].wrong;
		resolved = redirected ? u->complete : resolved;
		u->retire = retire = later(later(retire, u->retire_group), u->complete);
	}
	return retire;
}

static struct slack *slack_of(const struct made *m, struct path **path)
{
	*path = path_create();
	struct slack *s = slack_create(*path);
	assert_non_null(s);
	for (unsigned i = 0; i < m->n; i++)
		slack_uop(s, &m->uop[i]);
	slack_end(s);
	return s;
}

static void expect(const struct op *op, unsigned n, const int *global, const int *local)
{
	static struct made m;
	struct path *path;
	run(&m, op, n, WIDE);
	struct slack *s = slack_of(&m, &path);
	for (unsigned i = 0; i < n; i++) {
		if (global[i] >= 0) {
			assert_int_equal(path_site(path, 0x1000 + i)->slack[SLACK_GLOBAL].count, 1);
			assert_int_equal(path_site(path, 0x1000 + i)->slack[SLACK_GLOBAL].sum, global[i]);
			assert_int_equal(path_site(path, 0x1000 + i)->slack[SLACK_LOCAL].sum, local[i]);
		} else {
			assert_int_equal(path_site(path, 0x1000 + i)->slack[SLACK_GLOBAL].count, 0);
		}
	}
	slack_destroy(s);
	path_destroy(path);
}

static void test_the_shorter_of_two_operands_has_the_difference(void **state)
{
	(void)state;
	const struct op op[] = { { .dst = 1, .takes = 10 }, { .dst = 2, .takes = 3 }, { .src = { 1, 2 }, .dst = 3,
		.takes = 2 } };
	expect(op, 3, (const int[]){ 0, 7, 0 }, (const int[]){ 0, 7, 0 });
}

static void test_local_slack_ends_at_the_next_instruction_global_at_the_run_s_end(void **state)
{
	(void)state;
	/* a chain of two in parallel with an operation that takes as long as four */
	const struct op op[] = { { .dst = 1, .takes = 20 }, { .dst = 2, .takes = 5 }, { .src = { 2 }, .dst = 3,
		.takes = 5 }, { .src = { 1, 3 }, .takes = 1 } };
	expect(op, 4, (const int[]){ 0, 10, 10, 0 }, (const int[]){ 0, 0, 10, 0 });
}

static void test_what_nobody_reads_is_held_by_retirement(void **state)
{
	(void)state;
	const struct op op[] = { { .dst = 1, .takes = 4 }, { .dst = 2, .takes = 10 }, { .src = { 2 }, .dst = 2,
		.takes = 10 } };
	expect(op, 3, (const int[]){ 16, 0, 0 }, (const int[]){ 6, 0, 0 });
}

static void test_a_mispredicted_branch_has_that_of_what_follows_it(void **state)
{
	(void)state;
	const struct op op[] = { { .dst = 1, .takes = 30 }, { .wrong = true, .takes = 2 }, { .dst = 2, .takes = 3 },
		{ .src = { 1, 2 }, .takes = 1 } };
	/* 30 less 2, 5 to redirect, 3 */
	expect(op, 4, (const int[]){ 0, 20, 20, 0 }, (const int[]){ 0, 0, 20, 0 });
}

static void test_uops_of_an_instruction_count_as_one(void **state)
{
	(void)state;
	const struct op op[] = { { .dst = 1, .takes = 20 }, { .dst = 2, .takes = 5 }, { .src = { 2 }, .dst = 3,
		.takes = 1, .goes_on = true }, { .src = { 1, 3 }, .takes = 1 } };
	expect(op, 4, (const int[]){ 0, 14, -1, 0 }, (const int[]){ 0, 14, -1, 0 });
}

/* An instruction that is later by its slack does not delay the run; one cycle more does. */
static void test_slack_is_by_how_much_each_can_be_later_before_the_run_is(void **state)
{
	static struct made m, other;
	uint32_t seed = 7;
	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		struct op op[MOST];
		const unsigned n = 40 + round, width = round % 2 ? 2 : WIDE;
		struct path *path;
		for (unsigned i = 0; i < n; i++) {
			uint32_t r[5];
			for (unsigned k = 0; k < 5; k++)
				r[k] = (seed = seed * 1664525 + 1013904223) >> 16;
			op[i] = (struct op){ .src = { r[0] % 8, r[1] % 8 }, .dst = r[2] % 8, .takes = r[3] % 7
				? 1 + r[3] % 4 : 12, .wrong = r[4] % 17 == 0 };
		}
		const uint64_t whole = run(&m, op, n, width);
		struct slack *s = slack_of(&m, &path);
		for (unsigned i = 0; i < n; i++) {
			const unsigned takes = op[i].takes, slack = (unsigned)path_site(path,
				0x1000 + i)->slack[SLACK_GLOBAL].sum;
			op[i].takes = takes + slack;
			assert_int_equal(run(&other, op, n, width), whole);
			op[i].takes++;
			assert_true(run(&other, op, n, width) > whole);
			op[i].takes = takes;
		}
		slack_destroy(s);
		path_destroy(path);
	}
}

static void test_a_long_run_is_counted_through_all_windows(void **state)
{
	static struct made m;
	struct path *path = path_create();
	struct slack *s = slack_create(path);
	const struct op op[] = { { .src = { 1 }, .dst = 1, .takes = 3 }, { .dst = 2, .takes = 1 } };
	(void)state;
	run(&m, op, 2, WIDE);
	for (uint32_t i = 0; i < 50000; i++)
		for (unsigned k = 0; k < 2; k++) { /* a chain of three cycles each, and something short in parallel */
			struct path_uop u = m.uop[k];
			u.slots = 2 * i + k;
			u.fetch = u.fetch_due = u.fetch_before = u.alloc = u.alloc_last = u.alloc_slot =
				3 * (uint64_t)i;
			u.dispatch = u.ready = u.alloc;
			u.complete = u.dispatch + op[k].takes;
			u.reg[0] = k ? 0 : 3 * (uint64_t)i;
			u.retire_before = k ? u.alloc + 3 : u.alloc;
			u.retire = u.alloc + 3;
			slack_uop(s, &u);
		}
	slack_end(s);
	assert_int_equal(slack_counts(s, SLACK_GLOBAL)->count, 100000);
	assert_int_equal(path_site(path, 0x1000)->slack[SLACK_GLOBAL].count, 50000);
	assert_int_equal(path_site(path, 0x1000)->slack[SLACK_GLOBAL].none, 50000);
	assert_int_equal(path_site(path, 0x1001)->slack[SLACK_LOCAL].count, 50000);
	assert_int_equal(path_site(path, 0x1001)->slack[SLACK_LOCAL].none, 0);
	assert_int_equal(path_site(path, 0x1001)->slack[SLACK_LOCAL].below_50, 50000);
	assert_int_equal(slack_spread(s, SLACK_GLOBAL)->count, 100000);
	slack_destroy(s);
	path_destroy(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_shorter_of_two_operands_has_the_difference),
		cmocka_unit_test(test_local_slack_ends_at_the_next_instruction_global_at_the_run_s_end),
		cmocka_unit_test(test_what_nobody_reads_is_held_by_retirement),
		cmocka_unit_test(test_a_mispredicted_branch_has_that_of_what_follows_it),
		cmocka_unit_test(test_uops_of_an_instruction_count_as_one),
		cmocka_unit_test(test_slack_is_by_how_much_each_can_be_later_before_the_run_is),
		cmocka_unit_test(test_a_long_run_is_counted_through_all_windows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
