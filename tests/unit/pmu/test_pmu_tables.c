/* SPDX-License-Identifier: GPL-2.0-or-later
 * All event tables of data/events load, and the names that a user types find their rows. For the tables of Nehalem to
 * Ice Lake the test also checks counters, perf's names, fixed counters, and that every event counts what its
 * expression gives cycle by cycle.
 */
#include "pmu_fixture.h"
#include <dirent.h>
#include "data_dir.h"

static const char *const made[] = { "nehalem", "sandy-bridge", "ivy-bridge", "haswell", "broadwell", "ice-lake" };
enum { MADE = sizeof made / sizeof *made };

static unsigned for_each_table(void (*check)(const char *name, const struct spmu_model *m))
{
	char path[512];
	unsigned tables = 0;
	snprintf(path, sizeof path, "%s/events", data_dir());
	DIR *d = opendir(path);
	assert_non_null(d);
	for (struct dirent *f; (f = readdir(d));) {
		size_t n = strlen(f->d_name);
		if (n < 5 || strcmp(f->d_name + n - 4, ".tsv") || !strncmp(f->d_name, "uncore-", 7))
			continue;
		f->d_name[n - 4] = 0;
		struct spmu_model *m = fixture_model(f->d_name);
		check(f->d_name, m);
		spmu_model_free(m);
		tables++;
	}
	closedir(d);
	return tables;
}

static void has_events(const char *name, const struct spmu_model *m)
{
	if (!spmu_model_events(m) || !spmu_model_gp_counters(m) || !spmu_model_slots(m))
		fail_msg("%s: no events, no counters or no slots", name);
}

static void test_every_table_of_data_events_loads(void **state)
{
	(void)state;
	assert_true(for_each_table(has_events) >= 9);
}

static void names_are_found(const char *table, const struct spmu_model *m)
{
	char alias[128];
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (spmu_model_find(m, e->name) != e)
			fail_msg("%s: %s finds another row", table, e->name);
		for (const char *a = e->perf_alias; *a;) {
			size_t n = strcspn(a, ",");
			assert_true(n && n < sizeof alias);
			snprintf(alias, sizeof alias, "%.*s", (int)n, a);
			if (spmu_model_find(m, alias) != e)
				fail_msg("%s: %s of %s finds another row", table, alias, e->name);
			a += n + (a[n] == ',');
		}
		if (e->flags & SPMU_EVENT_NOT_MODELLED && strlen(e->not_modelled) < 12)
			fail_msg("%s: %s is refused without a reason", table, e->name);
		for (const char *s = e->help; *s; s++)
			if (*s == '%')
				fail_msg("%s: %s: '%s'", table, e->name, e->help);
	}
}

static void test_every_name_and_alias_finds_its_own_row(void **state)
{
	(void)state;
	for_each_table(names_are_found);
}

static bool has_alias(const struct spmu_model *m, const char *name)
{
	return spmu_model_find(m, name) != NULL;
}

/* The events that `softpmu stat` counts by default and the names that people type first exist on every machine. */
static void generic_names_exist(const char *table, const struct spmu_model *m)
{
	static const char *const names[] = { "cycles", "instructions", "branches", "branch-misses" };
	if (spmu_model_family(m) != SPMU_FAMILY_ARCH)
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!has_alias(m, names[i]) || spmu_model_find(m, names[i])->flags & SPMU_EVENT_NOT_MODELLED)
			fail_msg("%s: %s is not there, or refused", table, names[i]);
}

static void test_the_names_typed_first_count_on_every_table(void **state)
{
	(void)state;
	for_each_table(generic_names_exist);
}

static uint64_t image(const struct spmu_event *e)
{
	return fixture_evtsel(e) | (e->any ? SPMU_EVTSEL_ANY : 0);
}

