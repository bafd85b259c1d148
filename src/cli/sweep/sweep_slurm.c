/* SPDX-License-Identifier: GPL-2.0-or-later
 * Does tasks as job arrays of Slurm (sweep_state.h).
 *
 * A file of tasks is a job array; element k does `batch` tasks from number k * batch on.  The job's name,
 * "softpmu-SWEEP- FILE-BATCH", says all that this file needs to know of it, so that a sweep that was started again
 * finds what still runs by squeue alone, and does not submit it twice.
 *
 * An element that ends without its results (its node died, it took too much memory or time) is submitted again by the
 * next call, with twice the memory and time.  So the jobs have --no-requeue: Slurm itself would wait for minutes.
 * Where no element of a job failed by its own doing, what lacks a result was lost by the cluster (a node that died, a
 * controller that was started again).  That is no try of the tasks, up to SPARED times: a task can be why a node dies.
 * What a program's points need is measured: as long as nothing is known of a program, only one point of it runs. */
#include "cli/sweep/sweep_state.h"
#include "cli/sweep/slurm_tool.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	IN_QUEUE = 4000,	/* elements; a cluster takes 10,000 jobs of all users unless it is told otherwise */
	BATCH_SECONDS = 60,	/* an element shall run so long: starting one costs Slurm about a second */
	BATCH_MOST = 100, SPREAD = 256,	/* but there shall be so many elements, if there are as many tasks */
	SILENT = 900,		/* seconds without an answer until it is given up */
	SPARED = 20,
};

struct job {
	char name[64], id[32];
	unsigned file;
	const struct sweep_task *task;	/* NULL: of an earlier process */
	size_t tasks;
	size_t left;		/* elements in the queue now */
	bool ended;
};
struct cluster {
	struct sweep *s;
	char prefix[32];	/* of its jobs' names */
	struct job *job;
	size_t jobs, room;
	size_t largest;		/* elements of an array */
	time_t silent;		/* since when it does not answer; 0: it does */
	bool full;
};

/* ---- what a task needs ---- */

static uint64_t power_above(uint64_t least, double value)
{
	while ((double)least < value && least < UINT64_C(1) << 40)
		least *= 2;
	return least;
}

/* Megabytes: a quarter and 64 MB more than was measured, up to a power of two, so that few arrays have all tasks. */
static uint64_t megabytes(const struct sweep *s, const struct sweep_task *t)
{
	const double needs = t->kilobytes ? (double)t->kilobytes / 1024 * 1.25 + 64 : (double)(s->plan.memory >> 20);
	const unsigned again = t->tries > 1 ? t->tries - 1 : 0;
	return power_above(t->kilobytes ? 128 : 1, needs) << (again < 10 ? again : 10);
}

/* Minutes for one: three times what was measured, and one for the start. */
static uint64_t minutes(const struct sweep *s, const struct sweep_task *t, size_t batch)
{
	const double needs =
		t->kilobytes ? t->seconds * 3 * (double)batch + 60 : (double)s->plan.seconds * (double)batch;
	const unsigned again = t->tries > 1 ? t->tries - 1 : 0;
	return power_above(2, needs / 60) << (again < 6 ? again : 6);
}

static size_t batch_of(const struct sweep_task *t, size_t n)
{
	size_t batch = 1;
	if (t->kilobytes && t->tries <= 1)
		batch = t->seconds > 0 ? (size_t)(BATCH_SECONDS / t->seconds) : BATCH_MOST;
	const size_t spread = (n + SPREAD - 1) / SPREAD;
	batch = batch > spread ? spread : batch;
	return batch < 1 ? 1 : batch > BATCH_MOST ? BATCH_MOST : batch;
}

/* ---- the queue ---- */

static struct job *add_job(struct cluster *c)
{
	if (c->jobs == c->room) {
		struct job *more = realloc(c->job, (c->room + 32) * sizeof *more);
		if (!more)
			return NULL;
		c->job = more;
		c->room += 32;
	}
	c->job[c->jobs] = (struct job){ 0 };
	return c->job + c->jobs++;
}

