/* SPDX-License-Identifier: GPL-2.0-or-later
 * What stream_launch refuses, each with one clear line, and which file it picks.
 */
#include "stream/stream_internal.h"
#include "stream_producer.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <cmocka.h>

static char dir[] = "/tmp/test-launch-XXXXXX";
static char name_buffer[8][256];

static const char *path_of(const char *name)
{
	static int turn;
	char *p = name_buffer[turn++ & 7];
	snprintf(p, sizeof *name_buffer, "%s/%s", dir, name);
	return p;
}

static const char *file(const char *name, const void *content, size_t bytes, mode_t mode)
{
	const char *p = path_of(name);
	int fd = open(p, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	assert_true(fd >= 0 && write(fd, content, bytes) == (ssize_t)bytes);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return p;
}

static Elf64_Ehdr elf(unsigned class, unsigned machine, unsigned type)
{
	Elf64_Ehdr h = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, class, ELFDATA2LSB, EV_CURRENT },
			 .e_type = type, .e_machine = machine };
	return h;
}

static void refused(const char *program, int code, const char *saying)
{
	struct stream *s = NULL;
	struct err err = { 0 };
	char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)"count", (char *)(uintptr_t)"1", NULL };
	struct stream_launch how = { .argv = argv, .tracer_dir = tracer_dir() };
	int r = stream_launch(&s, &how, &err);
	if (r != code || err.code != code || !strstr(err.text, saying) || strchr(err.text, '\n') || s)
		fail_msg("%s: %d \"%s\", wanted %d \"%s\"", program, r, err.text, code, saying);
}

static void test_a_name_that_is_nowhere(void **state)
{
	(void)state;
	refused("no-such-program-here", ERR_INPUT, "no-such-program-here: program not found in PATH");
	refused(path_of("nothing"), ERR_INPUT, "no such program");
	refused("", ERR_INPUT, "no program");
}

static void test_a_file_that_is_not_executable(void **state)
{
	(void)state;
	refused(file("plain", "#!/bin/sh\n", 10, 0600), ERR_INPUT, "not executable");
	char *old = strdup(getenv("PATH")), with[512];
	snprintf(with, sizeof with, "/nonexistent:%s:/also/not", dir);
	setenv("PATH", with, 1);
	refused("plain", ERR_INPUT, "/plain: not executable");
	setenv("PATH", old, 1);
	free(old);
}

static void test_a_directory(void **state)
{
	(void)state;
	refused("/usr", ERR_INPUT, "/usr: is a directory");
}

static void test_neither_elf_nor_script(void **state)
{
	(void)state;
	refused(file("text", "echo hello\n", 11, 0700), ERR_INPUT, "neither an ELF program nor a script");
	refused(file("empty", "", 0, 0700), ERR_INPUT, "is empty");
	refused(file("elf-head", ELFMAG, 4, 0700), ERR_INPUT, "cut short");
}

static void test_a_program_of_another_machine(void **state)
{
	(void)state;
	Elf64_Ehdr h = elf(ELFCLASS32, EM_ARM, ET_EXEC);
	refused(file("arm", &h, sizeof h, 0700), ERR_UNSUPPORTED, "32-bit ARM");
	h = elf(ELFCLASS64, EM_AARCH64, ET_DYN);
	refused(file("arm64", &h, sizeof h, 0700), ERR_UNSUPPORTED, "64-bit ARM");
	h = elf(ELFCLASS64, 9999, ET_DYN);
	refused(file("alien", &h, sizeof h, 0700), ERR_UNSUPPORTED, "ELF machine 9999");
	h = elf(ELFCLASS32, EM_X86_64, ET_DYN);
	refused(file("x32", &h, sizeof h, 0700), ERR_UNSUPPORTED, "x32");
	h = elf(ELFCLASS64, EM_X86_64, ET_REL);
	refused(file("object", &h, sizeof h, 0700), ERR_INPUT, "object file");
	h = elf(ELFCLASS64, EM_X86_64, ET_DYN);
	h.e_ident[EI_DATA] = ELFDATA2MSB;
	refused(file("big", &h, sizeof h, 0700), ERR_UNSUPPORTED, "big-endian");
}

static void test_setuid_and_setgid_programs(void **state)
{
	(void)state;
	refused(file("suid", "#!/bin/sh\n", 10, 04755), ERR_UNSUPPORTED, "is a setuid program");
	refused(file("sgid", "#!/bin/sh\n", 10, 02755), ERR_UNSUPPORTED, "is a setgid program");
}

static void test_a_missing_loader(void **state)
{
	(void)state;
	struct { Elf32_Ehdr h; Elf32_Phdr p; char loader[24]; } f = { .loader = "/lib/no-such-loader.so" };
	memcpy(f.h.e_ident, ELFMAG, 4);
	f.h.e_ident[EI_CLASS] = ELFCLASS32;
	f.h.e_ident[EI_DATA] = ELFDATA2LSB;
	f.h.e_type = ET_EXEC;
	f.h.e_machine = EM_386;
	f.h.e_phoff = sizeof f.h;
	f.h.e_phentsize = sizeof f.p;
	f.h.e_phnum = 1;
	f.p.p_type = PT_INTERP;
	f.p.p_offset = offsetof(__typeof__(f), loader);
	f.p.p_filesz = 23;
	refused(file("needs-loader", &f, sizeof f, 0700), ERR_INPUT, "needs the loader /lib/no-such-loader.so");
}

