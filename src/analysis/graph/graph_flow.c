/* SPDX-License-Identifier: GPL-2.0-or-later
 * Dependence graphs (graph.h): delivery and allocation of a slot, scheduler entries, ports.
 *
 * Leaves out: that a uop might have been bound to another port in another graph.
 */
#include "analysis/graph/graph_private.h"

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

/* Moves the schedulers on to cycle `to`: entries of uops that were dispatched before it are free again. */
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

uint64_t graph_wait_room(const struct graph *g, struct times *t, unsigned pool, int32_t more, uint64_t cycle)
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

uint64_t graph_take_port(struct times *t, unsigned port, uint64_t ready)
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

struct fetched {		/* what a slot's delivery waited for, as measured */
	uint64_t goes_on;	/* cycles after the slot before, or after the branch that resolved */
	/* the part of goes_on that each of these can account for at most */
	uint64_t code, memory, l3, tlb, resteer;
	uint32_t room, width;
	bool anew;		/* the cycle's room is not simply what the slot before left of it */
	bool still;		/* the machine had stopped: cycles count from the last retirement */
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
	if (free_of(t, GRAPH_L2_MISS))
		goes_on = less(goes_on, f->l3);
	if (free_of(t, GRAPH_PAGE_WALK))
		goes_on = less(goes_on, f->tlb);
	if (free_of(t, GRAPH_BTB_MISS))
		goes_on = less(goes_on, f->resteer);
	const bool redirected = g->redirected && !free_of(t, GRAPH_MISPREDICT), begins = redirected || t->cleared;
	if (f->still) {
		t->fetch = most(t->fetch, t->retire + f->goes_on);
	} else if (begins) {
		t->fetch =
			most(most(t->fetch, t->cleared), redirected ? t->resolved + c->recovery_redirect : 0) + goes_on;
		if (!g->redirected && !g->seen->cleared) {	/* in the run, fetch was not redirected here */
			room = f->width;
			anew = false;
		}
	} else {
		/* the run was redirected here; in this graph fetch goes on, and a taken branch ends the cycle */
		if (g->redirected || g->seen->cleared) {
			anew = goes_on || (g->taken && room != f->width);
			goes_on += g->taken && room && room != f->width && !goes_on;
			room = anew ? f->width : room;
		}
		t->fetch += goes_on;
	}
	if (anew && (begins || f->still || !(g->redirected || g->seen->cleared)))
		room = f->room;
	t->cleared = 0;
	t->fetch += !room && !free_of(t, GRAPH_FRONT_END);
	room = room ? room : f->width;
	const uint64_t queue = t->alloc_at[(g->slots - c->idq_size) % SLOTS];
	t->fetch_due = t->fetch;
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

uint64_t graph_stalled(const struct graph *g, struct times *t, uint64_t cycle)
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
		t->alloc = graph_wait_room(g, t, 0, g->group_room, t->alloc);
	const uint64_t cycle = t->alloc;
	used_slot(g, t);
	return cycle;
}

void graph_slot_begins(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base)
{
	const struct core_config *c = &g->c;
	struct times *seen = g->seen;
	struct fetched f = { .code = d->code, .memory = d->code_memory, .l3 = d->code_l3, .tlb = d->code_tlb,
		.room = d->room, .width = d->width ? d->width : 1 };
	uint64_t from = seen->fetch;
	const bool barrier = d->barrier > g->barrier;
	if (g->redirected)
		from = most(from, seen->resolved + c->recovery_redirect);
	from = most(from, seen->cleared);
	f.still = barrier && d->fetch >= d->barrier;
	f.goes_on = f.still ? less(d->fetch, seen->retire) : less(d->fetch, from);
	f.anew = f.still || f.goes_on || g->redirected || seen->cleared || d->room != g->last_room;
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
	seen->cleared = 0;
	g->redirected = g->taken = g->resteered = false;
}
