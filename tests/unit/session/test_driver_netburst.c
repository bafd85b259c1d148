/* SPDX-License-Identifier: GPL-2.0-or-later
 * NetBurst's driver: what it writes, where events go, and that the writes count what was asked for.
 */
#include "netburst_setup.h"
#include "session/driver/driver.h"

static int setup(void **state)
{
	(void)state;
	return nb_setup("netburst");
}

static struct driver_event ask(const char *name)
{
	return (struct driver_event){ .event = fixture_event(model, name), .user = true, .kernel = true, .fixed = -1 };
}

static unsigned assign(struct driver_event *e, size_t n)
{
	unsigned pmus = 0;
	size_t which;
	struct err err;
	if (driver_netburst.assign(model, e, n, 0, &pmus, &which, &err))
		fail_msg("%s", err.text);
	return pmus;
}

static void run(struct driver_event *e, size_t n, unsigned pmu, struct spmu *p)
{
	static struct driver_writes w;
	struct err err;
	w.count = 0;
	if (driver_netburst.setup(model, e, n, pmu, &w, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < w.count; i++) {
		assert_non_null(w.write[i].name);
		assert_true(*w.write[i].why);
		nb_write(p, w.write[i].msr, w.write[i].value);
	}
}

static void test_the_family_s_driver_is_chosen(void **state)
{
	(void)state;
	assert_ptr_equal(driver_for(model), &driver_netburst);
}

static void test_the_eight_steps_come_in_order(void **state)
{
	static const struct { uint32_t msr; uint64_t value; const char *name, *why; } want[] = {
		{ 0x36c, 0x30000, "MSR_IQ_CCCR0", "stands still" },
		{ 0x3b8, 0x0400020c, "MSR_CRU_ESCR0", "1 to 4" },
		{ 0x36c, 0x38000, "MSR_IQ_CCCR0", "5" },
		{ 0x36c, 0x4038000, "MSR_IQ_CCCR0", "7" },
		{ 0x36c, 0x4039000, "MSR_IQ_CCCR0", "8" },
	};
	(void)state;
	struct driver_event e = ask("instr_retired.NBOGUSNTAG");
	struct driver_writes w = { .count = 0 };
	struct err err;
	e.sampled = true;
	assert_int_equal(assign(&e, 1), 1);
	assert_int_equal(driver_netburst.setup(model, &e, 1, 0, &w, &err), 0);
	assert_int_equal(w.count, sizeof want / sizeof *want);
	for (size_t i = 0; i < w.count; i++) {
		assert_int_equal(w.write[i].msr, want[i].msr);
		assert_int_equal(w.write[i].value, want[i].value);
		assert_string_equal(w.write[i].name, want[i].name);
		assert_non_null(strstr(w.write[i].why, want[i].why));
	}
}

static void test_modifiers_become_the_threshold_filter(void **state)
{
	static const struct { uint64_t evtsel; uint32_t cccr; } table[] = {
		{ 0, 0 }, { SPMU_EVTSEL_CMASK(1), SPMU_CCCR_COMPARE }, { SPMU_EVTSEL_CMASK(16),
		SPMU_CCCR_COMPARE | SPMU_CCCR_THRESHOLD(15) },
		{ SPMU_EVTSEL_CMASK(3) | SPMU_EVTSEL_INV, SPMU_CCCR_COMPARE | SPMU_CCCR_COMPLEMENT |
		SPMU_CCCR_THRESHOLD(2) },
		{ SPMU_EVTSEL_EDGE, SPMU_CCCR_COMPARE | SPMU_CCCR_EDGE },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct spmu *p = netburst_pmu(model, NULL);
		struct driver_event e = ask("uops_retired.NBOGUS");
		e.evtsel = table[i].evtsel;
		e.kernel = false;
		assign(&e, 1);
		run(&e, 1, 0, p);
		assert_int_equal(fixture_read(p, NB_CCCR(e.counter)) & 0x1fc0000, table[i].cccr);
		assert_int_equal(fixture_read(p, e.escr) & 15, SPMU_ESCR_T0_USR);
		spmu_destroy(p);
	}
}

static void test_what_no_counter_can_do_is_refused_by_name(void **state)
{
	(void)state;
	static const uint64_t bad[] = { SPMU_EVTSEL_CMASK(17), SPMU_EVTSEL_INV, SPMU_EVTSEL_ANY };
	for (size_t i = 0; i < 4; i++) {
		struct driver_event e[2] = { ask("cycles"), ask("uops_retired.NBOGUS") };
		unsigned pmus;
		size_t which = 9;
		struct err err;
		if (i < 3)
			e[1].evtsel = bad[i];
		else
			e[1].precise = true;
		assert_int_equal(driver_netburst.assign(model, e, 2, 0, &pmus, &which, &err), ERR_UNSUPPORTED);
		assert_int_equal(which, 1);
		assert_non_null(strstr(err.text, "uops_retired.NBOGUS"));
	}
}

/* The driver alone programs the events; their counts on a known stream (five loads, three stores, ...) are exact. */
static void test_tagged_events_count_what_they_say(void **state)
{
	static const struct { const char *event; uint64_t count; } table[] = {
		{ "memory_loads", 4 }, { "memory_stores", 3 }, { "packed_DP_retired", 2 }, { "scalar_DP_retired", 1 },
		{ "X87_FP_retired", 1 },
		{ "packed_SP_retired", 0 }, { "scalar_SP_retired", 0 }, { "1stL_cache_load_miss_retired", 1 },
		{ "2ndL_cache_load_miss_retired", 1 },
		{ "DTLB_load_miss_retired", 1 }, { "DTLB_store_miss_retired", 1 }, { "DTLB_all_miss_retired", 2 },
		{ "Tagged_mispred_branch", 1 },
		{ "MOB_load_replay_retired", 1 }, { "split_load_retired", 1 }, { "split_store_retired", 1 },
		{ "L1-dcache-load-misses", 1 },
		{ "instructions", 12 }, { "cycles", 200 },
	};
	(void)state;
	stream_inst(&s, 1, SPMU_IS(LOAD), SPMU_DID(L1D_MISS) | SPMU_DID(L2_MISS) | SPMU_DID(DTLB_MISS), 50);
	stream_inst(&s, 2, SPMU_IS(LOAD), SPMU_DID(SPLIT_LINE), 51);
	stream_inst(&s, 3, SPMU_IS(LOAD), SPMU_DID(FORWARD_BLOCKED), 52);
	stream_inst(&s, 4, SPMU_IS(LOAD), 0, 53);
	stream_inst(&s, 5, SPMU_IS(STORE_ADDR), SPMU_DID(DTLB_MISS), 54);
	stream_inst(&s, 6, SPMU_IS(STORE_ADDR), SPMU_DID(SPLIT_LINE), 55);
	stream_inst(&s, 7, SPMU_IS(STORE_ADDR), 0, 56);
	stream_inst(&s, 8, SPMU_IS(FP_128_DOUBLE), 0, 57);
	stream_inst(&s, 9, SPMU_IS(FP_128_DOUBLE), 0, 58);
	stream_inst(&s, 10, SPMU_IS(FP_SCALAR_DOUBLE), 0, 59);
	stream_inst(&s, 11, SPMU_IS(X87), 0, 60);
	stream_inst(&s, 12, SPMU_IS(BRANCH), SPMU_DID(MISPREDICTED), 61);
	stream_cycles(&s, 0, 3, 0, 200);
	enum { N = sizeof table / sizeof *table };
	struct driver_event e[N];
	for (unsigned i = 0; i < N; i++)	/* alone */ {
		struct spmu *p = netburst_pmu(model, NULL);
		e[0] = ask(table[i].event);
		assert_int_equal(assign(e, 1), 1);
		run(e, 1, 0, p);
		stream_send_all(&s, p);
		uint64_t v;
		assert_int_equal(spmu_rdpmc(p, driver_netburst.rdpmc(model, e), 0, &v), SPMU_OK);
		if (v != table[i].count)
			fail_msg("%s: %llu, not %llu", table[i].event, (unsigned long long)v,
				(unsigned long long)table[i].count);
		spmu_destroy(p);
	}
	/* all together, on as many copies as it takes */
	for (unsigned i = 0; i < N; i++)
		e[i] = ask(table[i].event);
	unsigned pmus = assign(e, N);
	/* copies for replay metrics, the front end, execution events (with two FIRM ESCRs); instructions needs none of
	 * its own, because it counts them tagged or not */
	assert_int_equal(pmus, 9 + 2 + 3);
	for (unsigned k = 0; k < pmus; k++) {
		struct spmu *p = netburst_pmu(model, NULL);
		run(e, N, k, p);
		stream_send_all(&s, p);
		for (unsigned i = 0; i < N; i++)
			if (e[i].pmu == k && nb_count(p, (unsigned)e[i].counter) != table[i].count)
				fail_msg("%s on copy %u: %llu", table[i].event, k, (unsigned long long)nb_count(p,
					(unsigned)e[i].counter));
		spmu_destroy(p);
	}
}

static void test_counters_escrs_and_tags_do_not_conflict(void **state)
{
	(void)state;
	/* seven events with different values for CRU_ESCR2 and CRU_ESCR3: two fit on a copy */
	static const char *const seven[] = { "branch_retired.MMTP", "branch_retired.MMTM", "branch_retired.MMNP",
		"branch_retired.MMNM",
		"machine_clear.MOCLEAR", "machine_clear.CLEAR", "front_end_event.NBOGUS" };
	struct driver_event e[16];
	for (unsigned i = 0; i < 7; i++)
		e[i] = ask(seven[i]);
	assert_int_equal(assign(e, 7), 4);
	/* the same event six times shares both ESCRs: one copy */
	for (unsigned i = 0; i < 6; i++)
		e[i] = ask("uops_retired.NBOGUS");
	assert_int_equal(assign(e, 6), 1);
	for (unsigned i = 0; i < 6; i++)
		for (unsigned k = 0; k < i; k++)
			assert_true(e[i].counter != e[k].counter);
	/* events with different privilege levels cannot share an ESCR */
	for (unsigned i = 0; i < 3; i++) {
		e[i] = ask("uops_retired.NBOGUS");
		e[i].user = i != 1;
		e[i].kernel = i != 2;
	}
	assert_int_equal(assign(e, 3), 2);
	/* two execution tags in one copy, with different tag bits; a replay needs another copy */
	e[0] = ask("packed_DP_retired");
	e[1] = ask("scalar_DP_retired");
	e[2] = ask("L1-dcache-load-misses");
	assert_int_equal(assign(e, 3), 2);
	assert_int_equal(e[0].pmu, e[1].pmu);
	assert_true(e[0].tags && e[1].tags && !(e[0].tags & e[1].tags));
	assert_true(e[2].pmu != e[0].pmu);
	/* loads and stores differ in a bit of one ESCR: two copies */
	e[0] = ask("memory_loads");
	e[1] = ask("memory_stores");
	assert_int_equal(assign(e, 2), 2);
	/* two metrics need two copies; the same metric twice needs one */
	e[0] = ask("L1-dcache-load-misses");
	e[1] = ask("dTLB-load-misses");
	e[2] = ask("L1-dcache-load-misses");
	assert_int_equal(assign(e, 3), 2);
	assert_int_equal(e[0].pmu, e[2].pmu);
}

static void test_room_limits_the_copies(void **state)
{
	(void)state;
	struct driver_event e[3] = { ask("memory_loads"), ask("cycles"), ask("memory_stores") };
	unsigned pmus;
	size_t which = 0;
	struct err err;
	assert_int_equal(driver_netburst.assign(model, e, 3, 1, &pmus, &which, &err), ERR_UNSUPPORTED);
	assert_int_equal(which, 2);
	assert_int_equal(driver_netburst.assign(model, e, 2, 1, &pmus, &which, &err), 0);
	assert_int_equal(pmus, 1);
}

static void test_counter_1_is_taken_last(void **state)
{
	(void)state;
	struct driver_event e[4];
	for (unsigned i = 0; i < 4; i++)
		e[i] = ask("cycles");
	assert_int_equal(assign(e, 4), 1);
	assert_int_equal(e[0].counter, 0);
	assert_int_equal(e[1].counter, 2);
	assert_int_equal(e[2].counter, 3);
	assert_int_equal(e[3].counter, 1);
}

struct samples { struct driver_event *e; uint64_t period; unsigned n; uint64_t at[64]; };

static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct samples *t = context;
	bool hit[1];
	const char *name;
	(void)b;
	spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
	driver_netburst.acknowledge(p, pmi, t->e, 1, 0, hit);
	assert_true(hit[0]);
	assert_int_equal(fixture_read(p, NB_CCCR(t->e->counter)) & SPMU_CCCR_OVF, 0);
	nb_write(p, driver_netburst.counter_msr(model, t->e, &name), driver_netburst.counter_value(model, t->e,
		-t->period));
	t->at[t->n++] = pmi->overflow_cycle;
}

