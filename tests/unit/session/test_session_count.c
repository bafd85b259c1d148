/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counting through the session, on hand-made batches. */
#include "session_fixture.h"
#include "data_dir.h"

struct counted { struct session_events events; struct session *s; };

static struct counted start(const char *list, struct session_options o)
{
	struct counted c = { 0 };
	struct err err = { 0 };
	static struct session_events kept;
	assert_int_equal(session_parse(&c.events, &(struct session_parse_options){ .model = model, .core = &core },
		list, &err), 0);
	kept = c.events;
	o.core = &core;
	o.model = model;
	o.events = &kept;
	int rc = session_create(&c.s, &o, &err);
	if (rc)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	return c;
}

static void end(struct counted *c)
{
	session_destroy(c->s);
	session_events_free(&c->events);
}

static struct run_thread thread(uint32_t tid)
{
	struct run_thread t = { .pid = 10, .tid = tid, .cpu = tid };
	snprintf(t.comm, sizeof t.comm, "t%u", tid);
	return t;
}

static void test_counts_and_clocks_are_exact(void **state)
{
	(void)state;
	struct counted c = start("instructions,cycles,task-clock,duration_time,INST_RETIRED.ANY_P,slots",
		(struct session_options){ 0 });
	struct run_thread t = thread(1);
	assert_int_equal(session_thread_start(c.s, &t, NULL), 0);
	fixture_run(c.s, &t, 0x1000, 0, 12345, true);
	session_thread_end(c.s, &t);
	const uint64_t want[] = { 12345, 12345, 12345, 12345, 12345, 6 * 12345 };
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(session_count(c.s, i), want[i]);
	assert_int_equal(session_running_ns(c.s, 0), 12345);
	assert_int_equal(session_pmus(c.s), 1);
	end(&c);
}

static void test_counts_can_be_read_while_the_thread_runs(void **state)
{
	(void)state;
	struct counted c = start("instructions,branches", (struct session_options){ 0 });
	struct run_thread t = thread(1);
	session_thread_start(c.s, &t, NULL);
	uint64_t at = fixture_run(c.s, &t, 0, 0, 700, false);
	assert_int_equal(session_count(c.s, 0), 700);
	assert_int_equal(session_count(c.s, 0), 700);
	fixture_run(c.s, &t, 0, at, 300, true);
	assert_int_equal(session_count(c.s, 0), 1000);
	assert_int_equal(session_count(c.s, 1), 0);
	session_thread_end(c.s, &t);
	end(&c);
}

static void test_more_events_than_counters_get_more_pmus_not_turns(void **state)
{
	(void)state;
	char list[1024] = "ONE.COUNTER,ONE.COUNTER,ONE.COUNTER";
	for (int i = 0; i < 30; i++)
		strcat(list, ",UOPS_ISSUED.ANY");
	struct counted c = start(list, (struct session_options){ 0 });
	struct run_thread t = thread(1);
	session_thread_start(c.s, &t, NULL);
	fixture_run(c.s, &t, 0, 0, 5000, true);
	session_thread_end(c.s, &t);
	for (size_t i = 3; i < 33; i++)
		assert_int_equal(session_count(c.s, i), 5000);
	assert_int_equal(session_pmus(c.s), 5);		/* 33 events, 8 counters each */
	end(&c);
}

static void test_the_clock_needs_no_pmu_of_its_own(void **state)
{
	(void)state;
	static const char *const list[] = { "cycles,instructions,task-clock", "CPU_CLK_UNHALTED.THREAD_P,task-clock",
		"cycles,cycles", "branches,ref-cycles" };
	for (int i = 0; i < 4; i++) {
		struct counted c = start(list[i], (struct session_options){ 0 });
		struct run_thread t = thread(1);
		session_thread_start(c.s, &t, NULL);
		fixture_run(c.s, &t, 0, 0, 1234, true);
		assert_int_equal(session_running_ns(c.s, 0), 1234);
		assert_int_equal(session_pmus(c.s), i == 2 ? 2 : 1);
		session_thread_end(c.s, &t);
		end(&c);
	}
}

static void test_mask_bits_reach_the_counter(void **state)
{
	(void)state;
	/* two uops in every second cycle */
	struct counted c = start("UOPS_ISSUED.ANY,UOPS_ISSUED.STALL_CYCLES,"
		"cpu/UOPS_ISSUED.ANY,cmask=2/,cpu/UOPS_ISSUED.ANY,cmask=3/,"
				 "cpu/UOPS_ISSUED.ANY,cmask=1,edge/", (struct session_options){ 0 });
	struct run_thread t = thread(1);
	static struct fixture_batch f;
	session_thread_start(c.s, &t, NULL);
	fixture_begin(&f, 0);
	for (uint32_t i = 0; i < 200; i++)
		fixture_insn(&f, i, 0, 0, 0, i / 2 * 2);
	fixture_end(&f, 0, 200, true);
	session_batch(c.s, &t, &f.b);
	session_thread_end(c.s, &t);
	const uint64_t want[] = { 200, 100, 100, 0, 100 };
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(session_count(c.s, i), want[i]);
	end(&c);
}

