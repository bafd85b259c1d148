/* SPDX-License-Identifier: GPL-2.0-or-later
 * Creation of a session: makes jobs for counters of the events, makes turns where there is only one PMU, and
 * finds out with a trial what the registers refuse.
 */
#include "session/events/event_names.h"
#include "session/session_internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes the job of a precise event.  Before Ice Lake no precise event counts cycles; drivers count the cycles
 * in which fewer than 16 (or 10) uops or instructions retire, which are all cycles.  Source: Linux,
 * arch/x86/events/intel/core.c, intel_pebs_aliases_core2, _snb, _precdist. */
static int make_precise(struct session *s, const struct session_event *ev, struct driver_event *p, struct err *err)
{
	int format = spmu_model_family(s->o.model) == SPMU_FAMILY_ARCH
		? (int)(spmu_model_capabilities(s->o.model) >> 8 & 15)
		: -1;
	p->precise = true;
	p->pdist = ev->precise > 2;
	p->pebs_data = precise_data_config(s->o.data);
	if (format >= 0 && format < 4 && ev->fixed == 1) {
		const uint64_t codes[] = { ev->precise > 2 ? 0x01c0 : 0x01c2, 0x01c2, 0x00c0 };
		static const uint8_t fewer[] = { 16, 10 };	/* in Linux's driver; in Intel's event lists */
		for (unsigned i = 0; i < 2 * sizeof codes / sizeof *codes; i++) {
			uint64_t code = codes[i / 2] | SPMU_EVTSEL_CMASK(fewer[i % 2]) | SPMU_EVTSEL_INV;
			const struct spmu_event *e = spmu_model_find_code(s->o.model, code);
			if (!e || !(e->flags & SPMU_EVENT_PRECISE) || e->flags & SPMU_EVENT_NOT_MODELLED ||
				e->cmask != fewer[i % 2] || !e->inv)
				continue;
			p->event = e;
			p->evtsel = code;
			p->fixed = -1;
			return 0;
		}
		return err_set(err, ERR_UNSUPPORTED, "'%s': no precise event of %s counts cycles", ev->spelled,
			s->o.core->name);
	}
	if (format >= 0 && format < 4)
		p->fixed = -1;
	return 0;
}

/* Makes the job as precise as the PMU can; leaves *p as it is if the PMU cannot. */
static void make_most_precise(struct session *s, const struct session_event *ev, struct driver_event *p)
{
	struct session_event most = *ev;
	struct driver_event q = *p;
	struct err none;
	most.precise = 3;
	if (make_precise(s, &most, &q, &none))
		return;
	/* Ice Lake on */
	bool any = spmu_model_family(s->o.model) == SPMU_FAMILY_ARCH &&
		(spmu_model_capabilities(s->o.model) >> 8 & 15) >= 4;
	if (any || q.event->flags & SPMU_EVENT_PRECISE)
		*p = q;
}

/* Which hardware threads the event counts. */
static int qualify(const struct session *s, const struct session_event *ev, struct driver_event *p, struct err *err)
{
	p->threads = s->o.siblings;
	p->who = ev->threads.who;
	p->active = ev->threads.active;
	p->pmi = ev->threads.pmi;
	return thread_words_check(&ev->threads, ev->spelled, s->o.siblings, err);
}

static struct item item_for(size_t event, const struct session_event *ev)
{
	return (struct item){ .event = event, .period = ev->period, .frequency = ev->period ? 0 : ev->frequency,
		.gradual = !ev->period && ev->frequency && ev->gradual, .most_weight = ev->most_weight,
		.rarer = ev->rarer };
}

/* The event that counts plain core cycles; NULL: none.  Fixed counter 1 counts them; prefers a row that general-purpose
 * counters can count, too, so that others can have the fixed counter. */
static const struct spmu_event *plain_cycles(const struct spmu_model *m)
{
	const struct spmu_event *cycles = NULL;
	for (size_t i = 0; i < spmu_model_events(m); i++) {
		const struct spmu_event *e = spmu_model_event(m, i);
		if (e->fixed == 1 && !(e->flags & SPMU_EVENT_NOT_MODELLED) &&
			(!cycles || (!cycles->pmc_mask && e->pmc_mask)))
			cycles = e;
	}
	if (!cycles)
		cycles = names_find(m, "cycles");
	return cycles && !(cycles->flags & SPMU_EVENT_NOT_MODELLED) ? cycles : NULL;
}

/* Makes the items: one for each event that a counter counts, and one more for the clock unless an event counts
 * plain cycles already. */
