/* SPDX-License-Identifier: GPL-2.0-or-later
 * Instruction fetch through L1I; warming without time; the same sequence gives the same result twice; bad shapes are
 * refused. */
#include "mem_fixture.h"

static struct mem_result fetch(struct machine_fixture *f, uint64_t addr, uint64_t cycle)
{
	struct mem_result r;
	memsys_fetch(f->m, addr, cycle, cycle, &r);
	return r;
}

static void test_a_fetch_takes_the_latency_of_who_serves_it(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	fetch(f, BASE + 63 * 64, 0);
	mf_forget(f);
	struct mem_result r = fetch(f, LINE_AT(0, 0), 1000);
	assert_int_equal(r.ready, 1000 + MEMORY + L2_CODE - L2);
	assert_int_equal(r.did, DID(ICACHE_MISS) | DID(FETCH_L2_MISS));
	r = fetch(f, LINE_AT(0, 0) + 32, 2000);
	assert_int_equal(r.ready, 2000);
	assert_int_equal(r.did, 0);
	fetch(f, LINE_AT(0, 1), 3000);
	fetch(f, LINE_AT(0, 2), 4000);	/* two ways */
	r = fetch(f, LINE_AT(0, 0), 5000);
	assert_int_equal(r.ready, 5000 + L2_CODE);
	assert_int_equal(r.did, DID(ICACHE_MISS));
	assert_int_equal(mf_count(f, SPMU_SIG_ICACHE_MISS_LINE), 4);
	assert_int_equal(f->count[SPMU_SIG_ICACHE_HIT], 1);
	assert_int_equal(f->count[SPMU_SIG_L2_CODE_RD_MISS], 3);
	assert_int_equal(f->count[SPMU_SIG_L2_CODE_RD_HIT], 1);
	assert_int_equal(f->length[SPMU_SIG_ICACHE_STALL], 3 * (MEMORY + L2_CODE - L2) + L2_CODE);
	assert_int_equal(f->length[SPMU_SIG_OFFCORE_CODE_RD], 3 * (MEMORY + L2_CODE - L2 - (L2 - L1)));
}

static void test_hits_are_counted_in_few_records(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	fetch(f, LINE_AT(0, 0), 0);
	fetch(f, LINE_AT(0, 0), 1000);
	uint32_t records = f->e->count;
	for (unsigned i = 0; i < 500; i++)
		fetch(f, LINE_AT(0, 0), 1001 + i);
	assert_int_equal(f->e->count, records);
	assert_int_equal(mf_count(f, SPMU_SIG_ICACHE_HIT), 501);
	fetch(f, LINE_AT(0, 0), 9000);
	assert_int_equal(mf_count(f, SPMU_SIG_ICACHE_HIT), 502);
}

static void test_the_next_line_is_fetched_ahead(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l1i_next_line = 1;
	mf_start(f);
	fetch(f, BASE + 63 * 64, 0);
	fetch(f, LINE_AT(0, 0), 1000);
	struct mem_result r = fetch(f, LINE_AT(1, 0), 2000);
	assert_int_equal(r.ready, 2000);
	assert_int_equal(r.did, 0);
	r = fetch(f, LINE_AT(2, 0), 2010);	/* prefetched when the second was used */
	assert_int_equal(r.ready, 2000 + MEMORY);
	assert_int_equal(r.did, DID(ICACHE_MISS) | DID(FETCH_L2_MISS));
}

/* Branch prediction asks for a line before the decoders need it. */
static void test_a_line_asked_for_early_stalls_only_as_long_as_it_is_late(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	fetch(f, BASE + 63 * 64, 0);
	for (unsigned i = 0; i < 3; i++)	/* L1I has two ways */
		fetch(f, LINE_AT(0, i), 1000 * (i + 1));
	mf_forget(f);
	struct mem_result r;
	memsys_fetch(f->m, LINE_AT(0, 0), 5000, 5000 + L2_CODE - 3, &r);
	assert_int_equal(r.ready, 5000 + L2_CODE);
	assert_int_equal(r.did, DID(ICACHE_MISS));
	assert_int_equal(mf_count(f, SPMU_SIG_ICACHE_STALL), 1);
	assert_int_equal(f->length[SPMU_SIG_ICACHE_STALL], 3);
	mf_forget(f);
	memsys_fetch(f->m, LINE_AT(0, 1), 6000, 6000 + L2_CODE + 3, &r);
	assert_int_equal(r.ready, 6000 + L2_CODE);
	assert_int_equal(r.did, DID(ICACHE_MISS));
	assert_int_equal(mf_count(f, SPMU_SIG_ICACHE_STALL), 0);
	assert_int_equal(mf_count(f, SPMU_SIG_ICACHE_MISS_LINE), 1);
}

