/* SPDX-License-Identifier: GPL-2.0-or-later
 * What executions tell about registers and memory, for the wrong path (walker.h).  For each block there is a
 * list, made once, of the writes that are not overwritten in the block; each execution goes through it.
 */
#include "core/wrongpath/converge.h"
#include "core/wrongpath/walker_state.h"
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 64 /* wider accesses are not followed: FXSAVE */ };

/* True if it is not known what comes behind the instruction, or the instruction waits for older ones. */
static bool ends_walk(const struct iblock *b, const struct insn *in)
{
	if (in->flags & (INSN_FAR | INSN_REP | INSN_SERIALIZE | INSN_UNKNOWN))
		return true;
	for (unsigned i = 0; i < in->uops; i++) {
		const struct uop *u = &b->uop[in->first_uop + i];
		if ((u->kind >= UOP_FENCE_LOAD && u->kind != UOP_FENCE_STORE) ||
			u->is & (SPMU_IS(LOCK) | SPMU_IS(PAUSE)))
			return true;
	}
	return false;
}

/* Returns the slot that holds what the instruction wrote to the whole register; -1: none. */
static int value_slot(const struct iblock *b, const struct insn *in, unsigned reg, unsigned bytes)
{
	for (int k = in->first_slot + in->slots; k-- > in->first_slot;)
		if (b->slot[k].kind == ST_SLOT_REG && b->slot[k].reg == reg && !b->slot[k].offset &&
			b->slot[k].size >= bytes)
			return k;
	return -1;
}

/* Writes the track of memory slot k of an instruction.  Returns how many: 0 or 1. */
static unsigned memory_slot(const struct iblock *b, const struct insn *in, const struct sem *s, unsigned k,
	int word_bytes, struct track *out)
{
	const struct st_slot *slot = &b->slot[k];
	struct track t = { .slot = (uint16_t)k, .bytes = (uint8_t)slot->size, .kind = TRACK_FORGET };
	const uint64_t next = in->addr + in->len;
	int v = -1;
	if (slot->size > MEMORY_BYTES || slot->kind == ST_SLOT_PREFETCH || slot->kind == ST_SLOT_FLUSH)
		return 0;
	switch (slot->kind) {
	case ST_SLOT_LOAD:
		if (slot->size > 8 || slot->flags & ST_SLOT_COND)
			return 0;
		if ((s->op == SEM_MOV || s->op == SEM_MOVZX || s->op == SEM_MOVSX) && s->flags & SEM_SRC_MEM &&
			s->dst < 16)
			v = value_slot(b, in, s->dst, slot->size);
		else if (s->op == SEM_POP && !(s->flags & SEM_DST_MEM) && s->dst < 16 && s->dst != 4)
			v = value_slot(b, in, s->dst, slot->size);
		if (v < 0)
			return 0;
		t.kind = TRACK_KNOWN;
		t.value = (uint16_t)v;
		break;
	case ST_SLOT_STORE:
		if (slot->size > 8 || slot->flags & ST_SLOT_COND)
			break;
		if (s->op == SEM_CALL || ((s->op == SEM_MOV || s->op == SEM_PUSH) && s->flags & SEM_SRC_IMM)) {
			t.kind = TRACK_STORE_IMM;
			t.imm = s->op == SEM_CALL ? next : (uint64_t)s->imm;
			if (word_bytes == 4)
				t.imm = (uint32_t)t.imm;
		} else if ((s->op == SEM_MOV && s->flags & SEM_DST_MEM && s->src < 16) ||
			   (s->op == SEM_PUSH && !(s->flags & SEM_SRC_MEM) && s->src < 16 && s->src != 4)) {
			t.kind = TRACK_STORE_REG;
			t.reg = s->src;
		}
		break;
	default:
		break;
	}
	*out = t;
	return 1;
}

/* Removes writes of whole registers that a later write in the list makes void, if no store reads the register
 * in between. */
