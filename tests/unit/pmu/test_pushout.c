/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pushouts, tags and thresholds (pmu/pushout_meter.h, session/events/tag_parse.h); the counters' registers:
 * test_pmu_pushout.c. */
#include "analysis/cost/spread.h"
#include "session/events/tag_parse.h"
#include "pmu/pushout_meter.h"
#include "session_fixture.h"

enum { A = 0x1000, B = 0x1004, C = 0x1008, D = 0x100c };
static struct fixture_batch f;

/* Adds an instruction of one slot that is dispatched and retires in these cycles. */
static struct spmu_record *insn(uint64_t ip, uint64_t is, uint64_t did, uint32_t dispatch, uint32_t retire)
{
	struct spmu_record *r = fixture_uop(&f, ip, is | SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END), did, 0, retire);
	r->fetch = r->alloc = r->ready = r->dispatch = dispatch;
	return r;
}

struct seen { unsigned n; uint64_t ip[64]; uint32_t cycles[64]; };
static void on_each(void *context, unsigned measure, const struct pushout_one *one)
{
	struct seen *s = context;
	(void)measure;
	assert_true(s->n < 64);
	s->ip[s->n] = one->ip;
	s->cycles[s->n++] = one->cycles;
}

/* Measures the pushout in the batch f; text: the tag, NULL for sequential pushout. */
static struct pushout_sums measure(const char *text, enum pushout_from from, struct seen *seen)
{
	struct tag tag;
	struct err err;
	struct pushout_measure m = { .from = from, .each = on_each, .context = seen };
	if (text) {
		assert_int_equal(tag_parse(&tag, text, &err), 0);
		m.tag = &tag;
	}
	*seen = (struct seen){ 0 };
	struct pushout *p = pushout_create(&(struct pushout_widths){ { 2, 2, 2, 2 } }, &m, 1);
	assert_non_null(p);
	pushout_batch(p, &f.b);
	struct pushout_sums sums = pushout_sums(p);
	pushout_destroy(p);
	return sums;
}

static void test_sequential_pushout_is_what_retirement_was_late(void **state)
{
	struct seen s;
	(void)state;
	fixture_begin(&f, 100);
	insn(A, 0, 0, 0, 10);		/* the stretch begins at 0 */
	insn(B, 0, 0, 0, 10);		/* two may retire in a cycle */
	insn(C, 0, 0, 0, 11);		/* the cycle was full: not late */
	insn(D, 0, 0, 0, 16);
	fixture_end(&f, 0, 16, true);
	struct pushout_sums sums = measure(NULL, PUSHOUT_FROM_DUE, &s);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.cycles[0], 10);
	assert_int_equal(s.cycles[1], 0);
	assert_int_equal(s.cycles[2], 0);
	assert_int_equal(s.cycles[3], 5);
	assert_int_equal(sums.pushed + sums.full, 16);	/* together they are all cycles */
	assert_int_equal(sums.slots, 4);
}

static void test_of_two_stalls_that_overlap_the_second_pushes_out_by_one_at_most(void **state)
{
	struct seen s;
	(void)state;
	fixture_begin(&f, 0);
	insn(A, 0, 0, 0, 0);
	insn(B, SPMU_IS(LOAD), SPMU_DID(L2_MISS), 0, 50);
	insn(C, SPMU_IS(LOAD), SPMU_DID(L2_MISS), 1, 51);
	fixture_end(&f, 0, 51, true);
	measure("l2_miss", PUSHOUT_FROM_DUE, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.cycles[0], 50);
	assert_true(s.cycles[1] <= 1);
	measure("l2_miss", PUSHOUT_FROM_EVENT, &s);	/* each would have taken as long alone */
	assert_int_equal(s.cycles[0], 50);
	assert_int_equal(s.cycles[1], 50);
}

