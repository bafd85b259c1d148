/* SPDX-License-Identifier: GPL-2.0-or-later
 * The register interface, as tables: register, value, outcome.  Both versions: skylake is version 4, golden-cove 5.
 */
#include "pmu_fixture.h"

enum { SKL = 1, GLC = 2, BOTH = 3 };
#define ALL_SKL (UINT64_C(0x7) << 32 | 0xff)
#define ALL_GLC (UINT64_C(0xf) << 32 | 0xff)
#define EVTSEL (MSR_IA32_PERFEVTSEL0)

struct write { unsigned on; uint32_t msr; uint64_t value; int outcome; uint64_t reads; };

static const struct write writes[] = {
	/* IA32_PMCx: 32 bits, sign-extended to 48; what is above is ignored */
	{ BOTH, MSR_IA32_PMC0, 0x12345678, SPMU_OK, 0x12345678 },
	{ BOTH, MSR_IA32_PMC0 + 7, 0x80000000, SPMU_OK, 0xffff80000000 },
	{ BOTH, MSR_IA32_PMC0 + 3, 0xffffffff, SPMU_OK, 0xffffffffffff },
	{ BOTH, MSR_IA32_PMC0 + 1, UINT64_C(0xdeadbeef00000001), SPMU_OK, 1 },
	{ BOTH, MSR_IA32_PMC0 + 8, 0, SPMU_ENOMSR, 0 },
	/* IA32_A_PMCx: the full width */
	{ BOTH, MSR_IA32_A_PMC0, 0x123456789abc, SPMU_OK, 0x123456789abc },
	{ BOTH, MSR_IA32_A_PMC0 + 7, 0x80000000, SPMU_OK, 0x80000000 },
	{ BOTH, MSR_IA32_A_PMC0, UINT64_C(1) << 48, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_A_PMC0 + 8, 0, SPMU_ENOMSR, 0 },
	/* IA32_PERFEVTSELx */
	{ BOTH, EVTSEL, 0x4300c0, SPMU_OK, 0x4300c0 },
	{ BOTH, EVTSEL + 7, 0xffdfffff, SPMU_OK, 0xffdfffff },
	{ SKL, EVTSEL, 0x6300c0, SPMU_OK, 0x6300c0 },				/* AnyThread */
	{ GLC, EVTSEL, 0x6300c0, SPMU_GP, 0 },					/* AnyThread is deprecated */
	{ BOTH, EVTSEL, UINT64_C(1) << 32, SPMU_OK, UINT64_C(1) << 32 },	/* IN_TX */
	{ BOTH, EVTSEL, UINT64_C(1) << 33, SPMU_GP, 0 },			/* IN_TXCP: counter 2 alone */
	{ BOTH, EVTSEL + 2, UINT64_C(1) << 33, SPMU_OK, UINT64_C(1) << 33 },
	{ SKL, EVTSEL, UINT64_C(1) << 34, SPMU_GP, 0 },			/* adaptive PEBS */
	{ GLC, EVTSEL, UINT64_C(1) << 34, SPMU_OK, UINT64_C(1) << 34 },
	{ BOTH, EVTSEL, UINT64_C(1) << 63, SPMU_GP, 0 },
	{ BOTH, EVTSEL + 8, 0, SPMU_ENOMSR, 0 },
	/* fixed counters */
	{ BOTH, MSR_IA32_FIXED_CTR0, 0xffffffffffff, SPMU_OK, 0xffffffffffff },
	{ BOTH, MSR_IA32_FIXED_CTR0 + 2, 0x80000000, SPMU_OK, 0x80000000 },
	{ BOTH, MSR_IA32_FIXED_CTR0, UINT64_C(1) << 48, SPMU_GP, 0 },
	{ SKL, MSR_IA32_FIXED_CTR0 + 3, 0, SPMU_ENOMSR, 0 },
	{ GLC, MSR_IA32_FIXED_CTR0 + 3, 7, SPMU_OK, 7 },
	{ GLC, MSR_IA32_FIXED_CTR0 + 4, 0, SPMU_ENOMSR, 0 },
	{ SKL, MSR_IA32_FIXED_CTR_CTRL, 0xfff, SPMU_OK, 0xfff },
	{ SKL, MSR_IA32_FIXED_CTR_CTRL, 0x1000, SPMU_GP, 0 },
	{ GLC, MSR_IA32_FIXED_CTR_CTRL, 0xbbbb, SPMU_OK, 0xbbbb },
	{ GLC, MSR_IA32_FIXED_CTR_CTRL, 0x4, SPMU_GP, 0 },			/* AnyThread */
	{ GLC, MSR_IA32_FIXED_CTR_CTRL, 0x10000, SPMU_GP, 0 },
	{ SKL, MSR_IA32_FIXED_CTR_CTRL, UINT64_C(1) << 32, SPMU_GP, 0 },	/* adaptive PEBS */
	{ GLC, MSR_IA32_FIXED_CTR_CTRL, UINT64_C(0x1111) << 32, SPMU_OK, UINT64_C(0x1111) << 32 },
	{ BOTH, MSR_IA32_FIXED_CTR_CTRL, UINT64_C(1) << 33, SPMU_GP, 0 },
	/* global control */
	{ SKL, MSR_IA32_PERF_GLOBAL_CTRL, ALL_SKL, SPMU_OK, ALL_SKL },
	{ SKL, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << 35, SPMU_GP, 0 },
	{ GLC, MSR_IA32_PERF_GLOBAL_CTRL, ALL_GLC, SPMU_OK, ALL_GLC },
	{ GLC, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << 36, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_PERF_GLOBAL_CTRL, 0x100, SPMU_GP, 0 },
	{ SKL, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << 48, SPMU_GP, 0 },	/* PERF_METRICS */
	{ GLC, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << 48, SPMU_OK, UINT64_C(1) << 48 },
	/* status: read-only; its two companions */
	{ BOTH, MSR_IA32_PERF_GLOBAL_STATUS, 0, SPMU_GP, 0 },
	{ SKL, MSR_IA32_PERF_GLOBAL_STATUS_RESET, ALL_SKL | UINT64_C(0xfc80) << 48, SPMU_OK, 0 },
	{ GLC, MSR_IA32_PERF_GLOBAL_STATUS_RESET, ALL_GLC | UINT64_C(0xfc80) << 48, SPMU_OK, 0 },
	{ BOTH, MSR_IA32_PERF_GLOBAL_STATUS_RESET, 0x100, SPMU_GP, 0 },
	{ SKL, MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(1) << 48, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(1) << 54, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_PERF_GLOBAL_STATUS_SET, 0xff | UINT64_C(0x7c80) << 48, SPMU_OK, 0 },
	{ BOTH, MSR_IA32_PERF_GLOBAL_STATUS_SET, UINT64_C(1) << 63, SPMU_GP, 0 },	/* CondChgd cannot be set */
	{ BOTH, MSR_IA32_PERF_GLOBAL_STATUS_SET, 0x100, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_PERF_GLOBAL_INUSE, 0, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_PERF_CAPABILITIES, 0x2000, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_DEBUGCTL, 1 << 12, SPMU_OK, 1 << 12 },
	/* LBR, BTF, TR, BTS, BTINT, OFF_OS, OFF_USR, FREEZE_LBRS_ON_PMI */
	{ BOTH, MSR_IA32_DEBUGCTL, 0xfc3, SPMU_OK, 0xfc3 },
	{ BOTH, MSR_IA32_DEBUGCTL, 4, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_DEBUGCTL, 1 << 13, SPMU_GP, 0 },
	{ BOTH, MSR_IA32_DEBUGCTL, 1 << 14, SPMU_GP, 0 },			/* FREEZE_WHILE_SMM */
	/* not there */
	{ SKL, MSR_PERF_METRICS, 0, SPMU_ENOMSR, 0 },
	{ BOTH, 0x3f3, 0, SPMU_ENOMSR, 0 },
	{ BOTH, 0x10, 0, SPMU_ENOMSR, 0 },
	{ BOTH, 0, 0, SPMU_ENOMSR, 0 },
	{ BOTH, UINT32_MAX, 0, SPMU_ENOMSR, 0 },
};

