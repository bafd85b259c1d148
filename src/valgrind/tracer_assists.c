/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tests for what makes a processor's microcode assist a floating-point instruction (format.h, enum st_assist).
 *
 * With --assists=yes each floating-point operation of an SSE, AVX or x87 instruction is followed by a test of its
 * inputs and of its result: a call of the clean helper assist_test for 64 or 128 bits of them.  assists_take puts an
 * instruction's findings together.
 *
 * MXCSR: VEX keeps no DAZ and no FTZ and computes as if both were off.  So LDMXCSR leaves its value in struct live,
 * where assists_take finds both bits, and STMXCSR, which would store them as zero, gets them from there.  FXRSTOR and
 * XRSTOR do not change them: the dynamic linker restores with these what VEX saved without the bits.
 * x87: VEX computes in 64 bits.  A number that is denormal in 64 bits is normal in 80, so only what is read from or
 * written to memory as 32 or 64 bits is tested.  VEX reads an empty register, and overwrites a full one, as a choice
 * between the value and a constant NaN, by the register's tag; the choice tells stack faults.  If VEX knows the tag at
 * translation there is no choice left, and a fault is not seen.
 * Not seen: results that become zero; half-precision conversions; what helper functions of VEX compute.
 */
#include "tracer.h"

enum lanes { LOW_DOUBLE, LOW_SINGLE, DOUBLES, SINGLES };
enum { LANES = 3, BITS_SHIFT = 2 };
#define DENORMAL64 ((ULong)1 << 52)
#define DENORMAL32 (1u << 23)
#define QNAN 0x7ff8000000000000ULL
#define MXCSR_DAZ (1u << 6)
#define MXCSR_FTZ (1u << 15)

static struct {
	IRSB *out;
	IRExpr *const *def;	/* what temporaries are */
	IRExpr *bits;		/* what the current instruction needs so far; NULL: it has no test */
	Bool x87, loads_mxcsr, stores_mxcsr;
} now;

#define ON_WORD(op) (sizeof(HWord) == 8 ? Iop_##op##64 : Iop_##op##32)
static const IRType word_type = sizeof(HWord) == 8 ? Ity_I64 : Ity_I32;

static IRExpr *word(HWord v)
{
	return IRExpr_Const(sizeof(HWord) == 8 ? IRConst_U64(v) : IRConst_U32((UInt)v));
}

static IRExpr *temp(IRType type, IRExpr *value)
{
	IRTemp t = newIRTemp(now.out->tyenv, type);

	addStmtToIRSB(now.out, IRStmt_WrTmp(t, value));
	return IRExpr_RdTmp(t);
}

static Bool denormal64(ULong x)
{
	x &= ~((ULong)1 << 63);
	return x && x < DENORMAL64;
}

static Bool denormal32(UInt x)
{
	x &= 0x7fffffffu;
	return x && x < DENORMAL32;
}

/* how: enum lanes, and from BITS_SHIFT on the enum st_assist to return if one of the lanes is denormal. */
static HWord assist_test(HWord how, ULong low, ULong high)
{
	Bool any = False;

	switch ((enum lanes)(how & LANES)) {
	case LOW_DOUBLE: any = denormal64(low); break;
	case LOW_SINGLE: any = denormal32((UInt)low); break;
	case DOUBLES: any = denormal64(low) || denormal64(high); break;
	case SINGLES:
		any = denormal32((UInt)low) || denormal32((UInt)(low >> 32)) || denormal32((UInt)high) ||
		      denormal32((UInt)(high >> 32));
		break;
	}
	return any ? how >> BITS_SHIFT : 0;
}

/* An x87 store of 32 bits: a finite number that becomes infinite. */
static HWord assist_overflow(ULong from, HWord to)
{
	const ULong exponent = (ULong)0x7ff << 52;

	if ((to & 0x7fffffffu) != 0x7f800000u || (from & exponent) == exponent)
		return 0;
	return ST_ASSIST_X87_OVERFLOW;
}

