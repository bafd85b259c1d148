/* SPDX-License-Identifier: GPL-2.0-or-later
 * What an instruction reads and writes: Zydis' operands, hidden ones included, as registers of enum isa_reg.
 *
 * Flags are two registers, CF and the rest, as the core renames them: INC and DEC do not change CF, rotates and BT
 * write only CF (their OF is not tracked).  Narrow writes (8 and 16 bits of a general-purpose register, SSE's
 * scalar forms) merge: the old value is a source, unless the core renames the byte separately.  32-bit writes do
 * not merge (SDM 1, "General-Purpose Registers in 64-Bit Mode").
 * x87 registers are numbered from the top of stack at the block's entry; MMX registers share the numbers.
 * Left out: MXCSR and the x87 control word as sources of arithmetic, segment bases, DF, AVX-512 masks of merging forms.
 */
#include "isa/isa_internal.h"
#include <string.h>

enum { ACT_READ = ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD,
       ACT_WRITE = ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE };

static void add(uint8_t *list, uint8_t *n, unsigned max, uint8_t reg)
{
	if (reg == REG_NONE)
		return;
	for (unsigned i = 0; i < *n; i++)
		if (list[i] == reg)
			return;
	if (*n < max)
		list[(*n)++] = reg;
}

static void add_source(struct operands *o, uint8_t reg, uint8_t operand)
{
	add(o->src, &o->n_src, sizeof o->src, reg);
	for (unsigned i = 0; i < o->n_src; i++)
		if (o->src[i] == reg)
			o->src_operand[i] |= operand;
}

static uint8_t x87_register(uint8_t top, unsigned st)
{
	return (uint8_t)(REG_X87 + ((top + st) & 7));
}

/* How far the instruction moves the top of stack: -1 for a push, +1 for a pop (SDM 1, "x87 FPU Data Register
 * Stack"). */
static int x87_delta(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_FLD: case ZYDIS_MNEMONIC_FILD: case ZYDIS_MNEMONIC_FBLD: case ZYDIS_MNEMONIC_FLD1:
	case ZYDIS_MNEMONIC_FLDL2E: case ZYDIS_MNEMONIC_FLDL2T: case ZYDIS_MNEMONIC_FLDLG2: case ZYDIS_MNEMONIC_FLDLN2:
	case ZYDIS_MNEMONIC_FLDPI: case ZYDIS_MNEMONIC_FLDZ: case ZYDIS_MNEMONIC_FPTAN: case ZYDIS_MNEMONIC_FSINCOS:
	case ZYDIS_MNEMONIC_FXTRACT: case ZYDIS_MNEMONIC_FDECSTP:
		return -1;
	case ZYDIS_MNEMONIC_FSTP: case ZYDIS_MNEMONIC_FSTPNCE: case ZYDIS_MNEMONIC_FISTP: case ZYDIS_MNEMONIC_FISTTP:
	case ZYDIS_MNEMONIC_FBSTP: case ZYDIS_MNEMONIC_FADDP: case ZYDIS_MNEMONIC_FSUBP: case ZYDIS_MNEMONIC_FSUBRP:
	case ZYDIS_MNEMONIC_FMULP: case ZYDIS_MNEMONIC_FDIVP: case ZYDIS_MNEMONIC_FDIVRP: case ZYDIS_MNEMONIC_FCOMP:
	case ZYDIS_MNEMONIC_FUCOMP: case ZYDIS_MNEMONIC_FICOMP: case ZYDIS_MNEMONIC_FCOMIP: case ZYDIS_MNEMONIC_FUCOMIP:
	case ZYDIS_MNEMONIC_FYL2X: case ZYDIS_MNEMONIC_FYL2XP1: case ZYDIS_MNEMONIC_FPATAN: case ZYDIS_MNEMONIC_FFREEP:
	case ZYDIS_MNEMONIC_FINCSTP:
		return 1;
	case ZYDIS_MNEMONIC_FCOMPP: case ZYDIS_MNEMONIC_FUCOMPP:
		return 2;
	default:
		return 0;
	}
}

static bool is_gpr_class(ZydisRegisterClass c)
{
	return c >= ZYDIS_REGCLASS_GPR8 && c <= ZYDIS_REGCLASS_GPR64;
}

static bool is_vec_class(ZydisRegisterClass c)
{
	return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM;
}

