/* SPDX-License-Identifier: GPL-2.0-or-later
 * -e takes libpfm4's names as libpfm4 spells them: every EVENT:UMASK of the PMUs that the tables are of, and unit
 * masks of several groups, which libpfm4 combines into the value of a second register.
 */
#include "pmu_fixture.h"
#include "session/events/event_names.h"
#include "session/session.h"
#include <perfmon/pfmlib.h>

struct about { struct spmu_model *m; struct core_config *core; const char *table; unsigned taken, refused; };

/* The name is counted with libpfm4's code, or refused because the model cannot count it. */
static void check(struct about *a, const char *name)
{
	const struct session_parse_options how = { .model = a->m, .core = a->core };
	const struct session_parse_options registers = { .model = a->m, .core = a->core,
		.purpose = SESSION_FOR_REGISTERS };
	struct session_events e = { 0 };
	struct err err = { 0 };
	uint64_t code = 0, extra = 0;
	bool two = false;
	if (names_libpfm(name, a->core, &code, &extra, &two, &err))
		return;		/* the unit masks do not go together */
	int rc = session_parse(&e, &how, name, &err);
	session_events_free(&e);
	if (rc && rc != ERR_UNSUPPORTED && rc != ERR_NOT_MODELLED)
		fail_msg("%s: %s", a->table, err.text);
	a->taken += !rc;
	a->refused += !!rc;
	memset(&e, 0, sizeof e);
	if (rc)
		return;
	if (session_parse(&e, &registers, name, &err))
		fail_msg("%s: %s: no registers: %s", a->table, name, err.text);
	const uint32_t msr = e.event[0].event->extra_msr;
	if (two && (msr == MSR_OFFCORE_RSP_0 || msr == MSR_OFFCORE_RSP_1) && e.event[0].extra != extra)
		fail_msg("%s: %s: %llx, libpfm4 %llx", a->table, name, (unsigned long long)e.event[0].extra,
			(unsigned long long)extra);
	session_events_free(&e);
}

/* Each unit mask alone; of an off-core response, each pair of them, too: a request and an answer. */
static void check_event(struct about *a, const char *pmu, const pfm_event_info_t *e)
{
	const bool pairs = strstr(e->name, "OFFCORE_RESPONSE") && e->nattrs < 60;
	char name[256];
	for (int i = 0; i < e->nattrs; i++) {
		pfm_event_attr_info_t one = { .size = sizeof one }, two = { .size = sizeof two };
		assert_int_equal(pfm_get_event_attr_info(e->idx, i, PFM_OS_NONE, &one), PFM_SUCCESS);
		if (one.type != PFM_ATTR_UMASK)
			continue;
		snprintf(name, sizeof name, "%s::%s:%s", pmu, e->name, one.name);
		check(a, name);
		for (int k = i + 1; k < e->nattrs && pairs && i < 4; k++) {
			assert_int_equal(pfm_get_event_attr_info(e->idx, k, PFM_OS_NONE, &two), PFM_SUCCESS);
			if (two.type != PFM_ATTR_UMASK)
				continue;
			snprintf(name, sizeof name, "%s::%s:%s:%s", pmu, e->name, one.name, two.name);
			check(a, name);
		}
	}
}

static void check_table(const char *table, const char *name)
{
	struct core_config *core = calloc(1, sizeof *core);
	struct about a = { .m = fixture_model(table), .core = core, .table = table };
	snprintf(core->libpfm, sizeof core->libpfm, "%s", name);
	for (pfm_pmu_t p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t pmu = { .size = sizeof pmu };
		if (pfm_get_pmu_info(p, &pmu) != PFM_SUCCESS || strcmp(pmu.name, name))
			continue;
		for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t e = { .size = sizeof e };
			assert_int_equal(pfm_get_event_info(i, PFM_OS_NONE, &e), PFM_SUCCESS);
			check_event(&a, name, &e);
		}
	}
	print_message("%s: %u names taken, %u refused\n", table, a.taken, a.refused);
	assert_true(a.taken > 100);
	spmu_model_free(a.m);
	free(core);
}

static void test_every_unit_mask_of_libpfm4_is_taken_or_refused_for_a_reason(void **state)
{
	static const char *const pairs[][2] = { { "nehalem", "nhm" }, { "sandy-bridge", "snb" },
		{ "ivy-bridge", "ivb" }, { "haswell", "hsw" }, { "broadwell", "bdw" }, { "skylake", "skl" },
		{ "ice-lake", "icl" }, { "golden-cove", "spr" } };
	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		check_table(pairs[i][0], pairs[i][1]);
	pfm_terminate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_unit_mask_of_libpfm4_is_taken_or_refused_for_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
