/* SPDX-License-Identifier: BSD-2-Clause
 * Counting: a batch goes through every counter, and interrupts are taken where they fall.
 *
 * A batch in which no interrupt can arise or arrive is one pass: tallies of sources, added to the counters that
 * want them.  Otherwise the batch is cut into segments at boundaries (record, cycle): what retires before the
 * record, and whatever else happens below the cycle, belongs to the registers as they were; the rest to the
 * registers as the handler (or a freeze) left them.  Boundaries are where an interrupt is taken or counters freeze.
 *
 * An interrupt arrives pmi_latency cycles after the overflow and is taken at the first instruction none of whose uops
 * has retired by then; an instruction in mid-retirement completes first.  REP instructions are not interrupted
 * between iterations.  Events that are not counted at retirement come out of order: their overflow is known once the
 * watermark has passed it, when the instruction to interrupt may lie in a batch that is gone; a short history
 * names it, and registers change from the present batch's first record on.
 *
 * Source: SDM vol. 3B, "Performance Monitoring", sections "Architectural Performance Monitoring" (version 4: streamlined
 * freeze) and "Generating an Interrupt on Overflow".  Simplified: interrupts that arrive while one is pending merge;
 * the handler takes no time (what a PMI costs is the core's affair); after 4096 interrupts in one batch the next waits.
 */
#include "pmu_internal.h"
#include <stdlib.h>
#include <string.h>

static void piece_add(struct spmu *p, uint64_t begin, uint64_t end, unsigned signal, bool kernel)
{
	if (p->pieces == p->piece_room) {
		size_t room = p->piece_room ? 2 * p->piece_room : 256;
		struct pmu_piece *piece = realloc(p->piece, room * sizeof *piece);
		if (!piece)
			return;
		p->piece = piece;
		p->piece_room = room;
	}
	p->piece[p->pieces++] = (struct pmu_piece){ begin, end, (uint8_t)signal, kernel };
}

/* Adds [begin, end) to what a signal covers; what is new of it becomes pieces. */
static void cover_add(struct spmu *p, unsigned signal, uint64_t begin, uint64_t end, bool kernel)
{
	struct pmu_cover *v = &p->cover[signal];
	if (begin < p->floor)
		begin = p->floor;
	if (begin >= end)
		return;
	size_t a = v->spans, b;
	while (a && v->span[a - 1].end >= begin)	/* spans before a end below begin */
		a--;
	uint64_t at = begin, low = begin, high = end;
	for (b = a; b < v->spans && v->span[b].begin <= end; b++) {
		if (at < v->span[b].begin)
			piece_add(p, at, v->span[b].begin, signal, kernel);
		if (at < v->span[b].end)
			at = v->span[b].end;
		if (v->span[b].begin < low)
			low = v->span[b].begin;
		if (v->span[b].end > high)
			high = v->span[b].end;
	}
	if (at < end)
		piece_add(p, at, end, signal, kernel);
	if (a == b) {
		if (v->spans == v->room) {
			size_t room = v->room ? 2 * v->room : 16;
			struct pmu_span *span = realloc(v->span, room * sizeof *span);
			if (!span)
				return;		/* this stretch could count twice; nothing better without memory */
			v->span = span;
			v->room = room;
		}
		memmove(&v->span[a + 1], &v->span[a], (v->spans - a) * sizeof *v->span);
		v->spans++;
	} else {
		memmove(&v->span[a + 1], &v->span[b], (v->spans - b) * sizeof *v->span);
		v->spans -= b - a - 1;
	}
	v->span[a] = (struct pmu_span){ low, high };
}

static void cover_prune(struct spmu *p, uint64_t watermark)
{
	for (unsigned w = 0; w < 2; w++)
		for (uint64_t set = p->intervals[w]; set; set &= set - 1) {
			struct pmu_cover *v = &p->cover[64 * w + (unsigned)__builtin_ctzll(set)];
			size_t n = 0;
			while (n < v->spans && v->span[n].end < watermark)
				n++;
			if (n) {
				memmove(v->span, v->span + n, (v->spans - n) * sizeof *v->span);
				v->spans -= n;
			}
		}
}

