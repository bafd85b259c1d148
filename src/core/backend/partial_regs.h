/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pieces of general-purpose registers that rename keeps apart from the whole.
 *
 * Models, partial.high_ports: AH, BH, CH and DH are registers of their own once they have been written.  When
 * more than 8 bits of the register are read, a uop that merges them goes first, alone in its cycle of
 * allocation.  A write of more than 8 bits ends the state without such a uop (Optimization Manual, "Partial
 * Register Stalls" of Sandy Bridge.  That Haswell and Skylake still do so, that the uop goes to ports 1 and 5,
 * that the next cores do not, and partial.high_latency: the public source of A. Abel, J. Reineke, "uiCA", ICS
 * 2022).  On these cores low bytes and 16 bits are written into the whole register; isa/build.c and the uop
 * tables do that.
 * partial.stall, for P6 and Core 2: a byte is written without a wait for the rest of its register.  When more
 * than 8 bits of the register are read, allocation waits: until the write has retired, or for some cycles in
 * which the two are merged (same chapter: large on P6 and the first Pentium M, small on Core).  It does not
 * wait if XOR or SUB of the register with itself cleared it before.
 * partial.flags_stall, for both: an instruction waits in allocation if it reads flags that the last instruction
 * to write some did not write (INC, then JBE or ADC), or may have left as they were (shifts by CL, whose count
 * is not known), until that instruction has retired (same manual, "Partial Flag Register Stalls"; it gives no
 * separate cost for Core).  Since Sandy Bridge a uop merges them: partial.flags_ports, isa/build_fusion.c.
 * Leaves out, of partial.stall: writes of 16 bits before reads of more, low bytes of RSP to R15, low and high
 * byte as registers of their own; of partial.flags_stall: flags left by shifts by a constant other than 1.
 *
 * The short way (block_plan.h) does not handle this: instructions that name AH to DH go the general way, and so
 * does all code that is executed while one of these is apart.
 */
#ifndef CORE_PARTIAL_REGS_H
#define CORE_PARTIAL_REGS_H
#include "core/pipeline.h"

void partial_reset(struct core *c);
/* For an instruction that goes the general way: before its first slot is allocated, and when it has retired. */
void partial_insn(struct core *c, const struct insn *in, const struct uop *u, unsigned uops);
void partial_done(struct core *c);
/* A script is being made in which this instruction goes the general way. */
void partial_ahead(struct core *c, const struct insn *in, const struct uop *u);
#endif
