/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reading perf.data back: our own files, foreign layouts, and anything at all without a crash. */
#include "perfdata_fixture.h"

static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };

static void write_run(const char *path, bool chains)
{
	struct perfdata_writer *w = create(path, 2, chains);
	struct perfdata_map m = { .pid = 5, .tid = 5, .addr = 0x400000, .bytes = 0x2000, .offset = 0x1000,
		.prot = PROT_READ | PROT_EXEC,
				  .inode = 3, .path = "/bin/prog", .build_id = id, .build_id_bytes = 20 };
	uint64_t chain[3] = { 0x400100, 0x400200, 0x400300 };
	perfdata_comm(w, 5, 5, "prog", true, 1);
	perfdata_mmap(w, &m, 2);
	perfdata_sample(w, &(struct perfdata_sample){ .event = 0, .ip = 0x400100, .time = 50, .period = 7, .pid = 5,
		.tid = 6, .cpu = 1,
						      .chain = chain, .chain_length = 3 });
	perfdata_sample(w, &(struct perfdata_sample){ .event = 1, .ip = 0x400104, .time = 40, .period = 9, .pid = 5,
		.tid = 5 });
	perfdata_fork(w, 6, 5, 6, 5, 45);
	perfdata_exit(w, 6, 5, 6, 5, 60);
	assert_int_equal(perfdata_finish(w, NULL, NULL, NULL), 0);
}

static void test_records_come_back_in_order_of_time(void **state)
{
	struct fixture *f = *state;
	struct perfdata_file *file;
	struct perfdata_record r;
	static const enum perfdata_kind kinds[] = { PERFDATA_COMM, PERFDATA_MMAP, PERFDATA_SAMPLE, PERFDATA_FORK,
		PERFDATA_SAMPLE, PERFDATA_EXIT };
	static const uint64_t times[] = { 1, 2, 40, 45, 50, 60 };
	write_run(f->path, true);
	assert_int_equal(perfdata_open(&file, f->path, NULL), 0);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(perfdata_next(file, &r), 1);
		assert_int_equal(r.kind, kinds[i]);
		assert_int_equal(r.time, times[i]);
		switch (i) {
		case 0:
			assert_string_equal(r.text, "prog");
			break;
		case 1:
			assert_string_equal(r.text, "/bin/prog");
			assert_int_equal(r.addr, 0x400000);
			assert_int_equal(r.offset, 0x1000);
			assert_int_equal(r.prot, PROT_READ | PROT_EXEC);
			break;
		case 2:
			assert_int_equal(r.event, 1);
			assert_int_equal(r.period, 9);
			assert_int_equal(r.chain_length, 2);
			break;
		case 3:
			assert_int_equal(r.pid, 6);
			assert_int_equal(r.parent_pid, 5);
			break;
		case 4:
			assert_int_equal(r.event, 0);
			assert_int_equal(r.ip, 0x400100);
			assert_int_equal(r.tid, 6);
			assert_int_equal(r.cpu, 1);
			assert_int_equal(r.chain_length, 4);
			assert_int_equal(perfdata_chain_ip(&r, 0), (uint64_t)PERF_CONTEXT_USER);
			assert_int_equal(perfdata_chain_ip(&r, 3), 0x400300);
			break;
		}
	}
	assert_int_equal(perfdata_next(file, &r), 0);
	perfdata_close(file);
}

static void test_features_tell_names_and_build_ids(void **state)
{
	struct fixture *f = *state;
	struct perfdata_file *file;
	uint8_t found[PERFDATA_BUILD_ID_BYTES];
	write_run(f->path, false);
	assert_int_equal(perfdata_open(&file, f->path, NULL), 0);
	assert_int_equal(perfdata_event_count(file), 2);
	assert_string_equal(perfdata_event_info(file, 0)->name, "cycles:u");
	assert_string_equal(perfdata_event_info(file, 1)->name, "LONGEST_LAT_CACHE.MISS:u");
	assert_int_equal(perfdata_event_info(file, 0)->frequency, 4000);
	assert_int_equal(perfdata_event_info(file, 1)->period, 1000);
	assert_string_equal(perfdata_feature_text(file, PERFDATA_CPUID), "GenuineIntel,6,94,3");
	assert_int_equal(perfdata_build_id(file, "/bin/prog", found), 20);
	assert_memory_equal(found, id, 20);
	assert_int_equal(perfdata_build_id(file, "/bin/other", found), 0);
	perfdata_close(file);
}

static void test_an_unfinished_file_gives_what_it_has(void **state)
{
	struct fixture *f = *state;
	struct perfdata_file *file;
	struct perfdata_record r;
	unsigned records = 0;
	write_run(f->path, false);
	struct contents c = slurp(f->path);
	memset(c.bytes + 48, 0, 8);		/* data size: as left by a writer that was killed */
	memset(c.bytes + 72, 0, 32);
	assert_int_equal(perfdata_open_memory(&file, c.bytes, 104 + 2 * (8 + 128) + 300, NULL), 0);
	assert_string_not_equal(perfdata_note(file), "");
	while (perfdata_next(file, &r))
		records++;
	assert_true(records >= 3);
	perfdata_close(file);
	free(c.bytes);
}

