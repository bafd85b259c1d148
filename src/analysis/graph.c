/* SPDX-License-Identifier: GPL-2.0-or-later
 * Works the dependence graphs out (graph.h): one pass over records and details; the state of a graph is what later nodes may depend on.
 *
 * `seen` holds the same of the run itself, as its records say: the latency of an edge is the difference of the measured times at its ends, and so
 * whatever the machine did there is in it.
 */
#include "analysis/graph.h"
#include "core/cache.h"
#include "core/detail.h"
#include "isa/isa.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024, LOADS = 512, STORES = 256, WINDOW = 4096, FAR = 1024, POOLS = 3, FILLS = 1024, UNITS = 4, BUFFERS = 64, BUCKETS = 512, LEARNT = 256, QUEUE = 256, PENDING = 64,
	FAR_AWAY = 16 /* cycles: an edge that the graph does not know is longer */ };

const char *const graph_class_name[GRAPH_CLASSES_COUNT] = {
#define X(name, text, help) text,
	GRAPH_CLASSES(X)
#undef X
};
const char *const graph_class_help[GRAPH_CLASSES_COUNT] = {
#define X(name, text, help) help,
	GRAPH_CLASSES(X)
#undef X
};

struct times {			/* of one graph */
	uint32_t free;		/* set of classes */
	uint64_t fetch, alloc, retire, barrier;	/* the last of each */
	uint64_t ready, dispatch, complete;	/* of the last uop */
	uint32_t fetch_room, alloc_used, retire_used;
	uint64_t slot_done;
	uint64_t reg[REG_COUNT];
	uint64_t alloc_at[SLOTS], rob_free[SLOTS], lb_free[LOADS];
	uint64_t addr_ready[STORES], data_ready[STORES], given[STORES], retired[STORES], written[STORES];
	uint64_t addr_known, last_written;
	uint32_t written_count;
	uint64_t resolved;	/* the last mispredicted branch */
	uint64_t line[FILLS], line2[FILLS];	/* when it is there, in L1D, in L2 */
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
	uint32_t slots, loads;	/* so far */
	uint32_t last_room;	/* of the measured front end, behind the slot before */
	uint64_t barrier, line_of[FILLS], line2_of[FILLS];
	unsigned buffers;
	uint64_t l3_latency;	/* of L3, and of what lies beyond when memory takes no time */
	bool redirected, taken, cleared, resteered;	/* by the slot before */
	uint32_t stores;	/* number of the newest; that of `store` */
	struct { uint64_t addr; uint32_t size, number; } store[STORES];
	uint32_t bucket[BUCKETS];	/* number of the newest store to these 8 bytes */
	bool waits[LEARNT];	/* loads of an instruction waited for unknown addresses when there were some, by its low bits */
	/* details whose uops have not come */
	struct core_detail queue[QUEUE];
	uint32_t queue_first, queue_last;
	struct core_fill fill[PENDING];
	uint32_t fills;
	uint32_t first_load, first_store;	/* of the slot */
	struct times *seen, **run;
	struct path *path;	/* of the first */
};

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
static bool free_of(const struct times *t, enum graph_class c) { return t->free >> c & 1; }

/* ---- schedulers and ports ---- */

static void give_back(const struct graph *g, struct times *t, unsigned ports)
{
	for (unsigned p = 0; p < POOLS; p++)
		t->room[p] += __builtin_popcount(ports & g->pool_ports[p]);
}

static void take_in(struct times *t)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < t->far_count; i++)
		if (t->far[i].cycle - t->walk < WINDOW)
			t->used[t->far[i].cycle % WINDOW] |= (uint16_t)(1u << t->far[i].port);
		else
			t->far[kept++] = t->far[i];
	t->far_count = kept;
}

/* What dispatches before `to` has left. */
static void advance(const struct graph *g, struct times *t, uint64_t to)
{
	uint64_t end = least(to, t->walk + WINDOW);
	for (; t->walk < end; t->walk++) {
		uint16_t *used = &t->used[t->walk % WINDOW];
		if (*used) {
			give_back(g, t, *used);
			*used = 0;
		}
	}
	if (t->walk < to) {
		uint32_t kept = 0;
		t->walk = to;
		for (uint32_t i = 0; i < t->far_count; i++)
			if (t->far[i].cycle < to)
				give_back(g, t, 1u << t->far[i].port);
			else
				t->far[kept++] = t->far[i];
		t->far_count = kept;
	}
	if (t->far_count)
		take_in(t);
}

