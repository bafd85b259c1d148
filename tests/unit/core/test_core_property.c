/* SPDX-License-Identifier: GPL-2.0-or-later
 * Properties of every program: random blocks on several machines, checked record by record. */
#include "core_fixture.h"

enum { BLOCKS = 24, STEPS = 1500 };
static struct code blocks[BLOCKS];
static uint32_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * below >> 32);
}

static void build(struct code *k, uint64_t addr)
{
	code_start(k, addr);
	for (unsigned i = 0, n = 1 + draw(12); i < n; i++) {
		unsigned dst = 1 + draw(REG_COUNT - 1), src = draw(REG_COUNT), size = draw(8) ? 1u << draw(7)
			: 1 + draw(65535);
		struct uop *u;
		switch (draw(16)) {
		case 0: case 1: case 2:
			u = code_load(k, dst, src, size);
			if (!draw(20))
				u->is |= SPMU_IS(LOCK);
			break;
		case 3: case 4:
			u = code_store(k, dst, src, size);
			if (!draw(20))
				u->is |= SPMU_IS(LOCK);
			break;
		case 5:
			code_load(k, REG_TEMP, src, size > 64 ? 8 : size);
			u = code_uop(k, UOP_COMPUTE, 0x63, 1 + draw(4), false);
			u->src[0] = REG_TEMP;
			u->dst[0] = (uint8_t)dst;
			break;
		case 6:
			u = code_op(k, 1, 20 + draw(60), dst, src);
			u->busy = (uint8_t)(4 + draw(20));
			u->unit = (uint8_t)(1 + draw(4));
			break;
		case 7:
			code_insn(k, 1 + draw(15), 0);
			u = code_uop(k, draw(2) ? UOP_NOP : UOP_ELIMINATED, 0, 0, true);
			u->dst[0] = (uint8_t)dst;
			u->src[0] = (uint8_t)src;
			break;
		case 8:
			code_insn(k, 1 + draw(15), INSN_MS | INSN_COMPLEX);
			for (unsigned j = 0, m = 5 + draw(60); j < m; j++)
				code_uop(k, UOP_COMPUTE, 0x63, 1, true)->flags |= UOP_MS;
			break;
		case 9:
			if (draw(6))
				goto plain;
			code_insn(k, 3, INSN_SERIALIZE);
			u = code_uop(k, UOP_FENCE_LOAD + draw(4), draw(2), 1 + draw(20), true);
			break;
		default:
plain:			u = code_op(k, 1 + draw(255), draw(2) ? 1 : draw(12), dst, src);
			u->src[1] = (uint8_t)draw(REG_COUNT);
			k->insn[k->b.insns - 1].len = (uint8_t)(1 + draw(15));
			k->insn[k->b.insns - 1].flags |= draw(30) ? 0 : INSN_LCP;
			break;
		}
		k->at = k->insn[k->b.insns - 1].addr + k->insn[k->b.insns - 1].len;
	}
	code_branch(k, 2, draw(2) ? INSN_COND : 0, 0, draw(REG_COUNT));
	code_exit(k, ST_JUMP_BORING, 0);
}

static uint64_t address(void)
{
	switch (draw(12)) {
	case 0:  return ST_NOT_DONE;
	case 1:  return (uint64_t)draw(~0u) << 32 | draw(~0u);
	case 2:  return ~UINT64_C(0) - 1 - draw(64);
	case 3:  return 0x9000 + draw(4096);	/* the part that misses */
	default: return 0x8000 + draw(256);
	}
}

static uint64_t sum(void)
{
	uint64_t h = 0;
	for (unsigned i = 0; i < out.uops; i++) {
		const struct seen *u = &out.uop[i];
		const uint64_t word[] = { u->ip, u->is, u->did, u->addr, u->fetch, u->alloc, u->ready, u->dispatch,
			u->complete,
			u->retire, u->size, u->port };
		for (unsigned w = 0; w < sizeof word / sizeof *word; w++)
			h = (h ^ word[w]) * UINT64_C(0x9e3779b97f4a7c15) >> 1;
	}
	for (unsigned i = 0; i < out.signals; i++)
		h = (h ^ out.signal[i].begin ^ out.signal[i].end << 20 ^ out.signal[i].signal) *
			UINT64_C(0x9e3779b97f4a7c15) >> 1;
	return h;
}

/* Runs a random program, the same for the same seed. flush_every: cuts the batches elsewhere. */
static void run(struct bench *b, uint32_t start, unsigned flush_every)
{
	uint64_t slots[MOCK_SLOTS];
	seed = start;
	mock.miss_from = 0x9000, mock.miss_to = 0xa000;
	for (unsigned i = 0; i < BLOCKS; i++)
		build(&blocks[i], 0x400000 + 997 * i);
	for (unsigned i = 0, at = 0; i < STEPS; i++) {
		struct code *k = &blocks[at];
		for (unsigned s = 0; s < MOCK_SLOTS; s++)
			slots[s] = address();
		at = draw(BLOCKS);
		mock.bad_branch = draw(8) ? 0 : k->insn[k->b.insns - 1].addr;
		mock.bad_times = 1;
		bench_run(b, k, slots, blocks[at].b.addr);
		if (!draw(200))
			core_halt_until(b->c, core_now(b->c) + draw(3000));
		if (flush_every && i % flush_every == 0)
			core_flush(b->c, false);
	}
	core_flush(b->c, true);
}

