/* SPDX-License-Identifier: GPL-2.0-or-later
 * Exact cycles of loads and stores in the pipeline: forwarding, disambiguation, store buffer, locks, fences. */
#include "core_fixture.h"

static struct code k;

static void run(struct bench *b, const uint64_t *slots)
{
	bench_run(b, &k, slots, 0);
	core_flush(b->c, true);
}

static void test_load_use_takes_the_caches_latency(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_load(&k, REG_GPR, 0, 8);
	code_op(&k, ALU, 1, REG_GPR + 1, REG_GPR);
	run(&b, (const uint64_t[]){ 0x8000 });
	assert_int_equal(out.uop[1].dispatch, out.uop[0].dispatch + 4);
	assert_int_equal(out.uop[0].addr, 0x8000);
	assert_int_equal(out.uop[0].size, 8);
	assert_true(out.uop[0].did & SPMU_DID(L1D_HIT));
	bench_end(&b);
}

static void test_loads_go_two_a_cycle(void **state)
{
	(void)state;
	struct bench b;
	uint64_t slots[20];
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 30, REG_GPR, 0);
	for (unsigned i = 0; i < 20; i++) {
		slots[i] = 0x8000 + 64 * i;
		code_load(&k, REG_GPR + 1, REG_GPR, 8);
	}
	run(&b, slots);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(out.uop[1 + i].dispatch, out.uop[0].complete + i / 2);
	bench_end(&b);
}

/* A load misses, and its line arrives when two others are ready.  Returns how much later the second of them goes. */
static uint64_t behind_an_arrival(const char *settings)
{
	struct bench b;
	fixture_start(&b, &k, settings);
	mock.miss_from = 0x9000, mock.miss_to = 0x9040, mock.miss_latency = 24;
	code_load(&k, REG_GPR, 0, 8);
	code_op(&k, 1, 20, REG_GPR + 1, 0);
	code_load(&k, REG_GPR + 2, REG_GPR + 1, 8);
	code_load(&k, REG_GPR + 3, REG_GPR + 1, 8);
	run(&b, (const uint64_t[]){ 0x9000, 0x8000, 0x8040 });
	assert_int_equal(out.uop[1].dispatch, out.uop[0].dispatch);
	assert_int_equal(out.uop[0].complete, out.uop[0].dispatch + 24);
	const uint64_t one = out.uop[2].dispatch, other = out.uop[3].dispatch;
	assert_int_equal(one < other ? one : other, out.uop[1].complete);
	bench_end(&b);
	return one < other ? other - one : one - other;
}

static void test_load_takes_its_port_again_when_its_line_arrives(void **state)
{
	(void)state;
	assert_int_equal(behind_an_arrival(NULL), 0);
	assert_int_equal(behind_an_arrival("l1d.replay=1"), 1);
}

/* Returns in which cycle the last of 20 independent loads goes, counted from the first. Lines arrive with five of them,
 * early enough that none waits. */
static uint64_t beside_arrivals(const char *settings)
{
	struct bench b;
	uint64_t slots[20], last = 0;
	fixture_start(&b, &k, settings);
	mock.miss_from = 0x9000, mock.miss_to = 0xa000, mock.miss_latency = mock.load_latency;
	code_op(&k, 1, 30, REG_GPR, 0);
	for (unsigned i = 0; i < 20; i++) {
		slots[i] = i % 4 ? 0x8000 : 0x9000 + 64 * i;
		code_load(&k, REG_GPR + 1, REG_GPR, 8);
	}
	run(&b, slots);
	for (unsigned i = 0; i < 20; i++)
		last = out.uop[1 + i].dispatch > last ? out.uop[1 + i].dispatch : last;
	last -= out.uop[0].complete;
	bench_end(&b);
	return last;
}

static void test_lines_that_arrive_early_take_load_ports(void **state)
{
	(void)state;
	assert_int_equal(beside_arrivals(NULL), 9);
	assert_int_equal(beside_arrivals("l1d.fill_slots=2"), 9);
	/* ten of thirty slots are the lines' */
	assert_in_range(beside_arrivals("l1d.fill_slots=2 l1d.fill_every=1"), 13, 14);
}