/* Waits until the scheduler has room for `more`; the cycle from which on it has. */
static uint64_t wait_room(const struct graph *g, struct times *t, unsigned pool, int32_t more, uint64_t cycle)
{
	while (t->room[pool] < more) {
		uint64_t at = t->walk, end = t->walk + WINDOW;
		while (at < end && !t->used[at % WINDOW])
			at++;
		for (uint32_t i = 0; at == end && i < t->far_count; i++)
			at = i ? least(at, t->far[i].cycle) : t->far[i].cycle;
		if (at >= end && !t->far_count)
			break;		/* nothing holds an entry */
		advance(g, t, at + 1);
	}
	return most(cycle, t->walk);
}

static uint64_t take_port(struct times *t, unsigned port, uint64_t ready)
{
	const uint16_t bit = (uint16_t)(1u << port);
	if (ready < t->walk)
		ready = t->walk;
	while (ready - t->walk < WINDOW && t->used[ready % WINDOW] & bit)
		ready++;
	if (ready - t->walk < WINDOW) {
		t->used[ready % WINDOW] |= bit;
	} else {
		for (uint32_t i = 0; i < t->far_count; i++)
			if (t->far[i].cycle == ready && t->far[i].port == port) {
				ready++;
				i = UINT32_MAX;
			}
		if (t->far_count < FAR) {
			t->far[t->far_count].cycle = ready;
			t->far[t->far_count++].port = port;
		}
	}
	return ready;
}

/* ---- F and D: a slot begins ---- */

struct fetched {		/* what its delivery waited for, as measured */
	uint64_t goes_on;	/* cycles behind the slot before, or behind the branch that resolved */
	uint64_t code, memory, tlb, resteer;	/* of it, at most */
	uint32_t room, width;
	bool anew;		/* the cycle's room is not what the slot before left of it */
	bool still;		/* the machine had stopped: cycles are since the last retirement */
};

static void deliver(const struct graph *g, struct times *t, const struct fetched *f)
{
	const struct core_config *c = &g->c;
	uint64_t goes_on = f->goes_on;
	uint32_t room = t->fetch_room;
	bool anew = f->anew;
	if (free_of(t, GRAPH_FRONT_END))
		goes_on = least(goes_on, f->code + f->tlb);
	if (free_of(t, GRAPH_ICACHE_MISS))
		goes_on = less(goes_on, f->memory ? 0 : f->code);
	if (free_of(t, GRAPH_L3_MISS))
		goes_on = less(goes_on, f->memory);
	if (free_of(t, GRAPH_PAGE_WALK))
		goes_on = less(goes_on, f->tlb);
	if (free_of(t, GRAPH_BTB_MISS))
		goes_on = less(goes_on, f->resteer);
	if (f->still) {
		t->fetch = most(t->fetch, t->retire + f->goes_on);
	} else if (g->redirected && !free_of(t, GRAPH_MISPREDICT)) {
		t->fetch = most(t->fetch, t->resolved + c->recovery_redirect) + goes_on;
	} else {
		if (g->redirected) {	/* as if it had gone on: a taken branch ends the cycle */
			anew = goes_on || (g->taken && room != f->width);
			goes_on += g->taken && room && room != f->width && !goes_on;
			room = anew ? f->width : room;
		}
		t->fetch += goes_on;
	}
	if (anew && !(g->redirected && free_of(t, GRAPH_MISPREDICT)))
		room = f->room;
	t->fetch += !room && !free_of(t, GRAPH_FRONT_END);
	room = room ? room : f->width;
	const uint64_t queue = t->alloc_at[(g->slots - c->idq_size) % SLOTS];
	if (queue > t->fetch) {
		t->fetch = queue;
		room = f->width;
	}
	t->fetch_room = free_of(t, GRAPH_FRONT_END) ? f->width : room - 1;
}

static void used_slot(const struct graph *g, struct times *t)
{
	if (++t->alloc_used >= g->c.alloc_width) {
		t->alloc_used = 0;
		t->alloc++;
	}
}

/* The slot being allocated moves to `cycle`, as the first of it. */
static uint64_t stalled(const struct graph *g, struct times *t, uint64_t cycle)
{
	t->alloc = cycle;
	t->alloc_used = 0;
	used_slot(g, t);
	advance(g, t, cycle);
	return cycle;
}

static uint64_t allocate(const struct graph *g, struct times *t)
{
	const struct core_config *c = &g->c;
	uint64_t from = most(t->fetch + c->frontend_latency, t->barrier);
	if (!free_of(t, GRAPH_WINDOW))
		from = most(from, t->rob_free[(g->slots - c->rob_size) % SLOTS]);
	if (from > t->alloc) {
		t->alloc = from;
		t->alloc_used = 0;
	}
	advance(g, t, t->alloc);
	if (!t->alloc_used && g->group_room && !free_of(t, GRAPH_WINDOW))
		t->alloc = wait_room(g, t, 0, g->group_room, t->alloc);
	const uint64_t cycle = t->alloc;
	used_slot(g, t);
	return cycle;
}