static unsigned without_overwritten(struct track *t, unsigned n)
{
	uint32_t later = 0;
	unsigned kept = n;
	for (unsigned i = n; i-- > 0;) {
		if (t[i].kind == TRACK_STORE_REG)
			later &= ~(1u << t[i].reg);
		if (t[i].kind == TRACK_REG && later >> t[i].reg & 1)
			continue;
		if (t[i].kind == TRACK_REG && t[i].bytes == 8)
			later |= 1u << t[i].reg;
		t[--kept] = t[i];
	}
	memmove(t, t + kept, (n - kept) * sizeof *t);
	return n - kept;
}

static unsigned track_list(const struct iblock *b, const struct sem *sem, int word_bytes, struct track *t)
{
	unsigned n = 0;
	for (unsigned i = 0; i < b->insns; i++) {
		const struct insn *in = &b->insn[i];
		/* a PUSH stores what its register held before it moves the stack pointer */
		for (unsigned k = in->first_slot; k < in->first_slot + in->slots; k++)
			if (b->slot[k].kind != ST_SLOT_REG)
				n += memory_slot(b, in, &sem[i], k, word_bytes, &t[n]);
		for (unsigned k = in->first_slot; k < in->first_slot + in->slots; k++)
			if (b->slot[k].kind == ST_SLOT_REG && b->slot[k].reg < WALK_REGS &&
				b->slot[k].offset + b->slot[k].size <= 8)
				t[n++] = (struct track){ .kind = TRACK_REG, .reg = b->slot[k].reg,
					.bytes = word_bytes == 4 && b->slot[k].size == 4 ? 8 : (uint8_t)b->slot[k].size,
					.offset = (uint8_t)b->slot[k].offset, .slot = (uint16_t)k };
	}
	return b->exits == 1 ? without_overwritten(t, n) : n;
}

/* Splits a list in which registers are written as a whole into what it does to memory, and then to registers.
 * Returns false if it is not such a list. */
static bool tracks_apart(struct walk_block *k, struct track *memory, uint32_t *set)
{
	int slot[WALK_REGS];	/* the slot that holds the register's value; -1: it is as it was before */
	k->memory = memory;
	k->set = set;
	for (unsigned r = 0; r < WALK_REGS; r++)
		slot[r] = -1;
	for (const struct track *t = k->track; t < k->track + k->tracks; t++) {
		if (t->kind == TRACK_REG)
			return false;
		if (t->kind == TRACK_WORD) {
			slot[t->reg] = t->slot;
			continue;
		}
		struct track *m = &memory[k->memories++];
		*m = *t;
		if (t->kind == TRACK_STORE_REG && slot[t->reg] >= 0) {
			m->kind = TRACK_KNOWN;
			m->value = (uint16_t)slot[t->reg];
		}
	}
	for (unsigned r = 0; r < WALK_REGS; r++)
		if (slot[r] >= 0)
			set[k->sets++] = (uint32_t)slot[r] | r << 16;
	return true;
}

/* --- for the walk --- */

/* Returns what the walk can do quickly: operations on whole registers of 4 or 8 bytes, whose source may be a
 * part of a register, or memory. */
