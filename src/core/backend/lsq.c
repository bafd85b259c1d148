/* SPDX-License-Identifier: GPL-2.0-or-later
 * Load and store queues; what they model and leave out: lsq.h. */
#include "core/backend/clears.h"
#include "core/record/detail.h"
#include "core/backend/lsq.h"
#include <string.h>

#define WAITED (SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT))	/* of a load: for its line */

void lsq_reset(struct core *c, uint64_t cycle)
{
	const struct core_config *f = &c->config;
	struct lsq *q = &c->q;
	memset(q, 0, sizeof *q);
	q->sb_size = f->store_buffer_size;
	q->mask = 1;
	while (q->mask + 1 < q->sb_size + 2)
		q->mask = q->mask * 2 + 1;
	q->head = q->tail = 256;		/* the entries before these are committed */
	q->commit_width = f->store_commit_width;
	q->commit_delay = f->store_commit_delay;
	q->forward_latency = f->forward_latency;
	q->forward_blocked = f->forward_blocked;
	q->alias_penalty = f->alias_penalty;
	q->l1d_latency = f->l1d_latency;
	q->mdp_limit =
		f->disambiguation_limit == 255 ? 256 : f->disambiguation_limit; /* 255: no counter comes that far */
	q->alias_mask = (UINT64_C(1) << f->alias_bits) - 1;
	q->same_start = f->forward_same_start;
	q->rename_limit = f->forward_renamed;
	q->rename_stores = f->forward_renamed_stores;
	q->few.entries = f->forward_renamed ? f->forward_renamed_few : 0;
	q->forward_vector_extra = f->forward_vector_extra;
	q->forward_gap = f->forward_gap;
	q->commit_line = f->store_commit_line;
	q->commit_fill = f->store_commit_fill;
	q->twice = (f->l1d_replay ? WAITED : 0) | (f->l1d_split_slots ? SPMU_DID(SPLIT_LINE) : 0);
	q->split_slots = f->l1d_split_slots;
	q->split_cycles = f->store_split_cycles;
	q->fill_slots = f->l1d_fill_slots;
	q->fill_every = f->l1d_fill_every && f->l1d_fill_slots;
	q->bank_reads = f->l1d_bank_reads;
	q->lock_penalty = f->lock_penalty;
	q->last_commit = q->advanced = cycle;
	/* another hardware thread may have been there before */
	q->fills = q->fills_seen = c->mem ? memsys_fills(c->mem) : 0;
	const uint32_t count = f->disambiguation_initial < f->disambiguation_limit ? f->disambiguation_initial :
	                       f->disambiguation_limit;
	memset(q->mdp, (int)count, sizeof q->mdp);
}

void lsq_commit(struct core *c)
{
	struct lsq *q = &c->q;
	struct store *s = &q->store[q->head++ & q->mask];
	uint64_t at = s->retire + q->commit_delay;
	const uint64_t from = at, memory = c->e.spent_memory;
	if (UNLIKELY(s->flush)) {
		const uint64_t done = memsys_flush(c->mem, s->addr, s->flush, at);
		if (s->flush == FLUSH_OUT)
			at = done;
		else
			q->weak_flushes = true;
		q->flushed = max64(q->flushed, done);
	} else if (s->done) {
		struct mem_result r = { 0, 0 };
		memsys_store_commit(c->mem, s->ip, s->addr, s->size, at, s->non_temporal, &r);
		if (UNLIKELY(r.did & SPMU_DID(STORE_L1D_MISS)))
			emit_signal_at(&c->e, SPMU_SIG_STORE_L1D_MISS, at, at, 1, s->ip, s->addr);
		at = max64(at, r.ready);
	}
	if (UNLIKELY(c->old.commit_cycles))
		at = max64(at, q->last_commit + older_commit_gap(&c->old));
	if (q->commit_fill && at > q->last_commit)	/* lines that have come since took cycles behind it */
		at = max64(at, q->last_commit + 1 + (uint32_t)(memsys_fills(c->mem) - q->fills));
	if (at > q->last_commit) {
		q->last_commit = at;
		q->commit_count = 1;
	} else if (++q->commit_count > q->commit_width || (q->commit_line && s->addr >> 6 != q->last_line)) {
		q->last_commit += 1 + (q->commit_fill ? (uint32_t)(memsys_fills(c->mem) - q->fills) : 0);
		q->commit_count = 1;
	}
	if (q->commit_fill && q->commit_count == 1)
		q->fills = memsys_fills(c->mem);
	if (UNLIKELY(q->split_cycles) && s->size && (s->addr ^ (s->addr + s->size - 1)) >> 6) {
		q->last_commit += q->split_cycles + (q->commit_count > 1);
		q->commit_count = q->commit_width;
	}
	q->last_line = s->addr >> 6;
	s->commit = q->last_commit;
	if (UNLIKELY(emit_wanted(&c->e, SPMU_SIG_STORE_VISIBLE)) && !s->flush)
		emit_signal_at(&c->e, SPMU_SIG_STORE_VISIBLE, s->commit, s->commit, 1, s->ip, s->addr);
	if (UNLIKELY(c->e.detail)) {
		struct core_written *w = detail_new(&c->e, DETAIL_WRITTEN);
		w->store = q->head - 1;
		w->from = from;
		w->ready = at;
		w->memory = (uint32_t)(c->e.spent_memory - memory);
	}
}

