/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strings kept once each, which live as long as the set: equal texts have equal pointers.
 */
#ifndef UTIL_TEXTS_H
#define UTIL_TEXTS_H
#include <stddef.h>

struct texts { struct texts_node *root; };	/* all zero: empty */

unsigned texts_hash(const void *p, size_t n);	/* FNV-1a, folded */
const char *texts_keep(struct texts *t, const char *s);	/* NULL: no memory */
void texts_free(struct texts *t);
#endif
