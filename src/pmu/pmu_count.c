/* SPDX-License-Identifier: BSD-2-Clause
 * Counting: every counter counts a batch, and interrupts are taken at their exact place.
 *
 * A batch in which no interrupt can be requested or taken is one pass: each source is tallied, and the tallies
 * are added to the counters.  Any other batch is cut into segments at boundaries (record, cycle).  Uops that
 * retire before the record, and everything else that happens before the cycle, are counted with the registers
 * as they were; the rest with the registers as the handler (or a freeze) left them.  A boundary is where an
 * interrupt is taken or counters freeze.
 *
 * An interrupt arrives pmi_latency cycles after the overflow, with the next edge of pmi_clock.  It is taken at the
 * first instruction (pmi_line: the first that begins a line of the trace cache) none of whose uops has retired by
 * then; an instruction that is partly retired completes first.  REP instructions are
 * not interrupted between iterations.  Events that are not counted at retirement come out of order.  Their
 * overflow is known only once the watermark has passed it, and the instruction to interrupt may then lie in an
 * earlier batch.  A short history names that instruction, and registers change from the current batch's first
 * record on.
 *
 * Source: SDM vol. 3B, "Performance Monitoring", sections "Architectural Performance Monitoring" (version 4:
 * streamlined freeze) and "Generating an Interrupt on Overflow".  Simplified: interrupts that arrive while one
 * is pending merge; the handler takes no time (the core models what a PMI costs).
 *
 * A batch costs time in proportion to its records, the interrupts taken and the PEBS records written, whatever the
 * registers say.  So a counter whose overflow has no effect (pmu_quiet) is not looked at; and after a number of
 * overflows in one batch that no program reaches (PMU_ACTS_FREE and the constants after it) the rest of them merge,
 * and are handled with the next batch.
 */
#include "pmu_internal.h"
#include <stdlib.h>
#include <string.h>

static void piece_add(struct spmu *p, uint64_t begin, uint64_t end, unsigned signal, unsigned cover, bool kernel)
{
	if (p->pieces == p->piece_room) {
		size_t room = p->piece_room ? 2 * p->piece_room : 256;
		struct pmu_piece *piece = realloc(p->piece, room * sizeof *piece);
		if (!piece)
			return;
		p->piece = piece;
		p->piece_room = room;
	}
	p->piece[p->pieces++] = (struct pmu_piece){ begin, end, (uint8_t)signal, (uint8_t)cover, kernel };
}