static void test_a_mispredicted_branch_pushes_out_what_comes_behind_it_and_is_charged(void **state)
{
	struct seen s;
	(void)state;
	fixture_begin(&f, 0);
	insn(A, 0, 0, 0, 2);
	struct spmu_record *branch = insn(B, SPMU_IS(BRANCH) | SPMU_IS(COND), SPMU_DID(MISPREDICTED), 3, 20);
	branch->complete = 12;
	insn(C, 0, 0, 30, 44);
	insn(D, 0, 0, 30, 44);
	fixture_end(&f, 0, 44, true);
	measure("mispredict", PUSHOUT_FROM_DUE, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.ip[0], B);
	assert_int_equal(s.cycles[0], 24);
	measure("mispredict & cond", PUSHOUT_FROM_EVENT, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.cycles[0], 32);	/* counted from the branch's completion */
	measure("mispredict & indirect", PUSHOUT_FROM_DUE, &s);
	assert_int_equal(s.n, 0);
	measure("branch", PUSHOUT_FROM_DUE, &s);	/* the branch's own pushout */
	assert_int_equal(s.n, 1);
	assert_int_equal(s.cycles[0], 18);
}

static void test_a_machine_clear_without_a_uop_pushes_out_the_next_slot(void **state)
{
	struct seen s;
	(void)state;
	fixture_begin(&f, 0);
	insn(A, 0, 0, 0, 2);
	f.r[f.b.count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .signal = SPMU_SIG_CLEAR_SMC,
		.did = 1, .begin = 3, .end = 3 };
	insn(B, 0, 0, 30, 44);
	insn(C, SPMU_IS(LOAD), SPMU_DID(CLEAR_MEMORY_ORDER), 30, 60);
	fixture_end(&f, 0, 60, true);
	measure("clear", PUSHOUT_FROM_DUE, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.ip[0], A);
	assert_int_equal(s.cycles[0], 42);
	assert_int_equal(s.ip[1], C);
	assert_int_equal(s.cycles[1], 16);
}

static void test_the_other_points_in_order_have_pushouts_of_their_own(void **state)
{
	static const uint32_t expect[PUSHOUT_MEMORY][4] = { { 10, 0, 0, 29 }, { 3, 0, 4, 12 }, { 1, 0, 0, 15 } };
	(void)state;
	fixture_begin(&f, 0);
	insn(A, 0, 0, 0, 10);
	insn(B, 0, 0, 0, 10);
	insn(C, 0, SPMU_DID(ICACHE_MISS), 0, 11);
	insn(D, 0, 0, 0, 40);
	f.r[0].fetch = 1, f.r[1].fetch = 1, f.r[2].fetch = 2, f.r[3].fetch = 17;
	f.r[0].alloc = 3, f.r[1].alloc = 3, f.r[2].alloc = 8, f.r[3].alloc = 20;
	fixture_end(&f, 0, 40, true);
	for (unsigned k = 0; k < PUSHOUT_MEMORY; k++) {
		struct seen s = { 0 };
		struct pushout_measure m = { .point = (enum pushout_point)k, .each = on_each, .context = &s };
		struct pushout *p = pushout_create(&(struct pushout_widths){ { 2, 2, 2, 2 } }, &m, 1);
		pushout_batch(p, &f.b);
		assert_int_equal(s.n, 4);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(s.cycles[i], expect[k][i]);
		pushout_destroy(p);
		assert_null(pushout_create(&(struct pushout_widths){ { k == PUSHOUT_RETIRE ? 0 : 2 } }, &m, 1));
	}
}

static void test_halted_cycles_push_nothing_out(void **state)
{
	struct seen s;
	struct pushout_measure m = { .each = on_each, .context = &s };
	struct pushout *p = pushout_create(&(struct pushout_widths){ { 2, 2, 2, 2 } }, &m, 1);
	(void)state;
	s = (struct seen){ 0 };
	fixture_begin(&f, 0);
	insn(A, 0, 0, 0, 4);
	fixture_end(&f, 0, 4, false);
	pushout_batch(p, &f.b);
	fixture_begin(&f, 1000);
	insn(B, 0, 0, 0, 7);
	fixture_end(&f, 0, 7, true);
	pushout_batch(p, &f.b);
	assert_int_equal(s.cycles[1], 7);
	pushout_destroy(p);
}

