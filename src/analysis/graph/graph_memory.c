/* SPDX-License-Identifier: GPL-2.0-or-later
 * Dependence graphs (graph.h): latencies of loads, lines and fill buffers, stores that are written.
 *
 * Leaves out: that the caches would hold other lines in other graphs.
 */
#include "analysis/graph/graph_private.h"
#include "core/memory/cache.h"

/* ---- E and P ---- */

static int line_at(uint64_t line) { return (int)((line ^ line >> 8) % FILLS); }

static bool overlaps(const struct graph *g, unsigned i, uint64_t addr, uint32_t size)
{
	return g->store[i].size && (addr - g->store[i].addr < g->store[i].size || g->store[i].addr - addr < size);
}

/* Index of the youngest store to any of these bytes that may still be in the buffer; -1: none. */
static int store_found(const struct graph *g, uint64_t addr, uint32_t size)
{
	/* nothing younger than this touches these bytes, modulo 8 * BUCKETS */
	uint32_t back = g->c.store_buffer_size;
	for (unsigned end = 0; end < 2 && size; end++)
		back = (uint32_t)least(back, g->stores - g->bucket[(addr + (end ? size - 1 : 0)) >> 3 & (BUCKETS - 1)]);
	if (size > 16 || g->stores - g->big < g->c.store_buffer_size)
		back = 0;
	for (; size && back < g->c.store_buffer_size; back++) {
		const unsigned i = (g->stores - back) % STORES;
		if (g->store[i].number == g->stores - back && overlaps(g, i, addr, size))
			return (int)i;
	}
	return -1;
}

/* The latency of an access in a graph. */
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

/* When a request made at `cycle` gets a fill buffer, and which one. */
static uint64_t buffer_free(const struct graph *g, const struct times *t, uint64_t cycle, unsigned *which)
{
	unsigned soonest = 0;
	for (unsigned i = 1; i < g->buffers; i++)
		if (t->buffer[i] < t->buffer[soonest])
			soonest = i;
	*which = soonest;
	return most(cycle, t->buffer[soonest]);
}

/* Whether L2 already had the line, after it had been on its way.  (True, too, for a line whose super queue entry
 * another request has taken since.) */
static bool was_there(const struct graph *g, const struct core_fill *f)
{
	const int at = line_at(f->physical);
	return g->line2_of[at] == f->physical && g->seen->line2[at] <= f->ready;
}

/* When the line of pending fill f arrives if the request got its buffer at `cycle` in a graph, and at `seen` in
 * the run. */
static uint64_t arrives(const struct graph *g, const struct times *t, const struct core_fill *f, uint64_t cycle,
	uint64_t seen)
{
	uint64_t takes = less(f->ready, seen);
	if (f->level == 2)
		return cycle + (free_of(t, GRAPH_L3_MISS) && f->source == FROM_MEMORY ? least(takes, g->l3_latency) :
		                free_of(t, GRAPH_L2_MISS) && f->source == FROM_L3 ? 0 : takes);
	if (f->source != FROM_L2 && !f->memory && g->line2_of[line_at(f->physical)] == f->physical) {
		/* it was on its way to L2 */
		const uint64_t there = g->seen->line2[line_at(f->physical)],
			       latest = most(seen + g->c.l2_latency, there);
		return most(cycle + g->c.l2_latency, t->line2[line_at(f->physical)]) + less(f->ready, latest);
	}
	if (free_of(t, GRAPH_L3_MISS) && f->source == FROM_MEMORY)
		takes = f->memory ? less(takes, f->memory) : least(takes, g->l3_latency);
	if (free_of(t, GRAPH_L2_MISS) && f->source == FROM_L3)
		takes = least(takes, g->c.l2_latency);
	if (free_of(t, GRAPH_L1_MISS) && f->source == FROM_L2)
		takes = 0;
	if (f->source == FROM_L2 && was_there(g, f))	/* but it may not be there yet in this graph */
		return most(cycle + takes, t->line2[line_at(f->physical)]);
	return cycle + takes;
}

/* When the line of pending fill k arrives if it is requested at `cycle`.  It waits for a buffer, unless it hits
 * because the misses of its class are free.  A prefetch does not wait: it was only made because a buffer was
 * free. */
static uint64_t brought(const struct graph *g, const struct times *t, uint32_t k, uint64_t cycle, unsigned *which)
{
	const struct core_fill *f = &g->fill[k];
	const uint64_t ready = arrives(g, t, f, cycle, g->began[k]), begins = buffer_free(g, t, cycle, which);
	return f->prefetch || ready <= cycle ? ready : arrives(g, t, f, begins, g->began[k]);
}

