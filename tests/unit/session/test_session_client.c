/* SPDX-License-Identifier: GPL-2.0-or-later
 * The program's own PMU and its regions, on hand-made batches: one instruction a cycle (session_fixture.h). */
#include "session_fixture.h"
#include "session/client_memory.h"
#include "softpmu/client.h"

static struct session *start(struct session_events *events, const char *list, const char *region)
{
	struct session *s = NULL;
	struct err err = { 0 };
	assert_int_equal(session_parse(events, &(struct session_parse_options){ .model = model, .core = &core }, list,
		&err), 0);
	struct session_options o = { .core = &core, .model = model, .events = events, .region = region };
	int rc = session_create(&s, &o, &err);
	if (rc)
		print_error("%s\n", err.text);
	assert_int_equal(rc, 0);
	return s;
}

static void thread(struct session *s, struct run_thread *t, uint32_t tid)
{
	*t = (struct run_thread){ .pid = 10, .tid = tid };
	assert_int_equal(session_thread_start(s, t, NULL), 0);
}

static bool ask(struct session *s, struct run_thread *t, uint32_t code, uint64_t index, uint64_t value,
	struct st_answer *a)
{
	const struct st_client c = { .code = code, .index = index, .value = value, .word_bytes = 8 };
	*a = (struct st_answer){ .status = SPMU_CLIENT_ABSENT };
	return session_client(s, t, &c, "", a);
}

static void wrmsr(struct session *s, struct run_thread *t, uint32_t msr, uint64_t value)
{
	struct st_answer a;
	assert_true(ask(s, t, SPMU_CLIENT_WRMSR, msr, value, &a));
	assert_int_equal(a.status, SPMU_CLIENT_OK);
}

static uint64_t rdmsr(struct session *s, struct run_thread *t, uint32_t msr)
{
	struct st_answer a;
	assert_true(ask(s, t, SPMU_CLIENT_RDMSR, msr, 0, &a));
	assert_int_equal(a.status, SPMU_CLIENT_OK);
	return a.value[0];
}

static void mark(struct session *s, struct run_thread *t, uint32_t code, const char *name)
{
	const struct st_client c = { .code = code };
	struct st_answer a = { 0 };
	session_client(s, t, &c, name, &a);
}
#define BEGIN(name) mark(s, &t, SPMU_CLIENT_REGION_BEGIN, name)
#define END(name)   mark(s, &t, SPMU_CLIENT_REGION_END, name)

