/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slot accounting (slots.h): a ring of cells, one a cycle, which the records fill in as they come.  Cycles below a
 * batch's watermark are final. */
#include "analysis/slots_cause.h"
#include <stdlib.h>
#include <string.h>

static const char *const cause_name[SLOTS_CAUSE_COUNT] = {
#define X(name, text) text,
	SLOTS_CAUSES(X)
#undef X
};

enum { FIRST_RING = 1 << 14, MOST_RING = 1 << 24 };
enum { RUNNING = 1, RECOVERING = 2, CLEARING = 4, REWRITTEN = 8, WRONG = 16, STORES = 32, MISS_L2 = 64, MISS_L3 = 128,
	OTHERS_LINE = 256, LOCKED = 512, SERIAL = 1024 };
enum { STORE_RING = 256, MANY_READS = 4 };

struct cell {
	uint64_t next_ip, head_ip;	/* address of the next slot that comes; of the oldest uop */
	uint64_t store_ip;		/* of the store that holds up a full store buffer */
	uint16_t flags;
	uint8_t stalls;			/* fetch stalls: 1 icache, 2 ITLB, 4 LCP */
	uint8_t used, bubble;
	uint8_t next, head, fallback;	/* causes */
	uint8_t serial, store;		/* causes, if SERIAL or nothing is in flight; if STORES.  0: not known */
	uint8_t dispatched, reads;	/* uops dispatched; reads under way beyond L2; as many as fit */
};

struct slots {
	struct slots_core core;
	struct cell *ring;
	uint64_t mask, first;		/* the cells are those of cycles first to first + mask */
	uint64_t cycles, total[SLOTS_CAUSE_COUNT];
	/* allocation */
	uint64_t last_alloc, before_alloc, last_did, branch_ip;	/* before_alloc: of the slot before the last one */
	bool mispredicted, cleared, started;
	/* the last slot that retired, which is charged when the next one comes: its uops' bits */
	uint64_t slot_is, slot_did, slot_ip, slot_last_is;
	bool slot_open, slot_further;
	/* the stores that retired last */
	struct { uint64_t ip; uint8_t cause; } store[STORE_RING];
	unsigned stores;
	/* retirement: cells below `headed` know their oldest uop */
	uint64_t headed, last_retire, head_ip, clear_cycle;
	uint16_t clear_flags;
	struct slots_wait head;
	struct slots_access access;	/* by the signals since the last uop */
	bool others_line;		/* the read for ownership that comes next was for another core's line */
	/* sites: open addressing; room is a power of two */
	struct slots_site *site;
	size_t sites, room;
	int failed;
};

struct slots_core slots_core_of(const struct core_config *c)
{
	return (struct slots_core){ .width = c->alloc_width, .frontend_latency = c->frontend_latency,
		.l1_latency = c->l1d_latency, .l2_latency = c->l2_latency,
		.l3_latency = c->l3_latency + (unsigned)(c->l3_latency_ns * c->frequency_ghz),
		.stlb_latency = c->stlb_latency, .store_buffer = c->store_buffer_size };
}

