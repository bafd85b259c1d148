/* SPDX-License-Identifier: BSD-2-Clause
 * What a core must hand over for the registers as they are: it may leave out all other records.
 */
#include "pmu_internal.h"

void pmu_source_uops(const struct pmu_source *s, uint64_t *is, uint64_t *did)
{
	const uint64_t common_is = SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT) | SPMU_IS(EXEC);
	const uint64_t common_did = SPMU_DID(RETIRED) | SPMU_DID(FROM_DSB) | SPMU_DID(FROM_MITE) | SPMU_DID(L1D_HIT);
	uint64_t rare;
	if ((rare = s->did_want & ~common_did) != 0) {
		*did |= rare & -rare;
	} else if ((rare = s->is_want & ~common_is) != 0) {
		*is |= rare & -rare;
	} else if (s->any_is | s->any_did) {
		*is |= s->any_is;
		*did |= s->any_did;
	} else {
		*is = *did = ~UINT64_C(0);
	}
}

bool pmu_source_outcomes(const struct pmu_source *s)
{
	const uint64_t way = SPMU_DID(TAKEN) | SPMU_DID(MISPREDICTED) | SPMU_DID(MISP_TARGET);
	return !s->is_signal && !(s->did_want & SPMU_DID(RETIRED)) &&
		((s->did_mask | s->any_did) & way || s->tagged | s->untagged);
}

static void want(const struct spmu *p, unsigned source, struct spmu_wants *out)
{
	const struct pmu_source *s = pmu_source_of(p, source);
	if (s->is_signal) {
		out->signal[s->signal >> 6] |= UINT64_C(1) << (s->signal & 63);
		return;
	}
	pmu_source_uops(s, &out->is, &out->did);
	out->outcomes |= pmu_source_outcomes(s);
}

void spmu_wanted(const struct spmu *p, int far, struct spmu_wants *out)
{
	out->signal[0] = UINT64_C(1) << SPMU_SIG_CYCLES;
	out->signal[1] = out->is = out->did = 0;
	out->outcomes = 0;
	bool all = p->watching || p->pushout || p->tagging || p->ds.waiting || p->ds.rip_at;
	for (unsigned i = 0; i < p->model->counters; i++) {
		const struct pmu_counter *c = &p->counter[i];
		if (!c->programmed)
			continue;
		all |= c->acts && !far;
		if (!c->ring && p->tally_instructions && pmu_is_instructions(p->model, c->expr))
			continue;
		for (unsigned t = 0; t < c->expr->terms; t++) {
			const struct pmu_term *term = &c->expr->term[t];
			if (!term->conds)
				want(p, term->source, out);
			for (unsigned k = 0; k < term->conds; k++)
				for (unsigned a = 0; a < term->cond[k].sources; a++)
					want(p, term->cond[k].source[a], out);
		}
	}
	if (p->tagging)		/* what front-end tags are made of */
		out->signal[SPMU_SIG_IDQ_BUBBLE >> 6] |= UINT64_C(1) << (SPMU_SIG_IDQ_BUBBLE & 63);
	if (all)
		out->is = out->did = ~UINT64_C(0);
}
