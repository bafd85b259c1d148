/* SPDX-License-Identifier: GPL-2.0-or-later
 * Makes a decoded block from a block's description: checks it, decodes each instruction, macro-fuses, and packs the
 * result into one allocation.
 *
 * Macro-fusion (Optimization Manual, "Macro-Fusion" of Sandy Bridge and later): TEST and AND fuse with any Jcc;
 * CMP, ADD and SUB with those on CF, ZF or the signed order; INC and DEC with those on ZF or the signed order.  The
 * first instruction does not fuse if it has a memory and an immediate operand, writes memory, or ends a cache line.
 * LCP stalls: 66H with a 16-bit immediate ("Length-Changing Prefixes"), but not MOV r16, imm16 (InstLatx64: 1.08 cycles
 * on Skylake, where ADD r16, imm16 takes 3.3).  Left out: 67H with a 16-bit displacement, which no compiler makes.
 */
#include "isa/isa_internal.h"
#include <stdlib.h>
#include <string.h>

static void register_map(struct isa *isa)
{
	for (int r = 1; r <= ZYDIS_REGISTER_MAX_VALUE; r++) {
		ZydisRegister full = (ZydisRegister)r;
		ZydisRegisterClass c = ZydisRegisterGetClass(full);
		if (c >= ZYDIS_REGCLASS_GPR8 && c <= ZYDIS_REGCLASS_GPR64) {
			full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, full);
			isa->reg[r] = (uint8_t)(REG_GPR + ZydisRegisterGetId(full));
			continue;
		}
		ZyanI8 id = ZydisRegisterGetId(full);
		switch (c) {
		case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM: case ZYDIS_REGCLASS_ZMM:
			isa->reg[r] = (uint8_t)(REG_VEC + (id & 31));
			break;
		case ZYDIS_REGCLASS_X87: case ZYDIS_REGCLASS_MMX:
			isa->reg[r] = (uint8_t)(REG_X87 + (id & 7));
			break;
		case ZYDIS_REGCLASS_SEGMENT:
			isa->reg[r] = REG_SEGMENT;
			break;
		case ZYDIS_REGCLASS_MASK:
			isa->reg[r] = id ? (uint8_t)(REG_MASK + (id & 7)) : REG_NONE;	/* k0: no mask */
			break;
		default:	/* RIP, RFLAGS (tracked as groups of flags), control words */
			break;
		}
	}
}

static void fp_kinds(struct isa *isa)
{
	static const char *const end[] = { "ss", "sd", "ps", "pd" };
	for (int m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
		const char *name = ZydisMnemonicGetString((ZydisMnemonic)m);
		size_t n = name ? strlen(name) : 0;
		for (uint8_t k = 0; n > 2 && k < 4; k++)
			if (!strcmp(name + n - 2, end[k]))
				isa->fp_kind[m] = (uint8_t)(k + 1);
	}
}

