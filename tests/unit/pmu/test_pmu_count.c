/* SPDX-License-Identifier: GPL-2.0-or-later
 * Exact counts on batches made by hand.
 */
#include "pmu_fixture.h"

struct bench { struct spmu_model *m; struct spmu *p; struct stream s; };

static int setup(void **state)
{
	struct bench *t = calloc(1, sizeof *t);
	t->m = fixture_model("skylake");
	t->p = fixture_pmu(t->m, NULL);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct bench *t = *state;
	spmu_destroy(t->p);
	stream_free(&t->s);
	spmu_model_free(t->m);
	free(t);
	return 0;
}

static uint64_t pmc(const struct bench *t, unsigned i)
{
	return fixture_read(t->p, MSR_IA32_PMC0 + i);
}

static void test_retired_uops_count_by_their_bits(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "INST_RETIRED.ANY_P", 0);
	fixture_program(t->p, 1, "BR_INST_RETIRED.ALL_BRANCHES", 0);
	fixture_program(t->p, 2, "BR_INST_RETIRED.NOT_TAKEN", 0);
	fixture_program(t->p, 3, "MEM_LOAD_RETIRED.L1_MISS", 0);
	fixture_program(t->p, 4, "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE", 0);
	fixture_program(t->p, 5, "UOPS_RETIRED.RETIRE_SLOTS", 0);
	/* a fused pair: two */
	stream_inst(&t->s, 1, SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(INST_END2), SPMU_DID(TAKEN), 10);
	stream_inst(&t->s, 2, SPMU_IS(BRANCH) | SPMU_IS(COND), 0, 11);
	stream_inst(&t->s, 3, SPMU_IS(LOAD), SPMU_DID(L1D_MISS), 12);
	stream_inst(&t->s, 4, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT), 12);
	stream_inst(&t->s, 5, SPMU_IS(FP_SCALAR_DOUBLE), 0, 13);
	stream_inst(&t->s, 6, SPMU_IS(FP_SCALAR_DOUBLE) | SPMU_IS(FP_FMA), 0, 13);
	/* squashed */
	stream_inst(&t->s, 7, SPMU_IS(BRANCH) | SPMU_IS(LOAD), SPMU_DID(L1D_MISS), 14)->did &= ~SPMU_DID(RETIRED);
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 7);
	assert_int_equal(pmc(t, 1), 2);
	assert_int_equal(pmc(t, 2), 1);
	assert_int_equal(pmc(t, 3), 1);
	assert_int_equal(pmc(t, 4), 3);
	assert_int_equal(pmc(t, 5), 6);
}

static void test_speculative_events_count_squashed_uops_that_got_there(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "UOPS_ISSUED.ANY", 0);
	fixture_program(t->p, 1, "UOPS_EXECUTED.THREAD", 0);
	fixture_program(t->p, 2, "UOPS_DISPATCHED_PORT.PORT_5", 0);
	fixture_program(t->p, 3, "UOPS_RETIRED.ALL", 0);
	stream_inst(&t->s, 1, 0, 0, 10)->port = 5;
	stream_inst(&t->s, 2, 0, 0, 11)->did = 0;				/* squashed after execution */
	stream_inst(&t->s, 3, 0, 0, 12)->did = 0;				/* squashed before it was dispatched */
	t->s.at[2][3] = t->s.at[2][4] = PMU_NEVER;
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 3);
	assert_int_equal(pmc(t, 1), 2);
	assert_int_equal(pmc(t, 2), 1);
	assert_int_equal(pmc(t, 3), 1);
}

