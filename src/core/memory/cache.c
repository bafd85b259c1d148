/* SPDX-License-Identifier: GPL-2.0-or-later
 * Arrays of cache.h: creation, victims, fills. */
#include "core/memory/cache.h"
#include <stdlib.h>
#include <string.h>

/* Builds the tree over ways [from, to) below a new node; returns the node, or the leaf of a single way. */
static unsigned plru_build(struct repl *r, unsigned from, unsigned to, unsigned *nodes)
{
	if (to - from == 1)
		return WAYS_MAX + from;
	unsigned node = (*nodes)++, middle = from + (to - from + 1) / 2;
	for (unsigned way = from; way < to; way++) {
		r->keep[way] &= ~(UINT64_C(1) << node);
		if (way < middle)	/* a touch points to the other side */
			r->point[way] |= UINT64_C(1) << node;
	}
	r->child[node][0] = (uint8_t)plru_build(r, from, middle, nodes);
	r->child[node][1] = (uint8_t)plru_build(r, middle, to, nodes);
	return node;
}

void repl_init(struct repl *r, unsigned policy, unsigned ways)
{
	memset(r, 0, sizeof(*r));
	r->policy = policy;
	r->ways = ways;
	r->duel = DUEL_MAX / 2;
	for (unsigned i = 0; i < WAYS_MAX; i++)
		r->keep[i] = ~UINT64_C(0);
	unsigned nodes = 0;
	if (ways == 1)
		r->child[0][0] = r->child[0][1] = WAYS_MAX;
	else
		plru_build(r, 0, ways, &nodes);
}

uint64_t repl_first(const struct repl *r)
{
	if (r->policy == REPL_LRU)
		return UINT64_C(0x0123456789abcdef) >> 4 * (WAYS_MAX - r->ways);	/* way 0 is the oldest */
	if (r->policy == REPL_PLRU || r->policy == REPL_RANDOM)
		return 0;
	return (UINT64_C(1) << 2 * r->ways) - 1;	/* all of age 3 */
}

void repl_touch_slow(const struct repl *r, uint64_t *word, unsigned way)
{
	(void)r;
	uint64_t w = *word;
	if ((w & 15) == way)
		return;
	for (unsigned at = 4; at < 64; at += 4) {
		if ((w >> at & 15) != way)
			continue;
		uint64_t below = (UINT64_C(1) << at) - 1;	/* the younger ones move up by one */
		uint64_t above = at == 60 ? 0 : ~((UINT64_C(16) << at) - 1);
		*word = (w & above) | (w & below) << 4 | way;
		return;
	}
}

unsigned repl_victim(const struct repl *r, uint64_t *word)
{
	if (r->policy == REPL_LRU)
		return *word >> 4 * (r->ways - 1) & 15;
	if (r->policy == REPL_PLRU) {
		unsigned node = 0;
		do
			node = r->child[node][*word >> node & 1];
		while (node < WAYS_MAX);
		return node - WAYS_MAX;
	}
	if (r->policy == REPL_RANDOM) {
		*word = *word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		return (unsigned)((*word >> 32) * r->ways >> 32);
	}
	/* Age 3 is both bits of a way.  Adding 1 to all ways is safe while none has age 3. */
	uint64_t low = UINT64_C(0x5555555555555555) & ((UINT64_C(1) << 2 * r->ways) - 1);
	uint64_t oldest;
	while (!(oldest = *word & *word >> 1 & low))
		*word += low;
	return (unsigned)__builtin_ctzll(oldest) / 2;
}

static void *array(size_t count, size_t bytes)
{
	void *p = aligned_alloc(64, (count * bytes + 63) & ~(size_t)63);
	return p;
}

