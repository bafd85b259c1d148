/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's overflows: the sticky flag, interrupts on the event after the overflow, forced overflows, threads,
 * cascades.
 */
#include "netburst_setup.h"

struct taken { unsigned n; struct spmu_pmi pmi[64]; uint64_t count[64]; bool unmask, reload; unsigned counter;
	uint64_t preset, cccr; };

static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct taken *t = context;
	(void)b;
	if (t->n < 64) {
		t->count[t->n] = nb_count(p, t->counter);
		t->pmi[t->n] = *pmi;
	}
	t->n++;
	if (t->unmask)
		spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	if (t->reload) {
		nb_write(p, NB_CCCR(t->counter), t->cccr);
		nb_write(p, NB_COUNTER(t->counter), t->preset);
	}
}

static int setup(void **state)
{
	(void)state;
	return nb_setup("netburst-prescott");
}

/* Adds n instructions, which retire one a cycle from `at` on. */
static void instructions(unsigned n, uint64_t at)
{
	for (unsigned i = 0; i < n; i++)
		stream_inst(&s, 0x1000 + s.n, 0, 0, at + i);
}

static struct spmu *sampling(struct taken *t, unsigned counter, const char *event, uint64_t preset, uint32_t cccr)
{
	const struct spmu_host host = { .context = t, .pmi = on_pmi };
	struct spmu *p = netburst_pmu(model, &host);
	t->counter = counter;
	nb_write(p, NB_COUNTER(counter), preset);
	nb_program(p, counter, event, T0, cccr);
	return p;
}

/* SDM, "Generating an Interrupt on Overflow": for an interrupt on the 100th event the counter is preset to -99. */
static void test_the_interrupt_comes_on_the_event_behind_the_overflow(void **state)
{
	(void)state;
	for (unsigned period = 1; period <= 100; period += 33) {
		struct taken t = { 0 };
		struct spmu *p = sampling(&t, 12, "instr_retired.NBOGUSNTAG", -(uint64_t)(period - 1) - (period == 1),
			SPMU_CCCR_OVF_PMI_T0);
		stream_free(&s);
		instructions(150, 50);
		stream_send_all(&s, p);
		/* The preset is -(N-1) and the N-th event is at cycle 50 + N - 1. A preset of 0 cannot overflow at
		 * once, so a period of 1 is tested with N = 2. */
		unsigned nth = period == 1 ? 2 : period;
		assert_int_equal(t.n, 1);
		assert_int_equal(t.pmi[0].overflow_cycle, 50 + nth - 1);
		assert_int_equal(t.pmi[0].ip, 0x1000 + nth);	/* the first instruction that has not retired */
		assert_int_equal(t.pmi[0].status, 1u << 12);
		assert_int_equal(t.pmi[0].hw_thread, 0);
		assert_true(fixture_read(p, NB_CCCR(12)) & SPMU_CCCR_OVF);
		assert_int_equal(nb_count(p, 12), 150 - (nth - 1));
		spmu_destroy(p);
	}
}

static void test_events_of_the_overflow_s_own_clock_do_not_interrupt(void **state)
{
	(void)state;
	struct taken t = { 0 };
	struct spmu *p = sampling(&t, 13, "uops_retired.NBOGUS", (uint64_t)-1, SPMU_CCCR_OVF_PMI_T0);
	for (unsigned i = 0; i < 9; i++)
		stream_inst(&s, 0x1000 + i, 0, 0, 20 + 10 * (i / 3));
	stream_send_all(&s, p);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.pmi[0].overflow_cycle, 30);
	spmu_destroy(p);
}

/* The same for an event that is a signal. */
static void test_an_interrupt_on_a_signal_waits_for_the_next_one(void **state)
{
	(void)state;
	struct taken t = { 0 };
	struct spmu *p = sampling(&t, 4, "tc_ms_xfer.CISC", (uint64_t)-2, SPMU_CCCR_OVF_PMI_T0);
	instructions(100, 100);
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 110, 110, 1);
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 120, 120, 1);	/* wraps */
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 135, 135, 1);	/* fires */
	stream_signal(&s, SPMU_SIG_MS_SWITCH, 150, 150, 1);
	stream_cycles(&s, 0, 3, 0, 250);
	stream_send_all(&s, p);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.pmi[0].overflow_cycle, 135);
	assert_int_equal(nb_count(p, 4), 2);
	spmu_destroy(p);
}

