/* SPDX-License-Identifier: GPL-2.0-or-later
 * Bypass delays between the integer and the floating-point domain of vector operations.
 *
 * Models: an operation with an operand of the other domain takes bypass.delay more cycles, whichever operand
 * comes last and however long ago the operand was made.  Integer operations, copies and logic are in the
 * integer domain only on the ports of bypass.ports; on other ports they are in no domain, and neither are loads
 * and shuffles.  Measurements show that the port decides (InstLatx64): MOVAPS+ADDPS xmm (the copy not
 * eliminated, on ports 0, 1 or 5) takes 6.4 on Skylake, which is 1 + 4 and two crossings in two of three cases;
 * VPAND xmm1, xmm1, xmm2 takes 1.7; shuffles, on port 5, cross without delay; on Golden Cove VCMPPS+VPADDD
 * takes 6.35 likewise.  That there is a delay of a cycle: Optimization Manual, "Execution Engine" of Sandy
 * Bridge, table of writeback latencies between execution domains.
 * Golden Cove's adders pass results to each other in two cycles, and take bypass.fp_add more cycles for an
 * operand from elsewhere (MULPS+ADDPS 7; VPADDD+VADDPS 4, so no other delay between these two).
 * Leaves out: general registers (the uop tables hold MOVD and MOVQ), x87, stores, and the domain of what an
 * eliminated copy copies.
 *
 * How: for each vector register there is its ready cycle and the domain it was made in.  If something else has
 * written the register since, the cycles differ.
 */
#ifndef CORE_BYPASS_H
#define CORE_BYPASS_H
#include "core/pipeline.h"

static inline unsigned bypass_home(const struct core *c, unsigned reg)
{
	unsigned v = reg - REG_VEC;
	return v < 32 && c->by.made[v] >> 2 == c->reg[reg] ? (unsigned)(c->by.made[v] & 3) : DOMAIN_ANY;
}

/* Returns how many cycles more the operation takes.  *ready: when its operands are there. */
static inline unsigned bypass_delay(
	const struct core *c, const uint8_t *src, unsigned domain, unsigned port, uint64_t *ready)
{
	const struct bypass *b = &c->by;
	bool crosses = false;
	domain &= DOMAIN_HOMES;
	for (unsigned i = 0; i < 3; i++) {
		if ((unsigned)src[i] - REG_VEC >= 32)
			continue;
		unsigned home = bypass_home(c, src[i]);
		if (domain == DOMAIN_FP_ADD)
			*ready = max64(*ready, c->reg[src[i]] + (home == DOMAIN_FP_ADD ? 0 : b->fp_add));
		else
			crosses |= domain == DOMAIN_INTEGER ? home == DOMAIN_FP && b->ports >> port & 1 :
				domain == DOMAIN_FP && home == DOMAIN_INTEGER;
	}
	return crosses ? b->delay : 0;
}

static inline void bypass_result(struct core *c, const uint8_t *dst, unsigned domain, unsigned port, uint64_t cycle)
{
	domain &= DOMAIN_HOMES;
	if (domain == DOMAIN_INTEGER && !(c->by.ports >> port & 1))
		return;
	for (unsigned i = 0; i < 3; i++)
		if ((unsigned)dst[i] - REG_VEC < 32)
			c->by.made[dst[i] - REG_VEC] = cycle << 2 | domain;
}
#endif
