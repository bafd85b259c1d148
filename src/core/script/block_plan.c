/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes the plan of a block (block_plan.h). */
#include "core/script/block_plan.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 8 };		/* most slots of an instruction that goes the short way */

/* True if the uop computes, in a pipelined unit. */
static bool computes(const struct uop *u)
{
	return u->kind == UOP_COMPUTE && u->ports && !(u->busy > 1 && u->unit) && !u->size;
}

static bool branches(const struct uop *u)
{
	return u->kind == UOP_BRANCH && u->ports && !(u->busy > 1 && u->unit) && !u->size;
}

/* True if the load needs more than its access. */
static bool more(const struct uop *u)
{
	return u->load & (LOAD_RENAMES | LOAD_BANKS);
}

/* True if the uop names AH, CH, DH or BH as a register of its own (partial_regs.h). */
static bool names_high(const struct uop *u)
{
	const uint8_t reg[] = { u->src[0], u->src[1], u->src[2], u->dst[0], u->dst[1], u->dst[2] };
	for (unsigned i = 0; i < sizeof reg; i++)
		if (reg[i] >= REG_HIGH)
			return true;
	return false;
}

/* The shape of the slot with the uops u[0..n-1]. */
static enum step_kind shape(const struct uop *u, unsigned n)
{
	const uint64_t special = SPMU_IS(LOCK) | SPMU_IS(PREFETCH_SW) | SPMU_IS(PAUSE);
	for (unsigned i = 0; i < n; i++)
		if (u[i].flags & (UOP_MS | UOP_GROUP) || u[i].is & special || u[i].src[3] || names_high(&u[i]))
			return STEP_GENERAL;
	if (n == 1) {
		if (u->kind == UOP_ELIMINATED || u->kind == UOP_NOP)
			return u->size ? STEP_GENERAL : !u->ports ? STEP_ELIMINATED :
				u->kind == UOP_NOP || !u->dst[0] ? STEP_GENERAL : STEP_RENAME;
		return computes(u) ? (u->domain ? STEP_COMPUTE_MORE : STEP_COMPUTE) :
			branches(u) ? STEP_BRANCH :
			u->kind == UOP_LOAD && u->size && u->ports ? (more(u) ? STEP_LOAD_MORE : STEP_LOAD) :
			STEP_GENERAL;
	}
	if (n != 2)
		return STEP_GENERAL;
	if (u->kind == UOP_LOAD && u->size && u->ports)
		return computes(&u[1]) ? (more(u) || u[1].domain ? STEP_LOAD_COMPUTE_MORE : STEP_LOAD_COMPUTE) :
		       branches(&u[1]) ? (more(u) ? STEP_LOAD_BRANCH_MORE : STEP_LOAD_BRANCH) : STEP_GENERAL;
	if (u->kind == UOP_STORE_ADDR && u->size && u->ports && !u->dst[0] && !u->dst[1] && !u->dst[2] &&
	    u[1].kind == UOP_STORE_DATA && u[1].ports && u[1].slot == u->slot && u[1].size == u->size &&
	    !u[1].dst[0] && !u[1].dst[1] && !u[1].dst[2])
		return STEP_STORE;
	return STEP_GENERAL;
}

static void fill(struct step *s, const struct uop *u, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		s->is[i] = u[i].is;
		s->ports[i] = u[i].ports;
		s->latency[i] = u[i].kind == UOP_LOAD ? u[i].latency : (uint8_t)(u[i].latency + !u[i].latency);
		memcpy(s->src[i], u[i].src, sizeof s->src[i]);
		for (unsigned k = 0; k < 3; k++)
			s->dst[i][k] = u[i].dst[k] ? u[i].dst[k] : STEP_NO_RESULT;
		s->ends = (uint8_t)(s->ends + !!(u[i].is & SPMU_IS(INST_END)) + !!(u[i].is & SPMU_IS(INST_END2)));
	}
	if (u->kind == UOP_LOAD || u->kind == UOP_STORE_ADDR) {
		s->slot = u->slot;
		s->size = u->size;
	}
	if (u->kind == UOP_LOAD && ((u->dst[0] >= REG_VEC && u->dst[0] < REG_FLAGS) || u->size > 8))
		s->flags |= STEP_VECTOR;
	if (u->kind == UOP_STORE_ADDR && u->is & SPMU_IS(NON_TEMPORAL))
		s->flags |= STEP_WEAK;
	if (u->kind == UOP_ELIMINATED) {
		s->flags |= u->flags & UOP_ADDS ? STEP_COPY | STEP_ADDS : STEP_COPY;
		s->constant = u->constant;
	} else {
		s->load = u->kind == UOP_LOAD || u->kind == UOP_STORE_ADDR ? (uint8_t)u->load : 0;
		s->domain = u[n - 1].kind == UOP_COMPUTE ? (uint8_t)u[n - 1].domain : 0;
	}
}

