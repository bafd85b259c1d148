/* SPDX-License-Identifier: GPL-2.0-or-later
 * What NetBurst's counters count: events by name, on every counter that can, filters, privilege, threads.
 */
#include "netburst_setup.h"

static int setup(void **state)
{
	(void)state;
	return nb_setup_pmu("netburst-prescott");
}

/* The stream that `counts` is about: instructions that retire at cycles 100, 101, ..., signals, cycles 0 to 300. */
static void mixture(void)
{
	uint64_t at = 100;
	stream_inst(&s, 1, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(FROM_DSB), at++);
	stream_inst(&s, 2, SPMU_IS(LOAD), SPMU_DID(SPLIT_LINE) | SPMU_DID(FROM_DSB), at++);
	stream_inst(&s, 3, SPMU_IS(LOAD), SPMU_DID(FORWARD_BLOCKED) | SPMU_DID(FROM_MITE), at++);
	stream_inst(&s, 4, SPMU_IS(STORE_ADDR), SPMU_DID(SPLIT_PAGE) | SPMU_DID(FROM_MITE), at++);
	stream_inst(&s, 5, SPMU_IS(BRANCH) | SPMU_IS(COND), SPMU_DID(TAKEN) | SPMU_DID(FROM_MS), at++);
	stream_inst(&s, 6, SPMU_IS(BRANCH) | SPMU_IS(COND), 0, at++);
	stream_inst(&s, 7, SPMU_IS(BRANCH) | SPMU_IS(COND), SPMU_DID(MISPREDICTED), at++);
	stream_inst(&s, 8, SPMU_IS(BRANCH) | SPMU_IS(COND), SPMU_DID(MISPREDICTED) | SPMU_DID(TAKEN), at++);
	stream_inst(&s, 9, SPMU_IS(BRANCH) | SPMU_IS(CALL), SPMU_DID(TAKEN), at++);
	stream_inst(&s, 10, SPMU_IS(BRANCH) | SPMU_IS(CALL) | SPMU_IS(INDIRECT),
		SPMU_DID(TAKEN) | SPMU_DID(MISPREDICTED), at++);
	stream_inst(&s, 11, SPMU_IS(BRANCH) | SPMU_IS(RET), SPMU_DID(TAKEN), at++);
	stream_inst(&s, 12, SPMU_IS(BRANCH) | SPMU_IS(INDIRECT), SPMU_DID(TAKEN), at++);
	stream_inst(&s, 13, SPMU_IS(BRANCH), SPMU_DID(TAKEN), at++);
	stream_inst(&s, 14, SPMU_IS(FP_128_SINGLE), 0, at++);
	stream_inst(&s, 15, SPMU_IS(FP_128_DOUBLE), 0, at++);
	stream_inst(&s, 16, SPMU_IS(FP_SCALAR_SINGLE), 0, at++);
	stream_inst(&s, 17, SPMU_IS(FP_SCALAR_DOUBLE), 0, at++);
	stream_inst(&s, 18, SPMU_IS(X87), 0, at++);
	stream_inst(&s, 19, SPMU_IS(X87), 0, at++);
	stream_squashed(&s, SPMU_IS(LOAD), 110);
	stream_squashed(&s, 0, 111);
	stream_squashed(&s, 0, PMU_NEVER);	/* the record has no cycle in which it left: no bogus count */
	stream_signal(&s, SPMU_SIG_ITLB_MISS, 20, 20, 3);
	stream_signal(&s, SPMU_SIG_ITLB_WALK, 20, 30, 1);
	stream_signal(&s, SPMU_SIG_DTLB_LOAD_WALK, 30, 50, 1);
	stream_signal(&s, SPMU_SIG_DTLB_LOAD_WALK, 40, 60, 1);
	stream_signal(&s, SPMU_SIG_DTLB_STORE_WALK, 30, 50, 1);
	stream_signal(&s, SPMU_SIG_L2_DEMAND_RD_HIT, 30, 30, 5);
	stream_signal(&s, SPMU_SIG_L2_RFO_HIT, 30, 30, 2);
	stream_signal(&s, SPMU_SIG_L2_DEMAND_RD_MISS, 40, 40, 3);
	stream_signal(&s, SPMU_SIG_L2_RFO_MISS, 40, 40, 1);
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 50, 50, 4);
	stream_signal(&s, SPMU_SIG_RESOURCE_STALL_SB, 50, 57, 1);
	stream_signal(&s, SPMU_SIG_CLEAR_MEMORY_ORDER, 70, 70, 1);
	stream_signal(&s, SPMU_SIG_CLEAR_MEMORY_ORDER, 71, 71, 1);
	stream_inst(&s, 20, SPMU_IS(INT_VECTOR) | SPMU_IS(VECTOR_64) | SPMU_IS(EXEC), 0, at++);
	stream_inst(&s, 21, SPMU_IS(INT_VECTOR) | SPMU_IS(EXEC), 0, at++);
	stream_inst(&s, 22, SPMU_IS(VECTOR_MOVE) | SPMU_IS(EXEC), 0, at++);
	stream_inst(&s, 23, SPMU_IS(VECTOR_MOVE) | SPMU_IS(LOAD), 0, at++);
	stream_signal(&s, SPMU_SIG_TC_BUILD, 200, 230, 1);
	stream_signal(&s, SPMU_SIG_TC_MISS, 200, 200, 1);
	stream_signal(&s, SPMU_SIG_TC_FLUSH, 210, 210, 1);
	stream_signal(&s, SPMU_SIG_ITLB_HIT, 211, 211, 5);
	stream_signal(&s, SPMU_SIG_STORE_CANCEL, 212, 212, 2);
	stream_signal(&s, SPMU_SIG_ALIAS_L1D, 213, 213, 3);
	stream_signal(&s, SPMU_SIG_WC_EVICT, 214, 214, 4);
	stream_signal(&s, SPMU_SIG_WC_EVICT, 215, 215, 3);
	s.r[s.n - 1].is = SPMU_ATTR(FORCED);
	static const uint64_t states[] = { SPMU_ATTR(SHARED), SPMU_ATTR(EXCLUSIVE), SPMU_ATTR(MODIFIED) };
	for (unsigned k = 0; k < 3; k++) {
		stream_signal(&s, SPMU_SIG_L2_DEMAND_RD_HIT, 220 + k, 220 + k, 1 + k);
		s.r[s.n - 1].is = states[k];
	}
	for (unsigned k = 0; k < 8; k++) {	/* of L3: reads by data and for ownership, a prefetch */
		stream_signal(&s, SPMU_SIG_OFFCORE_REQUEST, 240 + k, 240 + k, 1);
		s.r[s.n - 1].is = (k == 7 ? SPMU_ATTR(REQUEST_PF_L2) : k & 1 ? SPMU_ATTR(REQUEST_RFO)
			: SPMU_ATTR(REQUEST_DATA_RD)) | (k < 3 ? states[k] : k < 6 ? SPMU_ATTR(L3_MISSED)
			: k == 7 ? SPMU_ATTR(MODIFIED) : 0);
	}
	stream_cycles(&s, 0, 3, 0, 300);
}

