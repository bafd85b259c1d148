/* SPDX-License-Identifier: GPL-2.0-or-later
 * Issue slots: which uops the decoders micro-fuse, which pairs issue splits again (un-lamination), and the uop that
 * merges flags.
 */
#include "isa/build.h"

void build_merge_flags(struct build *c)
{
	struct builder *b = c->b;
	if (c->o.flags_read == 3 && b->flags_split) {
		struct uop *u = build_emit(c, UOP_COMPUTE, c->isa->o.flags_ports, 1, true);
		if (u) {
			u->src[0] = u->dst[0] = REG_FLAGS;
			u->src[1] = u->dst[1] = REG_CARRY;
			u->is |= SPMU_IS(FLAGS_MERGE);
			c->apart++;
		}
		b->flags_split = false;
	}
	if (c->o.flags_written)
		b->flags_split = c->o.flags_written != 3;
}

static bool unlaminates(const struct build *c, const ZydisDecodedOperand *op)
{
	bool indexed = false;
	for (unsigned i = 0; i < c->o.n_mem; i++)
		indexed |= c->o.mem[i].read && !c->o.mem[i].plain;
	if (!indexed || c->isa->unlaminate == UNLAMINATE_NONE)
		return false;
	if (c->isa->unlaminate == UNLAMINATE_ALL)
		return true;
	/* Haswell and later keep them together only if the destination is also a source. */
	return op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && !(op[0].actions & ZYDIS_OPERAND_ACTION_MASK_READ) &&
	       !c->o.n_merge;
}

/* True if the decoders do not micro-fuse the memory uop with the one behind it.  Source: A. Fog, "Instruction tables",
 * fused-domain uops of Haswell and Skylake (from memory, not read again: unverified; settle with IDQ_UOPS_NOT_DELIVERED
 * or UOPS_RETIRED.RETIRE_SLOTS of an instruction repeated).  Among read-modify-writes, those that write all flags (ADD,
 * AND, NEG) take two slots, INC, NOT, SHL m,i and BTS m,i three, ROL m,i four.  With a memory operand SHUFPS, PALIGNR
 * and VPERMQ take two, ROUNDPS three; VEXTRACTF128 to memory takes two, and its address does not use the port for
 * simple ones; PMOVZX y,m takes two; PSHUFB v,m two, PMULLD v,m three. */
static bool keeps_apart(const struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	const struct isa_options *o = &c->isa->o;
	bool immediate = false;
	if (c->row->flags & ROW_NO_FUSE)
		return true;
	if (!c->o.n_mem)
		return false;
	if (c->o.width >= WIDTH_128 && c->o.width <= WIDTH_512) {
		if (o->apart_pshufb &&
		    (zi->mnemonic == ZYDIS_MNEMONIC_PSHUFB || zi->mnemonic == ZYDIS_MNEMONIC_VPSHUFB ||
				zi->mnemonic == ZYDIS_MNEMONIC_PMULLD || zi->mnemonic == ZYDIS_MNEMONIC_VPMULLD))
			return true;
		for (unsigned i = 0; i < zi->operand_count_visible; i++)
			immediate |= op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
				op[i].encoding == ZYDIS_OPERAND_ENCODING_IS4;
		return (immediate && o->apart_immediate) ||
			(o->apart_widening && c->cls == CLASS_pmovx && c->o.width == WIDTH_256);
	}
	if (!o->apart_partial_flags)
		return false;
	return zi->mnemonic == ZYDIS_MNEMONIC_INC || zi->mnemonic == ZYDIS_MNEMONIC_DEC ||
		zi->mnemonic == ZYDIS_MNEMONIC_NOT || c->cls == CLASS_shift || c->cls == CLASS_rotate ||
		c->cls == CLASS_rotate_1 || c->cls == CLASS_bt;
}

void build_split_slots(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	const struct isa *isa = c->isa;
	struct uop *u = &c->b->uop[c->first];
	const unsigned n = c->b->n - c->first;
	bool apart = keeps_apart(c, zi, op);
	if ((apart || unlaminates(c, op)) && n >= 2 && u->kind == UOP_LOAD) {
		c->apart += isa->o.laminated && !apart && !(u[1].flags & UOP_SLOT) && !isa->no_microfusion;
		u[1].flags |= UOP_SLOT;
	} else if (apart && n == 2 && u->kind == UOP_STORE_ADDR) {
		u->ports = build_memory_spec(c, CLASS_store_address_index, CLASS_store_address_index, false)->ports;
		u[1].flags |= UOP_SLOT;
	}
	if (c->cls == CLASS_blendv_vex && isa->o.blend_first)
		u->flags |= UOP_GROUP;
}
