/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session's counters.  Every counter, sampling or not, is preset to minus what is left of its period, and
 * interrupts when it overflows; the handler adds what was counted and presets it again.  An event that is only
 * counted has the longest period that the counter allows, so that no wrap is missed.
 * Source of the arithmetic: Linux, arch/x86/events/core.c, x86_perf_event_update and x86_perf_event_set_period.
 */
#include "session/session_internal.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

uint64_t counter_mask(const struct session *s, size_t i)
{
	return (UINT64_C(1) << (s->job[i].pushout ? 48 : s->driver->counter_bits(s->o.model, s->job + i))) - 1;
}

static uint64_t counter_read(const struct session *s, const struct thread *t, size_t i)
{
	const struct driver_event *e = t->job + i;
	uint64_t v = 0;
	if (e->pushout) {
		spmu_rdmsr(t->pmu[e->pmu], MSR_PUSHOUT(e->counter, COUNT), &v);
		return v;
	}
	if (driver_is_metric(e))
		return driver_metric_read(t->pmu[e->pmu], e);
	/* At CPL 0, CR4.PCE does not matter; and the index was accepted when the counter was programmed. */
	/* a Pentium without MMX */
	if (spmu_rdpmc(t->pmu[e->pmu], s->driver->rdpmc(s->o.model, e), 0, &v) == SPMU_UD) {
		const char *name;
		spmu_rdmsr(t->pmu[e->pmu], s->driver->counter_msr(s->o.model, e, &name), &v);
	}
	return v;
}

uint64_t counter_since(const struct session *s, const struct thread *t, size_t i)
{
	return cores_mine(t, i) ? (counter_read(s, t, i) - t->counter[i].prev) & counter_mask(s, i) : 0;
}

uint64_t counter_total(const struct session *s, const struct thread *t, size_t i)
{
	return t->counter[i].count + (t->run ? counter_since(s, t, i) : 0);
}

/* Reads one copy's metrics and resets them: each share is of the slots since the last reset. */
static void update_metrics(const struct session *s, struct thread *t, unsigned pmu)
{
	for (size_t i = 0; i < s->items; i++)
		if (t->job[i].pmu == pmu && driver_is_metric(t->job + i))
			t->counter[i].count += counter_since(s, t, i);
	driver_metric_reset(t->pmu[pmu]);	/* accepted when they were programmed */
}

void counter_metrics(const struct session *s, struct thread *t)
{
	for (size_t i = 0; i < s->items && s->metrics; i++)
		if (driver_is_metric(t->job + i))
			update_metrics(s, t, t->job[i].pmu);	/* again for the next of the same copy: adds 0 */
}

void counter_update(const struct session *s, struct thread *t, size_t i)
{
	struct counter *c = t->counter + i;
	if (driver_is_metric(t->job + i)) {
		update_metrics(s, t, t->job[i].pmu);
		return;
	}
	uint64_t delta = counter_since(s, t, i);
	c->count += delta;
	c->left -= (int64_t)delta;
	c->prev = (c->prev + delta) & counter_mask(s, i);
}

int counter_write(const struct session *s, struct thread *t, size_t i, uint64_t value)
{
	const char *name;
	const struct driver_event *e = t->job + i;
	if (e->pushout)
		return spmu_wrmsr(t->pmu[e->pmu], MSR_PUSHOUT(e->counter, COUNT), value);
	if (driver_is_metric(e))	/* it interrupts nobody, so it has no period */
		return driver_metric_reset(t->pmu[e->pmu]);
	return spmu_wrmsr(t->pmu[e->pmu], s->driver->counter_msr(s->o.model, e, &name),
		s->driver->counter_value(s->o.model, e, value));
}

/* Writes the counter, and the value with which PEBS reloads it. */
int counter_preset(const struct session *s, struct thread *t, size_t i, uint64_t value)
{
	const struct driver_event *e = t->job + i;
	if (!cores_mine(t, i))
		return 0;
	int rc = counter_write(s, t, i, value);
	if (e->precise)
		precise_reload(t->attached[e->pmu].precise, e, t->counter[i].reload = value);
	/* NetBurst's preset is one less: its interrupt comes with the event after the overflow */
	t->counter[i].prev = counter_read(s, t, i);
	return rc;
}

/* Presets the counter for what is left of the period.  True if a period was over. */
bool counter_set_period(const struct session *s, struct thread *t, size_t i)
{
	struct counter *c = t->counter + i;
	int64_t period = (int64_t)c->period, left = c->left;
	bool over = false;
	if (left <= -period) {
		left = period;	/* more than a period passed before the interrupt: the samples of the others are lost */
		c->loaded = c->period;
		over = true;
	} else if (left <= 0) {
		left += period;
		c->loaded = c->period;
		over = true;
	}
	c->left = left;
	uint64_t limited = (uint64_t)left > s->max_period ? s->max_period : (uint64_t)left;
	counter_preset(s, t, i, -limited & counter_mask(s, i));
	return over;
}

const char *session_spelled(const struct session *s, size_t i)
{
	return s->item[i].event == NO_EVENT ? "cycles" : s->o.events->event[s->item[i].event].spelled;
}

static int refuse(struct session *s, unsigned pmu, int rc, uint32_t msr, uint64_t value, struct err *err)
{
	size_t i = 0;
	while (i + 1 < s->items && s->job[i].pmu != pmu)
		i++;
	if (rc == SPMU_ENOMEM)
		return err_set(err, ERR_NOMEM, "out of memory");
	return err_set(err, ERR_UNSUPPORTED, "event '%s': the PMU of %s refuses MSR %XH = %#llx (%s)",
		session_spelled(s, i), s->o.core->name, msr, (unsigned long long)value,
		rc == SPMU_GP ? "#GP" : "no such MSR");
}

