/* SPDX-License-Identifier: BSD-2-Clause
 * Measures pushouts (pushout_meter.h defines them) in one pass over the records' slots in program order, which
 * is the order of retirement. */
#include "pushout_meter.h"
#include <stdlib.h>
#include <string.h>

enum { SLOT_UOPS = 8, STORES = 512 /* more than any store buffer holds; a power of two */ };

/* ---- tags ---- */

bool tag_holds(const struct tag *t, uint64_t is, uint64_t did)
{
	bool stack[TAG_STEPS];
	unsigned n = 0;
	for (unsigned i = 0; i < t->steps; i++) {
		const struct tag_step *s = &t->step[i];
		switch (s->what) {
		case TAG_HAS:
			stack[n++] = (is & s->is) || (did & s->did);
			break;
		case TAG_NOT:
			stack[n - 1] = !stack[n - 1];
			break;
		case TAG_AND:
			n--;
			stack[n - 1] = stack[n - 1] && stack[n];
			break;
		case TAG_OR:
			n--;
			stack[n - 1] = stack[n - 1] || stack[n];
			break;
		}
	}
	return n && stack[0];
}

/* ---- records ---- */

/* Stores that have retired, and stores that were written; their records come in no fixed order.  Two rings,
 * each with the number of the next store to enter (_in) and to leave (_out). */
struct pushout_stores {
	struct { uint64_t ip, is, did, retire; uint8_t cpl; } retired[STORES];
	struct { uint64_t ip, cycle; } written[STORES];
	uint32_t retired_in, retired_out, written_in, written_out;
};

struct pushout {
	struct pushout_widths width;
	unsigned measures;
	struct pushout_measure measure[PUSHOUT_MEASURES];
	struct tag tag[PUSHOUT_MEASURES];
	uint64_t is, did;	/* bits that some tag names */
	/* set of measures without a tag, or whose tag may hold for a slot with no bit it names */
	uint64_t all;
	bool begun;
	/* By point: the cycle of the last slot, how many passed in that cycle, and whether it is full. */
	struct passed { uint64_t last; unsigned in_cycle; bool full; } at[PUSHOUT_POINTS];
	unsigned points;	/* set of measured points */
	struct pushout_sums sums;
	uint64_t last_ip;
	/* Set of measures that wait for the next slot; the slot they charge, and when its event happened. */
	uint64_t waiting;
	uint64_t next_ip, next_event;
	uint8_t next_cpl;
	/* A machine clear after which no slot has been measured yet: its bit of `did`; 0: none. */
	uint64_t clear, clear_ip, clear_cycle;
	/* The last INSN_FETCHED signal, and the last one before the current slot began; 0: none. */
	uint64_t fetching_ip, fetching_cycle, fetched_ip, fetched_cycle;
	struct pushout_stores stores;	/* for PUSHOUT_VISIBLE only; must be the last member (pushout_copy) */
};

static bool looks_at(const struct pushout *p, enum pushout_point point) { return p->points >> point & 1; }

