/* SPDX-License-Identifier: GPL-2.0-or-later
 * Disassembles one instruction as `objdump -d` prints it (GNU binutils 2.40), in AT&T or Intel syntax.  Zydis decodes;
 * the text is made here, because users read profiles beside objdump's and perf's output.  Prefixes that the instruction
 * does not use are shown before it by name.
 *
 * Left out: 16-bit code.  What only objdump decodes (MOV to CS, AVX-512's undefined encodings) is "(bad)"; what
 * only Zydis decodes (aliases of x87 instructions, SALC) has Zydis' name.  Relative branches in 64-bit code ignore
 * 66, as Intel's processors do; objdump shows AMD's 16-bit offset.
 */
#include "isa/disasm/disasm.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { INSN_MAX = 15 };

void text_add(struct text *t, const char *format, ...)
{
	va_list args;
	if (t->full)
		return;
	va_start(args, format);
	int n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= t->left) {
		t->full = true;
		return;
	}
	t->at += n;
	t->left -= (size_t)n;
}

void disasm_address(const struct disasm *d, uint64_t addr, struct text *t)
{
	char name[512];
	if (!d->wide)
		addr &= 0xffffffff;
	text_add(t, "%llx", (unsigned long long)addr);
	if (d->style->symbol && d->style->symbol(d->style->ctx, addr, name, sizeof name))
		text_add(t, " <%s>", name);
}

/* ---- the encoding ---- */

static int last_prefix(const struct disasm *d, const uint8_t *values, unsigned n)
{
	for (int i = d->prefixes - 1; i >= 0; i--)
		for (unsigned k = 0; k < n; k++)
			if (d->prefix[i] == values[k])
				return i;
	return PREFIX_NONE;
}

int disasm_segment_prefix(const struct disasm *d)
{
	static const uint8_t segments[] = { 0x64, 0x65, 0x2e, 0x36, 0x3e, 0x26 };
	/* In 64-bit mode only FS and GS have an effect. */
	return last_prefix(d, segments, d->wide ? 2 : 6);
}

bool disasm_is_gpr(ZydisRegister r)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);
	return c >= ZYDIS_REGCLASS_GPR8 && c <= ZYDIS_REGCLASS_GPR64;
}

static bool is_vector(ZydisRegister r)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);
	return c == ZYDIS_REGCLASS_MMX || c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM;
}

const ZydisDecodedOperand *disasm_memory(const struct disasm *d)
{
	for (unsigned i = 0; i < d->zi.operand_count_visible; i++)
		if (d->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &d->op[i];
	return NULL;
}

static bool is_branch(const struct disasm *d)
{
	return d->zi.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
}

bool disasm_indirect(const struct disasm *d)
{
	return (d->zi.mnemonic == ZYDIS_MNEMONIC_JMP || d->zi.mnemonic == ZYDIS_MNEMONIC_CALL) &&
	       (d->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER || d->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY);
}

static bool is_jcc(const struct disasm *d)
{
	return d->zi.meta.category == ZYDIS_CATEGORY_COND_BR && d->zi.mnemonic != ZYDIS_MNEMONIC_XBEGIN;
}

static bool is_string(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_STOSB: case ZYDIS_MNEMONIC_STOSW: case ZYDIS_MNEMONIC_STOSD: case ZYDIS_MNEMONIC_STOSQ:
	case ZYDIS_MNEMONIC_LODSB: case ZYDIS_MNEMONIC_LODSW: case ZYDIS_MNEMONIC_LODSD: case ZYDIS_MNEMONIC_LODSQ:
	case ZYDIS_MNEMONIC_SCASB: case ZYDIS_MNEMONIC_SCASW: case ZYDIS_MNEMONIC_SCASD: case ZYDIS_MNEMONIC_SCASQ:
	case ZYDIS_MNEMONIC_MOVSB: case ZYDIS_MNEMONIC_MOVSW: case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_CMPSB: case ZYDIS_MNEMONIC_CMPSW: case ZYDIS_MNEMONIC_CMPSQ:
	case ZYDIS_MNEMONIC_INSB: case ZYDIS_MNEMONIC_INSW: case ZYDIS_MNEMONIC_INSD:
	case ZYDIS_MNEMONIC_OUTSB: case ZYDIS_MNEMONIC_OUTSW: case ZYDIS_MNEMONIC_OUTSD:
		return true;
	default:
		return false;
	}
}

/* ---- prefixes ---- */