static void test_a_period_of_n_samples_every_nth_event(void **state)
{
	(void)state;
	for (uint64_t period = 2; period < 30; period += 9) {
		struct driver_event e = ask("instr_retired.NBOGUSNTAG");
		struct samples t = { .e = &e, .period = period };
		const struct spmu_host host = { .context = &t, .pmi = on_pmi };
		struct spmu *p = netburst_pmu(model, &host);
		const char *name;
		e.sampled = true;
		assign(&e, 1);
		run(&e, 1, 0, p);
		nb_write(p, driver_netburst.counter_msr(model, &e, &name), driver_netburst.counter_value(model, &e,
			-period));
		assert_string_equal(name, "MSR_IQ_COUNTER0");
		stream_free(&s);
		for (unsigned i = 0; i < 100; i++)
			stream_inst(&s, i, 0, 0, 10 + i);
		stream_send_all(&s, p);
		assert_int_equal(t.n, 100 / period);
		for (unsigned i = 0; i < t.n; i++)
			assert_int_equal(t.at[i], 10 + period * (i + 1) - 1);
		spmu_destroy(p);
	}
}

static void test_the_four_steps_of_pebs_come_in_order(void **state)
{
	static const struct { uint32_t msr; uint64_t value; const char *why; } want[] = {
		{ 0x370, 0x30000, "stands still" }, { 0x600, 0x1234000, "PEBS 1" }, { 0x3f2, 1, "loads" },
		{ 0x3f1, 0x3000001, "PEBS 2" },
		{ 0x3cc, 0x1200020c, "1 to 4" }, { 0x370, 0x3a000, "5" }, { 0x370, 0x3b000, "PEBS 3" },
	};
	(void)state;
	struct driver_event e = ask("L1-dcache-load-misses");
	struct driver_writes w = { .count = 0 };
	struct err err;
	e.precise = e.sampled = true;
	e.ds_area = 0x1234000;
	assign(&e, 1);
	assert_int_equal(e.counter, 16);
	assert_int_equal(driver_netburst.setup(model, &e, 1, 0, &w, &err), 0);
	assert_int_equal(w.count, sizeof want / sizeof *want);
	for (size_t i = 0; i < w.count; i++) {
		assert_int_equal(w.write[i].msr, want[i].msr);
		assert_int_equal(w.write[i].value, want[i].value);
		assert_non_null(strstr(w.write[i].why, want[i].why));
	}
}

