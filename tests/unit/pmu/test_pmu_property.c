/* SPDX-License-Identifier: GPL-2.0-or-later
 * Random batches: every event of both tables counts what its definition gives cycle by cycle, no matter how the stream
 * is cut into batches, alone or with a counter that samples.
 */
#include "pmu_fixture.h"

static unsigned first_pmc(const struct spmu_event *e)
{
	return (unsigned)__builtin_ctz(e->pmc_mask);
}

/* Programs the event and returns the counter's MSR. */
static uint32_t program(struct spmu *p, const struct spmu_event *e, uint64_t evtsel)
{
	const struct spmu_event *f = spmu_model_find_code(p->model, evtsel);
	if (e->flags & SPMU_EVENT_FIXED_ONLY) {
		unsigned level = (evtsel & SPMU_EVTSEL_OS ? 1 : 0) | (evtsel & SPMU_EVTSEL_USR ? 2 : 0);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, (uint64_t)level << 4 * e->fixed), SPMU_OK);
		return MSR_IA32_FIXED_CTR0 + (uint32_t)e->fixed;
	}
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + first_pmc(f), evtsel), SPMU_OK);
	return MSR_IA32_PMC0 + first_pmc(f);
}

static void check_table(const char *name, uint64_t seed, bool modified)
{
	struct spmu_model *m = fixture_model(name);
	struct stream s = { 0 };
	uint64_t cycles = stream_random(&s, seed, 1200), rng = seed * 77 + 5;
	unsigned compared = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		const struct pmu_row *row = (const struct pmu_row *)e;
		if (e->flags & SPMU_EVENT_NOT_MODELLED || !naive_knows(m, e))
			continue;
		uint64_t v = fixture_evtsel(e);
		if (modified && !(e->flags & SPMU_EVENT_FIXED_ONLY)) {
			v &= ~(SPMU_EVTSEL_USR | SPMU_EVTSEL_OS);
			v |= (1 + draw(&rng, 3)) << 16;
			v ^= draw(&rng, 2) ? SPMU_EVTSEL_INV : 0;
			v ^= draw(&rng, 2) ? SPMU_EVTSEL_EDGE : 0;
			if (!row->weighted)
				v = (v & ~SPMU_EVTSEL_CMASK(255)) | SPMU_EVTSEL_CMASK(draw(&rng, 4));
			const struct pmu_row *found = pmu_find_code(m, v);
			if (!found || !found->expr.terms)
				continue;	/* the code's row is another one, which is not modelled */
		}
		unsigned cmask = v >> 24 & 255;
		bool inv = v & SPMU_EVTSEL_INV, edge = v & SPMU_EVTSEL_EDGE;
		if (e->flags & SPMU_EVENT_FIXED_ONLY)
			cmask = inv = edge = 0;
		struct spmu *p = fixture_pmu(m, NULL);
		uint32_t msr = program(p, e, v);
		fixture_extra(p, e, msr - MSR_IA32_PMC0);
		if (draw(&rng, 2))
			stream_send_cut(&s, p, seed + i, 1 + draw(&rng, 900));
		else
			stream_send_cut(&s, p, seed + i, 1 + draw(&rng, 12));
		uint64_t want = naive_count(m, &s, row, cycles, v >> 16 & 3, cmask, inv, edge), got = fixture_read(p,
			msr);
		if (want != got)
			fail_msg("%s %s (cmask %u inv %d edge %d): %llu, by definition %llu", name, e->name, cmask, inv,
				edge,
				(unsigned long long)got, (unsigned long long)want);
		compared++;
		spmu_destroy(p);
	}
	assert_true(compared > 150);
	stream_free(&s);
	spmu_model_free(m);
}

static void test_every_event_counts_what_its_definition_says(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		check_table("skylake", seed, false);
		check_table("golden-cove", seed + 100, false);
	}
}

static void test_cmask_inv_edge_and_rings_apply_to_every_event(void **state)
{
	(void)state;
	for (uint64_t seed = 11; seed <= 13; seed++) {
		check_table("skylake", seed, true);
		check_table("golden-cove", seed + 100, true);
	}
}

