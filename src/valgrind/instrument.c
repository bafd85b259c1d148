/* SPDX-License-Identifier: GPL-2.0-or-later
 * Adds inline stores to a superblock, and writes the block's description into the ring.
 *
 * What is added, in pseudo code (ptr, end, open: struct live in the thread's shadow guest state):
 *
 *   on entry        p = ptr;  if (p + largest record of this block > end) leave to the scheduler, come back here
 *                   *p = header with the number of the first exit
 *   an access       p[1 + k] = address                      k is constant; a guarded access stores ST_NOT_DONE instead
 *   a locked one    and ring_meet(address)                  the only call
 *   --regs          p[1 + k] = value                        after each write of a general-purpose register or the thunk
 *   --assists       p[1 + k] = enum st_assist               behind each floating-point instruction
 *   before an exit  *p = header with the exit's number, unless it is there already;  ptr = p + record length
 *   after an exit that was not taken, if the block continues: ptr = p
 *   settings.steps  on entry and between instructions: if (budget <= 0) leave to the scheduler, which finds AFTER_STEP;
 *                   budget = budget - 1 before each instruction
 *
 * While a block is entered and not left, its header is at ptr; at other times the word at ptr is old and never read.
 * Two things leave such a block: a host signal (ring_fault knows, because signals interrupt generated code in no other
 * case), and an exit with which the core raises a fault: misaligned SSE operand, undecodable code.  A block that has
 * exits of the second kind announces it before the first of them: open = p.  ring_leave closes it as ST_BLOCK_CUT.
 *
 * What VEX does that the reader should know:
 *  - A REP instruction is a block that jumps to itself, one iteration each, and one more that finds the count zero.
 *  - A LOCKed instruction is a load and a compare-and-swap; it gets one ATOMIC LOADSTORE slot, the load gets none.
 *  - A gather loads from the stack pointer for masked elements; such a slot is ST_NOT_DONE.
 *  - A CMOV from memory always loads.
 *  - IRETQ pops five words, the 32-bit IRET three.  Both leave with AFTER_IRET, and tracer_pmi.c does what is left.
 * Not described: instructions that VEX cannot decode (the fault's ST_SIGNAL carries their bytes).
 */
#include "tracer.h"

#define MAX_INSNS 255
#define MAX_SLOTS 4000
#define MAX_EXITS 1000

#if defined(VGA_amd64)
typedef VexGuestAMD64State GuestState;
#define GPR0 offsetof(GuestState, guest_RAX)
#define GPRS 16
#define WORD Ity_I64
#else
typedef VexGuestX86State GuestState;
#define GPR0 offsetof(GuestState, guest_EAX)
#define GPRS 8
#define WORD Ity_I32
#endif
#define WORD_BYTES ((Int)sizeof(HWord))
#define THUNK0 (GPR0 + GPRS * WORD_BYTES)	/* CC_OP, CC_DEP1, CC_DEP2, CC_NDEP follow the last register */
#define REGS_END (THUNK0 + 4 * WORD_BYTES)
#define ALL_ONES (~(HWord)0)

struct build {
	IRSB *in, *out;
	const VexGuestLayout *layout;
	Int shadow;			/* offset of struct live */
	IRTemp p;			/* the record's address */
	UInt id;
	Bool advanced;			/* ptr is behind the record of an exit that was not taken ... */
	UInt advanced_slots;		/* ... with this many slots */
	UInt header_exit;		/* exit number that is now in the header */
	Bool said_open;
	/* The value last written to each register and thunk word in this block, if it was constant. */
	struct { Bool known; ULong value; } constant[GPRS + 4];
	UInt insns, slots, exits;
	Bool locked, gather, branch;	/* the current instruction: LOCKed; a gather; a relative jump */
	IRExpr **def;			/* what each temporary of the block is assigned; for gathers */
	/* Only one block is built at a time; this is too large for Valgrind's stack. */
	struct st_insn_def insn[MAX_INSNS];
	struct st_slot slot[MAX_SLOTS];
	struct st_exit_def exit[MAX_EXITS];
};
static struct build the_build;

static IRExpr *word_const(HWord v)
{
	return IRExpr_Const(WORD == Ity_I64 ? IRConst_U64(v) : IRConst_U32((UInt)v));
}

static IRExpr *temp(struct build *b, IRType type, IRExpr *value)
{
	IRTemp t = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(t, value));
	return IRExpr_RdTmp(t);
}

static IRExpr *plus(struct build *b, IRExpr *word, HWord n)
{
	return temp(b, WORD, IRExpr_Binop(WORD == Ity_I64 ? Iop_Add64 : Iop_Add32, word, word_const(n)));
}

