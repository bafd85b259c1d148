/* SPDX-License-Identifier: GPL-2.0-or-later
 * Walks the wrong path (walker.h) and writes it as steps.
 */
#include "core/wrongpath/converge.h"
#include "core/pipeline.h"
#include "core/script/script.h"
#include "core/wrongpath/walker_state.h"
#include "isa/flags.h"
#include <string.h>

/* --- values --- */

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

struct state {			/* of the wrong path's copy of the registers */
	struct walker *w;
	const struct walk_block *block;	/* the walk is in this block */
	uint64_t reg[WALK_STATE_REGS];
	uint8_t known[WALK_STATE_REGS];	/* 1 or 0, for each register */
	/* flags: enum flags_of, the operation that made the flags; flags_size: of its operands */
	uint8_t flags, flags_size;
	uint64_t a, b, r;
	bool word4;		/* 32-bit code */
};

static uint64_t mask_of(unsigned bytes)
{
	return bytes >= 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * bytes) - 1;
}

static int64_t widen(uint64_t v, unsigned bytes)
{
	unsigned shift = bytes >= 8 ? 0 : 64 - 8 * bytes;
	return (int64_t)(v << shift) >> shift;
}

static void flags_begin(struct state *x, const struct walker *w)
{
	const uint32_t thunk = 15u << THUNK_OP;
	x->flags = (w->known & thunk) == thunk ? FLAGS_BITS : FLAGS_UNKNOWN;
	x->a = x->flags ? isa_flags(x->word4 ? 4 : 8, &w->reg[THUNK_OP]) : 0;
}

static void flags_set(struct state *x, enum flags_of kind, unsigned bytes, uint64_t a, uint64_t b, uint64_t r)
{
	x->flags = (uint8_t)kind;
	x->flags_size = (uint8_t)bytes;
	x->a = a;
	x->b = b;
	x->r = r;
}

/* Returns one flag, by the condition's number / 2 for conditions that are one flag; -1: unknown. */
static int flag(const struct state *x, unsigned which)
{
	static const uint8_t bit[] = { [0] = 11, [1] = 0, [2] = 6, [4] = 7, [5] = 2 };
	if (x->flags == FLAGS_BITS)
		return x->a >> bit[which] & 1;
	if (x->flags == FLAGS_UNKNOWN)
		return -1;
	const uint64_t top = UINT64_C(1) << (8 * x->flags_size - 1);	/* only the other kinds have a size */
	switch (which) {
	case 2: return x->r == 0;
	case 4: return (x->r & top) != 0;
	case 5: return !(__builtin_popcount((unsigned)x->r & 255) & 1);
	case 1:
		return x->flags == FLAGS_ADD ? x->r < x->a : x->flags == FLAGS_SUB ? x->a < x->b :
			x->flags == FLAGS_LOGIC ? 0 : -1;
	default:
		switch (x->flags) {
		case FLAGS_ADD: return (~(x->a ^ x->b) & (x->a ^ x->r) & top) != 0;
		case FLAGS_SUB: return ((x->a ^ x->b) & (x->a ^ x->r) & top) != 0;
		case FLAGS_LOGIC: return 0;
		case FLAGS_INC: return x->r == top;
		case FLAGS_DEC: return x->r == top - 1;
		default: return -1;
		}
	}
}

static int condition(const struct state *x, unsigned cc)
{
	int a, b;
	switch (cc >> 1) {
	case 3:			/* CF or ZF */
		a = flag(x, 1), b = flag(x, 2);
		a = a > 0 || b > 0 ? 1 : a < 0 || b < 0 ? -1 : 0;
		break;
	case 6: case 7:		/* SF is not OF; or ZF */
		a = flag(x, 4), b = flag(x, 0);
		a = a < 0 || b < 0 ? -1 : a != b;
		if (cc >> 1 == 7) {
			b = flag(x, 2);
			a = a > 0 || b > 0 ? 1 : a < 0 || b < 0 ? -1 : 0;
		}
		break;
	default:
		a = flag(x, cc >> 1);
	}
	return a < 0 ? -1 : a ^ (int)(cc & 1);
}

