/* SPDX-License-Identifier: GPL-2.0-or-later
 * Symbols and lines of a file: this very program, whose functions and lines are known here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "symbols/symbols_private.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char self[4096];

__attribute__((noinline)) int test_marked_function(volatile int *p);
__attribute__((noinline)) int test_marked_function(volatile int *p)
{
	return *p * 3 + 1;
}
/* As GCC names a copy of a function, and what it splits off. */
__attribute__((noinline, used)) int test_copy(int x) __asm__("test_copied_function.constprop.0.isra.0");
__attribute__((noinline, used)) int test_copy(int x)
{
	return x * 7;
}
__attribute__((noinline, used)) int test_split(int x) __asm__("test_split_function.constprop.0.cold");
__attribute__((noinline, used)) int test_split(int x)
{
	return x * 11;
}
static inline __attribute__((always_inline)) int test_inlined(volatile int *p)
{
	return *p * 5 + 2;	enum { INLINED_LINE = __LINE__ }; (void)INLINED_LINE;
}
enum { INLINED_AT = __LINE__ - 2 };
__attribute__((noinline)) int test_caller_of_inlined(volatile int *p);
__attribute__((noinline)) int test_caller_of_inlined(volatile int *p)
{
	*p = test_inlined(p);	enum { CALL_LINE = __LINE__ }; (void)CALL_LINE;
	return 0;
}
enum { CALLED_AT = __LINE__ - 3 };

/* Converts a run-time address of this program to its place in the file. */
static uint64_t address_of(const void *p)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192];
	uint64_t found = 0;
	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long start, end, offset;
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && (uintptr_t)p >= start &&
			(uintptr_t)p < end)
			found = (uintptr_t)p - start + offset;
	}
	fclose(maps);
	return found;
}

static struct symfile *open_self(void)
{
	struct symfile *f;
	struct err err;
	assert_int_equal(symfile_open(&f, self, NULL, 0, &err), 0);
	return f;
}

static void test_an_address_finds_the_function_that_holds_it(void **state)
{
	(void)state;
	struct symfile *f = open_self();
	uint64_t at = address_of((void *)(uintptr_t)test_marked_function);
	const struct symbol *s = symfile_find(f, at + 1);
	assert_non_null(s);
	assert_string_equal(s->name, "test_marked_function");
	assert_int_equal(s->start, at);
	assert_true(s->is_code && s->end > s->start + 3);
	const struct symbol *behind = symfile_find(f, s->end);
	assert_true(behind != s);
	symfile_close(f);
}

static void test_a_function_is_found_by_name(void **state)
{
	uint64_t offset = 0;
	(void)state;
	assert_true(symbols_find_function(self, "test_marked_function", &offset));
	assert_int_equal(offset, address_of((void *)(uintptr_t)test_marked_function));
	assert_false(symbols_find_function(self, "self", &offset));	/* data */
	assert_true(symbols_find_function(self, "test_copied_function", &offset));
	assert_int_equal(offset, address_of((void *)(uintptr_t)test_copy));
	assert_false(symbols_find_function(self, "test_split_function", &offset));
	assert_false(symbols_find_function(self, "test_copied", &offset));
	assert_false(symbols_find_function(self, "no_such_function", &offset));
	assert_false(symbols_find_function("/dev/null", "main", &offset));
}

static void test_plt_entries_bear_the_names_of_what_they_call(void **state)
{
	(void)state;
	struct symfile *f = open_self();
	unsigned found = 0;
	for (size_t i = 0; i < symfile_count(f); i++) {
		const struct symbol *s = symfile_symbol(f, i);
		if (strcmp(s->name, "fopen@plt"))
			continue;
		found++;
		assert_int_equal(s->end - s->start, 16);
		assert_ptr_equal(symfile_find(f, s->start + 6), s);
	}
	if (!found) {	/* built with -fno-plt or bound at once */
		symfile_close(f);
		skip();
	}
	assert_int_equal(found, 1);
	symfile_close(f);
}

/* The address of the slot that gets realloc's address, from libc.so.6's relocations. */
static uint64_t slot_of_realloc(const char *path)
{
	uint64_t found = 0;
	int fd = open(path, O_RDONLY);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr sh, symbols;
		GElf_Rela a;
		GElf_Sym sym;
		Elf_Data *data = elf_getdata(scn, NULL);
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !gelf_getshdr(elf_getscn(elf, sh.sh_link), &symbols) || symbols.sh_type != SHT_DYNSYM)
			continue;
		Elf_Data *names = elf_getdata(elf_getscn(elf, sh.sh_link), NULL);
		for (int i = 0; gelf_getrela(data, i, &a); i++)
			if (GELF_R_TYPE(a.r_info) == R_X86_64_JUMP_SLOT &&
			    gelf_getsym(names, (int)GELF_R_SYM(a.r_info), &sym) &&
			    !strcmp(elf_strptr(elf, symbols.sh_link, sym.st_name), "realloc"))
				found = a.r_offset;
	}
	elf_end(elf);
	close(fd);
	return found;
}

