/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes scripts (script.h).  It asks the predictors on the way, which so see the branches in program order,
 * whatever the time.
 */
#include "core/backend/partial_regs.h"
#include "core/script/script.h"
#include "core/wrongpath/walker.h"
#include <stdlib.h>
#include <string.h>

/* core_executed for a block that was not cut, and whose last instruction is not tried again, as most. */
static inline bool executed_whole(const struct iblock *b, unsigned exit, unsigned insns)
{
	return LIKELY(exit < b->exits && b->exit[exit].insns == insns && b->exit[exit].jump != ST_JUMP_REPEAT &&
		insns <= b->insns && insns);
}

unsigned core_executed(const struct iblock *b, unsigned exit, unsigned *insns)
{
	if (executed_whole(b, exit, *insns))
		return b->exit[exit].slots;
	const struct st_exit_def *x = exit < b->exits ? &b->exit[exit] : NULL;
	if (*insns > b->insns)
		*insns = b->insns;
	if (!*insns)
		return 0;
	const struct insn *last = &b->insn[*insns - 1];
	if (!x || x->insns != *insns)		/* it was cut: whole instructions */
		return last->first_slot + last->slots;
	unsigned slots = x->slots;
	if (x->jump == ST_JUMP_REPEAT && !(last->flags & INSN_REP))
		--*insns;	/* it is tried again: it will come back and retire then */
	return slots;
}

__attribute__((noinline)) uint32_t script_hint(const struct iblock *b, unsigned i)
{
	for (unsigned k = 0; k < b->insn[i].prefixes; k++) {
		if (b->code[i][k] == 0x2e)
			return BPRED_HINT_NOT_TAKEN;
		if (b->code[i][k] == 0x3e)
			return BPRED_HINT_TAKEN;
	}
	return 0;
}

/* Returns which way branch i went, and what was predicted.  *went: where it went. */
static inline __attribute__((always_inline)) uint64_t
branch(struct core *c, const struct iblock *b, unsigned i, unsigned insns, uint64_t next_ip, uint64_t *went)
{
	const struct insn *in = &b->insn[i];
	uint64_t next = i + 1 < insns ? b->insn[i + 1].addr : next_ip, fallthrough = in->addr + in->len;
	bool taken = script_taken(in, next);
	uint64_t target = script_target(in, next), way = taken ? SCRIPT_TAKEN : 0;
	struct bpred_outcome o;

	*went = taken ? target : fallthrough;
	if (UNLIKELY(in->flags & INSN_FAR))
		return (uint64_t)SCRIPT_FAR << SCRIPT_FLAGS;
	if (LIKELY(i < SCRIPT_BRANCHES)) {
		uint32_t flags = in->flags;
		if (UNLIKELY(in->prefixes) && c->config.bpred_hints && in->flags & INSN_COND)
			flags |= script_hint(b, i);
		bpred_branch(c->bp, in->addr, flags, fallthrough, taken, target, &o);
		if (UNLIKELY(o.mispredicted)) {
			way |= o.predicted_taken ? SCRIPT_PREDICTED : 0;
			c->predicted = o.predicted;
		}
		way |= (o.mispredicted ? SCRIPT_MISPREDICTED : 0) | (o.wrong_target ? SCRIPT_WRONG_TARGET : 0) |
		       (o.resteer ? SCRIPT_RESTEER : 0) | (uint64_t)o.bubble << (SCRIPT_BUBBLE - SCRIPT_FLAGS);
	}
	return way << SCRIPT_FLAGS;
}

/* Returns the word of instruction i, which goes the general way. */
static inline __attribute__((always_inline)) uint64_t
general(struct core *c, const struct iblock *b, unsigned i, unsigned insns, uint64_t next_ip)
{
	const struct insn *in = &b->insn[i];
	uint64_t way = 0, went;
	unsigned last = i + !!(in->flags & INSN_FUSES_NEXT);
	if (in->flags & (INSN_BRANCH | INSN_FUSES_NEXT) && in->uops && last < insns &&
		b->insn[last].flags & INSN_BRANCH)
		way = branch(c, b, last, insns, next_ip, &went);
	return way | (uint64_t)i << SCRIPT_INDEX | STEP_GENERAL;
}

