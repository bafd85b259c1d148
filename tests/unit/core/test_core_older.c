/* SPDX-License-Identifier: GPL-2.0-or-later
 * Flags of two instructions, writes past the first-level cache, windows that keep their neighbours out of the uop cache: blocks in a
 * steady state on the preset that has the mechanism, with it and without, exact cycles an iteration.
 */
#include "analysis/block/block.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct err err;

static double cycles(const char *preset, const char *setting, int word_bytes, const char *hex)
{
	char dir[4096], one[64];
	const char *top = getenv("TOP");
	struct core_config core;
	struct block_engine *e;
	struct block_result result = { 0 };
	uint8_t code[256];
	size_t n = 0;
	for (unsigned v; n < sizeof code && sscanf(hex, "%2x", &v) == 1; hex += 3) {
		code[n++] = (uint8_t)v;
		if (!hex[2])
			break;
	}
	snprintf(dir, sizeof dir, "%s/data", top ? top : ".");
	assert_int_equal(core_config_load(&core, dir, preset, &err), 0);
	for (int used; setting && sscanf(setting, "%63s%n", one, &used) == 1; setting += used)
		assert_int_equal(core_config_set(&core, one, &err), 0);
	assert_int_equal(block_engine_create(&e, &core, dir, &err), 0);
	const struct block_spec spec = { .code = code, .bytes = n, .word_bytes = word_bytes };
	if (block_run(e, &spec, &result, &err))
		fail_msg("%s", err.text);
	double c = (double)result.cycles / (double)result.iterations;
	block_release(&result);
	block_engine_destroy(e);
	return c;
}

static void is_near(const char *preset, const char *setting, int word_bytes, const char *hex, double expected, double within)
{
	double is = cycles(preset, setting, word_bytes, hex);
	if (fabs(is - expected) > within)
		fail_msg("%s, %s, %s: %g cycles, %g expected", preset, setting ? setting : "as it is", hex, is, expected);
}

/* ---- flags ---- */

#define NOP2 " 66 90 66 90"
#define NOP5 " 66 90 66 90 66 90 66 90 66 90"

static void test_ivy_bridge_merges_flags_of_two_instructions_by_a_uop(void **state)
{
	(void)state;
	const char *both = "ff c0 0f 96 c1" NOP5, *whole = "83 c0 01 0f 96 c1" NOP5;	/* inc eax; setbe cl (two uops); add eax, 1 */
	double with = cycles("ivy-bridge", NULL, 8, both), without = cycles("ivy-bridge", "partial.flags_ports=0", 8, both);
	if (fabs(with - without - 0.25) > 0.01)
		fail_msg("%g cycles with the uop, %g without", with, without);
	is_near("ivy-bridge", NULL, 8, whole, cycles("ivy-bridge", "partial.flags_ports=0", 8, whole), 0.001);
	const char *one = "ff c0 0f 92 c1" NOP2, *rest = "ff c0 0f 94 c1" NOP2;	/* inc eax; setb cl; sete cl */
	is_near("ivy-bridge", NULL, 8, one, cycles("ivy-bridge", "partial.flags_ports=0", 8, one), 0.001);
	is_near("ivy-bridge", NULL, 8, rest, cycles("ivy-bridge", "partial.flags_ports=0", 8, rest), 0.001);
	is_near("skylake", NULL, 8, both, cycles("skylake", "partial.flags_ports=0", 8, both), 0.001);	/* no such uop */
}

/* Allocation waits for the retirement of what allocation lets in: the loop takes the pipeline's length. */
static void test_p6_and_core2_wait_for_the_writer_of_some_flags(void **state)
{
	static const char *const preset[] = { "pentium3", "core2" };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const char *p = preset[i], *off = "partial.flags_stall=0";
		const char *jbe = "39 d3 40 0f 96 c1", *je = "39 d3 40 0f 94 c1";	/* cmp ebx, edx; inc eax; setbe cl; sete cl */
		assert_true(cycles(p, NULL, 4, jbe) > cycles(p, off, 4, jbe) + 4);
		is_near(p, NULL, 4, je, cycles(p, off, 4, je), 0.001);
		const char *add = "39 d3 83 c0 01 0f 96 c1";	/* add eax, 1 writes them all */
		is_near(p, NULL, 4, add, cycles(p, off, 4, add), 0.001);
	}
}

static void test_p6_and_core2_wait_for_a_shift_that_may_leave_the_flags(void **state)
{
	static const char *const preset[] = { "pentium3", "core2" };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const char *p = preset[i], *off = "partial.flags_stall=0", *by_cl = "d3 e0 0f 94 c3", *by_1 = "d1 e0 0f 94 c3";	/* shl eax, ..; sete bl */
		assert_true(cycles(p, NULL, 4, by_cl) > cycles(p, off, 4, by_cl) + 4);
		is_near(p, NULL, 4, by_1, cycles(p, off, 4, by_1), 0.001);
		is_near(p, NULL, 4, "d3 e0 d3 e2", cycles(p, off, 4, "d3 e0 d3 e2"), 0.001);	/* nobody reads them */
	}
}

/* ---- writes past L1D ---- */

static void test_pentium_writes_past_its_cache_what_nobody_reads(void **state)
{
	(void)state;
	is_near("pentium", NULL, 4, "89 06", 8, 0.01);			/* mov [esi], eax: a write of the bus */
	is_near("pentium", "l1d.write_around=20", 4, "89 06", 20, 0.1);
	assert_true(cycles("pentium", "l1d.write_around=0", 4, "89 06") <= 1);
	assert_true(cycles("pentium", NULL, 4, "8b 0e 89 06") <= 1.5);	/* mov ecx, [esi]; mov [esi], eax: the read brought it */
	is_near("pentium", NULL, 4, "50", 8, 0.01);			/* push eax */
	assert_true(cycles("pentium", NULL, 4, "50 59") <= 2);		/* push eax; pop ecx */
	is_near("pentium", NULL, 4, "60", 64, 1);			/* pusha: eight */
	is_near("skylake", NULL, 8, "89 06", 1, 0.01);
}

/* ---- the uop cache ---- */

static void test_window_of_too_many_lines_keeps_its_other_half_out(void **state)
{
	char hex[64 * 3 + 1] = "";
	(void)state;
	for (unsigned i = 0; i < 32; i++)	/* 32 uops: six lines, and a window has three */
		strcat(hex, "90 ");
	for (unsigned i = 0; i < 4; i++)	/* add ax, 0x1234, whose length the decoders are slow to find; a NOP of 4 bytes */
		strcat(hex, "66 05 34 12 0f 1f 40 00 ");
	hex[64 * 3 - 1] = 0;
	double out = cycles("skylake", NULL, 8, hex), in = cycles("skylake", "dsb.halves=0", 8, hex);
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
