/* SPDX-License-Identifier: GPL-2.0-or-later
 * Machine descriptions: presets, assignments, includes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/machine/config.h"
#include "data_dir.h"

static struct core_config c;
static struct err err;
static char path[] = "/tmp/softpmu-config-XXXXXX";

/* Loads a configuration file with this text. */
static int load(const char *text)
{
	strcpy(path + sizeof path - 7, "XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	memset(&err, 0, sizeof err);
	int code = core_config_load(&c, data_dir(), path, &err);
	unlink(path);
	return code;
}

static void test_presets_load_and_are_consistent(void **state)
{
	(void)state;
	assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
	assert_string_equal(c.name, "skylake");
	assert_int_equal(c.alloc_width, 4);
	assert_int_equal(c.rob_size, 224);
	assert_int_equal(c.rs_size, 97);
	assert_string_equal(c.libpfm, "skl");
	assert_int_equal(core_config_load(&c, data_dir(), "golden-cove", &err), 0);
	assert_int_equal(c.alloc_width, 6);
	assert_int_equal(c.rob_size, 512);
	assert_int_equal(c.ports_count, 12);
}

static void refused_fall(const char *assignment, const char *why)
{
	memset(&err, 0, sizeof err);
	assert_int_equal(core_config_set(&c, assignment, &err), ERR_INPUT);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", assignment, err.text);
}

static void test_a_share_falls_from_all_to_nothing(void **state)
{
	(void)state;
	char text[CORE_FALL_TEXT];
	assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
	assert_int_equal(c.l3_others.points, 0);
	assert_int_equal(core_config_set(&c, "l3.others = 1:100 2.5:80  4:0", &err), 0);
	core_fall_print(&c.l3_others, text);
	assert_string_equal(text, "1:100 2.5:80 4:0");
	assert_true(core_fall_per_cent(&c.l3_others, 0.5) == 100 && core_fall_per_cent(&c.l3_others, 1.75) == 90);
	assert_true(core_fall_per_cent(&c.l3_others, 4) == 0 && core_fall_per_cent(&c.l3_others, 9) == 0);
	assert_true(core_fall_at(&c.l3_others, 90) == 1.75 && core_fall_at(&c.l3_others, 40) == 3.25 &&
		core_fall_at(&c.l3_others, 0) == 4);
	refused_fall("l3.others=1:100 1:80 4:0", "must rise");
	refused_fall("l3.others=0:100 4:0", "must rise");
	refused_fall("l3.others=1:60 2:80 4:0", "must not rise");
	refused_fall("l3.others=1:101 4:0", "must not rise");
	refused_fall("l3.others=1:50", "last pair must end with 0 %");
	refused_fall("l3.others=1:50 4:-1", "not of the form");
	refused_fall("l3.others=1 4:0", "not of the form");
	refused_fall("l3.others=1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1 14:1 15:1 16:1 17:0",
		"more than 16");
	core_fall_print(&c.l3_others, text);
	assert_string_equal(text, "1:100 2.5:80 4:0");	/* refused settings changed nothing */
	assert_int_equal(core_config_set(&c, "l3.others=none", &err), 0);
	assert_int_equal(c.l3_others.points, 0);
}

static void test_sizes_take_suffixes_and_hexadecimal(void **state)
{
	(void)state;
	assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
	assert_int_equal(core_config_set(&c, "l1d.size=64K", &err), 0);
	assert_int_equal(c.l1d_size, 65536);
	assert_int_equal(core_config_set(&c, " l2.size = 1M ", &err), 0);
	assert_int_equal(c.l2_size, 1048576);
	assert_int_equal(core_config_set(&c, "ports.store_data=0x30", &err), 0);
	assert_int_equal(c.ports_store, 0x30);
	assert_int_equal(core_config_set(&c, "core.frequency_ghz=2.5", &err), 0);
	assert_true(c.frequency_ghz == 2.5);
}

static void test_unknown_field_names_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
	assert_int_equal(core_config_set(&c, "rob.sise=100", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "unknown field 'rob.sise'; nearest: rob.size"));
	assert_int_equal(core_config_set(&c, "robb=100", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "unknown field 'robb'; nearest: rob.size"));
	assert_int_equal(c.rob_size, 224);
}

