/* SPDX-License-Identifier: GPL-2.0-or-later
 * Event tables: what the loader refuses, with the line; look-up by name, alias and code.
 */
#include "pmu_fixture.h"
#include <unistd.h>

#define SHAPE "@cpuid_0a 07300204 00000000 00000000 00000601\n@perf_capabilities 2000\n@slots 4\n@tsc 1/1\n"
#define FIXED "A.FIXED\t00\t01\t-\t-\tfixed=0,fixed-only\t-\tsig(CYCLES)\thelp\t-\n"

static int load(const char *content, struct spmu_model **m, char *text, size_t bytes)
{
	char path[] = "/tmp/softpmu-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
	int error = spmu_model_load(m, path, text, bytes);
	unlink(path);
	return error;
}

static void test_a_bad_table_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct { const char *content, *line, *words; } rows[] = {
		{ "", "", "shape lines are missing" },
		{ "@slots 4\n@slots 4\n", ":2:", "@slots appears twice" },
		{ "@slots 0\n", ":1:", "1 to 64" },
		{ "@frob 1\n", ":1:", "unknown shape line" },
		{ "@tsc 1\n", ":1:", "NUM/DEN" },
		{ "@perf_capabilities 4000000\n", ":1:", "@perf_capabilities" },
		{ "@cpuid_0a 07300400 0 0 603\n", ":1:", "version 0" },
		{ "@cpuid_0a 07300406 0 0 603\n", ":1:", "version 6" },
		{ "@cpuid_0a 07300402 0 0 600\n", ":1:", "counters" },
		{ "@family p7\n", ":1:", "arch, p5, p6 or netburst" },
		{ "@slots 4\n@family p6\n", ":2:", "must be the first line" },
		{ "@family p6\n@cpuid_0a 07300404 0 0 603\n", ":2:", "unknown shape line" },
		{ "@cpuid_0a 0730ff04 0 0 603\n", ":1:", "counters" },
		{ "@slots 4\nX\t00\t00\t-\t0\t-\t-\tslots\thelp\t-\n", ":2:", "shape lines are missing" },
		{ SHAPE, "", "no event counts sig(CYCLES)" },
		{ SHAPE FIXED "X\t0g\t00\t-\t0\t-\t-\tslots\th\t-\n", ":6:", "bad event select" },
		{ SHAPE FIXED "X\t01\t100\t-\t0\t-\t-\tslots\th\t-\n", ":6:", "bad umask" },
		{ SHAPE FIXED "X\t01\t00\tc=0\t0\t-\t-\tslots\th\t-\n", ":6:", "mods" },
		{ SHAPE FIXED "X\t01\t00\t-\t0-9\t-\t-\tslots\th\t-\n", ":6:", "bad counters" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\tfixed=1\t-\tslots\th\t-\n", ":6:", "bad flags" },
		{ SHAPE FIXED "X\t01\t00\t-\t-\t-\t-\tslots\th\t-\n", ":6:", "counters must be empty" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\t-\th\t-\n", ":6:", "either" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\tslots\th\twhy\n", ":6:", "either" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\tslots\t-\t-\n", ":6:", "help is empty" },
		{ SHAPE FIXED "X Y\t01\t00\t-\t0\t-\t-\tslots\th\t-\n", ":6:", "bad character" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\tslots\th\n", ":6:", "10 columns" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\tslots\th\t-\t-\n", ":6:", "10 columns" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\tslots\th\t-\nx\t02\t00\t-\t0\t-\t-\tslots\th\t-\n", ":7:",
		"twice" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\tslots\th\t-\nY\t01\t00\tc=1\t0\t-\t-\ttsc+tsc\th\t-\n", ":7:",
		"`count` differs" },
		{ SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\t4*cycles(sig(CYCLES) >= 1)\th\t-\n", ":6:", "needs a CMASK" },
		{ SHAPE FIXED "@slots 4\n", ":6:", "before events" },
		{ SHAPE FIXED "X\t00\t80\t-\t-\tfixed=0,fixed-only\t-\tmetrics\th\t-\n", "",
		"`metrics` wants" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[300] = "";
		struct spmu_model *m = (struct spmu_model *)&m;
		assert_int_equal(load(rows[i].content, &m, text, sizeof text), SPMU_EINPUT);
		assert_ptr_equal(m, &m);
		if (!strstr(text, rows[i].line) || !strstr(text, rows[i].words))
			fail_msg("row %zu: '%s' lacks '%s' or '%s'", i, text, rows[i].line, rows[i].words);
	}
}

static void test_a_bad_expression_is_refused_with_its_reason(void **state)
{
	(void)state;
	static const struct { const char *count, *words; } rows[] = {
		{ "uop(FROB)", "no STATIC or DYNAMIC 'FROB'" }, { "sig(FROB)", "no SIGNAL 'FROB'" },
		{ "frob", "'uop(' expected" },
		{ "uop(LOAD)@never", "no such stage 'never'" }, { "uop(LOAD)@retire:fetch", "wrong order" },
		{ "uop(LOAD)@fetch:fetch", "wrong order" }, { "uop(LOAD", "')' expected" }, { "uop(LOAD & LOAD)",
		"twice" },
		{ "uop(LOAD & !LOAD)", "twice" }, { "uop((LOAD|LOCK) & (TAKEN|RET))", "only one (A|B)" },
		{ "uop(port(16))", "bad number" }, { "uop(port(1) & port(2))", "only one port" }, { "uop(!RETIRED)",
		"does not retire" },
		{ "0*slots", "may not be 0" }, { "1/0*slots", "may not be 0" }, { "1/2*uop(LOAD)", "fraction" },
		{ "1/2*sig(CYCLES)+slots", "fraction" }, { "slots slots", "what is this" },
		{ "slots+", "'uop(' expected" },
		{ "cycles(sig(CYCLES))", "comparison expected" }, { "cycles(sig(CYCLES) >= x)", "bad number" },
		{ "begins(BACLEAR)", "not for 'BACLEAR'" }, { "pending(L1D_PENDING)", "not for 'L1D_PENDING'" },
		{ "99999999999999999999*slots", "bad number" },
		{ "slots+slots+slots+slots+slots+slots+slots+slots+slots+slots+"
			"slots+slots+slots+slots+slots+slots+slots",
			"too many terms" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[300] = "", content[1000];
		struct spmu_model *m = NULL;
		snprintf(content, sizeof content, SHAPE FIXED "X\t01\t00\t-\t0\t-\t-\t%s\thelp\t-\n", rows[i].count);
		assert_int_equal(load(content, &m, text, sizeof text), SPMU_EINPUT);
		if (!strstr(text, ":6: X: ") || !strstr(text, rows[i].words))
			fail_msg("'%s': '%s' lacks '%s'", rows[i].count, text, rows[i].words);
	}
}

static void test_a_missing_or_binary_file_is_refused(void **state)
{
	(void)state;
	char text[300] = "";
	struct spmu_model *m = NULL;
	assert_int_equal(spmu_model_load(&m, "/nonexistent/x.tsv", text, sizeof text), SPMU_EINPUT);
	assert_non_null(strstr(text, "/nonexistent/x.tsv"));
	assert_int_equal(spmu_model_load(&m, "/", text, sizeof text), SPMU_EINPUT);
	assert_int_equal(spmu_model_load(&m, "/proc/self/exe", text, sizeof text), SPMU_EINPUT);
	assert_int_equal(spmu_model_load(&m, "/proc/self/exe", NULL, 0), SPMU_EINPUT);
	assert_null(m);
}

static void test_every_bit_and_signal_of_an_expression_is_named_in_signals_def(void **state)
{
	(void)state;	/* loading both tables checks the names; this checks what an event needs from the core */
	struct spmu_model *m = fixture_model("skylake");
	uint64_t set[2];
	spmu_event_signals(m, fixture_event(m, "CYCLE_ACTIVITY.STALLS_L1D_MISS"), set);
	assert_true(pmu_in_set(set, SPMU_SIG_L1D_PENDING) && pmu_in_set(set, SPMU_SIG_CYCLES));
	assert_false(pmu_in_set(set, SPMU_SIG_L2_PENDING));
	spmu_event_signals(m, fixture_event(m, "MACHINE_CLEARS.COUNT"), set);
	assert_true(pmu_in_set(set, SPMU_SIG_CLEAR_SMC) && pmu_in_set(set, SPMU_SIG_CLEAR_MEMORY_ORDER));
	spmu_model_free(m);
}

static void test_names_are_found_in_any_case_and_with_colons(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	const struct spmu_event *e = fixture_event(m, "MEM_LOAD_RETIRED.L1_MISS");
	assert_ptr_equal(spmu_model_find(m, "mem_load_retired:l1_miss"), e);
	assert_ptr_equal(spmu_model_find(m, "Mem_Load_Retired.L1_Miss"), e);
	assert_null(spmu_model_find(m, "MEM_LOAD_RETIRED.L1_MIS"));
	assert_null(spmu_model_find(m, "MEM_LOAD_RETIRED.L1_MISSX"));
	assert_null(spmu_model_find(m, ""));
	assert_string_equal(spmu_model_find(m, "cache-misses")->name, "LONGEST_LAT_CACHE.MISS");
	assert_null(spmu_model_find(m, "cache-misse"));
	assert_null(spmu_model_event(m, spmu_model_events(m)));
	spmu_model_free(m);
}

static void test_perf_aliases_are_what_linux_programs(void **state)
{
	(void)state;
	/* umask and event, -1: not listed */
	static const struct { const char *alias; int skylake, golden_cove; } rows[] = {
		{ "cycles", 0x003c, 0x003c }, { "cpu-cycles", 0x003c, 0x003c }, { "instructions", 0x00c0, 0x00c0 },
		{ "cache-references", 0x4f2e, 0x4f2e }, { "cache-misses", 0x412e, 0x412e }, { "branches", 0x00c4,
		0x00c4 },
		{ "branch-instructions", 0x00c4, 0x00c4 }, { "branch-misses", 0x00c5, 0x00c5 }, { "bus-cycles", 0x013c,
		0x013c },
		{ "ref-cycles", 0x0300, 0x0300 }, { "slots", -1, 0x0400 },
		{ "L1-dcache-loads", 0x81d0, 0x81d0 }, { "L1-dcache-load-misses", 0x0151, 0xe124 },
		{ "L1-dcache-stores", 0x82d0, 0x82d0 }, { "L1-icache-load-misses", 0x0283, 0xe424 },
		{ "LLC-loads", 0x01b7, 0x012a }, { "LLC-load-misses", 0x01b7, 0x012a }, { "LLC-stores", 0x01b7,
		0x012a },
		{ "LLC-store-misses", 0x01b7, 0x012a }, { "dTLB-loads", 0x81d0, 0x81d0 }, { "dTLB-load-misses", 0x0e08,
		0x0e12 },
		{ "dTLB-stores", 0x82d0, 0x82d0 }, { "dTLB-store-misses", 0x0e49, 0x0e13 }, { "iTLB-loads", 0x2085,
		-1 },
		{ "iTLB-load-misses", 0x0e85, 0x0e11 }, { "branch-loads", 0x00c4, 0x00c4 }, { "branch-load-misses",
		0x00c5, 0x00c5 },
		{ "mem-loads", 0x01cd, 0x01cd }, { "mem-stores", 0x82d0, 0x02cd }, { "topdown-retiring", -1, 0x8000 },
		{ "topdown-mem-bound", -1, 0x8700 }, { "topdown-slots-retired", 0x02c2, -1 },
	};
	for (unsigned part = 0; part < 2; part++) {
		struct spmu_model *m = fixture_model(part ? "golden-cove" : "skylake");
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			const struct spmu_event *e = spmu_model_find(m, rows[i].alias);
			int want = part ? rows[i].golden_cove : rows[i].skylake, got = e ? e->event | e->umask << 8
				: -1;
			if (got != want)
				fail_msg("%s: %x, expected %x", rows[i].alias, (unsigned)got, (unsigned)want);
		}
		spmu_model_free(m);
	}
}

static void test_what_cannot_be_honest_is_refused_with_a_reason(void **state)
{
	(void)state;
	static const char *const refused[] = { "node-load-misses", "RTM_RETIRED.COMMIT",
		"FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE", "ASSISTS.PAGE_FAULT" };
	struct spmu_model *m = fixture_model("golden-cove");
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		const struct spmu_event *e = fixture_event(m, refused[i]);
		assert_true(e->flags & SPMU_EVENT_NOT_MODELLED);
		assert_true(strlen(e->not_modelled) > 10);
	}
	assert_int_equal(fixture_event(m, "topdown-mem-bound")->flags & (SPMU_EVENT_METRIC | SPMU_EVENT_NOT_MODELLED),
		SPMU_EVENT_METRIC);
	spmu_model_free(m);
}

static void test_codes_find_the_row_that_fits_best(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	static const struct { uint64_t code; const char *name; } rows[] = {
		{ 0x00c0, "INST_RETIRED.ANY_P" }, { 0x003c, "CPU_CLK_UNHALTED.THREAD_P" },
		{ 0x412e, "LONGEST_LAT_CACHE.MISS" },
		{ 0x01b1, "UOPS_EXECUTED.THREAD" }, { 0x030001b1, "UOPS_EXECUTED.THREAD_CYCLES_GE_3" },
		/* any other threshold */
		{ 0x018001b1, "UOPS_EXECUTED.STALL_CYCLES" }, { 0x090001b1, "UOPS_EXECUTED.THREAD" },
		/* with edge */
		{ 0x0c000ca3, "CYCLE_ACTIVITY.STALLS_L1D_MISS" }, { 0x0c040ca3, "CYCLE_ACTIVITY.STALLS_L1D_MISS" },
		{ 0x0ca3, NULL }, { 0x05000ca3, NULL },	/* without the CMASK no row has this code */
		{ 0x01c3, "MACHINE_CLEARS.COUNT" },	/* the only row of its code */
		{ 0x01c9, "RTM_RETIRED.START" },		/* refused, but known */
		{ 0xfffe, NULL }, { 0, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct spmu_event *e = spmu_model_find_code(m, rows[i].code | SPMU_EVTSEL_USR | SPMU_EVTSEL_EN);
		if (!e != !rows[i].name || (e && strcmp(e->name, rows[i].name)))
			fail_msg("%llx: %s, expected %s", (unsigned long long)rows[i].code, e ? e->name : "none",
				rows[i].name ? rows[i].name : "none");
	}
	spmu_model_free(m);
}

/* A general-purpose counter counts what a row of the counter's own says about its code, whatever a row of a fixed
 * counter has for it: Golden Cove's c0/01 is INST_RETIRED.ANY, which is fixed counter 0's, and, with CMASK and INV,
 * INST_RETIRED.STALL_CYCLES.  Without them it counts instructions.  Who asks for the code's name gets the former. */
static void test_a_fixed_counters_row_hides_no_code_of_the_others(void **state)
{
	(void)state;
	static const char *const tables[] = { "bonnell", "core2", "nehalem", "sandy-bridge", "ivy-bridge", "haswell",
		"broadwell", "skylake", "ice-lake", "golden-cove" };
	for (size_t n = 0; n < sizeof tables / sizeof *tables; n++) {
		struct spmu_model *m = fixture_model(tables[n]);
		for (size_t i = 0; i < spmu_model_events(m); i++) {
			const struct spmu_event *e = spmu_model_event(m, i);
			if (e->flags & SPMU_EVENT_FIXED_ONLY || m->row[i].weighted)
				continue;
			const struct pmu_row *found = pmu_find_code(m, e->event | (uint64_t)e->umask << 8);
			if (!found || found->public.flags & SPMU_EVENT_FIXED_ONLY)
				fail_msg("%s %s: its code alone finds %s", tables[n], e->name,
					found ? found->public.name : "none");
		}
		spmu_model_free(m);
	}
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = fixture_pmu(m, NULL);
	struct stream s = { 0 };
	uint64_t count = 0;
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 7, 0x01c0 | SPMU_EVTSEL_USR | SPMU_EVTSEL_EN), SPMU_OK);
	assert_int_equal(spmu_unmodelled(p, NULL, 0), 0);
	assert_string_equal(spmu_model_find_code(m, 0x01c0)->name, "INST_RETIRED.ANY");
	for (uint64_t i = 0; i < 3; i++)
		stream_inst(&s, 0x1000 + 4 * i, 0, 0, 10 + i);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 20, 1);
	stream_send_all(&s, p);
	assert_int_equal(spmu_rdmsr(p, MSR_IA32_PMC0 + 7, &count), SPMU_OK);
	assert_int_equal(count, 3);
	stream_free(&s);
	spmu_destroy(p);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fixed_counters_row_hides_no_code_of_the_others),
		cmocka_unit_test(test_a_bad_table_is_refused_with_its_line),
		cmocka_unit_test(test_a_bad_expression_is_refused_with_its_reason),
		cmocka_unit_test(test_a_missing_or_binary_file_is_refused),
		cmocka_unit_test(test_every_bit_and_signal_of_an_expression_is_named_in_signals_def),
		cmocka_unit_test(test_names_are_found_in_any_case_and_with_colons),
		cmocka_unit_test(test_perf_aliases_are_what_linux_programs),
		cmocka_unit_test(test_what_cannot_be_honest_is_refused_with_a_reason),
		cmocka_unit_test(test_codes_find_the_row_that_fits_best),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
