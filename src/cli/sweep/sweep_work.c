/* SPDX-License-Identifier: GPL-2.0-or-later
 * softpmu sweep work: does tasks of a sweep, each in a process of its own, and writes a result file for each.
 *
 * A point is a run of softpmu stat.  One that fails by itself has its reason as its result; one that is killed has
 * none, and the sweep does it again. */
#include "cli/sweep/sweep_state.h"
#include "cli/stat/stat_counting.h"
#include "store/program_key.h"
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 2 * 2 * PLAN_FACTORS + 2 * PLAN_WORDS, KEPT = 1 << 20 };

struct work {
	char dir[PATH_MAX - 128];
	char model[TASK_TEXT];
};

/* ---- a child process, and what it says ---- */

struct child {
	char *said[2];		/* what it wrote to its results and to its standard error, up to KEPT bytes */
	size_t bytes[2];
	int status;
	double seconds;
	uint64_t kilobytes;
};

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);	/* for what jobs ask of a scheduler; no count depends on it */
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* In the child.  results: becomes descriptor 3. */
static void become(char *const *argv, char *const *env, int results, int errors)
{
	const struct rlimit stack = { 8 << 20, RLIM_INFINITY };
	const int null = open("/dev/null", O_RDWR);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a worker that is killed leaves nothing behind that runs */
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(errors, 2) < 0 || dup2(results, 3) < 0)
		_exit(126);
	setrlimit(RLIMIT_STACK, &stack);
	if (env)
		execve(argv[0], argv, env);
	else
		execv(argv[0], argv);
	_exit(127);
}

/* Reads both pipes until they end.  More than is kept is read and dropped. */
static void listen_to(struct child *c, int fd[2])
{
	struct pollfd p[2] = { { fd[0], POLLIN, 0 }, { fd[1], POLLIN, 0 } };
	char buffer[4096];
	for (int open = 2; open > 0;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < 2; i++) {
			if (p[i].fd < 0 || !p[i].revents)
				continue;
			const ssize_t n = read(p[i].fd, buffer, sizeof buffer);
			if (n <= 0 && !(n < 0 && errno == EINTR)) {
				p[i].fd = -1;
				open--;
			}
			for (ssize_t k = 0; k < n && c->bytes[i] < KEPT - 1; k++)
				c->said[i][c->bytes[i]++] = buffer[k];
		}
	}
}

static int run_child(struct child *c, char *const *argv, char *const *env, struct err *err)
{
	int results[2] = { -1, -1 }, errors[2] = { -1, -1 };
	struct rusage used;
	const double began = now();
	*c = (struct child){ .said = { calloc(KEPT, 1), calloc(KEPT, 1) } };
	if (!c->said[0] || !c->said[1])
		return err_set(err, ERR_NOMEM, "out of memory");
	if (pipe2(results, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))
		return err_system(err, "cannot start a run");
	const pid_t pid = fork();
	if (pid == 0)
		become(argv, env, results[1], errors[1]);
	close(results[1]);
	close(errors[1]);
	int rc = pid < 0 ? err_system(err, "cannot start a run") : 0;
	if (!rc)
		listen_to(c, (int[]){ results[0], errors[0] });
	close(results[0]);
	close(errors[0]);
	while (!rc && wait4(pid, &c->status, 0, &used) < 0)
		if (errno != EINTR)
			rc = err_system(err, "cannot wait for a run");
	c->seconds = now() - began;
	c->kilobytes = rc ? 0 : (uint64_t)used.ru_maxrss;
	return rc;
}

static void child_free(struct child *c)
{
	free(c->said[0]);
	free(c->said[1]);
}

static void last_words(const struct child *c, char *text, size_t bytes)
{
	if (!cli_last_words(c->said[1], c->bytes[1], text, bytes))
		snprintf(text, bytes, "ended with status %d, without a word", WEXITSTATUS(c->status));
}

/* ---- a point ---- */

static const char *member(struct json_object *line, const char *name)
{
	struct json_object *o;
	return json_object_object_get_ex(line, name, &o) ? json_object_get_string(o) : NULL;
}

