/* SPDX-License-Identifier: GPL-2.0-or-later
 * Samples: the handler of a PMI, PEBS records, the frequency mode, and the delivery of samples in the order of
 * the records.  Source of the frequency mode's arithmetic: Linux, kernel/events/core.c, perf_adjust_period.
 * Precise events sample through the DS area (precise.h).  Left out: freezing on PMI.
 */
#include "session/session_internal.h"
#include <stdlib.h>

/* session_event.gradual: how many samples the run so far should have, and the fewest cycles between two of them: less
 * than what an interrupt takes to arrive (60 cycles) many times over, and a prime. */
enum { GRADUAL_SAMPLES = 1000, GRADUAL_CYCLES = 1009 };
/* The kernel's tick comes after 12 million cycles at 3 GHz, when a short program is over.  So the first ticks are a
 * 32nd of the run so far apart, and these many cycles at least. */
enum { GRADUAL_TICK_CYCLES = 1 << 14, GRADUAL_TICKS = 32 };

static uint64_t clamped(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least < most ? least : most : value < most ? value : most;
}

/* The cycle at which to look after rare events' periods again. */
uint64_t sampling_next_tick(const struct session *s, uint64_t now)
{
	const uint64_t most = s->hz / TICK_HZ;
	return now + (s->gradual ? clamped(now / GRADUAL_TICKS, GRADUAL_TICK_CYCLES, most) : most);
}

/* Moves the period an eighth of the way to the one that `count` events in `cycles` suggest at `now`; all the way if it
 * is more than eight times too long.  (The kernel gets there slowly, over a second of ticks; a modelled run is
 * over by then.) */
static void adjust_period(struct session *s, struct thread *t, size_t i, uint64_t now, uint64_t cycles, uint64_t count)
{
	struct counter *c = t->counter + i;
	const uint64_t most = s->hz / s->item[i].frequency;
	const uint64_t apart = clamped(now / GRADUAL_SAMPLES, GRADUAL_CYCLES, most);
	unsigned __int128 wanted = s->item[i].gradual && apart < most
		? (unsigned __int128)count * apart / cycles
		: (unsigned __int128)count * s->hz / cycles / s->item[i].frequency;
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
			return;	/* the sample is lost, as when the kernel's buffer is full */
		t->pending = grown;
		t->pending_room *= 2;
	}
	t->pending[t->pendings] = *p;
	t->pending[t->pendings].order = (uint32_t)t->pendings;
	t->pendings++;
}

/* Keeps a sample's branch stack; if memory runs out, the sample has none. */
static void keep_branches(const struct session *s, struct thread *t, const struct precise_branch *raw, unsigned n,
	struct pending *p)
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

/* Cascaded counters: starts again with the period of the first event, after which the other one counts. */
static void start_over(struct session *s, struct thread *t, size_t i)
{
	size_t first = t->job[i].after - 1;
	counter_update(s, t, first);
	t->counter[first].left = (int64_t)t->counter[first].period;
	counter_set_period(s, t, first);
	t->counter[i].left = (int64_t)t->counter[i].period;
	counter_set_period(s, t, i);
}

/* slot: the pushout that the counter has stored; NULL: none. */
struct slot { uint64_t ip; uint32_t cycles; };
static void on_overflow(struct session *s, struct thread *t, size_t i, const struct spmu_pmi *pmi,
	const struct slot *slot)
{
	/* the counter's state is with the core's owner if the event is the core's, and the sample with t */
	struct thread *counts = cores_mine(t, i) ? t : t->core->owner;
	struct counter *c = counts->counter + i;
	uint64_t stands_for = c->loaded, before = c->count;
	if (t->between)
		return;
	counter_update(s, counts, i);
	if (t->windows) {
		stands_for = windows_stands_for(t, i, stands_for);
		windows_next(s, t, i);
	}
	bool over = counter_set_period(s, counts, i);
	if (t->job[i].forced)
		stands_for = c->count - before;	/* with the overflows that came before the interrupt was taken */
	if (over && t->job[i].after)
		start_over(s, t, i);
	if (!over || !(s->item[i].period | s->item[i].frequency))
		return;
	struct pending p = {
		.ip = pmi->ip, .cycle = pmi->cycle, .period = stands_for, .record = pmi->record, .item = i
	};
	if (slot) {
		p.ip = slot->ip;
		p.exact = p.has_pushout = true;
		p.pushout = slot->cycles;
	}
	if (s->lbr) {
		struct precise_branch raw[PRECISE_BRANCHES_MAX];
		keep_branches(s, t, raw, lbr_read(s->lbr, t->pmu[t->job[i].pmu], raw), &p);
	}
	pend(t, &p);
	if (s->item[i].frequency && !s->item[i].clock && !t->windows) {
		uint64_t since = pmi->cycle - c->stamp;
		c->stamp = pmi->cycle;
		if (since && since < 2 * s->hz / TICK_HZ)
			adjust_period(s, t, i, pmi->cycle, since, stands_for);
	}
}

