/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several runs of a file of live points (parallel.h).
 *
 * Parts are numbered in the order of their sections, which each run counts for itself: a number that the file says is
 * not trusted here.  What is read behind a part, in common sections, belongs to it; what is read before the first one,
 * to the first.  Each part that is taken ends: when its run comes to the next part, or ends.  So whoever waits for its
 * turn gets it.
 */
#include "run/points/parallel.h"
#include "run/points/parts.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEPT_MOST = 1 << 19,	/* records that a run keeps (32 MB); with more it waits for its turn */
	JOBS_MOST = 256,
};
/* Of parts in the queue: another run's, and one that no run takes (run_options.parts). */
#define OTHERS (SIZE_MAX - 1)
#define NOBODYS SIZE_MAX

struct item {			/* something for the sink */
	enum { ITEM_START, ITEM_SAMPLED, ITEM_BATCH, ITEM_SIDE, ITEM_WINDOW, ITEM_END } kind;
	bool threadless;
	struct run_thread thread;	/* of ITEM_START */
	struct spmu_batch batch;
	struct run_window window;
	uint32_t pid;
	uint64_t cycle;
	size_t bytes;
	void *data;		/* the batch's records, or the side record */
};

struct part {			/* what a part has for the sink, as far as it was not passed on */
	struct item *item;
	size_t items, room, records;
	uint64_t begin, end;	/* clock of its run */
	bool done;		/* nothing more comes */
};

struct parallel {
	const struct run_options *o;
	const struct run_sink *sink;
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t turned;
	struct part **part;		/* of each number that was taken; NULL: it was passed on */
	size_t taken, room;
	size_t turn;			/* number of the part that may call the sink */
	uint64_t now;			/* the sink's clock where that begins */
	bool stop;
	int rc;				/* of the sink */
	struct err err;
	pthread_mutex_t sinking;	/* held while the sink is called; what follows belongs to it */
	struct run_thread thread;
	bool runs_now;			/* the sink knows the thread: it has started, and not ended */
	struct runs *run;
	unsigned runs;
};

struct runs {			/* one of the runs */
	struct parallel *all;
	struct run_sink sink;
	struct run_options options;
	struct parts_watch watch;
	struct run_result result;
	struct err err;
	int rc;
	unsigned index;
	size_t seen;		/* parts that its reader has come to */
	size_t *owned;		/* numbers of those of them that it has taken and not begun, or OTHERS, NOBODYS */
	size_t first, last, room;	/* of that queue */
	struct part *now;	/* that it is in; NULL: one that it left out */
	size_t number;
	bool before;		/* no part has begun */
	bool turn;		/* it is this part's turn */
	uint64_t shift;		/* sink's clock less that of the run, if it is */
	uint64_t told;		/* its clock, as last told */
	pthread_t thread;
	bool started;
};

/* ---- what a part has for the sink ---- */

static void fail(struct parallel *all, int rc, const struct err *err)
{
	pthread_mutex_lock(&all->lock);
	if (!all->rc && rc) {
		all->rc = rc;
		all->err = *err;
	}
	all->stop = true;
	pthread_cond_broadcast(&all->turned);
	pthread_mutex_unlock(&all->lock);
}

static bool stopped(struct parallel *all)
{
	pthread_mutex_lock(&all->lock);
	const bool stop = all->stop;
	pthread_mutex_unlock(&all->lock);
	return stop;
}

