/* SPDX-License-Identifier: GPL-2.0-or-later
 * Walks the wrong path (walker.h) and writes it as steps: the walk itself, and the frequent instructions.
 */
#include "core/wrongpath/converge.h"
#include "core/pipeline.h"
#include "core/script/script.h"
#include "core/wrongpath/walker_values.h"
#include "isa/flags.h"
#include <string.h>

/* Returns the address of what the instruction pushes or pops; ST_NOT_DONE: nothing, or it is unknown. */
static uint64_t stack(const struct walk_state *x, const struct sem *s)
{
	uint64_t sp;
	if (!(s->flags & (SEM_POPS | SEM_PUSHES)) || !walk_get(x, s->op == SEM_LEAVE ? 5 : 4, 8, &sp))
		return ST_NOT_DONE;
	sp -= s->flags & SEM_PUSHES ? s->size : 0;
	return x->word4 ? (uint32_t)sp : sp;
}

/* Returns where the instruction's operand will lie when the right path comes to it. */
static __attribute__((noinline)) bool converged(const struct walk_state *x, const struct walk_insn *h, uint64_t *mem)
{
	const unsigned i = (unsigned)(h - x->block->insn);
	const uint16_t flags = x->block->sem[i].flags;
	const bool store = flags & SEM_STORES && (!(flags & SEM_LOADS) || flags & SEM_POPS);
	return x->w->converges && x->w->ahead &&
		converge_address(x->w->ahead, x->block->b->insn[i].addr, store, x->w->walks, mem);
}

/* Returns where an instruction's operand lies; false if it has none or that is unknown. */
static inline bool operand(const struct walk_state *x, const struct walk_insn *h, uint64_t *mem)
{
	*mem = (x->reg[h->base] + x->reg[h->index] * h->scale + h->disp) & h->address_mask;
	return LIKELY(x->known[h->base] & x->known[h->index]) || (h->flags & WALK_OPERAND && converged(x, h, mem));
}

/* Returns where fetch goes on behind the branch; 0: nowhere.  *way: as script.h says. */
static inline uint64_t branch(struct walker *w, const struct bpred *bp, const struct walk_branch *br, uint64_t *way)
{
	const uint64_t behind = br->addr + br->len,
		       next = bpred_path_branch(bp, &w->path, br->addr, br->flags, behind, br->target);
	*way = ((next && next != behind ? SCRIPT_TAKEN : 0) | (w->path.resteer ? SCRIPT_RESTEER : 0) |
		(uint64_t)w->path.bubble << (SCRIPT_BUBBLE - SCRIPT_FLAGS)) << SCRIPT_FLAGS;
	return next;
}

/* Returns where the branch goes that is the last of the instructions at h, which were executed; 0: unknown.
 * sp: address of what it pops. */
static uint64_t goes(
	const struct walk_state *x, const struct walk_insn *h, const struct walk_branch *br, uint64_t mem, uint64_t sp)
{
	const struct sem *s = &x->block->sem[h - x->block->insn + h->last];
	uint64_t to = 0;
	int taken;
	switch (s->op) {
	case SEM_JCC:
		taken = s->cc == SEM_NONE ? -1 : walk_condition(x, s->cc);
		return taken < 0 ? 0 : taken ? br->target : br->addr + br->len;
	case SEM_RET:
		return sp != ST_NOT_DONE && walk_load(x, sp, s->size, &to) ? to : 0;
	case SEM_JMP: case SEM_CALL:
		if (br->target)
			return br->target;
		if (s->flags & SEM_DST_MEM)
			return mem != ST_NOT_DONE && s->size <= 8 && walk_load(x, mem, s->size, &to) ? to : 0;
		return s->dst < 16 && walk_get(x, s->dst, s->size, &to) ? to : 0;
	default:
		return 0;
	}
}

/* Returns what the branch's word has besides its way, if it was predicted to go to `next`. */
static __attribute__((noinline)) uint64_t outcome(const struct walk_state *x, const struct walk_insn *h,
	const struct walk_branch *br, uint64_t mem, uint64_t sp, uint64_t next)
{
	const uint64_t to = next ? goes(x, h, br, mem, sp) : 0;
	if (next && (!to || to == next))
		return 0;
	return (uint64_t)(SCRIPT_MISPREDICTED | (br->flags & INSN_COND ? 0 : SCRIPT_WRONG_TARGET)) << SCRIPT_FLAGS;
}

