/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampling through the session: periods, frequency, order, skid, on hand-made batches of one instruction a cycle. */
#include "session_fixture.h"

enum { MOST = 20000 };
struct kept { struct session_sample s[MOST]; size_t n; };

static struct kept first, second;
static bool gradual;	/* sample() sets it in each event */

static void keep(void *context, struct run_thread *t, const struct session_sample *s)
{
	struct kept *k = context;
	(void)t;
	assert_true(k->n < MOST);
	k->s[k->n++] = *s;
}

/* Samples the events of `list` over n instructions at ip 0, 1, ...; sets counts[i] to the count of event i. */
static void sample(struct kept *k, const char *list, uint64_t period, uint64_t frequency, uint64_t n, uint64_t *counts)
{
	struct session_events e = { 0 };
	struct session *s = NULL;
	struct err err = { 0 };
	struct run_thread t = { .pid = 7, .tid = 8, .cpu = 3 };
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model }, list, &err), 0);
	for (size_t i = 0; i < e.count; i++) {
		e.event[i].period = period;
		e.event[i].frequency = frequency;
		e.event[i].gradual = gradual;
	}
	struct session_options o = { .core = &core, .model = model, .events = &e, .sample = keep, .context = k };
	k->n = 0;
	int rc = session_create(&s, &o, &err);
	if (rc)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	assert_int_equal(session_thread_start(s, &t, &err), 0);
	fixture_run(s, &t, 0, 0, n, true);
	session_thread_end(s, &t);
	for (size_t i = 0; counts && i < e.count; i++)
		counts[i] = session_count(s, i);
	session_destroy(s);
	session_events_free(&e);
}

static void test_samples_come_a_period_apart_and_skid_behind_the_overflow(void **state)
{
	(void)state;
	uint64_t count;
	sample(&first, "instructions", 1000, 0, 100500, &count);
	assert_int_equal(count, 100500);
	assert_int_equal(first.n, 100);
	for (size_t i = 0; i < first.n; i++) {
		assert_int_equal(first.s[i].period, 1000);
		assert_int_equal(first.s[i].pid, 7);
		assert_int_equal(first.s[i].tid, 8);
		assert_int_equal(first.s[i].cpu, 3);
		assert_int_equal(first.s[i].time_ns, first.s[i].cycle);
		assert_null(first.s[i].chain);
		assert_int_equal(first.s[i].ip, first.s[0].ip + 1000 * i);
	}
	/* the 1000th instruction, number 999, retires in cycle 999; the interrupt takes a while from there */
	assert_true(first.s[0].ip >= 1000 && first.s[0].ip < 1200);
}

static void test_a_general_counter_samples_like_a_fixed_one(void **state)
{
	(void)state;
	sample(&first, "instructions", 777, 0, 50000, NULL);
	sample(&second, "INST_RETIRED.ANY_P", 777, 0, 50000, NULL);
	assert_int_equal(first.n, second.n);
	for (size_t i = 0; i < first.n; i++)
		assert_int_equal(first.s[i].ip, second.s[i].ip);
}

static void test_two_runs_give_the_same_samples(void **state)
{
	(void)state;
	sample(&first, "cycles,instructions,UOPS_ISSUED.ANY", 0, 100000, 300000, NULL);
	sample(&second, "cycles,instructions,UOPS_ISSUED.ANY", 0, 100000, 300000, NULL);
	assert_true(first.n > 10);
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.s, second.s, first.n * sizeof *first.s);
}

static void test_samples_of_several_pmus_come_in_the_order_of_the_program(void **state)
{
	(void)state;
	sample(&first, "instructions,instructions,cycles,cycles", 990, 0, 50000, NULL);
	assert_true(first.n > 190);
	for (size_t i = 1; i < first.n; i++)
		assert_true(first.s[i].cycle >= first.s[i - 1].cycle);
}

static void test_the_period_settles_on_the_frequency(void **state)
{
	(void)state;
	/* 1 GHz, 10000 samples a second: one in 100000 cycles */
	sample(&first, "cycles", 0, 10000, 10000000, NULL);
	assert_true(first.n >= 90 && first.n <= 160);
	for (size_t i = first.n - 20; i < first.n; i++)
		assert_true(first.s[i].period > 95000 && first.s[i].period < 105000);
}

