/* SPDX-License-Identifier: GPL-2.0-or-later
 * The disassembler's text is objdump's, in the forms that real binaries rarely or never hold, and it takes any bytes.
 * (tests/system/record/annotate-objdump.sh compares whole binaries.)  Expected texts are what GNU objdump 2.40 prints.
 */
#include "isa/isa.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expected { int word_bytes; const char *code, *att, *intel; };

static unsigned text_of(int word_bytes, const char *hex, bool intel, bool (*symbol)(void *, uint64_t, char *, size_t),
	char *text, size_t room)
{
	struct isa_style style = { .intel = intel, .symbol = symbol };
	uint8_t code[15];
	size_t n = 0;
	for (char *end; *hex && n < sizeof code; hex = end)
		code[n++] = (uint8_t)strtoul(hex, &end, 16);
	return isa_text(code, n, 0x1000, word_bytes, &style, text, room);
}

static void check(const struct expected *e, size_t n)
{
	char text[128];
	for (size_t i = 0; i < n; i++) {
		unsigned bytes = (unsigned)(strlen(e[i].code) + 1) / 3;
		assert_int_equal(text_of(e[i].word_bytes, e[i].code, false, NULL, text, sizeof text), bytes);
		assert_string_equal(text, e[i].att);
		assert_int_equal(text_of(e[i].word_bytes, e[i].code, true, NULL, text, sizeof text), bytes);
		assert_string_equal(text, e[i].intel);
	}
}
#define CHECK(table) check(table, sizeof table / sizeof *table)

static void test_prefixes_without_a_use_stand_before_the_name(void **state)
{
	(void)state;
	static const struct expected e[] = {
		{ 8, "66 66 2e 0f 1f 84 00 00 00 00 00", "data16 cs nopw 0x0(%rax,%rax,1)",
		"data16 cs nop WORD PTR [rax+rax*1+0x0]" },
		{ 4, "66 2e 0f 1f 84 00 00 00 00 00", "nopw   %cs:0x0(%eax,%eax,1)",
		"nop    WORD PTR cs:[eax+eax*1+0x0]" },
		{ 8, "66 66 48 e8 00 00 00 00", "data16 data16 rex.W call 1008", "data16 data16 rex.W call 1008" },
		{ 8, "f3 c3", "repz ret", "repz ret" },
		{ 8, "f2 e9 00 00 00 00", "bnd jmp 1006", "bnd jmp 1006" },
		{ 8, "3e ff e0", "notrack jmp *%rax", "notrack jmp rax" },
		{ 8, "66 90", "xchg   %ax,%ax", "xchg   ax,ax" },
		{ 8, "40 53", "rex push %rbx", "rex push rbx" },
		{ 8, "48 ff 25 00 10 00 00", "rex.W jmp *0x1000(%rip)        # 2007",
		"rex.W jmp QWORD PTR [rip+0x1000]        # 2007" },
		{ 8, "2e 74 00", "je,pn  1003", "cs je  1003" },
		{ 8, "f0 90", "lock nop", "lock nop" },
	};
	CHECK(e);
}

static void test_strings_ports_and_x87_have_objdumps_operands(void **state)
{
	(void)state;
	static const struct expected e[] = {
		{ 8, "f3 48 ab", "rep stos %rax,%es:(%rdi)", "rep stos QWORD PTR es:[rdi],rax" },
		{ 8, "f3 a4", "rep movsb %ds:(%rsi),%es:(%rdi)", "rep movs BYTE PTR es:[rdi],BYTE PTR ds:[rsi]" },
		{ 8, "f3 a6", "repz cmpsb %es:(%rdi),%ds:(%rsi)", "repz cmps BYTE PTR ds:[rsi],BYTE PTR es:[rdi]" },
		{ 8, "f2 ae", "repnz scas %es:(%rdi),%al", "repnz scas al,BYTE PTR es:[rdi]" },
		{ 8, "ac", "lods   %ds:(%rsi),%al", "lods   al,BYTE PTR ds:[rsi]" },
		{ 8, "6c", "insb   (%dx),%es:(%rdi)", "ins    BYTE PTR es:[rdi],dx" },
		{ 8, "6f", "outsl  %ds:(%rsi),(%dx)", "outs   dx,DWORD PTR ds:[rsi]" },
		{ 8, "ec", "in     (%dx),%al", "in     al,dx" },
		{ 8, "d7", "xlat   %ds:(%rbx)", "xlat   BYTE PTR ds:[rbx]" },
		{ 8, "db 2c 24", "fldt   (%rsp)", "fld    TBYTE PTR [rsp]" },
		{ 8, "df 6c 24 08", "fildll 0x8(%rsp)", "fild   QWORD PTR [rsp+0x8]" },
		{ 8, "de e9", "fsubrp %st,%st(1)", "fsubp  st(1),st" },
		{ 8, "dd e9", "fucomp %st(1)", "fucomp st(1)" },
		{ 8, "d9 c0", "fld    %st(0)", "fld    st(0)" },
		{ 8, "9b d9 7c 24 02", "fstcw  0x2(%rsp)", "fstcw  WORD PTR [rsp+0x2]" },
	};
	CHECK(e);
}