int slots_create(struct slots **out, const struct slots_core *core, struct err *err)
{
	struct slots *s = calloc(1, sizeof *s);
	if (s) {
		*s = (struct slots){ .core = *core, .mask = FIRST_RING - 1, .head.last = SLOTS_NO_CAUSE };
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
		SPMU_SIG_CLEAR_MEMORY_ORDER, SPMU_SIG_CLEAR_SMC, SPMU_SIG_L2_PENDING, SPMU_SIG_L3_PENDING,
		SPMU_SIG_SERIALIZED, SPMU_SIG_LOCK_DURATION, SPMU_SIG_DTLB_LOAD_WALK, SPMU_SIG_DTLB_STORE_WALK,
		SPMU_SIG_L1D_FB_FULL, SPMU_SIG_L2_STALL, SPMU_SIG_OFFCORE_REQUEST, SPMU_SIG_OFFCORE_RFO,
		SPMU_SIG_OFFCORE_ALL_RD };
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

static const struct cell unknown = { .next = SLOTS_NO_CAUSE, .head = SLOTS_NO_CAUSE };

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
		ring[(s->first + i) & (room - 1)] = i <= s->mask ? s->ring[(s->first + i) & s->mask] : unknown;
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
static void mark(struct slots *s, uint64_t begin, uint64_t end, uint16_t flags, uint8_t stalls)
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

static void fill(struct slots *s, uint64_t end, uint8_t cause)
{
	uint64_t c = s->headed > s->first ? s->headed : s->first;
	if (c < end && reach(s, end - 1))
		for (; c < end; c++) {
			struct cell *k = cell(s, c);
			k->head = cause;
			k->fallback = s->head.fallback;
			k->head_ip = s->head_ip;
		}
	if (s->headed < end)
		s->headed = end;
}

/* Up to cycle `end`, the oldest uop is the one after the last that retired. */
static void head_until(struct slots *s, uint64_t end)
{
	for (unsigned i = 0; i < s->head.waits && s->headed < end; i++)
		if (s->headed < s->head.until[i])
			fill(s, s->head.until[i] < end ? s->head.until[i] : end, s->head.cause[i]);
	fill(s, end, s->head.last);
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

/* Charges the last slot that retired, all of whose uops have come. */
static void close_slot(struct slots *s)
{
	if (s->slot_open)
		charge(s, slots_retired(s->slot_is, s->slot_did, s->slot_further), s->slot_ip, 1);
	s->slot_open = false;
}

/* Why issue stands still before this slot, if a serialising instruction or an assist is the reason. */
static uint8_t serialized_by(const struct slots *s, const struct spmu_record *r)
{
	const uint64_t assists = SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX) |
		SPMU_DID(ASSIST_FP_INPUT) | SPMU_DID(ASSIST_FP_OUTPUT);
	const uint64_t is = s->slot_last_is | r->is;
	return r->did & assists               ? SLOTS_BE_ASSIST
		: is & SPMU_IS(PAUSE)         ? SLOTS_BE_PAUSE
		: is & SPMU_IS(LOAD_FENCE)    ? SLOTS_BE_FENCE
					      : SLOTS_BE_SERIAL;
}

/* A uop that takes a slot, which is the first of the slot's uops. */
static void slot(struct slots *s, const struct spmu_record *r, uint64_t alloc, bool retired)
{
	const uint8_t cause = late_by(s, r), serial = serialized_by(s, r);
	const uint64_t from = s->last_alloc > s->first ? s->last_alloc : s->first;
	if (!reach(s, alloc))
		return;
	for (uint64_t c = from; c < alloc; c++) {
		struct cell *k = cell(s, c);
		k->next = cause;
		k->next_ip = r->ip;
		k->serial = serial;
	}
	cell(s, alloc)->used++;
	close_slot(s);
	s->slot_last_is = r->is;
	if (retired) {
		s->slot_open = true;
		s->slot_is = s->slot_did = 0;
		s->slot_ip = r->ip;
		s->slot_further = !(r->is & SPMU_IS(INST_BEGIN));
		s->mispredicted = s->cleared = false;
	} else {
		charge(s, SLOTS_BAD_MISPREDICT, s->branch_ip, 1);
	}
	s->before_alloc = from;
	if (alloc > s->last_alloc)
		s->last_alloc = alloc;
	s->last_did = r->did;
	s->started = true;
}

/* The buffer was full before this store: the store that entered it a buffer's size earlier held it up. */
static void store_waited(struct slots *s, uint64_t alloc)
{
	const unsigned back = s->core.store_buffer;
	if (!back || back > STORE_RING || back > s->stores)
		return;
	const unsigned at = (s->stores - back) % STORE_RING;
	for (uint64_t c = s->before_alloc > s->first ? s->before_alloc : s->first; c < alloc; c++) {
		cell(s, c)->store = s->store[at].cause;
		cell(s, c)->store_ip = s->store[at].ip;
	}
}

/* Before this load the back end stood still: it waited for another thread's turn with the line. */
static void turn_waited(struct slots *s, const struct spmu_record *r, uint64_t alloc)
{
	const uint8_t cause = r->did & SPMU_DID(SNOOP_HITM) ? SLOTS_BE_L3_CONTESTED : SLOTS_BE_L1_LOCK;
	for (uint64_t c = s->before_alloc > s->first ? s->before_alloc : s->first; c < alloc; c++)
		cell(s, c)->serial = cause;
}

static void store_retired(struct slots *s, const struct spmu_record *r)
{
	const unsigned at = s->stores++ % STORE_RING;
	s->store[at].ip = r->ip;
	s->store[at].cause = r->is & SPMU_IS(NON_TEMPORAL) ? SLOTS_BE_STORE_STREAMING
		: r->did & SPMU_DID(SPLIT_LINE)            ? SLOTS_BE_STORE_SPLIT
							   : SLOTS_BE_STORE;
}

static void uop(struct slots *s, const struct spmu_record *r, uint64_t base)
{
	const bool retired = r->did & SPMU_DID(RETIRED);
	const uint64_t alloc = base + r->alloc, retire = base + r->retire, dispatch = base + r->dispatch;
	if (r->did & (SPMU_DID(CLEAR_MEMORY_ORDER) | SPMU_DID(CLEAR_SMC)) && retired)
		s->cleared = true;
	if (r->is & SPMU_IS(SLOT) && alloc >= s->first)
		slot(s, r, alloc, retired);
	/* squashed uops may never have been dispatched */
	if (r->is & SPMU_IS(EXEC) && r->dispatch != UINT32_MAX && dispatch >= s->first && reach(s, dispatch) &&
		cell(s, dispatch)->dispatched < UINT8_MAX)
		cell(s, dispatch)->dispatched++;
	if (r->did & SPMU_DID(STALL_SB) && alloc >= s->first && !s->failed)
		store_waited(s, alloc);
	if (r->is & SPMU_IS(LOAD) && (r->is & SPMU_IS(LOCK) || r->did & SPMU_DID(SNOOP_HITM)) && alloc >= s->first &&
		!s->failed)
		turn_waited(s, r, alloc);
	s->last_did |= r->did & SPMU_DID(BTB_MISS);
	if (retired) {
		s->slot_is |= r->is;
		s->slot_did |= r->did;
		if (r->is & SPMU_IS(STORE_ADDR))
			store_retired(s, r);
		if (r->did & SPMU_DID(MISPREDICTED)) {
			s->mispredicted = true;
			s->branch_ip = r->ip;
		}
		/* from last_retire on, the uops before it are gone */
		if (retire > s->last_retire) {
			head_until(s, s->last_retire);
			s->head.waits = 0;
			s->head.last = SLOTS_NO_CAUSE;
			head_until(s, alloc < retire ? alloc : retire);
			s->last_retire = retire;
		}
		slots_wait_of(&s->head, &s->core, r, base, &s->access, s->headed);
		s->head_ip = r->ip;
		const uint64_t complete = base + r->complete;
		head_until(s, complete < retire ? complete : retire);
	}
	s->access = (struct slots_access){ 0 };
}

/* Adds to the reads under way in [begin, end). */
static void reads(struct slots *s, uint64_t begin, uint64_t end, uint64_t count)
{
	if (begin < s->first)
		begin = s->first;
	if (begin >= end || !reach(s, end - 1))
		return;
	for (uint64_t c = begin; c < end; c++) {
		struct cell *k = cell(s, c);
		k->reads = (uint8_t)(k->reads + count < 255 ? k->reads + count : 255);
	}
}

static void latest(uint64_t *until, uint64_t end)
{
	if (end > *until)
		*until = end;
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
	case SPMU_SIG_CLEAR_SMC:
		s->clear_cycle = begin;
		s->clear_flags = r->signal == SPMU_SIG_CLEAR_SMC ? CLEARING | REWRITTEN : CLEARING;
		break;
	case SPMU_SIG_RECOVERY:
		/* a clear's recovery begins with the clear; what follows its end is the clear's re-steer */
		mark(s, begin, end, begin == s->clear_cycle ? RECOVERING | s->clear_flags : RECOVERING, 0);
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
	case SPMU_SIG_OFFCORE_ALL_RD: reads(s, begin, end, r->did); break;
	case SPMU_SIG_SERIALIZED: mark(s, begin, end, SERIAL, 0); break;
	case SPMU_SIG_LOCK_DURATION: mark(s, begin, end, LOCKED, 0); break;
	case SPMU_SIG_DTLB_LOAD_WALK:
	case SPMU_SIG_DTLB_STORE_WALK: latest(&s->access.walk, end); break;
	case SPMU_SIG_L1D_FB_FULL: latest(&s->access.fill_buffer, end); break;
	case SPMU_SIG_L2_STALL: latest(&s->access.queue, end); break;
	case SPMU_SIG_OFFCORE_REQUEST:
		if (r->is & SPMU_ATTR(REQUEST_RFO))
			s->others_line = r->is & (SPMU_ATTR(SNOOPED_MODIFIED) | SPMU_ATTR(SNOOPED_FORWARD) |
				SPMU_ATTR(SNOOPED_CLEAN));
		break;
	case SPMU_SIG_OFFCORE_RFO:
		if (s->others_line)
			mark(s, begin, end, OTHERS_LINE, 0);
		s->others_line = false;
		break;
	}
}

