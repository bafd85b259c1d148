/* SPDX-License-Identifier: BSD-2-Clause
 * Increments cycle by cycle, for CMASK, INV, EDGE, cycles(...) and for interrupts on events that come out of order.
 *
 * Each channel holds one quantity for each cycle: how many uops met a predicate at a stage, or how many entries
 * a queue held.  Batches enter amounts (for intervals and occupancies: changes of a level) at cycles of a ring.
 * A cycle is counted when the watermark has passed it; the core runs in it if an interval of CYCLES covers it.
 * A stretch without entries is counted in one step, however long it is.
 * Entries beyond the ring wait in a list.  Ring and list grow up to a limit; beyond it, an entry moves to the
 * ring's last cycle.  That takes a batch with many thousand entries more than 65536 cycles beyond its watermark.
 * An entry below the first open cycle (after a register write has settled that cycle) moves to the first open
 * cycle, so that sums stay right.
 */
#include "pmu_internal.h"
#include <stdlib.h>
#include <string.h>

void pmu_ring_release(struct pmu_ring *g)
{
	for (unsigned i = 0; i < g->channels; i++)
		free(g->channel[i].entry);
	free(g->touched);
	free(g->far);
}

static bool ring_grow(struct pmu_ring *g)
{
	uint64_t room = 2 * g->cycles;
	int64_t *entry[PMU_MAX_CHANNELS];
	if (room > PMU_RING_LAST)
		return false;
	uint64_t *touched = calloc(room / 64, sizeof *touched);
	unsigned n = 0;
	while (touched && n < g->channels && (entry[n] = calloc(room, sizeof **entry)))
		n++;
	if (!touched || n < g->channels) {
		while (n)
			free(entry[--n]);
		free(touched);
		return false;
	}
	for (uint64_t c = g->first; c < g->end; c++) {
		uint64_t from = c & (g->cycles - 1), to = c & (room - 1);
		if (!(g->touched[from >> 6] >> (from & 63) & 1))
			continue;
		touched[to >> 6] |= UINT64_C(1) << (to & 63);
		for (unsigned i = 0; i < g->channels; i++)
			entry[i][to] = g->channel[i].entry[from];
	}
	for (unsigned i = 0; i < g->channels; i++) {
		free(g->channel[i].entry);
		g->channel[i].entry = entry[i];
	}
	free(g->touched);
	g->touched = touched;
	g->cycles = room;
	return true;
}

/* The cycle up to which an entry says what is counted.  One that ends a level at a cycle says nothing about that cycle:
 * the next batch may go on there. */
static inline uint64_t counted_to(uint64_t cycle, int64_t amount)
{
	return cycle + (amount >= 0);
}

/* The far list is a binary heap by cycle, so that an entry costs the logarithm of the list's length. */
static void far_sink(struct pmu_ring *g, size_t i)
{
	struct pmu_far moving = g->far[i];
	for (size_t k; (k = 2 * i + 1) < g->fars; i = k) {
		k += k + 1 < g->fars && g->far[k + 1].cycle < g->far[k].cycle;
		if (g->far[k].cycle >= moving.cycle)
			break;
		g->far[i] = g->far[k];
	}
	g->far[i] = moving;
}

void pmu_far_order(struct pmu_ring *g)
{
	g->far_end = 0;
	for (size_t i = 0; i < g->fars; i++)
		if (counted_to(g->far[i].cycle, g->far[i].amount) > g->far_end)
			g->far_end = counted_to(g->far[i].cycle, g->far[i].amount);
	for (size_t i = g->fars / 2; i-- > 0;)
		far_sink(g, i);
}