static void store(struct build *b, UInt offset, IRExpr *value)
{
	IRExpr *at = IRExpr_RdTmp(b->p);

	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, offset ? plus(b, at, offset) : at, value));
}

/* Stores a 64-bit word that is known at translation. */
static void store_const(struct build *b, UInt offset, ULong v)
{
	if (WORD == Ity_I64) {
		store(b, offset, IRExpr_Const(IRConst_U64(v)));
	} else {
		store(b, offset, IRExpr_Const(IRConst_U32((UInt)v)));
		store(b, offset + 4, IRExpr_Const(IRConst_U32((UInt)(v >> 32))));
	}
}

static void put_live(struct build *b, SizeT field, IRExpr *value)
{
	addStmtToIRSB(b->out, IRStmt_Put(b->shadow + (Int)field, value));
}

/* The block continues behind an exit. */
static void reopen(struct build *b)
{
	if (!b->advanced)
		return;
	b->advanced = False;
	put_live(b, offsetof(struct live, ptr), IRExpr_RdTmp(b->p));
}

/* From here on, the core may raise a fault. */
static void may_leave_open(struct build *b)
{
	reopen(b);
	if (!b->said_open)
		put_live(b, offsetof(struct live, open), IRExpr_RdTmp(b->p));
	b->said_open = True;
}

static struct st_slot *new_slot(struct build *b, enum st_slot_kind kind, UInt size)
{
	if (b->slots == MAX_SLOTS)
		VG_(tool_panic)("a block with too many accesses");
	struct st_slot *s = &b->slot[b->slots++];
	s->kind = (UChar)kind;
	s->insn = (UChar)(b->insns - 1);
	s->flags = 0;
	s->reg = 0;
	s->size = (UShort)size;
	s->offset = 0;
	return s;
}

static void slot_access(struct build *b, enum st_slot_kind kind, IRExpr *addr, UInt size, UInt flags, IRExpr *guard)
{
	UInt at = 8 + 8 * b->slots;
	struct st_slot *s = new_slot(b, kind, size);

	if (b->locked)
		flags |= ST_SLOT_ATOMIC;
	if (guard && guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1)
		guard = NULL;
	s->flags = (UChar)(flags | (guard ? ST_SLOT_COND : 0));
	if (guard)
		addr = temp(b, WORD, IRExpr_ITE(guard, addr, word_const(ALL_ONES)));
	store(b, at, addr);
	if (WORD == Ity_I32) {	/* the upper half: ST_NOT_DONE needs ones there, too */
		IRExpr *upper = word_const(0);
		if (guard)
			upper = temp(b, WORD, IRExpr_ITE(guard, word_const(0), word_const(ALL_ONES)));
		store(b, at + 4, upper);
	}
}

/* Tells ring_meet of a locked access: threads meet at those. */
static void call_meet(struct build *b, IRExpr *addr)
{
	addStmtToIRSB(b->out,
		IRStmt_Dirty(
			unsafeIRDirty_0_N(0, "ring_meet", VG_(fnptr_to_fnentry)(&ring_meet), mkIRExprVec_1(addr))));
}

/* A register write of `type` at guest state offset `off`; ignored unless it is a general-purpose or thunk register. */
static void slot_register(struct build *b, Int off, IRType type, IRExpr *value)
{
	UInt size = (UInt)sizeofIRType(type);
	UInt at = 8 + 8 * b->slots;
	IROp widen = Iop_INVALID;

	if (!settings.regs || off < (Int)GPR0 || off + (Int)size > (Int)REGS_END || size > (UInt)WORD_BYTES)
		return;
	UInt reg = (UInt)(off - (Int)GPR0) / (UInt)WORD_BYTES;
	/* Every instruction that sets flags writes CC_OP and CC_NDEP, mostly with the value that is there already. */
	if (reg >= GPRS && value->tag == Iex_Const) {
		ULong v = type == Ity_I64 ? value->Iex.Const.con->Ico.U64 : value->Iex.Const.con->Ico.U32;
		if (b->constant[reg].known && b->constant[reg].value == v)
			return;
		b->constant[reg].known = True;
		b->constant[reg].value = v;
	} else {
		b->constant[reg].known = False;
	}
	struct st_slot *s = new_slot(b, ST_SLOT_REG, size);
	s->reg = (UChar)(reg < GPRS ? reg : 16 + reg - GPRS);
	s->offset = (UShort)((UInt)(off - (Int)GPR0) % (UInt)WORD_BYTES);
	if (value->tag == Iex_Const) {
		const IRConst *c = value->Iex.Const.con;
		store_const(b, at, type == Ity_I64 ? c->Ico.U64 : type == Ity_I32 ? c->Ico.U32 :
			    type == Ity_I16 ? c->Ico.U16 : c->Ico.U8);
		return;
	}
	switch (type) {
	case Ity_I8:  widen = WORD == Ity_I64 ? Iop_8Uto64 : Iop_8Uto32; break;
	case Ity_I16: widen = WORD == Ity_I64 ? Iop_16Uto64 : Iop_16Uto32; break;
	case Ity_I32: widen = WORD == Ity_I64 ? Iop_32Uto64 : Iop_INVALID; break;
	case Ity_I64: break;
	default: VG_(tool_panic)("a register written as something else than an integer");
	}
	if (widen != Iop_INVALID)
		value = temp(b, WORD, IRExpr_Unop(widen, value));
	store(b, at, value);
	if (WORD == Ity_I32)
		store(b, at + 4, word_const(0));
}

