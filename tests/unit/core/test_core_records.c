/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a load's record says of the stores and loads around it: which of them held it up, and how. */
#include "core_fixture.h"

static struct code k;
#define HELD (SPMU_DID(WAIT_STORE_ADDR) | SPMU_DID(WAIT_STORE_DATA) | SPMU_DID(FORWARDED) | \
	SPMU_DID(FORWARD_BLOCKED) | \
	SPMU_DID(FORWARD_UNALIGNED) | \
              SPMU_DID(ALIAS_4K) | SPMU_DID(BANK_CONFLICT))

/* Runs a store whose address and data come at once or 30 cycles late, then a load. Returns the `did` bits that say
 * what held the load. */
static uint64_t load_behind(const char *settings, bool late_addr, bool late_data, uint64_t store, unsigned store_size,
	uint64_t load, unsigned load_size)
{
	struct bench b;
	fixture_start(&b, &k, settings);
	code_op(&k, 1, 30, REG_GPR, 0);
	code_store(&k, late_data ? REG_GPR : 0, late_addr ? REG_GPR : 0, store_size);
	code_load(&k, REG_GPR + 1, 0, load_size);
	bench_run(&b, &k, (const uint64_t[]){ store, load }, 0x2000);
	core_flush(b.c, true);
	uint64_t did = out.uop[3].did & HELD;
	bench_end(&b);
	return did;
}

static void test_load_that_waits_for_store_addresses_says_so(void **state)
{
	(void)state;
	const char *unproven = "disambiguation.initial=0";
	assert_int_equal(load_behind(unproven, true, false, 0x8000, 8, 0x9100, 8), SPMU_DID(WAIT_STORE_ADDR));
	assert_int_equal(load_behind(unproven, false, false, 0x8000, 8, 0x9100, 8), 0);
	assert_int_equal(load_behind("disambiguation.initial=15", true, false, 0x8000, 8, 0x9100, 8), 0); /* passes */
}

static void test_cores_without_prediction_never_pass_an_unknown_address(void **state)
{
	(void)state;
	struct bench b;
	fixture_start(&b, &k, "disambiguation.limit=255 disambiguation.initial=0");
	code_op(&k, 1, 30, REG_GPR, REG_GPR);
	code_store(&k, 0, REG_GPR, 8);
	code_load(&k, REG_GPR + 1, 0, 8);
	for (unsigned i = 0; i < 300; i++)	/* more often than the counter can count */
		bench_run(&b, &k, (const uint64_t[]){ 0x8000, 0x9100 }, 0x1000);
	core_flush(b.c, true);
	assert_int_equal(out_count_did(SPMU_DID(WAIT_STORE_ADDR)), 300);
	bench_end(&b);
}

static void test_forwarded_load_that_waits_for_the_data_says_so(void **state)
{
	(void)state;
	assert_int_equal(load_behind(NULL, false, true, 0x8000, 8, 0x8000, 8),
		SPMU_DID(FORWARDED) | SPMU_DID(WAIT_STORE_DATA));
	struct bench b;
	fixture_start(&b, &k, NULL);		/* the data are ready long before the load */
	code_store(&k, 0, 0, 8);
	code_op(&k, 1, 8, REG_GPR, 0);
	code_load(&k, REG_GPR + 1, REG_GPR, 8);
	bench_run(&b, &k, (const uint64_t[]){ 0x8000, 0x8000 }, 0x2000);
	core_flush(b.c, true);
	assert_int_equal(out.uop[3].did & (SPMU_DID(FORWARDED) | SPMU_DID(FORWARD_BLOCKED) |
		SPMU_DID(WAIT_STORE_DATA)) & ~SPMU_DID(FORWARDED), 0);
	bench_end(&b);
}

static void test_blocked_load_says_whether_the_low_bits_differ(void **state)
{
	(void)state;
	assert_int_equal(load_behind(NULL, false, false, 0x8000, 4, 0x8000, 8), SPMU_DID(FORWARD_BLOCKED));
	assert_int_equal(load_behind(NULL, false, false, 0x8004, 4, 0x8000, 8), SPMU_DID(FORWARD_BLOCKED) |
		SPMU_DID(FORWARD_UNALIGNED));
	assert_int_equal(load_behind(NULL, false, false, 0x8010, 16, 0x8000, 32), SPMU_DID(FORWARD_BLOCKED));
}

static void test_older_cores_forward_to_loads_of_the_same_start_only(void **state)
{
	(void)state;
	const uint64_t forwarded = SPMU_DID(FORWARDED), blocked = SPMU_DID(FORWARD_BLOCKED);
	assert_true(load_behind("forward.same_start=1", false, false, 0x8000, 8, 0x8000, 4) & forwarded);
	assert_true(load_behind("forward.same_start=1", false, false, 0x8000, 8, 0x8004, 4) & blocked);
	assert_true(load_behind("forward.same_start=0", false, false, 0x8000, 8, 0x8004, 4) & forwarded);
}

static void test_alias_bits_decide_what_is_an_alias(void **state)
{
	(void)state;
	const uint64_t alias = SPMU_DID(ALIAS_4K);
	assert_int_equal(load_behind("alias.bits=12", false, false, 0x18000, 8, 0x9000, 8), alias);
	assert_int_equal(load_behind("alias.bits=16", false, false, 0x18000, 8, 0x9000, 8), 0);
	assert_int_equal(load_behind("alias.bits=16", false, false, 0x18000, 8, 0x8000, 8), alias);
	assert_int_equal(load_behind("alias.bits=22", false, false, 0x18000, 8, 0x8000, 8), 0);
	assert_int_equal(load_behind("alias.bits=22", false, false, 0x418000, 8, 0x18000, 8), alias);
}

static void test_load_that_meets_another_in_a_bank_says_so(void **state)
{
	(void)state;
	for (unsigned same = 0; same < 2; same++) {
		struct bench b;
		fixture_start(&b, &k, "l1d.banks=1");
		for (unsigned i = 0; i < 2; i++)
			code_load(&k, REG_GPR + i, 0, 4)->load = LOAD_BANKS;
		bench_run(&b, &k, (const uint64_t[]){ 0x8000, same ? 0x8040 : 0x8044 }, 0x1008);
		core_flush(b.c, true);
		assert_false(out.uop[0].did & SPMU_DID(BANK_CONFLICT));
		assert_int_equal(!!(out.uop[1].did & SPMU_DID(BANK_CONFLICT)), same);
		assert_int_equal(out.uop[1].dispatch - out.uop[0].dispatch, same);
		bench_end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_that_waits_for_store_addresses_says_so),
		cmocka_unit_test(test_cores_without_prediction_never_pass_an_unknown_address),
		cmocka_unit_test(test_forwarded_load_that_waits_for_the_data_says_so),
		cmocka_unit_test(test_blocked_load_says_whether_the_low_bits_differ),
		cmocka_unit_test(test_older_cores_forward_to_loads_of_the_same_start_only),
		cmocka_unit_test(test_alias_bits_decide_what_is_an_alias),
		cmocka_unit_test(test_load_that_meets_another_in_a_bank_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
