/* SPDX-License-Identifier: GPL-2.0-or-later
 * The state of the memory system, shared by its files; nobody else includes this.
 *
 *   memsys.c         loads, stores, prefetches: L1D, fill buffers, write combining
 *   memsys_code.c    fetches: L1I and its fill buffers
 *   memsys_create.c  creation from a core's fields, reset, destruction
 *   memsys_resize.c  changes while a program runs
 *   translate.c      TLB lookups and page walks
 *   l2.c             L2, super queue, the L2 prefetchers
 *   l3.c             L3, the way to memory
 *   coherence.c      snoops and invalidations in other cores
 *   flush.c          lines that leave all caches: CLFLUSH and the like, non-temporal stores
 *   bus.c            the front-side bus (NetBurst)
 *
 * Every function that changes state takes `timed`, which is constant where it is inlined: false only warms the state.
 */
#ifndef CORE_MEMSYS_STATE_H
#define CORE_MEMSYS_STATE_H
#include "core/memory/bus.h"
#include "core/memory/cache.h"
#include "core/memory/dram.h"
#include "core/memory/memsys.h"
#include "core/memory/prefetchers.h"
#include "core/memory/tlb.h"
#include "core/paging/told_map.h"

enum { CORES_MAX = 1024, CODE_PAGES = 1 << 15, LIFE_LOG2 = 10, SPLITS_MAX = 16 };

/* What happens to L3 beside a leader, which only warms, happens a little later (l3.c).  The queue keeps the order. */
enum { L3_LATER = 16 };
struct l3_later {
	uint32_t line;
	uint8_t kind;		/* enum access_kind of a read, or LATER_VICTIM: a line that L2 gives up */
	uint8_t state;		/* that of a victim: set of enum line_state */
	bool clears;		/* memsys.clears at the time */
};

/* The sets of L3 that were asked for something, in order, some more than once; of machines that are copied.  The set of
 * the nth entry is set[n % L3_LOG].  memsys_shared_copy leaves out all other sets. */
enum { L3_LOG = 8192 };
struct l3_log {
	uint32_t *set;		/* NULL: none, and everything is copied */
	uint64_t count;
	/* Of the last copy to this machine: whose it was, and both counts then.  A machine that was copied lives longer
	 * than the one that took the copy. */
	const struct memsys_shared *source;
	uint64_t source_count, own_count;
};

struct memsys_shared {
	struct cache l3, filter;	/* filter: the snoop filter's entries */
	struct l3_log log;
	struct l3_later later[L3_LATER];
	uint32_t later_first, later_count;
	bool leads;			/* memsys_shared_leads was called: nothing is ever timed here */
	struct dram dram;
	struct bus bus;
	struct frames frames;
	/* With l3.others, else NULL: when each line was used last, in units of 2^LIFE_LOG2 cycles. */
	uint32_t *used;
	/* Of an inclusive L3, else NULL: the cores that each line's core-valid bits name (core_bit). */
	uint64_t *valid;
	/* How long an unused line stays before others evict it, in the same unit; each value holds for 1 line
	 * in 256. */
	uint32_t life[256];
	uint64_t latest;		/* cycle of the last timed access */
	uint32_t slices;
	bool has_l3, has_filter;
	bool victim;			/* L3 is non-inclusive and filled by L2's victims, or there is no L3 */
	uint32_t line_log2;
	uint32_t l3_latency;		/* cycles, load to use */
	uint32_t snoop;			/* l3.snoop_ns in cycles */
	uint32_t cores;
	uint32_t created;		/* cores created so far */
	struct memsys *core[CORES_MAX];
};

/* A write-combining buffer, for non-temporal stores and for stores through a write-through L1D. */
struct wc_line {
	uint64_t vline;		/* VLINE_NONE: empty */
	uint64_t bytes;		/* set of the bytes written so far */
	uint64_t stamp;		/* order in which buffers were opened */
	uint32_t line;
	bool to_l2;		/* goes to L2; else to memory */
	bool in_l3;		/* L3 had the line when the buffer was opened */
	uint64_t free;		/* cycle at which the last content is gone */
};

enum access_kind { ACCESS_LOAD, ACCESS_RFO, ACCESS_CODE, ACCESS_PREFETCH, ACCESS_WALK, LATER_VICTIM };

