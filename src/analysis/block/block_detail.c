/* SPDX-License-Identifier: GPL-2.0-or-later
 * What limits a block: the uops on each port, the bounds that single resources set, the longest dependency chain.
 *
 * A bound is the time that an iteration would take if only that resource were scarce; the bound that reaches
 * the measured cycles is the bottleneck.  Ports: for every set of ports, the uops that can go nowhere else,
 * divided by the size of the set.  Chain: every register (and every place in memory that is forwarded from) is
 * followed from the start of an iteration to its end, which gives a (max,+) matrix; the matrix's largest cycle
 * mean (Karp, 1978) is the chain's cycles an iteration.  The front end has no such bound: it is named when slots
 * that allocation could have filled stayed empty because no uops came.  Leaves out of the chains: addresses of
 * stores, flags merged by partial writes, bypass delays.
 */
#include "analysis/block/block_private.h"
#include "stream/format.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 48, NODES = REG_COUNT + PLACES, NEVER = INT_MIN / 4 };
static const double reached = 0.97;	/* a bound of this share of the measured cycles explains them */

static int no_memory(struct err *err)
{
	return err_set(err, ERR_NOMEM, "out of memory for the block's analysis");
}

const char *block_limit_name(enum block_limit limit)
{
	static const char *const name[] = { "frontend", "issue", "retire", "ports", "divider", "store", "dependency" };
	return name[limit];
}

static struct block_bound *add_bound(struct block_result *r, enum block_limit limit, double cycles)
{
	struct block_bound *b = &r->bound[r->bounds < BLOCK_BOUNDS ? r->bounds++ : BLOCK_BOUNDS - 1];
	*b = (struct block_bound){ .limit = limit, .cycles = cycles };
	return b;
}

/* ---- ports, divider, stores ---- */

static void name_ports(unsigned mask, char *text, size_t bytes)
{
	size_t n = 0;
	for (unsigned i = 0; i < BLOCK_PORTS && n + 4 < bytes; i++)
		if (mask >> i & 1)
			n += (size_t)snprintf(text + n, bytes - n, "%sp%u", n ? " " : "", i);
}

static void port_bound(const struct core_config *core, const struct flat *f, struct block_result *r)
{
	struct { unsigned mask, uops; } kind[64];
	unsigned kinds = 0, best_mask = 0, best_uops = 0;
	double best = 0;
	for (unsigned u = 0; u < f->n; u++) {
		unsigned mask = f->uop[u].kind == UOP_ELIMINATED ? 0
								 : f->uop[u].ports & ((1u << core->ports_count) - 1),
			 k = 0;
		if (!mask)
			continue;
		while (k < kinds && kind[k].mask != mask)
			k++;
		if (k == kinds && kinds < 64)
			kind[kinds].mask = mask, kind[kinds++].uops = 0;
		if (k < 64)
			kind[k].uops++;
	}
	for (unsigned set = 1; set < 1u << core->ports_count; set++) {
		unsigned uops = 0, ports = (unsigned)__builtin_popcount(set);
		for (unsigned k = 0; k < kinds; k++)
			uops += kind[k].mask & ~set ? 0 : kind[k].uops;
		double cycles = (double)uops / ports;
		if (cycles > best || (cycles == best && uops && ports < (unsigned)__builtin_popcount(best_mask))) {
			best = cycles;
			best_mask = set;
			best_uops = uops;
		}
	}
	if (!best_uops)
		return;
	char names[96];
	struct block_bound *b = add_bound(r, LIMIT_PORTS, best);
	name_ports(best_mask, names, sizeof names);
	snprintf(b->text, sizeof b->text, "%u uop%s that can only use %s", best_uops, best_uops == 1 ? "" : "s", names);
}

static void unit_bound(const struct flat *f, struct block_result *r)
{
	double busy[256] = { 0 };
	unsigned best = 0;
	for (unsigned u = 0; u < f->n; u++)
		if (f->uop[u].unit && f->uop[u].busy > 1)
			busy[f->uop[u].unit] += f->uop[u].unit == UNIT_FPDIVS
				? (double)f->uop[u].busy / __builtin_popcount(f->uop[u].ports)
				: f->uop[u].busy;
	for (unsigned i = 1; i < 256; i++)
		best = busy[i] > busy[best] ? i : best;
	if (busy[best] <= 0)
		return;
	struct block_bound *b = add_bound(r, LIMIT_DIVIDER, busy[best]);
	snprintf(b->text, sizeof b->text, "the %s busy for %g cycles",
		best == UNIT_INTDIV           ? "integer divider is"
			: best == UNIT_FPDIV  ? "floating-point divider is"
			: best == UNIT_FPDIVS ? "floating-point dividers are"
					      : "unit that is not pipelined is",
		busy[best]);
}

