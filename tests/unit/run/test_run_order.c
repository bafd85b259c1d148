/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads in the order of modelled time: which operation is next, which thread waits, which has a processor. A core is
 * only a clock here.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/engine.h"
#include "run/threads/order.h"
#include "run/threads/process.h"
#include <stdlib.h>
#include <string.h>

/* The functions of the core that order.c calls, so that the library's core is not linked in. */
struct core { uint64_t now, instructions; void *context; unsigned came; };
uint64_t core_now(const struct core *c) { return c->now; }
uint64_t core_clock(const struct core *c) { return c->now; }
uint64_t core_instructions(const struct core *c) { return c->instructions; }
void core_hold(struct core *c, uint64_t cycle) { c->now = cycle > c->now ? cycle : c->now; }
void core_leave(struct core *c) { (void)c; }
static unsigned flushes;
void core_flush(struct core *c, bool last) { (void)c, (void)last; flushes++; }
static unsigned beside[1000], turns;	/* for each turn, the threads that run on the core */
void core_smt_share(struct core *c, unsigned active) { (void)c; beside[turns++ % 1000] = active; }
void core_switch_to(struct core *c, void *context, uint64_t cycle)
{
	c->context = context;
	c->now = cycle > c->now ? cycle : c->now;
	c->came++;
}

enum { MOST = 8, LOG = 4096, QUANTUM = 1000, SWITCH = 10 };
static struct process process;
static struct rthread thread[MOST];
static struct core core[MOST], cpu_core[MOST];
static struct order_cpu cpu[MOST];
static struct order *o;
static struct { struct rthread *t; struct core *on; uint64_t tag, end; } done[LOG];
static size_t dones;

static void execute(void *context, const uint64_t *w)
{
	struct rthread *t = (struct rthread *)w[1];
	(void)context;
	assert_non_null(t->on);
	switch ((enum op)(w[0] >> 56)) {
	case OP_RUN:
		t->on->now += w[2];
		t->on->instructions += w[2];
		assert_true(dones < LOG);
		done[dones].t = t;
		done[dones].on = t->on;
		done[dones].tag = w[3];
		done[dones++].end = t->on->now;
		order_ran(t);
		break;
	default:
		if (order_when((struct rthread *)w[2], w[3]) > t->on->now)
			t->on->now = order_when((struct rthread *)w[2], w[3]);
	}
}

/* Starts threads on `cpus` processors; 0: each on a core of its own. */
static void start(unsigned threads, unsigned cpus)
{
	struct err err = { 0 };
	memset(thread, 0, sizeof thread);
	memset(core, 0, sizeof core);
	memset(cpu_core, 0, sizeof cpu_core);
	memset(cpu, 0, sizeof cpu);
	dones = 0;
	process = (struct process){ .order = { .execute = execute, .cpu = cpu, .cpus = cpus, .quantum = QUANTUM,
		.switch_cost = SWITCH } };
	o = &process.order;
	for (unsigned i = 0; i < cpus; i++)
		cpu[i].core = &cpu_core[i];
	for (unsigned i = 0; i < threads; i++) {
		thread[i] = (struct rthread){ .process = &process, .core = &core[i], .on = &core[i], .index = i,
			.alive = true };
		assert_int_equal(order_add(o, &thread[i], 0, &err), 0);
	}
}

static void stop(void)
{
	while (o->threads)
		order_remove(o, o->thread[0]);
	order_release(o);
}

static void run(unsigned who, uint64_t cycles, uint64_t tag)
{
	const uint64_t w[] = { (uint64_t)OP_RUN << 56 | 4, (uint64_t)&thread[who], cycles, tag };
	order_push(o, &thread[who], ORDER_FREE, w);
}

static void after(enum op kind, unsigned who, unsigned of, uint64_t number)
{
	const uint64_t w[] = { (uint64_t)kind << 56 | 4, (uint64_t)&thread[who], (uint64_t)&thread[of], number };
	order_push(o, &thread[who], ORDER_FREE, w);
}

static uint64_t end_of(uint64_t tag)
{
	for (size_t i = 0; i < dones; i++)
		if (done[i].tag == tag)
			return done[i].end;
	fail_msg("block %d did not run", (int)tag);
	return 0;
}

static void test_the_least_clock_goes_first_whatever_the_stream_says(void **state)
{
	(void)state;
	start(2, 0);
	for (int i = 0; i < 4; i++)
		run(0, 100, 10 + (unsigned)i);
	for (int i = 0; i < 8; i++)
		run(1, 50, 20 + (unsigned)i);
	order_settle(o);
	assert_int_equal(dones, 12);
	for (size_t i = 1; i < dones; i++)	/* in order of their begins */
		assert_true(done[i].end - (done[i].t == &thread[0] ? 100
			: 50) >= done[i - 1].end - (done[i - 1].t == &thread[0] ? 100 : 50));
	assert_int_equal(core[0].now, 400);
	assert_int_equal(core[1].now, 400);
	stop();
}

