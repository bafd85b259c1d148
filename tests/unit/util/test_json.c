/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strings in JSON: characters are escaped where needed, invalid UTF-8 is replaced, nothing is read past the end. */
#include "util/json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void says(const char *text, size_t n, const char *json)
{
	/* of exact size, so that a sanitizer detects a read past its end */
	char *exact = malloc(n + !n), *out = NULL;
	size_t size = 0;
	memcpy(exact, text, n);
	FILE *f = open_memstream(&out, &size);
	json_bytes(f, exact, n);
	fclose(f);
	assert_string_equal(out, json);
	free(out);
	free(exact);
}

static void test_text_stays(void **state)
{
	(void)state;
	says("", 0, "\"\"");
	says("a b/c", 5, "\"a b/c\"");
	says("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void test_quotes_backslashes_and_controls_are_escaped(void **state)
{
	(void)state;
	says("\"\\\n\x01", 4, "\"\\\"\\\\\\u000a\\u0001\"");
}

static void test_what_is_no_utf8_is_replaced(void **state)
{
	(void)state;
	says("a\xff" "b", 3, "\"a\xef\xbf\xbd" "b\"");
	says("\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");		/* overlong */
	says("\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");	/* a surrogate */
	says("\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");		/* cut off */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_stays),
		cmocka_unit_test(test_quotes_backslashes_and_controls_are_escaped),
		cmocka_unit_test(test_what_is_no_utf8_is_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