static void check(const struct bench *b)
{
	uint64_t fetch = 0, alloc = 0, retire = 0;
	unsigned allocated = 0, retired = 0;
	assert_int_equal(out.violations, 0);
	assert_true(out.uops > 5000 && out.uops < MOCK_RECORDS);
	for (unsigned i = 0; i < out.uops; i++) {
		const struct seen *u = &out.uop[i];
		assert_true(u->did & SPMU_DID(RETIRED));
		assert_true(u->fetch <= u->alloc && u->alloc <= u->ready && u->ready <= u->dispatch);
		assert_true(u->dispatch <= u->complete && u->complete <= u->retire);
		if (u->is & SPMU_IS(EXEC) && u->port != 255)
			assert_true(u->alloc < u->dispatch && u->dispatch < u->complete);
		if (!(u->is & SPMU_IS(SLOT))) {
			assert_int_equal(u->retire, retire);
			continue;
		}
		assert_true(u->fetch >= fetch && u->alloc >= alloc && u->retire >= retire);
		allocated = u->alloc == alloc ? allocated + 1 : 1;
		retired = u->retire == retire ? retired + 1 : 1;
		assert_true(allocated <= b->config.alloc_width);
		assert_true(retired <= b->config.retire_width);
		fetch = u->fetch;
		alloc = u->alloc;
		retire = u->retire;
	}
	uint64_t cycles = heard_sum(SPMU_SIG_CYCLES);
	assert_true(cycles <= core_now(b->c) && cycles > 0);
}

/* Checks that no two uops are dispatched to one port in one cycle, except loads that were cleared. */
static void check_ports(void)
{
	static uint16_t used[1 << 22];
	memset(used, 0, sizeof used);
	for (unsigned i = 0; i < out.uops; i++) {
		const struct seen *u = &out.uop[i];
		if (u->port == 255 || u->did & SPMU_DID(CLEAR_MEMORY_ORDER) ||
			u->dispatch >= sizeof used / sizeof *used)
			continue;
		assert_false(used[u->dispatch] >> u->port & 1);
		used[u->dispatch] |= (uint16_t)(1u << u->port);
	}
}

static const char *const machines[] = {
	NULL,
	"rob.size=16 rs.size=8 load_buffer.size=4 store_buffer.size=2 idq.size=4",
	"alloc.width=1 retire.width=1",
	"alloc.width=8 retire.width=8 dsb.window_bytes=64 dsb.window_lines=6 lsd.size=64 rs.load_size=20 "
	"ports.load=0x8c rs.store_size=6",
	"dsb.sets=0 mite.decoders=1 rob.size=1024 rs.size=238 disambiguation.initial=0",
	"store.commit_width=2 store.commit_delay=20 store_buffer.size=250 rob.size=1024",
	"ports.binding=least dsb.jcc_erratum=1 rs.group=0",
	"ports.binding=first dsb.lines=1 alloc.width=16 rs.size=8",
	"frontend.simple=1 lsd.size=64 dsb.wide=0",
};
enum { MACHINES = sizeof machines / sizeof *machines };

static void test_order_and_widths_hold(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3 * MACHINES; i++) {
		struct bench b;
		fixture_start(&b, NULL, machines[i % MACHINES]);
		mock.miss_latency = i % 2 ? 200 : 9000;		/* 9000: far beyond the scheduler's window */
		run(&b, 100 + i, 0);
		check(&b);
		check_ports();
		bench_end(&b);
	}
}

static void test_same_input_gives_the_same_records(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MACHINES; i++) {
		uint64_t first = 0;
		for (unsigned round = 0; round < 2; round++) {
			struct bench b;
			fixture_start(&b, NULL, machines[i]);
			run(&b, 7 + i, 0);
			if (round)
				assert_int_equal(sum(), first);
			first = sum();
			bench_end(&b);
		}
	}
}

static void test_batch_ends_do_not_change_the_records(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MACHINES; i++) {
		uint64_t first = 0, now = 0;
		for (unsigned round = 0; round < 2; round++) {
			struct bench b;
			fixture_start(&b, NULL, machines[i]);
			run(&b, 70 + i, round ? 3 : 0);
			out.signals = 0;	/* signals are cut at the ends of batches; uops are not */
			if (round) {
				assert_int_equal(sum(), first);
				assert_int_equal(core_now(b.c), now);
			}
			first = sum();
			now = core_now(b.c);
			bench_end(&b);
		}
	}
}

static void test_reset_core_behaves_like_a_new_one(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	run(&b, 5, 0);
	uint64_t first = sum();
	out_reset();
	core_reset(b.c, 0);
	out_reset();
	run(&b, 5, 0);
	assert_int_equal(sum(), first);
	bench_end(&b);
}

static void test_two_cores_do_not_disturb_each_other(void **state)
{
	(void)state;
	struct bench b;
	struct err err;
	struct core *other;
	fixture_start(&b, NULL, NULL);
	run(&b, 9, 0);
	uint64_t first = sum();
	bench_end(&b);
	fixture_start(&b, NULL, NULL);
	assert_int_equal(core_create(&other, b.m, mock_emit, NULL, &err), 0);
	struct core *own = b.c;
	b.c = other;
	run(&b, 10, 0);
	b.c = own;
	out_reset();
	run(&b, 9, 0);
	assert_int_equal(sum(), first);
	core_destroy(other);
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_widths_hold),
		cmocka_unit_test(test_same_input_gives_the_same_records),
		cmocka_unit_test(test_batch_ends_do_not_change_the_records),
		cmocka_unit_test(test_reset_core_behaves_like_a_new_one),
		cmocka_unit_test(test_two_cores_do_not_disturb_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
