/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which class an instruction belongs to: its mnemonic selects one (mnemonics.def), and rules correct it where the
 * operands decide.  Left out: distinctions by immediate values other than shift counts of 1.
 */
#include "isa/isa_internal.h"

const struct class_info isa_classes[CLASS_COUNT] = {
#define I(n) SPMU_IS(n)
#define CLASS(name, traits, is) [CLASS_##name] = { #name, traits, is },
#include "isa/classes.def"
};

const uint16_t isa_mnemonic_class[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define M(mnemonic, class) [ZYDIS_MNEMONIC_##mnemonic] = CLASS_##class,
#include "isa/mnemonics.def"
};

static bool is_reg(const ZydisDecodedOperand *op, ZydisRegisterClass c)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(op->reg.value) == c;
}

static bool is_gpr(const ZydisDecodedOperand *op)
{
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	ZydisRegisterClass c = ZydisRegisterGetClass(op->reg.value);
	return c >= ZYDIS_REGCLASS_GPR8 && c <= ZYDIS_REGCLASS_GPR64;
}

static bool is_mem(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool is_high_byte(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value >= ZYDIS_REGISTER_AH &&
	       op->reg.value <= ZYDIS_REGISTER_BH;
}

/* True for instruction families that no row describes.  No preset executes them, but a binary may contain them. */
static bool is_foreign(const ZydisDecodedInstruction *zi)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_AMD3DNOW: case ZYDIS_CATEGORY_AMX_TILE: case ZYDIS_CATEGORY_FMA4: case ZYDIS_CATEGORY_XOP:
	case ZYDIS_CATEGORY_TBM: case ZYDIS_CATEGORY_KMASK: case ZYDIS_CATEGORY_KNC: case ZYDIS_CATEGORY_KNCMASK:
	case ZYDIS_CATEGORY_KNCSCALAR: case ZYDIS_CATEGORY_SGX: case ZYDIS_CATEGORY_VTX: case ZYDIS_CATEGORY_PADLOCK:
	case ZYDIS_CATEGORY_KEYLOCKER: case ZYDIS_CATEGORY_KEYLOCKER_WIDE: case ZYDIS_CATEGORY_UINTR:
	case ZYDIS_CATEGORY_ENQCMD: case ZYDIS_CATEGORY_WAITPKG: case ZYDIS_CATEGORY_TSX_LDTRK: case ZYDIS_CATEGORY_PT:
	case ZYDIS_CATEGORY_CLZERO: case ZYDIS_CATEGORY_PCONFIG: case ZYDIS_CATEGORY_RDPRU: case ZYDIS_CATEGORY_HRESET:
	case ZYDIS_CATEGORY_CET: case ZYDIS_CATEGORY_SMAP:
		return true;
	default:
		break;
	}
	return zi->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX || zi->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX ||
		zi->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP || zi->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW ||
		(zi->meta.isa_set >= ZYDIS_ISA_SET_KNCE && zi->meta.isa_set <= ZYDIS_ISA_SET_KNC_PF_HINT) ||
		zi->meta.isa_set == ZYDIS_ISA_SET_AMD3DNOW || zi->meta.isa_set == ZYDIS_ISA_SET_SSE4A ||
		zi->meta.isa_set == ZYDIS_ISA_SET_SVM || zi->meta.isa_set == ZYDIS_ISA_SET_MONITORX ||
		zi->meta.isa_set == ZYDIS_ISA_SET_SMX || zi->meta.isa_set == ZYDIS_ISA_SET_AMD ||
		zi->meta.isa_set == ZYDIS_ISA_SET_VMFUNC || zi->meta.isa_set == ZYDIS_ISA_SET_TDX ||
		zi->meta.isa_set == ZYDIS_ISA_SET_XSAVES || zi->meta.isa_set == ZYDIS_ISA_SET_SNP ||
		zi->meta.isa_set == ZYDIS_ISA_SET_AMD_INVLPGB || zi->meta.isa_set == ZYDIS_ISA_SET_MCOMMIT;
}

static enum isa_class lea_class(const ZydisDecodedOperand *op)
{
	const ZydisDecodedOperandMem *m = &op[1].mem;
	if (m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP)
		return CLASS_lea_rip;
	bool base = m->base != ZYDIS_REGISTER_NONE, index = m->index != ZYDIS_REGISTER_NONE;
	/* As a base, RBP and R13 need a displacement in the encoding, so base and index already make three
	 * components. */
	if (base && index && m->disp.has_displacement)
		return m->scale > 1 ? CLASS_lea_slow_scaled : CLASS_lea_slow;
	if (index && m->scale > 1)
		return CLASS_lea_scaled;
	return CLASS_lea;
}

