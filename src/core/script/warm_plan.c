/* SPDX-License-Identifier: GPL-2.0-or-later
 * The lists of a block's accesses and branches (warm_plan.h).
 */
#include "core/script/warm_plan.h"
#include "core/script/script.h"
#include <stdlib.h>

/* Returns how the flush of this slot is made. */
static unsigned flush_of(const struct iblock *b, const struct insn *in, unsigned slot)
{
	for (const struct uop *u = b->uop + in->first_uop, *end = u + in->uops; u < end; u++)
		if (u->kind == UOP_FLUSH && u->slot == slot)
			return u->flush;
	return FLUSH_NONE;
}

/* Are this instruction's stores non-temporal? */
static bool streams(const struct iblock *b, const struct insn *in)
{
	for (const struct uop *u = b->uop + in->first_uop, *end = u + in->uops; u < end; u++)
		if (u->kind == UOP_STORE_ADDR && u->is & SPMU_IS(NON_TEMPORAL))
			return true;
	return false;
}

/* The kind of the access in this slot; *size: its operand.  WARM_FETCH: there is none. */
static enum warm_kind kind_of(const struct iblock *b, const struct insn *in, unsigned slot, uint16_t *size)
{
	switch (b->slot[slot].kind) {
	case ST_SLOT_LOAD:
		return WARM_LOAD;
	case ST_SLOT_STORE:
	case ST_SLOT_LOADSTORE:
		return streams(b, in) ? WARM_STREAM : WARM_STORE;
	case ST_SLOT_PREFETCH:
		return WARM_PREFETCH;
	case ST_SLOT_FLUSH:
		*size = (uint16_t)flush_of(b, in, slot);
		return *size ? WARM_FLUSH : WARM_FETCH;
	default:
		return WARM_FETCH;
	}
}

struct warm_op *warm_plan_accesses(const struct iblock *b, unsigned i, unsigned line_log2, uint64_t *line,
	struct warm_op *op)
{
	const struct insn *in = &b->insn[i];
	if (in->addr >> line_log2 != *line) {
		*line = in->addr >> line_log2;
		*op++ = (struct warm_op){ .insn = (uint16_t)i, .kind = WARM_FETCH };
	}
	for (unsigned s = in->first_slot, n = s + in->slots; s < n; s++) {
		struct warm_op o = { .insn = (uint16_t)i, .slot = (uint16_t)s, .size = b->slot[s].size };
		o.kind = (uint16_t)kind_of(b, in, s, &o.size);
		if (o.kind != WARM_FETCH)
			*op++ = o;
	}
	return op;
}

/* Counts what of the lists an execution through exit x has. */
static struct warm_exit count(const struct iblock *b, const struct warm_plan *p, unsigned ops, unsigned branches,
	unsigned x)
{
	struct warm_exit e = { 0 };
	unsigned insns = b->exit[x].insns, slots = b->exit[x].slots;
	const bool repeats = b->exit[x].jump == ST_JUMP_REPEAT;
	if (!insns || insns > b->insns || (repeats && !(b->insn[insns - 1].flags & INSN_REP)))
		return e;
	e.insns = (uint16_t)insns;
	e.completed = (uint16_t)(insns - repeats);
	while (e.ops < ops && p->op[e.ops].insn < insns &&
		(p->op[e.ops].kind == WARM_FETCH || p->op[e.ops].slot < slots))
		e.ops++;
	while (e.branches < branches && p->branch[e.branches] < insns)
		e.branches++;
	return e;
}

const struct warm_plan *warm_plan_make(struct iblock *b, unsigned line_log2)
{
	const size_t most = (size_t)b->insns + b->slots;
	struct warm_plan *p = malloc(sizeof *p + b->exits * sizeof *p->exit + most * sizeof *p->op +
		b->insns * sizeof *p->branch);
	if (!p)
		return NULL;
	p->exits = b->exits;
	p->op = (struct warm_op *)(p + 1);
	p->exit = (struct warm_exit *)(p->op + most);
	p->branch = (uint16_t *)(p->exit + b->exits);
	struct warm_op *end = p->op;
	uint64_t line = WARM_NO_LINE;
	unsigned branches = 0;
	for (unsigned i = 0; i < b->insns; i++) {
		end = warm_plan_accesses(b, i, line_log2, &line, end);
		if (i < SCRIPT_BRANCHES && b->insn[i].flags & INSN_BRANCH && !(b->insn[i].flags & INSN_FAR))
			p->branch[branches++] = (uint16_t)i;
	}
	for (unsigned x = 0; x < b->exits; x++)
		p->exit[x] = count(b, p, (unsigned)(end - p->op), branches, x);
	b->core_warm = p;
	return p;
}