static void test_the_memory_order_buffer_is_passed_by_slots_that_access_memory(void **state)
{
	struct seen s = { 0 };
	struct pushout_measure m = { .point = PUSHOUT_MEMORY, .each = on_each, .context = &s };
	struct pushout *p = pushout_create(&(struct pushout_widths){ { 2, 2, 2, 1 } }, &m, 1);
	(void)state;
	fixture_begin(&f, 0);
	insn(A, SPMU_IS(LOAD), 0, 5, 10);
	insn(B, SPMU_IS(STORE_ADDR), 0, 5, 11);
	insn(C, 0, 0, 9, 12);
	insn(D, SPMU_IS(LOAD), 0, 9, 13);
	fixture_end(&f, 0, 13, true);
	pushout_batch(p, &f.b);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.cycles[0], 5);
	assert_int_equal(s.cycles[1], 0);	/* one passes each cycle, so it was due a cycle later than it passed */
	assert_int_equal(s.ip[2], D);
	assert_int_equal(s.cycles[2], 3);
	pushout_destroy(p);
}

static void fetched(uint64_t ip, uint32_t cycle)
{
	f.r[f.b.count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .signal = SPMU_SIG_INSN_FETCHED,
		.did = 1, .ip = ip, .begin = cycle, .end = cycle };
}

/* In a cycle two instructions are fetched for the decoders and four slots are delivered. */
static void test_fetch_is_passed_ahead_of_the_decoders(void **state)
{
	struct seen fetch = { 0 }, decode = { 0 };
	struct pushout_measure m[2] = { { .point = PUSHOUT_FETCH, .each = on_each, .context = &fetch },
		{ .point = PUSHOUT_DECODE, .each = on_each, .context = &decode } };
	struct pushout *p = pushout_create(&(struct pushout_widths){ { 4, 4, 4, 4, 1, 2 } }, m, 2);
	(void)state;
	fixture_begin(&f, 0);
	fetched(A, 5);
	insn(A, 0, SPMU_DID(FROM_MITE), 9, 20);
	fetched(B, 5);
	insn(B, 0, SPMU_DID(FROM_MITE), 12, 20)->is &= ~SPMU_IS(INST_END);
	fixture_uop(&f, B, SPMU_IS(SLOT) | SPMU_IS(INST_END), SPMU_DID(FROM_MITE), 0, 20)->fetch = 12;
	fetched(C, 6);
	fixture_end(&f, 0, 20, false);
	pushout_batch(p, &f.b);
	fixture_begin(&f, 20);	/* C's fetch signal was in the batch before */
	insn(C, 0, SPMU_DID(FROM_MITE), 2, 20);
	insn(D, 0, SPMU_DID(FROM_DSB), 10, 20);
	insn(C, 0, SPMU_DID(FROM_DSB), 10, 20);	/* from the uop cache: it passes fetch when it is delivered */
	fixture_end(&f, 0, 20, true);
	pushout_batch(p, &f.b);
	const uint32_t at_fetch[] = { 5, 0, 0, 0, 24, 0 }, at_decode[] = { 9, 3, 0, 10, 8, 0 };
	assert_int_equal(fetch.n, 6);
	assert_int_equal(decode.n, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(fetch.cycles[i], at_fetch[i]);
		assert_int_equal(decode.cycles[i], at_decode[i]);
	}
	pushout_destroy(p);
}

static void written(uint64_t ip, uint32_t cycle)
{
	f.r[f.b.count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .signal = SPMU_SIG_STORE_VISIBLE,
		.did = 1, .ip = ip, .begin = cycle, .end = cycle };
}

