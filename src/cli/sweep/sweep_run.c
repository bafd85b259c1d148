/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a sweep: the streams of its commands, then its points, in rounds if machines are eliminated (sweep_state.h).
 *
 * What is to be done follows from the plan and the database alone.  So a sweep that ended in whatever way goes on where
 * it was, and which results came first changes nothing. */
#include "cli/sweep/sweep_state.h"
#include "store/program_key.h"
#include "stream/stream.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- programs ---- */

/* The digest of a stream, which is not read again while size and time stay. */
static int stream_key(struct sweep *s, const char *path, char key[FNV_CHARS], struct err *err)
{
	struct fnv f;
	struct stat st;
	if (stat(path, &st))
		return err_system(err, "%s: cannot be opened", path);
	const int64_t ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	int rc = sweep_store_file(s->store, path, st.st_size, ns, key, err);
	if (rc)
		return rc < 0 ? rc : 0;
	fnv_init(&f);
	if ((rc = fnv_file(&f, path, err)))
		return rc;
	fnv_hex(&f, key);
	return sweep_store_file_put(s->store, path, st.st_size, ns, key, err);
}

/* Paths of a plan are relative to where softpmu was started. */
static int know_stream(struct sweep *s, size_t i, struct err *err)
{
	const char *path = s->plan.program[i].stream;
	struct sweep_source *of = s->source + i;
	if (!(of->stream = realpath(path, NULL)))
		return err_system(err, "stream '%s': %s", s->plan.program[i].name, path);
	of->known = true;
	return stream_key(s, of->stream, of->key, err);
}

/* Where the shell would find the command; its content is a part of its key. */
static int find_program(const char *name, char path[PATH_MAX], struct err *err)
{
	const char *at = getenv("PATH");
	struct stat st;
	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && !access(path, X_OK) ? 0
			: err_system(err, "%s: cannot be executed", name);
	for (size_t n; at && *at; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)n, at, name) < PATH_MAX && !access(path, X_OK) &&
			!stat(path, &st) && S_ISREG(st.st_mode))
			return 0;
	}
	return err_set(err, ERR_INPUT, "%s: there is no such program", name);
}

/* Behind the key of a command that is recorded as live points. */
#define LIVE_POINTS " points"

/* The task that records the program's stream; its key also holds what the program and the tracer are. */
static int trace_task(struct sweep *s, size_t i, struct sweep_task *t, struct plan *texts, struct err *err)
{
	char path[PATH_MAX], key[PROGRAM_KEY_CHARS], tracer[PROGRAM_KEY_CHARS], *text, *file;
	int rc = find_program(s->plan.program[i].argv[0], path, err);
	rc = rc ? rc : program_key(path, key, err);
	snprintf(path, sizeof path, "%s/softpmu-tracer-amd64-linux", cli_tracer_dir());
	rc = rc ? rc : program_key(path, tracer, err);
	if (rc)
		return rc;
	text = plan_keep(texts, sizeof key + sizeof tracer + sizeof LIVE_POINTS);
	file = plan_keep(texts, PATH_MAX);
	if (!text || !file)
		return err_set(err, ERR_NOMEM, "out of memory");
	sprintf(text, "%s %s%s", key, tracer, s->plan.live_points ? LIVE_POINTS : "");
	*t = (struct sweep_task){ .trace = true, .points = s->plan.live_points, .program = text, .env = s->env,
		.argv = s->plan.program[i].argv };
	sweep_task_key(t);
	snprintf(file, PATH_MAX, "%s/streams/%s", s->dir, t->key);
	t->file = file;
	return 0;
}