/* Pieces of the INTERVAL signals in `set` from all of the batch. */
static void collect(struct spmu *p, const struct spmu_batch *b, const uint64_t set[2])
{
	if (!(set[0] | set[1]))
		return;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP && r->signal < SPMU_SIG_COUNT && pmu_in_set(set, r->signal))
			cover_add(p, r->signal, b->base_cycle + r->begin, b->base_cycle + r->end, !r->cpl);
	}
}

__attribute__((always_inline)) static inline bool tally_match(const struct pmu_tally_source *s, const struct spmu_record *r)
{
	return (r->is & s->im) == s->iw && (r->did & s->dm) == s->dw &&
		(!(s->ai | s->ad) || (r->is & s->ai) | (r->did & s->ad)) &&
		(!s->ports || (r->port < 16 && s->ports >> r->port & 1));
}

/* A signal record's part in the whole batch.  collecting: INTERVALs still have to become pieces. */
static void tally_signal(struct spmu *p, const struct spmu_batch *b, const struct spmu_record *r, bool collecting)
{
	if (r->signal >= SPMU_SIG_COUNT)
		return;
	if (collecting && pmu_in_set(p->intervals, r->signal))
		cover_add(p, r->signal, b->base_cycle + r->begin, b->base_cycle + r->end, !r->cpl);
	const int16_t *slot = p->signal_slot[r->signal];
	uint64_t *tally = p->tally[!r->cpl], length = r->end > r->begin ? r->end - r->begin : 0;
	uint64_t count = r->did > UINT32_MAX ? UINT32_MAX : r->did;
	if (slot[FORM_VALUE] >= 0 && pmu_signal_kind(r->signal) != SPMU_INTERVAL)	/* those come as pieces */
		tally[slot[FORM_VALUE]] += pmu_signal_kind(r->signal) == SPMU_OCCUPANCY ? count * length : count;
	if (slot[FORM_BEGINS] >= 0)
		tally[slot[FORM_BEGINS]]++;
	if (slot[FORM_ENDS] >= 0)
		tally[slot[FORM_ENDS]]++;
	if (slot[FORM_PENDING] >= 0)
		tally[slot[FORM_PENDING]] += length;
}

/* The part of [begin, end) in [from, to). */
static uint64_t clipped(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	begin = begin > from ? begin : from;
	end = end < to ? end : to;
	return begin < end ? end - begin : 0;
}

/* What a uop that matches adds between two cycles: one, or the cycles it spent between two stages. */
static uint64_t uop_part(const struct spmu_batch *b, const struct spmu_record *r, const struct pmu_tally_source *s,
	uint64_t from, uint64_t to)
{
	uint64_t cycle = pmu_cycle(b, r, s->stage);
	if (s->until == STAGE_NONE)
		return cycle >= from && cycle < to && cycle != PMU_NEVER;
	uint64_t until = pmu_cycle(b, r, s->until);
	return until == PMU_NEVER ? 0 : clipped(cycle, until, from, to);
}

/* The pass over a batch when all sources are bit masks at retirement: n of them from k0 on, n a constant. */
static inline __attribute__((always_inline)) void tally_masks(struct spmu *p, const struct spmu_batch *b, bool signals,
	bool collecting, unsigned k0, unsigned n)
{
	uint64_t im[4], iw[4], dm[4], dw[4], all[4] = { 0 }, kernel[4] = { 0 };	/* registers */
	for (unsigned k = 0; k < n; k++) {
		const struct pmu_tally_source *s = &p->tally_source[k0 + k];
		im[k] = s->im;
		iw[k] = s->iw;
		dm[k] = s->dm;
		dw[k] = s->dw;
	}
	for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++) {
		if (__builtin_expect(r->kind != SPMU_REC_UOP, 0)) {
			if (signals)
				tally_signal(p, b, r, collecting);
			continue;
		}
		uint64_t is = r->is, did = r->did;
		for (unsigned k = 0; k < n; k++)
			all[k] += !(((is & im[k]) ^ iw[k]) | ((did & dm[k]) ^ dw[k]));
		if (__builtin_expect(!r->cpl, 0))
			for (unsigned k = 0; k < n; k++)
				kernel[k] += !(((is & im[k]) ^ iw[k]) | ((did & dm[k]) ^ dw[k]));
	}
	for (unsigned k = 0; k < n; k++) {
		p->tally[0][k0 + k] += all[k] - kernel[k];
		p->tally[1][k0 + k] += kernel[k];
	}
}

