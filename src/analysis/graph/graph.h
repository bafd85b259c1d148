/* SPDX-License-Identifier: GPL-2.0-or-later
 * The dependence graph of a run, and how long the run would take without some of the graph's edges.
 *
 * Each slot and each of its uops has nodes: F (delivered to the uop queue), D (allocated), E (dispatched),
 * P (complete), C (retired).  Each edge has a weight in cycles.  The edges, and what they model:
 *
 *   F -> F  the front end moves on: its width, taken branches, decoding, misses of L1I and the ITLB
 *   D -> F  the uop queue has a limited number of entries
 *   P -> F  a mispredicted branch resolves; C -> F and C -> D: machine clears, serialising instructions, and
 *           times in which the thread stood still
 *   F -> D  the pipeline stages up to rename; D -> D: allocation in order, a limited number a cycle
 *   C -> D  the reorder buffer and the load buffer have a limited number of entries; a store-buffer entry is
 *           free again when its store is written
 *   E -> D  the schedulers have a limited number of entries
 *   D -> E  the pipeline stages up to the scheduler; P -> E: operands, through registers and through memory
 *   E -> E  a port takes one uop a cycle; a divider takes one in several cycles
 *   E -> P  latency of the operation or the access; P -> P: an access to a line that is already on its way
 *           waits for that line and makes no request of its own
 *   P -> E  addresses of older stores, if the load's counter of memory disambiguation makes it wait.  Each graph
 *           has its own counters.  A load that passed a store on which it depends executes again, and what
 *           follows it is fetched again; this happens where the graph says so, not where it did in the run.
 *           A load takes its data from a store that is still in the store buffer in that graph.  It becomes the
 *           stored register if its pair (core/backend/memory_pairs.h) has been seen often enough in that graph;
 *           each graph has its own pairs.
 *   P -> C  execution is done; C -> C: retirement in order, a limited number a cycle
 *
 * A node's time is the longest path to it.  It is computed for the whole graph and, at the same time, for
 * graphs in which the edges of some classes are free (struct times in graph_private.h).  One pass in program
 * order in bounded memory is enough, because no edge reaches further back than the machine's buffers do.  The
 * cost of a class is by how many cycles the last node is earlier without the class's edges.  The interaction of
 * a pair of classes is what both together save, less what each of them saves alone.
 *
 * After B. Fields, S. Rubin, R. Bodik, "Focusing Processor Policies via Critical-Path Prediction", ISCA 2001,
 * and B. Fields et al., "Using Interaction Costs for Microarchitectural Bottleneck Analysis", MICRO 2003.
 * There, port contention is a fixed latency, as measured in the run.  Here, uops compete again in every graph
 * for the port that each was bound to, because without mispredicted branches a program has more uops ready at a
 * time.  The same holds for entries of the schedulers.
 *
 * Leaves out: fewer misses would leave more buffers and bandwidth to other requests; prefetches and cache
 * contents would differ; uops would be bound to other ports.
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

/* name, what its edges are; classes that cost_events has, too, have the same name there */
#define GRAPH_CLASSES(X) \
	X(MISPREDICT,   "mispredict",   "from a mispredicted branch to what follows it") \
	X(BTB_MISS,     "btb_miss",     "decode re-steers at a branch unknown to the BTB") \
	X(L1_MISS,      "l1_miss",      "loads and stores served by L2: the time beyond a hit") \
	X(L2_MISS,      "l2_miss",      "requests served by L3 (loads, stores, code): the time beyond L2's") \
	X(L3_MISS,      "l3_miss",      "memory: reads of data, code and page tables") \
	X(DTLB_MISS,    "dtlb_miss",    "data TLB misses served by the second level") \
	X(PAGE_WALK,    "page_walk",    "all translations that took time, also those of code") \
	X(ICACHE_MISS,  "icache_miss",  "instruction fetch from L2 or L3") \
	X(NO_FORWARD,   "no_forward",   "loads that could not be forwarded to: the time beyond the store's write") \
	X(STORE_BUFFER, "store_buffer", "allocation waits for an entry of the store buffer") \
	X(WINDOW,       "window",       "allocation waits for the reorder buffer, the load buffer, the schedulers") \
	X(PORTS,        "ports",        "a uop waits for its port or unit") \
	X(FRONT_END,    "front_end",    "delivery: width, taken branches, decoding; without misses")
enum graph_class {
#define X(name, text, help) GRAPH_##name,
	GRAPH_CLASSES(X)
#undef X
	GRAPH_CLASSES_COUNT
};
extern const char *const graph_class_name[GRAPH_CLASSES_COUNT], *const graph_class_help[GRAPH_CLASSES_COUNT];

/* Whether a graph of this machine's runs can be made: 0, or ERR_UNSUPPORTED with the mechanism it lacks. */
int graph_supports(const struct core_config *c, struct err *err);

enum { GRAPH_RUNS = 128 };
struct graph;			/* of one thread */
/* free: for each graph, the set of classes (1 << enum graph_class) whose edges are free.  The first set must be
 * empty.  runs: 1 to GRAPH_RUNS. */
int graph_create(struct graph **out, const struct core_config *c, const uint32_t *free, unsigned runs, struct err *err);
void graph_destroy(struct graph *g);
/* Takes all uop records of the thread, with details (core_wanted.detail). */
void graph_batch(struct graph *g, const struct spmu_batch *b);
/* Cycle of the last node: of one graph; of the run itself, as measured. */
uint64_t graph_cycles(const struct graph *g, unsigned run);
uint64_t graph_measured(const struct graph *g);
/* Call before the first batch: what else to keep.  places: which part of a class's cost lies at which
 * instruction.  Graph i > 0 goes to path_site.saved[i - 1], for up to GRAPH_CLASSES_COUNT graphs; the parts add
 * up to the whole.  slack: the slack of instructions (graph_slack.h). */
int  graph_keep(struct graph *g, bool places, bool slack, struct err *err);
/* Ends the slack analysis and returns it; NULL if graph_keep did not ask for it. */
const struct slack *graph_slack(struct graph *g);
/* Ends the critical path of the first (whole) graph and returns it. */
struct path *graph_path(struct graph *g);
#endif