/* Finds the streams that there are; the tasks for the others go into task[].  Returns 0, or an error. */
static int know_programs(struct sweep *s, struct sweep_task *task, size_t *tasks, struct plan *texts, struct err *err)
{
	char file[PATH_MAX];
	struct st_points points;
	*tasks = 0;
	int rc = sweep_store_begin(s->store, err);
	for (size_t i = 0; i < s->plan.programs && !rc; i++) {
		struct sweep_source *of = s->source + i;
		if (of->known)
			continue;
		if (s->plan.program[i].stream) {
			rc = know_stream(s, i, err);
			continue;
		}
		struct sweep_task t;
		if ((rc = trace_task(s, i, &t, texts, err)))
			break;
		const int found = sweep_store_capture(s->store, t.key, file, sizeof file, of->key, err);
		if (found < 0) {
			rc = found;
		} else if (found && !access(t.file, R_OK)) {
			of->known = true;
			if (!(of->stream = strdup(t.file)))
				rc = err_set(err, ERR_NOMEM, "out of memory");
		} else if (s->traced[i].used++ < s->tries) {
			t.tried = s->traced + i;
			task[(*tasks)++] = t;
		} else {
			rc = err_set(err, ERR_INPUT, "the program '%s' could not be recorded", s->plan.program[i].name);
		}
	}
	for (size_t i = 0; i < s->plan.programs && !rc; i++) {
		s->table.program[i] = s->source[i].known ? s->source[i].key : NULL;
		if (s->source[i].known && s->plan.by_points)
			s->table.has_points[i] = stream_points(s->source[i].stream, &points);
		if (s->source[i].known)
			rc = sweep_store_name(s->store, false, s->source[i].key, s->plan.program[i].name, err);
	}
	for (size_t m = 0; m < s->machines.machines && !rc; m++)
		rc = sweep_store_name(s->store, true, s->machines.machine[m].key, s->machines.machine[m].name, err);
	rc = rc ? rc : sweep_store_commit(s->store, err);
	if (rc)
		sweep_store_rollback(s->store);
	return rc;
}

int sweep_know(struct sweep *s, struct err *err)
{
	struct plan texts = { 0 };
	struct sweep_task *task = calloc(s->plan.programs + 1, sizeof *task);
	size_t tasks;
	const int rc = task ? know_programs(s, task, &tasks, &texts, err) : err_set(err, ERR_NOMEM, "out of memory");
	free(task);
	plan_free(&texts);
	return rc;
}

/* ---- points ---- */

/* trial: a part of the point (sweep_trial_reach), from 0; -1: all of it. */
static void point_task(const struct sweep *s, size_t program, size_t machine, int trial, struct sweep_task *t)
{
	const size_t point = program * s->table.count + machine;
	const struct sweep_machine *m = s->machines.machine + machine;
	*t = (struct sweep_task){ .program = s->source[program].key,
		.machine = m->key,
		.model = s->model,
		.mode = trial < 0 ? s->mode : s->trial_mode[trial],
		.events = s->events,
		.energy = s->plan.energy,
		.stream = s->source[program].stream,
		.core = m->core,
		.setting = m->setting,
		.settings = m->settings,
		.kilobytes = s->table.kilobytes[program],
		.seconds = s->table.kilobytes[program] ? s->table.seconds[program] : 0,
		.tried = trial < 0 ? s->tried + point : s->trial_tried[point] + trial };
	if (s->plan.by_points && (trial >= 0 || !t->kilobytes)) {
		t->kilobytes = s->table.trial_kilobytes[program];
		t->seconds = s->table.trial_seconds[program] * (trial < 0 ? SWEEP_PARTS : 1);
	}
	t->tries = t->tried->used;
	sweep_task_key(t);
}

/* A task that again and again ends without a result is given up, and known as failed. */
static int give_up(struct sweep *s, const struct sweep_task *t, struct err *err)
{
	struct sweep_result r = { 0 };
	strcpy(r.key, t->key);
	snprintf(r.program, sizeof r.program, "%s", t->program);
	snprintf(r.machine, sizeof r.machine, "%s", t->machine);
	snprintf(r.model, sizeof r.model, "%s", t->model);
	snprintf(r.mode, sizeof r.mode, "%s", t->mode);
	snprintf(r.failed, sizeof r.failed, "it ended %u times without a result", s->tries);
	s->lost++;
	return sweep_store_put(s->store, &r, err);
}

