/* SPDX-License-Identifier: GPL-2.0-or-later
 * Gathers and writes a run's trace events (trace_events.h). */
#include "output/export/trace_events.h"
#include "analysis/slots.h"
#include "analysis/tune/phase_finder.h"
#include "util/grow.h"
#include "util/json.h"
#include "util/texts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_INTERVAL = 1024, PHASE_INTERVAL = 10000, MOST_NESTED = 64 };
enum { COUNT_CYCLES, COUNT_INSNS, COUNT_MISPREDICTS, COUNT_L1D, COUNT_L2, COUNT_L3, COUNTS };
enum { SLOTS_LEVELS = 4 };
static const char *const level_path[SLOTS_LEVELS] = { "ret", "bad", "fe", "be" };
static const char *const level_name[SLOTS_LEVELS] = { "retiring", "bad speculation", "front-end bound",
	"back-end bound" };

struct interval { uint64_t count[COUNTS], level[SLOTS_LEVELS]; };
struct mark { uint64_t cycle; const char *name; bool begins; };
struct stretch { uint64_t begin, end; };
struct thread {
	uint32_t pid, tid, number;
	char comm[16];
	bool ended;
	uint64_t begin, now, end;	/* cycles: first and last of what it did */
	struct slots *slots;		/* NULL: not counted */
	uint64_t level[SLOTS_LEVELS];	/* so far */
	struct phases *phases;
	struct interval *interval;	/* [TRACE_INTERVALS] */
	struct mark *mark;
	size_t marks, mark_room;
	struct stretch *run;
	size_t runs, run_room;
};
struct trace_events {
	struct slots_core core;
	double cycles_us;		/* cycles in a microsecond */
	uint64_t interval;		/* length in cycles */
	struct thread **thread;
	size_t threads, room;
	struct texts names;
};

int trace_events_create(struct trace_events **out, const struct core_config *c, struct err *err)
{
	struct trace_events *e = calloc(1, sizeof *e);
	if (!e)
		return err_set(err, ERR_NOMEM, "out of memory");
	e->core = slots_core_of(c);
	e->cycles_us = 1000 * c->frequency_ghz;
	e->interval = FIRST_INTERVAL;
	*out = e;
	return 0;
}

void trace_events_destroy(struct trace_events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->threads; i++) {
		struct thread *t = e->thread[i];
		slots_destroy(t->slots);
		phases_destroy(t->phases);
		free(t->interval);
		free(t->mark);
		free(t->run);
		free(t);
	}
	free(e->thread);
	texts_free(&e->names);
	free(e);
}

struct core_wanted trace_events_wanted(void)
{
	struct core_wanted w = { .is = ~UINT64_C(0), .did = ~UINT64_C(0) };
	slots_wanted(w.signal);
	w.signal[SPMU_SIG_CYCLES >> 6] |= UINT64_C(1) << (SPMU_SIG_CYCLES & 63);
	return core_wanted_both(w, phases_wanted());
}

/* ---- gathering ---- */

int trace_events_thread(struct trace_events *e, struct run_thread *run, struct err *err)
{
	struct thread **more = grow_array(e->thread, e->threads, &e->room, 16, sizeof *more);
	struct thread *t = more ? calloc(1, sizeof *t) : NULL;
	if (more)
		e->thread = more;
	if (!t)
		return err_set(err, ERR_NOMEM, "out of memory");
	e->thread[e->threads++] = t;
	*t = (struct thread){ .pid = run->pid, .tid = run->tid, .number = (uint32_t)e->threads - 1,
		.begin = UINT64_MAX };
	memcpy(t->comm, run->comm, sizeof t->comm - 1);
	t->interval = calloc(TRACE_INTERVALS, sizeof *t->interval);
	run->sink_private = t;
	if (!t->interval)
		return err_set(err, ERR_NOMEM, "out of memory");
	int rc = phases_create(&t->phases, PHASE_INTERVAL, true, err);
	if (!rc && run->siblings < 2)
		rc = slots_create(&t->slots, &e->core, err);
	return rc;
}