static void test_signals_count_by_their_kind(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "L1D.REPLACEMENT", 0);			/* point */
	fixture_program(t->p, 1, "RESOURCE_STALLS.SB", 0);			/* interval */
	fixture_program(t->p, 2, "L1D_PEND_MISS.PENDING", 0);			/* occupancy */
	fixture_program(t->p, 3, "L2_RQSTS.ALL_RFO", 0);			/* a sum of two */
	fixture_program(t->p, 4, "DTLB_LOAD_MISSES.WALK_COMPLETED", 0);	/* ends */
	fixture_program(t->p, 5, "DTLB_LOAD_MISSES.WALK_PENDING", 0);		/* overlaps add up */
	fixture_program(t->p, 6, "DTLB_LOAD_MISSES.WALK_ACTIVE", 0);		/* overlaps do not */
	stream_signal(&t->s, SPMU_SIG_L1D_REPLACEMENT, 5, 5, 3);
	stream_signal(&t->s, SPMU_SIG_L1D_REPLACEMENT, 9, 9, 1);
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 10, 20, 1);
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 15, 25, 1);		/* overlaps */
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 40, 50, 1);
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 5, 45, 1);		/* and covers */
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 45, 45, 1);		/* empty */
	stream_signal(&t->s, SPMU_SIG_L1D_PENDING, 10, 20, 2);
	stream_signal(&t->s, SPMU_SIG_L1D_PENDING, 15, 18, 1);
	stream_signal(&t->s, SPMU_SIG_L2_RFO_HIT, 1, 1, 1);
	stream_signal(&t->s, SPMU_SIG_L2_RFO_MISS, 1, 1, 1);
	stream_signal(&t->s, SPMU_SIG_DTLB_LOAD_WALK, 10, 30, 1);
	stream_signal(&t->s, SPMU_SIG_DTLB_LOAD_WALK, 20, 40, 1);
	stream_signal(&t->s, 9999, 1, 1, 1);					/* an unknown signal is ignored */
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 4);
	assert_int_equal(pmc(t, 1), 45);
	assert_int_equal(pmc(t, 2), 23);
	assert_int_equal(pmc(t, 3), 2);
	assert_int_equal(pmc(t, 4), 2);
	assert_int_equal(pmc(t, 5), 40);
	assert_int_equal(pmc(t, 6), 30);
}

static void test_intervals_that_overlap_across_batches_count_once(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "RESOURCE_STALLS.SB", 0);
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 10, 100, 1);
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 50, 120, 1);
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 130, 140, 1);
	stream_signal(&t->s, SPMU_SIG_RESOURCE_STALL_SB, 90, 150, 1);
	stream_send(&t->s, 0, 1, 0, 50, false, t->p);
	assert_int_equal(pmc(t, 0), 90);
	stream_send(&t->s, 1, 3, 50, 90, false, t->p);
	assert_int_equal(pmc(t, 0), 120);
	stream_send(&t->s, 3, 4, 90, 200, true, t->p);
	assert_int_equal(pmc(t, 0), 140);
}

/* Uops executed in cycles 0 to 9: 0 1 2 3 0 0 2 2 0 1. */
static void executed(struct bench *t)
{
	static const unsigned n[10] = { 0, 1, 2, 3, 0, 0, 2, 2, 0, 1 };
	for (unsigned c = 0; c < 10; c++)
		for (unsigned k = 0; k < n[c]; k++) {
			stream_inst(&t->s, c, 0, 0, 100);
			t->s.at[t->s.n - 1][3] = c;
			for (unsigned j = 0; j < 3; j++)
				t->s.at[t->s.n - 1][j] = 0;
		}
	stream_signal(&t->s, SPMU_SIG_CYCLES, 0, 10, 1);
}

static void test_cmask_inv_and_edge_work_on_the_increment_of_a_cycle(void **state)
{
	struct bench *t = *state;
	static const struct { uint64_t more; uint64_t count; } rows[] = {
		{ 0, 11 },
		{ SPMU_EVTSEL_INV, 11 },				/* without CMASK, INV is ignored */
		{ SPMU_EVTSEL_CMASK(1), 6 }, { SPMU_EVTSEL_CMASK(2), 4 }, { SPMU_EVTSEL_CMASK(3), 1 },
		{ SPMU_EVTSEL_CMASK(4), 0 },
		{ SPMU_EVTSEL_CMASK(1) | SPMU_EVTSEL_INV, 4 }, { SPMU_EVTSEL_CMASK(2) | SPMU_EVTSEL_INV, 6 },
		{ SPMU_EVTSEL_CMASK(1) | SPMU_EVTSEL_EDGE, 3 }, { SPMU_EVTSEL_CMASK(2) | SPMU_EVTSEL_EDGE, 2 },
		{ SPMU_EVTSEL_CMASK(1) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE, 3 },	/* cycles 0, 4-5, 8 */
		{ SPMU_EVTSEL_EDGE, 3 },
	};
	executed(t);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spmu *p = fixture_pmu(t->m, NULL);
		fixture_program(p, 0, "UOPS_EXECUTED.THREAD", rows[i].more);
		stream_send_all(&t->s, p);
		if (fixture_read(p, MSR_IA32_PMC0) != rows[i].count)
			fail_msg("row %zu: %llu, expected %llu", i, (unsigned long long)fixture_read(p, MSR_IA32_PMC0),
				(unsigned long long)rows[i].count);
		spmu_destroy(p);
	}
}

