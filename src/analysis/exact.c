/* SPDX-License-Identifier: GPL-2.0-or-later
 * Charges cycles to instructions; exact.h has the rule and what is left out.
 *
 * A slot that retires at t counts as retiring in cycle t - 1, because CYCLES covers the cycles below the last
 * retirement.  One pass in program order, which is the order of retirement.  `done`: the cycles below it are
 * charged.
 * `member`: the slots that retire in the last of these cycles; that cycle is charged when a later slot comes.
 */
#include "analysis/exact.h"
#include <stdlib.h>
#include <string.h>

/* MEMBERS: more than any core retires in a cycle */
enum { FIRST_ROOM = 1024, MEMBERS = 64, SLOT_UOPS = 8, HINTS = 1024 };

struct exact {
	struct exact_entry *entry;	/* [0]: no instruction; takes the cycles for which there was no memory */
	uint32_t *bucket;		/* index; 0: free */
	size_t entries, room, buckets;
	uint32_t hint[HINTS];
	bool failed, begun;
	uint64_t done;		/* cycles below this are charged, except the last one if it has members */
	uint64_t clock;		/* cycles charged */
	uint64_t period, next_sample;	/* in terms of `clock`; 0: none */
	uint32_t member[MEMBERS];
	unsigned members;
	/* the instruction that retired last */
	bool has_last;
	uint64_t last_ip, last_is, last_did;
	/* a machine clear after which fetch has not resumed yet */
	bool clear;
	uint64_t clear_ip;
};

static const char *const name[EXACT_CAUSES] = {
#define X(cause, text, help) [EXACT_##cause] = text,
	EXACT_CAUSE_LIST(X)
#undef X
};

const char *exact_cause_name(enum exact_cause c) { return name[c]; }

struct exact *exact_create(uint64_t sample_cycles)
{
	struct exact *x = calloc(1, sizeof *x);
	if (!x)
		return NULL;
	x->room = FIRST_ROOM;
	x->buckets = 2 * FIRST_ROOM;
	x->entry = calloc(x->room, sizeof *x->entry);
	x->bucket = calloc(x->buckets, sizeof *x->bucket);
	x->entries = 1;
	x->period = x->next_sample = sample_cycles;
	if (!x->entry || !x->bucket) {
		exact_destroy(x);
		return NULL;
	}
	return x;
}

void exact_destroy(struct exact *x)
{
	if (!x)
		return;
	free(x->entry);
	free(x->bucket);
	free(x);
}

bool exact_failed(const struct exact *x) { return x->failed; }
uint64_t exact_cycles(const struct exact *x) { return x->clock + (x->members != 0); }

/* ---- the table ---- */

static size_t place_of(const struct exact *x, uint64_t ip)
{
	size_t at = (size_t)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (x->buckets - 1);
	while (x->bucket[at] && x->entry[x->bucket[at]].ip != ip)
		at = (at + 1) & (x->buckets - 1);
	return at;
}

static bool grow(struct exact *x)
{
	size_t room = 2 * x->room;
	uint32_t *bucket = room < UINT32_MAX / 2 ? calloc(2 * room, sizeof *bucket) : NULL;
	struct exact_entry *entry = bucket ? realloc(x->entry, room * sizeof *entry) : NULL;
	if (!entry) {
		free(bucket);
		return false;
	}
	free(x->bucket);
	x->entry = entry;
	x->bucket = bucket;
	x->room = room;
	x->buckets = 2 * room;
	for (uint32_t i = 1; i < x->entries; i++)
		x->bucket[place_of(x, x->entry[i].ip)] = i;
	return true;
}

/* The instruction's index; 0: out of memory. */
static uint32_t find(struct exact *x, uint64_t ip)
{
	uint32_t *hint = &x->hint[(ip ^ ip >> 10) & (HINTS - 1)];
	if (*hint && x->entry[*hint].ip == ip)
		return *hint;
	size_t at = place_of(x, ip);
	if (!x->bucket[at]) {
		if (x->entries == x->room) {
			if (!grow(x)) {
				x->failed = true;
				return 0;
			}
			at = place_of(x, ip);
		}
		x->entry[x->entries] = (struct exact_entry){ .ip = ip };
		x->bucket[at] = (uint32_t)x->entries++;
	}
	return *hint = x->bucket[at];
}

