/* SPDX-License-Identifier: GPL-2.0-or-later
 * The memory system as a core's pipeline sees it: TLBs, L1I, L1D, L2, the shared L3 and memory behind them.
 *
 * Every access carries the cycle at which it starts and comes back with the cycle at which its data are there.
 * Accesses are made in program order; their cycles need not rise.  State (tags, replacement, prefetchers)
 * changes in call order.
 */
#ifndef CORE_MEMSYS_H
#define CORE_MEMSYS_H
#include "core/machine/config.h"
#include "core/record/emit.h"

struct memsys;			/* one core's private part */
struct memsys_shared;		/* L3 and memory of one machine */

int  memsys_shared_create(struct memsys_shared **out, const struct core_config *c, struct err *err);
void memsys_shared_destroy(struct memsys_shared *s);
int  memsys_create(struct memsys **out, struct memsys_shared *s, const struct core_config *c, struct emitter *e, struct err *err);
void memsys_destroy(struct memsys *m);
/* The program's mapping of these addresses: new or changed, with huge pages or without, or gone. */
void memsys_shared_map(struct memsys_shared *s, uint64_t addr, uint64_t bytes, bool huge);
void memsys_reset(struct memsys *m);	/* empty, as after power-up */
void memsys_emitter(struct memsys *m, struct emitter *e);	/* signals go there from now on, and what is heard of other cores (emit.h) */

/* The machine is another from `cycle` on (features.h).  What has another size or policy is made anew, and is empty: what it held modified is
 * written back, by the core's way.  All cores of a machine, then memsys_shared_resize with any of them.  After an error it may not be used. */
int  memsys_resize(struct memsys *m, const struct core_config *c, uint64_t cycle, struct err *err);
int  memsys_shared_resize(struct memsys_shared *s, struct memsys *by, const struct core_config *was, const struct core_config *c, uint64_t cycle,
                          struct err *err);

struct mem_result {
	uint64_t ready;		/* cycle at which the value can be used (load), the line is owned (store), the bytes are there (fetch) */
	uint64_t did;		/* set of enum spmu_did to OR into the uop's record */
};

/* A load that reaches the L1 pipeline at `cycle`; L1 hit: ready = cycle + load-to-use latency. Splits are handled here. */
/* A TLB holds the page of data. */
bool memsys_translated(struct memsys *m, uint64_t addr);
/* From now on translations enter no TLB, or again do. */
void memsys_keep_tlb(struct memsys *m, bool keep);
void memsys_load(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool vector, struct mem_result *r);
/* Translation of a store when its address is known (DTLB; did bits for the store-address uop); ready: translated. */
void memsys_store_translate(struct memsys *m, uint64_t addr, uint32_t size, uint64_t cycle, struct mem_result *r);
/* A retired store that leaves the store buffer at `cycle`; ready: written to L1D (the buffer entry is free). */
void memsys_store_commit(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, uint64_t cycle, bool non_temporal, struct mem_result *r);
/* Software prefetch. */
void memsys_prefetch(struct memsys *m, uint64_t addr, uint64_t cycle);
/* Fetch of the line that holds `addr` by the legacy front end. */
void memsys_fetch(struct memsys *m, uint64_t addr, uint64_t cycle, struct mem_result *r);
/* Functional only: state as above, no time, no signals. */
void memsys_warm_data(struct memsys *m, uint64_t ip, uint64_t addr, uint32_t size, bool store);
void memsys_warm_fetch(struct memsys *m, uint64_t addr);
#endif