/* The cause of slots that the back end left empty; *ip: the instruction. */
static enum slots_cause back_end(const struct cell *k, uint64_t *ip)
{
	uint8_t cause = k->head;
	*ip = k->head_ip;
	if (k->flags & STORES) {
		*ip = k->store ? k->store_ip : k->head_ip;
		return k->flags & OTHERS_LINE ? SLOTS_BE_STORE_SHARED : k->store ? k->store : SLOTS_BE_STORE;
	}
	if (cause == SLOTS_LINE_UNDER_WAY)
		cause = k->flags & MISS_L3 ? SLOTS_MEMORY : k->flags & MISS_L2 ? SLOTS_BE_L3 : k->fallback;
	if (cause == SLOTS_MEMORY)
		cause = k->reads >= MANY_READS ? SLOTS_BE_DRAM_BANDWIDTH : SLOTS_BE_DRAM;
	/* what a fence waits for is what is under way */
	if (k->flags & SERIAL && (cause >= SLOTS_LOAD_PORT || cause < SLOTS_BE_L1 || cause > SLOTS_BE_STORE_DTLB))
		return k->serial ? k->serial : SLOTS_BE_SERIAL;
	if (cause == SLOTS_LOAD_PORT)
		cause = k->flags & LOCKED ? SLOTS_BE_L1_LOCK : SLOTS_PORT;
	const unsigned busy = k->dispatched < 3 ? k->dispatched : 3;
	return cause == SLOTS_CHAIN        ? SLOTS_BE_CHAIN_0 + busy
		: cause == SLOTS_PORT      ? SLOTS_BE_PORT_0 + busy
		: cause == SLOTS_NO_CAUSE  ? k->serial ? k->serial : SLOTS_BE_SERIAL
					   : (enum slots_cause)cause;
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
			: k->next == SLOTS_NO_CAUSE ? SLOTS_FE_MITE
						    : k->next;
		charge(s, cause, k->next_ip, bubble);
		empty -= bubble;
	}
	if (!empty)
		return;
	if (k->flags & RECOVERING) {
		charge(s, k->flags & REWRITTEN ? SLOTS_BAD_CLEAR_OTHER
				: k->flags & CLEARING ? SLOTS_BAD_CLEAR_ORDER : SLOTS_BAD_MISPREDICT,
			s->branch_ip, empty);
	} else if (k->flags & WRONG) {
		charge(s, SLOTS_BAD_MISPREDICT, s->branch_ip, empty);
	} else {
		uint64_t ip;
		const enum slots_cause cause = back_end(k, &ip);
		charge(s, cause, ip, empty);
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
		*k = unknown;
	}
	s->first = until;
}

void slots_batch(struct slots *s, const struct spmu_batch *b)
{
	if (!s->cycles && !s->started && !s->first) {	/* the thread's first batch */
		for (uint64_t i = 0; i <= s->mask; i++)
			s->ring[i] = unknown;
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
	close_slot(s);	/* no instruction spans batches */
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

void slots_forget_sites(struct slots *s)
{
	if (s->site)
		memset(s->site, 0, s->room * sizeof *s->site);
	s->sites = 0;
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
