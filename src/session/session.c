/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session: does with the modelled PMU what the kernel does with a real one.  Registers are used through
 * softpmu/pmu.h only.
 *
 * This file has its threads: their start and end, their batches, and the markers and requests of the program.
 * With one PMU for events that do not fit on it, the events take turns as in the kernel: kernel/events/core.c,
 * rotate_ctx, ctx_sched_in.  Left out: inheritance of a stopped state, ring 0.
 */
#include "session/session_internal.h"
#include "softpmu/client.h"
#include <stdlib.h>
#include <string.h>

static void thread_detach(struct session *s, struct thread *t)
{
	if (t->core)
		cores_leave(s, t);
	for (unsigned k = 0; t->pmu && !t->core && k < s->pmus; k++)
		spmu_destroy(t->pmu[k]);
	if (t->job != s->job)
		free(t->job);
	t->job = s->job;
	t->core = NULL;
	for (unsigned k = 0; t->attached && k < s->pmus; k++)
		precise_destroy(t->attached[k].own);
	free(t->extra);
	free(t->branch);
	lbr_kinds_release(&t->kinds);
	t->extra = NULL;
	t->branch = NULL;
	client_release(&t->client);
	free(t->pmu);
	free(t->attached);
	free(t->pending);
	callstack_release(t->stack);
	free(t->stack);
	free(t->chain);
	t->pmu = NULL;
	t->attached = NULL;
	t->pending = NULL;
	t->stack = NULL;
	t->chain = NULL;
}

void session_thread_free(struct session *s, struct thread *t)
{
	if (!t)
		return;
	thread_detach(s, t);
	region_thread_release(&t->regions);
	free(t->ran);
	free(t->counter);
	free(t);
}

int session_thread_new(struct thread **out, struct session *s, int word_bytes, uint8_t hw_thread,
	struct shared_core *core, struct err *err)
{
	struct thread *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory");
	t->s = s;
	t->word_bytes = word_bytes;
	t->hw_thread = hw_thread;
	t->job = s->job;
	t->pending_room = 64;
	t->pmu = calloc(s->pmus, sizeof *t->pmu);
	t->attached = calloc(s->pmus, sizeof *t->attached);
	t->counter = calloc(s->items, sizeof *t->counter);
	t->pending = calloc(t->pending_room, sizeof *t->pending);
	if (s->o.call_chains) {
		t->stack = malloc(sizeof *t->stack);
		t->chain = malloc(CALLSTACK_CHAIN * sizeof *t->chain);
		if (t->stack)
			callstack_init(t->stack);
	}
	if (s->turns)
		t->ran = calloc(s->turns, sizeof *t->ran);
	int rc = 0;
	if (!t->pmu || !t->attached || !t->counter || !t->pending || (s->turns && !t->ran) ||
		(s->o.call_chains && (!t->stack || !t->chain)))
		rc = err_set(err, ERR_NOMEM, "out of memory");
	if (!rc) {
		t->core = core;
		rc = core ? cores_join(s, t, err) : sampling_attach(s, t, hw_thread, err);
	}
	for (size_t i = 0; !rc && i < s->items; i++) {
		struct counter *c = t->counter + i;
		c->period = s->item[i].period ? s->item[i].period
			: s->item[i].frequency ? s->adapted[i]
			: s->max_period;
		c->loaded = c->period;
		c->left = (int64_t)c->period;
	}
	if (!rc)
		rc = session_program(s, t, err);
	if (!rc && s->o.windows && !s->o.windows_later)
		windows_start(s, t);
	if (rc) {
		session_thread_free(s, t);
		return rc;
	}
	*out = t;
	return 0;
}