static void test_stores_become_visible_in_order_behind_retirement(void **state)
{
	struct seen due = { 0 }, event = { 0 };
	struct tag tag;
	assert_int_equal(tag_parse(&tag, "store & !lock", NULL), 0);
	struct pushout_measure m[2] = { { .point = PUSHOUT_VISIBLE, .each = on_each, .context = &due },
		{ .tag = &tag, .point = PUSHOUT_VISIBLE, .from = PUSHOUT_FROM_EVENT, .each = on_each,
			.context = &event } };
	struct pushout *p = pushout_create(&(struct pushout_widths){ { 2, 2, 2, 2, 1 } }, m, 2);
	(void)state;
	fixture_begin(&f, 0);
	insn(A, SPMU_IS(STORE_ADDR), 0, 0, 10);
	written(0x99, 11);	/* a store of no instruction here */
	written(A, 14);		/* comes before the next slot's record */
	insn(B, 0, 0, 0, 10);
	insn(C, SPMU_IS(STORE_ADDR) | SPMU_IS(LOCK), 0, 0, 11);
	insn(D, SPMU_IS(STORE_ADDR), 0, 0, 12);
	fixture_end(&f, 0, 12, false);
	pushout_batch(p, &f.b);
	assert_int_equal(due.n, 1);
	fixture_begin(&f, 12);
	written(C, 3);
	written(D, 33);
	insn(B, 0, 0, 0, 40);
	fixture_end(&f, 0, 40, true);
	pushout_batch(p, &f.b);
	const uint64_t ip[] = { A, C, D };
	const uint32_t cycles[] = { 14, 0, 29 }; /* one a cycle: C and D are due a cycle after the store before them */
	assert_int_equal(due.n, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(due.ip[i], ip[i]);
		assert_int_equal(due.cycles[i], cycles[i]);
	}
	assert_int_equal(event.n, 2);
	assert_int_equal(event.cycles[0], 4);
	assert_int_equal(event.cycles[1], 45 - 12);
	pushout_destroy(p);
}

static void test_three_ways_to_count_by_threshold_fire_alike(void **state)
{
	(void)state;
	for (uint32_t threshold = 1; threshold < 60; threshold++)
		for (uint32_t x = 1, i = 0; i < 1000; i++, x = x * 1103515245 + 12345) {
			const uint32_t cycles = (x >> 16) % 64;
			assert_int_equal(pushout_fires(PUSHOUT_DOWN, threshold, cycles), cycles >= threshold);
			assert_int_equal(pushout_fires(PUSHOUT_UP_FROM, 0u - threshold, cycles), cycles >= threshold);
			assert_int_equal(pushout_fires(PUSHOUT_UP_TO, threshold, cycles), cycles >= threshold);
		}
}

static void test_tags_bind_not_then_and_then_or(void **state)
{
	struct tag t;
	const uint64_t l2 = SPMU_DID(L2_MISS), l3 = SPMU_DID(L3_MISS), lock = SPMU_IS(LOCK);
	(void)state;
	assert_int_equal(tag_parse(&t, "l2_miss & !l3_miss", NULL), 0);
	assert_true(tag_holds(&t, 0, l2));
	assert_false(tag_holds(&t, 0, l2 | l3));
	assert_false(t.without);
	assert_int_equal(tag_parse(&t, " lock|L2_MISS&!(l3_miss || lock) ", NULL), 0);
	assert_true(tag_holds(&t, lock, l3));
	assert_true(tag_holds(&t, 0, l2));
	assert_false(tag_holds(&t, 0, l2 | l3));
	assert_int_equal(tag_parse(&t, "!!l2_miss", NULL), 0);
	assert_true(tag_holds(&t, 0, l2));
	assert_int_equal(tag_parse(&t, "!l2_miss", NULL), 0);
	assert_true(t.without && tag_holds(&t, 0, 0));
}

