/* SPDX-License-Identifier: GPL-2.0-or-later
 * Replays that a launcher starts (tune_launch.h).
 *
 * A request is a file in memory that is the launcher's standard input: nothing blocks or breaks, whether or not anybody
 * reads it.  Whoever replays sees its pipe break when the search has ended, and ends, too (tune_work.c). */
#include "cli/tune/tune_launch.h"
#include "sweep/machines.h"
#include "util/quoted_words.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LINE = 1200,			/* longest line of an answer */
	ROOM = (TUNE_AT_ONCE + 1) * LINE,
	WORDS = 2048,			/* so much of the end of what a launcher says to standard error */
	PATIENCE = 200,			/* times 10 ms: a launcher has to end by itself */
};

/* A launched process, and the group of configurations that it measures: `count` of those to measure, from `first` on.
 */
struct worker {
	pid_t pid;			/* 0: none */
	int out, errors;		/* its pipes; -1: it has ended */
	size_t first, count;
	unsigned tries;			/* so often was the group started */
	double started;
	size_t bytes, kept;
	char said[ROOM], words[WORDS];
};

/* A stage of the search. */
struct stage {
	struct tune_pool *p;
	struct tune_try *tries;
	size_t n, done;
	size_t *at;			/* of each configuration to measure: its try */
	char **settings;
	size_t count;
	size_t groups, next;		/* next: the first group that was not started */
	struct worker *worker;
	unsigned jobs;
};

/* ---- the command ---- */

int tune_launch_create(struct tune_launch **out, const char *command, struct err *err)
{
	struct tune_launch *l = calloc(1, sizeof *l);
	*out = NULL;
	if (!l || !(l->words = strdup(command))) {
		free(l);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	int n = words_split(l->words, l->word, TUNE_LAUNCH_WORDS);
	if (n <= 0) {
		tune_launch_destroy(l);
		return err_set(err, ERR_INPUT, "option --launch: '%.200s' %s", command,
			n ? "has a quotation without an end, or too many words" : "names no command");
	}
	l->word[n++] = (char *)(uintptr_t)cli_self();
	l->word[n++] = "tune";
	l->word[n++] = "work";
	*out = l;
	return 0;
}

void tune_launch_destroy(struct tune_launch *l)
{
	if (!l)
		return;
	free(l->request.folder);
	free(l->request.stream);
	free(l->request.seen);
	free(l->words);
	free(l);
}

int tune_launch_prepare(struct tune_launch *l, const struct tune_pool *p, char **option, size_t options,
	struct err *err)
{
	struct tune_request *r = &l->request;
	int rc = tune_request_model(r, err);
	if (!rc)
		rc = sweep_machine_key(p->preset, cli_data_dir(), r->machine, err);
	r->option = option;
	r->options = options;
	r->sample = p->sample;
	if (!rc && (!(r->folder = realpath(".", NULL)) || !(r->stream = realpath(p->run->run.replay, NULL))))
		rc = err_system(err, "%s", r->folder ? p->run->run.replay : "the current folder");
	if (!rc && p->sample.measured && !(r->seen = windows_text(p->seen->windows, ENERGY_COUNT_cycles)))
		rc = err_set(err, ERR_NOMEM, "out of memory");
	return rc;
}

/* ---- a process ---- */

/* In the child. */
static void become(const struct tune_launch *l, pid_t parent, int in, int out, int errors)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_IGN);	/* of a terminal, for all at once: the search ends them in its own way */
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0)
		_exit(126);
	execvp(l->word[0], l->word);
	dprintf(2, "cannot run %s: %s\n", l->word[0], strerror(errno));
	_exit(127);
}

