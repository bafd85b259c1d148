/* SPDX-License-Identifier: GPL-2.0-or-later
 * Events that need a second MSR: what names, terms and libpfm4's attributes put there, what is refused, which
 * of them share a PMU, and what is written.
 */
#include "pmu_fixture.h"
#include "session/driver/driver.h"
#include "session/session.h"

static void parsed(const char *table, const char *list, uint32_t msr, uint64_t value)
{
	struct spmu_model *m = fixture_model(table);
	struct session_events e = { 0 };
	struct err err = { 0 };
	if (session_parse(&e, &(struct session_parse_options){ .model = m }, list, &err))
		fail_msg("%s: %s", list, err.text);
	assert_int_equal(e.event[0].event->extra_msr, msr);
	assert_int_equal(e.event[0].extra, value);
	session_events_free(&e);
	spmu_model_free(m);
}

static void refused(const char *list, const char *why)
{
	struct spmu_model *m = fixture_model("skylake");
	struct session_events e = { 0 };
	struct err err = { 0 };
	assert_true(session_parse(&e, &(struct session_parse_options){ .model = m }, list, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("%s: '%s' lacks '%s'", list, err.text, why);
	spmu_model_free(m);
}

static void test_names_and_terms_say_what_the_register_holds(void **state)
{
	(void)state;
	parsed("skylake", "FRONTEND_RETIRED.DSB_MISS", MSR_PEBS_FRONTEND, 0x11);
	parsed("skylake", "frontend_retired.latency_ge_8:u", MSR_PEBS_FRONTEND, 0x400806);
	parsed("golden-cove", "frontend_retired.latency_ge_8", MSR_PEBS_FRONTEND, 0x600806);
	parsed("ice-lake", "frontend_retired.latency_ge_512", MSR_PEBS_FRONTEND, 0x520006);
	parsed("skylake", "cpu/event=0xc6,umask=0x1,frontend=0x12/", MSR_PEBS_FRONTEND, 0x12);
	parsed("skylake", "cpu/event=0xc6,umask=0x1,config1=0x300206/", MSR_PEBS_FRONTEND, 0x300206);
	parsed("skylake", "cpu/event=0xc6,umask=0x1,frontend=0x400706/", MSR_PEBS_FRONTEND, 0x400706);
	parsed("skylake", "cpu/mem-loads,ldlat=30/", MSR_PEBS_LD_LAT_THRESHOLD, 30);
	parsed("skylake", "mem-loads", MSR_PEBS_LD_LAT_THRESHOLD, 3);
	parsed("skylake", "mem_trans_retired.load_latency_gt_256", MSR_PEBS_LD_LAT_THRESHOLD, 256);
	parsed("nehalem", "mem-loads", MSR_PEBS_LD_LAT_THRESHOLD, 3);
	parsed("skylake", "instructions", 0, 0);
}

static void test_what_no_register_of_the_event_can_say_is_refused(void **state)
{
	(void)state;
	refused("cpu/cycles,ldlat=3/", "no such register");
	refused("cpu/mem-loads,frontend=0x11/", "no such register");
	refused("cpu/mem-loads,ldlat=0x10000/", "ldlat");
	refused("cpu/event=0xc6,umask=1/", "front-end event");	/* without frontend= the register has 0 */
	refused("cpu/event=0xc6,umask=1,frontend=0x3/", "front-end event");
	refused("cpu/event=0xc6,umask=1,frontend=0x17/", "front-end event");	/* exists from Ice Lake on */
}

/* Assigns the events of a list to copies of the PMU and gets the writes. Returns the number of copies. */
static unsigned assigned_on(const char *table, const char *list, struct driver_writes *w)
{
	struct spmu_model *m = fixture_model(table);
	struct session_events e = { 0 };
	struct driver_event job[8] = { 0 };
	struct err err = { 0 };
	unsigned pmus;
	size_t which;
	const struct driver *d = driver_for(m);
	assert_int_equal(session_parse(&e, &(struct session_parse_options){ .model = m }, list, &err), 0);
	for (size_t i = 0; i < e.count; i++)
		job[i] = (struct driver_event){ .event = e.event[i].event, .evtsel = e.event[i].evtsel,
			.fixed = e.event[i].fixed, .user = true, .extra = e.event[i].extra };
	assert_int_equal(d->assign(m, job, e.count, 0, &pmus, &which, &err), 0);
	assert_int_equal(d->setup(m, job, e.count, 0, w, &err), 0);
	struct spmu *p = fixture_pmu(m, NULL);
	assert_int_equal(driver_execute(p, w, &err), 0);
	spmu_destroy(p);
	session_events_free(&e);
	spmu_model_free(m);
	return pmus;
}

static unsigned assigned(const char *list, struct driver_writes *w)
{
	return assigned_on("skylake", list, w);
}

static uint64_t written(const struct driver_writes *w, uint32_t msr)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->write[i].msr == msr)
			return w->write[i].value;
	return UINT64_MAX;
}

static void test_events_that_want_other_values_have_a_copy_each(void **state)
{
	(void)state;
	struct driver_writes w = { 0 };
	assert_int_equal(assigned("frontend_retired.l1i_miss,frontend_retired.l1i_miss,mem-loads,instructions", &w), 1);
	assert_int_equal(written(&w, MSR_PEBS_FRONTEND), 0x12);
	assert_int_equal(written(&w, MSR_PEBS_LD_LAT_THRESHOLD), 3);
	w.count = 0;
	assert_int_equal(assigned("frontend_retired.l1i_miss,frontend_retired.l2_miss,frontend_retired.l1i_miss", &w),
		2);
	w.count = 0;
	assert_int_equal(assigned("cycles,instructions", &w), 1);
	assert_int_equal(written(&w, MSR_PEBS_FRONTEND), UINT64_MAX);
	assert_int_equal(written(&w, MSR_IA32_PEBS_ENABLE), UINT64_MAX);
}

/* Both enable bits of the counter: SDM vol. 3B, "Load Latency Performance Monitoring Facility". */
static void test_loads_above_a_latency_are_counted_with_pebs_on(void **state)
{
	(void)state;
	struct driver_writes w = { 0 };
	assigned("mem_trans_retired.load_latency_gt_8", &w);
	const uint64_t on = written(&w, MSR_IA32_PEBS_ENABLE);
	assert_true(on != UINT64_MAX && on);
	assert_int_equal(on >> 32, on & 15);
	assert_int_equal(written(&w, MSR_PEBS_LD_LAT_THRESHOLD), 8);
}

/* SDM vol. 3B, "Precise Store Facility" of Sandy Bridge: bit 63, counter 3. */
static void test_precise_stores_are_counted_with_pebs_on(void **state)
{
	(void)state;
	struct driver_writes w = { 0 };
	parsed("ivy-bridge", "mem-stores", MSR_IA32_PEBS_ENABLE, UINT64_C(1) << 63);
	assert_int_equal(assigned_on("ivy-bridge", "mem-stores,mem-loads", &w), 2);	/* both on counter 3 */
	assert_int_equal(written(&w, MSR_IA32_PEBS_ENABLE), UINT64_C(1) << 63 | 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_terms_say_what_the_register_holds),
		cmocka_unit_test(test_what_no_register_of_the_event_can_say_is_refused),
		cmocka_unit_test(test_events_that_want_other_values_have_a_copy_each),
		cmocka_unit_test(test_loads_above_a_latency_are_counted_with_pebs_on),
		cmocka_unit_test(test_precise_stores_are_counted_with_pebs_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
