/* SPDX-License-Identifier: GPL-2.0-or-later
 * src/native/native_machine.h, knobs.h, setting.h and start.h on a tree that stands in for /dev/cpu, /proc,
 * /sys and /run: what is found, what is set, and that it is put back whoever is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "native/knobs.h"
#include "native/native_machine.h"
#include "native/start.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[64];
enum { INTEL = 0x1a4 };
static const uint32_t AMD = 0xc0000108;
#define JOURNAL "/run/softpmu-native.journal"

static const char *at(const char *below)
{
	static char path[4][256];
	static unsigned turn;
	char *p = path[turn++ % 4];
	snprintf(p, sizeof path[0], "%s%s", root, below);
	return p;
}

static void put(const char *below, const char *text)
{
	FILE *f = fopen(at(below), "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char *get(const char *below)
{
	static char text[1024];
	FILE *f = fopen(at(below), "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	text[n] = 0;
	if (f)
		fclose(f);
	return text;
}

static void poke(unsigned cpu, uint32_t msr, uint64_t value)
{
	char below[32];
	snprintf(below, sizeof below, "/dev/cpu/%u/msr", cpu);
	int fd = open(at(below), O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0 && pwrite(fd, &value, 8, msr) == 8);
	close(fd);
}

static uint64_t peek(unsigned cpu, uint32_t msr)
{
	char below[32];
	uint64_t value = ~0ull;
	snprintf(below, sizeof below, "/dev/cpu/%u/msr", cpu);
	int fd = open(at(below), O_RDONLY);
	assert_true(fd >= 0 && pread(fd, &value, 8, msr) == 8);
	close(fd);
	return value;
}

static void cpuinfo(const char *vendor)
{
	char text[200];
	snprintf(text, sizeof text, "processor\t: 0\nvendor_id\t: %s\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: A "
		"B\n\nprocessor\t: 1\nmodel\t\t: 99\n", vendor);
	put("/proc/cpuinfo", text);
}

static int setup(void **state)
{
	(void)state;
	static const char *const dirs[] = { "/dev", "/dev/cpu", "/dev/cpu/0", "/dev/cpu/1", "/proc", "/proc/sys",
		"/proc/sys/vm", "/proc/sys/kernel",
		"/proc/sys/kernel/random", "/sys", "/sys/fs", "/sys/fs/resctrl", "/sys/fs/resctrl/info", "/sys/kernel",
		"/sys/kernel/mm",
		"/sys/kernel/mm/transparent_hugepage", "/sys/devices", "/sys/devices/system",
		"/sys/devices/system/node", "/run" };
	strcpy(root, "/tmp/native-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
		mkdir(at(dirs[i]), 0755);
	cpuinfo("GenuineIntel");
	put("/proc/sys/kernel/random/boot_id", "11111111-2222\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("/sys/devices/system/node/has_memory", "0\n");
	put("/sys/fs/resctrl/schemata", "    MB:0=100\n    L3:0=fff;1=fff\n");
	for (unsigned c = 0; c < 2; c++)
		poke(c, INTEL, 0x20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command);
}

static struct native_set set_of(const char *a, const char *b)
{
	struct native_set s = { .n = 0 };
	assert_int_equal(native_set_add(&s, a, NULL), 0);
	assert_int_equal(b ? native_set_add(&s, b, NULL) : 0, 0);
	return s;
}

static void test_settings_are_known_by_name_and_value(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "thp", "thp=", "thp=on", "nonsense=1", "cpu=-1", "cpu=1x", "cpu= 1",
		"nice=-21", "spec.store_bypass=o", "aslr=off=",
		"glibc.malloc.hugetlb=3", "glibc.malloc.top_pad=1:glibc.malloc.check=3", "prefetch.l2_streamer=half" };
	struct native_set s = { .n = 0 };
	struct err err;
	char text[NATIVE_TEXT];
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(native_set_add(&s, bad[i], &err), ERR_INPUT);
	assert_string_equal(native_set_text(&s, text), "none");
	s = set_of("cpu=1", "spec.store_bypass=on");
	assert_int_equal(native_set_add(&s, "cpu=0", &err), 0);		/* it already has a value */
	assert_string_equal(native_set_text(&s, text), "cpu=1 spec.store_bypass=on");
	assert_int_equal(s.at[1].number, 1);
	assert_false(native_set_machine(&s));
	s = set_of("cpu=1", "l3.ways=half");
	assert_true(native_set_machine(&s));
}

