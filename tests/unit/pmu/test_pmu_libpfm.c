/* SPDX-License-Identifier: GPL-2.0-or-later
 * Compares the event tables with libpfm4, Nehalem to Golden Cove: every event that libpfm4 knows by the same name has
 * the same encoding, and the events that it does not know are in the list below. The tables that tools/events makes
 * also have every event and unit mask of libpfm4.
 */
#include "pmu_fixture.h"
#include <perfmon/pfmlib.h>

/* Names from Intel's perfmon lists or from perf that libpfm4 4.13 does not have. */
static const char *const lacking[] = {
	"skylake INST_RETIRED.ANY", "skylake CPU_CLK_UNHALTED.THREAD",
	"skylake CPU_CLK_UNHALTED.REF_TSC", "skylake UOPS_RETIRED.MACRO_FUSED", "skylake DSB2MITE_SWITCHES.COUNT",
	"skylake SW_PREFETCH_ACCESS.ANY",
	"skylake INST_RETIRED.NOP", "skylake CPU_CLK_UNHALTED.THREAD_P_ANY",
	"skylake OFFCORE_REQUESTS_OUTSTANDING.CYCLES_WITH_DATA_RD",
#define THRESHOLDS(table) table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_8", \
	table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_16", table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_32", \
	table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_64", \
	table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128", table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_256", \
		table " MEM_TRANS_RETIRED.LOAD_LATENCY_GT_512"
	THRESHOLDS("skylake"), THRESHOLDS("haswell"), THRESHOLDS("broadwell"), THRESHOLDS("ice-lake"),
		THRESHOLDS("golden-cove"),
	/* libpfm4 spells these IDQ_n_BUBBLES with FE_THRES=n */
	"skylake FRONTEND_RETIRED.LATENCY_GE_1", "skylake FRONTEND_RETIRED.LATENCY_GE_2",
	"skylake FRONTEND_RETIRED.LATENCY_GE_4",
	"skylake FRONTEND_RETIRED.LATENCY_GE_8", "skylake FRONTEND_RETIRED.LATENCY_GE_16",
	"skylake FRONTEND_RETIRED.LATENCY_GE_32",
	"skylake FRONTEND_RETIRED.LATENCY_GE_64", "skylake FRONTEND_RETIRED.LATENCY_GE_128",
	"skylake FRONTEND_RETIRED.LATENCY_GE_256",
	"skylake FRONTEND_RETIRED.LATENCY_GE_512", "skylake FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_1",
	"skylake FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_2", "skylake FRONTEND_RETIRED.LATENCY_GE_2_BUBBLES_GE_3",
	"golden-cove BACLEARS.ANY", "golden-cove UOPS_ISSUED.STALL_CYCLES", "golden-cove SW_PREFETCH_ACCESS.ANY",
#define OTHER_CODES(table) table " L2_RQSTS.DEMAND_DATA_RD_HIT_ALT", table " L2_RQSTS.RFO_HIT_ALT", \
	table " L2_RQSTS.CODE_RD_HIT_ALT"
	OTHER_CODES("haswell"), OTHER_CODES("broadwell"), OTHER_CODES("skylake"),
	"haswell L2_RQSTS.PF_HIT_ALT", "haswell L2_RQSTS.PF_MISS_ALT", "broadwell L2_RQSTS.PF_HIT_ALT",
	"broadwell L2_RQSTS.PF_MISS_ALT", "golden-cove UOPS_RETIRED.MS_ALT",
	"golden-cove INT_MISC.UNKNOWN_BRANCH_CYCLES_ALT",
	"golden-cove EXE_ACTIVITY.EXE_BOUND_0_PORTS", "golden-cove EXE_ACTIVITY.2_3_PORTS_UTIL",
	"golden-cove RS.EMPTY_RESOURCE",
	"golden-cove L2_RQSTS.MISS", "golden-cove L2_RQSTS.REFERENCES",
	"golden-cove OFFCORE_RESPONSE_0", "golden-cove OFFCORE_RESPONSE_1",
	/* what Linux programs for its generic names */
	"skylake OFFCORE_RESPONSE_0.LLC_LOADS", "skylake OFFCORE_RESPONSE_0.LLC_LOAD_MISSES",
	"skylake OFFCORE_RESPONSE_0.LLC_STORES", "skylake OFFCORE_RESPONSE_0.LLC_STORE_MISSES",
	"skylake OFFCORE_RESPONSE_0.NODE_LOADS", "skylake OFFCORE_RESPONSE_0.NODE_STORES",
	"skylake OFFCORE_RESPONSE_0.NODE_LOAD_MISSES", "skylake OFFCORE_RESPONSE_0.NODE_STORE_MISSES",
	"golden-cove OFFCORE_RESPONSE_0.LLC_LOADS", "golden-cove OFFCORE_RESPONSE_0.LLC_LOAD_MISSES",
	"golden-cove OFFCORE_RESPONSE_0.LLC_STORES", "golden-cove OFFCORE_RESPONSE_0.LLC_STORE_MISSES",
	"golden-cove OFFCORE_RESPONSE_0.NODE_LOADS", "golden-cove OFFCORE_RESPONSE_0.NODE_LOAD_MISSES",
	"golden-cove MEM_TRANS_RETIRED.PRECISE_STORE",
	"golden-cove PERF_METRICS.RETIRING", "golden-cove PERF_METRICS.BAD_SPECULATION",
	"golden-cove PERF_METRICS.FRONTEND_BOUND",
	"golden-cove PERF_METRICS.BACKEND_BOUND", "golden-cove PERF_METRICS.HEAVY_OPERATIONS",
	"golden-cove PERF_METRICS.BRANCH_MISPREDICTS", "golden-cove PERF_METRICS.FETCH_LATENCY",
	"golden-cove PERF_METRICS.MEMORY_BOUND",
	"nehalem INST_RETIRED.ANY", "nehalem CPU_CLK_UNHALTED.THREAD", "nehalem CPU_CLK_UNHALTED.REF_TSC",
	"nehalem INST_RETIRED.ANY_P_01",
	"nehalem BR_MISP_RETIRED.ALL_BRANCHES", "nehalem UOPS_EXECUTED.CORE_STALL_CYCLES",
	"sandy-bridge INST_RETIRED.ANY", "sandy-bridge CPU_CLK_UNHALTED.THREAD",
	"sandy-bridge CPU_CLK_UNHALTED.REF_TSC",
	"sandy-bridge BRANCH_INSTRUCTIONS_RETIRED.ARCH", "sandy-bridge BRANCH_MISSES_RETIRED.ARCH",
	"sandy-bridge BR_INST_RETIRED.ALL_BRANCHES_PEBS", "sandy-bridge BR_MISP_RETIRED.ALL_BRANCHES_PEBS",
	"sandy-bridge LONGEST_LAT_CACHE.REFERENCE", "sandy-bridge LONGEST_LAT_CACHE.MISS",
	"sandy-bridge MEM_UOP_RETIRED.LOADS",
	"sandy-bridge MEM_UOP_RETIRED.STORES", "sandy-bridge MEM_LOAD_UOPS_RETIRED.LLC_HIT",
	"sandy-bridge MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM",
	"ivy-bridge INST_RETIRED.ANY", "ivy-bridge CPU_CLK_UNHALTED.THREAD", "ivy-bridge CPU_CLK_UNHALTED.REF_TSC",
	"ivy-bridge BR_INST_RETIRED.ALL_BRANCHES_PEBS", "ivy-bridge BR_MISP_RETIRED.ALL_BRANCHES_PEBS",
	"ivy-bridge BR_INST_RETIRED.CONDITIONAL", "ivy-bridge MEM_UOP_RETIRED.LOADS",
	"ivy-bridge MEM_UOP_RETIRED.STORES",
	"ivy-bridge MEM_LOAD_UOPS_RETIRED.LLC_HIT", "ivy-bridge MEM_LOAD_UOPS_RETIRED.LLC_MISS",
	"ivy-bridge L1D.ALL_M_REPLACEMENT",
	"ivy-bridge HW_PRE_REQ.L1D_MISS",
	"haswell INST_RETIRED.ANY", "haswell CPU_CLK_UNHALTED.THREAD", "haswell CPU_CLK_UNHALTED.REF_TSC",
	"haswell BR_INST_RETIRED.ALL_BRANCHES_PEBS", "haswell BR_MISP_RETIRED.ALL_BRANCHES_PEBS",
	"broadwell INST_RETIRED.ANY", "broadwell CPU_CLK_UNHALTED.THREAD", "broadwell CPU_CLK_UNHALTED.REF_TSC",
	"broadwell BR_INST_RETIRED.ALL_BRANCHES_PEBS", "broadwell BR_MISP_RETIRED.ALL_BRANCHES_PEBS",
	"ice-lake CPU_CLK_UNHALTED.THREAD", "ice-lake LONGEST_LAT_CACHE.REFERENCE", "ice-lake SW_PREFETCH_ACCESS.ANY",
	"ice-lake PERF_METRICS.RETIRING", "ice-lake PERF_METRICS.BAD_SPECULATION",
	"ice-lake PERF_METRICS.FRONTEND_BOUND",
	"ice-lake PERF_METRICS.BACKEND_BOUND", "ice-lake OFFCORE_RESPONSE_0", "ice-lake OFFCORE_RESPONSE_1",
};

