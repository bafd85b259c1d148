/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strings in JSON. */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H
#include <stddef.h>
#include <stdio.h>

/* Writes the n bytes as a JSON string with its quotes.  Names of files and threads may hold any bytes, JSON must be
 * UTF-8: each byte that is not part of a valid UTF-8 sequence becomes U+FFFD. */
void json_bytes(FILE *to, const char *text, size_t n);
/* The same, for a NUL-terminated string. */
void json_string(FILE *to, const char *text);
/* Length of the UTF-8 sequence at `text`, where `left` bytes remain, not 0; 0 if it is not valid UTF-8. */
size_t json_utf8(const char *text, size_t left);
#endif
