/* SPDX-License-Identifier: GPL-2.0-or-later
 * Applies settings of a process between fork and exec.
 */
#include "native/start.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* LAYOUTS: number of different environment sizes, in bytes; PADDING: room for what settings add */
enum { LAYOUTS = 4096, PADDING = 2 * NATIVE_TEXT };
static const char tunables[] = "GLIBC_TUNABLES=", pad[] = "SOFTPMU_PAD=", more[] = "SOFTPMU_PAD2=";

static int set_cpu(long number)
{
	cpu_set_t *cpus = CPU_ALLOC((size_t)number + 1);
	size_t bytes = CPU_ALLOC_SIZE((size_t)number + 1);
	if (!cpus)
		return -1;
	CPU_ZERO_S(bytes, cpus);
	CPU_SET_S((size_t)number, bytes, cpus);
	int rc = sched_setaffinity(0, bytes, cpus);
	CPU_FREE(cpus);
	return rc;
}

static int set_speculation(const struct native_setting *s)
{
	unsigned long which = PR_SPEC_L1D_FLUSH;
	if (!strcmp(s->knob, "spec.store_bypass"))
		which = PR_SPEC_STORE_BYPASS;
	else if (!strcmp(s->knob, "spec.indirect_branch"))
		which = PR_SPEC_INDIRECT_BRANCH;
	return prctl(PR_SET_SPECULATION_CTRL, which, s->number ? PR_SPEC_ENABLE : PR_SPEC_DISABLE, 0, 0);
}

/* Interleaves over all nodes that this process may use. */
static int set_interleave(void)
{
	unsigned long nodes[16] = { 0 };
	if (syscall(SYS_get_mempolicy, NULL, nodes, sizeof nodes * 8, NULL, MPOL_F_MEMS_ALLOWED))
		return -1;
	return (int)syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, nodes, sizeof nodes * 8);
}

/* Applies one setting.  0, or -1 and errno. */
static int carry_out(const struct native_setting *s)
{
	const struct sched_param none = { 0 };
	int persona;
	switch (s->kind) {
	case NATIVE_THP:
		return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	case NATIVE_SPEC:
		return set_speculation(s);
	case NATIVE_ASLR:
		persona = personality(0xffffffff);
		return persona < 0 || personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0 ? -1 : 0;
	case NATIVE_CPU:
		return set_cpu(s->number);
	case NATIVE_SCHED:
		return sched_setscheduler(0, SCHED_BATCH, &none);
	case NATIVE_NICE:
		return setpriority(PRIO_PROCESS, 0, (int)s->number);
	case NATIVE_NUMA:
		return set_interleave();
	case NATIVE_TUNABLE:
	case NATIVE_MSR:
	case NATIVE_CACHE:
		break;
	}
	return 0;
}

static int join(const char *tasks)
{
	int fd = open(tasks, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = dprintf(fd, "%d\n", (int)getpid()) < 0 ? -1 : 0;
	close(fd);
	return rc;
}

/* Makes a variable of this name (which ends in '=') with this many bytes in all, its NUL included. */
static char *padding(const char *name, size_t bytes)
{
	char *text = bytes > strlen(name) ? malloc(bytes) : NULL;
	if (text) {
		memset(text, 'x', bytes - 1);
		memcpy(text, name, strlen(name));
		text[bytes - 1] = 0;
	}
	return text;
}

/* Makes the tunables variable; *to is NULL if the set has no tunables.  False: no memory. */
static bool tunables_of(char **to, const struct native_set *set, const char *before)
{
	size_t room = strlen(before) + strlen(tunables) + NATIVE_TEXT, used;
	char *text = malloc(room);
	unsigned n = 0;
	*to = NULL;
	if (!text)
		return false;
	/* if a tunable is named twice, the last counts */
	used = (size_t)snprintf(text, room, "%s%s", tunables, before);
	for (unsigned i = 0; set && i < set->n; i++)
		if (set->at[i].kind == NATIVE_TUNABLE) {
			used += (size_t)snprintf(text + used, room - used, "%s%s=%s", *before || n ? ":" : "",
				set->at[i].knob, set->at[i].value);
			n++;
		}
	if (n)
		*to = text;
	else
		free(text);
	return true;
}

struct environment { char **all, *made[3]; };	/* made: the parts that we must free */

static void drop(struct environment *e)
{
	free(e->all);
	for (int i = 0; i < 3; i++)
		free(e->made[i]);
}

/* Makes the environment with the tunables of the set.  measured: with as many variables and bytes as any other of
 * this layout.  False: no memory. */
static bool environment(struct environment *e, const struct native_start *s, bool measured)
{
	size_t n = 0, k = 0, added = 0;
	const char *before = "";
	while (environ[n])
		n++;
	char **to = e->all = malloc((n + 4) * sizeof *to);
	if (!to)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strncmp(environ[i], tunables, strlen(tunables)))
			before = environ[i] + strlen(tunables);
	if (!tunables_of(&e->made[0], s->set, before))
		return false;
	char *own = e->made[0];
	bool had = *before;
	for (size_t i = 0; i < n; i++)
		if (!own || strncmp(environ[i], tunables, strlen(tunables)))
			to[k++] = environ[i];
	if (own) {
		to[k++] = own;
		added += strlen(own) + 1 - (had ? strlen(tunables) + strlen(before) + 1 : 0);
	}
	if (measured) {
		if (!own || had) {
			e->made[1] = to[k++] = padding(more, strlen(more) + 1);
			added += strlen(more) + 1;
		}
		e->made[2] = to[k++] = padding(pad, PADDING + s->layout % LAYOUTS - added);
		if (!to[k - 1] || !to[k - 2])
			return false;
	}
	to[k] = NULL;
	return true;
}

