/* SPDX-License-Identifier: GPL-2.0-or-later
 * The state of dependence graphs (graph.h), for the units that work them out: graph.c takes records and does the nodes of a uop, graph_flow.c delivery,
 * allocation, schedulers and ports, graph_memory.c loads, lines on their way and stores that are written.
 */
#ifndef ANALYSIS_GRAPH_PRIVATE_H
#define ANALYSIS_GRAPH_PRIVATE_H
#include "analysis/graph/graph.h"
#include "analysis/graph/graph_slack.h"
#include "core/record/detail.h"
#include "core/backend/memory_pairs.h"
#include "isa/isa.h"

enum { SLOTS = 1024, LOADS = 512, RESULTS = 512, STORES = 256, WINDOW = 4096, FAR = 1024, POOLS = 3, FILLS = 1024, UNITS = 8, BUFFERS = 64, BUCKETS = 512, LEARNT = 256, PAGES = 64, QUEUE = 256, PENDING = 64 };

struct times {			/* of one graph */
	uint32_t free;		/* set of classes */
	uint64_t fetch, alloc, retire, barrier;	/* the last of each */
	uint64_t fetch_due;	/* fetch, without a full queue */
	uint64_t ready, dispatch, complete;	/* of the last uop */
	uint32_t fetch_room, alloc_used, retire_used;
	uint64_t slot_done;
	uint64_t reg[REG_COUNT];
	uint64_t alloc_at[SLOTS], rob_free[SLOTS], lb_free[LOADS], prf_free[RESULTS];
	uint64_t addr_ready[STORES], data_ready[STORES], given[STORES], retired[STORES], written[STORES];
	uint64_t addr_known, last_written;
	uint64_t cleared;	/* a load of the slot before passed a store that it depends on: fetch goes on at this cycle; 0 */
	uint8_t passes[LEARNT];	/* counters of memory disambiguation (core/backend/lsq.h), by the low bits of the load's address */
	struct pair pair[PAIRS];	/* loads and the stores that they take their data from */
	int store;		/* index of the one that gave the last load its data; -1: none */
	uint32_t written_count;
	uint64_t resolved;	/* the last mispredicted branch */
	uint64_t line[FILLS], line2[FILLS];	/* when it is there, in L1D, in L2 */
	uint64_t walked[PAGES];	/* when the walk for a page is over */
	uint64_t unit[UNITS];
	uint64_t buffer[BUFFERS];	/* fill buffers of L1D: from when each is free */
	/* schedulers: dispatches to come, a bit a port */
	uint64_t walk;
	int32_t room[POOLS];
	uint32_t far_count;
	uint16_t used[WINDOW];
	struct { uint64_t cycle; uint32_t port; } far[FAR];
};

struct graph {
	struct core_config c;
	unsigned runs;
	uint16_t pool_ports[POOLS];
	int32_t group_room;
	uint32_t slots, loads, results;	/* so far; results: that took an integer register (core/backend/rename.h) */
	uint32_t last_room;	/* of the measured front end, behind the slot before */
	uint64_t barrier, line_of[FILLS], line2_of[FILLS], page_of[PAGES];
	unsigned buffers;
	uint64_t l3_latency;	/* of L3, and of what lies beyond when memory takes no time */
	bool redirected, taken, resteered;	/* by the slot before */
	uint32_t stores;	/* number of the newest; that of `store` */
	struct { uint64_t addr; uint32_t size, number; } store[STORES];
	uint32_t bucket[BUCKETS];	/* number of the newest store to these 8 bytes; */
	uint32_t big;		/* of the newest one too large to be there */
	/* details whose uops have not come */
	struct core_detail queue[QUEUE];
	uint32_t queue_first, queue_last;
	struct core_fill fill[PENDING];
	uint64_t began[PENDING];	/* when each had its fill buffer */
	uint32_t fills;
	uint32_t first_load, first_result, first_store;	/* of the slot */
	struct times *seen, **run;
	struct path *path;	/* of the first */
	struct slack *slack;	/* NULL: nobody asks */
	bool places;		/* the classes' costs are kept by instruction */
	int64_t *ahead;		/* of each graph of a class: cycles that the last retirement is earlier than the first graph's */
};

static inline uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
static inline bool free_of(const struct times *t, enum graph_class c) { return t->free >> c & 1; }

/* ---- graph_flow.c ---- */

/* The first uop of a slot came: it is delivered and allocated. */
void graph_slot_begins(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base);
/* The slot being allocated moves to `cycle`, as the first of it. */
uint64_t graph_stalled(const struct graph *g, struct times *t, uint64_t cycle);
/* Waits until the scheduler has room for `more`; the cycle from which on it has. */
uint64_t graph_wait_room(const struct graph *g, struct times *t, unsigned pool, int32_t more, uint64_t cycle);
/* The cycle from `ready` on in which the port is free; it is taken. */
uint64_t graph_take_port(struct times *t, unsigned port, uint64_t ready);

/* ---- graph_memory.c ---- */

struct access {			/* as measured, from when a walk that another access had begun was over */
	uint64_t latency, hit, tlb, walk, memory, dispatch;
	uint64_t rest;		/* beyond the latest of what it waited for */
	int store;		/* index of the one that it waited for; -1: of none */
	int older;		/* of the youngest one to any of its bytes that may be in the buffer in a graph; -1 */
	bool holds;		/* it has all of them */
	uint64_t forwards;	/* what that takes */
	int fill;		/* number of the pending one that brings its line; -1 */
	bool follows;		/* which was on its way to L2 */
	int line;		/* index of the line on its way; -1 */
	int page;		/* of the page whose walk another access had begun; -1 */
};

/* What a load, or a store's address, waited for, as measured. */
void graph_measure_store(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base, struct access *a);
void graph_measure_load(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base, struct access *a);
/* A store's address, dispatched at `cycle`: complete. */
uint64_t graph_addressed(const struct graph *g, const struct times *t, const struct access *a, uint64_t did, uint64_t cycle);
/* An access that walked the page tables was dispatched at `cycle`, `seen` in the run: until when others wait for that. */
void graph_walks(const struct graph *g, struct times *t, const struct access *a, const struct spmu_record *r, uint64_t cycle);
void graph_walk_seen(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base);
/* Whether a load whose operands are ready waits for older stores whose addresses are not known. */
bool graph_load_waits(const struct graph *g, const struct times *t, uint64_t ip, uint64_t ready);
/* A load whose operands were ready at `alone` and which was dispatched at *cycle, later if it has to go again: complete; the store that gave it its data. */
uint64_t graph_loaded(const struct graph *g, struct times *t, const struct access *a, const struct spmu_record *r, uint64_t alone, uint64_t *cycle);
/* It may become the stored register: when that is there, or `complete`. */
uint64_t graph_renamed(const struct graph *g, struct times *t, const struct spmu_record *r, uint64_t complete);
/* A line was asked for in the run: it is pending. */
void graph_line_seen(struct graph *g, const struct core_fill *f);
/* An access dispatched at `cycle` asked for the pending lines. */
void graph_access_asks(const struct graph *g, struct times *t, const struct access *a, uint64_t cycle);
/* In the run all that are pending are asked for; they are so no longer. */
void graph_lines_asked(struct graph *g);
/* A store left the buffer. */
void graph_written(struct graph *g, const struct core_written *w);
#endif
