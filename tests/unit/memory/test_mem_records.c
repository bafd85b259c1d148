/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a load's record says about other cores and about prefetches, and what memory tells the pipelines: stores into
 * code, lines that other cores take away. */
#include "mem_fixture.h"
#include "isa/isa.h"

#define PF_BITS (DID(LFB_HW_PF) | DID(LFB_SW_PF))

static struct memsys *second_core(struct machine_fixture *f)
{
	struct memsys *second;
	assert_int_equal(memsys_create(&second, f->shared, &f->config, f->e, NULL), 0);
	return second;
}

static uint64_t load_on(struct memsys *m, uint64_t addr, uint64_t cycle)
{
	struct mem_result r = { 0, 0 };
	memsys_load(m, 0x400000, addr, 8, cycle, false, &r);
	return r.did;
}

static void test_an_l3_hit_says_what_other_cores_had(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r;
	mf_start(f);
	mf_map(f);
	struct memsys *second = second_core(f);
	const uint64_t snoops = DID(SNOOP_HIT) | DID(SNOOP_HITM), clean = LINE_AT(0, 0), modified = LINE_AT(1, 0),
		shared = LINE_AT(2, 0);
	load_on(second, BASE + 63 * 64, 1000);
	load_on(second, clean, 2000);
	memsys_store_commit(second, 0x400000, modified, 8, 3000, false, &r);
	assert_int_equal(load_on(f->m, clean, 10000) & (snoops | DID(L3_HIT)), DID(SNOOP_HIT) | DID(L3_HIT));
	assert_int_equal(load_on(f->m, modified, 11000) & (snoops | DID(L3_HIT)), DID(SNOOP_HITM) | DID(L3_HIT));
	/* a third core: two cores share the line, so L3 answers without a snoop */
	struct memsys *third = second_core(f);
	load_on(third, BASE + 63 * 64, 12000);
	assert_int_equal(load_on(third, clean, 13000) & (snoops | DID(L3_HIT)), DID(L3_HIT));
	/* no core has it */
	assert_int_equal(load_on(f->m, shared, 14000) & snoops, 0);
	memsys_destroy(third);
	memsys_destroy(second);
}

static void test_a_request_is_under_way_at_its_slice_until_its_data_come(void **state)
{
	struct machine_fixture *f = *state;
	mf_start(f);
	mf_map(f);
	struct memsys *second = second_core(f);
	load_on(second, BASE + 63 * 64, 0);
	mf_forget(f);
	load_on(f->m, LINE_AT(0, 0), 1000);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_ENTRY), 1);
	assert_true(f->begin[SPMU_SIG_UNC_ENTRY] > 1000 && f->begin[SPMU_SIG_UNC_ENTRY] < 1000 + L3);
	assert_int_equal(f->end[SPMU_SIG_UNC_ENTRY], 1000 + MEMORY);
	load_on(f->m, LINE_AT(0, 0), 2000);	/* L1D has it */
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_ENTRY), 1);
	load_on(second, LINE_AT(0, 0), 5000);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_ENTRY), 2);
	assert_true(f->end[SPMU_SIG_UNC_ENTRY] < 5000 + MEMORY);
	memsys_destroy(second);
}

static void test_a_full_snoop_filter_takes_lines_from_the_cores(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l3_inclusion = 1;
	f->config.l3_filter = 4 * 64;
	f->config.l3_filter_ways = 4;
	mf_start(f);
	mf_map(f);
	struct memsys *second = second_core(f);
	load_on(second, BASE + 63 * 64, 0);
	load_on(second, LINE_AT(0, 0), 1000);
	load_on(f->m, LINE_AT(0, 0), 2000);
	mf_forget(f);
	for (unsigned i = 1; i < 4; i++)
		load_on(f->m, LINE_AT(i, 0), 2000 + 1000 * i);
	const uint64_t before = mf_count(f, SPMU_SIG_UNC_EVICT);
	load_on(f->m, LINE_AT(4, 0), 9000);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_EVICT) - before, 2);	/* both cores had the oldest line */
	assert_int_equal(load_on(f->m, LINE_AT(0, 0), 10000), BITS_L3);	/* L3 took it */
	/* a line that a flush takes frees its entry: nothing is evicted for the next one */
	memsys_flush(f->m, LINE_AT(4, 0), FLUSH_OUT, 11000);
	mf_forget(f);
	load_on(f->m, LINE_AT(5, 0), 12000);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_EVICT), 0);
	memsys_destroy(second);
}

