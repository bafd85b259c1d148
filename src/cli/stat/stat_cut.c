/* SPDX-License-Identifier: GPL-2.0-or-later
 * stat --cut (stat_cut.h).
 */
#include "cli/stat/stat_cut.h"
#include "softpmu/client.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CUT_RUNS_LEAST = 2 };	/* a piece's lead is the end of the piece before, so one run cannot time both */

struct cutter {			/* one of the runs; only its own threads touch it while it runs */
	struct cutting *all;
	struct cli_run run;
	struct run_sink sink;
	struct session *session;	/* of the piece that is timed; NULL: none */
	uint64_t *before, *count;	/* of each event: where the piece begins; of all pieces so far */
	uint64_t before_ns, ns;
	bool measures;			/* the piece has begun */
	bool first;			/* shows the progress, and looks for Ctrl-C */
	bool programs;			/* the program programs a PMU of its own */
	size_t pieces;
	struct run_result result;
	struct err err, why;	/* of the run; of the session of a piece */
	int rc;
	pthread_t thread;
	bool started;
};

struct cutting {
	const struct session_options *so;
	size_t events;
	unsigned runs;
	struct cutter *cutter;
	bool stop;			/* atomic */
};

int stat_cut_parse(struct stat_cut *c, const char *value, struct err *err)
{
	static const struct option length = OPT_SCALED(0, "cut", "LENGTH", struct stat_cut, length, STAT_CUT_LEAST,
		1e9, "");
	c->on = true;
	c->length = STAT_CUT_LENGTH;
	return value ? options_value(&length, c, value, err) : 0;
}

int stat_cut_check(const struct stat_cut *c, const struct cli_run *run)
{
	struct stat file;
	if (!c->on)
		return 0;
	const char *text = run_sample_misfit(&run->run);
	if (!text && run->run.replay && !stat(run->run.replay, &file) && !S_ISREG(file.st_mode))
		text = "--cut reads the stream several times: --replay must name a plain file";
	if (text)
		cli_error("%s", text);
	return text ? -1 : 0;
}

/* ---- the sink of a run ---- */

static void stop_all(struct cutter *k, int rc)
{
	if (rc && !k->rc)
		k->rc = rc;
	__atomic_store_n(&k->all->stop, true, __ATOMIC_RELAXED);
}

static uint64_t ran_ns(const struct session *s)
{
	struct session_thread t;
	session_thread_info(s, 0, &t);
	return t.running_ns;
}

static void piece_leads(struct cutter *k, struct run_thread *t)
{
	struct err err = { 0 };
	int rc = session_create(&k->session, k->all->so, &err);
	if (!rc)
		rc = session_thread_start(k->session, t, &err);
	if (!rc)
		return;
	session_destroy(k->session);
	k->session = NULL;
	k->why = err;
	stop_all(k, rc);
}

static void piece_begins(struct cutter *k)
{
	for (size_t i = 0; i < k->all->events; i++)
		k->before[i] = session_count(k->session, i);
	k->before_ns = ran_ns(k->session);
	k->measures = true;
}

static void piece_ends(struct cutter *k, struct run_thread *t)
{
	for (size_t i = 0; k->measures && i < k->all->events; i++)
		k->count[i] += session_count(k->session, i) - k->before[i];
	k->ns += k->measures ? ran_ns(k->session) - k->before_ns : 0;
	k->pieces += k->measures;
	k->measures = false;
	session_thread_end(k->session, t);
	session_destroy(k->session);
	k->session = NULL;
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct cutter *k = context;
	if (w->leads)
		piece_leads(k, t);
	else if (k->session && w->begins)
		piece_begins(k);
	else if (k->session)
		piece_ends(k, t);
	return 0;
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	struct cutter *k = context;
	if (k->session)
		session_batch(k->session, t, b);
}

static void on_end(void *context, struct run_thread *t)
{
	struct cutter *k = context;
	if (k->session)		/* the last piece is shorter */
		piece_ends(k, t);
}

static bool on_client(void *context, struct run_thread *t, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	struct cutter *k = context;
	(void)t, (void)name, (void)answer;
	switch (request->code) {
	case SPMU_CLIENT_WRMSR: case SPMU_CLIENT_APIC_WRITE: case SPMU_CLIENT_PMI: case SPMU_CLIENT_HANDLER:
		k->programs = true;
		stop_all(k, 0);
		break;
	}
	return false;
}

