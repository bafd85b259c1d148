/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slot accounting (slots.h): a ring of cells, one a cycle, which the records fill in as they come.  Cycles below a
 * batch's watermark are final. */
#include "analysis/slots.h"
#include <stdlib.h>
#include <string.h>

static const char *const cause_name[SLOTS_CAUSE_COUNT] = {
#define X(name, text) text,
	SLOTS_CAUSES(X)
#undef X
};

enum { FIRST_RING = 1 << 14, MOST_RING = 1 << 24 };
enum { RUNNING = 1, RECOVERING = 2, CLEARING = 4, WRONG = 8, STORES = 16, MISS_L2 = 32, MISS_L3 = 64 };
/* LINE_UNDER_WAY: the level follows from the pending misses, or else from `fallback` */
enum { NO_CAUSE = 255, LINE_UNDER_WAY = 254 };

struct cell {
	uint64_t next_ip, head_ip;	/* address of the next slot that comes; of the oldest uop */
	uint16_t stalls;		/* fetch stalls: 1 icache, 2 ITLB, 4 LCP */
	uint8_t used, bubble, flags;
	uint8_t next, head, fallback;	/* causes */
};

struct slots {
	struct slots_core core;
	struct cell *ring;
	uint64_t mask, first;		/* the cells are those of cycles first to first + mask */
	uint64_t cycles, total[SLOTS_CAUSE_COUNT];
	/* allocation */
	uint64_t last_alloc, last_did, branch_ip;
	bool mispredicted, cleared, started;
	/* retirement: cells below `headed` know their oldest uop */
	uint64_t headed, last_retire, head_ip, clear_cycle;
	uint8_t head, fallback;
	/* sites: open addressing; room is a power of two */
	struct slots_site *site;
	size_t sites, room;
	int failed;
};

int slots_create(struct slots **out, const struct slots_core *core, struct err *err)
{
	struct slots *s = calloc(1, sizeof *s);
	if (s) {
		*s = (struct slots){ .core = *core, .mask = FIRST_RING - 1, .head = NO_CAUSE };
		s->ring = calloc(FIRST_RING, sizeof *s->ring);
		if (core->sites) {
			s->room = 1024;
			s->site = calloc(s->room, sizeof *s->site);
		}
	}
	if (!s || !s->ring || (core->sites && !s->site)) {
		slots_destroy(s);
		return err_set(err, ERR_NOMEM, "out of memory");
	}
	*out = s;
	return 0;
}

void slots_destroy(struct slots *s)
{
	if (s) {
		free(s->ring);
		free(s->site);
	}
	free(s);
}

void slots_wanted(uint64_t signal[2])
{
	static const uint8_t looked_at[] = { SPMU_SIG_CYCLES, SPMU_SIG_IDQ_BUBBLE, SPMU_SIG_RESOURCE_STALL_SB,
		SPMU_SIG_RECOVERY, SPMU_SIG_WRONG_PATH, SPMU_SIG_ICACHE_STALL, SPMU_SIG_ITLB_STALL, SPMU_SIG_LCP_STALL,
		SPMU_SIG_CLEAR_MEMORY_ORDER, SPMU_SIG_CLEAR_SMC, SPMU_SIG_L2_PENDING, SPMU_SIG_L3_PENDING };
	for (size_t i = 0; i < sizeof looked_at; i++)
		signal[looked_at[i] >> 6] |= UINT64_C(1) << (looked_at[i] & 63);
}

/* ---- sites ---- */