static bool is_legacy(const ZydisDecodedInstruction *zi)
{
	return zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

/* insn.whole for a register of which more than 8 bits are used. */
static uint8_t whole_bits(uint8_t reg, bool read, bool write)
{
	unsigned k = reg - (unsigned)REG_GPR;
	return k < 4 ? (uint8_t)((unsigned)read << k | (unsigned)write << (k + 4)) : 0;
}

static void register_operand(const struct isa *isa, enum isa_class cls, const ZydisDecodedInstruction *zi,
                             const ZydisDecodedOperand *op, uint8_t bit, uint8_t top_before, uint8_t top_after,
                             struct operands *o)
{
	uint32_t traits = isa_classes[cls].traits;
	ZydisRegister r = op->reg.value;
	uint8_t reg = r <= ZYDIS_REGISTER_MAX_VALUE ? isa->reg[r] : REG_NONE;
	if (reg == REG_NONE)
		return;
	if ((traits & T_STACK) && reg == REG_GPR + 4 && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return;
	ZydisRegisterClass c = ZydisRegisterGetClass(r);
	const bool apart = isa->o.high_bytes && r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH;
	if (is_gpr_class(c) && op->size > 8)
		o->whole |= whole_bits(reg, op->actions & ACT_READ, op->actions & ACT_WRITE);
	if (apart)
		reg = (uint8_t)(REG_HIGH + (reg - REG_GPR));
	uint8_t in = reg, out = reg;
	if (c == ZYDIS_REGCLASS_X87) {
		in = x87_register(top_before, reg - REG_X87);
		/* An explicit ST(i) is numbered before the push; ST0 and ST1 as hidden results after it. */
		bool pushed = top_after == ((top_before - 1) & 7);
		out = pushed ? x87_register(top_after, reg - REG_X87) : in;
	}
	bool late = (traits & T_VEC_LATE) && is_vec_class(c);
	if ((op->actions & ACT_READ) && late)
		add(o->late, &o->n_late, sizeof o->late, in);
	else if (op->actions & ACT_READ)
		add_source(o, in, bit);
	if (!(op->actions & ACT_WRITE))
		return;
	add(o->dst, &o->n_dst, sizeof o->dst, out);
	if (is_gpr_class(c) && op->size <= 16) {
		o->partial = 1;
		if (!apart && !(isa->o.bytes && op->size == 8))
			add(o->merge, &o->n_merge, sizeof o->merge, out);
	}
	if (is_vec_class(c) && is_legacy(zi) && op->size < 128 && !(traits & T_VEC_ZERO))
		add(o->merge, &o->n_merge, sizeof o->merge, out);
	if ((op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) || (traits & T_DST_READ))
		add(o->merge, &o->n_merge, sizeof o->merge, out);
}

static void memory_operand(const struct isa *isa, enum isa_class cls, const ZydisDecodedOperand *op, uint8_t bit,
                           struct operands *o)
{
	const ZydisDecodedOperandMem *zm = &op->mem;
	struct mem m = {
		.base = isa->reg[zm->base], .index = isa->reg[zm->index], .size = (uint16_t)(op->size / 8),
		.plain = zm->index == ZYDIS_REGISTER_NONE,
		.scaled = zm->index != ZYDIS_REGISTER_NONE &&
			(zm->scale > 1 ||
				(zm->base != ZYDIS_REGISTER_NONE && zm->disp.has_displacement && zm->disp.value)),
		.far_disp = zm->disp.has_displacement && (zm->disp.value < 0 || zm->disp.value >= 2048),
		.operand = bit,
		.read = (op->actions & ACT_READ) != 0, .write = (op->actions & ACT_WRITE) != 0,
	};
	o->whole |= whole_bits(m.base, true, false) | whole_bits(m.index, true, false);
	if (zm->type == ZYDIS_MEMOP_TYPE_AGEN || (isa_classes[cls].traits & T_NO_MEM)) {
		add_source(o, m.base, bit);
		add_source(o, m.index, bit);
		return;
	}
	if ((m.read || m.write) && o->n_mem < sizeof o->mem / sizeof *o->mem)
		o->mem[o->n_mem++] = m;
}

static unsigned width_of_bits(unsigned bits)
{
	switch (bits) {
	case 8: return WIDTH_8;
	case 16: return WIDTH_16;
	case 32: return WIDTH_32;
	case 64: return WIDTH_64;
	case 80: return WIDTH_80;
	case 128: return WIDTH_128;
	case 256: return WIDTH_256;
	case 512: return WIDTH_512;
	default: return WIDTH_NONE;
	}
}

/* Bits of a vector register; 0: it is another kind of register. */
static unsigned register_bits(ZydisRegisterClass c)
{
	switch (c) {
	case ZYDIS_REGCLASS_MMX: return 64;
	case ZYDIS_REGCLASS_XMM: return 128;
	case ZYDIS_REGCLASS_YMM: return 256;
	case ZYDIS_REGCLASS_ZMM: return 512;
	default: return 0;
	}
}

/* The width of the widest vector register; for x87 that of the memory operand; otherwise the operand size. */
static unsigned width(enum isa_class cls, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	unsigned vec = 0;
	for (unsigned i = 0; i < zi->operand_count; i++) {
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			ZydisRegisterClass c = ZydisRegisterGetClass(op[i].reg.value);
			unsigned w = register_bits(c);
			vec = w > vec ? w : vec;
		} else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && (isa_classes[cls].is & SPMU_IS(X87))) {
			return width_of_bits(op[i].size);
		}
	}
	return width_of_bits(vec ? vec : zi->operand_width);
}