static void slot_begins(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base)
{
	const struct core_config *c = &g->c;
	struct times *seen = g->seen;
	struct fetched f = { .code = d->code, .memory = d->code_memory, .tlb = d->code_tlb, .room = d->room, .width = d->width ? d->width : 1 };
	uint64_t from = seen->fetch;
	const bool barrier = d->barrier > g->barrier;
	if (g->redirected)
		from = most(from, seen->resolved + c->recovery_redirect);
	f.still = g->cleared || (barrier && d->fetch >= d->barrier);
	f.goes_on = f.still ? less(d->fetch, seen->retire) : less(d->fetch, from);
	f.anew = f.still || f.goes_on || g->redirected || d->room != g->last_room;
	f.resteer = g->resteered ? c->frontend_resteer : 0;
	for (unsigned i = 0; i < g->runs; i++) {
		struct times *t = g->run[i];
		if (barrier)
			t->barrier = t->retire + less(d->barrier, seen->retire);
		deliver(g, t, &f);
		const uint64_t alloc = allocate(g, t);
		t->alloc_at[g->slots % SLOTS] = alloc;
		t->slot_done = alloc;
	}
	g->barrier = most(g->barrier, d->barrier);
	seen->fetch = base + r->fetch;
	g->last_room = seen->fetch > d->fetch + !d->room ? f.width - 1 : (d->room ? d->room : f.width) - 1u;
	g->redirected = g->taken = g->cleared = g->resteered = false;
}

/* ---- E and P ---- */

struct access {			/* of a load, as measured */
	uint64_t latency, hit, tlb, walk, memory, dispatch;
	uint64_t rest;		/* beyond the latest of what it waited for */
	int store;		/* index of the one that it waited for; -1: of none */
	int older;		/* of one that had been written, and may not have been in a graph; -1 */
	int line;		/* index of the line on its way; -1 */
	const struct core_fill *fill;	/* that it asked for, of a line that was on its way to L2; NULL */
};

static int line_at(uint64_t line) { return (int)((line ^ line >> 8) % FILLS); }

/* The youngest store to the bytes at either end of the access that may still be in the buffer; -1. */
static int store_found(const struct graph *g, uint64_t addr, uint32_t size)
{
	int found = -1;
	for (unsigned end = 0; end < 2; end++) {
		const uint32_t number = g->bucket[(addr + (end ? size - 1 : 0)) >> 3 & (BUCKETS - 1)];
		const unsigned i = number % STORES;
		if (g->stores - number < g->c.store_buffer_size && g->store[i].number == number && g->store[i].size &&
		    (addr - g->store[i].addr < g->store[i].size || g->store[i].addr - addr < size) &&
		    (found < 0 || g->stores - number < g->stores - g->store[found].number))
			found = (int)i;
	}
	return found;
}

/* What an access takes in a graph. */
static uint64_t shortened(const struct graph *g, const struct times *t, const struct access *a, uint64_t did)
{
	const struct core_config *c = &g->c;
	uint64_t latency = a->latency, tlb = a->tlb;
	if (free_of(t, GRAPH_PAGE_WALK) || (free_of(t, GRAPH_DTLB_MISS) && !a->walk)) {
		latency = less(latency, tlb);
		tlb = 0;
	}
	if (free_of(t, GRAPH_L3_MISS) && a->memory)
		latency = less(latency, a->memory);
	else if (free_of(t, GRAPH_L3_MISS) && did & SPMU_DID(L3_MISS))
		latency = least(latency, g->l3_latency + tlb);
	if (free_of(t, GRAPH_L2_MISS) && did & SPMU_DID(L3_HIT))
		latency = least(latency, c->l2_latency + tlb);
	if (free_of(t, GRAPH_L1_MISS) && did & SPMU_DID(L2_HIT))
		latency = least(latency, a->hit + tlb);
	return most(latency, least(a->hit, a->latency));
}


/* When a request that is made at `cycle` has a fill buffer, and which. */
static uint64_t buffer_free(const struct graph *g, const struct times *t, uint64_t cycle, unsigned *which)
{
	unsigned soonest = 0;
	for (unsigned i = 1; i < g->buffers; i++)
		if (t->buffer[i] < t->buffer[soonest])
			soonest = i;
	*which = soonest;
	return most(cycle, t->buffer[soonest]);
}