/* Describes a division (format.h, ST_SLOT_DIVIDED).  op, dividend: of the division that made `result`.  VEX does
 * DIV and IDIV of 8 and 16 bits as of 32. */
static void slot_divided(struct build *b, IROp op, IRExpr *dividend, IRExpr *result)
{
	const Bool is_signed = op == Iop_DivModS64to32 || op == Iop_DivModS128to64;
	const Bool wide = op == Iop_DivModU128to64 || op == Iop_DivModS128to64;
	const IRType type = wide ? Ity_I64 : Ity_I32;
	IRExpr *q = temp(b, type, IRExpr_Unop(wide ? Iop_128to64 : Iop_64to32, result));

	if (is_signed) {
		IRExpr *sign = temp(b, type,
			IRExpr_Binop(wide ? Iop_Sar64 : Iop_Sar32, q, IRExpr_Const(IRConst_U8(wide ? 63 : 31))));
		q = temp(b, type, IRExpr_Binop(wide ? Iop_Xor64 : Iop_Xor32, q, sign));
		q = temp(b, type, IRExpr_Binop(wide ? Iop_Sub64 : Iop_Sub32, q, sign));
	}
	q = temp(b, type, IRExpr_Binop(wide ? Iop_Shr64 : Iop_Shr32, q, IRExpr_Const(IRConst_U8(1))));
	if (wide) {
		IRExpr *upper = temp(b, Ity_I64, IRExpr_Unop(Iop_128HIto64, dividend)),
		       *empty = IRExpr_Const(IRConst_U64(0));
		if (is_signed) {
			IRExpr *lower = temp(b, Ity_I64, IRExpr_Unop(Iop_128to64, dividend));
			empty = temp(b, Ity_I64, IRExpr_Binop(Iop_Sar64, lower, IRExpr_Const(IRConst_U8(63))));
		}
		upper = temp(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, upper, empty));
		upper = temp(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, upper));
		upper = temp(b, Ity_I64, IRExpr_Binop(Iop_Shl64, upper, IRExpr_Const(IRConst_U8(63))));
		q = temp(b, Ity_I64, IRExpr_Binop(Iop_Or64, q, upper));
	} else if (WORD == Ity_I64) {
		q = temp(b, Ity_I64, IRExpr_Unop(Iop_32Uto64, q));
	}
	UInt at = 8 + 8 * b->slots;
	new_slot(b, ST_SLOT_REG, (UInt)WORD_BYTES)->reg = ST_SLOT_DIVIDED;
	store(b, at, q);
	if (WORD == Ity_I32)
		store(b, at + 4, word_const(0));
}

/* Registers that a helper function wrote without a Put statement, e.g. CPUID. */
static void slots_of_helper_registers(struct build *b, const IRDirty *d)
{
	for (Int i = 0; i < d->nFxState; i++) {
		if (d->fxState[i].fx == Ifx_Read)
			continue;
		for (Int r = 0; r <= d->fxState[i].nRepeats; r++) {
			Int from = d->fxState[i].offset + r * d->fxState[i].repeatLen, to = from + d->fxState[i].size;
			for (Int off = (Int)GPR0; off < (Int)REGS_END; off += WORD_BYTES)
				if (off < to && off + WORD_BYTES > from && settings.regs)
					slot_register(b, off, WORD, temp(b, WORD, IRExpr_Get(off, WORD)));
		}
	}
}

static IRExpr *gpr(struct build *b, Int number)
{
	return temp(b, WORD, IRExpr_Get((Int)GPR0 + number * WORD_BYTES, WORD));
}