/* One source of the other kind.  extra: it has a group or a port; constants where it is called. */
static inline __attribute__((always_inline)) void tally_stage(struct spmu *p, const struct spmu_batch *b, unsigned k, bool extra)
{
	const struct pmu_tally_source s = p->tally_source[k];
	bool any = s.ai | s.ad;
	uint32_t ports = s.ports ? s.ports : UINT32_MAX, never = s.stage == STAGE_RETIRE ? 0 : UINT32_MAX;
	unsigned stage = s.stage == STAGE_RETIRE ? STAGE_COMPLETE : s.stage;	/* whether it retired is in the masks */
	uint64_t all = 0, kernel = 0;
	_Static_assert(SPMU_REC_UOP == 0, "kind is a part of `miss`");
	for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++) {
		uint64_t miss = ((r->is & s.im) ^ s.iw) | ((r->did & s.dm) ^ s.dw) | r->kind;
		bool hit = (miss == 0) & ((never == 0) | (pmu_offset(r, stage) != never));
		if (extra)
			hit &= ((any == 0) | (((r->is & s.ai) | (r->did & s.ad)) != 0)) & (ports >> (r->port < 16 ? r->port : 16) & 1);
		all += hit;
		kernel += hit & !r->cpl;
	}
	p->tally[0][k] += all - kernel;
	p->tally[1][k] += kernel;
}

static void tally_one(struct spmu *p, const struct spmu_batch *b, unsigned k)
{
	const struct pmu_tally_source *s = &p->tally_source[k];
	if (s->until != STAGE_NONE) {
		for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++)
			if (r->kind == SPMU_REC_UOP && tally_match(s, r))
				p->tally[!r->cpl][k] += uop_part(b, r, s, 0, PMU_NEVER);
	} else if (s->ai | s->ad || s->ports) {
		tally_stage(p, b, k, true);
	} else {
		tally_stage(p, b, k, false);
	}
}

static void tally_pieces(struct spmu *p, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < p->pieces; i++) {
		const struct pmu_piece *e = &p->piece[i];
		int slot = p->signal_slot[e->signal][FORM_VALUE];
		if (slot >= 0)
			p->tally[e->kernel][slot] += clipped(e->begin, e->end, from, to);
	}
}

static void tally_all(struct spmu *p, const struct spmu_batch *b, bool collecting)
{
	unsigned k = 0, n = p->tally_masks;
	bool signals = true;
	if (p->tally_instructions && b->user_only) {	/* the core has counted them */
		p->tally[0][0] += b->instructions;
		k = 2;
	}
	do {	/* four at a time fit the registers; the first pass takes the signals along */
		switch (n - k) {
		case 0: tally_masks(p, b, signals, collecting, k, 0); break;
		case 1: tally_masks(p, b, signals, collecting, k, 1); break;
		case 2: tally_masks(p, b, signals, collecting, k, 2); break;
		case 3: tally_masks(p, b, signals, collecting, k, 3); break;
		default: tally_masks(p, b, signals, collecting, k, 4); break;
		}
		signals = false;
		k += 4;
	} while (k < n);
	for (k = n; k < p->tally_uops; k++)
		tally_one(p, b, k);
	tally_pieces(p, 0, PMU_NEVER);
}

struct bounds {
	uint32_t record0, record1;
	uint64_t cycle0, cycle1;
	bool here;	/* an interrupt was taken in this batch: none falls into an earlier one any more */
};

