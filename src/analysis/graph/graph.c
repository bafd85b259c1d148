/* SPDX-License-Identifier: GPL-2.0-or-later
 * Computes the dependence graphs (graph.h) in one pass over records and details.  The state of a graph is what
 * later nodes may depend on.
 *
 * `seen` holds the same state for the run itself, as its records say.  The latency of an edge is the difference
 * of the measured times at its ends, so it contains whatever the machine did there.
 */
#include "analysis/graph/graph_private.h"
#include "core/memory/cache.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAR_AWAY = 16 };	/* cycles: an edge that the graph does not know is longer than this */

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

/* What a uop's ready cycle waited for beyond what the graph knows. */
struct waits {
	uint64_t more;
	uint64_t back;	/* cycles before the last retirement */
	bool far;	/* counted from the last retirement */
	bool alone;	/* the uop does not go through a scheduler */
};

static uint64_t dispatched(const struct graph *g, struct times *t, const struct core_detail *d,
	const struct spmu_record *r, const struct waits *w, uint64_t alloc, uint64_t *ready)
{
	uint64_t from = alloc + g->c.rs_dispatch_delay;
	for (unsigned k = 0; k < 4; k++)
		from = most(from, t->reg[d->src[k]]);
	from = w->far ? most(from, less(t->retire + w->more, w->back)) : from + w->more;
	*ready = from;
	if (r->is & SPMU_IS(LOAD) && r->size && graph_load_waits(g, t, r->ip, from))
		from = most(from, t->addr_known);
	t->ready = from;
	if (r->port >= 16 || free_of(t, GRAPH_PORTS)) {
		if (r->port < 16)	/* it still leaves the scheduler, but does not wait for the port */
			graph_take_port(t, r->port, from);
		return from;
	}
	if (d->unit && d->unit < UNITS) {
		from = most(from, t->unit[d->unit]);
		from = graph_take_port(t, r->port, from);
		t->unit[d->unit] = from + d->busy;
		return from;
	}
	return graph_take_port(t, r->port, from);
}

static bool takes_register(const struct graph *g, const struct core_detail *d, const struct spmu_record *r)
{
	return g->c.prf_integer && r->port < 16 && d->ports && reg_any_general(d->dst);
}

/* When a register is free for the next result. */
static uint64_t register_free(const struct graph *g, const struct times *t)
{
	return t->prf_free[(g->results - g->c.prf_integer) % RESULTS];
}

static void uop_of(const struct graph *g, struct times *t, const struct core_detail *d, const struct spmu_record *r,
	const struct waits *w, const struct access *a)
{
	const struct core_config *c = &g->c;
	const bool load = r->is & SPMU_IS(LOAD), address = r->is & SPMU_IS(STORE_ADDR);
	const unsigned st = d->store % STORES;
	uint64_t *allocated = &t->alloc_at[g->slots % SLOTS], alloc = *allocated, ready, cycle, complete;
	if (load && t->lb_free[(g->loads - c->load_buffer_size) % LOADS] > alloc && !free_of(t, GRAPH_WINDOW))
		alloc = graph_stalled(g, t, t->lb_free[(g->loads - c->load_buffer_size) % LOADS]);
	if (address && t->written[(d->store - c->store_buffer_size) % STORES] > alloc &&
		!free_of(t, GRAPH_STORE_BUFFER))
		alloc = graph_stalled(g, t, t->written[(d->store - c->store_buffer_size) % STORES]);
	if (takes_register(g, d, r) && register_free(g, t) > alloc && !free_of(t, GRAPH_WINDOW))
		alloc = graph_stalled(g, t, register_free(g, t));
	if (r->port < 16 && d->ports) {
		if (t->room[d->pool] < 1 && !free_of(t, GRAPH_WINDOW)) {
			const uint64_t until = graph_wait_room(g, t, d->pool, 1, alloc);
			alloc = until > alloc ? graph_stalled(g, t, until) : alloc;
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
		if (load && r->size)
			complete = graph_loaded(g, t, a, r, ready, &cycle);
		else if (address)
			complete = graph_addressed(g, t, a, r->did, cycle);
		else
			complete = cycle + takes;
	}
	if (a->walk && !w->alone)
		graph_walks(g, t, a, r, cycle);
	graph_access_asks(g, t, a, cycle);
	if (address) {
		t->addr_ready[st] = t->data_ready[st] = complete - 1;
		t->written[st] = UINT64_MAX / 2;	/* not yet */
		t->addr_known = most(t->addr_known, complete - 1);
	}
	if (d->flags & DETAIL_STORED) {
		t->given[st] = ready;
		t->data_ready[st] = most(t->data_ready[st], complete);
	}
	uint64_t result = d->flags & DETAIL_COPY ? t->reg[d->src[0]] : complete;
	if (load && r->size && d->flags & DETAIL_RENAMES)
		result = graph_renamed(g, t, r, complete);
	for (unsigned k = 0; k < 3; k++)
		t->reg[d->dst[k]] = result;
	t->reg[REG_NONE] = 0;
	t->slot_done = most(t->slot_done, complete);
	t->dispatch = cycle;
	t->complete = complete;
	if (r->did & SPMU_DID(MISPREDICTED))
		t->resolved = complete;
}

/* Takes the uop into the state of the run itself. */
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
		if (r->size > 64)
			g->big = d->store;
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
	if (r->did & SPMU_DID(CLEAR_MEMORY_ORDER))
		seen->cleared = less(base + r->dispatch, g->c.frontend_latency + g->c.rs_dispatch_delay);
	g->loads += (r->is & SPMU_IS(LOAD)) != 0;
	g->results += takes_register(g, d, r);
	if (d->walk)
		graph_walk_seen(g, d, r, base);
	graph_lines_asked(g);
}

