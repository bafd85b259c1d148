/* SPDX-License-Identifier: GPL-2.0-or-later
 * The Pentium's and the P6's counters: registers, control codes, enable bit, counter-restricted events, RDPMC.
 */
#include "pmu_fixture.h"

#define MASK40 ((UINT64_C(1) << 40) - 1)

struct row { uint32_t msr; uint64_t value; int outcome; uint64_t reads; };

static void check(const char *name, const struct row *rows, size_t n)
{
	struct spmu_model *m = fixture_model(name);
	for (size_t i = 0; i < n; i++) {
		struct spmu *p = NULL;
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		int got = spmu_wrmsr(p, rows[i].msr, rows[i].value);
		if (got != rows[i].outcome)
			fail_msg("%s row %zu: WRMSR %x, %llx: %d, expected %d", name, i, rows[i].msr,
				(unsigned long long)rows[i].value, got,
				rows[i].outcome);
		uint64_t v = 0;
		if (got == SPMU_ENOMSR) {
			assert_int_equal(spmu_rdmsr(p, rows[i].msr, &v), SPMU_ENOMSR);
		} else if (fixture_read(p, rows[i].msr) != (got == SPMU_OK ? rows[i].reads : 0)) {
			fail_msg("%s row %zu: reads %llx", name, i, (unsigned long long)fixture_read(p, rows[i].msr));
		}
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_p6_registers_take_or_fault(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ MSR_P6_PERFEVTSEL0, 0x00430079, SPMU_OK, 0x00430079 }, { MSR_P6_PERFEVTSEL0, 0xffdfffff, SPMU_OK,
		0xffdfffff },
		{ MSR_P6_PERFEVTSEL1, 0x00030079, SPMU_OK, 0x00030079 }, { MSR_P6_PERFEVTSEL1, 0xff9fffff, SPMU_OK,
		0xff9fffff },
		{ MSR_P6_PERFEVTSEL1, 1 << 22, SPMU_GP, 0 },		/* the enable bit is in PerfEvtSel0 alone */
		{ MSR_P6_PERFEVTSEL0, 1 << 21, SPMU_GP, 0 }, { MSR_P6_PERFEVTSEL1, 1 << 21, SPMU_GP, 0 },
		{ MSR_P6_PERFEVTSEL0, UINT64_C(1) << 32, SPMU_GP, 0 }, { MSR_P6_PERFEVTSEL0, UINT64_C(1) << 63, SPMU_GP,
		0 },
		{ MSR_P6_PERFCTR0, 0x12345678, SPMU_OK, 0x12345678 }, { MSR_P6_PERFCTR1, 0x80000000, SPMU_OK,
		0xff80000000 },
		{ MSR_P6_PERFCTR0, 0xffffffff, SPMU_OK, MASK40 }, { MSR_P6_PERFCTR0, UINT64_C(0xabc00000001), SPMU_OK,
		1 },
		{ 0xc3, 0, SPMU_ENOMSR, 0 }, { 0x188, 0, SPMU_ENOMSR, 0 }, { MSR_IA32_PERF_GLOBAL_CTRL, 0, SPMU_ENOMSR,
		0 },
		{ MSR_IA32_FIXED_CTR0, 0, SPMU_ENOMSR, 0 }, { MSR_P5_CESR, 0, SPMU_ENOMSR, 0 }, { 0x600, 0, SPMU_ENOMSR,
		0 },
		{ MSR_IA32_DEBUGCTL, 1, SPMU_OK, 1 }, { MSR_IA32_DEBUGCTL, 1 << 7, SPMU_GP, 0 },
	};
	check("p6", rows, sizeof rows / sizeof *rows);
}

