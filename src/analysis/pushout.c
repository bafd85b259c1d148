/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pushouts from records; what they are: pushout.h.  One pass over the slots in program order, which is the order of retirement. */
#include "analysis/pushout.h"
#include <stdlib.h>
#include <string.h>

enum { SLOT_UOPS = 8 };

/* ---- counters ---- */

int pushout_counter_set(struct pushout_counter *c, enum pushout_way way, uint64_t threshold, struct err *err)
{
	if (!threshold || threshold > INT32_MAX)
		return err_set(err, ERR_INPUT, "a pushout threshold of %llu cycles: from 1 to %d", (unsigned long long)threshold, INT32_MAX);
	*c = (struct pushout_counter){ .way = way, .threshold = (uint32_t)threshold };
	return 0;
}

/* The register of 32 bits after so many cycles, and whether it fired on the way. */
static bool fires(const struct pushout_counter *c, uint32_t cycles)
{
	switch (c->way) {
	case PUSHOUT_DOWN:	/* zero is passed when the register borrows, or reached */
		return c->threshold == cycles || __builtin_usub_overflow(c->threshold, cycles, &(uint32_t){ 0 });
	case PUSHOUT_UP_FROM:
		return __builtin_uadd_overflow(0u - c->threshold, cycles, &(uint32_t){ 0 });
	default:
		return cycles >= c->threshold;
	}
}

void pushout_counter_run(struct pushout_counter *c, uint32_t cycles)
{
	if (!fires(c, cycles))
		return;
	c->count++;
	if (!c->frozen) {
		c->frozen = true;
		c->stored = cycles;
	}
}

bool pushout_counter_read(struct pushout_counter *c, uint32_t *cycles)
{
	if (!c->frozen)
		return false;
	*cycles = c->stored;
	c->frozen = false;
	return true;
}

/* ---- records ---- */

struct pushout {
	struct pushout_widths width;
	unsigned measures;
	struct pushout_measure measure[PUSHOUT_MEASURES];
	struct tag tag[PUSHOUT_MEASURES];
	uint64_t is, did;	/* what any tag names */
	uint64_t all;		/* measures that look at every slot, or whose tags hold without what they name */
	bool begun, failed;
	struct passed { uint64_t last; unsigned in_cycle; } at[PUSHOUT_POINTS];	/* cycle in which the last slot passed, and how many did in it */
	unsigned points;	/* the first so many are looked at */
	struct pushout_sums sums;
	uint64_t last_ip;
	/* measures that wait for the next slot: set; whom they charge, and from when they count */
	uint64_t waiting;
	uint64_t next_ip, next_event;
	/* a machine clear that no slot has been measured for: bit of `did`, 0: none */
	uint64_t clear, clear_ip, clear_cycle;
};

struct pushout *pushout_create(const struct pushout_widths *widths, const struct pushout_measure *m, unsigned measures)
{
	bool good = measures <= PUSHOUT_MEASURES && widths->at[PUSHOUT_RETIRE];
	for (unsigned i = 0; good && i < measures; i++)
		good = widths->at[m[i].point];
	struct pushout *p = good ? calloc(1, sizeof *p) : NULL;
	if (!p)
		return NULL;
	p->width = *widths;
	p->measures = measures;
	p->points = 1;
	for (unsigned i = 0; i < measures; i++) {
		p->points = m[i].point >= p->points ? m[i].point + 1 : p->points;
		p->measure[i] = m[i];
		if (!m[i].tag || m[i].tag->without)
			p->all |= UINT64_C(1) << i;
		if (!m[i].tag)
			continue;
		p->tag[i] = *m[i].tag;
		p->measure[i].tag = &p->tag[i];
		p->is |= p->tag[i].is;
		p->did |= p->tag[i].did;
	}
	return p;
}

void pushout_destroy(struct pushout *p)
{
	free(p);
}

struct pushout_sums pushout_sums(const struct pushout *p)
{
	return p->sums;
}

static void measured(struct pushout *p, unsigned i, uint64_t ip, uint32_t cycles)
{
	const struct pushout_measure *m = &p->measure[i];
	for (size_t k = 0; k < m->counters; k++)
		pushout_counter_run(&m->counter[k], cycles);
	if (m->spread && !spread_add(m->spread, cycles))
		p->failed = true;
	if (m->each)
		m->each(m->context, i, ip, cycles);
}

static uint32_t since(uint64_t from, uint64_t to)
{
	uint64_t n = to > from ? to - from : 0;
	return n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

/* When what the tag names happened to the slot. */
static uint64_t event_cycle(const struct tag *t, const struct spmu_batch *b, const struct spmu_record *const *uop, unsigned uops)
{
	const uint64_t at_fetch = SPMU_DID(ICACHE_MISS) | SPMU_DID(ITLB_MISS_F) | SPMU_DID(FROM_DSB) | SPMU_DID(FROM_MITE) | SPMU_DID(FROM_MS) |
		SPMU_DID(FROM_LSD), at_alloc = SPMU_DID(STALL_ROB) | SPMU_DID(STALL_RS) | SPMU_DID(STALL_LB) | SPMU_DID(STALL_SB) |
		SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX);
	uint64_t named = 0, first = UINT64_MAX;
	for (unsigned i = 0; i < uops; i++)
		named |= uop[i]->did & t->did;
	named = named & PUSHOUT_NEXT ? named & PUSHOUT_NEXT : named;
	for (unsigned i = 0; i < uops; i++) {
		const uint64_t did = uop[i]->did & named;
		const uint32_t cycle = did & PUSHOUT_NEXT ? uop[i]->complete : did & at_fetch ? uop[i]->fetch : did & at_alloc ? uop[i]->alloc :
			uop[i]->dispatch;
		if ((named ? did : uop[i]->is & t->is) && b->base_cycle + cycle < first)
			first = b->base_cycle + cycle;
	}
	return first == UINT64_MAX ? b->base_cycle + uop[0]->dispatch : first;
}