/* Jobs of this sweep that are not known were submitted by an earlier process. */
static void count_element(void *context, const struct slurm_element *e)
{
	struct cluster *c = context;
	if (strncmp(e->name, c->prefix, strlen(c->prefix)))
		return;
	for (size_t i = 0; i < c->jobs; i++)
		if (!strcmp(c->job[i].name, e->name)) {
			c->job[i].left++;
			return;
		}
	struct job *j = add_job(c);
	if (!j)
		return;
	snprintf(j->name, sizeof j->name, "%s", e->name);
	j->file = (unsigned)strtoul(e->name + strlen(c->prefix), NULL, 10);
	j->left = 1;
}

/* Does the failure pass?  Waits then.  False after one printed line. */
static bool bear(struct cluster *c, const struct slurm_tool *t, const char *what)
{
	const time_t now = time(NULL);
	if (!t->said || !t->passes) {
		cli_error("%s: %s", what, t->error && *t->error ? t->error : "failed without a word");
		return false;
	}
	if (!c->silent) {
		c->silent = now;
		cli_warn("%s: %s; waiting for it", what, t->error);
	} else if (now > c->silent + SILENT) {
		cli_error("%s: no answer for %d minutes; the same command goes on", what, SILENT / 60);
		return false;
	}
	return true;
}

static void nap(const struct sweep *s)
{
	const double whole = floor(s->poll);
	const struct timespec t = { (time_t)whole, (long)((s->poll - whole) * 1e9) };
	nanosleep(&t, NULL);
}

/* Counts what is in the queue.  False after one printed line. */
static bool look(struct cluster *c)
{
	for (;;) {
		struct slurm_tool t = { 0 };
		for (size_t i = 0; i < c->jobs; i++)
			c->job[i].left = 0;
		const bool good = slurm_queue(&t, count_element, c), bears = good || bear(c, &t, "squeue");
		slurm_tool_free(&t);
		if (good)
			c->silent = 0;
		if (good || !bears || cli_interrupted())
			return bears;
		nap(c->s);
	}
}

static size_t in_queue(const struct cluster *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->jobs; i++)
		n += c->job[i].left;
	return n;
}

/* ---- submitting ---- */

static char *script(const char *tasks, size_t batch)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	const char *const word[] = { cli_self(), tasks };
	if (!to)
		return NULL;
	fputs("#!/bin/sh\nexec", to);
	for (int i = 0; i < 2; i++) {
		fputs(" '", to);
		for (const char *p = word[i]; *p; p++)
			fputs(*p == '\'' ? "'\\''" : (char[]){ *p, 0 }, to);
		fputs(i ? "'" : "' sweep work", to);
	}
	fprintf(to, " $((SLURM_ARRAY_TASK_ID * %zu)) %zu\n", batch, batch);
	return fclose(to) ? NULL : text;
}

/* Tasks that need the same, as one array.  False after one printed line. */
static bool submit(struct cluster *c, const struct sweep_task *task, size_t n, size_t batch)
{
	struct sweep *s = c->s;
	char path[PATH_MAX], array[32], memory[32], limit[32], name[96], log[PATH_MAX + 16];
	char *argv[16 + 32];
	size_t words = 0;
	struct slurm_tool t;
	struct job *j = NULL;
	const unsigned file = s->next_tasks;
	if (sweep_write_tasks(s, task, n, path))
		return false;
	snprintf(array, sizeof array, "--array=0-%zu", (n + batch - 1) / batch - 1);
	snprintf(memory, sizeof memory, "--mem=%lluM", (unsigned long long)megabytes(s, task));
	snprintf(limit, sizeof limit, "--time=%llu", (unsigned long long)minutes(s, task, batch));
	snprintf(name, sizeof name, "--job-name=%s%u-%zu", c->prefix, file, batch);
	snprintf(log, sizeof log, "--output=%s/logs/%u", s->dir, file);
	char *const own[] = { "sbatch", "--parsable", "--no-requeue", "--cpus-per-task=2", "--open-mode=append", array,
		memory, limit, name, log };
	for (; words < sizeof own / sizeof *own; words++)
		argv[words] = own[words];
	for (unsigned i = 0; i < s->sbatches; i++)
		argv[words++] = (char *)(uintptr_t)s->sbatch[i];
	argv[words] = NULL;
	char *input = script(path, batch);
	for (bool again = true; again && input;) {
		const bool ran = slurm_tool_run(&t, argv, input);
		again = false;
		if (ran && !t.status && (j = add_job(c))) {
			snprintf(j->name, sizeof j->name, "%.63s", name + strlen("--job-name="));
			snprintf(j->id, sizeof j->id, "%.*s", (int)strcspn(t.said, ";\n"), t.said);
			j->file = file;
			j->task = task;
			j->tasks = n;
			j->left = (n + batch - 1) / batch;
			c->silent = 0;
		} else if ((again = ran && bear(c, &t, "sbatch") && !cli_interrupted())) {
			nap(s);
		}
		if (ran)
			slurm_tool_free(&t);
	}
	if (!input)
		cli_error("out of memory");
	free(input);
	return j != NULL || cli_interrupted();
}