static void test_a_partial_write_to_ecc_memory_reads_the_line(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r = { 0, 0 };
	f->config.dram_ecc = 1;
	mf_start(f);
	mf_map(f);
	mf_forget(f);
	memsys_store_commit(f->m, 0x400000, LINE_AT(1, 0), 8, 1000, true, &r);
	memsys_flush(f->m, LINE_AT(1, 0), FLUSH_OUT, 2000);	/* the write-combining buffer is sent */
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_READ), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 1);
	for (unsigned i = 0; i < 8; i++)	/* a whole line needs no read */
		memsys_store_commit(f->m, 0x400000, LINE_AT(2, 0) + 8 * i, 8, 3000 + i, true, &r);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_READ), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_DRAM_WRITE), 2);
}

static void test_a_fill_buffer_hit_says_whether_a_prefetch_asked(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l1d_next_line = 1;
	mf_start(f);
	mf_map(f);
	load_on(f->m, LINE_AT(0, 0), 1000);
	load_on(f->m, LINE_AT(0, 0) + 8, 1010);	/* ascending: the next line is asked for */
	assert_int_equal(load_on(f->m, LINE_AT(0, 0) + 64, 1020) & (PF_BITS | DID(LFB_HIT)),
		DID(LFB_HW_PF) | DID(LFB_HIT));
	assert_int_equal(load_on(f->m, LINE_AT(0, 0) + 64, 1030) & (PF_BITS | DID(LFB_HIT)),
		DID(LFB_HW_PF) | DID(LFB_HIT));
	memsys_prefetch(f->m, LINE_AT(1, 9), 5000);
	assert_int_equal(load_on(f->m, LINE_AT(1, 9), 5001) & (PF_BITS | DID(LFB_HIT)), DID(LFB_SW_PF) | DID(LFB_HIT));
	load_on(f->m, LINE_AT(1, 20), 9000);
	/* a demand load asked for it */
	assert_int_equal(load_on(f->m, LINE_AT(1, 20), 9001) & (PF_BITS | DID(LFB_HIT)), DID(LFB_HIT));
}

/* Makes the core drop the line, which is clean, by three others of its set in L2 (4 ways) and L1D. */
static void drop_clean(struct memsys *m, uint64_t cycle)
{
	for (unsigned n = 1; n < 6; n++)
		load_on(m, LINE_AT(0, 4 * n), cycle + 1000 * n);
}

static void test_a_core_that_dropped_a_clean_line_is_snooped_in_vain(void **state)
{
	struct machine_fixture *f = *state;
	const uint64_t snoops = DID(SNOOP_HIT) | DID(SNOOP_HITM) | DID(SNOOP_MISS) | DID(L3_HIT);
	for (unsigned victim = 0; victim < 2; victim++) {
		if (victim) {
			mf_end(f);
			mf_config(&f->config);
		}
		f->config.l3_inclusion = victim;
		f->config.l3_ways = 8;
		mf_start(f);
		mf_map(f);
		struct memsys *second = second_core(f);
		load_on(second, BASE + 63 * 64, 1000);
		load_on(second, LINE_AT(0, 0), 2000);
		drop_clean(second, 3000);
		mf_forget(f);
		/* only an inclusive L3 does not know */
		assert_int_equal(load_on(f->m, LINE_AT(0, 0), 20000) & snoops,
			victim ? DID(L3_HIT) : DID(L3_HIT) | DID(SNOOP_MISS));
		assert_int_equal(mf_count(f, SPMU_SIG_SNOOP_RESPONSE), !victim);
		assert_int_equal(mf_count(f, SPMU_SIG_UNC_SNOOP), !victim);
		assert_int_equal(mf_found(f, SPMU_SIG_UNC_SNOOP, SPMU_FOUND_NOTHING), !victim);
		/* its bit is gone, and this core's own asks nobody */
		drop_clean(f->m, 30000);
		assert_int_equal(load_on(f->m, LINE_AT(0, 0), 40000) & snoops & ~DID(L3_HIT), 0);
		memsys_destroy(second);
	}
}