/* Operands in vector registers: their width is the mnemonic's, not the prefixes'. */
static bool has_vector(const struct disasm *d)
{
	for (unsigned i = 0; i < d->zi.operand_count_visible; i++)
		if (d->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && is_vector(d->op[i].reg.value))
			return true;
	return false;
}

/* A segment register or the like goes to or comes from memory: 16 bits, whatever the prefixes say. */
static bool fixed_in_memory(const struct disasm *d)
{
	if (!disasm_memory(d))
		return false;
	switch (d->zi.mnemonic) {
	case ZYDIS_MNEMONIC_SLDT: case ZYDIS_MNEMONIC_STR: case ZYDIS_MNEMONIC_SMSW: case ZYDIS_MNEMONIC_LLDT:
	case ZYDIS_MNEMONIC_LTR:
	case ZYDIS_MNEMONIC_LMSW: case ZYDIS_MNEMONIC_VERR: case ZYDIS_MNEMONIC_VERW:
		return true;
	default:
		return d->zi.mnemonic == ZYDIS_MNEMONIC_MOV && (d->zi.opcode == 0x8c || d->zi.opcode == 0x8e) &&
		       d->zi.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
	}
}

/* Among branches, only the return's name shows the width of what it pops. */
static bool branch_width(const struct disasm *d, unsigned bits)
{
	if (d->zi.mnemonic == ZYDIS_MNEMONIC_RET)
		return bits == 16 || d->zi.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	return (bits == 16 || d->zi.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) && (disasm_indirect(d) || !d->wide);
}

static bool is_system(ZydisRegister r)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);
	return c == ZYDIS_REGCLASS_CONTROL || c == ZYDIS_REGCLASS_DEBUG;
}

/* True if a prefix that asks for `bits` bits has an effect on this instruction. */
static bool integer_width(const struct disasm *d, unsigned bits)
{
	if (fixed_in_memory(d))
		return false;
	if (d->flags & N_NO_WIDTH)
		return false;
	/* MOVD and MOVQ have the same opcode; REX.W selects which. */
	if (d->zi.mnemonic == ZYDIS_MNEMONIC_MOVQ && (d->zi.opcode == 0x6e || d->zi.opcode == 0x7e) && bits == 64 &&
	    d->zi.operand_width == 64)
		return true;
	if (bits == 64 &&
	    ((d->zi.mnemonic == ZYDIS_MNEMONIC_NOP && d->zi.opcode == 0x90) ||
			d->zi.mnemonic == ZYDIS_MNEMONIC_LEAVE))
		return false;
	if (d->flags & N_WIDTH)
		return d->zi.operand_width == bits;
	if (d->flags & N_GPR || (has_vector(d) && bits == 64)) {
		for (unsigned i = 0; i < d->zi.operand_count_visible; i++)
			if ((d->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && d->flags & N_GPR) ||
			    (d->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && disasm_is_gpr(d->op[i].reg.value)))
				return d->op[i].size == bits;
		return false;
	}
	if (has_vector(d) || d->zi.operand_width != bits)
		return false;
	if (is_branch(d))
		return branch_width(d, bits);
	switch (d->zi.meta.category) {
	case ZYDIS_CATEGORY_X87_ALU: case ZYDIS_CATEGORY_FCMOV: case ZYDIS_CATEGORY_SETCC: case ZYDIS_CATEGORY_PREFETCH:
		return false;
	case ZYDIS_CATEGORY_PUSH: case ZYDIS_CATEGORY_POP:
		return bits != 64;
	default:
		for (unsigned i = 0; i < d->zi.operand_count_visible; i++)
			if (d->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && is_system(d->op[i].reg.value))
				return false;
		return d->zi.operand_count_visible || d->zi.mnemonic == ZYDIS_MNEMONIC_NOP;
	}
}

static bool modrm(const struct disasm *d) { return d->zi.attributes & ZYDIS_ATTRIB_HAS_MODRM; }

/* True for registers of a set that has 16 with REX. */
static bool eight_more(ZydisRegister r)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);
	return c != ZYDIS_REGCLASS_MMX && c != ZYDIS_REGCLASS_X87 && c != ZYDIS_REGCLASS_SEGMENT;
}

