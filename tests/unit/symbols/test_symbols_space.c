/* SPDX-License-Identifier: GPL-2.0-or-later
 * Address spaces over time, and the names of JIT code. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "symbols/symbols.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct symbols *s;

static int setup(void **state)
{
	(void)state;
	return symbols_create(&s, NULL);
}
static int teardown(void **state)
{
	(void)state;
	symbols_destroy(s);
	return 0;
}

static void map(uint32_t pid, uint64_t addr, uint64_t bytes, uint64_t offset, const char *path, uint64_t time)
{
	struct symbols_map m = { .addr = addr, .bytes = bytes, .offset = offset, .executable = true, .path = path };
	assert_int_equal(symbols_map(s, pid, &m, time), 0);
}
static const char *dso_at(uint32_t pid, uint64_t ip, uint64_t time)
{
	struct symbols_place place;
	symbols_resolve(s, pid, ip, time, &place);
	return place.dso;
}

static void test_an_address_is_an_offset_in_the_mapped_file(void **state)
{
	struct symbols_place place;
	(void)state;
	map(1, 0x400000, 0x1000, 0x3000, "/none/prog", 0);
	symbols_resolve(s, 1, 0x400123, UINT64_MAX, &place);
	assert_string_equal(place.dso, "prog");
	assert_string_equal(place.path, "/none/prog");
	assert_int_equal(place.address, 0x3123);
	assert_null(place.symbol);
	assert_string_equal(dso_at(1, 0x401000, UINT64_MAX), "[unknown]");
	assert_string_equal(dso_at(2, 0x400123, UINT64_MAX), "[unknown]");
	assert_non_null(strstr(symbols_object_why(symbols_object(s, 0)), "cannot open /none/prog"));
}

static void test_what_is_mapped_over_or_unmapped_is_remembered(void **state)
{
	struct symbols_place place;
	(void)state;
	map(1, 0x10000, 0x9000, 0, "/none/a", 10);
	map(1, 0x13000, 0x1000, 0, "/none/b", 20);
	assert_int_equal(symbols_unmap(s, 1, 0x15000, 0x2000, 30), 0);
	assert_string_equal(dso_at(1, 0x13500, 15), "a");
	assert_string_equal(dso_at(1, 0x13500, 25), "b");
	assert_string_equal(dso_at(1, 0x13500, 5), "[unknown]");
	assert_string_equal(dso_at(1, 0x15500, 25), "a");
	assert_string_equal(dso_at(1, 0x15500, 30), "[unknown]");
	symbols_resolve(s, 1, 0x14010, UINT64_MAX, &place);	/* after the hole the offsets still fit */
	assert_string_equal(place.dso, "a");
	assert_int_equal(place.address, 0x4010);
	symbols_resolve(s, 1, 0x17010, UINT64_MAX, &place);
	assert_int_equal(place.address, 0x7010);
}

static void test_a_fork_inherits_and_an_exec_forgets(void **state)
{
	(void)state;
	map(1, 0x10000, 0x1000, 0, "/none/a", 10);
	assert_int_equal(symbols_fork(s, 1, 2, 20), 0);
	assert_int_equal(symbols_exec(s, 1, 30), 0);
	map(1, 0x20000, 0x1000, 0, "/none/b", 30);
	assert_string_equal(dso_at(2, 0x10000, UINT64_MAX), "a");
	assert_string_equal(dso_at(2, 0x20000, UINT64_MAX), "[unknown]");
	assert_string_equal(dso_at(1, 0x10000, UINT64_MAX), "[unknown]");
	assert_string_equal(dso_at(1, 0x10000, 29), "a");
	assert_string_equal(dso_at(1, 0x20000, 31), "b");
}

static void test_memory_has_names_too(void **state)
{
	struct symbols_map m = { .addr = 0x1000, .bytes = 0x1000, .path = "" };
	struct symbols_place place;
	(void)state;
	assert_int_equal(symbols_map(s, 77, &m, 0), 0);
	assert_string_equal(dso_at(77, 0x1500, 1), "anon");
	map(77, 0x3000, 0x1000, 0, "[vdso]", 0);
	assert_string_equal(dso_at(77, 0x3500, 1), "[vdso]");
	map(77, 0x5000, 0x1000, 0, "//anon", 0);	/* executable memory without a file: code made at run time */
	symbols_resolve(s, 77, 0x5010, 1, &place);
	assert_string_equal(place.dso, "[JIT] tid 77");
	assert_string_equal(place.path, "/tmp/perf-77.map");
	assert_int_equal(place.address, 0x5010);
}

static void test_a_replaced_file_is_another_object(void **state)
{
	struct symbols_map m = { .addr = 0x1000, .bytes = 0x1000, .executable = true, .path = "/none/lib",
		.build_id = (uint8_t *)"AAAA",
				 .build_id_bytes = 4 };
	struct symbols_place first, second;
	(void)state;
	symbols_map(s, 1, &m, 0);
	m.build_id = (uint8_t *)"BBBB";
	m.addr = 0x5000;
	symbols_map(s, 1, &m, 1);
	symbols_resolve(s, 1, 0x1000, UINT64_MAX, &first);
	symbols_resolve(s, 1, 0x5000, UINT64_MAX, &second);
	assert_true(first.object != second.object);
	assert_string_equal(first.dso, second.dso);
}

