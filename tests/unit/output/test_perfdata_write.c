/* SPDX-License-Identifier: GPL-2.0-or-later
 * perf.data as bytes: every field where the format has it, and perf reads the file without a word of complaint. */
#include "perfdata_fixture.h"
#include <signal.h>
#include <sys/resource.h>

/* Two events: header, two ids, two attributes with an id section each. */
enum { ATTRS = 104 + 2 * 8, ATTR = 112 + 16, DATA = ATTRS + 2 * ATTR };

static void finish(struct perfdata_writer *w)
{
	struct err err;
	assert_int_equal(perfdata_finish(w, NULL, NULL, &err), 0);
}

static void test_the_header_points_at_ids_attributes_and_data(void **state)
{
	struct fixture *f = *state;
	finish(create(f->path, 2, false));
	struct contents c = slurp(f->path);
	assert_memory_equal(c.bytes, "PERFILE2", 8);
	assert_int_equal(u64_at(&c, 8), 104);
	assert_int_equal(u64_at(&c, 16), ATTR);
	assert_int_equal(u64_at(&c, 24), ATTRS);
	assert_int_equal(u64_at(&c, 32), 2 * ATTR);
	assert_int_equal(u64_at(&c, 40), DATA);
	assert_int_equal(u64_at(&c, 48), 8);		/* the closing FINISHED_ROUND */
	assert_int_equal(u64_at(&c, 56), 0);
	assert_int_equal(u64_at(&c, 64), 0);
	assert_int_equal(u64_at(&c, 104), 1);
	assert_int_equal(u64_at(&c, 112), 2);
	assert_int_equal(u32_at(&c, DATA), 68);
	free(c.bytes);
}

static void test_attributes_are_112_bytes_with_type_config_and_period(void **state)
{
	struct fixture *f = *state;
	finish(create(f->path, 2, true));
	struct contents c = slurp(f->path);
	const uint64_t bits = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU |
			      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
	for (int i = 0; i < 2; i++) {
		size_t a = ATTRS + (size_t)i * ATTR;
		assert_int_equal(u32_at(&c, a), i ? PERF_TYPE_RAW : PERF_TYPE_HARDWARE);
		assert_int_equal(u32_at(&c, a + 4), 112);
		assert_int_equal(u64_at(&c, a + 8), i ? 0x412e : 0);
		assert_int_equal(u64_at(&c, a + 16), i ? 1000 : 4000);
		assert_int_equal(u64_at(&c, a + 24), bits);
		uint64_t flags = u64_at(&c, a + 40);
		assert_int_equal(flags >> 10 & 1, !i);		/* freq */
		assert_int_equal(flags >> 5 & 1, 1);		/* exclude_kernel */
		assert_int_equal(flags >> 18 & 1, 1);		/* sample_id_all */
		assert_int_equal(flags >> 23 & 1, !i);		/* mmap2: one event tracks the process */
		assert_int_equal(u64_at(&c, a + 112), 104 + 8 * (unsigned)i);
		assert_int_equal(u64_at(&c, a + 120), 8);
	}
	free(c.bytes);
}

static void test_a_sample_holds_id_ip_ids_time_cpu_and_period(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 2, false);
	assert_int_equal(perfdata_sample(w, &(struct perfdata_sample){ .event = 1, .ip = 0x401234, .time = 77,
		.period = 1000, .pid = 10,
								       .tid = 11, .cpu = 3 }), 0);
	finish(w);
	struct contents c = slurp(f->path);
	assert_int_equal(u32_at(&c, DATA), PERF_RECORD_SAMPLE);
	assert_int_equal(u16_at(&c, DATA + 4), PERF_RECORD_MISC_USER);
	assert_int_equal(u16_at(&c, DATA + 6), 8 + 48);
	assert_int_equal(u64_at(&c, DATA + 8), 2);
	assert_int_equal(u64_at(&c, DATA + 16), 0x401234);
	assert_int_equal(u32_at(&c, DATA + 24), 10);
	assert_int_equal(u32_at(&c, DATA + 28), 11);
	assert_int_equal(u64_at(&c, DATA + 32), 77);
	assert_int_equal(u64_at(&c, DATA + 40), 3);
	assert_int_equal(u64_at(&c, DATA + 48), 1000);
	free(c.bytes);
}

static void test_a_chain_starts_with_the_user_marker_and_the_ip(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 2, true);
	uint64_t chain[300] = { 0x1000, 0x2000, 0x3000 };
	assert_int_equal(perfdata_sample(w, &(struct perfdata_sample){ .ip = 0x1000, .chain = chain,
		.chain_length = 3 }), 0);
	assert_int_equal(perfdata_sample(w, &(struct perfdata_sample){ .ip = 0x1000, .chain = chain,
		.chain_length = 300 }), 0);
	finish(w);
	struct contents c = slurp(f->path);
	assert_int_equal(u64_at(&c, DATA + 56), 4);
	assert_int_equal(u64_at(&c, DATA + 64), (uint64_t)PERF_CONTEXT_USER);
	assert_int_equal(u64_at(&c, DATA + 72), 0x1000);
	assert_int_equal(u64_at(&c, DATA + 88), 0x3000);
	assert_int_equal(u64_at(&c, DATA + 96 + 56), 1 + PERFDATA_CHAIN_MAX);	/* longer ones lose their outer end */
	free(c.bytes);
}

