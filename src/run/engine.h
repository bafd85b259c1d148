/* SPDX-License-Identifier: GPL-2.0-or-later
 * The cores' own thread.  The front (run.c) reads the stream, follows processes and threads and predicts branches; what the
 * cores have to do goes through a queue of words to this thread, which does it in order.  Private to src/run.
 *
 * Whoever wants to look at a core, or take something away from it, drains the queue first.
 *
 * What consumes the records (PMUs, session, output) is called in this thread: a record is 64 bytes, and handing each to another
 * core was no faster when tried (docs/performance.md).
 */
#ifndef RUN_ENGINE_H
#define RUN_ENGINE_H
#include "run/process.h"
#include <pthread.h>

enum { ENGINE_CHUNK = 8192 /* words */, ENGINE_CHUNKS = 8 };

struct engine {
	const struct run_sink *sink;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	bool running, stop, waits, front_waits;
	uint64_t *chunk[ENGINE_CHUNKS];
	size_t used[ENGINE_CHUNKS];	/* words in a chunk that was sent */
	unsigned head, tail;		/* chunks head..tail-1 were sent and are not done; tail is being filled */
	size_t fill;			/* words in chunk tail */
	uint64_t instructions, cycle;	/* for progress only: of the core that ran last */
};

int  engine_start(struct engine *e, const struct run_sink *sink, struct err *err);
void engine_stop(struct engine *e);		/* drained first */
/* Waits until the cores have done all. */
void engine_drain(struct engine *e);
/* A block on t's core; predicted, and its script written, here and now. */
void engine_run(struct engine *e, struct rthread *t, const struct pending *p);
void engine_warm(struct engine *e, struct rthread *t, const struct pending *p);
/* Another thread of the process runs: t's clock becomes the process's. */
void engine_switch(struct engine *e, struct rthread *t);
/* t was blocked: it goes on no earlier than the process's clock. */
void engine_resume(struct engine *e, struct rthread *t);
/* A side record for the sink, at t's now (at `cycle` if t is NULL). */
void engine_side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, size_t words, uint64_t cycle);
#endif