/* ---- what earlier jobs do already ---- */

struct keys { char (*key)[FNV_CHARS]; size_t count, room; };

static void keys_of_file(struct keys *k, const char *dir, unsigned file)
{
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	snprintf(path, sizeof path, "%s/tasks/%u", dir, file);
	FILE *from = fopen(path, "re");
	while (from && getline(&line, &room, from) > 0) {
		const char *key = strchr(line, '\t');
		if (!key || strlen(key + 1) < FNV_CHARS)
			continue;
		if (k->count == k->room) {
			void *more = realloc(k->key, (k->room + SWEEP_TASKS) * sizeof *k->key);
			if (!more)
				break;
			k->key = more;
			k->room += SWEEP_TASKS;
		}
		snprintf(k->key[k->count++], FNV_CHARS, "%.*s", FNV_CHARS - 1, key + 1);
	}
	free(line);
	if (from)
		fclose(from);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* ---- all ---- */

/* The job's tasks get back the try that this was. */
static void spare(const struct job *j)
{
	for (size_t i = 0; i < j->tasks; i++) {
		struct sweep_tries *t = j->task[i].tried;
		if (t && t->used && t->spared < SPARED) {
			t->spared++;
			t->used--;
		}
	}
}

/* Of a job that has ended: what it has left undone is said. */
static void end_job(struct cluster *c, struct job *j)
{
	char path[PATH_MAX], text[512], log[PATH_MAX];
	bool full = false, own = false;
	j->ended = true;
	if (*j->id) {
		slurm_ends(j->id, text, sizeof text, SWEEP_STATUS_FULL, &full, &own);
		if (!own)
			spare(j);
		if (*text)
			cli_warn("job %s, %s: tasks ended without a result: %s (logs/%u)", j->id, j->name, text,
				j->file);
	}
	c->full |= full;
	snprintf(path, sizeof path, "%s/tasks/%u", c->s->dir, j->file);
	unlink(path);
	snprintf(log, sizeof log, "%s/logs/%u", c->s->dir, j->file);
	FILE *f = fopen(log, "re");
	if (f) {
		const bool empty = fgetc(f) == EOF;
		fclose(f);
		if (empty)
			unlink(log);
	}
}

/* Waits until at most so many elements are in the queue.  False: go no further. */
static bool wait_for(struct cluster *c, size_t most)
{
	for (;;) {
		if (cli_interrupted()) {
			cli_error("interrupted; the jobs that were submitted go on, and the same command goes on with "
				  "what they find (scancel ends them)");
			return false;
		}
		if (!look(c) || sweep_gather(c->s))
			return false;
		for (size_t i = 0; i < c->jobs; i++)
			if (!c->job[i].left && !c->job[i].ended)
				end_job(c, c->job + i);
		if (c->full) {
			cli_error("a job could not write its result: is the disk full? The same command goes on when "
				  "there is room");
			return false;
		}
		if (in_queue(c) <= most)
			return true;
		nap(c->s);
	}
}

/* Elements that an array may have. */
static size_t largest_array(void)
{
	char *const argv[] = { "scontrol", "show", "config", NULL };
	struct slurm_tool t;
	size_t most = 1001;
	if (!slurm_tool_run(&t, argv, NULL))
		return most - 1;
	const char *at = strstr(t.said, "MaxArraySize");
	if (at && (at = strchr(at, '=')))
		most = strtoul(at + 1, NULL, 10);
	slurm_tool_free(&t);
	return most > 1 ? most - 1 : 1000;
}

static int by_needs(const void *a, const void *b, void *context)
{
	const struct sweep_task *x = a, *y = b;
	const uint64_t mx = megabytes(context, x), my = megabytes(context, y);
	const uint64_t tx = minutes(context, x, 1), ty = minutes(context, y, 1);
	return mx != my ? (mx < my ? -1 : 1) : tx != ty ? (tx < ty ? -1 : 1) : strcmp(x->key, y->key);
}

/* The tasks that are to be submitted, in the order of what they need; their number. */
static size_t choose(struct cluster *c, const struct sweep_task *task, size_t n, struct sweep_task *chosen)
{
	struct keys k = { 0 };
	size_t count = 0;
	const char *piloted = NULL;
	bool pilots = false;
	for (size_t i = 0; i < c->jobs; i++)
		keys_of_file(&k, c->s->dir, c->job[i].file);
	qsort(k.key, k.count, sizeof *k.key, compare_keys);
	for (size_t i = 0; i < n; i++)	/* few tasks are not worth the wait */
		pilots |= n > 16 && !task[i].trace && !task[i].kilobytes;
	for (size_t i = 0; i < n; i++) {
		const struct sweep_task *t = task + i;
		if (k.count && bsearch(t->key, k.key, k.count, sizeof *k.key, compare_keys))
			continue;
		if (pilots && (t->kilobytes || t->program == piloted))	/* points of a program follow each other */
			continue;
		piloted = t->program;
		chosen[count++] = *t;
	}
	free(k.key);
	qsort_r(chosen, count, sizeof *chosen, by_needs, c->s);
	return count;
}

static int run_all(struct cluster *c, const struct sweep_task *task, size_t n, struct sweep_task *chosen)
{
	struct sweep *s = c->s;
	if (!look(c))
		return 1;
	if (c->jobs && !s->quiet)
		cli_note("%zu elements of %zu jobs of an earlier run are in the queue", in_queue(c), c->jobs);
	const size_t count = choose(c, task, n, chosen);
	bool lost = false;
	for (size_t i = 0; i < count; i++)
		lost |= chosen[i].tried && chosen[i].tried->spared;
	if (lost)	/* the cluster may need a moment */
		nap(s);
	for (size_t from = 0, part; from < count; from += part) {
		const size_t batch = batch_of(chosen + from, count);
		size_t most = c->largest * batch;
		most = most > SWEEP_TASKS ? SWEEP_TASKS : most;
		for (part = 1; part < most && from + part < count; part++)
			if (megabytes(s, chosen + from) != megabytes(s, chosen + from + part) ||
				minutes(s, chosen + from, 1) != minutes(s, chosen + from + part, 1))
				break;
		if (in_queue(c) + part / batch > IN_QUEUE && !wait_for(c, IN_QUEUE - part / batch))
			return 1;
		if (!submit(c, chosen + from, part, batch))
			return 1;
	}
	return wait_for(c, 0) ? 0 : 1;
}

int sweep_slurm(struct sweep *s, const struct sweep_task *task, size_t n)
{
	struct cluster c = { .s = s, .largest = largest_array() };
	struct sweep_task *chosen = calloc(n + 1, sizeof *chosen);
	struct fnv f;
	char hex[FNV_CHARS];
	fnv_init(&f);
	fnv_text(&f, s->dir);
	fnv_hex(&f, hex);
	snprintf(c.prefix, sizeof c.prefix, "softpmu-%.8s-", hex);
	cli_catch(true);
	const int rc = chosen ? run_all(&c, task, n, chosen) : 1;
	if (!chosen)
		cli_error("out of memory");
	cli_catch(false);
	free(chosen);
	free(c.job);
	return rc;
}
