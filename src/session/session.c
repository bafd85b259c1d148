/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session: what the kernel does with a PMU, on the modelled one.  Registers are touched through
 * softpmu/pmu.h only.
 *
 * Every counter, sampling or not, is preset to minus what is left of its period and interrupts when it overflows; the
 * handler adds what was counted and presets it again.  A counting event has the longest period the counter allows, so that
 * no counter wraps unseen.  Source of the arithmetic: Linux, arch/x86/events/core.c, x86_perf_event_update and
 * x86_perf_event_set_period; of the frequency mode: kernel/events/core.c, perf_adjust_period.
 *
 * Precise events sample through the DS area (precise.h).  With one PMU for events that do not fit on it, they take turns as the kernel has it: kernel/events/core.c, rotate_ctx, ctx_sched_in.
 * Left out: freezing on PMI, inheritance of a stopped state, ring 0.
 */
#include "session/callstack.h"
#include "session/client.h"
#include "session/names.h"
#include "session/driver.h"
#include "session/lbr.h"
#include "session/precise.h"
#include "session/region.h"
#include "session/session.h"
#include "softpmu/client.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* GUESS: cycles from the overflow to the interrupt's arrival at the core.  Would be settled by the distribution
	 * of the distance between a lone overflowing instruction (a store behind a serialising one, counted with period
	 * 1) and the sampled address in a row of one-cycle instructions on the machine itself. */
	PMI_LATENCY = 60,
	TICK_HZ = 250, /* the kernel's tick, at which it looks after the periods of rare events */
};
#define LVT_NMI UINT32_C(0x400)	/* delivery mode of the local APIC's performance entry */

struct item {			/* a counter's job; the same in every thread */
	size_t event;		/* the session's event, or NO_EVENT: the clock */
	uint64_t period, frequency;	/* in counts of the counter; both 0: counting */
	bool clock;		/* samples of a clock: counts are cycles, the user's periods ns */
};
#define NO_EVENT ((size_t)-1)

struct pending {
	uint64_t ip, cycle, period; uint32_t record, order; size_t item, extra; /* 1 + index of its struct precise_record; 0: none */
	size_t branch, branches;	/* its stack: in thread.branch */
};

struct counter {
	uint64_t count, prev;	/* total; raw value at the last update */
	int64_t left;		/* until the period is over */
	uint64_t period;	/* that the next reload uses */
	uint64_t loaded;	/* of the interval that is running: what its sample stands for */
	uint64_t stamp;		/* cycle of the last overflow */
	uint64_t tick_count;	/* count at the last tick */
	uint64_t base;		/* precise: count when it was last reloaded */
};

struct thread;
struct attached { struct thread *thread; unsigned pmu; struct precise *precise; /* NULL: no event of this copy is */ };

struct thread {
	struct session *s;
	struct run_thread *run;	/* NULL: ended */
	struct spmu **pmu;
	struct attached *attached;
	struct counter *counter;
	struct pending *pending;
	size_t pendings, pending_room;
	struct precise_record *extra;	/* of pending samples */
	size_t extras, extra_room;
	struct session_branch *branch;	/* stacks of pending samples */
	size_t branches, branch_room;
	struct lbr_kinds kinds;
	uint64_t instructions;	/* retired before the batch in hand */
	int word_bytes;
	struct callstack *stack;
	uint64_t *chain;
	uint64_t next_tick;	/* cycle; 0: before the first batch */
	uint64_t tick_clock;	/* cycles counted at the last tick */
	uint32_t pid, tid;
	char comm[16];
	struct client client;	/* the program's own PMU */
	struct region_thread regions;
	bool outside;		/* of the region to which the session is kept: nothing counts */
	uint64_t *ran;		/* by turn: cycles for which its copy of the PMU counted; NULL: all count always */
};

struct session {
	struct session_options o;
	uint64_t hz;
	struct item *item;
	const struct driver *driver;
	struct driver_event *job;	/* by item */
	bool *hit;			/* by item: overflowed, in a PMI handler */
	size_t items, clock;
	int *item_of_event;	/* -1: a clock that is not sampled */
	unsigned turns;		/* copies that stand for one PMU, of which one counts at a time; 0: all count always */
	unsigned pmus;
	bool adapts;
	uint64_t max_period;
	struct thread **thread;
	size_t threads, thread_room;
	uint64_t *adapted;	/* by item: the last period found in frequency mode, with which a new thread starts */
	uint64_t now, next_interval;
	uint64_t interrupts;
	struct uncore_session *uncore;	/* NULL: no event is the uncore's */
	struct regions regions;
	uint64_t *mark;		/* scratch: a thread's counts at a marker */
	struct lbr *lbr;	/* NULL: no branch stacks */
};

uint64_t session_ns(const struct session *s, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * 1000000000 / s->hz);
}

/* ---- registers ------------------------------------------------------------------------------------------ */

static uint64_t mask_of(const struct session *s, size_t i)
{
	return (UINT64_C(1) << s->driver->counter_bits(s->o.model, s->job + i)) - 1;
}

static uint64_t counter_read(const struct session *s, const struct thread *t, size_t i)
{
	const struct driver_event *e = s->job + i;
	uint64_t v = 0;
	/* CPL 0: CR4.PCE does not matter.  The index was accepted when the counter was programmed. */
	if (spmu_rdpmc(t->pmu[e->pmu], s->driver->rdpmc(s->o.model, e), 0, &v) == SPMU_UD) {	/* a Pentium without MMX */
		const char *name;
		spmu_rdmsr(t->pmu[e->pmu], s->driver->counter_msr(s->o.model, e, &name), &v);
	}
	return v;
}

static uint64_t counted_since(const struct session *s, const struct thread *t, size_t i)
{
	return (counter_read(s, t, i) - t->counter[i].prev) & mask_of(s, i);
}

static void update(const struct session *s, struct thread *t, size_t i)
{
	struct counter *c = t->counter + i;
	uint64_t delta = counted_since(s, t, i);
	c->count += delta;
	c->left -= (int64_t)delta;
	c->prev = (c->prev + delta) & mask_of(s, i);
}

