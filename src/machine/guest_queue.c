/* SPDX-License-Identifier: GPL-2.0-or-later
 * The ring of guest_queue.h: one producer, one consumer.  A side that has to wait polls for a while, then sleeps.  The
 * polling is enough where each side has a processor of the host.
 */
#include "machine/guest_queue.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	RING_WORDS = 1 << 16,		/* 512 KB: it stays in the L2 of most hosts */
	LOOKS = 2000,
	APPLY_WORDS = 4096,		/* the consumer does so many at once */
	PUBLISH_WORDS = 256,		/* the producer shows what it has written in such pieces */
	FREE_WORDS = RING_WORDS / 8,	/* and the consumer what it has read */
	PAST = 8,			/* `apply` may read so many words behind the last one, and does not use them */
};
#define OP_MEET UINT64_MAX		/* header of a meeting; its mark follows */
#define OP_WRAP (UINT64_MAX - 1)	/* the ring goes on at its beginning */

struct guest_queue {
	struct guest_queue_side side;
	uint64_t ring[RING_WORDS + PAST];
	/* positions, in words since the beginning; each side's own and what it knows of the other one's */
	_Alignas(64) struct { uint64_t at, shown, seen, meetings; bool fresh; } in;
	_Alignas(64) struct { uint64_t at, seen, freed; } out;
	_Alignas(64) _Atomic uint64_t written;
	_Alignas(64) _Atomic uint64_t read;
	_Alignas(64) _Atomic uint64_t met;	/* meetings that the consumer has told of */
	uint64_t told[2][QUEUE_TELLS];		/* of meeting n: told[n % 2] */
	_Atomic bool ends;
	_Atomic int sleepers;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	pthread_t thread;
};

static void wake(struct guest_queue *q)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&q->sleepers, memory_order_relaxed))
		return;
	pthread_mutex_lock(&q->lock);
	pthread_cond_broadcast(&q->moved);
	pthread_mutex_unlock(&q->lock);
}

/* Waits until *what is at least `least`, or the queue ends. */
static uint64_t await(struct guest_queue *q, _Atomic uint64_t *what, uint64_t least)
{
	uint64_t v;
	for (unsigned i = 0; i < LOOKS; i++) {
		if ((v = atomic_load_explicit(what, memory_order_acquire)) >= least)
			return v;
		__builtin_ia32_pause();
	}
	pthread_mutex_lock(&q->lock);
	atomic_fetch_add(&q->sleepers, 1);
	while ((v = atomic_load(what)) < least && !atomic_load(&q->ends))
		pthread_cond_wait(&q->moved, &q->lock);
	atomic_fetch_sub(&q->sleepers, 1);
	pthread_mutex_unlock(&q->lock);
	return v;
}

static void *consume(void *context)
{
	struct guest_queue *q = context;
	for (uint64_t meeting = 0;;) {
		if (q->out.at == q->out.seen) {
			atomic_store_explicit(&q->read, q->out.at, memory_order_release);
			wake(q);
			q->out.seen = await(q, &q->written, q->out.at + 1);
			if (q->out.seen == q->out.at)
				return NULL;
		}
		const uint64_t *op = &q->ring[q->out.at % RING_WORDS];
		if (*op == OP_WRAP) {
			q->out.at += RING_WORDS - q->out.at % RING_WORDS;
		} else if (*op == OP_MEET) {
			q->side.tell(q->side.context, op[1], q->told[meeting % 2]);
			q->out.at += 2;
			atomic_store_explicit(&q->read, q->out.at, memory_order_release);
			atomic_store_explicit(&q->met, ++meeting, memory_order_release);
			wake(q);
		} else {
			const uint64_t left = RING_WORDS - q->out.at % RING_WORDS, shown = q->out.seen - q->out.at;
			const uint64_t some = shown < left ? shown : left;
			q->out.at += (uint64_t)(q->side.apply(q->side.context, op,
				op + (some < APPLY_WORDS ? some : APPLY_WORDS)) - op);
			if (q->out.at - q->out.freed >= FREE_WORDS) {
				q->out.freed = q->out.at;
				atomic_store_explicit(&q->read, q->out.at, memory_order_release);
				wake(q);
			}
		}
	}
}

int guest_queue_create(struct guest_queue **out, const struct guest_queue_side *side, struct err *err)
{
	struct guest_queue *q = aligned_alloc(64, (sizeof *q + 63) / 64 * 64);
	if (!q)
		return err_set(err, ERR_NOMEM, "out of memory for a machine's queue");
	memset(q, 0, sizeof *q);
	q->side = *side;
	q->in.fresh = true;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->moved, NULL);
	const int rc = pthread_create(&q->thread, NULL, consume, q);
	if (rc) {
		pthread_cond_destroy(&q->moved);
		pthread_mutex_destroy(&q->lock);
		free(q);
		return err_set(err, ERR_SYSTEM, "no thread for a machine's core: %s", strerror(rc));
	}
	*out = q;
	return 0;
}

static void show(struct guest_queue *q)
{
	if (q->in.shown == q->in.at)
		return;
	q->in.shown = q->in.at;
	atomic_store_explicit(&q->written, q->in.at, memory_order_release);
	wake(q);
}

void guest_queue_destroy(struct guest_queue *q)
{
	if (!q)
		return;
	guest_queue_drain(q);
	pthread_mutex_lock(&q->lock);
	atomic_store(&q->ends, true);
	pthread_cond_broadcast(&q->moved);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	pthread_cond_destroy(&q->moved);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* Waits until the ring has room up to position `end`. */
static void await_room(struct guest_queue *q, uint64_t end)
{
	if (end <= q->in.seen + RING_WORDS)
		return;
	show(q);
	q->in.seen = await(q, &q->read, end - RING_WORDS);
}

uint64_t *guest_queue_room(struct guest_queue *q, size_t words)
{
	const uint64_t left = RING_WORDS - q->in.at % RING_WORDS;
	if (left < words) {
		await_room(q, q->in.at + left);
		q->ring[q->in.at % RING_WORDS] = OP_WRAP;
		q->in.at += left;
	}
	await_room(q, q->in.at + words);
	return &q->ring[q->in.at % RING_WORDS];
}

void guest_queue_push(struct guest_queue *q, size_t words)
{
	q->in.at += words;
	if (q->in.at - q->in.shown >= PUBLISH_WORDS)
		show(q);
}

void guest_queue_meet(struct guest_queue *q, uint64_t mark, uint64_t told[QUEUE_TELLS])
{
	uint64_t *op = guest_queue_room(q, 2);
	op[0] = OP_MEET;
	op[1] = mark;
	q->in.at += 2;
	show(q);
	const uint64_t before = q->in.meetings++;
	memset(told, 0, QUEUE_TELLS * sizeof *told);
	if (!q->in.fresh) {
		await(q, &q->met, before);
		memcpy(told, q->told[(before - 1) % 2], sizeof q->told[0]);
	}
	q->in.fresh = false;
}

void guest_queue_drain(struct guest_queue *q)
{
	show(q);
	q->in.seen = await(q, &q->read, q->in.at);
	q->in.fresh = true;
}
