/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes exact profiles; exact_record.h says what is written when. */
#include "output/exact_record.h"
#include "core/core.h"
#include "symbols/symbols.h"
#include "util/grow.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

struct followed {		/* a thread that has not ended */
	const struct run_thread *run;
	uint32_t pid, tid, cpu;
	uint64_t cycle;		/* its latest cycle */
	struct exact *exact;
};
struct exact_record {
	struct perfdata_writer *w;
	size_t first;
	uint64_t sample_cycles, hz;
	struct followed *thread;
	size_t threads, room;
	/* used while a thread is written: */
	const struct followed *of;
	uint64_t given[EXACT_EVENTS], parts[EXACT_EVENTS];	/* whole cycles written so far, and their exact parts */
	uint64_t cycles;
	uint64_t all;		/* sum of the parts of all causes */
};

static const char *const name[EXACT_EVENTS] = {
#define X(cause, text, help) [EXACT_##cause] = EXACT_PREFIX text,
	EXACT_CAUSE_LIST(X)
#undef X
	[EXACT_INSTRUCTIONS] = EXACT_PREFIX "instructions", [EXACT_SAMPLED] = EXACT_PREFIX "sampled",
};

unsigned exact_record_event(const char *text)
{
	unsigned i = 0;
	while (i < EXACT_EVENTS && strcmp(name[i], text))
		i++;
	return i;
}

void exact_record_events(struct perfdata_event out[EXACT_EVENTS], uint64_t sample_cycles)
{
	/* not a kernel event, but perf script omits the address of dummy events */
	for (unsigned i = 0; i < EXACT_EVENTS; i++)
		out[i] = (struct perfdata_event){ .name = name[i],
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.period = i == EXACT_SAMPLED && sample_cycles ? sample_cycles : 1,
			.exclude_kernel = true };
}

struct core_wanted exact_record_wanted(void)
{
	static const uint8_t signal[] = { SPMU_SIG_CYCLES, SPMU_SIG_CLEAR_MEMORY_ORDER, SPMU_SIG_CLEAR_SMC };
	struct core_wanted w = { .is = ~UINT64_C(0), .did = ~UINT64_C(0) };
	for (size_t i = 0; i < sizeof signal; i++)
		w.signal[signal[i] >> 6] |= UINT64_C(1) << (signal[i] & 63);
	return w;
}

int exact_record_create(struct exact_record **out, struct perfdata_writer *w, size_t first, uint64_t sample_cycles,
	double hz, struct err *err)
{
	struct exact_record *r = calloc(1, sizeof *r);
	if (!r)
		return err_set(err, ERR_NOMEM, "out of memory");
	*r = (struct exact_record){ .w = w, .first = first, .sample_cycles = sample_cycles,
		.hz = (uint64_t)(hz + 0.5) };
	*out = r;
	return 0;
}

void exact_record_destroy(struct exact_record *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->threads; i++)
		exact_destroy(r->thread[i].exact);
	free(r->thread);
	free(r);
}

static int put(struct exact_record *r, unsigned event, uint64_t ip, uint64_t period)
{
	const struct followed *f = r->of;
	struct perfdata_sample s = {
		.event = r->first + event, .ip = ip, .period = period, .pid = f->pid, .tid = f->tid,
		.cpu = f->cpu, .exact = true, .kernel = f->run->is_machine && symbols_is_kernel(ip),
		.time = r->hz ? (uint64_t)((unsigned __int128)f->cycle * 1000000000 / r->hz) : f->cycle
	};
	return period ? perfdata_sample(r->w, &s) : 0;
}

/* Returns whole cycles, so that the sum of everything written so far is the sum of its parts, rounded down. */
static int on_entry(void *context, const struct exact_entry *e)
{
	struct exact_record *r = context;
	int rc = 0;
	for (unsigned i = 0; i < EXACT_CAUSES && !rc; i++) {
		if (!e->part[i])
			continue;
		r->all += e->part[i];
		uint64_t whole = r->all / EXACT_CYCLE - r->cycles;
		r->cycles += whole;
		rc = put(r, i, e->ip, whole);
	}
	if (!rc)
		rc = put(r, EXACT_INSTRUCTIONS, e->ip, e->instructions);
	if (!rc && e->sampled) {
		unsigned __int128 sampled = r->parts[EXACT_SAMPLED] += e->sampled;
		uint64_t whole = (uint64_t)(sampled * r->sample_cycles / EXACT_CYCLE) - r->given[EXACT_SAMPLED];
		r->given[EXACT_SAMPLED] += whole;
		rc = put(r, EXACT_SAMPLED, e->ip, whole);
	}
	return rc;
}

