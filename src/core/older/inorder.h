/* SPDX-License-Identifier: GPL-2.0-or-later
 * The Pentium's pipes: an instruction issues when the one before it has issued, its operands are ready and a pipe is
 * free.
 *
 * Models: Two instructions issue in one cycle if the first is pairable (UV, PU), the second is (UV, PV, or FXCH after
 * floating point) and reads and writes nothing that the first writes (except flags of a compare and its branch), and
 * both have been delivered.  A pair ends with the longer of the two, and two cycles later if both are
 * read-modify-write.
 * A prefix takes a cycle, and its instruction does not pair.  A result can be used in an address only in the cycle
 * after next (AGI).  Instructions that do not pair hold both pipes.  The floating-point unit works in parallel with
 * the pipes.
 * The class of an instruction follows from the ports of its uops (0 U, 1 V, 2 floating point): 01 is UV, 0 PU, 1 PV,
 * 2 floating point, 12 FXCH; an instruction that uses a unit other than the floating-point one does not pair.
 * Source: AP-500, "Optimizations for Intel's 32-Bit Processors", "Integer Pairing Rules" and "Address Generation
 * Interlock"; Pentium Processor Family Developer's Manual, "Pipeline and Instruction Flow".
 * Leaves out: the rule against a displacement together with an immediate, bank conflicts, the first execution of code
 * (unmarked instruction lengths), U-pipe stalls by full write buffers of both pipes.
 */
#ifndef CORE_INORDER_H
#define CORE_INORDER_H
#include "core/pipeline.h"

enum inorder_class { INORDER_UV, INORDER_PU, INORDER_PV, INORDER_FP, INORDER_FXCH, INORDER_ALONE };

/* Decides when and in which pipe an instruction issues that was delivered for `cycle` (older.start, older.pipe). */
void inorder_issue(struct core *c, const struct insn *in, const struct uop *u, unsigned uops, uint64_t cycle);
/* Returns the cycle in which one of its uops is dispatched. */
uint64_t inorder_ready(const struct core *c, const struct uop *u, uint64_t ready);
/* A uop of it executes from `dispatch` to `complete`: updates when the pipes are free. */
void inorder_done(struct core *c, const struct uop *u, uint64_t dispatch, uint64_t complete);
#endif
