/* SPDX-License-Identifier: GPL-2.0-or-later
 * Fills struct sem (semantic.h) from Zydis' decoding.  The operations are those of the SDM, vol. 2.
 */
#include "isa/semantic.h"
#include "isa/isa_internal.h"
#include <string.h>

enum { MEMORY_MAX = 64 };	/* longest memory operand that is tracked, in bytes */

static uint8_t register_of(const struct isa *isa, ZydisRegister r)
{
	uint8_t reg = isa->reg[r];
	if (reg < REG_GPR || reg >= REG_GPR + 16)
		return SEM_NONE;
	reg = (uint8_t)(reg - REG_GPR);
	return r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH ? (uint8_t)(SEM_HIGH + (r - ZYDIS_REGISTER_AH)) : reg;
}

static enum sem_op operation(ZydisMnemonic m, uint8_t *cc)
{
	static const struct { uint16_t mnemonic; uint8_t op;
	} plain[] = {
		{ ZYDIS_MNEMONIC_MOV, SEM_MOV }, { ZYDIS_MNEMONIC_MOVZX, SEM_MOVZX },
		{ ZYDIS_MNEMONIC_MOVSX, SEM_MOVSX }, { ZYDIS_MNEMONIC_MOVSXD, SEM_MOVSX },
		{ ZYDIS_MNEMONIC_LEA, SEM_LEA }, { ZYDIS_MNEMONIC_ADD, SEM_ADD },
		{ ZYDIS_MNEMONIC_SUB, SEM_SUB }, { ZYDIS_MNEMONIC_AND, SEM_AND }, { ZYDIS_MNEMONIC_OR, SEM_OR },
		{ ZYDIS_MNEMONIC_XOR, SEM_XOR }, { ZYDIS_MNEMONIC_CMP, SEM_CMP },
		{ ZYDIS_MNEMONIC_TEST, SEM_TEST }, { ZYDIS_MNEMONIC_INC, SEM_INC },
		{ ZYDIS_MNEMONIC_DEC, SEM_DEC }, { ZYDIS_MNEMONIC_NEG, SEM_NEG },
		{ ZYDIS_MNEMONIC_NOT, SEM_NOT }, { ZYDIS_MNEMONIC_ADC, SEM_ADC },
		{ ZYDIS_MNEMONIC_SBB, SEM_SBB }, { ZYDIS_MNEMONIC_SHL, SEM_SHL },
		{ ZYDIS_MNEMONIC_SHR, SEM_SHR }, { ZYDIS_MNEMONIC_SAR, SEM_SAR },
		{ ZYDIS_MNEMONIC_IMUL, SEM_IMUL }, { ZYDIS_MNEMONIC_PUSH, SEM_PUSH },
		{ ZYDIS_MNEMONIC_POP, SEM_POP }, { ZYDIS_MNEMONIC_CALL, SEM_CALL },
		{ ZYDIS_MNEMONIC_RET, SEM_RET }, { ZYDIS_MNEMONIC_JMP, SEM_JMP },
		{ ZYDIS_MNEMONIC_LEAVE, SEM_LEAVE }, { ZYDIS_MNEMONIC_CDQ, SEM_CDQ },
		{ ZYDIS_MNEMONIC_CQO, SEM_CDQ }, { ZYDIS_MNEMONIC_CWD, SEM_CDQ },
		{ ZYDIS_MNEMONIC_CDQE, SEM_CDQE }, { ZYDIS_MNEMONIC_CWDE, SEM_CDQE },
		{ ZYDIS_MNEMONIC_CBW, SEM_CDQE }, { ZYDIS_MNEMONIC_XCHG, SEM_XCHG },
		{ ZYDIS_MNEMONIC_BSWAP, SEM_BSWAP }, { ZYDIS_MNEMONIC_BSF, SEM_BSF },
		{ ZYDIS_MNEMONIC_TZCNT, SEM_BSF }, { ZYDIS_MNEMONIC_BSR, SEM_BSR },
		{ ZYDIS_MNEMONIC_LZCNT, SEM_LZCNT }, { ZYDIS_MNEMONIC_POPCNT, SEM_POPCNT },
		{ ZYDIS_MNEMONIC_ROL, SEM_ROL },
		{ ZYDIS_MNEMONIC_ROR, SEM_ROR },
		{ ZYDIS_MNEMONIC_NOP, SEM_NOP }, { ZYDIS_MNEMONIC_ENDBR64, SEM_NOP },
		{ ZYDIS_MNEMONIC_ENDBR32, SEM_NOP }, { ZYDIS_MNEMONIC_JCXZ, SEM_JCC },
		{ ZYDIS_MNEMONIC_JECXZ, SEM_JCC }, { ZYDIS_MNEMONIC_JRCXZ, SEM_JCC },
		{ ZYDIS_MNEMONIC_UD0, SEM_STOP }, { ZYDIS_MNEMONIC_UD1, SEM_STOP },
		{ ZYDIS_MNEMONIC_UD2, SEM_STOP }, { ZYDIS_MNEMONIC_HLT, SEM_STOP },
		{ ZYDIS_MNEMONIC_INT, SEM_STOP }, { ZYDIS_MNEMONIC_INT1, SEM_STOP },
		{ ZYDIS_MNEMONIC_INT3, SEM_STOP }, { ZYDIS_MNEMONIC_INTO, SEM_STOP },
		{ ZYDIS_MNEMONIC_SYSCALL, SEM_STOP }, { ZYDIS_MNEMONIC_SYSENTER, SEM_STOP },
		{ ZYDIS_MNEMONIC_XBEGIN, SEM_STOP },
	};
	/* in the order of the encoding's condition */
	static const uint16_t jcc[] = { ZYDIS_MNEMONIC_JO, ZYDIS_MNEMONIC_JNO, ZYDIS_MNEMONIC_JB, ZYDIS_MNEMONIC_JNB,
		ZYDIS_MNEMONIC_JZ, ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_JNBE, ZYDIS_MNEMONIC_JS,
		ZYDIS_MNEMONIC_JNS, ZYDIS_MNEMONIC_JP, ZYDIS_MNEMONIC_JNP, ZYDIS_MNEMONIC_JL, ZYDIS_MNEMONIC_JNL,
		ZYDIS_MNEMONIC_JLE, ZYDIS_MNEMONIC_JNLE };
	static const uint16_t setcc[] = { ZYDIS_MNEMONIC_SETO, ZYDIS_MNEMONIC_SETNO, ZYDIS_MNEMONIC_SETB,
		ZYDIS_MNEMONIC_SETNB, ZYDIS_MNEMONIC_SETZ, ZYDIS_MNEMONIC_SETNZ, ZYDIS_MNEMONIC_SETBE,
		ZYDIS_MNEMONIC_SETNBE, ZYDIS_MNEMONIC_SETS, ZYDIS_MNEMONIC_SETNS, ZYDIS_MNEMONIC_SETP,
		ZYDIS_MNEMONIC_SETNP, ZYDIS_MNEMONIC_SETL, ZYDIS_MNEMONIC_SETNL, ZYDIS_MNEMONIC_SETLE,
		ZYDIS_MNEMONIC_SETNLE };
	static const uint16_t cmov[] = { ZYDIS_MNEMONIC_CMOVO, ZYDIS_MNEMONIC_CMOVNO, ZYDIS_MNEMONIC_CMOVB,
		ZYDIS_MNEMONIC_CMOVNB, ZYDIS_MNEMONIC_CMOVZ, ZYDIS_MNEMONIC_CMOVNZ, ZYDIS_MNEMONIC_CMOVBE,
		ZYDIS_MNEMONIC_CMOVNBE, ZYDIS_MNEMONIC_CMOVS, ZYDIS_MNEMONIC_CMOVNS, ZYDIS_MNEMONIC_CMOVP,
		ZYDIS_MNEMONIC_CMOVNP, ZYDIS_MNEMONIC_CMOVL, ZYDIS_MNEMONIC_CMOVNL, ZYDIS_MNEMONIC_CMOVLE,
		ZYDIS_MNEMONIC_CMOVNLE };
	for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++)
		if (plain[i].mnemonic == m)
			return plain[i].op;
	for (uint8_t i = 0; i < 16; i++) {
		*cc = i;
		if (jcc[i] == m)
			return SEM_JCC;
		if (setcc[i] == m)
			return SEM_SETCC;
		if (cmov[i] == m)
			return SEM_CMOV;
	}
	return SEM_OTHER;
}

