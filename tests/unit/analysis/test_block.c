/* SPDX-License-Identifier: GPL-2.0-or-later
 * A block in a steady state: exact cycles, the bottleneck named, the dependency chain, loops, control flow,
 * hostile bytes. */
#include "analysis/block/block.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "data_dir.h"

static struct block_result result;
static struct err err;

static struct block_engine *engine(const char *setting)
{
	struct core_config core;
	struct block_engine *e;
	assert_int_equal(core_config_load(&core, data_dir(), "skylake", &err), 0);
	if (setting)
		assert_int_equal(core_config_set(&core, setting, &err), 0);
	assert_int_equal(block_engine_create(&e, &core, data_dir(), &err), 0);
	return e;
}

/* Runs hexadecimal code; returns 0 or the error's code. */
static int try(const char *setting, const char *hex, bool loop)
{
	uint8_t code[512];
	size_t n = 0;
	for (unsigned v; sscanf(hex, "%2x", &v) == 1; hex += strspn(hex + 2, " ") + 2)
		code[n++] = (uint8_t)v;
	const struct block_spec spec = { .code = code, .bytes = n, .word_bytes = 8, .loop = loop, .detail = true };
	struct block_engine *e = engine(setting);
	block_release(&result);
	int rc = block_run(e, &spec, &result, &err);
	block_engine_destroy(e);
	return rc;
}
static double cycles(const char *setting, const char *hex, bool loop)
{
	int rc = try(setting, hex, loop);
	if (rc)
		fail_msg("%s", err.text);
	assert_true(result.iterations > 0);
	return (double)result.cycles / (double)result.iterations;
}
static const struct block_bound *bound(enum block_limit limit)
{
	for (unsigned i = 0; i < result.bounds; i++)
		if (result.bound[i].limit == limit)
			return &result.bound[i];
	return NULL;
}

/* imul eax, ebx, 7; imul ecx, edx, 7 */
#define TWO_IMULS "6b c3 07 6b ca 07"

