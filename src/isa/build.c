/* SPDX-License-Identifier: GPL-2.0-or-later
 * The uops of one instruction: loads, what the table's row computes, stores.
 *
 * A memory source is a load that shares its issue slot with the first computing uop (micro-fusion); a store is a
 * store-address and a store-data uop in one slot; a read-modify-write has one slot of each.  If the address has an
 * index register, issue splits the load from the computing uop on cores that do so (@unlaminate; Optimization Manual,
 * "Micro-op Queue and the Loop Stream Detector": un-lamination).  Inside an instruction, values travel in temporaries.
 *
 * Left out: stack-pointer synchronisation uops, assists.  Merging of high-byte registers: core/backend/partial_regs.h.
 */
#include "isa/build.h"
#include <string.h>

/* Sets counts, begin and end marks and issue slots, after all uops of the instruction were emitted. */
static void finish(struct build *c, bool microcode)
{
	struct builder *b = c->b;
	struct insn *in = c->in;
	unsigned n, slots = 0;
	if (b->n == c->first)
		build_emit(c, UOP_NOP, 0, 0, true);
	n = b->n - c->first;
	if (!n)			/* out of memory */
		return;
	for (unsigned i = c->first; i < b->n; i++) {
		if (c->isa->no_microfusion)
			b->uop[i].flags |= UOP_SLOT;
		slots += b->uop[i].flags & UOP_SLOT;
	}
	microcode |= slots > 4;
	for (unsigned i = c->first; i < b->n; i++) {
		struct uop *u = &b->uop[i];
		if (microcode) {
			u->flags |= UOP_MS;
			u->is |= SPMU_IS(MICROCODED);
		}
		if (u->flags & UOP_SLOT)
			u->is |= SPMU_IS(SLOT);
		if (u->ports && u->kind != UOP_NOP && u->kind != UOP_ELIMINATED)
			u->is |= SPMU_IS(EXEC);
		if (u->kind == UOP_ELIMINATED)
			u->is |= SPMU_IS(ELIMINATED);
		if (u->kind == UOP_NOP)
			u->is |= SPMU_IS(NOP);
		if (in->flags & (INSN_SUBSTITUTE | INSN_UNKNOWN))
			u->is |= SPMU_IS(SUBSTITUTE);
		if (c->o.width == WIDTH_256)
			u->is |= SPMU_IS(VECTOR_256);
		if (c->o.width == WIDTH_64 && u->is & SPMU_IS(INT_VECTOR))
			u->is |= SPMU_IS(VECTOR_64);
		if (build_moves_vector(c, u))
			u->is |= SPMU_IS(VECTOR_MOVE);
	}
	b->uop[c->first].flags |= UOP_BEGIN;
	b->uop[c->first].is |= SPMU_IS(INST_BEGIN);
	b->uop[b->n - 1].flags |= UOP_END;
	b->uop[b->n - 1].is |= SPMU_IS(INST_END);
	in->first_uop = (uint16_t)c->first;
	in->uops = (uint8_t)n;
	in->issue_slots = (uint8_t)slots;
	slots -= c->apart;
	if (!(in->flags & INSN_REP)) {
		in->decode_slots = (uint8_t)slots;
		in->whole = c->o.whole;
		for (unsigned i = 0; i < c->o.n_dst; i++)
			in->high |= c->o.dst[i] >= REG_HIGH;
	}
	in->row = (uint16_t)((c->form ? c->form : c->row) - c->isa->rows);
	in->flags |= (uint16_t)((microcode ? INSN_MS : 0) | (slots > 1 ? INSN_COMPLEX : 0));
}

static bool has_serialize(const struct build *c)
{
	for (unsigned i = 0; i < c->row->count; i++)
		if (build_specs(c)[i].kind == UOP_SERIALIZE)
			return true;
	return false;
}

