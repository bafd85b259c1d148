/* SPDX-License-Identifier: GPL-2.0-or-later
 * The generations of the architectural PMU: which registers and bits each version has, freeze in both styles,
 * two hardware threads, the local APIC's entry, PERF_METRICS.
 */
#include "pmu_fixture.h"
#include <unistd.h>

enum { YNH = 1, CORE = 2, NHM = 4, HSW = 8, ICL = 16, ALL = 31 };
static const struct { unsigned which; const char *name; unsigned version, gp, fixed; } parts[] = {
	{ YNH, "yonah", 1, 2, 0 }, { CORE, "core2", 2, 2, 3 }, { NHM, "nehalem", 3, 4, 3 }, { HSW, "haswell", 3, 8, 3 },
	{ ICL, "ice-lake", 5, 8, 4 },
};
enum { PARTS = sizeof parts / sizeof *parts };

static struct spmu *fresh(const struct spmu_model *m, const struct spmu_host *host)
{
	struct spmu *p = NULL;
	assert_int_equal(spmu_create(&p, m, host), SPMU_OK);
	return p;
}

static void test_each_version_has_its_registers(void **state)
{
	(void)state;
	/* ok: the models that accept the write; gp: those that fault; the others lack the register */
	static const struct { uint32_t msr; uint64_t value; unsigned ok, gp; uint64_t reads; } rows[] = {
		{ MSR_IA32_PERFEVTSEL0, 0x4300c0, ALL, 0, 0x4300c0 },
		{ MSR_IA32_PERFEVTSEL0, 0x6300c0, NHM | HSW, YNH | CORE | ICL, 0x6300c0 },		/* AnyThread */
		{ MSR_IA32_PERFEVTSEL0 + 1, 0xff5300c0, ALL, 0, 0xff5300c0 },
		{ MSR_IA32_PERFEVTSEL0 + 2, 0, NHM | HSW | ICL, 0, 0 },
		{ MSR_IA32_PERFEVTSEL0 + 4, 0, HSW | ICL, 0, 0 },
		{ MSR_IA32_PERFEVTSEL0, UINT64_C(1) << 35, 0, ALL, 0 },
		{ MSR_IA32_FIXED_CTR0, 5, ALL & ~YNH, 0, 5 },
		{ MSR_IA32_FIXED_CTR0 + 2, 5, ALL & ~YNH, 0, 5 },
		{ MSR_IA32_FIXED_CTR0 + 3, 5, ICL, 0, 5 },
		{ MSR_IA32_FIXED_CTR_CTRL, 0xbbb, ALL & ~YNH, 0, 0xbbb },
		{ MSR_IA32_FIXED_CTR_CTRL, 0x444, NHM | HSW, CORE | ICL, 0x444 },
		{ MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(7) << 32 | 3, ALL & ~YNH, 0, UINT64_C(7) << 32 | 3 },
		{ MSR_IA32_PERF_GLOBAL_CTRL, 4, NHM | HSW | ICL, CORE, 4 },
		{ MSR_IA32_PERF_GLOBAL_CTRL, 0x10, HSW | ICL, CORE | NHM, 0x10 },
		{ MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << 35, ICL, CORE | NHM | HSW, UINT64_C(1) << 35 },
		{ MSR_IA32_PERF_GLOBAL_STATUS, 0, 0, ALL & ~YNH, 0 },
		{ MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(3) << 62 | UINT64_C(7) << 32 | 3, ALL & ~YNH, 0, 0 },
		{ MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(1) << 59, ICL, CORE | NHM | HSW, 0 },	/* CTR_Frz */
		{ MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(1) << 61, NHM | HSW | ICL, CORE, 0 },	/* OvfUncore */
		{ MSR_IA32_PERF_GLOBAL_STATUS_SET, 1, ICL, 0, 0 },
		{ MSR_IA32_PERF_GLOBAL_INUSE, 0, 0, ICL, 0 },
	};
	for (unsigned k = 0; k < PARTS; k++) {
		struct spmu_model *m = fixture_model(parts[k].name);
		assert_int_equal(spmu_model_family(m), SPMU_FAMILY_ARCH);
		assert_int_equal(spmu_model_version(m), parts[k].version);
		assert_int_equal(spmu_model_gp_counters(m), parts[k].gp);
		assert_int_equal(spmu_model_fixed_counters(m), parts[k].fixed);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			struct spmu *p = fresh(m, NULL);
			int want = rows[i].ok & parts[k].which ? SPMU_OK : rows[i].gp & parts[k].which ? SPMU_GP
				: SPMU_ENOMSR;
			int got = spmu_wrmsr(p, rows[i].msr, rows[i].value);
			if (got != want)
				fail_msg("%s row %zu: WRMSR %x, %llx: %d, expected %d", parts[k].name, i, rows[i].msr,
					(unsigned long long)rows[i].value, got, want);
			uint64_t v = 0;
			if (want == SPMU_ENOMSR)
				assert_int_equal(spmu_rdmsr(p, rows[i].msr, &v), SPMU_ENOMSR);
			if (want == SPMU_OK)
				assert_int_equal(fixture_read(p, rows[i].msr), rows[i].reads);
			spmu_destroy(p);
		}
		spmu_model_free(m);
	}
}

