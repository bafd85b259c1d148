/* SPDX-License-Identifier: GPL-2.0-or-later
 * Branch targets: branch target buffer of one or two levels, return stack, indirect predictor.
 *
 * The BTB holds taken branches, replaced by tree-PLRU.  With two levels, entries evicted from the first go to the
 * second, and entries that hit in the second move to the first.
 * The return stack is a ring: an overflow overwrites the oldest entry.  An underflow reads the stale entry, or is
 * detected and left to the indirect predictor (Skylake: Intel, "Retpoline: A Branch Target Injection Mitigation").
 * The indirect predictor has tagged tables indexed by the path of the last L taken branches (address and target); the
 * longest match predicts.
 * Source: A. Seznec, "A 64-Kbytes ITTAGE indirect branch predictor", CBP-3, 2011.  Published reverse engineering
 * finds one in Intel's cores from Haswell on; its sizes are GUESSes of the preset.
 * Left out: several branches in a BTB line, partial targets, fetch-block granularity.
 */
#ifndef CORE_BTB_H
#define CORE_BTB_H
#include "core/memory/cache.h"
#include "core/machine/config.h"

enum { BTB_LEVELS = 2, INDIRECT_TABLES = 8, RAS_MAX = 256 };

struct btb_level {
	uint32_t sets, ways, stride;	/* sets: 0 if there is no such level; stride: ways rounded up to 4 */
	uint32_t spread;	/* btb.spread: all ones, or 0 */
	uint32_t *tag;		/* 0: empty */
	uint64_t *target;
	uint64_t *word;
	struct repl repl;
};
struct btb { struct btb_level level[BTB_LEVELS]; };

/* Hashes the address to 32 bits.  A collision only makes a false BTB hit, as the shorter tags of hardware do. */
static inline uint32_t btb_tag(uint64_t ip)
{
	uint32_t tag = (uint32_t)(ip ^ ip >> 32);
	return tag ? tag : 1;
}

static inline uint32_t btb_set(const struct btb_level *l, uint32_t tag)
{
	return (tag ^ tag >> 12 ^ tag >> 24) & (l->sets - 1);
}

/* The same with btb.spread: branches that stand a power of two apart spread over most sets, as they do on Emerald
 * Rapids (docs/measured/golden-cove.md). */
static inline uint32_t btb_spread_set(const struct btb_level *l, uint32_t tag)
{
	return (tag ^ (tag >> 5 & l->spread) ^ tag >> 12 ^ tag >> 24) & (l->sets - 1);
}

static inline int32_t btb_level_find(const struct btb_level *l, uint32_t set, uint32_t tag)
{
	__m128i want = _mm_set1_epi32((int)tag);
	for (uint32_t i = 0; i < l->stride; i += 4) {
		__m128i have = _mm_load_si128((const __m128i *)(l->tag + set * l->stride + i));
		int hit = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(have, want)));
		if (hit)
			return (int32_t)(i + (unsigned)__builtin_ctz((unsigned)hit));
	}
	return -1;
}

int  btb_level_init(struct btb_level *l, const char *what, uint32_t entries, uint32_t ways, struct err *err);
void btb_level_release(struct btb_level *l);
void btb_level_clear(struct btb_level *l);
/* Returns the entry of the set for a new branch, an empty one or the victim, and makes it the most recently used. */
uint32_t btb_level_room(struct btb_level *l, uint32_t set);

int  btb_init(struct btb *b, const struct core_config *c, struct err *err);
void btb_release(struct btb *b);
void btb_clear(struct btb *b);
/* These take over the state of another one of the same description. */
void btb_level_copy(struct btb_level *to, const struct btb_level *from);
void btb_copy(struct btb *to, const struct btb *from);
struct indirect;
void indirect_copy(struct indirect *to, const struct indirect *from);
struct btb_place { int level; uint32_t at; };	/* level that holds the branch (0 or 1), or -1; its entry there */
/* A taken direct branch, whose target decode knows: touches its entry in the first level; returns false if there is
 * none. */