int cache_init(struct cache *c, const char *what, uint32_t bytes, uint32_t ways, unsigned policy,
	unsigned line_log2, unsigned sector_log2, struct err *err)
{
	unsigned log2 = line_log2 + sector_log2;
	memset(c, 0, sizeof(*c));
	if (!ways || ways > WAYS_MAX || bytes % (ways << log2) || !bytes)
		return err_set(err, ERR_INPUT,
			"%s.size: %u bytes are not a whole number of sets of %u lines of %u bytes", what, bytes, ways,
			1u << log2);
	c->sets = (bytes >> log2) / ways;
	c->ways = ways;
	c->sector_log2 = sector_log2;
	c->stride = ((ways << sector_log2) + 3) & ~3u;
	c->mask = c->sets & (c->sets - 1) ? 0 : c->sets - 1;
	c->tag = array((size_t)c->sets * c->stride, sizeof(*c->tag));
	c->state = array((size_t)c->sets * c->stride, sizeof(*c->state));
	c->word = array(c->sets, sizeof(*c->word));
	if (!c->tag || !c->state || !c->word) {
		cache_release(c);
		return err_set(err, ERR_NOMEM, "out of memory for the tags of %s", what);
	}
	repl_init(&c->repl, policy, ways);
	cache_clear(c);
	return 0;
}

void cache_release(struct cache *c)
{
	free(c->tag);
	free(c->state);
	free(c->word);
	memset(c, 0, sizeof(*c));
}

void cache_clear(struct cache *c)
{
	memset(c->tag, 0xff, (size_t)c->sets * c->stride * sizeof(*c->tag));
	c->repl.duel = DUEL_MAX / 2;
	c->repl.nth = 0;
	memset(c->state, 0, (size_t)c->sets * c->stride);
	uint64_t first = repl_first(&c->repl);
	for (uint32_t i = 0; i < c->sets; i++)
		c->word[i] = first;
}

/* A new line was inserted at age 1.  Ages it to 3 if its set, or the winner of the duel, does so. */
static void repl_duel(struct repl *r, uint64_t *word, uint32_t set, unsigned way)
{
	bool old = r->duel > DUEL_MAX / 2;
	/* every stride meets all kinds */
	uint32_t kind = (set ^ set / DUEL_SETS ^ set / DUEL_SETS / DUEL_SETS) % DUEL_SETS;
	if (kind == 0) {
		r->duel += r->duel < DUEL_MAX;
		old = false;
	} else if (kind == DUEL_SETS / 2) {
		r->duel -= r->duel > 0;
		old = true;
	}
	if (old && r->nth++ % DUEL_RARE)
		*word |= UINT64_C(3) << 2 * way;
}

/* Returns the way whose tag covers `line`, or an empty way, or c->ways if there is neither. */
static uint32_t sector_way(const struct cache *c, uint32_t line, uint32_t at)
{
	uint32_t empty = c->ways;
	for (uint32_t way = 0; way < c->ways; way++) {
		uint32_t other = c->tag[at + 2 * way + (~line & 1)], same = c->tag[at + 2 * way + (line & 1)];
		if (other == (line ^ 1))
			return way;
		if (other == LINE_NONE && same == LINE_NONE && empty == c->ways)
			empty = way;
	}
	return empty;
}

bool cache_room(struct cache *c, uint32_t line, struct cache_victim *other)
{
	uint32_t set = cache_set(c, line), at = set * c->stride;
	if (!c->sector_log2 || sector_way(c, line, at) < c->ways)
		return false;
	uint32_t slot = at + 2 * repl_victim(&c->repl, &c->word[set]) + (~line & 1);
	other->line = c->tag[slot];
	other->state = c->state[slot];
	cache_drop(c, (int32_t)slot);
	return true;
}

static int32_t fill_sector(struct cache *c, uint32_t line, uint8_t state, struct cache_victim *victim)
{
	uint32_t set = cache_set(c, line), at = set * c->stride, way = sector_way(c, line, at);
	if (way == c->ways)
		way = repl_victim(&c->repl, &c->word[set]);
	uint32_t slot = at + 2 * way + (line & 1);
	victim->line = c->tag[slot];
	victim->state = c->state[slot];
	c->tag[slot] = line;
	c->state[slot] = state;
	repl_insert(&c->repl, &c->word[set], way);
	return (int32_t)slot;
}

