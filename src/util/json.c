/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strings in JSON (RFC 8259, section 7).  Written by hand: a few escapes do not justify a library. */
#include "util/json.h"
#include <string.h>

/* Source: RFC 3629, section 4. */
size_t json_utf8(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	if (n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void json_bytes(FILE *to, const char *text, size_t n)
{
	fputc('"', to);
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)text[i];
		size_t length = json_utf8(text + i, n - i);
		if (length != 1) {
			fwrite(length ? text + i : "\xef\xbf\xbd", 1, length ? length : 3, to);
			i += length ? length : 1;
			continue;
		}
		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < 0x20)
			fprintf(to, "\\u%04x", c);
		else
			fputc(c, to);
		i++;
	}
	fputc('"', to);
}

void json_string(FILE *to, const char *text)
{
	json_bytes(to, text, strlen(text));
}
