/* SPDX-License-Identifier: GPL-2.0-or-later
 * The live source: processes under the tracer, found through the announce pipe, each read through its ring.
 *
 * A process keeps its index over exec: the new image announces a ring with a higher serial, which is read after the
 * old one is drained.  The rings are served in turn, one span each; within a process nothing is reordered.  Which
 * process is served first depends on the host, so consumers must not let processes influence each other.
 *
 * A process is over when the kernel says that it is gone (waitpid for the launched program, a pidfd or /proc for the
 * others) and its last ring is drained.  If its tracer had not said "ended in order", live_next reports that once, as
 * ERR_TRACER, after all that the process published; the other processes go on.  There is one exception: a process
 * other than the launched program that SIGKILL killed.  No tracer sees that signal, so we add an ST_EXIT ourselves
 * behind what the process published, and it ends as by any other signal.
 *
 * The stream ends with the launched program, as a run of perf does.  What other processes did until then is in it;
 * those that run on do so untraced, and an ST_NOTE names one of them.  With stream_launch.waits the stream ends with
 * the last process.
 */
#include "stream/stream_internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	IDLE_MS = 100,		/* how long stream_next may wait in all */
	SLICE_ONE_MS = 20,	/* how long it waits between two looks at whether processes live */
	SLICE_FOLLOW_MS = 2,	/* the same when children are followed: a new process waits for its ring to be read */
	LOOK_EVERY = 32,	/* spans between two looks while spans keep coming */
	LOG_BYTES = 4096
};

struct process {
	uint32_t index;		/* UINT32_MAX before its first span */
	uint32_t pid;
	struct ring *ring;	/* the current one; those of later images in ring->next */
	int pidfd;		/* -1: none, look into /proc */
	int exit_signal;	/* of a followed process; EXIT_UNKNOWN if the kernel did not tell */
	bool gone;		/* the kernel says that it is gone; what is in the rings is final */
	bool dropped;		/* no longer read */
	bool left;		/* the launched program has ended before: what is in the rings is final */
	struct st_exit killed;	/* its last span, if it was killed and its tracer could not write one */
};
enum { EXIT_UNKNOWN = -1 };

struct live {
	struct rundir dir;
	pid_t child;
	bool follow, waits, detached;
	unsigned looks;		/* since the launched program was reaped */
	uint32_t added;		/* processes that announced themselves */
	uint32_t forks;		/* processes that were forked by those whose rings are gone */
	uint32_t untraced;	/* processes that said that they have no ring */
	bool told_untraced, told_left;
	uint32_t *left_pid;	/* of processes that run on without us */
	size_t lefts;
	uint64_t note[32];	/* the last span, if it is our own */
	bool reaped, status_lost, seen;	/* seen: the child announced itself, or its failure was reported */
	int status;
	struct process **active;
	size_t count, room, turn;
	uint32_t processes;	/* indices given out */
	struct process *last;	/* whose span the caller holds */
	unsigned calls;
	uint64_t bytes;		/* delivered */
	char log[LOG_BYTES + 1];
};

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- processes ---- */
static int open_pidfd(uint32_t pid)
{
	return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);	/* close-on-exec by itself */
}

static void free_ring(struct live *l, const struct process *p, struct ring *r)
{
	char name[64];
	snprintf(name, sizeof name, "ring.%u.%u", p->pid, r->serial);
	unlinkat(l->dir.fd, name, 0);	/* frees memory, in /dev/shm */
	l->forks += ring_forks(r);
	ring_unmap(r);
}

static void free_process(struct live *l, struct process *p)
{
	for (struct ring *r = p->ring, *next; r; r = next) {
		next = r->next;
		free_ring(l, p, r);
	}
	if (p->pidfd >= 0)
		close(p->pidfd);
	free(p);
}

static void drop_process(struct process *p)
{
	p->dropped = true;
	for (struct ring *r = p->ring; r; r = r->next)
		ring_set_reader_gone(r);
}