static bool is_branch(enum step_kind kind)
{
	return kind == STEP_BRANCH || kind == STEP_LOAD_BRANCH || kind == STEP_LOAD_BRANCH_MORE;
}

/* Writes the steps of instruction i.  Returns how many. */
static unsigned plan_insn(const struct iblock *b, unsigned i, struct step *s)
{
	const struct insn *in = &b->insn[i];
	const struct uop *u = b->uop + in->first_uop, *end = u + in->uops;
	const bool fuses = in->flags & INSN_FUSES_NEXT;
	const struct step blank = { .ip = in->addr,
		.in = in,
		.insn = (uint16_t)i,
		.branch = (uint16_t)(i + fuses),
		.slot = UOP_NO_SLOT,
		.flags = in->flags & INSN_WIDE ? STEP_WIDE : 0 };
	unsigned n = 0, branch = 0;
	bool memory = false;

	s[0] = blank;
	s[0].steps = 1;
	s[0].flags = in->flags & INSN_REP || !in->high ? 0 : STEP_APART;
	s[0].kind = in->uops || in->flags & INSN_REP ? STEP_GENERAL : STEP_NOTHING;
	if (!in->uops || in->flags & (INSN_REP | INSN_MS | INSN_SERIALIZE | INSN_FAR))
		return 1;
	/* those that use x87 or MMX state are known by their uops, too (elision.c) */
	if (b->elision && b->elision[i] != ELISION_NONE && b->elision[i] != ELISION_STATE)
		return 1;
	struct step part[STEPS_MAX];
	while (u < end) {
		unsigned uops = 1;
		while (u + uops < end && !(u[uops].flags & UOP_SLOT))
			uops++;
		enum step_kind kind = shape(u, uops);
		if (n == STEPS_MAX || kind == STEP_GENERAL || !(u->flags & UOP_SLOT))
			return 1;
		part[n] = blank;
		part[n].kind = (uint8_t)kind;
		fill(&part[n], u, uops);
		if (is_branch(kind)) {
			part[n].branch_at = (uint8_t)(b->insn[part[n].branch].addr - in->addr);
			branch++;
		}
		memory |= kind >= STEP_LOAD;
		u += uops;
		if ((u < end) == (part[n].ends != 0))
			return 1;
		n++;
	}
	bool last = is_branch(part[n - 1].kind);
	if (branch != (in->flags & (INSN_BRANCH | INSN_FUSES_NEXT) ? 1u : 0) || branch != last ||
		part[n - 1].ends != 1u + fuses)
		return 1;
	part[0].flags |= STEP_FIRST;
	part[0].steps = (uint8_t)n;
	if (n > 1 && (memory || fuses))
		part[0].flags |= STEP_CHECK;
	memcpy(s, part, n * sizeof *s);
	return n;
}

static struct outline outline(const struct step *s)
{
	struct outline o = { .word = (uint64_t)s | s->kind, .insn = s->insn, .slot = OUTLINE_CLOSER };
	switch (s->kind) {
	case STEP_NOTHING:
		o.slot = 0;
		break;
	case STEP_ELIMINATED:
	case STEP_COMPUTE:
	case STEP_COMPUTE_MORE:
	case STEP_RENAME:
		o.slot = 0;
		o.words = 1;
		break;
	case STEP_LOAD:
	case STEP_LOAD_MORE:
	case STEP_LOAD_COMPUTE:
	case STEP_LOAD_COMPUTE_MORE:
	case STEP_STORE:
		o.slot = s->slot;
		o.words = 2;
		break;
	default:
		break;
	}
	if (s->flags & STEP_CHECK)
		o.slot = OUTLINE_CLOSER;
	return o;
}

struct plan *core_plan_make(struct iblock *b)
{
	size_t most = (size_t)b->uops + b->insns + 1;
	const size_t bytes = sizeof(struct plan) + most * (sizeof(struct step) + sizeof(struct outline));
	struct plan *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	if (!p)
		return NULL;
	unsigned n = 0;
	for (unsigned i = 0; i < b->insns; i++)
		n += plan_insn(b, i, &p->step[n]);
	memset(&p->step[n], 0, sizeof p->step[n]);
	p->step[n].insn = UINT16_MAX;
	struct outline *o = (struct outline *)&p->step[n + 1];
	for (unsigned i = 0; i <= n; i++)
		o[i] = outline(&p->step[i]);
	p->outline = o;
	b->core_plan = p;
	return p;
}
