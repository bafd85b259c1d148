/* SPDX-License-Identifier: GPL-2.0-or-later
 * The dependence graph of a run, and what it would take without some of its edges.
 *
 * Nodes of each slot and its uops: F (delivered to the uop queue), D (allocated), E (dispatched), P (complete), C (retired).  Edges, with the cycles
 * that they take:
 *
 *   F -> F  the front end goes on: its width, taken branches, decoding, misses of L1I and of the TLB
 *   D -> F  the uop queue holds so many slots
 *   P -> F  a mispredicted branch resolves; C -> F, C -> D  clears, serialising instructions, the thread stood still
 *   F -> D  the way to rename; D -> D  in order, so many a cycle
 *   C -> D  the reorder buffer and the load buffer hold so many; the store buffer: from when a store is written
 *   E -> D  the schedulers hold so many
 *   D -> E  the way to the scheduler; P -> E  operands, in registers and through memory
 *   E -> E  a port takes one uop a cycle, a divider one in several
 *   E -> P  latency of the operation or the access; P -> P  a line on its way is waited for, not asked for again
 *   P -> E  addresses of older stores, if the load's counter of memory disambiguation has it wait; that counter is each graph's own.  A load that
 *           passed a store which it depends on goes again, and what follows it is fetched anew: in graphs in which that happens, not where it did in the run.
 *           A load has its data from a store that is still in the buffer in that graph, and becomes the stored register if its pair (core/backend/memory_pairs.h), each
 *           graph's own, has been seen often enough there
 *   P -> C  done; C -> C  in order, so many a cycle
 *
 * A node's time is the longest path to it.  That is worked out for the whole graph and, beside it, for graphs in which edges of some classes are free
 * (struct graph_run): in one pass in program order, in bounded memory, as every edge comes from a node not further back than the machine's buffers reach.
 * A class costs what the last node is earlier without its edges; a pair's interaction is what both save less what each saves.
 *
 * After B. Fields, S. Rubin, R. Bodik, "Focusing Processor Policies via Critical-Path Prediction", ISCA 2001, and B. Fields et al., "Using Interaction Costs
 * for Microarchitectural Bottleneck Analysis", MICRO 2003.  There contention for ports is a latency as it was found; here uops compete for the port that each
 * was bound to, in every graph anew, for without its mispredicted branches a program has more of them at a time; likewise entries of the schedulers.
 *
 * Leaves out: that fewer misses leave more buffers and bandwidth to others; what is prefetched otherwise, what the caches hold otherwise; ports bound otherwise.
 */
#ifndef ANALYSIS_GRAPH_H
#define ANALYSIS_GRAPH_H
#include "analysis/graph/graph_path.h"
#include "analysis/graph/graph_slack.h"
#include "core/machine/config.h"
#include "softpmu/record.h"
#include "util/err.h"
#include <stdbool.h>
#include <stdint.h>

#define GRAPH_CLASSES(X) /* name, what its edges are; those of cost_events are called as there */ \
	X(MISPREDICT,   "mispredict",   "from a mispredicted branch to what follows it") \
	X(BTB_MISS,     "btb_miss",     "decode re-steers at a branch unknown to the BTB") \
	X(L1_MISS,      "l1_miss",      "loads and stores served by L2: what they take more than a hit") \
	X(L2_MISS,      "l2_miss",      "requests served by L3, of loads, stores and code: what they take more than from L2") \
	X(L3_MISS,      "l3_miss",      "memory: reads of data, code and page tables") \
	X(DTLB_MISS,    "dtlb_miss",    "data TLB misses served by the second level") \
	X(PAGE_WALK,    "page_walk",    "all translations that took time, those of code too") \
	X(ICACHE_MISS,  "icache_miss",  "instruction fetch from L2 or L3") \
	X(NO_FORWARD,   "no_forward",   "loads that could not be forwarded to: what they take more than the write") \
	X(STORE_BUFFER, "store_buffer", "allocation waits for an entry of the store buffer") \
	X(WINDOW,       "window",       "allocation waits for the reorder buffer, the load buffer, the schedulers") \
	X(PORTS,        "ports",        "a uop waits for its port or unit") \
	X(FRONT_END,    "front_end",    "delivery: width, taken branches, decoding; misses apart")
enum graph_class {
#define X(name, text, help) GRAPH_##name,
	GRAPH_CLASSES(X)
#undef X
	GRAPH_CLASSES_COUNT
};
extern const char *const graph_class_name[GRAPH_CLASSES_COUNT], *const graph_class_help[GRAPH_CLASSES_COUNT];

/* A graph of this machine's runs can be made; ERR_UNSUPPORTED names what cannot. */
int graph_supports(const struct core_config *c, struct err *err);

enum { GRAPH_RUNS = 128 };
struct graph;			/* of one thread */
/* free: of each graph to be worked out, the set of classes (1 << enum graph_class) whose edges are free.  The first is to have none. */
int  graph_create(struct graph **out, const struct core_config *c, const uint32_t *free, unsigned runs, struct err *err);
void graph_destroy(struct graph *g);
/* All uop records of the thread, with details (core_wanted.detail). */
void graph_batch(struct graph *g, const struct spmu_batch *b);
/* Cycle of the last node of a graph; of the run itself. */
uint64_t graph_cycles(const struct graph *g, unsigned run);
uint64_t graph_measured(const struct graph *g);
/* Before the first batch, what else is kept.  places: which part of the cost of graph i > 0 is at which instruction: path_site.saved[i - 1], for as many
 * graphs as there are classes; they sum up to the whole.  slack: of instructions, graph_slack.h. */
int  graph_keep(struct graph *g, bool places, bool slack, struct err *err);
/* Ends it; NULL: it was not kept. */
const struct slack *graph_slack(struct graph *g);
/* The critical path of the first, the whole one; ends it. */
struct path *graph_path(struct graph *g);
#endif