static bool get(const struct state *x, unsigned reg, unsigned bytes, uint64_t *v)
{
	const unsigned r = reg & 15;	/* a high byte is in one of the first four */
	*v = reg >= SEM_HIGH ? x->reg[reg - SEM_HIGH] >> 8 & 255 : x->reg[r] & mask_of(bytes);
	return x->known[reg >= SEM_HIGH ? reg - SEM_HIGH : r];
}

static void set(struct state *x, unsigned reg, unsigned bytes, uint64_t v, bool known)
{
	if (reg >= SEM_HIGH + 4u)
		return;
	const unsigned r = reg >= SEM_HIGH ? reg - SEM_HIGH : reg, shift = reg >= SEM_HIGH ? 8 : 0;
	const uint64_t m = mask_of(bytes) << shift;
	if (!known)
		x->known[r] = 0;
	else if (bytes >= 4)
		x->known[r] = 1;
	x->reg[r] = bytes >= 4 ? v & mask_of(bytes) : (x->reg[r] & ~m) | (v << shift & m);
}

/* --- the wrong path's own stores --- */

static inline struct overlay *overlay_home(struct walker *w, uint64_t word)
{
	return &w->overlay[(word ^ word >> 8) & (OVERLAY - 1)];
}

static inline struct overlay *overlay_of(struct walker *w, uint64_t word)
{
	unsigned i = (unsigned)(word ^ word >> 8) & (OVERLAY - 1);
	while (w->overlay[i].walk == w->walks && w->overlay[i].word != word)
		i = (i + 1) & (OVERLAY - 1);
	return &w->overlay[i];
}

static __attribute__((noinline)) void store_parts(
	struct state *x, uint64_t addr, unsigned bytes, uint64_t v, bool known)
{
	struct walker *w = x->w;
	while (bytes) {
		const unsigned offset = addr & 7, n = bytes < 8 - offset ? bytes : 8 - offset;
		struct overlay *o = overlay_of(w, addr >> 3);
		const uint8_t set = (uint8_t)(((1u << n) - 1) << offset);
		const uint64_t m = mask_of(n) << 8 * offset;
		if (o->walk != w->walks) {
			*o = (struct overlay){ .word = addr >> 3, .walk = w->walks };
			w->stores++;
		}
		o->written |= set;
		o->known = (uint8_t)(known ? o->known | set : o->known & ~set);
		o->value = (o->value & ~m) | (v << 8 * offset & m);
		v = n < 8 ? v >> 8 * n : 0;
		addr += n;
		bytes -= n;
	}
}

