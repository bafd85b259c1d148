/* SPDX-License-Identifier: GPL-2.0-or-later
 * Whether a total time can be true, and within which range it lies.
 *
 * A replay on a changed machine saves cycles.  They are the event's only as far as the change did nothing else.  So the
 * other events of both runs are compared.  Each is priced by its mean pushout in the first run: that is what retirement
 * saw of it.  If the replay has fewer of the other events, the cycles that these cost may be what was saved: that gives
 * the lower end of the range.  If it has more of them, they hide a part of what was saved: the upper end.
 *
 * A figure that cannot be true is withheld:
 *   - all events together would take longer than the whole run (from few events that went, all are reckoned),
 *   - one event would take longer, even by the lower end, than such uops wait from dispatch to completion,
 *   - the machine is slower and has more of the events, although the change was to make it better.
 * A replay with fewer events, or in which they are free, may be slower: a stall can improve the schedule, a prefetch
 * saves more than it costs.
 *
 * Leaves out: what no event counts (misses of stores and prefetches; the order in which a scheduler takes uops).
 */
#ifndef ANALYSIS_COST_CHECK_H
#define ANALYSIS_COST_CHECK_H
#include "analysis/cost/cost.h"

enum { COST_BESIDE = 4 };
struct cost_beside {		/* an event other than the one that was changed */
	const char *name;
	double before, after;	/* how often it happened in the two runs */
	double cycles;		/* its mean pushout in the first run; NaN: none */
};
struct cost_check {
	double low, high;	/* cycles an event: the range; NaN: there is no figure */
	struct cost_beside beside[COST_BESIDE];	/* whose count changed by 1 % or more: those worth most cycles, first */
	unsigned besides;
	const char *withheld;	/* why the figure must not be shown; NULL: it may be */
};
struct cost_claim {		/* of a replay */
	enum cost_change change;
	bool worse;		/* the feature was made worse on purpose */
	double cycles, events, cycles_changed, events_changed;
	double most;		/* cycles from dispatch to completion of such uops, on average; NaN: not known */
};
/* each: what cost_marginal said, not NaN. */
void cost_check(struct cost_check *out, const struct cost_claim *c, double each, const struct cost_beside *other,
	unsigned others);
#endif
