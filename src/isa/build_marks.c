/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the core must know of a uop besides its ports and latency: its domain, whether some ports are slow, which loads
 * memory renaming serves; and the bits of uops (`is`) that depend on the instruction and not on its class alone.
 */
#include "isa/build.h"
#include <string.h>

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
 * cycles; MOV [m64],r64 and MOV r64,[m64] 0.5).  On Zen 3 RSP must be the base (HOST, as in data/uops/zen3.tsv: MOV
 * [RSP-64],r64 and MOV r64,[RSP-64] 1 cycle a pair, 128 of them, too; with other registers 1 up to 12 pairs, 6 from 16
 * on: forward.renamed_few). */
static void set_addresses(struct build *c)
{
	bool moves = c->o.form == FORM_RMW || (c->cls == CLASS_mov && c->o.form == FORM_LOAD) || c->cls == CLASS_pop;
	moves &= (c->o.width == WIDTH_32 || c->o.width == WIDTH_64) &&
		 (c->isa->o.free_lock || !(c->is_mem & SPMU_IS(LOCK)));
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
		if (c->isa->o.renamed_stack && base != REG_GPR + 4) {
			const bool learns = renames && c->isa->o.renamed_few;
			if (u->kind == UOP_STORE_ADDR)
				u->load = elsewhere ? LOAD_NO_BASE : 0;
			else
				u->load = learns ? LOAD_NO_BASE | LOAD_RENAMES : 0;
			continue;
		}
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
	bool vector = false;		/* it writes a vector or x87 register */
	const struct isa_options *o = &c->isa->o;
	bool whole = (c->o.width == WIDTH_32 || c->o.width == WIDTH_64) && c->o.n_mem && c->o.mem[0].plain &&
		     (o->free_lock || !(c->is_mem & SPMU_IS(LOCK))) && !(c->traits & (T_BRANCH | T_SPLIT | T_STRING)) &&
		     c->cls != CLASS_movsx && c->cls != CLASS_movzx;
	if (o->renamed_by_address) {
		set_addresses(c);
		return;
	}
	for (unsigned i = c->first; i < c->b->n; i++)
		vector |= (uint8_t)(c->b->uop[i].dst[0] - REG_VEC) < REG_FLAGS - REG_VEC;
	whole &= !vector;
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

void build_set_marks(struct build *c, const ZydisDecodedOperand *op, unsigned operands)
{
	const struct isa_options *o = &c->isa->o;
	if (o->domains)
		set_domain(c);
	if (o->slow_ports)
		set_slow(c);
	if (o->renamed_loads || o->banked_loads)
		set_loads(c, op, operands);
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

/* Bits that some instructions of a class carry. */
static uint64_t mnemonic_is(enum isa_class cls, ZydisMnemonic mnemonic)
{
	if (cls == CLASS_vec_simple) {	/* saturating additions are of this class */
		const char *name = ZydisMnemonicGetString(mnemonic);
		name += *name == 'v';
		return !strncmp(name, "padd", 4) || !strncmp(name, "psub", 4) ? SPMU_IS(VECTOR_ADD) : 0;
	}
	return mnemonic == ZYDIS_MNEMONIC_XBEGIN ? SPMU_IS(TSX_BEGIN) :
		mnemonic == ZYDIS_MNEMONIC_VZEROUPPER ? SPMU_IS(ZERO_UPPERS) : 0;
}

uint64_t build_set_is(struct build *c, const ZydisDecodedInstruction *zi, bool locked)
{
	const uint64_t is = isa_classes[c->cls].is | mnemonic_is(c->cls, zi->mnemonic);
	c->is_mem = memory_is(c, zi, locked);
	c->is_main = (is & IS_MAIN_ONLY) | ((c->traits & T_FP_ARITH) ? fp_width(c, zi) : 0);
	c->is_all = is & ~(IS_MAIN_ONLY | SPMU_IS(NON_TEMPORAL) | SPMU_IS(GATHER) | IS_BRANCH);
	return is;
}

static bool is_vector(uint8_t reg)
{
	return reg >= REG_VEC && reg < REG_FLAGS;
}

bool build_moves_vector(const struct build *c, const struct uop *u)
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
