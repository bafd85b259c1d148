/* SPDX-License-Identifier: GPL-2.0-or-later
 * --core host: which preset is used for which processor, and what is said about a processor without a preset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/machine/host_preset.h"
#include "data_dir.h"

static struct err err;
static char name[64];

/* Makes a host description. Intel's processors with AVX2 but without AVX-512 are like 06_5E. */
static struct core_host host(const char *vendor, uint32_t family, uint32_t model, uint32_t like_family,
	uint32_t like_model)
{
	struct core_host h = { .family = family, .model = model, .like_family = like_family, .like_model = like_model };
	strcpy(h.vendor, vendor);
	strcpy(h.brand, "Brand of it");
	return h;
}

static int preset(struct core_host h)
{
	memset(&err, 0, sizeof err);
	strcpy(name, "none");
	return core_host_preset(name, sizeof name, data_dir(), &h, &err);
}

static void test_each_model_has_its_preset(void **state)
{
	(void)state;
	const struct { uint32_t family, model; const char *name; } known[] = {
		{ 6, 0x8f, "golden-cove" }, { 6, 0xcf, "emerald-rapids" }, { 6, 0x4e, "skylake" },
		{ 6, 0x5e, "skylake" },
		{ 6, 0x9e, "skylake" },
		{ 6, 0xa6, "skylake" },
	};
	for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
		assert_int_equal(preset(host("GenuineIntel", known[i].family, known[i].model, 6, 0x5e)), 0);
		assert_string_equal(name, known[i].name);
	}
}

static void test_no_two_presets_stand_for_the_same_processor(void **state)
{
	(void)state;
	char *names[CONFIG_PRESETS], seen[4096] = " ";
	int count = core_config_presets(names, data_dir(), &err);
	assert_true(count >= 2);
	for (int i = 0; i < count; i++) {
		struct core_config c;
		if (core_config_load(&c, data_dir(), names[i], &err))
			fail_msg("%s", err.text);
		for (char *rest, *word = strtok_r(c.cpuid_models, " \t", &rest); word; word = strtok_r(NULL, " \t",
			&rest)) {
			char key[32];
			snprintf(key, sizeof key, " %s ", word);
			if (strstr(seen, key))
				fail_msg("%s: another preset stands for %s too", names[i], word);
			assert_true(strlen(seen) + strlen(key) < sizeof seen);
			strcat(seen, key);
		}
		free(names[i]);
	}
}

static void test_signature_of_each_preset_is_among_its_models(void **state)
{
	(void)state;
	char *names[CONFIG_PRESETS];
	int count = core_config_presets(names, data_dir(), &err);
	for (int i = 0; i < count; i++) {
		struct core_config c;
		assert_int_equal(core_config_load(&c, data_dir(), names[i], &err), 0);
		unsigned long s = strtoul(c.cpuid_signature, NULL, 16);
		unsigned family = s >> 8 & 15;
		if (family == 15)
			family += s >> 20 & 255;
		assert_int_equal(preset(host(c.cpuid_vendor, family, (s >> 4 & 15) | (s >> 16 & 15) << 4, 6, 0x5e)), 0);
		assert_string_equal(name, names[i]);
		free(names[i]);
	}
}

static void test_unknown_intel_processor_names_itself_and_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(preset(host("GenuineIntel", 6, 0xb7, 6, 0x5e)), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "GenuineIntel family 06H, model B7H (Brand of it)"));
	assert_non_null(strstr(err.text, "nearest presets: emerald-rapids"));
	assert_null(strchr(err.text, '\n'));
	assert_string_equal(name, "none");
	assert_int_equal(preset(host("GenuineIntel", 6, 0x55, 6, 0x8f)), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "nearest presets: skylake"));
}

static void test_another_makers_preset_is_found_by_its_own_numbers(void **state)
{
	(void)state;
	assert_int_equal(preset(host("AuthenticAMD", 0x19, 0x11, 6, 0x8f)), 0);
	assert_string_equal(name, "zen4");
	assert_int_equal(preset(host("AuthenticAMD", 0x19, 0x01, 6, 0x8f)), 0);
	assert_string_equal(name, "zen3");
	assert_int_equal(preset(host("AuthenticAMD", 0x1a, 0x02, 6, 0x8f)), 0);
	assert_string_equal(name, "zen5");
	assert_int_equal(preset(host("GenuineIntel", 0x19, 0x11, 6, 0x8f)), ERR_UNSUPPORTED);
	assert_int_equal(preset(host("AuthenticAMD", 0x19, 0x10, 6, 0x5e)), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "nearest presets: skylake, zen4"));
}

static void test_other_maker_is_refused_whatever_its_numbers(void **state)
{
	(void)state;
	assert_int_equal(preset(host("AuthenticAMD", 0x17, 0x01, 6, 0x5e)), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "AuthenticAMD family 17H, model 01H"));
	assert_non_null(strstr(err.text, "nearest presets: skylake, "));
	assert_int_equal(preset(host("AuthenticAMD", 0x1a, 0xf2, 6, 0x8f)), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "nearest presets: golden-cove"));
	assert_int_equal(preset(host("CentaurHauls", 6, 0x5e, 6, 0x5e)), ERR_UNSUPPORTED);
}

static void test_host_is_read_as_the_kernel_reads_it(void **state)
{
	(void)state;
	struct core_host h;
	char line[512], vendor[64] = "";
	unsigned family = 0, model = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");
	if (!f)
		skip();
	while (fgets(line, sizeof line, f) && line[0] != '\n') {
		sscanf(line, "vendor_id : %63s", vendor);
		sscanf(line, "cpu family : %u", &family);
		sscanf(line, "model : %u", &model);
	}
	fclose(f);
	core_host_read(&h);
	assert_string_equal(h.vendor, vendor);
	assert_int_equal(h.family, family);
	assert_int_equal(h.model, model);
	assert_true(h.like_family);
}

static void test_missing_data_directory_is_an_error(void **state)
{
	(void)state;
	struct core_host h = host("GenuineIntel", 6, 0x5e, 6, 0x5e);
	assert_int_equal(core_host_preset(name, sizeof name, "/no/such/directory", &h, &err), ERR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_model_has_its_preset),
		cmocka_unit_test(test_no_two_presets_stand_for_the_same_processor),
		cmocka_unit_test(test_signature_of_each_preset_is_among_its_models),
		cmocka_unit_test(test_unknown_intel_processor_names_itself_and_the_nearest),
		cmocka_unit_test(test_another_makers_preset_is_found_by_its_own_numbers),
		cmocka_unit_test(test_other_maker_is_refused_whatever_its_numbers),
		cmocka_unit_test(test_host_is_read_as_the_kernel_reads_it),
		cmocka_unit_test(test_missing_data_directory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
