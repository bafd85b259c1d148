/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lines of source files, which are read once.
 */
#ifndef SYMBOLS_SOURCE_TEXT_H
#define SYMBOLS_SOURCE_TEXT_H
#include <stddef.h>

enum { SOURCE_TEXT_FILES = 64 };	/* of further files no lines are known */

struct sources {		/* all zero: none */
	struct source { char *path, *text; size_t size; const char **line; size_t lines; } file[SOURCE_TEXT_FILES];
	size_t used;
};

/* Returns a line, counted from 1, without its end; NULL if there is none.  It lives as long as the set. */
const char *source_text(struct sources *all, const char *path, unsigned line);
void source_text_free(struct sources *all);
#endif