static const struct { const char *event; uint64_t count; } counts[] = {
	{ "global_power_events.RUNNING", 300 },
	{ "instr_retired.NBOGUSNTAG", 23 }, { "instr_retired.NBOGUSTAG", 0 }, { "instr_retired.BOGUSNTAG", 2 },
	{ "instr_retired.BOGUSTAG", 0 },
	{ "instructions", 23 }, { "instr_completed.NBOGUS", 23 }, { "instr_completed.BOGUS", 2 },
	{ "uops_retired.NBOGUS", 23 }, { "uops_retired.BOGUS", 2 },
	{ "branch_retired.MMTP", 5 }, { "branch_retired.MMTM", 2 }, { "branch_retired.MMNP", 1 },
	{ "branch_retired.MMNM", 1 },
	{ "mispred_branch_retired.NBOGUS", 3 },
	{ "retired_branch_type.CONDITIONAL", 4 }, { "retired_branch_type.CALL", 2 }, { "retired_branch_type.RETURN",
	1 },
	{ "retired_branch_type.INDIRECT", 3 }, { "retired_branch_type.RETURN:INDIRECT", 3 },
	{ "retired_branch_type.CALL:INDIRECT", 4 },
	{ "branches", 9 },
	{ "retired_mispred_branch_type.CONDITIONAL", 2 }, { "retired_mispred_branch_type.CALL", 1 },
	{ "retired_mispred_branch_type.RETURN", 0 },
	{ "retired_mispred_branch_type.INDIRECT", 1 },
	{ "packed_SP_uop.ALL", 1 }, { "packed_DP_uop.ALL", 1 }, { "scalar_SP_uop.ALL", 1 }, { "scalar_DP_uop.ALL", 1 },
	{ "x87_FP_uop.ALL", 2 },
	{ "memory_complete.LSC", 1 }, { "memory_complete.SSC", 1 }, { "load_port_replay.SPLIT_LD", 1 },
	{ "store_port_replay.SPLIT_ST", 1 },
	{ "MOB_load_replay.PARTIAL_DATA:UNALGN_ADDR", 1 },
	{ "ITLB_reference.MISS", 3 }, { "page_walk_type.ITMISS", 1 }, { "page_walk_type.DTMISS", 3 },
	{ "BSQ_cache_reference.RD_2ndL_MISS", 4 }, { "cache-references", 16 },
	{ "BSQ_cache_reference.RD_2ndL_HITS", 1 }, { "BSQ_cache_reference.RD_2ndL_HITE", 2 },
	{ "BSQ_cache_reference.RD_2ndL_HITM", 3 },
	{ "TC_deliver_mode.DI", 270 }, { "TC_deliver_mode.BI", 30 }, { "TC_deliver_mode.DD", 0 },
	{ "BPU_fetch_request.TCMISS", 1 }, { "TC_misc.FLUSH", 1 }, { "ITLB_reference.HIT", 5 },
	{ "memory_cancel.ST_RB_FULL", 2 }, { "memory_cancel.64K_CONF", 3 },
	{ "WC_Buffer.WCB_EVICTS", 7 }, { "WC_Buffer.WCB_FULL_EVICT", 3 },
	{ "WC_Buffer.WCB_EVICTS:WCB_FULL_EVICT", 7 },
	{ "64bit_MMX_uop.ALL", 1 }, { "128bit_MMX_uop.ALL", 1 },
	{ "x87_SIMD_moves_uop.ALLP0", 1 }, { "x87_SIMD_moves_uop.ALLP2", 1 },
	{ "cache-misses", 7 },
	{ "BSQ_cache_reference.RD_3rdL_HITS", 1 }, { "BSQ_cache_reference.RD_3rdL_HITE", 1 },
	{ "BSQ_cache_reference.RD_3rdL_HITM", 1 }, { "BSQ_cache_reference.RD_3rdL_MISS", 3 },
	{ "tc_ms_xfer.CISC", 4 }, { "resource_stall.SBFULL", 7 },
	{ "uop_queue_writes.FROM_TC_DELIVER", 2 }, { "uop_queue_writes.FROM_TC_BUILD", 2 },
	{ "uop_queue_writes.FROM_ROM", 1 },
	{ "machine_clear.MOCLEAR", 2 }, { "machine_clear.CLEAR", 2 },
	{ "uop_type.TAGLOADS", 5 }, { "uop_type.TAGSTORES", 1 },
};