static void test_a_thread_that_needs_anothers_block_goes_on_when_it_was_done(void **state)
{
	(void)state;
	start(2, 0);
	run(1, 500, 1);
	after(OP_NEED, 0, 1, 1);
	run(0, 10, 2);
	order_settle(o);
	assert_int_equal(end_of(2), 510);
	stop();
}

static void test_a_need_that_is_long_met_costs_nothing(void **state)
{
	(void)state;
	start(2, 0);
	run(1, 5, 1);
	run(0, 100, 2);
	after(OP_NEED, 0, 1, 1);
	run(0, 10, 3);
	order_settle(o);
	assert_int_equal(end_of(3), 110);
	stop();
}

static void test_what_all_must_see_in_one_order_keeps_the_streams(void **state)
{
	(void)state;
	start(2, 0);
	const uint64_t first[] = { (uint64_t)OP_RUN << 56 | 4, (uint64_t)&thread[0], 100, 2 },
		second[] = { (uint64_t)OP_RUN << 56 | 4, (uint64_t)&thread[1], 1, 3 };
	run(0, 1000, 1);
	order_push(o, &thread[0], ORDER_SIDE, first);
	order_push(o, &thread[1], ORDER_SIDE, second);	/* by its clock it would come first */
	order_settle(o);
	assert_int_equal(done[0].tag, 1);
	assert_int_equal(done[1].tag, 2);
	assert_int_equal(done[2].tag, 3);
	stop();
}

static void test_one_processor_runs_two_threads_one_after_the_other(void **state)
{
	(void)state;
	start(2, 1);
	for (unsigned i = 0; i < 30; i++) {
		run(0, 100, 100 + i);
		run(1, 100, 200 + i);
	}
	order_settle(o);
	assert_int_equal(dones, 60);
	/* 6000 cycles of work in quanta of 1000, and switches: the first on the processor costs nothing */
	assert_int_equal(cpu_core[0].came, 6);
	assert_int_equal(cpu_core[0].now, 6000 + 5 * SWITCH);
	for (size_t i = 1; i < dones; i++)
		assert_true(done[i].end > done[i - 1].end);
	assert_int_equal(thread[0].instructions + thread[1].instructions + cpu_core[0].instructions, 6000);
	stop();
	assert_int_equal(thread[0].instructions, 3000);
	assert_int_equal(thread[1].instructions, 3000);
}

static void test_two_processors_run_three_threads_and_all_come_to_their_end(void **state)
{
	(void)state;
	start(3, 2);
	for (unsigned i = 0; i < 40; i++)
		for (unsigned t = 0; t < 3; t++)
			run(t, 100, 100 * t + i);
	order_settle(o);
	assert_int_equal(dones, 120);
	uint64_t last = cpu_core[0].now > cpu_core[1].now ? cpu_core[0].now : cpu_core[1].now;
	assert_in_range(last, 6000, 8200);	/* 12000 cycles of work on two */
	stop();
}

static void test_a_blocked_thread_gives_its_processor_up(void **state)
{
	(void)state;
	start(2, 1);
	run(0, 10, 1);
	run(1, 400, 2);
	after(OP_WAIT, 0, 1, 1);
	run(0, 10, 3);
	order_settle(o);
	assert_int_equal(end_of(2), 10 + SWITCH + 400);
	assert_int_equal(end_of(3), 10 + SWITCH + 400 + SWITCH + 10);
	stop();
}

static void test_a_spinner_makes_room_for_the_one_it_waits_for(void **state)
{
	(void)state;
	start(2, 1);
	run(0, 10, 1);
	run(1, 400, 2);
	after(OP_NEED, 0, 1, 1);
	run(0, 10, 3);
	order_settle(o);
	assert_int_equal(end_of(2), 10 + 400);	/* waiting for the traced order costs no switch */
	assert_true(end_of(3) > end_of(2));
	stop();
}

/* As if three threads left a barrier, and got processors in another order than the traced order of their next
 * operations. */
static void test_a_spinner_does_not_keep_its_processor_from_who_is_ready(void **state)
{
	(void)state;
	start(3, 2);
	for (unsigned i = 0; i < 10; i++)
		run(0, 50, 100 + i);
	run(1, 10, 3);
	after(OP_NEED, 1, 0, 10);	/* thread 0 runs on the other processor */
	run(1, 10, 1);
	run(2, 100, 2);
	order_settle(o);
	/* it spins for the length of a switch; waiting for the traced order costs no further switch */
	assert_int_equal(end_of(2), 10 + SWITCH + 100);
	assert_true(end_of(1) >= end_of(109));
	assert_in_range(end_of(1), 510, 510 + SWITCH);
	stop();
}

static void test_a_spinner_stays_where_nobody_else_wants_to_go(void **state)
{
	(void)state;
	start(2, 2);
	for (unsigned i = 0; i < 10; i++)
		run(0, 50, 100 + i);
	run(1, 10, 3);
	after(OP_NEED, 1, 0, 10);
	run(1, 10, 1);
	order_settle(o);
	assert_int_equal(end_of(1), 510);
	assert_int_equal(cpu_core[0].came + cpu_core[1].came, 2);
	stop();
}