static void test_p5_registers_take_or_fault(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ MSR_P5_CESR, 0x03ff03ff, SPMU_OK, 0x03ff03ff }, { MSR_P5_CESR, 0, SPMU_OK, 0 },
		{ MSR_P5_CESR, 1 << 10, SPMU_GP, 0 }, { MSR_P5_CESR, 1 << 15, SPMU_GP, 0 }, { MSR_P5_CESR, 1 << 26,
		SPMU_GP, 0 },
		{ MSR_P5_CESR, UINT64_C(1) << 31, SPMU_GP, 0 }, { MSR_P5_CESR, UINT64_C(1) << 32, SPMU_GP, 0 },
		{ MSR_P5_CTR0, 0x80000000, SPMU_OK, 0x80000000 }, { MSR_P5_CTR1, MASK40, SPMU_OK, MASK40 },
		{ MSR_P5_CTR1, UINT64_C(1) << 40 | 5, SPMU_OK, 5 },
		{ 0x10, 0, SPMU_ENOMSR, 0 }, { 0x14, 0, SPMU_ENOMSR, 0 }, { 0xc1, 0, SPMU_ENOMSR, 0 },
		{ 0x186, 0, SPMU_ENOMSR, 0 },
		{ MSR_IA32_DEBUGCTL, 0, SPMU_ENOMSR, 0 }, { 0x600, 0, SPMU_ENOMSR, 0 },
	};
	check("p5", rows, sizeof rows / sizeof *rows);
}

/* Sends ten user instructions (three of them branches), two in ring 0, and store-buffer stalls of 4 and 6 cycles. */
static void feed(struct spmu *p)
{
	struct stream s = { 0 };
	for (unsigned i = 0; i < 12; i++) {
		stream_inst(&s, 0x10 + i, i % 4 == 3 ? SPMU_IS(BRANCH) : 0, i == 7 ? SPMU_DID(TAKEN) : 0, 20 + i);
		if (i >= 10)
			s.r[s.n - 1].cpl = 0;
	}
	stream_signal(&s, SPMU_SIG_RESOURCE_STALL_SB, 5, 9, 1);
	stream_signal(&s, SPMU_SIG_RESOURCE_STALL_SB, 12, 18, 1);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 40, 1);
	stream_send_all(&s, p);
	stream_free(&s);
}

