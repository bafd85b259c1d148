/* SPDX-License-Identifier: GPL-2.0-or-later
 * The exact profile: every cycle of a thread charged to the instruction that retirement waited for, with why it waited.
 *
 * The rule, for each cycle, is that of the golden reference ("Oracle") of B. Gottschall, L. Eeckhout, M. Jahre, "TIP: Time-Proportional
 * Instruction Profiling", MICRO 2021:
 *   - slots retire in it: those share it equally (an instruction has as many parts as it has slots that retire then);
 *   - none does, and the reorder buffer holds some: the oldest instruction in it has it all;
 *   - the reorder buffer is empty because what was behind an instruction has been thrown away (a mispredicted branch, a machine clear) or may
 *     not begin before it is done (a serialising instruction): that instruction has it;
 *   - it is empty because nothing came: the next instruction that is allocated has it.
 * The causes are kept for each instruction, as in B. Gottschall, L. Eeckhout, M. Jahre, "TEA: Time-Proportional Event Analysis", ISCA 2023, but a
 * cycle has one cause here: what the uop that the slot's retirement waited for was doing, as many cycles before its end as the cycle lies before
 * the retirement (the stages behind the end are the same for all uops, and delay none).
 *
 * Cycles are in parts of 1 / EXACT_CYCLE, so that shares are whole numbers.  Their sum is the number of cycles counted (signal CYCLES).
 *
 * Leaves out: hardware threads that share a core; the second instruction of a macro-fused pair, whose uops bear the address of the first.
 */
#ifndef ANALYSIS_EXACT_H
#define ANALYSIS_EXACT_H
#include "softpmu/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXACT_CAUSE_LIST(X) /* name, what it is called, what it means */ \
	X(RETIRING,   "retiring",    "retires, alone or with others") \
	X(EXECUTION,  "execution",   "its uop is being executed: latency of the operation, or of the store's address") \
	X(DIVIDER,    "divider",     "it divides or takes a square root") \
	X(PORT,       "port",        "ready, waits for an execution port or unit") \
	X(PIPELINE,   "pipeline",    "allocated, not ready yet: the way to the scheduler, shown when nothing older is left to hide it") \
	X(FORWARDING, "forwarding",  "a load that waits for older stores, or gets its data from one") \
	X(L1D,        "l1d",         "a load that hits L1D: its latency") \
	X(TLB,        "tlb",         "an access that hits L1D, but missed the first-level data TLB") \
	X(LFB,        "lfb",         "a load of a line that is on its way") \
	X(L2,         "l2",          "a load served by L2") \
	X(L3,         "l3",          "a load served by L3") \
	X(SNOOP,      "other-core",  "a load of a line that another core had") \
	X(MEMORY,     "memory",      "a load served by memory") \
	X(L2_WALK,    "l2+walk",     "the same of L2 or a line on its way, and a page walk") \
	X(L3_WALK,    "l3+walk",     "the same of L3 or another core, and a page walk") \
	X(MEMORY_WALK, "memory+walk", "the same of memory, and a page walk") \
	X(SERIALIZE,  "serialize",   "serialising or locked: what is older, stores too, is done first, what is younger waits") \
	X(STORES,     "store-buffer", "waits for a store-buffer entry, nothing older is left") \
	X(MISPREDICT, "mispredict",  "this branch was mispredicted: the right path is on its way") \
	X(CLEAR,      "clear",       "machine clear: what was behind it comes again") \
	X(ASSIST,     "assist",      "microcode assist before it") \
	X(ICACHE,     "icache",      "its fetch missed L1I") \
	X(ITLB,       "itlb",        "its fetch missed the instruction TLB") \
	X(RESTEER,    "resteer",     "behind a branch unknown to the BTB") \
	X(FRONT_END,  "front-end",   "nothing was delivered in time: decoding, switches of path, taken branches, the start")

enum exact_cause {
#define X(name, text, help) EXACT_##name,
	EXACT_CAUSE_LIST(X)
#undef X
	EXACT_CAUSES
};
enum { EXACT_CYCLE = 720720 };	/* divisible by all of 1 to 16 */

const char *exact_cause_name(enum exact_cause c);
const char *exact_cause_help(enum exact_cause c);

struct exact_entry {		/* an instruction */
	uint64_t ip;
	uint64_t instructions;	/* times it retired; macro-fused pairs: two each */
	uint64_t part[EXACT_CAUSES];	/* of cycles */
	uint64_t sampled;	/* in parts of samples: what one sample each sample_cycles finds, time-proportionally */
};

struct exact;			/* of one thread */

/* sample_cycles: also take a sample each so many cycles counted; 0: none.  NULL: out of memory. */
struct exact *exact_create(uint64_t sample_cycles);
void exact_destroy(struct exact *x);
/* All uop records, and the signals CYCLES, CLEAR_MEMORY_ORDER and CLEAR_SMC, have to be in the batches. */
void exact_batch(struct exact *x, const struct spmu_batch *b);
/* A batch whose cycles shall not be charged. */
void exact_skip(struct exact *x, const struct spmu_batch *b);
/* Memory ran out: instructions are missing. */
bool exact_failed(const struct exact *x);
/* Cycles charged so far (whole ones). */
uint64_t exact_cycles(const struct exact *x);
/* Is an instruction of [addr, addr + bytes) in it? */
bool exact_holds(const struct exact *x, uint64_t addr, uint64_t bytes);
/* Passes all instructions on in order of address, and forgets them.  A nonzero return of `visit` ends it and is returned. */
int  exact_take(struct exact *x, int (*visit)(void *context, const struct exact_entry *e), void *context);
#endif
