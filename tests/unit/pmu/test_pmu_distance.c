/* SPDX-License-Identifier: GPL-2.0-or-later
 * spmu_pmi_distance: never beyond the next PMI, and as far as each event allows; spmu_wanted: enough to count. */
#include "pmu_fixture.h"

static unsigned taken;
static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	(void)context, (void)p, (void)pmi, (void)b;
	taken++;
}

static struct spmu *make(struct spmu_model *m, uint32_t latency)
{
	const struct spmu_host host = { .pmi = on_pmi, .pmi_latency = latency };
	struct spmu *p = fixture_pmu(m, &host);
	taken = 0;
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0xf0), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 1), 0);
	return p;
}

static void test_no_interrupt_can_come(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = make(m, 60);
	assert_true(spmu_pmi_distance(p) == UINT64_MAX);	/* nothing counts */
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, 0x4100c0), 0);
	assert_true(spmu_pmi_distance(p) == UINT64_MAX);	/* its overflow does not interrupt */
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, 0x5100c0), 0);
	assert_true(spmu_pmi_distance(p) == UINT64_C(1) << 48);
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x100f0), 0);
	assert_true(spmu_pmi_distance(p) == UINT64_MAX);	/* masked: it is lost */
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_the_most_urgent_counter_decides(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = make(m, 60);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 3), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, 0x5100c0), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint32_t)-1000), 0);
	assert_int_equal(spmu_pmi_distance(p), 1000);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 1, 0x51003c), 0);	/* cycles */
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + 1, (uint32_t)-25600), 0);
	assert_int_equal(spmu_pmi_distance(p), 100);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + 1, (uint32_t)-1), 0);
	assert_int_equal(spmu_pmi_distance(p), 1);
	spmu_destroy(p);
	spmu_model_free(m);
}

/* One instruction a batch, up to the distance and then again: no PMI is taken before the last of them. */
static void test_it_is_never_beyond_the_interrupt(void **state)
{
	(void)state;
	static const uint32_t event[] = { 0x5100c0, 0x51003c, 0x5101c2, 0x5101c4 };
	for (unsigned k = 0; k < sizeof event / sizeof *event; k++) {
		struct spmu_model *m = fixture_model("skylake");
		struct spmu *p = make(m, 10);
		struct stream s = { 0 };
		uint64_t safe = 0, asked = 0;
		for (unsigned i = 0; i < 3000; i++)
			stream_inst(&s, 0x1000 + 4 * i, i % 3 ? 0 : SPMU_IS(BRANCH) | SPMU_IS(COND), 0, i);
		stream_signal(&s, SPMU_SIG_CYCLES, 0, 3000, 1);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, event[k]), 0);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint32_t)-500), 0);
		for (unsigned i = 0; i < 3000 && !taken; i++) {
			if (!safe) {
				safe = spmu_pmi_distance(p);
				asked++;
			}
			safe--;
			struct spmu_record r = s.r[i];
			struct spmu_record cycle = { .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255, .did = 1,
				.signal = SPMU_SIG_CYCLES, .begin = 0, .end = 1 };
			struct spmu_record two[2] = { r, cycle };
			two[0].fetch = two[0].alloc = two[0].ready = two[0].dispatch = two[0].complete = 0;
			two[0].retire = 0;
			const struct spmu_batch b = {
				.base_cycle = i, .watermark = i + 1, .count = 2, .instructions = 1,
				.user_only = 1, .records = two
			};
			spmu_consume(p, &b);
			if (taken)
				assert_int_equal(safe, 0);
		}
		if (taken != 1)
			fail_msg("event %#x: %u interrupts", (unsigned)event[k], taken);
		assert_true(asked < 1000);
		stream_free(&s);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

/* Two distances: cycles are a distance of their own; what is counted by the cycle at most so many at once. */
static void test_instructions_and_cycles_apart(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = make(m, 60);
	uint64_t instructions, cycles;
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 7), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, 0x5100c0), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint32_t)-1000), 0);
	spmu_pmi_distances(p, &instructions, &cycles);
	assert_int_equal(instructions, 1000);
	assert_true(cycles == UINT64_MAX);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 1, 0x51003c), 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + 1, (uint32_t)-25600), 0);
	spmu_pmi_distances(p, &instructions, &cycles);
	assert_int_equal(instructions, 1000);
	assert_int_equal(cycles, 25600);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 2, 0x51010e), 0);	/* UOPS_ISSUED.ANY, up to 16 a cycle */
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0 + 2, (uint32_t)-16000), 0);
	spmu_pmi_distances(p, &instructions, &cycles);
	assert_int_equal(cycles, 1000);
	spmu_destroy(p);
	spmu_model_free(m);
}

/* A PMU that gets only what it says it wants counts the same. */
static void test_what_is_wanted_is_enough(void **state)
{
	(void)state;
	static const uint32_t event[] = { 0x5300c0, 0x53003c, 0x5301c4, 0x53010e };
	struct spmu_model *m = fixture_model("skylake");
	struct spmu_wants w;
	uint64_t count[2][4];
	for (unsigned less = 0; less < 2; less++) {
		struct spmu *p = make(m, 60);
		struct stream s = { 0 };
		unsigned kept = 0;
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, 15), 0);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + k, event[k]), 0);
		spmu_wanted(p, 1, &w);
		for (unsigned i = 0; i < 900; i++) {
			const uint64_t is = i % 3 ? 0 : SPMU_IS(BRANCH) | SPMU_IS(COND);
			stream_inst(&s, 0x1000 + 4 * i, is, i % 2 ? SPMU_DID(L1D_HIT) : 0, i + 5);
		}
		stream_signal(&s, SPMU_SIG_CYCLES, 0, 950, 1);
		struct spmu_record out[1024];
		struct spmu_batch b = { .watermark = 950, .instructions = 900, .user_only = 1, .records = out };
		for (size_t i = 0; i < s.n; i++) {
			struct spmu_record r = s.r[i];
			const bool uop = r.kind == SPMU_REC_UOP;
			const bool wanted = uop ? r.is & w.is || r.did & w.did :
				w.signal[r.signal >> 6] >> (r.signal & 63) & 1;
			if (less && !wanted)
				continue;
			kept += uop;
			if (uop) {
				r.fetch = r.alloc = r.ready = r.dispatch = 0;
				r.complete = r.retire = (uint32_t)s.at[i][5];
			} else {
				r.begin = (uint32_t)s.at[i][0];
				r.end = (uint32_t)s.at[i][1];
			}
			out[b.count++] = r;
		}
		spmu_consume(p, &b);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(spmu_rdmsr(p, MSR_IA32_PMC0 + k, &count[less][k]), 0);
		assert_int_equal(count[less][0], 900);
		assert_int_equal(count[less][2], 300);
		stream_free(&s);
		spmu_destroy(p);
		if (!less)
			assert_int_equal(kept, 900);
	}
	assert_memory_equal(count[0], count[1], sizeof count[0]);
	/* close to an overflow that interrupts, all records are wanted; instructions alone far from one need none */
	struct spmu *p = make(m, 60);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, 0x5300c0), 0);
	spmu_wanted(p, 1, &w);
	assert_true(!w.is && !w.did);
	spmu_wanted(p, 0, &w);
	assert_true(!~w.is && !~w.did);
	spmu_destroy(p);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_interrupt_can_come),
		cmocka_unit_test(test_the_most_urgent_counter_decides),
		cmocka_unit_test(test_it_is_never_beyond_the_interrupt),
		cmocka_unit_test(test_instructions_and_cycles_apart),
		cmocka_unit_test(test_what_is_wanted_is_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