static void store_bound(const struct core_config *core, const struct flat *f, struct block_result *r)
{
	unsigned stores = 0;
	for (unsigned u = 0; u < f->n; u++)
		stores += f->uop[u].kind == UOP_STORE_ADDR;
	if (!stores)
		return;
	struct block_bound *b = add_bound(r, LIMIT_STORE, (double)stores / core->store_commit_width);
	snprintf(b->text, sizeof b->text, "%u store%s, %u a cycle into L1D", stores, stores == 1 ? "" : "s",
		core->store_commit_width);
}

static void width_bounds(const struct core_config *core, struct block_result *r)
{
	struct block_bound *b = add_bound(r, LIMIT_ISSUE, (double)r->slots / core->alloc_width);
	snprintf(b->text, sizeof b->text, "%u fused uops, %u allocated a cycle", r->slots, core->alloc_width);
	if (core->retire_width < core->alloc_width) {
		b = add_bound(r, LIMIT_RETIRE, (double)r->slots / core->retire_width);
		snprintf(b->text, sizeof b->text, "%u fused uops, %u retired a cycle", r->slots, core->retire_width);
	}
}

/* ---- front end ---- */

static void front_end(const struct core_config *core, const struct path *p, const struct samples *s,
	struct block_result *r)
{
	double iterations = s->iterations ? s->iterations : 1, width = core->alloc_width;
	double empty = s->cycles * width - r->slots * iterations, bubbles = (double)s->signal[SPMU_SIG_IDQ_BUBBLE];
	size_t from[4] = { 0 };
	static const struct { uint64_t bit; const char *name; } path[] = {
		{ SPMU_DID(FROM_MITE), "legacy decoders" },
		{ SPMU_DID(FROM_DSB), "uop cache" },
		{ SPMU_DID(FROM_MS), "microcode sequencer" },
		{ SPMU_DID(FROM_LSD), "loop buffer" },
	};
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; k < 4; k++)
			from[k] += (s->s[i].did & path[k].bit) != 0;
	unsigned most = 0;
	for (unsigned k = 1; k < 4; k++)
		most = from[k] > from[most] ? k : most;
	if (bubbles * 100 < s->cycles * width * 3)
		return;
	struct block_bound *b = add_bound(r, LIMIT_FRONT_END, bubbles / width / iterations);
	const char *why = path[most].name;
	char more[64] = "";
	if (from[2] && s->signal[SPMU_SIG_MS_SWITCH]) {
		why = "switches to the microcode sequencer";
	} else if (from[0] && s->signal[SPMU_SIG_LCP_STALL]) {
		why = "predecode: length-changing prefixes";
	} else if (most == 0 && (double)p->bytes / core->mite_fetch_bytes >= reached * s->cycles / iterations) {
		why = "predecode";
		snprintf(more, sizeof more, ", %llu bytes, %u a cycle", (unsigned long long)p->bytes,
			core->mite_fetch_bytes);
	} else if (most == 0) {
		why = "decode";
	}
	snprintf(b->text, sizeof b->text, "%s%s: %.0f %% of the slots stayed empty", why, more,
		100 * bubbles / (s->cycles * width));
	b->binds = empty > 0 && bubbles >= empty / 2;
}

/* ---- dependency chain ---- */

struct chains {
	const struct flat *f;
	unsigned *latency;		/* of each uop, as measured */
	/* addresses that a store of the block writes and a load of the block is forwarded from */
	uint64_t place[PLACES];
	uint16_t place_size[PLACES];
	unsigned places;
	int *value;			/* [NODES]; used while an iteration is walked */
	/* [uops] the uop before each one on the longest path to it; -1: the value came from before the iteration */
	int *from;
	int *producer;			/* [NODES] the uop that made the value; -1: from before the iteration */
	int *matrix;			/* [active][active] */
	/* registers that are read before they are written, and written; and the places */
	unsigned node[NODES], active;
	unsigned forward_latency;
};

static bool overlaps(const struct chains *c, unsigned place, uint64_t addr, unsigned size)
{
	return addr < c->place[place] + c->place_size[place] && c->place[place] < addr + size;
}

