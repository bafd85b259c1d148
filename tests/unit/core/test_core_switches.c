/* SPDX-License-Identifier: GPL-2.0-or-later
 * Mechanisms of decoding and rename, each on and off through the core's file: blocks in a steady state on
 * skylake, exact cycles an iteration. NOPs fill the slots of a cycle, so that one slot more shows as a quarter
 * of a cycle.
 */
#include "block_fixture.h"

static struct err err;

#define NOP3 " 66 90 66 90 66 90"
#define NOP8 " 0f 1f 84 00 00 00 00 00"	/* one, of 8 bytes */
#define NOP24 NOP8 NOP8 NOP8

static void check(const char *hex, double preset, const char *setting, double then)
{
	double is = block_cycles("skylake", NULL, 8, hex), set = block_cycles("skylake", setting, 8, hex);
	if (is != preset || set != then)
		fail_msg("%s: %g cycles, %g expected; with %s: %g, %g expected", hex, is, preset, setting, set, then);
}

static void test_micro_fusion_saves_a_slot(void **state)
{
	(void)state;
	check("48 03 06" NOP3, 1, "fusion.micro=0", 1.25);	/* add rax, [rsi] */
	check("89 06" NOP3, 1, "fusion.micro=0", 1.25);		/* mov [rsi], eax */
}

static void test_macro_fusion_saves_a_slot(void **state)
{
	(void)state;
	/* cmp eax, ebx; jne next */
	check("39 d8 75 00 0f 1f 40 00 0f 1f 40 00 0f 1f 40 00", 1, "fusion.macro=0", 1.25);
}

static void test_index_register_takes_a_fused_pair_apart(void **state)
{
	(void)state;
	check("c5 f4 58 04 0e" NOP3, 1.25, "fusion.unlaminate=0", 1);	/* vaddps ymm0, ymm1, [rsi+rcx] */
}

static void test_operation_that_leaves_flags_alone_does_not_fuse_its_load(void **state)
{
	(void)state;
	check("0f ba 26 03" NOP3, 1.25, "fusion.partial_flags=1", 1);	/* bt dword [rsi], 3 */
	check("83 3e 03" NOP3, 1, "fusion.partial_flags=1", 1);		/* cmp dword [rsi], 3: writes them all */
}

static void test_memory_and_immediate_of_a_vector_instruction_do_not_fuse(void **state)
{
	(void)state;
	check("c5 fd 70 06 1b" NOP3, 1.25, "fusion.immediate=1", 1);		/* vpshufd ymm0, [rsi], 27 */
	check("c4 e3 7d 39 06 01" NOP3, 1.25, "fusion.immediate=1", 1);	/* vextracti128 [rsi], ymm0, 1 */
	check("c5 f5 fe 06" NOP3, 1, "fusion.immediate=1", 1);			/* vpaddd ymm0, ymm1, [rsi] */
}

static void test_widening_move_to_a_whole_register_does_not_fuse_its_load(void **state)
{
	(void)state;
	check("c4 e2 7d 30 06" NOP3, 1.25, "fusion.widening=1", 1);	/* vpmovzxbw ymm0, [rsi] */
	check("c4 e2 79 30 06" NOP3, 1, "fusion.widening=1", 1);	/* vpmovzxbw xmm0, [rsi] */
}

static void test_pshufb_and_pmulld_do_not_fuse_their_load(void **state)
{
	(void)state;
	check("c4 e2 75 00 06" NOP3, 1.25, "fusion.pshufb=1", 1);	/* vpshufb ymm0, ymm1, [rsi] */
	check("c4 e2 75 40 06" NOP3, 1.5, "fusion.pshufb=1", 1.25);	/* vpmulld ymm0, ymm1, [rsi] */
	check("c4 e2 75 3d 06" NOP3, 1, "fusion.pshufb=1", 1);		/* vpmaxsd ymm0, ymm1, [rsi] */
}

static void test_variable_blend_begins_an_issue_group(void **state)
{
	(void)state;
	check("c4 e3 75 4c c2 30 90", 1, "issue.blend_first=0", 0.75);	/* vpblendvb ymm0, ymm1, ymm2, ymm3; nop */
	check("c4 e3 75 4c c2 30" NOP3, 2, "issue.blend_first=0", 1.25);
}