static enum isa_class mov_class(const ZydisDecodedOperand *op)
{
	for (int i = 0; i < 2; i++) {
		if (is_reg(&op[i], ZYDIS_REGCLASS_SEGMENT))
			return CLASS_mov_seg;
		if (is_reg(&op[i], ZYDIS_REGCLASS_CONTROL) || is_reg(&op[i], ZYDIS_REGCLASS_DEBUG) ||
		    is_reg(&op[i], ZYDIS_REGCLASS_TEST))
			return CLASS_privileged;
	}
	return op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !is_mem(&op[0]) ? CLASS_mov_imm : CLASS_mov;
}

/* MOVD and MOVQ between register files; those from and to memory are plain moves. */
static enum isa_class movd_class(const ZydisDecodedOperand *op)
{
	if (is_mem(&op[0]) || is_mem(&op[1]))
		return CLASS_vmov;
	if (is_gpr(&op[1]))
		return CLASS_mov_gpr_vec;
	return is_gpr(&op[0]) ? CLASS_mov_vec_gpr : CLASS_vec_copy;
}

static enum isa_class rep_class(enum isa_class c)
{
	switch (c) {
	case CLASS_movs: return CLASS_rep_movs;
	case CLASS_cmps: return CLASS_rep_cmps;
	case CLASS_stos: return CLASS_rep_stos;
	case CLASS_lods: return CLASS_rep_lods;
	default:         return CLASS_rep_scas;
	}
}