static struct slots_site *find(struct slots_site *site, size_t room, uint64_t ip)
{
	/* the last place is reserved for ip 0 */
	size_t i = ip ? (size_t)(ip * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (room - 1) : room - 1;
	while (ip && (i == room - 1 || (site[i].ip && site[i].ip != ip)))
		i = (i + 1) & (room - 1);
	return site + i;
}

static struct slots_site *site_of(struct slots *s, uint64_t ip)
{
	struct slots_site *f = find(s->site, s->room, ip);
	if (f->ip == ip)
		return f;
	if (2 * ++s->sites > s->room) {
		struct slots_site *more = calloc(2 * s->room, sizeof *more);
		if (!more) {
			s->failed = ERR_NOMEM;
			return find(s->site, s->room, 0);
		}
		for (size_t i = 0; i < s->room; i++)
			if (s->site[i].ip || i == s->room - 1)
				*find(more, 2 * s->room, s->site[i].ip) = s->site[i];
		free(s->site);
		s->site = more;
		s->room *= 2;
		f = find(s->site, s->room, ip);
	}
	f->ip = ip;
	return f;
}

static void charge(struct slots *s, enum slots_cause cause, uint64_t ip, unsigned slots)
{
	s->total[cause] += slots;
	if (s->site && slots)
		site_of(s, ip)->slots[cause] += slots;
}

/* ---- cells ---- */

static bool reach(struct slots *s, uint64_t cycle)
{
	if (cycle - s->first <= s->mask || s->failed)
		return !s->failed;
	uint64_t room = s->mask + 1;
	while (cycle - s->first >= room && room < MOST_RING)
		room *= 2;
	struct cell *ring = cycle - s->first < room ? calloc(room, sizeof *ring) : NULL;
	if (!ring) {
		s->failed = room == MOST_RING ? ERR_UNSUPPORTED : ERR_NOMEM;
		return false;
	}
	for (uint64_t i = 0; i < room; i++)
		ring[(s->first + i) & (room - 1)] = i <= s->mask ? s->ring[(s->first + i) & s->mask]
								 : (struct cell){ .next = NO_CAUSE, .head = NO_CAUSE };
	free(s->ring);
	s->ring = ring;
	s->mask = room - 1;
	return true;
}

static struct cell *cell(struct slots *s, uint64_t cycle)
{
	return &s->ring[cycle & s->mask];
}

/* Marks cycles [begin, end). */
static void mark(struct slots *s, uint64_t begin, uint64_t end, uint8_t flags, uint16_t stalls)
{
	if (begin < s->first)
		begin = s->first;
	if (begin >= end || !reach(s, end - 1))
		return;
	for (uint64_t c = begin; c < end; c++) {
		cell(s, c)->flags |= flags;
		cell(s, c)->stalls |= stalls;
	}
}

/* Up to cycle `end`, the oldest uop is the one after the last that retired. */
static void head_until(struct slots *s, uint64_t end)
{
	uint64_t c = s->headed > s->first ? s->headed : s->first;
	if (c < end && reach(s, end - 1))
		for (; c < end; c++) {
			struct cell *k = cell(s, c);
			k->head = s->head;
			k->fallback = s->fallback;
			k->head_ip = s->head_ip;
		}
	if (s->headed < end)
		s->headed = end;
}

/* The cause of the slots that stay empty while this uop is the oldest. */
static uint8_t held_by(const struct slots *s, const struct spmu_record *r, uint8_t *fallback)
{
	uint32_t waited = r->dispatch > r->ready ? r->dispatch - r->ready : 0,
		 took = r->complete > r->dispatch ? r->complete - r->dispatch : 0;
	*fallback = NO_CAUSE;
	if (r->is & SPMU_IS(DIVIDE) && r->is & SPMU_IS(EXEC) && !(r->is & SPMU_IS(LOAD)))
		return SLOTS_BE_DIVIDER;
	if (waited > took)
		return SLOTS_BE_PORTS;
	if (!(r->is & SPMU_IS(LOAD)))
		return r->is & SPMU_IS(SERIALIZING) ? SLOTS_BE_SERIAL : SLOTS_BE_LATENCY;
	if (r->did & SPMU_DID(LFB_HIT)) {
		*fallback = took > s->core.l3_latency ? SLOTS_BE_DRAM
			: took > s->core.l2_latency ? SLOTS_BE_L3 : SLOTS_BE_L2;
		return LINE_UNDER_WAY;
	}
	return r->did & SPMU_DID(L3_MISS) ? SLOTS_BE_DRAM : r->did & SPMU_DID(L3_HIT) ? SLOTS_BE_L3 :
		r->did & SPMU_DID(L2_MISS) ? SLOTS_BE_DRAM : r->did & SPMU_DID(L2_HIT) ? SLOTS_BE_L2 : SLOTS_BE_L1;
}

/* Why a slot was not delivered right after the one before it. */
static uint8_t late_by(const struct slots *s, const struct spmu_record *r)
{
	const uint64_t quick = SPMU_DID(FROM_DSB) | SPMU_DID(FROM_LSD);
	if (s->mispredicted && r->did & SPMU_DID(RETIRED))
		return SLOTS_FE_RESTEER_MISPREDICT;
	if (s->cleared && r->did & SPMU_DID(RETIRED))
		return SLOTS_FE_RESTEER_CLEAR;
	if (s->last_did & SPMU_DID(BTB_MISS))
		return SLOTS_FE_RESTEER_UNKNOWN;
	if (r->did & SPMU_DID(ICACHE_MISS))
		return SLOTS_FE_ICACHE;
	if (r->did & SPMU_DID(ITLB_MISS_F))
		return SLOTS_FE_ITLB;
	if (s->started && (r->did ^ s->last_did) & SPMU_DID(FROM_MS))
		return SLOTS_FE_MS_SWITCH;
	if (r->did & SPMU_DID(FROM_MITE) && s->last_did & quick)
		return SLOTS_FE_DSB_SWITCH;
	return r->did & SPMU_DID(FROM_MS)     ? SLOTS_FE_MS
		: r->did & SPMU_DID(FROM_LSD) ? SLOTS_FE_LSD
		: r->did & SPMU_DID(FROM_DSB) ? SLOTS_FE_DSB
					      : SLOTS_FE_MITE;
}

static void uop(struct slots *s, const struct spmu_record *r, uint64_t base)
{
	const bool retired = r->did & SPMU_DID(RETIRED);
	const uint64_t alloc = base + r->alloc, retire = base + r->retire;
	if (r->did & (SPMU_DID(CLEAR_MEMORY_ORDER) | SPMU_DID(CLEAR_SMC)) && retired)
		s->cleared = true;
	if (r->is & SPMU_IS(SLOT) && alloc >= s->first) {
		uint8_t cause = late_by(s, r);
		uint64_t from = s->last_alloc > s->first ? s->last_alloc : s->first;
		if (!reach(s, alloc))
			return;
		for (uint64_t c = from; c < alloc; c++) {
			cell(s, c)->next = cause;
			cell(s, c)->next_ip = r->ip;
		}
		cell(s, alloc)->used++;
		if (retired) {
			charge(s, r->did & SPMU_DID(FROM_MS) ? SLOTS_RET_MS : SLOTS_RET_BASE, r->ip, 1);
			s->mispredicted = s->cleared = false;
		} else {
			charge(s, SLOTS_BAD_MISPREDICT, s->branch_ip, 1);
		}
		if (alloc > s->last_alloc)
			s->last_alloc = alloc;
		s->last_did = r->did;
		s->started = true;
	}
	s->last_did |= r->did & SPMU_DID(BTB_MISS);
	if (!retired)
		return;
	if (r->did & SPMU_DID(MISPREDICTED)) {
		s->mispredicted = true;
		s->branch_ip = r->ip;
	}
	/* from last_retire on, the uops before it are gone */
	if (retire > s->last_retire) {
		head_until(s, s->last_retire);
		s->head = NO_CAUSE;
		head_until(s, alloc < retire ? alloc : retire);
		s->last_retire = retire;
	}
	uint8_t fallback;
	s->head = held_by(s, r, &fallback);
	s->fallback = fallback;
	s->head_ip = r->ip;
	uint64_t complete = base + r->complete;
	head_until(s, complete < retire ? complete : retire);
}

static void signal(struct slots *s, const struct spmu_record *r, uint64_t base)
{
	const uint64_t begin = base + r->begin, end = base + r->end;
	const unsigned later = s->core.frontend_latency;
	switch (r->signal) {
	case SPMU_SIG_CYCLES: mark(s, begin, end, RUNNING, 0); break;
	case SPMU_SIG_IDQ_BUBBLE:
		if (begin < end && reach(s, end - 1))
			for (uint64_t c = begin > s->first ? begin : s->first; c < end; c++)
				cell(s, c)->bubble = (uint8_t)(cell(s, c)->bubble + r->did);
		break;
	case SPMU_SIG_RESOURCE_STALL_SB: mark(s, begin, end, STORES, 0); break;
	case SPMU_SIG_CLEAR_MEMORY_ORDER:
	case SPMU_SIG_CLEAR_SMC: s->clear_cycle = begin; break;
	case SPMU_SIG_RECOVERY:
		/* a clear's recovery begins with the clear; what follows its end is the clear's re-steer */
		mark(s, begin, end, begin == s->clear_cycle ? RECOVERING | CLEARING : RECOVERING, 0);
		if (begin == s->clear_cycle) {
			s->clear_cycle = end;
			s->cleared = true;
		}
		break;
	case SPMU_SIG_WRONG_PATH: mark(s, begin, end, WRONG, 0); break;
	case SPMU_SIG_ICACHE_STALL: mark(s, begin + later, end + later, 0, 1); break;
	case SPMU_SIG_ITLB_STALL: mark(s, begin + later, end + later, 0, 2); break;
	case SPMU_SIG_LCP_STALL: mark(s, begin + later, end + later, 0, 4); break;
	case SPMU_SIG_L2_PENDING: mark(s, begin, end, MISS_L2, 0); break;
	case SPMU_SIG_L3_PENDING: mark(s, begin, end, MISS_L3, 0); break;
	}
}

/* Charges the slots of a cycle that no uop took. */
static void finish(struct slots *s, const struct cell *k)
{
	unsigned empty = s->core.width > k->used ? s->core.width - k->used : 0,
		 bubble = k->bubble < empty ? k->bubble : empty;
	s->cycles++;
	if (bubble) {
		uint8_t cause = k->stalls & 1 ? SLOTS_FE_ICACHE
			: k->stalls & 2       ? SLOTS_FE_ITLB
			: k->stalls & 4       ? SLOTS_FE_LCP
			: k->next == NO_CAUSE ? SLOTS_FE_MITE
					      : k->next;
		charge(s, cause, k->next_ip, bubble);
		empty -= bubble;
	}
	if (!empty)
		return;
	if (k->flags & RECOVERING) {
		charge(s, k->flags & CLEARING ? SLOTS_BAD_CLEAR : SLOTS_BAD_MISPREDICT, s->branch_ip, empty);
	} else if (k->flags & WRONG) {
		charge(s, SLOTS_BAD_MISPREDICT, s->branch_ip, empty);
	} else if (k->flags & STORES) {
		charge(s, SLOTS_BE_STORE, k->head_ip, empty);
	} else {
		uint8_t cause = k->head;
		if (cause == LINE_UNDER_WAY)
			cause = k->flags & MISS_L3 ? SLOTS_BE_DRAM : k->flags & MISS_L2 ? SLOTS_BE_L3 : k->fallback;
		charge(s, cause == NO_CAUSE ? SLOTS_BE_SERIAL : cause, k->head_ip, empty);
	}
}

static void final(struct slots *s, uint64_t until)
{
	/* nothing was filled in beyond the ring */
	const uint64_t end = until - s->first > s->mask + 1 ? s->first + s->mask + 1 : until;
	if (until <= s->first)
		return;
	for (; s->first < end; s->first++) {
		struct cell *k = cell(s, s->first);
		if (k->flags & RUNNING || k->used)
			finish(s, k);
		*k = (struct cell){ .next = NO_CAUSE, .head = NO_CAUSE };
	}
	s->first = until;
}

void slots_batch(struct slots *s, const struct spmu_batch *b)
{
	if (!s->cycles && !s->started && !s->first) {	/* the thread's first batch */
		for (uint64_t i = 0; i <= s->mask; i++)
			s->ring[i] = (struct cell){ .next = NO_CAUSE, .head = NO_CAUSE };
		s->first = s->headed = s->last_alloc = s->last_retire = b->base_cycle;
	}
	if (b->base_cycle > s->first)
		final(s, b->base_cycle);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = b->records + i;
		if (r->kind == SPMU_REC_SIGNAL)
			signal(s, r, b->base_cycle);
		else
			uop(s, r, b->base_cycle);
	}
	head_until(s, s->last_retire);
	final(s, b->watermark);
}

