/* SPDX-License-Identifier: GPL-2.0-or-later
 * What P6 and Core 2 have beside the common pipeline.
 *
 * Models: rename.register_reads: a source whose writer has retired is read from the retired file at allocation, which has so many read ports:
 * the slots of a group that are left over go in the next cycle, alone.  A register counts once a cycle; flags and values
 * still in the reorder buffer are free.  (Optimization Manual, "ROB Read Port Stalls" of Intel Core microarchitecture; that groups are
 * not refilled is what CMP r,r at 0.67 and CMP r1,r2 at 1.0 cycles on Pentium III show, InstLatx64.)
 * lsd.predecode: a loop of so many instructions in at most four fetch blocks is streamed from the instruction queue: fetch and
 * predecode no longer limit it, the decoders do (same manual, "Loop Stream Detector").
 * Leaves out: the partial-register stalls of P6.
 */
#ifndef CORE_P6_H
#define CORE_P6_H
#include "core/pipeline.h"

/* The slot that begins with uop `u` is allocated in cycle `alloc`: or in a later one, which is returned. */
uint64_t p6_register_reads(struct core *c, const struct uop *u, const struct uop *end, uint64_t alloc);
/* Its uops retired. */
void p6_retired(struct core *c, const struct uop *u, const struct uop *end, uint64_t retire);
/* An instruction reaches the decoders: does it come from the loop buffer? */
bool p6_streams(struct core *c, const struct insn *in);
/* A taken branch. */
void p6_taken(struct core *c, uint64_t ip, uint64_t target);
#endif
