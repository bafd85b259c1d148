/* SPDX-License-Identifier: GPL-2.0-or-later
 * The session's counts, for printing.
 */
#include "session/session_internal.h"
#include <string.h>

uint64_t session_ns(const struct session *s, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * 1000000000 / s->hz);
}

uint64_t session_now(const struct session *s)
{
	return s->now;
}

/* Of a whole machine. */
static uint64_t trapped(const struct session_event *e, const uint64_t from[2])
{
	return (e->exclude_kernel ? 0 : from[0]) + (e->exclude_user ? 0 : from[1]);
}

/* *n: the event's count, if no counter of the threads counts it. */
static bool software(const struct session *s, size_t event, uint64_t *n)
{
	const struct session_event *e = &s->o.events->event[event];
	switch (e->source) {
	case SESSION_FAULTS: *n = trapped(e, s->traps.faults); return true;
	case SESSION_SWITCHES: *n = trapped(e, s->traps.switches); return true;
	case SESSION_EXCEPTIONS: *n = trapped(e, s->traps.exceptions); return true;
	case SESSION_INTERRUPTS: *n = trapped(e, s->traps.interrupts); return true;
	case SESSION_TASK_CLOCK:
		*n = session_ns(s, s->now);
		return s->o.core->both_rings;
	default: return false;
	}
}

uint64_t session_thread_count(const struct session *s, size_t thread, size_t event)
{
	const struct thread *t = s->thread[thread];
	uint64_t n = 0;
	if (software(s, event, &n))
		return n;
	switch (s->o.events->event[event].source) {
	case SESSION_TASK_CLOCK: return session_ns(s, counter_total(s, t, s->clock));
	case SESSION_DURATION: return session_ns(s, s->now);
	case SESSION_UNCORE: return 0;	/* no thread's */
	default:
		for (size_t i = 0; i < s->items; i++)	/* with turns, the event has one item in each turn */
			n += s->item[i].event == event ? counter_total(s, t, i) : 0;
		return n;
	}
}

/* Sums cycles before they become ns, so that they are rounded only once. */
static uint64_t sum(const struct session *s, size_t item)
{
	uint64_t n = 0;
	for (size_t k = 0; k < s->threads; k++)
		n += counter_total(s, s->thread[k], item);
	return n;
}

uint64_t session_count(const struct session *s, size_t event)
{
	uint64_t n = 0;
	if (software(s, event, &n))
		return n;
	switch (s->o.events->event[event].source) {
	case SESSION_TASK_CLOCK: return session_ns(s, sum(s, s->clock));
	case SESSION_DURATION: return session_ns(s, s->now);
	case SESSION_UNCORE: return uncore_session_count(s->uncore, event);
	default: break;
	}
	n = 0;
	for (size_t k = 0; k < s->threads; k++)
		n += session_thread_count(s, k, event);
	return n;
}

bool session_counts_uops(const struct session *s, size_t event)
{
	/* what every uop may have, also those that rename adds, or what rename decides */
	const uint64_t vague = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(INST_END2) | SPMU_IS(SLOT) |
		SPMU_IS(EXEC) | SPMU_IS(ELIMINATED) | SPMU_IS(FLAGS_MERGE) | SPMU_IS(VECTOR_BLEND);
	const struct session_event *e = &s->o.events->event[event];
	const bool plain = e->source == SESSION_HARDWARE && e->event && !e->exclude_user &&
		(e->fixed >= 0 || (e->evtsel & 0xffff) == e->evtsel);
	const uint64_t bits = plain ? spmu_event_decoded(s->o.model, e->event) : 0;
	return bits && !(bits & vague);
}

uint64_t session_uop(const struct session *s, size_t event, uint64_t is)
{
	return spmu_event_uop(s->o.model, s->o.events->event[event].event, is);
}

uint64_t session_process_count(const struct session *s, uint32_t process, size_t event)
{
	return uncore_session_process_count(s->uncore, process, event);
}

bool session_is_uncore(const struct session *s, size_t event)
{
	return s->o.events->event[event].source == SESSION_UNCORE;
}

static uint64_t ran(const struct session *s, const struct thread *t, size_t event)
{
	uint64_t n = 0;
	if (!s->turns || s->o.events->event[event].source != SESSION_HARDWARE)
		return counter_total(s, t, s->clock);
	for (size_t i = 0; i < s->items; i++)
		n += s->item[i].event == event ? t->ran[t->job[i].pmu] : 0;
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

uint64_t session_mistaken(const struct session *s)
{
	return s->mistaken;
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
		.running_ns = session_ns(s, counter_total(s, t, s->clock)) };
}

size_t session_thread_number(const struct session *s, const struct run_thread *run)
{
	size_t i = s->threads;
	while (i && s->thread[i - 1]->run != run)
		i--;
	return i ? i - 1 : s->threads;
}

size_t session_regions(const struct session *s)
{
	return s->regions.regions;
}

size_t session_unmodelled(const struct session *s, const struct spmu_unmodelled **out)
{
	*out = s->unmodelled;
	return s->unmodelled_kept;
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
	*out = (struct session_region){ .name = r->name, .entries = r->entries,
		.running_ns = session_ns(s, r->count[s->clock]) };
}

uint64_t session_region_count(const struct session *s, size_t region, size_t event)
{
	const struct region *r = s->regions.region + region;
	switch (s->o.events->event[event].source) {
	case SESSION_TASK_CLOCK:
	case SESSION_DURATION: return session_ns(s, r->count[s->clock]);
	case SESSION_UNCORE:
	case SESSION_FAULTS:
	case SESSION_SWITCHES:
	case SESSION_EXCEPTIONS:
	case SESSION_INTERRUPTS: return 0;	/* of a machine, which has no regions */
	default: return r->count[s->item_of_event[event]];
	}
}
