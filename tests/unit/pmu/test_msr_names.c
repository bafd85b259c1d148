/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names of registers and fields, compared with the registers on every table: a register that exists has a name, a name
 * belongs to a register that exists, every bit that can be set has a name.
 */
#include "pmu_fixture.h"

static const char *const tables[] = { "p5", "p6", "netburst", "netburst-prescott", "yonah", "core2", "bonnell",
	"nehalem", "sandy-bridge", "ivy-bridge",
	"haswell", "broadwell", "skylake", "ice-lake", "golden-cove" };
enum { TABLES = sizeof tables / sizeof *tables };

static int no_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context, (void)address, (void)to, (void)bytes;
	return 1;
}
static int no_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	(void)context, (void)address, (void)from, (void)bytes;
	return 1;
}
/* A host that offers everything, guest memory and the reload registers among it. */
static const struct spmu_host everything = { .read_memory = no_memory, .write_memory = no_write,
	.pebs_reload_msrs = true, .pushout_width = { 8, 6, 8, 6, 2 } };

/* A host for this register: with more than two hardware threads there are no pushout counters. */
static const struct spmu_host *host_of(const struct spmu_model *m, uint32_t msr)
{
	static struct spmu_host threads;
	threads = everything;
	memset(threads.pushout_width, 0, sizeof threads.pushout_width);
	threads.siblings = 8;
	return spmu_model_family(m) == SPMU_FAMILY_NETBURST && msr >= MSR_THREADS_CAPABILITIES ? &threads : &everything;
}

static void test_what_exists_has_a_name_and_what_has_a_name_exists(void **state)
{
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		struct spmu *p = NULL, *q = NULL;
		assert_int_equal(spmu_create(&p, m, &everything), SPMU_OK);
		assert_int_equal(spmu_create(&q, m, host_of(m, UINT32_MAX)), SPMU_OK);
		for (uint32_t msr = 0; msr < 0x40000100; msr = msr == 0x3fff ? 0x3fffff00 : msr + 1) {
			uint64_t v;
			struct spmu_msr r;
			bool exists = spmu_rdmsr(p, msr, &v) != SPMU_ENOMSR || spmu_rdmsr(q, msr, &v) != SPMU_ENOMSR,
				named = spmu_msr_at(m, msr, &r);
			if (exists != named)
				fail_msg("%s: %XH %s", tables[t], msr, exists ? "has no name"
					: "does not exist, but has a name");
			if (named)
				assert_int_equal(r.address, msr);
		}
		spmu_destroy(p);
		spmu_destroy(q);
		spmu_model_free(m);
	}
}

static void test_names_are_unique_and_find_their_registers(void **state)
{
	static struct spmu_msr list[512], other;
	char text[64];
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		size_t n = spmu_msr_list(m, NULL, 0);
		assert_true(n >= 3 && n <= sizeof list / sizeof *list);
		assert_int_equal(spmu_msr_list(m, list, 512), n);
		for (size_t i = 0; i < n; i++) {
			assert_true(*list[i].name && *list[i].help);
			assert_true(spmu_msr_find(m, list[i].name, &other));
			if (other.address != list[i].address || other.apic != list[i].apic)
				fail_msg("%s: %s is found at %XH", tables[t], list[i].name, other.address);
			if (i && !list[i].apic)
				assert_true(list[i].address > list[i - 1].address);
			if (list[i].apic)
				continue;
			snprintf(text, sizeof text, "0x%X", list[i].address);
			assert_true(spmu_msr_find(m, text, &other) && other.address == list[i].address);
			snprintf(text, sizeof text, "%u", list[i].address);
			assert_true(spmu_msr_find(m, text, &other) && other.address == list[i].address);
		}
		assert_int_equal(list[n - 1].apic, spmu_model_family(m) != SPMU_FAMILY_P5);
		spmu_model_free(m);
	}
}