static void test_mappings_carry_protection_and_say_whether_they_are_data(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 2, false);
	struct perfdata_map m = { .pid = 5, .tid = 6, .addr = 0x400000, .bytes = 0x2000, .offset = 0x1000,
		.dev_major = 8, .dev_minor = 1,
				  .inode = 99, .prot = PROT_READ | PROT_EXEC, .path = "/bin/prog" };
	assert_int_equal(perfdata_mmap(w, &m, 7), 0);
	m.prot = PROT_READ | PROT_WRITE;
	assert_int_equal(perfdata_mmap(w, &m, 8), 0);
	finish(w);
	struct contents c = slurp(f->path);
	size_t size = 8 + 64 + 16 + 32;
	assert_int_equal(u32_at(&c, DATA), PERF_RECORD_MMAP2);
	assert_int_equal(u16_at(&c, DATA + 4), PERF_RECORD_MISC_USER);
	assert_int_equal(u16_at(&c, DATA + 6), size);
	assert_int_equal(u64_at(&c, DATA + 16), 0x400000);
	assert_int_equal(u64_at(&c, DATA + 32), 0x1000);
	assert_int_equal(u64_at(&c, DATA + 48), 99);
	assert_int_equal(u32_at(&c, DATA + 64), PROT_READ | PROT_EXEC);
	assert_string_equal((char *)c.bytes + DATA + 72, "/bin/prog");
	assert_int_equal(u32_at(&c, DATA + 88), 5);			/* the trailer: pid, tid, time, cpu, id */
	assert_int_equal(u64_at(&c, DATA + 96), 7);
	assert_int_equal(u64_at(&c, DATA + 112), 1);
	assert_int_equal(u16_at(&c, DATA + size + 4), PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
	free(c.bytes);
}

static void test_comm_fork_and_exit_are_as_the_kernel_writes_them(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 2, false);
	assert_int_equal(perfdata_comm(w, 5, 5, "a name that is too long", true, 1), 0);
	assert_int_equal(perfdata_fork(w, 8, 5, 9, 6, 2), 0);
	assert_int_equal(perfdata_exit(w, 8, 5, 9, 6, 3), 0);
	finish(w);
	struct contents c = slurp(f->path);
	assert_int_equal(u16_at(&c, DATA + 4), PERF_RECORD_MISC_USER | PERF_RECORD_MISC_COMM_EXEC);
	assert_string_equal((char *)c.bytes + DATA + 16, "a name that is ");
	size_t fork = DATA + u16_at(&c, DATA + 6);
	assert_int_equal(u32_at(&c, fork), PERF_RECORD_FORK);
	assert_int_equal(u32_at(&c, fork + 8), 8);
	assert_int_equal(u32_at(&c, fork + 12), 5);
	assert_int_equal(u32_at(&c, fork + 16), 9);
	assert_int_equal(u32_at(&c, fork + 20), 6);
	assert_int_equal(u64_at(&c, fork + 24), 2);
	size_t exit = fork + u16_at(&c, fork + 6);
	assert_int_equal(u32_at(&c, exit), PERF_RECORD_EXIT);
	free(c.bytes);
}

static const uint8_t id[20] = { 0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18 };

static void write_some(struct perfdata_writer *w, unsigned samples)
{
	struct perfdata_map m = { .pid = 5, .tid = 5, .addr = 0x400000, .bytes = 0x2000, .prot = PROT_READ | PROT_EXEC,
		.inode = 3,
				  .path = "/bin/prog", .build_id = id, .build_id_bytes = 20 };
	perfdata_comm(w, 5, 5, "prog", true, 1);
	perfdata_mmap(w, &m, 1);
	perfdata_mmap(w, &m, 1);
	for (unsigned i = 0; i < samples; i++)
		perfdata_sample(w, &(struct perfdata_sample){ .event = i & 1, .ip = 0x400100 + i % 16, .time = 10 + i,
			.period = 1 + i % 7,
							      .pid = 5, .tid = 5 });
}

static void test_the_same_calls_make_the_same_bytes(void **state)
{
	struct fixture *f = *state;
	struct contents c[2];
	for (int i = 0; i < 2; i++) {
		struct perfdata_writer *w = create(f->path, 2, false);
		write_some(w, 5000);
		finish(w);
		c[i] = slurp(f->path);
	}
	assert_int_equal(c[0].size, c[1].size);
	assert_memory_equal(c[0].bytes, c[1].bytes, c[0].size);
	free(c[0].bytes);
	free(c[1].bytes);
}

