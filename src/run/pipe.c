/* SPDX-License-Identifier: GPL-2.0-or-later
 * The hand-over from the cores to what consumes their records (pipe.h).
 */
#include "run/pipe.h"
#include <stdlib.h>
#include <string.h>

static void consume(struct pipe *p, const struct pipe_message *m)
{
	if (!m->side) {
		if (p->sink->batch)
			p->sink->batch(p->sink->context, m->thread, &m->batch);
		return;
	}
	if (ST_HEADER_KIND(m->side[0]) == ST_COMM && m->thread) {
		memcpy(m->thread->comm, ((const struct st_name *)m->side)->name, sizeof m->thread->comm);
		m->thread->comm[sizeof m->thread->comm - 1] = 0;
	}
	if (p->sink->side)
		p->sink->side(p->sink->context, m->thread, m->pid, m->side, m->cycle);
	free(m->side);
}

static void *consumer(void *argument)
{
	struct pipe *p = argument;
	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->head == p->tail && !p->stop) {
			p->consumer_waits = true;
			pthread_cond_signal(&p->drained);
			pthread_cond_wait(&p->filled, &p->lock);
		}
		p->consumer_waits = false;
		if (p->head == p->tail)
			break;
		struct pipe_message *m = &p->message[p->head % PIPE_MESSAGES];
		pthread_mutex_unlock(&p->lock);
		consume(p, m);
		pthread_mutex_lock(&p->lock);
		if (!m->side)
			p->buffer[p->free_buffers++] = (struct spmu_record *)m->batch.records;
		p->head++;
		if (p->producer_waits && (p->head == p->tail || p->free_buffers >= PIPE_WAKE))
			pthread_cond_signal(&p->drained);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pipe_start(struct pipe *p, const struct run_sink *sink, struct err *err)
{
	memset(p, 0, sizeof *p);
	p->sink = sink;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->filled, NULL);
	pthread_cond_init(&p->drained, NULL);
	while (p->free_buffers < PIPE_BUFFERS) {
		struct spmu_record *b = malloc(SPMU_BATCH_MAX * sizeof *b);
		if (!b)
			return err_set(err, ERR_NOMEM, "out of memory for record buffers");
		p->buffer[p->free_buffers++] = b;
	}
	int rc = pthread_create(&p->consumer, NULL, consumer, p);
	if (rc)
		return err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(rc));
	p->running = true;
	return 0;
}

void pipe_stop(struct pipe *p)
{
	if (p->running) {
		pthread_mutex_lock(&p->lock);
		p->stop = true;
		pthread_cond_signal(&p->filled);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->consumer, NULL);
		p->running = false;
	}
	for (unsigned i = 0; i < p->free_buffers; i++)
		free(p->buffer[i]);
	p->free_buffers = 0;
	pthread_cond_destroy(&p->filled);
	pthread_cond_destroy(&p->drained);
	pthread_mutex_destroy(&p->lock);
}

/* With the lock held. */
static void wait_drained(struct pipe *p)
{
	p->producer_waits = true;
	pthread_cond_signal(&p->filled);
	pthread_cond_wait(&p->drained, &p->lock);
	p->producer_waits = false;
}

void pipe_drain(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->head != p->tail)
		wait_drained(p);
	pthread_mutex_unlock(&p->lock);
}

static void push(struct pipe *p, const struct pipe_message *m)
{
	while (p->tail - p->head == PIPE_MESSAGES)
		wait_drained(p);
	p->message[p->tail++ % PIPE_MESSAGES] = *m;
	if (p->consumer_waits && p->tail - p->head >= PIPE_WAKE)
		pthread_cond_signal(&p->filled);
}

struct spmu_record *pipe_batch(struct pipe *p, struct run_thread *t, const struct spmu_batch *batch)
{
	pthread_mutex_lock(&p->lock);
	push(p, &(struct pipe_message){ .thread = t, .batch = *batch });
	while (!p->free_buffers)
		wait_drained(p);
	struct spmu_record *b = p->buffer[--p->free_buffers];
	pthread_mutex_unlock(&p->lock);
	return b;
}

int pipe_side(struct pipe *p, struct run_thread *t, uint32_t pid, const uint64_t *record, size_t words, uint64_t cycle, struct err *err)
{
	uint64_t *copy = malloc(words * sizeof *copy);
	if (!copy)
		return err_set(err, ERR_NOMEM, "out of memory for a side record");
	memcpy(copy, record, words * sizeof *copy);
	pthread_mutex_lock(&p->lock);
	push(p, &(struct pipe_message){ .thread = t, .pid = pid, .side = copy, .cycle = cycle });
	pthread_mutex_unlock(&p->lock);
	return 0;
}