int isa_create(struct isa **out, const char *tsv_path, struct err *err)
{
	struct isa *isa = calloc(1, sizeof *isa);
	*out = NULL;
	if (!isa)
		return err_set(err, ERR_NOMEM, "out of memory for the uop table");
	int rc = isa_table_load(isa, tsv_path, err);
	if (rc) {
		isa_destroy(isa);
		return rc;
	}
	if (ZYAN_FAILED(ZydisDecoderInit(&isa->decoder[0], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderInit(&isa->decoder[1], ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32))) {
		isa_destroy(isa);
		return err_set(err, ERR_UNSUPPORTED, "this build of Zydis cannot decode 64-bit or 32-bit code");
	}
	register_map(isa);
	fp_kinds(isa);
	isa->table.no_microfusion = isa->no_microfusion;
	isa->table.macrofusion = isa->macrofusion;
	isa->table.unlaminate = isa->unlaminate;
	isa->o = (struct isa_options){
		.micro_fusion = true, .macro_fusion = true, .unlaminate = true, .moves = true, .vector_moves = true,
		.zero_idioms = true, .constants = 1024,
	};
	*out = isa;
	return 0;
}

void isa_configure(struct isa *isa, const struct isa_options *o)
{
	isa->o = *o;
	isa->no_microfusion = isa->table.no_microfusion || !o->micro_fusion;
	isa->macrofusion = o->macro_fusion ? isa->table.macrofusion : MACROFUSION_NONE;
	isa->unlaminate = o->unlaminate ? isa->table.unlaminate : UNLAMINATE_NONE;
}

void isa_destroy(struct isa *isa)
{
	if (!isa)
		return;
	free(isa->rows);
	free(isa->specs);
	free(isa->forms);
	free(isa);
}

const char *isa_row_name(const struct isa *isa, unsigned row)
{
	return row < isa->n_rows ? isa->rows[row].name : "";
}

/* ---- the block's description ---- */

struct def {			/* its arrays, after the check */
	const struct st_insn_def *insn;
	const struct st_slot *slot;
	const struct st_exit_def *exit;
};

static int check_def(const struct st_block_def *def, size_t bytes, struct def *d, struct err *err)
{
	if ((uintptr_t)def % 8)
		return err_set(err, ERR_INPUT, "block description: not aligned to 8 bytes");
	if (bytes < sizeof *def)
		return err_set(err, ERR_INPUT, "block description: %zu bytes, shorter than its header", bytes);
	size_t need = sizeof *def + def->insns * sizeof *d->insn + def->slots * sizeof *d->slot +
	              def->exits * sizeof *d->exit;
	if (bytes < need)
		return err_set(err, ERR_INPUT, "block %u: description of %zu bytes, but its counts need %zu", def->id,
			bytes, need);
	if (!def->insns || def->insns > 256)	/* a slot names its instruction in a byte */
		return err_set(err, ERR_INPUT, "block %u: %u instructions, not 1 to 256", def->id, def->insns);
	d->insn = (const struct st_insn_def *)(def + 1);
	d->slot = (const struct st_slot *)(d->insn + def->insns);
	d->exit = (const struct st_exit_def *)(d->slot + def->slots);
	for (unsigned i = 0; i < def->insns; i++)
		if (d->insn[i].len < 1 || d->insn[i].len > 15)
			return err_set(err, ERR_INPUT,
				"block %u: instruction %u of %u bytes", def->id, i, d->insn[i].len);
	for (unsigned i = 0; i < def->slots; i++) {
		const struct st_slot *s = &d->slot[i];
		bool known = s->kind == ST_SLOT_LOAD || s->kind == ST_SLOT_STORE || s->kind == ST_SLOT_LOADSTORE ||
		             s->kind == ST_SLOT_PREFETCH || s->kind == ST_SLOT_FLUSH || s->kind == ST_SLOT_REG;
		if (!known || s->insn >= def->insns)
			return err_set(err, ERR_INPUT, "block %u: slot %u of kind %u names instruction %u of %u",
				def->id, i, s->kind, s->insn, def->insns);
		if (i && s->insn < s[-1].insn)
			return err_set(err, ERR_INPUT, "block %u: slot %u is not in program order", def->id, i);
	}
	for (unsigned i = 0; i < def->exits; i++)
		if (d->exit[i].insns > def->insns || d->exit[i].slots > def->slots)
			return err_set(err, ERR_INPUT,
				"block %u: exit %u after %u instructions and %u slots, there are %u and %u", def->id, i,
				d->exit[i].insns, d->exit[i].slots, def->insns, def->slots);
	return 0;
}

/* ---- single instructions ---- */

static void branch_flags(struct insn *in, enum isa_class cls, const ZydisDecodedInstruction *zi,
                         const ZydisDecodedOperand *op, uint64_t mask)
{
	uint64_t is = isa_classes[cls].is;
	if (isa_classes[cls].traits & T_FAR) {
		in->flags |= INSN_FAR;
		return;
	}
	if (!(isa_classes[cls].traits & T_BRANCH))
		return;
	in->flags |= INSN_BRANCH;
	in->flags |= (uint16_t)((is & SPMU_IS(COND) ? INSN_COND : 0) | (is & SPMU_IS(CALL) ? INSN_CALL : 0) |
	                        (is & SPMU_IS(RET) ? INSN_RET : 0) | (is & SPMU_IS(INDIRECT) ? INSN_INDIRECT : 0));
	if (op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative)
		in->target = (in->addr + in->len + (uint64_t)op[0].imm.value.s) & mask;
	(void)zi;
}

static bool is_lcp(const ZydisDecodedInstruction *zi)
{
	bool size16 = false;
	for (unsigned i = 0; i < zi->raw.prefix_count; i++)
		size16 |= zi->raw.prefixes[i].value == 0x66 && zi->raw.prefixes[i].type != ZYDIS_PREFIX_TYPE_MANDATORY;
	bool mov = zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && zi->opcode >= 0xb8 && zi->opcode <= 0xbf;
	return size16 && !mov && zi->raw.imm[0].size == 16 && zi->operand_width == 16 &&
	       zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

/* True for group F7H with 66H: only the byte behind the opcode says whether a 16-bit immediate follows (TEST) or
 * none. */
static bool has_late_length(const ZydisDecodedInstruction *zi)
{
	return zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && zi->opcode == 0xf7 && zi->operand_width == 16 &&
		!zi->raw.imm[0].size && zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

/* True if its constants take two places of a uop-cache line.  A line has 32 bits for each uop's constants, and uops
 * share them: a 64-bit immediate takes two places, and so does a memory operand with an immediate that does not fit
 * 16 bits (A. Fog, "The microarchitecture of Intel, AMD and VIA CPUs", uop cache of Sandy Bridge). */
static bool is_wide(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	bool memory = false, wide = false, large = false;
	for (unsigned i = 0; i < zi->operand_count_visible; i++) {
		memory |= op[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
		if (op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !op[i].imm.is_relative) {
			int64_t v = op[i].imm.value.s;
			wide |= zi->raw.imm[0].size == 64 && v != (int32_t)v;
			large |= zi->raw.imm[0].size == 32 && (int32_t)v != (int16_t)v;
		}
	}
	return wide || (memory && large);
}

/* ---- macro-fusion ---- */

enum fuse { FUSE_NONE, FUSE_ANY, FUSE_CARRY_ORDER, FUSE_ORDER, FUSE_CARRY };

static enum fuse fuse_first(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	bool memory = false, immediate = false;
	for (unsigned i = 0; i < zi->operand_count_visible; i++) {
		memory |= op[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
		immediate |= op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return FUSE_NONE;
	}
	if (memory && immediate)
		return FUSE_NONE;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_TEST: case ZYDIS_MNEMONIC_AND:
		return FUSE_ANY;
	case ZYDIS_MNEMONIC_CMP: case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB:
		return FUSE_CARRY_ORDER;
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC:
		return FUSE_ORDER;
	default:
		return FUSE_NONE;
	}
}

/* The fusion that this core does: Core 2 fuses only CMP and TEST, CMP only with unsigned conditions, and not in 64-bit
 * code (Optimization Manual, "Macro-Fusion" of Intel Core microarchitecture); earlier cores fuse nothing. */
static enum fuse fuse_on(const struct isa *isa, int word_bytes, ZydisMnemonic first, enum fuse kind)
{
	if (isa->macrofusion == MACROFUSION_ALL)
		return kind;
	if (isa->macrofusion == MACROFUSION_NONE || word_bytes != 4)
		return FUSE_NONE;
	if (first == ZYDIS_MNEMONIC_TEST)
		return kind;
	return first == ZYDIS_MNEMONIC_CMP && kind != FUSE_NONE ? FUSE_CARRY : FUSE_NONE;
}

static bool fuses_with(enum fuse first, ZydisMnemonic jcc)
{
	switch (jcc) {
	case ZYDIS_MNEMONIC_JZ: case ZYDIS_MNEMONIC_JNZ:
		return first != FUSE_NONE;
	case ZYDIS_MNEMONIC_JL: case ZYDIS_MNEMONIC_JNL:
	case ZYDIS_MNEMONIC_JLE: case ZYDIS_MNEMONIC_JNLE:
		return first != FUSE_NONE && first != FUSE_CARRY;
	case ZYDIS_MNEMONIC_JB: case ZYDIS_MNEMONIC_JNB: case ZYDIS_MNEMONIC_JBE: case ZYDIS_MNEMONIC_JNBE:
		return first == FUSE_ANY || first == FUSE_CARRY_ORDER || first == FUSE_CARRY;
	case ZYDIS_MNEMONIC_JO: case ZYDIS_MNEMONIC_JNO: case ZYDIS_MNEMONIC_JS: case ZYDIS_MNEMONIC_JNS:
	case ZYDIS_MNEMONIC_JP: case ZYDIS_MNEMONIC_JNP:
		return first == FUSE_ANY;
	default:
		return false;
	}
}

/* The compare's last uop becomes the pair's branch. */
static void fuse(struct builder *b, struct insn *first, struct insn *jcc, const ZydisDecodedInstruction *zi,
                 const ZydisDecodedOperand *op)
{
	char name[ISA_FORM_NAME];
	isa_form_name(zi, op, name);
	const struct row *form = isa_form_row(b->isa, name);
	const struct row *r = isa_row(b->isa, CLASS_jcc_fused, WIDTH_NONE, FORM_REG);
	struct uop *u = &b->uop[b->n - 1];
	if (r->count) {
		u->ports = b->isa->specs[r->first].ports;
		u->latency = b->isa->specs[r->first].latency;
	}
	u->kind = UOP_BRANCH;
	u->constant = 0;
	u->flags = (uint8_t)((u->flags & ~UOP_ADDS) | UOP_FUSED_BRANCH);
	u->is &= ~SPMU_IS(ELIMINATED);	/* an ADD r64, imm that rename would eliminate: a fused pair executes */
	u->is |= SPMU_IS(EXEC) | SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(MACRO_FUSED) | SPMU_IS(INST_END2) |
		(uint64_t)first->len << SPMU_IS_FUSED_SHIFT;
	first->flags |= INSN_FUSES_NEXT;
	jcc->flags |= INSN_FUSED_INTO_PREV;
	jcc->first_uop = (uint16_t)b->n;
	jcc->row = (uint16_t)((form ? form : r) - b->isa->rows);
}

/* True if a NOP takes no slot because it shares that of the instruction before it.  HOST, as in data/uops/zen4.tsv:
 * NOPs of 1 to 4 bytes twelve a cycle, of 8 bytes six, XOR r32,r32 and NOP six pairs.  The limit of 15 bytes is a
 * GUESS, from NOPs of 7 and 8 bytes; settle it with NOPs behind longer instructions. */
static bool shares(const struct insn *before, const struct insn *nop)
{
	return before->issue_slots == 1 &&
		!(before->flags & (INSN_BRANCH | INSN_REP | INSN_MS | INSN_FUSES_NEXT | INSN_FAR | INSN_SERIALIZE)) &&
		before->addr + before->len == nop->addr && before->len + nop->len <= 15;
}

static void share(struct builder *b, struct insn *nop)
{
	struct uop *u = &b->uop[b->n - 1];
	if (u->kind != UOP_NOP || u->size)
		return;
	u->flags &= (uint8_t)~UOP_SLOT;
	u->is &= ~SPMU_IS(SLOT);
	nop->issue_slots = nop->decode_slots = 0;
}

/* Number of prefixes that matter to the decoders of older cores. */
static uint8_t prefixes(const ZydisDecodedInstruction *zi)
{
	unsigned n = 0;
	for (unsigned i = 0; i < zi->raw.prefix_count && i < ZYDIS_MAX_INSTRUCTION_LENGTH; i++)
		n += zi->raw.prefixes[i].type != ZYDIS_PREFIX_TYPE_MANDATORY &&
			(zi->raw.prefixes[i].value & 0xf0) != 0x40;
	return (uint8_t)n;
}

/* What the instruction does to the upper halves of the vector registers. */
static enum insn_vector vector_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	bool any = false, wide = false;
	if (zi->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER || zi->mnemonic == ZYDIS_MNEMONIC_VZEROALL)
		return VECTOR_ZERO;
	for (unsigned i = 0; i < zi->operand_count; i++) {
		ZydisRegisterClass c = op[i].type == ZYDIS_OPERAND_TYPE_REGISTER
			? ZydisRegisterGetClass(op[i].reg.value)
			: ZYDIS_REGCLASS_INVALID;
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			c = ZydisRegisterGetClass(op[i].mem.index);
		wide |= c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM;
		any |= c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM;
	}
	if (!any)
		return VECTOR_NONE;
	if (zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return VECTOR_LEGACY;
	return wide ? VECTOR_VEX_256 : VECTOR_VEX_128;
}

/* What the instruction does to the elision of locks.  SDM vol. 1, "Programming with Intel TSX", "Instruction Based
 * Considerations": the first three abort on any processor, the others may.  GUESS: all of these do, except VZEROUPPER,
 * which has an event of its own for what merely may abort (TX_EXEC.MISC2); settle with a region around each. */
static enum insn_elision elision_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (zi->attributes & ZYDIS_ATTRIB_HAS_XACQUIRE)
		return ELISION_ACQUIRE;
	if (zi->attributes & ZYDIS_ATTRIB_HAS_XRELEASE)
		return ELISION_RELEASE;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_XABORT: case ZYDIS_MNEMONIC_CPUID: case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_XBEGIN: case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_FXSAVE64: case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64: case ZYDIS_MNEMONIC_XSAVE: case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEOPT: case ZYDIS_MNEMONIC_XSAVEOPT64: case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64: case ZYDIS_MNEMONIC_XRSTOR: case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_XSETBV: case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFD: case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_CLI: case ZYDIS_MNEMONIC_STI: case ZYDIS_MNEMONIC_LDS: case ZYDIS_MNEMONIC_LES:
	case ZYDIS_MNEMONIC_LFS: case ZYDIS_MNEMONIC_LGS: case ZYDIS_MNEMONIC_LSS: case ZYDIS_MNEMONIC_WRFSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE: case ZYDIS_MNEMONIC_SGDT: case ZYDIS_MNEMONIC_SIDT: case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_STR: case ZYDIS_MNEMONIC_CLFLUSH: case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_MASKMOVQ: case ZYDIS_MNEMONIC_MASKMOVDQU: case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_MOVNTDQA: case ZYDIS_MNEMONIC_VMOVNTDQA: case ZYDIS_MNEMONIC_UD2: case ZYDIS_MNEMONIC_HLT:
		return ELISION_ABORTS;
	default:
		break;
	}
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_X87_ALU: case ZYDIS_CATEGORY_MMX: case ZYDIS_CATEGORY_FCMOV:
		return ELISION_STATE;
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_SYSRET: case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO: case ZYDIS_CATEGORY_IOSTRINGOP:
		return ELISION_ABORTS;
	default:
		break;
	}
	if (zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return ELISION_ABORTS;
	if (zi->meta.isa_ext == ZYDIS_ISA_EXT_BASE)
		return (zi->mnemonic == ZYDIS_MNEMONIC_MOV && zi->opcode == 0x8e) ||
			(zi->mnemonic == ZYDIS_MNEMONIC_POP && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 ZydisRegisterGetClass(op[0].reg.value) == ZYDIS_REGCLASS_SEGMENT) ? ELISION_ABORTS :
			ELISION_NONE;
	for (unsigned i = 0; zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && i < zi->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(op[i].reg.value) == ZYDIS_REGCLASS_MMX)
			return ELISION_STATE;
	return ELISION_NONE;
}

/* ---- the block ---- */

static void slots_of(const struct def *d, unsigned n_slots, unsigned i, unsigned *next, struct slot_cursor *c)
{
	*c = (struct slot_cursor){ .first = *next, .slot = d->slot + *next };
	while (*next < n_slots && d->slot[*next].insn == i) {
		if (d->slot[*next].kind == ST_SLOT_REG && c->count < 256)
			c->taken[c->count / 64] |= UINT64_C(1) << (c->count % 64);
		++*next;
		c->count++;
	}
}

static void decode_block(struct builder *b, int word_bytes, const struct st_block_def *def, const struct def *d,
                         struct insn *insn, uint8_t *vector, uint8_t *elision)
{
	const ZydisDecoder *decoder = &b->isa->decoder[word_bytes == 4];
	uint64_t mask = word_bytes == 4 ? UINT32_MAX : UINT64_MAX;
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	struct slot_cursor slots;
	unsigned next_slot = 0;
	enum fuse previous = FUSE_NONE;
	for (unsigned i = 0; i < def->insns; i++) {
		const struct st_insn_def *id = &d->insn[i];
		struct insn *in = &insn[i];
		*in = (struct insn){ .addr = id->addr, .len = id->len, .first_slot = (uint16_t)next_slot };
		slots_of(d, def->slots, i, &next_slot, &slots);
		in->slots = (uint16_t)slots.count;
		unsigned from = b->n;
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, id->bytes, id->len, &zi, op)) || zi.length != id->len) {
			isa_build_unknown(b, &slots, in);
			previous = FUSE_NONE;
		} else {
			bool substitute;
			enum isa_class cls = isa_classify(&zi, op, &substitute);
			bool adjacent = i && insn[i - 1].addr + insn[i - 1].len == in->addr && in->addr % 64;
			branch_flags(in, cls, &zi, op, mask);
			vector[i] = (uint8_t)vector_of(&zi, op);
			if (b->isa->o.elides)
				elision[i] = (uint8_t)elision_of(&zi, op);
			in->prefixes = prefixes(&zi) & 15;
			in->late_length = has_late_length(&zi);
			if (is_lcp(&zi))
				in->flags |= INSN_LCP;
			if (is_wide(&zi, op))
				in->flags |= INSN_WIDE;
			if (cls == CLASS_jcc && adjacent && fuses_with(previous, zi.mnemonic)) {
				fuse(b, &insn[i - 1], in, &zi, op);
				previous = FUSE_NONE;
				continue;
			}
			isa_build(b, cls, substitute, &zi, op, &slots, in);
			if (b->isa->o.nops_share && cls == CLASS_nop && i && shares(&insn[i - 1], in) &&
			    b->n == from + 1)
				share(b, in);
			previous = fuse_on(b->isa, word_bytes, zi.mnemonic, fuse_first(&zi, op));
			if (!(in->flags & INSN_REP))	/* with INSN_REP, rep_first takes its place in the union */
				in->fusible_lcp = in->flags & INSN_LCP && previous != FUSE_NONE;
			/* Rename eliminates a zero idiom: nothing is left to fuse with. */
			if (b->n && b->uop[b->n - 1].kind != UOP_COMPUTE && cls != CLASS_add_imm)
				previous = FUSE_NONE;
		}
		for (unsigned k = from; k < b->n; k++)
			b->uop[k].insn = (uint16_t)i;
	}
}

