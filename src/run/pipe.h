/* SPDX-License-Identifier: GPL-2.0-or-later
 * What lies behind the cores (PMUs, session, output) runs in a thread of its own: the cores fill buffers of records,
 * this hands them over in order, with the side records between them.  Order, and so every result, is as without.
 * Private to src/run.
 *
 * The consumer is woken when a good part of the buffers is full, not for each: a wake-up costs a system call.
 */
#ifndef RUN_PIPE_H
#define RUN_PIPE_H
#include "run/run.h"
#include <pthread.h>

enum { PIPE_BUFFERS = 16, PIPE_MESSAGES = 64, PIPE_WAKE = 8 };

struct pipe_message {
	struct run_thread *thread;	/* NULL for a side record before the first thread */
	struct spmu_batch batch;	/* side NULL */
	uint64_t *side;			/* copy of a side record; freed by the consumer */
	uint64_t cycle;
	uint32_t pid;
};

struct pipe {
	const struct run_sink *sink;
	pthread_t consumer;
	pthread_mutex_t lock;
	pthread_cond_t filled, drained;
	bool running, stop, consumer_waits, producer_waits;
	struct pipe_message message[PIPE_MESSAGES];
	unsigned head, tail;		/* messages head..tail-1 are to be consumed, head included while it is */
	struct spmu_record *buffer[PIPE_BUFFERS + 1];	/* free ones; each core has one more, its own, but while it exchanges it */
	unsigned free_buffers;
};

int  pipe_start(struct pipe *p, const struct run_sink *sink, struct err *err);
/* Waits until all is consumed, ends the thread. */
void pipe_stop(struct pipe *p);
/* Waits until all that was sent is consumed: then the sink may be called from here. */
void pipe_drain(struct pipe *p);
/* Sends a batch; keeps its records' buffer and returns an empty one in exchange (core_emit). */
struct spmu_record *pipe_batch(struct pipe *p, struct run_thread *t, const struct spmu_batch *batch);
/* Sends a copy of a side record. */
int  pipe_side(struct pipe *p, struct run_thread *t, uint32_t pid, const uint64_t *record, size_t words, uint64_t cycle, struct err *err);
#endif
