/* SPDX-License-Identifier: GPL-2.0-or-later
 * A set of strings.  Each is kept once and lives as long as the set, so equal texts have equal pointers.
 */
#ifndef UTIL_TEXTS_H
#define UTIL_TEXTS_H
#include <stdbool.h>
#include <stddef.h>

struct texts { struct texts_node *root; };	/* all zero: empty */

unsigned texts_hash(const void *p, size_t n);	/* FNV-1a, 64 bits folded to 32 */
const char *texts_keep(struct texts *t, const char *s);	/* owned by the set; NULL: no memory */
void texts_free(struct texts *t);

/* True if the word stands on the list, whose words commas separate.  list: NULL: empty. */
bool texts_on_list(const char *list, const char *word);
#endif