static void test_unknown_preset_names_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(core_config_load(&c, data_dir(), "skylak", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "unknown core 'skylak'; nearest: skylake"));
	assert_int_equal(core_config_load(&c, data_dir(), "zzzzzzzzzzzzzzzzzz", &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "skylake"));
}

static void test_bad_values_are_refused_and_change_nothing(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"rob.size=0", "rob.size=1e3", "rob.size=-5", "rob.size=", "rob.size", "rob.size=12.5",
		"rob.size=99999999999999999999",
		"rob.size=0x", "rob.size=12Q", "core.frequency_ghz=fast", "core.frequency_ghz=0",
		"l1d.replacement=best", "=5", "",
	};
	assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
	struct core_config before = c;
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		err.text[0] = 0;
		assert_int_equal(core_config_set(&c, bad[i], &err), ERR_INPUT);
		assert_true(err.text[0]);
		assert_memory_equal(&before, &c, sizeof c);
	}
}

static void test_file_may_include_and_override(void **state)
{
	(void)state;
	assert_int_equal(load("# mine\ninclude skylake\nrob.size = 300 # more\n\n"), 0);
	assert_int_equal(c.rob_size, 300);
	assert_int_equal(c.rs_size, 97);
	assert_string_equal(c.name, strrchr(path, '/') + 1);
}

