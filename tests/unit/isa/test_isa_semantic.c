/* SPDX-License-Identifier: GPL-2.0-or-later
 * The semantics of instructions as isa/semantic.h describes them. */
#include "isa_fixture.h"
#include "isa/semantic.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, AT = 0x400000 };
static struct isa *isa;

static int setup(void **state)
{
	(void)state;
	isa = open_isa("golden-cove");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	isa_destroy(isa);
	return 0;
}

static struct sem of(const char *hex, int word_bytes)
{
	struct maker m;
	struct sem s;
	maker_init(&m, AT);
	maker_insn(&m, hex);
	unsigned n = isa_semantic(isa, word_bytes, m.insn[0].bytes, m.insn[0].len, AT, &s);
	assert_int_equal(n, m.insn[0].len);
	return s;
}

static void test_a_move_says_its_registers_and_size(void **state)
{
	(void)state;
	struct sem s = of("89 d8", 8);		/* mov eax, ebx */
	assert_int_equal(s.op, SEM_MOV);
	assert_int_equal(s.dst, RAX);
	assert_int_equal(s.src, RBX);
	assert_int_equal(s.size, 4);
	assert_false(s.flags & (SEM_FLAGS | SEM_LOADS | SEM_STORES));
	s = of("88 f4", 8);			/* mov ah, dh */
	assert_int_equal(s.dst, SEM_HIGH + 0);
	assert_int_equal(s.src, SEM_HIGH + RDX);
	s = of("40 88 f4", 8);			/* mov spl, sil */
	assert_int_equal(s.dst, RSP);
	assert_int_equal(s.src, RSI);
}

static void test_a_memory_operand_says_where_it_is(void **state)
{
	(void)state;
	struct sem s = of("4a 8b 44 bb 10", 8);	/* mov rax, [rbx+r15*4+16] */
	assert_int_equal(s.flags & (SEM_SRC_MEM | SEM_DST_MEM | SEM_LOADS | SEM_STORES | SEM_NO_ADDRESS),
		SEM_SRC_MEM | SEM_LOADS);
	assert_int_equal(s.base, RBX);
	assert_int_equal(s.index, 15);
	assert_int_equal(s.scale, 4);
	assert_int_equal(s.disp, 16);
	assert_int_equal(s.bytes, 8);
	s = of("48 8b 05 10 00 00 00", 8);	/* mov rax, [rip+16] */
	assert_int_equal(s.base, SEM_NONE);
	assert_int_equal(s.disp, AT + 7 + 16);
	s = of("01 0b", 8);			/* add [rbx], ecx */
	assert_int_equal(s.flags & (SEM_DST_MEM | SEM_LOADS | SEM_STORES | SEM_FLAGS), SEM_DST_MEM | SEM_LOADS |
		SEM_STORES | SEM_FLAGS);
	s = of("67 8b 03", 8);			/* mov eax, [ebx] */
	assert_true(s.flags & SEM_ADDRESS_32);
	s = of("8b 03", 4);
	assert_true(s.flags & SEM_ADDRESS_32);
}

static void test_an_address_that_cannot_be_told_is_not(void **state)
{
	(void)state;
	assert_true(of("64 48 8b 03", 8).flags & SEM_NO_ADDRESS);	/* mov rax, fs:[rbx] */
	assert_true(of("a4", 8).flags & SEM_NO_ADDRESS);		/* movsb */
	assert_true(of("c4 e2 75 90 04 13", 8).flags & SEM_NO_ADDRESS);	/* vpgatherdd ymm0, [rbx+ymm2], ymm1 */
	assert_false(of("0f 28 03", 8).flags & SEM_NO_ADDRESS);		/* movaps xmm0, [rbx] */
	assert_true(of("0f 28 03", 8).flags & SEM_LOADS);
	assert_false(of("48 8d 04 0b", 8).flags & SEM_LOADS);		/* lea */
	assert_true(of("0f 18 0b", 8).flags & SEM_PREFETCH);		/* prefetcht0 [rbx] */
	assert_false(of("0f 1f 03", 8).flags & (SEM_LOADS | SEM_PREFETCH));	/* nop [rbx] */
}