/* The memory operand.  SEM_NO_ADDRESS unless it has a plain segment and general-purpose registers. */
static void memory(const struct isa *isa, const ZydisDecodedOperand *op, uint64_t next_ip, int word_bytes,
	struct sem *s)
{
	s->bytes = (uint8_t)(op->size / 8 > MEMORY_MAX ? 0 : op->size / 8);
	s->disp = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
	if (op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP)
		s->disp += (int64_t)next_ip;
	else if (op->mem.base)
		s->base = register_of(isa, op->mem.base);
	if (op->mem.index) {
		s->index = register_of(isa, op->mem.index);
		s->scale = op->mem.scale;
	}
	bool odd = op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS ||
		(op->mem.type != ZYDIS_MEMOP_TYPE_MEM && op->mem.type != ZYDIS_MEMOP_TYPE_AGEN) ||
		(op->mem.index && s->index == SEM_NONE) ||
		(op->mem.base && s->base == SEM_NONE && op->mem.base != ZYDIS_REGISTER_RIP &&
			op->mem.base != ZYDIS_REGISTER_EIP);
	if (odd)
		s->flags |= SEM_NO_ADDRESS;
	if (word_bytes == 4 || (op->mem.base && ZydisRegisterGetClass(op->mem.base) == ZYDIS_REGCLASS_GPR32) ||
	    (op->mem.index && ZydisRegisterGetClass(op->mem.index) == ZYDIS_REGCLASS_GPR32))
		s->flags |= SEM_ADDRESS_32;
}

