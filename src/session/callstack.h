/* SPDX-License-Identifier: GPL-2.0-or-later
 * A thread's call stack (run/watch/calls.h), rebuilt from the records of its calls and returns.
 *
 * An entry of a chain is the call's address + 1, which lies in the calling instruction: records carry no
 * instruction lengths, and tools that look up the caller's line want an address inside the call.
 *
 * Of a whole machine, the kernel's calls are a stack of their own, on top of that of the address space it runs in: the
 * entry between them is the last instruction of the program.  The kernel's frames end where its stack does, so a chain
 * out of an interrupt's own stack does not go on.
 */
#ifndef SESSION_CALLSTACK_H
#define SESSION_CALLSTACK_H
#include "run/watch/calls.h"
#include "softpmu/record.h"

enum { CALLSTACK_DEPTH = CALLS_DEPTH, CALLSTACK_SPACES = 256, CALLSTACK_CHAIN = 2 * CALLSTACK_DEPTH + 2 };

struct callstack_saved { uint64_t space, user_ip; size_t depth; struct calls_frame *frame; };
struct callstack {
	struct calls calls;
	/* Of a whole machine: */
	struct calls *kernel;		/* NULL: it is none */
	uint64_t space;			/* whose stack `calls` is */
	uint64_t user_ip;		/* last instruction of the program; 0: none yet */
	struct callstack_saved saved[CALLSTACK_SPACES];	/* of other spaces */
	unsigned next_saved;
	/* of the instruction being read: OR of its uops' `is`; addresses, 0: none yet */
	uint64_t is, store, load;
};

void callstack_init(struct callstack *c);
void callstack_release(struct callstack *c);	/* NULL: does nothing */
/* Of a whole machine: what follows is of this address space.  Without memory, frames are missing. */
void callstack_space(struct callstack *c, uint64_t space);
/* The stack holds these frames from now on; no more than CALLSTACK_DEPTH. */
void callstack_set(struct callstack *c, const struct calls_frame *frame, size_t frames);
/* Reads uop records [from, to) of a batch, in order; squashed ones are passed over. */
void callstack_walk(struct callstack *c, const struct spmu_batch *b, size_t from, size_t to);
/* Innermost first into chain, which has room for CALLSTACK_CHAIN, of a program for CALLSTACK_DEPTH + 1: ip, then the
 * callers.  Returns the length. */
size_t callstack_chain(const struct callstack *c, uint64_t ip, uint64_t *chain);
#endif