static void test_every_event_counts_on_every_counter_that_can(void **state)
{
	(void)state;
	mixture();
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		const struct spmu_event *e = fixture_event(model, counts[i].event);
		for (unsigned n = 0; n < 18; n++) {
			if (!(e->pmc_mask >> n & 1))
				continue;
			struct spmu *q = netburst_pmu(model, NULL);
			nb_program(q, n, counts[i].event, T0, 0);
			stream_send_all(&s, q);
			if (nb_count(q, n) != counts[i].count)
				fail_msg("%s on counter %u: %llu, not %llu", counts[i].event, n,
					(unsigned long long)nb_count(q, n),
					(unsigned long long)counts[i].count);
			spmu_destroy(q);
		}
	}
}

/* The same events have the same counts when the stream is cut into small batches. */
static void test_counts_do_not_depend_on_batches(void **state)
{
	(void)state;
	mixture();
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		const struct spmu_event *e = fixture_event(model, counts[i].event);
		unsigned n = (unsigned)__builtin_ctz(e->pmc_mask);
		struct spmu *q = netburst_pmu(model, NULL);
		nb_program(q, n, counts[i].event, T0, 0);
		stream_send_cut(&s, q, 7 + i, 4);
		assert_int_equal(nb_count(q, n), counts[i].count);
		spmu_destroy(q);
	}
}

static void test_mask_bits_add_up(void **state)
{
	(void)state;
	static const struct { uint32_t mask; uint64_t count; } table[] = { { 0, 0 }, { 1, 1 }, { 4, 5 }, { 5, 6 },
		{ 12, 7 }, { 15, 9 }, { 0xfff0, 0 } };
	mixture();
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu *q = netburst_pmu(model, NULL);
		nb_write(q, MSR_CRU_ESCR2, SPMU_ESCR_EVENT(6) | SPMU_ESCR_MASK(table[i].mask) | T0);
		nb_write(q, NB_CCCR(12), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(5) | SPMU_CCCR_ACTIVE(3));
		stream_send_all(&s, q);
		assert_int_equal(nb_count(q, 12), table[i].count);
		spmu_destroy(q);
	}
}

static void test_a_branch_of_several_selected_types_counts_once(void **state)
{
	(void)state;
	static const struct { uint32_t mask; uint64_t count; } table[] = {
		{ 0x02, 4 }, { 0x04, 2 }, { 0x06, 6 }, { 0x08, 1 }, { 0x0c, 3 }, { 0x10, 3 }, { 0x12, 7 }, { 0x14, 4 },
		{ 0x18, 3 }, { 0x1a, 7 },
		{ 0x1c, 4 }, { 0x16, 8 }, { 0x1e, 8 },
	};
	mixture();
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu *q = netburst_pmu(model, NULL);
		nb_write(q, MSR_TBPU_ESCR0, SPMU_ESCR_EVENT(4) | SPMU_ESCR_MASK(table[i].mask) | T0);
		nb_write(q, NB_CCCR(4), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(2) | SPMU_CCCR_ACTIVE(3));
		stream_send_all(&s, q);
		if (nb_count(q, 4) != table[i].count)
			fail_msg("mask %x: %llu", table[i].mask, (unsigned long long)nb_count(q, 4));
		spmu_destroy(q);
	}
}

