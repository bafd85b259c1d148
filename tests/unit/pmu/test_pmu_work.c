/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a batch costs: whatever the registers say, its work is in proportion to its records, the interrupts taken and
 * the PEBS records written.  The work is counted in steps (struct spmu.steps), so that no test depends on the host.
 */
#include "netburst_fixture.h"

/* Steps that one batch may take for each record, interrupt and PEBS record, and for nothing. */
enum { STEPS_EACH = 600, STEPS_FREE = 20000 };

struct machine { unsigned taken; bool unmask; };

static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct machine *m = context;
	(void)pmi, (void)b;
	if (++m->taken < 300 && m->unmask)
		spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
}

/* Consumes a batch and checks its work. */
static void consume(struct spmu *p, struct spmu_record *r, uint32_t n, uint64_t base, uint64_t watermark, bool last)
{
	const struct spmu_batch b = { .base_cycle = base, .watermark = watermark, .count = n, .is_last = last,
		.records = r };
	const uint64_t steps = p->steps, effects = p->effects;
	spmu_consume(p, &b);
	const uint64_t most = STEPS_FREE + STEPS_EACH * (n + p->effects - effects);
	if (p->steps - steps > most)
		fail_msg("%llu steps for %u records and %llu effects", (unsigned long long)(p->steps - steps), n,
			(unsigned long long)(p->effects - effects));
}

/* An instruction that retires at `retire`, between stretches in which the core runs. */
static void batch_of(struct spmu *p, uint64_t base, uint32_t cycles, bool last)
{
	struct spmu_record r[3] = {
		{ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_CYCLES, .cpl = 3, .end = cycles },
		{ .kind = SPMU_REC_UOP, .cpl = 3, .ip = 0x1000, .is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END),
			.did = SPMU_DID(RETIRED), .retire = cycles / 2 },
		{ .kind = SPMU_REC_UOP, .cpl = 3, .ip = 0x1004, .is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END),
			.did = SPMU_DID(RETIRED), .retire = cycles - 1 },
	};
	consume(p, r, 3, base, base + cycles, last);
}

static void test_an_overflow_on_every_clock_costs_no_time_while_nobody_takes_it(void **state)
{
	(void)state;
	struct spmu_model *model = fixture_model("netburst");
	for (unsigned way = 0; way < 4; way++) {	/* bit 0: masked; bit 1: a clock counter, else a threshold's */
		struct machine m = { .unmask = !(way & 1) };
		const struct spmu_host host = { .context = &m, .pmi = on_pmi };
		struct spmu *p = netburst_pmu(model, &host);
		if (way & 1)
			spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x10400);
		nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, SPMU_CCCR_FORCE_OVF | SPMU_CCCR_OVF_PMI_T0 |
			(way & 2 ? SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(15) : 0));
		for (unsigned i = 0; i < 4; i++)
			batch_of(p, (uint64_t)i << 50, UINT32_MAX - 1, false);
		batch_of(p, UINT64_C(4) << 50, 1000, false);
		uint64_t want = way & 2 ? (UINT64_C(4) << 50) + 1000 : 10;
		assert_int_equal(fixture_read(p, NB_COUNTER(12)), want & NB_MASK);
		assert_true(way & 1 ? !m.taken : m.taken > 0);
		spmu_destroy(p);
	}
	spmu_model_free(model);
}

/* Overflows that merge lose no count: of a thread that shares its PMU, and of a counter that starts another. */
static void test_overflows_on_every_clock_lose_no_count(void **state)
{
	(void)state;
	struct spmu_model *model = fixture_model("netburst");
	for (unsigned way = 0; way < 16; way++) {
		struct machine m = { .unmask = true };
		const struct spmu_host host = { .context = &m, .pmi = on_pmi, .siblings = way & 1 ? 2 : 1,
			.pmi_latency = way & 8 ? 50 : 0 };
		struct spmu *p = netburst_pmu(model, &host);
		if (way & 2)
			spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x10400);
		if (way & 4)
			spmu_wrmsr(p, NB_CCCR(14), SPMU_CCCR_CASCADE | SPMU_CCCR_ACTIVE(3));
		nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, SPMU_CCCR_FORCE_OVF | SPMU_CCCR_OVF_PMI_T0 |
			SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT | SPMU_CCCR_THRESHOLD(15));
		batch_of(p, 0, 100000, true);
		if (fixture_read(p, NB_COUNTER(12)) != 100000)
			fail_msg("way %u: %llu", way, (unsigned long long)fixture_read(p, NB_COUNTER(12)));
		spmu_destroy(p);
	}
	spmu_model_free(model);
}