/* Returns when the last of 48 stores has its data, with a load that misses before every fourth. */
static uint64_t many_stores(const char *settings)
{
	struct bench b;
	uint64_t slots[60];
	unsigned n = 0;
	fixture_start(&b, &k, settings);
	mock.miss_from = 0x9000, mock.miss_to = 0xa000, mock.miss_latency = 14;
	for (unsigned i = 0; i < 48; i++) {
		if (i % 4 == 3) {
			slots[n++] = 0x9000 + 64 * i;
			code_load(&k, REG_GPR, 0, 8);
		}
		slots[n++] = 0x8000 + 8 * (i % 8);
		code_store(&k, 0, 0, 8);
	}
	run(&b, slots);
	const uint64_t last = out.uop[out.uops - 1].dispatch;
	bench_end(&b);
	return last;
}

static void test_lines_that_arrive_delay_stores(void **state)
{
	(void)state;
	const uint64_t alone = many_stores("store_buffer.size=16"),
		       both = many_stores("store_buffer.size=16 store.commit_fill=1");
	assert_in_range(both - alone, 3, 12);	/* 12 lines, some of which come while no store waits */
}

static void test_load_not_made_does_not_touch_memory(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_load(&k, REG_GPR, 0, 8);
	code_store(&k, REG_GPR, 0, 8);
	run(&b, (const uint64_t[]){ ST_NOT_DONE, ST_NOT_DONE });
	assert_int_equal(mock.loads + mock.stores + mock.translations, 0);
	assert_int_equal(out.uops, 3);
	assert_int_equal(out.uop[0].size, 0);
	assert_int_equal(out.uop[0].addr, 0);
	assert_int_equal(out.instructions, 2);
	bench_end(&b);
}

static void test_forwarding_takes_its_latency_from_the_data(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 30, REG_GPR, 0);
	code_store(&k, REG_GPR, 0, 8);
	code_load(&k, REG_GPR + 1, 0, 8);
	run(&b, (const uint64_t[]){ 0x8000, 0x8000 });
	/* uops: op, store address, store data, load */
	assert_int_equal(out.uop[2].dispatch, out.uop[0].complete);
	assert_int_equal(out.uop[3].complete, out.uop[2].complete + 5);
	assert_true(out.uop[3].did & SPMU_DID(FORWARDED));
	assert_int_equal(mock.loads, 0);
	bench_end(&b);
}

static void test_load_inside_a_larger_store_is_forwarded(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 32);
	code_load(&k, REG_GPR, 0, 4);
	run(&b, (const uint64_t[]){ 0x8000, 0x801c });
	assert_true(out.uop[2].did & SPMU_DID(FORWARDED));
	bench_end(&b);
}

static void test_partial_overlap_waits_until_the_store_is_written(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 4);
	code_load(&k, REG_GPR, 0, 8);
	run(&b, (const uint64_t[]){ 0x8000, 0x8000 });
	assert_true(out.uop[2].did & SPMU_DID(FORWARD_BLOCKED));
	assert_false(out.uop[2].did & SPMU_DID(FORWARDED));
	/* the store is written store.commit_delay (1) after it retires; the load is tried again forward.blocked (3)
	 * later; the cache takes 4 */
	assert_int_equal(mock.last_commit_cycle, out.uop[0].retire + 1);
	assert_int_equal(mock.last_load_cycle, out.uop[0].retire + 1 + 3);
	assert_int_equal(out.uop[2].complete, out.uop[0].retire + 1 + 3 + 4);
	bench_end(&b);
}

static void test_youngest_overlapping_store_decides(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_op(&k, 1, 30, REG_GPR + 3, 0);
	code_store(&k, 0, 0, 8);
	code_store(&k, 0, 0, 2);	/* into the first's bytes */
	code_load(&k, REG_GPR, REG_GPR + 3, 8);
	code_load(&k, REG_GPR, REG_GPR + 3, 2);
	code_load(&k, REG_GPR, REG_GPR + 3, 2);
	run(&b, (const uint64_t[]){ 0x8000, 0x8004, 0x8000, 0x8004, 0x8006 });
	assert_true(out.uop[5].did & SPMU_DID(FORWARD_BLOCKED));
	assert_true(out.uop[6].did & SPMU_DID(FORWARDED));
	/* forwarded from the first store: the second does not overlap */
	assert_true(out.uop[7].did & SPMU_DID(FORWARDED));
	bench_end(&b);
}

