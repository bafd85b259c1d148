/* SPDX-License-Identifier: GPL-2.0-or-later
 * Checks of total times (cost_check.h). */
#include "analysis/cost/cost_check.h"
#include <math.h>

static const double CHANGED = 0.01;	/* of the larger count: less is no change */
static const double TOLERANCE = 1.05;	/* of `most`: a mean of other uops than those on the way that counts */

static double worth(const struct cost_beside *b)
{
	return fabs(b->after - b->before) * (isnan(b->cycles) ? 0 : b->cycles);
}

/* Keeps those that are worth most, in order. */
static void keep(struct cost_check *out, const struct cost_beside *b)
{
	unsigned at = out->besides;
	while (at && worth(&out->beside[at - 1]) < worth(b))
		at--;
	if (at == COST_BESIDE)
		return;
	out->besides += out->besides < COST_BESIDE;
	for (unsigned i = out->besides - 1; i > at; i--)
		out->beside[i] = out->beside[i - 1];
	out->beside[at] = *b;
}

static const char *impossible(const struct cost_claim *c, double each, const struct cost_check *range)
{
	const double saved = c->cycles - c->cycles_changed;
	if (c->change == COST_REMOVES && !c->worse && saved < 0 && c->events_changed > c->events)
		return "the changed machine is slower and has more of the events: the change did something else";
	if (each * c->events > c->cycles)
		return "all events together would take longer than the run";
	if (range->low > c->most * TOLERANCE)
		return "more than such uops wait from dispatch to completion: the change also sped up what is not "
		       "counted (stores, prefetches, other loads of the line)";
	return NULL;
}

void cost_check(struct cost_check *out, const struct cost_claim *c, double each, const struct cost_beside *other,
	unsigned others)
{
	const double events = c->change == COST_FREES ? c->events : c->events - c->events_changed;
	double fewer = 0, more = 0;
	*out = (struct cost_check){ .low = each, .high = each };
	for (unsigned i = 0; i < others; i++) {
		const struct cost_beside *b = &other[i];
		if (fabs(b->after - b->before) < CHANGED * fmax(b->before, b->after) ||
			!(fabs(b->after - b->before) > 0))
			continue;
		*(b->after < b->before ? &fewer : &more) += worth(b);
		keep(out, b);
	}
	/* negative: the change made more of the events */
	const double a = each - fewer / events, b = each + more / events;
	out->low = fmin(a, b);
	out->high = fmax(a, b);
	out->withheld = impossible(c, each, out);
}
