/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sampling in the windows of a sampled run (session_options.windows).
 *
 * Counters count in the measured parts of windows only: in gaps and leads they stand at 0, from where they do not
 * overflow.  In a window that stands for `weight` times its instructions, an event counts for `weight` events of the
 * whole run.  So a period of N events is N / weight there, what is left of it goes on in the next window, and the
 * sample says what it stands for in the whole run.  A period that is no whole number carries its fraction over to the
 * next one.  A period of less than one event is one event: then samples stand for more than N.
 * session_event.most_weight keeps the samples of a window few.
 *
 * An interrupt arrives some 60 cycles after its overflow.  An overflow meanwhile has none of its own, and what arrives
 * behind the window names its last instruction.  Where cycles alone are sampled, interrupts of windows come at once:
 * each cycle is an event, so the delay only moves all samples by the same time, and does not change where they fall.
 * Then samples may be as close together as one likes.
 *
 * PEBS writes its record at the event behind the one that overflows, and does not count it.  So a period of N events
 * takes N + 1 of them, in full detail 54 for 53.  (Not so for fixed counters, for events that are not precise, and with
 * :ppp; their records are of the event that overflows, or come without one.)  In a window the counter gets one event
 * less than (N + 1) / weight;
 * the sample stands for as much of N as its events are of N + 1: then the samples' periods add up to as much as in full
 * detail.
 *
 * With a frequency, the rate of the event in the windows so far sets the period; until the event was seen in a window,
 * nothing is sampled.
 */
#include "session/session_internal.h"

static bool samples(const struct session *s, size_t i)
{
	return (s->item[i].period || s->item[i].frequency) && s->job[i].sampled;
}

/* The events of a period, beside N of them, at which PEBS writes its record.  Source: pmu/ds/pebs.c, way_of. */
static double passed(const struct driver_event *j)
{
	const bool armed = j->precise && !j->pdist && j->counter >= 0 && j->event &&
		j->event->flags & SPMU_EVENT_PRECISE;
	return armed ? 1 : 0;
}

/* The next period, in events of this window. */
static uint64_t next_period(const struct session *s, const struct thread *t, struct counter *c, size_t i)
{
	const double most = s->item[i].most_weight, over = most && t->weight > most ? t->weight / most : 1,
		     rarer = over < s->item[i].rarer ? over : s->item[i].rarer,
		     weight = t->weight / over / (rarer > 1 ? rarer : 1);
	const double one = passed(t->job + i), period = (c->whole + one) / weight - one + c->fraction;
	if (!c->whole || period >= (double)s->max_period) {
		c->fraction = 0;
		return s->max_period;
	}
	const uint64_t whole = period < 1 ? 1 : (uint64_t)period;
	c->fraction = period < 1 ? 0 : period - (double)whole;
	return whole;
}

void windows_next(const struct session *s, struct thread *t, size_t i)
{
	t->counter[i].period = next_period(s, t, t->counter + i, i);
}

uint64_t windows_stands_for(const struct thread *t, size_t i, uint64_t loaded)
{
	struct counter *c = t->counter + i;
	uint64_t more = 0;
	if (c->left <= -(int64_t)c->period) {	/* several periods were over before the interrupt */
		more = (uint64_t)-c->left / c->period * c->period;
		c->left += (int64_t)more;
	}
	return windows_whole(t, loaded + more);
}

uint64_t windows_record(const struct thread *t, size_t i, uint64_t loaded)
{
	const double n = t->counter[i].whole, one = passed(t->job + i);
	return (uint64_t)(((double)loaded + one) * t->weight * (n / (n + one)) + 0.5);
}

uint64_t windows_whole(const struct thread *t, uint64_t events)
{
	return (uint64_t)((double)events * t->weight + 0.5);
}

void windows_park(struct session *s, struct thread *t, size_t i)
{
	if (!driver_is_metric(t->job + i))
		counter_preset(s, t, i, 0);
}

/* Are cycles alone sampled, and do interrupts cost the program nothing? */
static bool only_cycles(const struct session *s)
{
	bool only = !s->o.pmi_cycles;
	for (size_t i = 0; i < s->items; i++) {
		const struct session_event *e =
			s->item[i].event == NO_EVENT ? NULL : &s->o.events->event[s->item[i].event];
		const bool cycles = s->item[i].clock || (e && session_is_cycles(e));
		only &= !samples(s, i) || (cycles && !s->job[i].precise);
	}
	return only;
}

static void interrupt_at_once(struct session *s, struct thread *t)
{
	for (unsigned k = 0; only_cycles(s) && k < s->pmus; k++)
		spmu_set_pmi_latency(t->pmu[k], 0);
}

void windows_start(struct session *s, struct thread *t)
{
	t->between = t->windows = true;
	interrupt_at_once(s, t);
	for (size_t i = 0; i < s->items; i++) {
		t->counter[i].whole = samples(s, i) ? (double)s->item[i].period : 0;
		windows_park(s, t, i);
	}
}

