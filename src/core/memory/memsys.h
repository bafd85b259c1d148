/* SPDX-License-Identifier: GPL-2.0-or-later
 * The memory system as a core's pipeline sees it: TLBs, L1I, L1D, L2, the shared L3 and memory behind them.
 *
 * Every access is given the cycle at which it starts and returns the cycle at which its data are there.
 * Accesses are made in program order; their cycles need not rise.  State (tags, replacement, prefetchers) changes in
 * the order of the calls.
 */
#ifndef CORE_MEMSYS_H
#define CORE_MEMSYS_H
#include "core/machine/config.h"
#include "core/record/emit.h"

struct memsys;			/* one core's private part */
struct memsys_shared;		/* L3 and memory of one machine */

/* Creation allocates; the caller destroys the cores' parts first, then the shared one.  ERR_INPUT: a field has a
 * value that this model cannot have; ERR_NOMEM.  The emitter is borrowed and must outlive the memory system. */
int  memsys_shared_create(struct memsys_shared **out, const struct core_config *c, struct err *err);
void memsys_shared_destroy(struct memsys_shared *s);
int  memsys_create(struct memsys **out, struct memsys_shared *s, const struct core_config *c, struct emitter *e,
                   struct err *err);
void memsys_destroy(struct memsys *m);
/* The program's mapping of these addresses has changed: it is new (huge: with huge pages), or gone. */
void memsys_shared_map(struct memsys_shared *s, uint64_t addr, uint64_t bytes, bool huge);
int  memsys_shared_map_like(struct memsys_shared *s, const struct memsys_shared *like, struct err *err);
/* Sampled runs (core.h, core_copy): these take over the state of another machine of the same description, as far as
 * it outlives what is in flight.  The other one only warms, and memsys_shared_leads was called for it before its first
 * access. */
void memsys_shared_leads(struct memsys_shared *s);
void memsys_copy(struct memsys *to, const struct memsys *from);
/* The leader takes over the pages of the second-level TLB, and the lines of L2, that it lacks and a timed core has:
 * what wrong paths have brought there.  Lines that the leader had and lost are in L3, and are left out. */
void memsys_feed_back(struct memsys *leader, const struct memsys *timed);
int  memsys_shared_copy(struct memsys_shared *to, struct memsys_shared *from, struct err *err);
/* What only warmed: demand misses of L1, L2 and L3, and page walks; `branches` stays. */
struct core_misses;
void memsys_warm_misses(const struct memsys *m, struct core_misses *out);
/* The machine that warms: modelled time goes on to `cycle`. */
void memsys_shared_pass(struct memsys_shared *s, uint64_t cycle);
/* Empties everything, as after power-up. */
void memsys_reset(struct memsys *m);
/* Sends signals, and what other cores do to this core's lines (emit.h), to `e` from now on. */
void memsys_emitter(struct memsys *m, struct emitter *e);

/* Changes the machine's features at `cycle` (features.h).  A structure whose size or policy changes starts empty; its
 * modified lines are written back through this core.  Call memsys_resize for all cores of a machine, then
 * memsys_shared_resize with any one of them.  After an error the memory system must not be used. */
int  memsys_resize(struct memsys *m, const struct core_config *c, uint64_t cycle, struct err *err);
int  memsys_shared_resize(struct memsys_shared *s, struct memsys *by, const struct core_config *was,
                          const struct core_config *c, uint64_t cycle, struct err *err);

struct mem_result {
	/* cycle at which a load's value can be used, a store's line is owned, or fetched bytes are there */
	uint64_t ready;
	uint64_t did;		/* set of enum spmu_did to OR into the uop's record */
};

/* Is the page of this data address in a TLB? */
bool memsys_translated(struct memsys *m, uint64_t addr);
/* keep: translations stay out of the TLBs until called with false. */
void memsys_keep_tlb(struct memsys *m, bool keep);
/* A load that reaches the L1 pipeline at `cycle`.  L1D hit: ready = cycle + load-to-use latency.  Handles splits. */
void memsys_load(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector,
                 struct mem_result *r);
/* Translates a store when its address is known.  did: for the store-address uop; ready: the translation is known. */
void memsys_store_translate(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, struct mem_result *r);
/* A retired store leaves the store buffer at `cycle`.  ready: it is written to L1D and its buffer entry is free. */
void memsys_store_commit(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal,
                         struct mem_result *r);
uint32_t memsys_fills(const struct memsys *m);	/* lines that were brought into L1D, modulo 2^32 */
/* Where a store's line is now: set of STORE_L1D_MISS and its kinds; changes nothing. */
uint64_t memsys_store_source(struct memsys *m, uint64_t addr);
/* Returns the physical line of an address; `more` regions, or one less, want to know what happens to lines
 * (emitter.line_taken, line_left). */
uint32_t memsys_line(struct memsys *m, uint64_t addr);
void memsys_follow(struct memsys *m, bool more);
/* A software prefetch. */
void memsys_prefetch(struct memsys *m, uint64_t addr, uint64_t cycle);
/* Translates the address of a flush, as a load's (SDM vol. 2, CLFLUSH).  did, ready: as memsys_store_translate. */
void memsys_flush_translate(struct memsys *m, uint64_t addr, uint64_t cycle, struct mem_result *r);
/* A flush (kind: enum uop_flush) of the FLUSH_BYTES at addr, which is aligned, leaves the store buffer at `cycle`.
 * Returns when it is done. */
enum { FLUSH_BYTES = 64 };	/* what CPUID leaf 1 says to every program, whatever the core's lines are */
uint64_t memsys_flush(struct memsys *m, uint64_t addr, unsigned kind, uint64_t cycle);
/* The legacy front end asks at `cycle` for the line that holds `addr`; it decodes it from cycle `needed` on. */
void memsys_fetch(struct memsys *m, uint64_t addr, uint64_t cycle, uint64_t needed, struct mem_result *r);
/* Functional warming: change state as the functions above, without time and signals. */
void memsys_warm_data(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, bool store);
void memsys_warm_stream(struct memsys *m, uint64_t addr, uint32_t size);	/* a non-temporal store */
void memsys_warm_prefetch(struct memsys *m, uint64_t addr);			/* a software prefetch */
void memsys_warm_flush(struct memsys *m, uint64_t addr, unsigned kind);
void memsys_warm_fetch(struct memsys *m, uint64_t addr);
/* false: hardware prefetchers see nothing and fetch nothing, until they are switched on again. */
void memsys_prefetchers(struct memsys *m, bool on);
/* A locked access of `size` bytes was written at `cycle`.  If it crosses a line and the machine has a front-side bus,
 * it locks the bus, and reads and writes each of the two parts.  Returns the cycle at which that is done. */
uint64_t memsys_bus_lock(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle);
/* The core asks beyond L2 for the lock of the bus: a locked access crosses a line. */
void memsys_offcore_lock(struct memsys *m, uint64_t cycle);
#endif
