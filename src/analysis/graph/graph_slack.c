/* SPDX-License-Identifier: GPL-2.0-or-later
 * Slack of instructions (graph_slack.h): keeps the edges of a window, each with its slack, and walks back
 * over them. */
#include "analysis/graph/graph_slack.h"
#include <stdlib.h>
#include <string.h>

enum { NODE_F, NODE_D, NODE_E, NODE_P, NODE_C, NODES };
enum { WINDOW = 8192 /* uops */, EDGES = 24 * WINDOW, ARRIVALS = 16, REGS = 128, SLOTS = 1024, STORES = 256 };
enum { LINES = 1024, CYCLES = 4096, SLOT_UOPS = 16, FINE = 4 };
#define NOWHERE UINT64_MAX
#define FREE UINT32_MAX		/* slack of a node for which nothing waits */

const char *const slack_name[SLACK_BOTH] = { "global", "local" };

struct edge { uint64_t from; uint32_t slack, next; };	/* next: 1 + index of the next edge; 0: none */
struct slack {
	uint64_t uops, charged;	/* taken so far; uops below `charged` are counted */
	/* nodes, as uop * NODES + kind; NOWHERE: none */
	uint64_t slot_first, fetch, alloc, retire, branch, known;
	uint64_t done[SLOT_UOPS], done_at[SLOT_UOPS];	/* P nodes of the slot's uops */
	unsigned dones;
	uint64_t reg[REGS], alloc_of[SLOTS], retire_of[SLOTS], load_of[SLOTS], result_of[SLOTS], data[STORES],
		store[STORES] /* C */;
	uint32_t load, slot_load;	/* loads so far, and before the slot */
	uint32_t result, slot_result;	/* the same for results that took an integer register */
	uint32_t slot_store[SLOT_UOPS];	/* stores of which the slot has a uop */
	unsigned stores;
	struct { uint64_t line, node; } asked[LINES];
	struct { uint64_t cycle, node; } left[CYCLES];	/* a uop that was dispatched in that cycle */
	struct { uint64_t ip; uint32_t head[NODES], insn; bool begins, executes; } at[WINDOW];
	uint32_t insn;		/* instructions so far, modulo 2^32 */
	struct edge edge[EDGES];
	uint32_t edges;		/* so far, modulo 2^32 */
	uint32_t slack[SLACK_BOTH][WINDOW][NODES];
	struct slack_counts all[SLACK_BOTH];
	struct spread spread[SLACK_BOTH];
	struct path *path;
	/* edges that are being gathered for a node */
	struct { uint64_t from, time; } arrival[ARRIVALS];
	unsigned arrivals;
};

struct slack *slack_create(struct path *path)
{
	struct slack *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->path = path;
	s->fetch = s->alloc = s->retire = s->branch = s->known = NOWHERE;
	memset(s->reg, 0xff, sizeof s->reg);
	memset(s->alloc_of, 0xff, sizeof s->alloc_of);
	memset(s->retire_of, 0xff, sizeof s->retire_of);
	memset(s->data, 0xff, sizeof s->data);
	memset(s->store, 0xff, sizeof s->store);
	memset(s->asked, 0xff, sizeof s->asked);
	memset(s->left, 0xff, sizeof s->left);
	spread_init(&s->spread[SLACK_GLOBAL], FINE);
	spread_init(&s->spread[SLACK_LOCAL], FINE);
	return s;
}

void slack_destroy(struct slack *s)
{
	if (!s)
		return;
	spread_release(&s->spread[SLACK_GLOBAL]);
	spread_release(&s->spread[SLACK_LOCAL]);
	free(s);
}

static void slack_add(struct slack_counts *c, uint32_t cycles)
{
	c->count++;
	c->sum += cycles;
	c->none += !cycles;
	c->below_5 += cycles < 5;
	c->below_50 += cycles < 50;
}