/* The line of pending fill f, when whoever asked for it did at `cycle` in a graph and at `seen` in the run. */
static uint64_t arrives(const struct graph *g, const struct times *t, const struct core_fill *f, uint64_t cycle, uint64_t seen)
{
	uint64_t takes = less(f->ready, seen);
	if (f->level == 2)
		return cycle + (free_of(t, GRAPH_L3_MISS) && f->source == FROM_MEMORY ? least(takes, g->l3_latency) : takes);
	if (f->source != FROM_L2 && !f->memory && g->line2_of[line_at(f->physical)] == f->physical) {	/* it was on its way to L2 */
		const uint64_t there = g->seen->line2[line_at(f->physical)], latest = most(seen + g->c.l2_latency, there);
		return most(cycle + g->c.l2_latency, t->line2[line_at(f->physical)]) + less(f->ready, latest);
	}
	if (free_of(t, GRAPH_L3_MISS) && f->source == FROM_MEMORY)
		takes = f->memory ? less(takes, f->memory) : least(takes, g->l3_latency);
	if (free_of(t, GRAPH_L1_MISS) && f->source == FROM_L2)
		takes = 0;
	if (f->source == FROM_L2 && g->line2_of[line_at(f->physical)] == f->physical)	/* there in the run, and maybe not yet in a graph */
		return most(cycle + takes, t->line2[line_at(f->physical)]);
	return cycle + takes;
}

/* Asked for at `cycle`, there at `ready`. */
static void line_asked(const struct graph *g, struct times *t, const struct core_fill *f, uint64_t ready, uint64_t cycle)
{
	unsigned which, other;
	if (f->level == 2) {
		t->line2[line_at(f->line)] = ready;
		return;
	}
	if (ready > cycle) {	/* else it hits, without the misses of its class */
		const uint64_t from = buffer_free(g, t, cycle, &which);
		if (!f->prefetch)
			ready += less(from - cycle, buffer_free(g, g->seen, f->from, &other) - f->from);	/* beyond what it waited in the run */
		t->buffer[which] = ready;
	}
	t->line[line_at(f->line)] = ready;
}

static void lines_asked(struct graph *g)
{
	for (uint32_t k = 0; k < g->fills; k++) {
		const int at = line_at(g->fill[k].line);
		if (g->fill[k].level == 2) {
			g->seen->line2[at] = g->fill[k].ready;
			g->line2_of[at] = g->fill[k].line;
		} else {
			unsigned which;
			buffer_free(g, g->seen, 0, &which);
			g->seen->buffer[which] = g->fill[k].ready;
			g->seen->line[at] = g->fill[k].ready;
			g->line_of[at] = g->fill[k].line;
		}
	}
	g->fills = 0;
}

/* What the load waited for, as measured. */
static void measure_load(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base, struct access *a)
{
	const struct core_config *c = &g->c;
	const struct times *seen = g->seen;
	const uint64_t dispatch = base + r->dispatch, complete = base + r->complete, line = r->addr >> 6;
	const bool vector = (uint8_t)(d->dst[0] - REG_VEC) < REG_FLAGS - REG_VEC || r->size > 8;
	uint64_t latest = dispatch;
	*a = (struct access){ .latency = complete - dispatch, .hit = c->l1d_latency + (vector ? c->l1d_vector_extra : 0), .tlb = d->tlb, .walk = d->walk,
		.memory = d->memory, .store = -1, .line = -1, .older = -1, .dispatch = dispatch };
	if (r->did & SPMU_DID(FORWARDED)) {
		a->store = (int)(d->store % STORES);
		latest = most(latest, seen->data_ready[a->store]);
	} else if (r->did & SPMU_DID(FORWARD_BLOCKED) && (a->store = store_found(g, r->addr, r->size)) >= 0) {
		latest = most(latest, seen->written[a->store] + c->forward_blocked);
	} else if (r->did & (SPMU_DID(LFB_HIT) | SPMU_DID(L1D_HIT)) && r->size && g->line_of[line_at(line)] == line) {
		a->line = line_at(line);
		latest = most(latest + a->hit, seen->line[a->line]);
	}
	for (uint32_t k = 0; k < g->fills && r->did & SPMU_DID(L1D_MISS); k++) {
		const struct core_fill *f = &g->fill[k];
		if (f->level == 1 && f->line == line && !f->prefetch && !f->memory && g->line2_of[line_at(f->physical)] == f->physical) {
			a->fill = f;
			latest = f->ready;
		}
	}
	if (a->store < 0)
		a->older = store_found(g, r->addr, r->size);
	a->rest = less(complete, latest);
}

