/* SPDX-License-Identifier: GPL-2.0-or-later
 * Partial registers, and rules of the decoders: blocks in a steady state on the preset that has the mechanism, with it
 * and without, exact cycles an iteration.
 */
#include "block_fixture.h"

/* ---- AH, BH, CH, DH ---- */

static void test_whole_register_is_merged_in_a_cycle_of_its_own(void **state)
{
	(void)state;
	/* mov ah, bl; add ecx, eax: a cycle for the merging uop and one for the others */
	block_near("skylake", NULL, 8, "88 dc 01 c1", 2, 0);
	block_near("skylake", "partial.high_ports=0", 8, "88 dc 01 c1", 1, 0.05);
	block_check("ivy-bridge", "88 dc 01 c1", 2, "partial.high_ports=0", 1);
	/* as an address: mov ah, bl; mov ecx, [rax] */
	block_check("skylake", "88 dc 8b 08", 2, "partial.high_ports=0", 1);
	/* mov ah, bl; mov ch, bl; add ecx, eax: two uops, a cycle each */
	block_check("skylake", "88 dc 88 dd 01 c1", 3, "partial.high_ports=0", 2);
}

static void test_merged_register_waits_for_both_pieces(void **state)
{
	(void)state;
	/* mov ah, bl; imul eax, eax: the merge is in the chain */
	block_check("skylake", "88 dc 0f af c0", 4, "partial.high_ports=0x1", 4);
	/* add ah, bl eight times; add eax, ecx */
	/* 8, a merge, 1, and a read of AH */
	block_near("skylake", NULL, 8, "00 dc 00 dc 00 dc 00 dc 00 dc 00 dc 00 dc 00 dc 01 c8", 11, 0);
}

static void test_merging_uop_takes_its_ports(void **state)
{
	(void)state;
	/* mov ah, bl; add ecx, eax; three pshufd on port 5, which takes four uops if the merge goes there, too */
	block_check("skylake", "88 dc 01 c1 66 0f 70 d0 1b 66 0f 70 d8 1b 66 0f 70 e0 1b", 3, "partial.high_ports=0x20",
		4);
}

static void test_whole_write_ends_the_state(void **state)
{
	(void)state;
	block_near("skylake", NULL, 8, "88 dc 89 c8", 0.5, 0);			/* mov ah, bl; mov eax, ecx */
	block_near("skylake", NULL, 8, "88 dc 8b 06 01 c2", 1, 0.05);	/* mov ah, bl; mov eax, [rsi]; add edx, eax */
}

static void test_low_byte_leaves_the_high_one_apart(void **state)
{
	(void)state;
	/* mov ah, bl; add cl, al: nothing to merge */
	block_near("skylake", NULL, 8, "88 dc 00 c1", 1, 0);
	block_near("skylake", NULL, 8, "88 dc 88 c1", 1, 0);	/* mov cl, al: into RCX, which is a chain */
}

static void test_high_byte_is_written_without_the_rest(void **state)
{
	(void)state;
	/* imul eax, eax; mov ah, bl; inc ah */
	block_check("skylake", "88 dc fe c4", 0.5, "partial.high_ports=0", 2);
}

static void test_high_byte_comes_a_cycle_later_if_it_is_not_apart(void **state)
{
	(void)state;
	block_check("skylake", "0f b6 c4", 2, "partial.high_latency=0", 1);		/* movzx eax, ah */
	block_near("golden-cove", NULL, 8, "0f b6 c4", 1, 0);
	block_near("skylake", NULL, 8, "00 dc", 1, 0);				/* add ah, bl: apart */
}

static void test_state_goes_from_block_to_block(void **state)
{
	(void)state;
	/* mov ah, bl; jmp next; add ecx, eax */
	block_near("skylake", NULL, 8, "88 dc eb 00 01 c1", 2, 0);
	block_near("skylake", "partial.high_ports=0", 8, "88 dc eb 00 01 c1", 1, 0.05);
}

/* ---- P6 and Core 2 ---- */

static void test_p6_waits_until_the_byte_has_retired(void **state)
{
	(void)state;
	block_check("pentium3", "88 d8 01 c1", 8, "partial.stall=none", 1);		/* mov al, bl; add ecx, eax */
	block_near("pentium3", NULL, 8, "88 d8 00 c1", 1, 0);				/* mov al, bl; add cl, al */
}

static void test_p6_knows_registers_that_were_cleared(void **state)
{
	(void)state;
	block_near("pentium3", NULL, 8, "31 c0 88 d8 01 c1", 1.5, 0);	/* xor eax, eax; mov al, bl; add ecx, eax */
	block_near("pentium3", NULL, 8, "29 c0 88 d8 01 c1", 1.5, 0);			/* sub eax, eax */
}