/* The driver places every row, and the PMU accepts its writes. */
static void test_every_event_can_be_set_up(void **state)
{
	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		spmu_model_free(model);
		model = fixture_model(t ? "netburst-prescott" : "netburst");
		for (size_t i = 0; i < spmu_model_events(model); i++) {
			struct spmu *p = netburst_pmu(model, NULL);
			struct driver_event e = { .event = spmu_model_event(model, i), .user = true, .sampled = true,
				.fixed = -1 };
			assert_int_equal(assign(&e, 1), 1);
			run(&e, 1, 0, p);
			assert_true(e.event->pmc_mask >> e.counter & 1);
			assert_true(e.escr == e.event->escr[0] || e.escr == e.event->escr[1]);
			spmu_destroy(p);
		}
	}
}

static uint64_t cccr_of(struct driver_event *e)
{
	static struct driver_writes w;
	struct err err;
	uint64_t last = 0;
	w.count = 0;
	assert_int_equal(driver_netburst.setup(model, e, 2, 0, &w, &err), 0);
	for (size_t i = 0; i < w.count; i++)
		if (w.write[i].msr == MSR_BPU_CCCR0 + (uint32_t)e->counter)
			last = w.write[i].value;
	return last;
}

static void test_a_cascaded_event_counts_from_the_overflow_of_its_partner_on(void **state)
{
	(void)state;
	struct driver_event e[2] = { ask("instr_retired.NBOGUSNTAG"), ask("branch_retired.MMTP") };
	e[0].sampled = true;
	e[0].after = 2;
	assert_int_equal(assign(e, 2), 1);
	assert_int_equal(e[0].counter ^ 2, e[1].counter);
	assert_int_equal(e[0].pmu, e[1].pmu);
	uint64_t v = cccr_of(e);
	assert_true(v & SPMU_CCCR_CASCADE && v & SPMU_CCCR_OVF_PMI_T0);
	assert_false(v & SPMU_CCCR_ENABLE);
	struct driver_event swap[2] = { e[1], e[0] };
	v = cccr_of(swap);
	assert_true(v & SPMU_CCCR_ENABLE);
	assert_false(v & (SPMU_CCCR_OVF_PMI_T0 | SPMU_CCCR_CASCADE));
}