static void test_halves_of_masks(void **state)
{
	(void)state;
	char half[NATIVE_SCHEMA];
	assert_true(native_cache_half(half, "L3:0=fff;1=7f0", true));
	assert_string_equal(half, "L3:0=fc0;1=780");
	assert_true(native_cache_half(half, "L3:0=fff;1=7f0", false));
	assert_string_equal(half, "L3:0=3f;1=70");
	assert_false(native_cache_half(half, "L3:0=1", true));
	assert_false(native_cache_half(half, "L3:0=f0f", true));
	assert_false(native_cache_half(half, "MB:0=100", true));
	assert_false(native_cache_half(half, "L3:", true));
}

static const struct native_absent *absent(const struct native_knobs *k, const char *knob)
{
	for (unsigned i = 0; i < k->absents; i++)
		if (!strcmp(k->absent[i].knob, knob))
			return &k->absent[i];
	return NULL;
}

static bool offered(const struct native_knobs *k, const char *settings)
{
	char text[NATIVE_TEXT];
	for (unsigned i = 0; i < k->choices; i++)
		if (!strcmp(native_set_text(&k->choice[i].set, text), settings))
			return true;
	return false;
}

static void test_prefetchers_are_found_by_reading_the_register(void **state)
{
	(void)state;
	struct native_knobs k;
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_string_equal(k.processor, "GenuineIntel family 6 model 85");
	assert_true(offered(&k, "prefetch.l2_streamer=off") && offered(&k, "prefetch.l1d_ip=off"));
	assert_true(offered(&k, "prefetch.l2_streamer=off prefetch.l2_adjacent=off prefetch.l1d_next_line=off "
		"prefetch.l1d_ip=off"));
	for (unsigned c = 0; c < 2; c++)
		poke(c, INTEL, 0x21);	/* one is already off */
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_true(offered(&k, "prefetch.l2_streamer=on") && offered(&k, "prefetch.l2_adjacent=off"));
	poke(1, INTEL, 0x20);
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_non_null(strstr(absent(&k, "prefetch.*")->why, "register 1A4H differs between processors"));
	cpuinfo("AuthenticAMD");	/* the stand-in has no MSR C000_0108H */
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_non_null(strstr(absent(&k, "prefetch.*")->why, "register C0000108H of processor 0: nothing to read"));
	for (unsigned c = 0; c < 2; c++)
		poke(c, AMD, 0);
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_true(offered(&k, "prefetch.l2_up_down=off") && !offered(&k, "prefetch.l1d_ip=off"));
	cpuinfo("CentaurHauls");
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_non_null(strstr(absent(&k, "prefetch.*")->why, "CentaurHauls"));
	cpuinfo("GenuineIntel");
	unlink(at("/dev/cpu/0/msr"));
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_non_null(strstr(absent(&k, "prefetch.*")->why, "/dev/cpu/0/msr: No such file or directory"));
}

static void test_what_is_not_there_has_its_reason(void **state)
{
	(void)state;
	struct native_knobs k;
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_true(offered(&k, "l3.ways=half") && offered(&k, "thp=off"));
	assert_non_null(strstr(absent(&k, "numa")->why, "all in one node"));
	assert_null(strstr(absent(&k, "glibc.malloc.hugetlb=2")->why, "does not know"));
	mkdir(at("/sys/fs/resctrl/somebody"), 0755);
	put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
	assert_int_equal(native_knobs(&k, root, "/bin/true", NULL), 0);
	assert_non_null(strstr(absent(&k, "l3.ways")->why, "group somebody"));
	assert_non_null(strstr(absent(&k, "thp")->why, "enabled: never"));
	assert_non_null(absent(&k, "glibc.malloc.hugetlb=1"));
	rmdir(at("/sys/fs/resctrl/somebody"));
	put("/sys/fs/resctrl/schemata", "    L3:0=1\n");
	assert_int_equal(native_knobs(&k, root, at("/proc/cpuinfo"), NULL), 0);
	assert_non_null(strstr(absent(&k, "l3.ways")->why, "cannot be halved"));
	assert_non_null(strstr(absent(&k, "glibc.malloc.*")->why, "is not an ELF file"));
	unlink(at("/sys/fs/resctrl/schemata"));
	put("/proc/script", "#! /bin/sh -e\n");
	put("/proc/sys/kernel/randomize_va_space", "0\n");
	assert_int_equal(native_knobs(&k, root, at("/proc/script"), NULL), 0);
	assert_non_null(strstr(absent(&k, "l3.ways")->why, "schemata: No such file"));
	assert_true(offered(&k, "glibc.malloc.arena_max=1"));	/* a tunable of the shell's loader */
	assert_non_null(strstr(absent(&k, "aslr")->why, "not randomised"));
	struct err err;
	assert_int_equal(native_knobs(&k, root, at("/nothing"), &err), ERR_SYSTEM);
}

