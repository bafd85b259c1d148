/* SPDX-License-Identifier: GPL-2.0-or-later
 * Decides which counter of which copy of the PMU counts which event.  Pure arithmetic on masks: no PMU is
 * touched here.
 */
#ifndef SESSION_COUNTER_PLAN_H
#define SESSION_COUNTER_PLAN_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_item {
	uint64_t evtsel;	/* event bits of IA32_PERFEVTSELx; unused on a fixed counter */
	uint32_t pmc_mask;	/* set of general-purpose counters that can count it; 0: none */
	int fixed;		/* fixed counter that can count it; -1: none */
	bool metric;		/* it shares `fixed` with others of which this is true, but with nothing else */
	/* a register of the whole PMU that it needs (0: none), and its value: events that use the same register of
	 * the same copy need the same value */
	uint32_t extra_msr;
	uint64_t extra;		/* is kept off by */
	uint32_t other_msr;	/* a register that does as well as extra_msr; 0: none */
	/* result */
	bool other;		/* it uses other_msr */
	unsigned pmu;		/* copy, from 0 */
	int gp;			/* general-purpose counter, or -1: on the fixed counter `fixed` */
};

/* Places all items on as few copies as first fit finds: those for fixed counters first, then those with the
 * fewest counters to choose from.  Sets pmu and gp of each item, and *pmus.  ERR_UNSUPPORTED: item *which fits
 * nowhere. */
int plan_make(struct plan_item *item, size_t items, unsigned gp_counters, unsigned fixed_counters, unsigned *pmus,
	size_t *which, struct err *err);
#endif