/* Adds [begin, end) to the cycles that a signal covers; the parts that were not covered before become pieces. */
static void cover_add(struct spmu *p, unsigned signal, uint64_t begin, uint64_t end, unsigned cover, bool kernel)
{
	struct pmu_cover *v = &p->cover[cover][signal];
	if (begin < p->floor)
		begin = p->floor;
	if (begin >= end)
		return;
	size_t a = v->spans, b;
	while (a && v->span[a - 1].end >= begin)	/* afterwards, spans before `a` end below begin */
		a--;
	uint64_t at = begin, low = begin, high = end;
	for (b = a; b < v->spans && v->span[b].begin <= end; b++) {
		if (at < v->span[b].begin)
			piece_add(p, at, v->span[b].begin, signal, cover, kernel);
		if (at < v->span[b].end)
			at = v->span[b].end;
		if (v->span[b].begin < low)
			low = v->span[b].begin;
		if (v->span[b].end > high)
			high = v->span[b].end;
	}
	if (at < end)
		piece_add(p, at, end, signal, cover, kernel);
	if (a == b) {
		if (v->spans == v->room) {
			size_t room = v->room ? 2 * v->room : 16;
			struct pmu_span *span = realloc(v->span, room * sizeof *span);
			if (!span)
				return;		/* out of memory: this stretch may count twice */
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

/* An INTERVAL record becomes pieces. */
static void cover_record(struct spmu *p, const struct spmu_batch *b, const struct spmu_record *r)
{
	uint64_t begin = b->base_cycle + r->begin, end = b->base_cycle + r->end;
	bool own = r->hw_thread == p->host.hw_thread;
	cover_add(p, r->signal, begin, end, own ? COVER_OWN : COVER_OTHER, !r->cpl);
	if (p->others)
		cover_add(p, r->signal, begin, end, COVER_ANY, !r->cpl);
}

/* The first batch with records of another thread has come: COVER_ANY begins as what this thread covers. */
static void cover_others(struct spmu *p)
{
	p->others = true;
	for (unsigned i = 0; i < SPMU_SIG_COUNT; i++) {
		const struct pmu_cover *from = &p->cover[COVER_OWN][i];
		struct pmu_span *span = from->spans ? malloc(from->spans * sizeof *span) : NULL;
		if (!span)
			continue;
		memcpy(span, from->span, from->spans * sizeof *span);
		p->cover[COVER_ANY][i] = (struct pmu_cover){ span, from->spans, from->spans };
	}
}

static void cover_prune(struct spmu *p, uint64_t watermark)
{
	for (unsigned k = 0; k < (p->others ? PMU_COVERS : 1u); k++)
		for (unsigned w = 0; w < 2; w++)
			for (uint64_t set = p->intervals[w]; set; set &= set - 1) {
				struct pmu_cover *v = &p->cover[k][64 * w + (unsigned)__builtin_ctzll(set)];
				size_t n = 0;
				while (n < v->spans && v->span[n].end < watermark)
					n++;
				if (n) {
					memmove(v->span, v->span + n, (v->spans - n) * sizeof *v->span);
					v->spans -= n;
				}
			}
}

/* Makes pieces of the batch's records of the INTERVAL signals in `set`. */
static void collect(struct spmu *p, const struct spmu_batch *b, const uint64_t set[2])
{
	if (!(set[0] | set[1]))
		return;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP && r->signal < SPMU_SIG_COUNT && pmu_in_set(set, r->signal))
			cover_record(p, b, r);
	}
}

__attribute__((always_inline)) static inline bool tally_match(const struct spmu *p, const struct spmu_batch *b,
	const struct pmu_tally_source *s, const struct spmu_record *r)
{
	unsigned tag = s->tagged | s->untagged ? p->tag[r - b->records] : 0;
	return (r->is & s->im) == s->iw && (r->did & s->dm) == s->dw &&
		(!(s->ai | s->ad) || (r->is & s->ai) | (r->did & s->ad)) &&
		(!s->ports || (r->port < 16 && s->ports >> r->port & 1)) && (!s->tagged || s->tagged & tag) &&
		!(s->untagged & tag);
}

/* Adds a signal's record to the sources that look at its attributes.  value: what it adds, by enum pmu_form. */
static void tally_qualified(struct spmu *p, const struct spmu_record *r, uint64_t *tally, const uint64_t *value)
{
	for (unsigned i = 0; i < p->qualifieds; i++) {
		const struct pmu_tally_signal *q = &p->qualified[i];
		if (q->signal == r->signal && pmu_attributes_match(q->im, q->iw, q->ai, r))
			tally[q->slot] += value[q->form];
	}
}

/* Tallies a signal record, for the whole batch.  collecting: INTERVALs have not become pieces yet. */
static void tally_signal(struct spmu *p, const struct spmu_batch *b, const struct spmu_record *r, bool collecting)
{
	if (r->signal >= SPMU_SIG_COUNT)
		return;
	if (collecting && pmu_in_set(p->intervals, r->signal))
		cover_record(p, b, r);
	const int16_t *slot = p->signal_slot[r->signal];
	uint64_t *tally = p->tally[pmu_class(p, r)], length = r->end > r->begin ? r->end - r->begin : 0;
	uint64_t count = r->did > UINT32_MAX ? UINT32_MAX : r->did;
	if (slot[FORM_VALUE] >= 0 && pmu_signal_kind(r->signal) != SPMU_INTERVAL)	/* tally_pieces counts those */
		tally[slot[FORM_VALUE]] += pmu_signal_kind(r->signal) == SPMU_OCCUPANCY ? count * length : count;
	if (slot[FORM_BEGINS] >= 0)
		tally[slot[FORM_BEGINS]]++;
	if (slot[FORM_ENDS] >= 0)
		tally[slot[FORM_ENDS]]++;
	if (slot[FORM_PENDING] >= 0)
		tally[slot[FORM_PENDING]] += length;
	if (__builtin_expect(pmu_in_set(p->qualified_signals, r->signal), 0)) {
		const uint64_t value[PMU_FORMS] = { [FORM_BEGINS] = 1, [FORM_ENDS] = 1, [FORM_PENDING] = length,
			[FORM_VALUE] = pmu_signal_kind(r->signal) == SPMU_OCCUPANCY ? count * length : count };
		tally_qualified(p, r, tally, value);
	}
}

/* Length of the part of [begin, end) that lies in [from, to). */
static uint64_t clipped(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	begin = begin > from ? begin : from;
	end = end < to ? end : to;
	return begin < end ? end - begin : 0;
}

/* What a matching uop adds in the cycles [from, to): one, or the cycles it spent between two stages. */
static uint64_t uop_part(const struct spmu_batch *b, const struct spmu_record *r, const struct pmu_tally_source *s,
	uint64_t from, uint64_t to)
{
	uint64_t cycle = pmu_cycle(b, r, s->stage);
	if (s->until == STAGE_NONE)
		return cycle >= from && cycle < to && cycle != PMU_NEVER;
	uint64_t until = pmu_cycle(b, r, s->until);
	return until == PMU_NEVER ? 0 : clipped(cycle, until, from, to);
}

/* One pass over a batch for n sources from k0 on that are bit masks at retirement; n is a constant where this
 * is inlined. */
static inline __attribute__((always_inline)) void tally_masks(struct spmu *p, const struct spmu_batch *b, bool signals,
	bool collecting, unsigned k0, unsigned n)
{
	uint64_t im[4], iw[4], dm[4], dw[4], all[4] = { 0 };	/* the compiler keeps these in registers */
	unsigned own = p->host.hw_thread;
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
		if (__builtin_expect((r->cpl == 0) | (r->hw_thread != own), 0)) {
			uint64_t *tally = p->tally[pmu_class(p, r)];
			for (unsigned k = 0; k < n; k++) {
				bool hit = !(((is & im[k]) ^ iw[k]) | ((did & dm[k]) ^ dw[k]));
				tally[k0 + k] += hit;
				all[k] -= hit;
			}
		}
	}
	for (unsigned k = 0; k < n; k++)
		p->tally[CLASS_USER][k0 + k] += all[k];
}