static bool far_push(struct pmu_ring *g, struct pmu_far entry)
{
	if (g->fars == g->far_room && g->far_room < PMU_FAR_LAST) {
		size_t room = g->far_room ? 2 * g->far_room : 256;
		struct pmu_far *far = realloc(g->far, room * sizeof *far);
		if (far) {
			g->far = far;
			g->far_room = room;
		}
	}
	if (g->fars == g->far_room)
		return false;
	size_t i = g->fars++;
	for (; i && g->far[(i - 1) / 2].cycle > entry.cycle; i = (i - 1) / 2)
		g->far[i] = g->far[(i - 1) / 2];
	g->far[i] = entry;
	if (g->fars == 1 || counted_to(entry.cycle, entry.amount) > g->far_end)
		g->far_end = counted_to(entry.cycle, entry.amount);
	return true;
}

static __attribute__((noinline)) void enter_anywhere(struct pmu_ring *g, unsigned channel, uint64_t cycle,
	int64_t amount)
{
	if (cycle < g->first)
		cycle = g->first;
	while (cycle - g->first >= g->cycles && cycle - g->first < PMU_RING_LAST && ring_grow(g))
		;
	if (cycle - g->first >= g->cycles) {
		if (far_push(g, (struct pmu_far){ cycle, amount, channel }))
			return;
		cycle = g->first + g->cycles - 1;
	}
	uint64_t at = cycle & (g->cycles - 1);
	g->channel[channel].entry[at] += amount;
	g->touched[at >> 6] |= UINT64_C(1) << (at & 63);
	if (cycle >= g->end)
		g->end = cycle + 1;
	if (counted_to(cycle, amount) > g->counted)
		g->counted = counted_to(cycle, amount);
}

static inline void enter(struct pmu_ring *g, unsigned channel, uint64_t cycle, int64_t amount)
{
	if (__builtin_expect(cycle - g->first >= g->cycles, 0)) {	/* or cycle < g->first: the difference wraps */
		enter_anywhere(g, channel, cycle, amount);
		return;
	}
	uint64_t at = cycle & (g->cycles - 1);
	g->channel[channel].entry[at] += amount;
	g->touched[at >> 6] |= UINT64_C(1) << (at & 63);
	if (cycle >= g->end)
		g->end = cycle + 1;
	if (counted_to(cycle, amount) > g->counted)
		g->counted = counted_to(cycle, amount);
}

static inline void enter_level(struct pmu_ring *g, unsigned channel, uint64_t begin, uint64_t end, int64_t amount)
{
	if (begin < g->first)
		begin = g->first;
	if (end <= begin)
		return;
	enter(g, channel, begin, amount);
	enter(g, channel, end, -amount);
}

static void feed_uops(struct spmu *p, unsigned k, const struct pmu_source source, const struct spmu_batch *b,
	uint64_t since)
{
	const struct pmu_source *s = &source;	/* a copy, which the entries written cannot alias */
	struct pmu_ring *g = &p->ring;
	unsigned who = g->channel[k].who;
	const uint16_t *tag = s->tagged | s->untagged ? p->tag : NULL;
	for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++) {
		if (r->kind != SPMU_REC_UOP || !pmu_match(s, r, tag ? tag[r - b->records] : 0) ||
			!(who >> pmu_class(p, r) & 1))
			continue;
		uint64_t cycle = pmu_cycle(b, r, s->stage);
		if (s->until != STAGE_NONE) {
			uint64_t until = pmu_cycle(b, r, s->until);
			if (until != PMU_NEVER && cycle < until)
				enter_level(g, k, cycle > since ? cycle : since, until, 1);
		} else if (cycle >= since && cycle != PMU_NEVER) {
			enter(g, k, cycle, 1);
		}
	}
}

static void feed_signal(struct pmu_ring *g, unsigned k, const struct pmu_source *s, const struct spmu_batch *b,
	const struct spmu_record *r, uint64_t since)
{
	uint64_t begin = b->base_cycle + r->begin, end = b->base_cycle + r->end;
	int64_t count = s->form != FORM_VALUE ? 1 : r->did > UINT32_MAX ? UINT32_MAX : (int64_t)r->did;
	if (s->form == FORM_ENDS)
		begin = end;
	if (g->channel[k].level)
		enter_level(g, k, begin > since ? begin : since, end, count);
	else if (begin >= since)
		enter(g, k, begin, count);
}

