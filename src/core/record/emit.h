/* SPDX-License-Identifier: GPL-2.0-or-later
 * Collects records into batches and passes them on.  Owned by a core; its units write into it.
 *
 * base is the batch's base cycle.  It is set to the core's watermark when the batch is opened: no record has a
 * cycle below it any more.  A cycle further than 2^32 - 1 above base forces the batch out first; callers of the
 * inline functions need not check.
 *
 * A slot learns when it retires only behind its last uop.  So the records of a slot that is being built stay
 * behind when a batch leaves, and open the next batch.  Signals never wait.
 *
 * The records lie in a buffer that `emit` may exchange for another, so that a consumer in another host thread
 * can keep the batch while the next one is filled.  All buffers come from malloc and hold SPMU_BATCH_MAX
 * records.
 */
#ifndef CORE_EMIT_H
#define CORE_EMIT_H
#include "softpmu/record.h"
#include <stdbool.h>

enum {
	EMIT_RUNS = 7,		/* intervals that grow (stalls, bubbles): one record for adjacent pieces */
	EMIT_UOPS = 48,		/* most uop records made after one emit_room */
	EMIT_SPAN = INT32_MAX,	/* a batch leaves that many cycles behind its base: offsets have 32 bits */
	EMIT_SPAN_SPARSE = 8192,/* the same if few uops are written: consumers keep a window of cycles */
	EMIT_HELD = 8192,	/* cycles for which a batch's end waits for `open` */
	EMIT_LIMIT = SPMU_BATCH_MAX - EMIT_UOPS - EMIT_RUNS - 2,	/* room for these, runs, CYCLES, MS_BUSY */
};

struct emit_run { uint64_t begin, end, count; uint32_t signal; };	/* empty: begin == end */

struct emitter {
	uint64_t base;
	uint64_t watermark;	/* kept by the pipeline: a lower bound of every cycle still to come */
	uint64_t wanted[2];	/* set of enum spmu_signal that a consumer counts; others are dropped here */
	uint64_t wanted_is,
		wanted_did; /* only uops that have one of these bits are written */
	uint64_t span;
	uint32_t count;
	uint32_t instructions;	/* that end in these records */
	/* Passes a batch on; returns the buffer to fill next, or NULL: the same one again. */
	struct spmu_record *(*emit)(void *context, const struct spmu_batch *batch);
	void *context;
	struct spmu_record *record;
	/* kept by the pipeline */
	uint64_t cycles_from;	/* CYCLES were passed on up to this cycle */
	uint64_t now;		/* retire cycle of the last retired uop */
	uint32_t hold;		/* 1 + index of the first record of a slot being built; 0: none */
	uint8_t  hw_thread;	/* the hardware thread whose records these are */
	bool     closed;	/* its thread has ended: it takes no signals from other cores */
	bool     detail;	/* details are wanted (detail.h) */
	/* Intervals whose begin lies in the past.  Without these two, what a batch's end cuts off would not count, and
	 * the place of that end depends on the signals that are wanted. */
	uint64_t open;		/* the next one may begin here: batches end no later, for EMIT_HELD cycles; 0: none */
	uint64_t busy_from;	/* if `busy`: the microcode sequencer is at an instruction since this cycle */
	bool     busy;
	uint64_t spent_memory, spent_tlb,
		/* cycles so far that requests other than prefetches waited: for memory, for translations, for
		 * page walks among these */
		spent_walk;
	uint64_t spent_code_l3;		/* with details: cycles so far that fetch waited for L3 beyond what L2 takes */
	struct emit_run run[EMIT_RUNS];
	/* From the memory system to the pipeline (clears.h); NULL: nobody listens. */
	void *owner;
	/* A store's address is known, and L1I held its line, which it has given up.  timed: the store is in flight. */
	void (*code_written)(void *owner, uint64_t addr, uint32_t size, bool timed);
	void (*snooped)(void *owner, uint64_t vline,
		uint64_t cycle); /* another core took the line (linear address / 64) from L1D */
	/* while memsys_follow asks for it: `by`, the owner of another core, writes or reads a physical line; a line
	 * has left this core's L1D modified, or an inclusive L3 took it back (l1d false) */
	void (*line_taken)(void *owner, void *by, uint32_t line, bool write);
	void (*line_left)(void *owner, uint32_t line, bool l1d);
};