static int preset_counter(const struct session *s, struct thread *t, size_t i, uint64_t value)
{
	const char *name;
	const struct driver_event *e = s->job + i;
	return spmu_wrmsr(t->pmu[e->pmu], s->driver->counter_msr(s->o.model, e, &name), s->driver->counter_value(s->o.model, e, value));
}

/* Writes the counter, and what PEBS reloads it with. */
static int preset(const struct session *s, struct thread *t, size_t i, uint64_t value)
{
	const struct driver_event *e = s->job + i;
	int rc = preset_counter(s, t, i, value);
	if (e->precise)
		precise_reload(t->attached[e->pmu].precise, e, value);
	t->counter[i].prev = counter_read(s, t, i);	/* NetBurst's preset is one less: the interrupt comes with the event behind the overflow */
	return rc;
}

/* Presets the counter to what is left; true if a period was over. */
static bool set_period(const struct session *s, struct thread *t, size_t i)
{
	struct counter *c = t->counter + i;
	int64_t period = (int64_t)c->period, left = c->left;
	bool over = false;
	if (left <= -period) {
		left = period;	/* more than a period passed before the interrupt: those samples are lost */
		c->loaded = c->period;
		over = true;
	} else if (left <= 0) {
		left += period;
		c->loaded = c->period;
		over = true;
	}
	c->left = left;
	uint64_t limited = (uint64_t)left > s->max_period ? s->max_period : (uint64_t)left;
	preset(s, t, i, -limited & mask_of(s, i));
	return over;
}

static const char *spelled(const struct session *s, size_t i)
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
	return err_set(err, ERR_UNSUPPORTED, "event '%s': the PMU of %s refuses MSR %XH = %#llx (%s)", spelled(s, i),
		s->o.core->name, msr, (unsigned long long)value, rc == SPMU_GP ? "#GP" : "no such MSR");
}

void session_wanted(const struct session *s, struct core_wanted *w)
{
	const uint64_t shaped = SPMU_EVTSEL_CMASK(255) | SPMU_EVTSEL_INV | SPMU_EVTSEL_EDGE;
	*w = (struct core_wanted){ .signal = { UINT64_C(1) << SPMU_SIG_CYCLES } };	/* the clock */
	_Static_assert(SPMU_SIG_CYCLES < 64, "first word");
	if (s->uncore)
		uncore_session_wanted(s->uncore, w->signal);
	for (size_t i = 0; i < s->o.events->count; i++)
		if (s->o.events->event[i].event) {
			uint64_t one[2] = { 0, 0 };
			spmu_event_signals(s->o.model, s->o.events->event[i].event, one);
			w->signal[0] |= one[0];
			w->signal[1] |= one[1];
		}
	for (size_t i = 0; i < s->items; i++) {
		bool sampled = s->item[i].period || s->item[i].frequency;
		const struct spmu_event *event = s->item[i].event == NO_EVENT ? NULL : s->o.events->event[s->item[i].event].event;
		if (s->item[i].event == NO_EVENT && !sampled)
			continue;	/* the clock: a signal */
		if (sampled || !event)
			w->is = w->did = ~UINT64_C(0);
		else
			spmu_event_uops(s->o.model, event, !(s->job[i].evtsel & shaped), &w->is, &w->did);
	}
}

static bool has_sampled(const struct session *s, unsigned pmu)
{
	for (size_t i = 0; i < s->items; i++)
		if (s->job[i].pmu == pmu && s->job[i].sampled)
			return true;
	return false;
}

/* Programs all PMUs of a thread; counting starts. */
static int program(struct session *s, struct thread *t, struct err *err)
{
	struct driver_writes *w = malloc(sizeof *w);
	for (size_t i = 0; i < s->items; i++)
		if (s->job[i].precise)
			s->job[i].ds_area = precise_area(t->attached[s->job[i].pmu].precise);
	int rc = w ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (unsigned k = 0; k < s->pmus && !rc; k++) {
		w->count = 0;
		rc = s->driver->setup(s->o.model, s->job, s->items, k, w, err);
		if (!rc && s->lbr && has_sampled(s, k))
			rc = lbr_setup(s->lbr, w, err);
		for (size_t i = 0; i < w->count && !rc; i++) {
			int no = spmu_wrmsr(t->pmu[k], w->write[i].msr, w->write[i].value);
			if (no)
				rc = refuse(s, k, no, w->write[i].msr, w->write[i].value, err);
		}
	}
	free(w);
	for (size_t i = 0; i < s->items && !rc; i++) {	/* no record has been counted yet */
		if (preset(s, t, i, 0))
			return refuse(s, s->job[i].pmu, SPMU_GP, 0, 0, err);
		set_period(s, t, i);
	}
	return rc;
}

/* ---- sampling ------------------------------------------------------------------------------------------- */

/* Moves the period an eighth of the way to the one that `count` events in `cycles` ask for; all the way if it is more than
 * eight times too long.  (The kernel creeps there too, over a second of ticks; a modelled run is over by then.) */
static void adjust_period(struct session *s, struct thread *t, size_t i, uint64_t cycles, uint64_t count)
{
	struct counter *c = t->counter + i;
	unsigned __int128 wanted = (unsigned __int128)count * s->hz / cycles / s->item[i].frequency;
	int64_t period = wanted > s->max_period ? (int64_t)s->max_period : (int64_t)wanted;
	int64_t delta = (period - (int64_t)c->period + 7) / 8;
	int64_t next = (int64_t)c->period / 8 > period ? period : (int64_t)c->period + delta;
	c->period = next > 0 ? (uint64_t)next : 1;
	s->adapted[i] = c->period;
}

static void pend(struct thread *t, const struct pending *p)
{
	if (t->pendings == t->pending_room) {
		struct pending *grown = realloc(t->pending, 2 * t->pending_room * sizeof *grown);
		if (!grown)
			return;	/* a lost sample, as when the kernel's buffer is full */
		t->pending = grown;
		t->pending_room *= 2;
	}
	t->pending[t->pendings] = *p;
	t->pending[t->pendings].order = (uint32_t)t->pendings;
	t->pendings++;
}

