/* SPDX-License-Identifier: GPL-2.0-or-later
 * Follows the critical path back (graph_path.h). */
#include "analysis/graph/graph_path.h"
#include <stdlib.h>
#include <string.h>

enum { NODE_F, NODE_D, NODE_E, NODE_P, NODE_C, NODES };
enum { WINDOW = 8192 /* uops */, REGS = 128, SLOTS = 1024, STORES = 256, FIRST_ROOM = 256 };
#define NOWHERE UINT64_MAX

const char *const path_kind_name[PATH_KINDS_COUNT] = {
#define X(name, text, help) text,
	PATH_KINDS(X)
#undef X
};
const char *const path_kind_help[PATH_KINDS_COUNT] = {
#define X(name, text, help) help,
	PATH_KINDS(X)
#undef X
};

struct node {
	uint64_t time, from;
	uint32_t port;	/* cycles spent waiting for a port */
	uint8_t kind;
};
struct path {
	uint64_t uops;		/* taken so far */
	uint64_t charged;	/* uops below this number are charged */
	uint64_t slot_first, fetch, alloc, retire;	/* nodes: the slot's first uop; the last F, D and C */
	uint64_t branch, known, slot_done, slot_done_time;
	uint64_t reg[REGS], alloc_of[SLOTS], retire_of[SLOTS], store[STORES];
	struct node node[WINDOW][NODES];
	uint64_t ip[WINDOW];
	uint64_t kind[PATH_KINDS_COUNT];
	struct path_site *site;
	uint32_t *bucket;	/* 1 + index of the site; 0: none */
	size_t sites, room;
	bool failed;
};

struct path *path_create(void)
{
	struct path *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->room = FIRST_ROOM;
	p->site = calloc(p->room, sizeof *p->site);
	p->bucket = calloc(2 * p->room, sizeof *p->bucket);
	if (!p->site || !p->bucket) {
		path_destroy(p);
		return NULL;
	}
	p->fetch = p->alloc = p->retire = p->branch = p->known = NOWHERE;
	memset(p->reg, 0xff, sizeof p->reg);
	memset(p->alloc_of, 0xff, sizeof p->alloc_of);
	memset(p->retire_of, 0xff, sizeof p->retire_of);
	memset(p->store, 0xff, sizeof p->store);
	return p;
}

void path_destroy(struct path *p)
{
	if (!p)
		return;
	free(p->site);
	free(p->bucket);
	free(p);
}

/* ---- instructions ---- */

static size_t place_of(const struct path *p, uint64_t ip)
{
	const size_t mask = 2 * p->room - 1;
	size_t at = (size_t)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
	while (p->bucket[at] && p->site[p->bucket[at] - 1].ip != ip)
		at = (at + 1) & mask;
	return at;
}

struct path_site *path_site(struct path *p, uint64_t ip)
{
	size_t at = place_of(p, ip);
	if (p->bucket[at])
		return &p->site[p->bucket[at] - 1];
	if (p->sites == p->room) {
		const size_t room = 2 * p->room;
		uint32_t *bucket = room < UINT32_MAX / 2 ? calloc(2 * room, sizeof *bucket) : NULL;
		struct path_site *site = bucket ? realloc(p->site, room * sizeof *site) : NULL;
		if (!site) {
			free(bucket);
			p->failed = true;
			return NULL;
		}
		free(p->bucket);
		p->bucket = bucket;
		p->site = site;
		p->room = room;
		for (size_t i = 0; i < p->sites; i++)
			p->bucket[place_of(p, site[i].ip)] = (uint32_t)i + 1;
		at = place_of(p, ip);
	}
	p->site[p->sites] = (struct path_site){ .ip = ip };
	p->bucket[at] = (uint32_t)++p->sites;
	return &p->site[p->sites - 1];
}