/* ---- C ---- */

/* Charges the retiring slot its part of each class's cost: by how much the graph without the class has gained
 * on the whole graph since the slot before. */
static void place_costs(struct graph *g, uint64_t ip)
{
	struct path_site *site = path_site(g->path, ip);
	for (unsigned i = 1; i < g->runs && i <= GRAPH_CLASSES_COUNT; i++) {
		const int64_t ahead = (int64_t)(g->run[0]->retire - g->run[i]->retire);
		if (site)
			site->saved[i - 1] += ahead - g->ahead[i - 1];
		g->ahead[i - 1] = ahead;
	}
}

static void retired(struct graph *g, const struct spmu_record *r, uint64_t base, uint32_t loads, uint32_t results,
	uint32_t store)
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
		for (uint32_t n = results; n != g->results; n++)
			t->prf_free[n % RESULTS] = t->retire + 1;
		for (uint32_t n = store; n != g->stores; n++)
			t->retired[(n + 1) % STORES] = t->retire;
	}
	g->seen->retire = base + r->retire;
	g->slots++;
	if (g->places)
		place_costs(g, r->ip);
}

/* ---- records ---- */

/* What the slot may wait for in the whole graph. */
static void path_before(const struct graph *g, const struct core_detail *d, struct path_uop *p)
{
	const struct times *t = g->run[0];
	p->fetch_before = t->fetch;
	p->alloc_before = t->alloc - !t->alloc_used;
	p->resolved = t->resolved;
	p->redirected = g->redirected;
	p->still = t->cleared || (d->barrier > g->barrier && d->fetch >= d->barrier);
	p->code = d->code || d->code_tlb;
	p->alloc_last = t->alloc_at[(g->slots - 1) % SLOTS];
	p->alloc_group = g->slots >= g->c.alloc_width ? t->alloc_at[(g->slots - g->c.alloc_width) % SLOTS] + 1 : 0;
	p->queue = t->alloc_at[(g->slots - g->c.idq_size) % SLOTS];
	p->rob = t->rob_free[(g->slots - g->c.rob_size) % SLOTS];
}

