/* SPDX-License-Identifier: GPL-2.0-or-later
 * Cuts names of functions to a width, so that what tells them apart stays.  C++ names are long in the middle: of
 * "shop::cache<std::pair<int, double>, keep_all>::insert" a cut at the end loses "insert".  What goes first:
 *   1. the arguments of functions, then those of templates, the innermost first, which become <...>
 *   2. the namespaces and classes in front, from the left
 *   3. the middle of what is left
 * Two names that would become the same text are cut around the first place in which they differ.
 *
 * A width counts characters: bytes of UTF-8 that continue one do not count.
 */
#ifndef UTIL_ELIDE_H
#define UTIL_ELIDE_H
#include <stdbool.h>
#include <stddef.h>

enum { ELIDE_BYTES = 8192 };	/* longer names are cut there first */

/* Characters of a text. */
size_t elide_width(const char *text);
/* Writes `name` into text, at most `width` characters of it (at least 4 are used).  mark: what stands for the part that
 * is left out, such as "..".  other: a name that must not become the same text if that can be avoided; or NULL. */
void elide_name(char text[ELIDE_BYTES], const char *name, size_t width, const char *mark, const char *other);
/* Cuts names together: those that differ stay different, as far as the width permits.  cut[i] is malloc'd, or NULL if
 * name[i] fits or is NULL.  False: no memory; then nothing was allocated. */
bool elide_names(char **cut, const char *const *name, size_t names, size_t width, const char *mark);
#endif
