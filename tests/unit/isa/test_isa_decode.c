/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks: macro-fusion, instruction flags, static signals, memory slots, x87 stack; and hostile descriptions. */
#include "isa_fixture.h"

static struct isa *skl, *glc;

static struct iblock *two(const struct isa *isa, const char *first, const char *second)
{
	struct maker m;
	maker_init(&m, 0x1000);
	maker_insn(&m, first);
	maker_insn(&m, second);
	return maker_decode(&m, isa, 8);
}

static struct iblock *one(const struct isa *isa, const char *hex, int word_bytes)
{
	struct maker m;
	maker_init(&m, 0x1000);
	maker_insn(&m, hex);
	return maker_decode(&m, isa, word_bytes);
}

static bool pair_fuses(const char *first, const char *second)
{
	struct iblock *b = two(skl, first, second);
	bool fused = b->insn[0].flags & INSN_FUSES_NEXT;
	assert_int_equal(fused, !!(b->insn[1].flags & INSN_FUSED_INTO_PREV));
	isa_block_free(b);
	return fused;
}

static void test_pairs_fuse_as_the_manual_lists_them(void **state)
{
	(void)state;
	/* jo jno jb jnb jz jnz jbe jnbe js jns jp jnp jl jnl jle jnle; one bit each, from the lowest */
	static const struct { const char *hex; unsigned jcc; } rows[] = {
		{ "85 c0", 0xffff },		/* test eax, eax */
		{ "21 d8", 0xffff },		/* and eax, ebx */
		{ "39 d8", 0xf0fc },		/* cmp eax, ebx */
		{ "01 d8", 0xf0fc },		/* add */
		{ "29 d8", 0xf0fc },		/* sub eax, ebx */
		{ "ff c0", 0xf030 },		/* inc */
		{ "ff c8", 0xf030 },		/* dec */
		{ "09 d8", 0 },			/* or */
		{ "31 d8", 0 },			/* xor */
		{ "11 d8", 0 },			/* adc */
		{ "f7 d8", 0 },			/* neg */
		{ "c1 e0 01", 0 },		/* shl */
		{ "3b 06", 0xf0fc },		/* cmp eax, [rsi] */
		{ "39 06", 0xf0fc },		/* cmp [rsi], eax */
		{ "83 f8 01", 0xf0fc },		/* cmp eax, 1 */
		{ "83 3e 01", 0 },		/* cmp dword [rsi], 1: memory and immediate */
		{ "f7 06 01 00 00 00", 0 },	/* test dword [rsi], 1 */
		{ "01 06", 0 },			/* add [rsi], eax: writes memory */
		{ "29 c0", 0 },			/* sub eax, eax: eliminated at rename */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (unsigned cc = 0; cc < 16; cc++) {
			char jcc[8];
			snprintf(jcc, sizeof jcc, "%02x 10", 0x70 + cc);
			if (pair_fuses(rows[i].hex, jcc) != (rows[i].jcc >> cc & 1))
				fail_msg("%s with %s", rows[i].hex, jcc);
		}
	assert_false(pair_fuses("39 d8", "e3 10"));	/* JRCXZ */
	assert_false(pair_fuses("39 d8", "eb 10"));
}

static void test_a_fused_pair_is_one_branch_uop_that_ends_two_instructions(void **state)
{
	(void)state;
	struct iblock *b = two(skl, "48 3b 06", "75 10");
	assert_int_equal(b->uops, 2);
	const struct uop *u = &b->uop[1];
	assert_int_equal(u->kind, UOP_BRANCH);
	assert_int_equal(u->insn, 0);
	assert_int_equal(u->flags, UOP_END | UOP_FUSED_BRANCH);
	assert_int_equal(b->uop[0].flags, UOP_SLOT | UOP_BEGIN);
	uint64_t want = SPMU_IS(INST_END) | SPMU_IS(INST_END2) | SPMU_IS(BRANCH) | SPMU_IS(COND) |
		SPMU_IS(MACRO_FUSED) |
	                /* the branch lies 3 bytes after the address of the pair */
	                SPMU_IS(EXEC) | UINT64_C(3) << SPMU_IS_FUSED_SHIFT;
	assert_int_equal(u->is, want);
	assert_int_equal(b->insn[0].issue_slots, 1);
	assert_int_equal(b->insn[1].uops, 0);
	assert_int_equal(b->insn[1].issue_slots, 0);
	assert_int_equal(b->insn[1].target, 0x1000 + 5 + 0x10);
	assert_true(b->insn[1].flags & INSN_BRANCH && b->insn[1].flags & INSN_COND);
	isa_block_free(b);
}

static void test_a_pair_does_not_fuse_over_the_end_of_a_line(void **state)
{
	(void)state;
	struct maker m;
	maker_init(&m, 0x103e);
	maker_insn(&m, "85 c0");
	maker_insn(&m, "75 00");
	struct iblock *b = maker_decode(&m, skl, 8);
	assert_false(b->insn[0].flags & INSN_FUSES_NEXT);
	assert_int_equal(b->uops, 2);
	isa_block_free(b);
}

static void test_an_addition_done_at_rename_executes_when_it_fuses(void **state)
{
	(void)state;
	struct iblock *b = two(glc, "48 ff c8", "75 10");	/* dec rax; jnz */
	assert_int_equal(b->uops, 1);
	assert_int_equal(b->uop[0].kind, UOP_BRANCH);
	assert_int_equal(b->uop[0].ports, 1 << 0 | 1 << 6);
	assert_int_equal(b->uop[0].is & SPMU_IS(ELIMINATED), 0);
	assert_int_equal(b->uop[0].dst[0], REG_GPR);
	isa_block_free(b);
}

static void test_instructions_carry_their_flags(void **state)
{
	(void)state;
	static const struct { int word; const char *hex; unsigned flags; uint64_t target; } rows[] = {
		{ 8, "e8 00 01 00 00", INSN_BRANCH | INSN_CALL | INSN_COMPLEX, 0x1105 },
		{ 8, "ff d0", INSN_BRANCH | INSN_CALL | INSN_INDIRECT | INSN_COMPLEX, 0 },
		{ 8, "ff e0", INSN_BRANCH | INSN_INDIRECT, 0 },
		{ 8, "c3", INSN_BRANCH | INSN_RET, 0 },
		{ 8, "eb fe", INSN_BRANCH, 0x1000 },
		{ 8, "75 fe", INSN_BRANCH | INSN_COND, 0x1000 },
		{ 4, "e9 fb ef ff ff", INSN_BRANCH, 0 },			/* to address 0 */
		{ 4, "e9 f6 ef ff ff", INSN_BRANCH, 0xfffffffb },	/* wraps at 4 GB */
		{ 8, "0f 05", INSN_FAR | INSN_MS | INSN_COMPLEX | INSN_SERIALIZE, 0 },
		{ 8, "0f a2", INSN_MS | INSN_COMPLEX | INSN_SERIALIZE, 0 },
		{ 8, "f3 a4", INSN_REP | INSN_MS | INSN_COMPLEX, 0 },
		{ 8, "66 05 34 12", INSN_LCP, 0 },		/* add ax, imm16 */
		{ 8, "48 b8 00 00 00 80 00 00 00 00", INSN_WIDE, 0 },	/* mov rax, 2^31 */
		{ 8, "48 b8 00 00 00 80 ff ff ff ff", 0, 0 },	/* mov rax, -2^31: fits 32 bits */
		{ 8, "b8 ff ff ff ff", 0, 0 },		/* mov eax, 2^32 - 1 */
		{ 8, "81 06 00 80 00 00", INSN_WIDE | INSN_COMPLEX, 0 },	/* add dword [rsi], 8000H */
		{ 8, "81 06 ff 7f 00 00", INSN_COMPLEX, 0 },	/* add dword [rsi], 7fffH */
		{ 8, "81 c6 00 80 00 00", 0, 0 },	/* add esi, 8000H */
		{ 8, "66 81 c3 34 12", INSN_LCP, 0 },
		{ 8, "66 b8 34 12", 0, 0 },			/* mov ax, imm16: no stall */
		{ 8, "05 34 12 00 00", 0, 0 },
		{ 8, "66 0f 70 c1 01", 0, 0 },			/* 66 is part of the opcode */
		{ 8, "62 f1 7c 48 58 c1", INSN_SUBSTITUTE, 0 },
		{ 8, "0f 38 c8 c1", INSN_SUBSTITUTE, 0 },	/* SHA on Skylake */
		{ 8, "06", INSN_UNKNOWN, 0 },			/* push es: none in 64-bit code */
		{ 8, "0f ff", INSN_UNKNOWN, 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct iblock *b = one(skl, rows[i].hex, rows[i].word);
		if (b->insn[0].flags != rows[i].flags || b->insn[0].target != rows[i].target)
			fail_msg("%s: flags %x, target %llx", rows[i].hex, b->insn[0].flags,
			         (unsigned long long)b->insn[0].target);
		isa_block_free(b);
	}
	struct iblock *b = one(glc, "0f 38 cb c1", 8);	/* Golden Cove has SHA */
	assert_int_equal(b->insn[0].flags, 0);
	isa_block_free(b);
}

static uint64_t all_is(const struct isa *isa, const char *hex)
{
	struct iblock *b = one(isa, hex, 8);
	uint64_t is = 0;
	for (unsigned i = 0; i < b->uops; i++)
		is |= b->uop[i].is;
	isa_block_free(b);
	return is & ~(SPMU_IS(INST_BEGIN) | SPMU_IS(INST_END) | SPMU_IS(SLOT) | SPMU_IS(EXEC));
}

static void test_uops_carry_their_static_signals(void **state)
{
	(void)state;
#define I(n) SPMU_IS(n)
	static const struct { const char *hex; uint64_t is; } rows[] = {
		{ "01 d8", 0 },
		{ "48 03 06", I(LOAD) },
		{ "48 01 06", I(LOAD) | I(STORE_ADDR) | I(STORE_DATA) },
		{ "f0 48 01 06", I(LOAD) | I(STORE_ADDR) | I(STORE_DATA) | I(LOCK) | I(MICROCODED) },
		{ "48 87 06", I(LOAD) | I(STORE_ADDR) | I(STORE_DATA) | I(LOCK) | I(MICROCODED) },
		{ "e8 00 00 00 00", I(BRANCH) | I(CALL) | I(STORE_ADDR) | I(STORE_DATA) },
		{ "ff d0", I(BRANCH) | I(CALL) | I(INDIRECT) | I(STORE_ADDR) | I(STORE_DATA) },
		{ "c3", I(BRANCH) | I(RET) | I(LOAD) },
		{ "75 00", I(BRANCH) | I(COND) },
		{ "0f 05", I(BRANCH) | I(FAR) | I(MICROCODED) },
		{ "48 f7 f3", I(DIVIDE) | I(INT_DIVIDE) | I(MICROCODED) },
		{ "48 0f af c3", I(MULTIPLY) },
		{ "48 8d 44 1e 08", I(LEA_SLOW) },
		{ "31 c0", I(ELIMINATED) },
		{ "89 d8", I(ELIMINATED) | I(MOVE_INT) },
		{ "66 89 d8", 0 },		/* keeps the upper half: no copy */
		{ "0f 28 c1", I(ELIMINATED) | I(MOVE_VECTOR) },
		{ "90", I(NOP) | I(INST_NOP) },
		{ "0f 58 c1", I(FP_128_SINGLE) },
		{ "f3 0f 58 c1", I(FP_SCALAR_SINGLE) },
		{ "f2 0f 59 c1", I(FP_SCALAR_DOUBLE) | I(MULTIPLY) },
		{ "66 0f 5e c1", I(FP_128_DOUBLE) | I(DIVIDE) },
		{ "c5 f4 58 c2", I(FP_256_SINGLE) | I(VECTOR_256) },
		{ "c4 e2 f5 b8 c2", I(FP_256_DOUBLE) | I(VECTOR_256) | I(FP_FMA) | I(MULTIPLY) },
		{ "f2 0f 51 c1", I(FP_SCALAR_DOUBLE) | I(DIVIDE) },
		{ "f2 0f 2a c0", 0 },
		{ "0f 2e c1", 0 },
		{ "66 0f fe c1", I(INT_VECTOR) | I(VECTOR_ADD) },
		{ "c5 f5 fe c2", I(INT_VECTOR) | I(VECTOR_256) | I(VECTOR_ADD) },
		{ "d8 c1", I(X87) },
		{ "d8 f1", I(X87) | I(DIVIDE) },
		{ "0f c3 06", I(STORE_ADDR) | I(STORE_DATA) | I(NON_TEMPORAL) },
		{ "0f 18 0e", I(PREFETCH_SW) | I(PREFETCH_T0) },
		{ "0f 18 16", I(PREFETCH_SW) | I(PREFETCH_T1) },
		{ "0f 18 1e", I(PREFETCH_SW) | I(PREFETCH_T2) },
		{ "0f 0d 0e", I(PREFETCH_SW) | I(PREFETCH_W) },
		{ "0f 18 06", I(PREFETCH_SW) | I(NON_TEMPORAL) },
		{ "0f ae f0", I(SERIALIZING) },
		{ "f3 90", I(PAUSE) },
		{ "66 0f 38 dc c1", I(AES_CRYPTO) },
		{ "c4 e2 75 90 04 16", I(LOAD) | I(VECTOR_MOVE) | I(GATHER) | I(VECTOR_256) | I(MICROCODED) },
		{ "f3 a4", I(LOAD) | I(STORE_ADDR) | I(STORE_DATA) | I(STRING_REP) | I(MICROCODED) },
		{ "62 f1 7c 48 58 c1", I(SUBSTITUTE) | I(FP_128_SINGLE) },
		{ "0f ff", I(SUBSTITUTE) },
	};
#undef I
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t is = all_is(skl, rows[i].hex);
		if (is != rows[i].is)
			fail_msg("%s: signals %llx, want %llx", rows[i].hex, (unsigned long long)is,
			         (unsigned long long)rows[i].is);
	}
}

/* FP_ARITH_INST_RETIRED counts an instruction once, no matter how many uops it has. */
static void test_arithmetic_is_marked_on_one_uop(void **state)
{
	(void)state;
	static const char *const hex[] = { "f2 0f 7c c1", "66 0f 3a 40 c1 ff", "66 0f 3a 41 c1 ff", "c5 f4 58 06" };
	for (size_t i = 0; i < sizeof hex / sizeof *hex; i++) {
		struct iblock *b = one(skl, hex[i], 8);
		unsigned marked = 0;
		for (unsigned k = 0; k < b->uops; k++)
			marked += (b->uop[k].is & (SPMU_IS(FP_128_SINGLE) | SPMU_IS(FP_128_DOUBLE) |
				SPMU_IS(FP_256_SINGLE))) != 0;
		assert_int_equal(marked, 1);
		isa_block_free(b);
	}
}

static void test_a_rep_string_has_uops_that_run_once_and_uops_of_an_iteration(void **state)
{
	(void)state;
	struct maker m;
	maker_init(&m, 0x1000);
	maker_insn(&m, "f3 48 a5");	/* rep movsq */
	maker_slot(&m, ST_SLOT_LOAD, 8);
	maker_slot(&m, ST_SLOT_STORE, 8);
	struct iblock *b = maker_decode(&m, skl, 8);
	const struct insn *in = &b->insn[0];
	assert_int_equal(in->rep_first, 34);
	assert_int_equal(in->rep_chunk, 32);
	assert_int_equal(in->uops, 38);
	for (unsigned i = 0; i < in->rep_first; i++)
		assert_true(b->uop[i].slot == UOP_NO_SLOT && b->uop[i].kind == UOP_COMPUTE &&
			(b->uop[i].flags & UOP_MS));
	assert_int_equal(b->uop[34].kind, UOP_LOAD);
	assert_int_equal(b->uop[34].slot, 0);
	assert_int_equal(b->uop[35].kind, UOP_STORE_ADDR);
	assert_int_equal(b->uop[35].slot, 1);
	assert_int_equal(b->uop[37].dst[2], REG_GPR + 1);	/* the pointers and RCX */
	isa_block_free(b);
}

static void test_slots_go_to_memory_uops_in_order_and_pieces_are_joined(void **state)
{
	(void)state;
	struct maker m;
	maker_init(&m, 0x1000);
	maker_insn(&m, "c5 fc 28 06");	/* vmovaps ymm0, [rsi], seen as two halves, and a register slot between */
	maker_slot(&m, ST_SLOT_LOAD, 16);
	maker_slot(&m, ST_SLOT_REG, 8);
	maker_slot(&m, ST_SLOT_LOAD, 16);
	maker_insn(&m, "48 01 06");
	maker_slot(&m, ST_SLOT_LOAD, 8);
	maker_slot(&m, ST_SLOT_STORE, 8);
	maker_insn(&m, "48 89 06");	/* the tracer reported no access */
	struct iblock *b = maker_decode(&m, skl, 8);
	assert_int_equal(b->uop[0].slot, 0);
	assert_int_equal(b->uop[0].size, 32);
	assert_int_equal(b->uop[0].pieces, 2);
	assert_int_equal(b->insn[1].first_slot, 3);
	assert_int_equal(b->insn[1].slots, 2);
	assert_int_equal(b->uop[1].slot, 3);
	assert_int_equal(b->uop[3].slot, 4);
	assert_int_equal(b->uop[4].slot, 4);
	assert_int_equal(b->uop[5].slot, UOP_NO_SLOT);
	assert_int_equal(b->uop[5].size, 8);
	isa_block_free(b);
}

static void test_the_divider_has_the_slot_of_what_it_did(void **state)
{
	struct maker m;
	(void)state;
	maker_init(&m, 0x1000);
	for (unsigned i = 0; i < 2; i++) {
		maker_insn(&m, "48 f7 36");	/* div qword [rsi] */
		maker_slot(&m, ST_SLOT_LOAD, 8);
		maker_slot(&m, ST_SLOT_REG, 8);	/* RAX */
		if (i)
			continue;	/* a stream without that slot */
		maker_slot(&m, ST_SLOT_REG, 8);
		m.slot[m.slots - 1].reg = ST_SLOT_DIVIDED;
	}
	struct iblock *b = maker_decode(&m, skl, 8);
	unsigned dividers = 0;
	for (unsigned i = 0; i < b->uops; i++)
		if (b->uop[i].kind == UOP_COMPUTE) {
			assert_int_equal(b->uop[i].slot, b->uop[i].unit == UNIT_INTDIV && !b->uop[i].insn ? 2
				: UOP_NO_SLOT);
			dividers += b->uop[i].unit == UNIT_INTDIV;
		}
	assert_int_equal(dividers, 2);
	isa_block_free(b);
}

static void test_slots_that_no_operand_explains_become_uops(void **state)
{
	(void)state;
	struct maker m;
	maker_init(&m, 0x1000);
	maker_insn(&m, "01 d8");	/* add eax, ebx: no memory operand */
	maker_slot(&m, ST_SLOT_LOAD, 4);
	maker_slot(&m, ST_SLOT_STORE, 2);
	struct iblock *b = maker_decode(&m, skl, 8);
	assert_int_equal(b->uops, 4);
	assert_int_equal(b->uop[1].kind, UOP_LOAD);
	assert_int_equal(b->uop[2].kind, UOP_STORE_ADDR);
	assert_int_equal(b->uop[2].size, 2);
	isa_block_free(b);
}

static void test_an_instruction_never_has_more_uops_than_its_count_holds(void **state)
{
	(void)state;
	struct maker m;
	maker_init(&m, 0x1000);
	maker_insn(&m, "0f ae 06");	/* fxsave [rsi] */
	for (int i = 0; i < 250; i++)
		maker_slot(&m, i % 2 ? ST_SLOT_STORE : ST_SLOT_LOADSTORE, 8);
	struct iblock *b = maker_decode(&m, skl, 8);
	assert_int_equal(b->insn[0].uops, b->uops);
	isa_block_free(b);
}

static void test_x87_registers_follow_the_top_of_stack(void **state)
{
	(void)state;
	struct maker m;
	static char text[2048];
	maker_init(&m, 0x1000);
	maker_insn(&m, "d9 ee");	/* fldz */
	maker_insn(&m, "d9 e8");	/* fld1 */
	maker_insn(&m, "de c1");	/* faddp st1 */
	maker_insn(&m, "d9 c9");	/* fxch st1 */
	maker_insn(&m, "dd d8");	/* fstp st0 */
	maker_insn(&m, "d8 c0");	/* fadd st0, st0: the register that was the top at the start is st1 now */
	struct iblock *b = maker_decode(&m, skl, 8);
	block_text(text, b);
	assert_string_equal(text, "*op p05/1 >st7; *op p01/1; *op p05/1 >st6; *op p5/3 st7,st6>st7; "
	                          "*elim st0>t0; elim st7>st0; *elim t0>st7; *op p05/1 st7>st7; *op p5/3 st0>st0");
	isa_block_free(b);
}

/* ---- hostile input ---- */

static int decode_rc(const void *def, size_t bytes, int word_bytes, struct err *err)
{
	struct iblock *b = (struct iblock *)1;
	int rc = isa_decode(skl, word_bytes, def, bytes, &b, err);
	if (rc)
		assert_null(b);
	isa_block_free(b);
	return rc;
}

static void test_broken_descriptions_are_refused(void **state)
{
	(void)state;
	struct maker m;
	struct err err;
	size_t bytes;
	maker_init(&m, 0x1000);
	maker_insn(&m, "48 8b 06");
	maker_slot(&m, ST_SLOT_LOAD, 8);
	maker_insn(&m, "48 89 06");
	maker_slot(&m, ST_SLOT_STORE, 8);
	struct st_block_def *d = (struct st_block_def *)maker_def(&m, &bytes);
	struct st_insn_def *in = (struct st_insn_def *)(d + 1);
	struct st_slot *slot = (struct st_slot *)(in + 2);
	struct st_exit_def *exit = (struct st_exit_def *)(slot + 2);
	assert_int_equal(decode_rc(d, bytes, 8, &err), 0);
	for (size_t n = 0; n < bytes; n++)
		assert_int_equal(decode_rc(d, n, 8, &err), ERR_INPUT);
	assert_int_equal(decode_rc(d, bytes, 2, &err), ERR_INPUT);
	assert_int_equal(decode_rc((char *)d + 4, bytes - 8, 8, &err), ERR_INPUT);
#define BROKEN(field, value) do { \
		__typeof__(field) good_ = field; \
		field = (__typeof__(field))(value); \
		assert_int_equal(decode_rc(d, bytes, 8, &err), ERR_INPUT); \
		field = good_; \
		assert_int_equal(decode_rc(d, bytes, 8, &err), 0); \
	} while (0)
	BROKEN(d->insns, 0);
	BROKEN(d->insns, 257);
	BROKEN(d->insns, 65535);
	BROKEN(d->slots, 65535);
	BROKEN(d->exits, 65535);
	BROKEN(in[0].len, 0);
	BROKEN(in[1].len, 16);
	BROKEN(slot[0].kind, 0);
	BROKEN(slot[0].kind, 6);
	BROKEN(slot[1].insn, 2);
	BROKEN(slot[1].insn, 255);
	slot[0].insn = 1;	/* out of program order */
	slot[1].insn = 0;
	assert_int_equal(decode_rc(d, bytes, 8, &err), ERR_INPUT);
	slot[0].insn = 0;
	slot[1].insn = 1;
	BROKEN(exit[0].insns, 3);
	BROKEN(exit[0].slots, 3);
#undef BROKEN
}