/* ---- edges ---- */

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* An edge from this node arrives at `time`.  All edges to one node use the same time scale; what the node itself
 * adds after them does not matter. */
static void arrives(struct slack *s, uint64_t from, uint64_t time)
{
	if (s->arrivals < ARRIVALS) {
		s->arrival[s->arrivals].from = from;
		s->arrival[s->arrivals++].time = time;
	}
}

/* The gathered edges lead to this node; the last to arrive determines its time. */
static void leads_to(struct slack *s, uint64_t to)
{
	uint64_t last = 0;
	uint32_t *head = &s->at[to / NODES % WINDOW].head[to % NODES];
	for (unsigned i = 0; i < s->arrivals; i++)
		last = most(last, s->arrival[i].time);
	for (unsigned i = 0; i < s->arrivals; i++) {
		const uint64_t from = s->arrival[i].from, slack = last - s->arrival[i].time;
		if (from == NOWHERE || from >= to || from / NODES < s->charged)
			continue;
		s->edge[s->edges % EDGES] = (struct edge){
			.from = from, .slack = slack < FREE ? (uint32_t)slack : FREE - 1, .next = *head
		};
		*head = 1 + s->edges++ % EDGES;
	}
	s->arrivals = 0;
}

/* ---- back over a window ---- */

static void give(struct slack *s, uint64_t node, uint32_t global, uint32_t local)
{
	uint32_t *g = &s->slack[SLACK_GLOBAL][node / NODES % WINDOW][node % NODES],
		 *l = &s->slack[SLACK_LOCAL][node / NODES % WINDOW][node % NODES];
	*g = global < *g ? global : *g;
	*l = local < *l ? local : *l;
}

static uint32_t plus(uint32_t a, uint32_t b) { return a < FREE - b ? a + b : FREE; }

/* Counts an executed instruction. */
static void count(struct slack *s, uint64_t ip, const uint32_t least[SLACK_BOTH])
{
	struct path_site *site = path_site(s->path, ip);
	for (unsigned k = 0; k < SLACK_BOTH; k++) {
		const uint32_t cycles = least[k] < INT32_MAX ? least[k] : INT32_MAX;
		slack_add(&s->all[k], cycles);
		spread_add(&s->spread[k], cycles);
		if (site)
			slack_add(&site->slack[k], cycles);
	}
}

/* Walks back from the last retirement and counts the instructions that begin below `end`. */
static void walk(struct slack *s, uint64_t end)
{
	uint32_t least[SLACK_BOTH] = { FREE, FREE };
	bool executes = false;
	if (s->retire == NOWHERE || s->uops == s->charged)
		return;
	memset(s->slack, 0xff, sizeof s->slack);
	give(s, s->retire, 0, 0);
	for (uint64_t n = s->uops; n-- > s->charged;) {
		for (unsigned which = NODES; which-- > 0;) {
			const uint32_t global = s->slack[SLACK_GLOBAL][n % WINDOW][which],
				       local = s->slack[SLACK_LOCAL][n % WINDOW][which];
			for (uint32_t i = s->at[n % WINDOW].head[which]; i; i = s->edge[i - 1].next) {
				const struct edge *e = &s->edge[i - 1];
				/* an instruction may delay itself */
				const bool own = s->at[e->from / NODES % WINDOW].insn == s->at[n % WINDOW].insn;
				give(s, e->from, plus(global, e->slack), own ? plus(local, e->slack) : e->slack);
			}
		}
		if (s->at[n % WINDOW].executes) {
			executes = true;
			for (unsigned k = 0; k < SLACK_BOTH; k++)
				if (s->slack[k][n % WINDOW][NODE_P] < least[k])
					least[k] = s->slack[k][n % WINDOW][NODE_P];
		}
		if (s->at[n % WINDOW].begins) {
			if (executes && n < end)
				count(s, s->at[n % WINDOW].ip, least);
			executes = false;
			least[SLACK_GLOBAL] = least[SLACK_LOCAL] = FREE;
		}
	}
	s->charged = end;
}

