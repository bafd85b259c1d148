/* SPDX-License-Identifier: GPL-2.0-or-later
 * Assembly text, digits and files to code bytes; one block's errors are its own. */
#include "analysis/block/assemble.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST = 16 };
static struct asm_block block[MOST];
static struct err err;

static void assemble(const char *const *text, size_t n, int word_bytes)
{
	struct asm_source source[MOST];
	for (size_t i = 0; i < n; i++)
		source[i] = (struct asm_source){ text[i], strlen(text[i]) };
	asm_release(block, MOST);
	if (asm_blocks(source, n, word_bytes, block, &err))
		fail_msg("%s", err.text);
}
static void is_code(size_t i, const char *code, size_t bytes)
{
	if (block[i].error)
		fail_msg("%s", block[i].error);
	assert_int_equal(block[i].bytes, bytes);
	assert_memory_equal(block[i].code, code, bytes);
}
static void is_error(size_t i, unsigned line, const char *word)
{
	assert_null(block[i].code);
	if (!block[i].error || !strstr(block[i].error, word))
		fail_msg("'%s' has not '%s'", block[i].error ? block[i].error : "", word);
	assert_int_equal(block[i].line, line);
}

static void test_blocks_come_out_in_order(void **state)
{
	(void)state;
	static const char *const text[] = { "add rax, rbx; imul rcx, rax", "", "nop # one; two", "ret // nop\n nop" };
	assemble(text, 4, 8);
	is_code(0, "\x48\x01\xd8\x48\x0f\xaf\xc8", 7);
	is_code(1, "", 0);
	is_code(2, "\x90", 1);
	is_code(3, "\xc3\x90", 2);
}
static void test_an_error_is_its_own_blocks_with_its_line(void **state)
{
	(void)state;
	static const char *const text[] = { "nop", "nop\nnop\nfoo rax", "add al", "call nowhere", "ret",
		"mov rax, [rbx" };
	assemble(text, 6, 8);
	is_code(0, "\x90", 1);
	is_error(1, 3, "no such instruction");
	is_error(2, 1, "number of operands");
	is_error(3, 1, "'call nowhere': undefined symbol 'nowhere'");
	is_code(4, "\xc3", 1);
	is_error(5, 1, "");
}
static void test_a_label_belongs_to_its_block(void **state)
{
	(void)state;
	static const char *const text[] = { "l: dec rcx; jnz l", "l: nop; nop; jmp l", "jmp l", "1: jmp 1b" };
	assemble(text, 4, 8);
	is_code(0, "\x48\xff\xc9\x75\xfb", 5);
	is_code(1, "\x90\x90\xeb\xfc", 4);
	is_error(2, 1, "'jmp l': undefined symbol");
	is_code(3, "\xeb\xfe", 2);
}
static void test_a_block_cannot_reach_into_the_others(void **state)
{
	(void)state;
	static const char *const text[] = { ".rept 4", "nop", "/* open", ".macro m", ".att_syntax; nop", "add rax, rbx",
		".section .data; nop",
		"x: .incbin \"/etc/passwd\"", "nop \\\n nop", ".if 0", "ret" };
	assemble(text, 11, 8);
	is_error(0, 1, "directive .rept");
	is_code(1, "\x90", 1);
	is_error(2, 1, "comment");
	is_error(3, 1, "directive .macro");
	is_code(4, "\x90", 1);
	is_code(5, "\x48\x01\xd8", 3);
	is_error(6, 1, "directive .section");
	is_error(7, 1, "strings");
	is_error(8, 1, "backslashes");
	is_error(9, 1, "directive .if");
	is_code(10, "\xc3", 1);
}
static void test_the_word_size_is_obeyed(void **state)
{
	(void)state;
	static const char *const text[] = { "inc eax", "inc rax" };
	assemble(text, 2, 4);
	is_code(0, "\x40", 1);
	assert_non_null(block[1].error);
}
static void test_nothing_is_left_behind(void **state)
{
	(void)state;
	char dir[] = "/tmp/softpmu-test-XXXXXX";
	static const char *const text[] = { "nop", "foo" };
	assert_non_null(mkdtemp(dir));
	setenv("TMPDIR", dir, 1);
	assemble(text, 2, 8);
	unsetenv("TMPDIR");
	assert_int_equal(rmdir(dir), 0);	/* fails if the directory is not empty */
}
static void test_digits_are_bytes(void **state)
{
	(void)state;
	static const char *const good[] = { "48 01 d8", "4801D8", "\\x48\\x01\\xd8", "0x48,0x01, 0xd8",
		" 48\n01\td8 " }, *const bad[] = { "4", "48 0", "4g", "48-01" };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		uint8_t *code;
		size_t n;
		assert_int_equal(asm_hex(good[i], &code, &n, &err), 0);
		assert_int_equal(n, 3);
		assert_memory_equal(code, "\x48\x01\xd8", 3);
		free(code);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		uint8_t *code;
		size_t n;
		assert_int_equal(asm_hex(bad[i], &code, &n, &err), ERR_INPUT);
	}
}
static void test_a_range_of_this_program_is_its_code(void **state)
{
	(void)state;
	uint8_t *code;
	size_t n;
	int word_bytes;
	assert_int_equal(asm_elf("/proc/self/exe", UINT64_MAX - 16, UINT64_MAX, &code, &n, &word_bytes, &err),
		ERR_INPUT);
	/* position-independent, so address 0 is the ELF header */
	assert_int_equal(asm_elf("/proc/self/exe", 0, 4, &code, &n, &word_bytes, &err), 0);
	assert_memory_equal(code, "\x7f" "ELF", 4);
	assert_int_equal(word_bytes, 8);
	free(code);
	assert_int_equal(asm_elf("/dev/null", 0, 4, &code, &n, &word_bytes, &err), ERR_INPUT);
	assert_int_equal(asm_elf("/nowhere", 0, 4, &code, &n, &word_bytes, &err), ERR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_come_out_in_order),
		cmocka_unit_test(test_an_error_is_its_own_blocks_with_its_line),
		cmocka_unit_test(test_a_label_belongs_to_its_block),
		cmocka_unit_test(test_a_block_cannot_reach_into_the_others),
		cmocka_unit_test(test_the_word_size_is_obeyed),
		cmocka_unit_test(test_nothing_is_left_behind),
		cmocka_unit_test(test_digits_are_bytes),
		cmocka_unit_test(test_a_range_of_this_program_is_its_code),
	};
	if (system("command -v as >/dev/null 2>&1"))
		return 0;	/* without an assembler there is nothing to test */
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	asm_release(block, MOST);
	return failed;
}
