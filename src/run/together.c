/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several runs of one stream (together.h).
 */
#include "run/together.h"
#include "core/machine/leads.h"
#include "run/leader_share.h"
#include "stream/stream_hub.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* Runs with one leader. */
struct group {
	struct leader_share *share;	/* NULL: it is one run, which leads itself */
	bool open;			/* others may join it */
	struct group *teacher;		/* its predictors learn for this group's, too; NULL: its own do */
	struct leader_share *teaches;	/* those of this group for other groups'; NULL: for none */
	unsigned pupils;
	unsigned followers;
	struct run_one *leads;		/* one of the runs, or `extra` */
	struct run_one extra;
	struct core_config core;	/* of `extra` */
};

struct together {
	struct stream_hub *hub;
	struct run_one *run;
	unsigned runs;
	struct group *group;
	unsigned groups;
	unsigned *of;			/* of each run: its group */
	struct job { struct run_one *run; struct group *group; pthread_t thread; } *job;
	unsigned jobs;
};

/* The run has ended, or did not start: nobody waits for it any more. */
static void leave(const struct run_one *r)
{
	const struct run_options *o = &r->options;
	const bool failed = r->rc < 0 || (o->taught && leader_share_failed(o->taught));
	if (o->teaches)
		leader_share_end(o->teaches, failed);
	if (o->leads)
		leader_share_end(o->leads, failed);
	if (o->follows)
		leader_share_leave(o->follows, o->follower);
	if (o->taught)
		leader_share_leave(o->taught, o->pupil);
}

static void *run_alone(void *argument)
{
	const struct job *j = argument;
	struct run_one *r = j->run;
	r->rc = run_program(&r->options, &r->sink, &r->result, &r->err);
	leave(r);
	stream_hub_leave(r->options.hub, r->options.reader);	/* it may have failed before it joined */
	return NULL;
}

/* May the run have its leader from elsewhere? */
static bool can_follow(const struct run_one *r)
{
	const struct run_sample *s = &r->options.sample;
	return s->measured && !s->after && !s->cut_step && !r->sink.executed;
}

/* The machine that leads this one: it has the timing of the unchanged machine.  False: there is no such machine. */
static bool leader_of(const struct run_one *r, const struct core_config *unchanged, struct core_config *core)
{
	*core = *r->options.core;
	core_config_time_like(core, unchanged);
	return !core_config_check(core, NULL);
}

/* Puts the run in its group. */
static void join(struct together *t, unsigned i, const struct core_config *unchanged)
{
	struct run_one *r = &t->run[i];
	struct core_config core;
	unsigned g = t->groups;
	const bool shares = unchanged && can_follow(r) && leader_of(r, unchanged, &core);
	if (shares)
		for (g = 0; g < t->groups && !(t->group[g].open && core_config_same(&t->group[g].core, &core)); g++)
			;
	t->of[i] = g;
	struct group *own = &t->group[g];
	if (g == t->groups) {
		t->groups++;
		own->open = shares;
		own->core = shares ? core : *r->options.core;
	}
	if (!own->leads && (!shares || core_config_same(r->options.core, &own->core)))
		own->leads = r;
	else
		own->followers++;
}

static const struct core_wanted nothing = { .signal = { 0 } };

/* Makes what the group's runs share. */
static int lead(struct group *g, const struct run_one *like, struct err *err)
{
	const int rc = g->followers ? leader_share_create(&g->share, g->followers, err) : 0;
	if (rc || !g->followers)
		return rc;
	if (!g->leads) {
		g->leads = &g->extra;
		g->extra.options = like->options;
		g->extra.options.core = &g->core;
		g->extra.options.features = NULL;
		g->extra.options.wanted = &nothing;
		g->extra.sink = (struct run_sink){ .context = like->sink.context, .tick = like->sink.tick };
	}
	g->leads->options.leads = g->share;
	g->followers = 0;	/* they get their numbers now */
	return 0;
}

/* Groups whose predictors learn the same have them learn once: those of the first such group teach the others. */
static int teach(struct together *t, struct err *err)
{
	int rc = 0;
	for (unsigned g = 0; g < t->groups; g++)
		for (unsigned k = 0; k < g && t->group[g].open && !t->group[g].teacher; k++) {
			struct group *of = &t->group[k];
			if (!of->open || of->teacher || !core_config_predict_alike(&of->core, &t->group[g].core))
				continue;
			t->group[g].teacher = of;
			t->group[g].leads->options.pupil = of->pupils++;
		}
	for (unsigned g = 0; g < t->groups && !rc; g++) {
		struct group *of = &t->group[g];
		if (of->pupils)
			rc = leader_share_create(&of->teaches, of->pupils, err);
		of->leads->options.teaches = of->teaches;
		if (of->teacher)
			of->leads->options.taught = of->teacher->teaches;
	}
	return rc;
}

