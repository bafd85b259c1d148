/* SPDX-License-Identifier: GPL-2.0-or-later
 * PEBS: what a record says, format by format; load latency, precise store, front-end events.
 */
#include "pmu_ds_fixture.h"

/* ---- records ------------------------------------------------------------------------------------------------ */

static void test_each_format_has_its_length_and_fields(void **state)
{
	(void)state;
	static const struct { uint64_t capabilities; unsigned size; bool before; } rows[] = {
		{ 0x0c2, 144, false }, { 0x082, 144, true }, { 0x21c3, 176, false }, { 0x22c4, 192, false },
		{ 0x23c5, 200, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like("skylake", rows[i].capabilities);
		g->host.registers = guest_registers;
		struct spmu *p = sampler(g, m, 0, "MEM_LOAD_RETIRED.L2_HIT", 0, rows[i].size);
		struct stream s = { 0 };
		put_msr(p, MSR_IA32_PMC0, (uint32_t)-1);
		for (unsigned k = 0; k < 4; k++)
			stream_inst(&s, 0x1000 + 4 * k, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT),
				20 + k)->addr = 0x8000 + 64 * k;
		stream_send_all(&s, p);
		const uint64_t at = PEBS_BUFFER, ip = 0x1004;
		if (guest_records(g, rows[i].size) < 1 || (guest_u64(g, DS_AREA + 0x28) - at) % rows[i].size)
			fail_msg("row %zu: index %llx", i, (unsigned long long)guest_u64(g, DS_AREA + 0x28));
		assert_int_equal(guest_u64(g, at), 0x246);
		assert_int_equal(guest_u64(g, at + 8), ip + (rows[i].before ? 0 : 4));
		assert_int_equal(guest_u64(g, at + 0x10), ip | !rows[i].before);	/* RAX */
		static const unsigned order[15] = { 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
		for (unsigned k = 0; k < 15; k++)
			assert_int_equal(guest_u64(g, at + 0x18 + 8 * k), order[k] << 8);
		if (rows[i].size >= 176) {
			/* status: counter 0 overflowed; applicable: counter 0 */
			assert_int_equal(guest_u64(g, at + 0x90), 1);
			/* data address of precise events from Haswell on */
			assert_int_equal(guest_u64(g, at + 0x98), rows[i].size > 176 ? 0x8040 : 0);
			assert_int_equal(guest_u64(g, at + 0xa0), 0);
			assert_int_equal(guest_u64(g, at + 0xa8), 0);
		}
		if (rows[i].size >= 192) {
			assert_int_equal(guest_u64(g, at + 0xb0), ip);
			assert_int_equal(guest_u64(g, at + 0xb8), 0);
		}
		if (rows[i].size >= 200)
			assert_int_equal(guest_u64(g, at + 0xc0), 21);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

/* Another counter has overflowed before. Formats 1 and 2 record the global status, so its bit is set; from format 3 on
 * the field has the applicable counters, so it is not. */
static void test_status_or_applicable_counters_by_format(void **state)
{
	(void)state;
	static const struct { uint64_t capabilities, reads; unsigned size; } rows[] = { { 0x21c3, 5, 176 },
		{ 0x22c4, 5, 192 }, { 0x23c5, 1, 200 } };
	for (unsigned i = 0; i < 3; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like("skylake", rows[i].capabilities);
		struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, rows[i].size);
		struct stream s = { 0 };
		fixture_program(p, 2, "INST_RETIRED.ANY_P", 0);
		put_msr(p, MSR_IA32_PMC0 + 2, (uint32_t)-1);
		arm(p, 0, 2);
		stream_branches(&s, 4);
		stream_send_all(&s, p);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 0x90), rows[i].reads);
		assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 4);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

/* Checks, as kvm-unit-tests' x86/pmu_pebs.c does, the sizes and the format word for each configuration, with and
 * without Adaptive_Record. */
static void test_adaptive_records_hold_the_groups_selected(void **state)
{
	(void)state;
	for (unsigned cfg = 0; cfg < 16; cfg++)
		for (unsigned use = 0; use < 2; use++)
			for (unsigned counter = 0; counter < 12; counter++) {
				struct guest *g = guest_new();
				struct spmu_model *m = fixture_model("golden-cove");
				struct spmu *p = NULL;
				struct stream s = { 0 };
				g->host.registers = guest_registers;
				assert_int_equal(spmu_create(&p, m, &g->host), SPMU_OK);
				uint64_t data_cfg = cfg | (cfg & 8 ? UINT64_C(31) << 24 : 0),
					bit = UINT64_C(1) << (counter < 8 ? counter : counter + 24);
				unsigned size = 32 + (use && cfg & 1 ? 32 : 0) + (use && cfg & 2 ? 0x90 : 0) + (use &&
					cfg & 4 ? 256 : 0) + (use && cfg & 8 ? 32 * 24 : 0);
				put_msr(p, MSR_PEBS_DATA_CFG, data_cfg);
				guest_put(g, DS_AREA + 0x20, PEBS_BUFFER, 8);
				guest_put(g, DS_AREA + 0x28, PEBS_BUFFER, 8);
				guest_put(g, DS_AREA + 0x30, PEBS_BUFFER + 4096, 8);
				guest_put(g, DS_AREA + 0x38, PEBS_BUFFER + size, 8);
				if (counter < 8) {
					put_msr(p, MSR_IA32_PERFEVTSEL0 + counter, 0xc4 | USR_EN | (use
						? EVTSEL_ADAPTIVE : 0));
					put_msr(p, MSR_IA32_A_PMC0 + counter, PMU_COUNTER_MASK - 1);
				} else {
					put_msr(p, MSR_IA32_FIXED_CTR_CTRL, UINT64_C(0xb) << 4 * (counter - 8) |
						(uint64_t)use << (32 + 4 * (counter - 8)));
					put_msr(p, MSR_IA32_FIXED_CTR0 + counter - 8, PMU_COUNTER_MASK - 1);
				}
				put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
				put_msr(p, MSR_IA32_PEBS_ENABLE, bit);
				put_msr(p, MSR_IA32_PERF_GLOBAL_CTRL, bit);
				stream_branches(&s, 12);
				stream_signal(&s, SPMU_SIG_CYCLES, 5, 50, 1);
				stream_send_all(&s, p);
				put_msr(p, MSR_IA32_PERF_GLOBAL_CTRL, 0);
				uint64_t format = guest_u64(g, PEBS_BUFFER);
				if (!(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS) & OVF_DS_BUFFER) ||
					format >> 48 != size ||
				    (format & 0xffffffffffff) != (use ? data_cfg : 0) ||
				    guest_u64(g, PEBS_BUFFER + 16) != bit ||
				    guest_u64(g, DS_AREA + 0x28) != PEBS_BUFFER + size)
					fail_msg("configuration %x, adaptive %u, counter %u: format %llx, counters "
						"%llx, index %llx", cfg, use, counter,
						(unsigned long long)format, (unsigned long long)guest_u64(g,
						PEBS_BUFFER + 16),
						(unsigned long long)guest_u64(g, DS_AREA + 0x28));
				for (unsigned k = 0; use && cfg & 8 && k < 32 * 24; k++) /* LBRs are off: empty */
					assert_int_equal(g->memory[PEBS_BUFFER + size - 1 - k], 0);
				stream_free(&s);
				spmu_destroy(p);
				spmu_model_free(m);
				free(g);
			}
}

