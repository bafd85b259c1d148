/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu-exec: a traced process starts another program through this (Valgrind's "launcher").
 *
 * Called as  softpmu-exec --option... PROGRAM ARG...  with the tracer's own options.  It finds out what PROGRAM is,
 * through "#!" lines to the interpreter, and executes the tracer for its word size with the same arguments.  It
 * executes PROGRAM itself, untraced, if that cannot be traced: setuid or setgid, not x86, not readable, or no
 * tracer is installed; or with --untraced.  Then --lib=DIR and --launcher=FILE are PROGRAM's own VALGRIND_LIB and
 * VALGRIND_LAUNCHER: Valgrind's core has removed them from the environment, and PROGRAM is a Valgrind tool.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SCRIPTS 5	/* the kernel's own limit of interpreters that are scripts */

/* 8 or 4; 0: cannot be traced. */
static int word_bytes(const char *path)
{
	char head[PATH_MAX + 64], interpreter[PATH_MAX];

	for (int depth = 0; depth <= MAX_SCRIPTS; depth++) {
		struct stat st;
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return 0;
		ssize_t got = fstat(fd, &st) ? -1 : read(fd, head, sizeof head - 1);
		close(fd);
		if (got < 0 || !S_ISREG(st.st_mode) || (st.st_mode & (S_ISUID | S_ISGID)))
			return 0;
		if (got >= (ssize_t)sizeof(Elf32_Ehdr) && !memcmp(head, ELFMAG, SELFMAG)) {
			Elf32_Ehdr eh;	/* both classes agree up to e_machine */
			memcpy(&eh, head, sizeof eh);
			if (eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_machine == EM_X86_64)
				return 8;
			if (eh.e_ident[EI_CLASS] == ELFCLASS32 && eh.e_machine == EM_386)
				return 4;
			return 0;
		}
		head[got] = 0;
		if (got < 3 || head[0] != '#' || head[1] != '!')
			return 0;
		char *name = head + 2 + strspn(head + 2, " \t");
		size_t n = strcspn(name, " \t\r\n");
		if (!n || n >= sizeof interpreter)
			return 0;
		memcpy(interpreter, name, n);
		interpreter[n] = 0;
		path = interpreter;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char self[PATH_MAX], tracer[PATH_MAX + 64];
	char *argv0 = NULL, *lib = NULL, *launcher = NULL;
	bool untraced = false;
	int program = 1;

	for (; program < argc && argv[program][0] == '-'; program++) {
		if (!strncmp(argv[program], "--argv0=", 8))
			argv0 = argv[program] + 8;
		else if (!strncmp(argv[program], "--lib=", 6))
			lib = argv[program] + 6;
		else if (!strncmp(argv[program], "--launcher=", 11))
			launcher = argv[program] + 11;
		else if (!strcmp(argv[program], "--untraced"))
			untraced = true;
	}
	if (program == argc) {
		fprintf(stderr, "softpmu-exec: no program is named; the tracer starts this file, users do not\n");
		return 127;
	}
	ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
	int word = untraced ? 0 : word_bytes(argv[program]);
	if (got > 0 && word) {
		self[got] = 0;
		snprintf(tracer, sizeof tracer, "%.*s/softpmu-tracer-%s-linux", (int)(strrchr(self, '/') - self), self,
			 word == 8 ? "amd64" : "x86");
		if (!setenv("VALGRIND_LAUNCHER", self, 1)) {
			argv[0] = tracer;
			execv(tracer, argv);
		}
	}
	unsetenv("VALGRIND_LIB");
	unsetenv("VALGRIND_LAUNCHER");
	if (lib)
		setenv("VALGRIND_LIB", lib, 1);
	if (launcher)
		setenv("VALGRIND_LAUNCHER", launcher, 1);
	char *path = argv[program];
	if (argv0)
		argv[program] = argv0;
	execv(path, argv + program);
	fprintf(stderr, "softpmu-exec: %s: %s\n", path, strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
