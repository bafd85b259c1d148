/* SPDX-License-Identifier: GPL-2.0-or-later
 * The Pentium's pipes: an instruction issues when its elder has, its operands are there and a pipe is free.
 *
 * Models: two instructions issue in one cycle if the first is pairable (UV, PU), the second (UV, PV, or FXCH behind floating point) reads and writes nothing
 * that the first writes (flags of a compare and its branch apart), and both have been delivered; a pair ends with the longer of the
 * two, read-modify-write pairs two cycles later; a prefix takes a cycle and its instruction does not pair; the result of a cycle addresses memory the cycle after next (AGI);
 * instructions that do not pair hold both pipes; the floating-point unit goes on beside the pipes.
 * Source: AP-500, "Optimizations for Intel's 32-Bit Processors", "Integer Pairing Rules" and "Address Generation Interlock"; Pentium Processor Family
 * Developer's Manual, "Pipeline and Instruction Flow".
 * Which class an instruction has is what its uops' ports say (0 U, 1 V, 2 floating point): 01 UV, 0 PU, 1 PV, 2 floating point, 12 FXCH; a unit other
 * than the floating-point one: not pairable.
 * Leaves out: the rule against a displacement together with an immediate, bank conflicts, the first execution of code
 * (unmarked instruction lengths), U-pipe stalls by write buffers that are full of both pipes.
 */
#ifndef CORE_INORDER_H
#define CORE_INORDER_H
#include "core/pipeline.h"

enum inorder_class { INORDER_UV, INORDER_PU, INORDER_PV, INORDER_FP, INORDER_FXCH, INORDER_ALONE };

/* An instruction that was delivered for `cycle`: fixes where and when it issues (older.start, older.pipe). */
void inorder_issue(struct core *c, const struct insn *in, const struct uop *u, unsigned uops, uint64_t cycle);
/* When one of its uops goes. */
uint64_t inorder_ready(const struct core *c, const struct uop *u, uint64_t ready);
/* A uop of it was executed from `dispatch` to `complete`. */
void inorder_done(struct core *c, const struct uop *u, uint64_t dispatch, uint64_t complete);
#endif
