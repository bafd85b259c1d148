/* SPDX-License-Identifier: GPL-2.0-or-later
 * Arrays that grow by doubling, plain and with an index.
 */
#ifndef UTIL_GROW_H
#define UTIL_GROW_H
#include <stddef.h>
#include <stdint.h>
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

/* As grow_array, for an array with an index: an open hash table that holds twice as many places, each the number of
 * an element plus one, or 0.  When it grew, the index is empty, *indexes has its places, and the caller enters all
 * elements again.  Returns 1 if it grew, 0 if there was room, -1 if memory ran out. */
static inline int grow_indexed(void **array, size_t used, size_t *room, size_t first, size_t bytes, uint32_t **index,
	size_t *indexes)
{
	if (used < *room)
		return 0;
	const size_t more = *room ? 2 * *room : first;
	uint32_t *fresh = calloc(2 * more, sizeof *fresh);
	void *grown = fresh ? realloc(*array, more * bytes) : NULL;
	if (!grown) {
		free(fresh);
		return -1;
	}
	free(*index);
	*array = grown;
	*room = more;
	*index = fresh;
	*indexes = 2 * more;
	return 1;
}
#endif
