/* SPDX-License-Identifier: GPL-2.0-or-later
 * Flags from the thunk, against the host's own: each operation is executed here, and its thunk evaluated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "isa/flags.h"

/* Below the red zone. */
#define FLAGS_OF(out, code, ...) \
	do { \
		uint64_t f_; \
		__asm__ volatile(code "\n\tlea -128(%%rsp), %%rsp\n\tpushfq\n\tpop %0\n\tlea 128(%%rsp), %%rsp" \
			: "=&r"(f_), __VA_ARGS__ : "rcx", "cc"); \
		out = f_ & FLAGS_ARITHMETIC; \
	} while (0)

static const uint64_t values[] = { 0, 1, 2, 7, 8, 15, 16, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7fffffff,
	0x80000000, 0xffffffff,
	0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x123456789abcdef0 };
enum { VALUES = sizeof values / sizeof *values };

/* Numbers of the thunk's operations: kind as in 64-bit code, operand size. */
enum { ADD = 1, SUB = 5, ADC = 9, SBB = 13, LOGIC = 17, INC = 21, DEC = 25, SHL = 29, SHR = 33, ROL = 37, ROR = 41,
	UMUL = 45, SMUL = 49 };

static uint64_t thunk(unsigned op, uint64_t dep1, uint64_t dep2, uint64_t ndep)
{
	return isa_flags(8, (const uint64_t[4]){ op, dep1, dep2, ndep });
}

#define BINARY(suffix, type, size, name, number) \
	do { \
		type r = (type)a; \
		FLAGS_OF(want, name suffix " %2, %1", "+r"(r) : "r"((type)b)); \
		assert_int_equal(thunk((number) + (size), a, b, 0), want); \
	} while (0)
#define CARRYING(suffix, type, size, name, number) \
	do { \
		for (unsigned c = 0; c < 2; c++) { \
			type r = (type)a; \
			FLAGS_OF(want, "btl $0, %k3\n\t" name suffix " %2, %1", "+r"(r) : "r"((type)b), "r"(c)); \
			assert_int_equal(thunk((number) + (size), a, b ^ c, c), want); \
		} \
	} while (0)
#define UNARY(suffix, type, size, name, number, expression) \
	do { \
		for (unsigned c = 0; c < 2; c++) { \
			type r = (type)a; \
			FLAGS_OF(want, "btl $0, %k2\n\t" name suffix " %1", "+r"(r) : "r"(c)); \
			assert_int_equal(thunk((number) + (size), (type)(expression), 0, c), want); \
		} \
	} while (0)
#define ALL_SIZES(macro, ...) do { macro("w", uint16_t, 1, __VA_ARGS__); macro("l", uint32_t, 2, __VA_ARGS__); \
	macro("q", uint64_t, 3, __VA_ARGS__); } while (0)

static void test_additions_and_subtractions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < VALUES; i++)
		for (unsigned k = 0; k < VALUES; k++) {
			uint64_t a = values[i], b = values[k], want;
			ALL_SIZES(BINARY, "add", ADD);
			ALL_SIZES(BINARY, "sub", SUB);
			ALL_SIZES(CARRYING, "adc", ADC);
			ALL_SIZES(CARRYING, "sbb", SBB);
		}
}

static void test_increments(void **state)
{
	(void)state;
	for (unsigned i = 0; i < VALUES; i++) {
		uint64_t a = values[i], want;
		ALL_SIZES(UNARY, "inc", INC, a + 1);
		ALL_SIZES(UNARY, "dec", DEC, a - 1);
	}
}

static void test_logic_and_multiplication(void **state)
{
	(void)state;
	const uint64_t no_af = FLAGS_ARITHMETIC & ~(uint64_t)FLAG_AF;	/* undefined */
	for (unsigned i = 0; i < VALUES; i++)
		for (unsigned k = 0; k < VALUES; k++) {
			uint64_t a = values[i], b = values[k], want, r = a;
			FLAGS_OF(want, "andq %2, %1", "+r"(r) : "r"(b));
			assert_int_equal(thunk(LOGIC + 3, a & b, 0, 0) & no_af, want & no_af);
			r = a;
			FLAGS_OF(want, "imulq %2, %1", "+r"(r) : "r"(b));
			assert_int_equal(thunk(SMUL + 3, a, b, 0) & (FLAG_CF | FLAG_OF), want & (FLAG_CF | FLAG_OF));
			uint64_t low = a, high;
			FLAGS_OF(want, "mulq %3", "+a"(low), "=&d"(high) : "r"(b));
			assert_int_equal(thunk(UMUL + 3, a, b, 0) & (FLAG_CF | FLAG_OF), want & (FLAG_CF | FLAG_OF));
		}
}