static void test_threads_add_up_and_are_kept_after_their_end(void **state)
{
	(void)state;
	struct counted c = start("instructions,task-clock", (struct session_options){ 0 });
	struct run_thread a = thread(1), b = thread(2);
	struct session_thread info;
	session_thread_start(c.s, &a, NULL);
	fixture_run(c.s, &a, 0, 0, 600, true);
	session_thread_end(c.s, &a);
	session_thread_start(c.s, &b, NULL);
	fixture_run(c.s, &b, 0, 1000, 400, false);
	assert_int_equal(session_count(c.s, 0), 1000);
	assert_int_equal(session_count(c.s, 1), 1000);
	assert_int_equal(session_threads(c.s), 2);
	assert_int_equal(session_thread_count(c.s, 0, 0), 600);
	assert_int_equal(session_thread_count(c.s, 1, 0), 400);
	session_thread_info(c.s, 0, &info);
	assert_string_equal(info.comm, "t1");
	assert_int_equal(info.running_ns, 600);
	session_thread_info(c.s, 1, &info);
	assert_int_equal(info.tid, 2);
	end(&c);	/* with a thread that never ended */
}

static void test_a_halt_is_elapsed_time_but_not_task_clock(void **state)
{
	(void)state;
	struct counted c = start("task-clock,duration_time,cycles", (struct session_options){ 0 });
	struct run_thread t = thread(1);
	session_thread_start(c.s, &t, NULL);
	fixture_run(c.s, &t, 0, 0, 300, false);
	fixture_run(c.s, &t, 0, 100000, 200, true);
	session_thread_end(c.s, &t);
	assert_int_equal(session_count(c.s, 0), 500);
	assert_int_equal(session_count(c.s, 1), 100200);
	assert_int_equal(session_count(c.s, 2), 500);
	end(&c);
}

static void test_time_follows_the_cores_clock(void **state)
{
	(void)state;
	core.frequency_ghz = 4.0;
	struct counted c = start("task-clock", (struct session_options){ 0 });
	struct run_thread t = thread(1);
	session_thread_start(c.s, &t, NULL);
	fixture_run(c.s, &t, 0, 0, 1003, true);
	session_thread_end(c.s, &t);
	assert_int_equal(session_count(c.s, 0), 250);
	end(&c);
	core.frequency_ghz = 1.0;
}

static void test_what_the_registers_refuse_is_refused_before_the_run(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = NULL;
	struct err err = { 0 };
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = model },
		"cpu/UOPS_ISSUED.ANY,any/", &err), 0);
	struct session_options o = { .core = &core, .model = model, .events = &e };
	assert_int_equal(session_create(&s, &o, &err), ERR_UNSUPPORTED); /* AnyThread is deprecated on this PMU */
	assert_non_null(strstr(err.text, "#GP"));
	assert_null(s);
	session_events_free(&e);
}

/* Runs an instruction a cycle from `at` to `end` on the thread's hardware thread. */
static void on_hardware_thread(struct session *s, struct run_thread *t, uint64_t at, uint64_t end, bool last)
{
	static struct fixture_batch f;
	fixture_begin(&f, at);
	for (uint32_t i = 0; i < end - at; i++)
		fixture_insn(&f, 0x1000, 0, 0, 0, i);
	if (end > at)
		fixture_end(&f, 0, (uint32_t)(end - at), last);
	f.b.is_last = last;
	for (uint32_t i = 0; i < f.b.count; i++)
		f.r[i].hw_thread = t->hw_thread;
	f.b.hw_threads = 1u << t->hw_thread;
	session_batch(s, t, &f.b);
}

static void test_anythread_counts_all_hardware_threads_of_the_core(void **state)
{
	(void)state;
	struct spmu_model *other = model;
	char path[4096], text[256];
	snprintf(path, sizeof path, "%s/events/skylake.tsv", data_dir());
	assert_int_equal(spmu_model_load(&model, path, text, sizeof text), 0);	/* PMU version 4 */
	struct counted c = start("instructions,cycles,cpu/event=0xc0,any=1/,"
		"cpu/event=0xc0,any=1,cmask=1/,cpu/event=0x3c,any=1/", (struct session_options){ 0 });
	struct run_thread t[3] = { thread(1), thread(2), thread(3) };
	for (unsigned i = 0; i < 3; i++) {
		t[i].siblings = 2;
		t[i].core = i / 2;
		t[i].hw_thread = i % 2;
		assert_int_equal(session_thread_start(c.s, &t[i], NULL), 0);
	}
	on_hardware_thread(c.s, &t[0], 0, 500, false);
	on_hardware_thread(c.s, &t[1], 500, 1000, false);
	on_hardware_thread(c.s, &t[2], 0, 300, true);		/* alone on its core */
	on_hardware_thread(c.s, &t[0], 500, 1000, false);
	on_hardware_thread(c.s, &t[1], 1000, 1500, true);
	on_hardware_thread(c.s, &t[0], 1500, 1500, true);	/* ends after a halt */
	for (unsigned i = 0; i < 3; i++)
		session_thread_end(c.s, &t[i]);
	const uint64_t want[] = { 1000 + 1000 + 300, 1000 + 1000 + 300, 2 * 2000 + 300, 2 * 1500 + 300,
		2 * 1500 + 300 };
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(session_count(c.s, i), want[i]);
	end(&c);
	spmu_model_free(model);
	model = other;
}

