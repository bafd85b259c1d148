/* SPDX-License-Identifier: BSD-2-Clause
 * Counting: every counter counts a batch, and interrupts are taken at their exact place (pmu_pmi.c finds it).
 *
 * A batch in which no interrupt can be requested or taken is counted in one pass (pmu_tally.c).  Any other batch is
 * cut into segments at boundaries (record, cycle).  Uops that retire before the record, and everything else that
 * happens before the cycle, are counted with the registers as they were; the rest with the registers as the handler
 * (or a freeze) left them.  A boundary is where an interrupt is taken or counters freeze.
 *
 * Source: SDM vol. 3B, "Performance Monitoring", section "Architectural Performance Monitoring" (version 4:
 * streamlined freeze).  Simplified: the handler takes no time (the core models what a PMI costs).
 *
 * A batch costs time in proportion to its records, the interrupts taken and the PEBS records written, whatever the
 * registers say.  So a counter whose overflow has no effect (pmu_quiet) is not looked at; and after a number of
 * overflows in one batch that no program reaches (PMU_ACTS_FREE and the constants after it) the rest of them merge,
 * and are handled with the next batch.
 */
#include "pmu_count.h"
#include <string.h>

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
				sum += pmu_tally_match(p, b, &p->tally_source[c->slot[t]], r) ? x->term[t].num : 0;
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
	mark = mark > p->passed ? mark : p->passed;
	return end > mark ? end : mark;
}