static uint8_t rex_used(const struct disasm *d, uint8_t rex)
{
	uint8_t used = 0;
	bool sib = d->zi.attributes & ZYDIS_ATTRIB_HAS_SIB;
	if (rex & 8 && integer_width(d, 64))
		used |= 8;
	for (unsigned i = 0; i < d->zi.operand_count; i++) {
		const ZydisDecodedOperand *op = &d->op[i];
		bool wide_file = op->type != ZYDIS_OPERAND_TYPE_REGISTER || eight_more(op->reg.value);
		if (op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG && wide_file)
			used |= rex & 4;
		if (op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM && wide_file)
			used |= rex & 1;
		if (op->encoding == ZYDIS_OPERAND_ENCODING_OPCODE)
			used |= rex & 1;
		/* With any REX, byte registers 4 to 7 are SPL to DIL; so an empty REX has a meaning here. */
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value >= ZYDIS_REGISTER_SPL &&
		    op->reg.value <= ZYDIS_REGISTER_DIL)
			used |= 0x40;
	}
	if (modrm(d) && sib)
		used |= rex & 2;
	return used ? used | 0x40 : 0;
}

static void rex_name(uint8_t rex, struct text *t)
{
	text_add(t, "rex%s%s%s%s%s ", rex & 15 ? "." : "", rex & 8 ? "W" : "", rex & 4 ? "R" : "", rex & 2 ? "X" : "",
	         rex & 1 ? "B" : "");
}

static bool address_used(const struct disasm *d)
{
	return disasm_memory(d) || d->string || d->zi.mnemonic == ZYDIS_MNEMONIC_JCXZ ||
		d->zi.mnemonic == ZYDIS_MNEMONIC_JECXZ || d->zi.mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
		d->zi.mnemonic == ZYDIS_MNEMONIC_XLAT;
}

/* True for string instructions that read DS:rSI. */
static bool reads_string(const struct disasm *d)
{
	for (unsigned i = 0; d->string && i < d->zi.operand_count; i++)
		if (d->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && d->op[i].mem.segment != ZYDIS_REGISTER_ES)
			return true;
	return false;
}

static bool segment_used(const struct disasm *d)
{
	return disasm_memory(d) || reads_string(d) || d->zi.mnemonic == ZYDIS_MNEMONIC_XLAT;
}

static const char *segment_name(uint8_t prefix)
{
	switch (prefix) {
	case 0x26: return "es";
	case 0x2e: return "cs";
	case 0x36: return "ss";
	case 0x3e: return "ds";
	case 0x64: return "fs";
	default:   return "gs";
	}
}

static bool takes_bnd(const struct disasm *d)
{
	return is_branch(d) && d->zi.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR &&
		d->zi.mnemonic != ZYDIS_MNEMONIC_XBEGIN && d->zi.mnemonic != ZYDIS_MNEMONIC_LOOP &&
		d->zi.mnemonic != ZYDIS_MNEMONIC_LOOPE && d->zi.mnemonic != ZYDIS_MNEMONIC_LOOPNE &&
		d->zi.mnemonic != ZYDIS_MNEMONIC_JCXZ && d->zi.mnemonic != ZYDIS_MNEMONIC_JECXZ &&
		d->zi.mnemonic != ZYDIS_MNEMONIC_JRCXZ;
}

/* The name of prefix F2 or F3. */
static const char *repeat_name(const struct disasm *d, uint8_t value)
{
	bool compares = d->zi.mnemonic == ZYDIS_MNEMONIC_CMPSB || d->zi.mnemonic == ZYDIS_MNEMONIC_CMPSW ||
	                d->zi.mnemonic == ZYDIS_MNEMONIC_CMPSD || d->zi.mnemonic == ZYDIS_MNEMONIC_CMPSQ ||
	                d->zi.mnemonic == ZYDIS_MNEMONIC_SCASB || d->zi.mnemonic == ZYDIS_MNEMONIC_SCASW ||
	                d->zi.mnemonic == ZYDIS_MNEMONIC_SCASD || d->zi.mnemonic == ZYDIS_MNEMONIC_SCASQ;
	if (d->zi.attributes & (ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE))
		return value == 0xf2 ? "xacquire" : "xrelease";
	if (value == 0xf2)
		return takes_bnd(d) ? "bnd" : "repnz";
	return d->string && !compares ? "rep" : "repz";
}