/* A file in memory with the request, from its start.  NULL: an error. */
static FILE *request(const struct stage *s, const struct worker *w, struct err *err)
{
	struct tune_request r = s->p->launch->request;
	const int fd = memfd_create("softpmu-tune-work", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	r.settings = s->settings + w->first;
	r.count = w->count;
	if (!f)
		err_system(err, "cannot start a replay");
	if (!f && fd >= 0)
		close(fd);
	if (f && !tune_request_write(&r, f, err) && lseek(fd, 0, SEEK_SET) == 0)
		return f;
	if (f)
		fclose(f);
	return NULL;
}

static void close_all(const int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

static int start(const struct stage *s, struct worker *w, struct err *err)
{
	int fd[4] = { -1, -1, -1, -1 };
	const pid_t parent = getpid();
	FILE *in = request(s, w, err);
	if (!in)
		return err->code;
	if (pipe2(fd, O_CLOEXEC) || pipe2(fd + 2, O_CLOEXEC) || fcntl(fd[0], F_SETFL, O_NONBLOCK) ||
		fcntl(fd[2], F_SETFL, O_NONBLOCK) || (w->pid = fork()) < 0) {
		w->pid = 0;
		err_system(err, "cannot start a replay");
		fclose(in);
		close_all(fd, 4);
		return err->code;
	}
	if (!w->pid)
		become(s->p->launch, parent, fileno(in), fd[1], fd[3]);
	fclose(in);
	close_all((const int[]){ fd[1], fd[3] }, 2);
	w->out = fd[0];
	w->errors = fd[2];
	w->bytes = w->kept = 0;
	w->tries++;
	w->started = tune_pool_now();
	return 0;
}

/* Reads what there is.  False: the pipe has ended. */
static bool listen_to(struct worker *w, bool errors)
{
	char buffer[4096];
	ssize_t n;
	while ((n = read(errors ? w->errors : w->out, buffer, sizeof buffer)) > 0) {
		size_t *have = errors ? &w->kept : &w->bytes;
		char *to = errors ? w->words : w->said;
		const size_t room = errors ? sizeof w->words : sizeof w->said;
		/* of errors the end counts; of an answer that is too long the begin already is none */
		for (ssize_t i = 0; i < n; i++) {
			if (*have == room && errors) {
				memmove(to, to + room / 2, room / 2);
				*have = room / 2;
			}
			if (*have < room)
				to[(*have)++] = buffer[i];
		}
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void hang_up(struct worker *w)
{
	close_all((const int[]){ w->out, w->errors }, 2);
	w->out = w->errors = -1;
}

/* Ends all that run.  A launcher such as srun needs a moment in which to end its job. */
static void give_up(struct stage *s)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	for (unsigned i = 0; i < s->jobs; i++)
		if (s->worker[i].pid) {
			hang_up(&s->worker[i]);
			kill(s->worker[i].pid, SIGTERM);
		}
	for (unsigned waits = 0, left = 1; left; waits++) {
		left = 0;
		for (unsigned i = 0; i < s->jobs; i++) {
			struct worker *w = &s->worker[i];
			if (w->pid && waits >= PATIENCE)
				kill(w->pid, SIGKILL);
			if (w->pid && waitpid(w->pid, NULL, waits >= PATIENCE ? 0 : WNOHANG) == w->pid)
				w->pid = 0;
			left += w->pid != 0;
		}
		if (left)
			nanosleep(&moment, NULL);
	}
}

/* ---- its answer ---- */

/* Why there is no answer; text: what is wrong with what was printed. */
static void say_why(const struct worker *w, int status, const char *text, char *why, size_t room)
{
	char words[300];
	if (cli_last_words(w->words, w->kept, words, sizeof words))
		snprintf(why, room, "it said '%s'", words);
	else if (w->bytes)
		snprintf(why, room, "it %.300s", text);
	else if (WIFSIGNALED(status))
		snprintf(why, room, "it was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(why, room, "it ended with status %d and no message", WEXITSTATUS(status));
}

/* Takes the results of the group.  why: filled in if there are none. */
static int take(struct stage *s, struct worker *w, int status, char *why, size_t room, struct err *err)
{
	struct tune_answer answer[TUNE_AT_ONCE] = { 0 };
	struct err wrong = { 0 };
	int rc = 0;
	*why = 0;
	if (tune_answer_read(answer, w->count, w->said, w->bytes, &wrong))
		say_why(w, status, wrong.text, why, room);
	/* what another machine may have is no result: memory, files */
	for (size_t i = 0; i < w->count && !*why; i++)
		if (answer[i].err.code == ERR_SYSTEM || answer[i].err.code == ERR_NOMEM)
			snprintf(why, room, "%.300s", answer[i].err.text);
	for (size_t i = 0; i < w->count && !*why && !rc; i++) {
		const struct tune_answer *a = &answer[i];
		const char *settings = s->settings[w->first + i];
		struct tune_try *t = &s->tries[s->at[w->first + i]];
		if (a->err.code) {
			rc = err_set(err, a->err.code, "with %s: %s", *settings ? settings : "the preset", a->err.text);
			continue;
		}
		rc = tune_pool_keep(s->p, t, settings, &a->activity, err);
		if (!rc && s->p->sample.measured)
			t->half = a->half;
	}
	if (!*why && !rc) {
		s->done += w->count;
		s->p->seconds += (tune_pool_now() - w->started) * (double)w->count;
	}
	return rc;
}

/* The process has closed its output.  When it has ended, its answer is taken, or the group starts again. */
static int finish(struct stage *s, struct worker *w, struct err *err)
{
	char why[400];
	int status = 0;
	const pid_t ended = waitpid(w->pid, &status, WNOHANG);
	if (!ended || (ended < 0 && errno == EINTR))
		return 0;
	if (w->errors >= 0)
		listen_to(w, true);
	w->pid = 0;
	hang_up(w);
	const int rc = cli_interrupted() ? 0 : take(s, w, status, why, sizeof why, err);
	if (rc || cli_interrupted() || !*why)
		return rc;
	if (w->tries == TUNE_LAUNCH_TRIES)
		return err_set(err, ERR_SYSTEM, "--launch %.100s: a process gave no results %d times; the last time %s",
			s->p->launch->word[0], TUNE_LAUNCH_TRIES, why);
	return start(s, w, err);
}

/* ---- a stage ---- */

/* As many groups as are needed for all jobs to have work, and for all to have as much. */
static size_t groups_of(const struct stage *s)
{
	if (!s->p->sample.measured)
		return s->count;
	const size_t rounds = (s->count + (size_t)s->jobs * TUNE_AT_ONCE - 1) / ((size_t)s->jobs * TUNE_AT_ONCE);
	return s->count < rounds * s->jobs ? s->count : rounds * s->jobs;
}

/* Finds out what is to be measured. */
static int prepare(struct stage *s, struct err *err)
{
	s->jobs = tune_pool_jobs(s->p);
	s->at = calloc(s->n + 1, sizeof *s->at);
	s->settings = calloc(s->n + 1, sizeof *s->settings);
	bool good = s->at && s->settings;
	for (size_t i = 0; i < s->n && good; i++) {
		char *text = tune_text(s->p->features, s->p->count, &s->tries[i].set);
		good = text != NULL;
		if (text && tune_pool_known(s->p, &s->tries[i], text)) {
			s->done++;
			free(text);
		} else if (text) {
			s->at[s->count] = i;
			s->settings[s->count++] = text;
		}
	}
	s->groups = groups_of(s);
	s->jobs = s->groups < s->jobs ? (unsigned)s->groups : s->jobs;
	good = good && (s->worker = calloc(s->jobs + 1, sizeof *s->worker));
	return good ? 0 : err_set(err, ERR_NOMEM, "out of memory for replays");
}

/* Starts the next group.  They differ by one configuration at most. */
static int start_next(struct stage *s, struct worker *w, struct err *err)
{
	w->first = s->count * s->next / s->groups;
	s->next++;
	w->count = s->count * s->next / s->groups - w->first;
	w->tries = 0;
	return start(s, w, err);
}

/* Waits until there is something to read, or a process may have ended. */
static void wait_and_listen(struct stage *s)
{
	struct pollfd fd[2 * TUNE_POOL_JOBS];
	struct worker *of[2 * TUNE_POOL_JOBS];
	nfds_t fds = 0;
	unsigned running = 0;
	int most = 200;
	for (unsigned i = 0; i < s->jobs; i++) {
		struct worker *w = &s->worker[i];
		if (!w->pid)
			continue;
		running += (unsigned)w->count;
		if (w->out < 0)
			most = 10;
		for (unsigned k = 0; k < 2; k++)
			if ((k ? w->errors : w->out) >= 0) {
				of[fds] = w;
				fd[fds++] = (struct pollfd){ .fd = k ? w->errors : w->out, .events = POLLIN };
			}
	}
	tune_pool_show(s->p, s->tries, s->done, s->n, running);
	if (poll(fd, fds, most) <= 0)
		return;
	for (nfds_t k = 0; k < fds; k++) {
		struct worker *w = of[k];
		int *end = fd[k].fd == w->out ? &w->out : &w->errors;
		if (fd[k].revents && !listen_to(w, end == &w->errors)) {
			close(*end);
			*end = -1;
		}
	}
}

int tune_launch_measure(struct tune_pool *p, struct tune_try *tries, size_t n, struct err *err)
{
	struct stage s = { .p = p, .tries = tries, .n = n };
	int rc = prepare(&s, err);
	while (!rc && s.done < n) {
		for (unsigned i = 0; i < s.jobs && !rc; i++)
			if (!s.worker[i].pid && s.next < s.groups)
				rc = start_next(&s, &s.worker[i], err);
		if (rc)
			break;
		wait_and_listen(&s);
		for (unsigned i = 0; i < s.jobs && !rc; i++)
			if (s.worker[i].pid && s.worker[i].out < 0)
				rc = finish(&s, &s.worker[i], err);
		if (!rc && cli_interrupted())
			rc = err_set(err, ERR_SYSTEM, "interrupted");
	}
	if (s.worker)
		give_up(&s);
	for (size_t i = 0; i < s.count; i++)
		free(s.settings[i]);
	free(s.settings);
	free(s.at);
	free(s.worker);
	return rc;
}
