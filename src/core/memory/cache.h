/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tags of caches: set-associative arrays, replacement policies, lines in flight.
 *
 * There are two kinds of array.  `struct cache` (L2, L3) is tagged by a physical line number of 32 bits: frames are
 * given by first touch, so 2^32 lines (256 GB touched) are enough.  `struct l1` (L1I, L1D) is tagged by the linear
 * line number, which is as good as a physical tag because the model maps no frame twice.  Its sets are chosen by
 * linear address; beyond 64 sets that differs from a physical index.
 * Lines have 64 or 32 bytes; L2 may have two of them under one tag (sectors).
 * Left out: the data, parity, the cost of way prediction.
 */
#ifndef CORE_CACHE_H
#define CORE_CACHE_H
#include "util/err.h"
#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_LOG2 = 6, LINE_BYTES = 64, WAYS_MAX = 16, INFLIGHT_MAX = 128 };
#define LINE_NONE UINT32_MAX	/* tag of an empty way */
#define VLINE_NONE UINT64_MAX

/* In the order of the enums of fields_memory.def. */
enum repl_policy { REPL_LRU, REPL_PLRU, REPL_SRRIP, REPL_QUAD, REPL_RANDOM, REPL_ADAPTIVE };

/* One 64-bit word of state a set, whatever the policy:
 *   LRU       a list of ways, 4 bits each, the most recent lowest
 *   PLRU      a bit for each node of a binary tree over the ways, as even as their number allows, which points to the
 *             older side
 *   SRRIP     an age of two bits for each way; a hit sets it to 0, a new line starts at 2 (Jaleel et al., ISCA 2010)
 *   QUAD      the same with new lines at 1 (quad-age LRU of Intel's L2s; Abel and Reineke, ISPASS 2020)
 *   RANDOM    the state of a linear congruential generator, which picks any way
 *   ADAPTIVE  as QUAD, with set dueling: some sets insert all new lines at 1, some insert all but one in 16 at 3; the
 *             other sets follow the group that misses less (Qureshi et al., ISCA 2007; Ivy Bridge's L3: Abel and
 *             Reineke, ISPASS 2020)
 * The age policies age all ways until one has age 3, then evict the lowest way of that age. */
enum { DUEL_SETS = 64, DUEL_MAX = 1023, DUEL_RARE = 16 };
struct repl {
	uint32_t policy, ways;
	/* ADAPTIVE: rises with misses of the sets that insert at 1, falls with those at 3 */
	uint32_t duel;
	uint32_t nth;					/* ADAPTIVE: counts insertions at 3, to make the exceptions */
	uint64_t keep[WAYS_MAX], point[WAYS_MAX];	/* PLRU: touch = (word & keep) | point */
	uint8_t  child[WAYS_MAX][2];			/* PLRU: next node, or WAYS_MAX + way */
};
void repl_init(struct repl *r, unsigned policy, unsigned ways);
uint64_t repl_first(const struct repl *r);		/* word of an empty set */
unsigned repl_victim(const struct repl *r, uint64_t *word);
void repl_touch_slow(const struct repl *r, uint64_t *word, unsigned way);

static inline void repl_touch_plru(const struct repl *r, uint64_t *word, unsigned way)
{
	*word = (*word & r->keep[way]) | r->point[way];
}
static inline void repl_touch(const struct repl *r, uint64_t *word, unsigned way)
{
	if (__builtin_expect(r->policy == REPL_PLRU, 1))
		repl_touch_plru(r, word, way);
	else if (r->policy == REPL_LRU)
		repl_touch_slow(r, word, way);
	else if (r->policy != REPL_RANDOM)
		*word &= ~(UINT64_C(3) << 2 * way);
}
static inline void repl_insert(const struct repl *r, uint64_t *word, unsigned way)
{
	repl_touch(r, word, way);
	if (r->policy >= REPL_SRRIP && r->policy != REPL_RANDOM)
		*word |= (uint64_t)(r->policy == REPL_SRRIP ? 2 : 1) << 2 * way;
}

enum line_state {
	LINE_DIRTY = 1,
	LINE_PENDING = 2,	/* was in flight at the last access; the in-flight list knows until when */
	LINE_PREFETCHED = 4,	/* brought by a prefetcher and not used yet */
	LINE_SHARED = 8,	/* another core may hold it: a store must first own it */
};

struct cache {
	uint32_t sets, ways, stride;	/* stride: lines of a set rounded up to 4, so that a set fills whole vectors */
	uint32_t mask;			/* sets - 1 if that is a power of two, else 0 */
	/* log2 of the lines under one tag; lines 2k and 2k + 1 lie side by side in a set */
	uint32_t sector_log2;
	uint32_t *tag;
	uint8_t  *state;
	uint64_t *word;
	struct repl repl;
};
/* Creates a cache with any number of sets, of lines of 1 << line_log2 bytes, 1 << sector_log2 (0 or 1) of them under
 * one tag.  what: its name for messages.  ERR_INPUT if the size is not a whole number of sets; ERR_NOMEM. */
int cache_init(struct cache *c, const char *what, uint32_t bytes, uint32_t ways, unsigned policy, unsigned line_log2,
	unsigned sector_log2, struct err *err);
void cache_release(struct cache *c);
void cache_clear(struct cache *c);

