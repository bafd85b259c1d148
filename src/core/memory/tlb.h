/* SPDX-License-Identifier: GPL-2.0-or-later
 * Address translation: TLBs, paging-structure caches, page walks, and which frame a page has.
 *
 * Frames are given by first touch, in order, so a run of pages touched in turn is a run of frames: the best case of a real kernel's
 * allocator; or, of memory.scattered per cent of the pages, by a permutation that looks random: `softpmu calibrate` tells how many by a chase in as much
 * as L2 holds.  Page tables have
 * frames of their own, given the same way, so a walk's accesses go to real lines and compete for the caches.
 * Pages are of 4 KB (or all of 2 MB: memory.page), but where the program asked for huge ones (frames_mark): there an aligned piece of 2 MB
 * has one page, unless one of its 4 KB pages was touched before, as the kernel gives them at the first fault; that it makes one of many
 * later (khugepaged, every ten seconds) is left out, as is that a piece touched in an earlier mapping is free again.  With the two
 * levels of 32-bit paging such a page stands for half of one of 4 MB.
 * Tables have four levels, or the two of 32-bit paging, whose upper one stands for all above where a program has 64-bit addresses.
 * Left out: 1 GB pages, five-level paging, accessed and dirty bits, PCIDs, invalidation, next-page prefetch.
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
/* Slot of a page, or -1; does not touch. */
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

/* The entry goes. */
static inline void tlb_drop(struct tlb *t, uint32_t slot)
{
	t->page[slot] = VLINE_NONE;
}

/* The short look does not find the page: only tlb_find does. */
static inline void tlb_unguess(struct tlb *t, uint64_t page)
{
	uint16_t *guess = &t->guess[page % TLB_GUESSES];
	if (t->page[*guess] == page)
		*guess = (uint16_t)(*guess ? 0 : 1 % (t->sets << t->log2));
}

/* Page number and level -> frame.  Grows with the pages touched (12 bytes an entry, at least a third of them used); if memory runs
 * out, a hash of the page stands in for its frame, so that results stay defined. */
struct frames {
	uint64_t *key;
	uint32_t *frame;
	size_t mask, used;
	uint32_t next_data, next_scattered, next_table, data_end, table_first;
	struct huge_range { uint64_t first, end; } *huge;	/* in pieces of 2 MB; in order, apart */
	size_t huges, huge_room;
	uint32_t scattered;	/* per cent of the small pages: then these have the lower half of the data's frames, or if it is not all the lower quarter and
				 * the others the next; huge ones the upper half */
	uint32_t next_huge;
	bool small_only;	/* memory.huge = 0: nothing is marked */
};
enum { HUGE_SHIFT = 21, HUGE_PAGES = 512 };
#define NO_FRAME UINT32_MAX
#define HUGE_KEY(addr) (UINT64_C(1) << 61 | (addr) >> HUGE_SHIFT)	/* of a huge page among the numbers of small ones */
/* data_end: frames for data, in their unit; table_first: the first one for page tables, in 4 KB, of which there are as many. */
int  frames_init(struct frames *f, uint32_t data_end, uint32_t table_first, uint32_t scattered, struct err *err);
void frames_release(struct frames *f);
void frames_clear(struct frames *f);
/* level 0: the page itself; 1 to 4: the page table of that level that maps it, `page` being its own number. */
uint32_t frames_get(struct frames *f, unsigned level, uint64_t page);
/* The page has its frame already. */
bool frames_has(const struct frames *f, uint64_t page);
/* The program asked for huge pages in [addr, addr + bytes), or no longer does (the mapping is gone, or is another); true if any
 * page may have become another one.  If memory runs out, its pages are small. */
bool frames_mark(struct frames *f, uint64_t addr, uint64_t bytes, bool huge);
/* First 4 KB frame of the huge page that holds the address; NO_FRAME: its page is small. */
uint32_t frames_huge(struct frames *f, uint64_t addr);

/* Caches of paging-structure entries, fully associative, least recently used out.
 * Source: SDM vol. 3A, "Caching Paging-Related Information about Memory Typing / Paging-Structure Caches". */
struct walk_cache {
	uint32_t count;
	uint32_t last;
	uint64_t clock;
	uint64_t key[WALK_CACHE_MAX], stamp[WALK_CACHE_MAX];
};
void walk_cache_init(struct walk_cache *w, uint32_t count);
/* Present (and now the youngest)?  If not, it is put in. */
bool walk_cache_use(struct walk_cache *w, uint64_t key);
bool walk_cache_has(struct walk_cache *w, uint64_t key);

struct walkers {
	bool two_levels, past_l1;		/* 32-bit paging; entries are looked for in L2 first */
	uint32_t count;
	uint32_t overhead;
	uint64_t latest;			/* no walk ends after this cycle */
	uint64_t page[WALKERS_MAX], ready[WALKERS_MAX];
	struct walk_cache cache[WALK_LEVELS];	/* [1] PDEs, [2] PDPTEs, [3] PML4Es */
};
#endif