static void pass(struct parallel *all, const struct item *i, const void *data, uint64_t shift)
{
	const struct run_sink *s = all->sink;
	struct run_thread *t = &all->thread;
	struct err err = { 0 };
	int rc = 0;
	if (stopped(all))
		return;
	pthread_mutex_lock(&all->sinking);
	/* a damaged file may have its thread's start in a part that is not the first */
	if (all->runs_now != (i->kind != ITEM_START) && i->kind != ITEM_SIDE) {
		pthread_mutex_unlock(&all->sinking);
		err_set(&err, ERR_INPUT, "the live points are damaged: a thread starts or ends out of place");
		fail(all, ERR_INPUT, &err);
		return;
	}
	switch (i->kind) {
	case ITEM_START:
		*t = i->thread;
		rc = s->thread_start ? s->thread_start(s->context, t, &err) : 0;
		all->runs_now = true;
		break;
	case ITEM_SAMPLED:
		if (s->sampled)
			s->sampled(s->context, t);
		break;
	case ITEM_BATCH: {
		struct spmu_batch b = i->batch;
		b.records = data;
		b.base_cycle += shift;
		b.watermark += shift;
		if (s->batch)
			s->batch(s->context, t, &b);
		break;
	}
	case ITEM_SIDE:
		if (s->side)
			s->side(s->context, i->threadless || !all->runs_now ? NULL : t, i->pid, data,
				i->cycle + (i->threadless ? 0 : shift));
		break;
	case ITEM_WINDOW:
		if (s->window)
			s->window(s->context, t, &i->window);
		break;
	case ITEM_END:
		if (s->thread_end)
			s->thread_end(s->context, t);
		all->runs_now = false;
		break;
	}
	pthread_mutex_unlock(&all->sinking);
	if (rc < 0)
		fail(all, rc, &err);
}

static void pass_kept(struct parallel *all, struct part *p, uint64_t shift)
{
	for (size_t i = 0; i < p->items; i++) {
		pass(all, &p->item[i], p->item[i].data, shift);
		free(p->item[i].data);
	}
	p->items = p->records = 0;
}

static void free_part(struct part *p)
{
	for (size_t i = 0; p && i < p->items; i++)
		free(p->item[i].data);
	if (p)
		free(p->item);
	free(p);
}

/* Waits until it is the turn of the run's part, and passes on what was kept of it. */
static void settle(struct runs *r)
{
	struct parallel *all = r->all;
	if (r->turn)
		return;
	pthread_mutex_lock(&all->lock);
	while (all->turn != r->number && !all->stop)
		pthread_cond_wait(&all->turned, &all->lock);
	r->shift = all->now - r->now->begin;
	pthread_mutex_unlock(&all->lock);
	r->turn = true;
	pass_kept(all, r->now, r->shift);
}

static bool has_turn(struct runs *r)
{
	struct parallel *all = r->all;
	if (r->turn || r->before)
		return r->turn;
	pthread_mutex_lock(&all->lock);
	const bool mine = all->turn == r->number || all->stop;
	pthread_mutex_unlock(&all->lock);
	if (mine)
		settle(r);
	return r->turn;
}

static bool room_for(struct part *p)
{
	if (p->items < p->room)
		return true;
	const size_t room = p->room ? 2 * p->room : 64;
	struct item *bigger = realloc(p->item, room * sizeof *bigger);
	if (!bigger)
		return false;
	p->item = bigger;
	p->room = room;
	return true;
}

/* Passes it on, keeps it, or forgets it if it belongs to no part of this run. */
static void take(struct runs *r, struct item item, const void *data, size_t bytes)
{
	if (!r->now)
		return;
	if (!has_turn(r)) {
		const bool room = (r->before || r->now->records < KEPT_MOST) && room_for(r->now);
		item.bytes = bytes;
		item.data = room && bytes ? malloc(bytes) : NULL;
		if (room && (!bytes || item.data)) {
			if (bytes)
				memcpy(item.data, data, bytes);
			r->now->item[r->now->items++] = item;
			r->now->records += item.kind == ITEM_BATCH ? item.batch.count : 0;
			return;
		}
		if (r->before) {
			fail(r->all, ERR_NOMEM,
				&(struct err){ .code = ERR_NOMEM, .text = "out of memory for records" });
			return;
		}
		settle(r);
	}
	pass(r->all, &item, data, r->shift);
}