static struct process *add_process(struct live *l, uint32_t pid)
{
	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 8;
		struct process **more = realloc(l->active, room * sizeof *more);
		if (!more)
			return NULL;
		l->active = more;
		l->room = room;
	}
	struct process *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->index = UINT32_MAX;
	p->exit_signal = EXIT_UNKNOWN;
	p->pid = pid;
	p->pidfd = open_pidfd(pid);
	p->gone = p->pidfd < 0 && errno == ESRCH;
	l->active[l->count++] = p;
	l->added++;
	return p;
}

/* True if a process was forked that has not announced itself, and perhaps never will. */
static bool awaits_process(const struct live *l)
{
	uint32_t forks = l->forks;
	for (size_t i = 0; i < l->count; i++)
		for (const struct ring *r = l->active[i]->ring; r; r = r->next)
			forks += ring_forks(r);
	return l->added + l->untraced < forks + 1;	/* one was launched, not forked */
}

static int take_announce(struct live *l, const struct st_announce *a, struct err *err)
{
	struct process *p = NULL;
	struct ring *ring, **at;
	if (a->magic != ST_MAGIC || !a->pid || a->pid > INT_MAX)
		return err_set(err, ERR_TRACER, "the announce pipe of the tracer is corrupt");
	if (a->serial == ST_UNTRACED) {
		l->untraced++;
		return 0;
	}
	int r = ring_map(&ring, l->dir.fd, a->pid, a->serial, err);
	if (r)
		return r;
		/* A process may exec, announce the new image and die between two looks: `gone` does not matter here. */
	for (size_t i = 0; i < l->count; i++)
		if (l->active[i]->pid == a->pid)
			p = l->active[i];	/* the newest process of that pid */
	if (p) {
		uint32_t newest = 0;
		for (const struct ring *k = p->ring; k; k = k->next)
			newest = k->serial;
		if (a->serial <= newest) {	/* a new process reuses the pid: the old one is gone */
			p->gone = true;
			p = NULL;
		}
	}
	if (!p && !(p = add_process(l, a->pid))) {
		ring_unmap(ring);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	if (a->pid == (uint32_t)l->child)
		l->seen = true;
	for (at = &p->ring; *at; at = &(*at)->next)
		;
	*at = ring;
	if (p->left)
		ring_set_reader_gone(ring);
	if (l->detached || p->dropped) {
		p->dropped = true;
		ring_set_reader_gone(ring);
	}
	return 0;
}

/* True if a process that is not our child is gone.  Sets its exit_signal, where the kernel tells it. */
static bool is_gone(struct process *p)
{
	char path[64], text[1024], state = 0;
	bool gone = false;
	if (p->pidfd >= 0) {
		struct pollfd f = { .fd = p->pidfd, .events = POLLIN };
		if (poll(&f, 1, 0) <= 0)
			return false;
		gone = true;			/* may still be a zombie, which has a status */
	}
	snprintf(path, sizeof path, "/proc/%u/stat", p->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return gone || kill((pid_t)p->pid, 0);
	text[n] = 0;
	char *at = strrchr(text, ')');		/* proc(5): field 3 follows the name; field 52 is the exit code */
	if (at && at[1] == ' ')
		state = at[2];
	if (state != 'Z' && state != 'X')
		return gone;
	for (int field = 2; at && field < 52; field++)
		at = strchr(at + 1, ' ');
	if (at && p->exit_signal == EXIT_UNKNOWN)
		p->exit_signal = atoi(at + 1) & 0x7f;
	return true;
}

/* True if the command line of a process (its number, as text) is that of our tracer, or of softpmu-exec. */
static bool runs_ours(const struct live *l, const char *pid)
{
	char path[300], text[PATH_MAX + 1024];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const ssize_t n = fstat(fd, &st) || st.st_uid != geteuid() ? -1 : read(fd, text, sizeof text);
	close(fd);
	const char *option = n > 0 ? memmem(text, (size_t)n, "--ring-dir=", 11) : NULL;
	return option && (size_t)(text + n - option) >= 12 + strlen(l->dir.path) &&
	       !memcmp(option + 11, l->dir.path, strlen(l->dir.path) + 1);
}

/* True if a process runs under our tracer that we do not know: it was forked and has not announced itself yet.  We find
 * it by its command line, which names our directory.  Each such process is sent signo, unless that is 0. */
static bool unknown_run(struct live *l, int signo)
{
	bool found = false, known = false;
	DIR *proc = opendir("/proc");
	if (!proc)
		return false;
	for (struct dirent *e; (e = readdir(proc));) {
		known = false;
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		for (size_t i = 0; i < l->lefts && !known; i++)
			known = l->left_pid[i] == (uint32_t)atoi(e->d_name);
		if (known || !runs_ours(l, e->d_name))
			continue;
		found = true;
		if (signo)
			kill(atoi(e->d_name), signo);
	}
	closedir(proc);
	return found;
}

/* Looks which processes died, then which are new.  In this order, a process that announces itself and dies at once is
 * still read. */
static int look_around(struct live *l, struct err *err)
{
	struct st_announce a;
	if (!l->reaped) {
		pid_t got = waitpid(l->child, &l->status, WNOHANG);
		if (got == l->child) {
			l->reaped = true;
		} else if (got < 0 && errno == ECHILD) {	/* SIGCHLD is ignored in this process */
			l->reaped = l->status_lost = true;
			l->status = 0;
		}
	}
	for (size_t i = 0; i < l->count; i++) {
		struct process *p = l->active[i];
		if (!p->gone)
			p->gone = p->pid == (uint32_t)l->child ? l->reaped : is_gone(p);
	}
	l->looks += l->reaped;
	for (;;) {
		ssize_t n = read(l->dir.announce, &a, sizeof a);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		if (n != sizeof a)
			a.magic = 0;		/* a torn message: take_announce refuses it */
		int r = take_announce(l, &a, err);
		if (r) {
			l->seen = true;		/* its failure is being reported */
			return r;
		}
	}
}

/* ---- the message about a tracer that died ---- */
static const char *live_log(struct live *l)
{
	rundir_read_log(&l->dir, l->log, sizeof l->log);
	return l->log;
}

/* Finds the log line that tells most: the first one that Valgrind's core wrote, else the first; "" if there is none. */
static void telling_line(struct live *l, char *line, size_t size)
{
	bool core = false;
	line[0] = 0;
	for (const char *at = live_log(l), *end; *at && !core; at = *end ? end + 1 : end) {
		end = strchrnul(at, '\n');
		const char *from = at;
		if (end - from > 4 && (!strncmp(from, "==", 2) || !strncmp(from, "--", 2) || !strncmp(from, "**", 2))) {
			const char *space = memchr(from, ' ', (size_t)(end - from));	/* "==1234== " */
			from = space ? space + 1 : end;
		}
		while (from < end && *from == ' ')
			from++;
		core = !strncmp(from, "valgrind:", 9);
		if (from < end && (core || !line[0]))
			snprintf(line, size, "%.*s", (int)(end - from), from);
	}
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
}

static int tell_death(struct live *l, uint32_t pid, int exit_signal, struct err *err)
{
	char who[64] = "", how[160], line[400];
	if (pid != (uint32_t)l->child) {
		snprintf(who, sizeof who, "process %u: ", pid);
		if (exit_signal > 0)
			snprintf(how, sizeof how, "was killed by SIG%s (signal %d)", sigabbrev_np(exit_signal),
				exit_signal);
		else
			snprintf(how, sizeof how, "ended without closing its stream, probably killed");
	} else if (l->status_lost) {
		snprintf(how, sizeof how, "ended without closing its stream");
	} else if (WIFSIGNALED(l->status)) {
		const char *name = sigabbrev_np(WTERMSIG(l->status));
		snprintf(how, sizeof how, "was killed by %s%s (signal %d)", name ? "SIG" : "a signal", name ? name : "",
			 WTERMSIG(l->status));
	} else {
		snprintf(how, sizeof how, "ended with exit status %d %s", WEXITSTATUS(l->status),
			 l->seen ? "without closing its stream" : "before it could start the program");
	}
	telling_line(l, line, sizeof line);
	return err_set(err, ERR_TRACER, "%sthe tracer %s%s%s%s%s", who, how,
		       l->bytes ? "; what it delivered before is kept" : "", line[0] ? "; it said: \"" : "", line,
		       line[0] ? "\"" : "");
}

/* ---- reading ---- */
static void remove_active(struct live *l, size_t i)
{
	struct process *p = l->active[i];
	memmove(l->active + i, l->active + i + 1, (l->count - i - 1) * sizeof *l->active);
	l->count--;
	if (l->turn > i)
		l->turn--;
	if (l->last == p)
		l->last = NULL;
	free_process(l, p);
}

/* True if it was killed from outside.  If the kernel did not tell, we assume so unless a tracer logged something. */
static bool was_killed(struct live *l, const struct process *p)
{
	char line[8];
	if (p->pid == (uint32_t)l->child || p->index == UINT32_MAX)
		return false;
	if (p->exit_signal != EXIT_UNKNOWN)
		return p->exit_signal == SIGKILL;
	telling_line(l, line, sizeof line);
	return !line[0];
}

static int span_of(struct live *l, struct process *p, struct stream_span *span)
{
	span->process = p->index;
	span->pid = p->pid;
	l->bytes += span->count * 8;
	l->last = p;
	l->turn++;
	return STREAM_SPAN;
}

/* A note of our own in the stream of a process. */
static int note(struct live *l, uint32_t process, uint32_t pid, struct stream_span *span, const char *text)
{
	struct st_note *n = (struct st_note *)l->note;
	const size_t bytes = strlen(text) + 1;
	memset(l->note, 0, sizeof l->note);
	*n = (struct st_note){ .header = ST_HEADER(ST_NOTE, (sizeof *n + bytes + 7) / 8 * 8), .severity = 1,
		.text_bytes = (uint32_t)bytes };
	memcpy(n + 1, text, bytes);
	*span = (struct stream_span){ .process = process, .pid = pid, .words = l->note,
		.count = (sizeof *n + bytes + 7) / 8 };
	l->bytes += span->count * 8;
	l->last = NULL;
	return STREAM_SPAN;
}

static int note_left(struct live *l, const struct process *p, struct stream_span *span)
{
	const bool known = p->index != UINT32_MAX;
	char text[160];
	snprintf(text, sizeof text, "process %u still ran when the program ended: what it did from then on is not "
		"counted (--follow waits for it)", p->pid);
	return note(l, known ? p->index : 0, known ? p->pid : (uint32_t)l->child, span, text);
}

/* True if the process, which we leave, may execute a program that still looks for our directory. */
static bool makes_ring(const struct live *l, const struct process *p)
{
	char pid[16];
	snprintf(pid, sizeof pid, "%u", p->pid);
	return ring_executes(p->ring) && runs_ours(l, pid);
}

static void remember(struct live *l, uint32_t pid)
{
	uint32_t *more = realloc(l->left_pid, (l->lefts + 1) * sizeof *more);
	if (!more)
		return;		/* then the run ends with that process, at the latest */
	l->left_pid = more;
	l->left_pid[l->lefts++] = pid;
}

/* True, with a span, if it was not said yet that a process could not be traced. */
static bool note_untraced(struct live *l, struct stream_span *span)
{
	if (!l->untraced || l->told_untraced || !l->processes)
		return false;
	l->told_untraced = true;
	char text[200];
	snprintf(text, sizeof text, "a process runs untraced, because there is no room for its ring (2 MB) in "
		"%.100s", l->dir.path);
	return note(l, 0, (uint32_t)l->child, span, text);
}

/* The launched program has ended, and its stream is read: says so to the tracers of the others, and true if all that
 * they did is read, too.  Not before the second look, which finds all that announced themselves and ended before. */
static bool leave_others(struct live *l)
{
	if (l->waits || l->looks < 2)
		return false;
	for (size_t i = 0; i < l->count; i++)
		if (l->active[i]->pid == (uint32_t)l->child)
			return false;
	for (size_t i = 0; i < l->count; i++) {
		struct process *p = l->active[i];
		for (struct ring *r = p->ring; r && !p->left; r = r->next)
			ring_set_reader_gone(r);
		p->left = true;
	}
	return !l->count;
}

/* STREAM_SPAN, or 0 when all rings are empty, or an error about one process (which is then dropped). */
static int scan(struct live *l, struct stream_span *span, struct err *err)
{
	if (!l->processes)
		l->turn = 0;		/* the launched program announced itself first; it gets index 0 if possible */
	for (size_t left = l->count; left; left--) {
		if (l->turn >= l->count)
			l->turn = 0;
		struct process *p = l->active[l->turn];
		struct ring *ring = p->ring;
		bool orderly = ring_ended(ring);	/* must be read before `written` */
		int r = p->dropped ? 0 : ring_take(ring, &span->words, &span->count, err);
		if (r < 0) {
			drop_process(p);
			return r;
		}
		if (r) {
			if (p->index == UINT32_MAX)
				p->index = l->processes++;
			return span_of(l, p, span);
		}
		if (ring->next) {		/* exec: the old image cannot write any more */
			p->ring = ring->next;
			free_ring(l, p, ring);
			left++;
			continue;
		}
		if (p->left && !p->gone && makes_ring(l, p)) {
			l->turn++;
			continue;
		}
		if (p->left && !p->gone) {
			const bool tell = !orderly && !p->dropped && !l->told_left;
			if (tell && l->processes) {
				p->dropped = l->told_left = true;
				return note_left(l, p, span);
			}
			remember(l, p->pid);
			remove_active(l, l->turn);
			continue;
		}
		if (p->gone && !orderly && !p->dropped && !p->killed.header && was_killed(l, p)) {
			p->killed =
				(struct st_exit){ .header = ST_HEADER(ST_EXIT, sizeof p->killed), .signo = SIGKILL };
			span->words = (const uint64_t *)&p->killed;
			span->count = sizeof p->killed / 8;
			return span_of(l, p, span);
		}
		if (p->gone) {
			uint32_t pid = p->pid;
			int exit_signal = p->exit_signal;
			bool tell = !orderly && !p->dropped && !p->killed.header;
			remove_active(l, l->turn);
			if (tell)
				return tell_death(l, pid, exit_signal, err);
			continue;
		}
		l->turn++;
	}
	return 0;
}

/* 0, or EINTR. */
static int wait_for_more(struct live *l, int64_t ms)
{
	enum { MAX_FDS = 32 };
	struct pollfd fds[MAX_FDS] = { { .fd = l->dir.announce, .events = POLLIN } };
	nfds_t n = 1;
	int64_t slice = l->follow && (l->count > 1 || awaits_process(l)) ? SLICE_FOLLOW_MS : SLICE_ONE_MS;
	struct process *p = l->last;
	if (!p || p->gone || p->dropped || ring_ended(p->ring))
		p = NULL;
	for (size_t i = 0; !p && i < l->count; i++)
		if (!l->active[i]->gone && !l->active[i]->dropped && !ring_ended(l->active[i]->ring))
			p = l->active[i];
	if (ms < slice)
		slice = ms;
	if (p)
		return ring_wait(p->ring, (long)slice * 1000000);
	/* Nobody will write: wait for processes that end or begin. */
	for (size_t i = 0; i < l->count && n < MAX_FDS; i++)
		if (l->active[i]->pidfd >= 0 && !l->active[i]->gone)
			fds[n++] = (struct pollfd){ .fd = l->active[i]->pidfd, .events = POLLIN };
	int64_t wait = l->count ? slice : ms < SLICE_ONE_MS ? ms : SLICE_ONE_MS;
	return poll(fds, n, (int)wait) < 0 && errno == EINTR ? EINTR : 0;
}

enum { GO_ON = 3 };		/* beside enum stream_state */

/* All that is known has ended and is read.  STREAM_END, or what else live_next should return, or GO_ON. */
static int last_look(struct live *l, struct err *err)
{
	if (!l->seen) {
		int told = tell_death(l, (uint32_t)l->child, 0, err);
		l->seen = true;
		return told;
	}
	if (l->status_lost) {
		l->status_lost = false;
		return err_set(err, ERR_SYSTEM,
			"the program's exit status is lost, because this process ignores SIGCHLD");
	}
	if (!l->follow || !awaits_process(l))
		return STREAM_END;
	/* Look again: a process may have announced itself and gone between look and search. */
	const bool unknown = unknown_run(l, 0);
	int r = look_around(l, err);
	if (r < 0)
		return r;
	return l->count || unknown ? GO_ON : STREAM_END;
}

int live_next(struct live *l, struct stream_span *span, struct err *err)
{
	int64_t until = 0;
	if (l->last)
		ring_release(l->last->ring);
	bool look = l->calls++ % LOOK_EVERY == 0;
	for (;; look = true) {
		int r = look ? look_around(l, err) : 0;
		if (r < 0 || (r = scan(l, span, err)))
			return r;
		if (!look)
			continue;
		if (note_untraced(l, span))
			return STREAM_SPAN;
		if (l->reaped && l->count && leave_others(l))
			continue;
		if (l->reaped && !l->count) {
			r = last_look(l, err);
			if (r != GO_ON)
				return r;
			if (l->count)
				continue;
		}
		int64_t now = now_ms();
		if (!until)
			until = now + IDLE_MS;
		if (now >= until || wait_for_more(l, until - now) == EINTR)
			return STREAM_IDLE;
	}
}

/* ---- begin and end ---- */
int live_launch(struct live **out, const struct stream_launch *how, struct err *err)
{
	struct program program;
	if (!how->argv || !how->argv[0])
		return err_set(err, ERR_INPUT, "no program named");
	int r = program_find(&program, how->argv[0], err);
	if (r)
		return r;
	struct live *l = calloc(1, sizeof *l);
	if (!l)
		return err_set(err, ERR_NOMEM, "out of memory");
	l->follow = how->follow;
	l->waits = how->waits;
	if ((r = rundir_create(&l->dir, err)) || (r = tracer_spawn(&l->child, how, &program, l->dir.path, err))) {
		rundir_remove(&l->dir);
		free(l);
		return r;
	}
	*out = l;
	return 0;
}

void live_answer(struct live *l, uint32_t index, const struct st_answer *answer)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->active[i]->index == index)
			ring_answer(l->active[i]->ring, answer);
}