static void check_writes(const char *name, unsigned which)
{
	struct spmu_model *m = fixture_model(name);
	for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
		const struct write *w = &writes[i];
		if (!(w->on & which))
			continue;
		struct spmu *p = fixture_pmu(m, NULL);
		uint64_t before = 0, after = 0;
		int readable = spmu_rdmsr(p, w->msr, &before);
		int outcome = spmu_wrmsr(p, w->msr, w->value);
		if (outcome != w->outcome)
			fail_msg("%s row %zu: WRMSR %x, %llx: %d, expected %d", name, i, w->msr,
				(unsigned long long)w->value, outcome,
				w->outcome);
		assert_int_equal(spmu_rdmsr(p, w->msr, &after), readable);
		if (outcome == SPMU_OK)
			assert_int_equal(after, w->reads);
		else
			assert_int_equal(after, before);	/* state unchanged */
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_writes_take_or_fault_as_the_manual_says(void **state)
{
	(void)state;
	check_writes("skylake", SKL);
	check_writes("golden-cove", GLC);
}

static void test_a_part_without_full_width_writes_has_no_a_pmc(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	m->capabilities = 0;
	struct spmu *p = fixture_pmu(m, NULL);
	uint64_t v;
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_A_PMC0, 1), SPMU_ENOMSR);
	assert_int_equal(spmu_rdmsr(p, MSR_IA32_A_PMC0, &v), SPMU_ENOMSR);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_reset_values(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_CTRL), 0xff);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_CAPABILITIES), m->capabilities);
	static const uint32_t zero[] = { MSR_IA32_PMC0, MSR_IA32_PERFEVTSEL0, MSR_IA32_FIXED_CTR0 + 3,
		MSR_IA32_FIXED_CTR_CTRL,
		MSR_IA32_PERF_GLOBAL_STATUS, MSR_IA32_PERF_GLOBAL_STATUS_RESET, MSR_IA32_PERF_GLOBAL_STATUS_SET,
		MSR_IA32_PERF_GLOBAL_INUSE, MSR_IA32_DEBUGCTL };
	for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
		assert_int_equal(fixture_read(p, zero[i]), 0);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_cpuid_leaf_0a_is_that_of_the_part(void **state)
{
	(void)state;
	static const struct { const char *name; uint32_t r[4]; unsigned version, fixed, slots; } parts[] = {
		{ "skylake", { 0x07300804, 0, 0, 0x603 }, 4, 3, 4 },
		{ "golden-cove", { 0x08300805, 0, 0xf, 0x8604 }, 5, 4, 6 },
	};
	for (unsigned i = 0; i < 2; i++) {
		struct spmu_model *m = fixture_model(parts[i].name);
		struct spmu *p = fixture_pmu(m, NULL);
		uint32_t r[4];
		spmu_cpuid_0a(p, r);
		assert_memory_equal(r, parts[i].r, sizeof r);
		assert_int_equal(spmu_model_version(m), parts[i].version);
		assert_int_equal(spmu_model_gp_counters(m), 8);
		assert_int_equal(spmu_model_fixed_counters(m), parts[i].fixed);
		assert_int_equal(spmu_model_slots(m), parts[i].slots);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

static void test_both_addresses_of_a_counter_are_one_counter(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = fixture_pmu(m, NULL);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_A_PMC0 + 2, 0x800000000001), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 2), 0x800000000001);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + 2, 0xfffffffe), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_A_PMC0 + 2), 0xfffffffffffe);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_rdpmc_takes_the_types_and_indices_of_the_part(void **state)
{
	(void)state;
	static const struct { unsigned on; uint32_t index; int outcome; uint64_t value; } rows[] = {
		{ BOTH, 0, SPMU_OK, 100 }, { BOTH, 7, SPMU_OK, 107 }, { BOTH, 8, SPMU_GP, 0 }, { BOTH, 0xffff, SPMU_GP,
		0 },
		{ BOTH, 0x40000000, SPMU_OK, 200 }, { BOTH, 0x40000002, SPMU_OK, 202 }, { SKL, 0x40000003, SPMU_GP, 0 },
		{ GLC, 0x40000003, SPMU_OK, 203 }, { GLC, 0x40000004, SPMU_GP, 0 },
		{ SKL, 0x20000000, SPMU_GP, 0 }, { GLC, 0x20000000, SPMU_OK, 0 },	/* PERF_METRICS */
		{ GLC, 0x20000001, SPMU_GP, 0 },
		{ BOTH, 0x80000000, SPMU_GP, 0 },	/* the fast read of NetBurst */
		{ BOTH, 0xc0000000, SPMU_GP, 0 }, { BOTH, 0x00010000, SPMU_GP, 0 }, { BOTH, 0x40010000, SPMU_GP, 0 },
	};
	for (unsigned which = SKL; which <= GLC; which++) {
		struct spmu_model *m = fixture_model(which == SKL ? "skylake" : "golden-cove");
		struct spmu *p = fixture_pmu(m, NULL);
		for (unsigned i = 0; i < 8; i++)
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + i, 100 + i), SPMU_OK);
		for (unsigned i = 0; i < m->fixed; i++)
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR0 + i, 200 + i), SPMU_OK);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			uint64_t v = 0;
			if (!(rows[i].on & which))
				continue;
			if (spmu_rdpmc(p, rows[i].index, 0, &v) != rows[i].outcome || v != rows[i].value)
				fail_msg("RDPMC %x on %u", rows[i].index, which);
		}
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