/* Keeps a sample's branch stack; without memory it has none. */
static void keep_branches(const struct session *s, struct thread *t, const struct precise_branch *raw, unsigned n, struct pending *p)
{
	if (t->branch_room - t->branches < n) {
		size_t room = 2 * t->branch_room + PRECISE_BRANCHES_MAX;
		struct session_branch *grown = realloc(t->branch, room * sizeof *grown);
		if (!grown)
			return;
		t->branch = grown;
		t->branch_room = room;
	}
	p->branch = t->branches;
	p->branches = lbr_entries(s->lbr, &t->kinds, raw, n, t->branch + t->branches);
	t->branches += p->branches;
}

static void on_overflow(struct session *s, struct thread *t, size_t i, const struct spmu_pmi *pmi)
{
	struct counter *c = t->counter + i;
	uint64_t stands_for = c->loaded;
	update(s, t, i);
	bool over = set_period(s, t, i);
	if (!over || !(s->item[i].period | s->item[i].frequency))
		return;
	struct pending p = { .ip = pmi->ip, .cycle = pmi->cycle, .period = stands_for, .record = pmi->record, .item = i };
	if (s->lbr) {
		struct precise_branch raw[PRECISE_BRANCHES_MAX];
		keep_branches(s, t, raw, lbr_read(s->lbr, t->pmu[s->job[i].pmu], raw), &p);
	}
	pend(t, &p);
	if (s->item[i].frequency && !s->item[i].clock) {
		uint64_t since = pmi->cycle - c->stamp;
		c->stamp = pmi->cycle;
		if (since && since < 2 * s->hz / TICK_HZ)
			adjust_period(s, t, i, since, stands_for);
	}
}

/* The item that a PEBS record belongs to; s->items: none. */
static size_t item_of(const struct session *s, unsigned pmu, const struct precise_record *r)
{
	size_t i = 0;
	for (; i < s->items; i++) {
		const struct driver_event *e = s->job + i;
		if (e->pmu == pmu && e->precise && (!r->counters || r->counters >> (e->counter >= 0 ? e->counter : 32 + e->fixed) & 1))
			break;
	}
	return i;
}

/* A PEBS record: its counter has been reloaded. */
static void on_record(struct session *s, struct thread *t, size_t i, const struct precise_record *r)
{
	struct counter *c = t->counter + i;
	uint64_t stands_for = c->loaded;
	if (t->extras == t->extra_room) {
		size_t room = t->extra_room ? 2 * t->extra_room : 16;
		struct precise_record *grown = realloc(t->extra, room * sizeof *grown);
		if (!grown)
			return;
		t->extra = grown;
		t->extra_room = room;
	}
	t->extra[t->extras++] = *r;
	struct pending p = { .ip = r->ip, .cycle = r->cycle, .period = stands_for, .record = r->record == UINT32_MAX ? 0 : r->record, .item = i,
		.extra = t->extras };
	if (s->lbr)
		keep_branches(s, t, r->branch, r->branches, &p);
	pend(t, &p);
	c->count = c->base += stands_for;
	c->left = (int64_t)c->loaded;
	c->prev = -c->loaded & mask_of(s, i);
	if (!s->item[i].frequency)
		return;
	uint64_t since = r->cycle - c->stamp, period = c->period;
	c->stamp = r->cycle;
	if (since && since < 2 * s->hz / TICK_HZ)
		adjust_period(s, t, i, since, stands_for);
	if (c->period != period || c->period != c->loaded) {
		uint64_t done = counted_since(s, t, i);
		c->loaded = c->period;
		c->left = (int64_t)c->loaded;
		preset(s, t, i, -c->loaded & mask_of(s, i));
		preset_counter(s, t, i, (done < c->loaded ? done - c->loaded : UINT64_MAX) & mask_of(s, i));
		c->prev = -c->loaded & mask_of(s, i);
	}
}

static void take_records(struct session *s, struct attached *a, const struct spmu_batch *batch)
{
	struct precise_record r;
	while (precise_take(a->precise, batch, &r)) {
		size_t i = item_of(s, a->pmu, &r);
		if (i < s->items)
			on_record(s, a->thread, i, &r);
	}
	spmu_wrmsr(a->thread->pmu[a->pmu], MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(1) << 62);	/* OvfDSBuffer; NetBurst has none */
}

static void on_pmi(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch)
{
	struct attached *a = context;
	struct thread *t = a->thread;
	struct session *s = t->s;
	s->interrupts++;
	if (s->o.pmi_cycles) {
		t->run->interrupt_cycles += s->o.pmi_cycles;
		t->run->interrupt_lines = s->o.pmi_lines;
	}
	if (a->precise && precise_any(a->precise))
		take_records(s, a, batch);
	spmu_apic_write(pmu, SPMU_APIC_LVT_PC, LVT_NMI);	/* the PMI has masked it */
	s->driver->acknowledge(pmu, pmi, s->job, s->items, a->pmu, s->hit);
	for (size_t i = 0; i < s->items; i++)
		if (s->hit[i] && !s->job[i].precise)
			on_overflow(s, t, i, pmi);
}

static int on_read(void *context, uint64_t address, void *to, size_t bytes)
{
	return precise_read(((struct attached *)context)->precise, address, to, bytes);
}

static int on_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	return precise_write(((struct attached *)context)->precise, address, from, bytes);
}

static unsigned on_stack(void *context, struct precise_branch *out)
{
	const struct attached *a = context;
	return lbr_read(a->thread->s->lbr, a->thread->pmu[a->pmu], out);
}

static int on_registers(void *context, const struct spmu_batch *batch, uint32_t record, bool before, struct spmu_registers *out)
{
	return precise_registers(((struct attached *)context)->precise, batch, record, before, out);
}

/* The thread's registers around the instruction of a uop: which of its instructions it is, the records tell. */
static bool moment(void *context, const struct spmu_batch *batch, uint32_t record, bool before, struct history_moment *out)
{
	const struct thread *t = ((struct attached *)context)->thread;
	const struct spmu_record *r = &batch->records[record];
	uint64_t number = t->instructions;
	if (!t->run->registers)
		return false;
	for (uint32_t i = 0; i < record; i++) {
		const struct spmu_record *x = &batch->records[i];
		if (x->kind == SPMU_REC_UOP && x->did & SPMU_DID(RETIRED))
			number += !!(x->is & SPMU_IS(INST_END)) + !!(x->is & SPMU_IS(INST_END2));
	}
	return history_at(t->run->registers, number, r->ip, before ? 0 : r->is & SPMU_IS(INST_END2) ? 2 : 1, out);
}