static void test_store_across_the_end_of_memory_is_found(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 8);
	code_load(&k, REG_GPR, 0, 2);
	run(&b, (const uint64_t[]){ ~UINT64_C(0) - 3, 1 });	/* wraps: bytes 0 to 3 */
	assert_true(out.uop[2].did & SPMU_DID(FORWARDED));
	bench_end(&b);
}

static void test_huge_store_blocks_and_forwards_too(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 512);
	code_load(&k, REG_GPR, 0, 8);
	code_load(&k, REG_GPR, 0, 8);
	code_load(&k, REG_GPR, 0, 65535);
	run(&b, (const uint64_t[]){ 0x8000, 0x8100, 0x81fc, 0x7000 });
	assert_true(out.uop[2].did & SPMU_DID(FORWARDED));
	assert_true(out.uop[3].did & SPMU_DID(FORWARD_BLOCKED));
	assert_int_equal(out.uops, 5);
	bench_end(&b);
}

static void test_neighbouring_bytes_do_not_concern_the_load(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 4);
	code_load(&k, REG_GPR, 0, 4);
	run(&b, (const uint64_t[]){ 0x8000, 0x8004 });
	assert_false(out.uop[2].did & (SPMU_DID(FORWARDED) | SPMU_DID(FORWARD_BLOCKED) | SPMU_DID(ALIAS_4K)));
	assert_int_equal(out.uop[2].complete, out.uop[2].dispatch + 4);
	bench_end(&b);
}

static void test_4k_alias_delays_the_load(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 8);
	code_load(&k, REG_GPR, 0, 8);
	run(&b, (const uint64_t[]){ 0x8010, 0x19010 });
	assert_true(out.uop[2].did & SPMU_DID(ALIAS_4K));
	assert_int_equal(out.uop[2].complete, out.uop[2].dispatch + 5 + 4);
	bench_end(&b);
}

/* Makes a store whose address comes late, then a load of the same bytes. */
static void late_store(void)
{
	code_start(&k, 0x1000);
	code_op(&k, 1, 30, REG_GPR, 0);
	code_store(&k, 0, REG_GPR, 8);
	code_load(&k, REG_GPR + 1, 0, 8);
	code_op(&k, ALU, 1, REG_GPR + 2, 0);
}

static void test_load_that_passed_its_store_clears_the_machine_once(void **state)
{
	(void)state;
	struct bench b;
	const uint64_t slots[] = { 0x8000, 0x8000 };
	fixture_start(&b, NULL, "clear.cycles=10");
	late_store();
	bench_run(&b, &k, slots, 0x1000);
	bench_run(&b, &k, slots, 0x1000);
	core_flush(b.c, true);
	struct seen *load = &out.uop[3], *next = &out.uop[4];
	assert_true(load->did & SPMU_DID(CLEAR_MEMORY_ORDER));
	assert_int_equal(heard_count(SPMU_SIG_CLEAR_MEMORY_ORDER), 1);
	assert_int_equal(heard_sum(SPMU_SIG_RECOVERY), 10 + 4);
	/* fetched again when the store's address is known and the store has retired, clear.cycles 10 later */
	assert_int_equal(load->dispatch, out.uop[1].retire + 1 + 10 + 6 + 2 + 3);
	assert_int_equal(load->dispatch, mock.last_load_cycle);	/* from L1D: the store is written by then */
	assert_true(next->fetch >= out.uop[1].retire + 1 + 10 + 6);
	/* the second time it waits */
	struct seen *again = &out.uop[5 + 3];
	assert_false(again->did & SPMU_DID(CLEAR_MEMORY_ORDER));
	assert_int_equal(again->dispatch, out.uop[5 + 1].dispatch);
	assert_true(again->did & SPMU_DID(FORWARDED));
	bench_end(&b);
}

static void test_free_clear_is_told_and_throws_nothing_away(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, "clear.cycles=10 free.clear=1");
	late_store();
	bench_run(&b, &k, (const uint64_t[]){ 0x8000, 0x8000 }, 0x1000);
	core_flush(b.c, true);
	const struct seen *store = &out.uop[1], *load = &out.uop[3];
	assert_true(load->did & SPMU_DID(CLEAR_MEMORY_ORDER));
	assert_int_equal(heard_count(SPMU_SIG_CLEAR_MEMORY_ORDER), 1);
	assert_int_equal(heard_sum(SPMU_SIG_RECOVERY), 0);
	assert_true(load->did & SPMU_DID(FORWARDED));
	assert_true(load->dispatch < store->dispatch);
	bench_end(&b);
}