static void slot_prefetch(struct build *b, const struct st_insn_def *insn)
{
	struct prefetch f;

	if (!prefetch_decode(insn->bytes, insn->len, insn->addr + insn->len, &f))
		return;
	IRExpr *addr = word_const((HWord)f.disp);
	IROp add = WORD == Ity_I64 ? Iop_Add64 : Iop_Add32, shl = WORD == Ity_I64 ? Iop_Shl64 : Iop_Shl32;
	if (f.base >= 0)
		addr = temp(b, WORD, IRExpr_Binop(add, gpr(b, f.base), addr));
	if (f.index >= 0) {
		IRExpr *index = gpr(b, f.index);
		if (f.scale)
			index = temp(b, WORD, IRExpr_Binop(shl, index, IRExpr_Const(IRConst_U8((UChar)f.scale))));
		addr = temp(b, WORD, IRExpr_Binop(add, index, addr));
	}
	if (f.address32 && WORD == Ity_I64)
		addr = temp(b, WORD, IRExpr_Binop(Iop_And64, addr, word_const(0xffffffffu)));
	slot_access(b, f.flush ? ST_SLOT_FLUSH : ST_SLOT_PREFETCH, addr, 0, 0, NULL);
}

/* Valgrind's client request is a sequence of five instructions that do nothing on a processor.  VEX treats it as one
 * instruction of up to 19 bytes.  We describe it by the first of the five, and so it retires as one instruction. */
static UInt true_length(Addr addr, UInt len)
{
#if defined(VGA_amd64)
	/* rol $3, %rdi; rol $13, %rdi */
	static const UChar request[] = { 0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d };
#else
	static const UChar request[] = { 0xc1, 0xc7, 0x03, 0xc1, 0xc7, 0x0d };
#endif
	if (len > sizeof request && VG_(memcmp)((const void *)addr, request, sizeof request) == 0)
		return sizeof request / 2;
	tl_assert(len <= sizeof ((struct st_insn_def *)0)->bytes);
	return len;
}

/* True for Jcc, LOOPcc, JRCXZ and JMP; op: behind the prefixes. */
static Bool is_relative_jump(const UChar *op, UInt bytes)
{
#if defined(VGA_amd64)
	if (bytes > 1 && (op[0] & 0xf0) == 0x40)	/* REX */
		op++, bytes--;
#endif
	return (op[0] & 0xf0) == 0x70 || (op[0] & 0xfc) == 0xe0 || op[0] == 0xe9 || op[0] == 0xeb ||
	       (bytes > 1 && op[0] == 0x0f && (op[1] & 0xf0) == 0x80);
}

/* Skips the prefixes and notes LOCK.  VEX gathers are VEX.0F38 90 to 93. */
static void begin_insn(struct build *b, Addr addr, UInt len)
{
	struct st_insn_def *insn = &b->insn[b->insns++];

	len = true_length(addr, len);
	VG_(memset)(insn, 0, sizeof *insn);
	insn->addr = addr;
	insn->len = (UChar)len;
	VG_(memcpy)(insn->bytes, (const void *)addr, len);
	b->locked = b->gather = b->branch = False;
	for (UInt i = 0; i < len; i++) {
		UChar c = insn->bytes[i];
		if (c == 0xf0)
			b->locked = True;
		else if (c != 0x66 && c != 0xf2 && c != 0xf3 && c != 0x67 && c != 0x2e && c != 0x36 && c != 0x3e &&
			 c != 0x26 && c != 0x64 && c != 0x65) {
			b->gather = c == 0xc4 && i + 3 < len && (insn->bytes[i + 1] & 0x1f) == 2 &&
				    insn->bytes[i + 3] >= 0x90 && insn->bytes[i + 3] <= 0x93;
			b->branch = is_relative_jump(insn->bytes + i, len - i);
			if (settings.assists)
				assists_insn(b->out, b->def, insn->bytes + i, len - i);
			break;
		}
	}
	slot_prefetch(b, insn);
}

static IRExpr *get_live(struct build *b, SizeT field)
{
	return temp(b, WORD, IRExpr_Get(b->shadow + (Int)field, WORD));
}

/* Stores what the tests of the current instruction found so far. */
static void slot_assist(struct build *b)
{
	if (!settings.assists || !assists_any())
		return;
	IRExpr *bits = assists_take(get_live(b, offsetof(struct live, mxcsr)));
	UInt at = 8 + 8 * b->slots;
	new_slot(b, ST_SLOT_REG, (UInt)WORD_BYTES)->reg = ST_SLOT_ASSIST;
	store(b, at, bits);
	if (WORD == Ity_I32)
		store(b, at + 4, word_const(0));
}

