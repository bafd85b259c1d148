/* SPDX-License-Identifier: GPL-2.0-or-later
 * The wrong path, first half: what the machine would have fetched behind a mispredicted branch, instruction by
 * instruction, with the addresses of its accesses.  The host thread that makes scripts walks it functionally
 * when it makes the branch's script; the core runs as much of it as there is time for (wrongpath.h).  The core
 * reports back only how far it got, and there is a fixed point by which that must be known; so the same stream
 * gives the same walks.
 *
 * Models: code from blocks that were executed, else from the bytes of executable mappings; registers and flags
 * as they were at that branch, each known or unknown; memory as loads brought it into registers and stores took
 * it out of them, in a bounded table; the wrong path's own stores, in a table that is forgotten with it;
 * branches as the predictors say (bpred_path).  An instruction whose effect is not followed (isa/semantic.h)
 * makes its results unknown.
 * An access of unknown address takes the address that the instruction has when the right path comes to it
 * (converge.h).  If the right path does not come to it, the access is left out: the uop counts as a load that
 * hits L1D, and leaves no trace in caches and TLB.
 * The walk ends at wrong_path.instructions; where the core will hardly get (below); at REP, locked and
 * serialising instructions, fences, PAUSE, far transfers and system calls; where fetch waits for a target that
 * is not predicted; where code is unknown.
 * How far the core gets depends on its time, which is behind that of the walk.  So a walk goes a little further
 * than the core lately got behind the same branch.  It learns that only from walks that are so many words of
 * scripts old that the core must be done with them, whatever the speed of the host's threads (walker_follow).
 * A walk that proves too short ends early, and the next one there goes twice as far.
 * For a branch whose condition or target is known the walk says whether it was predicted right, if a consumer
 * counts that (walker_outcomes).  A branch that is not known goes as predicted, and counts as predicted right.
 * Fetch is not redirected: behind a branch that is found mispredicted the walk goes on as predicted until the
 * branch that it began at resolves, because it is not known here when the inner branch would resolve, nor how
 * much time each of the two paths would have had.
 * Leaves out: that redirect; what system calls wrote into memory; vector registers.
 */
#ifndef CORE_WALKER_H
#define CORE_WALKER_H
#include "core/predict/bpred.h"
#include "core/script/block_plan.h"
#include "isa/semantic.h"
#include "stream/format.h"

enum {
	WALK_ROOM = 2048,	/* most words of a walk in a script, without the one that begins it */
	WALK_REGS = 20,		/* general-purpose registers, then VEX's thunk of the flags (format.h) */
};

/* --- of a process: its code, and the last known words of its memory --- */
struct walk_space;
int  walk_space_create(struct walk_space **out, const struct isa *isa, int word_bytes, struct err *err);
/* NULL: does nothing.  Call it when no script of the process is left to be run */
void walk_space_destroy(struct walk_space *s);
/* A block was defined; a block goes away. */
int  walk_space_block(struct walk_space *s, struct iblock *b, struct err *err);
void walk_space_forget(struct walk_space *s, const struct iblock *b);
/* Bytes of an executable mapping; code that is no longer there. */
int  walk_space_code(struct walk_space *s, uint64_t addr, const void *bytes, size_t n, struct err *err);
void walk_space_cut(struct walk_space *s, uint64_t addr, uint64_t bytes);
/* isa decodes differently from now on: what was decoded from bytes is decoded anew when it is needed. */
void walk_space_again(struct walk_space *s);
/* Returns the block with the instruction at an address, decoded if need be, and the instruction's index in it;
 * NULL: unknown. */
struct iblock *walk_space_find(struct walk_space *s, uint64_t addr, unsigned *index);