/* Tallies one source that is not a bit mask at retirement.  extra: it has any_is, any_did or ports; a constant
 * where this is inlined. */
static inline __attribute__((always_inline)) void tally_stage(struct spmu *p, const struct spmu_batch *b, unsigned k,
	bool extra)
{
	const struct pmu_tally_source s = p->tally_source[k];
	bool any = s.ai | s.ad;
	bool retires = s.stage == STAGE_RETIRE && !pmu_squashed(s.stage, s.dm, s.dw);
	uint32_t ports = s.ports ? s.ports : UINT32_MAX, never = retires ? 0 : UINT32_MAX;
	unsigned stage = retires ? STAGE_COMPLETE : s.stage;	/* the masks say whether it retired */
	uint64_t all = 0;
	_Static_assert(SPMU_REC_UOP == 0, "kind is a part of `miss`");
	for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++) {
		uint64_t miss = ((r->is & s.im) ^ s.iw) | ((r->did & s.dm) ^ s.dw) | r->kind;
		bool hit = (miss == 0) & ((never == 0) | (pmu_offset(r, stage) != never));
		if (extra)
			hit &= ((any == 0) | (((r->is & s.ai) | (r->did & s.ad)) != 0)) &
				(ports >> (r->port < 16 ? r->port : 16) & 1);
		all += hit;
		if (__builtin_expect((r->cpl == 0) | (r->hw_thread != p->host.hw_thread), 0)) {
			p->tally[pmu_class(p, r)][k] += hit;
			all -= hit;
		}
	}
	p->tally[CLASS_USER][k] += all;
}

static void tally_one(struct spmu *p, const struct spmu_batch *b, unsigned k)
{
	const struct pmu_tally_source *s = &p->tally_source[k];
	if (s->until != STAGE_NONE || s->tagged | s->untagged) {
		for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++)
			if (r->kind == SPMU_REC_UOP && tally_match(p, b, s, r))
				p->tally[pmu_class(p, r)][k] += uop_part(b, r, s, 0, PMU_NEVER);
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
		unsigned tally = (e->cover == COVER_OWN ? 0u : e->cover == COVER_OTHER ? 2u : (unsigned)TALLY_ANY) +
			e->kernel;
		if (slot >= 0)
			p->tally[tally][slot] += clipped(e->begin, e->end, from, to);
	}
}

static void tally_all(struct spmu *p, const struct spmu_batch *b, bool collecting)
{
	unsigned k = 0, n = p->tally_masks;
	bool signals = true;
	if (p->tally_instructions && b->user_only) {	/* the core has counted them, and may have left records out */
		bool own = b->hw_threads ? b->hw_threads >> (p->host.hw_thread & 63) & 1 : !p->host.hw_thread;
		p->tally[b->count ? pmu_class(p, b->records) : own ? 0u : 2u][0] += b->instructions;
		k = 2;
	}
	do {	/* four sources at a time fit into registers; the first pass tallies the signals, too */
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
	bool here;	/* an interrupt was taken in this batch, so none can fall into an earlier one any more */
};

/* Tallies a segment: retirements by record, everything else by cycle. */
static void tally_segment(struct spmu *p, const struct spmu_batch *b, const struct bounds *g)
{
	if (!p->tallies)
		return;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP) {
			for (unsigned k = 0; k < p->tally_uops; k++) {
				const struct pmu_tally_source *s = &p->tally_source[k];
				if (!tally_match(p, b, s, r))
					continue;
				bool retires = s->stage == STAGE_RETIRE && !pmu_squashed(s->stage, s->dm, s->dw);
				p->tally[pmu_class(p, r)][k] += retires ? i >= g->record0 && i < g->record1
					: uop_part(b, r, s, g->cycle0, g->cycle1);
			}
			continue;
		}
		if (r->signal >= SPMU_SIG_COUNT)
			continue;
		const int16_t *slot = p->signal_slot[r->signal];
		uint64_t begin = b->base_cycle + r->begin, end = b->base_cycle + r->end,
			 *tally = p->tally[pmu_class(p, r)];
		uint64_t count = r->did > UINT32_MAX ? UINT32_MAX : r->did,
			 length = clipped(begin, end, g->cycle0, g->cycle1);
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
		if (pmu_in_set(p->qualified_signals, r->signal)) {
			const uint64_t value[PMU_FORMS] = { [FORM_BEGINS] = begins, [FORM_ENDS] = ends,
				[FORM_PENDING] = length,
				[FORM_VALUE] = pmu_signal_kind(r->signal) == SPMU_OCCUPANCY ? count * length
					: begins ? count : 0 };
			tally_qualified(p, r, tally, value);
		}
	}
	tally_pieces(p, g->cycle0, g->cycle1);
}

