/* SPDX-License-Identifier: GPL-2.0-or-later
 * Hardware threads of one core over a mocked memory: which thread gets a cycle at allocation and at the ports, which
 * part of the buffers each has while another runs and while it is halted, and what records say about it. For the
 * shared caches see test_mem_coherence.c and tests/system/model/threads.sh. */
#include "core_fixture.h"

enum { THREADS = 4, MOST = 20000, ALL = 0xf000, LOOP = 40 };

struct hardware_thread {	/* with the records that it emitted */
	struct core *c;
	struct code k;
	uint64_t slots[MOCK_SLOTS];
	unsigned number, uops, strangers;	/* records of another thread's number */
	uint64_t said, watermark;		/* hw_threads of its batches */
	struct seen *uop;
};
static struct hardware_thread thread[THREADS];
static struct bench bench;

static struct spmu_record *collect(void *context, const struct spmu_batch *b)
{
	struct hardware_thread *t = context;
	t->said |= b->hw_threads ? b->hw_threads : 1;
	t->watermark = b->watermark;
	for (unsigned i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		t->strangers += r->hw_thread != t->number;
		if (r->kind == SPMU_REC_UOP && t->uops < MOST)
			t->uop[t->uops++] = (struct seen){ .ip = r->ip, .fetch = b->base_cycle + r->fetch,
				.alloc = b->base_cycle + r->alloc,
				.dispatch = b->base_cycle + r->dispatch, .complete = b->base_cycle + r->complete,
				.retire = b->base_cycle + r->retire, .port = r->port };
	}
	return NULL;
}

static void start(unsigned threads, const char *settings)
{
	struct err err;
	memset(thread, 0, sizeof thread);
	fixture_start(&bench, NULL, settings);
	core_destroy(bench.c);
	bench.c = NULL;
	for (unsigned i = 0; i < threads; i++) {
		struct hardware_thread *t = &thread[i];
		t->number = i;
		t->uop = calloc(MOST, sizeof *t->uop);
		code_start(&t->k, 0x1000 + 0x10000 * i);
		assert_int_equal(i ? core_create_thread(&t->c, thread[0].c, collect, t, &err) : core_create(&t->c,
			bench.m, collect, t, &err), 0);
		assert_int_equal(core_hw_thread(t->c), i);
	}
}

static void stop(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		if (thread[i].c) {
			core_destroy(thread[i].c);
			free(thread[i].uop);
		}
	bench_end(&bench);
}

static void once(struct hardware_thread *t)
{
	if (!t->k.b.exits)
		code_exit(&t->k, ST_JUMP_BORING, 0);
	core_run_block(t->c, &t->k.b, 0, t->k.b.insns, t->slots, t->k.b.addr);
}

/* Each of the first `threads` threads runs its block `times` times. As in order.c, the one with the least clock goes
 * first. */
static void run(unsigned threads, unsigned times)
{
	unsigned left[THREADS] = { 0 }, active = threads;
	for (unsigned i = 0; i < threads; i++)
		left[i] = times;
	while (active) {
		struct hardware_thread *next = NULL;
		for (unsigned i = 0; i < threads; i++)
			if (left[i] && (!next || core_clock(thread[i].c) < core_clock(next->c)))
				next = &thread[i];
		core_smt_share(next->c, active);
		once(next);
		active -= --left[next->number] == 0;
	}
	for (unsigned i = 0; i < threads; i++)
		core_flush(thread[i].c, true);
}

/* Adds n operations; chain: each depends on the one before, otherwise on nothing. */
static void operations(struct hardware_thread *t, unsigned n, unsigned ports, unsigned latency, bool chain)
{
	for (unsigned i = 0; i < n; i++)
		code_op(&t->k, ports, latency, REG_GPR + (chain ? 0 : i % 8), chain ? REG_GPR : 0);
}

static uint64_t last_retired(const struct hardware_thread *t)
{
	return t->uop[t->uops - 1].retire;
}

/* ---- records ---- */

static void test_every_record_names_its_hardware_thread(void **state)
{
	(void)state;
	start(3, "smt.threads=3");
	for (unsigned i = 0; i < 3; i++)
		operations(&thread[i], 8, ALU, 1, false);
	run(3, LOOP);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(thread[i].uops, 8 * LOOP);
		assert_int_equal(thread[i].strangers, 0);
		assert_int_equal(thread[i].said, 1u << i);
	}
	stop();
}

static void test_a_third_thread_is_refused_where_the_core_has_two(void **state)
{
	struct core *c = NULL;
	struct err err = { 0 };
	(void)state;
	start(2, NULL);
	assert_true(core_create_thread(&c, thread[0].c, collect, &thread[2], &err) < 0);
	assert_non_null(strstr(err.text, "more than 2 hardware threads"));
	stop();
}