/* The same for a segment: retirements by record, everything else by cycle. */
static void tally_segment(struct spmu *p, const struct spmu_batch *b, const struct bounds *g)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP) {
			for (unsigned k = 0; k < p->tally_uops; k++) {
				const struct pmu_tally_source *s = &p->tally_source[k];
				if (!tally_match(s, r))
					continue;
				p->tally[!r->cpl][k] += s->stage == STAGE_RETIRE ? i >= g->record0 && i < g->record1
					: uop_part(b, r, s, g->cycle0, g->cycle1);
			}
			continue;
		}
		if (r->signal >= SPMU_SIG_COUNT)
			continue;
		const int16_t *slot = p->signal_slot[r->signal];
		uint64_t begin = b->base_cycle + r->begin, end = b->base_cycle + r->end, *tally = p->tally[!r->cpl];
		uint64_t count = r->did > UINT32_MAX ? UINT32_MAX : r->did, length = clipped(begin, end, g->cycle0, g->cycle1);
		bool begins = begin >= g->cycle0 && begin < g->cycle1, ends = end >= g->cycle0 && end < g->cycle1;
		if (slot[FORM_VALUE] >= 0 && pmu_signal_kind(r->signal) == SPMU_POINT)
			tally[slot[FORM_VALUE]] += begins ? count : 0;
		if (slot[FORM_VALUE] >= 0 && pmu_signal_kind(r->signal) == SPMU_OCCUPANCY)
			tally[slot[FORM_VALUE]] += count * length;
		if (slot[FORM_BEGINS] >= 0)
			tally[slot[FORM_BEGINS]] += begins;
		if (slot[FORM_ENDS] >= 0)
			tally[slot[FORM_ENDS]] += ends;
		if (slot[FORM_PENDING] >= 0)
			tally[slot[FORM_PENDING]] += length;
	}
	tally_pieces(p, g->cycle0, g->cycle1);
}

/* Cycles in [from, to) that a counter sees. */
static uint64_t cycles_seen(const struct spmu *p, const struct pmu_counter *c, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->pieces; i++)
		if (p->piece[i].signal == SPMU_SIG_CYCLES && c->cpl & (p->piece[i].kernel ? 2 : 1))
			sum += clipped(p->piece[i].begin, p->piece[i].end, from, to);
	return sum;
}

/* Tallies of what lies in [from, to), with whole records at retirement, into counters. */
static void apply(struct spmu *p, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++) {
		struct pmu_counter *c = &p->counter[i];
		if (c->mode == MODE_OFF || c->mode == MODE_RING)
			continue;
		const struct pmu_expr *x = &c->row->expr;
		uint64_t sum = 0;
		for (unsigned t = 0; t < x->terms; t++) {
			uint64_t n = (c->cpl & 1 ? p->tally[0][c->slot[t]] : 0) + (c->cpl & 2 ? p->tally[1][c->slot[t]] : 0);
			sum += n * x->term[t].num;
		}
		if (c->mode == MODE_CYCLES && c->from > from)	/* written in a handler behind the last CYCLES seen */
			sum = cycles_seen(p, c, c->from, to) * x->term[0].num;
		if (x->term[0].den != 1) {
			sum += c->remainder;
			c->remainder = sum % x->term[0].den;
			sum /= x->term[0].den;
		}
		pmu_add(p, i, sum);
	}
}

static void clear_tallies(struct spmu *p)
{
	memset(p->tally[0], 0, p->tallies * sizeof p->tally[0][0]);
	memset(p->tally[1], 0, p->tallies * sizeof p->tally[1][0]);
}

/* ---- where counters overflow -------------------------------------------------------------------------------- */

/* First record in [from, count) at which a counter that interrupts wraps; count if none. */
static uint32_t first_retire_overflow(const struct spmu *p, const struct spmu_batch *b, uint32_t from)
{
	uint32_t first = b->count;
	for (unsigned k = 0; k < PMU_MAX_COUNTERS; k++) {
		const struct pmu_counter *c = &p->counter[k];
		if (c->mode != MODE_RETIRE || !c->interrupts || from >= first ||
		    c->value + (uint64_t)c->max_step * (first - from) <= PMU_COUNTER_MASK)
			continue;
		uint64_t value = c->value;
		const struct pmu_expr *x = &c->row->expr;
		for (uint32_t i = from; i < first; i++) {
			const struct spmu_record *r = &b->records[i];
			if (r->kind != SPMU_REC_UOP || !(c->cpl & (r->cpl ? 1 : 2)))
				continue;
			for (unsigned t = 0; t < x->terms; t++)
				value += tally_match(&p->tally_source[c->slot[t]], r) ? x->term[t].num : 0;
			if (value > PMU_COUNTER_MASK)
				first = i;
		}
	}
	return first;
}

