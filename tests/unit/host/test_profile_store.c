/* SPDX-License-Identifier: GPL-2.0-or-later
 * The profile store returns what was stored, even if other processes die or write meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "store/profile_store.h"
#include "store/program_key.h"
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], file[96];
static struct err err;

static int begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/softpmu-store.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof file, "%s/a/b/profiles.db", folder);
	return 0;
}

static int end(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

static struct profile_store *opened(bool create)
{
	struct profile_store *s = NULL;
	err.text[0] = 0;
	if (profile_store_open(&s, file, create, &err))
		print_message("%s\n", err.text);
	assert_string_equal(err.text, "");
	return s;
}

static const char *one_setting[] = { "prefetch.l2_streamer=off" }, *two_settings[] = { "l1d.size=1/2", "btb.size=1/4" };
static struct store_register one_register[] = { { 0x1a4, 1 } };
static struct store_phase two_phases[] = {
	{ .set = { two_settings, 2, NULL, 0 }, .before = { 10, 20, 0.5 }, .after = { 10, 15, -1 } },
	{ "prog", 0x1234, { one_setting, 1, one_register, 1 }, { 30, 40, -1 }, { 30, 35, 0 } },
};
static struct store_tried three_tried[] = { { "", { 40, 60, 1 } }, { "l1d.size=1/2", { 40, 61, -1 } },
	{ "btb.size=1/4 l1d.size=1/2", { 40, 50, 2.25 } } };
static const struct store_profile whole = {
	.program = "build-id:01", .path = "/bin/prog", .core = "golden-cove", .name = "small", .objective = "edp",
	.command = "prog 1", .date = "2026-11-21",
	.version = "0.1.0", .before = { 40, 60, 1 }, .after = { 40, 50, 2.25 }, .set = { one_setting, 1, one_register,
	1 }, .phase = two_phases, .phases = 2,
	.tried = three_tried, .tries = 3,
};

static void same_set(const struct store_set *a, const struct store_set *b)
{
	assert_int_equal(a->settings, b->settings);
	assert_int_equal(a->regs, b->regs);
	for (size_t i = 0; i < a->settings; i++)
		assert_string_equal(a->setting[i], b->setting[i]);
	for (size_t i = 0; i < a->regs; i++)
		assert_true(a->reg[i].msr == b->reg[i].msr && a->reg[i].value == b->reg[i].value);
}

static void same_figures(struct store_figures a, struct store_figures b)
{
	assert_int_equal(a.instructions, b.instructions);
	assert_int_equal(a.cycles, b.cycles);
	assert_true(a.energy == b.energy);
}

static void test_what_is_put_is_got(void **state)
{
	struct store_profile p;
	(void)state;
	struct profile_store *s = opened(true);
	assert_int_equal(profile_store_put(s, &whole, &err), 0);
	profile_store_close(s);
	s = opened(false);
	assert_int_equal(profile_store_get(s, "build-id:01", "golden-cove", NULL, &p, &err), 1);
	assert_string_equal(p.program, whole.program);
	assert_string_equal(p.path, whole.path);
	assert_string_equal(p.core, whole.core);
	assert_string_equal(p.name, whole.name);
	assert_string_equal(p.objective, whole.objective);
	assert_string_equal(p.command, whole.command);
	assert_string_equal(p.date, whole.date);
	assert_string_equal(p.version, whole.version);
	assert_true(p.active);
	same_figures(p.before, whole.before);
	same_figures(p.after, whole.after);
	same_set(&p.set, &whole.set);
	assert_int_equal(p.phases, 2);
	for (size_t i = 0; i < 2; i++) {
		same_set(&p.phase[i].set, &two_phases[i].set);
		same_figures(p.phase[i].before, two_phases[i].before);
		same_figures(p.phase[i].after, two_phases[i].after);
		assert_int_equal(p.phase[i].offset, two_phases[i].offset);
	}
	assert_null(p.phase[0].object);
	assert_string_equal(p.phase[1].object, "prog");
	assert_int_equal(p.tries, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(p.tried[i].settings, three_tried[i].settings);
		same_figures(p.tried[i].figures, three_tried[i].figures);
	}
	store_profile_free(&p);
	profile_store_close(s);
}

static void put_named(struct profile_store *s, const char *program, const char *core, const char *name, uint64_t cycles)
{
	struct store_profile p = whole;
	p.program = program, p.core = core, p.name = name, p.after.cycles = cycles;
	assert_int_equal(profile_store_put(s, &p, &err), 0);
}

/* Returns the cycles of the profile that the store finds; 0: it finds none. */
static uint64_t got(struct profile_store *s, const char *program, const char *core, const char *name)
{
	struct store_profile p;
	int found = profile_store_get(s, program, core, name, &p, &err);
	assert_true(found >= 0);
	uint64_t cycles = found ? p.after.cycles : 0;
	if (found)
		store_profile_free(&p);
	return cycles;
}

