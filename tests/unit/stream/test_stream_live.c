/* SPDX-License-Identifier: GPL-2.0-or-later
 * The live source with a producer that writes correct rings (stream_producer.h), and with bad ones.
 */
#include "stream/stream_internal.h"
#include "stream_producer.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

static struct seen read_all(const char *what, const char *n, bool follow, int want, struct err *err, int *status)
{
	struct stream *s;
	struct seen v = { 0 };
	err->text[0] = 0;
	if (launch(&s, what, n, follow, NULL, err)) {
		fail_msg("launch: %s", err->text);
		return v;
	}
	int r = drain(s, &v, err);
	if (v.wrong)
		fail_msg("wrong %s", v.wrong);
	if (r != want)
		fail_msg("%s: got %d, wanted %d (%s)", what, r, want, err->text);
	if (status)
		*status = stream_wait_status(s);
	if (r < 0) {				/* an error is returned once, then the end */
		struct seen rest = { 0 };
		stream_kill(s, SIGKILL);
		assert_int_equal(drain(s, &rest, NULL), STREAM_END);
	}
	stream_close(s);
	return v;
}

/* Finds the run directory that this process has open; false: none. Other processes may have theirs. */
static bool run_dir(char path[256])
{
	bool found = false;
	DIR *d = opendir("/proc/self/fd");
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, path, 255);
		path[n > 0 ? n : 0] = 0;
		char *name = strstr(path, "/softpmu-");
		found = name && !strchr(name + 1, '/') && !access(path, F_OK);
	}
	if (d)
		closedir(d);
	return found;
}