/* --- of a thread: its registers --- */
struct walker;
int  walker_create(struct walker **out, struct walk_space *s, const struct core_config *config, struct err *err);
void walker_destroy(struct walker *w);
void walker_regs(struct walker *w, const struct st_regs *r);
/* Follows an execution of a block, before its script is made. */
void walker_track(struct walker *w, struct iblock *b, const uint64_t *slots, unsigned nslots);
/* Blocks were not followed: no register is known any more.  Memory keeps its last known words. */
void walker_lose(struct walker *w);
/* Nor is any word of its process' memory. */
void walker_forget(struct walker *w);
/* The walker is as if it had followed all blocks and never walked.  Only of a process with one thread; call it when no
 * script is left to be run, and then walker_follow. */
void walker_renew(struct walker *w);
/* The core runs scripts of this thread in their order, and is done with one when `behind` more words of them
 * were made; 0: it is not known when it is done. */
void walker_follow(struct walker *w, uint64_t behind);
/* So many words of script were made. */
void walker_made(struct walker *w, size_t words);
/* Returns where the core writes how many words of a walk it ran, at an index: the number that the walk's first
 * word has above SCRIPT_WALK, less 1, if the number is not 0. */
uint16_t *walker_ran(struct walker *w);
/* Sets the blocks that were read ahead of those that are tracked; NULL, as at first: none.  use: unknown
 * addresses are searched for there. */
struct converge;
void walker_ahead(struct walker *w, struct converge *ahead);
void walker_converge(struct walker *w, bool use);
/* From now on the words of mispredicted branches say so (SCRIPT_MISPREDICTED, SCRIPT_WRONG_TARGET), where that
 * is known; at first they do not.  Nothing else depends on it. */
void walker_outcomes(struct walker *w, bool wanted);
/* Walks the wrong path: the last bpred_branch was mispredicted, and fetch went on at `from`.  general: no
 * instruction may go the short way.  Writes at most WALK_ROOM words for core_wrong_path behind one that begins
 * it (script.h).  Returns how many words with that one; 0: nothing is known. */
size_t walker_walk(struct walker *w, const struct bpred *bp, uint64_t from, bool general, uint64_t *out);

/* --- private to walk*.c --- */
enum track_kind {
	TRACK_REG,
	TRACK_WORD /* a whole register */,
	TRACK_KNOWN /* memory holds a slot's value */,
	TRACK_STORE_REG,
	TRACK_STORE_IMM,
	TRACK_FORGET
};
struct track {			/* something that an execution of the block tells; a list of these is in order */
	uint8_t kind, reg, bytes, offset;
	uint16_t slot,
		/* slot: index of the slot with the register's value or the access's address; value: of the slot
		 * with the memory's value */
		value;
	uint64_t imm;
};
/* What an instruction does to registers and memory, if the walk can do it quickly; LOAD_: with memory as its
 * source. */
#define WALK_DO(DO) \
	DO(EXECUTE)	/* it cannot: see the instruction's struct sem */ \
	DO(NOTHING) DO(MOV) DO(MOVSX) DO(ADD) DO(SUB) DO(CMP) DO(AND) DO(TEST) DO(OR) DO(XOR) DO(ZERO) \
	DO(INC) DO(DEC) DO(SHL) DO(SHR) DO(SAR) \
	DO(LEA) DO(STORE) DO(PUSH) DO(POP) \
	DO(TOUCH)	/* nothing, but it has an operand in memory */ \
	DO(LOAD)	/* MOV, MOVZX */ \
	DO(LOAD_MOVSX) DO(LOAD_ADD) DO(LOAD_SUB) DO(LOAD_CMP) DO(LOAD_AND) DO(LOAD_TEST) DO(LOAD_OR) DO(LOAD_XOR) \
	DO(CMP_AT) DO(TEST_AT)	/* memory is the destination */ \
	DO(IMUL) DO(IMUL_IMM) DO(SETCC) DO(CMOV) \
	DO(CALL) DO(RET)	/* a call has a store and a branch: from_mask is the word of the first */ \
	DO(END)		/* the walk ends before it */ \
	DO(BEHIND)	/* the place behind the block's last instruction */