/* ---- charging ---- */

static void charge(struct exact *x, uint64_t ip, enum exact_cause cause, uint64_t cycles)
{
	if (!cycles)
		return;
	uint32_t at = find(x, ip);	/* may move the entries */
	struct exact_entry *e = x->entry + at;
	e->part[cause] += cycles * EXACT_CYCLE;
	x->clock += cycles;
	if (x->period && x->clock >= x->next_sample) {
		uint64_t n = (x->clock - x->next_sample) / x->period + 1;
		e->sampled += n * EXACT_CYCLE;
		x->next_sample += n * x->period;
	}
}

/* Charges the cycle in which the members retire. */
static void close_cycle(struct exact *x)
{
	if (!x->members)
		return;
	uint64_t each = EXACT_CYCLE / x->members, rest = EXACT_CYCLE % x->members;
	bool sample = x->period && ++x->clock >= x->next_sample;
	x->clock += !x->period;
	x->next_sample += sample ? x->period : 0;
	for (unsigned i = 0; i < x->members; i++, rest = 0) {
		struct exact_entry *e = x->entry + x->member[i];
		e->part[EXACT_RETIRING] += each + rest;
		e->sampled += sample ? each + rest : 0;
	}
	x->members = 0;
}

enum exact_cause exact_uop_cause(const struct spmu_record *r)
{
	const uint64_t is = r->is, did = r->did;
	const bool walk = did & SPMU_DID(STLB_MISS);
	if (did & SPMU_DID(CLEAR_MEMORY_ORDER))
		return EXACT_CLEAR;
	/* a locked load that waits for another core's line waits for no older work */
	if (is & SPMU_IS(LOCK) && is & SPMU_IS(LOAD) && did & SPMU_DID(SNOOP_HITM))
		return EXACT_SNOOP;
	if (is & (SPMU_IS(LOCK) | SPMU_IS(SERIALIZING)))
		return EXACT_SERIALIZE;
	if (is & SPMU_IS(LOAD)) {
		if (did & SPMU_DID(L3_MISS))
			return did & (SPMU_DID(SNOOP_HIT) | SPMU_DID(SNOOP_HITM)) ? EXACT_SNOOP
				: walk                                            ? EXACT_MEMORY_WALK
										  : EXACT_MEMORY;
		if (did & SPMU_DID(L3_HIT))
			return walk                                                  ? EXACT_L3_WALK
				: did & (SPMU_DID(SNOOP_HIT) | SPMU_DID(SNOOP_HITM)) ? EXACT_SNOOP
										     : EXACT_L3;
		if (did & (SPMU_DID(L2_HIT) | SPMU_DID(LFB_HIT)))
			return walk ? EXACT_L2_WALK : did & SPMU_DID(L2_HIT) ? EXACT_L2 : EXACT_LFB;
		if (did &
			(SPMU_DID(FORWARDED) | SPMU_DID(FORWARD_BLOCKED) | SPMU_DID(ALIAS_4K) |
				SPMU_DID(WAIT_STORE_DATA)))
			return EXACT_FORWARDING;
		if (did & (SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_MISS)))
			return EXACT_TLB;
		return did & SPMU_DID(L1D_HIT) ? EXACT_L1D : EXACT_EXECUTION;
	}
	if (is & SPMU_IS(STORE_ADDR) && did & (SPMU_DID(DTLB_MISS) | SPMU_DID(STLB_MISS)))
		return EXACT_TLB;
	return is & (SPMU_IS(DIVIDE) | SPMU_IS(INT_DIVIDE)) ? EXACT_DIVIDER : EXACT_EXECUTION;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Charges the last `cycles` before the slot's uops are complete: goes back from the latest of them through
 * those of the slot that it waited for.  Offsets are from the batch's base. */
