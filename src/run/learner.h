/* SPDX-License-Identifier: GPL-2.0-or-later
 * A host thread for the predictors of leaders (sample.h): in a gap the front warms caches and TLBs, and this thread
 * teaches the predictors the same blocks, in the same order.  Neither half reads what the other one writes, so the
 * state does not depend on how fast the two threads are.  Private to src/run.
 *
 * Settle before anything else is done with a leader's predictors, and before a block is freed.
 */
#ifndef RUN_LEARNER_H
#define RUN_LEARNER_H
#include "core/core.h"
#include "util/err.h"
#include <pthread.h>

enum {
	LEARNER_PATHS = 256, LEARNER_BATCHES = 64,
	LEARNER_SOON = 4,	/* near a window the learner is woken for so many batches */
};

struct learner_batch {		/* blocks of one core that follow each other */
	struct core *core;
	uint64_t next_ip;	/* where the thread goes on behind the last of them */
	size_t n;
	const struct warm_path *path[LEARNER_PATHS];
};

struct learner {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	bool running, stop;
	bool waits;		/* the thread sleeps, and nobody has woken it yet */
	bool busy;		/* a thread learns the batch at head, or looks whether there is one */
	bool hurries;		/* a window is near: the learner is to catch up */
	unsigned head, tail;	/* batches head..tail-1 were sent and are not finished; tail is being filled */
	struct learner_batch *batch;
};

/* On an error nothing has started, and the learner may be stopped. */
int  learner_start(struct learner *l, struct err *err);
void learner_stop(struct learner *l);	/* settles first */
/* The predictors have learned everything, when this returns: the caller helps. */
void learner_wait(struct learner *l);
/* Sends the batch that is being filled. */
void learner_send(struct learner *l);

static inline void learner_settle(struct learner *l)
{
	if (__builtin_expect(l->running, 1) && (l->batch[l->tail % LEARNER_BATCHES].n ||
			__atomic_load_n(&l->head, __ATOMIC_ACQUIRE) != l->tail))
		learner_wait(l);
}

/* The batch to which the next blocks of this core are added: at least one, before learner_send or anything else is
 * called.  The caller writes path, n and next_ip. */
static inline struct learner_batch *learner_room(struct learner *l, struct core *c)
{
	struct learner_batch *b = &l->batch[l->tail % LEARNER_BATCHES];
	if (b->n == LEARNER_PATHS || (b->core != c && b->n)) {
		learner_send(l);
		b = &l->batch[l->tail % LEARNER_BATCHES];
	}
	b->core = c;
	return b;
}
#endif
