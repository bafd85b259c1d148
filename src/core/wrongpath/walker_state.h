/* SPDX-License-Identifier: GPL-2.0-or-later
 * State that walker*.c share.
 */
#ifndef CORE_WALKER_STATE_H
#define CORE_WALKER_STATE_H
#include "core/wrongpath/walker.h"

enum { THUNK_OP = 16, THUNK_DEP1, THUNK_DEP2, THUNK_NDEP };
enum { OVERLAY = 256 /* a power of two */, OVERLAY_MOST = 192 };

/* The wrong path's own stores; entries of another walk are void. */
struct overlay { uint64_t word, value; uint32_t walk; uint8_t written, known; /* sets of bytes */ };

struct place { uint64_t addr, block; /* block: the block, and above PLACE_INDEX the index in it; 0: none */ };
struct range { uint64_t addr, bytes; uint8_t *data; };
struct word { uint64_t tag /* address / 8 << 8, and in the low 8 bits the set of bytes that are known */, value; };
enum {
	WORDS_LOG2 =
		/* 512 KB of the program's memory; GUESS: a wrong path reads mostly what was touched not long
		 * before */
		16
	,
	PLACE_INDEX = 56
};

struct walk_space {
	const struct isa *isa;
	int word_bytes;
	struct place *place;
	size_t places, used;	/* places: a power of two; used: entries with an address */
	uint64_t generation;	/* 1 + how often places changed */
	struct range *range;
	size_t ranges, ranges_room;
	struct iblock **lazy;	/* blocks decoded from bytes */
	size_t lazies, lazies_room;
	size_t lazy_live;	/* index in lazy: those before it are cut off */
	struct word *word;
};

static inline struct place *place_of(const struct walk_space *s, uint64_t addr)
{
	size_t i = (addr * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (s->places - 1);
	while (s->place[i].addr != addr && s->place[i].addr)
		i = (i + 1) & (s->places - 1);
	return &s->place[i];
}

static inline struct iblock *block_at(uint64_t word)
{
	return (struct iblock *)(word & ((UINT64_C(1) << PLACE_INDEX) - 1));
}

static inline struct word *word_of(const struct walk_space *s, uint64_t number)
{
	return &s->word[(number ^ number >> WORDS_LOG2) & ((1u << WORDS_LOG2) - 1)];
}

/* As walk_memory_write. */
static inline void memory_write(struct walk_space *s, uint64_t addr, unsigned bytes, uint64_t value)
{
	const unsigned offset = addr & 7;
	const uint64_t number = addr >> 3;
	struct word *w = word_of(s, number);
	if (bytes == 8 && !offset) {
		w->tag = number << 8 | 255;
		w->value = value;
	} else if (__builtin_expect(offset + bytes <= 8 && bytes, 1)) {
		const uint64_t mask = ~UINT64_C(0) >> (64 - 8 * bytes) << 8 * offset,
			       known = w->tag >> 8 == number ? w->tag : number << 8;
		w->tag = known | ((1u << bytes) - 1) << offset;
		w->value = (w->value & ~mask) | (value << 8 * offset & mask);
	} else {
		walk_memory_write(s, addr, bytes, value);
	}
}

/* As walk_memory_forget. */
static inline void memory_forget(struct walk_space *s, uint64_t addr, unsigned bytes)
{
	const unsigned offset = addr & 7;
	struct word *w = word_of(s, addr >> 3);
	if (__builtin_expect(offset + bytes > 8, 0))
		walk_memory_forget(s, addr, bytes);
	else if (w->tag >> 8 == addr >> 3)
		w->tag &= ~(((UINT64_C(1) << bytes) - 1) << offset);
}

enum { PACES = 1024, PACE_FLOOR = 160 /* words */, WALKS_UNDER_WAY = 2048 };
struct walk_under_way {
	uint64_t made;
	uint16_t pace, words;
}; /* made: words of scripts made before it; pace: index in walker.pace; words: its own */

struct walker {
	struct walk_space *space;
	uint64_t reg[WALK_REGS];
	uint32_t known;		/* set of registers */
	uint32_t most;		/* most instructions of a walk */
	uint32_t walks, stores;
	struct overlay overlay[OVERLAY];
	struct bpred_path path;
	struct converge *ahead;	/* walker_ahead */
	bool converges, outcomes;	/* walker_converge, walker_outcomes */
	/* how far the core gets */
	uint64_t behind, made;	/* walker_follow, walker_made */
	uint32_t oldest, newest;	/* of those under way, which are a ring */
	uint16_t pace[PACES];	/* words that it lately ran, by where the walk began; 0: none yet */
	uint16_t ran[WALKS_UNDER_WAY];	/* written by the host thread that runs the core */
	struct walk_under_way under_way[WALKS_UNDER_WAY];
};

/* walker_pace.c; pace: index in walker.pace */
/* Returns the most words of a walk. */
unsigned walk_pace_ahead(struct walker *w, unsigned pace);
/* Returns the walk's number, if it will be known how far the core got; else 0.  words: of a walk that was cut
 * off, else UINT16_MAX. */
uint64_t walk_pace_note(struct walker *w, unsigned pace, unsigned words);

/* walker_words.c.  Writes instruction i of a block, which has several steps or goes the general way.  mem, sp:
 * addresses of its operand and of what it pushes or pops.  *general: it goes the general way; becomes true if those
 * behind it must, too.  way, went: of its branch.  Returns the end of what it wrote. */
uint64_t *walk_several(const struct iblock *b, unsigned i, const struct walk_block *k, uint64_t mem, uint64_t sp,
	bool *general, uint64_t way, uint64_t went, uint64_t *w);
#endif