uint64_t lsq_drain(struct core *c)
{
	while (c->q.head != c->q.tail)
		lsq_commit(c);
	c->q.weak_flushes = false;
	return max64(c->q.last_commit, c->q.flushed);
}

void lsq_store_fence(struct core *c)
{
	struct lsq *q = &c->q;
	for (uint32_t n = q->head; n != q->tail && !q->weak_flushes; n++)
		q->weak_flushes = q->store[n & q->mask].flush > FLUSH_OUT;
	if (UNLIKELY(q->weak_flushes))
		q->last_commit = max64(q->last_commit, lsq_drain(c));
}

void lsq_flush(struct core *c, uint64_t ip, uint64_t addr, unsigned kind, uint64_t addr_ready)
{
	const uint64_t line = addr & ~(uint64_t)(FLUSH_BYTES - 1);
	struct store *s = lsq_store(c, ip, line, FLUSH_BYTES, true, false, addr_ready);
	s->flush = (uint8_t)kind;
	c->q.wants_data = false;
}

/* A store enters the queue; lsq_room was called before.  A load that is dispatched at addr_ready or later sees
 * its address. */
struct store *lsq_store(
	struct core *c, uint64_t ip, uint64_t addr, uint32_t size, bool done, bool non_temporal, uint64_t addr_ready)
{
	struct lsq *q = &c->q;
	uint32_t number = q->tail++;
	struct store *s = &q->store[number & q->mask];
	*s = (struct store){
		.addr = addr, .ip = ip, .addr_ready = addr_ready, .data_ready = addr_ready, .retire = addr_ready,
		.size = done ? size : 0, .done = done, .non_temporal = non_temporal,
	};
	q->wants_data = true;
	q->addr_known = max64(q->addr_known, addr_ready);
	if (!done || !size)
		return s;
	if (size > SQ_INDEXED) {
		q->big = number + 1;
		return s;
	}
	uint64_t g = addr >> 3, last = (addr + (size - 1)) >> 3;
	for (unsigned i = 0;; g = (g + 1) & UINT64_MAX >> 3, i++) {
		uint32_t *bucket = &q->bucket[g & (SQ_BUCKETS - 1)];
		if (i < 2)
			s->older[i] = *bucket;
		*bucket = number + 1;
		if (g == last)
			break;
		s->many = i >= 1;
	}
	return s;
}

uint64_t lsq_store_source(struct core *c, const struct store *s)
{
	const struct lsq *q = &c->q;
	if (!s->done || s->flush)
		return 0;
	if (s->non_temporal)	/* past the caches */
		return SPMU_DID(STORE_L1D_MISS);
	const uint64_t did = memsys_store_source(c->mem, s->addr);
	for (uint32_t n = q->head; did && n + 1 != q->tail; n++) {
		const struct store *older = &q->store[n & q->mask];
		if (older->done && !older->non_temporal && !older->flush && older->addr >> 6 == s->addr >> 6)
			return 0;
	}
	return did;
}

/* A locked operation ends with its store: the line is released when the store is written. */
void lsq_lock_done(struct core *c)
{
	struct lsq *q = &c->q;
	uint64_t written = lsq_drain(c);
	const struct store *s = &q->store[(q->tail - 1) & q->mask];
	if (UNLIKELY(c->config.fsb_clock))
		written = memsys_bus_lock(c->mem, s->addr, s->size, written);
	const bool split = s->size && (s->addr ^ (s->addr + s->size - 1)) >> 6;
	emit_attributes(&c->e, SPMU_SIG_LOCK_DURATION, q->lock_begin, max64(written, q->lock_begin), 1,
		split ? SPMU_ATTR(BUS_LOCK) : 0);
	if (UNLIKELY(split))
		memsys_offcore_lock(c->mem, q->lock_begin);
	q->load_floor = max64(q->load_floor, written + q->lock_penalty);
	q->lock_slot = false;
}