int32_t cache_fill(struct cache *c, uint32_t line, uint8_t state, struct cache_victim *victim)
{
	if (c->sector_log2)
		return fill_sector(c, line, state, victim);
	uint32_t set = cache_set(c, line), at = set * c->stride, way = 0;
	while (way < c->ways && c->tag[at + way] != LINE_NONE)
		way++;
	if (way == c->ways)
		way = repl_victim(&c->repl, &c->word[set]);
	victim->line = c->tag[at + way];
	victim->state = c->state[at + way];
	c->tag[at + way] = line;
	c->state[at + way] = state;
	repl_insert(&c->repl, &c->word[set], way);
	if (c->repl.policy == REPL_ADAPTIVE)
		repl_duel(&c->repl, &c->word[set], set, way);
	return (int32_t)(at + way);
}

int l1_init(struct l1 *c, const char *what, uint32_t bytes, uint32_t ways, unsigned policy, unsigned line_log2,
	struct err *err)
{
	memset(c, 0, sizeof(*c));
	uint32_t sets = ways ? (bytes >> line_log2) / ways : 0;
	if (!sets || ways > WAYS_MAX || bytes != sets * ways << line_log2 || sets & (sets - 1) ||
		sets * WAYS_MAX > UINT16_MAX)
		return err_set(err, ERR_INPUT,
			"%s.size: %u bytes in %u ways of %u-byte lines are not a power of two of sets", what, bytes,
			ways, 1u << line_log2);
	c->sets = sets;
	c->ways = ways;
	c->mask = sets - 1;
	while (1u << c->log2 < ways)
		c->log2++;
	c->ways_mask = (1u << c->log2) - 1;
	c->vline = array((size_t)sets << c->log2, sizeof(*c->vline));
	c->line = array((size_t)sets << c->log2, sizeof(*c->line));
	c->state = array((size_t)sets << c->log2, sizeof(*c->state));
	c->word = array(sets, sizeof(*c->word));
	c->guess = array(L1_GUESSES, sizeof(*c->guess));
	if (!c->vline || !c->line || !c->state || !c->word || !c->guess) {
		l1_release(c);
		return err_set(err, ERR_NOMEM, "out of memory for the tags of %s", what);
	}
	repl_init(&c->repl, policy, ways);
	l1_clear(c);
	return 0;
}

void l1_release(struct l1 *c)
{
	free(c->vline);
	free(c->line);
	free(c->state);
	free(c->word);
	free(c->guess);
	memset(c, 0, sizeof(*c));
}

void l1_clear(struct l1 *c)
{
	size_t n = (size_t)c->sets << c->log2;
	memset(c->vline, 0xff, n * sizeof(*c->vline));
	memset(c->line, 0xff, n * sizeof(*c->line));
	memset(c->state, 0, n);
	memset(c->guess, 0, L1_GUESSES * sizeof(*c->guess));
	uint64_t first = repl_first(&c->repl);
	for (uint32_t i = 0; i < c->sets; i++)
		c->word[i] = first;
}

uint32_t l1_fill(struct l1 *c, uint64_t vline, uint32_t line, uint8_t state, struct cache_victim *victim)
{
	uint32_t set = (uint32_t)vline & c->mask, at = set << c->log2, way = 0;
	while (way < c->ways && c->vline[at + way] != VLINE_NONE)
		way++;
	if (way == c->ways)
		way = repl_victim(&c->repl, &c->word[set]);
	at += way;
	victim->line = c->line[at];
	victim->state = c->state[at];
	c->vline[at] = vline;
	c->line[at] = line;
	c->state[at] = state;
	c->guess[vline % L1_GUESSES] = (uint16_t)at;
	repl_insert(&c->repl, &c->word[set], way);
	return at;
}

int32_t l1_find_physical(const struct l1 *c, uint32_t line)
{
	/* The low 6 bits of the line number lie within a page, so they are equal in the linear number. */
	uint32_t step = c->sets < 64 ? c->sets : 64;
	for (uint32_t set = line & (step - 1); set < c->sets; set += step)
		for (uint32_t i = 0; i < c->ways; i++)
			if (c->line[(set << c->log2) + i] == line)
				return (int32_t)((set << c->log2) + i);
	return -1;
}

void inflight_init(struct inflight *q, uint32_t count)
{
	memset(q, 0, sizeof(*q));
	q->count = count < INFLIGHT_MAX ? count : INFLIGHT_MAX;
	for (unsigned i = 0; i < INFLIGHT_MAX; i++)
		q->line[i] = LINE_NONE;
}