/* Dispatched at `cycle`: complete. */
static uint64_t loaded(const struct graph *g, const struct times *t, const struct access *a, uint64_t did, uint64_t cycle)
{
	const struct core_config *c = &g->c;
	if (a->older >= 0 && t->written[a->older] > cycle)
		return most(cycle, t->data_ready[a->older]) + c->forward_latency;
	if (did & SPMU_DID(FORWARDED))
		return most(cycle, t->data_ready[a->store]) + a->rest;
	if (a->store >= 0)
		return most(cycle, t->written[a->store] + (free_of(t, GRAPH_NO_FORWARD) ? 0 : c->forward_blocked)) + a->rest;
	const uint64_t alias = did & SPMU_DID(ALIAS_4K) && free_of(t, GRAPH_NO_FORWARD) ? c->alias_penalty : 0;
	unsigned which;
	if (did & SPMU_DID(L1D_MISS))	/* beyond what it waited for a buffer in the run */
		cycle += less(buffer_free(g, t, cycle, &which) - cycle, buffer_free(g, g->seen, a->dispatch, &which) - a->dispatch);
	if (a->fill && a->fill->source == FROM_L2)
		return most(cycle + shortened(g, t, a, did), t->line2[line_at(a->fill->physical)]);
	if (a->fill)
		return arrives(g, t, a->fill, cycle + (free_of(t, GRAPH_PAGE_WALK) || (free_of(t, GRAPH_DTLB_MISS) && !a->walk) ? 0 : a->tlb), a->dispatch + a->tlb) + a->rest;
	if (a->line >= 0) {
		const bool no_tlb = free_of(t, GRAPH_PAGE_WALK) || (free_of(t, GRAPH_DTLB_MISS) && !a->walk);
		return most(cycle + a->hit, t->line[a->line]) + less(a->rest, (no_tlb ? a->tlb : 0) + alias);
	}
	return cycle + less(shortened(g, t, a, did), alias);
}

/* What its ready cycle waited for beyond what the graph knows. */
struct waits { uint64_t more; bool far, alone /* it does not go through a scheduler */, store_addresses; };

static uint64_t dispatched(const struct graph *g, struct times *t, const struct core_detail *d, const struct spmu_record *r, const struct waits *w, uint64_t alloc,
                           uint64_t *ready)
{
	uint64_t from = alloc + g->c.rs_dispatch_delay;
	for (unsigned k = 0; k < 4; k++)
		from = most(from, t->reg[d->src[k]]);
	from = w->far ? most(from, t->retire + w->more) : from + w->more;
	*ready = from;
	if (r->is & SPMU_IS(LOAD) && w->store_addresses)
		from = most(from, t->addr_known);
	t->ready = from;
	if (r->port >= 16 || free_of(t, GRAPH_PORTS)) {
		if (r->port < 16)	/* its entry of the scheduler goes all the same, with nobody in its way */
			take_port(t, r->port, from);
		return from;
	}
	if (d->unit && d->unit < UNITS) {
		from = most(from, t->unit[d->unit]);
		from = take_port(t, r->port, from);
		t->unit[d->unit] = from + d->busy;
		return from;
	}
	return take_port(t, r->port, from);
}

static void uop_of(const struct graph *g, struct times *t, const struct core_detail *d, const struct spmu_record *r, const struct waits *w, const struct access *a,
                   uint64_t base)
{
	const struct core_config *c = &g->c;
	const bool load = r->is & SPMU_IS(LOAD), address = r->is & SPMU_IS(STORE_ADDR);
	const unsigned st = d->store % STORES;
	uint64_t *allocated = &t->alloc_at[g->slots % SLOTS], alloc = *allocated, ready, cycle, complete;
	if (load && t->lb_free[(g->loads - c->load_buffer_size) % LOADS] > alloc && !free_of(t, GRAPH_WINDOW))
		alloc = stalled(g, t, t->lb_free[(g->loads - c->load_buffer_size) % LOADS]);
	if (address && t->written[(d->store - c->store_buffer_size) % STORES] > alloc && !free_of(t, GRAPH_STORE_BUFFER))
		alloc = stalled(g, t, t->written[(d->store - c->store_buffer_size) % STORES]);
	if (r->port < 16 && d->ports) {
		if (t->room[d->pool] < 1 && !free_of(t, GRAPH_WINDOW)) {
			const uint64_t until = wait_room(g, t, d->pool, 1, alloc);
			alloc = until > alloc ? stalled(g, t, until) : alloc;
		}
		t->room[d->pool]--;
	}
	*allocated = alloc;
	if (w->alone) {
		cycle = complete = ready = alloc;
		t->ready = alloc;
	} else {
		cycle = dispatched(g, t, d, r, w, alloc, &ready);
		const uint64_t takes = r->complete - r->dispatch;
		if (r->did & SPMU_DID(CLEAR_MEMORY_ORDER))	/* again, when what is older has retired */
			cycle = most(cycle, t->retire + less(base + r->dispatch, g->seen->retire));
		if (load && r->size)
			complete = loaded(g, t, a, r->did, cycle);
		else if (address)
			complete = cycle + shortened(g, t, a, r->did);
		else
			complete = cycle + takes;
	}
	for (uint32_t k = 0; k < g->fills; k++)
		line_asked(g, t, &g->fill[k], arrives(g, t, &g->fill[k], cycle, base + r->dispatch), cycle);
	if (address) {
		t->addr_ready[st] = t->data_ready[st] = complete - 1;
		t->written[st] = UINT64_MAX / 2;	/* not yet */
		t->addr_known = most(t->addr_known, complete - 1);
	}
	if (d->flags & DETAIL_STORED) {
		t->given[st] = ready;
		t->data_ready[st] = most(t->data_ready[st], complete);
	}
	const uint64_t result = d->flags & DETAIL_COPY ? t->reg[d->src[0]] : d->flags & DETAIL_RENAMED ? t->given[st] : complete;
	for (unsigned k = 0; k < 3; k++)
		t->reg[d->dst[k]] = result;
	t->reg[REG_NONE] = 0;
	t->slot_done = most(t->slot_done, complete);
	t->dispatch = cycle;
	t->complete = complete;
	if (r->did & SPMU_DID(MISPREDICTED))
		t->resolved = complete;
}