static void test_rdpmc_above_ring_0_needs_cr4_pce(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = fixture_pmu(m, NULL);
	uint64_t v = 0;
	assert_int_equal(spmu_rdpmc(p, 0, 0, &v), SPMU_OK);
	assert_int_equal(spmu_rdpmc(p, 0, 3, &v), SPMU_GP);
	assert_int_equal(spmu_rdpmc(p, 0, 1, &v), SPMU_GP);
	spmu_set_cr4_pce(p, true);
	assert_int_equal(spmu_rdpmc(p, 0, 3, &v), SPMU_OK);
	spmu_set_cr4_pce(p, false);
	assert_int_equal(spmu_rdpmc(p, 0x40000000, 3, &v), SPMU_GP);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_status_bits_are_set_and_cleared_one_by_one(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = fixture_pmu(m, NULL);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_SET, ALL_GLC | STATUS_CTR_FRZ), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), ALL_GLC | STATUS_CTR_FRZ);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(1) << 33 | 4), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), (ALL_GLC & ~(UINT64_C(1) << 33 | 4)) |
		STATUS_CTR_FRZ);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, ALL_GLC | STATUS_CTR_FRZ), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS), 0);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_ctr_frz_stops_counting_and_its_reset_starts_it(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = fixture_pmu(m, NULL);
	struct stream s = { 0 };
	stream_inst(&s, 0x10, 0, 0, 10);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_SET, STATUS_CTR_FRZ), SPMU_OK);
	stream_send(&s, 0, 1, 0, 0, false, p);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, STATUS_CTR_FRZ), SPMU_OK);
	stream_send(&s, 0, 1, 0, 0, true, p);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 1);
	spmu_destroy(p);
	stream_free(&s);
	spmu_model_free(m);
}