/* Requests pending fill k.  What its requester did before was done at `cycle` in the graph and at `seen` in the
 * run. */
static void line_asked(const struct graph *g, struct times *t, uint32_t k, uint64_t cycle, uint64_t seen)
{
	const struct core_fill *f = &g->fill[k];
	unsigned which;
	if (f->level == 2) {
		t->line2[line_at(f->line)] = arrives(g, t, f, cycle, seen);
		return;
	}
	const uint64_t from = cycle + less(f->from, seen), ready = brought(g, t, k, from, &which);
	if (ready > from)
		t->buffer[which] = ready;
	t->line[line_at(f->line)] = ready;
}

void graph_line_seen(struct graph *g, const struct core_fill *f)
{
	unsigned which;
	if (g->fills == PENDING)
		return;
	if (f->level == 1) {
		const uint64_t begins = buffer_free(g, g->seen, f->from, &which);
		g->began[g->fills] = f->prefetch ? f->from : least(begins, f->ready);
		g->seen->buffer[which] = f->ready;
	}
	g->fill[g->fills++] = *f;
}

void graph_lines_asked(struct graph *g)
{
	for (uint32_t k = 0; k < g->fills; k++) {
		const int at = line_at(g->fill[k].line);
		if (g->fill[k].level == 2) {
			g->seen->line2[at] = g->fill[k].ready;
			g->line2_of[at] = g->fill[k].line;
		} else {
			g->seen->line[at] = g->fill[k].ready;
			g->line_of[at] = g->fill[k].line;
			g->source_of[at] = g->fill[k].source;
		}
	}
	g->fills = 0;
}

static uint64_t page_number(const struct graph *g, uint64_t addr)
{
	static const uint8_t shift[] = { 12, 21, 30 };	/* memory.page */
	return addr >> shift[g->c.memory_page];
}

/* If another access's walk of this page was under way when the access came, its time begins when that walk is
 * over. */
static void await_walk(const struct graph *g, const struct spmu_record *r, struct access *a)
{
	const uint64_t page = page_number(g, r->addr), walked = g->seen->walked[page % PAGES];
	a->page = -1;
	if (!r->size || a->tlb || g->page_of[page % PAGES] != page || walked <= a->dispatch ||
		walked > a->dispatch + a->latency)
		return;
	a->page = (int)(page % PAGES);
	a->latency -= walked - a->dispatch;
	a->dispatch = walked;
}

/* Cycles of the access's translation in a graph. */
static uint64_t translated(const struct times *t, const struct access *a)
{
	if (free_of(t, GRAPH_PAGE_WALK) || (free_of(t, GRAPH_DTLB_MISS) && !a->walk))
		return 0;
	/* cycles of memory count as part of the walk, as far as the walk is that long */
	return free_of(t, GRAPH_L3_MISS) ? less(a->tlb, least(a->memory, a->walk)) : a->tlb;
}

void graph_access_asks(const struct graph *g, struct times *t, const struct access *a, uint64_t cycle)
{
	const uint64_t walked = a->page < 0 ? cycle : most(cycle, t->walked[a->page]), tlb = translated(t, a);
	for (uint32_t k = 0; k < g->fills; k++) {
		const bool own = g->fill[k].from >= a->dispatch + a->tlb;	/* else the page walk's request */
		line_asked(g, t, k, walked + (own ? tlb : 0), a->dispatch + (own ? a->tlb : 0));
	}
}

void graph_measure_store(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base,
	struct access *a)
{
	*a = (struct access){ .latency = r->complete - r->dispatch, .hit = 1,
		.tlb = d->tlb, .walk = d->walk, .memory = d->memory, .store = -1, .line = -1, .older = -1,
		.fill = -1, .dispatch = base + r->dispatch };
	await_walk(g, r, a);
}

uint64_t graph_addressed(const struct graph *g, const struct times *t, const struct access *a, uint64_t did,
	uint64_t cycle)
{
	return most(cycle + 1, (a->page < 0 ? cycle : most(cycle, t->walked[a->page])) + shortened(g, t, a, did));
}

void graph_walks(const struct graph *g, struct times *t, const struct access *a, const struct spmu_record *r,
	uint64_t cycle)
{
	t->walked[page_number(g, r->addr) % PAGES] = cycle + translated(t, a);
}

void graph_walk_seen(struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base)
{
	const uint64_t page = page_number(g, r->addr);
	g->page_of[page % PAGES] = page;
	g->seen->walked[page % PAGES] = base + r->dispatch + d->tlb;
}