static void codes_are_found(const struct spmu_model *m, const char *table)
{
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i), *f = spmu_model_find_code(m, image(e));
		if (!f || f->event != e->event || f->umask != e->umask || f->cmask != e->cmask || f->inv != e->inv ||
			f->edge != e->edge)
			fail_msg("%s: the code of %s finds %s", table, e->name, f ? f->name : "nothing");
		if (strstr(e->not_modelled, "libpfm4"))
			continue;	/* libpfm4's code for it belongs to another event */
		/* of MSR_OFFCORE_RSP_x, the value decides what the model can count */
		const bool counted = e->extra_msr - MSR_OFFCORE_RSP_0 > 1 &&
			(f->flags ^ e->flags) & SPMU_EVENT_NOT_MODELLED;
		if (counted || f->pmc_mask != e->pmc_mask || (f->flags ^ e->flags) & SPMU_EVENT_PRECISE)
			fail_msg("%s: %s and %s of one code are counted, precise or placed otherwise", table, e->name,
				f->name);
	}
}

static void test_names_of_one_code_agree(void **state)
{
	(void)state;
	for (unsigned t = 0; t < MADE; t++) {
		struct spmu_model *m = fixture_model(made[t]);
		codes_are_found(m, made[t]);
		spmu_model_free(m);
	}
}

/* Is `name` a row that is counted, or the part before the dot of one? */
static bool counts(const struct spmu_model *m, const char *name)
{
	const size_t n = strlen(name);
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (!(e->flags & SPMU_EVENT_NOT_MODELLED) && !strncmp(e->name, name, n) &&
			(!e->name[n] || (e->name[n] == '.' && !strchr(name, '.'))))
			return true;
	}
	return false;
}

static void points_to_rows_that_count(const char *table, const struct spmu_model *m)
{
	char word[128];
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		const char *s = strstr(e->not_modelled, "; see ");
		s = s ? s : strstr(e->not_modelled, "; take ");
		for (size_t n; s && *s; s += n) {
			s += strspn(s, " ,:;");
			n = strcspn(s, " ,:;");
			snprintf(word, sizeof word, "%.*s", (int)n, s);
			if (word[0] == '.' || (word[0] >= 'A' && word[0] <= 'Z' && !counts(m, word)))
				fail_msg("%s %s: %s is no row that is counted", table, e->name, word);
		}
	}
}

/* A reason such as "see L2_RQSTS.RFO_HIT, L2_RQSTS.RFO_MISS" names rows of this table that are counted, in full. */
static void test_what_a_reason_points_to_is_counted(void **state)
{
	(void)state;
	for_each_table(points_to_rows_that_count);
}

static void speaks_of_machine(const char *table, const struct spmu_model *m)
{
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (strstr(e->not_modelled, "no signal") || strstr(e->not_modelled, "the stream") ||
			strstr(e->help, "the stream"))
			fail_msg("%s %s: '%s' needs the source to be understood", table, e->name, e->not_modelled);
	}
}

/* Users read reasons; streams and signals are words of the source. */
static void test_reasons_speak_of_the_machine(void **state)
{
	(void)state;
	for_each_table(speaks_of_machine);
}

/* Source, Linux: intel_perfmon_event_map with intel_pmu_init's changes, *_hw_cache_event_ids, *_events_attrs. A value
 * is umask and event; -1: Linux maps nothing. */