static enum isa_class shift_class(enum isa_class imm, enum isa_class one, enum isa_class cl,
                                  const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (op[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return cl;
	return zi->opcode == 0xd0 || zi->opcode == 0xd1 ? one : imm;
}

static enum isa_class refine(enum isa_class c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	bool mem0 = is_mem(&op[0]), mem1 = is_mem(&op[1]);
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return mov_class(op);
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB:	/* not the accumulator's short form 05, 2D */
		return !mem0 && zi->operand_width == 64 && (zi->opcode == 0x81 || zi->opcode == 0x83) ? CLASS_add_imm
												      : c;
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC:
		return !mem0 && zi->operand_width == 64 ? CLASS_add_imm : c;
	case ZYDIS_MNEMONIC_MOVZX:
		return op[1].size == 8 && !mem1 && !is_high_byte(&op[1]) && zi->operand_width >= 32 ? CLASS_movzx8 : c;
	case ZYDIS_MNEMONIC_LEA:
		return lea_class(op);
	case ZYDIS_MNEMONIC_XCHG:
		return mem0 || mem1 ? CLASS_xchg_mem : c;
	case ZYDIS_MNEMONIC_PUSH:
		return is_reg(&op[0], ZYDIS_REGCLASS_SEGMENT) ? CLASS_push : c;
	case ZYDIS_MNEMONIC_POP:
		return is_reg(&op[0], ZYDIS_REGCLASS_SEGMENT) ? CLASS_mov_seg : c;
	case ZYDIS_MNEMONIC_IMUL:
		return zi->operand_count_visible == 1    ? CLASS_mul
			: zi->operand_count_visible == 2 ? CLASS_imul
							 : CLASS_imul_imm;
	case ZYDIS_MNEMONIC_SHL: case ZYDIS_MNEMONIC_SHR: case ZYDIS_MNEMONIC_SAR:
		return shift_class(CLASS_shift, CLASS_shift, CLASS_shift_cl, zi, op);
	case ZYDIS_MNEMONIC_ROL: case ZYDIS_MNEMONIC_ROR:
		return shift_class(CLASS_rotate, CLASS_rotate_1, CLASS_rotate_cl, zi, op);
	case ZYDIS_MNEMONIC_RCL: case ZYDIS_MNEMONIC_RCR:
		return shift_class(CLASS_rotate_carry, CLASS_rotate_carry_1, CLASS_rotate_carry, zi, op);
	case ZYDIS_MNEMONIC_SHLD: case ZYDIS_MNEMONIC_SHRD:
		return op[2].type == ZYDIS_OPERAND_TYPE_REGISTER ? CLASS_shld_cl : c;
	case ZYDIS_MNEMONIC_BT: case ZYDIS_MNEMONIC_BTC: case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTS:
		return mem0 && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? CLASS_bt_mem : c;
	case ZYDIS_MNEMONIC_JMP:
		if (zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return CLASS_far;
		return op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? c : CLASS_jmp_ind;
	case ZYDIS_MNEMONIC_CALL:
		if (zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return CLASS_far;
		return op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? c : CLASS_call_ind;
	case ZYDIS_MNEMONIC_RET:
		if (zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return CLASS_far;
		return zi->operand_count_visible ? CLASS_ret_imm : c;
	case ZYDIS_MNEMONIC_MOVSD:
		if (zi->meta.category == ZYDIS_CATEGORY_STRINGOP)
			return CLASS_movs;
		return mem0 || mem1 ? CLASS_vmov : CLASS_mov_scalar;
	case ZYDIS_MNEMONIC_MOVSS: case ZYDIS_MNEMONIC_VMOVSS: case ZYDIS_MNEMONIC_VMOVSD:
		return mem0 || mem1 ? CLASS_vmov : CLASS_mov_scalar;
	case ZYDIS_MNEMONIC_CMPSD:
		return zi->meta.category == ZYDIS_CATEGORY_STRINGOP ? CLASS_cmps : c;
	case ZYDIS_MNEMONIC_MOVD: case ZYDIS_MNEMONIC_MOVQ: case ZYDIS_MNEMONIC_VMOVD: case ZYDIS_MNEMONIC_VMOVQ:
		return movd_class(op);
	case ZYDIS_MNEMONIC_PSLLW: case ZYDIS_MNEMONIC_PSLLD: case ZYDIS_MNEMONIC_PSLLQ: case ZYDIS_MNEMONIC_PSRLW:
	case ZYDIS_MNEMONIC_PSRLD: case ZYDIS_MNEMONIC_PSRLQ: case ZYDIS_MNEMONIC_PSRAW: case ZYDIS_MNEMONIC_PSRAD:
	case ZYDIS_MNEMONIC_VPSLLW: case ZYDIS_MNEMONIC_VPSLLD: case ZYDIS_MNEMONIC_VPSLLQ: case ZYDIS_MNEMONIC_VPSRLW:
	case ZYDIS_MNEMONIC_VPSRLD: case ZYDIS_MNEMONIC_VPSRLQ: case ZYDIS_MNEMONIC_VPSRAW: case ZYDIS_MNEMONIC_VPSRAD:
		return op[zi->operand_count_visible - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? CLASS_vec_shift
		                                                                              : CLASS_vec_shift_reg;
	case ZYDIS_MNEMONIC_VBLENDVPS: case ZYDIS_MNEMONIC_VBLENDVPD: case ZYDIS_MNEMONIC_VPBLENDVB:
		return CLASS_blendv_vex;
	case ZYDIS_MNEMONIC_VAESENC: case ZYDIS_MNEMONIC_VAESENCLAST: case ZYDIS_MNEMONIC_VAESDEC:
	case ZYDIS_MNEMONIC_VAESDECLAST:
		return is_reg(&op[0], ZYDIS_REGCLASS_XMM) ? c : CLASS_vaes256;
	case ZYDIS_MNEMONIC_VPCLMULQDQ:
		return is_reg(&op[0], ZYDIS_REGCLASS_XMM) ? c : CLASS_pclmul256;
	case ZYDIS_MNEMONIC_CVTSI2SS: case ZYDIS_MNEMONIC_VCVTSI2SS:
		return op[zi->operand_count_visible - 1].size == 64 ? CLASS_cvt_from_gpr64_s : c;
	default:
		return c;
	}
}

/* *substitute: the instruction's family is one that no table describes (AVX-512, AMD's, ..). */
enum isa_class isa_classify(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, bool *substitute)
{
	enum isa_class c = isa_mnemonic_class[zi->mnemonic];
	*substitute = is_foreign(zi);
	if (c == CLASS_default)
		return *substitute ? CLASS_substitute : CLASS_default;
	c = refine(c, zi, op);
	if ((isa_classes[c].traits & T_STRING) &&
	    (zi->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
		c = rep_class(c);
	/* RDSSP and INCSSP without shadow stacks are NOPs to user code (SDM 2, "RDSSPD/RDSSPQ"). */
	if (c == CLASS_nop)
		*substitute = false;
	return c;
}
