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

/* ---- computing ---- */

static const struct spec *specs(const struct build *c)
{
	return &c->isa->specs[c->row->first];
}

/* Index of the uop that does the work: the one that blocks a unit, else the one with the longest latency on the
 * path. */
static unsigned main_uop(const struct build *c, unsigned from)
{
	const struct spec *s = specs(c);
	unsigned best = c->row->count;
	for (unsigned i = from; i < c->row->count; i++) {
		if (s[i].attr & SPEC_SIDE)
			continue;
		if (s[i].unit)
			return i;
		if (best == c->row->count || s[i].latency >= s[best].latency)
			best = i;
	}
	return best;
}

static void read_flags(struct build *c, struct uop *u)
{
	if (c->o.flags_read & 1)
		build_source(c, u, REG_FLAGS);
	if (c->o.flags_read & 2)
		build_source(c, u, REG_CARRY);
}

/* Reads the operands of the bits `which`; with `rest` also those that no `in` attribute of the row names, and flags. */
static void read_sources(struct build *c, struct uop *u, unsigned which, bool rest)
{
	unsigned named = c->row->in / SPEC_IN1;
	for (unsigned i = 0; i < c->n_loaded; i++)
		if ((c->loaded_operand[i] & which) || (rest && !(c->loaded_operand[i] & named)))
			build_source(c, u, c->loaded[i]);
	for (unsigned i = 0; i < c->o.n_src; i++)
		if ((c->o.src_operand[i] & which) || (rest && !(c->o.src_operand[i] & named)))
			build_source(c, u, c->o.src[i]);
	if (rest)
		read_flags(c, u);
}

static void read_temps(struct build *c, struct uop *u)
{
	unsigned kept = 0, late = c->n_late;
	for (unsigned i = 0; i < c->n_unread; i++)
		if (!build_add_source(u, c->unread[i]))
			c->unread[kept++] = c->unread[i];
	c->n_unread = (uint8_t)kept;
	c->n_late = 0;
	for (unsigned i = 0; i < late; i++)
		build_source(c, u, c->late[i]);
}

static void write_flags(struct build *c, struct uop *u)
{
	if (c->o.flags_written & 1)
		build_destination(c, u, REG_FLAGS);
	if (c->o.flags_written & 2)
		build_destination(c, u, REG_CARRY);
}

static void write_register(struct build *c, struct uop *u, unsigned i)
{
	if (i >= c->o.n_dst)
		return;
	for (unsigned k = 0; k < c->o.n_merge; k++)
		if (c->o.merge[k] == c->o.dst[i])
			build_source(c, u, c->o.merge[k]);
	build_destination(c, u, c->o.dst[i]);
}

static struct uop *emit_spec(struct build *c, const struct spec *s, bool slot)
{
	struct uop *u = build_emit(c, s->kind, s->ports, s->latency, slot && !(s->attr & SPEC_JOINED));
	if (!u)
		return NULL;
	u->busy = s->busy;
	u->unit = s->unit;
	if (u->unit == UNIT_INTDIV)
		u->slot = build_divided_slot(c);
	if (!(s->attr & SPEC_SIDE) || s->kind == UOP_NOP)
		u->is |= c->is_all;
	return u;
}

