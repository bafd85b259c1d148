/* SPDX-License-Identifier: GPL-2.0-or-later
 * Inside the disassembler: one instruction on its way to text.
 *
 * disasm.c           decoding, prefixes, the mnemonic, the line
 * disasm_name.c      the mnemonic: objdump's names (disasm.def), suffixes, predicates
 * disasm_operands.c  which operands are shown, and each one's text
 */
#ifndef ISA_DISASM_H
#define ISA_DISASM_H
#include "isa/isa_internal.h"

enum name_flags {
	N_SUFFIX = 1,		/* AT&T: b, w, l or q if no register operand shows the width */
	N_FLOAT = 2,		/* AT&T: s, l or t for a floating-point operand in memory */
	N_INT = 4,		/* AT&T: s, l or ll for an x87 integer in memory */
	N_VECTOR = 8,		/* AT&T: x, y or z if the result does not show the width of the source in memory */
	N_GPR = 16,		/* AT&T: l or q for an integer in memory */
	N_NO_WIDTH = 32,	/* 66 and REX.W change nothing: they are shown as prefixes */
	N_NO_PTR = 64,		/* Intel: no "... PTR" before the memory operand */
	N_WIDTH = 256,		/* 66 and REX.W select the form, but no operand shows it */
	N_INTEL_ORDER = 512,	/* AT&T has the same order of operands as Intel */
	N_IMPLICIT = 2048,	/* registers that the encoding fixes are shown */
	N_WAIT = 4096,		/* "fn...": the form that waits is this one with 9B before it */
	N_PREDICATE = 1024,	/* the last immediate is part of the name */
};
struct name_entry { const char *att, *intel; uint16_t flags; };
extern const struct name_entry isa_names[ZYDIS_MNEMONIC_MAX_VALUE + 1];

struct text { char *at; size_t left; bool full; };	/* at: behind the last character, where the NUL is */
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct disasm {
	const struct isa_style *style;
	uint64_t addr;
	uint8_t prefix[15];	/* legacy prefixes and REX, as the bytes have them */
	bool mandatory[15];	/* this prefix selects the opcode */
	int prefixes;
	bool wide, att;		/* 64-bit code; AT&T syntax */
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint16_t flags;		/* enum name_flags of its name */
	int predicate;		/* operand that went into the name, or -1 */
	bool wait;		/* 9B before it: fstcw is fwait, fnstcw */
	bool string;		/* a string instruction: operands that the manuals leave implicit are shown */
	bool has_comment;	/* an address is shown as a comment behind the operands */
	uint64_t comment;
};

/* Facts of the encoding.  PREFIX_NONE: there is none. */
enum { PREFIX_NONE = -1 };
int  disasm_segment_prefix(const struct disasm *d);
bool disasm_is_gpr(ZydisRegister r);
const ZydisDecodedOperand *disasm_memory(const struct disasm *d);	/* the explicit one; NULL: none */
bool disasm_indirect(const struct disasm *d);				/* jmp, call through register or memory */

void disasm_name(struct disasm *d, struct text *t);
void disasm_operands(struct disasm *d, struct text *t);
void disasm_address(const struct disasm *d, uint64_t addr, struct text *t);	/* 401234 <func+0x14> */
#endif
