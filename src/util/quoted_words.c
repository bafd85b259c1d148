/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lines of words (quoted_words.h). */
#include "util/quoted_words.h"
#include <string.h>

int words_split(char *text, char **word, int most)
{
	int words = 0;
	char *from = text, *to = text;
	for (;;) {
		char quote = 0;
		while (*from == ' ' || *from == '\t' || *from == '\r')
			from++;
		if (!*from || *from == '#')
			return words;
		if (words == most)
			return -1;
		word[words++] = to;
		while (*from && (quote || !strchr(" \t\r", *from))) {
			if (*from == quote) {
				quote = 0;
				from++;
			} else if (!quote && (*from == '\'' || *from == '"')) {
				quote = *from++;
			} else {
				from += *from == '\\' && quote != '\'' && from[1];
				*to++ = *from++;
			}
		}
		if (quote)
			return -1;
		from += *from != 0;
		*to++ = 0;	/* not behind `from`, which has passed a blank or stands on the end */
	}
}
