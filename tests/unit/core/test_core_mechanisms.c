/* SPDX-License-Identifier: GPL-2.0-or-later
 * Mechanisms of rename, bypass and loads that single cores have, each on and off through the core's file:
 * blocks in a steady state on the preset that has it, exact cycles an iteration.
 */
#include "core/backend/memory_pairs.h"
#include "block_fixture.h"

/* ---- constants at rename ---- */

static void test_small_constants_are_added_at_rename(void **state)
{
	(void)state;
	block_check("golden-cove", "48 83 c3 07", 1 / 6., "eliminate.constants=0", 1);	/* add rbx, 7 */
	block_check("golden-cove", "48 83 eb 07", 1 / 6., "eliminate.constants=0", 1);	/* sub rbx, 7 */
	block_check("golden-cove", "48 ff cb", 1 / 6., "eliminate.constants=0", 1);		/* dec rbx */
	block_check("golden-cove", "48 8d 5b 10", 1 / 6., "eliminate.constants=0", 1);	/* lea rbx, [rbx+16] */
	block_near("golden-cove", NULL, 8, "83 c3 07", 1, 0);					/* add ebx, 7 */
	block_near("golden-cove", NULL, 8, "48 8d 5c 0b 10", 1, 0);	/* lea rbx, [rbx+rcx+16] */
	block_near("skylake", NULL, 8, "48 83 c3 07", 1, 0);
}

static void test_sum_of_constants_is_bounded(void **state)
{
	(void)state;
	block_near("golden-cove", NULL, 8, "48 81 c3 00 04 00 00", 1, 0);	/* add rbx, 1024 */
	/* add rbx, 512: one of two */
	block_check("golden-cove", "48 81 c3 00 02 00 00", 0.5, "eliminate.constants=512", 1);
	block_near("golden-cove", "eliminate.constants=1025", 8, "48 81 c3 00 02 00 00", 1 / 3., 0.005);
	/* add rbx, 512; sub rbx, 512: the sum stays small */
	block_near("golden-cove", NULL, 8, "48 81 c3 00 02 00 00 48 81 eb 00 02 00 00", 1 / 3., 0.005);
}

static void test_constant_added_with_a_branch_is_executed(void **state)
{
	(void)state;
	/* inc rbx; jne next: a macro-fused pair, except where a cache line ends between the two */
	block_near("golden-cove", NULL, 8, "48 ff c3 75 00", 63 / 64., 0.005);
}

/* ---- copies ---- */

#define FOUR_MADE "48 0f af db 48 0f af c9 48 0f af f6 48 0f af ff "	/* imul rbx, rbx; and rcx, rsi, rdi */
#define FOUR_NAMED "48 89 d8 48 89 ca 49 89 f0 49 89 f9 " /* mov rax, rbx; mov rdx, rcx; mov r8, rsi; mov r9, rdi */
#define FOUR_WRITTEN "48 31 c0 48 31 d2 4d 31 c0 4d 31 c9 "		/* xor rax, rax; and rdx, r8, r9 */
#define NOP12 "90 90 90 90 90 90 90 90 90 90 90 90 "			/* three cycles */
/* mov r10, r11; imul r11, r10; imul r11, r11; imul r11, r11 */
#define FIFTH "4d 89 da 4d 0f af da 4d 0f af db 4d 0f af db"

static void test_registers_of_several_names_are_limited(void **state)
{
	(void)state;
	/* Four registers have two names each, and the copies of the round before still have them while they are
	 * overwritten. In one round of three the fifth copy is executed, in the others one of the four. */
	block_check("skylake", FOUR_MADE FOUR_NAMED NOP12 FIFTH, 28 / 3., "eliminate.slots=6", 9);
	block_check("skylake", FOUR_MADE FOUR_NAMED NOP12 FIFTH, 28 / 3., "eliminate.slots=0", 9);
	block_near("skylake", "eliminate.slots=3", 8, FOUR_MADE FOUR_NAMED NOP12 FIFTH, 9.5, 0.005);
}