enum walk_do {
#define DO(what) WALK_##what,
	WALK_DO(DO)
#undef DO
	WALK_WHATS
};
enum walk_access { WALK_NO_ACCESS, WALK_AT_OPERAND, WALK_AT_STACK };
enum walk_insn_flags {
	WALK_BRANCH_ACCESS = 1,	/* WALK_BRANCH, with a word and an access to its operand */
	WALK_BRANCH = 2,	/* it is a branch, or is fused with one */
	WALK_FLAGS = 4,		/* the flags that it makes may be read */
	WALK_USES_STACK = 8,
	WALK_APART = 16,	/* STEP_APART */
	WALK_SEVERAL = 32,	/* it has no word, or none that is its alone */
	WALK_BRANCH_ALONE = 64,	/* WALK_BRANCH, with a word and no access */
	WALK_OPERAND = 128,	/* it reads, writes or prefetches an operand in memory */
};
/* registers besides the 16: one that is always 0, one that is never known */
enum { WALK_ZERO_REG = 16, WALK_NEVER_KNOWN, WALK_STATE_REGS };

struct walk_insn {		/* of an instruction; a cache line */
	uint64_t word;		/* its step in a script; 0: it has none, or more than one */
	uint64_t imm;		/* the source is src + imm */
	/* the operand's address is base + index * scale + disp; of WALK_BEHIND: the address of what comes next */
	uint64_t disp;
	uint64_t mask, from_mask;	/* the bits of a word that the operation uses; that its source has */
	uint64_t address_mask;
	uint8_t what, flags;	/* enum walk_do, walk_insn_flags */
	uint8_t branch;		/* index in walk_block.branch of the first branch that is not before it */
	uint8_t access;		/* of the step: enum walk_access */
	uint8_t last;		/* instructions fused into it */
	uint8_t dst, src, base, index, scale;
	uint8_t bytes, from;	/* size of the operation; of the source in memory */
	uint8_t cut, from_cut;	/* bits of a word that these two leave out */
	uint8_t set;		/* the bytes of the source in memory, a bit each */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct walk_insn) == 64, "a cache line");
struct walk_branch {		/* of a branch; behind the last one is one with addr 0; a cache line */
	uint64_t addr, target;
	uint32_t flags, len;
	/* where a walk went on from here, or from the block's end; valid while walk_space.generation is the
	 * same */
	uint64_t generation, to;
	const struct walk_block *block;
	const struct walk_insn *insn;
	struct walk_branch *branch;	/* insn's */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct walk_branch) == 64, "a cache line");
struct walk_block {		/* of a block, at iblock.core_walk */
	const struct track *memory;	/* if `apart`: the tracks of memory */
	/* registers that are set behind these: their number << 16, and the index of the slot */
	const uint32_t *set;
	uint16_t memories, sets;
	uint32_t track_regs;	/* the set of registers that are known behind the tracks */
	unsigned track_slots;	/* slots that an execution must have for all of the tracks */
	unsigned tracks;
	bool apart;		/* no part of a register is written */
	const struct track *track;	/* all tracks */
	const struct walk_insn *insn;	/* for each instruction, and behind the last */
	struct walk_branch *branch;
	struct iblock *b;
	const struct sem *sem;		/* for each instruction */
	const uint16_t *step;		/* index of its first step in the plan */
	const struct plan *plan;
	uint32_t insns;
	uint64_t accesses;	/* the converge_bits (converge.h) of its instructions with an operand in memory */
};
/* returns NULL if there is no memory for it */
struct walk_block *walk_block_of(struct walk_space *s, struct iblock *b);

/* Memory of the process, as far as it is known; walk_memory_read returns false if it is not. */
bool walk_memory_read(const struct walk_space *s, uint64_t addr, unsigned bytes, uint64_t *value);
void walk_memory_write(struct walk_space *s, uint64_t addr, unsigned bytes, uint64_t value);	/* bytes: at most 8 */
void walk_memory_forget(struct walk_space *s, uint64_t addr, unsigned bytes);
#endif