void slots_end(struct slots *s)
{
	final(s, s->first + s->mask + 1);
}

int slots_read(const struct slots *s, uint64_t slots[SLOTS_CAUSE_COUNT], uint64_t *cycles, struct err *err)
{
	memcpy(slots, s->total, sizeof s->total);
	*cycles = s->cycles;
	if (s->failed == ERR_UNSUPPORTED)
		return err_set(err, ERR_UNSUPPORTED, "slot accounting: a batch spans more than %d cycles", MOST_RING);
	return s->failed ? err_set(err, ERR_NOMEM, "out of memory") : 0;
}

const struct slots_site *slots_sites(const struct slots *s, size_t *count)
{
	*count = s->site ? s->room : 0;
	return s->site;
}

bool slots_sum(const uint64_t slots[SLOTS_CAUSE_COUNT], const char *path, uint64_t *sum)
{
	*sum = 0;
	while (*path) {
		size_t n = strcspn(path, "+");
		bool any = false;
		for (unsigned k = 0; k < SLOTS_CAUSE_COUNT; k++) {
			const char *name = cause_name[k];
			if (strlen(name) < n || strncmp(name, path, n) || (name[n] && name[n] != '.'))
				continue;
			*sum += slots[k];
			any = true;
		}
		if (!any)
			return false;
		path += n + (path[n] == '+');
	}
	return true;
}