static enum walk_do quick(const struct sem *s, int word_bytes)
{
	static const uint8_t what[] = { [SEM_MOV] = WALK_MOV,
		[SEM_MOVZX] = WALK_MOV,
		[SEM_MOVSX] = WALK_MOVSX,
		[SEM_ADD] = WALK_ADD,
		[SEM_SUB] = WALK_SUB,
		[SEM_CMP] = WALK_CMP,
		[SEM_AND] = WALK_AND,
		[SEM_TEST] = WALK_TEST,
		[SEM_OR] = WALK_OR,
		[SEM_XOR] = WALK_XOR,
		[SEM_INC] = WALK_INC,
		[SEM_DEC] = WALK_DEC,
		[SEM_SHL] = WALK_SHL,
		[SEM_SHR] = WALK_SHR,
		[SEM_SAR] = WALK_SAR,
		[SEM_LEA] = WALK_LEA,
		[SEM_IMUL] = WALK_IMUL,
		[SEM_SETCC] = WALK_SETCC,
		[SEM_CMOV] = WALK_CMOV,
		[SEM_CALL] = WALK_CALL,
		[SEM_RET] = WALK_RET,
		[SEM_JMP] = WALK_NOTHING,
		[SEM_JCC] = WALK_NOTHING,
		[SEM_NOP] = WALK_NOTHING };
	const enum walk_do w = s->op < sizeof what ? what[s->op] : WALK_EXECUTE;
	const bool imm = s->flags & SEM_SRC_IMM, from_memory = s->flags & SEM_SRC_MEM;
	const bool alone = w == WALK_INC || w == WALK_DEC, no_result = w == WALK_CMP || w == WALK_TEST;
	if (w == WALK_NOTHING)
		return w;
	if (w == WALK_CALL || w == WALK_RET)
		return s->size == word_bytes && !(s->flags & (SEM_SRC_MEM | SEM_DST_MEM)) ? w : WALK_EXECUTE;
	if (s->op == SEM_CDQE)
		return s->size >= 4 ? WALK_MOVSX : WALK_EXECUTE;
	if (w == WALK_SETCC)
		return !(s->flags & SEM_DST_MEM) && s->dst < 16 ? w : WALK_EXECUTE;
	if (s->op == SEM_PUSH)
		return s->size == word_bytes && !from_memory && (imm || s->src < 16) ? WALK_PUSH : WALK_EXECUTE;
	if (s->op == SEM_POP)
		return s->size == word_bytes && !(s->flags & SEM_DST_MEM) && s->dst < 16 ? WALK_POP : WALK_EXECUTE;
	if (w == WALK_IMUL || w == WALK_CMOV)
		return from_memory || imm || s->flags & SEM_DST_MEM || s->src >= 16 || s->dst >= 16 || s->size < 4 ||
			s->size > 8 || s->from != s->size ? WALK_EXECUTE : s->flags & SEM_THIRD ? WALK_IMUL_IMM : w;
	if (w == WALK_EXECUTE || s->flags & SEM_THIRD || s->size > 8 || !s->size)
		return WALK_EXECUTE;
	if (w == WALK_LEA)
		return s->size >= 4 && s->dst < 16 ? w : WALK_EXECUTE;
	if (!imm && !from_memory && !alone && s->src >= 16)
		return WALK_EXECUTE;
	if (w >= WALK_SHL && w <= WALK_SAR && !(imm && s->imm & (s->size == 8 ? 63 : 31)))
		return WALK_EXECUTE;
	if (no_result && s->flags & SEM_DST_MEM && !from_memory && (imm || s->from == s->size))
		return w == WALK_CMP ? WALK_CMP_AT : WALK_TEST_AT;
	if (s->flags & SEM_DST_MEM)
		return s->op == SEM_MOV && !from_memory ? WALK_STORE : WALK_EXECUTE;
	if (s->dst >= 16 || (s->size < 4 && !no_result) || s->from > 8)
		return WALK_EXECUTE;
	if ((w == WALK_XOR || w == WALK_SUB) && !imm && !from_memory && s->src == s->dst)
		return WALK_ZERO;
	return w;
}

/* True if the instruction makes all flags anew, whatever they were. */
static bool makes_flags(const struct sem *s)
{
	return s->flags & SEM_FLAGS && !(s->op >= SEM_SHL && s->op <= SEM_SAR);	/* a shift by 0 makes none */
}

static bool reads_flags(const struct sem *s)
{
	return s->op == SEM_SETCC || s->op == SEM_CMOV || s->op == SEM_ADC || s->op == SEM_SBB;
}

/* The same operation with memory as its source; quick() returns no other. */
static enum walk_do from_operand(enum walk_do what)
{
	static const uint8_t load[WALK_WHATS] = { [WALK_MOV] = WALK_LOAD,
		[WALK_MOVSX] = WALK_LOAD_MOVSX,
		[WALK_ADD] = WALK_LOAD_ADD,
		[WALK_SUB] = WALK_LOAD_SUB,
		[WALK_CMP] = WALK_LOAD_CMP,
		[WALK_AND] = WALK_LOAD_AND,
		[WALK_TEST] = WALK_LOAD_TEST,
		[WALK_OR] = WALK_LOAD_OR,
		[WALK_XOR] = WALK_LOAD_XOR };
	return load[what];
}

