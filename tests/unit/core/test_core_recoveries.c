/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine clears, assists and replays in the pipeline, at exact cycles (core/backend/clears.h). */
#include "core_fixture.h"
#include "core/older/netburst_core.h"

static struct code k;

static const struct heard *heard(unsigned signal)
{
	for (unsigned i = 0; i < out.signals; i++)
		if (out.signal[i].signal == signal)
			return &out.signal[i];
	fail_msg("signal %u was not heard", signal);
	return NULL;
}

/* --- self-modifying code --- */

static void test_store_into_code_refetches_what_is_behind_it(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "clear.smc_cycles=100");
	code_op(&k, 1, 30, REG_GPR, 0);
	code_store(&k, REG_GPR, 0, 8);
	code_op(&k, ALU, 1, REG_GPR + 2, 0);
	mock.code_line = 0x8000 >> 6;
	bench_run(&b, &k, (const uint64_t[]){ 0x8000 }, 0x100c);
	core_flush(b.c, true);
	const struct seen *store = &out.uop[1], *next = &out.uop[3];
	assert_true(store->did & SPMU_DID(CLEAR_SMC));
	assert_int_equal(heard_count(SPMU_SIG_CLEAR_SMC), 1);
	/* the clear comes when the store is written, store.commit_delay (1) after it retires; recovery.redirect is 6 */
	assert_int_equal(heard(SPMU_SIG_CLEAR_SMC)->begin, store->retire + 1);
	assert_true(next->fetch >= store->retire + 1 + 100 + 6);
	assert_true(next->did & SPMU_DID(FROM_MITE));	/* no longer in the uop cache */
	assert_false(next->did & SPMU_DID(CLEAR_SMC));
	assert_int_equal(heard_sum(SPMU_SIG_RECOVERY), 100 + 4);
	bench_end(&b);
}

static void test_written_code_leaves_the_uop_cache(void **state)
{
	(void)state;
	struct bench b;
	for (unsigned written = 0; written < 2; written++) {
		fixture_start(&b, &k, "clear.smc=0");
		code_store(&k, REG_GPR, 0, 8);
		code_branch(&k, 2, 0, 0x1000, 0);
		for (unsigned i = 0; i < 3; i++)	/* decoded, then from the uop cache */
			bench_run(&b, &k, (const uint64_t[]){ 0x8000 }, 0x1000);
		mock.code_line = written ? 0x1000 >> 6 : ~UINT64_C(0);
		bench_run(&b, &k, (const uint64_t[]){ 0x1000 }, 0x1000);
		bench_run(&b, &k, (const uint64_t[]){ 0x8000 }, 0x1000);
		core_flush(b.c, true);
		assert_true(out.uop[6].did & SPMU_DID(FROM_DSB));
		assert_true(out.uop[12].did & (written ? SPMU_DID(FROM_MITE) : SPMU_DID(FROM_DSB)));
		assert_int_equal(heard_count(SPMU_SIG_CLEAR_SMC), 0);	/* clear.smc=0: no uop is squashed */
		bench_end(&b);
	}
}

/* --- snoops --- */

/* A load that waits 200 cycles for memory, and a younger one that does not. */
static void two_loads(struct bench *b)
{
	code_start(&k, 0x1000);
	code_load(&k, REG_GPR, 0, 8);
	code_load(&k, REG_GPR + 1, 0, 8);
	code_op(&k, ALU, 1, REG_GPR + 2, 0);
	mock.miss_from = 0x8000;
	mock.miss_to = 0x8040;
	bench_run(b, &k, (const uint64_t[]){ 0x8000, 0x9000 }, 0x1000);
}

static void snoop(struct bench *b, uint64_t vline, uint64_t cycle)
{
	b->c->e.snooped(b->c->e.owner, vline, cycle);
}