static inline uint32_t cache_set(const struct cache *c, uint32_t line)
{
	line >>= c->sector_log2;
	if (c->mask || c->sets == 1)
		return line & c->mask;
	/* a multiplicative hash scaled to the number of sets: no division, and strides spread as on hashed slices */
	return (uint32_t)((uint64_t)(uint32_t)(line * UINT32_C(0x9e3779b1)) * c->sets >> 32);
}
/* Returns the slot of `line`, or -1. */
static inline int32_t cache_find(const struct cache *c, uint32_t line)
{
	uint32_t at = cache_set(c, line) * c->stride;
	__m128i want = _mm_set1_epi32((int)line);
	for (uint32_t i = 0; i < c->stride; i += 4) {
		__m128i have = _mm_load_si128((const __m128i *)(c->tag + at + i));
		int hit = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(have, want)));
		if (hit)
			return (int32_t)(at + i + (unsigned)__builtin_ctz((unsigned)hit));
	}
	return -1;
}
static inline void cache_touch(struct cache *c, int32_t slot)
{
	uint32_t set = (uint32_t)slot / c->stride;
	repl_touch(&c->repl, &c->word[set], ((uint32_t)slot - set * c->stride) >> c->sector_log2);
}
struct cache_victim { uint32_t line; uint8_t state; };	/* line LINE_NONE: the way was empty */
/* With sectors, call this before cache_fill: if a way must be emptied for `line`, it drops the other line of that way
 * into *other and returns true. */
bool cache_room(struct cache *c, uint32_t line, struct cache_victim *other);
/* Inserts `line`, which must not be there, and returns its slot. */
int32_t cache_fill(struct cache *c, uint32_t line, uint8_t state, struct cache_victim *victim);
static inline void cache_drop(struct cache *c, int32_t slot)
{
	c->tag[slot] = LINE_NONE;
	c->state[slot] = 0;
}

struct l1 {
	uint32_t sets, ways, mask;
	uint32_t log2;		/* slot = set << log2 | way */
	uint32_t ways_mask;	/* (1 << log2) - 1 */
	uint64_t *vline;	/* linear line number; page-table lines: bit 63 and the physical line number */
	uint32_t *line;		/* physical line number */
	uint8_t  *state;
	uint64_t *word;
	uint16_t *guess;	/* slot where a line was last seen, by low bits of its number */
	struct repl repl;
};
enum { L1_GUESSES = 2048 };
#define VLINE_TABLE(line) (UINT64_C(1) << 63 | (line))

/* As cache_init, but the number of sets must be a power of two. */
int l1_init(struct l1 *c, const char *what, uint32_t bytes, uint32_t ways, unsigned policy, unsigned line_log2,
	struct err *err);
void l1_release(struct l1 *c);
void l1_clear(struct l1 *c);

static inline void l1_touch(struct l1 *c, uint64_t vline, uint32_t slot)
{
	repl_touch(&c->repl, &c->word[vline & c->mask], slot & c->ways_mask);
}
/* The fast half of l1_find: checks the slot where the line was last seen. */
static inline bool l1_guess(const struct l1 *c, uint64_t vline, uint32_t *slot)
{
	*slot = c->guess[vline % L1_GUESSES];
	return c->vline[*slot] == vline;
}
/* Returns the slot of a line, or -1.  Does not touch the replacement state. */
static inline int32_t l1_find(struct l1 *c, uint64_t vline)
{
	uint32_t guess;
	if (l1_guess(c, vline, &guess))
		return (int32_t)guess;
	uint32_t at = ((uint32_t)vline & c->mask) << c->log2;
	for (uint32_t i = 0; i < c->ways; i++)
		if (c->vline[at + i] == vline) {
			c->guess[vline % L1_GUESSES] = (uint16_t)(at + i);
			return (int32_t)(at + i);
		}
	return -1;
}
uint32_t l1_fill(struct l1 *c, uint64_t vline, uint32_t line, uint8_t state, struct cache_victim *victim);
/* Finds a slot by physical line, for snoops and back-invalidation; -1: none. */
int32_t l1_find_physical(const struct l1 *c, uint32_t line);
static inline void l1_drop(struct l1 *c, int32_t slot)
{
	c->vline[slot] = VLINE_NONE;
	c->line[slot] = LINE_NONE;
	c->state[slot] = 0;
}

/* Lines in flight: fill buffers, super queue.  An entry is busy until `ready`.  Requests take entries in the order of
 * the calls, each the entry that is free soonest. */
enum inflight_source { FROM_L2, FROM_L3, FROM_MEMORY };
struct inflight {
	uint32_t count;
	uint32_t line[INFLIGHT_MAX];
	uint64_t ready[INFLIGHT_MAX];
	uint8_t  source[INFLIGHT_MAX];	/* enum inflight_source */
	uint8_t  demand[INFLIGHT_MAX];	/* a demand load waits for it */
	/* L1D fill buffers: bits for the record of a load that finds the line in flight */
	uint64_t origin[INFLIGHT_MAX];
};
void inflight_init(struct inflight *q, uint32_t count);
static inline int inflight_find(const struct inflight *q, uint32_t line)
{
	for (uint32_t i = 0; i < q->count; i++)
		if (q->line[i] == line)
			return (int)i;
	return -1;
}
/* Returns the entry that is free soonest. */
static inline unsigned inflight_soonest(const struct inflight *q)
{
	unsigned best = 0;
	for (uint32_t i = 1; i < q->count; i++)
		if (q->ready[i] < q->ready[best])
			best = i;
	return best;
}
static inline unsigned inflight_busy(const struct inflight *q, uint64_t cycle)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < q->count; i++)
		n += q->ready[i] > cycle;
	return n;
}
static inline void inflight_set(struct inflight *q, unsigned i, uint32_t line, uint64_t ready, unsigned source,
	bool demand)
{
	q->line[i] = line;
	q->ready[i] = ready;
	q->source[i] = (uint8_t)source;
	q->demand[i] = demand;
}
#endif
