/* SPDX-License-Identifier: GPL-2.0-or-later
 * The order in which the threads of a process are modelled: the thread with the least modelled clock runs next, a block at a time.
 *
 * The stream holds the threads' blocks in slices, as the tracer let them run.  What the cores have to do is queued here a thread,
 * at most ORDER_WINDOW words of it, and taken out by modelled time.  What one thread must not do before another has done something
 * (a load of what the other stored, a lock, a wake-up: depend.h) is an operation of its own in the queue and
 * points back in the stream: whoever is oldest in the stream can always go on.
 * Decisions depend on modelled clocks and on the stream alone.  A thread that spins for another does so as many times as in the stream,
 * then is held back, unhalted, until what it waits for is done: its wait is as long as modelled time says, its spins are as many as traced.
 *
 * With fewer modelled processors than threads (--cpus) a round-robin scheduler in here puts threads on them: a thread that blocks
 * gives its processor up; one that has used its quantum too, if another is ready; a ready one takes the processor on which it
 * goes on soonest: of several its last one, else the one that is idle longest.  Caches, TLBs and prefetchers stay with the processor, branch predictors with the
 * thread (they work ahead of modelled time, where it is not known yet who runs where).  Who waits for a block of
 * a thread without a processor, or for longer than a switch takes, makes room, too, if another is ready; that costs no switch: it came second
 * in the traced order, in which every thread may have had a processor, and would go on here.  A switch costs ORDER_SWITCH_NS, in which the
 * program does not run; the first thread on a processor that was never used pays none.
 * Left out: priorities, preemption by a thread that wakes up, the kernel's own cache footprint.
 *
 * Owned by the cores' thread (engine.h); the front touches it only when that is drained.  Private to src/run.
 */
#ifndef RUN_ORDER_H
#define RUN_ORDER_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rthread;
struct core;

enum {
	/* The tracer lets a thread run for some hundred blocks at a time (valgrind/turns.c), but one of which others wait in system calls runs
	 * alone, and streams of before had turns of 2,000.  A loop's block has some 20 words. */
	ORDER_WHEN = 1 << 17,		/* blocks of a thread of which it is known when they were done */
	ORDER_WINDOW = 1 << 21,		/* words queued for each thread before the oldest must go, for ... */
	ORDER_THREADS = 8,		/* at most so many: 128 MB */
	/* GUESS: 2 microseconds a context switch without its cache misses (C. Li, C. Ding, K. Shen, "Quantifying the cost of context
	 * switch", ExpCS 2007: 1.2 to 1.5 on the machines then).  Settle with two processes that pass a byte through pipes on one processor. */
	ORDER_SWITCH_NS = 2000,
	/* Linux 6.6, kernel/sched/fair.c: base_slice, 0.75 ms times 1 + log2 of the processors, eight at most */
	ORDER_QUANTUM_NS = 3000000,
};

enum order_turn { ORDER_FREE, ORDER_SIDE /* behind all of this kind before it in the stream */, ORDER_OLDEST /* behind all */ };

struct order_queue {			/* of a thread */
	uint64_t *word;			/* operations: number in the stream, turn, then the operation */
	size_t head, tail, room;
	uint64_t done;			/* blocks */
	uint64_t *when;			/* of the last ORDER_WHEN of them: when it was done; NULL: the thread is in no order */
	uint64_t last;			/* when the last was */
	uint64_t ready_at;		/* without a processor: from when it may have one */
	uint32_t last_cpu;
};

struct order_cpu {			/* --cpus */
	struct core *core;
	struct rthread *running;
	const struct rthread *last;	/* who ran here last, `running` included; NULL: nobody yet */
	uint64_t since;			/* of `running`: when it was put here */
	bool yielded;			/* who was here last waits for a block of another: the next comes without a switch */
};

struct order {				/* of a process */
	struct rthread **thread;	/* alive ones */
	size_t threads, room;
	size_t words;			/* queued */
	uint64_t number;		/* of the next operation */
	uint64_t sides, sides_done;	/* ORDER_SIDE: queued, done */
	struct order_cpu *cpu;
	uint32_t cpus;			/* 0: every thread has a core of its own */
	uint64_t quantum, switch_cost;	/* cycles */
	uint32_t smt;			/* hardware threads of a core; 0: one */
	/* does an operation, of the words that order_push got */
	void (*execute)(void *context, const uint64_t *op);
	void *context;
};

int  order_add(struct order *o, struct rthread *t, uint64_t cycle, struct err *err);
void order_remove(struct order *o, struct rthread *t);	/* its queue is empty */
/* An operation: a word with its length in the low half, then the thread.  May run others, this one included. */
void order_push(struct order *o, struct rthread *t, enum order_turn turn, const uint64_t *op);
/* All that is queued. */
void order_settle(struct order *o);
void order_release(struct order *o);
/* A processor for a thread that has none, with nothing queued. */
void order_seat(struct order *o, struct rthread *t);

/* What waits for block `number` of another thread: the operation OP_NEED or OP_WAIT (engine.h) has the thread and the number as its
 * third and fourth word. */
bool order_done(const struct rthread *of, uint64_t number);
/* When it was done, as far as that is still known; else 0. */
uint64_t order_when(const struct rthread *of, uint64_t number);
/* A block of the thread was done. */
void order_ran(struct rthread *t);
#endif