static void test_the_machine_is_set_and_put_back(void **state)
{
	(void)state;
	struct native_machine *m;
	struct native_set s = set_of("prefetch.l2_adjacent=off", "l3.ways=half");
	unsigned left = 7;
	char group[64];
	assert_int_equal(native_machine_open(&m, root, &left, NULL), 0);
	assert_int_equal(left, 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(native_machine_set(m, &s, NULL), 0);
		assert_int_equal(peek(0, INTEL), 0x22);
		assert_int_equal(peek(1, INTEL), 0x22);
		assert_string_equal(get("/sys/fs/resctrl/schemata"), "L3:0=3f;1=3f\n");
		snprintf(group, sizeof group, "/sys/fs/resctrl/softpmu.%d/schemata", (int)getpid());
		assert_string_equal(get(group), "L3:0=fc0;1=fc0\n");
		assert_non_null(strstr(native_machine_tasks(m), "/tasks"));
		poke(1, INTEL, 0x42 | 8);	/* another program changes it meanwhile */
		assert_int_equal(native_machine_reset(m, NULL), 0);
		assert_int_equal(peek(0, INTEL), 0x20);
		assert_int_equal(peek(1, INTEL), 0x48);
		poke(1, INTEL, 0x20);
		assert_string_equal(get("/sys/fs/resctrl/schemata"), "L3:0=fff;1=fff\n");
		assert_int_not_equal(access(at(group), F_OK), 0);
		assert_null(native_machine_tasks(m));
	}
	assert_int_equal(native_machine_close(m, NULL), 0);
	assert_string_equal(get(JOURNAL), "");
}

static void test_what_fails_halfway_leaves_nothing_changed(void **state)
{
	(void)state;
	struct native_machine *m;
	struct native_set s = set_of("prefetch.l2_adjacent=off", "l3.ways=half");
	struct err err;
	unlink(at("/sys/fs/resctrl/schemata"));
	assert_int_equal(native_machine_open(&m, root, NULL, NULL), 0);
	assert_int_equal(native_machine_set(m, &s, &err), ERR_SYSTEM);
	assert_int_equal(peek(0, INTEL), 0x20);
	/* A register ignores writes, as under some hypervisors: the first processor is put back. */
	unlink(at("/dev/cpu/1/msr"));
	assert_int_equal(symlink("/dev/zero", at("/dev/cpu/1/msr")), 0);
	s = set_of("prefetch.l2_adjacent=off", NULL);
	assert_int_equal(native_machine_set(m, &s, &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "register 1A4H of processor 1 does not keep"));
	assert_int_equal(peek(0, INTEL), 0x20);
	assert_int_equal(native_machine_close(m, NULL), 0);
}

static void test_only_one_changes_the_machine_at_a_time(void **state)
{
	(void)state;
	struct native_machine *m, *other;
	struct err err;
	assert_int_equal(native_machine_open(&m, root, NULL, NULL), 0);
	assert_int_equal(native_machine_open(&other, root, NULL, &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "another softpmu"));
	assert_int_equal(native_machine_close(m, NULL), 0);
	assert_int_equal(native_machine_open(&other, root, NULL, &err), 0);
	assert_int_equal(native_machine_close(other, NULL), 0);
}