static void test_plt_entries_are_named_by_their_slots_in_any_order(void **state)
{
	Dl_info libc;
	struct symfile *f;
	struct err err = { 0 };
	unsigned indirect = 0, reallocs = 0;
	(void)state;
	assert_true(dladdr((void *)(uintptr_t)abort, &libc));
	const uint64_t slot = slot_of_realloc(libc.dli_fname);
	if (!slot)	/* not Debian's libc */
		skip();
	assert_int_equal(symfile_open(&f, libc.dli_fname, NULL, 0, &err), 0);
	for (size_t i = 0; i < symfile_count(f); i++) {
		const struct symbol *s = symfile_symbol(f, i);
		const char *end = strstr(s->name, "@plt");
		uint8_t code[6];
		int32_t distance;
		uint64_t vaddr;
		if (!end || end[4])
			continue;
		assert_ptr_not_equal(end, s->name);
		indirect += !strncmp(s->name, "str", 3) || !strncmp(s->name, "mem", 3);
		if (strcmp(s->name, "realloc@plt"))
			continue;
		reallocs++;
		assert_int_equal(symfile_read(f, s->start, code, sizeof code), sizeof code);
		memcpy(&distance, &code[2], sizeof distance);
		assert_int_equal(code[0] << 8 | code[1], 0xff25);
		assert_true(symfile_vaddr(f, s->start, &vaddr));
		assert_int_equal(vaddr + sizeof code + (uint64_t)(int64_t)distance, slot);
	}
	assert_int_equal(reallocs, 1);
	assert_true(indirect > 3);	/* strlen and others have relocations without a symbol */
	symfile_close(f);
}

static void test_lines_name_file_line_and_function(void **state)
{
	(void)state;
	struct symfile *f = open_self();
	struct symbols_line line[4];
	uint64_t at = address_of((void *)(uintptr_t)test_marked_function);
	size_t n = symfile_lines(f, at, line, 4);
	assert_int_equal(n, 1);
	assert_string_equal(line[0].function, "test_marked_function");
	assert_non_null(strstr(line[0].file, "test_symbols_file.c"));
	assert_in_range(line[0].line, 17, 22);
	symfile_close(f);
}

static void test_an_inlined_function_stands_before_its_caller(void **state)
{
	(void)state;
	struct symfile *f = open_self();
	struct symbols_line line[4];
	const struct symbol *s = symfile_find(f, address_of((void *)(uintptr_t)test_caller_of_inlined));
	assert_non_null(s);
	unsigned found = 0;
	for (uint64_t at = s->start; at < s->end; at++) {
		size_t n = symfile_lines(f, at, line, 4);
		if (n != 2 || line[0].line != INLINED_AT)
			continue;
		found++;
		assert_true(line[0].inlined);
		assert_string_equal(line[0].function, "test_inlined");
		assert_false(line[1].inlined);
		assert_string_equal(line[1].function, "test_caller_of_inlined");
		assert_int_equal(line[1].line, CALLED_AT);
	}
	assert_true(found > 0);
	symfile_close(f);
}

static void test_code_is_read_from_the_file(void **state)
{
	uint8_t code[8];
	uint64_t vaddr;
	(void)state;
	struct symfile *f = open_self();
	uint64_t at = address_of((void *)(uintptr_t)test_marked_function);
	assert_int_equal(symfile_read(f, at, code, 8), 8);
	assert_memory_equal(code, (void *)(uintptr_t)test_marked_function, 8);
	assert_true(symfile_vaddr(f, at, &vaddr));
	assert_false(symfile_vaddr(f, UINT64_MAX - 5, &vaddr));
	symfile_close(f);
}

static void test_another_build_id_is_refused(void **state)
{
	uint8_t id[SYMBOLS_BUILD_ID_BYTES];
	struct symfile *f;
	struct err err;
	(void)state;
	unsigned n = symbols_build_id(self, id);
	if (!n)
		skip();
	assert_int_equal(symfile_open(&f, self, id, n, &err), 0);
	symfile_close(f);
	id[3] ^= 1;
	assert_int_equal(symfile_open(&f, self, id, n, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "build-id"));
}