/* Events for which libpfm4 has another code than our tables. Ours are perfmon's and Linux'
 * (intel_glc_event_constraints: A4H with umasks 04H, 08H, 10H; mem-stores is CDH/02H); libpfm4 has event 00H and
 * umask 03H. */
static const char *const different[] = {
	"golden-cove TOPDOWN.BACKEND_BOUND_SLOTS", "golden-cove TOPDOWN.BAD_SPEC_SLOTS",
	"golden-cove TOPDOWN.BR_MISPREDICT_SLOTS",
	"golden-cove TOPDOWN.MEMORY_BOUND_SLOTS",
	/* ours: Linux (the same constraints) and perfmon; libpfm4: event 00H */
	"ice-lake TOPDOWN.BACKEND_BOUND_SLOTS", "ice-lake TOPDOWN.BR_MISPREDICT_SLOTS",
	/* SDM vol. 3B, tables of Ivy Bridge: umasks 01H and 02H are eliminated moves, 04H and 08H are not; libpfm4
	 * swaps them for integer moves */
	"ivy-bridge MOVE_ELIMINATION.INT_ELIMINATED", "ivy-bridge MOVE_ELIMINATION.INT_NOT_ELIMINATED",
	/* perfmon: D4H; libpfm: C4H, which counts branches */
	"ice-lake MEM_LOAD_MISC_RETIRED.UC",
};

