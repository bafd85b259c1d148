/* SPDX-License-Identifier: BSD-2-Clause
 * Sums of a batch, or of a segment of it, by source and by class of thread (struct spmu.tally), and what the counters
 * get of them.
 *
 * A whole batch is one pass over its records, with up to four bit masks in registers; sources that look at more than
 * masks at retirement take a pass each.  A segment asks of each record on which side of the boundaries it is, and is
 * slower.  Counters that count by the cycle are pmu_ring.c's.
 */
#include "pmu_count.h"
#include <string.h>

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
		pmu_cover_record(p, b, r);
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
			if (r->kind == SPMU_REC_UOP && pmu_tally_match(p, b, s, r))
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
		unsigned tally = (e->cover == COVER_ANY ? (unsigned)TALLY_ANY : 2u * e->cover) + e->kernel;
		if (slot >= 0)
			p->tally[tally][slot] += clipped(e->begin, e->end, from, to);
	}
}

static void tally_all(struct spmu *p, const struct spmu_batch *b, bool collecting)
{
	unsigned k = 0, n = p->tally_masks;
	bool signals = true;
	if (p->tally_instructions && b->user_only) {	/* the core has counted them, and may have left records out */
		const bool own = b->hw_threads >> (p->host.hw_thread & 63) & 1;
		const unsigned thread = pmu_thread(p, own ? p->host.hw_thread
			: b->hw_threads ? (unsigned)__builtin_ctzll(b->hw_threads) : 0);
		p->tally[b->count ? pmu_class(p, b->records) : 2 * thread + (b->user_only == 2)][0] += b->instructions;
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

static void tally_segment(struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g)
{
	if (!p->tallies)
		return;
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP) {
			for (unsigned k = 0; k < p->tally_uops; k++) {
				const struct pmu_tally_source *s = &p->tally_source[k];
				if (!pmu_tally_match(p, b, s, r))
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
			if (p->others && p->merged[slot] && pmu_several(who)) {	/* pmu_everyone */
				base = TALLY_ANY;
				who = 3;
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
	for (unsigned k = 0; k < PMU_TALLIES; k = k == 2 * p->last_thread + 1 ? TALLY_ANY : k + 1)
		memset(p->tally[k], 0, p->tallies * sizeof p->tally[k][0]);
}

void pmu_tally_batch(struct spmu *p, const struct spmu_batch *b)
{
	clear_tallies(p);
	tally_all(p, b, true);
	apply(p, 0, PMU_NEVER);
}

void pmu_tally_segment(struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g)
{
	clear_tallies(p);
	if (!g->record0 && !g->cycle0 && g->record1 == b->count && g->cycle1 == PMU_NEVER)
		tally_all(p, b, false);
	else
		tally_segment(p, b, g);
	apply(p, g->cycle0, g->cycle1);
}