static void test_perf_names_are_what_linux_programs(void **state)
{
	static const struct { const char *alias; int code[MADE]; } rows[] = {
		/*                             nehalem, Sandy Bridge, Ivy Bridge, Haswell, Broadwell, Ice Lake */
		{ "cycles",                    { 0x003c, 0x003c, 0x003c, 0x003c, 0x003c, 0x003c } },
		{ "instructions",              { 0x00c0, 0x00c0, 0x00c0, 0x00c0, 0x00c0, 0x00c0 } },
		{ "ref-cycles",                { 0x0300, 0x0300, 0x0300, 0x0300, 0x0300, 0x0300 } },
		{ "bus-cycles",                { 0x013c, 0x013c, 0x013c, 0x013c, 0x013c, 0x013c } },
		{ "branches",                  { 0x00c4, 0x00c4, 0x00c4, 0x00c4, 0x00c4, 0x00c4 } },
		{ "branch-misses",             { 0x00c5, 0x00c5, 0x00c5, 0x00c5, 0x00c5, 0x00c5 } },
		{ "cache-references",          { 0x4f2e, 0x4f2e, 0x4f2e, 0x4f2e, 0x4f2e, 0x4f2e } },
		{ "cache-misses",              { 0x412e, 0x412e, 0x412e, 0x412e, 0x412e, 0x412e } },
		{ "stalled-cycles-frontend",   { 0x010e, 0x010e, 0x010e, -1, -1, -1 } },
		{ "idle-cycles-frontend",      { 0x010e, 0x010e, 0x010e, -1, -1, -1 } },
		{ "stalled-cycles-backend",    { 0x3fb1, 0x01b1, -1, -1, -1, -1 } },
		{ "L1-dcache-loads",           { 0x010b, 0xf1d0, 0xf1d0, 0x81d0, 0x81d0, 0x81d0 } },
		{ "L1-dcache-load-misses",     { 0x0151, 0x0151, 0x0151, 0x0151, 0x0151, 0x0151 } },
		{ "L1-dcache-stores",          { 0x020b, 0xf2d0, 0xf2d0, 0x82d0, 0x82d0, 0x82d0 } },
		{ "L1-dcache-store-misses",    { 0x0251, 0x0851, 0x0851, -1, -1, -1 } },
		{ "L1-dcache-prefetches",      { 0x014e, -1, -1, -1, -1, -1 } },
		{ "L1-dcache-prefetch-misses", { 0x024e, 0x024e, 0x024e, -1, -1, -1 } },
		{ "L1-icache-loads",           { 0x0380, -1, -1, -1, -1, -1 } },
		{ "L1-icache-load-misses",     { 0x0280, 0x0280, 0x0280, 0x0280, 0x0280, 0x0283 } },
		{ "LLC-loads",                 { 0x01b7, 0x01b7, 0x01b7, 0x01b7, 0x01b7, 0x01b7 } },
		{ "LLC-store-misses",          { 0x01b7, 0x01b7, 0x01b7, 0x01b7, 0x01b7, 0x01b7 } },
		{ "LLC-prefetches",            { 0x01b7, 0x01b7, 0x01b7, -1, -1, -1 } },
		{ "node-loads",                { 0x01b7, 0x01b7, 0x01b7, 0x01b7, 0x01b7, 0x01b7 } },
		{ "dTLB-loads",                { 0x0f40, 0x81d0, 0x81d0, 0x81d0, 0x81d0, 0x81d0 } },
		{ "dTLB-load-misses",          { 0x0108, 0x0108, 0x8108, 0x0108, 0x0108, 0x0e08 } },
		{ "dTLB-stores",               { 0x0f41, 0x82d0, 0x82d0, 0x82d0, 0x82d0, 0x82d0 } },
		{ "dTLB-store-misses",         { 0x010c, 0x0149, 0x0149, 0x0149, 0x0149, 0x0e49 } },
		{ "iTLB-loads",                { 0x01c0, 0x1085, 0x1085, 0x6085, 0x6085, -1 } },
		{ "iTLB-load-misses",          { 0x20c8, 0x0185, 0x0185, 0x0185, 0x0185, 0x0e85 } },
		{ "branch-loads",              { 0x00c4, 0x00c4, 0x00c4, 0x00c4, 0x00c4, 0x00c4 } },
		{ "branch-load-misses",        { 0x03e8, 0x00c5, 0x00c5, 0x00c5, 0x00c5, 0x00c5 } },
		{ "mem-loads",                 { 0x100b, 0x01cd, 0x01cd, 0x01cd, 0x01cd, 0x01cd } },
		{ "mem-stores",                { -1, 0x02cd, 0x02cd, 0x82d0, 0x82d0, 0x82d0 } },
		{ "topdown-slots-issued",      { -1, 0x010e, 0x010e, 0x010e, 0x010e, -1 } },
		{ "topdown-slots-retired",     { -1, 0x02c2, 0x02c2, 0x02c2, 0x02c2, -1 } },
		{ "topdown-fetch-bubbles",     { -1, 0x019c, 0x019c, 0x019c, 0x019c, -1 } },
		{ "slots",                     { -1, -1, -1, -1, -1, 0x0400 } },
		{ "topdown-be-bound",          { -1, -1, -1, -1, -1, 0x8300 } },
		{ "tx-start",                  { -1, -1, -1, 0x01c9, 0x01c9, 0x01c9 } },
		{ "tx-capacity",               { -1, -1, -1, 0x0254, 0x0254, -1 } },
		{ "tx-capacity-read",          { -1, -1, -1, -1, -1, 0x8054 } },
	};
	(void)state;
	for (unsigned t = 0; t < MADE; t++) {
		struct spmu_model *m = fixture_model(made[t]);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			const struct spmu_event *e = spmu_model_find(m, rows[i].alias);
			int got = e ? e->event | e->umask << 8 : -1;
			if (got != rows[i].code[t])
				fail_msg("%s %s: %x, expected %x", made[t], rows[i].alias, (unsigned)got,
					(unsigned)rows[i].code[t]);
		}
		spmu_model_free(m);
	}
}