static void test_executed_load_whose_line_is_taken_before_it_retires_clears_the_machine(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, "clear.cycles=10");
	snoop(&b, 1, 0);		/* loads are remembered from the first snoop on */
	two_loads(&b);
	core_flush(b.c, false);
	const struct seen old = out.uop[0], young = out.uop[1];
	assert_true(young.complete + 100 < old.complete);
	snoop(&b, 0x9000 >> 6, young.complete + 50);
	two_loads(&b);
	core_flush(b.c, true);
	assert_int_equal(heard_count(SPMU_SIG_CLEAR_MEMORY_ORDER), 1);
	assert_int_equal(heard(SPMU_SIG_CLEAR_MEMORY_ORDER)->begin, out.uop[2].retire + 1);
	assert_true(out.uop[3].fetch >= out.uop[2].retire + 1 + 10 + 6);
	assert_true(out.uop[2].fetch < out.uop[0].complete);
	bench_end(&b);
}

static void test_snoops_that_hit_no_executed_load_clear_nothing(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, NULL);
	snoop(&b, 1, 0);
	two_loads(&b);
	core_flush(b.c, false);
	const struct seen old = out.uop[0], young = out.uop[1];
	snoop(&b, 0xa000 >> 6, young.complete + 50);	/* another line */
	snoop(&b, 0x9000 >> 6, young.complete - 1);	/* the load executes later and gets the new value */
	snoop(&b, 0x8000 >> 6, young.complete + 50);
	snoop(&b, 0x9000 >> 6, old.retire + 10);	/* retired */
	two_loads(&b);
	core_flush(b.c, true);
	assert_int_equal(heard_count(SPMU_SIG_CLEAR_MEMORY_ORDER), 0);
	bench_end(&b);
}

static void test_clear_snoop_0_never_clears(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, NULL, "clear.snoop=0");
	snoop(&b, 1, 0);
	two_loads(&b);
	snoop(&b, 0x9000 >> 6, 60);
	two_loads(&b);
	core_flush(b.c, true);
	assert_int_equal(heard_count(SPMU_SIG_CLEAR_MEMORY_ORDER), 0);
	bench_end(&b);
}

static void test_watching_loads_changes_no_cycle(void **state)
{
	(void)state;
	struct bench b;
	uint64_t retire[2];
	for (unsigned watched = 0; watched < 2; watched++) {
		fixture_start(&b, NULL, NULL);
		if (watched)
			snoop(&b, 1, 0);
		for (unsigned i = 0; i < 20; i++)
			two_loads(&b);
		core_flush(b.c, true);
		retire[watched] = out.uop[out.uops - 1].retire;
		bench_end(&b);
	}
	assert_int_equal(retire[0], retire[1]);
}

/* --- SSE and AVX --- */

/* One letter for each instruction: s legacy SSE, v VEX 128 bits, y VEX 256 bits, z VZEROUPPER, others none. */
static void vector_block(const char *kinds, uint8_t *vector)
{
	code_start(&k, 0x1000);
	k.b.vectors = 0;
	for (unsigned i = 0; kinds[i]; i++) {
		code_op(&k, ALU, 1, REG_VEC, 0);
		vector[i] = kinds[i] == 's' ? VECTOR_LEGACY : kinds[i] == 'v' ? VECTOR_VEX_128 : kinds[i] == 'y'
			? VECTOR_VEX_256 :
		            kinds[i] == 'z' ? VECTOR_ZERO : VECTOR_NONE;
		k.b.vectors |= (uint8_t)(1u << vector[i]);
	}
	k.b.vector = vector;
}

static void test_transitions_between_sse_and_avx_take_an_assist(void **state)
{
	(void)state;
	/* assists before each instruction: > AVX to SSE, < SSE to AVX, . none */
	static const struct { const char *kinds, *assists; } cases[] = {
		{ "ysss-y",  ".>...<" }, { "yzs", "..." }, { "svsv", "...." }, { "yvs", "..>" }, { "ysv", ".><" },
		{ "yszy", ".>.." }, { "ysys", ".><>" }, { "y-s", "..>" },
	};
	for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
		struct bench b;
		uint8_t vector[16] = { 0 };
		fixture_start(&b, NULL, "assist.sse_avx=save assist.sse_avx_cycles=70");
		vector_block(cases[n].kinds, vector);
		bench_run(&b, &k, NULL, 0x1000);
		core_flush(b.c, true);
		unsigned assists = 0;
		for (unsigned i = 0; cases[n].assists[i]; i++) {
			const struct seen *u = &out.uop[i];
			char kind = u->did & SPMU_DID(ASSIST_AVX_TO_SSE) ? '>' : u->did & SPMU_DID(ASSIST_SSE_TO_AVX)
				? '<' : '.';
			assert_int_equal(kind, cases[n].assists[i]);
			if (kind != '.') {
				assists++;
				assert_true(u->alloc >= out.uop[i - 1].retire + 1 + 70);
			}
		}
		assert_int_equal(heard_count(SPMU_SIG_ASSIST), assists);
		bench_end(&b);
	}
}

