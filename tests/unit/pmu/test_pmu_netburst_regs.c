/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's registers: which exist, what they hold after reset, which bits they keep, what faults.
 */
#include "netburst_setup.h"

static int setup(void **state)
{
	(void)state;
	return nb_setup_pmu("netburst");
}

static void test_everything_is_0_after_reset(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 18; n++) {
		assert_int_equal(fixture_read(p, NB_COUNTER(n)), 0);
		assert_int_equal(fixture_read(p, NB_CCCR(n)), 0);
	}
	for (uint32_t msr = 0x3a0; msr < 0x3f3; msr++) {
		uint64_t v = 1;
		if (spmu_rdmsr(p, msr, &v) == SPMU_OK)
			assert_int_equal(v, 0);
	}
	assert_int_equal(fixture_read(p, MSR_DEBUGCTLA), 0);
}

static void test_msrs_between_the_escrs_do_not_exist(void **state)
{
	static const uint32_t none[] = { 0x2ff, 0x312, 0x35f, 0x372, 0x39f, 0x3bf, 0x3c6, 0x3c7, 0x3ce, 0x3df, 0x3e2,
		0x3ef, 0x3f3, 0xc1, 0x186, 0x38f };
	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		uint64_t v;
		assert_int_equal(spmu_rdmsr(p, none[i], &v), SPMU_ENOMSR);
		assert_int_equal(spmu_wrmsr(p, none[i], 0), SPMU_ENOMSR);
	}
}

/* Writes each of the 64 bits alone: the register keeps the bits of `keeps`; the others fault and change nothing. */
static void expect_bits(struct spmu *q, uint32_t msr, uint64_t keeps)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t one = UINT64_C(1) << bit, v;
		nb_write(q, msr, 0);
		int outcome = spmu_wrmsr(q, msr, one);
		if (outcome != (keeps & one ? SPMU_OK : SPMU_GP))
			fail_msg("MSR %x, bit %u: %d", msr, bit, outcome);
		assert_int_equal(spmu_rdmsr(q, msr, &v), SPMU_OK);
		assert_int_equal(v, keeps & one);
	}
	nb_write(q, msr, 0);
}

static void test_an_escr_keeps_its_31_bits_and_faults_on_others(void **state)
{
	(void)state;
	for (uint32_t msr = 0x3a0; msr <= 0x3e1; msr++) {
		uint64_t v;
		if (spmu_rdmsr(p, msr, &v) == SPMU_OK)
			expect_bits(p, msr, 0x7fffffff);
	}
}

static void test_a_cccr_keeps_its_fields_and_faults_on_others(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 18; n++)
		expect_bits(p, NB_CCCR(n), 0xcffff000 | (n == 12 || n >= 15 ? 0x800 : 0));
}

static void test_extended_cascade_bits_exist_from_model_2_on(void **state)
{
	(void)state;
	for (unsigned number = 0; number <= 6; number++) {
		char shape[16];
		snprintf(shape, sizeof shape, "@model %u", number);
		struct spmu_model *m = netburst_model(shape);
		struct spmu *q = netburst_pmu(m, NULL);
		bool has = number == 2 || number == 3 || number == 4 || number == 6;
		for (unsigned n = 12; n < 18; n++)
			assert_int_equal(spmu_wrmsr(q, NB_CCCR(n), 0x800), has && n != 13 && n != 14 ? SPMU_OK
				: SPMU_GP);
		uint64_t v;
		assert_int_equal(spmu_rdmsr(q, MSR_IQ_ESCR0, &v), number < 3 ? SPMU_OK : SPMU_ENOMSR);
		spmu_destroy(q);
		spmu_model_free(m);
	}
}

static void test_a_part_with_one_thread_has_no_bits_for_the_other(void **state)
{
	(void)state;
	struct spmu_model *m = netburst_model("@threads 1");
	struct spmu *q = netburst_pmu(m, NULL);
	expect_bits(q, MSR_CRU_ESCR0, 0x7ffffffc);
	expect_bits(q, NB_CCCR(16), 0xc7fff800);
	expect_bits(q, MSR_PEBS_ENABLE, 0x3019fff);
	spmu_destroy(q);
	spmu_model_free(m);
}

