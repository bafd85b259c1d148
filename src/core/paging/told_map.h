/* SPDX-License-Identifier: GPL-2.0-or-later
 * What was told of pages (told.h), for the memory system: a hash map by linear address, and what follows from it for
 * TLBs and L1s.
 */
#ifndef CORE_TOLD_MAP_H
#define CORE_TOLD_MAP_H
#include "stream/format.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct told_page {
	uint64_t key;			/* linear address / 4 KB, 2 MB or 1 GB, and the size; UINT64_MAX: empty */
	uint32_t stamp;			/* for whoever tells, who sets it */
	uint32_t frame;			/* of its first byte, in units of 4 KB */
	uint32_t entry[ST_PAGE_LEVELS];	/* lines of the table entries, the leaf's first */
	uint8_t levels;			/* how many */
	uint8_t leaf;			/* level of the leaf's entry: 1, 2, 3; 0: the page was replaced by others */
	uint8_t bits;			/* address bits that a level resolves */
	bool global;
};

struct told {
	struct told_page *page;
	size_t mask, used;		/* a third is free at least */
	size_t of_size[3];		/* how many there are of each size */
};

struct told *told_create(void);		/* NULL: out of memory */
void told_destroy(struct told *t);	/* NULL: does nothing */
/* What was told last of the page that holds the address, or NULL. */
const struct told_page *told_find(const struct told *t, uint64_t addr);
/* The first 4 KB frame of the 2 MB around the address, if its page has so much; else NO_FRAME. */
uint32_t told_huge(const struct told *t, uint64_t addr);
/* The frame of a 4 KB page.  One that was never told gets one that depends on its number alone, above `table_first`. */
uint32_t told_frame(const struct told *t, uint64_t page, uint32_t table_first);

/* told_memory.c */
struct memsys;
struct l1;
int  memsys_told(struct memsys *m, struct err *err);
/* What is known of the address, or NULL. */
struct told_page *memsys_told_find(struct memsys *m, uint64_t addr);
int  memsys_told_page(struct memsys *m, const struct st_page *p, bool *moved, struct err *err);
void memsys_told_drop(struct memsys *m, enum st_drop_what what, uint64_t addr);
/* Returns where an L1 that does not have the line under its linear number has it, under this number from now on; or
 * -1. */
int32_t told_alias(struct memsys *m, struct l1 *c, uint64_t vline, uint32_t line, uint64_t cycle, bool timed);
/* For told.c: enters a page.  *was: what it replaces, leaf 0 if nothing.  ERR_NOMEM. */
int  told_enter(struct told *t, const struct st_page *p, unsigned line_log2, struct told_page *was, struct err *err);
#endif