/* The lines of stat are in the order of the events, and name them with modifiers: they are kept as they were asked for.
 */
static int read_counts(struct sweep_result *r, const struct child *c, const char *events, bool energy, struct err *err)
{
	char *lines = c->said[0], *line, *rest = NULL;
	bool sampled = false;
	const char *at = events;
	r->values = 0;
	for (line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct sweep_value *v = r->value + r->values;
		struct json_object *o = json_tokener_parse(line);
		const char *value = o ? member(o, "counter-value") : NULL,
			   *half = o ? member(o, "confidence-95") : NULL;
		size_t n = 0;
		for (bool inside = false; at[n] && (at[n] != ',' || inside); n++)
			inside ^= at[n] == '/';
		const bool good = value && r->values < TASK_VALUES && (n ? n < sizeof v->event : energy);
		if (good) {
			snprintf(v->event, sizeof v->event, "%.*s", n ? (int)n : 6, n ? at : "energy");
			v->value = *value == '<' ? NAN : strtod(value, NULL);
			v->half = half ? v->value * strtod(half, NULL) / 100 : 0;
			sampled |= half != NULL;
			energy &= n != 0;
			r->values++;
		}
		at += n + (at[n] == ',');
		json_object_put(o);
		if (!good)
			return err_set(err, ERR_INPUT, "softpmu stat printed something else than counts");
	}
	if (*at || energy)
		return err_set(err, ERR_INPUT, "softpmu stat printed fewer counts than events");
	/* stat prints no interval for what has none, and for what is exact: these two are not */
	for (size_t i = 0; i < r->values && sampled; i++)
		if (!r->value[i].half && (!strcmp(r->value[i].event, "energy") ||
			!strcmp(r->value[i].event, "duration_time")))
			r->value[i].half = NAN;
	return 0;
}

/* A node with another softpmu, other tables of events or another core's file must not answer for this one. */
static int check_machine(const struct work *w, const struct sweep_task *t, struct err *err)
{
	struct core_config config;
	char key[FNV_CHARS];
	if (strcmp(t->model, w->model))
		return err_set(err, ERR_INPUT, "the sweep was made by %.200s, but this is %.200s", t->model, w->model);
	int rc = sweep_machine_config(&config, cli_data_dir(), t->core, t->setting, t->settings, err);
	if (!rc)
		rc = sweep_machine_key(&config, cli_data_dir(), key, err);
	if (!rc && strcmp(key, t->machine))
		rc = err_set(err, ERR_INPUT, "the machine %.100s is described differently here", t->core);
	return rc;
}

/* The words of softpmu stat.  texts: owns those that are put together. */
static char **stat_words(const struct sweep_task *t, struct plan *texts, struct err *err)
{
	char **word = plan_keep(texts, (2 * t->settings + 24) * sizeof *word);
	size_t n = 0, at;
	if (!word) {
		err_set(err, ERR_NOMEM, "out of memory");
		return NULL;
	}
	const char *const first[] = { cli_self(), "stat", "-j", "--log-fd", "3", "--no-profile", "--jobs", "1", "-e",
		t->events, "--core", t->core, "--replay", t->stream };
	for (at = 0; at < sizeof first / sizeof *first; at++)
		word[n++] = (char *)(uintptr_t)first[at];
	for (at = 0; at < t->settings; at++) {
		const struct plan_setting *s = t->setting + at;
		const size_t bytes = strlen(s->field) + strlen(s->level) + 2;
		char *text = plan_keep(texts, bytes);
		if (!text) {
			err_set(err, ERR_NOMEM, "out of memory");
			return NULL;
		}
		snprintf(text, bytes, "%s=%s", s->field, s->level);
		word[n++] = s->feature ? "--feature" : "--set";
		word[n++] = text;
	}
	if (t->energy)
		word[n++] = "--energy";
	char *mode = plan_keep(texts, strlen(t->mode) + 3);
	if (!mode) {
		err_set(err, ERR_NOMEM, "out of memory");
		return NULL;
	}
	sprintf(mode, "--%s", t->mode);
	char *const parts = strstr(mode, " parts ");
	if (parts) {		/* sweep_trial_mode */
		*parts = 0;
		word[n++] = "--parts";
		word[n++] = parts + strlen(" parts ");
	}
	if (!strncmp(mode, "--sample ", 9))
		mode[8] = '=';
	if (strcmp(mode, "--default"))
		word[n++] = mode;
	word[n] = NULL;
	return word;
}