static uint64_t item_count(const struct session *s, const struct thread *t, size_t i)
{
	return t->counter[i].count + (t->run ? counted_since(s, t, i) : 0);
}

/* Rare events may not overflow for long: at each tick the period follows what was counted in it. */
static void tick(struct session *s, struct thread *t, uint64_t now)
{
	uint64_t clock = item_count(s, t, s->clock), elapsed = clock - t->tick_clock;
	t->tick_clock = clock;
	t->next_tick = now + s->hz / TICK_HZ;
	if (!elapsed)
		return;		/* halted all the time */
	for (size_t i = 0; i < s->items; i++) {
		struct counter *c = t->counter + i;
		if (!s->item[i].frequency || s->item[i].clock)
			continue;
		update(s, t, i);
		uint64_t counted = c->count - c->tick_count;
		c->tick_count = c->count;
		if (counted) {
			adjust_period(s, t, i, elapsed, counted);
			if (c->left > 0 && (uint64_t)c->left > 8 * c->period) {
				/* what was counted of the long interval belongs to the sample that ends the short one */
				uint64_t done = c->loaded - (uint64_t)c->left;
				c->left = 0;
				set_period(s, t, i);
				c->loaded += done;
			}
		}
	}
}

static int by_record(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;
	if (x->record != y->record)
		return x->record < y->record ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The PMUs read the batch one after the other; the samples go out in the order of the records. */
static void deliver(struct session *s, struct thread *t, const struct spmu_batch *b)
{
	uint32_t at = 0;
	if (t->pendings > 1)
		qsort(t->pending, t->pendings, sizeof *t->pending, by_record);
	for (size_t k = 0; k < t->pendings; k++) {
		const struct pending *p = t->pending + k;
		struct session_sample out = { .event = s->item[p->item].event,
			.ip = p->ip,
			.cycle = p->cycle,
			.time_ns = session_ns(s, p->cycle),
			.period = p->period,
			.pid = t->run->pid,
			.tid = t->run->tid,
			.cpu = t->run->cpu };
		if (s->item[p->item].clock)
			out.period = session_ns(s, p->period);
		if (p->extra) {
			out.precise = t->extra + p->extra - 1;
			out.exact = true;
		}
		if (s->lbr) {
			out.branch = t->branch ? t->branch + p->branch : &(const struct session_branch){ 0 };
			out.branches = p->branches;
		}
		if (t->stack) {
			uint32_t to = p->record < b->count ? p->record : b->count;
			if (to > at) {
				callstack_walk(t->stack, b, at, to);
				at = to;
			}
			out.chain = t->chain;
			out.chain_length = callstack_chain(t->stack, p->ip, t->chain);
		}
		if (s->o.sample)
			s->o.sample(s->o.context, t->run, &out);
	}
	t->pendings = t->extras = t->branches = 0;
	if (t->stack && at < b->count)
		callstack_walk(t->stack, b, at, b->count);
}

/* What is in the DS buffers, before the thread goes. */
static void drain(struct session *s, struct thread *t)
{
	for (unsigned k = 0; k < s->pmus; k++)
		if (t->attached[k].precise && precise_any(t->attached[k].precise))
			take_records(s, t->attached + k, NULL);
	if (t->pendings)
		deliver(s, t, &(struct spmu_batch){ .count = 0 });
}

/* ---- threads -------------------------------------------------------------------------------------------- */

static void thread_detach(struct session *s, struct thread *t)
{
	for (unsigned k = 0; t->pmu && k < s->pmus; k++)
		spmu_destroy(t->pmu[k]);
	for (unsigned k = 0; t->attached && k < s->pmus; k++)
		precise_destroy(t->attached[k].precise);
	free(t->extra);
	free(t->branch);
	lbr_kinds_release(&t->kinds);
	t->extra = NULL;
	t->branch = NULL;
	client_release(&t->client);
	free(t->pmu);
	free(t->attached);
	free(t->pending);
	free(t->stack);
	free(t->chain);
	t->pmu = NULL;
	t->attached = NULL;
	t->pending = NULL;
	t->stack = NULL;
	t->chain = NULL;
}

static void thread_free(struct session *s, struct thread *t)
{
	if (!t)
		return;
	thread_detach(s, t);
	region_thread_release(&t->regions);
	free(t->ran);
	free(t->counter);
	free(t);
}

static bool has_precise(const struct session *s, unsigned pmu)
{
	for (size_t i = 0; i < s->items; i++)
		if (s->job[i].pmu == pmu && s->job[i].precise)
			return true;
	return false;
}

bool session_needs_registers(const struct session *s)
{
	for (unsigned k = 0; k < s->pmus; k++)
		if (has_precise(s, k))
			return true;
	return false;
}

static int thread_new(struct thread **out, struct session *s, int word_bytes, uint8_t hw_thread, struct err *err)
{
	struct thread *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory");
	t->s = s;
	t->word_bytes = word_bytes;
	t->pending_room = 64;
	t->pmu = calloc(s->pmus, sizeof *t->pmu);
	t->attached = calloc(s->pmus, sizeof *t->attached);
	t->counter = calloc(s->items, sizeof *t->counter);
	t->pending = calloc(t->pending_room, sizeof *t->pending);
	if (s->o.call_chains) {
		t->stack = malloc(sizeof *t->stack);
		t->chain = malloc((CALLSTACK_DEPTH + 1) * sizeof *t->chain);
		if (t->stack)
			callstack_init(t->stack);
	}
	if (s->turns)
		t->ran = calloc(s->turns, sizeof *t->ran);
	int rc = 0;
	if (!t->pmu || !t->attached || !t->counter || !t->pending || (s->turns && !t->ran) || (s->o.call_chains && (!t->stack || !t->chain)))
		rc = err_set(err, ERR_NOMEM, "out of memory");
	for (unsigned k = 0; !rc && k < s->pmus; k++) {
		t->attached[k] = (struct attached){ .thread = t, .pmu = k };
		struct spmu_host host = { .context = t->attached + k, .pmi = on_pmi, .pmi_latency = PMI_LATENCY, .hw_thread = hw_thread,
			.mode64 = word_bytes == 8 };
		if (has_precise(s, k)) {
			rc = precise_create(&t->attached[k].precise, s->o.model, word_bytes, s->o.data, s->o.pebs_records, moment, on_stack,
				t->attached + k, err);
			if (rc)
				break;
			host.read_memory = on_read;
			host.write_memory = on_write;
			host.registers = on_registers;
		}
		if (spmu_create(t->pmu + k, s->o.model, &host) != SPMU_OK)
			rc = err_set(err, ERR_NOMEM, "out of memory for a PMU");
		else
			spmu_apic_write(t->pmu[k], SPMU_APIC_LVT_PC, LVT_NMI);
	}
	for (size_t i = 0; !rc && i < s->items; i++) {
		struct counter *c = t->counter + i;
		c->period = s->item[i].period ? s->item[i].period : s->item[i].frequency ? s->adapted[i] : s->max_period;
		c->loaded = c->period;
		c->left = (int64_t)c->period;
	}
	if (!rc)
		rc = program(s, t, err);
	if (rc) {
		thread_free(s, t);
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
		if (s->job[i].evtsel & SPMU_EVTSEL_ANY)	/* a PMU here sees the records of its own thread only */
			return err_set(err, ERR_UNSUPPORTED, "event %s counts all hardware threads of a core (AnyThread), and with --smt each thread's "
				"own are counted", s->job[i].event ? s->job[i].event->name : "with any=1");
	if (s->threads == s->thread_room) {
		size_t room = s->thread_room ? 2 * s->thread_room : 8;
		struct thread **grown = realloc(s->thread, room * sizeof *grown);
		if (!grown)
			return err_set(err, ERR_NOMEM, "out of memory");
		s->thread = grown;
		s->thread_room = room;
	}
	int rc = thread_new(&t, s, run->word_bytes, run->hw_thread, err);
	if (rc)
		return rc;
	if (s->uncore && (rc = uncore_session_start(s->uncore, run, err))) {
		thread_free(s, t);
		return rc;
	}
	t->run = run;
	t->outside = s->o.region;
	t->pid = run->pid;
	t->tid = run->tid;
	s->thread[s->threads++] = t;
	t->client.hw_thread = run->hw_thread;
	run->sink_private = t;
	return 0;
}

/* All counts of a thread, as they are. */
static const uint64_t *mark(struct session *s, const struct thread *t)
{
	for (size_t i = 0; i < s->items; i++)
		s->mark[i] = item_count(s, t, i);
	return s->mark;
}

bool session_client(struct session *s, struct run_thread *run, const struct st_client *request, const char *name, struct st_answer *answer)
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
			for (unsigned k = 0; k < s->pmus && s->lbr && t->outside; k++)
				lbr_clear(s->lbr, t->pmu[k]);
			t->outside = false;
		}
		break;
	case SPMU_CLIENT_REGION_END:
		region = region_end(&s->regions, &t->regions, name, mark(s, t));
		if (region && s->o.region && !strcmp(region->name, s->o.region))
			t->outside = true;
		break;
	default:
		client_request(&t->client, s->o.model, PMI_LATENCY, request, answer);
	}
	return t->client.pmu;
}