static void test_core2_merges_in_some_cycles(void **state)
{
	(void)state;
	block_check("core2", "88 d8 01 c1", 4, "partial.stall_cycles=5", 6);
	block_near("core2", "partial.stall=none", 8, "88 d8 01 c1", 1, 0);
}

/* ---- decoding ---- */

#define NOP7 "0f 1f 80 00 00 00 00 "
#define NOPS7 "90 90 90 90 90 90 90 "

static void test_late_length_stalls_predecode(void **state)
{
	(void)state;
	/* neg ax with its ModRM byte in the next 16 bytes; 13 NOPs behind */
	block_near("skylake", "dsb.sets=0", 8, NOPS7 NOPS7 "66 f7 d8 " NOPS7 "90 90 90 90 90 90 90 90", 9, 0);
	block_near("skylake", "dsb.sets=0 mite.false_lcp=0", 8, NOPS7 NOPS7 "66 f7 d8 " NOPS7 "90 90 90 90 90 90 90 90",
		7.5, 0);
	/* a byte earlier */
	block_near("skylake", "dsb.sets=0", 8, NOPS7 "90 90 90 90 90 90 66 f7 d8 " NOPS7 "90 90 90 90 90 90 90 90 90",
		7.5, 0);
}

static void test_fusible_instructions_with_16_bit_constants_are_not_cached(void **state)
{
	(void)state;
	/* add ax, 1000: four bytes; each stalls predecode */
	block_check("skylake", "66 05 e8 03", 3.25, "dsb.lcp=0", 1);
	block_check("golden-cove", "66 05 e8 03", 3.125, "dsb.lcp=0", 1);
	block_near("skylake", NULL, 8, "66 35 e8 03", 1, 0);	/* xor ax, 1000: fuses with no branch */
	/* one xor ax, 1000 and four NOPs of seven bytes; the second half has no such prefix */
	block_near("skylake", NULL, 8, "66 05 e8 03 " NOP7 NOP7 NOP7 NOP7, 1.25, 0.005);
}

static void test_what_rename_takes_apart_is_one_instruction_to_simple_decoders(void **state)
{
	(void)state;
	/* add eax, [rsi+rdi]; add ebx, [rsi+rdi], decoded */
	block_check("ivy-bridge", "03 04 3e 03 1c 3e", 1, "dsb.laminated=0", 2);
}

/* ---- rules of the tables ---- */

static void test_double_shift_of_one_register_is_a_rotate(void **state)
{
	(void)state;
	block_near("skylake", NULL, 8, "0f a4 c0 05", 1, 0);				/* shld eax, eax, 5 */
	block_near("skylake", NULL, 8, "0f a4 d8 05", 3, 0);				/* shld eax, ebx, 5 */
	/* shrd of four registers */
	block_near("skylake", NULL, 8, "0f ac c0 05 0f ac db 05 0f ac c9 05 0f ac d2 05", 2, 0.005);
	block_near("golden-cove", NULL, 8, "0f ac c0 05", 1, 0);
	block_near("golden-cove", NULL, 8, "0f ac d8 05", 3, 0);
}

static void test_narrow_string_load_merges_behind_the_load(void **state)
{
	(void)state;
	block_near("skylake", NULL, 8, "ac", 1.33, 0.05);				/* lodsb */
	block_near("skylake", NULL, 8, "66 ad", 1.33, 0.05);				/* lodsw */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_register_is_merged_in_a_cycle_of_its_own),
		cmocka_unit_test(test_merged_register_waits_for_both_pieces),
		cmocka_unit_test(test_merging_uop_takes_its_ports),
		cmocka_unit_test(test_whole_write_ends_the_state),
		cmocka_unit_test(test_low_byte_leaves_the_high_one_apart),
		cmocka_unit_test(test_high_byte_is_written_without_the_rest),
		cmocka_unit_test(test_high_byte_comes_a_cycle_later_if_it_is_not_apart),
		cmocka_unit_test(test_state_goes_from_block_to_block),
		cmocka_unit_test(test_p6_waits_until_the_byte_has_retired),
		cmocka_unit_test(test_p6_knows_registers_that_were_cleared),
		cmocka_unit_test(test_core2_merges_in_some_cycles),
		cmocka_unit_test(test_late_length_stalls_predecode),
		cmocka_unit_test(test_fusible_instructions_with_16_bit_constants_are_not_cached),
		cmocka_unit_test(test_what_rename_takes_apart_is_one_instruction_to_simple_decoders),
		cmocka_unit_test(test_double_shift_of_one_register_is_a_rotate),
		cmocka_unit_test(test_narrow_string_load_merges_behind_the_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