int session_thread_start(struct session *s, struct run_thread *run, struct err *err)
{
	struct thread *t = NULL;
	run->sink_private = NULL;
	for (size_t i = 0; run->siblings > 1 && i < s->items; i++)
		if (s->job[i].evtsel & SPMU_EVTSEL_ANY) {
			s->any_thread = true;
			/* its interrupt would be caused by the other thread's records */
			if (s->item[i].period || s->item[i].frequency)
				return err_set(err, ERR_UNSUPPORTED,
					"event %s counts all hardware threads of a core (AnyThread): it is counted "
					"under "
					"--smt, not sampled",
					s->job[i].event ? s->job[i].event->name : "with any=1");
		}
	if (s->threads == s->thread_room) {
		size_t room = s->thread_room ? 2 * s->thread_room : 8;
		struct thread **grown = realloc(s->thread, room * sizeof *grown);
		if (!grown)
			return err_set(err, ERR_NOMEM, "out of memory");
		s->thread = grown;
		s->thread_room = room;
	}
	struct shared_core *core = s->shares ? cores_find(s, run, err) : NULL;
	if (s->shares && !core)
		return ERR_NOMEM;
	int rc = session_thread_new(&t, s, run->word_bytes, run->hw_thread, core, err);
	if (rc)
		return rc;
	if (t->core)
		cores_resume(s, t);
	if (s->o.pebs_shared)
		rc = shared_start(s, t, run, err);
	if (!rc && s->uncore)
		rc = uncore_session_start(s->uncore, run, err);
	if (rc) {
		session_thread_free(s, t);
		return rc;
	}
	t->run = run;
	t->outside = s->o.region;
	t->pid = run->pid;
	t->tid = run->tid;
	s->thread[s->threads++] = t;
	t->client.hw_thread = run->hw_thread;
	t->client.moment = sampling_moment;
	t->client.thread = t;
	run->sink_private = t;
	return 0;
}

/* The thread's count of every item, in s->mark. */
static const uint64_t *mark(struct session *s, struct thread *t)
{
	counter_metrics(s, t);
	for (size_t i = 0; i < s->items; i++)
		s->mark[i] = counter_total(s, t, i);
	return s->mark;
}

/* A request for the thread's own PMU.  The registers of its PEBS records are kept from the moment at which the
 * program says where its DS area is. */
static void own_pmu(struct session *s, struct thread *t, const struct st_client *request, struct st_answer *answer)
{
	struct spmu_host host = { .pmi_latency = s->o.core->pmi_latency, .pmi_clock = s->o.core->pmi_clock,
		.pmi_line = s->o.core->pmi_line };
	/* a NetBurst core's threads have a PMU each for their own requests, though they share one on the machine */
	if (spmu_model_family(s->o.model) == SPMU_FAMILY_ARCH)
		host.siblings = (uint8_t)s->o.siblings;
	const struct pushout_widths widths = session_pushout_widths(s->o.core);
	for (unsigned point = 0; point < PUSHOUT_POINTS && t->run->siblings <= 1; point++)
		host.pushout_width[point] = (uint8_t)widths.at[point];
	client_request(&t->client, s->o.model, &host, request, answer);
	if (request->code == SPMU_CLIENT_WRMSR && answer->status == SPMU_CLIENT_OK)
		session_note_unmodelled(s, t->client.pmu);
	if (request->code == SPMU_CLIENT_WRMSR && request->index == MSR_IA32_DS_AREA && !t->run->registers &&
		answer->status == SPMU_CLIENT_OK) {
		t->run->wants_registers = true;
		t->registers_from = t->instructions;
	}
}

bool session_client(struct session *s, struct run_thread *run, const struct st_client *request, const char *name,
	struct st_answer *answer)
{
	struct thread *t = run->sink_private;
	const struct region *region;
	if (!t || !t->run)
		return false;
	answer->status = SPMU_CLIENT_OK;
	if (!name[0] && (request->code == SPMU_CLIENT_REGION_BEGIN || request->code == SPMU_CLIENT_REGION_END))
		return t->client.pmu;	/* a region without a name, or with one that cannot be read */
	switch (request->code) {
	case SPMU_CLIENT_PRESENT:
		break;
	case SPMU_CLIENT_REGION_BEGIN:
		region = region_begin(&s->regions, &t->regions, name, mark(s, t));
		if (region && s->o.region && !strcmp(region->name, s->o.region)) {
			for (unsigned k = 0; k < s->pmus && s->lbr && t->outside; k++) {
				cores_execute(t, k);
				lbr_clear(s->lbr, t->pmu[k]);
			}
			t->outside = false;
		}
		break;
	case SPMU_CLIENT_REGION_END:
		region = region_end(&s->regions, &t->regions, name, mark(s, t));
		if (region && s->o.region && !strcmp(region->name, s->o.region))
			t->outside = true;
		break;
	case ST_CLIENT_DUMP:
		if (name[0])
			region_dump(&s->regions, &t->regions, name, mark(s, t));
		break;
	case ST_CLIENT_ZERO:
		region_zero(&s->regions, &t->regions, mark(s, t));
		break;
	default:
		own_pmu(s, t, request, answer);
	}
	return t->client.pmu;
}

