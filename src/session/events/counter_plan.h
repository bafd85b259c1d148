/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which counter of which copy of the PMU counts what.  Pure arithmetic on masks: no PMU is touched here.
 */
#ifndef SESSION_COUNTER_PLAN_H
#define SESSION_COUNTER_PLAN_H
#include "util/err.h"
#include <stddef.h>
#include <stdint.h>

struct plan_item {
	uint64_t evtsel;	/* event bits of IA32_PERFEVTSELx; unused on a fixed counter */
	uint32_t pmc_mask;	/* general-purpose counters that can count it; 0: none */
	int fixed;		/* fixed counter that can count it; -1: none */
	/* a register of the whole PMU that it needs, 0: none; and the value there, which another event on the
	 * same copy shares or */
	uint32_t extra_msr;
	uint64_t extra;		/* is kept off by */
	/* result */
	unsigned pmu;		/* copy, from 0 */
	int gp;			/* general-purpose counter, or -1: on the fixed counter `fixed` */
};

/* Places all items on as few copies as the first fit finds: fixed counters first, then those with the fewest
 * counters to choose from.  Sets pmu and gp of each and *pmus.  ERR_UNSUPPORTED if an item fits nowhere (*which
 * says which). */
int plan_make(struct plan_item *item, size_t items, unsigned gp_counters, unsigned fixed_counters, unsigned *pmus,
	size_t *which, struct err *err);
#endif
