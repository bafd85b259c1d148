/* SPDX-License-Identifier: BSD-2-Clause
 * How far the next PMI is, in instructions; for emulators that must not run ahead of it.
 *
 * A bound, not a forecast: what is left in each counter whose overflow acts is divided by the most that one instruction
 * adds to it on the average of a stretch.  That is 1 for instructions, branches, memory accesses and tagged uops,
 * STEP_UOPS for other uops that are counted at retirement, and STEP_CYCLES for cycles and whatever is counted by the
 * cycle.  A stretch of instructions that exceeds it (each has two loads, or misses all caches and TLBs; a long string
 * instruction, whose uops belong to one) reaches the overflow earlier.
 */
#include "pmu_internal.h"

enum { STEP_UOPS = 4, STEP_CYCLES = 256 };

/* The expression counts what an instruction usually has at most one of. */
static bool one_each(const struct spmu *p, const struct pmu_expr *x)
{
	const uint64_t once = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(INST_END2) | SPMU_IS(BRANCH) |
		SPMU_IS(COND) | SPMU_IS(CALL) | SPMU_IS(RET) | SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR);
	for (unsigned t = 0; t < x->terms; t++) {
		const struct pmu_term *term = &x->term[t];
		if (term->conds || term->num > term->den)
			return false;
		const struct pmu_source *s = pmu_source_of(p, term->source);
		if (!(s->is_want & once) && !s->tagged)
			return false;
	}
	return x->terms == 1;
}

static uint64_t most_per_instruction(const struct spmu *p, const struct pmu_counter *c)
{
	if (c->mode != MODE_RETIRE)
		return STEP_CYCLES;
	if (pmu_is_instructions(p->model, c->expr) || one_each(p, c->expr))
		return 1;
	return STEP_UOPS * (uint64_t)(c->max_step ? c->max_step : 1);
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
