/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lines of words, quoted as in a shell: '' and "" quote, a backslash takes the next character as it is, # begins a
 * comment.  Nothing else has a meaning. */
#ifndef UTIL_QUOTED_WORDS_H
#define UTIL_QUOTED_WORDS_H

/* Splits text into words, in place.  Returns their number; -1: a quotation does not end, or there are more than
 * `most`. */
int words_split(char *text, char **word, int most);
#endif