/* Linux: intel_*_event_constraints. */
static void test_events_are_placed_as_linux_places_them(void **state)
{
	static const struct { const char *table, *name; uint32_t mask; } rows[] = {
		{ "nehalem", "L1D.REPL", 0x3 }, { "nehalem", "CACHE_LOCK_CYCLES.L1D", 0x3 },
		{ "nehalem", "INST_RETIRED.ANY_P", 0xf },
		{ "nehalem", "MEM_LOAD_RETIRED.LLC_MISS", 0xf },
		{ "sandy-bridge", "L1D_PEND_MISS.PENDING", 0x4 }, { "sandy-bridge", "CYCLE_ACTIVITY.CYCLES_L1D_PENDING",
		0x4 },
		{ "sandy-bridge", "CYCLE_ACTIVITY.STALLS_L2_PENDING", 0xf }, { "sandy-bridge", "INST_RETIRED.PREC_DIST",
		0x2 },
		{ "sandy-bridge", "MEM_TRANS_RETIRED.PRECISE_STORE", 0x8 }, { "sandy-bridge",
		"MEM_LOAD_UOPS_RETIRED.L2_HIT", 0xf },
		{ "sandy-bridge", "UOPS_ISSUED.ANY", 0xff },
		{ "ivy-bridge", "L1D_PEND_MISS.PENDING", 0x4 }, { "ivy-bridge", "L1D_PEND_MISS.FB_FULL", 0xff },
		{ "ivy-bridge", "CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0x4 }, { "ivy-bridge",
		"CYCLE_ACTIVITY.STALLS_LDM_PENDING", 0xf },
		{ "ivy-bridge", "IDQ_UOPS_NOT_DELIVERED.CORE", 0xf }, { "ivy-bridge", "MEM_UOPS_RETIRED.ALL_LOADS",
		0xf },
		{ "haswell", "CYCLE_ACTIVITY.CYCLES_L1D_PENDING", 0x4 },
		{ "haswell", "CYCLE_ACTIVITY.CYCLES_NO_EXECUTE", 0xf },
		{ "haswell", "MEM_TRANS_RETIRED.LOAD_LATENCY", 0x8 }, { "haswell", "UOPS_EXECUTED_PORT.PORT_7", 0xff },
		{ "broadwell", "CYCLE_ACTIVITY.STALLS_L1D_PENDING", 0x4 }, { "broadwell",
		"MEM_TRANS_RETIRED.LOAD_LATENCY", 0xf },
		{ "ice-lake", "IDQ.DSB_UOPS", 0xf }, { "ice-lake", "CYCLE_ACTIVITY.STALLS_TOTAL", 0xff },
		{ "ice-lake", "CYCLE_ACTIVITY.STALLS_L2_MISS", 0xf },
		{ "ice-lake", "MEM_LOAD_RETIRED.L1_HIT", 0xf }, { "ice-lake", "UOPS_ISSUED.ANY", 0xff },
		{ "ice-lake", "TOPDOWN.SLOTS", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct spmu_model *m = fixture_model(rows[i].table);
		const struct spmu_event *e = fixture_event(m, rows[i].name);
		if (e->pmc_mask != rows[i].mask)
			fail_msg("%s %s: counters %x, expected %x", rows[i].table, e->name, e->pmc_mask, rows[i].mask);
		spmu_model_free(m);
	}
}

static void test_shapes_are_those_of_the_machines(void **state)
{
	static const struct { unsigned version, gp, fixed, slots; } shape[MADE] = {
		{ 3, 4, 3, 4 }, { 3, 8, 3, 4 }, { 3, 8, 3, 4 }, { 3, 8, 3, 4 }, { 3, 8, 3, 4 }, { 5, 8, 4, 5 },
	};
	static const char *const fixed[] = { "INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.REF_TSC",
		"TOPDOWN.SLOTS" };
	(void)state;
	for (unsigned t = 0; t < MADE; t++) {
		struct spmu_model *m = fixture_model(made[t]);
		assert_int_equal(spmu_model_version(m), shape[t].version);
		assert_int_equal(spmu_model_gp_counters(m), shape[t].gp);
		assert_int_equal(spmu_model_fixed_counters(m), shape[t].fixed);
		assert_int_equal(spmu_model_slots(m), shape[t].slots);
		for (unsigned i = 0; i < shape[t].fixed; i++) {
			const struct spmu_event *e = fixture_event(m, fixed[i]);
			assert_true(e->flags & SPMU_EVENT_FIXED_ONLY);
			assert_int_equal(e->fixed, i);
			assert_int_equal(e->event | e->umask << 8, (i + 1) << 8);
		}
		spmu_model_free(m);
	}
}

/* The Top-Down equations for Ivy Bridge as published (Intel 64 and IA-32 Architectures Optimization Reference
 * Manual, appendix B, "Using Performance Monitoring Events"): each of their events is counted. */
static void test_the_top_down_equations_of_ivy_bridge_meet_no_refused_event(void **state)
{
	static const char *const names[] = { "CPU_CLK_UNHALTED.THREAD", "IDQ_UOPS_NOT_DELIVERED.CORE",
		"UOPS_ISSUED.ANY", "UOPS_RETIRED.RETIRE_SLOTS",
		"INT_MISC.RECOVERY_CYCLES", "IDQ.DSB_UOPS", "IDQ.MITE_UOPS", "IDQ.MS_UOPS", "ICACHE.IFETCH_STALL",
		"ITLB_MISSES.STLB_HIT",
		"ITLB_MISSES.WALK_DURATION", "CYCLE_ACTIVITY.STALLS_LDM_PENDING", "CYCLE_ACTIVITY.CYCLES_NO_EXECUTE",
		"UOPS_EXECUTED.CYCLES_GE_1_UOP_EXEC", "UOPS_EXECUTED.CYCLES_GE_2_UOPS_EXEC",
		"CYCLE_ACTIVITY.STALLS_L1D_PENDING",
		"CYCLE_ACTIVITY.STALLS_L2_PENDING", "MEM_LOAD_UOPS_RETIRED.LLC_HIT", "MEM_LOAD_UOPS_RETIRED.LLC_MISS",
		"RESOURCE_STALLS.ANY",
		"RESOURCE_STALLS.SB", "RESOURCE_STALLS.RS", "RESOURCE_STALLS.ROB", "BR_MISP_RETIRED.ALL_BRANCHES",
		"MACHINE_CLEARS.COUNT",
		"BACLEARS.ANY", "RS_EVENTS.EMPTY_CYCLES", "DSB2MITE_SWITCHES.PENALTY_CYCLES", "LD_BLOCKS.STORE_FORWARD",
		"LSD.UOPS" };
	(void)state;
	struct spmu_model *m = fixture_model("ivy-bridge");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (fixture_event(m, names[i])->flags & SPMU_EVENT_NOT_MODELLED)
			fail_msg("%s is refused", names[i]);
	spmu_model_free(m);
}

static void counts_by_definition(const char *table, uint64_t seed)
{
	struct spmu_model *m = fixture_model(table);
	struct stream s = { 0 };
	uint64_t cycles = stream_random(&s, seed, 700);
	unsigned compared = 0;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (e->flags & SPMU_EVENT_NOT_MODELLED || !naive_knows(m, e))
			continue;
		struct spmu *p = fixture_pmu(m, NULL);
		uint32_t msr;
		if (e->flags & SPMU_EVENT_FIXED_ONLY) {
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, (uint64_t)3 << 4 * e->fixed), SPMU_OK);
			msr = MSR_IA32_FIXED_CTR0 + (uint32_t)e->fixed;
		} else {	/* counts on the last counter that the event may use */
			unsigned pmc = 31 - (unsigned)__builtin_clz(e->pmc_mask);
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + pmc, image(e)), SPMU_OK);
			msr = MSR_IA32_PMC0 + pmc;
			fixture_extra(p, e, pmc);
		}
		stream_send_cut(&s, p, seed + i, 1 + i % 300);
		uint64_t want = naive_count(m, &s, (const struct pmu_row *)e, cycles, 3, e->cmask, e->inv, e->edge),
			got = fixture_read(p, msr);
		if (want != got)
			fail_msg("%s %s: %llu, by definition %llu", table, e->name, (unsigned long long)got,
				(unsigned long long)want);
		compared++;
		spmu_destroy(p);
	}
	assert_true(compared >= 140);
	stream_free(&s);
	spmu_model_free(m);
}