static void test_a_gradual_frequency_takes_enough_samples_of_a_short_run(void **state)
{
	(void)state;
	uint64_t count, weight = 0, most = 0;
	sample(&first, "instructions", 0, 10000, 300000, &count);	/* a sample every 100000 cycles: too few */
	const size_t without = first.n;
	gradual = true;
	sample(&first, "instructions", 0, 10000, 300000, &count);
	sample(&second, "instructions", 0, 10000, 300000, NULL);
	gradual = false;
	assert_true(first.n > 250 && first.n > 3 * without);
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.s, second.s, first.n * sizeof *first.s);
	for (size_t i = 0; i < first.n; i++) {
		weight += first.s[i].period;
		most = first.s[i].period > most ? first.s[i].period : most;
	}
	assert_true(weight <= count && weight > count - 2 * most);
	assert_true(most < 1500);	/* 1009 cycles apart */
}

static void test_a_rare_events_period_follows_it_down_at_the_tick(void **state)
{
	(void)state;
	/* Loads are frequent in the first part, then there is one every 50000 cycles. Without the tick the period would
	 * stay long and no further sample would come. */
	struct session_events e = { 0 };
	struct session *s = NULL;
	struct run_thread t = { .pid = 1, .tid = 1 };
	static struct fixture_batch f;
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model }, "L1-dcache-loads", NULL),
		0);
	e.event[0].frequency = 1000;
	struct session_options o = { .core = &core, .model = model, .events = &e, .sample = keep, .context = &first };
	first.n = 0;
	assert_int_equal(session_create(&s, &o, NULL), 0);
	session_thread_start(s, &t, NULL);
	size_t before = 0;
	uint64_t at = 0, weight = 0, half = 20000000;
	for (uint64_t n = 0; at < 3 * half; n++) {
		fixture_begin(&f, at);
		uint32_t length = at < half ? 500 : 50000;
		for (uint32_t i = 0; i < (at < half ? 500u : 1u); i++)
			fixture_insn(&f, i, SPMU_IS(LOAD), 0, 64, i);
		fixture_end(&f, 0, length, false);
		session_batch(s, &t, &f.b);
		at += length;
		if (at <= half)
			before = first.n;
	}
	assert_true(before > 15);
	assert_true(first.n > before + 20);	/* 800 loads in 40 ms at 1000 samples a second */
	for (size_t i = 0; i < first.n; i++)
		weight += first.s[i].period;
	assert_true(weight <= session_count(s, 0));
	session_destroy(s);
	session_events_free(&e);
}

static void test_a_period_shorter_than_the_interrupt_loses_samples_but_no_counts(void **state)
{
	(void)state;
	uint64_t count;
	sample(&first, "instructions", 1, 0, 20000, &count);
	assert_int_equal(count, 20000);
	assert_true(first.n > 100 && first.n < 20000);
}

static void test_a_sampled_clock_has_its_period_in_ns(void **state)
{
	(void)state;
	core.frequency_ghz = 2.0;
	sample(&first, "task-clock", 0, 1000000, 20500, NULL);	/* one a microsecond: every 2000 cycles */
	assert_int_equal(first.n, 10);
	for (size_t i = 0; i < first.n; i++)
		assert_int_equal(first.s[i].period, 1000);
	assert_int_equal(first.s[9].cycle - first.s[0].cycle, 9 * 2000);
	core.frequency_ghz = 1.0;
}

