/* SPDX-License-Identifier: GPL-2.0-or-later
 * Load and store queues: store buffer, store forwarding, memory disambiguation, locked operations.
 *
 * Models: stores leave in order after retirement, store.commit_width a cycle.  Each asks for its line when it
 * has retired, so that misses of neighbouring stores overlap, and is written only behind the store before it.
 * A load takes its data from the youngest older store that overlaps it, if that store holds all of it;
 * otherwise the load waits until the store is written.  A store whose low 12 address bits (NetBurst: 16, 22;
 * alias.bits) overlap the load's delays the load (4K aliasing).
 * With forward.same_start a store gives its data only to loads that begin where it does (Optimization Manual,
 * "Store-to-Load-Forwarding Restriction on Size and Alignment", for Pentium M, NetBurst and before).
 * A load waits for older stores of unknown address until its instruction has shown often enough that it need
 * not.  The low 8 bits of the instruction's address choose a saturating counter; at 15 the load may pass, and a
 * conflict clears it (H. Ragab et al., "Rage Against the Machine Clear", USENIX Security 2021, memory
 * disambiguation).  A load that passed a store that it depends on causes a machine clear.
 * forward.renamed: a load of 4 or 8 bytes into a general register becomes the stored register at rename if its
 * address is written as the store's.  What decides is that the load took its data from the store as many stores
 * back as the last times.  The load is executed all the same.  With forward.renamed_stores the registers of the
 * address decide (Zen: SOG 57647, "Memory File", unverified; measured: data/uops/zen4.tsv), and with
 * forward.renamed_few what few loads have learnt (Zen 3).  Golden Cove: MOV r64,[m64]+MOV [m64],r64 takes 0.5 cycles,
 * of r16 13, PUSH r64+POP r64 0.5 (InstLatx64).
 * Banks, l1d.banks: of two loads in a cycle with equal address bits 5:2 and different bits 12:6 the younger
 * waits (Optimization Manual, "Handling L1D Cache Bank Conflict").  l1d.bank_reads: a load waits if so many loads of
 * its cycle read one of its banks of 8 bytes already, even of the same line (docs/measured/golden-cove.md).
 * l1d.replay: loads that wait for their line take a second slot of their port when it arrives (scheduler.h).  With
 * l1d.fill_slots the line itself takes slots, too, one port after another; at most FILLS_MOST lines at a time;
 * with l1d.fill_every lines that no load waits for, too.
 * store.commit_fill: a line that arrives in L1D takes its write port for a cycle, so no store is written then.  Golden
 * Cove: docs/measured/golden-cove.md, "Lines that arrive in L1D".
 * l1d.split_slots, store.split_cycles: an access that crosses a line takes its port, or L1D's write port, for longer.
 * Flushes of lines (CLFLUSH, ..) have a place in the store buffer, from which they leave in order (SDM vol. 3A, "Memory
 * Ordering in P6 and More Recent Processor Families": no write is reordered with CLFLUSH; its uops are those of a
 * store).  A younger load of the line waits for its flush, as it would for a store that cannot forward (GUESS; settle
 * with a chain of CLFLUSH and a load of the line: LD_BLOCKS.STORE_FORWARD and L1 misses).
 * Leaves out: what a load costs that became the wrong register; whether the stored register was a vector
 * register; the other hardware thread; snoops; forwarding of split and uncacheable accesses; forwarding from
 * several stores.
 *
 * How: stores are numbered and a ring holds them.  A table of the newest store to each 8 bytes (modulo 4096)
 * tells at once that no store concerns a load.
 */
#ifndef CORE_LSQ_H
#define CORE_LSQ_H
#include "core/pipeline.h"
#include "core/backend/scheduler.h"

enum { FILLS_MOST = 4 };
void lsq_commit(struct core *c);		/* commits the oldest store */
/* Commits all; returns the cycle in which the last was written and all flushes are done. */
uint64_t lsq_drain(struct core *c);
void lsq_store_fence(struct core *c);		/* later stores wait for all flushes */
uint64_t lsq_load(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, bool vector,
                  uint64_t *did, uint64_t *dispatch);
/* Returns the first cycle from `ready` on in which the port is free and no load that was dispatched then meets
 * this one in a bank. */
uint64_t lsq_bank_free(struct core *c, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, uint64_t *did);
/* A load of these bytes was dispatched: counts it, for l1d.bank_reads. */
void lsq_bank_read(struct core *c, uint64_t addr, uint32_t size, uint64_t cycle);
/* After a load that took its data from a store: returns the cycle of the stored register if the load becomes
 * that register, else 0. */
uint64_t lsq_renamed(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, uint32_t named);
/* Before the load: returns whether it would become the stored register if the youngest older store to its bytes
 * gave it its data.  Where the instruction decides, its pair must have learnt so, too. */
bool lsq_may_rename(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, uint32_t named);
/* With forward.renamed_stores: notes the registers of the store's address (enum uop_load). */
void lsq_store_address(struct core *c, const struct store *s, uint32_t named);
void lsq_lock_done(struct core *c);
/* Returns the number + 1 of the youngest store in flight at `cycle` that overlaps; 0: none.  *alias: one
 * matches in the low bits only. */
uint32_t lsq_find(const struct lsq *q, uint64_t addr, uint32_t size, uint64_t cycle, bool *alias);
struct store *lsq_store(
	struct core *c, uint64_t ip, uint64_t addr, uint32_t size, bool done, bool non_temporal, uint64_t addr_ready);

/* A flush (enum uop_flush) of the line at addr enters the queue like a store.  Loads of the line wait until it is done;
 * later stores do so too, unless it is one of the weak kinds. */
