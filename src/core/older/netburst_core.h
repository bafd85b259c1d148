/* SPDX-License-Identifier: GPL-2.0-or-later
 * The mechanisms of NetBurst that the common pipeline does not have.
 *
 * alu.double_speed: A uop of latency 0 takes half a cycle in one of two ALUs.  Ports 0 and 1 are the first half of
 * their cycle, ports 4 and 5 the second, so a dependent chain of such uops runs at two a cycle.  Slower uops take
 * ports 0 and 1 (the first half), and see a result of the first half at the end of the cycle.
 *
 * replay.cycles: A uop is dispatched for the time when its loads would be back from L1D.  If they are not, it takes its
 * port again every so many cycles until they are, and so do the uops that depend on it.  Loads that wait for a store,
 * miss the DTLB or cross a line, and stores that miss the DTLB or cross a line, are replayed themselves (SDM vol. 3B,
 * "At-Retirement Counting"); that takes no extra time here.
 *
 * trace.*: The trace cache has lines of uops in the order of execution, across taken branches.  Delivery follows a line
 * as long as execution does.  Instructions that are in no line are decoded, one a cycle, and build lines.  A line ends
 * when it is full, with a microcoded instruction, and with an indirect branch.
 *
 * Sources: G. Hinton et al., "The Microarchitecture of the Pentium 4 Processor", Intel Technology Journal Q1 2001.
 * GUESS: the rules for the ends of lines, their sets, and the length of the replay loop.
 * Leaves out: replayed uops in the replay loop hold no scheduler entry; the trace cache's own branch predictor; uops
 * that take two places in a line.
 */
#ifndef CORE_NETBURST_CORE_H
#define CORE_NETBURST_CORE_H
#include "core/pipeline.h"

/* Dispatches a double-speed uop no earlier than `floor`.  Returns its port, and sets *ready to its cycle. */
unsigned netburst_half(const struct core *c, const struct uop *u, uint64_t floor, uint64_t *ready);
#define REPLAY_CAUSES (SPMU_DID(REPLAY_MISS) | SPMU_DID(REPLAY_TLB) | SPMU_DID(REPLAY_STORE) | SPMU_DID(REPLAY_SPLIT))
/* Returns the cycle for which dependents wrongly expected the result of a uop, or 0 if it is there as expected.
 * hit: the cycle of the result after an L1D hit. */
uint64_t netburst_hoped(struct core *c, const struct uop *u, uint64_t dispatch, uint64_t hit, uint64_t complete,
	uint64_t *did);
/* Returns the cycle in which a uop with operands ready at `ready` executes for the last time; its replays take the
 * port. */
uint64_t netburst_replay(struct core *c, const struct uop *u, unsigned port, uint64_t floor, uint64_t ready,
	uint64_t *did);
/* Delivers the next instruction from a line of the trace cache.  Returns false if it must be decoded. */
bool netburst_trace(struct core *c, const struct insn *in);
/* Adds a decoded instruction to the line being built. */
void netburst_build(struct core *c, const struct insn *in);
/* Reports that an instruction was decoded because the trace cache missed it.  from: the cycle in which decoding
 * began; again: decoding had stopped before it. */
void netburst_built(struct core *c, const struct insn *in, uint64_t from, bool again);
/* Warming: keeps the trace cache as the execution of the instruction leaves it.  Returns false if it is decoded. */
bool netburst_warm(struct core *c, const struct insn *in);
/* Takes over what another core's trace cache holds. */
void netburst_copy(struct core *to, const struct core *from);
/* Drops all lines with instructions in these bytes. */
void netburst_discard(struct core *c, uint64_t addr, uint64_t bytes);
#endif