/* The same of the run itself. */
static void uop_seen(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base)
{
	struct times *seen = g->seen;
	const unsigned st = d->store % STORES;
	const uint64_t complete = base + r->complete;
	if (r->is & SPMU_IS(STORE_ADDR)) {
		seen->data_ready[st] = complete - 1;
		g->stores = d->store;
		g->store[st].addr = r->addr;
		g->store[st].size = r->size;
		g->store[st].number = d->store;
		for (uint64_t at = r->addr >> 3; r->size && r->size <= 64 && at <= (r->addr + r->size - 1) >> 3; at++)
			g->bucket[at & (BUCKETS - 1)] = d->store;
		seen->addr_known = most(seen->addr_known, complete - 1);
	}
	if (d->flags & DETAIL_STORED)
		seen->data_ready[st] = most(seen->data_ready[st], complete);
	for (unsigned k = 0; k < 3; k++)
		seen->reg[d->dst[k]] = d->result;
	seen->reg[REG_NONE] = 0;
	if (r->did & SPMU_DID(MISPREDICTED)) {
		seen->resolved = complete;
		g->redirected = true;
	}
	g->taken |= (r->did & SPMU_DID(TAKEN)) != 0;
	g->resteered |= (r->did & SPMU_DID(BTB_MISS)) != 0;
	g->cleared |= (r->did & SPMU_DID(CLEAR_MEMORY_ORDER)) != 0;
	g->loads += (r->is & SPMU_IS(LOAD)) != 0;
	lines_asked(g);
}

/* ---- C ---- */

static void retired(struct graph *g, const struct spmu_record *r, uint64_t base, uint32_t loads, uint32_t store)
{
	const struct core_config *c = &g->c;
	for (unsigned i = 0; i < g->runs; i++) {
		struct times *t = g->run[i];
		const uint64_t done = t->slot_done + c->retire_latency;
		if (done > t->retire) {
			t->retire = done;
			t->retire_used = 0;
		} else if (t->retire_used >= c->retire_width) {
			t->retire++;
			t->retire_used = 0;
		}
		t->retire_used++;
		t->rob_free[g->slots % SLOTS] = t->retire + 1;
		for (uint32_t n = loads; n != g->loads; n++)
			t->lb_free[n % LOADS] = t->retire + 1;
		for (uint32_t n = store; n != g->stores; n++)
			t->retired[(n + 1) % STORES] = t->retire;
	}
	g->seen->retire = base + r->retire;
	g->slots++;
}

/* A store left the buffer. */
static void written(struct graph *g, const struct core_written *w)
{
	const struct core_config *c = &g->c;
	const uint64_t takes = less(w->ready, w->from);
	const bool cold = w->memory, near = !cold && takes > 1;
	for (unsigned i = 0; i < g->runs; i++) {
		struct times *t = g->run[i];
		uint64_t from = t->retired[w->store % STORES] + c->store_commit_delay, at = from + takes;
		if (cold && free_of(t, GRAPH_L3_MISS))
			at = from + less(takes, w->memory);
		else if (near && free_of(t, GRAPH_L1_MISS))
			at = from + 1;
		for (uint32_t k = 0; k < g->fills; k++)
			line_asked(g, t, &g->fill[k], arrives(g, t, &g->fill[k], from, w->from), from);
		if (at > t->last_written) {
			t->last_written = at;
			t->written_count = 1;
		} else if (++t->written_count > c->store_commit_width) {
			t->last_written++;
			t->written_count = 1;
		}
		t->written[w->store % STORES] = t->last_written;
	}
	lines_asked(g);
	struct times *seen = g->seen;	/* as the machine did */
	if (w->ready > seen->last_written) {
		seen->last_written = w->ready;
		seen->written_count = 1;
	} else if (++seen->written_count > c->store_commit_width) {
		seen->last_written++;
		seen->written_count = 1;
	}
	seen->written[w->store % STORES] = seen->last_written;
}

