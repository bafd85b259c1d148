/* SPDX-License-Identifier: GPL-2.0-or-later
 * Flags of two instructions, writes past the first-level cache, windows that keep their neighbours out of the
 * uop cache: blocks in a steady state on the preset that has the mechanism, with it and without, exact cycles
 * an iteration.
 */
#include "block_fixture.h"
#include <string.h>

/* ---- flags ---- */

#define NOP2 " 66 90 66 90"
#define NOP5 " 66 90 66 90 66 90 66 90 66 90"

static void test_ivy_bridge_merges_flags_of_two_instructions_by_a_uop(void **state)
{
	(void)state;
	/* inc eax; setbe cl (two uops); add eax, 1 */
	const char *both = "ff c0 0f 96 c1" NOP5, *whole = "83 c0 01 0f 96 c1" NOP5;
	double with = block_cycles("ivy-bridge", NULL, 8, both), without = block_cycles("ivy-bridge",
		"partial.flags_ports=0", 8, both);
	if (fabs(with - without - 0.25) > 0.01)
		fail_msg("%g cycles with the uop, %g without", with, without);
	block_near("ivy-bridge", NULL, 8, whole, block_cycles("ivy-bridge", "partial.flags_ports=0", 8, whole), 0.001);
	const char *one = "ff c0 0f 92 c1" NOP2, *rest = "ff c0 0f 94 c1" NOP2;	/* inc eax; setb cl; sete cl */
	block_near("ivy-bridge", NULL, 8, one, block_cycles("ivy-bridge", "partial.flags_ports=0", 8, one), 0.001);
	block_near("ivy-bridge", NULL, 8, rest, block_cycles("ivy-bridge", "partial.flags_ports=0", 8, rest), 0.001);
	/* no such uop */
	block_near("skylake", NULL, 8, both, block_cycles("skylake", "partial.flags_ports=0", 8, both), 0.001);
}

/* Allocation waits until the writer of the flags retires, so an iteration takes the length of the pipeline. */
static void test_p6_and_core2_wait_for_the_writer_of_some_flags(void **state)
{
	static const char *const preset[] = { "pentium3", "core2" };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const char *p = preset[i], *off = "partial.flags_stall=0";
		/* cmp ebx, edx; inc eax; setbe cl; sete cl */
		const char *jbe = "39 d3 40 0f 96 c1", *je = "39 d3 40 0f 94 c1";
		assert_true(block_cycles(p, NULL, 4, jbe) > block_cycles(p, off, 4, jbe) + 4);
		block_near(p, NULL, 4, je, block_cycles(p, off, 4, je), 0.001);
		const char *add = "39 d3 83 c0 01 0f 96 c1";	/* add eax, 1 writes them all */
		block_near(p, NULL, 4, add, block_cycles(p, off, 4, add), 0.001);
	}
}

static void test_p6_and_core2_wait_for_a_shift_that_may_leave_the_flags(void **state)
{
	static const char *const preset[] = { "pentium3", "core2" };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		/* shl eax, ..; sete bl */
		const char *p = preset[i], *off = "partial.flags_stall=0", *by_cl = "d3 e0 0f 94 c3",
			*by_1 = "d1 e0 0f 94 c3";
		assert_true(block_cycles(p, NULL, 4, by_cl) > block_cycles(p, off, 4, by_cl) + 4);
		block_near(p, NULL, 4, by_1, block_cycles(p, off, 4, by_1), 0.001);
		/* no instruction reads the flags */
		block_near(p, NULL, 4, "d3 e0 d3 e2", block_cycles(p, off, 4, "d3 e0 d3 e2"), 0.001);
	}
}

/* ---- writes past L1D ---- */

static void test_pentium_writes_past_its_cache_what_nobody_reads(void **state)
{
	(void)state;
	block_near("pentium", NULL, 4, "89 06", 8, 0.01);			/* mov [esi], eax: a write of the bus */
	block_near("pentium", "l1d.write_around=20", 4, "89 06", 20, 0.1);
	assert_true(block_cycles("pentium", "l1d.write_around=0", 4, "89 06") <= 1);
	/* mov ecx, [esi]; mov [esi], eax: the load brings the line into the cache */
	assert_true(block_cycles("pentium", NULL, 4, "8b 0e 89 06") <= 1.5);
	block_near("pentium", NULL, 4, "50", 8, 0.01);			/* push eax */
	assert_true(block_cycles("pentium", NULL, 4, "50 59") <= 2);		/* push eax; pop ecx */
	block_near("pentium", NULL, 4, "60", 64, 1);			/* pusha: eight */
	block_near("skylake", NULL, 8, "89 06", 1, 0.01);
}

/* ---- the uop cache ---- */

static void test_window_of_too_many_lines_keeps_its_other_half_out(void **state)
{
	char hex[64 * 3 + 1] = "";
	(void)state;
	for (unsigned i = 0; i < 32; i++)	/* 32 uops need six lines; a window has three */
		strcat(hex, "90 ");
	/* add ax, 0x1234 (a length-changing prefix, slow to decode); a NOP of 4 bytes */
	for (unsigned i = 0; i < 4; i++)
		strcat(hex, "66 05 34 12 0f 1f 40 00 ");
	hex[64 * 3 - 1] = 0;
	double out = block_cycles("skylake", NULL, 8, hex), in = block_cycles("skylake", "dsb.halves=0", 8, hex);
	if (out < in + 6)
		fail_msg("%g cycles with the other half from the decoders, %g with it from the uop cache", out, in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ivy_bridge_merges_flags_of_two_instructions_by_a_uop),
		cmocka_unit_test(test_p6_and_core2_wait_for_the_writer_of_some_flags),
		cmocka_unit_test(test_p6_and_core2_wait_for_a_shift_that_may_leave_the_flags),
		cmocka_unit_test(test_pentium_writes_past_its_cache_what_nobody_reads),
		cmocka_unit_test(test_window_of_too_many_lines_keeps_its_other_half_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