void live_detach(struct live *l)
{
	l->detached = true;
	for (size_t i = 0; i < l->count; i++)
		drop_process(l->active[i]);
}

void live_kill(struct live *l, int signo)
{
	if (!l->reaped)
		kill(l->child, signo);
}

int live_wait_status(const struct live *l)
{
	return l->status;
}

int live_pid(const struct live *l)
{
	return l->child;
}

void live_close(struct live *l)
{
	if (!l)
		return;
	if (!l->reaped)
		look_around(l, NULL);
	/* Learn of processes that announced themselves meanwhile; a bad announcement does not hide the others. */
	for (int i = 0; i < 100 && look_around(l, NULL); i++)
		;
	for (size_t i = 0; i < l->count; i++) {
		struct process *p = l->active[i];
		if (p->pid == (uint32_t)l->child || p->gone)
			continue;
		if (p->pidfd >= 0)
			syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
		else
			kill((pid_t)p->pid, SIGKILL);
	}
	if (l->follow && (l->waits || !l->reaped))	/* others may run on */
		unknown_run(l, SIGKILL);
	if (!l->reaped) {
		kill(l->child, SIGKILL);
		while (waitpid(l->child, &l->status, 0) < 0 && errno == EINTR)
			;
	}
	while (l->count)
		remove_active(l, l->count - 1);
	rundir_remove(&l->dir);
	free(l->active);
	free(l->left_pid);
	free(l);
}