/* ---- records ---- */

/* What the slot may wait for, in the whole graph. */
static void path_before(const struct graph *g, const struct core_detail *d, struct path_uop *p)
{
	const struct times *t = g->run[0];
	p->fetch_before = t->fetch;
	p->alloc_before = t->alloc - !t->alloc_used;
	p->resolved = t->resolved;
	p->redirected = g->redirected;
	p->still = g->cleared || (d->barrier > g->barrier && d->fetch >= d->barrier);
	p->code = d->code || d->code_tlb;
	p->queue = t->alloc_at[(g->slots - g->c.idq_size) % SLOTS];
	p->rob = t->rob_free[(g->slots - g->c.rob_size) % SLOTS];
}

/* And the uop. */
static void path_operands(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, struct path_uop *p)
{
	const struct core_config *c = &g->c;
	const struct times *t = g->run[0];
	p->ip = r->ip;
	p->is = r->is;
	p->did = r->did;
	memcpy(p->src, d->src, sizeof p->src);
	memcpy(p->dst, d->dst, sizeof p->dst);
	for (unsigned k = 0; k < 4; k++)
		p->reg[k] = t->reg[d->src[k]];
	p->first = d->flags & DETAIL_SLOT;
	p->last = d->flags & DETAIL_LAST;
	p->stored = d->flags & DETAIL_STORED;
	p->copied = d->flags & DETAIL_COPY;
	p->store = r->did & SPMU_DID(FORWARDED) || d->flags & DETAIL_STORED ? (int)(d->store % STORES) : -1;
	p->data = p->store >= 0 ? t->data_ready[p->store] : 0;
	p->known = t->addr_known;
	p->load_buffer = t->lb_free[(g->loads - c->load_buffer_size) % LOADS];
	p->store_buffer = r->is & SPMU_IS(STORE_ADDR) ? t->written[(d->store - c->store_buffer_size) % STORES] : 0;
	p->retire_before = t->retire;
	p->idq_size = c->idq_size;
	p->rob_size = c->rob_size;
	p->frontend_latency = c->frontend_latency;
	p->dispatch_delay = c->rs_dispatch_delay;
	p->redirect = c->recovery_redirect;
}

static void path_times(const struct graph *g, const struct waits *w, struct path_uop *p)
{
	const struct times *t = g->run[0];
	p->alone = w->alone;
	p->fetch = t->fetch;
	p->alloc = t->alloc_at[g->slots % SLOTS];
	p->ready = t->ready;
	p->dispatch = t->dispatch;
	p->complete = t->complete;
}

static void uop(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base)
{
	struct waits w = { .alone = r->port == 255 && r->ready == r->alloc && r->dispatch == r->alloc };
	struct access a = { .store = -1, .line = -1, .older = -1 };
	struct path_uop p = { .slots = g->slots };
	if (d->flags & DETAIL_BESIDE)
		return;
	if (d->flags & DETAIL_SLOT) {
		path_before(g, d, &p);
		g->first_load = g->loads;
		g->first_store = g->stores;
		slot_begins(g, d, r, base);
	}
	uint64_t from = base + r->alloc + g->c.rs_dispatch_delay;
	for (unsigned k = 0; k < 4; k++)
		from = most(from, g->seen->reg[d->src[k]]);
	w.more = less(base + r->ready, from);
	if (w.more > FAR_AWAY) {
		w.far = true;
		w.more = less(base + r->ready, g->seen->retire);
	}
	if (r->is & SPMU_IS(LOAD) && r->size) {
		bool *waits = &g->waits[r->ip % LEARNT];
		if (g->seen->addr_known > base + r->ready)
			*waits = r->did & SPMU_DID(WAIT_STORE_ADDR);
		w.store_addresses = *waits;
		measure_load(g, d, r, base, &a);
	}
	if (r->is & SPMU_IS(STORE_ADDR))
		a = (struct access){ .latency = r->complete - r->dispatch, .hit = 1, .tlb = d->tlb, .walk = d->walk, .memory = d->memory, .store = -1, .line = -1, .older = -1 };
	path_operands(g, d, r, &p);
	for (unsigned i = 0; i < g->runs; i++)
		uop_of(g, g->run[i], d, r, &w, &a, base);
	path_times(g, &w, &p);
	uop_seen(g, d, r, base);
	if (d->flags & DETAIL_STORED && g->first_store == d->store)	/* the address went in a slot of its own */
		g->first_store = d->store - 1;
	if (d->flags & DETAIL_LAST)
		retired(g, r, base, g->first_load, g->first_store);
	p.retire = g->run[0]->retire;
	path_uop(g->path, &p);
}