/* What is left of an instruction's bits with this MXCSR.  An operation whose denormal input counts as zero has no
 * denormal result. */
static HWord assist_masked(HWord bits, HWord mxcsr)
{
	if (mxcsr & MXCSR_DAZ && bits & ST_ASSIST_SIMD_IN)
		bits &= ~(HWord)(ST_ASSIST_SIMD_IN | ST_ASSIST_SIMD_OUT);
	if (mxcsr & MXCSR_FTZ)
		bits &= ~(HWord)ST_ASSIST_SIMD_OUT;
	return bits;
}

static void found(IRExpr *bits)
{
	now.bits = now.bits ? temp(word_type, IRExpr_Binop(ON_WORD(Or), now.bits, bits)) : bits;
}

static void test_words(enum lanes lanes, HWord bit, IRExpr *low, IRExpr *high)
{
	found(temp(word_type, mkIRExprCCall(word_type, 0, "assist_test", VG_(fnptr_to_fnentry)((void *)&assist_test),
		mkIRExprVec_3(word((HWord)lanes | bit << BITS_SHIFT), low, high))));
}

/* Adds a test of the value, which is an atom of any floating-point or vector type. */
static void test(enum lanes lanes, HWord bit, IRExpr *value)
{
	IRExpr *zero = IRExpr_Const(IRConst_U64(0));

	if (!bit || value->tag != Iex_RdTmp)
		return;
	switch (typeOfIRExpr(now.out->tyenv, value)) {
	case Ity_F64:
		test_words(LOW_DOUBLE, bit, temp(Ity_I64, IRExpr_Unop(Iop_ReinterpF64asI64, value)), zero);
		break;
	case Ity_F32:
		value = temp(Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, value));
		test_words(LOW_SINGLE, bit, temp(Ity_I64, IRExpr_Unop(Iop_32Uto64, value)), zero);
		break;
	case Ity_V128:
		test_words(lanes, bit, temp(Ity_I64, IRExpr_Unop(Iop_V128to64, value)),
			lanes == LOW_DOUBLE || lanes == LOW_SINGLE ? zero :
				temp(Ity_I64, IRExpr_Unop(Iop_V128HIto64, value)));
		break;
	case Ity_V256:
		test_words(lanes, bit, temp(Ity_I64, IRExpr_Unop(Iop_V256to64_0, value)),
			temp(Ity_I64, IRExpr_Unop(Iop_V256to64_1, value)));
		test_words(lanes, bit, temp(Ity_I64, IRExpr_Unop(Iop_V256to64_2, value)),
			temp(Ity_I64, IRExpr_Unop(Iop_V256to64_3, value)));
		break;
	default:
		break;
	}
}

struct kind { Bool known; enum lanes lanes; HWord in, out; };

/* All widths of an operation. */
#define WIDTHS(op) \
	case Iop_##op##64F0x2: return (struct kind){ True, LOW_DOUBLE, in, out }; \
	case Iop_##op##32F0x4: return (struct kind){ True, LOW_SINGLE, in, out }; \
	case Iop_##op##64Fx2: case Iop_##op##64Fx4: return (struct kind){ True, DOUBLES, in, out }; \
	case Iop_##op##32Fx4: case Iop_##op##32Fx8: return (struct kind){ True, SINGLES, in, out };
#define COMPARE_WIDTHS(op) \
	case Iop_##op##64F0x2: return (struct kind){ True, LOW_DOUBLE, in, out }; \
	case Iop_##op##32F0x4: return (struct kind){ True, LOW_SINGLE, in, out }; \
	case Iop_##op##64Fx2: return (struct kind){ True, DOUBLES, in, out }; \
	case Iop_##op##32Fx4: return (struct kind){ True, SINGLES, in, out };

static struct kind kind_of(IROp op)
{
	HWord in = ST_ASSIST_ADD_IN, out = ST_ASSIST_ADD_OUT;

