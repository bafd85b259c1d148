/* SPDX-License-Identifier: GPL-2.0-or-later
 * Executes an instruction of the wrong path by its struct sem (isa/semantic.h), on values that are known or not.
 *
 * walker.c has the frequent instructions itself.
 */
#include "core/wrongpath/walker_values.h"

static void forget(struct walk_state *x, const struct sem *s, uint64_t mem)
{
	for (uint32_t left = s->spoils; left; left &= left - 1)
		x->known[__builtin_ctz(left)] = 0;
	if (s->flags & SEM_FLAGS)
		x->flags = FLAGS_UNKNOWN;
	if (s->flags & SEM_STORES && mem != ST_NOT_DONE)
		walk_store(x, mem, s->bytes, 0, false);
}

/* Executes an instruction on the stack, an address, a sign extension or an exchange.  Returns false if it is another:
 * an operation on two operands. */
static bool execute_simple(struct walk_state *x, const struct sem *s, uint64_t next_ip, uint64_t mem, uint64_t stack)
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
			a_known = s->flags & SEM_SRC_MEM ? mem != ST_NOT_DONE && walk_load(x, mem, n, &a) :
				walk_get(x, s->src, n, &a);
		if (stack != ST_NOT_DONE)
			walk_store(x, stack, n, a, a_known);
		walk_set(x, 4, x->word4 ? 4 : 8, stack, stack != ST_NOT_DONE);
		return true;
	case SEM_RET: case SEM_POP: case SEM_LEAVE:
		a_known = stack != ST_NOT_DONE && walk_load(x, stack, n, &a);
		walk_set(x, 4, x->word4 ? 4 : 8, stack + n + (s->op == SEM_RET ? (uint64_t)s->imm : 0),
			stack != ST_NOT_DONE);
		if (s->op == SEM_LEAVE)
			walk_set(x, 5, n, a, a_known);
		else if (s->op == SEM_POP && !(s->flags & SEM_DST_MEM))
			walk_set(x, s->dst, n, a, a_known);
		else if (s->op == SEM_POP && mem != ST_NOT_DONE)
			walk_store(x, mem, n, a, a_known);
		return true;
	case SEM_LEA:
		walk_set(x, s->dst, n, mem, mem != ST_NOT_DONE);
		return true;
	case SEM_CDQ:
		a_known = walk_get(x, 0, n, &a);
		walk_set(x, 2, n, walk_widen(a, n) < 0 ? ~UINT64_C(0) : 0, a_known && (n >= 4 || x->known[2]));
		return true;
	case SEM_CDQE:
		a_known = walk_get(x, 0, n / 2, &a);
		walk_set(x, 0, n, (uint64_t)walk_widen(a, n / 2), a_known);
		return true;
	case SEM_XCHG:
		if (s->flags & (SEM_DST_MEM | SEM_SRC_MEM)) {
			forget(x, s, mem);
			return true;
		}
		a_known = walk_get(x, s->dst, n, &a);
		b_known = walk_get(x, s->src, n, &b);
		walk_set(x, s->dst, n, b, b_known);
		walk_set(x, s->src, n, a, a_known);
		return true;
	case SEM_BSWAP:
		a_known = walk_get(x, s->dst, n, &a);
		walk_set(x, s->dst, n, n == 8 ? __builtin_bswap64(a) : __builtin_bswap32((uint32_t)a), a_known);
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
static bool operate(struct walk_state *x, const struct sem *s, bool same, uint64_t mem, struct operation *o)
{
	const unsigned n = s->size;
	int carry;

	switch (s->op) {
	case SEM_MOV: case SEM_MOVZX: o->r = o->b; break;
	case SEM_MOVSX: o->r = (uint64_t)walk_widen(o->b, s->from); break;
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
		carry = walk_flag(x, 1);
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
		    (uint64_t)(walk_widen(o->a, n) >> count);
		o->flags = o->b_known ? FLAGS_SHIFT : FLAGS_UNKNOWN;
		break;
	}
	case SEM_IMUL:
		o->r = s->flags & SEM_THIRD ? o->b * (uint64_t)s->imm :
		       (uint64_t)walk_widen(o->a, n) * (uint64_t)walk_widen(o->b, n);
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
		carry = walk_condition(x, s->cc);
		o->r = carry > 0;
		o->known = carry >= 0;
		break;
	case SEM_CMOV:
		carry = walk_condition(x, s->cc);
		o->r = carry > 0 ? o->b : o->a;
		o->known = carry > 0 ? o->b_known : carry == 0 ? o->a_known : o->a_known && o->b_known && o->a == o->b;
		break;
	default:
		forget(x, s, mem);
		return false;
	}
	return true;
}

void walk_execute(struct walk_state *x, const struct sem *s, uint64_t next_ip, uint64_t mem, uint64_t stack)
{
	const unsigned n = s->size;
	const uint64_t m = walk_mask(n);
	struct operation o = { .a_known = true, .b_known = true, .flags = FLAGS_UNKNOWN };

	if (execute_simple(x, s, next_ip, mem, stack))
		return;
	if (s->flags & SEM_SRC_IMM)
		o.b = (uint64_t)s->imm & m;
	else if (s->flags & SEM_SRC_MEM)
		o.b_known = mem != ST_NOT_DONE && walk_load(x, mem, s->from < 8 ? s->from : 8, &o.b);
	else if (s->src != SEM_NONE)
		o.b_known = walk_get(x, s->src, s->from, &o.b);
	const bool reads_dst = s->op != SEM_MOV && s->op != SEM_MOVZX && s->op != SEM_MOVSX && s->op != SEM_SETCC &&
	                       !(s->op >= SEM_BSF && s->op <= SEM_POPCNT) && !(s->flags & SEM_THIRD);
	if (reads_dst)
		o.a_known = s->flags & SEM_DST_MEM ? mem != ST_NOT_DONE && walk_load(x, mem, n, &o.a) :
		            walk_get(x, s->dst, n, &o.a);
	o.known = o.a_known && o.b_known;
	const bool same =
		s->src != SEM_NONE && s->src == s->dst && !(s->flags & (SEM_SRC_MEM | SEM_DST_MEM | SEM_SRC_IMM));
	if (!operate(x, s, same, mem, &o))
		return;
	o.r &= m;
	if (s->flags & SEM_FLAGS) {
		if (o.known && o.flags != FLAGS_UNKNOWN)
			walk_flags_set(x, o.flags, n, o.a, o.b, o.r);
		else
			x->flags = FLAGS_UNKNOWN;
	}
	if (s->op == SEM_CMP || s->op == SEM_TEST)
		return;
	if (!(s->flags & SEM_DST_MEM))
		walk_set(x, s->dst, n, o.r, o.known);
	else if (mem != ST_NOT_DONE)
		walk_store(x, mem, n, o.r, o.known);
}
