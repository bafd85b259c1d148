/* SPDX-License-Identifier: GPL-2.0-or-later
 * The heap blocks of a process by address, with their allocation sites.
 *
 * A freed block stays until another one takes its place, so that an access reported a little later still finds it.
 * Times are cycles of the allocating thread, which is ahead of retirement by less than a reorder buffer.
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
	uint32_t told;		/* for the caller's use */
};

struct heapmap *heapmap_create(void);	/* NULL without memory */
void heapmap_destroy(struct heapmap *h);
/* Adds a block (0 bytes: as if 1).  site: return address of the allocation.  Returns 0 or ERR_NOMEM. */
int  heapmap_add(struct heapmap *h, uint64_t addr, uint64_t bytes, uint64_t site, uint32_t function, uint64_t cycle);
/* Removes the blocks that cover this address. */
void heapmap_remove(struct heapmap *h, uint64_t addr);
/* Returns the block at the address at that cycle, or NULL.  Valid until the next change. */
struct heapmap_block *heapmap_find(struct heapmap *h, uint64_t addr, uint64_t cycle);
#endif
