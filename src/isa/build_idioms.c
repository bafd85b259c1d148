/* SPDX-License-Identifier: GPL-2.0-or-later
 * What rename does without executing: idioms whose operands are equal, copies of registers, additions of constants.
 */
#include "isa/build.h"

/* True if the result does not depend on the operands because two of them are equal.  *ones: PCMPEQ, which still
 * executes. */
static bool is_idiom(const struct isa *isa, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
	bool *ones)
{
	*ones = false;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_SUB:
		if (zi->operand_width < 32 && isa->idioms != IDIOMS_NARROW)
			return false;
		break;
	case ZYDIS_MNEMONIC_PXOR: case ZYDIS_MNEMONIC_VPXOR: case ZYDIS_MNEMONIC_XORPS: case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VXORPS: case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_PSUBB: case ZYDIS_MNEMONIC_PSUBW: case ZYDIS_MNEMONIC_PSUBD: case ZYDIS_MNEMONIC_PSUBQ:
	case ZYDIS_MNEMONIC_VPSUBB: case ZYDIS_MNEMONIC_VPSUBW: case ZYDIS_MNEMONIC_VPSUBD: case ZYDIS_MNEMONIC_VPSUBQ:
		break;
	case ZYDIS_MNEMONIC_PCMPGTB: case ZYDIS_MNEMONIC_PCMPGTW: case ZYDIS_MNEMONIC_PCMPGTD:
	case ZYDIS_MNEMONIC_PCMPGTQ:
	case ZYDIS_MNEMONIC_VPCMPGTB: case ZYDIS_MNEMONIC_VPCMPGTW: case ZYDIS_MNEMONIC_VPCMPGTD:
	case ZYDIS_MNEMONIC_VPCMPGTQ: case ZYDIS_MNEMONIC_PSUBSB: case ZYDIS_MNEMONIC_PSUBSW:
	case ZYDIS_MNEMONIC_PSUBUSB:
	case ZYDIS_MNEMONIC_PSUBUSW: case ZYDIS_MNEMONIC_VPSUBSB: case ZYDIS_MNEMONIC_VPSUBSW:
	case ZYDIS_MNEMONIC_VPSUBUSB: case ZYDIS_MNEMONIC_VPSUBUSW:
		if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(op[0].reg.value) == ZYDIS_REGCLASS_MMX)
			return false;
		break;
	case ZYDIS_MNEMONIC_PCMPEQB: case ZYDIS_MNEMONIC_PCMPEQW: case ZYDIS_MNEMONIC_PCMPEQD:
	case ZYDIS_MNEMONIC_PCMPEQQ:
	case ZYDIS_MNEMONIC_VPCMPEQB: case ZYDIS_MNEMONIC_VPCMPEQW: case ZYDIS_MNEMONIC_VPCMPEQD:
	case ZYDIS_MNEMONIC_VPCMPEQQ:
		if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(op[0].reg.value) == ZYDIS_REGCLASS_MMX)
			return false;
		*ones = true;
		break;
	default:
		return false;
	}
	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY && zi->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX)
		return false;
	if (isa->idioms == IDIOMS_NONE ||
	    (isa->idioms == IDIOMS_INTEGER && zi->mnemonic != ZYDIS_MNEMONIC_XOR && zi->mnemonic != ZYDIS_MNEMONIC_SUB))
		return false;
	unsigned a = zi->operand_count_visible == 3 ? 1 : 0;
	return op[a].type == ZYDIS_OPERAND_TYPE_REGISTER && op[a + 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[a].reg.value == op[a + 1].reg.value;
}

void build_equal_operands(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	const struct isa *isa = c->isa;
	const struct row *shld = isa_row(isa, CLASS_shld, WIDTH_NONE, FORM_REG);
	bool ones;
	if (c->cls == CLASS_shld && shld->flags & ROW_ROTATES && c->o.form == FORM_REG &&
	    op[0].reg.value == op[1].reg.value)
		c->row = isa_row(isa, CLASS_rotate, c->o.width, FORM_REG);
	if (isa->o.zero_idioms && is_idiom(isa, zi, op, &ones)) {
		c->o.n_src = c->o.n_merge = 0;
		c->o.whole &= 0xf0;
		if (!ones && isa->idioms == IDIOMS_ALL && ZydisRegisterGetClass(op[0].reg.value) != ZYDIS_REGCLASS_MMX)
			c->row = isa_row(isa, CLASS_zero_idiom, c->o.width, FORM_REG);
	}
}

