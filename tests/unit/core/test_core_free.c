/* SPDX-License-Identifier: GPL-2.0-or-later
 * Operations that take as long as simpler ones (fields free.* of a core's file): blocks in a steady state, exact cycles
 * an iteration without and with the field.  Other fields leave them as they are.
 */
#include "block_fixture.h"

static void test_divides_take_as_long_as_multiplications(void **state)
{
	(void)state;
	block_check("golden-cove", "f2 0f 5e c1", 14, "free.divide=1", 4);	/* divsd xmm0, xmm1 */
	/* div rcx: two uops beside the divider's, and the remainder is later */
	block_check("golden-cove", "48 f7 f1", 18, "free.divide=1", 7);
	block_near("golden-cove", "free.latency=1", 8, "f2 0f 5e c1", 14, 0);
}

static void test_computations_take_one_cycle(void **state)
{
	(void)state;
	block_check("golden-cove", "48 0f af db", 3, "free.latency=1", 1);	/* imul rbx, rbx */
	block_near("golden-cove", "free.divide=1", 8, "48 0f af db", 3, 0);
}

static void test_computations_go_to_every_port(void **state)
{
	(void)state;
	/* imul rcx, rbx, 5; and rdx, rsi, rdi: one port of five */
	block_check("golden-cove", "48 6b cb 05 48 6b d3 05 48 6b f3 05 48 6b fb 05", 4, "free.ports=1", 4 / 5.);
}

static void test_locked_operation_is_like_one_without_lock(void **state)
{
	(void)state;
	block_near("golden-cove", NULL, 8, "48 01 1e", 7, 0);			/* add [rsi], rbx */
	block_check("golden-cove", "f0 48 01 1e", 17, "free.lock=1", 7);	/* lock add [rsi], rbx */
}

static void test_fences_wait_for_nothing(void **state)
{
	(void)state;
	block_check("golden-cove", "0f ae f0", 41, "free.serialize=1", 1);	/* mfence */
}

static void test_loads_get_what_could_not_be_forwarded(void **state)
{
	(void)state;
	/* mov [rsi], eax; mov [rsi+4], edx; mov rbx, [rsi] */
	block_check("golden-cove", "89 06 89 56 04 48 8b 1e", 18, "free.forward=1", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_divides_take_as_long_as_multiplications),
		cmocka_unit_test(test_computations_take_one_cycle),
		cmocka_unit_test(test_computations_go_to_every_port),
		cmocka_unit_test(test_locked_operation_is_like_one_without_lock),
		cmocka_unit_test(test_fences_wait_for_nothing),
		cmocka_unit_test(test_loads_get_what_could_not_be_forwarded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