static void test_enable_closes_the_window(void **state)
{
	(void)state;
	nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, 0);
	uint64_t on = fixture_read(p, NB_CCCR(12));
	for (unsigned i = 0; i < 30; i++)
		stream_inst(&s, i, 0, 0, 10 + i);
	stream_send(&s, 0, 10, 0, 15, false, p);
	nb_write(p, NB_CCCR(12), on & ~(uint64_t)SPMU_CCCR_ENABLE);
	stream_send(&s, 10, 20, 15, 25, false, p);
	nb_write(p, NB_CCCR(12), on);
	stream_send(&s, 20, 30, 25, 100, true, p);
	assert_int_equal(nb_count(p, 12), 20);
}

static void test_an_escr_on_the_other_side_is_not_seen(void **state)
{
	(void)state;
	const struct spmu_event *e = fixture_event(model, "uops_retired.NBOGUS");
	for (unsigned i = 0; i < 5; i++)
		stream_inst(&s, i, 0, 0, 10 + i);
	nb_write(p, MSR_CRU_ESCR1, nb_escr(e, T0));	/* counters 14, 15, 17 */
	for (unsigned n = 12; n < 18; n++)
		nb_write(p, NB_CCCR(n), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(4) | SPMU_CCCR_ACTIVE(3));
	stream_send_all(&s, p);
	for (unsigned n = 12; n < 18; n++)
		assert_int_equal(nb_count(p, n), n == 14 || n == 15 || n == 17 ? 5 : 0);
}

static void test_privilege_and_thread_bits_qualify(void **state)
{
	(void)state;
	/* user and kernel uops of both threads: 1, 2, 4, 8 */
	for (unsigned class = 0; class < 4; class++)
		for (unsigned i = 0; i < 1u << class; i++) {
			struct spmu_record *r = stream_inst(&s, i, 0, 0, 10 + s.n);
			r->cpl = class & 1 ? 0 : 3;
			r->hw_thread = class >> 1 ? 5 : 0;	/* every thread but 0 is T1 */
		}
	for (uint32_t who = 0; who < 16; who++) {
		struct spmu *q = netburst_pmu(model, NULL);
		uint64_t want = (who & SPMU_ESCR_T0_USR ? 1 : 0) + (who & SPMU_ESCR_T0_OS ? 2
			: 0) + (who & SPMU_ESCR_T1_USR ? 4 : 0) +
			(who & SPMU_ESCR_T1_OS ? 8 : 0);
		nb_program(q, 12, "uops_retired.NBOGUS", who, 0);
		stream_send_all(&s, q);
		assert_int_equal(nb_count(q, 12), want);
		spmu_destroy(q);
	}
}

/* Table 18-67: a thread-independent event counts by where the threads are, not by whose it is. */
static void test_thread_independent_events_follow_the_states_of_both_threads(void **state)
{
	(void)state;
	/* cycles: 0-100 T0 user, T1 user; 100-200 T0 user, T1 kernel; 200-300
	 * T0 kernel, T1 kernel. One packed uop of T0 a stretch. */
	stream_cycles(&s, 0, 3, 0, 200);
	stream_cycles(&s, 0, 0, 200, 300);
	stream_cycles(&s, 1, 3, 0, 100);
	stream_cycles(&s, 1, 0, 100, 300);
	static const uint64_t at[] = { 50, 150, 250 };
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < 1u << i; k++) {	/* 1, 2, 4 uops */
			struct spmu_record *r = stream_inst(&s, i, SPMU_IS(FP_128_SINGLE), 0, at[i] + k);
			r->cpl = i == 2 ? 0 : 3;
		}
	for (uint32_t who = 0; who < 16; who++) {
		struct spmu *q = netburst_pmu(model, NULL);
		bool usr = who & 5, os = who & 10;
		uint64_t want = usr && os ? 7 : usr ? 1 + 2 : os ? 2 + 4 : 0;
		nb_program(q, 8, "packed_SP_uop.ALL", who, 0);
		stream_send_all(&s, q);
		if (nb_count(q, 8) != want)
			fail_msg("bits %x: %llu, not %llu", who, (unsigned long long)nb_count(q, 8),
				(unsigned long long)want);
		spmu_destroy(q);
	}
}