static void charge(struct path *p, uint64_t ip, enum path_kind kind, uint64_t cycles)
{
	if (!cycles)
		return;
	struct path_site *s = path_site(p, ip);
	p->kind[kind] += cycles;
	if (s) {
		s->cycles += cycles;
		s->kind[kind] += cycles;
	}
}

/* ---- the walk ---- */

static struct node *node_of(struct path *p, uint64_t id) { return &p->node[id / NODES % WINDOW][id % NODES]; }

/* Follows the path back from the last retirement and charges the uops from p->charged up to `end`. */
static void walk(struct path *p, uint64_t end)
{
	uint64_t at = p->retire;
	while (at != NOWHERE && at / NODES >= p->charged && at / NODES + WINDOW > p->uops) {
		const struct node *n = node_of(p, at);
		const uint64_t from = n->from, ip = p->ip[at / NODES % WINDOW];
		const bool known = from != NOWHERE && from < at && from / NODES + WINDOW > p->uops;
		if (!known)
			break;
		const struct node *before = node_of(p, from);
		if (at / NODES < end) {
			const uint64_t takes = n->time > before->time ? n->time - before->time : 0,
				       port = n->port < takes ? n->port : takes;
			charge(p, ip, PATH_PORT, port);
			charge(p, ip, (enum path_kind)n->kind, takes - port);
		}
		at = from;
	}
	p->charged = end;
}

static void put(struct path *p, uint64_t uop, unsigned which, uint64_t time, uint64_t from, enum path_kind kind)
{
	p->node[uop % WINDOW][which] = (struct node){ .time = time, .from = from, .kind = (uint8_t)kind };
}

static enum path_kind latency_of(const struct path_uop *u)
{
	if (!(u->is & SPMU_IS(LOAD)))
		return PATH_EXECUTE;
	if (u->did & (SPMU_DID(FORWARDED) | SPMU_DID(FORWARD_BLOCKED)))
		return PATH_FORWARD;
	if (u->did & SPMU_DID(L3_MISS))
		return PATH_MEMORY;
	if (u->did & SPMU_DID(L3_HIT))
		return PATH_L3;
	if (u->did & SPMU_DID(L2_HIT))
		return PATH_L2;
	if (u->did & SPMU_DID(LFB_HIT))
		return u->line_of == PATH_NO_LINE ? PATH_LINE : u->line_from;
	return PATH_L1D;
}

static void slot_begins(struct path *p, const struct path_uop *u, uint64_t n)
{
	uint64_t from = p->fetch;
	enum path_kind kind = u->code ? PATH_ICACHE : PATH_FRONT_END;
	if (u->queue == u->fetch && u->queue > u->fetch_before) {
		from = p->alloc_of[(u->slots - u->idq_size) % SLOTS];
		kind = PATH_QUEUE;
	} else if (u->still) {
		from = p->retire;
		kind = PATH_SERIAL;
	} else if (u->redirected && u->resolved + u->redirect >= u->fetch_before) {
		from = p->branch;
		kind = PATH_MISPREDICT;
	}
	put(p, n, NODE_F, u->fetch, from, kind);
	p->fetch = n * NODES + NODE_F;
	p->slot_first = n;
	p->slot_done_time = 0;
}

/* Where the slot was allocated, as far as this uop shows it. */
static void allocated(struct path *p, const struct path_uop *u)
{
	uint64_t from = p->alloc;
	enum path_kind kind = PATH_ALLOCATE;
	if (u->is & SPMU_IS(LOAD) && u->alloc == u->load_buffer)
		kind = PATH_WINDOW;
	else if (u->is & SPMU_IS(STORE_ADDR) && u->alloc == u->store_buffer)
		kind = PATH_STORES;
	else if (u->result && u->alloc == u->prf)
		kind = PATH_WINDOW;
	else if (u->alloc == u->fetch + u->frontend_latency)
		from = p->slot_first * NODES + NODE_F, kind = PATH_FRONT_END;
	else if (u->alloc == u->rob)
		from = p->retire_of[(u->slots - u->rob_size) % SLOTS], kind = PATH_WINDOW;
	else if (u->alloc > u->alloc_before + 1)
		kind = PATH_WINDOW;
	put(p, p->slot_first, NODE_D, u->alloc, from, kind);
}

