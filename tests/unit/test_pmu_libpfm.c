/* SPDX-License-Identifier: GPL-2.0-or-later
 * The event tables against libpfm4: every event that libpfm knows by the same name has the same encoding, and what it
 * does not know is in the list below.
 */
#include "pmu_fixture.h"
#include <perfmon/pfmlib.h>

/* Names of Intel's perfmon lists or of perf that libpfm4 4.13 lacks. */
static const char *const lacking[] = {
	"skylake INST_RETIRED.ANY", "skylake CPU_CLK_UNHALTED.THREAD",
	"skylake CPU_CLK_UNHALTED.REF_TSC", "skylake UOPS_RETIRED.MACRO_FUSED", "skylake DSB2MITE_SWITCHES.COUNT",
	"skylake SW_PREFETCH_ACCESS.ANY",
	"golden-cove BACLEARS.ANY", "golden-cove UOPS_ISSUED.STALL_CYCLES", "golden-cove SW_PREFETCH_ACCESS.ANY",
	"golden-cove L2_RQSTS.MISS", "golden-cove L2_RQSTS.REFERENCES",
	"golden-cove OFFCORE_RESPONSE_0", "golden-cove OFFCORE_RESPONSE_1",
	"golden-cove PERF_METRICS.RETIRING", "golden-cove PERF_METRICS.BAD_SPECULATION", "golden-cove PERF_METRICS.FRONTEND_BOUND",
	"golden-cove PERF_METRICS.BACKEND_BOUND", "golden-cove PERF_METRICS.HEAVY_OPERATIONS",
	"golden-cove PERF_METRICS.BRANCH_MISPREDICTS", "golden-cove PERF_METRICS.FETCH_LATENCY", "golden-cove PERF_METRICS.MEMORY_BOUND",
};

/* Refused events whose code libpfm4 has otherwise: perfmon and Linux (intel_glc_event_constraints: A4H with umasks 04H,
 * 08H, 10H; mem-stores is CDH/02H) against libpfm's event 00H and umask 03H. */
static const char *const different[] = {
	"golden-cove TOPDOWN.BACKEND_BOUND_SLOTS", "golden-cove TOPDOWN.BAD_SPEC_SLOTS", "golden-cove TOPDOWN.BR_MISPREDICT_SLOTS",
	"golden-cove TOPDOWN.MEMORY_BOUND_SLOTS", "golden-cove MEM_TRANS_RETIRED.STORE_SAMPLE",
};

static bool listed(const char *const *list, size_t n, const char *table, const char *name)
{
	char both[200];
	snprintf(both, sizeof both, "%s %s", table, name);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], both))
			return true;
	return false;
}

/* libpfm's PERFEVTSEL image; false if it does not know the name. */
static bool encode(const char *pmu, const char *name, uint64_t *evtsel)
{
	char text[256];
	uint64_t codes[4] = { 0 };
	uint64_t *list = codes;
	int count = 4;
	snprintf(text, sizeof text, "%s::%s", pmu, name);
	for (char *c = text + strlen(pmu) + 2; *c; c++)
		if (*c == '.') {
			*c = ':';
			break;
		}
	if (pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &list, &count) != PFM_SUCCESS)
		return false;
	*evtsel = codes[0];
	return true;
}

static void check(const char *table, const char *pmu)
{
	struct spmu_model *m = fixture_model(table);
	unsigned known = 0, modelled = 0, refused = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		uint64_t want;
		modelled += !(e->flags & SPMU_EVENT_NOT_MODELLED);
		refused += !!(e->flags & SPMU_EVENT_NOT_MODELLED);
		if (!encode(pmu, e->name, &want)) {
			if (!listed(lacking, sizeof lacking / sizeof *lacking, table, e->name))
				fail_msg("libpfm4 (%s) does not know %s, and the list does not say so", pmu, e->name);
			continue;
		}
		if (listed(lacking, sizeof lacking / sizeof *lacking, table, e->name))
			fail_msg("libpfm4 (%s) knows %s, the list says it does not", pmu, e->name);
		known++;
		uint64_t code = (uint64_t)(e->event | e->umask << 8) | SPMU_EVTSEL_CMASK(e->cmask) | (e->inv ? SPMU_EVTSEL_INV : 0) |
			(e->edge ? SPMU_EVTSEL_EDGE : 0) | (e->any ? SPMU_EVTSEL_ANY : 0);
		uint64_t mask = 0xffff | SPMU_EVTSEL_CMASK(255) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE | SPMU_EVTSEL_ANY;
		bool differs = code != (want & mask);
		if (differs != listed(different, sizeof different / sizeof *different, table, e->name))
			fail_msg("%s %s: %llx, libpfm4 %llx", table, e->name, (unsigned long long)code, (unsigned long long)(want & mask));
		assert_true(!differs || e->flags & SPMU_EVENT_NOT_MODELLED);
	}
	print_message("%s: %u modelled, %u refused, %u known to libpfm4\n", table, modelled, refused, known);
	assert_true(modelled >= 90);
	assert_true(refused >= 40);
	spmu_model_free(m);
}

static void encodings_are_those_of_libpfm4(void **state)
{
	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	check("skylake", "skl");
	check("golden-cove", "spr");
	pfm_terminate();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(encodings_are_those_of_libpfm4) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
