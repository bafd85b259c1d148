/* SPDX-License-Identifier: GPL-2.0-or-later
 * A map of frames that follows another one: it gives the same frames, whatever either has given in between.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include "core/memory/tlb.h"

enum { ROUNDS = 60, PAGES = 1 << 16 };

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

static void touch(struct frames *f, uint64_t *s, unsigned pages)
{
	for (unsigned i = 0; i < pages; i++) {
		const uint64_t r = next_random(s);
		if (frames_huge(f, (r % PAGES) << 12) == NO_FRAME)
			frames_get(f, r >> 20 & 7 ? 0 : 1 + (r >> 24 & 3), r % PAGES);
	}
}

static void follows(uint32_t scattered, bool lost)
{
	struct frames a, b;
	uint64_t s = 88172645463325252 + scattered;
	assert_int_equal(frames_init(&a, 1 << 24, 1 << 25, scattered, NULL), 0);
	assert_int_equal(frames_init(&b, 1 << 24, 1 << 25, scattered, NULL), 0);
	frames_keep_notes(&a);
	frames_keep_notes(&b);
	for (unsigned n = 0; n < ROUNDS; n++) {
		touch(&a, &s, 500);
		if (n % 3 == 0)
			frames_mark(&a, next_random(&s) % PAGES << 12, 16 << 20, n % 2);
		if (n % 3 == 1)
			frames_mark(&b, next_random(&s) % PAGES << 12, 16 << 20, n % 2);
		touch(&b, &s, n % 7 * 100);	/* pages that the leader has, and others */
		a.notes_lost = lost;
		assert_int_equal(frames_follow(&b, &a, NULL), 0);
		assert_int_equal(b.huges, a.huges);
		for (uint64_t page = 0; page < PAGES; page++) {
			const bool has = frames_has(&a, page);
			assert_int_equal(frames_has(&b, page), has);
			if (has)
				assert_int_equal(frames_get(&b, 0, page), frames_get(&a, 0, page));
		}
		/* what neither has yet is given in the same order */
		struct frames *const both[] = { &a, &b };
		const uint64_t seed = s;
		uint32_t given[2] = { 0 };
		for (unsigned k = 0; k < 2; k++) {
			s = seed;
			for (unsigned i = 0; i < 50; i++) {
				const uint64_t page = next_random(&s) % PAGES, huge = frames_huge(both[k], page << 12);
				given[k] = given[k] * 31 + (huge == NO_FRAME ? frames_get(both[k], 0, page)
									      : (uint32_t)huge);
			}
		}
		assert_int_equal(given[0], given[1]);
	}
	frames_release(&a);
	frames_release(&b);
}

static void test_a_follower_has_the_leaders_frames(void **state)
{
	(void)state;
	follows(0, false);
	follows(30, false);
	follows(100, false);
}

static void test_without_notes_the_map_is_copied(void **state)
{
	(void)state;
	follows(30, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_follower_has_the_leaders_frames),
		cmocka_unit_test(test_without_notes_the_map_is_copied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
