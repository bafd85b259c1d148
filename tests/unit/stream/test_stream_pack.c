/* SPDX-License-Identifier: GPL-2.0-or-later
 * Packing of stream words (stream/trace_pack.h): unpacking gives the same words, the size keeps its bound, and hostile
 * input is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "stream/format.h"
#include "stream/trace_pack.h"

enum { WORDS = 4096 };
static uint64_t words[WORDS], back[WORDS];
static uint8_t packed[TRACE_PACKED_MAX(WORDS)];

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33 ^ *state << 31;
}

/* Packs and unpacks `count` words; returns how many bytes they took. */
static size_t both_ways(struct trace_pack *to, struct trace_pack *from, uint32_t process, size_t count)
{
	size_t bytes = trace_pack(to, process, words, count, packed);
	assert_true(bytes >= count && bytes <= TRACE_PACKED_MAX(count));
	memset(back, 0x55, sizeof back);
	assert_true(trace_unpack(from, process, packed, bytes, back, count));
	assert_memory_equal(words, back, count * sizeof *words);
	return bytes;
}

static void test_words_without_any_order_come_back(void **state)
{
	(void)state;
	struct trace_pack *to = trace_pack_create(), *from = trace_pack_create();
	uint64_t seed = 1;
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < WORDS; i++) {
			words[i] = next(&seed);
			if (!(next(&seed) % 4))		/* looks like a header */
				words[i] = ST_HEADER(ST_BLOCK, words[i] & 0xffff);
			if (!(next(&seed) % 5))
				words[i] = (uint64_t[]){ 0, UINT64_MAX, UINT64_C(1) << 63, 1 }[next(&seed) % 4];
		}
		both_ways(to, from, round % 3, 1 + next(&seed) % WORDS);
	}
	trace_pack_destroy(to);
	trace_pack_destroy(from);
}

/* A loop with a header, a load that walks, a store that stays, and a load eight bytes after a random one. */
static void test_a_loop_takes_little_more_than_its_surprises(void **state)
{
	(void)state;
	struct trace_pack *to = trace_pack_create(), *from = trace_pack_create();
	uint64_t seed = 7, at = 0x10000;
	size_t bytes = 0;
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < WORDS; i += 8, at += 8) {
			uint64_t random = 0x7f0000000000 + next(&seed) % 0x10000;
			const uint64_t block[8] = { ST_HEADER(ST_BLOCK, 5), at, 0x7ffd0010, at + 0x800000,
				ST_HEADER(ST_BLOCK, 6), random, random + 8, 0x7ffd0018 };
			memcpy(words + i, block, sizeof block);
		}
		bytes = both_ways(to, from, 0, WORDS);
	}
	assert_true(bytes <= WORDS + 4 * WORDS / 8);	/* the codes, and up to 3 bytes for each random word */
	trace_pack_destroy(to);
	trace_pack_destroy(from);
}

static void test_processes_do_not_disturb_each_other(void **state)
{
	(void)state;
	struct trace_pack *to = trace_pack_create(), *from = trace_pack_create();
	size_t bytes = 0;
	for (uint64_t round = 0; round < 40; round++) {	/* the same block, elsewhere in memory */
		for (unsigned i = 0; i < 512; i += 2) {
			words[i] = ST_HEADER(ST_BLOCK, 9);
			words[i + 1] = (round & 1 ? 0x1000000 : 0x5000000) + round / 2 * 2048 + 4 * i;
		}
		bytes = both_ways(to, from, round & 1, 512);
	}
	assert_true(bytes <= 512 + 32);
	trace_pack_destroy(to);
	trace_pack_destroy(from);
}

static void test_input_that_does_not_make_the_words_is_refused(void **state)
{
	(void)state;
	static const struct { const char *why; uint8_t in[12]; size_t bytes, words; } bad[] = {
		{ "fewer codes than words", { 0 }, 1, 2 },
		{ "no such code", { 0, 13 }, 2, 2 },
		{ "a literal of no bytes", { 4 }, 1, 1 },
		{ "a literal that is cut off", { 7, 1, 1 }, 3, 1 },
		{ "bytes left over", { 5, 1, 1 }, 3, 1 },
		{ "nothing", { 0 }, 0, 1 },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct trace_pack *p = trace_pack_create();
		if (trace_unpack(p, 0, bad[i].in, bad[i].bytes, back, bad[i].words))
			fail_msg("%s", bad[i].why);
		trace_pack_destroy(p);
	}
	uint64_t seed = 3;
	struct trace_pack *p = trace_pack_create();
	for (unsigned round = 0; round < 2000; round++) {	/* nothing but returns */
		size_t n = next(&seed) % 256;
		for (size_t i = 0; i < n; i++)
			packed[i] = (uint8_t)(next(&seed) % 14);
		trace_unpack(p, (uint32_t)round, packed, n, back, next(&seed) % 200);
	}
	trace_pack_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_without_any_order_come_back),
		cmocka_unit_test(test_a_loop_takes_little_more_than_its_surprises),
		cmocka_unit_test(test_processes_do_not_disturb_each_other),
		cmocka_unit_test(test_input_that_does_not_make_the_words_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