static void flags_begin(struct walk_state *x, const struct walker *w)
{
	const uint32_t thunk = 15u << THUNK_OP;
	x->flags = (w->known & thunk) == thunk ? FLAGS_BITS : FLAGS_UNKNOWN;
	x->a = x->flags ? isa_flags(x->word4 ? 4 : 8, &w->reg[THUNK_OP]) : 0;
}

static void begin(struct walker *w, struct walk_state *x)
{
	x->w = w;	/* by member: GCC would clear all of them with REP STOS, which is slow to begin */
	x->word4 = w->space->word_bytes == 4;
	x->flags_size = 0;
	x->b = x->r = 0;
	memcpy(x->reg, w->reg, 16 * sizeof *x->reg);
	for (unsigned r = 0; r < 16; r++)
		x->known[r] = w->known >> r & 1;
	x->reg[WALK_ZERO_REG] = x->reg[WALK_NEVER_KNOWN] = 0;
	x->known[WALK_ZERO_REG] = 1;
	x->known[WALK_NEVER_KNOWN] = 0;
	flags_begin(x, w);
	if (!++w->walks) {	/* numbers have wrapped: old entries of the table may look new */
		memset(w->overlay, 0, sizeof w->overlay);
		w->walks = 1;
	}
	w->stores = 0;
}

/* How: each kind of instruction has its own code, which jumps to the code of the next one by itself.  The labels of
 * such a jump table must be in one function, which makes this the longest of all.  Before a block the walk checks
 * whether there is room for it, and whether enough instructions are left; where that is tight, `careful` comes
 * before each instruction.  A block's next branch is predicted before the instructions that lead to it, so that
 * the host need not wait for the tables at its end. */
size_t walker_walk(struct walker *w, const struct bpred *bp, uint64_t from, bool general, uint64_t *out)
{
#define DO(what) [WALK_##what] = &&do_##what,
	static const void *const code[] = { WALK_DO(DO) };
#undef DO
#define DO(what) [WALK_##what] = &&careful,
	static const void *const ask[] = { WALK_DO(DO) };
#undef DO
	struct walk_state x;
	const unsigned pace = (unsigned)(from * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (PACES - 1);
	uint64_t *const begins = out++, *const end = out + WALK_ROOM - 1, *const paced = out + walk_pace_ahead(w, pace),
			*stop = paced, *o = out;
	int32_t left = (int32_t)w->most;
	/* with walk_insn.flags these say: an instruction does not go the short way below; a branch does not,
	 * because of its outcome */
	unsigned unusual = (general ? WALK_SEVERAL : 0) | (w->outcomes ? WALK_BRANCH_ALONE : 0);
	const struct walk_insn *h;
	const struct walk_block *k;
	struct walk_branch *br = NULL;
	const void *const *via;
	uint64_t mem, a, v, r, way, next;
	uint8_t known;
	int taken;
	begin(w, &x);
	bpred_path_begin(bp, &w->path);

#define NEXT do { left--; goto *via[h->what]; } while (0)
#define ROOM(insns) (LIKELY(stop - o > 3 * (ptrdiff_t)(insns) && left > (int32_t)(insns)) ? code : ask)
/* PLAIN ends an instruction without an access, ACCESS one with an operand */
#define PLAIN do { \
		if (UNLIKELY((h->flags | unusual) & (WALK_BRANCH | WALK_SEVERAL))) { \
			mem = ST_NOT_DONE; \
			goto tail; \
		} \
		*o++ = h++->word; \
		NEXT; \
	} while (0)
#define ACCESS do { \
		if (UNLIKELY((h->flags | unusual) & (WALK_BRANCH | WALK_SEVERAL) || mem == ST_NOT_DONE)) \
			goto tail; \
		o[0] = h++->word; \
		o[1] = mem; \
		o += 2; \
		NEXT; \
	} while (0)
/* SOURCE: the value of the source; LOADED: of the source in memory */
#define SOURCE do { v = (x.reg[h->src] + h->imm) & h->from_mask; known = x.known[h->src]; } while (0)
#define LOADED do { \
		v = 0; \
		known = 0; \
		if (!operand(&x, h, &mem)) \
			mem = ST_NOT_DONE; \
		else \
			known = walk_load_quick(&x, mem, h->from, h->set, h->from_mask, &v); \
	} while (0)
