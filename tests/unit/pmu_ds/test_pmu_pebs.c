/* SPDX-License-Identifier: GPL-2.0-or-later
 * PEBS: its registers, which event is sampled, and how counter, status and buffer change.
 */
#include "pmu_ds_fixture.h"

/* ---- registers ---------------------------------------------------------------------------------------------- */

static void test_registers_take_or_fault_by_generation(void **state)
{
	(void)state;
	static const struct { const char *name; uint64_t capabilities; uint32_t msr; uint64_t value; int outcome;
		} rows[] = {
		{ "core2", 0xc2, MSR_IA32_PEBS_ENABLE, 1, SPMU_OK },
		{ "core2", 0xc2, MSR_IA32_PEBS_ENABLE, 2, SPMU_GP },
		{ "core2", 0xc2, MSR_PEBS_LD_LAT_THRESHOLD, 3, SPMU_ENOMSR },
		{ "nehalem", 0x1c3, MSR_IA32_PEBS_ENABLE, 0xf0000000f, SPMU_OK },
		{ "nehalem", 0x1c3, MSR_IA32_PEBS_ENABLE, 0x10, SPMU_GP },
		{ "nehalem", 0x1c3, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 63, SPMU_GP },
		{ "nehalem", 0x1c3, MSR_PEBS_LD_LAT_THRESHOLD, 0xffff, SPMU_OK },
		{ "nehalem", 0x1c3, MSR_PEBS_LD_LAT_THRESHOLD, 0x10000, SPMU_GP },
		{ "nehalem", 0x1c3, MSR_PEBS_FRONTEND, 0, SPMU_ENOMSR },
		{ "nehalem", 0x21c3, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 63 | 8, SPMU_OK },	/* as Sandy Bridge */
		{ "skylake", 0x22c4, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 63, SPMU_GP },		/* as Haswell */
		{ "skylake", 0x23c5, MSR_IA32_PEBS_ENABLE, 0xf0000000f, SPMU_OK },
		{ "skylake", 0x23c5, MSR_IA32_PEBS_ENABLE, 0x10, SPMU_GP },
		{ "skylake", 0x23c5, MSR_PEBS_FRONTEND, 0x7fff17, SPMU_OK },
		{ "skylake", 0x23c5, MSR_PEBS_FRONTEND, 8, SPMU_GP },
		{ "skylake", 0x23c5, MSR_PEBS_DATA_CFG, 0, SPMU_ENOMSR },
		{ "skylake", 0x23c5, MSR_RELOAD_PMC0, 0, SPMU_ENOMSR },
		{ "golden-cove", 0xe5ff, MSR_IA32_PEBS_ENABLE, 0xf000000ff, SPMU_OK },
		{ "golden-cove", 0xe5ff, MSR_IA32_PEBS_ENABLE, 0x100, SPMU_GP },
		{ "golden-cove", 0xe5ff, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 36, SPMU_GP },
		{ "golden-cove", 0xe5ff, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 61, SPMU_GP },
		{ "golden-cove", 0x1e5ff, MSR_IA32_PEBS_ENABLE, UINT64_C(3) << 60 | 1, SPMU_OK },
		{ "golden-cove", 0x1e5ff, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 62, SPMU_GP },	/* output select 2 */
		{ "golden-cove", 0xe5ff, MSR_PEBS_DATA_CFG, 0xff00000f, SPMU_OK },
		{ "golden-cove", 0xe5ff, MSR_PEBS_DATA_CFG, 0x10, SPMU_GP },
		{ "golden-cove", 0xe5ff, MSR_PEBS_DATA_CFG, UINT64_C(1) << 32, SPMU_GP },
		{ "golden-cove", 0xe5ff, MSR_PEBS_FRONTEND, 0x7fff1f, SPMU_OK },
		{ "golden-cove", 0xe5ff, MSR_PEBS_FRONTEND, 0x800000, SPMU_GP },
		{ "golden-cove", 0xe5ff, MSR_RELOAD_PMC0, 0, SPMU_ENOMSR },
		{ "golden-cove", 0x1e5ff, MSR_RELOAD_PMC0 + 7, PMU_COUNTER_MASK, SPMU_OK },
		{ "golden-cove", 0x1e5ff, MSR_RELOAD_PMC0 + 7, PMU_COUNTER_MASK + 1, SPMU_GP },
		{ "golden-cove", 0x1e5ff, MSR_RELOAD_PMC0 + 8, 0, SPMU_ENOMSR },
		{ "golden-cove", 0x1e5ff, MSR_RELOAD_FIXED_CTR0 + 3, 5, SPMU_OK },
		{ "golden-cove", 0x1e5ff, MSR_RELOAD_FIXED_CTR0 + 4, 5, SPMU_ENOMSR },
		{ "skylake", 0x23c5, MSR_IA32_DS_AREA, UINT64_C(0x7fffffffffff), SPMU_OK },
		{ "skylake", 0x23c5, MSR_IA32_DS_AREA, UINT64_C(0xffff800000000000), SPMU_OK },
		{ "skylake", 0x23c5, MSR_IA32_DS_AREA, UINT64_C(0x800000000000), SPMU_GP },
		{ "yonah", 0, MSR_IA32_PEBS_ENABLE, 0, SPMU_ENOMSR },
		{ "yonah", 0, MSR_IA32_DS_AREA, 0x1000, SPMU_OK },
		{ "p6", 0, MSR_IA32_DS_AREA, 0, SPMU_ENOMSR },
		{ "p6", 0, MSR_IA32_MISC_ENABLE, 0, SPMU_ENOMSR },
		{ "p5", 0, MSR_IA32_DS_AREA, 0, SPMU_ENOMSR },
		{ "netburst", 0, MSR_IA32_DS_AREA, 0x1000, SPMU_OK },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like(rows[i].name, rows[i].capabilities);
		struct spmu *p = NULL;
		uint64_t before = 0, after = 0;
		assert_int_equal(spmu_create(&p, m, &g->host), SPMU_OK);
		int readable = spmu_rdmsr(p, rows[i].msr, &before), outcome = spmu_wrmsr(p, rows[i].msr, rows[i].value);
		if (outcome != rows[i].outcome)
			fail_msg("row %zu: %s, WRMSR %x, %llx: %d, expected %d", i, rows[i].name, rows[i].msr,
				(unsigned long long)rows[i].value, outcome, rows[i].outcome);
		assert_int_equal(spmu_rdmsr(p, rows[i].msr, &after), readable);
		assert_int_equal(readable, outcome == SPMU_ENOMSR ? SPMU_ENOMSR : SPMU_OK);
		assert_int_equal(after, outcome == SPMU_OK ? rows[i].value : before);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_misc_enable_says_what_the_host_gives(void **state)
{
	(void)state;
	static const struct { const char *name; bool memory; uint64_t reads; } rows[] = {
		{ "skylake", true, 0x81 }, { "skylake", false, 0x1881 }, { "netburst", true, 0x81 },
		{ "netburst", false, 0x1881 },
		{ "yonah", true, 0x1080 }, { "core2", true, 0x81 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model(rows[i].name);
		struct spmu *p = NULL;
		if (!rows[i].memory)
			g->host.write_memory = NULL;
		assert_int_equal(spmu_create(&p, m, &g->host), SPMU_OK);
		assert_int_equal(fixture_read(p, MSR_IA32_MISC_ENABLE), rows[i].reads);
		put_msr(p, MSR_IA32_MISC_ENABLE, 0x1881 ^ rows[i].reads); /* read-only bits keep their values */
		assert_int_equal(fixture_read(p, MSR_IA32_MISC_ENABLE), rows[i].reads ^ 1);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_cpuid_says_what_there_is(void **state)
{
	(void)state;
	static const struct { const char *name; uint32_t ecx, edx, edx_7, eax_1c; } rows[] = {
		{ "p5", 0, 0, 0, 0 }, { "p6", 0, 0, 0, 0 }, { "netburst", 1 << 4, 1 << 21, 0, 0 },
		{ "yonah", 0, 1 << 21, 0, 0 },
		{ "core2", 0x8014, 1 << 21, 0, 0 }, { "skylake", 0x8014, 1 << 21, 0, 0 },
		{ "golden-cove", 0x8014, 1 << 21, 1 << 19, 0x8000000b },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spmu_model *m = fixture_model(rows[i].name);
		struct spmu *p = NULL;
		uint32_t r[4], r0a[4];
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		spmu_cpuid_bits(p, 1, r);
		assert_int_equal(r[2], rows[i].ecx);
		assert_int_equal(r[3], rows[i].edx);
		spmu_cpuid_bits(p, 7, r);
		assert_int_equal(r[3], rows[i].edx_7);
		spmu_cpuid_bits(p, 0x1c, r);
		assert_int_equal(r[0], rows[i].eax_1c);
		spmu_cpuid_bits(p, 0x0a, r);
		spmu_cpuid_0a(p, r0a);
		assert_memory_equal(r, r0a, sizeof r);
		spmu_cpuid_bits(p, 0x80000000, r);
		assert_int_equal(r[0] | r[1] | r[2] | r[3], 0);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

/* ---- what is sampled ---------------------------------------------------------------------------------------- */

static void test_the_event_behind_the_overflow_is_recorded(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, 200);
	struct stream s = { 0 };
	g->host.registers = NULL;
	/* every third branch from then on: two to overflow, one to trigger */
	guest_put(g, DS_AREA + 0x40, PMU_COUNTER_MASK + 1 - 2, 8);
	arm(p, 0, 3);
	stream_branches(&s, 9);
	stream_send_all(&s, p);
	/* branches 1 2 3(overflow) 4(record) 5 6(overflow) 7(record) 8 9(overflow) */
	assert_int_equal(guest_records(g, 200), 2);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0xb0), 0x1004 + 8 * 3);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 200 + 0xb0), 0x1004 + 8 * 6);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0x90), 1);		/* applicable counters */
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0xc0), 11 + 2 * 3);	/* TSC */
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 0);		/* overflowed at the ninth */
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 1); /* armed: the bit stays until the record */
	assert_int_equal(g->pmis, 0);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_arming_takes_as_long_as_the_host_says(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	g->host.pebs_arming = 5;
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, 200);
	struct stream s = { 0 };
	guest_put(g, DS_AREA + 0x40, PMU_COUNTER_MASK + 1 - 100, 8);
	arm(p, 0, 1);
	/* branch k retires at 11 + 2k: overflow at 11, armed from 16 on, so branch 3 (at 17) triggers */
	stream_branches(&s, 9);
	stream_send_all(&s, p);
	assert_int_equal(guest_records(g, 200), 1);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0xb0), 0x1004 + 8 * 3);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), PMU_COUNTER_MASK + 1 - 100 + 5);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_precise_distribution_has_no_shadow(void **state)
{
	(void)state;
	static const struct { const char *name, *event; unsigned pmc, skip; uint64_t capabilities; unsigned size,
		ip; } rows[] = {
		{ "skylake", "INST_RETIRED.PREC_DIST", 1, 0, 0x23c5, 200, 0xb0 },
		{ "skylake", "BR_INST_RETIRED.ALL_BRANCHES", 1, 1, 0x23c5, 200, 0xb0 },	/* PDIR is of one event */
		{ "golden-cove", "BR_INST_RETIRED.ALL_BRANCHES", 0, 0, 0xe5ff, 32, 8 },
		{ "golden-cove", "BR_INST_RETIRED.ALL_BRANCHES", 1, 1, 0xe5ff, 32, 8 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = model_like(rows[i].name, rows[i].capabilities);
		struct spmu *p = sampler(g, m, rows[i].pmc, rows[i].event, 0, rows[i].size);
		struct stream s = { 0 };
		arm(p, rows[i].pmc, 5);
		for (unsigned k = 0; k < 9; k++)
			stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, SPMU_IS(COND), 0, 11 + 2 * k);
		stream_send_all(&s, p);
		assert_int_equal(guest_records(g, rows[i].size), 1);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + rows[i].ip), 0x1000 + 8 * (4 + rows[i].skip));
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_fixed_counter_0_samples_the_very_instruction_and_others_the_next(void **state)
{
	(void)state;
	for (unsigned f = 0; f < 2; f++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("golden-cove");
		struct spmu *p = fixture_pmu(m, &g->host);
		struct stream s = { 0 };
		guest_pebs(g, 32, 10, 10);
		guest_put(g, DS_AREA + 0x40 + 8 * (32 + f), PMU_COUNTER_MASK + 1 - 1000, 8);
		put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
		put_msr(p, MSR_IA32_FIXED_CTR_CTRL, UINT64_C(3) << 4 * f);
		put_msr(p, MSR_IA32_FIXED_CTR0 + f, PMU_COUNTER_MASK + 1 - 12);
		put_msr(p, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << (32 + f));
		stream_straight(&s, 30, 0x1000, 10);		/* instruction k retires at 10 + k */
		stream_signal(&s, SPMU_SIG_CYCLES, 5, 40, 1);
		stream_send_all(&s, p);
		assert_int_equal(guest_records(g, 32), 1);
		/* the 12th instruction; the 12th cycle is 16, after which instruction 7 is the first to retire */
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), f ? 0x1000 + 4 * 7 : 0x1000 + 4 * 11);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 16), UINT64_C(1) << (32 + f));
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 24), f ? 17 : 21);	/* TSC: when that instruction retired */
		assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 0);
		assert_true(fixture_read(p, MSR_IA32_FIXED_CTR0 + f) > PMU_COUNTER_MASK - 1000);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_an_imprecise_event_waits_for_the_next_batch_for_its_instruction(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = sampler(g, m, 0, "CPU_CLK_UNHALTED.THREAD_P", 0, 32);
	struct stream s = { 0 };
	arm(p, 0, 20);
	stream_straight(&s, 5, 0x1000, 10);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 40, 1);		/* the 20th cycle is 19, after all of this */
	stream_send(&s, 0, s.n, 0, 41, false, p);
	assert_int_equal(guest_records(g, 32), 0);
	stream_free(&s);
	stream_straight(&s, 3, 0x2000, 50);
	stream_signal(&s, SPMU_SIG_CYCLES, 41, 60, 1);
	stream_send(&s, 0, s.n, 41, 60, false, p);
	assert_int_equal(guest_records(g, 32), 1);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), 0x2000);
	stream_free(&s);
	stream_straight(&s, 3, 0x3000, 65);
	stream_send(&s, 0, s.n, 60, 70, false, p);
	assert_int_equal(guest_records(g, 32), 1);	/* once */
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