/* Every prefix that is not part of the instruction's name or operands, in the order of the bytes. */
static void add_prefixes(const struct disasm *d, struct text *t)
{
	static const uint8_t data[] = { 0x66 }, address[] = { 0x67 }, repeat[] = { 0xf2, 0xf3 },
			     hints[] = { 0x2e, 0x3e };
	static const uint8_t overrides[] = { 0x26, 0x2e, 0x36, 0x3e };
	int last_data = last_prefix(d, data, 1), last_address = last_prefix(d, address, 1),
	    last_repeat = last_prefix(d, repeat, 2), last_hint = last_prefix(d, hints, 2),
	    last_override = last_prefix(d, overrides, 4),
	    last_segment = disasm_segment_prefix(d);
	for (int i = 0; i < d->prefixes; i++) {
		uint8_t value = d->prefix[i];
		bool mandatory = d->mandatory[i] && !d->string;
		switch (value) {
		case 0x66:
			if (!mandatory && !(i == last_data && integer_width(d, 16)))
				text_add(t, "data16 ");
			break;
		case 0x67:
			if (!(i == last_address && address_used(d)))
				text_add(t, d->wide ? "addr32 " : "addr16 ");
			break;
		case 0xf0:
			text_add(t, "lock ");
			break;
		case 0xf2: case 0xf3:
			if (!(i == last_repeat && mandatory))
				text_add(t, "%s ", repeat_name(d, value));
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
			if (i == last_hint && is_jcc(d) && d->att)
				break;
			if (value == 0x3e && d->zi.attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
				text_add(t, "notrack ");
			else if (!(i == last_segment && segment_used(d)) && !(i == last_override && reads_string(d)))
				text_add(t, "%s ", segment_name(value));
			break;
		default:
			if ((value & 0xf0) == 0x40 && d->wide) {
				uint8_t used = rex_used(d, value);
				if ((value & ~used & 0x4f))
					rex_name(value, t);
			}
		}
	}
}

/* The hint of a conditional branch: not taken or taken. */
static void add_hint(const struct disasm *d, struct text *t)
{
	static const uint8_t hints[] = { 0x2e, 0x3e };
	int i = last_prefix(d, hints, 2);
	if (i != PREFIX_NONE && is_jcc(d) && d->att)
		text_add(t, d->prefix[i] == 0x2e ? ",pn" : ",pt");
}

/* ---- the line ---- */

static bool decode_at(struct disasm *d, const uint8_t *code, size_t bytes)
{
	ZydisDecoder decoder;
	ZydisMachineMode mode = d->wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
	ZydisStackWidth stack = d->wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32;
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, mode, stack)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, bytes < INSN_MAX ? bytes : INSN_MAX, &d->zi, d->op));
}

static bool is_prefix(uint8_t byte)
{
	return memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", byte, 11) != NULL;
}

/* Writes the prefixes.  False if REX precedes another prefix: objdump ends the line there. */
static bool read_prefixes(struct disasm *d, const uint8_t *code, size_t bytes)
{
	for (d->prefixes = 0; (size_t)d->prefixes < bytes && d->prefixes < INSN_MAX; d->prefixes++) {
		uint8_t byte = code[d->prefixes];
		bool rex = d->wide && (byte & 0xf0) == 0x40;
		bool after_rex = d->prefixes && d->wide && (d->prefix[d->prefixes - 1] & 0xf0) == 0x40;
		if (after_rex && (rex || is_prefix(byte) || byte == 0x9b))
			return false;
		if (!rex && !is_prefix(byte))
			return true;
		d->prefix[d->prefixes] = byte;
	}
	return true;
}

/* Zydis refuses LOCK where the manual does; objdump shows it. */
static bool decode_without_lock(struct disasm *d, const uint8_t *code, size_t bytes)
{
	uint8_t without[INSN_MAX];
	unsigned n = 0, locks = 0;
	for (size_t i = 0; i < bytes && i < INSN_MAX; i++)
		if ((int)i < d->prefixes && code[i] == 0xf0)
			locks++;
		else
			without[n++] = code[i];
	if (!locks || !decode_at(d, without, n))
		return false;
	d->zi.length += locks;
	return true;
}

static bool decode(struct disasm *d, const uint8_t *code, size_t bytes)
{
	if (bytes > 1 && code[0] == 0x9b && code[1] >= 0xd8 && code[1] <= 0xdf && decode_at(d, code + 1, bytes - 1)) {
		d->wait = true;
		d->zi.length++;
		return true;
	}
	if (!decode_at(d, code, bytes) && !decode_without_lock(d, code, bytes))
		return false;
	for (int i = 0, k = 0; i < d->prefixes && k < d->zi.raw.prefix_count; i++)
		if (d->prefix[i] == d->zi.raw.prefixes[k].value)
			d->mandatory[i] = d->zi.raw.prefixes[k++].type == ZYDIS_PREFIX_TYPE_MANDATORY;
	return true;
}