static char dir[] = "/tmp/softpmu-test-XXXXXX", map_path[64], dump_path[64];

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

static void test_a_map_file_names_jit_code(void **state)
{
	static const char text[] = "1000 20 first function\nnonsense\n2000 10 second\n2000 18 second again\n3000\n4000 "
		"zz x\n";
	struct symfile *f;
	(void)state;
	write_file(map_path, text, sizeof text - 1);
	assert_int_equal(symfile_open_jit(&f, map_path, NULL, NULL), 0);
	assert_int_equal(symfile_count(f), 2);
	assert_string_equal(symfile_find(f, 0x101f)->name, "first function");
	/* the code was made again: the last name counts */
	assert_string_equal(symfile_find(f, 0x2000)->name, "second again");
	assert_null(symfile_find(f, 0x1020));
	symfile_close(f);
}

struct dump { uint8_t bytes[512]; size_t size; };
static void add32(struct dump *d, uint32_t v) { memcpy(d->bytes + d->size, &v, 4); d->size += 4; }
static void add64(struct dump *d, uint64_t v) { memcpy(d->bytes + d->size, &v, 8); d->size += 8; }
static void add_text(struct dump *d, const char *t) { strcpy((char *)d->bytes + d->size, t); d->size += strlen(t) + 1; }

static struct dump make_dump(void)
{
	struct dump d = { .size = 0 };
	add32(&d, 0x4a695444), add32(&d, 1), add32(&d, 40), add32(&d, 62), add32(&d, 0), add32(&d, 5), add64(&d, 0),
		add64(&d, 0);
	size_t start = d.size;			/* JIT_CODE_DEBUG_INFO */
	add32(&d, 2), add32(&d, 0), add64(&d, 0), add64(&d, 0x7000), add64(&d, 2);
	add64(&d, 0x7000), add32(&d, 3), add32(&d, 0), add_text(&d, "script.js");
	add64(&d, 0x7008), add32(&d, 9), add32(&d, 0), add_text(&d, "\xff");
	memcpy(d.bytes + start + 4, &(uint32_t){ (uint32_t)(d.size - start) }, 4);
	start = d.size;				/* JIT_CODE_LOAD */
	add32(&d, 0), add32(&d, 0), add64(&d, 0), add32(&d, 5), add32(&d, 5), add64(&d, 0x7000), add64(&d, 0x7000),
		add64(&d, 4), add64(&d, 1);
	memcpy(d.bytes + d.size - 16, &(uint64_t){ 0x40 }, 8);
	add_text(&d, "hot loop"), add32(&d, 0x90909090);
	memcpy(d.bytes + start + 4, &(uint32_t){ (uint32_t)(d.size - start) }, 4);
	start = d.size;				/* JIT_CODE_MOVE */
	add32(&d, 1), add32(&d, 64), add64(&d, 0), add32(&d, 5), add32(&d, 5), add64(&d, 0), add64(&d, 0x7000),
		add64(&d, 0x9000), add64(&d, 0x40),
	add64(&d, 1);
	(void)start;
	return d;
}

static void test_a_jitdump_names_code_and_its_lines(void **state)
{
	struct symfile *f;
	struct symbols_line line;
	(void)state;
	struct dump d = make_dump();
	write_file(dump_path, d.bytes, d.size);
	assert_int_equal(symfile_open_jit(&f, NULL, dump_path, NULL), 0);
	assert_string_equal(symfile_find(f, 0x703f)->name, "hot loop");
	assert_string_equal(symfile_find(f, 0x9010)->name, "hot loop");
	assert_null(symfile_find(f, 0x7040));
	assert_int_equal(symfile_lines(f, 0x7004, &line, 1), 1);
	assert_string_equal(line.file, "script.js");
	assert_int_equal(line.line, 3);
	assert_int_equal(symfile_lines(f, 0x7010, &line, 1), 1);
	assert_int_equal(line.line, 9);
	assert_string_equal(line.file, "script.js");
	symfile_close(f);
}

static void test_a_damaged_jitdump_is_survived(void **state)
{
	struct symfile *f;
	uint64_t seed = 7;
	(void)state;
	struct dump d = make_dump();
	for (unsigned round = 0; round < 600; round++) {
		struct dump bad = d;
		if (round < d.size)
			bad.size = round;
		else
			for (int i = 0; i < 3; i++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				bad.bytes[(seed >> 33) % d.size] = (uint8_t)(seed >> 24);
			}
		write_file(dump_path, bad.bytes, bad.size);
		assert_int_equal(symfile_open_jit(&f, NULL, dump_path, NULL), 0);
		symfile_find(f, 0x7000);
		symfile_close(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_an_address_is_an_offset_in_the_mapped_file),
			T(test_what_is_mapped_over_or_unmapped_is_remembered),
		T(test_a_fork_inherits_and_an_exec_forgets), T(test_memory_has_names_too),
		T(test_a_replaced_file_is_another_object),
		T(test_a_map_file_names_jit_code), T(test_a_jitdump_names_code_and_its_lines),
		T(test_a_damaged_jitdump_is_survived),
	};
	if (!mkdtemp(dir))
		return 1;
	snprintf(map_path, sizeof map_path, "%s/perf-5.map", dir);
	snprintf(dump_path, sizeof dump_path, "%s/jit-5.dump", dir);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(map_path);
	unlink(dump_path);
	rmdir(dir);
	return failed;
}
