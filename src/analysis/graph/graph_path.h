/* SPDX-License-Identifier: GPL-2.0-or-later
 * The critical path of a run's dependence graph (graph.h): which kinds of edges it consists of, and at which
 * instructions they lie.
 *
 * Each node is kept with the edge that arrived last at it.  From the last retirement of a window of uops, the
 * path is followed back along these edges.  The part in the older half of the window is charged, in cycles, to the
 * kind of each edge and to the instruction that waited; the younger half belongs to the next window.  (Paths
 * that begin at different nodes soon meet; the younger half gives them room for that.)
 *
 * Leaves out: slack of what is not on the path (graph_slack.h).  When a uop waited for a scheduler entry, the
 * path does not go to the uop that freed the entry; it goes to the slot before.
 */
#ifndef ANALYSIS_GRAPH_PATH_H
#define ANALYSIS_GRAPH_PATH_H
#include "softpmu/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, what the cycles are */
#define PATH_KINDS(X) \
	X(FRONT_END,  "front-end",  "delivery and the stages up to allocation") \
	X(ICACHE,     "icache",     "fetch waits for L1I or the TLB") \
	X(MISPREDICT, "mispredict", "from a branch that resolves to what follows it") \
	X(SERIAL,     "serialize", \
	  "clears, serialising and locked instructions, times when the thread stood still") \
	X(QUEUE,      "queue",      "the uop queue is full") \
	X(ALLOCATE,   "allocate", \
	  "allocation in order, a limited number a cycle; and the stages up to the scheduler") \
	X(WINDOW,     "window",     "the reorder buffer, the load buffer or a scheduler is full") \
	X(STORES,     "store-buffer", "the store buffer is full") \
	X(PORT,       "ports",      "a port or unit is taken") \
	X(EXECUTE,    "execute",    "latency of operations, and of stores' addresses") \
	X(FORWARD,    "forwarding", "loads that wait for older stores, or get their data from one") \
	X(L1D,        "l1d",        "loads that hit L1D") \
	X(L2,         "l2",         "loads served by L2") \
	X(L3,         "l3",         "loads served by L3") \
	X(MEMORY,     "memory",     "loads served by memory") \
	X(LINE_L2,    "lfb-l2",     "loads of a line that is on its way from L2") \
	X(LINE_L3,    "lfb-l3",     "loads of a line that is on its way from L3") \
	X(LINE_MEMORY, "lfb-memory", "loads of a line that is on its way from memory") \
	X(LINE,       "lfb",        "loads of a line that is on its way, of which nothing else is known") \
	X(RETIRE,     "retire",     "retirement in order, a limited number a cycle")
enum path_kind {
#define X(name, text, help) PATH_##name,
	PATH_KINDS(X)
#undef X
	PATH_KINDS_COUNT
};
extern const char *const path_kind_name[PATH_KINDS_COUNT], *const path_kind_help[PATH_KINDS_COUNT];

#define PATH_NO_LINE UINT64_MAX
enum { PATH_ASKED = 4, PATH_CLASSES = 16 };

/* one uop of the whole graph: the times of its nodes and of what they may have waited for */
struct path_uop {
	uint64_t ip, is, did;
	uint8_t  src[4], dst[3];
	bool first, last;	/* of its slot */
	bool result;		/* it took an integer register */
	bool stored, copied, redirected, still, code, alone;
	uint64_t fetch, alloc, ready, dispatch, complete, retire;
	/* times before it */
	uint64_t fetch_before, alloc_before, retire_before, resolved, queue, rob, load_buffer, prf, store_buffer,
		reg[4], known, data;
	uint32_t slots, idq_size, rob_size;
	uint32_t frontend_latency, dispatch_delay, redirect;
	int store;		/* index of the store that it writes or was forwarded from; -1: none */
	/* what only graph_slack.c needs */
	bool waits, far;	/* it waits for addresses of stores; it waits for the last retirement */
	uint32_t number;	/* number of its store */
	uint32_t load_buffer_size, prf_size, store_buffer_size, retire_latency;
	/* fetch if the uop queue were not full; alloc without what this uop waits for */
	uint64_t fetch_due, alloc_slot;
	uint32_t alloc_width, retire_width;
	/* alloc of the slot before; the cycle after alloc or retire of the slot one width before; 0: none */
	uint64_t alloc_last, alloc_group, retire_group;
	int blocked;		/* index of the store that must be written first, at cycle `written`; -1: none */
	uint64_t written;
	/* the line on its way (PATH_NO_LINE: none), when it arrives, and cycles of a hit */
	uint64_t line_of, line, hit;
	enum path_kind line_from;	/* PATH_LINE_L2 to PATH_LINE_MEMORY, if there is such a line */
	unsigned asks;
	uint64_t asked[PATH_ASKED];	/* lines that it requests */
};

struct path;			/* one for each thread */
struct path *path_create(void);	/* NULL: out of memory */
void path_destroy(struct path *p);
void path_uop(struct path *p, const struct path_uop *u);	/* in program order */
/* Charges what is left. */
void path_end(struct path *p);
uint64_t path_cycles(const struct path *p, enum path_kind k);
/* executed instructions: all; those with slack of 0, below 5, below 50 cycles; sum of slack (graph_slack.h) */
struct slack_counts { uint64_t count, none, below_5, below_50, sum; };
struct path_site {
	uint64_t ip, cycles, kind[PATH_KINDS_COUNT];
	int64_t saved[PATH_CLASSES];	/* the part of each class's cost (graph.h) at its retirement */
	struct slack_counts slack[2];	/* enum slack_which */
};
/* The instruction at that address; made if there is none.  Valid until the next one is made.  NULL: out of memory. */
struct path_site *path_site(struct path *p, uint64_t ip);
/* All instructions, most cycles on the path first.  This call sorts them. */
const struct path_site *path_sites(struct path *p, size_t *count);
bool path_failed(const struct path *p);	/* memory ran out: some instructions are missing from the sites */
#endif