static void test_p5_control_codes(void **state)
{
	(void)state;
	enum { INST = 0x16, BRANCH = 0x12, SB = 0x19, RUNNING = 0x30, TAKEN = 0x32 };
	static const struct { unsigned pmc, select, code; uint64_t count; } rows[] = {
		{ 0, INST, 0, 0 }, { 0, INST, 1, 2 }, { 0, INST, 2, 10 }, { 0, INST, 3, 12 }, { 1, INST, 3, 12 },
		{ 0, INST, 4, 0 }, { 1, INST, 7, 12 },			/* one a cycle */
		{ 0, BRANCH, 3, 3 }, { 1, BRANCH, 2, 2 },
		/* occurrences and clocks of a duration */
		{ 0, SB, 3, 2 }, { 0, SB, 7, 10 }, { 1, SB, 6, 10 }, { 1, SB, 5, 0 },
		{ 0, RUNNING, 7, 40 }, { 0, RUNNING, 3, 1 }, { 1, RUNNING, 7, 0 },	/* counter 0's alone */
		{ 1, TAKEN, 3, 1 }, { 0, TAKEN, 3, 0 },
		{ 0, 0x3f, 3, 0 },
	};
	struct spmu_model *m = fixture_model("p5");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spmu *p = NULL;
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		assert_int_equal(spmu_wrmsr(p, MSR_P5_CESR, SPMU_CESR_ES(rows[i].pmc, rows[i].select) |
			SPMU_CESR_CC(rows[i].pmc, rows[i].code)),
			SPMU_OK);
		feed(p);
		uint64_t got = fixture_read(p, MSR_P5_CTR0 + rows[i].pmc);
		if (got != rows[i].count)
			fail_msg("row %zu: %llu, expected %llu", i, (unsigned long long)got,
				(unsigned long long)rows[i].count);
		assert_int_equal(fixture_read(p, MSR_P5_CTR0 + !rows[i].pmc), 0);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_p5_windows_are_closed_by_cesr_and_counters_wrap_at_40_bits(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("p5");
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
	uint64_t on = SPMU_CESR_ES(0, 0x16) | SPMU_CESR_CC(0, 3), v;
	feed(p);
	assert_int_equal(fixture_read(p, MSR_P5_CTR0), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_P5_CTR0, MASK40 - 4), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_P5_CESR, on), SPMU_OK);
	feed(p);
	assert_int_equal(spmu_wrmsr(p, MSR_P5_CESR, 0), SPMU_OK);
	feed(p);
	assert_int_equal(fixture_read(p, MSR_P5_CTR0), 7);
	assert_int_equal(spmu_rdpmc(p, 0, 0, &v), SPMU_OK);
	assert_int_equal(v, 7);
	assert_int_equal(spmu_rdpmc(p, 0, 3, &v), SPMU_GP);	/* CR4.PCE */
	assert_int_equal(spmu_rdpmc(p, 2, 0, &v), SPMU_GP);
	uint32_t lvt;
	assert_int_equal(spmu_apic_read(p, SPMU_APIC_LVT_PC, &lvt), SPMU_ENOMSR);
	m->features = 0;		/* a part without MMX */
	assert_int_equal(spmu_rdpmc(p, 0, 0, &v), SPMU_UD);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_p6_counts_by_its_registers(void **state)
{
	(void)state;
	enum { USR = 1 << 16, OS = 1 << 17, EDGE = 1 << 18, EN = 1 << 22, INV = 1 << 23, C1 = 1 << 24 };
	static const struct { uint64_t sel0, sel1, ctr0, ctr1; } rows[] = {
		{ 0xc0 | USR | OS | EN, 0xc4 | USR | OS, 12, 3 },
		{ 0xc0 | USR | OS, 0xc4 | USR | OS, 0, 0 },		/* not enabled, so neither counts */
		{ EN, 0xc0 | USR, 0, 10 },	/* counter 0 counts nothing, but its EN bit enables counter 1 */
		{ 0xc0 | OS | EN, 0xc0, 2, 0 },
		{ 0x79 | USR | OS | EN, 0x79 | USR | EDGE | C1, 40, 1 },
		/* cycles without a retirement, cycles with one */
		{ 0xc0 | USR | OS | C1 | INV | EN, 0xc0 | USR | OS | C1, 28, 12 },
		{ 0x12 | USR | EN, 0xc1 | USR, 0, 0 },			/* MUL needs counter 1, FLOPS counter 0 */
	};
	struct spmu_model *m = fixture_model("p6");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spmu *p = NULL;
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		assert_int_equal(spmu_wrmsr(p, MSR_P6_PERFEVTSEL1, rows[i].sel1), SPMU_OK);
		assert_int_equal(spmu_wrmsr(p, MSR_P6_PERFEVTSEL0, rows[i].sel0), SPMU_OK);
		feed(p);
		if (fixture_read(p, MSR_P6_PERFCTR0) != rows[i].ctr0 ||
			fixture_read(p, MSR_P6_PERFCTR1) != rows[i].ctr1)
			fail_msg("row %zu: %llu and %llu", i, (unsigned long long)fixture_read(p, MSR_P6_PERFCTR0),
				(unsigned long long)fixture_read(p, MSR_P6_PERFCTR1));
		uint64_t v;
		assert_int_equal(spmu_rdpmc(p, 1, 0, &v), SPMU_OK);
		assert_int_equal(v, rows[i].ctr1);
		assert_int_equal(spmu_rdpmc(p, 2, 0, &v), SPMU_GP);
		assert_int_equal(spmu_rdpmc(p, 0x80000000, 0, &v), SPMU_GP);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void count_pmis(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	uint32_t lvt;
	(void)b, (void)pmi;
	++*(unsigned *)context;
	assert_int_equal(spmu_apic_read(p, SPMU_APIC_LVT_PC, &lvt), SPMU_OK);
	assert_int_equal(lvt, 0x400);		/* a P6 does not mask it */
	assert_int_equal(spmu_wrmsr(p, MSR_P6_PERFCTR0, (uint64_t)-4), SPMU_OK);
}

static void test_p6_interrupts_on_overflow(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("p6");
	unsigned n = 0;
	struct spmu_host host = { .context = &n, .pmi = count_pmis };
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, &host), SPMU_OK);
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_P6_PERFCTR0, (uint64_t)-4), SPMU_OK);
	/* user and kernel with EDGE: accepted, too */
	assert_int_equal(spmu_wrmsr(p, MSR_P6_PERFEVTSEL0, 0xc0 | 7 << 16 | 1 << 20 | 1 << 22), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_P6_PERFEVTSEL0, 0xc0 | 3 << 16 | 1 << 20 | 1 << 22), SPMU_OK);
	feed(p);
	assert_int_equal(n, 3);
	spmu_destroy(p);
	spmu_model_free(m);
}

