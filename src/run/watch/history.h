/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a thread's general-purpose registers held at its latest instructions: from the register writes in the
 * stream, kept as long as records of these instructions may still come.
 *
 * Instructions are numbered as they complete: the n-th (from 0) of those that the core was asked to run.  A REP
 * instruction counts as one; its state is that of its first iteration.  Nothing is known before the first whole
 * register file.
 */
#ifndef RUN_HISTORY_H
#define RUN_HISTORY_H
#include "isa/isa.h"
#include "util/err.h"

struct history;

struct history_moment {
	uint64_t gpr[16];	/* as encoded: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15 */
	/* rflags: the arithmetic flags, and the bits that are 1 always or in user mode (bit 1, IF) */
	uint64_t rip, rflags;
	const uint8_t *code;	/* the instruction's bytes */
	uint8_t length;
};

int  history_create(struct history **out, int word_bytes, struct err *err);
void history_destroy(struct history *h);
/* Sets the whole register file, as the tracer reported it. */
void history_file(struct history *h, const uint64_t gpr[16], uint64_t flags);
/* Records an execution of a block: `insns` of its instructions were begun, `completed` of them completed.  counts:
 * they are numbered. */
void history_block(struct history *h, const struct iblock *b, unsigned insns, unsigned completed, const uint64_t *slots,
	unsigned nslots, bool counts);
/* Blocks were discarded.  Those that were discarded before the last call are freed after this one, so nothing of
 * them is kept. */
void history_discard(struct history *h);
/* The registers before instruction `number`, which lies at `ip`; with behind > 0, after that many instructions
 * from it on.  Of a REP instruction that goes on, `behind` gives the registers after its last iteration, and its own
 * address as RIP.  False: not known, or no longer. */
bool history_at(const struct history *h, uint64_t number, uint64_t ip, unsigned behind, struct history_moment *out);
#endif
