/* SPDX-License-Identifier: GPL-2.0-or-later
 * Processes that each replay the stream on one machine (tune_pool.h).
 *
 * They are forked from a parent without threads, write their counts into a pipe and exit.  The order in which
 * they end changes only the order of the lines in the state file. */
#include "cli/tune/tune_pool.h"
#include "core/machine/features.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 256 };
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

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);	/* only for the terminal; no result depends on it */
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* A replay.  Of a sampled one, a thread's sink_private is not NULL in the measured parts of windows. */
struct replay { struct energy_activity activity; bool sampled; uint64_t measured; };

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct replay *r = context;
	if (!r->sampled || t->sink_private)
		energy_batch(&r->activity, b);
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct replay *r = context;
	if (w->leads)
		return 0;
	/* windows of different threads may overlap: what counts is the sum of their lengths */
	r->measured += w->begins ? -w->instructions : w->instructions;
	t->sink_private = w->begins ? r : NULL;
	return 0;
}

/* What was counted in windows, as the whole run would have it. */
static void scale(struct replay *r, uint64_t instructions)
{
	const double by = r->measured ? (double)instructions / (double)r->measured : 0;
	for (unsigned i = 0; i < ENERGY_COUNTS_COUNT; i++)
		r->activity.n[i] = (uint64_t)((double)r->activity.n[i] * by + 0.5);
}

/* In the child: one replay. */
static void replay(const struct tune_pool *p, const char *settings, struct answer *a)
{
	struct core_features features;
	struct core_config core;
	const struct core_wanted wanted = energy_wanted();
	struct run_options o = p->run->run;
	struct run_result result;
	struct replay r = { .sampled = p->sample.measured };
	const struct run_sink sink = { .context = &r, .batch = on_batch, .window = on_window };
	*a = (struct answer){ 0 };
	core_features_init(&features, p->preset);
	if ((a->rc = *settings ? core_features_set_all(&features, settings, &a->err) : 0))
		return;
	core_features_config(&features, &core);
	o.core = &core;
	o.features = &features;
	o.wanted = &wanted;
	o.argv = NULL;
	o.save = NULL;
	o.sample = p->sample;
	a->rc = run_program(&o, &sink, &result, &a->err);
	if (r.sampled)
		scale(&r, result.instructions + result.warmed);
	a->activity = r.activity;
	if (!a->rc && r.sampled && !r.measured)
		a->rc = err_set(&a->err, ERR_INPUT, "--sample: the run is too short for a window");
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
	*w = (struct worker){ .pid = pid, .fd = fd[0], .at = at, .settings = settings, .started = now() };
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
		rc = tune_state_add(p->state, w->settings, &w->answer.activity, err);
	if (!rc) {
		fill(p, &tries[w->at], w->settings, &w->answer.activity);
		p->ran++;
		p->seconds += now() - w->started;
	}
	free(w->settings);
	return rc ? rc : 1;
}

static void show(struct tune_pool *p, const struct tune_try *first, size_t done, size_t n, unsigned running)
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
	const struct energy_activity *known = tune_state_find(p->state, settings);
	if (known) {
		fill(p, &tries[at], settings, known);
		free(settings);
		p->known++;
		return 0;
	}
	const int rc = start(p, w, at, settings, err);
	if (rc)
		free(settings);
	return rc ? rc : 1;
}

int tune_pool_measure(void *context, struct tune_try *tries, size_t n, struct err *err)
{
	struct tune_pool *p = context;
	const unsigned jobs = p->jobs < 1 ? 1 : p->jobs > JOBS ? JOBS : p->jobs;
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
		show(p, tries, done, n, running);
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