/* 1: there is a result; 0: it was killed; or an error. */
static int do_point(const struct work *w, const struct sweep_task *t, struct sweep_result *r, struct plan *texts,
	struct err *err)
{
	struct child c = { 0 };
	struct err why = { 0 };
	snprintf(r->program, sizeof r->program, "%s", t->program);
	snprintf(r->machine, sizeof r->machine, "%s", t->machine);
	snprintf(r->model, sizeof r->model, "%s", t->model);
	snprintf(r->mode, sizeof r->mode, "%s", t->mode);
	int rc = check_machine(w, t, err);
	char **word = rc ? NULL : stat_words(t, texts, err);
	if (!word)
		return err->code;
	rc = run_child(&c, word, NULL, err);
	if (!rc && WIFSIGNALED(c.status)) {
		cli_error("a run was killed by signal %d (%s)", WTERMSIG(c.status), strsignal(WTERMSIG(c.status)));
		child_free(&c);
		return 0;
	}
	r->seconds = c.seconds;
	r->kilobytes = c.kilobytes;
	if (!rc && WEXITSTATUS(c.status)) {
		/* a replay ends as its program did: that is no failure, unless stat says so */
		if (strstr(c.said[1], STAT_UNTIL_THEN) || read_counts(r, &c, t->events, t->energy, &why)) {
			last_words(&c, r->failed, sizeof r->failed);
			r->values = 0;
		}
	} else if (!rc && read_counts(r, &c, t->events, t->energy, &why)) {
		snprintf(r->failed, sizeof r->failed, "%.500s", why.text);
		r->values = 0;
	}
	child_free(&c);
	return rc ? rc : 1;
}

/* ---- the stream of a command ---- */

static int do_trace(const struct work *w, const struct sweep_task *t, struct sweep_result *r, struct plan *texts,
	struct err *err)
{
	struct child c = { 0 };
	struct fnv f;
	size_t words = 0, n = 0;
	char part[PATH_MAX];
	snprintf(part, sizeof part, "%s/streams/.%s.%ld", w->dir, t->key, (long)getpid());
	snprintf(r->file, sizeof r->file, "%s", t->file);
	while (t->argv[words])
		words++;
	char **word = plan_keep(texts, (words + 8) * sizeof *word);
	if (!word)
		return err_set(err, ERR_NOMEM, "out of memory");
	const char *const first[] = { cli_self(), "trace", "-q", t->points ? "--live-points" : "-o", part,
		"--" };
	for (; n < sizeof first / sizeof *first; n++)
		word[n] = (char *)(uintptr_t)first[n];
	for (size_t i = 0; i <= words; i++)
		word[n++] = t->argv[i];
	int rc = run_child(&c, word, t->env, err);
	r->seconds = c.seconds;
	r->kilobytes = c.kilobytes;
	if (!rc && WIFSIGNALED(c.status)) {
		cli_error("softpmu trace was killed by signal %d (%s)", WTERMSIG(c.status),
			strsignal(WTERMSIG(c.status)));
		unlink(part);
		child_free(&c);
		return 0;
	}
	if (!rc && WEXITSTATUS(c.status)) {
		char text[TASK_TEXT - 100];
		last_words(&c, text, sizeof text);
		snprintf(r->failed, sizeof r->failed, "%.80s: %s", t->argv[0], text);
	} else if (!rc) {
		fnv_init(&f);
		rc = fnv_file(&f, part, err);
		fnv_hex(&f, r->digest);
		if (!rc && rename(part, t->file))
			rc = err_system(err, "%s: cannot be made", t->file);
	}
	if (rc || *r->failed)
		unlink(part);
	child_free(&c);
	return rc ? rc : 1;
}

/* ---- the tasks ---- */