/* Of equal streams under two names one is run. */
static bool same_stream_before(const struct sweep *s, size_t at)
{
	for (size_t i = 0; i < at && s->plan.programs <= 1000; i++)
		if (!strcmp(s->source[s->table.order[i]].key, s->source[s->table.order[at]].key))
			return true;
	return false;
}

/* The tasks that are missing, in task[], up to SWEEP_AT_ONCE; *all: how many are missing. */
struct missing { struct sweep_task *task; size_t tasks, all; };

static int add_missing(struct sweep *s, size_t program, size_t machine, int trial, struct missing *to, struct err *err)
{
	struct sweep_task *const task = to->task + to->tasks;
	to->all++;
	if (to->tasks == SWEEP_AT_ONCE)
		return 0;
	point_task(s, program, machine, trial, task);
	if (task->tried->used++ >= s->tries)
		return give_up(s, task, err);
	to->tasks++;
	return 0;
}

/* Is the machine left?  The first one always is, where whole files are run: it is what others are compared with. */
static bool is_left(const struct sweep_table *t, size_t machine, bool whole)
{
	return !t->gone[machine] || (whole && t->plan->by_points && !machine);
}

/* The order is that of programs, then machines: those that run at the same time read the same stream. */
static int find_missing(struct sweep *s, struct missing *to, struct err *err)
{
	const struct sweep_table *t = &s->table;
	const size_t reach = sweep_table_reach(t);
	const unsigned parts = sweep_trial_reach(t);
	int rc = 0;
	to->tasks = to->all = 0;
	for (size_t i = 0; i < (parts ? t->programs : reach) && !rc; i++) {
		const size_t p = t->order[i];
		if (same_stream_before(s, i) || (parts && !t->has_points[p]))
			continue;
		for (size_t m = 0; m < t->count && !rc; m++) {
			const size_t point = p * t->count + m;
			for (unsigned k = 0; k < parts && is_left(t, m, false) && !rc; k++)
				if (t->trial_state[point][k] == SWEEP_MISSING)
					rc = add_missing(s, p, m, (int)k, to, err);
			if (!parts && is_left(t, m, true) && t->state[point] == SWEEP_MISSING && !rc)
				rc = add_missing(s, p, m, -1, to, err);
		}
	}
	return rc;
}

/* ---- a printed list ---- */

/* A word for the shell; in a makefile a dollar sign stands twice. */
static void print_word(const char *text, bool make)
{
	putchar('\'');
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : make && *text == '$' ? "$$" : (char[]){ *text, 0 }, stdout);
	putchar('\'');
}

/* The name of a target: that of the result, which a makefile can hold if the folder's name is plain. */
static void print_target(const struct sweep *s, const struct sweep_task *t)
{
	for (const char *c = s->dir; *c; c++)
		fputs(*c == '$' ? "$$" : *c == ' ' || *c == '#' || *c == ':' ? (char[]){ '\\', *c, 0 }
			: (char[]){ *c, 0 }, stdout);
	printf("/results/%s", t->key);
}

/* The commands of the tasks: for GNU parallel a line each; for make a target each. */
static int print_list(struct sweep *s, const struct sweep_task *task, size_t n)
{
	char path[PATH_MAX];
	const bool make = s->list == SWEEP_LIST_MAKE;
	if (make)
		fputs(".PHONY: all\nall:", stdout);
	for (size_t i = 0; i < n && make; i++) {
		fputs(" \\\n  ", stdout);
		print_target(s, task + i);
	}
	for (size_t from = 0; from < n; from += SWEEP_TASKS) {
		const size_t part = n - from < SWEEP_TASKS ? n - from : SWEEP_TASKS;
		if (sweep_write_tasks(s, task + from, part, path))
			return 1;
		for (size_t i = 0; i < part; i++) {
			if (make) {
				fputs("\n", stdout);
				print_target(s, task + from + i);
				fputs(":\n\t", stdout);
			}
			print_word(cli_self(), make);
			fputs(" sweep work ", stdout);
			print_word(path, make);
			printf(" %zu 1\n", i);
		}
	}
	if (make && !n)
		putchar('\n');
	return 0;
}