static inline void store(struct state *x, uint64_t addr, unsigned bytes, uint64_t v, bool known)
{
	struct walker *w = x->w;
	const unsigned offset = addr & 7;
	const uint64_t number = addr >> 3;
	struct overlay *o = overlay_home(w, number);
	if (UNLIKELY(offset + bytes > 8 || !bytes || (o->walk == w->walks && o->word != number))) {
		store_parts(x, addr, bytes, v, known);
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

static __attribute__((noinline)) bool load_parts(const struct state *x, uint64_t addr, unsigned bytes, uint64_t *v)
{
	struct walker *w = x->w;
	uint64_t value = 0;
	for (unsigned done = 0; done < bytes;) {
		const unsigned offset = (addr + done) & 7, n = bytes - done < 8 - offset ? bytes - done : 8 - offset;
		const uint8_t set = (uint8_t)(((1u << n) - 1) << offset);
		const struct overlay *o = overlay_of(w, (addr + done) >> 3);
		uint64_t part;
		if (o->walk == w->walks && o->written & set) {
			/* partly an old value, partly a new one: unknown */
			if ((o->known & set) != set)
				return false;
			part = o->value >> 8 * offset & mask_of(n);
		} else if (!walk_memory_read(w->space, addr + done, n, &part)) {
			return false;
		}
		value |= part << 8 * done;
		done += n;
	}
	*v = value;
	return true;
}

/* set: the bytes, a bit each; mask: their bits. */
static inline bool load_quick(
	const struct state *x, uint64_t addr, unsigned bytes, uint32_t set, uint64_t mask, uint64_t *v)
{
	struct walker *w = x->w;
	const unsigned offset = addr & 7;
	const uint64_t number = addr >> 3;
	const struct overlay *o = overlay_home(w, number);
	if (UNLIKELY(offset + bytes > 8))
		return load_parts(x, addr, bytes, v);
	if (UNLIKELY(o->walk == w->walks)) {
		if (o->word != number || !(o->written >> offset & set) || (o->known >> offset & set) != set)
			return load_parts(x, addr, bytes, v);
		*v = o->value >> 8 * offset & mask;
		return true;
	}
	const struct word *m = word_of(w->space, number);
	if (m->tag >> 8 != number || set << offset & ~(uint32_t)m->tag & 255)
		return false;
	*v = m->value >> 8 * offset & mask;
	return true;
}

static inline bool load(const struct state *x, uint64_t addr, unsigned bytes, uint64_t *v)
{
	return load_quick(x, addr, bytes, (1u << bytes) - 1, mask_of(bytes), v);
}

/* --- instructions --- */

static void forget(struct state *x, const struct sem *s, uint64_t mem)
{
	for (uint32_t left = s->spoils; left; left &= left - 1)
		x->known[__builtin_ctz(left)] = 0;
	if (s->flags & SEM_FLAGS)
		x->flags = FLAGS_UNKNOWN;
	if (s->flags & SEM_STORES && mem != ST_NOT_DONE)
		store(x, mem, s->bytes, 0, false);
}

/* Executes an instruction on the stack, an address, a sign extension or an exchange.  Returns false if it is another:
 * an operation on two operands. */
static bool execute_simple(struct state *x, const struct sem *s, uint64_t next_ip, uint64_t mem, uint64_t stack)
{
	const unsigned n = s->size;
	uint64_t a = 0, b = 0;
	bool a_known = true, b_known = true;

	switch (s->op) {
	case SEM_NOP: case SEM_JMP: case SEM_JCC:
		return true;
	case SEM_OTHER: case SEM_STOP:
		forget(x, s, mem);
		return true;
	case SEM_CALL: case SEM_PUSH:
		if (s->op == SEM_CALL)
			a = next_ip;
		else if (s->flags & SEM_SRC_IMM)
			a = (uint64_t)s->imm;
		else
			a_known = s->flags & SEM_SRC_MEM ? mem != ST_NOT_DONE && load(x, mem, n, &a) :
				get(x, s->src, n, &a);
		if (stack != ST_NOT_DONE)
			store(x, stack, n, a, a_known);
		set(x, 4, x->word4 ? 4 : 8, stack, stack != ST_NOT_DONE);
		return true;
	case SEM_RET: case SEM_POP: case SEM_LEAVE:
		a_known = stack != ST_NOT_DONE && load(x, stack, n, &a);
		set(x, 4, x->word4 ? 4 : 8, stack + n + (s->op == SEM_RET ? (uint64_t)s->imm : 0),
			stack != ST_NOT_DONE);
		if (s->op == SEM_LEAVE)
			set(x, 5, n, a, a_known);
		else if (s->op == SEM_POP && !(s->flags & SEM_DST_MEM))
			set(x, s->dst, n, a, a_known);
		else if (s->op == SEM_POP && mem != ST_NOT_DONE)
			store(x, mem, n, a, a_known);
		return true;
	case SEM_LEA:
		set(x, s->dst, n, mem, mem != ST_NOT_DONE);
		return true;
	case SEM_CDQ:
		a_known = get(x, 0, n, &a);
		set(x, 2, n, widen(a, n) < 0 ? ~UINT64_C(0) : 0, a_known && (n >= 4 || x->known[2]));
		return true;
	case SEM_CDQE:
		a_known = get(x, 0, n / 2, &a);
		set(x, 0, n, (uint64_t)widen(a, n / 2), a_known);
		return true;
	case SEM_XCHG:
		if (s->flags & (SEM_DST_MEM | SEM_SRC_MEM)) {
			forget(x, s, mem);
			return true;
		}
		a_known = get(x, s->dst, n, &a);
		b_known = get(x, s->src, n, &b);
		set(x, s->dst, n, b, b_known);
		set(x, s->src, n, a, a_known);
		return true;
	case SEM_BSWAP:
		a_known = get(x, s->dst, n, &a);
		set(x, s->dst, n, n == 8 ? __builtin_bswap64(a) : __builtin_bswap32((uint32_t)a), a_known);
		return true;
	default:
		return false;
	}
}

struct operation {		/* on two operands */
	uint64_t a, b, r;	/* destination, source, result */
	bool a_known, b_known, known;
	enum flags_of flags;
};

/* Computes the result of an operation.  same: both operands are the same register.  mem: address of the memory
 * operand.  Returns false if there is nothing to write, not even flags. */
static bool operate(struct state *x, const struct sem *s, bool same, uint64_t mem, struct operation *o)
{
	const unsigned n = s->size;
	int carry;

	switch (s->op) {
	case SEM_MOV: case SEM_MOVZX: o->r = o->b; break;
	case SEM_MOVSX: o->r = (uint64_t)widen(o->b, s->from); break;
	case SEM_ADD: o->r = o->a + o->b; o->flags = FLAGS_ADD; break;
	case SEM_CMP: /* fallthrough */
	case SEM_SUB: o->r = o->a - o->b; o->flags = FLAGS_SUB; o->known |= same; break;
	case SEM_TEST: /* fallthrough */
	case SEM_AND: o->r = o->a & o->b; o->flags = FLAGS_LOGIC; break;
	case SEM_OR: o->r = o->a | o->b; o->flags = FLAGS_LOGIC; break;
	case SEM_XOR: o->r = o->a ^ o->b; o->flags = FLAGS_LOGIC; o->known |= same; break;
	case SEM_INC: o->r = o->a + 1; o->flags = FLAGS_INC; break;
	case SEM_DEC: o->r = o->a - 1; o->flags = FLAGS_DEC; break;
	case SEM_NEG: o->r = 0 - o->a; o->b = o->a; o->a = 0; o->flags = FLAGS_SUB; break;
	case SEM_NOT: o->r = ~o->a; break;
	case SEM_ADC: case SEM_SBB:
		carry = flag(x, 1);
		o->r = s->op == SEM_ADC ? o->a + o->b + (uint64_t)carry : o->a - o->b - (uint64_t)carry;
		if (s->op == SEM_SBB && same)
			o->r = 0 - (uint64_t)carry, o->known = true;
		o->known = o->known && carry >= 0;
		break;
	case SEM_SHL: case SEM_SHR: case SEM_SAR: {
		const unsigned count = (unsigned)o->b & (n == 8 ? 63 : 31);
		if (o->b_known && !count)
			return false;
		o->r = s->op == SEM_SHL ? (count < 8 * n ? o->a << count : 0) : s->op == SEM_SHR ? o->a >> count :
		    (uint64_t)(widen(o->a, n) >> count);
		o->flags = o->b_known ? FLAGS_SHIFT : FLAGS_UNKNOWN;
		break;
	}
	case SEM_IMUL:
		o->r = s->flags & SEM_THIRD ? o->b * (uint64_t)s->imm :
		       (uint64_t)widen(o->a, n) * (uint64_t)widen(o->b, n);
		break;
	case SEM_BSF: case SEM_BSR:	/* of 0: BSF and BSR keep the register, TZCNT does not */
		o->known = o->known && o->b;
		o->r = !o->b ? 0 : s->op == SEM_BSF ? (uint64_t)__builtin_ctzll(o->b) :
		       63 - (uint64_t)__builtin_clzll(o->b);
		break;
	case SEM_LZCNT: o->r = o->b ? 8 * n - 64 + (uint64_t)__builtin_clzll(o->b) : 8 * n; break;
	case SEM_POPCNT: o->r = (uint64_t)__builtin_popcountll(o->b); break;
	case SEM_ROL: case SEM_ROR: {
		const unsigned bits = 8 * n, count = (unsigned)o->b & (n == 8 ? 63 : 31) & (bits - 1),
			       left = s->op == SEM_ROL ? count : bits - count;
		o->r = count ? o->a << left | o->a >> (bits - left) : o->a;
		break;
	}
	case SEM_SETCC:
		carry = condition(x, s->cc);
		o->r = carry > 0;
		o->known = carry >= 0;
		break;
	case SEM_CMOV:
		carry = condition(x, s->cc);
		o->r = carry > 0 ? o->b : o->a;
		o->known = carry > 0 ? o->b_known : carry == 0 ? o->a_known : o->a_known && o->b_known && o->a == o->b;
		break;
	default:
		forget(x, s, mem);
		return false;
	}
	return true;
}

/* Executes an instruction.  mem: address of its memory operand; stack: of what it pushes or pops; ST_NOT_DONE:
 * unknown. */
static void execute(struct state *x, const struct sem *s, uint64_t next_ip, uint64_t mem, uint64_t stack)
{
	const unsigned n = s->size;
	const uint64_t m = mask_of(n);
	struct operation o = { .a_known = true, .b_known = true, .flags = FLAGS_UNKNOWN };

	if (execute_simple(x, s, next_ip, mem, stack))
		return;
	if (s->flags & SEM_SRC_IMM)
		o.b = (uint64_t)s->imm & m;
	else if (s->flags & SEM_SRC_MEM)
		o.b_known = mem != ST_NOT_DONE && load(x, mem, s->from < 8 ? s->from : 8, &o.b);
	else if (s->src != SEM_NONE)
		o.b_known = get(x, s->src, s->from, &o.b);
	const bool reads_dst = s->op != SEM_MOV && s->op != SEM_MOVZX && s->op != SEM_MOVSX && s->op != SEM_SETCC &&
	                       !(s->op >= SEM_BSF && s->op <= SEM_POPCNT) && !(s->flags & SEM_THIRD);
	if (reads_dst)
		o.a_known = s->flags & SEM_DST_MEM ? mem != ST_NOT_DONE && load(x, mem, n, &o.a) :
		            get(x, s->dst, n, &o.a);
	o.known = o.a_known && o.b_known;
	const bool same =
		s->src != SEM_NONE && s->src == s->dst && !(s->flags & (SEM_SRC_MEM | SEM_DST_MEM | SEM_SRC_IMM));
	if (!operate(x, s, same, mem, &o))
		return;
	o.r &= m;
	if (s->flags & SEM_FLAGS) {
		if (o.known && o.flags != FLAGS_UNKNOWN)
			flags_set(x, o.flags, n, o.a, o.b, o.r);
		else
			x->flags = FLAGS_UNKNOWN;
	}
	if (s->op == SEM_CMP || s->op == SEM_TEST)
		return;
	if (!(s->flags & SEM_DST_MEM))
		set(x, s->dst, n, o.r, o.known);
	else if (mem != ST_NOT_DONE)
		store(x, mem, n, o.r, o.known);
}

/* --- addresses --- */

static uint64_t stack(const struct state *x, const struct sem *s)
{
	uint64_t sp;
	if (!(s->flags & (SEM_POPS | SEM_PUSHES)) || !get(x, s->op == SEM_LEAVE ? 5 : 4, 8, &sp))
		return ST_NOT_DONE;
	sp -= s->flags & SEM_PUSHES ? s->size : 0;
	return x->word4 ? (uint32_t)sp : sp;
}

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

/* --- words --- */

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

/* Writes an instruction of several steps, or one that goes the general way. */
static __attribute__((noinline)) uint64_t *several(const struct iblock *b, unsigned i, const struct walk_block *k,
	uint64_t mem, uint64_t sp, bool *general, uint64_t way, uint64_t went, uint64_t *w)
{
	const struct insn *in = &b->insn[i];
	uint64_t at[SLOTS_MOST], *more;
	slot_addresses(b, in, &k->sem[i], mem, sp, at);
	more = *general ? NULL : short_way(k, in, i, at, way, went, w);
	*general |= (k->insn[i].flags & WALK_APART) != 0;
	return more ? more : general_way(b, in, at, way, went, w);
}

/* Returns where the instruction's operand will lie when the right path comes to it. */
static __attribute__((noinline)) bool converged(const struct state *x, const struct walk_insn *h, uint64_t *mem)
{
	const unsigned i = (unsigned)(h - x->block->insn);
	const uint16_t flags = x->block->sem[i].flags;
	const bool store = flags & SEM_STORES && (!(flags & SEM_LOADS) || flags & SEM_POPS);
	return x->w->converges && x->w->ahead &&
		converge_address(x->w->ahead, x->block->b->insn[i].addr, store, x->w->walks, mem);
}

/* Returns where an instruction's operand lies; false if it has none or that is unknown. */
static inline bool operand(const struct state *x, const struct walk_insn *h, uint64_t *mem)
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
	const struct state *x, const struct walk_insn *h, const struct walk_branch *br, uint64_t mem, uint64_t sp)
{
	const struct sem *s = &x->block->sem[h - x->block->insn + h->last];
	uint64_t to = 0;
	int taken;
	switch (s->op) {
	case SEM_JCC:
		taken = s->cc == SEM_NONE ? -1 : condition(x, s->cc);
		return taken < 0 ? 0 : taken ? br->target : br->addr + br->len;
	case SEM_RET:
		return sp != ST_NOT_DONE && load(x, sp, s->size, &to) ? to : 0;
	case SEM_JMP: case SEM_CALL:
		if (br->target)
			return br->target;
		if (s->flags & SEM_DST_MEM)
			return mem != ST_NOT_DONE && s->size <= 8 && load(x, mem, s->size, &to) ? to : 0;
		return s->dst < 16 && get(x, s->dst, s->size, &to) ? to : 0;
	default:
		return 0;
	}
}

/* Returns what the branch's word has besides its way, if it was predicted to go to `next`. */
static __attribute__((noinline)) uint64_t outcome(const struct state *x, const struct walk_insn *h,
	const struct walk_branch *br, uint64_t mem, uint64_t sp, uint64_t next)
{
	const uint64_t to = next ? goes(x, h, br, mem, sp) : 0;
	if (next && (!to || to == next))
		return 0;
	return (uint64_t)(SCRIPT_MISPREDICTED | (br->flags & INSN_COND ? 0 : SCRIPT_WRONG_TARGET)) << SCRIPT_FLAGS;
}

/* --- how far --- */

void walker_follow(struct walker *w, uint64_t behind)
{
	w->behind = behind;
	w->oldest = w->newest;
}

void walker_made(struct walker *w, size_t words)
{
	w->made += words;
}

uint16_t *walker_ran(struct walker *w)
{
	return w->ran;
}

/* Returns the most words of a walk. */
static unsigned pace_ahead(struct walker *w, unsigned pace)
{
	while (w->oldest != w->newest) {	/* the core is done with these */
		const uint32_t i = w->oldest & (WALKS_UNDER_WAY - 1);
		const struct walk_under_way *u = &w->under_way[i];
		if (w->made - u->made < w->behind)
			break;
		uint16_t *p = &w->pace[u->pace];
		const unsigned ran = w->ran[i] < u->words ? w->ran[i] : 2 * u->words;
		*p = (uint16_t)(ran >= *p ? ran < WALK_ROOM ? ran : WALK_ROOM : *p - ((*p - ran) >> 4));
		w->oldest++;
	}
	unsigned most = w->pace[pace] + 32;
	return !w->behind || !w->pace[pace] || most > WALK_ROOM ? WALK_ROOM : most < PACE_FLOOR ? PACE_FLOOR : most;
}

/* Returns the walk's number, if it will be known how far the core got; else 0.  words: of a walk that was cut
 * off, else UINT16_MAX. */
static uint64_t pace_note(struct walker *w, unsigned pace, unsigned words)
{
	if (!w->behind || w->newest - w->oldest >= WALKS_UNDER_WAY)
		return 0;
	const uint32_t i = w->newest++ & (WALKS_UNDER_WAY - 1);
	w->under_way[i] = (struct walk_under_way){ w->made, (uint16_t)pace, (uint16_t)words };
	return i + 1;
}

static void begin(struct walker *w, struct state *x)
{
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
	struct state x = { .w = w, .word4 = w->space->word_bytes == 4 };
	const unsigned pace = (unsigned)(from * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (PACES - 1);
	uint64_t *const begins = out++, *const end = out + WALK_ROOM - 1, *const paced = out + pace_ahead(w, pace),
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
			known = load_quick(&x, mem, h->from, h->set, h->from_mask, &v); \
	} while (0)
#define SET(value, is_known) do { x.reg[h->dst] = (value); x.known[h->dst] = (is_known); } while (0)
#define RESULT(value, kind) do { \
		a = x.reg[h->dst] & h->mask; \
		r = (value) & h->mask; \
		known &= x.known[h->dst]; \
		if (h->flags & WALK_FLAGS) \
			flags_set(&x, known ? (kind) : FLAGS_UNKNOWN, h->bytes, a, v, r); \
		SET(r, known); \
	} while (0)
#define COMPARED(value, kind) do { \
		a = x.reg[h->dst] & h->mask; \
		flags_set(&x, known & x.known[h->dst] ? (kind) : FLAGS_UNKNOWN, h->bytes, a, v, (value) & h->mask); \
	} while (0)