/* The item that a PEBS record is of; s->items: none. */
static size_t item_of(const struct session *s, const struct thread *t, unsigned pmu, const struct precise_record *r)
{
	size_t i = 0;
	for (; i < s->items; i++) {
		const struct driver_event *e = t->job + i;
		if (e->pmu == pmu && e->precise &&
			(!r->counters || r->counters >> (e->counter >= 0 ? e->counter : 32 + e->fixed) & 1))
			break;
	}
	return i;
}

/* Makes a sample of a PEBS record; PEBS has reloaded the counter already.  The next period is chosen when the buffer is
 * empty (next_precise_period): the records behind this one were written with the value that was reloaded until then. */
static void on_record(struct session *s, struct thread *t, size_t i, const struct precise_record *r)
{
	struct counter *c = t->counter + i;
	uint64_t stands_for = c->loaded;
	if (t->between && !c->late)
		return;
	if (t->extras == t->extra_room) {
		size_t room = t->extra_room ? 2 * t->extra_room : 16;
		struct precise_record *grown = realloc(t->extra, room * sizeof *grown);
		if (!grown)
			return;
		t->extra = grown;
		t->extra_room = room;
	}
	t->extra[t->extras++] = *r;
	struct pending p = {
		.ip = r->ip, .cycle = r->cycle, .period = t->windows ? windows_record(t, i, stands_for) : stands_for,
		.record = r->record == UINT32_MAX ? 0 : r->record, .item = i, .extra = t->extras
	};
	if (s->lbr)
		keep_branches(s, t, r->branch, r->branches, &p);
	pend(t, &p);
	if (t->between) {	/* the last window's */
		c->late = false;
		windows_park(s, t, i);
		return;
	}
	if (t->windows)
		c->count += (uint64_t)c->left;
	else
		c->count = c->base += stands_for;
	if (c->reload)
		c->loaded = -c->reload & counter_mask(s, i);
	c->left = (int64_t)c->loaded;
	c->prev = -c->loaded & counter_mask(s, i);
	c->taken += stands_for;
	c->taken_cycle = r->cycle;
}

/* Behind the last record of a buffer: chooses the period, and what was counted since then is part of it. */
static void next_precise_period(struct session *s, struct thread *t, size_t i)
{
	struct counter *c = t->counter + i;
	const uint64_t taken = c->taken, since = c->taken_cycle - c->stamp;
	c->taken = 0;
	if (!taken)
		return;
	if (t->windows) {
		windows_next(s, t, i);
	} else if (s->item[i].frequency) {
		c->stamp = c->taken_cycle;
		if (since && since < 2 * s->hz / TICK_HZ)
			adjust_period(s, t, i, c->taken_cycle, since, taken);
	}
	if (c->period != c->loaded) {
		uint64_t done = counter_since(s, t, i);
		c->loaded = c->period;
		c->left = (int64_t)c->loaded;
		counter_preset(s, t, i, -c->loaded & counter_mask(s, i));
		counter_write(s, t, i, (done < c->loaded ? done - c->loaded : UINT64_MAX) & counter_mask(s, i));
		c->prev = -c->loaded & counter_mask(s, i);
	}
}

static void take_records(struct session *s, struct attached *a, const struct spmu_batch *batch)
{
	struct precise_record r;
	while (precise_take(a->precise, batch, &r)) {
		size_t i = item_of(s, a->thread, a->pmu, &r);
		s->mistaken += s->o.pebs_shared && r.writer != a->thread->tid;
		if (i < s->items)
			on_record(s, a->thread, i, &r);
	}
	for (size_t i = 0; i < s->items; i++)
		next_precise_period(s, a->thread, i);
	/* OvfDSBuffer; NetBurst has no such bit */
	spmu_wrmsr(a->thread->pmu[a->pmu], MSR_IA32_PERF_GLOBAL_STATUS_RESET, UINT64_C(1) << 62);
}