/* Two threads take turns on one processor, at ip 0 and at 1000000. Every 7th instruction of each is a load. */
static void take_turns(struct kept *k, enum session_pebs shared, uint64_t frequency, size_t wrong[2],
	uint64_t *mistaken)
{
	struct session_events e = { 0 };
	struct session *s = NULL;
	struct err err = { 0 };
	struct run_thread t[2] = { { .pid = 7, .tid = 8, .word_bytes = 8 }, { .pid = 7, .tid = 9, .word_bytes = 8 } };
	static struct fixture_batch f;
	uint64_t at = 0;
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model,
		.purpose = SESSION_FOR_SAMPLING }, "MEM_INST_RETIRED.ALL_LOADS:p", &err), 0);
	e.event[0].period = frequency ? 0 : 10;
	e.event[0].frequency = frequency;
	struct session_options o = { .core = &core, .model = model, .events = &e, .sample = keep, .context = k,
		.pebs_records = 32,
		.pebs_shared = shared, .cpus = 1 };
	k->n = 0;
	int rc = session_create(&s, &o, &err);
	if (rc)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	assert_int_equal(session_thread_start(s, &t[0], &err), 0);
	assert_int_equal(session_thread_start(s, &t[1], &err), 0);
	for (uint64_t turn = 0; turn < 200; turn++, at += 500) {
		fixture_begin(&f, at);
		for (uint32_t i = 0; i < 500; i++)
			fixture_insn(&f, 1000000 * (turn & 1) + i, i % 7 ? 0 : SPMU_IS(LOAD), 0, 64, i);
		fixture_end(&f, 0, 500, turn > 197);
		session_batch(s, &t[turn & 1], &f.b);
	}
	session_thread_end(s, &t[0]);
	session_thread_end(s, &t[1]);
	wrong[0] = wrong[1] = 0;
	for (size_t i = 0; i < k->n; i++)
		wrong[k->s[i].tid - 8] += (k->s[i].ip >= 1000000) != (k->s[i].tid == 9);
	*mistaken = session_mistaken(s);
	session_destroy(s);
	session_events_free(&e);
}

static void test_a_shared_buffer_that_is_drained_at_the_switch_is_as_good_as_ones_own(void **state)
{
	(void)state;
	size_t wrong[2];
	uint64_t mistaken;
	take_turns(&first, SESSION_PEBS_OWN, 0, wrong, &mistaken);
	assert_true(first.n > 1000);
	assert_true(wrong[0] + wrong[1] + mistaken == 0);
	take_turns(&second, SESSION_PEBS_DRAINED, 0, wrong, &mistaken);
	assert_int_equal(second.n, first.n);
	assert_true(wrong[0] + wrong[1] + mistaken == 0);
}

static void test_a_shared_buffer_that_nobody_drains_charges_one_thread_with_anothers_records(void **state)
{
	(void)state;
	size_t wrong[2];
	uint64_t mistaken;
	take_turns(&first, SESSION_PEBS_OWN, 0, wrong, &mistaken);
	size_t all = first.n;
	take_turns(&first, SESSION_PEBS_MIXED, 0, wrong, &mistaken);
	assert_int_equal(first.n, all);		/* no sample is lost; the last thread gets those of the last buffer */
	assert_int_equal(wrong[0] + wrong[1], mistaken);
	assert_true(wrong[0] > all / 10 && wrong[1] > all / 10);
	/* a thread's period adapts to the other's samples; sampling still goes on */
	take_turns(&first, SESSION_PEBS_MIXED, 1000000, wrong, &mistaken);
	assert_true(first.n > 20);
	assert_int_equal(wrong[0] + wrong[1], mistaken);
}

static void test_what_cannot_be_sampled_is_refused(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = NULL;
	struct err err = { 0 };
	struct session_options o = { .core = &core, .model = model, .events = &e };
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model }, "duration_time,cycles",
		NULL), 0);
	e.event[0].period = 5;
	assert_int_equal(session_create(&s, &o, &err), ERR_UNSUPPORTED);
	e.event[0].period = 0;
	e.event[1].period = UINT64_C(1) << 60;
	assert_int_equal(session_create(&s, &o, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "period"));
	session_events_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_come_a_period_apart_and_skid_behind_the_overflow),
		cmocka_unit_test(test_a_general_counter_samples_like_a_fixed_one),
		cmocka_unit_test(test_two_runs_give_the_same_samples),
		cmocka_unit_test(test_samples_of_several_pmus_come_in_the_order_of_the_program),
		cmocka_unit_test(test_the_period_settles_on_the_frequency),
		cmocka_unit_test(test_a_gradual_frequency_takes_enough_samples_of_a_short_run),
		cmocka_unit_test(test_a_rare_events_period_follows_it_down_at_the_tick),
		cmocka_unit_test(test_a_period_shorter_than_the_interrupt_loses_samples_but_no_counts),
		cmocka_unit_test(test_a_sampled_clock_has_its_period_in_ns),
		cmocka_unit_test(test_a_shared_buffer_that_is_drained_at_the_switch_is_as_good_as_ones_own),
		cmocka_unit_test(test_a_shared_buffer_that_nobody_drains_charges_one_thread_with_anothers_records),
		cmocka_unit_test(test_what_cannot_be_sampled_is_refused),
	};
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
