/* SPDX-License-Identifier: GPL-2.0-or-later
 * The state of dependence graphs (graph.h), shared by the files that compute them: graph.c takes records and
 * computes the nodes of a uop; graph_flow.c has delivery, allocation, schedulers and ports; graph_memory.c has
 * loads, lines on their way and stores that are written.
 */
#ifndef ANALYSIS_GRAPH_PRIVATE_H
#define ANALYSIS_GRAPH_PRIVATE_H
#include "analysis/graph/graph.h"
#include "analysis/graph/graph_slack.h"
#include "core/record/detail.h"
#include "core/backend/memory_pairs.h"
#include "isa/isa.h"

/* sizes of rings and tables */
enum { SLOTS = 1024, LOADS = 512, RESULTS = 512, STORES = 256, FILLS = 1024, PAGES = 64, QUEUE = 256, PENDING = 64 };
enum { WINDOW = 4096 /* cycles */, FAR = 1024, POOLS = 3, UNITS = 8, BUFFERS = 64, BUCKETS = 512, LEARNT = 256 };

struct times {			/* the node times of one graph */
	uint32_t free;		/* set of classes whose edges are free */
	uint64_t fetch, alloc, retire, barrier;	/* times of the last node of each kind */
	uint64_t fetch_due;	/* what fetch would be if the uop queue had not been full */
	uint64_t ready, dispatch, complete;	/* of the last uop */
	uint32_t fetch_room, alloc_used, retire_used;
	uint64_t slot_done;
	uint64_t reg[REG_COUNT];
	uint64_t alloc_at[SLOTS], rob_free[SLOTS], lb_free[LOADS], prf_free[RESULTS];
	uint64_t addr_ready[STORES], data_ready[STORES], given[STORES], retired[STORES], written[STORES];
	uint64_t addr_known, last_written;
	/* nonzero: a load of the slot before passed a store on which it depends; fetch goes on at this cycle */
	uint64_t cleared;
	/* counters of memory disambiguation (core/backend/lsq.h), by the low bits of the load's address */
	uint8_t passes[LEARNT];
	struct pair pair[PAIRS];	/* loads and the stores from which they take their data */
	int store;		/* index of the store that gave the last load its data; -1: none */
	uint32_t written_count;
	uint64_t resolved;	/* when the last mispredicted branch resolved */
	uint64_t line[FILLS], line2[FILLS];	/* when the line arrives in L1D, in L2 */
	uint64_t walked[PAGES];	/* when the walk for a page is over */
	uint64_t unit[UNITS];
	uint64_t buffer[BUFFERS];	/* fill buffers of L1D: when each is free again */
	/* schedulers: dispatches to come, a bit a port, from cycle `walk` on; those beyond WINDOW are in `far` */
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
	/* counts so far; results: uops that took an integer register (core/backend/rename.h) */
	uint32_t slots, loads, results;
	uint32_t last_room;	/* slots left in the measured front end's cycle after the slot before */
	uint64_t barrier, line_of[FILLS], line2_of[FILLS], page_of[PAGES];
	uint8_t source_of[FILLS];	/* where the line comes from: enum inflight_source */
	unsigned buffers;
	/* latency of L3; also of accesses beyond it, in graphs in which memory takes no time */
	uint64_t l3_latency;
	bool redirected, taken, resteered;	/* what the slot before did */
	uint32_t stores;	/* number of the newest store in `store` */
	struct { uint64_t addr; uint32_t size, number; } store[STORES];
	uint32_t bucket[BUCKETS];	/* number of the newest store to these 8 bytes */
	uint32_t big;		/* number of the newest store that is too large for the buckets */
	/* details whose uops have not come yet */
	struct core_detail queue[QUEUE];
	uint32_t queue_first, queue_last;
	struct core_fill fill[PENDING];
	uint64_t began[PENDING];	/* when each pending fill got its fill buffer */
	uint32_t fills;
	uint32_t first_load, first_result, first_store;	/* first of each in the current slot */
	struct times *seen, **run;
	struct path *path;	/* the critical path of the first graph */
	struct slack *slack;	/* NULL: not asked for */
	bool places;		/* keep the classes' costs by instruction */
	/* for each class: by how many cycles its graph's last retirement is earlier than the first graph's */
	int64_t *ahead;
};