static int make_items(struct session *s, struct err *err)
{
	const struct spmu_event *cycles = plain_cycles(s->o.model);
	if (!cycles)
		return err_set(err, ERR_UNSUPPORTED, "the event table of %s has no event that counts cycles: no clock",
			s->o.core->name);
	int rc;
	s->clock = NO_EVENT;
	for (size_t e = 0; e < s->o.events->count; e++) {
		const struct session_event *ev = s->o.events->event + e;
		struct item it = item_for(e, ev);
		struct driver_event p = { .event = ev->event, .evtsel = ev->evtsel, .fixed = ev->fixed,
			.user = !ev->exclude_user, .kernel = s->o.core->both_rings && !ev->exclude_kernel,
			.extra = ev->extra };
		bool sampled = (it.period || it.frequency) && !ev->starts;
		s->item_of_event[e] = -1;
		if ((ev->forced || ev->after) && spmu_model_family(s->o.model) != SPMU_FAMILY_NETBURST)
			return err_set(err, ERR_UNSUPPORTED, "'%s': %s NetBurst's; the PMU of %s has none", ev->spelled,
				ev->forced ? "FORCE_OVF is" : "cascaded counters are", s->o.core->name);
		if ((ev->forced || ev->after || ev->starts) && ev->source != SESSION_HARDWARE)
			return err_set(err, ERR_UNSUPPORTED,
				"'%s' is not counted by a hardware counter, so it can neither cascade nor be forced to "
				"overflow",
				ev->spelled);
		if (ev->source == SESSION_HARDWARE) {
			if (ev->fixed == 1 && s->clock == NO_EVENT && !s->o.one_pmu && p.user &&
				p.kernel == s->o.core->both_rings)
				s->clock = s->items;
		} else if (sampled && ev->source == SESSION_TASK_CLOCK) {
			/* the kernel's timer, modelled by cycles: a fixed period in ns */
			uint64_t ns = it.period ? it.period : 1000000000 / it.frequency;
			unsigned __int128 c = (unsigned __int128)ns * s->hz / 1000000000;
			it.period = c > s->max_period ? s->max_period : c ? (uint64_t)c : 1;
			it.frequency = 0;
			it.clock = true;
			p.event = cycles;
			p.evtsel = names_evtsel(cycles);
			p.fixed = cycles->fixed;
		} else if (ev->source == SESSION_PUSHOUT) {
			continue;	/* behind the others */
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
		if ((rc = qualify(s, ev, &p, err)))
			return rc;
		p.sampled = sampled;
		p.forced = ev->forced;
		if (sampled && ev->precise && ev->source == SESSION_HARDWARE) {
			rc = make_precise(s, ev, &p, err);
			if (rc)
				return rc;
		} else if (sampled && ev->most_precise && ev->source == SESSION_HARDWARE) {
			make_most_precise(s, ev, &p);
		}
		if (sampled && !p.precise && ev->event &&
			(ev->event->extra_msr == MSR_PEBS_LD_LAT_THRESHOLD ||
				ev->event->extra_msr == MSR_IA32_PEBS_ENABLE))
			return err_set(err, ERR_UNSUPPORTED,
				"'%s' can be sampled only by PEBS: write it with :p", ev->spelled);
		if (sampled && !s->driver->interrupts)
			return err_set(err, ERR_UNSUPPORTED,
				"'%s': the PMU of %s has no interrupt: its events can be counted, not sampled",
				ev->spelled, s->o.core->name);
		s->adapts |= it.frequency != 0;
		s->item_of_event[e] = (int)s->items;
		/* as in the kernel: the first sample comes at once, and later ones adapt the period */
		s->adapted[s->items] = 1;
		s->job[s->items] = p;
		s->item[s->items++] = it;
	}
	for (size_t e = 0; e < s->o.events->count; e++)
		if (s->o.events->event[e].after)
			s->job[s->item_of_event[e]].after =
				1 + (size_t)s->item_of_event[s->o.events->event[e].after - 1];
	if (s->clock == NO_EVENT) {
		s->clock = s->items;
		s->job[s->items] = (struct driver_event){
			.event = cycles, .evtsel = names_evtsel(cycles), .fixed = cycles->fixed, .user = true,
			.kernel = s->o.core->both_rings, .threads = s->o.siblings
		};
		s->item[s->items++] = (struct item){ .event = NO_EVENT };
	}
	return 0;
}

/* Makes the pushout counters' items, after the family's: four units on each copy of the PMU. */
static int make_pushout_items(struct session *s, struct err *err)
{
	s->plain = s->items;
	for (size_t e = 0; e < s->o.events->count; e++) {
		const struct session_event *ev = s->o.events->event + e;
		const unsigned k = (unsigned)(s->items - s->plain);
		struct item it = item_for(e, ev);
		if (ev->source != SESSION_PUSHOUT)
			continue;
		if (s->o.siblings > 1)
			return err_set(err, ERR_UNSUPPORTED,
				"event %s: no pushout counters where hardware threads share a core (--smt): their "
				"slots retire in turn",
				ev->spelled);
		if (s->o.one_pmu)
			return err_set(err, ERR_UNSUPPORTED,
				"'%s': pushout counters do not take turns: without one PMU for all events (--one-pmu)",
				ev->spelled);
		if ((it.period || it.frequency) && !s->driver->interrupts)
			return err_set(err, ERR_UNSUPPORTED,
				"'%s': the PMU of %s has no interrupt: pushouts can be counted, not sampled",
				ev->spelled, s->o.core->name);
		if (it.period > s->max_period)
			return err_set(err, ERR_INPUT, "'%s': a period of %llu is more than %llu", ev->spelled,
				(unsigned long long)it.period, (unsigned long long)s->max_period);
		s->job[s->items] = (struct driver_event){
			.pushout = &ev->pushout, .fixed = -1,
			.user = !ev->exclude_user, .kernel = s->o.core->both_rings && !ev->exclude_kernel,
			.sampled = it.period || it.frequency, .pmu = k / SPMU_PUSHOUT_UNITS,
			.counter = (int)(k % SPMU_PUSHOUT_UNITS)
		};
		s->adapts |= it.frequency != 0;
		s->adapted[s->items] = 1;
		s->item_of_event[e] = (int)s->items;
		s->item[s->items++] = it;
		if (s->pmus <= k / SPMU_PUSHOUT_UNITS)
			s->pmus = k / SPMU_PUSHOUT_UNITS + 1;
	}
	return 0;
}

/* Appends, as turn `turn`, the events that fit on one PMU, going round the list from unit `first` on.  Units
 * are groups, and events without one.  Like the kernel, it takes them in order and stops at the first that does
 * not fit. */
static int make_turn(struct session *s, const struct driver_event *job, const struct item *item, const size_t *unit,
	size_t n, size_t units, size_t first, unsigned turn, struct err *err)
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
			rc = err_set(err, rc, "event '%s': does not fit on one PMU: %s",
				s->o.events->event[s->item[begin].event].spelled, why);
		}
		if (rc)
			break;
		memcpy(s->job + begin, trial, room * sizeof *trial);
		end = begin + room;
	}
	for (size_t i = begin; i < end; i++)
		driver_put(&s->job[i], turn);
	s->items = end;
	free(trial);
	return rc;
}

