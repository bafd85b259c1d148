/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch target buffer and indirect predictor; see btb.h. */
#include "core/predict/btb.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int btb_level_init(struct btb_level *l, const char *what, uint32_t entries, uint32_t ways, struct err *err)
{
	memset(l, 0, sizeof(*l));
	if (!entries)
		return 0;
	uint32_t sets = ways ? entries / ways : 0;
	if (!sets || ways > WAYS_MAX || sets * ways != entries || sets & (sets - 1))
		return err_set(err, ERR_INPUT, "%s_entries: %u entries in %u ways do not make a power of two of sets",
			what, entries, ways);
	l->sets = sets;
	l->ways = ways;
	l->stride = (ways + 3) & ~3u;
	l->tag = aligned_alloc(64, ((size_t)sets * l->stride * sizeof(*l->tag) + 63) & ~(size_t)63);
	l->target = malloc((size_t)sets * l->stride * sizeof(*l->target));
	l->word = malloc(sets * sizeof(*l->word));
	if (!l->tag || !l->target || !l->word)
		return err_set(err, ERR_NOMEM, "out of memory for the branch target buffer");
	repl_init(&l->repl, REPL_PLRU, ways);
	return 0;
}

int btb_init(struct btb *b, const struct core_config *c, struct err *err)
{
	memset(b, 0, sizeof(*b));
	int rc = btb_level_init(&b->level[0], "btb.l1", c->btb_l1_entries, c->btb_l1_ways, err);
	if (!rc)
		rc = btb_level_init(&b->level[1], "btb.l2", c->btb_l2_entries, c->btb_l2_ways, err);
	if (!rc && !b->level[0].sets)
		rc = err_set(err, ERR_INPUT, "btb.l1_entries must be at least 1");
	for (int i = 0; i < BTB_LEVELS; i++)
		b->level[i].spread = c->btb_spread ? ~UINT32_C(0) : 0;
	if (rc)
		btb_release(b);
	else
		btb_clear(b);
	return rc;
}

void btb_level_release(struct btb_level *l)
{
	free(l->tag);
	free(l->target);
	free(l->word);
	memset(l, 0, sizeof(*l));
}

void btb_level_clear(struct btb_level *l)
{
	if (!l->sets)
		return;
	memset(l->tag, 0, (size_t)l->sets * l->stride * sizeof(*l->tag));
	memset(l->word, 0, l->sets * sizeof(*l->word));
}

void btb_release(struct btb *b)
{
	for (int i = 0; i < BTB_LEVELS; i++)
		btb_level_release(&b->level[i]);
}

void btb_clear(struct btb *b)
{
	for (int i = 0; i < BTB_LEVELS; i++)
		btb_level_clear(&b->level[i]);
}

struct btb_place btb_find(const struct btb *b, uint64_t ip, uint64_t *target)
{
	uint32_t tag = btb_tag(ip);
	for (int i = 0; i < BTB_LEVELS; i++) {
		const struct btb_level *l = &b->level[i];
		if (!l->sets)
			break;
		uint32_t set = btb_spread_set(l, tag);
		int32_t way = btb_level_find(l, set, tag);
		if (way < 0)
			continue;
		struct btb_place place = { i, set * l->stride + (uint32_t)way };
		*target = l->target[place.at];
		return place;
	}
	*target = 0;
	return (struct btb_place){ -1, 0 };
}

uint32_t btb_level_room(struct btb_level *l, uint32_t set)
{
	uint32_t way = 0;
	while (way < l->ways && l->tag[set * l->stride + way])
		way++;
	if (way == l->ways)
		way = repl_victim(&l->repl, &l->word[set]);
	repl_insert(&l->repl, &l->word[set], way);
	return set * l->stride + way;
}

/* Inserts a branch into a level.  Returns the tag that it displaced (0: none), with its target in *displaced. */
static uint32_t level_insert(struct btb_level *l, uint32_t set, uint32_t tag, uint64_t target, uint64_t *displaced)
{
	uint32_t at = btb_level_room(l, set), old = l->tag[at];
	*displaced = l->target[at];
	l->tag[at] = tag;
	l->target[at] = target;
	return old;
}

void btb_train(struct btb *b, uint64_t ip, uint64_t target, struct btb_place place)
{
	struct btb_level *first = &b->level[0], *second = &b->level[1];
	uint32_t tag = btb_tag(ip), set = btb_spread_set(first, tag);
	if (place.level == 0) {
		first->target[place.at] = target;
		repl_touch(&first->repl, &first->word[set], place.at - set * first->stride);
		return;
	}
	uint64_t displaced, gone;
	if (place.level == 1)	/* it moves to the first level and frees its entry here */
		second->tag[place.at] = 0;
	uint32_t old = level_insert(first, set, tag, target, &displaced);
	if (old && second->sets)
		level_insert(second, btb_spread_set(second, old), old, displaced, &gone);
}