static uint8_t flag_groups(uint32_t mask)
{
	const uint32_t rest =
		ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_AF;
	return (uint8_t)((mask & rest ? 1 : 0) | (mask & ZYDIS_CPUFLAG_CF ? 2 : 0));
}

static void flags(enum isa_class cls, const ZydisDecodedInstruction *zi, struct operands *o)
{
	const ZydisAccessedFlags *f = zi->cpu_flags;
	if (!f || (isa_classes[cls].traits & (T_FAR | T_NO_REGS)))
		return;
	uint32_t written = f->modified | f->set_0 | f->set_1 | f->undefined;
	o->flags_read = flag_groups(f->tested);
	/* ZF decides for the group: an instruction that writes flags but not ZF (rotates, BT) writes CF, or only OF. */
	o->flags_written = (uint8_t)((written & ZYDIS_CPUFLAG_ZF ? 1 : 0) | (written & ZYDIS_CPUFLAG_CF ? 2 : 0));
	if (zi->mnemonic == ZYDIS_MNEMONIC_ADOX) {	/* its carry is OF: a dependence chain of its own */
		o->flags_read = o->flags_written = 1;
	}
	if (isa_classes[cls].traits & T_FLAGS_MERGE)
		o->flags_read |= o->flags_written;
	if (o->flags_written == 1 && !(written & ZYDIS_CPUFLAG_SF))	/* only ZF, as CMPXCHG8B */
		o->flags_read |= 1;
}

void isa_operands(const struct isa *isa, enum isa_class cls, const ZydisDecodedInstruction *zi,
                  const ZydisDecodedOperand *op, uint8_t *top, struct operands *o)
{
	memset(o, 0, sizeof *o);
	uint8_t before = *top, after = (uint8_t)((*top + x87_delta(zi->mnemonic)) & 7);
	*top = after;
	if (zi->mnemonic == ZYDIS_MNEMONIC_FNINIT || zi->mnemonic == ZYDIS_MNEMONIC_EMMS)
		*top = 0;
	o->width = (uint8_t)width(cls, zi, op);
	if (isa_classes[cls].traits & T_NO_REGS)
		return;
	for (unsigned i = 0; i < zi->operand_count; i++) {
		uint8_t bit = i < zi->operand_count_visible && i < 4 ? (uint8_t)(1 << i) : 0;
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			register_operand(isa, cls, zi, &op[i], bit, before, after, o);
		else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			memory_operand(isa, cls, &op[i], bit, o);
	}
	flags(cls, zi, o);
	if (isa_classes[cls].traits & T_X87_STATUS)
		add(o->dst, &o->n_dst, sizeof o->dst, REG_X87_STATUS);
	if (cls == CLASS_fnstsw)
		add(o->src, &o->n_src, sizeof o->src, REG_X87_STATUS);
	else if (cls == CLASS_stmxcsr)
		add(o->src, &o->n_src, sizeof o->src, REG_MXCSR);
	else if (cls == CLASS_ldmxcsr)
		add(o->dst, &o->n_dst, sizeof o->dst, REG_MXCSR);
	bool read = false, write = false;
	for (unsigned i = 0; i < o->n_mem; i++) {
		read |= o->mem[i].read;
		write |= o->mem[i].write;
	}
	o->form = read ? (write ? FORM_RMW : FORM_LOAD) : write ? FORM_STORE : FORM_REG;
}