static void test_every_record_arrives_in_order_through_many_wraps(void **state)
{
	(void)state;
	struct err err;
	int status;
	struct seen v = read_all("count", "300000", false, STREAM_END, &err, &status);	/* 50 MB: 25 times round */
	assert_int_equal(v.records[0], 300000);
	assert_int_equal(v.processes, 1);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void test_every_request_gets_its_answer(void **state)
{
	(void)state;
	struct err err;
	struct stream *s;
	struct stream_span span;
	uint32_t asked = 0;
	int r;
	assert_int_equal(launch(&s, "ask", "300", false, NULL, &err), 0);
	while ((r = stream_next(s, &span, &err)) > 0) {
		if (r != STREAM_SPAN)
			continue;
		struct st_answer a = { .number = ++asked, .status = -5, .value = { (uint64_t)asked * asked, 0, 0,
			~(uint64_t)asked } };
		stream_answer(s, span.process + 1, &a);		/* no process has that index: nothing happens */
		stream_answer(s, span.process, &a);
	}
	assert_int_equal(r, STREAM_END);
	assert_int_equal(asked, 300);
	assert_true(WIFEXITED(stream_wait_status(s)));
	assert_int_equal(WEXITSTATUS(stream_wait_status(s)), 0);
	stream_close(s);
}

static void test_a_process_keeps_its_index_over_exec(void **state)
{
	(void)state;
	struct err err;
	int status;
	struct seen v = read_all("exec", "20000", true, STREAM_END, &err, &status);
	assert_int_equal(v.processes, 1);
	assert_int_equal(v.records[0], 40000);		/* walk() checked that they came in order */
	assert_int_equal(WEXITSTATUS(status), 5);
}

static void test_an_exec_and_death_between_two_looks_is_no_new_process(void **state)
{
	(void)state;
	struct err err;
	struct stream *s;
	struct seen v = { 0 };
	assert_int_equal(launch(&s, "exec", "100", true, NULL, &err), 0);
	siginfo_t ended;
	/* both images have come and gone */
	assert_int_equal(waitid(P_PID, (id_t)stream_pid(s), &ended, WEXITED | WNOWAIT), 0);
	int r = drain(s, &v, &err);
	if (r != STREAM_END)
		fail_msg("%d %s", r, err.text);
	assert_int_equal(v.processes, 1);
	assert_int_equal(v.records[0], 200);
	stream_close(s);
}

static void test_two_processes_are_read_side_by_side(void **state)
{
	(void)state;
	struct err err;
	struct seen v = read_all("fork", "50000", true, STREAM_END, &err, NULL);
	assert_int_equal(v.processes, 2);
	assert_int_equal(v.records[0], 50000);
	assert_int_equal(v.records[1], 50000);
	assert_int_not_equal(v.pid[0], v.pid[1]);
}

static void test_a_followed_process_that_outlives_the_program_is_read_to_its_end(void **state)
{
	(void)state;
	struct err err;
	struct seen v = read_all("orphan", "1000", true, STREAM_END, &err, NULL);
	assert_int_equal(v.records[0], 1000);
	assert_int_equal(v.records[1], 1000);
}

static void test_a_killed_tracer_is_an_error_after_all_that_it_published(void **state)
{
	(void)state;
	struct err err;
	int status;
	struct seen v = read_all("kill", "60000", false, ERR_TRACER, &err, &status);
	assert_int_equal(v.records[0], 60000);
	assert_non_null(strstr(err.text, "SIGKILL"));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_a_killed_followed_process_ends_by_its_signal_and_the_others_go_on(void **state)
{
	(void)state;
	struct err err;
	struct stream *s;
	struct seen v = { 0 };
	assert_int_equal(launch(&s, "forkkill", "30000", true, NULL, &err), 0);
	assert_int_equal(drain(s, &v, &err), STREAM_END);
	assert_null(v.wrong);
	assert_int_equal(v.records[0], 30000);
	assert_int_equal(v.records[1], 30000);
	assert_int_equal(v.killed[v.pid[0] == (uint32_t)stream_pid(s)], true);
	assert_int_equal(v.killed[v.pid[0] != (uint32_t)stream_pid(s)], false);
	stream_close(s);
}

static void test_a_program_that_dies_by_a_signal_is_no_error(void **state)
{
	(void)state;
	struct err err;
	int status;
	struct seen v = read_all("segv", "100", false, STREAM_END, &err, &status);
	assert_int_equal(v.records[0], 100);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void test_a_tracer_that_cannot_start_is_an_error_with_its_own_words(void **state)
{
	(void)state;
	struct err err;
	read_all("silent", "0", false, ERR_TRACER, &err, NULL);
	assert_non_null(strstr(err.text, "exit status 1"));
	assert_non_null(strstr(err.text, "valgrind: the sky is falling"));
	assert_null(strchr(err.text, '\n'));
}

static void test_corrupt_positions_are_errors(void **state)
{
	(void)state;
	static const char *const kinds[] = { "ahead", "back", "odd" };
	for (size_t i = 0; i < 3; i++) {
		struct err err;
		read_all(kinds[i], "100", false, ERR_TRACER, &err, NULL);
		assert_non_null(strstr(err.text, "corrupt"));
	}
}

static void test_a_ring_file_that_is_too_short_is_an_error_not_a_crash(void **state)
{
	(void)state;
	struct err err;
	read_all("short", "0", false, ERR_TRACER, &err, NULL);
	assert_non_null(strstr(err.text, "too short"));
}

static void test_a_tracer_of_another_version_is_refused(void **state)
{
	(void)state;
	struct err err;
	read_all("version", "0", false, ERR_TRACER, &err, NULL);
	assert_non_null(strstr(err.text, "version 77"));
}

static void test_a_corrupt_announce_is_an_error(void **state)
{
	(void)state;
	struct err err;
	read_all("pipe", "0", false, ERR_TRACER, &err, NULL);
}

static void test_nothing_for_100_ms_is_idle_then_reading_goes_on(void **state)
{
	(void)state;
	struct err err;
	struct stream *s;
	struct stream_span span;
	struct seen v = { 0 };
	struct timespec before, after;
	assert_int_equal(launch(&s, "gate", "0", false, NULL, &err), 0);
	while (stream_next(s, &span, &err) == STREAM_IDLE)
		;
	walk(&v, &span);
	assert_int_equal(v.records[0], 1);
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(stream_next(s, &span, &err), STREAM_IDLE);
	clock_gettime(CLOCK_MONOTONIC, &after);
	/* its clock has milliseconds */
	assert_true((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 99);
	stream_answer(s, span.process, &(struct st_answer){ .number = 1 });
	assert_int_equal(drain(s, &v, &err), STREAM_END);
	assert_null(v.wrong);
	assert_int_equal(v.records[0], 2);
	stream_close(s);
}

static void test_after_detach_the_program_runs_on_to_its_end(void **state)
{
	(void)state;
	struct err err;
	struct stream *s;
	struct stream_span span;
	int r;
	assert_int_equal(launch(&s, "endless", "0", false, NULL, &err), 0);
	do
		r = stream_next(s, &span, &err);
	while (r == STREAM_IDLE);
	assert_int_equal(r, STREAM_SPAN);
	sleep_ms(50);			/* by now the ring is full and the producer waits */
	stream_detach(s);
	for (int i = 0; (r = stream_next(s, &span, &err)) == STREAM_IDLE && i < 10 * PATIENCE_S; i++)
		;
	assert_int_equal(r, STREAM_END);
	assert_int_equal(WEXITSTATUS(stream_wait_status(s)), 3);
	stream_close(s);
}

static void test_close_kills_what_runs_and_leaves_no_directory(void **state)
{
	(void)state;
	struct err err;
	struct stream *s;
	struct stream_span span;
	char path[256];
	assert_false(run_dir(path));
	assert_int_equal(launch(&s, "endless", "0", false, NULL, &err), 0);
	while (stream_next(s, &span, &err) == STREAM_IDLE)
		;
	int pid = stream_pid(s);
	assert_int_equal(kill(pid, 0), 0);
	assert_true(run_dir(path));
	stream_close(s);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_kill_sends_the_signal_to_the_program(void **state)
{
	(void)state;
	struct err err;
	struct stream *s;
	struct seen v = { 0 };
	assert_int_equal(launch(&s, "gate", "0", false, NULL, &err), 0);
	stream_kill(s, SIGTERM);
	assert_int_equal(drain(s, &v, &err), ERR_TRACER);	/* this stand-in has no handler: it dies at once */
	assert_non_null(strstr(err.text, "SIGTERM"));
	stream_close(s);
}

static char *arguments(void)
{
	struct err err;
	struct stream *s;
	struct stream_span span;
	int r;
	assert_int_equal(launch(&s, "args", "a b", false, NULL, &err), 0);
	while ((r = stream_next(s, &span, &err)) == STREAM_IDLE)
		;
	assert_int_equal(r, STREAM_SPAN);
	char *text = strdup((const char *)span.words + sizeof(struct st_note));
	stream_close(s);
	return text;
}

static void test_the_tracer_gets_its_arguments_and_the_program_its_own(void **state)
{
	(void)state;
	char *t = arguments();
	char group[32];
	snprintf(group, sizeof group, "PGRP=%d\n", (int)getpgrp());
	assert_non_null(strstr(t, "\n--ring-dir=/"));
	assert_non_null(strstr(t, "\n--regs=yes\n--trace-children=no\n-q\n--log-file=/"));
	assert_non_null(strstr(t, "/log.%p\ntrue\nargs\na b\n"));
	assert_non_null(strstr(t, "/softpmu-exec\n"));
	assert_non_null(strstr(t, "LIB=/"));
	assert_non_null(strstr(t, group));		/* Ctrl-C on the terminal reaches it */
	free(t);
}

static void test_argument_lengths_do_not_differ_from_run_to_run(void **state)
{
	(void)state;
	char *a = arguments(), *b = arguments();
	assert_int_equal(strlen(a), strlen(b));
	assert_string_not_equal(a, b);		/* the directories did differ */
	free(a);
	free(b);
}

static void test_directories_of_dead_runs_are_swept_and_living_ones_kept(void **state)
{
	(void)state;
	char base[] = "/tmp/test-sweep-XXXXXX", name[128];
	struct err err;
	struct rundir living;
	assert_non_null(mkdtemp(base));
	snprintf(name, sizeof name, "%s/softpmu-abcdef", base);	/* its owner died: no process holds the lock file */
	assert_int_equal(mkdir(name, 0700), 0);
	snprintf(name, sizeof name, "%s/softpmu-abcdef/lock", base);
	close(open(name, O_CREAT | O_WRONLY, 0600));
	snprintf(name, sizeof name, "%s/softpmu-abcdef/ring.1.0", base);
	close(open(name, O_CREAT | O_WRONLY, 0600));
	/* not one of ours: its name has another length */
	snprintf(name, sizeof name, "%s/softpmu-other", base);
	assert_int_equal(mkdir(name, 0700), 0);
	assert_int_equal(rundir_sweep(base, 60), 0);		/* too young: it may be about to be locked */
	assert_int_equal(rundir_sweep(base, 0), 1);
	assert_int_equal(rmdir(name), 0);
	assert_int_equal(rmdir(base), 0);
	/* A living one, in a directory of its own: one that another run is just making would look like a dead one. */
	char own[PATH_MAX], moved[PATH_MAX + 16];
	assert_int_equal(rundir_create(&living, &err), 0);
	char *last = strrchr(living.path, '/');
	snprintf(own, sizeof own, "%.*s/test-sweep-XXXXXX", (int)(last - living.path), living.path);
	assert_non_null(mkdtemp(own));
	snprintf(moved, sizeof moved, "%s%s", own, last);
	assert_int_equal(rename(living.path, moved), 0);
	assert_int_equal(rundir_sweep(own, 0), 0);
	assert_int_equal(rename(moved, living.path), 0);
	assert_int_equal(rmdir(own), 0);
	rundir_remove(&living);
}

static void test_the_run_directory_is_private(void **state)
{
	(void)state;
	struct err err;
	struct rundir d;
	struct stat st;
	assert_int_equal(rundir_create(&d, &err), 0);
	assert_int_equal(stat(d.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	rundir_remove(&d);
	assert_int_equal(stat(d.path[0] ? d.path : "/nonexistent", &st), -1);
}

static void test_the_log_is_bounded_and_newest_last(void **state)
{
	(void)state;
	struct err err;
	struct rundir d;
	char name[PATH_MAX + 16], text[101];
	assert_int_equal(rundir_create(&d, &err), 0);
	for (int i = 1; i <= 2; i++) {
		snprintf(name, sizeof name, "%s/log.%d", d.path, i);
		FILE *f = fopen(name, "w");
		for (int k = 0; k < 1000; k++)
			fputc('0' + i, f);
		fclose(f);
		if (i == 2)
			assert_int_equal(truncate(name, 30), 0);
		assert_int_equal(utimensat(AT_FDCWD, name, (struct timespec[]){ { .tv_sec = i }, { .tv_sec = i } }, 0),
			0);
	}
	rundir_read_log(&d, text, sizeof text);
	assert_int_equal(strlen(text), 100);
	assert_int_equal(strspn(text, "1"), 70);
	assert_int_equal(strspn(text + 70, "2"), 30);
	rundir_remove(&d);
}

static int clean(void **state)
{
	(void)state;
	remove_tracer_dir();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strncmp(argv[1], "--command-line-only", 19))
		act_as_tracer(argc, argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_record_arrives_in_order_through_many_wraps),
		cmocka_unit_test(test_every_request_gets_its_answer),
		cmocka_unit_test(test_a_process_keeps_its_index_over_exec),
		cmocka_unit_test(test_an_exec_and_death_between_two_looks_is_no_new_process),
		cmocka_unit_test(test_two_processes_are_read_side_by_side),
		cmocka_unit_test(test_a_followed_process_that_outlives_the_program_is_read_to_its_end),
		cmocka_unit_test(test_a_killed_tracer_is_an_error_after_all_that_it_published),
		cmocka_unit_test(test_a_killed_followed_process_ends_by_its_signal_and_the_others_go_on),
		cmocka_unit_test(test_a_program_that_dies_by_a_signal_is_no_error),
		cmocka_unit_test(test_a_tracer_that_cannot_start_is_an_error_with_its_own_words),
		cmocka_unit_test(test_corrupt_positions_are_errors),
		cmocka_unit_test(test_a_ring_file_that_is_too_short_is_an_error_not_a_crash),
		cmocka_unit_test(test_a_tracer_of_another_version_is_refused),
		cmocka_unit_test(test_a_corrupt_announce_is_an_error),
		cmocka_unit_test(test_nothing_for_100_ms_is_idle_then_reading_goes_on),
		cmocka_unit_test(test_after_detach_the_program_runs_on_to_its_end),
		cmocka_unit_test(test_close_kills_what_runs_and_leaves_no_directory),
		cmocka_unit_test(test_kill_sends_the_signal_to_the_program),
		cmocka_unit_test(test_the_tracer_gets_its_arguments_and_the_program_its_own),
		cmocka_unit_test(test_argument_lengths_do_not_differ_from_run_to_run),
		cmocka_unit_test(test_directories_of_dead_runs_are_swept_and_living_ones_kept),
		cmocka_unit_test(test_the_run_directory_is_private),
		cmocka_unit_test(test_the_log_is_bounded_and_newest_last),
	};
	return cmocka_run_group_tests(tests, NULL, clean);
}
