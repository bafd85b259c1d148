/* SPDX-License-Identifier: GPL-2.0-or-later
 * What NetBurst has beside the common pipeline.
 *
 * Models: alu.double_speed: a uop of latency 0 takes half a cycle in one of two ALUs: ports 0 and 1 are the first half of their cycle, 4 and 5
 * the second; a chain of them goes two a cycle.  Slower uops take ports 0 and 1 (the first half) and see a result of the first half at
 * the cycle's end.  replay.cycles: a uop is dispatched when its loads would be back from L1D; if they are not, it
 * goes round and takes its port again, every so many cycles, until they are, and what depends on it likewise.  Loads that wait for a store, miss the
 * DTLB or cross a line, and stores that miss it or cross one, go round themselves (SDM vol. 3B, "At-Retirement Counting";
 * that takes no more time here).  trace.*: the trace cache: lines of uops in the order in
 * which they were executed, across taken branches; delivery follows a line as long as execution does; what is in
 * no line is decoded, an instruction a cycle, and builds lines.  A line ends when it is full, with a microcoded instruction and
 * with an indirect branch.
 * Sources: G. Hinton et al., "The Microarchitecture of the Pentium 4 Processor", Intel Technology Journal Q1 2001; the rules for the ends of
 * lines, their sets and the replay loop's length are GUESS.
 * Leaves out: replayed uops that wait in the replay loop keep no scheduler entry, the trace cache's own branch
 * predictor, uops of two places in a line.
 */
#ifndef CORE_NETBURST_CORE_H
#define CORE_NETBURST_CORE_H
#include "core/pipeline.h"

/* A double-speed uop that may go from `ready` on: its port; *ready becomes its cycle. */
unsigned netburst_half(const struct core *c, const struct uop *u, uint64_t floor, uint64_t *ready);
#define REPLAY_CAUSES (SPMU_DID(REPLAY_MISS) | SPMU_DID(REPLAY_TLB) | SPMU_DID(REPLAY_STORE) | SPMU_DID(REPLAY_SPLIT))
/* When the result of a uop that was dispatched was assumed to be there, in vain; 0: it is there as assumed.  hit: after an L1D hit. */
uint64_t netburst_hoped(struct core *c, const struct uop *u, uint64_t dispatch, uint64_t hit, uint64_t complete, uint64_t *did);
/* When a uop is executed with its operands at last there, ready at `ready`: replays take the port. */
uint64_t netburst_replay(struct core *c, const struct uop *u, unsigned port, uint64_t floor, uint64_t ready, uint64_t *did);
/* The next instruction's uops come from a line (and the front end stands there), or it must be decoded: false. */
bool netburst_trace(struct core *c, const struct insn *in);
/* It was decoded. */
void netburst_build(struct core *c, const struct insn *in);
void netburst_discard(struct core *c, uint64_t addr, uint64_t bytes);
#endif