static void test_bad_tags_are_refused_with_the_place_and_near_names(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "", "at the end" }, { "l2_miss &", "at the end" }, { "l2_miss l3_miss", "& or |" },
		{ "(l2_miss", "')' is missing" }, { "&", "a name" },
		{ "l2_mis", "l2_miss" }, { "l1d_evict_modified", "belongs to no uop" },
		{ "retired", "unknown event" }, { "l2_miss\n\nlock", "& or" }, { "l2_miss)", "& or |" },
	};
	struct tag t;
	struct err err;
	char deep[400];
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(tag_parse(&t, bad[i].text, &err), ERR_INPUT);
		if (!strstr(err.text, bad[i].says))
			print_error("'%s': %s\n", bad[i].text, err.text);
		assert_non_null(strstr(err.text, bad[i].says));
		assert_null(strchr(err.text, '\n'));
	}
	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = 0;
	assert_int_equal(tag_parse(&t, deep, &err), ERR_INPUT);
	for (size_t i = 0; i + 2 < sizeof deep; i += 2)
		memcpy(deep + i, "!x", 3);
	assert_int_equal(tag_parse(&t, deep, &err), ERR_INPUT);
}

static void test_every_name_that_is_listed_is_a_tag(void **state)
{
	char name[64];
	const char *help;
	struct tag t;
	unsigned n = 0;
	(void)state;
	for (; tag_name(n, name, &help); n++)
		assert_int_equal(tag_parse(&t, name, NULL), 0);
	assert_true(n > 60);
}

static void test_quantiles_are_exact_below_the_first_octave(void **state)
{
	struct spread s, more;
	(void)state;
	spread_init(&s, 8);
	spread_init(&more, 8);
	assert_int_equal(spread_quantile(&s, 0.5), 0);
	for (uint32_t v = 1; v <= 400; v++)
		assert_true(spread_add(v & 1 ? &s : &more, v));
	assert_true(spread_merge(&s, &more));
	assert_int_equal(spread_quantile(&s, 0.25), 100);
	assert_int_equal(spread_quantile(&s, 0.5), 200);
	assert_int_equal(spread_quantile(&s, 1), 400);
	assert_int_equal(spread_at_least(&s, 399), 2);
	assert_int_equal(s.max, 400);
	for (uint64_t v = 1; v <= UINT32_MAX; v = v * 3 + 1) {	/* a bucket's low end is less by at most 1/256 */
		struct spread one;
		spread_init(&one, 8);
		assert_true(spread_add(&one, (uint32_t)v));
		uint32_t low = spread_quantile(&one, 0.5);
		assert_true(low <= v && v - low <= v >> 8);
		spread_release(&one);
	}
	spread_release(&s);
	spread_release(&more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequential_pushout_is_what_retirement_was_late),
		cmocka_unit_test(test_of_two_stalls_that_overlap_the_second_pushes_out_by_one_at_most),
		cmocka_unit_test(test_a_mispredicted_branch_pushes_out_what_comes_behind_it_and_is_charged),
		cmocka_unit_test(test_a_machine_clear_without_a_uop_pushes_out_the_next_slot),
		cmocka_unit_test(test_the_other_points_in_order_have_pushouts_of_their_own),
		cmocka_unit_test(test_halted_cycles_push_nothing_out),
		cmocka_unit_test(test_the_memory_order_buffer_is_passed_by_slots_that_access_memory),
		cmocka_unit_test(test_stores_become_visible_in_order_behind_retirement),
		cmocka_unit_test(test_fetch_is_passed_ahead_of_the_decoders),
		cmocka_unit_test(test_three_ways_to_count_by_threshold_fire_alike),
		cmocka_unit_test(test_tags_bind_not_then_and_then_or),
		cmocka_unit_test(test_bad_tags_are_refused_with_the_place_and_near_names),
		cmocka_unit_test(test_every_name_that_is_listed_is_a_tag),
		cmocka_unit_test(test_quantiles_are_exact_below_the_first_octave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