bool pushout_set(struct pushout *p, const struct pushout_measure *m, unsigned measures, uint64_t changed)
{
	bool good = measures <= PUSHOUT_MEASURES && p->width.at[PUSHOUT_RETIRE];
	for (unsigned i = 0; good && i < measures; i++)
		good = m[i].point < PUSHOUT_POINTS && p->width.at[m[i].point];
	if (!good)
		return false;
	p->measures = measures;
	p->is = p->did = p->all = 0;
	p->waiting &= ~changed;
	for (unsigned i = 0; i < measures; i++) {
		if (!looks_at(p, m[i].point))	/* not measured so far */
			p->at[m[i].point] = (struct passed){ .last = p->at[PUSHOUT_RETIRE].last };
		p->points |= 1u << m[i].point;
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
	return true;
}

struct pushout *pushout_create(const struct pushout_widths *widths, const struct pushout_measure *m, unsigned measures)
{
	struct pushout *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->width = *widths;
	p->points = 1u << PUSHOUT_RETIRE;
	if (!pushout_set(p, m, measures, 0)) {
		free(p);
		return NULL;
	}
	return p;
}

void pushout_restart(struct pushout *p)
{
	p->begun = false;
	p->waiting = p->clear = 0;
	p->fetched_ip = p->fetching_ip = 0;
	p->stores.retired_out = p->stores.retired_in;
	p->stores.written_out = p->stores.written_in;
}

void pushout_copy(struct pushout *to, const struct pushout *from)
{
	memcpy(to, from, looks_at(from, PUSHOUT_VISIBLE) ? sizeof *to : offsetof(struct pushout, stores));
	for (unsigned i = 0; i < to->measures; i++)
		if (to->measure[i].tag)
			to->measure[i].tag = &to->tag[i];
}

void pushout_destroy(struct pushout *p)
{
	free(p);
}

struct pushout_sums pushout_sums(const struct pushout *p)
{
	return p->sums;
}

/* The current slot: when it passes each point, and its pushout there. */
struct passing { uint64_t cycle[PUSHOUT_POINTS]; uint32_t pushed[PUSHOUT_POINTS], record; bool memory; };

static uint32_t since(uint64_t from, uint64_t to)
{
	uint64_t n = to > from ? to - from : 0;
	return n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

/* The cycle in which the event that the tag names happened to the slot. */
static uint64_t event_cycle(const struct tag *t, const struct spmu_batch *b, const struct spmu_record *const *uop,
	unsigned uops)
{
	const uint64_t at_fetch = SPMU_DID(ICACHE_MISS) | SPMU_DID(ITLB_MISS_F) | SPMU_DID(FROM_DSB) |
		SPMU_DID(FROM_MITE) | SPMU_DID(FROM_MS) | SPMU_DID(FROM_LSD),
		       at_alloc = SPMU_DID(STALL_ROB) | SPMU_DID(STALL_RS) | SPMU_DID(STALL_LB) | SPMU_DID(STALL_SB) |
		SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX);
	uint64_t named = 0, first = UINT64_MAX;
	for (unsigned i = 0; i < uops; i++)
		named |= uop[i]->did & t->did;
	named = named & PUSHOUT_NEXT ? named & PUSHOUT_NEXT : named;
	for (unsigned i = 0; i < uops; i++) {
		const uint64_t did = uop[i]->did & named;
		const uint32_t cycle = did & PUSHOUT_NEXT ? uop[i]->complete
			: did & at_fetch ? uop[i]->fetch
			: did & at_alloc ? uop[i]->alloc
			: uop[i]->dispatch;
		if ((named ? did : uop[i]->is & t->is) && b->base_cycle + cycle < first)
			first = b->base_cycle + cycle;
	}
	return first == UINT64_MAX ? b->base_cycle + uop[0]->dispatch : first;
}

/* A slot passes a point.  Returns by how many cycles later than it was due. */
static uint32_t pass(struct passed *at, unsigned width, uint64_t cycle, uint64_t *full)
{
	const uint32_t pushed = since(at->last + at->full, cycle);
	if (cycle > at->last) {
		*full += at->full;
		at->last = cycle;
		at->in_cycle = 1;
	} else {
		at->in_cycle++;
	}
	at->full = at->in_cycle >= width;
	return pushed;
}

static void measured(struct pushout *p, unsigned i, uint64_t ip, uint8_t cpl, const struct passing *now, uint64_t event)
{
	const struct pushout_measure *m = &p->measure[i];
	const struct pushout_one one = { .ip = ip, .cpl = cpl, .record = now->record,
		.cycles = m->from == PUSHOUT_FROM_DUE ? now->pushed[m->point] : since(event, now->cycle[m->point]) };
	m->each(m->context, i, &one);
}

/* The slot passes the point of this measure. */
static bool passes(const struct pushout *p, unsigned i, const struct passing *now)
{
	return p->measure[i].point != PUSHOUT_VISIBLE && (p->measure[i].point != PUSHOUT_MEMORY || now->memory);
}

/* Measures the stores that have both retired and been written. */
static void visible(struct pushout *p, const struct passing *now)
{
	struct pushout_stores *s = &p->stores;
	while (s->retired_in != s->retired_out && s->written_in != s->written_out) {
		const uint64_t ip = s->written[s->written_out % STORES].ip,
			       cycle = s->written[s->written_out % STORES].cycle;
		uint32_t k = s->retired_out;
		while (k != s->retired_in && s->retired[k % STORES].ip != ip)
			k++;
		s->written_out++;
		if (k == s->retired_in)	/* the store retired before the records began */
			continue;
		s->retired_out = k + 1;
		uint64_t unused = 0;
		struct passing at = { .record = now->record };
		at.cycle[PUSHOUT_VISIBLE] = cycle;
		at.pushed[PUSHOUT_VISIBLE] =
			pass(&p->at[PUSHOUT_VISIBLE], p->width.at[PUSHOUT_VISIBLE], cycle, &unused);
		for (unsigned i = 0; i < p->measures; i++) {
			const struct pushout_measure *m = &p->measure[i];
			if (m->point == PUSHOUT_VISIBLE &&
				(!m->tag || tag_holds(m->tag, s->retired[k % STORES].is, s->retired[k % STORES].did)))
				measured(p, i, ip, s->retired[k % STORES].cpl, &at, s->retired[k % STORES].retire);
		}
	}
}

static void store_retires(struct pushout *p, uint64_t ip, uint64_t is, uint64_t did, uint64_t retire, uint8_t cpl)
{
	struct pushout_stores *s = &p->stores;
	if (s->retired_in - s->retired_out == STORES)
		s->retired_out++;
	const uint32_t at = s->retired_in++ % STORES;
	s->retired[at].ip = ip;
	s->retired[at].is = is;
	s->retired[at].did = did;
	s->retired[at].retire = retire;
	s->retired[at].cpl = cpl;
}

static void store_written(struct pushout *p, uint64_t ip, uint64_t cycle)
{
	struct pushout_stores *s = &p->stores;
	if (s->written_in - s->written_out == STORES)
		s->written_out++;
	const uint32_t at = s->written_in++ % STORES;
	s->written[at].ip = ip;
	s->written[at].cycle = cycle;
}

static void slot(struct pushout *p, const struct spmu_batch *b, const struct spmu_record *const *uop, unsigned uops)
{
	const uint64_t ip = uop[0]->ip, alloc = b->base_cycle + uop[0]->alloc, decode = b->base_cycle + uop[0]->fetch;
	const bool decoded = p->fetched_ip == ip && !(uop[0]->did & (SPMU_DID(FROM_DSB) | SPMU_DID(FROM_LSD)));
	const uint64_t fetch = decoded && p->fetched_cycle < decode ? p->fetched_cycle : decode;
	struct passing now = { .cycle = { b->base_cycle + uop[uops - 1]->retire, alloc, decode, alloc, 0, fetch },
		.record = (uint32_t)(uop[uops - 1] - b->records) };
	uint64_t is = 0, did = 0, unused = 0;
	for (unsigned i = 0; i < uops; i++) {
		is |= uop[i]->is;
		did |= uop[i]->did;
	}
	now.memory = is & (SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR));
	for (unsigned k = 0; k < PUSHOUT_POINTS; k++) {
		const unsigned width = p->width.at[k == PUSHOUT_FETCH && !decoded ? PUSHOUT_DECODE : k];
		if (!looks_at(p, k) || k == PUSHOUT_VISIBLE || (k == PUSHOUT_MEMORY && !now.memory) ||
			(k == PUSHOUT_FETCH && decoded && !(uop[0]->is & SPMU_IS(INST_BEGIN))))
			continue;
		now.pushed[k] = pass(&p->at[k], width, now.cycle[k], k == PUSHOUT_RETIRE ? &p->sums.full : &unused);
	}
	p->sums.slots++;
	p->sums.pushed += now.pushed[PUSHOUT_RETIRE];
	if (p->clear && did & SPMU_DID(CLEAR_MEMORY_ORDER))
		p->clear = 0;		/* the load that caused the clear, executed again */
	for (unsigned i = 0; p->clear && i < p->measures; i++)
		if (p->measure[i].tag && p->tag[i].did & p->clear && tag_holds(&p->tag[i], 0, p->clear) &&
			passes(p, i, &now))
			measured(p, i, p->clear_ip ? p->clear_ip : p->last_ip, uop[0]->cpl, &now, p->clear_cycle);
	p->clear = 0;
	did &= ~SPMU_DID(CLEAR_SMC);	/* the signal has counted it already */
	for (uint64_t left = p->waiting; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		if (!passes(p, i, &now))
			continue;
		measured(p, i, p->next_ip, p->next_cpl, &now, p->next_event);
		p->waiting &= ~(UINT64_C(1) << i);
	}
	uint64_t ask = is & p->is || did & p->did ? (p->measures < 64 ? (UINT64_C(1) << p->measures) - 1 : ~UINT64_C(0))
		: p->all;
	for (; ask; ask &= ask - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(ask);
		const struct pushout_measure *m = &p->measure[i];
		if (m->point == PUSHOUT_VISIBLE || (m->tag && !tag_holds(m->tag, is, did)))
			continue;
		const bool due = m->from == PUSHOUT_FROM_DUE;
		const uint64_t event = due ? 0 : m->tag ? event_cycle(m->tag, b, uop, uops) : alloc;
		if (m->tag && did & m->tag->did & PUSHOUT_NEXT) {
			p->waiting |= UINT64_C(1) << i;
			p->next_ip = ip;
			p->next_cpl = uop[0]->cpl;
			p->next_event = due ? p->next_event : event;
		} else if (passes(p, i, &now)) {
			measured(p, i, ip, uop[0]->cpl, &now, event);
		}
	}
	p->last_ip = ip;
	if (looks_at(p, PUSHOUT_VISIBLE)) {
		if (is & SPMU_IS(STORE_ADDR))
			store_retires(p, ip, is, did, now.cycle[PUSHOUT_RETIRE], uop[0]->cpl);
		visible(p, &now);
	}
}