static void test_each_program_core_and_name_has_its_own(void **state)
{
	(void)state;
	struct profile_store *s = opened(true);
	put_named(s, "a", "skylake", "", 1);
	put_named(s, "b", "skylake", "", 2);
	put_named(s, "a", "zen4", "", 3);
	put_named(s, "a", "skylake", "small", 4);
	put_named(s, "a", "skylake", "", 5);	/* it replaced the first */
	assert_int_equal(got(s, "a", "skylake", ""), 5);
	assert_int_equal(got(s, "b", "skylake", ""), 2);
	assert_int_equal(got(s, "a", "zen4", ""), 3);
	assert_int_equal(got(s, "a", "skylake", "small"), 4);
	assert_int_equal(got(s, "a", "skylake", NULL), 5);
	assert_int_equal(got(s, "c", "skylake", NULL), 0);
	assert_int_equal(got(s, "a", "skylake", "large"), 0);
	profile_store_close(s);
}

static void test_one_of_a_programs_profiles_is_active_or_none(void **state)
{
	(void)state;
	struct profile_store *s = opened(true);
	put_named(s, "a", "skylake", "x", 1);
	put_named(s, "a", "skylake", "y", 2);
	put_named(s, "a", "zen4", "x", 3);
	assert_int_equal(got(s, "a", "skylake", NULL), 2);
	assert_int_equal(profile_store_activate(s, "a", "skylake", "x", &err), 1);
	assert_int_equal(got(s, "a", "skylake", NULL), 1);
	assert_int_equal(profile_store_activate(s, "a", "skylake", "z", &err), 0);
	assert_int_equal(got(s, "a", "skylake", NULL), 1);
	assert_int_equal(profile_store_activate(s, "a", "skylake", NULL, &err), 1);
	assert_int_equal(got(s, "a", "skylake", NULL), 0);
	assert_int_equal(got(s, "a", "skylake", "x"), 1);
	assert_int_equal(got(s, "a", "zen4", NULL), 3);
	profile_store_close(s);
}

static int number_of(void *context, const struct store_profile *p)
{
	assert_int_equal(p->phases, 2);
	assert_int_equal(p->tries, 3);
	assert_int_equal(p->set.settings, 1);
	assert_string_equal(p->set.setting[0], one_setting[0]);
	++*(int *)context;
	return 0;
}

static void test_what_is_forgotten_leaves_nothing_behind(void **state)
{
	int count = 0;
	sqlite3 *db;
	sqlite3_stmt *q;
	(void)state;
	struct profile_store *s = opened(true);
	put_named(s, "a", "skylake", "", 1);
	put_named(s, "a", "zen4", "", 2);
	put_named(s, "b", "zen4", "", 3);
	assert_int_equal(profile_store_list(s, NULL, NULL, NULL, number_of, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_int_equal(profile_store_forget(s, "a", NULL, NULL, &err), 2);
	assert_int_equal(got(s, "b", "zen4", NULL), 3);
	assert_int_equal(profile_store_forget(s, NULL, NULL, NULL, &err), 1);
	assert_int_equal(profile_store_forget(s, NULL, NULL, NULL, &err), 0);
	profile_store_close(s);
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
		"SELECT (SELECT count(*) FROM phase)+(SELECT count(*) FROM setting)+(SELECT count(*) FROM register)+"
		"(SELECT count(*) FROM tried)", -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(q, 0), 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
}

static void test_a_store_that_is_not_there_is_not_made_by_reading(void **state)
{
	struct stat st;
	(void)state;
	assert_null(opened(false));
	assert_int_equal(stat(file, &st), -1);
}

static void write_file(const char *path, const char *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, data, n) == (ssize_t)n);
	close(fd);
}

static void refused(const char *why)
{
	for (int create = 0; create < 2; create++) {
		struct profile_store *s = NULL;
		assert_true(profile_store_open(&s, file, create, &err) < 0);
		assert_null(s);
		assert_non_null(strstr(err.text, file));
		assert_non_null(strstr(err.text, why));
		assert_null(strchr(err.text, '\n'));
	}
}

static void test_a_foreign_file_is_refused_and_left_alone(void **state)
{
	char text[4096];
	sqlite3 *db;
	(void)state;
	profile_store_close(opened(true));
	memset(text, 'x', sizeof text);
	write_file(file, text, sizeof text);
	refused("not a profile store");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE profile (a)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	refused("not a profile store of softpmu");
	assert_int_equal(unlink(file), 0);
	profile_store_close(opened(true));
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version=99", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	refused("layout 99");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0700), 0);
	refused("is not a file");
}

