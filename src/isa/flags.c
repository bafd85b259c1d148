/* SPDX-License-Identifier: GPL-2.0-or-later
 * Evaluates the condition-code thunk of VEX (flags.h).
 *
 * CC_OP says which operation set the flags last; the other words are its operands.  Source of the operations'
 * numbers and of the meaning of the words: VEX, guest_amd64_defs.h and guest_x86_defs.h, comments on the CC_OP
 * enumerations.  Each kind of operation has a number for each operand size: four sizes in 64-bit code, three in
 * 32-bit code; behind them come those of BMI and ADX.  How the flags follow from the operands: SDM vol. 1, appendix
 * "EFLAGS Cross-Reference".
 */
#include "isa/flags.h"
#include <stdbool.h>

enum kind {
	OP_COPY, OP_ADD, OP_SUB, OP_ADC, OP_SBB, OP_LOGIC, OP_INC, OP_DEC, OP_SHL, OP_SHR, OP_ROL, OP_ROR,
	OP_UMUL, OP_SMUL, OP_SIZED,
	OP_ANDN = OP_SIZED,
	OP_BLSI, OP_BLSMSK, OP_BLSR, OP_ADCX, OP_ADOX, OP_KINDS
};

struct operation { unsigned kind, bits; };

static struct operation decode(int word_bytes, uint64_t op)
{
	const unsigned sizes = word_bytes == 8 ? 4 : 3, sized = 1 + (OP_SIZED - 1) * sizes;
	if (op == 0)
		return (struct operation){ OP_COPY, 64 };
	if (op < sized)
		return (struct operation){ OP_ADD + (unsigned)(op - 1) / sizes, 8u << (op - 1) % sizes };
	if (word_bytes == 8 && op < sized + 2 * (OP_KINDS - OP_SIZED))
		return (struct operation){ OP_SIZED + (unsigned)(op - sized) / 2, (op - sized) & 1 ? 64 : 32 };
	return (struct operation){ OP_KINDS, 0 };
}

static uint64_t set(bool condition, uint64_t flag)
{
	return condition ? flag : 0;
}

uint64_t isa_flags(int word_bytes, const uint64_t thunk[4])
{
	const struct operation o = decode(word_bytes, thunk[0]);
	if (o.kind == OP_KINDS)
		return 0;
	const uint64_t mask = ~UINT64_C(0) >> (64 - o.bits), top = UINT64_C(1) << (o.bits - 1), old = thunk[3],
		       carry = old & 1;
	uint64_t left = thunk[1] & mask, right = thunk[2] & mask, result = left, flags = 0;

	switch (o.kind) {
	case OP_COPY:
		return thunk[1] & FLAGS_ARITHMETIC;
	case OP_ADD:
		result = (left + right) & mask;
		flags = set(result < left, FLAG_CF) | set(~(left ^ right) & (left ^ result) & top, FLAG_OF) |
			((result ^ left ^ right) & FLAG_AF);
		break;
	case OP_SUB:
		result = (left - right) & mask;
		flags = set(left < right, FLAG_CF) | set((left ^ right) & (left ^ result) & top, FLAG_OF) |
			((result ^ left ^ right) & FLAG_AF);
		break;
	case OP_ADC:
		right ^= carry;
		result = (left + right + carry) & mask;
		flags = set(carry ? result <= left : result < left, FLAG_CF) |
			set(~(left ^ right) & (left ^ result) & top, FLAG_OF) | ((result ^ left ^ right) & FLAG_AF);
		break;
	case OP_SBB:
		right ^= carry;
		result = (left - right - carry) & mask;
		flags = set(carry ? left <= right : left < right, FLAG_CF) |
			set((left ^ right) & (left ^ result) & top, FLAG_OF) | ((result ^ left ^ right) & FLAG_AF);
		break;
	case OP_INC:
		flags = carry | set(result == top, FLAG_OF) | set(!(result & 15), FLAG_AF);
		break;
	case OP_DEC:
		flags = carry | set(result == top - 1, FLAG_OF) | set((result & 15) == 15, FLAG_AF);
		break;
	case OP_SHL:
		flags = set(right & top, FLAG_CF) | set((left ^ right) & top, FLAG_OF);
		break;
	case OP_SHR:
		flags = set(right & 1, FLAG_CF) | set((left ^ right) & top, FLAG_OF);
		break;
	case OP_ROL:
		return (old & (FLAGS_ARITHMETIC & ~(uint64_t)(FLAG_CF | FLAG_OF))) | set(left & 1, FLAG_CF) |
			set(!(left & top) != !(left & 1), FLAG_OF);
	case OP_ROR:
		return (old & (FLAGS_ARITHMETIC & ~(uint64_t)(FLAG_CF | FLAG_OF))) | set(left & top, FLAG_CF) |
			set(!(left & top) != !(left & top >> 1), FLAG_OF);
	case OP_UMUL: {
		__extension__ unsigned __int128 all = (unsigned __int128)left * right;
		result = (uint64_t)all & mask;
		flags = set((all >> o.bits) != 0, FLAG_CF | FLAG_OF);
		break;
	}
	case OP_SMUL: {
		int64_t a = (int64_t)(left << (64 - o.bits)) >> (64 - o.bits),
			b = (int64_t)(right << (64 - o.bits)) >> (64 - o.bits);
		__extension__ __int128 all = (__int128)a * b;
		result = (uint64_t)all & mask;
		flags = set(all != (int64_t)(result << (64 - o.bits)) >> (64 - o.bits), FLAG_CF | FLAG_OF);
		break;
	}
	case OP_BLSI:
		flags = set(right != 0, FLAG_CF);
		break;
	case OP_BLSMSK:
	case OP_BLSR:
		flags = set(right == 0, FLAG_CF);
		break;
	case OP_ADCX:
	case OP_ADOX: {
		const uint64_t flag = o.kind == OP_ADCX ? FLAG_CF : FLAG_OF, in = !!(old & flag);
		right ^= in;
		result = (left + right + in) & mask;
		return (old & FLAGS_ARITHMETIC & ~flag) | set(in ? result <= left : result < left, flag);
	}
	default:	/* LOGIC, ANDN */
		break;
	}
	return flags | set(!__builtin_parity((unsigned)result & 255), FLAG_PF) | set(!result, FLAG_ZF) |
		set(result & top, FLAG_SF);
}