/* An imprecise event overflows at a retirement. A signal, a squashed uop, a uop of another thread and the rest of the
 * instruction follow before the next instruction of this thread. */
static void test_the_next_instruction_is_one_that_retires_in_this_thread(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = fixture_pmu(m, &g->host);
	struct stream s = { 0 };
	guest_pebs(g, 32, 10, 10);
	put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
	/* CMASK makes the event imprecise: it counts cycles */
	put_msr(p, MSR_IA32_PERFEVTSEL0 + 1, 0xc4 | SPMU_EVTSEL_CMASK(1) | USR_EN);
	fixture_program(p, 2, "UOPS_RETIRED.SLOTS", 0);
	put_msr(p, MSR_IA32_PEBS_ENABLE, 6);
	arm(p, 1, 1);
	arm(p, 2, 1);
	stream_branch(&s, 0x1000, 0x1100, 0, 0, 10)->is &= ~SPMU_IS(INST_END);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 30, 1);
	stream_inst(&s, 0x1000, 0, 0, 11)->is &= ~SPMU_IS(INST_BEGIN);
	stream_inst(&s, 0x2000, 0, 0, 12)->did &= ~SPMU_DID(RETIRED);
	stream_inst(&s, 0x3000, 0, 0, 13)->hw_thread = 1;
	stream_inst(&s, 0x1100, 0, 0, 14);
	stream_send_all(&s, p);
	assert_int_equal(guest_records(g, 32), 2);
	for (unsigned k = 0; k < 2; k++)
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 32 * k + 8), 0x1100);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_pebs_counts_as_pmi_in_use(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = fixture_pmu(m, &g->host);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_INUSE), 0);
	put_msr(p, MSR_IA32_PEBS_ENABLE, 2);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_INUSE), UINT64_C(1) << 63);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_an_overflow_bit_set_by_software_samples_an_imprecise_event(void **state)
{
	(void)state;
	for (unsigned precise = 0; precise < 2; precise++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("golden-cove");
		struct spmu *p = sampler(g, m, 1, precise ? "BR_INST_RETIRED.ALL_BRANCHES"
			: "CPU_CLK_UNHALTED.THREAD_P", 0, 32);
		struct stream s = { 0 };
		put_msr(p, MSR_IA32_PERF_GLOBAL_STATUS_SET, 2);
		stream_straight(&s, 3, 0x1000, 10);
		stream_send_all(&s, p);
		assert_int_equal(guest_records(g, 32), precise ? 0 : 1);
		assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), precise ? 2 : 0);
		if (!precise)
			assert_int_equal(guest_u64(g, PEBS_BUFFER + 8), 0x1000);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