/* Starts a process that changes the machine and waits to be killed. */
static pid_t changer(void)
{
	int ready[2];
	char c;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (!pid) {
		struct native_machine *m;
		struct native_set s = { .n = 0 };
		close(ready[0]);
		fcntl(ready[1], F_SETFD, FD_CLOEXEC);
		native_set_add(&s, "prefetch.l2_adjacent=off", NULL);
		native_set_add(&s, "l3.ways=half", NULL);
		if (native_machine_open(&m, root, NULL, NULL) || native_machine_set(m, &s, NULL) ||
			write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void test_the_guard_puts_back_what_a_killed_process_has_changed(void **state)
{
	(void)state;
	pid_t pid = changer();
	assert_int_equal(peek(1, INTEL), 0x22);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 600 && *get(JOURNAL); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	assert_string_equal(get(JOURNAL), "");
	assert_int_equal(peek(0, INTEL), 0x20);
	assert_int_equal(peek(1, INTEL), 0x20);
	assert_string_equal(get("/sys/fs/resctrl/schemata"), "L3:0=fff;1=fff\n");
}

static void test_the_next_start_puts_back_what_process_and_guard_left(void **state)
{
	(void)state;
	unsigned left = 0;
	for (unsigned c = 0; c < 2; c++)
		poke(c, INTEL, 0x25);
	mkdir(at("/sys/fs/resctrl/softpmu.77"), 0755);
	put("/sys/fs/resctrl/schemata", "L3:0=3f;1=3f\n");
	/* a journal that was not completely written */
	put(JOURNAL, "boot 11111111-2222\nmsr 0 1a4 1 0\nmsr 1 1a4 1 0\nmsr 1 1a4 4 4\ngroup softpmu.77\nschema "
		"L3:0=fff;1=fff\nmsr 0 1a4 20");
	assert_int_equal(native_machine_restore(root, &left, NULL), 0);
	assert_int_equal(left, 5);
	assert_int_equal(peek(0, INTEL), 0x24);
	assert_int_equal(peek(1, INTEL), 0x24);
	assert_string_equal(get("/sys/fs/resctrl/schemata"), "L3:0=fff;1=fff\n");
	assert_int_not_equal(access(at("/sys/fs/resctrl/softpmu.77"), F_OK), 0);
	assert_string_equal(get(JOURNAL), "");
	assert_int_equal(native_machine_restore(root, &left, NULL), 0);
	assert_int_equal(left, 0);
}

static void test_a_journal_of_another_boot_is_dropped(void **state)
{
	(void)state;
	unsigned left = 9;
	put(JOURNAL, "boot 99999999-2222\nmsr 0 1a4 20 0\n");
	assert_int_equal(native_machine_restore(root, &left, NULL), 0);
	assert_int_equal(left, 0);
	assert_int_equal(peek(0, INTEL), 0x20);
	assert_string_equal(get(JOURNAL), "");
}

static void test_a_journal_with_other_entries_does_nothing_of_them(void **state)
{
	(void)state;
	unsigned left = 9;
	struct err err;
	mkdir(at("/sys/fs/resctrl/softpmu.1x"), 0755);
	put(JOURNAL, "boot 11111111-2222\ngroup ../../../run\ngroup softpmu.1x\nwrite /etc/passwd x\nmsr 0 1a4 20 0 "
		"9\nmsr 0 1a4 1 1\n");
	assert_int_equal(native_machine_restore(root, &left, &err), ERR_INPUT);
	assert_non_null(strstr(err.text, "is not an entry"));
	assert_int_equal(left, 1);	/* the last valid one */
	assert_int_equal(peek(0, INTEL), 0x21);
	assert_int_equal(access(at("/sys/fs/resctrl/softpmu.1x"), F_OK), 0);
	assert_string_not_equal(get(JOURNAL), "");
}

static int run_shell(const struct native_set *set, const char *script, uint64_t layout)
{
	char *const argv[] = { "sh", "-c", (char *)script, NULL };
	struct native_start s = { .argv = argv, .set = set, .layout = layout };
	struct trial_times t = { -1, -1 };
	struct err err = { 0 };
	int status = -1;
	int rc = native_run(&s, &status, &t, &err);
	if (rc)
		print_message("%s\n", err.text);
	assert_int_equal(rc, 0);
	assert_true(t.wall > 0 && t.cpu >= 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static void test_a_program_starts_with_the_settings(void **state)
{
	(void)state;
	static const struct { const char *setting, *script; } each[] = {
		{ "glibc.malloc.arena_max=1", "[ \"$GLIBC_TUNABLES\" = glibc.malloc.arena_max=1 ]" },
		{ "aslr=off", "[ $((0x$(cat /proc/self/personality) & 0x40000)) != 0 ]" },
		{ "sched=batch", "[ $(cut -d' ' -f41 /proc/self/stat) = 3 ]" },
		{ "thp=off", "! grep -q 'THP_enabled:.1' /proc/self/status" },
		{ "nice=7", "[ $(nice) = 7 ]" },
	};
	unsetenv("GLIBC_TUNABLES");
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		struct native_set s = set_of(each[i].setting, NULL);
		struct err err = { 0 };
		if (native_try(&s.at[0], &err))
			print_message("%s: %s\n", each[i].setting, err.text);
		else if (strcmp(each[i].setting, "nice=7") || run_shell(NULL, "[ $(nice) = 0 ]", 0) == 0)
			assert_int_equal(run_shell(&s, each[i].script, 5), 0);
	}
	setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=0", 1);
	struct native_set s = set_of("glibc.malloc.arena_max=1", "glibc.malloc.tcache_count=0");
	assert_int_equal(run_shell(&s,
		"[ \"$GLIBC_TUNABLES\" = glibc.malloc.perturb=0:glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0 ]",
		5), 0);
	assert_int_equal(run_shell(NULL, "[ \"$GLIBC_TUNABLES\" = glibc.malloc.perturb=0 ]", 5), 0);
	unsetenv("GLIBC_TUNABLES");
}

/* The stack begins at the same place with settings and without: its place depends on the environment's size. */
static void test_both_sides_have_environments_of_one_size(void **state)
{
	(void)state;
	const char *size = "exit $(($(wc -c </proc/$$/environ) % 251))",
		*words = "exit $(tr -cd '\\0' </proc/$$/environ | wc -c)";
	struct native_set s = set_of("glibc.malloc.top_pad=1234567", NULL);
	/* words are compared only if GLIBC_TUNABLES was not set: the loader of Debian 12 writes a 0 for each ':' */
	for (int had = 0; had < 2; had++) {
		if (had)
			setenv("GLIBC_TUNABLES", "glibc.malloc.check=0", 1);
		assert_int_equal(run_shell(&s, size, 1), run_shell(NULL, size, 1));
		if (!had)
			assert_int_equal(run_shell(&s, words, 1), run_shell(NULL, words, 1));
		assert_int_not_equal(run_shell(NULL, size, 2), run_shell(NULL, size, 1));
	}
	unsetenv("GLIBC_TUNABLES");
}

static void test_what_the_system_refuses_is_named(void **state)
{
	(void)state;
	char *const argv[] = { "true", NULL }, *const none[] = { "/no/such/program", NULL };
	struct native_set s = set_of("cpu=8191", NULL);
	struct native_start start = { .argv = argv, .set = &s };
	struct trial_times t;
	struct err err;
	int status;
	assert_int_equal(native_try(&s.at[0], &err), ERR_UNSUPPORTED);
	assert_int_equal(native_run(&start, &status, &t, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "cpu=8191: Invalid argument"));
	start = (struct native_start){ .argv = none };
	assert_int_equal(native_run(&start, &status, &t, &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "cannot execute /no/such/program"));
	start = (struct native_start){ .argv = argv, .input = "/no/such/input" };
	assert_int_equal(native_run(&start, &status, &t, &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "/no/such/input"));
}

#define TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings_are_known_by_name_and_value), cmocka_unit_test(test_halves_of_masks),
		TREE(test_prefetchers_are_found_by_reading_the_register), TREE(test_what_is_not_there_has_its_reason),
		TREE(test_the_machine_is_set_and_put_back),
		TREE(test_what_fails_halfway_leaves_nothing_changed), TREE(test_only_one_changes_the_machine_at_a_time),
		TREE(test_the_guard_puts_back_what_a_killed_process_has_changed),
		TREE(test_the_next_start_puts_back_what_process_and_guard_left),
		TREE(test_a_journal_of_another_boot_is_dropped),
		TREE(test_a_journal_with_other_entries_does_nothing_of_them),
		cmocka_unit_test(test_a_program_starts_with_the_settings),
		cmocka_unit_test(test_both_sides_have_environments_of_one_size),
		cmocka_unit_test(test_what_the_system_refuses_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