static void test_names_are_demangled_without_parameters(void **state)
{
	static const char *const pair[][2] = {
		{ "_ZN2ns1WIlE4workEi", "ns::W<long>::work" },
		{ "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
		  "std::operator<< <std::char_traits<char> >" }, { "_ZN3fooC2Ev", "foo::foo" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
		char *name = symbols_demangle(pair[i][0]);
		assert_non_null(name);
		assert_string_equal(name, pair[i][1]);
		free(name);
	}
	assert_null(symbols_demangle("main"));
	assert_null(symbols_demangle("_Z"));
}

static struct symfile *made(void)
{
	struct symfile *f = calloc(1, sizeof *f);
	assert_non_null(f);
	f->fd = -1;
	return f;
}

static void test_of_several_names_the_one_perf_shows_is_kept(void **state)
{
	(void)state;
	struct symfile *f = made();
	symfile_add(f, 0x100, 0x120, "__libc_thing", STB_GLOBAL, true);
	symfile_add(f, 0x100, 0x120, "thing", STB_GLOBAL, true);
	symfile_add(f, 0x100, 0x120, "thing_with_a_long_weak_name", STB_WEAK, true);
	symfile_add(f, 0x200, 0x200, "label", STB_GLOBAL, true);
	symfile_add(f, 0x200, 0x220, "local_function", STB_LOCAL, true);
	symfile_add(f, 0x300, 0x320, "short", STB_GLOBAL, true);
	symfile_add(f, 0x300, 0x320, "longer", STB_GLOBAL, true);
	assert_int_equal(symfile_index(f, true, false), 0);
	assert_int_equal(symfile_count(f), 3);
	assert_string_equal(symfile_find(f, 0x110)->name, "thing");
	assert_string_equal(symfile_find(f, 0x210)->name, "local_function");
	assert_string_equal(symfile_find(f, 0x300)->name, "longer");
	symfile_close(f);
}

static void test_symbols_without_size_reach_to_the_next(void **state)
{
	(void)state;
	struct symfile *f = made();
	symfile_add(f, 0x1000, 0x1000, "_init", STB_LOCAL, true);
	symfile_add(f, 0x1100, 0x1200, "main", STB_GLOBAL, true);
	symfile_add(f, 0x2010, 0x2010, "last", STB_GLOBAL, true);
	assert_int_equal(symfile_index(f, true, false), 0);
	assert_string_equal(symfile_find(f, 0x10ff)->name, "_init");
	assert_string_equal(symfile_find(f, 0x11ff)->name, "main");
	assert_null(symfile_find(f, 0x1200));
	assert_int_equal(symfile_find(f, 0x2010)->end, 0x4000);
	assert_null(symfile_find(f, 0xfff));
	/* PLT entries are added later and take their place from it. */
	symfile_add(f, 0x1020, 0x1030, "puts@plt", STB_GLOBAL, true);
	assert_int_equal(symfile_index(f, false, false), 0);
	assert_string_equal(symfile_find(f, 0x1025)->name, "puts@plt");
	assert_string_equal(symfile_find(f, 0x101f)->name, "_init");
	assert_null(symfile_find(f, 0x1030));
	symfile_close(f);
}

static void test_the_innermost_of_nested_symbols_wins(void **state)
{
	(void)state;
	struct symfile *f = made();
	symfile_add(f, 0x100, 0x200, "outer", STB_GLOBAL, true);
	symfile_add(f, 0x120, 0x140, "inner", STB_GLOBAL, true);
	symfile_add(f, 0x150, 0x158, "second", STB_GLOBAL, true);
	assert_int_equal(symfile_index(f, true, false), 0);
	assert_string_equal(symfile_find(f, 0x130)->name, "inner");
	assert_string_equal(symfile_find(f, 0x148)->name, "outer");
	assert_string_equal(symfile_find(f, 0x157)->name, "second");
	assert_string_equal(symfile_find(f, 0x1ff)->name, "outer");
	assert_null(symfile_find(f, 0x200));
	symfile_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_finds_the_function_that_holds_it),
			cmocka_unit_test(test_a_function_is_found_by_name),
		cmocka_unit_test(test_plt_entries_bear_the_names_of_what_they_call),
		cmocka_unit_test(test_plt_entries_are_named_by_their_slots_in_any_order),
		cmocka_unit_test(test_lines_name_file_line_and_function),
		cmocka_unit_test(test_an_inlined_function_stands_before_its_caller),
		cmocka_unit_test(test_code_is_read_from_the_file),
		cmocka_unit_test(test_another_build_id_is_refused),
		cmocka_unit_test(test_names_are_demangled_without_parameters),
		cmocka_unit_test(test_of_several_names_the_one_perf_shows_is_kept),
		cmocka_unit_test(test_symbols_without_size_reach_to_the_next),
		cmocka_unit_test(test_the_innermost_of_nested_symbols_wins),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		return 1;
	volatile int value = 1;
	test_marked_function(&value);
	test_caller_of_inlined(&value);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
