/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocator calls in executed blocks: where they begin and end, what they give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "run/watch/malloc_calls.h"
#include <string.h>

#define MALLOC UINT64_C(0x5000)
#define SITE UINT64_C(0x1005)
enum { RAX = 0, RSP = 4, RDI = 7 };

static uint32_t number_of(const char *name)
{
	uint32_t i = 0;
	while (strcmp(run_heap_function(i), name))
		i++;
	return i;
}

/* A block of one instruction that writes some registers, or loads first. */
struct small { struct insn insn; struct st_slot slot[3]; uint8_t code[1][15]; struct iblock block; uint64_t value[3]; };
static void make(struct small *s, uint64_t addr, unsigned slots)
{
	s->insn = (struct insn){ .addr = addr, .len = 1 };
	s->block = (struct iblock){ .addr = addr, .insns = 1, .slots = (uint16_t)slots, .insn = &s->insn,
		.slot = s->slot, .code = (const uint8_t (*)[15])s->code };
}
static void reg(struct small *s, unsigned i, unsigned number, uint64_t value, unsigned size)
{
	s->slot[i] = (struct st_slot){ .kind = ST_SLOT_REG, .reg = (uint8_t)number, .size = (uint16_t)size };
	s->value[i] = value;
}

static struct heap_watch watch;
static struct heap_thread thread;
static struct run_heap call;
static void begin(const char *function, int word_bytes, uint64_t argument)
{
	static __typeof__(*watch.entry) entry;
	uint64_t gpr[16] = { [RSP] = 0x8000, [RDI] = argument };
	entry.function = number_of(function);
	entry.addr = MALLOC;
	watch = (struct heap_watch){ .entry = &entry, .entries = 1, .room = 1 };
	memset(&thread, 0, sizeof thread);
	heap_file(&thread, gpr, word_bytes);
}
static bool run(struct small *s, uint64_t next, int word_bytes)
{
	return heap_block(&watch, &thread, 0, word_bytes, &s->block, heap_enters(&watch, 0, &s->block), s->value,
		s->block.slots, next, &call);
}

static void test_a_call_tells_its_block_and_its_site(void **state)
{
	(void)state;
	struct small s = { 0 };
	begin("malloc", 8, 100);
	make(&s, MALLOC, 1);
	reg(&s, 0, RDI, 7, 8);			/* the argument's register is used for something else */
	assert_false(run(&s, 0x5001, 8));
	make(&s, 0x5001, 2);
	reg(&s, 0, RAX, 0x9000, 8);
	reg(&s, 1, RSP, 0x8008, 8);
	assert_true(run(&s, SITE, 8));
	assert_int_equal(call.addr, 0x9000);
	assert_int_equal(call.bytes, 100);
	assert_int_equal(call.site, SITE);
	assert_string_equal(run_heap_function(call.function), "malloc");
}

static void test_what_failed_or_was_jumped_out_of_is_none(void **state)
{
	(void)state;
	struct small s = { 0 };
	for (unsigned way = 0; way < 2; way++) {
		begin("malloc", 8, 100);
		make(&s, MALLOC, 0);
		assert_false(run(&s, 0x5001, 8));
		make(&s, 0x5001, 2);
		reg(&s, 0, RAX, way ? 0x9000 : 0, 8);
		reg(&s, 1, RSP, way ? 0x8100 : 0x8008, 8);
		assert_false(run(&s, SITE, 8));
		assert_false(thread.inside);
	}
}

static void test_the_outermost_of_nested_calls_counts(void **state)
{
	(void)state;
	struct small s = { 0 };
	begin("malloc", 8, 100);
	make(&s, MALLOC, 2);
	reg(&s, 0, RSP, 0x7f00, 8);
	reg(&s, 1, RDI, 50, 8);
	assert_false(run(&s, MALLOC, 8));
	assert_false(run(&s, MALLOC, 8));	/* calls itself */
	make(&s, 0x5001, 2);
	reg(&s, 0, RAX, 0x9000, 8);
	reg(&s, 1, RSP, 0x8008, 8);
	assert_true(run(&s, SITE, 8));
	assert_int_equal(call.bytes, 100);
}

static void test_arguments_of_32_bit_code_come_by_its_loads(void **state)
{
	(void)state;
	for (unsigned mov = 0; mov < 2; mov++) {
		struct small s = { 0 };
		begin("malloc", 4, 0);
		make(&s, MALLOC, 2);
		s.code[0][0] = mov ? 0x8b : 0xf7;	/* MUL's product is not the argument */
		s.slot[0] = (struct st_slot){ .kind = ST_SLOT_LOAD, .size = 4 };
		s.value[0] = 0x8004;
		reg(&s, 1, RAX, 60, 4);
		assert_false(run(&s, 0x5001, 4));
		make(&s, 0x5001, 2);
		reg(&s, 0, RAX, 0x9000, 4);
		reg(&s, 1, RSP, 0x8004, 4);
		assert_int_equal(run(&s, SITE, 4), mov);
		if (mov)
			assert_int_equal(call.bytes, 60);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_call_tells_its_block_and_its_site),
			cmocka_unit_test(test_what_failed_or_was_jumped_out_of_is_none),
		cmocka_unit_test(test_the_outermost_of_nested_calls_counts),
		cmocka_unit_test(test_arguments_of_32_bit_code_come_by_its_loads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
