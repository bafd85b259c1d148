/* SPDX-License-Identifier: GPL-2.0-or-later
 * Values on the wrong path: its copy of the registers and flags, and its own stores in front of memory.
 */
#ifndef CORE_WALKER_VALUES_H
#define CORE_WALKER_VALUES_H
#include "core/pipeline.h"
#include "core/wrongpath/walker_state.h"

enum flags_of {
	FLAGS_UNKNOWN,
	FLAGS_BITS /* a: the register */,
	FLAGS_ADD,
	FLAGS_SUB,
	FLAGS_LOGIC,
	FLAGS_INC,
	FLAGS_DEC,
	FLAGS_SHIFT
};

struct walk_state {		/* of the wrong path's copy of the registers */
	struct walker *w;
	const struct walk_block *block;	/* the walk is in this block */
	uint64_t reg[WALK_STATE_REGS];
	uint8_t known[WALK_STATE_REGS];	/* 1 or 0, for each register */
	/* flags: enum flags_of, the operation that made the flags; flags_size: of its operands */
	uint8_t flags, flags_size;
	uint64_t a, b, r;
	bool word4;		/* 32-bit code */
};

static inline uint64_t walk_mask(unsigned bytes)
{
	return bytes >= 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * bytes) - 1;
}

static inline int64_t walk_widen(uint64_t v, unsigned bytes)
{
	unsigned shift = bytes >= 8 ? 0 : 64 - 8 * bytes;
	return (int64_t)(v << shift) >> shift;
}

static inline void walk_flags_set(
	struct walk_state *x, enum flags_of kind, unsigned bytes, uint64_t a, uint64_t b, uint64_t r)
{
	x->flags = (uint8_t)kind;
	x->flags_size = (uint8_t)bytes;
	x->a = a;
	x->b = b;
	x->r = r;
}

/* reg: as in struct sem.  Returns whether the value is known. */
static inline bool walk_get(const struct walk_state *x, unsigned reg, unsigned bytes, uint64_t *v)
{
	const unsigned r = reg & 15;	/* a high byte is in one of the first four */
	*v = reg >= SEM_HIGH ? x->reg[reg - SEM_HIGH] >> 8 & 255 : x->reg[r] & walk_mask(bytes);
	return x->known[reg >= SEM_HIGH ? reg - SEM_HIGH : r];
}

/* bytes below 4 leave the rest of the register as it is. */
static inline void walk_set(struct walk_state *x, unsigned reg, unsigned bytes, uint64_t v, bool known)
{
	if (reg >= SEM_HIGH + 4u)
		return;
	const unsigned r = reg >= SEM_HIGH ? reg - SEM_HIGH : reg, shift = reg >= SEM_HIGH ? 8 : 0;
	const uint64_t m = walk_mask(bytes) << shift;
	if (!known)
		x->known[r] = 0;
	else if (bytes >= 4)
		x->known[r] = 1;
	x->reg[r] = bytes >= 4 ? v & walk_mask(bytes) : (x->reg[r] & ~m) | (v << shift & m);
}

/* walker_values.c.  Returns whether the condition holds; -1: unknown. */
int walk_condition(const struct walk_state *x, unsigned cc);
/* Returns a flag: 0 or 1; -1: unknown.  which: half the number of the condition that is this flag alone. */
int walk_flag(const struct walk_state *x, unsigned which);
/* As walk_store and walk_load, for what those do not do: accesses of two words, and words that share an entry. */
void walk_store_parts(struct walk_state *x, uint64_t addr, unsigned bytes, uint64_t v, bool known);
bool walk_load_parts(const struct walk_state *x, uint64_t addr, unsigned bytes, uint64_t *v);

/* walker_execute.c.  Executes an instruction.  mem: address of its memory operand; stack: of what it pushes or pops;
 * ST_NOT_DONE: unknown. */
void walk_execute(struct walk_state *x, const struct sem *s, uint64_t next_ip, uint64_t mem, uint64_t stack);

static inline struct overlay *overlay_home(struct walker *w, uint64_t word)
{
	return &w->overlay[(word ^ word >> 8) & (OVERLAY - 1)];
}

static inline void walk_store(struct walk_state *x, uint64_t addr, unsigned bytes, uint64_t v, bool known)
{
	struct walker *w = x->w;
	const unsigned offset = addr & 7;
	const uint64_t number = addr >> 3;
	struct overlay *o = overlay_home(w, number);
	if (UNLIKELY(offset + bytes > 8 || !bytes || (o->walk == w->walks && o->word != number))) {
		walk_store_parts(x, addr, bytes, v, known);
		return;
	}
	const uint8_t set = (uint8_t)(((1u << bytes) - 1) << offset);
	const uint64_t m = ~UINT64_C(0) >> (64 - 8 * bytes) << 8 * offset;
	const bool first = o->walk != w->walks;
	w->stores += first;
	o->word = number;
	o->walk = w->walks;
	o->written = (uint8_t)((first ? 0 : o->written) | set);
	o->known = (uint8_t)(((first ? 0 : o->known) & ~set) | (known ? set : 0));
	o->value = (o->value & ~m) | (v << 8 * offset & m);
}

/* Returns false if the value is unknown.  set: the bytes, a bit each; mask: their bits. */
static inline bool walk_load_quick(
	const struct walk_state *x, uint64_t addr, unsigned bytes, uint32_t set, uint64_t mask, uint64_t *v)
{
	struct walker *w = x->w;
	const unsigned offset = addr & 7;
	const uint64_t number = addr >> 3;
	const struct overlay *o = overlay_home(w, number);
	if (UNLIKELY(offset + bytes > 8))
		return walk_load_parts(x, addr, bytes, v);
	if (UNLIKELY(o->walk == w->walks)) {
		if (o->word != number || !(o->written >> offset & set) || (o->known >> offset & set) != set)
			return walk_load_parts(x, addr, bytes, v);
		*v = o->value >> 8 * offset & mask;
		return true;
	}
	const struct word *m = word_of(w->space, number);
	if (m->tag >> 8 != number || set << offset & ~(uint32_t)m->tag & 255)
		return false;
	*v = m->value >> 8 * offset & mask;
	return true;
}

static inline bool walk_load(const struct walk_state *x, uint64_t addr, unsigned bytes, uint64_t *v)
{
	return walk_load_quick(x, addr, bytes, (1u << bytes) - 1, walk_mask(bytes), v);
}

#endif
