/* SPDX-License-Identifier: GPL-2.0-or-later
 * The words of a script for instructions of the wrong path that walker.c does not write itself: those of several steps,
 * and those that go the general way.
 */
#include "core/pipeline.h"
#include "core/script/script.h"
#include "core/wrongpath/walker_state.h"

enum { SLOTS_MOST = 24 };
/* The addresses of an instruction's slots. */
static void slot_addresses(const struct iblock *b, const struct insn *in, const struct sem *s, uint64_t mem,
	uint64_t stack_at, uint64_t at[SLOTS_MOST])
{
	uint64_t load_at = s->flags & SEM_LOADS ? mem : s->flags & SEM_POPS ? stack_at : ST_NOT_DONE;
	uint64_t store_at = s->flags & SEM_STORES ? mem : s->flags & SEM_PUSHES ? stack_at : ST_NOT_DONE;
	for (unsigned k = 0; k < in->slots && k < SLOTS_MOST; k++) {
		const struct st_slot *slot = &b->slot[in->first_slot + k];
		uint64_t *from = slot->kind == ST_SLOT_STORE ? &store_at : &load_at;
		at[k] = slot->kind == ST_SLOT_REG ? ST_NOT_DONE :
			slot->kind == ST_SLOT_PREFETCH || slot->kind == ST_SLOT_FLUSH ||
			slot->kind == ST_SLOT_LOADSTORE ? mem : *from;
		if (slot->kind != ST_SLOT_REG && *from != ST_NOT_DONE)
			*from += slot->size;
	}
}

static uint64_t address_of(const struct insn *in, unsigned slot, const uint64_t at[SLOTS_MOST])
{
	const unsigned k = slot - in->first_slot;
	return slot != UOP_NO_SLOT && k < in->slots && k < SLOTS_MOST ? at[k] : ST_NOT_DONE;
}

/* Writes the instruction's steps if all of them go the short way and their addresses are known.  Returns the
 * end, else NULL. */
static uint64_t *short_way(const struct walk_block *k, const struct insn *in, unsigned i, const uint64_t at[SLOTS_MOST],
	uint64_t way, uint64_t went, uint64_t *w)
{
	const struct step *s = &k->plan->step[k->step[i]];
	uint64_t *const begin = w;
	for (; s->insn == i; s++) {
		if (s->kind == STEP_GENERAL)
			return NULL;
		if (s->kind == STEP_NOTHING)
			continue;
		*w = (uint64_t)s | s->kind;
		const bool branch =
			s->kind == STEP_BRANCH || s->kind == STEP_LOAD_BRANCH || s->kind == STEP_LOAD_BRANCH_MORE;
		if (branch)
			*w |= way;
		w++;
		if (s->kind >= STEP_LOAD) {
			*w = address_of(in, s->slot, at);
			if (*w++ == ST_NOT_DONE)
				return NULL;
		}
		if (branch)
			*w++ = went;
	}
	return w == begin ? NULL : w;
}

static uint64_t *general_way(const struct iblock *b, const struct insn *in, const uint64_t at[SLOTS_MOST], uint64_t way,
	uint64_t went, uint64_t *w)
{
	*w++ = way | (uint64_t)(in - b->insn) << SCRIPT_INDEX | STEP_GENERAL;
	*w++ = (uint64_t)b;
	*w++ = went;
	for (unsigned u = 0; u < in->uops; u++)
		*w++ = address_of(in, b->uop[in->first_uop + u].slot, at);
	return w;
}

uint64_t *walk_several(const struct iblock *b, unsigned i, const struct walk_block *k,
	uint64_t mem, uint64_t sp, bool *general, uint64_t way, uint64_t went, uint64_t *w)
{
	const struct insn *in = &b->insn[i];
	uint64_t at[SLOTS_MOST], *more;
	slot_addresses(b, in, &k->sem[i], mem, sp, at);
	more = *general ? NULL : short_way(k, in, i, at, way, went, w);
	*general |= (k->insn[i].flags & WALK_APART) != 0;
	return more ? more : general_way(b, in, at, way, went, w);
}