static void test_adaptive_groups_have_their_order(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("golden-cove");
	g->host.registers = guest_registers;
	struct spmu *p = sampler(g, m, 1, "MEM_LOAD_RETIRED.L2_HIT", EVTSEL_ADAPTIVE, 32 + 32 + 0x90 + 0x100 + 4 * 24);
	struct stream s = { 0 };
	put_msr(p, MSR_PEBS_DATA_CFG, 0x0300000f);
	put_msr(p, MSR_IA32_LBR_CTL, 0x7f0007);
	arm(p, 1, 1);
	stream_branch(&s, 0x900, 0xa00, 0, 0, 10);
	stream_branch(&s, 0xa00, 0x1000, 0, SPMU_DID(MISPREDICTED), 12);
	for (unsigned k = 0; k < 3; k++) {
		struct spmu_record *r = stream_inst(&s, 0x1000 + 4 * k, SPMU_IS(LOAD) | SPMU_IS(LOCK),
			SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT) | SPMU_DID(STLB_MISS), 40 + k);
		r->addr = 0x8000 + 64 * k;
		s.at[s.n - 1][3] = 20;		/* dispatch */
		s.at[s.n - 1][4] = 35;		/* complete */
	}
	stream_send_all(&s, p);
	uint64_t at = PEBS_BUFFER;
	assert_int_equal(guest_u64(g, at), 0x0300000f | (uint64_t)(32 + 32 + 0x90 + 0x100 + 4 * 24) << 48);
	assert_int_equal(guest_u64(g, at + 8), 0x1004);
	assert_int_equal(guest_u64(g, at + 16), 2);
	assert_int_equal(guest_u64(g, at + 24), 41);
	at += 32;
	assert_int_equal(guest_u64(g, at), 0x8040);
	assert_int_equal(guest_u64(g, at + 8), 3 | 1 << 4 | 1 << 5);
	assert_int_equal(guest_u64(g, at + 16), 21 | UINT64_C(15) << 32); /* dispatch to retirement, to completion */
	assert_int_equal(guest_u64(g, at + 24), 0);
	at += 32;
	assert_int_equal(guest_u64(g, at), 0x246);
	assert_int_equal(guest_u64(g, at + 8), 0x1008);
	assert_int_equal(guest_u64(g, at + 16), 0x1005);
	for (unsigned k = 1; k < 16; k++)	/* RCX, RDX, RBX, RSP, ... */
		assert_int_equal(guest_u64(g, at + 16 + 8 * k), k << 8);
	at += 0x90;
	for (unsigned k = 0; k < 16; k++) {
		assert_int_equal(guest_u64(g, at + 16 * k), 0x1000 + k);
		assert_int_equal(guest_u64(g, at + 16 * k + 8), 0x2000 + k);
	}
	at += 0x100;
	assert_int_equal(guest_u64(g, at), 0xa00);	/* newest first */
	assert_int_equal(guest_u64(g, at + 8), 0x1000);
	assert_int_equal(guest_u64(g, at + 16) >> 63, 1);
	assert_int_equal(guest_u64(g, at + 24), 0x900);
	assert_int_equal(guest_u64(g, at + 72), 0);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_the_lbr_group_of_a_ring_is_newest_first(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = model_like("ice-lake", 0xe4c5);
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", EVTSEL_ADAPTIVE, 32 + 40 * 24);
	struct stream s = { 0 };
	put_msr(p, MSR_PEBS_DATA_CFG, UINT64_C(39) << 24 | 8);	/* more than there are */
	put_msr(p, MSR_IA32_DEBUGCTL, 1);
	arm(p, 0, 35);
	for (unsigned k = 0; k < 50; k++)
		stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, 0, 0, 11 + 2 * k);
	stream_send_all(&s, p);
	assert_int_equal(guest_u64(g, DS_AREA + 0x28), PEBS_BUFFER + 32 + 40 * 24);
	for (unsigned k = 0; k < 40; k++) {
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 32 + 24 * k), k < 32 ? 0x1000 + 8 * (34 - k) : 0);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 32 + 24 * k + 16), k < 32 ? 2 : 0);
	}
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_a_record_that_the_guest_has_taken_is_left_alone(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = sampler(g, m, 0, "MEM_LOAD_RETIRED.L2_HIT", 0, 200);
	struct stream s = { 0 };
	arm(p, 0, 1);
	for (unsigned k = 0; k < 2; k++)
		stream_inst(&s, 0x1000 + 5 * k, SPMU_IS(LOAD), SPMU_DID(L2_HIT), 20 + k);
	stream_send(&s, 0, 2, 0, 20, false, p);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), 0x1005);
	guest_put(g, PEBS_BUFFER + 8, 77, 8);
	stream_send(&s, 0, 1, 0, 21, true, p);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), 77);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_behind_a_taken_branch_rip_is_where_it_went(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, 200);
	struct stream s = { 0 };
	arm(p, 0, 1);
	stream_branches(&s, 2);
	s.r[3].addr = 0x777;
	stream_send_all(&s, p);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), 0x777);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_older_areas_have_their_counter_reset_at_20h(void **state)
{
	(void)state;
	for (unsigned wide = 0; wide < 2; wide++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("netburst-prescott");
		struct spmu *p = NULL;
		uint64_t v = 0;
		g->host.mode64 = wide;
		assert_int_equal(spmu_create(&p, m, &g->host), SPMU_OK);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		guest_put(g, DS_AREA + 0x20, UINT64_C(0x1122334455), 8);
		guest_put(g, DS_AREA + 0x40, UINT64_C(0x6677889900), 8);
		assert_true(pmu_ds_counter_reset(p, 16, &v));
		assert_int_equal(v, wide ? UINT64_C(0x6677889900) : UINT64_C(0x1122334455));
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_without_registers_rip_is_the_next_instruction_also_of_the_next_batch(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = sampler(g, m, 0, "MEM_LOAD_RETIRED.L2_HIT", 0, 200);
	struct stream s = { 0 };
	guest_put(g, DS_AREA + 0x40, PMU_COUNTER_MASK, 8);
	arm(p, 0, 1);
	for (unsigned k = 0; k < 4; k++)
		stream_inst(&s, 0x1000 + 5 * k, SPMU_IS(LOAD), SPMU_DID(L2_HIT), 20 + k);
	stream_send(&s, 0, 4, 0, 20, false, p);		/* records: 1, 3 */
	assert_int_equal(guest_records(g, 200), 2);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), 0x100a);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 200 + 8), 0x100f);	/* next not known yet: its own */
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0x10), 0);
	stream_free(&s);
	stream_inst(&s, 0x1014, 0, 0, 30);
	stream_send(&s, 0, 1, 20, 31, true, p);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 200 + 8), 0x1014);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 200 + 0xb0), 0x100f);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static void test_load_latency_counts_and_records_loads_above_the_threshold(void **state)
{
	(void)state;
	static const struct { const char *name; uint64_t capabilities, evtsel, enable; unsigned pmc, source; } rows[] =
		{
		{ "nehalem", 0x1c3, 0x100b, UINT64_C(0x400000004), 2, 0xc },
		{ "skylake", 0x23c5, 0x01cd, UINT64_C(0x400000004), 2, 0xa | 1 << 4 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like(rows[i].name, rows[i].capabilities);
		struct spmu *p = fixture_pmu(m, &g->host);
		struct stream s = { 0 };
		guest_pebs(g, i ? 200 : 176, 10, 10);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		put_msr(p, MSR_PEBS_LD_LAT_THRESHOLD, 50);
		put_msr(p, MSR_IA32_PERFEVTSEL0 + rows[i].pmc, rows[i].evtsel | USR_EN);
		for (unsigned on = 0; on < 2; on++) {
			put_msr(p, MSR_IA32_PEBS_ENABLE, on ? rows[i].enable : 4);
			put_msr(p, MSR_IA32_PMC0 + rows[i].pmc, on ? (uint32_t)-3 : 0);
			guest_put(g, DS_AREA + 0x40 + 8 * rows[i].pmc, 0, 8);
			for (unsigned k = 0; k < 12; k++) {	/* latencies 46 to 57: 51 to 57 count */
				struct spmu_record *r = stream_inst(&s, 0x1000 + 4 * k, SPMU_IS(LOAD),
					SPMU_DID(L3_MISS) | SPMU_DID(STLB_MISS), 2000 * on + 200 + k);
				r->addr = 0x8000 + k;
				s.at[s.n - 1][3] = 2000 * on + 100;
				s.at[s.n - 1][4] = 2000 * on + 100 + 46 + k;
			}
			stream_send(&s, 0, s.n, 0, 2000 * on + 300, false, p);
			if (!on)
				assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + rows[i].pmc), 0); /* not switched on */
			stream_free(&s);
		}
		uint64_t at = PEBS_BUFFER;	/* the third of seven overflows, the fourth triggers */
		assert_int_equal(guest_records(g, i ? 200 : 176), 1);
		assert_int_equal(guest_u64(g, at + 0x98), 0x8000 + 8);
		assert_int_equal(guest_u64(g, at + 0xa0), rows[i].source);
		assert_int_equal(guest_u64(g, at + 0xa8), 54);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + rows[i].pmc), 3);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_from_ice_lake_on_load_latency_needs_no_bit_of_its_own(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = fixture_pmu(m, &g->host);
	struct stream s = { 0 };
	guest_pebs(g, 64, 10, 10);
	put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
	put_msr(p, MSR_PEBS_LD_LAT_THRESHOLD, 0);	/* a threshold below 3 acts as 3 */
	put_msr(p, MSR_PEBS_DATA_CFG, 1);
	put_msr(p, MSR_IA32_PERFEVTSEL0 + 2, 0x01cd | USR_EN | EVTSEL_ADAPTIVE);
	put_msr(p, MSR_IA32_PEBS_ENABLE, 4);
	arm(p, 2, 1);
	/* latencies 1 1 2 2 3 3 4 4; prefetches have long latencies, but do not count as loads */
	for (unsigned k = 0; k < 8; k++) {
		struct spmu_record *r = stream_inst(&s, 0x1000 + 4 * k, SPMU_IS(LOAD), SPMU_DID(L1D_HIT), 200 + 2 * k);
		r->addr = 0x8000 + k;
		s.at[s.n - 1][3] = 100;
		s.at[s.n - 1][4] = 101 + k / 2;
		stream_inst(&s, 0x2000, SPMU_IS(LOAD) | SPMU_IS(PREFETCH_SW), 0, 201 + 2 * k);
		s.at[s.n - 1][3] = 100;
		s.at[s.n - 1][4] = 190;
	}
	stream_send_all(&s, p);
	assert_int_equal(guest_records(g, 64), 1);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), 0x101c);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 32), 0x8007);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 40), 1);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 48), 114 | UINT64_C(4) << 32);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_store_samples_of_golden_cove_say_where_the_line_was(void **state)
{
	(void)state;
	static const struct { unsigned event; uint64_t did; unsigned source; } rows[] = {
		{ 0x02cd, 0, 1 },
		{ 0x02cd, SPMU_DID(STORE_L1D_MISS) | SPMU_DID(STORE_L2_HIT), 3 },
		{ 0x02cd, SPMU_DID(STORE_L1D_MISS) | SPMU_DID(STORE_L3_HIT), 4 },
		{ 0x02cd, SPMU_DID(STORE_L1D_MISS) | SPMU_DID(STORE_L3_HIT) | SPMU_DID(STORE_HITM), 7 },
		{ 0x02cd, SPMU_DID(STORE_L1D_MISS), 0xa },
		{ 0x82d0, 0, 1 },	/* others have but the bit of L1D */
		{ 0x82d0, SPMU_DID(STORE_L1D_MISS) | SPMU_DID(STORE_L2_HIT), 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("golden-cove");
		struct spmu *p = fixture_pmu(m, &g->host);
		struct stream s = { 0 };
		guest_pebs(g, 64, 10, 10);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		put_msr(p, MSR_PEBS_DATA_CFG, 1);
		put_msr(p, MSR_IA32_PERFEVTSEL0, rows[i].event | USR_EN | EVTSEL_ADAPTIVE);
		put_msr(p, MSR_IA32_PEBS_ENABLE, 1);
		arm(p, 0, 1);
		for (unsigned k = 0; k < 4; k++)
			stream_inst(&s, 0x1000 + 4 * k, SPMU_IS(STORE_ADDR), rows[i].did, 200 + 2 * k)->addr = 0x8000;
		stream_send_all(&s, p);
		assert_int_equal(guest_records(g, 64), 1);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 40), rows[i].source);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_precise_store_wants_its_bit(void **state)
{
	(void)state;
	for (unsigned on = 0; on < 2; on++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like("sandy-bridge", 0x21c3);
		struct spmu *p = fixture_pmu(m, &g->host);
		struct stream s = { 0 };
		guest_pebs(g, 176, 10, 10);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		put_msr(p, MSR_IA32_PERFEVTSEL0 + 3, 0x02cd | USR_EN);
		put_msr(p, MSR_IA32_PEBS_ENABLE, (uint64_t)on << 63 | 8);
		put_msr(p, MSR_IA32_PMC0 + 3, (uint32_t)-1);
		for (unsigned k = 0; k < 4; k++)
			stream_inst(&s, 0x1000 + 4 * k, SPMU_IS(STORE_ADDR), 0, 20 + k)->addr = 0x8000;
		stream_send_all(&s, p);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 0x98), on ? 0x8000 : 0);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_a_store_says_no_more_than_its_l1d_bit_where_latency_is_not_sampled(void **state)
{
	(void)state;
	static const struct { uint64_t capabilities, source; unsigned size; } rows[] = { { 0x23c5, 1, 200 },
		{ 0xe5ff, 0x31, 64 } };
	for (unsigned i = 0; i < 2; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like(i ? "golden-cove" : "skylake", rows[i].capabilities);
		struct spmu *p = sampler(g, m, 1, "MEM_INST_RETIRED.ALL_STORES", i ? EVTSEL_ADAPTIVE : 0, rows[i].size);
		struct stream s = { 0 };
		if (i)
			put_msr(p, MSR_PEBS_DATA_CFG, 1);
		arm(p, 1, 1);
		for (unsigned k = 0; k < 2; k++)
			stream_inst(&s, 0x1000, SPMU_IS(STORE_ADDR) | SPMU_IS(LOCK), SPMU_DID(STLB_MISS),
				20 + k)->addr = 0x8000 + 64 * k;
		/* misses of the first store, and of another instruction at the second store's address */
		for (unsigned k = 0; k < 2; k++) {
			stream_signal(&s, SPMU_SIG_STORE_L1D_MISS, 30, 30, 1);
			s.r[s.n - 1].ip = 0x1000 + k;
			s.r[s.n - 1].addr = 0x8000 + 64 * k;
		}
		stream_send_all(&s, p);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + (i ? 32 : 0x98)), 0x8040);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + (i ? 40 : 0xa0)), rows[i].source);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_precise_store_records_where_it_went_and_whether_it_hit(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = model_like("sandy-bridge", 0x21c3);
	struct spmu *p = fixture_pmu(m, &g->host);
	struct stream s = { 0 };
	guest_pebs(g, 176, 10, 10);
	put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
	put_msr(p, MSR_IA32_PERFEVTSEL0 + 3, 0x02cd | USR_EN);
	put_msr(p, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 63 | 8);
	guest_put(g, DS_AREA + 0x40 + 24, PMU_COUNTER_MASK, 8);
	put_msr(p, MSR_IA32_PMC0 + 3, (uint32_t)-1);
	for (unsigned k = 0; k < 4; k++)
		stream_inst(&s, 0x1000 + 4 * k, SPMU_IS(STORE_ADDR), k == 3 ? SPMU_DID(STLB_MISS) : 0, 20 + k)->addr =
			0x8000 + 8 * k;
	stream_signal(&s, SPMU_SIG_STORE_L1D_MISS, 30, 30, 1);
	s.r[s.n - 1].ip = 0x1004;
	s.r[s.n - 1].addr = 0x8008;
	stream_send_all(&s, p);
	assert_int_equal(guest_records(g, 176), 2);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0x98), 0x8008);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0xa0), 0);		/* missed */
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 176 + 0x98), 0x8018);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 176 + 0xa0), 0x11);	/* hit L1D, missed the STLB */
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_data_source_is_where_the_load_was_served(void **state)
{
	(void)state;
	static const struct { uint64_t did; unsigned source; } rows[] = {
		{ SPMU_DID(L1D_HIT), 1 }, { SPMU_DID(LFB_HIT), 2 }, { SPMU_DID(L1D_MISS) | SPMU_DID(L2_HIT), 3 },
		{ SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_HIT), 4 },
		{ SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_HIT) | SPMU_DID(SNOOP_HIT), 5 },
		{ SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_HIT) | SPMU_DID(SNOOP_HITM), 7 },
		{ SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(L3_MISS), 0xa },
		{ SPMU_DID(FORWARDED), 1 }, { 0, 0 }, { SPMU_DID(L1D_HIT) | SPMU_DID(STLB_MISS), 0x11 },
		{ SPMU_DID(L1D_HIT) | SPMU_DID(FORWARD_BLOCKED), 0x41 }, { SPMU_DID(L1D_HIT) | SPMU_DID(ALIAS_4K),
		0x81 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("golden-cove");
		struct spmu *p = sampler(g, m, 1, "MEM_INST_RETIRED.ALL_LOADS", EVTSEL_ADAPTIVE, 64);
		struct stream s = { 0 };
		put_msr(p, MSR_PEBS_DATA_CFG, 1);
		arm(p, 1, 1);
		stream_inst(&s, 0x1000, SPMU_IS(LOAD), SPMU_DID(L1D_HIT), 20);
		stream_inst(&s, 0x1004, SPMU_IS(LOAD), rows[i].did, 21);
		stream_send_all(&s, p);
		assert_int_equal(guest_records(g, 64), 1);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 40), rows[i].source);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_front_end_events_count_what_the_register_names(void **state)
{
	(void)state;
	static const struct { uint64_t frontend; unsigned count; } rows[] = {
		{ 0x11, 2 }, { 0x12, 1 }, { 0x14, 1 }, { 0x13, 0 }, { 0, 0 }, { 0x400206, 1 }, { 0x100206, 2 },
		{ 0x400806, 0 },
		{ 0x400306, 1 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("skylake");
		struct spmu *p = fixture_pmu(m, &g->host);
		struct stream s = { 0 };
		put_msr(p, MSR_PEBS_FRONTEND, rows[i].frontend);
		put_msr(p, MSR_IA32_PERFEVTSEL0, 0x01c6 | USR_EN);
		stream_inst(&s, 0x1000, 0, SPMU_DID(FROM_DSB), 20);
		stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, 18, 19, 4);	/* one stretch of three cycles in two pieces */
		stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, 19, 21, 4);
		stream_inst(&s, 0x1004, 0, SPMU_DID(FROM_MITE) | SPMU_DID(ICACHE_MISS), 25);	/* allocated at 21 */
		stream_inst(&s, 0x1008, 0, SPMU_DID(FROM_MITE) | SPMU_DID(ITLB_MISS_F), 27);
		stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, 25, 28, 1);
		stream_inst(&s, 0x100c, 0, SPMU_DID(FROM_DSB), 33);
		stream_send_all(&s, p);
		if (fixture_read(p, MSR_IA32_PMC0) != rows[i].count)
			fail_msg("MSR_PEBS_FRONTEND %llx: %llu, expected %u", (unsigned long long)rows[i].frontend,
				(unsigned long long)fixture_read(p, MSR_IA32_PMC0), rows[i].count);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

