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

struct warm_op *warm_plan_accesses(const struct iblock *b, unsigned i, struct warm_code code, uint64_t *line,
	struct warm_op *op)
{
	const struct insn *in = &b->insn[i];
	if (!code.window_log2 && in->addr >> code.line_log2 != *line) {
		*line = in->addr >> code.line_log2;
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

/* Does the front end look for instruction i?  Not if it is fused into the one before. */
static bool is_delivered(const struct iblock *b, unsigned i)
{
	return b->insn[i].uops;
}

/* Writes the windows that the block runs through, and returns how many: those of straight code, one by one. */
static unsigned windows(const struct iblock *b, unsigned window_log2, struct warm_window *w)
{
	unsigned n = 0;
	uint64_t next = 0;
	for (unsigned i = 0; window_log2 && i < b->insns; i++) {
		const struct insn *in = &b->insn[i];
		const uint64_t window = in->addr >> window_log2;
		if (!n || in->addr != next || window != w[n - 1].window)
			w[n++] = (struct warm_window){ .window = window, .first = (uint16_t)i };
		if (is_delivered(b, i))
			w[n - 1].mask |= UINT64_C(1) << (in->addr & ((1u << window_log2) - 1));
		w[n - 1].end = (uint16_t)(i + 1);
		next = in->addr + in->len;
	}
	return n;
}

/* The part of a window's mask that the first `insns` instructions of the block have. */
static uint64_t mask_until(const struct iblock *b, const struct warm_window *w, unsigned insns, unsigned window_log2)
{
	uint64_t mask = w->mask;
	for (unsigned i = insns; i < w->end; i++)
		mask &= ~(UINT64_C(1) << (b->insn[i].addr & ((1u << window_log2) - 1)));
	return mask;
}

/* Counts what of the lists an execution through exit x has. */
static struct warm_exit count(const struct iblock *b, const struct warm_plan *p, unsigned ops, unsigned windows,
	unsigned window_log2, unsigned x)
{
	struct warm_exit e = { 0 };
	unsigned insns = b->exit[x].insns, slots = b->exit[x].slots;
	const bool repeats = b->exit[x].jump == ST_JUMP_REPEAT;
	if (!insns || insns > b->insns || (repeats && !(b->insn[insns - 1].flags & INSN_REP)))
		return e;
	e.insns = (uint16_t)insns;
	e.completed = (uint16_t)(insns - repeats);
	e.next = b->insn[insns - 1].addr + b->insn[insns - 1].len;
	while (e.ops < ops && p->op[e.ops].insn < insns &&
		(p->op[e.ops].kind == WARM_FETCH || p->op[e.ops].slot < slots))
		e.ops++;
	while (e.windows < windows && p->window[e.windows].first < insns)
		e.windows++;
	if (e.windows)
		e.last_mask = mask_until(b, &p->window[e.windows - 1], insns, window_log2);
	return e;
}

struct warm_branch warm_plan_branch(const struct iblock *b, unsigned i, bool hints)
{
	const struct insn *in = &b->insn[i];
	return (struct warm_branch){ .ip = in->addr, .fallthrough = in->addr + in->len, .target = in->target,
		.next = i + 1u < b->insns ? in[1].addr : 0,
		.flags = in->flags | (hints && in->prefixes && in->flags & INSN_COND ? script_hint(b, i) : 0) };
}

/* The part of the branches that an execution through exit x has. */
static struct warm_path path_of(const struct iblock *b, const struct warm_plan *p, const struct warm_branch *branch,
	unsigned branches, unsigned x)
{
	struct warm_path path = { .branch = branch, .addr = b->addr };
	while (path.branches < branches && p->branch[path.branches] < p->exit[x].insns)
		path.branches++;
	path.last = path.branches && p->branch[path.branches - 1] + 1u == p->exit[x].insns;
	return path;
}

const struct warm_plan *warm_plan_make(struct iblock *b, struct warm_code code)
{
	const size_t most = (size_t)b->insns + b->slots;
	const size_t most_windows = code.window_log2 ? b->insns : 0;
	unsigned predicted = 0;
	for (unsigned i = 0; i < b->insns && i < SCRIPT_BRANCHES; i++)
		predicted += b->insn[i].flags & INSN_BRANCH && !(b->insn[i].flags & INSN_FAR);
	/* the paths, which another host thread reads, begin and end with cache lines of their own */
	const size_t paths =
		(predicted * sizeof(struct warm_branch) + b->exits * sizeof(struct warm_path) + 63) & ~(size_t)63;
	const size_t lists = (sizeof(struct warm_plan) + b->exits * sizeof(struct warm_exit) +
		most * sizeof(struct warm_op) + most_windows * sizeof(struct warm_window) +
		predicted * sizeof(uint16_t) + 63) & ~(size_t)63;
	struct warm_plan *p = aligned_alloc(64, lists + paths);
	if (!p)
		return NULL;
	p->exits = b->exits;
	p->exit = (struct warm_exit *)(p + 1);
	p->window = (struct warm_window *)(p->exit + b->exits);
	p->op = (struct warm_op *)(p->window + most_windows);
	p->branch = (uint16_t *)(p->op + most);
	p->path = (struct warm_path *)((char *)p + lists);
	struct warm_branch *branch = (struct warm_branch *)(p->path + b->exits);
	const unsigned n = windows(b, code.window_log2, p->window);
	struct warm_op *end = p->op;
	uint64_t line = WARM_NO_LINE;
	unsigned branches = 0;
	for (unsigned i = 0; i < b->insns; i++) {
		end = warm_plan_accesses(b, i, code, &line, end);
		if (i < SCRIPT_BRANCHES && b->insn[i].flags & INSN_BRANCH && !(b->insn[i].flags & INSN_FAR)) {
			branch[branches] = warm_plan_branch(b, i, code.hints);
			p->branch[branches++] = (uint16_t)i;
		}
	}
	for (unsigned x = 0; x < b->exits; x++) {
		p->exit[x] = count(b, p, (unsigned)(end - p->op), n, code.window_log2, x);
		p->path[x] = path_of(b, p, branch, branches, x);
	}
	b->core_warm = p;
	return p;
}