static void test_addresses_without_base_and_with_a_null_index(void **state)
{
	(void)state;
	static const struct expected e[] = {
		{ 4, "8d b4 26 00 00 00 00", "lea    0x0(%esi,%eiz,1),%esi", "lea    esi,[esi+eiz*1+0x0]" },
		{ 8, "64 48 8b 04 25 28 00 00 00", "mov    %fs:0x28,%rax", "mov    rax,QWORD PTR fs:0x28" },
		{ 8, "8b 04 25 00 40 40 00", "mov    0x404000,%eax", "mov    eax,DWORD PTR ds:0x404000" },
		{ 8, "48 a1 08 07 06 05 04 03 02 01", "movabs 0x102030405060708,%rax",
		"movabs rax,ds:0x102030405060708" },
		{ 8, "8b 04 c5 00 00 00 00", "mov    0x0(,%rax,8),%eax", "mov    eax,DWORD PTR [rax*8+0x0]" },
		/* REX.B does not turn it into a base register. */
		{ 8, "41 8b 04 c5 10 00 00 00", "mov    0x10(,%rax,8),%eax", "mov    eax,DWORD PTR [rax*8+0x10]" },
		{ 8, "48 8d 05 f9 ff ff ff", "lea    -0x7(%rip),%rax        # 1000",
		"lea    rax,[rip+0xfffffffffffffff9]        # 1000" },
	};
	CHECK(e);
}

static void test_vector_forms_have_suffixes_predicates_and_masks(void **state)
{
	(void)state;
	static const struct expected e[] = {
		{ 8, "f3 48 0f 2a 00", "cvtsi2ssq (%rax),%xmm0", "cvtsi2ss xmm0,QWORD PTR [rax]" },
		{ 8, "0f c2 c1 01", "cmpltps %xmm1,%xmm0", "cmpltps xmm0,xmm1" },
		{ 8, "c5 f8 c2 c1 11", "vcmplt_oqps %xmm1,%xmm0,%xmm0", "vcmplt_oqps xmm0,xmm0,xmm1" },
		{ 8, "66 0f 38 14 c1", "blendvps %xmm0,%xmm1,%xmm0", "blendvps xmm0,xmm1,xmm0" },
		{ 8, "66 0f 3a 44 c1 11", "pclmulhqhqdq %xmm1,%xmm0", "pclmulhqhqdq xmm0,xmm1" },
		{ 8, "62 f1 7c 58 58 40 01", "vaddps 0x4(%rax){1to16},%zmm0,%zmm0",
		"vaddps zmm0,zmm0,DWORD BCST [rax+0x4]" },
		{ 8, "62 b3 6d 22 3f c9 00", "vpcmpeqb %ymm17,%ymm18,%k1{%k2}", "vpcmpeqb k1{k2},ymm18,ymm17" },
		{ 8, "62 f1 fd 18 58 c1", "vaddpd {rn-sae},%zmm1,%zmm0,%zmm0", "vaddpd zmm0,zmm0,zmm1{rn-sae}" },
	};
	CHECK(e);
}

static bool name_of(void *ctx, uint64_t addr, char *name, size_t bytes)
{
	(void)ctx;
	snprintf(name, bytes, "place+0x%llx", (unsigned long long)addr - 0x800);
	return addr >= 0x800;
}

static void test_the_caller_names_addresses(void **state)
{
	(void)state;
	char text[128];
	text_of(8, "eb 0e", false, name_of, text, sizeof text);
	assert_string_equal(text, "jmp    1010 <place+0x810>");
	text_of(8, "8b 05 00 01 00 00", true, name_of, text, sizeof text);
	assert_string_equal(text, "mov    eax,DWORD PTR [rip+0x100]        # 1106 <place+0x906>");
	text_of(8, "e8 00 f0 ff ff", false, name_of, text, sizeof text);	/* no name: the number alone */
	assert_string_equal(text, "call   5");
}

static void test_bad_and_cut_off_code_has_a_length_and_a_text(void **state)
{
	(void)state;
	char text[64];
	assert_int_equal(text_of(8, "06", false, NULL, text, sizeof text), 1);
	assert_string_equal(text, "(bad)");
	assert_int_equal(text_of(8, "44 06 90", false, NULL, text, sizeof text), 2);
	assert_string_equal(text, "rex.R (bad)");
	assert_int_equal(text_of(8, "48 8b", false, NULL, text, sizeof text), 2);
	assert_string_equal(text, "rex.W (bad)");
	assert_int_equal(text_of(8, "48 66 90", false, NULL, text, sizeof text), 1);	/* REX must be the last */
	assert_string_equal(text, "rex.W");
	assert_int_equal(text_of(8, "", false, NULL, text, sizeof text), 0);
}

/* For any bytes and any room, the length is within the bytes and the text is terminated. */
static void test_arbitrary_bytes_make_progress(void **state)
{
	(void)state;
	uint64_t seed = 88172645463325252ull;
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t code[15];
		char text[96];
		for (unsigned k = 0; k < sizeof code; k++) {
			seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
			code[k] = (uint8_t)(seed >> 20);
		}
		struct isa_style style = { .intel = i & 1 };
		size_t bytes = 1 + i % sizeof code, room = 1 + i % sizeof text;
		memset(text, 'x', sizeof text);
		unsigned n = isa_text(code, bytes, seed, i & 2 ? 8 : 4, &style, text, room);
		assert_true(n >= 1 && n <= bytes);
		assert_non_null(memchr(text, '\0', room));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes_without_a_use_stand_before_the_name),
		cmocka_unit_test(test_strings_ports_and_x87_have_objdumps_operands),
		cmocka_unit_test(test_addresses_without_base_and_with_a_null_index),
		cmocka_unit_test(test_vector_forms_have_suffixes_predicates_and_masks),
		cmocka_unit_test(test_the_caller_names_addresses),
		cmocka_unit_test(test_bad_and_cut_off_code_has_a_length_and_a_text),
		cmocka_unit_test(test_arbitrary_bytes_make_progress),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