/* Parts whose runs have gone on are passed on in their turn, by whoever comes to it. */
static void next_turns(struct parallel *all)
{
	for (;;) {
		pthread_mutex_lock(&all->lock);
		struct part *p = all->turn < all->taken ? all->part[all->turn] : NULL;
		const bool done = p && p->done;
		const uint64_t shift = done ? all->now - p->begin : 0;
		if (done)
			p->done = false;	/* this thread passes it on */
		pthread_mutex_unlock(&all->lock);
		if (!done)
			return;
		pass_kept(all, p, shift);
		pthread_mutex_lock(&all->lock);
		all->now += p->end - p->begin;
		all->part[all->turn++] = NULL;
		pthread_cond_broadcast(&all->turned);
		pthread_mutex_unlock(&all->lock);
		free_part(p);
	}
}

/* The run's part, if it is in one, has ended. */
static void leave_part(struct runs *r)
{
	struct parallel *all = r->all;
	if (!r->now || r->before)
		return;
	pthread_mutex_lock(&all->lock);
	r->now->end = r->told;
	r->now->done = true;
	/* a run that is far ahead waits */
	while (!r->turn && all->turn + 2 * all->runs < r->number && !all->stop)
		pthread_cond_wait(&all->turned, &all->lock);
	pthread_mutex_unlock(&all->lock);
	r->now = NULL;
	r->turn = false;
	next_turns(all);
}

/* ---- the reader's and the runner's calls ---- */

static bool takes(void *context, uint32_t number_in_file)
{
	struct runs *r = context;
	struct parallel *all = r->all;
	struct part *p = NULL;
	const bool wanted = run_takes_part(&all->o->parts, number_in_file);
	size_t number = wanted ? OTHERS : NOBODYS;
	if (r->last == r->room) {
		const size_t room = 2 * r->room + 64;
		size_t *bigger = realloc(r->owned, room * sizeof *bigger);
		if (!bigger) {
			fail(all, ERR_NOMEM, &(struct err){ .code = ERR_NOMEM, .text = "out of memory for parts" });
			return false;
		}
		r->owned = bigger;
		r->room = room;
	}
	pthread_mutex_lock(&all->lock);
	if (wanted && r->seen == all->taken && !all->stop) {
		if (all->taken == all->room) {
			const size_t room = 2 * all->room + 64;
			struct part **bigger = realloc(all->part, room * sizeof *bigger);
			if (bigger) {
				all->part = bigger;
				all->room = room;
			}
		}
		p = all->taken < all->room ? calloc(1, sizeof *p) : NULL;
		if (p) {
			number = all->taken;
			all->part[all->taken++] = p;
		}
	}
	r->seen += wanted;
	pthread_mutex_unlock(&all->lock);
	r->owned[r->last++] = number;
	return p;
}

/* A part begins, or the digest of one that was left out: what follows belongs to it, or to nobody. */
static void enter(struct runs *r)
{
	struct parallel *all = r->all;
	struct part *const kept = r->before ? r->now : NULL;
	if (r->first == r->last)	/* the file says that a part begins, but none does */
		return;
	if (r->before && r->owned[r->first] == NOBODYS) {	/* what was kept belongs to the first that is wanted */
		r->first++;
		return;
	}
	leave_part(r);
	r->number = r->owned[r->first++];
	pthread_mutex_lock(&all->lock);
	r->now = r->number < OTHERS ? all->part[r->number] : NULL;
	if (r->now)
		r->now->begin = r->told;
	if (r->now && kept && !r->number) {	/* what was before the first part */
		const bool done = r->now->done;
		*r->now = *kept;
		r->now->done = done;
		r->now->begin = 0;
		free(kept);
	} else {
		free_part(kept);
	}
	r->before = false;
	pthread_mutex_unlock(&all->lock);
}

static void section(void *context, enum st_part_what what, uint64_t unused, uint64_t now)
{
	struct runs *r = context;
	(void)unused;
	r->told = now;
	if (what == ST_PART_BEGIN || what == ST_PART_DIGEST)
		enter(r);
}

static int on_start(void *context, struct run_thread *t, struct err *err)
{
	(void)err;
	take(context, (struct item){ .kind = ITEM_START, .thread = *t }, NULL, 0);
	return 0;
}

static void on_sampled(void *context, struct run_thread *t)
{
	(void)t;
	take(context, (struct item){ .kind = ITEM_SAMPLED }, NULL, 0);
}