static void stalled(struct exact *x, const struct spmu_record *const *uop, unsigned uops, uint64_t cycles)
{
	const struct spmu_record *u = uop[0];
	const uint64_t ip = u->ip;
	for (unsigned i = 1; i < uops; i++)
		if (uop[i]->complete > u->complete)
			u = uop[i];
	uint64_t end = u->complete ? u->complete - 1 : 0;
	for (unsigned round = 0; cycles && round < uops; round++) {
		uint64_t part = least(cycles, end > u->dispatch ? end - u->dispatch : 0);
		charge(x, ip, exact_uop_cause(u), part);
		cycles -= part;
		end = least(end, u->dispatch);
		part = least(cycles, end > u->ready ? end - u->ready : 0);
		charge(x, ip, EXACT_PORT, part);
		cycles -= part;
		end = least(end, u->ready);
		const struct spmu_record *before = NULL;
		for (unsigned i = 0; i < uops; i++)
			if (uop[i]->complete <= end && uop[i]->dispatch < end &&
				(!before || uop[i]->complete > before->complete))
				before = uop[i];
		if (!before)
			break;
		u = before;
	}
	charge(x, ip, u->is & (SPMU_IS(LOCK) | SPMU_IS(SERIALIZING)) ? EXACT_SERIALIZE :
		u->did & SPMU_DID(WAIT_STORE_ADDR) ? EXACT_FORWARDING : EXACT_PIPELINE, cycles);
}

/* Charges cycles in which the reorder buffer was empty before the slot of uop u. */
static void empty(struct exact *x, const struct spmu_record *u, uint64_t cycles)
{
	const uint64_t alone = SPMU_IS(SERIALIZING) | SPMU_IS(PAUSE) | SPMU_IS(FAR);
	uint64_t ip = u->ip;
	enum exact_cause cause = EXACT_FRONT_END;
	if (x->clear) {
		cause = EXACT_CLEAR;
		ip = x->clear_ip ? x->clear_ip : x->has_last ? x->last_ip : ip;
	} else if (x->has_last && x->last_did & SPMU_DID(MISPREDICTED)) {
		cause = EXACT_MISPREDICT;
		ip = x->last_ip;
	} else if (u->did & (SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX))) {
		cause = EXACT_ASSIST;
	} else if (x->has_last && x->last_is & alone) {
		cause = EXACT_SERIALIZE;
		ip = x->last_ip;
	} else if (u->is & SPMU_IS(SERIALIZING)) {
		cause = EXACT_SERIALIZE;
	} else if (u->did & SPMU_DID(STALL_SB)) {
		cause = EXACT_STORES;
	} else if (u->did & SPMU_DID(ITLB_MISS_F)) {
		cause = EXACT_ITLB;
	} else if (u->did & SPMU_DID(ICACHE_MISS)) {
		cause = EXACT_ICACHE;
	} else if (x->has_last && x->last_did & SPMU_DID(BTB_MISS)) {
		cause = EXACT_RESTEER;
	}
	charge(x, ip, cause, cycles);
}

static void slot(struct exact *x, const struct spmu_batch *b, const struct spmu_record *const *uop, unsigned uops)
{
	const struct spmu_record *u = uop[0];
	const uint64_t retire = b->base_cycle + uop[uops - 1]->retire;
	uint64_t did = 0, ends = 0;
	for (unsigned i = 0; i < uops; i++)
		did |= uop[i]->did;
	/* its own clear: what follows it waits, not this slot */
	x->clear &= !(did & SPMU_DID(CLEAR_MEMORY_ORDER));
	if (retire > x->done) {
		close_cycle(x);
		uint64_t from = x->done, to = retire - 1, alloc = b->base_cycle + u->alloc,
			 enters = least(alloc > from ? alloc : from, to);
		if (enters > from)
			empty(x, u, enters - from);
		if (to > enters)
			stalled(x, uop, uops, to - enters);
		x->done = retire;
		x->member[x->members++] = find(x, u->ip);
	} else if (x->members && x->members < MEMBERS) {
		x->member[x->members++] = find(x, u->ip);
	}
	/* the load that passed a store: what follows it is fetched again */
	x->clear = did & SPMU_DID(CLEAR_MEMORY_ORDER);
	x->clear_ip = u->ip;
	if (!x->has_last || x->last_ip != u->ip || u->is & SPMU_IS(INST_BEGIN))
		x->last_is = x->last_did = 0;
	x->has_last = true;
	x->last_ip = u->ip;
	x->last_did |= did;
	for (unsigned i = 0; i < uops; i++) {
		x->last_is |= uop[i]->is;
		ends += !!(uop[i]->is & SPMU_IS(INST_END)) + !!(uop[i]->is & SPMU_IS(INST_END2));
	}
	if (ends) {
		uint32_t at = find(x, u->ip);
		x->entry[at].instructions += ends;
	}
}