static void test_a_ready_thread_goes_back_to_its_own_processor(void **state)
{
	(void)state;
	start(2, 2);
	run(0, 10, 1);
	run(1, 20, 2);
	after(OP_WAIT, 0, 1, 1);
	run(0, 10, 3);
	run(1, 20, 4);
	order_settle(o);
	assert_ptr_equal(done[0].on, &cpu_core[0]);
	for (size_t i = 0; i < dones; i++)
		if (done[i].tag == 3)
			assert_ptr_equal(done[i].on, &cpu_core[0]);
	assert_int_equal(end_of(3), 30);	/* without a switch: no other thread ran there */
	stop();
}

static void test_a_blocked_thread_leaves_its_core_to_the_other_hardware_thread(void **state)
{
	(void)state;
	start(3, 0);
	o->smt = 2;
	turns = 0;
	for (unsigned i = 0; i < 3; i++)
		thread[i].seat = i;	/* the third has a core of its own */
	run(0, 100, 1);
	run(1, 300, 2);
	run(2, 150, 3);
	after(OP_WAIT, 0, 1, 1);
	run(0, 10, 4);
	run(1, 10, 5);
	order_settle(o);
	assert_int_equal(beside[0], 2);		/* block 1, before the first thread is blocked */
	assert_int_equal(beside[1], 1);		/* 2, while it is */
	assert_int_equal(beside[2], 1);		/* 3, elsewhere */
	assert_int_equal(beside[3], 2);		/* behind block 2 */
	assert_int_equal(beside[turns - 1], 1);	/* the other thread has no work left */
	assert_int_equal(end_of(4), 310);
	stop();
}

static void test_the_same_operations_give_the_same_order(void **state)
{
	(void)state;
	uint64_t tags[2][300];
	for (int round = 0; round < 2; round++) {
		uint32_t random = 1;
		start(5, 2);
		for (unsigned i = 0; i < 300; i++) {
			random = random * 1103515245 + 12345;
			unsigned t = (random >> 16) % 5, of = (t + 1 + (random >> 20) % 4) % 5;
			if (random >> 28 == 0 && thread[of].depend.issued)
				after(random >> 27 & 1 ? OP_NEED : OP_WAIT, t, of, thread[of].depend.issued);
			run(t, 1 + (random >> 8 & 255), i);
			thread[t].depend.issued++;
		}
		order_settle(o);
		assert_int_equal(dones, 300);
		for (unsigned i = 0; i < 300; i++)
			tags[round][i] = done[i].tag;
		stop();
	}
	assert_memory_equal(tags[0], tags[1], sizeof tags[0]);
}

/* A thread stands still in a system call, if nothing of it is known that comes after the call; while it must wait for
 * what has not happened; and without a processor.  Its last records are passed on then. */
static void test_a_thread_stands_still_in_a_system_call(void **state)
{
	(void)state;
	start(2, 0);
	assert_false(order_waits(&thread[0].pub));	/* its process has no order */
	process.ordered = true;
	flushes = 0;
	assert_false(order_waits(&thread[0].pub));
	thread[0].in_call = true;
	assert_true(order_waits(&thread[0].pub));
	assert_int_equal(flushes, 1);
	run(0, 10, 1);			/* what follows the call is queued, and will run */
	assert_false(order_waits(&thread[0].pub));
	order_settle(o);
	after(OP_WAIT, 0, 1, 1);
	assert_true(order_waits(&thread[0].pub));
	run(1, 10, 2);
	order_settle(o);
	thread[0].in_call = false;
	assert_false(order_waits(&thread[0].pub));
	thread[0].on = NULL;
	assert_true(order_waits(&thread[0].pub));
	assert_int_equal(flushes, 2);
	thread[0].on = &core[0];
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_least_clock_goes_first_whatever_the_stream_says),
		cmocka_unit_test(test_a_thread_that_needs_anothers_block_goes_on_when_it_was_done),
		cmocka_unit_test(test_a_need_that_is_long_met_costs_nothing),
		cmocka_unit_test(test_what_all_must_see_in_one_order_keeps_the_streams),
		cmocka_unit_test(test_one_processor_runs_two_threads_one_after_the_other),
		cmocka_unit_test(test_two_processors_run_three_threads_and_all_come_to_their_end),
		cmocka_unit_test(test_a_blocked_thread_gives_its_processor_up),
		cmocka_unit_test(test_a_spinner_makes_room_for_the_one_it_waits_for),
		cmocka_unit_test(test_a_spinner_does_not_keep_its_processor_from_who_is_ready),
		cmocka_unit_test(test_a_spinner_stays_where_nobody_else_wants_to_go),
		cmocka_unit_test(test_a_ready_thread_goes_back_to_its_own_processor),
		cmocka_unit_test(test_a_blocked_thread_leaves_its_core_to_the_other_hardware_thread),
		cmocka_unit_test(test_the_same_operations_give_the_same_order),
		cmocka_unit_test(test_a_thread_stands_still_in_a_system_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