static void on_end(void *context, struct run_thread *t)
{
	(void)t;
	take(context, (struct item){ .kind = ITEM_END }, NULL, 0);
}

static void on_batch(void *context, struct run_thread *t, const struct spmu_batch *b)
{
	(void)t;
	take(context, (struct item){ .kind = ITEM_BATCH, .batch = *b }, b->records, b->count * sizeof *b->records);
}

static void on_side(void *context, struct run_thread *t, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	take(context, (struct item){ .kind = ITEM_SIDE, .threadless = !t, .pid = pid, .cycle = cycle }, record,
		ST_HEADER_LOW(*record));
}

static uint64_t on_window(void *context, struct run_thread *t, const struct run_window *w)
{
	struct item item = { .kind = ITEM_WINDOW, .window = *w };
	(void)t;
	item.window.frame = NULL;	/* of calls, which such a file does not have */
	item.window.frames = 0;
	take(context, item, NULL, 0);
	return 0;
}

/* What this tells is added up, so its order does not matter. */
static void on_executed(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	struct parallel *all = ((struct runs *)context)->all;
	pthread_mutex_lock(&all->sinking);
	all->sink->executed(all->sink->context, b, insns, times, repeats);
	pthread_mutex_unlock(&all->sinking);
}

static int on_tick(void *context, uint64_t instructions, uint64_t cycles)
{
	struct runs *r = context;
	struct parallel *all = r->all;
	if (!r->index && all->sink->tick) {
		pthread_mutex_lock(&all->sinking);
		const int enough = all->sink->tick(all->sink->context, instructions * all->runs, cycles);
		pthread_mutex_unlock(&all->sinking);
		if (enough)
			fail(all, 0, NULL);
	}
	return stopped(all);
}

/* ---- the runs ---- */

static void *run(void *context)
{
	struct runs *r = context;
	r->rc = run_program(&r->options, &r->sink, &r->result, &r->err);
	if (r->before) {	/* it came to no part */
		free_part(r->now);
		r->now = NULL;
	}
	leave_part(r);
	pthread_mutex_lock(&r->all->lock);	/* taken, but not begun: the file is damaged */
	for (size_t i = r->first; i < r->last; i++)
		if (r->owned[i] < OTHERS)
			r->all->part[r->owned[i]]->done = true;
	pthread_mutex_unlock(&r->all->lock);
	next_turns(r->all);
	if (r->rc)	/* what others have behind it is worth nothing, but what was before is passed on */
		fail(r->all, 0, NULL);
	return NULL;
}

static int prepare(struct parallel *all, struct err *err)
{
	all->run = calloc(all->runs, sizeof *all->run);
	for (unsigned i = 0; all->run && i < all->runs; i++) {
		struct runs *r = &all->run[i];
		*r = (struct runs){ .all = all, .index = i, .before = true, .options = *all->o,
			.watch = { .section = section, .context = r } };
		r->options.sample.jobs = 1;
		r->options.share = i ? NULL : all->o->share;
		r->options.takes = takes;
		r->options.takes_context = r;
		r->options.watch = &r->watch;
		r->sink = (struct run_sink){ .context = r, .thread_start = on_start, .thread_end = on_end,
			.batch = on_batch, .side = all->sink->side ? on_side : NULL, .tick = on_tick,
			.executed = all->sink->executed ? on_executed : NULL, .window = on_window,
			.sampled = on_sampled };
		r->now = calloc(1, sizeof *r->now);
		if (!r->now)
			return err_set(err, ERR_NOMEM, "out of memory for runs of live points");
	}
	return all->run ? 0 : err_set(err, ERR_NOMEM, "out of memory for runs of live points");
}

