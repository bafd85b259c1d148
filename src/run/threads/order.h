/* SPDX-License-Identifier: GPL-2.0-or-later
 * The order in which the threads of a process are modelled: the thread with the least modelled clock runs next,
 * one block at a time.
 *
 * The stream holds the threads' blocks in slices, as the tracer let them run.  The work of the cores is queued
 * here for each thread, at most ORDER_WINDOW words of it, and taken out in the order of modelled time.  A thread
 * may have to wait until another has done something (it loads what the other stored, takes a lock, or is woken:
 * depend.h).  Such a wait is an operation of its own in the queue and refers back in the stream, so the thread
 * that is oldest in the stream can always continue.  Decisions depend only on modelled clocks and on the stream.  A
 * thread that spins for another spins as often as in the stream; then it is held, without being halted, until what
 * it waits for is done.  So its wait is as long as modelled time says, and it has as many spins as were traced.
 *
 * With fewer modelled processors than threads (--cpus), a round-robin scheduler in here assigns threads to them.
 * A thread that blocks gives up its processor; so does one that has used up its quantum, if another is ready.  A
 * ready thread takes the processor on which it can continue soonest: of several its last one, else the one that
 * has been idle longest.  Caches, TLBs and prefetchers stay with the processor; branch predictors stay with the
 * thread (they work ahead of modelled time, when it is not known yet where a thread will run).  A thread that
 * waits for a block of a thread without a processor, or longer than a switch takes, also makes room if another is
 * ready.  That costs no switch: the thread came second in the traced order, in which every thread may have had a
 * processor, and would continue here.  A switch costs ORDER_SWITCH_NS, during which the program does not run; the
 * first thread on an unused processor pays nothing.  Left out: priorities, preemption by a thread that wakes up,
 * the kernel's own cache footprint.
 *
 * Owned by the cores' thread (engine.h); the front uses it only when that is drained.  Private to src/run.
 */
#ifndef RUN_ORDER_H
#define RUN_ORDER_H
#include "util/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rthread;
struct run_thread;
struct core;

enum {
	/* The tracer lets a thread run for some hundred blocks at a time (valgrind/turns.c).  But one that others
	 * await in system calls runs alone, and older streams had turns of 2,000 blocks.  A loop's block has some
	 * 20 words. */
	ORDER_WHEN = 1 << 17,		/* number of a thread's latest blocks whose end is remembered */
	ORDER_WINDOW = 1 << 21,		/* words queued for each thread before the oldest must run */
	ORDER_THREADS = 8,		/* threads that count for the total: 128 MB in all */
	/* GUESS: 2 microseconds for a context switch without its cache misses (C. Li, C. Ding, K. Shen,
	 * "Quantifying the cost of context switch", ExpCS 2007: 1.2 to 1.5 on the machines of that time).  Settle
	 * it with two processes that pass a byte through pipes on one processor. */
	ORDER_SWITCH_NS = 2000,
	/* Linux 6.6, kernel/sched/fair.c: base_slice, 0.75 ms times 1 + log2 of the number of processors, eight at
	 * most */
	ORDER_QUANTUM_NS = 3000000,
};

/* ORDER_SIDE: after all earlier ones of this kind in the stream */
enum order_turn { ORDER_FREE, ORDER_SIDE };

struct order_queue {			/* of a thread */
	uint64_t *word;			/* operations, each: number in the stream, turn, then the operation */
	size_t head, tail, room;
	uint64_t done;			/* blocks */
	/* for the last ORDER_WHEN blocks: when each was done; NULL: the thread is in no order */
	uint64_t *when;
	uint64_t last;			/* when the last block was done */
	uint64_t ready_at;		/* without a processor: the cycle from which it may have one */
	uint32_t last_cpu;
};

struct order_cpu {			/* --cpus */
	struct core *core;
	struct rthread *running;
	const struct rthread *last;	/* thread that ran here last, `running` included; NULL: none yet */
	uint64_t since;			/* when `running` was put here */
	/* the last thread waits for a block of another: the next one comes without a switch */
	bool yielded;
};

struct order {				/* of a process */
	struct rthread **thread;	/* alive ones */
	size_t threads, room;
	size_t words;			/* queued */
	uint64_t number;		/* of the next operation */
	uint64_t sides, sides_done;	/* ORDER_SIDE operations: queued, done */
	struct order_cpu *cpu;
	uint32_t cpus;			/* 0: every thread has a core of its own */
	uint64_t quantum, switch_cost;	/* cycles */
	uint32_t smt;			/* hardware threads of a core; 0: one */
	/* executes an operation, with the words that order_push got */
	void (*execute)(void *context, const uint64_t *op);
	void *context;
};

int  order_add(struct order *o, struct rthread *t, uint64_t cycle, struct err *err);
void order_remove(struct order *o, struct rthread *t);	/* its queue must be empty */
/* Queues an operation: a word with its length in the low half, then the thread.  May execute others, and this one. */
void order_push(struct order *o, struct rthread *t, enum order_turn turn, const uint64_t *op);
/* Executes everything that is queued. */
void order_settle(struct order *o);
void order_release(struct order *o);
/* Finds a processor for a thread that has none and nothing queued. */
void order_seat(struct order *o, struct rthread *t);

/* When block `number` of the thread was done, if that is still known; else 0. */
uint64_t order_when(const struct rthread *of, uint64_t number);
/* run_thread.waits of a thread of struct rthread. */
bool order_waits(struct run_thread *t);
/* Records that a block of the thread was done. */
void order_ran(struct rthread *t);
#endif