/* Arms a counter with what is left of its period; `before`: the weight of the last window, 0: there was none. */
static void arm(struct session *s, struct thread *t, size_t i, double before)
{
	struct counter *c = t->counter + i;
	const bool fresh = !before || c->period == s->max_period;
	/* windows of one length differ by some instructions, because they end with a block */
	const bool other = before > 1.01 * t->weight || before < 0.99 * t->weight;
	if (c->left <= 0)	/* its sample has been taken, or never will be */
		c->left += (int64_t)(c->loaded = c->period);
	if (fresh || other)
		c->period = next_period(s, t, c, i);
	if (fresh) {
		c->left = (int64_t)(c->loaded = c->period);
	} else if (other) {
		const double left = (double)c->left * before / t->weight;
		c->left = left < 1 ? 1 : (int64_t)left;
		c->loaded = c->left > (int64_t)c->period ? (uint64_t)c->left : c->period;
	}
	c->late = false;
	if (!t->job[i].precise) {
		counter_set_period(s, t, i);
		return;
	}
	counter_preset(s, t, i, -c->loaded & counter_mask(s, i));
	counter_write(s, t, i, -(uint64_t)c->left & counter_mask(s, i));
	c->prev = -(uint64_t)c->left & counter_mask(s, i);
}

static void begin(struct session *s, struct thread *t, double weight)
{
	const double before = t->weight;
	t->weight = weight;
	t->between = false;
	for (size_t i = 0; i < s->items; i++) {
		struct counter *c = t->counter + i;
		c->began = c->count;
		if (samples(s, i))
			arm(s, t, i, before);
		else if (!driver_is_metric(t->job + i))
			counter_preset(s, t, i, 0);
	}
}

/* Frequency mode: the period that the rate of the event suggests.  clock: the thread's cycles in windows so far. */
static void adapt(const struct session *s, struct thread *t, size_t i, uint64_t clock)
{
	struct counter *c = t->counter + i;
	const uint64_t counted = c->count - c->tick_count, elapsed = clock - c->stamp;
	if (c->count <= c->tick_count || clock <= c->stamp)
		return;
	const double wanted = (double)counted * (double)s->hz / (double)elapsed / (double)s->item[i].frequency;
	const bool far = !c->whole || c->whole > 8 * wanted;
	c->tick_count = c->count;
	c->stamp = clock;
	c->whole = far ? wanted : c->whole + (wanted - c->whole) / 8;
	if (c->whole < 1)
		c->whole = 1;
	c->period = next_period(s, t, c, i);
	if (far)
		c->left = (int64_t)(c->loaded = c->period);
}

/* Interrupts that are under way are taken behind the last instruction of the window. */
static void settle(struct session *s, struct thread *t)
{
	const struct spmu_batch last = { .base_cycle = t->reached, .watermark = t->reached, .is_last = 1,
		.user_only = 1 };
	for (unsigned k = 0; k < s->pmus; k++)
		spmu_consume(t->pmu[k], &last);
	if (t->pendings)
		sampling_deliver(s, t, &last);
}

static void end(struct session *s, struct thread *t)
{
	settle(s, t);
	for (size_t i = 0; i < s->items; i++) {
		struct counter *c = t->counter + i;
		if (driver_is_metric(t->job + i))
			continue;
		counter_update(s, t, i);
		c->estimated += (double)(int64_t)(c->count - c->began) * t->weight;
		c->late = samples(s, i) && t->job[i].precise && c->left <= 0;
	}
	for (size_t i = 0; i < s->items; i++)
		if (s->item[i].frequency && !s->item[i].clock)
			adapt(s, t, i, t->counter[s->clock].count);
	/* PEBS that has overflowed writes its record at the next event, if the counter is left alone */
	for (size_t i = 0; i < s->items; i++)
		if (!t->counter[i].late)
			windows_park(s, t, i);
	t->between = true;
}

void session_window(struct session *s, struct run_thread *run, const struct run_window *w, double weight)
{
	struct thread *t = run->sink_private;
	if (!t || !t->run || !t->windows)
		return;
	if (w->leads) {
		for (unsigned k = 0; k < s->pmus && s->lbr; k++)
			lbr_clear(s->lbr, t->pmu[k]);
		if (t->stack)
			callstack_set(t->stack, w->frame, w->frames);
	} else if (w->begins && t->between) {
		begin(s, t, weight);
	} else if (!w->begins && !t->between) {
		end(s, t);
	}
}

void session_sampled(struct session *s, struct run_thread *run)
{
	struct thread *t = run->sink_private;
	if (!t || !t->run || t->windows || !s->o.windows)
		return;
	settle(s, t);
	t->weight = 1;
	t->between = t->windows = true;
	interrupt_at_once(s, t);
	for (size_t i = 0; i < s->items; i++)
		if (!driver_is_metric(t->job + i))
			counter_update(s, t, i);
	for (size_t i = 0; i < s->items; i++) {
		struct counter *c = t->counter + i;
		if (driver_is_metric(t->job + i))
			continue;
		c->estimated = (double)c->count;
		c->whole = samples(s, i) ? (double)(s->item[i].period ? s->item[i].period : c->period) : 0;
		c->tick_count = c->count;
		c->stamp = t->counter[s->clock].count;
		windows_park(s, t, i);
	}
}

double session_estimate(const struct session *s, size_t event)
{
	double sum = 0;
	for (size_t k = 0; k < s->threads; k++)
		for (size_t i = 0; i < s->items; i++)
			if (s->item[i].event == event)
				sum += s->thread[k]->windows ? s->thread[k]->counter[i].estimated
					: (double)counter_total(s, s->thread[k], i);
	return sum;
}