/* What the uop may wait for in the whole graph. */
static void path_operands(const struct graph *g, const struct core_detail *d, const struct spmu_record *r,
	const struct waits *w, const struct access *a, struct path_uop *p)
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
	p->result = takes_register(g, d, r);
	p->prf = register_free(g, t);
	p->prf_size = c->prf_integer;
	p->store_buffer = r->is & SPMU_IS(STORE_ADDR) ? t->written[(d->store - c->store_buffer_size) % STORES] : 0;
	p->retire_before = t->retire;
	p->idq_size = c->idq_size;
	p->rob_size = c->rob_size;
	p->frontend_latency = c->frontend_latency;
	p->dispatch_delay = c->rs_dispatch_delay;
	p->redirect = c->recovery_redirect;
	p->number = d->store;
	p->load_buffer_size = c->load_buffer_size;
	p->store_buffer_size = c->store_buffer_size;
	p->retire_latency = c->retire_latency;
	p->alloc_width = c->alloc_width;
	p->retire_width = c->retire_width;
	p->retire_group = g->slots >= c->retire_width ? t->rob_free[(g->slots - c->retire_width) % SLOTS] : 0;
	p->alloc_slot = t->alloc_at[g->slots % SLOTS];
	p->fetch_due = t->fetch_due;
	p->far = w->far;
	p->waits = r->is & SPMU_IS(LOAD) && r->size && graph_load_waits(g, t, r->ip, 0);
	p->blocked = r->is & SPMU_IS(LOAD) && !(r->did & SPMU_DID(FORWARDED)) ? a->store : -1;
	p->written = p->blocked >= 0 ? t->written[p->blocked] : 0;
	p->line_of = a->line >= 0 ? r->addr >> 6 : PATH_NO_LINE;
	p->line = a->line >= 0 ? t->line[a->line] : 0;
	const unsigned source = a->line >= 0 ? g->source_of[a->line] : FROM_MEMORY;
	p->line_from = source == FROM_L2 ? PATH_LINE_L2 : source == FROM_L3 ? PATH_LINE_L3 : PATH_LINE_MEMORY;
	p->hit = a->hit;
	p->asks = 0;
	for (uint32_t k = 0; k < g->fills && p->asks < PATH_ASKED; k++)
		if (g->fill[k].level == 1)
			p->asked[p->asks++] = g->fill[k].line;
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
	struct access a = {
		.store = -1, .line = -1, .older = -1, .page = -1, .fill = -1, .dispatch = base + r->dispatch
	};
	struct path_uop p = { .slots = g->slots };
	if (d->flags & DETAIL_BESIDE)
		return;
	if (d->flags & DETAIL_SLOT) {
		path_before(g, d, &p);
		g->first_load = g->loads;
		g->first_result = g->results;
		g->first_store = g->stores;
		graph_slot_begins(g, d, r, base);
	}
	uint64_t from = base + r->alloc + g->c.rs_dispatch_delay;
	for (unsigned k = 0; k < 4; k++)
		from = most(from, g->seen->reg[d->src[k]]);
	w.more = less(base + r->ready, from);
	if (w.more > FAR_AWAY) {
		w.far = true;
		w.more = less(base + r->ready, g->seen->retire);
		w.back = less(g->seen->retire, base + r->ready);
	}
	if (r->is & SPMU_IS(LOAD) && r->size)
		graph_measure_load(g, d, r, base, &a);
	if (r->is & SPMU_IS(STORE_ADDR))
		graph_measure_store(g, d, r, base, &a);
	path_operands(g, d, r, &w, &a, &p);
	for (unsigned i = 0; i < g->runs; i++)
		uop_of(g, g->run[i], d, r, &w, &a);
	path_times(g, &w, &p);
	uop_seen(g, d, r, base);
	if (d->flags & DETAIL_STORED && g->first_store == d->store)	/* the address went in a slot of its own */
		g->first_store = d->store - 1;
	if (d->flags & DETAIL_LAST)
		retired(g, r, base, g->first_load, g->first_result, g->first_store);
	p.retire = g->run[0]->retire;
	path_uop(g->path, &p);
	if (g->slack)
		slack_uop(g->slack, &p);
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
			struct core_fill f;
			memcpy(&f, r, sizeof f);
			graph_line_seen(g, &f);
		} else if (r->signal == DETAIL_WRITTEN) {
			struct core_written w;
			memcpy(&w, r, sizeof w);
			graph_written(g, &w);
		}
	}
}

/* ---- making and asking ---- */

int graph_supports(const struct core_config *c, struct err *err)
{
	if (c->frontend_simple || c->idq_size >= SLOTS || c->rob_size >= SLOTS || c->load_buffer_size >= LOADS ||
		c->store_buffer_size >= STORES - 2)
		return err_set(err, ERR_UNSUPPORTED,
			"a dependence graph cannot model %s: its front end is too simple or its buffers are too large",
			c->name);
	if (c->inorder || c->alu_double_speed || c->rename_register_reads || c->replay_cycles || c->trace_sets ||
		c->store_commit_cycles || c->lsd_predecode)
		return err_set(err, ERR_UNSUPPORTED,
			"a dependence graph cannot model %s: it has mechanisms of older cores", c->name);
	if (c->partial_high_ports || c->partial_stall || c->partial_flags_stall)
		return err_set(err, ERR_UNSUPPORTED,
			"a dependence graph cannot model %s: it merges parts of registers", c->name);
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
	slack_destroy(g->slack);
	free(g->ahead);
	free(g);
}

int graph_create(struct graph **out, const struct core_config *c, const uint32_t *free_classes, unsigned runs,
	struct err *err)
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
	const uint32_t size[POOLS] = { c->rs_size, c->rs_load_size, c->rs_store_size },
		       ports[POOLS] = { all, c->ports_load, c->ports_store };
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
		memset(g->run[i]->passes, (int)least(c->disambiguation_initial, c->disambiguation_limit),
			sizeof g->run[i]->passes);
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

_Static_assert((int)GRAPH_CLASSES_COUNT <= (int)PATH_CLASSES, "a place for each");
int graph_keep(struct graph *g, bool places, bool slack, struct err *err)
{
	g->places = places;
	if (places && !g->ahead)
		g->ahead = calloc(GRAPH_CLASSES_COUNT, sizeof *g->ahead);
	if (slack && !g->slack)
		g->slack = slack_create(g->path);
	return (places && !g->ahead) || (slack && !g->slack)
		? err_set(err, ERR_NOMEM, "out of memory for a dependence graph")
		: 0;
}

const struct slack *graph_slack(struct graph *g)
{
	if (g->slack)
		slack_end(g->slack);
	return g->slack;
}

struct path *graph_path(struct graph *g)
{
	path_end(g->path);
	return g->path;
}
