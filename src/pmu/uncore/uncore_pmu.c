/* SPDX-License-Identifier: BSD-2-Clause
 * The uncore PMU's counting (softpmu/uncore.h): signals of all cores of a package into the counters of its boxes.
 *
 * A plain counter adds an event at once, in whatever order the batches of different cores come.  A clock counts
 * up to the latest cycle that any core has reached.  A counter with a threshold or edge evaluates a cycle when
 * all cores have passed it (struct shape).  Events of a cycle that has been evaluated already (from a core that
 * was attached late) are counted in the current cycle.
 *
 * Left out: filters by address and opcode, events of units other than those in the tables, and the time that a
 * signal takes to its box: it is counted in the cycle in which it happens.
 * GUESS: with a threshold of 0, inversion has no effect, and an edge is the first cycle with any event
 * (threshold 1); the manuals tell software to set a threshold.
 */
#include "uncore_internal.h"
#include <stdlib.h>
#include <string.h>

static const uint8_t what_of_signal[SPMU_SIG_COUNT] = {
	/* + 1 */
	[SPMU_SIG_UNC_READ] = WHAT_READ + 1, [SPMU_SIG_UNC_RFO] = WHAT_RFO + 1,
	[SPMU_SIG_UNC_CODE] = WHAT_CODE + 1, [SPMU_SIG_UNC_PREFETCH] = WHAT_PREFETCH + 1,
	[SPMU_SIG_UNC_WRITE] = WHAT_WRITE + 1, [SPMU_SIG_UNC_VICTIM] = WHAT_VICTIM + 1,
	[SPMU_SIG_UNC_SNOOP] = WHAT_SNOOP + 1, [SPMU_SIG_UNC_INVALIDATE] = WHAT_INVALIDATE + 1,
	[SPMU_SIG_UNC_EVICT] = WHAT_EVICT + 1, [SPMU_SIG_DRAM_READ] = WHAT_DRAM_READ + 1,
	[SPMU_SIG_DRAM_WRITE] = WHAT_DRAM_WRITE + 1, [SPMU_SIG_UNC_PENDING] = WHAT_PENDING + 1,
	[SPMU_SIG_UNC_FLUSH] = WHAT_FLUSH + 1, [SPMU_SIG_UNC_WRITTEN] = WHAT_WRITTEN + 1,
	[SPMU_SIG_UNC_ENTRY] = WHAT_ENTRY_READ + 1,
};

/* What of the signals that come in several kinds: what_of_signal has the first of them. */
static unsigned what_of(const struct spmu_record *r)
{
	const unsigned what = what_of_signal[r->signal] - 1u;
	switch (what) {
	case WHAT_DRAM_READ: case WHAT_DRAM_WRITE:
		return (what == WHAT_DRAM_READ && r->is & SPMU_ATTR(UNDERFILL) ? WHAT_UNDERFILL : what) +
			!!(r->is & SPMU_ATTR(SECOND_HALF));
	case WHAT_VICTIM:
		return r->is & SPMU_ATTR(SHARED) ? WHAT_VICTIM_SHARED : what;
	case WHAT_PENDING:
		return r->is & (SPMU_ATTR(REQUEST_RFO) | SPMU_ATTR(REQUEST_CODE_RD)) ? what : WHAT_PENDING_DATA;
	case WHAT_ENTRY_READ:
		return r->is & SPMU_ATTR(REQUEST_RFO) ? WHAT_ENTRY_RFO
			: r->is & SPMU_ATTR(REQUEST_CODE_RD) ? WHAT_ENTRY_CODE
			: r->is & (SPMU_ATTR(REQUEST_PF_L2) | SPMU_ATTR(REQUEST_PF_L1D) |
				SPMU_ATTR(REQUEST_PF_SOFTWARE)) ? WHAT_ENTRY_PREFETCH : what;
	default:
		return what;
	}
}

/* Counts for as long as the record lasts. */
static bool lasts(unsigned what)
{
	return (what >= WHAT_ENTRY_READ && what <= WHAT_ENTRY_PREFETCH) || what == WHAT_PENDING ||
		what == WHAT_PENDING_DATA;
}

#define CYCLE_LAST (UINT64_MAX / 4)

/* Ticks of the unit's clock before this core cycle begins. */
static uint64_t ticks(const struct spmu_uncore *u, const struct box *b, uint64_t cycle)
{
	uint64_t hz = unit_of(u, b)->boxes >= SPMU_BOX_CHANNEL ? u->model->dclk_hz : u->model->uclk_hz;
	if (!hz || hz == u->host.core_hz)
		return cycle;
	return (uint64_t)((unsigned __int128)cycle * hz / u->host.core_hz);
}

