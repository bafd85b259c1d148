/* SPDX-License-Identifier: GPL-2.0-or-later
 * Features of every preset: their levels make machines, and their registers read back what WRMSR takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/core.h"
#include "core/machine/features.h"
#include "data_dir.h"

static char *preset[CONFIG_PRESETS];
static int presets;
static struct err err;

static int find_presets(void **state)
{
	(void)state;
	presets = core_config_presets(preset, data_dir(), &err);
	return presets > 0 ? 0 : -1;
}

static int free_presets(void **state)
{
	(void)state;
	while (presets)
		free(preset[--presets]);
	return 0;
}

static struct core_config load(const char *name)
{
	struct core_config c;
	assert_int_equal(core_config_load(&c, data_dir(), name, &err), 0);
	return c;
}

static struct spmu_record *drop(void *context, const struct spmu_batch *b)
{
	(void)context, (void)b;
	return NULL;
}

/* Checks that a machine with this configuration can be built. */
static void assert_builds(const struct core_config *c, const char *what)
{
	struct machine *m = NULL;
	struct core *core = NULL;
	err.text[0] = 0;
	if (machine_create(&m, c, &err) || core_create(&core, m, drop, NULL, &err))
		fail_msg("%s, %s: %s", c->name, what, err.text);
	core_destroy(core);
	machine_destroy(m);
}

static void test_every_level_of_every_preset_builds_a_machine(void **state)
{
	static struct core_feature f[FEATURES_MAX];
	char setting[64];
	(void)state;
	for (int i = 0; i < presets; i++) {
		struct core_config p = load(preset[i]);
		size_t n = core_features_list(&p, f, FEATURES_MAX);
		assert_in_range(n, 10, FEATURES_MAX);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(f[k].level[0].code, 0);
			if (f[k].levels < 2)
				fail_msg("%s: %s has no level but the preset's", preset[i], f[k].name);
			for (uint32_t l = 0; l < f[k].levels; l++) {
				struct core_config c = p;
				snprintf(setting, sizeof setting, "%s=%s", f[k].name, f[k].level[l].name);
				assert_int_equal(core_features_apply(&c, setting, &err), 0);
				if ((memcmp(&c, &p, sizeof c) != 0) != (l > 0))
					fail_msg("%s: %s %s", preset[i], setting, l ? "changes nothing"
						: "changes something");
				assert_builds(&c, setting);
			}
		}
	}
}

static void test_the_last_levels_of_all_features_go_together(void **state)
{
	static struct core_feature f[FEATURES_MAX];
	char setting[64];
	(void)state;
	for (int i = 0; i < presets; i++)
		for (unsigned least = 1; least < 4; least++) {
			struct core_features all;
			struct core_config p = load(preset[i]), c;
			size_t n = core_features_list(&p, f, FEATURES_MAX);
			core_features_init(&all, &p);
			for (size_t k = 0; k < n; k++) {
				uint32_t l = f[k].levels > least ? f[k].levels - least : 0;
				snprintf(setting, sizeof setting, "%s=%s", f[k].name, f[k].level[l].name);
				assert_int_equal(core_features_set(&all, setting, &err), 0);
			}
			core_features_config(&all, &c);
			assert_builds(&c, "all at once");
		}
}

static void test_a_setting_says_what_the_register_holds(void **state)
{
	struct core_features f;
	struct core_config p = load("golden-cove"), c;
	uint64_t v;
	char text[256];
	(void)state;
	core_features_init(&f, &p);
	assert_int_equal(core_features_set_all(&f,
		"prefetch.l2_streamer=off,l1d.size=1/4,rob.size=1/2,l2.replacement=lru", &err), 0);
	core_features_config(&f, &c);
	assert_int_equal(c.prefetch_l2_streamer, 0);
	assert_int_equal(c.l1d_size, 12 * 1024);
	assert_int_equal(c.l1d_ways, p.l1d_ways);
	assert_int_equal(c.rob_size, 256);
	assert_int_equal(c.l2_replacement, 0);
	assert_int_equal(core_features_read(&f, MSR_MISC_FEATURE_CONTROL, &v), FEATURE_OK);
	assert_int_equal(v, 1);
	assert_int_equal(core_features_read(&f, MSR_FEATURES + 3, &v), FEATURE_OK);
	assert_int_equal(v, 2);
	assert_true(core_features_text(&f, text, sizeof text));
	assert_string_equal(text, "prefetch.l2_streamer=off,rob.size=1/2,l1d.size=1/4,l2.replacement=lru");
	assert_int_equal(core_features_set(&f, "l1d.size=full", &err), 0);
	assert_int_equal(core_features_read(&f, MSR_FEATURES + 3, &v), FEATURE_OK);
	assert_int_equal(v, 0);
}

