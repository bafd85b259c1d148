/* SPDX-License-Identifier: GPL-2.0-or-later
 * The mnemonic as objdump spells it: its name from disasm.def, AT&T's width suffixes, and predicates that are part of
 * the name.
 */
#include "isa/disasm/disasm.h"
#include <stdio.h>
#include <string.h>

const struct name_entry isa_names[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define N(mnemonic, att, intel, flags) [ZYDIS_MNEMONIC_##mnemonic] = { att, intel, flags },
#include "isa/disasm/disasm.def"
#undef N
};

static char integer_suffix(unsigned bits)
{
	return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'l' : 'q';
}

/* ---- predicates ---- */

static const char *const compare_sse[32] = {
	"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", "eq_uq", "nge", "ngt", "false", "neq_oq", "ge",
	"gt", "true", "eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s", "eq_us",
	"nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us",
};
static const char *const compare_integer[8] = { "eq", "lt", "le", NULL, "neq", "nlt", "nle", NULL };
static const char *const compare_xop[8] = { "lt", "le", "gt", "ge", "eq", "neq", "false", "true" };

/* Writes the name with the predicate inside, if this value is a known predicate. */
static bool predicate_name(struct disasm *d, const char *name, struct text *t)
{
	int last = d->zi.operand_count_visible - 1;
	if (last < 0 || d->op[last].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	uint64_t value = d->zi.raw.imm[0].value.u & 0xff;
	size_t length = strlen(name);
	const char *word = NULL;
	if (strstr(name, "clmulqdq")) {
		static const char *const half[] = { "lqlq", "hqlq", "lqhq", "hqhq" };
		if (value & ~0x11ull)
			return false;
		text_add(t, "%.*s%sdq", (int)(length - 3), name, half[(value & 1) | (value >> 3 & 2)]);
	} else if (!strncmp(name, "vpcom", 5)) {
		if (value > 7)
			return false;
		text_add(t, "vpcom%s%s", compare_xop[value], name + 5);
	} else if (!strncmp(name, "vpcmp", 5)) {
		word = value < 8 ? compare_integer[value] : NULL;
		if (!word)
			return false;
		text_add(t, "vpcmp%s%s", word, name + 5);
	} else {
		bool vex = *name == 'v';
		if (value >= (vex ? 32u : 8u))
			return false;
		text_add(t, "%.*s%s%s", vex ? 4 : 3, name, compare_sse[value], name + (vex ? 4 : 3));
	}
	d->predicate = last;
	return true;
}

/* ---- suffixes ---- */

/* True if a register operand shows the width (CL of a shift and DX of a port do not). */
static bool register_tells(const struct disasm *d)
{
	for (unsigned i = 0; i < d->zi.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &d->op[i];
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && !(op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT &&
		                                                 op->reg.value == ZYDIS_REGISTER_CL))
			return true;
	}
	return false;
}

static void add_suffix(const struct disasm *d, struct text *t)
{
	const ZydisDecodedOperand *memory = disasm_memory(d);
	if (!memory)
		return;
	unsigned bits = memory->size;
	if (d->flags & N_SUFFIX && (!register_tells(d) || d->zi.mnemonic == ZYDIS_MNEMONIC_NOP))
		text_add(t, "%c", integer_suffix(bits));
	else if (d->flags & N_GPR && (d->wide || d->zi.mnemonic == ZYDIS_MNEMONIC_CRC32))
		text_add(t, "%c", integer_suffix(bits));
	else if (d->flags & N_FLOAT)
		text_add(t, "%c", bits == 32 ? 's' : bits == 64 ? 'l' : 't');
	else if (d->flags & N_INT)
		text_add(t, "%s", bits == 16 ? "s" : bits == 32 ? "l" : "ll");
	else if (d->flags & N_VECTOR && d->zi.avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID)
		text_add(t, "%c", bits == 128 ? 'x' : bits == 256 ? 'y' : 'z');
}

/* ---- exceptions ---- */

/* If the result goes to st(i), AT&T's sub is Intel's subr, as in the first assemblers. */
static const char *exchanged(const struct disasm *d)
{
	switch (d->zi.mnemonic) {
	case ZYDIS_MNEMONIC_FSUBP:  return "fsubrp";
	case ZYDIS_MNEMONIC_FSUBRP: return "fsubp";
	case ZYDIS_MNEMONIC_FDIVP:  return "fdivrp";
	case ZYDIS_MNEMONIC_FDIVRP: return "fdivp";
	default: break;
	}
	if (d->zi.opcode != 0xdc || disasm_memory(d))
		return NULL;
	switch (d->zi.mnemonic) {
	case ZYDIS_MNEMONIC_FSUB:  return "fsubr";
	case ZYDIS_MNEMONIC_FSUBR: return "fsub";
	case ZYDIS_MNEMONIC_FDIV:  return "fdivr";
	case ZYDIS_MNEMONIC_FDIVR: return "fdiv";
	default: return NULL;
	}
}

static bool is_far(const struct disasm *d) { return d->zi.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR; }

/* True if there is a 64-bit immediate or address. */
static bool is_movabs(const struct disasm *d)
{
	if (d->zi.mnemonic != ZYDIS_MNEMONIC_MOV || !d->wide)
		return false;
	if (d->zi.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false;
	return (d->zi.opcode >= 0xa0 && d->zi.opcode <= 0xa3 && d->zi.address_width == 64) ||
	       (d->zi.opcode >= 0xb8 && d->zi.opcode <= 0xbf && d->zi.operand_width == 64);
}

static const char *branch_suffix(const struct disasm *d)
{
	bool returns = d->zi.mnemonic == ZYDIS_MNEMONIC_RET;
	if (d->zi.operand_width == 16 && (returns || (d->att && (!d->wide || is_far(d) || disasm_indirect(d)))))
		return "w";
	return d->zi.operand_width == 64 && is_far(d) && (returns || d->att) ? "q" : "";
}

static bool general(const struct disasm *d)
{
	return d->zi.operand_count_visible && d->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		disasm_is_gpr(d->op[0].reg.value);
}

static bool special(struct disasm *d, struct text *t)
{
	const char *name;
	unsigned to = d->op[0].size;
	switch (d->zi.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVZX:
		if (!d->att)
			return false;
		text_add(t, "mov%c%c%c", d->zi.mnemonic == ZYDIS_MNEMONIC_MOVSX ? 's' : 'z',
			integer_suffix(d->op[1].size), integer_suffix(to));
		return true;
	case ZYDIS_MNEMONIC_MOVSXD:
		text_add(t, d->att && to == 64 ? "movslq" : "movsxd");
		return true;
	case ZYDIS_MNEMONIC_MOVSD: case ZYDIS_MNEMONIC_CMPSD:
		if (!d->string)
			return false;
		name = d->zi.mnemonic == ZYDIS_MNEMONIC_MOVSD ? "movs" : "cmps";
		text_add(t, d->att ? "%sl" : "%s", name);
		return true;
	case ZYDIS_MNEMONIC_MOV:
		if (!is_movabs(d))
			return false;
		text_add(t, "movabs");
		return true;
	case ZYDIS_MNEMONIC_NOP:
		if (d->zi.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
			return false;
		text_add(t, d->zi.operand_width == 16 ? "xchg" : "nop");
		return true;
	case ZYDIS_MNEMONIC_CALL: case ZYDIS_MNEMONIC_JMP: case ZYDIS_MNEMONIC_RET:
		text_add(t, "%s%s%s", is_far(d) && d->att ? "l" : "",
		         d->zi.mnemonic == ZYDIS_MNEMONIC_CALL ? "call" : d->zi.mnemonic == ZYDIS_MNEMONIC_JMP ? "jmp"
		         : is_far(d) && !d->att ? "retf" : "ret", branch_suffix(d));
		return true;
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_LEAVE:
		name = ZydisMnemonicGetString(d->zi.mnemonic);
		text_add(t, "%s%s", name,
		         d->zi.operand_width == 16 && !general(d) && (d->att || !disasm_memory(d)) ? "w" : "");
		return true;
	case ZYDIS_MNEMONIC_SYSRET: case ZYDIS_MNEMONIC_SYSEXIT:
		text_add(t, "%s%s", ZydisMnemonicGetString(d->zi.mnemonic),
		         !d->wide ? "" : d->zi.operand_width == 64 ? "q" : d->att ? "l" : "d");
		return true;
	default:
		name = d->att ? exchanged(d) : NULL;
		if (!name)
			return false;
		text_add(t, "%s", name);
		return true;
	}
}

void disasm_name(struct disasm *d, struct text *t)
{
	const struct name_entry *entry = &isa_names[d->zi.mnemonic];
	const char *name = d->att ? entry->att : entry->intel;
	if (special(d, t))
		return;
	if (!name || !*name)
		name = ZydisMnemonicGetString(d->zi.mnemonic);
	if (d->wait && d->flags & N_WAIT)
		text_add(t, "f%s", name + 2);
	else if (!(d->flags & N_PREDICATE && predicate_name(d, name, t)))
		text_add(t, "%s", name);
	if (d->att)
		add_suffix(d, t);
}
