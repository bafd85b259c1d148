/* SPDX-License-Identifier: GPL-2.0-or-later
 * Operands as objdump writes them: which ones are shown (also those of string instructions, which the manuals leave
 * implicit), in which order, and each one's text in AT&T or Intel syntax.
 */
#include "isa/disasm/disasm.h"
#include <string.h>

enum { OPERANDS_MAX = 6 };

static unsigned long long mask(uint64_t value, unsigned bits)
{
	return bits < 64 ? value & ((1ull << bits) - 1) : value;
}

static void add_register(const struct disasm *d, ZydisRegister r, struct text *t)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);
	ZyanI8 id = ZydisRegisterGetId(r);
	const char *percent = d->att ? "%" : "";
	if (c == ZYDIS_REGCLASS_X87)
		text_add(t, "%sst(%d)", percent, id);
	else if (c == ZYDIS_REGCLASS_DEBUG)
		text_add(t, d->att ? "%%db%d" : "dr%d", id);
	else
		text_add(t, "%s%s", percent, ZydisRegisterGetString(r));
}

/* ---- memory ---- */

static void add_signed(int64_t value, struct text *t)
{
	if (value < 0)
		text_add(t, "-0x%llx", 0 - (unsigned long long)value);
	else
		text_add(t, "0x%llx", (unsigned long long)value);
}

static const char *pointer_word(const struct disasm *d, const ZydisDecodedOperand *op)
{
	bool broadcast = d->zi.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
		d->zi.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !d->zi.avx.broadcast.is_static;
	if (d->flags & N_NO_PTR || op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64)
		return "";
	/* Zydis gives the size of a cache line here. */
	switch (d->zi.meta.category == ZYDIS_CATEGORY_CLFLUSHOPT || d->zi.mnemonic == ZYDIS_MNEMONIC_CLFLUSH ||
	        d->zi.mnemonic == ZYDIS_MNEMONIC_CLWB ? 8 : op->size) {
	case 8:   return "BYTE PTR ";
	case 16:  return broadcast ? "WORD BCST " : "WORD PTR ";
	case 32:  return broadcast ? "DWORD BCST " : "DWORD PTR ";
	case 48:  return "FWORD PTR ";
	case 64:  return broadcast ? "QWORD BCST " : "QWORD PTR ";
	case 80:  return "TBYTE PTR ";
	case 128: return "XMMWORD PTR ";
	case 256: return "YMMWORD PTR ";
	case 512: return "ZMMWORD PTR ";
	default:  return "";
	}
}

static ZydisRegister segment_of(uint8_t prefix)
{
	switch (prefix) {
	case 0x26: return ZYDIS_REGISTER_ES;
	case 0x2e: return ZYDIS_REGISTER_CS;
	case 0x36: return ZYDIS_REGISTER_SS;
	case 0x3e: return ZYDIS_REGISTER_DS;
	case 0x64: return ZYDIS_REGISTER_FS;
	default:   return ZYDIS_REGISTER_GS;
	}
}

/* True if a segment was written. */
static bool add_segment(const struct disasm *d, struct text *t)
{
	int i = disasm_segment_prefix(d);
	if (i == PREFIX_NONE)
		return false;
	add_register(d, segment_of(d->prefix[i]), t);
	text_add(t, ":");
	return true;
}