/* Writes the wrong path behind a mispredicted branch, if the branch is the last instruction executed.  word:
 * the branch's.  Returns the end. */
static __attribute__((noinline)) uint64_t *wrong_path(struct core *c, uint64_t *word, bool last, uint64_t *w)
{
	if (!c->walker || !last || !c->predicted)
		return w;
	size_t n = walker_walk(c->walker, c->bp, c->predicted, c->pa.general, w);
	*word |= n ? (uint64_t)SCRIPT_WRONG << SCRIPT_FLAGS : 0;
	return w + n;
}

/* Follows the state of the upper halves of the vector registers past an instruction that is executed, on cores
 * that keep them apart while legacy SSE runs (Optimization Manual, "Mixing AVX Code with SSE Code": states A, B
 * and C), or blend (clears.h).  Returns what comes before or behind the instruction. */
static inline enum script_assist uppers_step(struct core *c, enum insn_vector what)
{
	const uint8_t before = c->cl.uppers;
	switch (what) {
	case VECTOR_LEGACY:
		if (before != UPPERS_USED)
			return 0;
		if (c->cl.blends)
			return SCRIPT_BLEND;
		c->cl.uppers = UPPERS_SAVED;
		return SCRIPT_AVX_TO_SSE;
	case VECTOR_VEX_128:
	case VECTOR_VEX_256:
		if (what == VECTOR_VEX_256 || before == UPPERS_SAVED)
			c->cl.uppers = UPPERS_USED;
		return before == UPPERS_SAVED ? SCRIPT_SSE_TO_AVX : 0;
	case VECTOR_ZERO:
		c->cl.uppers = UPPERS_CLEAN;
		return 0;
	default:
		return 0;
	}
}

/* Does some instruction of the block change the state, or need something in it? */
static inline bool uppers_matter(const struct core *c, const struct iblock *b)
{
	static const uint8_t kinds[] = {
		[UPPERS_CLEAN] = 1 << VECTOR_VEX_256,
		[UPPERS_USED] = 1 << VECTOR_LEGACY | 1 << VECTOR_ZERO,
		[UPPERS_SAVED] = 1 << VECTOR_VEX_128 | 1 << VECTOR_VEX_256 | 1 << VECTOR_ZERO,
	};
	return b->vectors & kinds[c->cl.uppers];
}

/* uppers_step for a whole block.  Returns true if it holds an instruction that needs an assist; the state is then
 * as before the block. */
static __attribute__((noinline)) bool uppers_assist(struct core *c, const struct iblock *b, unsigned insns)
{
	const uint8_t before = c->cl.uppers;
	for (unsigned i = 0; i < insns; i++)
		if (uppers_step(c, b->vector[i])) {
			c->cl.uppers = before;
			return true;
		}
	return false;
}

/* Which assists this instruction needs: a set of SCRIPT_FP's bits. */
static enum script_assist fp_assist(const struct core *c, const struct iblock *b, const struct insn *in,
	const uint64_t *slots, unsigned nslots)
{
	uint64_t bits = 0;
	for (unsigned i = in->first_slot; i < in->first_slot + in->slots && i < nslots; i++)
		if (b->slot[i].kind == ST_SLOT_REG && b->slot[i].reg == ST_SLOT_ASSIST)
			bits |= slots[i];
	bits &= c->cl.fp_assists;
	return (bits & ST_ASSIST_STACK_UNDERFLOW ? SCRIPT_STACK_UNDERFLOW : 0) |
		(bits & ST_ASSIST_STACK_OVERFLOW ? SCRIPT_STACK_OVERFLOW : 0) |
		(bits & ST_ASSIST_X87_IN ? SCRIPT_X87_IN : 0) | (bits & ST_ASSIST_X87_OUT ? SCRIPT_X87_OUT : 0) |
		(bits & ST_ASSIST_X87_OVERFLOW ? SCRIPT_X87_OVERFLOW : 0) |
		(bits & ST_ASSIST_SIMD_IN ? SCRIPT_SIMD_IN : 0) | (bits & ST_ASSIST_SIMD_OUT ? SCRIPT_SIMD_OUT : 0);
}