/* Golden Cove's register names further events. Stretches of empty slots may begin in one batch and end in another:
 * the stream is cut after each record. */
static void test_front_end_events_of_golden_cove_and_across_batches(void **state)
{
	(void)state;
	static const struct { uint64_t frontend; unsigned count; } rows[] = {
		{ 0x01, 3 }, { 0x11, 1 }, { 0x13, 1 }, { 0x15, 1 }, { 0x17, 1 }, { 0x08, 1 }, { 0x500106, 1 },
		{ 0x500506, 1 }, { 0x500606, 0 }, { 0x100106, 2 },
	};
	for (size_t cut = 1; cut <= 9; cut += 4)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			struct guest *g = guest_new();
			struct spmu_model *m = fixture_model("golden-cove");
			struct spmu *p = fixture_pmu(m, &g->host);
			struct stream s = { 0 };
			put_msr(p, MSR_PEBS_FRONTEND, rows[i].frontend);
			put_msr(p, MSR_IA32_PERFEVTSEL0, 0x01c6 | USR_EN);
			stream_inst(&s, 0x1000, 0, SPMU_DID(FROM_MITE) | SPMU_DID(ICACHE_MISS) |
				SPMU_DID(FETCH_L2_MISS), 12);
			stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, 16, 19, 5);	/* one stretch of five cycles */
			stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, 19, 21, 5);
			/* allocated at 21 */
			stream_inst(&s, 0x1004, 0, SPMU_DID(FROM_MITE) | SPMU_DID(ITLB_MISS_F) |
				SPMU_DID(FETCH_STLB_MISS), 25);
			stream_inst(&s, 0x1008, SPMU_IS(BRANCH), SPMU_DID(FROM_MITE) | SPMU_DID(BTB_MISS), 25);
			stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, 28, 29, 2);
			stream_inst(&s, 0x100c, 0, SPMU_DID(FROM_DSB), 33);
			stream_inst(&s, 0x1010, 0, SPMU_DID(FROM_MS), 34);
			stream_send_cut(&s, p, cut, cut);
			if (fixture_read(p, MSR_IA32_PMC0) != rows[i].count)
				fail_msg("cut %zu, MSR_PEBS_FRONTEND %llx: %llu, expected %u", cut,
					(unsigned long long)rows[i].frontend,
					(unsigned long long)fixture_read(p, MSR_IA32_PMC0), rows[i].count);
			stream_free(&s);
			spmu_destroy(p);
			spmu_model_free(m);
			free(g);
		}
}