static void on_pmi(void *context, struct spmu *pmu, const struct spmu_pmi *pmi, const struct spmu_batch *batch)
{
	struct attached *a = context;
	if (a->core) {
		if (!a->core->seat[pmi->hw_thread])
			return;
		a = a->core->seat[pmi->hw_thread]->attached + a->pmu;
	}
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
	s->driver->acknowledge(pmu, pmi, t->job, s->plain, a->pmu, s->hit);
	for (size_t i = 0; i < s->plain; i++)
		if (s->hit[i] && !t->job[i].precise)
			on_overflow(s, t, i, pmi, NULL);
	for (size_t i = s->plain; i < s->items; i++) {
		struct slot slot;
		bool known;
		if (t->job[i].pmu == a->pmu &&
			pushout_overflowed(pmu, (unsigned)t->job[i].counter, &known, &slot.cycles, &slot.ip))
			on_overflow(s, t, i, pmi, known ? &slot : NULL);
	}
}

/* The thread's part of a PMU that hardware threads share; NULL: nobody runs there. */
static struct attached *of_seat(struct attached *a, unsigned seat)
{
	struct thread *t = a->core->seat[seat];
	return t && t->attached[a->pmu].precise ? t->attached + a->pmu : NULL;
}

static int on_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct attached *a = context;
	for (unsigned k = 0; a->core && k < DRIVER_THREADS; k++)	/* their areas have different addresses */
		if (of_seat(a, k) && !precise_read(of_seat(a, k)->precise, address, to, bytes))
			return 0;
	return a->core ? -1 : precise_read(a->precise, address, to, bytes);
}

static int on_write(void *context, uint64_t address, const void *from, size_t bytes)
{
	struct attached *a = context;
	for (unsigned k = 0; a->core && k < DRIVER_THREADS; k++)
		if (of_seat(a, k) && !precise_write(of_seat(a, k)->precise, address, from, bytes))
			return 0;
	return a->core ? -1 : precise_write(a->precise, address, from, bytes);
}

static unsigned on_stack(void *context, struct precise_branch *out)
{
	const struct attached *a = context;
	return lbr_read(a->thread->s->lbr, a->thread->pmu[a->pmu], out);
}

static int on_registers(void *context, const struct spmu_batch *batch, uint32_t record, bool before,
	struct spmu_registers *out)
{
	struct attached *a = context;
	if (a->core)
		a = batch->records[record].hw_thread < DRIVER_THREADS ? of_seat(a, batch->records[record].hw_thread)
			: NULL;
	return a ? precise_registers(a->precise, batch, record, before, out) : -1;
}

/* The number of INST_END bits before the uop says which instruction it is. */
bool sampling_moment(void *thread, const struct spmu_batch *batch, uint32_t record, bool before,
	struct history_moment *out)
{
	const struct thread *t = thread;
	const struct spmu_record *r = &batch->records[record];
	uint64_t number = t->instructions - t->registers_from;
	if (!t->run->registers)
		return false;
	for (uint32_t i = 0; i < record; i++) {
		const struct spmu_record *x = &batch->records[i];
		if (x->kind == SPMU_REC_UOP && x->did & SPMU_DID(RETIRED))
			number += !!(x->is & SPMU_IS(INST_END)) + !!(x->is & SPMU_IS(INST_END2));
	}
	return history_at(t->run->registers, number, r->ip, before ? 0 : r->is & SPMU_IS(INST_END2) ? 2 : 1, out);
}

static bool moment(void *context, const struct spmu_batch *batch, uint32_t record, bool before,
	struct history_moment *out)
{
	return sampling_moment(((struct attached *)context)->thread, batch, record, before, out);
}

/* Rare events may not overflow for a long time, so at each tick the period is adapted to what was counted since
 * the last.  And the metrics are read, so that their shares are of a tick's slots. */
