/* SPDX-License-Identifier: GPL-2.0-or-later
 * High bytes renamed apart, and the stalls of P6; what is modelled: partial_regs.h. */
#include "core/backend/added_uop.h"
#include "core/backend/partial_regs.h"
#include "core/backend/rename.h"
#include "core/backend/retire.h"
#include "core/record/uop_record.h"

enum { STALL_NONE, STALL_MERGE, STALL_RETIRE };	/* partial.stall */

void partial_reset(struct core *c)
{
	const struct core_config *f = &c->config;
	c->pa = (struct partial){
		.ports = (uint16_t)(f->partial_high_ports & c->sc.port_mask),
		.latency = (uint8_t)f->partial_high_latency,
		.stall = (uint8_t)f->partial_stall,
		.flags = f->partial_flags_stall,
	};
	c->pa.apart = f->partial_high_ports != 0;
	c->pa.on = c->pa.apart || c->pa.stall || c->pa.flags;
	c->pa.done = c->pa.stall || c->pa.flags;
	c->pa.general = c->old.any || c->pa.stall || c->pa.flags || c->e.detail;
}

/* Sets of registers, as insn.whole: of those it reads more than a byte of, and << 4 of those it writes more
 * than a byte of. */
static unsigned whole(const struct insn *in)
{
	return in->flags & INSN_REP ? 2u | 2u << 4 : in->whole;		/* it reads and writes its count */
}

/* The set of registers that the uops write, of register `first` and the three behind it. */
static unsigned written(const struct uop *u, unsigned uops, unsigned first)
{
	unsigned set = 0;
	for (; uops--; u++)
		for (unsigned k = 0; k < 3; k++)
			if ((unsigned)u->dst[k] - first < 4)
				set |= 1u << (u->dst[k] - first);
	return set;
}

/* A merging uop goes ahead of the instruction that reads register k. */
static void merge(struct core *c, const struct insn *in, unsigned k)
{
	rename_new_group(c);
	c->reg[REG_GPR + k] =
		added_uop(c, in, 0, c->pa.ports, max64(c->reg[REG_GPR + k], c->reg[REG_HIGH + k]));
	rename_new_group(c);
}

/* P6, Core 2: registers. */
static void stall(struct core *c, const struct insn *in, const struct uop *u, unsigned uops)
{
	struct partial *p = &c->pa;
	const unsigned w = whole(in), all = w >> 4, waits = p->dirty & w, byte = written(u, uops, REG_GPR) & ~all;
	if (waits) {
		rename_new_group(c);
		uint64_t from = max64(c->rn.cycle, c->fe.cycle + c->rn.frontend_latency),
			 until = from + c->config.partial_stall_cycles;
		for (unsigned k = 0; k < 4; k++)
			if (waits >> k & 1) {
				c->reg[REG_GPR + k] = max64(c->reg[REG_GPR + k], p->below[k]);
				until = p->stall == STALL_RETIRE ? max64(from, p->retired[k] + 1) : until;
			}
		c->rn.barrier = max64(c->rn.barrier, until);
	}
	p->dirty &= (uint8_t)~(w | all);
	p->zeroed = (uint8_t)((p->zeroed & ~all) | (u->flags & UOP_ZEROES ? all : 0));
	for (unsigned k = 0; k < 4; k++)
		if (byte >> k & 1 && !(p->dirty >> k & 1))
			p->below[k] = c->reg[REG_GPR + k];
	p->byte = (uint8_t)byte;
	p->dirty |= (uint8_t)(byte & ~p->zeroed);
}

static unsigned flag_group(uint8_t reg)
{
	return reg == REG_FLAGS ? 1 : reg == REG_CARRY ? 2 : 0;
}

/* P6, Core 2: flags that come from two instructions. */
static void flags_stall(struct core *c, const struct insn *in, const struct uop *u, unsigned uops)
{
	struct partial *p = &c->pa;
	unsigned reads = 0, writes = 0;
	for (; uops--; u++) {
		for (unsigned k = 0; k < 4; k++)
			reads |= flag_group(u->src[k]) & ~writes;
		for (unsigned k = 0; k < 3; k++)
			writes |= flag_group(u->dst[k]);
	}
	if (reads & p->flags_kept) {
		rename_new_group(c);
		c->rn.barrier = max64(c->rn.barrier,
			max64(max64(c->rn.cycle, c->fe.cycle + c->rn.frontend_latency), p->flags_retired + 1));
		p->flags_kept = 0;
	}
	p->flags_write = writes;
	if (writes)
		p->flags_kept = !(in->flags & INSN_REP) && in->flags_late ? 3 : (uint8_t)(3 & ~writes);
}

void partial_insn(struct core *c, const struct insn *in, const struct uop *u, unsigned uops)
{
	struct partial *p = &c->pa;
	if (p->flags)
		flags_stall(c, in, u, uops);
	if (p->stall) {
		stall(c, in, u, uops);
		return;
	}
	if (!p->apart)
		return;
	const unsigned w = whole(in);
	for (unsigned k = 0; k < 4; k++) {
		if (p->dirty & w & 1u << k)
			merge(c, in, k);
		if (!(p->dirty & ~w & 1u << k))
			c->reg[REG_HIGH + k] = c->reg[REG_GPR + k] + p->latency;
	}
	p->dirty = (uint8_t)((p->dirty & ~(w | w >> 4)) | written(u, uops, REG_HIGH));
}

void partial_done(struct core *c)
{
	if (c->pa.flags_write)
		c->pa.flags_retired = c->e.now;
	for (unsigned k = 0; k < 4; k++)
		if (c->pa.byte >> k & 1)
			c->pa.retired[k] = c->e.now;
}

void partial_ahead(struct core *c, const struct insn *in, const struct uop *u)
{
	struct partial *p = &c->pa;
	const unsigned w = whole(in);
	if (!p->apart)
		return;
	p->ahead = (uint8_t)((p->ahead & ~(w | w >> 4)) | written(u, in->uops, REG_HIGH));
	p->general = p->ahead || c->old.any || c->e.detail;
}