/* First cycle at or above `from` in which a MODE_CYCLES counter that interrupts wraps. */
static uint64_t first_cycle_overflow(const struct spmu *p, uint64_t from)
{
	uint64_t first = PMU_NEVER;
	for (unsigned k = 0; k < PMU_MAX_COUNTERS; k++) {
		const struct pmu_counter *c = &p->counter[k];
		if (c->mode != MODE_CYCLES || !c->interrupts)
			continue;
		const struct pmu_term *t = &c->row->expr.term[0];
		__extension__ unsigned __int128 need = (unsigned __int128)(PMU_COUNTER_MASK + 1 - c->value) * t->den - c->remainder;
		uint64_t left = (uint64_t)((need + t->num - 1) / t->num);	/* cycles to go, at least 1 */
		for (size_t i = 0; i < p->pieces; i++) {
			const struct pmu_piece *e = &p->piece[i];
			uint64_t begin = e->begin > from ? e->begin : from;
			begin = begin > c->from ? begin : c->from;
			if (e->signal != SPMU_SIG_CYCLES || begin >= e->end || !(c->cpl & (e->kernel ? 2 : 1)))
				continue;
			if (left <= e->end - begin) {
				if (begin + left - 1 < first)
					first = begin + left - 1;
				break;
			}
			left -= e->end - begin;
		}
	}
	return first;
}

/* May a counter wrap within this batch so that it matters where?  Cycles are judged by the batch's span. */
static bool may_interrupt(const struct spmu *p, const struct spmu_batch *b)
{
	uint64_t span = 0;
	for (unsigned k = 0; k < PMU_MAX_COUNTERS; k++) {
		const struct pmu_counter *c = &p->counter[k];
		if (!c->interrupts || (c->mode != MODE_RETIRE && c->mode != MODE_CYCLES))
			continue;
		if (c->mode == MODE_CYCLES) {
			if (!span)
				for (uint32_t i = 0; i < b->count; i++)
					if (b->records[i].kind != SPMU_REC_UOP && b->records[i].signal == SPMU_SIG_CYCLES &&
					    b->records[i].end > b->records[i].begin)
						span += b->records[i].end - b->records[i].begin;
			const struct pmu_term *t = &c->row->expr.term[0];
			if (c->value + (span + 1) * (t->num / t->den + 1) > PMU_COUNTER_MASK)
				return true;
		} else if (c->value + (uint64_t)c->max_step * b->count > PMU_COUNTER_MASK) {
			return true;
		}
	}
	return false;
}

/* ---- segments ----------------------------------------------------------------------------------------------- */

/* Cycles below which the ring may count while this batch is in hand. */
static uint64_t final_cycle(const struct spmu *p, const struct spmu_batch *b)
{
	uint64_t end = b->is_last ? pmu_ring_end(p) : 0, mark = b->watermark <= PMU_CYCLE_LAST ? b->watermark : 0;
	return end > mark ? end : mark;
}

/* Counts up to the boundary (record, cycle) and makes it the next segment's beginning. */
static void advance(struct spmu *p, const struct spmu_batch *b, struct bounds *g, uint32_t record, uint64_t cycle)
{
	bool whole = !g->record0 && !g->cycle0 && record == b->count && cycle == PMU_NEVER;
	g->record1 = record > g->record0 ? record : g->record0;
	g->cycle1 = cycle > g->cycle0 ? cycle : g->cycle0;
	clear_tallies(p);
	if (whole)
		tally_all(p, b, false);
	else
		tally_segment(p, b, g);
	apply(p, g->cycle0, g->cycle1);
	uint64_t limit = final_cycle(p, b);
	uint64_t overflow = pmu_ring_run(p, g->cycle1 < limit ? g->cycle1 : limit, false);
	if (overflow != PMU_NEVER && !p->pending) {
		p->pending = true;
		p->overflow_cycle = overflow;
		p->arrival = overflow + p->host.pmi_latency;
	}
	g->record0 = g->record1;
	g->cycle0 = g->cycle1;
}

/* First record at or after `from` that begins an instruction and retires behind `cycle`; count if none.
 * *before: when the last uop before it retired. */