static void test_decoding_twice_gives_the_same_bytes(void **state)
{
	(void)state;
	struct iblock *a = two(glc, "48 03 06", "f3 a4"), *b = two(glc, "48 03 06", "f3 a4");
	assert_int_equal(a->uops, b->uops);
	assert_memory_equal(a->uop, b->uop, a->uops * sizeof *a->uop);
	assert_memory_equal(a->insn, b->insn, a->insns * sizeof *a->insn);
	isa_block_free(a);
	isa_block_free(b);
}

static void test_instructions_disassemble_in_both_syntaxes(void **state)
{
	(void)state;
	const uint8_t code[] = { 0x48, 0x03, 0x46, 0x10 };
	char text[64], tiny[4];
	assert_int_equal(isa_disassemble(code, 4, 0x1000, 8, false, text, sizeof text), 0);
	assert_string_equal(text, "add    rax,QWORD PTR [rsi+0x10]");
	assert_int_equal(isa_disassemble(code, 4, 0x1000, 8, true, text, sizeof text), 0);
	assert_string_equal(text, "add    0x10(%rsi),%rax");
	assert_int_equal(isa_disassemble(code, 2, 0x1000, 8, false, text, sizeof text), ERR_INPUT);
	assert_string_equal(text, "(bad)");
	assert_int_equal(isa_disassemble(code, 4, 0x1000, 8, false, tiny, sizeof tiny), ERR_INPUT);
	assert_int_equal(strlen(tiny), 3);
}

