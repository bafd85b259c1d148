/* SPDX-License-Identifier: GPL-2.0-or-later
 * The exact profile: every cycle of a thread is charged to the instruction that retirement waited for, with the
 * reason why it waited.
 *
 * The rule for each cycle is that of the golden reference ("Oracle") of B. Gottschall, L. Eeckhout, M. Jahre,
 * "TIP: Time-Proportional Instruction Profiling", MICRO 2021:
 *   - Slots retire in the cycle: they share it equally (an instruction has as many parts as slots that retire
 *     then).
 *   - No slot retires, and the reorder buffer is not empty: its oldest instruction gets the whole cycle.
 *   - The reorder buffer is empty because what followed an instruction was discarded (a mispredicted branch, a
 *     machine clear) or may not begin before it is done (a serialising instruction): that instruction gets the
 *     cycle.
 *   - The reorder buffer is empty because nothing was delivered: the next instruction that is allocated gets the
 *     cycle.
 * The causes are kept for each instruction, as in B. Gottschall, L. Eeckhout, M. Jahre, "TEA: Time-Proportional
 * Event Analysis", ISCA 2023.  Here, however, a cycle has exactly one cause: what the uop that the slot's
 * retirement waited for was doing as many cycles before its end as the cycle lies before the retirement.  (The
 * pipeline stages after the end are the same for all uops and delay none.)
 *
 * Cycles are in parts of 1 / EXACT_CYCLE, so that shares are whole numbers.  Their sum is the number of cycles
 * counted (signal CYCLES).
 *
 * Leaves out: hardware threads that share a core; the second instruction of a macro-fused pair, whose uops have
 * the address of the first.
 */
#ifndef ANALYSIS_EXACT_H
#define ANALYSIS_EXACT_H
#include "softpmu/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, its text, what it means */
#define EXACT_CAUSE_LIST(X) \
	X(RETIRING, "retiring", "it retires, alone or with others") \
	X(EXECUTION, "execution", "its uop is being executed: latency of the operation, or of the store's address") \
	X(DIVIDER, "divider", "it divides or takes a square root") \
	X(PORT, "port", "ready, waits for an execution port or unit") \
	X(PIPELINE, "pipeline", \
		"allocated, not ready yet: the stages up to the scheduler, shown if no older work hides them") \
	X(FORWARDING, "forwarding", "a load that waits for older stores, or gets its data from one") \
	X(L1D, "l1d", "a load that hits L1D: its latency") \
	X(TLB, "tlb", "an access that hits L1D, but missed the first-level data TLB") \
	X(LFB, "lfb", "a load of a line that is on its way") \
	X(L2, "l2", "a load served by L2") \
	X(L3, "l3", "a load served by L3") \
	X(SNOOP, "other-core", "a load of a line that another core had") \
	X(MEMORY, "memory", "a load served by memory") \
	X(L2_WALK, "l2+walk", "a load served by L2 or of a line on its way, with a page walk") \
	X(L3_WALK, "l3+walk", "a load served by L3 or another core, with a page walk") \
	X(MEMORY_WALK, "memory+walk", "a load served by memory, with a page walk") \
	X(SERIALIZE, "serialize", \
		"serialising or locked: older work, stores too, is done first, and younger work waits") \
	X(STORES, "store-buffer", "it waits for a store-buffer entry, and no older work is left") \
	X(MISPREDICT, "mispredict", "this branch was mispredicted: the right path is on its way") \
	X(CLEAR, "clear", "machine clear: what followed it is fetched again") \
	X(ASSIST, "assist", "microcode assist before it") \
	X(ICACHE, "icache", "its fetch missed L1I") \
	X(ITLB, "itlb", "its fetch missed the instruction TLB") \
	X(RESTEER, "resteer", "it follows a branch unknown to the BTB") \
	X(FRONT_END, "front-end", \
		"nothing was delivered in time: decoding, switches of path, taken branches, the start")

enum exact_cause {
#define X(name, text, help) EXACT_##name,
	EXACT_CAUSE_LIST(X)
#undef X
	EXACT_CAUSES
};
enum { EXACT_CYCLE = 720720 };	/* divisible by 1 to 16 */

const char *exact_cause_name(enum exact_cause c);
/* Why a uop takes its time from its dispatch until it is complete. */
enum exact_cause exact_uop_cause(const struct spmu_record *r);

struct exact_entry {		/* an instruction */
	uint64_t ip;
	uint64_t instructions;	/* how often it retired; macro-fused pairs count two */
	uint64_t part[EXACT_CAUSES];	/* of cycles */
	/* in parts of samples: what one sample every sample_cycles finds, time-proportionally */
	uint64_t sampled;
};

struct exact;			/* one for each thread */

/* sample_cycles: also takes a sample every so many counted cycles; 0: no samples.  NULL: out of memory. */
struct exact *exact_create(uint64_t sample_cycles);
void exact_destroy(struct exact *x);
/* The batches must contain all uop records and the signals CYCLES, CLEAR_MEMORY_ORDER and CLEAR_SMC. */
void exact_batch(struct exact *x, const struct spmu_batch *b);
/* Takes a batch whose cycles are not charged. */
void exact_skip(struct exact *x, const struct spmu_batch *b);
/* Memory ran out: instructions are missing. */
bool exact_failed(const struct exact *x);
/* Whole cycles charged so far. */
uint64_t exact_cycles(const struct exact *x);
/* Whether it holds an instruction of [addr, addr + bytes). */
bool exact_holds(const struct exact *x, uint64_t addr, uint64_t bytes);
/* Passes on all instructions in order of address, and forgets them.  A nonzero return of `visit` ends this and
 * is returned. */
int  exact_take(struct exact *x, int (*visit)(void *context, const struct exact_entry *e), void *context);
#endif