static void test_no_register_image_makes_a_batch_slow(void **state)
{
	(void)state;
	static const char *const names[] = { "netburst", "netburst-prescott" };
	uint64_t seed = 20;
	for (unsigned round = 0; round < 60; round++) {
		struct spmu_model *model = fixture_model(names[round & 1]);
		struct machine m = { .unmask = draw(&seed, 2) };
		const struct spmu_host host = { .context = &m, .pmi = on_pmi,
			.pmi_latency = (uint32_t)draw(&seed, 60) };
		struct spmu *p = netburst_pmu(model, &host);
		for (unsigned i = 0; i < 18; i++) {
			const struct spmu_event *e;
			do
				e = spmu_model_event(model, draw(&seed, spmu_model_events(model)));
			while (!(e->pmc_mask >> i & 1));
			uint32_t escr = spmu_netburst_escr(model, i, e->escr_select);
			if (escr)
				spmu_wrmsr(p, escr, nb_escr(e, (uint32_t)draw(&seed, 512)));
			spmu_wrmsr(p, NB_COUNTER(i), -draw(&seed, 4));
			uint64_t cccr = (draw(&seed, 1 << 20) << 12 | SPMU_CCCR_ACTIVE(3)) &
				~(SPMU_CCCR_SELECT(7) | SPMU_CCCR_THRESHOLD(15) * draw(&seed, 2));
			spmu_wrmsr(p, NB_CCCR(i), cccr | SPMU_CCCR_SELECT(e->escr_select));
		}
		for (unsigned i = 0; i < 6; i++)
			batch_of(p, (uint64_t)i << 44, draw(&seed, 2) ? UINT32_MAX - 1 : 100000, i == 5);
		spmu_destroy(p);
		spmu_model_free(model);
	}
}

/* What 900 clocks give a counter that begins 7 below its overflow.  filter: bit 0 CMASK, 1 INV, 2 EDGE, 3 INT.
 * single: in batches of one clock each. */
static uint64_t parts_count(const struct spmu_model *model, const struct spmu_event *e, unsigned filter, bool single,
	unsigned *taken)
{
	struct machine m = { .unmask = true };
	const struct spmu_host host = { .context = &m, .pmi = on_pmi };
	struct spmu *p = fixture_pmu(model, &host);
	uint64_t v = (fixture_evtsel(e) & 0xffff) | SPMU_EVTSEL_USR | SPMU_EVTSEL_EN |
		(filter & 1 ? SPMU_EVTSEL_CMASK(1) : 0) | (filter & 2 ? SPMU_EVTSEL_INV : 0) |
		(filter & 4 ? SPMU_EVTSEL_EDGE : 0) | (filter & 8 ? SPMU_EVTSEL_INT : 0);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, v), SPMU_OK);
	spmu_wrmsr(p, MSR_IA32_PMC0, -(uint64_t)7);
	for (uint32_t i = 0; i < (single ? 900 : 1); i++) {
		struct spmu_record r = { .signal = SPMU_SIG_CYCLES, .cpl = 3, .end = single ? 1 : 900 };
		r.kind = SPMU_REC_SIGNAL;
		consume(p, &r, 1, i, i + r.end, i + r.end == 900);
	}
	uint64_t count = fixture_read(p, MSR_IA32_PMC0);
	*taken = m.taken;
	spmu_destroy(p);
	return count;
}

/* Events that count parts of a clock, such as a bus clock: a long stretch, counted in one step, gives what single
 * clocks give, with every filter and up to the same interrupts. */