/* ---- uops ---- */

static void slot_begins(struct slack *s, const struct path_uop *u, uint64_t n)
{
	const uint64_t other = u->still ? u->retire_before : u->redirected ? u->resolved + u->redirect : 0;
	const uint64_t goes_on = most(u->fetch_before, other);
	const uint64_t behind = u->fetch_due > goes_on ? u->fetch_due - goes_on : 0;
	arrives(s, s->fetch, u->fetch_before + behind);
	if (u->still)
		arrives(s, s->retire, other + behind);
	else if (u->redirected)
		arrives(s, s->branch, other + behind);
	arrives(s, s->alloc_of[(u->slots - u->idq_size) % SLOTS], u->queue);
	leads_to(s, n * NODES + NODE_F);
	s->fetch = n * NODES + NODE_F;
	s->slot_first = n;
	s->dones = s->stores = 0;
	s->slot_load = s->load;
	s->slot_result = s->result;
}

/* Edges to the slot's allocation.  A later uop of the slot adds edges for what it waited for. */
static void allocated(struct slack *s, const struct path_uop *u)
{
	const uint64_t slot = s->slot_first * NODES + NODE_D;
	uint64_t known = 0;
	if (u->first) {
		arrives(s, s->alloc, u->alloc_last);
		arrives(s, s->alloc_of[(u->slots - u->alloc_width) % SLOTS], u->alloc_group);
		arrives(s, s->fetch, u->fetch + u->frontend_latency);
		arrives(s, s->retire_of[(u->slots - u->rob_size) % SLOTS], u->rob);
	} else {	/* the edges that brought the slot here without this uop have that much more slack */
		const uint32_t more =
			u->alloc - u->alloc_slot < FREE / 2 ? (uint32_t)(u->alloc - u->alloc_slot) : FREE / 2;
		for (uint32_t i = s->at[s->slot_first % WINDOW].head[NODE_D]; more && i; i = s->edge[i - 1].next)
			s->edge[i - 1].slack += s->edge[i - 1].slack < FREE / 2 ? more : 0;
		arrives(s, NOWHERE, u->alloc_slot);
	}
	if (u->is & SPMU_IS(LOAD))
		arrives(s, s->load_of[(s->load - u->load_buffer_size) % SLOTS], u->load_buffer);
	if (u->result)
		arrives(s, s->result_of[(s->result - u->prf_size) % SLOTS], u->prf);
	if (u->is & SPMU_IS(STORE_ADDR))
		arrives(s, s->store[(u->number - u->store_buffer_size) % STORES], u->store_buffer);
	for (unsigned i = 0; i < s->arrivals; i++)
		known = most(known, s->arrival[i].time);
	/* a scheduler entry: charged to a uop that left a scheduler just then */
	if (u->alloc > known && s->left[(u->alloc - 1) % CYCLES].cycle == u->alloc - 1)
		arrives(s, s->left[(u->alloc - 1) % CYCLES].node, u->alloc);
	leads_to(s, slot);
}

static void dispatched(struct slack *s, const struct path_uop *u, uint64_t n)
{
	arrives(s, s->slot_first * NODES + NODE_D, u->alloc + u->dispatch_delay);
	for (unsigned k = 0; k < 4 && !u->alone; k++)
		if (u->src[k])
			arrives(s, s->reg[u->src[k] % REGS], u->reg[k]);
	if (u->waits)
		arrives(s, s->known, u->known);
	if (u->far)
		arrives(s, s->retire, u->ready);
	leads_to(s, n * NODES + NODE_E);
	if (!u->alone) {
		s->left[u->dispatch % CYCLES].cycle = u->dispatch;
		s->left[u->dispatch % CYCLES].node = n * NODES + NODE_E;
	}
}