	switch (op) {
	WIDTHS(Add)
	WIDTHS(Sub)
	default: break;
	}
	in = ST_ASSIST_MULTIPLY_IN, out = ST_ASSIST_MULTIPLY_OUT;
	switch (op) {
	WIDTHS(Mul)
	default: break;
	}
	in = ST_ASSIST_DIVIDE_IN, out = ST_ASSIST_DIVIDE_OUT;
	switch (op) {
	WIDTHS(Div)
	WIDTHS(Sqrt)
	default: break;
	}
	in = ST_ASSIST_COMPARE_IN, out = 0;
	switch (op) {
	WIDTHS(Max)
	WIDTHS(Min)
	COMPARE_WIDTHS(CmpEQ)
	COMPARE_WIDTHS(CmpLT)
	COMPARE_WIDTHS(CmpLE)
	COMPARE_WIDTHS(CmpUN)
	case Iop_CmpF64: case Iop_CmpF32: return (struct kind){ True, LOW_DOUBLE, in, out };
	case Iop_MAddF64: case Iop_MSubF64: case Iop_MAddF32: case Iop_MSubF32:
		return (struct kind){ True, LOW_DOUBLE, ST_ASSIST_FMA_IN, ST_ASSIST_FMA_OUT };
	case Iop_F64toF32: case Iop_F32toF64:
		return (struct kind){ True, LOW_DOUBLE, ST_ASSIST_CONVERT_IN, ST_ASSIST_CONVERT_OUT };
	default: break;
	}
	return (struct kind){ False, LOW_DOUBLE, 0, 0 };
}

/* The operation of `e` and its operands without the rounding mode, which is an integer and so passes every test. */
static struct kind operation(const IRExpr *e, IRExpr *operand[4])
{
	for (UInt i = 0; i < 4; i++)
		operand[i] = NULL;
	switch (e->tag) {
	case Iex_Unop:
		operand[0] = e->Iex.Unop.arg;
		return kind_of(e->Iex.Unop.op);
	case Iex_Binop:
		operand[0] = e->Iex.Binop.arg1;
		operand[1] = e->Iex.Binop.arg2;
		return kind_of(e->Iex.Binop.op);
	case Iex_Triop:
		operand[0] = e->Iex.Triop.details->arg2;
		operand[1] = e->Iex.Triop.details->arg3;
		return kind_of(e->Iex.Triop.details->op);
	case Iex_Qop:
		operand[0] = e->Iex.Qop.details->arg2;
		operand[1] = e->Iex.Qop.details->arg3;
		operand[2] = e->Iex.Qop.details->arg4;
		return kind_of(e->Iex.Qop.details->op);
	default:
		return (struct kind){ False, LOW_DOUBLE, 0, 0 };
	}
}

/* VEX assigns the constant to a temporary first. */
static Bool is_nan(const IRExpr *e)
{
	if (e->tag == Iex_RdTmp)
		e = now.def[e->Iex.RdTmp.tmp];
	return e && e->tag == Iex_Const && e->Iex.Const.con->tag == Ico_F64i && e->Iex.Const.con->Ico.F64i == QNAN;
}

static void x87_temp(IRExpr *e, IRExpr *result)
{
	if (e->tag == Iex_Load && (e->Iex.Load.ty == Ity_F32 || e->Iex.Load.ty == Ity_F64))
		test(LOW_DOUBLE, ST_ASSIST_X87_IN, result);
	if (e->tag == Iex_ITE && is_nan(e->Iex.ITE.iffalse))
		found(temp(word_type, IRExpr_ITE(e->Iex.ITE.cond, word(0), word(ST_ASSIST_STACK_UNDERFLOW))));
	if (e->tag == Iex_ITE && is_nan(e->Iex.ITE.iftrue))
		found(temp(word_type, IRExpr_ITE(e->Iex.ITE.cond, word(ST_ASSIST_STACK_OVERFLOW), word(0))));
}