static void test_counters_have_the_width_of_leaf_0a(void **state)
{
	(void)state;
	for (unsigned k = 0; k < PARTS; k++) {
		struct spmu_model *m = fixture_model(parts[k].name);
		struct spmu *p = fresh(m, NULL);
		uint32_t r[4];
		spmu_cpuid_0a(p, r);
		uint64_t mask = (UINT64_C(1) << (r[0] >> 16 & 0xff)) - 1;
		assert_int_equal(r[0] >> 16 & 0xff, parts[k].which & (YNH | CORE) ? 40 : 48);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, UINT64_C(0x1234567880000000)), SPMU_OK);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), (uint64_t)(int64_t)INT32_MIN & mask);
		spmu_destroy(p);
		spmu_model_free(m);
	}
}

static struct spmu_model *made(const char *shape)
{
	char path[] = "/tmp/softpmu-test-XXXXXX", text[300] = "";
	struct spmu_model *m = NULL;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	FILE *f = fdopen(fd, "w");
	fprintf(f, "%s@slots 4\n@tsc 1/1\nA\t00\t01\t-\t-\tfixed=0,fixed-only\t-\tuop(INST_END)\th\t-\n"
		"B\t00\t02\t-\t-\tfixed=1,fixed-only\t-\tsig(CYCLES)\th\t-\n"
		"C\t00\t03\t-\t-\tfixed=2,fixed-only\t-\ttsc\th\t-\n", shape);
	fclose(f);
	int error = spmu_model_load(&m, path, text, sizeof text);
	unlink(path);
	if (error)
		fail_msg("%s", text);
	return m;
}

/* The manual's example: version 4, four counters of 48 bits, seven events, three fixed counters of 48 bits. */
static void test_kaby_lakes_leaf_0a_decodes_as_printed(void **state)
{
	(void)state;
	struct spmu_model *m = made("@cpuid_0a 07300404 0 0 00000603\n@perf_capabilities 2000\n");
	assert_int_equal(spmu_model_version(m), 4);
	assert_int_equal(spmu_model_gp_counters(m), 4);
	assert_int_equal(spmu_model_fixed_counters(m), 3);
	struct spmu *p = fresh(m, NULL);
	uint64_t v;
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_A_PMC0 + 3, 0xffffffffffff), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_A_PMC0 + 3, UINT64_C(1) << 48), SPMU_GP);
	assert_int_equal(spmu_rdmsr(p, MSR_IA32_PMC0 + 4, &v), SPMU_ENOMSR);
	assert_int_equal(spmu_rdmsr(p, MSR_IA32_FIXED_CTR0 + 3, &v), SPMU_ENOMSR);
	assert_int_equal(spmu_rdpmc(p, 0x40000002, 0, &v), SPMU_OK);
	assert_int_equal(spmu_rdpmc(p, 4, 0, &v), SPMU_GP);
	assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_CTRL), 0xf);
	spmu_destroy(p);
	spmu_model_free(m);
}