static void add_memory(struct disasm *d, const ZydisDecodedOperand *op, struct text *t)
{
	ZydisRegister base = op->mem.base, index = op->mem.index;
	bool relative = base == ZYDIS_REGISTER_RIP || base == ZYDIS_REGISTER_EIP;
	bool sib = d->zi.attributes & ZYDIS_ATTRIB_HAS_SIB, narrow = d->zi.address_width != (d->wide ? 64 : 32);
	bool has_disp = d->zi.raw.disp.size != 0;
	unsigned scale = d->zi.raw.sib.scale;
	int64_t disp = op->mem.disp.value;
	/* SIB base 101 with mod 00 means no base, also with REX.B (SDM vol. 2, table "32-Bit Addressing Forms with
	 * the SIB Byte"); Zydis 4.0.0 makes it R13. */
	if (sib && d->zi.raw.modrm.mod == 0 && d->zi.raw.sib.base == 5) {
		base = ZYDIS_REGISTER_NONE;
		disp = d->zi.raw.disp.value;
	}
	const char *zero = d->zi.address_width == 64 ? "riz" : "eiz";	/* the index field says: no index */

	if (!d->att)
		text_add(t, "%s", pointer_word(d, op));
	bool segment = add_segment(d, t);
	/* objdump shows an empty index field if the same address has a shorter encoding without it. */
	bool show_zero = sib && index == ZYDIS_REGISTER_NONE &&
	                 (scale || (base == ZYDIS_REGISTER_NONE ? !d->wide || narrow : d->zi.raw.sib.base != 4));
	bool bracket = base != ZYDIS_REGISTER_NONE || index != ZYDIS_REGISTER_NONE || show_zero;
	if (relative) {
		d->has_comment = true;
		d->comment = d->addr + d->zi.length + (uint64_t)disp;
	}
	if (!bracket) {
		if (!d->att && !segment)
			text_add(t, "ds:");
		bool offset = op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64;
		text_add(t, "0x%llx", mask((uint64_t)disp, d->wide && !(narrow && offset) ? 64 : d->zi.address_width));
		return;
	}
	if (d->att && has_disp)
		add_signed(disp, t);
	text_add(t, d->att ? "(" : "[");
	if (base != ZYDIS_REGISTER_NONE)
		add_register(d, base, t);
	if (index != ZYDIS_REGISTER_NONE || show_zero) {
		if (d->att || base != ZYDIS_REGISTER_NONE)
			text_add(t, d->att ? "," : "+");
		if (index != ZYDIS_REGISTER_NONE)
			add_register(d, index, t);
		else
			text_add(t, "%s%s", d->att ? "%" : "", zero);
		if (d->zi.address_width != 16)
			text_add(t, d->att ? ",%u" : "*%u", 1u << scale);
	}
	if (!d->att && has_disp && relative) {
		text_add(t, "+0x%llx", mask((uint64_t)disp, d->wide ? 64 : 32));
	} else if (!d->att && has_disp) {
		if (disp >= 0)
			text_add(t, "+");
		add_signed(disp, t);
	}
	text_add(t, d->att ? ")" : "]");
}

/* Operands of string instructions are always shown with their segment. */
static void add_string_memory(const struct disasm *d, const ZydisDecodedOperand *op, struct text *t)
{
	if (!d->att)
		text_add(t, "%s", pointer_word(d, op));
	add_register(d, op->mem.segment, t);
	text_add(t, d->att ? ":(" : ":[");
	add_register(d, op->mem.base, t);
	text_add(t, d->att ? ")" : "]");
}

/* ---- the rest ---- */

static void add_immediate(const struct disasm *d, const ZydisDecodedOperand *op, struct text *t)
{
	if (op->imm.is_relative) {
		uint64_t target = d->addr + d->zi.length + op->imm.value.u;
		disasm_address(d, d->zi.operand_width == 16 ? target & 0xffff : target, t);
		return;
	}
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT) {	/* a shift by one */
		text_add(t, "1");
		return;
	}
	unsigned bits = op->imm.is_signed ? d->zi.operand_width : 64;
	text_add(t, d->att ? "$0x%llx" : "0x%llx", mask(op->imm.value.u, bits));
}

static const char *rounding(const struct disasm *d)
{
	switch (d->zi.avx.rounding.mode) {
	case ZYDIS_ROUNDING_MODE_RN: return d->zi.avx.has_sae ? "{rn-sae}" : "";
	case ZYDIS_ROUNDING_MODE_RD: return "{rd-sae}";
	case ZYDIS_ROUNDING_MODE_RU: return "{ru-sae}";
	case ZYDIS_ROUNDING_MODE_RZ: return "{rz-sae}";
	default: return d->zi.avx.has_sae ? "{sae}" : "";
	}
}