static void test_pebs_registers_keep_documented_bits(void **state)
{
	(void)state;
	expect_bits(p, MSR_PEBS_ENABLE, 0x7019fff);
	expect_bits(p, MSR_PEBS_MATRIX_VERT, 0x13);
	expect_bits(p, MSR_TC_PRECISE_EVENT, 0xffffffff);
	expect_bits(p, MSR_DEBUGCTLA, 0x7f);
}

static void test_a_counter_has_40_bits_and_ignores_the_rest(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 18; n++) {
		nb_write(p, NB_COUNTER(n), ~UINT64_C(0));
		assert_int_equal(nb_count(p, n), NB_MASK);
		nb_write(p, NB_COUNTER(n), UINT64_C(0x8000000012) + n);	/* no sign extension of the low half */
		assert_int_equal(nb_count(p, n), UINT64_C(0x8000000012) + n);
	}
}

static void test_rdpmc_reads_counters_0_to_17_whole_or_fast(void **state)
{
	(void)state;
	uint64_t v;
	for (uint32_t n = 0; n < 18; n++) {
		nb_write(p, NB_COUNTER(n), UINT64_C(0xab12345600) + n);
		assert_int_equal(spmu_rdpmc(p, n, 0, &v), SPMU_OK);
		assert_int_equal(v, UINT64_C(0xab12345600) + n);
		assert_int_equal(spmu_rdpmc(p, UINT32_C(0x80000000) | n, 0, &v), SPMU_OK);
		assert_int_equal(v, UINT32_C(0x12345600) + n);
	}
}

static void test_rdpmc_faults_on_bad_indices_and_without_pce(void **state)
{
	static const uint32_t bad[] = { 18, 19, 25, 26, 0x100, 0x40000000, 0x40000001, 0x80000012, 0xffffffff,
		0x20000000 };
	(void)state;
	uint64_t v = 77;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(spmu_rdpmc(p, bad[i], 0, &v), SPMU_GP);
	assert_int_equal(v, 77);
	for (unsigned cpl = 1; cpl <= 3; cpl++) {
		spmu_set_cr4_pce(p, false);
		assert_int_equal(spmu_rdpmc(p, 0, cpl, &v), SPMU_GP);
		assert_int_equal(spmu_rdpmc(p, 0, 0, &v), SPMU_OK);
		spmu_set_cr4_pce(p, true);
		assert_int_equal(spmu_rdpmc(p, 0, cpl, &v), SPMU_OK);
		assert_int_equal(spmu_rdpmc(p, 18, cpl, &v), SPMU_GP);
	}
}

static void test_the_local_apic_entry_is_masked_after_reset(void **state)
{
	(void)state;
	struct spmu *q = NULL;
	uint32_t v = 0;
	assert_int_equal(spmu_create(&q, model, NULL), SPMU_OK);
	assert_int_equal(spmu_apic_read(q, SPMU_APIC_LVT_PC, &v), SPMU_OK);
	assert_int_equal(v, 0x10000);
	spmu_destroy(q);
}

static void test_the_shape_is_told(void **state)
{
	(void)state;
	assert_int_equal(spmu_model_family(model), SPMU_FAMILY_NETBURST);
	assert_int_equal(spmu_model_gp_counters(model), 18);
	assert_int_equal(spmu_model_fixed_counters(model), 0);
	assert_int_equal(spmu_model_version(model), 0);
	uint32_t leaf[4] = { 1, 1, 1, 1 };
	spmu_cpuid_0a(p, leaf);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(leaf[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_everything_is_0_after_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_msrs_between_the_escrs_do_not_exist, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_escr_keeps_its_31_bits_and_faults_on_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_cccr_keeps_its_fields_and_faults_on_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_extended_cascade_bits_exist_from_model_2_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_part_with_one_thread_has_no_bits_for_the_other, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pebs_registers_keep_documented_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_counter_has_40_bits_and_ignores_the_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rdpmc_reads_counters_0_to_17_whole_or_fast, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rdpmc_faults_on_bad_indices_and_without_pce, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_local_apic_entry_is_masked_after_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_shape_is_told, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