/* Three slots of each cycle from 12 to 15 stay empty, and an instruction is allocated in each cycle. Those at 14, 15
 * and 16 have two such cycles before them, wherever batches end. */
static void test_stretches_with_instructions_within_are_the_same_in_all_batches(void **state)
{
	(void)state;
	for (size_t cut = 1; cut <= 10; cut++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("skylake");
		struct spmu *p = fixture_pmu(m, &g->host);
		struct stream s = { 0 };
		put_msr(p, MSR_PEBS_FRONTEND, 0x300206);
		put_msr(p, MSR_IA32_PERFEVTSEL0, 0x01c6 | USR_EN);
		for (uint32_t cycle = 12; cycle < 18; cycle++) {
			if (cycle > 12 && cycle <= 16)
				stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, cycle - 1, cycle, 3);
			stream_inst(&s, 0x1000 + 4 * cycle, 0, SPMU_DID(FROM_DSB), cycle + 4);
		}
		stream_send_cut(&s, p, cut, cut);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 3);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretches_with_instructions_within_are_the_same_in_all_batches),
		cmocka_unit_test(test_front_end_events_of_golden_cove_and_across_batches),
		cmocka_unit_test(test_each_format_has_its_length_and_fields),
		cmocka_unit_test(test_status_or_applicable_counters_by_format),
		cmocka_unit_test(test_the_lbr_group_of_a_ring_is_newest_first),
		cmocka_unit_test(test_a_record_that_the_guest_has_taken_is_left_alone),
		cmocka_unit_test(test_behind_a_taken_branch_rip_is_where_it_went),
		cmocka_unit_test(test_older_areas_have_their_counter_reset_at_20h),
		cmocka_unit_test(test_adaptive_records_hold_the_groups_selected),
		cmocka_unit_test(test_adaptive_groups_have_their_order),
		cmocka_unit_test(test_without_registers_rip_is_the_next_instruction_also_of_the_next_batch),
		cmocka_unit_test(test_load_latency_counts_and_records_loads_above_the_threshold),
		cmocka_unit_test(test_precise_store_records_where_it_went_and_whether_it_hit),
		cmocka_unit_test(test_from_ice_lake_on_load_latency_needs_no_bit_of_its_own),
		cmocka_unit_test(test_precise_store_wants_its_bit),
		cmocka_unit_test(test_store_samples_of_golden_cove_say_where_the_line_was),
		cmocka_unit_test(test_a_store_says_no_more_than_its_l1d_bit_where_latency_is_not_sampled),
		cmocka_unit_test(test_data_source_is_where_the_load_was_served),
		cmocka_unit_test(test_front_end_events_count_what_the_register_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