static void test_without_global_control_the_enable_bit_is_enough(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("yonah");
	struct spmu *p = fresh(m, NULL);
	struct stream s = { 0 };
	for (unsigned i = 0; i < 7; i++)
		stream_inst(&s, 0x10 + i, 0, 0, 10 + i);
	const struct spmu_event *e = spmu_model_find(m, "instructions");
	assert_non_null(e);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, fixture_evtsel(e)), SPMU_OK);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 7);
	spmu_destroy(p);
	stream_free(&s);
	spmu_model_free(m);
}

struct seen { unsigned n; uint64_t status, ctrl, ip, cycle; bool unmask; };

static void on_pmi(void *context, struct spmu *p, const struct spmu_pmi *pmi, const struct spmu_batch *b)
{
	struct seen *seen = context;
	uint32_t lvt;
	(void)b;
	seen->n++;
	seen->status = pmi->status;
	seen->ip = pmi->ip;
	seen->cycle = pmi->cycle;
	spmu_rdmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, &seen->ctrl);
	assert_int_equal(spmu_apic_read(p, SPMU_APIC_LVT_PC, &lvt), SPMU_OK);
	assert_int_equal(lvt, 0x10400);		/* the delivery of the PMI masked the LVT entry */
	if (seen->unmask)
		spmu_apic_write(p, SPMU_APIC_LVT_PC, 0x400);
}

/* 40 instructions, PMC0 overflows at the tenth; PMC1 counts them all. */
static void freeze(const char *name, uint64_t pmc1, uint64_t ctrl, uint64_t status)
{
	struct spmu_model *m = fixture_model(name);
	struct seen seen = { .unmask = true };
	struct spmu_host host = { .context = &seen, .pmi = on_pmi };
	struct spmu *p = fixture_pmu(m, &host);
	struct stream s = { 0 };
	for (unsigned i = 0; i < 40; i++)
		stream_inst(&s, 0x10 + i, 0, 0, 10 + i);
	const struct spmu_event *e = spmu_model_find(m, "instructions");
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_DEBUGCTL, 1 << 12), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0, fixture_evtsel(e) | SPMU_EVTSEL_INT), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + 1, fixture_evtsel(e)), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-10), SPMU_OK);
	stream_send_all(&s, p);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.ctrl, ctrl);
	assert_int_equal(seen.status, status);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), pmc1);
	spmu_destroy(p);
	stream_free(&s);
	spmu_model_free(m);
}

static void test_freeze_on_pmi_clears_global_ctrl_before_version_4(void **state)
{
	(void)state;
	freeze("core2", 10, 0, 1);
	freeze("haswell", 10, 0, 1);
}

static void test_freeze_on_pmi_sets_ctr_frz_from_version_4_on(void **state)
{
	(void)state;
	freeze("ice-lake", 10, UINT64_C(15) << 32 | 0xff, 1 | STATUS_CTR_FRZ);
}