static void test_l1i_takes_no_more_lines_than_its_rate(void **state)
{
	struct machine_fixture *f = *state;
	enum { N = 16 };
	for (unsigned each = 0; each <= 4; each += 4) {
		f->config.l1i_line_cycles = each;
		f->config.l1i_fill_buffers = N;
		mf_start(f);
		for (unsigned i = 0; i < 3 * N; i++)	/* the last N are in L1I, all are in L2 */
			fetch(f, BASE + 64 * i, 1000 * i);
		uint64_t last = 0;
		for (unsigned i = 0; i < N; i++)
			last = fetch(f, BASE + 64 * i, 160000).ready;
		assert_int_equal(last, 160000 + L2_CODE + each * (N - 1));
		mf_end(f);
		f->m = NULL;
	}
}

static void test_code_and_data_share_l2(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	mf_load(f, LINE_AT(0, 0), 1000);
	fetch(f, BASE + 63 * 64, 2000);
	assert_int_equal(fetch(f, LINE_AT(0, 0), 3000).ready, 3000 + L2_CODE);
}

static void test_warming_changes_state_but_emits_nothing(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	memsys_warm_data(f->m, 1, LINE_AT(0, 0), 8, false);
	memsys_warm_data(f->m, 1, LINE_AT(1, 0), 8, true);
	memsys_warm_fetch(f->m, LINE_AT(2, 0));
	assert_int_equal(f->e->count, 0);
	assert_load(f, LINE_AT(0, 0), 1000, L1, BITS_L1);
	assert_int_equal(mf_store(f, LINE_AT(1, 0), 1000).ready, 1001);
	assert_int_equal(fetch(f, LINE_AT(2, 0), 1000).ready, 1000);
}

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

/* Runs accesses of every kind; returns a hash of all answers and all emitted cycles. */
static uint64_t mixture(struct machine_fixture *f)
{
	uint64_t s = 88172645463325252u, hash = 0, cycle = 1000;
	for (unsigned i = 0; i < 30000; i++) {
		uint64_t r = next_random(&s), addr = BASE + (r >> 8) % (256 << 10), at = cycle + r % 64;
		struct mem_result x = { 0, 0 };
		uint32_t size = 1 + (r >> 4) % 32;
		switch (r % 8) {
		case 0: memsys_store_commit(f->m, r % 13, addr, size, at, r % 16 == 0, &x); break;
		case 1: memsys_store_translate(f->m, addr, size, at, &x); break;
		case 2: memsys_prefetch(f->m, addr, at); break;
		case 3: memsys_fetch(f->m, addr, at, at, &x); break;
		default: memsys_load(f->m, r % 13, addr, size, at, r & 256, &x);
		}
		if (r % 8 != 2)
			assert_true(x.ready >= at);
		hash = (hash ^ x.ready ^ x.did) * 0x9e3779b97f4a7c15u;
		cycle += r % 5;
	}
	emit_flush(f->e, false);
	for (unsigned i = 0; i < SPMU_SIG_COUNT; i++)
		hash = (hash ^ f->count[i] ^ f->length[i]) * 0x9e3779b97f4a7c15u;
	return hash;
}

static void everything_on(struct core_config *c)
{
	mf_config(c);
	c->memory_page = 0;
	c->prefetch_l1d_next_line = c->prefetch_l1d_ip = c->prefetch_l2_adjacent = c->prefetch_l2_streamer = 1;
	c->l1i_next_line = 2;
	c->l1d_replacement = POLICY_PLRU;
	c->l2_replacement = POLICY_QUAD;
	c->l3_replacement = POLICY_SRRIP;
	c->l3_size = 5 * 15 * 64 * 8;
	c->l3_ways = 15;
	c->dram_bandwidth = 10;
	c->dram_banks = 4;
	c->dram_row = 1024;
	c->dram_row_conflict_ns = 20;
}

static void test_the_same_sequence_gives_the_same_answers(void **state)
{
	struct machine_fixture *f = *state;
	uint64_t hash[2];
	for (unsigned i = 0; i < 2; i++) {
		memset(f, 0, sizeof(*f));
		everything_on(&f->config);
		f->config.l3_inclusion = 1;
		mf_start(f);
		hash[i] = mixture(f);
		if (!i)
			mf_end(f);
	}
	assert_true(hash[0] == hash[1]);
}

static void test_a_reset_core_answers_like_a_new_one(void **state)
{
	struct machine_fixture *f = *state;
	everything_on(&f->config);
	mf_start(f);
	mixture(f);
	memsys_reset(f->m);
	mf_forget(f);
	/* the machine's L3 keeps its lines; the core's own levels are empty */
	struct mem_result r = mf_load(f, BASE, 10000000);
	assert_true(r.did & DID(L1D_MISS) && r.did & DID(L2_MISS) && r.did & DID(STLB_MISS));
	assert_int_equal(mf_count(f, SPMU_SIG_L1D_FB_FULL), 0);
}

