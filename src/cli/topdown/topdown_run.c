/* SPDX-License-Identifier: GPL-2.0-or-later
 * topdown's run (topdown_run.h): which events are counted, where batches go, and the results. */
#include "cli/common/cli_symbols.h"
#include "cli/topdown/topdown_run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting ---- */

/* --hottest: counts the event to sample next. If it cannot be counted, the samples have no period of their own. */
static bool want_sample(struct topdown *t, size_t k)
{
	char name[100];
	struct err err = { 0 };
	const char *sample = t->metrics.m.metric[k].sample;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(sample, ":"), sample);
	const struct session_parse_options how = { .model = t->model, .core = &t->run.core };
	int rc = session_parse(&t->events, &how, name, &err);
	if (!rc)
		t->sampled[k] = t->events.count - 1;
	if (rc == ERR_NOMEM)
		cli_error("%s", err.text);
	return rc != ERR_NOMEM;
}

bool topdown_choose_events(struct topdown *t)
{
	const struct metrics *m = &t->metrics.m;
	bool any = !t->no_exact;
	for (size_t k = 0; k < m->metrics; k++) {
		const struct metric *n = m->metric + k;
		if (n->refused ||
			(n->level ? n->level > t->style.level && !metrics_joins(m, k)
				  : t->no_metrics || !strcmp(n->group, "info")))
			continue;
		if (!t->run.run.assists && metrics_needs_assists(m, k))
			continue;
		if (!cli_metrics_want(&t->metrics, k, &t->events, &t->run.core, t->model, true))
			return false;
		if (t->hottest && n->sample && !want_sample(t, k))
			return false;
		any |= n->level > 0;
	}
	if (!any)
		cli_error("the PMU '%s' can count no node of the tree", t->run.core.pmu);
	return any;
}

double topdown_whole_count(void *context, size_t event)
{
	return (double)session_count(((struct topdown *)context)->session, event);
}

/* Scales as the kernel's readers do; an event that never had its turn has no count. */
double topdown_one_count(void *context, size_t event)
{
	const struct session *s = ((struct topdown *)context)->one;
	const double enabled = (double)session_enabled_ns(s, event), running = (double)session_running_ns(s, event),
		     count = (double)session_count(s, event);
	return running == enabled ? count : running > 0 ? count * enabled / running : (double)NAN;
}

double topdown_thread_count(void *context, size_t event)
{
	const struct topdown *t = context;
	return (double)session_thread_count(t->session, t->thread, event);
}

double topdown_interval_count(void *context, size_t event)
{
	struct topdown *t = context;
	double now = (double)session_count(t->session, event), since = now - t->last[event];
	t->last[event] = now;
	return since;
}

/* ---- slots ---- */

int topdown_add_slots(struct topdown *t, size_t k)
{
	uint64_t slots[SLOTS_CAUSE_COUNT], cycles;
	struct err err = { 0 };
	if (!t->threads[k].slots)
		return 0;
	if (slots_read(t->threads[k].slots, slots, &cycles, &err)) {
		cli_error("%s", err.text);
		return -1;
	}
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
		t->slots[c] += slots[c];
	return 0;
}

static double estimated_count(void *context, size_t event)
{
	double half;
	return cli_sample_total(&((struct topdown *)context)->sample, event, &half);
}

void topdown_all_slots(struct topdown *t)
{
	memset(t->slots, 0, sizeof t->slots);
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT && cli_sample_estimates(&t->sample) && t->exact; c++) {
		const double slots = estimated_count(t, t->events.count + 1 + c);
		t->slots[c] = slots > 0 ? (uint64_t)(slots + 0.5) : 0;
	}
	for (size_t k = 0; k < t->threads_count && !cli_sample_estimates(&t->sample); k++)
		if (topdown_add_slots(t, k))
			return;
}

int topdown_estimate(struct topdown *t, const struct run_result *result)
{
	struct err err = { 0 };
	memset(t->slots, 0, sizeof t->slots);
	for (size_t k = 0; k < t->threads_count; k++)
		if (t->exact && !cli_sample_has_windows(&t->sample, k) && topdown_add_slots(t, k))
			return -1;
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT && t->exact; c++)
		t->sample.detail[t->events.count + 1 + c] += (double)t->slots[c];
	if (cli_sample_finish(&t->sample, result, &err)) {
		cli_error("%s", err.text);
		return -1;
	}
	cli_metrics_values(&t->metrics, estimated_count, t, 1e-9 * estimated_count(t, t->events.count));
	return 0;
}

void topdown_exact_values(struct topdown *t)
{
	uint64_t all = 0, part;
	if (!t->exact)
		return;
	for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
		all += t->slots[c];
	for (size_t k = 0; k < t->metrics.m.metrics; k++) {
		const char *path = t->metrics.m.metric[k].exact;
		t->exact[k] =
			path && all && slots_sum(t->slots, path, &part) ? (double)part / (double)all : (double)NAN;
	}
}

void topdown_all_fields(struct topdown *t)
{
	double field[TOPDOWN_FIELDS] = { 0 }, slots = 0;
	for (size_t k = 0; k < t->threads_count; k++)
		if (t->threads[k].fields)
			topdown_fields_read(t->threads[k].fields, field, &slots);
	topdown_fields_values(&t->metrics.m, field, slots, t->fields);
}

/* ---- the run ---- */

