/* SPDX-License-Identifier: GPL-2.0-or-later
 * Hardware threads that share their core's PMUs (--smt on NetBurst).
 *
 * A copy of the PMU is one set of 18 counters and 45 ESCRs for all threads of a core.  A thread that starts there
 * programs the counters of its own places (driver.h), a PMI goes to the thread that the CCCR names, and each thread
 * has a DS area.  As in Linux, a counter counts for one thread: T0's events are qualified by T0_USR, T1's by T1_USR.
 * What a thread counts stops with it; the registers of the others stay as they are.  A thread that ends is modelled to
 * its end before the others come to that cycle.  Its counters that look at other threads too stop only then.
 */
#include "session/session_internal.h"
#include <stdlib.h>
#include <string.h>

struct shared_core *cores_find(struct session *s, const struct run_thread *run, struct err *err)
{
	for (size_t i = 0; i < s->cores; i++)
		if (s->core[i]->process == run->process && s->core[i]->core == run->core)
			return s->core[i];
	struct shared_core *c = calloc(1, sizeof *c);
	if (s->cores == s->core_room) {
		size_t room = s->core_room ? 2 * s->core_room : 8;
		struct shared_core **grown = realloc(s->core, room * sizeof *grown);
		s->core = grown ? grown : s->core;
		s->core_room = grown ? room : s->core_room;
	}
	if (c) {
		c->pmu = calloc(s->pmus, sizeof *c->pmu);
		c->attached = calloc(s->pmus, sizeof *c->attached);
	}
	if (!c || !c->pmu || !c->attached || s->cores == s->core_room) {
		if (c) {
			free(c->pmu);
			free(c->attached);
		}
		free(c);
		err_set(err, ERR_NOMEM, "out of memory for the PMUs of a core");
		return NULL;
	}
	c->s = s;
	c->process = run->process;
	c->core = run->core;
	s->core[s->cores++] = c;
	return c;
}

void cores_free(struct session *s, struct shared_core *c)
{
	size_t i = 0;
	while (i < s->cores && s->core[i] != c)
		i++;
	if (i < s->cores)
		s->core[i] = s->core[--s->cores];
	for (unsigned k = 0; k < s->pmus; k++)
		spmu_destroy(c->pmu[k]);
	for (unsigned k = 0; k < DRIVER_THREADS; k++)
		free(c->late[k].job);
	free(c->pmu);
	free(c->attached);
	free(c);
}

void cores_execute(const struct thread *t, unsigned pmu)
{
	if (t->core)
		spmu_execute_on(t->pmu[pmu], (uint8_t)t->hw_thread);
}

bool cores_mine(const struct thread *t, size_t item)
{
	return !t->core || !t->job[item].who || t->core->owner == t;
}

/* What the event counts of a thread depends on the others: it must not stop before these have come to its end. */
static bool looks_at_others(const struct driver_event *e)
{
	return !e->who && !e->precise && !(e->evtsel & SPMU_EVTSEL_INV) &&
		(e->active || (e->event && e->event->thread_independent));
}

/* Stops and reads the counters of the thread that has ended on this hardware thread. */
static void end_late(struct session *s, struct shared_core *c, unsigned seat)
{
	struct thread *t = c->late[seat].thread;
	if (!t)
		return;
	t->core = c;
	t->pmu = c->pmu;
	t->job = c->late[seat].job;
	for (size_t i = 0; i < s->items; i++) {
		const struct driver_event *e = t->job + i;
		if (!looks_at_others(e))
			continue;
		cores_execute(t, e->pmu);
		s->driver->halt(c->pmu[e->pmu], e);
		counter_update(s, t, i);
	}
	t->core = NULL;
	t->pmu = NULL;
	t->job = s->job;
	free(c->late[seat].job);
	c->late[seat].job = NULL;
	c->late[seat].thread = NULL;
}

void cores_settle(struct session *s, struct shared_core *c, uint64_t reached)
{
	for (unsigned k = 0; k < DRIVER_THREADS; k++)
		if (c->late[k].thread && c->late[k].end <= reached)
			end_late(s, c, k);
}