#define SET(value, is_known) do { x.reg[h->dst] = (value); x.known[h->dst] = (is_known); } while (0)
#define RESULT(value, kind) do { \
		a = x.reg[h->dst] & h->mask; \
		r = (value) & h->mask; \
		known &= x.known[h->dst]; \
		if (h->flags & WALK_FLAGS) \
			walk_flags_set(&x, known ? (kind) : FLAGS_UNKNOWN, h->bytes, a, v, r); \
		SET(r, known); \
	} while (0)
#define COMPARED(value, kind) do { \
		a = x.reg[h->dst] & h->mask; \
		walk_flags_set(&x, known & x.known[h->dst] ? (kind) : FLAGS_UNKNOWN, h->bytes, a, v, \
			(value) & h->mask); \
	} while (0)
#define SIGNED(v, cut) ((uint64_t)((int64_t)((v) << (cut)) >> (cut)))
#define COMPARED_AT(value, kind) do { \
		a = v; \
		v = (x.reg[h->src] + h->imm) & h->mask; \
		walk_flags_set(&x, known & x.known[h->src] ? (kind) : FLAGS_UNKNOWN, h->bytes, a, v, \
			(value) & h->mask); \
	} while (0)
/* ends the walk when the table of its own stores is full */
#define LAST_STORE do { if (UNLIKELY(w->stores >= OVERLAY_MOST)) { stop = o; via = ask; } } while (0)

lookup:;
	const struct place *p = place_of(w->space, from);
	unsigned first = (unsigned)(p->block >> PLACE_INDEX);
	struct iblock *b = LIKELY(p->block && from) ? block_at(p->block) : walk_space_find(w->space, from, &first);
	k = !b ? NULL : LIKELY(b->core_walk != NULL) ? b->core_walk : walk_block_of(w->space, b);
	if (!k)
		goto done;
	h = &k->insn[first];
	if (br) {
		br->generation = w->space->generation;
		br->to = from;
		br->block = k;
		br->insn = h;
		br->branch = &k->branch[h->branch];
	}
	br = &k->branch[h->branch];
	goto block;
elsewhere:
	if (UNLIKELY(br->to != from || br->generation != w->space->generation))
		goto lookup;
	k = br->block;
	h = br->insn;
	br = br->branch;
block:
	x.block = k;
	via = ROOM(&k->insn[k->insns] - h);
	next = way = 0;
	if (LIKELY(br->addr))
		next = branch(w, bp, br, &way);
	__builtin_prefetch(br->insn);		/* likely the next */
	__builtin_prefetch(br->branch);
	NEXT;
careful:
	if (UNLIKELY(o >= stop || left < 0))
		goto done;
	goto *code[h->what];

do_NOTHING:	PLAIN;
do_TOUCH:
	if (!operand(&x, h, &mem))
		mem = ST_NOT_DONE;
	ACCESS;
do_MOV:		SOURCE; SET(v, known); PLAIN;
do_MOVSX:	SOURCE; SET(SIGNED(v, h->from_cut) & h->mask, known); PLAIN;
do_ADD:		SOURCE; RESULT(a + v, FLAGS_ADD); PLAIN;
do_SUB:		SOURCE; RESULT(a - v, FLAGS_SUB); PLAIN;
do_AND:		SOURCE; RESULT(a & v, FLAGS_LOGIC); PLAIN;
do_OR:		SOURCE; RESULT(a | v, FLAGS_LOGIC); PLAIN;
do_XOR:		SOURCE; RESULT(a ^ v, FLAGS_LOGIC); PLAIN;
do_ZERO:	v = 0; known = x.known[h->dst] = 1; RESULT(0, FLAGS_LOGIC); PLAIN;
do_INC:		v = 0; known = 1; RESULT(a + 1, FLAGS_INC); PLAIN;
do_DEC:		v = 0; known = 1; RESULT(a - 1, FLAGS_DEC); PLAIN;
do_SHL:		SOURCE; RESULT(a << (v & 63), FLAGS_SHIFT); PLAIN;
do_SHR:		SOURCE; RESULT(a >> (v & 63), FLAGS_SHIFT); PLAIN;
do_SAR:		SOURCE; RESULT((uint64_t)((int64_t)(a << h->cut) >> h->cut >> (v & 63)), FLAGS_SHIFT); PLAIN;
do_CMP:		SOURCE; COMPARED(a - v, FLAGS_SUB); PLAIN;
do_TEST:	SOURCE; COMPARED(a & v, FLAGS_LOGIC); PLAIN;
do_LEA:
	known = operand(&x, h, &mem);
	SET(mem & h->mask, known);
	if (UNLIKELY((h->flags | unusual) & (WALK_BRANCH | WALK_SEVERAL))) {
		mem = known ? mem : ST_NOT_DONE;
		goto tail;
	}
	*o++ = h++->word;
	NEXT;