static void test_an_empty_file_is_a_store_that_nobody_wrote_to(void **state)
{
	(void)state;
	profile_store_close(opened(true));
	write_file(file, "", 0);
	assert_null(opened(false));
	struct profile_store *s = opened(true);
	put_named(s, "a", "zen4", "", 2);
	assert_int_equal(got(s, "a", "zen4", NULL), 2);
	profile_store_close(s);
}

/* Damage anywhere gives either an error in one line or a profile with valid texts. */
static void test_damage_is_an_error_and_no_more(void **state)
{
	char *data = NULL;
	long size = 0;
	unsigned errors = 0;
	(void)state;
	struct profile_store *s = opened(true);
	for (int i = 0; i < 8; i++) {
		char name[8];
		snprintf(name, sizeof name, "%d", i);
		put_named(s, "a", "zen4", name, 1);
	}
	profile_store_close(s);
	FILE *f = fopen(file, "r");
	assert_true(f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) > 4096 && (data = malloc((size_t)size)));
	rewind(f);
	assert_int_equal(fread(data, 1, (size_t)size, f), (size_t)size);
	fclose(f);
	for (long at = 0; at < size; at += 97) {
		struct store_profile p;
		char before[32];
		size_t n = (size_t)(size - at < 32 ? size - at : 32);
		memcpy(before, data + at, n);
		for (size_t i = 0; i < n; i++)
			data[at + (long)i] ^= (char)(0x55 + i * 7);
		write_file(file, data, (size_t)size);
		memcpy(data + at, before, n);
		err.text[0] = 0;
		int found = profile_store_open(&s, file, false, &err);
		if (!found && s) {
			found = profile_store_get(s, "a", "zen4", NULL, &p, &err);
			if (found == 1) {
				for (size_t i = 0; i < p.set.settings; i++)
					assert_non_null(p.set.setting[i]);
				for (size_t i = 0; i < p.tries; i++)
					assert_non_null(p.tried[i].settings);
				store_profile_free(&p);
			}
			profile_store_close(s);
		}
		if (found < 0) {
			errors++;
			assert_true(err.text[0] && !strchr(err.text, '\n'));
		}
	}
	assert_true(errors > 0);
	free(data);
}

/* A profile of many configurations, all with the same `cycles`, so that a mixture of two profiles is detected. */
enum { MANY = 500 };
static void put_many(struct profile_store *s, const char *program, uint64_t cycles)
{
	static struct store_tried tried[MANY];
	struct store_profile p = whole;
	struct err why;
	for (size_t i = 0; i < MANY; i++)
		tried[i] = (struct store_tried){ "prefetch.l2_streamer=off l1d.size=1/2 btb.size=1/4",
			{ 1, cycles, -1 } };
	p.program = program, p.tried = tried, p.tries = MANY, p.after.cycles = cycles;
	if (profile_store_put(s, &p, &why)) {
		fprintf(stderr, "%s\n", why.text);
		_exit(1);
	}
}

/* Opens the store in a child, where a failed assertion would go on with the next tests. */
static struct profile_store *opened_by_child(void)
{
	struct profile_store *s = NULL;
	struct err why;
	if (profile_store_open(&s, file, true, &why)) {
		fprintf(stderr, "%s\n", why.text);
		_exit(2);
	}
	return s;
}

static uint64_t unmixed(struct profile_store *s, const char *program)
{
	struct store_profile p;
	if (profile_store_get(s, program, "golden-cove", "small", &p, &err) != 1)
		fail_msg("%s", err.text);
	uint64_t cycles = p.after.cycles;
	assert_int_equal(p.tries, MANY);
	assert_int_equal(p.phases, 2);
	for (size_t i = 0; i < p.tries; i++)
		assert_int_equal(p.tried[i].figures.cycles, cycles);
	store_profile_free(&p);
	return cycles;
}

/* The signal for files that grow too large (SIGXFSZ) kills a writer at a certain write, anywhere in its transaction.
 * The store then has the old profile or the new one. */
