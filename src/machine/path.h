/* SPDX-License-Identifier: GPL-2.0-or-later
 * The paths that a guest takes, as the blocks of isa.h.  A path is a stretch of instructions that were executed one
 * after the other, with the accesses that they made.  Paths that are alike in addresses, bytes and kinds of accesses
 * are decoded once.  Code that was changed has other bytes, and so is another path.
 *
 * Most paths are taken again.  So each begins with a guess, and its instructions are compared with those of the guess
 * as they come; where all are equal, nothing is copied or hashed.
 */
#ifndef MACHINE_PATH_H
#define MACHINE_PATH_H
#include "isa/isa.h"
#include <string.h>

enum {
	PATH_INSNS = 32,	/* the longest path */
	PATH_SLOTS = 256,	/* accesses of one; further ones are dropped */
};

struct path_known;		/* a decoded one */

struct path {
	unsigned insns, slots;
	unsigned open;		/* slots of complete instructions */
	uint8_t word_bytes;
	bool repeats;		/* a round of a REP instruction; the path is that instruction */
	/* How many instructions the guess has.  While not 0, the path's are the first of them, and insn[] has none. */
	unsigned knowns;
	const struct st_insn_def *known;
	const struct path_known *guess;
	const struct path_known **guessed;	/* where the guess came from */
	struct st_insn_def insn[PATH_INSNS];
	struct st_slot slot[PATH_SLOTS];
	uint64_t value[PATH_SLOTS];
};

struct path_store;		/* the decoded ones */

/* isa must outlive the store.  NULL: out of memory. */
struct path_store *path_store_create(const struct isa *isa);
void path_store_destroy(struct path_store *s);	/* NULL: does nothing */
size_t path_store_count(const struct path_store *s);
/* A path begins at this address: guesses which. */
void path_guess(struct path_store *s, struct path *p, uint64_t addr);
/* The guess is given up: insn[] gets the instructions so far, and the one that has begun. */
void path_own(struct path *p);
/* As path_put, where the guess is wrong or was given up. */
void path_append(struct path *p, uint64_t w0, uint64_t w1, uint64_t w2);
/* The instruction that begins behind the others, as the words of a struct st_insn_def. */
static inline void path_put(struct path *p, uint64_t w0, uint64_t w1, uint64_t w2)
{
	_Static_assert(sizeof(struct st_insn_def) == 24, "three words");
	if (__builtin_expect(p->insns < p->knowns, 1)) {
		const char *known = (const char *)(p->known + p->insns);
		uint64_t k0, k1, k2;	/* no array: the compiler would fill one by vector stores and read it at once */
		memcpy(&k0, known, 8);
		memcpy(&k1, known + 8, 8);
		memcpy(&k2, known + 16, 8);
		if (__builtin_expect(!((w0 ^ k0) | (w1 ^ k1) | (w2 ^ k2)), 1))
			return;
	}
	path_append(p, w0, w1, w2);
}
static inline const struct st_insn_def *path_insn(const struct path *p, unsigned i)
{
	return p->knowns ? &p->known[i] : &p->insn[i];
}
/* The block of the path's complete instructions, and its definition.  Both live as long as the store.  NULL: *err says
 * why. */
struct iblock *path_block(struct path_store *s, struct path *p, const struct st_block_def **def, struct err *err);
#endif
