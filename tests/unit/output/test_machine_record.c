/* SPDX-License-Identifier: GPL-2.0-or-later
 * A whole machine's side records in perf.data: what is written, and that hostile ones do no harm. */
#include "output/machine_record.h"
#include "perfdata_fixture.h"
#include "stream/format.h"
#include "symbols/symbols.h"

struct record { struct st_symbols head; char path[8192]; };

static int symbols_record(struct machine_record *m, uint64_t what, uint64_t tag, uint64_t addr, uint64_t bytes,
	const char *path)
{
	static struct record r;
	const size_t length = sizeof r.head + (strlen(path) + 8) / 8 * 8;
	r.head = (struct st_symbols){ .header = ST_HEADER(ST_SYMBOLS, length), .what = what, .addr = addr,
		.bytes = bytes, .offset = 0x1000, .tag = tag, .path_bytes = (uint32_t)strlen(path) + 1 };
	strcpy(r.path, path);
	return machine_record_side(m, (const uint64_t *)&r, 5);
}

static void test_spaces_are_processes(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 1, false);
	struct machine_record *m;
	struct perfdata_file *file;
	struct perfdata_record r;
	struct st_space space = { ST_HEADER(ST_SPACE, sizeof space), 3, 0 };
	static const struct { enum perfdata_kind kind; uint32_t pid; const char *text; } want[] = {
		{ PERFDATA_COMM, SYMBOLS_SPACE_PID, "space-0" },
		{ PERFDATA_COMM, SYMBOLS_SPACE_PID + 3, "space-3" },
		{ PERFDATA_MMAP, SYMBOLS_SPACE_PID + 3, "/bin/loader" },
		{ PERFDATA_COMM, SYMBOLS_SPACE_PID + 3, "program" },
		{ PERFDATA_MMAP, SYMBOLS_SPACE_PID + 3, "/host/program" },
		{ PERFDATA_COMM, SYMBOLS_SPACE_PID + 3, "space-3" },
	};
	assert_int_equal(machine_record_create(&m, w, 0), 0);
	for (unsigned i = 0; i < 2; i++)	/* the second time nothing is new */
		assert_int_equal(machine_record_side(m, (const uint64_t *)&space, 5), 0);
	symbols_record(m, ST_SYMBOLS_CODE, 3, 0x7ffff000, 0x3000, "/bin/loader");
	symbols_record(m, ST_SYMBOLS_PROGRAM, 3, 0, 0, "/bin/program");
	symbols_record(m, ST_SYMBOLS_CODE, 3, 0x400000, 0x1000, "/host/program");
	symbols_record(m, ST_SYMBOLS_PROGRAM, 3, 0, 0, "");
	assert_string_equal(machine_record_note(m), "");
	machine_record_destroy(m);
	assert_int_equal(perfdata_finish(w, NULL, NULL, NULL), 0);
	assert_int_equal(perfdata_open(&file, f->path, NULL), 0);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		assert_int_equal(perfdata_next(file, &r), 1);
		assert_int_equal(r.kind, want[i].kind);
		assert_int_equal(r.pid, want[i].pid);
		assert_string_equal(r.text, want[i].text);
		/* only a new image clears the mappings */
		assert_int_equal(!!(r.misc & PERF_RECORD_MISC_COMM_EXEC), i == 5);
	}
	assert_int_equal(perfdata_next(file, &r), 0);
	perfdata_close(file);
}

static void test_kernel_samples_are_the_kernels(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 1, true);
	struct perfdata_file *file;
	struct perfdata_record r;
	static const uint64_t chain[] = { 0xffffffff81000200, 0xffffffff81000101, 0x401235, 0x401111 };
	const struct perfdata_sample s = { .ip = chain[0], .time = 1, .period = 1, .pid = 1003, .tid = 1003,
		.chain = chain, .chain_length = 4, .kernel = true };
	assert_int_equal(perfdata_sample(w, &s), 0);
	assert_int_equal(perfdata_finish(w, NULL, NULL, NULL), 0);
	assert_int_equal(perfdata_open(&file, f->path, NULL), 0);
	assert_int_equal(perfdata_next(file, &r), 1);
	assert_int_equal(r.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(r.chain_length, 6);
	assert_true(perfdata_chain_ip(&r, 0) == (uint64_t)PERF_CONTEXT_KERNEL);
	assert_true(perfdata_chain_ip(&r, 1) == chain[0]);
	assert_true(perfdata_chain_ip(&r, 3) == (uint64_t)PERF_CONTEXT_USER);
	assert_true(perfdata_chain_ip(&r, 5) == chain[3]);
	perfdata_close(file);
}

static void test_hostile_records_are_passed_over(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 1, false);
	struct machine_record *m;
	struct perfdata_file *file;
	struct perfdata_record r;
	static char path[8000];
	unsigned maps = 0;
	memset(path, 'a', sizeof path - 1);
	path[0] = '/';
	assert_int_equal(machine_record_create(&m, w, 0), 0);
	/* a path without end, one that is longer than its record, no path, unknown kinds and spaces */
	struct record bad = { .head = { .header = ST_HEADER(ST_SYMBOLS, sizeof bad.head + 8), .what = ST_SYMBOLS_CODE,
		.addr = 0x1000, .bytes = 0x1000, .path_bytes = 8 }, .path = "12345678" };
	assert_int_equal(machine_record_side(m, (const uint64_t *)&bad, 1), 0);
	bad.head.path_bytes = UINT32_MAX;
	assert_int_equal(machine_record_side(m, (const uint64_t *)&bad, 1), 0);
	bad.head.path_bytes = 0;
	assert_int_equal(machine_record_side(m, (const uint64_t *)&bad, 1), 0);
	assert_int_equal(symbols_record(m, 77, 1, 0x1000, 0x1000, "/x"), 0);
	assert_int_equal(symbols_record(m, ST_SYMBOLS_PROGRAM, UINT64_MAX, 0, 0, "/x"), 0);
	/* ranges that wrap around, are empty, or are the kernel's */
	assert_int_equal(symbols_record(m, ST_SYMBOLS_CODE, 1, UINT64_MAX - 5, 0x1000, "/x"), 0);
	assert_int_equal(symbols_record(m, ST_SYMBOLS_CODE, 1, 0x1000, 0, "/x"), 0);
	assert_int_equal(symbols_record(m, ST_SYMBOLS_CODE, 1, 0xffffffff81000000, 0x1000, "/x"), 0);
	/* long paths and programs are cut; ranges may overlap */
	assert_int_equal(symbols_record(m, ST_SYMBOLS_PROGRAM, 1, 0, 0, path), 0);
	assert_int_equal(symbols_record(m, ST_SYMBOLS_CODE, 1, 0x1000, 0x3000, path), 0);
	assert_int_equal(symbols_record(m, ST_SYMBOLS_CODE, 1, 0x2000, 0x1000, "/b"), 0);
	assert_int_equal(symbols_record(m, ST_SYMBOLS_KALLSYMS, 0, 0, 0, path), 0);
	assert_non_null(strstr(machine_record_note(m), "the kernel's functions have no names: cannot open /aaa"));
	machine_record_destroy(m);
	assert_int_equal(perfdata_finish(w, NULL, NULL, NULL), 0);
	assert_int_equal(perfdata_open(&file, f->path, NULL), 0);
	while (perfdata_next(file, &r))
		maps += r.kind == PERFDATA_MMAP;
	assert_int_equal(maps, 2);
	perfdata_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_spaces_are_processes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_kernel_samples_are_the_kernels, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_hostile_records_are_passed_over, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