/* Emits the row's uops from `from` on.  store: a store of the result follows. */
static void emit_compute(struct build *c, unsigned from, bool store)
{
	const struct spec *s = specs(c);
	unsigned n = c->row->count, main = main_uop(c, from), last = n, done = 0;
	bool first = true;
	for (unsigned i = from; i < n; i++)
		if (!(s[i].attr & SPEC_SIDE))
			last = i;
	for (unsigned i = from; i < n; i++) {
		done |= s[i].attr & (SPEC_OUT1 | SPEC_OUT2 | SPEC_FLAGS);
	}
	for (unsigned i = from; i < n; i++) {
		struct uop *u = emit_spec(c, &s[i], !(first && c->fusable));
		if (!u)
			return;
		first = false;
		if (i == main)
			u->is |= c->is_main;
		if (s[i].attr & SPEC_SIDE)
			continue;
		if (s[i].attr & SPEC_IN)
			read_sources(c, u, (s[i].attr & SPEC_IN) / SPEC_IN1, !c->sources_read);
		else if ((s[i].attr & SPEC_PAR) || !c->sources_read)
			read_sources(c, u, 0, true);
		c->sources_read = true;
		if (!(s[i].attr & SPEC_PAR))
			read_temps(c, u);
		/* Results: each uop writes what its attributes name; the last one writes what no attribute named. */
		unsigned attr = s[i].attr & (SPEC_OUT1 | SPEC_OUT2 | SPEC_FLAGS);
		if (i == last)
			attr |= (SPEC_OUT1 | SPEC_OUT2 | SPEC_FLAGS) & ~done;
		bool passes_on = (i != last) || store;
		if (passes_on && (!attr || i == last || !(attr == SPEC_FLAGS))) {
			uint8_t t = build_new_temp(c);
			build_add_dest(u, t);
			if (c->n_unread < sizeof c->unread)
				c->unread[c->n_unread++] = t;
			c->result = t;
		}
		if (attr & SPEC_OUT1)
			write_register(c, u, 0);
		if (attr & SPEC_OUT2)
			write_register(c, u, 1);
		for (unsigned d = 0; i == last && d < c->o.n_late; d++)
			build_source(c, u, c->o.late[d]);
		if (i == last)
			for (unsigned d = 2; d < c->o.n_dst; d++)
				write_register(c, u, d);
		if (attr & SPEC_FLAGS)
			write_flags(c, u);
	}
	/* Sources that are still without a uop (CMPXCHG16B names six registers) go to any uop of the instruction
	 * with room. */
	for (unsigned k = 0; k < c->n_late; k++) {
		bool placed = false;
		for (unsigned i = c->first; i < c->b->n && !placed; i++)
			placed = c->b->uop[i].kind == UOP_COMPUTE && build_add_source(&c->b->uop[i], c->late[k]);
		c->b->dropped += !placed;
	}
	c->n_late = 0;
}

/* ---- instructions of a special shape ---- */

static void emit_lock(struct build *c)
{
	const struct row *r = isa_row(c->isa, CLASS_lock, c->o.width, FORM_REG);
	for (unsigned i = 0; i < r->count; i++) {
		const struct spec *s = &c->isa->specs[r->first + i];
		struct uop *u = build_emit(c, s->kind, s->ports, s->latency, true);
		if (!u)
			return;
		u->busy = s->busy;
		u->unit = s->unit;
	}
}

static void build_generic(struct build *c, bool locked)
{
	bool store = c->o.form == FORM_STORE || c->o.form == FORM_RMW;
	build_loads(c);
	if (!c->row->count) {
		c->result = c->n_loaded ? c->loaded[0] : c->o.n_src ? c->o.src[0] : REG_NONE;
		if (c->n_loaded && c->o.form == FORM_LOAD && c->o.n_merge) {	/* the load itself merges its result */
			struct uop *u = &c->b->uop[c->b->n - 1];
			u->dst[0] = REG_NONE;
			for (unsigned i = 0; i < c->o.n_dst; i++)
				write_register(c, u, i);
		}
	} else if (!(c->traits & T_BRANCH)) {
		emit_compute(c, 0, store);
	}
	if (locked && !c->form)	/* a form's row includes the lock's uops */
		emit_lock(c);
	if (c->traits & T_BRANCH)	/* a call stores its return address */
		c->result = REG_NONE;
	if (store)
		build_stores(c);
	build_left_over(c);
	if ((c->traits & T_BRANCH) && c->row->count) {
		c->fusable &= !store && c->b->n == c->first + 1;
		emit_compute(c, 0, false);
		struct uop *u = &c->b->uop[c->b->n - 1];
		u->kind = UOP_BRANCH;
	}
}

/* LEAVE: RSP takes RBP's value before RBP is popped. */
static void build_leave(struct build *c)
{
	const struct spec *s = specs(c);
	for (unsigned i = 0; i < c->row->count; i++) {
		struct uop *u = emit_spec(c, &s[i], true);
		if (u && i == 0) {
			build_add_source(u, REG_GPR + 5);
			build_add_dest(u, REG_GPR + 4);
		}
	}
	struct mem m = c->o.n_mem ? c->o.mem[0] : (struct mem){ .plain = 1, .base = REG_GPR + 5, .size = 8 };
	build_load(c, &m, REG_GPR + 5, true);
	build_left_over(c);
}