/* The stretch of CYCLES in the batch; false: there is none. */
static bool running(const struct spmu_batch *b, uint64_t *begin, uint64_t *end)
{
	bool any = false;
	for (uint32_t i = b->count; i-- && !any; ) {	/* the core writes it last */
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_SIGNAL && r->signal == SPMU_SIG_CYCLES && r->end > r->begin) {
			*begin = b->base_cycle + r->begin;
			*end = b->base_cycle + r->end;
			any = true;
		}
	}
	return any;
}

static void start_at(struct exact *x, uint64_t cycle)
{
	if (x->begun && cycle <= x->done)
		return;
	close_cycle(x);		/* the thread halted in between, or was not looked at */
	x->done = cycle;
	x->begun = true;
}

void exact_batch(struct exact *x, const struct spmu_batch *b)
{
	const struct spmu_record *uop[SLOT_UOPS];
	unsigned uops = 0;
	bool clear = false;
	uint64_t begin, end, clear_ip = 0;
	bool runs = running(b, &begin, &end);
	if (runs)
		start_at(x, begin);
	else if (!x->begun)
		start_at(x, b->base_cycle);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind != SPMU_REC_UOP) {
			if (r->signal != SPMU_SIG_CLEAR_MEMORY_ORDER && r->signal != SPMU_SIG_CLEAR_SMC)
				continue;
			clear = true;	/* it takes effect after the slot that is being collected */
			clear_ip = r->ip;
			continue;
		}
		if (!(r->did & SPMU_DID(RETIRED)))
			continue;
		if (uops &&
			(r->is & SPMU_IS(SLOT) || r->ip != uop[0]->ip || r->is & SPMU_IS(INST_BEGIN) ||
				uops == SLOT_UOPS)) {
			slot(x, b, uop, uops);
			uops = 0;
		}
		if (clear && !uops) {
			x->clear = true;
			x->clear_ip = clear_ip;
			clear = false;
		}
		uop[uops++] = r;
	}
	if (uops)
		slot(x, b, uop, uops);
	if (clear) {
		x->clear = true;
		x->clear_ip = clear_ip;
	}
	if (runs && end > x->done) {	/* the core waits for stores with nothing else left */
		close_cycle(x);
		charge(x, x->last_ip, EXACT_SERIALIZE, end - x->done);
		x->done = end;
	}
}

void exact_skip(struct exact *x, const struct spmu_batch *b)
{
	uint64_t begin, end;
	if (running(b, &begin, &end))
		start_at(x, end);
	x->has_last = x->clear = false;
}


bool exact_holds(const struct exact *x, uint64_t addr, uint64_t bytes)
{
	for (size_t i = 1; i < x->entries; i++)
		if (x->entry[i].ip - addr < bytes)
			return true;
	return false;
}

static int by_ip(const void *a, const void *b)
{
	const struct exact_entry *p = a, *q = b;
	return p->ip < q->ip ? -1 : p->ip > q->ip;
}

int exact_take(struct exact *x, int (*visit)(void *context, const struct exact_entry *e), void *context)
{
	int rc = 0;
	close_cycle(x);
	qsort(x->entry + 1, x->entries - 1, sizeof *x->entry, by_ip);
	for (size_t i = 1; i < x->entries && !rc; i++)
		rc = visit(context, x->entry + i);
	x->entries = 1;
	memset(x->bucket, 0, x->buckets * sizeof *x->bucket);
	memset(x->hint, 0, sizeof x->hint);
	return rc;
}