/* Packs all into one allocation: header, instructions, uops, exits, slots, code bytes, vector and elision kinds. */
static struct iblock *pack(const struct builder *b, const struct st_block_def *def, const struct def *d,
                           const struct insn *insn, const uint8_t *vector, const uint8_t *elision)
{
	size_t insn_bytes = def->insns * sizeof *insn, uop_bytes = b->n * sizeof *b->uop;
	size_t slot_bytes = def->slots * sizeof *d->slot, exit_bytes = def->exits * sizeof *d->exit;
	struct iblock *ib = malloc(sizeof *ib + insn_bytes + uop_bytes + exit_bytes + slot_bytes + def->insns * 17u);
	if (!ib)
		return NULL;
	memset(ib, 0, sizeof *ib);
	struct insn *pi = (struct insn *)(ib + 1);
	struct uop *pu = (struct uop *)(pi + def->insns);
	struct st_exit_def *pe = (struct st_exit_def *)(pu + b->n);
	struct st_slot *ps = (struct st_slot *)(pe + def->exits);
	uint8_t (*pc)[15] = (uint8_t (*)[15])(ps + def->slots);
	memcpy(pi, insn, insn_bytes);
	memcpy(pu, b->uop, uop_bytes);
	if (exit_bytes)
		memcpy(pe, d->exit, exit_bytes);
	if (slot_bytes)
		memcpy(ps, d->slot, slot_bytes);
	for (unsigned i = 0; i < def->insns; i++)
		memcpy(pc[i], d->insn[i].bytes, 15);
	uint8_t *pv = (uint8_t *)(pc + def->insns);
	memcpy(pv, vector, def->insns);
	uint8_t *ph = pv + def->insns;
	memcpy(ph, elision, def->insns);
	ib->addr = insn[0].addr;
	ib->id = def->id;
	ib->insns = def->insns;
	ib->uops = (uint16_t)b->n;
	ib->slots = def->slots;
	ib->exits = def->exits;
	ib->insn = pi;
	ib->uop = pu;
	ib->slot = ps;
	ib->exit = pe;
	ib->code = (const uint8_t (*)[15])pc;
	ib->vectors = 0;
	for (unsigned i = 0; i < def->insns; i++) {
		ib->vectors |= (uint8_t)(1u << vector[i]);
		if (vector[i])
			ib->vector = pv;
		if (elision[i])
			ib->elision = ph;
		if (elision[i] == ELISION_ACQUIRE || elision[i] == ELISION_RELEASE)
			ib->special |= BLOCK_HINTS;
	}
	for (unsigned i = 0; i < def->slots; i++)
		if (ps[i].kind == ST_SLOT_REG && ps[i].reg == ST_SLOT_ASSIST)
			ib->special |= BLOCK_ASSISTS;
	return ib;
}

