/* SPDX-License-Identifier: GPL-2.0-or-later
 * Address translation: TLBs, paging-structure caches, page walks, and which frame a page has.
 *
 * Frames are given by first touch, in order, so pages touched one after the other have consecutive frames: the best
 * case of a real kernel's allocator.  memory.scattered per cent of the pages get their frames from a permutation that
 * looks random; `softpmu calibrate` measures that share with a pointer chase through as much memory as L2 holds.
 * Page tables have frames of their own, given the same way, so the accesses of a walk go to real lines and compete
 * for the caches.
 * Pages have 4 KB (or all have 2 MB or 1 GB: memory.page).  Where the program asked for huge pages (frames_mark), an
 * aligned 2 MB piece is one page, unless one of its 4 KB pages was touched before: the kernel decides at the first
 * fault.
 * With the two levels of 32-bit paging such a page stands for half of a 4 MB page.
 * Tables have four levels, or the two of 32-bit paging; then the upper level also covers 64-bit addresses.
 * Left out: 1 GB pages beside smaller ones, five-level paging, accessed and dirty bits, PCIDs, invalidation, next-page
 * prefetch; khugepaged, which merges small pages every ten seconds; and that memory touched in an earlier mapping is
 * free again.
 */
#ifndef CORE_TLB_H
#define CORE_TLB_H
#include "core/memory/cache.h"

enum { TLB_GUESSES = 256, WALKERS_MAX = 16, WALK_CACHE_MAX = 64, WALK_LEVELS = 4 };

struct tlb {
	uint32_t sets, ways, mask;
	uint32_t log2;		/* slot = set << log2 | way */
	uint64_t *page;		/* linear page number; VLINE_NONE: empty */
	uint32_t *frame;	/* frame, in units of the page size */
	uint64_t *word;
	uint16_t guess[TLB_GUESSES];
	struct repl repl;
};
int  tlb_init(struct tlb *t, const char *what, uint32_t entries, uint32_t ways, struct err *err);
void tlb_release(struct tlb *t);
void tlb_clear(struct tlb *t);
void tlb_fill(struct tlb *t, uint64_t page, uint32_t frame);

static inline void tlb_touch(struct tlb *t, uint64_t page, uint32_t slot)
{
	repl_touch(&t->repl, &t->word[page & t->mask], slot & ((1u << t->log2) - 1));
}
/* Returns the slot of a page, or -1.  Does not touch the replacement state. */
static inline int32_t tlb_find(struct tlb *t, uint64_t page)
{
	uint32_t guess = t->guess[page % TLB_GUESSES];
	if (t->page[guess] == page)
		return (int32_t)guess;
	uint32_t at = ((uint32_t)page & t->mask) << t->log2;
	for (uint32_t i = 0; i < t->ways; i++)
		if (t->page[at + i] == page) {
			t->guess[page % TLB_GUESSES] = (uint16_t)(at + i);
			return (int32_t)(at + i);
		}
	return -1;
}

/* Empties an entry. */
static inline void tlb_drop(struct tlb *t, uint32_t slot)
{
	t->page[slot] = VLINE_NONE;
}

/* Makes the fast lookup miss the page from now on; tlb_find still finds it. */
static inline void tlb_unguess(struct tlb *t, uint64_t page)
{
	uint16_t *guess = &t->guess[page % TLB_GUESSES];
	if (t->page[*guess] == page)
		*guess = (uint16_t)(*guess ? 0 : 1 % (t->sets << t->log2));
}

/* A hash map from page number and level to frame.  It grows with the pages touched (12 bytes an entry, at least a
 * third of them used).  Without memory to grow, a hash of the page serves as its frame, so that results stay
 * defined. */