static void find_places(struct chains *c)
{
	for (unsigned u = 0; u < c->f->n; u++) {
		const struct uop *st = &c->f->uop[u];
		if (st->kind != UOP_STORE_DATA || c->f->addr[u] == ST_NOT_DONE)
			continue;
		unsigned k = 0;
		while (k < c->places && (c->place[k] != c->f->addr[u] || c->place_size[k] != st->size))
			k++;
		if (k < c->places || c->places == PLACES)
			continue;
		c->place[c->places] = c->f->addr[u];
		c->place_size[c->places++] = st->size;
	}
}

/* Walks one iteration that starts with the values in c->value. */
static void walk(struct chains *c)
{
	for (unsigned n = 0; n < NODES; n++)
		c->producer[n] = -1;
	for (unsigned u = 0; u < c->f->n; u++) {
		const struct uop *v = &c->f->uop[u];
		int best = NEVER, before = -1;
		bool access = c->f->addr[u] != ST_NOT_DONE;
		for (unsigned i = 0; i < 4; i++)
			if (v->src[i] && c->value[v->src[i]] > best) {
				best = c->value[v->src[i]];
				before = c->producer[v->src[i]];
			}
		int out = best == NEVER ? NEVER : best + (int)c->latency[u];
		for (unsigned k = 0; k < c->places && v->kind == UOP_LOAD && access; k++) {
			unsigned n = REG_COUNT + k;
			if (overlaps(c, k, c->f->addr[u], v->size) && c->value[n] != NEVER &&
				c->value[n] + (int)c->forward_latency > out) {
				out = c->value[n] + (int)c->forward_latency;
				before = c->producer[n];
			}
		}
		c->from[u] = before;
		for (unsigned i = 0; i < 3; i++)
			if (v->dst[i]) {
				c->value[v->dst[i]] = out;
				c->producer[v->dst[i]] = (int)u;
			}
		for (unsigned k = 0; k < c->places && v->kind == UOP_STORE_DATA && access; k++)
			if (c->place[k] == c->f->addr[u] && c->place_size[k] == v->size) {
				c->value[REG_COUNT + k] = out;
				c->producer[REG_COUNT + k] = (int)u;
			}
	}
}

static void walk_from(struct chains *c, unsigned node)
{
	for (unsigned n = 0; n < NODES; n++)
		c->value[n] = NEVER;
	c->value[node] = 0;
	walk(c);
}

static void find_active(struct chains *c)
{
	bool read[NODES] = { false }, written[NODES] = { false };
	for (unsigned u = 0; u < c->f->n; u++) {
		const struct uop *v = &c->f->uop[u];
		for (unsigned i = 0; i < 4; i++)
			read[v->src[i]] |= !written[v->src[i]];
		for (unsigned i = 0; i < 3; i++)
			written[v->dst[i]] = true;
	}
	for (unsigned n = 1; n < NODES; n++)
		if (n >= REG_COUNT ? n - REG_COUNT < c->places : read[n] && written[n])
			c->node[c->active++] = n;
}

/* The largest cycle mean of the matrix, by Karp's theorem, over walks of exactly k edges from anywhere.  Puts
 * the nodes of such a cycle into cycle[] and returns its length; 0: there is no cycle. */
static unsigned karp(const struct chains *c, unsigned *cycle, double *mean)
{
	unsigned n = c->active, found = 0;
	int *d = malloc((size_t)(n + 1) * n * sizeof *d), *pred = malloc((size_t)(n + 1) * n * sizeof *pred);
	*mean = 0;
	if (!d || !pred || !n)
		goto out;
	for (unsigned v = 0; v < n; v++)
		d[v] = 0, pred[v] = -1;
	for (unsigned k = 1; k <= n; k++)
		for (unsigned v = 0; v < n; v++) {
			int best = NEVER, from = -1;
			for (unsigned u = 0; u < n; u++) {
				int w = c->matrix[u * n + v];
				if (w != NEVER && d[(k - 1) * n + u] != NEVER && d[(k - 1) * n + u] + w > best) {
					best = d[(k - 1) * n + u] + w;
					from = (int)u;
				}
			}
			d[k * n + v] = best;
			pred[k * n + v] = from;
		}
	double best = -1;
	unsigned end = 0;
	for (unsigned v = 0; v < n; v++) {
		if (d[n * n + v] == NEVER)
			continue;
		double least = 1e30;
		for (unsigned k = 0; k < n; k++)
			if (d[k * n + v] != NEVER && (double)(d[n * n + v] - d[k * n + v]) / (n - k) < least)
				least = (double)(d[n * n + v] - d[k * n + v]) / (n - k);
		if (least > best && least < 1e30) {
			best = least;
			end = v;
		}
	}
	if (best < 0)
		goto out;
	*mean = best;
	/* The walk of n edges to `end` contains a cycle of that mean: the best mean between two visits of one
	 * node. */
	unsigned at[NODES + 1];
	at[n] = end;
	for (unsigned k = n; k > 0; k--)
		at[k - 1] = (unsigned)pred[k * n + at[k]];
	double got = -1;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k <= n; k++) {
			if (at[i] != at[k])
				continue;
			double m = (double)(d[k * n + at[k]] - d[i * n + at[i]]) / (k - i);
			if (m > got + 1e-9 || (m > got - 1e-9 && k - i < found)) {
				got = m;
				found = k - i;
				for (unsigned x = 0; x < found; x++)
					cycle[x] = at[i + x];
			}
			break;
		}