static void test_errors_in_files_name_the_line(void **state)
{
	(void)state;
	assert_int_equal(load("include skylake\n\nrob.size = many\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, ":3: rob.size = many"));
	assert_int_equal(load("include skylake\nrob.size = 200\nrob.size = 300\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, "set twice"));
	assert_int_equal(load("include nothing-like-it\n"), ERR_INPUT);
}

static void test_missing_field_is_refused(void **state)
{
	(void)state;
	assert_int_equal(load("rob.size = 200\n"), ERR_INPUT);
	assert_non_null(strstr(err.text, "does not set"));
}

static void test_endless_include_is_refused(void **state)
{
	(void)state;
	strcpy(path + sizeof path - 7, "XXXXXX");
	int fd = mkstemp(path);
	char text[128];
	snprintf(text, sizeof text, "include %s\n", path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(core_config_load(&c, data_dir(), path, &err), ERR_INPUT);
	unlink(path);
}

static void test_inconsistent_machines_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"dsb.sets=33", "dsb.window_bytes=48", "mite.fetch_bytes=24", "dsb.window_lines=16",
		"ports.load=0x10000",
		"ports.load=0x10", "rs.load_size=10", "ports.count=2",
	};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
		if (!core_config_set(&c, bad[i], &err))
			assert_int_equal(core_config_check(&c, &err), ERR_INPUT);
	}
}

static void test_a_scheduler_has_fourteen_ports_at_most(void **state)
{
	(void)state;
	static const struct { const char *preset, *ports; bool good; } with[] = {
		{ "skylake", "ports.count=14", true }, { "skylake", "ports.count=15", false },
		{ "skylake", "ports.count=16", false },
		{ "golden-cove", "ports.count=16", true },	/* seven of its ports belong to other schedulers */
	};
	for (unsigned i = 0; i < sizeof with / sizeof *with; i++) {
		assert_int_equal(core_config_load(&c, data_dir(), with[i].preset, &err), 0);
		assert_int_equal(core_config_set(&c, with[i].ports, &err), 0);
		assert_int_equal(core_config_check(&c, &err), with[i].good ? 0 : ERR_INPUT);
	}
}

static void test_what_is_printed_can_be_read_again(void **state)
{
	(void)state;
	static const char *const names[] = { "skylake", "golden-cove" };
	for (unsigned i = 0; i < 2; i++)
		for (unsigned help = 0; help < 2; help++) {
			assert_int_equal(core_config_load(&c, data_dir(), names[i], &err), 0);
			struct core_config before = c;
			char *text = core_config_print(&c, help);
			assert_non_null(text);
			assert_int_equal(load(text), 0);
			memcpy(c.name, before.name, sizeof c.name);
			assert_memory_equal(&before, &c, sizeof c);
			if (help)
				assert_non_null(strstr(text, "# reorder buffer: entries [8..1024 slots]"));
			free(text);
		}
}

static void test_hostile_text_is_refused(void **state)
{
	(void)state;
	char *big = malloc(100001);
	memset(big, 'a', 100000);
	big[100000] = 0;
	assert_int_equal(load(big), ERR_INPUT);
	assert_int_equal(core_config_set(&c, big, &err), ERR_INPUT);
	assert_int_equal(core_config_load(&c, data_dir(), big, &err), ERR_INPUT);
	assert_int_not_equal(core_config_load(&c, data_dir(), "/", &err), 0);
	assert_int_not_equal(core_config_load(&c, data_dir(), "", &err), 0);
	free(big);
}

static void test_models_default_to_the_signature(void **state)
{
	(void)state;
	assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
	char *text = core_config_print(&c, false), *line = strstr(text, "\ncpuid_models = ") + 1;
	memmove(line, strchr(line, '\n'), strlen(strchr(line, '\n')) + 1);
	assert_int_equal(load(text), 0);
	assert_string_equal(c.cpuid_models, "06_5E");
	free(text);
	assert_int_equal(load("include skylake\ncpuid_signature = F43H\n"), 0);
	assert_string_equal(c.cpuid_models, "0F_04");
	assert_int_equal(load("include skylake\nrob.size = 100\n"), 0);
	assert_non_null(strstr(c.cpuid_models, "06_4E"));
}

static void test_malformed_signature_and_models_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"cpuid_signature=SkylakeH", "cpuid_signature=506E3X", "cpuid_signature=506E3506E3H", "cpuid_models=06",
		"cpuid_models=06_",
		"cpuid_models=_5E", "cpuid_models=06_5E,06_4E", "cpuid_models=06_5E 06-4E", "cpuid_models=06_5E06_4E",
	};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
		assert_int_equal(core_config_set(&c, bad[i], &err), 0);
		assert_int_equal(core_config_check(&c, &err), ERR_INPUT);
	}
	assert_int_equal(core_config_load(&c, data_dir(), "skylake", &err), 0);
	assert_int_equal(core_config_set(&c, "cpuid_models=0F_01  0f_02", &err), 0);
	assert_int_equal(core_config_check(&c, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets_load_and_are_consistent),
		cmocka_unit_test(test_a_share_falls_from_all_to_nothing),
		cmocka_unit_test(test_sizes_take_suffixes_and_hexadecimal),
		cmocka_unit_test(test_unknown_field_names_the_nearest),
		cmocka_unit_test(test_unknown_preset_names_the_nearest),
		cmocka_unit_test(test_bad_values_are_refused_and_change_nothing),
		cmocka_unit_test(test_file_may_include_and_override),
		cmocka_unit_test(test_errors_in_files_name_the_line),
		cmocka_unit_test(test_missing_field_is_refused),
		cmocka_unit_test(test_endless_include_is_refused),
		cmocka_unit_test(test_inconsistent_machines_are_refused),
		cmocka_unit_test(test_a_scheduler_has_fourteen_ports_at_most),
		cmocka_unit_test(test_what_is_printed_can_be_read_again),
		cmocka_unit_test(test_hostile_text_is_refused),
		cmocka_unit_test(test_models_default_to_the_signature),
		cmocka_unit_test(test_malformed_signature_and_models_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