struct memsys {
	/* The members that an L1D hit touches come first. */
	struct l1 l1d;
	uint32_t page_shift, line_log2;
	/* A bit in linear line and page numbers if lines have 32 bytes.  The fast paths are made for 64 bytes; with
	 * it they find nothing and leave every access to the general paths. */
	uint64_t line_tag;
	bool l1d_plru;
	/* an access on the fast path ends within so many bytes of its line; 0: no fast path */
	uint32_t quick_bytes;
	bool write_through, has_stlb;
	bool keeps_tlb;			/* translations do not enter the TLBs */
	bool store_fast;		/* committed stores have a fast path: tree-PLRU and write-back */
	uint32_t load_latency[2];	/* integer, vector */
	uint64_t last_page;		/* page of the last DTLB lookup: present, and the youngest of its set */
	uint64_t last_store_page, last_code_page;	/* the same for dtlb_store and itlb */
	struct tlb dtlb;
	struct walkers walk;
	struct emitter *emitter;
	struct memsys_shared *shared;
	struct told *told;		/* of a whole machine, else NULL: what is known of its pages (told.h) */

	struct tlb dtlb_store, itlb, stlb;
	struct tlb dtlb_huge, itlb_huge;	/* for huge pages, where the other pages are small */
	bool stlb_huge;			/* the second-level TLB holds them, too */
	bool has_dtlb_store;
	bool zeroed;			/* memory.zeroed */
	bool clears;			/* the kernel clears a page, which leaves memory's rows as they are */
	/* Set of the bits of line numbers by which L1D tells lines apart at first (l1d.alias_bits); 0: by all. */
	uint64_t l1d_alias;
	uint32_t stlb_latency;
	struct l1 l1i;
	struct inflight l1d_fill, l1i_fill;
	uint32_t split_penalty, page_split_penalty;
	uint32_t split_registers;	/* l1d.split_registers; 0: no limit */
	uint64_t split_free[SPLITS_MAX];	/* cycle at which each is free */
	uint32_t l1i_next_line;
	struct next_line next_line;
	struct ip_stride ip_stride;
	struct linear linear;
	bool use_next_line, use_ip_stride;
	uint32_t icache_hit_record;	/* index of the last ICACHE_HIT record in the batch */
	uint32_t itlb_hit_record;	/* the same for ITLB_HIT */
	uint32_t wc_count, wc_open;	/* write-combining buffers; those that hold stores */
	uint64_t wc_clock;
	struct wc_line wc[INFLIGHT_MAX];

	struct cache l2;
	struct inflight l2_fill;	/* super queue */
	struct rate l1i_rate, l2_rate, l3_rate;
	uint32_t l1d_fills;		/* lines that were brought into L1D */
	struct rate read_rate, write_rate;	/* lines from memory to this core, and back */
	uint32_t l2_latency, l2_code_latency, l2_writeback_lines;
	uint32_t l2_lookup;		/* cycles from the L1 pipeline to the L2 miss: L2's latency less L1's */
	uint32_t prefetch_reserve;
	bool use_adjacent, use_streamer;
	/* memsys_prefetchers: they are off, and were set up so before */
	struct memsys_prefetchers {
		bool next_line, ip_stride, adjacent, streamer;
		uint32_t l1i_next_line, linear;
	} off;
	struct streamer streamer;
	uint32_t smc_bytes;		/* clear.smc_bytes */
	/* Bits of the last request to L2 for the load's record: a prefetcher had brought the line, other cores held it,
	 * lines were written back for it. */
	uint64_t found;
	uint64_t asker;			/* attributes of the prefetch under way: REQUEST_*, SOFTWARE */
	uint64_t code_page[CODE_PAGES / 64];	/* set of the pages that lines of L1I came from, by low bits */
	/* cycles a store takes past L1D if it misses (l1d.write_around); 0: it allocates */
	uint32_t write_around;
	uint64_t around_free;		/* cycle at which the bus has taken the last of these stores */
	uint32_t follows;		/* regions that want to know what happens to lines (memsys_follow) */
	/* fields free.*: these take no time */
	bool free_l1, free_l2, free_store, free_dtlb, free_icache, free_snoop, free_walk;
	uint32_t number;		/* how many cores were created before it */
	struct { uint64_t loads, l1, l2, l3, walks; } warmed;	/* demand misses, and page walks, that only warmed */
	struct core_config config;	/* the fields that it was created from, for memsys_reset */
};

/* The core's bit among the core-valid bits of an L3 line; the 65th core has that of the first. */
static inline uint64_t core_bit(const struct memsys *m)
{
	return UINT64_C(1) << (m->number & 63);
}