void graph_measure_load(const struct graph *g, const struct core_detail *d, const struct spmu_record *r, uint64_t base,
	struct access *a)
{
	const struct core_config *c = &g->c;
	const struct times *seen = g->seen;
	const uint64_t dispatch = base + r->dispatch, complete = base + r->complete, line = r->addr >> 6;
	const bool vector = (uint8_t)(d->dst[0] - REG_VEC) < REG_FLAGS - REG_VEC || r->size > 8;
	*a = (struct access){ .latency = complete - dispatch,
		.hit = c->l1d_latency + (vector ? c->l1d_vector_extra : 0),
		.tlb = d->tlb, .walk = d->walk, .memory = d->memory, .store = -1, .line = -1, .older = -1, .page = -1,
		.fill = -1, .dispatch = dispatch };
	if (!(r->did & (SPMU_DID(FORWARDED) | SPMU_DID(FORWARD_BLOCKED))))
		await_walk(g, r, a);
	uint64_t latest = a->dispatch;
	if (r->did & SPMU_DID(FORWARDED)) {
		a->store = (int)(d->store % STORES);
		latest = most(latest, seen->data_ready[a->store]);
	} else if (r->did & SPMU_DID(FORWARD_BLOCKED) && (a->store = store_found(g, r->addr, r->size)) >= 0) {
		latest = most(latest, seen->written[a->store] + c->forward_blocked);
	} else if (r->did & (SPMU_DID(LFB_HIT) | SPMU_DID(L1D_HIT)) && r->size && g->line_of[line_at(line)] == line &&
		seen->line[line_at(line)] <= complete) {
		a->line = line_at(line);
		latest = most(latest + a->tlb + a->hit, seen->line[a->line]);
	}
	for (uint32_t k = 0; k < g->fills && r->did & SPMU_DID(L1D_MISS); k++) {
		const struct core_fill *f = &g->fill[k];
		if (f->level != 1 || f->line != line || f->prefetch)
			continue;
		a->fill = (int)k;
		a->follows = f->source != FROM_L2 && !f->memory && g->line2_of[line_at(f->physical)] == f->physical;
		latest = f->ready;
	}
	if (a->fill >= 0)
		/* without the wait for a fill buffer, which each graph computes itself */
		a->latency = less(a->latency, less(g->began[a->fill], g->fill[a->fill].from));
	if ((a->older = a->store >= 0 ? a->store : store_found(g, r->addr, r->size)) >= 0) {
		const uint64_t offset = r->addr - g->store[a->older].addr, size = g->store[a->older].size;
		a->holds = r->did & SPMU_DID(FORWARDED) || (offset < size && r->size <= size - offset);
		a->forwards = c->forward_latency + (vector ? c->forward_vector_extra : 0);
	}
	a->rest = less(complete, latest);
}

bool graph_load_waits(const struct graph *g, const struct times *t, uint64_t ip, uint64_t ready)
{
	return t->addr_known > ready &&
		(g->c.disambiguation_limit == 255 || t->passes[ip % LEARNT] < g->c.disambiguation_limit);
}

/* The load passed stores of unknown address, or waited for them: updates its counter. */
static void learns(const struct graph *g, struct times *t, uint64_t ip, bool conflict)
{
	uint8_t *counter = &t->passes[ip % LEARNT];
	if (conflict)
		*counter = 0;
	else if (*counter < g->c.disambiguation_limit && *counter < UINT8_MAX)
		++*counter;
}

/* The load read past a store on which it depends: it executes again after all older uops have retired, and what
 * follows it is fetched again.  Returns the cycle of its new dispatch. */
static uint64_t goes_again(const struct graph *g, struct times *t, uint64_t known)
{
	const struct core_config *c = &g->c;
	t->cleared = most(known, t->retire) + 1 + c->clear_cycles + c->recovery_redirect;
	return t->cleared + c->frontend_latency + c->rs_dispatch_delay;
}

