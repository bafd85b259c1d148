/* SPDX-License-Identifier: GPL-2.0-or-later
 * Suggests which known names a mistyped one may have meant.  Used for fields, events, cores, commands and options.
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

/* Starts a search for names near `wanted`.  Names of NEAR_CHARS characters or more match nothing. */
void near_start(struct near *n, const char *wanted);
/* Offers one known name, `length` characters of it.  Of equally near names the shorter one comes first, then the one
 * that was offered first. */
void near_offer(struct near *n, const char *name, size_t length);
/* Writes `before` and the names found, best first, joined by ", ".  Returns false, and writes "", if there are none. */
bool near_text(const struct near *n, const char *before, char *text, size_t bytes);
#endif