/* Unhalted cycles in [from, to) of the threads that the counter counts. */
static uint64_t cycles_seen(const struct spmu *p, const struct pmu_counter *c, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->pieces; i++)
		if (p->piece[i].signal == SPMU_SIG_CYCLES && pmu_piece_seen(p, c->who, &p->piece[i]))
			sum += clipped(p->piece[i].begin, p->piece[i].end, from, to);
	return sum;
}

/* Adds the tallies of the segment [from, to) to the counters. */
static void apply(struct spmu *p, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < p->model->counters; i++) {
		struct pmu_counter *c = &p->counter[i];
		if (c->mode == MODE_OFF || c->mode == MODE_RING)
			continue;
		const struct pmu_expr *x = c->expr;
		uint64_t sum = 0;
		for (unsigned t = 0; t < x->terms; t++) {
			unsigned slot = c->slot[t], who = c->who, base = 0;
			uint64_t n = 0;
			if (p->others && p->merged[slot] && who & WHO_OWN && who & WHO_OTHER) {
				base = TALLY_ANY;
				who = (who | who >> 2) & 3;
			}
			for (; who; who &= who - 1)
				n += p->tally[base + (unsigned)__builtin_ctz(who)][slot];
			sum += n * x->term[t].num;
		}
		if (c->mode == MODE_CYCLES && c->from > from)	/* a handler wrote it in a later cycle than `from` */
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
	for (unsigned k = 0; k < PMU_TALLIES; k++)
		memset(p->tally[k], 0, p->tallies * sizeof p->tally[k][0]);
}

/* ---- where counters overflow -------------------------------------------------------------------------------- */

/* First record in [from, count) at whose retirement counters act; count if none.  *due: set of these counters. */
static uint32_t first_retire_due(const struct spmu *p, const struct spmu_batch *b, uint32_t from, uint32_t *due)
{
	uint32_t first = b->count;
	*due = 0;
	for (unsigned k = 0; k < p->model->counters; k++) {
		const struct pmu_counter *c = &p->counter[k];
		uint64_t left = pmu_left(c);
		if (c->mode != MODE_RETIRE || !c->acts || from > first ||
			(uint64_t)c->max_step * (b->count - from) < left)
			continue;
		uint64_t sum = 0;
		const struct pmu_expr *x = c->expr;
		for (uint32_t i = from; i < b->count && i <= first; i++) {
			const struct spmu_record *r = &b->records[i];
			if (r->kind != SPMU_REC_UOP || !(c->who >> pmu_class(p, r) & 1) ||
			    (c->armed && b->base_cycle + r->retire < c->armed_from))
				continue;
			for (unsigned t = 0; t < x->terms; t++)
				sum += tally_match(p, b, &p->tally_source[c->slot[t]], r) ? x->term[t].num : 0;
			if (sum < left)
				continue;
			*due = i < first ? 1u << k : *due | 1u << k;
			first = i;
			break;
		}
	}
	return first;
}

/* First cycle at or after `from` in which MODE_CYCLES counters act.  *due: set of these counters. */
static uint64_t first_cycle_due(const struct spmu *p, uint64_t from, uint32_t *due)
{
	uint64_t first = PMU_NEVER;
	*due = 0;
	for (unsigned k = 0; k < p->model->counters; k++) {
		const struct pmu_counter *c = &p->counter[k];
		if (c->mode != MODE_CYCLES || !c->acts || pmu_quiet(p, c))
			continue;
		const struct pmu_term *t = &c->expr->term[0];
		__extension__ unsigned __int128 need = (unsigned __int128)pmu_left(c) * t->den - c->remainder;
		uint64_t left = (uint64_t)((need + t->num - 1) / t->num);	/* cycles to go, at least 1 */
		for (size_t i = 0; i < p->pieces; i++) {
			const struct pmu_piece *e = &p->piece[i];
			uint64_t begin = e->begin > from ? e->begin : from;
			begin = begin > c->from ? begin : c->from;
			if (c->armed && begin < c->armed_from)
				begin = c->armed_from;
			if (e->signal != SPMU_SIG_CYCLES || begin >= e->end || !pmu_piece_seen(p, c->who, e))
				continue;
			if (left <= e->end - begin) {
				if (begin + left - 1 <= first) {
					*due = begin + left - 1 < first ? 1u << k : *due | 1u << k;
					first = begin + left - 1;
				}
				break;
			}
			left -= e->end - begin;
		}
	}
	return first;
}

/* May a counter act within this batch?  A quick upper bound: cycles are estimated from the lengths of the
 * CYCLES records. */