static void test_every_event_counts_what_its_definition_says(void **state)
{
	(void)state;
	for (unsigned t = 0; t < MADE; t++)
		counts_by_definition(made[t], 1000 + t);
}

/* An event that no stream can make count would silently read 0, because its expression names bits that exclude each
 * other or a threshold that its value never reaches. A random stream has every bit and signal. */
static void test_no_event_is_always_zero(void **state)
{
	(void)state;
	for (unsigned t = 0; t < MADE; t++) {
		struct spmu_model *m = fixture_model(made[t]);
		struct stream s = { 0 };
		uint64_t cycles = stream_random(&s, 77 + t, 6000);
		for (size_t i = 0; i < spmu_model_events(m); i++) {
			const struct spmu_event *e = spmu_model_event(m, i);
			const struct pmu_row *row = (const struct pmu_row *)e;
			unsigned cmask = e->cmask;
			if (cmask > 2 && !e->inv && !row->weighted)
				cmask = 2;	/* higher thresholds are reached too rarely in that stream */
			if (!(e->flags & SPMU_EVENT_NOT_MODELLED) && naive_knows(m, e) &&
				!(e->extra_msr == MSR_PEBS_LD_LAT_THRESHOLD && e->extra > 64) &&
				e->extra_msr - MSR_OFFCORE_RSP_0 > 1 &&		/* test_pmu_offcore */
				!naive_count(m, &s, row, cycles, 3, cmask, e->inv, e->edge))
				fail_msg("%s %s counts nothing at all", made[t], e->name);
		}
		stream_free(&s);
		spmu_model_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_table_of_data_events_loads),
		cmocka_unit_test(test_every_name_and_alias_finds_its_own_row),
		cmocka_unit_test(test_the_names_typed_first_count_on_every_table),
		cmocka_unit_test(test_names_of_one_code_agree),
		cmocka_unit_test(test_what_a_reason_points_to_is_counted),
		cmocka_unit_test(test_reasons_speak_of_the_machine),
		cmocka_unit_test(test_perf_names_are_what_linux_programs),
		cmocka_unit_test(test_events_are_placed_as_linux_places_them),
		cmocka_unit_test(test_shapes_are_those_of_the_machines),
		cmocka_unit_test(test_the_top_down_equations_of_ivy_bridge_meet_no_refused_event),
		cmocka_unit_test(test_every_event_counts_what_its_definition_says),
		cmocka_unit_test(test_no_event_is_always_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