static void test_active_thread_modes_qualify_every_cycle(void **state)
{
	(void)state;
	/* T0 runs in cycles 0-100 and 200-250, T1 in 50-250; no thread runs in 250-300. */
	stream_cycles(&s, 0, 3, 0, 100);
	stream_cycles(&s, 0, 3, 200, 250);
	stream_cycles(&s, 1, 3, 50, 250);
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 10, 10, 1);	/* T0 alone */
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 60, 60, 2);	/* both */
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 210, 210, 4);	/* both */
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 150, 150, 8);	/* T1 alone */
	s.r[s.n - 1].hw_thread = 1;
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 260, 260, 16);	/* none */
	stream_signal(&s, SPMU_SIG_ITLB_STALL, 0, 300, 1);
	/* of the 16 of one clock the bus of four bits carries 15 */
	static const uint64_t want[4] = { 15, 8 + 1, 2 + 4, 1 + 2 + 4 + 8 + 15 };
	for (uint32_t mode = 0; mode < 4; mode++) {
		struct spmu *q = netburst_pmu(model, NULL);
		const struct spmu_event *e = fixture_event(model, "tc_ms_xfer.CISC");
		nb_write(q, MSR_MS_ESCR0, nb_escr(e, ALL_CLASSES));
		nb_write(q, NB_CCCR(4), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(mode));
		/* counts every cycle: with COMPLEMENT and threshold 15 all pass */
		nb_write(q, NB_CCCR(5), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(mode) | SPMU_CCCR_COMPARE |
			SPMU_CCCR_COMPLEMENT |
			SPMU_CCCR_THRESHOLD(15));
		stream_send_all(&s, q);
		static const uint64_t cycles[4] = { 51, 50 + 100, 50 + 50, 301 }; /* the last batch ends at cycle 301 */
		assert_int_equal(nb_count(q, 4), want[mode]);
		if (nb_count(q, 5) != cycles[mode])
			fail_msg("mode %u: %llu cycles", mode, (unsigned long long)nb_count(q, 5));
		spmu_destroy(q);
	}
}

static void test_thresholds_compare_the_increment_of_each_clock(void **state)
{
	(void)state;
	/* uops retired a clock: 0 (cycles 0-9), 1 (10), 2 (20), 3 (30), 4 (31), 3 (32), 20 (40); then none to 99. */
	static const struct { uint64_t cycle; unsigned uops; } rows[] = { { 10, 1 }, { 20, 2 }, { 30, 3 }, { 31, 4 },
		{ 32, 3 }, { 40, 20 } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned k = 0; k < rows[i].uops; k++)
			stream_inst(&s, i, 0, 0, rows[i].cycle);
	stream_cycles(&s, 0, 3, 0, 100);
	static const struct { uint32_t cccr; uint64_t count; } table[] = {
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(0), 6 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(1), 5 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(2), 4 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(3), 2 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(14), 1 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(15), 0 },	/* the increment has four bits: 15 at most */
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(0), 101 - 6 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(2), 101 - 4 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(14), 101 - 1 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(15), 101 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(2) | SPMU_CCCR_EDGE, 2 },	/* one edge: cycle 30 */
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(3) | SPMU_CCCR_EDGE, 2 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(0) | SPMU_CCCR_EDGE, 4 },
		{ SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(0) | SPMU_CCCR_EDGE, 5 },
		/* without COMPARE the other bits do nothing */
		{ SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(3), 33 },
		{ SPMU_CCCR_EDGE, 33 },
		{ SPMU_CCCR_THRESHOLD(15), 33 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu *q = netburst_pmu(model, NULL);
		nb_program(q, 13, "uops_retired.NBOGUS", T0, table[i].cccr);
		stream_send_all(&s, q);
		if (nb_count(q, 13) != table[i].count)
			fail_msg("CCCR bits %x: %llu, not %llu", table[i].cccr, (unsigned long long)nb_count(q, 13),
				(unsigned long long)table[i].count);
		spmu_destroy(q);
	}
}

static void test_bogus_increments_are_clipped_to_15_a_clock(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40; i++)
		stream_squashed(&s, 0, 50);
	stream_cycles(&s, 0, 3, 0, 100);
	nb_program(p, 12, "uops_retired.BOGUS", T0, 0);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 15);
}

/* Whatever a signal's records say: 20 that begin in one clock add 15 to every event that counts their beginnings. */
static void test_signals_are_clipped_to_15_a_clock(void **state)
{
	(void)state;
	unsigned rows = 0;
	for (size_t k = 0; k < model->rows; k++) {
		const struct pmu_row *row = &model->row[k];
		const struct spmu_event *e = &row->public;
		const struct pmu_term *t = &row->expr.term[0];
		const struct pmu_source *source = &model->source[t->source];
		if (!row->expr.terms || t->conds || !source->is_signal || source->form != FORM_BEGINS ||
			e->replay_enable || *e->upstream)
			continue;
		struct spmu *q = netburst_pmu(model, NULL);
		const unsigned pmc = (unsigned)__builtin_ctz((unsigned)e->pmc_mask);
		nb_program(q, pmc, e->name, T0, 0);
		s.n = 0;
		for (unsigned i = 0; i < 20; i++) {
			stream_signal(&s, source->signal, 50, 60, 1);
			s.r[s.n - 1].is = source->is_want;
		}
		stream_cycles(&s, 0, 3, 0, 100);
		stream_send_all(&s, q);
		if (nb_count(q, pmc) > 15)
			fail_msg("%s: %llu", e->name, (unsigned long long)nb_count(q, pmc));
		rows += nb_count(q, pmc) == 15;
		spmu_destroy(q);
	}
	assert_true(rows >= 2);		/* page walks */
}

/* Non-sleep clock ticks are counted with any event but no_event and threshold 15 with COMPLEMENT. Neither the
 * privilege level nor whether the thread runs matters. */
