/* SPDX-License-Identifier: GPL-2.0-or-later
 * Collects records into batches and passes them on.  Owned by a core; its units write into it.
 *
 * base: the batch's base cycle, set when the batch is opened to the core's watermark (no cycle below it comes
 * any more).  A cycle further than 2^32 - 1 above base forces the batch out first; the caller of the inline functions
 * need not care.
 *
 * A slot learns when it retires only behind its last uop: the records of a slot being built stay behind when a batch
 * leaves; they open the next one.  Signals never wait.
 *
 * The records lie in a buffer that `emit` may exchange for another, so that a consumer in another thread can keep
 * the batch while the next one is filled.  All buffers come from malloc and hold SPMU_BATCH_MAX records.
 */
#ifndef CORE_EMIT_H
#define CORE_EMIT_H
#include "softpmu/record.h"
#include <stdbool.h>

enum {
	EMIT_RUNS = 8,		/* intervals that grow (stalls, bubbles): one record for neighbouring pieces */
	EMIT_UOPS = 48,		/* most uop records made after one emit_room */
	EMIT_SPAN = INT32_MAX,	/* cycles behind its base from which a batch leaves: offsets have 32 bits */
	EMIT_SPAN_SPARSE = 8192,/* the same if few uops are written: consumers keep a window of cycles */
	EMIT_LIMIT = SPMU_BATCH_MAX - EMIT_UOPS - EMIT_RUNS - 1,	/* leaves room for those, the runs and CYCLES */
};

struct emit_run { uint64_t begin, end, count; uint32_t signal; };	/* empty: begin == end */

struct emitter {
	uint64_t base;
	uint64_t watermark;	/* kept by the pipeline: lower bound of every cycle still to come */
	uint64_t wanted[2];	/* set of enum spmu_signal that somebody counts; others are dropped at the source */
	uint64_t wanted_is, wanted_did;	/* uops that have one of these bits are written; the others would be counted by nobody */
	uint64_t span;
	uint32_t count;
	uint32_t instructions;	/* that end in these records */
	/* Passes a batch on; returns the buffer to fill next, NULL: the same one again. */
	struct spmu_record *(*emit)(void *context, const struct spmu_batch *batch);
	void *context;
	struct spmu_record *record;
	/* kept by the pipeline */
	uint64_t cycles_from;	/* CYCLES were passed on up to here */
	uint64_t now;		/* retire cycle of the last retired uop */
	uint32_t hold;		/* 1 + index of the first record of a slot being built; 0: none */
	uint8_t  hw_thread;	/* whose records these are */
	bool     detail;	/* details are wanted (detail.h) */
	uint64_t spent_memory, spent_tlb, spent_walk;	/* cycles so far that requests waited for memory, prefetches apart, for translations, for page walks among these; */
	uint64_t spent_code_l3;		/* with details: that fetch waited for L3 beyond what L2 takes */
	struct emit_run run[EMIT_RUNS];
	/* The other way, from memory to the pipeline (clears.h); NULL: nobody listens. */
	void *owner;
	void (*code_written)(void *owner, uint64_t addr, uint32_t size);	/* a store's address is known, and L1I held its line, which it has given up */
	void (*snooped)(void *owner, uint64_t vline, uint64_t cycle);	/* another core took the line (linear address / 64) from L1D */
};

/* Sends what is there, but for records that have to wait, and opens a new batch at the watermark.  last: the
 * thread halts or ends; the pipeline has closed every record. */
void emit_flush(struct emitter *e, bool last);

static inline bool emit_wanted(const struct emitter *e, enum spmu_signal s)
{
	return e->wanted[s >> 6] >> (s & 63) & 1;
}

/* A free record; flushes when the batch is full or `latest` cannot be written as an offset. */
static inline struct spmu_record *emit_new(struct emitter *e, uint64_t latest)
{
	if (__builtin_expect(e->count >= EMIT_LIMIT || latest - e->base > UINT32_MAX, 0))
		emit_flush(e, 0);
	return &e->record[e->count++];
}

/* The pipeline's own way: room for an instruction's uops at once, then records without a look. */
static inline void emit_room(struct emitter *e)
{
	if (__builtin_expect(e->count >= EMIT_LIMIT, 0))
		emit_flush(e, 0);
}
static inline struct spmu_record *emit_uop(struct emitter *e)
{
	return &e->record[e->count++];
}

/* ip, addr: whose it is, 0 if nobody's. Absolute cycles; begin <= end.  POINT signals: end == begin. A begin below base (a signal that belongs to a cycle already passed on) is clamped to it. */
static inline void emit_signal_at(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count, uint64_t ip, uint64_t addr)
{
	if (!emit_wanted(e, s))
		return;
	if (begin < e->base)	/* before the test of the distance: end may lie below base too */
		begin = e->base;
	if (end < begin)
		end = begin;
	struct spmu_record *r = emit_new(e, end);
	if (begin < e->base)
		begin = e->base;
	if (end < begin)
		end = begin;
	*r = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255, .signal = s, .did = count, .ip = ip, .addr = addr,
		.begin = (uint32_t)(begin - e->base), .end = (uint32_t)(end - e->base) };
}
static inline void emit_signal(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count)
{
	emit_signal_at(e, s, begin, end, count, 0, 0);
}
/* An uncore signal: of which slice or channel, and what was found there. */
static inline void emit_uncore(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count, uint32_t unit, enum spmu_found found)
{
	if (!emit_wanted(e, s))
		return;
	emit_signal(e, s, begin, end, count);
	e->record[e->count - 1].unit = unit;
	e->record[e->count - 1].found = found;
}

/* emit_signal for a signal that comes in neighbouring pieces of equal count, in order: they leave as one. */
static inline void emit_grow(struct emitter *e, unsigned run, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count)
{
	struct emit_run *r = &e->run[run];
	if (begin >= end || !emit_wanted(e, s))
		return;
	if (r->end == begin && r->count == count && r->begin != r->end) {
		r->end = end;
		return;
	}
	if (r->begin != r->end) {
		emit_room(e);	/* a batch that leaves now takes the piece with it: the next one's base may lie behind its begin */
		if (r->begin != r->end)
			emit_signal(e, r->signal, r->begin, r->end, r->count);
	}
	*r = (struct emit_run){ begin, end, count, s };
}
#endif
