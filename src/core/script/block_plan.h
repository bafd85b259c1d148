/* SPDX-License-Identifier: GPL-2.0-or-later
 * A block's plan: what the short way through the pipeline needs of each slot, in order, one cache line each.
 *
 * Slots have few shapes: a computation, a load, a store, a branch, a load with a computation or a branch on
 * what it loaded, something that rename does.  The general way (general.c) treats every shape the same, one uop
 * at a time.  The short way (script.h, slot.h) saves its tests, and its way from instruction to uop to table.
 *
 * core_plan_make makes a plan once for a block, and iblock.core_plan keeps it.  It depends on the block alone,
 * so cores of any machine may share it.
 */
#ifndef CORE_BLOCK_PLAN_H
#define CORE_BLOCK_PLAN_H
#include "isa/isa.h"

enum step_kind {
	STEP_GENERAL,    /* the instruction goes the general way */
	STEP_NOTHING,    /* no uops: fused into the instruction before */
	STEP_ELIMINATED, /* done by rename: copies, zero idioms, NOPs */
	STEP_COMPUTE,
	STEP_BRANCH,
	STEP_RENAME,       /* done by rename if it can, else a computation (eliminate.h) */
	STEP_COMPUTE_MORE, /* a computation with a domain (bypass.h), or slow (scheduler.h) */
	STEP_LOAD,
	STEP_LOAD_COMPUTE,
	STEP_LOAD_BRANCH,
	STEP_STORE,
	STEP_LOAD_MORE,
	STEP_LOAD_COMPUTE_MORE,
	STEP_LOAD_BRANCH_MORE, /* with a load or computation that needs a closer look (lsq_load_more, bypass.h) */
};

enum step_flags {
	STEP_FIRST = 1, /* the first slot of its instruction */
	STEP_APART =
		/* its instruction writes AH, CH, DH or BH, which are renamed apart, and goes the general way
		 * (partial_regs.h) */
		2,
	STEP_VECTOR = 4, /* a load into a vector register, or of more than 8 bytes */
	STEP_WEAK = 8,   /* a non-temporal store */
	STEP_COPY = 16,  /* eliminated: the result is the source's, not a new one */
	STEP_ADDS = 64,  /* eliminated: adds a constant */
	STEP_CHECK =
		/* its instruction has several slots: it may go the short way only if all of its accesses were
		 * made and it was not cut in the middle */
		32,
	STEP_WIDE = 128, /* its instruction is INSN_WIDE: delivery need not look at the instruction */
};

enum { STEP_NO_RESULT = REG_COUNT };	/* for dst: nobody reads it, and REG_NONE keeps its value */

struct step {			/* a slot */
	uint64_t is[2];		/* of its uops */
	uint64_t ip;
	const struct insn *in;	/* its instruction */
	uint16_t ports[2];
	uint16_t slot, size;	/* of its memory access: index of its address, bytes */
	uint16_t insn;		/* index of its instruction; behind the last step: UINT16_MAX */
	uint16_t branch;	/* index of the branch that it is, or is fused with */
	uint8_t  kind, flags;	/* enum step_kind, step_flags */
	uint8_t  ends;		/* instructions that end with it */
	uint8_t  steps;		/* steps of its instruction, set in the first of them */
	uint8_t  latency[2];
	uint8_t  src[2][3], dst[2][3];
	union {
		int16_t constant;	/* STEP_RENAME: what it adds */
		struct {
			uint8_t load;			/* enum uop_load of its load */
			union {
				uint8_t domain;		/* enum uop_domain of its computation */
				/* of a branch: its address less ip, so that its instruction need not be read */
				uint8_t branch_at;
			};
		};
	};
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct step) == 64, "a step is a cache line");

/* A step as core_script sees it: four of these share a cache line, so that the thread that makes scripts need not
 * read the steps themselves. */
struct outline {
	uint64_t word;		/* of the script: the step's address and kind */
	uint16_t insn;		/* as step.insn */
	uint16_t slot;		/* its access, or 0 if it makes none; OUTLINE_CLOSER: the step needs a closer look */
	uint8_t words;		/* that a script has for it */
};
enum { OUTLINE_CLOSER = UINT16_MAX };	/* no block has so many slots */

struct plan {
	const struct outline *outline;	/* of each step, and of the end */
	struct step step[1];	/* as many as there are */
};

/* Returns NULL if there is no memory for it. */
struct plan *core_plan_make(struct iblock *b);
#endif
