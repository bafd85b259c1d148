/* SPDX-License-Identifier: BSD-2-Clause
 * Running counters of the uncore that watch something which the model cannot produce (spmu_uncore_unmodelled). */
#include "uncore_internal.h"

/* The event that a programmed counter, or a free-running one, is there for.  NULL: the table has none. */
static const struct spmu_uncore_event *event_of(const struct spmu_uncore *u, const struct box *b, unsigned n)
{
	const struct spmu_uncore_model *m = u->model;
	const uint64_t v = b->counter[n].control;
	const uint32_t umask = (uint32_t)(v >> 8 & 0xff) | (m->server ? (uint32_t)(v >> 32) << 8 : 0);
	const struct spmu_uncore_event *any = NULL;
	for (size_t i = 0; i < m->events; i++) {
		const struct spmu_uncore_event *e = &m->event[i];
		if (e->unit != b->unit)
			continue;
		if (!unit_of(u, b)->programmable && e->counters >> n & 1)
			return e;
		if (!unit_of(u, b)->programmable || e->event != (v & 0xff) || e->umask != umask)
			continue;
		if (e->cmask == (v >> 24 & 0xff))
			return e;
		any = e;
	}
	return any;
}

size_t spmu_uncore_unmodelled(const struct spmu_uncore *u, struct spmu_uncore_unmodelled *out, size_t room)
{
	size_t found = 0;
	for (unsigned i = 0; i < u->boxes; i++) {
		const struct box *b = &u->box[i];
		for (unsigned n = 0; n < b->counters; n++) {	/* (a channel's fixed counter counts its clock) */
			const uint64_t v = b->counter[n].control;
			uint8_t accept[WHATS];
			uint32_t unmodelled = 0;
			if (!uncore_enabled(u, b, n))
				continue;
			const struct spmu_uncore_event *e = event_of(u, b, n);
			bool known = true;
			if (unit_of(u, b)->programmable)
				known = uncore_select(u->model, b->unit, v & 0xff, (uint32_t)(v >> 8 & 0xff) |
					(u->model->server ? (uint32_t)(v >> 32) << 8 : 0), accept, &unmodelled);
			if (e ? !e->not_modelled[0] : known && !unmodelled)
				continue;
			if (!e && !(v & 0xff))
				continue;	/* no event is selected */
			if (found < room)
				out[found] = (struct spmu_uncore_unmodelled){ .unit = unit_of(u, b)->name,
					.box = b->number, .counter = n, .control = v, .event = e ? e->name : "",
					.reason = e ? e->not_modelled
						: known ? "the model does not produce all that the unit mask selects"
						: "this model's event table has no such event select for this unit" };
			found++;
		}
	}
	return found;
}