static int plan(struct together *t, const struct core_config *unchanged, struct err *err)
{
	t->group = calloc(t->runs + 1, sizeof *t->group);
	t->of = calloc(t->runs + 1, sizeof *t->of);
	t->job = calloc(2 * (size_t)t->runs + 1, sizeof *t->job);
	int rc = t->group && t->of && t->job ? 0 : err_set(err, ERR_NOMEM, "out of memory for replays");
	for (unsigned i = 0; i < t->runs && !rc; i++)
		join(t, i, unchanged);
	for (unsigned g = 0; g < t->groups && !rc; g++) {
		rc = lead(&t->group[g], t->run, err);
		if (t->group[g].leads == &t->group[g].extra)
			t->job[t->jobs++] = (struct job){ .run = &t->group[g].extra, .group = &t->group[g] };
	}
	rc = rc ? rc : teach(t, err);
	for (unsigned i = 0; i < t->runs && !rc; i++) {
		struct group *g = &t->group[t->of[i]];
		if (g->leads != &t->run[i]) {
			t->run[i].options.follows = g->share;
			t->run[i].options.follower = g->followers++;
		}
		t->job[t->jobs++] = (struct job){ .run = &t->run[i], .group = g };
	}
	return rc;
}

/* Starts job i.  If that fails, the others go on without it. */
static bool start(struct together *t, unsigned i)
{
	struct job *j = &t->job[i];
	struct run_one *r = j->run;
	r->options.hub = t->hub;
	r->options.reader = i;
	errno = pthread_create(&j->thread, NULL, run_alone, j);
	if (!errno)
		return true;
	r->rc = err_system(&r->err, "cannot start a replay");
	leave(r);
	stream_hub_leave(t->hub, i);
	return false;
}

/* A run got its leader, or what its predictors learned, from another one.  If that failed, so has this one. */
static void take_failure(struct run_one *r, struct leader_share *share, const struct run_one *from)
{
	if (r->rc < 0 || !leader_share_failed(share))
		return;
	if (from->rc < 0) {
		r->rc = from->rc;
		r->err = from->err;
	} else {
		r->rc = err_set(&r->err, ERR_SYSTEM, "replays that share a leader have come apart");
	}
}

/* The results of pupils and followers get what their teacher and their leader know.  One of which these failed has
 * nothing, and says why. */
static void finish(struct together *t)
{
	for (unsigned g = 0; g < t->groups; g++) {
		const struct group *of = &t->group[g], *teacher = of->teacher;
		if (!teacher)
			continue;
		of->leads->result.misses.branches = teacher->leads->result.misses.branches;
		take_failure(of->leads, teacher->teaches, teacher->leads);
	}
	for (unsigned i = 0; i < t->runs; i++) {
		const struct group *g = &t->group[t->of[i]];
		struct run_one *r = &t->run[i];
		if (!r->options.follows || r->rc < 0)
			continue;
		r->result.misses = g->leads->result.misses;
		take_failure(r, g->share, g->leads);
	}
}

int run_together(struct run_one *run, unsigned runs, const struct core_config *unchanged, struct err *err)
{
	struct together t = { .run = run, .runs = runs };
	sigset_t all, before;
	bool *started = NULL;
	int rc = plan(&t, unchanged, err);
	if (!rc && t.jobs)
		rc = stream_hub_create(&t.hub, run->options.replay, t.jobs, err);
	if (!rc && !(started = calloc(t.jobs + 1, sizeof *started)))
		rc = err_set(err, ERR_NOMEM, "out of memory for replays");
	sigfillset(&all);	/* signals stay with the caller's thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; i < t.jobs && !rc; i++)
		started[i] = start(&t, i);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!rc && t.jobs)
		stream_hub_feed(t.hub);
	for (unsigned i = 0; i < t.jobs && !rc; i++)
		if (started[i])
			pthread_join(t.job[i].thread, NULL);
	if (!rc)
		finish(&t);
	stream_hub_destroy(t.hub);
	for (unsigned g = 0; g < t.groups; g++) {
		leader_share_destroy(t.group[g].share);
		leader_share_destroy(t.group[g].teaches);
	}
	for (unsigned i = 0; i < runs; i++) {
		struct run_options *o = &run[i].options;
		o->leads = o->follows = o->teaches = o->taught = NULL;
	}
	free(started);
	free(t.job);
	free(t.of);
	free(t.group);
	return rc;
}
