/* SPDX-License-Identifier: GPL-2.0-or-later
 * Collects records into batches and passes them on.  Owned by a core; its units write into it.
 *
 * base: the batch's base cycle, set when the batch is opened to the core's watermark (no cycle below it comes
 * any more).  A cycle further than 2^32 - 1 above base forces the batch out first; the caller of the inline functions
 * need not care.
 */
#ifndef CORE_EMIT_H
#define CORE_EMIT_H
#include "softpmu/record.h"
#include <stdbool.h>

struct emitter {
	uint64_t base;
	uint64_t watermark;	/* kept by the pipeline: lower bound of every cycle still to come */
	uint64_t wanted[2];	/* set of enum spmu_signal that somebody counts; others are dropped at the source */
	uint32_t count, instructions;
	void (*emit)(void *context, const struct spmu_batch *batch);
	void *context;
	struct spmu_record record[SPMU_BATCH_MAX];
};

/* Sends what is there and opens a new batch at the watermark. */
void emit_flush(struct emitter *e, bool last);

static inline bool emit_wanted(const struct emitter *e, enum spmu_signal s)
{
	return e->wanted[s >> 6] >> (s & 63) & 1;
}

/* A free record; flushes when the batch is full or `latest` cannot be written as an offset. */
static inline struct spmu_record *emit_new(struct emitter *e, uint64_t latest)
{
	if (__builtin_expect(e->count == SPMU_BATCH_MAX || latest - e->base > UINT32_MAX, 0))
		emit_flush(e, 0);
	return &e->record[e->count++];
}

/* Absolute cycles; begin <= end.  POINT signals: end == begin. A begin below base (a signal that belongs to a cycle already passed on) is clamped to it. */
static inline void emit_signal(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count)
{
	if (!emit_wanted(e, s))
		return;
	struct spmu_record *r = emit_new(e, end);
	if (begin < e->base)
		begin = e->base;
	if (end < begin)
		end = begin;
	*r = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255, .signal = s, .did = count,
		.begin = (uint32_t)(begin - e->base), .end = (uint32_t)(end - e->base) };
}
#endif