static void test_threshold_15_with_complement_counts_every_clock(void **state)
{
	(void)state;
	stream_cycles(&s, 0, 3, 0, 40);
	stream_inst(&s, 1, 0, 0, 39);
	stream_cycles(&s, 0, 0, 80, 100);	/* halted in between */
	const uint32_t every = SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT |
		SPMU_CCCR_THRESHOLD(15);
	static const struct { uint32_t escr0, escr1; uint64_t count; } table[] = {
		{ SPMU_ESCR_EVENT(2) | SPMU_ESCR_MASK(1) | T0, 0, 101 }, { SPMU_ESCR_EVENT(2) | SPMU_ESCR_MASK(1), 0,
		101 },
		{ SPMU_ESCR_EVENT(2) | SPMU_ESCR_T0_OS, 0, 101 }, { SPMU_ESCR_EVENT(63) | T0, 0, 101 },
		{ 0, SPMU_ESCR_EVENT(2), 101 },		/* an event in the pair's other ESCR suffices */
		{ 0, 0, 0 }, { SPMU_ESCR_MASK(0xffff) | T0, SPMU_ESCR_MASK(1), 0 },	/* no_event */
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu *q = netburst_pmu(model, NULL);
		nb_write(q, MSR_CRU_ESCR0, table[i].escr0);
		nb_write(q, MSR_CRU_ESCR1, table[i].escr1);
		nb_write(q, NB_CCCR(16), every | SPMU_CCCR_SELECT(4));
		stream_send_all(&s, q);
		if (nb_count(q, 16) != table[i].count)
			fail_msg("ESCRs %x %x: %llu", table[i].escr0, table[i].escr1, (unsigned long long)nb_count(q,
				16));
		spmu_destroy(q);
	}
}

/* The last uops retire in the cycle in which the clock stands still; it does not tick for them. */
static void test_clock_ticks_end_with_the_stream(void **state)
{
	(void)state;
	stream_inst(&s, 1, 0, 0, 50);
	stream_inst(&s, 2, 0, 0, 100);
	stream_cycles(&s, 0, 3, 0, 100);
	nb_program(p, 12, "uops_retired.NBOGUS", T0,
		SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(15));
	nb_program(p, 14, "uops_retired.NBOGUS", T0, 0);
	/* Linux's second event for cycles (p4_event_aliases): nothing is tagged */
	nb_write(p, MSR_CRU_ESCR2, SPMU_ESCR_EVENT(0x0c) | SPMU_ESCR_MASK(0xff) | T0);
	nb_write(p, NB_CCCR(13), SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_SELECT(5) | SPMU_CCCR_COMPARE |
		SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(15));
	stream_send(&s, 0, s.n, 0, 100, true, p);
	assert_int_equal(nb_count(p, 13), 100);
	assert_int_equal(nb_count(p, 12), 100);
	assert_int_equal(nb_count(p, 14), 2);
}

/* The trace cache of two threads: each mode counts the cycles in which both threads are in it. */
static void test_deliver_modes_of_two_threads(void **state)
{
	(void)state;
	static const struct { const char *event; uint64_t count; } modes[] = {
		{ "TC_deliver_mode.DD", 20 }, { "TC_deliver_mode.DB", 20 }, { "TC_deliver_mode.BD", 10 },
		{ "TC_deliver_mode.BB", 10 }, { "TC_deliver_mode.DI", 30 }, { "TC_deliver_mode.BI", 10 },
		{ "TC_deliver_mode.ID", 35 }, { "TC_deliver_mode.IB", 5 },
	};
	stream_cycles(&s, 0, 3, 0, 100);	/* builds in 30-60 */
	stream_signal(&s, SPMU_SIG_TC_BUILD, 30, 60, 1);
	stream_cycles(&s, 1, 3, 40, 140);	/* builds in 50-80 and 100-105 */
	stream_signal(&s, SPMU_SIG_TC_BUILD, 50, 80, 1);
	s.r[s.n - 1].hw_thread = 1;
	stream_signal(&s, SPMU_SIG_TC_BUILD, 100, 105, 1);
	s.r[s.n - 1].hw_thread = 1;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		struct spmu *q = netburst_pmu(model, NULL);
		nb_program(q, 4, modes[i].event, T0, 0);
		stream_send_all(&s, q);
		if (nb_count(q, 4) != modes[i].count)
			fail_msg("%s: %llu, not %llu", modes[i].event, (unsigned long long)nb_count(q, 4),
				(unsigned long long)modes[i].count);
		spmu_destroy(q);
	}
}