/* The core runs from this cycle on; before it, it was halted or its clock had not begun. */
static void runs_from(struct pushout *p, uint64_t cycle)
{
	if (p->begun && cycle <= p->at[PUSHOUT_RETIRE].last)
		return;
	for (unsigned k = 0; k < PUSHOUT_POINTS; k++)
		p->at[k] = (struct passed){ .last = cycle };
	p->begun = true;
}

void pushout_batch(struct pushout *p, const struct spmu_batch *b)
{
	const struct spmu_record *uop[SLOT_UOPS], *clear = NULL;
	unsigned uops = 0;
	for (uint32_t i = b->count; i--; ) {	/* from the end: the core writes CYCLES last */
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
			if (r->signal == SPMU_SIG_CLEAR_MEMORY_ORDER || r->signal == SPMU_SIG_CLEAR_SMC) {
				clear = r;	/* it comes after the slot that is being collected */
			} else if (r->signal == SPMU_SIG_STORE_VISIBLE && looks_at(p, PUSHOUT_VISIBLE)) {
				store_written(p, r->ip, b->base_cycle + r->begin);
			} else if (r->signal == SPMU_SIG_INSN_FETCHED) {
				p->fetching_ip = r->ip;
				p->fetching_cycle = b->base_cycle + r->begin;
			}
			continue;
		}
		if (r && !(r->did & SPMU_DID(RETIRED)))
			continue;
		if (uops &&
			(!r || r->is & SPMU_IS(SLOT) || r->ip != uop[0]->ip || r->is & SPMU_IS(INST_BEGIN) ||
				uops == SLOT_UOPS)) {
			slot(p, b, uop, uops);
			uops = 0;
		}
		if (clear && !uops) {
			p->clear = clear->signal == SPMU_SIG_CLEAR_SMC ? SPMU_DID(CLEAR_SMC)
				: SPMU_DID(CLEAR_MEMORY_ORDER);
			p->clear_ip = clear->ip;
			p->clear_cycle = b->base_cycle + clear->begin;
			clear = NULL;
		}
		if (r && !uops) {
			p->fetched_ip = p->fetching_ip;
			p->fetched_cycle = p->fetching_cycle;
		}
		if (r)
			uop[uops++] = r;
	}
}