static void test_the_number_of_a_thread_that_ended_is_given_to_the_next(void **state)
{
	struct err err = { 0 };
	(void)state;
	start(2, NULL);
	core_destroy(thread[0].c);
	thread[0].c = NULL;
	assert_int_equal(core_create_thread(&thread[0].c, thread[1].c, collect, &thread[0], &err), 0);
	assert_int_equal(core_hw_thread(thread[0].c), 0);
	stop();
}

/* ---- slots ---- */

static void test_a_cycle_of_allocation_is_one_threads(void **state)
{
	static uint8_t whose[MOST];	/* set of threads */
	unsigned cycles[2] = { 0 };
	(void)state;
	start(2, NULL);
	for (unsigned i = 0; i < 2; i++)
		operations(&thread[i], 16, ALU, 1, false);
	run(2, 4 * LOOP);
	memset(whose, 0, sizeof whose);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned u = 0; u < thread[i].uops; u++) {
			assert_true(thread[i].uop[u].alloc < MOST);
			whose[thread[i].uop[u].alloc] |= (uint8_t)(1u << i);
		}
	for (unsigned cycle = 0; cycle < MOST; cycle++) {
		assert_int_not_equal(whose[cycle], 3);
		cycles[0] += whose[cycle] == 1;
		cycles[1] += whose[cycle] == 2;
	}
	assert_in_range(cycles[0], cycles[1] * 9 / 10, cycles[1] * 11 / 10);
	stop();
}

static void test_two_that_fill_every_slot_take_twice_as_long(void **state)
{
	uint64_t alone, both;
	(void)state;
	start(2, NULL);
	for (unsigned i = 0; i < 2; i++)
		operations(&thread[i], 16, ALU, 1, false);
	run(1, 4 * LOOP);
	alone = last_retired(&thread[0]);
	stop();
	start(2, NULL);
	for (unsigned i = 0; i < 2; i++)
		operations(&thread[i], 16, ALU, 1, false);
	run(2, 4 * LOOP);
	both = last_retired(&thread[0]) > last_retired(&thread[1]) ? last_retired(&thread[0])
		: last_retired(&thread[1]);
	assert_in_range(both, alone * 19 / 10, alone * 21 / 10);
	stop();
}

static void test_a_thread_that_waits_leaves_its_slots_to_the_other(void **state)
{
	uint64_t alone;
	(void)state;
	start(1, NULL);
	operations(&thread[0], 16, ALU, 1, false);
	run(1, 4 * LOOP);
	alone = last_retired(&thread[0]);
	stop();
	start(2, NULL);
	operations(&thread[0], 16, ALU, 1, false);
	operations(&thread[1], 16, 1, 20, true);	/* an operation every 20 cycles */
	run(2, 4 * LOOP);
	assert_true(last_retired(&thread[0]) < alone * 5 / 4);
	stop();
}

static void test_a_port_takes_one_uop_a_cycle_of_whichever_thread(void **state)
{
	static uint8_t taken[MOST];
	unsigned twice = 0, uops = 0;
	(void)state;
	start(2, NULL);
	for (unsigned i = 0; i < 2; i++)
		operations(&thread[i], 8, 1, 1, false);
	run(2, 4 * LOOP);
	memset(taken, 0, sizeof taken);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned u = 0; u < thread[i].uops; u++, uops++) {
			assert_int_equal(thread[i].uop[u].port, 0);
			assert_true(thread[i].uop[u].dispatch < MOST);
			twice += taken[thread[i].uop[u].dispatch]++ > 0;
		}
	assert_int_equal(uops, 2 * 8 * 4 * LOOP);
	assert_int_equal(twice, 0);
	stop();
}

/* ---- buffers ---- */

/* Returns how many uops of thread 0 are allocated before the older load, which misses, completes. */
static unsigned allocated_behind_a_miss(const char *settings, unsigned threads, unsigned active,
	void (*more)(struct code *k))
{
	unsigned n = 0;
	start(threads, settings);
	struct hardware_thread *t = &thread[0];
	mock.miss_from = 0x100000;
	mock.miss_to = 0x100040;
	mock.miss_latency = 3000;
	code_load(&t->k, REG_GPR + 1, REG_GPR + 2, 8);
	t->slots[0] = 0x100000;
	for (unsigned i = 0; i < 250; i++)
		if (more && i < MOCK_SLOTS - 1) {
			t->slots[t->k.b.slots] = 0x2000 + 8 * i;
			more(&t->k);
		} else {
			code_insn(&t->k, 4, 0);		/* nothing to execute, so no scheduler entry */
			code_uop(&t->k, UOP_COMPUTE, 0, 0, true);
		}
	core_smt_share(t->c, active);
	once(t);
	core_flush(t->c, true);
	for (unsigned u = 1; u < t->uops; u++)
		n += t->uop[u].alloc < t->uop[0].complete;
	stop();
	return n + 1;
}

static void a_load(struct code *k)
{
	code_load(k, REG_GPR + 3, REG_GPR + 4, 8);
}