static void test_prefixes_and_case_do_not_matter(void **state)
{
	static const struct { const char *table, *text; uint32_t address; } good[] = {
		{ "skylake", "perfevtsel3", 0x189 }, { "skylake", "IA32_PERFEVTSEL3", 0x189 },
		{ "skylake", "msr_ia32_perfevtsel3", 0x189 },
		{ "skylake", "Perf_Global_Ovf_Ctrl", 0x390 }, { "skylake", "MSR_PERF_GLOBAL_STATUS", 0x38e },
		{ "netburst", "iq_cccr4", 0x370 },
		{ "netburst", "MSR_IQ_CCCR4", 0x370 }, { "netburst", "debugctl", 0x1d9 }, { "p6", "evntsel1", 0x187 },
		{ "p5", "cesr", 0x11 },
		{ "p5", "ctr1", 0x13 }, { "golden-cove", "LBR_31_TO_IP", 0x161f }, { "golden-cove", "lvt_pc", 0x340 },
		{ "netburst", "0370H", 0x370 },
	};
	static const struct { const char *table, *text; } bad[] = {
		{ "skylake", "" }, { "skylake", "MSR_" }, { "skylake", "PERFEVTSEL8" }, { "skylake", "PERFEVTSEL" },
		{ "skylake", "PERFEVTSEL01" },
		{ "p5", "LVT_PC" }, { "p5", "0x186" }, { "skylake", "186" }, { "skylake", "0x" },
		{ "skylake", "0x186z" }, { "skylake", "0x100000186" },
		{ "yonah", "PERF_GLOBAL_CTRL" }, { "netburst-prescott", "IQ_ESCR0" }, { "skylake", "%u" },
		{ "skylake", "186HH" },
	};
	(void)state;
	struct spmu_msr r;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct spmu_model *m = fixture_model(good[i].table);
		if (!spmu_msr_find(m, good[i].text, &r) || r.address != good[i].address)
			fail_msg("%s on %s", good[i].text, good[i].table);
		spmu_model_free(m);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct spmu_model *m = fixture_model(bad[i].table);
		if (spmu_msr_find(m, bad[i].text, &r))
			fail_msg("%s on %s is %s", bad[i].text, bad[i].table, r.name);
		spmu_model_free(m);
	}
}

/* Counters and IA32_MISC_ENABLE ignore bits that they lack; other registers fault. */
static bool ignores_bits(const struct spmu_msr *r)
{
	return strstr(r->name, "CTR") == r->name || strstr(r->name, "PerfCtr") || strstr(r->name, "_COUNTER") ||
		strstr(r->name, "IA32_PMC") == r->name ||
		strstr(r->name, "MISC_ENABLE");
}

static void test_every_bit_that_can_be_written_has_a_name(void **state)
{
	static struct spmu_msr list[512];
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		size_t n = spmu_msr_list(m, list, 512);
		for (size_t i = 0; i < n; i++) {
			struct spmu_field f[SPMU_FIELDS_MAX];
			size_t fields = spmu_msr_fields(m, &list[i], f);
			uint64_t named = 0;
			assert_true(fields > 0 && fields <= SPMU_FIELDS_MAX);
			for (size_t k = 0; k < fields; k++) {
				uint64_t bits = (f[k].high == 63 ? UINT64_MAX
					: (UINT64_C(1) << (f[k].high + 1)) - 1) & ~((UINT64_C(1) << f[k].low) - 1);
				assert_true(f[k].high >= f[k].low && f[k].high < 64 && *f[k].name && *f[k].help);
				if (named & bits || (k && f[k].high >= f[k - 1].low))
					fail_msg("%s %s: %s overlaps or is out of order", tables[t], list[i].name,
						f[k].name);
				named |= bits;
				for (size_t v = 0; v < f[k].values; v++)
					assert_true(f[k].value[v].value <= bits >> f[k].low);
			}
			for (unsigned bit = 0; bit < 64 && !list[i].apic; bit++) {
				struct spmu *p = NULL;
				uint64_t v = 0, reset = 0;
				assert_int_equal(spmu_create(&p, m, host_of(m, list[i].address)), SPMU_OK);
				spmu_rdmsr(p, list[i].address, &reset);
				bool taken = spmu_wrmsr(p, list[i].address, UINT64_C(1) << bit) == SPMU_OK,
					sticks = false;
				if (taken && ignores_bits(&list[i]) && !strstr(list[i].name, "MISC"))
					sticks = spmu_rdmsr(p, list[i].address, &v) == SPMU_OK && v >> bit & 1;
				if ((ignores_bits(&list[i]) ? sticks : taken) && !(named >> bit & 1))
					fail_msg("%s %s: bit %u can be set and has no name", tables[t], list[i].name,
						bit);
				if (reset >> bit & 1 && !(named >> bit & 1))
					fail_msg("%s %s: bit %u is set after reset and has no name", tables[t],
						list[i].name, bit);
				spmu_destroy(p);
			}
		}
		spmu_model_free(m);
	}
}