static void test_what_lies_between_two_writes_is_counted_and_nothing_else(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions,cycles", NULL);
	struct run_thread t;
	thread(s, &t, 1);
	uint64_t at = fixture_run(s, &t, 0x1000, 0, 700, false);
	wrmsr(s, &t, MSR_IA32_PERFEVTSEL0, 0x4100c0);
	wrmsr(s, &t, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	at = fixture_run(s, &t, 0x1000, at, 1234, false);
	assert_int_equal(rdmsr(s, &t, MSR_IA32_PMC0), 1234);
	wrmsr(s, &t, MSR_IA32_PERF_GLOBAL_CTRL, 0);
	at = fixture_run(s, &t, 0x1000, at, 55, false);
	assert_int_equal(rdmsr(s, &t, MSR_IA32_PMC0), 1234);
	struct st_answer a;
	assert_true(ask(s, &t, SPMU_CLIENT_RDPMC, 0, 0, &a));
	assert_int_equal(a.value[0], 1234);
	/* the client's writes do not affect the session's own counts */
	assert_int_equal(session_count(s, 0), 700 + 1234 + 55);
	assert_int_equal(session_count(s, 1), 700 + 1234 + 55);
	session_thread_end(s, &t);
	session_destroy(s);
	session_events_free(&e);
}

/* The core's width makes them; the threads of a core under --smt have none. */
static void test_the_pushout_registers_are_the_programs_too(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	core.retire_width = 4;
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread t, shared = { .pid = 10, .tid = 2, .siblings = 2 };
	struct st_answer a;
	thread(s, &t, 1);
	assert_int_equal(session_thread_start(s, &shared, NULL), 0);
	assert_int_equal(rdmsr(s, &t, MSR_PUSHOUT_CAPABILITIES) & 0xff, SPMU_PUSHOUT_UNITS);
	wrmsr(s, &t, MSR_PUSHOUT(0, CONTROL), SPMU_EVTSEL_USR | SPMU_EVTSEL_EN);
	fixture_run(s, &t, 0x1000, 0, 500, false);
	assert_int_equal(rdmsr(s, &t, MSR_PUSHOUT(0, COUNT)), 500);
	ask(s, &shared, SPMU_CLIENT_RDMSR, MSR_PUSHOUT_CAPABILITIES, 0, &a);
	assert_int_equal(a.status, SPMU_CLIENT_NO_MSR);
	session_thread_end(s, &t);
	session_thread_end(s, &shared);
	session_destroy(s);
	session_events_free(&e);
}

static void test_an_inner_machine_has_the_reload_registers(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread inner, plain;
	struct st_answer a;
	thread(s, &inner, 1);
	thread(s, &plain, 2);
	/* the PMU's records are adaptive from format 4 on */
	const bool adaptive = (spmu_model_capabilities(model) >> 8 & 15) >= 4;
	ask(s, &inner, SPMU_CLIENT_INNER, 0, 0, &a);
	assert_int_equal(a.status, adaptive ? SPMU_CLIENT_OK : SPMU_CLIENT_NO_MSR);
	ask(s, &inner, SPMU_CLIENT_WRMSR, MSR_RELOAD_PMC0, 5, &a);
	assert_int_equal(a.status, adaptive ? SPMU_CLIENT_OK : SPMU_CLIENT_NO_MSR);
	ask(s, &inner, SPMU_CLIENT_INNER, 0, 0, &a);	/* too late */
	assert_int_equal(a.status, SPMU_CLIENT_BAD);
	ask(s, &plain, SPMU_CLIENT_WRMSR, MSR_RELOAD_PMC0, 5, &a);
	assert_int_equal(a.status, SPMU_CLIENT_NO_MSR);
	session_thread_end(s, &inner);
	session_thread_end(s, &plain);
	session_destroy(s);
	session_events_free(&e);
}

static void test_each_thread_has_a_pmu_of_its_own(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread one, two;
	thread(s, &one, 1);
	thread(s, &two, 2);
	wrmsr(s, &one, MSR_IA32_PERFEVTSEL0, 0x4100c0);
	wrmsr(s, &one, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	assert_int_equal(rdmsr(s, &two, MSR_IA32_PERFEVTSEL0), 0);
	fixture_run(s, &one, 0, 0, 10, false);
	fixture_run(s, &two, 0, 0, 20, false);
	assert_int_equal(rdmsr(s, &one, MSR_IA32_PMC0), 10);
	assert_int_equal(rdmsr(s, &two, MSR_IA32_PMC0), 0);
	session_thread_end(s, &one);
	session_thread_end(s, &two);
	session_destroy(s);
	session_events_free(&e);
}

static void test_only_requests_for_the_pmu_make_one(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread t;
	struct st_answer a;
	thread(s, &t, 1);
	assert_false(ask(s, &t, SPMU_CLIENT_PRESENT, 0, 0, &a)); /* false: the core need not pass on every record */
	assert_int_equal(a.status, SPMU_CLIENT_OK);
	BEGIN("r");
	assert_true(ask(s, &t, SPMU_CLIENT_RDMSR, MSR_IA32_PMC0, 0, &a));
	assert_true(ask(s, &t, SPMU_CLIENT_PRESENT, 0, 0, &a));
	session_thread_end(s, &t);
	session_destroy(s);
	session_events_free(&e);
}

static void test_what_the_registers_refuse_the_program_learns(void **state)
{
	(void)state;
	static const struct { uint32_t code; uint64_t index, value; int status; } row[] = {
		{ SPMU_CLIENT_RDMSR, 0x10, 0, SPMU_CLIENT_NO_MSR },
		{ SPMU_CLIENT_WRMSR, 0x10, 0, SPMU_CLIENT_NO_MSR },
		{ SPMU_CLIENT_WRMSR, MSR_IA32_FIXED_CTR_CTRL, ~UINT64_C(0), SPMU_CLIENT_GP },
		{ SPMU_CLIENT_RDPMC, 1000, 0, SPMU_CLIENT_GP },
		{ SPMU_CLIENT_APIC_READ, 0x330, 0, SPMU_CLIENT_NO_MSR },
		{ SPMU_CLIENT_APIC_WRITE, 0x350, 0, SPMU_CLIENT_NO_MSR },
		{ SPMU_CLIENT_CODES, 0, 0, SPMU_CLIENT_BAD },
		{ 1, 0, 0, SPMU_CLIENT_BAD },
		{ SPMU_CLIENT_CPUID_0A, 0, 0, SPMU_CLIENT_OK },
	};
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread t;
	struct st_answer a;
	thread(s, &t, 1);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		ask(s, &t, row[i].code, row[i].index, row[i].value, &a);
		if (a.status != row[i].status)
			fail_msg("row %zu: status %d, expected %d", i, a.status, row[i].status);
	}
	assert_int_equal(a.value[0], 0x08300805);
	assert_int_equal(a.value[3], 0x8604);
	session_thread_end(s, &t);
	session_destroy(s);
	session_events_free(&e);
}

/* One overflow every 100 instructions, the LVT entry unmasked each time. */
static uint64_t overflow(struct session *s, struct run_thread *t, uint64_t at)
{
	struct st_answer a;
	ask(s, t, SPMU_CLIENT_APIC_WRITE, SPMU_APIC_LVT_PC, 0x400, &a);
	wrmsr(s, t, MSR_IA32_PERF_GLOBAL_STATUS_RESET, 1);
	wrmsr(s, t, MSR_IA32_A_PMC0, -UINT64_C(10) & 0xffffffffffff);
	return fixture_run(s, t, 0x1000, at, 100, false);
}

static void test_interrupts_wait_in_order_and_the_queue_is_bounded(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread t;
	struct st_answer a;
	uint64_t at = 0, before = 0;
	thread(s, &t, 1);
	ask(s, &t, SPMU_CLIENT_PMI, 0, 0, &a);
	assert_int_equal(a.value[3], 0);
	wrmsr(s, &t, MSR_IA32_PERFEVTSEL0, 0x5100c0);
	wrmsr(s, &t, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	for (int i = 0; i < 100; i++)
		at = overflow(s, &t, at);
	for (unsigned left = 64; left; left--) {
		ask(s, &t, SPMU_CLIENT_PMI, 0, 0, &a);
		assert_int_equal(a.value[3], left);
		assert_int_equal(a.value[1], 1);
		assert_true(a.value[2] > before);
		/* in the run, after the overflow */
		assert_true(a.value[0] >= 0x1000 + 10 && a.value[0] < 0x1000 + 100);
		/* instruction n retires in cycle n, also the one in whose cycle the interrupt arrives */
		assert_int_equal(a.value[0] - 0x1000, a.value[2] % 100 + 1);
		before = a.value[2];
	}
	ask(s, &t, SPMU_CLIENT_PMI, 0, 0, &a);
	assert_int_equal(a.value[3], 0);
	at = overflow(s, &t, at);		/* the queue takes new samples again */
	ask(s, &t, SPMU_CLIENT_PMI, 0, 0, &a);
	assert_int_equal(a.value[3], 1);
	fixture_run(s, &t, 0x1000, at, 1000, false);
	session_thread_end(s, &t);
	session_destroy(s);
	session_events_free(&e);
}

static void test_a_handler_is_entered_once_for_each_interrupt_and_not_while_it_runs(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread t;
	struct st_answer a;
	uint64_t at = 0;
	thread(s, &t, 1);
	ask(s, &t, ST_CLIENT_STEP, 0x1000, 0, &a);	/* no PMU */
	assert_int_equal(a.budget, ST_NO_STEP);
	wrmsr(s, &t, MSR_IA32_PERFEVTSEL0, 0x5100c0);
	wrmsr(s, &t, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	at = overflow(s, &t, at);
	ask(s, &t, SPMU_CLIENT_PRESENT + 1, MSR_IA32_PMC0, 0, &a);
	assert_int_equal(a.take, 0);			/* no handler */
	assert_int_equal(a.budget, ST_NO_STEP);
	ask(s, &t, SPMU_CLIENT_HANDLER, 0x4000, 0x9000, &a);
	assert_int_equal(a.take, 0);			/* that PMI was earlier */
	at = overflow(s, &t, at);
	ask(s, &t, ST_CLIENT_STEP, 0x1000, 0, &a);
	assert_int_equal(a.take, 1);
	assert_int_equal(a.budget, ST_NO_STEP);
	at = overflow(s, &t, at);
	ask(s, &t, SPMU_CLIENT_PMI, 0, 0, &a);
	assert_int_equal(a.take, 0);			/* the handler runs */
	ask(s, &t, ST_CLIENT_STEP, 0x1000, 1, &a);	/* it has returned */
	assert_int_equal(a.take, 1);
	ask(s, &t, ST_CLIENT_STEP, 0x1000, 1, &a);
	assert_int_equal(a.take, 0);
	ask(s, &t, SPMU_CLIENT_APIC_WRITE, SPMU_APIC_LVT_PC, 0xf0, &a);
	wrmsr(s, &t, MSR_IA32_PMC0, (uint32_t)-500);
	ask(s, &t, ST_CLIENT_STEP, 0x1000, 0, &a);
	assert_in_range(a.budget, 1, 500);		/* instructions until the overflow */
	ask(s, &t, SPMU_CLIENT_HANDLER, 0, 0, &a);
	assert_int_equal(a.budget, ST_NO_STEP);
	(void)at;
	session_thread_end(s, &t);
	session_destroy(s);
	session_events_free(&e);
}

static void test_regions_nest_and_only_the_outermost_marker_of_each_matters(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions,task-clock", NULL);
	struct run_thread t;
	struct session_region r;
	thread(s, &t, 1);
	uint64_t at = fixture_run(s, &t, 0, 0, 1, false);
	END("a");				/* never begun */
	BEGIN("a");
	at = fixture_run(s, &t, 0, at, 10, false);
	BEGIN("b");
	at = fixture_run(s, &t, 0, at, 100, false);
	BEGIN("a");
	at = fixture_run(s, &t, 0, at, 1000, false);
	END("a");
	at = fixture_run(s, &t, 0, at, 2000, false);
	END("a");				/* ends before the inner region: regions need not nest */
	at = fixture_run(s, &t, 0, at, 5, false);
	END("b");
	BEGIN("a");
	at = fixture_run(s, &t, 0, at, 3, false);
	assert_int_equal(session_region_count(s, 0, 0), 3110);	/* counts the entries that have ended */
	fixture_run(s, &t, 0, at, 3, true);
	session_thread_end(s, &t);		/* the end of the thread ends open regions */
	assert_int_equal(session_regions(s), 2);
	session_region_info(s, 0, &r);
	assert_string_equal(r.name, "a");
	assert_int_equal(r.entries, 2);
	assert_int_equal(r.running_ns, 3116);
	assert_int_equal(session_region_count(s, 0, 0), 3116);
	assert_int_equal(session_region_count(s, 0, 1), 3116);
	session_region_info(s, 1, &r);
	assert_string_equal(r.name, "b");
	assert_int_equal(r.entries, 1);
	assert_int_equal(session_region_count(s, 1, 0), 3105);
	session_destroy(s);
	session_events_free(&e);
}

static void test_regions_of_threads_add_up(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread one, two;
	struct session_region r;
	thread(s, &one, 1);
	thread(s, &two, 2);
	mark(s, &one, SPMU_CLIENT_REGION_BEGIN, "r");
	fixture_run(s, &one, 0, 0, 10, false);
	mark(s, &two, SPMU_CLIENT_REGION_END, "r");	/* the region is open in the other thread only */
	mark(s, &two, SPMU_CLIENT_REGION_BEGIN, "r");
	fixture_run(s, &two, 0, 0, 200, false);
	mark(s, &two, SPMU_CLIENT_REGION_END, "r");
	fixture_run(s, &one, 0, 10, 10, false);
	mark(s, &one, SPMU_CLIENT_REGION_END, "r");
	session_region_info(s, 0, &r);
	assert_int_equal(r.entries, 2);
	assert_int_equal(session_region_count(s, 0, 0), 220);
	session_thread_end(s, &one);
	session_thread_end(s, &two);
	session_destroy(s);
	session_events_free(&e);
}

static void test_a_session_kept_to_a_region_counts_only_inside(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions,cycles,task-clock", "r");
	struct run_thread t;
	thread(s, &t, 1);
	uint64_t at = fixture_run(s, &t, 0, 0, 700, false);
	BEGIN("other");
	at = fixture_run(s, &t, 0, at, 70, false);
	BEGIN("r");
	at = fixture_run(s, &t, 0, at, 1000, false);
	END("r");
	at = fixture_run(s, &t, 0, at, 70, false);
	BEGIN("r");
	BEGIN("r");
	at = fixture_run(s, &t, 0, at, 20, false);
	END("r");
	at = fixture_run(s, &t, 0, at, 3, false);
	END("r");
	fixture_run(s, &t, 0, at, 600, true);
	session_thread_end(s, &t);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(session_count(s, i), 1023);
	assert_true(session_has_region(s, "r"));
	assert_false(session_has_region(s, "q"));
	session_destroy(s);
	session_events_free(&e);
}

static void test_names_without_end_are_bounded(void **state)
{
	(void)state;
	struct session_events e = { 0 };
	struct session *s = start(&e, "instructions", NULL);
	struct run_thread t;
	thread(s, &t, 1);
	for (int i = 0; i < 5000; i++) {
		char name[16];
		snprintf(name, sizeof name, "%d", i);
		BEGIN(name);
		END(name);
	}
	assert_int_equal(session_regions(s), 4096);
	session_thread_end(s, &t);
	session_destroy(s);
	session_events_free(&e);
}

static void test_memory_is_what_was_told_and_what_was_written(void **state)
{
	(void)state;
	struct client_memory m = { 0 };
	struct st_answer a = { 0 };
	uint8_t told[64], b[64];
	memset(told, 7, sizeof told);
	assert_int_equal(client_memory_read(&m, 0, b, 1), -1);
	client_memory_known(&m, 0x1fe0, told, 64);		/* crosses a page boundary */
	assert_int_equal(client_memory_read(&m, 0x1fe0, b, 64), 0);
	assert_memory_equal(b, told, 64);
	assert_int_equal(client_memory_read(&m, 0x1fdf, b, 64), -1);
	assert_int_equal(client_memory_read(&m, 0x1fe1, b, 64), -1);
	assert_int_equal(client_memory_write(&m, 0x1ffe, "abcd", 4), 0);
	assert_int_equal(client_memory_read(&m, 0x1ffd, b, 6), 0);
	assert_memory_equal(b, "\7abcd\7", 6);
	client_memory_known(&m, 0x1fe0, told, 64);		/* undelivered writes are newer */
	assert_int_equal(client_memory_read(&m, 0x1ffd, b, 6), 0);
	assert_memory_equal(b, "\7abcd\7", 6);
	assert_int_equal(client_memory_write(&m, 0x9000, "x", 1), 0);
	client_memory_take(&m, &a);
	assert_int_equal(a.more, 0);
	static const struct { uint64_t addr; const char *bytes; } want[] = { { 0x1ffe, "ab" }, { 0x2000, "cd" },
		{ 0x9000, "x" } };
	uint32_t at = 0;
	for (size_t i = 0; i < 3; i++) {
		struct st_write w;
		memcpy(&w, a.writes + at, sizeof w);
		assert_int_equal(w.addr, want[i].addr);
		assert_int_equal(w.bytes, strlen(want[i].bytes));
		assert_memory_equal(a.writes + at + sizeof w, want[i].bytes, w.bytes);
		at += (uint32_t)sizeof w + 8;
	}
	assert_int_equal(at, a.bytes);
	assert_int_equal(client_memory_read(&m, 0x9000, b, 1), -1);	/* delivered: the program's memory has it now */
	assert_int_equal(client_memory_read(&m, 0x1ffd, b, 6), 0);	/* the area is kept */
	client_memory_release(&m);
}

static void test_writes_that_do_not_fit_an_answer_come_with_the_next(void **state)
{
	(void)state;
	struct client_memory m = { 0 };
	static uint8_t guest[0x200000], wrote[0x200000];
	uint8_t record[200];
	uint64_t at = 3;
	unsigned answers = 0, done = 0;
	for (;;) {	/* until the memory is full: 1 MB of pages */
		for (size_t i = 0; i < sizeof record; i++)
			record[i] = (uint8_t)(done * 31 + i);
		if (client_memory_write(&m, 0x10000 + at, record, sizeof record))
			break;
		memcpy(wrote + at, record, sizeof record);
		at += sizeof record;
		done++;
	}
	assert_int_equal(done, (256 * 4096 - 3) / 200);
	struct st_answer a;
	do {
		memset(&a, 0, sizeof a);
		client_memory_take(&m, &a);
		answers++;
		for (uint32_t k = 0; k < a.bytes;) {
			struct st_write w;
			memcpy(&w, a.writes + k, sizeof w);
			assert_true(w.bytes && w.bytes <= a.bytes - k - sizeof w &&
				w.addr - 0x10000 + w.bytes <= sizeof guest);
			memcpy(guest + (w.addr - 0x10000), a.writes + k + sizeof w, w.bytes);
			k += (uint32_t)(sizeof w + ((w.bytes + 7) & ~UINT64_C(7)));
		}
	} while (a.more);
	assert_true(answers > 300);
	assert_memory_equal(guest, wrote, sizeof guest);
	assert_int_equal(m.pages, 0);
	assert_int_equal(client_memory_write(&m, UINT64_MAX - 3, record, 8), 0);	/* wraps round: allowed */
	assert_int_equal(client_memory_write(&m, 0, record, 5000), -1);
	client_memory_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_lies_between_two_writes_is_counted_and_nothing_else),
		cmocka_unit_test(test_the_pushout_registers_are_the_programs_too),
		cmocka_unit_test(test_an_inner_machine_has_the_reload_registers),
		cmocka_unit_test(test_each_thread_has_a_pmu_of_its_own),
		cmocka_unit_test(test_only_requests_for_the_pmu_make_one),
		cmocka_unit_test(test_what_the_registers_refuse_the_program_learns),
		cmocka_unit_test(test_interrupts_wait_in_order_and_the_queue_is_bounded),
		cmocka_unit_test(test_a_handler_is_entered_once_for_each_interrupt_and_not_while_it_runs),
		cmocka_unit_test(test_regions_nest_and_only_the_outermost_marker_of_each_matters),
		cmocka_unit_test(test_regions_of_threads_add_up),
		cmocka_unit_test(test_a_session_kept_to_a_region_counts_only_inside),
		cmocka_unit_test(test_names_without_end_are_bounded),
		cmocka_unit_test(test_memory_is_what_was_told_and_what_was_written),
		cmocka_unit_test(test_writes_that_do_not_fit_an_answer_come_with_the_next),
	};
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