static bool overlaps(const struct store *s, uint64_t addr, uint32_t size)
{
	return addr - s->addr < s->size || s->addr - addr < size;
}

/* True if they overlap in the low bits that are compared first (alias.bits). */
static bool overlaps_low(const struct lsq *q, const struct store *s, uint64_t addr, uint32_t size)
{
	return !s->flush && (((addr - s->addr) & q->alias_mask) < s->size || ((s->addr - addr) & q->alias_mask) < size);
}

/* True if the store is not written to L1D at `cycle`, as far as is known. */
static bool in_flight(const struct lsq *q, uint32_t number, uint64_t cycle)
{
	return (int32_t)(number - q->head) >= 0 || q->store[number & q->mask].commit > cycle;
}

/* Returns number + 1 of the youngest store in flight at `cycle` that overlaps; 0: none.  *alias: one matches in
 * the low bits only. */
static uint32_t search(const struct lsq *q, uint32_t from, uint64_t addr, uint32_t size, uint64_t cycle, bool *alias)
{
	uint32_t oldest = q->tail - q->sb_size;
	for (uint32_t n = from; (int32_t)(n - oldest) >= 0 && in_flight(q, n, cycle); n--) {
		const struct store *s = &q->store[n & q->mask];
		if (overlaps(s, addr, size))
			return n + 1;
		if (overlaps_low(q, s, addr, size))
			*alias = true;
	}
	return 0;
}

/* The same for an access within one bucket, whose newest store is `from`: it looks at that bucket's stores
 * only. */
static uint32_t search_bucket(
	const struct lsq *q, uint32_t from, uint64_t addr, uint32_t size, uint64_t cycle, bool *alias)
{
	uint32_t age = q->tail - 1 - from, before;
	do {
		uint32_t n = q->tail - 1 - age;
		const struct store *s = &q->store[n & q->mask];
		if (!in_flight(q, n, cycle))
			break;
		if (overlaps(s, addr, size))
			return n + 1;
		*alias |= overlaps_low(q, s, addr, size);
		if (s->many)
			return search(q, n - 1, addr, size, cycle, alias);
		before = age;
		age = q->tail - s->older[((s->addr ^ addr) >> 3 & (SQ_BUCKETS - 1)) != 0];
	/* else the store is too old, or its number so old that numbers have wrapped */
	} while (age < q->sb_size && age > before);
	return 0;
}

/* The same, but looks at the buckets first. */
static inline uint32_t find(const struct lsq *q, uint64_t addr, uint32_t size, uint64_t cycle, bool *alias)
{
	if (UNLIKELY(size > SQ_INDEXED || !size || q->tail - q->big < q->sb_size))
		return size ? search(q, q->tail - 1, addr, size, cycle, alias) : 0;
	uint32_t age = lsq_age(q, addr, size);
	if (LIKELY(age >= q->sb_size || !in_flight(q, q->tail - 1 - age, cycle)))
		return 0;
	if (LIKELY((addr ^ (addr + size - 1)) >> 3 == 0))
		return search_bucket(q, q->tail - 1 - age, addr, size, cycle, alias);
	return search(q, q->tail - 1 - age, addr, size, cycle, alias);
}

uint32_t lsq_find(const struct lsq *q, uint64_t addr, uint32_t size, uint64_t cycle, bool *alias)
{
	return find(q, addr, size, cycle, alias);
}

/* Updates the counter of the load's instruction after a load that met stores of unknown address. */
static void disambiguation_learn(struct lsq *q, uint64_t ip, bool conflict)
{
	uint8_t *counter = &q->mdp[ip & (MDP_ENTRIES - 1)];
	if (conflict)
		*counter = 0;
	else if (*counter < q->mdp_limit && *counter < UINT8_MAX)
		++*counter;
}