/* libpfm4 spells OFFCORE_RESPONSE.A.B with three unit masks, and OCR.A.B as OCR:A_B.  It does not have what Linux
 * programs for LLC-loads and the like. */
static bool offcore_name(const char *name)
{
	return !strncmp(name, "OFFCORE_RESPONSE.", 17) || !strncmp(name, "OCR.", 4) ||
		!strncmp(name, "OFFCORE_RESPONSE_0.LLC_", 23) || !strncmp(name, "OFFCORE_RESPONSE_0.NODE_", 24);
}

static bool listed(const char *const *list, size_t n, const char *table, const char *name)
{
	char both[200];
	snprintf(both, sizeof both, "%s %s", table, name);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], both))
			return true;
	return false;
}

/* Asks libpfm4 for the PERFEVTSEL image of a name; false if libpfm4 does not know it. */
static bool encode(const char *pmu, const char *name, uint64_t *evtsel, uint64_t *extra)
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
	*extra = count > 1 ? codes[1] : 0;
	return true;
}

/* modelled, events: the table has at least so many modelled events, and so many in all. They are what the table has
 * reached; the number of modelled events may grow. */
struct pair { const char *table, *pmu; unsigned modelled, events; bool complete; };

/* Checks that every event and unit mask that libpfm4 can encode is a row, which is counted or refused by its name. */
static unsigned every_name_is_a_row(const struct spmu_model *m, const struct pair *pair)
{
	unsigned names = 0;
	for (pfm_pmu_t p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t pmu = { .size = sizeof pmu };
		if (pfm_get_pmu_info(p, &pmu) != PFM_SUCCESS || strcmp(pmu.name, pair->pmu))
			continue;
		for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
			pfm_event_info_t e = { .size = sizeof e };
			char name[256];
			uint64_t code, extra;
			unsigned umasks = 0;
			assert_int_equal(pfm_get_event_info(i, PFM_OS_NONE, &e), PFM_SUCCESS);
			/* fields of MSR_PERF_METRICS, in versions after 4.13; ours are PERF_METRICS.* */
			if (!strcmp(e.name, "TOPDOWN_M"))
				continue;
			for (int k = 0; k < e.nattrs; k++) {
				pfm_event_attr_info_t a = { .size = sizeof a };
				assert_int_equal(pfm_get_event_attr_info(i, k, PFM_OS_NONE, &a), PFM_SUCCESS);
				if (a.type != PFM_ATTR_UMASK)
					continue;
				umasks++;
				snprintf(name, sizeof name, "%s.%s", e.name, a.name);
				if (!spmu_model_find(m, name))
					fail_msg("%s lacks %s", pair->table, name);
				names++;
			}
			bool alone = !umasks && encode(pair->pmu, e.name, &code, &extra);
			if (!alone || spmu_model_find(m, e.name)) {
				names += alone;
				continue;
			}
			bool renamed = false;	/* an alias: the rows have the event's unit masks */
			for (size_t k = 0; k < spmu_model_events(m) && e.equiv; k++) {
				const char *row = spmu_model_event(m, k)->name;
				renamed |= !strncmp(row, e.name, strlen(e.name)) && row[strlen(e.name)] == '.';
			}
			if (!renamed)
				fail_msg("%s lacks %s", pair->table, e.name);
		}
	}
	assert_true(names > 0);
	return names;
}

