/* SPDX-License-Identifier: BSD-2-Clause
 * How far the next PMI is, in instructions; for emulators that must not run ahead of it.
 *
 * A bound, not a forecast: what is left in each counter whose overflow acts is divided by the most that one instruction
 * adds to it on the average of a stretch.  That is 1 for instructions, branches, memory accesses and tagged uops,
 * STEP_UOPS for other uops that are counted at retirement, and STEP_CYCLES for cycles and whatever is counted by the
 * cycle.  A stretch of instructions that exceeds it (each has two loads, or misses all caches and TLBs; a long string
 * instruction, whose uops belong to one) reaches the overflow earlier.
 *
 * An emulator that knows its core's clock has no need of STEP_CYCLES: spmu_pmi_distances.
 */
#include "pmu_internal.h"

enum {
	STEP_UOPS = 4, STEP_CYCLES = 256,
	/* In one cycle: no machine executes, retires or misses more of anything, and no queue is longer. */
	CYCLE_POINTS = 16, CYCLE_LEVEL = 1024,
};

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

/* The most that the counter's expression adds in a cycle. */
static uint64_t most_per_cycle(const struct spmu *p, const struct pmu_counter *c)
{
	uint64_t most = 0;
	if (c->cmask || c->edge || !c->expr)
		return 1;
	for (unsigned t = 0; t < c->expr->terms; t++) {
		const struct pmu_term *term = &c->expr->term[t];
		const uint64_t weight = (term->num + term->den - 1) / term->den;
		const struct pmu_source *s = term->conds ? NULL : pmu_source_of(p, term->source);
		const bool cycles = !s || (s->is_signal && s->signal == SPMU_SIG_CYCLES && s->form == FORM_VALUE);
		const bool point = s && (s->is_signal ? s->form != FORM_PENDING &&
			(s->form != FORM_VALUE || pmu_signal_kind(s->signal) == SPMU_POINT) : s->until == STAGE_NONE);
		most += weight * (cycles ? 1 : point ? CYCLE_POINTS : CYCLE_LEVEL);
	}
	return most ? most : 1;
}

/* Is there something that may request a PMI at any place? */
static bool any_moment(const struct spmu *p)
{
	return p->pending || p->late != PMU_NEVER || p->ds.waiting || p->ds.bts_on ||
		(p->pushout && pmu_pushout_interrupts(p));
}

static bool masked(const struct spmu *p)
{
	return p->model->family->lvt && p->lvt & PMU_LVT_MASKED;
}

void spmu_pmi_distances(const struct spmu *p, uint64_t *instructions, uint64_t *cycles)
{
	*instructions = *cycles = masked(p) ? UINT64_MAX : any_moment(p) ? 1 : UINT64_MAX;
	if (*instructions == 1 || masked(p))
		return;
	for (unsigned i = 0; i < p->model->counters; i++) {
		const struct pmu_counter *c = &p->counter[i];
		if (c->mode == MODE_OFF || !c->acts)
			continue;
		const bool retire = c->mode == MODE_RETIRE;
		const uint64_t n = pmu_left(c) / (retire ? most_per_instruction(p, c) : most_per_cycle(p, c));
		uint64_t *least = retire ? instructions : cycles;
		*least = n < *least ? n : *least;
	}
	*instructions += !*instructions;
	*cycles += !*cycles;
}

uint64_t spmu_pmi_distance(const struct spmu *p)
{
	uint64_t least = UINT64_MAX;
	if (masked(p))
		return UINT64_MAX;
	if (any_moment(p))
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