static void test_stores_and_evictions_snoop_in_vain(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r;
	f->config.l3_ways = 8;
	mf_start(f);
	mf_map(f);
	struct memsys *second = second_core(f), *third = second_core(f);
	load_on(second, BASE + 63 * 64, 1000);
	load_on(third, BASE + 63 * 64, 1500);
	load_on(second, LINE_AT(0, 0), 2000);
	load_on(third, LINE_AT(0, 0), 2500);
	drop_clean(second, 3000);
	mf_forget(f);
	memsys_store_commit(f->m, 0x400000, LINE_AT(0, 0), 8, 20000, false, &r);	/* asks both; one has it */
	assert_int_equal(mf_found(f, SPMU_SIG_UNC_INVALIDATE, SPMU_FOUND_CLEAN), 1);
	assert_int_equal(mf_found(f, SPMU_SIG_UNC_INVALIDATE, SPMU_FOUND_NOTHING), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_UNC_SNOOP), 0);
	/* one core reads more lines of a set than L3 has ways: L3 asks it for each line that it evicts */
	for (unsigned n = 1; n < 40; n++)
		load_on(third, LINE_AT(1, 4 * n), 20000 + 1000 * n);
	mf_forget(f);
	for (unsigned n = 40; n < 60; n++)
		memsys_load(f->m, 0x400000, LINE_AT(1, 4 * n), 8, 20000 + 1000 * n, false, &r);
	const uint64_t vain = mf_found(f, SPMU_SIG_UNC_EVICT, SPMU_FOUND_NOTHING);
	assert_true(vain > 0);
	assert_int_equal(vain + mf_found(f, SPMU_SIG_UNC_EVICT, SPMU_FOUND_CLEAN), mf_count(f, SPMU_SIG_UNC_VICTIM));
	memsys_destroy(third);
	memsys_destroy(second);
}

static uint64_t answers[64];	/* by SHARED, EXCLUSIVE, MODIFIED, ANSWER_GAVE_UP, ANSWER_SENT, bits 0 to 4 */
static struct spmu_record *answers_batch(void *context, const struct spmu_batch *b)
{
	(void)context;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		static const uint64_t bit[] = { SPMU_ATTR(SHARED), SPMU_ATTR(EXCLUSIVE), SPMU_ATTR(MODIFIED),
			SPMU_ATTR(ANSWER_GAVE_UP), SPMU_ATTR(ANSWER_SENT) };
		unsigned answer = 0;
		for (unsigned k = 0; k < 5; k++)
			answer |= (r->is & bit[k] ? 1u : 0u) << k;
		answers[answer] += r->kind == SPMU_REC_SIGNAL && r->signal == SPMU_SIG_SNOOP_RESPONSE;
	}
	return NULL;
}

static void test_a_snooped_core_says_what_it_had_and_what_became_of_it(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r;
	enum { S = 1, E = 2, M = 4, GONE = 8, SENT = 16 };
	mf_start(f);
	mf_map(f);
	struct memsys *second = second_core(f);
	struct spmu_record *record = calloc(SPMU_BATCH_MAX, sizeof *record);
	struct emitter own = { .record = record, .emit = answers_batch };
	assert_non_null(record);
	own.wanted[0] = own.wanted[1] = ~UINT64_C(0);
	memsys_emitter(second, &own);
	load_on(second, BASE + 63 * 64, 1000);
	load_on(second, LINE_AT(0, 0), 2000);
	load_on(second, LINE_AT(1, 0), 3000);
	memsys_store_commit(second, 0x400000, LINE_AT(2, 0), 8, 4000, false, &r);
	memsys_store_commit(second, 0x400000, LINE_AT(2, 1), 8, 5000, false, &r);
	mf_forget(f);
	load_on(f->m, LINE_AT(0, 0), 10000);
	memsys_store_commit(f->m, 0x400000, LINE_AT(0, 0), 8, 11000, false, &r);
	memsys_store_commit(f->m, 0x400000, LINE_AT(1, 0), 8, 12000, false, &r);
	load_on(f->m, LINE_AT(2, 0), 13000);
	memsys_store_commit(f->m, 0x400000, LINE_AT(2, 1), 8, 14000, false, &r);
	load_on(f->m, LINE_AT(1, 9), 15000);	/* nobody has it: nobody answers */
	emit_flush(&own, false);
	assert_int_equal(answers[E], 1);		/* a read: kept, shared */
	assert_int_equal(answers[S | GONE], 1);		/* then a store */
	assert_int_equal(answers[E | GONE], 1);
	assert_int_equal(answers[M | SENT], 1);
	assert_int_equal(answers[M | GONE | SENT], 1);
	assert_int_equal(mf_count(f, SPMU_SIG_SNOOP_RESPONSE), 0);	/* the one who asks does not answer */
	memsys_destroy(second);
	free(record);
}