out:
	free(d);
	free(pred);
	return found;
}

/* Appends the instructions on the path from node a at the start of an iteration to node b at its end. */
static void list_path(struct chains *c, unsigned a, unsigned b, struct block_result *r, unsigned room)
{
	unsigned first = r->links;
	walk_from(c, a);
	for (int u = c->producer[b]; u >= 0 && r->links < room; u = c->from[u])
		r->chain[r->links++] = (struct block_link){ c->f->uop[u].insn,
			c->f->uop[u].kind == UOP_ELIMINATED ? 0 : c->latency[u] };
	for (unsigned i = first, k = r->links; i + 1 < k; i++) {
		struct block_link t = r->chain[i];
		r->chain[i] = r->chain[--k];
		r->chain[k] = t;
	}
}

/* Merges neighbouring uops of one instruction into one link. */
static void merge_links(struct block_result *r)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->links; i++) {
		if (n && r->chain[n - 1].insn == r->chain[i].insn && i)
			r->chain[n - 1].latency += r->chain[i].latency;
		else
			r->chain[n++] = r->chain[i];
	}
	r->links = n;
}

/* The number of each step's first uop; the caller frees it.  NULL: out of memory. */
static unsigned *first_uops(const struct flat *f, const struct path *p)
{
	unsigned *first = calloc(p->steps + 1, sizeof *first);
	for (unsigned u = f->n; first && u-- > 0;)
		first[f->uop[u].insn] = u;
	return first;
}

static int chain_bound(const struct core_config *core, const struct flat *f, const struct samples *s,
	const struct path *p, struct block_result *r, struct err *err)
{
	struct chains c = { .f = f, .forward_latency = core->forward_latency };
	unsigned *first = first_uops(f, p), cycle[NODES];
	double mean = 0;
	int rc = 0;
	c.latency = calloc(f->n + 1, sizeof *c.latency);
	c.from = calloc(f->n + 1, sizeof *c.from);
	c.value = calloc(NODES, sizeof *c.value);
	c.producer = calloc(NODES, sizeof *c.producer);
	if (!first || !c.latency || !c.from || !c.value || !c.producer) {
		rc = no_memory(err);
		goto out;
	}
	for (unsigned u = 0; u < f->n; u++)
		c.latency[u] = UINT_MAX;
	for (size_t i = 0; i < s->n; i++) {
		unsigned u = first[s->s[i].step] + s->s[i].nth, took = (unsigned)(s->s[i].complete - s->s[i].dispatch);
		if (u < f->n && f->uop[u].insn == s->s[i].step && took < c.latency[u])
			c.latency[u] = took;
	}
	for (unsigned u = 0; u < f->n; u++)
		if (c.latency[u] == UINT_MAX || f->uop[u].kind == UOP_ELIMINATED)
			c.latency[u] = 0;
	find_places(&c);
	find_active(&c);
	c.matrix = malloc((size_t)(c.active + 1) * (c.active + 1) * sizeof *c.matrix);
	if (!c.matrix) {
		rc = no_memory(err);
		goto out;
	}
	for (unsigned a = 0; a < c.active; a++) {
		walk_from(&c, c.node[a]);
		/* a node that no uop wrote keeps its value: an iteration has no edge to it */
		for (unsigned b = 0; b < c.active; b++)
			c.matrix[a * c.active + b] = c.producer[c.node[b]] < 0 ? NEVER : c.value[c.node[b]];
	}
	unsigned length = karp(&c, cycle, &mean);
	if (length && mean > 0) {
		unsigned room = length * f->n;
		r->chain = calloc(room + 1, sizeof *r->chain);
		if (!r->chain) {
			rc = no_memory(err);
			goto out;
		}
		for (unsigned i = 0; i < length; i++)
			list_path(&c, c.node[cycle[i]], c.node[cycle[(i + 1) % length]], r, room);
		r->chain_iterations = length;
		merge_links(r);
		struct block_bound *b = add_bound(r, LIMIT_CHAIN, mean);
		snprintf(b->text, sizeof b->text, "%u instructions that wait for one another", r->links);
		if (r->links == 1)
			snprintf(b->text, sizeof b->text,
				"an instruction waits for its own result from the iteration before");
	}
out:
	free(first);
	free(c.latency);
	free(c.from);
	free(c.value);
	free(c.producer);
	free(c.matrix);
	return rc;
}