int cores_join(struct session *s, struct thread *t, struct err *err)
{
	struct shared_core *c = t->core;
	int rc = 0;
	if (t->hw_thread >= DRIVER_THREADS || t->hw_thread >= s->o.siblings)
		return err_set(err, ERR_UNSUPPORTED, "a PMU is shared by at most %u hardware threads", DRIVER_THREADS);
	end_late(s, c, t->hw_thread);
	t->job = calloc(s->items, sizeof *t->job);
	c->seat[t->hw_thread] = t;
	c->members++;
	c->owner = c->owner ? c->owner : t;
	if (!t->job)
		return err_set(err, ERR_NOMEM, "out of memory");
	memcpy(t->job, s->job, s->items * sizeof *t->job);
	for (size_t i = 0; i < s->items; i++)
		driver_sit(t->job + i, t->hw_thread);
	for (unsigned k = 0; !rc && k < s->pmus; k++) {
		rc = sampling_attached(s, t, k, err);
		if (rc)
			break;
		if (t->attached[k].own)
			precise_move(t->attached[k].own, t->hw_thread);
		if (!c->pmu[k]) {
			c->attached[k] = (struct attached){ .core = c, .pmu = k };
			rc = sampling_pmu(s, &c->pmu[k], c->attached + k, t->word_bytes, 0, err);
		}
		t->pmu[k] = c->pmu[k];
		if (!rc) {
			cores_execute(t, k);
			spmu_apic_write(t->pmu[k], SPMU_APIC_LVT_PC, LVT_NMI);
		}
	}
	return rc;
}

/* Overflows whose interrupt went to this thread before it ran were lost, since nobody took it: they are over now. */
void cores_resume(struct session *s, struct thread *t)
{
	struct thread *owner = t->core->owner;
	const struct spmu_pmi all = { .status = UINT64_MAX };
	for (size_t i = 0; i < s->plain; i++) {
		const struct driver_event *e = owner->job + i;
		const unsigned to = e->pmi ? e->pmi : 1u << (unsigned)__builtin_ctz(e->who ? e->who : 1) / 2;
		bool over = false;
		if (!e->who || !e->sampled || !(to >> t->hw_thread & 1))
			continue;
		s->driver->acknowledge(t->pmu[e->pmu], &all, e, 1, e->pmu, &over);
		if (over) {
			counter_update(s, owner, i);
			counter_set_period(s, owner, i);
		}
	}
}

/* The core's events go on: a thread that stays counts them from here on. */
static void hand_over(struct session *s, struct thread *t)
{
	struct shared_core *c = t->core;
	for (unsigned k = DRIVER_THREADS; k-- > 0;)
		c->owner = c->seat[k] ? c->seat[k] : c->owner;
	for (size_t i = 0; i < s->items; i++)
		if (t->job[i].who) {
			c->owner->counter[i] = t->counter[i];	/* up to date, because the thread has ended */
			c->owner->counter[i].count = c->owner->counter[i].tick_count = 0;
		}
}

void cores_stop(struct session *s, struct thread *t)
{
	const bool last = t->core->members == 1;
	for (unsigned k = 0; t->pmu && k < s->pmus && t->pmu[k]; k++) {
		cores_execute(t, k);
		for (size_t i = 0; i < s->items; i++)
			if (t->job[i].pmu == k && !t->job[i].who && (last || !looks_at_others(t->job + i)))
				s->driver->halt(t->pmu[k], t->job + i);
		spmu_apic_write(t->pmu[k], SPMU_APIC_LVT_PC, LVT_NMI | LVT_MASKED);
	}
}

void cores_leave(struct session *s, struct thread *t)
{
	struct shared_core *c = t->core;
	cores_stop(s, t);
	c->seat[t->hw_thread] = NULL;
	if (!--c->members) {
		if (t->ended)
			cores_settle(s, c, UINT64_MAX);
		cores_free(s, c);
		return;
	}
	if (c->owner == t)
		hand_over(s, t);
	if (!t->ended)
		return;
	c->late[t->hw_thread].thread = t;
	c->late[t->hw_thread].end = t->reached;
	c->late[t->hw_thread].job = t->job;
	t->job = s->job;
}

void cores_deliver(struct session *s, const struct thread *t)
{
	for (unsigned k = 0; k < DRIVER_THREADS; k++) {
		struct thread *other = t->core->seat[k];
		if (!other || other == t || !other->pendings)
			continue;
		for (size_t i = 0; i < other->pendings; i++)	/* an index in a batch of t's */
			other->pending[i].record = 0;
		sampling_deliver(s, other, &(struct spmu_batch){ .count = 0 });
	}
}
