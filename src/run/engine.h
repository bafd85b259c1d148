/* SPDX-License-Identifier: GPL-2.0-or-later
 * The cores' own thread.  The front (run.c) reads the stream, follows processes and threads and predicts branches; what the
 * cores have to do goes through a queue of words to this thread, which does it in order.  Private to src/run.
 *
 * Whoever wants to look at a core, or take something away from it, drains the queue of its process first.
 *
 * What consumes the records (PMUs, session, output) is called in this thread: a record is 64 bytes, and handing each to another
 * core was no faster when tried (docs/measured/performance.md).
 */
#ifndef RUN_ENGINE_H
#define RUN_ENGINE_H
#include "run/process.h"
#include <pthread.h>

enum { ENGINE_CHUNK = 8192 /* words */, ENGINE_CHUNKS = 8 };

/* An operation: a word with its kind (63:56) and length in words (31:0), the rthread, then what the kind needs. */
enum op {
	OP_RUN = 1, OP_WARM, OP_SIDE, OP_REGISTERS,
	OP_NEED,	/* the thread, spinning, goes on no earlier than block w[3] of thread w[2] was done */
	OP_WAIT,	/* likewise one that was halted: blocked in a system call */
	OP_SETTLE,	/* all that is queued by order.h of process w[2] is done */
};

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
/* Waits until the cores have done all of the process.  Others' threads that run by modelled time keep what is queued for them: where in their
 * streams this one's drains come depends on when the streams arrived. */
void engine_drain(struct engine *e, const struct process *p);
/* A block on t's core; predicted, and its script written, here and now. */
void engine_run(struct engine *e, struct rthread *t, const struct pending *p);
void engine_warm(struct engine *e, struct rthread *t, const struct pending *p);
/* t has a walker: whether and when it may know of what the core did with its walks. */
void engine_follow(struct rthread *t);
/* t was blocked, until `by` had done its block `number`. */
void engine_wait(struct engine *e, struct rthread *t, struct rthread *by, uint64_t number);
/* What the sink wants t's core to do between two blocks, or behind the last (run.h, interrupt_cycles).  The engine is drained, or it is its own thread. */
void engine_interrupt(struct rthread *t);
/* From now on, and until the second, the threads of the process run by modelled time (order.h).  Drained before. */
void engine_order(struct engine *e, struct process *p);
void engine_disorder(struct process *p);
/* A side record for the sink, at t's now (at `cycle` if t is NULL). */
void engine_side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, size_t words, uint64_t cycle);
#endif