/* True if an instruction of the block needs such an assist. */
static __attribute__((noinline)) bool any_fp_assist(const struct core *c, const struct iblock *b, const uint64_t *slots,
	unsigned nslots)
{
	uint64_t bits = 0;
	for (unsigned i = 0; i < nslots; i++)
		if (b->slot[i].kind == ST_SLOT_REG && b->slot[i].reg == ST_SLOT_ASSIST)
			bits |= slots[i];
	return bits & c->cl.fp_assists;
}

/* What the words of instructions that go the general way need besides: uppers: those with vector registers are
 * followed; hints: those that begin and end elided regions are marked; slots: the block's values, if they say which
 * instructions need an assist, else NULL. */
struct special { bool uppers, hints; const uint64_t *slots; unsigned nslots; };

/* True if an instruction of the block needs an assist for its values. */
static inline bool assisted(const struct core *c, const struct iblock *b, const uint64_t *slots, unsigned nslots)
{
	return b->special & BLOCK_ASSISTS && c->cl.fp_assists && any_fp_assist(c, b, slots, nslots);
}

/* True if what makes the block special sends all of it the general way. */
static __attribute__((noinline)) bool is_special(
	const struct core *c, const struct iblock *b, const uint64_t *slots, unsigned nslots)
{
	return b->special & BLOCK_HINTS || assisted(c, b, slots, nslots);
}

/* The words of all instructions from i on, which go the general way.  Returns the end. */
static __attribute__((noinline)) uint64_t *rest_general(struct core *c, const struct iblock *b, unsigned i,
	unsigned insns, uint64_t next_ip, const struct special *special, uint64_t *w)
{
	for (; i < insns; i++) {
		uint64_t *word = w++;
		*word = general(c, b, i, insns, next_ip);
		if (special->uppers)
			*word |= (uint64_t)uppers_step(c, b->vector[i]) << SCRIPT_ASSIST;
		if (special->slots)
			*word |= (uint64_t)fp_assist(c, b, &b->insn[i], special->slots, special->nslots) <<
				SCRIPT_ASSIST;
		if (special->hints && b->elision[i])
			*word |= (uint64_t)SCRIPT_HINT << SCRIPT_ASSIST;
		partial_ahead(c, &b->insn[i], b->uop + b->insn[i].first_uop);
		if (UNLIKELY(script_says(*word, SCRIPT_MISPREDICTED)))
			w = wrong_path(c, word, i + 1 + !!(b->insn[i].flags & INSN_FUSES_NEXT) == insns, w);
	}
	return w;
}

/* True if all accesses of the instruction were made, and the branch that it is fused with was executed. */
static bool all_done(const struct step *s, unsigned insns, const uint64_t *slots, unsigned nslots)
{
	for (unsigned i = 0; i < s->steps; i++)
		if (s[i].slot != UOP_NO_SLOT && (s[i].slot >= nslots || slots[s[i].slot] == ST_NOT_DONE))
			return false;
	return s->branch < insns;
}

