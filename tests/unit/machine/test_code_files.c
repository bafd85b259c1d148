/* SPDX-License-Identifier: GPL-2.0-or-later
 * Files of a guest by the contents of their pages: real programs, laid out as a loader does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "machine/code_files.h"
#include <elf.h>
#include <unistd.h>

#define PROGRAM "/bin/ls"
#define OTHER "/bin/cat"
#define LIBRARY "/lib/x86_64-linux-gnu/libc.so.6"
#define LOADER "/lib64/ld-linux-x86-64.so.2"

static char list[] = "/tmp/softpmu-code-files-XXXXXX";
static struct { unsigned codes, programs; struct st_symbols last; char path[256], program[256]; } told;

static int setup(void **state)
{
	struct code_files *c;
	const int fd = mkstemp(list);
	FILE *f = fdopen(fd, "w");
	fputs(PROGRAM "\t/bin/list\n" OTHER "\n" LOADER "\t\n" LIBRARY "\n/etc/passwd\n/nowhere\t/bin/x\n\n\t\n" PROGRAM
		"\t/bin/again", f);
	fclose(f);
	assert_int_equal(code_files_open(&c, list, NULL), 0);
	memset(&told, 0, sizeof told);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	code_files_close(*state);
	unlink(list);
	strcpy(strrchr(list, '-'), "-XXXXXX");
	return 0;
}

static void tell(void *context, const void *record, size_t bytes)
{
	const struct st_symbols *s = record;
	const char *path = (const char *)(s + 1);
	assert_null(context);
	assert_int_equal(bytes % 8, 0);
	assert_int_equal(ST_HEADER_LOW(s->header), bytes);
	assert_int_equal(ST_HEADER_KIND(s->header), ST_SYMBOLS);
	assert_int_equal(path[s->path_bytes - 1], 0);
	if (s->what == ST_SYMBOLS_CODE) {
		told.codes++;
		told.last = *s;
		snprintf(told.path, sizeof told.path, "%s", path);
	} else {
		assert_int_equal(s->what, ST_SYMBOLS_PROGRAM);
		told.programs++;
		snprintf(told.program, sizeof told.program, "%s", path);
	}
}

/* Executes a page of a file's code, whose first page is number 0, in a space where the file begins at `base`; returns
 * the address. */
static bool fresh;		/* what code_files_page returned last */
static uint64_t execute(struct code_files *c, uint64_t tag, const char *path, uint64_t base, unsigned number)
{
	uint8_t page[CODE_FILES_PAGE] = { 0 };
	Elf64_Ehdr e;
	Elf64_Phdr p = { 0 };
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(&e, sizeof e, 1, f), 1);
	fseek(f, (long)e.e_phoff, SEEK_SET);
	while (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
		assert_int_equal(fread(&p, sizeof p, 1, f), 1);
	fseek(f, (long)(p.p_offset + number * sizeof page), SEEK_SET);
	assert_true(fread(page, 1, sizeof page, f) > 0);
	fclose(f);
	const uint64_t addr = base + p.p_offset + number * sizeof page;
	fresh = code_files_page(c, tag, addr + 123, page, tell, NULL);
	return addr;
}

static void test_a_page_tells_its_segment(void **state)
{
	assert_int_equal(code_files_count(*state), 4);
	const uint64_t base = 0x555500000000, addr = execute(*state, 7, PROGRAM, base, 3);
	assert_int_equal(told.codes, 1);
	assert_string_equal(told.path, PROGRAM);
	assert_string_equal(told.program, "list");
	assert_int_equal(told.last.tag, 7);
	assert_int_equal(told.last.addr, addr - 3 * CODE_FILES_PAGE);
	assert_int_equal(told.last.addr - told.last.offset, base);
	assert_int_equal(told.last.addr % CODE_FILES_PAGE, 0);
	execute(*state, 7, PROGRAM, base, 0);		/* known */
	execute(*state, 7, PROGRAM, base, 3);
	assert_int_equal(told.codes, 1);
	assert_int_equal(told.programs, 1);
	execute(*state, 8, PROGRAM, base, 0);		/* another space */
	assert_int_equal(told.codes, 2);
}

static void test_a_library_is_no_program(void **state)
{
	execute(*state, 1, LOADER, 0x7ffff7fc0000, 1);
	execute(*state, 1, LIBRARY, 0x7ffff7a00000, 5);
	assert_int_equal(told.codes, 2);
	assert_int_equal(told.programs, 0);
	assert_string_equal(told.path, LIBRARY);
	execute(*state, 1, OTHER, 0x555500000000, 0);
	assert_int_equal(told.programs, 1);
	assert_string_equal(told.program, "cat");
}

static void test_another_program_is_a_new_image(void **state)
{
	execute(*state, 1, PROGRAM, 0x555500000000, 0);
	execute(*state, 1, LIBRARY, 0x7ffff7a00000, 5);
	execute(*state, 1, OTHER, 0x555500000000, 0);
	assert_int_equal(told.programs, 3);		/* list; nothing; cat */
	assert_true(fresh);
	assert_string_equal(told.program, "cat");
	execute(*state, 1, LIBRARY, 0x7ffff7a00000, 5);	/* was forgotten */
	assert_int_equal(told.codes, 4);
	assert_false(fresh);
	execute(*state, 1, LIBRARY, 0x7ffff7b00000, 5);	/* a file at another place: so is the process */
	assert_int_equal(told.codes, 5);
	assert_int_equal(told.programs, 4);
	assert_string_equal(told.program, "");
}

static void test_unknown_code_tells_nothing(void **state)
{
	uint8_t page[CODE_FILES_PAGE];
	memset(page, 0xa5, sizeof page);
	code_files_page(*state, 1, 0x1000, page, tell, NULL);
	memset(page, 0, sizeof page);
	code_files_page(*state, 1, 0x1000, page, tell, NULL);
	code_files_page(NULL, 1, 0x1000, page, tell, NULL);
	assert_int_equal(told.codes + told.programs, 0);
}

static void test_a_missing_list_is_an_error(void **state)
{
	struct code_files *c;
	struct err err;
	(void)state;
	assert_int_equal(code_files_open(&c, "/nowhere/list", &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "/nowhere/list"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_page_tells_its_segment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_library_is_no_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_program_is_a_new_image, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_code_tells_nothing, setup, teardown),
		cmocka_unit_test(test_a_missing_list_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