static void add_broadcast(const struct disasm *d, struct text *t)
{
	static const struct { ZydisBroadcastMode mode; const char *text; } words[] = {
		{ ZYDIS_BROADCAST_MODE_1_TO_2, "{1to2}" }, { ZYDIS_BROADCAST_MODE_1_TO_4, "{1to4}" },
		{ ZYDIS_BROADCAST_MODE_1_TO_8, "{1to8}" }, { ZYDIS_BROADCAST_MODE_1_TO_16, "{1to16}" },
		{ ZYDIS_BROADCAST_MODE_1_TO_32, "{1to32}" },
	};
	if (d->zi.encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX || d->zi.avx.broadcast.is_static)
		return;
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i].mode == d->zi.avx.broadcast.mode)
			text_add(t, "%s", words[i].text);
}

static void add_mask(const struct disasm *d, struct text *t)
{
	if (d->zi.encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return;
	if (d->zi.avx.mask.reg != ZYDIS_REGISTER_NONE && d->zi.avx.mask.reg != ZYDIS_REGISTER_K0) {
		text_add(t, "{");
		add_register(d, d->zi.avx.mask.reg, t);
		text_add(t, "}");
	}
	if (d->zi.raw.evex.z)
		text_add(t, "{z}");
}

/* MOV to a segment register: the manual says r/m16, but objdump shows the operand width. */
static bool moved_to_segment(const struct disasm *d, const ZydisDecodedOperand *op)
{
	return d->zi.mnemonic == ZYDIS_MNEMONIC_MOV && d->zi.opcode == 0x8e && op == &d->op[1] &&
	       d->zi.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
}

static ZydisRegister at_width(const struct disasm *d, ZydisRegister r)
{
	ZydisRegisterClass c = d->zi.operand_width == 64 ? ZYDIS_REGCLASS_GPR64
	                       : d->zi.operand_width == 32 ? ZYDIS_REGCLASS_GPR32 : ZYDIS_REGCLASS_GPR16;
	return ZydisRegisterEncode(c, (ZyanU8)ZydisRegisterGetId(r));
}

static void add_operand(struct disasm *d, const ZydisDecodedOperand *op, bool first, struct text *t)
{
	bool port = d->zi.mnemonic == ZYDIS_MNEMONIC_IN || d->zi.mnemonic == ZYDIS_MNEMONIC_OUT ||
	            d->zi.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
	if (d->att && disasm_indirect(d))
		text_add(t, "*");
	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		if (op->reg.value == ZYDIS_REGISTER_ST0 && op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			text_add(t, d->att ? "%%st" : "st");
		else if (port && d->att && op->reg.value == ZYDIS_REGISTER_DX)
			text_add(t, "(%%dx)");
		else
			add_register(d, moved_to_segment(d, op) ? at_width(d, op->reg.value) : op->reg.value, t);
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			add_string_memory(d, op, t);
		else
			add_memory(d, op, t);
		if (d->att)
			add_broadcast(d, t);
		break;
	case ZYDIS_OPERAND_TYPE_POINTER:
		text_add(t, d->att ? "$0x%x,$0x%x" : "0x%x:0x%x", op->ptr.segment, op->ptr.offset);
		break;
	default:
		add_immediate(d, op, t);
	}
	if (first)
		add_mask(d, t);
}

/* ---- which operands are shown ---- */

static bool skipped(const struct disasm *d, unsigned i)
{
	const ZydisDecodedOperand *op = &d->op[i];
	if ((int)i == d->predicate)
		return true;
	/* D0 and D1: a shift by one that has no operand for it. */
	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT && d->att)
		return true;
	if ((d->zi.mnemonic == ZYDIS_MNEMONIC_FUCOM || d->zi.mnemonic == ZYDIS_MNEMONIC_FUCOMP) &&
	    op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT)
		return true;
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && d->zi.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return true;
	return d->zi.mnemonic == ZYDIS_MNEMONIC_NOP && op->encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM;
}