/* The instruction's step, which is its only one: its word and its access, if the walk can tell where that is. */
static void only_step(const struct iblock *b, const struct insn *in, const struct sem *s, const struct step *step,
	struct walk_insn *w)
{
	w->word = (uint64_t)step | step->kind;
	if (step->kind < STEP_LOAD)
		return;
	const unsigned k = (unsigned)step->slot - in->first_slot;
	const struct st_slot *slot = &b->slot[step->slot];
	unsigned same = 0;
	if (step->slot == UOP_NO_SLOT || k >= in->slots)
		w->word = 0;
	for (unsigned j = 0; w->word && j < k; j++)	/* there are several: the general way says where each is */
		same += slot[(int)j - (int)k].kind != ST_SLOT_REG;
	const bool store = w->word && slot->kind == ST_SLOT_STORE;
	if (w->word && (same || slot->kind == ST_SLOT_REG))
		w->word = 0;
	const unsigned operand = store ? SEM_STORES : SEM_LOADS | SEM_PREFETCH, stack = store ? SEM_PUSHES : SEM_POPS;
	w->access = s->flags & operand ? WALK_AT_OPERAND : s->flags & stack ? WALK_AT_STACK : WALK_NO_ACCESS;
	if (w->access == WALK_NO_ACCESS)
		w->word = 0;
}

/* What the frequent operations need that are not on a register and a source. */
static void prepare_special(const struct sem *s, struct walk_insn *w)
{
	switch (w->what) {
	case WALK_CMP_AT: case WALK_TEST_AT:	/* `from` is the destination, which is loaded */
		w->from = s->size;
		w->from_cut = w->cut;
		w->set = (uint8_t)((1u << s->size) - 1);
		break;
	case WALK_MOVSX:
		if (s->op == SEM_CDQE) {
			w->src = w->dst = 0;
			w->from_cut = (uint8_t)(64 - 4 * s->size);
		}
		break;
	case WALK_IMUL_IMM:
		w->imm = (uint64_t)s->imm;
		break;
	case WALK_SETCC: case WALK_CMOV:
		w->imm = s->cc;
		break;
	default:
		break;
	}
}

/* A call goes quickly if it has a store and a branch, a return if it has one step. */
static void prepare_call(const struct insn *in, const struct sem *s, unsigned i, const struct step *step,
	struct walk_insn *w)
{
	const bool call = w->what == WALK_CALL;
	const bool plain = call ? step->insn == i && step->kind == STEP_STORE && step[1].insn == i &&
		step[1].kind == STEP_BRANCH && step[2].insn != i && in->uops <= 64 && !(w->flags & WALK_APART) :
		w->word && w->access == WALK_AT_STACK && w->flags & WALK_BRANCH;
	w->imm = call ? in->addr + in->len : s->size + (uint64_t)s->imm;
	w->from_mask = (uint64_t)step | step->kind;
	w->from_cut = (uint8_t)(in->uops * 3 + 3);
	if (!plain || w->last)
		w->what = WALK_EXECUTE;
}

