/* SPDX-License-Identifier: GPL-2.0-or-later
 * Convergence of the wrong path with the right one: where an access of the wrong path lies whose address the walk (walker.h) does not know, if
 * the same instruction comes on the right path soon behind the branch.
 *
 * Models: the stream is read some blocks ahead of the one that is run.  An instruction whose operand's address is unknown is looked for there; the address
 * that it has then is taken, the next one's the next time that the walk gets to it.  (S. Eyerman, L. Eeckhout and others, "Simulating Wrong-Path
 * Instructions in Decoupled Functional-First Simulation", ISPASS 2023, which aligns both paths for it.)  Nothing is looked for until
 * an address is unknown.
 * How far ahead does not depend on the batches that the stream comes in, but it ends where the thread asks the kernel for something, and wherever else the
 * stream has more than blocks for it.
 * Leaves out: whether that address is the one that the wrong path would have had; pushes and pops with an unknown stack pointer, the second access of
 * an instruction, instructions that the right path does not come to.
 */
#ifndef CORE_CONVERGE_H
#define CORE_CONVERGE_H
#include "core/wrongpath/walker.h"

enum {
	CONVERGE_BLOCKS = 64,	/* a power of two.  GUESS: 300 to 400 instructions, about as many as a reorder buffer holds; what comes later has left the
				   wrong path's time behind.  Twice and half as many, and the misses of a few programs, would show it */
	CONVERGE_PLACES = 64,	/* of instructions that were looked for behind the same branch: a power of two */
};

struct converge_block {		/* one that was read; block, slots: until it has run */
	const struct iblock *block;
	const uint64_t *slots;
	uint64_t accesses;	/* walk_block.accesses; all ones: not known yet */
	uint32_t nslots;
};
struct converge {		/* of a thread */
	struct converge_block block[CONVERGE_BLOCKS];	/* a ring */
	uint32_t first, end;	/* numbers of the next that will run, and behind the last */
	struct { uint64_t ip; uint32_t walk, next; } place[CONVERGE_PLACES];	/* where to go on looking */
};

/* The bit of walk_block.accesses for the instruction at ip. */
static inline uint64_t converge_bit(uint64_t ip)
{
	return UINT64_C(1) << (ip * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static inline void converge_read(struct converge *c, const struct iblock *b, const uint64_t *slots, uint32_t nslots)
{
	const struct walk_block *k = b->core_walk;
	c->block[c->end++ & (CONVERGE_BLOCKS - 1)] = (struct converge_block){ b, slots, k ? k->accesses : UINT64_MAX, nslots };
}

/* The operand's address of the instruction at ip when it is next executed, behind where it was found before in this walk (number `walk`).  store: of what
 * it writes, else of what it reads or prefetches.  False: it does not come. */
bool converge_address(struct converge *c, uint64_t ip, bool store, uint32_t walk, uint64_t *addr);
#endif
