/* SPDX-License-Identifier: GPL-2.0-or-later
 * Counter assignment (counter_plan.h) by first fit.  With at most 8 + 4 counters a copy nothing better is
 * needed: copies are cheap, and nothing is multiplexed.
 */
#include "session/events/counter_plan.h"
#include <stdlib.h>

enum { EXTRAS = 4 };	/* MSRs beside PERFEVTSELx that events can need */
struct copy_use { uint32_t gp, fixed, metrics, msr[EXTRAS]; uint64_t extra[EXTRAS]; };	/* metrics: part of fixed */

/* The copy's place for this MSR: the one that it has already, or a free one, which has the MSR 0. */
static unsigned extra_place(const struct copy_use *u, uint32_t msr)
{
	unsigned at = 0;
	while (at < EXTRAS && u->msr[at] && u->msr[at] != msr)
		at++;
	return at;
}

static bool extra_held(const struct copy_use *u, uint32_t msr, uint64_t value)
{
	const unsigned at = msr ? extra_place(u, msr) : EXTRAS;
	return at < EXTRAS && u->msr[at] && u->extra[at] == value;
}

static bool extra_free(const struct copy_use *u, uint32_t msr)
{
	const unsigned at = msr ? extra_place(u, msr) : EXTRAS;
	return at < EXTRAS && !u->msr[at];
}

/* The register of the copy that the item can use: one that has its value already, or else a free one.  0: none. */
static uint32_t extra_choose(const struct copy_use *u, const struct plan_item *it)
{
	return extra_held(u, it->extra_msr, it->extra) ? it->extra_msr
		: extra_held(u, it->other_msr, it->extra) ? it->other_msr
		: extra_free(u, it->extra_msr) ? it->extra_msr
		: extra_free(u, it->other_msr) ? it->other_msr : 0;
}

static bool extra_fits(const struct copy_use *u, const struct plan_item *it)
{
	return !it->extra_msr || extra_choose(u, it);
}

static void extra_take(struct copy_use *u, struct plan_item *it)
{
	const uint32_t msr = it->extra_msr ? extra_choose(u, it) : 0;
	if (!msr)
		return;
	const unsigned at = extra_place(u, msr);
	u->msr[at] = msr;
	u->extra[at] = it->extra;
	it->other = msr != it->extra_msr;
}

static unsigned choices(const struct plan_item *i, uint32_t gp_all)
{
	return (unsigned)__builtin_popcount(i->pmc_mask & gp_all);
}

int plan_make(struct plan_item *item, size_t items, unsigned gp_counters, unsigned fixed_counters, unsigned *pmus,
	size_t *which, struct err *err)
{
	uint32_t gp_all = gp_counters >= 32 ? UINT32_MAX : (UINT32_C(1) << gp_counters) - 1;
	struct copy_use *use = calloc(items ? items : 1, sizeof *use);	/* never more copies than items */
	unsigned copies = 0;
	if (!use)
		return err_set(err, ERR_NOMEM, "out of memory");

	for (size_t i = 0; i < items; i++) {
		struct plan_item *it = item + i;
		if (it->fixed >= (int)fixed_counters)
			it->fixed = -1;
		if (it->fixed < 0 && !choices(it, gp_all)) {
			free(use);
			*which = i;
			return err_set(err, ERR_UNSUPPORTED, "no counter of this PMU can count it");
		}
		it->gp = -2;	/* not placed */
	}
	/* fixed counters of existing copies, in the order of the items; a second item for the same counter
	 * waits for the next round */
	for (size_t i = 0; i < items; i++) {
		struct plan_item *it = item + i;
		if (it->fixed < 0)
			continue;
		unsigned k = 0;
		while (k < copies && use[k].fixed >> it->fixed & 1 && !(it->metric && use[k].metrics >> it->fixed & 1))
			k++;
		if (k == copies && copies && choices(it, gp_all))
			continue;	/* a general-purpose counter may save a copy */
		if (k == copies)
			copies++;
		use[k].fixed |= UINT32_C(1) << it->fixed;
		use[k].metrics |= (uint32_t)it->metric << it->fixed;
		it->pmu = k;
		it->gp = -1;
	}
	for (unsigned level = 1; level <= gp_counters; level++)
		for (size_t i = 0; i < items; i++) {
			struct plan_item *it = item + i;
			if (it->gp != -2 || choices(it, gp_all) != level)
				continue;
			uint32_t allowed = it->pmc_mask & gp_all, free_now = 0;
			unsigned k = 0;
			while (k < copies && !(extra_fits(&use[k], it) && (free_now = allowed & ~use[k].gp)))
				k++;
			if (k == copies) {
				copies++;
				if (it->fixed >= 0) {
					use[k].fixed |= UINT32_C(1) << it->fixed;
					it->pmu = k;
					it->gp = -1;
					continue;
				}
				free_now = allowed;
			}
			/* the highest free counter: the lower ones have more abilities on most cores */
			it->gp = 31 - __builtin_clz(free_now);
			it->pmu = k;
			use[k].gp |= UINT32_C(1) << it->gp;
			extra_take(&use[k], it);
		}
	*pmus = copies;
	free(use);
	return 0;
}