/* ---- counters ------------------------------------------------------------------------------------------- */

static void add(struct spmu_uncore *u, struct box *b, unsigned n, uint64_t amount)
{
	struct counter *c = &b->counter[n];
	uint64_t sum = c->value + (amount & c->mask);
	c->value = sum & c->mask;
	if (sum > c->mask || amount > c->mask)
		uncore_overflowed(u, b, n);
}

static int by_tick(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* What the counter counts in `span` ticks, in each of which the event happens `amount` times. */
static uint64_t shaped(struct counter *c, int64_t amount, uint64_t span)
{
	unsigned threshold = c->control >> 24 & 0xff;
	bool was = c->shape.previous,
	     is = (amount >= (threshold ? threshold : 1)) ^ (threshold && c->control & SPMU_UNC_INV);
	c->shape.previous = is;
	if (c->control & SPMU_UNC_EDGE)
		return is && !was;
	return is ? span : 0;
}

/* Counts all ticks below `limit`. */
static void shape_run(struct spmu_uncore *u, struct box *b, unsigned n, uint64_t limit)
{
	struct counter *c = &b->counter[n];
	struct shape *s = &c->shape;
	uint64_t sum = 0;
	size_t i = 0;
	if (s->changes > 1)
		qsort(s->change, s->changes, sizeof *s->change, by_tick);
	while (s->done < limit) {
		int64_t points = 0;
		for (; i < s->changes && s->change[i].tick <= s->done; i++)
			*(s->change[i].level ? &s->level : &points) += s->change[i].amount;
		uint64_t next = i < s->changes && s->change[i].tick < limit ? s->change[i].tick : limit;
		if (points) {
			sum += shaped(c, s->level + points, 1);
			s->done++;
		}
		if (next > s->done) {
			sum += shaped(c, s->level, next - s->done);
			s->done = next;
		}
	}
	if (i)
		memmove(s->change, s->change + i, (s->changes - i) * sizeof *s->change);
	s->changes -= i;
	if (sum)
		add(u, b, n, sum);
}

static void shape_add(struct spmu_uncore *u, struct box *b, unsigned n, uint64_t tick, int64_t amount, bool level)
{
	struct shape *s = &b->counter[n].shape;
	if (s->changes == s->room) {
		size_t room = s->room ? 2 * s->room : 1024;
		struct change *grown = s->changes < CHANGES_MAX ? realloc(s->change, room * sizeof *grown) : NULL;
		if (!grown) {	/* out of memory, or a core is far behind: evaluate without waiting for it */
			if (!s->room)
				return;
			shape_run(u, b, n, s->change[s->changes - 1].tick + 1);
			if (s->changes == s->room)
				s->changes--;
		} else {
			s->change = grown;
			s->room = room;
		}
	}
	s->change[s->changes++] = (struct change){ tick < s->done ? s->done : tick, amount, level };
}

static bool counts_clock(const struct counter *c)
{
	return c->counts && !c->shaped && c->accept[WHAT_CLOCK];
}

/* Counts the clocks up to `cycle`. */
static void pass_time(struct spmu_uncore *u, uint64_t cycle)
{
	if (!u->started || cycle <= u->now)
		return;
	uint64_t from = u->now;
	u->now = cycle;
	for (struct box *b = u->box; b < u->box + u->boxes; b++)
		for (unsigned n = 0; b->found_counts && n <= FIXED_COUNTER; n++)
			if (counts_clock(&b->counter[n]))
				add(u, b, n, ticks(u, b, cycle) - ticks(u, b, from));
}

static uint64_t horizon(const struct spmu_uncore *u)
{
	uint64_t least = u->now;
	for (size_t i = 0; i < u->sources; i++)
		if (u->source[i].used && !u->source[i].idle && u->source[i].seen && u->source[i].watermark < least)
			least = u->source[i].watermark;
	return least;
}

static void run_shapes(struct spmu_uncore *u, uint64_t limit)
{
	for (struct box *b = u->box; b < u->box + u->boxes; b++)
		for (unsigned n = 0; b->found_counts && n <= FIXED_COUNTER; n++)
			if (b->counter[n].counts && b->counter[n].shaped)
				shape_run(u, b, n, ticks(u, b, limit));
}

void uncore_settle(struct spmu_uncore *u)
{
	if (u->shapes)
		run_shapes(u, u->now);
}

void uncore_plan(struct spmu_uncore *u)
{
	u->shapes = false;
	for (struct box *b = u->box; b < u->box + u->boxes; b++) {
		b->found_counts = false;
		for (unsigned n = 0; n <= FIXED_COUNTER; n++) {
			struct counter *c = &b->counter[n];
			bool counted = c->counts && c->shaped,
			     programmed = n == FIXED_COUNTER ? false : unit_of(u, b)->programmable;
			c->counts = c->mask && uncore_enabled(u, b, n);
			c->shaped = programmed && c->control & (SPMU_UNC_EDGE | UINT64_C(0xff) << 24);
			b->found_counts |= c->counts;
			if (c->counts && c->shaped) {
				u->shapes = true;
				if (!counted) {
					c->shape.done = ticks(u, b, u->now);
					c->shape.level = 0;
					c->shape.changes = 0;
					c->shape.previous = false;
					if (c->accept[WHAT_CLOCK])
						c->shape.level = 1;
				}
			}
		}
	}
}

/* ---- batches -------------------------------------------------------------------------------------------- */

static bool from_thread(const struct box *b, const struct counter *c, unsigned core, const struct spmu_record *r)
{
	/* Cn_MSR_PMON_BOX_FILTER.tid: the core's number, then three bits of the thread's */
	return !(c->control & SPMU_UNC_TID_EN) || b->filter == ((uint64_t)core << 3 | (r->hw_thread & 7));
}

static void look(struct spmu_uncore *u, struct box *b, unsigned what, unsigned core, uint64_t base,
	const struct spmu_record *r)
{
	unsigned bit = r->found < 8 ? 1u << r->found : 0;
	const bool both = r->is & SPMU_ATTR(SHARED);	/* one request has two records of snooped cores */
	for (unsigned n = 0; b->found_counts && n <= FIXED_COUNTER; n++) {
		struct counter *c = &b->counter[n];
		uint64_t amount = c->accept[what] & bit ? r->did : 0;
		if (what >= WHAT_SNOOP && what <= WHAT_EVICT && !(both && r->found == SPMU_FOUND_NOTHING))
			amount += !!(c->accept[(what == WHAT_EVICT ? WHAT_EVICT_ONE : WHAT_CORE_ONE) +
				(r->did > 1 || both)] & bit);
		if (!c->counts || !amount || !from_thread(b, c, core, r))
			continue;
		uint64_t begin = ticks(u, b, base + r->begin), end = ticks(u, b, base + r->end);
		if (lasts(what) && c->shaped) {
			if (end > begin) {
				shape_add(u, b, n, begin, (int64_t)(amount & INT32_MAX), true);
				shape_add(u, b, n, end, -(int64_t)(amount & INT32_MAX), true);
			}
		} else if (lasts(what)) {
			add(u, b, n, end > begin ? (end - begin) * amount : 0);
		} else if (c->shaped) {
			shape_add(u, b, n, begin, (int64_t)(amount & INT32_MAX), false);
		} else {
			add(u, b, n, amount);
		}
	}
}

void spmu_uncore_consume(struct spmu_uncore *u, int source, const struct spmu_batch *batch)
{
	if (source < 0 || (size_t)source >= u->sources || !u->source[source].used || batch->base_cycle > CYCLE_LAST ||
		batch->watermark > CYCLE_LAST)
		return;
	const struct spmu_batch *b = batch;
	unsigned core = u->source[source].core;
	if (!u->started) {
		u->started = true;
		u->now = b->base_cycle;
		uncore_plan(u);
	}
	for (const struct spmu_record *r = b->records, *end = r + b->count; r < end; r++) {
		if (r->kind != SPMU_REC_SIGNAL || r->signal >= SPMU_SIG_COUNT || !what_of_signal[r->signal])
			continue;
		const unsigned what = what_of(r);
		for (unsigned k = 0; k < u->model->units; k++) {
			unsigned first = u->first[k], boxes = u->first[k + 1] - first, at = 0;
			switch (u->model->unit[k].boxes) {
			case SPMU_BOX_SLICE: at = r->unit; if (what >= WHAT_DRAM_READ) continue; break;
			case SPMU_BOX_CHANNEL: at = r->unit; if (what < WHAT_DRAM_READ) continue; break;
			case SPMU_BOX_CONTROLLER: at = r->unit / 2; if (what < WHAT_DRAM_READ) continue; break;
			case SPMU_BOX_PACKAGE: break;
			}
			if (at < boxes && u->box[first + at].found_counts)
				look(u, &u->box[first + at], what, core, b->base_cycle, r);
		}
	}
	u->source[source].seen = true;
	u->source[source].watermark = b->watermark;
	u->source[source].idle = b->is_last;
	pass_time(u, b->watermark);
	if (u->shapes)
		run_shapes(u, horizon(u));
}

int spmu_uncore_attach(struct spmu_uncore *u, unsigned core)
{
	size_t i = 0;
	while (i < u->sources && u->source[i].used)
		i++;
	if (i == u->sources) {
		struct source *grown = i < SOURCES_MAX ? realloc(u->source, (i + 1) * sizeof *grown) : NULL;
		if (!grown)
			return SPMU_ENOMEM;
		u->source = grown;
		u->sources++;
	}
	u->source[i] = (struct source){ .used = true, .core = core };
	return (int)i;
}

void spmu_uncore_detach(struct spmu_uncore *u, int source)
{
	if (source < 0 || (size_t)source >= u->sources)
		return;
	u->source[source].used = false;
	if (u->shapes)
		run_shapes(u, horizon(u));
}

/* ---- creation ------------------------------------------------------------------------------------------- */

static unsigned boxes_of(const struct spmu_uncore_host *h, enum spmu_uncore_boxes kind)
{
	switch (kind) {
	case SPMU_BOX_SLICE: return h->slices;
	case SPMU_BOX_CHANNEL: return h->channels;
	case SPMU_BOX_CONTROLLER: return (h->channels + 1) / 2;
	default: return 1;
	}
}

/* Connects a counter without a control register to the event whose row names it. */
static void wire_free(struct spmu_uncore *u, struct box *b, unsigned n)
{
	const struct spmu_uncore_model *m = u->model;
	uint32_t unmodelled;
	for (size_t i = 0; i < m->events; i++)
		if (m->event[i].unit == b->unit && m->event[i].counters >> n & 1) {
			uncore_select(m, b->unit, m->event[i].event, m->event[i].umask, b->counter[n].accept,
				&unmodelled);
			return;
		}
}

int spmu_uncore_create(struct spmu_uncore **out, const struct spmu_uncore_model *m, const struct spmu_uncore_host *host)
{
	if (!host->slices || host->slices > SPMU_UNCORE_SLICES || !host->channels ||
		host->channels > SPMU_UNCORE_CHANNELS || !host->core_hz)
		return SPMU_EINPUT;
	struct spmu_uncore *u = calloc(1, sizeof *u);
	if (!u)
		return SPMU_ENOMEM;
	u->model = m;
	u->host = *host;
	u->slice_unit = u->channel_unit = -1;
	for (unsigned k = 0; k < m->units; k++) {
		u->first[k] = u->boxes;
		u->boxes += boxes_of(host, m->unit[k].boxes);
		if (m->unit[k].boxes == SPMU_BOX_SLICE && m->unit[k].programmable)
			u->slice_unit = (int)k;
		if (m->unit[k].boxes == SPMU_BOX_CHANNEL && m->unit[k].programmable)
			u->channel_unit = (int)k;
	}
	u->first[m->units] = u->boxes;
	u->box = calloc(u->boxes ? u->boxes : 1, sizeof *u->box);
	if (!u->box) {
		free(u);
		return SPMU_ENOMEM;
	}
	for (unsigned k = 0; k < m->units; k++)
		for (unsigned i = u->first[k]; i < u->first[k + 1]; i++) {
			struct box *b = &u->box[i];
			b->unit = (uint8_t)k;
			b->number = (uint16_t)(i - u->first[k]);
			b->counters = m->unit[k].counters;
			for (unsigned n = 0; n < b->counters; n++) {
				b->counter[n].mask = (UINT64_C(1) << m->unit[k].bits) - 1;
				if (!m->unit[k].programmable)
					wire_free(u, b, n);
			}
			if ((int)k == u->channel_unit) {	/* its fixed counter counts the memory's clock */
				b->counter[FIXED_COUNTER].mask = (UINT64_C(1) << 48) - 1;
				b->counter[FIXED_COUNTER].accept[WHAT_CLOCK] = FOUND_ALL;
			}
		}
	uncore_plan(u);
	*out = u;
	return SPMU_OK;
}

void spmu_uncore_destroy(struct spmu_uncore *u)
{
	if (!u)
		return;
	for (unsigned i = 0; i < u->boxes; i++)
		for (unsigned n = 0; n <= FIXED_COUNTER; n++)
			free(u->box[i].counter[n].shape.change);
	free(u->box);
	free(u->source);
	free(u);
}