static void test_cycles_are_an_exact_fraction(void **state)
{
	(void)state;
	cycles(NULL, "90 90 90", false);	/* three NOPs, four a cycle */
	assert_true(result.periodic);
	assert_int_equal(result.cycles, 3);
	assert_int_equal(result.iterations, 4);
	assert_int_equal(result.insns, 3);
	assert_string_equal(result.bottleneck, "issue");
}
static void test_a_chain_takes_its_latency_and_is_listed(void **state)
{
	(void)state;
	assert_true(cycles(NULL, "48 0f af c8 48 01 c8", false) == 4);	/* imul rcx, rax; add rax, rcx */
	assert_string_equal(result.bottleneck, "dependency");
	assert_int_equal(result.links, 2);
	assert_int_equal(result.chain[0].latency + result.chain[1].latency, 4);
	assert_int_equal(result.chain_iterations, 1);
}
static void test_a_chain_over_two_iterations_is_found(void **state)
{
	(void)state;
	/* lea rax, [rbx+1]; imul rbx, rcx, 7; lea rcx, [rax+1]: rbx feeds rax of the next iteration, 5 cycles later */
	double c = cycles(NULL, "48 8d 43 01 48 6b d9 07 48 8d 48 01", false);
	assert_true(c >= 2.5 && c < 2.6);	/* two of them share port 1 */
	assert_int_equal(result.chain_iterations, 2);
	assert_int_equal(result.links, 3);
	assert_true(bound(LIMIT_CHAIN)->cycles == 2.5);
}
static void test_a_chain_through_memory_is_seen(void **state)
{
	(void)state;
	double c = cycles(NULL, "48 01 07", false);	/* add [rdi], rax */
	assert_true(c >= 5);
	assert_string_equal(result.bottleneck, "dependency");
}
static void test_two_bases_do_not_meet_in_memory(void **state)
{
	(void)state;
	/* mov [rdi], rax; mov rcx, [rsi]: neither forwarded nor aliased */
	assert_true(cycles(NULL, "48 89 07 48 8b 0e", false) == 1);
	assert_string_equal(result.bottleneck, "ports+store");
}
static void test_the_scarce_port_is_named(void **state)
{
	(void)state;
	assert_true(cycles(NULL, TWO_IMULS, false) == 2);
	assert_string_equal(result.bottleneck, "ports");
	assert_non_null(strstr(bound(LIMIT_PORTS)->text, "p1"));
	assert_true(result.insn[0].port[1] == 1 && result.insn[1].port[1] == 1);
}
static void test_the_divider_is_named(void **state)
{
	(void)state;
	cycles(NULL, "c5 f4 5e c2 c5 f4 5e da", false);	/* vdivps ymm0, ymm1, ymm2; vdivps ymm3, ymm1, ymm2 */
	assert_non_null(strstr(result.bottleneck, "divider"));
	assert_true(bound(LIMIT_DIVIDER)->binds);
}
static void test_the_front_end_is_named(void **state)
{
	(void)state;
	/* nopw 0(rax,rax) of nine bytes, out of the decoders: sixteen bytes a cycle */
	double c = cycles("dsb.sets=0", "66 0f 1f 84 00 00 00 00 00 66 0f 1f 84 00 00 00 00 00", false);
	assert_true(c > 1.1 && c < 1.3);
	assert_string_equal(result.bottleneck, "frontend");
	assert_non_null(strstr(bound(LIMIT_FRONT_END)->text, "predecode"));
}
static void test_a_setting_takes_effect(void **state)
{
	(void)state;
	assert_true(cycles("alloc.width=1", "90 90 90", false) == 3);
}
static void test_a_loop_is_closed_by_a_fused_pair(void **state)
{
	(void)state;
	assert_true(cycles(NULL, "4c 01 f8", true) == 1);	/* add rax, r15 */
	assert_int_equal(result.insns, 3);
	assert_int_equal(result.slots, 2);
	assert_true(result.insn[1].appended && result.insn[2].fused);
	assert_int_equal(result.notes, 1);
	assert_non_null(strstr(result.note[0], "dec r14"));	/* the block uses r15 */
}
static void test_without_a_period_no_cycle_at_the_ends_counts(void **state)
{
	(void)state;
	/* vpaddw ymm0, ymm1, [r14]; vpcmpgtd ymm2, ymm3, [r14+64]; vpsubb ymm6, ymm7, [r14+192]; vpcmpgtd ymm2,
	 * ymm3, [r14+64]; xor rax, 44; test rbx, rbx: four loads, two a cycle, while the binding of the other ports
	 * does not become periodic within 64 passes */
	assert_true(cycles(NULL, "c4 c1 75 fd 06 c4 c1 65 66 56 40 c4 c1 45 f8 b6 c0 00 00 00 c4 c1 65 66 56 40 48 83 "
		"f0 2c 48 85 db", true) == 2);
	assert_false(result.periodic);
}
static void test_a_loop_that_closes_itself_is_left_alone(void **state)
{
	(void)state;
	assert_true(cycles(NULL, "48 01 d8 48 ff c9 75 f8", true) == 1);	/* l: add rax, rbx; dec rcx; jnz l */
	assert_int_equal(result.insns, 3);
	assert_int_equal(result.notes, 0);
}
static void test_jumps_and_calls_within_are_followed(void **state)
{
	(void)state;
	/* call f; jmp end; f: nop; ret; end: add rax, rbx */
	cycles(NULL, "e8 02 00 00 00 eb 02 90 c3 48 01 d8", false);
	assert_int_equal(result.insns, 5);
	assert_int_equal(result.insn[1].offset, 7);	/* f */
	assert_int_equal(result.insn[3].offset, 5);	/* returns after the call */
	assert_int_equal(result.insn[4].offset, 9);
}
static void test_what_leaves_the_block_is_refused(void **state)
{
	static const char *const code[] = { "c3", "ff e0", "0f 05", "eb 10", "f3 a4", "e8 00 10 00 00", "eb fe", "cc" };
	(void)state;
	for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
		assert_int_not_equal(try(NULL, code[i], false), 0);
		assert_true(*err.text);
	}
	assert_int_equal(try(NULL, "", false), ERR_INPUT);
	assert_int_equal(try(NULL, "48 01", false), ERR_INPUT);
}
static void test_no_block_depends_on_the_one_before(void **state)
{
	(void)state;
	static const uint8_t one[] = { 0x48, 0x8b, 0x06, 0x48, 0x89, 0x07 }, other[] = { 0x48, 0x03, 0x46, 0x40, 0x48,
		0xf7, 0xf1 };
	const struct block_spec a = { .code = one, .bytes = sizeof one, .word_bytes = 8 }, b = { .code = other,
		.bytes = sizeof other, .word_bytes = 8 };
	struct block_engine *e = engine(NULL);
	struct block_result first, between, again;
	assert_int_equal(block_run(e, &a, &first, &err), 0);
	assert_int_equal(block_run(e, &b, &between, &err), 0);
	assert_int_equal(block_run(e, &a, &again, &err), 0);
	assert_memory_equal(&first, &again, sizeof first);
	block_engine_destroy(e);
}
static void test_the_timeline_holds_each_uop_in_order(void **state)
{
	(void)state;
	cycles(NULL, "48 0f af c8 48 01 07", false);	/* imul rcx, rax; add [rdi], rax */
	assert_true(result.timeline_uops > 20);
	for (unsigned i = 0; i < result.timeline_uops; i++) {
		const struct block_uop *u = &result.uop[i];
		assert_true(u->fetch <= u->alloc && u->alloc <= u->ready && u->ready <= u->dispatch &&
			u->dispatch <= u->complete && u->complete <= u->retire);
		if (i)
			assert_true(u->retire >= u[-1].retire && u->insn + 2 * u->iteration >= u[-1].insn +
				2 * u[-1].iteration);
	}
	char *text = block_timeline(&result, 100);
	assert_non_null(strstr(text, "imul"));
	assert_non_null(strstr(text, "[1,1]"));
	free(text);
}
static void test_any_bytes_are_survived(void **state)
{
	(void)state;
	struct block_engine *e = engine(NULL);
	uint64_t seed = 1;
	unsigned ran = 0;
	for (unsigned i = 0; i < 3000; i++) {
		uint8_t code[24];
		for (unsigned k = 0; k < sizeof code; k++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			code[k] = (uint8_t)(seed >> 56);
		}
		const struct block_spec spec = { .code = code, .bytes = 1 + i % sizeof code, .word_bytes = i & 1 ? 8
			: 4, .loop = i & 2, .copies = 4, .detail = true };
		struct block_result r;
		int rc = block_run(e, &spec, &r, &err);
		ran += !rc;
		if (!rc)
			assert_true(r.iterations > 0 && r.insns > 0);
		block_release(&r);
	}
	assert_true(ran > 100);
	block_engine_destroy(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cycles_are_an_exact_fraction),
		cmocka_unit_test(test_a_chain_takes_its_latency_and_is_listed),
		cmocka_unit_test(test_a_chain_over_two_iterations_is_found),
		cmocka_unit_test(test_a_chain_through_memory_is_seen),
		cmocka_unit_test(test_two_bases_do_not_meet_in_memory),
		cmocka_unit_test(test_the_scarce_port_is_named),
		cmocka_unit_test(test_the_divider_is_named),
		cmocka_unit_test(test_the_front_end_is_named),
		cmocka_unit_test(test_a_setting_takes_effect),
		cmocka_unit_test(test_a_loop_is_closed_by_a_fused_pair),
		cmocka_unit_test(test_without_a_period_no_cycle_at_the_ends_counts),
		cmocka_unit_test(test_a_loop_that_closes_itself_is_left_alone),
		cmocka_unit_test(test_jumps_and_calls_within_are_followed),
		cmocka_unit_test(test_what_leaves_the_block_is_refused),
		cmocka_unit_test(test_no_block_depends_on_the_one_before),
		cmocka_unit_test(test_the_timeline_holds_each_uop_in_order),
		cmocka_unit_test(test_any_bytes_are_survived),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	block_release(&result);
	return failed;
}