/* ---- all of it ---- */

static int execute(struct sweep *s, const struct sweep_task *task, size_t n)
{
	return s->list ? print_list(s, task, n) : s->slurm ? sweep_slurm(s, task, n) : sweep_local(s, task, n);
}

/* How it stands, when nothing more is to be done.  The exit status. */
static int finish(const struct sweep *s)
{
	const struct sweep_table *t = &s->table;
	size_t done = 0, failed = 0, gone = 0, some = 0;
	for (size_t i = 0; i < t->programs * t->count; i++) {
		done += t->state[i] == SWEEP_DONE;
		failed += t->state[i] == SWEEP_FAILED;
		if (t->state[i] == SWEEP_FAILED && !some)
			some = i + 1;
	}
	for (size_t m = 0; m < t->count; m++)
		gone += t->gone[m] != 0;
	if (!s->quiet)
		cli_note("%zu program%s on %zu machine%s: %zu points done%s", t->programs,
			t->programs == 1 ? "" : "s", t->count, t->count == 1 ? "" : "s", done,
			failed ? "" : "; softpmu sweep report prints them");
	if (gone && !s->quiet)
		cli_note("%zu machines were eliminated, which saved %zu points", gone, t->programs * t->count - done -
			failed);
	if (failed)
		cli_error("%zu points failed, the first one: %s on %s: %s", failed,
			s->plan.program[(some - 1) / t->count].name,
			s->machines.machine[(some - 1) % t->count].name, t->failed[some - 1]);
	return failed ? 1 : 0;
}

static int go_on(struct sweep *s, struct sweep_task *task, struct plan *texts, struct err *err)
{
	struct missing missing = { .task = task };
	size_t n;
	int rc;
	for (;;) {
		if ((rc = know_programs(s, task, &n, texts, err)))
			return rc;
		if (!n)
			break;
		if (s->dry) {
			printf("%zu commands are recorded first\n", n);
			return 0;
		}
		if (execute(s, task, n) || s->trace_failed)
			return 1;
		if (s->list)
			return 0;
	}
	bool any = !s->plan.by_points;
	for (size_t i = 0; i < s->table.programs && !any; i++)
		any = s->table.has_points[i];
	if (!any)
		return err_set(err, ERR_INPUT, "'eliminate points' needs files of live points, and the plan has "
			"none: the line 'live-points' records its programs so");
	for (;;) {
		if ((rc = sweep_table_read(&s->table, s->store, s->model, s->mode, err)))
			return rc;
		if ((rc = sweep_store_begin(s->store, err)))
			return rc;
		const size_t lost = s->lost;
		rc = find_missing(s, &missing, err);
		rc = rc ? rc : sweep_store_commit(s->store, err);
		if (rc) {
			sweep_store_rollback(s->store);
			return rc;
		}
		if (s->dry) {
			printf("%zu programs, %zu machines; %zu points are missing now\n", s->table.programs,
				s->table.count, missing.all);
			return 0;
		}
		if (!missing.tasks && s->lost != lost)
			continue;
		if (!missing.tasks)
			return finish(s);
		if (execute(s, task, missing.tasks))
			return 1;
		if (s->list)
			return 0;
	}
}

int sweep_run(struct sweep *s)
{
	struct err err = { 0 };
	struct plan texts = { 0 };
	const size_t most = s->plan.programs > SWEEP_AT_ONCE ? s->plan.programs : SWEEP_AT_ONCE;
	struct sweep_task *task = calloc(most + 1, sizeof *task);
	int rc = task ? 0 : err_set(&err, ERR_NOMEM, "out of memory");
	if (!rc && s->retry)
		rc = sweep_store_forget_failures(s->store, &err);
	if (!rc && sweep_gather(s))
		rc = 1;
	if (!rc)
		rc = go_on(s, task, &texts, &err);
	if (err.code)
		cli_error("%s", err.text);
	free(task);
	plan_free(&texts);
	return rc < 0 ? 1 : rc;
}
