/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is known of each instruction of a run when advice is to be given on it (advice_rules.h): how often it was executed, what happened to it, the cycles
 * that the exact profile charges it with, and which addresses it used: in what steps, how much of the lines that it brought in, and
 * which of its misses only the number of ways is to blame for.
 *
 * A miss is one of conflict if a fully associative cache of the same size with LRU replacement would have had the line (M. D. Hill, A. J. Smith,
 * "Evaluating Associativity in CPU Caches", IEEE Transactions on Computers 38(12), 1989).  Such a cache is kept beside L1D and L1I of each core.
 *
 * Leaves out: sets of L2 and L3 (physical addresses are the model's own); which bytes of a line are used while it is in the cache (those of the whole run
 * are); cycles of hardware threads that share a core, which cannot be told apart (all else is there).
 */
#ifndef ANALYSIS_EVIDENCE_H
#define ANALYSIS_EVIDENCE_H
#include "analysis/exact.h"
#include "core/machine/config.h"
#include "core/core.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVIDENCE_EVENTS(X) /* name, bits of `is` of which one is there (0: any uop), bits of `did` likewise */ \
	X(LOADS,      SPMU_IS(LOAD), 0) \
	X(STORES,     SPMU_IS(STORE_ADDR), 0) \
	X(CONDS,      SPMU_IS(COND), 0) \
	X(TAKEN,      SPMU_IS(COND), SPMU_DID(TAKEN)) \
	X(COND_MISSED, SPMU_IS(COND), SPMU_DID(MISPREDICTED)) \
	X(INDIRECTS,  SPMU_IS(INDIRECT), 0) \
	X(INDIRECT_MISSED, SPMU_IS(INDIRECT), SPMU_DID(MISPREDICTED)) \
	X(UNKNOWN_BRANCH, SPMU_IS(BRANCH), SPMU_DID(BTB_MISS)) \
	X(L1D_MISS,   SPMU_IS(LOAD), SPMU_DID(L1D_MISS)) \
	X(LFB_HIT,    SPMU_IS(LOAD), SPMU_DID(LFB_HIT)) \
	X(L2_MISS,    SPMU_IS(LOAD), SPMU_DID(L2_MISS)) \
	X(L3_MISS,    SPMU_IS(LOAD), SPMU_DID(L3_MISS)) \
	X(WALK,       SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR), SPMU_DID(STLB_MISS)) \
	X(SPLIT,      SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR), SPMU_DID(SPLIT_LINE) | SPMU_DID(SPLIT_PAGE)) \
	X(ALIAS,      SPMU_IS(LOAD), SPMU_DID(ALIAS_4K)) \
	X(BLOCKED,    SPMU_IS(LOAD), SPMU_DID(FORWARD_BLOCKED)) \
	X(FORWARDED,  SPMU_IS(LOAD), SPMU_DID(FORWARDED)) \
	X(OTHER_CORE, SPMU_IS(LOAD), SPMU_DID(SNOOP_HITM)) \
	X(ICACHE,     0, SPMU_DID(ICACHE_MISS)) \
	X(ITLB,       0, SPMU_DID(ITLB_MISS_F)) \
	X(FP_SCALAR,  SPMU_IS(FP_SCALAR_SINGLE) | SPMU_IS(FP_SCALAR_DOUBLE), 0) \
	X(FP_VECTOR,  SPMU_IS(FP_128_SINGLE) | SPMU_IS(FP_128_DOUBLE) | SPMU_IS(FP_256_SINGLE) | SPMU_IS(FP_256_DOUBLE), 0)
enum evidence_event {
#define X(name, is, did) EVIDENCE_##name,
	EVIDENCE_EVENTS(X)
#undef X
	EVIDENCE_COUNT
};

struct evidence_site {		/* an instruction of a thread */
	uint64_t ip;
	uint32_t pid, thread;	/* thread: dense over the run, in order of appearance */
	bool shared;		/* its core has other hardware threads */
	uint64_t instructions;	/* times it retired */
	uint64_t part[EXACT_CAUSES];	/* cycles, in parts of 1 / EXACT_CYCLE */
	uint64_t n[EVIDENCE_COUNT];	/* uops */
	uint64_t conflict;	/* of L1D_MISS: those of conflict; lines that another core has taken away are none */
	uint64_t code_conflict;	/* of ICACHE */
	uint64_t apart;		/* of OTHER_CORE: in lines of which no two threads used the same bytes */
	/* of its accesses: */
	uint64_t low, high;	/* least and largest address; low > high: none */
	int64_t  stride;	/* the step that won a vote over all steps */
	uint64_t steps, regular;	/* between accesses; those that were `stride`, from when it last became it */
	uint64_t lines, bytes;	/* lines of most of whose misses it was the place; bytes of these that the program used */
	uint64_t last, votes;	/* private */
};

struct evidence;
int  evidence_create(struct evidence **out, const struct core_config *core, struct err *err);
void evidence_destroy(struct evidence *e);
void evidence_wanted(struct core_wanted *w);
struct evidence_thread;		/* belongs to the evidence */
/* core: threads of the same number share L1D and L1I; shared: it is one of several hardware threads of it. */
int  evidence_thread_start(struct evidence *e, struct evidence_thread **out, uint32_t pid, uint64_t core, bool shared, struct err *err);
void evidence_thread_batch(struct evidence_thread *t, const struct spmu_batch *b);
void evidence_thread_end(struct evidence_thread *t);
/* When all threads have ended.  0, or that memory ran out on the way. */
int  evidence_finish(struct evidence *e, struct err *err);
const struct evidence_site *evidence_sites(const struct evidence *e, size_t *count);	/* in order of process, address and thread */
/* Lines beyond these of the program's memory are not looked into (bytes of lines, threads of lines). */
enum { EVIDENCE_LINES_MAX = 1 << 21 };
#endif