/* --- queues that run out --- */

static void test_the_super_queue_says_when_it_is_full_and_who_waits(void **state)
{
	struct machine_fixture *f = *state;
	f->config.l2_queue = 2;
	mf_start(f);
	mf_map(f);
	load_on(f->m, LINE_AT(0, 0), 1000);
	mf_forget(f);
	load_on(f->m, LINE_AT(1, 0), 5000);
	assert_int_equal(mf_count(f, SPMU_SIG_SQ_FULL), 0);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_STALL), 0);
	load_on(f->m, LINE_AT(2, 0), 5010);
	/* the second miss took the last entry; the third load waits for the first one's */
	assert_int_equal(mf_count(f, SPMU_SIG_SQ_FULL), 1);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_STALL), 0);
	load_on(f->m, LINE_AT(3, 0), 5020);
	assert_int_equal(mf_count(f, SPMU_SIG_L2_STALL), 1);
}

static void test_a_split_load_waits_for_a_split_register(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r[3];
	for (unsigned registers = 0; registers < 3; registers++) {
		if (registers) {
			mf_end(f);
			mf_config(&f->config);
		}
		f->config.l1d_split_registers = registers;
		mf_start(f);
		mf_map(f);
		mf_forget(f);
		for (unsigned i = 0; i < 3; i++)
			memsys_load(f->m, 0x400000, LINE_AT(0, i) + 60, 8, 5000 + i, false, &r[i]);
		/* those without a register wait for another load's second line; without a limit nobody waits */
		assert_int_equal(mf_count(f, SPMU_SIG_SPLIT_BLOCKED), registers ? 3 - registers : 0);
		if (registers == 1)
			assert_true(r[1].ready >= r[0].ready + MEMORY - SPLIT - L1);
		mf_forget(f);
		memsys_load(f->m, 0x400000, LINE_AT(0, 2) + 60, 8, 9000, false, &r[0]);	/* hits hold it for a cycle */
		memsys_load(f->m, 0x400000, LINE_AT(0, 2) + 60, 8, 9001, false, &r[0]);
		memsys_load(f->m, 0x400000, LINE_AT(0, 2) + 8, 8, 9001, false, &r[0]);
		assert_int_equal(mf_count(f, SPMU_SIG_SPLIT_BLOCKED), 0);
	}
}

/* --- what memory tells the pipelines --- */
static struct { unsigned written, snooped; uint64_t addr, vline, cycle; } told;

static void test_the_first_load_of_a_line_that_l2_prefetched_says_so(void **state)
{
	struct machine_fixture *f = *state;
	f->config.prefetch_l2_adjacent = 1;
	mf_start(f);
	mf_map(f);
	assert_load(f, LINE_AT(0, 0), 1000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(1, 0), 1100, MEMORY - 100, BITS_MEMORY | DID(PF_L2_USED));	/* on its way */
	assert_load(f, LINE_AT(2, 0), 3000, MEMORY, BITS_MEMORY);
	assert_load(f, LINE_AT(3, 0), 5000, L2, BITS_L2 | DID(PF_L2_USED));
	mf_load(f, LINE_AT(3, 1), 6000);	/* two more lines of the set evict it from L1D */
	mf_load(f, LINE_AT(3, 2), 7000);
	assert_load(f, LINE_AT(3, 0), 8000, L2, BITS_L2);	/* once */
}

static void on_written(void *owner, uint64_t addr, uint32_t size, bool timed)
{
	(void)owner, (void)size, (void)timed;
	told.written++;
	told.addr = addr;
}

static void on_snooped(void *owner, uint64_t vline, uint64_t cycle)
{
	(void)owner;
	told.snooped++;
	told.vline = vline;
	told.cycle = cycle;
}