static void test_a_masked_entry_loses_the_pmi_and_delivery_masks_it(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	static const struct { uint32_t lvt; bool unmask; unsigned pmis; } rows[] = {
		{ 0x10000, true, 0 }, { 0x10400, true, 0 }, { 0x400, false, 1 }, { 0x400, true, 4 }, { 0xfe, true, 4 },
	};
	for (unsigned k = 0; k < 4; k++) {
		struct seen seen = { .unmask = rows[k].unmask };
		struct spmu_host host = { .context = &seen, .pmi = on_pmi };
		struct spmu *p = fixture_pmu(m, &host);
		struct stream s = { 0 };
		for (unsigned i = 0; i < 40; i++)
			stream_inst(&s, 0x10 + i, i % 10 == 9 ? SPMU_IS(DIVIDE) : 0, 0, 10 + i);
		assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, rows[k].lvt), SPMU_OK);
		fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
		for (unsigned i = 0; i < 4; i++) {	/* one overflow in each batch */
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-5), SPMU_OK);
			stream_send(&s, 10 * i, 10 * i + 10, 0, 5 + 10 * i, i == 3, p);
		}
		assert_int_equal(seen.n, rows[k].pmis);
		assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_STATUS) & 1, 1);
		spmu_destroy(p);
		stream_free(&s);
	}
	struct spmu *p = fresh(m, NULL);
	uint32_t v;
	assert_int_equal(spmu_apic_read(p, SPMU_APIC_LVT_PC, &v), SPMU_OK);
	assert_int_equal(v, 0x10000);				/* the LVT entry is masked after reset */
	assert_int_equal(spmu_apic_write(p, SPMU_APIC_LVT_PC, UINT32_MAX), SPMU_OK);
	assert_int_equal(spmu_apic_read(p, SPMU_APIC_LVT_PC, &v), SPMU_OK);
	assert_int_equal(v, 0x107ff);				/* reserved bits do not stick */
	assert_int_equal(spmu_apic_write(p, 0x350, 0), SPMU_ENOMSR);
	spmu_destroy(p);
	spmu_model_free(m);
}

/* The fifth last of 40 instructions overflows: with a latency of 20 cycles the PMI would arrive when the thread has
 * ended.  It is taken with the last instruction, not later, when another image may run (exec). */
static void test_a_pmi_behind_the_last_instruction_is_taken_at_its_end(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	static const struct { uint32_t latency; uint64_t ip, cycle; } rows[] = {
		{ 2, 0x10 + 38, 47 }, { 20, 0x10 + 39, 49 }, { 2000, 0x10 + 39, 49 },
	};
	for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct seen seen = { .unmask = true };
		struct spmu_host host = { .context = &seen, .pmi = on_pmi, .pmi_latency = rows[k].latency };
		struct spmu *p = fixture_pmu(m, &host);
		struct stream s = { 0 };
		for (unsigned i = 0; i < 40; i++)
			stream_inst(&s, 0x10 + i, 0, 0, 10 + i);
		fixture_program(p, 0, "INST_RETIRED.ANY_P", SPMU_EVTSEL_INT);
		assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-36), SPMU_OK);
		stream_send_all(&s, p);
		assert_int_equal(seen.n, 1);
		assert_int_equal(seen.ip, rows[k].ip);
		assert_int_equal(seen.cycle, rows[k].cycle);
		spmu_destroy(p);
		stream_free(&s);
	}
	/* the overflow itself lies behind the last retirement: not before it */
	struct seen seen = { .unmask = true };
	struct spmu_host host = { .context = &seen, .pmi = on_pmi, .pmi_latency = 20 };
	struct spmu *p = fixture_pmu(m, &host);
	struct stream s = { 0 };
	stream_inst(&s, 0x10, 0, 0, 10);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 100, 1);
	fixture_program(p, 0, "CPU_CLK_UNHALTED.THREAD_P", SPMU_EVTSEL_INT);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PMC0, (uint64_t)-80), SPMU_OK);
	stream_send_all(&s, p);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.ip, 0x10);
	assert_in_range(seen.cycle, 79, 80);
	spmu_destroy(p);
	stream_free(&s);
	spmu_model_free(m);
}