static void test_sse_while_upper_halves_are_in_use_blends(void **state)
{
	(void)state;
	/* the uops in order: b is the uop that keeps the upper half of what the one before it wrote */
	static const struct { const char *kinds, *uops; } cases[] = {
		{ "yss-y", "ysbsb-y" }, { "yzs", "yzs" }, { "svsv", "svsv" }, { "yvs", "yvsb" }, { "yszs", "ysbzs" },
	};
	for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
		struct bench b;
		uint8_t vector[16] = { 0 };
		fixture_start(&b, NULL, "assist.sse_avx=blend");
		vector_block(cases[n].kinds, vector);
		bench_run(&b, &k, NULL, 0x1000);
		core_flush(b.c, true);
		for (unsigned i = 0; cases[n].uops[i]; i++) {
			const struct seen *u = &out.uop[i];
			const bool blend = cases[n].uops[i] == 'b';
			assert_int_equal(!!(u->is & SPMU_IS(VECTOR_BLEND)), blend);
			if (blend)	/* it waits for the result, and takes a slot and a cycle */
				assert_true(u->dispatch >= out.uop[i - 1].complete && u->complete == u->dispatch + 1 &&
					u->is & SPMU_IS(SLOT));
		}
		assert_int_equal(heard_count(SPMU_SIG_ASSIST), 0);
		bench_end(&b);
	}
}

static void test_upper_halves_are_followed_from_block_to_block(void **state)
{
	(void)state;
	struct bench b;
	uint8_t vector[16] = { 0 };
	fixture_start(&b, NULL, "assist.sse_avx=save");
	vector_block("y", vector);
	bench_run(&b, &k, NULL, 0x1000);
	code_start(&k, 0x1000);		/* between them a block without vector registers */
	code_op(&k, ALU, 1, REG_GPR, 0);
	bench_run(&b, &k, NULL, 0x1000);
	vector_block("s", vector);
	bench_run(&b, &k, NULL, 0x1000);
	core_flush(b.c, true);
	assert_true(out.uop[2].did & SPMU_DID(ASSIST_AVX_TO_SSE));
	bench_end(&b);
}

static void test_cores_without_such_states_take_no_assist(void **state)
{
	(void)state;
	struct bench b;
	uint8_t vector[16] = { 0 };
	fixture_start(&b, NULL, "assist.sse_avx=none");
	vector_block("ysys", vector);
	bench_run(&b, &k, NULL, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(heard_count(SPMU_SIG_ASSIST), 0);
	assert_int_equal(out_count_did(SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX)), 0);
	bench_end(&b);
}

/* --- replay --- */

static void test_dependents_of_missed_loads_are_replayed(void **state)
{
	(void)state;
	struct bench b;
	for (unsigned miss = 0; miss < 2; miss++) {
		fixture_start(&b, &k, "replay.cycles=7");
		code_load(&k, REG_GPR, 0, 8);
		code_op(&k, ALU, 1, REG_GPR + 1, REG_GPR);
		code_op(&k, ALU, 1, REG_GPR + 2, 0);
		mock.miss_from = miss ? 0x8000 : 0;
		mock.miss_to = miss ? 0x8040 : 0;
		mock.miss_latency = 20;
		bench_run(&b, &k, (const uint64_t[]){ 0x8000 }, 0x1000);
		core_flush(b.c, true);
		assert_int_equal(!!(out.uop[1].did & SPMU_DID(REPLAYED)), miss);
		assert_false(out.uop[0].did & SPMU_DID(REPLAYED));	/* the load itself is dispatched once */
		assert_false(out.uop[2].did & SPMU_DID(REPLAYED));
		/* the data are expected 4 cycles after the load but come at 20: rounds at 4, 11, 18, the last at 25 */
		assert_int_equal(heard_sum(SPMU_SIG_REPLAY), miss ? 3 : 0);
		if (miss)
			assert_int_equal(out.uop[1].dispatch, out.uop[0].dispatch + 25);
		bench_end(&b);
	}
}