void path_uop(struct path *p, const struct path_uop *u)
{
	const uint64_t n = p->uops++;
	p->ip[n % WINDOW] = u->ip;
	if (u->first)
		slot_begins(p, u, n);
	if (u->first || u->alloc != p->node[p->slot_first % WINDOW][NODE_D].time)
		allocated(p, u);
	const uint64_t slot = p->slot_first * NODES + NODE_D;
	uint64_t from = slot, latest = u->alloc + u->dispatch_delay;
	enum path_kind kind = PATH_ALLOCATE;
	for (unsigned k = 0; k < 4 && !u->alone; k++)
		if (u->src[k] && u->reg[k] > latest && p->reg[u->src[k] % REGS] != NOWHERE) {
			latest = u->reg[k];
			from = p->reg[u->src[k] % REGS];
			kind = PATH_EXECUTE;	/* bypass latency */
		}
	if (u->is & SPMU_IS(LOAD) && u->ready == u->known && u->known > latest && p->known != NOWHERE) {
		from = p->known;
		kind = PATH_FORWARD;
	}
	put(p, n, NODE_E, u->dispatch, from, kind);
	p->node[n % WINDOW][NODE_E].port = (uint32_t)(u->dispatch > u->ready ? u->dispatch - u->ready : 0);
	from = n * NODES + NODE_E;
	kind = latency_of(u);
	if (u->did & SPMU_DID(FORWARDED) && u->is & SPMU_IS(LOAD) && u->store >= 0 && u->data > u->dispatch &&
		p->store[u->store % STORES] != NOWHERE)
		from = p->store[u->store % STORES];
	put(p, n, NODE_P, u->complete, from, kind);
	const uint64_t id = n * NODES + NODE_P;
	const uint64_t result = u->copied ? p->reg[u->src[0] % REGS] : id;
	for (unsigned k = 0; k < 3; k++)
		p->reg[u->dst[k] % REGS] = result;
	p->reg[0] = NOWHERE;
	if (u->stored)
		p->store[u->store % STORES] = id;
	if (u->is & SPMU_IS(STORE_ADDR) && u->complete > u->known)
		p->known = id;
	if (u->did & SPMU_DID(MISPREDICTED))
		p->branch = id;
	if (u->complete >= p->slot_done_time) {
		p->slot_done_time = u->complete;
		p->slot_done = id;
	}
	if (!u->last)
		return;
	const bool done = u->retire > u->retire_before + 1 || p->retire == NOWHERE;
	put(p, n, NODE_C, u->retire, done ? p->slot_done : p->retire, PATH_RETIRE);
	p->retire = n * NODES + NODE_C;
	p->alloc = slot;
	p->alloc_of[u->slots % SLOTS] = slot;
	p->retire_of[u->slots % SLOTS] = p->retire;
	if (p->uops - p->charged >= WINDOW - 64)
		walk(p, p->charged + WINDOW / 2);
}

void path_end(struct path *p) { walk(p, p->uops); }
uint64_t path_cycles(const struct path *p, enum path_kind k) { return p->kind[k]; }
bool path_failed(const struct path *p) { return p->failed; }

static int most_first(const void *a, const void *b)
{
	const struct path_site *x = a, *y = b;
	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

const struct path_site *path_sites(struct path *p, size_t *count)
{
	qsort(p->site, p->sites, sizeof *p->site, most_first);
	memset(p->bucket, 0, 2 * p->room * sizeof *p->bucket);
	for (size_t i = 0; i < p->sites; i++)
		p->bucket[place_of(p, p->site[i].ip)] = (uint32_t)i + 1;
	*count = p->sites;
	return p->site;
}
