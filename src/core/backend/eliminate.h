/* SPDX-License-Identifier: GPL-2.0-or-later
 * What rename does itself, if it can: copies of registers, and constants added to them.
 *
 * Models: copies are eliminated as long as few enough registers have several names (move elimination slots).
 * After A. Abel, J. Reineke, "uiCA", ICS 2022, "Move Elimination", and the figures of its public source: four
 * registers of each file; what the last cycle (Ivy Bridge: the last two) eliminated counts in full, because
 * rename does not know yet; a register counts until one name is left, and general ones from Haswell on until
 * all names are overwritten.  Ivy Bridge's VMOVAPS ymm1, ymm2 takes 0.75 cycles with one port for it
 * (InstLatx64): one copy of four is eliminated, as in this model.
 * Constants: the renamer of Golden Cove keeps a register as another register and a small sum (T. Barnes, "The
 * Alder Lake anomaly, explained", 2025; A. Abel's measurements named there: ADD RAX, 1 in a chain runs at five
 * and more a cycle).
 * GUESS: the bound of 1024.  ADD RAX, 512 in a chain would settle it: one of two is executed.
 * Leaves out: that a copy passes on a sum; what it costs to use such a register in shifts by a register (same
 * source: three cycles).
 *
 * How: rename does not follow who overwrites a register.  A name still refers to the value if its ready cycle
 * has not changed.  Two values that are ready in the same cycle count as one; rarely, that costs or saves an
 * elimination.
 */
#ifndef CORE_ELIMINATE_H
#define CORE_ELIMINATE_H
#include "core/pipeline.h"

bool eliminate_copy(struct core *c, unsigned src, unsigned dst, uint64_t cycle);
void eliminate_reset(struct core *c);

/* Rename makes dst a name of src (copy), or of src plus the constant; the sum begins anew if src was written
 * since.  `cycle`: of allocation.  Returns whether it could. */
static inline bool eliminate(struct core *c, unsigned src, unsigned dst, int constant, bool copy, uint64_t cycle)
{
	struct eliminate *el = &c->el;
	if (copy)
		return eliminate_copy(c, src, dst, cycle);
	int sum = constant + (el->sum[src].ready == c->reg[src] ? el->sum[src].constant : 0);
	if (sum >= el->constants || sum < -el->constants)
		return false;
	el->sum[dst].ready = c->reg[src];
	el->sum[dst].constant = sum;
	return true;
}
#endif