/* Sends what is there, except records that have to wait, and opens a new batch at the watermark.  last: the
 * thread halts or ends; the pipeline has closed every record. */
void emit_flush(struct emitter *e, bool last);

static inline bool emit_wanted(const struct emitter *e, enum spmu_signal s)
{
	return e->wanted[s >> 6] >> (s & 63) & 1;
}

/* The core stops at this cycle: all before it is known, and what was under way does not go on. */
static inline void emit_stop(struct emitter *e, uint64_t cycle)
{
	e->watermark = cycle;
	e->open = 0;
}

/* Returns a free record; first flushes if the batch is full or `latest` cannot be written as an offset. */
static inline struct spmu_record *emit_new(struct emitter *e, uint64_t latest)
{
	if (__builtin_expect(e->count >= EMIT_LIMIT || latest - e->base > UINT32_MAX, 0))
		emit_flush(e, 0);
	return &e->record[e->count++];
}

/* For the pipeline: emit_room makes room for an instruction's uops at once; emit_uop then returns records
 * without a check. */
static inline void emit_room(struct emitter *e)
{
	if (__builtin_expect(e->count >= EMIT_LIMIT, 0))
		emit_flush(e, 0);
}
static inline struct spmu_record *emit_uop(struct emitter *e)
{
	return &e->record[e->count++];
}

/* ip, addr: of the instruction and access that it belongs to; 0: none.  Cycles are absolute, begin <= end;
 * POINT signals: end == begin.  A begin below base (the signal belongs to a cycle that has been passed on) is
 * clamped to base. */
static inline void emit_signal_at(
	struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count, uint64_t ip, uint64_t addr)
{
	if (!emit_wanted(e, s))
		return;
	if (begin < e->base)	/* before the distance is tested: end may lie below base, too */
		begin = e->base;
	if (end < begin)
		end = begin;
	struct spmu_record *r = emit_new(e, end);
	if (begin < e->base)
		begin = e->base;
	if (end < begin)
		end = begin;
	*r = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255, .signal = s, .did = count,
		.ip = ip, .addr = addr,
		.begin = (uint32_t)(begin - e->base), .end = (uint32_t)(end - e->base) };
}
static inline void emit_signal(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count)
{
	emit_signal_at(e, s, begin, end, count, 0, 0);
}
/* An uncore signal: unit is its slice or channel, found what was found there; attributes: set of SPMU_ATTR. */
static inline void emit_uncore(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count,
	uint32_t unit, enum spmu_found found, uint64_t attributes)
{
	if (!emit_wanted(e, s))
		return;
	emit_signal(e, s, begin, end, count);
	struct spmu_record *r = &e->record[e->count - 1];
	r->unit = unit;
	r->found = found;
	r->is = attributes;
}

/* attributes: set of SPMU_ATTR. */
static inline void emit_attributes(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count,
	uint64_t attributes)
{
	if (!emit_wanted(e, s))
		return;
	emit_signal(e, s, begin, end, count);
	e->record[e->count - 1].is = attributes;
}

/* emit_signal for a signal that comes in adjacent pieces of equal count, in order: they leave as one. */
static inline void emit_grow(
	struct emitter *e, unsigned run, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count)
{
	struct emit_run *r = &e->run[run];
	if (begin >= end || !emit_wanted(e, s))
		return;
	if (r->end == begin && r->count == count && r->begin != r->end) {
		r->end = end;
		return;
	}
	if (r->begin != r->end) {
		emit_room(
			/* if the batch leaves now it takes the piece with it: the next batch's base may lie
			 * behind the piece's begin */
			e);
		if (r->begin != r->end)
			emit_signal(e, r->signal, r->begin, r->end, r->count);
	}
	*r = (struct emit_run){ begin, end, count, s };
}
#endif
