/* SPDX-License-Identifier: GPL-2.0-or-later
 * The thread of the leaders' predictors (learner.h).
 */
#include "run/learner.h"
#include <stdlib.h>
#include <string.h>

static void *learn(void *argument)
{
	struct learner *l = argument;
	pthread_mutex_lock(&l->lock);
	for (;;) {
		while (l->head == l->tail && !l->stop) {
			l->waits = true;
			pthread_cond_wait(&l->filled, &l->lock);
		}
		l->waits = false;
		if (l->head == l->tail)
			break;
		struct learner_batch *b = &l->batch[l->head % LEARNER_BATCHES];
		pthread_mutex_unlock(&l->lock);
		core_learn(b->core, b->path, b->n, b->next_ip);
		b->n = 0;
		pthread_mutex_lock(&l->lock);
		/* learner_settle reads it without the lock */
		__atomic_store_n(&l->head, l->head + 1, __ATOMIC_RELEASE);
		if (l->front_waits && (l->head == l->tail || l->tail - l->head < LEARNER_BATCHES / 2))
			pthread_cond_signal(&l->emptied);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

int learner_start(struct learner *l, struct err *err)
{
	memset(l, 0, sizeof *l);
	l->batch = calloc(LEARNER_BATCHES, sizeof *l->batch);
	if (!l->batch)
		return err_set(err, ERR_NOMEM, "out of memory for the predictors' queue");
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->filled, NULL);
	pthread_cond_init(&l->emptied, NULL);
	const int rc = pthread_create(&l->thread, NULL, learn, l);
	if (rc) {
		free(l->batch);
		l->batch = NULL;
		return err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(rc));
	}
	l->running = true;
	return 0;
}

static void wait_emptied(struct learner *l)
{
	l->front_waits = true;
	pthread_cond_wait(&l->emptied, &l->lock);
	l->front_waits = false;
}

void learner_send(struct learner *l)
{
	pthread_mutex_lock(&l->lock);
	l->tail++;
	if (l->waits)
		pthread_cond_signal(&l->filled);
	while (l->tail - l->head == LEARNER_BATCHES)
		wait_emptied(l);
	pthread_mutex_unlock(&l->lock);
}

void learner_wait(struct learner *l)
{
	if (l->batch[l->tail % LEARNER_BATCHES].n)
		learner_send(l);
	pthread_mutex_lock(&l->lock);
	while (l->head != l->tail)
		wait_emptied(l);
	pthread_mutex_unlock(&l->lock);
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
	pthread_cond_destroy(&l->emptied);
	pthread_mutex_destroy(&l->lock);
	free(l->batch);
	l->batch = NULL;
}