void session_thread_end(struct session *s, struct run_thread *run)
{
	struct thread *t = run->sink_private;
	if (!t || !t->run)
		return;
	drain(s, t);
	for (size_t i = 0; i < s->items; i++)
		update(s, t, i);
	region_thread_end(&s->regions, &t->regions, mark(s, t));
	memcpy(t->comm, run->comm, sizeof t->comm);
	t->comm[sizeof t->comm - 1] = 0;
	if (s->uncore)
		uncore_session_end(s->uncore, run);
	t->run = NULL;
	run->sink_private = NULL;
	thread_detach(s, t);
}

/* Whose turn it is, the time says that the thread has run for, as the kernel's timer does. */
static void consume_in_turn(struct session *s, struct thread *t, const struct spmu_batch *b)
{
	uint64_t before = item_count(s, t, s->clock);
	unsigned turn = (unsigned)(before / s->o.rotate_cycles % s->turns);
	spmu_consume(t->pmu[turn], b);
	spmu_consume(t->pmu[s->turns], b);	/* the clock */
	t->ran[turn] += item_count(s, t, s->clock) - before;
}

void session_batch(struct session *s, struct run_thread *run, const struct spmu_batch *b)
{
	struct thread *t = run->sink_private;
	if (!t || !t->run)
		return;
	if (s->uncore)
		uncore_session_batch(s->uncore, run, b);
	if (t->client.pmu)
		spmu_consume(t->client.pmu, b);
	if (s->lbr)
		lbr_batch(s->lbr, &t->kinds, b);
	if (s->turns && !t->outside)
		consume_in_turn(s, t, b);
	for (unsigned k = 0; k < s->pmus && !t->outside && !s->turns; k++)
		spmu_consume(t->pmu[k], b);
	if (t->pendings || t->stack)
		deliver(s, t, b);
	t->instructions += b->instructions;
	if (s->adapts && !t->next_tick)
		t->next_tick = b->base_cycle + s->hz / TICK_HZ;
	if (s->adapts && b->watermark >= t->next_tick)
		tick(s, t, b->watermark);
	if (b->watermark > s->now)
		s->now = b->watermark;
	if (s->o.interval_cycles && s->o.interval)
		while (s->now >= s->next_interval) {
			s->o.interval(s->o.context, s->next_interval);
			s->next_interval += s->o.interval_cycles;
		}
}

bool session_outside(const struct run_thread *run)
{
	const struct thread *t = run->sink_private;
	return t && t->outside;
}

/* ---- counts --------------------------------------------------------------------------------------------- */