int isa_decode(const struct isa *isa, int word_bytes, const struct st_block_def *def, size_t bytes,
               struct iblock **out, struct err *err)
{
	struct def d = { 0 };
	*out = NULL;
	if (word_bytes != 8 && word_bytes != 4)
		return err_set(err, ERR_INPUT, "a word of %d bytes", word_bytes);
	int rc = check_def(def, bytes, &d, err);
	if (rc)
		return rc;
	struct insn insn[256];
	uint8_t vector[256] = { 0 }, elision[256];
	memset(elision, 0, def->insns);
	struct builder b = { .isa = isa };
	decode_block(&b, word_bytes, def, &d, insn, vector, elision);
	if (!b.no_memory)
		*out = pack(&b, def, &d, insn, vector, elision);
	free(b.uop);
	return *out ? 0 : err_set(err, ERR_NOMEM, "out of memory for block %u", def->id);
}

int isa_decode_again(const struct isa *isa, int word_bytes, const struct iblock *b, struct iblock **out,
	struct err *err)
{
	struct st_insn_def *insn;
	const size_t slots = b->slots * sizeof *b->slot, exits = b->exits * sizeof *b->exit;
	const size_t bytes = sizeof(struct st_block_def) + b->insns * sizeof *insn + slots + exits;
	struct st_block_def *def = calloc(1, bytes);
	*out = NULL;
	if (!def)
		return err_set(err, ERR_NOMEM, "out of memory for block %u", b->id);
	def->id = b->id;
	def->insns = b->insns;
	def->slots = b->slots;
	def->exits = b->exits;
	insn = (struct st_insn_def *)(def + 1);
	for (unsigned i = 0; i < b->insns; i++) {
		insn[i].addr = b->insn[i].addr;
		insn[i].len = b->insn[i].len;
		memcpy(insn[i].bytes, b->code[i], sizeof insn[i].bytes);
	}
	if (slots)
		memcpy(insn + b->insns, b->slot, slots);
	if (exits)
		memcpy((char *)(insn + b->insns) + slots, b->exit, exits);
	int rc = isa_decode(isa, word_bytes, def, bytes, out, err);
	free(def);
	return rc;
}

void isa_block_free(struct iblock *b)
{
	if (b) {
		free(b->core_plan);
		free(b->core_walk);
		free(b->core_warm);
	}
	free(b);
}
