/* SPDX-License-Identifier: GPL-2.0-or-later
 * A process's blocks of memory by address, with who allocated them.
 *
 * A block that was given back stays until another takes its place, so that an access that is told of a little late still finds it.  Times are cycles of
 * the allocating thread, which runs ahead of what it has retired by less than a reorder buffer.
 */
#ifndef OUTPUT_HEAPMAP_H
#define OUTPUT_HEAPMAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heapmap;
struct heapmap_block {
	uint64_t start, end, site;
	uint64_t from;		/* cycle of its allocation */
	uint32_t function;	/* run_heap_function */
	uint32_t told;		/* the caller's */
};

struct heapmap *heapmap_create(void);	/* NULL without memory */
void heapmap_destroy(struct heapmap *h);
/* A block of `bytes` (0: as one byte).  0, or ERR_NOMEM. */
int  heapmap_add(struct heapmap *h, uint64_t addr, uint64_t bytes, uint64_t site, uint32_t function, uint64_t cycle);
/* Forgets what covers this address. */
void heapmap_remove(struct heapmap *h, uint64_t addr);
/* What lay at addr at that cycle; NULL: nothing that is known. */
struct heapmap_block *heapmap_find(struct heapmap *h, uint64_t addr, uint64_t cycle);
#endif
