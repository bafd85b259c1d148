/* SPDX-License-Identifier: GPL-2.0-or-later
 * Inside of the memory system, shared by its files; nobody else includes this.
 *
 *   memsys.c     loads, stores, prefetches: L1D, fill buffers, write combining
 *   memsys_code.c    fetches: L1I and its fill buffers
 *   memsys_create.c    made of a core's fields, emptied, given back
 *   memsys_resize.c  changed while a program runs
 *   translate.c  TLB lookups and page walks
 *   l2.c         L2, super queue, the L2 prefetchers
 *   l3.c     L3, memory
 *   coherence.c  what other cores hold: snoops, invalidations
 *
 * Every function that changes state takes `timed`, a constant where it is inlined: false warms the state only.
 */
#ifndef CORE_MEMSYS_STATE_H
#define CORE_MEMSYS_STATE_H
#include "core/memory/cache.h"
#include "core/memory/dram.h"
#include "core/memory/memsys.h"
#include "core/memory/prefetchers.h"
#include "core/memory/tlb.h"

enum { CORES_MAX = 1024, CODE_PAGES = 1 << 15, LIFE_LOG2 = 10 };

struct memsys_shared {
	struct cache l3;
	struct dram dram;
	struct frames frames;
	/* others push lines out (l3.others), else NULL: when each line was used last, in 2^LIFE_LOG2 cycles; how long lines stay, one in 256 each */
	uint32_t *used;
	uint32_t life[256];
	uint64_t latest;		/* cycle of the last timed access */
	uint32_t slices;
	bool has_l3;
	bool victim;			/* L3 is non-inclusive and filled by L2's victims, or there is none */
	uint32_t line_log2;
	uint32_t l3_latency;		/* cycles, load to use */
	uint32_t snoop;			/* cycles added */
	uint32_t cores;
	struct memsys *core[CORES_MAX];
};

/* A line of the write-combining buffers for non-temporal stores. */
struct wc_line { uint64_t vline; uint64_t bytes; uint64_t stamp; uint32_t line; bool to_l2; uint64_t free; };

enum access_kind { ACCESS_LOAD, ACCESS_RFO, ACCESS_CODE, ACCESS_PREFETCH, ACCESS_WALK };

struct memsys {
	/* what an L1D hit touches comes first */
	struct l1 l1d;
	uint32_t page_shift, line_log2;
	uint64_t line_tag;		/* bit in linear line and page numbers if lines have 32 bytes: the fast paths, which are made for
					 * 64, then find nothing and leave every access to the general ones */
	bool l1d_plru;
	uint32_t quick_bytes;		/* that an access in the short way may reach into its line: LINE_BYTES, 0 if there is none */
	bool write_through, has_stlb;
	bool keeps_tlb;			/* translations are for the access alone */
	bool store_fast;		/* the short way of committed stores: tree-PLRU and write-back */
	uint32_t load_latency[2];	/* integer, vector */
	uint64_t last_page;		/* page of the last lookup in the DTLB: there, and the youngest of its set */
	uint64_t last_store_page, last_code_page;	/* the same for dtlb_store and itlb */
	struct tlb dtlb;
	struct walkers walk;
	struct emitter *emitter;
	struct memsys_shared *shared;

	struct tlb dtlb_store, itlb, stlb;
	struct tlb dtlb_huge, itlb_huge;	/* for the huge pages among small ones */
	bool stlb_huge;			/* the second level holds them, too */
	bool has_dtlb_store;
	bool zeroed;			/* memory.zeroed */
	uint32_t stlb_latency;
	struct l1 l1i;
	struct inflight l1d_fill, l1i_fill;
	uint32_t split_penalty, page_split_penalty;
	uint32_t l1i_next_line;
	struct next_line next_line;
	struct ip_stride ip_stride;
	struct linear linear;
	bool use_next_line, use_ip_stride;
	uint32_t icache_hit_record;	/* where in the batch the last ICACHE_HIT record lies */
	uint32_t wc_count;
	uint64_t wc_clock;
	struct wc_line wc[INFLIGHT_MAX];

	struct cache l2;
	struct inflight l2_fill;	/* super queue */
	struct rate l2_rate, l3_rate;
	struct rate read_rate, write_rate;	/* lines of memory, to this core and from it */
	uint32_t l2_latency, l2_code_latency;
	uint32_t l2_lookup;		/* cycles from the L1 pipeline to the L2 miss: L2's latency less L1's */
	uint32_t prefetch_reserve;
	bool use_adjacent, use_streamer;
	struct streamer streamer;
	uint32_t smc_bytes;		/* clear.smc_bytes */
	uint64_t found;			/* bits for the load's record of the last request to L2: who had asked for the line, what other cores had, what was written back for it */
	uint64_t code_page[CODE_PAGES / 64];	/* set of pages that lines of L1I came from, by their low bits */
	uint32_t write_around;		/* stores that miss L1D go past it (field l1d.write_around); 0: they allocate */
	uint64_t around_free;		/* the bus has taken the last of these */
	bool free_l1, free_l2, free_dtlb, free_icache;	/* free.*: these take no time */
	struct core_config config;	/* the fields it was made from, for memsys_reset */
};