/* What Linux programs for instructions:p, cycles:p and cycles:ppp before Ice Lake */
static void test_instructions_are_precise_with_any_condition(void **state)
{
	(void)state;
	static const uint64_t cycles = SPMU_EVTSEL_CMASK(16) | SPMU_EVTSEL_INV;
	static const struct { const char *model, *event; unsigned counter; uint64_t more; size_t bytes; } rows[] = {
		{ "skylake", "INST_RETIRED.ANY_P", 0, 0, 200 }, { "skylake", "INST_RETIRED.ANY_P", 0, cycles, 200 },
		{ "skylake", "INST_RETIRED.PREC_DIST", 1, cycles, 200 },
		{ "ivy-bridge", "INST_RETIRED.PREC_DIST", 1, cycles, 176 },
		{ "ivy-bridge", "UOPS_RETIRED.ALL", 0, cycles, 176 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model(rows[i].model);
		struct spmu *p = sampler(g, m, rows[i].counter, rows[i].event, rows[i].more, rows[i].bytes);
		struct stream s = { 0 };
		arm(p, rows[i].counter, 2);
		stream_branches(&s, 9);
		stream_signal(&s, SPMU_SIG_CYCLES, 0, 40, 1);
		stream_send_all(&s, p);
		assert_int_equal(guest_records(g, rows[i].bytes), 1);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_before_ice_lake_an_imprecise_event_leaves_no_record(void **state)
{
	(void)state;
	static const struct { const char *event; uint64_t more; } rows[] = {
		{ "CPU_CLK_UNHALTED.THREAD_P", 0 }, { "INST_RETIRED.ANY_P", SPMU_EVTSEL_ANY },
		{ "BR_INST_RETIRED.ALL_BRANCHES", SPMU_EVTSEL_CMASK(1) },
		{ "BR_INST_RETIRED.ALL_BRANCHES", SPMU_EVTSEL_EDGE }, { "BR_INST_RETIRED.ALL_BRANCHES",
		SPMU_EVTSEL_ANY },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("skylake");
		struct spmu *p = sampler(g, m, 0, rows[i].event, rows[i].more, 200);
		struct stream s = { 0 };
		arm(p, 0, 2);
		stream_branches(&s, 9);
		stream_signal(&s, SPMU_SIG_CYCLES, 0, 40, 1);
		stream_send_all(&s, p);
		assert_int_equal(guest_records(g, 200), 0);
		assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 1);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

/* ---- interrupts and the order of things ---------------------------------------------------------------------- */

static void test_two_counters_at_one_event_go_lower_first(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = sampler(g, m, 3, "BR_INST_RETIRED.ALL_BRANCHES", 0, 32);
	struct stream s = { 0 };
	fixture_program(p, 1, "BR_INST_RETIRED.ALL_BRANCHES", 0);
	put_msr(p, MSR_IA32_FIXED_CTR_CTRL, 3);
	put_msr(p, MSR_IA32_FIXED_CTR0, PMU_COUNTER_MASK - 1);
	put_msr(p, MSR_IA32_PEBS_ENABLE, UINT64_C(0x10000000a));
	arm(p, 3, 1);
	arm(p, 1, 1);
	for (unsigned k = 0; k < 4; k++)
		stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, 0, 0, 11 + k);
	stream_send_all(&s, p);
	assert_int_equal(guest_records(g, 32), 3);
	static const uint64_t order[3] = { 2, 8, UINT64_C(1) << 32 };
	for (unsigned k = 0; k < 3; k++) {
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 32 * k + 16), order[k]);
		assert_int_equal(guest_u64(g, PEBS_BUFFER + 32 * k + 8), 0x1008);
	}
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void drain(struct guest *g, struct spmu *p, const struct spmu_pmi *pmi)
{
	assert_true(pmi->status & OVF_DS_BUFFER);
	guest_put(g, DS_AREA + 0x28, PEBS_BUFFER, 8);
	put_msr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, pmi->status);
}

static void test_the_threshold_raises_a_pmi_at_once(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	g->on_pmi = drain;
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, 200);
	struct stream s = { 0 };
	guest_put(g, DS_AREA + 0x38, PEBS_BUFFER + 2 * 200, 8);
	guest_put(g, DS_AREA + 0x40, PMU_COUNTER_MASK, 8);
	arm(p, 0, 1);
	for (unsigned k = 0; k < 9; k++)	/* records at 1, 3 (PMI), 5, 7 (PMI) */
		stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, 0, 0, 11 + k);
	stream_send_all(&s, p);
	assert_int_equal(g->pmis, 2);
	assert_int_equal(g->pmi.ip, 0x1000 + 8 * 8);
	assert_int_equal(guest_records(g, 200), 0);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 1);	/* the ninth overflowed */
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_the_threshold_freezes_like_any_pmi(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, 200);
	struct stream s = { 0 };
	guest_put(g, DS_AREA + 0x38, PEBS_BUFFER + 200, 8);
	fixture_program(p, 1, "INST_RETIRED.ANY_P", 0);
	put_msr(p, MSR_IA32_DEBUGCTL, DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	arm(p, 0, 1);
	for (unsigned k = 0; k < 9; k++)
		stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, 0, 0, 11 + k);
	stream_send_all(&s, p);
	assert_int_equal(g->pmis, 1);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), OVF_DS_BUFFER | STATUS_CTR_FRZ);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), 2);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

