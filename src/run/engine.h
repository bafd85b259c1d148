/* SPDX-License-Identifier: GPL-2.0-or-later
 * The cores' own thread.  The front (run.c) reads the stream, follows processes and threads and predicts branches.
 * What the cores have to do goes through a queue of words to this thread, which does it in order.  Private to
 * src/run.
 *
 * To look at a core, or to take something away from it, first drain the queue of its process.
 *
 * This thread also calls the consumers of the records (PMUs, session, output): a record is 64 bytes, and handing
 * each to another core was no faster when tried (docs/measured/performance.md).
 *
 * A sampled run may have several such threads, the workers, each with a queue of its own.  They run windows (lanes.h),
 * and call the sink one after the other, in the order of the windows.
 */
#ifndef RUN_ENGINE_H
#define RUN_ENGINE_H
#include "run/threads/process.h"
#include <pthread.h>

enum { ENGINE_CHUNK = 8192 /* words */, ENGINE_CHUNKS = 8 };

/* An operation: a word with its kind (63:56) and length in words (31:0), the rthread, then operands that depend on
 * the kind. */
enum op {
	OP_RUN = 1, OP_SIDE, OP_REGISTERS,
	OP_NEED,	/* the thread spins: it continues no earlier than block w[3] of thread w[2] is done */
	OP_WAIT,	/* the same for a thread that was halted: blocked in a system call */
	OP_LEAVE,	/* the thread's last one: what its core's threads have done is passed on */
	OP_SETTLE,	/* do everything that order.h has queued for process w[2] */
	OP_WINDOW,	/* of a sampled run: w[2] and behind, a struct run_window, and its frames */
	/* what follows in this queue runs on the lane w[1]; that lane waits for its turn; its window is done */
	OP_LANE, OP_TURN, OP_DONE,
};

struct lane;
struct engine;

struct engine_worker {
	struct engine *engine;
	pthread_t thread;
	pthread_cond_t filled;
	bool running, waits;
	bool behind_front;		/* front_first was called */
	uint64_t *chunk[ENGINE_CHUNKS];
	size_t used[ENGINE_CHUNKS];	/* words in a chunk that was sent */
	unsigned head, tail;		/* chunks head..tail-1 were sent and are not finished; tail is being filled */
	size_t fill;			/* words in chunk tail */
	struct lane *lane;		/* that it is on; NULL: none.  The front writes it when the engine is drained */
};

struct engine {
	const struct run_sink *sink;
	const char *kallsyms;		/* run_options.kallsyms */
	pthread_mutex_t lock;
	pthread_cond_t emptied, turned;
	bool stop, front_waits;
	struct engine_worker worker[RUN_LANES];
	unsigned jobs;			/* at most so many workers */
	struct engine_worker *to;	/* the queue that is being filled */
	struct lane *lane;		/* that this queue is on; NULL: none */
	uint64_t turn;			/* number of the window that may call the sink */
	uint64_t instructions, cycle;	/* for progress only: from the core that ran last */
	bool failed;			/* what the cores did failed, and `failure` says why (engine_fails) */
	struct err failure;
	/* Nothing is queued, for this process in particular: the front may do its work at once.  NULL: unknown */
	const struct process *idle_for;
};

/* jobs: 1 to RUN_LANES */
int  engine_start(struct engine *e, const struct run_sink *sink, unsigned jobs, struct err *err);
void engine_stop(struct engine *e);		/* drains first */
/* Waits until the cores have finished everything of the process.  Threads of other processes that run by modelled
 * time keep what is queued for them, because the positions of this process' drains in their streams depend on when
 * the streams arrived. */
void engine_drain(struct engine *e, const struct process *p);
/* Runs a block on t's core; the prediction is made, and its script written, at once in the calling thread. */
void engine_run(struct engine *e, struct rthread *t, const struct pending *p);
/* Drains if anything of the process is queued: the front may then use its cores. */
static inline void engine_settle(struct engine *e, const struct process *p)
{
	if (__builtin_expect(e->idle_for != p, 0))
		engine_drain(e, p);
}
/* Warms only.  In a gap nothing is queued: the front does it at once, after what was queued before. */
void engine_warm(struct engine *e, struct rthread *t, const struct pending *p);
/* A part of a window of a sampled run begins here, or the gap behind it: the sink is told when all before has been
 * passed on.  represents, misses: as in struct run_window. */
void engine_window(struct engine *e, struct rthread *t, enum sample_part part, uint64_t represents,
	const struct core_misses *misses);
/* For lanes.h.  The front: a window begins, and what follows is of its lane; the window is done; the engine is
 * drained, and there are no lanes any more. */
void engine_lane(struct engine *e, struct lane *l, uint64_t window);
void engine_lane_done(struct engine *e);
void engine_leave_lanes(struct engine *e);
/* The number of the window whose turn it is; waits until that is at least `window`; the next window's turn comes. */
uint64_t engine_turn(struct engine *e);
void engine_await(struct engine *e, uint64_t window);
void engine_next_turn(struct engine *e);
/* So many more instructions were timed, up to that cycle. */
void engine_progress(struct engine *e, uint64_t instructions, uint64_t cycle);
/* Tells the sink of a side record. */
void engine_pass_side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, uint64_t cycle);
/* t has a walker: sets whether and when it may learn what the core did with its walks. */
void engine_follow(struct rthread *t);
/* t was blocked until `by` had done its block `number`. */
void engine_wait(struct engine *e, struct rthread *t, struct rthread *by, uint64_t number);
/* Makes t's core take the interrupt that the sink asked for (run.h, interrupt_cycles), between two blocks or
 * behind the last.  The engine is drained, or this is its own thread. */
void engine_interrupt(struct rthread *t);
/* Start, and end, running the threads of the process by modelled time (order.h).  Drain before. */
void engine_order(struct engine *e, struct process *p);
/* --smt: nothing more comes of this thread, of a process that is ordered.  What is queued of it runs in its turn. */
void engine_leave(struct engine *e, struct rthread *t);
void engine_disorder(struct process *p);
/* The cores' thread: something that was queued could not be done; the first such error is kept. */
void engine_fails(struct engine *e, const struct err *why);
/* The front: 0, or that error. */
int  engine_failed(struct engine *e, struct err *err);
/* Passes a side record to the sink, at t's now (at `cycle` if t is NULL). */
void engine_side(struct engine *e, struct rthread *t, uint32_t pid, const uint64_t *record, size_t words,
	uint64_t cycle);
#endif