#define SIGNAL_AT(m, name, begin, end, n) \
	do { if (timed) emit_signal((m)->emitter, SPMU_SIG_##name, begin, end, n); } while (0)
/* Uncore signals.  Slice and channel are worked out only if somebody counts the signal. */
uint32_t uncore_slice(const struct memsys_shared *s, uint32_t line);
#define SLICE_AT(m, name, line, found, cycle, n) \
	do { if (timed && (m)->shared->has_l3 && emit_wanted((m)->emitter, SPMU_SIG_##name)) \
		emit_uncore((m)->emitter, SPMU_SIG_##name, cycle, cycle, n, uncore_slice((m)->shared, line), found); } while (0)
#define CHANNEL_AT(m, name, line, found, begin, end) \
	do { if (timed) emit_uncore((m)->emitter, SPMU_SIG_##name, begin, end, 1, dram_channel(&(m)->shared->dram, line), found); } while (0)

/* Linear line number of an address, as the L1s and what follows them know it. */
static inline uint64_t linear_line(const struct memsys *m, uint64_t addr)
{
	return addr >> m->line_log2 | m->line_tag;
}

/* One core's part that hangs on no machine yet. */
int  memsys_make(struct memsys **out, const struct core_config *c, struct err *err);
void memsys_unmake(struct memsys *m);
/* memsys.c, l2.c: everything goes out, what was modified is written back. */
void l1d_empty(struct memsys *m, uint64_t cycle);
void wc_empty(struct memsys *m, uint64_t cycle);
void l2_empty(struct memsys *m, uint64_t cycle);
/* l3.c: lines go to memory by this core's way, and of an inclusive L3 leave the cores. */
void l3_empty(struct memsys *m, uint64_t cycle);
int  l3_make(struct memsys_shared *s, const struct core_config *c, struct err *err);

/* translate.c.  Which TLB: */
enum translate_kind { TRANSLATE_LOAD, TRANSLATE_STORE, TRANSLATE_CODE };
/* Frame (in pages) of a linear address.  *cycle moves to when it is known; *did gathers bits. */
uint32_t translate(struct memsys *m, enum translate_kind kind, uint64_t addr, uint64_t *cycle, uint64_t *did, bool timed);
/* The frame, without any lookup in a TLB: for a committed store, which was translated when its address was known. */
uint32_t translate_known(struct memsys *m, uint64_t addr);
/* The program has been on the page: it is mapped. */
bool translate_touched(struct memsys *m, uint64_t addr);
static inline uint32_t physical_line(const struct memsys *m, uint32_t frame, uint64_t vline)
{
	unsigned log2 = m->page_shift - m->line_log2;
	return frame << log2 | ((uint32_t)vline & ((1u << log2) - 1));
}

/* Code was fetched from the page (or from another one with equal low bits): no short way for accesses to it, so that stores
 * are held against L1I. */
static inline bool has_code(const struct memsys *m, uint64_t page)
{
	return m->code_page[page % CODE_PAGES / 64] >> (page & 63) & 1;
}

/* memsys.c: a page walk's read of a table entry. */
uint64_t table_read(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);

/* l2.c.  A request that missed L1 and has its fill buffer since `cycle`.  Returns the cycle of use; *source says who served
 * it; *state is what the L1 line starts with (LINE_SHARED or 0). */
uint64_t l2_access(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed,
                   enum inflight_source *source, uint8_t *state);
/* A prefetch into L2; false if the super queue has no room for it. */
bool l2_prefetch(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* Stores to a line come in that were combined on their way from a write-through L1D.  Returns when L2 has it. */
uint64_t l2_store(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* A modified line leaves L1D. */
void l2_write_back(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* Other cores give up their copies of a line that a store found shared. Returns when it is owned. */
uint64_t l2_upgrade(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);

/* A store that missed an L1D without write allocation.  Returns when it is written: to L2 if the line is there, else to memory. */
uint64_t l2_write_around(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);

/* l3.c.  A request that missed L2 and has its super-queue entry since `cycle`. */
uint64_t uncore_read(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed,
                     enum inflight_source *source, uint8_t *state);
/* A line leaves L2. */
void uncore_victim(struct memsys *m, uint32_t line, uint8_t state, uint64_t cycle, bool timed);
/* A line is written past the caches (non-temporal): every copy goes.  Returns when memory takes it. */
uint64_t uncore_write_around(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* For coherence.c: L3's slot of a line, or -1; what is there; what a request looks like to the line's slice. */
int32_t uncore_l3_find(const struct memsys_shared *s, uint32_t line);
enum spmu_found uncore_found_in(const struct cache *c, int32_t slot);
void uncore_lookup_signal(struct memsys *m, enum access_kind kind, uint32_t line, enum spmu_found found, uint64_t cycle);

/* coherence.c.  What other cores held; asked: so many must hear of it, having it alone or having to give it up; until: it is on its way
 * to one of them so long (0: to none). */
struct snoop { bool held, modified; uint32_t asked; uint64_t until; };
/* Searches the other cores.  invalidate: their copies go, and their pipelines are told; else they become shared and clean. */
struct snoop coherence_snoop(struct memsys *m, uint32_t line, bool invalidate, uint64_t cycle, bool timed);
/* A store found the line shared: the others give it up. */
struct snoop coherence_own(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* Takes a line from one core. */
struct snoop coherence_drop(struct memsys *m, uint32_t line);
#endif