/* live: an instruction behind it may read the flags. */
static void prepare(const struct iblock *b, unsigned i, const struct sem *sem, const struct step *step, int word_bytes,
	bool live, struct walk_insn *out)
{
	const struct insn *in = &b->insn[i];
	const struct sem *s = &sem[i];
	const unsigned last = i + !!(in->flags & INSN_FUSES_NEXT);
	const bool operand = s->flags & (SEM_LOADS | SEM_STORES | SEM_PREFETCH),
		   from_memory = s->flags & SEM_SRC_MEM && s->op != SEM_LEA;
	struct walk_insn w = { .base = WALK_ZERO_REG,
		.index = WALK_ZERO_REG,
		.src = WALK_ZERO_REG,
		.what = quick(s, word_bytes),
		.disp = (uint64_t)s->disp,
		.bytes = s->size,
		.from = s->from,
		.last = (uint8_t)(last - i),
		.flags = live ? WALK_FLAGS : 0 };

	if (operand)
		w.flags |= WALK_OPERAND;
	if (s->op == SEM_STOP || last >= b->insns)
		w.what = WALK_END;
	else if (b->insn[last].flags & INSN_BRANCH)
		w.flags |= WALK_BRANCH;
	if (s->flags & (SEM_POPS | SEM_PUSHES))
		w.flags |= WALK_USES_STACK;
	if (step->insn == i && step->flags & STEP_APART)
		w.flags |= WALK_APART;

	/* the operand's address */
	if (s->base != SEM_NONE)
		w.base = s->base & 15;
	if (s->index != SEM_NONE)
		w.index = s->index & 15;
	w.scale = s->scale;
	if (s->flags & SEM_NO_ADDRESS || !(s->op == SEM_LEA || operand)) {
		w.index = WALK_NEVER_KNOWN;
		w.scale = 1;
	}
	w.address_mask = s->flags & SEM_ADDRESS_32 || word_bytes == 4 ? UINT32_MAX : UINT64_MAX;

	/* the operation */
	if (w.what != WALK_EXECUTE && w.what != WALK_NOTHING && w.what != WALK_END) {
		w.dst = s->dst & 15;
		w.cut = (uint8_t)(64 - 8 * s->size);
		w.from_cut = (uint8_t)(64 - 8 * (s->from && s->from <= 8 ? s->from : 8));
		w.set = (uint8_t)((1u << w.from) - 1);
		const bool no_result = w.what == WALK_CMP || w.what == WALK_TEST || w.what == WALK_CMP_AT ||
			w.what == WALK_TEST_AT;
		if (s->flags & SEM_SRC_IMM) {
			w.imm = (uint64_t)s->imm;
			w.from_cut = w.cut;
			if (w.what >= WALK_SHL && w.what <= WALK_SAR)
				w.imm &= s->size == 8 ? 63 : 31;
		} else if (from_memory) {
			w.what = from_operand(w.what);
		} else if (s->src < 16) {
			w.src = s->src;
		}
		prepare_special(s, &w);
		if (no_result && !live)
			w.what = WALK_NOTHING;
	} else if (s->op == SEM_OTHER && w.what == WALK_EXECUTE && !s->spoils &&
		!(s->flags & (SEM_FLAGS | SEM_STORES | SEM_POPS | SEM_PUSHES))) {
		w.what = WALK_NOTHING;
	}
	if (w.what == WALK_NOTHING && operand)
		w.what = WALK_TOUCH;

	w.mask = ~UINT64_C(0) >> w.cut;
	w.from_mask = ~UINT64_C(0) >> w.from_cut;

	if (step->insn == i && step->kind != STEP_GENERAL && step->kind != STEP_NOTHING && step[1].insn != i)
		only_step(b, in, s, step, &w);
	/* the walk relies on this: it has an operand, or none */
	if (!w.word || w.last || w.access == WALK_AT_STACK || (w.access == WALK_AT_OPERAND) != operand)
		w.flags |= WALK_SEVERAL;
	if (w.flags & WALK_BRANCH && w.word && w.access == WALK_NO_ACCESS && !operand && w.what != WALK_EXECUTE)
		w.flags |= WALK_BRANCH_ALONE;
	if (w.flags & WALK_BRANCH && w.word && w.access == WALK_AT_OPERAND && operand && w.what != WALK_EXECUTE)
		w.flags |= WALK_BRANCH_ACCESS;
	if (w.what == WALK_CALL || w.what == WALK_RET)
		prepare_call(in, s, i, step, &w);
	*out = w;
}

