/* SPDX-License-Identifier: GPL-2.0-or-later
 * Starts the tracer with the program, its arguments and its environment, and with nothing that differs between runs.
 *
 * A guest's stack addresses depend on its arguments and environment.  So the only variable of ours that it can see
 * (VALGRIND_LIB) is the same in each run, and the run directory's name has a fixed length.  Address-space randomisation
 * is switched off for the tracer where the system allows it (containers may not), because the 32-bit tracer
 * places the guest's stack below its own.  With stream_launch.env a variable of ours, SOFTPMU_PAD, fills whole pages
 * with what lies above the program's frames: then its stack begins at the same address whatever the lengths of its
 * name, arguments and environment are.  The program stays in our process group and session, with our standard files,
 * signal mask and ignored signals, so the terminal treats it as if it had been started alone.
 */
#include "stream/stream_internal.h"
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { OWN_ARGS = 16, OWN_ENV = 3, STACK_STEP = 4096 };

static const char *support_dir(void)
{
	static const char *const usual[] = {
		"/usr/libexec/valgrind", "/usr/lib/valgrind", "/usr/lib/x86_64-linux-gnu/valgrind",
		"/usr/local/libexec/valgrind", "/usr/local/lib/valgrind",
	};
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!access(usual[i], X_OK))
			return usual[i];
	return NULL;
}

static bool replaced(const char *variable)
{
	return !strncmp(variable, "VALGRIND_LAUNCHER=", 18) || !strncmp(variable, "VALGRIND_LIB=", 13);
}

/* Bytes of the auxiliary vector that the kernel gives to programs; it grew over time. */
static size_t auxv_bytes(void)
{
	char part[4096];
	size_t got = 0;
	FILE *f = fopen("/proc/self/auxv", "re");
	if (f) {
		got = fread(part, 1, sizeof part, f);
		fclose(f);
	}
	return got;
}

/* The variable that fills the top of the program's stack up to a multiple of STACK_STEP; the caller frees it.  There
 * lie, below each other: the texts of the environment (with ours and Valgrind's LD_PRELOAD, which names a file in
 * `support`), of the arguments and of the program's name, then the vectors with their addresses, and auxv.  Source:
 * coregrind/m_initimg/initimg-linux.c of Valgrind 3.19, setup_client_stack. */
static char *padding(const struct stream_launch *how, const char *support, unsigned word_bytes)
{
	static const char name[] = "SOFTPMU_PAD=";
	size_t bytes = auxv_bytes() * word_bytes / 8 + 2 * strlen(support) + strlen(how->argv[0]);
	for (char *const *a = how->argv; *a; a++)
		bytes += strlen(*a) + 1 + word_bytes;
	for (char *const *e = how->env; *e; e++)
		bytes += strlen(*e) + 1 + word_bytes;
	const size_t least = bytes + sizeof name, whole = (least + STACK_STEP - 1) / STACK_STEP * STACK_STEP;
	char *text = malloc(whole - bytes);
	if (!text)
		return NULL;
	memset(text, 'x', whole - bytes);
	memcpy(text, name, sizeof name - 1);
	text[whole - bytes - 1] = 0;
	return text;
}

int tracer_spawn(pid_t *pid, const struct stream_launch *how, const struct program *p, const char *run_dir,
		 struct err *err)
{
	char dir[PATH_MAX], ring_dir[PATH_MAX + 32], log_file[PATH_MAX + 32], launcher[PATH_MAX + 64],
		lib[PATH_MAX + 32];
	char tracer[PATH_MAX + 64];
	size_t args = 0, vars = 0, n = 0;
	struct stat st;
	const char *name = p->word_bytes == 8 ? "softpmu-tracer-amd64-linux" : "softpmu-tracer-x86-linux";
	if (!how->tracer_dir || !realpath(how->tracer_dir, dir))
		return err_set(err, ERR_TRACER, "%s: no such directory; it should hold the tracer %s",
			       how->tracer_dir ? how->tracer_dir : "(none)", name);
	snprintf(tracer, sizeof tracer, "%s/%s", dir, name);
	if (stat(tracer, &st) || !S_ISREG(st.st_mode))
		return err_set(err, ERR_TRACER, "%s: the tracer for %u-bit programs is not installed", tracer,
			       p->word_bytes * 8);
	if (access(tracer, X_OK))
		return err_set(err, ERR_TRACER, "%s: the tracer is not executable", tracer);
	const char *support = support_dir();
	if (!support)
		return err_set(err, ERR_TRACER,
			"Valgrind's support files (/usr/libexec/valgrind) are not installed; the tracer "
			"needs the package valgrind");
	snprintf(ring_dir, sizeof ring_dir, "--ring-dir=%s", run_dir);
	snprintf(log_file, sizeof log_file, "--log-file=%s/log.%%p", run_dir);
	snprintf(launcher, sizeof launcher, "VALGRIND_LAUNCHER=%s/softpmu-exec", dir);
	snprintf(lib, sizeof lib, "VALGRIND_LIB=%s", support);

	while (how->argv[args])
		args++;
	char *const *given = how->env ? how->env : environ;
	while (given && given[vars])
		vars++;
	const char **list = calloc(OWN_ARGS + args + 1 + vars + OWN_ENV + 1, sizeof *list);
	char *pad = how->env ? padding(how, support, p->word_bytes) : NULL;
	if (!list || (how->env && !pad)) {
		free(list);
		free(pad);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	list[n++] = tracer;
	list[n++] = "--command-line-only=yes";	/* ignore ~/.valgrindrc and VALGRIND_OPTS: they are for other tools */
	list[n++] = "--vgdb=no";
	list[n++] = "--max-threads=1025"; /* 1024 at once, as many as the model has cores; Valgrind's default is 500 */
	list[n++] = ring_dir;
	list[n++] = how->regs ? "--regs=yes" : "--regs=no";
	if (how->assists)
		list[n++] = "--assists=yes";
	list[n++] = how->follow ? "--trace-children=yes" : "--trace-children=no";
	list[n++] = "-q";
	list[n++] = log_file;
	for (size_t i = 0; i < args; i++)
		list[n++] = how->argv[i];
	const char **env = list + ++n;		/* behind the NULL that ends the arguments */
	for (size_t i = 0, e = 0; i <= vars; i++) {
		if (i < vars && !replaced(given[i])) {
			env[e++] = given[i];
		} else if (i == vars) {
			env[e++] = launcher;
			env[e++] = lib;
			env[e] = pad;	/* NULL: the end */
		}
	}
	int before = personality(0xffffffff);	/* of this thread only; the child inherits it */
	bool fixed = before >= 0 && personality((unsigned)before | ADDR_NO_RANDOMIZE) >= 0;
	int failed = posix_spawn(pid, tracer, NULL, NULL, (char **)(void *)list, (char **)(void *)env);
	if (fixed)
		personality((unsigned)before);
	free(list);
	free(pad);
	if (failed == E2BIG)
		return err_set(err, ERR_INPUT,
			"%s: the argument list is too long to run it under the tracer", how->argv[0]);
	if (failed) {
		errno = failed;
		return err_system(err, "%s: the tracer cannot be started", tracer);
	}
	return 0;
}