void session_thread_end(struct session *s, struct run_thread *run)
{
	struct thread *t = run->sink_private;
	if (!t || !t->run)
		return;
	if (s->o.pebs_shared)
		shared_leave(s, t);
	else
		sampling_drain(s, t);
	if (t->core)
		cores_stop(s, t);
	for (size_t i = 0; i < s->items; i++)
		counter_update(s, t, i);
	region_thread_end(&s->regions, &t->regions, mark(s, t));
	memcpy(t->comm, run->comm, sizeof t->comm);
	t->comm[sizeof t->comm - 1] = 0;
	if (s->uncore)
		uncore_session_end(s->uncore, run);
	t->run = NULL;
	t->ended = true;
	run->sink_private = NULL;
	thread_detach(s, t);
}

/* The time for which the thread has run decides whose turn it is, as with the kernel's timer. */
static void consume_in_turn(struct session *s, struct thread *t, const struct spmu_batch *b)
{
	uint64_t before = counter_total(s, t, s->clock);
	unsigned turn = (unsigned)(before / s->o.rotate_cycles % s->turns);
	spmu_consume(t->pmu[turn], b);
	spmu_consume(t->pmu[s->turns], b);	/* the clock */
	t->ran[turn] += counter_total(s, t, s->clock) - before;
}

static void consume(struct session *s, struct thread *t, const struct spmu_batch *b)
{
	if (s->turns && !t->outside)
		consume_in_turn(s, t, b);
	for (unsigned k = 0; k < s->pmus && !t->outside && !s->turns; k++)
		spmu_consume(t->pmu[k], b);
}

/* Is `other` t itself or another hardware thread of its core? */
static bool beside(const struct thread *t, const struct thread *other)
{
	return other->run &&
		(other == t || (other->run->process == t->run->process && other->run->core == t->run->core));
}

/* A thread that waits for another, perhaps until the program ends, holds up no counter for more than WAIT cycles: it
 * will go on behind them.  The watermark stays, in case it does not. */
static void pass_waiting(struct session *s, const struct thread *t)
{
	enum { WAIT = 1 << 14 };	/* longer than two batches; PMUs keep four times as many cycles */
	uint64_t all = t->reached, running = t->reached;
	for (size_t i = 0; i < s->threads; i++) {
		const struct thread *o = s->thread[i];
		if (!beside(t, o) || o->run->gone || o->reached >= running)
			continue;
		if (t->reached - o->reached <= WAIT || !o->run->waits || !o->run->waits(o->run))
			running = o->reached;
		all = o->reached < all ? o->reached : all;
	}
	if (running <= WAIT || all >= running - WAIT)
		return;
	for (size_t i = 0; i < s->threads; i++)
		for (unsigned k = 0; beside(t, s->thread[i]) && k < s->pmus; k++)
			spmu_pass(s->thread[i]->pmu[k], running - WAIT);
}

/* A PMU that counts AnyThread, or is shared, sees the records of all hardware threads of its core.  The watermark of
 * each batch is the cycle that all of them have passed. */
