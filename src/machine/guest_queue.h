/* SPDX-License-Identifier: GPL-2.0-or-later
 * What an emulator has executed, on its way to a core in a thread of its own: operations in a ring, and meetings, at
 * which each side learns how far the other is.
 *
 * The producer goes ahead of the consumer by at most two meetings.  What it learns at a meeting is what the consumer
 * knew at the one before, so it depends on the operations alone and never on how fast either thread was.
 */
#ifndef MACHINE_GUEST_QUEUE_H
#define MACHINE_GUEST_QUEUE_H
#include "util/err.h"
#include <stddef.h>
#include <stdint.h>

enum {
	QUEUE_OP_WORDS = 4096,	/* the longest operation, its header included */
	QUEUE_TELLS = 5,	/* words that the consumer tells at a meeting */
};

struct guest_queue;
struct guest_queue_side {	/* called in the consumer's thread */
	void *context;
	/* op[0]: number of words in the low half, what the producer likes above, except for 2^32 - 1.  Others may
	 * follow it, up to `end`.  `apply` does as many as it likes, in their order, and returns the first that it
	 * left.  How many there are depends on the threads' speed; what is done must not. */
	const uint64_t *(*apply)(void *context, const uint64_t *op, const uint64_t *end);
	/* mark: what the producer has passed to guest_queue_meet */
	void (*tell)(void *context, uint64_t mark, uint64_t told[QUEUE_TELLS]);
};
/* Starts the thread.  ERR_SYSTEM, ERR_NOMEM. */
int  guest_queue_create(struct guest_queue **out, const struct guest_queue_side *side, struct err *err);
/* Everything is applied, and the thread ends.  NULL: does nothing. */
void guest_queue_destroy(struct guest_queue *q);
/* Room for an operation of at most `words`; the caller writes it, its header last, and then calls guest_queue_push. */
uint64_t *guest_queue_room(struct guest_queue *q, size_t words);
void guest_queue_push(struct guest_queue *q, size_t words);
/* A meeting: told gets what the consumer knew at the one before; zeros at the first after a guest_queue_drain. */
void guest_queue_meet(struct guest_queue *q, uint64_t mark, uint64_t told[QUEUE_TELLS]);
/* Waits until everything is applied.  Until the next push the caller may use what is the consumer's. */
void guest_queue_drain(struct guest_queue *q);
#endif