uint64_t session_thread_count(const struct session *s, size_t thread, size_t event)
{
	const struct thread *t = s->thread[thread];
	uint64_t n = 0;
	switch (s->o.events->event[event].source) {
	case SESSION_TASK_CLOCK: return session_ns(s, item_count(s, t, s->clock));
	case SESSION_DURATION: return session_ns(s, s->now);
	case SESSION_UNCORE: return 0;	/* no thread's */
	default:
		for (size_t i = 0; i < s->items; i++)	/* in each turn an item of its own */
			n += s->item[i].event == event ? item_count(s, t, i) : 0;
		return n;
	}
}

/* Cycles are summed before they become ns: rounded once. */
static uint64_t sum(const struct session *s, size_t item)
{
	uint64_t n = 0;
	for (size_t k = 0; k < s->threads; k++)
		n += item_count(s, s->thread[k], item);
	return n;
}

uint64_t session_count(const struct session *s, size_t event)
{
	switch (s->o.events->event[event].source) {
	case SESSION_TASK_CLOCK: return session_ns(s, sum(s, s->clock));
	case SESSION_DURATION: return session_ns(s, s->now);
	case SESSION_UNCORE: return uncore_session_count(s->uncore, event);
	default: break;
	}
	uint64_t n = 0;
	for (size_t k = 0; k < s->threads; k++)
		n += session_thread_count(s, k, event);
	return n;
}

static uint64_t ran(const struct session *s, const struct thread *t, size_t event)
{
	uint64_t n = 0;
	if (!s->turns || s->o.events->event[event].source != SESSION_HARDWARE)
		return item_count(s, t, s->clock);
	for (size_t i = 0; i < s->items; i++)
		n += s->item[i].event == event ? t->ran[s->job[i].pmu] : 0;
	return n;
}

uint64_t session_thread_running_ns(const struct session *s, size_t thread, size_t event)
{
	return session_ns(s, ran(s, s->thread[thread], event));
}

uint64_t session_running_ns(const struct session *s, size_t event)
{
	uint64_t n = 0;
	if (s->o.events->event[event].source == SESSION_DURATION || s->o.events->event[event].source == SESSION_UNCORE)
		return session_ns(s, s->now);
	for (size_t k = 0; k < s->threads; k++)
		n += ran(s, s->thread[k], event);
	return session_ns(s, n);
}

uint64_t session_enabled_ns(const struct session *s, size_t event)
{
	if (s->o.events->event[event].source == SESSION_DURATION || s->o.events->event[event].source == SESSION_UNCORE)
		return session_ns(s, s->now);
	return session_ns(s, sum(s, s->clock));
}

uint64_t session_interrupts(const struct session *s)
{
	return s->interrupts;
}

unsigned session_pmus(const struct session *s)
{
	return s->pmus;
}

size_t session_threads(const struct session *s)
{
	return s->threads;
}

void session_thread_info(const struct session *s, size_t thread, struct session_thread *out)
{
	const struct thread *t = s->thread[thread];
	*out = (struct session_thread){ .pid = t->pid, .tid = t->tid, .comm = t->run ? t->run->comm : t->comm,
		.running_ns = session_ns(s, item_count(s, t, s->clock)) };
}

size_t session_regions(const struct session *s)
{
	return s->regions.regions;
}

bool session_has_region(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->regions.regions; i++)
		if (!strcmp(s->regions.region[i].name, name))
			return true;
	return false;
}

void session_region_info(const struct session *s, size_t region, struct session_region *out)
{
	const struct region *r = s->regions.region + region;
	*out = (struct session_region){ .name = r->name, .entries = r->entries, .running_ns = session_ns(s, r->count[s->clock]) };
}

uint64_t session_region_count(const struct session *s, size_t region, size_t event)
{
	const struct region *r = s->regions.region + region;
	switch (s->o.events->event[event].source) {
	case SESSION_TASK_CLOCK:
	case SESSION_DURATION: return session_ns(s, r->count[s->clock]);
	case SESSION_UNCORE: return 0;
	default: return r->count[s->item_of_event[event]];
	}
}

/* ---- creation ------------------------------------------------------------------------------------------- */

/* A precise event.  Cycles have none before Ice Lake: drivers count those in which fewer than 16 (or 10) uops or instructions retire, which are all.
 * Source: Linux, arch/x86/events/intel/core.c, intel_pebs_aliases_core2, _snb, _precdist. */
static int make_precise(struct session *s, const struct session_event *ev, struct driver_event *p, struct err *err)
{
	int format = spmu_model_family(s->o.model) == SPMU_FAMILY_ARCH ? (int)(spmu_model_capabilities(s->o.model) >> 8 & 15) : -1;
	p->precise = true;
	p->pdist = ev->precise > 2;
	p->pebs_data = precise_data_config(s->o.data);
	p->latency = ev->latency;
	if (format >= 0 && format < 4 && ev->fixed == 1) {
		const uint64_t codes[] = { ev->precise > 2 ? 0x01c0 : 0x01c2, 0x01c2, 0x00c0 };
		static const uint8_t fewer[] = { 16, 10 };	/* the driver's, Intel's event lists' */
		for (unsigned i = 0; i < 2 * sizeof codes / sizeof *codes; i++) {
			uint64_t code = codes[i / 2] | SPMU_EVTSEL_CMASK(fewer[i % 2]) | SPMU_EVTSEL_INV;
			const struct spmu_event *e = spmu_model_find_code(s->o.model, code);
			if (!e || !(e->flags & SPMU_EVENT_PRECISE) || e->flags & SPMU_EVENT_NOT_MODELLED || e->cmask != fewer[i % 2] || !e->inv)
				continue;
			p->event = e;
			p->evtsel = code;
			p->fixed = -1;
			return 0;
		}
		return err_set(err, ERR_UNSUPPORTED, "'%s': no precise event of %s counts cycles", ev->spelled, s->o.core->name);
	}
	if (format >= 0 && format < 4)
		p->fixed = -1;
	return 0;
}

/* As precise as it can be: `p` stays as it is if the PMU has nothing. */
static void make_most_precise(struct session *s, const struct session_event *ev, struct driver_event *p)
{
	struct session_event most = *ev;
	struct driver_event q = *p;
	struct err none;
	most.precise = 3;
	if (make_precise(s, &most, &q, &none))
		return;
	bool any = spmu_model_family(s->o.model) == SPMU_FAMILY_ARCH && (spmu_model_capabilities(s->o.model) >> 8 & 15) >= 4;	/* Ice Lake on */
	if (any || q.event->flags & SPMU_EVENT_PRECISE)
		*p = q;
}