static void test_a_counter_whose_select_has_no_escr_stands_still(void **state)
{
	(void)state;
	const uint32_t every = SPMU_CCCR_ENABLE | SPMU_CCCR_ACTIVE(3) | SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT |
		SPMU_CCCR_THRESHOLD(15);
	for (uint32_t msr = 0x3a0; msr <= 0x3e1; msr++) {
		uint64_t v;
		if (spmu_rdmsr(p, msr, &v) == SPMU_OK)
			nb_write(p, msr, SPMU_ESCR_EVENT(63) | T0);
	}
	stream_cycles(&s, 0, 3, 0, 50);
	for (uint32_t n = 0; n < 18; n++)
		for (uint32_t select = 0; select < 8; select++) {
			nb_write(p, NB_COUNTER(n), 0);
			for (uint32_t k = 0; k < 18; k++)
				nb_write(p, NB_CCCR(k), k == n ? every | SPMU_CCCR_SELECT(select) : 0);
			struct spmu *q = p;
			uint64_t before = nb_count(q, n);
			stream_send_all(&s, q);
			assert_int_equal(before, 0);
			/* no cycle is new in a stream that is sent again, so the count stays; check `programmed` */
			bool wired = spmu_netburst_escr(model, n, select) != 0;
			assert_int_equal(q->counter[n].programmed, wired);
		}
}

static void test_switched_on_errata_behave_as_published(void **state)
{
	(void)state;
	struct spmu_host host = { .quirks = SPMU_QUIRK_NETBURST_BSQ_TWICE | SPMU_QUIRK_NETBURST_CCCR1_ENABLE };
	mixture();
	struct spmu *q = netburst_pmu(model, &host);
	nb_program(q, 0, "BSQ_cache_reference.RD_2ndL_MISS", T0, 0);
	nb_write(q, NB_CCCR(1), fixture_read(q, NB_CCCR(0)));
	nb_program(q, 2, "global_power_events.RUNNING", T0, 0);
	stream_send_all(&s, q);
	assert_int_equal(nb_count(q, 0), 8);
	assert_int_equal(nb_count(q, 1), 0);
	assert_int_equal(nb_count(q, 2), 300);
	spmu_destroy(q);
}

static void test_cycles_of_two_threads_count_once(void **state)
{
	(void)state;
	stream_cycles(&s, 0, 3, 0, 100);
	stream_cycles(&s, 1, 3, 50, 150);
	stream_cycles(&s, 0, 0, 100, 200);
	static const struct { uint32_t who; uint64_t count; } table[] = {
		{ SPMU_ESCR_T0_USR, 100 }, { SPMU_ESCR_T1_USR, 100 }, { SPMU_ESCR_T0_USR | SPMU_ESCR_T1_USR, 150 },
		{ T0, 200 },
		{ SPMU_ESCR_T0_OS | SPMU_ESCR_T1_USR, 150 }, { SPMU_ESCR_T0_OS | SPMU_ESCR_T1_OS, 100 }, { ALL_CLASSES,
		200 }, { 0, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu *q = netburst_pmu(model, NULL);
		nb_program(q, 0, "global_power_events.RUNNING", table[i].who, 0);
		stream_send_all(&s, q);
		if (nb_count(q, 0) != table[i].count)
			fail_msg("bits %x: %llu", table[i].who, (unsigned long long)nb_count(q, 0));
		spmu_destroy(q);
	}
}

/* The edge detector starts anew with a new filter or a new event. */
static void test_reprogramming_resets_the_edge_detector(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		struct spmu *q = netburst_pmu(model, NULL);
		const struct spmu_event *e = fixture_event(model, "uops_retired.NBOGUS");
		stream_free(&s);
		for (unsigned i = 0; i < 40; i++)	/* two a clock, without a gap */
			stream_inst(&s, i, 0, 0, 20 + i / 2);
		nb_program(q, 12, e->name, T0, SPMU_CCCR_COMPARE | SPMU_CCCR_EDGE);
		stream_send(&s, 0, 20, 0, 30, false, q);
		assert_int_equal(nb_count(q, 12), 1);
		if (way == 1)
			nb_write(q, NB_CCCR(12), fixture_read(q, NB_CCCR(12)) | SPMU_CCCR_THRESHOLD(1));
		if (way == 2)
			nb_write(q, MSR_CRU_ESCR0, nb_escr(e, T0 | SPMU_ESCR_TAG_ENABLE));
		stream_send(&s, 20, 40, 30, 100, true, q);
		assert_int_equal(nb_count(q, 12), way ? 2 : 1);
		spmu_destroy(q);
	}
}

/* @squash as a plain sum, which NetBurst's counters never form of it: an architectural table counts it here. */
static void test_squashed_uops_count_when_they_left_the_core(void **state)
{
	(void)state;
	char copy[] = "/tmp/softpmu-squash-XXXXXX", text[300] = "";
	FILE *out = fdopen(mkstemp(copy), "w");
	assert_non_null(out);
	fputs("@cpuid_0a 07300401 00000000 00000000 00000000\n@perf_capabilities 0\n@slots 1\n@tsc 1/1\n"
		"CYCLES\t3c\t00\t-\t0-3\t-\t-\tsig(CYCLES)\tCycles.\t-\n"
		"GONE\t01\t01\t-\t0-3\t-\t-\tuop(LOAD)@squash\tSquashed.\t-\n", out);
	fclose(out);
	struct spmu_model *m = NULL;
	int error = spmu_model_load(&m, copy, text, sizeof text);
	unlink(copy);
	if (error)
		fail_msg("%s", text);
	stream_squashed(&s, SPMU_IS(LOAD), 30);
	stream_squashed(&s, SPMU_IS(LOAD), PMU_NEVER);
	stream_squashed(&s, 0, 31);
	stream_inst(&s, 1, SPMU_IS(LOAD), 0, 40);
	struct spmu *q = NULL;
	assert_int_equal(spmu_create(&q, m, NULL), SPMU_OK);
	assert_int_equal(spmu_wrmsr(q, MSR_IA32_PERFEVTSEL0, 0x430101), SPMU_OK);
	assert_int_equal(spmu_wrmsr(q, MSR_IA32_PERFEVTSEL0 + 1, 0x1430101), SPMU_OK);
	stream_send_all(&s, q);
	assert_int_equal(fixture_read(q, MSR_IA32_PMC0), 1);
	assert_int_equal(fixture_read(q, MSR_IA32_PMC0 + 1), 1);
	spmu_destroy(q);
	spmu_model_free(m);
}