/* Every field of a register that software writes accepts at least one value. */
static void test_every_named_field_can_be_written(void **state)
{
	static struct spmu_msr list[512];
	(void)state;
	for (unsigned t = 0; t < TABLES; t++) {
		struct spmu_model *m = fixture_model(tables[t]);
		size_t n = spmu_msr_list(m, list, 512);
		for (size_t i = 0; i < n; i++) {
			struct spmu_field f[SPMU_FIELDS_MAX];
			size_t fields = spmu_msr_fields(m, &list[i], f);
			if (list[i].apic || strstr(list[i].help, "read-only") || strstr(list[i].name, "MISC_ENABLE"))
				continue;
			for (size_t k = 0; k < fields; k++) {
				bool taken = false;
				for (unsigned bit = f[k].low; bit <= f[k].high && !taken; bit++) {
					struct spmu *p = NULL;
					assert_int_equal(spmu_create(&p, m, host_of(m, list[i].address)), SPMU_OK);
					/* one bit that may be set alone suffices */
					taken = spmu_wrmsr(p, list[i].address, UINT64_C(1) << bit) == SPMU_OK;
					spmu_destroy(p);
				}
				if (!taken)
					fail_msg("%s %s: %s cannot be written", tables[t], list[i].name, f[k].name);
			}
		}
		spmu_model_free(m);
	}
}

static void test_fields_tell_what_values_mean(void **state)
{
	static const struct { const char *table, *name, *field; uint64_t value; const char *meaning; } want[] = {
		{ "netburst", "IQ_CCCR4", "ACTIVE THREAD", 3, "whatever threads" }, { "p5", "CESR", "CC1", 5,
		"clocks at CPL 0, 1 and 2" },
		{ "skylake", "FIXED_CTR_CTRL", "ENABLE2", 2, "rings 1 to 3" }, { "ice-lake", "PERF_CAPABILITIES",
		"PEBS_REC_FMT", 4, "adaptive" },
		{ "skylake", "LVT_PC", "DELIVERY MODE", 4, "NMI" }, { "golden-cove", "LBR_0_INFO", "BR_TYPE", 5,
		"NEAR_RET" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct spmu_model *m = fixture_model(want[i].table);
		struct spmu_msr r;
		struct spmu_field f[SPMU_FIELDS_MAX];
		bool seen = false;
		assert_true(spmu_msr_find(m, want[i].name, &r));
		size_t n = spmu_msr_fields(m, &r, f);
		for (size_t k = 0; k < n; k++)
			if (!strcmp(f[k].name, want[i].field)) {
				const char *meaning = spmu_field_meaning(&f[k], want[i].value);
				seen = meaning && strstr(meaning, want[i].meaning);
				assert_null(spmu_field_meaning(&f[k], UINT64_MAX));
			}
		if (!seen)
			fail_msg("%s %s on %s", want[i].name, want[i].field, want[i].table);
		spmu_model_free(m);
	}
}

static void test_a_short_room_is_kept_to(void **state)
{
	struct spmu_msr list[4];
	(void)state;
	struct spmu_model *m = fixture_model("skylake");
	memset(list, 0x5a, sizeof list);
	assert_true(spmu_msr_list(m, list, 3) > 100);
	assert_string_equal(list[0].name, "IA32_PMC0");
	assert_int_equal(list[3].name[0], 0x5a);
	spmu_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_exists_has_a_name_and_what_has_a_name_exists),
		cmocka_unit_test(test_names_are_unique_and_find_their_registers),
		cmocka_unit_test(test_prefixes_and_case_do_not_matter),
		cmocka_unit_test(test_every_bit_that_can_be_written_has_a_name),
		cmocka_unit_test(test_every_named_field_can_be_written),
		cmocka_unit_test(test_fields_tell_what_values_mean),
		cmocka_unit_test(test_a_short_room_is_kept_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