static void a_store(struct code *k)
{
	code_insn(k, 4, 0);	/* one uop, the address: the data do not matter here */
	struct uop *a = code_uop(k, UOP_STORE_ADDR, 0x80, 1, true);
	a->src[0] = REG_GPR + 4;
	a->size = 8;
	a->is |= SPMU_IS(STORE_ADDR);
	a->slot = (uint16_t)code_slot(k, ST_SLOT_STORE, 8);
	struct uop *d = code_uop(k, UOP_STORE_DATA, 0x10, 1, false);
	d->size = 8;
	d->slot = a->slot;
	d->is |= SPMU_IS(STORE_DATA);
}

static void test_the_reorder_buffer_is_split_while_several_run(void **state)
{
	(void)state;
	assert_int_equal(allocated_behind_a_miss("rob.size=120", 1, 1, NULL), 120);
	assert_int_equal(allocated_behind_a_miss("rob.size=120", 2, 2, NULL), 60);
	assert_int_equal(allocated_behind_a_miss("rob.size=120", 2, 1, NULL), 120);	/* the other is halted */
	assert_int_equal(allocated_behind_a_miss("rob.size=120 smt.threads=4", 4, 4, NULL), 30);
	assert_int_equal(allocated_behind_a_miss("rob.size=120 smt.threads=4", 4, 3, NULL), 40);
}

static void test_a_shared_reorder_buffer_is_had_by_whoever_comes_first(void **state)
{
	(void)state;
	assert_int_equal(allocated_behind_a_miss("rob.size=120 smt.rob=shared", 2, 2, NULL), 120);
}

static void test_load_and_store_buffer_are_split_or_shared_as_the_core_says(void **state)
{
	const char *sizes = "rob.size=400 load_buffer.size=40 store_buffer.size=30";
	char shared[200];
	(void)state;
	snprintf(shared, sizeof shared, "%s smt.load_buffer=shared smt.store_buffer=shared", sizes);
	const unsigned loads = allocated_behind_a_miss(sizes, 2, 1, a_load),
		loads_split = allocated_behind_a_miss(sizes, 2, 2, a_load);
	assert_int_equal(loads, 40);
	assert_int_equal(loads_split, 20);
	assert_int_equal(allocated_behind_a_miss(shared, 2, 2, a_load), 40);
	/* the load that misses, and two uops a store */
	assert_in_range(allocated_behind_a_miss(sizes, 2, 1, a_store), 1 + 2 * 30, 2 + 2 * 30);
	assert_in_range(allocated_behind_a_miss(sizes, 2, 2, a_store), 1 + 2 * 15, 2 + 2 * 15);
	assert_in_range(allocated_behind_a_miss(shared, 2, 2, a_store), 1 + 2 * 30, 2 + 2 * 30);
}

/* Returns how many uops were delivered while none could be allocated. */
static unsigned delivered_behind_a_miss(const char *settings, unsigned active)
{
	unsigned n = 0;
	start(2, settings);
	struct hardware_thread *t = &thread[0];
	mock.miss_from = 0x100000;
	mock.miss_to = 0x100040;
	mock.miss_latency = 3000;
	code_load(&t->k, REG_GPR + 1, REG_GPR + 2, 8);
	t->slots[0] = 0x100000;
	operations(t, 200, ALU, 1, false);
	core_smt_share(t->c, active);
	once(t);
	core_flush(t->c, true);
	for (unsigned u = 0; u < t->uops; u++)
		n += t->uop[u].fetch < t->uop[0].complete;
	stop();
	return n;
}

static void test_the_uop_queue_is_each_threads_or_split_as_the_core_says(void **state)
{
	(void)state;
	const unsigned alone = delivered_behind_a_miss("rob.size=40 smt.rob=shared idq.size=64 smt.idq=split", 1),
	               split = delivered_behind_a_miss("rob.size=40 smt.rob=shared idq.size=64 smt.idq=split", 2),
	               own = delivered_behind_a_miss("rob.size=40 smt.rob=shared idq.size=64 smt.idq=own", 2);
	assert_int_equal(own, alone);
	assert_int_equal(alone - split, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_record_names_its_hardware_thread),
		cmocka_unit_test(test_a_third_thread_is_refused_where_the_core_has_two),
		cmocka_unit_test(test_the_number_of_a_thread_that_ended_is_given_to_the_next),
		cmocka_unit_test(test_a_cycle_of_allocation_is_one_threads),
		cmocka_unit_test(test_two_that_fill_every_slot_take_twice_as_long),
		cmocka_unit_test(test_a_thread_that_waits_leaves_its_slots_to_the_other),
		cmocka_unit_test(test_a_port_takes_one_uop_a_cycle_of_whichever_thread),
		cmocka_unit_test(test_the_reorder_buffer_is_split_while_several_run),
		cmocka_unit_test(test_a_shared_reorder_buffer_is_had_by_whoever_comes_first),
		cmocka_unit_test(test_load_and_store_buffer_are_split_or_shared_as_the_core_says),
		cmocka_unit_test(test_the_uop_queue_is_each_threads_or_split_as_the_core_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