static void test_tags_and_squash_are_parsed(void **state)
{
	static const struct { const char *count; bool good; } table[] = {
		{ "uop(LOAD & tag(3))", true }, { "uop(LOAD & !tag(0,15))", true }, { "uop(tag(1) & !tag(2))@squash",
		true }, { "uop(!RETIRED)@squash", true },
		{ "uop(tag(16))", false }, { "uop(tag())", false }, { "uop(tag(1) & tag(2))", false },
		{ "uop(!tag(1) & !tag(2))", false },
		{ "uop(RETIRED)@squash", false }, { "uop(LOAD)@fetch:squash", false }, { "uop(LOAD)@squash:retire",
		false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct pmu_expr x;
		char text[200] = "";
		int error = pmu_expr_parse(model, &x, table[i].count, text, sizeof text);
		if (!error != table[i].good)
			fail_msg("%s: %s", table[i].count, text);
	}
}

/* Our cores do not report flushes of the trace cache. With a table for a core that reports them, the erratum counts
 * each flush twice. */
static void test_flushes_of_the_trace_cache_count_twice_by_erratum(void **state)
{
	(void)state;
	struct spmu_model *m =
		netburst_model("TC_misc.FLUSH\t06\t10\tescr=3c4/3c5,sel=1\t4-7\t-\t-\tsig(CLEAR_SMC)\tFlushes.\t-");
	stream_signal(&s, SPMU_SIG_CLEAR_SMC, 10, 10, 3);
	for (unsigned quirk = 0; quirk < 2; quirk++) {
		struct spmu_host host = { .quirks = quirk ? SPMU_QUIRK_NETBURST_TC_MISC_TWICE : 0 };
		struct spmu *q = netburst_pmu(m, &host);
		nb_program(q, 6, "TC_misc.FLUSH", T0, 0);
		stream_send_all(&s, q);
		assert_int_equal(nb_count(q, 6), quirk ? 6 : 3);
		spmu_destroy(q);
	}
	spmu_model_free(m);
}

static void test_registers_written_between_batches_change_what_is_counted(void **state)
{
	(void)state;
	const struct spmu_event *loads = fixture_event(model, "uop_type.TAGLOADS"), *stores = fixture_event(model,
		"uop_type.TAGSTORES");
	for (unsigned i = 0; i < 40; i++)
		stream_inst(&s, i, i & 1 ? SPMU_IS(STORE_ADDR) : SPMU_IS(LOAD), 0, 20 + i);
	nb_program(p, 12, "uop_type.TAGLOADS", T0, SPMU_CCCR_COMPARE);
	stream_send(&s, 0, 20, 0, 35, false, p);
	assert_int_equal(spmu_wrmsr(p, MSR_RAT_ESCR0, nb_escr(stores, T0)), SPMU_OK);
	stream_send(&s, 20, 40, 35, 100, true, p);
	assert_int_equal(nb_count(p, 12), 20);
	assert_int_equal(loads->event, stores->event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_event_counts_on_every_counter_that_can, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counts_do_not_depend_on_batches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mask_bits_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_branch_of_several_selected_types_counts_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_enable_closes_the_window, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_escr_on_the_other_side_is_not_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_privilege_and_thread_bits_qualify, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thread_independent_events_follow_the_states_of_both_threads, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_active_thread_modes_qualify_every_cycle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thresholds_compare_the_increment_of_each_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bogus_increments_are_clipped_to_15_a_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals_are_clipped_to_15_a_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threshold_15_with_complement_counts_every_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_ticks_end_with_the_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deliver_modes_of_two_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_counter_whose_select_has_no_escr_stands_still, setup, teardown),
		cmocka_unit_test_setup_teardown(test_switched_on_errata_behave_as_published, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cycles_of_two_threads_count_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reprogramming_resets_the_edge_detector, setup, teardown),
		cmocka_unit_test_setup_teardown(test_squashed_uops_count_when_they_left_the_core, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tags_and_squash_are_parsed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flushes_of_the_trace_cache_count_twice_by_erratum, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_registers_written_between_batches_change_what_is_counted, setup,
		teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