/* A load whose operands are ready at `ready`.  Returns the cycle of its result. */
uint64_t lsq_load(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, bool vector,
                  uint64_t *did, uint64_t *dispatch)
{
	struct lsq *q = &c->q;
	struct scheduler *sc = &c->sc;
	bool unknown = UNLIKELY(q->addr_known > ready);
	uint64_t alone = ready;		/* when it could have gone */
	if (unknown && q->mdp[ip & (MDP_ENTRIES - 1)] < q->mdp_limit) {
		ready = q->addr_known;
		*did |= SPMU_DID(WAIT_STORE_ADDR);
	}
	uint64_t at = port < SCHED_PORTS ? scheduler_take(sc, port, ready) : ready;
	*dispatch = at;

	bool alias = false;
	uint32_t found = find(q, addr, size, at, &alias);
	struct store *s = found ? &q->store[(found - 1) & q->mask] : NULL;
	if (unknown)
		disambiguation_learn(q, ip, s && s->addr_ready > alone);
	if (UNLIKELY(s && s->addr_ready > at)) {
		/* it read past the store: the load and everything younger is thrown away */
		*did |= SPMU_DID(CLEAR_MEMORY_ORDER);
		if (c->config.free_clear) {
			clears_passed_free(c, ip, addr, s->addr_ready);
		} else {
			at = clears_passed_store(c, ip, addr, s->addr_ready);
			*dispatch = at;	/* its second dispatch, which stands; that its port is free then is assumed */
			while ((int32_t)(found - 1 - q->head) >= 0 && !(q->wants_data && q->head + 1 == q->tail))
				lsq_commit(c);	/* the store has retired */
			if (s->commit <= at)
				s = NULL;
		}
	}
	if (s && UNLIKELY(s->flush)) {
		while ((int32_t)(found - 1 - q->head) >= 0)
			lsq_commit(c);
		at = max64(at, s->commit);
	} else if (s) {
		uint64_t offset = addr - s->addr;
		if (offset < s->size && size <= s->size - offset && !(q->same_start && offset)) {
			*did |= SPMU_DID(FORWARDED) | SPMU_DID(L1D_HIT) |
				(s->data_ready > at ? SPMU_DID(WAIT_STORE_DATA) : 0);
			q->forwarded = found;
			if (UNLIKELY(q->forward_gap)) {
				at = max64(at, q->next_forward);
				q->next_forward = at + q->forward_gap;
			}
			return max64(at, s->data_ready) + q->forward_latency + (vector ? q->forward_vector_extra : 0);
		}
		while ((int32_t)(found - 1 - q->head) >= 0)
			lsq_commit(c);
		if (s->commit > at) {
			*did |= SPMU_DID(FORWARD_BLOCKED) | (offset & 15 ? SPMU_DID(FORWARD_UNALIGNED) : 0);
			if (UNLIKELY(c->config.free_forward)) {
				*did |= SPMU_DID(L1D_HIT);
				return max64(at, s->data_ready) + q->forward_latency +
					(vector ? q->forward_vector_extra : 0);
			}
			at = s->commit + q->forward_blocked;
		}
	} else if (UNLIKELY(alias)) {
		*did |= SPMU_DID(ALIAS_4K);
		at += q->alias_penalty;
	}
	struct mem_result r = { 0, 0 };
	memsys_load(c->mem, ip, addr, size, at, vector, &r);
	return lsq_loaded(c, port, at, &r, did);
}

void lsq_fills(struct core *c, uint64_t arrives)
{
	struct lsq *q = &c->q;
	const uint32_t fills = memsys_fills(c->mem);
	const struct port_choice *loads = c->sc.load_choice;
	/* no load has chosen a port yet: a prefetch came first */
	for (uint32_t n = loads ? (uint32_t)min64(fills - q->fills_seen, FILLS_MOST) * q->fill_slots : 0; n; n--)
		scheduler_again(&c->sc, loads->port[q->fill_port++ % loads->count], arrives);
	q->fills_seen = fills;
}

uint64_t lsq_twice(struct core *c, unsigned port, uint64_t at, const struct mem_result *r)
{
	const struct lsq *q = &c->q;
	const uint64_t arrives = r->ready - min64(r->ready, q->l1d_latency);
	if (port >= SCHED_PORTS)
		return max64(r->ready, at + 1);
	for (uint32_t n = r->did & SPMU_DID(SPLIT_LINE) ? q->split_slots : 0; n; n--)
		scheduler_again(&c->sc, port, at + 1);
	if (!(r->did & WAITED & q->twice) || arrives <= at)
		return max64(r->ready, at + 1);
	lsq_fills(c, arrives);
	return r->ready + (scheduler_again(&c->sc, port, arrives) - arrives);
}

/* The banks (4 bytes each, address bits 5:2) of an access, a bit each. */
static uint32_t banks(uint64_t addr, uint32_t size)
{
	uint32_t first = addr >> 2 & 15, n = (uint32_t)((addr & 3) + size + 3) >> 2;
	uint32_t mask = n >= 16 ? 0xffff : ((1u << n) - 1) << first;
	return (mask | mask >> 16) & 0xffff;
}

