/* SPDX-License-Identifier: GPL-2.0-or-later
 * A kernel's names from a copy of its /proc/kallsyms, good and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "symbols/kallsyms.h"
#include "symbols/symbols.h"
#include <unistd.h>

static char path[] = "/tmp/softpmu-kallsyms-XXXXXX";

static int write_text(const char *text, size_t bytes, struct symbols **out, struct err *err)
{
	strcpy(strrchr(path, '-'), "-XXXXXX");
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, bytes), bytes);
	close(fd);
	assert_int_equal(symbols_create(out, NULL), 0);
	symbols_machine(*out);
	const int code = symbols_kernel(*out, path, err);
	unlink(path);
	return code;
}

static struct symbols *load(const char *text)
{
	struct symbols *s;
	assert_int_equal(write_text(text, strlen(text), &s, NULL), 0);
	return s;
}

/* The name of an address, whatever the process, as dso:symbol+offset. */
static void named(struct symbols *s, uint64_t ip, const char *want)
{
	struct symbols_place at;
	char is[512];
	symbols_resolve(s, 77, ip, UINT64_MAX, &at);
	if (at.symbol)
		snprintf(is, sizeof is, "%s:%s+%llu", at.dso, at.symbol->name,
			(unsigned long long)(at.address - at.symbol->start));
	else
		snprintf(is, sizeof is, "%s:", at.dso);
	assert_string_equal(is, want);
}

static void test_functions_end_at_the_next_symbol(void **state)
{
	struct symbols *s = load(
		"0000000000000000 A fixed_percpu_data\n"
		"ffffffff81000000 T _text\n"
		"ffffffff81000100 t one\n"
		"ffffffff81000200 W two\n"
		"ffffffff81000300 d not_code\n"
		"ffffffff81000400 T three\n");
	(void)state;
	named(s, 0xffffffff81000000, "[kernel.kallsyms]:_text+0");
	named(s, 0xffffffff810001ff, "[kernel.kallsyms]:one+255");
	named(s, 0xffffffff81000200, "[kernel.kallsyms]:two+0");
	named(s, 0xffffffff81000300, "[kernel.kallsyms]:");
	named(s, 0xffffffff81000410, "[kernel.kallsyms]:three+16");
	named(s, 0xffffffff80ffffff, "[kernel.kallsyms]:");
	named(s, 0xffffffffa0000000, "[kernel.kallsyms]:");
	named(s, 0x401000, "[unknown]:");
	symbols_destroy(s);
}

static void test_modules_are_objects_of_their_own(void **state)
{
	struct symbols *s = load(
		"ffffffff81000100 t one\n"
		"ffffffffc0000000 t init\t[ext4]\n"
		"ffffffffc0000040 t probe\t[ahci]\n"		/* between two parts of the other */
		"ffffffffc0000080 t read\t[ext4]\n"
		"ffffffffc00000c0 r data\t[ext4]\n");
	(void)state;
	named(s, 0xffffffffc0000010, "[ext4]:init+16");
	named(s, 0xffffffffc0000041, "[ahci]:probe+1");
	named(s, 0xffffffffc0000090, "[ext4]:read+16");
	named(s, 0xffffffffc00000c0, "[kernel.kallsyms]:");
	symbols_destroy(s);
}

static void test_aliases_are_one_function(void **state)
{
	struct symbols *s = load(
		"ffffffff81000100 t __se_sys_read\n"
		"ffffffff81000100 T sys_read\n"
		"ffffffff81000200 T end\n");
	(void)state;
	named(s, 0xffffffff81000180, "[kernel.kallsyms]:sys_read+128");
	symbols_destroy(s);
}

static void test_hostile_lines_are_passed_over(void **state)
{
	static const char text[] =
		"\n \nffffffff81000100\nffffffff81000100 t\nffffffff81000100 t \n"
		"ffffffffffffffffff T too_large\nzz T no_number\n-1 T negative\n"
		"ffffffff81000100 t bad\x01name\nffffffff81000100  twoblanks\n"
		"ffffffff81000100 t nul\0byte\n"
		"ffffffff81000300 t mod\t[unclosed-but-long-enough-to-be-refused-as-it-does-not-fit-into-its-room\n"
		"ffffffff81000300 t mod\tnobracket\n"
		"ffffffffffffffff T last\n"
		"ffffffff81000200 T good";
	char *line = malloc(5000);
	struct symbols *s;
	(void)state;
	assert_int_equal(write_text(text, sizeof text - 1, &s, NULL), 0);
	named(s, 0xffffffff81000200, "[kernel.kallsyms]:good+0");
	named(s, 0xffffffff81000100, "[kernel.kallsyms]:");
	named(s, 0xfffffffffffffffe, "[kernel.kallsyms]:");
	symbols_destroy(s);
	/* a name longer than any */
	snprintf(line, 5000, "ffffffff81000100 T %04000d\nffffffff81000200 T good\n", 1);
	s = load(line);
	named(s, 0xffffffff81000100, "[kernel.kallsyms]:");
	named(s, 0xffffffff81000200, "[kernel.kallsyms]:good+0");
	symbols_destroy(s);
	free(line);
}

static void refused(const char *text, size_t bytes, const char *why)
{
	struct symbols *s;
	struct err err = { 0 };
	assert_int_equal(write_text(text, bytes, &s, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, why));
	named(s, 0xffffffff81000100, "[kernel.kallsyms]:");
	symbols_destroy(s);
}

static void test_what_is_none_is_refused(void **state)
{
	struct symbols *s;
	struct err err = { 0 };
	(void)state;
	refused("", 0, "holds no symbols of a kernel");
	refused("\0\0\0", 3, "holds no symbols of a kernel");
	refused("0000000000401000 T main\n", 24, "holds no symbols of a kernel");
	refused("0000000000000000 T _text\n", 25, "all addresses are 0");
	assert_int_equal(symbols_create(&s, NULL), 0);
	assert_int_equal(symbols_kernel(s, "/tmp", &err), ERR_INPUT);
	assert_string_equal(err.text, "/tmp is not a regular file");
	assert_int_equal(symbols_kernel(s, "/nowhere/kallsyms", &err), ERR_SYSTEM);
	symbols_destroy(s);
}

static void test_many_modules_end_in_order(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	(void)state;
	for (unsigned i = 0; i < KALLSYMS_OWNERS + 10; i++)
		fprintf(f, "%llx t f%u\t[m%u]\n", 0xffffffffc0000000 + i * 256ull, i, i);
	fclose(f);
	struct symbols *s = load(text);
	named(s, 0xffffffffc0000100, "[m1]:f1+0");
	symbols_destroy(s);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_end_at_the_next_symbol),
		cmocka_unit_test(test_modules_are_objects_of_their_own),
		cmocka_unit_test(test_aliases_are_one_function),
		cmocka_unit_test(test_hostile_lines_are_passed_over),
		cmocka_unit_test(test_what_is_none_is_refused),
		cmocka_unit_test(test_many_modules_end_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