static int open_tables(void **state)
{
	(void)state;
	skl = open_isa("skylake");
	glc = open_isa("golden-cove");
	return 0;
}

static int close_tables(void **state)
{
	(void)state;
	isa_destroy(skl);
	isa_destroy(glc);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_fuse_as_the_manual_lists_them),
		cmocka_unit_test(test_a_fused_pair_is_one_branch_uop_that_ends_two_instructions),
		cmocka_unit_test(test_a_pair_does_not_fuse_over_the_end_of_a_line),
		cmocka_unit_test(test_an_addition_done_at_rename_executes_when_it_fuses),
		cmocka_unit_test(test_instructions_carry_their_flags),
		cmocka_unit_test(test_uops_carry_their_static_signals),
		cmocka_unit_test(test_arithmetic_is_marked_on_one_uop),
		cmocka_unit_test(test_a_rep_string_has_uops_that_run_once_and_uops_of_an_iteration),
		cmocka_unit_test(test_slots_go_to_memory_uops_in_order_and_pieces_are_joined),
		cmocka_unit_test(test_the_divider_has_the_slot_of_what_it_did),
		cmocka_unit_test(test_slots_that_no_operand_explains_become_uops),
		cmocka_unit_test(test_an_instruction_never_has_more_uops_than_its_count_holds),
		cmocka_unit_test(test_x87_registers_follow_the_top_of_stack),
		cmocka_unit_test(test_broken_descriptions_are_refused),
		cmocka_unit_test(test_decoding_twice_gives_the_same_bytes),
		cmocka_unit_test(test_instructions_disassemble_in_both_syntaxes),
	};
	return cmocka_run_group_tests(tests, open_tables, close_tables);
}