void pmu_ring_feed(struct spmu *p, const struct spmu_batch *batch, bool fresh, uint64_t since)
{
	struct pmu_ring *g = &p->ring;
	uint8_t signal[PMU_MAX_CHANNELS];
	unsigned signals = 0;
	for (unsigned k = 0; k < g->channels; k++) {
		const struct pmu_source *s = pmu_source_of(p, g->channel[k].source);
		if (fresh && !g->channel[k].fresh)
			continue;
		g->channel[k].fresh = false;
		if (!s->is_signal)
			feed_uops(p, k, *s, batch, since);
		else if (s->form != FORM_VALUE || pmu_signal_kind(s->signal) != SPMU_INTERVAL)
			signal[signals++] = (uint8_t)k;
		else
			for (size_t i = 0; i < p->pieces; i++) {
				const struct pmu_piece *e = &p->piece[i];
				if (e->signal == s->signal && pmu_piece_seen(p, g->channel[k].who, e))
					enter_level(g, k, e->begin > since ? e->begin : since, e->end, 1);
			}
	}
	for (uint32_t i = 0; signals && i < batch->count; i++) {
		const struct spmu_record *r = &batch->records[i];
		for (unsigned j = 0; r->kind != SPMU_REC_UOP && j < signals; j++) {
			const struct pmu_source *s = pmu_source_of(p, g->channel[signal[j]].source);
			if (s->signal == r->signal && g->channel[signal[j]].who >> pmu_class(p, r) & 1 &&
				pmu_attributes_match(s->is_mask, s->is_want, s->any_is, r))
				feed_signal(g, signal[j], s, batch, r, since);
		}
	}
}

static bool compare(int64_t v, const struct pmu_cond *c)
{
	int64_t w = c->value;
	switch (c->op) {
	case OP_GE: return v >= w;
	case OP_GT: return v > w;
	case OP_LE: return v <= w;
	case OP_LT: return v < w;
	case OP_EQ: return v == w;
	default: return v != w;
	}
}

/* What the event adds in one cycle, before the division by term[0].den. */
static uint64_t increment(const struct pmu_counter *c, const int64_t *now, bool running)
{
	const struct pmu_expr *x = c->expr;
	uint64_t sum = 0;
	for (unsigned t = 0; t < x->terms; t++) {
		const struct pmu_term *term = &x->term[t];
		if (!term->conds) {
			sum += (uint64_t)now[c->channel[t][0][0]] * term->num;
			continue;
		}
		bool all = running;
		for (unsigned j = 0; j < term->conds && all; j++) {
			int64_t v = 0;
			for (unsigned a = 0; a < term->cond[j].sources; a++)
				v += now[c->channel[t][j][a]];
			all = compare(v, &term->cond[j]);
		}
		sum += all ? term->num : 0;
	}
	return sum;
}

/* ---- a stretch: cycles in which every channel keeps its value ------------------------------------------------ */

/* What one counter does in a stretch. */
struct stretch {
	uint64_t step;		/* added in each cycle; `parts`: in parts of 1 / den */
	bool parts, zero;	/* zero: nothing is added, whatever the step */
	bool running;
	bool held;		/* the stream has ended: what it adds counts only if the stream goes on */
};

/* Whole units that n cycles of `step` parts give, with the remainder from before. */
static uint64_t whole(const struct pmu_counter *c, uint64_t step, uint64_t n)
{
	__extension__ unsigned __int128 sum = (unsigned __int128)step * n + c->remainder;
	return (uint64_t)(sum / c->expr->term[0].den);
}

/* In how many of n cycles a unit is completed beyond the step / den of every cycle. */
static uint64_t carries(const struct pmu_counter *c, uint64_t step, uint64_t n)
{
	return whole(c, step, n) - n * (step / c->expr->term[0].den);
}

/* What n cycles add to a counter whose steps are parts of a unit, in closed form: a stretch may last for as many
 * cycles as a batch can jump.  A cycle adds q = step / den, or q + 1.  Cycles of one of the two kinds never follow
 * each other (the kind that is rarer), so that the edges between them can be counted, too.  *last: the edge
 * detector's condition in the last cycle. */