/* ---- the whole ---- */

static int by_cycles(const void *a, const void *b)
{
	const struct block_bound *x = a, *y = b;
	if (x->binds != y->binds)
		return y->binds - x->binds;
	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return (int)x->limit - (int)y->limit;
}

static void name_bottleneck(struct block_result *r)
{
	double cycles = (double)r->cycles / r->iterations;
	size_t n = 0;
	for (unsigned i = 0; i < r->bounds; i++)
		if (r->bound[i].limit != LIMIT_FRONT_END)
			r->bound[i].binds = r->bound[i].cycles >= reached * cycles;
	qsort(r->bound, r->bounds, sizeof *r->bound, by_cycles);
	for (unsigned i = 0; i < r->bounds && r->bound[i].binds && n + 16 < sizeof r->bottleneck; i++)
		n += (size_t)snprintf(r->bottleneck + n, sizeof r->bottleneck - n, "%s%s", n ? "+" : "",
			block_limit_name(r->bound[i].limit));
	if (!n)
		snprintf(r->bottleneck, sizeof r->bottleneck, "several");
}

/* The numbers of the uops that wrote what this one reads; writer: by register, 1 + the number of the last one. */
static void connect(const struct flat *f, unsigned u, uint32_t number, uint32_t writer[UINT8_MAX + 1],
	struct block_uop *to)
{
	const struct uop *uop = &f->uop[u];
	for (unsigned i = 0; i < sizeof uop->src && i < sizeof to->source / sizeof *to->source; i++)
		to->source[i] = uop->src[i] ? writer[uop->src[i]] : 0;
	for (unsigned i = 0; i < sizeof uop->dst; i++)
		if (uop->dst[i])
			writer[uop->dst[i]] = number + 1;
}

static int timeline_uops(const struct flat *f, const struct path *p, const struct samples *s, struct block_result *r,
	struct err *err)
{
	enum { UOPS = 400 };
	uint32_t writer[UINT8_MAX + 1] = { 0 };
	unsigned *first = first_uops(f, p);
	r->uop = calloc(UOPS, sizeof *r->uop);
	if (!r->uop || !first) {
		free(first);
		return no_memory(err);
	}
	uint64_t zero = UINT64_MAX;
	for (size_t i = 0; i < s->n && s->s[i].iteration == 0; i++)
		zero = s->s[i].dispatch < zero ? s->s[i].dispatch : zero;
	for (size_t i = 0; i < s->n && i < UOPS; i++) {
		const struct sample *a = &s->s[i];
		r->uop[r->timeline_uops++] = (struct block_uop){ .iteration = a->iteration,
			.insn = a->step, .first = a->first, .port = a->port, .did = a->did,
			.fetch = (int64_t)(a->fetch - zero), .alloc = (int64_t)(a->alloc - zero),
			.ready = (int64_t)(a->ready - zero), .dispatch = (int64_t)(a->dispatch - zero),
			.complete = (int64_t)(a->complete - zero), .retire = (int64_t)(a->retire - zero) };
		const unsigned u = first[a->step] + a->nth;
		if (u < f->n && f->uop[u].insn == a->step)
			connect(f, u, (uint32_t)i, writer, &r->uop[i]);
	}
	free(first);
	return 0;
}

int block_detail(const struct core_config *core, const struct path *p, const struct flat *f, const struct samples *s,
                 struct block_result *r, struct err *err)
{
	double iterations = s->iterations ? s->iterations : 1;
	for (size_t i = 0; i < s->n; i++)
		if (s->s[i].port < BLOCK_PORTS && s->s[i].step < r->insns)
			r->insn[s->s[i].step].port[s->s[i].port]++;
	for (unsigned i = 0; i < r->insns; i++)
		for (unsigned k = 0; k < BLOCK_PORTS; k++)
			r->insn[i].port[k] /= iterations;
	front_end(core, p, s, r);
	width_bounds(core, r);
	port_bound(core, f, r);
	unit_bound(f, r);
	store_bound(core, f, r);
	int rc = chain_bound(core, f, s, p, r, err);
	if (!rc)
		rc = timeline_uops(f, p, s, r, err);
	name_bottleneck(r);
	return rc;
}
