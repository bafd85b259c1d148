/* SPDX-License-Identifier: GPL-2.0-or-later
 * What functional warming needs of a block, as lists: its accesses (core/memory/memsys_warm.h), its branches, and the
 * windows of code that it runs through, for the uop cache.
 *
 * warm_plan_make makes them once for a block, and iblock.core_warm keeps them.  They depend on the block and on struct
 * warm_code, which all cores of a run share.
 */
#ifndef CORE_WARM_PLAN_H
#define CORE_WARM_PLAN_H
#include "core/memory/memsys_warm.h"
#include "isa/isa.h"

struct warm_exit {		/* an execution that leaves the block through this exit */
	uint16_t insns;		/* instructions that it executes; 0: the lists do not fit it */
	uint16_t completed;	/* instructions that it completes: one that repeats itself is not complete yet */
	uint16_t ops, windows;	/* how many of the lists it has */
	uint64_t last_mask;	/* instructions that it executes in the last window (struct warm_window) */
	uint64_t next;		/* address behind the last instruction */
	uint64_t times;		/* how often it was warmed since core_take_times was asked */
	uint64_t held;		/* core.warm.losses of a core whose uop cache holds all of its windows; 0: none */
};

struct warm_window {		/* entry is the only member that changes */
	uint64_t window;	/* code address / window bytes */
	uint64_t mask;		/* bit i: an instruction with uops starts at byte i of the window */
	uint16_t first, end;	/* its instructions in the block */
	uint16_t entry;		/* of the uop cache that holds it, while warm_exit.held is the core's */
};

/* A predicted branch.  In the middle of an execution it goes to `next`; as the last instruction, to wherever the next
 * block begins. */
struct warm_branch {
	uint64_t ip, fallthrough;
	uint64_t target;	/* of a direct branch; else 0 */
	uint64_t next;
	uint32_t flags;		/* as bpred_branch takes them */
};
/* The branches of an execution.  Nobody writes it, so another host thread may read it (core_learn). */
struct warm_path {
	const struct warm_branch *branch;
	uint64_t addr;		/* of the block */
	uint32_t branches;
	bool last;		/* its last branch is its last instruction */
};

/* What the lists depend on besides the block.
 * How the core comes to code: through windows of 1 << window_log2 bytes that a uop cache may hold, or without one
 * (window_log2 0) by lines of 1 << line_log2 bytes.  hints: hint prefixes of branches mean something. */
struct warm_code { unsigned line_log2, window_log2; bool hints; };

struct warm_plan {
	uint16_t exits;
	struct warm_exit *exit;
	struct warm_op *op;
	struct warm_window *window;
	struct warm_path *path;	/* for each exit */
	uint16_t *branch;	/* indices of the predicted branches */
};

/* Writes the accesses of instruction i to op, at most one more than it has slots, and returns their end.  *line: the
 * line of code that was fetched last, or WARM_NO_LINE. */
#define WARM_NO_LINE UINT64_MAX
struct warm_op *warm_plan_accesses(const struct iblock *b, unsigned i, struct warm_code code, uint64_t *line,
	struct warm_op *op);
/* Instruction i of the block, a branch that is predicted. */
struct warm_branch warm_plan_branch(const struct iblock *b, unsigned i, bool hints);
/* Returns NULL if there is no memory for it. */
const struct warm_plan *warm_plan_make(struct iblock *b, struct warm_code code);
/* The part of the lists that this execution has; NULL: the lists do not fit it. */
static inline const struct warm_exit *warm_plan_exit(const struct warm_plan *p, unsigned exit, unsigned insns)
{
	return p && exit < p->exits && p->exit[exit].insns == insns && insns ? &p->exit[exit] : NULL;
}
#endif
