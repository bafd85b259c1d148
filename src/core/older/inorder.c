/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pairing and issue in order; what it models and leaves out: inorder.h. */
#include "core/older/inorder.h"
#include <string.h>

enum { UNIT_FP = 2, PORT_U = 1, PORT_V = 2, PORT_FP = 4 };

static void mark(uint64_t set[2], uint8_t reg)
{
	if (reg && reg < REG_COUNT && reg != REG_FLAGS && reg != REG_CARRY)
		set[reg >> 6] |= UINT64_C(1) << (reg & 63);
}

static bool is_marked(const uint64_t set[2], uint8_t reg)
{
	return reg < REG_COUNT && set[reg >> 6] >> (reg & 63) & 1;
}

static bool is_temp(uint8_t reg)
{
	return reg >= REG_TEMP && reg < REG_COUNT;
}

static bool is_flag(uint8_t reg)
{
	return reg == REG_FLAGS || reg == REG_CARRY;
}

static enum inorder_class classify(const struct uop *u, unsigned uops, bool *rmw)
{
	enum inorder_class is = INORDER_UV;
	bool load = false, store = false;
	for (unsigned i = 0; i < uops; i++) {
		load |= u[i].kind == UOP_LOAD;
		store |= u[i].kind == UOP_STORE_ADDR;
		if (u[i].flags & UOP_MS || u[i].kind >= UOP_FENCE_LOAD || (u[i].unit && u[i].unit != UNIT_FP) ||
			u[i].is & SPMU_IS(LOCK))
			return INORDER_ALONE;
		if (u[i].kind != UOP_COMPUTE && u[i].kind != UOP_BRANCH)
			continue;
		if (u[i].ports == (PORT_V | PORT_FP))
			is = INORDER_FXCH;
		else if (u[i].ports & PORT_FP)
			is = INORDER_FP;
		else if (u[i].ports == PORT_U)
			is = INORDER_PU;
		else if (u[i].ports == PORT_V)
			is = INORDER_PV;
	}
	*rmw = load && store;
	return is;
}

/* Returns the cycle in which everything that the instruction reads is ready. */
static uint64_t operands(const struct core *c, const struct uop *u, unsigned uops, enum inorder_class is)
{
	uint64_t ready = 0, written[2] = { 0, 0 };
	for (unsigned i = 0; i < uops; i++) {
		bool address = u[i].kind == UOP_LOAD || u[i].kind == UOP_STORE_ADDR;
		for (unsigned k = 0; k < 4; k++) {
			uint8_t reg = u[i].src[k];
			if (!reg || is_temp(reg) || is_marked(written, reg) || (is == INORDER_PV && is_flag(reg)))
				continue;
			uint64_t at = c->reg[reg];
			if (address && at)
				at++;	/* the address is computed one stage earlier */
			ready = max64(ready, at);
		}
		for (unsigned k = 0; k < 3; k++)
			mark(written, u[i].dst[k]);
	}
	return ready;
}

static bool depends(const struct older *o, const struct uop *u, unsigned uops)
{
	for (unsigned i = 0; i < uops; i++) {
		for (unsigned k = 0; k < 4; k++)
			if (is_marked(o->written, u[i].src[k]))
				return true;
		for (unsigned k = 0; k < 3; k++)
			if (is_marked(o->written, u[i].dst[k]))
				return true;
	}
	return false;
}

void inorder_issue(struct core *c, const struct insn *in, const struct uop *u, unsigned uops, uint64_t cycle)
{
	struct older *o = &c->old;
	bool rmw = false;
	enum inorder_class is = in->flags & (INSN_FAR | INSN_REP) ? INORDER_ALONE : classify(u, uops, &rmw);
	uint64_t ready = max64(cycle, operands(c, u, uops, is));
	unsigned prefixes = in->flags & INSN_REP ? 0 : in->prefixes;
	if (prefixes)		/* each takes a cycle of the decoders, and the instruction does not pair */
		is = INORDER_ALONE;
	bool fp = is == INORDER_FP;
	if (fp)
		ready = max64(ready, o->fp_free);

	bool second = is == INORDER_FXCH ? o->elder == INORDER_FP :
	              (is == INORDER_UV || is == INORDER_PV) && (o->elder == INORDER_UV || o->elder == INORDER_PU);
	if (second && ready <= o->issue && (is == INORDER_FXCH || !depends(o, u, uops))) {
		o->start = o->issue;
		o->pipe = 1;
		o->end += rmw && o->elder_rmw ? 2 : 0;
		o->elder = INORDER_ALONE;	/* the pair is full */
		return;
	}
	/* The prefixes are decoded while the elder executes. */
	o->start = o->issue = max64(max64(ready, o->end), o->issue + 1 + prefixes);
	o->end = o->start + 1;
	o->pipe = fp || is == INORDER_FXCH ? 2 : 0;
	o->elder = (uint8_t)(is == INORDER_UV || is == INORDER_PU || is == INORDER_FP ? is : INORDER_ALONE);
	o->elder_rmw = rmw;
	o->written[0] = o->written[1] = 0;
	for (unsigned i = 0; i < uops; i++)
		for (unsigned k = 0; k < 3; k++)
			if (!is_temp(u[i].dst[k]))
				mark(o->written, u[i].dst[k]);
}

uint64_t inorder_ready(const struct core *c, const struct uop *u, uint64_t ready)
{
	const struct older *o = &c->old;
	uint64_t at = o->start;
	for (unsigned k = 0; k < 4; k++)
		if (is_temp(u->src[k]))
			at = max64(at, c->reg[u->src[k]]);
	return u->kind >= UOP_FENCE_LOAD ? max64(ready, at) : at;
}

void inorder_done(struct core *c, const struct uop *u, uint64_t dispatch, uint64_t complete)
{
	struct older *o = &c->old;
	uint64_t busy = u->busy ? u->busy : 1;
	if (u->kind == UOP_LOAD)
		o->end = max64(o->end, complete);	/* a miss stops both pipes */
	else if (u->unit == UNIT_FP)
		o->fp_free = max64(o->fp_free, dispatch + busy);
	else if (u->kind >= UOP_FENCE_LOAD)
		o->end = max64(o->end, complete);
	else if (u->kind != UOP_NOP && u->kind != UOP_ELIMINATED)
		o->end = max64(o->end, dispatch + busy);
}
