/* SPDX-License-Identifier: GPL-2.0-or-later
 * Several hardware threads on one core (--smt).
 *
 * Each hardware thread is a struct core of its own: its registers, place in the front end, uop queue, reorder
 * buffer, load and store buffers, and clock are private.  The threads share the caches, TLBs, fill buffers and
 * prefetchers (one struct memsys), the branch predictor except for the return stack, and three things by the
 * cycle:
 *   delivery    In a cycle the front end delivers to one thread.
 *   allocation  In a cycle rename allocates for one thread.  (Optimization Manual, "Intel Hyper-Threading Technology":
 *               the front end and allocation alternate; a thread that has nothing leaves the cycle to the other.)
 *   ports       A port takes one uop a cycle, of whichever thread.  A uop of one thread that has taken a port also
 *               holds a scheduler entry of the other threads until it is dispatched.  So threads share the scheduler
 *               first come, first served; a thread that finds it full waits.
 * While several threads run, the reorder buffer, the load and store buffers and, if smt.idq says so, the uop
 * queue are split in equal parts (smt.rob and others: split), or each thread may have what the others leave
 * (shared).  A halted thread leaves everything to the others.
 *
 * Threads take turns, a block at a time, the thread with the least clock first (run/threads/order.h).  So cycles are
 * given away in the order of modelled time, except within a block: a thread that stalls within its block finds
 * cycles that others have taken meanwhile.
 *
 * Leaves out: that retirement alternates (it is at least as wide as allocation, and comes behind it); what the
 * wrong path of one thread takes from the others at allocation; ports further than SMT_REACH cycles ahead,
 * until they come nearer; what a thread was given at its ports in cycles that another thread has passed;
 * memory-order clears between the threads of one core; priorities; sharing of the uop cache and decoded lines,
 * of which each thread has its own.
 */
#ifndef CORE_SMT_H
#define CORE_SMT_H
#include "core/pipeline.h"

/* SMT_RING: a thread that has ended was run to its end; the cycles it took are still known when the others come
 * to them */
enum { SMT_MOST = 8, SMT_RING = 1 << 20, SMT_REACH = 256 };

struct smt {			/* a core of several hardware threads */
	const struct core *in;	/* the thread that the caches write their signals for */
	const struct core *predicts;	/* the thread whose return stack the predictor has */
	uint32_t members, active;
	struct core *thread[SMT_MOST];	/* by number; NULL: none */
	/* SMT_RING entries each: low half of the cycle last given to the thread there; NULL: there never was
	 * such a thread */
	uint32_t *delivers[SMT_MOST], *allocates[SMT_MOST];
};

struct smt_thread {		/* of a thread */
	struct smt *smt;
	uint64_t from;		/* cycles below this are forgotten */
	struct ras stack;	/* while another thread predicts */
	uint16_t told[SCHED_WINDOW];	/* dispatches that the other threads have been told of */
	uint16_t others[SCHED_WINDOW];	/* dispatches in scheduler.used that belong to other threads */
};

/* Makes c a new thread of the core that `of` is a thread of (at first the only one). */
int  smt_join(struct core *of, struct core *c, struct err *err);
/* Thread c leaves the core.  Returns true if no thread is left, so that the caller frees what is shared. */
bool smt_leave(struct core *c);
/* It is c's turn: the caches write its signals. */
void smt_enter(struct core *c);
/* The core_steps_way of a core with several threads. */
void smt_steps(struct core *c, const uint64_t *script);

/* Returns the first cycle from `cycle` on that is this thread's, or free, in the calendar; it belongs to the
 * thread from now on. */
static inline uint64_t smt_claim(uint32_t *const given[SMT_MOST], unsigned me, uint64_t cycle)
{
	for (;; cycle++) {
		unsigned at = cycle & (SMT_RING - 1);
		bool taken = false;
		if (given[me][at] == (uint32_t)cycle)
			return cycle;
		for (unsigned i = 0; i < SMT_MOST && given[i]; i++)
			taken |= i != me && given[i][at] == (uint32_t)cycle;
		if (!taken) {
			given[me][at] = (uint32_t)cycle;
			return cycle;
		}
	}
}

static inline uint64_t smt_delivers(struct core *c, uint64_t cycle)
{
	return smt_claim(c->st->smt->delivers, c->e.hw_thread, cycle);
}

static inline uint64_t smt_allocates(struct core *c, uint64_t cycle)
{
	return smt_claim(c->st->smt->allocates, c->e.hw_thread, cycle);
}
#endif