#define LISTED(list, e) listed(list, sizeof list / sizeof *list, pair->table, (e)->name)

static void check(const struct pair *pair)
{
	struct spmu_model *m = fixture_model(pair->table);
	uint64_t unused[2];
	/* the lists are of version 4.13; later ones have more events, have renamed some, and have mended some */
	const bool newer = encode("icl", "TOPDOWN_M.RETIRING", &unused[0], &unused[1]);
	unsigned known = 0, modelled = 0, refused = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		uint64_t want, extra;
		modelled += !(e->flags & SPMU_EVENT_NOT_MODELLED);
		refused += !!(e->flags & SPMU_EVENT_NOT_MODELLED);
		if (!encode(pair->pmu, e->name, &want, &extra)) {
			if (!LISTED(lacking, e) && !offcore_name(e->name) && !newer)
				fail_msg("libpfm4 (%s) does not know %s, and the list does not say so", pair->pmu,
					e->name);
			continue;
		}
		if (LISTED(lacking, e) && !newer)
			fail_msg("libpfm4 (%s) knows %s, the list says it does not", pair->pmu, e->name);
		known++;
		uint64_t code = (uint64_t)(e->event | e->umask << 8) | SPMU_EVTSEL_CMASK(e->cmask) | (e->inv
			? SPMU_EVTSEL_INV : 0) |
			(e->edge ? SPMU_EVTSEL_EDGE : 0) | (e->any ? SPMU_EVTSEL_ANY : 0);
		uint64_t mask = 0xffff | SPMU_EVTSEL_CMASK(255) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE | SPMU_EVTSEL_ANY;
		/* versions after 4.13 have the kernel's code for an event of a fixed counter: umask 1 + its number */
		const bool pseudo = e->fixed >= 0 && (want & mask) == (uint64_t)(e->fixed + 1) << 8;
		/* an event's code must be libpfm4's, but for those listed */
		if (code == (want & mask) || pseudo ? LISTED(different, e) && !newer : !LISTED(different, e))
			fail_msg("%s %s: %llx, libpfm4 %llx", pair->table, e->name, (unsigned long long)code,
				(unsigned long long)(want & mask));
		/* libpfm4 leaves MSR_IA32_PEBS_ENABLE to the kernel */
		if (e->extra_msr && e->extra_msr != MSR_IA32_PEBS_ENABLE && e->extra != extra)
			fail_msg("%s %s: %llx in %XH, libpfm4 %llx", pair->table, e->name, (unsigned long long)e->extra,
				e->extra_msr, (unsigned long long)extra);
	}
	print_message("%s: %u modelled, %u refused, %u known to libpfm4\n", pair->table, modelled, refused, known);
	assert_true(modelled >= pair->modelled);
	assert_true(modelled + refused >= pair->events);
	if (pair->complete)
		print_message("%s: %u names of libpfm4\n", pair->table, every_name_is_a_row(m, pair));
	spmu_model_free(m);
}

static void test_encodings_are_those_of_libpfm4(void **state)
{
	static const struct pair pairs[] = {
		{ "nehalem", "nhm", 202, 361, true }, { "sandy-bridge", "snb", 353, 426, true },
		{ "ivy-bridge", "ivb", 354, 413, true }, { "haswell", "hsw", 379, 467, true },
		{ "broadwell", "bdw", 402, 480, true }, { "skylake", "skl", 233, 299, false },
		{ "ice-lake", "icl", 443, 531, true }, { "golden-cove", "spr", 216, 307, false },
	};
	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		check(&pairs[i]);
	pfm_terminate();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_encodings_are_those_of_libpfm4) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