static void other(struct sem *s)
{
	s->op = SEM_OTHER;
}

/* Operands that the operation takes: general-purpose registers, immediates, one memory operand.  Others: SEM_OTHER. */
static void operands(const struct isa *isa, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
	struct sem *s)
{
	const unsigned n = zi->operand_count_visible;
	s->size = (uint8_t)(n && op[0].size ? op[0].size / 8 : zi->operand_width / 8);
	for (unsigned i = 0; i < n && i < 2; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			uint8_t r = register_of(isa, op[i].reg.value);
			if (r == SEM_NONE) {
				other(s);
				return;
			}
			*(i ? &s->src : &s->dst) = r;
		} else if (op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			s->imm = op[i].imm.value.s;
			s->flags |= i ? SEM_SRC_IMM : 0;
		} else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			s->flags |= i ? SEM_SRC_MEM : SEM_DST_MEM;
		} else {
			other(s);
			return;
		}
	if (n == 3 && op[2].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && s->op == SEM_IMUL) {
		s->imm = op[2].imm.value.s;
		s->flags |= SEM_THIRD;
	} else if (n > 2) {
		other(s);
	}
	s->from = (uint8_t)(n > 1 ? op[1].size / 8 : s->size);
}

static void special(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, int word_bytes, struct sem *s)
{
	const unsigned n = zi->operand_count_visible;
	const bool word = zi->operand_width == word_bytes * 8;
	switch (s->op) {
	case SEM_PUSH:	/* its operand is the source */
		s->src = s->dst;
		s->flags = (uint16_t)((s->flags & ~SEM_DST_MEM) | SEM_PUSHES);
		if (n && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			s->flags |= SEM_SRC_IMM;
		else if (n && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
			s->flags |= SEM_SRC_MEM;
		s->size = (uint8_t)word_bytes;
		break;
	case SEM_POP: case SEM_LEAVE:
		s->flags |= SEM_POPS;
		s->size = (uint8_t)word_bytes;
		break;
	case SEM_CALL: case SEM_RET:
		s->flags |= s->op == SEM_CALL ? SEM_PUSHES : SEM_POPS;
		s->size = (uint8_t)word_bytes;
		return;
	case SEM_CDQ: case SEM_CDQE:
		s->size = (uint8_t)(zi->operand_width / 8);
		return;
	case SEM_IMUL:
		if (n < 2)	/* has two result registers */
			other(s);
		return;
	default:
		return;
	}
	if (!word)	/* 16 bits on the stack */
		other(s);
}

unsigned isa_semantic(const struct isa *isa, int word_bytes, const uint8_t *code, size_t bytes, uint64_t addr,
	struct sem *s)
{
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	*s = (struct sem){ .dst = SEM_NONE, .src = SEM_NONE, .base = SEM_NONE, .index = SEM_NONE, .op = SEM_STOP };
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&isa->decoder[word_bytes == 4], code, bytes < 15 ? bytes : 15, &zi, op)))
		return 0;
	s->op = operation(zi.mnemonic, &s->cc);
	if (s->op == SEM_STOP)
		return zi.length;
	if (zi.mnemonic == ZYDIS_MNEMONIC_JCXZ || zi.mnemonic == ZYDIS_MNEMONIC_JECXZ ||
	    zi.mnemonic == ZYDIS_MNEMONIC_JRCXZ)
		s->cc = SEM_NONE;
	unsigned seen = 0;
	for (unsigned i = 0; i < zi.operand_count; i++) {
		const ZydisDecodedOperand *o = &op[i];
		bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
		     reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && writes && isa->reg[o->reg.value] >= REG_GPR &&
		    isa->reg[o->reg.value] < REG_GPR + 16)
			s->spoils |= (uint16_t)(1u << (isa->reg[o->reg.value] - REG_GPR));
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || s->op == SEM_NOP)
			continue;
		if (i >= zi.operand_count_visible) {
			if (s->op == SEM_OTHER)		/* strings, PUSHF, ENTER .. */
				s->flags |= SEM_NO_ADDRESS;
			continue;
		}
		if (seen++) {
			s->flags |= SEM_NO_ADDRESS;
			continue;
		}
		memory(isa, o, addr + zi.length, word_bytes, s);
		if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN || s->op == SEM_LEA)
			continue;
		bool prefetch = isa_mnemonic_class[zi.mnemonic] &&
			isa_classes[isa_mnemonic_class[zi.mnemonic]].traits & (T_PREFETCH | T_FLUSH);
		s->flags |= (uint16_t)(prefetch ? SEM_PREFETCH : (reads ? SEM_LOADS : 0) | (writes ? SEM_STORES : 0));
	}
	if (zi.cpu_flags &&
	    (zi.cpu_flags->modified | zi.cpu_flags->set_0 | zi.cpu_flags->set_1 | zi.cpu_flags->undefined))
		s->flags |= SEM_FLAGS;
	if (s->op != SEM_OTHER && s->op != SEM_NOP)
		operands(isa, &zi, op, s);
	if (s->op != SEM_OTHER && s->op != SEM_NOP)
		special(&zi, op, word_bytes, s);
	if (s->op == SEM_LEA && s->flags & SEM_NO_ADDRESS)
		other(s);
	if (s->flags & (SEM_LOADS | SEM_STORES) && !s->bytes)
		s->flags |= SEM_NO_ADDRESS;
	return zi.length;
}