static void test_two_threads_share_the_counters_of_sandy_bridge_to_skylake(void **state)
{
	(void)state;
	static const struct { const char *name; unsigned alone, shared; } rows[] = {
		{ "sandy-bridge", 8, 4 }, { "ivy-bridge", 8, 4 }, { "haswell", 8, 4 }, { "broadwell", 8, 4 },
		{ "skylake", 8, 4 }, { "nehalem", 4, 4 },
		{ "ice-lake", 8, 8 }, { "golden-cove", 8, 8 },
	};
	for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
		for (unsigned siblings = 0; siblings <= 2; siblings++) {
			struct spmu_model *m = fixture_model(rows[k].name);
			struct spmu_host host = { .siblings = (uint8_t)siblings };
			struct spmu *p = fresh(m, &host);
			unsigned n = siblings == 2 ? rows[k].shared : rows[k].alone;
			uint32_t r[4];
			uint64_t v;
			spmu_cpuid_0a(p, r);
			if ((r[0] >> 8 & 0xff) != n)
				fail_msg("%s with %u threads: %u counters", rows[k].name, siblings, r[0] >> 8 & 0xff);
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + n - 1, 0), SPMU_OK);
			assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERFEVTSEL0 + n, 0), SPMU_ENOMSR);
			assert_int_equal(spmu_rdpmc(p, n, 0, &v), SPMU_GP);
			assert_int_equal(fixture_read(p, MSR_IA32_PERF_GLOBAL_CTRL), (1u << n) - 1);
			spmu_destroy(p);
			spmu_model_free(m);
		}
}

/* Two threads of one core, 30 and 20 instructions, unhalted in [0, 100) and [50, 130). */
static void test_any_thread_counts_both_threads_and_overlapping_cycles_once(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	for (unsigned own = 0; own < 2; own++) {
		struct spmu_host host = { .hw_thread = (uint8_t)own };
		struct spmu *p = fixture_pmu(m, &host);
		fixture_program(p, 0, "INST_RETIRED.ANY_P", 0);
		fixture_program(p, 1, "INST_RETIRED.ANY_P", SPMU_EVTSEL_ANY);
		fixture_program(p, 2, "CPU_CLK_UNHALTED.THREAD_P", 0);
		fixture_program(p, 3, "CPU_CLK_UNHALTED.THREAD_P", SPMU_EVTSEL_ANY);
		/* cycle by cycle */
		fixture_program(p, 4, "CPU_CLK_UNHALTED.THREAD_P", SPMU_EVTSEL_ANY | SPMU_EVTSEL_CMASK(1));
		struct spmu_record r[60] = { { 0 } };
		unsigned n = 0;
		for (unsigned t = 0; t < 2; t++) {
			for (unsigned i = 0; i < (t ? 20 : 30); i++)
				r[n++] = (struct spmu_record){ .kind = SPMU_REC_UOP, .hw_thread = (uint8_t)t, .cpl = 3,
					.ip = 0x10 + i,
					.is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END), .did = SPMU_DID(RETIRED),
					.fetch = 51, .alloc = 52, .ready = 53,
					.dispatch = 54, .complete = 55, .retire = 60 + i };
			r[n++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .hw_thread = (uint8_t)t, .cpl = 3,
				.signal = SPMU_SIG_CYCLES, .did = 1,
				.begin = t ? 50 : 0, .end = t ? 130 : 100 };
		}
		struct spmu_batch b = { .count = n, .records = r, .watermark = 130, .is_last = 1, .hw_threads = 3 };
		spmu_consume(p, &b);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0), own ? 20 : 30);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 1), 50);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 2), own ? 80 : 100);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 3), 130);
		assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 4), 130);
		spmu_destroy(p);
	}
	spmu_model_free(m);
}

static void test_a_transaction_counter_counts_nothing_and_txcp_excludes_nothing(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	struct spmu *p = fixture_pmu(m, NULL);
	struct stream s = { 0 };
	for (unsigned i = 0; i < 9; i++)
		stream_inst(&s, 0x10 + i, 0, 0, 10 + i);
	fixture_program(p, 0, "INST_RETIRED.ANY_P", UINT64_C(1) << 32);
	fixture_program(p, 2, "INST_RETIRED.ANY_P", UINT64_C(1) << 33);
	stream_send_all(&s, p);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0), 0);
	assert_int_equal(fixture_read(p, MSR_IA32_PMC0 + 2), 9);
	struct spmu_unmodelled named[2];
	assert_int_equal(spmu_unmodelled(p, named, 2), 1);
	assert_int_equal(named[0].counter_msr, MSR_IA32_PMC0);
	assert_non_null(strstr(named[0].reason, "IN_TX"));
	spmu_destroy(p);
	stream_free(&s);
	spmu_model_free(m);
}