static void test_conditions_combine_within_a_cycle(void **state)
{
	struct bench *t = *state;
	executed(t);
	stream_signal(&t->s, SPMU_SIG_L1D_PENDING, 3, 6, 1);		/* idle at 4 and 5 */
	stream_signal(&t->s, SPMU_SIG_L1D_PENDING, 8, 30, 1);		/* idle at 8; not running from 10 on */
	fixture_program(t->p, 0, "CYCLE_ACTIVITY.STALLS_TOTAL", 0);
	fixture_program(t->p, 1, "CYCLE_ACTIVITY.CYCLES_L1D_MISS", 0);
	fixture_program(t->p, 2, "CYCLE_ACTIVITY.STALLS_L1D_MISS", 0);
	fixture_program(t->p, 3, "EXE_ACTIVITY.2_PORTS_UTIL", 0);
	fixture_program(t->p, 4, "CYCLE_ACTIVITY.STALLS_L1D_MISS", SPMU_EVTSEL_EDGE);
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 4);
	assert_int_equal(pmc(t, 1), 5);
	assert_int_equal(pmc(t, 2), 3);
	assert_int_equal(pmc(t, 3), 3);
	assert_int_equal(pmc(t, 4), 2);
}

static void test_occupancy_between_stages_shows_an_empty_scheduler(void **state)
{
	struct bench *t = *state;
	stream_inst(&t->s, 1, 0, 0, 20);
	t->s.at[0][1] = 5;
	t->s.at[0][3] = 9;			/* in the scheduler in cycles 5 to 8 */
	stream_signal(&t->s, SPMU_SIG_CYCLES, 0, 20, 1);
	fixture_program(t->p, 0, "RS_EVENTS.EMPTY_CYCLES", 0);
	fixture_program(t->p, 1, "RS_EVENTS.EMPTY_END", 0);
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 16);
	assert_int_equal(pmc(t, 1), 1);
}

static void test_halted_cycles_are_no_cycles(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "CPU_CLK_UNHALTED.THREAD_P", 0);
	fixture_program(t->p, 1, "UOPS_EXECUTED.STALL_CYCLES", 0);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_FIXED_CTR_CTRL, 0x220), SPMU_OK);
	stream_signal(&t->s, SPMU_SIG_CYCLES, 0, 100, 1);
	stream_signal(&t->s, SPMU_SIG_CYCLES, 3000000000u, 3000000050u, 1);
	stream_send(&t->s, 0, 1, 0, 100, true, t->p);
	stream_send(&t->s, 1, 2, 2999999999u, 3000000050u, true, t->p);
	assert_int_equal(pmc(t, 0), 150);
	assert_int_equal(pmc(t, 1), 150);
	assert_int_equal(fixture_read(t->p, MSR_IA32_FIXED_CTR0 + 1), 150);
	assert_int_equal(fixture_read(t->p, MSR_IA32_FIXED_CTR0 + 2), 150);	/* tsc 1/1 */
}

static void test_reference_clocks_keep_their_fraction(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "CPU_CLK_THREAD_UNHALTED.REF_XCLK", 0); /* 3/425 of the cycles: 24 MHz at 3.4 GHz */
	for (unsigned i = 0; i < 100; i++)
		stream_signal(&t->s, SPMU_SIG_CYCLES, 17 * i, 17 * (i + 1), 1);
	for (unsigned i = 0; i < 100; i++)
		stream_send(&t->s, i, i + 1, 17 * i, 17 * (i + 1), false, t->p);
	assert_int_equal(pmc(t, 0), 1700 * 3 / 425);
}

static void test_privilege_bits_select_what_counts(void **state)
{
	struct bench *t = *state;
	static const struct { uint64_t rings; uint64_t user_and_kernel; } rows[] = {
		{ 0, 0 }, { SPMU_EVTSEL_USR, 2 }, { SPMU_EVTSEL_OS, 1 }, { SPMU_EVTSEL_USR | SPMU_EVTSEL_OS, 3 },
	};
	uint64_t base = fixture_evtsel(fixture_event(t->m, "INST_RETIRED.ANY_P")) & ~(SPMU_EVTSEL_USR | SPMU_EVTSEL_OS);
	stream_inst(&t->s, 1, 0, 0, 10);
	stream_inst(&t->s, 2, 0, 0, 11)->cpl = 0;
	stream_inst(&t->s, 3, 0, 0, 12);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERFEVTSEL0 + i, base | rows[i].rings), SPMU_OK);
		assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERFEVTSEL0 + 4 + i,
			base | rows[i].rings | SPMU_EVTSEL_CMASK(1)), SPMU_OK);
	}
	stream_send_all(&t->s, t->p);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(pmc(t, i), rows[i].user_and_kernel);
		assert_int_equal(pmc(t, 4 + i), rows[i].user_and_kernel);
	}
}