/* Two tasks share a PMU and each keeps its own counts. A damaged state block changes nothing. */
static void test_a_saved_pmu_comes_back(void **state)
{
	(void)state;
	static const struct { const char *name; uint32_t control; uint64_t on; uint32_t counter; } rows[] = {
		{ "p5", MSR_P5_CESR, 0x16 | 3 << 6, MSR_P5_CTR0 }, { "p6", MSR_P6_PERFEVTSEL0, 0x4300c0,
		MSR_P6_PERFCTR0 },
		{ "skylake", MSR_IA32_PERFEVTSEL0, 0x4300c0, MSR_IA32_PMC0 }, { "yonah", MSR_IA32_PERFEVTSEL0, 0x4300c0,
		MSR_IA32_PMC0 },
	};
	for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct spmu_model *m = fixture_model(rows[k].name);
		struct spmu *p = NULL, *other = NULL;
		assert_int_equal(spmu_create(&p, m, NULL), SPMU_OK);
		assert_int_equal(spmu_create(&other, m, NULL), SPMU_OK);
		char *a = malloc(spmu_state_bytes(p)), *b = malloc(spmu_state_bytes(p));
		spmu_save(p, b);					/* task B has not begun */
		assert_int_equal(spmu_wrmsr(p, rows[k].control, rows[k].on), SPMU_OK);
		feed(p);
		spmu_save(p, a);
		assert_int_equal(spmu_restore(p, b), SPMU_OK);
		feed(p);
		assert_int_equal(fixture_read(p, rows[k].counter), 0);
		assert_int_equal(fixture_read(p, rows[k].control), 0);
		assert_int_equal(spmu_restore(other, a), SPMU_OK);	/* task A goes on elsewhere */
		assert_int_equal(fixture_read(other, rows[k].counter), 12);
		assert_int_equal(fixture_read(other, rows[k].control), rows[k].on);
		feed(other);
		assert_int_equal(fixture_read(other, rows[k].counter), 24);
		a[0] ^= 1;
		assert_int_equal(spmu_restore(p, a), SPMU_EINPUT);
		a[0] ^= 1;
		/* a changed block is either refused or a possible state */
		for (size_t i = 0; i < spmu_state_bytes(p); i += 61) {
			a[i] ^= 0x55;
			pmu_save_seal(p, a);
			int error = spmu_restore(p, a);
			assert_true(error == SPMU_OK || error == SPMU_EINPUT);
			a[i] ^= 0x55;
			feed(p);
		}
		free(a);
		free(b);
		spmu_destroy(p);
		spmu_destroy(other);
		spmu_model_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_p6_registers_take_or_fault),
		cmocka_unit_test(test_p5_registers_take_or_fault),
		cmocka_unit_test(test_p5_control_codes),
		cmocka_unit_test(test_p5_windows_are_closed_by_cesr_and_counters_wrap_at_40_bits),
		cmocka_unit_test(test_p6_counts_by_its_registers),
		cmocka_unit_test(test_p6_interrupts_on_overflow),
		cmocka_unit_test(test_a_saved_pmu_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