static void test_scripts_whose_interpreter_cannot_run(void **state)
{
	(void)state;
	char line[300];
	refused(file("s1", "#!/no/such/shell -x\n", 20, 0700), ERR_INPUT, "names /no/such/shell, which does not exist");
	refused(file("s2", "#! \n", 4, 0700), ERR_INPUT, "names no interpreter");
	snprintf(line, sizeof line, "#!%s\n", path_of("loop"));
	refused(file("loop", line, strlen(line), 0700), ERR_INPUT, "from script to script");
	snprintf(line, sizeof line, "#!%s\n", path_of("plain"));
	file("plain", "x", 1, 0600);
	refused(file("s3", line, strlen(line), 0700), ERR_INPUT, "cannot be executed");
}

static void test_a_script_has_the_word_size_of_its_interpreter(void **state)
{
	(void)state;
	struct program p;
	struct err err;
	char line[300];
	Elf32_Ehdr h = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_EXEC, .e_machine = EM_386 };
	snprintf(line, sizeof line, "#! %s -e\n", file("interp32", &h, sizeof h, 0700));
	const char *s = file("script32", line, strlen(line), 0700);
	snprintf(line, sizeof line, "#!%s\n", s);
	assert_int_equal(program_find(&p, file("outer", line, strlen(line), 0700), &err), 0);
	assert_int_equal(p.word_bytes, 4);
	assert_string_equal(p.path, path_of("outer"));
	assert_int_equal(program_find(&p, file("script64", "#!/bin/sh", 9, 0700), &err), 0);
	assert_int_equal(p.word_bytes, 8);
}

static void test_path_is_searched_in_order_and_past_what_cannot_run(void **state)
{
	(void)state;
	struct program p;
	struct err err;
	char *old = strdup(getenv("PATH")), with[600];
	mkdir(path_of("one"), 0700);
	mkdir(path_of("two"), 0700);
	mkdir(path_of("one/tool"), 0700);			/* a directory of that name is passed over */
	const char *want = file("two/tool", "#!/bin/sh\n", 10, 0700);
	snprintf(with, sizeof with, "%s:%s:/bin", path_of("one"), path_of("two"));
	setenv("PATH", with, 1);
	assert_int_equal(program_find(&p, "tool", &err), 0);
	assert_string_equal(p.path, want);
	unsetenv("PATH");
	assert_int_equal(program_find(&p, "sh", &err), 0);
	setenv("PATH", old, 1);
	free(old);
}

static void test_a_missing_tracer(void **state)
{
	(void)state;
	struct stream *s = NULL;
	struct err err;
	char *argv[] = { (char *)(uintptr_t)"true", NULL };
	struct stream_launch how = { .argv = argv, .tracer_dir = dir };
	assert_int_equal(stream_launch(&s, &how, &err), ERR_TRACER);
	assert_non_null(strstr(err.text,
		"softpmu-tracer-amd64-linux: the tracer for 64-bit programs is not installed"));
	how.tracer_dir = "/no/such/place";
	assert_int_equal(stream_launch(&s, &how, &err), ERR_TRACER);
	assert_non_null(strstr(err.text, "/no/such/place"));
}

static void test_an_unwritable_trace_is_refused_before_the_program_starts(void **state)
{
	(void)state;
	struct stream *s = NULL;
	struct err err;
	assert_int_equal(launch(&s, "count", "1", false, "/no/such/place/trace", &err), ERR_SYSTEM);
	assert_non_null(strstr(err.text, "/no/such/place/trace: cannot write the trace"));
	assert_null(s);
}

static void test_a_program_that_cannot_run_costs_no_old_trace(void **state)
{
	(void)state;
	struct stream *s;
	struct err err;
	struct stat st;
	const char *trace = file("old-trace", "precious", 8, 0600);
	char *argv[] = { (char *)(uintptr_t)"/no/such/program", NULL };
	struct stream_launch how = { .argv = argv, .tracer_dir = tracer_dir(), .save = trace };
	assert_int_equal(stream_launch(&s, &how, &err), ERR_INPUT);
	assert_int_equal(stat(trace, &st), 0);
	assert_int_equal(st.st_size, 8);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state)
{
	(void)state;
	char command[64];
	remove_tracer_dir();
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strncmp(argv[1], "--command-line-only", 19))
		act_as_tracer(argc, argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_that_is_nowhere),
		cmocka_unit_test(test_a_file_that_is_not_executable),
		cmocka_unit_test(test_a_directory),
		cmocka_unit_test(test_neither_elf_nor_script),
		cmocka_unit_test(test_a_program_of_another_machine),
		cmocka_unit_test(test_setuid_and_setgid_programs),
		cmocka_unit_test(test_a_missing_loader),
		cmocka_unit_test(test_scripts_whose_interpreter_cannot_run),
		cmocka_unit_test(test_a_script_has_the_word_size_of_its_interpreter),
		cmocka_unit_test(test_path_is_searched_in_order_and_past_what_cannot_run),
		cmocka_unit_test(test_a_missing_tracer),
		cmocka_unit_test(test_an_unwritable_trace_is_refused_before_the_program_starts),
		cmocka_unit_test(test_a_program_that_cannot_run_costs_no_old_trace),
	};
	return cmocka_run_group_tests(tests, begin, clean);
}