static bool may_act(const struct spmu *p, const struct spmu_batch *b)
{
	uint64_t span = 0;
	for (unsigned k = 0; k < p->model->counters; k++) {
		const struct pmu_counter *c = &p->counter[k];
		if (!c->acts || (c->mode != MODE_RETIRE && c->mode != MODE_CYCLES))
			continue;
		if (c->mode == MODE_CYCLES) {
			if (!span)
				for (uint32_t i = 0; i < b->count; i++)
					if (b->records[i].kind != SPMU_REC_UOP &&
						b->records[i].signal == SPMU_SIG_CYCLES &&
						b->records[i].end > b->records[i].begin)
						span += b->records[i].end - b->records[i].begin;
			const struct pmu_term *t = &c->expr->term[0];
			if ((span + 1) * (t->num / t->den + 1) >= pmu_left(c))
				return true;
		} else if ((uint64_t)c->max_step * b->count >= pmu_left(c)) {
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
	if (p->pending && limit > pmu_arrival(p))	/* cycles after it may find other registers, so they wait */
		limit = pmu_arrival(p) + 1;
	pmu_ring_settle(p, g->cycle1 < limit ? g->cycle1 : limit);
	if (p->watching)
		pmu_ds_segment(p, b, g->record0, g->record1);
	if (p->pushout)
		pmu_pushout_segment(p, b, g->record1);
	g->record0 = g->record1;
	g->cycle0 = g->cycle1;
}

/* Is this hardware thread the one that a PMI interrupts? */
static bool of_thread(const struct spmu *p, unsigned to, unsigned thread)
{
	return (p->threads == 1 && !p->others) || thread == to;
}

/* May an interrupt be taken before this uop? */
static bool interruptible(const struct spmu *p, const struct spmu_record *r)
{
	return r->is & SPMU_IS(INST_BEGIN) && (!p->host.pmi_line || r->did & SPMU_DID(LINE_HEAD));
}

/* First record at or after `from` that begins an instruction of thread `to` and retires after `cycle`; count if none.
 * *before: when the thread's last uop before it retired. */
static uint32_t first_unretired(const struct spmu *p, const struct spmu_batch *b, uint32_t from, uint64_t cycle,
	unsigned to, uint64_t *before)
{
	*before = p->last_retire[to];
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		uint64_t retire = b->base_cycle + r->retire;
		if (!of_thread(p, to, pmu_thread(p, r->hw_thread)))
			continue;
		if (i >= from && interruptible(p, r) && retire > cycle)
			return i;
		if (retire > *before)
			*before = retire;
	}
	return b->count;
}

/* First record at or after `from` that retires after `cycle`; count if none. */
static uint32_t first_behind(const struct spmu_batch *b, uint32_t from, uint64_t cycle)
{
	for (uint32_t i = from; i < b->count; i++)
		if (b->records[i].kind == SPMU_REC_UOP && b->records[i].did & SPMU_DID(RETIRED) &&
			b->base_cycle + b->records[i].retire > cycle)
			return i;
	return b->count;
}

/* Number of instructions of thread `to` in the history that retired after `cycle`; they are its last ones.  *at:
 * index of the first of them. */
static size_t history_behind(const struct spmu *p, uint64_t cycle, unsigned to, size_t *at)
{
	size_t n = 0;
	for (size_t i = p->histories; i-- > 0;) {
		const bool its = of_thread(p, to, p->history[i].thread);
		if (its && p->history[i].retire <= cycle)
			break;
		if (its) {
			*at = i;
			n++;
		}
	}
	return n;
}

/* A place at which counters act.  set: the counters; record, next: as in struct pmu_moment; bts: a BTS interrupt, of
 * this thread. */
struct due { uint64_t cycle; uint32_t set, record, next; unsigned thread; bool bts; };

/* The next place in the rest of the batch at which counters act, up to cycle `last` and before record `end`,
 * where an interrupt is about to be taken.  .cycle PMU_NEVER: none.  Counts the ring's cycles up to that place. */
static struct due next_due(struct spmu *p, const struct spmu_batch *b, const struct bounds *g, uint64_t last,
	uint32_t end)
{
	struct due d = { .cycle = PMU_NEVER, .record = b->count };
	uint32_t by_record_set, by_cycle_set;
	uint32_t i = first_retire_due(p, b, g->record0, &by_record_set);
	unsigned bts_thread;
	uint32_t bts = p->watching ? pmu_bts_due(p, b, g->record0, &bts_thread) : b->count;
	if (bts < i) {
		i = bts;
		by_record_set = 0;
	}
	uint32_t pushout = p->pushout ? pmu_pushout_due(p, b) : b->count;
	if (pushout < i) {
		i = pushout;
		by_record_set = 0;
	}
	if (i >= end)		/* it may retire in cycle `last`, too, but after the interrupt */
		i = b->count;
	uint64_t by_record = i < b->count ? b->base_cycle + b->records[i].retire : PMU_NEVER;
	uint64_t by_cycle = first_cycle_due(p, g->cycle0, &by_cycle_set);
	uint64_t in_order = by_record < by_cycle ? by_record : by_cycle;
	uint64_t limit = final_cycle(p, b);
	if (in_order > last)
		in_order = PMU_NEVER;
	if (in_order != PMU_NEVER && in_order < limit)
		limit = in_order + 1;
	uint64_t ring_last = last == PMU_NEVER && p->pending ? pmu_arrival(p) : last;
	if (ring_last < limit)
		limit = ring_last + 1;
	uint64_t by_ring = pmu_ring_run(p, limit, true);
	d.cycle = by_ring < in_order ? by_ring : in_order;
	if (d.cycle == PMU_NEVER)
		return d;
	d.set = (by_ring == d.cycle ? p->ring_due : 0) | (by_cycle == d.cycle ? by_cycle_set : 0);
	if (by_record == d.cycle) {
		d.set |= by_record_set;
		d.bts = i == bts;	/* a pushout counter that overflows here requests its interrupt itself */
		d.thread = d.bts ? bts_thread : 0;
		d.record = i;
		d.next = i + 1;
	} else {
		d.next = first_behind(b, g->record0, d.cycle);
		if (d.next > end)
			d.next = end;
	}
	return d;
}

/* Registers change within a batch, with effect from cycle p->now on: change_begin before, change_end after. */
struct change { uint64_t had[2]; uint8_t mode[PMU_MAX_COUNTERS]; };

static void change_begin(struct spmu *p, struct change *c, uint64_t now)
{
	c->had[0] = p->intervals[0];
	c->had[1] = p->intervals[1];
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
		c->mode[i] = (uint8_t)p->counter[i].mode;
	p->in_pmi = true;
	p->now = now;
}

static void change_end(struct spmu *p, const struct spmu_batch *b, const struct bounds *g, const struct change *c)
{
	bool changed = false, fresh = false;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
		changed |= c->mode[i] != p->counter[i].mode && p->counter[i].ring;
	if (changed && p->ring.first < p->now) {	/* up to now, the old enable bits hold */
		uint8_t list[PMU_MAX_COUNTERS];
		unsigned lists = p->ring_counters;
		memcpy(list, p->ring_counter, sizeof list);
		p->ring_counters = 0;
		for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
			if (c->mode[i] == MODE_RING && p->counter[i].ring)
				p->ring_counter[p->ring_counters++] = (uint8_t)i;
		pmu_ring_settle(p, p->now);
		memcpy(p->ring_counter, list, sizeof list);
		p->ring_counters = lists;
	}
	p->in_pmi = false;
	if (p->tagging && p->model->family->tag)
		p->model->family->tag(p, b, p->tag);
	uint64_t added[2] = { p->intervals[0] & ~c->had[0], p->intervals[1] & ~c->had[1] };
	collect(p, b, added);
	if (p->pushout)
		pmu_pushout_again(p, b, g->record0);
	for (unsigned k = 0; k < p->ring.channels; k++)
		fresh |= p->ring.channel[k].fresh;
	if (fresh)
		pmu_ring_feed(p, b, true, g->cycle0);
}

/* Handles the overflows at a place. */
static void act(struct spmu *p, const struct spmu_batch *b, struct bounds *g, const struct due *d)
{
	const struct pmu_moment at = { .batch = b, .cycle = d->cycle, .record = d->record, .next = d->next };
	struct change c;
	bool changed = false;
	change_begin(p, &c, d->cycle + 1);
	for (uint32_t set = d->set; set; set &= set - 1) {
		unsigned i = (unsigned)__builtin_ctz(set);
		bool wrapped = p->wrapped >> i & 1, fired = p->counter[i].armed | p->counter[i].every;
		p->wrapped &= ~(1u << i);
		changed |= p->model->family->acts(p, i, wrapped, fired, &at);
	}
	if (d->bts && p->model->family->ds_pmi) {
		unsigned was = pmu_on(p, d->thread);
		if (pmu_bts_reached(p))
			changed |= p->model->family->ds_pmi(p, false, &at);
		pmu_on(p, was);
	}
	if (changed)
		pmu_plan(p);	/* cannot fail: it only starts programmed counters and stops counters, without memory */
	change_end(p, b, g, &c);
}

/* Finds where the PMI to thread `to` is taken.  False: not in this batch. */
static bool pmi_place_of(const struct spmu *p, const struct spmu_batch *b, const struct bounds *g, unsigned to,
	struct spmu_pmi *pmi)
{
	uint64_t before;
	const uint64_t arrival = p->arrival[to];
	size_t at = 0;
	uint32_t record = first_unretired(p, b, g->record0, arrival, to, &before);
	pmi->hw_thread = !to ? p->host.hw_thread
		: p->threads > 1 ? (uint8_t)(p->host.hw_thread ^ to)
		: record < b->count ? b->records[record].hw_thread
		: !p->host.hw_thread;
	size_t behind = g->here ? 0 : history_behind(p, arrival, to, &at);
	if (record == b->count && !behind && !b->is_last)
		return false;
	if (behind && record == b->count && !b->is_last)	/* the thread is ahead, and this batch is another's */
		record = first_behind(b, g->record0, arrival);
	*pmi = (struct spmu_pmi){ .overflow_cycle = p->overflow_cycle[to], .record = record,
		.hw_thread = pmi->hw_thread };
	if (behind) {
		pmi->ip = p->history[at].ip;
		pmi->behind = (uint32_t)behind;
		pmi->cycle = p->history[at].before > arrival ? p->history[at].before : arrival;
	} else {
		pmi->cycle = before > arrival ? before : arrival;
		pmi->ip = record < b->count ? b->records[record].ip : p->last_ip;
		for (uint32_t i = b->count; record == b->count && i-- > 0;)
			if (b->records[i].kind == SPMU_REC_UOP && b->records[i].did & SPMU_DID(RETIRED)) {
				pmi->ip = b->records[i].ip;
				break;
			}
	}
	return true;
}

/* Finds the next place at which a pending PMI is taken, and the thread (*to) that it interrupts.  False: none in this
 * batch. */
static bool pmi_place(struct spmu *p, const struct spmu_batch *b, const struct bounds *g, struct spmu_pmi *pmi,
	unsigned *to)
{
	bool found = false;
	for (unsigned set = p->pmi_to; set; set &= set - 1) {
		struct spmu_pmi one = { 0 };
		unsigned thread = (unsigned)__builtin_ctz(set);
		if (!pmi_place_of(p, b, g, thread, &one) ||
			(found && (one.record > pmi->record || (one.record == pmi->record && !one.behind))))
			continue;
		*pmi = one;
		*to = thread;
		found = true;
	}
	return found;
}

/* Takes the PMI to thread `to`.  False: the stream ends here. */
static bool take(struct spmu *p, const struct spmu_batch *b, struct bounds *g, struct spmu_pmi *pmi, unsigned to)
{
	bool end = pmi->record == b->count && b->is_last;
	p->pmi_to &= (uint8_t)~(1u << to);
	p->pending = p->pmi_to != 0;
	/* nobody to take it: lost */
	if (!p->host.pmi || (p->model->family->lvt && *pmu_lvt(p, to) & PMU_LVT_MASKED)) {
		if (p->threads == 1)
			p->lost_in = p->batches;
		return true;
	}
	p->effects++;
	g->here = !pmi->behind;
	advance(p, b, g, pmi->record, end ? PMU_NEVER : pmi->cycle + 1);
	pmi->status = p->model->family->status ? p->model->family->status(p) : 0;
	if (p->model->family->lvt == 2)
		*pmu_lvt(p, to) |= PMU_LVT_MASKED;
	unsigned was = p->threads > 1 ? pmu_on(p, to) : p->on;
	pmu_lbr_interrupt(p);
	struct change c;
	/* NEVER: the end of the stream */
	change_begin(p, &c, g->cycle0 == PMU_NEVER ? p->ring.first : g->cycle0);
	p->host.pmi(p->host.context, p, pmi, b);
	pmu_on(p, was);
	change_end(p, b, g, &c);
	return !end;
}

static void consume_carefully(struct spmu *p, const struct spmu_batch *b)
{
	struct bounds g = { 0 };
	struct spmu_pmi pmi = { 0 };
	unsigned to = 0;
	const uint64_t effects = p->effects, free = PMU_ACTS_FREE + PMU_ACTS_RECORD * (uint64_t)b->count;
	pmu_ring_feed(p, b, false, 0);
	for (unsigned n = 0; n < PMU_ACTS_LAST && n < free + PMU_ACTS_EFFECT * (p->effects - effects); n++) {
		p->steps += b->count + p->pieces;
		if (p->late != PMU_NEVER) {
			struct due d = { .cycle = p->late, .set = p->late_due, .record = b->count };
			d.next = first_behind(b, g.record0, d.cycle);
			p->late = PMU_NEVER;
			p->late_due = 0;
			act(p, b, &g, &d);
		}
		bool due = p->pending && pmi_place(p, b, &g, &pmi, &to);
		struct due d = next_due(p, b, &g, due && pmi.record < b->count ? pmi.cycle : PMU_NEVER,
			due && !pmi.behind ? pmi.record : b->count);
		if (d.cycle != PMU_NEVER) {
			advance(p, b, &g, d.next, d.cycle + 1);
			act(p, b, &g, &d);
		} else if (!due || !take(p, b, &g, &pmi, to)) {
			break;
		}
	}
	if (g.record0 < b->count || g.cycle0 != PMU_NEVER)
		advance(p, b, &g, b->count, PMU_NEVER);
}

/* Keeps the instructions that an overflow may interrupt which is found in a later batch. */
static void remember(struct spmu *p, const struct spmu_batch *b)
{
	size_t n = 0;
	uint64_t before[PMU_THREADS];
	memcpy(before, p->last_retire, sizeof before);
	while (n < p->histories && p->history[n].retire < b->watermark)
		n++;
	memmove(p->history, p->history + n, (p->histories - n) * sizeof *p->history);
	p->histories -= n;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		uint64_t retire = b->base_cycle + r->retire;
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)))
			continue;
		const unsigned thread = pmu_thread(p, r->hw_thread);
		uint64_t previous = before[thread];
		before[thread] = retire > previous ? retire : previous;
		if (!interruptible(p, r) || retire < b->watermark)
			continue;
		if (p->histories == PMU_HISTORY) {
			memmove(p->history, p->history + PMU_HISTORY / 2, PMU_HISTORY / 2 * sizeof *p->history);
			p->histories = PMU_HISTORY / 2;
		}
		p->history[p->histories].ip = r->ip;
		p->history[p->histories].before = previous;
		p->history[p->histories].thread = (uint8_t)thread;
		p->history[p->histories++].retire = retire;
	}
}