static void run_all(struct parallel *all)
{
	sigset_t signals, before;
	sigfillset(&signals);	/* they stay with the caller's thread */
	pthread_sigmask(SIG_SETMASK, &signals, &before);
	for (unsigned i = 1; i < all->runs; i++)
		all->run[i].started = !pthread_create(&all->run[i].thread, NULL, run, &all->run[i]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	run(&all->run[0]);	/* it takes what no other takes, so the others are not needed */
	for (unsigned i = 1; i < all->runs; i++)
		if (all->run[i].started)
			pthread_join(all->run[i].thread, NULL);
}

static void add(struct run_result *to, const struct run_result *r)
{
	to->instructions += r->instructions;
	to->warmed += r->warmed;
	to->sampled += r->sampled;
	to->rounds += r->rounds;
	to->points_seen += r->points_seen;
	to->points_mispredicted += r->points_mispredicted;
	to->unknown += r->unknown;
	to->substitute += r->substitute;
	core_misses_add(&to->misses, &r->misses);
	to->wall_seconds = r->wall_seconds > to->wall_seconds ? r->wall_seconds : to->wall_seconds;
	if (!to->note[0])
		memcpy(to->note, r->note, sizeof to->note);
}

int parallel_run(const struct run_options *o, const struct run_sink *sink, struct run_result *result,
	struct err *err)
{
	struct parallel all = { .o = o, .sink = sink,
		.runs = o->sample.jobs < JOBS_MOST ? o->sample.jobs : JOBS_MOST };
	pthread_mutex_init(&all.lock, NULL);
	pthread_mutex_init(&all.sinking, NULL);
	pthread_cond_init(&all.turned, NULL);
	memset(result, 0, sizeof *result);
	int rc = prepare(&all, err);
	if (!rc) {
		run_all(&all);
		result->wait_status = all.run[0].result.wait_status;
	}
	for (unsigned i = 0; all.run && i < all.runs; i++) {
		struct runs *r = &all.run[i];
		if (!rc && r->rc) {
			rc = r->rc;
			*err = r->err;
		}
		add(result, &r->result);
		if (r->before)
			free_part(r->now);
		free(r->owned);
	}
	if (!rc && all.rc) {
		rc = all.rc;
		*err = all.err;
	}
	if (all.runs_now && sink->thread_end)	/* after an error, too */
		sink->thread_end(sink->context, &all.thread);
	result->cycles = all.now;
	parts_total(result);
	for (size_t i = 0; i < all.taken; i++)
		free_part(all.part[i]);
	free(all.part);
	free(all.run);
	pthread_cond_destroy(&all.turned);
	pthread_mutex_destroy(&all.sinking);
	pthread_mutex_destroy(&all.lock);
	return rc;
}

/* ---- does it fit? ---- */

struct wanted { const struct run_parts *parts; size_t n; };

static bool none(void *context, uint32_t part)
{
	struct wanted *w = context;
	w->n += run_takes_part(w->parts, part);
	return false;
}

/* No request of the program is in a span, which holds no blocks. */
static bool is_quiet(const struct stream_span *span)
{
	for (size_t at = 0; at < span->count;) {
		const unsigned kind = ST_HEADER_KIND(span->words[at]);
		const uint32_t bytes = ST_HEADER_LOW(span->words[at]);
		if (kind == ST_CHUNK_END)
			return true;
		if (kind <= ST_BLOCK_OPEN || kind == ST_CLIENT || bytes < 8 || bytes % 8 ||
			bytes / 8 > span->count - at)
			return false;
		at += bytes / 8;
	}
	return true;
}

bool parallel_fits(const struct run_options *o, const struct run_sink *sink)
{
	struct stream *s;
	struct stream_span span;
	struct st_points unused;
	struct wanted wanted = { .parts = &o->parts };
	bool quiet = true;
	int got;
	if (!o->replay || o->hub || o->takes || o->sample.jobs < 2 || !o->sample.measured || o->sample.after ||
		o->sample.cut_step || o->follows || o->leads || o->teaches || o->taught || o->calls || o->history ||
		o->heap || !stream_points(o->replay, &unused) ||
		stream_open_parts(&s, o->replay, none, &wanted, NULL))
		return false;
	while ((got = stream_next(s, &span, NULL)) == STREAM_SPAN && quiet)
		quiet = !sink->client || is_quiet(&span);
	stream_close(s);
	return got == STREAM_END && quiet && wanted.n > 1;
}
