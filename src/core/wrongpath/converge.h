/* SPDX-License-Identifier: GPL-2.0-or-later
 * Convergence of the wrong path with the right path: gives an access of the wrong path whose address the walk
 * (walker.h) does not know the address that the same instruction has on the right path, if it comes there soon
 * behind the branch.
 *
 * Models: the stream is read some blocks ahead of the block that is run.  An instruction whose operand's
 * address is unknown is searched for there, and its address there is taken; the next time the walk gets to that
 * instruction, the next one's.  (S. Eyerman, L. Eeckhout and others, "Simulating Wrong-Path Instructions in
 * Decoupled Functional-First Simulation", ISPASS 2023, which aligns both paths for it.)  Nothing is searched
 * until an address is unknown.
 * How far ahead the stream is read does not depend on the batches it comes in.  But it ends where the thread
 * makes a system call, and wherever else the stream has more than blocks for the thread.
 * Leaves out: whether the wrong path would have had that address; pushes and pops with an unknown stack
 * pointer; the second access of an instruction; instructions that the right path does not come to.
 */
#ifndef CORE_CONVERGE_H
#define CORE_CONVERGE_H
#include "core/wrongpath/walker.h"

enum {
	CONVERGE_BLOCKS =
		/* a power of two.  GUESS: 300 to 400 instructions, about as many as a reorder buffer holds;
		 * what comes later comes too late for the wrong path.  Twice and half as many, and the misses
		 * of a few programs, would show it */
		64,
	CONVERGE_PLACES = 64, /* instructions that were searched for behind the same branch: a power of two */
};

struct converge_block {		/* a block that was read; block and slots are valid until it has run */
	const struct iblock *block;
	const uint64_t *slots;
	uint64_t accesses;	/* walk_block.accesses; all ones: not known yet */
	uint32_t nslots;
};
struct converge {		/* of a thread */
	struct converge_block block[CONVERGE_BLOCKS];	/* a ring */
	uint32_t first, end;	/* numbers of the next block that will run, and of the one behind the last */
	struct { uint64_t ip; uint32_t walk, next; } place[CONVERGE_PLACES];	/* where to go on searching */
};

/* The bit of walk_block.accesses for the instruction at ip. */
static inline uint64_t converge_bit(uint64_t ip)
{
	return UINT64_C(1) << (ip * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static inline void converge_read(struct converge *c, const struct iblock *b, const uint64_t *slots, uint32_t nslots)
{
	const struct walk_block *k = b->core_walk;
	c->block[c->end++ & (CONVERGE_BLOCKS - 1)] =
		(struct converge_block){ b, slots, k ? k->accesses : UINT64_MAX, nslots };
}

/* Returns the address of the operand of the instruction at ip when it is next executed, behind the place where
 * it was found before in this walk (number `walk`).  store: of the operand that it writes, else of the one that
 * it reads or prefetches.  Returns false if the instruction does not come. */
bool converge_address(struct converge *c, uint64_t ip, bool store, uint32_t walk, uint64_t *addr);
#endif