/* What the row's flags change in the operands and in *in. */
static void apply_row_flags(struct build *c, bool substitute)
{
	const uint64_t is = isa_classes[c->cls].is;
	if ((substitute && !c->form) || (c->row->flags & ROW_SUBSTITUTE))
		c->in->flags |= INSN_SUBSTITUTE;
	if (c->cls == CLASS_default && !c->form)
		c->in->flags |= INSN_UNKNOWN;
	if (c->row->flags & ROW_FALSE_DEP)
		for (unsigned i = 0; i < c->o.n_dst && c->o.n_src < sizeof c->o.src; i++)
			c->o.src[c->o.n_src++] = c->o.dst[i];
	if (c->row->flags & ROW_NO_MERGE) {
		c->o.flags_read = 0;
		c->in->flags_late = !(is & SPMU_IS(STRING_REP)) && c->o.flags_written;
	}
}

static void emit_uops(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, bool locked)
{
	if (c->traits & T_STRING) {
		bool rep = isa_classes[c->cls].is & SPMU_IS(STRING_REP);
		build_string(c, rep, zi->operand_width / 8u);
	} else if (c->traits & T_PREFETCH) {
		build_prefetch(c);
	} else if (c->cls == CLASS_leave) {
		build_leave(c);
	} else if (c->cls == CLASS_fxch ||
		   (c->cls == CLASS_xchg && c->row->count == 2 && build_specs(c)->kind == UOP_ELIMINATED)) {
		build_names(c);
	} else if (!build_renamed(c, zi, op)) {
		build_generic(c, locked);
		build_split_slots(c, zi, op);
		if (c->traits & T_FLUSH || zi->mnemonic == ZYDIS_MNEMONIC_CLDEMOTE)
			build_flush(c, zi);
	}
}

void isa_build(struct builder *b, enum isa_class cls, bool substitute, const ZydisDecodedInstruction *zi,
               const ZydisDecodedOperand *op, struct slot_cursor *slots, struct insn *in)
{
	struct build c = {
		.b = b, .isa = b->isa, .slots = slots, .in = in, .cls = cls, .traits = isa_classes[cls].traits,
		.first = b->n,
	};
	const bool locked = (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK) || cls == CLASS_xchg_mem;
	char name[ISA_FORM_NAME];
	isa_operands(b->isa, cls, zi, op, &b->top, &c.o);
	isa_form_name(zi, op, name);
	c.form = isa_form_row(b->isa, b->isa->o.free_lock && !strncmp(name, "LOCK ", 5) ? name + 5 : name);
	c.row = c.form ? c.form : isa_row(b->isa, cls, c.o.width, c.o.form);
	c.elements = op[0].element_size ? op[0].size / op[0].element_size : 1;
	const uint64_t is = build_set_is(&c, zi, locked), branch = is & IS_BRANCH;
	const bool rep = is & SPMU_IS(STRING_REP);
	apply_row_flags(&c, substitute);
	if (b->isa->o.flags_ports)
		build_merge_flags(&c);
	build_equal_operands(&c, zi, op);
	emit_uops(&c, zi, op, locked && !b->isa->o.free_lock);
	build_set_marks(&c, op, zi->operand_count_visible);
	in->flags |= (uint16_t)(rep ? INSN_REP : 0);
	finish(&c, (c.row->flags & ROW_MS) || rep);
	build_free(&c, branch & SPMU_IS(FAR));
	if (b->n > c.first && build_zeroes(zi, op))
		b->uop[c.first].flags |= UOP_ZEROES;
	if (branch && b->n > c.first)
		b->uop[b->n - 1].is |= branch;
	in->flags |= (uint16_t)(has_serialize(&c) ? INSN_SERIALIZE : 0);
}

void isa_build_unknown(struct builder *b, struct slot_cursor *slots, struct insn *in)
{
	struct build c = {
		.b = b, .isa = b->isa, .slots = slots, .in = in, .cls = CLASS_default, .first = b->n,
		.o = { .width = WIDTH_NONE },
	};
	c.row = isa_row(b->isa, CLASS_default, WIDTH_NONE, FORM_REG);
	in->flags |= INSN_UNKNOWN;
	for (unsigned i = 0; i < c.row->count; i++)
		build_emit_spec(&c, &build_specs(&c)[i], true);
	build_left_over(&c);
	finish(&c, false);
}
