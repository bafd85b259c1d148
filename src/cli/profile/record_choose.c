/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which events softpmu record samples, and how often.
 */
#include "cli/profile/record_parts.h"
#include "output/perfdata/perfdata.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cycles a sample by default: a hundred samples in 10^7 cycles, 6 MB of file in 10^10.  A prime, so that it is no
 * multiple of a loop's length. */
enum { DEFAULT_PERIOD = 100003 };
/* With --sample, more samples are taken: a window's few thousand cycles say more in 60 samples than in one.  Cycles
 * alone are sampled every 19 cycles of a window, and up to four times as far apart when a long run's windows are many
 * and stand for more.  Where there are other events, samples are 75 cycles apart at least, because an overflow within
 * the 60 cycles that an interrupt takes to arrive (pmi.latency) makes none of its own. */
enum { SAMPLED_CYCLES = 151, SAMPLED_PERIOD = 607, SAMPLED_WEIGHT = 8, SAMPLED_RARER = 4 };
/* Behind a part that was timed the period stays, and samples are 75 cycles apart, too. */
enum { DETAILED_WEIGHT = 1330 };
/* With --html, which draws what is sampled, samples of short programs are to be many, too. */
enum { HTML_PERIOD = 10007 };

/* --after: adds to each event to sample a counter of the event that comes first. */
static int choose_first(const struct record *o, const struct spmu_model *model, struct session_events *events,
	struct err *err)
{
	const struct session_parse_options how = {
		.model = model, .core = &o->run.core, .purpose = SESSION_FOR_SAMPLING
	};
	int code = 0;
	char *name = strndup(o->after, (size_t)(strrchr(o->after, '=') - o->after));
	if (!name)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < o->sampled && !code; i++) {
		size_t first = events->count;
		code = session_parse(events, &how, name, err);
		if (!code &&
			(events->count != first + 1 || events->event[first].precise || events->event[first].period ||
				events->event[first].frequency))
			code = err_set(err, ERR_INPUT, "--after '%s': one plain event was expected", name);
		if (code)
			break;
		events->event[first].period = o->after_count;
		events->event[first].starts = true;
		events->event[i].after = first + 1;
	}
	free(name);
	return code;
}

/* With --sample: cycles alone are sampled, so samples may lie close together (session_windows.c). */
static bool only_cycles(const struct session_events *events)
{
	bool only = true;
	for (size_t i = 0; i < events->count; i++)
		only &= session_is_cycles(&events->event[i]) && !events->event[i].precise;
	return only;
}

static void default_rate(const struct record *o, const struct session_events *events, struct session_event *e)
{
	const bool windows = o->sample.on && !o->sample.after, close = windows && only_cycles(events);
	const unsigned period = close ? SAMPLED_CYCLES : windows ? SAMPLED_PERIOD : o->html ? HTML_PERIOD
		: DEFAULT_PERIOD;
	if (session_is_cycles(e))
		e->period = period;
	else	/* no fixed period suits both loads and misses */
		e->frequency = (uint64_t)(o->run.core.frequency_ghz * 1e9 / period) + 1;
	/* tables of data addresses need more samples of a short program than a table of functions */
	e->gradual = !windows && e->frequency && e->precise && o->fields & PERFDATA_ADDR;
	e->most_weight = windows ? SAMPLED_WEIGHT : o->sample.on ? DETAILED_WEIGHT : 0;
	e->rarer = close ? SAMPLED_RARER : 0;
}

int record_choose(struct record *o, const struct spmu_model *model, struct session_events *events,
	struct err *err)
{
	const struct session_parse_options how = {
		.model = model, .core = &o->run.core, .purpose = SESSION_FOR_SAMPLING
	};
	char *list = NULL;
	size_t size;
	FILE *f = open_memstream(&list, &size);
	if (!f)
		return err_set(err, ERR_NOMEM, "out of memory");
	for (unsigned i = 0; i < o->lists; i++)
		fprintf(f, "%s%s", i ? "," : "", o->list[i]);
	if (!o->lists && (!o->exact || o->html))
		fputs("cycles:u", f);
	int code = fclose(f) ? err_set(err, ERR_NOMEM, "out of memory") : 0;
	if (!code && *list)
		code = session_parse(events, &how, list, err);
	if (!code && !o->lists && o->html) {	/* not every core has them */
		session_parse(events, &how, "branch-misses:u", NULL);
		session_parse(events, &how, "cache-misses:u", NULL);
	}
	free(list);
	o->sampled = events->count;
	for (size_t i = 0; !code && i < events->count; i++) {
		struct session_event *e = &events->event[i];
		e->forced = o->forced;
		if (e->source == SESSION_PUSHOUT)
			o->fields |= PERFDATA_WEIGHT;	/* it holds the pushout */
		if (o->forced && ((e->period && e->period != 1) || e->frequency))
			code = err_set(err, ERR_INPUT, "%s: --force-ovf is a sample at every event", e->spelled);
		else if (o->forced)
			e->period = 1;
		else if (e->source == SESSION_DURATION)
			code = err_set(err, ERR_UNSUPPORTED,
				"%s: elapsed time cannot be sampled; cycles or task-clock can", e->spelled);
		else if (o->count && !e->period)
			e->period = o->count;
		else if (!e->period && !e->frequency && o->frequency)
			e->frequency = o->frequency;
		else if (!e->period && !e->frequency)
			default_rate(o, events, e);
	}
	return !code && o->after ? choose_first(o, model, events, err) : code;
}