static void build_prefetch(struct build *c)
{
	struct mem m = c->o.n_mem ? c->o.mem[0] : (struct mem){ .plain = 1 };
	const struct spec *s = build_memory_spec(c, CLASS_load, CLASS_load_index, false);
	struct uop *u = build_emit(c, UOP_LOAD, s->ports, 0, true);
	if (!u)
		return;
	u->is = SPMU_IS(PREFETCH_SW) | c->is_mem;
	if (m.base)
		build_add_source(u, m.base);
	if (m.index)
		build_add_source(u, m.index);
	build_assign_slot(c, u, ST_SLOT_PREFETCH, m.size);
	build_left_over(c);
}

/* CLFLUSH and the like: one of the uops that the table gives carries the address, and has the line flushed.  It is the
 * one before the last, which a store's address would be.  CLDEMOTE is a NOP; cores that execute a NOP on a port do not
 * have CLDEMOTE. */
static void build_flush(struct build *c, const ZydisDecodedInstruction *zi)
{
	struct builder *b = c->b;
	const unsigned n = b->n - c->first;
	if (!n)
		return;
	struct uop *u = &b->uop[b->n - (n > 1 ? 2 : 1)];
	if (u->kind != UOP_NOP && !(c->traits & T_FLUSH))
		return;
	u->kind = UOP_FLUSH;
	u->domain = 0;
	u->flush = zi->mnemonic == ZYDIS_MNEMONIC_CLFLUSH ? FLUSH_OUT
		: zi->mnemonic == ZYDIS_MNEMONIC_CLFLUSHOPT ? FLUSH_OUT_WEAK
		: zi->mnemonic == ZYDIS_MNEMONIC_CLWB ? FLUSH_CLEAN : FLUSH_DEMOTE;
	build_assign_slot(c, u, ST_SLOT_FLUSH, 1);
}

/* Strings.  The pointers and the count advance independently of memory; a compare reads what was loaded. */
static void build_string(struct build *c, bool rep, unsigned size)
{
	static const struct { uint8_t base, read, write; } shape[5][2] = {
		{ { REG_GPR + 6, 1, 0 }, { REG_GPR + 7, 0, 1 } },	/* MOVS: [RSI] to [RDI] */
		{ { REG_GPR + 6, 1, 0 }, { REG_GPR + 7, 1, 0 } },	/* CMPS */
		{ { REG_GPR + 7, 0, 1 }, { 0, 0, 0 } },			/* STOS */
		{ { REG_GPR + 6, 1, 0 }, { 0, 0, 0 } },			/* LODS */
		{ { REG_GPR + 7, 1, 0 }, { 0, 0, 0 } },			/* SCAS */
	};
	enum isa_class k = c->cls;
	int which = k == CLASS_movs || k == CLASS_rep_movs ? 0 : k == CLASS_cmps || k == CLASS_rep_cmps ? 1 :
	            k == CLASS_stos || k == CLASS_rep_stos ? 2 : k == CLASS_lods || k == CLASS_rep_lods ? 3 : 4;
	const struct spec *s = specs(c);
	const uint8_t rax = REG_GPR, rcx = REG_GPR + 1;
	unsigned i = 0;
	for (; i < c->row->startup; i++)
		emit_spec(c, &s[i], true);
	if (rep) {
		c->in->rep_first = (uint8_t)(c->b->n - c->first);
		c->in->rep_chunk = c->row->chunk;
	}
	uint8_t loaded = REG_NONE;
	for (int m = 0; m < 2; m++) {
		struct mem mem = { .plain = 1, .base = shape[which][m].base, .size = (uint16_t)size };
		if (shape[which][m].read) {
			const struct row *merge = isa_row(c->isa, CLASS_mov, size == 1 ? WIDTH_8 : WIDTH_16, FORM_LOAD);
			bool merges = which == 3 && size < 4 && merge->count == 1;
			uint8_t dest = which == 3 && !merges ? rax : build_new_temp(c);
			struct uop *u = build_load(c, &mem, dest, true);
			/* as MOV al, m */
			if (merges && (u = emit_spec(c, &c->isa->specs[merge->first], false))) {
				build_add_source(u, dest);
				build_add_source(u, rax);
				build_add_dest(u, rax);
			} else if (u && which == 3 && size < 4) {
				build_add_source(u, rax);
			}
			if (which != 3 && c->n_loaded < sizeof c->loaded)
				c->loaded[c->n_loaded++] = loaded = dest;
		}
	}
	for (int m = 0; m < 2; m++)	/* stores come ahead of the uop that moves the pointer */
		if (shape[which][m].write) {
			struct mem mem = { .plain = 1, .base = shape[which][m].base, .size = (uint16_t)size };
			build_store(c, &mem, which == 2 ? rax : loaded);
		}
	for (; i < c->row->count; i++) {
		struct uop *u = emit_spec(c, &s[i], true);
		if (!u)
			return;
		if (s[i].attr & SPEC_FLAGS) {
			for (unsigned l = 0; l < c->n_loaded; l++)
				build_add_source(u, c->loaded[l]);
			if (which == 4)
				build_add_source(u, rax);
			write_flags(c, u);
		} else if (s[i].attr & SPEC_PTR) {
			for (int m = 0; m < 2; m++)
				if (shape[which][m].base) {
					build_add_source(u, shape[which][m].base);
					build_add_dest(u, shape[which][m].base);
				}
			if (rep) {
				build_add_source(u, rcx);
				build_add_dest(u, rcx);
			}
		}
	}
	build_left_over(c);
}

