/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which instructions of a block may take the short way; what that is: quick.h. */
#include "core/quick.h"

/* A uop that computes, in a pipelined unit. */
static bool computes(const struct uop *u)
{
	return u->kind == UOP_COMPUTE && u->latency && !(u->busy > 1 && u->unit) && !u->size;
}

static enum quick kind(const struct iblock *b, const struct insn *in)
{
	const uint64_t special = SPMU_IS(LOCK) | SPMU_IS(PREFETCH_SW) | SPMU_IS(PAUSE);
	const struct uop *u = b->uop + in->first_uop;
	if (!in->uops || in->uops > 2 || in->flags & (INSN_REP | INSN_MS | INSN_SERIALIZE | INSN_FAR) || !(u->flags & UOP_SLOT) ||
	    u->src[2] || u->src[3])
		return QUICK_NO;
	for (unsigned i = 0; i < in->uops; i++)
		if (u[i].flags & UOP_MS || u[i].is & special || !u[i].ports || u[i].src[3])
			return QUICK_NO;
	bool branch = in->flags & (INSN_BRANCH | INSN_FUSES_NEXT), two = !!(u->is & SPMU_IS(INST_END2));
	if (!(u[in->uops - 1].is & SPMU_IS(INST_END)) || two != !!(in->flags & INSN_FUSES_NEXT))
		return QUICK_NO;
	if (in->uops == 1) {
		if (branch)
			return u->kind == UOP_BRANCH && u->latency && u->busy <= 1 && !u->size ? QUICK_BRANCH : QUICK_NO;
		return computes(u) ? QUICK_COMPUTE : u->kind == UOP_LOAD && u->size ? QUICK_LOAD : QUICK_NO;
	}
	if (branch || u[1].flags & UOP_SLOT)
		return QUICK_NO;
	if (u->kind == UOP_LOAD && u->size && computes(&u[1]))
		return QUICK_LOAD_COMPUTE;
	if (u->kind == UOP_STORE_ADDR && u->size && !u->dst[0] && !u->dst[1] && !u->dst[2] && u[1].kind == UOP_STORE_DATA &&
	    u[1].latency && u[1].slot == u->slot && u[1].size == u->size && !u[1].dst[0] && !u[1].dst[1] && !u[1].dst[2])
		return QUICK_STORE;
	return QUICK_NO;
}

void quick_classify(struct iblock *b)
{
	for (unsigned i = 0; i < b->insns && i < QUICK_INSNS; i++)
		b->core_private[i >> 4] |= (uint64_t)kind(b, &b->insn[i]) << (i & 15) * 4;
	b->core_private[3] = 1;
}