static void note_last(struct spmu *p, const struct spmu_batch *b)
{
	unsigned seen = 0, all = p->others ? 1u << PMU_THREADS : 1;
	for (uint32_t i = b->count; i-- > 0 && seen < all;) {
		const struct spmu_record *r = &b->records[i];
		unsigned thread = pmu_thread(p, r->hw_thread);
		if (r->kind != SPMU_REC_UOP || !(r->did & SPMU_DID(RETIRED)) || seen >> thread & 1)
			continue;
		if (!seen)
			p->last_ip = r->ip;
		if (b->base_cycle + r->retire > p->last_retire[thread])
			p->last_retire[thread] = b->base_cycle + r->retire;
		seen |= 1u << thread;
	}
}

/* Consumes a batch of more than SPMU_BATCH_MAX records in parts. */
static void consume_pieces(struct spmu *p, const struct spmu_batch *b)
{
	for (uint32_t at = 0; at < b->count; at += SPMU_BATCH_MAX) {
		bool last = b->count - at <= SPMU_BATCH_MAX;
		struct spmu_batch piece = *b;
		piece.records = b->records + at;
		piece.count = last ? b->count - at : SPMU_BATCH_MAX;
		piece.watermark = last ? b->watermark : b->base_cycle;
		piece.is_last = last && b->is_last;
		piece.user_only = 0;	/* `instructions` is that of the whole batch */
		spmu_consume(p, &piece);
		if (last)
			break;
	}
}