/* A slot passes a point: by how much later than it was due. */
static uint32_t pass(struct passed *at, unsigned width, uint64_t cycle, uint64_t *full)
{
	const uint32_t pushed = since(at->last + (at->in_cycle >= width), cycle);
	if (cycle > at->last) {
		*full += at->in_cycle >= width;
		at->last = cycle;
		at->in_cycle = 1;
	} else {
		at->in_cycle++;
	}
	return pushed;
}

static void slot(struct pushout *p, const struct spmu_batch *b, const struct spmu_record *const *uop, unsigned uops)
{
	const uint64_t ip = uop[0]->ip;
	const uint64_t cycle[PUSHOUT_POINTS] = { b->base_cycle + uop[uops - 1]->retire, b->base_cycle + uop[0]->alloc, b->base_cycle + uop[0]->fetch };
	uint32_t pushed[PUSHOUT_POINTS];
	uint64_t is = 0, did = 0, unused = 0;
	for (unsigned i = 0; i < uops; i++) {
		is |= uop[i]->is;
		did |= uop[i]->did;
	}
	for (unsigned k = 0; k < p->points; k++)
		pushed[k] = pass(&p->at[k], p->width.at[k], cycle[k], k == PUSHOUT_RETIRE ? &p->sums.full : &unused);
	p->sums.slots++;
	p->sums.pushed += pushed[PUSHOUT_RETIRE];
	if (p->clear && did & SPMU_DID(CLEAR_MEMORY_ORDER))
		p->clear = 0;		/* its own */
	for (unsigned i = 0; p->clear && i < p->measures; i++) {
		const struct pushout_measure *m = &p->measure[i];
		if (m->tag && p->tag[i].did & p->clear && tag_holds(&p->tag[i], 0, p->clear))
			measured(p, i, p->clear_ip ? p->clear_ip : p->last_ip, m->from == PUSHOUT_FROM_DUE ? pushed[m->point] :
				since(p->clear_cycle, cycle[m->point]));
	}
	p->clear = 0;
	did &= ~SPMU_DID(CLEAR_SMC);	/* the signal says it, once for each */
	for (uint64_t left = p->waiting; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		const struct pushout_measure *m = &p->measure[i];
		measured(p, i, p->next_ip, m->from == PUSHOUT_FROM_DUE ? pushed[m->point] : since(p->next_event, cycle[m->point]));
	}
	p->waiting = 0;
	uint64_t ask = is & p->is || did & p->did ? (p->measures < 64 ? (UINT64_C(1) << p->measures) - 1 : ~UINT64_C(0)) : p->all;
	for (; ask; ask &= ask - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(ask);
		const struct pushout_measure *m = &p->measure[i];
		if (m->tag && !tag_holds(m->tag, is, did))
			continue;
		const bool due = m->from == PUSHOUT_FROM_DUE;
		const uint64_t event = due ? 0 : m->tag ? event_cycle(m->tag, b, uop, uops) : cycle[PUSHOUT_ALLOC];
		if (m->tag && did & m->tag->did & PUSHOUT_NEXT) {
			p->waiting |= UINT64_C(1) << i;
			p->next_event = due ? p->next_event : event;
		} else {
			measured(p, i, ip, due ? pushed[m->point] : since(event, cycle[m->point]));
		}
	}
	p->next_ip = p->last_ip = ip;
}

/* Before this the core was halted, or its clock had not begun. */
static void runs_from(struct pushout *p, uint64_t cycle)
{
	if (p->begun && cycle <= p->at[PUSHOUT_RETIRE].last)
		return;
	for (unsigned k = 0; k < PUSHOUT_POINTS; k++)
		p->at[k] = (struct passed){ .last = cycle };
	p->begun = true;
}

int pushout_batch(struct pushout *p, const struct spmu_batch *b)
{
	const struct spmu_record *uop[SLOT_UOPS], *clear = NULL;
	unsigned uops = 0;
	for (uint32_t i = b->count; i--; ) {	/* the core writes it last */
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == SPMU_SIG_CYCLES && r->end > r->begin) {
			runs_from(p, b->base_cycle + r->begin);
			break;
		}
	}
	if (!p->begun)
		runs_from(p, b->base_cycle);
	for (uint32_t i = 0; i <= b->count; i++) {
		const struct spmu_record *r = i < b->count ? &b->records[i] : NULL;
		if (r && r->kind != SPMU_REC_UOP) {
			if (r->signal == SPMU_SIG_CLEAR_MEMORY_ORDER || r->signal == SPMU_SIG_CLEAR_SMC)
				clear = r;	/* behind the slot that is being collected */
			continue;
		}
		if (r && !(r->did & SPMU_DID(RETIRED)))
			continue;
		if (uops && (!r || r->is & SPMU_IS(SLOT) || r->ip != uop[0]->ip || r->is & SPMU_IS(INST_BEGIN) || uops == SLOT_UOPS)) {
			slot(p, b, uop, uops);
			uops = 0;
		}
		if (clear && !uops) {
			p->clear = clear->signal == SPMU_SIG_CLEAR_SMC ? SPMU_DID(CLEAR_SMC) : SPMU_DID(CLEAR_MEMORY_ORDER);
			p->clear_ip = clear->ip;
			p->clear_cycle = b->base_cycle + clear->begin;
			clear = NULL;
		}
		if (r)
			uop[uops++] = r;
	}
	return p->failed ? ERR_NOMEM : 0;
}