/* FXCH and XCHG exchange the names of two registers: three renames in two slots, or (FXCH) two uops on ports. */
static void build_names(struct build *c)
{
	if (c->row->count < 2 || c->o.n_dst < 2) {
		build_generic(c, false);
		return;
	}
	const struct spec *s = specs(c);
	uint8_t a = c->o.dst[0], b = c->o.dst[1], t = build_new_temp(c);
	const uint8_t move[3][2] = { { t, a }, { a, b }, { b, t } };
	for (int i = 0; i < 3; i++) {
		struct uop *u = emit_spec(c, &s[i ? i - 1 : 0], i != 1);
		if (!u)
			return;
		if (i == 0) {	/* saves a name, does no work */
			u->kind = UOP_ELIMINATED;
			u->ports = 0;
			u->latency = 0;
		}
		build_add_dest(u, move[i][0]);
		build_add_source(u, move[i][1]);
	}
}

/* ---- idioms ---- */

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
	write_flags(c, u);
	if (r->count == 1) {
		u->ports = c->isa->specs[r->first].ports;
		u->latency = c->isa->specs[r->first].latency;
	}
}

/* Home domain of a vector operation that is one uop; shuffles have none.  Copies and logic have one if the port
 * that they go to has. */
static uint16_t domain(const struct build *c)
{
	switch (c->cls) {
	case CLASS_vmov: case CLASS_fp_logic: case CLASS_blend:
		return DOMAIN_INTEGER;
	case CLASS_fp_add:
		return c->isa->o.fp_adder ? DOMAIN_FP_ADD : DOMAIN_FP;
	case CLASS_fp_cmp: case CLASS_fp_round: case CLASS_cvt:
		return DOMAIN_FP;
	case CLASS_fp_hadd: case CLASS_fp_dpps: case CLASS_fp_dppd:
		return DOMAIN_ANY;
	default:
		if (c->traits & T_FP_ARITH)
			return DOMAIN_FP;
		return isa_classes[c->cls].is & SPMU_IS(INT_VECTOR) ? DOMAIN_INTEGER : DOMAIN_ANY;
	}
}

static void set_domain(struct build *c)
{
	struct uop *only = NULL;
	for (unsigned i = c->first; i < c->b->n; i++)
		if (c->b->uop[i].kind == UOP_COMPUTE) {
			if (only)
				return;
			only = &c->b->uop[i];
		}
	if (only && c->o.width >= WIDTH_128 && c->o.width <= WIDTH_512)
		only->domain = domain(c);
}

/* Marks computations that have a long latency on some ports (core/backend/scheduler.h). */
static void set_slow(struct build *c)
{
	for (unsigned i = c->first; i < c->b->n; i++) {
		struct uop *u = &c->b->uop[i];
		if (u->kind == UOP_COMPUTE && u->ports && !(u->ports & ~c->isa->o.slow_ports) &&
		    u->latency >= c->isa->o.slow_latency)
			u->domain |= DOMAIN_SLOW;
	}
}

/* Sets `load` where memory renaming works by address.  Moves, POP and read-modify-writes may take the stored register's
 * value, other operations on memory may not (HOST, as in data/uops/zen4.tsv: MOV [m64],r64 and MOV r64,[m64] or
 * MOV r32,[m32] 1 cycle a pair, and ADD [m64],r64 1; with ADD r64,[m64], MOVZX, MOVSXD or 16 bits 6 to 8).  Two
 * addresses with an index and the same base and place count as equal.  A value stored from a vector or x87 register
 * does not reach a general register this way (HOST, Zen 5: MOVSD [m64],xmm, MOV r64,[m64] and MOVQ xmm,r64 11.4 to 13.0
 * cycles; MOV [m64],r64 and MOV r64,[m64] 0.5). */