/* Makes intervals twice as long until the cycle lies in one of them. */
static void reach(struct trace_events *e, uint64_t cycle)
{
	for (; cycle / e->interval >= TRACE_INTERVALS; e->interval *= 2)
		for (size_t i = 0; i < e->threads; i++) {
			struct interval *v = e->thread[i]->interval;
			for (unsigned k = 0; k < TRACE_INTERVALS; k++) {
				struct interval sum = { 0 };
				for (unsigned h = 0; k < TRACE_INTERVALS / 2 && h < 2; h++) {
					for (unsigned c = 0; c < COUNTS; c++)
						sum.count[c] += v[2 * k + h].count[c];
					for (unsigned c = 0; c < SLOTS_LEVELS; c++)
						sum.level[c] += v[2 * k + h].level[c];
				}
				v[k] = sum;
			}
		}
}

static struct interval *at(const struct trace_events *e, struct thread *t, uint64_t cycle)
{
	return &t->interval[cycle / e->interval];
}

static int runs(struct trace_events *e, struct thread *t, uint64_t begin, uint64_t end, struct err *err)
{
	if (begin >= end)
		return 0;
	reach(e, end);
	for (uint64_t c = begin; c < end;) {
		const uint64_t next = (c / e->interval + 1) * e->interval, to = next < end ? next : end;
		at(e, t, c)->count[COUNT_CYCLES] += to - c;
		c = to;
	}
	t->begin = begin < t->begin ? begin : t->begin;
	t->end = end > t->end ? end : t->end;
	if (t->runs && t->run[t->runs - 1].end >= begin) {
		struct stretch *last = &t->run[t->runs - 1];
		last->end = end > last->end ? end : last->end;
		return 0;
	}
	struct stretch *run = grow_array(t->run, t->runs, &t->run_room, 64, sizeof *run);
	if (!run)
		return err_set(err, ERR_NOMEM, "out of memory");
	t->run = run;
	run[t->runs++] = (struct stretch){ begin, end };
	return 0;
}

/* Slots that became known: spread evenly over the cycles from `from` to now. */
static int charge_slots(struct trace_events *e, struct thread *t, uint64_t from, struct err *err)
{
	uint64_t slots[SLOTS_CAUSE_COUNT], cycles;
	const int rc = slots_read(t->slots, slots, &cycles, err);
	if (rc)
		return rc;
	const uint64_t length = t->now - from;
	for (unsigned k = 0; k < SLOTS_LEVELS; k++) {
		uint64_t sum = 0, given = 0;
		slots_sum(slots, level_path[k], &sum);
		const uint64_t more = sum > t->level[k] ? sum - t->level[k] : 0;
		t->level[k] += more;
		for (uint64_t c = from; c < t->now;) {
			const uint64_t next = (c / e->interval + 1) * e->interval, to = next < t->now ? next : t->now;
			const uint64_t part = (uint64_t)((unsigned __int128)more * (to - from) / length) - given;
			at(e, t, c)->level[k] += part;
			given += part;
			c = to;
		}
		if (!length)
			at(e, t, t->now)->level[k] += more;
	}
	return 0;
}

int trace_events_batch(struct trace_events *e, struct run_thread *run, const struct spmu_batch *b, struct err *err)
{
	struct thread *t = run->sink_private;
	const uint64_t from = t->now;
	int rc = 0;
	for (uint32_t i = 0; i < b->count && !rc; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL) {
			if (r->signal == SPMU_SIG_CYCLES)
				rc = runs(e, t, b->base_cycle + r->begin, b->base_cycle + r->end, err);
			continue;
		}
		if (!(r->did & SPMU_DID(RETIRED)))
			continue;
		const uint64_t cycle = b->base_cycle + r->retire;
		t->now = cycle > t->now ? cycle : t->now;
		reach(e, cycle);
		struct interval *v = at(e, t, cycle);
		v->count[COUNT_INSNS] += !!(r->is & SPMU_IS(INST_END)) + !!(r->is & SPMU_IS(INST_END2));
		v->count[COUNT_MISPREDICTS] += !!(r->did & SPMU_DID(MISPREDICTED));
		if (r->is & SPMU_IS(LOAD)) {
			v->count[COUNT_L1D] += !!(r->did & (SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT)));
			v->count[COUNT_L2] += !!(r->did & SPMU_DID(L2_MISS));
			v->count[COUNT_L3] += !!(r->did & SPMU_DID(L3_MISS));
		}
	}
	t->end = t->now > t->end ? t->now : t->end;
	phases_batch(t->phases, b);
	if (!rc && t->slots) {
		slots_batch(t->slots, b);
		rc = charge_slots(e, t, from, err);
	}
	return rc;
}

