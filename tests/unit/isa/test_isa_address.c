/* SPDX-License-Identifier: GPL-2.0-or-later
 * Effective addresses of instructions, from their bytes and the registers before them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "isa/address.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
static const uint64_t gpr[16] = { [RAX] = 0x1000, [RCX] = 0x10, [RDX] = 0xffffffff00000020, [RBX] = 0x3000,
	[RSP] = 0x7fff0000, [RBP] = 0x7fff0100,
	[RSI] = 0x5000, [RDI] = 0x6000, [8] = 0x8000, [15] = 0xf000 };

#define NOWHERE UINT64_MAX
/* Returns the address that the instruction at 0x400000 accesses; NOWHERE: the decoder does not know it. */
static uint64_t where(int word_bytes, const char *bytes, size_t n)
{
	uint64_t at = 0;
	return isa_address(word_bytes, (const uint8_t *)bytes, n, 0x400000, gpr, &at) ? at : NOWHERE;
}
#define WIDE(bytes) where(8, bytes, sizeof bytes - 1)
#define NARROW(bytes) where(4, bytes, sizeof bytes - 1)

static void test_base_index_scale_and_displacement_are_added(void **state)
{
	(void)state;
	assert_int_equal(WIDE("\x48\x8b\x00"), 0x1000);				/* mov rax, [rax] */
	assert_int_equal(WIDE("\x48\x8b\x44\x8b\x08"), 0x3048);			/* mov rax, [rbx + rcx * 4 + 8] */
	assert_int_equal(WIDE("\x4b\x8b\x44\xf8\xf0"), 0x8000 + 8 * 0xf000 - 16); /* mov rax, [r8 + r15 * 8 - 16] */
	assert_int_equal(WIDE("\x48\x01\x47\x10"), 0x6010);			/* add [rdi + 16], rax */
}

static void test_an_address_relative_to_rip_counts_from_the_next_instruction(void **state)
{
	(void)state;
	assert_int_equal(WIDE("\x48\x8b\x05\x10\x00\x00\x00"), 0x400017);
}

static void test_addresses_of_32_bits_wrap(void **state)
{
	(void)state;
	assert_int_equal(WIDE("\x67\x8b\x02"), 0x20);				/* mov eax, [edx] */
	assert_int_equal(NARROW("\x8b\x02"), 0x20);
	assert_int_equal(NARROW("\x8b\x44\x90\xf0"), 0x1000 + 4 * 0x20 - 16);	/* mov eax, [eax + edx * 4 - 16] */
}

static void test_pushes_and_calls_write_below_the_stack_pointer(void **state)
{
	(void)state;
	assert_int_equal(WIDE("\x50"), 0x7ffefff8);				/* push rax */
	assert_int_equal(NARROW("\x50"), 0x7ffefffc);
	assert_int_equal(WIDE("\xe8\x00\x00\x00\x00"), 0x7ffefff8);		/* call */
	assert_int_equal(WIDE("\x58"), 0x7fff0000);				/* pop rax */
	assert_int_equal(WIDE("\xc3"), 0x7fff0000);				/* ret */
}

static void test_string_instructions_access_what_their_registers_say(void **state)
{
	(void)state;
	assert_int_equal(WIDE("\x48\xab"), 0x6000);				/* stosq */
	assert_int_equal(WIDE("\x48\xad"), 0x5000);				/* lodsq */
}

static void test_what_accesses_no_memory_has_no_address(void **state)
{
	(void)state;
	assert_int_equal(WIDE("\x48\x01\xd8"), NOWHERE);			/* add rax, rbx */
	assert_int_equal(WIDE("\x48\x8d\x04\x8b"), NOWHERE);			/* lea */
	assert_int_equal(WIDE("\x0f\x1f\x44\x00\x00"), NOWHERE);		/* nop [rax + rax] */
}

static void test_what_cannot_be_known_has_no_address(void **state)
{
	(void)state;
	assert_int_equal(WIDE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"), NOWHERE);	/* mov rax, fs:[28h] */
	assert_int_equal(WIDE("\xc4\xe2\x75\x90\x04\x10"), NOWHERE);	/* vpgatherdd ymm0, [rax + ymm2], ymm1 */
	assert_int_equal(WIDE("\x48\x8b"), NOWHERE);				/* cut off */
	assert_int_equal(WIDE(""), NOWHERE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base_index_scale_and_displacement_are_added),
		cmocka_unit_test(test_an_address_relative_to_rip_counts_from_the_next_instruction),
		cmocka_unit_test(test_addresses_of_32_bits_wrap),
		cmocka_unit_test(test_pushes_and_calls_write_below_the_stack_pointer),
		cmocka_unit_test(test_string_instructions_access_what_their_registers_say),
		cmocka_unit_test(test_what_accesses_no_memory_has_no_address),
		cmocka_unit_test(test_what_cannot_be_known_has_no_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
