/* SPDX-License-Identifier: GPL-2.0-or-later
 * Processes that each replay the stream on one machine (tune_pool.h).
 *
 * They are forked from a parent without threads, write their counts into a pipe and exit.  The order in which
 * they end changes only the order of the lines in the state file.  Sampled replays (tune_seen.h) are threads. */
#include "cli/tune/tune_pool.h"
#include "cli/tune/tune_launch.h"
#include "cli/tune/tune_seen.h"
#include "core/machine/features.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = TUNE_POOL_JOBS };
struct answer { int rc; struct err err; struct energy_activity activity; };
struct worker {
	pid_t pid;		/* 0: none */
	int fd;
	size_t at;		/* index of the try */
	char *settings;
	double started;
	struct answer answer;
	size_t have;		/* bytes of the answer so far */
};

unsigned tune_pool_processors(void)
{
	cpu_set_t set;
	const int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	return n < 1 ? 1 : n > JOBS ? JOBS : (unsigned)n;
}

unsigned tune_pool_jobs(const struct tune_pool *p)
{
	const unsigned wanted = p->jobs ? p->jobs : tune_pool_processors();
	return wanted > JOBS ? JOBS : wanted;
}

double tune_pool_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);	/* only for the terminal; no result depends on it */
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* In the child: one replay. */
static void replay(const struct tune_pool *p, const char *settings, struct answer *a)
{
	struct tune_machine m = { 0 };
	*a = (struct answer){ 0 };
	if ((a->rc = tune_machine_set(&m, p->preset, settings, &a->err)))
		return;
	tune_machine_replay(&m, &p->run->run, NULL, NULL);
	*a = (struct answer){ m.err.code, m.err, m.activity };
}

static int start(const struct tune_pool *p, struct worker *w, size_t at, char *settings, struct err *err)
{
	int fd[2];
	if (pipe2(fd, O_CLOEXEC))
		return err_system(err, "cannot start a replay");
	const pid_t pid = fork();
	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return err_system(err, "cannot start a replay");
	}
	if (!pid) {
		static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
		for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
			signal(caught[i], SIG_DFL);
		close(fd[0]);
		replay(p, settings, &w->answer);
		const char *bytes = (const char *)&w->answer;
		for (size_t left = sizeof w->answer; left; ) {
			const ssize_t n = write(fd[1], bytes, left);
			if (n <= 0)
				_exit(1);
			bytes += n;
			left -= (size_t)n;
		}
		_exit(0);
	}
	close(fd[1]);
	*w = (struct worker){ .pid = pid, .fd = fd[0], .at = at, .settings = settings, .started = tune_pool_now() };
	return 0;
}

static void fill(const struct tune_pool *p, struct tune_try *r, const char *settings, const struct energy_activity *a)
{
	struct core_config core = *p->preset;
	struct energy_bill bill;
	/* cannot fail: the replay has just used them */
	if (*settings && core_features_apply(&core, settings, NULL))
		return;
	energy_bill(&bill, p->model, &core, a);
	r->activity = *a;
	r->cycles = (double)a->n[ENERGY_COUNT_cycles];
	r->energy = bill.total;
}

int tune_pool_keep(struct tune_pool *p, struct tune_try *t, const char *settings, const struct energy_activity *a,
	struct err *err)
{
	const int rc = tune_state_add(p->state, settings, a, err);
	if (rc)
		return rc;
	fill(p, t, settings, a);
	p->ran++;
	return 0;
}

bool tune_pool_known(struct tune_pool *p, struct tune_try *t, const char *settings)
{
	const struct energy_activity *known = tune_state_find(p->state, settings);
	if (!known)
		return false;
	fill(p, t, settings, known);
	if (p->sample.measured)
		t->half = (double)NAN;	/* it is not kept */
	p->known++;
	return true;
}

/* Reads from a worker. 1: it is done; 0: not yet; or an error. */
static int hear(struct tune_pool *p, struct worker *w, struct tune_try *tries, struct err *err)
{
	int status, rc = 0;
	const ssize_t n = read(w->fd, (char *)&w->answer + w->have, sizeof w->answer - w->have);
	if (n < 0 && errno == EINTR)
		return 0;
	if (n > 0)
		w->have += (size_t)n;
	if (n > 0 && w->have < sizeof w->answer)
		return 0;
	close(w->fd);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	if (w->have < sizeof w->answer)
		rc = cli_interrupted() ? err_set(err, ERR_SYSTEM, "interrupted")
				       : err_set(err, ERR_SYSTEM, "the replay with %s ended by signal %d", w->settings,
						 WTERMSIG(status));
	else if (w->answer.rc)
		rc = err_set(err, w->answer.rc, "with %s: %s", *w->settings ? w->settings : "the preset",
			w->answer.err.text);
	else
		rc = tune_pool_keep(p, &tries[w->at], w->settings, &w->answer.activity, err);
	if (!rc)
		p->seconds += tune_pool_now() - w->started;
	free(w->settings);
	return rc ? rc : 1;
}

