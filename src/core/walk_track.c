/* SPDX-License-Identifier: GPL-2.0-or-later
 * What executions tell of registers and memory, for the wrong path (walk.h): made into a list once a block, of those writes that
 * are not overwritten in it, and gone through at each execution.
 */
#include "core/walk_private.h"
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 64 /* more than that at once is not looked at: FXSAVE */ };

/* An instruction behind which nobody knows what comes, or which would wait for what is older. */
static bool ends_walk(const struct iblock *b, const struct insn *in)
{
	if (in->flags & (INSN_FAR | INSN_REP | INSN_SERIALIZE | INSN_UNKNOWN))
		return true;
	for (unsigned i = 0; i < in->uops; i++) {
		const struct uop *u = &b->uop[in->first_uop + i];
		if ((u->kind >= UOP_FENCE_LOAD && u->kind != UOP_FENCE_STORE) || u->is & (SPMU_IS(LOCK) | SPMU_IS(PAUSE)))
			return true;
	}
	return false;
}

/* The slot that holds what instruction i wrote to the whole register; -1: none. */
static int value_slot(const struct iblock *b, const struct insn *in, unsigned reg, unsigned bytes)
{
	for (int k = in->first_slot + in->slots; k-- > in->first_slot;)
		if (b->slot[k].kind == ST_SLOT_REG && b->slot[k].reg == reg && !b->slot[k].offset && b->slot[k].size >= bytes)
			return k;
	return -1;
}

/* The memory slots of an instruction. */
static unsigned memory_slot(const struct iblock *b, const struct insn *in, const struct sem *s, unsigned k, int word_bytes, struct track *out)
{
	const struct st_slot *slot = &b->slot[k];
	struct track t = { .slot = (uint16_t)k, .bytes = (uint8_t)slot->size, .kind = TRACK_FORGET };
	const uint64_t next = in->addr + in->len;
	int v = -1;
	if (slot->size > MEMORY_BYTES || slot->kind == ST_SLOT_PREFETCH)
		return 0;
	switch (slot->kind) {
	case ST_SLOT_LOAD:
		if (slot->size > 8 || slot->flags & ST_SLOT_COND)
			return 0;
		if ((s->op == SEM_MOV || s->op == SEM_MOVZX || s->op == SEM_MOVSX) && s->flags & SEM_SRC_MEM && s->dst < 16)
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

/* Writes that a later one of the same list makes void: of whole registers, which no store reads in between. */
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
			if (b->slot[k].kind == ST_SLOT_REG && b->slot[k].reg < WALK_REGS && b->slot[k].offset + b->slot[k].size <= 8)
				t[n++] = (struct track){ .kind = TRACK_REG, .reg = b->slot[k].reg,
					.bytes = word_bytes == 4 && b->slot[k].size == 4 ? 8 : (uint8_t)b->slot[k].size,
					.offset = (uint8_t)b->slot[k].offset, .slot = (uint16_t)k };
	}
	return b->exits == 1 ? without_overwritten(t, n) : n;
}

struct walk_block *walk_block_of(struct walk_space *s, struct iblock *b)
{
	if (b->core_walk)
		return b->core_walk;
	const struct plan *plan = b->core_plan ? b->core_plan : core_plan_make(b);
	struct walk_block *w = plan ? malloc(sizeof *w + b->slots * sizeof(struct track) + b->insns * (sizeof(struct sem) + sizeof(uint16_t))) : NULL;
	if (!w)
		return NULL;
	struct track *track = (struct track *)(w + 1);
	struct sem *sem = (struct sem *)(track + b->slots);
	uint16_t *step = (uint16_t *)(sem + b->insns);
	const struct step *at = plan->step;
	for (unsigned i = 0; i < b->insns; i++) {
		if (!isa_semantic(walk_space_isa(s), walk_space_word_bytes(s), b->code[i], b->insn[i].len, b->insn[i].addr, &sem[i]) ||
		    ends_walk(b, &b->insn[i]))
			sem[i].op = SEM_STOP;
		while (at->insn < i)
			at++;
		step[i] = (uint16_t)(at - plan->step);
	}
	*w = (struct walk_block){ .sem = sem, .step = step, .plan = plan, .track = track };
	w->tracks = track_list(b, sem, walk_space_word_bytes(s), track);
	b->core_walk = w;
	return w;
}

void walker_regs(struct walker *w, const struct st_regs *r)
{
	memcpy(w->reg, r->gpr, sizeof r->gpr);
	w->reg[THUNK_OP] = 0;		/* COPY: the flags as they are */
	w->reg[THUNK_DEP1] = r->flags;
	w->reg[THUNK_DEP2] = w->reg[THUNK_NDEP] = 0;
	w->known = (1u << WALK_REGS) - 1;
}

void walker_track(struct walker *w, struct iblock *b, const uint64_t *slots, unsigned nslots)
{
	const struct walk_block *k = b->core_walk ? b->core_walk : walk_block_of(w->space, b);
	if (!k) {
		w->known = 0;
		return;
	}
	for (const struct track *t = k->track, *end = t + k->tracks; t < end; t++) {
		if (t->slot >= nslots)
			continue;
		const uint64_t v = slots[t->slot];
		switch (t->kind) {
		case TRACK_REG:
			if (t->bytes == 8) {
				w->reg[t->reg] = v;
				w->known |= 1u << t->reg;
			} else {
				const uint64_t mask = ((UINT64_C(1) << 8 * t->bytes) - 1) << 8 * t->offset;
				w->reg[t->reg] = (w->reg[t->reg] & ~mask) | (v << 8 * t->offset & mask);
			}
			break;
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
}

int walker_create(struct walker **out, struct walk_space *s, const struct core_config *config, struct err *err)
{
	struct walker *w = calloc(1, sizeof *w);
	if (!w)
		return err_set(err, ERR_NOMEM, "out of memory for the wrong path");
	w->space = s;
	w->most = config->wrong_path_instructions;
	*out = w;
	return 0;
}

void walker_destroy(struct walker *w)
{
	free(w);
}