static uint32_t first_unretired(const struct spmu *p, const struct spmu_batch *b, uint32_t from, uint64_t cycle, uint64_t *before)
{
	*before = p->last_retire;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		uint64_t retire = b->base_cycle + r->retire;
		if (i >= from && r->is & SPMU_IS(INST_BEGIN) && retire > cycle)
			return i;
		if (retire > *before)
			*before = retire;
	}
	return b->count;
}

/* How many remembered instructions retired behind `cycle`; they are the history's last. */
static size_t history_behind(const struct spmu *p, uint64_t cycle)
{
	size_t n = 0;
	while (n < p->histories && p->history[p->histories - 1 - n].retire > cycle)
		n++;
	return n;
}

/* An overflow that interrupts, in the rest of the batch.  Ring cycles up to it are counted.  *record: boundary record. */
static uint64_t next_overflow(struct spmu *p, const struct spmu_batch *b, const struct bounds *g, uint32_t *record)
{
	uint32_t i = first_retire_overflow(p, b, g->record0);
	uint64_t by_record = i < b->count ? b->base_cycle + b->records[i].retire : PMU_NEVER;
	uint64_t by_cycle = first_cycle_overflow(p, g->cycle0);
	uint64_t in_order = by_record < by_cycle ? by_record : by_cycle;
	uint64_t limit = final_cycle(p, b);
	if (in_order != PMU_NEVER && in_order < limit)
		limit = in_order + 1;
	uint64_t by_ring = pmu_ring_run(p, limit, true);
	*record = i + 1;
	if (by_ring != PMU_NEVER && by_ring < in_order)
		in_order = by_ring;
	if (in_order != PMU_NEVER && in_order != by_record) {
		uint64_t before;
		*record = first_unretired(p, b, g->record0, in_order, &before);
	}
	return in_order;
}

static void deliver(struct spmu *p, const struct spmu_batch *b, struct bounds *g, const struct spmu_pmi *pmi)
{
	uint8_t before[PMU_MAX_COUNTERS];
	uint64_t had[2] = { p->intervals[0], p->intervals[1] };
	bool changed = false, fresh = false;
	p->pending = false;
	if (!p->host.pmi)
		return;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
		before[i] = (uint8_t)p->counter[i].mode;
	p->in_pmi = true;
	p->now = g->cycle0 == PMU_NEVER ? p->ring.first : g->cycle0;	/* the former at the end of the stream */
	p->host.pmi(p->host.context, p, pmi, b);
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
		changed |= before[i] != p->counter[i].mode && p->counter[i].ring;
	if (changed && p->ring.first < p->now) {	/* the old enables hold up to this moment */
		uint8_t list[PMU_MAX_COUNTERS];
		unsigned lists = p->ring_counters;
		memcpy(list, p->ring_counter, sizeof list);
		p->ring_counters = 0;
		for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
			if (before[i] == MODE_RING && p->counter[i].ring)
				p->ring_counter[p->ring_counters++] = (uint8_t)i;
		pmu_ring_settle(p, p->now);
		memcpy(p->ring_counter, list, sizeof list);
		p->ring_counters = lists;
	}
	p->in_pmi = false;
	uint64_t added[2] = { p->intervals[0] & ~had[0], p->intervals[1] & ~had[1] };
	collect(p, b, added);
	for (unsigned k = 0; k < p->ring.channels; k++)
		fresh |= p->ring.channel[k].fresh;
	if (fresh)
		pmu_ring_feed(p, b, true, g->cycle0);
}

