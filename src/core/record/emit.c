/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sends batches of records; emit.h says which records stay behind.
 */
#include "core/record/emit.h"

static void put(struct emitter *e, enum spmu_signal s, uint64_t begin, uint64_t end, uint64_t count)
{
	if (begin < e->base)
		begin = e->base;
	if (end <= begin)
		return;
	e->record[e->count++] = (struct spmu_record){ .kind = SPMU_REC_SIGNAL,
		.cpl = 3,
		.port = 255,
		.signal = s,
		.did = count,
		.begin = (uint32_t)(begin - e->base),
		.end = (uint32_t)(end - e->base) };
}

/* Moves the uop records of the slot being built, from index `from` on, to `kept`, and moves the signals between
 * them forward. */
static uint32_t keep(struct emitter *e, uint32_t from, struct spmu_record kept[EMIT_UOPS])
{
	uint32_t n = 0, sent = from;
	for (uint32_t i = from; i < e->count; i++) {
		const struct spmu_record *r = &e->record[i];
		if (r->kind == SPMU_REC_SIGNAL || n == EMIT_UOPS)
			e->record[sent++] = *r;
		else
			kept[n++] = *r;
	}
	e->count = sent;
	return n;
}

void emit_flush(struct emitter *e, bool last)
{
	struct spmu_record kept[EMIT_UOPS];
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
	uint32_t n = e->hold ? keep(e, e->hold - 1, kept) : 0;

	uint64_t next = e->watermark;
	if (last && next < e->now)
		next = e->now;
	if (!last && e->open && next > e->open && next - e->open <= EMIT_HELD)
		next = e->open;
	if (next < e->base)
		next = e->base;
	if (n && next > e->base + kept[0].fetch)
		next = e->base + kept[0].fetch;
	if (e->busy && emit_wanted(e, SPMU_SIG_MS_BUSY)) {
		put(e, SPMU_SIG_MS_BUSY, e->busy_from, next, 1);
		e->busy_from = e->busy_from > next ? e->busy_from : next;
	}
	if (__builtin_expect(e->hw_thread, 0))
		for (uint32_t i = 0; i < e->count; i++)
			e->record[i].hw_thread = e->hw_thread;
	const struct spmu_batch batch = {
		.base_cycle = e->base, .watermark = next, .count = e->count, .hw_threads = UINT64_C(1) << e->hw_thread,
		.instructions = e->instructions, .is_last = last, .user_only = 1, .records = e->record,
	};
	if (e->emit && (batch.count || batch.instructions || last)) {
		struct spmu_record *other = e->emit(e->context, &batch);
		if (other)
			e->record = other;
	}
	uint32_t step = (uint32_t)(next - e->base);
	for (uint32_t i = 0; i < n; i++) {
		struct spmu_record *r = &e->record[i];
		*r = kept[i];
		r->fetch -= step, r->alloc -= step, r->ready -= step;
		r->dispatch -= step, r->complete -= step, r->retire -= step;
	}
	e->count = n;
	e->closed = last;
	e->instructions = 0;
	if (e->hold)
		e->hold = 1;
	e->base = next;
}
