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
#endif
