/* SPDX-License-Identifier: GPL-2.0-or-later
 * Collects the call graph (callgrind_graph.h). */
#include "cli/callgrind/callgrind_graph.h"
#include "softpmu/client.h"
#include "util/grow.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 4096 };

struct frame {
	uint64_t stack, site;	/* where the return address is; the call's ip */
	uint32_t function;	/* that was called */
	bool toggled, counted;
	bool again;		/* the function was active already: its costs are part of that call's */
	uint64_t from[CALLGRIND_KINDS];
};
struct callgrind_thread {
	struct run_thread *run;
	struct callgrind_graph *graph;
	bool instruments, collects;
	bool resumed;		/* nothing has retired since instrumentation began: no time has passed */
	uint64_t last;		/* cycle of the last retirement */
	uint64_t ip;		/* of the instruction that retires */
	uint32_t node;		/* its node */
	uint64_t stack;		/* address of its last store or load */
	uint64_t sum[CALLGRIND_KINDS];
	uint32_t *active;	/* by function: frames of it */
	size_t actives;
	size_t depth;
	struct frame frame[FRAMES];
};

static uint64_t hash(uint64_t ip, uint32_t callee)
{
	const uint64_t h = (ip ^ (uint64_t)callee << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* ---- functions and instructions -------------------------------------------------------------------------- */

/* The function of a place, made if it is new; CALLGRIND_NONE: no memory. */
static uint32_t function_of(struct callgrind_run *r, const struct symbols_place *at)
{
	/* instructions without a symbol share one function for each object */
	const uint64_t start = at->symbol ? at->symbol->start : UINT64_MAX;
	for (size_t i = r->functions; i-- > 0;)		/* few, and asked for once an instruction */
		if (r->function[i].start == start && r->function[i].at.object == at->object)
			return (uint32_t)i;
	struct callgrind_function *grown = grow_array(r->function, r->functions, &r->function_room, 64, sizeof *grown);
	char *name = grown ? strdup(at->symbol ? at->symbol->name : "(no symbol)") : NULL;
	if (grown)
		r->function = grown;
	if (!name)
		return CALLGRIND_NONE;
	struct callgrind_function f = { .name = name, .at = *at, .start = start };
	for (size_t i = 0; i < r->toggles; i++)
		f.toggles |= !fnmatch(r->toggle[i], name, 0);
	grown[r->functions] = f;
	return (uint32_t)r->functions++;
}

static bool grow_slots(struct callgrind_graph *g)
{
	const size_t slots = g->slots ? 2 * g->slots : 4096;
	uint32_t *slot = calloc(slots, sizeof *slot);
	if (!slot)
		return false;
	for (size_t i = 0; i < g->nodes; i++) {
		size_t at = hash(g->node[i].ip, g->node[i].callee) & (slots - 1);
		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(g->slot);
	g->slot = slot;
	g->slots = slots;
	return true;
}

/* The node's index, made if it is new; CALLGRIND_NONE: no memory. */
static uint32_t node_of(struct callgrind_run *r, struct callgrind_graph *g, uint64_t ip, uint32_t callee)
{
	if (2 * (g->nodes + 1) > g->slots && !grow_slots(g)) {
		r->failed = true;
		return CALLGRIND_NONE;
	}
	size_t at = hash(ip, callee) & (g->slots - 1);
	while (g->slot[at] && (g->node[g->slot[at] - 1].ip != ip || g->node[g->slot[at] - 1].callee != callee))
		at = (at + 1) & (g->slots - 1);
	if (g->slot[at])
		return g->slot[at] - 1;
	struct callgrind_node *grown = grow_array(g->node, g->nodes, &g->room, 1024, sizeof *grown);
	struct callgrind_node new = { .ip = ip, .callee = callee };
	if (grown)
		g->node = grown;
	symbols_resolve(r->symbols, g->pid, ip, UINT64_MAX, &new.at);
	new.function = grown ? function_of(r, &new.at) : CALLGRIND_NONE;
	if (new.function == CALLGRIND_NONE) {
		r->failed = true;
		return CALLGRIND_NONE;
	}
	grown[g->nodes] = new;
	g->slot[at] = (uint32_t)++g->nodes;
	return (uint32_t)g->nodes - 1;
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

/* Ends the topmost call. */
static void pop(struct callgrind_run *r, struct callgrind_thread *t)
{
	const struct frame *f = &t->frame[--t->depth];
	t->active[f->function]--;
	if (f->counted) {
		const uint32_t n = node_of(r, t->graph, f->site, f->function);
		if (n == CALLGRIND_NONE)
			return;
		t->graph->node[n].calls++;
		for (unsigned k = 0; k < CALLGRIND_KINDS && !f->again; k++)
			t->graph->node[n].cost[k] += t->sum[k] - f->from[k];
	}
	if (f->toggled)
		t->collects = !t->collects;
}

static void pop_to(struct callgrind_run *r, struct callgrind_thread *t, uint64_t stack)
{
	while (t->depth && t->frame[t->depth - 1].stack <= stack)
		pop(r, t);
}

static void call(struct callgrind_run *r, struct callgrind_thread *t, uint64_t target)
{
	const uint32_t entry = node_of(r, t->graph, target, CALLGRIND_NONE);
	if (entry == CALLGRIND_NONE)
		return;
	if (t->stack)
		pop_to(r, t, t->stack);
	if (t->depth == FRAMES)		/* deeper calls belong to their callers */
		return;
	const uint32_t function = t->graph->node[entry].function;
	if (function >= t->actives) {
		const size_t room = 2 * (size_t)function + 64;
		uint32_t *grown = realloc(t->active, room * sizeof *grown);
		if (!grown) {
			r->failed = true;
			return;
		}
		memset(grown + t->actives, 0, (room - t->actives) * sizeof *grown);
		t->active = grown;
		t->actives = room;
	}
	struct frame *f = &t->frame[t->depth++];
	*f = (struct frame){ .stack = t->stack, .site = t->ip, .function = function,
		.again = t->active[function]++,
		.toggled = r->function[function].toggles };
	if (f->toggled)
		t->collects = !t->collects;
	f->counted = t->instruments && t->collects;
	memcpy(f->from, t->sum, sizeof f->from);
}

/* ---- the run ---------------------------------------------------------------------------------------------- */

static struct callgrind_thread *find(const struct callgrind_run *r, const struct run_thread *t)
{
	for (size_t i = 0; i < r->threads; i++)
		if (r->thread[i]->run == t)
			return r->thread[i];
	return NULL;
}

static struct callgrind_graph *graph_of(struct callgrind_run *r, uint32_t pid)
{
	uint32_t thread = 1;
	for (size_t i = 0; i < r->graphs; i++)
		if (r->graph[i]->pid == pid) {
			if (!r->separate)
				return r->graph[i];
			thread++;
		}
	struct callgrind_graph **grown = grow_array(r->graph, r->graphs, &r->graph_room, 8, sizeof *grown);
	struct callgrind_graph *g = grown ? calloc(1, sizeof *g) : NULL;
	if (grown)
		r->graph = grown;
	if (!g)
		return NULL;
	g->pid = pid;
	g->thread = thread;
	return grown[r->graphs++] = g;
}

int callgrind_thread_start(struct callgrind_run *r, struct run_thread *run)
{
	struct callgrind_thread **grown = grow_array(r->thread, r->threads, &r->thread_room, 8, sizeof *grown);
	struct callgrind_thread *t = grown ? calloc(1, sizeof *t) : NULL;
	if (grown)
		r->thread = grown;
	if (!t || !(t->graph = graph_of(r, run->pid))) {
		free(t);
		return ERR_NOMEM;
	}
	t->run = run;
	t->instruments = r->instruments;
	run->warms = !t->instruments;
	t->collects = r->collects;
	t->node = CALLGRIND_NONE;
	grown[r->threads++] = t;
	return 0;
}

void callgrind_thread_end(struct callgrind_run *r, const struct run_thread *run)
{
	for (size_t i = 0; i < r->threads; i++) {
		struct callgrind_thread *t = r->thread[i];
		if (run && t->run != run)
			continue;
		while (t->depth)	/* what runs when the program exits has its calls, too */
			pop(r, t);
		free(t->active);
		free(t);
		r->thread[i] = r->thread[--r->threads];
		return;
	}
}

/* What a retired uop costs. */
static void costs(uint64_t cost[CALLGRIND_KINDS], const struct spmu_record *u)
{
	const uint64_t is = u->is, did = u->did;
	cost[CALLGRIND_Ir] = !!(is & SPMU_IS(INST_END)) + !!(is & SPMU_IS(INST_END2));
	cost[CALLGRIND_I1mr] = !!(did & SPMU_DID(ICACHE_MISS));
	cost[CALLGRIND_ILmr] = !!(did & SPMU_DID(FETCH_L2_MISS));
	if (is & SPMU_IS(LOAD)) {
		cost[CALLGRIND_Dr] = 1;
		cost[CALLGRIND_D1mr] = !!(did & (SPMU_DID(L1D_MISS) | SPMU_DID(LFB_HIT)));
		cost[CALLGRIND_DLmr] = !!(did & SPMU_DID(L3_MISS));
	}
	if (is & SPMU_IS(STORE_ADDR)) {
		cost[CALLGRIND_Dw] = 1;
		cost[CALLGRIND_D1mw] = !!(did & SPMU_DID(STORE_L1D_MISS));
		cost[CALLGRIND_DLmw] = did & SPMU_DID(STORE_L1D_MISS) &&
				       !(did & (SPMU_DID(STORE_L2_HIT) | SPMU_DID(STORE_L3_HIT)));
	}
	if (is & SPMU_IS(BRANCH)) {
		const bool missed = did & SPMU_DID(MISPREDICTED);
		cost[CALLGRIND_Bc] = !!(is & SPMU_IS(COND));
		cost[CALLGRIND_Bcm] = is & SPMU_IS(COND) && missed;
		cost[CALLGRIND_Bi] = !!(is & SPMU_IS(INDIRECT));
		cost[CALLGRIND_Bim] = is & SPMU_IS(INDIRECT) && missed;
	}
}

static void uop(struct callgrind_run *r, struct callgrind_thread *t, const struct spmu_record *u, uint64_t retire)
{
	uint64_t cost[CALLGRIND_KINDS] = { 0 };
	if (u->is & SPMU_IS(INST_BEGIN) || u->ip != t->ip || t->node == CALLGRIND_NONE) {
		t->ip = u->ip;
		t->stack = 0;
		t->node = node_of(r, t->graph, u->ip, CALLGRIND_NONE);
		if (t->node == CALLGRIND_NONE)
			return;
	}
	if (u->is & (SPMU_IS(LOAD) | SPMU_IS(STORE_ADDR)))
		t->stack = u->addr;
	costs(cost, u);
	cost[CALLGRIND_Cycles] = retire > t->last && !t->resumed ? retire - t->last : 0;
	t->resumed = false;
	t->last = retire > t->last ? retire : t->last;
	struct callgrind_node *n = t->graph->node + t->node;
	for (unsigned k = 0; t->instruments && t->collects && k < CALLGRIND_KINDS; k++) {
		n->cost[k] += cost[k];
		t->graph->total[k] += cost[k];
		t->sum[k] += cost[k];
	}
	if (u->is & SPMU_IS(CALL) && u->is & SPMU_IS(BRANCH))
		call(r, t, u->addr);
	else if (u->is & SPMU_IS(RET) && u->is & SPMU_IS(BRANCH))
		pop_to(r, t, t->stack);
}

void callgrind_batch(struct callgrind_run *r, const struct run_thread *run, const struct spmu_batch *b)
{
	struct callgrind_thread *t = find(r, run);
	for (uint32_t i = 0; t && !r->failed && i < b->count; i++) {
		const struct spmu_record *u = b->records + i;
		if (u->kind == SPMU_REC_UOP && u->did & SPMU_DID(RETIRED))
			uop(r, t, u, b->base_cycle + u->retire);
	}
}

/* As in Callgrind, the calls under way are forgotten where this ends: what returns meanwhile is not seen. */
static void instrument(struct callgrind_run *r, struct callgrind_thread *t, bool on)
{
	while (!on && t->depth)
		pop(r, t);
	if (!on)
		t->node = CALLGRIND_NONE;
	t->resumed |= on && !t->instruments;
	t->instruments = on;
	t->run->warms = !on;
}

struct callgrind_graph *callgrind_request(struct callgrind_run *r, const struct run_thread *run,
	const struct st_client *request, const char *name)
{
	struct callgrind_thread *t = find(r, run);
	const bool begins = request->code == SPMU_CLIENT_REGION_BEGIN, ends = request->code == SPMU_CLIENT_REGION_END;
	if (!t)
		return NULL;
	if (request->code == ST_CLIENT_ZERO)
		callgrind_zero(t->graph);
	else if (request->code == ST_CLIENT_DUMP)
		return t->graph;
	else if ((begins || ends) && !strcmp(name, "callgrind")) {
		if (request->value == ST_MARK_TOGGLE)
			t->collects = !t->collects;
		else
			instrument(r, t, begins);
	}
	return NULL;
}

void callgrind_zero(struct callgrind_graph *g)
{
	memset(g->total, 0, sizeof g->total);
	for (size_t i = 0; i < g->nodes; i++) {
		g->node[i].calls = 0;
		memset(g->node[i].cost, 0, sizeof g->node[i].cost);
	}
}

void callgrind_free(struct callgrind_run *r)
{
	for (size_t i = 0; i < r->threads; i++)
		free(r->thread[i]->active);
	for (size_t i = 0; i < r->threads; i++)
		free(r->thread[i]);
	for (size_t i = 0; i < r->graphs; i++) {
		free(r->graph[i]->node);
		free(r->graph[i]->slot);
		free(r->graph[i]);
	}
	for (size_t i = 0; i < r->functions; i++)
		free(r->function[i].name);
	free(r->thread);
	free(r->graph);
	free(r->function);
}
