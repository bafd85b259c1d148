/* SPDX-License-Identifier: GPL-2.0-or-later
 * A thread's call stack, rebuilt from the records of its calls and returns.
 *
 * A frame is the stack slot that holds its return address, and the call's own address.  A call that writes slot A
 * drops every frame at or below A first, a return that reads slot A drops every frame at or below A: so a
 * longjmp, an exception or a tail call that skipped returns is put right by the next call or return of a frame
 * further out.  Entries of a chain are the call's address + 1, which lies in the calling instruction: records
 * carry no instruction lengths, and tools that look up the caller's line want an address inside of the call.
 *
 * Not modelled: a switch to another stack at a higher address (a coroutine's that lies above) drops the frames below
 * it; frames beyond CALLSTACK_DEPTH are forgotten from the outside in.
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