static void start_told(struct machine_fixture *f)
{
	mf_start(f);
	mf_map(f);
	f->e->code_written = on_written;
	f->e->snooped = on_snooped;
	memset(&told, 0, sizeof told);
}

static uint64_t store_address(struct machine_fixture *f, uint64_t addr, uint32_t size, uint64_t cycle)
{
	struct mem_result r = { 0, 0 };
	memsys_store_translate(f->m, addr, size, cycle, &r);
	return r.did & DID(CLEAR_SMC);
}

static void test_a_store_into_a_line_of_l1i_is_told_once(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r;
	f->config.clear_smc = 1;
	start_told(f);
	const uint64_t code = LINE_AT(0, 0), data = LINE_AT(1, 0);
	load_on(f->m, data, 1000);
	assert_int_equal(store_address(f, data, 8, 2000), 0);
	memsys_fetch(f->m, code, 3000, 3000, &r);
	assert_int_equal(store_address(f, data, 8, 4000), 0);	/* of the same page */
	load_on(f->m, code, 4500);				/* earlier accesses to the page make no difference */
	assert_int_equal(store_address(f, code + 60, 8, 5000), DID(CLEAR_SMC));
	assert_int_equal(told.written, 1);
	assert_int_equal(told.addr, code + 60);
	assert_int_equal(store_address(f, code, 8, 6000), 0);	/* L1I has lost the line */
	memsys_fetch(f->m, code, 7000, 7000, &r);
	assert_true(r.did & DID(ICACHE_MISS));
	load_on(f->m, code, 7500);
	load_on(f->m, code, 7600);
	assert_int_equal(store_address(f, code, 8, 8000), DID(CLEAR_SMC));
	assert_int_equal(told.written, 2);
}

static void test_stores_near_code_count_where_the_core_looks_at_more_than_a_line(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r;
	f->config.clear_smc = 1;
	f->config.clear_smc_bytes = 1024;
	start_told(f);
	const uint64_t code = BASE + 4096 + 512;
	memsys_fetch(f->m, code, 3000, 3000, &r);
	assert_int_equal(store_address(f, BASE + 4096 + 1024, 8, 4000), 0);
	assert_int_equal(store_address(f, BASE + 4096 + 8, 8, 5000), DID(CLEAR_SMC));
}

static void test_a_line_that_another_core_takes_is_told_and_one_that_it_reads_is_not(void **state)
{
	struct machine_fixture *f = *state;
	struct mem_result r;
	start_told(f);
	struct memsys *second = second_core(f);
	load_on(f->m, LINE_AT(0, 0), 2000);
	load_on(second, LINE_AT(0, 0), 3000);
	assert_int_equal(told.snooped, 0);
	memsys_store_commit(second, 0x400000, LINE_AT(0, 0), 8, 4000, false, &r);
	assert_int_equal(told.snooped, 1);
	assert_int_equal(told.vline, LINE_AT(0, 0) / 64);
	assert_true(told.cycle >= 4000);
	memsys_destroy(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MF_TEST(test_an_l3_hit_says_what_other_cores_had),
		MF_TEST(test_a_request_is_under_way_at_its_slice_until_its_data_come),
		MF_TEST(test_a_full_snoop_filter_takes_lines_from_the_cores),
		MF_TEST(test_a_partial_write_to_ecc_memory_reads_the_line),
		MF_TEST(test_a_fill_buffer_hit_says_whether_a_prefetch_asked),
		MF_TEST(test_the_first_load_of_a_line_that_l2_prefetched_says_so),
		MF_TEST(test_a_core_that_dropped_a_clean_line_is_snooped_in_vain),
		MF_TEST(test_stores_and_evictions_snoop_in_vain),
		MF_TEST(test_a_snooped_core_says_what_it_had_and_what_became_of_it),
		MF_TEST(test_the_super_queue_says_when_it_is_full_and_who_waits),
		MF_TEST(test_a_split_load_waits_for_a_split_register),
		MF_TEST(test_a_store_into_a_line_of_l1i_is_told_once),
		MF_TEST(test_stores_near_code_count_where_the_core_looks_at_more_than_a_line),
		MF_TEST(test_a_line_that_another_core_takes_is_told_and_one_that_it_reads_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