static struct thread_slots *slots_of(struct topdown *t, const struct run_thread *run)
{
	for (size_t k = t->threads_count; k-- > 0;)
		if (t->threads[k].thread == run)
			return t->threads + k;
	return NULL;
}

static int on_start(void *context, struct run_thread *run, struct err *err)
{
	struct topdown *t = context;
	struct slots_core core = slots_core_of(&t->run.core);
	core.sites = t->per;
	struct thread_slots *more = realloc(t->threads, (t->threads_count + 1) * sizeof *more);
	if (!more)
		return err_set(err, ERR_NOMEM, "out of memory");
	t->threads = more;
	struct thread_slots *s = more + t->threads_count;
	*s = (struct thread_slots){ .thread = run, .pid = cli_symbols_pid(run) };
	int rc = t->exact ? slots_create(&s->slots, &core, err) : 0;
	if (rc)
		return rc;
	t->threads_count++;
	if (t->fields && !(s->fields = topdown_fields_start(t->model)))
		return err_set(err, ERR_NOMEM, "out of memory");
	if (t->one) {
		rc = session_thread_start(t->one, run, err);
		s->of_one = run->sink_private;
		run->sink_private = NULL;
	}
	return rc ? rc : session_thread_start(t->session, run, err);
}

/* Passes a batch (NULL: the thread's end) to the session with one PMU, which has its own sink_private. */
static void to_one(struct topdown *t, struct thread_slots *s, const struct spmu_batch *b)
{
	struct run_thread *run = s->thread;
	void *others = run->sink_private;
	run->sink_private = s->of_one;
	if (b)
		session_batch(t->one, run, b);
	else
		session_thread_end(t->one, run);
	s->of_one = run->sink_private;
	run->sink_private = others;
}

static void fail(struct topdown *t, int rc)
{
	if (rc && !t->failed)
		t->failed = rc;
}

static void place(struct topdown *t, struct thread_slots *s)
{
	if (t->places && s->slots && !s->added)
		fail(t, topdown_places_add(t->places, s->pid, s->slots, &t->why));
	s->added = true;
}

static void on_end(void *context, struct run_thread *run)
{
	struct topdown *t = context;
	struct thread_slots *s = slots_of(t, run);
	if (s) {
		if (s->slots)
			slots_end(s->slots);
		place(t, s);
		if (t->one)
			to_one(t, s, NULL);
		s->thread = NULL;
	}
	session_thread_end(t->session, run);
}

static void on_batch(void *context, struct run_thread *run, const struct spmu_batch *b)
{
	struct topdown *t = context;
	struct thread_slots *s = slots_of(t, run);
	if (s && s->slots)
		slots_batch(s->slots, b);
	if (s && s->fields)
		spmu_consume(s->fields, b);
	if (s && t->places)
		fail(t, topdown_places_batch(t->places, cli_symbols_pid(run), b, &t->why));
	if (s && t->one)
		to_one(t, s, b);
	session_batch(t->session, run, b);
}

static void on_side(void *context, struct run_thread *run, uint32_t pid, const uint64_t *record, uint64_t cycle)
{
	struct topdown *t = context;
	struct thread_slots *s = run && ST_HEADER_KIND(record[0]) == ST_SPACE ? slots_of(t, run) : NULL;
	(void)cycle;
	if (s && s->slots && s->pid != cli_symbols_pid(run)) {	/* what was charged belongs to the space before */
		place(t, s);
		s->added = false;
		slots_forget_sites(s->slots);
		s->pid = cli_symbols_pid(run);
	}
	topdown_places_side(t->places, pid, record);
}

static bool on_client(void *context, struct run_thread *run, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	return session_client(((struct topdown *)context)->session, run, request, name, answer);
}

/* Tells the estimates the thread's slots so far. */
static void tell_slots(struct topdown *t, const struct run_thread *run)
{
	const struct thread_slots *s = slots_of(t, run);
	uint64_t slots[SLOTS_CAUSE_COUNT], cycles;
	if (s && s->slots) {
		fail(t, slots_read(s->slots, slots, &cycles, &t->why));
		for (unsigned c = 0; c < SLOTS_CAUSE_COUNT; c++)
			t->sample.extra[c] = (double)slots[c];
	}
}

static void on_sampled(void *context, struct run_thread *run)
{
	tell_slots(context, run);
	cli_sample_sampled(&((struct topdown *)context)->sample, run);
}

static uint64_t on_window(void *context, struct run_thread *run, const struct run_window *w)
{
	struct topdown *t = context;
	tell_slots(t, run);
	return cli_sample_window(&t->sample, run, w);
}

static void on_executed(void *context, const struct iblock *b, unsigned insns, uint64_t times, bool repeats)
{
	cli_sample_executed(&((struct topdown *)context)->sample, b, insns, times, repeats);
}

struct run_sink topdown_sink(struct topdown *t)
{
	return (struct run_sink){ .context = t,
		.thread_start = on_start, .thread_end = on_end, .batch = on_batch, .client = on_client,
		.side = t->places ? on_side : NULL, .sampled = t->sample.on ? on_sampled : NULL,
		.window = t->sample.on ? on_window : NULL, .executed = t->sample.on ? on_executed : NULL };
}

void topdown_place_all(struct topdown *t)
{
	for (size_t k = 0; k < t->threads_count; k++)
		place(t, t->threads + k);
}
