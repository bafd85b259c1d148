/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slurm's commands (slurm_tool.h).  Source: sbatch(1), squeue(1), scontrol(1), sacct(1) of Slurm 22.05. */
#include "cli/sweep/slurm_tool.h"
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(char *const *argv, const int *fd)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(fd[0], 0) < 0 || dup2(fd[1], 1) < 0 || dup2(fd[2], 2) < 0)
		_exit(127);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* The whole content of a file that was written; NULL: no memory. */
static char *content(FILE *from)
{
	const long bytes = fseek(from, 0, SEEK_END) ? -1 : ftell(from);
	char *text = bytes < 0 ? NULL : calloc((size_t)bytes + 1, 1);
	rewind(from);
	if (text && fread(text, 1, (size_t)bytes, from) != (size_t)bytes)
		*text = 0;
	return text;
}

static bool passes(const char *line)
{
	static const char *const passing[] = { "contact slurm controller", "timed out", "Zero Bytes",
		"onnection refused", "onnection reset", "in standby mode", "temporarily", "slurm_msg_sendto" };
	for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
		if (strstr(line, passing[i]))
			return true;
	return false;
}

/* Leaves one line of standard error: the first that says that the controller does not answer, else the first one.
 * Slurm's libraries may print what failed in them before the command prints why it gave up. */
static void choose_line(struct slurm_tool *t)
{
	char *rest = NULL, *chosen = NULL;
	for (char *line = strtok_r(t->error, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!t->passes && (t->passes = t->status && passes(line)))
			chosen = line;
		chosen = chosen ? chosen : line;
	}
	if (chosen)
		memmove(t->error, chosen, strlen(chosen) + 1);
}

bool slurm_tool_run(struct slurm_tool *t, char *const *argv, const char *input)
{
	/* files, not pipes: nobody waits for anybody */
	FILE *file[3] = { tmpfile(), tmpfile(), tmpfile() };
	bool good = file[0] && file[1] && file[2];
	*t = (struct slurm_tool){ .status = 127 };
	if (good && input) {
		fputs(input, file[0]);
		good = !fflush(file[0]);
		rewind(file[0]);
	}
	if (good) {
		const int fd[] = { fileno(file[0]), fileno(file[1]), fileno(file[2]) };
		const pid_t pid = fork();
		int status = 0;
		lseek(fd[0], 0, SEEK_SET);
		if (pid == 0)
			become(argv, fd);
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		t->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
		t->said = content(file[1]);
		t->error = content(file[2]);
		good = pid > 0 && t->said && t->error;
		if (good)
			choose_line(t);
	}
	for (int i = 0; i < 3; i++)
		if (file[i])
			fclose(file[i]);
	if (!good)
		slurm_tool_free(t);
	return good;
}

void slurm_tool_free(struct slurm_tool *t)
{
	free(t->said);
	free(t->error);
	t->said = t->error = NULL;
}

bool slurm_queue(struct slurm_tool *t, void (*each)(void *context, const struct slurm_element *e), void *context)
{
	char *const argv[] = { "squeue", "--me", "-h", "-r", "-o", "%j %K", NULL };
	char *rest = NULL;
	if (!slurm_tool_run(t, argv, NULL))
		return false;
	if (t->status)
		return false;
	for (char *line = strtok_r(t->said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct slurm_element e;
		if (sscanf(line, "%63s %lu", e.name, &e.index) == 2)
			each(context, &e);
	}
	return true;
}

/* Adds one end to the text "NODE_FAIL 1, ...". */
static void add_end(char *text, size_t bytes, const char *state, size_t n)
{
	char name[32], rest[512];
	unsigned count = 0;
	if (n >= sizeof name || bytes < sizeof rest)
		return;
	snprintf(name, sizeof name, "%.*s", (int)n, state);
	char *at = strstr(text, name);
	if (at && sscanf(at + n, " %u", &count) == 1) {
		const char *behind = at + n + 1 + strspn(at + n + 1, "0123456789");
		snprintf(rest, sizeof rest, "%s", behind);
		snprintf(at, bytes - (size_t)(at - text), "%s %u%.400s", name, count + 1, rest);
	} else {
		const size_t used = strlen(text);
		snprintf(text + used, bytes - used, "%s%s 1", used ? ", " : "", name);
	}
}

/* Source: squeue(1), "Job state codes".  What was told to end (SIGTERM) did not fail by itself. */
static bool is_own(const char *state, size_t n, const char *code)
{
	static const char *const states[] = { "FAILED", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE" };
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (n == strlen(states[i]) && !strncmp(state, states[i], n))
			return strncmp(code, "0:15", 4) != 0;
	return false;
}

void slurm_ends(const char *job, char *text, size_t bytes, int full_status, bool *full, bool *own)
{
	char *const accounts[] = { "sacct", "-n", "-P", "-X", "-j", (char *)(uintptr_t)job, "-o", "State,ExitCode",
		NULL };
	char *const control[] = { "scontrol", "-o", "show", "job", (char *)(uintptr_t)job, NULL };
	struct slurm_tool t;
	char *rest = NULL;
	*text = 0;
	bool by_accounts = slurm_tool_run(&t, accounts, NULL);
	if (by_accounts && (t.status || !*t.said)) {
		slurm_tool_free(&t);
		by_accounts = false;
	}
	if (!by_accounts && !slurm_tool_run(&t, control, NULL))
		return;
	for (char *line = strtok_r(t.said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *state = by_accounts ? line : strstr(line, "JobState=");
		const char *code = by_accounts ? strchr(line, '|') : strstr(line, "ExitCode=");
		if (!state || !code)
			continue;
		state += by_accounts ? 0 : strlen("JobState=");
		code += by_accounts ? 1 : strlen("ExitCode=");
		const size_t n = strspn(state, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		*full |= atoi(code) == full_status;
		*own |= is_own(state, n, code);
		if (n != 9 || strncmp(state, "COMPLETED", 9))
			add_end(text, bytes, state, n);
	}
	slurm_tool_free(&t);
}