static void test_a_full_or_bad_buffer_loses_records_only(void **state)
{
	(void)state;
	static const struct { uint64_t base, index, maximum, area, fault; unsigned records; } rows[] = {
		{ PEBS_BUFFER, PEBS_BUFFER, PEBS_BUFFER + 2 * 200 + 199, DS_AREA, 0, 2 },	/* room for two */
		{ PEBS_BUFFER, PEBS_BUFFER, PEBS_BUFFER + 2 * 200 + 1, DS_AREA, 0, 2 },	/* as the manual writes it */
		{ PEBS_BUFFER, PEBS_BUFFER - 200, PEBS_BUFFER + 2000, DS_AREA, 0, 0 },		/* index below base */
		{ PEBS_BUFFER, PEBS_BUFFER + 2001, PEBS_BUFFER + 2000, DS_AREA, 0, 0 },
		{ 0, UINT64_MAX - 100, UINT64_MAX, DS_AREA, 0, 0 },
		{ PEBS_BUFFER, PEBS_BUFFER, PEBS_BUFFER + 2000, 0x7fffffffffe0, 0, 0 },		/* no such memory */
		{ PEBS_BUFFER, PEBS_BUFFER, PEBS_BUFFER + 2000, DS_AREA, PEBS_BUFFER, 0 },
		{ PEBS_BUFFER, PEBS_BUFFER, PEBS_BUFFER + 2000, DS_AREA, DS_AREA, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct guest *g = guest_new();
		struct spmu_model *m = fixture_model("skylake");
		struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", 0, 200);
		struct stream s = { 0 };
		guest_put(g, DS_AREA + 0x20, rows[i].base, 8);
		guest_put(g, DS_AREA + 0x28, rows[i].index, 8);
		guest_put(g, DS_AREA + 0x30, rows[i].maximum, 8);
		guest_put(g, DS_AREA + 0x38, UINT64_MAX, 8);
		guest_put(g, DS_AREA + 0x40, PMU_COUNTER_MASK, 8);
		put_msr(p, MSR_IA32_DS_AREA, rows[i].area);
		g->fault = rows[i].fault;
		arm(p, 0, 1);
		for (unsigned k = 0; k < 9; k++)
			stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, 0, 0, 11 + k);
		stream_send_all(&s, p);
		g->fault = 0;
		if (guest_u64(g, DS_AREA + 0x28) - rows[i].index != 200 * rows[i].records)
			fail_msg("row %zu: index %llx", i, (unsigned long long)guest_u64(g, DS_AREA + 0x28));
		if (rows[i].records < 4)	/* not reloaded: runs on from 0 */
			assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 9 - 1 - 2 * rows[i].records);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
		free(g);
	}
}

