/* SPDX-License-Identifier: GPL-2.0-or-later
 * Instruction forms: their canonical names, and the rows of the uop table that belong to one form.
 *
 * A name has the prefixes that matter, the mnemonic, and the visible operands by kind and width:
 *   ADD r64,m64   SHL r32,cl   SHL r32,1   IMUL r64,r64,i8   VADDPS ymm,ymm,m256   LOCK XADD m64,r64   REP MOVSB
 * Operands: r8 r16 r32 r64; rh (AH, CH, DH, BH); mm xmm ymm zmm k st sreg cr dr bnd tmm.  A register that the opcode
 * implies has its own name (cl, al, rax; st0 is st).  mN is a memory operand of N bits, m one without a size, vN a
 * vector-indexed one with elements of N bits, bN an embedded broadcast; iN an immediate of N bits as encoded, 1 the
 * implied one; rel a branch target; ptr a far pointer.  LEA names the parts of its address, as they decide its latency:
 * [b] [d] [b+d] [b+i] [b+i+d] [i*s+d] [b+i*s+d] [rip+d].  EVEX masks follow the first operand: {k} merging, {z}
 * zeroing.
 *
 * Left out: addressing modes of memory operands, register numbers, values of immediates, VEX against EVEX.
 */
#include "isa/isa_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text { char *at; size_t left; };

static void put(struct text *t, const char *word)
{
	while (*word && t->left > 1) {
		*t->at++ = *word++;
		t->left--;
	}
	*t->at = 0;
}

static void put_number(struct text *t, const char *kind, unsigned n)
{
	char digits[12], *c = digits + sizeof digits;
	*--c = 0;
	do
		*--c = (char)('0' + n % 10);
	while (n /= 10);
	put(t, kind);
	put(t, c);
}

static void put_register(struct text *t, const ZydisDecodedOperand *op)
{
	ZydisRegister r = op->reg.value;
	ZydisRegisterClass c = ZydisRegisterGetClass(r);
	bool gpr = c >= ZYDIS_REGCLASS_GPR8 && c <= ZYDIS_REGCLASS_GPR64;
	if (gpr && op->encoding == ZYDIS_OPERAND_ENCODING_NONE) {
		put(t, ZydisRegisterGetString(r));
		return;
	}
	switch (c) {
	case ZYDIS_REGCLASS_GPR8:
		put(t, r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH ? "rh" : "r8");
		return;
	case ZYDIS_REGCLASS_GPR16: put(t, "r16"); return;
	case ZYDIS_REGCLASS_GPR32: put(t, "r32"); return;
	case ZYDIS_REGCLASS_GPR64: put(t, "r64"); return;
	case ZYDIS_REGCLASS_X87: put(t, "st"); return;
	case ZYDIS_REGCLASS_MMX: put(t, "mm"); return;
	case ZYDIS_REGCLASS_XMM: put(t, "xmm"); return;
	case ZYDIS_REGCLASS_YMM: put(t, "ymm"); return;
	case ZYDIS_REGCLASS_ZMM: put(t, "zmm"); return;
	case ZYDIS_REGCLASS_TMM: put(t, "tmm"); return;
	case ZYDIS_REGCLASS_MASK: put(t, "k"); return;
	case ZYDIS_REGCLASS_SEGMENT: put(t, "sreg"); return;
	case ZYDIS_REGCLASS_CONTROL: put(t, "cr"); return;
	case ZYDIS_REGCLASS_DEBUG: put(t, "dr"); return;
	case ZYDIS_REGCLASS_BOUND: put(t, "bnd"); return;
	default: put(t, "reg"); return;
	}
}

static void put_address(struct text *t, const ZydisDecodedOperandMem *m)
{
	bool base = m->base != ZYDIS_REGISTER_NONE, index = m->index != ZYDIS_REGISTER_NONE;
	if (m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP) {
		put(t, "[rip+d]");
		return;
	}
	put(t, "[");
	if (base)
		put(t, "b");
	if (index)
		put(t, base ? "+i" : "i");
	if (index && m->scale > 1)
		put(t, "*s");
	if (m->disp.has_displacement || !(base || index))
		put(t, base || index ? "+d" : "d");
	put(t, "]");
}