static void test_general_register_counts_until_its_names_are_overwritten(void **state)
{
	(void)state;
	/* the copies are overwritten, but their sources are not yet */
	block_check("skylake", FOUR_MADE FOUR_NAMED FOUR_WRITTEN NOP12 FIFTH, 10, "eliminate.all_names=0", 9);
	block_check("ivy-bridge", FOUR_MADE FOUR_NAMED FOUR_WRITTEN NOP12 FIFTH, 9, "eliminate.all_names=1", 10);
}

static void test_what_was_just_eliminated_counts(void **state)
{
	(void)state;
	/* vmovdqa xmm1, xmm0, and three more; vpxor of the copies; vmovdqa xmm9, xmm8; vpmuludq xmm8, xmm9, xmm9; two
	 * NOPs. The registers of the four copies have one name again two cycles after the copies, and the fifth copy
	 * comes before that is known. */
	const char *hex = "c5 f9 6f c8 c5 f9 6f da c5 f9 6f ec c5 f9 6f fe c5 f1 ef c9 c5 e1 ef db c5 d1 ef ed c5 c1 "
		"ef "
		"ff "
	                  "c4 41 79 6f c8 c4 41 31 f4 c1 90 90";
	block_check("skylake", hex, 5, "eliminate.cycles=3", 6);
}

/* ---- bypass delays ---- */

static void test_integer_and_floating_point_are_a_cycle_apart(void **state)
{
	(void)state;
	/* pmuludq xmm0, xmm0; addps xmm0, xmm0, on ports 0 and 1: 5 + 4 cycles and two crossings */
	block_check("skylake", "66 0f f4 c0 0f 58 c0", 11, "bypass.delay=0", 9);
	block_near("skylake", "bypass.delay=3", 8, "66 0f f4 c0 0f 58 c0", 15, 0.005);
}

static void test_shuffles_cross_free(void **state)
{
	(void)state;
	/* pshufd xmm0, xmm0, 27; addps xmm0, xmm0 */
	block_check("skylake", "66 0f 70 c0 1b 0f 58 c0", 5, "bypass.delay=0", 5);
}

static void test_one_operand_from_elsewhere_delays_the_operation(void **state)
{
	(void)state;
	/* psrlq xmm1, 1 comes once a round and long before; still each mulps xmm0, xmm1 of the chain waits a cycle
	 * more */
	block_check("skylake", "66 0f 73 d1 01 0f 59 c1 0f 59 c1 0f 59 c1", 15, "bypass.delay=0", 12);
}

static void test_adders_pass_results_to_each_other_faster(void **state)
{
	(void)state;
	block_near("golden-cove", NULL, 8, "0f 58 c0", 2, 0);				/* addps xmm0, xmm0 */
	/* mulps xmm0, xmm0; addps xmm0, xmm0 */
	block_check("golden-cove", "0f 59 c0 0f 58 c0", 7, "bypass.fp_add=0", 6);
	/* vpaddd ymm0, ymm0, ymm0; vaddps ymm0, ymm0, ymm0 */
	block_near("golden-cove", NULL, 8, "c5 fd fe c0 c5 fc 58 c0", 4, 0);
}

/* ---- loads ---- */

static void test_load_becomes_the_stored_register(void **state)
{
	(void)state;
	block_check("golden-cove", "48 83 06 07", 1, "forward.renamed=0", 7);		/* add qword [rsi], 7 */
	/* mov [rsi], rax; mov rax, [rsi]; imul rax, rax */
	block_check("golden-cove", "48 89 06 48 8b 06 48 0f af c0", 3, "forward.renamed=0", 9);
	block_near("golden-cove", NULL, 8, "6a 07 58", 0.5, 0.005);	/* push 7; pop rax: two stores a cycle */
	block_check("golden-cove", "50 58", 0.5, "forward.renamed=0", 6);		/* push rax; pop rax */
	block_near("golden-cove", NULL, 8, "48 01 06", 7, 0.005);			/* add [rsi], rax */
	block_near("golden-cove", NULL, 8, "66 83 06 07", 7, 0.005);			/* add word [rsi], 7 */
	block_check("skylake", "48 83 06 07", 6, "forward.renamed=8", 1);
}

