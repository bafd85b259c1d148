/* SPDX-License-Identifier: GPL-2.0-or-later
 * A block's plan: what a short way through the pipeline needs of each slot, in a row, a cache line each.
 *
 * Slots have few shapes: a computation, a load, a store, a branch, a load with a computation or a branch on what it
 * brought, something that rename does.  core.c's run_insn does the same for every shape and one uop at a time; what the
 * short way (script.h, step.h) saves is its questions and its walk from instruction to uop to table.
 *
 * Made once a block (core_plan_make), kept in iblock.core_plan; it follows from the block alone, so that cores of any machine
 * may share it.
 */
#ifndef CORE_BLOCK_PLAN_H
#define CORE_BLOCK_PLAN_H
#include "isa/isa.h"

enum step_kind {
	STEP_GENERAL,		/* the instruction takes the general way */
	STEP_NOTHING,		/* no uops: fused into the instruction before */
	STEP_ELIMINATED,	/* done by rename: copies, zero idioms, NOPs */
	STEP_COMPUTE, STEP_BRANCH,
	STEP_RENAME,		/* done by rename if it can, else a computation (eliminate.h) */
	STEP_COMPUTE_MORE,	/* with a domain (bypass.h), or slow (scheduler.h) */
	STEP_LOAD, STEP_LOAD_COMPUTE, STEP_LOAD_BRANCH, STEP_STORE,
	STEP_LOAD_MORE, STEP_LOAD_COMPUTE_MORE, STEP_LOAD_BRANCH_MORE,	/* of loads or computations that need a closer look (lsq_load_more, bypass.h) */
};

enum step_flags {
	STEP_FIRST = 1,		/* slot of its instruction */
	STEP_APART = 2,		/* of an instruction that goes the general way: writes AH, CH, DH or BH, renamed apart (partial_regs.h) */
	STEP_VECTOR = 4,	/* a load into a vector register, or wider than 8 bytes */
	STEP_WEAK = 8,		/* a non-temporal store */
	STEP_COPY = 16,		/* eliminated: the result is the source's, not new */
	STEP_ADDS = 64,		/* eliminated: adds a constant */
	STEP_CHECK = 32,	/* of several slots: may go only if all of its accesses were made and it was not cut in the middle */
	STEP_WIDE = 128,	/* of an instruction that is INSN_WIDE: delivery need not look at it */
};

enum { STEP_NO_RESULT = REG_COUNT };	/* for dst: nobody reads it, and REG_NONE stays what it is */

struct step {			/* a slot */
	uint64_t is[2];		/* of its uops */
	uint64_t ip;
	const struct insn *in;	/* its instruction */
	uint16_t ports[2];
	uint16_t slot, size;	/* of its memory access: index of the address, bytes */
	uint16_t insn;		/* index of its instruction; behind the last: UINT16_MAX */
	uint16_t branch;	/* index of the branch it is, or is fused with */
	uint8_t  kind, flags;	/* enum step_kind, step_flags */
	uint8_t  ends;		/* instructions that end with it */
	uint8_t  steps;		/* of its instruction, if this is the first */
	uint8_t  latency[2];
	uint8_t  src[2][3], dst[2][3];
	union {
		int16_t constant;	/* STEP_RENAME: what it adds */
		struct {
			uint8_t load;			/* enum uop_load of its load */
			union {
				uint8_t domain;		/* enum uop_domain of its computation */
				uint8_t branch_at;	/* of a branch: where it begins behind ip; who follows it need not look at its instruction */
			};
		};
	};
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct step) == 64, "a step is a cache line");

struct plan {
	struct step step[1];	/* as many as there are */
};

/* NULL: out of memory, now and later. */
struct plan *core_plan_make(struct iblock *b);
#endif