/* Runs a load, an addition that needs it, and an addition that needs the first one. */
static void chain(struct bench *b, uint64_t did)
{
	fixture_start(b, &k, "replay.cycles=7");
	mock.miss_from = 0x8000;
	mock.miss_to = 0x8040;
	mock.miss_latency = 20;
	mock.miss_did = did;
	code_load(&k, REG_GPR, 0, 8);
	code_op(&k, ALU, 1, REG_GPR + 1, REG_GPR);
	code_op(&k, ALU, 1, REG_GPR + 2, REG_GPR + 1);
	bench_run(b, &k, (const uint64_t[]){ 0x8000 }, 0x1000);
	core_flush(b->c, true);
}

static void test_replays_name_their_cause(void **state)
{
	(void)state;
	struct bench b;
	static const struct { uint64_t did, load, dependent; } cases[] = {
		{ SPMU_DID(L1D_MISS), 0, SPMU_DID(REPLAYED) | SPMU_DID(REPLAY_MISS) },
		{ SPMU_DID(L1D_MISS) | SPMU_DID(DTLB_MISS), SPMU_DID(REPLAYED) | SPMU_DID(REPLAY_TLB),
		SPMU_DID(REPLAYED) | SPMU_DID(REPLAY_TLB) },
		{ SPMU_DID(L1D_MISS) | SPMU_DID(SPLIT_LINE), SPMU_DID(REPLAYED) | SPMU_DID(REPLAY_SPLIT),
		SPMU_DID(REPLAYED) | SPMU_DID(REPLAY_SPLIT) },
	};
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint64_t bits = SPMU_DID(REPLAYED) | REPLAY_CAUSES;
		chain(&b, cases[i].did);
		assert_int_equal(out.uop[0].did & bits, cases[i].load);
		assert_int_equal(out.uop[1].did & bits, cases[i].dependent);
		/* its dependent is replayed together with it, */
		assert_int_equal(out.uop[2].did & bits, cases[i].dependent);
		assert_int_equal(out.uop[2].dispatch, out.uop[1].dispatch + 1);	/* at no further cost */
		bench_end(&b);
	}
}

static void test_a_load_that_waits_for_a_store_is_replayed_itself(void **state)
{
	(void)state;
	struct bench b;
	for (unsigned replay = 0; replay < 2; replay++) {
		fixture_start(&b, &k, replay ? "replay.cycles=7" : "replay.cycles=0");
		code_store(&k, REG_GPR + 1, 0, 4);
		code_load(&k, REG_GPR, 0, 8);	/* half of its bytes are in the store buffer */
		bench_run(&b, &k, (const uint64_t[]){ 0x8000, 0x8000 }, 0x1000);
		core_flush(b.c, true);
		const struct seen *load = &out.uop[out.uops - 1];
		assert_true(load->did & SPMU_DID(FORWARD_BLOCKED));
		assert_int_equal(load->did & (SPMU_DID(REPLAYED) | REPLAY_CAUSES), replay
			? SPMU_DID(REPLAYED) | SPMU_DID(REPLAY_STORE) : 0);
		bench_end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store_into_code_refetches_what_is_behind_it),
		cmocka_unit_test(test_written_code_leaves_the_uop_cache),
		cmocka_unit_test(test_executed_load_whose_line_is_taken_before_it_retires_clears_the_machine),
		cmocka_unit_test(test_snoops_that_hit_no_executed_load_clear_nothing),
		cmocka_unit_test(test_clear_snoop_0_never_clears),
		cmocka_unit_test(test_watching_loads_changes_no_cycle),
		cmocka_unit_test(test_transitions_between_sse_and_avx_take_an_assist),
		cmocka_unit_test(test_sse_while_upper_halves_are_in_use_blends),
		cmocka_unit_test(test_upper_halves_are_followed_from_block_to_block),
		cmocka_unit_test(test_cores_without_such_states_take_no_assist),
		cmocka_unit_test(test_dependents_of_missed_loads_are_replayed),
		cmocka_unit_test(test_replays_name_their_cause),
		cmocka_unit_test(test_a_load_that_waits_for_a_store_is_replayed_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