struct intervals { struct session *s; uint64_t cycle[64], count[64]; size_t n; };

static void note_interval(void *context, uint64_t cycle)
{
	struct intervals *v = context;
	v->cycle[v->n] = cycle;
	v->count[v->n++] = session_count(v->s, 0);
}

static void test_intervals_come_once_each_even_over_a_halt(void **state)
{
	(void)state;
	struct intervals v = { 0 };
	struct counted c = start("instructions", (struct session_options){ .interval_cycles = 1000,
		.interval = note_interval, .context = &v });
	struct run_thread t = thread(1);
	v.s = c.s;
	session_thread_start(c.s, &t, NULL);
	fixture_run(c.s, &t, 0, 0, 2500, false);
	fixture_run(c.s, &t, 0, 5000, 500, true);
	assert_int_equal(v.n, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(v.cycle[i], 1000 * (i + 1));
	assert_int_equal(v.count[0], 1000);
	assert_int_equal(v.count[1], 2000);
	assert_int_equal(v.count[4], 3000);
	session_thread_end(c.s, &t);
	end(&c);
}

static struct session_options one_pmu(uint64_t rotate)
{
	return (struct session_options){ .one_pmu = true, .rotate_cycles = rotate };
}

static void test_one_pmu_for_few_events_takes_no_turns(void **state)
{
	(void)state;
	struct counted c = start("instructions,cycles,ONE.COUNTER", one_pmu(100));
	struct run_thread t = thread(1);
	session_thread_start(c.s, &t, NULL);
	fixture_run(c.s, &t, 0, 0, 5000, true);
	session_thread_end(c.s, &t);
	assert_int_equal(session_count(c.s, 0), 5000);
	assert_int_equal(session_count(c.s, 1), 5000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(session_running_ns(c.s, i), session_enabled_ns(c.s, i));
	end(&c);
}

static void test_one_pmu_gives_events_turns_and_tells_how_long(void **state)
{
	(void)state;
	/* the first two want the same counter */
	struct counted c = start("ONE.COUNTER,ONE.COUNTER,instructions", one_pmu(500));
	struct run_thread t = thread(1);
	session_thread_start(c.s, &t, NULL);
	fixture_run(c.s, &t, 0, 0, 1500, false);	/* three turns; each begins with another event */
	assert_int_equal(session_enabled_ns(c.s, 2), 1500);
	/* its own turn and that of the instructions, which come before it in the round */
	assert_int_equal(session_running_ns(c.s, 0), 1000);
	assert_int_equal(session_running_ns(c.s, 1), 500);
	assert_int_equal(session_running_ns(c.s, 2), 1000);
	assert_int_equal(session_count(c.s, 2), 1000);
	assert_int_equal(session_thread_running_ns(c.s, 0, 1), 500);
	fixture_run(c.s, &t, 0, 1500, 1500, true);
	session_thread_end(c.s, &t);
	assert_int_equal(session_count(c.s, 2), 2000);
	assert_int_equal(session_enabled_ns(c.s, 0), 3000);
	end(&c);
}

static void test_a_group_that_one_pmu_cannot_hold_is_refused(void **state)
{
	(void)state;
	struct session_events events = { 0 };
	struct err err = { 0 };
	struct session *s = NULL;
	assert_int_equal(session_parse(&events, &(struct session_parse_options){ .model = model, .core = &core },
		"{ONE.COUNTER,ONE.COUNTER}", &err), 0);
	struct session_options o = one_pmu(500);
	o.core = &core;
	o.model = model;
	o.events = &events;
	assert_int_equal(session_create(&s, &o, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "one PMU"));
	session_events_free(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_and_clocks_are_exact),
		cmocka_unit_test(test_counts_can_be_read_while_the_thread_runs),
		cmocka_unit_test(test_more_events_than_counters_get_more_pmus_not_turns),
		cmocka_unit_test(test_the_clock_needs_no_pmu_of_its_own),
		cmocka_unit_test(test_mask_bits_reach_the_counter),
		cmocka_unit_test(test_threads_add_up_and_are_kept_after_their_end),
		cmocka_unit_test(test_a_halt_is_elapsed_time_but_not_task_clock),
		cmocka_unit_test(test_time_follows_the_cores_clock),
		cmocka_unit_test(test_what_the_registers_refuse_is_refused_before_the_run),
		cmocka_unit_test(test_anythread_counts_all_hardware_threads_of_the_core),
		cmocka_unit_test(test_intervals_come_once_each_even_over_a_halt),
		cmocka_unit_test(test_one_pmu_for_few_events_takes_no_turns),
		cmocka_unit_test(test_one_pmu_gives_events_turns_and_tells_how_long),
		cmocka_unit_test(test_a_group_that_one_pmu_cannot_hold_is_refused),
	};
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