static void test_loads_of_a_cycle_do_not_meet_in_a_bank(void **state)
{
	(void)state;
	/* mov eax, [rsi]; mov ebx, [rsi+64+...] */
	block_check("ivy-bridge", "8b 06 8b 5e 40", 2, "l1d.banks=0", 1);
	block_near("ivy-bridge", NULL, 8, "8b 06 8b 5e 44", 1, 0.005);		/* another bank */
	block_near("ivy-bridge", NULL, 8, "8b 06 8b 9e 00 20 00 00", 1, 0.005);	/* the same set: 8192 bytes on */
	block_near("ivy-bridge", NULL, 8, "48 8b 06 8b 5e 44", 2, 0.005);		/* 8 bytes take two banks */
	block_near("skylake", NULL, 8, "8b 06 8b 5e 40", 1, 0.005);
}

/* ---- Zen ---- */

static void test_a_nop_shares_the_slot_of_the_instruction_before(void **state)
{
	(void)state;
	block_check("zen4", "90", 1 / 12., "fusion.nop=0", 1 / 6.);
	block_check("zen4", "31 c0 90", 1 / 6., "fusion.nop=0", 2 / 6.);			/* xor eax, eax; nop */
	block_near("zen4", NULL, 8, "0f 1f 84 00 00 00 00 00", 1 / 6., 0.005);		/* 16 bytes in all */
}

static void test_a_cmov_by_two_flags_takes_them_first_on_zen_5(void **state)
{
	(void)state;
	block_near("zen5", NULL, 8, "39 d8 0f 4c c3 83 c0 01", 4, 0.005); /* cmp eax, ebx; cmovl eax, ebx; add eax, 1 */
	block_near("zen5", NULL, 8, "39 d8 0f 46 c3 83 c0 01", 4, 0.005);			/* cmovbe */
	block_near("zen5", NULL, 8, "39 d8 0f 42 c3 83 c0 01", 3, 0.005);			/* cmovb */
	block_near("zen5", NULL, 8, "0f 4c c3", 1, 0.005);	/* through the registers alone */
}

static void test_xchg_of_registers_is_a_change_of_names_on_zen(void **state)
{
	(void)state;
	block_near("zen4", NULL, 8, "48 93", 1 / 3., 0.005);
}

static void test_a_load_by_the_store_s_address_becomes_the_stored_register(void **state)
{
	(void)state;
	const char *const pair = "48 89 46 40 48 8b 46 40";	/* mov [rsi+64], rax; mov rax, [rsi+64] */
	block_check("zen4", pair, 1, "forward.renamed_stores=0", 6);
	block_near("zen4", NULL, 8, "48 89 46 40 8b 46 40", 1, 0.005);				/* its lower half */
	block_near("zen4", NULL, 8, "48 01 46 40", 1, 0.005);					/* add [rsi+64], rax */
	/* rsi is written in between */
	block_near("zen4", NULL, 8, "48 89 46 40 48 83 c6 08 48 83 ee 08 48 8b 46 40", 6, 0.5);
	block_near("zen4", NULL, 8, "48 89 46 40 48 03 46 40", 7, 0.5);				/* add rax, [rsi+64] */
	/* Zen 3: mov [rsp-64], rax; mov rax, [rsp-64] */
	block_near("zen3", NULL, 8, "48 89 44 24 c0 48 8b 44 24 c0", 1, 0.005);
	block_check("zen3", pair, 6, "forward.renamed_stack=0", 1);
	/* movsd [rsi+64], xmm0; mov rax, [rsi+64]; movq xmm0, rax */
	block_near("zen5", NULL, 8, "f2 0f 11 46 40 48 8b 46 40 66 48 0f 6e c0", 14, 0.5);
}