/* Counters that are programmed together do not disturb each other. */
static void test_eight_counters_at_once_count_as_alone(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct stream s = { 0 };
	uint64_t cycles = stream_random(&s, 42, 3000), rng = 99;
	for (unsigned round = 0; round < 40; round++) {
		struct spmu *p = fixture_pmu(m, NULL);
		const struct spmu_event *chosen[8] = { 0 };
		unsigned extras = 0;
		for (unsigned k = 0; k < 8; k++) {
			const struct spmu_event *e;
			do
				e = spmu_model_event(m, draw(&rng, spmu_model_events(m)));
			while (e->flags & SPMU_EVENT_NOT_MODELLED || !(e->pmc_mask >> k & 1) || !naive_knows(m, e) ||
				(e->extra_msr && extras));
			chosen[k] = e;
			extras += e->extra_msr != 0;	/* two events could need different values in one MSR */
			fixture_extra(p, e, k);
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + k, fixture_evtsel(e)), SPMU_OK);
		}
		stream_send_cut(&s, p, rng, 1000);
		for (unsigned k = 0; k < 8; k++) {
			const struct spmu_event *e = chosen[k];
			uint64_t want = naive_count(m, &s, (const struct pmu_row *)e, cycles, 3, e->cmask, e->inv,
				e->edge);
			if (fixture_read(p, MSR_IA32_PMC0 + k) != want)
				fail_msg("%s beside seven others: %llu, alone %llu", e->name,
					(unsigned long long)fixture_read(p, MSR_IA32_PMC0 + k),
					(unsigned long long)want);
		}
		spmu_destroy(p);
	}
	stream_free(&s);
	spmu_model_free(m);
}

static void rearm(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	(void)pmi;
	(void)b;
	++*(unsigned *)context;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_STATUS_RESET, 1);
	spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-37);
}

/* PMC0 samples with a short period; what the other counters count does not change by it. */
static void test_sampling_does_not_change_other_counts(void **state)
{
	(void)state;
	static const char *const samplers[] = { "INST_RETIRED.ANY_P", "CPU_CLK_UNHALTED.THREAD_P",
		"UOPS_EXECUTED.THREAD",
		"L1D.REPLACEMENT", "UOPS_RETIRED.STALL_CYCLES", "CYCLE_ACTIVITY.STALLS_TOTAL" };
	struct spmu_model *m = fixture_model("skylake");
	struct stream s = { 0 };
	uint64_t cycles = stream_random(&s, 4242, 4000), rng = 7;
	for (unsigned round = 0; round < 36; round++) {
		unsigned pmis = 0;
		struct spmu_host host = { .context = &pmis, .pmi = rearm, .pmi_latency = (uint32_t)draw(&rng, 60) };
		struct spmu *p = fixture_pmu(m, &host);
		const struct spmu_event *chosen[8] = { 0 };
		unsigned extras = 0;
		for (unsigned k = 1; k < 8; k++) {
			const struct spmu_event *e;
			do
				e = spmu_model_event(m, draw(&rng, spmu_model_events(m)));
			while (e->flags & SPMU_EVENT_NOT_MODELLED || !(e->pmc_mask >> k & 1) || !naive_knows(m, e) ||
				(e->extra_msr && extras));
			chosen[k] = e;
			extras += e->extra_msr != 0;	/* two events could need different values in one MSR */
			fixture_extra(p, e, k);
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + k, fixture_evtsel(e)), SPMU_OK);
		}
		fixture_program(p, 0, samplers[round % 6], SPMU_EVTSEL_INT);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-37), SPMU_OK);
		stream_send_cut(&s, p, rng, 1000);
		assert_true(pmis > 0);
		for (unsigned k = 1; k < 8; k++) {
			const struct spmu_event *e = chosen[k];
			uint64_t want = naive_count(m, &s, (const struct pmu_row *)e, cycles, 3, e->cmask, e->inv,
				e->edge);
			if (fixture_read(p, MSR_IA32_PMC0 + k) != want)
				fail_msg("%s beside sampling on %s: %llu, alone %llu", e->name, samplers[round % 6],
					(unsigned long long)fixture_read(p, MSR_IA32_PMC0 + k),
					(unsigned long long)want);
		}
		spmu_destroy(p);
	}
	stream_free(&s);
	spmu_model_free(m);
}

static void test_same_input_same_bits(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	struct stream s = { 0 };
	stream_random(&s, 5, 3000);
	uint64_t first[8];
	for (unsigned run = 0; run < 2; run++) {
		unsigned pmis = 0;
		struct spmu_host host = { .context = &pmis, .pmi = rearm, .pmi_latency = 20 };
		struct spmu *p = fixture_pmu(m, &host);
		fixture_program(p, 0, "UOPS_ISSUED.ANY", SPMU_EVTSEL_INT);
		for (unsigned k = 1; k < 8; k++)
			fixture_program(p, k, "UOPS_EXECUTED.CYCLES_GE_2", 0);
		spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-37);
		stream_send_cut(&s, p, 3, 500);
		for (unsigned k = 0; k < 8; k++) {
			uint64_t v = fixture_read(p, MSR_IA32_PMC0 + k) + (k ? 0 : (uint64_t)pmis << 20);
			if (run)
				assert_int_equal(v, first[k]);
			first[k] = v;
		}
		spmu_destroy(p);
	}
	stream_free(&s);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_event_counts_what_its_definition_says),
		cmocka_unit_test(test_cmask_inv_edge_and_rings_apply_to_every_event),
		cmocka_unit_test(test_eight_counters_at_once_count_as_alone),
		cmocka_unit_test(test_sampling_does_not_change_other_counts),
		cmocka_unit_test(test_same_input_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
