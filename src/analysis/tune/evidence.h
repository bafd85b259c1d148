/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is known of each instruction of a run when advice is given (advice_rules.h): how often it executed, what
 * happened to it, the cycles that the exact profile charges to it, and its addresses: their steps, how much of
 * the lines that it brought in was used, and which misses come only from the limited number of ways.
 *
 * A miss is a conflict miss if a fully associative cache of the same size with LRU replacement would have had
 * the line (M. D. Hill, A. J. Smith, "Evaluating Associativity in CPU Caches", IEEE Transactions on Computers
 * 38(12), 1989).  Such a cache is kept beside L1D and L1I of each core.
 *
 * In a sampled run the fully associative caches begin empty with each window's lead, so in the first part of a window
 * conflict misses are missing; and an instruction's lines and bytes are those that windows saw.
 *
 * Leaves out: sets of L2 and L3 (physical addresses are the model's own); which bytes of a line are used while
 * it is in the cache (instead: those used in the whole run); cycles of hardware threads that share a core,
 * because each one's share is not known (all else is there for them).
 */
#ifndef ANALYSIS_EVIDENCE_H
#define ANALYSIS_EVIDENCE_H
#include "analysis/exact.h"
#include "core/machine/config.h"
#include "core/core.h"
#include "run/run.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name; bits of `is` and bits of `did`: the uop must have at least one of each set (0: any uop) */
#define EVIDENCE_EVENTS(X) \
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
	X(LOCKS,      SPMU_IS(LOCK), SPMU_DID(L1D_HIT) | SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT) | \
	              SPMU_DID(FORWARDED)) /* their loads */ \
	X(DIVIDES,    SPMU_IS(DIVIDE), 0) \
	X(ICACHE,     0, SPMU_DID(ICACHE_MISS)) \
	X(ITLB,       0, SPMU_DID(ITLB_MISS_F)) \
	X(FP_SCALAR,  SPMU_IS(FP_SCALAR_SINGLE) | SPMU_IS(FP_SCALAR_DOUBLE), 0) \
	X(FP_VECTOR,  SPMU_IS(FP_128_SINGLE) | SPMU_IS(FP_128_DOUBLE) | SPMU_IS(FP_256_SINGLE) | \
	              SPMU_IS(FP_256_DOUBLE), 0) \
	X(TLB_MISS,   SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR), SPMU_DID(STLB_HIT)) \
	X(STORE_MISS, SPMU_IS(STORE_ADDR), SPMU_DID(STORE_L1D_MISS)) \
	X(STORE_L2,   SPMU_IS(STORE_ADDR), SPMU_DID(STORE_L2_HIT)) \
	X(STORE_L3,   SPMU_IS(STORE_ADDR), SPMU_DID(STORE_L3_HIT)) \
	X(STORE_OTHER_CORE, SPMU_IS(STORE_ADDR), SPMU_DID(STORE_HITM)) \
	X(CLEARS,     SPMU_IS(LOAD), SPMU_DID(CLEAR_MEMORY_ORDER)) \
	X(FENCES,     SPMU_IS(SERIALIZING), 0) \
	X(PAUSES,     SPMU_IS(PAUSE), 0) \
	X(ASSISTS_FP, 0, SPMU_DID(ASSIST_FP_INPUT) | SPMU_DID(ASSIST_FP_OUTPUT)) \
	X(ASSISTS_VECTOR, 0, SPMU_DID(ASSIST_AVX_TO_SSE) | SPMU_DID(ASSIST_SSE_TO_AVX)) \
	X(BLENDS,     SPMU_IS(VECTOR_BLEND), 0) \
	X(STRING,     SPMU_IS(STRING_REP), 0) \
	X(SLOTS,      SPMU_IS(SLOT), 0) \
	X(DECODED,    SPMU_IS(SLOT), SPMU_DID(FROM_MITE)) \
	X(JUMPS,      SPMU_IS(BRANCH), SPMU_DID(TAKEN)) \
	X(CALLS,      SPMU_IS(CALL), 0)
enum evidence_event {
#define X(name, is, did) EVIDENCE_##name,
	EVIDENCE_EVENTS(X)
#undef X
	EVIDENCE_COUNT
};

struct evidence_site {		/* an instruction of a thread */
	uint64_t ip;
	uint32_t pid, thread;	/* thread: numbered without gaps over the run, in order of appearance */
	bool shared;		/* its core has other hardware threads */
	uint64_t instructions;	/* how often it retired */
	uint64_t part[EXACT_CAUSES];	/* cycles, in parts of 1 / EXACT_CYCLE */
	uint64_t n[EVIDENCE_COUNT];	/* uops */
	uint64_t conflict;	/* conflict misses of L1D_MISS; lines that another core took away do not count */
	uint64_t code_conflict;	/* conflict misses of ICACHE */
	/* of OTHER_CORE and STORE_OTHER_CORE: in lines in which no two threads used the same bytes */
	uint64_t apart;
	/* stores to lines that another thread has used, too, but no byte that both use */
	uint64_t beside;
	uint64_t slow;		/* computations of two cycles or more, without divides */
	uint64_t queued;	/* uops that were ready and waited for a port */
	uint64_t serial;	/* loads that were dispatched when their previous execution was complete, or later */
	uint64_t merged;	/* uops that rename added before it, to merge parts of a register */
	uint64_t moved;		/* bytes that STRING loaded or stored */
	uint64_t target;	/* of CALLS: where the last one went */
	/* its accesses */
	uint64_t low, high;	/* least and largest address; low > high: no accesses */
	int64_t  stride;	/* the step that won a majority vote over all steps */
	/* steps: number of steps; regular: those equal to `stride`, since it last became the stride */
	uint64_t steps, regular;
	/* lines for most of whose misses this instruction is responsible; bytes of these that the program used */
	uint64_t lines, bytes;
	uint64_t last, votes, complete;	/* private */
};

struct evidence;
int  evidence_create(struct evidence **out, const struct core_config *core, struct err *err);
void evidence_destroy(struct evidence *e);
struct core_wanted evidence_wanted(void);
struct evidence_thread;		/* belongs to the evidence */
/* core: threads of the same number share L1D and L1I; shared: it is one of several hardware threads of the core. */
int evidence_thread_start(struct evidence *e, struct evidence_thread **out, uint32_t pid, uint64_t core, bool shared,
	struct err *err);
void evidence_thread_batch(struct evidence_thread *t, const struct spmu_batch *b);
void evidence_thread_end(struct evidence_thread *t);
/* Of a sampled run: behind evidence_thread_start; and run_sink.window.  All evidence is then what the windows saw. */
void evidence_thread_sample(struct evidence_thread *t);
void evidence_thread_window(struct evidence_thread *t, const struct run_window *part);
/* Call when all threads have ended. 0, or ERR_NOMEM if memory ran out during the run. */
int  evidence_finish(struct evidence *e, struct err *err);
const struct evidence_site *evidence_sites(
	const struct evidence *e, size_t *count); /* in order of process, address and thread */
/* Stalls of the decoders by length-changing prefixes: which instructions they belong to is not known. */
uint64_t evidence_lcp(const struct evidence *e);
/* Most lines of the program's memory whose used bytes and threads are tracked. */
enum { EVIDENCE_LINES_MAX = 1 << 21 };
#endif