static int write_thread(struct exact_record *r, const struct followed *f)
{
	r->of = f;
	memset(r->given, 0, sizeof r->given);
	memset(r->parts, 0, sizeof r->parts);
	r->cycles = r->all = 0;
	int rc = exact_take(f->exact, on_entry, r);
	return exact_failed(f->exact) ? ERR_NOMEM : rc;
}

static struct followed *find(const struct exact_record *r, const struct run_thread *t)
{
	for (size_t i = 0; i < r->threads; i++)
		if (r->thread[i].run == t)
			return &r->thread[i];
	return NULL;
}

/* Of a whole machine, each address space is a process. */
static uint32_t pid_of(const struct run_thread *t, uint32_t pid)
{
	return t->is_machine ? symbols_space_pid(t->process_space) : pid;
}

/* The address space changed: what is held belongs to the one before. */
static int on_space(struct exact_record *r, const struct run_thread *t)
{
	struct followed *f = find(r, t);
	const uint32_t pid = pid_of(t, t->pid);
	if (!f || f->pid == pid)
		return 0;
	const int rc = write_thread(r, f);
	f->pid = f->tid = pid;
	return rc;
}

static struct followed *follow(struct exact_record *r, const struct run_thread *t)
{
	struct followed *f = find(r, t);
	if (f)
		return f;
	struct followed *grown = grow_array(r->thread, r->threads, &r->room, 8, sizeof *grown);
	if (!grown)
		return NULL;
	r->thread = grown;
	f = &r->thread[r->threads];
	*f = (struct followed){ .run = t, .pid = pid_of(t, t->pid), .tid = pid_of(t, t->tid), .cpu = t->cpu,
		.exact = exact_create(r->sample_cycles) };
	if (!f->exact)
		return NULL;
	r->threads++;
	return f;
}

int exact_record_batch(struct exact_record *r, const struct run_thread *t, const struct spmu_batch *b, bool skip)
{
	struct followed *f = follow(r, t);
	if (!f)
		return ERR_NOMEM;
	if (skip)
		exact_skip(f->exact, b);
	else
		exact_batch(f->exact, b);
	if (b->watermark != UINT64_MAX && b->watermark > f->cycle)
		f->cycle = b->watermark;
	f->cpu = t->cpu;
	return exact_failed(f->exact) ? ERR_NOMEM : 0;
}

int exact_record_side(struct exact_record *r, const struct run_thread *t, uint32_t pid, const uint64_t *record)
{
	const struct st_map *map = (const struct st_map *)record;
	unsigned kind = ST_HEADER_KIND(record[0]);
	int rc = 0;
	if (kind == ST_SPACE && t)
		return on_space(r, t);
	if (kind != ST_MAP && kind != ST_COMM && kind != ST_PROCESS)
		return 0;
	if (kind == ST_MAP && (ST_HEADER_LOW(record[0]) < sizeof *map || !(map->prot & ST_PROT_X)))
		return 0;
	for (size_t i = 0; i < r->threads && !rc; i++) {
		const struct followed *f = &r->thread[i];
		if (f->pid != pid || (kind == ST_COMM && f->run != t) ||
			(kind == ST_MAP && !exact_holds(f->exact, map->addr, map->bytes)))
			continue;
		rc = write_thread(r, f);
	}
	return rc;
}

int exact_record_end(struct exact_record *r, const struct run_thread *t)
{
	struct followed *f = find(r, t);
	if (!f)
		return 0;
	int rc = write_thread(r, f);
	exact_destroy(f->exact);
	*f = r->thread[--r->threads];
	return rc;
}

int exact_record_finish(struct exact_record *r)
{
	int rc = 0;
	for (size_t i = 0; i < r->threads; i++) {
		int one = write_thread(r, &r->thread[i]);
		rc = rc ? rc : one;
	}
	return rc;
}