static uint64_t parts_added(const struct pmu_counter *c, const struct stretch *a, uint64_t n, bool *last)
{
	const uint64_t den = c->expr->term[0].den, q = a->step / den, more = carries(c, a->step, n);
	const unsigned cmask = c->cmask ? c->cmask : 1;
	*last = c->previous;
	if (!n)
		return 0;
	if (!c->cmask && !c->edge) {
		if (c->clip && q >= c->clip)
			return n * c->clip;
		return n * q + more;
	}
	bool inv = c->cmask && c->inv, counts = !inv || a->running || c->always, edge = c->edge;
	if (q >= cmask || q + 1 < cmask || !(a->step % den) || !counts) {	/* the same in every cycle */
		bool on = counts && ((q >= cmask) != inv);
		*last = on;
		return edge ? on && !c->previous : on ? n : 0;
	}
	const bool first = carries(c, a->step, 1), rare = 2 * (a->step % den) <= den;
	const uint64_t before = carries(c, a->step, n - 1);
	*last = (more > before) != inv;
	if (!edge)
		return inv ? n - more : more;
	if (rare != inv)	/* cycles in which the condition holds never follow each other */
		return (inv ? n - more : more) - (c->previous && first != inv);
	return (!c->previous && first != inv) + (inv ? before : n - 1 - before);
}

/* The number of cycles, at most n, after which at least `left` has been added; n if that takes more. */
static uint64_t parts_reach(const struct pmu_counter *c, const struct stretch *a, uint64_t n, uint64_t left)
{
	bool last;
	if (parts_added(c, a, n, &last) < left)
		return n;
	uint64_t low = 0, high = n;	/* too few; enough */
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		*(parts_added(c, a, middle, &last) >= left ? &high : &low) = middle;
	}
	return high;
}

/* The counter's overflow has no effect now.  It is an overflow on every increment that requests an interrupt and
 * nothing else, and of each thread that it interrupts, the interrupt is under way, or would be lost as the last one
 * was. */
bool pmu_quiet(const struct spmu *p, const struct pmu_counter *c)
{
	const unsigned lost = p->lost_in == p->batches ? p->lost_to : 0, coming = p->pending ? p->pmi_to : 0;
	return c->pmi_only && c->every && c->armed && !(c->pmi_only & ~(lost | coming));
}

/* How many threads run. */
static unsigned running(const struct pmu_counter *c, const int64_t *now, unsigned last)
{
	unsigned n = 0;
	for (unsigned thread = 0; thread <= last; thread++)
		n += now[c->gate_thread[thread]] > 0;
	return n;
}

static struct stretch stretch_of(struct pmu_counter *c, const int64_t *now, unsigned last_thread, bool *edges)
{
	struct stretch a = { .running = now[c->gate] > 0 };
	bool closed = c->while_in && now[c->gate_in] <= 0;
	a.zero = c->active && !(c->active >> running(c, now, last_thread) & 1);
	a.parts = c->expr->term[0].den != 1 && !closed;
	a.step = closed ? 0 : increment(c, now, a.running);
	if (a.parts)
		return a;
	if (c->clip && a.step > c->clip)
		a.step = c->clip;
	if (c->cmask || c->edge) {
		bool on = !c->cmask ? a.step > 0
			: c->inv ? a.step < c->cmask && (a.running | c->always)
			: a.step >= c->cmask;
		*edges |= c->edge && on && !c->previous;
		a.step = c->edge ? on && !c->previous : on;
		c->previous = on;
	}
	return a;
}

/* Counts up to n cycles from the ring's first one on, in which all channels stay at `now`.  stop: ends after the
 * first overflow of a counter with `acts`.  Sets *overflow if there is one.  Returns the cycles counted. */