static void test_cycles_interrupt_one_cycle_behind_the_overflow(void **state)
{
	(void)state;
	struct taken t = { 0 };
	struct spmu *p = sampling(&t, 0, "global_power_events.RUNNING", (uint64_t)-50, SPMU_CCCR_OVF_PMI_T0);
	instructions(100, 10);
	stream_cycles(&s, 0, 3, 0, 110);
	stream_send_all(&s, p);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.pmi[0].overflow_cycle, 50);	/* cycles 0 to 49 make it overflow */
	spmu_destroy(p);
}

static void test_overflow_is_sticky_until_software_clears_it(void **state)
{
	(void)state;
	struct spmu *p = netburst_pmu(model, NULL);
	nb_program(p, 17, "instr_retired.NBOGUSNTAG", T0, 0);
	uint64_t cccr = fixture_read(p, NB_CCCR(17));
	nb_write(p, NB_COUNTER(17), (uint64_t)-5);
	instructions(30, 10);
	stream_send(&s, 0, 10, 0, 20, false, p);
	assert_int_equal(fixture_read(p, NB_CCCR(17)), cccr | SPMU_CCCR_OVF);
	stream_send(&s, 10, 20, 20, 30, false, p);
	assert_int_equal(fixture_read(p, NB_CCCR(17)), cccr | SPMU_CCCR_OVF);
	nb_write(p, NB_CCCR(17), cccr);
	stream_send(&s, 20, 30, 30, 60, true, p);
	assert_int_equal(fixture_read(p, NB_CCCR(17)), cccr);
	assert_int_equal(nb_count(p, 17), 25);
	spmu_destroy(p);
}

static void test_clearing_the_flag_takes_a_waiting_interrupt_back(void **state)
{
	(void)state;
	for (unsigned clear = 0; clear < 2; clear++) {
		struct taken t = { 0 };
		struct spmu *p = sampling(&t, 12, "instr_retired.NBOGUSNTAG", (uint64_t)-5, SPMU_CCCR_OVF_PMI_T0);
		stream_free(&s);
		instructions(20, 10);
		stream_send(&s, 0, 5, 0, 15, false, p);
		assert_true(fixture_read(p, NB_CCCR(12)) & SPMU_CCCR_OVF);
		assert_int_equal(t.n, 0);
		nb_write(p, NB_CCCR(12), fixture_read(p, NB_CCCR(12)) & ~(clear ? (uint64_t)SPMU_CCCR_OVF : 0));
		stream_send(&s, 5, 20, 15, 60, true, p);
		assert_int_equal(t.n, !clear);
		spmu_destroy(p);
	}
}

/* The handler sets another counter's threshold so that nothing passes any more; events before the interrupt count. */
static void narrow(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	(void)context, (void)pmi, (void)b;
	nb_write(p, NB_CCCR(15), fixture_read(p, NB_CCCR(15)) | SPMU_CCCR_THRESHOLD(15));
}

static void test_a_filter_changed_in_a_handler_holds_from_there_on(void **state)
{
	(void)state;
	const struct spmu_host host = { .pmi = narrow };
	struct spmu *p = netburst_pmu(model, &host);
	nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, SPMU_CCCR_OVF_PMI_T0);
	nb_program(p, 15, "uops_retired.NBOGUS", T0, SPMU_CCCR_COMPARE);
	nb_write(p, NB_COUNTER(12), (uint64_t)-29);
	instructions(100, 10);
	stream_cycles(&s, 0, 3, 0, 110);
	stream_send(&s, 0, s.n, 0, 5, false, p);	/* the watermark lags: nothing behind cycle 5 is final yet */
	stream_send(&s, s.n, s.n, 5, 300, true, p);
	assert_int_equal(nb_count(p, 15), 30);
	spmu_destroy(p);
}

static void test_without_a_pmi_bit_there_is_no_interrupt(void **state)
{
	(void)state;
	struct taken t = { 0 };
	struct spmu *p = sampling(&t, 12, "instr_retired.NBOGUSNTAG", (uint64_t)-5, 0);
	instructions(30, 10);
	stream_send_all(&s, p);
	assert_int_equal(t.n, 0);
	assert_true(fixture_read(p, NB_CCCR(12)) & SPMU_CCCR_OVF);
	spmu_destroy(p);
}