static void test_unproven_load_waits_for_store_addresses(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, "disambiguation.initial=0 disambiguation.limit=2");
	const uint64_t slots[] = { 0x8000, 0x9100 };
	late_store();
	for (unsigned i = 0; i < 4; i++)
		bench_run(&b, &k, slots, 0x1000);
	core_flush(b.c, true);
	for (unsigned i = 0; i < 4; i++) {
		struct seen *store = &out.uop[5 * i + 1], *load = &out.uop[5 * i + 3];
		if (i < 2)
			assert_int_equal(load->dispatch, store->dispatch);
		else		/* it did not need to wait twice before */
			assert_true(load->dispatch < store->dispatch);
	}
	bench_end(&b);
}

static void test_store_buffer_full_stalls_allocation(void **state)
{
	(void)state;
	struct bench b;
	uint64_t slots[8];
	fixture_start(&b, &k, "store_buffer.size=4");
	for (unsigned i = 0; i < 8; i++) {
		code_store(&k, 0, 0, 8);
		slots[i] = 0x8000 + 8 * i;
	}
	mock.miss_from = 0x8000, mock.miss_to = 0x8008;		/* the first misses for 200 cycles */
	run(&b, slots);
	/* entry of store 0 is free when it is written: retire + 1 + 200 */
	assert_int_equal(out.uop[8].alloc, out.uop[0].retire + 1 + 200);
	assert_true(out.uop[8].did & SPMU_DID(STALL_SB));
	assert_false(out.uop[6].did & SPMU_DID(STALL_SB));
	assert_true(heard_sum(SPMU_SIG_RESOURCE_STALL_SB) >= 190);
	assert_int_equal(heard_sum(SPMU_SIG_STORE_L1D_MISS), 1);
	bench_end(&b);
}

static void test_stores_are_written_in_order_one_a_cycle(void **state)
{
	(void)state;
	struct bench b;
	uint64_t slots[8];
	fixture_start(&b, &k, "store_buffer.size=4");
	for (unsigned i = 0; i < 8; i++) {
		code_store(&k, 0, 0, 8);
		slots[i] = 0x8000 + 8 * i;
	}
	mock.miss_from = 0x8000, mock.miss_to = 0x8008;
	run(&b, slots);
	/* stores 1..3 hit but are written behind store 0, a cycle apart: entries come back so */
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(out.uop[8 + 2 * i].alloc, out.uop[8].alloc + i);
	bench_end(&b);
}

static void test_load_buffer_full_stalls_allocation(void **state)
{
	(void)state;
	struct bench b;
	uint64_t slots[8];
	fixture_start(&b, &k, "load_buffer.size=4");
	for (unsigned i = 0; i < 8; i++) {
		code_load(&k, REG_GPR, 0, 8);
		slots[i] = 0x8000 + 64 * i;
	}
	mock.miss_from = 0x8000, mock.miss_to = 0x8008;
	run(&b, slots);
	assert_int_equal(out.uop[4].alloc, out.uop[0].retire + 1);
	assert_true(out.uop[4].did & SPMU_DID(STALL_LB));
	assert_true(heard_sum(SPMU_SIG_RESOURCE_STALL_LB) >= 190);
	bench_end(&b);
}

static void test_results_wait_for_an_integer_register(void **state)
{
	(void)state;
	struct bench b;
	uint64_t slot = 0x8000;
	for (unsigned size = 0; size <= 4; size += 4) {	/* 0: enough registers */
		fixture_start(&b, &k, size ? "prf.integer=4" : NULL);
		code_load(&k, REG_GPR, 0, 8);			/* takes one */
		for (unsigned i = 0; i < 4; i++)		/* take none: they write no general register */
			code_op(&k, ALU, 1, REG_VEC + i, 0);
		for (unsigned i = 1; i < 6; i++)		/* three get one; two are too many */
			code_op(&k, ALU, 1, REG_GPR + i, 0);
		mock.miss_from = 0x8000, mock.miss_to = 0x8008;
		run(&b, &slot);
		assert_true(out.uop[7].alloc <= out.uop[0].alloc + 4);
		if (size) {
			assert_int_equal(out.uop[8].alloc, out.uop[0].retire + 1);
			assert_true(out.uop[8].did & SPMU_DID(STALL_ROB));
			assert_true(heard_sum(SPMU_SIG_RESOURCE_STALL_ROB) >= 190);
		} else {
			assert_true(out.uop[8].alloc <= out.uop[0].alloc + 4);
		}
		bench_end(&b);
	}
}