static inline bool btb_use_direct(struct btb *b, uint64_t ip)
{
	struct btb_level *l = &b->level[0];
	uint32_t tag = btb_tag(ip), set = btb_spread_set(l, tag);
	int32_t way = btb_level_find(l, set, tag);
	if (way < 0)
		return false;
	repl_touch_plru(&l->repl, &l->word[set], (uint32_t)way);
	return true;
}
/* Does the first level hold the branch?  Does not touch it. */
static inline bool btb_knows_direct(const struct btb *b, uint64_t ip)
{
	const struct btb_level *l = &b->level[0];
	const uint32_t tag = btb_tag(ip);
	return btb_level_find(l, btb_spread_set(l, tag), tag) >= 0;
}
/* Finds a branch in either level.  *target: its last target, 0 if unknown. */
struct btb_place btb_find(const struct btb *b, uint64_t ip, uint64_t *target);
/* Learns that the branch was taken.  place: the result of btb_find. */
void btb_train(struct btb *b, uint64_t ip, uint64_t target, struct btb_place place);

/* depth 0: there is no return stack.  filled: addresses pushed and not popped, at most depth. */
struct ras { uint32_t depth, top, filled; uint64_t address[RAS_MAX]; };
static inline void ras_push(struct ras *r, uint64_t address)
{
	r->top = r->top + 1 >= r->depth ? 0 : r->top + 1;
	r->address[r->top] = address;
	r->filled += r->filled < r->depth;
}
static inline uint64_t ras_pop(struct ras *r)
{
	uint64_t address = r->address[r->top];
	r->top = r->top ? r->top - 1 : r->depth - (r->depth > 0);
	r->filled -= r->filled > 0;
	return address;
}

struct indirect_entry { uint64_t target; uint16_t tag; uint8_t confidence, useful; };
struct indirect {
	uint32_t tables, entries_log2;
	/* The path: 4 bits of each of the last 16 taken branches, 2 bits of the last 32, 1 bit of the last 64.  A
	 * table with a history of L branches uses the shortest register that holds L. */
	uint64_t path[3];
	uint8_t  own_bits;	/* indirect.own_bits: 0, or how many of a branch's address make its bits of the path */
	uint8_t  which[INDIRECT_TABLES];
	uint64_t mask[INDIRECT_TABLES];
	uint32_t lfsr;
	struct indirect_entry *entry;
};
int  indirect_init(struct indirect *p, const struct core_config *c, struct err *err);
void indirect_release(struct indirect *p);
void indirect_clear(struct indirect *p);
/* Predicts the target of the branch at `ip`, then learns the real one.  fallback: the prediction if no table
 * matches. */
uint64_t indirect_branch(struct indirect *p, uint64_t ip, uint64_t target, uint64_t fallback);
/* Predicts with `path` as the history, and learns nothing. */
uint64_t indirect_look(const struct indirect *p, const uint64_t path[3], uint64_t ip, uint64_t fallback);
/* Adds a taken branch of any kind to the path. */
static inline void indirect_path_push(const struct indirect *p, uint64_t path[3], uint64_t ip, uint64_t target)
{
	uint64_t four = (ip ^ target << 3) * UINT64_C(0x9e3779b97f4a7c15) >> 60, two = four & 3, one = four >> 3;
	if (p->own_bits) {
		four = ip & ((1u << p->own_bits) - 1);
		two = (four ^ four >> 2) & 3;
		one = (two ^ two >> 1) & 1;
	}
	path[0] = path[0] << 4 | four;
	path[1] = path[1] << 2 | two;
	path[2] = path[2] << 1 | one;
}
static inline void indirect_push(struct indirect *p, uint64_t ip, uint64_t target)
{
	indirect_path_push(p, p->path, ip, target);
}
#endif
