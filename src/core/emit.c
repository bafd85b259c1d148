/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sends batches of records.  Leaves out nothing; see emit.h for what stays behind.
 */
#include "core/emit.h"
#include <string.h>

enum { KEEP_MOST = EMIT_LIMIT - 64 };	/* a batch must make progress */

static void put(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count)
{
	if (begin < e->base)
		begin = e->base;
	if (end <= begin)
		return;
	e->record[e->count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL, .cpl = 3, .port = 255, .signal = s, .did = count,
		.begin = (uint32_t)(begin - e->base), .end = (uint32_t)(end - e->base) };
}

/* Instructions that end among the first records. */
static uint32_t instructions(const struct emitter *e)
{
	uint32_t n = 0;
	_Static_assert(SPMU_DID_RETIRED == 0, "shifts below");
	for (const struct spmu_record *r = e->record, *end = r + e->count; r != end; r++) {
		uint64_t is = r->kind == SPMU_REC_UOP ? r->is : 0;
		n += (uint32_t)(is >> SPMU_IS_INST_END & r->did & 1) + (uint32_t)(is >> SPMU_IS_INST_END2 & r->did & 1);
	}
	return n;
}

/* Moves the uop records from index `from` on to e->kept, signals between them forward; returns how many. */
static uint32_t keep(struct emitter *e, uint32_t from)
{
	uint32_t kept = 0, sent = from, open = e->open_head, hold = 0;
	for (uint32_t i = from; i < e->count; i++) {
		const struct spmu_record *r = &e->record[i];
		if (r->kind == SPMU_REC_SIGNAL) {
			if (e->hold == i + 1)	/* the slot's own uops come behind it */
				e->hold++;
			e->record[sent++] = *r;
			continue;
		}
		if (open != e->open_tail && e->open[open & (EMIT_OPEN - 1)] == i)
			e->open[open++ & (EMIT_OPEN - 1)] = (uint16_t)kept;
		if (e->hold == i + 1)
			hold = kept + 1;
		e->kept[kept++] = *r;
	}
	if (e->hold && !hold)	/* the slot has no record yet */
		hold = kept + 1;
	e->hold = e->hold ? hold : 0;
	e->count = sent;
	return kept;
}

void emit_flush(struct emitter *e, bool last)
{
	for (unsigned i = 0; i < EMIT_RUNS; i++) {
		struct emit_run *r = &e->run[i];
		put(e, r->signal, r->begin, r->end, r->count);
		r->begin = r->end = 0;
	}
	if (e->now > e->cycles_from) {
		if (emit_wanted(e, SPMU_SIG_CYCLES))
			put(e, SPMU_SIG_CYCLES, e->cycles_from, e->now, 1);
		e->cycles_from = e->now;
	}

	uint32_t slot = e->hold ? e->hold - 1 : e->count, from = slot;
	for (uint32_t o = e->open_head; o != e->open_tail; o++)
		if (e->open[o & (EMIT_OPEN - 1)] != EMIT_GONE) {
			if (e->open[o & (EMIT_OPEN - 1)] < from)
				from = e->open[o & (EMIT_OPEN - 1)];
			break;
		}
	if (e->count - from > KEEP_MOST) {	/* more uops in flight than a batch holds: their late bits are lost */
		from = slot;
		for (uint32_t o = e->open_head; o != e->open_tail; o++)
			if (e->open[o & (EMIT_OPEN - 1)] < from)
				e->open[o & (EMIT_OPEN - 1)] = EMIT_GONE;
	}
	uint32_t head = e->open_head;		/* those that are gone stay in the FIFO, in front */
	while (e->open_head != e->open_tail && e->open[e->open_head & (EMIT_OPEN - 1)] == EMIT_GONE)
		e->open_head++;
	uint32_t kept = keep(e, from);
	e->open_head = head;

	uint64_t next = e->watermark;
	if (last && next < e->now)
		next = e->now;
	if (next < e->base)
		next = e->base;
	if (kept && next > e->base + e->kept[0].fetch)
		next = e->base + e->kept[0].fetch;
	const struct spmu_batch batch = {
		.base_cycle = e->base, .watermark = next, .count = e->count,
		.instructions = instructions(e), .is_last = last, .records = e->record,
	};
	if (e->emit && (batch.count || last))
		e->emit(e->context, &batch);
	uint32_t step = (uint32_t)(next - e->base);
	for (uint32_t i = 0; i < kept; i++) {
		struct spmu_record *r = &e->kept[i];
		r->fetch -= step, r->alloc -= step, r->ready -= step;
		r->dispatch -= step, r->complete -= step, r->retire -= step;
	}
	memcpy(e->record, e->kept, kept * sizeof *e->kept);
	e->count = kept;
	e->base = next;
}
