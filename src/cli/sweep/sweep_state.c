/* SPDX-License-Identifier: GPL-2.0-or-later
 * The folder of a sweep (sweep_state.h). */
#include "cli/sweep/sweep_state.h"
#include "cli/gate/gate_surroundings.h"
#include "store/program_key.h"
#include "util/grow.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- what is counted ---- */

static bool add_event(struct sweep *s, const char *event, size_t n)
{
	for (size_t i = 0; i < s->event_count; i++)
		if (strlen(s->event[i]) == n && !strncmp(s->event[i], event, n))
			return true;
	char **grown = realloc(s->event, (s->event_count + 2) * sizeof *grown);
	if (!grown)
		return false;
	s->event = grown;
	return (grown[s->event_count] = strndup(event, n)) && ++s->event_count;
}

/* Splits a list at the commas that stand outside of slashes. */
static int add_events(struct sweep *s, const char *list, struct err *err)
{
	const char *from = list;
	bool inside = false;
	for (const char *c = list;; c++) {
		inside ^= *c == '/';
		if (*c == '{' || *c == '}' || (unsigned char)*c > '~' || (*c && (unsigned char)*c <= ' '))
			return err_set(err, ERR_INPUT,
				"events '%.100s': a sweep takes no groups, blanks or characters that "
				"are not ASCII",
				list);
		if (*c && (*c != ',' || inside))
			continue;
		if (c == from || c - from >= 128)
			return err_set(err, ERR_INPUT, "events '%.100s': an event is empty or too long", list);
		if (!add_event(s, from, (size_t)(c - from)))
			return err_set(err, ERR_NOMEM, "out of memory");
		if (!*c)
			return 0;
		from = c + 1;
	}
}

static int choose_events(struct sweep *s, struct err *err)
{
	static const char *const own[] = { "time", "energy", "edp" };
	const struct plan *p = &s->plan;
	size_t bytes = 1;
	bool known = false;
	int rc = add_events(s, "duration_time,cycles,instructions", err);
	for (size_t i = 0; i < p->event_lists && !rc; i++)
		rc = add_events(s, p->events[i], err);
	for (size_t i = 0; i < 3; i++)
		known |= !strcmp(p->objective, own[i]);
	if (!rc && !known)
		rc = add_events(s, p->objective, err);
	for (size_t i = 0; i < s->event_count; i++)
		bytes += strlen(s->event[i]) + 1;
	if (rc || !(s->events = calloc(bytes, 1)))
		return rc ? rc : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < s->event_count; i++) {
		strcat(s->events, i ? "," : "");
		strcat(s->events, s->event[i]);
	}
	if (s->event_count + 1 >= TASK_VALUES)
		return err_set(err, ERR_INPUT, "more than %d events", TASK_VALUES - 2);
	if (p->energy && !add_event(s, "energy", 6))
		return err_set(err, ERR_NOMEM, "out of memory");
	return 0;
}

/* ---- the folder ---- */

static int make_folders(struct sweep *s, struct err *err)
{
	static const char *const folder[] = { "", "/tasks", "/results", "/streams", "/logs" };
	char path[PATH_MAX], *real;
	if (s->dir_name)
		snprintf(path, sizeof path, "%s", s->dir_name);
	else
		snprintf(path, sizeof path, "%s.sweep", s->plan_path);
	if (mkdir(path, 0777) && errno != EEXIST)
		return err_system(err, "%s: cannot be made", path);
	if (!(real = realpath(path, NULL)))
		return err_system(err, "%s: cannot be found", path);
	const bool fits = snprintf(s->dir, sizeof s->dir, "%s", real) < (int)sizeof s->dir;
	free(real);
	if (!fits)
		return err_set(err, ERR_INPUT, "the name of the sweep's folder is too long");
	for (size_t i = 1; i < sizeof folder / sizeof *folder; i++) {
		snprintf(path, sizeof path, "%s%s", s->dir, folder[i]);
		if (mkdir(path, 0777) && errno != EEXIST)
			return err_system(err, "%s: cannot be made", path);
	}
	return 0;
}