/* The same of 8 bytes: address bits 5:3. */
static uint32_t wide_banks(uint64_t addr, uint32_t size)
{
	const uint32_t first = addr >> 3 & 7, n = (uint32_t)((addr & 7) + size + 7) >> 3;
	const uint32_t mask = n >= 8 ? 0xff : ((1u << n) - 1) << first;
	return (mask | mask >> 8) & 0xff;
}

void lsq_bank_read(struct core *c, uint64_t addr, uint32_t size, uint64_t cycle)
{
	struct lsq *q = &c->q;
	const unsigned i = cycle % BANK_RING;
	const uint32_t mask = wide_banks(addr, size);
	if (q->read[i].cycle != cycle) {
		q->read[i].cycle = cycle;
		q->read[i].once = q->read[i].twice = 0;
	}
	q->read[i].twice |= q->read[i].once & mask;
	q->read[i].once |= mask;
}

uint64_t lsq_bank_free(struct core *c, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, uint64_t *did)
{
	const struct lsq *q = &c->q;
	if (q->bank_reads) {
		const uint32_t mask = wide_banks(addr, size);
		for (;; ready++, *did |= SPMU_DID(BANK_CONFLICT)) {
			ready = scheduler_port_free(&c->sc, port, ready);
			const unsigned i = ready % BANK_RING;
			if (q->read[i].cycle != ready ||
			    !((q->bank_reads == 1 ? q->read[i].once : q->read[i].twice) & mask))
				return ready;
		}
	}
	for (;; ready++, *did |= SPMU_DID(BANK_CONFLICT)) {
		ready = scheduler_port_free(&c->sc, port, ready);
		uint64_t other = q->bank[ready % BANK_RING].addr;
		if (q->bank[ready % BANK_RING].cycle != ready || !((other ^ addr) >> 6 & 127) ||
		    !(banks(other, q->bank[ready % BANK_RING].size) & banks(addr, size)))
			return ready;
	}
}

void lsq_store_address(struct core *c, const struct store *s, uint32_t named)
{
	unsigned i = (unsigned)(s - c->q.store);
	c->q.named[i] = (uint8_t)(named & ~(uint32_t)(LOAD_RENAMES | LOAD_BANKS));
	c->q.base[i] = c->reg[named / LOAD_BASE % 32];
}

/* True if the address of a load that takes its data from store `found` - 1 is named by the same registers as
 * that store's. */
static bool same_address(const struct core *c, uint32_t found, uint64_t addr, uint32_t named)
{
	const struct lsq *q = &c->q;
	const unsigned i = (found - 1) & q->mask;
	return (named & LOAD_NO_BASE) != LOAD_NO_BASE && q->store[i].addr == addr && q->store[i].size >= 4 &&
		q->tail - found < q->rename_stores &&
		q->named[i] == (named & ~(uint32_t)(LOAD_RENAMES | LOAD_BANKS)) &&
		q->base[i] == c->reg[named / LOAD_BASE % 32];
}

bool lsq_may_rename(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, uint32_t named)
{
	struct lsq *q = &c->q;
	if (!q->rename_stores || !(named & LOAD_RENAMES))
		return named & LOAD_RENAMES;
	const struct pair *learnt = q->few.entries ? pairs_few_find(&q->few, ip) : NULL;
	if (learnt && learnt->count >= q->rename_limit)
		return true;
	for (uint32_t found = q->tail; q->tail - found < q->rename_stores; found--)
		if (overlaps(&q->store[(found - 1) & q->mask], addr, size))
			return same_address(c, found, addr, named);
	return false;
}

uint64_t lsq_renamed(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, uint32_t named)
{
	struct lsq *q = &c->q;
	const struct store *s = &q->store[(q->forwarded - 1) & q->mask];
	if (q->rename_stores) {
		const bool named_so = same_address(c, q->forwarded, addr, named);
		if (named_so || !q->few.entries)
			return named_so ? q->given[s - q->store] : 0;
		const bool begins = s->addr == addr && size <= s->size && q->named[s - q->store] != LOAD_NO_BASE;
		return pairs_few_meet(&q->few, ip, q->tail - q->forwarded, begins, q->rename_limit)
			? q->given[s - q->store] : 0;
	}
	const bool whole = s->addr == addr && s->size == size;
	return pairs_meet(q->pair, ip, q->tail - q->forwarded, whole, q->rename_limit) ? q->given[s - q->store] : 0;
}