struct core_wanted session_wanted(const struct session *s)
{
	const uint64_t shaped = SPMU_EVTSEL_CMASK(255) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE;
	struct core_wanted w = { .signal = { UINT64_C(1) << SPMU_SIG_CYCLES } };	/* the clock */
	_Static_assert(SPMU_SIG_CYCLES < 64, "first word");
	if (s->uncore)
		uncore_session_wanted(s->uncore, w.signal);
	for (size_t i = 0; i < s->o.events->count; i++)
		if (s->o.events->event[i].event) {
			uint64_t one[2] = { 0, 0 };
			spmu_event_signals(s->o.model, s->o.events->event[i].event, one);
			w.signal[0] |= one[0];
			w.signal[1] |= one[1];
			w.outcomes |= spmu_event_outcomes(s->o.model, s->o.events->event[i].event);
			const uint64_t assisted = SPMU_DID(ASSIST_FP_INPUT) | SPMU_DID(ASSIST_FP_OUTPUT);
			uint64_t is = 0, did = 0;
			spmu_event_uops(s->o.model, s->o.events->event[i].event, 1, &is, &did);
			w.assists |= one[SPMU_SIG_FP_ASSIST >> 6] >> (SPMU_SIG_FP_ASSIST & 63) & 1;
			w.assists |= !is && did && !(did & ~assisted);
		}
	if (s->items > s->plain)	/* every slot, and the machine clears that belong to no uop */
		w.signal[SPMU_SIG_CLEAR_MEMORY_ORDER >> 6] |= UINT64_C(1) << (SPMU_SIG_CLEAR_MEMORY_ORDER & 63) |
			UINT64_C(1) << (SPMU_SIG_CLEAR_SMC & 63);
	for (size_t i = s->plain; i < s->items; i++) {
		const enum spmu_signal signal =
			pushout_signal((enum pushout_point)(s->job[i].pushout->control >> 4 & 7));
		if (signal != SPMU_SIG_COUNT)
			w.signal[signal >> 6] |= UINT64_C(1) << (signal & 63);
	}
	_Static_assert(SPMU_SIG_CLEAR_MEMORY_ORDER >> 6 == SPMU_SIG_CLEAR_SMC >> 6, "one word");
	for (size_t i = 0; i < s->items; i++) {
		bool sampled = s->item[i].period || s->item[i].frequency;
		const struct spmu_event *event =
			s->item[i].event == NO_EVENT ? NULL : s->o.events->event[s->item[i].event].event;
		if (s->item[i].event == NO_EVENT && !sampled)
			continue;	/* the clock: a signal */
		w.outcomes |= !event && s->item[i].event != NO_EVENT;	/* a raw code */
		if (sampled || !event)
			w.is = w.did = ~UINT64_C(0);
		else
			spmu_event_uops(s->o.model, event, !(s->job[i].evtsel & shaped), &w.is, &w.did);
	}
	return w;
}

static bool has_sampled(const struct session *s, const struct thread *t, unsigned pmu)
{
	for (size_t i = 0; i < s->items; i++)
		if (t->job[i].pmu == pmu && t->job[i].sampled)
			return true;
	return false;
}

/* Programs all PMUs of a thread; counting starts with the last write. */
void session_note_unmodelled(struct session *s, const struct spmu *pmu)
{
	struct spmu_unmodelled list[SESSION_UNMODELLED];
	size_t n = spmu_unmodelled(pmu, list, SESSION_UNMODELLED);
	for (size_t i = 0; i < n && i < SESSION_UNMODELLED; i++) {
		size_t k = 0;
		while (k < s->unmodelled_kept && (s->unmodelled[k].select != list[i].select ||
			strcmp(s->unmodelled[k].event, list[i].event)))
			k++;
		if (k == s->unmodelled_kept && k < SESSION_UNMODELLED)
			s->unmodelled[s->unmodelled_kept++] = list[i];
	}
}

int session_program(struct session *s, struct thread *t, struct err *err)
{
	struct driver_writes *w = malloc(sizeof *w);
	struct driver_event *job = malloc((s->items + 1) * sizeof *job);
	for (size_t i = 0; i < s->items; i++)
		if (t->job[i].precise)
			t->job[i].ds_area = precise_area(t->attached[t->job[i].pmu].precise);
	int rc = w && job ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < s->items && !rc; i++) {
		job[i] = t->job[i];
		if (!cores_mine(t, i))	/* another thread has programmed it */
			driver_put(job + i, UINT_MAX);
	}
	for (unsigned k = 0; k < s->pmus && !rc; k++) {
		w->count = 0;
		cores_execute(t, k);
		rc = s->driver->setup(s->o.model, job, s->plain, k, w, err);
		for (size_t i = s->plain; i < s->items && !rc; i++)
			if (t->job[i].pmu == k)
				rc = pushout_setup(t->job[i].pushout, (unsigned)t->job[i].counter, t->job[i].sampled, w,
					err);
		if (!rc && s->lbr && has_sampled(s, t, k))
			rc = lbr_setup(s->lbr, w, err);
		for (size_t i = 0; i < w->count && !rc; i++) {
			int no = spmu_wrmsr(t->pmu[k], w->write[i].msr, w->write[i].value);
			if (no)
				rc = refuse(s, k, no, w->write[i].msr, w->write[i].value, err);
		}
		if (!rc)
			session_note_unmodelled(s, t->pmu[k]);
	}
	free(w);
	free(job);
	for (size_t i = 0; i < s->items && !rc; i++) {	/* no record has been counted yet */
		if (counter_preset(s, t, i, 0))
			return refuse(s, t->job[i].pmu, SPMU_GP, 0, 0, err);
		counter_set_period(s, t, i);
	}
	return rc;
}
