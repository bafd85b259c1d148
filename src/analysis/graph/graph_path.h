/* SPDX-License-Identifier: GPL-2.0-or-later
 * The critical path of a run's dependence graph (graph.h): which edges it consists of, and at which instructions.
 *
 * Each node is kept with the edge that arrived last at it.  From the last retirement of a window the path goes back along these; what of it lies in the
 * window's older half is charged, to the kind of each edge and to the instruction that waited, in cycles; the younger half is the next window's.  (Paths
 * that begin at different nodes soon meet, which is what the other half is for.)
 *
 * Leaves out: slack of what is not on the path (graph_slack.h); who gave the entry of a scheduler back that was waited for (the path goes on with the slot before).
 */
#ifndef ANALYSIS_GRAPH_PATH_H
#define ANALYSIS_GRAPH_PATH_H
#include "softpmu/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_KINDS(X) /* name, what the cycles are */ \
	X(FRONT_END,  "front-end",  "delivery and the way to allocation") \
	X(ICACHE,     "icache",     "fetch waits for L1I or the TLB") \
	X(MISPREDICT, "mispredict", "from a branch that resolves to what follows it") \
	X(SERIAL,     "serialize",  "clears, serialising and locked instructions, the thread stood still") \
	X(QUEUE,      "queue",      "the uop queue is full") \
	X(ALLOCATE,   "allocate",   "allocation, in order, so many a cycle; and the way to the scheduler") \
	X(WINDOW,     "window",     "the reorder buffer, the load buffer or a scheduler is full") \
	X(STORES,     "store-buffer", "the store buffer is full") \
	X(PORT,       "ports",      "a port or unit is taken") \
	X(EXECUTE,    "execute",    "latency of operations, and of stores' addresses") \
	X(FORWARD,    "forwarding", "loads that wait for older stores, or get their data from one") \
	X(L1D,        "l1d",        "loads that hit L1D") \
	X(L2,         "l2",         "loads served by L2") \
	X(L3,         "l3",         "loads served by L3") \
	X(MEMORY,     "memory",     "loads served by memory") \
	X(LINE,       "lfb",        "loads of a line on its way") \
	X(RETIRE,     "retire",     "retirement, in order, so many a cycle")
enum path_kind {
#define X(name, text, help) PATH_##name,
	PATH_KINDS(X)
#undef X
	PATH_KINDS_COUNT
};
extern const char *const path_kind_name[PATH_KINDS_COUNT], *const path_kind_help[PATH_KINDS_COUNT];

#define PATH_NO_LINE UINT64_MAX
enum { PATH_ASKED = 4, PATH_CLASSES = 16 };

struct path_uop {		/* one, of the whole graph: times of its nodes, and of what they may have waited for */
	uint64_t ip, is, did;
	uint8_t  src[4], dst[3];
	bool first, last;	/* of its slot */
	bool result;		/* it took an integer register */
	bool stored, copied, redirected, still, code, alone;
	uint64_t fetch, alloc, ready, dispatch, complete, retire;
	/* before it */
	uint64_t fetch_before, alloc_before, retire_before, resolved, queue, rob, load_buffer, prf, store_buffer, reg[4], known, data;
	uint32_t slots, idq_size, rob_size;
	uint32_t frontend_latency, dispatch_delay, redirect;
	int store;		/* index of the store that it stores or was forwarded from; -1 */
	/* what slack needs beyond that */
	bool waits, far;	/* for addresses of stores; for the last retirement */
	uint32_t number;	/* of its store */
	uint32_t load_buffer_size, prf_size, store_buffer_size, retire_latency;
	uint64_t fetch_due, alloc_slot;	/* fetch without a full queue; alloc without what this uop waits for */
	uint32_t alloc_width, retire_width;
	uint64_t alloc_last, alloc_group, retire_group;	/* alloc of the slot before; the cycle behind those of the slots so many before; 0: none */
	int blocked;		/* index of the store that has to be written first, which it is at `written`; -1 */
	uint64_t written;
	uint64_t line_of, line, hit;	/* the line on its way, when it is there, and what a hit takes; PATH_NO_LINE */
	unsigned asks;
	uint64_t asked[PATH_ASKED];	/* lines that it asks for */
};

struct path;			/* of one thread */
struct path *path_create(void);	/* NULL: out of memory */
void path_destroy(struct path *p);
void path_uop(struct path *p, const struct path_uop *u);	/* in program order */
/* What is left is charged. */
void path_end(struct path *p);
uint64_t path_cycles(const struct path *p, enum path_kind k);
struct slack_counts { uint64_t count, none, below_5, below_50, sum; };	/* executed instructions; with slack of 0, below 5, below 50 cycles; graph_slack.h */
struct path_site {
	uint64_t ip, cycles, kind[PATH_KINDS_COUNT];
	int64_t saved[PATH_CLASSES];	/* of the classes' cost (graph.h), what is at its retirement */
	struct slack_counts slack[2];	/* enum slack_which */
};
/* The one of that address, made if there is none; until the next is made.  NULL: out of memory. */
struct path_site *path_site(struct path *p, uint64_t ip);
/* Instructions on it, most cycles first; sorted by this call. */
const struct path_site *path_sites(struct path *p, size_t *count);
bool path_failed(const struct path *p);	/* memory ran out: instructions are missing */
#endif