bool build_zeroes(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	return (zi->mnemonic == ZYDIS_MNEMONIC_XOR || zi->mnemonic == ZYDIS_MNEMONIC_SUB) &&
		op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		op[0].reg.value == op[1].reg.value && zi->operand_width >= 32;
}

/* Register copies that rename eliminates (the row's elim flag): whole registers, two different ones. */
static bool is_eliminated_copy(const struct build *c)
{
	const struct isa_options *o = &c->isa->o;
	bool on = o->moves || (o->vector_moves && c->o.src[0] >= REG_VEC);
	return (c->row->flags & ROW_ELIM) && on && c->o.form == FORM_REG && c->o.n_src == 1 && c->o.n_dst == 1 &&
	       !c->o.n_merge && c->o.src[0] != c->o.dst[0];
}

/* True for ADD, SUB, INC, DEC and LEA that only add a constant to a 64-bit register, if the table says that rename does
 * that.  *constant: what is added. */
static bool adds_constant(const struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
	int64_t *constant)
{
	const struct isa *isa = c->isa;
	const struct row *r = isa_row(isa, CLASS_add_imm, WIDTH_64, FORM_REG);
	bool lea = zi->mnemonic == ZYDIS_MNEMONIC_LEA;
	if ((c->cls != CLASS_add_imm && !lea) || !r->count || isa->specs[r->first].kind != UOP_ELIMINATED)
		return false;
	if (lea) {
		const ZydisDecodedOperandMem *m = &op[1].mem;
		if (zi->operand_width != 64 || m->index != ZYDIS_REGISTER_NONE ||
		    ZydisRegisterGetClass(m->base) != ZYDIS_REGCLASS_GPR64)
			return false;
		*constant = m->disp.has_displacement ? m->disp.value : 0;
	} else if (zi->mnemonic == ZYDIS_MNEMONIC_INC || zi->mnemonic == ZYDIS_MNEMONIC_DEC) {
		*constant = zi->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
	} else {
		*constant = zi->mnemonic == ZYDIS_MNEMONIC_SUB ? -op[1].imm.value.s : op[1].imm.value.s;
	}
	return c->o.n_src >= 1 && c->o.n_dst >= 1;
}

/* Emits a uop that rename does if it can; otherwise it executes on the ports of the class `executes`. */
static void emit_eliminated(struct build *c, enum isa_class executes, int64_t constant)
{
	struct uop *u = build_emit(c, UOP_ELIMINATED, 0, 0, true);
	if (!u)
		return;
	const struct row *r = isa_row(c->isa, executes, c->o.width, FORM_REG);
	u->src[0] = c->o.src[0];
	u->dst[0] = c->o.dst[0];
	u->is = c->is_all;
	u->constant = (int16_t)constant;
	u->flags |= UOP_ADDS;
	build_write_flags(c, u);
	if (r->count == 1) {
		u->ports = c->isa->specs[r->first].ports;
		u->latency = c->isa->specs[r->first].latency;
	}
}

static void emit_copy(struct build *c)
{
	struct uop *u = build_emit(c, UOP_ELIMINATED, 0, 0, true);
	if (!u)
		return;
	u->src[0] = c->o.src[0];
	u->dst[0] = c->o.dst[0];
	u->is = c->is_all | (c->o.src[0] >= REG_VEC ? SPMU_IS(MOVE_VECTOR) : SPMU_IS(MOVE_INT));
	if (c->isa->o.moves_limited && c->row->count == 1) {
		u->ports = build_specs(c)->ports;
		u->latency = build_specs(c)->latency;
	}
}

bool build_renamed(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	const int64_t limit = c->isa->o.constants;
	bool copy = is_eliminated_copy(c);
	int64_t constant = 0;
	bool adds = adds_constant(c, zi, op, &constant), early = adds && constant > -limit && constant < limit;
	if (adds && !early && c->cls == CLASS_add_imm)
		c->row = isa_row(c->isa, CLASS_alu, c->o.width, FORM_REG);
	if (early)
		emit_eliminated(c, c->cls == CLASS_add_imm ? CLASS_alu : c->cls, constant);
	else if (copy)
		emit_copy(c);
	return early || copy;
}