static bool is_accumulator_or_port(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		(op->reg.value == ZYDIS_REGISTER_DX || op->reg.value == ZYDIS_REGISTER_AL ||
			op->reg.value == ZYDIS_REGISTER_AX || op->reg.value == ZYDIS_REGISTER_EAX ||
			op->reg.value == ZYDIS_REGISTER_RAX);
}

/* LODS, SCAS and OUTS lead with their register, STOS and INS end with it; MOVS and CMPS have none. */
static unsigned choose_string(const struct disasm *d, const ZydisDecodedOperand **list)
{
	uint8_t pair = d->zi.opcode | 1;
	bool leads = pair == 0xad || pair == 0xaf || pair == 0x6f;
	const ZydisDecodedOperand *reg = NULL;
	unsigned n = 0;
	for (unsigned i = 0; i < d->zi.operand_count && !reg; i++)
		if (is_accumulator_or_port(&d->op[i]))
			reg = &d->op[i];
	if (reg && leads)
		list[n++] = reg;
	for (unsigned i = 0; i < d->zi.operand_count && n < OPERANDS_MAX - 1; i++)
		if (d->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			list[n++] = &d->op[i];
	if (reg && !leads)
		list[n++] = reg;
	return n;
}

/* Lists the operands in Intel's order. */
static unsigned choose(const struct disasm *d, const ZydisDecodedOperand **list)
{
	unsigned n = 0;
	if (d->string)
		return choose_string(d, list);
	for (unsigned i = 0; i < d->zi.operand_count_visible && n < OPERANDS_MAX; i++)
		if (!skipped(d, i))
			list[n++] = &d->op[i];
	for (unsigned i = d->zi.operand_count_visible;
	    i < d->zi.operand_count && n < OPERANDS_MAX && d->flags & N_IMPLICIT; i++)
		if (d->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(d->op[i].reg.value) != ZYDIS_REGCLASS_FLAGS)
			list[n++] = &d->op[i];
	return n;
}

/* XCHG AX,AX is NOP with an operand-size prefix. */
static bool fixed(const struct disasm *d, struct text *t)
{
	if (d->zi.mnemonic == ZYDIS_MNEMONIC_NOP && d->zi.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
		if (d->zi.operand_width == 16)
			text_add(t, d->att ? "%%ax,%%ax" : "ax,ax");
		return true;
	}
	if (d->zi.mnemonic == ZYDIS_MNEMONIC_XLAT) {
		int i = disasm_segment_prefix(d);
		const char *base = d->zi.address_width == 64 ? "rbx" : d->zi.address_width == 32 ? "ebx" : "bx";
		text_add(t, d->att ? "" : "BYTE PTR ");
		add_register(d, i == PREFIX_NONE ? ZYDIS_REGISTER_DS : segment_of(d->prefix[i]), t);
		text_add(t, d->att ? ":(%%%s)" : ":[%s]", base);
		return true;
	}
	return false;
}

void disasm_operands(struct disasm *d, struct text *t)
{
	const ZydisDecodedOperand *list[OPERANDS_MAX];
	if (fixed(d, t))
		return;
	unsigned n = choose(d, list);
	bool reversed = d->att && !(d->flags & N_INTEL_ORDER);
	const char *round = d->zi.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ? rounding(d) : "";
	bool comma = false;
	for (unsigned i = 0; i < n; i++) {
		const ZydisDecodedOperand *op = list[reversed ? n - 1 - i : i];
		bool immediate = op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
		/* The rounding mode stands between registers and immediates. */
		if (*round && d->att != immediate) {
			text_add(t, comma && d->att ? ",%s" : "%s", round);
			round = "";
			comma = true;
		}
		if (comma)
			text_add(t, ",");
		add_operand(d, op, op == list[0], t);
		comma = true;
	}
	text_add(t, d->att && *round ? ",%s" : "%s", round);
}
