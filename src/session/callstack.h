/* SPDX-License-Identifier: GPL-2.0-or-later
 * A thread's call stack, rebuilt from the records of its calls and returns.
 *
 * A frame is the stack slot that holds its return address, and the call's own address.  A call that writes slot
 * A first drops every frame at or below A, and so does a return that reads slot A.  So after a longjmp, an
 * exception or a tail call that skipped returns, the next call or return of an outer frame corrects the stack.
 * An entry of a chain is the call's address + 1, which lies in the calling instruction: records carry no
 * instruction lengths, and tools that look up the caller's line want an address inside the call.
 *
 * Not modelled: a switch to another stack at a higher address (such as a coroutine's) drops the frames below
 * it; when there are more than CALLSTACK_DEPTH frames, the outermost are dropped.
 */
#ifndef SESSION_CALLSTACK_H
#define SESSION_CALLSTACK_H
#include "softpmu/record.h"
#include <stddef.h>

enum { CALLSTACK_DEPTH = 1024 };

struct callstack {
	struct { uint64_t slot, call_ip; } frame[CALLSTACK_DEPTH];	/* outermost first */
	size_t depth;
	/* of the instruction being read: OR of its uops' `is`; addresses, 0: none yet */
	uint64_t is, store, load;
};

void callstack_init(struct callstack *c);
/* Reads uop records [from, to) of a batch, in order; squashed ones are passed over. */
void callstack_walk(struct callstack *c, const struct spmu_batch *b, size_t from, size_t to);
/* Innermost first into chain, which has room for CALLSTACK_DEPTH + 1: ip, then the callers.  Returns the length. */
size_t callstack_chain(const struct callstack *c, uint64_t ip, uint64_t *chain);
#endif
