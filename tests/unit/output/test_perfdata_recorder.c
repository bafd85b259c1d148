/* SPDX-License-Identifier: GPL-2.0-or-later
 * Side records of a run become records of perf.data, dated so that a reader in order of time understands them. */
#include "perfdata_fixture.h"
#include "output/recorder.h"

enum { HZ = 1000000000, PID = 100, CHILD = 200 };	/* a cycle is a nanosecond */

struct recording { struct perfdata_writer *w; struct recorder *r; struct perfdata_file *file; };

static struct recording start(const char *path)
{
	struct recording x = { .w = create(path, 1, false) };
	assert_int_equal(recorder_create(&x.r, x.w, HZ, false, NULL), 0);
	return x;
}
static void stop(struct recording *x, const char *path)
{
	recorder_destroy(x->r);
	assert_int_equal(perfdata_finish(x->w, NULL, NULL, NULL), 0);
	assert_int_equal(perfdata_open(&x->file, path, NULL), 0);
}

static const struct run_thread main_thread = { .pid = PID, .tid = PID }, second_thread = { .pid = PID, .tid = PID + 1 };

static void process(struct recording *x, uint32_t pid, uint32_t parent, bool exec, const char *path, uint64_t cycle)
{
	uint64_t words[64] = { 0 };
	struct st_process *s = (struct st_process *)words;
	s->header = ST_HEADER(ST_PROCESS, sizeof words);
	s->pid = pid;
	s->parent_pid = parent;
	s->is_exec = exec;
	s->path_bytes = (uint32_t)strlen(path) + 1;
	strcpy((char *)(s + 1), path);
	assert_int_equal(recorder_side(x->r, NULL, pid, words, cycle), 0);
}
static void map(struct recording *x, const struct run_thread *t, uint64_t addr, const char *path, unsigned prot,
	uint64_t cycle)
{
	uint64_t words[64] = { 0 };
	struct st_map *s = (struct st_map *)words;
	s->header = ST_HEADER(ST_MAP, sizeof words);
	s->addr = addr;
	s->bytes = 0x1000;
	s->prot = (uint8_t)prot;
	s->path_bytes = (uint32_t)strlen(path) + 1;
	strcpy((char *)(s + 1), path);
	assert_int_equal(recorder_side(x->r, t, PID, words, cycle), 0);
}
static struct perfdata_record next(struct recording *x, enum perfdata_kind kind)
{
	struct perfdata_record r;
	assert_int_equal(perfdata_next(x->file, &r), 1);
	assert_int_equal(r.kind, kind);
	return r;
}

static void test_a_process_is_called_after_its_file(void **state)
{
	struct fixture *f = *state;
	struct recording x = start(f->path);
	process(&x, PID, 1, false, "/usr/bin/a-very-long-program-name", 5);
	stop(&x, f->path);
	struct perfdata_record r = next(&x, PERFDATA_COMM);	/* no FORK record: its parent is not part of the run */
	assert_string_equal(r.text, "a-very-long-pro");
	assert_int_equal(r.misc & PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_COMM_EXEC);
	assert_int_equal(r.time, 5);
	perfdata_close(x.file);
}

static void test_a_mapping_is_dated_back_to_the_slowest_thread(void **state)
{
	struct fixture *f = *state;
	struct recording x = start(f->path);
	process(&x, PID, 1, false, "/bin/p", 10);
	recorder_clock(x.r, &main_thread, 1000);
	recorder_clock(x.r, &second_thread, 300);
	map(&x, &main_thread, 0x10000, "/lib/new.so", ST_PROT_R | ST_PROT_X, 1010);
	/* the addresses were mapped before, so it keeps its own time */
	map(&x, &main_thread, 0x10800, "/lib/over.so", ST_PROT_R | ST_PROT_X, 1020);
	map(&x, &main_thread, 0x30000, "", ST_PROT_R | ST_PROT_W, 1030);
	stop(&x, f->path);
	next(&x, PERFDATA_COMM);
	struct perfdata_record r = next(&x, PERFDATA_MMAP);
	assert_string_equal(r.text, "/lib/new.so");
	assert_int_equal(r.time, 300);
	r = next(&x, PERFDATA_MMAP);
	assert_string_equal(r.text, "//anon");
	assert_int_equal(r.prot, PROT_READ | PROT_WRITE);
	r = next(&x, PERFDATA_MMAP);
	assert_string_equal(r.text, "/lib/over.so");
	assert_int_equal(r.time, 1020);
	perfdata_close(x.file);
}