/* Counts up to the boundary (record, cycle) and makes it the next segment's beginning. */
static void advance(struct spmu *p, const struct spmu_batch *b, struct pmu_bounds *g, uint32_t record, uint64_t cycle)
{
	g->record1 = record > g->record0 ? record : g->record0;
	g->cycle1 = cycle > g->cycle0 ? cycle : g->cycle0;
	pmu_tally_segment(p, b, g);
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

/* A place at which counters act.  set: the counters; record, next: as in struct pmu_moment; bts: a BTS interrupt, of
 * this thread. */
struct due { uint64_t cycle; uint32_t set, record, next; unsigned thread; bool bts; };

/* The next place in the rest of the batch at which counters act, up to cycle `last` and before record `end`,
 * where an interrupt is about to be taken.  .cycle PMU_NEVER: none.  Counts the ring's cycles up to that place. */
static struct due next_due(struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g, uint64_t last,
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
		d.next = pmu_first_behind(b, g->record0, d.cycle);
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

/* Counts with the modes from before the change. */
static void settle_modes(struct spmu *p, const struct change *c)
{
	uint8_t list[PMU_MAX_COUNTERS];
	const unsigned lists = p->ring_counters;
	const uint64_t known = p->threads > 1 ? pmu_known(p) : PMU_NEVER;
	uint32_t stopped = 0;
	memcpy(list, p->ring_counter, sizeof list);
	p->ring_counters = 0;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++) {
		struct pmu_counter *counter = &p->counter[i];
		if (c->mode[i] == MODE_RING && counter->ring)
			p->ring_counter[p->ring_counters++] = (uint8_t)i;
		if (p->now <= known || c->mode[i] == counter->mode || !counter->ring)
			continue;
		if (c->mode[i] == MODE_RING)
			stopped |= 1u << i;
		else if (counter->from < p->now)
			counter->from = p->now;
	}
	pmu_ring_settle(p, p->now < known ? p->now : known);
	pmu_ring_ahead(p, stopped, p->now);
	memcpy(p->ring_counter, list, sizeof list);
	p->ring_counters = lists;
}

static void change_end(struct spmu *p, const struct spmu_batch *b, const struct pmu_bounds *g, const struct change *c)
{
	bool changed = false, fresh = false;
	for (unsigned i = 0; i < PMU_MAX_COUNTERS; i++)
		changed |= c->mode[i] != p->counter[i].mode && p->counter[i].ring;
	if (changed && p->ring.first < p->now)	/* up to now, the old enable bits hold */
		settle_modes(p, c);
	p->in_pmi = false;
	if (p->tagging && p->model->family->tag)
		p->model->family->tag(p, b, p->tag);
	uint64_t added[2] = { p->intervals[0] & ~c->had[0], p->intervals[1] & ~c->had[1] };
	pmu_cover_collect(p, b, added);
	if (p->pushout)
		pmu_pushout_again(p, b, g->record0);
	for (unsigned k = 0; k < p->ring.channels; k++)
		fresh |= p->ring.channel[k].fresh;
	if (fresh)
		pmu_ring_feed(p, b, true, g->cycle0);
}

/* Handles the overflows at a place. */
static void act(struct spmu *p, const struct spmu_batch *b, struct pmu_bounds *g, const struct due *d)
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

/* Takes the PMI to thread `to`.  False: the stream ends here, and no other is pending. */
static bool take(struct spmu *p, const struct spmu_batch *b, struct pmu_bounds *g, struct spmu_pmi *pmi, unsigned to)
{
	const bool left = p->left >> to & 1, end = pmi->record == b->count && b->is_last && !left;
	p->pmi_to &= (uint8_t)~(1u << to);
	p->pending = p->pmi_to != 0;
	/* nobody to take it: lost */
	if (!p->host.pmi || (p->model->family->lvt && *pmu_lvt(p, to) & PMU_LVT_MASKED) ||
		(left && pmi->overflow_cycle >= p->reached[to])) {
		p->lost_to = (uint8_t)((p->lost_in == p->batches ? p->lost_to : 0) | 1u << to);
		p->lost_in = p->batches;
		return true;
	}
	p->effects++;
	p->lost_to = 0;		/* the handler may unmask the other thread's interrupt */
	g->here |= pmi->behind ? 0 : 1u << to;
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
	return !end || p->pending;	/* another thread's comes at the end, too */
}

static void consume_carefully(struct spmu *p, const struct spmu_batch *b)
{
	struct pmu_bounds g = { 0 };
	struct spmu_pmi pmi = { 0 };
	unsigned to = 0;
	const uint64_t effects = p->effects, free = PMU_ACTS_FREE + PMU_ACTS_RECORD * (uint64_t)b->count;
	bool merge;	/* too many overflows */
	pmu_ring_feed(p, b, false, 0);
	for (unsigned n = 0;; n++) {
		merge = n >= PMU_ACTS_LAST || n >= free + PMU_ACTS_EFFECT * (p->effects - effects);
		if (merge)
			break;
		p->steps += b->count + p->pieces;
		if (p->late != PMU_NEVER) {
			struct due d = { .cycle = p->late, .set = p->late_due, .record = b->count };
			d.next = pmu_first_behind(b, g.record0, d.cycle);
			p->late = PMU_NEVER;
			p->late_due = 0;
			act(p, b, &g, &d);
		}
		bool due = p->pending && pmu_pmi_place(p, b, &g, &pmi, &to);
		struct due d = next_due(p, b, &g, due && pmi.record < b->count ? pmi.cycle : PMU_NEVER,
			due && !pmi.behind ? pmi.record : b->count);
		if (d.cycle != PMU_NEVER) {
			advance(p, b, &g, d.next, d.cycle + 1);
			act(p, b, &g, &d);
		} else if (!due || !take(p, b, &g, &pmi, to)) {
			break;
		}
	}
	const bool ended = g.cycle0 == PMU_NEVER;
	if (g.record0 < b->count || !ended)
		advance(p, b, &g, b->count, PMU_NEVER);
	if (merge || ended)	/* the batch, or the stream, ends here for the interrupts, and not for the counts */
		pmu_ring_settle(p, final_cycle(p, b));
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
	if (p->threads > 1)
		pmu_threads_begin(p, b);
	if (p->ends != PMU_NEVER)
		stream_resumes(p);
	p->ends = b->is_last ? last_clock(b) : PMU_NEVER;
	if (!p->others && b->hw_threads & ~(UINT64_C(1) << (p->host.hw_thread & 63)))
		pmu_cover_others(p);
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
			pmu_tally_batch(p, b);
		} else {
			pmu_cover_collect(p, b, p->intervals);
			consume_carefully(p, b);
			segmented = true;
		}
	}
	if (p->watching && !segmented)
		pmu_ds_segment(p, b, 0, b->count);
	if (p->pushout && !segmented)
		pmu_pushout_segment(p, b, b->count);
	pmu_pmi_remember(p, b);
	if (p->threads > 1)
		pmu_threads_remember(p, b);
	if (b->watermark > p->floor && b->watermark <= PMU_CYCLE_LAST)
		p->floor = b->watermark;
	pmu_cover_prune(p, p->floor);
}
