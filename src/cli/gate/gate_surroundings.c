/* SPDX-License-Identifier: GPL-2.0-or-later
 * A benchmark's surroundings (gate_surroundings.h). */
#include "cli/gate/gate_surroundings.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool same_name(const char *a, const char *b)
{
	const size_t n = strcspn(a, "=");
	return !strncmp(a, b, n) && (b[n] == '=' || !b[n]);
}

/* Replaces the variable of this name, or appends it. */
static bool put(char **env, size_t *count, const char *variable)
{
	const char *value = strchr(variable, '=') ? "" : getenv(variable);
	char *text = NULL;
	size_t at = 0;
	if (!value)
		return true;	/* the caller has none */
	if (asprintf(&text, "%s%s%s", variable, strchr(variable, '=') ? "" : "=", value) < 0)
		return false;
	while (at < *count && !same_name(env[at], text))
		at++;
	if (at < *count)
		free(env[at]);
	else
		++*count;
	env[at] = text;
	return true;
}

char **gate_environment(const char *const *added, size_t count)
{
	static const char *const own[] = { "PATH", "HOME=/", "LC_ALL=C", "TZ=UTC", "PYTHONHASHSEED=0",
		"PERL_HASH_SEED=0" };
	const size_t owns = sizeof own / sizeof *own;
	char **env = calloc(owns + count + 1, sizeof *env);
	size_t n = 0;
	for (size_t i = 0; env && i < owns + count; i++)
		if (!put(env, &n, i < owns ? own[i] : added[i - owns])) {
			gate_environment_free(env);
			return NULL;
		}
	return env;
}

void gate_environment_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free(env);
}

int gate_surroundings_enter(struct gate_surroundings *s, struct err *err)
{
	*s = (struct gate_surroundings){ .saved = { -1, -1, -1 } };
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool good = null >= 0 && (s->errors = tmpfile());
	fflush(NULL);
	for (int fd = 0; fd < 3 && good; fd++)
		good = (s->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3)) >= 0 &&
		       dup2(fd == 2 ? fileno(s->errors) : null, fd) >= 0;
	const int rc = good ? 0 : err_system(err, "cannot set the benchmark's standard files");
	if (null >= 0)
		close(null);
	if (rc) {
		gate_surroundings_leave(s, false);
		return rc;
	}
	if (!getrlimit(RLIMIT_STACK, &s->stack)) {
		struct rlimit fixed = { 8 << 20, s->stack.rlim_max };
		s->limited = !setrlimit(RLIMIT_STACK, &fixed);	/* a lower hard limit stays */
	}
	return 0;
}

void gate_surroundings_leave(struct gate_surroundings *s, bool show)
{
	char part[4096];
	size_t n, shown = 0;
	fflush(stderr);
	for (int fd = 0; fd < 3; fd++)
		if (s->saved[fd] >= 0) {
			dup2(s->saved[fd], fd);
			close(s->saved[fd]);
		}
	if (s->limited)
		setrlimit(RLIMIT_STACK, &s->stack);
	if (!s->errors)
		return;
	rewind(s->errors);
	while (show && shown < 64 << 10 && (n = fread(part, 1, sizeof part, s->errors)) > 0)
		shown += fwrite(part, 1, n, stderr);
	fclose(s->errors);
}

const char *gate_processor(char *text)
{
	/* Valgrind passes these on; it hides AVX-512 and what is newer. */
	const struct { const char *name; int has; } set[] = {
		{ "sse4.2", __builtin_cpu_supports("sse4.2") }, { "avx", __builtin_cpu_supports("avx") },
		{ "avx2", __builtin_cpu_supports("avx2") }, { "bmi2", __builtin_cpu_supports("bmi2") },
		{ "fma", __builtin_cpu_supports("fma") },
	};
	*text = 0;
	for (size_t i = 0; i < sizeof set / sizeof *set; i++)
		if (set[i].has)
			snprintf(text + strlen(text), 128 - strlen(text), "%s%s", *text ? " " : "", set[i].name);
	return text;
}