static void test_store_misses_are_heard_over_batch_ends(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	for (unsigned i = 0; i < 20; i++)
		code_store(&k, 0, 0, 8);
	uint64_t slots[20];
	mock.miss_from = 0x8000, mock.miss_to = 0x1000000;
	mock.store_miss_latency = 2;
	for (unsigned i = 0; i < 200; i++) {
		for (unsigned s = 0; s < 20; s++)
			slots[s] = 0x8000 + 64 * (20 * i + s);
		bench_run(&b, &k, slots, 0x1000);
	}
	core_flush(b.c, true);
	assert_int_equal(mock.stores, 4000);
	assert_int_equal(heard_sum(SPMU_SIG_STORE_L1D_MISS), 4000);
	assert_int_equal(heard_sum(SPMU_SIG_STORE_VISIBLE), 4000);
	assert_int_equal(out.instructions, 4000);
	assert_int_equal(out.violations, 0);
	bench_end(&b);
}

static void test_store_is_written_before_a_load_allocated_later_looks(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 8);
	code_insn(&k, 2, INSN_SERIALIZE);
	code_uop(&k, UOP_SERIALIZE, 1, 10, true);
	code_load(&k, REG_GPR, 0, 8);
	run(&b, (const uint64_t[]){ 0x8000, 0x8000 });
	assert_false(out.uop[3].did & SPMU_DID(FORWARDED));
	assert_int_equal(mock.loads, 1);
	bench_end(&b);
}

/* LOCK ADD [m],r: load, add, store */
static void locked(void)
{
	code_load(&k, REG_TEMP, 0, 8)->is |= SPMU_IS(LOCK);
	struct uop *u = code_uop(&k, UOP_COMPUTE, ALU, 1, true);
	u->src[0] = u->dst[0] = REG_TEMP;
	u = code_uop(&k, UOP_STORE_ADDR, 0x80, 1, true);
	u->is |= SPMU_IS(LOCK) | SPMU_IS(STORE_ADDR);
	u->size = 8;
	u->slot = k.uop[k.b.uops - 3].slot;
	u = code_uop(&k, UOP_STORE_DATA, 0x10, 1, false);
	u->src[0] = REG_TEMP;
	u->is |= SPMU_IS(LOCK);
}

static void test_locked_operations_serialize_memory(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 8);
	locked();
	code_load(&k, REG_GPR, 0, 8);
	code_op(&k, ALU, 1, REG_GPR + 1, 0);
	mock.miss_from = 0x9000, mock.miss_to = 0x9040;
	run(&b, (const uint64_t[]){ 0x9000, 0x8000, 0xa000 });
	struct seen *lock = &out.uop[2], *store = &out.uop[4], *load = &out.uop[6], *op = &out.uop[7];
	/* waits until the older store is written: retire + 1 + 200 */
	assert_int_equal(lock->dispatch, out.uop[0].retire + 1 + 200);
	/* younger loads wait until its own store is written (retire + 1) and for lock.penalty (4) */
	assert_int_equal(load->dispatch, store->retire + 1 + 4);
	assert_true(op->dispatch < lock->dispatch);	/* other operations do not wait */
	assert_int_equal(heard_count(SPMU_SIG_LOCK_DURATION), 1);
	assert_int_equal(heard_sum(SPMU_SIG_LOCK_DURATION), store->retire + 1 - lock->dispatch);
	bench_end(&b);
}

static void test_full_fence_waits_for_stores(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_store(&k, 0, 0, 8);
	code_insn(&k, 3, 0);
	code_uop(&k, UOP_FENCE_FULL, 0, 1, true);
	code_load(&k, REG_GPR, 0, 8);
	mock.miss_from = 0x9000, mock.miss_to = 0x9040;
	run(&b, (const uint64_t[]){ 0x9000, 0xa000 });
	assert_int_equal(out.uop[2].complete, out.uop[0].retire + 1 + 200 + 1);
	assert_true(out.uop[3].dispatch > out.uop[2].complete);
	bench_end(&b);
}