static void set_addresses(struct build *c)
{
	bool moves = c->o.form == FORM_RMW || (c->cls == CLASS_mov && c->o.form == FORM_LOAD) || c->cls == CLASS_pop;
	moves &= (c->o.width == WIDTH_32 || c->o.width == WIDTH_64) && !(c->is_mem & SPMU_IS(LOCK));
	bool elsewhere = false;		/* stores from a vector or x87 register */
	for (unsigned i = c->first; i < c->b->n; i++)
		/* UOP_COMPUTE: FST converts before it stores. */
		if (c->b->uop[i].kind == UOP_STORE_DATA || c->b->uop[i].kind == UOP_COMPUTE)
			for (unsigned j = 0; j < sizeof c->b->uop[i].src; j++)
				elsewhere |= c->b->uop[i].src[j] >= REG_VEC && c->b->uop[i].src[j] < REG_FLAGS;
	for (unsigned i = c->first; i < c->b->n; i++) {
		struct uop *u = &c->b->uop[i];
		if ((u->kind != UOP_LOAD && u->kind != UOP_STORE_ADDR) || u->is & SPMU_IS(PREFETCH_SW))
			continue;
		bool renames = u->kind == UOP_LOAD && moves && (u->size == 4 || u->size == 8);
		uint8_t base = c->o.n_mem ? c->o.mem[0].base : REG_NONE;
		u->load = (uint16_t)((renames ? LOAD_RENAMES : 0) | (base < REG_VEC ? base : REG_NONE) * LOAD_BASE |
		                     (c->o.n_mem && c->o.mem[0].index ? LOAD_INDEX : 0));
		if (elsewhere && u->kind == UOP_STORE_ADDR)
			u->load = LOAD_NO_BASE;
	}
}

/* Sets `load`: which loads may take the value of the stored register.  These are loads of whole general registers
 * from an address without an index (GUESS; also a GUESS is that computing instructions count: the measured ones are
 * MOV and POP).  Of the read-modify-writes only those with a constant do (InstLatx64 on Golden Cove: ADD [m64],imm
 * 1 cycle, ADD [m64],r64 7.3). */
static void set_loads(struct build *c, const ZydisDecodedOperand *op, unsigned operands)
{
	const struct isa_options *o = &c->isa->o;
	bool whole = (c->o.width == WIDTH_32 || c->o.width == WIDTH_64) && c->o.n_mem && c->o.mem[0].plain &&
		     !(c->is_mem & SPMU_IS(LOCK)) && !(c->traits & (T_BRANCH | T_SPLIT | T_STRING)) &&
		     c->cls != CLASS_movsx && c->cls != CLASS_movzx;
	if (o->renamed_by_address) {
		set_addresses(c);
		return;
	}
	if (c->o.form == FORM_RMW)
		whole &= operands > 1 && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	for (unsigned i = c->first; i < c->b->n; i++) {
		struct uop *u = &c->b->uop[i];
		if (u->kind != UOP_LOAD || u->is & SPMU_IS(PREFETCH_SW))
			continue;
		bool renames = o->renamed_loads && whole && (u->size == 4 || u->size == 8);
		u->load = (uint16_t)((o->banked_loads ? LOAD_BANKS : 0) | (renames ? LOAD_RENAMES : 0));
	}
}

/* Adds the uop that merges CF and the other flags, ahead of an instruction that reads both when two instructions wrote
 * them (Optimization Manual, "Partial Flag Register Stalls": since Sandy Bridge this costs a uop, not a stall).  Left
 * out: writers before the block's beginning. */