static int on_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	struct cutter *k = context;
	if (k->first) {
		cli_tick(&k->run, instructions, cycles);
		if (cli_interrupted())
			stop_all(k, 0);
	}
	return __atomic_load_n(&k->all->stop, __ATOMIC_RELAXED);
}

/* ---- the runs ---- */

static void *cut(void *cutter)
{
	struct cutter *k = cutter;
	int rc = (k->first ? cli_run_program(&k->run, &k->sink, &k->result, &k->err)
		: run_program(&k->run.run, &k->sink, &k->result, &k->err));
	if (!rc && !k->rc && k->programs)
		rc = err_set(&k->err, ERR_UNSUPPORTED, "the program writes registers of its PMU, so a piece depends on "
			"those before it: its stream cannot be cut");
	else if (!rc && k->rc)
		k->err = k->why;
	if (rc)
		stop_all(k, rc);
	return NULL;
}

static int prepare(struct cutting *all, const struct stat_cut *c, const struct cli_run *run,
	const struct core_wanted *wanted, struct err *err)
{
	all->cutter = calloc(all->runs, sizeof *all->cutter);
	for (unsigned i = 0; all->cutter && i < all->runs; i++) {
		struct cutter *k = &all->cutter[i];
		k->all = all;
		k->first = !i;
		k->run = *run;
		k->run.run.share = NULL;
		k->run.run.wanted = wanted;
		k->run.run.sample = (struct run_sample){ .measured = c->length, .lead = c->length / STAT_CUT_LEADS,
			.cut_step = all->runs, .cut_first = i };
		k->sink = (struct run_sink){ .context = k, .thread_end = on_end, .batch = on_batch,
			.client = on_client, .window = on_window, .tick = on_tick };
		k->before = calloc(all->events + 1, sizeof *k->before);
		k->count = calloc(all->events + 1, sizeof *k->count);
		if (!k->before || !k->count)
			return err_set(err, ERR_NOMEM, "out of memory for the pieces' counts");
	}
	return all->cutter ? 0 : err_set(err, ERR_NOMEM, "out of memory for the pieces' counts");
}

/* All but the first run in threads of their own; without a thread, or with one job, they come one after the other. */
static void run_all(struct cutting *all, unsigned jobs)
{
	for (unsigned i = 1; i < all->runs && jobs > 1; i++)
		all->cutter[i].started = !pthread_create(&all->cutter[i].thread, NULL, cut, &all->cutter[i]);
	cut(&all->cutter[0]);
	for (unsigned i = 1; i < all->runs; i++)
		if (all->cutter[i].started)
			pthread_join(all->cutter[i].thread, NULL);
		else if (!__atomic_load_n(&all->stop, __ATOMIC_RELAXED))
			cut(&all->cutter[i]);
}

int stat_cut_run(struct stat_cut *c, const struct cli_run *run, const struct session_options *so,
	struct run_result *res, struct err *err)
{
	struct cutting all = { .so = so, .events = so->events->count,
		.runs = c->jobs > CUT_RUNS_LEAST ? c->jobs : CUT_RUNS_LEAST };
	struct session *session = NULL;
	c->count = calloc(all.events + 1, sizeof *c->count);
	int rc = c->count ? session_create(&session, so, err) : err_set(err, ERR_NOMEM, "out of memory");
	if (rc)
		return rc;
	const struct core_wanted wanted = session_wanted(session);
	session_destroy(session);
	rc = prepare(&all, c, run, &wanted, err);
	if (!rc) {
		run_all(&all, c->jobs);
		*res = all.cutter[0].result;
	}
	for (unsigned i = 0; all.cutter && i < all.runs; i++) {
		struct cutter *k = &all.cutter[i];
		for (size_t e = 0; k->count && e < all.events; e++)
			c->count[e] += k->count[e];
		c->ns += k->ns;
		c->pieces += k->pieces;
		if (!rc && k->rc) {
			rc = k->rc;
			*err = k->err;
		}
		free(k->before);
		free(k->count);
	}
	free(all.cutter);
	if (rc == ERR_UNSUPPORTED)	/* what was counted until then is no part of anything */
		c->pieces = 0;
	return rc;
}

const char *stat_cut_differs(const struct core_config *core)
{
	return core->trace_sets ? "up to 2%" : "less than 0.2%";
}

void stat_cut_free(struct stat_cut *c)
{
	free(c->count);
	c->count = NULL;
}
