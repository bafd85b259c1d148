/* SPDX-License-Identifier: GPL-2.0-or-later
 * A thread's call stack (run/watch/calls.h), rebuilt from the records of its calls and returns.
 *
 * An entry of a chain is the call's address + 1, which lies in the calling instruction: records carry no
 * instruction lengths, and tools that look up the caller's line want an address inside the call.
 */
#ifndef SESSION_CALLSTACK_H
#define SESSION_CALLSTACK_H
#include "run/watch/calls.h"
#include "softpmu/record.h"

enum { CALLSTACK_DEPTH = CALLS_DEPTH };

struct callstack {
	struct calls calls;
	/* of the instruction being read: OR of its uops' `is`; addresses, 0: none yet */
	uint64_t is, store, load;
};

void callstack_init(struct callstack *c);
/* The stack holds these frames from now on; no more than CALLSTACK_DEPTH. */
void callstack_set(struct callstack *c, const struct calls_frame *frame, size_t frames);
/* Reads uop records [from, to) of a batch, in order; squashed ones are passed over. */
void callstack_walk(struct callstack *c, const struct spmu_batch *b, size_t from, size_t to);
/* Innermost first into chain, which has room for CALLSTACK_DEPTH + 1: ip, then the callers.  Returns the length. */
size_t callstack_chain(const struct callstack *c, uint64_t ip, uint64_t *chain);
#endif