do_LOAD:	LOADED; SET(v, known); ACCESS;
do_LOAD_MOVSX:	LOADED; SET(SIGNED(v, h->from_cut) & h->mask, known); ACCESS;
do_LOAD_ADD:	LOADED; RESULT(a + v, FLAGS_ADD); ACCESS;
do_LOAD_SUB:	LOADED; RESULT(a - v, FLAGS_SUB); ACCESS;
do_LOAD_AND:	LOADED; RESULT(a & v, FLAGS_LOGIC); ACCESS;
do_LOAD_OR:	LOADED; RESULT(a | v, FLAGS_LOGIC); ACCESS;
do_LOAD_XOR:	LOADED; RESULT(a ^ v, FLAGS_LOGIC); ACCESS;
do_LOAD_CMP:	LOADED; COMPARED(a - v, FLAGS_SUB); ACCESS;
do_LOAD_TEST:	LOADED; COMPARED(a & v, FLAGS_LOGIC); ACCESS;
do_CMP_AT:	LOADED; COMPARED_AT(a - v, FLAGS_SUB); ACCESS;
do_TEST_AT:	LOADED; COMPARED_AT(a & v, FLAGS_LOGIC); ACCESS;
do_IMUL:
	known = x.known[h->src] & x.known[h->dst];
	SET(x.reg[h->src] * x.reg[h->dst] & h->mask, known);
	x.flags = FLAGS_UNKNOWN;
	PLAIN;
do_IMUL_IMM:
	SET(x.reg[h->src] * h->imm & h->mask, x.known[h->src]);
	x.flags = FLAGS_UNKNOWN;
	PLAIN;
do_SETCC:
	taken = walk_condition(&x, (unsigned)h->imm);
	walk_set(&x, h->dst, 1, taken > 0, taken >= 0);
	PLAIN;
do_CMOV:
	taken = walk_condition(&x, (unsigned)h->imm);
	v = x.reg[h->src] & h->mask;
	a = x.reg[h->dst] & h->mask;
	known = x.known[h->src];
	if (taken <= 0)
		known = taken ? known & x.known[h->dst] & (a == v) : x.known[h->dst];
	SET(taken > 0 ? v : a, known);
	PLAIN;
do_STORE:
	if (operand(&x, h, &mem)) {
		SOURCE;
		walk_store(&x, mem, h->bytes, v, known);
		LAST_STORE;
	} else {
		mem = ST_NOT_DONE;
	}
	ACCESS;
do_PUSH:
	if (UNLIKELY(!x.known[4] || unusual || !h->word))
		goto do_EXECUTE;
	SOURCE;
	mem = x.reg[4] - h->bytes;
	mem = x.word4 ? (uint32_t)mem : mem;
	walk_store(&x, mem, h->bytes, v, known);
	x.reg[4] = mem;
	LAST_STORE;
	goto stacked;
do_POP:
	if (UNLIKELY(!x.known[4] || unusual || !h->word))
		goto do_EXECUTE;
	mem = x.word4 ? (uint32_t)x.reg[4] : x.reg[4];
	v = 0;
	known = walk_load_quick(&x, mem, h->bytes, (1u << h->bytes) - 1, h->mask, &v);
	x.reg[4] = x.word4 ? (uint32_t)(mem + h->bytes) : mem + h->bytes;
	SET(v, known);
stacked:
	o[0] = h++->word;
	o[1] = mem;
	o += 2;
	NEXT;