enum { CANNOT_EXEC = -1, CANNOT_JOIN = -2, CANNOT_INPUT = -3, NO_MEMORY = -4 };
struct refusal { int at, error; };	/* at: index of the setting, or one of the above */

/* Runs in the process that becomes the program.  Returns what was refused. */
static struct refusal become(const struct native_start *s, bool measured)
{
	for (unsigned i = 0; s->set && i < s->set->n; i++)
		if (carry_out(&s->set->at[i]))
			return (struct refusal){ (int)i, errno };
	if (s->tasks && join(s->tasks))
		return (struct refusal){ CANNOT_JOIN, errno };
	if (measured) {
		int in = open(s->input ? s->input : "/dev/null", O_RDONLY), out = open("/dev/null", O_WRONLY);
		if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
			return (struct refusal){ CANNOT_INPUT, errno };
		if (in > 2)
			close(in);
		if (out > 2)
			close(out);
	}
	struct environment e = { .all = NULL };
	struct refusal r = { NO_MEMORY, ENOMEM };
	if (environment(&e, s, measured)) {
		execvpe(s->argv[0], s->argv, e.all);
		r = (struct refusal){ CANNOT_EXEC, errno };
	}
	drop(&e);
	return r;
}

static int explain(const struct native_start *s, struct refusal r, struct err *err)
{
	errno = r.error;
	if (r.at >= 0 && s->set && (unsigned)r.at < s->set->n)
		return err_set(err, ERR_UNSUPPORTED, "%s=%s: %s", s->set->at[r.at].knob, s->set->at[r.at].value,
			strerror(r.error));
	if (r.at == CANNOT_JOIN)
		return err_system(err, "%s", s->tasks);
	if (r.at == CANNOT_INPUT)
		return err_system(err, "%s", s->input ? s->input : "/dev/null");
	if (r.at == NO_MEMORY)
		return err_set(err, ERR_NOMEM, "out of memory");
	return err_system(err, "cannot execute %s", s->argv[0]);
}

int native_exec(const struct native_start *s, struct err *err)
{
	return explain(s, become(s, false), err);
}

static int start(pid_t *pid, const struct native_start *s, bool measured, struct err *err)
{
	struct refusal r;
	int report[2];
	if (pipe2(report, O_CLOEXEC))
		return err_system(err, "pipe");
	*pid = fork();
	if (*pid < 0) {
		close(report[0]);
		close(report[1]);
		return err_system(err, "fork");
	}
	if (!*pid) {
		r = become(s, measured);
		ssize_t put = write(report[1], &r, sizeof r);
		_exit(put == sizeof r ? 127 : 126);
	}
	close(report[1]);
	ssize_t got;
	do
		got = read(report[0], &r, sizeof r);
	while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got != sizeof r)	/* the exec closed the pipe */
		return 0;
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR) ;
	return explain(s, r, err);
}

int native_spawn(pid_t *pid, const struct native_start *s, struct err *err)
{
	return start(pid, s, false, err);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

int native_wait(pid_t pid, const struct native_start *s, int *status, struct trial_times *t, struct err *err)
{
	struct rusage used;
	if (s->stop && *s->stop)
		kill(pid, (int)*s->stop);
	while (wait4(pid, status, 0, &used) < 0) {
		if (errno != EINTR)
			return err_system(err, "wait4");
		if (s->stop && *s->stop)
			kill(pid, (int)*s->stop);
	}
	t->cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
	return 0;
}

int native_run(const struct native_start *s, int *status, struct trial_times *t, struct err *err)
{
	struct timespec from, to;
	pid_t pid;
	clock_gettime(CLOCK_MONOTONIC, &from);
	int rc = start(&pid, s, true, err);
	if (!rc)
		rc = native_wait(pid, s, status, t, err);
	clock_gettime(CLOCK_MONOTONIC, &to);
	t->wall = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
	return rc;
}

int native_try(const struct native_setting *s, struct err *err)
{
	int status = 0;
	pid_t pid = fork();
	if (pid < 0)
		return err_system(err, "fork");
	if (!pid)
		_exit(carry_out(s) ? errno & 127 : 0);	/* the errors of these calls are small */
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_system(err, "waitpid");
	if (!WIFEXITED(status))
		return err_set(err, ERR_UNSUPPORTED, "%s=%s: killed by signal %d", s->knob, s->value, WTERMSIG(status));
	return WEXITSTATUS(status) ? err_set(err, ERR_UNSUPPORTED, "%s", strerror(WEXITSTATUS(status))) : 0;
}
