/* SPDX-License-Identifier: GPL-2.0-or-later
 * The mechanisms of P6 and Core 2 that the common pipeline does not have.
 *
 * rename.register_reads: A source whose last writer has retired is read at allocation from the retirement register
 * file, which has so many read ports.  The slots of a group that exceed them go in the next cycle, which is not
 * refilled.  A register counts once a cycle; flags and values still in the reorder buffer are free.
 * Source: Optimization Manual, "ROB Read Port Stalls" of Intel Core microarchitecture.  That groups are not refilled
 * shows in CMP r,r at 0.67 and CMP r1,r2 at 1.0 cycles on Pentium III (InstLatx64).
 * lsd.predecode: A loop of at most so many instructions in at most four fetch blocks is streamed from the instruction
 * queue.
 * Fetch and predecode then no longer limit it, but the decoders do (same manual, "Loop Stream Detector").
 * Leaves out: the partial-register stalls of P6 (partial_regs.h).
 */
#ifndef CORE_P6_H
#define CORE_P6_H
#include "core/pipeline.h"

/* The slot that starts with uop `u` would be allocated in cycle `alloc`.  Returns the cycle in which it is. */
uint64_t p6_register_reads(struct core *c, const struct uop *u, const struct uop *end, uint64_t alloc);
/* These uops retire. */
void p6_retired(struct core *c, const struct uop *u, const struct uop *end, uint64_t retire);
/* An instruction reaches the decoders.  Returns whether it comes from the loop buffer. */
bool p6_streams(struct core *c, const struct insn *in);
/* A taken branch: a loop may start to stream. */
void p6_taken(struct core *c, uint64_t ip, uint64_t target);
#endif
