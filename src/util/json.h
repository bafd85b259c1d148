/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strings in JSON. */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H
#include <stddef.h>
#include <stdio.h>

/* The n bytes as a JSON string with its quotes.  Names of files and threads may hold any bytes, JSON may not: what is no UTF-8
 * becomes U+FFFD. */
void json_bytes(FILE *to, const char *text, size_t n);
/* The same up to the terminating 0. */
void json_string(FILE *to, const char *text);
#endif