static void test_a_pmi_masks_the_local_apic_s_entry(void **state)
{
	(void)state;
	for (unsigned unmask = 0; unmask < 2; unmask++) {
		struct taken t = { .unmask = unmask, .reload = true, .preset = (uint64_t)-9 };
		struct spmu *p = sampling(&t, 12, "instr_retired.NBOGUSNTAG", (uint64_t)-9, SPMU_CCCR_OVF_PMI_T0);
		t.cccr = fixture_read(p, NB_CCCR(12));
		stream_free(&s);
		instructions(100, 10);
		uint32_t lvt = 0;
		stream_send_all(&s, p);
		assert_int_equal(t.n, unmask ? 10 : 1);
		for (unsigned i = 0; i < t.n; i++)	/* every tenth instruction */
			assert_int_equal(t.pmi[i].overflow_cycle, 10 + 10 * (i + 1) - 1);
		spmu_apic_read(p, SPMU_APIC_LVT_PC, &lvt);
		assert_int_equal(lvt, unmask ? 0x400 : 0x10400);
		spmu_destroy(p);
	}
}

static void test_force_ovf_makes_every_increment_an_overflow(void **state)
{
	(void)state;
	struct taken t = { .unmask = true };
	struct spmu *p = sampling(&t, 12, "instr_retired.NBOGUSNTAG", 0, SPMU_CCCR_FORCE_OVF | SPMU_CCCR_OVF_PMI_T0);
	instructions(6, 100);
	stream_send_all(&s, p);
	assert_true(fixture_read(p, NB_CCCR(12)) & SPMU_CCCR_OVF);
	assert_int_equal(nb_count(p, 12), 6);
	/* the first only arms; each of the others interrupts and overflows */
	assert_int_equal(t.n, 5);
	for (unsigned i = 0; i < t.n; i++)
		assert_int_equal(t.pmi[i].overflow_cycle, 101 + i);
	spmu_destroy(p);
}

static void test_force_ovf_sets_the_flag_without_interrupts_too(void **state)
{
	(void)state;
	struct spmu *p = netburst_pmu(model, NULL);
	nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, SPMU_CCCR_FORCE_OVF);
	stream_inst(&s, 1, 0, 0, 10);
	stream_send_all(&s, p);
	assert_true(fixture_read(p, NB_CCCR(12)) & SPMU_CCCR_OVF);
	assert_int_equal(nb_count(p, 12), 1);
	spmu_destroy(p);
}

/* One instruction a cycle, of which each sixth begins a line of the trace cache.  The tenth, at cycle 59,
 * interrupts. */
static void test_an_interrupt_waits_for_the_apic_s_clock_and_for_a_line(void **state)
{
	(void)state;
	/* latency, clock, line: address of the instruction interrupted.  Instruction i retires at 50 + i; the interrupt
	 * that arrives at cycle c meets instruction c - 49 */
	static const struct { uint32_t latency, clock; bool line; unsigned at; } is[] = {
		{ 0, 0, false, 10 }, { 5, 0, false, 15 }, { 5, 1, false, 15 }, { 5, 16, false, 64 - 49 },
		{ 6, 16, false, 80 - 49 }, { 21, 16, false, 80 - 49 }, { 0, 0, true, 12 }, { 2, 0, true, 12 },
		{ 3, 0, true, 18 }, { 6, 16, true, 36 },
	};
	for (unsigned k = 0; k < sizeof is / sizeof *is; k++) {
		struct taken t = { 0 };
		const struct spmu_host host = { .context = &t, .pmi = on_pmi, .pmi_latency = is[k].latency,
			.pmi_clock = is[k].clock, .pmi_line = is[k].line };
		struct spmu *p = netburst_pmu(model, &host);
		nb_write(p, NB_COUNTER(12), (uint64_t)-9);
		nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, SPMU_CCCR_OVF_PMI_T0);
		stream_free(&s);
		instructions(150, 50);
		for (unsigned i = 0; i < 150; i += 6)
			s.r[i].did |= SPMU_DID(LINE_HEAD);
		stream_send_all(&s, p);
		assert_int_equal(t.n, 1);
		assert_int_equal(t.pmi[0].overflow_cycle, 59);
		assert_int_equal(t.pmi[0].ip, 0x1000 + is[k].at);
		spmu_destroy(p);
	}
}

