/* SPDX-License-Identifier: GPL-2.0-or-later
 * A thread's call stack, rebuilt from its calls and returns.
 *
 * A frame is the stack slot that holds its return address, and the call's own address.  A call that writes slot
 * A first drops every frame at or below A, and so does a return that reads slot A.  So after a longjmp, an
 * exception or a tail call that skipped returns, the next call or return of an outer frame corrects the stack.
 *
 * Not modelled: a switch to another stack at a higher address (such as a coroutine's) drops the frames below
 * it; when there are more than CALLS_DEPTH frames, the outermost are dropped.
 */
#ifndef RUN_CALLS_H
#define RUN_CALLS_H
#include "isa/isa.h"
#include <stddef.h>
#include <stdint.h>

enum { CALLS_DEPTH = 1024 };

struct calls_frame { uint64_t slot, call_ip; };
struct calls {
	size_t depth;
	struct calls_frame frame[CALLS_DEPTH];	/* outermost first */
};

/* slot: where the return address is written, or was read from; 0: unknown. */
void calls_enter(struct calls *c, uint64_t slot, uint64_t call_ip);
void calls_leave(struct calls *c, uint64_t slot);
/* A block has been executed through a call or a return (calls_ends). */
void calls_block(struct calls *c, const struct iblock *b, unsigned exit, const uint64_t *slots);
/* Does this exit end with a call or a return?  The tracer's blocks end there. */
static inline bool calls_ends(const struct iblock *b, unsigned exit)
{
	return b->exit[exit].jump == ST_JUMP_CALL || b->exit[exit].jump == ST_JUMP_RET;
}
#endif