/* A lock of POSIX, which network file systems pass to their server. */
static int take_lock(struct sweep *s, bool must, struct err *err)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/lock", s->dir);
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (s->lock < 0)
		return must ? err_system(err, "%s: cannot be made", path) : 0;
	if (!fcntl(s->lock, F_SETLK, &all))
		return 0;
	const bool busy = errno == EACCES || errno == EAGAIN;
	if (must && !busy)
		err_system(err, "%s: cannot be locked", path);
	close(s->lock);
	s->lock = -1;
	if (must && busy)
		return err_set(err, ERR_SYSTEM, "%s: another softpmu sweep works on it", s->dir);
	return must ? err->code : 0;
}

static int find_model(struct sweep *s, struct err *err)
{
	char key[PROGRAM_KEY_CHARS];
	const int rc = program_key("/proc/self/exe", key, err);
	snprintf(s->model, sizeof s->model, "softpmu %s %s", cli_version(), rc ? "" : key);
	snprintf(s->mode, sizeof s->mode, "%s%.40s", s->plan.detail ? "detail" : s->plan.sample ? "sample " : "default",
		s->plan.sample ? s->plan.sample : "");
	for (unsigned k = 0; k < SWEEP_TRIALS; k++)
		sweep_trial_mode(s->mode, k, s->trial_mode[k], sizeof s->trial_mode[k]);
	return rc;
}

static void count_tasks(struct sweep *s)
{
	char path[PATH_MAX];
	const struct dirent *e;
	snprintf(path, sizeof path, "%s/tasks", s->dir);
	DIR *d = opendir(path);
	while (d && (e = readdir(d))) {
		const unsigned n = (unsigned)strtoul(e->d_name, NULL, 10);
		s->next_tasks = n >= s->next_tasks && n < 1u << 30 ? n + 1 : s->next_tasks;
	}
	if (d)
		closedir(d);
}

int sweep_open(struct sweep *s, bool writes)
{
	struct err err = { 0 };
	char path[PATH_MAX];
	s->lock = -1;
	int rc = plan_read(&s->plan, s->plan_path, &err);
	if (!rc && ((rc = sweep_machines_make(&s->machines, &s->plan, cli_data_dir(), &err)) ||
		(writes && (rc = sweep_machines_try(&s->machines, cli_data_dir(), &err))))) {
		struct err why = err;
		err_set(&err, rc, "%.200s, %.800s", s->plan_path, why.text);
	}
	rc = rc ? rc : choose_events(s, &err);
	rc = rc ? rc : find_model(s, &err);
	rc = rc ? rc : sweep_table_make(&s->table, &s->plan, &s->machines, s->event, s->event_count, &err);
	rc = rc ? rc : make_folders(s, &err);
	rc = rc ? rc : take_lock(s, writes, &err);
	snprintf(path, sizeof path, "%s/results.db", s->dir);
	rc = rc ? rc : sweep_store_open(&s->store, path, true, &err);
	s->source = calloc(s->plan.programs + 1, sizeof *s->source);
	s->traced = calloc(s->plan.programs + 1, sizeof *s->traced);
	s->tried = calloc(s->plan.programs * s->machines.machines + 1, sizeof *s->tried);
	s->trial_tried = calloc(s->plan.programs * s->machines.machines + 1, sizeof *s->trial_tried);
	s->env = gate_environment(s->plan.env, s->plan.envs);
	if (!rc && (!s->source || !s->traced || !s->tried || !s->trial_tried || !s->env))
		rc = err_set(&err, ERR_NOMEM, "out of memory");
	if (rc) {
		cli_error("%s", err.text);
		return -1;
	}
	count_tasks(s);
	return 0;
}