static void test_nothing_counts_unless_every_enable_is_set(void **state)
{
	struct bench *t = *state;
	uint64_t v = fixture_evtsel(fixture_event(t->m, "INST_RETIRED.ANY_P"));
	stream_inst(&t->s, 1, 0, 0, 10);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERFEVTSEL0, v & ~SPMU_EVTSEL_EN), SPMU_OK);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERFEVTSEL0 + 1, v), SPMU_OK);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_FIXED_CTR_CTRL, 0x222), SPMU_OK);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERF_GLOBAL_CTRL, 1 | UINT64_C(6) << 32), SPMU_OK);
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 0);
	assert_int_equal(pmc(t, 1), 0);
	assert_int_equal(fixture_read(t->p, MSR_IA32_FIXED_CTR0), 0);
}

static void test_a_window_of_global_ctrl_counts_exactly_the_batches_in_it(void **state)
{
	struct bench *t = *state;
	static const char *const names[] = { "INST_RETIRED.ANY_P", "UOPS_EXECUTED.THREAD",
		"UOPS_EXECUTED.THREAD_CYCLES_GE_1" };
	for (unsigned k = 0; k < 3; k++)
		fixture_program(t->p, k, names[k], 0);
	for (unsigned i = 0; i < 30; i++)
		stream_inst(&t->s, i, 0, 0, 100 + 10 * i);
	stream_send(&t->s, 0, 5, 0, 100, false, t->p);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERF_GLOBAL_CTRL, 0), SPMU_OK);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(pmc(t, k), 5);
	stream_send(&t->s, 5, 20, 100, 250, false, t->p);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(pmc(t, k), 5);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERF_GLOBAL_CTRL, 7), SPMU_OK);
	stream_send(&t->s, 20, 30, 250, 400, true, t->p);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(pmc(t, k), 15);
}

static void test_the_nth_event_after_a_preset_of_minus_n_overflows(void **state)
{
	struct bench *t = *state;
	for (unsigned i = 0; i < 10; i++)
		stream_inst(&t->s, i, 0, 0, 10 + i);
	fixture_program(t->p, 0, "INST_RETIRED.ANY_P", 0);
	fixture_program(t->p, 1, "INST_RETIRED.ANY_P", 0);
	fixture_program(t->p, 2, "UOPS_EXECUTED.THREAD_CYCLES_GE_1", 0);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PMC0, (uint64_t)-10), SPMU_OK);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PMC0 + 1, (uint64_t)-11), SPMU_OK);
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PMC0 + 2, (uint64_t)-10), SPMU_OK);
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 0);
	assert_int_equal(pmc(t, 1), PMU_COUNTER_MASK);
	assert_int_equal(pmc(t, 2), 0);
	assert_int_equal(fixture_read(t->p, MSR_IA32_PERF_GLOBAL_STATUS), 5);
}

static void test_a_counter_that_cannot_count_the_event_stays_still(void **state)
{
	struct bench *t = *state;
	stream_inst(&t->s, 1, SPMU_IS(LOAD), SPMU_DID(L1D_MISS), 10);
	fixture_program(t->p, 3, "MEM_LOAD_RETIRED.L1_MISS", 0);
	fixture_program(t->p, 4, "MEM_LOAD_RETIRED.L1_MISS", 0);		/* counters 0 to 3 only */
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERFEVTSEL0, 0x43fffe), SPMU_OK);	/* no such event */
	assert_int_equal(spmu_wrmsr(t->p, MSR_IA32_PERFEVTSEL0 + 1, 0x4301c9), SPMU_OK);	/* refused */
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 3), 1);
	assert_int_equal(pmc(t, 4), 0);
	assert_int_equal(pmc(t, 0), 0);
	assert_int_equal(pmc(t, 1), 0);
}

static void test_any_thread_counts_the_only_thread(void **state)
{
	struct bench *t = *state;
	stream_inst(&t->s, 1, 0, 0, 10);
	fixture_program(t->p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_ANY);
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 1);
}