static void merge_flags(struct build *c)
{
	struct builder *b = c->b;
	if (c->o.flags_read == 3 && b->flags_split) {
		struct uop *u = build_emit(c, UOP_COMPUTE, c->isa->o.flags_ports, 1, true);
		if (u) {
			u->src[0] = u->dst[0] = REG_FLAGS;
			u->src[1] = u->dst[1] = REG_CARRY;
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

static uint64_t fp_width(const struct build *c, const ZydisDecodedInstruction *zi)
{
	bool wide = c->o.width == WIDTH_256;
	switch (c->isa->fp_kind[zi->mnemonic]) {
	case 1: return SPMU_IS(FP_SCALAR_SINGLE);
	case 2: return SPMU_IS(FP_SCALAR_DOUBLE);
	case 3: return wide ? SPMU_IS(FP_256_SINGLE) : SPMU_IS(FP_128_SINGLE);
	case 4: return wide ? SPMU_IS(FP_256_DOUBLE) : SPMU_IS(FP_128_DOUBLE);
	default: return 0;
	}
}

static bool is_vector(uint8_t reg)
{
	return reg >= REG_VEC && reg < REG_FLAGS;
}

/* Does the uop load or store a vector, MMX or x87 register, or copy one? */
static bool moves_vector(const struct build *c, const struct uop *u)
{
	bool vector = false;
	switch (u->kind) {
	case UOP_LOAD:
		for (unsigned i = 0; i < c->o.n_dst; i++)
			vector |= is_vector(c->o.dst[i]);
		return vector || u->is & SPMU_IS(X87);
	case UOP_STORE_DATA:
		for (unsigned i = 0; i < sizeof u->src; i++)
			vector |= is_vector(u->src[i]);
		return vector || u->is & SPMU_IS(X87);
	case UOP_COMPUTE:
		break;
	default:
		return false;
	}
	switch (c->cls) {
	case CLASS_fld: case CLASS_fst: case CLASS_fxch: case CLASS_vmov: case CLASS_vec_copy: case CLASS_mov_scalar:
	case CLASS_mov_half: case CLASS_mov_gpr_vec: case CLASS_mov_vec_gpr: case CLASS_mov_mmx_vec: case CLASS_movdup:
		return true;
	default:
		return false;
	}
}

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
		if (moves_vector(c, u))
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

static bool zeroes(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	return (zi->mnemonic == ZYDIS_MNEMONIC_XOR || zi->mnemonic == ZYDIS_MNEMONIC_SUB) &&
		op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		op[0].reg.value == op[1].reg.value && zi->operand_width >= 32;
}

static bool has_serialize(const struct build *c)
{
	for (unsigned i = 0; i < c->row->count; i++)
		if (specs(c)[i].kind == UOP_SERIALIZE)
			return true;
	return false;
}

/* The `is` of its memory uops. */
static uint64_t memory_is(const struct build *c, const ZydisDecodedInstruction *zi, bool locked)
{
	uint64_t is = isa_classes[c->cls].is & IS_MEM_ALSO;
	is |= (locked ? SPMU_IS(LOCK) : 0) | ((c->traits & T_GATHER) ? SPMU_IS(GATHER) : 0);
	if (zi->mnemonic == ZYDIS_MNEMONIC_PREFETCHNTA)
		return is | SPMU_IS(NON_TEMPORAL);
	if (!(c->traits & T_PREFETCH))
		return is;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PREFETCHT0: return is | SPMU_IS(PREFETCH_T0);
	case ZYDIS_MNEMONIC_PREFETCHT1: return is | SPMU_IS(PREFETCH_T1);
	case ZYDIS_MNEMONIC_PREFETCHT2: return is | SPMU_IS(PREFETCH_T2);
	case ZYDIS_MNEMONIC_PREFETCHW: return is | SPMU_IS(PREFETCH_W);
	default: return is;
	}
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

/* Chooses another row where two equal operands make the instruction a rotate or an idiom. */
static void apply_equal_operands(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
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

static void emit_copy(struct build *c)
{
	struct uop *u = build_emit(c, UOP_ELIMINATED, 0, 0, true);
	if (!u)
		return;
	u->src[0] = c->o.src[0];
	u->dst[0] = c->o.dst[0];
	u->is = c->is_all | (c->o.src[0] >= REG_VEC ? SPMU_IS(MOVE_VECTOR) : SPMU_IS(MOVE_INT));
	if (c->isa->o.moves_limited && c->row->count == 1) {
		u->ports = specs(c)->ports;
		u->latency = specs(c)->latency;
	}
}

/* Gives the uop behind a load or a store address a slot of its own, where the core does not micro-fuse them. */
static void split_slots(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
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

static void emit_uops(struct build *c, const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, bool locked)
{
	const int64_t limit = c->isa->o.constants;
	bool copy = is_eliminated_copy(c);
	int64_t constant = 0;
	bool adds = adds_constant(c, zi, op, &constant), early = adds && constant > -limit && constant < limit;
	if (adds && !early && c->cls == CLASS_add_imm)
		c->row = isa_row(c->isa, CLASS_alu, c->o.width, FORM_REG);
	if (c->traits & T_STRING) {
		bool rep = isa_classes[c->cls].is & SPMU_IS(STRING_REP);
		build_string(c, rep, zi->operand_width / 8u);
	} else if (c->traits & T_PREFETCH) {
		build_prefetch(c);
	} else if (c->cls == CLASS_leave) {
		build_leave(c);
	} else if (c->cls == CLASS_fxch ||
		   (c->cls == CLASS_xchg && c->row->count == 2 && specs(c)->kind == UOP_ELIMINATED)) {
		build_names(c);
	} else if (early) {
		emit_eliminated(c, c->cls == CLASS_add_imm ? CLASS_alu : c->cls, constant);
	} else if (copy) {
		emit_copy(c);
	} else {
		build_generic(c, locked);
		split_slots(c, zi, op);
		if (c->traits & T_FLUSH || zi->mnemonic == ZYDIS_MNEMONIC_CLDEMOTE)
			build_flush(c, zi);
	}
}

/* Bits that some instructions of a class carry. */
static uint64_t mnemonic_is(enum isa_class cls, ZydisMnemonic mnemonic)
{
	if (cls == CLASS_vec_simple) {	/* saturating additions are of this class */
		const char *name = ZydisMnemonicGetString(mnemonic);
		name += *name == 'v';
		return !strncmp(name, "padd", 4) || !strncmp(name, "psub", 4) ? SPMU_IS(VECTOR_ADD) : 0;
	}
	return mnemonic == ZYDIS_MNEMONIC_XBEGIN ? SPMU_IS(TSX_BEGIN) : 0;
}

void isa_build(struct builder *b, enum isa_class cls, bool substitute, const ZydisDecodedInstruction *zi,
               const ZydisDecodedOperand *op, struct slot_cursor *slots, struct insn *in)
{
	struct build c = {
		.b = b, .isa = b->isa, .slots = slots, .in = in, .cls = cls, .traits = isa_classes[cls].traits,
		.first = b->n,
	};
	const uint64_t is = isa_classes[cls].is | mnemonic_is(cls, zi->mnemonic);
	const uint64_t branch = SPMU_IS(BRANCH) | SPMU_IS(COND) | SPMU_IS(CALL) | SPMU_IS(RET) | SPMU_IS(INDIRECT) |
				SPMU_IS(FAR);
	const bool locked = (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK) || cls == CLASS_xchg_mem;
	const bool rep = is & SPMU_IS(STRING_REP);
	char name[ISA_FORM_NAME];
	isa_operands(b->isa, cls, zi, op, &b->top, &c.o);
	isa_form_name(zi, op, name);
	c.form = isa_form_row(b->isa, name);
	c.row = c.form ? c.form : isa_row(b->isa, cls, c.o.width, c.o.form);
	c.elements = op[0].element_size ? op[0].size / op[0].element_size : 1;
	c.is_mem = memory_is(&c, zi, locked);
	c.is_main = (is & IS_MAIN_ONLY) | ((c.traits & T_FP_ARITH) ? fp_width(&c, zi) : 0);
	c.is_all = is & ~(IS_MAIN_ONLY | SPMU_IS(NON_TEMPORAL) | SPMU_IS(GATHER) | branch);
	apply_row_flags(&c, substitute);
	if (b->isa->o.flags_ports)
		merge_flags(&c);
	apply_equal_operands(&c, zi, op);
	emit_uops(&c, zi, op, locked);
	if (b->isa->o.domains)
		set_domain(&c);
	if (b->isa->o.slow_ports)
		set_slow(&c);
	if (b->isa->o.renamed_loads || b->isa->o.banked_loads)
		set_loads(&c, op, zi->operand_count_visible);
	in->flags |= (uint16_t)(rep ? INSN_REP : 0);
	finish(&c, (c.row->flags & ROW_MS) || rep);
	if (b->n > c.first && zeroes(zi, op))
		b->uop[c.first].flags |= UOP_ZEROES;
	if ((is & branch) && b->n > c.first)
		b->uop[b->n - 1].is |= is & branch;
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
		emit_spec(&c, &specs(&c)[i], true);
	build_left_over(&c);
	finish(&c, false);
}