void lsq_flush(struct core *c, uint64_t ip, uint64_t addr, unsigned kind, uint64_t addr_ready);

/* For a sampled store, the newest, that retires: where its line is (memsys_store_source).  Older stores that are not
 * written yet bring their lines first. */
uint64_t lsq_store_source(struct core *c, const struct store *s);
/* A load that was dispatched at `at` takes its port a second time.  Returns when it has its data. */
uint64_t lsq_twice(struct core *c, unsigned port, uint64_t at, const struct mem_result *r);
/* Lines that were brought into L1D since the last call take slots of the load ports from `arrives` on. */
void lsq_fills(struct core *c, uint64_t arrives);
static inline bool lsq_wants_source(const struct core *c)
{
	return UNLIKELY(c->e.wanted_did & SPMU_DID(STORE_L1D_MISS));
}

/* Stores that have retired by `cycle` go on to L1D. */
static inline void lsq_advance(struct core *c, uint64_t cycle)
{
	struct lsq *q = &c->q;
	q->advanced = cycle;
	while (q->head != q->tail && q->store[q->head & q->mask].retire + q->commit_delay <= cycle &&
	       !(q->wants_data && q->head + 1 == q->tail))
		lsq_commit(c);
}

/* Returns the cycle in which a store-buffer entry is free for the next store. */
static inline uint64_t lsq_room(struct core *c)
{
	struct lsq *q = &c->q;
	while (UNLIKELY(q->tail - q->head >= q->sb_size))
		lsq_commit(c);
	return q->store[(q->tail - q->sb_size) & q->mask].commit;
}

/* Returns how many stores have come since the newest one to any of these bytes (modulo 4096), or more than the
 * buffer holds. */
static inline uint32_t lsq_age(const struct lsq *q, uint64_t addr, uint32_t size)
{
	uint64_t g = addr >> 3, last = (addr + (size - 1)) >> 3;
	uint32_t age = q->tail - q->bucket[g & (SQ_BUCKETS - 1)];
	while (UNLIKELY(g != last)) {
		g = (g + 1) & UINT64_MAX >> 3;
		uint32_t other = q->tail - q->bucket[g & (SQ_BUCKETS - 1)];
		age = other < age ? other : age;
	}
	return age;
}

/* True if no store in flight at `cycle` or later has to do with these bytes (modulo 4096). */
static inline bool lsq_clear(const struct lsq *q, uint64_t addr, uint32_t size, uint64_t cycle)
{
	uint32_t age = lsq_age(q, addr, size), n = q->tail - 1 - age;
	return age >= q->sb_size || ((int32_t)(n - q->head) < 0 && q->store[n & q->mask].commit <= cycle);
}

/* A load that was dispatched at `at` has been to L1D; returns when it has its data. */
static inline __attribute__((always_inline)) uint64_t
lsq_loaded(struct core *c, unsigned port, uint64_t at, const struct mem_result *r, uint64_t *did)
{
	const struct lsq *q = &c->q;
	*did |= r->did;
	if (UNLIKELY(q->fill_every) && memsys_fills(c->mem) != q->fills_seen)
		lsq_fills(c, at + 1);
	if (UNLIKELY(r->did & q->twice))
		return lsq_twice(c, port, at, r);
	return max64(r->ready, at + 1);
}

/* lsq_load, quick for a load that no store concerns, as most.  A load that passes stores of unknown address
 * because its counter is full, and meets none of them, does not change the counter. */
static inline __attribute__((always_inline)) uint64_t
lsq_load_quick(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, bool vector,
               uint64_t *did, uint64_t *dispatch)
{
	struct lsq *q = &c->q;
	if (UNLIKELY((q->addr_known > ready && q->mdp[ip & (MDP_ENTRIES - 1)] < q->mdp_limit) || size > SQ_INDEXED ||
	             q->tail - q->big < q->sb_size || !lsq_clear(q, addr, size, ready)))
		return lsq_load(c, ip, addr, size, port, ready, vector, did, dispatch);
	struct mem_result r = { 0, 0 };
	uint64_t at = LIKELY(port < SCHED_PORTS) ? scheduler_take(&c->sc, port, ready) : ready;
	*dispatch = at;
	memsys_load(c->mem, ip, addr, size, at, vector, &r);
	return lsq_loaded(c, port, at, &r, did);
}

/* The same for a load that needs a closer look (more: enum uop_load).  *renamed: cycle of the register that the
 * load becomes; unchanged if it becomes none.  The access is made when this returns. */
static inline __attribute__((always_inline)) uint64_t
lsq_load_more(struct core *c, uint64_t ip, uint64_t addr, uint32_t size, unsigned port, uint64_t ready, bool vector,
              unsigned more, uint64_t *did, uint64_t *dispatch, uint64_t *renamed)
{
	struct lsq *q = &c->q;
	q->forwarded = 0;
	if (UNLIKELY(more & LOAD_BANKS && port < SCHED_PORTS))
		ready = lsq_bank_free(c, addr, size, port, ready, did);
	uint64_t result = lsq_load_quick(c, ip, addr, size, port, ready, vector, did, dispatch);
	if (q->bank_reads) {
		lsq_bank_read(c, addr, size, *dispatch);
	} else if (UNLIKELY(more & LOAD_BANKS)) {
		q->bank[*dispatch % BANK_RING].cycle = *dispatch;
		q->bank[*dispatch % BANK_RING].addr = addr;
		q->bank[*dispatch % BANK_RING].size = size;
	}
	if (UNLIKELY(q->forwarded) && more & LOAD_RENAMES)
		*renamed = lsq_renamed(c, ip, addr, size, more);
	return result;
}
#endif