/* One PMU: if the events do not all fit on it, makes turns, each of which begins with another unit.  The clock
 * belongs to the kernel and has a copy of its own. */
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
		uint64_t *adapted = realloc(s->adapted, room * sizeof *adapted),
			 *mark = realloc(s->mark, room * sizeof *mark);
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
			driver_put(&s->job[s->items], (unsigned)turns);
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
		rc = err_set(err, ERR_UNSUPPORTED,
			"uncore counters belong to the whole machine, a region to a thread: --region cannot keep them "
			"to it");
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
	for (size_t i = 0; i < o->events->count; i++)
		s->gradual |= o->events->event[i].gradual;
	s->hz = (uint64_t)llround(o->core->frequency_ghz * 1e9);
	s->driver = driver_for(o->model);
	s->shares = o->siblings > 1 && spmu_model_family(o->model) == SPMU_FAMILY_NETBURST;
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
				rc = err_set(err, ERR_UNSUPPORTED,
					"one PMU with turns is for counting, not for sampling");
		if (!rc && !o->rotate_cycles)
			rc = err_set(err, ERR_INPUT, "the events' turns on one PMU need a length above 0");
		if (!rc)
			rc = make_turns(s, err);
	} else if (!rc) {
		rc = s->driver->assign(o->model, s->job, s->items, 0, &s->pmus, &which, err);
		if (rc == ERR_UNSUPPORTED) {
			char why[400];
			snprintf(why, sizeof why, "%.399s", err ? err->text : "");
			rc = err_set(err, rc, "event '%s': %s", session_spelled(s, which), why);
		}
	}
	if (!rc)
		rc = make_pushout_items(s, err);
	if (!rc)
		rc = make_uncore(s, err);
	for (size_t i = 0; i < s->plain && !rc; i++)
		s->metrics |= driver_is_metric(&s->job[i]);
	s->regions.items = s->items;
	if (!rc) {	/* a thread that never runs: what the registers refuse is refused before the program starts */
		struct thread *trial = NULL;
		const struct run_thread nobody = { .process = UINT32_MAX };
		struct shared_core *core = s->shares ? cores_find(s, &nobody, err) : NULL;
		rc = s->shares && !core ? ERR_NOMEM : session_thread_new(&trial, s, 8, 0, core, err);
		session_thread_free(s, trial);
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
		session_thread_free(s, s->thread[i]);
	free(s->thread);
	while (s->cores)
		cores_free(s, s->core[0]);
	free(s->core);
	free(s->item);
	free(s->job);
	free(s->hit);
	free(s->adapted);
	free(s->item_of_event);
	free(s->mark);
	uncore_session_destroy(s->uncore);
	lbr_destroy(s->lbr);
	shared_release(s);
	regions_release(&s->regions);
	free(s);
}