void graph_batch(struct graph *g, const struct spmu_batch *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct spmu_record *r = &b->records[i];
		if (r->kind == SPMU_REC_UOP) {
			if (r->did & SPMU_DID(RETIRED) && g->queue_first != g->queue_last)
				uop(g, &g->queue[g->queue_first++ % QUEUE], r, b->base_cycle);
		} else if (r->signal == DETAIL_UOP) {
			if (g->queue_last - g->queue_first < QUEUE)
				memcpy(&g->queue[g->queue_last++ % QUEUE], r, sizeof *r);
		} else if (r->signal == DETAIL_FILL) {
			if (g->fills < PENDING)
				memcpy(&g->fill[g->fills++], r, sizeof *r);
		} else if (r->signal == DETAIL_WRITTEN) {
			struct core_written w;
			memcpy(&w, r, sizeof w);
			written(g, &w);
		}
	}
}

/* ---- making and asking ---- */

int graph_supports(const struct core_config *c, struct err *err)
{
	if (c->frontend_simple || c->idq_size >= SLOTS || c->rob_size >= SLOTS || c->load_buffer_size >= LOADS || c->store_buffer_size >= STORES - 2)
		return err_set(err, ERR_UNSUPPORTED, "a dependence graph: %s is not a core with buffers as it knows them", c->name);
	if (c->inorder || c->alu_double_speed || c->rename_register_reads || c->replay_cycles || c->trace_sets || c->store_commit_cycles || c->lsd_predecode)
		return err_set(err, ERR_UNSUPPORTED, "a dependence graph: %s has mechanisms of older cores, which it does not know", c->name);
	if (c->partial_high_ports || c->partial_stall || c->partial_flags_stall)
		return err_set(err, ERR_UNSUPPORTED, "a dependence graph: %s merges pieces of registers, which it does not know", c->name);
	return 0;
}

void graph_destroy(struct graph *g)
{
	if (!g)
		return;
	for (unsigned i = 0; g->run && i < g->runs; i++)
		free(g->run[i]);
	free(g->run);
	free(g->seen);
	path_destroy(g->path);
	free(g);
}

int graph_create(struct graph **out, const struct core_config *c, const uint32_t *free_classes, unsigned runs, struct err *err)
{
	int rc = graph_supports(c, err);
	if (rc)
		return rc;
	if (!runs || runs > GRAPH_RUNS)
		return err_set(err, ERR_INPUT, "%u graphs at a time are not 1 to %d", runs, GRAPH_RUNS);
	struct graph *g = calloc(1, sizeof *g);
	if (!g)
		return err_set(err, ERR_NOMEM, "out of memory for a dependence graph");
	g->c = *c;
	g->runs = runs;
	g->buffers = c->l1d_fill_buffers < BUFFERS ? c->l1d_fill_buffers : BUFFERS;
	g->l3_latency = (uint64_t)lround(c->l3_latency + c->l3_latency_ns * c->frequency_ghz);
	const uint16_t all = (uint16_t)((1u << c->ports_count) - 1);
	const uint32_t size[POOLS] = { c->rs_size, c->rs_load_size, c->rs_store_size }, ports[POOLS] = { all, c->ports_load, c->ports_store };
	const uint32_t group = c->rs_group && c->ports_binding != 1 ? (uint32_t)least(c->alloc_width, c->rs_size) : 0;
	g->group_room = (int32_t)(2 * group);
	for (unsigned p = 0; p < POOLS; p++)
		g->pool_ports[p] = size[p] ? (uint16_t)ports[p] : 0;
	g->pool_ports[0] &= (uint16_t)~(g->pool_ports[1] | g->pool_ports[2]);
	g->run = calloc(runs, sizeof *g->run);
	g->seen = calloc(1, sizeof *g->seen);
	g->path = path_create();
	bool good = g->run && g->seen && g->path;
	for (unsigned i = 0; i < runs && good; i++) {
		g->run[i] = calloc(1, sizeof **g->run);
		good = g->run[i] != NULL;
		if (!good)
			break;
		g->run[i]->free = free_classes[i];
		for (unsigned p = 0; p < POOLS; p++)
			g->run[i]->room[p] = (int32_t)(size[p] + (p ? 0 : group));
	}
	if (!good) {
		graph_destroy(g);
		return err_set(err, ERR_NOMEM, "out of memory for %u dependence graphs", runs);
	}
	*out = g;
	return 0;
}

uint64_t graph_cycles(const struct graph *g, unsigned run) { return run < g->runs ? g->run[run]->retire : 0; }
uint64_t graph_measured(const struct graph *g) { return g->seen->retire; }

struct path *graph_path(struct graph *g)
{
	path_end(g->path);
	return g->path;
}