void sweep_close(struct sweep *s)
{
	sweep_store_close(s->store);
	sweep_table_free(&s->table);
	sweep_machines_free(&s->machines);
	for (size_t i = 0; i < s->event_count; i++)
		free(s->event[i]);
	free(s->event);
	free(s->events);
	for (size_t i = 0; i < s->plan.programs && s->source; i++)
		free(s->source[i].stream);
	free(s->source);
	free(s->traced);
	free(s->tried);
	free(s->trial_tried);
	gate_environment_free(s->env);
	plan_free(&s->plan);
	if (s->lock >= 0)
		close(s->lock);
}

/* ---- results and tasks ---- */

bool sweep_has_result(const struct sweep *s, const char *key)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/results/%s", s->dir, key);
	return !access(path, F_OK);
}

/* Of a worker that was killed while it wrote.  Others may still write theirs: they are left for an hour. */
static void remove_rest(const char *path)
{
	struct stat st;
	if (!stat(path, &st) && st.st_mtime + 3600 < time(NULL))
		unlink(path);
}

static int put_result(struct sweep *s, const char *path, struct err *err)
{
	struct sweep_result r;
	struct err why = { 0 };
	if (sweep_result_read(&r, path, &why)) {
		if (why.code != ERR_INPUT)
			return err_set(err, why.code, "%s", why.text);
		cli_warn("%s; it is removed, and the task is done again", why.text);
		return 0;
	}
	const int rc = sweep_store_put(s->store, &r, err);
	if (!rc && r.trace && *r.failed) {
		cli_error("a command could not be recorded: %s", r.failed);
		s->trace_failed = true;
	}
	free(r.value);
	return rc;
}

int sweep_gather(struct sweep *s)
{
	enum { BATCH = 512 };		/* results of a transaction */
	char folder[PATH_MAX - 64], (*name)[64] = calloc(BATCH, sizeof *name);
	struct err err = { 0 };
	const struct dirent *e;
	int rc = 0;
	snprintf(folder, sizeof folder, "%s/results", s->dir);
	DIR *d = name ? opendir(folder) : NULL;
	if (!d)
		rc = name ? err_system(&err, "%s: cannot be read", folder) : err_set(&err, ERR_NOMEM, "out of memory");
	for (size_t n = 1; n && !rc;) {
		char path[PATH_MAX];
		for (n = 0; n < BATCH && (e = readdir(d));) {
			if (*e->d_name == '.' && e->d_name[1] && e->d_name[1] != '.') {
				snprintf(path, sizeof path, "%s/results/%.80s", s->dir, e->d_name);
				remove_rest(path);
			} else if (*e->d_name != '.' && strlen(e->d_name) < sizeof *name) {
				strcpy(name[n++], e->d_name);
			}
		}
		if (!n || (rc = sweep_store_begin(s->store, &err)))
			break;
		for (size_t i = 0; i < n && !rc; i++) {
			snprintf(path, sizeof path, "%s/%s", folder, name[i]);
			rc = put_result(s, path, &err);
		}
		if (!rc)
			rc = sweep_store_commit(s->store, &err);
		if (rc)
			sweep_store_rollback(s->store);
		for (size_t i = 0; i < n && !rc; i++) {	/* only now: the database has them on the disk */
			snprintf(path, sizeof path, "%s/%s", folder, name[i]);
			unlink(path);
			s->gathered++;
		}
	}
	if (d)
		closedir(d);
	free(name);
	if (rc)
		cli_error("%s", err.text);
	return rc ? -1 : 0;
}

int sweep_write_tasks(struct sweep *s, const struct sweep_task *task, size_t n, char path[PATH_MAX])
{
	char part[PATH_MAX + 8];
	snprintf(path, PATH_MAX, "%s/tasks/%u", s->dir, s->next_tasks++);
	snprintf(part, sizeof part, "%s.part", path);
	FILE *to = fopen(part, "we");
	for (size_t i = 0; i < n && to; i++)
		sweep_task_write(to, task + i);
	bool bad = !to || fflush(to) || ferror(to) || fsync(fileno(to));
	const int why = errno;
	if (to)
		bad |= fclose(to) != 0;
	errno = why;
	if (bad || rename(part, path)) {
		cli_error("cannot write %s: %m", path);
		unlink(part);
		return -1;
	}
	return 0;
}