/* The instructions of two threads alternate; the OVF_PMI bits say which thread to interrupt. */
static void test_the_interrupt_goes_to_the_thread_of_the_bit(void **state)
{
	(void)state;
	for (unsigned bits = 1; bits < 4; bits++) {
		struct taken t = { .unmask = true };
		struct spmu *p = sampling(&t, 12, "instr_retired.NBOGUSNTAG", (uint64_t)-9,
			(bits & 1 ? SPMU_CCCR_OVF_PMI_T0 : 0) | (bits & 2 ? SPMU_CCCR_OVF_PMI_T1 : 0));
		stream_free(&s);
		instructions(100, 10);
		for (unsigned i = 0; i < 100; i++)
			s.r[i].hw_thread = i & 1 ? 3 : 0;
		stream_send_all(&s, p);
		/* T0's tenth instruction is the 19th of both threads, at cycle 28 */
		assert_int_equal(t.n, bits == 3 ? 2 : 1);
		unsigned n = 0;
		if (bits & 2) {		/* its next instruction comes before T0's */
			assert_int_equal(t.pmi[n].hw_thread, 3);
			assert_int_equal(t.pmi[n++].ip, 0x1000 + 19);
		}
		if (bits & 1) {
			assert_int_equal(t.pmi[n].hw_thread, 0);
			assert_int_equal(t.pmi[n].ip, 0x1000 + 20);
			assert_int_equal(t.pmi[n++].overflow_cycle, 28);
		}
		spmu_destroy(p);
	}
}

/* ---- cascades ------------------------------------------------------------------------------------------------- */

static const uint8_t partner[18] = { 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 14, 15 };

/* An event of the counter's block that occurs once a cycle in the stream below. */
static const char *block_event(unsigned n)
{
	return n < 4 ? "global_power_events.RUNNING" : n < 8 ? "uop_queue_writes.FROM_TC_DELIVER" : n < 12
		? "x87_FP_uop.ALL" : "uops_retired.NBOGUS";
}

static void steady(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		stream_inst(&s, 0x1000 + i, SPMU_IS(X87), SPMU_DID(FROM_DSB), 100 + i);
	stream_cycles(&s, 0, 3, 100, 100 + n);
}

static void test_a_counter_starts_when_its_partner_overflows(void **state)
{
	(void)state;
	steady(300);
	for (unsigned y = 0; y < 18; y++)
		for (unsigned x = 0; x < 18; x++) {
			if (x == y)
				continue;
			struct spmu *p = netburst_pmu(model, NULL);
			nb_program(p, x, block_event(x), T0, 0);
			nb_program(p, y, block_event(y), T0, SPMU_CCCR_CASCADE);
			nb_write(p, NB_CCCR(y), fixture_read(p, NB_CCCR(y)) & ~(uint64_t)SPMU_CCCR_ENABLE);
			nb_write(p, NB_COUNTER(x), (uint64_t)-200);
			stream_send_all(&s, p);
			uint64_t got = nb_count(p, y);
			if (got != (partner[y] == x ? 100 : 0))
				fail_msg("counter %u behind %u: %llu", y, x, (unsigned long long)got);
			assert_int_equal(nb_count(p, x), 100);
			spmu_destroy(p);
		}
}

static void test_extended_cascades_start_from_16_and_17(void **state)
{
	static const uint8_t from[18] = { [12] = 16, [15] = 17, [16] = 17, [17] = 16 };
	(void)state;
	steady(300);
	for (unsigned y = 12; y < 18; y++)
		for (unsigned x = 12; x < 18; x++) {
			if (x == y || !from[y])
				continue;
			struct spmu *p = netburst_pmu(model, NULL);
			nb_program(p, x, block_event(x), T0, 0);
			nb_program(p, y, block_event(y), T0, SPMU_CCCR_EXTENDED_CASCADE);
			nb_write(p, NB_CCCR(y), fixture_read(p, NB_CCCR(y)) & ~(uint64_t)SPMU_CCCR_ENABLE);
			nb_write(p, NB_COUNTER(x), (uint64_t)-200);
			stream_send_all(&s, p);
			if (nb_count(p, y) != (from[y] == x ? 100 : 0))
				fail_msg("counter %u behind %u: %llu", y, x, (unsigned long long)nb_count(p, y));
			spmu_destroy(p);
		}
}