do_CALL:
	if (UNLIKELY(!x.known[4] || unusual))
		goto do_EXECUTE;
	if (end - o < h->from_cut + 3 * (ptrdiff_t)left)	/* as for others of several steps, below */
		goto done;
	mem = x.reg[4] - h->bytes;
	mem = x.word4 ? (uint32_t)mem : mem;
	walk_store(&x, mem, h->bytes, h->imm, true);
	x.reg[4] = mem;
	LAST_STORE;
	o[0] = h->from_mask;
	o[1] = mem;
	o[2] = (h->from_mask & ~(uint64_t)SCRIPT_KIND) + sizeof(struct step) + STEP_BRANCH + way;
	o[3] = next ? next : br->addr + br->len;
	o += 4;
	if (via == code)
		via = ROOM(&k->insn[k->insns] - h);
	goto branched;
do_RET:
	if (UNLIKELY(!x.known[4] || unusual))
		goto do_EXECUTE;
	mem = x.word4 ? (uint32_t)x.reg[4] : x.reg[4];
	x.reg[4] = x.word4 ? (uint32_t)(mem + h->imm) : mem + h->imm;
	goto accessed;
do_BEHIND:
	from = h->disp;
	left++;
	goto elsewhere;
do_END:
	goto done;

tail:
	if (LIKELY(h->flags & WALK_BRANCH_ALONE && !unusual)) {
		o[0] = h->word | way;
		o[1] = next ? next : br->addr + br->len;
		o += 2;
		goto branched;
	}
	if (LIKELY(h->flags & WALK_BRANCH_ACCESS && !unusual && mem != ST_NOT_DONE)) {
accessed:
		o[0] = h->word | way;
		o[1] = mem;
		o[2] = next ? next : br->addr + br->len;
		o += 3;
		goto branched;
	}
	goto at_length;
do_EXECUTE:
	if (!operand(&x, h, &mem))
		mem = ST_NOT_DONE;
at_length:;
	const unsigned i = (unsigned)(h - k->insn);
	const struct insn *in = &k->b->insn[i];
	const uint64_t sp = h->flags & WALK_USES_STACK ? stack(&x, &k->sem[i]) : ST_NOT_DONE;
	if (h->what == WALK_EXECUTE || h->what == WALK_PUSH || h->what == WALK_POP || h->what == WALK_CALL ||
		h->what == WALK_RET) {
		walk_execute(&x, &k->sem[i], in->addr + in->len, mem, sp);
		LAST_STORE;
	}
	const uint64_t at = h->access == WALK_AT_STACK ? sp : mem;
	uint64_t said = h->flags & WALK_BRANCH ? way : 0;
	if (UNLIKELY(unusual & WALK_BRANCH_ALONE) && h->flags & WALK_BRANCH)
		said |= outcome(&x, h, br, mem, sp, next);
	const uint64_t went = !(h->flags & WALK_BRANCH) ? 0 : next ? next : br->addr + br->len;
	if (LIKELY(h->word && !(unusual & WALK_SEVERAL) && !(h->access && at == ST_NOT_DONE))) {
		*o++ = h->word | said;
		if (h->access)
			*o++ = at;
		if (h->flags & WALK_BRANCH)
			*o++ = went;
	} else if (in->uops) {
		/* each of the instructions left has at most three words, or does not go this way either */
		if (end - o < in->uops * 3 + 3 + 3 * (ptrdiff_t)left)
			goto done;
		general = unusual & WALK_SEVERAL;
		o = walk_several(k->b, i, k, mem, sp, &general, said, went, o);
		unusual = (unusual & WALK_BRANCH_ALONE) | (general ? WALK_SEVERAL : 0);
		if (via == code)
			via = ROOM(&k->insn[k->insns] - h);
	}
	if (h->flags & WALK_BRANCH)
		goto branched;
	h += h->last + 1;
	NEXT;
branched:
	if (way >> SCRIPT_FLAGS & SCRIPT_TAKEN) {
		from = next;
		goto elsewhere;
	}
	if (!next)
		goto done;
	h += h->last + 1;
	br++;
	next = way = 0;
	if (br->addr)
		next = branch(w, bp, br, &way);
	NEXT;

done:
	if (o == out)
		return 0;
	const uint64_t number = walk_pace_note(w, pace, o >= paced ? (unsigned)(o - out) : UINT16_MAX);
	*o++ = SCRIPT_END;
	*begins = number << SCRIPT_WALK | (uint64_t)(o - begins) << SCRIPT_INDEX | SCRIPT_WRONG_PATH;
	return (size_t)(o - begins);
}