static void flush(unsigned kind)
{
	code_load(&k, 0, 0, 8);			/* makes an instruction with a slot */
	struct uop *u = &k.uop[k.b.uops - 1];
	u->kind = UOP_FLUSH;
	u->is &= ~SPMU_IS(LOAD);
	u->flush = (uint16_t)kind;
	u->size = 1;
}

static void test_a_load_waits_for_the_flush_of_its_line_alone(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	flush(FLUSH_OUT);
	code_load(&k, REG_GPR, 0, 8);
	code_load(&k, REG_GPR + 1, 0, 8);
	code_load(&k, REG_GPR + 2, 0, 8);	/* 4 KB away: no alias */
	mock.flush_latency = 300;
	run(&b, (const uint64_t[]){ 0x9008, 0x9030, 0x9040, 0xa008 });
	assert_int_equal(mock.flushes, 1);
	assert_int_equal(mock.last_flush, FLUSH_OUT);
	assert_int_equal(mock.last_flush_addr, 0x9000);
	assert_true(mock.last_flush_cycle > out.uop[0].retire);
	assert_int_equal(mock.loads, 3);
	assert_int_equal(out.uop[1].complete, mock.last_flush_cycle + 300 + mock.load_latency);
	assert_int_equal(out.uop[1].did & (SPMU_DID(FORWARDED) | SPMU_DID(FORWARD_BLOCKED)), 0);
	assert_true(out.uop[2].complete < mock.last_flush_cycle + 300);
	assert_true(out.uop[3].complete < mock.last_flush_cycle + 300);
	assert_int_equal(out.uop[3].did & SPMU_DID(ALIAS_4K), 0);
	bench_end(&b);
}

static void test_stores_wait_for_a_flush_and_pass_a_weak_one_up_to_a_fence(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct bench b;
		fixture_start(&b, &k, NULL);
		flush(i ? FLUSH_OUT_WEAK : FLUSH_OUT);
		if (i >= 2) {
			code_insn(&k, 3, 0);
			code_uop(&k, i == 2 ? UOP_FENCE_STORE : UOP_FENCE_FULL, 0, 1, true);
		}
		code_store(&k, 0, 0, 8);
		mock.flush_latency = 300;
		run(&b, (const uint64_t[]){ 0x9000, 0x8000 });
		core_flush(b.c, true);
		const uint64_t flushed = mock.last_flush_cycle + 300;
		assert_int_equal(mock.stores, 1);
		assert_int_equal(heard_count(SPMU_SIG_STORE_VISIBLE), 1);
		for (unsigned n = 0; n < out.signals; n++)
			if (out.signal[n].signal == SPMU_SIG_STORE_VISIBLE)
				assert_int_equal(out.signal[n].begin >= flushed, i != 1);
		bench_end(&b);
	}
}

static void test_software_prefetch_is_no_load(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	struct uop *u = code_load(&k, 0, 0, 8);
	u->is = (u->is & ~SPMU_IS(LOAD)) | SPMU_IS(PREFETCH_SW);
	run(&b, (const uint64_t[]){ 0x9000 });
	assert_int_equal(mock.loads, 0);
	assert_int_equal(mock.prefetches, 1);
	assert_int_equal(heard_count(SPMU_SIG_SW_PREFETCH), 1);
	assert_int_equal(out.uop[0].complete, out.uop[0].dispatch + 1);
	bench_end(&b);
}

static void test_store_address_of_a_call_is_in_its_record(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_branch(&k, 5, INSN_CALL, 0x3000, 0)->is |= SPMU_IS(CALL);
	struct uop *u = code_uop(&k, UOP_STORE_ADDR, 0x80, 1, true);
	u->size = 8;
	u->slot = (uint16_t)code_slot(&k, ST_SLOT_STORE, 8);
	code_uop(&k, UOP_STORE_DATA, 0x10, 1, false)->size = 8;
	bench_run(&b, &k, (const uint64_t[]){ 0x7ffff8 }, 0x3000);
	core_flush(b.c, true);
	assert_int_equal(out.uop[0].addr, 0x3000);
	assert_int_equal(out.uop[1].addr, 0x7ffff8);
	bench_end(&b);
}