int indirect_init(struct indirect *p, const struct core_config *c, struct err *err)
{
	memset(p, 0, sizeof(*p));
	uint32_t n = c->indirect_tables, min = c->indirect_history_min, max = c->indirect_history_max;
	if (n > INDIRECT_TABLES || (n && (!min || min > max || max > 64)))
		return err_set(err, ERR_INPUT, "indirect.tables = %u: cannot have histories from %u to %u branches", n,
			min, max);
	p->tables = n;
	p->entries_log2 = c->indirect_entries_log2;
	p->own_bits = (uint8_t)c->indirect_own_bits;
	for (uint32_t i = 0; i < n; i++) {
		double length = n == 1 ? min : min * pow((double)max / min, (double)i / (n - 1));
		unsigned branches = (unsigned)lround(length);
		p->which[i] = branches <= 16 ? 0 : branches <= 32 ? 1 : 2;
		unsigned bits = branches * (4u >> p->which[i]);
		p->mask[i] = bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
	}
	if (n) {
		p->entry = malloc(((size_t)n << p->entries_log2) * sizeof(*p->entry));
		if (!p->entry)
			return err_set(err, ERR_NOMEM, "out of memory for the indirect predictor");
	}
	indirect_clear(p);
	return 0;
}

void indirect_release(struct indirect *p)
{
	free(p->entry);
	p->entry = NULL;
}

void indirect_clear(struct indirect *p)
{
	if (p->tables)
		memset(p->entry, 0, ((size_t)p->tables << p->entries_log2) * sizeof(*p->entry));
	memset(p->path, 0, sizeof(p->path));
	p->lfsr = 0xace1u;
}

/* Returns the entry of a table for the branch, and the branch's tag there. */
static inline struct indirect_entry *place(const struct indirect *p, const uint64_t path[3], uint32_t i, uint64_t ip,
	uint16_t *tag)
{
	uint64_t h =
		((path[p->which[i]] & p->mask[i]) + ip * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
	*tag = (uint16_t)(h >> 20) | 1;
	return &p->entry[(size_t)i << p->entries_log2 | h >> (64 - p->entries_log2)];
}

uint64_t indirect_look(const struct indirect *p, const uint64_t path[3], uint64_t ip, uint64_t fallback)
{
	const struct indirect_entry *provider = NULL, *second = NULL;
	for (uint32_t i = 0; i < p->tables; i++) {
		uint16_t tag;
		const struct indirect_entry *e = place(p, path, i, ip, &tag);
		if (e->tag == tag) {
			second = provider;
			provider = e;
		}
	}
	if (provider && (provider->confidence || !second))
		return provider->target;
	return provider ? second->target : fallback;
}

uint64_t indirect_branch(struct indirect *p, uint64_t ip, uint64_t target, uint64_t fallback)
{
	struct indirect_entry *e[INDIRECT_TABLES], *provider = NULL, *second = NULL;
	uint16_t tag[INDIRECT_TABLES];
	int longest = -1;
	for (uint32_t i = 0; i < p->tables; i++) {
		e[i] = place(p, p->path, i, ip, &tag[i]);
		if (e[i]->tag == tag[i]) {
			second = provider;
			provider = e[i];
			longest = (int)i;
		}
	}
	uint64_t other = second ? second->target : fallback;
	uint64_t says = provider ? provider->confidence || !second ? provider->target : other : fallback;

	if (provider) {
		if (provider->target == target) {
			provider->confidence += provider->confidence < 3;
			if (other != target)
				provider->useful = 1;
		} else if (provider->confidence) {
			provider->confidence--;
		} else {
			provider->target = target;
			provider->useful = 0;
		}
	}
	if (says != target && longest + 1 < (int)p->tables) {
		p->lfsr = p->lfsr >> 1 ^ (-(p->lfsr & 1) & 0x80200003u);
		int from = longest + 1 + ((p->lfsr & 1) && longest + 2 < (int)p->tables);
		bool found = false;
		for (int i = from; i < (int)p->tables && !found; i++) {
			if (e[i]->useful)
				continue;
			*e[i] = (struct indirect_entry){ .target = target, .tag = tag[i] };
			found = true;
		}
		for (int i = from; i < (int)p->tables && !found; i++)
			e[i]->useful = 0;
	}
	return says;
}

void btb_level_copy(struct btb_level *to, const struct btb_level *from)
{
	const size_t entries = (size_t)from->sets * from->stride;
	if (!from->sets)
		return;
	memcpy(to->tag, from->tag, entries * sizeof *to->tag);
	memcpy(to->target, from->target, entries * sizeof *to->target);
	memcpy(to->word, from->word, from->sets * sizeof *to->word);
	to->repl = from->repl;
}

void btb_copy(struct btb *to, const struct btb *from)
{
	for (unsigned i = 0; i < BTB_LEVELS; i++)
		btb_level_copy(&to->level[i], &from->level[i]);
}

void indirect_copy(struct indirect *to, const struct indirect *from)
{
	struct indirect_entry *const entry = to->entry;
	if (entry)
		memcpy(entry, from->entry, ((size_t)from->tables << from->entries_log2) * sizeof *entry);
	*to = *from;
	to->entry = entry;
}