/* Takes the pending PMI if it arrives in this batch; false if it has to wait. */
static bool take(struct spmu *p, const struct spmu_batch *b, struct bounds *g)
{
	uint64_t before;
	uint32_t record = first_unretired(p, b, g->record0, p->arrival, &before);
	struct spmu_pmi pmi = { .overflow_cycle = p->overflow_cycle, .record = record };
	size_t behind = g->here ? 0 : history_behind(p, p->arrival);
	if (record == b->count && !behind && !b->is_last)
		return false;
	if (behind) {
		size_t at = p->histories - behind;
		pmi.ip = p->history[at].ip;
		pmi.behind = (uint32_t)behind;
		pmi.cycle = p->history[at].before > p->arrival ? p->history[at].before : p->arrival;
	} else {
		pmi.cycle = before > p->arrival ? before : p->arrival;
		pmi.ip = record < b->count ? b->records[record].ip : p->last_ip;
		for (uint32_t i = b->count; record == b->count && i-- > 0;)
			if (b->records[i].kind == SPMU_REC_UOP && b->records[i].did & SPMU_DID(RETIRED)) {
				pmi.ip = b->records[i].ip;
				break;
			}
	}
	bool end = record == b->count;
	g->here = !behind;
	advance(p, b, g, record, end ? PMU_NEVER : pmi.cycle + 1);
	pmi.status = p->status;
	deliver(p, b, g, &pmi);
	return !end;
}

static void consume_carefully(struct spmu *p, const struct spmu_batch *b)
{
	struct bounds g = { 0 };
	pmu_ring_feed(p, b, false, 0);
	for (unsigned taken = 0; taken < PMU_PMI_LAST; taken++) {
		if (!p->pending) {
			uint32_t record;
			uint64_t cycle = next_overflow(p, b, &g, &record);
			if (cycle == PMU_NEVER)
				break;
			p->pending = true;
			p->overflow_cycle = cycle;
			p->arrival = cycle + p->host.pmi_latency;
			if (p->debugctl & DEBUGCTL_FREEZE_PERFMON_ON_PMI) {
				advance(p, b, &g, record, cycle + 1);
				pmu_ring_settle(p, cycle + 1);
				p->status |= STATUS_CTR_FRZ;
				pmu_plan(p);	/* only disables: takes no memory */
			}
		}
		if (!take(p, b, &g))
			break;
	}
	if (g.record0 < b->count || g.cycle0 != PMU_NEVER)
		advance(p, b, &g, b->count, PMU_NEVER);
}

/* Remembers the instructions that an overflow found later may interrupt. */
static void remember(struct spmu *p, const struct spmu_batch *b)
{
	size_t n = 0;
	uint64_t before = p->last_retire;
	while (n < p->histories && p->history[n].retire < b->watermark)
		n++;
	memmove(p->history, p->history + n, (p->histories - n) * sizeof *p->history);
	p->histories -= n;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		uint64_t retire = b->base_cycle + r->retire;
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		uint64_t previous = before;
		before = retire > before ? retire : before;
		if (!(r->is & SPMU_IS(INST_BEGIN)) || retire < b->watermark)
			continue;
		if (p->histories == PMU_HISTORY) {
			memmove(p->history, p->history + PMU_HISTORY / 2, PMU_HISTORY / 2 * sizeof *p->history);
			p->histories = PMU_HISTORY / 2;
		}
		p->history[p->histories].ip = r->ip;
		p->history[p->histories].before = previous;
		p->history[p->histories++].retire = retire;
	}
}

static void note_last(struct spmu *p, const struct spmu_batch *b)
{
	for (uint32_t i = b->count; i-- > 0;) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		if (b->base_cycle + r->retire > p->last_retire)
			p->last_retire = b->base_cycle + r->retire;
		p->last_ip = r->ip;
		return;
	}
}

void spmu_consume(struct spmu *p, const struct spmu_batch *b)
{
	if (p->in_pmi || b->base_cycle > PMU_CYCLE_LAST)
		return;		/* a handler may not count; no core has run that long */
	if (!p->started) {
		p->started = true;
		p->floor = b->base_cycle;
		if (p->ring.first < b->base_cycle)
			p->ring.first = p->ring.end = b->base_cycle;
	}
	p->pieces = 0;
	bool rings = p->ring.channels > 0;
	if (p->live || rings || p->pending) {
		if (!rings && !p->pending && !may_interrupt(p, b)) {
			clear_tallies(p);
			tally_all(p, b, true);
			apply(p, 0, PMU_NEVER);
		} else {
			collect(p, b, p->intervals);
			consume_carefully(p, b);
		}
	}
	if (p->keep_history)
		remember(p, b);
	else
		p->histories = 0;
	note_last(p, b);
	if (b->watermark > p->floor && b->watermark <= PMU_CYCLE_LAST)
		p->floor = b->watermark;
	cover_prune(p, p->floor);
}