static uint64_t count_stretch(struct spmu *p, const int64_t *now, uint64_t n, bool stop, bool *overflow)
{
	struct stretch stretch[PMU_MAX_COUNTERS];
	uint32_t due = p->ring_due;
	bool edges = false, last;
	p->steps++;
	for (unsigned i = 0; i < p->ring_counters; i++)
		stretch[i] = stretch_of(&p->counter[p->ring_counter[i]], now, p->last_thread, &edges);
	for (unsigned i = 0; p->ring.first >= p->ends && i < p->ring_counters; i++)
		stretch[i].held = p->counter[p->ring_counter[i]].always && !stretch[i].running;
	if (edges)
		n = 1;
	for (unsigned i = 0; i < p->ring_counters; i++) {
		const struct pmu_counter *c = &p->counter[p->ring_counter[i]];
		struct stretch *a = &stretch[i];
		if (a->zero || a->held || !(a->step | a->parts))
			continue;
		if (c->from > p->ring.first) {	/* a handler that ran later than this cycle wrote it */
			a->zero = true;
			if (n > c->from - p->ring.first)
				n = c->from - p->ring.first;
		} else if (c->acts && c->armed && c->armed_from > p->ring.first) {	/* cannot fire yet */
			n = c->armed_from - p->ring.first < n ? c->armed_from - p->ring.first : n;
		} else if (c->acts && !(due >> p->ring_counter[i] & 1) && !(stop && pmu_quiet(p, c))) {
			/* (without `stop`, its first overflow is all that the caller gets to know) */
			uint64_t left = pmu_left(c);
			uint64_t reach = a->parts ? parts_reach(c, a, n, left) : (left + a->step - 1) / a->step;
			n = reach < n ? reach : n;
		}
	}
	for (unsigned i = 0; i < p->ring_counters; i++) {
		unsigned k = p->ring_counter[i];
		struct pmu_counter *c = &p->counter[k];
		const struct stretch *a = &stretch[i];
		uint64_t sum = a->parts ? parts_added(c, a, n, &last) : a->step * n;
		if (a->parts) {
			__extension__ unsigned __int128 parts = (unsigned __int128)a->step * n + c->remainder;
			c->remainder = (uint64_t)(parts % c->expr->term[0].den);
			c->previous = last;
		}
		if (a->held && !a->zero)
			c->withheld += sum;
		if (a->zero || a->held || !sum)
			continue;
		bool fires = (c->armed && c->armed_from <= p->ring.first) | c->every, quiet = stop && pmu_quiet(p, c);
		if ((pmu_add(p, k, sum) | fires) && c->acts && !quiet)
			p->ring_due |= 1u << k;
		if (quiet)
			p->wrapped &= ~(1u << k);
	}
	*overflow = p->ring_due != due;
	return n;
}

/* First cycle from g->first on and below `limit` that has an entry; else limit. */
static uint64_t next_touched(const struct pmu_ring *g, uint64_t limit)
{
	uint64_t cycle = g->first, stop = limit < g->end ? limit : g->end;
	while (cycle < stop) {
		uint64_t at = cycle & (g->cycles - 1), word = g->touched[at >> 6] >> (at & 63);
		if (word) {
			cycle += (unsigned)__builtin_ctzll(word);
			return cycle < stop ? cycle : limit;
		}
		cycle += 64 - (at & 63);
	}
	return limit;
}

/* Moves entries that now fit from the far list into the ring; returns the nearest cycle of those that do not. */
static uint64_t ring_refill(struct pmu_ring *g)
{
	while (g->fars) {
		struct pmu_far near = g->far[0];
		if (near.cycle >= g->first && near.cycle - g->first >= g->cycles)
			return near.cycle;
		g->far[0] = g->far[--g->fars];
		if (g->fars)
			far_sink(g, 0);
		enter(g, near.channel, near.cycle, near.amount);
	}
	return PMU_NEVER;
}