struct walk_block *walk_block_of(struct walk_space *s, struct iblock *b)
{
	if (b->core_walk)
		return b->core_walk;
	const struct plan *plan = b->core_plan ? b->core_plan : core_plan_make(b);
	unsigned branches = 1, at_branch = 0;
	for (unsigned i = 0; i < b->insns; i++)
		branches += !!(b->insn[i].flags & INSN_BRANCH);
	const size_t bytes = sizeof(struct walk_block) + 64 + 2u * b->slots * sizeof(struct track) +
		WALK_REGS * sizeof(uint32_t) + branches * sizeof(struct walk_branch) +
		(b->insns + 1u) * (sizeof(struct walk_insn) + sizeof(struct sem) + sizeof(uint16_t));
	struct walk_block *w = plan ? aligned_alloc(64, (bytes + 63) & ~(size_t)63) : NULL;
	if (!w)
		return NULL;
	struct walk_insn *insn = (struct walk_insn *)((char *)w + ((sizeof *w + 63) & ~(size_t)63));
	struct walk_branch *branch = (struct walk_branch *)(insn + b->insns + 1);
	struct track *track = (struct track *)(branch + branches);
	struct sem *sem = (struct sem *)(track + 2u * b->slots);
	uint32_t *set = (uint32_t *)(sem + b->insns);
	uint16_t *step = (uint16_t *)(set + WALK_REGS);
	const struct step *at = plan->step;
	for (unsigned i = 0; i < b->insns; i++) {
		if (!isa_semantic(s->isa, s->word_bytes, b->code[i], b->insn[i].len, b->insn[i].addr, &sem[i]) ||
		    ends_walk(b, &b->insn[i]))
			sem[i].op = SEM_STOP;
		while (at->insn < i)
			at++;
		step[i] = (uint16_t)(at - plan->step);
	}
	bool live = true;
	const struct insn *last = &b->insn[b->insns - 1];
	insn[b->insns] = (struct walk_insn){ .what = WALK_BEHIND, .disp = last->addr + last->len };
	for (unsigned i = b->insns; i-- > 0;) {
		live |= (b->insn[i].flags & INSN_BRANCH) != 0;	/* what comes behind a branch may read them */
		prepare(b, i, sem, plan->step + step[i], s->word_bytes, live, &insn[i]);
		live = reads_flags(&sem[i]) || (live && !makes_flags(&sem[i]));
	}
	for (unsigned i = 0; i < b->insns; i++) {
		const struct insn *in = &b->insn[i];
		insn[i].branch = (uint8_t)at_branch;
		if (in->flags & INSN_BRANCH)
			branch[at_branch++] = (struct walk_branch){
				.addr = in->addr, .target = in->target, .flags = in->flags, .len = in->len
			};
	}
	branch[at_branch] = (struct walk_branch){ 0 };
	*w = (struct walk_block){ .b = b, .insn = insn, .insns = b->insns, .branch = branch, .sem = sem,
		.step = step, .plan = plan, .track = track };
	w->tracks = track_list(b, sem, s->word_bytes, track);
	for (unsigned i = 0; i < b->insns; i++)
		w->accesses |=
			sem[i].flags & (SEM_LOADS | SEM_STORES | SEM_PREFETCH) ? converge_bit(b->insn[i].addr) : 0;
	for (unsigned i = 0; i < w->tracks; i++) {
		const unsigned last =
			track[i].kind == TRACK_KNOWN && track[i].value > track[i].slot ? track[i].value : track[i].slot;
		w->track_slots = last >= w->track_slots ? last + 1 : w->track_slots;
		if (track[i].kind == TRACK_REG && track[i].bytes == 8) {
			track[i].kind = TRACK_WORD;
			w->track_regs |= 1u << track[i].reg;
		}
	}
	w->apart = tracks_apart(w, track + b->slots, set);
	b->core_walk = w;
	return w;
}

void walker_regs(struct walker *w, const struct st_regs *r)
{
	memcpy(w->reg, r->gpr, sizeof r->gpr);
	w->reg[THUNK_OP] = 0;		/* VEX's COPY: the flags as they are */
	w->reg[THUNK_DEP1] = r->flags;
	w->reg[THUNK_DEP2] = w->reg[THUNK_NDEP] = 0;
	w->known = (1u << WALK_REGS) - 1;
}

void walker_lose(struct walker *w)
{
	w->known = 0;
}

void walker_forget(struct walker *w)
{
	walker_lose(w);
	memset(w->space->word, 0, ((size_t)1 << WORDS_LOG2) * sizeof *w->space->word);
}