static void test_a_writer_that_dies_leaves_the_profile_before_or_the_one_behind(void **state)
{
	unsigned killed = 0;
	uint64_t cycles = 1;
	(void)state;
	struct profile_store *s = opened(true);
	put_many(s, "a", cycles);
	profile_store_close(s);
	for (unsigned kib = 1; kib < 100; kib += 3) {
		int status;
		pid_t child = fork();
		if (!child) {
			struct rlimit no_core = { 0, 0 }, limit = { kib * 1024, kib * 1024 };
			setrlimit(RLIMIT_CORE, &no_core);
			s = opened_by_child();
			setrlimit(RLIMIT_FSIZE, &limit);
			put_many(s, "a", cycles + 1);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;
		s = opened(false);
		uint64_t now = unmixed(s, "a");
		profile_store_close(s);
		assert_true(WIFEXITED(status) ? now == cycles + 1 : now == cycles || now == cycles + 1);
		cycles = now;
	}
	assert_true(killed > 0 && cycles > 1);	/* some died, some did not */
}

static void test_a_writer_that_is_killed_does_so_too(void **state)
{
	(void)state;
	struct profile_store *s = opened(true);
	put_many(s, "a", 1);
	profile_store_close(s);
	for (unsigned i = 0; i < 12; i++) {
		int status;
		pid_t child = fork();
		if (!child) {
			s = opened_by_child();
			for (uint64_t c = 2;; c++)
				put_many(s, "a", c);
		}
		usleep(5000 + i * 1700);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		s = opened(false);
		assert_true(unmixed(s, "a") >= 1);
		profile_store_close(s);
	}
}

static void test_writers_at_once_lose_nothing(void **state)
{
	enum { WRITERS = 8, EACH = 6 };
	pid_t child[WRITERS];
	(void)state;
	for (int i = 0; i < WRITERS; i++)	/* all of them may also create the store */
		if (!(child[i] = fork())) {
			struct profile_store *s = opened_by_child();
			for (int k = 0; k < EACH; k++) {
				char program[16];
				snprintf(program, sizeof program, "%d.%d", i, k);
				put_many(s, program, (uint64_t)(1 + i * EACH + k));
				put_many(s, "all", (uint64_t)(1 + i));
			}
			profile_store_close(s);
			_exit(0);
		}
	for (int i = 0; i < WRITERS; i++) {
		int status;
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	struct profile_store *s = opened(false);
	for (int i = 0; i < WRITERS; i++)
		for (int k = 0; k < EACH; k++) {
			char program[16];
			snprintf(program, sizeof program, "%d.%d", i, k);
			assert_int_equal(unmixed(s, program), 1 + i * EACH + k);
		}
	uint64_t last = unmixed(s, "all");
	assert_true(last >= 1 && last <= WRITERS);
	profile_store_close(s);
}

static void test_a_program_is_known_by_its_build_id_or_else_by_what_is_in_the_file(void **state)
{
	char key[PROGRAM_KEY_CHARS], again[PROGRAM_KEY_CHARS], one[128];
	(void)state;
	assert_int_equal(program_key("/proc/self/exe", key, &err), 0);
	assert_int_equal(strncmp(key, "build-id:", 9), 0);
	assert_false(program_key_hashed(key));
	snprintf(one, sizeof one, "%s/one", folder);
	write_file(one, "foobar", 6);
	assert_int_equal(program_key(one, key, &err), 0);
	assert_true(program_key_hashed(key));
	/* draft-eastlake-fnv, "Test Vectors": "foobar" */
	assert_string_equal(key, "fnv1a:343e1662793c64bf6f0d3597ba446f18");
	write_file(one, "foobas", 6);
	assert_int_equal(program_key(one, again, &err), 0);
	assert_string_not_equal(key, again);
	assert_true(program_key(folder, key, &err) < 0);
	snprintf(one, sizeof one, "%s/none", folder);
	assert_true(program_key(one, key, &err) < 0);
}

static void test_the_place_follows_the_environment(void **state)
{
	char path[256];
	(void)state;
	setenv("SOFTPMU_STORE", "/s", 1);
	setenv("XDG_DATA_HOME", "/x", 1);
	setenv("HOME", "/h", 1);
	assert_int_equal(profile_store_path(path, sizeof path, &err), 0);
	assert_string_equal(path, "/s/profiles.db");
	unsetenv("SOFTPMU_STORE");
	assert_int_equal(profile_store_path(path, sizeof path, &err), 0);
	assert_string_equal(path, "/x/softpmu/profiles.db");
	setenv("XDG_DATA_HOME", "relative", 1);
	assert_int_equal(profile_store_path(path, sizeof path, &err), 0);
	assert_string_equal(path, "/h/.local/share/softpmu/profiles.db");
	unsetenv("HOME");
	assert_true(profile_store_path(path, sizeof path, &err) < 0);
	assert_true(profile_store_path(path, 4, &err) < 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_what_is_put_is_got), T(test_each_program_core_and_name_has_its_own),
			T(test_one_of_a_programs_profiles_is_active_or_none),
		T(test_what_is_forgotten_leaves_nothing_behind),
		T(test_a_store_that_is_not_there_is_not_made_by_reading),
		T(test_a_foreign_file_is_refused_and_left_alone),
		T(test_an_empty_file_is_a_store_that_nobody_wrote_to), T(test_damage_is_an_error_and_no_more),
		T(test_a_writer_that_dies_leaves_the_profile_before_or_the_one_behind),
		T(test_a_writer_that_is_killed_does_so_too), T(test_writers_at_once_lose_nothing),
		T(test_a_program_is_known_by_its_build_id_or_else_by_what_is_in_the_file),
		T(test_the_place_follows_the_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
