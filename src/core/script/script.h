/* SPDX-License-Identifier: GPL-2.0-or-later
 * A script: what one execution of a block asks of the core, in words.  It is made ahead of the core's time,
 * maybe by another host thread.
 *
 * core_script settles everything that does not depend on time: which instructions were executed, which slots go
 * the short way, the addresses of their accesses, where branches went, and what the predictors said.
 *
 *   word 0      instructions executed, and above SCRIPT_WORDS how far away the end is
 *   a step      its address, with its kind in the low bits; then the address of its access, if its kind has one,
 *               and where its branch went, if its kind has one; the upper 16 bits have enum script_branch
 *   an instruction that goes the general way
 *               its index above SCRIPT_INDEX, STEP_GENERAL in the low bits, enum script_branch in the upper
 *               16 bits, enum script_assist from bit SCRIPT_ASSIST on
 *   a wrong path, behind a branch whose word says SCRIPT_WRONG
 *               SCRIPT_WRONG_PATH, how many words it has above SCRIPT_INDEX, its number above SCRIPT_WALK
 *               (walker_ran); then its steps as above, and a SCRIPT_END.  In it an instruction that goes the
 *               general way has more behind its word: its block, where its branch went, and an address for each
 *               of its uops
 *   the end     SCRIPT_END; if there is an instruction that goes the general way, then: the block, next_ip, the
 *               number of slot values (above bit 32: of instructions), the slot values
 */
#ifndef CORE_SCRIPT_H
#define CORE_SCRIPT_H
#include "core/script/block_plan.h"

enum {
	SCRIPT_END = STEP_NOTHING /* which is no step */,
	SCRIPT_WRONG_PATH = 15 /* which is no step either */,
	SCRIPT_KIND = 15,
	SCRIPT_INDEX = 6,
	SCRIPT_ASSIST = 32,
	SCRIPT_WORDS = 32,
	SCRIPT_WALK = 32,
	SCRIPT_FLAGS = 48,
	SCRIPT_BUBBLE = 56
};
/* The steps that go the short way: kinds; the kind whose code serves all of these; how many words of a script
 * they have.  A load that needs no closer look runs the code of one that does: code of its own would cost more
 * in the host's L1I than the tests do. */
#define SHORT_STEPS(STEP) \
	STEP(case STEP_ELIMINATED, STEP_ELIMINATED, 1) \
	STEP(case STEP_COMPUTE, STEP_COMPUTE, 1) \
	STEP(case STEP_COMPUTE_MORE, STEP_COMPUTE_MORE, 1) \
	STEP(case STEP_RENAME, STEP_RENAME, 1) \
	STEP(case STEP_BRANCH, STEP_BRANCH, 2) \
	STEP(case STEP_STORE, STEP_STORE, 2) \
	STEP(case STEP_LOAD: case STEP_LOAD_MORE, STEP_LOAD_MORE, 2) \
	STEP(case STEP_LOAD_COMPUTE: case STEP_LOAD_COMPUTE_MORE, STEP_LOAD_COMPUTE_MORE, 2) \
	STEP(case STEP_LOAD_BRANCH: case STEP_LOAD_BRANCH_MORE, STEP_LOAD_BRANCH_MORE, 3)

/* script_is_short: the step goes the short way.  script_is_branch: it also is a branch, or ends with one. */
static inline bool script_is_short(unsigned kind)
{
	return kind - STEP_ELIMINATED <= STEP_LOAD_BRANCH_MORE - STEP_ELIMINATED;
}
static inline bool script_is_branch(unsigned kind)
{
	return (1u << STEP_BRANCH | 1u << STEP_LOAD_BRANCH | 1u << STEP_LOAD_BRANCH_MORE) >> kind & 1;
}

enum script_branch { /* from bit SCRIPT_FLAGS on; from SCRIPT_BUBBLE on: fetch cycles lost */
	SCRIPT_TAKEN = 1,
	SCRIPT_MISPREDICTED = 2,
	SCRIPT_WRONG_TARGET = 4,
	SCRIPT_RESTEER = 8,
	SCRIPT_FAR = 16 /* alone */,
	SCRIPT_WRONG = 32,     /* mispredicted, and its wrong path follows */
	SCRIPT_PREDICTED = 64, /* with SCRIPT_WRONG: it was predicted taken */
};
enum script_assist {		/* what microcode does before the instruction (clears.h) */
	SCRIPT_AVX_TO_SSE = 1, SCRIPT_SSE_TO_AVX = 2, SCRIPT_UPPERS = 3,
	/* it does the instruction itself, because of (clears_fp_assist): */
	SCRIPT_FP = 2,		/* first bit, and in this order: */
	SCRIPT_STACK_UNDERFLOW = 4, SCRIPT_STACK_OVERFLOW = 8, SCRIPT_X87_IN = 16, SCRIPT_X87_OVERFLOW = 32,
	SCRIPT_X87_OUT = 64, SCRIPT_SIMD_IN = 128, SCRIPT_SIMD_OUT = 256,
	SCRIPT_FP_KINDS = 7, SCRIPT_ASSISTS = 511,
	/* not microcode: */
	SCRIPT_BLEND = 512,	/* a uop behind the instruction blends (clears_blend_end) */
	SCRIPT_HINT = 1024,	/* it may begin or end an elided region (elision.h) */
};
/* Bits that say more of a branch than which way it went. */
#define SCRIPT_UNUSUAL (~UINT64_C(0) << SCRIPT_FLAGS & ~((uint64_t)SCRIPT_TAKEN << SCRIPT_FLAGS))

static inline const struct step *script_step(
	uint64_t word) /* a user address has 47 bits; a step's address is a multiple of 64 */
{
	return (const struct step *)(word & ((UINT64_C(1) << SCRIPT_FLAGS) - 1) & ~UINT64_C(63));
}

static inline const uint64_t *script_end(const uint64_t *script)	/* the words behind SCRIPT_END */
{
	return script + (*script >> SCRIPT_WORDS) + 1;
}

static inline bool script_says(uint64_t word, enum script_branch flag)
{
	return word >> SCRIPT_FLAGS & flag;
}

/* next: address of the instruction executed behind the branch; 0: unknown. */
static inline bool script_taken(const struct insn *br, uint64_t next)
{
	return !(br->flags & INSN_COND) || (next && next != br->addr + br->len);
}
static inline uint64_t script_target(const struct insn *br, uint64_t next)
{
	return br->target ? br->target : next ? next : br->addr + br->len;
}
static inline uint64_t script_went(const struct insn *br, uint64_t next)
{
	return script_taken(br, next) ? script_target(br, next) : br->addr + br->len;
}

/* of a block's first so many instructions the branches are predicted; branches behind them count as predicted
 * right */
enum { SCRIPT_BRANCHES = 64 };

struct core;
/* The hint that a prefix of branch i gives, as a flag of the predictor. */
uint32_t script_hint(const struct iblock *b, unsigned i);
/* Follows the state of the upper halves of the vector registers past the block's first instructions. */
void script_uppers(struct core *c, const struct iblock *b, unsigned insns);

/* Returns how many slot values an execution has.  *insns: set to the number of instructions that completed. */
unsigned core_executed(const struct iblock *b, unsigned exit, unsigned *insns);
#endif
