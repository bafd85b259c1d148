/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a few instructions in a steady state on the modelled core: cycles an iteration, and what limits them.
 *
 * The block runs on the same core model that times programs, either unrolled (copies one after the other, the
 * default) or as a loop.  Everything is warm: code is in L1I (and in the uop cache, where it fits), data in L1D,
 * branches are known to the predictors.
 *
 * Unrolled: the region has as many copies as fit into BLOCK_REGION_INSNS instructions and BLOCK_REGION_BYTES
 * bytes, and is run over and over.  From the last copy, execution goes on at the first one without a branch.  So
 * the code comes from the uop cache, as it does in the loops of some hundred instructions with which throughput
 * is usually measured; with --set dsb.sets=0 it comes from the decoders.
 *
 * Addresses: registers have no values here.  Each base (base register, index, scale and segment together) points
 * into a page of its own, and displacements count from there.  The pages' starts are shifted by whole lines so
 * that different bases never meet in a set of L1D or in the low 12 bits (no 4K aliasing, except within one
 * base).  An address is the same in every iteration.  Only RSP moves, with PUSH, POP, CALL, RET and additions of
 * constants; it starts again with the first copy.
 *
 * Control flow: a conditional branch falls through, except the one that closes a loop; JMP, CALL and RET are
 * followed within the block.  Refused: branches out of the block, indirect jumps, and REP string instructions,
 * whose count is unknown.
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

struct block_engine;		/* a machine's tables; serves any number of blocks */
int block_engine_create(struct block_engine **out, const struct core_config *core, const char *data_dir,
	struct err *err);
void block_engine_destroy(struct block_engine *e);

struct block_spec {
	const uint8_t *code;
	size_t bytes;
	int word_bytes;			/* 8 or 4 */
	bool loop;
	unsigned copies;		/* unrolled: number of copies; 0: as above */
	bool detail;			/* fill in insn, uop and bounds of the result, too */
};

struct block_insn {			/* one instruction of an iteration, in the order of execution */
	uint32_t offset;		/* in the code */
	uint8_t len, bytes[15];
	bool appended;			/* belongs to the pair that closes the loop; the user did not write it */
	bool fused;			/* macro-fused with the instruction before, which has its uops */
	bool unknown, substitute;	/* no row in the uop table; newer than the core */
	unsigned slots, uops;		/* fused and unfused domain */
	double port[BLOCK_PORTS];	/* uops an iteration on each port */
	char text[80];			/* disassembly, Intel syntax */
};

/* a uop of the iterations that the timeline shows; cycles count from the first dispatch */
struct block_uop {
	uint32_t iteration, insn;
	bool first;			/* the first of its instruction */
	uint8_t port;			/* 255: none */
	uint64_t did;			/* enum spmu_did */
	int64_t fetch, alloc, ready, dispatch, complete, retire;
	uint32_t source[4];		/* 1 + number of the uop that wrote a register it reads; 0: none of these */
};

enum block_limit { LIMIT_FRONT_END, LIMIT_ISSUE, LIMIT_RETIRE, LIMIT_PORTS, LIMIT_DIVIDER, LIMIT_STORE, LIMIT_CHAIN };
struct block_bound {
	enum block_limit limit;
	bool binds;			/* it alone explains the measured cycles */
	double cycles;			/* least cycles of an iteration because of it; front end: cycles lost to it */
	char text[160];
};
struct block_link { uint32_t insn; uint32_t latency; };	/* of the longest dependency chain, in order */

struct block_result {
	uint64_t cycles, iterations;	/* in lowest terms; their ratio is cycles an iteration */
	/* true: exact.  false: an average over a quarter to a half of the longest run made; its last passes are
	 * like those before its start */
	bool periodic;
	unsigned insns;			/* instructions an iteration */
	unsigned slots, uops;		/* fused and unfused domain, an iteration */
	unsigned unknown, substitute;	/* instructions without a row; instructions newer than the core */
	unsigned copies;
	char note[BLOCK_NOTES][160];
	unsigned notes;
	/* only with detail */
	struct block_insn *insn;	/* one for each of `insns` */
	struct block_bound bound[BLOCK_BOUNDS];	/* largest first */
	unsigned bounds;
	/* frontend, issue, retire, ports, divider, store, dependency, or several joined by "+"; "" without detail */
	char bottleneck[64];
	struct block_link *chain;
	unsigned links, chain_iterations;	/* the chain closes after that many iterations */
	struct block_uop *uop;
	unsigned timeline_uops;
};

/* The caller releases the result with block_release, whatever was returned. */
int  block_run(struct block_engine *e, const struct block_spec *spec, struct block_result *result, struct err *err);
void block_release(struct block_result *result);
const char *block_limit_name(enum block_limit limit);

/* The timeline as a picture: one row a uop, one column a cycle (or several), at most `columns`. malloc'd; NULL:
 * out of memory. */
char *block_timeline(const struct block_result *r, unsigned columns);
#endif
