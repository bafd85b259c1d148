/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which known names a mistyped one was meant to be: for fields, events, cores, commands and options alike.
 */
#ifndef UTIL_NEAR_H
#define UTIL_NEAR_H
#include <stdbool.h>
#include <stddef.h>

enum { NEAR_NAMES = 3, NEAR_CHARS = 96 };

struct near {
	char wanted[NEAR_CHARS];	/* folded, see near.c */
	struct { char name[NEAR_CHARS]; unsigned score; } best[NEAR_NAMES];
};

/* Names of NEAR_CHARS characters or more resemble nothing. */
void near_start(struct near *n, const char *wanted);
/* One known name, `length` characters of it.  Of names equally near the shorter one stands first, then the one offered first. */
void near_offer(struct near *n, const char *name, size_t length);
/* Writes `before` and the names found, best first, joined by ", "; false, and "" written, if there are none. */
bool near_text(const struct near *n, const char *before, char *text, size_t bytes);
#endif