/* A load has exactly one class bit: L1 hit, fill-buffer hit, L2 hit, L3 hit or memory. */
static void test_the_classes_of_a_load_exclude_each_other(void **state)
{
	struct machine_fixture *f = *state;
	everything_on(&f->config);
	mf_start(f);
	uint64_t s = 1234567, seen = 0;
	for (unsigned i = 0; i < 30000; i++) {
		uint64_t r = next_random(&s);
		struct mem_result x;
		memsys_load(f->m, r % 7, BASE + (r >> 8) % (64 << 10), 1 + r % 40, 1000 + 3 * i, false, &x);
		uint64_t c = x.did & (BITS_L1 | BITS_LFB | BITS_L2 | BITS_L3 | BITS_MEMORY);
		assert_true(c == BITS_L1 || c == BITS_LFB || c == BITS_L2 || c == BITS_L3 || c == BITS_MEMORY);
		seen |= c;
	}
	assert_true(seen == (BITS_L1 | BITS_LFB | BITS_L2 | BITS_L3 | BITS_MEMORY));
}

/* Warming leaves tags and replacement state as the timed path does: the same levels serve later loads. */
static void test_warm_and_timed_state_agree_when_nothing_is_in_flight(void **state)
{
	struct machine_fixture *f = *state;
	uint64_t did[2][2000];
	for (unsigned warm = 0; warm < 2; warm++) {
		memset(f, 0, sizeof(*f));
		everything_on(&f->config);
		/* these prefetchers depend on free fill buffers */
		f->config.prefetch_l1d_next_line = f->config.prefetch_l1d_ip = 0;
		mf_start(f);
		uint64_t s = 42;
		for (unsigned i = 0; i < 20000; i++) {
			uint64_t r = next_random(&s), addr = BASE + (r >> 8) % (32 << 10);
			struct mem_result x;
			if (warm)
				memsys_warm_data(f->m, 1, addr & ~7ull, 8, false);
			else
				memsys_load(f->m, 1, addr & ~7ull, 8, 1000 * (i + 1), false, &x);
		}
		for (unsigned i = 0; i < 2000; i++)
			did[warm][i] = mf_load(f, BASE + (next_random(&s) >> 8) % (32 << 10) / 8 * 8,
				30000000 + 1000 * i).did;
		if (!warm)
			mf_end(f);
	}
	assert_memory_equal(did[0], did[1], sizeof(did[0]));
}

static void test_extreme_addresses_and_sizes_are_taken(void **state)
{
	struct machine_fixture *f = *state;
	everything_on(&f->config);
	mf_start(f);
	static const uint64_t address[] = { 0, 1, 63, 4095, UINT64_MAX, UINT64_MAX - 7, UINT64_C(0x7fffffffffff),
		UINT64_C(1) << 63 };
	static const uint32_t size[] = { 0, 1, 8, 64, 512, 65535, UINT32_MAX };
	for (unsigned a = 0; a < sizeof(address) / sizeof(address[0]); a++)
		for (unsigned z = 0; z < sizeof(size) / sizeof(size[0]); z++) {
			struct mem_result x;
			memsys_load(f->m, address[a], address[a], size[z], 1000, true, &x);
			assert_true(x.ready >= 1000);
			memsys_store_translate(f->m, address[a], size[z], 1000, &x);
			memsys_store_commit(f->m, 1, address[a], size[z], 1000, z & 1, &x);
			memsys_fetch(f->m, address[a], 1000, 1000, &x);
			memsys_prefetch(f->m, address[a], 1000);
			memsys_warm_data(f->m, 1, address[a], size[z], true);
		}
}

static void test_shapes_that_cannot_be_are_refused_by_name(void **state)
{
	struct machine_fixture *f = *state;
	struct memsys_shared *s = NULL;
	struct memsys *m = NULL;
	struct err err = { 0 };
	f->config.l3_ways = 5;
	assert_int_equal(memsys_shared_create(&s, &f->config, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "l3.size"));
	mf_config(&f->config);
	f->config.dram_channels = 3;
	assert_int_equal(memsys_shared_create(&s, &f->config, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "dram.channels"));
	mf_config(&f->config);
	assert_int_equal(memsys_shared_create(&s, &f->config, &err), 0);
	f->config.stlb_entries = 15;
	assert_int_equal(memsys_create(&m, s, &f->config, NULL, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "stlb.entries"));
	assert_null(m);
	memsys_shared_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MF_TEST(test_a_fetch_takes_the_latency_of_who_serves_it),
		MF_TEST(test_hits_are_counted_in_few_records),
		MF_TEST(test_the_next_line_is_fetched_ahead),
		MF_TEST(test_a_line_asked_for_early_stalls_only_as_long_as_it_is_late),
		MF_TEST(test_l1i_takes_no_more_lines_than_its_rate),
		MF_TEST(test_code_and_data_share_l2),
		MF_TEST(test_warming_changes_state_but_emits_nothing),
		MF_TEST(test_the_same_sequence_gives_the_same_answers),
		MF_TEST(test_a_reset_core_answers_like_a_new_one),
		MF_TEST(test_the_classes_of_a_load_exclude_each_other),
		MF_TEST(test_warm_and_timed_state_agree_when_nothing_is_in_flight),
		MF_TEST(test_extreme_addresses_and_sizes_are_taken),
		MF_TEST(test_shapes_that_cannot_be_are_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