static void test_no_mapping_comes_before_the_exec_it_belongs_to(void **state)
{
	struct fixture *f = *state;
	struct recording x = start(f->path);
	process(&x, PID, 1, false, "/bin/p", 0);
	recorder_clock(x.r, &main_thread, 500);
	process(&x, PID, 1, true, "/bin/q", 600);
	map(&x, &main_thread, 0x10000, "/bin/q", ST_PROT_R | ST_PROT_X, 600);
	stop(&x, f->path);
	next(&x, PERFDATA_COMM);
	assert_int_equal(next(&x, PERFDATA_COMM).time, 600);
	assert_int_equal(next(&x, PERFDATA_MMAP).time, 600);
	perfdata_close(x.file);
}

static void test_a_child_is_forked_once_whoever_reports_it_first(void **state)
{
	struct fixture *f = *state;
	struct recording x = start(f->path);
	struct st_fork fork = { ST_HEADER(ST_FORK, sizeof fork), CHILD, 1 }, unfollowed = { ST_HEADER(ST_FORK,
		sizeof fork), CHILD + 1, 0 };
	process(&x, PID, 1, false, "/bin/p", 0);
	process(&x, CHILD, PID, false, "/bin/p", 700);
	assert_int_equal(recorder_side(x.r, &main_thread, PID, (uint64_t *)&fork, 690), 0);
	assert_int_equal(recorder_side(x.r, &main_thread, PID, (uint64_t *)&unfollowed, 690), 0);
	stop(&x, f->path);
	next(&x, PERFDATA_COMM);
	struct perfdata_record r = next(&x, PERFDATA_FORK);
	assert_int_equal(r.pid, CHILD);
	assert_int_equal(r.parent_pid, PID);
	assert_int_equal(perfdata_next(x.file, &r), 0);
	perfdata_close(x.file);
}

static void test_threads_start_and_end_and_the_process_ends_last(void **state)
{
	struct fixture *f = *state;
	struct recording x = start(f->path);
	struct st_thread first = { ST_HEADER(ST_THREAD_START, sizeof first), 1, PID, 0, 0 },
			 second = { ST_HEADER(ST_THREAD_START, sizeof second), 2, PID + 1, 1, 0 },
			 gone = { ST_HEADER(ST_THREAD_EXIT, sizeof gone), 2, PID + 1, 0, 0 };
	struct st_exit end = { ST_HEADER(ST_EXIT, sizeof end), 0, 0 };
	process(&x, PID, 1, false, "/bin/p", 0);
	assert_int_equal(recorder_side(x.r, NULL, PID, (uint64_t *)&first, 0), 0);
	assert_int_equal(recorder_side(x.r, &main_thread, PID, (uint64_t *)&second, 50), 0);
	recorder_clock(x.r, &second_thread, 900);
	assert_int_equal(recorder_side(x.r, &second_thread, PID, (uint64_t *)&gone, 900), 0);
	assert_int_equal(recorder_side(x.r, NULL, PID, (uint64_t *)&end, 0), 0);
	stop(&x, f->path);
	next(&x, PERFDATA_COMM);
	struct perfdata_record r = next(&x, PERFDATA_FORK);
	assert_int_equal(r.tid, PID + 1);
	assert_int_equal(r.pid, PID);
	r = next(&x, PERFDATA_EXIT);
	assert_int_equal(r.tid, PID + 1);
	r = next(&x, PERFDATA_EXIT);
	assert_int_equal(r.tid, PID);
	assert_int_equal(r.time, 900);
	perfdata_close(x.file);
}

static void test_malformed_records_are_passed_over(void **state)
{
	struct fixture *f = *state;
	struct recording x = start(f->path);
	struct perfdata_record r;
	uint64_t words[64] = { 0 };
	struct st_map *m = (struct st_map *)words;
	for (unsigned kind = 0; kind < ST_KINDS; kind++) {
		words[0] = ST_HEADER(kind, kind == ST_EXIT ? 0 : 8);
		if (kind != ST_EXIT)
			assert_int_equal(recorder_side(x.r, NULL, PID, words, 0), 0);
	}
	m->header = ST_HEADER(ST_MAP, sizeof words);
	m->bytes = 0x1000;
	m->path_bytes = 0xffffffff;
	assert_int_equal(recorder_side(x.r, NULL, PID, words, 0), 0);
	m->path_bytes = 0;
	m->addr = UINT64_MAX - 10;
	assert_int_equal(recorder_side(x.r, NULL, PID, words, 0), 0);
	stop(&x, f->path);
	assert_int_equal(perfdata_next(x.file, &r), 0);
	perfdata_close(x.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		T(test_a_process_is_called_after_its_file), T(test_a_mapping_is_dated_back_to_the_slowest_thread),
		T(test_no_mapping_comes_before_the_exec_it_belongs_to),
		T(test_a_child_is_forked_once_whoever_reports_it_first),
		T(test_threads_start_and_end_and_the_process_ends_last), T(test_malformed_records_are_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