struct frames {
	uint64_t *key;
	uint32_t *frame;
	size_t mask, used;
	uint32_t next_data, next_scattered, next_table, data_end, table_first;
	struct huge_range { uint64_t first, end; } *huge;	/* in pieces of 2 MB; sorted, disjoint, not adjacent */
	size_t huges, huge_room;
	/* Per cent of the small pages with scattered frames.  100: they use the lower half of the data frames.  1 to
	 * 99: they use the lower quarter, and the other small pages the next one.  Huge pages then use the upper
	 * half. */
	uint32_t scattered;
	uint32_t next_huge;
	bool small_only;	/* memory.huge = 0: frames_mark marks nothing */
	/* For frames_follow: every entry that was made or changed, in order; NULL: nobody keeps that. */
	struct frame_note { uint64_t key; uint32_t frame; } *note;
	size_t notes, note_room;
	size_t followed;	/* notes of the other one that this one has taken over; SIZE_MAX: nothing yet */
	bool notes_lost;	/* there was no memory for some */
};
enum { HUGE_SHIFT = 21, HUGE_PAGES = 512, GIANT_SHIFT = 30 };
enum { PAGES_4K, PAGES_2M, PAGES_1G };	/* memory.page */
#define NO_FRAME UINT32_MAX
/* a huge page in a TLB that also holds small ones */
#define HUGE_KEY(addr) (UINT64_C(1) << 61 | (addr) >> HUGE_SHIFT)
/* data_end: number of frames for data, in units of the page size; table_first: first frame for page tables, in units
 * of 4 KB.
 * scattered: per cent.  ERR_NOMEM. */
int  frames_init(struct frames *f, uint32_t data_end, uint32_t table_first, uint32_t scattered, struct err *err);
void frames_release(struct frames *f);
void frames_clear(struct frames *f);
/* Returns the frame of a page (level 0) or of page table number `page` of level 1 to 4; gives it one at the first
 * call. */
uint32_t frames_get(struct frames *f, unsigned level, uint64_t page);
/* From now on the map keeps notes of what it makes, so that another one can follow it. */
void frames_keep_notes(struct frames *f);
/* Makes `to` equal to `from`, at a cost by what either has made since the last time.  `to` keeps notes, and nothing
 * else has ever been put into it; without notes of `from` the whole map is copied.  ERR_NOMEM: `to` lacks frames, and
 * would give its own. */
int  frames_follow(struct frames *to, const struct frames *from, struct err *err);
/* Does the page have a frame already? */
bool frames_has(const struct frames *f, uint64_t page);
/* The program asks for huge pages in [addr, addr + bytes), or no longer does (the mapping is gone or was replaced).
 * Returns whether any page may have changed its size or frame.  Without memory the pages are small. */
bool frames_mark(struct frames *f, uint64_t addr, uint64_t bytes, bool huge);
/* Huge pages are asked for where they are in another map.  False: there is no memory. */
bool frames_map_like(struct frames *f, const struct frames *like);
/* Returns the first 4 KB frame of the huge page at the address, or NO_FRAME if the page is small. */
uint32_t frames_huge(struct frames *f, uint64_t addr);

/* Caches of paging-structure entries: fully associative, LRU.
 * Source: SDM vol. 3A, "Caching Paging-Related Information about Memory Typing / Paging-Structure Caches". */
struct walk_cache {
	uint32_t count;
	uint32_t last;
	uint64_t clock;
	uint64_t key[WALK_CACHE_MAX], stamp[WALK_CACHE_MAX];
};
void walk_cache_init(struct walk_cache *w, uint32_t count);
/* Makes the key the youngest, and inserts it if it is not there.  Returns whether it was there. */
bool walk_cache_use(struct walk_cache *w, uint64_t key);
bool walk_cache_has(struct walk_cache *w, uint64_t key);

struct walkers {
	bool two_levels, past_l1;		/* 32-bit paging; walks read table entries from L2, not L1D */
	uint32_t count;
	uint32_t overhead;
	uint64_t latest;			/* no walk ends after this cycle */
	uint64_t page[WALKERS_MAX], ready[WALKERS_MAX];
	struct walk_cache cache[WALK_LEVELS];	/* [1] PDEs, [2] PDPTEs, [3] PML4Es */
};
#endif
