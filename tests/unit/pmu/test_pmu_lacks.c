/* SPDX-License-Identifier: GPL-2.0-or-later
 * A core that carries another core's PMU (pmu_lacks.h): what it cannot raise is not modelled there.
 */
#include "pmu/pmu_lacks.h"
#include "pmu_fixture.h"

static bool modelled(const struct spmu_model *m, const char *name)
{
	const struct spmu_event *e = fixture_event(m, name);
	return !(e->flags & SPMU_EVENT_NOT_MODELLED);
}

static void test_events_that_need_what_is_lacking_are_not_modelled(void **state)
{
	(void)state;
	static const struct { enum pmu_lack what; const char *name; } rows[] = {
		{ PMU_LACKS_LOOP_BUFFER, "LSD.UOPS" }, { PMU_LACKS_LOOP_BUFFER, "LSD.CYCLES_ACTIVE" },
		{ PMU_LACKS_SPLIT_REGISTERS, "LD_BLOCKS.NO_SR" }, { PMU_LACKS_LCP, "DECODE.LCP" },
		{ PMU_LACKS_FP_PORTS, "FP_ARITH_DISPATCHED.PORT_5" }, { PMU_LACKS_FP_ASSISTS, "ASSISTS.FP" },
		{ PMU_LACKS_UPPER_SAVES, "ASSISTS.SSE_AVX_MIX" },
		{ PMU_LACKS_STALE_SNOOPS, "MEM_LOAD_L3_HIT_RETIRED.XSNP_MISS" },
		{ PMU_LACKS_1G_PAGES, "DTLB_STORE_MISSES.WALK_COMPLETED_1G" },
	};
	for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct spmu_model *m = fixture_model("golden-cove");
		for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
			assert_true(modelled(m, rows[i].name));
		pmu_model_lacks(m, rows[k].what, "a reason");
		for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
			assert_int_equal(modelled(m, rows[i].name), rows[i].what != rows[k].what);
		assert_string_equal(fixture_event(m, rows[k].name)->not_modelled, "a reason");
		/* what has other sources, too, stays */
		assert_true(modelled(m, "IDQ.MITE_UOPS") && modelled(m, "UOPS_ISSUED.ANY") &&
			modelled(m, "UOPS_DISPATCHED.PORT_0"));
		spmu_model_free(m);
	}
}

static void test_a_value_of_snoops_in_vain_alone_needs_them(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	const struct spmu_event *e = fixture_event(m, "OFFCORE_RESPONSE_0");
	assert_true(pmu_event_lacks(m, e, 0x2003c0001, PMU_LACKS_STALE_SNOOPS));
	assert_false(pmu_event_lacks(m, e, 0x6003c0001, PMU_LACKS_STALE_SNOOPS));	/* or a clean line */
	assert_false(pmu_event_lacks(m, e, 0x2003c0001, PMU_LACKS_L3));
	spmu_model_free(m);
	m = fixture_model("skylake");
	assert_true(modelled(m, "OFFCORE_RESPONSE.DEMAND_RFO.L3_HIT.SNOOP_MISS"));
	pmu_model_lacks(m, PMU_LACKS_STALE_SNOOPS, "a reason");
	assert_false(modelled(m, "OFFCORE_RESPONSE.DEMAND_RFO.L3_HIT.SNOOP_MISS"));
	assert_true(modelled(m, "OFFCORE_RESPONSE.DEMAND_RFO.L3_HIT.ANY_SNOOP"));
	spmu_model_free(m);
}

/* Sums with the second-level cache count what that does. */
static void test_a_core_without_l3_has_no_events_of_l3(void **state)
{
	(void)state;
	static const char *const none[] = { "RD_3rdL_HITS", "RD_3rdL_HITE", "RD_3rdL_HITM", "RD_3rdL_MISS" };
	static const char *const tables[] = { "netburst", "netburst-prescott" };
	for (unsigned t = 0; t < 2; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		size_t before = 0, after = 0;
		for (size_t i = 0; i < spmu_model_events(m); i++)
			before += !(spmu_model_event(m, i)->flags & SPMU_EVENT_NOT_MODELLED);
		pmu_model_lacks(m, PMU_LACKS_L3, "a reason");
		for (size_t i = 0; i < spmu_model_events(m); i++)
			after += !(spmu_model_event(m, i)->flags & SPMU_EVENT_NOT_MODELLED);
		assert_int_equal(before - after, 4);
		for (unsigned i = 0; i < 4; i++) {
			char name[64];
			snprintf(name, sizeof name, "BSQ_cache_reference.%s", none[i]);
			assert_false(modelled(m, name));
		}
		spmu_model_free(m);
	}
}

/* By registers, too: the counter is named with the reason. */
static void test_a_counter_that_watches_it_is_named(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	pmu_model_lacks(m, PMU_LACKS_LCP, "a reason");
	struct spmu *p = fixture_pmu(m, NULL);
	struct spmu_unmodelled one;
	fixture_program(p, 0, "DECODE.LCP", 0);
	assert_int_equal(spmu_unmodelled(p, &one, 1), 1);
	assert_string_equal(one.reason, "a reason");
	spmu_destroy(p);
	spmu_model_free(m);
}

/* With INV an event counts the cycles without it, and a core without a loop buffer has those. */
static void test_what_counts_the_absence_stays(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("nehalem");
	pmu_model_lacks(m, PMU_LACKS_LOOP_BUFFER, "a reason");
	assert_true(!modelled(m, "LSD.ACTIVE") && modelled(m, "LSD.INACTIVE"));
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_that_need_what_is_lacking_are_not_modelled),
		cmocka_unit_test(test_a_value_of_snoops_in_vain_alone_needs_them),
		cmocka_unit_test(test_a_core_without_l3_has_no_events_of_l3),
		cmocka_unit_test(test_a_counter_that_watches_it_is_named),
		cmocka_unit_test(test_what_counts_the_absence_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