/* SDM's example: 200 occurrences of A, then 400 of B, then an interrupt. */
static void test_a_cascaded_counter_interrupts(void **state)
{
	(void)state;
	for (unsigned quirk = 0; quirk < 2; quirk++) {
		struct taken t = { .counter = 14 };
		const struct spmu_host host = { .context = &t, .pmi = on_pmi, .quirks = quirk
			? SPMU_QUIRK_NETBURST_CASCADE_NO_PMI : 0 };
		struct spmu *p = netburst_pmu(model, &host);
		stream_free(&s);
		steady(900);
		nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, 0);
		nb_program(p, 14, "uops_retired.NBOGUS", T0, SPMU_CCCR_CASCADE | SPMU_CCCR_OVF_PMI_T0);
		nb_write(p, NB_CCCR(14), fixture_read(p, NB_CCCR(14)) & ~(uint64_t)SPMU_CCCR_ENABLE);
		nb_write(p, NB_COUNTER(12), (uint64_t)-200);
		nb_write(p, NB_COUNTER(14), (uint64_t)-400);
		stream_send_all(&s, p);
		assert_int_equal(t.n, !quirk);	/* the erratum: no PMI in cascade mode */
		if (!quirk)
			assert_int_equal(t.pmi[0].overflow_cycle, 100 + 200 + 400);
		assert_int_equal(nb_count(p, 14), 300);
		assert_true(fixture_read(p, NB_CCCR(14)) & SPMU_CCCR_OVF);
		spmu_destroy(p);
	}
}

static void test_clearing_cascade_or_the_partner_s_overflow_stops_it(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		struct spmu *p = netburst_pmu(model, NULL);
		stream_free(&s);
		instructions(60, 10);
		nb_program(p, 12, "instr_retired.NBOGUSNTAG", T0, 0);
		nb_program(p, 14, "uops_retired.NBOGUS", T0, SPMU_CCCR_CASCADE);
		nb_write(p, NB_CCCR(14), fixture_read(p, NB_CCCR(14)) & ~(uint64_t)SPMU_CCCR_ENABLE);
		nb_write(p, NB_COUNTER(12), (uint64_t)-5);
		stream_send(&s, 0, 20, 0, 30, false, p);
		assert_int_equal(nb_count(p, 14), 15);
		if (way == 1)
			nb_write(p, NB_CCCR(14), fixture_read(p, NB_CCCR(14)) & ~(uint64_t)SPMU_CCCR_CASCADE);
		if (way == 2)
			nb_write(p, NB_CCCR(12), fixture_read(p, NB_CCCR(12)) & ~(uint64_t)SPMU_CCCR_OVF);
		stream_send(&s, 20, 60, 30, 200, true, p);
		assert_int_equal(nb_count(p, 14), way ? 15 : 55);
		assert_int_equal(nb_count(p, 12), 55);
		spmu_destroy(p);
	}
}

static void test_one_counter_may_start_two(void **state)
{
	(void)state;
	struct spmu *p = netburst_pmu(model, NULL);
	steady(300);
	nb_program(p, 14, "uops_retired.NBOGUS", T0, 0);
	for (unsigned y = 12; y <= 16; y += 4) {
		nb_program(p, y, "uops_retired.NBOGUS", T0, SPMU_CCCR_CASCADE);
		nb_write(p, NB_CCCR(y), fixture_read(p, NB_CCCR(y)) & ~(uint64_t)SPMU_CCCR_ENABLE);
	}
	nb_write(p, NB_COUNTER(14), (uint64_t)-1);
	stream_send_all(&s, p);
	assert_int_equal(nb_count(p, 12), 299);
	assert_int_equal(nb_count(p, 16), 299);
	spmu_destroy(p);
}

/* SDM, Example 18-2: instructions of logical processor 1 after 4096 of
 * logical processor 0, with the manual's own values. */