/* 0; or an exit status after one printed line. */
static int do_task(const struct work *w, char *line)
{
	struct sweep_task t;
	struct plan texts = { 0 };
	struct err err = { 0 };
	char results[PATH_MAX], there[PATH_MAX + FNV_CHARS + 2];
	int status = 0, rc = sweep_task_read(&t, line, &texts, &err);
	struct sweep_result *r = calloc(1, sizeof *r);
	snprintf(results, sizeof results, "%s/results", w->dir);
	if (!rc && (!r || !(r->value = calloc(TASK_VALUES, sizeof *r->value))))
		rc = err_set(&err, ERR_NOMEM, "out of memory");
	if (!rc) {
		snprintf(there, sizeof there, "%s/%s", results, t.key);
		strcpy(r->key, t.key);
		r->trace = t.trace;
		if (gethostname(r->host, 64))
			strcpy(r->host, "?");
		rc = !access(there, F_OK) ? 2 : t.trace ? do_trace(w, &t, r, &texts, &err)
			: do_point(w, &t, r, &texts, &err);
	}
	if (rc == 1 && sweep_result_write(r, results, &err)) {
		cli_error("%s", err.text);
		status = SWEEP_STATUS_FULL;
	} else if (rc < 0) {
		cli_error("%s", err.text);
		status = 1;
	} else if (!rc) {
		status = 1;	/* killed: said already */
	}
	if (r)
		free(r->value);
	free(r);
	plan_free(&texts);
	return status;
}

/* The folder of the sweep: that of the folder in which the tasks are. */
static bool find_dir(struct work *w, const char *tasks)
{
	char *real = realpath(tasks, NULL), *slash;
	for (int i = 0; i < 2 && real; i++)
		if ((slash = strrchr(real, '/')))
			*slash = 0;
	const bool good = real && snprintf(w->dir, sizeof w->dir, "%s", real) < (int)sizeof w->dir;
	free(real);
	return good;
}

int sweep_work(int argc, char **argv)
{
	struct work w = { 0 };
	struct err err = { 0 };
	char key[PROGRAM_KEY_CHARS], *line = NULL;
	unsigned long long first, count;
	size_t room = 0;
	int next, status = 0, go = cli_options(&sweep_work_command, NULL, NULL, argc, argv, &next);
	if (go <= 0)
		return go ? 2 : 0;
	char *end[2] = { "", "" };
	if (argc - next == 3) {
		first = strtoull(argv[next + 1], end, 10);
		count = strtoull(argv[next + 2], end + 1, 10);
	}
	if (argc - next != 3 || *end[0] || *end[1]) {
		cli_error("sweep work needs a file of tasks, the number of the first task, and how many");
		return 2;
	}
	FILE *from = fopen(argv[next], "re");
	if (!from || !find_dir(&w, argv[next])) {
		cli_error("cannot read %s: %m", argv[next]);
		if (from)
			fclose(from);
		return 1;
	}
	if (program_key("/proc/self/exe", key, &err)) {
		cli_error("%s", err.text);
		fclose(from);
		return 1;
	}
	snprintf(w.model, sizeof w.model, "softpmu %s %s", cli_version(), key);
	for (unsigned long long i = 0; i < first + count; i++) {
		const ssize_t n = getline(&line, &room, from);
		if (n <= 0)
			break;
		if (i < first)
			continue;
		line[n - 1] = line[n - 1] == '\n' ? 0 : line[n - 1];
		const int one = do_task(&w, line);
		status = one ? one : status;
		if (one == SWEEP_STATUS_FULL)
			break;
	}
	free(line);
	fclose(from);
	return status;
}

const struct cli_command sweep_work_command = {
	.name = "sweep work",
	.run = sweep_work,
	.summary = "do tasks of a sweep: what its jobs run",
	.usage = "TASKS FIRST COUNT",
	.about = "Does COUNT tasks of the file TASKS from number FIRST on (the first one is 0), and writes a result "
		 "file for each into the sweep's folder. softpmu sweep starts it, as a process or as a job of Slurm; "
		 "softpmu sweep --list prints its command lines. A task whose result is there is not done again. The "
		 "exit status is 75 if a result could not be written.",
};