static void test_int_and_pebs_both_do_their_part(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = sampler(g, m, 0, "BR_INST_RETIRED.ALL_BRANCHES", SPMU_EVTSEL_INT, 200);
	struct stream s = { 0 };
	arm(p, 0, 2);
	for (unsigned k = 0; k < 5; k++)
		stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, 0, 0, 11 + k);
	stream_send_all(&s, p);
	assert_int_equal(g->pmis, 1);
	assert_int_equal(g->pmi.ip, 0x1010);
	assert_int_equal(g->pmi.status, 1);
	assert_int_equal(guest_records(g, 200), 1);
	assert_int_equal(guest_u64(g, PEBS_BUFFER + 0xb0), 0x1010);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 0);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

/* ---- reload ------------------------------------------------------------------------------------------------- */

static void test_reload_msrs_replace_the_area_where_the_host_says(void **state)
{
	(void)state;
	for (unsigned virtualised = 0; virtualised < 2; virtualised++)
		for (unsigned fixed = 0; fixed < 2; fixed++) {
			struct guest *g = guest_new();
			struct spmu_model *m = fixture_model("golden-cove");
			g->host.pebs_reload_msrs = virtualised;
			struct spmu *p = fixture_pmu(m, &g->host);
			struct stream s = { 0 };
			guest_pebs(g, 32, 10, 10);
			put_msr(p, MSR_IA32_DS_AREA, DS_AREA);
			guest_put(g, DS_AREA + 0x40 + (fixed ? 8 * 32 : 16), PMU_COUNTER_MASK + 1 - 100, 8);
			assert_int_equal(spmu_wrmsr(p, fixed ? MSR_RELOAD_FIXED_CTR0 : MSR_RELOAD_PMC0 + 2,
				PMU_COUNTER_MASK + 1 - 200),
				virtualised ? SPMU_OK : SPMU_ENOMSR);
			if (fixed) {
				put_msr(p, MSR_IA32_FIXED_CTR_CTRL, 3);
				put_msr(p, MSR_IA32_FIXED_CTR0, PMU_COUNTER_MASK);
				put_msr(p, MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 32);
			} else {
				fixture_program(p, 2, "BR_INST_RETIRED.ALL_BRANCHES", 0);
				arm(p, 2, 1);
				put_msr(p, MSR_IA32_PEBS_ENABLE, 4);
			}
			stream_branch(&s, 0x1000, 0x1008, 0, 0, 11);
			if (!fixed)
				stream_branch(&s, 0x1008, 0x1010, 0, 0, 12);
			stream_send_all(&s, p);
			assert_int_equal(guest_records(g, 32), 1);
			assert_int_equal(fixture_read(p, fixed ? MSR_IA32_FIXED_CTR0 : MSR_IA32_PMC0 + 2),
				PMU_COUNTER_MASK + 1 - (virtualised ? 200 : 100));
			stream_free(&s);
			spmu_destroy(p);
			spmu_model_free(m);
			free(g);
		}
}