static enum st_jump jump_of(IRJumpKind jk)
{
	switch (jk) {
	case Ijk_Boring: return ST_JUMP_BORING;
	case Ijk_Call: return ST_JUMP_CALL;
	case Ijk_Ret: return ST_JUMP_RET;
	case Ijk_Yield: return ST_JUMP_YIELD;
	case Ijk_Sys_syscall: case Ijk_Sys_int32: case Ijk_Sys_int128: case Ijk_Sys_int129: case Ijk_Sys_int130:
	case Ijk_Sys_int145: case Ijk_Sys_int210: case Ijk_Sys_sysenter: return ST_JUMP_SYSCALL;
	default: return ST_JUMP_OTHER;
	}
}

static Bool is_fault(IRJumpKind jk)
{
	return jk == Ijk_NoDecode || jk == Ijk_MapFail || jk == Ijk_SigILL || jk == Ijk_SigSEGV || jk == Ijk_SigBUS ||
	       jk == Ijk_SigFPE || jk == Ijk_SigFPE_IntDiv || jk == Ijk_SigFPE_IntOvf;
}

static void put_header(struct build *b, UInt exit)
{
	store_const(b, 0, ST_HEADER(ST_BLOCK, (ULong)exit << 32 | b->id));
	b->header_exit = exit;
}

/* guard: the exit is taken if it is 1; NULL: always. */
static void leave_by(struct build *b, IRJumpKind jk, ULong target, IRExpr *guard)
{
	if (b->exits == MAX_EXITS)
		VG_(tool_panic)("a block with too many exits");
	struct st_exit_def *e = &b->exit[b->exits];
	VG_(memset)(e, 0, sizeof *e);
	e->insns = (UShort)b->insns;
	e->slots = (UShort)b->slots;
	e->target = target;
	e->jump = (UChar)jump_of(jk);
	if (e->jump == ST_JUMP_BORING && target && target == b->insn[b->insns - 1].addr && !b->branch)
		/* a string instruction's next element, or a compare-and-swap that failed */
		e->jump = ST_JUMP_REPEAT;
	if (settings.steps && e->jump == ST_JUMP_REPEAT) {	/* no PMI comes between the elements */
		IRExpr *now = get_live(b, offsetof(struct live, budget)), *more = plus(b, now, 1);
		put_live(b, offsetof(struct live, budget), guard ? temp(b, WORD, IRExpr_ITE(guard, more, now)) : more);
	}
	if (b->header_exit != b->exits)
		put_header(b, b->exits);
	if (!b->advanced || b->advanced_slots != b->slots)
		put_live(b, offsetof(struct live, ptr), plus(b, IRExpr_RdTmp(b->p), 8 + 8 * (HWord)b->slots));
	if (jk == Ijk_Yield || jk == Ijk_ClientReq)
		put_live(b, offsetof(struct live, after), word_const(jk == Ijk_Yield ? AFTER_PAUSE : AFTER_REQUEST));
	b->advanced = True;
	b->advanced_slots = b->slots;
	b->exits++;
}

/* The thread has executed what it may: 1, and then the block is left with AFTER_STEP. */
static IRExpr *spent(struct build *b)
{
	IRExpr *left = get_live(b, offsetof(struct live, budget));
	IRExpr *stop =
		temp(b, Ity_I1, IRExpr_Binop(WORD == Ity_I64 ? Iop_CmpLE64S : Iop_CmpLE32S, left, word_const(0)));

	put_live(b, offsetof(struct live, after),
		temp(b, WORD, IRExpr_ITE(stop, word_const(AFTER_STEP), word_const(AFTER_NOTHING))));
	return stop;
}

static void exit_to(struct build *b, IRExpr *guard, HWord to)
{
	addStmtToIRSB(b->out, IRStmt_Exit(guard, Ijk_Yield, WORD == Ity_I64 ? IRConst_U64(to) : IRConst_U32((UInt)to),
		b->layout->offset_IP));
}

