/* SPDX-License-Identifier: BSD-2-Clause
 * Counting a batch: what pmu_count.c has from its neighbours pmu_cover.c, pmu_tally.c and pmu_pmi.c.
 */
#ifndef PMU_COUNT_H
#define PMU_COUNT_H
#include "pmu_internal.h"

/* A segment of a batch: retirements of the records [record0, record1), everything else in the cycles [cycle0,
 * cycle1). */
struct pmu_bounds {
	uint32_t record0, record1;
	uint64_t cycle0, cycle1;
	/* Set of threads of which an interrupt was taken in this batch, so that none can fall into an earlier one any
	 * more. */
	unsigned here;
};

/* Does the uop meet the predicate of the tally's source? */
__attribute__((always_inline)) static inline bool pmu_tally_match(const struct spmu *p, const struct spmu_batch *b,
	const struct pmu_tally_source *s, const struct spmu_record *r)
{
	unsigned tag = s->tagged | s->untagged ? p->tag[r - b->records] : 0;
	return (r->is & s->im) == s->iw && (r->did & s->dm) == s->dw &&
		(!(s->ai | s->ad) || (r->is & s->ai) | (r->did & s->ad)) &&
		(!s->ports || (r->port < 16 && s->ports >> r->port & 1)) && (!s->tagged || s->tagged & tag) &&
		!(s->untagged & tag);
}

/* First record at or after `from` that retires after `cycle`; count if none. */
static inline uint32_t pmu_first_behind(const struct spmu_batch *b, uint32_t from, uint64_t cycle)
{
	for (uint32_t i = from; i < b->count; i++)
		if (b->records[i].kind == SPMU_REC_UOP && b->records[i].did & SPMU_DID(RETIRED) &&
			b->base_cycle + b->records[i].retire > cycle)
			return i;
	return b->count;
}

/* pmu_cover.c */
/* An INTERVAL record becomes pieces (p->piece). */
void pmu_cover_record(struct spmu *p, const struct spmu_batch *b, const struct spmu_record *r);
/* Makes pieces of the batch's records of the INTERVAL signals in `set`. */
void pmu_cover_collect(struct spmu *p, const struct spmu_batch *b, const uint64_t set[2]);
/* The first batch with records of another thread has come: COVER_ANY begins as what this thread covers. */
void pmu_cover_others(struct spmu *p);
/* No record from now on reaches cycles below the watermark. */
void pmu_cover_prune(struct spmu *p, uint64_t watermark);

/* pmu_tally.c */
/* Counts a whole batch, whose INTERVALs have not become pieces yet. */
void pmu_tally_batch(struct spmu *p, const struct spmu_batch *b);
/* Counts a segment of a batch whose INTERVALs are pieces. */
void pmu_tally_segment(struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g);

/* pmu_pmi.c */
/* Finds the next place from the segment's beginning on at which a pending PMI is taken, and the thread (*to) that it
 * interrupts.  False: none in this batch, and *pmi and *to are unchanged. */
bool pmu_pmi_place(const struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g, struct spmu_pmi *pmi,
	unsigned *to);
/* The batch has been counted: keeps what later PMIs must know of it. */
void pmu_pmi_remember(struct spmu *p, const struct spmu_batch *b);
#endif