static void test_a_batch_without_records_still_counts_its_instructions(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "INST_RETIRED.ANY_P", 0);
	spmu_consume(t->p, &(struct spmu_batch){ .base_cycle = 10, .watermark = 20, .instructions = 31,
		.user_only = 1 });
	spmu_consume(t->p, &(struct spmu_batch){ .base_cycle = 20, .watermark = 30, .instructions = 1000,
		.user_only = 1, .hw_threads = 2, .is_last = 1 });
	assert_int_equal(pmc(t, 0), 31);	/* without those of the other hardware thread */
}

/* Thousands of millions of cycles with events far apart: counting must neither walk them cycle by cycle nor allocate
 * memory for them. */
static void test_long_spans_are_counted_in_a_step(void **state)
{
	struct bench *t = *state;
	fixture_program(t->p, 0, "L1D_PEND_MISS.PENDING_CYCLES", 0);
	fixture_program(t->p, 1, "UOPS_EXECUTED.STALL_CYCLES", 0);
	fixture_program(t->p, 2, "L1D_PEND_MISS.OCCURRENCES", 0);
	stream_signal(&t->s, SPMU_SIG_CYCLES, 0, 4000000000u, 1);
	stream_signal(&t->s, SPMU_SIG_L1D_PENDING, 1000, 1000001000, 1);
	stream_signal(&t->s, SPMU_SIG_L1D_PENDING, 2000000000, 2000100000, 3);
	stream_inst(&t->s, 1, 0, 0, 3000000000u);
	stream_send_all(&t->s, t->p);
	assert_int_equal(pmc(t, 0), 1000100000);
	assert_int_equal(pmc(t, 1), 4000000000u - 1);
	assert_int_equal(pmc(t, 2), 2);
}

/* A window that registers open and close between batches: with INV and a CMASK that no cycle reaches, the counter has
 * as many cycles as the clock, at whatever cycle the core stands. */
static void test_an_inverted_threshold_counts_each_cycle_of_a_window(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	for (unsigned length = 1; length < 40; length++) {
		struct spmu *p = fixture_pmu(m, NULL);
		struct stream s = { 0 };
		spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 0);
		fixture_program(p, 0, "CPU_CLK_UNHALTED.THREAD_P", 0);
		fixture_program(p, 1, "INST_RETIRED.ANY_P", SPMU_EVTSEL_CMASK(16) | SPMU_EVTSEL_INV);
		for (unsigned window = 0; window < 20; window++) {
			/* a batch ends in the middle of what goes on: its watermark is below its last cycle */
			const uint64_t begin = 100 + window * length, end = begin + length;
			const size_t from = s.n;
			stream_signal(&s, SPMU_SIG_CYCLES, begin, end, 1);
			for (uint64_t at = begin; at < end; at += 2)
				stream_inst(&s, 0x1000 + at, 0, 0, at);
			spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, window & 1 ? 3 : 0);
			stream_send(&s, from, s.n, begin - 10, end > 30 ? end - 3 : 0, false, p);
		}
		spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 0);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 10 * length);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), 10 * length);
		stream_free(&s);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_retired_uops_count_by_their_bits),
		TEST(test_speculative_events_count_squashed_uops_that_got_there),
		TEST(test_signals_count_by_their_kind),
		TEST(test_intervals_that_overlap_across_batches_count_once),
		TEST(test_cmask_inv_and_edge_work_on_the_increment_of_a_cycle),
		TEST(test_conditions_combine_within_a_cycle),
		TEST(test_occupancy_between_stages_shows_an_empty_scheduler),
		TEST(test_halted_cycles_are_no_cycles),
		TEST(test_reference_clocks_keep_their_fraction),
		TEST(test_privilege_bits_select_what_counts),
		TEST(test_nothing_counts_unless_every_enable_is_set),
		TEST(test_a_window_of_global_ctrl_counts_exactly_the_batches_in_it),
		TEST(test_the_nth_event_after_a_preset_of_minus_n_overflows),
		TEST(test_a_counter_that_cannot_count_the_event_stays_still),
		TEST(test_any_thread_counts_the_only_thread),
		TEST(test_a_batch_without_records_still_counts_its_instructions),
		TEST(test_long_spans_are_counted_in_a_step),
		cmocka_unit_test(test_an_inverted_threshold_counts_each_cycle_of_a_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
