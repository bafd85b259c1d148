/* SPDX-License-Identifier: GPL-2.0-or-later
 * Arrays that grow by doubling.
 */
#ifndef UTIL_GROW_H
#define UTIL_GROW_H
#include <stddef.h>
#include <stdlib.h>

/* Makes room for one more element in an array from malloc that holds `used` elements of `bytes` bytes each.
 * *room: how many elements fit; 0 for an array that is NULL.  first: how many the first allocation makes room for.
 * Returns the array, which may have moved, or NULL if memory ran out; the old array then stays valid. */
static inline void *grow_array(void *array, size_t used, size_t *room, size_t first, size_t bytes)
{
	if (used < *room)
		return array;
	const size_t more = *room ? 2 * *room : first;
	void *grown = realloc(array, more * bytes);
	if (grown)
		*room = more;
	return grown;
}
#endif