static void consume_with_siblings(struct session *s, struct thread *t, const struct spmu_batch *b)
{
	struct spmu_batch both = *b;
	t->reached = b->watermark > t->reached ? b->watermark : t->reached;
	pass_waiting(s, t);
	both.watermark = t->reached;
	for (size_t i = 0; i < s->threads; i++)
		if (beside(t, s->thread[i]) && !s->thread[i]->run->gone && s->thread[i]->reached < both.watermark)
			both.watermark = s->thread[i]->reached;
	if (s->shares) {
		for (size_t i = 0; i < s->threads; i++)
			for (unsigned k = 0; beside(t, s->thread[i]) && s->thread[i]->run->gone && k < s->pmus; k++)
				spmu_leave(t->pmu[k], s->thread[i]->hw_thread);
		both.is_last = b->is_last && t->core->members == 1;
		consume(s, t, &both);
		cores_settle(s, t->core, both.watermark);
		cores_deliver(s, t);
		return;
	}
	for (size_t i = 0; i < s->threads; i++) {
		both.is_last = b->is_last && s->thread[i] == t;
		if (beside(t, s->thread[i]))
			consume(s, s->thread[i], &both);
	}
}

/* The PMUs that programs set up themselves.  One with AnyThread sees the records of its core's other threads, too. */
static void consume_own(struct session *s, struct thread *t, const struct spmu_batch *b)
{
	if (s->o.siblings < 2) {
		if (t->client.pmu)
			spmu_consume(t->client.pmu, b);
		return;
	}
	struct spmu_batch both = *b;
	t->reached = both.watermark = b->watermark > t->reached ? b->watermark : t->reached;
	for (size_t i = 0; i < s->threads; i++)
		if (beside(t, s->thread[i]) && !s->thread[i]->run->gone && s->thread[i]->reached < both.watermark)
			both.watermark = s->thread[i]->reached;
	for (size_t i = 0; i < s->threads; i++) {
		struct thread *o = s->thread[i];
		both.is_last = b->is_last && o == t;
		if (o->client.pmu && (o == t || (o->client.any_thread && beside(t, o))))
			spmu_consume(o->client.pmu, o->client.any_thread ? &both : b);
	}
}

void session_batch(struct session *s, struct run_thread *run, const struct spmu_batch *b)
{
	struct thread *t = run->sink_private;
	if (!t || !t->run)
		return;
	if (s->o.pebs_shared)
		shared_arrive(s, t);
	if (s->uncore)
		uncore_session_batch(s->uncore, run, b);
	consume_own(s, t, b);
	if (s->lbr)
		lbr_batch(s->lbr, &t->kinds, b);
	if (s->any_thread || s->shares)
		consume_with_siblings(s, t, b);
	else
		consume(s, t, b);
	if (t->pendings || t->stack)
		sampling_deliver(s, t, b);
	t->instructions += b->instructions;
	if (s->o.windows && b->watermark != UINT64_MAX)
		t->reached = b->watermark;
	const bool ticks = (s->adapts && !t->windows) || s->metrics;
	if (ticks && !t->next_tick)
		t->next_tick = sampling_next_tick(s, b->base_cycle);
	if (ticks && b->watermark >= t->next_tick)
		sampling_tick(s, t, b->watermark);
	if (b->watermark > s->now)
		s->now = b->watermark;
	if (s->o.interval_cycles && s->o.interval)
		while (s->now >= s->next_interval) {
			for (size_t i = 0; i < s->threads; i++)
				if (s->thread[i]->run)
					counter_metrics(s, s->thread[i]);
			s->o.interval(s->o.context, s->next_interval);
			s->next_interval += s->o.interval_cycles;
		}
}

void session_side(struct session *s, const struct run_thread *run, const uint64_t *record)
{
	enum { PAGE_FAULT = 14 };
	const struct st_trap *trap = (const struct st_trap *)record;
	if (!run || !run->is_machine)
		return;
	const unsigned from = run->cpl != 0;
	switch (ST_HEADER_KIND(record[0])) {
	case ST_TRAP:
		s->traps.interrupts[from] += trap->interrupt;
		s->traps.exceptions[from] += !trap->interrupt;
		s->traps.faults[from] += !trap->interrupt && trap->vector == PAGE_FAULT;
		break;
	case ST_SPACE:
		s->traps.switches[from] += s->spaced && run->process_space != s->space;
		s->spaced = true;
		s->space = run->process_space;
		break;
	}
}

bool session_outside(const struct run_thread *run)
{
	const struct thread *t = run->sink_private;
	return t && t->outside;
}