/* 100 cycles of 6 slots: 150 slots retire, 12 are squashed, 60 are bubbles; 20 cycles are lost after a mispredicted
 * branch and 5 in recovery. */
static void test_perf_metrics_are_shares_of_255_that_sum_up(void **state)
{
	(void)state;
	struct spmu_model *m = fixture_model("golden-cove");
	struct spmu *p = fixture_pmu(m, NULL);
	struct stream s = { 0 };
	for (unsigned i = 0; i < 150; i++)
		stream_inst(&s, 0x10 + i, 0, 0, 10 + i / 2);
	for (unsigned i = 0; i < 12; i++)
		stream_inst(&s, 0x200 + i, 0, 0, 90)->did &= ~SPMU_DID(RETIRED);
	stream_signal(&s, SPMU_SIG_WRONG_PATH, 10, 30, 1);
	stream_signal(&s, SPMU_SIG_RECOVERY, 30, 35, 1);
	stream_signal(&s, SPMU_SIG_IDQ_BUBBLE, 40, 50, 6);
	stream_signal(&s, SPMU_SIG_CYCLES, 0, 100, 1);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR_CTRL, 0x3000), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_PERF_GLOBAL_CTRL, UINT64_C(1) << 48 | UINT64_C(1) << 35), SPMU_OK);
	stream_send_all(&s, p);
	uint64_t v = fixture_read(p, MSR_PERF_METRICS), r;
	assert_int_equal(fixture_read(p, MSR_IA32_FIXED_CTR0 + 3), 600);
	assert_int_equal(v & 0xff, 64);		/* 150/600 of 255: 63.75 */
	assert_int_equal(v >> 8 & 0xff, 69);	/* 12 and 25 x 6: 68.85 */
	assert_int_equal(v >> 16 & 0xff, 26);	/* 60: 25.5 */
	assert_int_equal(v >> 24 & 0xff, 96);
	assert_int_equal(v >> 40 & 0xff, 56);	/* 12 and 20 x 6: 56.1 */
	assert_int_equal(v >> 48 & 0xff, 26);	/* all of it latency */
	assert_int_equal(spmu_rdpmc(p, 0x20000000, 0, &r), SPMU_OK);
	assert_int_equal(r, v);
	assert_int_equal(spmu_wrmsr(p, MSR_PERF_METRICS, v), SPMU_OK);	/* restored by a task switch */
	assert_in_range(fixture_read(p, MSR_PERF_METRICS) & 0xff, 63, 64);
	assert_int_equal(spmu_wrmsr(p, MSR_IA32_FIXED_CTR0 + 3, 0), SPMU_OK);
	assert_int_equal(spmu_wrmsr(p, MSR_PERF_METRICS, 0), SPMU_OK);
	assert_int_equal(fixture_read(p, MSR_PERF_METRICS), 0);
	spmu_destroy(p);
	stream_free(&s);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_version_has_its_registers),
		cmocka_unit_test(test_counters_have_the_width_of_leaf_0a),
		cmocka_unit_test(test_kaby_lakes_leaf_0a_decodes_as_printed),
		cmocka_unit_test(test_without_global_control_the_enable_bit_is_enough),
		cmocka_unit_test(test_freeze_on_pmi_clears_global_ctrl_before_version_4),
		cmocka_unit_test(test_freeze_on_pmi_sets_ctr_frz_from_version_4_on),
		cmocka_unit_test(test_a_masked_entry_loses_the_pmi_and_delivery_masks_it),
		cmocka_unit_test(test_a_pmi_behind_the_last_instruction_is_taken_at_its_end),
		cmocka_unit_test(test_two_threads_share_the_counters_of_sandy_bridge_to_skylake),
		cmocka_unit_test(test_any_thread_counts_both_threads_and_overlapping_cycles_once),
		cmocka_unit_test(test_a_transaction_counter_counts_nothing_and_txcp_excludes_nothing),
		cmocka_unit_test(test_perf_metrics_are_shares_of_255_that_sum_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