/* Returns how many of 100 rounds of loads, each from the store before it, are renamed by a table of 12. */
static unsigned renamed_rounds(unsigned loads, bool whole)
{
	struct pairs_few few = { .entries = 12 };
	unsigned n = 0;
	for (unsigned i = 0; i < 100; i++)
		for (unsigned k = 0; k < loads; k++)
			n += pairs_few_meet(&few, 0x401000 + 8 * k, 1, whole, 12);
	return n / loads;
}

static void test_few_loads_learn_their_stores(void **state)
{
	(void)state;
	assert_int_equal(renamed_rounds(1, true), 88);
	assert_int_equal(renamed_rounds(12, true), 88);
	assert_int_equal(renamed_rounds(13, true), 0);		/* each is replaced before it comes again */
	assert_int_equal(renamed_rounds(1, false), 0);
	struct pairs_few few = { .entries = 12 };
	for (unsigned i = 0; i < 20; i++)
		pairs_few_meet(&few, 0x401000, 1, true, 12);
	assert_true(pairs_few_meet(&few, 0x401000, 1, true, 12));
	assert_false(pairs_few_meet(&few, 0x401000, 2, true, 12));	/* another store: it learns anew */
	assert_false(pairs_few_meet(&few, 0x401000, 1, true, 12));
}

static void test_what_the_x87_stores_is_converted_first(void **state)
{
	(void)state;
	block_near("zen5", NULL, 8, "dd 46 40 dd 5e 40", 14, 0.005);	/* fld m64 [rsi+64]; fstp m64 [rsi+64] */
	block_near("zen5", NULL, 8, "db 6e 40 db 7e 40", 20, 1);	/* the same of m80 */
	block_near("zen5", NULL, 8, "df 6e 40 df 7e 40", 17, 0.005);	/* fild, fistp m64 */
	/* mov rax, [rsi+72] does not become what FSTP stored */
	block_near("zen5", NULL, 8, "dd 46 40 dd 5e 48 48 8b 46 48 48 89 46 40", 21, 0.5);
}

static void test_one_load_a_cycle_is_forwarded_to(void **state)
{
	(void)state;
	/* mov [rsi+64], rax; mov rbx, [rsi+64] */
	block_check("zen4", "48 89 46 40 48 8b 5e 40", 1, "forward.gap=0", 2 / 3.);
}

static void test_stores_of_one_cycle_are_to_one_line(void **state)
{
	(void)state;
	/* mov [rsi], rax; mov [rsi+64], rax */
	block_check("zen4", "48 89 06 48 89 46 40", 2, "store.commit_line=0", 1);
	block_near("zen4", NULL, 8, "48 89 06 48 89 46 08", 1, 0.005);
}

static void test_accesses_that_cross_a_line_take_longer(void **state)
{
	(void)state;
	block_check("emerald-rapids", "48 8b 46 3c", 1, "l1d.split_slots=0", 1 / 2.);	/* mov rax, [rsi+60] */
	block_check("emerald-rapids", "48 89 46 3c", 2, "store.split_cycles=0", 1 / 2.);	/* mov [rsi+60], rax */
}

static void test_two_loads_a_cycle_read_one_bank(void **state)
{
	(void)state;
	/* mov rax, [rsi]; mov rbx, [rsi+64]; mov rdi, [rsi+128] */
	block_check("emerald-rapids", "48 8b 06 48 8b 5e 40 48 8b be 80 00 00 00", 1.5, "l1d.bank_reads=0", 1);
	/* the third at rsi+136 */
	block_near("emerald-rapids", NULL, 8, "48 8b 06 48 8b 5e 40 48 8b be 88 00 00 00", 1, 0.02);
}

static void test_a_load_into_the_x87_is_not_renamed(void **state)
{
	(void)state;
	/* fld m64 [rsi+64]; fstp m64 [rsi+64] */
	block_near("golden-cove", NULL, 8, "dd 46 40 dd 5e 40", 6, 0.5);
}