static void test_microcode_begins_behind_the_uop_queue(void **state)
{
	(void)state;
	/* bt [rsi], rax has nine slots, which take three cycles; three, four or eight NOPs follow, and those that do
	 * not fit into the three cycles take one more */
	check("48 0f a3 06" NOP24, 6, "ms.drain=0", 6);
	check("48 0f a3 06" NOP24 NOP8, 7, "ms.drain=0", 6);
	check("48 0f a3 06" NOP24 NOP24 NOP8 NOP8, 8, "ms.drain=0", 7);
}

static void test_loads_and_slow_operations_are_refused_now_and_then(void **state)
{
	(void)state;
	check("c5 f5 58 06", 1083 / 2048., "sustain.rate=0", 0.5);	/* vaddpd ymm0, ymm1, [rsi] */
	check("c5 f5 58 06", 1083 / 2048., "sustain.memory_rate=0", 1083 / 2048.);
	check("c5 f5 58 06", 1083 / 2048., "sustain.latency=5", 0.5);
	check("c5 f5 fe 06", 0.5, "sustain.rate=0", 0.5);		/* vpaddd ymm0, ymm1, [rsi] */
	/* vaddpd ymm0, ymm1, ymm1; mov eax, [rsi]: two a cycle */
	check("c5 f5 58 c1 8b 06 66 90 66 90", 1, "sustain.rate=0", 1);
}

static void test_two_loads_and_a_store_are_not_quite_kept_up(void **state)
{
	(void)state;
	/* mov [rsi], ecx; mov eax, [rdi]; mov ebx, [rdx] */
	check("89 0e 8b 07 8b 1a", 2053 / 2040., "sustain.memory_rate=0", 1);
	check("89 0e 8b 07 90", 1, "sustain.memory_rate=0", 1);
}

static void test_eliminated_copies_take_no_time(void **state)
{
	(void)state;
	/* mov rax, rbx; imul rbx, rax: three cycles, or four */
	check("48 89 d8 48 0f af d8", 3, "eliminate.moves=none", 4);
	check("48 89 d8 48 0f af d8", 3, "eliminate.moves=vector", 4);
	/* vmovdqa xmm1, xmm0; vpaddd xmm0, xmm1, xmm1 */
	check("c5 f9 6f c8 c5 f1 fe c1", 1, "eliminate.moves=vector", 1);
	check("c5 f9 6f c8 c5 f1 fe c1", 1, "eliminate.moves=none", 2);
}

static void test_zero_idiom_depends_on_nothing(void **state)
{
	(void)state;
	check("31 c0 0f af c0", 1, "eliminate.zero_idioms=0", 4);	/* xor eax, eax; imul eax, eax */
}

static void test_default_holds_for_a_file_that_does_not_say(void **state)
{
	(void)state;
	struct core_config core;
	assert_int_equal(core_config_load(&core, data_dir(), "skylake", &err), 0);
	assert_int_equal(core.fusion_micro, 1);		/* skylake.conf does not set it */
	assert_int_equal(core.dsb_lines, 2);
	assert_int_equal(core.fusion_partial_flags, 0);	/* skylake.conf sets it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_micro_fusion_saves_a_slot),
		cmocka_unit_test(test_macro_fusion_saves_a_slot),
		cmocka_unit_test(test_index_register_takes_a_fused_pair_apart),
		cmocka_unit_test(test_operation_that_leaves_flags_alone_does_not_fuse_its_load),
		cmocka_unit_test(test_memory_and_immediate_of_a_vector_instruction_do_not_fuse),
		cmocka_unit_test(test_pshufb_and_pmulld_do_not_fuse_their_load),
		cmocka_unit_test(test_widening_move_to_a_whole_register_does_not_fuse_its_load),
		cmocka_unit_test(test_variable_blend_begins_an_issue_group),
		cmocka_unit_test(test_microcode_begins_behind_the_uop_queue),
		cmocka_unit_test(test_loads_and_slow_operations_are_refused_now_and_then),
		cmocka_unit_test(test_two_loads_and_a_store_are_not_quite_kept_up),
		cmocka_unit_test(test_eliminated_copies_take_no_time),
		cmocka_unit_test(test_zero_idiom_depends_on_nothing),
		cmocka_unit_test(test_default_holds_for_a_file_that_does_not_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