static void test_output_into_the_trace_goes_to_the_host_and_reloads_from_the_msr(void **state)
{
	(void)state;
	struct guest *g = guest_new();
	struct spmu_model *m = model_like("golden-cove", 0x1e5ff);
	g->host.pebs_output = guest_output;
	struct spmu *p = sampler(g, m, 2, "BR_INST_RETIRED.ALL_BRANCHES", 0, 32);
	struct stream s = { 0 };
	put_msr(p, MSR_IA32_PEBS_ENABLE, 4 | UINT64_C(3) << 60);	/* a PMI after each record */
	put_msr(p, MSR_RELOAD_PMC0 + 2, PMU_COUNTER_MASK + 1 - 3);
	arm(p, 2, 1);
	for (unsigned k = 0; k < 6; k++)	/* records at 1, 5 */
		stream_branch(&s, 0x1000 + 8 * k, 0x1008 + 8 * k, 0, 0, 11 + k);
	stream_send_all(&s, p);
	assert_int_equal(guest_records(g, 32), 0);
	assert_int_equal(g->traced_bytes, 64);
	uint64_t ip;
	memcpy(&ip, g->traced + 32 + 8, 8);
	assert_int_equal(ip, 0x1000 + 8 * 5);
	assert_int_equal(g->pmis, 2);
	assert_int_equal(g->pmi.status, 4);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_take_or_fault_by_generation),
		cmocka_unit_test(test_misc_enable_says_what_the_host_gives),
		cmocka_unit_test(test_cpuid_says_what_there_is),
		cmocka_unit_test(test_the_event_behind_the_overflow_is_recorded),
		cmocka_unit_test(test_arming_takes_as_long_as_the_host_says),
		cmocka_unit_test(test_precise_distribution_has_no_shadow),
		cmocka_unit_test(test_fixed_counter_0_samples_the_very_instruction_and_others_the_next),
		cmocka_unit_test(test_an_imprecise_event_waits_for_the_next_batch_for_its_instruction),
		cmocka_unit_test(test_the_next_instruction_is_one_that_retires_in_this_thread),
		cmocka_unit_test(test_pebs_counts_as_pmi_in_use),
		cmocka_unit_test(test_an_overflow_bit_set_by_software_samples_an_imprecise_event),
		cmocka_unit_test(test_instructions_are_precise_with_any_condition),
		cmocka_unit_test(test_before_ice_lake_an_imprecise_event_leaves_no_record),
		cmocka_unit_test(test_two_counters_at_one_event_go_lower_first),
		cmocka_unit_test(test_the_threshold_raises_a_pmi_at_once),
		cmocka_unit_test(test_the_threshold_freezes_like_any_pmi),
		cmocka_unit_test(test_a_full_or_bad_buffer_loses_records_only),
		cmocka_unit_test(test_int_and_pebs_both_do_their_part),
		cmocka_unit_test(test_reload_msrs_replace_the_area_where_the_host_says),
		cmocka_unit_test(test_output_into_the_trace_goes_to_the_host_and_reloads_from_the_msr),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