static void test_what_is_not_followed_spoils_what_it_writes(void **state)
{
	(void)state;
	struct sem s = of("48 f7 f1", 8);	/* div rcx */
	assert_int_equal(s.op, SEM_OTHER);
	assert_int_equal(s.spoils, 1 << RAX | 1 << RDX);
	assert_true(s.flags & SEM_FLAGS);
	s = of("c1 d0 03", 8);			/* rcl eax, 3 */
	assert_int_equal(s.op, SEM_OTHER);
	assert_int_equal(s.spoils, 1 << RAX);
	s = of("66 48 0f 7e c0", 8);		/* movq rax, xmm0 */
	assert_int_equal(s.op, SEM_OTHER);
	assert_int_equal(s.spoils, 1 << RAX);
	s = of("48 f7 e1", 8);			/* mul rcx */
	assert_int_equal(s.op, SEM_OTHER);
	assert_int_equal(s.spoils, 1 << RAX | 1 << RDX);
}

static void test_the_stack_is_known(void **state)
{
	(void)state;
	assert_true(of("50", 8).flags & SEM_PUSHES);
	assert_int_equal(of("50", 8).src, RAX);
	assert_true(of("58", 8).flags & SEM_POPS);
	assert_int_equal(of("58", 8).dst, RAX);
	assert_true(of("e8 00 00 00 00", 8).flags & SEM_PUSHES);
	assert_int_equal(of("e8 00 00 00 00", 8).size, 8);
	struct sem s = of("c2 10 00", 8);	/* ret 16 */
	assert_int_equal(s.op, SEM_RET);
	assert_true(s.flags & SEM_POPS);
	assert_int_equal(s.imm, 16);
	s = of("ff 33", 8);			/* push [rbx] */
	assert_int_equal(s.flags & (SEM_PUSHES | SEM_LOADS | SEM_SRC_MEM | SEM_DST_MEM),
		SEM_PUSHES | SEM_LOADS | SEM_SRC_MEM);
	assert_int_equal(of("66 50", 8).op, SEM_OTHER);		/* 16 bits */
}

static void test_conditions_are_numbered_as_encoded(void **state)
{
	(void)state;
	for (unsigned cc = 0; cc < 16; cc++) {
		char hex[32];
		snprintf(hex, sizeof hex, "%02x 00", 0x70 + cc);
		assert_int_equal(of(hex, 8).op, SEM_JCC);
		assert_int_equal(of(hex, 8).cc, cc);
		snprintf(hex, sizeof hex, "0f %02x c0", 0x90 + cc);
		assert_int_equal(of(hex, 8).op, SEM_SETCC);
		assert_int_equal(of(hex, 8).cc, cc);
		snprintf(hex, sizeof hex, "0f %02x c1", 0x40 + cc);
		assert_int_equal(of(hex, 8).op, SEM_CMOV);
		assert_int_equal(of(hex, 8).cc, cc);
	}
}

static void test_nobody_knows_what_comes_behind_a_stop(void **state)
{
	(void)state;
	static const char *const stops[] = { "0f 05", "cd 80", "cc", "0f 0b", "f4" };
	for (unsigned i = 0; i < sizeof stops / sizeof *stops; i++)
		assert_int_equal(of(stops[i], 8).op, SEM_STOP);
}

static void test_bytes_that_do_not_decode_have_no_length(void **state)
{
	struct sem s;
	(void)state;
	assert_int_equal(isa_semantic(isa, 8, (const uint8_t *)"\x06", 1, AT, &s), 0);		/* push es */
	assert_int_equal(isa_semantic(isa, 8, (const uint8_t *)"\x48\x8b", 2, AT, &s), 0);	/* cut */
	assert_int_equal(isa_semantic(isa, 8, (const uint8_t *)"", 0, AT, &s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_move_says_its_registers_and_size),
		cmocka_unit_test(test_a_memory_operand_says_where_it_is),
		cmocka_unit_test(test_an_address_that_cannot_be_told_is_not),
		cmocka_unit_test(test_what_is_not_followed_spoils_what_it_writes),
		cmocka_unit_test(test_the_stack_is_known),
		cmocka_unit_test(test_conditions_are_numbered_as_encoded),
		cmocka_unit_test(test_nobody_knows_what_comes_behind_a_stop),
		cmocka_unit_test(test_bytes_that_do_not_decode_have_no_length),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
