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

enum { LEARNER_PATHS = 2048, LEARNER_BATCHES = 8 };

struct learner_batch {		/* blocks of one core that follow each other */
	struct core *core;
	uint64_t next_ip;	/* where the thread goes on behind the last of them */
	size_t n;
	const struct warm_path *path[LEARNER_PATHS];
};

struct learner {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	bool running, stop, waits, front_waits;
	unsigned head, tail;	/* batches head..tail-1 were sent and are not finished; tail is being filled */
	struct learner_batch *batch;
};

/* On an error nothing has started, and the learner may be stopped. */
int  learner_start(struct learner *l, struct err *err);
void learner_stop(struct learner *l);	/* settles first */
/* Waits until the predictors have learned everything. */
void learner_wait(struct learner *l);
/* Sends the batch that is being filled. */
void learner_send(struct learner *l);

static inline void learner_settle(struct learner *l)
{
	if (__builtin_expect(l->running, 1) && (l->batch[l->tail % LEARNER_BATCHES].n ||
			__atomic_load_n(&l->head, __ATOMIC_ACQUIRE) != l->tail))
		learner_wait(l);
}

/* The next block of this core; next_ip: where the thread goes on behind it. */
static inline void learner_block(struct learner *l, struct core *c, const struct warm_path *path, uint64_t next_ip)
{
	struct learner_batch *b = &l->batch[l->tail % LEARNER_BATCHES];
	if (__builtin_expect(b->n == LEARNER_PATHS || (b->core != c && b->n), 0)) {
		learner_send(l);
		b = &l->batch[l->tail % LEARNER_BATCHES];
	}
	b->core = c;
	b->next_ip = next_ip;
	b->path[b->n++] = path;
}
#endif