void walker_renew(struct walker *w)
{
	walk_space_again(w->space);
	w->walks = w->stores = 0;
	memset(w->overlay, 0, sizeof w->overlay);
	w->path = (struct bpred_path){ 0 };
	w->behind = w->made = 0;
	w->oldest = w->newest = 0;
	memset(w->pace, 0, sizeof w->pace);
	memset(w->ran, 0, sizeof w->ran);
	if (w->ahead)
		memset(w->ahead->place, 0, sizeof w->ahead->place);
}

/* v: value of the track's slot. */
static void track_one(struct walker *w, const struct track *t, uint64_t v, const uint64_t *slots, unsigned nslots)
{
	switch (t->kind) {
	case TRACK_WORD:
		w->reg[t->reg] = v;
		w->known |= 1u << t->reg;
		break;
	case TRACK_REG: {
		const uint64_t mask = ((UINT64_C(1) << 8 * t->bytes) - 1) << 8 * t->offset;
		w->reg[t->reg] = (w->reg[t->reg] & ~mask) | (v << 8 * t->offset & mask);
		break;
	}
	case TRACK_KNOWN:
		if (v != ST_NOT_DONE && t->value < nslots)
			walk_memory_write(w->space, v, t->bytes, slots[t->value]);
		break;
	case TRACK_STORE_IMM:
		if (v != ST_NOT_DONE)
			walk_memory_write(w->space, v, t->bytes, t->imm);
		break;
	case TRACK_STORE_REG:
		if (v == ST_NOT_DONE)
			break;
		if (w->known >> t->reg & 1) {
			walk_memory_write(w->space, v, t->bytes, w->reg[t->reg]);
			break;
		}
		/* fallthrough */
	default:
		if (v != ST_NOT_DONE)
			walk_memory_forget(w->space, v, t->bytes);
		break;
	}
}

void walker_track(struct walker *w, struct iblock *b, const uint64_t *slots, unsigned nslots)
{
	const struct walk_block *k = b->core_walk ? b->core_walk : walk_block_of(w->space, b);
	if (!k) {
		w->known = 0;
		return;
	}
	if (__builtin_expect(
		    nslots >= k->track_slots && !(k->track_regs & ~w->known) && k->apart, 1)) { /* nothing is missing */
		for (const struct track *t = k->memory, *end = t + k->memories; t < end; t++) {
			const uint64_t at = slots[t->slot];
			if (at == ST_NOT_DONE)
				continue;
			if (t->kind == TRACK_KNOWN)
				memory_write(w->space, at, t->bytes, slots[t->value]);
			else if (t->kind == TRACK_STORE_REG && w->known >> t->reg & 1)
				memory_write(w->space, at, t->bytes, w->reg[t->reg]);
			else if (t->kind == TRACK_STORE_IMM)
				memory_write(w->space, at, t->bytes, t->imm);
			else
				memory_forget(w->space, at, t->bytes);
		}
		for (const uint32_t *e = k->set, *end = e + k->sets; e < end; e++)
			w->reg[*e >> 16] = slots[*e & 0xffff];
		return;
	}
	const struct track *const end = k->track + k->tracks;
	for (const struct track *t = k->track; t < end; t++)
		if (t->slot < nslots)
			track_one(w, t, slots[t->slot], slots, nslots);
}
int walker_create(struct walker **out, struct walk_space *s, const struct core_config *config, struct err *err)
{
	struct walker *w = calloc(1, sizeof *w);
	if (!w)
		return err_set(err, ERR_NOMEM, "out of memory for the wrong path");
	w->space = s;
	w->most = config->wrong_path_instructions;
	w->converges = config->wrong_path_converge;
	*out = w;
	return 0;
}

void walker_ahead(struct walker *w, struct converge *ahead)
{
	w->ahead = ahead;
}

void walker_converge(struct walker *w, bool use)
{
	w->converges = use;
}

void walker_outcomes(struct walker *w, bool wanted)
{
	w->outcomes = wanted;
}

void walker_destroy(struct walker *w)
{
	free(w);
}