static void test_shifts_and_rotates(void **state)
{
	(void)state;
	const uint64_t defined = FLAG_CF | FLAG_OF | FLAG_ZF | FLAG_SF | FLAG_PF;
	for (unsigned i = 0; i < VALUES; i++) {
		uint64_t a = values[i], want, r = a;
		FLAGS_OF(want, "shlq $1, %1", "+r"(r) : "r"(a));
		assert_int_equal(thunk(SHL + 3, a << 1, a, 0) & defined, want & defined);
		r = a;
		FLAGS_OF(want, "shrq $1, %1", "+r"(r) : "r"(a));
		assert_int_equal(thunk(SHR + 3, a >> 1, a, 0) & defined, want & defined);
		r = a;
		FLAGS_OF(want, "xorl %%ecx, %%ecx\n\trolq $1, %1", "+r"(r) : "r"(a));
		assert_int_equal(thunk(ROL + 3, r, 0, FLAG_ZF | FLAG_PF) & defined, (want & (FLAG_CF | FLAG_OF)) |
			FLAG_ZF | FLAG_PF);
		r = a;
		FLAGS_OF(want, "xorl %%ecx, %%ecx\n\trorq $1, %1", "+r"(r) : "r"(a));
		assert_int_equal(thunk(ROR + 3, r, 0, FLAG_SF) & defined, (want & (FLAG_CF | FLAG_OF)) | FLAG_SF);
	}
}

static void test_other_numbers_in_32_bit_code(void **state)
{
	(void)state;
	assert_int_equal(isa_flags(4, (const uint64_t[4]){ 6, 5, 5, 0 }), FLAG_ZF | FLAG_PF);		/* SUBL */
	/* ADDL */
	assert_int_equal(isa_flags(4, (const uint64_t[4]){ 3, 0xffffffff, 1, 0 }), FLAG_CF | FLAG_ZF | FLAG_PF |
		FLAG_AF);
	assert_int_equal(isa_flags(4, (const uint64_t[4]){ 0, FLAG_OF | 2, 0, 0 }), FLAG_OF);
	assert_int_equal(isa_flags(4, (const uint64_t[4]){ 40, 1, 1, 1 }), 0);
	assert_int_equal(isa_flags(8, (const uint64_t[4]){ 65, 1, 1, 1 }), 0);
	assert_int_equal(isa_flags(8, (const uint64_t[4]){ ~UINT64_C(0), 1, 1, 1 }), 0);
}

static void test_bit_manipulation(void **state)
{
	(void)state;
	assert_int_equal(thunk(56, 0, 0, 0), FLAG_ZF | FLAG_PF);		/* BLSI64 of 0 */
	assert_int_equal(thunk(56, 4, 12, 0), FLAG_CF);
	assert_int_equal(thunk(60, 8, 12, 0), 0);			/* BLSR64 */
	assert_int_equal(thunk(60, 0, 0, 0), FLAG_CF | FLAG_ZF | FLAG_PF);
	assert_int_equal(thunk(62, ~UINT64_C(0), 0 ^ 1, FLAG_CF | FLAG_ZF), FLAG_CF | FLAG_ZF);	/* ADCX64: -1 + 0 + 1 */
	assert_int_equal(thunk(64, 1, 1 ^ 0, FLAG_CF), FLAG_CF);		/* ADOX64: no overflow, CF as it was */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_additions_and_subtractions), cmocka_unit_test(test_increments),
			cmocka_unit_test(test_logic_and_multiplication),
		cmocka_unit_test(test_shifts_and_rotates), cmocka_unit_test(test_other_numbers_in_32_bit_code),
		cmocka_unit_test(test_bit_manipulation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