static void test_parts_of_a_clock_are_counted_in_one_step(void **state)
{
	(void)state;
	static const char *const names[] = { "core2", "skylake", "sandy-bridge", "bonnell" };
	unsigned tried = 0, interrupts = 0;
	for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
		struct spmu_model *model = fixture_model(names[k]);
		for (size_t row = 0; row < model->rows; row++) {
			const struct pmu_row *w = &model->row[row];
			if (!w->expr.terms || w->expr.term[0].den == 1 || w->public.flags & SPMU_EVENT_FIXED_ONLY)
				continue;
			for (unsigned filter = 0; filter < 16; filter++, tried++) {
				unsigned taken[2];
				uint64_t once = parts_count(model, &w->public, filter, false, &taken[0]);
				uint64_t single = parts_count(model, &w->public, filter, true, &taken[1]);
				if (once != single || taken[0] != taken[1])
					fail_msg("%s %s, filter %u: %llu, and %llu clock by clock", names[k],
						w->public.name, filter, (unsigned long long)once,
						(unsigned long long)single);
				interrupts += taken[0];
			}
		}
		spmu_model_free(model);
	}
	assert_true(tried > 100 && interrupts > 10);
}

static void test_parts_of_a_clock_cost_no_time_in_a_long_batch(void **state)
{
	(void)state;
	struct spmu_model *model = fixture_model("core2");
	for (size_t row = 0; row < model->rows; row++) {
		const struct pmu_row *w = &model->row[row];
		if (!w->expr.terms || w->expr.term[0].den == 1 || w->public.flags & SPMU_EVENT_FIXED_ONLY)
			continue;
		struct machine m = { .unmask = true };
		const struct spmu_host host = { .context = &m, .pmi = on_pmi };
		struct spmu *p = fixture_pmu(model, &host);
		spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, (fixture_evtsel(&w->public) & 0xffff) | SPMU_EVTSEL_USR |
			SPMU_EVTSEL_EN | SPMU_EVTSEL_INT | SPMU_EVTSEL_EDGE | SPMU_EVTSEL_CMASK(1));
		for (unsigned i = 0; i < 4; i++)
			batch_of(p, (uint64_t)i << 32, UINT32_MAX - 1, i == 3);
		assert_true(fixture_read(p, MSR_IA32_PMC0) > UINT32_MAX / 3);
		spmu_destroy(p);
	}
	spmu_model_free(model);
}

/* Entries far apart, far beyond the watermark: each is entered and reached once. */
static void test_far_entries_do_not_cost_their_square(void **state)
{
	(void)state;
	struct spmu_model *model = fixture_model("skylake");
	struct spmu *p = fixture_pmu(model, NULL);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_CMASK(1));
	static struct spmu_record r[SPMU_BATCH_MAX];
	for (unsigned i = 0; i < SPMU_BATCH_MAX; i++) {
		/* not in order, and each beyond the ring of the one before it */
		uint32_t at = 3000000 * (i * 389u % SPMU_BATCH_MAX);
		r[i] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .signal = SPMU_SIG_CYCLES, .cpl = 3, .begin = at,
			.end = at + 5 };
		if (i % 2)
			r[i] = (struct spmu_record){ .cpl = 3, .ip = i, .is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END),
				.did = SPMU_DID(RETIRED), .retire = 3000000 * ((i - 1) * 389u % SPMU_BATCH_MAX) + 2 };
	}
	consume(p, r, SPMU_BATCH_MAX, 0, 1, false);
	assert_true(p->ring.fars > SPMU_BATCH_MAX);
	consume(p, r, 0, 0, UINT32_MAX, true);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), SPMU_BATCH_MAX / 2);
	spmu_destroy(p);
	spmu_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_overflow_on_every_clock_costs_no_time_while_nobody_takes_it),
		cmocka_unit_test(test_overflows_on_every_clock_lose_no_count),
		cmocka_unit_test(test_no_register_image_makes_a_batch_slow),
		cmocka_unit_test(test_parts_of_a_clock_are_counted_in_one_step),
		cmocka_unit_test(test_parts_of_a_clock_cost_no_time_in_a_long_batch),
		cmocka_unit_test(test_far_entries_do_not_cost_their_square),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
