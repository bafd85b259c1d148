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

/* Appends the accesses of instruction i.  *line: the line of code that was fetched last.  Returns the end. */
static struct warm_op *accesses(const struct iblock *b, unsigned i, unsigned line_log2, uint64_t *line,
	struct warm_op *op)
{
	const struct insn *in = &b->insn[i];
	if (in->addr >> line_log2 != *line) {
		*line = in->addr >> line_log2;
		*op++ = (struct warm_op){ .insn = (uint16_t)i, .kind = WARM_FETCH };
	}
	for (unsigned s = in->first_slot, n = s + in->slots; s < n; s++) {
		const unsigned kind = b->slot[s].kind;
		struct warm_op o = { .insn = (uint16_t)i, .slot = (uint16_t)s, .size = b->slot[s].size };
		if (kind == ST_SLOT_LOAD)
			o.kind = WARM_LOAD;
		else if (kind == ST_SLOT_STORE || kind == ST_SLOT_LOADSTORE)
			o.kind = WARM_STORE;
		else if (kind == ST_SLOT_FLUSH && (o.size = (uint16_t)flush_of(b, in, s)))
			o.kind = WARM_FLUSH;
		else
			continue;
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
	uint64_t line = ~UINT64_C(0);	/* none */
	unsigned branches = 0;
	for (unsigned i = 0; i < b->insns; i++) {
		end = accesses(b, i, line_log2, &line, end);
		if (i < SCRIPT_BRANCHES && b->insn[i].flags & INSN_BRANCH && !(b->insn[i].flags & INSN_FAR))
			p->branch[branches++] = (uint16_t)i;
	}
	for (unsigned x = 0; x < b->exits; x++)
		p->exit[x] = count(b, p, (unsigned)(end - p->op), branches, x);
	b->core_warm = p;
	return p;
}
