/* SPDX-License-Identifier: BSD-2-Clause
 * How far the next PMI is, in instructions; for emulators that must not run ahead of it.
 *
 * A bound, not a forecast: what is left in each counter whose overflow acts is divided by the most that one instruction
 * adds to it on the average of a stretch.  That is 1 for instructions, STEP_UOPS for what is counted at retirement, and
 * STEP_CYCLES for cycles and whatever is counted by the cycle.  A stretch of instructions that exceeds it (each misses
 * all caches and TLBs) reaches the overflow earlier.
 */
#include "pmu_internal.h"

enum { STEP_UOPS = 16, STEP_CYCLES = 256 };

static uint64_t most_per_instruction(const struct spmu *p, const struct pmu_counter *c)
{
	if (c->mode != MODE_RETIRE)
		return STEP_CYCLES;
	return pmu_is_instructions(p->model, c->expr) ? 1 : STEP_UOPS * (uint64_t)(c->max_step ? c->max_step : 1);
}

uint64_t spmu_pmi_distance(const struct spmu *p)
{
	uint64_t least = UINT64_MAX;
	if (p->model->family->lvt && p->lvt & PMU_LVT_MASKED)
		return UINT64_MAX;
	if (p->pending || p->late != PMU_NEVER || p->ds.waiting || p->ds.bts_on ||
		(p->pushout && pmu_pushout_interrupts(p)))
		return 1;
	for (unsigned i = 0; i < p->model->counters; i++) {
		const struct pmu_counter *c = &p->counter[i];
		if (c->mode == MODE_OFF || !c->acts)
			continue;
		uint64_t n = pmu_left(c) / most_per_instruction(p, c);
		least = n < least ? n : least;
	}
	return least ? least : 1;
}
