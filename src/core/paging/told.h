/* SPDX-License-Identifier: GPL-2.0-or-later
 * Told pages, for the core of a whole machine, whose guest has page tables of its own (machine/machine.h).
 *
 * No page gets a frame at its first touch.  Before an address is used the first time, core_told_page says where its
 * page lies and which table entries a walk reads.  L2, L3 and memory see these physical lines.  The L1s are looked
 * up by linear address, as always; a line that is there under another linear address is renamed, so it is never there
 * twice, and a line whose page now lies elsewhere keeps a name of its physical address alone.  (With more sets than
 * lines in a page, a line of another set is written back and leaves instead.)  A page keeps its frame until it is told
 * again; a drop only takes it from the TLBs.
 *
 * A 4 MB page takes two entries for 2 MB in a TLB, a 1 GB page takes entries for 2 MB.
 * Left out: uncacheable memory (a device's registers are cached); accessed and dirty bits that a walk sets; stores
 * through one linear address to code that was fetched through another, and loads of what is still in the store buffer
 * by another linear address.
 *
 * A replay of a machine's stream (stream/format.h) calls these functions in the order of the records: core_told once,
 * then for ST_PAGE core_told_page, ST_DROP core_told_drop, ST_TRAP core_trap, ST_DELIVERY core_deliver, ST_LEVEL with
 * `drains` and ST_SERIALIZE core_serialize, ST_HALT core_halt_for; nothing for ST_SPACE.
 */
#ifndef CORE_TOLD_H
#define CORE_TOLD_H
#include "core/core.h"
#include "stream/format.h"

/* Pages are told from now on; before the first block.  ERR_UNSUPPORTED: memory.page is set.  ERR_NOMEM. */
int  core_told(struct core *c, struct err *err);
/* Here is a page, or it is elsewhere now.  ERR_INPUT: its address is beyond what the caches tell apart; ERR_NOMEM. */
int  core_told_page(struct core *c, const struct st_page *p, struct err *err);
/* What was told last of the page that holds the address, or NULL; valid until the next core_told_page.  Only its stamp
 * may be written. */
struct told_page;
struct told_page *core_told_find(struct core *c, uint64_t addr);
/* Entries of TLBs and paging-structure caches are dropped, behind all stores that have retired. */
void core_told_drop(struct core *c, enum st_drop_what what, uint64_t addr);
/* An exception or an interrupt: the pipeline drains, and the microcode that delivers it takes its time. */
void core_trap(struct core *c);
/* The accesses that this microcode makes, as st_delivery has them: pairs of words. */
void core_deliver(struct core *c, const uint64_t *access, uint64_t accesses);
/* Halts for so many cycles from now. */
void core_halt_for(struct core *c, uint64_t cycles);
#endif