void sampling_tick(struct session *s, struct thread *t, uint64_t now)
{
	uint64_t clock = counter_total(s, t, s->clock), elapsed = clock - t->tick_clock;
	t->tick_clock = clock;
	t->next_tick = sampling_next_tick(s, now);
	counter_metrics(s, t);
	if (!elapsed)
		return;		/* halted all the time */
	for (size_t i = 0; i < s->items; i++) {
		struct counter *c = t->counter + i;
		if (!s->item[i].frequency || s->item[i].clock)
			continue;
		counter_update(s, t, i);
		uint64_t counted = c->count - c->tick_count;
		c->tick_count = c->count;
		if (counted) {
			adjust_period(s, t, i, now, elapsed, counted);
			if (c->left > 0 && (uint64_t)c->left > 8 * c->period) {
				/* what was counted of the long interval goes to the sample that ends the short
				 * one */
				uint64_t done = c->loaded - (uint64_t)c->left;
				c->left = 0;
				counter_set_period(s, t, i);
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

/* The PMUs read a batch one after the other, but samples are delivered in the order of the records. */
void sampling_deliver(struct session *s, struct thread *t, const struct spmu_batch *b)
{
	uint32_t at = 0;
	if (t->stack && t->run->is_machine)
		callstack_space(t->stack, t->run->process_space);
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
			.cpu = t->run->cpu,
			.cpl = p->record < b->count ? b->records[p->record].cpl : t->run->cpl,
			.space = t->run->process_space };
		if (s->item[p->item].clock)
			out.period = session_ns(s, p->period);
		out.exact = p->exact;
		out.has_pushout = p->has_pushout;
		out.pushout = p->pushout;
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

/* Delivers what the DS buffers hold, before the thread ends. */
void sampling_drain(struct session *s, struct thread *t)
{
	for (unsigned k = 0; k < s->pmus; k++)
		if (t->attached[k].precise && precise_any(t->attached[k].precise))
			take_records(s, t->attached + k, NULL);
	if (t->pendings)
		sampling_deliver(s, t, &(struct spmu_batch){ .count = 0 });
}

bool sampling_precise(const struct session *s, unsigned pmu)
{
	for (size_t i = 0; i < s->items; i++)
		if (s->job[i].precise && driver_uses(s->job + i, pmu))
			return true;
	return false;
}

bool session_needs_registers(const struct session *s)
{
	for (unsigned k = 0; k < s->pmus; k++)
		if (sampling_precise(s, k))
			return true;
	return false;
}

int sampling_buffer(struct session *s, struct precise **out, int word_bytes, struct attached *context, struct err *err)
{
	return precise_create(out, s->o.model, word_bytes, s->o.data, s->o.pebs_records, moment, on_stack, context,
		err);
}

int sampling_pmu(struct session *s, struct spmu **out, struct attached *context, int word_bytes, uint8_t hw_thread,
	struct err *err)
{
	struct spmu_host host = {
		.context = context, .pmi = on_pmi, .pmi_latency = s->o.core->pmi_latency,
		.pmi_clock = s->o.core->pmi_clock, .pmi_line = s->o.core->pmi_line,
		.hw_thread = hw_thread, .siblings = (uint8_t)s->o.siblings, .mode64 = word_bytes == 8
	};
	const struct pushout_widths widths = session_pushout_widths(s->o.core);
	for (unsigned point = 0; point < PUSHOUT_POINTS && s->items > s->plain; point++)
		host.pushout_width[point] = (uint8_t)widths.at[point];
	if (sampling_precise(s, context->pmu)) {
		host.read_memory = on_read;
		host.write_memory = on_write;
		host.registers = on_registers;
	}
	return spmu_create(out, s->o.model, &host) ? err_set(err, ERR_NOMEM, "out of memory for a PMU") : 0;
}

int sampling_attached(struct session *s, struct thread *t, unsigned pmu, struct err *err)
{
	struct attached *a = t->attached + pmu;
	*a = (struct attached){ .thread = t, .pmu = pmu };
	int rc = sampling_precise(s, pmu) ? sampling_buffer(s, &a->own, t->word_bytes, a, err) : 0;
	if (!rc)
		a->precise = a->own;
	return rc;
}

int sampling_attach(struct session *s, struct thread *t, uint8_t hw_thread, struct err *err)
{
	int rc = 0;
	for (unsigned k = 0; !rc && k < s->pmus; k++) {
		rc = sampling_attached(s, t, k, err);
		if (rc)
			break;
		rc = sampling_pmu(s, &t->pmu[k], t->attached + k, t->word_bytes, hw_thread, err);
		if (!rc)
			spmu_apic_write(t->pmu[k], SPMU_APIC_LVT_PC, LVT_NMI);
	}
	return rc;
}