void assists_temp(IRExpr *e, IRExpr *result)
{
	IRExpr *operand[4];

	if (now.x87) {
		x87_temp(e, result);
		return;
	}
	const struct kind k = operation(e, operand);
	if (!k.known)
		return;
	for (UInt i = 0; i < 4; i++)
		if (operand[i])
			test(k.lanes, k.in, operand[i]);
	test(k.lanes, k.out, result);
}

void assists_store(IRExpr *data)
{
	if (!now.x87 || data->tag != Iex_RdTmp)
		return;
	test(LOW_DOUBLE, ST_ASSIST_X87_OUT, data);
	const IRExpr *d = now.def[data->Iex.RdTmp.tmp];
	if (d && d->tag == Iex_Binop && d->Iex.Binop.op == Iop_F64toF32 && d->Iex.Binop.arg2->tag == Iex_RdTmp) {
		IRExpr *to = temp(Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, data));
		if (sizeof(HWord) == 8)
			to = temp(Ity_I64, IRExpr_Unop(Iop_32Uto64, to));
		found(temp(word_type, mkIRExprCCall(word_type, 0, "assist_overflow",
			VG_(fnptr_to_fnentry)((void *)&assist_overflow),
			mkIRExprVec_2(temp(Ity_I64, IRExpr_Unop(Iop_ReinterpF64asI64, d->Iex.Binop.arg2)), to))));
	}
}

IRExpr *assists_take(IRExpr *mxcsr)
{
	IRExpr *bits = now.bits;

	now.bits = NULL;
	return temp(word_type, mkIRExprCCall(word_type, 0, "assist_masked",
		VG_(fnptr_to_fnentry)((void *)&assist_masked), mkIRExprVec_2(bits, mxcsr)));
}

Bool assists_any(void)
{
	return now.bits != NULL;
}

Bool assists_loads_mxcsr(void)
{
	return now.loads_mxcsr;
}

IRExpr *assists_stored_mxcsr(IRExpr *data, IRExpr *mxcsr)
{
	if (!now.stores_mxcsr || typeOfIRExpr(now.out->tyenv, data) != Ity_I32)
		return data;
	if (sizeof(HWord) == 8)
		mxcsr = temp(Ity_I32, IRExpr_Unop(Iop_64to32, mxcsr));
	mxcsr = temp(Ity_I32, IRExpr_Binop(Iop_And32, mxcsr, IRExpr_Const(IRConst_U32(MXCSR_DAZ | MXCSR_FTZ))));
	return temp(Ity_I32, IRExpr_Binop(Iop_Or32, data, mxcsr));
}

/* LDMXCSR and STMXCSR are 0F AE /2 and /3 with a memory operand, and the same in VEX. */
void assists_insn(IRSB *out, IRExpr *const *def, const UChar *op, UInt bytes)
{
	UInt at = 0;

	now.out = out;
	now.def = def;
	now.x87 = now.loads_mxcsr = now.stores_mxcsr = False;
	if (sizeof(HWord) == 8 && bytes > 1 && (op[0] & 0xf0) == 0x40)	/* REX */
		op++, bytes--;
	if (!bytes)
		return;
	now.x87 = (op[0] & 0xf8) == 0xd8;
	if (op[0] == 0x0f)
		at = 1;
	else if (op[0] == 0xc5 && bytes > 1 && (sizeof(HWord) == 8 || op[1] >= 0xc0))
		at = 2;
	else if (op[0] == 0xc4 && bytes > 1 && (sizeof(HWord) == 8 || op[1] >= 0xc0) && (op[1] & 0x1f) == 1)
		at = 3;
	if (!at || at + 1 >= bytes || op[at] != 0xae || op[at + 1] >= 0xc0)
		return;
	now.loads_mxcsr = (op[at + 1] >> 3 & 7) == 2;
	now.stores_mxcsr = (op[at + 1] >> 3 & 7) == 3;
}