static void test_events_of_two_blocks_cannot_cascade(void **state)
{
	(void)state;
	unsigned pmus;
	size_t which = 9;
	struct err err;
	struct driver_event e[2] = { ask("instr_retired.NBOGUSNTAG"), ask("ITLB_reference.MISS") };
	e[0].sampled = true;
	e[0].after = 2;
	assert_int_equal(driver_netburst.assign(model, e, 2, 0, &pmus, &which, &err), ERR_UNSUPPORTED);
	assert_int_equal(which, 0);
	assert_non_null(strstr(err.text, "cascades"));
	e[0].precise = true;
	assert_int_equal(driver_netburst.assign(model, e, 2, 0, &pmus, &which, &err), ERR_UNSUPPORTED);
}

static void test_a_forced_counter_overflows_at_every_event(void **state)
{
	(void)state;
	struct driver_event e[2] = { ask("branch_retired.MMTP"), ask("instr_retired.NBOGUSNTAG") };
	e[0].sampled = e[0].forced = true;
	assert_int_equal(assign(e, 2), 1);
	assert_true(cccr_of(e) & SPMU_CCCR_FORCE_OVF);
	assert_int_equal(driver_netburst.counter_value(model, &e[0], -UINT64_C(5)), (UINT64_C(1) << 40) - 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_cascaded_event_counts_from_the_overflow_of_its_partner_on, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_events_of_two_blocks_cannot_cascade, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_forced_counter_overflows_at_every_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_family_s_driver_is_chosen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_eight_steps_come_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_modifiers_become_the_threshold_filter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_no_counter_can_do_is_refused_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tagged_events_count_what_they_say, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters_escrs_and_tags_do_not_conflict, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room_limits_the_copies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counter_1_is_taken_last, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_period_of_n_samples_every_nth_event, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_four_steps_of_pebs_come_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_every_event_can_be_set_up, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
