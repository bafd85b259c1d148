/* SPDX-License-Identifier: GPL-2.0-or-later
 * The call graph with costs that `softpmu callgrind` writes, from the records of a run.
 *
 * Costs by instruction, as Callgrind names them: Ir instructions; Dr, Dw loads and stores (uops); I1mr fetches that
 * missed
 * L1I, ILmr those that missed L2 too (what L3 did with them is not recorded); D1mr, D1mw accesses that missed L1D;
 * DLmr,
 * DLmw those that missed L3; Bc, Bcm conditional branches, mispredicted ones; Bi, Bim indirect ones without returns. 
 * All
 * are of the modelled core, with its prefetchers and store queue, and not of Callgrind's simulated caches.  Cycles:
 * each
 * is charged to the instruction that retires at its end.
 *
 * Calls are followed as run/watch/calls.h does: by the stack slot of the return address.  A call of a function that is
 * active already has no cost of its own: it is part of the first call's.  A jump from one function into
 * another is no call; what it costs belongs to the function that was called.
 */
#ifndef CALLGRIND_GRAPH_H
#define CALLGRIND_GRAPH_H
#include "run/run.h"
#include "symbols/symbols.h"
#include <stdio.h>

#define CALLGRIND_COSTS(X) X(Ir) X(Dr) X(Dw) X(I1mr) X(D1mr) X(D1mw) X(ILmr) X(DLmr) X(DLmw) X(Bc) X(Bcm) X(Bi) X(Bim) \
	X(Cycles)
enum callgrind_cost {
#define X(name) CALLGRIND_##name,
	CALLGRIND_COSTS(X)
#undef X
	CALLGRIND_KINDS
};
enum { CALLGRIND_NONE = UINT32_MAX };

struct callgrind_function {
	char *name;
	struct symbols_place at;
	uint64_t start;		/* in its object */
	bool toggles;		/* collecting begins and ends with it */
};
struct callgrind_node {		/* an instruction, or the calls from it to one function */
	uint64_t ip;
	uint32_t function, callee;	/* callee CALLGRIND_NONE: the instruction itself */
	struct symbols_place at;
	uint64_t calls, cost[CALLGRIND_KINDS];
};
struct callgrind_graph {	/* of a process, or of a thread */
	uint32_t pid, thread;
	struct callgrind_node *node;
	size_t nodes, room;
	uint32_t *slot;
	size_t slots;
	uint64_t total[CALLGRIND_KINDS];	/* since the last dump, or the program's request for zero */
	uint64_t dumped[CALLGRIND_KINDS];	/* of all dumps before */
	unsigned dumps;
};
struct callgrind_run {
	/* set by the caller */
	struct symbols *symbols;
	bool separate;		/* a graph for each thread */
	const char *const *toggle;	/* patterns of function names */
	size_t toggles;
	bool instruments, collects;	/* at the start */
	/* read by the caller */
	struct callgrind_function *function;
	size_t functions, function_room;
	struct callgrind_graph **graph;
	size_t graphs, graph_room;
	bool failed;		/* no memory */
	/* private */
	uint32_t *slot;
	size_t slots;
	struct callgrind_thread **thread;
	size_t threads, thread_room;
};

int  callgrind_thread_start(struct callgrind_run *r, struct run_thread *t);
/* t NULL: some thread that has not ended. */
void callgrind_thread_end(struct callgrind_run *r, const struct run_thread *t);
void callgrind_batch(struct callgrind_run *r, const struct run_thread *t, const struct spmu_batch *b);
/* A request of the program.  Returns the graph that it wants dumped now, or NULL. */
struct callgrind_graph *callgrind_request(struct callgrind_run *r, const struct run_thread *t,
	const struct st_client *request, const char *name);
/* Forgets the graph's costs. */
void callgrind_zero(struct callgrind_graph *g);
void callgrind_free(struct callgrind_run *r);

struct callgrind_format {
	bool cache, branches, cycles, instr, line, compress;
	bool behind;		/* a part behind others of the same file, which has its head */
	const char *command, *trigger;
};
/* Writes callgrind.out; a failed write shows in ferror. */
void callgrind_write(FILE *to, const struct callgrind_run *r, const struct callgrind_graph *g,
	const struct callgrind_format *f);
/* Whether the format has this column. */
bool callgrind_has(const struct callgrind_format *f, unsigned kind);
extern const char *const callgrind_cost_name[CALLGRIND_KINDS];
#endif
