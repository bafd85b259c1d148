/* SPDX-License-Identifier: GPL-2.0-or-later
 * A few instructions in a steady state on the modelled core: cycles an iteration, and what limits them.
 *
 * The block runs on the very core that times programs, unrolled (copies behind one another, the default) or as a loop.
 * Everything is warm: code in L1I (and the uop cache, where it fits), data in L1D, branches known.
 *
 * Unrolled: as many copies as make up BLOCK_REGION_INSNS instructions and BLOCK_REGION_BYTES bytes at most, run over and
 * over; from the last copy execution goes on at the first one without a branch.  So code comes from the uop cache as it
 * does in the loops of some hundred instructions in which throughput is usually measured; --set dsb.sets=0 shows it out of
 * the decoders.
 *
 * Addresses: registers have no values here.  Each base (base register, index, scale and segment taken together) points to a
 * page of its own, a displacement counts from there; pages' starts are shifted by whole lines so that different bases never
 * meet in a set of L1D or in the low 12 bits (no 4K aliasing but within one base).  An address is the same in every
 * iteration; RSP alone moves, with PUSH, POP, CALL, RET and additions of constants, and starts anew with the first copy.
 *
 * Control flow: a conditional branch falls through, but for the one that closes a loop; JMP, CALL and RET are followed
 * within the block.  Refused: what leaves the block, indirect jumps, REP string instructions (their count is unknown).
 */
#ifndef ANALYSIS_BLOCK_H
#define ANALYSIS_BLOCK_H
#include "core/machine/config.h"
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BLOCK_INSNS = 1024,		/* most instructions of an iteration */
	BLOCK_REGION_INSNS = 256, BLOCK_REGION_BYTES = 2048,
	BLOCK_PORTS = 16, BLOCK_BOUNDS = 8, BLOCK_NOTES = 4,
};

struct block_engine;		/* a machine's tables, for any number of blocks */
int  block_engine_create(struct block_engine **out, const struct core_config *core, const char *data_dir, struct err *err);
void block_engine_destroy(struct block_engine *e);

struct block_spec {
	const uint8_t *code;
	size_t bytes;
	int word_bytes;			/* 8 or 4 */
	bool loop;
	unsigned copies;		/* unrolled: so many; 0: as above */
	bool detail;			/* insn, uop and bounds of the result are wanted too */
};

struct block_insn {			/* one instruction of an iteration, in the order of execution */
	uint32_t offset;		/* in the code */
	uint8_t len, bytes[15];
	bool appended;			/* of the pair that closes the loop, not the user's */
	bool fused;			/* macro-fused with the one before: its uops are there */
	bool unknown, substitute;	/* no row in the uop table; newer than the core */
	unsigned slots, uops;		/* fused and unfused domain */
	double port[BLOCK_PORTS];	/* uops an iteration on each port */
	char text[80];			/* disassembly, Intel syntax */
};

struct block_uop {			/* of the iterations shown by the timeline; cycles from the first one's dispatch */
	uint32_t iteration, insn;
	bool first;			/* of its instruction */
	uint8_t port;			/* 255: none */
	int64_t fetch, alloc, ready, dispatch, complete, retire;
};

enum block_limit { LIMIT_FRONT_END, LIMIT_ISSUE, LIMIT_RETIRE, LIMIT_PORTS, LIMIT_DIVIDER, LIMIT_STORE, LIMIT_CHAIN };
struct block_bound {
	enum block_limit limit;
	bool binds;			/* it alone explains the cycles measured */
	double cycles;			/* an iteration takes at least so many because of it; front end: cycles lost to it */
	char text[160];
};
struct block_link { uint32_t insn; uint32_t latency; };	/* of the longest dependency chain, in order */

struct block_result {
	uint64_t cycles, iterations;	/* in lowest terms: cycles an iteration is their ratio */
	bool periodic;			/* exact; else an average over a quarter to a half of the longest run made, whose last passes are like those before its begin */
	unsigned insns;			/* instructions an iteration */
	unsigned slots, uops;		/* fused and unfused domain, an iteration */
	unsigned unknown, substitute;	/* instructions without a row, and newer than the core */
	unsigned copies;
	char note[BLOCK_NOTES][160];
	unsigned notes;
	/* detail */
	struct block_insn *insn;	/* insns of them */
	struct block_bound bound[BLOCK_BOUNDS];	/* largest first */
	unsigned bounds;
	char bottleneck[64];		/* one word or words joined by "+": frontend, issue, retire, ports, divider, store, dependency; "" without detail */
	struct block_link *chain;
	unsigned links, chain_iterations;	/* the chain closes after so many iterations */
	struct block_uop *uop;
	unsigned timeline_uops;
};

/* result is released by block_release whatever was returned. */
int  block_run(struct block_engine *e, const struct block_spec *spec, struct block_result *result, struct err *err);
void block_release(struct block_result *result);
const char *block_limit_name(enum block_limit limit);

/* The timeline as a picture, into a malloc'd string: one row a uop, one column a cycle, at most `columns` of them. */
char *block_timeline(const struct block_result *r, unsigned columns);
#endif