/* Processors may execute the instruction and the Jcc behind it as one; no PMI comes between them. */
static Bool fuses(const struct st_insn_def *insn, Addr next)
{
	const UChar *op = insn->bytes, *jump = (const UChar *)next;
	UInt reg;

	if ((jump[0] & 0xf0) != 0x70 && (jump[0] != 0x0f || (jump[1] & 0xf0) != 0x80))
		return False;
	while (op < insn->bytes + insn->len - 1 &&
		(*op == 0x66 || *op == 0x67 || (*op & 0xe7) == 0x26 || *op == 0x64 || *op == 0x65 ||
			(WORD == Ity_I64 && (*op & 0xf0) == 0x40)))
		op++;
	reg = op + 1 < insn->bytes + insn->len ? op[1] >> 3 & 7 : 0;
	if (op[0] < 0x40 && (op[0] & 7) < 6)
		reg = op[0] >> 3 & 7;
	else if (op[0] == 0xf6 || op[0] == 0xf7)
		return reg < 2;					/* TEST */
	else if (op[0] == 0xfe || op[0] == 0xff)
		return reg < 2;					/* INC, DEC */
	else if (op[0] != 0x80 && op[0] != 0x81 && op[0] != 0x83)
		return op[0] == 0x84 || op[0] == 0x85 || op[0] == 0xa8 || op[0] == 0xa9 ||
			(WORD == Ity_I32 && (op[0] & 0xf0) == 0x40);
	return reg == 0 || reg == 4 || reg == 5 || reg == 7;	/* ADD, AND, SUB, CMP */
}

static Bool is_iret(const struct st_insn_def *insn)
{
	return insn->len && insn->len <= 2 && insn->bytes[insn->len - 1] == 0xcf &&
	       (insn->len == 1 || (insn->bytes[0] & 0xf8) == 0x48);
}

/* An exit between two instructions, the next of which is at `next`. */
static void step_exit(struct build *b, Addr next)
{
	if (fuses(&b->insn[b->insns - 1], next))
		return;
	IRExpr *stop = spent(b);
	leave_by(b, Ijk_Boring, next, stop);
	exit_to(b, stop, next);
}

/* True for the load half of a LOCKed instruction: its compare-and-swap of the same address, further on, has the
 * slot. */
static Bool swapped_later(const struct build *b, Int from, const IRExpr *addr)
{
	for (Int i = from + 1; i < b->in->stmts_used && b->in->stmts[i]->tag != Ist_IMark; i++) {
		const IRStmt *s = b->in->stmts[i];
		if (s->tag == Ist_CAS && eqIRAtom(s->Ist.CAS.details->addr, addr))
			return True;
	}
	return False;
}

static Bool may_fault(const IRExpr *e)
{
	if (e->tag == Iex_Load)
		return True;
	if (e->tag != Iex_Binop)
		return False;
	switch (e->Iex.Binop.op) {
	case Iop_DivU32: case Iop_DivS32: case Iop_DivU64: case Iop_DivS64: case Iop_DivModU64to32:
	case Iop_DivModS64to32: case Iop_DivModU128to64: case Iop_DivModS128to64: case Iop_DivModS64to64:
	case Iop_DivModU64to64: case Iop_DivModS32to32: case Iop_DivModU32to32:
		return True;
	default:
		return False;
	}
}

/* True for what DIV and IDIV become. */
static Bool divides(const IRExpr *e)
{
	if (e->tag != Iex_Binop)
		return False;
	switch (e->Iex.Binop.op) {
	case Iop_DivModU64to32: case Iop_DivModS64to32: return True;
	case Iop_DivModU128to64: case Iop_DivModS128to64: return WORD == Ity_I64;
	default: return False;
	}
}

static void begin(struct build *b, IRStmt *s)
{
	const Addr addr = s->Ist.IMark.addr;
	const UInt len = s->Ist.IMark.len;

	slot_assist(b);
	reopen(b);
	if (b->insns == MAX_INSNS)
		VG_(tool_panic)("a block with too many instructions");
	if (len && settings.steps && b->insns) {
		step_exit(b, addr);
		reopen(b);
	}
	addStmtToIRSB(b->out, s);
	if (!len)
		return;
	begin_insn(b, addr, len);
	if (settings.steps)
		put_live(b, offsetof(struct live, budget),
			plus(b, get_live(b, offsetof(struct live, budget)), ALL_ONES));
}

/* s assigns a temporary, and may be a floating-point operation, or LDMXCSR's load. */
static void assist_temp(struct build *b, const IRStmt *s)
{
	IRExpr *e = s->Ist.WrTmp.data, *result = IRExpr_RdTmp(s->Ist.WrTmp.tmp);

	if (assists_loads_mxcsr() && e->tag == Iex_Load && e->Iex.Load.ty == Ity_I32)
		put_live(b, offsetof(struct live, mxcsr),
			WORD == Ity_I64 ? temp(b, Ity_I64, IRExpr_Unop(Iop_32Uto64, result)) : result);
	else
		assists_temp(e, result);
}