static void completes(struct slack *s, const struct path_uop *u, uint64_t n)
{
	const uint64_t id = n * NODES + NODE_P;
	arrives(s, n * NODES + NODE_E, u->dispatch + (u->line_of != NOWHERE ? u->hit : 0));
	if (u->is & SPMU_IS(LOAD) && u->store >= 0)
		arrives(s, s->data[u->store % STORES], u->data);
	if (u->blocked >= 0)
		arrives(s, s->store[u->blocked % STORES], u->written);
	if (u->line_of != NOWHERE && s->asked[u->line_of % LINES].line == u->line_of)
		arrives(s, s->asked[u->line_of % LINES].node, u->line);
	leads_to(s, id);
	for (unsigned k = 0; k < u->asks; k++) {
		s->asked[u->asked[k] % LINES].line = u->asked[k];
		s->asked[u->asked[k] % LINES].node = id;
	}
	const uint64_t result = u->copied ? s->reg[u->src[0] % REGS] : id;
	for (unsigned k = 0; k < 3; k++)
		s->reg[u->dst[k] % REGS] = result;
	s->reg[0] = NOWHERE;
	if (u->stored)
		s->data[u->store % STORES] = id;
	if (u->is & SPMU_IS(STORE_ADDR) && u->complete > u->known)
		s->known = id;
	if (u->did & SPMU_DID(MISPREDICTED))
		s->branch = id;
	if (s->dones < SLOT_UOPS) {
		s->done[s->dones] = id;
		s->done_at[s->dones++] = u->complete;
	}
}

static void retires(struct slack *s, const struct path_uop *u, uint64_t n)
{
	const uint64_t id = n * NODES + NODE_C;
	for (unsigned k = 0; k < s->dones; k++)
		arrives(s, s->done[k], s->done_at[k] + u->retire_latency);
	arrives(s, s->retire, u->retire_before);
	arrives(s, s->retire_of[(u->slots - u->retire_width) % SLOTS], u->retire_group);
	leads_to(s, id);
	s->retire = id;
	s->alloc = s->slot_first * NODES + NODE_D;
	s->alloc_of[u->slots % SLOTS] = s->alloc;
	s->retire_of[u->slots % SLOTS] = id;
	for (uint32_t k = s->slot_load; k != s->load; k++)
		s->load_of[k % SLOTS] = id;
	for (uint32_t k = s->slot_result; k != s->result; k++)
		s->result_of[k % SLOTS] = id;
	for (unsigned k = 0; k < s->stores; k++)
		s->store[s->slot_store[k]] = id;
}

void slack_uop(struct slack *s, const struct path_uop *u)
{
	const uint64_t n = s->uops++;
	memset(s->at[n % WINDOW].head, 0, sizeof s->at[n % WINDOW].head);
	s->at[n % WINDOW].ip = u->ip;
	s->at[n % WINDOW].begins = u->is & SPMU_IS(INST_BEGIN);
	s->at[n % WINDOW].executes = !u->alone;
	s->insn += s->at[n % WINDOW].begins;
	s->at[n % WINDOW].insn = s->insn;
	if (u->first)
		slot_begins(s, u, n);
	allocated(s, u);
	dispatched(s, u, n);
	completes(s, u, n);
	s->load += (u->is & SPMU_IS(LOAD)) != 0;
	s->result += u->result;
	if (u->is & (SPMU_IS(STORE_ADDR) | SPMU_IS(STORE_DATA)) && s->stores < SLOT_UOPS)
		s->slot_store[s->stores++] = u->number % STORES;
	if (!u->last)
		return;
	retires(s, u, n);
	if (s->uops - s->charged >= WINDOW - 64)
		walk(s, s->charged + WINDOW / 2);
}

void slack_end(struct slack *s) { walk(s, s->uops); }
const struct slack_counts *slack_counts(const struct slack *s, enum slack_which which) { return &s->all[which]; }
const struct spread *slack_spread(const struct slack *s, enum slack_which which) { return &s->spread[which]; }