static void test_inuse_follows_the_control_registers(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = fixture_pmu(m, NULL);
	assert_int_equal(spmu_wrmsr(p, EVTSEL + 2, 0xc0), SPMU_OK);		/* not enabled, but in use */
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_INUSE), 4);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, 0x2000), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_INUSE), 4 | UINT64_C(1) << 35);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, 0x800), SPMU_OK);	/* PMI of fixed 2 */
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_INUSE), 4 | UINT64_C(1) << 63);
	assert_int_equal(spmu_wrmsr(p, EVTSEL + 2, SPMU_EVTSEL_INT), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, 0), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_INUSE), UINT64_C(1) << 63);
	spmu_destroy(p);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_take_or_fault_as_the_manual_says),
		cmocka_unit_test(test_a_part_without_full_width_writes_has_no_a_pmc),
		cmocka_unit_test(test_reset_values),
		cmocka_unit_test(test_cpuid_leaf_0a_is_that_of_the_part),
		cmocka_unit_test(test_both_addresses_of_a_counter_are_one_counter),
		cmocka_unit_test(test_rdpmc_takes_the_types_and_indices_of_the_part),
		cmocka_unit_test(test_rdpmc_above_ring_0_needs_cr4_pce),
		cmocka_unit_test(test_status_bits_are_set_and_cleared_one_by_one),
		cmocka_unit_test(test_ctr_frz_stops_counting_and_its_reset_starts_it),
		cmocka_unit_test(test_inuse_follows_the_control_registers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
