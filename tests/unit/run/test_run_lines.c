/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lists of touched lines as bytes (run/points/lines.h): what comes back, in which order, and that damaged ones end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "run/points/lines.h"
#include "stream/format.h"

enum { LINES = 100000, MOST = 64 };

struct list { uint64_t *line; size_t lines; bool *exact; size_t words; };

static void take(void *context, const uint64_t *record, size_t words)
{
	struct list *l = context;
	assert_in_range(words, 2, MOST);
	assert_int_equal(ST_HEADER_KIND(*record), ST_LINES);
	assert_int_equal(ST_HEADER_LOW(*record), words * 8);
	struct lines_reader r = lines_read(record + 1, words - 1);
	uint64_t line;
	while (lines_next(&r, &line)) {
		assert_true(l->lines < LINES);
		l->exact[l->lines] = r.exact;
		l->line[l->lines++] = line;
	}
	assert_false(r.damaged);
	l->words += words;
}

static uint64_t some(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 33;
}

static struct list pack(uint64_t *line, size_t n)
{
	uint64_t room[MOST];
	struct list l = { calloc(LINES, 8), 0, calloc(LINES, sizeof(bool)), 0 };
	assert_non_null(l.line);
	assert_non_null(l.exact);
	lines_pack(line, n, room, MOST, take, &l);
	return l;
}

static void release(struct list *l)
{
	free(l->line);
	free(l->exact);
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* All lines come back; each is off its place by at most a third of the lines that are more recent, and the recent ones
 * of each kind are in their order. */
static void check_list(size_t n, uint64_t mask)
{
	uint64_t state = n, *line = calloc(n + 1, 8), *given = calloc(n + 1, 8);
	assert_non_null(line);
	assert_non_null(given);
	for (size_t i = 0; i < n; i++)
		given[i] = line[i] = (some(&state) << 20 ^ some(&state) ^ (uint64_t)i << 48) & mask;
	struct list l = pack(line, n);
	assert_int_equal(l.lines, n);
	const size_t recent = n < LINES_EXACT ? n : LINES_EXACT;
	for (unsigned kind = 0; kind < 2; kind++) {
		size_t at = n - recent;
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(l.exact[i], i >= n - recent);
			if (!l.exact[i] || (l.line[i] & ST_TOUCH_CODE) != kind)
				continue;
			while ((given[at] & ST_TOUCH_CODE) != kind)
				at++;
			assert_int_equal(l.line[i], given[at++]);
		}
	}
	/* what is older than the most recent x lines is not among the most recent 2 x / 3 */
	for (size_t x = n / 2; x > 3 * LINES_EXACT; x /= 2) {
		qsort(given, n - x, 8, ascending);
		size_t young = 0;
		for (size_t i = n - x * 2 / 3; i < n; i++)
			young += bsearch(&l.line[i], given, n - x, 8, ascending) != NULL;
		assert_int_equal(young, 0);
	}
	qsort(given, n, 8, ascending);
	qsort(l.line, n, 8, ascending);
	assert_memory_equal(l.line, given, n * 8);
	release(&l);
	free(line);
	free(given);
}

static void test_lists_come_back(void **state)
{
	(void)state;
	check_list(0, ~UINT64_C(0));
	check_list(1, ~UINT64_C(0));
	check_list(LINES_EXACT, ~UINT64_C(0));
	check_list(LINES_EXACT + 1, ~UINT64_C(0));
	check_list(LINES, ~UINT64_C(0));	/* every line is another one: their index is a part of it */
	check_list(5000, UINT64_C(0x3ff));	/* many are there twice */
}

/* Lines in order of age and address take about a byte each; the recent ones, which jump, a few. */
static void test_lists_are_short(void **state)
{
	static uint64_t line[60000];
	(void)state;
	for (size_t i = 0; i < 60000; i++)
		line[i] = (UINT64_C(0x7fff0000) + i * 7919 % 60000) << ST_TOUCH_BITS;
	struct list l = pack(line, 60000);
	assert_int_equal(l.lines, 60000);
	assert_in_range(l.words * 8, 60000, 80000);
	release(&l);
}

static void test_damaged_lists_end(void **state)
{
	uint64_t seed = 7, word[8], line;
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		for (unsigned k = 0; k < 8; k++)
			word[k] = some(&seed) << 33 ^ some(&seed) << 10 ^ some(&seed);
		struct lines_reader r = lines_read(word, 8);
		unsigned lines = 0;
		while (lines_next(&r, &line))
			lines++;
		assert_in_range(lines, 0, 64);
	}
	memset(word, 0xff, sizeof word);	/* a number that does not end */
	struct lines_reader r = lines_read(word, 8);
	assert_false(lines_next(&r, &line));
	assert_true(r.damaged);
	memset(word, 0, sizeof word);
	r = lines_read(word, 8);
	assert_false(lines_next(&r, &line));
	assert_false(r.damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_come_back),
		cmocka_unit_test(test_lists_are_short),
		cmocka_unit_test(test_damaged_lists_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
