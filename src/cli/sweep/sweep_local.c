/* SPDX-License-Identifier: GPL-2.0-or-later
 * Does tasks on this machine, --jobs at a time, each by a process `softpmu sweep work` (sweep_state.h). */
#include "cli/sweep/sweep_state.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024 };

struct pool {
	struct sweep *s;
	pid_t pid[MOST];
	unsigned running;
	sigset_t child, before;	/* SIGCHLD; what was blocked */
	bool full;		/* a result could not be written */
	size_t ended, all;
	time_t gathered;
	struct cli_run *shown;
};

static pid_t start(const struct pool *p, const char *tasks, size_t number)
{
	char at[24];
	snprintf(at, sizeof at, "%zu", number);
	const pid_t parent = getpid(), pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, &p->before, NULL);
	signal(SIGINT, SIG_IGN);	/* of a terminal, for all at once: the sweep ends them in its own way */
	execl(cli_self(), "softpmu", "sweep", "work", tasks, at, "1", (char *)NULL);
	_exit(127);
}

/* Waits for one of them, up to a second.  A signal ends the wait: sigtimedwait never goes on after it, as waitpid
 * would. -1: there is none. */
static int wait_one(struct pool *p)
{
	const struct timespec second = { .tv_sec = 1 };
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG);
	if (!pid) {
		sigtimedwait(&p->child, NULL, &second);
		pid = waitpid(-1, &status, WNOHANG);
	}
	if (pid <= 0)
		return pid ? -1 : 0;
	for (unsigned i = 0; i < MOST; i++)
		if (p->pid[i] == pid) {
			p->pid[i] = 0;
			p->running--;
			p->ended++;
			p->full |= WIFEXITED(status) && WEXITSTATUS(status) == SWEEP_STATUS_FULL;
			if (WIFSIGNALED(status))
				cli_warn("a worker was killed by signal %d (%s)", WTERMSIG(status),
					strsignal(WTERMSIG(status)));
		}
	return 0;
}

static void end_all(struct pool *p)
{
	for (unsigned i = 0; i < MOST; i++)
		if (p->pid[i] > 0)
			kill(p->pid[i], SIGTERM);
	while (p->running && !wait_one(p))
		;
}

static void show(struct pool *p)
{
	char text[128];
	snprintf(text, sizeof text, "%zu of %zu tasks", p->ended, p->all);
	if (!p->s->quiet)
		cli_progress_text(p->shown, text);
}

/* The tasks of one file.  0, or 1 after one printed line. */
static int do_file(struct pool *p, const char *tasks, size_t n)
{
	for (size_t next = 0; (next < n || p->running) && !p->full;) {
		if (cli_interrupted())
			break;
		if (next < n && p->running < p->s->jobs) {
			const pid_t pid = start(p, tasks, next++);
			unsigned i = 0;
			while (p->pid[i])
				i++;
			if (pid < 0) {
				cli_error("cannot start a worker: %m");
				return 1;
			}
			p->pid[i] = pid;
			p->running++;
			continue;
		}
		if (wait_one(p))
			break;
		show(p);
		if (time(NULL) >= p->gathered + 2) {
			if (sweep_gather(p->s))
				return 1;
			p->gathered = time(NULL);
		}
	}
	return 0;
}

int sweep_local(struct sweep *s, const struct sweep_task *task, size_t n)
{
	struct pool *p = calloc(1, sizeof *p);
	struct cli_run *shown = calloc(1, sizeof *shown);
	char path[PATH_MAX];
	int rc = p && shown ? 0 : 1;
	if (rc)
		cli_error("out of memory");
	if (s->jobs > MOST)
		s->jobs = MOST;
	cli_catch(true);
	if (!rc) {
		cli_progress_begin(shown);
		sigemptyset(&p->child);
		sigaddset(&p->child, SIGCHLD);
		sigprocmask(SIG_BLOCK, &p->child, &p->before);
	}
	for (size_t from = 0; from < n && !rc; from += SWEEP_TASKS) {
		const size_t part = n - from < SWEEP_TASKS ? n - from : SWEEP_TASKS;
		p->s = s;
		p->shown = shown;
		p->all = n;
		p->gathered = time(NULL);
		if ((rc = sweep_write_tasks(s, task + from, part, path) ? 1 : 0))
			break;
		rc = do_file(p, path, part);
		end_all(p);
		unlink(path);
		if (!rc && sweep_gather(s))
			rc = 1;
		if (!rc && p->full) {
			cli_error("a result could not be written; the same command goes on when there is room");
			rc = 1;
		}
		if (!rc && cli_interrupted()) {
			cli_error("interrupted; the same command goes on");
			rc = 1;
		}
	}
	if (p && shown) {
		cli_progress_clear(shown);
		sigprocmask(SIG_SETMASK, &p->before, NULL);
	}
	cli_catch(false);
	free(shown);
	free(p);
	return rc;
}