static void test_the_manual_s_extended_cascade_example_works(void **state)
{
	(void)state;
	struct taken t = { .counter = 12 };
	const struct spmu_host host = { .context = &t, .pmi = on_pmi };
	struct spmu *p = netburst_pmu(model, &host);
	nb_write(p, NB_COUNTER(12), 0);
	nb_write(p, MSR_CRU_ESCR0, 0x04000603);
	nb_write(p, NB_CCCR(12), 0x04038800);
	nb_write(p, NB_COUNTER(16), UINT64_C(0xfffffff000));
	nb_write(p, MSR_CRU_ESCR2, 0x0400060c);
	/* The example's step 5 names MSR_CRU_ESCR2, where event 02H is machine_clear. instr_retired is in
	 * MSR_CRU_ESCR0, which T1's count occupies, so counter 16 counts branches of T0 through MSR_CRU_ESCR2: */
	nb_write(p, MSR_CRU_ESCR2, SPMU_ESCR_EVENT(6) | SPMU_ESCR_MASK(15) | T0);
	nb_write(p, NB_CCCR(16), SPMU_CCCR_ENABLE | SPMU_CCCR_SELECT(5) | SPMU_CCCR_ACTIVE(3));
	for (unsigned i = 0; i < 10000; i++) {
		struct spmu_record *r = stream_inst(&s, 0x1000 + i, SPMU_IS(BRANCH), 0, 100 + i);
		r->hw_thread = i & 1;
	}
	stream_send_cut(&s, p, 3, 200);
	/* T0's 4096th branch is record 8190: from 8191 on T1's 5000 - 4095 instructions count */
	assert_int_equal(nb_count(p, 16), 5000 - 4096);
	assert_int_equal(nb_count(p, 12), 5000 - 4095);
	spmu_destroy(p);
}

static void test_results_do_not_depend_on_batches(void **state)
{
	(void)state;
	steady(2000);
	uint64_t want[4] = { 0 };
	for (uint64_t seed = 0; seed < 6; seed++) {
		struct taken t = { .unmask = true, .reload = true, .preset = (uint64_t)-36 };
		struct spmu *p = sampling(&t, 12, "instr_retired.NBOGUSNTAG", (uint64_t)-36, SPMU_CCCR_OVF_PMI_T0);
		t.cccr = fixture_read(p, NB_CCCR(12));
		nb_program(p, 15, "uops_retired.NBOGUS", T0, SPMU_CCCR_COMPARE);
		nb_program(p, 13, "instr_retired.NBOGUSNTAG", T0, 0);
		nb_write(p, NB_COUNTER(13), (uint64_t)-100);
		nb_write(p, NB_CCCR(15), (fixture_read(p, NB_CCCR(15)) & ~(uint64_t)SPMU_CCCR_ENABLE) |
			SPMU_CCCR_CASCADE);
		if (seed)
			stream_send_cut(&s, p, seed, 1 + 40 * seed);
		else
			for (size_t i = 0; i < s.n; i += 500)
				stream_send(&s, i, i + 500 < s.n ? i + 500 : s.n, 0, i + 500 < s.n ? 100 + i + 500
					: 3000, i + 500 >= s.n, p);
		uint64_t got[4] = { t.n, nb_count(p, 12), nb_count(p, 13), nb_count(p, 15) };
		if (!seed)
			memcpy(want, got, sizeof want);
		assert_memory_equal(got, want, sizeof want);
		spmu_destroy(p);
	}
	assert_int_equal(want[0], 2000 / 37);
	assert_int_equal(want[2], 1900);
	assert_int_equal(want[3], 1900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_interrupt_comes_on_the_event_behind_the_overflow, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_events_of_the_overflow_s_own_clock_do_not_interrupt, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_an_interrupt_on_a_signal_waits_for_the_next_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cycles_interrupt_one_cycle_behind_the_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_interrupt_waits_for_the_apic_s_clock_and_for_a_line, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_overflow_is_sticky_until_software_clears_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clearing_the_flag_takes_a_waiting_interrupt_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_filter_changed_in_a_handler_holds_from_there_on, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_without_a_pmi_bit_there_is_no_interrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_pmi_masks_the_local_apic_s_entry, setup, teardown),
		cmocka_unit_test_setup_teardown(test_force_ovf_makes_every_increment_an_overflow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_force_ovf_sets_the_flag_without_interrupts_too, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_interrupt_goes_to_the_thread_of_the_bit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_counter_starts_when_its_partner_overflows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_extended_cascades_start_from_16_and_17, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_cascaded_counter_interrupts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clearing_cascade_or_the_partner_s_overflow_stops_it, setup,
		teardown),
		cmocka_unit_test_setup_teardown(test_one_counter_may_start_two, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_manual_s_extended_cascade_example_works, setup, teardown),
		cmocka_unit_test_setup_teardown(test_results_do_not_depend_on_batches, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