/* Rows of the plan for the events, and one more for the clock unless an event counts plain cycles already. */
static int make_items(struct session *s, struct err *err)
{
	const struct spmu_event *cycles = NULL;
	/* fixed counter 1 counts core cycles; a row that general-purpose counters can count too leaves it to others */
	for (size_t i = 0; i < spmu_model_events(s->o.model); i++) {
		const struct spmu_event *e = spmu_model_event(s->o.model, i);
		if (e->fixed == 1 && !(e->flags & SPMU_EVENT_NOT_MODELLED) && (!cycles || (!cycles->pmc_mask && e->pmc_mask)))
			cycles = e;
	}
	if (!cycles)
		cycles = names_find(s->o.model, "cycles");
	if (!cycles || (cycles->flags & SPMU_EVENT_NOT_MODELLED))
		return err_set(err, ERR_UNSUPPORTED, "the event table of %s has no event that counts cycles: no clock",
			s->o.core->name);
	int rc;
	s->clock = NO_EVENT;
	for (size_t e = 0; e < s->o.events->count; e++) {
		const struct session_event *ev = s->o.events->event + e;
		struct item it = { .event = e, .period = ev->period, .frequency = ev->period ? 0 : ev->frequency };
		struct driver_event p = { .event = ev->event, .evtsel = ev->evtsel, .fixed = ev->fixed, .user = true };
		bool sampled = it.period || it.frequency;
		s->item_of_event[e] = -1;
		if (ev->source == SESSION_HARDWARE) {
			if (ev->fixed == 1 && s->clock == NO_EVENT && !s->o.one_pmu)
				s->clock = s->items;
		} else if (sampled && ev->source == SESSION_TASK_CLOCK) {
			/* the kernel's timer, made from cycles: a fixed period in ns */
			uint64_t ns = it.period ? it.period : 1000000000 / it.frequency;
			unsigned __int128 c = (unsigned __int128)ns * s->hz / 1000000000;
			it.period = c > s->max_period ? s->max_period : c ? (uint64_t)c : 1;
			it.frequency = 0;
			it.clock = true;
			p.event = cycles;
			p.evtsel = names_evtsel(cycles);
			p.fixed = cycles->fixed;
		} else if (sampled && ev->source == SESSION_UNCORE) {
			return err_set(err, ERR_UNSUPPORTED, "'%s': uncore counters cannot be sampled", ev->spelled);
		} else if (sampled) {
			return err_set(err, ERR_UNSUPPORTED, "'%s' cannot be sampled; task-clock can", ev->spelled);
		} else {
			continue;
		}
		if (it.period > s->max_period)
			return err_set(err, ERR_INPUT,
				"'%s': a period of %llu is more than a counter of this PMU holds (%llu)", ev->spelled,
				(unsigned long long)it.period, (unsigned long long)s->max_period);
		p.sampled = sampled;
		if (sampled && ev->precise && ev->source == SESSION_HARDWARE) {
			rc = make_precise(s, ev, &p, err);
			if (rc)
				return rc;
		} else if (sampled && ev->most_precise && ev->source == SESSION_HARDWARE) {
			make_most_precise(s, ev, &p);
		}
		if (sampled && !s->driver->interrupts)
			return err_set(err, ERR_UNSUPPORTED, "'%s': the PMU of %s has no interrupt: its events can be counted, not sampled", ev->spelled,
				s->o.core->name);
		s->adapts |= it.frequency != 0;
		s->item_of_event[e] = (int)s->items;
		s->adapted[s->items] = 1; /* as the kernel: the first sample comes at once, the next ones know better */
		s->job[s->items] = p;
		s->item[s->items++] = it;
	}
	if (s->clock == NO_EVENT) {
		s->clock = s->items;
		s->job[s->items] = (struct driver_event){ .event = cycles, .evtsel = names_evtsel(cycles), .fixed = cycles->fixed, .user = true };
		s->item[s->items++] = (struct item){ .event = NO_EVENT };
	}
	return 0;
}

/* Events from unit `first` on, round the list, as many as fit on one PMU: the kernel takes them in order and stops at the first that does not.
 * Units are groups, or events without one.  Their jobs are appended as turn `turn`. */
static int make_turn(struct session *s, const struct driver_event *job, const struct item *item, const size_t *unit, size_t n, size_t units,
	size_t first, unsigned turn, struct err *err)
{
	size_t begin = s->items, end = begin, which = 0;
	struct driver_event *trial = calloc(n, sizeof *trial);
	int rc = trial ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t u = 0; u < units && !rc; u++) {
		size_t at = (first + u) % units, room = end - begin;
		unsigned pmus;
		memcpy(trial, s->job + begin, room * sizeof *trial);
		for (size_t i = 0; i < n; i++)
			if (unit[i] == at)
				trial[room++] = job[i];
		for (size_t k = 0, i = 0; k < room - (end - begin); i++)
			if (unit[i] == at)
				s->item[end + k++] = item[i];
		rc = s->driver->assign(s->o.model, trial, room, 1, &pmus, &which, err);
		if (rc == ERR_UNSUPPORTED && end > begin) {
			rc = 0;
			break;
		}
		if (rc == ERR_UNSUPPORTED) {
			char why[400];
			snprintf(why, sizeof why, "%.399s", err ? err->text : "");
			rc = err_set(err, rc, "event '%s': does not fit on one PMU: %s", s->o.events->event[s->item[begin].event].spelled, why);
		}
		if (rc)
			break;
		memcpy(s->job + begin, trial, room * sizeof *trial);
		end = begin + room;
	}
	for (size_t i = begin; i < end; i++)
		s->job[i].pmu = turn;
	s->items = end;
	free(trial);
	return rc;
}