size_t core_script(struct core *c, struct iblock *b, unsigned exit, unsigned insns, const uint64_t *slots,
	uint64_t next_ip, uint64_t *out)
{
	unsigned executed = insns;	/* so that insns need not be in memory */
	const unsigned nslots =
		executed_whole(b, exit, insns) ? b->exit[exit].slots : core_executed(b, exit, &executed);
	insns = executed;
	const struct plan *plan = LIKELY(b->core_plan != NULL) ? b->core_plan : core_plan_make(b);
	uint64_t *w = out + 1;
	bool any_general = false;

	const bool uppers = UNLIKELY(c->cl.follows_uppers && b->vector && uppers_matter(c, b)) &&
		uppers_assist(c, b, insns);

	/* no memory for a plan: slower, with the same results */
	if (UNLIKELY(c->pa.general || !plan || uppers || (b->special && is_special(c, b, slots, nslots)))) {
		const struct special special = { .uppers = uppers,
			.hints = b->special & BLOCK_HINTS,
			.slots = assisted(c, b, slots, nslots) ? slots : NULL,
			.nslots = nslots };
		w = rest_general(c, b, 0, insns, next_ip, &special, w);
		any_general = insns;
	} else {
		for (const struct outline *o = plan->outline; o->insn < insns; o++) {
			*w = o->word;
			if (LIKELY(o->slot < nslots)) {
				w[1] = slots[o->slot];	/* of a step without an access void */
				if (LIKELY(w[1] != ST_NOT_DONE)) {
					w += o->words;
					continue;
				}
			}
			const struct step *s = script_step(o->word);
			if (UNLIKELY(s->flags & STEP_CHECK && !all_done(s, insns, slots, nslots)))
				goto general;
			switch (s->kind) {
			case STEP_COMPUTE:
			case STEP_COMPUTE_MORE:
			case STEP_RENAME:
			case STEP_ELIMINATED:
				w++;
				continue;
			case STEP_LOAD:
			case STEP_LOAD_MORE:
			case STEP_LOAD_COMPUTE:
			case STEP_LOAD_COMPUTE_MORE:
			case STEP_STORE:
				if (UNLIKELY(s->slot >= nslots || slots[s->slot] == ST_NOT_DONE))
					goto general;
				w[1] = slots[s->slot];
				w += 2;
				continue;
			case STEP_BRANCH:
				if (UNLIKELY(s->branch >= insns))
					goto general;
				*w |= branch(c, b, s->branch, insns, next_ip, &w[1]);
				w += 2;
				if (UNLIKELY(script_says(w[-2], SCRIPT_MISPREDICTED)))
					w = wrong_path(c, &w[-2], s->branch + 1u == insns, w);
				continue;
			case STEP_LOAD_BRANCH:
			case STEP_LOAD_BRANCH_MORE:
				if (UNLIKELY(s->branch >= insns || s->slot >= nslots || slots[s->slot] == ST_NOT_DONE))
					goto general;
				w[1] = slots[s->slot];
				*w |= branch(c, b, s->branch, insns, next_ip, &w[2]);
				w += 3;
				if (UNLIKELY(script_says(w[-3], SCRIPT_MISPREDICTED)))
					w = wrong_path(c, &w[-3], s->branch + 1u == insns, w);
				continue;
			case STEP_NOTHING:
				continue;
			}
general:
			*w++ = general(c, b, s->insn, insns, next_ip);
			any_general = true;
			if (UNLIKELY(script_says(w[-1], SCRIPT_MISPREDICTED)))
				w = wrong_path(
					c, &w[-1], s->insn + 1u + !!(s->in->flags & INSN_FUSES_NEXT) == insns, w);
			if (UNLIKELY(s->flags & STEP_APART)) {	/* what follows goes the general way, too */
				partial_ahead(c, s->in, b->uop + s->in->first_uop);
				w = rest_general(c, b, s->insn + 1u, insns, next_ip, &(struct special){ 0 }, w);
				break;
			}
			o += s->steps - 1;
		}
	}
	out[0] = insns | (uint64_t)(w - out) << SCRIPT_WORDS;
	*w++ = SCRIPT_END;
	if (UNLIKELY(any_general)) {
		*w++ = (uint64_t)b;
		*w++ = next_ip;
		*w++ = nslots | (uint64_t)insns << 32;
		if (nslots)	/* slots may be NULL if there are none */
			memcpy(w, slots, nslots * sizeof *w);
		w += nslots;
	}
	return (size_t)(w - out);
}

void script_uppers(struct core *c, const struct iblock *b, unsigned insns)
{
	if (LIKELY(!c->cl.follows_uppers || !b->vector || !uppers_matter(c, b)))
		return;
	for (unsigned i = 0; i < insns; i++)
		uppers_step(c, b->vector[i]);
}