static void test_an_older_file_keeps_its_content_under_another_name(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 2, false);
	write_some(w, 3);
	finish(w);
	struct contents first = slurp(f->path);
	finish(create(f->path, 2, false));
	struct contents old = slurp(f->old);
	assert_int_equal(first.size, old.size);
	assert_memory_equal(first.bytes, old.bytes, old.size);
	/* nothing was run: the file is as before, and one name is back */
	perfdata_discard(create(f->path, 1, false));
	struct contents again = slurp(f->path);
	assert_true(again.size < old.size);
	free(first.bytes);
	free(old.bytes);
	free(again.bytes);
}

static void test_a_full_disk_leaves_a_readable_file_and_says_so_once(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, small = { 300 * 1000, 0 };
	struct err err = { 0 };
	uint64_t bytes, samples;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	struct perfdata_writer *w = create(f->path, 2, false);
	setrlimit(RLIMIT_FSIZE, &small);
	write_some(w, 20000);		/* 1.1 MB */
	assert_true(perfdata_sample(w, &(struct perfdata_sample){ .ip = 1 }) < 0);
	int code = perfdata_finish(w, &bytes, &samples, &err);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(code, ERR_SYSTEM);
	assert_non_null(strstr(err.text, f->path));
	assert_true(bytes <= 300 * 1000 && samples > 3000 && samples < 6000);

	struct perfdata_file *file;
	struct perfdata_record r;
	uint64_t found = 0;
	assert_int_equal(perfdata_open(&file, f->path, &err), 0);
	assert_string_equal(perfdata_note(file), "");
	assert_string_equal(perfdata_feature_text(file, PERFDATA_CPUDESC), "a modelled core");
	while (perfdata_next(file, &r))
		found += r.kind == PERFDATA_SAMPLE;
	assert_int_equal(found, samples);
	perfdata_close(file);
	free(perf("report --stdio", f->path));
}

static void test_what_cannot_be_written_is_refused_at_once(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w;
	struct err err;
	struct perfdata_options o = options("/nonexistent/x", 2, false);
	assert_int_equal(perfdata_create(&w, &o, &err), ERR_SYSTEM);
	o.path = "/dev/full";
	assert_int_equal(perfdata_create(&w, &o, &err), ERR_SYSTEM);
	o.path = f->path;
	o.event_count = 0;
	assert_int_equal(perfdata_create(&w, &o, &err), ERR_INPUT);
	w = create(f->path, 2, false);
	assert_int_equal(perfdata_sample(w, &(struct perfdata_sample){ .event = 2 }), ERR_INPUT);
	perfdata_discard(w);
}

/* Makes each run of blanks one blank. */
static void squeeze(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = 0;
}

static void test_perf_reads_it_without_a_warning(void **state)
{
	struct fixture *f = *state;
	struct perfdata_writer *w = create(f->path, 2, false);
	write_some(w, 100);
	perfdata_fork(w, 6, 5, 6, 5, 200);
	perfdata_exit(w, 6, 5, 6, 5, 300);
	finish(w);
	char *text = perf("evlist", f->path);
	if (!text)
		skip();
	assert_string_equal(text, "cycles:u\nLONGEST_LAT_CACHE.MISS:u\n");
	free(text);
	text = perf("buildid-list", f->path);
	assert_string_equal(text, "abcd0102030405060708090a0b0c0d0e0f101112 /bin/prog\n");
	free(text);
	text = perf("report --stdio --header", f->path);
	assert_non_null(strstr(text, "# cpudesc : a modelled core"));
	assert_non_null(strstr(text, "# Samples: 50  of event 'cycles:u'"));
	assert_non_null(strstr(text, "of event 'LONGEST_LAT_CACHE.MISS:u'"));
	assert_non_null(strstr(text, "# cmdline : softpmu record -- ./a program"));
	free(text);
	text = perf("script -F comm,tid,time,event,ip,period", f->path);
	squeeze(text);	/* the widths of columns differ between versions of perf */
	assert_non_null(strstr(text, "prog 5 0.000000: 1 cycles:u: 400100"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		T(test_the_header_points_at_ids_attributes_and_data),
			T(test_attributes_are_112_bytes_with_type_config_and_period),
		T(test_a_sample_holds_id_ip_ids_time_cpu_and_period),
		T(test_a_chain_starts_with_the_user_marker_and_the_ip),
		T(test_mappings_carry_protection_and_say_whether_they_are_data),
		T(test_comm_fork_and_exit_are_as_the_kernel_writes_them),
		T(test_the_same_calls_make_the_same_bytes), T(test_an_older_file_keeps_its_content_under_another_name),
		T(test_a_full_disk_leaves_a_readable_file_and_says_so_once),
		T(test_what_cannot_be_written_is_refused_at_once),
		T(test_perf_reads_it_without_a_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