/* One PMU: if the events do not all fit on it, turns, each of which begins with another of them.  The clock, which is the kernel's, has a copy of its own. */
static int make_turns(struct session *s, struct err *err)
{
	size_t n = s->items - 1, units = 0, which = 0;
	struct driver_event *job = calloc(n + 1, sizeof *job);
	struct item *item = calloc(n + 1, sizeof *item);
	size_t *unit = calloc(n + 1, sizeof *unit);
	int rc = job && item && unit ? 0 : err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; !rc && i < n; i++) {
		int group = s->o.events->event[s->item[i].event].group;
		size_t k = 0;
		while (k < i && (group < 0 || s->o.events->event[s->item[k].event].group != group))
			k++;
		unit[i] = k < i ? unit[k] : units++;
	}
	if (!rc) {
		memcpy(job, s->job, (n + 1) * sizeof *job);
		memcpy(item, s->item, (n + 1) * sizeof *item);
		unsigned pmus;
		struct driver_event *trial = s->job;
		int fits = n ? s->driver->assign(s->o.model, trial, n, 1, &pmus, &which, NULL) : 0;
		size_t turns = fits ? units : 1, room = n * turns + 1;
		struct driver_event *grown_job = realloc(s->job, room * sizeof *grown_job);
		s->job = grown_job ? grown_job : s->job;
		struct item *grown_item = realloc(s->item, room * sizeof *grown_item);
		s->item = grown_item ? grown_item : s->item;
		bool *hit = realloc(s->hit, room * sizeof *hit);
		s->hit = hit ? hit : s->hit;
		uint64_t *adapted = realloc(s->adapted, room * sizeof *adapted), *mark = realloc(s->mark, room * sizeof *mark);
		s->adapted = adapted ? adapted : s->adapted;
		s->mark = mark ? mark : s->mark;
		if (!grown_job || !grown_item || !hit || !adapted || !mark)
			rc = err_set(err, ERR_NOMEM, "out of memory");
		s->items = 0;
		for (size_t t = 0; t < turns && !rc; t++)
			rc = make_turn(s, job, item, unit, n, units, t, (unsigned)t, err);
		if (!rc) {
			s->clock = s->items;
			s->job[s->items] = job[n];
			s->item[s->items] = item[n];
			rc = s->driver->assign(s->o.model, s->job + s->items, 1, 1, &pmus, &which, err);
			s->job[s->items].pmu = (unsigned)turns;
			for (size_t i = 0; i <= s->items; i++)
				s->adapted[i] = 1;
			s->items++;
			s->turns = (unsigned)turns;
			s->pmus = (unsigned)turns + 1;
		}
	}
	free(job);
	free(item);
	free(unit);
	return rc;
}

static int make_uncore(struct session *s, struct err *err)
{
	const struct uncore_event **e = calloc(s->o.events->count + 1, sizeof *e);
	bool any = false;
	if (!e)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < s->o.events->count; i++)
		if (s->o.events->event[i].source == SESSION_UNCORE) {
			e[i] = &s->o.events->event[i].uncore;
			any = true;
		}
	int rc = 0;
	if (any && s->o.region)
		rc = err_set(err, ERR_UNSUPPORTED, "uncore counters belong to the whole machine, a region to a thread: --region cannot keep them to it");
	else if (any)
		rc = uncore_session_create(&s->uncore, s->o.core, e, s->o.events->count, err);
	free(e);
	return rc;
}

int session_create(struct session **out, const struct session_options *o, struct err *err)
{
	struct session *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(err, ERR_NOMEM, "out of memory");
	size_t room = o->events->count + 1;
	s->o = *o;
	s->hz = (uint64_t)llround(o->core->frequency_ghz * 1e9);
	s->driver = driver_for(o->model);
	s->next_interval = o->interval_cycles;
	s->item = calloc(room, sizeof *s->item);
	s->job = calloc(room, sizeof *s->job);
	s->hit = calloc(room, sizeof *s->hit);
	s->adapted = calloc(room, sizeof *s->adapted);
	s->item_of_event = calloc(room, sizeof *s->item_of_event);
	s->mark = calloc(room, sizeof *s->mark);
	size_t which = 0;
	int rc = 0;
	if (!s->item || !s->job || !s->hit || !s->adapted || !s->item_of_event || !s->mark)
		rc = err_set(err, ERR_NOMEM, "out of memory");
	else if (!s->hz)
		rc = err_set(err, ERR_INPUT, "core %s has no clock frequency", o->core->name);
	if (!rc && o->branches) {
		s->o.data |= PRECISE_BRANCHES;
		rc = lbr_create(&s->lbr, o->model, o->core->name, o->branches, err);
	}
	if (!rc) {
		s->max_period = s->driver->max_period(o->model);
		rc = make_items(s, err);
	}
	if (!rc && o->one_pmu) {
		for (size_t i = 0; i < s->items && !rc; i++)
			if (s->job[i].sampled)
				rc = err_set(err, ERR_UNSUPPORTED, "one PMU with turns is for counting, not for sampling");
		if (!rc && !o->rotate_cycles)
			rc = err_set(err, ERR_INPUT, "turns of no length");
		if (!rc)
			rc = make_turns(s, err);
	} else if (!rc) {
		rc = s->driver->assign(o->model, s->job, s->items, 0, &s->pmus, &which, err);
		if (rc == ERR_UNSUPPORTED) {
			char why[400];
			snprintf(why, sizeof why, "%.399s", err ? err->text : "");
			rc = err_set(err, rc, "event '%s': %s", spelled(s, which), why);
		}
	}
	if (!rc)
		rc = make_uncore(s, err);
	s->regions.items = s->items;
	if (!rc) {	/* a thread that is never run: what the registers refuse is refused before the program starts */
		struct thread *trial = NULL;
		rc = thread_new(&trial, s, 8, 0, err);
		thread_free(s, trial);
	}
	if (rc) {
		session_destroy(s);
		return rc;
	}
	*out = s;
	return 0;
}

void session_destroy(struct session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->threads; i++)
		thread_free(s, s->thread[i]);
	free(s->thread);
	free(s->item);
	free(s->job);
	free(s->hit);
	free(s->adapted);
	free(s->item_of_event);
	free(s->mark);
	uncore_session_destroy(s->uncore);
	lbr_destroy(s->lbr);
	regions_release(&s->regions);
	free(s);
}