/* keep: the entries stay in the ring, for pmu_ring_ahead; a constant where this is inlined. */
static inline __attribute__((always_inline)) uint64_t ring_run(struct spmu *p, uint64_t limit, bool stop, bool keep)
{
	struct pmu_ring *g = &p->ring;
	uint64_t found = PMU_NEVER, far = PMU_NEVER;
	int64_t now[PMU_MAX_CHANNELS];
	p->ring_due = 0;
	if (g->fars && !keep)
		far = ring_refill(g);
	while (g->first < limit) {
		uint64_t run = next_touched(g, limit), n;
		bool overflow, entry = run == g->first;
		if (!keep && g->fars && far < g->first + g->cycles) {
			far = ring_refill(g);
			continue;
		}
		if (run > far)
			run = far;	/* no entry comes before it; the ring moves up to it */
		if (g->first < p->ends && run > p->ends)
			run = p->ends;
		uint64_t at = g->first & (g->cycles - 1);
		if (entry) {
			if (!keep)
				g->touched[at >> 6] &= ~(UINT64_C(1) << (at & 63));
			run = g->first + 1;
		}
		for (unsigned k = 0; k < g->channels; k++) {
			struct pmu_channel *c = &g->channel[k];
			int64_t amount = 0;
			if (entry) {
				amount = c->entry[at];
				c->entry[at] = keep ? amount : 0;
			}
			c->now += c->level ? amount : 0;
			now[k] = !c->level ? amount : c->once && c->now > 1 ? 1 : c->now;
		}
		n = count_stretch(p, now, run - g->first, stop, &overflow);
		g->first += n;
		if (!keep && g->end < g->first)
			g->end = g->first;
		if (overflow && found == PMU_NEVER)
			found = g->first - 1;
		if (overflow && stop)
			return found;
	}
	return found;
}

uint64_t pmu_ring_run(struct spmu *p, uint64_t limit, bool stop)
{
	if (p->ring.channels)
		return ring_run(p, limit, stop, false);
	p->ring_due = 0;
	return PMU_NEVER;
}

uint64_t pmu_ring_end(const struct spmu *p)
{
	const struct pmu_ring *g = &p->ring;
	uint64_t end = g->fars && g->far_end > g->counted ? g->far_end : g->counted;
	return end;
}

/* Counting outside of a batch's own order came upon an overflow at `cycle`; PMU_NEVER: upon none. */
static void overflowed(struct spmu *p, uint64_t cycle)
{
	if (cycle == PMU_NEVER)
		return;
	if (p->late == PMU_NEVER)
		/* handled with the next batch, so that no register changes during a register write */
		p->late = cycle;
	p->late_due |= p->ring_due;
}

void pmu_ring_settle(struct spmu *p, uint64_t limit)
{
	overflowed(p, pmu_ring_run(p, limit, false));
}

void pmu_ring_ahead(struct spmu *p, uint32_t set, uint64_t limit)
{
	struct pmu_ring *g = &p->ring;
	const uint64_t first = g->first;
	const unsigned counters = p->ring_counters;
	uint8_t list[PMU_MAX_COUNTERS];
	int64_t level[PMU_MAX_CHANNELS];
	if (g->fars)
		ring_refill(g);
	if (limit > first && limit - first > g->cycles)	/* what lies behind that is in the far list */
		limit = first + g->cycles;
	for (uint32_t left = set; left; left &= left - 1)	/* an earlier call has counted these */
		if (p->counter[__builtin_ctz(left)].from >= limit)
			set &= ~(left & -left);
	if (!set || !g->channels || limit <= first)
		return;
	memcpy(list, p->ring_counter, sizeof list);
	for (unsigned k = 0; k < g->channels; k++)
		level[k] = g->channel[k].now;
	p->ring_counters = 0;
	for (uint32_t left = set; left; left &= left - 1)
		p->ring_counter[p->ring_counters++] = (uint8_t)__builtin_ctz(left);
	overflowed(p, ring_run(p, limit, false, true));
	for (; set; set &= set - 1)
		p->counter[__builtin_ctz(set)].from = limit;
	for (unsigned k = 0; k < g->channels; k++)
		g->channel[k].now = level[k];
	memcpy(p->ring_counter, list, sizeof list);
	p->ring_counters = counters;
	g->first = first;
}
