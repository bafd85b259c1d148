/* SPDX-License-Identifier: GPL-2.0-or-later
 * The thread of the leaders' predictors (learner.h).
 *
 * Either thread may learn a batch, the oldest one that is left, and only one of them at a time (`busy`).  So the front
 * need not wait until the host runs the learner: it learns what is left, and waits for no more than the batch that the
 * learner is at.  To sleep and be woken cost the front a millisecond or so at each window when the host was busy.
 */
#include "run/learner.h"
#include "run/front_first.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPINS = 2000, YIELDS = 64, NAP_NS = 50000 };

/* Learns the oldest batch.  Returns false if there is none, or if the other thread is at it. */
static bool learn_oldest(struct learner *l)
{
	if (__atomic_exchange_n(&l->busy, true, __ATOMIC_ACQUIRE))
		return false;
	const unsigned head = __atomic_load_n(&l->head, __ATOMIC_RELAXED);
	const bool any = head != __atomic_load_n(&l->tail, __ATOMIC_ACQUIRE);
	if (any) {
		struct learner_batch *b = &l->batch[head % LEARNER_BATCHES];
		core_learn(b->core, b->path, b->n, b->next_ip);
		b->n = 0;
		__atomic_store_n(&l->head, head + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&l->busy, false, __ATOMIC_RELEASE);
	return any;
}

static bool is_empty(const struct learner *l)
{
	return __atomic_load_n(&l->head, __ATOMIC_ACQUIRE) == __atomic_load_n(&l->tail, __ATOMIC_SEQ_CST);
}

/* The other thread is at a batch.  tries: how often that was so. */
static void let_finish(unsigned tries)
{
	if (tries < SPINS)
		__builtin_ia32_pause();
	else if (tries < SPINS + YIELDS)
		sched_yield();
	else
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

static void *learn(void *argument)
{
	struct learner *l = argument;
	front_first();
	for (unsigned tries = 0;;) {
		if (learn_oldest(l)) {
			tries = 0;
			continue;
		}
		if (!is_empty(l)) {
			let_finish(tries++);
			continue;
		}
		tries = 0;
		pthread_mutex_lock(&l->lock);
		while (!l->stop) {
			/* before the last look at tail; learner_send does the reverse */
			__atomic_store_n(&l->waits, true, __ATOMIC_SEQ_CST);
			if (!is_empty(l))
				break;
			pthread_cond_wait(&l->filled, &l->lock);
		}
		__atomic_store_n(&l->waits, false, __ATOMIC_RELAXED);
		const bool stop = l->stop;
		pthread_mutex_unlock(&l->lock);
		if (stop)
			return NULL;
	}
}

int learner_start(struct learner *l, struct err *err)
{
	memset(l, 0, sizeof *l);
	l->batch = calloc(LEARNER_BATCHES, sizeof *l->batch);
	if (!l->batch)
		return err_set(err, ERR_NOMEM, "out of memory for the predictors' queue");
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->filled, NULL);
	const int rc = pthread_create(&l->thread, NULL, learn, l);
	if (rc) {
		free(l->batch);
		l->batch = NULL;
		return err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(rc));
	}
	l->running = true;
	return 0;
}

/* The lock is free when the learner wakes, else it would have to sleep again at once. */
static void wake(struct learner *l)
{
	pthread_mutex_lock(&l->lock);
	__atomic_store_n(&l->waits, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&l->lock);
	pthread_cond_signal(&l->filled);
}

/* Until at most `most` batches are left. */
static void help(struct learner *l, unsigned most)
{
	for (unsigned tries = 0; l->tail - __atomic_load_n(&l->head, __ATOMIC_ACQUIRE) > most;)
		if (learn_oldest(l))
			tries = 0;
		else
			let_finish(tries++);
}

void learner_send(struct learner *l)
{
	__atomic_store_n(&l->tail, l->tail + 1, __ATOMIC_SEQ_CST);
	/* the learner is woken for several batches at once */
	const unsigned left = l->tail - __atomic_load_n(&l->head, __ATOMIC_ACQUIRE);
	if (left >= (l->hurries ? LEARNER_SOON : LEARNER_BATCHES / 2) && __atomic_load_n(&l->waits, __ATOMIC_SEQ_CST))
		wake(l);
	help(l, LEARNER_BATCHES - 1);
}

void learner_wait(struct learner *l)
{
	if (l->batch[l->tail % LEARNER_BATCHES].n)
		__atomic_store_n(&l->tail, l->tail + 1, __ATOMIC_SEQ_CST);
	help(l, 0);
}

void learner_stop(struct learner *l)
{
	if (!l->running)
		return;
	learner_wait(l);
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_cond_signal(&l->filled);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->thread, NULL);
	l->running = false;
	pthread_cond_destroy(&l->filled);
	pthread_mutex_destroy(&l->lock);
	free(l->batch);
	l->batch = NULL;
}