static void put_memory(struct text *t, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN && zi->mnemonic == ZYDIS_MNEMONIC_LEA)
		put_address(t, &op->mem);
	else if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		put_number(t, "v", op->element_size);
	else if (zi->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !zi->avx.broadcast.is_static)
		put_number(t, "b", op->element_size);
	else if (op->size)
		put_number(t, "m", op->size);
	else
		put(t, "m");
}

void isa_form_name(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, char name[ISA_FORM_NAME])
{
	struct text t = { name, ISA_FORM_NAME };
	unsigned shown = 0, immediates = 0;
	bool masked = false;
	*name = 0;
	if (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		put(&t, "LOCK ");
	if (zi->attributes & ZYDIS_ATTRIB_HAS_REP)
		put(&t, "REP ");
	else if (zi->attributes & ZYDIS_ATTRIB_HAS_REPE)
		put(&t, "REPE ");
	else if (zi->attributes & ZYDIS_ATTRIB_HAS_REPNE)
		put(&t, "REPNE ");
	const char *mnemonic = ZydisMnemonicGetString(zi->mnemonic);
	char *from = t.at;
	put(&t, mnemonic ? mnemonic : "?");
	for (; *from; from++)
		if (*from >= 'a' && *from <= 'z')
			*from = (char)(*from - 'a' + 'A');
	for (unsigned i = 0; i < zi->operand_count_visible; i++) {
		if (op[i].encoding == ZYDIS_OPERAND_ENCODING_MASK) {
			masked = op[i].reg.value != ZYDIS_REGISTER_K0;
			if (masked && shown == 1)
				put(&t, zi->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ? "{z}" : "{k}");
			continue;
		}
		put(&t, shown++ ? "," : " ");
		switch (op[i].type) {
		case ZYDIS_OPERAND_TYPE_REGISTER:
			put_register(&t, &op[i]);
			break;
		case ZYDIS_OPERAND_TYPE_MEMORY:
			put_memory(&t, zi, &op[i]);
			break;
		case ZYDIS_OPERAND_TYPE_POINTER:
			put(&t, "ptr");
			break;
		default:
			if (op[i].imm.is_relative)
				put(&t, "rel");
			else if (immediates < 2 && zi->raw.imm[immediates].size)
				put_number(&t, "i", zi->raw.imm[immediates].size);
			else
				put(&t, "1");
			immediates++;
			break;
		}
	}
}

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u;	/* FNV-1a */
	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h ^ h >> 15;
}

/* The place of `name` in the hash table of forms: that of its row, or the free place where it belongs. */
static uint16_t *place(const struct isa *isa, const char *name)
{
	uint32_t at = hash(name) % FORM_PLACES;
	while (isa->forms[at] && strcmp(isa->rows[isa->forms[at] - 1].name, name))
		at = (at + 1) % FORM_PLACES;
	return &isa->forms[at];
}

const struct row *isa_form_row(const struct isa *isa, const char *name)
{
	uint16_t at = isa->forms ? *place(isa, name) : 0;
	return at ? &isa->rows[at - 1] : NULL;
}

/* Enters row `index`.  Returns NULL, or the row of that name if there is one already. */
const struct row *isa_form_add(struct isa *isa, unsigned index)
{
	uint16_t *at = place(isa, isa->rows[index].name);
	if (*at)
		return &isa->rows[*at - 1];
	*at = (uint16_t)(index + 1);
	return NULL;
}

bool isa_row_is_form(const struct isa *isa, unsigned row)
{
	return row < isa->n_rows && (isa->rows[row].flags & ROW_FORM);
}

unsigned isa_form(const struct isa *isa, int word_bytes, const uint8_t *code, size_t bytes, char *name, bool *covered)
{
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	*name = 0;
	*covered = false;
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&isa->decoder[word_bytes == 4], code, bytes, &zi, op)))
		return 0;
	isa_form_name(&zi, op, name);
	*covered = isa_form_row(isa, name) != NULL;
	return zi.length;
}