static void guarded_load(struct build *b, const IRLoadG *load)
{
	IRType result, loaded;

	reopen(b);
	typeOfIRLoadGOp(load->cvt, &result, &loaded);
	slot_access(b, ST_SLOT_LOAD, load->addr, (UInt)sizeofIRType(loaded), 0, load->guard);
}

static void statement(struct build *b, Int at)
{
	IRStmt *s = b->in->stmts[at];
	IRTypeEnv *types = b->in->tyenv;
	IRExpr *addr, *guard;

	switch (s->tag) {
	case Ist_IMark:
		begin(b, s);
		return;
	case Ist_WrTmp:
		b->def[s->Ist.WrTmp.tmp] = s->Ist.WrTmp.data;
		if (may_fault(s->Ist.WrTmp.data))
			reopen(b);
		if (divides(s->Ist.WrTmp.data)) {
			addStmtToIRSB(b->out, s);
			slot_divided(b, s->Ist.WrTmp.data->Iex.Binop.op, s->Ist.WrTmp.data->Iex.Binop.arg1,
				IRExpr_RdTmp(s->Ist.WrTmp.tmp));
			return;
		}
		if (s->Ist.WrTmp.data->tag == Iex_Load) {
			addr = s->Ist.WrTmp.data->Iex.Load.addr;
			guard = NULL;
			if (b->gather && addr->tag == Iex_RdTmp) {
				const IRExpr *d = b->def[addr->Iex.RdTmp.tmp];
				if (d && d->tag == Iex_ITE) {
					guard = d->Iex.ITE.cond;
					addr = d->Iex.ITE.iftrue;
				}
			}
			if (!swapped_later(b, at, addr))
				slot_access(b, ST_SLOT_LOAD, addr, (UInt)sizeofIRType(s->Ist.WrTmp.data->Iex.Load.ty),
					0, guard);
		}
		if (settings.assists) {
			addStmtToIRSB(b->out, s);
			assist_temp(b, s);
			return;
		}
		break;
	case Ist_Store:
		reopen(b);
		slot_access(b, ST_SLOT_STORE, s->Ist.Store.addr,
			    (UInt)sizeofIRType(typeOfIRExpr(types, s->Ist.Store.data)), 0, NULL);
		if (settings.assists) {
			assists_store(s->Ist.Store.data);
			s = IRStmt_Store(s->Ist.Store.end, s->Ist.Store.addr, assists_stored_mxcsr(s->Ist.Store.data,
				get_live(b, offsetof(struct live, mxcsr))));
		}
		break;
	case Ist_StoreG:
		reopen(b);
		slot_access(b, ST_SLOT_STORE, s->Ist.StoreG.details->addr,
			    (UInt)sizeofIRType(typeOfIRExpr(types, s->Ist.StoreG.details->data)), 0,
			    s->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG:
		guarded_load(b, s->Ist.LoadG.details);
		break;
	case Ist_CAS: {
		const IRCAS *c = s->Ist.CAS.details;
		UInt size = (UInt)sizeofIRType(typeOfIRExpr(types, c->dataLo));
		reopen(b);
		slot_access(b, ST_SLOT_LOADSTORE, c->addr, c->dataHi ? 2 * size : size, ST_SLOT_ATOMIC, NULL);
		addStmtToIRSB(b->out, s);
		call_meet(b, c->addr);
		return;
	}
	case Ist_LLSC:
		VG_(tool_panic)("load-linked in x86 code");
	case Ist_Dirty: {
		const IRDirty *d = s->Ist.Dirty.details;
		reopen(b);
		if (d->mFx != Ifx_None)
			slot_access(b, d->mFx == Ifx_Read ? ST_SLOT_LOAD : d->mFx == Ifx_Write ? ST_SLOT_STORE :
				    ST_SLOT_LOADSTORE, d->mAddr, (UInt)d->mSize, ST_SLOT_HELPER, d->guard);
		addStmtToIRSB(b->out, s);
		slots_of_helper_registers(b, d);
		return;
	}
	case Ist_Put:
		addStmtToIRSB(b->out, s);
		slot_register(b, s->Ist.Put.offset, typeOfIRExpr(types, s->Ist.Put.data), s->Ist.Put.data);
		return;
	case Ist_Exit: {
		const IRConst *dst = s->Ist.Exit.dst;
		slot_assist(b);
		if (is_fault(s->Ist.Exit.jk))
			may_leave_open(b);
		else
			leave_by(b, s->Ist.Exit.jk, WORD == Ity_I64 ? dst->Ico.U64 : dst->Ico.U32, s->Ist.Exit.guard);
		break;
	}
	default:
		break;
	}
	addStmtToIRSB(b->out, s);
}

static void describe(const struct build *b, Addr nraddr)
{
	SizeT bytes = sizeof(struct st_block_def) + b->insns * sizeof b->insn[0] + b->slots * sizeof b->slot[0] +
		      b->exits * sizeof b->exit[0];
	struct st_block_def *def = VG_(malloc)("softpmu.describe", bytes);

	VG_(memset)(def, 0, sizeof *def);
	def->header = ST_HEADER(ST_BLOCK_DEF, bytes);
	def->id = b->id;
	def->insns = (UShort)b->insns;
	def->slots = (UShort)b->slots;
	def->exits = (UShort)b->exits;
	UChar *at = (UChar *)(def + 1);
	VG_(memcpy)(at, b->insn, b->insns * sizeof b->insn[0]);
	at += b->insns * sizeof b->insn[0];
	VG_(memcpy)(at, b->slot, b->slots * sizeof b->slot[0]);
	at += b->slots * sizeof b->slot[0];
	VG_(memcpy)(at, b->exit, b->exits * sizeof b->exit[0]);
	blocks_add(def, nraddr);
	VG_(free)(def);
}

IRSB *tracer_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *vge,
	const VexArchInfo *host, IRType gword, IRType hword)
{
	struct build *b = &the_build;
	Int i = 0;

	(void)vge, (void)host;
	if (gword != hword)
		VG_(tool_panic)("guest and host differ in word size");
	/* The self-check of code that may change comes before the first instruction: it is copied without a look. */
	while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
		i++;
	if (i == in->stmts_used || in->stmts[i]->Ist.IMark.len == 0)
		return in;	/* nothing that could be executed */

	b->in = in;
	b->out = deepCopyIRSBExceptStmts(in);
	b->layout = layout;
	b->shadow = layout->total_sizeB;
	b->id = blocks_next_id();
	b->advanced = b->said_open = False;
	VG_(memset)(b->constant, 0, sizeof b->constant);
	b->insns = b->slots = b->exits = 0;
	b->def = LibVEX_Alloc((SizeT)in->tyenv->types_used * sizeof *b->def);
	VG_(memset)(b->def, 0, (SizeT)in->tyenv->types_used * sizeof *b->def);
	for (Int j = 0; j < i; j++)
		addStmtToIRSB(b->out, in->stmts[j]);

	b->p = newIRTemp(b->out->tyenv, WORD);
	addStmtToIRSB(b->out, IRStmt_WrTmp(b->p, IRExpr_Get(b->shadow + (Int)offsetof(struct live, ptr), WORD)));
	IRExpr *need = word_const(0);	/* filled in when the length is known */
	IRExpr *record_end = temp(b, WORD, IRExpr_Binop(WORD == Ity_I64 ? Iop_Add64 : Iop_Add32, IRExpr_RdTmp(b->p),
							need));
	IRExpr *end = temp(b, WORD, IRExpr_Get(b->shadow + (Int)offsetof(struct live, end), WORD));
	IRExpr *full = temp(b, Ity_I1, IRExpr_Binop(WORD == Ity_I64 ? Iop_CmpLT64U : Iop_CmpLT32U, end, record_end));
	exit_to(b, full, closure->nraddr);
	if (settings.steps)
		exit_to(b, spent(b), closure->nraddr);
	put_header(b, 0);

	for (; i < in->stmts_used; i++)
		statement(b, i);
	slot_assist(b);
	if (in->jumpkind == Ijk_Ret && is_iret(&b->insn[b->insns - 1])) {
		leave_by(b, Ijk_EmWarn, 0, NULL);	/* of the kinds, the one for all others */
		put_live(b, offsetof(struct live, after), word_const(AFTER_IRET));
		b->out->jumpkind = Ijk_Yield;
	} else if (is_fault(in->jumpkind)) {
		may_leave_open(b);
	} else {
		const IRExpr *next = in->next;
		leave_by(b, in->jumpkind, next->tag != Iex_Const ? 0 :
			 WORD == Ity_I64 ? next->Iex.Const.con->Ico.U64 : next->Iex.Const.con->Ico.U32, NULL);
	}

	SizeT bytes = 8 + 8 * (SizeT)b->slots;
	if (WORD == Ity_I64)
		need->Iex.Const.con->Ico.U64 = bytes;
	else
		need->Iex.Const.con->Ico.U32 = (UInt)bytes;
	if (bytes > largest_block_bytes)
		largest_block_bytes = bytes;
	describe(b, closure->nraddr);
	return b->out;
}