int trace_events_region(struct trace_events *e, struct run_thread *run, const char *name, bool begins, struct err *err)
{
	struct thread *t = run->sink_private;
	struct mark *m = grow_array(t->mark, t->marks, &t->mark_room, 64, sizeof *m);
	const char *kept = m ? texts_keep(&e->names, name) : NULL;
	if (m)
		t->mark = m;
	if (!kept)
		return err_set(err, ERR_NOMEM, "out of memory");
	m[t->marks++] = (struct mark){ t->now, kept, begins };
	return 0;
}

void trace_events_end(struct trace_events *e, struct run_thread *run)
{
	struct thread *t = run->sink_private;
	(void)e;
	if (!t || t->ended)
		return;
	memcpy(t->comm, run->comm, sizeof t->comm - 1);
	t->ended = true;
	run->sink_private = NULL;
}

/* ---- JSON ---- */

struct writer { FILE *to; const struct trace_events *e; bool first; };

static double us(const struct writer *w, uint64_t cycle) { return (double)cycle / w->e->cycles_us; }

/* Begins an event; ts and the rest follow. */
static void event(struct writer *w, const char *ph, const char *name, uint32_t pid, uint32_t tid)
{
	fprintf(w->to, "%s\n{\"ph\": \"%s\", \"pid\": %u, \"tid\": %u, \"name\": ", w->first ? "" : ",", ph, pid, tid);
	json_string(w->to, name);
	w->first = false;
}

static void slice(struct writer *w, const char *ph, const char *cat, const char *name, const struct thread *t,
	uint32_t tid, uint64_t cycle)
{
	event(w, ph, name, t->pid, tid);
	fprintf(w->to, ", \"cat\": \"%s\", \"ts\": %.6f}", cat, us(w, cycle));
}

static void track_name(struct writer *w, const struct thread *t, uint32_t tid, const char *what, unsigned order)
{
	char name[64];
	snprintf(name, sizeof name, "%s %s", t->comm, what);
	event(w, "M", "thread_name", t->pid, tid);
	fputs(", \"args\": {\"name\": ", w->to);
	json_string(w->to, *what ? name : t->comm);
	fputs("}}", w->to);
	event(w, "M", "thread_sort_index", t->pid, tid);
	fprintf(w->to, ", \"args\": {\"sort_index\": %u}}", 4 * t->number + order);
}

/* The regions, as slices that nest. */
static void write_regions(struct writer *w, const struct thread *t)
{
	const char *open[MOST_NESTED];
	size_t depth = 0;
	for (size_t i = 0; i < t->marks; i++) {
		const struct mark *m = &t->mark[i];
		if (m->begins && depth < MOST_NESTED) {
			slice(w, "B", "region", m->name, t, t->tid, m->cycle);
			open[depth++] = m->name;
		}
		size_t which = depth;
		while (!m->begins && which && open[which - 1] != m->name)
			which--;
		if (m->begins || !which)
			continue;
		for (size_t k = depth; k >= which; k--)
			slice(w, "E", "region", open[k - 1], t, t->tid, m->cycle);
		memmove(&open[which - 1], &open[which], (depth - which) * sizeof *open);
		depth--;
		for (size_t k = which - 1; k < depth; k++)
			slice(w, "B", "region", open[k], t, t->tid, m->cycle);
	}
	while (depth)
		slice(w, "E", "region", open[--depth], t, t->tid, t->end);
}

static void write_states(struct writer *w, const struct thread *t)
{
	const uint32_t tid = TRACE_STATES + t->number;
	for (size_t i = 0; i < t->runs; i++) {
		slice(w, "B", "state", "runs", t, tid, t->run[i].begin);
		slice(w, "E", "state", "runs", t, tid, t->run[i].end);
	}
}