/* Instructions that AVX-512 had first and VEX later: assemblers must be told which encoding to use. */
static bool came_later(const struct disasm *d)
{
	return d->zi.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
	       (d->zi.mnemonic == ZYDIS_MNEMONIC_VPDPBUSD || d->zi.mnemonic == ZYDIS_MNEMONIC_VPDPBUSDS ||
	        d->zi.mnemonic == ZYDIS_MNEMONIC_VPDPWSSD || d->zi.mnemonic == ZYDIS_MNEMONIC_VPDPWSSDS);
}

static void format(struct disasm *d, struct text *t)
{
	const char *start = t->at;
	d->flags = isa_names[d->zi.mnemonic].flags;
	d->string = is_string(d->zi.mnemonic) ||
		((d->zi.mnemonic == ZYDIS_MNEMONIC_MOVSD || d->zi.mnemonic == ZYDIS_MNEMONIC_CMPSD) &&
			d->zi.meta.category == ZYDIS_CATEGORY_STRINGOP);
	add_prefixes(d, t);
	if (came_later(d))
		text_add(t, "{vex} ");
	disasm_name(d, t);
	add_hint(d, t);
	char operands[1024] = "";
	struct text o = { operands, sizeof operands, false };
	disasm_operands(d, &o);
	if (*operands) {
		while (t->at - start < 6 && !t->full)	/* operands begin in column 7 */
			text_add(t, " ");
		text_add(t, " %s", operands);
	}
	if (d->has_comment) {
		text_add(t, "        # ");
		disasm_address(d, d->comment, t);
	}
}

/* Length of bytes that objdump takes for an invalid opcode: it continues behind them. */
static unsigned bad_length(const struct disasm *d, const uint8_t *code, size_t bytes)
{
	/* ModRM names registers; in 32-bit code this distinguishes VEX from LDS and LES. */
	bool registers = bytes > 1 && code[1] >= 0xc0;
	if (*code >= 0xd8 && *code <= 0xdf)
		return registers ? 2 : 1;
	unsigned map = bytes > 1 ? code[1] & 0x1f : 0;
	if (*code == 0x8f)	/* XOP */
		return map >= 8 && map <= 10 ? 4 : 1;
	if (!d->wide && !registers)
		return 1;
	if (*code == 0x62)
		return !(map & 8) && (map & 7) && (map & 7) != 4 && (map & 7) != 7 && bytes > 2 && code[2] & 4 ? 5 : 1;
	return *code == 0xc5 ? 3 : *code == 0xc4 && map >= 1 && map <= 3 ? 4 : 1;
}

/* Returns the length; *good: the bytes are an instruction. */
static unsigned disassemble(struct disasm *d, const uint8_t *code, size_t bytes, bool *good, struct text *t)
{
	bool whole = read_prefixes(d, code, bytes);
	*good = whole && decode(d, code, bytes);
	if (*good) {
		format(d, t);
		return d->zi.length;
	}
	char *start = t->at;
	add_prefixes(d, t);
	if (!whole) {
		if (t->at > start)
			*--t->at = '\0';	/* the space behind the last operand */
		return (unsigned)d->prefixes;
	}
	text_add(t, "(bad)");
	unsigned n = (unsigned)d->prefixes;
	n += n < bytes ? bad_length(d, code + n, bytes - n) : 0;
	return n <= bytes && n <= INSN_MAX ? n : 1;
}

unsigned isa_text(const uint8_t *code, size_t bytes, uint64_t addr, int word_bytes, const struct isa_style *style,
	char *text, size_t text_bytes)
{
	struct disasm d = {
		.style = style, .addr = addr, .wide = word_bytes == 8, .att = !style->intel, .predicate = -1
	};
	struct text t = { text, text_bytes, false };
	bool good;
	if (!text_bytes || !bytes)
		return 0;
	*text = '\0';
	return disassemble(&d, code, bytes, &good, &t);
}

int isa_disassemble(const uint8_t *code, unsigned len, uint64_t addr, int word_bytes, bool att, char *text,
	size_t text_bytes)
{
	static const struct isa_style plain;
	struct disasm d = { .style = &plain, .addr = addr, .wide = word_bytes == 8, .att = att, .predicate = -1 };
	struct text t = { text, text_bytes, false };
	bool good = false;
	if (!text_bytes)
		return ERR_INPUT;
	*text = '\0';
	if (len)
		disassemble(&d, code, len, &good, &t);
	if (good && !t.full)
		return 0;
	snprintf(text, text_bytes, "(bad)");
	return ERR_INPUT;
}