static void test_a_cache_with_one_set_left_loses_ways(void **state)
{
	struct core_config c = load("golden-cove");
	(void)state;
	assert_int_equal(core_features_apply(&c, "dtlb_store.size=1/4,l1d.size=off", &err), 0);
	assert_int_equal(c.dtlb_store_entries, 4);
	assert_int_equal(c.dtlb_store_ways, 4);
	assert_int_equal(c.l1d_size, 64);
	assert_int_equal(c.l1d_ways, 1);
}

static void test_registers_read_back_what_they_took(void **state)
{
	static struct core_feature list[FEATURES_MAX];
	(void)state;
	for (int i = 0; i < presets; i++) {
		struct core_config p = load(preset[i]), c;
		struct core_features f, again;
		size_t n = core_features_list(&p, list, FEATURES_MAX);
		char text[2048];
		core_features_init(&f, &p);
		for (size_t k = 0; k < n; k++) {
			uint64_t before, after, v;
			assert_int_equal(core_features_read(&f, list[k].msr, &before), FEATURE_OK);
			v = before | (uint64_t)list[k].level[list[k].levels - 1].code << list[k].low;
			assert_int_equal(core_features_write(&f, list[k].msr, v), FEATURE_OK);
			assert_int_equal(core_features_read(&f, list[k].msr, &after), FEATURE_OK);
			assert_int_equal(after, v);
		}
		core_features_config(&f, &c);
		assert_true(core_features_text(&f, text, sizeof text));
		core_features_init(&again, &p);
		assert_int_equal(core_features_set_all(&again, text, &err), 0);
		assert_memory_equal(again.value, f.value, sizeof f.value);
	}
}

/* Each bit of each register either belongs to a feature or is reserved. */
static void test_reserved_bits_and_levels_that_a_preset_lacks_fault(void **state)
{
	static struct core_feature list[FEATURES_MAX];
	(void)state;
	for (int i = 0; i < presets; i++) {
		struct core_config p = load(preset[i]);
		size_t n = core_features_list(&p, list, FEATURES_MAX);
		uint32_t msr;
		for (unsigned r = 0; core_features_register(r, &msr); r++) {
			uint64_t fields = 0, v;
			struct core_features f;
			core_features_init(&f, &p);
			for (size_t k = 0; k < n; k++)
				for (uint64_t code = 0; list[k].msr == msr && code < 1u << list[k].width; code++) {
					bool there = false;
					for (uint32_t l = 0; l < list[k].levels; l++)
						there |= list[k].level[l].code == code;
					fields |= code << list[k].low;
					if (list[k].kind == FEATURE_POLICY && !there)
						continue;	/* the code of the preset's own policy */
					assert_int_equal(core_features_write(&f, msr, code << list[k].low), there
						? FEATURE_OK : FEATURE_GP);
				}
			core_features_init(&f, &p);
			for (unsigned bit = 0; bit < 64; bit++)
				if (!(fields >> bit & 1)) {
					assert_int_equal(core_features_write(&f, msr, UINT64_C(1) << bit), fields
						? FEATURE_GP : FEATURE_NO_MSR);
					assert_int_equal(core_features_read(&f, msr, &v), fields ? FEATURE_OK
						: FEATURE_NO_MSR);
					if (fields)
						assert_int_equal(v, 0);
				}
		}
	}
}

static void test_what_a_preset_lacks_is_refused_by_name(void **state)
{
	struct core_config p = load("pentium"), before = p;
	(void)state;
	assert_int_equal(core_features_apply(&p, "trace.size=off", &err), ERR_UNSUPPORTED);
	assert_string_equal(err.text, "feature trace.size: core 'pentium' has no trace cache");
	assert_int_equal(core_features_apply(&p, "l1d.szie=off", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "unknown feature 'l1d.szie'; nearest: l1d.size"));
	assert_int_equal(core_features_apply(&p, "l1d.size=half", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "there are: full, 1/2, 1/4"));
	assert_int_equal(core_features_apply(&p, "l1d.size", &err), ERR_INPUT);
	assert_int_equal(core_features_apply(&p, "l1d.size=1/2,nothing=off", &err), ERR_INPUT);
	assert_memory_equal(&p, &before, sizeof p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_level_of_every_preset_builds_a_machine),
		cmocka_unit_test(test_the_last_levels_of_all_features_go_together),
		cmocka_unit_test(test_a_setting_says_what_the_register_holds),
		cmocka_unit_test(test_a_cache_with_one_set_left_loses_ways),
		cmocka_unit_test(test_registers_read_back_what_they_took),
		cmocka_unit_test(test_reserved_bits_and_levels_that_a_preset_lacks_fault),
		cmocka_unit_test(test_what_a_preset_lacks_is_refused_by_name),
	};
	return cmocka_run_group_tests(tests, find_presets, free_presets);
}