void tune_pool_show(struct tune_pool *p, const struct tune_try *first, size_t done, size_t n, unsigned running)
{
	char text[160];
	const double each = p->ran ? p->seconds / (double)p->ran : 0;
	snprintf(text, sizeof text, "%s: %zu of %zu configurations, %u at a time, %.0f s to go; %zu run so far",
		tune_stage_name[first->stage], done, n, running, running ? each * (double)(n - done) / running : 0,
		p->ran);
	cli_progress_text(p->run, text);
}

static void give_up(struct worker *w, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++)
		if (w[i].pid) {
			kill(w[i].pid, SIGKILL);
			while (waitpid(w[i].pid, NULL, 0) < 0 && errno == EINTR)
				;
			close(w[i].fd);
			free(w[i].settings);
			w[i].pid = 0;
		}
}

/* Fills in a known result, or starts a replay. 1: a worker was started. */
static int next(struct tune_pool *p, struct worker *w, struct tune_try *tries, size_t at, struct err *err)
{
	char *settings = tune_text(p->features, p->count, &tries[at].set);
	if (!settings)
		return err_set(err, ERR_NOMEM, "out of memory");
	if (tune_pool_known(p, &tries[at], settings)) {
		free(settings);
		return 0;
	}
	const int rc = start(p, w, at, settings, err);
	if (rc)
		free(settings);
	return rc ? rc : 1;
}

/* ---- sampled replays ---- */

static int on_tick(void *context)
{
	(void)context;
	return cli_interrupted();
}

/* Measures those of the tries `at` on that are not known yet, at most `most` of them.  *done: tries that were dealt
 * with. */
static int measure_some(struct tune_pool *p, struct tune_try *tries, size_t n, unsigned most, size_t *done,
	struct err *err)
{
	struct tune_machine *machine = calloc(most, sizeof *machine);
	char *settings[JOBS];
	size_t of[JOBS];
	unsigned machines = 0;
	const double started = tune_pool_now();
	int rc = machine ? 0 : err_set(err, ERR_NOMEM, "out of memory for replays");
	for (; *done < n && machines < most && !rc; ++*done) {
		char *text = tune_text(p->features, p->count, &tries[*done].set);
		if (!text)
			rc = err_set(err, ERR_NOMEM, "out of memory");
		if (rc || tune_pool_known(p, &tries[*done], text)) {
			free(text);
			continue;
		}
		rc = tune_machine_set(&machine[machines], p->preset, text, err);
		settings[machines] = text;
		of[machines++] = *done;
	}
	struct run_options o = p->run->run;
	o.sample = p->sample;
	o.core = p->preset;
	if (!rc && machines)
		rc = tune_seen_replay(&o, p->seen, machine, machines, on_tick, p, err);
	if (!rc && cli_interrupted())
		rc = err_set(err, ERR_SYSTEM, "interrupted");
	for (unsigned i = 0; i < machines; i++) {
		if (!rc && machine[i].err.code)
			rc = err_set(err, machine[i].err.code, "with %s: %s", *settings[i] ? settings[i] : "the preset",
				machine[i].err.text);
		else if (!rc)
			rc = tune_pool_keep(p, &tries[of[i]], settings[i], &machine[i].activity, err);
		if (!rc)
			tries[of[i]].half = machine[i].half;
		free(settings[i]);
	}
	p->seconds += tune_pool_now() - started;
	free(machine);
	return rc;
}

static int measure_together(struct tune_pool *p, struct tune_try *tries, size_t n, struct err *err)
{
	const unsigned most = !p->jobs ? TUNE_AT_ONCE : p->jobs > JOBS ? JOBS : p->jobs;
	size_t done = 0;
	int rc = 0;
	while (done < n && !rc) {
		tune_pool_show(p, tries, done, n, 1);
		rc = measure_some(p, tries, n, most, &done, err);
	}
	return rc;
}

int tune_pool_measure(void *context, struct tune_try *tries, size_t n, struct err *err)
{
	struct tune_pool *p = context;
	if (p->launch)
		return tune_launch_measure(p, tries, n, err);
	if (p->sample.measured)
		return measure_together(p, tries, n, err);
	const unsigned jobs = tune_pool_jobs(p);
	struct worker *w = calloc(jobs, sizeof *w);
	size_t at = 0, done = 0;
	unsigned running = 0;
	int rc = w ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	while (rc >= 0 && done < n) {
		struct pollfd fd[JOBS];
		unsigned of[JOBS], fds = 0;
		for (unsigned i = 0; i < jobs && rc >= 0; i++) {
			while (!w[i].pid && at < n && rc >= 0) {
				rc = next(p, &w[i], tries, at++, err);
				running += rc > 0;
				done += !rc;
			}
			if (w[i].pid) {
				of[fds] = i;
				fd[fds++] = (struct pollfd){ .fd = w[i].fd, .events = POLLIN };
			}
		}
		if (rc >= 0 && cli_interrupted())
			rc = err_set(err, ERR_SYSTEM, "interrupted");
		if (rc < 0 || !fds)
			continue;
		tune_pool_show(p, tries, done, n, running);
		if (poll(fd, fds, 200) < 0)
			continue;
		for (unsigned k = 0; k < fds && rc >= 0; k++)
			if (fd[k].revents && (rc = hear(p, &w[of[k]], tries, err)) > 0) {
				running--;
				done++;
			}
	}
	if (w)
		give_up(w, jobs);
	free(w);
	return rc < 0 ? rc : 0;
}