uint64_t graph_loaded(const struct graph *g, struct times *t, const struct access *a, const struct spmu_record *r,
	uint64_t alone, uint64_t *at)
{
	const struct core_config *c = &g->c;
	const uint64_t did = r->did;
	bool older = a->older >= 0 && t->written[a->older] > *at;
	if (t->addr_known > alone)
		learns(g, t, r->ip, older && t->addr_ready[a->older] > alone);
	if (older && t->addr_ready[a->older] > *at) {
		*at = goes_again(g, t, t->addr_ready[a->older]);
		older = t->written[a->older] > *at;
	}
	uint64_t cycle = *at;
	t->store = older && a->holds ? a->older : -1;
	if (t->store >= 0)
		return most(cycle, t->data_ready[t->store]) + (did & SPMU_DID(FORWARDED) ? a->rest : a->forwards);
	if (did & SPMU_DID(FORWARDED))	/* in this graph the store is already written, so its line is in L1D */
		return cycle + a->hit + less(a->rest, a->forwards);
	if (a->store >= 0)
		return most(cycle, t->written[a->store] + (free_of(t, GRAPH_NO_FORWARD) ? 0 : c->forward_blocked)) +
			a->rest;
	if (a->page >= 0)
		cycle = most(cycle, t->walked[a->page]);
	const uint64_t alias = did & SPMU_DID(ALIAS_4K) && free_of(t, GRAPH_NO_FORWARD) ? c->alias_penalty : 0;
	const uint64_t tlb = translated(t, a);
	if (a->line >= 0)
		return most(cycle + tlb + a->hit, t->line[a->line]) + less(a->rest, alias);
	uint64_t takes = shortened(g, t, a, did);
	if (a->fill >= 0) {
		const struct core_fill *f = &g->fill[a->fill];
		const uint64_t from = cycle + tlb + less(f->from, a->dispatch + a->tlb);
		unsigned which;
		if (a->follows)
			return brought(g, t, (uint32_t)a->fill, from, &which) + a->rest;
		if (takes > a->hit + tlb)	/* else it hits, because the misses of its class are free */
			takes += buffer_free(g, t, from, &which) - from;
		if (f->source == FROM_L2 && was_there(g, f))
			return most(cycle + takes, t->line2[line_at(f->physical)]);
	}
	return cycle + less(takes, alias);
}

uint64_t graph_renamed(const struct graph *g, struct times *t, const struct spmu_record *r, uint64_t complete)
{
	const struct core_config *c = &g->c;
	if (t->store < 0)
		return complete;
	const uint32_t back = g->stores - g->store[t->store].number;
	const bool whole = g->store[t->store].addr == r->addr && g->store[t->store].size == r->size;
	return c->forward_renamed_stores || pairs_meet(t->pair, r->ip, back, whole, c->forward_renamed)
		? t->given[t->store]
		: complete;
}

void graph_written(struct graph *g, const struct core_written *w)
{
	const struct core_config *c = &g->c;
	const uint64_t takes = less(w->ready, w->from);
	const bool cold = w->memory, near = !cold && takes > 1;
	const unsigned st = w->store % STORES;
	const uint64_t line = g->store[st].number == w->store ? g->store[st].addr >> 6 : UINT64_MAX;
	/* another access had requested the line */
	const bool waits = g->line_of[line_at(line)] == line && g->seen->line[line_at(line)] + 1 == w->ready;
	int asked = -1;
	for (uint32_t k = 0; k < g->fills; k++)
		if (g->fill[k].level == 1 && g->fill[k].line == line && !g->fill[k].prefetch &&
			g->fill[k].ready + 1 == w->ready)
			asked = (int)k;
	for (unsigned i = 0; i < g->runs; i++) {
		struct times *t = g->run[i];
		unsigned which;
		uint64_t from = t->retired[w->store % STORES] + c->store_commit_delay, at = from + takes;
		if (waits)
			at = most(from, t->line[line_at(line)]) + 1;
		else if (asked >= 0)
			at = brought(g, t, (uint32_t)asked, from + less(g->fill[asked].from, w->from), &which) + 1;
		else if (cold && free_of(t, GRAPH_L3_MISS))
			at = from + less(takes, w->memory);
		else if (near && free_of(t, GRAPH_L1_MISS))
			at = from + 1;
		for (uint32_t k = 0; k < g->fills; k++)
			line_asked(g, t, k, from, w->from);
		if (at > t->last_written) {
			t->last_written = at;
			t->written_count = 1;
		} else if (++t->written_count > c->store_commit_width) {
			t->last_written++;
			t->written_count = 1;
		}
		t->written[w->store % STORES] = t->last_written;
	}
	graph_lines_asked(g);
	struct times *seen = g->seen;	/* in the run itself */
	if (w->ready > seen->last_written) {
		seen->last_written = w->ready;
		seen->written_count = 1;
	} else if (++seen->written_count > c->store_commit_width) {
		seen->last_written++;
		seen->written_count = 1;
	}
	seen->written[w->store % STORES] = seen->last_written;
}