/* One event without identifier and sample_id_all, named by its type: as an old perf wrote it. */
static void test_a_foreign_layout_is_read(void **state)
{
	struct { struct perfdata_header h; uint8_t attr[64]; struct perfdata_section ids; struct perf_event_header r;
		uint64_t ip;
		 uint32_t pid, tid; } file = { 0 };
	struct perfdata_file *f;
	struct perfdata_record r;
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = 64, .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 33,
				     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID };
	(void)state;
	memcpy(file.h.magic, "PERFILE2", 8);
	file.h.size = 104;
	file.h.attr_size = 80;
	file.h.attrs = (struct perfdata_section){ 104, 80 };
	file.h.data = (struct perfdata_section){ 184, 24 };
	memcpy(file.attr, &a, 64);
	file.r = (struct perf_event_header){ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, 24 };
	file.ip = 0x1234;
	file.pid = 7;
	file.tid = 8;
	assert_int_equal(perfdata_open_memory(&f, &file, sizeof file, NULL), 0);
	assert_string_equal(perfdata_event_info(f, 0)->name, "cpu-clock");
	assert_int_equal(perfdata_next(f, &r), 1);
	assert_int_equal(r.ip, 0x1234);
	assert_int_equal(r.tid, 8);
	assert_int_equal(r.period, 33);
	assert_int_equal(r.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	perfdata_close(f);
}

static void test_what_is_not_supported_is_refused_by_name(void **state)
{
	struct fixture *f = *state;
	struct perfdata_file *file;
	struct err err;
	write_run(f->path, false);
	struct contents c = slurp(f->path);
	c.bytes[104 + 2 * (8 + 128)] = 81;	/* the first record */
	assert_int_equal(perfdata_open_memory(&file, c.bytes, c.size, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "compressed"));
	memcpy(c.bytes, "2ELIFREP", 8);
	assert_int_equal(perfdata_open_memory(&file, c.bytes, c.size, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "byte order"));
	memcpy(c.bytes, "PERFILE2", 8);
	c.bytes[8] = 16;
	/* pipe mode: records follow the header at once, and these bytes are none */
	assert_int_equal(perfdata_open_memory(&file, c.bytes, c.size, &err), ERR_INPUT);
	assert_int_equal(perfdata_open_memory(&file, "hello", 5, &err), ERR_INPUT);
	assert_int_equal(perfdata_open(&file, "/nonexistent/perf.data", &err), ERR_SYSTEM);
	assert_int_equal(perfdata_open(&file, "/dev/null", &err), ERR_UNSUPPORTED);
	free(c.bytes);
}

static void walk_all(const void *bytes, size_t size)
{
	struct perfdata_file *f;
	struct perfdata_record r;
	uint8_t found[PERFDATA_BUILD_ID_BYTES];
	volatile uint64_t sum = 0;
	if (perfdata_open_memory(&f, bytes, size, NULL))
		return;
	for (size_t i = 0; i < perfdata_event_count(f); i++)
		sum += strlen(perfdata_event_info(f, i)->name);
	for (unsigned i = PERFDATA_HOSTNAME; i <= PERFDATA_CPUID; i++)
		if (perfdata_feature_text(f, i))
			sum += strlen(perfdata_feature_text(f, i));
	perfdata_build_id(f, "/bin/other", found);
	while (perfdata_next(f, &r)) {
		if (r.text)
			sum += strlen(r.text);
		for (size_t i = 0; i < r.chain_length; i++)
			sum += perfdata_chain_ip(&r, i);
		for (unsigned i = 0; i < r.build_id_bytes; i++)
			sum += r.build_id[i];
	}
	(void)sum;
	perfdata_close(f);
}

static void test_every_cut_and_many_damages_are_survived(void **state)
{
	struct fixture *f = *state;
	uint64_t seed = 1;
	write_run(f->path, true);
	struct contents c = slurp(f->path);
	for (size_t n = 0; n <= c.size; n++)
		walk_all(c.bytes, n);
	for (unsigned round = 0; round < 20000; round++) {
		uint8_t before[4], value[4];
		size_t where[4];
		for (int i = 0; i < 4; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* half of them in header, attributes, first records */
			where[i] = (seed >> 33) % (round & 1 ? c.size : 700);
			value[i] = (seed >> 20 & 3) == 0 ? 0xff : (uint8_t)(seed >> 24);
			before[i] = c.bytes[where[i]];
			c.bytes[where[i]] = value[i];
		}
		walk_all(c.bytes, c.size);
		for (int i = 4; i-- > 0; )
			c.bytes[where[i]] = before[i];
	}
	free(c.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		T(test_records_come_back_in_order_of_time), T(test_features_tell_names_and_build_ids),
			T(test_an_unfinished_file_gives_what_it_has),
		T(test_a_foreign_layout_is_read), T(test_what_is_not_supported_is_refused_by_name),
		T(test_every_cut_and_many_damages_are_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
