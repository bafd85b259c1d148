/* SPDX-License-Identifier: GPL-2.0-or-later
 * Bimodal, loop detector and tagged global table; see hybrid.h. */
#include "core/predict/hybrid.h"
#include <stdlib.h>
#include <string.h>

enum { CONFIDENT = 2, LOOP_AGE = 3, NO_LOOP = 3 };

int hybrid_init(struct hybrid *h, const struct core_config *c, struct err *err)
{
	memset(h, 0, sizeof(*h));
	h->base_mask = (UINT32_C(1) << c->tage_base_log2) - 1;
	uint32_t sets = (UINT32_C(1) << c->global_entries_log2) / HYBRID_WAYS;
	if (!sets)
		return err_set(err, ERR_INPUT, "global.entries_log2 = %u: there must be at least %d entries",
			c->global_entries_log2, HYBRID_WAYS);
	h->global_mask = sets - 1;
	if (c->tage_loop_entries & (c->tage_loop_entries - 1))
		return err_set(err, ERR_INPUT, "tage.loop_entries = %u is not a power of two", c->tage_loop_entries);
	h->loop_mask = c->tage_loop_entries ? c->tage_loop_entries - 1 : 0;
	h->loop_max = c->bpred_loop_max;
	h->base = malloc((size_t)h->base_mask + 1);
	h->global = malloc(sets * sizeof(*h->global));
	h->loop = c->tage_loop_entries ? malloc(c->tage_loop_entries * sizeof(*h->loop)) : NULL;
	if (!h->base || !h->global || (c->tage_loop_entries && !h->loop)) {
		hybrid_release(h);
		return err_set(err, ERR_NOMEM, "out of memory for the branch predictor");
	}
	hybrid_clear(h);
	return 0;
}

void hybrid_release(struct hybrid *h)
{
	free(h->base);
	free(h->global);
	free(h->loop);
	memset(h, 0, sizeof(*h));
}

void hybrid_clear(struct hybrid *h)
{
	memset(h->base, 1, (size_t)h->base_mask + 1);	/* weakly not taken: a new branch falls through */
	memset(h->global, 0, ((size_t)h->global_mask + 1) * sizeof(*h->global));
	if (h->loop)
		memset(h->loop, 0, ((size_t)h->loop_mask + 1) * sizeof(*h->loop));
	h->path = 0;
}

static inline uint8_t toward(uint8_t counter, bool taken)
{
	return taken ? counter + (counter < 3) : counter - (counter > 0);
}

/* Returns the branch's set in the global table, its tag, and its way (-1: none). */
static inline struct hybrid_global *find_global(const struct hybrid *h, uint32_t path, uint32_t pc, uint16_t *tag,
	int *way)
{
	struct hybrid_global *g = &h->global[((path >> 6) ^ (pc >> 4)) & h->global_mask];
	*tag = (uint16_t)(((path ^ pc >> 13) & 63) << 4 | (pc & 15)) | 1u << 15;
	*way = -1;
	for (int i = 0; i < HYBRID_WAYS; i++)
		if (g->tag[i] == *tag)
			*way = i;
	return g;
}

static int loop_opinion(const struct hybrid_loop *e, uint32_t pc)
{
	if (e->tag != pc || e->confidence < CONFIDENT || e->differed == NO_LOOP)
		return -1;
	return e->count + 1 == e->trip ? !e->taken : e->taken;
}

/* Trains the loop detector.  A branch gets an entry when the bimodal table mispredicted it, which is most likely its
 * exit. */
static void loop_learn(struct hybrid *h, struct hybrid_loop *e, uint32_t pc, bool taken, bool wrong)
{
	if (e->tag != pc) {
		if (!wrong)
			return;
		if (e->age) {
			e->age--;
			return;
		}
		*e = (struct hybrid_loop){ .tag = pc, .taken = !taken, .age = 1 };
		return;
	}
	e->count++;
	if (taken == e->taken) {
		if (e->count >= h->loop_max) {	/* the loop is longer than the detector can count */
			e->differed = NO_LOOP;
			e->count = e->age = 0;
		}
		return;
	}
	if (e->count == e->trip) {
		e->confidence += e->confidence < CONFIDENT;
		e->age = e->confidence == CONFIDENT ? LOOP_AGE : e->age;
	} else {
		if (e->count == 1 && !e->trip)		/* the loop does not continue in this direction */
			e->tag = 0;
		e->differed += e->trip && e->differed < NO_LOOP;
		e->trip = e->count;
		e->confidence = 0;
		if (e->differed == NO_LOOP)
			e->age = 0;
	}
	e->count = 0;
}

/* Makes a way the most recently used. */
static inline void order(struct hybrid_global *g, int way)
{
	for (int i = 0; i < HYBRID_WAYS; i++)
		if (i != way && g->age[i] < HYBRID_WAYS)
			g->age[i]++;
	g->age[way] = 0;
}

bool hybrid_look(const struct hybrid *h, uint32_t path, uint64_t ip)
{
	uint32_t pc = (uint32_t)(ip ^ ip >> 32);
	uint16_t tag;
	int way;
	const struct hybrid_global *g = find_global(h, path, pc, &tag, &way);
	if (way >= 0)
		return g->counter[way] >= 2;
	int opinion = h->loop ? loop_opinion(&h->loop[pc & h->loop_mask], pc) : -1;
	return opinion >= 0 ? opinion : h->base[pc & h->base_mask] >= 2;
}

bool hybrid_branch(struct hybrid *h, uint64_t ip, bool taken)
{
	uint32_t pc = (uint32_t)(ip ^ ip >> 32);
	uint16_t tag;
	int way;
	bool watched = false;
	struct hybrid_global *g = find_global(h, h->path, pc, &tag, &way);
	uint8_t *base = &h->base[pc & h->base_mask];
	bool base_says = *base >= 2, below = base_says;

	if (h->loop) {
		struct hybrid_loop *e = &h->loop[pc & h->loop_mask];
		int opinion = loop_opinion(e, pc);
		if (opinion >= 0)
			below = opinion;
		if (e->tag == pc || base_says != taken)
			loop_learn(h, e, pc, taken, base_says != taken);
		watched = e->tag == pc && e->differed < NO_LOOP;
	}
	bool predicted = below;
	if (way >= 0) {
		predicted = g->counter[way] >= 2;
		g->counter[way] = toward(g->counter[way], taken);
		order(g, way);
	} else if (below != taken && !watched) {
		way = 0;
		for (int i = 0; i < HYBRID_WAYS; i++) {
			if (!g->tag[i]) {
				way = i;
				break;
			}
			if (g->age[i] > g->age[way])
				way = i;
		}
		g->tag[way] = tag;
		g->counter[way] = taken ? 2 : 1;
		order(g, way);
	}
	*base = toward(*base, taken);
	h->before = h->path;
	if (taken)
		h->path = hybrid_path_push(h->path, ip, 0);
	return predicted;
}

void hybrid_copy(struct hybrid *to, const struct hybrid *from)
{
	const struct hybrid own = *to;
	memcpy(own.base, from->base, (size_t)from->base_mask + 1);
	memcpy(own.global, from->global, ((size_t)from->global_mask + 1) * sizeof *own.global);
	if (own.loop)
		memcpy(own.loop, from->loop, ((size_t)from->loop_mask + 1) * sizeof *own.loop);
	*to = *from;
	to->base = own.base;
	to->global = own.global;
	to->loop = own.loop;
}