static int write_phases(struct writer *w, struct thread *t, struct err *err)
{
	const uint32_t tid = TRACE_PHASES + t->number;
	int rc = phases_finish(t->phases, err);
	if (!rc)
		rc = phases_find(t->phases, NULL, NULL, err);
	if (rc)
		return rc;
	const size_t n = phases_intervals(t->phases);
	uint64_t end = 0;
	char name[32];
	for (size_t i = 0, k; i < n; i = k) {
		const uint64_t begin = end > t->begin ? end : t->begin;
		const size_t phase = phases_of(t->phases, i);
		for (k = i; k < n && phases_of(t->phases, k) == phase; k++)
			end += phases_cycles(t->phases, k);
		if (end <= begin)
			continue;
		snprintf(name, sizeof name, "phase %zu", phase + 1);
		slice(w, "B", "phase", name, t, tid, begin);
		slice(w, "E", "phase", name, t, tid, end);
	}
	return 0;
}

static void counter(struct writer *w, const char *name, const struct thread *t, uint64_t cycle)
{
	char full[64];
	snprintf(full, sizeof full, "%s %u", name, t->tid);
	event(w, "C", full, t->pid, t->tid);
	fprintf(w->to, ", \"ts\": %.6f, \"args\": {", us(w, cycle));
}

static void write_counters(struct writer *w, const struct thread *t)
{
	const uint64_t length = w->e->interval, first = t->begin / length;
	for (uint64_t i = first; i < TRACE_INTERVALS && i * length < t->end; i++) {
		const struct interval *v = &t->interval[i];
		const uint64_t cycle = i == first ? t->begin : i * length;
		const double cycles = (double)v->count[COUNT_CYCLES], insns = (double)v->count[COUNT_INSNS];
		const double thousand = insns > 0 ? 1000 / insns : 0;
		double slots = 0;
		counter(w, "IPC", t, cycle);
		fprintf(w->to, "\"IPC\": %.4f}}", cycles > 0 ? insns / cycles : 0);
		counter(w, "per 1000 instructions", t, cycle);
		fprintf(w->to,
			"\"mispredicts\": %.3f, \"L1D misses\": %.3f, \"L2 misses\": %.3f, \"L3 misses\": %.3f}}",
			thousand * (double)v->count[COUNT_MISPREDICTS], thousand * (double)v->count[COUNT_L1D],
			thousand * (double)v->count[COUNT_L2], thousand * (double)v->count[COUNT_L3]);
		for (unsigned k = 0; k < SLOTS_LEVELS; k++)
			slots += (double)v->level[k];
		if (!t->slots)
			continue;
		counter(w, "slots, %", t, cycle);
		for (unsigned k = 0; k < SLOTS_LEVELS; k++)
			fprintf(w->to, "%s\"%s\": %.2f", k ? ", " : "", level_name[k],
				slots > 0 ? 100 * (double)v->level[k] / slots : 0);
		fputs("}}", w->to);
	}
}

int trace_events_write(FILE *to, struct trace_events *e, const char *command, struct err *err)
{
	struct writer w = { to, e, true };
	int rc = 0;
	fputs("{\"displayTimeUnit\": \"ns\", \"otherData\": {\"by\": \"softpmu\", \"command\": ", to);
	json_string(to, command);
	fprintf(to, ", \"cycles in a microsecond\": %.3f}, \"traceEvents\": [", e->cycles_us);
	for (size_t i = 0; i < e->threads && !rc; i++) {
		struct thread *t = e->thread[i];
		if (t->begin == UINT64_MAX)
			continue;	/* nothing of it was timed */
		if (t->pid == t->tid) {
			event(&w, "M", "process_name", t->pid, t->tid);
			fputs(", \"args\": {\"name\": ", to);
			json_string(to, t->comm);
			fputs("}}", to);
		}
		track_name(&w, t, t->tid, "", 0);
		track_name(&w, t, TRACE_STATES + t->number, "states", 1);
		track_name(&w, t, TRACE_PHASES + t->number, "phases", 2);
		write_regions(&w, t);
		write_states(&w, t);
		rc = write_phases(&w, t, err);
		write_counters(&w, t);
	}
	fputs("\n]}\n", to);
	return rc;
}