static void test_warming_touches_everything_and_takes_no_time(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_load(&k, REG_GPR, 0, 8);
	code_store(&k, REG_GPR, 0, 8);
	code_load(&k, REG_GPR, 0, 8);
	code_branch(&k, 2, INSN_COND, 0x1000, 0);
	code_exit(&k, ST_JUMP_BORING, 0x1000);
	core_warm_block(b.c, &k.b, 0, k.b.insns, (const uint64_t[]){ 0x8000, 0x9000, ST_NOT_DONE }, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(mock.warm_data, 2);
	assert_int_equal(mock.warm_fetch, 1);
	assert_int_equal(mock.branches, 1);
	assert_int_equal(mock.taken, 1);
	assert_int_equal(out.uops, 0);
	assert_int_equal(core_now(b.c), 0);
	assert_int_equal(core_instructions(b.c), 0);
	bench_end(&b);
}

/* Of whole blocks, and of cut ones. */
static void test_warming_knows_prefetches_and_non_temporal_stores(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, NULL);
	code_load(&k, 0, 0, 8)->is = SPMU_IS(PREFETCH_SW);
	k.slot[0].kind = ST_SLOT_PREFETCH;
	code_store(&k, REG_GPR, 0, 8)->is |= SPMU_IS(NON_TEMPORAL);
	code_load(&k, REG_GPR, 0, 8);
	code_exit(&k, ST_JUMP_BORING, 0x1000);
	for (unsigned insns = 3; insns >= 2; insns--) {
		const unsigned blocks = 4 - insns;
		core_warm_block(b.c, &k.b, 0, insns, (const uint64_t[]){ 0x8000, 0x9000, 0xa000 }, 0x1000);
		assert_int_equal(mock.prefetches, blocks);
		assert_int_equal(mock.warm_streams, blocks);
		assert_int_equal(mock.warm_data, 1);
		assert_int_equal(mock.warm_fetch, 1);	/* then the uop cache has it */
	}
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_use_takes_the_caches_latency),
		cmocka_unit_test(test_loads_go_two_a_cycle),
		cmocka_unit_test(test_load_takes_its_port_again_when_its_line_arrives),
		cmocka_unit_test(test_lines_that_arrive_early_take_load_ports),
		cmocka_unit_test(test_lines_that_arrive_delay_stores),
		cmocka_unit_test(test_load_not_made_does_not_touch_memory),
		cmocka_unit_test(test_forwarding_takes_its_latency_from_the_data),
		cmocka_unit_test(test_load_inside_a_larger_store_is_forwarded),
		cmocka_unit_test(test_partial_overlap_waits_until_the_store_is_written),
		cmocka_unit_test(test_youngest_overlapping_store_decides),
		cmocka_unit_test(test_store_across_the_end_of_memory_is_found),
		cmocka_unit_test(test_huge_store_blocks_and_forwards_too),
		cmocka_unit_test(test_neighbouring_bytes_do_not_concern_the_load),
		cmocka_unit_test(test_4k_alias_delays_the_load),
		cmocka_unit_test(test_load_that_passed_its_store_clears_the_machine_once),
		cmocka_unit_test(test_free_clear_is_told_and_throws_nothing_away),
		cmocka_unit_test(test_unproven_load_waits_for_store_addresses),
		cmocka_unit_test(test_store_buffer_full_stalls_allocation),
		cmocka_unit_test(test_stores_are_written_in_order_one_a_cycle),
		cmocka_unit_test(test_load_buffer_full_stalls_allocation),
		cmocka_unit_test(test_results_wait_for_an_integer_register),
		cmocka_unit_test(test_store_misses_are_heard_over_batch_ends),
		cmocka_unit_test(test_store_is_written_before_a_load_allocated_later_looks),
		cmocka_unit_test(test_locked_operations_serialize_memory),
		cmocka_unit_test(test_full_fence_waits_for_stores),
		cmocka_unit_test(test_a_load_waits_for_the_flush_of_its_line_alone),
		cmocka_unit_test(test_stores_wait_for_a_flush_and_pass_a_weak_one_up_to_a_fence),
		cmocka_unit_test(test_software_prefetch_is_no_load),
		cmocka_unit_test(test_store_address_of_a_call_is_in_its_record),
		cmocka_unit_test(test_warming_touches_everything_and_takes_no_time),
		cmocka_unit_test(test_warming_knows_prefetches_and_non_temporal_stores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
