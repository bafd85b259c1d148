/* SPDX-License-Identifier: GPL-2.0-or-later
 * The PEBS buffers of processors on which threads take turns (session_options.pebs_shared).  On the machine the
 * DS area belongs to the processor, while counters and reload values go with the task (Linux,
 * arch/x86/events/intel/ds.c, intel_pmu_pebs_enable), and the kernel drains the buffer when it switches tasks
 * (intel_pmu_pebs_sched_task).  The session notices a switch when the next thread's first batch comes.
 */
#include "session/session_internal.h"
#include <stdlib.h>
#include <string.h>

static int reserve(struct session *s, uint32_t cpu, struct err *err)
{
	if (cpu >= s->processors) {
		struct processor *grown = realloc(s->processor, ((size_t)cpu + 1) * sizeof *grown);
		if (!grown)
			return err_set(err, ERR_NOMEM, "out of memory");
		memset(grown + s->processors, 0, (cpu + 1 - s->processors) * sizeof *grown);
		s->processor = grown;
		s->processors = cpu + 1;
	}
	if (!s->processor[cpu].buffer)
		s->processor[cpu].buffer = calloc(s->pmus, sizeof *s->processor[cpu].buffer);
	return s->processor[cpu].buffer ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

int shared_start(struct session *s, struct thread *t, const struct run_thread *run, struct err *err)
{
	int rc = 0;
	/* the processors of a process have adjacent numbers, and its threads start on the first */
	t->first_cpu = run->cpu;
	for (uint32_t cpu = run->cpu; cpu < run->cpu + s->o.cpus && !rc; cpu++) {
		rc = reserve(s, cpu, err);
		for (unsigned k = 0; k < s->pmus && !rc; k++)
			if (t->attached[k].own && !s->processor[cpu].buffer[k])
				rc = sampling_buffer(s, &s->processor[cpu].buffer[k], run->word_bytes, NULL, err);
	}
	return rc;
}

static void lend(struct session *s, struct thread *t, struct processor *to)
{
	for (unsigned k = 0; k < s->pmus; k++) {
		struct precise *p = to->buffer[k];
		if (!p)
			continue;
		t->attached[k].precise = p;
		precise_lend(p, t->tid, t->attached + k);
		for (size_t i = 0; i < s->items; i++)
			if (s->job[i].pmu == k && s->job[i].precise)
				precise_reload(p, s->job + i, t->counter[i].reload);
	}
	to->last = t;
}

/* The thread no longer runs on any processor. */
static void go(struct session *s, struct thread *t)
{
	for (uint32_t from = 0; from < s->processors; from++)
		if (s->processor[from].last == t) {
			if (s->o.pebs_shared == SESSION_PEBS_DRAINED)
				sampling_drain(s, t);
			s->processor[from].last = NULL;
		}
}

/* The thread continues: another one may have run on this processor, or it on another. */
void shared_arrive(struct session *s, struct thread *t)
{
	struct processor *here = t->run->cpu < s->processors ? &s->processor[t->run->cpu] : NULL;
	if (!here || here->last == t)
		return;
	go(s, t);
	if (here->last)
		go(s, here->last);
	lend(s, t, here);
}

/* The thread ends.  With SESSION_PEBS_MIXED, its buffers' records stay for the next thread, if there is one. */
void shared_leave(struct session *s, struct thread *t)
{
	bool others = false;
	go(s, t);
	for (size_t k = 0; k < s->threads; k++)
		others |= s->thread[k] != t && s->thread[k]->run && s->thread[k]->run->process == t->run->process;
	for (uint32_t cpu = t->first_cpu;
		cpu < t->first_cpu + s->o.cpus && s->o.pebs_shared == SESSION_PEBS_MIXED && !others; cpu++) {
		lend(s, t, &s->processor[cpu]);
		sampling_drain(s, t);
		s->processor[cpu].last = NULL;
	}
}

void shared_release(struct session *s)
{
	for (uint32_t cpu = 0; cpu < s->processors; cpu++) {
		for (unsigned k = 0; s->processor[cpu].buffer && k < s->pmus; k++)
			precise_destroy(s->processor[cpu].buffer[k]);
		free(s->processor[cpu].buffer);
	}
	free(s->processor);
	s->processor = NULL;
	s->processors = 0;
}