static inline uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
static inline bool free_of(const struct times *t, enum graph_class c) { return t->free >> c & 1; }

/* ---- graph_flow.c ---- */

/* The first uop of a slot came: the slot is delivered and allocated in every graph. */
void graph_slot_begins(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base);
/* The slot that is being allocated moves to `cycle`, as the first slot of that cycle. */
uint64_t graph_stalled(const struct graph *g, struct times *t, uint64_t cycle);
/* The cycle from which the scheduler has room for `more` uops, at least `cycle`. */
uint64_t graph_wait_room(const struct graph *g, struct times *t, unsigned pool, int32_t more, uint64_t cycle);
/* Takes the port in its first free cycle from `ready` on; returns that cycle. */
uint64_t graph_take_port(struct times *t, unsigned port, uint64_t ready);

/* ---- graph_memory.c ---- */

/* an access as measured; it counts from the end of a page walk that another access had begun */
struct access {
	uint64_t latency, hit, tlb, walk, memory, dispatch;
	uint64_t rest;		/* cycles beyond the latest thing that it waited for */
	int store;		/* index of the store that it waited for; -1: none */
	/* index of the youngest store to any of its bytes that may be in the buffer in some graph; -1: none */
	int older;
	bool holds;		/* that store has all its bytes */
	uint64_t forwards;	/* cycles that forwarding from it takes */
	int fill;		/* number of the pending fill that brings its line; -1: none */
	bool follows;		/* that line was already on its way to L2 */
	int line;		/* index of the line on its way; -1: none */
	int page;		/* index of the page whose walk another access had begun; -1: none */
};

/* What a load, or a store's address uop, waited for, as measured. */
void graph_measure_store(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base,
	struct access *a);
void graph_measure_load(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base,
	struct access *a);
/* When a store's address uop that was dispatched at `cycle` is complete. */
uint64_t graph_addressed(const struct graph *g, const struct times *t, const struct access *a, uint64_t did,
	uint64_t cycle);
/* An access that walked the page tables was dispatched at `cycle`: records until when other accesses wait for
 * that walk; graph_walk_seen does so for the run itself. */
void graph_walks(const struct graph *g, struct times *t, const struct access *a, const struct spmu_record *r,
	uint64_t cycle);
void graph_walk_seen(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base);
/* Whether a load whose operands are ready must wait for older stores with unknown addresses. */
bool graph_load_waits(const struct graph *g, const struct times *t, uint64_t ip, uint64_t ready);
/* When a load is complete.  Its operands were ready at `alone`; it was dispatched at *cycle, which moves later
 * if the load has to execute again.  Sets t->store to the store that gave it its data. */
uint64_t graph_loaded(const struct graph *g, struct times *t, const struct access *a, const struct spmu_record *r,
	uint64_t alone, uint64_t *cycle);
/* When the load's result is ready: when the stored register is, if the load may become it; else `complete`. */
uint64_t graph_renamed(const struct graph *g, struct times *t, const struct spmu_record *r, uint64_t complete);
/* A line was requested in the run: it becomes pending. */
void graph_line_seen(struct graph *g, const struct core_fill *f);
/* An access that was dispatched at `cycle` requests the pending lines in this graph. */
void graph_access_asks(const struct graph *g, struct times *t, const struct access *a, uint64_t cycle);
/* The run itself has requested all pending lines: none is pending any more. */
void graph_lines_asked(struct graph *g);
/* A store left the store buffer. */
void graph_written(struct graph *g, const struct core_written *w);
#endif