#define SIGNAL_AT(m, name, begin, end, n) \
	do { if (timed) emit_signal((m)->emitter, SPMU_SIG_##name, begin, end, n); } while (0)
/* Uncore signals.  The slice is computed only if somebody counts the signal. */
uint32_t uncore_slice(const struct memsys_shared *s, uint32_t line);
#define SLICE_AT(m, name, line, found, cycle, n) \
	do { \
		if (timed && (m)->shared->has_l3 && emit_wanted((m)->emitter, SPMU_SIG_##name)) \
			emit_uncore((m)->emitter, SPMU_SIG_##name, cycle, cycle, n, uncore_slice((m)->shared, line), \
				found, 0); \
	} while (0)
/* A request beyond L2; its attributes are computed only if somebody counts the signal.  request: REQUEST_*, SOFTWARE;
 * slot: where L3 has the line, -1: it has not. */
struct snoop;
void offcore_signal(struct memsys *m, uint64_t request, const struct snoop *others, int32_t slot, uint64_t cycle);
#define OFFCORE_AT(m, request, others, slot, cycle) \
	do { \
		if (timed && __builtin_expect(emit_wanted((m)->emitter, SPMU_SIG_OFFCORE_REQUEST), 0)) \
			offcore_signal(m, request, &(others), slot, cycle); \
	} while (0)
#define CHANNEL_AT(m, name, line, found, begin, end, attributes) \
	do { \
		if (timed) \
			emit_uncore((m)->emitter, SPMU_SIG_##name, begin, end, 1, \
				dram_channel(&(m)->shared->dram, line), found, attributes); \
	} while (0)

/* The linear line number of an address, as the L1s and their prefetchers use it. */
static inline uint64_t linear_line(const struct memsys *m, uint64_t addr)
{
	return addr >> m->line_log2 | m->line_tag;
}

/* Creates one core's part, which belongs to no machine yet. */
int  memsys_make(struct memsys **out, const struct core_config *c, struct err *err);
void memsys_unmake(struct memsys *m);
/* memsys.c, l2.c: write back everything modified and empty the structure. */
void l1d_empty(struct memsys *m, uint64_t cycle);
void wc_empty(struct memsys *m, uint64_t cycle);
void l2_empty(struct memsys *m, uint64_t cycle);
/* l3.c: writes modified lines to memory through this core, and empties L3; lines of an inclusive L3 leave the cores,
 * too. */
void l3_empty(struct memsys *m, uint64_t cycle);
int  l3_make(struct memsys_shared *s, const struct core_config *c, struct err *err);

/* translate.c */
enum translate_kind { TRANSLATE_LOAD, TRANSLATE_STORE, TRANSLATE_CODE };
/* Returns the frame (in pages) of a linear address.  Moves *cycle to the time at which it is known; adds bits to
 * *did. */
uint32_t translate(struct memsys *m, enum translate_kind kind, uint64_t addr, uint64_t *cycle, uint64_t *did,
	bool timed);
/* Returns the frame without a TLB lookup in the model: a committed store was translated when its address became
 * known. */
uint32_t translate_known(struct memsys *m, uint64_t addr);
/* Has the program touched the page?  Then it is mapped. */
bool translate_touched(struct memsys *m, uint64_t addr);
static inline uint32_t physical_line(const struct memsys *m, uint32_t frame, uint64_t vline)
{
	unsigned log2 = m->page_shift - m->line_log2;
	return frame << log2 | ((uint32_t)vline & ((1u << log2) - 1));
}

/* Was code fetched from the page, or from one with the same low bits?  Data accesses to such a page take no fast
 * path, so that stores are compared with L1I. */
static inline bool has_code(const struct memsys *m, uint64_t page)
{
	return m->code_page[page % CODE_PAGES / 64] >> (page & 63) & 1;
}

/* memsys.c: a page walk reads a table entry. */
uint64_t table_read(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);

/* l2.c.  A request that missed L1 and has a fill buffer from `cycle` on.  Returns the cycle of use.  *source: who
 * served it; *state: initial state of the L1 line (LINE_SHARED or 0). */
uint64_t l2_access(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed,
                   enum inflight_source *source, uint8_t *state);
/* Prefetches into L2.  Returns false if the super queue has no room. */
bool l2_prefetch(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* Writes a line of combined stores from a write-through L1D.  Returns when L2 has it. */
uint64_t l2_store(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* A modified line leaves L1D. */
void l2_write_back(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* Takes a shared line from the other cores for a store.  Returns when it is owned. */
uint64_t l2_upgrade(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);

/* A store that missed an L1D without write allocation.  Returns when it is written: to L2 if L2 has the line, else to
 * memory. */
uint64_t l2_write_around(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);

/* l3.c.  A request that missed L2 and has a super queue entry from `cycle` on. */
uint64_t uncore_read(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind, bool timed,
                     enum inflight_source *source, uint8_t *state);
/* Does what waits in memsys_shared.later.  Call it before anybody looks at a leader's L2, L3 or rows of memory from
 * outside, or at its `warmed`. */
void l3_settle(struct memsys_shared *s);
/* A set of L3 may change. */
static inline void l3_note(struct memsys_shared *s, uint32_t set)
{
	if (s->log.set)
		s->log.set[s->log.count++ % L3_LOG] = set;
}
/* All of them may. */
static inline void l3_note_all(struct memsys_shared *s)
{
	s->log.count += L3_LOG + 1;
}
/* A line leaves L2. */
void uncore_victim(struct memsys *m, uint32_t line, uint8_t state, uint64_t cycle, bool timed);
/* Writes a modified line to memory.  Returns when memory takes it. */
uint64_t uncore_write_back(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* Writes a line, or the set of its bytes, past the caches (non-temporal) and drops every copy.  Returns when memory
 * takes it. */
uint64_t uncore_write_around(struct memsys *m, uint32_t line, uint64_t bytes, bool in_l3, uint64_t cycle, bool timed);
/* For coherence.c: the L3 slot of a line, or -1; the state found there; the signal of a request at the line's slice. */
int32_t uncore_l3_find(struct memsys_shared *s, uint32_t line);
enum spmu_found uncore_found_in(const struct cache *c, int32_t slot);
/* elsewhere: a core has the line. */
static inline enum spmu_found uncore_found(const struct memsys_shared *s, int32_t slot, bool elsewhere)
{
	return slot < 0 && elsewhere ? SPMU_FOUND_ELSEWHERE : uncore_found_in(&s->l3, slot);
}
void uncore_lookup_signal(struct memsys *m, enum access_kind kind, uint32_t line, enum spmu_found found,
	uint64_t cycle);

/* bus.c, for machines with such a bus.  Reads a line; returns the cycle of use. */
uint64_t bus_read(struct memsys *m, uint32_t line, uint64_t cycle, enum access_kind kind);
/* Writes a line (BUS_CHUNK in attributes: so many chunks, one request to the bus unit); with BUS_READ, reads locked
 * chunks.  Returns the cycle at which the last data have been transferred. */
uint64_t bus_write(struct memsys *m, uint64_t cycle, uint64_t attributes, unsigned chunks);

/* coherence.c.  What other cores held.  asked: number of cores that must be asked, because they hold the line alone
 * or must give it up.  vain: number of cores that were asked and had nothing.  until: cycle until which the line is in
 * flight to one of them; 0: it is not. */
struct snoop { bool held, modified, shared; uint32_t asked, vain; uint64_t until; };
/* Searches the other cores.  invalidate: drops their copies and tells their pipelines; else the copies become shared
 * and clean. */
struct snoop coherence_snoop(struct memsys *m, uint32_t line, bool invalidate, uint64_t cycle, bool timed);
/* A store found the line shared: takes it from the others. */
struct snoop coherence_own(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* Records L3's snoops, by what the cores had. */
void coherence_signal(struct memsys *m, enum spmu_signal signal, uint32_t line, const struct snoop *others,
	uint64_t cycle, bool timed);
/* Takes a line from one core. */
struct snoop coherence_drop(struct memsys *m, uint32_t line);
/* L3 takes a line from all cores, because it evicts it.  named: its core-valid bits. */
struct snoop coherence_take_back(struct memsys *m, uint32_t line, uint64_t named, uint64_t cycle, bool timed);
/* The core has given the line up: its next request must not find the old one in flight. */
void coherence_forget(struct memsys *m, uint32_t line);

/* Does the core have the line? */
static inline bool coherence_holds(const struct memsys *m, uint32_t line)
{
	return cache_find(&m->l2, line) >= 0 || l1_find_physical(&m->l1d, line) >= 0 ||
		l1_find_physical(&m->l1i, line) >= 0;
}
/* l3.c.  A line has left this core: the snoop filter forgets it if no other core has it. */
void filter_leave(struct memsys *m, uint32_t line);

/* flush.c.  Takes a line out of all caches of the machine.  Modified data are lost: the caller writes them. */
struct snoop flush_line(struct memsys *m, uint32_t line, uint64_t cycle, bool timed);
/* memsys.c: stores to the line that wait in this core's write-combining buffers go out.  Returns when they have. */
uint64_t wc_flush(struct memsys *m, uint64_t vline, uint64_t cycle, bool timed);
#endif