static void test_two_taken_branches_are_predicted_in_a_cycle(void **state)
{
	(void)state;
	/* two NOPs; jmp $+2 */
	block_check("zen5", "0f 1f 84 00 00 00 00 00 66 0f 1f 44 00 00 eb 00", 1 / 2., "predict.pairs=0", 1);
	/* straight code: a line a cycle */
	block_near("zen5", NULL, 8, "0f 1f 84 00 00 00 00 00", 1 / 8., 0.005);
}

static void test_a_window_of_more_lines_than_are_read_at_once_takes_longer(void **state)
{
	(void)state;
	/* 32 of them are five or six lines: three reads */
	block_check("zen5", "66 90", 5 / 32., "dsb.rereads=0", 1 / 8.);
	block_near("zen5", "dsb.rereads=1", 8, "66 90", 4 / 32., 0.005);
	/* eight in 64 bytes at most: one read */
	block_near("zen5", NULL, 8, "66 0f 1f 84 00 00 00 00 00", 1 / 7.1, 0.005);
}

static void test_a_line_goes_on_in_the_next_window(void **state)
{
	(void)state;
	/* each window has 16; every third window needs no third line */
	block_check("zen5", "0f 1f 40 00", 7 / 48., "dsb.straddle=0", 3 / 16.);
}

static void test_uops_may_share_a_slot(void **state)
{
	(void)state;
	const char *const nops = "0f 1f 84 00 00 00 00 00 0f 1f 84 00 00 00 00 00 0f 1f 84 00 00 00 00 00 0f 1f 84 00 "
		"00 00 00 00";
	char code[256];
	snprintf(code, sizeof code, "48 8d 44 2b 08 %s", nops);	/* lea rax, [rbx+rbp+8]: three uops in two slots */
	block_near("zen5", NULL, 8, code, 6 / 8., 0.005);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uops_may_share_a_slot),
		cmocka_unit_test(test_accesses_that_cross_a_line_take_longer),
		cmocka_unit_test(test_two_loads_a_cycle_read_one_bank),
		cmocka_unit_test(test_a_load_into_the_x87_is_not_renamed),
		cmocka_unit_test(test_few_loads_learn_their_stores),
		cmocka_unit_test(test_small_constants_are_added_at_rename),
		cmocka_unit_test(test_sum_of_constants_is_bounded),
		cmocka_unit_test(test_constant_added_with_a_branch_is_executed),
		cmocka_unit_test(test_registers_of_several_names_are_limited),
		cmocka_unit_test(test_general_register_counts_until_its_names_are_overwritten),
		cmocka_unit_test(test_what_was_just_eliminated_counts),
		cmocka_unit_test(test_integer_and_floating_point_are_a_cycle_apart),
		cmocka_unit_test(test_shuffles_cross_free),
		cmocka_unit_test(test_one_operand_from_elsewhere_delays_the_operation),
		cmocka_unit_test(test_adders_pass_results_to_each_other_faster),
		cmocka_unit_test(test_load_becomes_the_stored_register),
		cmocka_unit_test(test_loads_of_a_cycle_do_not_meet_in_a_bank),
		cmocka_unit_test(test_a_nop_shares_the_slot_of_the_instruction_before),
		cmocka_unit_test(test_a_cmov_by_two_flags_takes_them_first_on_zen_5),
		cmocka_unit_test(test_xchg_of_registers_is_a_change_of_names_on_zen),
		cmocka_unit_test(test_a_load_by_the_store_s_address_becomes_the_stored_register),
		cmocka_unit_test(test_what_the_x87_stores_is_converted_first),
		cmocka_unit_test(test_one_load_a_cycle_is_forwarded_to),
		cmocka_unit_test(test_stores_of_one_cycle_are_to_one_line),
		cmocka_unit_test(test_two_taken_branches_are_predicted_in_a_cycle),
		cmocka_unit_test(test_a_window_of_more_lines_than_are_read_at_once_takes_longer),
		cmocka_unit_test(test_a_line_goes_on_in_the_next_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