#define SIGNED(v, cut) ((uint64_t)((int64_t)((v) << (cut)) >> (cut)))
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
do_STORE:
	if (operand(&x, h, &mem)) {
		SOURCE;
		store(&x, mem, h->bytes, v, known);
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
	store(&x, mem, h->bytes, v, known);
	x.reg[4] = mem;
	LAST_STORE;
	goto stacked;
do_POP:
	if (UNLIKELY(!x.known[4] || unusual || !h->word))
		goto do_EXECUTE;
	mem = x.word4 ? (uint32_t)x.reg[4] : x.reg[4];
	v = 0;
	known = load_quick(&x, mem, h->bytes, (1u << h->bytes) - 1, h->mask, &v);
	x.reg[4] = x.word4 ? (uint32_t)(mem + h->bytes) : mem + h->bytes;
	SET(v, known);
stacked:
	o[0] = h++->word;
	o[1] = mem;
	o += 2;
	NEXT;
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
	goto at_length;
do_EXECUTE:
	if (!operand(&x, h, &mem))
		mem = ST_NOT_DONE;
at_length:;
	const unsigned i = (unsigned)(h - k->insn);
	const struct insn *in = &k->b->insn[i];
	const uint64_t sp = h->flags & WALK_USES_STACK ? stack(&x, &k->sem[i]) : ST_NOT_DONE;
	if (h->what == WALK_EXECUTE || h->what == WALK_PUSH || h->what == WALK_POP) {
		execute(&x, &k->sem[i], in->addr + in->len, mem, sp);
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
		o = several(k->b, i, k, mem, sp, &general, said, went, o);
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
	const uint64_t number = pace_note(w, pace, o >= paced ? (unsigned)(o - out) : UINT16_MAX);
	*o++ = SCRIPT_END;
	*begins = number << SCRIPT_WALK | (uint64_t)(o - begins) << SCRIPT_INDEX | SCRIPT_WRONG_PATH;
	return (size_t)(o - begins);
}