/* The cycle at which the clock of a stream that ends with this batch stands still; PMU_NEVER: the batch has no CYCLES
 * that would say it.  The last uops may retire in that cycle, behind the last interval of CYCLES. */
static uint64_t last_clock(const struct spmu_batch *b)
{
	uint64_t end = PMU_NEVER;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		const uint64_t cycle = b->base_cycle + r->end;
		if (r->kind != SPMU_REC_UOP && r->signal == SPMU_SIG_CYCLES && (end == PMU_NEVER || cycle > end))
			end = cycle;
	}
	return end != PMU_NEVER && b->watermark > end && b->watermark <= PMU_CYCLE_LAST ? b->watermark : end;
}

/* A stream that had ended goes on: clocks ticked meanwhile. */
static void stream_resumes(struct spmu *p)
{
	for (unsigned i = 0; i < p->model->counters; i++) {
		struct pmu_counter *c = &p->counter[i];
		const uint64_t n = c->withheld;
		c->withheld = 0;
		if (!n || c->mode != MODE_RING || !pmu_add(p, i, n) || !c->acts)
			continue;
		p->late = p->late == PMU_NEVER ? p->ends : p->late;
		p->late_due |= 1u << i;
	}
}

void spmu_consume(struct spmu *p, const struct spmu_batch *b)
{
	if (p->in_pmi || b->base_cycle > PMU_CYCLE_LAST)
		return;		/* called from a handler, or a cycle beyond any real run */
	if (b->count > SPMU_BATCH_MAX) {
		consume_pieces(p, b);
		return;
	}
	if (!p->started) {
		p->started = true;
		p->floor = b->base_cycle;
		if (p->ring.first < b->base_cycle)
			p->ring.first = p->ring.end = p->ring.counted = b->base_cycle;
	}
	p->pieces = 0;
	p->batches++;
	if (p->ends != PMU_NEVER)
		stream_resumes(p);
	p->ends = b->is_last ? last_clock(b) : PMU_NEVER;
	if (!p->others && b->hw_threads & ~(UINT64_C(1) << (p->host.hw_thread & 63)))
		cover_others(p);
	if (p->tagging && p->model->family->tag)
		p->model->family->tag(p, b, p->tag);
	if (p->ds.rip_at | p->ds.waiting)
		pmu_ds_begin(p, b);
	bool pushout = p->pushout && pmu_pushout_begin(p, b);
	unsigned thread;
	bool rings = p->ring.channels > 0, bts = p->watching && pmu_bts_due(p, b, 0, &thread) < b->count,
	     segmented = false;
	if (p->pending && p->threads > 1)
		pmu_drop_masked(p);
	if (p->live || rings || p->pending || p->late != PMU_NEVER || bts || pushout) {
		if (!rings && !p->pending && p->late == PMU_NEVER && !bts && !pushout && !may_act(p, b)) {
			clear_tallies(p);
			tally_all(p, b, true);
			apply(p, 0, PMU_NEVER);
		} else {
			collect(p, b, p->intervals);
			consume_carefully(p, b);
			segmented = true;
		}
	}
	if (p->watching && !segmented)
		pmu_ds_segment(p, b, 0, b->count);
	if (p->pushout && !segmented)
		pmu_pushout_segment(p, b, b->count);
	if (p->keep_history)
		remember(p, b);
	else
		p->histories = 0;
	note_last(p, b);
	if (b->watermark > p->floor && b->watermark <= PMU_CYCLE_LAST)
		p->floor = b->watermark;
	cover_prune(p, p->floor);
}
