/* SPDX-License-Identifier: BSD-2-Clause
 * Events that a core cannot raise (pmu_lacks.h): every term of their expressions needs a source that it has not.  With
 * INV an event counts the cycles without the source, which such a core has, too.
 */
#include "pmu_lacks.h"
#include "pmu_internal.h"

static bool never(const struct pmu_source *s, enum pmu_lack what)
{
	const uint64_t fp = SPMU_IS(FP_SCALAR_SINGLE) | SPMU_IS(FP_SCALAR_DOUBLE) | SPMU_IS(FP_128_SINGLE) |
		SPMU_IS(FP_128_DOUBLE) | SPMU_IS(FP_256_SINGLE) | SPMU_IS(FP_256_DOUBLE);
	const uint64_t l3 = SPMU_ATTR(SHARED) | SPMU_ATTR(EXCLUSIVE) | SPMU_ATTR(MODIFIED) | SPMU_ATTR(L3_MISSED);
	switch (what) {
	case PMU_LACKS_L3:
		return s->is_signal && s->signal == SPMU_SIG_OFFCORE_REQUEST &&
			(s->is_want & l3 || (s->any_is && !(s->any_is & ~l3)));
	case PMU_LACKS_LOOP_BUFFER: return !s->is_signal && s->did_want & SPMU_DID(FROM_LSD);
	case PMU_LACKS_LCP: return s->is_signal && s->signal == SPMU_SIG_LCP_STALL;
	case PMU_LACKS_FP_ASSISTS: return s->is_signal && s->signal == SPMU_SIG_FP_ASSIST;
	case PMU_LACKS_SPLIT_REGISTERS: return s->is_signal && s->signal == SPMU_SIG_SPLIT_BLOCKED;
	case PMU_LACKS_FLAGS_MERGE: return !s->is_signal && (s->is_want | s->any_is) & SPMU_IS(FLAGS_MERGE);
	case PMU_LACKS_BLENDS: return !s->is_signal && (s->is_want | s->any_is) & SPMU_IS(VECTOR_BLEND);
	case PMU_LACKS_UPPER_SAVES:
		return s->is_signal ? s->signal == SPMU_SIG_ASSIST
			: s->did_want & (SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX));
	case PMU_LACKS_STALE_SNOOPS: return !s->is_signal && s->did_want & SPMU_DID(SNOOP_MISS);
	case PMU_LACKS_1G_PAGES:
		return s->is_signal && (s->signal == SPMU_SIG_ITLB_WALKED_1G ||
			s->signal == SPMU_SIG_DTLB_LOAD_WALKED_1G || s->signal == SPMU_SIG_DTLB_STORE_WALKED_1G);
	case PMU_LACKS_ELISION:
		return s->is_signal && s->signal >= SPMU_SIG_ELISION_START && s->signal <= SPMU_SIG_ELISION_VZEROUPPER;
	case PMU_LACKS_FP_PORTS: return !s->is_signal && s->ports && (s->any_is | s->is_want) & fp;
	}
	return false;
}

/* The term adds nothing: it is such a source, or one of its conditions asks for some of it. */
static bool adds_nothing(const struct spmu_model *m, const struct pmu_term *t, enum pmu_lack what)
{
	if (!t->conds)
		return never(&m->source[t->source], what);
	for (unsigned j = 0; j < t->conds; j++) {
		const struct pmu_cond *c = &t->cond[j];
		bool all = (c->op == OP_GE && c->value) || c->op == OP_GT;
		for (unsigned a = 0; a < c->sources; a++)
			all &= never(&m->source[c->source[a]], what);
		if (all)
			return true;
	}
	return false;
}

bool pmu_event_lacks(const struct spmu_model *m, const struct spmu_event *e, uint64_t extra, enum pmu_lack what)
{
	const struct pmu_row *row = (const struct pmu_row *)e;	/* its first member */
	if (row < m->row || row >= m->row + m->rows)
		return false;
	if (what == PMU_LACKS_STALE_SNOOPS && e->extra_msr - MSR_OFFCORE_RSP_0 < pmu_offcore_registers(m->offcore))
		return pmu_offcore_in_vain(m->offcore, extra) && !row->public.inv;
	bool nothing = row->expr.terms && !row->public.inv;
	for (unsigned t = 0; t < row->expr.terms; t++)
		nothing &= adds_nothing(m, &row->expr.term[t], what);
	return nothing;
}

void pmu_model_lacks(struct spmu_model *m, enum pmu_lack what, const char *reason)
{
	for (size_t i = 0; i < m->rows; i++) {
		struct pmu_row *row = &m->row[i];
		if (!pmu_event_lacks(m, &row->public, row->public.extra, what))
			continue;
		row->expr.terms = 0;
		row->public.flags |= SPMU_EVENT_NOT_MODELLED;
		row->public.not_modelled = reason;
	}
}
